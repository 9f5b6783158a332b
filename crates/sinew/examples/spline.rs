//! A snake moves along a closed curve that changes over time, with its back up.
//!
//! `cargo run -p sinew --example spline`; with `-- spline.svg` it draws the picture beside it in the docs.

mod picture;

use std::sync::Arc;

use picture::Picture;
use sinew::{
    JointTransform, Pose, Skeleton, Workspace,
    glam::Vec3,
    solve::{
        Spline, SplineOptions,
        spline::{Curve, CurveKind, CurveUp, Roll},
    },
};

/// Control points of the curve: a ring whose points move up and down over time, in seconds.
fn ring(time: f32) -> Vec<Vec3> {
    (0..8)
        .map(|i| i as f32 * std::f32::consts::FRAC_PI_4)
        .map(|a| Vec3::new(a.cos(), 0.15 * (3.0 * a + time).sin(), a.sin()))
        .collect()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut builder = Skeleton::builder();
    let mut joint = builder.add("head", None, JointTransform::IDENTITY);
    for i in 1..=20 {
        joint =
            builder.add(format!("tail {i}"), Some(joint), JointTransform::from_translation(-0.15 * Vec3::Z));
    }
    let (skeleton, ids) = builder.build()?;
    let skeleton = Arc::new(skeleton);

    let mut curve = Curve::new(CurveKind::CatmullRom, &ring(0.0), true, CurveUp::Carried(Vec3::Y))?;
    let snake = Spline::new(&skeleton, ids[0], ids[20])?;
    let mut workspace = Workspace::new();
    // The head is first: the tail follows along the curve.
    let options =
        SplineOptions::new().with_reversed(true).with_roll(Roll::Frames { axis: Vec3::Y, twist: [0.0; 2] });
    let mut pose = Pose::rest(&skeleton);
    let mut picture = Picture::seen_from(Vec3::new(0.4, 1.0, 0.6));
    for second in 0..8 {
        let time = second as f32;
        curve.set_points(&ring(time))?;
        // The offset is in metres, and wraps around on a closed curve.
        let options = options.with_offset(0.8 * time);
        let report = snake.solve(&mut workspace, &mut pose, &curve, &options)?;
        if second == 1 {
            picture.layer(1.0).curve(&curve, 120);
            picture.pose(&pose, Some(sinew::body::Side::Left), 1.0);
            let ring: Vec<Vec3> = ring(time);
            for at in ring {
                picture.goal(at, 0.08);
            }
        }
        println!(
            "{second} s: head at {:5.2}, tail at {:5.2}, back along {:5.2}, off the curve by {:.1e} m",
            pose.position(ids[0]),
            pose.position(ids[20]),
            pose.model(ids[0]).matrix3.y_axis,
            report.report.position_residual
        );
    }
    picture.save()?;
    Ok(())
}
