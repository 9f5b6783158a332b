//! What the build `sinew/files` repeats: walks that are planted frame by frame, and arms in joint space.

use std::{hint::black_box, time::Instant};

use common::Noise;
use sinew::{
    Goal, Placement, Pose, Workspace,
    body::{BodyRoles, Legs, Role},
    glam::{DVec3, Vec3},
    ground::{
        Ground, MeshGround, Plane,
        plant::{Figure, FootPlanter, PlantOptions},
        terrain::{Rough, Slope, Stairs},
        walk,
    },
    mechanism::{JointSpaceOptions, JointSpaceSolver, LinkFrames, LinkGoal, LinkTarget},
    rig::{HumanoidSpec, Rig, RigFrame, RigGoal, Space},
};
use sinew_files::{Model, sample, urdf};

use crate::{Hash, cases::ROUNDS, numbers};

const RATE: f32 = 60.0;
/// Seconds of look-ahead.
const AHEAD: f32 = 0.3;
/// Goals of the arm.
const GOALS: usize = 1000;

/// An arm of seven joints, of which the first slides.
const ARM: &str = r#"<robot name='arm'><link name='l0'/><link name='l1'/><link name='l2'/><link name='l3'/><link name='l4'/><link name='l5'/><link name='l6'/><link name='l7'/>
<joint name='j1' type='prismatic'><parent link='l0'/><child link='l1'/><axis xyz='1 0 0'/><limit lower='-0.4' upper='0.4' effort='1' velocity='1'/></joint>
<joint name='j2' type='revolute'><parent link='l1'/><child link='l2'/><origin xyz='0 0 0.3'/><axis xyz='0 0 1'/><limit lower='-2.9' upper='2.9' effort='1' velocity='1'/></joint>
<joint name='j3' type='revolute'><parent link='l2'/><child link='l3'/><origin xyz='0 0 0.1'/><axis xyz='0 1 0'/><limit lower='-1.9' upper='1.9' effort='1' velocity='1'/></joint>
<joint name='j4' type='revolute'><parent link='l3'/><child link='l4'/><origin xyz='0 0 0.4'/><axis xyz='0 1 0'/><limit lower='-2.4' upper='2.4' effort='1' velocity='1'/></joint>
<joint name='j5' type='continuous'><parent link='l4'/><child link='l5'/><origin xyz='0 0 0.2'/><axis xyz='0 0 1'/></joint>
<joint name='j6' type='revolute'><parent link='l5'/><child link='l6'/><origin xyz='0 0 0.2'/><axis xyz='0 1 0'/><limit lower='-2' upper='2' effort='1' velocity='1'/></joint>
<joint name='j7' type='fixed'><parent link='l6'/><child link='l7'/><origin xyz='0 0 0.15'/></joint></robot>"#;

/// The built-in walker.
struct Walker {
    model: Model,
    planter: FootPlanter,
    rest: Pose,
    frames: usize,
}

