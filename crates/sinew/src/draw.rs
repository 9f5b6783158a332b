//! Shapes to draw of poses, goals, limits, rays and the ground: one list of plain shapes for every front end.
//!
//! A front end (an image, a web page, a game's gizmos) fills a [`DrawList`] and shows it. The list keeps its memory between
//! frames: [`DrawList::clear`] it and fill it again.
//!
//! - One that draws paths iterates over [`DrawList::shapes`], each with its [`DrawList::points`].
//! - One that draws with a graphics card takes [`Batches`]: arrays of lines, triangles and discs with a colour for each vertex.
//! - [`Theme`] has the colours, for light and dark backgrounds. No state is told by colour alone: a value at its limit has a
//!   larger bead, and a goal that is missed has a dashed line.
//! - [`DrawList::labels`] are texts with the positions that they belong to.
//!
//! ```
//! use std::sync::Arc;
//! use sinew::{Goal, JointTransform, Pose, Skeleton, draw::{Batches, DrawList, Theme}, glam::Vec3};
//! use sinew::solve::{LimbOptions, TwoBone};
//! let mut builder = Skeleton::builder();
//! let at = |y: f32, z: f32| JointTransform::from_translation(Vec3::new(0.0, y, z));
//! let hip = builder.add("hip", None, at(0.9, 0.0));
//! let knee = builder.add("knee", Some(hip), at(-0.45, 0.03));
//! builder.add("ankle", Some(knee), at(-0.42, -0.03));
//! let (skeleton, ids) = builder.build()?;
//! let skeleton = Arc::new(skeleton);
//! let leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2])?;
//! let (mut pose, mut list, mut batches) = (Pose::rest(&skeleton), DrawList::new(), Batches::new());
//!
//! // Each frame:
//! let goal = Goal::position(Vec3::new(0.0, -0.2, 0.3));
//! let report = leg.solve(&mut pose, &goal, &LimbOptions::new())?;
//! list.clear();
//! let joints = || pose.skeleton().joints().map(|joint| (joint, None));
//! list.bones(&pose, joints(), 0.08);
//! list.limits(&pose, joints(), 0.1);
//! list.solved_goal(&goal, pose.position(ids[2]), &report, 0.05, None);
//! list.names(&pose, joints());
//! batches.fill(&list, Theme::Light);
//! assert!(batches.lines().len() > 6 && batches.solids().len() == 2 * 24);
//! assert_eq!(list.text(&list.labels()[1]), "knee");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod batches;
mod limits;
mod planar;
mod theme;

pub use batches::{Batches, Vertices};
pub use theme::{AREA_OPACITY, Theme};

use alloc::{string::String, vec::Vec};
use core::{
    fmt::{Display, Write},
    ops::Range,
};

use glam::{Quat, Vec3};

use crate::{
    Goal, JointId, Pose, Report,
    body::Side,
    ground::TriangleMesh,
    joint::Range as Limited,
    math,
    rig::{Rig, RigState},
    solve::spline::Curve,
};

/// The meaning of a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ShapeRole {
    /// A bone, from a joint to its child.
    Bone,
    /// A joint's position.
    JointMark,
    /// The position goal of a chain's end.
    Goal,
    /// A pole that a chain's middle joint turns towards.
    Pole,
    /// The path of a cast.
    Ray,
    /// The point where a cast met a surface.
    Hit,
    /// The ground.
    Ground,
    /// A joint's limits.
    Limit,
    /// The line from which a joint's limits are measured.
    Reference,
    /// The line of a rig's handle, from the root of its chain to the joint that its goal moves.
    Handle,
    /// The direction of a handle's bend from that line.
    Swivel,
    /// The present value of a joint's coordinate.
    Needle,
    /// The preferred value of a joint's coordinate.
    Preferred,
    /// A line from a chain's end to a goal that it did not meet.
    Residual,
    /// The x axis of a frame.
    AxisX,
    /// The y axis of a frame.
    AxisY,
    /// The z axis of a frame.
    AxisZ,
    /// A curve that joints follow or have followed.
    Path,
    /// An angle between two directions.
    Angle,
}

