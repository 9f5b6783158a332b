//! The judge of planting: plants each clip on each ground with the command `sinew` and measures the written files by
//! independent code.
//!
//!     cargo run --release -p plant -- [--only WORD]... [--csv] [--details]
//!
//! Exit code 1 if a bound of contact is missed. Bounds of naturalness, and those of clips and grounds that the present planner
//! was not made for, count with `--strict`. `--help` lists all options.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    process::ExitCode,
};

use plant::{
    ablate,
    cases::{CASES, Case, GROUNDS, GroundCase},
    command::{self, Sinew},
    judge::{self, Verdict},
    marks::{self, Row},
    options::{HELP, Options},
    table,
};

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
    if options.ablate {
        ablate::run(options, &repository)?;
        return Ok(true);
    }
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
        let name = options.ground.as_deref().unwrap_or("slope");
        let ground = GROUNDS.iter().find(|g| g.name == name).ok_or_else(|| format!("no ground {name:?}"))?;
        println!("{}", table::head(options.csv));
        let Verdict { missed, row } = judge::judge(options, case, ground, file, &data)?;
        let natural = row.missed().is_empty();
        print(options, &[row]);
        return Ok(missed.is_empty() && (natural || !options.strict));
    }
    std::fs::create_dir_all(&out).map_err(|e| format!("{}: {e}", out.display()))?;
    let sinew = match &options.sinew {
        _ if options.measure => None,
        Some(path) => Some(Sinew::new(path.clone(), &data, &out)?),
        None => Some(Sinew::new(command::build(&repository)?, &data, &out)?),
    };
    println!("{}", table::head(options.csv));
    let mut rows = Vec::new();
    let (mut held, mut counted) = (0, 0);
    let mut misses = BTreeMap::new();
    for (case, ground) in asked(options) {
        let planted = sinew.as_ref().map_or(Ok(()), |s| s.plant(case, ground));
        let file = command::file(&out, case, ground);
        let verdict = planted.and_then(|()| judge::judge(options, case, ground, &file, &data));
        let verdict = verdict.unwrap_or_else(|e| {
            println!("{}", table::error(options.csv, case.name, ground.name, &e));
            Verdict { missed: vec!["an error"], row: Row::error(case, ground, e) }
        });
        let Verdict { missed, row } = verdict;
        held += usize::from(missed.is_empty());
        missed.iter().for_each(|m| *misses.entry(*m).or_insert(0) += 1);
        if options.strict || !(case.strict || ground.strict) {
            let mut missed = missed;
            if options.strict {
                // Naturalness has the share of contact with what ranges forbid.
                missed.retain(|m| *m != "planted");
                missed.extend(row.missed());
            }
            let label = format!("{} {}", case.name, ground.name);
            bounds::bound(label, "every column", missed.join(", "), missed.is_empty());
            counted += usize::from(!missed.is_empty());
        }
        rows.push(row);
    }
    if rows.is_empty() {
        return Err(format!("no row holds {:?}", options.only));
    }
    if !options.csv {
        println!("\n{held} of {} rows hold every bound", rows.len());
        misses.iter().for_each(|(column, n)| println!("    {n:>3} miss {column}"));
        if held < rows.len() && counted == 0 {
            println!("    (in rows that count with --strict only)");
        }
    }
    print(options, &rows);
    Ok(counted == 0)
}

/// The rows that the command line asks for.
fn asked(options: &Options) -> impl Iterator<Item = (&'static Case, &'static GroundCase)> {
    let all = CASES.iter().flat_map(|c| GROUNDS.iter().map(move |g| (c, g)));
    all.filter(|(case, ground)| {
        let label = format!("{} {}", case.name, ground.name);
        case.is_on(ground)
            && options.only.iter().all(|w| label.contains(w.as_str()))
            && options.set.is_none_or(|s| s == case.set)
    })
}

/// Prints the tables of naturalness.
fn print(options: &Options, rows: &[Row]) {
    if options.csv {
        print!("\n{}", marks::csv(rows));
    } else {
        print!("{}{}", marks::tables(rows), marks::summary(rows));
    }
}
