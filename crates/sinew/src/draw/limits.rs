//! Shapes of joints' limits and present values: wedges, caps and rails.

use core::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Affine3, Quat, Vec3};

use super::{DrawList, STEPS, Shape, ShapeKind, ShapeRole, ShapeState, arc, fan};
use crate::{
    JointId, Pose,
    body::Side,
    joint::{Coordinates, Dof, Limits, Range, Turning},
    math,
};

/// Radius of a twist's arc, as a share of the cone's length.
const TWIST: f32 = 0.3;

/// Distance from a limit at which a value is shown as at it: radians, or shares of the radius for slides. On a wedge of 100
/// pixels, a fifth of a pixel.
pub(super) const NEAR: f64 = 2e-3;

/// Radius of the bead at the end of a needle, as a share of the drawing's radius; at a limit, twice that.
const BEAD: f32 = 0.03;

/// Half the width of a slide's bar, as a share of the radius.
const BAR: f32 = 0.06;

/// Widest ring of a cap, in radians. Its chords stay within 1.5 % of the radius from the sphere.
const RING: f32 = 0.35;

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

    fn pen(&self, state: ShapeState) -> Pen {
        Pen { side: self.side, joint: Some(self.joint), state, radius: self.radius }
    }
}

/// What the shapes of one coordinate have in common.
#[derive(Clone, Copy)]
pub(super) struct Pen {
    pub side: Option<Side>,
    pub joint: Option<JointId>,
    pub state: ShapeState,
    pub radius: f32,
}

impl Pen {
    fn shape(self, role: ShapeRole, kind: ShapeKind) -> Shape {
        Shape::new(role, kind).with_side(self.side).with_joint(self.joint).with_state(self.state)
    }

    fn bead(self) -> Shape {
        let size = if self.state == ShapeState::AtLimit { 2.0 } else { 1.0 };
        self.shape(ShapeRole::Needle, ShapeKind::Discs { radius: size * BEAD * self.radius })
    }
}