impl Walker {
    fn new(ahead: f32) -> Self {
        let model = sample::mannequin().expect("the sample is sound");
        let (rest, bind) = (Pose::rest(&model.skeleton), model.bind_pose());
        let body = BodyRoles::find(&bind, &model.declared_roles).expect("the sample is a person");
        let figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).expect("the sample has feet");
        let mut planter = FootPlanter::new(&figure, PlantOptions::new()).expect("defaults are valid");
        planter.learn_floor(&model.clips[0], &rest).expect("the walk is of the sample");
        planter.set_look_ahead(ahead).expect("the look-ahead is short");
        let frames = (model.clips[0].duration() * RATE).floor() as usize;
        Self { model, planter, rest, frames }
    }

    /// All frames on a ground, with look-ahead.
    fn walk(&self, ground: &dyn Ground, hash: &mut Hash) {
        let (mut feet, mut pose) = (self.planter.state(), self.rest.clone());
        let clip = &self.model.clips[0];
        for frame in 0..self.frames {
            let time = frame as f32 / RATE;
            let report = self.planter.step_with(&mut feet, ground, &mut pose, 1.0 / RATE, |later, pose| {
                clip.sample(time + later, pose);
                Placement::IDENTITY
            });
            for joint in self.model.skeleton.joints() {
                hash.add(&pose.local(joint).rotation.to_array());
                hash.add(&pose.local(joint).translation.to_array());
            }
            hash.add(&[report.expect("the walk can be planted").raise]);
        }
    }

    /// Nanoseconds of a frame that is there already, on a plane; the fastest round.
    fn nanos(&self) -> f64 {
        let mut pose = self.rest.clone();
        let samples: Vec<_> = (0..self.frames)
            .map(|frame| {
                self.model.clips[0].sample(frame as f32 / RATE, &mut pose);
                pose.clone()
            })
            .collect();
        let (ground, placement) = (Plane::level(0.0), Placement::IDENTITY);
        let mut feet = self.planter.state();
        let joints: Vec<_> = self.model.skeleton.joints().collect();
        let mut out = vec![[0f32; 4]; joints.len()];
        let mut fastest = f64::INFINITY;
        for _ in 0..ROUNDS {
            feet.reset();
            let start = Instant::now();
            for sample in &samples {
                pose.copy_from(sample);
                pose.update();
                self.planter.sense(&mut feet, &ground, &pose, &placement).expect("the pose is finite");
                let report = self.planter.step(&mut feet, &mut pose, &placement, 1.0 / RATE);
                black_box(report.expect("the walk can be planted"));
                joints.iter().zip(&mut out).for_each(|(&j, to)| *to = pose.local(j).rotation.to_array());
                black_box(&out);
            }
            fastest = fastest.min(start.elapsed().as_secs_f64());
        }
        1e9 * fastest / self.frames as f64
    }
}

/// A line of JSON for each case.
pub fn lines(times: bool) -> Vec<String> {
    let walker = Walker::new(AHEAD);
    let mesh =
        |mesh: Result<_, _>| MeshGround::new(mesh.expect("the measures are valid")).expect("it is a mesh");
    let grounds: [(&str, Box<dyn Ground>); 4] = [
        ("level", Box::new(Plane::level(0.0))),
        ("stairs", Box::new(mesh(Stairs::new().with_rise(0.12).with_going(0.4).mesh()))),
        ("slope", Box::new(mesh(Slope::new().mesh()))),
        ("rough", Box::new(mesh(Rough::new().mesh()))),
    ];
    let mut lines: Vec<_> = grounds
        .iter()
        .map(|(name, ground)| {
            let mut hash = Hash::new();
            walker.walk(&**ground, &mut hash);
            format!(
                "{{\"name\":\"walk on {name}\",\"task\":\"walk\",\"ground\":\"{name}\",\"frames\":{},\"hash\":{}}}",
                walker.frames, hash.0
            )
        })
        .collect();
    if times {
        let frame = Walker::new(0.0);
        lines.push(format!(
            "{{\"name\":\"planted frame on a plane\",\"task\":\"frame\",\"frames\":{},\"nanos\":{:.1}}}",
            frame.frames,
            frame.nanos()
        ));
    }
    lines.push(arm());
    lines.push(rig(&walker.model));
    lines.push(creature());
    lines
}

/// A creature that walks and turns on rough ground.
fn creature() -> String {
    const FRAMES: usize = 600;
    let model = sample::creature(8).expect("the sample is sound");
    let bind = model.bind_pose();
    let skin = model.skin_points(&bind);
    let legs = Legs::find(&bind, &skin).expect("the sample has legs");
    let creature = walk::Creature::new(&bind, &legs, &skin).expect("the legs are sound");
    let walker = walk::Walker::new(&creature, walk::WalkOptions::new()).expect("defaults are valid");
    let mut state = walker.state(&Placement::IDENTITY).expect("the placement is upright");
    let (mut workspace, mut pose) = (Workspace::new(), Pose::rest(&model.skeleton));
    let ground = MeshGround::new(Rough::new().mesh().expect("the measures are valid")).expect("it is a mesh");
    let mut hash = Hash::new();
    for frame in 0..FRAMES {
        let turn = if frame % 120 < 60 { 0.5 } else { -0.25 };
        let report = walker
            .step(&mut state, &mut workspace, &mut pose, &ground, Vec3::new(0.0, 0.0, 0.3), turn, 1.0 / RATE)
            .expect("there is ground");
        for joint in model.skeleton.joints() {
            hash.add(&pose.local(joint).rotation.to_array());
        }
        hash.add(&report.placement.to_world(Vec3::ZERO).to_array());
    }
    format!(
        "{{\"name\":\"a creature on rough ground\",\"task\":\"creature\",\"frames\":{FRAMES},\"hash\":{}}}",
        hash.0
    )
}

