//! Smoothest path between bounds.

use alloc::vec::Vec;

/// Target and bounds of a path at one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftTarget {
    /// Preferred value.
    pub target: f64,
    /// Weight of the target, 0 or more; 0 leaves the sample to its neighbours.
    pub weight: f64,
    /// Lower bound.
    pub low: f64,
    /// Upper bound. It wins if `low` is above it.
    pub high: f64,
}

impl SoftTarget {
    /// No target and no bounds.
    pub const FREE: Self = Self { target: 0.0, weight: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Holds the sample at a value.
    pub const fn fixed(at: f64) -> Self {
        Self { target: at, weight: 0.0, low: at, high: at }
    }
}

/// Smoother of equally spaced samples with targets and bounds. It finds the `x` that minimises
///
/// ```text
/// sum weight_i (x_i - target_i)^2  +  stiffness * sum (x_{i-1} - 2 x_i + x_{i+1})^2,     low_i <= x_i <= high_i
/// ```
///
/// Without bounds this is Whittaker's smoother (1923), with no lag and a gain of 1 / (1 + stiffness w^4) at w radians per
/// sample. With bounds it is the obstacle problem of a thin elastic beam: the path bends as little as the bounds allow and
/// moves well ahead of an obstacle.
///
/// An active-set iteration holds violated bounds by a penalty and releases bounds that would have to pull. Each round solves
/// a symmetric pentadiagonal system, so the cost is linear in the number of samples.
#[derive(Clone, Debug, Default)]
pub struct BoundedSmoother {
    active: Vec<i8>,
    diagonals: Vec<[f64; 3]>,
    x: Vec<f64>,
}

impl BoundedSmoother {
    /// Returns the smoothest path for `objectives`, one value per sample. `stiffness` is in units of weight.
    pub fn settle(&mut self, objectives: &[SoftTarget], stiffness: f64) -> &[f64] {
        let n = objectives.len();
        self.active.clear();
        self.active.resize(n, 0);
        for (a, w) in self.active.iter_mut().zip(objectives) {
            if w.low == w.high {
                *a = 1;
            }
        }
        // 1e4 times the largest entry of the beam's matrix (16 stiffness): a held bound gives way by less than a thousandth,
        // and the result is clamped anyway.
        let hard = 1e4 * (16.0 * stiffness + 1.0);
        // Usually a handful of rounds suffice; up to a hundred where the contact with a curved bound moves sample by sample.
        for _ in 0..300 {
            self.solve(objectives, stiffness, hard);
            let mut changed = false;
            for (i, w) in objectives.iter().enumerate() {
                if w.low == w.high {
                    continue;
                }
                let x = self.x[i];
                let next = match self.active[i] {
                    0 if x > w.high => 1,
                    0 if x < w.low && w.low < w.high => -1,
                    // A bound pushes; one that would have to pull is released.
                    1 if x < w.high => 0,
                    -1 if x > w.low => 0,
                    same => same,
                };
                changed |= next != self.active[i];
                self.active[i] = next;
            }
            if !changed {
                break;
            }
        }
        for (x, w) in self.x.iter_mut().zip(objectives) {
            *x = if w.low <= w.high { x.max(w.low) } else { *x }.min(w.high);
        }
        &self.x
    }

