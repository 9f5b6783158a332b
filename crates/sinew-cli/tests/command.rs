//! Output, errors and exit codes of the command.

mod common;

use std::{
    fmt::Write as _,
    fs,
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicUsize, Ordering},
};

fn sinew(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sinew")).args(args).output().unwrap()
}

/// Runs a command line that must succeed, and returns its standard output.
fn done(args: &[&str]) -> String {
    let out = sinew(args);
    assert!(out.status.success(), "{args:?}: {}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).unwrap()
}

/// Runs a command line that must fail, and returns its one line.
fn failed(args: &[&str]) -> String {
    let out = sinew(args);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{args:?}: {stderr}");
    assert!(out.stdout.is_empty());
    assert!(stderr.starts_with("sinew: ") && stderr.ends_with('\n'), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    stderr.trim_end().to_string()
}

/// Runs an invalid command line, and returns its message.
fn refused(args: &[&str]) -> String {
    let out = sinew(args);
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(2), "{args:?}: {stderr}");
    stderr
}

/// The text with runs of spaces replaced by one, as columns may move.
fn squeezed(text: &str) -> String {
    text.split(' ').filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Writes a file in a folder of its own, as tests run in parallel.
fn write(name: &str, bytes: impl AsRef<[u8]>) -> String {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed).to_string();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("command").join(count);
    // An earlier run may have left its files.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_string()
}

/// A person of 1.7 units as BVH; `change` edits the text.
fn person(name: &str, change: impl Fn(String) -> String) -> String {
    let mut text =
        String::from("HIERARCHY\nROOT Hips\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n");
    let mut joints = 1;
    let mut chain = |bones: &[(&str, [f32; 3])]| {
        for (name, [x, y, z]) in bones {
            writeln!(text, "JOINT {name}\n{{\nOFFSET {x} {y} {z}\nCHANNELS 3 Zrotation Xrotation Yrotation")
                .unwrap();
            joints += 1;
        }
        text += "End Site\n{\nOFFSET 0 0 0.1\n}\n";
        text += &"}\n".repeat(bones.len());
    };
    chain(&[("Spine", [0., 0.2, 0.]), ("Neck", [0., 0.4, 0.]), ("Head", [0., 0.1, 0.])]);
    for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
        chain(&[
            (&format!("{side}UpLeg"), [x, -0.05, 0.]),
            (&format!("{side}Leg"), [0., -0.4, 0.]),
            (&format!("{side}Foot"), [0., -0.4, 0.]),
            (&format!("{side}ToeBase"), [0., -0.05, 0.1]),
        ]);
    }
    let frame = "0 ".repeat(3 * joints);
    write!(text, "}}\nMOTION\nFrames: 3\nFrame Time: 0.5\n{frame}\n{frame}\n{frame}\n").unwrap();
    write(name, change(text))
}

