//! Runs a target on thousands of mutated inputs.

use std::{
    collections::BTreeMap,
    fs, io,
    path::PathBuf,
    process::ExitCode,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use fuzz::{
    Outcome, TARGETS, Target, cpu,
    mutate::{Dice, mutate, random},
};
use sinew_files::{Source, sample};

const HELP: &str = "\
fuzz TARGET [--seconds S | --cases N] [--seed N] [--with FILE]... [--findings FOLDER]
fuzz TARGET FILE...
fuzz --list

Mutates the target's valid inputs (and the files of --with) for S seconds [default: 20] or N times, the same for the same
seed [default: 1], and runs the target on each. A finding is a panic, more than 2 s of processor time or 300 MB, an error of
several lines, or a number that is not finite. The first input of each kind is kept in FOLDER [default: target/findings] and
printed with the command that runs it again. Exit code 1 on findings. With FILEs the target runs on these alone. --list prints
the targets.";

/// Processor time after which an input counts as a hang.
const HANG: Duration = Duration::from_secs(40);

/// The command line.
struct Asked {
    target: &'static Target,
    seconds: Option<f64>,
    cases: Option<u64>,
    seed: u64,
    with: Vec<PathBuf>,
    findings: PathBuf,
    files: Vec<PathBuf>,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words == ["--list"] {
        TARGETS.iter().for_each(|t| println!("{}", t.name));
        return ExitCode::SUCCESS;
    }
    let asked = match read(words) {
        Ok(Some(asked)) => asked,
        Ok(None) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("fuzz: {error}\n\n{HELP}");
            return ExitCode::from(2);
        }
    };
    let result = if asked.files.is_empty() { run(&asked) } else { run_files(&asked) };
    fuzz::clean();
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn read(words: Vec<String>) -> Result<Option<Asked>, String> {
    let mut words = words.into_iter();
    let first = words.next().unwrap_or_default();
    if first == "--help" || first == "-h" {
        return Ok(None);
    }
    let target = Target::find(&first).ok_or_else(|| format!("there is no target {first:?}"))?;
    let findings = PathBuf::from("target/findings");
    let mut asked =
        Asked { target, seconds: None, cases: None, seed: 1, with: Vec::new(), findings, files: Vec::new() };
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} wants a value"));
        let number = |text: String| text.parse::<u64>().map_err(|e| format!("{text}: {e}"));
        match word.as_str() {
            "--seconds" => {
                let text = value()?;
                asked.seconds = Some(text.parse().map_err(|e| format!("{text}: {e}"))?);
            }
            "--cases" => asked.cases = Some(number(value()?)?),
            "--seed" => asked.seed = number(value()?)?,
            "--with" => asked.with.push(value()?.into()),
            "--findings" => asked.findings = value()?.into(),
            _ if word.starts_with('-') => return Err(format!("there is no option {word}")),
            _ => asked.files.push(word.into()),
        }
    }
    Ok(Some(asked))
}

/// Gives these files to the target.
fn run_files(asked: &Asked) -> io::Result<bool> {
    let mut sound = true;
    for path in &asked.files {
        let data = fs::read(path)?;
        let judged = asked.target.judge(&data);
        let what = match &judged.result {
            Ok(outcome) => format!("{outcome:?}").to_lowercase(),
            Err(what) => what.clone(),
        };
        let (ms, mb) = (judged.time.as_millis(), judged.bytes as f64 / 1e6);
        println!("{}: {what}; {ms} ms, {mb:.1} MB", path.display());
        sound &= judged.result.is_ok();
    }
    Ok(sound)
}

/// The input under test, for the watchdog.
struct Current {
    since: Duration,
    case: u64,
}

