//! Share of planting that shows: the game's influence, eased out and in around the time in the air.

use super::FootPlanterError;
use super::FootPlanterState;
use crate::{ground::plant::PlantOptions, math, solve::check};

/// Share of planting that shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Presence {
    /// Whether the figure is on the ground.
    pub grounded: bool,
    /// Progress of the fade, from 0 (the animation) to 1 (planted).
    fade: f32,
    /// Share at the end of the fade.
    influence: f32,
}

impl Default for Presence {
    fn default() -> Self {
        Self { grounded: true, fade: 1.0, influence: 1.0 }
    }
}

impl Presence {
    /// Whether nothing of planting shows, nor will before the game says so.
    pub fn is_absent(&self) -> bool {
        self.influence <= 0.0 || !self.grounded && self.fade <= 0.0
    }

    /// Share that shows. Its fade has zero rates at both ends.
    pub fn share(&self) -> f32 {
        self.influence * math::smoothstep(self.fade)
    }

    /// Continues the fade.
    pub fn advance(&mut self, dt: f32, options: &PlantOptions) {
        let by = if self.grounded { dt / options.landing_time } else { -dt / options.leaving_time };
        self.fade = (self.fade + by).clamp(0.0, 1.0);
    }
}

impl FootPlanterState {
    /// Sets the influence of planting on the whole figure from the next frame on, from 0 (the animation) to 1 (the default).
    ///
    /// It may change each frame and applies at once: feet and pelvis move with it without a jump, and the game eases it as it
    /// wants. It multiplies [`Leg::influence`](crate::ground::plant::Leg::influence) and the fade of
    /// [`FootPlanterState::set_grounded`]. Set it before the ticks of a frame. [`FootPlanterState::reset`] keeps it.
    ///
    /// At 0 the pose is the animation's to the bit, at the height of the placement. As in the air, no rays are cast, no ticks
    /// are needed, and the past is forgotten: the next influence above 0 starts on the ground that is then found.
    ///
    /// # Errors
    ///
    /// The influence is not within 0 to 1. The state then keeps its influence.
    ///
    /// ```
    /// # use sinew::ground::plant::{FootPlanterError, FootPlanterState};
    /// # fn frame(feet: &mut FootPlanterState, distance: f32) -> Result<(), FootPlanterError> {
    /// // Planting fades out from 20 to 25 m from the camera, and costs nothing beyond.
    /// feet.set_influence(((25.0 - distance) / 5.0).clamp(0.0, 1.0))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_influence(&mut self, influence: f32) -> Result<(), FootPlanterError> {
        check::within("the influence", "0 to 1", influence, 0.0, 1.0)?;
        self.presence.influence = influence;
        Ok(())
    }

    /// Says from now on whether the figure is on the ground; `true` at first.
    ///
    /// In the air (a jump, a fall, a ragdoll) feet let go, and planting fades out within [`PlantOptions::leaving_time`]. The
    /// pose is then the animation's to the bit, at the height of the placement. No rays are cast and no ticks are needed.
    /// After the return feet stand within [`PlantOptions::landing_time`], wherever the ground is by then. A shorter absence
    /// only turns the fade back.
    ///
    /// ```
    /// # use sinew::{Placement, Pose, ground::{Ground, plant::{FootPlanter, FootPlanterError, FootPlanterState}}};
    /// # fn frame(
    /// #     planter: &FootPlanter, feet: &mut FootPlanterState, ground: &dyn Ground, pose: &mut Pose, dt: f32,
    /// #     placement: Placement, jumps: bool,
    /// # ) -> Result<(), FootPlanterError> {
    /// feet.set_grounded(!jumps); // As the game's character controller says.
    /// planter.sense(feet, ground, pose, &placement)?;
    /// planter.step(feet, pose, &placement, dt)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_grounded(&mut self, grounded: bool) {
        self.presence.grounded = grounded;
        if !grounded && !self.started {
            self.presence.fade = 0.0;
        }
    }
}
