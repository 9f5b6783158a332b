//! Enumeration of the configurations that reach a goal: elbow up and down, wrist flipped, shoulder behind.

use alloc::vec::Vec;

use super::{
    DofKind, JointSpaceError, JointSpaceOptions, JointSpaceSolver, LinkGoal, ball,
    descent::End,
    plan::Var,
    solver::{LATER, Scratch, nearest_turn},
};
use crate::Workspace;

/// Largest difference of two equal answers in every joint, in radians; for sliders, as a share of the radian's length. Runs
/// end within the tolerance, 1e-6, of an answer. Where two branches meet, that may be a thousand times as far along them.
const SAME: f64 = 0.01;

impl JointSpaceSolver {
    /// Finds the distinct values that reach the goals, nearest to `start` first, and returns the number of starting points.
    /// Runs begin at `start` and at [`JointSpaceOptions::max_restarts`] other points. Of values that differ by whole turns,
    /// the one nearest to `start` is listed. An arm of six revolute joints has up to sixteen. The search samples, so it may
    /// miss an answer that few starts lead to (the lab counts how many). Only goals of the first priority count.
    ///
    /// # Errors
    ///
    /// Returns [`JointSpaceError::Redundant`] where the goals have more degrees of freedom than directions, since the
    /// answers are then infinitely many. Also returns the errors of [`solve`](Self::solve).
    pub fn solve_all(
        &self,
        workspace: &mut Workspace,
        goals: &[LinkGoal],
        start: &[f64],
        found: &mut Vec<Vec<f64>>,
        options: &JointSpaceOptions,
    ) -> Result<u32, JointSpaceError> {
        found.clear();
        let s: &mut Scratch = workspace.scratch();
        self.begin(s, goals, start, options)?;
        let Scratch { aims, descent, cursor, start: from, .. } = s;
        let directions: usize = aims.iter().map(|a| a.weights.iter().filter(|w| **w > 0.0).count()).sum();
        let dofs = self.plan.vars.len();
        if dofs > directions {
            return Err(JointSpaceError::Redundant { dofs, directions });
        }
        self.seeds.begin(&self.plan, aims, cursor);
        let mut points = 0;
        loop {
            if descent.run(&self.plan, aims, &descent.until(options, LATER)) == End::Reached {
                self.keep(&mut descent.values, start, found);
            }
            points += 1;
            if points > options.max_restarts || descent.iterations >= options.max_iterations {
                break;
            }
            self.seeds.take(&self.plan, cursor, &mut descent.values);
            self.plan.lock(from, &mut descent.values);
        }
        let far = |values: &[f64]| -> f64 {
            self.plan
                .vars
                .iter()
                .map(|v| (values[v.dof] - start[v.dof]) * (values[v.dof] - start[v.dof]))
                .sum()
        };
        found.sort_by(|a, b| far(a).total_cmp(&far(b)));
        Ok(points)
    }

    /// Adds the end of a run to the list, unless an equal answer is in it.
    fn keep(&self, end: &mut [f64], start: &[f64], found: &mut Vec<Vec<f64>>) {
        let mut values = start.to_vec();
        self.hand_out(end, &mut values, &JointSpaceOptions::new());
        let same = |other: &Vec<f64>| {
            let vectors = self.plan.vectors.iter().all(|&at| {
                let [a, b] = [&values, other].map(|v| [0, 1, 2].map(|k| v[self.plan.vars[at + k].dof]));
                let near = ball::nearest_vector(a, b);
                (0..3).all(|k| (near[k] - b[k]).abs() < SAME)
            });
            let alone = |var: &&Var| var.kind != DofKind::Vector;
            vectors
                && self.plan.vars.iter().filter(alone).all(|var| {
                    let mut d = values[var.dof] - other[var.dof];
                    if var.periodic {
                        d = nearest_turn(d, 0.0, f64::NEG_INFINITY, f64::INFINITY);
                    }
                    d.abs() < if var.slides() { SAME * self.plan.length } else { SAME }
                })
        };
        if !found.iter().any(same) {
            found.push(values);
        }
    }
}
