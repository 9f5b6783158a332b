//! Pictures of a world without a graphics card: all painted meshes, far ones first.

use std::fmt::Write;

use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::{Vec2, Vec3};
use bevy_mesh::{Indices, Mesh, Mesh3d, VertexAttributeValues};
use bevy_transform::components::GlobalTransform;

use bevy_sinew::IkGround;

use crate::Painted;

/// A triangle in the world, and its colour.
type Face = ([Vec3; 3], [f32; 3]);

/// A picture of one moment or of several, in one view.
pub struct Picture {
    from: Vec3,
    middle: Vec3,
    /// Ground, which is drawn behind all else, and the rest.
    ground: Vec<Face>,
    faces: Vec<Face>,
}

/// Width and height in pixels.
const PAGE: Vec2 = Vec2::new(720.0, 480.0);

impl Picture {
    /// An empty picture, by the view's place and the middle of what is seen.
    pub fn new([from, middle]: [Vec3; 2]) -> Self {
        Self { from, middle, ground: Vec::new(), faces: Vec::new() }
    }

    /// Adds what the world shows now. `again` leaves out the ground, which is there already.
    pub fn add(&mut self, world: &mut World, again: bool) {
        let mut painted = world.query::<(&Mesh3d, &GlobalTransform, &Painted, Has<IkGround>)>();
        let meshes = world.resource::<Assets<Mesh>>();
        for (mesh, place, Painted(color), large) in painted.iter(world) {
            let Some(mesh) = meshes.get(&mesh.0) else { continue };
            let Some(VertexAttributeValues::Float32x3(positions)) = mesh.attribute(Mesh::ATTRIBUTE_POSITION)
            else {
                continue;
            };
            let points: Vec<Vec3> =
                positions.iter().map(|at| place.transform_point(Vec3::from_array(*at))).collect();
            let corners: Vec<usize> = match mesh.indices() {
                Some(Indices::U16(indices)) => indices.iter().map(|&n| n.into()).collect(),
                Some(Indices::U32(indices)) => indices.iter().map(|&n| n as usize).collect(),
                None => (0..points.len()).collect(),
            };
            if large && again {
                continue;
            }
            let list = if large { &mut self.ground } else { &mut self.faces };
            for t in corners.chunks_exact(3) {
                list.push(([points[t[0]], points[t[1]], points[t[2]]], [color.red, color.green, color.blue]));
            }
        }
    }

    /// The picture as SVG.
    pub fn svg(&self) -> String {
        let back = (self.from - self.middle).normalize();
        let right = Vec3::Y.cross(back).normalize();
        let up = back.cross(right);
        let far = self.from.distance(self.middle);
        let scale = 1.25 * PAGE.y;
        let page = |p: Vec3| {
            let seen = p - self.from;
            let depth = -seen.dot(back);
            let flat = Vec2::new(seen.dot(right), -seen.dot(up)) / depth.max(0.05);
            (depth, flat * scale + 0.5 * PAGE)
        };
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n<path d=\"M0 0H{0}V{1}H0Z\" fill=\"#fff\"/>\n",
            PAGE.x, PAGE.y
        );
        // The sun is behind the viewer's left shoulder.
        let sun = (back + 0.9 * Vec3::Y - 0.5 * right).normalize();
        for faces in [&self.ground, &self.faces] {
            let mut drawn: Vec<(f32, String)> = Vec::new();
            for (points, color) in faces {
                let normal = (points[1] - points[0]).cross(points[2] - points[0]).normalize_or_zero();
                let seen = points.map(page);
                let middle = (points[0] + points[1] + points[2]) / 3.0;
                if normal.dot(self.from - middle) <= 0.0 || seen.iter().any(|(depth, _)| *depth < 0.1) {
                    continue;
                }
                let light = 0.6 + 0.4 * normal.dot(sun).max(0.0);
                // Far things fade a little.
                let haze = ((page(middle).0 / far - 1.0) * 0.25).clamp(0.0, 0.6);
                let [r, g, b] = color.map(|c| (255.0 * (c * light * (1.0 - haze) + haze)) as u8);
                let ink = format!("#{r:02x}{g:02x}{b:02x}");
                let mut path = String::new();
                for (n, (_, at)) in seen.iter().enumerate() {
                    let _ = write!(path, "{}{:.1} {:.1}", if n == 0 { 'M' } else { 'L' }, at.x, at.y);
                }
                let line =
                    format!("<path d=\"{path}Z\" fill=\"{ink}\" stroke=\"{ink}\" stroke-width=\"0.5\"/>\n");
                drawn.push((page(middle).0, line));
            }
            drawn.sort_by(|a, b| b.0.total_cmp(&a.0));
            drawn.iter().for_each(|(_, line)| out.push_str(line));
        }
        out.push_str("</svg>\n");
        out
    }
}
