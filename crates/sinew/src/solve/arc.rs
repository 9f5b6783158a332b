//! Shortest arcs between vectors of any length, and exact scaling: helpers of the closed forms.

use glam::{Quat, Vec3};

use crate::math;

/// Sine of the angle to the turning axis (ten degrees) within which a direction (a pole, an up vector) fades out. Its part
/// across the axis grows uncertain there, and is undefined at 0.
pub(crate) const FADE: f32 = 0.17;

/// The larger of two numbers, in one processor instruction. `f32::max` spends six on NaN, which is refused before any kernel
/// runs.
#[inline(always)]
pub(crate) fn max(a: f32, b: f32) -> f32 {
    if a > b { a } else { b }
}

/// The largest absolute component.
#[inline(always)]
pub(crate) fn largest(v: Vec3) -> f32 {
    let v = v.abs();
    max(max(v.x, v.y), v.z)
}

/// The power of two that scales `m` (positive, finite) into \[1, 2). Scaling by it is exact.
#[inline(always)]
pub(crate) fn to_unit(m: f32) -> f32 {
    let exponent = (m.to_bits() >> 23).clamp(1, 253);
    f32::from_bits((254 - exponent) << 23)
}

/// The vector to the goal scaled by `k`, its length, and the scaled distance of the goal, all safe from overflow. The vector
/// to a goal a million limbs away is shortened; the goal is out of reach at either distance.
#[inline(always)]
pub(crate) fn near(g: Vec3, k: f32, goal: Vec3, root: Vec3) -> (Vec3, f32, f32) {
    let scaled = g * k;
    let x2 = scaled.length_squared();
    // False for an overflow too.
    if x2 < 1e12 {
        let x = math::sqrt(x2);
        return (scaled, x, x);
    }
    far(k, goal, root)
}

#[cold]
fn far(k: f32, goal: Vec3, root: Vec3) -> (Vec3, f32, f32) {
    // Halves, as the difference of two large positions may overflow.
    let half = goal * 0.5 - root * 0.5;
    let unit = to_unit(largest(half));
    let v = half * unit;
    let length = math::sqrt(v.length_squared());
    (v, length, (length / unit * k * 2.0).min(f32::MAX))
}

/// The length limit of stretched chains, in metres: f32 holds the square of a thousand times as much.
pub(crate) const LONGEST: f32 = 1e15;

/// Chain lengths, or sizes of the figure, beyond which a goal counts as a direction. f32 resolves its position there no
/// better than an angle of 1e-3 rad at a joint.
pub(crate) const FAR: f32 = 1e3;

/// Distance between two positions of any finite size, at most `f32::MAX`.
#[inline(always)]
pub(crate) fn distance(a: Vec3, b: Vec3) -> f32 {
    let x2 = (a - b).length_squared();
    // Squares of shorter differences underflow. An overflow of the difference is outside the range too.
    if (1e-30..f32::INFINITY).contains(&x2) { math::sqrt(x2) } else { distance_of_extreme(a, b) }
}

#[cold]
fn distance_of_extreme(a: Vec3, b: Vec3) -> f32 {
    if a == b {
        return 0.0;
    }
    // Halves of the smallest numbers lose a digit, wholes of the largest overflow.
    let (half, by) = match a - b {
        whole if whole.is_finite() => (whole, 1.0),
        _ => (a * 0.5 - b * 0.5, 2.0),
    };
    let unit = to_unit(largest(half));
    (math::sqrt((half * unit).length_squared()) / unit * by).min(f32::MAX)
}

/// Distance of `place` from the ray that starts at `from` along the unit vector `along`, and the angle in radians between
/// the ray and the direction to `place`.
#[inline]
pub(crate) fn off_ray(from: Vec3, along: Vec3, place: Vec3) -> (f32, f32) {
    let v = place - from;
    if v.length_squared() < f32::INFINITY {
        return off_axis(v, along);
    }
    let half = place * 0.5 - from * 0.5;
    let unit = to_unit(largest(half));
    let (off, angle) = off_axis(half * unit, along);
    ((off / unit * 2.0).min(f32::MAX), angle)
}

#[inline]
fn off_axis(v: Vec3, axis: Vec3) -> (f32, f32) {
    let along = v.dot(axis);
    let off = (v - axis * along).length();
    (if along >= 0.0 { off } else { v.length() }, math::atan2(off, along))
}

