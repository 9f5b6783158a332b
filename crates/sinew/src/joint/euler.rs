//! Conversion between rotations and angles about three axes in sequence.
//!
//! Let alpha, beta, gamma be half the angles about the axes i, j, k (q = q_i q_j q_k: each turn carries the later axes),
//! and e = 1 if i, j, k are cyclic, -1 if not. The components of the quaternion satisfy
//!
//! ```text
//! w + q_j = (cos beta + sin beta) cos(alpha + e gamma)    q_i + e q_k = (cos beta + sin beta) sin(alpha + e gamma)
//! w - q_j = (cos beta - sin beta) cos(alpha - e gamma)    q_i - e q_k = (cos beta - sin beta) sin(alpha - e gamma)
//! ```
//!
//! so every angle is an `atan2` of sums, accurate near the poles too. The dot product of q with any quaternion Q (the
//! cosine of half the angle between them) is
//!
//! ```text
//! ((cos beta + sin beta) |X| cos(alpha + e gamma - x) + (cos beta - sin beta) |Y| cos(alpha - e gamma - y)) / 2
//! ```
//!
//! Here X and Y are the two pairs of left sides, evaluated for Q, and x and y are their angles. Hence for any fixed beta
//! in \[-pi/2, pi/2\] the alpha and gamma nearest to Q are Q's own.

use core::f32::consts::PI;

use glam::{Quat, Vec3};

use crate::math;

/// The order in which a joint turns about its own axes. Each turn carries the axes of the later ones: the rotation of
/// `Xyz` is `Rx(a) * Ry(b) * Rz(c)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
#[allow(missing_docs)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum RotationOrder {
    #[default]
    Xyz,
    Xzy,
    Yxz,
    Yzx,
    Zxy,
    Zyx,
}

impl RotationOrder {
    /// The axes in order: 0 for X, 1 for Y, 2 for Z.
    pub const fn axes(self) -> [usize; 3] {
        match self {
            Self::Xyz => [0, 1, 2],
            Self::Xzy => [0, 2, 1],
            Self::Yxz => [1, 0, 2],
            Self::Yzx => [1, 2, 0],
            Self::Zxy => [2, 0, 1],
            Self::Zyx => [2, 1, 0],
        }
    }
}

/// The unit vector along axis 0 (X), 1 (Y) or 2 (Z).
pub(super) fn unit(axis: usize) -> Vec3 {
    Vec3::AXES[axis]
}

/// 1 if the three axes are cyclic, else -1.
fn parity([i, j, _]: [usize; 3]) -> f32 {
    if (i + 1) % 3 == j { 1.0 } else { -1.0 }
}

/// The rotation by three angles in radians, given in the order of `axes`.
pub(super) fn rotation([i, j, k]: [usize; 3], angles: [f32; 3]) -> Quat {
    let turn = |n: usize, axis: usize| math::axis_angle(unit(axis), angles[n]);
    math::mul(math::mul(turn(0, i), turn(1, j)), turn(2, k))
}

/// The angles of a rotation in radians, the middle one in \[-pi/2, pi/2\]. At the poles only a sum or difference of the
/// outer two is defined; it is split evenly between them.
pub(super) fn angles(axes: [usize; 3], q: Quat) -> [f32; 3] {
    let v = [q.x, q.y, q.z];
    let e = parity(axes);
    let (i, j, k) = (v[axes[0]], v[axes[1]], e * v[axes[2]]);
    let (xc, xs, yc, ys) = (q.w + j, i + k, q.w - j, i - k);
    let (p, m) = (math::sqrt(xc * xc + xs * xs), math::sqrt(yc * yc + ys * ys));
    // Below this length, the direction of the shorter pair is rounding noise.
    const LOST: f32 = 2.5e-7;
    let (x, y) = (math::atan2(xs, xc), math::atan2(ys, yc));
    let x = if p < LOST { y } else { x };
    let y = if m < LOST { x } else { y };
    let middle = 2.0 * math::atan2(p, m) - 0.5 * PI;
    [x + y, middle, e * (x - y)]
}

/// The second set of angles of the same rotation.
pub(super) fn other([a, b, c]: [f32; 3]) -> [f32; 3] {
    [a + PI, PI - b, c + PI]
}

