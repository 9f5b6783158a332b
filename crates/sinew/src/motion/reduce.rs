//! Removal of keys that a clip does not need.

use alloc::{collections::BinaryHeap, string::String, vec::Vec};
use core::cmp::Reverse;

use glam::{Quat, Vec3};
use thiserror::Error;

use super::{Clip, ClipError, JointTracks, Track, TrackCursor, TrackValue};
use crate::{JointId, JointTransform, Pose, Skeleton, math, math64, pose::Frame};

/// Errors of [`Clip::reduced`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReduceError {
    /// A tolerance is negative or not finite.
    #[error("the tolerance of joint {joint} at {time} s must be finite and 0 or more, not {tolerance}")]
    Tolerance {
        /// The joint.
        joint: JointId,
        /// The time in seconds.
        time: f32,
        /// The tolerance in metres.
        tolerance: f32,
    },
    /// The clip is too long.
    #[error(
        "clip `{clip}` has {times} times of keys and half-way between, of {joints} joints: {most} in all are allowed"
    )]
    TooLong {
        /// The clip's name.
        clip: String,
        /// Number of times.
        times: usize,
        /// Number of joints of the skeleton.
        joints: usize,
        /// The largest number of times times joints.
        most: usize,
    },
    /// The clip moves a joint that the skeleton does not have.
    #[error(transparent)]
    Clip(#[from] ClipError),
}

/// Distance of the points that show a joint's own turn, as a share of its longest bone: that of the skin from the axis of a
/// person's forearm and shin where they are thinnest (circumferences of 17 and 22 cm, bones of 26 and 43 cm).
const SHELL: f32 = 0.1;

/// Largest number of times times joints, each of which takes about 80 bytes: 20 minutes of 60 joints at 60 keys a second.
pub(crate) const MOST: usize = 10_000_000;

impl Clip {
    /// The clip without the keys that it does not need: at each time of a key, and half-way between two such times, every
    /// joint stays within `tolerance` of where the clip has it. The tolerance is a distance in model space, in metres, of a
    /// joint at a time in seconds; so standing feet can be held more tightly than the rest. Joints' own turns count as well,
    /// by points beside them at a tenth of their longest bone (for a joint without a bone below it, of the one above, but at
    /// most of the figure's median bone).
    ///
    /// Keys keep their values and their interpolation, and tracks their first and last keys. `rest` holds the transforms of
    /// joints without tracks. The key whose removal moves the figure least, in tolerances, goes first. About 80 bytes a joint
    /// and time are used meanwhile.
    ///
    /// # Errors
    ///
    /// - [`ReduceError::Tolerance`] if a tolerance is negative or not finite.
    /// - [`ReduceError::TooLong`] if there are more than ten million joints and times.
    /// - [`ReduceError::Clip`] if the clip is of another skeleton.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use sinew::{JointTransform, Pose, Skeleton, glam::Vec3};
    /// # use sinew::motion::{Clip, Interpolation, JointTracks, Track};
    /// # let mut builder = Skeleton::builder();
    /// # builder.add("hip", None, JointTransform::IDENTITY);
    /// # let (skeleton, joints) = builder.build()?;
    /// # let (rest, hip) = (Pose::rest(&Arc::new(skeleton)), joints[0]);
    /// // A hip that rises evenly to 1 m needs the keys of its ends only.
    /// let times: Vec<f32> = (0..=30).map(|frame| frame as f32 / 30.0).collect();
    /// let values = times.iter().map(|t| Vec3::Y * *t).collect();
    /// let rising = Track::new(times, values, Interpolation::Linear)?;
    /// let tracks = vec![JointTracks { translation: Some(rising), ..JointTracks::new(hip) }];
    /// let clip = Clip::new("rise", rest.skeleton(), tracks)?;
    /// let reduced = clip.reduced(&rest, |_, _| 0.001)?;
    /// assert_eq!(reduced.tracks()[0].translation.as_ref().unwrap().times(), [0.0, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias("simplify", "decimate", "compress", "keyframe reduction"))]
    pub fn reduced(&self, rest: &Pose, tolerance: impl Fn(JointId, f32) -> f32) -> Result<Self, ReduceError> {
        let skeleton = rest.skeleton();
        if let Some(other) = self.tracks.iter().find(|t| t.joint.index() >= skeleton.len()) {
            let (clip, joint, count) = (self.name().into(), other.joint, skeleton.len());
            return Err(ClipError::NoSuchJoint { clip, joint, count }.into());
        }
        let mut reduction = Reduction::new(self, rest, tolerance)?;
        reduction.run();
        Ok(reduction.clip()?)
    }
}

/// A translation, rotation or scale of a joint whose keys are removed.
struct Channel {
    /// Index among the clip's joints.
    tracks: usize,
    part: usize,
    /// Index of each key's time among the samples.
    samples: Vec<u32>,
    /// The keys that are left before and after each key. Itself, for the first and the last.
    links: Vec<[u32; 2]>,
}

