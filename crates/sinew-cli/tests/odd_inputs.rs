//! Unusual inputs: folders, pipes, devices, byte order marks, and lines without an end.

mod common;
mod plant_support;

use std::{
    fs,
    io::{Read, Write},
    process::{Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use plant_support::{Glb, Place, says};
use serde_json::Value;

const ARM: &str = r#"<robot name="rail"><link name="base"/><link name="cart"/>
<joint name="slide" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-0.5" upper="0.5" effort="1" velocity="2"/></joint></robot>"#;

const FLOOR: &str = "v -9 0 -9\nv -9 0 9\nv 9 0 9\nv 9 0 -9\nf 1 2 3 4\n";

const LIMIT: usize = 16 << 20;

/// Runs the command in a folder. A run that does not end is a failure; the time allows for a slow machine.
#[track_caller]
fn ends(place: &Place, words: &[&str], input: Stdio) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(words)
        .current_dir(&place.0)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut out, mut err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let out = thread::spawn(move || {
        let mut all = Vec::new();
        out.read_to_end(&mut all).map(|_| all)
    });
    let err = thread::spawn(move || {
        let mut all = Vec::new();
        err.read_to_end(&mut all).map(|_| all)
    });
    let end = Instant::now() + Duration::from_secs(240);
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("{words:?} does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
    let (stdout, stderr) = (out.join().unwrap().unwrap(), err.join().unwrap().unwrap());
    Output { status: child.wait().unwrap(), stdout, stderr }
}

/// Runs a command line that must fail, and returns its one line.
#[track_caller]
fn refused(place: &Place, words: &[&str], input: Stdio) -> String {
    let out = ends(place, words, input);
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{words:?}: {said}");
    assert!(out.stdout.is_empty() && said.lines().count() == 1, "{words:?}: {said}");
    said
}

#[cfg(unix)]
fn fifo(place: &Place, name: &str) {
    let status = Command::new("mkfifo").arg(place.0.join(name)).status();
    assert!(status.unwrap().success());
}

#[cfg(unix)]
#[test]
fn models_and_grounds_are_regular_files() {
    use std::os::unix::{fs::symlink, net::UnixListener};
    let place = Place::new("regular");
    for ending in ["glb", "gltf", "vrm", "bvh", "urdf", "obj"] {
        fs::create_dir(place.0.join(format!("folder.{ending}"))).unwrap();
        fifo(&place, &format!("fifo.{ending}"));
        symlink("/dev/zero", place.0.join(format!("zero.{ending}"))).unwrap();
        // The path of a socket must be short, so that it is bound elsewhere.
        let short = std::env::temp_dir().join(format!("sinew-test-{}.{ending}", std::process::id()));
        let _socket = UnixListener::bind(&short).unwrap();
        symlink(&short, place.0.join(format!("socket.{ending}"))).unwrap();
        for (name, kind) in
            [("folder", "a folder"), ("fifo", "a pipe"), ("zero", "a device"), ("socket", "a socket")]
        {
            let file = format!("{name}.{ending}");
            let lines: &[&[&str]] = match ending {
                "obj" => &[&["plant", "-o", "out.glb", "--ground"]],
                "urdf" => &[
                    &["info"],
                    &["draw", "-o", "out.svg"],
                    &["solve", "--to", "0,0,0"],
                    &["reach", "-o", "out.svg"],
                ],
                "glb" | "gltf" => &[
                    &["info"],
                    &["plant", "-o", "out.glb", "--ground"],
                    &["plant", "-o", "out.glb"],
                    &["draw", "-o", "out.svg"],
                    &["solve", "--chain", "a..b", "--to", "0,0,0"],
                ],
                _ => &[&["info"]],
            };
            for words in lines {
                let words: Vec<&str> = words.iter().copied().chain([file.as_str()]).collect();
                let said = refused(&place, &words, Stdio::null());
                says(&said, &[&file, "regular file", kind]);
            }
        }
        fs::remove_file(&short).unwrap();
    }
    // Files of contacts and buffers must be regular too.
    place.write("walk.glb", Glb::sample().bytes());
    fifo(&place, "contacts.json");
    let words = ["plant", "walk.glb", "-o", "out.glb", "--contacts", "contacts.json"];
    says(&refused(&place, &words, Stdio::null()), &["contacts.json", "regular file", "a pipe"]);
    let mut json = Glb::sample().json;
    fifo(&place, "fifo.bin");
    json["buffers"][0]["uri"] = "fifo.bin".into();
    place.write("walk.gltf", json.to_string());
    says(&refused(&place, &["info", "walk.gltf"], Stdio::null()), &["buffers[0].uri", "fifo.bin", "a pipe"]);
}

/// The text after a byte order mark.
fn marked(text: impl AsRef<[u8]>) -> Vec<u8> {
    [b"\xef\xbb\xbf", text.as_ref()].concat()
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    let place = Place::with_walk("mark");
    let mut json = Glb::sample().json;
    json["buffers"][0]["uri"] = "walk.bin".into();
    place.write("walk.bin", Glb::sample().bin);
    let bvh = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Xposition Yposition Zposition\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 0 0\n1 0 0\n";
    for (name, text) in [("m.gltf", json.to_string()), ("m.bvh", bvh.into()), ("m.urdf", ARM.into())] {
        place.write(name, &text);
        let plain = place.done(&format!("info {name} --json"));
        place.write(name, marked(&text));
        assert_eq!(place.done(&format!("info {name} --json")), plain, "{name}");
    }
    place.write("m.urdf", marked(format!("<?xml version=\"1.0\"?>\n{ARM}")));
    place.done("info m.urdf");

    let contacts = r#"{"left": {"heel": [], "ball": []}}"#;
    for (text, level) in [(contacts.into(), FLOOR.into()), (marked(contacts), marked(FLOOR))] {
        place.write("c.json", text);
        place.write("level.obj", level);
        place.done("plant walk.glb --contacts c.json --ground level.obj -o out.glb");
        let out = place.read("out.glb");
        place.write(if place.0.join("first.glb").exists() { "second.glb" } else { "first.glb" }, out);
    }
    assert_eq!(place.read("first.glb"), place.read("second.glb"));

    let goal = "{\"id\":1,\"goals\":[{\"joint\":\"head\",\"position\":[0,1.5,0.1]}]}\n";
    place.write("plain.jsonl", goal);
    let plain = place.done("solve walk.glb --goals plain.jsonl");
    place.write("marked.jsonl", marked(goal));
    assert_eq!(place.done("solve walk.glb --goals marked.jsonl"), plain);
    place.write("marked.jsonl", marked(format!("\r\n\n{goal}")));
    assert_eq!(place.done("solve walk.glb --goals marked.jsonl"), plain);
    place.done("draw walk.glb --goals marked.jsonl -o goals.svg");
    place.write("marked.jsonl", marked(""));
    assert_eq!(place.done("solve walk.glb --goals marked.jsonl"), "");
}

#[test]
fn a_line_that_is_too_long_is_answered_in_its_place() {
    let place = Place::new("long");
    place.write("arm.urdf", ARM);
    let goal = |id: &str| format!("{{\"id\":{id},\"position\":[0.2,0,0]}}");
    // A line of maximum length, padded with spaces; one with a byte more; one without an end.
    let padded = |length: usize| goal(&format!("{}7", " ".repeat(length - goal("7").len())));
    let lines = [goal("1"), padded(LIMIT), goal("2"), padded(LIMIT + 1), goal("3"), "[".repeat(40 << 20)];
    place.write("goals.jsonl", lines.join("\n"));
    for input in ["goals.jsonl", "-"] {
        let stdin = fs::File::open(place.0.join("goals.jsonl")).unwrap();
        let out = ends(&place, &["solve", "arm.urdf", "--goals", input], stdin.into());
        assert_eq!(out.status.code(), Some(1));
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(said.lines().count(), 1, "{said}");
        says(&said, &[":4: ", "16 MiB", "(2 of 6 goals"]);
        let answers: Vec<Value> = String::from_utf8(out.stdout).unwrap().lines().map(common::parse).collect();
        let ids: Vec<_> = answers.iter().map(|a| a["id"].as_u64()).collect();
        assert_eq!(ids, [Some(1), Some(7), Some(2), None, Some(3), None]);
        for (at, answer) in answers.iter().enumerate() {
            match at {
                3 | 5 => {
                    says(answer["error"].as_str().unwrap(), &[&format!("line {}", at + 1), "16 MiB"]);
                }
                _ => assert_eq!(answer["status"], "reached", "{answer}"),
            }
        }
    }
}

/// Peak memory of a child in bytes, which Linux tells while the child is alive.
#[cfg(target_os = "linux")]
fn peak(child: &std::process::Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[cfg(target_os = "linux")]
#[test]
fn lines_that_are_too_long_are_not_stored() {
    use std::io::{BufRead, BufReader};
    let place = Place::new("stored");
    place.write("arm.urdf", ARM);
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["solve", "arm.urdf", "--goals", "-"])
        .current_dir(&place.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    // A line of 512 MiB.
    let block = vec![b'1'; 1 << 20];
    (0..512).for_each(|_| input.write_all(&block).unwrap());
    input.write_all(b"\n{\"id\":2,\"position\":[0.2,0,0]}\n").unwrap();
    let mut answer = String::new();
    for id in [Value::Null, 2.into()] {
        answer.clear();
        answers.read_line(&mut answer).unwrap();
        assert_eq!(common::parse(&answer)["id"], id);
    }
    let peak = peak(&child);
    assert!(peak < 128 << 20, "{peak} bytes");
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[cfg(unix)]
#[test]
fn goals_may_come_from_a_pipe() {
    let place = Place::with_walk("pipe");
    let goal = "{\"id\":1,\"goals\":[{\"joint\":\"head\",\"position\":[0,1.5,0.1]}]}\n";
    place.write("goals.jsonl", goal);
    let plain = place.done("solve walk.glb --goals goals.jsonl");
    place.done("draw walk.glb --goals goals.jsonl -o plain.svg");
    fifo(&place, "goals");
    let feed = |words: &[&str]| {
        let path = place.0.join("goals");
        let writer = thread::spawn(move || fs::write(path, goal));
        let out = ends(&place, words, Stdio::null());
        writer.join().unwrap().unwrap();
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).unwrap()
    };
    assert_eq!(feed(&["solve", "walk.glb", "--goals", "goals"]), plain);
    feed(&["draw", "walk.glb", "--goals", "goals", "-o", "fifo.svg"]);
    assert_eq!(place.read("fifo.svg"), place.read("plain.svg"));
    let stdin = || fs::File::open(place.0.join("goals.jsonl")).unwrap().into();
    let out = ends(&place, &["draw", "walk.glb", "--goals", "-", "-o", "dash.svg"], stdin());
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert_eq!(place.read("dash.svg"), place.read("plain.svg"));
    // A shell's `<(...)`, if there is such a shell.
    let line = "\"$0\" solve walk.glb --goals <(cat goals.jsonl)";
    let bash =
        Command::new("bash").args(["-c", line, env!("CARGO_BIN_EXE_sinew")]).current_dir(&place.0).output();
    if let Ok(out) = bash {
        assert_eq!(String::from_utf8(out.stdout).unwrap(), plain, "{}", String::from_utf8_lossy(&out.stderr));
    }
}

#[cfg(unix)]
#[test]
fn goals_come_from_nothing_else() {
    let place = Place::with_walk("goals");
    fs::create_dir(place.0.join("dir")).unwrap();
    let zero = || fs::File::open("/dev/zero").unwrap().into();
    let folder = || fs::File::open(place.0.join("dir")).unwrap().into();
    for command in [&["solve"][..], &["draw", "-o", "out.svg"]] {
        let words = |goals: &'static str| -> Vec<&str> {
            command.iter().copied().chain(["walk.glb", "--goals", goals]).collect()
        };
        says(&refused(&place, &words("dir"), Stdio::null()), &["dir: ", "a folder"]);
        says(&refused(&place, &words("gone"), Stdio::null()), &["gone: "]);
        says(&refused(&place, &words("/dev/zero"), Stdio::null()), &["/dev/zero: ", "a device"]);
        says(&refused(&place, &words("-"), zero()), &["standard input: ", "a device"]);
        says(&refused(&place, &words("-"), folder()), &["standard input: ", "a folder"]);
    }
    // An empty list of goals is no failure.
    for goals in ["/dev/null", "-"] {
        let out = ends(&place, &["solve", "walk.glb", "--goals", goals], Stdio::null());
        assert!(out.status.success() && out.stdout.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    }
}
