//! Times and judges chain solvers beside rebirth-ik and skelly in one run. A word selects rows by their titles (`limited`:
//! only chains with limits, beside `k`; `paths`: only smooth paths).

use chain::{
    cases::{Start, cases},
    contender::{Contender, Free, Rebirth, Skelly},
    limited, paths, race,
};

/// Chains with goals, and what is to be reached on them.
struct Row {
    title: &'static str,
    bones: usize,
    start: Start,
    near: f32,
    far: f32,
    on_line: bool,
    tolerance: f32,
    /// Most microseconds of the median; the 99th percentile may be four times as long as the median is.
    median: Option<f64>,
    /// Most part of rebirth-ik's median.
    ratio: Option<f64>,
    /// Most sweeps of the 99th percentile.
    sweeps: Option<u32>,
}

/// Goals in the shell from a tenth of the length to 95 %.
fn shell(bones: usize, median: f64, ratio: f64) -> Row {
    Row {
        title: "goals at 10-95 %, start an arc",
        bones,
        start: Start::Arc(1.0),
        near: 0.1,
        far: 0.95,
        on_line: false,
        tolerance: 1e-3,
        median: Some(median),
        ratio: Some(ratio),
        sweeps: None,
    }
}

fn rows() -> Vec<Row> {
    let plain = || Row { median: None, ratio: None, ..shell(10, 0.0, 0.0) };
    vec![
        shell(10, 0.6, 0.3),
        shell(20, 1.5, 0.3),
        shell(100, 10.0, 0.15),
        Row { title: "goals at 10-95 %, start bent at random", start: Start::Bent(0.3), ..plain() },
        Row {
            title: "goals at 95-99.99 %, start nearly straight",
            start: Start::Bent(0.02),
            near: 0.95,
            far: 0.9999,
            tolerance: 1e-5,
            sweeps: Some(6),
            ..plain()
        },
        Row {
            title: "goal on the line at 5-95 %, start straight",
            start: Start::Straight,
            near: 0.05,
            on_line: true,
            ..plain()
        },
    ]
}

/// Goals a row.
const COUNT: usize = 2000;

/// Times, judges and prints one row; whether it is within its bounds.
fn run(row: &Row) -> bool {
    let set = cases(COUNT, row.bones, row.start, row.near, row.far, row.on_line);
    let mut contenders: Vec<Box<dyn Contender>> =
        vec![Box::new(Free::new(&set[0], row.tolerance)), Box::new(Rebirth::new(&set[0], row.tolerance))];
    // It steps without an end on long chains.
    if row.bones <= 20 {
        contenders.push(Box::new(Skelly::new(&set[0], row.tolerance)));
    }
    let results = race::race(&set, row.tolerance, &mut contenders);
    println!("\n{} bones, {}, to {:e} of the length", row.bones, row.title, row.tolerance);
    let (ours, peer) = (&results[0], results[1].median);
    for r in &results {
        println!(
            "  {:18} solved {:6.2} %   median {:8.2} us   p99 {:8.2} us = {:4.1} x   sweeps {:4}, p99 {:4}   {:6.3} x rebirth-ik",
            r.name,
            r.solved * 100.0,
            r.median,
            r.p99,
            r.p99 / r.median,
            r.sweeps_median,
            r.sweeps_p99,
            r.median / peer
        );
    }
    let name = format!("{} bones, {}", row.bones, row.title);
    bounds::median(&name, ours.median);
    let us = |x: f64| format!("{x:.2} us");
    let solved = format!("{:.2} %", 100.0 * ours.solved);
    let mut bounds = vec![(String::from("solved 100 %"), solved, ours.solved >= 1.0)];
    if let Some(most) = row.median {
        bounds.push((format!("median {most} us"), us(ours.median), ours.median <= most));
        bounds.push(("p99 4 medians".into(), us(ours.p99), ours.p99 <= 4.0 * ours.median));
    }
    if let Some(most) = row.ratio {
        let ratio = format!("{:.3}", ours.median / peer);
        bounds.push((format!("{most} x rebirth-ik"), ratio, ours.median <= most * peer));
    }
    if let Some(most) = row.sweeps {
        bounds.push((format!("p99 {most} sweeps"), ours.sweeps_p99.to_string(), ours.sweeps_p99 <= most));
    }
    for (bound, value, met) in &bounds {
        println!("  {} {bound}", if *met { "ok  " } else { "MISS" });
        bounds::bound(&name, bound, value, *met);
    }
    bounds.iter().all(|b| b.2)
}

fn main() -> std::process::ExitCode {
    println!("{COUNT} goals a row, fixed seeds, one solve at a time, one thread; solved is judged in f64");
    let only = std::env::args().nth(1).unwrap_or_default();
    let mut met: Vec<bool> = rows().iter().filter(|r| r.title.contains(&only)).map(run).collect();
    if "limited".contains(&only) {
        met.push(limited::table(COUNT));
    }
    if "paths".contains(&only) {
        met.push(paths::table(if only == "paths" { 300 } else { 100 }));
    }
    let missed = met.iter().filter(|met| !**met).count();
    println!("\n{} rows, {missed} past a bound", met.len());
    std::process::ExitCode::from(u8::from(missed > 0))
}
