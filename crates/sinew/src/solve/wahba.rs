//! Wahba's problem: the rotation that brings vectors nearest to others.

use glam::{DMat3, DVec3, Quat};

/// Rotation q that maximises the trace of R(q)^T `b`. `b` is the sum of w g e^T over vectors e that are to align with
/// vectors g, with weights w; see [`outer`]. `bound` is an upper bound of that trace: the sum of w |g| |e|.
///
/// The trace is q^T K q with Davenport's symmetric matrix K, so q is the eigenvector of K's largest eigenvalue. That value
/// is the largest root of K's characteristic polynomial. Newton's method from above finds it without passing it (QCP,
/// Theobald 2005), and the eigenvector is a column of the adjugate of K - lambda. Returns `None` where the two largest
/// eigenvalues are equal: every rotation between their eigenvectors is then a maximum.
pub(crate) fn best_rotation(b: &DMat3, bound: f64) -> Option<Quat> {
    let (x, y, z) = (b.x_axis, b.y_axis, b.z_axis);
    // b is column-major: element (row r, column c) is b.col(c)[r].
    let (sxx, sxy, sxz) = (x.x, y.x, z.x);
    let (syx, syy, syz) = (x.y, y.y, z.y);
    let (szx, szy, szz) = (x.z, y.z, z.z);
    let k = [
        [sxx - syy - szz, sxy + syx, szx + sxz, szy - syz],
        [sxy + syx, syy - sxx - szz, syz + szy, sxz - szx],
        [szx + sxz, syz + szy, szz - sxx - syy, syx - sxy],
        [szy - syz, sxz - szx, syx - sxy, sxx + syy + szz],
    ];
    if !(bound > 0.0 && bound.is_finite()) {
        return None;
    }
    // Coefficients of lambda^4 + c2 lambda^2 + c1 lambda + c0 for the traceless K / bound.
    let m = k.map(|row| row.map(|x| x / bound));
    let square = x.length_squared() + y.length_squared() + z.length_squared();
    let c2 = -2.0 * square / (bound * bound);
    let c1 = -8.0 * b.determinant() / (bound * bound * bound);
    let c0 = determinant(&m);
    let mut lambda = 1.0f64;
    for _ in 0..50 {
        let l2 = lambda * lambda;
        let value = l2 * l2 + c2 * l2 + c1 * lambda + c0;
        let slope = 4.0 * l2 * lambda + 2.0 * c2 * lambda + c1;
        let step = value / slope;
        if !step.is_finite() || step.abs() < 1e-15 {
            break;
        }
        lambda -= step;
    }
    // The largest column of the adjugate has the least rounding.
    let mut s = m;
    for (i, row) in s.iter_mut().enumerate() {
        row[i] -= lambda;
    }
    let mut best = ([0.0; 4], 0.0);
    for c in 0..4 {
        let column = [0, 1, 2, 3].map(|r| cofactor(&s, c, r));
        let size = column.iter().map(|x| x * x).sum::<f64>();
        if size > best.1 {
            best = (column, size);
        }
    }
    let ([x, y, z, w], size) = best;
    // The adjugate is the product of the gaps to the other eigenvalues: below this bound the two largest count as equal.
    if size < 1e-20 {
        return None;
    }
    let q = [x, y, z, w].map(|c| c as f32);
    let largest = q.iter().fold(0.0f32, |a, c| a.max(c.abs()));
    let q = q.map(|c| c / largest);
    Some(crate::math::normalize(Quat::from_xyzw(q[0], q[1], q[2], q[3])))
}

/// The outer product w g e^T.
pub(crate) fn outer(g: DVec3, e: DVec3, w: f64) -> DMat3 {
    DMat3::from_cols(g * (w * e.x), g * (w * e.y), g * (w * e.z))
}

fn cofactor(m: &[[f64; 4]; 4], i: usize, j: usize) -> f64 {
    let mut rows = (0..4).filter(|&r| r != i);
    let [a, b, c] = [0; 3].map(|_| rows.next().unwrap_or(0));
    let mut columns = (0..4).filter(|&r| r != j);
    let [x, y, z] = [0; 3].map(|_| columns.next().unwrap_or(0));
    let d = m[a][x] * (m[b][y] * m[c][z] - m[b][z] * m[c][y])
        - m[a][y] * (m[b][x] * m[c][z] - m[b][z] * m[c][x])
        + m[a][z] * (m[b][x] * m[c][y] - m[b][y] * m[c][x]);
    if (i + j).is_multiple_of(2) { d } else { -d }
}

fn determinant(m: &[[f64; 4]; 4]) -> f64 {
    (0..4).map(|j| m[0][j] * cofactor(m, 0, j)).sum()
}

#[cfg(test)]
mod tests {
    use glam::{Mat3, Vec3};

    use super::*;
    use crate::math;

    #[test]
    fn the_best_rotation_beats_all_others() {
        let mut x = 3u32;
        let mut r = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        for _ in 0..500 {
            let mut b = DMat3::ZERO;
            let mut bound = 0.0;
            for _ in 0..3 {
                let (e, g) = (Vec3::new(r(), r(), r()).as_dvec3(), Vec3::new(r(), r(), r()).as_dvec3());
                b += outer(g, e, 1.0);
                bound += g.length() * e.length();
            }
            let trace = |q: Quat| {
                let m: Mat3 = math::to_matrix(q);
                (m.as_dmat3().transpose() * b)
                    .to_cols_array_2d()
                    .iter()
                    .enumerate()
                    .map(|(i, c)| c[i])
                    .sum::<f64>()
            };
            let Some(best) = best_rotation(&b, bound) else { continue };
            let value = trace(best);
            for i in 0..100 {
                let size = if i % 2 == 0 { 3.0 } else { 0.01 };
                let v = Vec3::new(r(), r(), r()) * size;
                let other = math::mul(math::axis_angle(v.normalize(), v.length()), best);
                assert!(trace(other) <= value + 1e-6 * bound);
            }
        }
    }
}
