//! Small symmetric systems.

/// [`cholesky`] for a number of rows that the compiler knows.
#[inline(always)]
#[allow(clippy::needless_range_loop)]
pub(super) fn cholesky_of<const N: usize>(matrix: &mut [[f64; N]; N], rhs: &mut [f64; N]) -> bool {
    for j in 0..N {
        for i in j..N {
            let mut sum = matrix[i][j];
            for k in 0..j {
                sum -= matrix[i][k] * matrix[j][k] * matrix[k][k];
            }
            matrix[i][j] = if i == j { sum } else { sum / matrix[j][j] };
        }
    }
    for i in 0..N {
        for k in 0..i {
            rhs[i] -= matrix[i][k] * rhs[k];
        }
    }
    for i in (0..N).rev() {
        rhs[i] /= matrix[i][i];
        for k in i + 1..N {
            rhs[i] -= matrix[k][i] * rhs[k];
        }
    }
    (0..N).all(|i| matrix[i][i] > 0.0 && matrix[i][i].is_finite())
}

/// Solves a symmetric positive definite system by LDL' factors. Row i of the matrix begins at `i * stride`; its lower half is
/// read, and overwritten. `rhs` becomes the solution. Returns whether the system is positive definite, and finite.
#[inline]
pub(super) fn cholesky(matrix: &mut [f64], stride: usize, rhs: &mut [f64]) -> bool {
    let n = rhs.len();
    for j in 0..n {
        for i in j..n {
            let mut sum = matrix[i * stride + j];
            for k in 0..j {
                sum -= matrix[i * stride + k] * matrix[j * stride + k] * matrix[k * stride + k];
            }
            matrix[i * stride + j] = if i == j { sum } else { sum / matrix[j * stride + j] };
        }
    }
    for i in 0..n {
        for k in 0..i {
            rhs[i] -= matrix[i * stride + k] * rhs[k];
        }
    }
    for i in (0..n).rev() {
        rhs[i] /= matrix[i * stride + i];
        for k in i + 1..n {
            rhs[i] -= matrix[k * stride + i] * rhs[k];
        }
    }
    (0..n).all(|i| matrix[i * stride + i] > 0.0 && matrix[i * stride + i].is_finite())
}