#[test]
fn every_subcommand_shows_examples() {
    assert!(done(&["--version"]).starts_with("sinew 0."));
    for line in [&["--help"][..], &["info", "--help"], &["plant", "--help"], &["draw", "--help"]] {
        let help = done(line);
        assert!(help.contains("Examples:\n") && help.contains("sinew "), "{help}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(done(&["completions", shell]).contains("max-slope"), "{shell}");
    }
}

#[test]
fn wrong_command_lines_exit_with_two() {
    for line in [
        &[][..],
        &["plnt"],
        &["info"],
        &["plant", "--weight", "nan"],
        &["plant", "--influence", "1.5"],
        &["plant", "--ground-at", "0,0"],
        &["draw", "a.glb", "-o", "a.jpg"],
        &["draw", "a.glb", "-o", "a.png", "--time", "1"],
        &["info", "a.glb", "--scale", "0"],
    ] {
        refused(line);
    }
    assert!(refused(&["plnt"]).contains("plant"));
    // glTF declares its unit: another one is refused before the file is read.
    assert!(refused(&["info", "nowhere.glb", "--scale", "0.01"]).contains("glTF is in metres"));
}

#[test]
fn info_tells_joints_clips_and_roles() {
    let file = person("person.bvh", |t| t);
    let text = squeezed(&done(&["info", &file]));
    for line in [
        "person (BVH): 15 joints, 1 clip, 1.600 m high",
        "LeftLeg 0.400 left shin",
        "person 1.000 s",
        "left foot LeftFoot (#",
        "by its name `LeftFoot`",
        "spine 1 Spine (#1)",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    assert!(!text.contains("note:"), "{text}");

    let json: serde_json::Value = serde_json::from_str(&done(&["info", &file, "--json"])).unwrap();
    let joints = json["joints"].as_array().unwrap();
    let index = |name: &str| joints.iter().position(|j| j["name"] == name).unwrap();
    assert_eq!(joints[index("LeftLeg")]["parent"], index("LeftUpLeg"));
    assert_eq!(json["clips"][0]["seconds"].as_f64(), Some(1.0));
    let roles = json["body"]["roles"].as_array().unwrap();
    let shin = roles.iter().find(|r| r["role"] == "right shin").unwrap();
    assert_eq!(shin["joint"], index("RightLeg"));
}

#[test]
fn unlikely_sizes_and_axes_are_noted() {
    let file = person("person.bvh", |t| t);
    let text = done(&["info", &file, "--scale", "17.7"]);
    assert!(text.contains("note: a figure of 28.32 m is unlikely: --scale may be missing"), "{text}");
    let text = done(&["info", &file, "--scale", "0.01"]);
    assert!(text.contains("note: a figure of 0.02 m is unlikely"), "{text}");
    // The same figure with Z up: (x, y, z) is written as (x, -z, y).
    let lying = person("lying.bvh", |t| {
        let turn = |line: &str| {
            let numbers: Vec<f32> = line["OFFSET ".len()..].split(' ').map(|n| n.parse().unwrap()).collect();
            format!("OFFSET {} {} {}", numbers[0], -numbers[2], numbers[1])
        };
        t.lines()
            .map(|l| if l.starts_with("OFFSET") { turn(l) } else { l.into() })
            .collect::<Vec<_>>()
            .join("\n")
    });
    let text = done(&["info", &lying]);
    assert!(text.contains("--up z may be missing") && !text.contains("--scale"), "{text}");
    assert!(!done(&["info", &lying, "--up", "z"]).contains("note:"));
}

#[test]
fn names_that_do_not_exist_get_near_ones() {
    let file = person("person.bvh", |t| t);
    assert_eq!(
        failed(&["info", &file, "--feet", "LeftFoot,RightFot"]),
        "sinew: no joint `RightFot`; did you mean `RightFoot`?"
    );
    let text = squeezed(&done(&["info", &file, "--feet", "LeftLeg/LeftFoot,#12", "--hips", "Hips"]));
    assert!(text.contains("right foot RightFoot (#12) as given"), "{text}");
    // A joint that does not carry the legs cannot be the hips.
    assert!(failed(&["info", &file, "--hips", "Spine"]).contains("found no left thigh"), "");
    let twice = person("twice.bvh", |t| t.replace("JOINT RightLeg", "JOINT LeftLeg"));
    let error = failed(&["info", &twice, "--feet", "LeftLeg,RightFoot"]);
    assert!(
        error.contains("2 joints are named `LeftLeg`: use #") && error.contains("/LeftUpLeg/LeftLeg)"),
        "{error}"
    );
}

/// A four-legged figure that stands on the floor, with a clip of two equal frames.
fn beast(name: &str, change: impl Fn(&str) -> String) -> String {
    const TURNS: &str = "CHANNELS 3 Zrotation Xrotation Yrotation";
    let mut text = format!("HIERARCHY\nROOT body\n{{\nOFFSET 0 0.8 0\n{TURNS}\n");
    for (leg, z) in [("hind", -0.4), ("front", 0.4)] {
        for (side, x) in [("l", 0.15), ("r", -0.15)] {
            write!(
                text,
                "JOINT {leg}_thigh_{side}\n{{\nOFFSET {x} 0 {z}\n{TURNS}\nJOINT {leg}_shin_{side}\n{{\nOFFSET 0 -0.38 0.02\n{TURNS}\n\
                 JOINT {leg}_foot_{side}\n{{\nOFFSET 0 -0.36 -0.02\n{TURNS}\nEnd Site\n{{\nOFFSET 0 -0.06 0.1\n}}\n}}\n}}\n}}\n"
            )
            .unwrap();
        }
    }
    let still = "0 ".repeat(3 * 13);
    write!(text, "}}\nMOTION\nFrames: 2\nFrame Time: 0.1\n{still}\n{still}\n").unwrap();
    write(name, change(&text))
}

#[test]
fn feet_that_are_not_found_are_told_how_to_be_given() {
    let named = |text: &str| text.to_owned();
    let unnamed = |text: &str| {
        let bare = |line: &str| if line.starts_with("JOINT") { "JOINT bone".into() } else { line.to_owned() };
        text.lines().map(bare).collect::<Vec<_>>().join("\n")
    };
    let beasts = [beast("named.bvh", named), beast("unnamed.bvh", unnamed)];
    for (beast, sign) in beasts.iter().zip(["foot_l,", "#"]) {
        let errors = [failed(&["plant", beast, "-o", "none.glb"]), squeezed(&done(&["info", beast]))];
        for error in errors {
            let (_, given) = error.split_once("--feet LEFT,RIGHT gives").unwrap_or_else(|| panic!("{error}"));
            let (_, feet) = given.split_once("--feet ").unwrap_or_else(|| panic!("{error}"));
            let feet = feet.split_whitespace().next().unwrap().trim_end_matches(')').trim_matches('\'');
            assert!(feet.contains(sign), "{error}");
            // The example in the message is valid.
            let text = squeezed(&done(&["info", beast, "--feet", feet]));
            assert!(text.contains("as given"), "{text}");
        }
    }
    // Without a suitable pair of joints, there is no example.
    let point_chain = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Zrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\nFrames: 2\n\
                  Frame Time: 1\n0\n0\n";
    let error = failed(&["plant", &write("strand.bvh", point_chain), "-o", "none.glb"]);
    assert!(error.ends_with("--feet LEFT,RIGHT gives the joints of the ankles"), "{error}");
}

#[test]
fn draw_writes_pictures_and_finds_clips() {
    let file = person("walk.bvh", |t| t);
    let folder = PathBuf::from(&file).parent().unwrap().to_path_buf();
    let out = |name: &str| folder.join(name).to_str().unwrap().to_string();
    done(&["draw", &file, "-o", &out("rest.png")]);
    done(&["draw", &file, "--clip", "walk", "--time", "0.5", "-o", &out("walk.svg")]);
    assert!(fs::read(out("rest.png")).unwrap().starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(fs::read_to_string(out("walk.svg")).unwrap().trim_end().ends_with("</svg>"));
    let error = failed(&["draw", &file, "--clip", "wlak", "-o", &out("none.png")]);
    assert_eq!(error, "sinew: no clip `wlak`; did you mean `walk`?");
    assert!(failed(&["draw", &file, "--clip", "#3", "-o", &out("none.png")]).contains("counted from #0"));
    assert!(failed(&["draw", &file, "-o", &out("no/folder.png")]).contains("folder.png"));
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn near_clips_of_a_real_file() {
    let file = common::data("gltf/KayKit_Knight.glb");
    let error = failed(&["draw", file.to_str().unwrap(), "--clip", "Walkng_A", "-o", "none.png"]);
    assert!(error.contains("no clip `Walkng_A`; did you mean `Walking_A`"), "{error}");
}

#[test]
fn bad_files_are_one_line() {
    assert!(failed(&["info", "no/such.glb"]).starts_with("sinew: no/such.glb: "));
    for (name, bytes) in [
        ("empty.bvh", &b""[..]),
        ("empty.glb", b""),
        ("empty.gltf", b""),
        ("cut.bvh", b"HIERARCHY\nROOT a\n{\nOFFSET 0 0"),
        ("cut.glb", b"glTF\x02\0\0\0\xff\0\0\0"),
        (
            "odd.gltf",
            b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"children\":[0]}],\"scenes\":[{\"nodes\":[0]}]}",
        ),
        ("words.bvh", "h\u{1b}[2J\nll\u{f6}".as_bytes()),
    ] {
        let error = failed(&["info", &write(name, bytes)]);
        assert!(error.contains(name) && !error.contains('\u{1b}'), "{error}");
    }
    let error = failed(&["info", &write("figure.fbx", b"x")]);
    assert!(error.contains(".glb, .gltf, .vrm or .bvh"), "{error}");
}

#[test]
fn names_cannot_drive_the_terminal() {
    let file = person("escape.bvh", |t| t.replace("JOINT Spine", "JOINT Sp\u{1b}[31mine"));
    let text = done(&["info", &file]);
    assert!(!text.contains('\u{1b}') && text.contains("Sp\u{fffd}[31mine"), "{text}");
}

/// A BVH of one chain of `depth` joints.
fn chain(name: &str, depth: usize) -> String {
    let mut text =
        String::from("HIERARCHY\nROOT j\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n");
    for _ in 1..depth {
        text += "JOINT j\n{\nOFFSET 0 0.01 0\nCHANNELS 0\n";
    }
    text += "End Site\n{\nOFFSET 0 0 0.1\n}\n";
    text += &"}\n".repeat(depth);
    text += "MOTION\nFrames: 1\nFrame Time: 0.1\n0 0 0\n";
    write(name, text)
}

#[test]
fn deep_trees_are_told_without_recursion_and_soon() {
    let start = std::time::Instant::now();
    let file = chain("deep.bvh", 100_000);
    let text = done(&["info", &file]);
    assert!(text.contains("(depth 99999)"));
    assert!(text.lines().all(|l| l.len() < 200));
    done(&["info", &file, "--json"]);
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let file = chain("long.bvh", 20_000);
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(["info", &file])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let out = child.wait_with_output().unwrap();
    assert!(out.status.success());
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
}