/// Goals that the arm reaches, each from where the last has left it.
fn arm() -> String {
    let arm = urdf::parse(ARM, "arm.urdf".as_ref()).expect("the arm is sound");
    let tool = arm.find_link("l7").expect("the arm has a tool");
    let goal = LinkGoal::new(&arm, tool, LinkTarget::Position(DVec3::ZERO));
    let solver = JointSpaceSolver::new(&arm, &[goal]).expect("the arm moves its tool");
    let (mut noise, mut frames) = (Noise::new(5), LinkFrames::new(&arm));
    let (mut hash, mut reached, mut goals) = (Hash::new(), 0, Vec::new());
    let (mut workspace, mut values) = (Workspace::new(), arm.rest());
    for _ in 0..GOALS {
        let mut there: Vec<_> = arm.dofs().iter().map(|_| f64::from(noise.between(-1.5, 1.5))).collect();
        arm.clamp(&mut there).expect("there are as many values");
        arm.forward_kinematics(&there, &mut frames).expect("there are as many values");
        // As numbers of f32, which text brings over with the same bits.
        let at: Vec3 = arm.link_transform(&frames, tool).translation.as_vec3();
        goals.push(at);
        let goal = goal.with_target(LinkTarget::Position(at.as_dvec3()));
        let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new());
        let report = report.expect("the goal is finite");
        reached += usize::from(report.reached());
        for value in &values {
            hash.add(&[*value as f32]);
        }
        hash.add(&[report.iterations as f32]);
    }
    format!(
        "{{\"name\":\"arm in joint space\",\"task\":\"arm\",\"urdf\":\"{}\",\"goals\":{},\"hash\":{},\"reached\":{reached}}}",
        ARM.replace('\n', ""),
        numbers(goals.iter().flat_map(|goal| goal.to_array())),
        hash.0
    )
}

/// A humanoid's rig, whose body and left hand follow goals; the hand's are in the space of the head.
fn rig(model: &Model) -> String {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).expect("the sample is a person");
    let rig = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body)).expect("the sample has limbs");
    let find = |name| rig.find_goal(name, None).expect("a humanoid has these goals");
    let (hips, hand) = (find("body"), find("left hand"));
    let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), bind.clone());
    let mut given = vec![RigGoal::new(); rig.goal_count()];
    let (mut noise, mut hash, mut goals) = (Noise::new(7), Hash::new(), Vec::new());
    for _ in 0..GOALS {
        let mut near = |at: Vec3, by: f32| at + Vec3::from_array([(); 3].map(|()| noise.between(-by, by)));
        let at = [near(bind.position(body.hips) - Vec3::Y * 0.1, 0.1), near(Vec3::new(0.2, -0.3, 0.3), 0.3)];
        goals.extend(at);
        given[hips] = Goal::position(at[0]).into();
        given[hand] = RigGoal::from(Goal::position(at[1])).with_space(Space::Role(Role::Head));
        pose.copy_from(&bind);
        let frame = RigFrame::new(1.0 / RATE).with_goals(&given);
        rig.apply(&mut state, &mut workspace, &mut pose, &frame).expect("the goals are finite");
        for joint in model.skeleton.joints() {
            hash.add(&pose.local(joint).rotation.to_array());
            hash.add(&pose.local(joint).translation.to_array());
        }
    }
    format!(
        "{{\"name\":\"rig of a humanoid\",\"task\":\"rig\",\"goals\":{},\"hash\":{}}}",
        numbers(goals.iter().flat_map(|goal| goal.to_array())),
        hash.0
    )
}
