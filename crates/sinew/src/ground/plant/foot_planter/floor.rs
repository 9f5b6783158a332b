//! Floor of an animation.

use glam::Vec3;

use super::{FootPlanter, FootPlanterError};
use crate::{
    Pose, math,
    motion::{Clip, ClipCursor},
};

/// Floor for which a leg's animation was made: heights of its standing heel and ball in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegFloor {
    /// Height of the standing heel, in metres.
    pub heel: f32,
    /// Height of the standing ball, in metres.
    pub ball: f32,
}

impl FootPlanter {
    /// Sets the floor of a leg's animation.
    ///
    /// # Errors
    ///
    /// There is no such leg.
    pub fn set_floor(&mut self, leg: usize, floor: LegFloor) -> Result<(), FootPlanterError> {
        let count = self.floors.len();
        *self.floors.get_mut(leg).ok_or(FootPlanterError::Leg { leg, count })? = floor;
        Ok(())
    }

    /// Finds the floor of each leg's animation: the lowest heights of its heel and ball in `clip`, as some clips float and
    /// others sink. `rest` is a pose of the clip's skeleton. It samples the whole clip and allocates; call it at load time.
    ///
    /// # Errors
    ///
    /// The pose is not finite or does not have the figure's joints, or a sole is invalid.
    pub fn learn_floor(&mut self, clip: &Clip, rest: &Pose) -> Result<(), FootPlanterError> {
        self.fits(rest)?;
        let mut pose = rest.clone();
        self.floors.fill(LegFloor { heel: f32::INFINITY, ball: f32::INFINITY });
        let count = math::ceil(clip.duration() * 60.0).clamp(1.0, 1e5) as usize;
        let mut cursor = ClipCursor::default();
        for i in 0..=count {
            clip.sample_from(
                &mut cursor,
                clip.start() + clip.duration() * (i as f32 / count as f32),
                &mut pose,
            );
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