/// The angles of the nearest rotation to `q` if some angles are held at a value (`Some`), in radians.
pub(super) fn nearest(axes: [usize; 3], q: Quat, held: [Option<f32>; 3]) -> [f32; 3] {
    let [i, j, k] = axes;
    let about = |axis: usize, angle: f32| math::axis_angle(unit(axis), angle);
    let twist = |q: Quat, axis: usize| 2.0 * math::atan2([q.x, q.y, q.z][axis], q.w);
    match held {
        [None, None, None] => angles(axes, q),
        // See the module's docs. Beyond a right angle cos beta -+ sin beta becomes negative, and the pair changes sign.
        [None, Some(b), None] => {
            let v = [q.x, q.y, q.z];
            let e = parity(axes);
            let (s, c) = (math::sin(0.5 * b), math::cos(0.5 * b));
            let (f, g) = (c + s, c - s);
            let x = math::atan2(f * (v[i] + e * v[k]), f * (q.w + v[j]));
            let y = math::atan2(g * (v[i] - e * v[k]), g * (q.w - v[j]));
            [x + y, b, e * (x - y)]
        }
        // Without the outer turn two axes remain: first and last of an order whose middle angle is held at 0.
        [Some(a), None, None] => {
            let [b, _, c] = nearest([j, i, k], math::mul(about(i, -a), q), [None, Some(0.0), None]);
            [a, b, c]
        }
        [None, None, Some(c)] => {
            let [a, _, b] = nearest([i, k, j], math::mul(q, about(k, -c)), [None, Some(0.0), None]);
            [a, b, c]
        }
        [None, Some(b), Some(c)] => {
            let q = math::mul(math::mul(q, about(k, -c)), about(j, -b));
            [twist(q, i), b, c]
        }
        [Some(a), None, Some(c)] => {
            let q = math::mul(math::mul(about(i, -a), q), about(k, -c));
            [a, twist(q, j), c]
        }
        [Some(a), Some(b), None] => {
            let q = math::mul(about(j, -b), math::mul(about(i, -a), q));
            [a, b, twist(q, k)]
        }
        [Some(a), Some(b), Some(c)] => [a, b, c],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [RotationOrder; 6] = [
        RotationOrder::Xyz,
        RotationOrder::Xzy,
        RotationOrder::Yxz,
        RotationOrder::Yzx,
        RotationOrder::Zxy,
        RotationOrder::Zyx,
    ];

    fn random() -> impl FnMut() -> f32 {
        let mut x = 7u32;
        move || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) as f32 / (1 << 23) as f32 - 1.0
        }
    }

    #[test]
    fn angles_come_back_in_every_order_and_at_the_poles() {
        let mut r = random();
        for n in 0..3000 {
            let order = ORDERS[n % 6].axes();
            let middle = match n % 5 {
                0 => 0.5 * PI,
                1 => -0.5 * PI + 1e-4 * r(),
                _ => 1.57 * r(),
            };
            let given = [3.1 * r(), middle, 3.1 * r()];
            let q = rotation(order, given);
            let found = angles(order, q);
            assert!(math::angle_between(rotation(order, found), q) < 2e-6, "{order:?} {given:?} {found:?}");
            assert!(math::angle_between(rotation(order, other(found)), q) < 2e-6);
        }
    }

    #[test]
    fn held_angles_leave_the_nearest_others() {
        let mut r = random();
        for n in 0..400 {
            let order = ORDERS[n % 6].axes();
            let q = math::normalize(Quat::from_xyzw(r(), r(), r(), r()));
            for mask in 1..8 {
                let held = [0, 1, 2].map(|i| (mask >> i & 1 == 1).then(|| 2.0 * r()));
                let best = nearest(order, q, held);
                let off = math::angle_between(rotation(order, best), q);
                // No random or neighbouring choice of the free ones is nearer.
                for t in 0..60 {
                    let wide = if t % 2 == 0 { PI } else { 0.02 };
                    let try_ = [0, 1, 2].map(|i| held[i].unwrap_or(best[i] + wide * r()));
                    assert!(math::angle_between(rotation(order, try_), q) > off - 2e-6, "{held:?} {best:?}");
                }
            }
        }
    }
}
