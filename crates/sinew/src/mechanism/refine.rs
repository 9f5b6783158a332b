//! Goals of lower priority, and objectives, in the null space of goals of higher priority.
//!
//! A step is built level by level (Baerlocher & Boulic 2004). Each level's residual, less the effect of the steps so far, is
//! solved for in the null space N of the levels above,
//!
//! ```text
//! d += (J N)^T ((J N)(J N)^T + damping)^-1 (e - J d),      N -= (J N)^T ((J N)(J N)^T)^-1 (J N),
//! ```
//!
//! and the descent of the objectives is projected on the last N. Variables that would pass a limit are held on it and left
//! out, as in `descent.rs`. A few iterations of the first level alone follow each step, since its null space is linear only
//! nearby. The step is kept if it is lexicographically better: no level got worse above the first that got better.

use alloc::vec::Vec;

use super::{
    descent::{Descent, End, Until, along_normal, look},
    model::Frames,
    normal::{ROWS, dot, ldl_solve},
    objective::ObjectiveSum,
    plan::{Aim, Plan, Sight},
};

/// Smallest relative change of a level's squared residual that counts as better or worse.
const EQUAL: f64 = 1e-9;
/// Smallest relative gain of a step that is worth another.
const ENOUGH: f64 = 1e-7;
/// Damping of the null spaces. Beside columns of the length of a radian, a hundred thousandth of a radian counts as free.
const RANK: f64 = 1e-10;
/// Damping of a lower level, as a share of its squared residual; see `descent.rs`.
const DAMPING: f64 = 0.1;

/// State and scratch memory.
#[derive(Default)]
pub(super) struct Refine {
    objective: ObjectiveSum,
    frames: Frames,
    sights: Vec<Sight>,
    /// Columns of a level in its null space, row by row: rows x variables.
    rows: Vec<f64>,
    gram: Vec<f64>,
    y: Vec<f64>,
    columns: Vec<[f64; ROWS]>,
    null: Vec<f64>,
    step: Vec<f64>,
    slope: Vec<f64>,
    curve: Vec<f64>,
    held: Vec<bool>,
    /// Normal of each swing that is held on its ellipse, and the step along it.
    walls: Vec<Option<([f64; 2], f64)>>,
    kept: Vec<f64>,
    /// Squared residuals by level, then the sum of the objectives, of the kept values and of a trial.
    best: Vec<f64>,
    trial: Vec<f64>,
}

impl Refine {
    /// Allocates for a plan.
    pub fn fit(&mut self, plan: &Plan) {
        // Without lower levels none of this is used, and the square of a long chain's variables is much memory.
        if !plan.has_lower_levels() {
            return;
        }
        let (n, goals) = (plan.vars.len(), plan.goals());
        let max = plan.levels.iter().map(Vec::len).max().unwrap_or(0) * ROWS;
        self.objective.fit(plan);
        plan.fit(&mut self.frames);
        self.sights.resize(goals, Sight::default());
        self.columns.resize(goals * n, [0.0; ROWS]);
        self.held.resize(n, false);
        self.walls.resize(plan.swings.len(), None);
        let Self { rows, gram, y, null, step, slope, curve, kept, best, trial, .. } = self;
        [step, slope, curve, kept].into_iter().for_each(|line| line.resize(n, 0.0));
        [best, trial].into_iter().for_each(|line| line.resize(plan.levels.len() + 1, 0.0));
        rows.resize(max * n, 0.0);
        gram.resize(max * max, 0.0);
        y.resize(max, 0.0);
        null.resize(n * n, 0.0);
    }

