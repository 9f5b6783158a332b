//! Goals of pose space.

use glam::{Quat, Vec3};

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

/// Where the end of a chain should be, in model space.
///
/// ```
/// use sinew::{Goal, Pole, glam::Vec3};
/// let goal = Goal::position(Vec3::new(0.1, 0.2, 0.3)).with_pole(Pole::Direction(Vec3::Z)).with_position_influence(0.5);
/// assert_eq!(goal.rotation, None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Goal {
    /// Position of the end in metres; `None` leaves it where it is.
    pub position: Option<Vec3>,
    /// Rotation of the tip joint (unit quaternion); `None` leaves it to the chain.
    pub rotation: Option<Quat>,
    /// How much of the position is applied, 0 (nothing changes) to 1 (all, the default).
    pub position_influence: f32,
    /// How much of the rotation is applied, 0 to 1 (the default).
    pub rotation_influence: f32,
    /// Which way the middle of the chain turns.
    pub pole: Pole,
    /// Angle in radians by which the bend plane is turned about the axis from the root to the goal (right-handed), after the
    /// pole is followed.
    #[doc(alias("swivel angle", "twist"))]
    pub swivel: f32,
}

impl Default for Goal {
    fn default() -> Self {
        Self::NONE
    }
}

impl Goal {
    /// A goal without position, rotation or pole: nothing is wanted.
    pub const NONE: Self = Self {
        position: None,
        rotation: None,
        position_influence: 1.0,
        rotation_influence: 1.0,
        pole: Pole::Keep,
        swivel: 0.0,
    };

    /// A goal for the end's position, in metres.
    pub const fn position(position: Vec3) -> Self {
        Self { position: Some(position), ..Self::NONE }
    }

    /// A goal for the tip joint's rotation alone (unit quaternion): the end stays where it is.
    pub const fn rotation(rotation: Quat) -> Self {
        Self { rotation: Some(rotation), ..Self::NONE }
    }

    /// Sets the rotation of the tip joint (unit quaternion).
    pub const fn with_rotation(self, rotation: Quat) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// Sets how much of the position is applied, 0 to 1.
    pub const fn with_position_influence(self, position_influence: f32) -> Self {
        Self { position_influence, ..self }
    }

    /// Sets how much of the rotation is applied, 0 to 1.
    pub const fn with_rotation_influence(self, rotation_influence: f32) -> Self {
        Self { rotation_influence, ..self }
    }

    /// Sets the pole.
    pub const fn with_pole(self, pole: Pole) -> Self {
        Self { pole, ..self }
    }

    /// Sets the swivel angle, in radians.
    pub const fn with_swivel(self, swivel: f32) -> Self {
        Self { swivel, ..self }
    }
}
