//! Triangle meshes to stand on.

use alloc::vec::Vec;

use glam::{Affine3, DVec3, Vec3};
use thiserror::Error;

/// Error in a mesh.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No triangle has an area.
    #[error("a ground mesh needs at least one triangle with an area")]
    Empty,
    /// A triangle refers to a vertex that does not exist.
    #[error("triangle {triangle} refers to vertex {vertex}, but the mesh has {count} vertices")]
    NoSuchVertex {
        /// Index of the triangle.
        triangle: usize,
        /// Index that the triangle refers to.
        vertex: u32,
        /// Number of vertices.
        count: usize,
    },
    /// A vertex is not finite.
    #[error("vertex {vertex} is not finite: {position}")]
    NotFinite {
        /// Index of the vertex.
        vertex: usize,
        /// Its position.
        position: Vec3,
    },
    /// The number of groups differs from that of triangles.
    #[error("a mesh of {triangles} triangles must have as many groups, or none, not {groups}")]
    Groups {
        /// Number of groups.
        groups: usize,
        /// Number of triangles.
        triangles: usize,
    },
}

/// Triangle mesh in world space. Counter-clockwise corners face the viewer.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct TriangleMesh {
    /// Positions of the vertices, in metres.
    pub positions: Vec<Vec3>,
    /// Triangles, as three vertex indices each.
    pub triangles: Vec<[u32; 3]>,
    /// Groups of each triangle, for [`super::Filter::groups`]; empty if every triangle is in every group.
    pub groups: Vec<u32>,
}

impl TriangleMesh {
    /// Checks the mesh. Returns an error for the first invalid vertex or triangle, for a wrong number of groups, and if
    /// no triangle has an area.
    pub fn check(&self) -> Result<(), MeshError> {
        let count = self.positions.len();
        for (vertex, &position) in self.positions.iter().enumerate() {
            if !position.is_finite() {
                return Err(MeshError::NotFinite { vertex, position });
            }
        }
        if !self.groups.is_empty() && self.groups.len() != self.triangles.len() {
            return Err(MeshError::Groups { groups: self.groups.len(), triangles: self.triangles.len() });
        }
        let mut any = false;
        for (triangle, corners) in self.triangles.iter().enumerate() {
            for &vertex in corners {
                if vertex as usize >= count {
                    return Err(MeshError::NoSuchVertex { triangle, vertex, count });
                }
            }
            let [a, b, c] = corners.map(|i| self.positions[i as usize]);
            any |= face_normal([a, b, c].map(Vec3::as_dvec3)).is_some();
        }
        if any { Ok(()) } else { Err(MeshError::Empty) }
    }

    /// Adds a triangle. Vertices are not shared with other triangles.
    pub fn push(&mut self, corners: [Vec3; 3]) {
        let at = self.positions.len() as u32;
        self.positions.extend(corners);
        self.triangles.push([at, at + 1, at + 2]);
    }

    /// Adds a quadrilateral as two triangles, corners counter-clockwise.
    pub fn push_quad(&mut self, [a, b, c, d]: [Vec3; 4]) {
        let at = self.positions.len() as u32;
        self.positions.extend([a, b, c, d]);
        self.triangles.extend([[at, at + 1, at + 2], [at, at + 2, at + 3]]);
    }

    /// Returns the mesh under an affine transform. A mirroring transform reverses the order of corners, so that
    /// triangles keep facing outward.
    pub fn transformed(&self, transform: &Affine3) -> Self {
        let mut mesh = self.clone();
        for position in &mut mesh.positions {
            *position = transform.transform_point3(*position);
        }
        if transform.matrix3.determinant() < 0.0 {
            for corners in &mut mesh.triangles {
                corners.swap(1, 2);
            }
        }
        mesh
    }

    /// Appends another mesh's triangles.
    pub fn append(&mut self, other: &Self) {
        let grouped = !self.groups.is_empty() || !other.groups.is_empty();
        if grouped {
            self.groups.resize(self.triangles.len(), u32::MAX);
        }
        let at = self.positions.len() as u32;
        self.positions.extend_from_slice(&other.positions);
        self.triangles.extend(other.triangles.iter().map(|corners| corners.map(|i| i.saturating_add(at))));
        if grouped {
            self.groups.extend_from_slice(&other.groups);
            self.groups.resize(self.triangles.len(), u32::MAX);
        }
    }

    /// Smallest and largest coordinates of the vertices, in metres; `None` without vertices.
    pub fn bounds(&self) -> Option<(Vec3, Vec3)> {
        let first = *self.positions.first()?;
        Some(self.positions.iter().fold((first, first), |(lo, hi), &p| (lo.min(p), hi.max(p))))
    }
}

/// Unit normal of a triangle, towards the viewer who sees its corners counter-clockwise; `None` without area. In `f64`,
/// so that triangles of a micrometre have an area too.
pub(super) fn face_normal([a, b, c]: [DVec3; 3]) -> Option<DVec3> {
    (b - a).cross(c - a).try_normalize()
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;

    fn triangle() -> TriangleMesh {
        let mut mesh = TriangleMesh::default();
        mesh.push([Vec3::ZERO, Vec3::Z, Vec3::X]);
        mesh
    }

    fn normal(mesh: &TriangleMesh, triangle: usize) -> DVec3 {
        face_normal(mesh.triangles[triangle].map(|i| mesh.positions[i as usize].as_dvec3())).unwrap()
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(TriangleMesh::default().check(), Err(MeshError::Empty));
        assert_eq!(triangle().check(), Ok(()));
        let mut mesh = triangle();
        mesh.triangles.push([0, 7, 1]);
        assert_eq!(mesh.check(), Err(MeshError::NoSuchVertex { triangle: 1, vertex: 7, count: 3 }));
        let mut mesh = triangle();
        mesh.positions[1].y = f32::NAN;
        assert!(matches!(mesh.check(), Err(MeshError::NotFinite { vertex: 1, .. })));
        let mut mesh = triangle();
        mesh.positions[1] = Vec3::X * 2.0;
        assert_eq!(mesh.check(), Err(MeshError::Empty));
        let mut mesh = triangle();
        mesh.groups = vec![1, 2];
        assert_eq!(mesh.check(), Err(MeshError::Groups { groups: 2, triangles: 1 }));
    }

    #[test]
    fn mirroring_keeps_the_outside_outside() {
        assert_eq!(normal(&triangle(), 0), DVec3::Y);
        let mirror = Affine3::from_scale(Vec3::new(-2.0, 1.0, 1.0));
        let mesh = triangle().transformed(&mirror);
        assert_eq!(normal(&mesh, 0), DVec3::Y);
        assert_eq!(mesh.bounds(), Some((Vec3::new(-2.0, 0.0, 0.0), Vec3::Z)));
    }

    #[test]
    fn appended_triangles_keep_their_places_and_groups() {
        let mut mesh = triangle();
        let mut other = triangle().transformed(&Affine3::from_translation(Vec3::Y));
        other.groups = vec![4];
        mesh.append(&other);
        assert_eq!(mesh.groups, [u32::MAX, 4]);
        assert_eq!(mesh.triangles[1].map(|i| mesh.positions[i as usize].y), [1.0; 3]);
        assert_eq!(mesh.check(), Ok(()));
    }
}
