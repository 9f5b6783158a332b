//! A full body alone.

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{Effector, FullBody, FullBodyOptions},
};

/// Moves one hand to a goal while the other is held, and returns the larger position residual, in metres; NaN on an error.
#[unsafe(no_mangle)]
pub extern "C" fn residual(x: f32, y: f32, z: f32) -> f32 {
    solve(Vec3::new(x, y, z)).unwrap_or(f32::NAN)
}

fn solve(to: Vec3) -> Option<f32> {
    let mut builder = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let chest = builder.add("chest", Some(hips), at(0.0, 0.4, 0.0));
    for (names, side) in [(["arm l", "elbow l", "hand l"], 1.0), (["arm r", "elbow r", "hand r"], -1.0)] {
        let upper = builder.add(names[0], Some(chest), at(0.2 * side, 0.1, 0.0));
        let fore = builder.add(names[1], Some(upper), at(0.05 * side, -0.32, 0.0));
        builder.add(names[2], Some(fore), at(0.0, -0.26, 0.03));
    }
    let (skeleton, ids) = builder.build().ok()?;
    let skeleton = Arc::new(skeleton);
    let hands = [ids[4], ids[7]];
    let body = FullBody::new(&skeleton, ids[0], &hands.map(Effector::new)).ok()?;
    let mut pose = Pose::rest(&skeleton);
    let goals = [to, pose.position(hands[1])].map(Goal::position);
    let report = body.solve(&mut Workspace::new(), &mut pose, &goals, &FullBodyOptions::new()).ok()?;
    Some(report.position_residual)
}
