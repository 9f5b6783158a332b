//! How many rows stay natural with each constant of the planner's least-squares problem changed.
//!
//! A copy of the workspace is built whose problem multiplies each constant by a factor from the environment; the engine has no
//! such switch. A tolerance a thousand times as large leaves its term out.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{command, options::Options};

/// Folder of the problem in the workspace, and its file of constants.
const PROBLEM: &str = "crates/sinew/src/ground/plant/problem";
const CONSTANTS: &str = "constants.rs";
/// Factors of a constant.
const FACTORS: [f64; 3] = [0.5, 2.0, 1000.0];
/// Variable of the environment that holds the factor, as `NAME=FACTOR`.
const VARIABLE: &str = "SINEW_ABLATE";

/// What the copy's constants are multiplied by.
const SCALED: &str = r#"
extern crate std;

pub trait Scaled: Copy {
    fn scaled(self, by: f64) -> Self;
}
impl Scaled for f64 {
    fn scaled(self, by: f64) -> Self {
        self * by
    }
}
impl Scaled for f32 {
    fn scaled(self, by: f64) -> Self {
        self * by as f32
    }
}
impl Scaled for usize {
    fn scaled(self, by: f64) -> Self {
        (self as f64 * by).max(1.0) as usize
    }
}
impl<T: Scaled, const N: usize> Scaled for [T; N] {
    fn scaled(self, by: f64) -> Self {
        self.map(|v| v.scaled(by))
    }
}
pub fn scaled<T: Scaled>(name: &str, value: T) -> T {
    static FACTOR: std::sync::OnceLock<Option<(std::string::String, f64)>> = std::sync::OnceLock::new();
    let factor = FACTOR.get_or_init(|| {
        let text = std::env::var("SINEW_ABLATE").ok()?;
        let (name, by) = text.split_once('=')?;
        Some((name.into(), by.parse().ok()?))
    });
    factor.as_ref().filter(|(n, _)| n == name).map_or(value, |(_, by)| value.scaled(*by))
}
"#;

/// Prints the rows that are natural with each constant as it is, halved, doubled, and a thousand times as large.
pub fn run(options: &Options, repository: &Path) -> Result<(), String> {
    let copy = repository.join("lab/target/ablate");
    let names = prepare(repository, &copy)?;
    let sinew = command::build(&copy)?;
    let natural = |setting: Option<String>| natural(options, &sinew, &copy.join("out"), setting);
    println!("{:<20}{:>12}{:>12}{:>12}", "constant", "halved", "doubled", "x 1000");
    println!("{:<20}{:>12}", "(as they are)", natural(None)?);
    for name in names {
        let mut line = format!("{name:<20}");
        for factor in FACTORS {
            line += &format!("{:>12}", natural(Some(format!("{name}={factor}")))?);
        }
        println!("{line}");
    }
    Ok(())
}

/// Rows that are natural with a setting, `81 of 94`.
fn natural(options: &Options, sinew: &Path, out: &Path, setting: Option<String>) -> Result<String, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut judge = Command::new(this);
    judge.args(["--set", options.set.map_or("choosing", |s| s.name())]);
    judge.arg("--sinew").arg(sinew).arg("--out").arg(out);
    judge.args(options.only.iter().flat_map(|word| ["--only", word]));
    judge.args(options.data.iter().flat_map(|data| ["--data".as_ref(), data.as_os_str()]));
    judge.env(VARIABLE, setting.unwrap_or_default());
    let output = judge.output().map_err(|e| e.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|l| l.split_once(": ")?.1.strip_suffix(" rows are natural"));
    line.map(Into::into).ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Makes the copy; returns the names of its constants.
fn prepare(repository: &Path, copy: &Path) -> Result<Vec<String>, String> {
    let constants = read(&repository.join(PROBLEM).join(CONSTANTS))?;
    let names: Vec<String> = constants
        .lines()
        .filter_map(|l| Some(l.strip_prefix("pub const ")?.split_once(':')?.0.to_owned()))
        .collect();
    let mut files = vec![PathBuf::from("Cargo.toml"), PathBuf::from("Cargo.lock")];
    list(repository, Path::new("crates"), &mut files)?;
    for file in files {
        let from = repository.join(&file);
        let bytes = if !file.starts_with(PROBLEM) {
            fs::read(&from).map_err(|e| format!("{}: {e}", from.display()))?
        } else if file.ends_with(CONSTANTS) {
            (constants.clone() + SCALED).into_bytes()
        } else {
            with_factors(&read(&from)?, &names).into_bytes()
        };
        let to = copy.join(&file);
        // What is written anew is built anew.
        if fs::read(&to).is_ok_and(|old| old == bytes) {
            continue;
        }
        let folder = to.parent().unwrap_or(copy);
        fs::create_dir_all(folder)
            .and_then(|()| fs::write(&to, bytes))
            .map_err(|e| format!("{}: {e}", to.display()))?;
    }
    Ok(names)
}

/// Files below a folder of the repository.
fn list(repository: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let says = |e| format!("{}: {e}", folder.display());
    for entry in fs::read_dir(repository.join(folder)).map_err(says)? {
        let entry = entry.map_err(says)?;
        let path = folder.join(entry.file_name());
        if entry.path().is_dir() {
            list(repository, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// Source code with factors on constants, but for imports and comments.
fn with_factors(code: &str, names: &[String]) -> String {
    let mut result = String::new();
    let mut import = false;
    for line in code.split_inclusive('\n') {
        // Those that are made public, too.
        import |= line.starts_with("use ") || (line.starts_with("pub") && line.contains(" use "));
        if import || line.trim_start().starts_with("//") {
            result += line;
        } else {
            let mut rest = line;
            while let Some(start) = rest.find(is_word) {
                let (before, word) = rest.split_at(start);
                let (word, after) = word.split_at(word.find(|c| !is_word(c)).unwrap_or(word.len()));
                result += before;
                if names.iter().any(|n| n == word) {
                    result +=
                        &format!("crate::ground::plant::problem::constants::scaled(\"{word}\", {word})");
                } else {
                    result += word;
                }
                rest = after;
            }
            result += rest;
        }
        import &= !line.trim_end().ends_with(';');
    }
    result
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_get_factors_where_they_are_used() {
        let code = "use a::{\n    HIPS, WAY,\n};\npub(super) use a::HIPS;\n/// HIPS.\nlet x = HIPS * y + THE_HIPS; // end\n";
        let with = with_factors(code, &["HIPS".into(), "WAY".into()]);
        let scaled = "crate::ground::plant::problem::constants::scaled(\"HIPS\", HIPS)";
        assert_eq!(with, code.replace("= HIPS", &format!("= {scaled}")));
    }
}
