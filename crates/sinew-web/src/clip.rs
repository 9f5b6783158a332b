//! Clips: motions of a skeleton's joints.

use std::sync::Arc;

use sinew::{
    Skeleton,
    glam::{Affine3, Quat, Vec3},
    motion::{Clip, ClipCursor, Interpolation, JointTracks, RootMotion, Track, TrackValue},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, write},
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

    /// Adds a track of a joint's positions (0), rotations (1) or scales (2), in steps (0), lines (1) or splines with tangents (2).
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
        let interpolation = match kind {
            0 => Interpolation::Step,
            1 => Interpolation::Linear,
            _ => Interpolation::Cubic,
        };
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

    /// Times and then values of a track, of which each joint has up to three; nothing behind the last. Leaves its joint, its part, its
    /// interpolation and its count of times in the exchange, by the numbers of `RawClipBuilder`.
    pub fn track(&self, index: usize) -> Option<Vec<f32>> {
        fn flat<T: TrackValue, const N: usize>(
            track: &Option<Track<T>>,
            numbers: impl Fn(&T) -> [f32; N],
        ) -> Option<Vec<f32>> {
            let track = track.as_ref()?;
            let kind = match track.interpolation() {
                Interpolation::Step => 0,
                Interpolation::Cubic => 2,
                _ => 1,
            };
            write(OTHER + 2, &[kind, track.times().len() as u32]);
            Some(track.times().iter().copied().chain(track.values().iter().flat_map(numbers)).collect())
        }
        let (joint, part) = (self.clip.tracks().iter())
            .flat_map(|tracks| {
                let parts = [tracks.translation.is_some(), tracks.rotation.is_some(), tracks.scale.is_some()];
                (0..3).filter(move |&part| parts[part]).map(move |part| (tracks, part))
            })
            .nth(index)?;
        write(OTHER, &[joint.joint.index() as u32, part as u32]);
        match part {
            0 => flat(&joint.translation, Vec3::to_array),
            1 => flat(&joint.rotation, |rotation| rotation.to_array()),
            _ => flat(&joint.scale, Vec3::to_array),
        }
    }

    /// The clip without keys that each joint's tolerance does not need.
    pub fn reduced(&self, rest: &mut RawPose, tolerances: &[f32]) -> Result<RawClip, JsValue> {
        rest.check(&self.skeleton)?;
        rest.pull();
        let of = |joint: usize| tolerances.get(joint).copied().unwrap_or_default();
        let clip = self.clip.reduced(&rest.pose, |joint, _| of(joint.index())).map_err(making)?;
        Ok(Self::of(clip, &self.skeleton))
    }

    /// Takes the travel of a joint out, with its yaw if wanted.
    #[wasm_bindgen(js_name = takeRootMotion)]
    pub fn take_root_motion(
        &self,
        rest: &mut RawPose,
        joint: usize,
        yaw: bool,
    ) -> Result<RawRootMotion, JsValue> {
        rest.check(&self.skeleton)?;
        rest.pull();
        let Some(joint) = self.skeleton.joint_at(joint) else {
            return Err(making(format_args!("there is no joint {joint}")));
        };
        let take = if yaw { RootMotion::travel_and_yaw } else { RootMotion::travel };
        let (clip, motion) = take(&self.clip, &rest.pose, joint).map_err(making)?;
        Ok(RawRootMotion { motion, clip: Some(Self::of(clip, &self.skeleton)) })
    }
}

/// The travel of a clip.
#[wasm_bindgen]
pub struct RawRootMotion {
    motion: RootMotion,
    clip: Option<RawClip>,
}

#[wasm_bindgen]
impl RawRootMotion {
    /// The clip without it; there once.
    pub fn clip(&mut self) -> Option<RawClip> {
        self.clip.take()
    }

    /// Leaves the position and the rotation at a time in the exchange; past its end it goes on if `looped`.
    pub fn at(&self, time: f32, looped: bool) -> Result<(), JsValue> {
        if !time.is_finite() {
            return Err(failure("solve", format_args!("the time of a motion must be finite, not {time}")));
        }
        let Affine3 { matrix3, translation } =
            if looped { self.motion.at_looped(time) } else { self.motion.at(time) };
        write(OTHER, &translation.to_array());
        write(OTHER + 3, &Quat::from_mat3(&matrix3).to_array());
        Ok(())
    }
}
