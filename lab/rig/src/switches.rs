//! Rigs of arms and legs, by roles, on clips of real figures: switches between forward and inverse kinematics, and changes of the
//! goals' space. Poses are judged in f64, by the judge's forward kinematics.

use std::path::Path;

use common::Noise;
use sinew::{
    JointId, Placement, Pose, Workspace,
    body::{BodyRoles, Role},
    glam::{Affine3, Mat3},
    motion::Clip,
    rig::{HumanoidSpec, Rig, RigFrame, RigGoal, RigMatch, RigState, Space, StartFrom},
};
use sinew_files::{Model, ReadOptions};

use crate::judge::{larger, turn, worlds};
use plant::{
    maths::{Affine, V3, v3},
    scene::Local,
};

/// Files, their scale to metres, and a clip; `None` for the first.
const FIGURES: [(&str, f32, Option<&str>); 5] = [
    ("gltf/KayKit_Knight.glb", 1.0, Some("Walking_A")),
    ("gltf/CesiumMan.gltf", 1.0, None),
    // Its elbows are up to 23 degrees off any hinge.
    ("gltf/mannequiny.glb", 1.0, Some("fight_kick_root.001")),
    ("gltf/m2m_human_sample-rig.glb", 1.0, None),
    ("bvh/cmu_12_01_walk.bvh", 0.056_444, None),
];

/// Frame time in seconds.
const DT: f32 = 1.0 / 30.0;
/// Switches to goals, and as many back.
const SWITCHES: usize = 20;
/// Frames from one switch to the next: longer than a fade, shorter than it, and in between.
const FRAMES: [usize; 3] = [11, 3, 7];
/// Seconds of a fade.
const FADE: f32 = 0.25;
/// Greatest turn of a joint in degrees, roll included, that a switch may make.
const SWITCH: f64 = 0.1;
/// Greatest distance in millimetres of an end from the clip's path.
const PATH: f64 = 2.0;
/// Greatest distance in millimetres that a change of space may move a joint.
const SPACE: f64 = 0.1;

/// A figure with a clip and a rig of its limbs.
struct Figure {
    name: String,
    model: Model,
    clip: Clip,
    rig: Rig,
    tips: Vec<JointId>,
    roles: Vec<Role>,
}

impl Figure {
    fn read(data: &Path, (file, scale, clip): (&str, f32, Option<&str>)) -> Result<Self, String> {
        let path = data.join(file);
        let says = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
        let options = ReadOptions { scale, ..ReadOptions::default() };
        let model = Model::read(&path, &options).map_err(|e| says(&e))?;
        let found = model.clips.iter().find(|c| clip.is_none_or(|name| c.name() == name));
        let clip = found.ok_or_else(|| says(&"no such clip"))?.clone();
        let bind = model.bind_pose();
        let body = BodyRoles::find(&bind, &model.declared_roles).map_err(|e| says(&e))?;
        let height = body.height(&bind, &model.skin_points(&bind));
        let mut humanoid = HumanoidSpec::new();
        humanoid.from = Some(StartFrom::Preferred);
        let mut spec = humanoid.rig(&body);
        // Without body and look, which start from the pose.
        spec.handles.retain(|h| h.from == StartFrom::Preferred);
        spec.height = Some(height);
        let tips: Vec<JointId> = spec.handles.iter().map(|h| h.tip).collect();
        if tips.len() != 4 {
            return Err(says(&"a limb was not found"));
        }
        let rig = Rig::new(&bind, Some(&body), &spec).map_err(|e| says(&e))?;
        let name = path.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        let roles = [Role::Hips, Role::Head].into_iter().filter(|&r| body.joint(r).is_some()).collect();
        Ok(Self { name: format!("{name}, {}", clip.name()), model, clip, rig, tips, roles })
    }

    /// The clip's pose in a frame. It is played in a loop, and its end does not fit its beginning.
    fn pose(&self, frame: usize) -> Pose {
        let mut pose = Pose::rest(&self.model.skeleton);
        self.clip.sample((frame as f32 * DT) % self.clip.duration().max(DT), &mut pose);
        pose.update();
        pose
    }

