//! Chains with goals that can be met.

use common::{
    Noise,
    chains::{Kind, anywhere, skeleton},
    kinematics,
};
use sinew::{Pose, glam::Vec3, math};

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

pub fn cases(kind: Kind, bones: usize, goals: Goals, count: usize) -> Vec<Case> {
    let mut r = Noise::new(20);
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
                Goals::Line(near, far) => Vec3::Z * r.between(near, far),
                Goals::Shell(near, far) => {
                    pose.set_rotation(ids[0], math::shortest_arc(Vec3::Z, r.direction(), Vec3::X));
                    for &id in &ids[1..bones] {
                        let axis = math::perpendicular(Vec3::Z, r.direction());
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
