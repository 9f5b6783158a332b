//! A clip as keys of a rig's goals.
//!
//! A limb has nine degrees of freedom, three a joint. Position and rotation of its goal are six, the pole is the seventh: the
//! limb's bend, and the plane of the bend. What is left are the rolls of its upper and of its middle bone. A goal holds them as
//! [turns](RigGoal::turns) beside the solved pose: let R be the model rotation of a joint as it is solved from the pole, and W that
//! of the clip, then the turn is R^-1 W. Turns that are rounding throughout the clip get no keys.

use alloc::{vec, vec::Vec};

use glam::{Quat, Vec3};

use super::{
    Baked, MissedGoal, Rig, RigBakeError, RigError, RigFrame, RigGoal, RigState,
    bake::{MAX_KEYS, frames},
    handle::Handle,
    keys::{Key, KeyChannel, KeyEdit, KeyError, KeyInterpolation, KeyOwner, KeyValue, RigKeys},
    residual::Residual,
};
use crate::{
    JointTransform, Placement, Pole, Pose, Workspace, math,
    motion::{Clip, ClipCursor, JointTracks, Track, TrackValue},
};

/// Largest turn in radians beside a limb that is left out where no frame has a larger one: half of a tenth of a degree, as those of
/// both joints add up. By the positions of an almost straight limb, its plane is known to 3e-4 (`STRAIGHT` in read.rs).
const ROUNDING: f32 = 8.7e-4;

/// Largest turn in radians that joints may be off half-way between two frames: a tenth of a degree, 0.7 mm at the end of a leg.
const HALF_WAY: f32 = 1.75e-3;

/// Number of times that the time between two frames is halved at most: to 4 ms between frames of 30 a second.
const HALVES: u32 = 3;

/// A clip as keys of goals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BakedGoals {
    /// Keys of the goals, linear: at the frames, and half-way between them where the joints would leave the result.
    pub keys: RigKeys,
    /// Tracks of the result that the goals do not show; `None` where they show everything. It has the name of the clip.
    pub clip: Option<Clip>,
    /// Handles at full influence whose own goals are not reached in some frame, in the rig's order: see [`Baked::missed`].
    pub missed: Vec<MissedGoal>,
    /// How far the joints of each handle are from the result where the keys are played through the rig, in the rig's order.
    pub deviations: Vec<Deviation>,
}

/// Largest deviation of a handle's joints at the keys of a clip.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Deviation {
    /// Angle in radians between rotations in model space.
    pub turn: f32,
    /// Distance in metres.
    pub distance: f32,
    /// Time of the largest angle, in seconds.
    pub time: f32,
}

