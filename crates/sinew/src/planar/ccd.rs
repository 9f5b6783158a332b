//! Cyclic coordinate descent.

use glam::Vec2;

use super::{Chain2d, angle, turned, unit, wrap};

impl Chain2d {
    /// Makes one sweep: from the tip inward, each joint turns its line to the end onto its line to the goal.
    pub(super) fn sweep_ccd(&mut self, goal: Vec2, damping: f32, max_step: f32) {
        self.walk();
        let mut end = self.work.positions[self.bones.len()];
        for i in (0..self.bones.len()).rev() {
            let at = self.work.positions[i];
            let wanted = angle(end - at, goal - at) * (1.0 - damping);
            let here = wrap(self.bones[i].angle);
            let to = here + wanted.clamp(-max_step, max_step);
            let (from, limit) = self.work.spans[i];
            // Move along the range, never round the back.
            self.bones[i].angle = wrap(to.clamp(from, limit));
            end = at + turned(end - at, unit(self.bones[i].angle - here));
        }
    }
}