    fn solve(
        &self,
        state: &mut RigState,
        pose: &Pose,
        goals: &[RigGoal],
        place: Placement,
    ) -> Result<Shown, String> {
        let mut solved = pose.clone();
        let frame = RigFrame::new(DT).with_goals(goals).with_placement(place);
        let report = self.rig.apply(state, &mut Workspace::new(), &mut solved, &frame);
        let report = report.map_err(|e| format!("{}: {e}", self.name))?;
        let residual = report.handles.iter().map(|h| h.residual_turn).fold(0.0, f32::max);
        Ok(Shown { places: self.places(&solved), residual: f64::from(residual).to_degrees() })
    }

    fn places(&self, pose: &Pose) -> Vec<Affine> {
        let skeleton = &self.model.skeleton;
        let vector = |v: sinew::glam::Vec3| -> V3 { v3(v.x.into(), v.y.into(), v.z.into()) };
        let parents: Vec<Option<usize>> =
            skeleton.joints().map(|j| skeleton.parent(j).map(JointId::index)).collect();
        let local = |l: &sinew::JointTransform| {
            Local::Trs(vector(l.translation), l.rotation.to_array().map(f64::from), vector(l.scale))
        };
        worlds(&parents, &pose.locals().iter().map(local).collect::<Vec<_>>())
    }
}

/// A pose that was shown.
struct Shown {
    places: Vec<Affine>,
    /// Largest residual turn in degrees.
    residual: f64,
}

/// Largest distance in millimetres of some joints of two poses.
fn apart(a: &[Affine], b: &[Affine], of: &[JointId]) -> f64 {
    let at = |j: &JointId| (a[j.index()].translation - b[j.index()].translation).length() * 1e3;
    of.iter().map(at).fold(0.0, larger)
}

/// Largest angle in degrees between the joints of two poses, roll included.
fn turned(a: &[Affine], b: &[Affine]) -> f64 {
    a.iter().zip(b).map(|(a, b)| turn(a, b).to_degrees()).fold(0.0, larger)
}

/// Prints a table of switches and of changes of space. Returns whether all are within bounds.
pub fn table(data: &Path) -> Result<bool, String> {
    println!(
        "\narms and legs by roles, from preferred values: {SWITCHES} switches to goals, and as many back; fades of {FADE} s"
    );
    row("figure and clip", ["switch", "joints", "ends off", "residual", "unkept", "space", "joints"]);
    row("", ["degrees", "mm", "mm", "degrees", "degrees", "mm", "mm"]);
    let mut met = true;
    for figure in FIGURES {
        let figure = Figure::read(data, figure)?;
        let switches = switches(&figure)?;
        let [space, all] = spaces(&figure)?;
        let Switches { turn, joints, ends, residual, unkept } = switches;
        let cells = [turn, joints, ends, residual, unkept, space, all].map(|value| format!("{value:.4}"));
        row(&figure.name, cells.each_ref().map(String::as_str));
        let mut bound = |what: String, value: f64, holds: bool| {
            bounds::bound(&figure.name, what, format!("{value:.4}"), holds);
            met &= holds;
        };
        bound(format!("a switch turns no joint by {SWITCH} degrees"), turn, turn <= SWITCH);
        bound(format!("ends within {PATH} mm of the clip's path"), ends, ends <= PATH);
        bound(format!("a change of space moves no end by {SPACE} mm"), space, space <= SPACE);
    }
    Ok(met)
}

fn row(name: &str, cells: [&str; 7]) {
    println!("{name:<46} {}", cells.map(|cell| format!("{cell:>9}")).join(" "));
}

/// What switches did to a figure.
#[derive(Clone, Copy, Debug, Default)]
struct Switches {
    /// Largest turn at a switch in degrees, and largest distance of any joint in millimetres.
    turn: f64,
    joints: f64,
    /// Largest distance of an end from the clip's path in millimetres, in any frame.
    ends: f64,
    /// Largest turn that was kept beside goals, and largest turn of a joint from the clip's where none is kept, in degrees.
    residual: f64,
    unkept: f64,
}

