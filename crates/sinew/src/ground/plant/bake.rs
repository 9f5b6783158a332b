//! Baking of a plan into a clip.

use alloc::{string::String, vec::Vec};

use glam::Vec3;

use super::{Figure, FootSample, FootholdSearch, Leg, Plan, PlantError, Trunk};
use crate::{
    JointId, Pose, SolveError,
    motion::{Baker, Clip, ClipCursor},
};

/// A planted clip, with the motion of its feet.
#[derive(Clone, Debug)]
pub struct PlantedClip {
    /// The clip, with equally spaced keys from 0 s.
    pub clip: Clip,
    /// Key times, in seconds.
    pub times: Vec<f32>,
    /// Foot of each leg at the keys.
    pub feet: Vec<Vec<FootSample>>,
    /// Largest residual of an ankle over all keys, in metres.
    pub out_of_reach: f32,
}

impl Plan {
    /// Number of keys.
    pub fn keys(&self) -> usize {
        (self.analysis.len() - 1) / self.per_key + 1
    }

    /// Sets `pose` to the unplanted clip at a key, moved by the travel, and updates its model space. Joints that the clip does not
    /// move keep their transforms: the pose should be at rest.
    pub fn before(&self, figure: &Figure, clip: &Clip, key: usize, pose: &mut Pose) {
        let i = key * self.per_key;
        clip.sample(self.analysis.clip_time(i), pose);
        pose.update();
        let at = pose.position(figure.pelvis) + self.analysis.travel * (i as f32 * self.analysis.step);
        pose.set_position(figure.pelvis, at);
        pose.update();
    }

    /// Sets `pose` to the planted clip at a key and returns the largest residual of an ankle, in metres. It should be at rest
    /// before, as in [`before`](Self::before). `frames` is scratch.
    pub fn after(
        &self,
        figure: &Figure,
        clip: &Clip,
        key: usize,
        pose: &mut Pose,
        frames: &mut Vec<super::FootFrame>,
    ) -> Result<f32, SolveError> {
        let i = key * self.per_key;
        clip.sample(self.analysis.clip_time(i), pose);
        pose.update();
        frames.clear();
        frames.extend(self.feet.iter().map(|f| f[i]));
        let mut worst = 0.0f32;
        figure.apply(pose, self.analysis.carry[i], self.hips[i], frames, |_, missed| {
            worst = worst.max(missed)
        })?;
        self.lean_trunk(figure, i, pose);
        Ok(worst)
    }

    /// Plants `clip` at every key and bakes the poses into a clip with this name.
    ///
    /// # Errors
    ///
    /// A leg cannot be solved, or the poses cannot be baked into keys.
    pub fn bake(
        &self,
        figure: &Figure,
        clip: &Clip,
        rest: &Pose,
        name: impl Into<String>,
    ) -> Result<PlantedClip, PlantError> {
        let skeleton = rest.skeleton().clone();
        let mut joints: Vec<JointId> = clip.tracks().iter().map(|t| t.joint).collect();
        joints.push(figure.pelvis);
        for leg in &figure.legs {
            joints.extend([leg.thigh, leg.shin, leg.foot]);
            joints.extend(leg.toes);
        }
        // Joints of a trunk that never leans keep the tracks of the clip.
        if let Some(Trunk { base, head, arms }) = self.leaning(figure) {
            joints.push(*base);
            joints.extend([head, &arms[0], &arms[1]].into_iter().flatten());
        }
        joints.sort();
        joints.dedup();
        let mut baker = Baker::new(&skeleton, joints);
        if figure.legs.iter().all(Leg::is_free) {
            baker = baker.keep_signs();
        }
        let mut pose = rest.clone();
        let mut frames = Vec::with_capacity(figure.legs.len());
        let mut feet = alloc::vec![Vec::new(); figure.legs.len()];
        let mut times = Vec::new();
        let mut out_of_reach = 0.0f32;
        for key in 0..self.keys() {
            let time = (key * self.per_key) as f32 * self.analysis.step;
            // What the clip does not move would keep what the last key made of it.
            pose.copy_from(rest);
            let worst = self
                .after(figure, clip, key, &mut pose, &mut frames)
                .map_err(|error| PlantError::Solve { time, error })?;
            out_of_reach = out_of_reach.max(worst);
            for (samples, leg) in feet.iter_mut().zip(&figure.legs) {
                samples.push(leg.sample(&pose, Vec3::ZERO));
            }
            times.push(time);
            baker.push(time, &pose);
        }
        Ok(PlantedClip { clip: baker.finish(name, &skeleton)?, times, feet, out_of_reach })
    }

    /// Measures errors of linear interpolation half-way between the keys of a planted clip, on legs with an influence above 0.
    /// `depth` is the depth below the ground, in metres, from which a swinging foot counts as inside it.
    pub fn halfway(
        &self,
        figure: &Figure,
        planted: &PlantedClip,
        rest: &Pose,
        search: &FootholdSearch<'_>,
        depth: f32,
    ) -> Halfway {
        let mut pose = rest.clone();
        let mut found = Halfway::default();
        let mut cursor = ClipCursor::default();
        for k in 1..self.keys() {
            let (from, to) = (planted.times[k - 1], planted.times[k]);
            planted.clip.sample_from(&mut cursor, 0.5 * (from + to), &mut pose);
            pose.update();
            for (foot, leg) in figure.legs.iter().enumerate().filter(|(_, leg)| !leg.is_free()) {
                let (before, after) = (&planted.feet[foot][k - 1], &planted.feet[foot][k]);
                let now = leg.sample(&pose, Vec3::ZERO);
                let base = search.base_near(self.base[k * self.per_key], now.ankle.y);
                let inside = |at: Vec3| search.height(at, base).is_some_and(|(y, _)| at.y < y);
                // Its depth counts along the shortest way out: up, back or forward.
                let way = (after.ankle - before.ankle).with_y(0.0).normalize_or_zero() * depth;
                let deep = |at: Vec3| [Vec3::Y * depth, way, -way].iter().all(|out| inside(at + *out));
                for heel in [true, false] {
                    let point = if heel { FootSample::heel_at } else { FootSample::ball_at };
                    let stands = |p: &super::Planted| {
                        let contacts = if heel { &p.stance.heel } else { &p.stance.ball };
                        p.foothold.is_ok() && contacts.iter().any(|c| c.contains(from) && c.contains(to))
                    };
                    if self.stances[foot].iter().any(stands) {
                        let chord = 0.5 * (point(before).y + point(after).y);
                        found.sag = found.sag.max((point(&now).y - chord).abs());
                    } else {
                        found.clips |= deep(point(&now)) && !deep(point(before)) && !deep(point(after));
                    }
                }
            }
        }
        found
    }
}

/// Errors of linear interpolation half-way between the keys of a planted clip.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Halfway {
    /// Largest vertical deviation of a standing heel or ball from the line between its keys, in metres.
    pub sag: f32,
    /// Whether a swinging heel or ball is inside the ground between two keys at which it is clear.
    pub clips: bool,
}
