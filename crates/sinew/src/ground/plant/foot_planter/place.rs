//! Placement of a figure in the world.

use glam::Vec3;

use super::track::Sole;
use crate::{Placement, ground::plant::FootSample};

/// Placement of a figure in the world.
pub struct Place {
    pub placement: Placement,
    pub scale: f32,
    /// Height of the animation's floor in world space.
    pub floor: f32,
}

impl Place {
    pub fn new(placement: &Placement, floor: f32) -> Self {
        let height = placement.to_world(Vec3::Y * floor).y;
        Self { placement: *placement, scale: placement.scale().abs(), floor: height }
    }

    /// Transforms a point from model to world space, with its height above the animation's floor.
    pub fn over_floor(&self, point: Vec3) -> Vec3 {
        self.placement.to_world(point) - Vec3::Y * self.floor
    }

    /// Transforms a foot of the animation to world space, with heights above the animation's floor.
    pub fn sole(&self, sample: &FootSample) -> Sole {
        let way = |v: Vec3| self.placement.world_from_model().matrix3 * v;
        Sole {
            hip: self.over_floor(sample.hip),
            ankle: self.over_floor(sample.ankle),
            heel: way(sample.heel),
            ball: way(sample.ball),
            tip: way(sample.tip),
        }
    }
}