/// Switches all limbs to goals that follow the clip's, and back.
fn switches(figure: &Figure) -> Result<Switches, String> {
    let (rig, mut found) = (&figure.rig, Switches::default());
    let (mut state, mut workspace) = (rig.state(), Workspace::new());
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let all: Vec<JointId> = figure.model.skeleton.joints().collect();
    let says = |e: sinew::rig::RigError| format!("{}: {e}", figure.name);
    (0..rig.len()).for_each(|n| state.set_on(n, false));
    let (mut on, mut left, mut next, mut frame) = (false, 2 * SWITCHES, FRAMES[0], 0);
    while left > 0 || next > 0 {
        let pose = figure.pose(frame);
        let clip = figure.places(&pose);
        if on {
            rig.read(&pose, &Placement::IDENTITY, &mut goals).map_err(says)?;
        }
        if next == 0 {
            // The frame without the switch, and with it.
            let before = figure.solve(&mut state.clone(), &pose, &goals, Placement::IDENTITY)?;
            let (to, mut matched) = (RigMatch::new(FADE), pose.clone());
            if on {
                let frame = RigFrame::new(DT).with_goals(&goals);
                rig.match_pose(&mut state, &mut workspace, &mut matched, &frame, &to).map_err(says)?;
            } else {
                let frame = RigFrame::new(DT);
                rig.match_goals(&mut state, &mut workspace, &mut matched, &frame, &mut goals, &to)
                    .map_err(says)?;
                let plain = figure.solve(&mut rig.state(), &pose, &goals, Placement::IDENTITY)?;
                found.unkept = found.unkept.max(turned(&clip, &plain.places));
            }
            on = !on;
            (0..rig.len()).for_each(|n| state.set_on(n, on));
            let after = figure.solve(&mut state.clone(), &pose, &goals, Placement::IDENTITY)?;
            found.turn = found.turn.max(turned(&before.places, &after.places));
            found.joints = found.joints.max(apart(&before.places, &after.places, &all));
            left -= 1;
            next = FRAMES[left % FRAMES.len()];
        }
        let shown = figure.solve(&mut state, &pose, &goals, Placement::IDENTITY)?;
        found.ends = found.ends.max(apart(&clip, &shown.places, &figure.tips));
        found.residual = found.residual.max(shown.residual);
        next -= 1;
        frame += 1;
    }
    Ok(found)
}

/// Changes the space of every goal and pole in every frame, and returns by how many millimetres an end moved, and any joint: the
/// knee of a straight leg moves by the square root of what its end does.
fn spaces(figure: &Figure) -> Result<[f64; 2], String> {
    let (rig, mut worst) = (&figure.rig, [0.0; 2]);
    let skeleton = &figure.model.skeleton;
    let all: Vec<JointId> = skeleton.joints().collect();
    let says = |e: sinew::rig::RigError| format!("{}: {e}", figure.name);
    let mut noise = Noise::new(16);
    let root = skeleton.joint_at(0).ok_or("no joints")?;
    let roles = figure.roles.iter().map(|&role| Space::Role(role));
    let spaces: Vec<Space> =
        [Space::Model, Space::World, Space::Joint(root)].into_iter().chain(roles).collect();
    for frame in 0..40 {
        let pose = figure.pose(frame);
        let linear = Mat3::from_quat(noise.any_rotation());
        let place = Affine3 { matrix3: linear, translation: noise.vector() * 10.0 };
        let place = Placement::new(place).map_err(|e| e.to_string())?;
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        rig.read(&pose, &place, &mut goals).map_err(says)?;
        let before = figure.solve(&mut rig.state(), &pose, &goals, place)?;
        for &to in &spaces {
            for &pole in &spaces {
                let mut there = goals.clone();
                for (n, goal) in there.iter_mut().enumerate() {
                    *goal = rig.convert(n, goal, [to, pole], &pose, &place).map_err(says)?;
                }
                let after = figure.solve(&mut rig.state(), &pose, &there, place)?;
                worst[0] = larger(worst[0], apart(&before.places, &after.places, &figure.tips));
                worst[1] = larger(worst[1], apart(&before.places, &after.places, &all));
            }
        }
    }
    Ok(worst)
}
