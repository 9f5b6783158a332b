//! Small symmetric systems.

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
