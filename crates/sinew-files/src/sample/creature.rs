//! Sample creature, made by code: a crawler with any even number of legs.
//!
//! Every joint's rest rotation is the identity: X to the left, Y up, Z forward.

use std::f32::consts::PI;

use glam::Vec3;
use sinew::{JointId, JointTransform, Pose, Skeleton, math};

use crate::{
    Model,
    build::{self, BuildError, Color, Mesh, Ring, Surface},
};

const SHELL: Color = Color { name: "shell", rgb: [0.09, 0.11, 0.13], roughness: 0.5 };
const BELLY: Color = Color { name: "belly", rgb: [0.42, 0.36, 0.28], roughness: 0.7 };
const EYE: Color = Color { name: "eye", rgb: [0.75, 0.55, 0.05], roughness: 0.3 };
// Blue and orange differ for every kind of colour blindness (Okabe & Ito 2008).
const SIDES: [Color; 2] = [
    Color { name: "left", rgb: [0.02, 0.19, 0.52], roughness: 0.5 },
    Color { name: "right", rgb: [0.80, 0.24, 0.015], roughness: 0.5 },
];

/// Height of the trunk's middle, in metres.
const HEIGHT: f32 = 0.34;
/// Largest turn of the outer legs from straight aside, in radians.
const FAN: f32 = 0.95;
/// Lengths of a leg's first bone and of its thigh, rise of the thigh, and distance of its foot from its root, in metres.
const COXA: f32 = 0.05;
const THIGH: f32 = 0.36;
const RISE: f32 = 0.75;
const OUT: f32 = 0.52;

/// Returns the sample creature with `legs` legs, an even number from 4 to 40; odd numbers have one less.
///
/// ```
/// let model = sinew_files::sample::creature(8)?;
/// let legs = sinew::body::Legs::find(&model.bind_pose(), &[])?;
/// assert_eq!(legs.legs.len(), 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn creature(legs: u32) -> Result<Model, BuildError> {
    let pairs = (legs.clamp(4, 40) / 2) as usize;
    // The trunk grows with the number of legs.
    let long = 0.09 * pairs as f32;
    let mut b = Skeleton::builder();
    let at = |v: Vec3| JointTransform::from_translation(v);
    let trunk = b.add("trunk", None, at(Vec3::Y * HEIGHT));
    let abdomen = b.add("abdomen", Some(trunk), at(Vec3::new(0.0, 0.02, -0.8 * long)));
    let tail = b.add("abdomen_end", Some(abdomen), at(Vec3::new(0.0, 0.05, -0.34)));
    let head = b.add("head", Some(trunk), at(Vec3::new(0.0, 0.01, 0.85 * long)));
    let jaw = b.add("head_end", Some(head), at(Vec3::new(0.0, -0.01, 0.13)));
    let mut limbs = Vec::new();
    for pair in 0..pairs {
        // From the front to the rear.
        let along = 1.0 - 2.0 * pair as f32 / (pairs - 1) as f32;
        for (side, sign) in [("l", 1.0), ("r", -1.0)] {
            let angle = FAN * along;
            let out = Vec3::new(sign * math::cos(angle), 0.0, math::sin(angle));
            let root = Vec3::new(sign * 0.09, -0.02, 0.75 * long * along);
            // Front and rear legs are a little longer.
            let size = 1.0 + 0.12 * along * along;
            let thigh = out * (THIGH * size * math::cos(RISE)) + Vec3::Y * (THIGH * size * math::sin(RISE));
            let foot = out * (OUT * size) - Vec3::Y * (HEIGHT - 0.02);
            let name = |part: &str| format!("leg_{}_{part}_{side}", pair + 1);
            let coxa = b.add(name("coxa"), Some(trunk), at(root));
            let hip = b.add(name("thigh"), Some(coxa), at(out * COXA));
            let knee = b.add(name("shin"), Some(hip), at(thigh));
            let tip = b.add(name("tip"), Some(knee), at(foot - thigh - out * COXA));
            limbs.push((side == "r", [coxa, hip, knee, tip]));
        }
    }
    let (skeleton, ids) = b.build()?;
    let skeleton = std::sync::Arc::new(skeleton);
    let pose = Pose::rest(&skeleton);
    let place = |joint: usize| pose.position(ids[joint]);
    let mut mesh = Mesh::new();
    let egg =
        |mesh: &mut Mesh, middle: Vec3, half: Vec3, joint: JointId, color: &Color, under: Option<&Color>| {
            const ROWS: usize = 14;
            let ring = |k: usize| {
                let a = PI * k as f32 / ROWS as f32;
                let r = math::sin(a);
                Ring {
                    center: middle - Vec3::Z * (half.z * math::cos(a)),
                    right: Vec3::X * (half.x * r),
                    front: Vec3::Y * (half.y * r),
                }
            };
            let mut surface = Surface::through(&(1..ROWS).map(ring).collect::<Vec<_>>(), 24);
            surface.start = middle - Vec3::Z * half.z;
            surface.end = middle + Vec3::Z * half.z;
            surface.add_to(mesh, joint, |_| vec![(joint, 1.0)], |_| under.unwrap_or(color));
        };
    egg(&mut mesh, place(trunk), Vec3::new(0.11, 0.075, long + 0.03), ids[trunk], &SHELL, None);
    egg(
        &mut mesh,
        place(abdomen).lerp(place(tail), 0.5),
        Vec3::new(0.13, 0.11, 0.23),
        ids[abdomen],
        &SHELL,
        Some(&BELLY),
    );
    egg(&mut mesh, place(head).lerp(place(jaw), 0.4), Vec3::new(0.075, 0.06, 0.09), ids[head], &SHELL, None);
    for x in [0.035, -0.035] {
        let eye = place(head) + Vec3::new(x, 0.04, 0.11);
        Surface::ball(eye, 0.02, 12).add_to(&mut mesh, ids[head], |_| vec![(ids[head], 1.0)], |_| &EYE);
    }
    for (right, joints) in limbs {
        let color = &SIDES[usize::from(right)];
        let ends = [(0.036, 0.034), (0.034, 0.024), (0.024, 0.007)];
        for (k, (from, to)) in ends.into_iter().enumerate() {
            let (joint, a, b) = (ids[joints[k]], place(joints[k]), place(joints[k + 1]));
            // The last bone ends in the foot's point.
            let b = if k == 2 { b + (a - b).normalize() * to } else { b };
            Surface::capsule(a, b, 12, 6, |t| from + (to - from) * t).add_to(
                &mut mesh,
                joint,
                |_| vec![(joint, 1.0)],
                |_| color,
            );
        }
    }
    Ok(build::document("creature", &skeleton, &mesh, &[])?.into_model()?)
}
