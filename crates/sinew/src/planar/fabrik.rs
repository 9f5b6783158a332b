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
            let pull = far - self.work.places[i];
            let size = length(pull);
            let mut way = if size > 0.0 { pull / size } else { self.work.ways[i] };
            if i + 1 < n {
                let below = self.work.ways[i + 1];
                let bend = angle(way, below);
                let allowed = nearest(self.work.spans[i + 1], bend);
                if allowed != bend {
                    way = turned(below, unit(-allowed));
                }
            }
            self.work.ways[i] = way;
            self.work.places[i + 1] = far;
            far -= way * self.bones[i].length;
        }
        // Forward: the root is fixed, and each bone points to the position of its end after the backward pass.
        self.point_bones(|chain, i, at| chain.work.places[i + 1] - at);
    }
}
