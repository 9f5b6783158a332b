//! A headset and two controllers drive a whole figure. Elbows, back, hips and knees follow, and the feet stay in place as
//! far as they can.
//!
//! `cargo run -p sinew --example trackers`; with `-- trackers.svg` it draws the picture beside it in the docs.

mod picture;

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    body::{BodyRoles, HumanLimits, Side, Trackers},
    glam::{Quat, Vec3},
    solve::{Effector, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A figure that stands with hanging arms and faces +Z. A file's figure works as well: its roles are found by the file's
    // declarations, by names, or by shape.
    let mut builder = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let spine = builder.add("spine", Some(hips), at(0.0, 0.15, 0.0));
    let chest = builder.add("chest", Some(spine), at(0.0, 0.25, 0.0));
    let neck = builder.add("neck", Some(chest), at(0.0, 0.16, 0.0));
    builder.add("head", Some(neck), at(0.0, 0.1, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let collar = builder.add(format!("shoulder.{side}"), Some(chest), at(0.03 * x, 0.1, 0.0));
        let upper = builder.add(format!("upper_arm.{side}"), Some(collar), at(0.17 * x, 0.0, 0.0));
        let fore = builder.add(format!("forearm.{side}"), Some(upper), at(0.0, -0.32, 0.0));
        builder.add(format!("hand.{side}"), Some(fore), at(0.0, -0.26, 0.0));
        let thigh = builder.add(format!("thigh.{side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = builder.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.43, 0.0));
        builder.add(format!("foot.{side}"), Some(shin), at(0.0, -0.43, 0.0));
    }
    let mut skeleton = builder.build()?.0;
    let bind = Pose::rest(&Arc::new(skeleton.clone()));
    let body = BodyRoles::find(&bind, &[])?;
    // Human limits and preferred values make the pose plausible: dofs that goals leave free move to the stance at ease.
    let human = HumanLimits::of(&bind, &body);
    human.apply(&mut skeleton)?;
    let skeleton = Arc::new(skeleton);
    let mut pose = Pose::rest(&skeleton);
    human.stand_at_ease(&bind, &body, &mut pose);

    let [left, right] = body.arms.map(|arm| arm.map(|a| a.hand));
    let worn = [body.head, left, right].map(|joint| joint.ok_or("a part is missing"));
    let [head, left, right] = worn;
    let tips = [head?, left?, right?].map(Effector::new);
    let trackers = Trackers::new(&body, &tips, &pose)?;
    let (mut state, mut workspace) = (trackers.state(&pose), Workspace::new());

    // The trackers' goals in this frame: a crouch, one hand forward and one beside the head.
    let turned = |x: f32, y: f32| Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
    let goals = [
        Goal::position(Vec3::new(0.02, 1.22, 0.22)).with_rotation(turned(0.3, 0.2)),
        Goal::position(Vec3::new(0.22, 1.0, 0.62)).with_rotation(turned(-1.5, -0.1)),
        Goal::position(Vec3::new(-0.34, 1.25, 0.2)).with_rotation(turned(-(FRAC_PI_2 as f32) - 0.9, 0.1)),
    ];
    let mut picture = Picture::seen_from(Vec3::new(0.8, 0.2, 0.7));
    picture.pose(&pose, None, 0.3);
    let options = IterativeOptions::new();
    let report = trackers.solve(&mut state, &mut workspace, &mut pose, &goals, &options)?;
    picture.pose(&pose, Some(Side::Left), 1.0);
    for goal in goals {
        picture.goal(goal.position.unwrap_or_default(), 0.08);
    }
    picture.save()?;
    println!("{:?} after {} steps", report.outcome, report.iterations);
    for (tip, outcome) in tips.iter().zip(trackers.effector_reports(&pose, &goals, &report)) {
        println!("  {:<8} {:.2} mm off", skeleton.name(tip.joint), outcome.position_residual * 1e3);
    }
    let elbow = body.arm(Side::Left).ok_or("no arm")?.forearm;
    for (name, joint) in
        [("hips", body.hips), ("left elbow", elbow), ("left knee", body.leg(Side::Left).shin)]
    {
        println!("the {name} is at {:.3}", pose.position(joint));
    }
    println!("out of balance by {:.0} mm", trackers.out_of_balance(&state, &pose) * 1e3);
    Ok(())
}
