//! A part of a rotation, for weights between 0 and 1.

use glam::{Quat, Vec3};

use crate::math;

/// `q` turned only by the fraction `weight` of its angle (the shorter way round).
pub(crate) fn partial(q: Quat, weight: f32) -> Quat {
    let v = math::rotation_vector(q) * weight;
    let angle = v.length();
    if angle > 0.0 { math::axis_angle(v / angle, angle) } else { Quat::IDENTITY }
}

/// `to`, or where `from` comes to by a turn of `most` radians on the way there.
pub(crate) fn no_further(from: Quat, to: Quat, most: f32) -> Quat {
    let angle = math::angle_between(to, from);
    if angle <= most {
        return to;
    }
    math::normalize(math::mul(partial(math::mul(to, math::conjugate(from)), most / angle), from))
}

/// The fraction `weight` of `q` in the coordinates of a ball joint: its swing away from the unit vector `axis` and its
/// twist about it, each scaled. Ranges of swing and twist are convex, so the result is inside wherever both ends are.
pub(crate) fn partial_swing_twist(q: Quat, axis: Vec3, weight: f32) -> Quat {
    let (swing, twist) = math::swing_twist(q, axis);
    math::mul(partial(swing, weight), partial(twist, weight))
}

/// The largest share, 0 to 1, that fits, where smaller ones fit too, to within a half to the power of `halvings`.
pub(crate) fn largest_share(halvings: u32, mut fits: impl FnMut(f32) -> bool) -> f32 {
    if fits(1.0) {
        return 1.0;
    }
    let (mut low, mut step) = (0.0, 1.0);
    for _ in 0..halvings {
        step *= 0.5;
        if fits(low + step) {
            low += step;
        }
    }
    low
}
