//! A pair of legs that walks in place of a clip, for tests of planting step by step.

use std::sync::Arc;

use sinew::{
    JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    ground::plant::{Figure, Leg, Sole},
};

/// Length of thigh and shin.
const BONE: f32 = 0.43;

/// Hips with two legs of 0.86 m, and their figure of 1.8 m.
pub fn figure() -> (Figure, Pose) {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.0, 0.93, 0.0));
    let mut parts = Vec::new();
    for x in [0.1, -0.1] {
        let thigh = b.add("thigh", Some(hips), at(x, 0.0, 0.0));
        let shin = b.add("shin", Some(thigh), at(0.0, -BONE, 0.0));
        let foot = b.add("foot", Some(shin), at(0.0, -BONE, 0.0));
        let toes = b.add("toes", Some(foot), at(0.0, -0.05, 0.13));
        parts.push([thigh, shin, foot, toes]);
    }
    let (skeleton, ids) = b.build().unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    let sole = Sole {
        heel: Vec3::new(0.0, -0.07, -0.05),
        ball: Vec3::new(0.0, -0.07, 0.13),
        tip: Vec3::new(0.0, -0.02, 0.07),
    };
    let legs = parts.iter().map(|&[t, s, f, o]| Leg::new(ids[t], ids[s], ids[f], Some(ids[o]), sole));
    let figure = Figure::new(&rest, ids[hips], legs.collect(), 1.8).unwrap();
    (figure, rest)
}

/// A walk on the spot of a stride a second at 1.2 m/s: half of each second a foot goes back along the floor, half it swings.
/// Feet stay level, knees point ahead.
pub fn walk(figure: &Figure, rest: &Pose, time: f32, pose: &mut Pose) {
    pose.copy_from(rest);
    let hips = Vec3::new(0.0, 0.84, 0.0);
    pose.set_position(rest.skeleton().find("hips").unwrap(), hips);
    pose.update();
    for (i, leg) in figure.legs().iter().enumerate() {
        let phase = (time + 0.5 * i as f32).rem_euclid(1.0);
        // The stance passes below the hip in its middle; the swing comes back with no jump in speed.
        let (z, y) = if phase < 0.5 {
            (0.3 - 1.2 * phase, 0.0)
        } else {
            let s = (phase - 0.5) * 2.0;
            let ease = s * s * s * (10.0 + s * (6.0 * s - 15.0));
            let speed = -0.6 * (s - 10.0 * s.powi(3) + 15.0 * s.powi(4) - 6.0 * s.powi(5));
            (-0.3 + 0.6 * ease + speed, 0.12 * (std::f32::consts::PI * s).sin().powi(2))
        };
        let side = rest.position(leg.thigh).x;
        let (hip, ankle) = (Vec3::new(side, hips.y, 0.0), Vec3::new(side, 0.07 + y, z));
        let line = ankle - hip;
        let half = 0.5 * line.length();
        let bend = (BONE * BONE - half * half).max(0.0).sqrt();
        let knee = hip + 0.5 * line + line.normalize().cross(Vec3::NEG_X) * bend;
        pose.set_model_rotation(leg.thigh, Quat::from_rotation_arc(Vec3::NEG_Y, (knee - hip).normalize()));
        pose.update();
        pose.set_model_rotation(leg.shin, Quat::from_rotation_arc(Vec3::NEG_Y, (ankle - knee).normalize()));
        pose.update();
        pose.set_model_rotation(leg.foot, Quat::IDENTITY);
        pose.update();
    }
}

/// Speed of the walk, in m/s along +Z.
pub const SPEED: f32 = 1.2;
