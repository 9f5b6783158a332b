//! Runs release builds of the lab's programs and prints all their bounds in one table. With `--against` the programs are
//! also built with another checkout's engine, and both run in turn.

mod checkout;
mod count;

use std::{collections::BTreeMap, path::PathBuf, process::ExitCode};

use bounds::Told;
use checkout::Checkout;

const HELP: &str = "\
bounds [--only WORD]... [--quick] [--against FOLDER [--rounds N] [--instructions]]

Runs the lab's programs and prints a line for each bound: program, row, bound, value, and whether it holds. Exit code 1
if a bound is missed that is not on the list of known misses, or if a program fails.

  --only WORD       only programs whose \"name arguments\" contain WORD; repeat it for programs that contain any
  --quick           fewer cases, and no programs that take many minutes
  --against FOLDER  another checkout of the project: the lab is also built with its engine, and both run in turn. A bound
                    missed by both is no failure; a median more than 5 % slower than the other's is one
  --rounds N        with --against: runs of each program [default: 3]; the fastest median counts
  --instructions    with --against: compare instruction counts within the engine, by valgrind, instead of times";

/// Largest ratio of a median to that of the other checkout.
const SLOWER: f64 = 1.05;

/// A program with what it is given: all of it, and where it is to be quick.
struct Program {
    name: &'static str,
    all: &'static [&'static str],
    quick: Option<&'static [&'static str]>,
    /// Arguments for counting instructions, which takes fifty times as long; `None` where it takes too long.
    counted: Option<&'static [&'static str]>,
}

const fn program(
    name: &'static str,
    all: &'static [&'static str],
    quick: Option<&'static [&'static str]>,
    counted: Option<&'static [&'static str]>,
) -> Program {
    Program { name, all, quick, counted }
}

const PROGRAMS: &[Program] = &[
    program("limb", &[], Some(&[]), Some(&[])),
    program("limits", &[], Some(&["200"]), Some(&["10"])),
    program("chain", &[], Some(&["goals"]), None),
    program("spline", &[], Some(&["2"]), Some(&["1"])),
    program("frame", &[], Some(&[]), Some(&[])),
    program("arm", &["--no-peer", "--plot", "target/arm.png"], Some(ARM_QUICK), Some(ARM_FEW)),
    program("full-body", &[], None, None),
    program("rig", &[], Some(&[]), None),
    program("step", &[], Some(&["sample"]), Some(&["sample", "slope"])),
    program("plant", &[], Some(&["--only", "sample"]), None),
    program("walk", &[], Some(&["--only", "flat"]), None),
    program("soak", &["1000000"], Some(&["100000"]), None),
    program("fuzz", &["gltf", "--seconds", "20"], None, None),
    program("fuzz", &["bvh", "--seconds", "20"], None, None),
    program("fuzz", &["urdf", "--seconds", "20"], None, None),
    program("fuzz", &["obj", "--seconds", "20"], None, None),
    program("fuzz", &["goals", "--seconds", "20"], None, None),
    program("fuzz", &["contacts", "--seconds", "20"], None, None),
    program("fuzz", &["solvers", "--seconds", "20"], None, None),
    program("fuzz", &["planting", "--seconds", "20"], None, None),
];

const ARM_QUICK: &[&str] = &["--no-peer", "--count", "100", "--plot", "target/arm.png"];
const ARM_FEW: &[&str] = &["--no-peer", "--count", "4", "--plot", "target/arm.png"];

