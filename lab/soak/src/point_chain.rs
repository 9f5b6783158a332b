//! Batches of solves on bare points.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::Noise;
use sinew::{
    Workspace,
    glam::Vec3,
    solve::{PointChain, PointChainOptions, Tolerance},
};

use crate::{
    BATCH, HOSTILE,
    tally::{Fault, Tally},
};

fn power(r: &mut Noise, from: f32, to: f32) -> f32 {
    10f32.powf(r.between(from, to))
}

/// Puts a number outside of its range, somewhere in what is asked.
fn spoil(
    point_chain: &mut PointChain,
    options: &mut PointChainOptions,
    points: &mut Vec<Vec3>,
    goal: &mut Vec3,
    r: &mut Noise,
) {
    let bad = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY][r.below(3)];
    let count = points.len();
    match r.below(6) {
        0 => goal[r.below(3)] = bad,
        1 => points[r.below(count)][r.below(3)] = bad,
        2 => options.position_tolerance = Tolerance::Share([1.1, -1.0, bad][r.below(3)]),
        3 => options.soft = [1.1, -0.1, bad][r.below(3)],
        4 => point_chain.bend[r.below(3)] = bad,
        _ => drop(points.pop()),
    }
}

/// Says by how much further the end is from the goal than it was; none where f32 does not tell, or the points came in with
/// other lengths than the point chain's, which are put right first.
fn grew(start: &[Vec3], points: &[Vec3], goal: Vec3, point_chain: &PointChain, soft: f32) -> Option<String> {
    let far = start.iter().chain(points).fold(0.0, |far: f64, p| far.max(f64::from(p.abs().max_element())));
    let length: f64 = point_chain.lengths().iter().map(|&l| f64::from(l)).sum();
    let rounding = 4e-6 * far;
    let whole = start.windows(2).zip(point_chain.lengths()).all(|(w, &l)| {
        let is = (w[1].as_dvec3() - w[0].as_dvec3()).length();
        (is - f64::from(l)).abs() <= rounding + 1e-6 * f64::from(l)
    });
    if !whole || rounding > 1e-3 * length || length < 1e-35 {
        return None;
    }
    let root = start[0].as_dvec3();
    let way = goal.as_dvec3() - root;
    let (far, zone) = (way.length(), f64::from(soft) * length);
    let onset = length - zone;
    let near =
        if zone <= 0.0 || far <= onset { far } else { onset + zone * (1.0 - ((onset - far) / zone).exp()) };
    let to = way * if far > 0.0 { near / far } else { 1.0 };
    let missing = |points: &[Vec3]| {
        let off = points[points.len() - 1].as_dvec3() - root;
        // (What is much further off than the point chain is long counts along the way there.)
        if to.length() > 1e6 * length { -off.dot(way / far) } else { (off - to).length() }
    };
    let (before, left) = (missing(start), missing(points));
    let tolerance = 2e-6 * length * (points.len() as f64).sqrt();
    (left > before + tolerance + rounding)
        .then(|| format!("grew from {before:e} to {left:e} of {length:e} (rounding {rounding:e})"))
}

