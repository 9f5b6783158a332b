//! A clip through a rig to a clip.

use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

use thiserror::Error;

use super::{Rig, RigError, RigFrame, RigGoal, keys::KeyError};
use crate::{
    Pose, Workspace,
    motion::{BakeError, Baker, Clip, ClipError, JointTracks, ReduceError},
};

/// Errors of [`Rig::bake`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigBakeError {
    /// A frame cannot be solved.
    #[error("at {time} s of clip `{clip}`: {error}")]
    Frame {
        /// The clip's name.
        clip: String,
        /// The time in seconds.
        time: f32,
        /// The error.
        #[source]
        error: Box<RigError>,
    },
    /// There would be too many keys.
    #[error(
        "clip `{clip}` of {seconds} s needs {frames} frames of {joints} joints, and {most} keys are allowed"
    )]
    Frames {
        /// The clip's name.
        clip: String,
        /// The clip's duration in seconds.
        seconds: f32,
        /// Number of frames.
        frames: f64,
        /// Number of joints that the rig moves.
        joints: usize,
        /// The largest number of frames times joints.
        most: usize,
    },
    /// A baked value is not finite.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Keys cannot be removed.
    #[error(transparent)]
    Reduce(#[from] ReduceError),
    /// A goal cannot be a key.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The clip is of another skeleton, or nothing in it moves.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

impl RigBakeError {
    pub(super) fn refused(clip: &Clip, time: f32, error: RigError) -> Self {
        Self::Frame { clip: clip.name().into(), time, error: Box::new(error) }
    }
}

/// Longest time between two frames, in seconds.
const LONGEST: f64 = 1.0 / 30.0;

/// Largest number of frames times joints that the rig moves, each of which takes 40 bytes: over an hour of 20 joints at 60 frames
/// a second.
pub(super) const MAX_KEYS: usize = 5_000_000;

/// A baked clip, and the goals that it misses.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Baked {
    /// The clip.
    pub clip: Clip,
    /// Handles at full influence whose goals are not reached in some frame, in the rig's order.
    pub missed: Vec<MissedGoal>,
}

/// A handle that does not reach its goals throughout a baked clip.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct MissedGoal {
    /// Index of the handle.
    pub handle: usize,
    /// Number of frames in which it misses.
    pub frames: usize,
    /// Largest distance from its goals, in metres.
    pub position_residual: f32,
    /// Largest angle from their rotations, in radians.
    pub rotation_residual: f32,
    /// Time of the first frame in which it misses, in seconds.
    pub time: f32,
}

