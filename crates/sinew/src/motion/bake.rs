//! Conversion of poses, frame by frame, to a clip.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};

use crate::{JointId, JointTransform, Pose, Skeleton, math};

use super::{Clip, ClipError, Interpolation, JointTracks, Track, TrackError};

/// Builder of a clip from one pose per frame. The clip's keys are linear.
///
/// A part (translation, rotation or scale) that equals the rest pose in every frame gets no track. A part that is
/// constant otherwise gets one key. Where nothing in the clip moves, one part gets two, so that it keeps its duration.
#[derive(Clone, Debug)]
pub struct Baker {
    joints: Vec<JointId>,
    rest: Vec<JointTransform>,
    times: Vec<f32>,
    /// Local transforms frame by frame, each frame in the order of `joints`.
    frames: Vec<JointTransform>,
    /// Whether rotations keep the signs that they are pushed with.
    keep_signs: bool,
}

impl Baker {
    /// A baker for these joints.
    pub fn new(skeleton: &Skeleton, joints: impl IntoIterator<Item = JointId>) -> Self {
        let joints: Vec<_> = joints.into_iter().collect();
        let rest = joints.iter().map(|&j| *skeleton.rest(j)).collect();
        Self { joints, rest, times: Vec::new(), frames: Vec::new(), keep_signs: false }
    }

    /// Keeps the signs of the quaternions that are pushed, for poses that must come back bit by bit. By default adjacent keys
    /// are in one hemisphere.
    #[must_use]
    pub fn keep_signs(self) -> Self {
        Self { keep_signs: true, ..self }
    }

    /// Adds a frame at `time` in seconds. Times must increase from frame to frame; [`Baker::finish`] checks this.
    pub fn push(&mut self, time: f32, pose: &Pose) {
        self.times.push(time);
        self.frames.extend(self.joints.iter().map(|&j| *pose.local(j)));
    }

    /// Builds the clip of all frames.
    ///
    /// # Errors
    ///
    /// - [`BakeError::Clip`] if there is no frame, or no joint ever leaves the rest pose.
    /// - [`BakeError::Track`] if times do not increase, or a value is not finite.
    pub fn finish(self, name: impl Into<String>, skeleton: &Skeleton) -> Result<Clip, BakeError> {
        let n = self.joints.len();
        let mut tracks = Vec::with_capacity(n);
        for (i, &joint) in self.joints.iter().enumerate() {
            let frames = || self.frames.iter().skip(i).step_by(n);
            let mut rotations: Vec<Quat> = frames().map(|t| t.rotation).collect();
            // Adjacent keys in one hemisphere, so that viewers with component-wise interpolation take the shorter arc
            // too.
            let keys = if self.keep_signs { 0 } else { rotations.len() };
            for k in 1..keys {
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
        if let [first, .., last] = self.times[..]
            && tracks.iter().flat_map(JointTracks::times).all(|times| times.len() == 1)
        {
            // Between equal keys, a vector keeps its bits; a rotation may lose some.
            let vectors = tracks.iter_mut().flat_map(|t| [&mut t.translation, &mut t.scale]);
            if let Some(track) = vectors.flatten().next() {
                *track = held(track, [first, last])?;
            } else if let Some(track) = tracks.iter_mut().find_map(|t| t.rotation.as_mut()) {
                *track = held(track, [first, last])?;
            }
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

/// A track of one key with its value at two times.
fn held<T: super::TrackValue>(track: &Track<T>, times: [f32; 2]) -> Result<Track<T>, TrackError> {
    Track::new(times.into(), alloc::vec![track.values()[0]; 2], Interpolation::Linear)
}

/// Errors of baking poses to a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BakeError {
    /// A frame's time is not after the one before, or a value is not finite.
    #[error(transparent)]
    Track(#[from] TrackError),
    /// There is no frame, or no joint leaves the rest pose.
    #[error(transparent)]
    Clip(#[from] ClipError),
}
