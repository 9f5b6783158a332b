//! A horse's hind leg steps over a log: hip, stifle, hock and fetlock fold together, each to its own side.
//!
//! `cargo run -p sinew --example fold`; with `-- fold.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    Goal, JointTransform, Pose, Skeleton, Workspace,
    body::Side,
    draw::{Shape, ShapeKind, ShapeRole},
    glam::Vec3,
    solve::{Fold, IterativeOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("hip", None, JointTransform::from_translation(Vec3::Y * 1.28));
    for (name, y, z) in
        [("stifle", -0.34, 0.17), ("hock", -0.36, -0.27), ("fetlock", -0.4, 0.04), ("hoof", -0.14, 0.08)]
    {
        joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::new(0.0, y, z)));
    }
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let leg = Fold::new(&skeleton, ids[0], ids[4])?;
    let mut workspace = Workspace::new();
    let rest = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(1.0, 0.12, 0.2));
    let log = Vec3::new(0.0, 0.1, 0.1);
    let around = (0..=24).map(|n| {
        let (sin, cos) = (n as f32 * std::f32::consts::TAU / 24.0).sin_cos();
        log + Vec3::new(0.0, 0.1 * cos, 0.1 * sin)
    });
    let ground = Shape::new(ShapeRole::Ground, ShapeKind::Polyline);
    picture.layer(1.0).push(ground.clone(), around);
    picture.layer(1.0).push(ground, [Vec3::Z * -0.75, Vec3::Z * 0.85]);
    for n in 0..5 {
        // The hoof's way, from behind the log to before it.
        let way = 0.25 * n as f32;
        let lift = 0.34 * (std::f32::consts::PI * way).sin();
        let hoof = Vec3::new(0.0, 0.04 + lift, -0.45 + 1.0 * way);
        let mut pose = rest.clone();
        let report = leg.solve(&mut workspace, &mut pose, &Goal::position(hoof), &IterativeOptions::new())?;
        let bends = ids[..4].windows(3).map(|w| {
            let at = |n: usize| pose.position(w[n]);
            (at(1) - at(0)).angle_between(at(2) - at(1)).to_degrees()
        });
        let bends: Vec<String> = bends.map(|b| format!("{b:.0}")).collect();
        println!(
            "hoof at {:.2} m: {:?}, {:.3} mm off; stifle and hock bend by {} degrees",
            hoof.y,
            report.outcome,
            1e3 * report.position_residual,
            bends.join(" and ")
        );
        let last = n == 4;
        picture.pose(&pose, last.then_some(Side::Left), if last { 1.0 } else { 0.25 + 0.12 * n as f32 });
        picture.goal(hoof, 0.04);
    }
    picture.save()?;
    Ok(())
}
