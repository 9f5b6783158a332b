//! Starting points of restarts: a fixed sequence that fills the limits evenly, taken nearest to the goal first.
//!
//! The points are a Kronecker sequence, `frac(shift + k a)`, with `a = (1/g, 1/g^2, ...)` for the root g of `g^(n + 1) = g +
//! 1`, the golden ratio's counterpart in n dimensions (Roberts 2018). It has no period, each of its prefixes is spread
//! evenly, and it needs no table. The goals' frames at the first points are computed once, so that restarts begin where the
//! arm is already near. An arm of six or seven joints then needs one restart, against three to five with points in the
//! sequence's own order.

use alloc::{vec, vec::Vec};
use core::f64::consts::TAU;

use glam::DAffine3;

use super::{
    LinkTarget,
    model::Frames,
    plan::{Aim, Plan, Var},
};
use crate::math64;

/// Number of points with precomputed frames. With 64, an arm of seven joints needs a fifth more iterations. With 1024 it
/// needs a tenth fewer, but the search for the nearest point costs as much as that saves.
pub(super) const KNOWN: usize = 256;

/// A frame as twelve numbers, whose squared distances approximate those of the residual.
type Spot = [f32; 12];

/// Sequence of starting points; see the module.
#[derive(Clone, Debug)]
pub(super) struct Seeds {
    pub seed: u64,
    /// Rates `a` of the sequence.
    rates: Vec<f64>,
    shift: Vec<f64>,
    /// Range of each variable that points are taken from.
    ranges: Vec<(f64, f64)>,
    /// Precomputed points, one after another, and the frames of the goals there.
    known: Vec<f64>,
    spots: Vec<Spot>,
}

/// Points that a solve has taken.
#[derive(Default)]
pub(super) struct Cursor {
    /// Squared distance of each precomputed point from the goals, in square metres; infinite for points already taken.
    pub far: Vec<f32>,
    /// Index of the next point after the precomputed ones.
    next: usize,
}

/// Returns the root of g^(n + 1) = g + 1.
fn ratio(n: usize) -> f64 {
    // The map is a contraction, and 60 rounds converge in any dimension.
    (0..60).fold(1.5, |g, _| math64::powf(1.0 + g, 1.0 / (n as f64 + 1.0)))
}

