//! Random solves by every solver, on random skeletons with random limits: counts what is not finite, panics, limits that
//! are broken and lengths that have changed. Limits and lengths are judged in f64 by code that the engine does not share.
//!
//! `soak [COUNT] [--seed N] [--threads N]`: COUNT solves in all (100,000 where it is left out). Exit code 1 where anything
//! was found; the first of each kind is printed with the seed of its batch.

mod rig;
mod solvers;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use common::{Noise, judge};
use rig::Rig;
use sinew::{Pose, Transform, joint::Turning};
use solvers::Solver;

/// Solves on one skeleton: enough that building it costs little.
const BATCH: u64 = 64;

/// What limits are kept to, in radians.
const PROMISE: f64 = 1e-5;

#[derive(Clone, Default)]
struct Tally {
    solves: u64,
    refused: u64,
    not_finite: u64,
    panics: u64,
    broken: u64,
    lengths: u64,
    worst: f64,
    first: Option<String>,
}

impl Tally {
    fn found(&mut self, what: String) {
        self.first.get_or_insert(what);
    }

    fn bad(&self) -> u64 {
        self.not_finite + self.panics + self.broken + self.lengths
    }
}

/// Excess of every joint of the chain.
fn excess(pose: &Pose, rig: &Rig) -> Vec<Vec<f64>> {
    let s = &rig.skeleton;
    rig.chain.iter().map(|&j| judge::excess(s.freedom(j), s.rest(j), pose.local(j))).collect()
}

/// One skeleton, one solver, [`BATCH`] solves.
fn batch(seed: u64, which: usize, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let rig = Rig::random(&mut r, solvers::ALL[which].1);
    let Some(mut solver) = Solver::new(which, &rig, &mut r) else { return };
    let mut pose = Pose::rest(&rig.skeleton);
    let mut start = pose.clone();
    for n in 0..BATCH {
        let inside = n % 2 == 0;
        // Every other solve goes on from the last one, as a game's frames do.
        if n % 4 < 2 {
            rig.pose(&mut pose, inside, &mut r);
        }
        start.copy_from(&pose);
        let root = pose.position(rig.chain[0]);
        let end = pose.model(rig.chain[rig.chain.len() - 1]).transform_point3(rig.tip_offset);
        let goal = match r.below(10) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + r.vector() * rig.size * 1e4,
            _ => root + r.vector() * rig.size * rig.chain.len() as f32 * r.unit(),
        };
        tally.solves += 1;
        let tag =
            |what: &str| format!("{what}: batch {seed}, solve {n}, {} joints, goal {goal}", rig.chain.len());
        let result = catch_unwind(AssertUnwindSafe(|| solver.solve(&mut pose, goal, &mut r)));
        let report = match result {
            Err(_) => {
                tally.panics += 1;
                tally.found(tag("panic"));
                return;
            }
            Ok(Err(_)) => {
                tally.refused += 1;
                rig.pose(&mut pose, true, &mut r);
                continue;
            }
            Ok(Ok(report)) => report,
        };
        if pose.check_finite().is_err() || !report.position_residual.is_finite() {
            tally.not_finite += 1;
            tally.found(tag("not finite"));
            return;
        }
        lengths(&start, &pose, &rig, &solver, tally, &tag);
        let (before, after) = (excess(&start, &rig), excess(&pose, &rig));
        for (i, &id) in rig.chain.iter().enumerate() {
            let axes = matches!(rig.skeleton.freedom(id).turning, Turning::Axes { .. });
            for (b, a) in before[i].iter().zip(&after[i]) {
                // Turns about single axes are judged as one angle, which changes with those that are within.
                if axes && *b > PROMISE {
                    continue;
                }
                let joint = rig.skeleton.freedom(id);
                let rest = rig.skeleton.rest(id);
                let lost =
                    judge::lost(joint, rest, start.local(id)).max(judge::lost(joint, rest, pose.local(id)));
                let further = (a - b) / lost;
                tally.worst = tally.worst.max(further);
                if further > PROMISE {
                    tally.broken += 1;
                    tally.found(tag(&format!(
                        "joint {i} went from {b:e} to {a:e} rad out of its limits (lost {lost:.1}): from {:?} to {:?} at rest {:?}: {joint:?}", start.local(id).rotation.to_array(), pose.local(id).rotation.to_array(), rest.rotation.to_array()
                    )));
                }
            }
        }
    }
}