/// The part of a clip's joint, whatever its type.
macro_rules! with_part {
    ($tracks:expr, $part:expr, |$track:ident| $then:expr) => {
        match $part {
            0 => $tracks.translation.as_ref().map(|$track| $then),
            1 => $tracks.rotation.as_ref().map(|$track| $then),
            _ => $tracks.scale.as_ref().map(|$track| $then),
        }
    };
}

struct Reduction<'a> {
    clip: &'a Clip,
    skeleton: &'a Skeleton,
    /// Times of all keys and half-way between them.
    times: Vec<f32>,
    /// Sample by sample, each in the skeleton's order: what the clip shows, how far each joint may be from it, and the local
    /// transforms by the keys that are left.
    shown: Vec<[Vec3; 3]>,
    tolerances: Vec<f32>,
    locals: Vec<JointTransform>,
    /// Distance of the points beside each joint, in the joint's units.
    shells: Vec<f32>,
    channels: Vec<Channel>,
    /// Frames of the joints that a key moves.
    frames: Vec<Frame>,
}

impl<'a> Reduction<'a> {
    fn new(
        clip: &'a Clip,
        rest: &'a Pose,
        tolerance: impl Fn(JointId, f32) -> f32,
    ) -> Result<Self, ReduceError> {
        let skeleton = &**rest.skeleton();
        let mut times = clip.key_times();
        let keys = times.len();
        times.extend_from_within(1..);
        for i in 1..keys {
            times[keys + i - 1] = times[i - 1] + 0.5 * (times[i] - times[i - 1]);
        }
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();

        let joints = skeleton.len();
        if times.len().saturating_mul(joints) > MOST {
            let (clip, times) = (clip.name().into(), times.len());
            return Err(ReduceError::TooLong { clip, times, joints, most: MOST });
        }
        let shells = shells(skeleton);
        let mut this = Self {
            clip,
            skeleton,
            shown: Vec::with_capacity(times.len() * joints),
            tolerances: Vec::with_capacity(times.len() * joints),
            locals: Vec::with_capacity(times.len() * joints),
            times,
            shells,
            channels: Vec::new(),
            frames: alloc::vec![Frame::IDENTITY; joints],
        };
        let (mut pose, mut cursor) = (rest.clone(), Default::default());
        for &time in &this.times {
            clip.sample_from(&mut cursor, time, &mut pose);
            pose.update();
            this.locals.extend_from_slice(pose.locals());
            for joint in skeleton.joints() {
                let tolerance = tolerance(joint, time);
                if !(0.0..=f32::MAX).contains(&tolerance) {
                    return Err(ReduceError::Tolerance { joint, time, tolerance });
                }
                this.tolerances.push(tolerance);
            }
        }
        for sample in 0..this.times.len() {
            this.forward(sample, 0..joints);
            this.shown.extend((0..joints).map(|j| points(&this.frames[j], this.shells[j])));
        }
        for (index, tracks) in clip.tracks.iter().enumerate() {
            for part in 0..3 {
                let Some(times) = with_part!(tracks, part, |t| t.times()) else { continue };
                let at = |t: &f32| this.times.partition_point(|s| s < t) as u32;
                let last = times.len() as u32 - 1;
                this.channels.push(Channel {
                    tracks: index,
                    part,
                    samples: times.iter().map(at).collect(),
                    links: (0..=last).map(|k| [k.saturating_sub(1), last.min(k + 1)]).collect(),
                });
            }
        }
        Ok(this)
    }

    /// Computes the frames of a range of joints in depth-first order, of a sample. Those above are up to date.
    fn forward(&mut self, sample: usize, range: core::ops::Range<usize>) {
        let first = sample * self.skeleton.len();
        for j in range {
            let parent = self.skeleton.parents()[j] as usize;
            let above = self.frames.get(parent).copied().unwrap_or(Frame::IDENTITY);
            self.frames[j] = above.below(&self.locals[first + j]).0;
        }
    }

    /// Removes keys until each that is left is needed.
    fn run(&mut self) {
        let mut queue = BinaryHeap::new();
        for channel in 0..self.channels.len() {
            for key in 1..self.channels[channel].links.len().saturating_sub(1) {
                if let Some(error) = self.without(channel, key) {
                    // Of keys that do equally little every second one goes first, then every fourth, so that gaps grow
                    // evenly: a gap costs its length.
                    queue.push(Reverse((error, key.trailing_zeros(), channel, key)));
                }
            }
        }
        while let Some(Reverse((_, order, channel, key))) = queue.pop() {
            // Keys that went meanwhile have changed the figure.
            let Some(error) = self.without(channel, key) else { continue };
            if queue.peek().is_some_and(|Reverse((next, ..))| *next < error) {
                queue.push(Reverse((error, order, channel, key)));
                continue;
            }
            let [before, after] = self.channels[channel].links[key].map(|k| k as usize);
            self.set(channel, before, after, true);
            let links = &mut self.channels[channel].links;
            (links[before][1], links[after][0]) = (after as u32, before as u32);
            links[key] = [key as u32; 2];
        }
    }