impl Rig {
    /// Plays a clip through the rig as [`bake`](Self::bake) does, and returns the result as keys of the rig's goals.
    ///
    /// Limbs ([two-bone](super::HandleSolver::TwoBone), [foot](super::HandleSolver::Foot)) and
    /// [places](super::HandleSolver::Place) show the result by their goals: positions, rotations and poles, in the space that each
    /// goal [has](super::GoalSpec::space), and [turns](RigGoal::turns) of a limb's root and middle joint where these need any. The
    /// rotations of their joints, and the offset of a place, therefore have no tracks in [`BakedGoals::clip`]; nor have offsets that
    /// are those at rest. Goals of other chains and of full bodies are keyed as well, while their joints keep their tracks. Those
    /// of look-at, aim, follow, spline and twist are not keyed, nor are those of handles that are off or have less than full
    /// influence.
    ///
    /// To play the keys, sample [`BakedGoals::clip`] on the [preferred pose](Self::preferred_pose), [`RigKeys::sample`] the
    /// goals, and [`apply`](Self::apply).
    ///
    /// # Errors
    ///
    /// As [`bake`](Self::bake).
    pub fn bake_goals(
        &self,
        rest: &Pose,
        clip: &Clip,
        goals: impl FnMut(f32, &Pose, &mut [RigGoal]),
    ) -> Result<BakedGoals, RigBakeError> {
        let Baked { clip: shown, missed, .. } = self.bake(rest, clip, goals)?;
        let times = frames(&shown, self.moved.len())?;
        let left = self.left(&shown, clip.name())?;
        let refuse = |time, error| RigBakeError::refused(clip, time, error);
        let mut player = Player::new(self, rest, &shown, left.as_ref());
        let mut all: Vec<Frame> = Vec::with_capacity(times.len());
        for (n, &time) in times.iter().enumerate() {
            let dt = n.checked_sub(1).map_or(0.0, |last| time - times[last]);
            all.push(player.read(time, dt).map_err(|error| refuse(time, error))?);
        }
        let mut spare = (MAX_KEYS / self.moved.len().max(1)).saturating_sub(all.len());
        let mut refined: Vec<Frame> = Vec::with_capacity(all.len());
        for frame in all {
            if let Some(before) = refined.last().cloned() {
                player
                    .refine([&before, &frame], HALVES, &mut spare, &mut refined)
                    .map_err(|error| refuse(frame.time, error))?;
            }
            refined.push(frame);
        }
        let mut all = refined;
        for handle in self.handles.iter().filter(|h| h.shows()) {
            for part in 0..2 {
                let is_rounding = |frame: &Frame| {
                    let turn = frame.goals[handle.first].turns[part];
                    math::angle_between(turn, Quat::IDENTITY) <= ROUNDING
                };
                if all.iter().all(is_rounding) {
                    all.iter_mut().for_each(|f| f.goals[handle.first].turns[part] = Quat::IDENTITY);
                }
            }
        }
        let keys = self.keys_of(&all)?;
        let mut deviations = vec![Deviation::default(); self.len()];
        player.state = self.state();
        let mut last = None;
        for frame in &all {
            let dt = last.map_or(0.0, |last| frame.time - last);
            player.play(frame.time, dt, &frame.goals).map_err(|error| refuse(frame.time, error))?;
            player.compare(frame.time, &mut deviations);
            last = Some(frame.time);
        }
        Ok(BakedGoals { keys, clip: left, missed, deviations })
    }

    /// A pose at rest, with preferred rotations of the roots and middles of limbs. It is where limbs start that no track moves:
    /// their elbows and knees bend the way they do on a person, also where they are straight at rest.
    pub fn preferred_pose(&self, rest: &Pose) -> Pose {
        let mut pose = rest.clone();
        for handle in &*self.handles {
            for at in handle.bends().into_iter().flatten() {
                pose.set_rotation(handle.joints[at], handle.preferred[at].rotation);
            }
        }
        pose.update();
        pose
    }

    /// A baked clip without what goals show.
    fn left(&self, shown: &Clip, name: &str) -> Result<Option<Clip>, RigBakeError> {
        let mut parts = vec![[false; 2]; self.skeleton.len()];
        for handle in self.handles.iter().filter(|h| h.shows()) {
            match handle.bends() {
                Some(at) => {
                    let shown = at.map(|at| handle.joints[at]).into_iter().chain([handle.chain.tip()]);
                    shown.for_each(|joint| parts[joint.index()][1] = true);
                }
                None => parts[handle.chain.tip().index()] = [true; 2],
            }
        }
        let mut left = Vec::new();
        for tracks in shown.tracks() {
            let [translation, rotation] = parts[tracks.joint.index()];
            let mut own = tracks.clone();
            if rotation {
                own.rotation = None;
                own.translation = own.translation.filter(|t| !is_rest(t, self.skeleton.rest(tracks.joint)));
            }
            if translation {
                own.translation = None;
            }
            if own != JointTracks::new(own.joint) {
                left.push(own);
            }
        }
        Ok(if left.is_empty() { None } else { Some(Clip::new(name, &self.skeleton, left)?) })
    }

