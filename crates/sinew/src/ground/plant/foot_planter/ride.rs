//! Change of the platform on which a figure stands.

use glam::{Quat, Vec3};

use super::{FURTHEST, FootPlanterError, FootPlanterState};
use crate::{
    Placement,
    ground::{Platform, plant::Foothold},
    math,
};

/// Steady motion of a foothold: along an arc about the vertical, and up or down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ride {
    /// Velocity of the heel, in m/s.
    velocity: Vec3,
    /// Rate of turning about Y, in rad/s.
    pub yaw: f32,
}

impl Ride {
    /// A motion by the velocity of the heel in m/s and the rate of yaw in rad/s. Motions that are not finite are none.
    pub fn new((velocity, yaw): (Vec3, f32)) -> Self {
        let finite = velocity.is_finite() && yaw.is_finite();
        if finite { Self { velocity, yaw } } else { Self { velocity: Vec3::ZERO, yaw: 0.0 } }
    }

    /// Sum of two motions.
    pub fn plus(&self, other: &Self) -> Self {
        Self { velocity: self.velocity + other.velocity, yaw: self.yaw + other.yaw }
    }

    /// Velocity of the point that it moves, in m/s.
    pub fn velocity(&self) -> Vec3 {
        self.velocity
    }

    fn turn(&self, time: f32) -> Quat {
        math::axis_angle(Vec3::Y, self.yaw * time)
    }

    /// Displacement of the point that it moves in `time` seconds.
    pub fn shift(&self, time: f32) -> Vec3 {
        // The chord of the arc: the velocity at half the time, shortened by sin(x) / x.
        let half = 0.5 * self.yaw * time;
        let chord = if half.abs() > 1e-3 { math::sin(half) / half } else { 1.0 };
        math::rotate(self.turn(0.5 * time), self.velocity * Vec3::new(chord, 1.0, chord)) * time
    }

    /// The motion `time` seconds later.
    pub fn after(&self, time: f32) -> Self {
        Self { velocity: math::rotate(self.turn(time), self.velocity), ..*self }
    }

    /// A foothold `time` seconds later.
    pub fn moved(&self, foothold: &Foothold, time: f32) -> Foothold {
        let heel = foothold.heel + self.shift(time);
        let ball = heel + math::rotate(self.turn(time), foothold.ball - foothold.heel);
        Foothold { heel, ball, ..*foothold }
    }
}

impl FootPlanterState {
    /// Says that the figure now stands on another platform, such as a lift that it boards or leaves. Call it before the
    /// ground and the placements of the next frame are given relative to `to`. Both platforms are those of that frame; the
    /// floor is [`Platform::WORLD`].
    ///
    /// No foot leaps at the change. A foot that stands stays on the platform that the figure leaves, by the velocities of
    /// both, until it lets go. The best time is therefore before the first foot comes down on `to`. Tilts of the two
    /// platforms that differ are taken over at once. Platforms more than 1e16 m apart reset the state.
    pub fn change_platform(&mut self, from: &Platform, to: &Platform) {
        if !self.started {
            self.reset();
            return;
        }
        let (left, new) = (from.placement(), to.placement());
        let (old, fixed) = (self.frame, self.position);
        let changed =
            Placement::new(new.model_from_world() * left.world_from_model() * old.world_from_model());
        let near = |frame: &Placement| frame.to_world(Vec3::ZERO).abs().max_element() <= FURTHEST;
        let upright = changed.and_then(|exact| exact.upright(fixed)).ok().filter(near);
        let Some(frame) = upright else {
            self.reset();
            return;
        };
        self.frame = frame;
        let into_frame = |v: Vec3| frame.direction_to_model(new.direction_to_model(v));
        for leg in &mut self.legs {
            leg.foot.leave(|at| {
                let world = left.to_world(old.to_world(at));
                let yaw = into_frame(from.angular() - to.angular()).y;
                (into_frame(from.velocity(world) - to.velocity(world)), yaw)
            });
        }
    }

    /// A placement on the platform, in the state's own frame.
    pub(super) fn framed(&self, placement: &Placement) -> Result<Placement, FootPlanterError> {
        if self.frame == Placement::IDENTITY {
            return Ok(*placement);
        }
        Ok(placement.relative_to(&self.frame)?)
    }
}
