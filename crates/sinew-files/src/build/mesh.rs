//! A skinned triangle mesh, in parts of one colour each.

use glam::Vec3;
use sinew::JointId;

/// A matt colour: red, green and blue from 0 to 1, linear as glTF's factors are.
#[derive(Clone, Debug, PartialEq)]
pub struct Color {
    /// The material's name.
    pub name: &'static str,
    /// Linear red, green, blue.
    pub rgb: [f32; 3],
    /// 0 for a mirror, 1 for chalk.
    pub roughness: f32,
}

/// One corner of a skinned mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vertex {
    /// Place in model space in the rest pose, in metres.
    pub position: Vec3,
    /// Unit vector out of the surface, in model space.
    pub normal: Vec3,
    /// Joints that carry it, with their weights; the weights sum to 1. A joint of weight 0 carries nothing.
    pub joints: [(JointId, f32); 4],
}

/// Triangles of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Their colour.
    pub color: Color,
    /// Corners.
    pub vertices: Vec<Vertex>,
    /// Indices into `vertices`, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
}

/// A skinned mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// One part a colour.
    pub parts: Vec<Part>,
}

impl Mesh {
    /// No triangle yet.
    pub const fn new() -> Self {
        Self { parts: Vec::new() }
    }

    /// The part with this colour, made where there is none. Colours are told apart by name.
    pub fn part(&mut self, color: &Color) -> &mut Part {
        let at = self.parts.iter().position(|p| p.color.name == color.name).unwrap_or_else(|| {
            self.parts.push(Part { color: color.clone(), vertices: Vec::new(), triangles: Vec::new() });
            self.parts.len() - 1
        });
        &mut self.parts[at]
    }

    /// How many corners all parts have.
    pub fn vertex_count(&self) -> usize {
        self.parts.iter().map(|p| p.vertices.len()).sum()
    }
}

/// At most four joints with weights that sum to 1 exactly as a validator adds them: the lightest are dropped, doubles are
/// merged. No joint, or no weight at all, leaves `fallback` with all of it.
pub(crate) fn normalized(weights: &[(JointId, f32)], fallback: JointId) -> [(JointId, f32); 4] {
    let mut merged: Vec<(JointId, f32)> = Vec::with_capacity(weights.len());
    for &(joint, weight) in weights {
        // A weight under a thousandth moves nothing that can be seen and would cost a slot.
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
    // What rounding left over goes to the heaviest.
    out[0].1 = 1.0 - out[1].1 - out[2].1 - out[3].1;
    out
}
