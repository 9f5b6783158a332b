//! Parts of a rotation, for weights between 0 and 1.

use glam::{Quat, Vec3};

use crate::math;

/// The rotation by the fraction `weight` of the angle of `q` (the shorter way round).
pub(crate) fn partial(q: Quat, weight: f32) -> Quat {
    let v = math::rotation_vector(q) * weight;
    let angle = v.length();
    if angle > 0.0 { math::axis_angle(v / angle, angle) } else { Quat::IDENTITY }
}

/// `to`, or where it is more than `max_angle` radians from `from`, the rotation at that angle between them.
pub(crate) fn no_further(from: Quat, to: Quat, max_angle: f32) -> Quat {
    let angle = math::angle_between(to, from);
    if angle <= max_angle {
        return to;
    }
    math::normalize(math::mul(partial(math::mul(to, math::conjugate(from)), max_angle / angle), from))
}

/// The fraction `weight` of `q` in the coordinates of a ball joint: scales its swing away from the unit vector `axis` and
/// its twist about `axis`. Ranges of swing and twist are convex, so the result is inside wherever both ends are.
pub(crate) fn partial_swing_twist(q: Quat, axis: Vec3, weight: f32) -> Quat {
    let (swing, twist) = math::swing_twist(q, axis);
    math::mul(partial(swing, weight), partial(twist, weight))
}

/// The largest share, 0 to 1, for which `fits` is true, to within 2^-`halvings`. Every smaller share must fit too.
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
