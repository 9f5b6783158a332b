//! Dimensions and limits of a foot in the world.

use super::track::Sole;
use crate::ground::plant::contact::ContactLimits;

/// Dimensions and limits of a foot, in metres in world space.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    pub limits: ContactLimits,
    /// Frequency of the foot's spring, in rad/s.
    pub omega: f32,
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height divided by 1.8 m.
    pub scale: f32,
    /// Turn of a planted foot about the vertical, in radians.
    pub yaw: f32,
    /// Height at which a planted sole is held above the ground.
    pub sole_height: f32,
    /// Height of the standing heel above the animation's floor.
    pub heel_floor: f32,
    /// Height of the standing ball above the animation's floor.
    pub ball_floor: f32,
    /// Whether the foot lies along the ground.
    pub follows_slope: bool,
    /// Steepest slope that the foot lies along, in radians.
    pub slope: f32,
    /// Clearance of a swinging foot.
    pub clearance: f32,
    /// Look-ahead in ticks.
    pub ahead: usize,
}

impl Measures {
    /// Heights of heel and ball in the animation above their standing heights.
    pub fn heights(&self, sole: &Sole) -> (f32, f32) {
        ((sole.ankle + sole.heel).y - self.heel_floor, (sole.ankle + sole.ball).y - self.ball_floor)
    }
}
