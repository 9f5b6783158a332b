//! Damped normal equations of a step, `(J J^T + damping) y = e`. Their size is the number of goal rows, not the number of
//! joints.
//!
//! A column `s` of J belongs to a variable; its step is `s . y`. For a variable that is held at a limit, the column is
//! subtracted from `J J^T`, and the effect of its own step from `e`.

use alloc::vec::Vec;

/// Rows of one goal: three along the axes, three about them.
pub(super) const ROWS: usize = 6;

/// Normal equations of one step.
pub(super) trait Normal {
    /// Sets up the equations for a residual and columns (those of the first goal for every variable, then those of the
    /// second, ...).
    fn form(&mut self, columns: &[[f64; ROWS]], residual: &[[f64; ROWS]]);
    /// Releases all held variables.
    fn release(&mut self);
    /// Holds a variable, or a direction of several, at a step. `column` returns its column of each goal.
    fn hold(&mut self, column: impl Fn(usize) -> [f64; ROWS], step: f64);
    /// Solves for y.
    fn solve(&mut self, damping: f64);
    /// Returns the step of a variable that is not held.
    fn step(&self, columns: &[[f64; ROWS]], var: usize) -> f64;
}

/// Returns the dot product of two columns.
#[inline(always)]
pub(super) fn dot(a: &[f64; ROWS], b: &[f64; ROWS]) -> f64 {
    (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])
}

/// Equations of one goal: six rows, a size known at compile time.
#[derive(Default)]
pub(super) struct Six {
    whole: [[f64; ROWS]; ROWS],
    free: [[f64; ROWS]; ROWS],
    residual: [f64; ROWS],
    left: [f64; ROWS],
    y: [f64; ROWS],
}

impl Normal for Six {
    #[inline(always)]
    fn form(&mut self, columns: &[[f64; ROWS]], residual: &[[f64; ROWS]]) {
        let mut g = [[0.0; ROWS]; ROWS];
        for c in columns {
            for i in 0..ROWS {
                for j in 0..=i {
                    g[i][j] += c[i] * c[j];
                }
            }
        }
        self.whole = g;
        self.residual = residual[0];
    }

    #[inline(always)]
    fn release(&mut self) {
        self.free = self.whole;
        self.left = self.residual;
    }

    #[inline(always)]
    fn hold(&mut self, column: impl Fn(usize) -> [f64; ROWS], step: f64) {
        let c = column(0);
        for i in 0..ROWS {
            self.left[i] -= c[i] * step;
            for j in 0..=i {
                self.free[i][j] -= c[i] * c[j];
            }
        }
    }

    /// Solves by G = L D L^T.
    #[inline(always)]
    #[allow(clippy::needless_range_loop)] // Indices are those of the formula.
    fn solve(&mut self, damping: f64) {
        let mut l = self.free;
        let mut inverse = [0.0; ROWS];
        let mut y = self.left;
        for k in 0..ROWS {
            // Rounding may leave slightly less than the damping where the matrix is rank-deficient.
            let d = (l[k][k] + damping).max(damping);
            inverse[k] = 1.0 / d;
            for i in k + 1..ROWS {
                let f = l[i][k] * inverse[k];
                for j in k + 1..=i {
                    l[i][j] -= f * l[j][k];
                }
            }
            for i in k + 1..ROWS {
                l[i][k] *= inverse[k];
                y[i] -= l[i][k] * y[k];
            }
        }
        for k in 0..ROWS {
            y[k] *= inverse[k];
        }
        for k in (0..ROWS).rev() {
            for i in k + 1..ROWS {
                y[k] -= l[i][k] * y[i];
            }
        }
        self.y = y;
    }

    #[inline(always)]
    fn step(&self, columns: &[[f64; ROWS]], var: usize) -> f64 {
        dot(&columns[var], &self.y)
    }
}

/// Returns the column of a direction of two variables.
#[inline(always)]
pub(super) fn along(a: &[f64; ROWS], b: &[f64; ROWS], [x, y]: [f64; 2]) -> [f64; ROWS] {
    core::array::from_fn(|i| x * a[i] + y * b[i])
}

/// Equations of several goals.
#[derive(Default)]
pub(super) struct Many {
    goals: usize,
    vars: usize,
    whole: Vec<f64>,
    free: Vec<f64>,
    factor: Vec<f64>,
    residual: Vec<f64>,
    left: Vec<f64>,
    y: Vec<f64>,
}

impl Many {
    /// Allocates for so many goals and variables.
    pub fn fit(&mut self, goals: usize, vars: usize) {
        (self.goals, self.vars) = (goals, vars);
        let m = ROWS * goals;
        [&mut self.whole, &mut self.free, &mut self.factor]
            .into_iter()
            .for_each(|square| square.resize(m * m, 0.0));
        [&mut self.residual, &mut self.left, &mut self.y].into_iter().for_each(|line| line.resize(m, 0.0));
    }