    /// Improves the lower levels from `descent.values`, where a run of the first level ended. `until` holds the tolerances
    /// of the first level and the maximum number of steps. `first` are the goals with weights on the first level alone.
    pub fn run(&mut self, plan: &Plan, aims: &[Aim], first: &[Aim], descent: &mut Descent, until: &Until) {
        self.kept.copy_from_slice(&descent.values);
        let reached = self.measure(plan, aims, until, &descent.values);
        core::mem::swap(&mut self.best, &mut self.trial);
        let mut share = 1.0;
        for _ in 0..until.iterations {
            descent.iterations += 1;
            self.step(plan, aims, descent, share);
            let restore = Until { iterations: 5, stall: 1.0, ..*until };
            let end = descent.run(plan, first, &restore);
            let _ = self.measure(plan, aims, until, &descent.values);
            // Once the first level is reached, its squares below the tolerance do not matter.
            let kept =
                if reached { end == End::Reached } else { self.trial[0] <= self.best[0] * (1.0 + 1e-6) };
            if kept && self.better(reached) {
                let won: f64 = self
                    .best
                    .iter()
                    .zip(&self.trial)
                    .skip(1)
                    .map(|(b, t)| (b - t) / b.abs().max(1e-12))
                    .sum();
                core::mem::swap(&mut self.best, &mut self.trial);
                self.kept.copy_from_slice(&descent.values);
                if won < ENOUGH {
                    break;
                }
                share = (share * 2.0).min(1.0);
            } else {
                descent.values.copy_from_slice(&self.kept);
                share *= 0.25;
                if share < 1e-4 {
                    break;
                }
            }
        }
        descent.values.copy_from_slice(&self.kept);
    }

    /// Writes squared residuals by level and the sum of the objectives to `trial`, and returns whether the first level is
    /// within the tolerances.
    fn measure(&mut self, plan: &Plan, aims: &[Aim], until: &Until, values: &[f64]) -> bool {
        plan.place(values, &mut self.frames);
        look(plan, aims, &self.frames, &mut self.sights);
        let cost = |g: &usize| dot(&self.sights[*g].miss.residual, &self.sights[*g].miss.residual);
        for (out, level) in self.trial.iter_mut().zip(&plan.levels) {
            *out = level.iter().map(cost).sum();
        }
        self.trial[plan.levels.len()] = self.objective.at(plan, aims, values);
        plan.levels[0].iter().all(|g| {
            let miss = self.sights[*g].miss;
            miss.position <= until.position && miss.rotation <= until.rotation
        })
    }

    /// Whether the trial is better than the best; the first level that differs decides.
    fn better(&self, reached: bool) -> bool {
        let from = usize::from(reached);
        for (level, (b, t)) in self.best.iter().zip(&self.trial).enumerate().skip(from) {
            // Squares of a thousandth of the usual tolerance are noise, whatever their ratio.
            let noise = EQUAL * b.abs() + if level + 1 < self.best.len() { 1e-18 } else { 0.0 };
            if *t < b - noise {
                return true;
            }
            if *t > b + noise {
                return false;
            }
        }
        false
    }

    /// Writes the kept values plus a step to `descent.values`. The step aims at `share` of the lower levels' residuals.
    fn step(&mut self, plan: &Plan, aims: &[Aim], descent: &mut Descent, share: f64) {
        let n = self.kept.len();
        plan.place(&self.kept, &mut self.frames);
        for (goal, aim) in aims.iter().enumerate() {
            self.sights[goal] = plan.look(goal, aim, &self.frames);
            let part = &mut self.columns[goal * n..][..n];
            plan.columns(goal, aim, &self.frames, &self.sights[goal], part);
        }
        self.objective.descent(plan, aims, &self.kept, &mut self.slope, &mut self.curve);
        self.held.fill(false);
        self.walls.fill(None);
        self.step.fill(0.0);
        for _ in 0..4 {
            self.solve(plan, share);
            let mut met = false;
            for i in 0..n {
                let to = self.kept[i] + self.step[i] * plan.scale[i];
                let inside = to.max(descent.lower[i]).min(descent.upper[i]);
                descent.values[i] = inside;
                if inside != to && !self.held[i] && plan.scale[i] > 0.0 {
                    self.held[i] = true;
                    self.step[i] = (inside - self.kept[i]) / plan.scale[i];
                    met = true;
                }
            }
            for (&(at, swing), wall) in plan.swings.iter().zip(&mut self.walls) {
                let to = [descent.values[at], descent.values[at + 1]];
                let mut on = swing.nearest(to);
                if on == to {
                    continue;
                }
                let kept = [self.kept[at], self.kept[at + 1]];
                if [0, 1].iter().any(|&k| on[k] < descent.lower[at + k] || on[k] > descent.upper[at + k]) {
                    // Narrow bounds may lie outside the ellipse, which is ignored then.
                    on = if swing.holds(kept) { swing.on_the_way(kept, to) } else { to };
                }
                [descent.values[at], descent.values[at + 1]] = on;
                met |= wall.is_none();
                *wall = along_normal(&swing, kept, on, [plan.scale[at], plan.scale[at + 1]]);
            }
            if !met {
                break;
            }
        }
    }