impl Rig {
    /// Plays a clip through the rig, and returns what it shows as a clip, called `NAME (baked)`, and the goals that are missed.
    ///
    /// There is a frame at each time of a key, and in between at most 1/30 s apart. `goals` sets the goals of a frame: it gets
    /// the time in seconds, the animation's pose, and goals that are unset. The figure stands at the origin of the world. A
    /// fresh [`RigState`](super::RigState) plays the frames in order.
    ///
    /// Parts of joints (translation, rotation, scale) that the rig leaves alone throughout keep their tracks; the others get
    /// linear keys at the frames. [`Clip::reduced`] removes those that are not needed.
    ///
    /// # Errors
    ///
    /// [`RigBakeError`]: a frame cannot be solved, or the clip is not one of this figure.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sinew::{Goal, JointTransform, Pose, Skeleton, glam::Vec3};
    /// # use sinew::motion::{Clip, Interpolation, JointTracks, Track};
    /// # use sinew::rig::{HandleSolver, HandleSpec, Rig, RigSpec};
    /// # let mut builder = Skeleton::builder();
    /// # let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.0));
    /// # let hips = builder.add("hips", None, at(0.0, 1.0));
    /// # let shoulder = builder.add("shoulder", Some(hips), at(0.2, 0.4));
    /// # let elbow = builder.add("elbow", Some(shoulder), at(0.3, -0.05));
    /// # builder.add("hand", Some(elbow), at(0.3, 0.05));
    /// # let (skeleton, ids) = builder.build()?;
    /// # let rest = Pose::rest(&Arc::new(skeleton));
    /// # let rising = Track::new(vec![0.0, 1.0], vec![Vec3::Y, Vec3::Y * 1.1], Interpolation::Linear)?;
    /// # let tracks = vec![JointTracks { translation: Some(rising), ..JointTracks::new(ids[0]) }];
    /// # let clip = Clip::new("rise", rest.skeleton(), tracks)?;
    /// // While the hips rise, the hand stays at a rail.
    /// let mut arm = HandleSpec::new("arm", ids[1], ids[3]);
    /// arm.solver = HandleSolver::TwoBone;
    /// let rig = Rig::new(&rest, None, &RigSpec::new(vec![arm]))?;
    /// let rail = Vec3::new(0.6, 1.2, 0.2);
    /// let baked = rig.bake(&rest, &clip, |_time, _pose, goals| goals[0] = Goal::position(rail).into())?;
    ///
    /// let mut pose = rest.clone();
    /// assert!(baked.missed.is_empty());
    /// baked.clip.sample(0.5, &mut pose);
    /// pose.update();
    /// assert!(pose.position(ids[3]).distance(rail) < 1e-4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn bake(
        &self,
        rest: &Pose,
        clip: &Clip,
        mut goals: impl FnMut(f32, &Pose, &mut [RigGoal]),
    ) -> Result<Baked, RigBakeError> {
        let name = match clip.name() {
            "" => "(baked)".into(),
            name => format!("{name} (baked)"),
        };
        // An error here, before a pose is sampled: the clip may be of another skeleton.
        Clip::new(&*name, rest.skeleton(), clip.tracks().to_vec())?;
        let times = frames(clip, self.moved.len())?;
        let (mut state, mut workspace) = (self.state(), Workspace::new());
        let refuse = |time, error| RigBakeError::refused(clip, time, error);
        // The rest pose may be of another skeleton.
        self.check(&state, rest, &RigFrame::new(0.0)).map_err(|error| refuse(clip.start(), error))?;
        let (mut pose, mut cursor) = (rest.clone(), Default::default());
        let mut baker = Baker::new(&self.skeleton, self.moved.iter().copied());
        let mut given = alloc::vec![RigGoal::new(); self.goals];
        // Whether translation, rotation and scale of each joint change.
        let mut changes = alloc::vec![[false; 3]; self.moved.len()];
        let mut before = Vec::with_capacity(self.moved.len());
        let mut missed: Vec<MissedGoal> = Vec::new();
        for (n, &time) in times.iter().enumerate() {
            // Joints without tracks are at rest, wherever the last frame's solve left them.
            pose.copy_from(rest);
            clip.sample_from(&mut cursor, time, &mut pose);
            pose.update();
            before.clear();
            before.extend(self.moved.iter().map(|&j| *pose.local(j)));
            given.fill(RigGoal::new());
            goals(time, &pose, &mut given);
            let frame = RigFrame::new(n.checked_sub(1).map_or(0.0, |last| time - times[last]));
            let report = self
                .apply(&mut state, &mut workspace, &mut pose, &frame.with_goals(&given))
                .map_err(|error| refuse(time, error))?;
            for (handle, own) in report.handles.iter().enumerate() {
                // Less influence misses on purpose.
                if own.was_off() || own.report.reached() || own.influence[0].min(own.influence[1]) < 1.0 {
                    continue;
                }
                if missed.iter().all(|m| m.handle != handle) {
                    missed.push(MissedGoal { handle, time, ..MissedGoal::default() });
                }
                for one in missed.iter_mut().filter(|m| m.handle == handle) {
                    one.frames += 1;
                    one.position_residual = one.position_residual.max(own.report.position_residual);
                    one.rotation_residual = one.rotation_residual.max(own.report.rotation_residual);
                }
            }
            for ((changes, before), &joint) in changes.iter_mut().zip(&before).zip(&self.moved) {
                let now = pose.local(joint);
                changes[0] |= now.translation != before.translation;
                changes[1] |= now.rotation != before.rotation;
                changes[2] |= now.scale != before.scale;
            }
            baker.push(time, &pose);
        }
        let baked = match baker.finish(&*name, &self.skeleton) {
            Ok(clip) => clip.tracks().to_vec(),
            // The rig leaves all of its joints at rest.
            Err(BakeError::Clip(ClipError::Empty { .. })) => {
                self.moved.iter().map(|&joint| JointTracks::new(joint)).collect()
            }
            Err(error) => return Err(error.into()),
        };
        let mut tracks: BTreeMap<usize, JointTracks> =
            clip.tracks().iter().map(|own| (own.joint.index(), own.clone())).collect();
        for (baked, changes) in baked.into_iter().zip(changes) {
            let own = tracks.entry(baked.joint.index()).or_insert(JointTracks::new(baked.joint));
            if changes[0] {
                own.translation = baked.translation;
            }
            if changes[1] {
                own.rotation = baked.rotation;
            }
            if changes[2] {
                own.scale = baked.scale;
            }
        }
        missed.sort_by_key(|m| m.handle);
        Ok(Baked { clip: Clip::new(name, &self.skeleton, tracks.into_values().collect())?, missed })
    }
}

/// Times of a clip's keys, and between them as many as are needed.
pub(super) fn frames(clip: &Clip, joints: usize) -> Result<Vec<f32>, RigBakeError> {
    let mut keys = clip.key_times();
    // The tolerance makes keys 1/30 s apart, rounded, need none in between. Casts saturate.
    let count = |pair: &[f32]| ((f64::from(pair[1]) - f64::from(pair[0])) / LONGEST - 1e-3).max(0.0) as u64;
    let counts: Vec<u64> = keys.windows(2).map(|pair| count(pair).saturating_add(1)).collect();
    let frames = counts.iter().map(|&count| count as f64).sum::<f64>() + 1.0;
    if frames * joints.max(1) as f64 > MAX_KEYS as f64 {
        let (clip, seconds) = (clip.name().into(), clip.duration());
        return Err(RigBakeError::Frames { clip, seconds, frames, joints, most: MAX_KEYS });
    }
    let own = keys.len();
    for (i, count) in counts.into_iter().enumerate() {
        let (from, to) = (f64::from(keys[i]), f64::from(keys[i + 1]));
        for k in 1..count {
            keys.push((from + (to - from) * k as f64 / count as f64) as f32);
        }
    }
    if keys.len() > own {
        keys.sort_unstable_by(f32::total_cmp);
        keys.dedup();
    }
    Ok(keys)
}
