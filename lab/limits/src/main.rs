//! Prints, for chains of joints with and without limits: the share of goals met, sweeps, microseconds, and the largest
//! excess over a limit. What is met and what is broken is judged in f64 by code that the engine does not share.

mod cases;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
mod judge;
mod kinematics;

use std::time::Instant;

use cases::{Goals, Kind};
use sinew::{
    Goal,
    solve::{Ccd, LeastSquares},
};

struct Row {
    name: &'static str,
    kind: Kind,
    bones: usize,
    goals: Goals,
    /// Of the chain's length.
    tolerance: f32,
}

fn main() {
    let count = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(2000);
    let row = |name, kind, bones, goals, tolerance| Row { name, kind, bones, goals, tolerance };
    let rows = [
        row("free, 10 bones, 0.1-0.95", Kind::Free, 10, Goals::Shell(0.1, 0.95), 1e-3),
        row("free, 20 bones, 0.1-0.95", Kind::Free, 20, Goals::Shell(0.1, 0.95), 1e-3),
        row("free, 100 bones, 0.1-0.95", Kind::Free, 100, Goals::Shell(0.1, 0.95), 1e-3),
        row("free, 10 bones, 0.95-0.9999", Kind::Free, 10, Goals::Shell(0.95, 0.9999), 1e-5),
        row("straight, goal on its line", Kind::Free, 10, Goals::Line(0.05, 0.95), 1e-3),
        row("10 cones of 45, twist 30", Kind::Cones, 10, Goals::Reached, 1e-3),
        row("10 hinges of 60, X and Z", Kind::Hinges, 10, Goals::Reached, 1e-3),
    ];
    let ways = [
        ("ccd, sweeps alone", LeastSquares::Never),
        ("ccd", LeastSquares::WhenSlow),
        ("ccd, steps first", LeastSquares::First),
    ];
    for (name, way) in ways {
        println!(
            "{:<32} {:>10} {:>6} {:>6} {:>8} {:>8} {:>9}",
            name, "met", "sweeps", "p99", "us", "p99", "limits"
        );
        for row in &rows {
            print(row, way, count);
        }
        println!();
    }
}

/// One line of the table: sweeps, microseconds and the largest excess in radians.
fn print(row: &Row, way: LeastSquares, count: usize) {
    let cases = cases::cases(row.kind, row.bones, row.goals, count);
    let skeleton = cases[0].pose.skeleton().clone();
    let ids: Vec<_> = skeleton.joints().collect();
    let mut solver = Ccd::new(&skeleton, ids[0], ids[row.bones]).expect("a row of joints is a chain");
    solver.tolerance = row.tolerance * 0.99;
    solver.max_iterations = 1000;
    solver.least_squares = way;
    let (mut met, mut broken, mut sweeps, mut times) = (0, 0.0f64, Vec::new(), Vec::new());
    let mut pose = cases[0].pose.clone();
    for case in &cases {
        pose.copy_from(&case.pose);
        let start = Instant::now();
        let report = solver.solve(&mut pose, &Goal::at(case.goal)).expect("goals are finite");
        times.push(start.elapsed().as_secs_f64() * 1e6);
        sweeps.push(report.iterations as f64);
        let end = kinematics::end(&pose, ids[row.bones]);
        let g = case.goal.to_array();
        let off = (0..3).map(|i| (end[i] - g[i] as f64).powi(2)).sum::<f64>().sqrt();
        met += usize::from(off <= row.tolerance as f64);
        broken = broken.max(cases::broken(&pose));
    }
    sweeps.sort_by(f64::total_cmp);
    times.sort_by(f64::total_cmp);
    let at = |list: &[f64], part: f64| list[((list.len() - 1) as f64 * part) as usize];
    println!(
        "{:<32} {:>8.2} % {:>6} {:>6} {:>8.1} {:>8.1}  {:>8.1e}",
        row.name,
        100.0 * met as f64 / count as f64,
        at(&sweeps, 0.5),
        at(&sweeps, 0.99),
        at(&times, 0.5),
        at(&times, 0.99),
        broken
    );
}