    /// Adds `by` times the outer product of a column with itself to the lower triangle. `column` returns it goal by goal.
    fn add(goals: usize, sum: &mut [f64], column: impl Fn(usize) -> [f64; ROWS], by: f64) {
        let m = ROWS * goals;
        for a in 0..goals {
            let ca = column(a);
            // Most joints move few of the goals.
            if ca == [0.0; ROWS] {
                continue;
            }
            for b in 0..=a {
                let cb = &column(b);
                for i in 0..ROWS {
                    let row = &mut sum[(a * ROWS + i) * m + b * ROWS..][..ROWS];
                    for (cell, c) in row.iter_mut().zip(cb) {
                        *cell += by * ca[i] * c;
                    }
                }
            }
        }
    }
}

impl Normal for Many {
    fn form(&mut self, columns: &[[f64; ROWS]], residual: &[[f64; ROWS]]) {
        self.whole.fill(0.0);
        for var in 0..self.vars {
            Self::add(self.goals, &mut self.whole, |goal| columns[goal * self.vars + var], 1.0);
        }
        self.residual.copy_from_slice(residual.as_flattened());
    }

    fn release(&mut self) {
        self.free.copy_from_slice(&self.whole);
        self.left.copy_from_slice(&self.residual);
    }

    fn hold(&mut self, column: impl Fn(usize) -> [f64; ROWS], step: f64) {
        Self::add(self.goals, &mut self.free, &column, -1.0);
        for a in 0..self.goals {
            for (l, c) in self.left[a * ROWS..].iter_mut().zip(column(a)) {
                *l -= c * step;
            }
        }
    }

    fn solve(&mut self, damping: f64) {
        self.factor.copy_from_slice(&self.free);
        self.y.copy_from_slice(&self.left);
        ldl_solve(&mut self.factor, &mut self.y, damping);
    }

    fn step(&self, columns: &[[f64; ROWS]], var: usize) -> f64 {
        (0..self.goals)
            .map(|a| {
                let y: &[f64] = &self.y[a * ROWS..][..ROWS];
                columns[a * self.vars + var].iter().zip(y).map(|(c, y)| c * y).sum::<f64>()
            })
            .sum()
    }
}

/// Solves `(G + damping) y = y` in place by G = L D L^T. Reads the lower triangle of G, row by row, and overwrites it.
pub(super) fn ldl_solve(g: &mut [f64], y: &mut [f64], damping: f64) {
    let m = y.len();
    for k in 0..m {
        let d = (g[k * m + k] + damping).max(damping);
        g[k * m + k] = d;
        let inverse = 1.0 / d;
        for i in k + 1..m {
            let f = g[i * m + k] * inverse;
            if f == 0.0 {
                continue;
            }
            for j in k + 1..=i {
                g[i * m + j] -= f * g[j * m + k];
            }
        }
        for i in k + 1..m {
            g[i * m + k] *= inverse;
            y[i] -= g[i * m + k] * y[k];
        }
    }
    for k in (0..m).rev() {
        let mut sum = y[k] / g[k * m + k];
        for i in k + 1..m {
            sum -= g[i * m + k] * y[i];
        }
        y[k] = sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns columns of `goals` goals and `vars` variables, without structure.
    fn columns(goals: usize, vars: usize) -> Vec<[f64; ROWS]> {
        let value = |k: usize| crate::math64::sin_cos(k as f64 * 1.7 + 0.3).0;
        (0..goals * vars).map(|k| core::array::from_fn(|i| value(k * ROWS + i))).collect()
    }

    /// Asserts that y solves its equations, by the definition.
    fn check(
        columns: &[[f64; ROWS]],
        goals: usize,
        vars: usize,
        held: Option<(usize, f64)>,
        y: &[f64],
        damping: f64,
    ) {
        let residual = |r: usize| 0.3 + r as f64;
        for r in 0..goals * ROWS {
            let at = |var: usize, r: usize| columns[(r / ROWS) * vars + var][r % ROWS];
            let mut left = residual(r);
            let mut sum = damping * y[r];
            for var in 0..vars {
                match held {
                    Some((v, step)) if v == var => left -= at(var, r) * step,
                    _ => sum += at(var, r) * (0..goals * ROWS).map(|k| at(var, k) * y[k]).sum::<f64>(),
                }
            }
            assert!((sum - left).abs() < 1e-9, "{r}: {sum} {left}");
        }
    }

    #[test]
    fn both_forms_solve_their_equations() {
        let residual = |goals: usize| -> Vec<[f64; ROWS]> {
            (0..goals).map(|g| core::array::from_fn(|i| 0.3 + (g * ROWS + i) as f64)).collect()
        };
        for held in [None, Some((2, 0.7))] {
            let (one, three) = (columns(1, 9), columns(3, 9));
            let mut six = Six::default();
            six.form(&one, &residual(1));
            six.release();
            let mut many = Many::default();
            many.fit(3, 9);
            many.form(&three, &residual(3));
            many.release();
            if let Some((var, step)) = held {
                six.hold(|_| one[var], step);
                many.hold(|goal| three[goal * 9 + var], step);
            }
            six.solve(0.1);
            check(&one, 1, 9, held, &six.y, 0.1);
            many.solve(0.1);
            check(&three, 3, 9, held, &many.y, 0.1);
            let step: f64 =
                (0..3).map(|g| (0..6).map(|i| three[g * 9 + 4][i] * many.y[g * 6 + i]).sum::<f64>()).sum();
            assert!((many.step(&three, 4) - step).abs() < 1e-12);
        }
    }
}
