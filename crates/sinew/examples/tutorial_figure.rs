//! Tutorial, chapter 1: a figure from linked parts (`docs/tutorial.md`).
//!
//! `cargo run -p sinew --example tutorial_figure`; with `-- tutorial_figure.svg` it draws the chapter's picture.

mod picture;

use std::{error::Error, sync::Arc};

use picture::Picture;
use sinew::{JointTransform, Pose, Skeleton, SkeletonError, body::Side, glam::Vec3, math};

/// A figure of 1.75 m that faces +Z, with its left at +X.
pub fn figure() -> Result<Pose, SkeletonError> {
    let mut builder = Skeleton::builder();
    // A part hangs below another one, at an offset in metres.
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let spine = builder.add("spine", Some(hips), at(0.0, 0.14, 0.0));
    let chest = builder.add("chest", Some(spine), at(0.0, 0.24, 0.0));
    let neck = builder.add("neck", Some(chest), at(0.0, 0.16, 0.0));
    let head = builder.add("head", Some(neck), at(0.0, 0.08, 0.0));
    builder.add("crown", Some(head), at(0.0, 0.17, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper_arm = builder.add(format!("upper_arm.{side}"), Some(chest), at(0.19 * x, 0.1, 0.0));
        let forearm = builder.add(format!("forearm.{side}"), Some(upper_arm), at(0.04 * x, -0.29, -0.01));
        let hand = builder.add(format!("hand.{side}"), Some(forearm), at(0.02 * x, -0.25, 0.01));
        builder.add(format!("fingers.{side}"), Some(hand), at(0.0, -0.16, 0.0));
        let thigh = builder.add(format!("thigh.{side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = builder.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.43, 0.01));
        let foot = builder.add(format!("foot.{side}"), Some(shin), at(0.0, -0.42, -0.01));
        builder.add(format!("toes.{side}"), Some(foot), at(0.0, -0.06, 0.14));
    }
    Ok(Pose::rest(&Arc::new(builder.build()?.0)))
}

/// Plays the chapter, and draws it.
pub fn run() -> Result<Picture, Box<dyn Error>> {
    let bind = figure()?;
    let joint = |name: &str| bind.skeleton().find(name).ok_or("no such joint");

    // Forward kinematics: the forearm and the hand go along with the upper arm.
    let mut pose = bind.clone();
    pose.set_rotation(joint("upper_arm.l")?, math::axis_angle(Vec3::Z, 1.3));
    pose.update();
    assert!(pose.position(joint("hand.l")?).y > bind.position(joint("hand.l")?).y + 0.3);
    assert_eq!(pose.local(joint("forearm.l")?), bind.local(joint("forearm.l")?));

    let mut picture = Picture::seen_from(Vec3::new(0.25, 0.15, 1.0));
    picture.pose(&bind, None, 0.25);
    let arm = joint("upper_arm.l")?;
    let bones = pose.skeleton().joints().map(|j| {
        let below = j != arm && pose.skeleton().is_below(j, arm);
        (j, below.then_some(Side::Left))
    });
    picture.layer(1.0).bones(&pose, bones, 0.16);
    Ok(picture)
}

#[allow(dead_code)] // Other chapters use the figure alone.
fn main() -> Result<(), Box<dyn Error>> {
    Ok(run()?.save()?)
}
