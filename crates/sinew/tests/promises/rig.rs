//! Random rigs: a limb of any size below parents of any scale, with joints between and a branch beside it.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    math,
};

use crate::promises::judge;

/// A skeleton in a pose with one limb picked out.
#[derive(Clone, Debug)]
pub struct Rig {
    pub pose: Pose,
    pub root: JointId,
    pub middle: JointId,
    pub tip: JointId,
    /// Length of the limb in model space, in metres.
    pub length: f64,
    /// Rounding of positions in f32 in this rig, in metres.
    pub rounding: f64,
}

pub fn vector() -> impl Strategy<Value = Vec3> {
    (-1f32..1.0, -1f32..1.0, -1f32..1.0)
        .prop_map(|(x, y, z)| Vec3::new(x, y, z))
        .prop_filter("a vector of some length", |v| v.length() > 0.05)
}

pub fn rotation() -> impl Strategy<Value = Quat> {
    (vector(), -1f32..1.0).prop_map(|(v, w)| math::normalize(Quat::from_xyzw(v.x, v.y, v.z, w)))
}

/// Scales that rigs really come with: centimetres, millimetres, mirrored halves.
fn parent_scale() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        3 => Just(Vec3::ONE),
        1 => Just(Vec3::splat(0.01)),
        1 => Just(Vec3::splat(100.0)),
        1 => Just(Vec3::splat(-1.0)),
        1 => Just(Vec3::new(-1.0, 1.0, 1.0)),
    ]
}

/// Scales of a whole figure's world.
pub fn world_scale() -> impl Strategy<Value = Vec3> {
    prop_oneof![
        3 => Just(Vec3::ONE),
        1 => Just(Vec3::splat(0.01)),
        1 => Just(Vec3::splat(-100.0)),
        1 => Just(Vec3::new(1.0, -1.0, 1.0)),
    ]
}

pub fn rig() -> impl Strategy<Value = Rig> {
    let bones = prop::collection::vec(vector(), 6);
    let rotations = prop::collection::vec(rotation(), 7);
    (-3f32..3.0, -1f32..1.0, bones, rotations, parent_scale(), parent_scale(), 0usize..3, 0usize..3).prop_map(
        |(decade, ratio, bones, rotations, outer, inner, upper, lower)| {
            let (size, ratio) = (10f32.powf(decade), 10f32.powf(0.5 * ratio));
            let mut b = Skeleton::builder();
            let at = |translation, scale| JointTransform { translation, scale, ..JointTransform::IDENTITY };
            let body = b.add("body", None, at(bones[0] * size, outer));
            let root = b.add("root", Some(body), at(bones[1] * size, inner));
            let mut last = root;
            for i in 0..=upper {
                let part = bones[2] + bones[3] * (0.1 * i as f32);
                last =
                    b.add(format!("upper {i}"), Some(last), at(part * size / (upper + 1) as f32, Vec3::ONE));
            }
            let middle = last;
            for i in 0..=lower {
                let part = bones[4] + bones[5] * (0.1 * i as f32);
                last = b.add(
                    format!("lower {i}"),
                    Some(last),
                    at(part * size * ratio / (lower + 1) as f32, Vec3::ONE),
                );
            }
            let tip = last;
            b.add("toe", Some(tip), at(bones[5] * size, Vec3::ONE));
            b.add("beside", Some(root), at(bones[4] * size, Vec3::splat(1.5)));
            let (skeleton, ids) = b.build().unwrap();
            let mut pose = Pose::rest(&Arc::new(skeleton));
            for (i, id) in ids.iter().enumerate() {
                pose.set_rotation(*id, rotations[i % rotations.len()]);
            }
            // Clips may move joints: the offsets of the pose are not those of rest.
            let moved = pose.local(ids[tip]).translation * 1.07;
            pose.set_translation(ids[tip], moved);
            pose.update();
            Rig::new(pose, ids[root], ids[middle], ids[tip])
        },
    )
}

/// The same with a body that is scaled by unequal factors, above the limb.
pub fn squashed() -> impl Strategy<Value = Rig> {
    let scale = prop_oneof![Just(Vec3::new(1.0, 2.0, 1.0)), Just(Vec3::new(-1.5, 1.0, 0.7))];
    (rig(), scale).prop_map(|(rig, scale)| {
        let Rig { mut pose, root, middle, tip, .. } = rig;
        let body = pose.skeleton().parent(root).unwrap();
        let uniform = pose.local(body).scale;
        pose.set_local(body, JointTransform { scale: uniform * scale, ..*pose.local(body) });
        pose.update();
        Rig::new(pose, root, middle, tip)
    })
}

impl Rig {
    /// The rig, in a pose of it, as the parent of its root sees it, and a goal as that sees it.
    pub fn seen_from_parent(&self, pose: &Pose, goal: Vec3) -> (Rig, Vec3) {
        let parent = pose.skeleton().parent(self.root).unwrap();
        let frame = judge::frame(pose, parent);
        let off = judge::sub(judge::v(goal), frame.origin);
        // Cramer's rule.
        let [a, b, c] = frame.columns;
        let (bc, ca, ab) = (judge::cross(b, c), judge::cross(c, a), judge::cross(a, b));
        let g = [bc, ca, ab].map(|n| judge::dot(off, n) / judge::dot(a, bc));
        let mut pose = pose.clone();
        pose.set_local(parent, JointTransform::IDENTITY);
        pose.update();
        let goal = Vec3::new(g[0] as f32, g[1] as f32, g[2] as f32);
        (Rig::new(pose, self.root, self.middle, self.tip), goal)
    }

    pub fn new(pose: Pose, root: JointId, middle: JointId, tip: JointId) -> Self {
        let at = [root, middle, tip].map(|j| judge::position(&pose, j));
        let length = judge::length(judge::sub(at[1], at[0])) + judge::length(judge::sub(at[2], at[1]));
        // A place is a sum of offsets: it rounds with the largest of its partial sums, the places of the joints above it.
        let above = pose.skeleton().ancestors(tip).map(|j| judge::position(&pose, j));
        let far = above.chain(at).map(judge::length).fold(0.0, f64::max);
        Self { pose, root, middle, tip, length, rounding: 1e-6 * far }
    }

    /// A goal in a direction from the root, at a fraction of the limb's length.
    pub fn goal(&self, direction: Vec3, fraction: f32) -> Vec3 {
        self.pose.position(self.root) + direction.normalize() * (fraction * self.length as f32)
    }
}
