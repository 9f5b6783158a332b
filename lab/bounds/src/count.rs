//! Instruction counts by valgrind, which do not depend on the machine's load.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Whether valgrind is there.
pub fn available() -> Result<(), String> {
    let run = Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    match run {
        Ok(status) if status.success() => Ok(()),
        _ => Err("--instructions needs valgrind, which is not installed".into()),
    }
}

/// Instructions in functions of the engine that a run of a program takes.
pub fn engine(program: &Path, words: &[&str], folder: &Path) -> Result<u64, String> {
    let out = folder.join("target/callgrind.out");
    let status = Command::new("valgrind")
        .args(["--tool=callgrind", "--quiet"])
        .arg(format!("--callgrind-out-file={}", out.display()))
        .arg(program)
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .map_err(|e| format!("valgrind: {e}"))?;
    let text = fs::read_to_string(&out)
        .map_err(|e| format!("valgrind {} ({status}): {}: {e}", program.display(), out.display()))?;
    Ok(sum(&text))
}

/// The sum of what functions of the engine cost themselves, in callgrind's format: `fn=(id) name` (the name the first time
/// alone) begins a function, whose lines are `place cost`; the line behind `calls=` is what a call costs in all.
fn sum(text: &str) -> u64 {
    let mut names: HashMap<&str, bool> = HashMap::new();
    let (mut ours, mut call, mut total) = (false, false, 0);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=").or(line.strip_prefix("cfn=")) {
            let (id, rest) = name.split_once(')').unwrap_or((name, ""));
            if !rest.trim().is_empty() {
                names.insert(id, rest.contains("sinew::") || rest.contains("sinew_files::"));
            }
            if line.starts_with("fn=") {
                ours = names.get(id).copied().unwrap_or(false);
            }
        } else if line.starts_with("calls=") {
            call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || c == '+' || c == '-' || c == '*') {
            let cost = line.split_ascii_whitespace().nth(1).and_then(|c| c.parse::<u64>().ok()).unwrap_or(0);
            if ours && !call {
                total += cost;
            }
            call = false;
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_engines_own_instructions_count() {
        let text = "events: Ir\n\nfl=(1) a.rs\nfn=(1) sinew::solve::a\n10 5\n+1 7\ncfn=(2) judge::b\ncalls=1 20\n12 100\n\
                    fn=(2)\n20 1000\ncfn=(3) <sinew::Pose>::c\ncalls=2 30\n21 40\nfn=(3)\n30 20\n\nfn=(1)\n* 3\ntotals: 1\n";
        assert_eq!(sum(text), 5 + 7 + 20 + 3);
    }
}
