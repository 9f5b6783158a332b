//! The neck of a crane picks from the grass and looks up again. Its vertebrae swing by 35 degrees and twist by 10.
//!
//! `cargo run -p sinew --example fabrik`; with `-- fabrik.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::Joint,
    solve::{Fabrik, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("neck 0", None, JointTransform::from_translation(Vec3::Y));
    for i in 1..=9 {
        joint =
            builder.add(format!("neck {i}"), Some(joint), JointTransform::from_translation(Vec3::Y * 0.1));
    }
    let (mut skeleton, ids) = builder.build()?;
    for id in &ids[..9] {
        skeleton.set_joint(*id, Joint::cone(Vec3::Y, 35f64.to_radians(), 10f64.to_radians()))?;
    }
    let skeleton = Arc::new(skeleton);

    let neck = Fabrik::new(&skeleton, ids[0], ids[9])?;
    let mut workspace = Workspace::new();
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.25, 0.35));
    picture.pose(&pose, None, 0.35);
    for (what, beak) in [
        ("the grass", Vec3::new(0.1, 0.55, 0.45)),
        ("a wing", Vec3::new(0.4, 1.2, -0.1)),
        ("the sky", Vec3::new(0.1, 1.85, 0.1)),
        ("its own foot", Vec3::new(0.0, 0.0, 0.0)),
    ] {
        let report =
            neck.solve(&mut workspace, &mut pose, &Goal::position(beak), &IterativeOptions::new())?;
        if what == "the grass" {
            picture.limits(&pose, 0.1);
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            picture.goal(beak, 0.06);
        }
        let within = ids.iter().all(|&j| skeleton.limit_excess(j, pose.local(j).rotation) < 1e-5);
        println!(
            "{what}: {:?} after {} sweeps, {:.1} mm off; all vertebrae within their limits: {within}",
            report.outcome,
            report.iterations,
            1e3 * report.position_residual
        );
    }
    picture.save()?;
    Ok(())
}
