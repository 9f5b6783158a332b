//! Triangles of a document's rigid meshes.

use glam::Vec3;
use sinew::ground::TriangleMesh;

use crate::{FileError, budget::Budget};

use super::{Document, json::Place, placement, skin};

/// Bytes counted for each primitive of each node, which stand for the time that it takes.
pub(super) const PRIMITIVE: usize = 1024;

impl Document {
    /// Triangles of the default scene's rigid meshes, transformed by their nodes, in metres, Y up. Skinned meshes, whose
    /// positions depend on a pose, are left out. Triangles of mirrored nodes keep their outside.
    ///
    /// # Errors
    /// Compressed meshes, invalid accessors or indices, positions that are not finite, and content over the memory budget.
    pub fn triangles(&self) -> Result<TriangleMesh, FileError> {
        let budget = &self.budget.clone();
        let root = self.root();
        let nodes = self.tree_nodes();
        let locals = nodes.iter().map(placement::affine).collect::<Result<Vec<_>, _>>()?;
        let frames = placement::global(&self.tree, &locals);
        let mut all = TriangleMesh::default();
        for (node, frame) in nodes.iter().zip(&frames) {
            let Some(mesh) = node.get("mesh").filter(|_| node.get("skin").is_none()) else { continue };
            let mirrored = frame.matrix3.determinant() < 0.0;
            let place = mesh;
            let mesh = place.follow(&root, "meshes")?;
            let primitives = mesh.list("primitives")?;
            place.take(budget, primitives.len(), PRIMITIVE)?;
            for primitive in primitives {
                if skin::is_compressed(&primitive) {
                    return Err(primitive
                        .error("the mesh is compressed (KHR_draco_mesh_compression), which is not read"));
                }
                let Some(reference) = primitive.get("attributes").and_then(|a| a.get("POSITION")) else {
                    continue;
                };
                let positions = self.accessor(&reference, budget)?.finite::<3>()?;
                let first = all.positions.len();
                if first + positions.len() > u32::MAX as usize {
                    return Err(reference.error("there are more vertices than 32 bits count"));
                }
                let indices = self.indices(&primitive, positions.len(), budget)?;
                all.positions.extend(
                    positions.into_iter().map(|p| -> Vec3 {
                        frame.transform_point3(Vec3::from_array(p).as_dvec3()).as_vec3()
                    }),
                );
                let triangles = assemble(&primitive, &indices)?;
                place.take(budget, triangles.len(), size_of::<[u32; 3]>())?;
                all.triangles.extend(triangles.into_iter().map(|[a, b, c]| {
                    let corners = if mirrored { [a, c, b] } else { [a, b, c] };
                    corners.map(|i| i + first as u32)
                }));
            }
        }
        Ok(all)
    }

    /// The vertex indices of a primitive. An index of `count` or more is an error.
    fn indices(&self, primitive: &Place<'_>, count: usize, budget: &Budget) -> Result<Vec<u32>, FileError> {
        let Some(reference) = primitive.get("indices") else {
            primitive.take(budget, count, size_of::<u32>())?;
            return Ok((0..count as u32).collect());
        };
        let indices = self.accessor(&reference, budget)?.wholes::<1>()?;
        match indices.iter().position(|[i]| *i as usize >= count) {
            Some(at) => {
                let [index] = indices[at];
                Err(reference.error(format!("index {at} is {index}, but there are {count} vertices, from 0")))
            }
            None => Ok(indices.into_iter().map(|[i]| i).collect()),
        }
    }
}

/// Triangles of a list, strip or fan; empty for points and lines.
fn assemble(primitive: &Place<'_>, indices: &[u32]) -> Result<Vec<[u32; 3]>, FileError> {
    const TRIANGLES: u64 = 4;
    const STRIP: u64 = 5;
    const FAN: u64 = 6;
    Ok(match primitive.unsigned_or("mode", TRIANGLES)? {
        TRIANGLES => indices.as_chunks::<3>().0.to_vec(),
        // Every other triangle of a strip has the opposite winding.
        STRIP => (indices.windows(3).enumerate())
            .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
            .collect(),
        FAN => match indices.split_first() {
            Some((&hub, rim)) => rim.windows(2).map(|w| [hub, w[0], w[1]]).collect(),
            None => Vec::new(),
        },
        _ => Vec::new(),
    })
}