/// Bounds known to be missed: program, words of the row, a word of the bound. README.md gives the reasons.
const KNOWN: &[(&str, &[&str], &str)] = &[
    ("chain", &["10 bones, goals at 10-95 %"], "x rebirth-ik"),
    ("chain", &["circle", "10 hinges"], "branch changed"),
    ("chain", &["in and out of reach"], "branch changed"),
    ("chain", &["within 1 cm of the pole", "10 cones, auto", "turns further"], "branch changed"),
    ("chain", &["circle", "10 hinges", "no bound on turns"], "rad a length"),
    ("chain", &["in and out of reach", "10 cones", "no bound on turns"], "rad a length"),
    ("chain", &["in and out of reach", "10 hinges", "no bound on turns"], "rad a length"),
    ("spline", &["moves much"], "roll"),
    ("full-body", &["turns bounded"], "branch changed"),
    ("full-body", &["one out of reach"], "every leap is said"),
    ("step", &["game"], "contact"),
    ("step", &["game"], "fastest"),
    ("step", &["game"], "ankle"),
    ("step", &["game"], "knee, most"),
    ("plant", &["mannequiny-run", "slope"], "every column"),
    ("plant", &["mannequiny-run", "terrain"], "every column"),
    ("walk", &["spider: terrain, round"], "belly"),
    ("walk", &["horse: stairs up"], "turn"),
    ("walk", &["horse: stairs down"], "in the air"),
];

struct Asked {
    only: Vec<String>,
    quick: bool,
    against: Option<PathBuf>,
    rounds: usize,
    instructions: bool,
}

fn read() -> Result<Option<Asked>, String> {
    let mut asked = Asked { only: Vec::new(), quick: false, against: None, rounds: 3, instructions: false };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--only" => asked.only.push(value()?),
            "--quick" => asked.quick = true,
            "--against" => asked.against = Some(value()?.into()),
            "--rounds" => asked.rounds = value()?.parse().map_err(|e| format!("--rounds: {e}"))?,
            "--instructions" => asked.instructions = true,
            "--help" | "-h" => return Ok(None),
            _ => return Err(format!("unknown option {word}")),
        }
    }
    if asked.against.is_none() && asked.instructions {
        return Err("--instructions needs --against FOLDER".into());
    }
    Ok(Some(asked))
}

