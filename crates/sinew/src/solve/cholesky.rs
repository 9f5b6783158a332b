//! Small symmetric systems.

/// Solves a symmetric positive definite system, given by its lower half row by row, by LDL' factors; `rhs` becomes the
/// solution. Whether the system is positive definite, and finite.
pub(super) fn cholesky(matrix: &mut [f64], rhs: &mut [f64]) -> bool {
    let n = rhs.len();
    for j in 0..n {
        for i in j..n {
            let mut sum = matrix[i * n + j];
            for k in 0..j {
                sum -= matrix[i * n + k] * matrix[j * n + k] * matrix[k * n + k];
            }
            matrix[i * n + j] = if i == j { sum } else { sum / matrix[j * n + j] };
        }
    }
    for i in 0..n {
        for k in 0..i {
            rhs[i] -= matrix[i * n + k] * rhs[k];
        }
    }
    for i in (0..n).rev() {
        rhs[i] /= matrix[i * n + i];
        for k in i + 1..n {
            rhs[i] -= matrix[k * n + i] * rhs[k];
        }
    }
    (0..n).all(|i| matrix[i * n + i] > 0.0 && matrix[i * n + i].is_finite())
}
