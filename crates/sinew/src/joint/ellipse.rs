//! The limit of a swing: four quarters of ellipses with shared half-axes.

/// Half-axes of the four quarters, towards +x, -x, +y and -y, in radians. All are positive.
///
/// The quarters meet where their tangents are parallel to an axis: the outline has no corner and its area is convex. The
/// normals there are the axes themselves, so the outline's nearest point to an outside point lies in that point's
/// quarter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ellipse {
    pub half: [[f32; 2]; 2],
}

impl Ellipse {
    /// The half-axes of the quarter that contains a point.
    fn quarter(&self, [x, y]: [f32; 2]) -> [f32; 2] {
        [self.half[0][usize::from(x < 0.0)], self.half[1][usize::from(y < 0.0)]]
    }

    /// [`Self::quarter`] in f64.
    pub fn half_axes(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        [self.half[0][usize::from(x < 0.0)], self.half[1][usize::from(y < 0.0)]].map(f64::from)
    }

    /// The level (x/a)^2 + (y/b)^2 of a point: below 1 inside, 1 on the outline.
    pub fn level(&self, p: [f32; 2]) -> f32 {
        let [a, b] = self.quarter(p);
        let (x, y) = (p[0] / a, p[1] / b);
        x * x + y * y
    }

    /// The nearest point inside or on the outline; see [`nearest_of_quarter`]. NaN is returned as it is.
    pub fn nearest(&self, p: [f32; 2]) -> [f32; 2] {
        let level = self.level(p);
        // NaN counts as inside: it must not become a number.
        if level.is_nan() || level <= 1.0 {
            return p;
        }
        let [a, b] = self.quarter(p).map(f64::from);
        if a == b {
            let k = 1.0 / crate::math::sqrt(level);
            return [p[0] * k, p[1] * k];
        }
        let [u, v] = nearest_of_quarter([a, b], p.map(f64::from));
        // A point that rounding or early termination leaves outside moves inside along the ray from the centre.
        let level = (u / a) * (u / a) + (v / b) * (v / b);
        let k = if level > 1.0 { 1.0 - 0.5 * (level - 1.0).min(1.0) } else { 1.0 };
        [(u * k) as f32, (v * k) as f32]
    }

    /// Half the gradient of [`Ellipse::level`].
    pub fn slope(&self, p: [f32; 2]) -> [f32; 2] {
        let [a, b] = self.quarter(p);
        [p[0] / (a * a), p[1] / (b * b)]
    }

    /// The unit normal, the curvature and the depth of a point relative to the outline moved outwards by `slack`. `None`
    /// if the point is `near` or more inside. The depth is negative outside.
    pub fn outline(&self, p: [f32; 2], slack: f32, near: f32) -> Option<([f32; 2], f32, f32)> {
        let on = self.nearest(p);
        let [a, b] = self.quarter(p);
        let slope = self.slope(on);
        let steep = crate::math::sqrt(slope[0] * slope[0] + slope[1] * slope[1]);
        let displacement = [p[0] - on[0], p[1] - on[1]];
        let out = crate::math::sqrt(displacement[0] * displacement[0] + displacement[1] * displacement[1]);
        // Inside, the level gives the distance to first order.
        let depth = slack - if out > 0.0 { out } else { 0.5 * (self.level(p) - 1.0) / steep };
        if depth.is_nan() || depth >= near {
            return None;
        }
        let curvature = 1.0 / (a * a * b * b * steep * steep * steep);
        Some((slope.map(|x| x / steep), curvature / (1.0 + slack * curvature), depth))
    }
}

/// The nearest point of an ellipse with half-axes `[a, b]` to a point outside.
///
/// For an outside point (x, y), the nearest (u, v) has (x - u, y - v) along the outline's normal (u / a^2, v / b^2).
/// Hence u = x a^2 / (t + a^2) and v = y b^2 / (t + b^2), for the only t > 0 with
///
/// ```text
/// F(t) = (a x / (t + a^2))^2 + (b y / (t + b^2))^2 - 1 = 0.
/// ```
///
/// F is convex and decreasing. Newton's method from a t with F >= 0 therefore increases t and never passes the root
/// (Eberly, "Distance from a Point to an Ellipse"). Computed in f64, since a^2 of a narrow ellipse would underflow in
/// f32.
pub(crate) fn nearest_of_quarter([a, b]: [f64; 2], [x, y]: [f64; 2]) -> [f64; 2] {
    let (aa, bb) = (a * a, b * b);
    let (ax, by) = (a * x.abs(), b * y.abs());
    // At these, one term alone is 1.
    let mut t = (ax - aa).max(by - bb).max(0.0);
    // Convergence is quadratic near the root; above it every step at least halves the logarithm of F. Extreme f32 values
    // need fewer than fifty steps.
    for _ in 0..64 {
        let (u, v) = (ax / (t + aa), by / (t + bb));
        let f = u * u + v * v - 1.0;
        let slope = 2.0 * (u * u / (t + aa) + v * v / (t + bb));
        let step = f / slope;
        // Relative to the denominators: below a thousandth of f32's rounding.
        if step.is_nan() || step <= 1e-11 * (t + aa.min(bb)) {
            break;
        }
        t += step;
    }
    [x * (aa / (t + aa)), y * (bb / (t + bb))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The distance to the nearest of many points on the outline, refined around the best one.
    fn by_search(e: &Ellipse, p: [f32; 2]) -> f64 {
        let at = |angle: f64| {
            let (s, c) = angle.sin_cos();
            let (x, y) = (
                c * e.half[0][usize::from(c < 0.0)] as f64 - p[0] as f64,
                s * e.half[1][usize::from(s < 0.0)] as f64 - p[1] as f64,
            );
            x.hypot(y)
        };
        let n = 4000;
        let step = core::f64::consts::TAU / n as f64;
        let mut best = (0..n).map(|i| i as f64 * step).min_by(|a, b| at(*a).total_cmp(&at(*b))).unwrap();
        let mut h = step;
        while h > 1e-12 {
            for c in [best - h, best + h] {
                if at(c) < at(best) {
                    best = c;
                }
            }
            h *= 0.7;
        }
        at(best)
    }

    #[test]
    fn the_nearest_point_is_on_the_outline_and_nearest() {
        let mut x = 1u32;
        let mut random = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) as f32 / (1 << 24) as f32
        };
        for i in 0..3000 {
            let low = if i % 3 == 0 { 1e-3 } else { 0.2 };
            let mut half = || low + random() * (3.0 - low);
            let e = Ellipse { half: [[half(), half()], [half(), half()]] };
            let p = [6.0 * random() - 3.0, 6.0 * random() - 3.0];
            let q = e.nearest(p);
            assert!(e.level(q) <= 1.0 + 1e-5, "{e:?} {p:?} {q:?}");
            if e.level(p) <= 1.0 {
                assert_eq!(p, q);
                continue;
            }
            let d = ((p[0] - q[0]) as f64).hypot((p[1] - q[1]) as f64);
            let best = by_search(&e, p);
            assert!((d - best).abs() < 3e-6, "{e:?} {p:?} {q:?}: {d} {best}");
        }
    }
}
