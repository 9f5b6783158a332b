//! Damped least squares within the limits, for the end of a solve.

use glam::Vec2;

use super::{Chain2d, length, wrap};

/// No joint turns further than this in one step: beyond, the end's way is no line any more.
const FURTHEST: f32 = 0.8;

impl Chain2d {
    /// Steps until the end is within `near` of the goal, `most` are made, or none leads nearer. Never leaves the end
    /// further off. Gives the number of steps.
    ///
    /// A joint that turns moves the end across its line to it: the columns of J are the ways from the joints to the end,
    /// turned by a right angle. The step J^T y with (J J^T + mu) y = what is missing is the least that takes most of that
    /// away (Wampler 1986); the damping mu falls with the square of what is missing (Sugihara 2011). A joint that met its
    /// limit is left out of the next steps until the whole wants to turn it back.
    pub(super) fn least_squares(&mut self, goal: Vec2, near: f32, most: u32) -> u32 {
        let n = self.bones.len();
        let size = self.size();
        self.work.held.fill(false);
        self.walk();
        let (mut left, mut factor) = (length(goal - self.work.places[n]), 0.1f32);
        let (mut steps, mut failed) = (0, 0);
        while steps < most && left > near && failed < 5 {
            steps += 1;
            let end = self.work.places[n];
            let off = (goal - end) / size;
            let missing = off.length_squared();
            let (mut xx, mut xy, mut yy) = (0.0f32, 0.0, 0.0);
            for i in 0..n {
                if !self.work.held[i] {
                    let c = (end - self.work.places[i]).perp() / size;
                    (xx, xy, yy) = (xx + c.x * c.x, xy + c.x * c.y, yy + c.y * c.y);
                }
            }
            let mu = factor * missing + 1e-9;
            (xx, yy) = (xx + mu, yy + mu);
            let determinant = (xx * yy - xy * xy).max(1e-18);
            let y = Vec2::new(yy * off.x - xy * off.y, xx * off.y - xy * off.x) / determinant;
            self.step_within(|at| (end - at).perp().dot(y) / size);
            self.walk();
            let now = length(goal - self.work.places[n]);
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

    /// Turns each joint by what `step` says for its place, all by the same share where one would go further than
    /// [`FURTHEST`]. One that meets its limit stops there and is held; one that is held and wants to turn back moves from
    /// the next step on. The joints as they were are kept.
    pub(super) fn step_within(&mut self, step: impl Fn(Vec2) -> f32) {
        Self::keep(&self.bones, &mut self.work.kept);
        let mut furthest = 0.0f32;
        for (i, bone) in self.bones.iter().enumerate() {
            let step = step(self.work.places[i]);
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
            let wanted = wrap(bone.angle) + step(self.work.places[i]) * scale;
            let put = wanted.clamp(from, to);
            self.work.held[i] = put != wanted;
            bone.angle = wrap(put);
        }
    }
}
