//! A chain as it came in, for what is said of the branch when it is solved.

use glam::{Quat, Vec3};

use super::branch;
use crate::{Chain, Pose, math};

/// What of a chain is led somewhere.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Led {
    /// Its end has a place to go to.
    pub end: bool,
    /// Its root has one.
    pub root: bool,
    /// Its tip has a rotation to take.
    pub rotation: bool,
    /// Its bend has a pole.
    pub pole: bool,
}

/// Where the chain was: what is led of it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming {
    /// In metres.
    length: f32,
    end: Option<Vec3>,
    root: Option<Vec3>,
    rotation: Option<Quat>,
    /// The line from root to end, and the bend.
    side: Option<(Vec3, Vec3)>,
}

impl Incoming {
    /// Of an updated pose.
    pub fn new(chain: &Chain, pose: &Pose, length: f32, led: Led) -> Self {
        Self {
            length,
            end: led.end.then(|| chain.end(pose)),
            root: led.root.then(|| pose.position(chain.root())),
            rotation: led.rotation.then(|| pose.model_rotation(chain.tip())),
            side: led.pole.then(|| chain.line_and_bend(pose)),
        }
    }

    /// Whether what is left lies on another branch; `turn` is the largest turn of a joint. Of two places that are led, the
    /// one that went further counts.
    pub fn changed(&self, chain: &Chain, pose: &Pose, turn: f32) -> bool {
        if let Some((line, bend)) = self.side {
            let (now, bent) = chain.line_and_bend(pose);
            return branch::flipped(line, bend, now, bent);
        }
        if turn <= 0.0 {
            return false;
        }
        // (Divided first, so that nothing overflows.)
        let over = if self.length > 0.0 { 1.0 / self.length } else { 0.0 };
        let way =
            |from: Option<Vec3>, to: Vec3| from.map_or(0.0, |from| ((to - from) * over).length_squared());
        let moved = way(self.end, chain.end(pose)).max(way(self.root, pose.position(chain.root())));
        let turned = self.rotation.map_or(0.0, |q| math::angle_between(q, pose.model_rotation(chain.tip())));
        branch::changed(turn, math::sqrt(moved), turned)
    }
}
