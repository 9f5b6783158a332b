//! Decompositions of rotations: angles about axes, swing and twist.

use glam::{Mat3, Quat, Vec3};

use super::{Coordinates, TOLERANCE, axes, length, of_vector, surely_within};
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

/// The nearest rotation of a ball within its limits; `None` if `own` is within. Of swing and twist, the one that is within
/// its limit stays as it is, and only the other is an angle.
pub(super) fn clamp_parts(
    own: Quat,
    frame: &Mat3,
    swing: &Option<Ellipse>,
    slack: f32,
    twist: &Span,
) -> Option<Quat> {
    let v = Vec3::new(own.x, own.y, own.z);
    let (x, y, z, w) = (v.dot(frame.x_axis), v.dot(frame.y_axis), v.dot(frame.z_axis), own.w);
    let n = math::sqrt(z * z + w * w);
    // At a half turn of swing the twist is undefined; keep well away from it.
    if n.is_nan() || n < 0.1 {
        let parts = split(own, frame);
        let ([a, b, c], excess) = clamp_ball(&parts, swing, slack, twist);
        return (excess > parts.tolerance()).then(|| join([a, b], c, frame));
    }
    let (tz, tw) = (z / n, w / n);
    // The swing's vector part: own * conjugate(twist).
    let (sx, sy) = (x * tw - y * tz, y * tw + x * tz);
    let tolerance = Split { swing: [0.0; 2], twist: 0.0, cos_half: n }.tolerance();
    let mut swung = None;
    if let Some(e) = swing {
        // The angle is at most this; see `surely_within`.
        let k = core::f32::consts::TAU / (2.0 + n);
        if e.level([k * sx, k * sy]) > 1.0 {
            let m = math::sqrt(sx * sx + sy * sy);
            let k = if m < 1e-6 { 2.0 } else { 2.0 * math::atan2(m, n) / m };
            let (nearest, distance) = inside(e, slack, [sx * k, sy * k]);
            if distance - slack > tolerance {
                swung = Some(of_vector(frame.x_axis * nearest[0] + frame.y_axis * nearest[1]));
            }
        }
    }
    let mut twisted = None;
    if !surely_within(tz, tw, 1.0, twist) {
        let d = wrap(2.0 * math::atan2(tz, tw) - twist.centre);
        if twist.excess(d) > tolerance {
            twisted = Some(math::axis_angle(frame.z_axis, twist.centre + twist.clamp_angle(d)));
        }
    }
    if swung.is_none() && twisted.is_none() {
        return None;
    }
    let twisted = twisted.unwrap_or_else(|| {
        let v = frame.z_axis * tz;
        Quat::from_xyzw(v.x, v.y, v.z, tw)
    });
    let swung = swung.unwrap_or_else(|| {
        let v = frame.x_axis * sx + frame.y_axis * sy;
        Quat::from_xyzw(v.x, v.y, v.z, n)
    });
    Some(math::mul(swung, twisted))
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
