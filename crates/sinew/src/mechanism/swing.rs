//! Limit of a ball joint's swing in joint space: four quarters of ellipses, in `f64`.

use core::f64::consts::FRAC_PI_2;

use crate::{joint::nearest_of_quarter, math64};

/// Level below 1 of points that are set on the limit: so far below that they are within by any order of operations.
const BELOW: f64 = 1e-14;

/// Ellipse limit of a ball joint; see [`Turning::Ball`](crate::joint::Turning::Ball). Coordinates are the two swings, in
/// radians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Swing {
    /// Where the quarters meet, in radians.
    centre: [f64; 2],
    /// Bounds of the level of points that are set on the limit: what they aim at, and what they are within after rounding.
    bounds: [f64; 2],
    /// Half-axes in the positive and negative direction, of the first and the second coordinate, in radians; all above 0.
    half: [[f64; 2]; 2],
}

impl Swing {
    /// Makes a limit from the ends of both coordinates, each `(lower, upper)` with the centre between them.
    pub fn new(ends: [(f64, f64); 2], centre: [f64; 2]) -> Self {
        let half = [0, 1].map(|k| [ends[k].1 - centre[k], centre[k] - ends[k].0]);
        // A coordinate far from 0 is rounded by a share of itself, which is a greater share of a small half-axis.
        let least = half.into_iter().flatten().fold(f64::INFINITY, f64::min);
        let below = BELOW + 16.0 * f64::EPSILON * centre[0].abs().max(centre[1].abs()) / least;
        Self { centre, bounds: [1.0 - below, 1.0 - 0.5 * below], half }
    }

    /// Returns a point as seen from the centre.
    fn seen_from_centre(&self, p: [f64; 2]) -> [f64; 2] {
        [p[0] - self.centre[0], p[1] - self.centre[1]]
    }

    /// Returns a point that is seen from the centre as seen from rest.
    fn seen_from_rest(&self, p: [f64; 2]) -> [f64; 2] {
        // Not `+ centre`, which would lose the sign of a zero.
        [p[0] - (0.0 - self.centre[0]), p[1] - (0.0 - self.centre[1])]
    }

