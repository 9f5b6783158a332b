//! One call for any chain: `Auto` selects the solver by the attributes of the joints.
//!
//! `cargo run -p sinew --example auto`; with `-- auto.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    solve::{Auto, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut picture = Picture::seen_from(Vec3::new(0.6, 0.3, 1.0));
    for stiff in [false, true] {
        let mut builder = Skeleton::builder();
        let mut joint = builder.add("0", None, JointTransform::IDENTITY);
        for i in 1..=8 {
            joint =
                builder.add(format!("{i}"), Some(joint), JointTransform::from_translation(Vec3::Y * 0.125));
        }
        let (mut skeleton, ids) = builder.build()?;
        if stiff {
            for (i, id) in ids[..8].iter().enumerate() {
                let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Z };
                skeleton.set_joint(*id, Joint::hinge(axis, Dof::range(-1.0, 1.0)))?;
            }
        }
        let skeleton = Arc::new(skeleton);
        let solver = Auto::new(&skeleton, ids[0], ids[8])?;
        let mut workspace = Workspace::new();
        let mut pose = Pose::rest(&skeleton);
        picture.pose(&pose, None, 0.25);
        let goal = Goal::position(Vec3::new(0.3, 0.4, -0.2));
        let report = solver.solve(&mut workspace, &mut pose, &goal, &IterativeOptions::new())?;
        let side = if stiff { sinew::body::Side::Right } else { sinew::body::Side::Left };
        picture.pose(&pose, Some(side), 1.0);
        picture.goal(Vec3::new(0.3, 0.4, -0.2), 0.08);
        println!(
            "{:?}: {:?} after {} passes, {:.3} mm off",
            solver.method(),
            report.outcome,
            report.iterations,
            1e3 * report.position_residual
        );
    }
    picture.save()?;
    Ok(())
}