fn main() -> ExitCode {
    let asked = match read() {
        Ok(Some(asked)) => asked,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("bounds: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    match run(&asked) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bounds: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Reports of all runs of one checkout.
#[derive(Default)]
struct Results {
    /// Values and results by row and bound, in order of their first report.
    bounds: Vec<((String, String), (String, bool))>,
    /// Fastest median of each row.
    medians: BTreeMap<String, f64>,
}

impl Results {
    fn add(&mut self, told: Vec<Told>) {
        for told in told {
            match told {
                Told::Bound { row, bound, value, holds } => {
                    let key = (row, bound);
                    match self.bounds.iter_mut().find(|(k, _)| *k == key) {
                        // Times differ from run to run: a bound that a run holds is held.
                        Some((_, old)) if holds && !old.1 => *old = (value, holds),
                        Some(_) => {}
                        None => self.bounds.push((key, (value, holds))),
                    }
                }
                Told::Median { row, micros } => {
                    let best = self.medians.entry(row).or_insert(micros);
                    *best = best.min(micros);
                }
            }
        }
    }

    fn holds(&self, key: &(String, String)) -> Option<bool> {
        self.bounds.iter().find(|(k, _)| k == key).map(|(_, (_, holds))| *holds)
    }
}

fn run(asked: &Asked) -> Result<bool, String> {
    let fits = |p: &&Program| {
        let label = format!("{} {}", p.name, p.all.join(" "));
        asked.only.is_empty() || asked.only.iter().any(|w| label.contains(w.as_str()))
    };
    let chosen: Vec<&Program> = PROGRAMS.iter().filter(fits).collect();
    let here = Checkout::here()?;
    let other = asked.against.as_deref().map(Checkout::other).transpose()?;
    if asked.instructions {
        return instructions(&chosen, &here, &other.ok_or("nothing to compare with")?);
    }
    let mut names: Vec<&str> = chosen.iter().map(|p| p.name).collect();
    names.dedup();
    here.build(&names)?;
    // Fuzzing always runs on this checkout.
    names.retain(|n| *n != "fuzz");
    if let Some(other) = &other {
        other.build(&names)?;
    }
    let (mut count, mut failures, mut better) = (0, Vec::new(), Vec::new());
    println!("{:<8} {:<64} {:<44} {:>16}", "program", "row", "bound", "value");
    for program in chosen {
        let Some(words) = (if asked.quick { program.quick } else { Some(program.all) }) else { continue };
        let label = [program.name, &words.join(" ")].join(" ");
        let (mut ours, mut theirs) = (Results::default(), Results::default());
        let twice = other.as_ref().filter(|_| program.name != "fuzz");
        for _ in 0..twice.map_or(1, |_| asked.rounds.max(1)) {
            if let Some(other) = twice {
                theirs.add(other.run(program.name, words)?.1);
            }
            let (code, told) = here.run(program.name, words)?;
            if told.is_empty() && code != Some(0) {
                failures.push(format!("{label}: ended with {code:?} and told nothing"));
            }
            ours.add(told);
        }
        for (key, (value, holds)) in &ours.bounds {
            let (row, bound) = key;
            count += 1;
            let known = KNOWN.iter().any(|(p, words, b)| {
                *p == program.name && words.iter().all(|w| row.contains(w)) && bound.contains(b)
            });
            let verdict = match (holds, known, theirs.holds(key)) {
                (true, false, _) => "holds",
                (true, true, _) => {
                    better.push(format!("{label}: {row}: {bound}: {value}"));
                    "holds (known to miss)"
                }
                (false, true, Some(true)) => "missed (known, holds there)",
                (false, true, _) => "missed (known)",
                (false, false, Some(false)) => "missed (there too)",
                (false, false, _) => {
                    failures.push(format!("{label}: {row}: {bound}: {value}"));
                    "MISSED"
                }
            };
            println!("{:<8} {row:<64} {bound:<44} {value:>16} {verdict}", program.name);
        }
        for (row, micros) in &ours.medians {
            let Some(there) = theirs.medians.get(row) else { continue };
            let ratio = micros / there;
            count += 1;
            let slow = ratio > SLOWER;
            if slow {
                failures.push(format!("{label}: {row}: {ratio:.3} of the other's median"));
            }
            let verdict = if slow { "SLOWER" } else { "holds" };
            println!(
                "{:<8} {row:<64} {:<44} {:>16} {verdict}",
                program.name,
                format!("median {there:.3} us there, x {SLOWER}"),
                format!("{micros:.3} us, {ratio:.3}")
            );
        }
    }
    println!("\n{count} bounds, {} missed that are not known", failures.len());
    failures.iter().for_each(|f| println!("  {f}"));
    if !better.is_empty() {
        println!("{} are known to be missed, and hold:", better.len());
        better.iter().for_each(|b| println!("  {b}"));
    }
    Ok(failures.is_empty())
}

/// Counts the instructions of both trees, within the engine.
fn instructions(chosen: &[&Program], here: &Checkout, other: &Checkout) -> Result<bool, String> {
    count::available()?;
    let counted: Vec<(&str, &[&str])> = chosen.iter().filter_map(|p| Some((p.name, p.counted?))).collect();
    let mut names: Vec<&str> = counted.iter().map(|c| c.0).collect();
    names.dedup();
    here.build(&names)?;
    other.build(&names)?;
    println!("{:<8} {:<40} {:>16} {:>16} {:>8}", "program", "arguments", "there", "here", "ratio");
    let mut fine = true;
    for (name, words) in counted {
        let there = count::engine(&other.program(name), words, &other.lab)?;
        let ours = count::engine(&here.program(name), words, &here.lab)?;
        let ratio = ours as f64 / there.max(1) as f64;
        let verdict = if ratio > SLOWER { "SLOWER" } else { "holds" };
        fine &= ratio <= SLOWER;
        println!("{name:<8} {:<40} {there:>16} {ours:>16} {ratio:>8.3} {verdict}", words.join(" "));
    }
    Ok(fine)
}
