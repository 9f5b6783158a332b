//! The humanoid: a figure of 1.75 m with 20 joints, and the ranges in which people's joints move, as data.
//!
//! Lengths are shares of the body's height by Drillis and Contini ("Body Segment Parameters", 1966; as in Winter,
//! "Biomechanics and Motor Control of Human Movement"): thigh 0.245, shin 0.246, ankle 0.039 above the floor, upper arm
//! 0.186, forearm 0.146, half the shoulders' width 0.129, half the hips' 0.0955, shoulders at 0.818, hips at 0.530, chin
//! at 0.870.
//!
//! Ranges are those of the American Academy of Orthopaedic Surgeons ("Joint Motion: Method of Measuring and Recording",
//! 1965), in degrees: hip flexion 120, extension 30, abduction 45, adduction 30, rotation 45 either way; knee 135; ankle 20
//! up, 50 down, inversion 35, eversion 15; back flexion 80, extension 25, to the side 35, rotation 45; neck 45 every way,
//! rotation 60; elbow 150; forearm 80 either way; wrist flexion 80, extension 70, to the thumb 20, away 30; shoulder across
//! the chest 135, back 45, rotation in 70, out 90. The back's are shared by three joints, the neck's by two. Of the 180
//! degrees by which an arm is raised the shoulder itself makes 120 and its girdle 60 (Inman, Saunders & Abbott,
//! "Observations on the Function of the Shoulder Joint", 1944), of which the collar bone makes 40, beside 10 down, 20
//! forward, 25 back and 40 of backward roll. The figure stands with its arms out to its sides, palms down: an arm that hangs
//! is 90 degrees below.

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Skeleton,
    glam::Vec3,
    joint::{Dof, Joint, RotationOrder, Turning},
};

/// Name, parent, and place in metres where the figure stands; facing +Z, its left at +X. Those of the left alone; the right
/// is its mirror image.
const JOINTS: [(&str, &str, [f32; 3]); 13] = [
    ("hips", "", [0.0, 0.9800, 0.0]),
    ("spine1", "hips", [0.0, 1.0800, -0.010]),
    ("spine2", "spine1", [0.0, 1.2000, -0.020]),
    ("spine3", "spine2", [0.0, 1.3200, -0.020]),
    ("neck", "spine3", [0.0, 1.4700, -0.010]),
    ("head", "neck", [0.0, 1.5800, 0.010]),
    ("clavicle.l", "spine3", [0.0250, 1.4300, 0.0]),
    ("upper_arm.l", "clavicle.l", [0.2000, 1.4315, -0.020]),
    ("forearm.l", "upper_arm.l", [0.5255, 1.4315, -0.025]),
    ("hand.l", "forearm.l", [0.7810, 1.4315, -0.020]),
    ("thigh.l", "hips", [0.0955, 0.9275, 0.0]),
    ("shin.l", "thigh.l", [0.0955, 0.4988, 0.005]),
    ("foot.l", "shin.l", [0.0955, 0.0683, -0.010]),
];

/// A ball by its twist axis, the axis of its first swing (the second is across both), and ranges in degrees.
fn ball(twist: Vec3, swing: Vec3, first: (f64, f64), second: (f64, f64), roll: (f64, f64)) -> Joint {
    let r = |(a, b): (f64, f64)| (a.to_radians(), b.to_radians());
    Joint::ball(twist, swing, [r(first), r(second)], r(roll))
}

fn degrees(from: f64, to: f64) -> Dof {
    Dof::range(from.to_radians(), to.to_radians())
}

/// Limits of a joint. A mirror image turns the same way about X and the other way about Y and Z.
fn joint(name: &str) -> Joint {
    let right = name.ends_with(".r");
    let side = |(a, b): (f64, f64)| if right { (-b, -a) } else { (a, b) };
    let (x, y) = (Vec3::X, Vec3::Y);
    match name.split('.').next().unwrap_or(name) {
        "spine1" | "spine2" | "spine3" => {
            let third = |a: f64| a / 3.0;
            // Forward is a positive turn about X; the second axis is Y x X, back along Z.
            ball(y, x, (-third(25.0), third(80.0)), (-third(35.0), third(35.0)), (-15.0, 15.0))
        }
        "neck" | "head" => ball(y, x, (-22.5, 22.5), (-22.5, 22.5), (-30.0, 30.0)),
        // The second axis is X x Y, along Z.
        "clavicle" => ball(x, y, side((-20.0, 25.0)), side((-10.0, 40.0)), (-40.0, 1.0)),
        "upper_arm" => ball(x, y, side((-135.0, 45.0)), side((-90.0, 50.0)), (-90.0, 70.0)),
        "forearm" => {
            // Bends forward, then rolls about its own length.
            let bend = if right { degrees(0.0, 150.0) } else { degrees(-150.0, 0.0) };
            let angles = [Some(degrees(-80.0, 80.0)), Some(bend), None];
            Turning::Axes { order: RotationOrder::Yzx, angles }.into()
        }
        "hand" => ball(x, y, side((-20.0, 30.0)), side((-80.0, 70.0)), (-1.0, 1.0)),
        // The second axis is -Y x X, along Z.
        "thigh" => ball(-y, x, (-120.0, 30.0), side((-30.0, 45.0)), (-45.0, 45.0)),
        "shin" => Joint::hinge(x, degrees(0.0, 135.0)),
        "foot" => ball(-y, x, (-20.0, 50.0), side((-35.0, 15.0)), (-10.0, 10.0)),
        _ => Joint::FREE,
    }
}

/// The figure, with limits or without; joints are found by their names.
pub fn skeleton(limits: bool) -> Arc<Skeleton> {
    let mut all: Vec<(String, String, Vec3)> = Vec::new();
    for (name, parent, at) in JOINTS {
        all.push((name.into(), parent.into(), Vec3::from_array(at)));
    }
    for (name, parent, at) in JOINTS.iter().filter(|j| j.0.ends_with(".l")) {
        let mirrored = |s: &str| s.replace(".l", ".r");
        all.push((mirrored(name), mirrored(parent), Vec3::new(-at[0], at[1], at[2])));
    }
    let mut b = Skeleton::builder();
    for (name, parent, at) in &all {
        let above = all.iter().position(|j| j.0 == *parent);
        let offset = *at - above.map_or(Vec3::ZERO, |p| all[p].2);
        b.add(name.clone(), above, JointTransform::from_translation(offset));
    }
    let (mut skeleton, ids) = b.build().expect("the figure is a tree");
    if limits {
        for (id, (name, ..)) in ids.iter().zip(&all) {
            skeleton.set_joint(*id, joint(name)).expect("the ranges are sound");
        }
    }
    Arc::new(skeleton)
}

/// The joints that have goals: head, hands, feet.
pub fn ends(skeleton: &Skeleton) -> Vec<JointId> {
    ["head", "hand.l", "hand.r", "foot.l", "foot.r"].iter().filter_map(|n| skeleton.find(n)).collect()
}
