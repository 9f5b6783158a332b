//! A whole figure with goals for head and hands, whose feet stay in place.
//!
//! `cargo run -p sinew --example full_body`; with `-- full_body.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{Effector, FullBody, FullBodyOptions, RootMode},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let spine = builder.add("spine", Some(hips), at(0.0, 0.15, 0.0));
    let chest = builder.add("chest", Some(spine), at(0.0, 0.25, 0.0));
    builder.add("head", Some(chest), at(0.0, 0.28, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = builder.add(format!("upper arm {side}"), Some(chest), at(0.2 * x, 0.1, 0.0));
        let fore = builder.add(format!("forearm {side}"), Some(upper), at(0.05 * x, -0.32, 0.0));
        builder.add(format!("hand {side}"), Some(fore), at(0.0, -0.26, 0.03));
        let thigh = builder.add(format!("thigh {side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = builder.add(format!("shin {side}"), Some(thigh), at(0.0, -0.42, 0.02));
        builder.add(format!("foot {side}"), Some(shin), at(0.0, -0.43, -0.02));
    }
    let skeleton = Arc::new(builder.build()?.0);
    let find = |name| skeleton.find(name).ok_or("a joint is missing");
    let hips = find("hips")?;

    // Feet have priority over hands, and hands over the head.
    let tips = [
        Effector::new(find("foot l")?),
        Effector::new(find("foot r")?),
        Effector::new(find("hand l")?).with_priority(1),
        Effector::new(find("hand r")?).with_priority(1),
        Effector::new(find("head")?).with_priority(2),
    ];
    let full_body = FullBody::new(&skeleton, hips, &tips)?;
    let options = FullBodyOptions::new().with_root(RootMode::Spring(1.0));
    let mut workspace = Workspace::new();

    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(0.9, 0.25, 0.6));
    picture.pose(&pose, None, 0.3);
    let feet = [tips[0], tips[1]].map(|tip| Goal::position(pose.position(tip.joint)));
    // The figure picks something up from a low table.
    let hands = [Vec3::new(0.15, 0.5, 0.5), Vec3::new(-0.15, 0.5, 0.5)].map(Goal::position);
    let head = Goal::position(Vec3::new(0.0, 1.2, 0.5));
    let goals = [feet[0], feet[1], hands[0], hands[1], head];
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options)?;

    picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
    for goal in goals {
        picture.goal(goal.position.unwrap_or_default(), 0.06);
    }
    picture.save()?;
    println!("{:?} after {} steps", report.outcome, report.iterations);
    for (tip, outcome) in tips.iter().zip(full_body.effector_reports(&pose, &goals, &report)) {
        println!("  {:<8} {:.2} mm off", skeleton.name(tip.joint), outcome.position_residual * 1e3);
    }
    println!("the hips are at {:.3}", pose.position(hips));
    Ok(())
}
