//! Share of a walk in the pose, and the platform under it.

use glam::Vec3;

use super::{WalkError, WalkState, Walker};
use crate::{
    Placement,
    ground::{
        Platform,
        plant::foot_planter::{ride::Ride, ticks::TICK},
    },
    math,
};

/// Largest distance from the origin of a platform, in legs: beyond it, `f32` does not tell feet apart.
const FURTHEST: f32 = 1e6;
/// Largest speed of one platform against another, in legs per second, and largest rate of turning, in rad/s.
const MAX_SPEED: f32 = 1e6;
const MAX_SPIN: f32 = 1e3;

impl WalkState {
    /// Sets how far the legs walk instead of moving as the pose has them, from 0 (as the pose) to 1 (the walk; at first). In
    /// between each joint is blended. The walk goes on at any influence, so that a clip can take over for a while and give back.
    ///
    /// Below 1, the pose must be set from the clip before each frame.
    ///
    /// # Errors
    ///
    /// The influence is not within 0 to 1. The state then keeps its influence.
    ///
    /// ```
    /// # use sinew::ground::walk::{WalkError, WalkState};
    /// # fn frame(state: &mut WalkState, since_bite: f32) -> Result<(), WalkError> {
    /// // A bite takes over within a quarter of a second.
    /// state.set_influence(1.0 - (4.0 * since_bite).clamp(0.0, 1.0))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_influence(&mut self, influence: f32) -> Result<(), WalkError> {
        let range = [0.0, 1.0];
        if !(0.0..=1.0).contains(&influence) {
            return Err(WalkError::Setting { option: "the influence", range, value: influence });
        }
        self.influence = influence;
        Ok(())
    }

    /// Share of the walk in the legs.
    pub fn influence(&self) -> f32 {
        self.influence
    }

    /// A point of the state's own space on the ground that is given.
    pub(super) fn seen(&self, point: Vec3) -> Vec3 {
        if self.frame == Placement::IDENTITY { point } else { self.frame.to_world(point) }
    }
}

impl Walker {
    /// Says that a creature now stands on another platform, such as a lift that it boards or leaves. Call it before the ground of
    /// the next frame is given relative to `to` ([`Platform::ground`]); from then on the report's placement and the feet are
    /// relative to `to` as well ([`Platform::in_world`]). Both platforms are those of that frame; the floor is
    /// [`Platform::WORLD`].
    ///
    /// A foot that stands stays on the platform that the creature leaves, by the velocities of both, until it steps. The trunk
    /// keeps its velocity in the world at first, and comes to that of the command. Tilts of the two platforms that differ are
    /// taken over at once. Where the platforms part by more than a million legs a second or a thousand rad/s, feet and trunk do not
    /// follow the one that is left.
    ///
    /// # Errors
    ///
    /// The state is another walker's, or the creature is further from the new platform's origin than a million legs. The state then
    /// stays as it was.
    ///
    /// ```
    /// # use sinew::{Pose, Workspace, glam::Vec3, ground::{Ground, Platform, walk::{WalkError, WalkState, Walker}}};
    /// # fn frame(
    /// #     walker: &Walker, state: &mut WalkState, workspace: &mut Workspace, pose: &mut Pose, world: &dyn Ground,
    /// #     lift: &Platform, boards: bool, dt: f32,
    /// # ) -> Result<(), WalkError> {
    /// if boards {
    ///     walker.change_platform(state, &Platform::WORLD, lift)?;
    /// }
    /// let report = walker.step(state, workspace, pose, &lift.ground(world), Vec3::Z, 0.0, dt)?;
    /// let placement = lift.in_world(&report.placement)?;
    /// # let _ = placement;
    /// # Ok(())
    /// # }
    /// ```
    pub fn change_platform(
        &self,
        state: &mut WalkState,
        from: &Platform,
        to: &Platform,
    ) -> Result<(), WalkError> {
        self.fits(state)?;
        let (left, new) = (from.placement(), to.placement());
        let old = state.frame;
        if !state.started {
            state.start = to.relative(&from.in_world(&state.start)?)?;
            self.place(state);
            return Ok(());
        }
        let exact =
            Placement::new(new.model_from_world() * left.world_from_model() * old.world_from_model())?;
        let frame = exact.upright(state.base.at)?;
        let at = frame.to_world(state.base.at);
        if !at.is_finite() || at.abs().max_element() > FURTHEST * self.creature.length * state.scale {
            return Err(WalkError::Far(at));
        }
        state.frame = frame;
        let into_frame = |v: Vec3| frame.direction_to_model(new.direction_to_model(v));
        let yaw = into_frame(from.angular() - to.angular()).y;
        let legs = self.creature.length * state.scale;
        let ride = |at: Vec3| {
            let world = left.to_world(old.to_world(at));
            let velocity = into_frame(from.velocity(world) - to.velocity(world));
            let moves = velocity.length() <= MAX_SPEED * legs && yaw.abs() <= MAX_SPIN;
            Ride::new(if moves { (velocity, yaw) } else { (Vec3::ZERO, 0.0) })
        };
        for leg in state.legs.iter_mut().filter(|leg| leg.swing.is_none()) {
            let ride = ride(leg.stand.point);
            leg.boards = Some(leg.boards.map_or(ride, |before| before.plus(&ride)));
        }
        let own = ride(state.base.at);
        state.boards = Some(state.boards.map_or(own, |before| before.plus(&own)));
        let heading = math::axis_angle(Vec3::Y, -(state.base.yaw + self.creature.heading));
        state.velocity.value += math::rotate(heading, own.velocity()).with_y(own.yaw);
        state.height.rate.y += own.velocity().y;
        Ok(())
    }

    /// Sets what a creature has left in motion, once the time from the last frame to that of the change is known.
    pub(super) fn board(&self, state: &mut WalkState, dt: f32) {
        let Some(own) = state.boards.take() else { return };
        // The last tick and the coming one, from the frame on.
        let times = [-state.since - dt, TICK - state.since - dt];
        for leg in &mut state.legs {
            let Some(ride) = leg.boards.take() else { continue };
            for (foot, time) in leg.at.iter_mut().zip(times) {
                foot.point += ride.shift(time);
                foot.rate += ride.velocity();
            }
            leg.stand.point += ride.shift(times[1]);
            leg.ride = Some(leg.ride.map_or(ride, |before| before.plus(&ride)));
        }
        let bodies = state.body.iter_mut().zip(times).chain([(&mut state.base, times[1])]);
        for (body, time) in bodies {
            body.at += own.shift(time);
            body.yaw += own.yaw * time;
            body.rate += own.velocity();
            body.turn += own.yaw;
        }
        state.height.value.y += own.shift(times[1]).y;
    }
}
