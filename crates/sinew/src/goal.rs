//! Goals of solvers in model space.

use glam::{Quat, Vec3};

use crate::{math, option_type::option_type};

/// The direction in which the middle of a chain bends.
#[doc(alias("pole vector", "hint", "bend direction"))]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Pole {
    /// Keeps the bend plane of the input pose.
    #[default]
    Keep,
    /// A point in model space that the middle joint turns towards, in metres.
    Point(Vec3),
    /// A direction in model space that the middle joint turns towards, of any length.
    Direction(Vec3),
}

impl Pole {
    /// The direction from `root` towards the pole, in model space and of any length; `kept` for [`Pole::Keep`]. It is
    /// rotated by the angle `swivel`, in radians, about the unit vector `axis`.
    pub(crate) fn direction(self, root: Vec3, kept: Vec3, axis: Vec3, swivel: f32) -> Vec3 {
        let wanted = match self {
            Self::Keep => kept,
            // Halved, since the difference of two large positions may overflow.
            Self::Point(p) => p * 0.5 - root * 0.5,
            Self::Direction(d) => d,
        };
        if swivel == 0.0 { wanted } else { math::rotate(math::axis_angle(axis, swivel), wanted) }
    }
}

option_type! {
    /// The goal of a chain's end, in model space.
    ///
    /// ```
    /// use sinew::{Goal, Pole, glam::Vec3};
    /// let goal = Goal::position(Vec3::new(0.1, 0.2, 0.3)).with_pole(Pole::Direction(Vec3::Z)).with_position_influence(0.5);
    /// assert_eq!(goal.rotation, None);
    /// ```
    Goal {
        /// Weight of the position goal, from 0 (the pose keeps its position) to 1 (the default: the goal applies in
        /// full).
        position_influence, with_position_influence: f32 = 1.0;
        /// Weight of the rotation goal, from 0 to 1 (the default).
        rotation_influence, with_rotation_influence: f32 = 1.0;
        /// Direction in which the middle of the chain bends.
        pole, with_pole: Pole = Pole::Keep;
        /// Swivel angle in radians: rotates the bend plane about the axis from the root to the goal, right-handed, after
        /// the pole is applied.
        #[doc(alias("swivel angle", "twist"))]
        swivel, with_swivel: f32 = 0.0;
        ? /// Position of the chain's end, in metres. `None` keeps the input pose's position.
        position, with_position: Vec3;
        ? /// Rotation of the tip joint, a unit quaternion. `None` leaves the rotation free.
        rotation, with_rotation: Quat;
    }
}

impl Goal {
    /// A goal without position, rotation or pole.
    pub const NONE: Self = Self::new();

    /// A goal for the position of the chain's end, in metres in model space.
    pub const fn position(position: Vec3) -> Self {
        Self { position: Some(position), ..Self::NONE }
    }

    /// A goal for the tip joint's rotation alone, a unit quaternion in model space. The chain's end keeps its position.
    pub const fn rotation(rotation: Quat) -> Self {
        Self { rotation: Some(rotation), ..Self::NONE }
    }
}
