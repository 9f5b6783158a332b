//! Shapes of joints' limits: arcs, cones and rails.

use core::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Affine3, Quat, Vec3};

use super::{DrawList, ShapeKind, ShapeRole};
use crate::{
    JointId, Pose,
    body::Side,
    joint::{Coordinates, Limits, Range, Turning},
    math,
};

/// Line segments per arc. Twice as many would look no rounder.
const STEPS: usize = 48;

/// Radius of a twist's arc, as a share of the cone's length.
const TWIST: f32 = 0.3;

/// A joint whose limits are drawn.
struct Gizmo<'a> {
    joint: JointId,
    side: Option<Side>,
    limits: &'a Limits,
    /// Frame of the parent in model space.
    parent: Affine3,
    /// Position of the joint in model space.
    at: Vec3,
    radius: f32,
    /// The joint's coordinates in the pose.
    now: Coordinates,
    /// Direction of the bone below, in the joint's frame.
    bone: Vec3,
}

impl Gizmo<'_> {
    /// The end, in model space, of a line from the joint along `direction`, which is in the frame of the joint when
    /// rotated by `local`. The line's length is `radius` times the length of `direction`.
    fn tip(&self, local: Quat, direction: Vec3) -> Vec3 {
        let towards = self.parent.matrix3 * math::rotate(local, direction);
        self.at + towards.normalize_or_zero() * (self.radius * math::sqrt(direction.length_squared()))
    }

    /// [`Self::tip`] with coordinate `n` at `value` and the others as in the pose.
    fn with(&self, n: usize, value: f32, direction: Vec3) -> Vec3 {
        let mut c = self.now;
        c[n] = value;
        self.tip(self.limits.rotation(c), direction)
    }
}

/// Values from the lower to the upper limit of a range, at most a whole turn apart; -pi to pi for an unbounded range.
fn values(range: Range) -> impl Iterator<Item = f32> + Clone {
    let (from, to) = match range.is_bounded() {
        true => (range.min as f32, (range.max as f32).min(range.min as f32 + TAU)),
        false => (-PI, PI),
    };
    (0..=STEPS).map(move |i| from + (to - from) * (i as f32 / STEPS as f32))
}

