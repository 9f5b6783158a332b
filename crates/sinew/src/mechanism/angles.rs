//! Angles of rotations about one axis, or about up to three axes in order.

use core::f64::consts::{PI, TAU};

use glam::{DMat3, DVec3};

use crate::{joint::Range, math64};

/// Returns the angles of a rotation about three axes in order, R = R_i(a) R_j(b) R_k(c), in radians. With e = 1 for cyclic
/// axes and -1 for others R_ik = e sin b, R_jk = -e sin a cos b, R_kk = cos a cos b, R_ij = -e cos b sin c, R_ii = cos b cos
/// c.
fn angles([i, j, k]: [usize; 3], r: &DMat3) -> [f64; 3] {
    let e = sense([i, j, k]);
    let at = |row: usize, column: usize| r.col(column)[row];
    let (x, y) = (at(i, i), at(i, j));
    let b = math64::atan2(e * at(i, k), math64::sqrt(x * x + y * y));
    [math64::atan2(-e * at(j, k), at(k, k)), b, math64::atan2(-e * y, x)]
}

/// Returns 1 for a cyclic order of axes and -1 for the others.
fn sense([i, j, _]: [usize; 3]) -> f64 {
    if (i + 1) % 3 == j { 1.0 } else { -1.0 }
}

/// Returns the angles of a rotation about three axes in order, of which some may be known. Two sets of angles make one
/// rotation, (a, b, c) and (a + pi, pi - b, c + pi): the set that violates `ranges` less is returned. Known outer angles are
/// removed first, because the other two are then determined even where the middle one is a quarter turn.
pub(super) fn angles_within(
    axes: [usize; 3],
    r: &DMat3,
    known: [Option<f64>; 3],
    ranges: [Range; 3],
) -> [f64; 3] {
    let [i, j, k] = axes;
    let unit = DVec3::AXES;
    let e = sense(axes);
    match known {
        [Some(a), Some(b), _] => {
            let left = (about(i, a) * about(j, b)).transpose() * *r;
            [a, b, known[2].unwrap_or_else(|| twist(unit[k], &left))]
        }
        [Some(a), None, Some(c)] => [a, twist(unit[j], &(about(i, -a) * *r * about(k, -c))), c],
        [None, Some(b), Some(c)] => [twist(unit[i], &(*r * about(k, -c) * about(j, -b))), b, c],
        // R_i(a) e_j = cos a e_j + e sin a e_k.
        [None, None, Some(c)] => {
            let left = *r * about(k, -c);
            let a = math64::atan2(e * left.col(j)[k], left.col(j)[j]);
            [a, twist(unit[j], &(about(i, -a) * left)), c]
        }
        // e_j R_k(c) = e sin c e_i + cos c e_j.
        [Some(a), None, None] => {
            let left = about(i, -a) * *r;
            let c = math64::atan2(e * left.col(i)[j], left.col(j)[j]);
            [a, twist(unit[j], &(left * about(k, -c))), c]
        }
        [None, _, None] => {
            let first = angles(axes, r);
            let second = [first[0] + PI, PI - first[1], first[2] + PI];
            let both = [first, second].map(|all| {
                let turned = [0, 1, 2].map(|n| match known[n] {
                    Some(value) => value + near_zero(all[n] - value),
                    None => on_turn(all[n], ranges[n]),
                });
                let out = |n: usize| match known[n] {
                    Some(value) => (turned[n] - value).abs(),
                    None => (turned[n] - ranges[n].max).max(ranges[n].min - turned[n]).max(0.0),
                };
                (turned, out(0).max(out(1)).max(out(2)))
            });
            let mut best = if both[1].1 < both[0].1 { both[1].0 } else { both[0].0 };
            best[1] = known[1].unwrap_or(best[1]);
            best
        }
    }
}

/// Returns the equivalent angle within half a turn of 0.
fn near_zero(angle: f64) -> f64 {
    angle - math64::round(angle / TAU) * TAU
}

/// Returns the equivalent angle within half a turn of the middle of its range. Where the range has one end or none, returns
/// the angle within half a turn of 0, or the first one inside the end.
pub(super) fn on_turn(angle: f64, range: Range) -> f64 {
    let Some(middle) = range.middle() else {
        let near = near_zero(angle);
        // Outside the only end: the first turn inside.
        let end = range.clamp(near);
        let first = near + math64::round((end - near) / TAU) * TAU;
        return match range.contains(first) {
            true => first,
            false => first + if end > near { TAU } else { -TAU },
        };
    };
    middle + near_zero(angle - middle)
}

/// Returns the rotation by an angle about a coordinate axis (0, 1, 2 for x, y, z).
pub(super) fn about(axis: usize, angle: f64) -> DMat3 {
    math64::axis_angle(DVec3::AXES[axis], angle)
}

/// Returns the angle about a unit axis of a rotation = swing * (turn about the axis), in radians.
pub(super) fn twist(axis: DVec3, r: &DMat3) -> f64 {
    let q = math64::quaternion(r);
    2.0 * math64::atan2(q.x * axis.x + q.y * axis.y + q.z * axis.z, q.w)
}
