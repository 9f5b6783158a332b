//! A limb alone.

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Pose, Skeleton,
    glam::Vec3,
    solve::{LimbOptions, TwoBone},
};

/// Moves an ankle to a goal and returns the position residual, in metres; NaN on an error.
#[unsafe(no_mangle)]
pub extern "C" fn residual(x: f32, y: f32, z: f32) -> f32 {
    solve(Vec3::new(x, y, z)).unwrap_or(f32::NAN)
}

fn solve(to: Vec3) -> Option<f32> {
    let mut builder = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hip = builder.add("hip", None, at(0.0, 0.9, 0.0));
    let knee = builder.add("knee", Some(hip), at(0.0, -0.45, 0.05));
    builder.add("ankle", Some(knee), at(0.0, -0.42, -0.05));
    let (skeleton, ids) = builder.build().ok()?;
    let skeleton = Arc::new(skeleton);
    let leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).ok()?;
    let mut pose = Pose::rest(&skeleton);
    let report = leg.solve(&mut pose, &Goal::position(to), &LimbOptions::new()).ok()?;
    Some(report.position_residual)
}
