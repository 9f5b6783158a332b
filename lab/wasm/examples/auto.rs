//! The recommended chain solver alone.

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{Auto, IterativeOptions},
};

/// Moves the end of a tail of five bones to a goal and returns the position residual, in metres; NaN on an error.
#[unsafe(no_mangle)]
pub extern "C" fn residual(x: f32, y: f32, z: f32) -> f32 {
    solve(Vec3::new(x, y, z)).unwrap_or(f32::NAN)
}

fn solve(to: Vec3) -> Option<f32> {
    let mut builder = Skeleton::builder();
    let mut above = None;
    for name in ["a", "b", "c", "d", "e", "f"] {
        above = Some(builder.add(name, above, JointTransform::from_translation(Vec3::new(0.0, 0.1, 0.02))));
    }
    let (skeleton, ids) = builder.build().ok()?;
    let skeleton = Arc::new(skeleton);
    let tail = Auto::new(&skeleton, ids[0], ids[5]).ok()?;
    let mut pose = Pose::rest(&skeleton);
    let goal = Goal::position(to);
    let report = tail.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new()).ok()?;
    Some(report.position_residual)
}
