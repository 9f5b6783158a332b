//! The judge of planting: plants each clip on each ground with the command `sinew` and measures the written files by
//! independent code.
//!
//!     cargo run --release -p plant -- [--only WORD]... [--csv] [--details]
//!
//! Exit code 1 if a bound is missed, for clips that the planner was not made for only with `--strict`. `--help` lists all options.

mod accessor;
mod bvh;
mod cases;
mod contact;
mod figure;
mod gait;
mod ground;
mod lowpass;
mod maths;
mod measure;
mod note;
mod same;
mod scene;
mod table;
#[cfg(test)]
mod tests;
mod track;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use cases::{CASES, Case, GROUNDS, GroundCase, Set};
use figure::Figure;
use ground::Ground;
use scene::Scene;

const HELP: &str = "\
Plants each clip on each ground with `sinew plant` and measures the written files.

  --only WORD    only rows whose \"clip ground\" contain WORD; repeat it for rows that contain all
  --set NAME     only clips for `choosing` constants, or only those for `judging`
  --strict       count the misses of every clip in the exit code, not only of those that the present
                 planner was made for. It will become the default
  --csv          print comma-separated values
  --details      under each row: size and soles, time and value of each maximum (metres), share of
                 contacts not planted by reason, and data that differs
  --trace A..B   under each row: hips, heels, balls and toes at the keys from A to B seconds, each with
                 its height above the ground and its depth inside; a star marks contact
  --measure      measure the files of an earlier run; plant nothing
  --sinew PATH   the command [default: built from the workspace in release mode]
  --data FOLDER  folder of the clips [default: SINEW_DATA, else ../shared/data beside the repository]
  --out FOLDER   folder for the written files [default: target/plant of the lab]

  --file FILE --as CLIP   measure one written file as this clip of the list
";

/// The command line.
#[derive(Default)]
struct Options {
    only: Vec<String>,
    set: Option<Set>,
    strict: bool,
    csv: bool,
    details: bool,
    trace: Option<(f64, f64)>,
    measure: bool,
    sinew: Option<PathBuf>,
    data: Option<PathBuf>,
    out: Option<PathBuf>,
    file: Option<PathBuf>,
    case: Option<String>,
}

