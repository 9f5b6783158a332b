//! Conversion of rotations from and to Euler angles, in f64.
//!
//! A rotation is R = R1(a1) * R2(a2) * R3(a3), each about a coordinate axis (0, 1, 2 for x, y, z). Angles are in radians.

/// Rows of a rotation matrix.
type Rows = [[f64; 3]; 3];

/// The unit quaternion (x, y, z, w) of Euler angles, given as axis and angle, the first outermost.
pub(super) fn to_quaternion(turns: impl Iterator<Item = (usize, f64)>) -> [f64; 4] {
    let mut q = [0.0, 0.0, 0.0, 1.0];
    for (axis, angle) in turns {
        let (sin, cos) = (0.5 * angle).sin_cos();
        let mut turn = [0.0, 0.0, 0.0, cos];
        turn[axis] = sin;
        q = multiply(q, turn);
    }
    q
}

fn multiply(a: [f64; 4], b: [f64; 4]) -> [f64; 4] {
    [
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    ]
}

fn to_rows(q: [f64; 4]) -> Rows {
    let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
    let [x, y, z, w] = q.map(|c| c / length);
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
}

/// Finds the Euler angles about up to three different `axes` of the rotation `q`, and writes them into `angles`. Returns the
/// residual, in radians: fewer than three axes cannot represent every rotation.
///
/// As input, `angles` holds the angles of the frame before. Of equivalent angles, those nearest to them are taken; in gimbal
/// lock, the first angle keeps its value. Curves are smooth thereby.
pub(super) fn from_quaternion(q: [f64; 4], axes: &[usize], angles: &mut [f64]) -> f64 {
    let r = to_rows(q);
    match (axes, &mut *angles) {
        (&[i], [a]) => {
            // The twist about the axis is the rotation about it that is nearest to `q`.
            *a = near(2.0 * q[i].atan2(q[3]), *a);
        }
        (&[i, j], [a, b]) => {
            let (k, s) = (3 - i - j, sign(i, j));
            // Column j of Ri * Rj holds Ri alone, row i holds Rj alone.
            *a = near((s * r[k][j]).atan2(r[j][j]), *a);
            *b = near((s * r[i][k]).atan2(r[i][i]), *b);
        }
        (&[i, j, k], [a, b, c]) => {
            let s = sign(i, j);
            let solve = |first: f64| {
                // With the first rotation undone, Rj * Rk remains.
                let (sin, cos) = first.sin_cos();
                let row_j = |col: usize| cos * r[j][col] + s * sin * r[k][col];
                let last = cos * r[k][k] - s * sin * r[j][k];
                ((s * r[i][k]).atan2(last), (s * row_j(i)).atan2(row_j(j)))
            };
            // Below 1e-7, the precision of f32, the matrix does not determine the first angle.
            let first = if r[j][k].hypot(r[k][k]) > 1e-7 { (-s * r[j][k]).atan2(r[k][k]) } else { *a };
            let mut best = None;
            for first in [first, first + std::f64::consts::PI] {
                let (second, third) = solve(first);
                let found = [near(first, *a), near(second, *b), near(third, *c)];
                let change: f64 = found.iter().zip([*a, *b, *c]).map(|(x, y)| (x - y).abs()).sum();
                if best.is_none_or(|(min, _)| change < min) {
                    best = Some((change, found));
                }
            }
            if let Some((_, found)) = best {
                [*a, *b, *c] = found;
            }
        }
        _ => {}
    }
    let p = to_quaternion(axes.iter().copied().zip(angles.iter().copied()));
    let difference = multiply([-p[0], -p[1], -p[2], p[3]], q);
    let [x, y, z, w] = difference;
    2.0 * (x * x + y * y + z * z).sqrt().atan2(w.abs())
}

/// 1 if the axes are in cyclic order (x, y, z, x), else -1.
fn sign(i: usize, j: usize) -> f64 {
    if (i + 1) % 3 == j { 1.0 } else { -1.0 }
}

/// The angle plus the number of whole turns that brings it nearest to `before`.
fn near(angle: f64, before: f64) -> f64 {
    angle + ((before - angle) / std::f64::consts::TAU).round() * std::f64::consts::TAU
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDERS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];

    fn rotation(i: u32) -> [f64; 4] {
        let f = f64::from(i);
        let q = [(f * 1.3).sin(), (f * 2.1).cos(), (f * 0.7).sin(), (f * 1.9).cos()];
        let length = q.iter().map(|c| c * c).sum::<f64>().sqrt();
        q.map(|c| c / length)
    }

    #[test]
    fn any_rotation_in_any_order() {
        for order in ORDERS {
            for i in 0..500 {
                let mut angles = [0.3, -2.0, 5.0];
                let left = from_quaternion(rotation(i), &order, &mut angles);
                assert!(left < 1e-12, "{order:?} {angles:?} {left}");
            }
        }
    }

    #[test]
    fn gimbal_lock_keeps_the_first_angle() {
        for order in ORDERS {
            for lock in [90.0f64, -90.0] {
                for off in [0.0, 1e-9, 1e-7, 1e-5, 1e-3] {
                    let turns = [0.4, lock.to_radians() + off, -1.1];
                    let q = to_quaternion(order.into_iter().zip(turns));
                    let mut angles = [0.4, lock.to_radians(), -1.1];
                    let left = from_quaternion(q, &order, &mut angles);
                    assert!(left < 1e-7, "{order:?} {off}: {left}");
                    assert!(off > 0.0 || (angles[0] - 0.4).abs() < 1e-12);
                    // As rounded to f32.
                    let left = from_quaternion(q.map(|c| f64::from(c as f32)), &order, &mut angles);
                    assert!(left < 2e-7, "{order:?} {off}: {left}");
                }
            }
        }
    }

    #[test]
    fn angles_follow_the_frame_before() {
        // Several turns about each axis in small steps: angles must grow without a jump.
        for order in ORDERS {
            let mut angles = [0.0; 3];
            for i in 0..2_000 {
                let f = f64::from(i) * 0.01;
                let turns = [f, 1.2 * f.sin(), -0.7 * f];
                from_quaternion(to_quaternion(order.into_iter().zip(turns)), &order, &mut angles);
                for (found, turn) in angles.iter().zip(turns) {
                    assert!((found - turn).abs() < 1e-9);
                }
            }
        }
    }

    #[test]
    fn fewer_axes_give_what_they_can_and_say_what_is_left() {
        for i in 0..3 {
            for j in (0..3).filter(|&j| j != i) {
                let q = to_quaternion([(i, 2.5), (j, -1.6)].into_iter());
                let mut angles = [0.0; 2];
                assert!(from_quaternion(q, &[i, j], &mut angles) < 1e-12);
                assert!((angles[0] - 2.5).abs() < 1e-12 && (angles[1] + 1.6).abs() < 1e-12);
                let mut angle = [0.0];
                assert!((from_quaternion(q, &[i], &mut angle) - 1.6).abs() < 1e-9);
                assert!(
                    (from_quaternion(to_quaternion([(i, 0.5)].into_iter()), &[], &mut []) - 0.5).abs() < 1e-9
                );
            }
        }
    }
}
