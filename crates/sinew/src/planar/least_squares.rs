//! Damped least squares within the limits, for the end of a solve.

use glam::Vec2;

use super::{Chain2d, length, wrap};

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
        let (mut left, mut factor) = (length(goal - self.work.positions[n]), 0.1f32);
        let (mut steps, mut failed) = (0, 0);
        while steps < max_steps && left > near && failed < 5 {
            steps += 1;
            let end = self.work.positions[n];
            let off = (goal - end) / size;
            let squared_residual = off.length_squared();
            let (mut xx, mut xy, mut yy) = (0.0f32, 0.0, 0.0);
            for i in 0..n {
                if !self.work.held[i] {
                    let c = (end - self.work.positions[i]).perp() / size;
                    (xx, xy, yy) = (xx + c.x * c.x, xy + c.x * c.y, yy + c.y * c.y);
                }
            }
            let mu = factor * squared_residual + 1e-9;
            (xx, yy) = (xx + mu, yy + mu);
            let determinant = (xx * yy - xy * xy).max(1e-18);
            let y = Vec2::new(yy * off.x - xy * off.y, xx * off.y - xy * off.x) / determinant;
            self.step_within(|at| (end - at).perp().dot(y) / size);
            self.walk();
            let now = length(goal - self.work.positions[n]);
            if now < left {
                failed = if now > 0.99 * left { failed + 1 } else { 0 };
                (left, factor) = (now, factor * 0.25);
            } else {
                Self::restore(&mut self.bones, &self.work.kept);
                self.walk();
                (factor, failed) = ((factor * 8.0).max(1e-3), failed + 1);
            }
        }
        steps
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
