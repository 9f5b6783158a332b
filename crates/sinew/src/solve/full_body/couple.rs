//! What concerns several joints of the tree at once: loops and balance.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    branches::{Branches, NONE},
    column::{Column, State},
    cost::{Twist, Whole, add, dot, scale, wide},
    step::Body,
    tasks::{Pushed, Row},
};
use crate::math;

/// Room for what rows share out among the freedoms.
#[derive(Clone, Debug)]
pub(super) struct Coupling {
    /// Pushes of one row on every node.
    pushes: Vec<Twist>,
    /// The columns' own motions for each row, a row after the other.
    shares: Vec<f64>,
    /// The same of joints that turn as a whole, with the push on each.
    whole_shares: Vec<([f64; 3], [f64; 3])>,
    /// Left side, lower half, and right side of what the rows weigh.
    left: Vec<f64>,
    right: Vec<f64>,
}

impl Coupling {
    /// For so many nodes and columns, and so many rows at most.
    pub fn new(nodes: usize, columns: usize, rows: usize) -> Self {
        Self {
            pushes: alloc::vec![Twist::ZERO; if rows > 0 { nodes } else { 0 }],
            shares: alloc::vec![0.0; rows * columns],
            whole_shares: alloc::vec![([0.0; 3], [0.0; 3]); rows * nodes],
            left: alloc::vec![0.0; rows * rows],
            right: alloc::vec![0.0; rows],
        }
    }

    /// Adds what rows ask that concern several joints at once.
    ///
    /// With H what single joints ask and C the rows, (H + C'C) x = g + C'e is x = H^-1 (g + C'l) with (1 + S) l = e - C H^-1
    /// g and S = C H^-1 C' (Woodbury). The pass inward has H in factors, H = L D L': with the pushes of a row taken inward
    /// as g was, S and C H^-1 g are sums over the freedoms of products of their shares.
    pub fn add(
        &mut self,
        columns: &mut [Column],
        bodies: &[Body],
        wholes: &mut [Whole],
        branches: &Branches,
        rows: &[Row],
        masses: &[(f64, Vec3)],
    ) {
        let (n, count) = (rows.len(), columns.len());
        let nodes = branches.nodes.len();
        for (r, row) in rows.iter().enumerate() {
            for p in &mut self.pushes {
                *p = Twist::ZERO;
            }
            match row.on {
                Pushed::One(node, push) => self.pushes[node] = push,
                Pushed::All(force) => {
                    for ((push, (mass, centre)), frame) in
                        self.pushes.iter_mut().zip(masses).zip(&branches.frames)
                    {
                        let push_at = Twist { t: [0.0; 3], v: scale(force, *mass) };
                        *push = push_at.acts_at(wide(math::rotate(frame.turn, *centre)));
                    }
                }
            }
            if let Some((node, push)) = row.other {
                self.pushes[node] = self.pushes[node].plus(&push);
            }
            let shares = &mut self.shares[r * count..(r + 1) * count];
            let whole_shares = &mut self.whole_shares[r * nodes..(r + 1) * nodes];
            for i in (0..nodes).rev() {
                let (above, below) = self.pushes.split_at_mut(i);
                let push = &mut below[0];
                let Body { first, end, .. } = bodies[i];
                whole_shares[i] = ([0.0; 3], [0.0; 3]);
                if *push == Twist::ZERO {
                    shares[first..end].fill(0.0);
                    continue;
                }
                if bodies[i].walls.whole {
                    let (rest, share) = wholes[i].pass(push);
                    whole_shares[i] = (push.t, share);
                    *push = rest;
                }
                let all = *push;
                for (c, share) in columns[first..end].iter().zip(&mut shares[first..end]) {
                    *share = match c.state {
                        State::Idle => 0.0,
                        State::Wall => c.along(&all),
                        State::Open => {
                            let share = c.along(push) * c.inverse;
                            *push = push.plus(&c.h.times(-share));
                            share
                        }
                    };
                }
                let parent = branches.nodes[i].parent;
                if parent != NONE {
                    let r = wide(branches.frames[i].at - branches.frames[parent].at);
                    above[parent] = above[parent].plus(&push.acts_at(r));
                }
            }
        }
        for (r, row) in rows.iter().enumerate() {
            let shares = &self.shares[r * count..(r + 1) * count];
            let whole_shares = &self.whole_shares[r * nodes..(r + 1) * nodes];
            let mut given = 0.0;
            for (c, share) in columns.iter().zip(shares) {
                if c.state == State::Open && *share != 0.0 {
                    given += share * c.c / c.inverse;
                }
            }
            for (w, (push, _)) in wholes.iter().zip(whole_shares) {
                given += dot(*push, w.c);
            }
            self.right[r] = row.missing - given;
            for q in 0..=r {
                let other = &self.shares[q * count..(q + 1) * count];
                let mut sum = if q == r { 1.0 } else { 0.0 };
                for ((c, a), b) in columns.iter().zip(shares).zip(other) {
                    if c.state == State::Open && *a != 0.0 {
                        sum += a * b / c.inverse;
                    }
                }
                let other = &self.whole_shares[q * nodes..(q + 1) * nodes];
                for ((push, _), (_, share)) in whole_shares.iter().zip(other) {
                    sum += dot(*push, *share);
                }
                self.left[r * n + q] = sum;
            }
        }
        cholesky(&mut self.left[..n * n], &mut self.right[..n]);
        for r in 0..n {
            let weight = self.right[r];
            for (c, share) in columns.iter_mut().zip(&self.shares[r * count..(r + 1) * count]) {
                c.c += weight * share;
            }
            let shares = &self.whole_shares[r * nodes..(r + 1) * nodes];
            for (w, (_, share)) in wholes.iter_mut().zip(shares) {
                w.c = add(w.c, scale(*share, weight));
            }
        }
    }
}

/// Solves a symmetric positive definite system of which the lower half is given, by Cholesky's factors without roots;
/// `right` becomes the solution.
fn cholesky(left: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for j in 0..n {
        for i in j..n {
            let mut sum = left[i * n + j];
            for k in 0..j {
                sum -= left[i * n + k] * left[j * n + k] * left[k * n + k];
            }
            left[i * n + j] = if i == j { sum } else { sum / left[j * n + j] };
        }
    }
    for i in 0..n {
        for k in 0..i {
            right[i] -= left[i * n + k] * right[k];
        }
    }
    for i in (0..n).rev() {
        right[i] /= left[i * n + i];
        for k in i + 1..n {
            right[i] -= left[k * n + i] * right[k];
        }
    }
}
