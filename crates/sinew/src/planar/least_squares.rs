//! Damped least squares within the limits, for the end of a solve.

use glam::Vec2;

use super::{Chain2d, length, wrap};
use crate::solve::descent::{Descent, Measured, Patience};

/// Maximum turn of a joint in one step, in radians. The linearisation of the end's path fails beyond 1 rad.
const FURTHEST: f32 = 0.8;

impl Chain2d {
    /// Steps until the end is within `near` of the goal, `max_steps` steps are made, or no step reduces the residual. Never
    /// increases the residual. Returns the number of steps.
    ///
    /// A joint moves the end perpendicular to its line to the end, so the columns of J are the vectors from the joints
    /// to the end, turned by a right angle. With r the residual, the step J^T y with (J J^T + mu) y = r is the smallest
    /// that removes most of r (Wampler 1986). The damping mu is proportional to the squared residual (Sugihara 2011). A
    /// joint that met its limit is left out of further steps until its own step points back inside.
    pub(super) fn least_squares(&mut self, goal: Vec2, near: f32, max_steps: u32) -> u32 {
        let n = self.bones.len();
        let size = self.size();
        self.work.held.fill(false);
        self.walk();
        let measured = |chain: &Self| {
            let left = length(goal - chain.work.positions[n]);
            Measured { cost: left.into(), met: left <= near }
        };
        let step = |chain: &mut Self, factor, _| {
            let work = &chain.work;
            let end = work.positions[n];
            let off = (goal - end) / size;
            let (mut xx, mut xy, mut yy) = (0.0f32, 0.0, 0.0);
            for (at, _) in work.positions.iter().zip(&work.held).filter(|(_, held)| !**held) {
                let c = (end - at).perp() / size;
                (xx, xy, yy) = (xx + c.x * c.x, xy + c.x * c.y, yy + c.y * c.y);
            }
            let mu = factor as f32 * off.length_squared() + 1e-9;
            (xx, yy) = (xx + mu, yy + mu);
            let determinant = (xx * yy - xy * xy).max(1e-18);
            let y = Vec2::new(yy * off.x - xy * off.y, xx * off.y - xy * off.x) / determinant;
            chain.step_within(|at| (end - at).perp().dot(y) / size);
            chain.walk();
            Some(measured(chain))
        };
        let undo = |chain: &mut Self| {
            Self::restore(&mut chain.bones, &chain.work.kept);
            chain.walk();
        };
        Descent::new(measured(self), 0.1).run(self, max_steps, Patience::CHAIN, step, undo)
    }

    /// Turns each joint by `step`, a function of its position. Scales all turns alike if one would exceed [`FURTHEST`].
    /// A joint that meets its limit stops there and is held; a held joint that wants to turn back moves from the next
    /// step on. Saves the angles beforehand.
    pub(super) fn step_within(&mut self, step: impl Fn(Vec2) -> f32) {
        Self::keep(&self.bones, &mut self.work.kept);
        let mut furthest = 0.0f32;
        for (i, bone) in self.bones.iter().enumerate() {
            let step = step(self.work.positions[i]);
            let (from, to) = self.work.spans[i];
            let at = wrap(bone.angle);
            if self.work.held[i] && ((at <= from && step > 0.0) || (at >= to && step < 0.0)) {
                self.work.held[i] = false;
            } else if !self.work.held[i] {
                furthest = furthest.max(step.abs());
            }
        }
        let scale = if furthest > FURTHEST { FURTHEST / furthest } else { 1.0 };
        for (i, bone) in self.bones.iter_mut().enumerate() {
            if self.work.held[i] {
                continue;
            }
            let (from, to) = self.work.spans[i];
            let wanted = wrap(bone.angle) + step(self.work.positions[i]) * scale;
            let put = wanted.clamp(from, to);
            self.work.held[i] = put != wanted;
            bone.angle = wrap(put);
        }
    }
}
