//! Rotations of three coordinates, for ball joints and for joints that rotate freely.
//!
//! A mechanism is a tree of joints of one degree of freedom, so each of these joints is three of them at one point. Three
//! successive turns about fixed axes do not serve: a cone is not convex in their angles, and a quarter turn away they lose a
//! direction. The coordinates are those of pose space ([`Coordinates`](crate::joint::Coordinates)), so that limits mean the
//! same in both layers:
//!
//! - a ball's `own = exp(x, y, 0) * (turn about z by t)`: a swing, a rotation vector across the twist axis z, after a twist.
//!   Its limits are an ellipse of (x, y) and a range of t: convex (Baerlocher & Boulic 2001). About a centre c of that ellipse
//!   it is `exp(c) exp((x, y, 0) - c) * twist`: the joint's frame carries exp(c), and swings count from c;
//! - a free joint's `own = exp(x, y, z)`: a rotation vector.
//!
//! The rotation axis of each coordinate depends on the values of all three. For the rotation `exp(v)` with angular velocity
//! `w`, `w = J(v) dv/dt`. J is the left Jacobian of the exponential map. For an angle `a = |v|`:
//!
//! ```text
//! exp(v) = cos a  1 + (sin a / a) [v] + ((1 - cos a) / a^2) v v^T
//! J(v)   = (sin a / a) 1 + ((1 - cos a) / a^2) [v] + ((1 - sin a / a) / a^2) v v^T
//! ```
//!
//! Swings turn about the first two columns of J, the twist about `exp(x, y, 0) z`. J scales vectors across v by `2 sin(a /
//! 2) / a`: 0.64 at half a turn and 0 at a whole one. So rotation vectors are kept within half a turn, where no direction is
//! lost. A ball's swing is limited to three radians.

use core::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};

use super::DofKind;
use crate::math64;

/// Returns the rotation of three coordinates and the axis of each, in the frame before the rotation. The coordinates are a
/// rotation vector's, or a ball's two swings and twist, in radians. The axes are not of unit length.
pub(super) fn turned(kind: DofKind, [x, y, z]: [f64; 3]) -> (DMat3, [DVec3; 3]) {
    if kind == DofKind::Vector {
        let (r, j) = math64::exponential(DVec3::new(x, y, z));
        return (r, [j.x_axis, j.y_axis, j.z_axis]);
    }
    let (r, j) = math64::exponential(DVec3::new(x, y, 0.0));
    let (s, c) = math64::sin_cos(z);
    let turned = DMat3::from_cols(r.x_axis * c + r.y_axis * s, r.y_axis * c - r.x_axis * s, r.z_axis);
    (turned, [j.x_axis, j.y_axis, r.z_axis])
}

/// Returns the coordinates of a rotation, in radians: a twist in (-pi, pi], a rotation vector within half a turn.
pub(super) fn coordinates(kind: DofKind, r: &DMat3) -> [f64; 3] {
    if kind == DofKind::Vector {
        return math64::rotation_vector(r).to_array();
    }
    let q = math64::quaternion(r);
    let n = math64::sqrt(q.z * q.z + q.w * q.w);
    // At half a turn of swing the twist is undefined; 0 is returned.
    let (z, w) = if n > 0.0 { (q.z / n, q.w / n) } else { (0.0, 1.0) };
    // The swing's vector part: q * conjugate(twist).
    let (x, y) = (q.x * w - q.y * z, q.y * w + q.x * z);
    let m = math64::sqrt(x * x + y * y);
    // For small angles 2 atan(m) / m tends to 2; the next term is below rounding.
    let k = if m < 1e-8 { 2.0 } else { 2.0 * math64::atan2(m, n) / m };
    [x * k, y * k, 2.0 * math64::atan2(z, w)]
}

/// Returns the rotation vector of the same rotation within half a turn. One that is within keeps its bits.
pub(super) fn within_half_turn(v: [f64; 3]) -> [f64; 3] {
    let square = v[0] * v[0] + v[1] * v[1] + v[2] * v[2];
    if square <= PI * PI {
        return v;
    }
    let angle = math64::sqrt(square);
    let k = 1.0 - math64::round(angle / TAU) * TAU / angle;
    v.map(|c| c * k)
}

