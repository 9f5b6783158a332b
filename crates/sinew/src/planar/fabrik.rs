//! Forward and backward reaching (FABRIK).

use glam::Vec2;

use super::{Chain2d, angle, chain::nearest, length, turned, unit};

impl Chain2d {
    /// Makes one sweep (Aristidou & Lasenby 2011), with limits in both passes.
    pub(super) fn sweep_fabrik(&mut self, goal: Vec2) {
        self.walk();
        let n = self.bones.len();
        // Backward: the end moves to the goal, and each joint follows.
        let mut far = goal;
        for i in (0..n).rev() {
            let pull = far - self.work.positions[i];
            let size = length(pull);
            let mut direction = if size > 0.0 { pull / size } else { self.work.directions[i] };
            if i + 1 < n {
                let below = self.work.directions[i + 1];
                let bend = angle(direction, below);
                let allowed = nearest(self.work.spans[i + 1], bend);
                if allowed != bend {
                    direction = turned(below, unit(-allowed));
                }
            }
            self.work.directions[i] = direction;
            self.work.positions[i + 1] = far;
            far -= direction * self.bones[i].length;
        }
        // Forward: the root is fixed, and each bone points to the position of its end after the backward pass.
        self.point_bones(|chain, i, at| chain.work.positions[i + 1] - at);
    }
}
