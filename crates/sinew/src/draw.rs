//! What there is to see of poses, goals, rays and the ground: one list of plain shapes that every front end draws.
//!
//! A front end (a picture, a page, a game's gizmos) asks for shapes, goes through the list and draws each with its own
//! brush, chosen by [`ShapeRole`] and [`Side`]; [`color`] has a choice that the colour-blind can tell apart. The list keeps its
//! memory between frames: [`DrawList::clear`] it and fill it again.

mod limits;

use alloc::vec::Vec;
use core::ops::Range;

use glam::Vec3;

use crate::{JointId, Pose, body::Side, ground::TriangleMesh, math};

/// What a shape stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ShapeRole {
    /// A bone, from a joint to its child.
    Bone,
    /// The place of a joint.
    JointMark,
    /// Where a chain's end is asked to be.
    Goal,
    /// Where a chain's middle turns towards.
    Pole,
    /// The way of a cast.
    Ray,
    /// Where a cast met a surface.
    Hit,
    /// The ground.
    Ground,
    /// The bounds of a joint's freedom.
    Limit,
    /// The line that the bounds of a joint are measured from.
    Reference,
}

/// How a shape's points make lines or areas.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeKind {
    /// Each two points are a line of their own.
    Segments,
    /// One line through all points.
    Polyline,
    /// Each three points are a filled triangle; counter-clockwise corners face the viewer.
    Triangles,
    /// A filled disc around each point that faces the viewer.
    Discs {
        /// Radius in the points' unit.
        radius: f32,
    },
}

/// One shape of a [`DrawList`], without its points.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// What it stands for.
    pub role: ShapeRole,
    /// Which half of the body it belongs to, where it belongs to one.
    pub side: Option<Side>,
    /// How its points are to be read.
    pub kind: ShapeKind,
    /// The joint that it belongs to, where there is one: for a bone the child at its end.
    pub joint: Option<JointId>,
    points: Range<u32>,
}

/// Shapes in the order in which they were added. Points are in metres, in the space of what they were made from: model
/// space for a pose, world space for the ground and for casts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DrawList {
    shapes: Vec<Shape>,
    points: Vec<Vec3>,
}

/// An sRGB colour that tells roles and sides apart, for the colour-blind as well: the set of Okabe and Ito (2008), left
/// blue and right vermilion.
pub const fn color(role: ShapeRole, side: Option<Side>) -> [u8; 3] {
    match (role, side) {
        (ShapeRole::Bone | ShapeRole::JointMark, Some(Side::Left)) => [0x00, 0x72, 0xB2],
        (ShapeRole::Bone | ShapeRole::JointMark, Some(Side::Right)) => [0xD5, 0x5E, 0x00],
        (ShapeRole::Bone | ShapeRole::JointMark, None) => [0x4A, 0x50, 0x58],
        (ShapeRole::Goal, _) => [0xCC, 0x79, 0xA7],
        (ShapeRole::Pole, _) => [0xE6, 0x9F, 0x00],
        (ShapeRole::Ray | ShapeRole::Hit, _) => [0x00, 0x9E, 0x73],
        (ShapeRole::Ground, _) => [0x6B, 0x64, 0x59],
        (ShapeRole::Limit, _) => [0x56, 0xB4, 0xE9],
        (ShapeRole::Reference, _) => [0x99, 0x99, 0x99],
    }
}

/// How far along a bone its octahedron is widest, as a share of its length: near the joint, so that it points at the child.
const WAIST: f32 = 0.16;

impl DrawList {
    /// An empty list.
    pub const fn new() -> Self {
        Self { shapes: Vec::new(), points: Vec::new() }
    }

    /// Takes every shape out and keeps the memory.
    pub fn clear(&mut self) {
        self.shapes.clear();
        self.points.clear();
    }

    /// The shapes, in the order in which they were added.
    pub fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// A shape's points. A shape of another list may get an empty slice.
    pub fn points(&self, shape: &Shape) -> &[Vec3] {
        self.points.get(shape.points.start as usize..shape.points.end as usize).unwrap_or_default()
    }

    /// Adds a shape. One with a point that is not finite is left out, as is one without points.
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
                self.shapes.push(Shape { role, side, kind, joint, points: a..b });
            }
            _ => self.points.truncate(start),
        }
    }

    /// The bones of a pose, each as an octahedron from a joint to its child, and a disc at each end, in model space.
    ///
    /// `bones` names joints whose bone to the parent is wanted, with the half of the body that each is of; joints without
    /// a parent get a disc alone. `thickness` is an octahedron's largest half width as a share of its bone's length; 0
    /// makes plain segments.
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

    /// One bone as an octahedron that points from `from` to `to`; see [`DrawList::bones`].
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

    /// A cross of three lines, `size` metres from its middle to each end.
    pub fn goal(&mut self, position: Vec3, size: f32, side: Option<Side>) {
        let arms = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| axis * size);
        let ends = arms.into_iter().flat_map(|arm| [position - arm, position + arm]);
        self.push(ShapeRole::Goal, side, ShapeKind::Segments, None, ends);
    }

    /// A line from a chain's middle joint towards the pole, with a disc at the pole.
    pub fn pole(&mut self, middle: Vec3, pole: Vec3, size: f32, side: Option<Side>) {
        self.push(ShapeRole::Pole, side, ShapeKind::Segments, None, [middle, pole]);
        self.push(ShapeRole::Pole, side, ShapeKind::Discs { radius: size }, None, [pole]);
    }

    /// The way of a cast, and where it met a surface a disc of `size` metres.
    pub fn ray(&mut self, from: Vec3, to: Vec3, hit: bool, size: f32) {
        self.push(ShapeRole::Ray, None, ShapeKind::Segments, None, [from, to]);
        if hit {
            self.push(ShapeRole::Hit, None, ShapeKind::Discs { radius: size }, None, [to]);
        }
    }

    /// The edges of a mesh, each triangle's for itself. Triangles that name a vertex that there is not are left out.
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