    /// The largest distance of the figure from the clip without a key, in tolerances, as bits that sort like it. `None`
    /// beyond the tolerance.
    fn without(&mut self, channel: usize, key: usize) -> Option<u32> {
        let [before, after] = self.channels[channel].links[key].map(|k| k as usize);
        let error = self.set(channel, before, after, false);
        // Not so for NaN.
        (error <= 1.0).then(|| error.to_bits())
    }

    /// Interpolates between two keys of a channel, for good or for a trial. Returns the largest distance of what it moves
    /// from the clip, in tolerances.
    fn set(&mut self, channel: usize, before: usize, after: usize, keep: bool) -> f32 {
        let (tracks, part) = (self.channels[channel].tracks, self.channels[channel].part);
        let [from, to] = [before, after].map(|k| self.channels[channel].samples[k] as usize);
        let joint = self.clip.tracks[tracks].joint;
        let subtree = self.skeleton.subtree(joint);
        let (joints, mut error) = (self.skeleton.len(), 0.0f32);
        for sample in from + 1..to {
            let at = sample * joints + joint.index();
            let own = self.locals[at];
            self.locals[at] =
                between(&self.clip.tracks[tracks], part, before, after, self.times[sample], own);
            if keep {
                continue;
            }
            self.forward_to(sample, joint);
            self.forward(sample, subtree.clone());
            for j in subtree.clone() {
                let (shown, now) =
                    (&self.shown[sample * joints + j], points(&self.frames[j], self.shells[j]));
                let far = shown.iter().zip(&now).map(|(a, b)| a.distance_squared(*b));
                let far = math::sqrt(far.fold(0.0, |a, b| if a >= b { a } else { b }));
                let share = if far == 0.0 { 0.0 } else { far / self.tolerances[sample * joints + j] };
                // NaN stays.
                error = if error >= share { error } else { share };
            }
            self.locals[at] = own;
            if error.is_nan() || error > 1.0 {
                return error;
            }
        }
        error
    }

    /// Computes the frames above a joint.
    fn forward_to(&mut self, sample: usize, joint: JointId) {
        if let Some(parent) = self.skeleton.parent(joint) {
            self.forward_to(sample, parent);
            self.forward(sample, parent.index()..parent.index() + 1);
        }
    }

    fn clip(&self) -> Result<Clip, ClipError> {
        let mut tracks = self.clip.tracks.clone();
        for channel in &self.channels {
            let own = &mut tracks[channel.tracks];
            let last = channel.links.len() - 1;
            let is_left = |k: usize| k == 0 || k == last || channel.links[k] != [k as u32; 2];
            match channel.part {
                0 => own.translation = own.translation.take().map(|t| t.keep(is_left)),
                1 => own.rotation = own.rotation.take().map(|t| t.keep(is_left)),
                _ => own.scale = own.scale.take().map(|t| t.keep(is_left)),
            }
        }
        Clip::new(self.clip.name(), self.skeleton, tracks)
    }
}

/// Distances of the points that show the joints' own turns, in the joints' units.
pub(crate) fn shells(skeleton: &Skeleton) -> Vec<f32> {
    let length = |joint| math64::sqrt(skeleton.rest(joint).translation.as_dvec3().length_squared()) as f32;
    let bones: Vec<f32> = skeleton.joints().map(length).collect();
    let mut lengths: Vec<f32> = bones.iter().copied().filter(|b| *b > 0.0).collect();
    lengths.sort_unstable_by(f32::total_cmp);
    let median = lengths.get(lengths.len() / 2).copied().unwrap_or_default();
    let mut longest = alloc::vec![0.0f32; skeleton.len()];
    for joint in skeleton.joints() {
        if let Some(parent) = skeleton.parent(joint) {
            longest[parent.index()] = longest[parent.index()].max(bones[joint.index()]);
        }
    }
    let own = |(longest, bone): (&f32, &f32)| if *longest > 0.0 { *longest } else { bone.min(median) };
    longest.iter().zip(&bones).map(|pair| SHELL * own(pair)).collect()
}

/// A joint's position and two points beside it.
fn points(frame: &Frame, shell: f32) -> [Vec3; 3] {
    let [x, y, at] = [frame.x, frame.y, frame.at].map(|v| Vec3::new(v.x, v.y, v.z));
    [at, at + x * shell, at + y * shell]
}

/// A joint's transform with one part between two of its keys.
fn between(
    tracks: &JointTracks,
    part: usize,
    before: usize,
    after: usize,
    time: f32,
    own: JointTransform,
) -> JointTransform {
    fn at<T: TrackValue>(track: &Option<Track<T>>, before: usize, after: usize, time: f32, own: T) -> T {
        track.as_ref().map_or(own, |t| t.between(&mut TrackCursor::default(), before, after, time))
    }
    match part {
        0 => JointTransform {
            translation: at(&tracks.translation, before, after, time, own.translation),
            ..own
        },
        1 => {
            let rotation: Quat = at(&tracks.rotation, before, after, time, own.rotation);
            JointTransform {
                rotation: math::unit(rotation).unwrap_or_else(|| math::normalize(rotation)),
                ..own
            }
        }
        _ => JointTransform { scale: at(&tracks.scale, before, after, time, own.scale), ..own },
    }
}
