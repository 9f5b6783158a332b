//! A foot climbs stairs: a leg of two bones in closed form, with the knee forward.
//!
//! `cargo run -p sinew --example two_bone`; with `-- two_bone.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pole, Pose, Skeleton,
    glam::Vec3,
    solve::{LimbOptions, TwoBone},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let hip = builder.add("hip", None, JointTransform::from_translation(Vec3::Y * 0.9));
    let knee = builder.add("knee", Some(hip), JointTransform::from_translation(Vec3::new(0.0, -0.45, 0.03)));
    builder.add("ankle", Some(knee), JointTransform::from_translation(Vec3::new(0.0, -0.42, -0.03)));
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2])?;
    let options = LimbOptions::new().with_soft(0.03);
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.2, 0.3));
    picture.pose(&pose, None, 0.35);
    for tread in 0..=5 {
        let position = Vec3::new(0.1, 0.08 + 0.15 * tread as f32, 0.1 + 0.05 * tread as f32);
        let goal = Goal::position(position).with_pole(Pole::Direction(Vec3::Z));
        let report = leg.solve(&mut pose, &goal, &options)?;
        println!(
            "tread {tread}: knee at {:6.3}, ankle {:.2} mm off, {:?}",
            pose.position(ids[1]),
            1e3 * report.position_residual,
            report.outcome
        );
        if tread == 3 {
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            let [hip, knee, ankle] = [0, 1, 2].map(|n| pose.position(ids[n]));
            let layer = picture.layer(1.0);
            layer.solved_goal(&goal, ankle, &report, 0.08, None);
            layer.pole(knee, knee + Vec3::Z * 0.2, 0.02, None);
            let degrees = (hip - knee).angle_between(ankle - knee).to_degrees();
            layer.angle(knee, [hip - knee, ankle - knee], 0.12, None, format_args!("{degrees:.0}°"));
            layer.names(&pose, ids.iter().map(|&id| (id, Some(sinew::body::Side::Left))));
        }
        pose.reset();
    }
    picture.save()?;
    Ok(())
}
