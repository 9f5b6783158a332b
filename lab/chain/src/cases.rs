//! Chains with goals.

use std::sync::Arc;

use sinew::{JointId, JointTransform, Pose, Skeleton, glam::Vec3, math};

use common::Noise;

/// A start and a goal, seen from the root of a chain whose length is 1.
#[derive(Clone, Debug)]
pub struct Case {
    pub pose: Pose,
    pub tip: JointId,
    pub goal: Vec3,
}

/// Initial pose of a chain.
#[derive(Clone, Copy)]
pub enum Start {
    /// Every joint bends by this angle (radians; half to one and a half of it) about a random axis across.
    Bent(f32),
    /// Every joint bends by the same angle about the same axis: an arc of this angle (radians) in all.
    Arc(f32),
    /// A straight line along Y.
    Straight,
}

/// Bones of equal length along Y in their rest pose, the length of all being 1.
pub fn skeleton(bones: usize) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut ids = vec![b.add("0", None, JointTransform::IDENTITY)];
    for i in 1..=bones {
        let at = JointTransform::from_translation(Vec3::Y / bones as f32);
        ids.push(b.add(format!("{i}"), Some(ids[i - 1]), at));
    }
    let (skeleton, ids) = b.build().expect("joints in a row are a skeleton");
    (Arc::new(skeleton), ids)
}

/// `count` chains of `bones` bones, each with a goal at a random distance between `near` and `far`, in any direction, or
/// along the line of the chain.
pub fn cases(count: usize, bones: usize, start: Start, near: f32, far: f32, on_line: bool) -> Vec<Case> {
    let mut r = Noise::new(20);
    let (skeleton, ids) = skeleton(bones);
    let tip = ids[bones];
    (0..count)
        .map(|_| {
            let mut pose = Pose::rest(&skeleton);
            if let Start::Bent(bend) = start {
                pose.set_rotation(ids[0], math::shortest_arc(Vec3::Y, r.direction(), Vec3::X));
                for &id in &ids[1..bones] {
                    let axis = math::perpendicular(Vec3::Y, r.direction());
                    pose.set_rotation(id, math::axis_angle(axis, bend * r.between(0.5, 1.5)));
                }
                pose.update();
            }
            if let Start::Arc(angle) = start {
                let axis = math::perpendicular(Vec3::Y, r.direction());
                for &id in &ids[..bones] {
                    pose.set_rotation(id, math::axis_angle(axis, angle / bones as f32));
                }
                pose.update();
            }
            let direction = if on_line { Vec3::Y } else { r.direction() };
            let goal = direction * r.between(near, far);
            Case { pose, tip, goal }
        })
        .collect()
}
