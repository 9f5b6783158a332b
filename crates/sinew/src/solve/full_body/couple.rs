//! Coupling of several bodies by constraint rows, for loops and balance.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    column::{Column, State},
    cost::{BallDofs, Twist, add, dot, scale, wide},
    figure_state::{FigureState, NONE},
    step::Body,
    tasks::{Bodies, Row},
};
use crate::{math, solve::cholesky::cholesky};

/// Buffers of [`Coupling::add`].
#[derive(Debug, Default)]
pub(super) struct Coupling {
    /// Wrench of the current row on every node.
    wrenches: Vec<Twist>,
    /// Motion of each column per row, row by row.
    responses: Vec<f64>,
    /// Torque on each ball and its rotation per row, row by row.
    ball_responses: Vec<([f64; 3], [f64; 3])>,
    /// Matrix (lower half) and right-hand side of the system for the rows' multipliers.
    matrix: Vec<f64>,
    rhs: Vec<f64>,
}

impl Coupling {
    /// Reserves memory for these numbers of nodes and columns, and a maximum number of rows.
    pub fn fit(&mut self, nodes: usize, columns: usize, rows: usize) {
        self.wrenches.resize(nodes, Twist::ZERO);
        // The buffers only grow, as each row is written before it is read.
        self.responses.resize(self.responses.len().max(rows * columns), 0.0);
        self.ball_responses.resize(self.ball_responses.len().max(rows * nodes), ([0.0; 3], [0.0; 3]));
        self.matrix.resize(self.matrix.len().max(rows * rows), 0.0);
        self.rhs.resize(self.rhs.len().max(rows), 0.0);
    }

    /// Updates the dofs' motions for rows that couple several bodies.
    ///
    /// With H the Hessian of the tree-structured cost and C the rows, (H + C'C) x = g + C'e has the solution x = H^-1 (g +
    /// C'l) with (1 + S) l = e - C H^-1 g and S = C H^-1 C' (Woodbury identity). The inward pass has factored H = L D L'.
    /// Each row's wrenches go through the same recursion as g, which makes S and C H^-1 g sums of products over the dofs.
    pub fn add(
        &mut self,
        columns: &mut [Column],
        bodies: &[Body],
        balls: &mut [BallDofs],
        figure: &FigureState,
        rows: &[Row],
        masses: &[(f64, Vec3)],
    ) {
        let (n, count) = (rows.len(), columns.len());
        let nodes = figure.nodes.len();
        for (r, row) in rows.iter().enumerate() {
            for p in &mut self.wrenches {
                *p = Twist::ZERO;
            }
            match row.on {
                Bodies::One(node, wrench) => self.wrenches[node] = wrench,
                Bodies::All(force) => {
                    for ((wrench, (mass, centre)), frame) in
                        self.wrenches.iter_mut().zip(masses).zip(&figure.frames)
                    {
                        let at_centre = Twist { t: [0.0; 3], v: scale(force, *mass) };
                        *wrench = at_centre.acts_at(wide(math::rotate(frame.rotation, *centre)));
                    }
                }
            }
            if let Some((node, wrench)) = row.other {
                self.wrenches[node] = self.wrenches[node].plus(&wrench);
            }
            let responses = &mut self.responses[r * count..(r + 1) * count];
            let ball_responses = &mut self.ball_responses[r * nodes..(r + 1) * nodes];
            for i in (0..nodes).rev() {
                let (above, below) = self.wrenches.split_at_mut(i);
                let wrench = &mut below[0];
                let Body { first, end, .. } = bodies[i];
                ball_responses[i] = ([0.0; 3], [0.0; 3]);
                if *wrench == Twist::ZERO {
                    responses[first..end].fill(0.0);
                    continue;
                }
                if bodies[i].active.free_ball {
                    let (rest, response) = balls[i].pass(wrench);
                    ball_responses[i] = (wrench.t, response);
                    *wrench = rest;
                }
                let all = *wrench;
                for (c, response) in columns[first..end].iter().zip(&mut responses[first..end]) {
                    *response = match c.state {
                        State::Idle => 0.0,
                        State::Blocked => c.along(&all),
                        State::Free => {
                            let response = c.along(wrench) * c.inverse;
                            *wrench = wrench.plus(&c.h.times(-response));
                            response
                        }
                    };
                }
                let parent = figure.nodes[i].parent;
                if parent != NONE {
                    let r = wide(figure.frames[i].at - figure.frames[parent].at);
                    above[parent] = above[parent].plus(&wrench.acts_at(r));
                }
            }
        }
        for (r, row) in rows.iter().enumerate() {
            let responses = &self.responses[r * count..(r + 1) * count];
            let ball_responses = &self.ball_responses[r * nodes..(r + 1) * nodes];
            let mut reached = 0.0;
            for (c, response) in columns.iter().zip(responses) {
                if c.state == State::Free && *response != 0.0 {
                    reached += response * c.c / c.inverse;
                }
            }
            // The step does not write balls that are blocked, which may hold values of an earlier step.
            for ((w, body), (wrench, _)) in balls.iter().zip(bodies).zip(ball_responses) {
                if body.active.free_ball {
                    reached += dot(*wrench, w.c);
                }
            }
            self.rhs[r] = row.residual - reached;
            for q in 0..=r {
                let other = &self.responses[q * count..(q + 1) * count];
                let mut sum = if q == r { 1.0 } else { 0.0 };
                for ((c, a), b) in columns.iter().zip(responses).zip(other) {
                    if c.state == State::Free && *a != 0.0 {
                        sum += a * b / c.inverse;
                    }
                }
                let other = &self.ball_responses[q * nodes..(q + 1) * nodes];
                for ((wrench, _), (_, response)) in ball_responses.iter().zip(other) {
                    sum += dot(*wrench, *response);
                }
                self.matrix[r * n + q] = sum;
            }
        }
        cholesky(&mut self.matrix, n, &mut self.rhs[..n]);
        for r in 0..n {
            let multiplier = self.rhs[r];
            for (c, response) in columns.iter_mut().zip(&self.responses[r * count..(r + 1) * count]) {
                c.c += multiplier * response;
            }
            let responses = &self.ball_responses[r * nodes..(r + 1) * nodes];
            for ((w, body), (_, response)) in balls.iter_mut().zip(bodies).zip(responses) {
                if body.active.free_ball {
                    w.c = add(w.c, scale(*response, multiplier));
                }
            }
        }
    }
}
