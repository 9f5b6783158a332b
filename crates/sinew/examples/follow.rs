//! A train of wagons follows its engine, and is then dragged back by its last wagon.
//!
//! `cargo run -p sinew --example follow`; with `-- follow.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    solve::{Follow, FollowOptions, Lead},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("engine", None, JointTransform::IDENTITY);
    for i in 1..=5 {
        joint =
            builder.add(format!("wagon {i}"), Some(joint), JointTransform::from_translation(-Vec3::X * 8.0));
    }
    let (mut skeleton, ids) = builder.build()?;
    // Couplings rotate about the vertical by up to 25 degrees. The limit holds whichever end leads.
    for id in &ids[1..5] {
        skeleton.set_joint(*id, Joint::hinge(Vec3::Y, Dof::range(-0.44, 0.44)))?;
    }
    let skeleton = Arc::new(skeleton);
    let train = Follow::new(&skeleton, ids[0], ids[5])?;
    let mut workspace = Workspace::new();
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(0.15, 1.0, 0.25));
    picture.pose(&pose, None, 0.35);
    for (lead, leading) in [(Lead::Root, ids[0]), (Lead::Tip, ids[5])] {
        let options = FollowOptions::new().with_lead(lead);
        let start = pose.position(leading);
        for metre in 1..=60 {
            let angle = metre as f32 / 30.0;
            // The leading end moves along a circle of radius 30 m.
            let sign = if lead == Lead::Root { 1.0 } else { -1.0 };
            let displacement = Vec3::new(angle.sin(), 0.0, 1.0 - angle.cos()) * (30.0 * sign);
            train.solve(&mut workspace, &mut pose, start + displacement, &options)?;
        }
        if lead == Lead::Root {
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            picture.limits(&pose, 5.0);
            picture.goal(pose.position(leading), 4.0);
        }
        println!("led by {lead:?}:");
        for &id in &ids {
            println!("  {:8} at {:7.2}", skeleton.name(id), pose.position(id));
        }
    }
    picture.save()?;
    Ok(())
}