    /// Linear keys of goals, frame by frame.
    fn keys_of(&self, all: &[Frame]) -> Result<RigKeys, KeyError> {
        let mut keys = RigKeys::new(self);
        let mut edit = KeyEdit::new();
        for index in 0..self.goals {
            let goals = || all.iter().map(|frame| &frame.goals[index]);
            let [space, pole_space] = keys.spaces(index, 0.0)?;
            let mut track = |channel, value: &dyn Fn(&RigGoal) -> Option<KeyValue>| {
                // A frame may have none, such as the pole of a limb that is folded onto its root.
                let at = |frame: &Frame| Some((frame.time, value(&frame.goals[index])?));
                let mut values: Vec<(f32, KeyValue)> = all.iter().filter_map(at).collect();
                if values.iter().all(|(_, v)| *v == values[0].1) {
                    values.truncate(1);
                }
                for (time, value) in values {
                    let key = Key::new(time, value).with_interpolation(KeyInterpolation::Linear);
                    edit = core::mem::take(&mut edit).set(KeyOwner::Goal(index), channel, key);
                }
            };
            track(KeyChannel::position(space), &|g| g.goal.position.map(Into::into));
            track(KeyChannel::rotation(space), &|g| g.goal.rotation.map(Into::into));
            track(KeyChannel::pole(pole_space), &|g| match g.goal.pole {
                Pole::Point(p) if g.goal.position.is_some() => Some(p.into()),
                _ => None,
            });
            for (part, channel) in [KeyChannel::UpperTurn, KeyChannel::MiddleTurn].into_iter().enumerate() {
                if goals().any(|g| g.turns[part] != Quat::IDENTITY) {
                    track(channel, &|g| Some(g.turns[part].into()));
                }
            }
        }
        keys.edit(&edit)?;
        Ok(keys)
    }
}

/// The goals of a frame.
#[derive(Clone)]
struct Frame {
    time: f32,
    goals: Vec<RigGoal>,
}

/// A result that is read as goals, and played by them.
struct Player<'a> {
    rig: &'a Rig,
    rest: &'a Pose,
    start: Pose,
    shown: &'a Clip,
    left: Option<&'a Clip>,
    cursors: [ClipCursor; 2],
    state: RigState,
    workspace: Workspace,
    /// The result, and what the goals make of it.
    wanted: Pose,
    pose: Pose,
}

impl<'a> Player<'a> {
    fn new(rig: &'a Rig, rest: &'a Pose, shown: &'a Clip, left: Option<&'a Clip>) -> Self {
        Self {
            rig,
            rest,
            start: rig.preferred_pose(rest),
            shown,
            left,
            cursors: Default::default(),
            state: rig.state(),
            workspace: Workspace::new(),
            wanted: rest.clone(),
            pose: rest.clone(),
        }
    }

    /// Plays goals, `dt` seconds after the last frame.
    fn play(&mut self, time: f32, dt: f32, goals: &[RigGoal]) -> Result<(), RigError> {
        let [cursor, cursor_of_left] = &mut self.cursors;
        self.wanted.copy_from(self.rest);
        self.shown.sample_from(cursor, time, &mut self.wanted);
        self.wanted.update();
        self.pose.copy_from(&self.start);
        if let Some(clip) = self.left {
            clip.sample_from(cursor_of_left, time, &mut self.pose);
        }
        let frame = RigFrame::new(dt).with_goals(goals);
        self.rig.apply(&mut self.state, &mut self.workspace, &mut self.pose, &frame).map(|_| ())
    }

