//! What several tests of the command share.
#![allow(dead_code)] // Each test file compiles this module for itself, and uses a part.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

use serde_json::Value;

/// A file in a folder of its test's own.
pub fn write(test: &str, name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(test);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Runs the command with something to read.
pub fn sinew(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // One that needs no input may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs what must succeed and gives its standard output.
#[track_caller]
pub fn done(args: &[&str]) -> String {
    let out = sinew(args, "");
    assert!(
        out.status.success() && out.stderr.is_empty(),
        "{args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8(out.stdout).unwrap()
}

/// Runs what must fail with this code and gives what it says of it.
#[track_caller]
pub fn failed(args: &[&str], code: i32) -> String {
    let out = sinew(args, "");
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(code), "{args:?}: {stderr}");
    stderr
}

/// A line of JSON.
#[track_caller]
pub fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[track_caller]
pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A real file to test with. These are no part of the project: they are looked for in the folder that the variable
/// `SINEW_DATA` names, or else beside the workspace. A test that misses one says so and passes.
pub fn data(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("SINEW_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = Path::new(&folder).join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is absent (set SINEW_DATA to the folder with the test files)", path.display());
    None
}
