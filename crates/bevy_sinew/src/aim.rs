//! Goals at places of targets.

use bevy_transform::components::Transform;
use sinew::{Goal, glam::Affine3, math};

use crate::transform::from_bevy;

/// How a bone goes to a target.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Aim {
    goal: Goal,
    /// The goal in the target's space.
    offset: Affine3,
}

impl Aim {
    pub fn new(position_influence: f32, rotation_influence: f32, offset: &Transform) -> Self {
        let mut goal = Goal::new().with_position_influence(position_influence);
        goal.rotation_influence = rotation_influence;
        Self { goal, offset: from_bevy(offset).to_affine() }
    }

    /// Whether a share of the target applies, or none that can.
    pub fn applies(&self) -> bool {
        [self.goal.position_influence, self.goal.rotation_influence] != [0.0; 2]
    }

    /// The goal of a target at this place of model space.
    pub fn goal(&self, target: Affine3) -> Goal {
        let place = target * self.offset;
        let goal = self.goal.with_position(place.translation);
        if self.goal.rotation_influence == 0.0 {
            return goal;
        }
        goal.with_rotation(math::rotation_of(&place.matrix3))
    }
}
