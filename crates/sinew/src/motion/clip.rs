//! Clips: named sets of tracks on a skeleton's joints.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::{JointId, Pose, Skeleton, math, math64};

use super::{Track, track::TrackCursor};

/// Errors of building a clip.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ClipError {
    /// No joint has a track.
    #[error("clip `{clip}` has no track on any joint")]
    Empty {
        /// The clip's name.
        clip: String,
    },
    /// A track names a joint that the skeleton does not have.
    #[error("clip `{clip}` has a track on joint {joint}, but the skeleton has {count} joints")]
    NoSuchJoint {
        /// The clip's name.
        clip: String,
        /// The joint.
        joint: JointId,
        /// Number of joints in the skeleton.
        count: usize,
    },
}

/// The tracks of one joint. A part without a track keeps the pose's value.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTracks {
    /// The joint.
    pub joint: JointId,
    /// Local translation, in the parent's units.
    pub translation: Option<Track<Vec3>>,
    /// Local rotation, as quaternions.
    pub rotation: Option<Track<Quat>>,
    /// Local scale.
    pub scale: Option<Track<Vec3>>,
}

impl JointTracks {
    /// No tracks yet for this joint.
    pub const fn new(joint: JointId) -> Self {
        Self { joint, translation: None, rotation: None, scale: None }
    }

    fn sample_from(&self, cursors: &mut [TrackCursor; 3], time: f32, pose: &mut Pose) {
        let [translation, rotation, scale] = cursors;
        let mut local = *pose.local(self.joint);
        if let Some(t) = &self.translation {
            local.translation = t.sample_from(translation, time);
        }
        if let Some(r) = &self.rotation {
            // A unit quaternion keeps its bits.
            let sampled = r.sample_from(rotation, time);
            local.rotation = math::unit(sampled).unwrap_or_else(|| math::normalize(sampled));
        }
        if let Some(s) = &self.scale {
            local.scale = s.sample_from(scale, time);
        }
        pose.set_local(self.joint, local);
    }

    /// Whether a value changes over time.
    pub(super) fn moves(&self) -> bool {
        fn changes<T: super::TrackValue + PartialEq>(track: &Option<Track<T>>) -> bool {
            track.as_ref().is_some_and(|t| t.values().iter().any(|v| *v != t.values()[0]))
        }
        changes(&self.translation) || changes(&self.rotation) || changes(&self.scale)
    }

    /// The key times of each existing track, in seconds.
    pub(super) fn times(&self) -> impl Iterator<Item = &[f32]> {
        let t = self.translation.as_ref().map(Track::times);
        let r = self.rotation.as_ref().map(Track::times);
        let s = self.scale.as_ref().map(Track::times);
        [t, r, s].into_iter().flatten()
    }
}

/// Remembers where a character's clip was sampled last ([`Clip::sample_from`]). It is a hint: samples have the same bits
/// with any cursor, also with that of another clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipCursor {
    /// Translation, rotation and scale of each joint.
    tracks: Vec<[TrackCursor; 3]>,
}

/// A named motion of a skeleton's joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    name: String,
    pub(super) tracks: Vec<JointTracks>,
    start: f32,
    end: f32,
}

impl Clip {
    /// A clip of tracks on the joints of `skeleton`. It lasts from the first key of any track to the last.
    ///
    /// # Errors
    ///
    /// - [`ClipError::NoSuchJoint`] if a track names a joint outside the skeleton.
    /// - [`ClipError::Empty`] if no joint has a track.
    pub fn new(
        name: impl Into<String>,
        skeleton: &Skeleton,
        tracks: Vec<JointTracks>,
    ) -> Result<Self, ClipError> {
        let name = name.into();
        let (mut start, mut end) = (f32::INFINITY, f32::NEG_INFINITY);
        for track in &tracks {
            if track.joint.index() >= skeleton.len() {
                return Err(ClipError::NoSuchJoint { clip: name, joint: track.joint, count: skeleton.len() });
            }
            for times in track.times() {
                start = start.min(times[0]);
                end = end.max(times[times.len() - 1]);
            }
        }
        if start > end {
            return Err(ClipError::Empty { clip: name });
        }
        Ok(Self { name, tracks, start, end })
    }

