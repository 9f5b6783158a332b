//! Random solves by every solver on random skeletons with random limits. It counts values that are not finite, panics,
//! broken limits, changed lengths, repeated solves with other bits, wrong refusals (valid input refused, or invalid input
//! accepted), and objectives that grew. Limits, lengths and objectives are judged in f64 by code that is independent of the
//! engine. One batch in four is hostile: extreme scales, rotations, options and goals.
//!
//! `soak [COUNT] [--seed N] [--threads N] [--only ROW] [--list]` makes COUNT solves in all (100,000 by default), the same
//! number for each row. Exit code 1 on a finding. The first finding of each kind is printed with the seed of its batch,
//! which `--only ROW --seed N 64` repeats. The last column sums the bits of all answers: two builds with the same sums, for
//! one COUNT and seed, give the same answers.

mod joint_space;
mod objective;
mod planar;
mod point_chain;
mod pose;
mod rig;
mod solvers;
mod tally;

use std::{
    process::ExitCode,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tally::{FAULTS, Tally};

/// Solves on one skeleton: enough that building it costs little.
const BATCH: u64 = 64;

/// One batch in so many is hostile.
const HOSTILE: u64 = 4;

/// Promised tolerance of limits, in radians.
const PROMISE: f64 = 1e-5;

/// Makes a batch of solves from a seed.
type Batch = Box<dyn Fn(u64, &mut Tally) + Sync>;

struct Row {
    name: String,
    batch: Batch,
}

fn rows() -> Vec<Row> {
    let row = |name: &str, batch: Batch| Row { name: name.into(), batch };
    let mut rows = Vec::new();
    for (which, (name, ..)) in solvers::ALL.iter().enumerate() {
        rows.push(row(name, Box::new(move |seed, tally| pose::batch(seed, which, tally))));
    }
    rows.push(row("point chain", Box::new(point_chain::batch)));
    for (which, name) in joint_space::ALL.iter().enumerate() {
        rows.push(row(name, Box::new(move |seed, tally| joint_space::batch(seed, which, tally))));
    }
    for (which, name) in planar::ALL.iter().enumerate() {
        rows.push(row(name, Box::new(move |seed, tally| planar::batch(seed, which, tally))));
    }
    rows
}

struct Asked {
    count: u64,
    seed: u64,
    threads: usize,
    only: Option<String>,
}

fn arguments() -> Option<Asked> {
    let mut asked = Asked { count: 100_000, seed: 1, threads: 2, only: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let number = |s: Option<String>| s.and_then(|n| n.replace(['_', ','], "").parse::<u64>().ok());
        match arg.as_str() {
            "--seed" => asked.seed = number(args.next())?,
            "--threads" => asked.threads = number(args.next())?.clamp(1, 64) as usize,
            "--only" => asked.only = Some(args.next()?),
            _ => asked.count = number(Some(arg))?,
        }
    }
    Some(asked)
}

fn main() -> ExitCode {
    let mut rows = rows();
    if std::env::args().any(|a| a == "--list") {
        rows.iter().for_each(|row| println!("{}", row.name));
        return ExitCode::SUCCESS;
    }
    let Some(asked) = arguments() else {
        eprintln!("usage: soak [COUNT = 100000] [--seed N = 1] [--threads N = 2] [--only ROW] [--list]");
        return ExitCode::from(2);
    };
    if let Some(only) = &asked.only {
        rows.retain(|row| row.name == *only);
        if rows.is_empty() {
            eprintln!("soak: unknown row `{only}`; --list prints all rows");
            return ExitCode::from(2);
        }
    }
    // A panic is counted and told once, not printed by each.
    std::panic::set_hook(Box::new(|_| {}));
    let width = rows.len() as u64;
    let batches = asked.count.div_ceil(BATCH).div_ceil(width) * width;
    let start = Instant::now();
    let (next, solves) = (AtomicU64::new(0), AtomicU64::new(0));
    let told = Mutex::new((start, vec![[false; FAULTS.len()]; rows.len()], vec![Duration::ZERO; rows.len()]));
    let work = || {
        let mut tallies = vec![Tally::default(); rows.len()];
        loop {
            // Row by row, so that all have as many wherever it is broken off.
            let n = next.fetch_add(1, Ordering::Relaxed);
            if n >= batches {
                return tallies;
            }
            let (which, round) = ((n % width) as usize, n / width);
            let (row, mut tally) = (&rows[which], Tally::default());
            let begun = Instant::now();
            (row.batch)(asked.seed.wrapping_add(round), &mut tally);
            let done = solves.fetch_add(tally.solves, Ordering::Relaxed) + tally.solves;
            tallies[which].add(&tally);
            let mut told = told.lock().unwrap_or_else(|e| e.into_inner());
            told.2[which] += begun.elapsed();
            for (k, first) in tally.first.iter().enumerate() {
                if let Some(first) = first.as_ref().filter(|_| !told.1[which][k]) {
                    told.1[which][k] = true;
                    println!("{}, {}: {first}", row.name, FAULTS[k].1);
                }
            }
            if told.0.elapsed() > Duration::from_secs(30) {
                told.0 = Instant::now();
                let seconds = start.elapsed().as_secs_f64();
                println!("{done} solves in {seconds:.0} s, {:.0} a second", done as f64 / seconds);
            }
        }
    };
    let all: Vec<Vec<Tally>> = std::thread::scope(|s| {
        let handles: Vec<_> = (0..asked.threads).map(|_| s.spawn(work)).collect();
        handles.into_iter().filter_map(|h| h.join().ok()).collect()
    });
    print!("{:<28} {:>10} {:>8}", "row", "solves", "refused");
    FAULTS.iter().for_each(|(_, name)| print!(" {name:>8}"));
    println!(" {:>10} {:>8} {:>16}", "worst, rad", "us", "bits");
    let mut total = Tally::default();
    let times = told.into_inner().unwrap_or_else(|e| e.into_inner()).2;
    for (which, row) in rows.iter().enumerate() {
        let mut sum = Tally::default();
        all.iter().for_each(|tallies| sum.add(&tallies[which]));
        print!("{:<28} {:>10} {:>8}", row.name, sum.solves, sum.refused);
        sum.found.iter().for_each(|n| print!(" {n:>8}"));
        let each = 1e6 * times[which].as_secs_f64() / sum.solves.max(1) as f64;
        println!(" {:>10.1e} {each:>8.0} {:016x}", sum.worst, sum.digest);
        bounds::bound(&row.name, "no finding", sum.bad(), sum.bad() == 0);
        total.add(&sum);
    }
    println!("{} solves in {:.0} s, {} bad", total.solves, start.elapsed().as_secs_f64(), total.bad());
    ExitCode::from(u8::from(total.bad() > 0 || all.len() < asked.threads))
}