/// Returns a number in \[0, 1) for each seed and dimension (splitmix64); a half for seed 0.
fn shift(seed: u64, dimension: usize) -> f64 {
    if seed == 0 {
        return 0.5;
    }
    let mut z = seed.wrapping_add((dimension as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns the range that points are taken from: the limits, or one turn of a wider turn, or eight radian lengths of a
/// longer slider.
fn range(var: &Var, length: f64) -> (f64, f64) {
    let widest = if var.slides() { 8.0 * length } else { TAU };
    if var.upper - var.lower <= widest {
        return (var.lower, var.upper);
    }
    let low = (-0.5 * widest).max(var.lower).min(var.upper - widest);
    (low, low + widest)
}

/// Returns the rotation vector for three numbers in \[0, 1). Numbers that are spread evenly give rotations that are spread
/// evenly (Shoemake 1992).
fn any_rotation([u, v, w]: [f64; 3]) -> [f64; 3] {
    let ((sv, cv), (sw, cw)) = (math64::sin_cos(TAU * v), math64::sin_cos(TAU * w));
    let (a, b) = (math64::sqrt(1.0 - u), math64::sqrt(u));
    let q = [a * sv, a * cv, b * sw, b * cw];
    let s = math64::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
    // Of the two quaternions of a rotation, the one within half a turn.
    let sign = if q[3] < 0.0 { -1.0 } else { 1.0 };
    let k = if s > 1e-12 { 2.0 * math64::atan2(s, q[3].abs()) / s } else { 2.0 };
    [0, 1, 2].map(|i| sign * k * q[i])
}

impl Seeds {
    pub fn new(plan: &Plan, seed: u64) -> Self {
        let (n, goals) = (plan.vars.len(), plan.goals());
        let g = ratio(n);
        let mut rate = 1.0;
        let rates = (0..n).map(|_| {
            rate /= g;
            rate
        });
        let mut seeds = Self {
            seed,
            rates: rates.collect(),
            shift: (0..n).map(|i| shift(seed, i)).collect(),
            ranges: plan.vars.iter().map(|v| range(v, plan.length)).collect(),
            known: Vec::with_capacity(KNOWN * n),
            spots: Vec::with_capacity(KNOWN * goals),
        };
        let mut frames = Frames::default();
        plan.fit(&mut frames);
        let mut point = vec![0.0; n];
        for k in 0..KNOWN {
            seeds.point(plan, k, &mut point);
            seeds.known.extend_from_slice(&point);
            plan.place(&point, &mut frames);
            seeds.spots.extend((0..goals).map(|goal| spot(&plan.seen(goal, &frames), plan.length)));
        }
        seeds
    }

    /// Computes point k of the sequence.
    fn point(&self, plan: &Plan, k: usize, values: &mut [f64]) {
        let share = |i: usize| {
            let u = self.shift[i] + self.rates[i] * (k as f64 + 1.0);
            u - (u as u64) as f64
        };
        for (i, v) in values.iter_mut().enumerate() {
            let (low, high) = self.ranges[i];
            // The product may round past the end.
            *v = (low + (high - low) * share(i)).min(high);
        }
        for &(at, swing) in &plan.swings {
            [values[at], values[at + 1]] = swing.at([share(at), share(at + 1)]);
        }
        for &at in &plan.vectors {
            let vector = any_rotation([0, 1, 2].map(|i| share(at + i)));
            values[at..at + 3].copy_from_slice(&vector);
        }
    }

    /// Begins a solve: every point is available again.
    pub fn begin(&self, plan: &Plan, aims: &[Aim], Cursor { far, next }: &mut Cursor) {
        *next = KNOWN;
        far.fill(0.0);
        for (goal, aim) in aims.iter().enumerate() {
            // Spots do not hold the direction of a look-at's axis.
            if matches!(aim.target, LinkTarget::LookAt(..)) {
                continue;
            }
            let to = spot(&aim.local, plan.length);
            let mean = |k: usize| (aim.weights[k] + aim.weights[k + 1] + aim.weights[k + 2]) as f32 / 3.0;
            // Weights of rotations include the radian's length, as spots do.
            let (p, r) = (mean(0), mean(3) / plan.length as f32);
            let (p, r) = (p * p, r * r);
            for (far, spot) in far.iter_mut().zip(self.spots.iter().skip(goal).step_by(aims.len())) {
                let part = |k: usize| (spot[k] - to[k]) * (spot[k] - to[k]);
                let turned = (part(3) + part(4) + part(5))
                    + (part(6) + part(7) + part(8))
                    + (part(9) + part(10) + part(11));
                *far += p * (part(0) + part(1) + part(2)) + r * turned;
            }
        }
    }

    /// Takes the next starting point.
    pub fn take(&self, plan: &Plan, Cursor { far, next }: &mut Cursor, values: &mut [f64]) {
        let mut at = 0;
        for i in 0..far.len() {
            if far[i] < far[at] {
                at = i;
            }
        }
        if far[at] < f32::INFINITY {
            far[at] = f32::INFINITY;
            let n = values.len();
            values.copy_from_slice(&self.known[at * n..][..n]);
        } else {
            self.point(plan, *next, values);
            *next += 1;
        }
    }
}

/// Returns the spot of a frame, with rotations in units of the radian's length.
fn spot(frame: &DAffine3, length: f64) -> Spot {
    let m = frame.matrix3;
    // The columns of two rotations at a small angle a differ by a sum of squares of 2 a^2.
    let turn = length * core::f64::consts::FRAC_1_SQRT_2;
    let mut spot = [0.0; 12];
    for (k, (v, s)) in [(frame.translation, 1.0), (m.x_axis, turn), (m.y_axis, turn), (m.z_axis, turn)]
        .into_iter()
        .enumerate()
    {
        for j in 0..3 {
            spot[3 * k + j] = (v[j] * s) as f32;
        }
    }
    spot
}

#[cfg(test)]
mod tests {
    use core::f64::consts::PI;

    use super::*;
    use crate::mechanism::DofKind;

    #[test]
    fn the_ratio_of_one_dimension_is_the_golden_one() {
        assert!((ratio(1) - 1.618_033_988_749_895).abs() < 1e-15);
        for n in 1..40 {
            let g = ratio(n);
            assert!((math64::powf(g, n as f64 + 1.0) - g - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn ranges_are_within_limits_and_one_turn_wide() {
        let var = |slides, lower, upper| Var {
            dof: 0,
            kind: if slides { DofKind::Slide } else { DofKind::Turn },
            lower,
            upper,
            velocity: 1.0,
            ease: 0.0,
            stiffness: 0.0,
            preferred: None,
            periodic: false,
        };
        let inf = f64::INFINITY;
        assert_eq!(range(&var(false, -3.9, 0.8), 1.0), (-3.9, 0.8));
        assert_eq!(range(&var(false, -inf, inf), 1.0), (-PI, PI));
        assert_eq!(range(&var(false, -TAU, TAU), 1.0), (-PI, PI));
        assert_eq!(range(&var(false, 2.0, 9.0), 1.0), (2.0, 2.0 + TAU));
        assert_eq!(range(&var(false, -inf, -4.0), 1.0), (-4.0 - TAU, -4.0));
        assert_eq!(range(&var(true, -inf, inf), 0.25), (-1.0, 1.0));
        assert_eq!(range(&var(true, 0.5, inf), 0.25), (0.5, 2.5));
    }

    #[test]
    fn rotations_are_spread_evenly() {
        // Of all rotations, those within an angle a are (a - sin a) / pi.
        let n = 40;
        let at = |k: usize| (k as f64 + 0.5) / n as f64;
        let mut within = [0; 4];
        let mut up = 0;
        for i in 0..n * n * n {
            let [x, y, z] = any_rotation([at(i % n), at(i / n % n), at(i / n / n)]);
            let angle = math64::sqrt(x * x + y * y + z * z);
            assert!(angle <= PI + 1e-12);
            for (k, count) in within.iter_mut().enumerate() {
                *count += usize::from(angle <= 0.25 * PI * (k + 1) as f64);
            }
            up += usize::from(z > 0.0);
        }
        let all = (n * n * n) as f64;
        for (k, count) in within.into_iter().enumerate() {
            let a = 0.25 * PI * (k + 1) as f64;
            let share = (a - math64::sin_cos(a).0) / PI;
            assert!((count as f64 / all - share).abs() < 0.01, "{k}: {} {share}", count as f64 / all);
        }
        assert!((up as f64 / all - 0.5).abs() < 0.01);
    }
}
