//! A cat's tail follows a fly: a chain of free joints, solved in each frame from the last frame's pose.
//!
//! `cargo run -p sinew --example free_chain`; with `-- free_chain.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{FreeChain, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Twelve bones of 4 cm. The chain is slightly bent, which determines the side to which the tail curls.
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("tail 0", None, JointTransform::from_translation(Vec3::new(0.0, 0.3, 0.0)));
    for i in 1..=12 {
        let bone = Vec3::new(0.0, 0.004 * i as f32, -0.04);
        joint = builder.add(format!("tail {i}"), Some(joint), JointTransform::from_translation(bone));
    }
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let tail = FreeChain::new(&skeleton, ids[0], ids[12])?;
    let mut workspace = Workspace::new();
    // The soft zone is the last twentieth of the reach: the tail slows down there instead of snapping straight.
    let options = IterativeOptions::new().with_soft(0.05);
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.3, -0.2));
    picture.pose(&pose, None, 0.35);
    println!("frame  passes  from the fly  tip of the tail");
    for frame in 0..=120 {
        let t = frame as f32 / 20.0;
        let fly = Vec3::new(0.3 * t.sin(), 0.45 + 0.15 * (1.7 * t).cos(), -0.25 + 0.1 * t.cos());
        let report = tail.solve(&mut workspace, &mut pose, &Goal::position(fly), &options)?;
        if frame % 10 == 0 {
            if frame % 40 == 0 {
                picture.pose(&pose, Some(sinew::body::Side::Left), 0.4 + 0.005 * frame as f32);
                picture.goal(fly, 0.03);
            }
            let tip = pose.position(ids[12]);
            println!(
                "{frame:5} {:7} {:10.1} mm  {tip:6.3}",
                report.iterations,
                1e3 * report.position_residual
            );
        }
    }
    picture.save()?;
    Ok(())
}
