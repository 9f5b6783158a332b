//! Skinned triangle mesh, in parts of one colour each.

use glam::Vec3;
use sinew::JointId;

/// Colour of a matt material.
#[derive(Clone, Debug, PartialEq)]
pub struct Color {
    /// Name of the material.
    pub name: &'static str,
    /// Red, green and blue, linear, 0 to 1.
    pub rgb: [f32; 3],
    /// Roughness, from 0 (mirror) to 1 (chalk).
    pub roughness: f32,
}

/// Vertex of a skinned mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Position in model space in the rest pose, in metres.
    pub position: Vec3,
    /// Unit vector out of the surface, in model space.
    pub normal: Vec3,
    /// Joints that the vertex is skinned to, with weights that sum to 1. A joint of weight 0 has no effect.
    pub joints: [(JointId, f32); 4],
}

/// Triangles of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Colour of the triangles.
    pub color: Color,
    /// Vertices.
    pub vertices: Vec<Vertex>,
    /// Triangles, as indices into `vertices`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// Skinned mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Parts, one per colour.
    pub parts: Vec<Part>,
}

impl Mesh {
    /// An empty mesh.
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// The part with this colour, which is added if there is none. The name identifies the colour.
    pub fn part(&mut self, color: &Color) -> &mut Part {
        let at = self.parts.iter().position(|p| p.color.name == color.name).unwrap_or_else(|| {
            self.parts.push(Part { color: color.clone(), vertices: Vec::new(), triangles: Vec::new() });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// Number of vertices of all parts.
    pub fn vertex_count(&self) -> usize {
        self.parts.iter().map(|p| p.vertices.len()).sum()
    }
}

/// The four joints of largest weight, with weights that sum to exactly 1. Repeated joints are merged. Without weights,
/// `fallback` has weight 1.
pub(crate) fn normalized(weights: &[(JointId, f32)], fallback: JointId) -> [(JointId, f32); 4] {
    let mut merged: Vec<(JointId, f32)> = Vec::with_capacity(weights.len());
    for &(joint, weight) in weights {
        // A weight below 0.001 has no visible effect and would take a slot.
        if weight.is_nan() || weight < 1e-3 {
            continue;
        }
        match merged.iter_mut().find(|m| m.0 == joint) {
            Some(m) => m.1 += weight,
            None => merged.push((joint, weight)),
        }
    }
    merged.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    merged.truncate(4);
    let sum: f32 = merged.iter().map(|m| m.1).sum();
    let mut out = [(fallback, 0.0); 4];
    for (o, m) in out.iter_mut().zip(&merged) {
        *o = (m.0, m.1 / sum);
    }
    // The largest weight takes the rounding error.
    out[0].1 = 1.0 - out[1].1 - out[2].1 - out[3].1;
    out
}
