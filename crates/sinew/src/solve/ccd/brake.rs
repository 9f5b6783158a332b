//! The reduction of each joint's motion in a sweep.

use glam::Quat;

use crate::{
    SolveError, math,
    solve::{check, partial::partial},
};

/// Reduction of a joint's motion in a sweep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Brake {
    /// Share that is withheld, 0 (none) to below 1.
    pub damping: f32,
    /// Maximum turn in a sweep, in radians.
    pub max_step: f32,
}

impl Brake {
    pub const NONE: Self = Self { damping: 0.0, max_step: f32::INFINITY };

    pub fn check(&self) -> Result<(), SolveError> {
        check::within("the damping", "0 to below 1", self.damping, 0.0, 1.0 - f32::EPSILON)?;
        check::above_zero("the largest step", "above 0", self.max_step, f32::INFINITY)
    }

    /// Reduces a turn.
    pub fn turn(&self, turn: Quat) -> Quat {
        if *self == Self::NONE {
            return turn;
        }
        let angle = math::sqrt(math::rotation_vector(turn).length_squared());
        let reduced = self.angle(angle);
        if angle > 0.0 { partial(turn, reduced / angle) } else { turn }
    }

    /// Reduces an angle in radians.
    pub fn angle(&self, angle: f32) -> f32 {
        (angle * (1.0 - self.damping)).clamp(-self.max_step, self.max_step)
    }
}
