//! Shapes to draw of poses, goals, limits, rays and the ground: one list of plain shapes for every front end.
//!
//! A front end (an image, a web page, a game's gizmos) fills a [`DrawList`], iterates over it and draws each shape in a
//! style chosen by [`ShapeRole`] and [`Side`]. [`color`] is a palette for the colour-blind. The list keeps its memory
//! between frames: [`DrawList::clear`] it and fill it again.

mod limits;

use alloc::vec::Vec;
use core::ops::Range;

use glam::Vec3;

use crate::{
    JointId, Pose,
    body::Side,
    ground::TriangleMesh,
    math,
    rig::{Rig, RigState},
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
}

/// The arrangement of a shape's points.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeKind {
    /// Separate lines: two points each.
    Segments,
    /// One line through all points.
    Polyline,
    /// Filled triangles: three points each, counter-clockwise as seen from their front.
    Triangles,
    /// A filled disc around each point, facing the viewer.
    Discs {
        /// Radius in metres.
        radius: f32,
    },
}

/// One shape of a [`DrawList`], without its points; see [`DrawList::points`].
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The meaning of the shape.
    pub role: ShapeRole,
    /// The side of the body that the shape belongs to, if any.
    pub side: Option<Side>,
    /// The arrangement of the points.
    pub kind: ShapeKind,
    /// The joint that the shape belongs to, if any; for a bone, the child joint.
    pub joint: Option<JointId>,
    /// The shape's own sRGB colour, in place of that of its role.
    pub own_color: Option<[u8; 3]>,
    points: Range<u32>,
}

impl Shape {
    /// The sRGB colour: its own, or that of its role and side.
    pub const fn color(&self) -> [u8; 3] {
        match self.own_color {
            Some(own) => own,
            None => color(self.role, self.side),
        }
    }
}

/// A list of shapes in the order of adding. Points are in metres, in the space of their source: model space for a pose,
/// world space for the ground and casts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawList {
    shapes: Vec<Shape>,
    points: Vec<Vec3>,
}

/// The sRGB colour of a shape by role and side, from the colour-blind-safe palette of Okabe and Ito (2008): left blue,
/// right vermilion.
pub const fn color(role: ShapeRole, side: Option<Side>) -> [u8; 3] {
    match (role, side) {
        (ShapeRole::Bone | ShapeRole::JointMark, Some(Side::Left)) => [0x00, 0x72, 0xB2],
        (ShapeRole::Bone | ShapeRole::JointMark, Some(Side::Right)) => [0xD5, 0x5E, 0x00],
        (ShapeRole::Bone | ShapeRole::JointMark, None) => [0x4A, 0x50, 0x58],
        (ShapeRole::Goal | ShapeRole::Handle, _) => [0xCC, 0x79, 0xA7],
        (ShapeRole::Pole | ShapeRole::Swivel, _) => [0xE6, 0x9F, 0x00],
        (ShapeRole::Ray | ShapeRole::Hit, _) => [0x00, 0x9E, 0x73],
        (ShapeRole::Ground, _) => [0x6B, 0x64, 0x59],
        (ShapeRole::Limit, _) => [0x56, 0xB4, 0xE9],
        (ShapeRole::Reference, _) => [0x99, 0x99, 0x99],
    }
}

/// Position of an octahedron's widest section along its bone, as a share of the bone's length. Near the joint, so that
/// the octahedron points at the child.
const WAIST: f32 = 0.16;

