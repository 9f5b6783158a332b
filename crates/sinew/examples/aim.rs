//! A lamp points at a moth and keeps its top up.
//!
//! `cargo run -p sinew --example aim`; with `-- aim.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    JointTransform, Pose, Skeleton,
    glam::Vec3,
    math,
    solve::{Aim, AimUp, Options},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let pole = builder.add("pole", None, JointTransform::from_translation(Vec3::Y * 1.5));
    builder.add("lamp", Some(pole), JointTransform::from_translation(Vec3::Z * 0.1));
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    // The lamp shines along its own +Z, from a point 5 cm in front of the joint. Its own +Y stays as close to up as it can.
    let aim = Aim {
        offset: Vec3::Z * 0.05,
        up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }),
        ..Aim::new(ids[1], Vec3::Z)
    };
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.4, 0.5));
    for i in 0..8 {
        let t = i as f32 * 0.8;
        let moth = Vec3::new(t.sin(), 1.4 + 0.3 * (2.0 * t).sin(), 1.0 + t.cos());
        let report = aim.solve(&mut pose, moth, &Options::new())?;
        let frame = pose.model(ids[1]).matrix3;
        if i == 1 {
            picture.layer(1.0).bone(Vec3::ZERO, pose.position(ids[0]), 0.05, None, None);
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            let lens = pose.model(ids[1]).transform_point3(aim.offset);
            picture.layer(1.0).ray(lens, moth, true, 0.02);
            let rotation = math::rotation_of(&frame);
            picture.layer(1.0).axes(pose.position(ids[1]), rotation, 0.25);
            picture.goal(moth, 0.1);
        }
        println!(
            "moth at {moth:6.2}: beam along {:6.2}, misses it by {:.4} mm",
            frame.z_axis,
            1e3 * report.position_residual
        );
    }
    picture.save()?;
    Ok(())
}
