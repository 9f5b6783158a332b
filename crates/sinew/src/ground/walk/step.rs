//! A frame of a walk.

use alloc::{sync::Arc, vec::Vec};

use glam::{Quat, Vec3};

use super::{
    WalkError, WalkFoot, WalkReport, WalkState, Walker,
    body::{Body, hermite},
};
use crate::{
    JointId, JointTransform, Placement, Pose, Workspace,
    ground::{
        Filter, Ground, Hit,
        plant::foot_planter::{spring::Spring, ticks::TICK},
    },
    math,
};

/// Tolerance in seconds for a tick on a frame, as times are summed in `f32`.
const NOW: f32 = 1e-4;
/// Largest number of ticks in a frame; the rest of a longer time is left out.
const MOST: usize = 30;

/// A ground whose hits are numbers, and within the casts that ask for them.
struct Checked<'a>(&'a dyn Ground);

impl Ground for Checked<'_> {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let hit = self.0.cast_ray(origin, direction, reach, filter)?;
        ((0.0..=reach).contains(&hit.distance) && hit.normal.is_finite()).then_some(hit)
    }
}

/// Transforms of a leg's joints as the pose had them.
#[derive(Debug, Default)]
struct Given(Vec<JointTransform>);

/// State of a part that hangs on the trunk.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct EndState {
    /// Goal of the lift, in radians.
    pub goal: f32,
    /// Lift at the coming tick (x), in radians.
    pub lift: Spring,
    /// The same at the last tick.
    pub before: Spring,
    /// Rotation that was written, and the one that it was made from.
    wrote: Option<[Quat; 2]>,
}

impl Walker {
    /// Walks for a frame: `dt` seconds, at `velocity` in m/s in the body's frame (x to its left, z ahead; y does not count) and
    /// a `turn` in rad/s about +Y.
    ///
    /// `pose` receives the legs, within the limits of their joints; its other joints stay as they are. `ground` is in world space, or
    /// in that of a [`Platform`](crate::ground::Platform) that carries the creature; the report holds the creature's placement
    /// there. The first frame stands the creature on the ground, whatever `dt` is; frames longer than a second walk for a second.
    ///
    /// # Errors
    ///
    /// A time, velocity or turn that is not finite, a state or a pose of another creature, no ground at the start. The state
    /// and the pose then stay as they were.
    #[allow(clippy::too_many_arguments)] // The state, scratch, pose and ground of a frame, and its command.
    pub fn step(
        &self,
        state: &mut WalkState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        ground: &dyn Ground,
        velocity: Vec3,
        turn: f32,
        dt: f32,
    ) -> Result<WalkReport, WalkError> {
        if !(dt >= 0.0 && dt.is_finite()) {
            return Err(WalkError::Time(dt));
        }
        if !(velocity.is_finite() && turn.is_finite()) {
            return Err(WalkError::Command { velocity, turn });
        }
        self.fits(state)?;
        let last = self.creature.legs.iter().flat_map(|l| l.rest.iter().map(|r| r.0));
        let joint = last.map(|j| j.index()).max().unwrap_or(0);
        let joints = pose.skeleton().len();
        if joint >= joints {
            return Err(WalkError::Creature { joint, joints });
        }
        pose.check_finite()?;
        // Squares of larger ones overflow; the command is limited to what the legs can step anyway.
        const FAST: f32 = 1e9;
        let limit = |v: f32| v.clamp(-FAST, FAST);
        let command = Vec3::new(limit(velocity.x), limit(turn), limit(velocity.z));
        let framed = (state.frame != Placement::IDENTITY).then(|| state.frame.ground(ground));
        let ground = &Checked(framed.as_ref().map_or(ground, |framed| framed));
        if !state.started {
            if !self.begin(state, ground) {
                let at = state.seen(state.body[1].at);
                self.place(state);
                return Err(WalkError::NoGround { at });
            }
            state.started = true;
            self.tick(state, ground, command);
        } else {
            self.board(state, dt);
            state.since += dt;
        }
        for _ in 0..MOST {
            if state.since < TICK - NOW {
                break;
            }
            state.since -= TICK;
            self.tick(state, ground, command);
        }
        state.since = state.since.min(TICK);
        self.show(state, workspace, pose, dt)
    }

