//! Removal of keys that the goals of a baked clip do not need.
//!
//! A key of a goal moves what the handle makes of it: by a metre a metre, or by far more where a limb is almost straight. So each
//! track is thinned by itself, to a bound that a share of the tolerance allows its values: metres of a position, and for
//! rotations the angle that moves the joint's points by as much. Then the keys are played, and the figure is judged as in
//! [`Clip::reduced`], by every joint at every key and half-way. Where a joint is too far off, the share of the goals that move it
//! shrinks there, until none is.

use alloc::{vec, vec::Vec};

use glam::Vec3;

use super::{
    BakedGoals, Rig, RigBakeError, RigFrame, RigGoal,
    keys::{Key, KeyChannel, KeyEdit, KeyError, KeyOwner, KeyTrack, KeyValue, RigKeys},
};
use crate::{
    JointId, Pose, Workspace, math,
    motion::{Clip, MOST, ReduceError, TrackValue, shells},
};

/// Factor by which a share shrinks, and the number of times until it is 0, by when it is a 1000th.
const SHRINK: f32 = 0.5;
const TRIALS: u8 = 10;

/// Times to either side of one at which a joint is off, at which shares shrink: to the next keys.
const BESIDE: usize = 2;

/// Shares of the tolerance that the tracks of joints take, whose errors add up with those of goals. Limbs that are almost straight
/// may allow them nothing.
const JOINTS: [f32; 3] = [0.5, 0.1, 0.0];

impl BakedGoals {
    /// The keys and tracks without those that are not needed: at each key, and half-way between two, every joint stays within
    /// `tolerance` of where it is with all of them, where they are played from the [preferred pose](Rig::preferred_pose). The
    /// tolerance is that of [`Clip::reduced`], and joints' own turns count in the same way. `rig` and `rest` are those that the clip
    /// was baked with. Deviations stay those of all keys.
    ///
    /// # Errors
    ///
    /// [`RigBakeError::Reduce`] for a tolerance out of range and a clip that is too long; those of [`Rig::bake`] for another
    /// figure's rig.
    pub fn reduced(
        &self,
        rig: &Rig,
        rest: &Pose,
        tolerance: impl Fn(JointId, f32) -> f32,
    ) -> Result<Self, RigBakeError> {
        let skeleton = rest.skeleton();
        let mut times: Vec<f32> = self.clip.as_ref().map_or(Vec::new(), Clip::key_times);
        times.extend(self.keys.tracks().iter().flat_map(|t| t.keys()).map(|key| key.time));
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();
        let half: Vec<f32> = times.windows(2).map(|t| t[0] + 0.5 * (t[1] - t[0])).collect();
        times.extend(half);
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();
        if times.len().saturating_mul(skeleton.len()) > MOST {
            let clip = self.clip.as_ref().map_or("", Clip::name).into();
            let (times, joints) = (times.len(), skeleton.len());
            return Err(ReduceError::TooLong { clip, times, joints, most: MOST }.into());
        }
        for joint in skeleton.joints() {
            for &time in &times {
                let tolerance = tolerance(joint, time);
                if !(0.0..=f32::MAX).contains(&tolerance) {
                    return Err(ReduceError::Tolerance { joint, time, tolerance }.into());
                }
            }
        }
        let shells = shells(skeleton);
        let start = rig.preferred_pose(rest);
        let mut shown = Vec::with_capacity(times.len() * skeleton.len());
        play(rig, &start, (&self.keys, self.clip.as_ref()), &times, |_, pose| {
            shown.extend(skeleton.joints().map(|j| points(pose, j, shells[j.index()])));
        })?;
        let levers = levers(rig, rest, &shells);
        for of_joints in JOINTS {
            let clip = match of_joints {
                0.0 => self.clip.clone(),
                share => {
                    let clip = self.clip.as_ref();
                    let reduced = clip.map(|clip| clip.reduced(rest, |j, t| share * tolerance(j, t)));
                    reduced.transpose()?
                }
            };
            // How often the share of each goal has shrunk, time by time.
            let mut shrunk = vec![vec![0u8; times.len()]; rig.goal_count()];
            loop {
                let bound = |goal: usize, key: usize| match shrunk[goal][key] {
                    TRIALS => 0.0,
                    often => (0..often).fold(1.0, |share, _| share * SHRINK),
                };
                let keys = thinned(rig, &self.keys, &levers, |goal, time| {
                    let at = times.partition_point(|t| *t < time).min(times.len() - 1);
                    bound(goal, at) * tolerance(levers[goal].joint, time)
                })?;
                // Times at which each goal moves a joint too far.
                let mut beyond = vec![vec![false; times.len()]; rig.goal_count()];
                let (mut wanted, mut at, mut within) = (shown.iter(), 0, true);
                play(rig, &start, (&keys, clip.as_ref()), &times, |time, pose| {
                    for (joint, wanted) in skeleton.joints().zip(&mut wanted) {
                        let now = points(pose, joint, shells[joint.index()]);
                        let far = now.iter().zip(wanted).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
                        if far <= tolerance(joint, time) {
                            continue;
                        }
                        within = false;
                        for (goal, lever) in levers.iter().enumerate() {
                            beyond[goal][at] |= skeleton.is_below(joint, lever.root);
                        }
                    }
                    at += 1;
                })?;
                if within {
                    return Ok(Self { keys, clip, ..self.clone() });
                }
                let mut less = false;
                for (shrunk, beyond) in shrunk.iter_mut().zip(&beyond) {
                    for (i, often) in shrunk.iter_mut().enumerate() {
                        let window = i.saturating_sub(BESIDE)..(i + BESIDE + 1).min(beyond.len());
                        if *often < TRIALS && beyond[window].contains(&true) {
                            *often += 1;
                            less = true;
                        }
                    }
                }
                if !less {
                    break;
                }
            }
        }
        Ok(self.clone())
    }
}

