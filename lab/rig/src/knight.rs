//! The Knight, whose clips were baked from limbs that follow control nodes. The nodes and their motion are in the file.

use std::{collections::HashMap, fmt::Display, path::Path};

use sinew::{
    JointId, Pose, Workspace,
    glam::Quat,
    motion::{Clip, ClipCursor, JointTracks},
    rig::{HandleSolver, Rig, RigFrame, RigState, StartFrom},
};
use sinew_files::{Model, ReadOptions, rig};

use plant::{
    maths::{V3, v3},
    scene::Local,
};

/// The rig that the clips were baked from.
const CONTROLLED: &str = include_str!("knight.toml");

/// Root, middle, tip and goal of each limb, as the file names them.
pub const LIMBS: [[&str; 4]; 4] = [
    ["upperarm.l", "lowerarm.l", "wrist.l", "handIK.l"],
    ["upperarm.r", "lowerarm.r", "wrist.r", "handIK.r"],
    ["upperleg.l", "lowerleg.l", "foot.l", "heelIK.l"],
    ["upperleg.r", "lowerleg.r", "foot.r", "heelIK.r"],
];

/// Frame time in seconds. Nothing here depends on it.
const DT: f32 = 1.0 / 30.0;

/// The file.
pub struct Knight {
    model: Model,
}

/// A rig of the Knight, and the clips that it poses.
pub struct Rigged<'a> {
    model: &'a Model,
    clips: Vec<Clip>,
    /// Joints that the clips do not turn, though the file's do.
    dropped: Vec<JointId>,
    rig: Rig,
}

impl Knight {
    /// Reads the file.
    pub fn read(path: &Path) -> Result<Self, String> {
        let model =
            Model::read(path, &ReadOptions::default()).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Self { model })
    }

    /// For each of the nodes, its joint.
    pub fn joints(&self, nodes: &[String]) -> Result<Vec<JointId>, String> {
        let skeleton = &self.model.skeleton;
        let by_name: HashMap<&str, JointId> = skeleton.joints().map(|j| (skeleton.name(j), j)).collect();
        let joint = |n: &String| by_name.get(n.as_str()).copied().ok_or_else(|| format!("no joint `{n}`"));
        nodes.iter().map(joint).collect()
    }

    /// Limbs that follow their control nodes from preferred values, in clips without the tracks that turn them.
    pub fn controlled(&self) -> Result<Rigged<'_>, String> {
        let mut rigged = self.rigged(CONTROLLED, "knight.toml")?;
        rigged.drop_tracks()?;
        Ok(rigged)
    }

    /// Limbs that follow the control nodes of the other side by various solvers, without poles. From preferred values, in clips
    /// without the tracks that turn them.
    pub fn crossed(&self, from: StartFrom) -> Result<Rigged<'_>, String> {
        let solvers =
            [HandleSolver::Auto, HandleSolver::Ccd, HandleSolver::LeastSquares, HandleSolver::Fabrik];
        let mut text = String::from("rig = 1\n");
        for (n, [root, _, tip, ..]) in LIMBS.iter().enumerate() {
            let [.., goal] = LIMBS[n ^ 1];
            text += &format!(
                "[[handle]]\nname = \"{root}\"\nsolver = \"{}\"\nfrom = \"{from}\"\nchain = [\"{root}\", \"{tip}\"]\n\
                 goal = {{ node = \"{goal}\" }}\n",
                solvers[n]
            );
        }
        let mut rigged = self.rigged(&text, "crossed")?;
        if from == StartFrom::Preferred {
            rigged.drop_tracks()?;
        }
        Ok(rigged)
    }

    fn rigged(&self, text: &str, name: &str) -> Result<Rigged<'_>, String> {
        let rig = rig::read(text, Path::new(name), &self.model.bind_pose(), None).map_err(self::text)?;
        Ok(Rigged { model: &self.model, clips: self.model.clips.clone(), dropped: Vec::new(), rig })
    }
}

fn text(error: impl Display) -> String {
    error.to_string()
}

impl Rigged<'_> {
    /// The clips, in the file's order.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// Drops the rotation tracks of the limbs' roots and middles. Translations stay: clips move the roots of the limbs below
    /// their parents by up to 158 mm.
    fn drop_tracks(&mut self) -> Result<(), String> {
        let skeleton = &self.model.skeleton;
        let turned = LIMBS.iter().flat_map(|[root, middle, ..]| [root, middle]);
        self.dropped = turned.filter_map(|name| skeleton.find(name)).collect();
        let without = |t: &JointTracks| {
            let rotation = t.rotation.clone().filter(|_| !self.dropped.contains(&t.joint));
            JointTracks { rotation, ..t.clone() }
        };
        for clip in &mut self.clips {
            let tracks = clip.tracks().iter().map(without).collect();
            *clip = Clip::new(clip.name(), skeleton, tracks).map_err(text)?;
        }
        Ok(())
    }
}

/// Poses one figure, frame by frame.
pub struct Player<'a> {
    rigged: &'a Rigged<'a>,
    cursor: ClipCursor,
    state: RigState,
    workspace: Workspace,
    pose: Pose,
    /// Rotations that a sample keeps.
    kept: Vec<Quat>,
}

impl<'a> Player<'a> {
    /// A figure at rest.
    pub fn new(rigged: &'a Rigged<'a>) -> Self {
        let pose = Pose::rest(&rigged.model.skeleton);
        let state = rigged.rig.state();
        Self {
            rigged,
            cursor: ClipCursor::default(),
            state,
            workspace: Workspace::new(),
            pose,
            kept: Vec::new(),
        }
    }

    /// The pose of the last frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Samples a clip at a time in seconds. Joints whose tracks were dropped stay turned as the last frame left them.
    pub fn sample(&mut self, clip: usize, time: f32) {
        let dropped = &self.rigged.dropped;
        self.kept.clear();
        self.kept.extend(dropped.iter().map(|j| self.pose.local(*j).rotation));
        self.pose.reset();
        dropped.iter().zip(&self.kept).for_each(|(j, rotation)| self.pose.set_rotation(*j, *rotation));
        self.rigged.clips[clip].sample_from(&mut self.cursor, time, &mut self.pose);
        self.pose.update();
    }

    /// Applies the rig.
    pub fn solve(&mut self) -> Result<(), String> {
        let Self { rigged, state, workspace, pose, .. } = self;
        rigged.rig.apply(state, workspace, pose, &RigFrame::new(DT)).map(|_| ()).map_err(text)
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
