//! Decompositions of rotations: angles about axes, swing and twist.

use glam::{Mat3, Quat, Vec3};

use super::{Coordinates, TOLERANCE, axes, length, of_vector};
use crate::{
    joint::{
        ellipse::Ellipse,
        euler,
        span::{Span, wrap},
    },
    math,
};

/// The angle about `axis` at which `off * turn` is nearest to `own`, relative to the range's middle, in radians.
pub(super) fn hinge_angle(own: Quat, axis: Vec3, off: Quat, span: &Span) -> f32 {
    let q = math::mul(math::conjugate(off), own);
    let p = q.x * axis.x + q.y * axis.y + q.z * axis.z;
    wrap(2.0 * math::atan2(p, q.w) - span.centre)
}

/// The swing and twist of a ball's rotation.
pub(super) struct Split {
    /// Rotation vector perpendicular to the twist axis, in radians.
    pub swing: [f32; 2],
    /// Angle about the twist axis in radians, within two turns.
    pub twist: f32,
    /// Cosine of half the swing's angle.
    pub cos_half: f32,
}

impl Split {
    /// The excess in radians that counts as within the limits. It grows near a half turn of swing, where the twist has
    /// fewer digits.
    pub fn tolerance(&self) -> f32 {
        TOLERANCE + 2e-7 * (1.0 / self.cos_half.max(0.05) - 1.0)
    }
}

/// Splits a rotation into swing and twist; see [`math::swing_twist`].
pub(super) fn split(own: Quat, frame: &Mat3) -> Split {
    let v = Vec3::new(own.x, own.y, own.z);
    let (x, y, z, w) = (v.dot(frame.x_axis), v.dot(frame.y_axis), v.dot(frame.z_axis), own.w);
    let n = math::sqrt(z * z + w * w);
    // At a half turn of swing the twist is undefined; 0 is taken.
    let (tz, tw) = if n > 0.0 { (z / n, w / n) } else { (0.0, 1.0) };
    // The swing's vector part: own * conjugate(twist).
    let (sx, sy) = (x * tw - y * tz, y * tw + x * tz);
    let m = math::sqrt(sx * sx + sy * sy);
    // For small angles 2 asin(m) / m tends to 2.
    let k = if m < 1e-6 { 2.0 } else { 2.0 * math::atan2(m, n) / m };
    Split { swing: [sx * k, sy * k], twist: 2.0 * math::atan2(tz, tw), cos_half: n }
}

/// The nearest swing and twist within the limits, and the excess in radians; see
/// [`Limits::excess`](super::Limits::excess).
pub(super) fn clamp_ball(
    parts: &Split,
    swing: &Option<Ellipse>,
    slack: f32,
    twist: &Span,
) -> (Coordinates, f32) {
    let mut s = parts.swing;
    let mut excess = 0.0f32;
    if let Some(e) = swing {
        let (nearest, distance) = inside(e, slack, s);
        (s, excess) = (nearest, (distance - slack).max(0.0));
    }
    let d = wrap(parts.twist - twist.centre);
    ([s[0], s[1], twist.centre + twist.clamp_angle(d)], excess.max(twist.excess(d)))
}

/// The rotation with this swing and twist.
pub(super) fn join([x, y]: [f32; 2], twist: f32, frame: &Mat3) -> Quat {
    let swing = of_vector(frame.x_axis * x + frame.y_axis * y);
    math::mul(swing, math::axis_angle(frame.z_axis, twist))
}

/// The nearest point within the distance `slack` of the ellipse.
pub(super) fn within(e: &Ellipse, slack: f32, s: [f32; 2]) -> [f32; 2] {
    inside(e, slack, s).0
}

/// The nearest point within the distance `slack` of the ellipse, and the distance of `s` from the ellipse.
fn inside(e: &Ellipse, slack: f32, s: [f32; 2]) -> ([f32; 2], f32) {
    let n = e.nearest(s);
    let displacement = [s[0] - n[0], s[1] - n[1]];
    let d = length(displacement);
    if d <= slack {
        return (s, d);
    }
    let k = slack / d;
    ([n[0] + k * displacement[0], n[1] + k * displacement[1]], d)
}

/// The angles about three axes, moving or not, relative to their ranges' middles. Of the two sets of angles of the
/// rotation, the one with the smaller excess.
fn all_angles(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> [f32; 3] {
    let differences = |c: [f32; 3]| [0, 1, 2].map(|n| wrap(c[n] - spans[n].centre));
    let out = |d: [f32; 3]| (0..3).map(|n| spans[n].excess(d[n])).fold(0.0, f32::max);
    let all = euler::angles(axes, own);
    let (d, other) = (differences(all), differences(euler::other(all)));
    if out(other) < out(d) { other } else { d }
}

/// The angles about three axes relative to their ranges' middles. Axes that do not move are held at their value.
pub(super) fn angles(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> [f32; 3] {
    let held = spans.map(|s| (s.low >= s.high).then_some(s.centre + s.low));
    if held == [None; 3] {
        return all_angles(own, axes, spans);
    }
    let all = euler::nearest(axes, own, held);
    [0, 1, 2].map(|n| wrap(all[n] - spans[n].centre))
}

/// The angles within their ranges of the nearest rotation: the rotation's own if within, else those of
/// [`axes::nearest`].
pub(super) fn clamp_angles(own: Quat, axes: [usize; 3], spans: &[Span; 3]) -> [f32; 3] {
    let d = angles(own, axes, spans);
    if (0..3).all(|n| spans[n].excess(d[n]) <= 0.0) { d } else { axes::nearest(own, axes, spans) }
}
