//! Times and judges whole skeletons with many goals in one run. A word selects rows by their titles (`paths`: only smooth
//! paths; `trackers`: only trackers).

mod cases;
mod judge;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
mod limit_judge;
mod loops;
mod noise;
mod paths;
mod peers;
mod poses;
mod trackers;

use std::time::Instant;

use cases::{Case, Row};
use sinew::{Pose, Workspace};

/// Cases a row.
const COUNT: usize = 2000;

/// Each case is solved so many times; the shortest time counts, as a busy machine only ever adds to it.
const ROUNDS: usize = 5;

/// The largest excess over the limits of any joint, in radians.
fn broken(pose: &Pose) -> f64 {
    let skeleton = pose.skeleton();
    let of = |j| limit_judge::excess(skeleton.joint(j), skeleton.rest(j), pose.local(j));
    skeleton.joints().flat_map(of).fold(0.0, f64::max)
}

/// Residuals of the worst goal, in metres and radians.
fn missed(row: &Row, pose: &Pose, case: &Case) -> (f64, f64) {
    let (mut place, mut turn) = (0.0f64, 0.0f64);
    for (tip, goal) in row.full_body.effectors().iter().zip(&case.goals) {
        if let Some(p) = goal.position {
            place = place.max(judge::length(judge::sub(judge::place(pose, tip.joint), judge::v(p))));
        }
        if let Some(q) = goal.rotation {
            turn = turn.max(judge::angle(&judge::axes(pose, tip.joint), &judge::axes_of(q)));
        }
    }
    (place, turn)
}

/// The largest change of any offset but the root's.
fn moved(row: &Row, pose: &Pose, case: &Case) -> f32 {
    let root = row.full_body.joints().next();
    let joints = pose.skeleton().joints().filter(|j| Some(*j) != root);
    joints.map(|j| pose.local(j).translation.distance(case.start.local(j).translation)).fold(0.0, f32::max)
}

/// Times, judges and prints one row; whether it is within its bounds.
fn run(row: &Row) -> bool {
    let count = row.cases.len();
    let mut pose = row.cases[0].start.clone();
    let (mut times, mut steps) = (vec![f64::INFINITY; count], Vec::new());
    let (mut solved, mut excess, mut longer) = (0, 0.0f64, 0.0f32);
    let mut workspace = Workspace::new();
    let mut solve =
        |pose: &mut Pose, case: &Case| row.full_body.solve(&mut workspace, pose, &case.goals, &row.options);
    for round in 0..ROUNDS {
        for (i, case) in row.cases.iter().enumerate() {
            pose.copy_from(&case.start);
            let begin = Instant::now();
            let report = solve(&mut pose, case).expect("poses and goals are finite");
            times[i] = times[i].min(begin.elapsed().as_secs_f64() * 1e6);
            if round > 0 {
                continue;
            }
            steps.push(report.iterations);
            let (place, turn) = missed(row, &pose, case);
            solved += usize::from(place <= row.near.0 && turn <= row.near.1);
            excess = excess.max(broken(&pose));
            longer = longer.max(moved(row, &pose, case));
        }
    }
    times.sort_by(f64::total_cmp);
    steps.sort_unstable();
    let solved = solved as f64 / count as f64;
    let (median, p99) = (times[count / 2], times[count * 99 / 100]);
    println!("\n{}, to {:e} m and {:e} rad", row.title, row.near.0, row.near.1);
    println!(
        "  solved {:6.2} %   median {median:6.1} us   p99 {p99:6.1} us   steps {}, p99 {}   past limits {excess:.1e} rad   offsets {longer:.1e}",
        100.0 * solved,
        steps[count / 2],
        steps[count * 99 / 100],
    );
    if row.peers {
        peers::print(row, median);
    }
    let mut bounds = vec![
        (
            format!("solved {:.1} %", 100.0 * row.solved),
            format!("{:.2} %", 100.0 * solved),
            solved >= row.solved,
        ),
        (format!("median {} us", row.median), format!("{median:.1} us"), median <= row.median),
        ("limits to 1e-5 rad".into(), format!("{excess:.1e}"), excess <= 1e-5),
        ("offsets kept".into(), format!("{longer:.1e}"), longer == 0.0),
    ];
    if row.p99.is_finite() {
        bounds.push((format!("p99 {} us", row.p99), format!("{p99:.1} us"), p99 <= row.p99));
    }
    bounds::median(row.title, median);
    for (bound, value, met) in &bounds {
        println!("  {} {bound}", if *met { "ok  " } else { "MISS" });
        bounds::bound(row.title, bound, value, *met);
    }
    bounds.iter().all(|b| b.2)
}

fn main() -> std::process::ExitCode {
    println!(
        "{COUNT} cases a row, fixed seeds, start and goals from random poses, one thread; judged in f64"
    );
    let only = std::env::args().nth(1).unwrap_or_default();
    let rows: Vec<Row> = cases::rows(COUNT).into_iter().filter(|r| r.title.contains(&only)).collect();
    let mut met: Vec<bool> = rows.iter().map(run).collect();
    met.extend(loops::table(&only));
    if "paths".contains(&only) {
        met.extend(paths::table());
    }
    if "trackers".contains(&only) {
        met.extend(trackers::table());
    }
    let missed = met.iter().filter(|met| !**met).count();
    println!("\n{} rows, {missed} past a bound", met.len());
    std::process::ExitCode::from(u8::from(missed > 0))
}
