//! Poses, a frame at a time, back into keys.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};

use crate::{JointId, JointTransform, Pose, Skeleton, math};

use super::{Clip, ClipError, Interpolation, JointTracks, Track, TrackError};

/// Collects poses a frame and makes a clip of linear keys of them.
///
/// A part (translation, rotation, scale) that keeps the rest pose's value in every frame gets no track; one that is constant
/// otherwise gets one key.
#[derive(Clone, Debug)]
pub struct Baker {
    joints: Vec<JointId>,
    rest: Vec<JointTransform>,
    times: Vec<f32>,
    /// Frame after frame, each in the order of `joints`.
    frames: Vec<JointTransform>,
}

impl Baker {
    /// Keys will be made for these joints.
    pub fn new(skeleton: &Skeleton, joints: impl IntoIterator<Item = JointId>) -> Self {
        let joints: Vec<_> = joints.into_iter().collect();
        let rest = joints.iter().map(|&j| *skeleton.rest(j)).collect();
        Self { joints, rest, times: Vec::new(), frames: Vec::new() }
    }

    /// Adds a frame at `time` (seconds, after the frame before).
    pub fn push(&mut self, time: f32, pose: &Pose) {
        self.times.push(time);
        self.frames.extend(self.joints.iter().map(|&j| *pose.local(j)));
    }

    /// The clip of all frames.
    pub fn finish(self, name: impl Into<String>, skeleton: &Skeleton) -> Result<Clip, BakeError> {
        let n = self.joints.len();
        let mut tracks = Vec::with_capacity(n);
        for (i, &joint) in self.joints.iter().enumerate() {
            let frames = || self.frames.iter().skip(i).step_by(n);
            let mut rotations: Vec<Quat> = frames().map(|t| t.rotation).collect();
            // Neighbours in one hemisphere, so that viewers that interpolate component-wise take the short way too.
            for k in 1..rotations.len() {
                if math::dot(rotations[k - 1], rotations[k]) < 0.0 {
                    let q = rotations[k];
                    rotations[k] = Quat::from_xyzw(-q.x, -q.y, -q.z, -q.w);
                }
            }
            tracks.push(JointTracks {
                joint,
                translation: self
                    .track(frames().map(|t| t.translation).collect(), self.rest[i].translation)?,
                rotation: self.track(rotations, self.rest[i].rotation)?,
                scale: self.track::<Vec3>(frames().map(|t| t.scale).collect(), self.rest[i].scale)?,
            });
        }
        Ok(Clip::new(name, skeleton, tracks)?)
    }

    fn track<T>(&self, values: Vec<T>, rest: T) -> Result<Option<Track<T>>, TrackError>
    where
        T: super::TrackValue + PartialEq,
    {
        if values.iter().all(|v| *v == rest) {
            return Ok(None);
        }
        if values.iter().all(|v| *v == values[0]) {
            return Track::new(self.times[..1].into(), values[..1].into(), Interpolation::Linear).map(Some);
        }
        Track::new(self.times.clone(), values, Interpolation::Linear).map(Some)
    }
}

/// Why poses made no clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// Frames out of order, or a value that is not finite.
    #[error(transparent)]
    Track(#[from] TrackError),
    /// No frame, or nothing that moves.
    #[error(transparent)]
    Clip(#[from] ClipError),
}
