//! Helpers that several tests of the command share.
#![allow(dead_code, unused_imports)] // Each test file compiles this module for itself, and uses a part.

mod real;

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Output, Stdio},
};

pub use real::data;
use serde_json::Value;

/// Writes a file in the folder of a test, and returns its path.
pub fn write(test: &str, name: &str, text: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(env!("CARGO_CRATE_NAME")).join(test);
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_string()
}

/// Runs the command with this standard input.
pub fn sinew(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sinew"))
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that needs no input may have ended already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// Runs a command line that must succeed, and returns its standard output.
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

/// Runs a command line that must fail with this exit code, and returns its standard error.
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