    /// The clip's name. It may be empty.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tracks of each joint, in the given order.
    pub fn tracks(&self) -> &[JointTracks] {
        &self.tracks
    }

    /// Time of the first key of any track, in seconds.
    pub fn start(&self) -> f32 {
        self.start
    }

    /// Time of the last key of any track, in seconds.
    pub fn end(&self) -> f32 {
        self.end
    }

    /// Time from the first key to the last, in seconds.
    pub fn duration(&self) -> f32 {
        self.end - self.start
    }

    /// Times of the keys of all tracks in seconds, in order, each once.
    pub fn key_times(&self) -> Vec<f32> {
        let mut times: Vec<f32> =
            self.tracks.iter().flat_map(JointTracks::times).flatten().copied().collect();
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();
        times
    }

    /// Keys per second of the densest track whose values change; 0 if no value changes.
    pub fn key_rate(&self) -> f32 {
        fn rate<T: super::TrackValue + PartialEq>(track: &Option<Track<T>>) -> f32 {
            let Some(track) = track else { return 0.0 };
            let (times, values) = (track.times(), track.values());
            let n = times.len();
            if n < 2 || values.iter().all(|v| *v == values[0]) {
                return 0.0;
            }
            (n - 1) as f32 / (times[n - 1] - times[0])
        }
        self.tracks
            .iter()
            .map(|t| rate(&t.translation).max(rate(&t.rotation)).max(rate(&t.scale)))
            .fold(0.0, f32::max)
    }

    /// Sets the joints of the clip to their transforms at `time`, in seconds and clamped to the clip. Other joints keep
    /// their transforms. Does not recompute model space: call [`Pose::update`].
    pub fn sample(&self, time: f32, pose: &mut Pose) {
        for tracks in &self.tracks {
            tracks.sample_from(&mut Default::default(), time, pose);
        }
    }

    /// [`Clip::sample`], with the same bits, from where the cursor's last sample was: for a clip that plays frame by frame.
    /// The first sample of a clip may allocate.
    pub fn sample_from(&self, cursor: &mut ClipCursor, time: f32, pose: &mut Pose) {
        cursor.tracks.resize(self.tracks.len(), Default::default());
        for (tracks, cursors) in self.tracks.iter().zip(&mut cursor.tracks) {
            tracks.sample_from(cursors, time, pose);
        }
    }

    /// [`Clip::sample`] of a clip that plays in a loop: the end of a round is the start of the next. `time` is in seconds, on
    /// the clip's own clock, and may lie any number of rounds after the end or before the start.
    ///
    /// At the end itself it is the start that is sampled. A clip of no length has one pose at all times. A time that is not
    /// finite gives the start.
    pub fn sample_looped(&self, time: f32, pose: &mut Pose) {
        self.sample(round_of(self.start, self.end, time).1, pose);
    }

    /// [`Clip::sample_looped`], with the same bits, from where the cursor's last sample was, as in [`Clip::sample_from`].
    pub fn sample_looped_from(&self, cursor: &mut ClipCursor, time: f32, pose: &mut Pose) {
        self.sample_from(cursor, round_of(self.start, self.end, time).1, pose);
    }
}

/// Whole rounds of a loop from `start` to `end` before `time` (negative before the start), and the time within the round. In
/// `f64`, so that the two together are the time that was given.
pub(super) fn round_of(start: f32, end: f32, time: f32) -> (f64, f32) {
    let length = f64::from(end) - f64::from(start);
    let since = f64::from(time) - f64::from(start);
    if !(length > 0.0 && since.is_finite()) {
        return (0.0, start);
    }
    let mut within = since % length;
    if within < 0.0 {
        within += length;
    }
    // A time just before the start is rounded to the end of the round before: the start of a round.
    if within >= length {
        within = 0.0;
    }
    (math64::round((since - within) / length), (f64::from(start) + within) as f32)
}