impl DrawList {
    /// Adds the limits and present values of joints in a pose, in model space. Each is drawn within `radius` metres of its
    /// joint, up to beads and slides.
    ///
    /// - A hinge is a wedge over its range, of at most a whole turn. Without two limits it is a circle.
    /// - A ball is a cap over its swing, with four lines from the joint to the half-axes. Its twist is a small wedge about the
    ///   current twist axis.
    /// - Turns about single axes are one wedge each, about the axis as rotated by the previous turns.
    /// - A slider is a bar with a line across it at each limit. Without limits, a line extends `radius` to each side.
    ///
    /// Areas and outlines have the role [`ShapeRole::Limit`]. A [`ShapeRole::Needle`] with a bead at its end shows the present
    /// value of each, and a [`ShapeRole::Preferred`] its preferred value, if it has one. A [`ShapeRole::Reference`] marks its
    /// zero: the direction of the bone (or of the twist axis) with the joint in its rest pose and its parent as in `pose`. Where
    /// a value is within 2 milliradians of a limit (of a slide: within 0.2 % of `radius`) or beyond it, needle and limit are
    /// [`ShapeState::AtLimit`], and the bead is larger. Free and fixed joints add nothing.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sinew::{Pose, Skeleton, JointTransform, draw::{DrawList, ShapeRole, ShapeState}, glam::Vec3, joint::{Dof, Joint}};
    /// let mut builder = Skeleton::builder();
    /// let knee = builder.add("knee", None, JointTransform::IDENTITY);
    /// builder.add("ankle", Some(knee), JointTransform::from_translation(-Vec3::Y));
    /// let (mut skeleton, ids) = builder.build()?;
    /// skeleton.set_joint(ids[0], Joint::hinge(Vec3::X, Dof::range(0.0, 2.4)))?;
    /// let pose = Pose::rest(&Arc::new(skeleton));
    /// let mut list = DrawList::new();
    /// list.limits(&pose, pose.skeleton().joints().map(|j| (j, None)), 0.2);
    /// let needle = list.shapes().iter().find(|s| s.role == ShapeRole::Needle).unwrap();
    /// assert_eq!(needle.state, ShapeState::AtLimit); // at 0, where the range begins
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
                self.turn(&gizmo, 0, at, &dof);
            }
            Turning::Axes { order, angles } => {
                for (n, axis) in order.axes().into_iter().enumerate() {
                    if let Some(dof) = angles[axis] {
                        gizmo.bone = math::perpendicular(Vec3::AXES[axis], bone);
                        // Later turns are left out, so that the arc is perpendicular to its axis.
                        let now = gizmo.now;
                        gizmo.now[n + 1..].fill(0.0);
                        self.turn(&gizmo, n, at, &dof);
                        gizmo.now = now;
                    }
                }
            }
            Turning::Ball { swing, twist, centre, .. } => {
                let axis = limits.twist_axis().unwrap_or(Vec3::Y);
                if !swing[0].range.is_free() {
                    self.cone(&gizmo, axis, &swing, centre);
                }
                gizmo.bone = axis + math::perpendicular(axis, bone) * TWIST;
                let foot = gizmo.with(2, 0.0, axis);
                self.turn(&gizmo, 2, foot, &twist);
            }
        }
        for (n, dof) in description.slide.iter().enumerate() {
            let (Some(dof), Some(axis)) = (dof, limits.slide_axis(n)) else { continue };
            self.rail(&gizmo, n, axis, dof, local.translation);
        }
    }

    /// Adds the range of coordinate `n` as a wedge from `hub`, and its zero.
    fn turn(&mut self, gizmo: &Gizmo<'_>, n: usize, hub: Vec3, dof: &Dof) {
        let state = ShapeState::of_value(gizmo.now[n].into(), dof.range, NEAR);
        let on = |value: f32| gizmo.with(n, value, gizmo.bone);
        self.wedge(gizmo.pen(state), hub, on, dof, gizmo.now[n]);
    }

    /// Adds a range of angles as a wedge from `hub` to its arc, with its zero, the preferred value and the present one. `on`
    /// returns the point of the arc at an angle.
    pub(super) fn wedge(&mut self, pen: Pen, hub: Vec3, on: impl Fn(f32) -> Vec3, dof: &Dof, now: f32) {
        let Range { min, max } = dof.range;
        let (from, to) = if dof.range.is_bounded() { (min as f32, max as f32) } else { (-PI, PI) };
        let path = arc(from, to.min(from + TAU), &on);
        if dof.range.is_bounded() {
            self.push(pen.shape(ShapeRole::Limit, ShapeKind::Area), fan(hub, &path));
        }
        if to - from < TAU {
            let edges = [hub, path[0], hub, path[STEPS]];
            self.push(pen.shape(ShapeRole::Limit, ShapeKind::Segments), edges);
        }
        self.push(pen.shape(ShapeRole::Limit, ShapeKind::Polyline), path);
        self.push(pen.shape(ShapeRole::Reference, ShapeKind::Segments), [hub, on(0.0)]);
        if let Some(preferred) = dof.preferred {
            self.tick(pen, hub, on(preferred as f32));
        }
        self.needle(pen, hub, on(now));
    }

    /// Adds the present value: a line with a bead at its end.
    fn needle(&mut self, pen: Pen, hub: Vec3, end: Vec3) {
        self.push(pen.shape(ShapeRole::Needle, ShapeKind::Segments), [hub, end]);
        self.push(pen.bead(), [end]);
    }

    /// Adds a preferred value: the outer third of a line from `hub`.
    fn tick(&mut self, pen: Pen, hub: Vec3, end: Vec3) {
        self.push(
            pen.shape(ShapeRole::Preferred, ShapeKind::Segments),
            [hub + (end - hub) * (2.0 / 3.0), end],
        );
    }

    /// Adds a swing as a cap with lines to its half-axes.
    fn cone(&mut self, gizmo: &Gizmo<'_>, axis: Vec3, swing: &[Dof; 2], centre: [f64; 2]) {
        let half = |n: usize, up: bool| {
            let Range { min, max } = swing[n].range;
            (if up { max - centre[n] } else { centre[n] - min }) as f32
        };
        let to = |x: f32, y: f32| gizmo.tip(gizmo.limits.rotation([x, y, 0.0]), axis);
        // `share` counts from the centre, 0, to the limit, 1.
        let on = |angle: f32, share: f32| {
            let [x, y] = [math::cos(angle), math::sin(angle)];
            let [x, y] = [(0, x), (1, y)].map(|(n, d)| centre[n] as f32 + share * d * half(n, d >= 0.0));
            to(x, y)
        };
        // The present swing: its level is 1 on the ellipse, and its distance from there is measured from the centre.
        let [dx, dy] = [0, 1].map(|n| gizmo.now[n] - centre[n] as f32);
        let [lx, ly] = [(0, dx), (1, dy)].map(|(n, d)| d / half(n, d >= 0.0));
        let level = math::sqrt(lx * lx + ly * ly);
        let away = math::sqrt(dx * dx + dy * dy);
        let inside = level == 0.0 || away * (1.0 / level - 1.0) > NEAR as f32;
        let pen = gizmo.pen(if inside { ShapeState::Normal } else { ShapeState::AtLimit });

        let widest = [(0, false), (0, true), (1, false), (1, true)].map(|(n, up)| half(n, up));
        let rings = math::ceil(widest.into_iter().fold(0.0, f32::max) / RING).clamp(2.0, 9.0);
        let ring = |n: f32| arc(0.0, TAU, |angle| on(angle, n / rings));
        let (mut inner, start) = (ring(1.0), self.points.len());
        self.points.extend(fan(to(centre[0] as f32, centre[1] as f32), &inner));
        for n in 2..=rings as usize {
            let outer = ring(n as f32);
            for (a, b) in inner.windows(2).zip(outer.windows(2)) {
                self.points.extend([a[0], b[0], b[1], a[0], b[1], a[1]]);
            }
            inner = outer;
        }
        self.finish(pen.shape(ShapeRole::Limit, ShapeKind::Area), start);
        self.push(pen.shape(ShapeRole::Limit, ShapeKind::Polyline), inner);
        let spokes = (0..4).flat_map(|i| [gizmo.at, on(FRAC_PI_2 * i as f32, 1.0)]);
        self.push(pen.shape(ShapeRole::Limit, ShapeKind::Segments), spokes);
        self.push(pen.shape(ShapeRole::Reference, ShapeKind::Segments), [gizmo.at, to(0.0, 0.0)]);
        if let [Some(x), Some(y)] = swing.map(|dof| dof.preferred) {
            self.tick(pen, gizmo.at, to(x as f32, y as f32));
        }
        self.needle(pen, gizmo.at, to(gizmo.now[0], gizmo.now[1]));
    }

    /// Adds the rail of a slide, its zero and its present value.
    fn rail(&mut self, gizmo: &Gizmo<'_>, n: usize, axis: Vec3, dof: &Dof, translation: Vec3) {
        let range = dof.range;
        let now = gizmo.limits.slide_of(translation)[n];
        let along = gizmo.parent.matrix3 * axis;
        let unit = math::sqrt(along.length_squared());
        let along = along.normalize_or_zero();
        let across = math::perpendicular(along, gizmo.parent.matrix3 * gizmo.bone) * gizmo.radius;
        let position = |value: f32| gizmo.parent.transform_point3(translation + axis * (value - now));
        let near = NEAR * f64::from(gizmo.radius) / f64::from(unit.max(f32::MIN_POSITIVE));
        let pen = gizmo.pen(ShapeState::of_value(now.into(), range, near));
        let zero = position(0.0);
        // Without a limit, the rail extends by the radius and has no line across.
        let ends = [(range.min, -1.0), (range.max, 1.0)].map(|(end, sense)| match end.is_finite() {
            true => position(end as f32),
            false => {
                let from = if range.is_free() { zero } else { position(range.clamp(0.0) as f32) };
                from + along * (sense * gizmo.radius)
            }
        });
        let line = |at: Vec3, half: f32| [at - across * half, at + across * half];
        if range.is_bounded() {
            let [[a, b], [c, d]] = ends.map(|end| line(end, BAR));
            self.push(pen.shape(ShapeRole::Limit, ShapeKind::Area), [a, b, d, a, d, c]);
        }
        let limited = [range.min, range.max].map(f64::is_finite);
        let end = |n: usize| limited[n].then_some(line(ends[n], 0.2)).into_iter().flatten();
        let lines = ends.into_iter().chain(end(0)).chain(end(1));
        self.push(pen.shape(ShapeRole::Limit, ShapeKind::Segments), lines);
        self.push(pen.shape(ShapeRole::Reference, ShapeKind::Segments), line(zero, 0.12));
        if let Some(preferred) = dof.preferred {
            let tick = line(position(preferred as f32), 0.16);
            self.push(pen.shape(ShapeRole::Preferred, ShapeKind::Segments), tick);
        }
        let [from, to] = line(position(now), 0.28);
        self.push(pen.shape(ShapeRole::Needle, ShapeKind::Segments), [from, to]);
        self.push(pen.bead(), [0.5 * (from + to)]);
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

    fn shape(list: &DrawList, role: ShapeRole, kind: ShapeKind) -> &Shape {
        list.shapes().iter().find(|s| s.role == role && s.kind == kind).unwrap()
    }

    #[test]
    fn a_hinge_is_an_arc_from_end_to_end_about_its_reference() {
        let (pose, id, list) = drawn(Joint::hinge(Vec3::X, Dof::range(-0.4, 1.2)));
        let at = pose.position(id);
        let arc: Vec<_> = list
            .points(shape(&list, ShapeRole::Limit, ShapeKind::Polyline))
            .iter()
            .map(|p| *p - at)
            .collect();
        let line = list.points(shape(&list, ShapeRole::Reference, ShapeKind::Segments));
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
        let spokes = shape(&list, ShapeRole::Limit, ShapeKind::Segments);
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
        let rail = list.points(shape(&list, ShapeRole::Limit, ShapeKind::Segments));
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
        let outline = list.points(shape(&list, ShapeRole::Limit, ShapeKind::Polyline));
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
