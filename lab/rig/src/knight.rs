//! The Knight, whose clips were baked from limbs that follow control nodes. The nodes and their motion are in the file.

use std::{collections::HashMap, path::Path};

use sinew::{
    Goal, JointId, Pole, Pose,
    motion::{Clip, ClipCursor, JointTracks},
    solve::{LimbOptions, TwoBone},
};
use sinew_files::{Model, ReadOptions};

use crate::{
    maths::{V3, v3},
    scene::Local,
};

/// Root, middle and tip of each limb, the node that the tip follows, and that of the pole.
pub const LIMBS: [[&str; 5]; 4] = [
    ["upperarm.l", "lowerarm.l", "wrist.l", "handIK.l", "elbowIK.l"],
    ["upperarm.r", "lowerarm.r", "wrist.r", "handIK.r", "elbowIK.r"],
    ["upperleg.l", "lowerleg.l", "foot.l", "heelIK.l", "kneeIK.l"],
    ["upperleg.r", "lowerleg.r", "foot.r", "heelIK.r", "kneeIK.r"],
];

/// Root, middle, tip and goal of each limb, for the judge.
pub fn judged() -> [[&'static str; 4]; 4] {
    LIMBS.map(|[root, middle, tip, goal, _]| [root, middle, tip, goal])
}

/// The model, with clips that do not turn the upper and lower bones of its limbs.
pub struct Knight {
    model: Model,
    clips: Vec<Clip>,
    limbs: Vec<(TwoBone, JointId, JointId)>,
}

impl Knight {
    /// Reads the model, and drops the tracks.
    pub fn read(path: &Path) -> Result<Self, String> {
        let says = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let model = Model::read(path, &ReadOptions::default()).map_err(|e| says(&e))?;
        let joint = |name: &str| model.skeleton.find(name).ok_or_else(|| says(&format!("no joint `{name}`")));
        let (mut limbs, mut dropped) = (Vec::new(), Vec::new());
        for [root, middle, tip, goal, pole] in LIMBS {
            dropped.extend([joint(root)?, joint(middle)?]);
            let limb = TwoBone::new(&model.skeleton, joint(root)?, joint(middle)?, joint(tip)?);
            limbs.push((limb.map_err(|e| says(&e))?, joint(goal)?, joint(pole)?));
        }
        // Translations stay: clips move the roots of the limbs below their parents by up to 158 mm.
        let without = |t: &JointTracks| {
            let rotation = t.rotation.clone().filter(|_| !dropped.contains(&t.joint));
            JointTracks { rotation, ..t.clone() }
        };
        let clips = (model.clips.iter())
            .map(|c| Clip::new(c.name(), &model.skeleton, c.tracks().iter().map(without).collect()))
            .collect::<Result<_, _>>()
            .map_err(|e| says(&e))?;
        Ok(Self { model, clips, limbs })
    }

    /// The clips, in the file's order.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// For each of the nodes, its joint.
    pub fn joints(&self, nodes: &[String]) -> Result<Vec<JointId>, String> {
        let by_name: HashMap<&str, JointId> =
            self.model.skeleton.joints().map(|j| (self.model.skeleton.name(j), j)).collect();
        nodes
            .iter()
            .map(|n| by_name.get(n.as_str()).copied().ok_or_else(|| format!("no joint `{n}`")))
            .collect()
    }
}

/// Poses one figure, frame by frame.
pub struct Player<'a> {
    knight: &'a Knight,
    cursor: ClipCursor,
    pose: Pose,
}

impl<'a> Player<'a> {
    /// A figure at rest.
    pub fn new(knight: &'a Knight) -> Self {
        Self { knight, cursor: ClipCursor::default(), pose: Pose::rest(&knight.model.skeleton) }
    }

    /// The pose of the last frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Poses the figure as a clip has it at a time in seconds, without its limbs.
    pub fn sample(&mut self, clip: usize, time: f32) {
        self.pose.reset();
        self.knight.clips[clip].sample_from(&mut self.cursor, time, &mut self.pose);
        self.pose.update();
    }

    /// Solves the limbs.
    pub fn solve(&mut self) -> Result<(), String> {
        let pose = &mut self.pose;
        for (limb, goal, pole) in &self.knight.limbs {
            let goal = Goal::position(pose.position(*goal)).with_pole(Pole::Point(pose.position(*pole)));
            limb.solve(pose, &goal, &LimbOptions::new()).map_err(|e| e.to_string())?;
        }
        Ok(())
    }

    /// Local transforms of these joints, for the judge.
    pub fn locals(&self, joints: &[JointId]) -> Vec<Local> {
        let vector = |v: sinew::glam::Vec3| -> V3 { v3(v.x.into(), v.y.into(), v.z.into()) };
        joints
            .iter()
            .map(|joint| {
                let l = self.pose.local(*joint);
                Local::Trs(vector(l.translation), l.rotation.to_array().map(f64::from), vector(l.scale))
            })
            .collect()
    }
}
