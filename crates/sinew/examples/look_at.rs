//! A figure looks at a bird that circles it, also where the bird is behind its back.
//!
//! `cargo run -p sinew --example look_at`; with `-- look_at.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    JointTransform, Pose, Skeleton,
    glam::Vec3,
    solve::{Eye, LookAt, LookJoint, Options},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 1.0, 0.0));
    let chest = builder.add("chest", Some(hips), at(0.0, 0.3, 0.0));
    let neck = builder.add("neck", Some(chest), at(0.0, 0.25, 0.0));
    let head = builder.add("head", Some(neck), at(0.0, 0.1, 0.02));
    builder.add("eye.L", Some(head), at(0.032, 0.09, 0.08));
    builder.add("eye.R", Some(head), at(-0.032, 0.09, 0.08));
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);
    let id = |name: &str| skeleton.find(name).expect("the builder added every joint");

    // The chest takes a fifth of the angle, the neck half of the rest, and the head the remainder, each within its cone.
    let part = |name, share, cone| LookJoint::new(id(name)).with_share(share).with_cone(cone);
    let line = [part("chest", 0.2, 0.5), part("neck", 0.5, 0.6), part("head", 1.0, 0.7)];
    let mut look = LookAt::new(&skeleton, &line, Vec3::Z)?;
    look.offset = Vec3::new(0.0, 0.09, 0.08);
    look.dead_zone = 0.2; // Radians within which the eyes move alone.
    look.set_eyes(&skeleton, &["eye.L", "eye.R"].map(|n| Eye::new(id(n), Vec3::Z).with_cone(0.6)))?;

    let mut picture = Picture::seen_from(Vec3::new(0.5, 0.35, 1.0));
    let animation = Pose::rest(&skeleton); // In a game, the pose of a clip.
    let mut pose = animation.clone();
    let mut state = look.state(); // Kept from frame to frame.
    for step in 0..=16 {
        let angle = step as f32 * std::f32::consts::TAU / 16.0;
        let bird = Vec3::new(2.0 * angle.sin(), 2.0, 2.0 * angle.cos());
        pose.copy_from(&animation);
        let report = look.solve(&mut state, &mut pose, bird, &Options::new())?;
        if step == 2 {
            picture.pose(&animation, None, 0.35);
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            let head = pose.model(ids[3]);
            let eyes = head.transform_point3(look.offset);
            picture.layer(1.0).ray(eyes, eyes + head.matrix3.z_axis * 0.6, true, 0.02);
            let near = eyes + (bird - eyes).normalize() * 0.8;
            picture.goal(near, 0.06);
        }
        println!(
            "bird at {:4.0} degrees: face along {:5.2}, {:5.1} degrees off, eyes {:5.1} off ({:?})",
            angle.to_degrees(),
            pose.model(ids[3]).matrix3.z_axis,
            report.face.to_degrees(),
            report.report.rotation_residual.to_degrees(),
            report.report.outcome
        );
    }
    picture.save()?;
    Ok(())
}
