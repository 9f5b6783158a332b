//! Triangles to stand on.

use alloc::vec::Vec;

use glam::Vec3;
use thiserror::Error;

/// What is wrong with a mesh.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// There is no triangle of any area.
    #[error("a ground needs at least one triangle that has an area")]
    Empty,
    /// A corner names a vertex that there is not.
    #[error("triangle {triangle} names vertex {vertex}, but there are {count}")]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// The vertex asked for.
        vertex: u32,
        /// How many there are.
        count: usize,
    },
    /// A vertex is not finite.
    #[error("vertex {vertex} is not finite: {position}")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its place.
        position: Vec3,
    },
}

/// Triangles in world space; counter-clockwise corners face the viewer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TriangleMesh {
    /// Vertices in metres.
    pub positions: Vec<Vec3>,
    /// Three indices a triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Groups of each triangle, for [`super::Filter::groups`]; empty where all are in every group.
    pub groups: Vec<u32>,
}

impl TriangleMesh {
    /// An error that names the first vertex or triangle that is not valid.
    pub fn check(&self) -> Result<(), MeshError> {
        let count = self.positions.len();
        for (vertex, &position) in self.positions.iter().enumerate() {
            if !position.is_finite() {
                return Err(MeshError::NotFinite { vertex, position });
            }
        }
        let mut any = false;
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for &vertex in corners {
                if vertex as usize >= count {
                    return Err(MeshError::NoSuchVertex { triangle, vertex, count });
                }
            }
            let [a, b, c] = corners.map(|i| self.positions[i as usize]);
            any |= (b - a).cross(c - a).length_squared() > 0.0;
        }
        if any { Ok(()) } else { Err(MeshError::Empty) }
    }

    /// Adds a triangle.
    pub fn push(&mut self, corners: [Vec3; 3]) {
        let at = self.positions.len() as u32;
        self.positions.extend(corners);
        self.triangles.push([at, at + 1, at + 2]);
    }

    /// Adds a quadrilateral of two triangles, corners counter-clockwise.
    pub fn push_quad(&mut self, [a, b, c, d]: [Vec3; 4]) {
        let at = self.positions.len() as u32;
        self.positions.extend([a, b, c, d]);
        self.triangles.extend([[at, at + 1, at + 2], [at, at + 2, at + 3]]);
    }

    /// Smallest and largest coordinates of the vertices; none without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }
}