/// A joint's position and two points beside it.
fn points(pose: &Pose, joint: JointId, shell: f32) -> [Vec3; 3] {
    let frame = pose.model(joint);
    let at = frame.translation;
    [at, at + frame.matrix3.x_axis * shell, at + frame.matrix3.y_axis * shell]
}

/// Plays keys and a clip at times.
fn play(
    rig: &Rig,
    start: &Pose,
    (keys, clip): (&RigKeys, Option<&Clip>),
    times: &[f32],
    mut see: impl FnMut(f32, &Pose),
) -> Result<(), RigBakeError> {
    let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), start.clone());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let (mut cursor, mut last) = (Default::default(), None);
    for &time in times {
        pose.copy_from(start);
        if let Some(clip) = clip {
            clip.sample_from(&mut cursor, time, &mut pose);
        }
        goals.fill(RigGoal::new());
        keys.sample(time, &mut goals)?;
        let frame = RigFrame::new(last.map_or(0.0, |last| time - last)).with_goals(&goals);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).map_err(|error| {
            let clip = clip.map_or("", Clip::name).into();
            RigBakeError::Frame { clip, time, error: alloc::boxed::Box::new(error) }
        })?;
        see(time, &pose);
        last = Some(time);
    }
    Ok(())
}

/// The joint of a goal, and by what an angle of it moves points, in metres per radian: its rotation, and the turns of a limb.
struct Lever {
    /// The first joint that its handle moves.
    root: JointId,
    joint: JointId,
    rotation: f32,
    turns: [f32; 2],
}

fn levers(rig: &Rig, rest: &Pose, shells: &[f32]) -> Vec<Lever> {
    let mut rest = rest.clone();
    rest.update();
    let shell = |j: JointId| shells[j.index()].max(f32::MIN_POSITIVE);
    let lever = |handle: &super::handle::Handle, joint: JointId| {
        // The body takes all that hangs on it along; hands and feet what is below them.
        let at = rest.position(joint);
        let reach = rest.skeleton().below(joint).map(|j| rest.position(j).distance(at));
        let turns = handle.bends().map_or([1.0; 2], |at| at.map(|at| shell(handle.joints[at])));
        let root = handle.chain.root();
        Lever { root, joint, rotation: reach.fold(shell(joint), f32::max), turns }
    };
    rig.handles
        .iter()
        .flat_map(|h| h.sources.iter().map(move |s| (h, s.joint)))
        .map(|(h, j)| lever(h, j))
        .collect()
}

/// The keys that are left where each track keeps its values within the tolerance of its goal at a time.
fn thinned(
    rig: &Rig,
    keys: &RigKeys,
    levers: &[Lever],
    tolerance: impl Fn(usize, f32) -> f32,
) -> Result<RigKeys, KeyError> {
    let mut left = RigKeys::new(rig);
    let mut edit = KeyEdit::new();
    for track in keys.tracks() {
        let kept = match track.owner() {
            KeyOwner::Goal(goal) => {
                let lever = &levers[goal];
                // A pole is as far from the limb as that is long, its middle at most half of that.
                let metres = match track.channel() {
                    KeyChannel::Pole(_) => 0.5,
                    KeyChannel::Rotation(_) => lever.rotation,
                    KeyChannel::UpperTurn => lever.turns[0],
                    KeyChannel::MiddleTurn => lever.turns[1],
                    _ => 1.0,
                };
                thin(track, |time| tolerance(goal, time) / metres)
            }
            KeyOwner::Joint(_) => track.keys().to_vec(),
        };
        edit = edit.set_all(track.owner(), track.channel(), &kept)?;
    }
    left.edit(&edit)?;
    Ok(left)
}

/// The keys of a linear track from which those between are within bounds: from each, the next is the last that serves.
fn thin(track: &KeyTrack, bound: impl Fn(f32) -> f32) -> Vec<Key> {
    let keys = track.keys();
    let fits = |from: usize, to: usize| {
        let (a, b) = (&keys[from], &keys[to]);
        keys[from + 1..to].iter().all(|key| {
            let t = (key.time - a.time) / (b.time - a.time);
            off(a.value, b.value, t, key.value) <= bound(key.time)
        })
    };
    let mut kept = vec![keys[0]];
    let mut from = 0;
    while from + 1 < keys.len() {
        let mut to = from + 1;
        while to + 1 < keys.len() && fits(from, to + 1) {
            to += 1;
        }
        kept.push(keys[to]);
        from = to;
    }
    kept
}

/// Distance or angle of a value from that between two others.
fn off(a: KeyValue, b: KeyValue, t: f32, value: KeyValue) -> f32 {
    match (a, b, value) {
        (KeyValue::Vector(a), KeyValue::Vector(b), KeyValue::Vector(v)) => Vec3::linear(a, b, t).distance(v),
        (KeyValue::Rotation(a), KeyValue::Rotation(b), KeyValue::Rotation(q)) => {
            math::angle_between(TrackValue::linear(a, b, t), q)
        }
        (KeyValue::Number(a), KeyValue::Number(b), KeyValue::Number(x)) => (f32::linear(a, b, t) - x).abs(),
        _ => f32::INFINITY,
    }
}
