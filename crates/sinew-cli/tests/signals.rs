//! Signals to the command: unfinished outputs are removed, at once or by the next run.
#![cfg(unix)]

mod common;

use std::{
    fs,
    os::unix::{
        fs::symlink,
        process::{CommandExt, ExitStatusExt},
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use sinew_files::sample;

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("signals").join(name);
    // An earlier run may have left its files.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let name = |e: fs::DirEntry| e.file_name().into_string().unwrap();
    let mut names: Vec<_> = fs::read_dir(folder).unwrap().map(|e| name(e.unwrap())).collect();
    names.sort();
    names
}

fn parts(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|n| n.ends_with(".part")).collect()
}

/// A command that answers goals from standard input into `out.jsonl`, and so writes while standard input is open.
fn solving(folder: &Path, prefix: &[&str]) -> Command {
    let model = folder.join("model.glb");
    if !model.exists() {
        sample::document().unwrap().write(&model).unwrap();
    }
    let mut words: Vec<&str> = prefix.to_vec();
    words.extend([env!("CARGO_BIN_EXE_sinew"), "solve", "model.glb", "--goals", "-", "-o", "out.jsonl"]);
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Waits for a condition that must become true; the time allows for a slow machine.
#[track_caller]
fn wait_for<T>(what: &str, mut there: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(300);
    while Instant::now() < end {
        if let Some(found) = there() {
            return found;
        }
        thread::sleep(Duration::from_millis(5));
    }
    panic!("{what} did not come");
}

/// Starts the command and waits until it writes.
#[track_caller]
fn started(folder: &Path, prefix: &[&str]) -> Child {
    let mut child = solving(folder, prefix).spawn().unwrap();
    wait_for("the file beside", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote");
        (!parts(folder).is_empty()).then_some(())
    });
    child
}

/// Prefix that starts a command with no signal ignored, as `nohup` or a background job may ignore them for the tests. Empty
/// if `env` cannot do so.
fn heeding() -> &'static [&'static str] {
    const HEEDING: &[&str] = &["env", "--default-signal"];
    let can = Command::new(HEEDING[0]).args([HEEDING[1], "true"]).stderr(Stdio::null()).status();
    if can.is_ok_and(|s| s.success()) { HEEDING } else { &[] }
}

fn send(signal: &str, child: &Child) {
    let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_leaves_nothing_half_written_and_is_passed_on() {
    let folder = folder("passed-on");
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        for old in [None, Some("as it was")] {
            let _ = fs::remove_file(folder.join("out.jsonl"));
            if let Some(text) = old {
                fs::write(folder.join("out.jsonl"), text).unwrap();
            }
            let mut child = started(&folder, heeding());
            // Standard input stays open until the end, as closing it would end the command.
            let input = child.stdin.take();
            send(name, &child);
            let status = wait_for("its end", || child.try_wait().unwrap());
            drop(input);
            assert_eq!(status.signal(), Some(number), "{name}");
            assert_eq!(parts(&folder), [""; 0], "{name}");
            assert_eq!(fs::read_to_string(folder.join("out.jsonl")).ok().as_deref(), old, "{name}");
        }
    }
}

#[test]
fn signals_that_were_ignored_stay_ignored() {
    let folder = folder("ignored");
    let mut child = started(&folder, &["sh", "-c", "trap '' INT HUP; exec \"$0\" \"$@\""]);
    send("HUP", &child);
    send("INT", &child);
    drop(child.stdin.take());
    let status = wait_for("its end", || child.try_wait().unwrap());
    assert!(status.success(), "{status}");
    assert_eq!(names(&folder), ["model.glb", "out.jsonl"]);
}

#[test]
fn the_next_run_removes_what_killed_ones_left_and_nothing_else() {
    let folder = folder("killed");
    let mut living = started(&folder, &[]);
    let kept = parts(&folder);
    assert_eq!(kept.len(), 1);
    let mut killed = solving(&folder, &[]).spawn().unwrap();
    wait_for("a second file", || (parts(&folder).len() == 2).then_some(()));
    send("KILL", &killed);
    assert_eq!(killed.wait().unwrap().signal(), Some(9));
    assert_eq!(parts(&folder).len(), 2);

    // Names of another pattern, a folder, and the file of a process that is alive.
    let dead = killed.id();
    fs::create_dir(folder.join(format!(".sinew-{dead}-7.part"))).unwrap();
    symlink("model.glb", folder.join(format!(".sinew-{dead}-8.part"))).unwrap();
    let status = Command::new("mkfifo").arg(folder.join(format!(".sinew-{dead}-9.part"))).status();
    assert!(status.unwrap().success());
    let mut others = vec![
        format!(".sinew-{}-0.part", living.id()),
        format!(".sinew-{}-5.part", std::process::id()),
        format!("sinew-{dead}-0.part"),
        format!(".sinew-{dead}-0.part~"),
        format!(".sinew-0{dead}-0.part"),
        format!(".sinew-{dead}-x.part"),
        ".sinew-part".into(),
    ];
    for name in &others[1..] {
        fs::write(folder.join(name), "").unwrap();
    }
    for left in [100, 101] {
        fs::write(folder.join(format!(".sinew-{dead}-{left}.part")), "left").unwrap();
    }
    others.extend((7..10).map(|i| format!(".sinew-{dead}-{i}.part")));
    others.extend(["model.glb".into(), "out.jsonl".into()]);
    others.sort();

    let mut next = solving(&folder, &[]).spawn().unwrap();
    drop(next.stdin.take());
    assert!(next.wait().unwrap().success());
    assert_eq!(names(&folder), others);
    // The process that was alive ends as usual.
    drop(living.stdin.take());
    assert!(living.wait().unwrap().success());
    others.retain(|n| *n != kept[0]);
    assert_eq!(names(&folder), others);
}

#[test]
fn a_file_that_may_not_grow_is_an_error() {
    let folder = folder("limit");
    let model = folder.join("model.glb");
    sample::document().unwrap().write(&model).unwrap();
    let line = "ulimit -f 1; exec \"$0\" plant model.glb -q -o out.glb";
    let out = Command::new("sh")
        .args(["-c", line, env!("CARGO_BIN_EXE_sinew")])
        .current_dir(&folder)
        .arg0("sh")
        .output()
        .unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(1), "{said}");
    assert!(said.starts_with("sinew: out.glb: ") && said.lines().count() == 1, "{said}");
    assert_eq!(names(&folder), ["model.glb"]);
}
