//! Prints the share of goals met, sweeps, microseconds, and the largest excess over a limit, for chains with and without
//! limits. Goals and limits are judged in f64 by code that is independent of the engine.

mod cases;

use std::time::Instant;

use cases::Goals;
use common::{
    Solving,
    chains::{self, Kind},
    kinematics,
};
use sinew::{
    Goal, JointId, Skeleton,
    solve::{Auto, Ccd, DampedLeastSquares, Fabrik, IterativeOptions, Tolerance},
};

struct Row {
    name: &'static str,
    kind: Kind,
    bones: usize,
    goals: Goals,
    /// Of the chain's length.
    tolerance: f32,
}

#[derive(Clone, Copy)]
enum Solver {
    Auto,
    Ccd,
    Fabrik,
    Dls,
}

impl Solver {
    fn on(self, skeleton: &Skeleton, ids: &[JointId], tolerance: f32) -> Solving {
        let (root, tip) = (ids[0], ids[ids.len() - 1]);
        let near = IterativeOptions::new().with_position_tolerance(Tolerance::Share(tolerance));
        let options = near.with_max_iterations(1000);
        macro_rules! solving {
            ($solver:ty) => {
                Solving::new(
                    <$solver>::new(skeleton, root, tip).expect("a row of joints is a chain"),
                    options,
                )
            };
        }
        match self {
            Self::Auto => solving!(Auto),
            Self::Ccd => solving!(Ccd),
            Self::Fabrik => solving!(Fabrik),
            Self::Dls => solving!(DampedLeastSquares),
        }
    }
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
        row("10 turns about X, Y, Z of 30", Kind::Axes, 10, Goals::Reached, 1e-3),
        row("10 hinges of 60, X and Y", Kind::Hinges, 10, Goals::Reached, 1e-3),
    ];
    let ways =
        [("auto", Solver::Auto), ("ccd", Solver::Ccd), ("fabrik", Solver::Fabrik), ("dls", Solver::Dls)];
    for (name, way) in ways {
        println!(
            "{:<32} {:>10} {:>6} {:>6} {:>8} {:>8} {:>9}",
            name, "met", "sweeps", "p99", "us", "p99", "limits"
        );
        for row in &rows {
            print(name, row, way, count);
        }
        println!();
    }
}

/// One line of the table: sweeps, microseconds and the largest excess in radians.
fn print(name: &str, row: &Row, way: Solver, count: usize) {
    let cases = cases::cases(row.kind, row.bones, row.goals, count);
    let skeleton = cases[0].pose.skeleton().clone();
    let ids: Vec<_> = skeleton.joints().collect();
    let mut solver = way.on(&skeleton, &ids, row.tolerance * 0.99);
    let (mut met, mut broken, mut sweeps, mut times) = (0, 0.0f64, Vec::new(), Vec::new());
    let mut pose = cases[0].pose.clone();
    for case in &cases {
        pose.copy_from(&case.pose);
        let start = Instant::now();
        let report = solver.solve(&mut pose, &Goal::position(case.goal)).expect("goals are finite");
        times.push(start.elapsed().as_secs_f64() * 1e6);
        sweeps.push(report.iterations as f64);
        let end = kinematics::end(&pose, ids[row.bones]);
        let g = case.goal.to_array();
        let off = (0..3).map(|i| (end[i] - g[i] as f64).powi(2)).sum::<f64>().sqrt();
        met += usize::from(off <= row.tolerance as f64);
        broken = broken.max(chains::broken(&pose));
    }
    sweeps.sort_by(f64::total_cmp);
    times.sort_by(f64::total_cmp);
    let at = |list: &[f64], part: f64| list[((list.len() - 1) as f64 * part) as usize];
    bounds::median(format!("{name}: {}", row.name), at(&times, 0.5));
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
