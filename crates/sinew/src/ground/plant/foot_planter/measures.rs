//! What the foot of a figure is measured by.

use super::track::Sole;
use crate::ground::plant::contact::ContactLimits;

/// What a foot must know of its figure, in metres of the world.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    pub limits: ContactLimits,
    /// Frequency in rad/s.
    pub omega: f32,
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height over 1.8.
    pub scale: f32,
    /// Turn of a planted foot about the vertical.
    pub yaw: f32,
    /// How far the sole stays above the ground.
    pub sole_height: f32,
    /// Height of the heel's lowest in the animation over its floor.
    pub heel_floor: f32,
    /// The same for the ball.
    pub ball_floor: f32,
    /// Steepest ground that the foot lies along, in radians.
    pub slope: f32,
    /// How far a foot stays clear of what it passes.
    pub clearance: f32,
    /// Beats that the animation is known ahead.
    pub ahead: usize,
}

impl Measures {
    /// Heights of heel and ball over their floors in the animation.
    pub fn heights(&self, sole: &Sole) -> (f32, f32) {
        ((sole.ankle + sole.heel).y - self.heel_floor, (sole.ankle + sole.ball).y - self.ball_floor)
    }
}
