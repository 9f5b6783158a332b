//! Random poses within limits.

use sinew::{
    JointId, Pose,
    glam::Vec3,
    joint::{Joint, Range, Turning},
    math,
};

use crate::noise::Noise;

/// Where joints without limits are: within a cone of 60 degrees, with as much twist to either side.
const CONE: f32 = 60.0 / 180.0 * std::f32::consts::PI;

/// Puts each of these joints somewhere, each place as likely (in the area of an ellipse of swing, in a twist, in an angle).
pub fn anywhere(pose: &mut Pose, joints: &[JointId], r: &mut Noise) {
    let skeleton = pose.skeleton().clone();
    for &id in joints {
        let limits = skeleton.limits(id);
        let joint: &Joint = skeleton.joint(id);
        let rotation = match &joint.turning {
            Turning::Fixed => continue,
            Turning::Free => {
                let (swing, way) = (CONE * r.next().sqrt(), r.between(0.0, std::f32::consts::TAU));
                let axis = Vec3::new(way.cos(), 0.0, way.sin());
                let twist = math::axis_angle(Vec3::Y, r.between(-CONE, CONE));
                let own = math::normalize(math::mul(math::axis_angle(axis, swing), twist));
                math::normalize(math::mul(skeleton.rest(id).rotation, own))
            }
            turning => {
                let ranges = ranges(turning);
                // Points outside of an ellipse are drawn again.
                loop {
                    let c = ranges.map(|(a, b)| r.between(a, b));
                    let q = limits.rotation(c);
                    if limits.is_within(q) {
                        break q;
                    }
                }
            }
        };
        pose.set_rotation(id, rotation);
        let at = skeleton.rest(id).translation;
        let mut slid = Vec3::ZERO;
        for (n, slide) in joint.slide.iter().enumerate() {
            if let Some(range) = slide.map(|d| d.range).filter(Range::is_bounded) {
                slid[n] = r.between(range.min as f32, range.max as f32);
            }
        }
        if slid != Vec3::ZERO {
            pose.set_translation(id, at + math::rotate(skeleton.rest(id).rotation, slid));
        }
    }
    pose.update();
}

/// The ranges of a joint's coordinates, in their order.
fn ranges(turning: &Turning) -> [(f32, f32); 3] {
    let of = |d: Option<sinew::joint::Dof>| match d {
        None => (0.0, 0.0),
        Some(d) if d.range.is_bounded() => (d.range.min as f32, d.range.max as f32),
        Some(_) => (-CONE, CONE),
    };
    match *turning {
        Turning::Hinge { dof, .. } => [of(Some(dof)), (0.0, 0.0), (0.0, 0.0)],
        Turning::Ball { swing, twist, .. } => [swing[0], swing[1], twist].map(|d| of(Some(d))),
        Turning::Axes { order, angles } => order.axes().map(|i| of(angles[i])),
        _ => [(0.0, 0.0); 3],
    }
}
