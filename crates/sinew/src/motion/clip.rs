//! A named set of tracks on a skeleton's joints.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::{JointId, Pose, Skeleton};

use super::Track;

/// What is wrong with a clip.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ClipError {
    /// No track at all.
    #[error("clip `{clip}` has no track on any joint")]
    Empty {
        /// The clip's name.
        clip: String,
    },
    /// A track is for a joint that the skeleton does not have.
    #[error("clip `{clip}` moves joint {joint}, but there are {count} joints")]
    NoSuchJoint {
        /// The clip's name.
        clip: String,
        /// The joint.
        joint: JointId,
        /// How many joints there are.
        count: usize,
    },
}

/// The tracks of one joint; a part without a track stays as the rest pose has it.
#[derive(Clone, Debug, PartialEq)]
pub struct JointTracks {
    /// The joint.
    pub joint: JointId,
    /// Local translation.
    pub translation: Option<Track<Vec3>>,
    /// Local rotation.
    pub rotation: Option<Track<Quat>>,
    /// Local scale.
    pub scale: Option<Track<Vec3>>,
}

impl JointTracks {
    /// No track yet.
    pub const fn new(joint: JointId) -> Self {
        Self { joint, translation: None, rotation: None, scale: None }
    }

    /// The key times of each track that there is.
    fn times(&self) -> impl Iterator<Item = &[f32]> {
        let t = self.translation.as_ref().map(Track::times);
        let r = self.rotation.as_ref().map(Track::times);
        let s = self.scale.as_ref().map(Track::times);
        [t, r, s].into_iter().flatten()
    }
}

/// A named motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    name: String,
    tracks: Vec<JointTracks>,
    start: f32,
    end: f32,
}

impl Clip {
    /// A clip of tracks on the joints of `skeleton`. It lasts from the first key of any track to the last.
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

    /// The clip's name (may be empty).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The tracks.
    pub fn tracks(&self) -> &[JointTracks] {
        &self.tracks
    }

    /// Time of the first key, in seconds.
    pub fn start(&self) -> f32 {
        self.start
    }

    /// Time of the last key, in seconds.
    pub fn end(&self) -> f32 {
        self.end
    }

    /// Seconds from the first key to the last.
    pub fn duration(&self) -> f32 {
        self.end - self.start
    }

    /// Keys a second of the densest track whose values change; 0 where nothing moves.
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

    /// Sets the joints that the clip moves to what it holds at `time` (seconds, clamped to the clip); others stay as they
    /// are. Model space is not recomputed: call [`Pose::update`].
    pub fn sample(&self, time: f32, pose: &mut Pose) {
        for track in &self.tracks {
            let mut local = *pose.local(track.joint);
            if let Some(t) = &track.translation {
                local.translation = t.sample(time);
            }
            if let Some(r) = &track.rotation {
                local.rotation = crate::math::normalize(r.sample(time));
            }
            if let Some(s) = &track.scale {
                local.scale = s.sample(time);
            }
            pose.set_local(track.joint, local);
        }
    }
}