impl Options {
    fn read() -> Result<Option<Self>, String> {
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
                "--measure" => o.measure = true,
                "--sinew" => o.sinew = Some(value()?.into()),
                "--data" => o.data = Some(value()?.into()),
                "--out" => o.out = Some(value()?.into()),
                "--file" => o.file = Some(value()?.into()),
                "--as" => o.case = Some(value()?),
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

fn main() -> ExitCode {
    let options = match Options::read() {
        Ok(Some(o)) => o,
        Ok(None) => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(e) => {
            eprintln!("{e}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<bool, String> {
    // `lab/plant/../..`: the repository, where cargo runs this.
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = options
        .data
        .clone()
        .or_else(|| std::env::var_os("SINEW_DATA").map(PathBuf::from))
        .unwrap_or_else(|| repository.join("../shared/data"));
    let out = options.out.clone().unwrap_or_else(|| repository.join("lab/target/plant"));
    if let Some(file) = &options.file {
        let name = options.case.as_deref().ok_or("--file wants --as CLIP")?;
        let case = CASES.iter().find(|c| c.name == name).ok_or_else(|| {
            format!(
                "no clip {name:?}; there are {}",
                CASES.iter().map(|c| c.name).collect::<Vec<_>>().join(", ")
            )
        })?;
        // The strictest ground's bounds.
        let ground = GROUNDS.iter().find(|g| g.name == "slope").ok_or("no slope")?;
        println!("{}", table::head(options.csv));
        return Ok(judge(options, case, ground, file, &data)?.is_empty());
    }
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let sinew = match &options.sinew {
        _ if options.measure => PathBuf::new(),
        Some(path) => path.clone(),
        None => build(&repository)?,
    };
    println!("{}", table::head(options.csv));
    let (mut rows, mut held, mut counted) = (0, 0, 0);
    let mut misses = BTreeMap::new();
    for case in CASES {
        for ground in GROUNDS {
            let label = format!("{} {}", case.name, ground.name);
            if !options.only.iter().all(|w| label.contains(w.as_str()))
                || options.set.is_some_and(|s| s != case.set)
            {
                continue;
            }
            rows += 1;
            let counts = options.strict || !case.strict;
            let tell = |value: &str, holds: bool| {
                if counts {
                    bounds::bound(&label, "every column", value, holds);
                }
            };
            let file = out.join(format!("{}-{}.glb", case.name, ground.name));
            let planted = if options.measure { Ok(()) } else { plant(&sinew, case, ground, &data, &file) };
            match planted.and_then(|()| judge(options, case, ground, &file, &data)) {
                Ok(missed) => {
                    tell(&missed.join(", "), missed.is_empty());
                    counted += usize::from(counts && !missed.is_empty());
                    held += usize::from(missed.is_empty());
                    missed.into_iter().for_each(|m| *misses.entry(m).or_insert(0) += 1);
                }
                Err(e) => {
                    tell(&e, false);
                    counted += usize::from(counts);
                    if options.csv {
                        println!("{},{},\"{}\"", case.name, ground.name, e.replace('"', "'"));
                    } else {
                        println!("{:<15}{:<18}{e} !", case.name, ground.name);
                    }
                }
            }
        }
    }
    if rows == 0 {
        return Err(format!("no row holds {:?}", options.only));
    }
    if !options.csv {
        println!("\n{held} of {rows} rows hold every bound");
        misses.iter().for_each(|(column, n)| println!("    {n:>3} miss {column}"));
        if held < rows && counted == 0 {
            println!("    (of clips that count with --strict only)");
        }
    }
    Ok(counted == 0)
}

/// Builds the command; returns its path.
fn build(repository: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = repository.join("Cargo.toml");
    let target = repository.join("target");
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--bin", "sinew", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err(format!("{} does not build", manifest.display()));
    }
    Ok(target.join("release").join(format!("sinew{}", std::env::consts::EXE_SUFFIX)))
}

/// Runs the command for one row.
fn plant(sinew: &Path, case: &Case, ground: &GroundCase, data: &Path, file: &Path) -> Result<(), String> {
    // The output of an earlier run must not be taken for this one's.
    let _ = std::fs::remove_file(file);
    let output = Command::new(sinew)
        .args(case.arguments(ground, data, file, &file.with_extension("json")))
        .output()
        .map_err(|e| format!("{}: {e}", sinew.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr);
    Err(format!("sinew: {}: {}", output.status, words.lines().last().unwrap_or("(it says nothing)")))
}

/// Measures one written file and prints its row; names the columns whose bounds are missed.
fn judge(
    options: &Options,
    case: &Case,
    ground: &GroundCase,
    file: &Path,
    data: &Path,
) -> Result<Vec<&'static str>, String> {
    let scene = Scene::read(file)?;
    let figure = Figure::new(&scene, &case.legs, case.is_bare())?;
    let node = scene.names.iter().rposition(|n| n == "ground").ok_or("no node \"ground\"")?;
    let floor = Ground::new(scene.triangles(node)?);
    if floor.len() == 0 {
        return Err("the ground has no triangles".into());
    }
    let measures = measure::measure(&scene, &figure, &floor, case.motion)?;
    let traced = options.trace.map(|span| measure::trace(&scene, &figure, &floor, span)).transpose()?;
    let differences = match case.file.map(|f| data.join(f)) {
        Some(given) if case.is_bare() => {
            let text = std::fs::read_to_string(&given).map_err(|e| format!("{}: {e}", given.display()))?;
            let bvh = bvh::Bvh::parse(&text, case.scale.unwrap_or(1.0))
                .map_err(|e| format!("{}: {e}", given.display()))?;
            Some(bvh.differences(&scene, &note::Note::find(&scene)?.1))
        }
        Some(given) => Some(same::differences(&Scene::read(&given)?, &scene)),
        None => None,
    };
    let (row, missed) =
        table::row(options.csv, case.name, ground, &measures, differences.as_ref().map(Vec::len));
    println!("{row}");
    traced.into_iter().flatten().for_each(|line| println!("    {line}"));
    if options.details && !options.csv {
        println!("    height {:.4} m", figure.height);
        for leg in &figure.legs {
            let words = |p: maths::V3| format!("({:.4}, {:.4}, {:.4})", p.x, p.y, p.z);
            println!(
                "    {} leg {:.4} m, heel {} ball {}",
                leg.side,
                leg.length,
                words(leg.heel),
                words(leg.ball)
            );
        }
        for (column, l) in &measures.places {
            println!("    {column:9} most at {:.3} s: {:.3e}, {}", l.time, l.value, l.what);
        }
        println!("    {} contacts of heels and balls at {} keys", measures.contacts, measures.keys);
        for (reason, share) in &measures.reasons {
            println!("    not planted {:5.1}%  {reason}", 100.0 * share);
        }
        for t in &measures.straight {
            println!("    straight at {t:.3} s");
        }
        differences.iter().flatten().for_each(|d| println!("    {d}"));
    }
    Ok(missed)
}