    /// Reads the goals of a frame.
    fn read(&mut self, time: f32, dt: f32) -> Result<Frame, RigError> {
        let rig = self.rig;
        self.wanted.copy_from(self.rest);
        self.shown.sample_from(&mut self.cursors[0], time, &mut self.wanted);
        self.wanted.update();
        let mut goals = vec![RigGoal::new(); rig.goals];
        for handle in rig.handles.iter().filter(|h| h.is_poled()) {
            goals[handle.first].goal.pole = Pole::Point(Vec3::ZERO);
        }
        rig.read(&self.wanted, &Placement::IDENTITY, &mut goals)?;
        for handle in rig.handles.iter().filter(|h| !h.is_keyed()) {
            goals[handle.first..handle.first + handle.sources.len()].fill(RigGoal::new());
        }
        self.play(time, dt, &goals)?;
        for handle in rig.handles.iter().filter(|h| h.shows()) {
            let Some(at) = handle.bends() else { continue };
            let locals = |pose: &Pose| handle.joints.iter().map(|&j| *pose.local(j)).collect::<Vec<_>>();
            let (solved, own) = (locals(&self.pose), locals(&self.wanted));
            let mut residual = Residual::none(handle.joints.len());
            let joints = handle.residual_joints();
            residual.set(joints, [&solved, &own], &self.wanted, f32::INFINITY, &mut Vec::new());
            goals[handle.first].turns = at.map(|at| residual.turn(at));
        }
        Ok(Frame { time, goals })
    }

    /// Adds frames between two, where what is between their goals leaves the result half-way.
    fn refine(
        &mut self,
        [a, b]: [&Frame; 2],
        halves: u32,
        spare: &mut usize,
        to: &mut Vec<Frame>,
    ) -> Result<(), RigError> {
        let time = a.time + 0.5 * (b.time - a.time);
        if halves == 0 || *spare == 0 || time <= a.time || time >= b.time {
            return Ok(());
        }
        let goals: Vec<RigGoal> = a.goals.iter().zip(&b.goals).map(|(a, b)| between(a, b, 0.5)).collect();
        self.play(time, 0.0, &goals)?;
        let mut all = vec![Deviation::default(); self.rig.len()];
        self.compare(time, &mut all);
        if all.iter().all(|own| own.turn <= HALF_WAY) {
            return Ok(());
        }
        *spare -= 1;
        let middle = self.read(time, 0.0)?;
        self.refine([a, &middle], halves - 1, spare, to)?;
        to.push(middle.clone());
        self.refine([&middle, b], halves - 1, spare, to)
    }

    /// Compares the joints of each handle with the result.
    fn compare(&self, time: f32, deviations: &mut [Deviation]) {
        for (handle, own) in self.rig.handles.iter().zip(deviations) {
            for &joint in &handle.joints {
                let of = |pose: &Pose| math::normalize(pose.model_rotation(joint));
                let turn = math::angle_between(of(&self.pose), of(&self.wanted));
                if turn > own.turn {
                    (own.turn, own.time) = (turn, time);
                }
                let apart = self.pose.position(joint).distance(self.wanted.position(joint));
                own.distance = own.distance.max(apart);
            }
        }
    }
}

/// Goals between two frames, as linear keys have them.
fn between(a: &RigGoal, b: &RigGoal, t: f32) -> RigGoal {
    let point = |a: Vec3, b: Vec3| Vec3::linear(a, b, t);
    let turn = |a: Quat, b: Quat| Quat::linear(a, b, t);
    let mut goal = *a;
    goal.goal.position = a.goal.position.zip(b.goal.position).map(|(a, b)| point(a, b));
    goal.goal.rotation = a.goal.rotation.zip(b.goal.rotation).map(|(a, b)| turn(a, b));
    if let (Pole::Point(a), Pole::Point(b)) = (a.goal.pole, b.goal.pole) {
        goal.goal.pole = Pole::Point(point(a, b));
    }
    goal.turns = [turn(a.turns[0], b.turns[0]), turn(a.turns[1], b.turns[1])];
    goal
}

/// Whether an offset is that of the joint at rest throughout, up to rounding.
fn is_rest(track: &Track<Vec3>, rest: &JointTransform) -> bool {
    let rest = rest.translation;
    track.values().iter().all(|v| v.distance(rest) <= 1e-6 * rest.length())
}

impl Handle {
    /// Whether its goals are keyed where a clip is baked to goals.
    fn is_keyed(&self) -> bool {
        self.on && self.influence == [1.0; 2] && self.keeps_its_goals()
    }

    /// Whether its goals show the pose of its joints.
    fn shows(&self) -> bool {
        self.is_keyed() && (self.bends().is_some() || self.is_place())
    }
}
