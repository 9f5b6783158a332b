//! Where the floor of an animation is.

use glam::Vec3;

use super::{FootPlanter, FootPlanterError};
use crate::{Pose, math, motion::Clip};

/// Height of the floor that a leg's animation was made for, in model space: where its heel and its ball are when they
/// stand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegFloor {
    /// For the heel.
    pub heel: f32,
    /// For the ball.
    pub ball: f32,
}

impl FootPlanter {
    /// Says where the floor of a leg's animation is.
    pub fn set_floor(&mut self, leg: usize, floor: LegFloor) -> Result<(), FootPlanterError> {
        let count = self.floors.len();
        *self.floors.get_mut(leg).ok_or(FootPlanterError::Leg { leg, count })? = floor;
        Ok(())
    }

    /// Finds the floor of each leg's animation: the lowest that its heel and its ball get in `clip`. Some clips float,
    /// and some sink. `rest` is the rest pose. This is not for every frame.
    pub fn learn_floor(&mut self, clip: &Clip, rest: &Pose) -> Result<(), FootPlanterError> {
        self.fits(rest)?;
        let mut pose = rest.clone();
        self.floors.fill(LegFloor { heel: f32::INFINITY, ball: f32::INFINITY });
        let count = math::ceil(clip.duration() * 60.0).clamp(1.0, 1e5) as usize;
        for i in 0..=count {
            clip.sample(clip.start() + clip.duration() * (i as f32 / count as f32), &mut pose);
            pose.update();
            for (floor, leg) in self.floors.iter_mut().zip(&self.figure.legs) {
                let s = leg.sample(&pose, Vec3::ZERO);
                floor.heel = floor.heel.min(s.heel_at().y);
                floor.ball = floor.ball.min(s.ball_at().y);
            }
        }
        Ok(())
    }
}
