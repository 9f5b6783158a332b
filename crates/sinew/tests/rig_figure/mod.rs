//! A figure of any size, front and axes, its poses, and forward kinematics in f64, apart from the engine.
// Each suite of tests uses a part of it.
#![allow(dead_code)]

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    body::{BodyRoles, Side},
    glam::{DQuat, DVec3, Quat, Vec3},
    math,
    rig::{HandleSolver, HandleSpec, StartFrom},
};

/// Numbers from -1 to 1, always the same.
pub struct Noise(pub u64);

impl Noise {
    /// The next number.
    pub fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    }

    /// A vector within a cube of 2 m.
    pub fn vector(&mut self) -> Vec3 {
        Vec3::new(self.next(), self.next(), self.next())
    }

    /// Any rotation.
    pub fn turn(&mut self) -> Quat {
        math::normalize(Quat::from_xyzw(self.next(), self.next(), self.next(), self.next()))
    }
}

/// A figure of a height that faces a direction, and whose joints have axes of their own. Nothing but its names, its size and
/// its axes differ from others'.
pub fn figure(size: f32, facing: f32, axes: u64) -> (Pose, BodyRoles) {
    let mut noise = Noise(axes);
    let mut builder = Skeleton::builder();
    let front = math::axis_angle(Vec3::Y, facing);
    let mut placed: Vec<(Vec3, Quat)> = Vec::new();
    let mut add = |name: &str, parent: Option<usize>, x: f32, y: f32, z: f32| {
        let at = math::rotate(front, Vec3::new(x, y, z) * size);
        let turned = if axes == 0 { Quat::IDENTITY } else { noise.turn() };
        let (above, back) = parent.map_or((Vec3::ZERO, Quat::IDENTITY), |p| {
            let (above, q): (Vec3, Quat) = placed[p];
            (above, math::conjugate(q))
        });
        let rotation = math::normalize(math::mul(back, turned));
        let translation = math::rotate(back, at - above);
        placed.push((at, turned));
        builder.add(name, parent, JointTransform { translation, rotation, scale: Vec3::ONE })
    };
    let hips = add("Hips", None, 0.0, 1.0, 0.0);
    let chest = add("Spine", Some(hips), 0.0, 1.2, 0.0);
    let neck = add("Neck", Some(chest), 0.0, 1.5, 0.0);
    let head = add("Head", Some(neck), 0.0, 1.6, 0.02);
    add("HeadTop_End", Some(head), 0.0, 1.8, 0.02);
    for (side, s) in [("Left", 1.0), ("Right", -1.0)] {
        let shoulder = add(&format!("{side}Shoulder"), Some(chest), 0.05 * s, 1.45, 0.0);
        let upper = add(&format!("{side}Arm"), Some(shoulder), 0.2 * s, 1.45, 0.0);
        let fore = add(&format!("{side}ForeArm"), Some(upper), 0.48 * s, 1.45, -0.03);
        add(&format!("{side}Hand"), Some(fore), 0.75 * s, 1.45, 0.0);
        let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * s, 0.95, 0.0);
        let shin = add(&format!("{side}Leg"), Some(thigh), 0.1 * s, 0.5, 0.03);
        let foot = add(&format!("{side}Foot"), Some(shin), 0.1 * s, 0.08, 0.0);
        add(&format!("{side}ToeBase"), Some(foot), 0.1 * s, 0.0, 0.13);
    }
    let bind = Pose::rest(&Arc::new(builder.build().unwrap().0));
    let body = BodyRoles::find(&bind, &[]).unwrap();
    (bind, body)
}

/// An arm that starts from preferred values.
pub fn arm(body: &BodyRoles, side: Side) -> HandleSpec {
    let arm = body.arm(side).unwrap();
    HandleSpec {
        solver: HandleSolver::TwoBone,
        from: StartFrom::Preferred,
        ..HandleSpec::new(format!("{side} arm"), arm.upper_arm, arm.hand)
    }
}

/// Position and rotation of a joint in f64.
pub fn place(pose: &Pose, j: JointId) -> (DVec3, DQuat) {
    let local = pose.local(j);
    let (at, turn) = (local.translation.as_dvec3(), local.rotation.as_dquat().normalize());
    match pose.skeleton().parent(j) {
        Some(p) => {
            let (above, turned) = place(pose, p);
            (above + turned * at, turned * turn)
        }
        None => (at, turn),
    }
}

/// The pose, turned at every joint.
pub fn turned(bind: &Pose, noise: &mut Noise, by: f32) -> Pose {
    let mut pose = bind.clone();
    for j in bind.skeleton().joints() {
        let axis = noise.vector().normalize_or(Vec3::X);
        pose.turn(j, math::axis_angle(axis, by * noise.next()));
    }
    pose.update();
    pose
}
