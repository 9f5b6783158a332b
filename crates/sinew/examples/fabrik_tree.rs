//! Two necks on one stem, with a goal for each head. Vertebrae swing within ellipses.
//!
//! `cargo run -p sinew --example fabrik_tree`; with `-- fabrik_tree.svg` it draws the picture beside it in the docs.

mod picture;

use std::{ops::ControlFlow, sync::Arc};

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::Joint,
    solve::{Effector, FabrikTree, IterativeOptions, TraceChange},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.0));
    let mut stem = builder.add("root", None, JointTransform::IDENTITY);
    for i in 1..=4 {
        stem = builder.add(format!("stem {i}"), Some(stem), at(0.0, 0.15));
    }
    for (name, side) in [("left", 1.0), ("right", -1.0)] {
        // The first joint of each neck is at the sub-base, so that the necks turn about it one by one.
        let mut neck = builder.add(format!("{name} 0"), Some(stem), at(0.0, 0.0));
        for i in 1..=5 {
            neck = builder.add(format!("{name} {i}"), Some(neck), at(0.05 * side, 0.12));
        }
    }
    let (mut skeleton, ids) = builder.build()?;
    for &id in &ids {
        // 20 degrees to the sides, 40 to the front and to the back, 10 of twist.
        let [side, front, twist] = [20f64, 40.0, 10.0].map(f64::to_radians);
        let ellipse = Joint::ball(Vec3::Y, Vec3::X, [(-front, front), (-side, side)], (-twist, twist));
        skeleton.set_joint(id, ellipse)?;
    }
    let skeleton = Arc::new(skeleton);
    let find = |name| skeleton.find(name).ok_or("a joint is missing");

    let heads = [find("left 5")?, find("right 5")?];
    let tree = FabrikTree::new(&skeleton, find("root")?, &heads.map(Effector::new))?;
    let goals = [Vec3::new(0.5, 0.85, 0.3), Vec3::new(-0.1, 0.85, 0.55)].map(Goal::position);
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(0.5, 0.5, 1.0));
    picture.pose(&pose, None, 0.35);
    let mut asked = Vec::new();
    let report =
        tree.solve_traced(&mut Workspace::new(), &mut pose, &goals, &IterativeOptions::new(), &mut |step| {
            if let (0, TraceChange::SubBase { from, position, .. }) = (step.iteration, step.change) {
                asked.push((skeleton.name(tree.joints()[from]), position));
            }
            ControlFlow::Continue(())
        })?;
    picture.limits(&pose, 0.07);
    picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
    for goal in goals {
        picture.goal(goal.position.unwrap_or_default(), 0.06);
    }
    picture.save()?;
    for (neck, position) in asked {
        println!("in the first sweep, the neck `{neck}` asks for the sub-base at {position:.3}");
    }
    println!("{:?} after {} sweeps", report.outcome, report.iterations);
    for (head, outcome) in heads.iter().zip(tree.effector_reports(&pose, &goals, &report)) {
        println!("  {:<8} {:.2} mm off", skeleton.name(*head), outcome.position_residual * 1e3);
    }
    Ok(())
}
