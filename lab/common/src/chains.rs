//! Chains of equal bones, free or with limits.

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    glam::{Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
};

use crate::{Noise, judge};

/// Kind of a chain's joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    Free,
    /// Circular cones of 45 degrees, twist within 30 degrees to either side.
    Cones,
    /// Hinges about X and Y in turn (the bones lie along Z), 60 degrees to either side.
    Hinges,
    /// Turns about X, Y and Z within 30 degrees to either side of each.
    Axes,
}

/// A row of bones of equal length along Z, a metre in all.
pub fn skeleton(kind: Kind, bones: usize) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=bones {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Z / bones as f32));
    }
    let (mut skeleton, ids) = b.build().expect("joints in a row are a skeleton");
    let degrees = |x: f64| x.to_radians();
    for (i, &id) in ids[..bones].iter().enumerate() {
        let joint = match kind {
            Kind::Free => Joint::FREE,
            Kind::Axes => {
                let angle = Some(Dof::range(degrees(-30.0), degrees(30.0)));
                Joint {
                    turning: Turning::Axes { order: RotationOrder::Xyz, angles: [angle; 3] },
                    ..Joint::FREE
                }
            }
            Kind::Cones => Joint::cone(Vec3::Z, degrees(45.0), degrees(30.0)),
            Kind::Hinges => {
                let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Y };
                Joint::hinge(axis, Dof::range(degrees(-60.0), degrees(60.0)))
            }
        };
        skeleton.set_joint(id, joint).expect("the joint is sound");
    }
    (Arc::new(skeleton), ids)
}

/// A pose whose joints are anywhere within their limits, each place as likely (in the area of the ellipse, the twist, the
/// angle).
pub fn anywhere(pose: &mut Pose, kind: Kind, ids: &[JointId], r: &mut Noise) {
    for (i, &id) in ids[..ids.len() - 1].iter().enumerate() {
        let rotation = match kind {
            Kind::Free => r.any_rotation(),
            Kind::Cones => {
                let way = r.between(0.0, std::f32::consts::TAU);
                let swing = 45f32.to_radians() * r.unit().sqrt();
                let axis = Vec3::new(way.cos(), way.sin(), 0.0);
                let twist = math::axis_angle(Vec3::Z, r.between(-1.0, 1.0) * 30f32.to_radians());
                math::normalize(math::mul(math::axis_angle(axis, swing), twist))
            }
            Kind::Axes => Vec3::AXES.iter().fold(Quat::IDENTITY, |q, &axis| {
                math::mul(q, math::axis_angle(axis, r.between(-1.0, 1.0) * 30f32.to_radians()))
            }),
            Kind::Hinges => {
                let axis = if i % 2 == 0 { Vec3::X } else { Vec3::Y };
                math::axis_angle(axis, r.between(-1.0, 1.0) * 60f32.to_radians())
            }
        };
        pose.set_rotation(id, rotation);
    }
    pose.update();
}

/// The largest excess over the limits of any joint, in radians.
pub fn broken(pose: &Pose) -> f64 {
    let skeleton = pose.skeleton();
    let of = |j| judge::excess(skeleton.joint(j), skeleton.rest(j), pose.local(j));
    skeleton.joints().flat_map(of).fold(0.0, f64::max)
}
