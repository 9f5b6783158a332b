//! How much of planting shows while a figure leaves the ground and returns to it.

use super::FootPlanterState;
use crate::ground::plant::PlantOptions;

/// Share of planting that shows.
#[derive(Clone, Copy, Debug)]
pub struct Presence {
    /// Whether the figure is on the ground.
    pub grounded: bool,
    /// Progress of the fade, from 0 (the animation) to 1 (planted).
    fade: f32,
}

impl Default for Presence {
    fn default() -> Self {
        Self { grounded: true, fade: 1.0 }
    }
}

impl Presence {
    /// Whether nothing of planting shows, nor will.
    pub fn in_air(&self) -> bool {
        !self.grounded && self.fade <= 0.0
    }

    /// Share that shows, with zero rates at both ends.
    pub fn share(&self) -> f32 {
        self.fade * self.fade * (3.0 - 2.0 * self.fade)
    }

    /// Continues the fade.
    pub fn advance(&mut self, dt: f32, options: &PlantOptions) {
        let by = if self.grounded { dt / options.landing_time } else { -dt / options.leaving_time };
        self.fade = (self.fade + by).clamp(0.0, 1.0);
    }
}

impl FootPlanterState {
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