    /// Solves one step through all levels, with held variables at their steps.
    fn solve(&mut self, plan: &Plan, share: f64) {
        let n = self.step.len();
        self.null.fill(0.0);
        for i in 0..n {
            if !self.held[i] {
                self.null[i * n + i] = 1.0;
                self.step[i] = 0.0;
            }
        }
        // A swing on its ellipse is free along the tangent.
        for (&(at, _), wall) in plan.swings.iter().zip(&self.walls) {
            let Some(([x, y], along)) = *wall else { continue };
            if self.held[at] || self.held[at + 1] {
                continue;
            }
            let tangent = [-y, x];
            for i in 0..2 {
                for j in 0..2 {
                    self.null[(at + i) * n + at + j] = tangent[i] * tangent[j];
                }
            }
            (self.step[at], self.step[at + 1]) = (x * along, y * along);
        }
        for (level, goals) in plan.levels.iter().enumerate() {
            let m = goals.len() * ROWS;
            // (J N), and the residual less the effect of the steps so far.
            for (a, &goal) in goals.iter().enumerate() {
                let columns = &self.columns[goal * n..][..n];
                for r in 0..ROWS {
                    let row = &mut self.rows[(a * ROWS + r) * n..][..n];
                    row.fill(0.0);
                    let mut left = self.sights[goal].miss.residual[r] * if level == 0 { 1.0 } else { share };
                    for (j, c) in columns.iter().enumerate() {
                        left -= c[r] * self.step[j];
                        if c[r] != 0.0 {
                            for (cell, null) in row.iter_mut().zip(&self.null[j * n..][..n]) {
                                *cell += c[r] * null;
                            }
                        }
                    }
                    self.y[a * ROWS + r] = left;
                }
            }
            let damping = RANK + if level == 0 { 0.0 } else { DAMPING * self.best[level] };
            self.form(m, n);
            ldl_solve(&mut self.gram[..m * m], &mut self.y[..m], damping);
            for r in 0..m {
                for (s, cell) in self.step.iter_mut().zip(&self.rows[r * n..][..n]) {
                    *s += cell * self.y[r];
                }
            }
            // N -= (J N)^T G^-1 (J N), a column of N at a time.
            for j in 0..n {
                if self.held[j] {
                    continue;
                }
                self.form(m, n);
                for r in 0..m {
                    self.y[r] = self.rows[r * n + j];
                }
                ldl_solve(&mut self.gram[..m * m], &mut self.y[..m], RANK);
                for i in 0..n {
                    let sum: f64 = (0..m).map(|r| self.rows[r * n + i] * self.y[r]).sum();
                    self.null[i * n + j] -= sum;
                }
            }
        }
        // Gradient step of the objectives in the remaining null space, scaled by their largest curvature.
        let max = self.curve.iter().copied().fold(0.0, f64::max);
        if max > 0.0 {
            for i in (0..n).filter(|&i| !self.held[i]) {
                let sum: f64 = (0..n).map(|j| self.null[i * n + j] * self.slope[j]).sum();
                self.step[i] += share * sum / max;
            }
        }
    }

    /// Computes the lower triangle of (J N)(J N)^T.
    fn form(&mut self, m: usize, n: usize) {
        for i in 0..m {
            for j in 0..=i {
                let (a, b) = (&self.rows[i * n..][..n], &self.rows[j * n..][..n]);
                self.gram[i * m + j] = a.iter().zip(b).map(|(a, b)| a * b).sum();
            }
        }
    }
}
