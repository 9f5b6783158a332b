//! Symmetric positive definite systems of equations with a band.

use alloc::vec::Vec;

use crate::math64 as math;

/// Normal equations `A x = b` of a least-squares problem whose rows each touch unknowns less than `width` apart. Rows of
/// the lower triangle are stored one after the other, each with its diagonal last.
#[derive(Clone, Debug)]
pub(super) struct Banded {
    width: usize,
    matrix: Vec<f64>,
    right: Vec<f64>,
}

impl Banded {
    /// An empty system of `count` unknowns with `width` entries per row, the diagonal included.
    pub fn new(count: usize, width: usize) -> Self {
        Self { width, matrix: alloc::vec![0.0; count * width], right: alloc::vec![0.0; count] }
    }

    /// Sets all entries to 0.
    pub fn clear(&mut self) {
        self.matrix.fill(0.0);
        self.right.fill(0.0);
    }

    /// Adds the row `weight * (sum of coefficient * unknown + residual)^2 / 2`.
    pub fn add(&mut self, row: &[(usize, f64)], residual: f64, weight: f64) {
        for &(i, a) in row {
            let a = a * weight;
            self.right[i] -= a * residual;
            let diagonal = i * self.width + self.width - 1;
            for &(j, b) in row {
                if j <= i {
                    self.matrix[diagonal + j - i] += a * b;
                }
            }
        }
    }

    /// Computes the Cholesky factors of the matrix with `raised` added to its diagonal. Returns `false` if it is not positive
    /// definite.
    pub fn factor(&self, raised: &[f64], factors: &mut Vec<f64>) -> bool {
        let (w, n) = (self.width, self.right.len());
        factors.clone_from(&self.matrix);
        let mut column = alloc::vec![0.0; w];
        for k in 0..n {
            let below = (n - k).min(w) - 1;
            let (done, rest) = factors.split_at_mut((k + 1) * w);
            let diagonal = &mut done[(k + 1) * w - 1];
            // Unknowns to the left were taken off the diagonal with their columns.
            let pivot = *diagonal + raised[k];
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            *diagonal = math::sqrt(pivot);
            let inverse = 1.0 / *diagonal;
            for (i, row) in rest.chunks_exact_mut(w).take(below).enumerate() {
                row[w - 2 - i] *= inverse;
                column[i] = row[w - 2 - i];
            }
            // Takes the column's products off the triangle below it: rows are independent of each other.
            for (i, row) in rest.chunks_exact_mut(w).take(below).enumerate() {
                let by = column[i];
                for (x, l) in row[w - 1 - i..].iter_mut().zip(&column[..=i]) {
                    *x -= by * l;
                }
            }
        }
        true
    }

    /// Solves for the given right side, or else for the system's, into `x`, by the factors of [`Self::factor`].
    pub fn solve(&self, factors: &[f64], right: Option<&[f64]>, x: &mut Vec<f64>) {
        let (w, n) = (self.width, self.right.len());
        x.clear();
        x.extend_from_slice(right.unwrap_or(&self.right));
        for i in 0..n {
            let first = (i + 1).saturating_sub(w);
            let row = &factors[i * w..(i + 1) * w];
            x[i] = (x[i] - dot(&row[w - 1 + first - i..w - 1], &x[first..i])) / row[w - 1];
        }
        for i in (0..n).rev() {
            let first = (i + 1).saturating_sub(w);
            let row = &factors[i * w..(i + 1) * w];
            x[i] /= row[w - 1];
            let value = x[i];
            for (x, l) in x[first..i].iter_mut().zip(&row[w - 1 + first - i..w - 1]) {
                *x -= l * value;
            }
        }
    }
}

/// Dot product in four sums, which the compiler can vectorise. The order of the sums is fixed, so the bits are too.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (mut fours, mut others) = (a.chunks_exact(4), b.chunks_exact(4));
    for (a, b) in (&mut fours).zip(&mut others) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = fours.remainder().iter().zip(others.remainder()).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_banded_system_is_solved_to_rounding() {
        let (n, width) = (60, 9);
        let mut system = Banded::new(n, width);
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(seed >> 8) / f64::from(1u32 << 24) - 0.5
        };
        let truth: Vec<f64> = (0..n).map(|_| noise()).collect();
        for i in 0..n {
            for _ in 0..3 {
                let row: Vec<(usize, f64)> = (i..(i + width).min(n)).map(|j| (j, noise())).collect();
                let value: f64 = row.iter().map(|(j, a)| a * truth[*j]).sum();
                system.add(&row, -value, 2.0);
            }
        }
        let (mut factors, mut x) = (Vec::new(), Vec::new());
        assert!(system.factor(&[0.0; 60], &mut factors));
        system.solve(&factors, None, &mut x);
        let off = x.iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-9, "{off}");
        system.clear();
        assert!(!system.factor(&[0.0; 60], &mut factors));
    }
}
