//! Batches of solves on bare points.

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::Noise;
use sinew::{glam::Vec3, solve::Strand};

use crate::{
    BATCH,
    tally::{Fault, Tally},
};

/// One strand, [`BATCH`] solves.
pub fn batch(seed: u64, tally: &mut Tally) {
    let mut r = Noise::new(seed);
    let count = if r.below(8) == 0 { 12 + r.below(89) } else { 2 + r.below(10) };
    let size = 10f32.powf(r.between(-3.0, 3.0));
    let bones: Vec<f32> = (0..count)
        .map(|_| match r.below(10) {
            0 => size * 10f32.powf(-r.between(0.0, 6.0)),
            1 => 0.0,
            _ => size * r.between(0.1, 1.0),
        })
        .collect();
    let place = |r: &mut Noise, straight: bool| {
        let mut at = r.vector() * size;
        let way = r.direction();
        let mut points = vec![at];
        for bone in &bones {
            at += if straight { way } else { r.direction() } * *bone;
            points.push(at);
        }
        points
    };
    let mut points = place(&mut r, false);
    let Ok(mut strand) = Strand::new(&points) else { return };
    let lengths = strand.lengths().to_vec();
    for n in 0..BATCH {
        if n % 4 < 2 {
            let straight = r.below(4) == 0;
            points = place(&mut r, straight);
        }
        let start = points.clone();
        let (root, end) = (start[0], start[count]);
        let goal = match r.below(8) {
            0 => root,
            1 => end,
            2 => root + (end - root) * r.unit(),
            3 => root + r.vector() * size * 1e4,
            _ => root + r.vector() * size * count as f32 * r.unit(),
        };
        strand.soft = if r.below(4) == 0 { 0.1 } else { 0.0 };
        strand.max_iterations = [1, 3, 64][r.below(3)];
        strand.bend = if r.below(2) == 0 { r.vector() } else { Vec3::ZERO };
        tally.solves += 1;
        let tag = |what: &str| format!("{what}: seed {seed}, solve {n}, {count} bones, goal {goal}");
        let result = catch_unwind(AssertUnwindSafe(|| strand.solve(&mut points, goal)));
        let report = match result {
            Err(_) => return tally.find(Fault::Panic, || tag("a panic")),
            Ok(Err(_)) => {
                tally.refused += 1;
                if points != start {
                    tally.find(Fault::Bits, || tag("changed, but refused"));
                }
                continue;
            }
            Ok(Ok(report)) => report,
        };
        if !points.iter().all(|p| p.is_finite()) || !report.position_residual.is_finite() {
            return tally.find(Fault::NotFinite, || tag("not finite"));
        }
        if n % 8 == 5 {
            let mut again = start.clone();
            let second = strand.solve(&mut again, goal);
            let bits =
                |of: &[Vec3]| of.iter().flat_map(|p| p.to_array()).map(f32::to_bits).collect::<Vec<_>>();
            if bits(&again) != bits(&points) || second.as_ref() != Ok(&report) {
                tally.find(Fault::Bits, || tag("other bits the second time"));
            }
        }
        // What has not moved keeps what it came with: a strand reads only directions.
        if points == start {
            continue;
        }
        // Places are f32: a bone is as exact as the two of them.
        for (k, w) in points.windows(2).enumerate() {
            let is = (w[1].as_dvec3() - w[0].as_dvec3()).length();
            let rounding = 3e-7 * f64::from(w[0].length() + w[1].length()) + 1e-6 * f64::from(lengths[k]);
            if (is - f64::from(lengths[k])).abs() > rounding {
                tally.find(Fault::Length, || tag(&format!("bone {k} of {} became {is}", lengths[k])));
            }
        }
    }
}
