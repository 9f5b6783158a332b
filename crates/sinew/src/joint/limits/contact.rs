//! Active limits of balls.

use glam::{Quat, Vec3};

use super::{Limits, Turn, parts::split};
use crate::{joint::span::wrap, math};

/// A limit that a ball touches, linearised for small turns. Axes are unit vectors in the parent's frame.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Contact {
    /// The axis about which a turn leads out of the limit.
    pub normal: Vec3,
    /// Whether the limit blocks both directions.
    pub both: bool,
    /// Angle to the limit in radians; negative outside.
    pub depth: f32,
    /// Curvature of a swing's limit. A turn by the vector v, perpendicular to the normal, leads out of the limit by
    /// (curvature * a * a - a * b) / 2, where a and b are the parts of v along the two axes of `across`. Zero for a
    /// twist's limit, which is flat.
    pub curvature: f32,
    pub across: [Vec3; 2],
}

impl Limits {
    /// The limits that a ball exceeds, touches, or is nearer to than `near` radians: of its swing and of its twist.
    pub(crate) fn contacts(&self, local: Quat, near: f32) -> [Option<Contact>; 2] {
        let Turn::Ball { frame, swing, slack, twist, .. } = &self.turn else { return [None; 2] };
        if self.is_well_within(local) {
            return [None; 2];
        }
        let parts = split(self.own(local), frame);
        let s = parts.swing;
        let angle = math::sqrt(s[0] * s[0] + s[1] * s[1]);
        let (a, b) = if angle > 1e-6 { (s[0] / angle, s[1] / angle) } else { (1.0, 0.0) };
        // The swing's axis and the direction of the twist axis.
        let about = frame.x_axis * a + frame.y_axis * b;
        let (sin, cos) = (math::sin(angle), math::cos(angle));
        let to = frame.z_axis * cos + about.cross(frame.z_axis) * sin;
        let turn = |v| math::rotate(self.rest, v);
        let mut contacts = [None; 2];
        if let Some(e) = swing
            && angle > 1e-6
            && let Some((normal, curvature, depth)) = e.outline(s, *slack, near)
        {
            // Turning the twist axis around its rest direction counts by the sine of the swing.
            let (radial, round) = (normal[0] * a + normal[1] * b, normal[1] * a - normal[0] * b);
            let wide = if sin > 1e-3 { angle / sin } else { 1.0 };
            let normal = (about * radial + to.cross(about) * (round * wide)).normalize_or_zero();
            contacts[0] = Some(Contact {
                normal: turn(normal),
                both: false,
                depth,
                curvature: curvature * wide * cos,
                across: [turn(to.cross(normal).normalize_or_zero()), turn(to)],
            });
        }
        if !twist.is_free() {
            let at = wrap(parts.twist - twist.centre);
            let (down, up) = (at - twist.low, twist.high - at);
            if down.min(up) < near {
                let axis = turn((frame.z_axis + to).normalize_or_zero());
                contacts[1] = Some(Contact {
                    normal: if up < down { axis } else { -axis },
                    both: down.max(up) < near,
                    depth: down.min(up),
                    curvature: 0.0,
                    across: [Vec3::ZERO; 2],
                });
            }
        }
        contacts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        JointTransform,
        joint::{Dof, Joint, Turning},
    };
    use glam::DVec3;

    /// Checks contacts at clamped rotations against [`Limits::excess`].
    #[test]
    fn contacts_tell_how_turns_lead_out_of_limits() {
        let mut seed = 5u32;
        let mut r = || {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            (seed >> 8) as f32 / 8388608.0 - 1.0
        };
        let dof = |half: f64| Dof::range(-half, half);
        let oval = Joint {
            turning: Turning::Ball {
                centre: [0.0; 2],
                twist_axis: DVec3::Y,
                swing_axis: DVec3::X,
                swing: [dof(0.4), dof(0.9)],
                twist: dof(0.6),
            },
            ..Joint::default()
        };
        let (mut swings, mut twists) = (0, 0);
        for joint in [Joint::cone(Vec3::Y, 0.5, 0.6), Joint::cone(Vec3::Y, 1.2, 0.6), oval] {
            let rest =
                JointTransform { rotation: math::axis_angle(Vec3::X, 0.7), ..JointTransform::IDENTITY };
            let limits = Limits::new(&joint, &rest);
            for _ in 0..100 {
                let q = limits.clamp(math::axis_angle(Vec3::new(r(), r(), r()).normalize(), 2.5 * r()));
                let out = |v: Vec3| {
                    let angle = math::sqrt(v.length_squared());
                    limits.excess(math::mul(math::axis_angle(v / angle, angle), q))
                };
                match limits.contacts(q, 1e-5) {
                    [Some(swing), None] => {
                        swings += 1;
                        assert!((out(swing.normal * 0.01) / 0.01 - 1.0).abs() < 0.2, "{joint:?} {swing:?}");
                        assert!(out(swing.normal * -0.01) < 1e-5);
                        // Also slightly outwards, so that the excess shows the curvature of either sign.
                        let [a, b] = swing.across;
                        let (x, y) = (0.03 * r(), 0.03 * r());
                        let bent = 0.5 * (swing.curvature * x * x - x * y);
                        let all = out(swing.normal * 2e-3 + a * x + b * y);
                        assert!((all - 2e-3 - bent).abs() < 6e-4, "{joint:?} {swing:?}: {all} {bent}");
                    }
                    [None, Some(twist)] => {
                        twists += 1;
                        assert!(!twist.both);
                        assert!((out(twist.normal * 0.01) / 0.01 - 1.0).abs() < 0.25, "{joint:?} {twist:?}");
                        assert!(out(twist.normal * -0.01) < 1e-5);
                    }
                    _ => {}
                }
            }
        }
        assert!(swings > 50 && twists > 20, "{swings} {twists}");
    }
}
