//! Chains with goals that the judge knows can be met.

use std::sync::Arc;

use sinew::{
    JointId, Pose, Skeleton, Transform,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    math,
};

use crate::{judge, kinematics};

/// Numbers without any library, the same on every run.
pub struct Noise(pub u64);

impl Noise {
    /// In [0, 1).
    pub fn unit(&mut self) -> f32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    pub fn between(&mut self, from: f32, to: f32) -> f32 {
        from + (to - from) * self.unit()
    }

    pub fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            if v.length() > 0.05 && v.length() <= 1.0 {
                return v.normalize();
            }
        }
    }

    pub fn rotation(&mut self) -> Quat {
        // Four numbers in a ball, at unit length: every rotation as likely (Marsaglia).
        loop {
            let q = [0; 4].map(|_| self.between(-1.0, 1.0));
            let l: f32 = q.iter().map(|x| x * x).sum();
            if l > 0.01 && l <= 1.0 {
                return math::normalize(Quat::from_xyzw(q[0], q[1], q[2], q[3]));
            }
        }
    }
}

/// Which joints a chain has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Free,
    /// Circular cones of 45 degrees, twist within 30 degrees to either side.
    Cones,
    /// Hinges about X and Z in turn (the bones lie along Y), 60 degrees to either side.
    Hinges,
}

/// Where goals lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goals {
    /// In any direction, at a share of the reach.
    Shell(f32, f32),
    /// On the line of the straight chain.
    Line(f32, f32),
    /// At the end of a uniformly random pose within the limits.
    Reached,
}

pub struct Case {
    pub pose: Pose,
    pub goal: Vec3,
}

pub fn skeleton(kind: Kind, bones: usize) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, Transform::IDENTITY);
    for i in 1..=bones {
        last = b.add(format!("{i}"), Some(last), Transform::from_translation(Vec3::Y / bones as f32));
    }
    let (mut skeleton, ids) = b.build().expect("joints in a row are a skeleton");
    let degrees = |x: f64| x.to_radians();
    for (i, &id) in ids[..bones].iter().enumerate() {
        let joint = match kind {
            Kind::Free => Joint::FREE,
            Kind::Cones => Joint::cone(Vec3::Y, degrees(45.0), degrees(30.0)),
            Kind::Hinges => {
                let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Z };
                Joint::hinge(axis, Dof::range(degrees(-60.0), degrees(60.0)))
            }
        };
        skeleton.set_joint(id, joint).expect("the joint is sound");
    }
    (Arc::new(skeleton), ids)
}

/// A pose whose joints are anywhere within their limits, each place as likely (in the area of the ellipse, the twist, the
/// angle).
fn anywhere(pose: &mut Pose, kind: Kind, ids: &[JointId], r: &mut Noise) {
    for (i, &id) in ids[..ids.len() - 1].iter().enumerate() {
        let rotation = match kind {
            Kind::Free => r.rotation(),
            Kind::Cones => {
                let way = r.between(0.0, std::f32::consts::TAU);
                let swing = 45f32.to_radians() * r.unit().sqrt();
                let axis = Vec3::new(way.cos(), 0.0, way.sin());
                let twist = math::axis_angle(Vec3::Y, r.between(-1.0, 1.0) * 30f32.to_radians());
                math::normalize(math::mul(math::axis_angle(axis, swing), twist))
            }
            Kind::Hinges => {
                let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Z };
                math::axis_angle(axis, r.between(-1.0, 1.0) * 60f32.to_radians())
            }
        };
        pose.set_rotation(id, rotation);
    }
    pose.update();
}

pub fn cases(kind: Kind, bones: usize, goals: Goals, count: usize) -> Vec<Case> {
    let mut r = Noise(20);
    let (skeleton, ids) = skeleton(kind, bones);
    let tip = ids[bones];
    (0..count)
        .map(|_| {
            let mut pose = Pose::rest(&skeleton);
            let mut other = pose.clone();
            let goal = match goals {
                Goals::Reached => {
                    anywhere(&mut pose, kind, &ids, &mut r);
                    anywhere(&mut other, kind, &ids, &mut r);
                    let at = kinematics::end(&other, tip);
                    Vec3::new(at[0] as f32, at[1] as f32, at[2] as f32)
                }
                Goals::Line(near, far) => Vec3::Y * r.between(near, far),
                Goals::Shell(near, far) => {
                    pose.set_rotation(ids[0], math::shortest_arc(Vec3::Y, r.direction(), Vec3::X));
                    for &id in &ids[1..bones] {
                        let axis = math::perpendicular(Vec3::Y, r.direction());
                        pose.set_rotation(id, math::axis_angle(axis, 0.2 * r.between(0.5, 1.5)));
                    }
                    pose.update();
                    r.direction() * r.between(near, far)
                }
            };
            Case { pose, goal }
        })
        .collect()
}

/// The largest excess over the limits of any joint, in radians.
pub fn broken(pose: &Pose) -> f64 {
    let skeleton = pose.skeleton();
    let of = |j| judge::excess(skeleton.freedom(j), skeleton.rest(j), pose.local(j));
    skeleton.joints().flat_map(of).fold(0.0, f64::max)
}