    /// Returns the half-axes of the quarter that a point lies in, as seen from the centre.
    fn quarter(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.half[0][usize::from(x < 0.0)], self.half[1][usize::from(y < 0.0)]]
    }

    /// Returns `(x/a)^2 + (y/b)^2`, seen from the centre: at most 1 within the limit.
    pub fn level(&self, p: [f64; 2]) -> f64 {
        let p = self.seen_from_centre(p);
        let [a, b] = self.quarter(p);
        let (x, y) = (p[0] / a, p[1] / b);
        x * x + y * y
    }

    /// Whether a point is within the limit.
    pub fn holds(&self, p: [f64; 2]) -> bool {
        self.level(p) <= 1.0
    }

    /// Returns the nearest point within the limit. A point within keeps its bits.
    pub fn nearest(&self, p: [f64; 2]) -> [f64; 2] {
        if self.holds(p) {
            return p;
        }
        let p = self.seen_from_centre(p);
        self.inside(nearest_of_quarter(self.quarter(p), p))
    }

    /// Moves a point of the outline, seen from the centre, inside along the ray from there, where rounding has left it
    /// outside. Returns it as seen from rest.
    fn inside(&self, mut p: [f64; 2]) -> [f64; 2] {
        let [bound, rounded] = self.bounds;
        // One round suffices but for rounding, and the bound leaves room for that.
        for _ in 0..4 {
            let level = self.level(self.seen_from_rest(p));
            // NaN is returned as it is; values are checked to be finite earlier.
            if level <= rounded || level.is_nan() {
                break;
            }
            let k = math64::sqrt(bound / level);
            p = p.map(|c| c * k);
        }
        self.seen_from_rest(p)
    }

    /// Returns the unit normal of the outline at a point of it.
    pub fn normal(&self, p: [f64; 2]) -> [f64; 2] {
        let p = self.seen_from_centre(p);
        let [a, b] = self.quarter(p);
        let (x, y) = (p[0] / (a * a), p[1] / (b * b));
        let l = math64::sqrt(x * x + y * y);
        if l > 0.0 { [x / l, y / l] } else { [1.0, 0.0] }
    }

    /// Returns the last point within the limit on the line from a point within to another.
    pub fn on_the_way(&self, from: [f64; 2], to: [f64; 2]) -> [f64; 2] {
        let at = |t: f64| [from[0] + t * (to[0] - from[0]), from[1] + t * (to[1] - from[1])];
        if self.holds(to) {
            return to;
        }
        let (mut within, mut beyond) = (0.0, 1.0);
        // One halving per binary digit of `f64`.
        for _ in 0..53 {
            let mid = 0.5 * (within + beyond);
            if self.holds(at(mid)) { within = mid } else { beyond = mid }
        }
        if within > 0.0 { at(within) } else { from }
    }

    /// Returns the point for two numbers in \[0, 1). Numbers that are spread evenly give points that are spread evenly over
    /// the area.
    ///
    /// The second number selects the angle. Each quarter has a share of it in proportion to its area, the product of its
    /// half-axes. Within a quarter, stretching a disc keeps the density even.
    pub fn at(&self, [u, v]: [f64; 2]) -> [f64; 2] {
        let [[right, left], [up, down]] = self.half;
        // Counter-clockwise from the first axis.
        let quarters = [(right, up), (left, up), (left, down), (right, down)];
        let all: f64 = quarters.iter().map(|(a, b)| a * b).sum();
        let mut rest = v * all;
        let mut k = 0;
        while k < 3 && rest >= quarters[k].0 * quarters[k].1 {
            rest -= quarters[k].0 * quarters[k].1;
            k += 1;
        }
        let (a, b) = quarters[k];
        let angle = (k as f64 + (rest / (a * b)).clamp(0.0, 1.0)) * FRAC_PI_2;
        let (s, c) = math64::sin_cos(angle);
        let r = math64::sqrt(u);
        self.inside([r * c * a, r * s * b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers() -> impl FnMut() -> f64 {
        let mut k = 0.0;
        move || {
            k += 1.0;
            let x: f64 = k * 0.754_877_666_246_692_8;
            x - (x as u64) as f64
        }
    }

    /// Returns the smallest distance to points all over the limit, refined around the best.
    fn by_search(s: &Swing, p: [f64; 2]) -> f64 {
        let far = |angle: f64| {
            let (y, x) = math64::sin_cos(angle);
            let [a, b] = s.quarter([x, y]);
            let (x, y) = (s.centre[0] + a * x - p[0], s.centre[1] + b * y - p[1]);
            math64::sqrt(x * x + y * y)
        };
        let (mut best, mut step) = (0.0, 0.01);
        for k in 0..629 {
            let angle = f64::from(k) * 0.01;
            if far(angle) < far(best) {
                best = angle;
            }
        }
        while step > 1e-9 {
            for by in [-step, step] {
                if far(best + by) < far(best) {
                    best += by;
                }
            }
            step *= 0.7;
        }
        far(best)
    }

    #[test]
    fn the_nearest_point_is_within_to_the_last_bit_and_nearest() {
        let mut next = numbers();
        for k in 0..2000 {
            let mut end = || 1e-3 + 2.9 * next();
            let ends = [(-end(), end()), (-end(), end())];
            // Every other one is about a centre, which may leave 0 outside.
            let centre = if k % 2 == 0 { [0.0; 2] } else { [4.0 * next() - 2.0, 4.0 * next() - 2.0] };
            let ends = [0, 1].map(|k| (ends[k].0 + centre[k], ends[k].1 + centre[k]));
            let swing = Swing::new(ends, centre);
            let p = [8.0 * next() - 4.0, 8.0 * next() - 4.0];
            let q = swing.nearest(p);
            // Computed in another way.
            let part = |k: usize| {
                let end = if q[k] < centre[k] { ends[k].0 } else { ends[k].1 };
                (q[k] - centre[k]) / (end - centre[k])
            };
            assert!(part(0) * part(0) + part(1) * part(1) <= 1.0);
            if swing.holds(p) {
                assert_eq!(p, q);
                continue;
            }
            let way = [p[0] - q[0], p[1] - q[1]];
            let far = math64::sqrt(way[0] * way[0] + way[1] * way[1]);
            assert!((far - by_search(&swing, p)).abs() < 1e-8, "{swing:?} {p:?} {q:?}");
            // The nearest point lies along the normal.
            let n = swing.normal(q);
            if far > 1e-3 {
                assert!((way[0] * n[1] - way[1] * n[0]).abs() < 1e-6 * far.max(1.0), "{swing:?} {p:?} {n:?}");
                assert!(way[0] * n[0] + way[1] * n[1] > 0.0);
            }
            let half_way = swing.on_the_way(centre, p);
            assert!(swing.holds(half_way) && swing.level(half_way) > 1.0 - 1e-12);
        }
    }

    #[test]
    fn even_numbers_fill_the_area_evenly() {
        let centre = [0.3, -2.0];
        let ends = [(-0.5, 1.5), (-0.2, 1.0)];
        let swing = Swing::new([0, 1].map(|k| (ends[k].0 + centre[k], ends[k].1 + centre[k])), centre);
        let (mut quarters, mut inner) = ([0; 4], 0);
        let n = 200;
        for i in 0..n {
            for j in 0..n {
                let at = |k: usize| (k as f64 + 0.5) / n as f64;
                let p = swing.at([at(i), at(j)]);
                assert!(swing.holds(p));
                quarters[usize::from(p[0] < centre[0]) + 2 * usize::from(p[1] < centre[1])] += 1;
                inner += usize::from(swing.level(p) < 0.25);
            }
        }
        let share = |k: usize| f64::from(quarters[k]) / (n * n) as f64;
        // Areas are in the ratio of the products of half-axes: 1.5, 0.5, 0.3 and 0.1 of 2.4.
        for (k, area) in [1.5, 0.5, 0.3, 0.1].into_iter().enumerate() {
            assert!((share(k) - area / 2.4).abs() < 0.005, "{k}: {}", share(k));
        }
        assert!((inner as f64 / (n * n) as f64 - 0.25).abs() < 0.005);
    }
}