/// Offsets keep their bits, but the root's where the solver leads it, and those of sliders, which stay in their ranges.
fn lengths(
    start: &Pose,
    pose: &Pose,
    rig: &Rig,
    solver: &Solver,
    tally: &mut Tally,
    tag: &dyn Fn(&str) -> String,
) {
    for id in rig.skeleton.joints() {
        let (was, is) = (start.local(id), pose.local(id));
        let freedom = rig.skeleton.freedom(id);
        let root = solver.moves_root() && id == rig.chain[0];
        let mut bad = was.scale != is.scale;
        if freedom.slide.iter().all(Option::is_none) {
            bad |= was.translation != is.translation && !root;
        } else {
            let rest = rig.skeleton.rest(id);
            let m = judge::matrix(rest.rotation);
            let way = |t: &Transform| (t.translation.as_dvec3() - rest.translation.as_dvec3()).to_array();
            // What came in far out rounds as far out, wherever it slides.
            let length = |t: &Transform| f64::from(t.translation.length());
            let size = length(was) + length(is) + 2.0 * length(rest);
            for (n, slide) in freedom.slide.iter().enumerate() {
                let along = |t: &Transform| {
                    let way = way(t);
                    way[0] * m[0][n] + way[1] * m[1][n] + way[2] * m[2][n]
                };
                let (before, after) = (along(was), along(is));
                let changed = match slide {
                    None => (after - before).abs(),
                    Some(dof) => dof.range.map_or(0.0, |r| {
                        let out = |x: f64| (r.from - x).max(x - r.to).max(0.0);
                        out(after) - out(before)
                    }),
                };
                bad |= changed > 1e-5 * size;
            }
        }
        if bad {
            tally.lengths += 1;
            tally.found(tag(&format!("joint {id} went from {} to {}", was.translation, is.translation)));
        }
    }
}

fn main() -> ExitCode {
    let (mut count, mut seed, mut threads) = (100_000u64, 1u64, 2usize);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut number = || args.next().and_then(|n| n.parse::<u64>().ok());
        let done = match arg.as_str() {
            "--seed" => number().map(|n| seed = n),
            "--threads" => number().map(|n| threads = (n as usize).clamp(1, 64)),
            other => other.replace(['_', ','], "").parse().ok().map(|n| count = n),
        };
        if done.is_none() {
            eprintln!("usage: soak [COUNT] [--seed N] [--threads N]");
            return ExitCode::from(2);
        }
    }
    // A panic is counted and told once, not printed by each.
    std::panic::set_hook(Box::new(|_| {}));
    let batches = count.div_ceil(BATCH).div_ceil(solvers::ALL.len() as u64);
    let start = Instant::now();
    let mut total = Tally::default();
    println!(
        "{:<22} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "solver", "solves", "refused", "NaN", "panics", "limits", "lengths", "worst, rad"
    );
    for (which, (name, _)) in solvers::ALL.iter().enumerate() {
        let next = AtomicU64::new(0);
        let work = || {
            let mut tally = Tally::default();
            loop {
                let n = next.fetch_add(1, Ordering::Relaxed);
                if n >= batches {
                    return tally;
                }
                batch(seed.wrapping_add(n), which, &mut tally);
            }
        };
        let tallies: Vec<Tally> = std::thread::scope(|s| {
            let handles: Vec<_> = (0..threads).map(|_| s.spawn(work)).collect();
            handles.into_iter().filter_map(|h| h.join().ok()).collect()
        });
        let mut sum = Tally::default();
        for t in tallies {
            sum.solves += t.solves;
            sum.refused += t.refused;
            sum.not_finite += t.not_finite;
            sum.panics += t.panics;
            sum.broken += t.broken;
            sum.lengths += t.lengths;
            sum.worst = sum.worst.max(t.worst);
            if let Some(first) = t.first {
                sum.found(first);
            }
        }
        println!(
            "{:<22} {:>10} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10.1e}",
            name, sum.solves, sum.refused, sum.not_finite, sum.panics, sum.broken, sum.lengths, sum.worst
        );
        if let Some(first) = &sum.first {
            println!("    {first}");
        }
        total.solves += sum.solves;
        total.not_finite += sum.not_finite;
        total.panics += sum.panics;
        total.broken += sum.broken;
        total.lengths += sum.lengths;
    }
    println!("{} solves in {:.0} s, {} bad", total.solves, start.elapsed().as_secs_f64(), total.bad());
    ExitCode::from(u8::from(total.bad() > 0))
}