/// Returns, of all rotation vectors of one rotation, the nearest to another.
pub(super) fn nearest_vector(v: [f64; 3], to: [f64; 3]) -> [f64; 3] {
    let dot = |a: [f64; 3], b: [f64; 3]| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    let length = math64::sqrt(dot(v, v));
    // A rotation by whole turns has any axis; the nearest vector has the other vector's.
    let axis = if length > 1e-12 { v.map(|c| c / length) } else { [0.0; 3] };
    let along = dot(to, axis);
    let by = math64::round((along - length) / TAU) * TAU;
    [0, 1, 2].map(|k| v[k] + by * axis[k])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points() -> impl Iterator<Item = [f64; 3]> {
        let value = |k: usize, most: f64| most * math64::sin_cos(k as f64 * 2.399 + 0.4).0;
        (0..200).flat_map(move |k| {
            [1e-9, 1e-3, 0.2, 0.316, 1.0, 1.7].map(|most| [0, 1, 2].map(|i| value(3 * k + i, most)))
        })
    }

    fn apart(a: &DMat3, b: &DMat3) -> f64 {
        let d = *a - *b;
        [d.x_axis, d.y_axis, d.z_axis].into_iter().map(|c| c.abs().max_element()).fold(0.0, f64::max)
    }

    #[test]
    fn rotations_are_turns_about_their_axes() {
        for [x, y, z] in points() {
            let length = math64::sqrt(x * x + y * y + z * z);
            let by_axis = math64::axis_angle(DVec3::new(x, y, z) / length, length);
            assert!(apart(&turned(DofKind::Vector, [x, y, z]).0, &by_axis) < 1e-15 * 8.0, "{x} {y} {z}");
            let length = math64::sqrt(x * x + y * y);
            let swing = math64::axis_angle(DVec3::new(x, y, 0.0) / length, length);
            let ball = swing * math64::axis_angle(DVec3::Z, z);
            assert!(apart(&turned(DofKind::Swing, [x, y, z]).0, &ball) < 1e-15 * 8.0, "{x} {y} {z}");
        }
    }

    #[test]
    fn axes_are_the_velocities_of_coordinates() {
        for kind in [DofKind::Swing, DofKind::Vector] {
            for at in points() {
                let (r, axes) = turned(kind, at);
                for k in 0..3 {
                    let h = 1e-5;
                    let moved = |by: f64| {
                        let mut to = at;
                        to[k] += by;
                        turned(kind, to).0
                    };
                    // dR/dc R^T is the cross-product matrix of the axis.
                    let way = (moved(h) - moved(-h)) * (0.5 / h) * r.transpose();
                    let axis = DVec3::new(way.y_axis.z, way.z_axis.x, way.x_axis.y);
                    assert!((axis - axes[k]).length() < 1e-9, "{kind:?} {at:?} {k}: {axis} {}", axes[k]);
                }
            }
        }
    }

    #[test]
    fn coordinates_come_back() {
        for kind in [DofKind::Swing, DofKind::Vector] {
            for at in points() {
                let back = coordinates(kind, &turned(kind, at).0);
                let far = (0..3).map(|k| (back[k] - at[k]).abs()).fold(0.0, f64::max);
                assert!(far < 1e-13, "{kind:?} {at:?} {back:?}");
            }
        }
    }

    #[test]
    fn vectors_a_turn_apart_are_one_rotation() {
        for [x, y, z] in points() {
            let long = [x * 9.0, y * 9.0, z * 9.0];
            let short = within_half_turn(long);
            assert!(short.iter().map(|c| c * c).sum::<f64>() <= PI * PI * (1.0 + 1e-15));
            assert!(apart(&turned(DofKind::Vector, long).0, &turned(DofKind::Vector, short).0) < 1e-13);
            let back = nearest_vector(short, long);
            assert!((0..3).all(|k| (back[k] - long[k]).abs() < 1e-12), "{long:?} {back:?}");
        }
        assert_eq!(within_half_turn([0.0, 3.1, 0.1]), [0.0, 3.1, 0.1]);
    }
}
