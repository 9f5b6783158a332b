//! A rope between two hands: a chain of bare points, without skeleton and rotations.
//!
//! `cargo run -p sinew --example point_chain`; with `-- point_chain.svg` it draws the picture beside it in the docs.

mod picture;

use picture::Picture;
use sinew::{
    Goal, Workspace,
    body::Side,
    draw::{Shape, ShapeKind, ShapeRole},
    glam::Vec3,
    solve::{PointChain, PointChainOptions},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Forty points of a rope of about 1.5 m, in a wave.
    let mut points: Vec<Vec3> =
        (0..40).map(|i| Vec3::new(0.03 * i as f32, 0.05 * (i as f32 * 0.6).sin(), 0.0)).collect();
    let rope = PointChain::new(&points)?;
    let mut workspace = Workspace::new();
    let length: f32 = rope.lengths().iter().sum();
    let mut picture = Picture::seen_from(Vec3::new(0.1, 0.25, 1.0));
    println!("{length:.3} m of rope");
    for frame in 0..=60 {
        let t = frame as f32 / 60.0;
        // One hand carries the first point. The other pulls the last one away, in the end beyond the rope's reach.
        points[0] = Vec3::new(0.0, 0.3 * t, 0.0);
        let hand = Vec3::new(0.4 + 1.4 * t, 0.2, 0.2 * (6.0 * t).sin());
        let report = rope.solve(&mut workspace, &mut points, hand, &PointChainOptions::new())?;
        if frame % 20 == 0 {
            let layer = picture.layer(0.3 + 0.7 * t);
            let line = points.iter().copied();
            let shape = Shape::new(ShapeRole::Bone, ShapeKind::Polyline).with_side(Some(Side::Left));
            layer.push(shape, line);
            let goal = Goal::position(hand);
            layer.solved_goal(&goal, points[39], &report, 0.06, None);
        }
        if frame % 6 == 0 {
            let middle = points[20];
            println!("{frame:3}  {:?}, {} passes, middle at {middle:.3}", report.outcome, report.iterations);
        }
    }
    picture.save()?;
    Ok(())
}
