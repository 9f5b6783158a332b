//! Rotation-minimising frames.

use glam::{DMat3, DVec3};

use crate::math64;

/// Applies to `v` the shortest arc from the unit vector `from` to the unit vector `to`. Between opposite directions,
/// applies a half turn about the component of `v` perpendicular to them.
pub(super) fn carried(from: DVec3, to: DVec3, v: DVec3) -> DVec3 {
    let w = 1.0 + from.dot(to);
    let axis = from.cross(to);
    // v + (axis x v) + axis x (axis x v) / w.
    if w > 1e-12 { v + axis.cross(v) + axis.cross(axis.cross(v)) / w } else { v - 2.0 * from * from.dot(v) }
}

/// The shortest arc as a matrix. Between opposite directions, its axis is an arbitrary perpendicular.
pub(super) fn arc(from: DVec3, to: DVec3) -> DMat3 {
    if from.dot(to) > -1.0 + 1e-12 {
        return DMat3::from_cols(
            carried(from, to, DVec3::X),
            carried(from, to, DVec3::Y),
            carried(from, to, DVec3::Z),
        );
    }
    math64::axis_angle(across(from, DVec3::ZERO), core::f64::consts::PI)
}

/// Unit vector along the component of `v` perpendicular to the unit vector `axis`. If there is none, an arbitrary but
/// fixed perpendicular.
pub(super) fn across(axis: DVec3, v: DVec3) -> DVec3 {
    for v in [v, DVec3::Y, DVec3::X] {
        let p = v - axis * v.dot(axis);
        // A sine of 1e-6 leaves ten digits in f64.
        if p.length_squared() > 1e-12 * v.length_squared() {
            let p = p / math64::sqrt(p.length_squared());
            let p = p - axis * p.dot(axis);
            return p / math64::sqrt(p.length_squared());
        }
    }
    axis
}

/// One step of double reflection (Wang, Jüttler, Zheng and Liu 2008). Computes the normal at the end of a step from the
/// normal at its start, the tangents at both ends, and the direction of the chord between (any length).
///
/// The first reflection, in the plane midway between both positions, takes the start's frame to the end. The second
/// corrects the tangent that results, in the plane midway between it and the true one. The error against an exact
/// rotation-minimising frame is of fourth order in the step.
pub(super) fn double_reflection(normal: DVec3, tangent: DVec3, chord: DVec3, end: DVec3) -> DVec3 {
    let c1 = chord.length_squared();
    if c1 == 0.0 {
        return across(end, carried(tangent, end, normal));
    }
    let reflect = |v: DVec3| v - chord * (2.0 * chord.dot(v) / c1);
    let (r, t) = (reflect(normal), reflect(tangent));
    let second = end - t;
    let c2 = second.length_squared();
    // A chord perpendicular to both tangents: the curve reverses on the spot.
    if c2 < 1e-24 {
        return across(end, r);
    }
    across(end, r - second * (2.0 * second.dot(r) / c2))
}