/// The state of what a shape shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[non_exhaustive]
pub enum ShapeState {
    /// None of the other states.
    #[default]
    Normal,
    /// A joint's coordinate is at or beyond a limit.
    AtLimit,
    /// A goal is further from the chain's root than the chain reaches, or nearer.
    OutOfReach,
}

impl ShapeState {
    /// The state of a coordinate: [`AtLimit`](Self::AtLimit) at a distance of at most `near` from a limit of its range, or
    /// beyond it. `value` and `near` are in the range's unit.
    pub fn of_value(value: f64, range: Limited, near: f64) -> Self {
        if value > range.min + near && value < range.max - near { Self::Normal } else { Self::AtLimit }
    }

    /// The state of a solve's goal: [`OutOfReach`](Self::OutOfReach) if it is further out of reach than the tolerance. A goal
    /// that limits or a bound on turns kept from being met is [`Normal`](Self::Normal).
    pub fn of_goal(report: &Report) -> Self {
        if report.out_of_reach > report.position_tolerance { Self::OutOfReach } else { Self::Normal }
    }
}

/// The arrangement of a shape's points.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeKind {
    /// Separate lines: two points each.
    Segments,
    /// One line through all points.
    Polyline,
    /// Opaque triangles: three points each, counter-clockwise as seen from their front.
    Triangles,
    /// Translucent triangles, three points each, seen from both sides; [`AREA_OPACITY`].
    Area,
    /// A filled disc around each point, facing the viewer.
    Discs {
        /// Radius in metres.
        radius: f32,
    },
}

/// One shape of a [`DrawList`], without its points; see [`DrawList::points`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Shape {
    /// The meaning of the shape.
    pub role: ShapeRole,
    /// The arrangement of the points.
    pub kind: ShapeKind,
    /// The side of the body that the shape belongs to, if any.
    pub side: Option<Side>,
    /// The joint that the shape belongs to, if any; for a bone, the child joint.
    pub joint: Option<JointId>,
    /// The state of what the shape shows.
    pub state: ShapeState,
    /// The shape's own sRGB colour, in place of that of a [`Theme`].
    pub own_color: Option<[u8; 3]>,
    points: Range<u32>,
}

impl Shape {
    /// A shape without side, joint and colour, in the normal state. [`DrawList::push`] gives it points.
    pub const fn new(role: ShapeRole, kind: ShapeKind) -> Self {
        let state = ShapeState::Normal;
        Self { role, kind, side: None, joint: None, state, own_color: None, points: 0..0 }
    }

    /// Returns the shape with this [`side`](Self::side).
    pub const fn with_side(mut self, side: Option<Side>) -> Self {
        self.side = side;
        self
    }

    /// Returns the shape with this [`joint`](Self::joint).
    pub const fn with_joint(mut self, joint: Option<JointId>) -> Self {
        self.joint = joint;
        self
    }

    /// Returns the shape with this [`state`](Self::state).
    pub const fn with_state(mut self, state: ShapeState) -> Self {
        self.state = state;
        self
    }
}

/// A text of a [`DrawList`] at a position; see [`DrawList::text`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Label {
    /// The meaning of what the text names, which sets its colour.
    pub role: ShapeRole,
    /// The side of the body that it belongs to, if any.
    pub side: Option<Side>,
    /// The joint that it belongs to, if any.
    pub joint: Option<JointId>,
    /// The position that the text belongs to, in metres, in the space of the list.
    pub at: Vec3,
    /// The unit direction from the position in which the text hides least; zero for none.
    pub away: Vec3,
    text: Range<u32>,
}

/// A list of shapes and labels in the order of adding. Points are in metres, in the space of their source: model space for a
/// pose, world space for the ground and casts. Nothing in it is NaN or infinite: what is not finite is left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawList {
    shapes: Vec<Shape>,
    points: Vec<Vec3>,
    labels: Vec<Label>,
    texts: String,
}

/// Line segments of an arc. Twice as many would look no rounder.
const STEPS: usize = 48;

/// Position of an octahedron's widest section along its bone, as a share of the bone's length. Near the joint, so that
/// the octahedron points at the child.
const WAIST: f32 = 0.16;

