//! The command line of the judge.
#![allow(missing_docs, reason = "the help says what each option does")]

use std::path::PathBuf;

use crate::cases::Set;

/// The help.
pub const HELP: &str = "\
Plants each clip on each ground with `sinew plant` and measures the written files.

  --only WORD    only rows whose \"clip ground\" contain WORD; repeat it for rows that contain all
  --set NAME     only clips for `choosing` constants, or only those for `judging`
  --strict       count every miss in the exit code: of naturalness, and of the clips and grounds that the
                 present planner was not made for. Without it they are only printed. It will become the
                 default
  --csv          print comma-separated values: a line for each row, then one for each measure of naturalness
  --details      under each row: size and soles, time and value of each maximum (metres), share of
                 contacts not planted by reason, data that differs, and the time of each measure of
                 naturalness
  --trace A..B   under each row: hips, heels, balls and toes at the keys from A to B seconds, each with
                 its height above the ground and its depth inside; a star marks contact
  --strips       draw a film strip of each row beside its written file, from the side and from the front:
                 .svg, which a browser shows
  --ablate       plant the rows for choosing (or of --set, --only) anew with each constant of the planner's
                 problem halved, doubled and a thousand times as large, and print how many are natural
  --measure      measure the files of an earlier run; plant nothing
  --sinew PATH   the command [default: built from the workspace in release mode]
  --data FOLDER  folder of the clips [default: SINEW_DATA, else ../shared/data beside the repository]
  --out FOLDER   folder for the written files [default: target/plant of the lab]

  --file FILE --as CLIP [--on GROUND]
                 measure one written file as this clip of the list on this ground of the list [default: slope]
";

/// The command line; `HELP` says what each option does.
#[derive(Default)]
pub struct Options {
    pub only: Vec<String>,
    pub set: Option<Set>,
    pub strict: bool,
    pub csv: bool,
    pub details: bool,
    pub trace: Option<(f64, f64)>,
    pub strips: bool,
    pub ablate: bool,
    pub measure: bool,
    pub sinew: Option<PathBuf>,
    pub data: Option<PathBuf>,
    pub out: Option<PathBuf>,
    pub file: Option<PathBuf>,
    pub case: Option<String>,
    pub ground: Option<String>,
}

impl Options {
    /// Reads the command line; `None` asks for help.
    pub fn read() -> Result<Option<Self>, String> {
        let mut o = Self::default();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
            match word.as_str() {
                "--only" => o.only.push(value()?),
                "--set" => o.set = Some(set(&value()?)?),
                "--strict" => o.strict = true,
                "--csv" => o.csv = true,
                "--details" => o.details = true,
                "--trace" => o.trace = Some(span(&value()?)?),
                "--strips" => o.strips = true,
                "--ablate" => o.ablate = true,
                "--measure" => o.measure = true,
                "--sinew" => o.sinew = Some(value()?.into()),
                "--data" => o.data = Some(value()?.into()),
                "--out" => o.out = Some(value()?.into()),
                "--file" => o.file = Some(value()?.into()),
                "--as" => o.case = Some(value()?),
                "--on" => o.ground = Some(value()?),
                "-h" | "--help" => return Ok(None),
                _ => return Err(format!("unknown option {word}; --help lists them")),
            }
        }
        Ok(Some(o))
    }
}

/// A set of clips by its name.
fn set(word: &str) -> Result<Set, String> {
    let named = [Set::Choosing, Set::Judging].into_iter().find(|s| s.name() == word);
    named.ok_or_else(|| format!("--set wants choosing or judging, not {word:?}"))
}

/// A span of seconds, `A..B`.
fn span(word: &str) -> Result<(f64, f64), String> {
    let ends = word.split_once("..").map(|(a, b)| (a.parse(), b.parse()));
    match ends {
        Some((Ok(a), Ok(b))) if a <= b => Ok((a, b)),
        _ => Err(format!("--trace wants A..B in seconds, not {word:?}")),
    }
}