/// The vector at unit length, without overflow or underflow; zero for zero, infinity and NaN.
pub(crate) fn direction(v: Vec3) -> Vec3 {
    let size = largest(v);
    if size > 0.0 && size.is_finite() { (v * to_unit(size)).normalize_or_zero() } else { Vec3::ZERO }
}

/// `place`, or where it is further from `root` than `max_distance`, the point at that distance in its direction.
#[inline(always)]
pub(crate) fn no_further(place: Vec3, root: Vec3, max_distance: f32) -> Vec3 {
    // False for an overflow too.
    if (place - root).length_squared() <= max_distance * max_distance {
        place
    } else {
        brought_near(place, root, max_distance)
    }
}

#[cold]
fn brought_near(place: Vec3, root: Vec3, max_distance: f32) -> Vec3 {
    let half = place * 0.5 - root * 0.5;
    let v = half * to_unit(largest(half));
    root + v * (max_distance / math::sqrt(v.length_squared()))
}

/// Rotation, of no particular length, that takes `from` to `to` by the shortest arc; a half turn about `fallback` where they
/// are opposite. `product` is the product of their lengths. The flag is set where rounding is magnified and
/// a second arc, from the rotated vector, is needed.
#[inline(always)]
pub(crate) fn arc(from: Vec3, to: Vec3, product: f32, fallback: Vec3) -> (Quat, bool) {
    let w = product + from.dot(to);
    // 1 + cos < 1/2 is an angle above 120 degrees; below that angle, 1 + cos loses at most one bit.
    let weak = w < 0.5 * product;
    if weak && w <= 1e-6 * product {
        return (Quat::from_xyzw(fallback.x, fallback.y, fallback.z, 0.0), true);
    }
    let c = from.cross(to);
    (Quat::from_xyzw(c.x, c.y, c.z, w), weak)
}

/// Rotation, of no particular length, about the unit vector `axis` that brings `own` towards `wanted` (directions of any
/// length), by their parts across the axis. A wanted direction near the axis fades out smoothly, and `own` is kept. The flag
/// is set where the turn is beyond a right angle.
///
/// The parts across the axis need not be found. With a the axis, own x wanted . a and own . wanted - (own . a) (wanted . a)
/// are the sine and the cosine of the angle between them, times both lengths.
#[inline]
pub(crate) fn twist_towards(axis: Vec3, own: Vec3, wanted: Vec3) -> (Quat, bool) {
    let size = largest(wanted);
    if size <= 0.0 {
        return (Quat::IDENTITY, false);
    }
    let wanted = wanted * to_unit(size);
    let (own_along, along) = (own.dot(axis), wanted.dot(axis));
    let sin = own.cross(wanted).dot(axis);
    let cos = own.dot(wanted) - own_along * along;
    let (own2, all2) = (own.length_squared(), wanted.length_squared());
    let plain = all2 - along * along > FADE * FADE * all2 && own2 - own_along * own_along > 1e-4 * own2;
    if plain {
        return (twist(axis, sin, cos), cos < 0.0);
    }
    twist_faded(axis, own, wanted)
}

/// Rotation, of no particular length, about the unit vector `axis` by the angle of this sine and cosine (times any length).
#[inline]
fn twist(axis: Vec3, sin: f32, cos: f32) -> Quat {
    let length = math::sqrt(sin * sin + cos * cos);
    // Half the angle, in the form without cancellation.
    let (s, w) = if cos >= 0.0 { (sin, length + cos) } else { (length - cos, sin) };
    let v = axis * s;
    Quat::from_xyzw(v.x, v.y, v.z, w)
}

/// [`twist_towards`] where the wanted direction fades out or lies opposite.
#[cold]
fn twist_faded(axis: Vec3, own: Vec3, wanted: Vec3) -> (Quat, bool) {
    let own = math::perpendicular(axis, own);
    let across = wanted - axis * wanted.dot(axis);
    let t = math::sqrt(across.length_squared() / wanted.length_squared()) / FADE;
    let weight = if t < 1.0 { math::smoothstep(t) } else { 1.0 };
    let blended = math::perpendicular(axis, across) * weight + own * (1.0 - weight);
    if weight <= 0.0 || blended.length_squared() < 1e-12 {
        return (Quat::IDENTITY, false);
    }
    let blended = math::perpendicular(axis, blended);
    let cos = own.dot(blended);
    (twist(axis, own.cross(blended).dot(axis), cos), cos < 0.0)
}