impl DrawList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { shapes: Vec::new(), points: Vec::new(), labels: Vec::new(), texts: String::new() }
    }

    /// Removes all shapes and labels and keeps the memory.
    pub fn clear(&mut self) {
        self.shapes.clear();
        self.points.clear();
        self.labels.clear();
        self.texts.clear();
    }

    /// All shapes, in the order of adding.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The points of a shape of this list. For a shape of another list, the points are unrelated or empty.
    pub fn points(&self, shape: &Shape) -> &[Vec3] {
        self.points.get(shape.points.start as usize..shape.points.end as usize).unwrap_or_default()
    }

    /// All labels, in the order of adding.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The text of a label of this list. For a label of another list, the text is unrelated or empty.
    pub fn text(&self, label: &Label) -> &str {
        self.texts.get(label.text.start as usize..label.text.end as usize).unwrap_or_default()
    }

    /// Adds a shape with these points. Does nothing if there are no points, or if one or a radius is not finite.
    ///
    /// ```
    /// use sinew::{draw::{DrawList, Shape, ShapeKind, ShapeRole}, glam::Vec3};
    /// let mut list = DrawList::new();
    /// list.push(Shape::new(ShapeRole::Ground, ShapeKind::Segments), [Vec3::ZERO, Vec3::X]);
    /// list.push(Shape::new(ShapeRole::Ground, ShapeKind::Segments), [Vec3::ZERO, Vec3::NAN]);
    /// assert_eq!(list.shapes().len(), 1);
    /// ```
    pub fn push(&mut self, shape: Shape, points: impl IntoIterator<Item = Vec3>) {
        let start = self.points.len();
        self.points.extend(points);
        self.finish(shape, start);
    }

    /// Adds a shape whose points begin at `start` and end the list's.
    fn finish(&mut self, mut shape: Shape, start: usize) {
        let finite = self.points.iter().skip(start).all(|p| p.is_finite())
            && !matches!(shape.kind, ShapeKind::Discs { radius } if !radius.is_finite());
        match (u32::try_from(start), u32::try_from(self.points.len())) {
            (Ok(a), Ok(b)) if a < b && finite => {
                shape.points = a..b;
                self.shapes.push(shape);
            }
            _ => self.points.truncate(start),
        }
    }

    /// Gives the shapes from an index on this sRGB colour in place of the theme's.
    ///
    /// ```
    /// use sinew::{draw::{DrawList, Theme}, glam::Vec3};
    /// let mut list = DrawList::new();
    /// list.goal(Vec3::ZERO, 0.1, None);
    /// let start = list.shapes().len();
    /// list.goal(Vec3::X, 0.1, None);
    /// list.color_from(start, [0x00, 0x72, 0xB2]);
    /// let color = |n: usize| Theme::Light.color_of(&list.shapes()[n]);
    /// assert!(color(0) != color(1) && color(1) == [0x00, 0x72, 0xB2]);
    /// ```
    pub fn color_from(&mut self, start: usize, color: [u8; 3]) {
        self.shapes.iter_mut().skip(start).for_each(|shape| shape.own_color = Some(color));
    }

    /// Adds a text at a position in metres. `away` is a direction of any length in which the text hides least, or zero. Does
    /// nothing without a text, or if the position or direction is not finite.
    ///
    /// The text is written into the list's own memory, so that `format_args!` costs no allocation.
    ///
    /// ```
    /// use sinew::{draw::{DrawList, ShapeRole}, glam::Vec3};
    /// let mut list = DrawList::new();
    /// list.label(ShapeRole::Goal, None, None, Vec3::Y, Vec3::X, format_args!("{:.0} mm", 12.3));
    /// assert_eq!(list.text(&list.labels()[0]), "12 mm");
    /// ```
    pub fn label(
        &mut self,
        role: ShapeRole,
        side: Option<Side>,
        joint: Option<JointId>,
        at: Vec3,
        away: Vec3,
        text: impl Display,
    ) {
        let start = self.texts.len();
        let written = write!(self.texts, "{text}");
        match (written, u32::try_from(start), u32::try_from(self.texts.len())) {
            (Ok(()), Ok(a), Ok(b)) if a < b && at.is_finite() && away.is_finite() => {
                self.labels.push(Label { role, side, joint, at, away: direction(away), text: a..b });
            }
            _ => self.texts.truncate(start),
        }
    }

    /// Adds the names of joints at their positions in model space, each beside the bones that meet there. `joints` holds joints
    /// with the side of the body that each belongs to.
    pub fn names(&mut self, pose: &Pose, joints: impl IntoIterator<Item = (JointId, Option<Side>)>) {
        let skeleton = pose.skeleton();
        for (joint, side) in joints {
            let at = pose.position(joint);
            let meeting = skeleton.parent(joint).into_iter().chain(skeleton.children(joint));
            let away = meeting.map(|other| direction(at - pose.position(other))).sum();
            self.label(ShapeRole::JointMark, side, Some(joint), at, away, skeleton.name(joint));
        }
    }

    /// Adds the bones of a pose in model space: an octahedron from each joint's parent to the joint, and a disc at the
    /// joint.
    ///
    /// `bones` holds joints with the side of the body that each belongs to. A joint without a parent gets a disc only.
    /// `thickness` is the maximum half width of an octahedron as a share of its bone's length. A thickness of 0 gives
    /// line segments.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use sinew::{Pose, Skeleton, JointTransform, draw::DrawList, body::Side, glam::Vec3};
    /// let mut builder = Skeleton::builder();
    /// let thigh = builder.add("thigh", None, JointTransform::IDENTITY);
    /// builder.add("shin", Some(thigh), JointTransform::from_translation(-Vec3::Y));
    /// let pose = Pose::rest(&Arc::new(builder.build()?.0));
    /// let mut list = DrawList::new();
    /// list.bones(&pose, pose.skeleton().joints().map(|j| (j, Some(Side::Left))), 0.08);
    /// assert_eq!(list.shapes().len(), 3); // two discs and a bone
    /// # Ok::<(), sinew::SkeletonError>(())
    /// ```
    pub fn bones(
        &mut self,
        pose: &Pose,
        bones: impl IntoIterator<Item = (JointId, Option<Side>)>,
        thickness: f32,
    ) {
        for (joint, side) in bones {
            let at = pose.position(joint);
            let mut radius = 0.0;
            if let Some(parent) = pose.skeleton().parent(joint) {
                let from = pose.position(parent);
                radius = (at - from).length() * thickness * 0.5;
                self.bone(from, at, thickness, side, Some(joint));
            }
            let mark = Shape::new(ShapeRole::JointMark, ShapeKind::Discs { radius });
            self.push(mark.with_side(side).with_joint(Some(joint)), [at]);
        }
    }

    /// Adds one bone as an octahedron that points from `from` to `to`; see [`DrawList::bones`].
    pub fn bone(&mut self, from: Vec3, to: Vec3, thickness: f32, side: Option<Side>, joint: Option<JointId>) {
        let shape = |kind| Shape::new(ShapeRole::Bone, kind).with_side(side).with_joint(joint);
        let along = to - from;
        let length = along.length();
        if thickness <= 0.0 || length <= 0.0 {
            return self.push(shape(ShapeKind::Segments), [from, to]);
        }
        let axis = along / length;
        let across = math::perpendicular(axis, Vec3::X + Vec3::Z);
        let other = axis.cross(across);
        let waist = from + along * WAIST;
        let w = length * thickness;
        let ring = [waist + across * w, waist + other * w, waist - across * w, waist - other * w];
        let mut corners = [from; 24];
        for (i, triangles) in corners.chunks_exact_mut(6).enumerate() {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            triangles.copy_from_slice(&[from, b, a, a, b, to]);
        }
        self.push(shape(ShapeKind::Triangles), corners);
    }

    /// Adds a goal as a cross of three lines, `size` metres from the centre to each end.
    pub fn goal(&mut self, position: Vec3, size: f32, side: Option<Side>) {
        self.push(Shape::new(ShapeRole::Goal, ShapeKind::Segments).with_side(side), cross(position, size));
    }

    /// Adds a goal after a solve, in the [state](ShapeState::of_goal) that the report tells: a cross at its position, and its
    /// rotation as three axes of twice the cross's size. If the goal is not met, a dashed line goes there from `end`, the
    /// position of the chain's end after the solve. A goal without a position is drawn at `end`. All is in model space.
    ///
    /// ```
    /// use sinew::{Goal, Report, draw::{DrawList, ShapeRole, ShapeState}, glam::{Quat, Vec3}};
    /// # let report = { let mut r = Report::default(); r.out_of_reach = 0.5; r.position_residual = 0.5; r };
    /// let mut list = DrawList::new();
    /// let goal = Goal::position(Vec3::X).with_rotation(Quat::IDENTITY);
    /// list.solved_goal(&goal, Vec3::X * 0.5, &report, 0.1, None); // the chain ends half a metre before it
    /// assert!(list.shapes().iter().any(|s| s.role == ShapeRole::Residual && s.state == ShapeState::OutOfReach));
    /// assert!(list.shapes().iter().any(|s| s.role == ShapeRole::AxisX));
    /// ```
    pub fn solved_goal(&mut self, goal: &Goal, end: Vec3, report: &Report, size: f32, side: Option<Side>) {
        let state = ShapeState::of_goal(report);
        let shape = |role| Shape::new(role, ShapeKind::Segments).with_side(side).with_state(state);
        let at = goal.position.unwrap_or(end);
        if goal.position.is_some() {
            self.push(shape(ShapeRole::Goal), cross(at, size));
            if report.position_residual > report.position_tolerance {
                self.dashed(shape(ShapeRole::Residual), end, at, 0.4 * size);
            }
        }
        if let Some(rotation) = goal.rotation {
            self.axes(at, rotation, 2.0 * size);
        }
    }

    /// Adds the axes of a frame as lines of `length` metres from a position: x, y and z of the rotation, a unit quaternion.
    pub fn axes(&mut self, at: Vec3, rotation: Quat, length: f32) {
        let axes = [(ShapeRole::AxisX, Vec3::X), (ShapeRole::AxisY, Vec3::Y), (ShapeRole::AxisZ, Vec3::Z)];
        for (role, axis) in axes {
            let end = at + math::rotate(rotation, axis) * length;
            self.push(Shape::new(role, ShapeKind::Segments), [at, end]);
        }
    }

    /// Adds a line in dashes of about this length in metres, with gaps as long as the dashes, from end to end.
    fn dashed(&mut self, shape: Shape, from: Vec3, to: Vec3, dash: f32) {
        // More would hardly be told apart.
        const MAX_DASHES: f32 = 40.0;
        let dashes = math::floor(0.5 * (1.0 + (to - from).length() / dash)).clamp(1.0, MAX_DASHES);
        let at = move |n: usize| from.lerp(to, n as f32 / (2.0 * dashes - 1.0));
        self.push(shape, (0..2 * dashes as usize).map(at));
    }

    /// Adds a path through points, such as the travel of a root or the goals of a clip, in metres.
    pub fn path(&mut self, points: impl IntoIterator<Item = Vec3>, side: Option<Side>) {
        self.push(Shape::new(ShapeRole::Path, ShapeKind::Polyline).with_side(side), points);
    }

    /// Adds a curve, in model space, as `steps` lines of equal arc length.
    ///
    /// ```
    /// use sinew::{draw::DrawList, glam::Vec3, solve::spline::{Curve, CurveKind, CurveUp}};
    /// let points = [Vec3::ZERO, Vec3::new(1.0, 1.0, 0.0), Vec3::X * 2.0];
    /// let curve = Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Z))?;
    /// let mut list = DrawList::new();
    /// list.curve(&curve, 60);
    /// assert_eq!(list.points(&list.shapes()[0]).len(), 61);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn curve(&mut self, curve: &Curve, steps: usize) {
        let at = |n: usize| curve.at(curve.length() * (n as f32 / steps as f32)).position;
        self.path((0..=steps).map(at), None);
    }

    /// Adds the angle between two directions, of any length, at a position: a sector with its arc, `radius` metres from the
    /// position, and a text beside the arc. Does nothing if a direction is zero or not finite.
    ///
    /// ```
    /// use sinew::{draw::DrawList, glam::Vec3};
    /// let mut list = DrawList::new();
    /// let (shoulder, elbow, hand) = (Vec3::ZERO, Vec3::Y, Vec3::new(1.0, 1.0, 0.0));
    /// list.angle(elbow, [shoulder - elbow, hand - elbow], 0.2, None, "elbow");
    /// assert_eq!(list.text(&list.labels()[0]), "elbow");
    /// ```
    pub fn angle(
        &mut self,
        at: Vec3,
        directions: [Vec3; 2],
        radius: f32,
        side: Option<Side>,
        text: impl Display,
    ) {
        let [a, b] = directions.map(direction);
        let across = math::perpendicular(a, b);
        let angle = math::atan2(a.cross(b).length(), a.dot(b));
        let on = |turn: f32| at + (a * math::cos(turn) + across * math::sin(turn)) * radius;
        // False for NaN too.
        if !(a.length_squared() > 0.0 && b.length_squared() > 0.0 && angle >= 0.0) {
            return;
        }
        let arc = arc(0.0, angle, on);
        let shape = |kind| Shape::new(ShapeRole::Angle, kind).with_side(side);
        self.push(shape(ShapeKind::Area), fan(at, &arc));
        self.push(shape(ShapeKind::Polyline), arc);
        let middle = on(0.5 * angle);
        self.label(ShapeRole::Angle, side, None, middle, middle - at, text);
    }

    /// Adds a pole: a line from a chain's middle joint to the pole, and a disc at the pole with a radius of `size`
    /// metres.
    pub fn pole(&mut self, middle: Vec3, pole: Vec3, size: f32, side: Option<Side>) {
        let shape = |kind| Shape::new(ShapeRole::Pole, kind).with_side(side);
        self.push(shape(ShapeKind::Segments), [middle, pole]);
        self.push(shape(ShapeKind::Discs { radius: size }), [pole]);
    }

    /// Adds the handles of a rig after a frame: for each goal a line from the root of the chain to the joint that it moves; a
    /// cross at the goal and the pole with its line, where they are set; and a line from the middle of the handle's to the
    /// chain's middle joint, which is the swivel. A goal that its joint did not meet has a dashed line to it, and the
    /// [state](ShapeState::of_goal) that the handle's report tells. `size` is that of crosses and discs in metres. Handles with
    /// a colour of their own have it.
    pub fn rig(&mut self, rig: &Rig, state: &RigState, pose: &Pose, size: f32) {
        for handle in rig.shapes(state, pose) {
            let shape = |role| Shape::new(role, ShapeKind::Segments);
            let start = self.shapes.len();
            let [root, end] = handle.line;
            self.push(shape(ShapeRole::Handle), [root, end]);
            self.push(shape(ShapeRole::Swivel), [0.5 * (root + end), handle.bend]);
            if let Some(goal) = handle.goal {
                self.solved_goal(&Goal::position(goal), end, &handle.report, size, None);
            }
            if let Some(pole) = handle.pole {
                self.pole(handle.bend, pole, 0.5 * size, None);
            }
            if let Some(color) = handle.color {
                self.color_from(start, color);
            }
        }
    }

    /// Adds a cast as a line from `from` to `to`. If `hit`, adds a disc at `to` with a radius of `size` metres.
    pub fn ray(&mut self, from: Vec3, to: Vec3, hit: bool, size: f32) {
        self.push(Shape::new(ShapeRole::Ray, ShapeKind::Segments), [from, to]);
        if hit {
            self.push(Shape::new(ShapeRole::Hit, ShapeKind::Discs { radius: size }), [to]);
        }
    }

    /// Adds the edges of each triangle of a mesh. Skips triangles with a vertex that is out of range or not finite.
    pub fn ground(&mut self, mesh: &TriangleMesh) {
        let edges = mesh
            .triangles
            .iter()
            .filter_map(|t| {
                let [a, b, c] = t.map(|i| mesh.positions.get(i as usize).copied().filter(|p| p.is_finite()));
                Some([a?, b?, c?])
            })
            .flat_map(|[a, b, c]| [a, b, b, c, c, a]);
        self.push(Shape::new(ShapeRole::Ground, ShapeKind::Segments), edges);
    }
}