    fn solve(&mut self, objectives: &[SoftTarget], stiffness: f64, hard: f64) {
        let n = objectives.len();
        self.x.clear();
        self.diagonals.clear();
        for (i, w) in objectives.iter().enumerate() {
            // The target's force stays while a bound holds. Without it, bounds that the target presses against would be
            // released and violated in turn.
            let stop = match self.active[i] {
                1 => hard * w.high,
                -1 => hard * w.low,
                _ => 0.0,
            };
            let held = if self.active[i] == 0 { 0.0 } else { hard };
            // A small weight everywhere keeps the system regular.
            let weight = w.weight.max(1e-9 * stiffness).max(1e-12);
            self.x.push(weight * w.target + stop);
            let weight = weight + held;
            self.diagonals.push([weight, 0.0, 0.0]);
        }
        for i in 1..n.saturating_sub(1) {
            for (a, ca) in [(i - 1, 1.0), (i, -2.0), (i + 1, 1.0)] {
                for (b, cb) in [(i - 1, 1.0), (i, -2.0), (i + 1, 1.0)] {
                    if b >= a {
                        self.diagonals[a][b - a] += stiffness * ca * cb;
                    }
                }
            }
        }
        // L D L^T factorisation of the banded matrix, in place.
        for i in 0..n {
            let [d, e, f] = self.diagonals[i];
            let (l1, l2) = (e / d, f / d);
            if i + 1 < n {
                self.diagonals[i + 1][0] -= l1 * e;
                self.diagonals[i + 1][1] -= l1 * f;
                self.x[i + 1] -= l1 * self.x[i];
            }
            if i + 2 < n {
                self.diagonals[i + 2][0] -= l2 * f;
                self.x[i + 2] -= l2 * self.x[i];
            }
            self.diagonals[i] = [d, l1, l2];
        }
        for i in (0..n).rev() {
            let [d, l1, l2] = self.diagonals[i];
            let mut x = self.x[i] / d;
            if i + 1 < n {
                x -= l1 * self.x[i + 1];
            }
            if i + 2 < n {
                x -= l2 * self.x[i + 2];
            }
            self.x[i] = x;
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn between_two_clamped_ends_a_middle_stop_bends_a_cubic() {
        // A beam clamped level at both ends and pushed up in the middle is two cubics: x(s) = 3 s^2 - 2 s^3.
        let n = 201;
        let mut w = vec![SoftTarget::FREE; n];
        for i in [0, 1, n - 2, n - 1] {
            w[i] = SoftTarget::fixed(0.0);
        }
        w[n / 2].low = 1.0;
        let x = BoundedSmoother::default().settle(&w, 1.0).to_vec();
        for (i, x) in x.iter().enumerate() {
            let s = 1.0 - (i as f64 - 100.0).abs() / 99.5;
            let s = s.clamp(0.0, 1.0);
            assert!((x - (3.0 * s * s - 2.0 * s * s * s)).abs() < 0.01, "{i}: {x}");
        }
    }

    #[test]
    fn what_targets_press_against_stops_is_in_balance() {
        // The force on each sample by hand: none where it is free, up against a ceiling, down onto a floor.
        let (n, stiffness) = (300, 2000.0);
        let w: Vec<_> = (0..n)
            .map(|i| {
                let t = i as f64;
                let high = 0.3 * (0.07 * t).sin() + 0.05 * (0.31 * t).cos();
                let weight = if (i / 37) % 3 == 0 { 25.0 } else { 1.0 };
                SoftTarget { target: high + 0.4 * (0.05 * t).cos(), weight, low: high - 0.5, high }
            })
            .collect();
        let x = BoundedSmoother::default().settle(&w, stiffness).to_vec();
        let bend = |i: usize| if i == 0 || i + 1 >= n { 0.0 } else { x[i - 1] - 2.0 * x[i] + x[i + 1] };
        for i in 0..n {
            let around = if i == 0 { 0.0 } else { bend(i - 1) } - 2.0 * bend(i) + bend(i + 1);
            let up = w[i].weight * (w[i].target - x[i]) - stiffness * around;
            // A held stop gives way by less than a thousandth, which is clamped; what that is to its neighbours is allowed.
            let none = 2e-2;
            let (at_high, at_low) = (w[i].high - x[i] < 1e-7, x[i] - w[i].low < 1e-7);
            assert!(up > -none || at_low, "{i}: {up} down at {} of {:?}", x[i], w[i]);
            assert!(up < none || at_high, "{i}: {up} up at {} of {:?}", x[i], w[i]);
        }
    }

    #[test]
    fn bounds_hold_and_only_touching_stops_matter() {
        let n = 300;
        let w: Vec<_> = (0..n)
            .map(|i| {
                let t = (i as f64 * 0.05).sin();
                SoftTarget { target: t, weight: 1.0, low: -0.5, high: 0.4 + 0.001 * i as f64 }
            })
            .collect();
        let x = BoundedSmoother::default().settle(&w, 10.0).to_vec();
        for (x, w) in x.iter().zip(&w) {
            assert!(*x >= w.low && *x <= w.high);
        }
        // Far from every stop it is the plain smoother, whose gain at 0.05 rad a sample is 1 / (1 + 10 * 0.05^4).
        assert!((x[63] - w[63].target).abs() < 0.02);
    }

    #[test]
    fn bounds_that_contradict_do_not_pin() {
        // A stretch whose floor is above its ceiling, and a ceiling that falls: a pin would follow it down, and the free end
        // after it on its slope for ever.
        let w: Vec<_> = (0..60)
            .map(|i| {
                let torn = (20..40).contains(&i);
                let (low, high) = if torn { (2.0, 1.5 - 0.1 * (i - 20) as f64) } else { (-9.0, 9.0) };
                SoftTarget { target: -1.0, weight: 0.01, low, high }
            })
            .collect();
        let x = BoundedSmoother::default().settle(&w, 100.0).to_vec();
        assert!(x.iter().zip(&w).all(|(x, w)| *x <= w.high));
        assert!(x.iter().all(|x| (x + 1.0).abs() < 0.2), "{x:?}");
    }

    #[test]
    fn high_wins_over_low_and_short_input_is_fine() {
        for n in 0..4 {
            let w = vec![SoftTarget { target: 3.0, weight: 1.0, low: 2.0, high: 1.0 }; n];
            assert!(BoundedSmoother::default().settle(&w, 5.0).iter().all(|x| (*x - 1.0).abs() < 1e-9));
        }
    }
}
