//! Random legs and goals from a fixed seed.

use std::sync::Arc;

use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    solve::TwoBone,
};

/// One leg with what is asked of it, in model space (metres).
#[derive(Clone, Debug)]
pub struct Leg {
    pub root: Vec3,
    pub middle: Vec3,
    pub tip: Vec3,
    pub goal: Vec3,
    /// Another goal of the same kind.
    pub other: Vec3,
    pub pole: Vec3,
}

/// Where the goals lie.
#[derive(Clone, Copy, PartialEq)]
pub enum Reach {
    /// Anywhere in reach, in any direction.
    Inside,
    /// In any direction, up to a fifth too far.
    Beyond,
    /// Near the foot, as in a walk.
    Walk,
}

/// Uniform in \[0, 1), by a 64-bit linear congruence (Knuth's multiplier).
pub struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 40) as f32 / (1u32 << 24) as f32
    }

    fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.next()
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.between(-1.0, 1.0), self.between(-1.0, 1.0), self.between(-1.0, 1.0));
            if v.length() > 0.1 && v.length() < 1.0 {
                return v.normalize();
            }
        }
    }
}

pub fn legs(count: usize, reach: Reach) -> Vec<Leg> {
    let mut r = Noise(20);
    (0..count)
        .map(|_| {
            let root = r.direction() * r.next();
            let (a, b) = (r.between(0.3, 0.5), r.between(0.3, 0.5));
            let upper = r.direction();
            let bend = upper.any_orthonormal_vector();
            let flexion = r.between(0.05, 1.8);
            let lower = Quat::from_axis_angle(bend, flexion) * upper;
            let middle = root + upper * a;
            let tip = middle + lower * b;
            let mut goal = || {
                let (near, far) = ((a - b).abs(), a + b);
                match reach {
                    Reach::Inside => root + r.direction() * r.between(near + 0.01, far - 0.01),
                    Reach::Beyond => root + r.direction() * r.between(near + 0.01, far * 1.2),
                    Reach::Walk => {
                        let e = tip - root;
                        let turn = Quat::from_axis_angle(r.direction(), r.between(0.0, 0.26));
                        let length = e.length() + r.between(-0.2, 0.2) * far;
                        root + turn * e.normalize() * length.clamp(near + 0.01, far - 0.01)
                    }
                }
            };
            let (goal, other) = (goal(), goal());
            let pole = root + r.direction() * 3.0;
            Leg { root, middle, tip, goal, other, pole }
        })
        .collect()
}

impl Leg {
    /// The same leg, whose knee bends about one axis by up to 150 degrees, below a hip with the limits of people: swings of 120
    /// and 45 degrees and a twist of 45, but about the pose.
    pub fn pose_within(&self) -> (TwoBone, Pose) {
        let (free, pose) = self.pose();
        let mut skeleton = Skeleton::clone(pose.skeleton());
        let [hip, knee] = [free.chain().root(), free.middle()];
        let (upper, lower) = (self.middle - self.root, self.tip - self.middle);
        let axis = upper.cross(lower).normalize();
        let bent = upper.angle_between(lower);
        let ball = Joint::ball(upper, axis, [(-2.1, 2.1), (-0.8, 0.8)], (-0.8, 0.8));
        skeleton.set_joint(hip, ball).expect("the ball has a centre within");
        let range = Dof::range(f64::from(-bent), f64::from(2.6 - bent));
        skeleton.set_joint(knee, Joint::hinge(axis, range)).expect("the range is not empty");
        let chain = free.chain().clone();
        let limb = TwoBone::within_limits(&skeleton, chain, knee).expect("a hinge below a ball is a limb");
        (limb, Pose::rest(&Arc::new(skeleton)))
    }

    /// The same leg as a skeleton of three joints.
    pub fn pose(&self) -> (TwoBone, Pose) {
        let mut b = Skeleton::builder();
        let at = JointTransform::from_translation;
        let hip = b.add("hip", None, at(self.root));
        let knee = b.add("knee", Some(hip), at(self.middle - self.root));
        b.add("ankle", Some(knee), at(self.tip - self.middle));
        let (skeleton, ids) = b.build().expect("three joints in a row are a skeleton");
        let limb = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).expect("three joints in a row are a limb");
        (limb, Pose::rest(&Arc::new(skeleton)))
    }
}
