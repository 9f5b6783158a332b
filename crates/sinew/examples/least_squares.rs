//! A desk lamp moves its shade to a goal by damped least squares. The trace draws each step.
//!
//! `cargo run -p sinew --example least_squares -- least_squares.svg`

mod picture;

use std::{ops::ControlFlow, sync::Arc};

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    body::Side,
    glam::Vec3,
    joint::{Dof, Joint},
    math,
    solve::{ChainSolver, DampedLeastSquares, IterativeOptions, TraceChange},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("foot", None, JointTransform::IDENTITY);
    for (name, length) in [("lower arm", 0.1), ("upper arm", 0.45), ("neck", 0.4), ("shade", 0.15)] {
        joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::Y * length));
    }
    let (mut skeleton, ids) = builder.build()?;
    skeleton.set_joint(ids[0], Joint::hinge(Vec3::Y, Dof::FREE))?;
    for id in &ids[1..4] {
        skeleton.set_joint(*id, Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0)))?;
    }
    let skeleton = Arc::new(skeleton);

    let lamp = DampedLeastSquares::new(&skeleton, ids[0], ids[4])?;
    let mut pose = Pose::rest(&skeleton);
    for (id, angle) in ids[1..4].iter().zip([-0.4, 0.9, 0.8]) {
        pose.set_rotation(*id, math::axis_angle(Vec3::X, angle));
    }
    pose.update();
    let position = Vec3::new(0.55, 0.35, 0.25);
    let mut picture = Picture::seen_from(Vec3::new(0.35, 0.3, 1.0));
    picture.pose(&pose, None, 0.35);
    let mut shown = pose.clone();
    let (goal, options) = (Goal::position(position), IterativeOptions::new());
    let report = lamp.solve_traced(&mut Workspace::new(), &mut pose, &goal, &options, &mut |step| {
        if let TraceChange::Step { damping, taken } = step.change {
            step.write_to(&mut shown);
            let off = shown.position(ids[4]).distance(position);
            let what = if taken { "accepted" } else { "undone" };
            println!("step {}: damping {damping:.1e}, {:.2} mm off, {what}", step.iteration, 1e3 * off);
            if taken && off > 0.02 {
                picture.pose(&shown, Some(Side::Right), 0.35);
            }
        }
        ControlFlow::Continue(())
    })?;
    picture.pose(&pose, Some(Side::Left), 1.0);
    picture.limits(&pose, 0.12);
    picture.goal(position, 0.06);
    println!(
        "{:?} after {} steps, {:.3} mm off",
        report.outcome,
        report.iterations,
        1e3 * report.position_residual
    );
    picture.save()?;
    Ok(())
}