/// One point chain, [`BATCH`] solves.
pub fn batch(seed: u64, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let hostile = seed.is_multiple_of(HOSTILE);
    let count = if r.below(8) == 0 { 12 + r.below(89) } else { 2 + r.below(10) };
    let size = if hostile { power(&mut r, -38.0, 36.0) } else { power(&mut r, -3.0, 3.0) };
    // All of about one size, of any size, or most of none.
    let shapes = if hostile { r.below(4) } else { 0 };
    let bones: Vec<f32> = (0..count)
        .map(|_| match (shapes, r.below(10)) {
            (1, _) => size * 10f32.powf(-r.between(0.0, 40.0)),
            (2, 0..8) => 0.0,
            (_, 0) => size * 10f32.powf(-r.between(0.0, 6.0)),
            (_, 1) => 0.0,
            _ => size * r.between(0.1, 1.0),
        })
        .collect();
    // Far from the origin, points have hardly a digit for what is between them.
    let middle =
        if hostile && r.below(4) == 0 { r.vector() * power(&mut r, -38.0, 38.0) } else { Vec3::ZERO };
    let place = |r: &mut Noise, straight: bool| {
        let mut at = middle + r.vector() * size;
        let way = r.direction();
        let mut points = vec![at];
        for bone in &bones {
            at += if straight { way } else { r.direction() } * *bone;
            points.push(at);
        }
        points
    };
    let mut points = place(&mut r, false);
    let mut point_chain = match PointChain::new(&points) {
        Ok(point_chain) => point_chain,
        Err(error) => {
            let finite = points.iter().all(|p| p.is_finite());
            let long = points.windows(2).any(|w| (w[1].as_dvec3() - w[0].as_dvec3()).length() > 1e18);
            if finite && !long {
                tally.find(Fault::Refusal, || format!("no strand: {error}: seed {seed}"));
            }
            return;
        }
    };
    let lengths = point_chain.lengths().to_vec();
    // A workspace in which a longer one has left what it remembers.
    let mut workspace = Workspace::new();
    let mut other = Noise::new(!seed);
    let row: Vec<Vec3> = (0..110).map(|n| other.direction() * n as f32).collect();
    let longer = PointChain::new(&row).expect("the points are finite");
    let _ = longer.solve(&mut workspace, &mut row.clone(), Vec3::ZERO, &PointChainOptions::new());
    for n in 0..BATCH {
        if n % 4 < 2 || points.len() != count + 1 {
            let straight = r.below(4) == 0;
            points = place(&mut r, straight);
            // Input points need not have the point chain's lengths.
            if hostile && r.below(8) == 0 {
                let by = power(&mut r, -6.0, 6.0);
                points.iter_mut().for_each(|p| *p *= by);
            }
        }
        let (root, end) = (points[0], points[count]);
        let mut goal = match r.below(8) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + r.vector() * size * 1e4,
            4 if hostile => r.vector() * power(&mut r, -38.0, 38.5).min(3e38),
            _ => root + r.vector() * size * count as f32 * r.unit(),
        };
        let mut options = PointChainOptions::new()
            .with_soft(if r.below(4) == 0 { 0.1 } else { 0.0 })
            .with_max_iterations([1, 3, 64][r.below(3)]);
        point_chain.bend = if r.below(2) == 0 { r.vector() } else { Vec3::ZERO };
        if hostile {
            let near = [f32::MIN_POSITIVE, 1.0, power(&mut r, -12.0, 0.0)][r.below(3)];
            options.position_tolerance = Tolerance::Share(near);
            options.soft *= [1.0, 10.0, power(&mut r, -30.0, 1.0).min(10.0)][r.below(3)];
            options.max_iterations = [0, 1, 2, 7, 64][r.below(5)];
            point_chain.bend *= power(&mut r, -38.0, 38.0);
        }
        if hostile && r.below(16) == 0 {
            spoil(&mut point_chain, &mut options, &mut points, &mut goal, &mut r);
        }
        let near = options.position_tolerance.metres(1.0);
        let invalid = !goal.is_finite()
            || !point_chain.bend.is_finite()
            || points.len() != count + 1
            || points.iter().any(|p| !p.is_finite())
            || !(f32::MIN_POSITIVE..=1.0).contains(&near)
            || !(0.0..=1.0).contains(&options.soft);
        let start = points.clone();
        let bits = |of: &[Vec3]| of.iter().flat_map(|p| p.to_array()).map(f32::to_bits).collect::<Vec<_>>();
        tally.solves += 1;
        let tag = |what: &str| format!("{what}: seed {seed}, solve {n}, {count} bones, goal {goal}");
        let result =
            catch_unwind(AssertUnwindSafe(|| point_chain.solve(&mut workspace, &mut points, goal, &options)));
        let report = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic")),
            Ok(Err(error)) => {
                tally.refused += 1;
                if bits(&points) != bits(&start) {
                    tally.find(Fault::Bits, || tag("changed, but refused"));
                }
                if !invalid {
                    tally.find(Fault::Refusal, || tag(&format!("refused without a reason: `{error}`")));
                }
                points.clear();
                continue;
            }
            Ok(Ok(report)) => report,
        };
        if invalid {
            tally.find(Fault::Refusal, || tag(&format!("not refused: {point_chain:?}, {options:?}")));
            points.clear();
            continue;
        }
        let by = report.out_of_reach;
        let told = [report.position_residual, by];
        if !points.iter().all(|p| p.is_finite()) || !told.iter().all(|x| x.is_finite()) {
            // (Where the points end with the numbers, there may be no place for them.)
            let edge =
                start.iter().any(|p| p.abs().max_element() > 1e38) || lengths.iter().sum::<f32>() > 1e38;
            if !edge {
                tally.find(Fault::NotFinite, || tag(&format!("not finite: {report:?}, {start:?}")));
            }
            return;
        }
        tally.digest(bits(&points).into_iter().chain(told.map(f32::to_bits)).map(u64::from));
        if n % 8 == 5 {
            let mut again = start.clone();
            let second = point_chain.solve(&mut Workspace::new(), &mut again, goal, &options);
            if bits(&again) != bits(&points) || second.as_ref() != Ok(&report) {
                tally.find(Fault::Bits, || tag("other bits the second time"));
            }
        }
        if points[0] != start[0] {
            tally.find(Fault::Length, || tag("the root has moved"));
        }
        let missed = (points[count].as_dvec3() - goal.as_dvec3()).length().min(f64::from(f32::MAX));
        if (missed - f64::from(report.position_residual)).abs() > 1e-6 * missed + 1e-38 {
            tally.find(Fault::Report, || tag(&format!("{missed:e} are missing, not {report:?}")));
        }
        // Known not to hold, and left out (lab/README.md): what runs out of iterations stops wherever it is.
        let out = report.iterations >= options.max_iterations;
        if let Some(grew) = grew(&start, &points, goal, &point_chain, options.soft).filter(|_| !out) {
            tally.find(Fault::Grew, || {
                tag(&format!("{grew}, {report:?}: {point_chain:?}, {options:?}, {start:?}"))
            });
        }
        // Points that did not move keep their input lengths: a point chain reads only directions.
        if points == start {
            continue;
        }
        // Places are f32: a bone is as exact as the two of them.
        for (k, w) in points.windows(2).enumerate() {
            let is = (w[1].as_dvec3() - w[0].as_dvec3()).length();
            let places = w[0].as_dvec3().length() + w[1].as_dvec3().length();
            let rounding = 3e-7 * places + 1e-6 * f64::from(lengths[k]) + 1e-43;
            if (is - f64::from(lengths[k])).abs() > rounding {
                tally.find(Fault::Length, || tag(&format!("bone {k} of {} became {is}", lengths[k])));
            }
        }
    }
}
