//! Targets of input that only the command reads: lines of goals, and contacts. The command runs within the process, on files
//! in its own folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use serde_json::Value;

use crate::{Outcome, files::one_line};

/// The folder with the models, made at the first call.
fn folder() -> Result<&'static Path, String> {
    static FOLDER: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    let make = || -> io::Result<PathBuf> {
        let folder = place();
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("person.bvh"), include_bytes!("../seeds/bvh/person.bvh"))?;
        fs::write(folder.join("arm.urdf"), include_bytes!("../seeds/urdf/arm.urdf"))?;
        Ok(folder)
    };
    let made = FOLDER.get_or_init(|| make().map_err(|e| format!("no folder to work in: {e}")));
    made.as_deref().map_err(Clone::clone)
}

fn place() -> PathBuf {
    std::env::temp_dir().join(format!("sinew-fuzz-{}", std::process::id()))
}

/// Removes what was written on the way.
pub fn clean() {
    let _ = fs::remove_dir_all(place());
}

/// Runs the command with these words, files named without their folder.
fn sinew(words: &[&str], input: (&str, &[u8]), out: &str) -> Result<(Option<String>, Vec<u8>), String> {
    let folder = folder()?;
    fs::write(folder.join(input.0), input.1).map_err(|e| e.to_string())?;
    let _ = fs::remove_file(folder.join(out));
    let known = ["person.bvh", "arm.urdf", input.0, out];
    let word = |w: &&str| if known.contains(w) { folder.join(w).into_os_string() } else { (*w).into() };
    let error = sinew_cli::try_run(words.iter().map(word)).err();
    if let Some(error) = &error {
        one_line(error)?;
    }
    if let Some(part) = fs::read_dir(folder).map_err(|e| e.to_string())?.flatten().find(|e| {
        let name = e.file_name();
        !known.iter().any(|k| name == *k)
    }) {
        return Err(format!("left a file behind: {}", part.path().display()));
    }
    Ok((error, fs::read(folder.join(out)).unwrap_or_default()))
}

/// Lines of goals for an arm and for a figure.
pub fn goals(data: &[u8]) -> Result<Outcome, String> {
    let model: &[&str] = match data.len() % 4 {
        0 => &["arm.urdf"],
        1 => &["arm.urdf", "--solver", "auto", "--chain", "base..tool"],
        2 => &["person.bvh", "--chain", "LeftUpLeg..LeftFoot"],
        _ => &["person.bvh"],
    };
    let mut words = vec!["solve"];
    words.extend(model);
    words.extend(["--goals", "goals.jsonl", "--out", "answers.jsonl", "--max-iterations", "20"]);
    let (error, out) = sinew(&words, ("goals.jsonl", data), "answers.jsonl")?;
    // A byte order mark makes no line.
    let text = data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data);
    let lines = text.split(|b| *b == b'\n').filter(|l| !l.trim_ascii().is_empty()).count();
    let answers: Vec<&[u8]> = out.split(|b| *b == b'\n').filter(|l| !l.is_empty()).collect();
    if answers.len() != lines && (error.is_none() || !answers.is_empty()) {
        return Err(format!("{} answers to {lines} lines", answers.len()));
    }
    let mut good = false;
    for answer in answers {
        let answer: Value =
            serde_json::from_slice(answer).map_err(|e| format!("an answer is no JSON: {e}"))?;
        let Value::Object(map) = &answer else { return Err("an answer is no object".into()) };
        good |= map.contains_key("status");
        if let Some(error) = map.get("error") {
            one_line(&error.as_str().unwrap_or_default())?;
        }
        // JSON has no NaN: it is written as null.
        if map.iter().any(|(key, value)| key != "id" && has_null(value)) {
            return Err(format!("an answer holds what is no number: {answer}"));
        }
    }
    Ok(match (error, good) {
        (Some(_), false) => Outcome::Refused,
        (Some(_), true) => Outcome::Read,
        (None, _) => Outcome::Done,
    })
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(list) => list.iter().any(has_null),
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

/// Contacts for a walk.
pub fn contacts(data: &[u8]) -> Result<Outcome, String> {
    let words = [
        "plant",
        "person.bvh",
        "--ground",
        "slope",
        "--contacts",
        "contacts.json",
        "--out",
        "planted.bvh",
        "--quiet",
        "--repeat",
        "1",
    ];
    let (error, out) = sinew(&words, ("contacts.json", data), "planted.bvh")?;
    let text = String::from_utf8_lossy(&out);
    match error {
        Some(_) if !out.is_empty() => Err("failed, but wrote".into()),
        Some(_) => Ok(Outcome::Refused),
        None if out.is_empty() => Err("wrote nothing".into()),
        None if text.contains("NaN") || text.contains("inf") => Err("wrote what is no number".into()),
        None => Ok(Outcome::Done),
    }
}
