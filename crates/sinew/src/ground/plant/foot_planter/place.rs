//! The figure where the world has it.

use glam::{Affine3, Vec3};

use super::{FootPlanterError, track::Sole};
use crate::{ground::plant::FootSample, math};

/// The figure where the world has it.
pub struct Place {
    pub world: Affine3,
    pub scale: f32,
    /// Height of the world under the animation's floor.
    pub floor: f32,
}

impl Place {
    pub fn new(world: &Affine3, floor: f32) -> Result<Self, FootPlanterError> {
        let scale = math::uniform_scale(&world.matrix3).abs();
        // A tenth of a percent is what several multiplied f32 matrices leave of a rotation.
        let even = world.is_finite() && math::shear(&world.matrix3) < 1e-3 && scale.is_normal();
        if !even {
            return Err(FootPlanterError::Placement(*world));
        }
        Ok(Self { world: *world, scale, floor: world.transform_point3(Vec3::Y * floor).y })
    }

    /// A point of model space in the world, its height over the animation's floor.
    pub fn over_floor(&self, point: Vec3) -> Vec3 {
        self.world.transform_point3(point) - Vec3::Y * self.floor
    }

    /// A foot of the animation.
    pub fn sole(&self, sample: &FootSample) -> Sole {
        let way = |v: Vec3| self.world.transform_vector3(v);
        Sole {
            hip: self.over_floor(sample.hip),
            ankle: self.over_floor(sample.ankle),
            heel: way(sample.heel),
            ball: way(sample.ball),
            tip: way(sample.tip),
        }
    }
}
