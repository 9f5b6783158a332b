//! The smoothest path between bounds.

use alloc::vec::Vec;

/// One sample of what [`BoundedSmoother::settle`] is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftTarget {
    /// Where the path would rather be.
    pub target: f64,
    /// How much it would; 0 leaves the place to the neighbours.
    pub weight: f64,
    /// The path is never below this.
    pub low: f64,
    /// The path is never above this. Where `low` is above `high`, only `high` counts.
    pub high: f64,
}

impl SoftTarget {
    /// No bound and no preference.
    pub const FREE: Self = Self { target: 0.0, weight: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// Exactly here.
    pub const fn fixed(at: f64) -> Self {
        Self { target: at, weight: 0.0, low: at, high: at }
    }
}

/// A thin elastic beam through equally spaced samples, pulled to targets by springs and held between stops: the `x` that
/// minimises
///
/// ```text
/// sum weight_i (x_i - target_i)^2  +  stiffness * sum (x_{i-1} - 2 x_i + x_{i+1})^2,     low_i <= x_i <= high_i
/// ```
///
/// Without bounds this is Whittaker's smoother (1923): no lag, gain 1 / (1 + stiffness w^4) at w radians a sample. With
/// them it is the obstacle problem of a beam: it bends as little as the stops allow, so it begins to move well ahead of what
/// it must clear.
///
/// The active set is found by repetition: stops that are passed become springs of a stiffness that dwarfs the rest, those
/// that would pull are let go. Each round solves a symmetric system of five diagonals, so the cost is linear.
#[derive(Clone, Debug, Default)]
pub struct BoundedSmoother {
    active: Vec<i8>,
    diagonals: Vec<[f64; 3]>,
    x: Vec<f64>,
}

impl BoundedSmoother {
    /// The path for `wishes`. `stiffness` is in units of weight.
    pub fn settle(&mut self, objectives: &[SoftTarget], stiffness: f64) -> &[f64] {
        let n = objectives.len();
        self.active.clear();
        self.active.resize(n, 0);
        for (a, w) in self.active.iter_mut().zip(objectives) {
            if w.low == w.high {
                *a = 1;
            }
        }
        // Ten thousand times the strongest force of the beam itself (16 stiffness is the largest entry of its matrix): a
        // stop then gives way by less than a thousandth of what it holds back, and the result is clamped anyway.
        let hard = 1e4 * (16.0 * stiffness + 1.0);
        // Each round changes at least one stop; in practice a handful of rounds settle it, and up to a hundred where a stop
        // moves along a curved bound sample by sample.
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
                    // A stop that is held pushes; one that would have to pull lets go.
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
            // A stop that is held does not end the pull towards the target: what the two leave together
            // is the force by which it pushes. (Without that pull, stops that the target presses
            // against would be let go and passed in turn.)
            let stop = match self.active[i] {
                1 => hard * w.high,
                -1 => hard * w.low,
                _ => 0.0,
            };
            let held = if self.active[i] == 0 { 0.0 } else { hard };
            // A little weight everywhere keeps the system regular where nothing holds the beam.
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
        // L D L^T of the banded matrix, in place.
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
