//! Clips: motions of a skeleton's joints.

use std::sync::Arc;

use sinew::{
    Skeleton,
    glam::{Quat, Vec3},
    motion::{Clip, ClipCursor, Interpolation, JointTracks, Track, TrackValue},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    failure::{failure, making},
    pose::RawPose,
    skeleton::RawSkeleton,
};

/// A clip that is being made.
#[wasm_bindgen]
pub struct RawClipBuilder {
    skeleton: Arc<Skeleton>,
    tracks: Vec<JointTracks>,
}

#[wasm_bindgen]
impl RawClipBuilder {
    /// Without tracks.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton) -> Self {
        let tracks = skeleton.skeleton.joints().map(JointTracks::new).collect();
        Self { skeleton: skeleton.skeleton.clone(), tracks }
    }

    /// Adds a track of a joint's positions (0), rotations (1) or scales (2), in steps (0) or lines (1).
    pub fn track(
        &mut self,
        joint: usize,
        part: u32,
        times: &[f32],
        values: &[f32],
        kind: u32,
    ) -> Result<(), JsValue> {
        let Some(tracks) = self.tracks.get_mut(joint) else {
            return Err(failure("input", format_args!("there is no joint {joint}")));
        };
        let interpolation = if kind == 0 { Interpolation::Step } else { Interpolation::Linear };
        fn track<T: TrackValue>(
            times: &[f32],
            values: impl Iterator<Item = T>,
            interpolation: Interpolation,
        ) -> Result<Option<Track<T>>, JsValue> {
            Track::new(times.into(), values.collect(), interpolation).map(Some).map_err(making)
        }
        let vectors = values.chunks_exact(3).map(Vec3::from_slice);
        match part {
            0 => tracks.translation = track(times, vectors, interpolation)?,
            1 => tracks.rotation = track(times, values.chunks_exact(4).map(Quat::from_slice), interpolation)?,
            _ => tracks.scale = track(times, vectors, interpolation)?,
        }
        Ok(())
    }

    /// The clip.
    pub fn build(self, name: &str) -> Result<RawClip, JsValue> {
        let empty = |t: &JointTracks| t.translation.is_none() && t.rotation.is_none() && t.scale.is_none();
        let tracks = self.tracks.into_iter().filter(|t| !empty(t)).collect();
        let clip = Clip::new(name, &self.skeleton, tracks).map_err(making)?;
        Ok(RawClip::of(clip, &self.skeleton))
    }
}

/// A clip.
#[wasm_bindgen]
pub struct RawClip {
    pub(crate) clip: Clip,
    cursor: ClipCursor,
    skeleton: Arc<Skeleton>,
}

impl RawClip {
    pub(crate) fn of(clip: Clip, skeleton: &Arc<Skeleton>) -> Self {
        Self { clip, cursor: ClipCursor::default(), skeleton: skeleton.clone() }
    }
}

#[wasm_bindgen]
impl RawClip {
    /// Its name.
    #[wasm_bindgen(getter)]
    pub fn name(&self) -> String {
        self.clip.name().into()
    }

    /// Time of its first key.
    #[wasm_bindgen(getter)]
    pub fn start(&self) -> f32 {
        self.clip.start()
    }

    /// Time of its last key.
    #[wasm_bindgen(getter)]
    pub fn end(&self) -> f32 {
        self.clip.end()
    }

    /// Samples it into a pose; past its end it goes on from its start if `looped`.
    pub fn sample(&mut self, time: f32, pose: &mut RawPose, looped: bool) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        if !time.is_finite() {
            return Err(failure("solve", format_args!("the time of a sample must be finite, not {time}")));
        }
        pose.pull();
        if looped {
            self.clip.sample_looped_from(&mut self.cursor, time, &mut pose.pose);
        } else {
            self.clip.sample_from(&mut self.cursor, time, &mut pose.pose);
        }
        self.clip.tracks().iter().for_each(|tracks| pose.push(tracks.joint));
        Ok(())
    }
}
