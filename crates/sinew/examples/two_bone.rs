//! A foot on stairs: a leg of two bones in closed form, the knee forward.
//!
//! `cargo run -p sinew --example two_bone`

use std::sync::Arc;

use sinew::{Goal, Pole, Pose, Skeleton, Transform, glam::Vec3, solve::TwoBone};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let hip = builder.add("hip", None, Transform::from_translation(Vec3::Y * 0.9));
    let knee = builder.add("knee", Some(hip), Transform::from_translation(Vec3::new(0.0, -0.45, 0.03)));
    builder.add("ankle", Some(knee), Transform::from_translation(Vec3::new(0.0, -0.42, -0.03)));
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let mut leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2])?;
    leg.soft = 0.03;
    let mut pose = Pose::rest(&skeleton);
    for tread in 0..=5 {
        let place = Vec3::new(0.1, 0.08 + 0.15 * tread as f32, 0.1 + 0.05 * tread as f32);
        let report = leg.solve(&mut pose, &Goal::at(place).with_pole(Pole::Direction(Vec3::Z)))?;
        println!(
            "tread {tread}: knee at {:6.3}, ankle {:.2} mm off, {:?}",
            pose.position(ids[1]),
            1e3 * report.position_residual,
            report.status
        );
        pose.reset();
    }
    Ok(())
}
