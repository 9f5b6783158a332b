//! An excavator's arm, with hinges that have ranges and a telescopic stick.
//!
//! `cargo run -p sinew --example ccd`; with `-- ccd.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    solve::{Ccd, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let at = |y: f32, z: f32| JointTransform::from_translation(Vec3::new(0.0, y, z));
    let mut builder = Skeleton::builder();
    let cab = builder.add("cab", None, at(1.5, 0.0));
    let boom = builder.add("boom", Some(cab), at(0.3, 0.5));
    let stick = builder.add("stick", Some(boom), at(1.0, 4.0));
    let sleeve = builder.add("sleeve", Some(stick), at(-1.0, 1.0));
    builder.add("bucket", Some(sleeve), at(-1.0, 1.0));
    let (mut skeleton, ids) = builder.build()?;
    skeleton.set_joint(ids[0], Joint::hinge(Vec3::Y, Dof::FREE))?;
    // Positive angles about +X lower a boom that points forward.
    skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(-0.9, 0.9).with_ease(0.2)))?;
    skeleton.set_joint(ids[2], Joint::hinge(Vec3::X, Dof::range(-0.6, 1.6).with_ease(0.2)))?;
    // The sleeve slides along +Z by up to 1 m. Each sweep moves it after the hinges.
    let slide = Dof::range(0.0, 1.0).with_precedence(-1);
    skeleton.set_joint(ids[3], Joint::FIXED.with_slide([None, None, Some(slide)]))?;
    let skeleton = Arc::new(skeleton);

    let arm = Ccd::new(&skeleton, ids[0], ids[4])?;
    let mut workspace = Workspace::new();
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.35, 0.2));
    picture.pose(&pose, None, 0.35);
    for position in [Vec3::new(2.0, 0.0, 5.0), Vec3::new(-4.0, 2.0, 3.0), Vec3::new(0.0, 0.5, 8.0)] {
        let report =
            arm.solve(&mut workspace, &mut pose, &Goal::position(position), &IterativeOptions::new())?;
        if position.x == 2.0 {
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            picture.limits(&pose, 0.9);
            picture.goal(position, 0.5);
        }
        let out = pose.local(ids[3]).translation.z - skeleton.rest(ids[3]).translation.z;
        println!(
            "{position}: {:?} after {} sweeps, {:.1} mm off; the sleeve is {:.0} mm out",
            report.outcome,
            report.iterations,
            1e3 * report.position_residual,
            1e3 * out
        );
    }
    picture.save()?;
    Ok(())
}