/// The unit vector along `v`; zero if it has no direction.
fn direction(v: Vec3) -> Vec3 {
    // Scaled first, so that the squares of very long or short vectors stay in range.
    let size = v.abs().max_element();
    if size > 0.0 { (v / size).normalize_or_zero() } else { Vec3::ZERO }
}

fn cross(at: Vec3, size: f32) -> impl Iterator<Item = Vec3> {
    Vec3::AXES.into_iter().flat_map(move |axis| [at - axis * size, at + axis * size])
}

/// Points of a path at values of equal distance.
fn arc(from: f32, to: f32, on: impl Fn(f32) -> Vec3) -> [Vec3; STEPS + 1] {
    core::array::from_fn(|i| on(from + (to - from) * (i as f32 / STEPS as f32)))
}

/// Triangles from a point to each line of a path.
fn fan(at: Vec3, path: &[Vec3]) -> impl Iterator<Item = Vec3> {
    path.windows(2).flat_map(move |line| [at, line[0], line[1]])
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    #[test]
    fn an_octahedron_is_closed_and_faces_outwards() {
        let mut list = DrawList::new();
        let (from, to) = (Vec3::new(0.3, 1.0, -0.2), Vec3::new(0.1, 0.2, 0.4));
        list.bone(from, to, 0.1, Some(Side::Left), None);
        let points = list.points(&list.shapes()[0]);
        assert_eq!(points.len(), 24);
        let centre = from + (to - from) * WAIST;
        // The divergence theorem: outward faces add up to the volume of two pyramids over a square of side sqrt(2) w.
        let volume: f32 =
            points.chunks(3).map(|t| (t[0] - centre).dot((t[1] - centre).cross(t[2] - centre)) / 6.0).sum();
        let length = (to - from).length();
        let expected = 2.0 * (0.1 * length) * (0.1 * length) * length / 3.0;
        assert!((volume - expected).abs() < 1e-5 * expected.max(1e-3), "{volume} {expected}");
        for t in points.chunks(3) {
            let normal = (t[1] - t[0]).cross(t[2] - t[0]);
            assert!(normal.dot(t[0] - centre) > 0.0);
        }
    }

    #[test]
    fn what_is_not_finite_is_left_out_and_memory_is_kept() {
        let mut list = DrawList::new();
        list.ray(Vec3::ZERO, Vec3::NAN, true, 0.1);
        list.goal(Vec3::INFINITY, 0.1, Some(Side::Left));
        list.push(Shape::new(ShapeRole::Hit, ShapeKind::Discs { radius: f32::NAN }), [Vec3::X]);
        list.label(ShapeRole::Hit, None, None, Vec3::NAN, Vec3::X, "nowhere");
        list.label(ShapeRole::Hit, None, None, Vec3::X, Vec3::INFINITY, "nowhere");
        list.angle(Vec3::ZERO, [Vec3::NAN, Vec3::X], 0.1, None, "none");
        list.angle(Vec3::ZERO, [Vec3::ZERO, Vec3::X], 0.1, None, "none");
        list.axes(Vec3::ZERO, Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0), 0.1);
        assert!(list.shapes().is_empty() && list.points.is_empty());
        assert!(list.labels().is_empty() && list.texts.is_empty());
        list.bone(Vec3::ZERO, Vec3::ZERO, 0.1, Some(Side::Left), None);
        assert_eq!(list.shapes()[0].kind, ShapeKind::Segments);
        let mesh = TriangleMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 9]],
            groups: vec![],
        };
        list.ground(&mesh);
        assert_eq!(list.points(&list.shapes()[1]).len(), 6);
        let room = list.points.capacity();
        list.clear();
        assert!(list.shapes().is_empty() && list.points.capacity() == room);
    }
}