impl DrawList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { shapes: Vec::new(), points: Vec::new() }
    }

    /// Removes all shapes and keeps the memory.
    pub fn clear(&mut self) {
        self.shapes.clear();
        self.points.clear();
    }

    /// All shapes, in the order of adding.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The points of a shape of this list. For a shape of another list, the points are unrelated or empty.
    pub fn points(&self, shape: &Shape) -> &[Vec3] {
        self.points.get(shape.points.start as usize..shape.points.end as usize).unwrap_or_default()
    }

    /// Adds a shape. Does nothing if there are no points or one is not finite.
    pub fn push(
        &mut self,
        role: ShapeRole,
        side: Option<Side>,
        kind: ShapeKind,
        joint: Option<JointId>,
        points: impl IntoIterator<Item = Vec3>,
    ) {
        let start = self.points.len();
        self.points.extend(points);
        let finite = self.points.iter().skip(start).all(|p| p.is_finite());
        match (u32::try_from(start), u32::try_from(self.points.len())) {
            (Ok(a), Ok(b)) if a < b && finite => {
                self.shapes.push(Shape { role, side, kind, joint, own_color: None, points: a..b });
            }
            _ => self.points.truncate(start),
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
            self.push(ShapeRole::JointMark, side, ShapeKind::Discs { radius }, Some(joint), [at]);
        }
    }

    /// Adds one bone as an octahedron that points from `from` to `to`; see [`DrawList::bones`].
    pub fn bone(&mut self, from: Vec3, to: Vec3, thickness: f32, side: Option<Side>, joint: Option<JointId>) {
        let along = to - from;
        let length = along.length();
        if thickness <= 0.0 || length <= 0.0 {
            return self.push(ShapeRole::Bone, side, ShapeKind::Segments, joint, [from, to]);
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
        self.push(ShapeRole::Bone, side, ShapeKind::Triangles, joint, corners);
    }

    /// Adds a goal as a cross of three lines, `size` metres from the centre to each end.
    pub fn goal(&mut self, position: Vec3, size: f32, side: Option<Side>) {
        let arms = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * size);
        let ends = arms.into_iter().flat_map(|arm| [position - arm, position + arm]);
        self.push(ShapeRole::Goal, side, ShapeKind::Segments, None, ends);
    }

    /// Adds a pole: a line from a chain's middle joint to the pole, and a disc at the pole with a radius of `size`
    /// metres.
    pub fn pole(&mut self, middle: Vec3, pole: Vec3, size: f32, side: Option<Side>) {
        self.push(ShapeRole::Pole, side, ShapeKind::Segments, None, [middle, pole]);
        self.push(ShapeRole::Pole, side, ShapeKind::Discs { radius: size }, None, [pole]);
    }

    /// Adds the handles of a rig after a frame: for each goal a line from the root of the chain to the joint that it moves; a
    /// cross at the goal and the pole with its line, where they are set; and a line from the middle of the handle's to the
    /// chain's middle joint, which is the swivel. `size` is that of crosses and discs in metres. Handles with a colour of
    /// their own have it.
    pub fn rig(&mut self, rig: &Rig, state: &RigState, pose: &Pose, size: f32) {
        for shape in rig.shapes(state, pose) {
            let start = self.shapes.len();
            self.push(ShapeRole::Handle, None, ShapeKind::Segments, None, shape.line);
            let middle = 0.5 * (shape.line[0] + shape.line[1]);
            self.push(ShapeRole::Swivel, None, ShapeKind::Segments, None, [middle, shape.bend]);
            if let Some(goal) = shape.goal {
                self.goal(goal, size, None);
            }
            if let Some(pole) = shape.pole {
                self.pole(shape.bend, pole, 0.5 * size, None);
            }
            self.shapes[start..].iter_mut().for_each(|s| s.own_color = shape.color);
        }
    }

    /// Adds a cast as a line from `from` to `to`. If `hit`, adds a disc at `to` with a radius of `size` metres.
    pub fn ray(&mut self, from: Vec3, to: Vec3, hit: bool, size: f32) {
        self.push(ShapeRole::Ray, None, ShapeKind::Segments, None, [from, to]);
        if hit {
            self.push(ShapeRole::Hit, None, ShapeKind::Discs { radius: size }, None, [to]);
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
        self.push(ShapeRole::Ground, None, ShapeKind::Segments, None, edges);
    }
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
        assert!(list.shapes().is_empty() && list.points.is_empty());
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