impl DrawList {
    /// Adds the limits of joints in a pose, in model space. Each is drawn within `radius` metres of its joint.
    ///
    /// - A hinge is an arc over its range, with a line from the joint to each end.
    /// - A ball is the outline of its swing with four lines to the half-axes. Its twist is an arc about the current
    ///   twist axis.
    /// - Turns about single axes are one arc each, about the axis as rotated by the previous turns.
    /// - A slider is a rail with a bar at each limit. Without limits, the rail extends `radius` to each side.
    ///
    /// A [`ShapeRole::Reference`] beside each limit marks its zero: the direction of the bone (or of the twist axis)
    /// with the joint in its rest pose and its parent as in `pose`. Free and fixed joints add nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sinew::{Pose, Skeleton, JointTransform, draw::{DrawList, ShapeRole}, glam::Vec3, joint::{Dof, Joint}};
    /// let mut builder = Skeleton::builder();
    /// let knee = builder.add("knee", None, JointTransform::IDENTITY);
    /// builder.add("ankle", Some(knee), JointTransform::from_translation(-Vec3::Y));
    /// let (mut skeleton, ids) = builder.build()?;
    /// skeleton.set_joint(ids[0], Joint::hinge(Vec3::X, Dof::range(0.0, 2.4)))?;
    /// let pose = Pose::rest(&Arc::new(skeleton));
    /// let mut list = DrawList::new();
    /// list.limits(&pose, pose.skeleton().joints().map(|j| (j, None)), 0.2);
    /// assert!(list.shapes().iter().any(|s| s.role == ShapeRole::Limit));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn limits(
        &mut self,
        pose: &Pose,
        joints: impl IntoIterator<Item = (JointId, Option<Side>)>,
        radius: f32,
    ) {
        for (joint, side) in joints {
            self.limit(pose, joint, side, radius);
        }
    }

    fn limit(&mut self, pose: &Pose, joint: JointId, side: Option<Side>, radius: f32) {
        let skeleton = pose.skeleton();
        let (description, limits) = (skeleton.joint(joint), skeleton.limits(joint));
        let local = pose.local(joint);
        let child = skeleton.children(joint).next().map(|c| pose.local(c).translation);
        let bone = child.and_then(Vec3::try_normalize).unwrap_or(Vec3::Y);
        let (parent, at) = (pose.parent_model(joint), pose.position(joint));
        let now = limits.coordinates(local.rotation);
        let mut gizmo = Gizmo { joint, side, limits, parent, at, radius, now, bone };
        match description.turning {
            Turning::Free | Turning::Fixed => {}
            Turning::Hinge { dof, .. } => {
                gizmo.bone = math::perpendicular(limits.hinge_axis().unwrap_or(Vec3::X), bone);
                self.arc(&gizmo, 0, dof.range);
            }
            Turning::Axes { order, angles } => {
                for (n, axis) in order.axes().into_iter().enumerate() {
                    if let Some(dof) = angles[axis] {
                        gizmo.bone = math::perpendicular(Vec3::AXES[axis], bone);
                        // Later turns are left out, so that the arc is perpendicular to its axis.
                        let now = gizmo.now;
                        gizmo.now[n + 1..].fill(0.0);
                        self.arc(&gizmo, n, dof.range);
                        gizmo.now = now;
                    }
                }
            }
            Turning::Ball { swing: [x, y], twist, centre, .. } => {
                let axis = limits.twist_axis().unwrap_or(Vec3::Y);
                if !x.range.is_free() {
                    self.cone(&gizmo, axis, [x.range, y.range], centre);
                }
                gizmo.bone = axis + math::perpendicular(axis, bone) * TWIST;
                let about = values(twist.range).map(|t| gizmo.with(2, t, gizmo.bone));
                self.bound(&gizmo, ShapeKind::Polyline, about);
                let foot = gizmo.with(2, 0.0, axis);
                let zero = gizmo.with(2, 0.0, gizmo.bone);
                self.reference(&gizmo, [foot, zero]);
            }
        }
        for (n, dof) in description.slide.iter().enumerate() {
            let (Some(dof), Some(axis)) = (dof, limits.slide_axis(n)) else { continue };
            self.rail(&gizmo, n, axis, dof.range, local.translation);
        }
    }

    fn bound(&mut self, gizmo: &Gizmo<'_>, kind: ShapeKind, points: impl IntoIterator<Item = Vec3>) {
        self.push(ShapeRole::Limit, gizmo.side, kind, Some(gizmo.joint), points);
    }

    fn reference(&mut self, gizmo: &Gizmo<'_>, line: [Vec3; 2]) {
        self.push(ShapeRole::Reference, gizmo.side, ShapeKind::Segments, Some(gizmo.joint), line);
    }

    /// Adds the path of the bone's end as coordinate `n` runs through its range.
    fn arc(&mut self, gizmo: &Gizmo<'_>, n: usize, range: Range) {
        let path = values(range).map(|v| gizmo.with(n, v, gizmo.bone));
        if let (Some(first), Some(last), true) =
            (path.clone().next(), path.clone().last(), range.is_bounded())
        {
            self.bound(gizmo, ShapeKind::Segments, [first, gizmo.at, last, gizmo.at]);
        }
        self.bound(gizmo, ShapeKind::Polyline, path);
        let zero = gizmo.with(n, 0.0, gizmo.bone);
        self.reference(gizmo, [gizmo.at, zero]);
    }

    /// Adds the outline of a swing and lines to its half-axes.
    fn cone(&mut self, gizmo: &Gizmo<'_>, axis: Vec3, swing: [Range; 2], centre: [f64; 2]) {
        let on = |angle: f32| {
            let at = |n: usize, share: f32| {
                let (Range { min, max }, centre) = (swing[n], centre[n]);
                centre as f32 + share * (if share < 0.0 { centre - min } else { max - centre }) as f32
            };
            gizmo.tip(gizmo.limits.rotation([at(0, math::cos(angle)), at(1, math::sin(angle)), 0.0]), axis)
        };
        let outline = (0..=STEPS).map(|i| on(TAU * i as f32 / STEPS as f32));
        self.bound(gizmo, ShapeKind::Polyline, outline);
        let spokes = (0..4).flat_map(|i| [gizmo.at, on(FRAC_PI_2 * i as f32)]);
        self.bound(gizmo, ShapeKind::Segments, spokes);
        let zero = gizmo.tip(gizmo.limits.rotation([0.0; 3]), axis);
        self.reference(gizmo, [gizmo.at, zero]);
    }

    /// Adds the rail of a slide and its zero.
    fn rail(&mut self, gizmo: &Gizmo<'_>, n: usize, axis: Vec3, range: Range, translation: Vec3) {
        let now = gizmo.limits.slide_of(translation)[n];
        let along = (gizmo.parent.matrix3 * axis).normalize_or_zero();
        let bar = math::perpendicular(along, gizmo.parent.matrix3 * gizmo.bone) * (0.2 * gizmo.radius);
        let position = |value: f32| gizmo.parent.transform_point3(translation + axis * (value - now));
        let zero = position(0.0);
        // Without a limit, the rail extends by the radius and has no bar.
        let ends = [(range.min, -1.0), (range.max, 1.0)].map(|(end, sense)| match end.is_finite() {
            true => position(end as f32),
            false => {
                let from = if range.is_free() { zero } else { position(range.clamp(0.0) as f32) };
                from + along * (sense * gizmo.radius)
            }
        });
        let bars = [range.min, range.max].map(f64::is_finite);
        let bar_at = |n: usize| bars[n].then_some([ends[n] - bar, ends[n] + bar]).into_iter().flatten();
        let lines = ends.into_iter().chain(bar_at(0)).chain(bar_at(1));
        self.bound(gizmo, ShapeKind::Segments, lines);
        self.reference(gizmo, [zero - bar, zero + bar]);
    }
}

