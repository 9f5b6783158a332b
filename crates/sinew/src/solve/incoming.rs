//! The input pose of a chain, kept to detect a change of branch after the solve.

use glam::{Quat, Vec3};

use super::branch;
use crate::{Chain, Pose, math};

/// The parts of a chain that a goal leads.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Led {
    /// The end has a goal position.
    pub end: bool,
    /// The root has a goal position.
    pub root: bool,
    /// The tip has a goal rotation.
    pub rotation: bool,
    /// The bend has a pole or a swivel angle.
    pub pole: bool,
}

/// State of the led parts in the input pose, in model space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    /// Length of the chain, in metres.
    length: f32,
    end: Option<Vec3>,
    root: Option<Vec3>,
    rotation: Option<Quat>,
    /// The line from root to end, and the bend.
    side: Option<(Vec3, Vec3)>,
}

impl Incoming {
    /// Records an updated pose.
    pub fn new(chain: &Chain, pose: &Pose, length: f32, led: Led) -> Self {
        Self {
            length,
            end: led.end.then(|| chain.end(pose)),
            root: led.root.then(|| pose.position(chain.root())),
            rotation: led.rotation.then(|| pose.model_rotation(chain.tip())),
            side: led.pole.then(|| chain.line_and_bend(pose)),
        }
    }

    /// Whether the solved pose lies on another branch. `turn` is the largest turn of a joint, in radians. Where end and root
    /// are both led, the one that moved further counts.
    pub fn changed(&self, chain: &Chain, pose: &Pose, turn: f32) -> bool {
        if let Some((line, bend)) = self.side {
            let (now, bent) = chain.line_and_bend(pose);
            return branch::flipped(line, bend, now, bent);
        }
        if turn <= 0.0 {
            return false;
        }
        // Divided first, so that nothing overflows.
        let over = if self.length > 0.0 { 1.0 / self.length } else { 0.0 };
        let squared =
            |from: Option<Vec3>, to: Vec3| from.map_or(0.0, |from| ((to - from) * over).length_squared());
        let moved = squared(self.end, chain.end(pose)).max(squared(self.root, pose.position(chain.root())));
        let turned = self.rotation.map_or(0.0, |q| math::angle_between(q, pose.model_rotation(chain.tip())));
        branch::changed(turn, math::sqrt(moved), turned)
    }
}