    /// Poses the legs at the present frame.
    fn show(
        &self,
        state: &mut WalkState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        dt: f32,
    ) -> Result<WalkReport, WalkError> {
        let skeleton = Arc::clone(pose.skeleton());
        let share = (state.since / TICK).clamp(0.0, 1.0);
        let body = Body::between(&state.body[0], &state.body[1], TICK, share);
        let placement = self.placement(&body, state.scale)?;
        let seen = match state.frame == Placement::IDENTITY {
            true => placement,
            false => Placement::new(state.frame.world_from_model() * placement.world_from_model())?,
        };
        pose.update();
        let left = Vec3::Y.cross(self.creature.front());
        let influence = state.influence;
        for (end, state) in self.creature.ends.iter().zip(&mut state.ends) {
            let (a, b) = (state.before, state.lift);
            let lift = hermite([a.value, b.value], [a.rate, b.rate], TICK, share).x * influence;
            // A pose that nobody has set since still holds what was written.
            let now = pose.local(end.joint).rotation;
            let own = state.wrote.filter(|[wrote, _]| *wrote == now).map_or(now, |[_, own]| own);
            pose.set_rotation(end.joint, own);
            if lift != 0.0 {
                pose.turn(end.joint, math::axis_angle(left, -end.side * lift));
            }
            state.wrote = Some([pose.local(end.joint).rotation, own]);
        }
        pose.update();
        let ends = self.creature.ends.iter().zip(&mut state.ends).zip(&mut state.trails);
        for ((end, of), trail) in ends {
            self.pull(end, trail, workspace, pose, (&placement, influence, dt));
            if let Some([wrote, _]) = &mut of.wrote {
                *wrote = pose.local(end.joint).rotation;
            }
        }
        let given: &mut Given = workspace.scratch();
        let mut out_of_reach = 0.0f32;
        for (leg, of) in state.legs.iter().zip(&self.creature.legs).filter(|_| influence > 0.0) {
            given.0.clear();
            for (joint, rest) in &of.rest {
                given.0.push(*pose.local(*joint));
                pose.set_local(*joint, *rest);
            }
            let [a, b] = leg.at;
            let point = hermite([a.point, b.point], [a.rate, b.rate], TICK, share);
            let mut turn = math::slerp(a.turn, b.turn, share);
            let above = pose.parent_model(of.root);
            let (into, root) = (above.inverse(), math::rotation_of(&above.matrix3));
            let mut rolled = 0.0f32;
            // A foot that would bend to its other side rolls over the edge of its sole instead.
            for _ in 0..3 {
                let ankle = point + Vec3::Y * (of.radius * math::sin(rolled.min(1.5)) * state.scale)
                    - math::rotate(turn, of.sole) * state.scale;
                let goal = into.transform_point3(placement.to_model(ankle));
                let mut frame = root;
                let mut kept = true;
                let mut keep = |joint: JointId, rotation: Quat| {
                    let limits = skeleton.limits(joint);
                    let within = limits.turns_freely() || limits.is_within(rotation);
                    kept &= within;
                    if within { rotation } else { limits.clamp(rotation) }
                };
                let beyond = of.fold.solve(goal, |joint, rotation| {
                    let rotation = keep(joint, rotation);
                    pose.set_rotation(joint, rotation);
                    frame = math::mul(frame, rotation);
                });
                let wanted = placement.rotation_to_model(math::mul(turn, of.rotation));
                let local = keep(of.foot, math::normalize(math::mul(math::conjugate(frame), wanted)));
                pose.set_rotation(of.foot, local);
                let mut beyond = beyond * math::uniform_scale(&above.matrix3).abs() * state.scale;
                if !kept {
                    pose.update();
                    beyond = placement.to_world(pose.position(of.foot)).distance(ankle);
                }
                let by = of.bend.map_or(0.0, |bend| bend.keep(local));
                let Some(bend) = of.bend.filter(|_| by > 1e-4) else {
                    out_of_reach = out_of_reach.max(beyond);
                    break;
                };
                let axis = placement.rotation_to_world(frame);
                turn = math::mul(math::axis_angle(math::rotate(axis, bend.axis()), by), turn);
                rolled += by;
            }
            if influence < 1.0 {
                for ((joint, _), given) in of.rest.iter().zip(&given.0) {
                    let mut local = *pose.local(*joint);
                    local.rotation = skeleton.limits(*joint).blend(given.rotation, local.rotation, influence);
                    local.translation = given.translation.lerp(local.translation, influence);
                    local.scale = given.scale.lerp(local.scale, influence);
                    pose.set_local(*joint, local);
                }
            }
        }
        pose.update();
        Ok(WalkReport {
            placement: seen,
            gait: self.gaits[state.gait].0,
            standing: state.legs.iter().filter(|l| l.swing.is_none()).count(),
            pace: state.pace,
            waits: state.waits,
            max_speed: state.max_speed,
            out_of_reach,
        })
    }
}

impl WalkState {
    /// The feet in the present frame, in the order of [`Creature::legs`](super::Creature::legs).
    pub fn feet(&self) -> impl ExactSizeIterator<Item = WalkFoot> + '_ {
        let share = (self.since / TICK).clamp(0.0, 1.0);
        self.legs.iter().map(move |leg| {
            let [a, b] = leg.at;
            let point = hermite([a.point, b.point], [a.rate, b.rate], TICK, share);
            WalkFoot { point: self.seen(point), stands: leg.swing.is_none(), refused: leg.refused }
        })
    }

    /// The placement at which the creature started, or was put.
    pub fn start(&self) -> &Placement {
        &self.start
    }
}
