//! What a chain's end is asked to do.

use glam::{Quat, Vec3};

/// Which way the middle of a chain turns.
#[doc(alias("pole vector", "hint", "bend direction"))]
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Pole {
    /// The bend plane that the incoming pose has (the animation's own).
    #[default]
    Keep,
    /// A point in model space that the middle joint turns towards.
    Point(Vec3),
    /// A direction in model space that the middle joint turns towards.
    Direction(Vec3),
}

/// Where the end of a chain is asked to be, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Where the end should be; `None` leaves it where it is.
    pub position: Option<Vec3>,
    /// Which rotation the tip joint should have (unit quaternion); `None` leaves its rotation to the chain.
    pub rotation: Option<Quat>,
    /// How much of the position is asked for, 0 to 1.
    pub position_weight: f32,
    /// How much of the rotation is asked for, 0 to 1.
    pub rotation_weight: f32,
    /// Which way the middle of the chain turns.
    pub pole: Pole,
}

impl Goal {
    /// Nothing is asked for.
    pub const NONE: Self =
        Self { position: None, rotation: None, position_weight: 1.0, rotation_weight: 1.0, pole: Pole::Keep };

    /// A place alone.
    pub const fn at(position: Vec3) -> Self {
        Self { position: Some(position), ..Self::NONE }
    }

    /// A rotation of the tip joint as well.
    pub const fn with_rotation(self, rotation: Quat) -> Self {
        Self { rotation: Some(rotation), ..self }
    }

    /// A pole as well.
    pub const fn with_pole(self, pole: Pole) -> Self {
        Self { pole, ..self }
    }
}
