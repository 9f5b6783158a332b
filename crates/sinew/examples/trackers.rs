//! A headset and two controllers move a whole figure: head and hands are given, elbows, back, hips and knees follow, and
//! the feet stay as long as they can.
//!
//! `cargo run -p sinew --example trackers`; with `-- trackers.svg` it draws the picture beside it in the docs.

mod picture;

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use picture::Picture;
use sinew::{
    Goal, Pose, Skeleton, Transform,
    glam::{Quat, Vec3},
    joint::{Dof, Joint, Turning},
    solve::{Balance, Root, Tip, Tree},
};

/// A ball by the directions of its twist and of its first swing, ranges and what it prefers in radians, and how stiff it is.
fn ball(axes: [Vec3; 2], ranges: [(f64, f64); 3], prefers: [f64; 3], stiffness: f64) -> Joint {
    let [a, b, twist] = [0, 1, 2]
        .map(|n| Dof::range(ranges[n].0, ranges[n].1).with_preferred(prefers[n]).with_stiffness(stiffness));
    let [twist_axis, swing_axis] = axes.map(|v| v.as_dvec3());
    Turning::Ball { twist_axis, swing_axis, swing: [a, b], twist }.into()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A figure that stands with hanging arms, facing +Z.
    let mut builder = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| Transform::from_translation(Vec3::new(x, y, z));
    let hips = builder.add("hips", None, at(0.0, 0.98, 0.0));
    let spine = builder.add("spine", Some(hips), at(0.0, 0.15, 0.0));
    let chest = builder.add("chest", Some(spine), at(0.0, 0.25, 0.0));
    let neck = builder.add("neck", Some(chest), at(0.0, 0.16, 0.0));
    builder.add("head", Some(neck), at(0.0, 0.1, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let collar = builder.add(format!("collar {side}"), Some(chest), at(0.03 * x, 0.1, 0.0));
        let upper = builder.add(format!("upper arm {side}"), Some(collar), at(0.17 * x, 0.0, 0.0));
        let fore = builder.add(format!("forearm {side}"), Some(upper), at(0.0, -0.32, 0.0));
        builder.add(format!("hand {side}"), Some(fore), at(0.0, -0.26, 0.0));
        let thigh = builder.add(format!("thigh {side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = builder.add(format!("shin {side}"), Some(thigh), at(0.0, -0.43, 0.0));
        builder.add(format!("foot {side}"), Some(shin), at(0.0, -0.43, 0.0));
    }
    let (mut skeleton, joints) = builder.build()?;
    // Knees bend back and elbows forward, and both prefer to be bent a little: so neither ever folds the wrong way. What
    // should stay out of it as long as others can do the work is stiff: the collar bone, the wrist.
    let (up, down) = (Vec3::Y, Vec3::NEG_Y);
    for joint in joints {
        let name = skeleton.name(joint);
        let left = if name.ends_with(" l") { 1.0 } else { -1.0 };
        // A range for the left side; the right's is its mirror image.
        let out = |to: f64, from: f64| if left > 0.0 { (from, to) } else { (-to, -from) };
        let may = match name.split(' ').next().unwrap_or(name) {
            "spine" | "chest" => ball([up, Vec3::X], [(-0.2, 0.6), (-0.3, 0.3), (-0.4, 0.4)], [0.0; 3], 0.0),
            "neck" | "head" => ball([up, Vec3::X], [(-0.5, 0.5), (-0.4, 0.4), (-0.6, 0.6)], [0.0; 3], 0.0),
            "collar" => ball([Vec3::X, up], [(-0.3, 0.3), (-0.4, 0.4), (-0.02, 0.02)], [0.0; 3], 0.8),
            // Forward is a negative turn about X; out to the side is one about Z.
            "upper" => ball(
                [down, Vec3::X],
                [(-2.6, 0.8), out(2.0, -0.5), (-1.2, 1.2)],
                [-0.2, 0.1 * left, 0.0],
                0.4,
            ),
            "forearm" => {
                let bend = Dof::range(-2.6, 0.0).with_preferred(-0.4);
                Turning::Axes {
                    order: sinew::joint::Order::Xyz,
                    angles: [Some(bend), Some(Dof::range(-1.4, 1.4)), None],
                }
                .into()
            }
            "hand" => ball([down, Vec3::X], [(-0.4, 0.4), (-1.2, 1.2), (-0.02, 0.02)], [0.0; 3], 0.8),
            "thigh" => {
                ball([down, Vec3::X], [(-2.1, 0.5), out(0.8, -0.4), (-0.7, 0.7)], [-0.2, 0.0, 0.0], 0.0)
            }
            "shin" => Joint::hinge(Vec3::X, Dof::range(0.0, 2.3).with_preferred(0.4)),
            "foot" => ball([down, Vec3::X], [(-0.5, 0.8), (-0.4, 0.4), (-0.2, 0.2)], [-0.2, 0.0, 0.0], 0.5),
            _ => Joint::FREE,
        };
        skeleton.set_joint(joint, may)?;
    }
    let skeleton = Arc::new(skeleton);
    let find = |name| skeleton.find(name).ok_or("a joint is missing");
    let (head, feet) = (find("head")?, [find("foot l")?, find("foot r")?]);
    let hands = [find("hand l")?, find("hand r")?];

    // The trackers come first. Feet stay where they stood as far as trackers let them, and the
    // body over the feet as far as both do.
    let tips = [
        Tip::new(head),
        Tip::new(hands[0]),
        Tip::new(hands[1]),
        Tip::new(feet[0]).with_priority(1),
        Tip::new(feet[1]).with_priority(1),
    ];
    let mut tree = Tree::new(&skeleton, find("hips")?, &tips)?;
    tree.root = Root::Spring(1.0);
    tree.posture = 0.5;
    let mut pose = Pose::rest(&skeleton);
    let stand = feet.map(|j| Goal::at(pose.position(j)).with_rotation(Quat::IDENTITY));
    let soles = feet.iter().flat_map(|&j| [-0.1, 0.15].map(|z| pose.position(j) + Vec3::Z * z));
    tree.balance = Some(Balance { priority: 2, ..Balance::over(soles.collect::<Vec<_>>()) });

    // A crouch, one hand forward and one beside the head: what the trackers say in this frame.
    let turned = |x: f32, y: f32| Quat::from_rotation_y(y) * Quat::from_rotation_x(x);
    let trackers = [
        Goal::at(Vec3::new(0.02, 1.22, 0.22)).with_rotation(turned(0.3, 0.2)),
        Goal::at(Vec3::new(0.22, 1.0, 0.62)).with_rotation(turned(-1.5, -0.1)),
        Goal::at(Vec3::new(-0.34, 1.25, 0.2)).with_rotation(turned(-(FRAC_PI_2 as f32) - 0.9, 0.1)),
    ];
    let goals = [trackers[0], trackers[1], trackers[2], stand[0], stand[1]];
    let mut picture = Picture::seen_from(Vec3::new(0.8, 0.2, 0.7));
    picture.pose(&pose, None, 0.3);
    let report = tree.solve(&mut pose, &goals)?;
    picture.pose(&pose, Some(sinew::rig::Side::Left), 1.0);
    for goal in trackers {
        picture.goal(goal.position.unwrap_or_default(), 0.08);
    }
    picture.save()?;
    println!("{:?} after {} steps", report.status, report.iterations);
    for (tip, outcome) in tips.iter().zip(tree.outcomes()) {
        println!("  {:<8} {:.2} mm off", skeleton.name(tip.joint), outcome.position_residual * 1e3);
    }
    for (name, joint) in
        [("hips", find("hips")?), ("left elbow", find("forearm l")?), ("left knee", find("shin l")?)]
    {
        println!("the {name} is at {:.3}", pose.position(joint));
    }
    println!("out of balance by {:.0} mm", tree.out_of_balance() * 1e3);
    Ok(())
}