#[cfg(test)]
mod tests {
    use alloc::{sync::Arc, vec::Vec};

    use super::*;
    use crate::{
        JointTransform, Skeleton,
        joint::{Dof, Joint},
    };

    fn posed(joint: Joint) -> (Pose, JointId) {
        let mut b = Skeleton::builder();
        let turned = math::axis_angle(Vec3::Z, 0.3);
        b.add(
            "above",
            None,
            JointTransform { rotation: turned, scale: Vec3::splat(0.1), ..JointTransform::IDENTITY },
        );
        b.add("joint", Some(0), JointTransform::from_translation(Vec3::new(3.0, 1.0, 2.0)));
        b.add("below", Some(1), JointTransform::from_translation(Vec3::Y));
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[1], joint).unwrap();
        (Pose::rest(&Arc::new(skeleton)), ids[1])
    }

    fn drawn(joint: Joint) -> (Pose, JointId, DrawList) {
        let (pose, id) = posed(joint);
        let mut list = DrawList::new();
        list.limits(&pose, [(id, None)], 0.5);
        (pose, id, list)
    }

    #[test]
    fn a_hinge_is_an_arc_from_end_to_end_about_its_reference() {
        let (pose, id, list) = drawn(Joint::hinge(Vec3::X, Dof::range(-0.4, 1.2)));
        let at = pose.position(id);
        let shape = |role, kind| list.shapes().iter().find(|s| s.role == role && s.kind == kind).unwrap();
        let arc: Vec<_> =
            list.points(shape(ShapeRole::Limit, ShapeKind::Polyline)).iter().map(|p| *p - at).collect();
        let line = list.points(shape(ShapeRole::Reference, ShapeKind::Segments));
        let zero = line[1] - line[0];
        for p in &arc {
            assert!((p.length() - 0.5).abs() < 1e-5);
        }
        let angle = |v: Vec3| math::atan2(zero.cross(v).length(), zero.dot(v));
        assert!((angle(arc[0]) - 0.4).abs() < 1e-3 && (angle(arc[STEPS]) - 1.2).abs() < 1e-3);
    }

    #[test]
    fn a_cone_is_as_wide_as_its_half_axes() {
        let joint = Joint::ball(Vec3::Y, Vec3::X, [(-0.2, 0.4), (-0.6, 0.8)], (-0.5, 0.5));
        let (pose, id, list) = drawn(joint);
        let at = pose.position(id);
        let spokes = list
            .shapes()
            .iter()
            .find(|s| s.kind == ShapeKind::Segments && s.role == ShapeRole::Limit)
            .unwrap();
        let axis = pose.model(id).matrix3.y_axis.normalize();
        let angles: Vec<f32> =
            list.points(spokes).chunks(2).map(|w| math::acos((w[1] - at).normalize().dot(axis))).collect();
        for (found, expected) in angles.iter().zip([0.4, 0.8, 0.2, 0.6]) {
            assert!((found - expected).abs() < 1e-3, "{angles:?}");
        }
    }

    #[test]
    fn a_slider_is_a_rail_in_model_space() {
        let (pose, id, list) = drawn(Joint::FIXED.with_slide([None, Some(Dof::range(-1.0, 2.0)), None]));
        let rail = list.points(&list.shapes()[0]);
        let along = pose.model(id).matrix3.y_axis;
        assert!((rail[0] - (pose.position(id) - along)).length() < 1e-5);
        assert!((rail[1] - (pose.position(id) + along * 2.0)).length() < 1e-5);
    }

    #[test]
    fn free_and_fixed_joints_show_nothing_and_axes_an_arc_each() {
        assert!(drawn(Joint::FREE).2.shapes().is_empty());
        assert!(drawn(Joint::FIXED).2.shapes().is_empty());
        let (.., list) = drawn(Joint::axes([Some(Dof::FREE), None, Some(Dof::range(0.0, 1.0))]));
        assert_eq!(list.shapes().iter().filter(|s| s.kind == ShapeKind::Polyline).count(), 2);
    }

    #[test]
    fn a_swing_about_a_centre_is_drawn_around_it() {
        let joint = Joint::from(Turning::Ball {
            twist_axis: glam::DVec3::Y,
            swing_axis: glam::DVec3::X,
            swing: [Dof::range(0.2, 1.5), Dof::range(-0.5, 0.4)],
            twist: Dof::range(-0.1, 0.1),
            centre: [0.9, 0.0],
        });
        let (pose, id, list) = drawn(joint);
        let at = pose.position(id);
        let shape = list.shapes().iter().find(|s| s.role == ShapeRole::Limit).unwrap();
        let outline = list.points(shape);
        let parent = pose.model(pose.skeleton().parent(id).unwrap()).matrix3;
        let swung = |x: f32, z: f32| {
            let turned = math::mul(math::axis_angle(Vec3::X, 0.9), math::axis_angle(-Vec3::Z, z));
            let own = math::mul(turned, math::axis_angle(Vec3::X, x - 0.9));
            at + (parent * math::rotate(own, Vec3::Y)).normalize() * 0.5
        };
        // The ends of the half-axes: about X they add to the centre, across it they follow it.
        let quarter = (outline.len() - 1) / 4;
        for (n, [x, z]) in [[1.5, 0.0], [0.9, 0.4], [0.2, 0.0], [0.9, -0.5]].into_iter().enumerate() {
            assert!(outline[n * quarter].distance(swung(x, z)) < 1e-5, "{n}");
        }
    }
}