fn run(asked: &Asked) -> io::Result<bool> {
    let target = asked.target;
    let mut seeds: Vec<Vec<u8>> = target.seeds.iter().map(|s| s.to_vec()).collect();
    for path in &asked.with {
        seeds.push(fs::read(path).map_err(|e| io::Error::other(format!("{}: {e}", path.display())))?);
    }
    // The built-in character is larger than what is kept here, and slower.
    let sample = if target.name == "gltf" { Some(character()?) } else { None };
    fs::create_dir_all(&asked.findings)?;
    let kept = |case: u64| asked.findings.join(format!("{}-{}-{case}", target.name, asked.seed));
    let name = |case| kept(case).display().to_string();
    fuzz::quiet_panics();

    // An input that overflows the stack or takes all memory ends the process: the file is there before.
    let running = asked.findings.join(format!("{}-{}-running", target.name, asked.seed));
    if fs::metadata(&running).is_ok_and(|m| m.len() > 0) {
        let left = asked.findings.join(format!("{}-{}-ended", target.name, asked.seed));
        fs::rename(&running, &left)?;
        println!(
            "{}: the run before ended within this input\n{}",
            target.name,
            again(target, &left.display().to_string())
        );
    }
    let current = Arc::new(Mutex::new(Current { since: cpu(), case: 0 }));
    let watched = (current.clone(), running.clone(), asked.findings.clone(), target.name, asked.seed);
    thread::spawn(move || {
        let (current, running, findings, name, seed) = watched;
        loop {
            thread::sleep(Duration::from_millis(500));
            let Ok(now) = current.lock() else { return };
            if cpu().saturating_sub(now.since) > HANG {
                let path = findings.join(format!("{name}-{seed}-{}", now.case));
                let _ = fs::rename(&running, &path);
                println!(
                    "{name}: hangs: more than {} s\nagain: fuzz {name} {}",
                    HANG.as_secs(),
                    path.display()
                );
                fuzz::clean();
                std::process::exit(1);
            }
        }
    });

    let start = Instant::now();
    let limit = asked.seconds.or(asked.cases.is_none().then_some(20.0));
    let mut outcomes = [0u64; 3];
    let (mut slowest, mut largest) = ((Duration::ZERO, 0), (0, 0));
    // By what they say: the first case, and how many there were.
    let mut found: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut case = 0;
    while asked.cases.is_none_or(|n| case < n) && limit.is_none_or(|s| start.elapsed().as_secs_f64() < s) {
        let mut dice = Dice::new(asked.seed, case);
        let data = match &sample {
            Some(sample) if dice.below(8) == 0 => mutate(sample, target.words, &mut dice),
            _ if seeds.is_empty() => random(&mut dice),
            _ => mutate(&seeds[dice.below(seeds.len())], target.words, &mut dice),
        };
        fs::write(&running, &data)?;
        if let Ok(mut current) = current.lock() {
            *current = Current { since: cpu(), case };
        }
        let judged = target.judge(&data);
        slowest = slowest.max((judged.time, case));
        largest = largest.max((judged.bytes, case));
        match judged.result {
            Ok(outcome) => outcomes[outcome as usize] += 1,
            Err(what) => {
                // Without what it quotes, and without numbers.
                let said: String = what.split('`').step_by(2).collect();
                let kind: String = said.chars().filter(|c| !c.is_ascii_digit()).take(60).collect();
                let (first, count) = found.entry(kind).or_insert((case, 0));
                *count += 1;
                if *first == case {
                    fs::write(kept(case), &data)?;
                    let what: String = what.chars().take(300).collect();
                    println!("{}: {what}\n{}", target.name, again(target, &name(case)));
                }
            }
        }
        case += 1;
    }
    let _ = fs::remove_file(&running);
    for (first, count) in found.values() {
        println!("{}: {count} like case {first}", target.name);
    }
    let [refused, read, done] =
        [Outcome::Refused, Outcome::Read, Outcome::Done].map(|o| outcomes[o as usize]);
    println!(
        "{}: {case} inputs in {:.0} s: {refused} refused, {read} read, {done} done, {} kinds of finding; slowest {} ms (case \
         {}), most memory {:.0} MB (case {})",
        target.name,
        start.elapsed().as_secs_f64(),
        found.len(),
        slowest.0.as_millis(),
        slowest.1,
        largest.0 as f64 / 1e6,
        largest.1
    );
    bounds::bound(target.name, "no finding", found.len(), found.is_empty());
    Ok(found.is_empty())
}

/// The line that runs an input again.
fn again(target: &Target, path: &str) -> String {
    format!("again: cargo run --release -p fuzz -- {} {path}", target.name)
}

/// The built-in character as GLB.
fn character() -> io::Result<Vec<u8>> {
    let model = sample::mannequin().map_err(io::Error::other)?;
    let mut glb = Vec::new();
    if let Source::Gltf(document) = &model.source {
        document.to_glb(&mut glb)?;
    }
    Ok(glb)
}
