//! Goals of pose space.

use glam::{Quat, Vec3};

use crate::{math, solve::options::option_type};

/// Which way the middle of a chain turns.
#[doc(alias("pole vector", "hint", "bend direction"))]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Pole {
    /// The bend plane that the incoming pose has (the animation's own).
    #[default]
    Keep,
    /// A point in model space that the middle joint turns towards.
    Point(Vec3),
    /// A direction in model space that the middle joint turns towards.
    Direction(Vec3),
}

impl Pole {
    /// The direction, of any length, from `root` towards the pole, or `kept` where the bend plane is kept; turned by a swivel
    /// angle about a unit vector.
    pub(crate) fn direction(self, root: Vec3, kept: Vec3, axis: Vec3, swivel: f32) -> Vec3 {
        let wanted = match self {
            Self::Keep => kept,
            // Halves, since the difference of two large places may overflow.
            Self::Point(p) => p * 0.5 - root * 0.5,
            Self::Direction(d) => d,
        };
        if swivel == 0.0 { wanted } else { math::rotate(math::axis_angle(axis, swivel), wanted) }
    }
}

option_type! {
    /// Where the end of a chain should be, in model space.
    ///
    /// ```
    /// use sinew::{Goal, Pole, glam::Vec3};
    /// let goal = Goal::position(Vec3::new(0.1, 0.2, 0.3)).with_pole(Pole::Direction(Vec3::Z)).with_position_influence(0.5);
    /// assert_eq!(goal.rotation, None);
    /// ```
    Goal {
        /// How much of the position is applied, 0 (nothing changes) to 1 (all, the default).
        position_influence, with_position_influence: f32 = 1.0;
        /// How much of the rotation is applied, 0 to 1 (the default).
        rotation_influence, with_rotation_influence: f32 = 1.0;
        /// Which way the middle of the chain turns.
        pole, with_pole: Pole = Pole::Keep;
        /// Angle in radians by which the bend plane is turned about the axis from the root to the goal (right-handed), after
        /// the pole is followed.
        #[doc(alias("swivel angle", "twist"))]
        swivel, with_swivel: f32 = 0.0;
        ? /// Position of the end in metres; `None` leaves it where it is.
        position, with_position: Vec3;
        ? /// Rotation of the tip joint (unit quaternion); `None` leaves it to the chain.
        rotation, with_rotation: Quat;
    }
}

impl Goal {
    /// A goal without position, rotation or pole: nothing is wanted.
    pub const NONE: Self = Self::new();

    /// A goal for the end's position, in metres.
    pub const fn position(position: Vec3) -> Self {
        Self { position: Some(position), ..Self::NONE }
    }

    /// A goal for the tip joint's rotation alone (unit quaternion): the end stays where it is.
    pub const fn rotation(rotation: Quat) -> Self {
        Self { rotation: Some(rotation), ..Self::NONE }
    }
}
