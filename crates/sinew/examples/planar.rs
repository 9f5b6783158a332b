//! CCD and FABRIK compared: each solves the same planar chain, one sweep at a time.
//!
//! `cargo run -p sinew --example planar`; with `-- planar.svg` it draws the picture beside it in the docs.

mod picture;

use picture::Picture;
use sinew::{
    body,
    glam::{Vec2, Vec3},
    planar::{AngleConvention2d, BendSide2d, Bone2d, Chain2d, Method2d, Options2d, two_bone},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let goal = Vec2::new(0.8, 1.1);
    let mut picture = Picture::seen_from(Vec3::Z);
    picture.goal(goal.extend(0.0), 0.1);
    for method in [Method2d::CCD, Method2d::Fabrik] {
        println!("{method:?}: angles in degrees, and distance of the end from the goal");
        let mut chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(0.5).with_limits(-2.0, 2.0); 4])?;
        for sweep in 0..6 {
            let degrees: Vec<i32> =
                chain.bones().iter().map(|b| b.angle.to_degrees().round() as i32).collect();
            println!("  {sweep}: {degrees:?}, {:.4}", chain.end().distance(goal));
            let side = if method == Method2d::CCD { body::Side::Left } else { body::Side::Right };
            let layer = picture.layer(0.25 + 0.15 * sweep as f32);
            layer.planar_bones(&chain, 0.1, Some(side));
            if sweep == 5 && method == Method2d::CCD {
                picture.layer(1.0).planar_limits(&chain, 0.14, Some(side));
            }
            // One sweep per call shows the progress.
            let once = Options2d::new().with_method(method).with_max_iterations(1);
            chain.solve(goal, &once)?;
        }
    }
    for side in [BendSide2d::Left, BendSide2d::Right] {
        let arm = two_bone(Vec2::ZERO, 0.9, 0.7, goal, side)?;
        println!(
            "two bones, bending {side:?}: elbow at {:.3}, {:.0} degrees from straight, {:.0} from folded",
            arm.middle,
            arm.lower.to_degrees(),
            AngleConvention2d::Folded.write(arm.lower).to_degrees()
        );
    }
    picture.save()?;
    Ok(())
}
