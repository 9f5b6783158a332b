//! Vertices of meshes, each with its joint of largest weight.

use std::collections::HashSet;

use sinew::Skeleton;

use crate::{FileError, SkinVertex, budget::Budget};

use super::{Document, bind::Skin, json::Place, mesh::PRIMITIVE};

/// Reads the vertices of all meshes in the scene. A vertex of a skinned mesh is in the space of its joint of largest weight,
/// one of a rigid mesh in that of its node.
pub(super) fn read(
    document: &Document,
    skeleton: &Skeleton,
    skins: &[Skin],
    budget: &Budget,
) -> Result<Vec<SkinVertex>, FileError> {
    let root = document.root();
    let mut vertices = Vec::new();
    for (node, joint) in document.tree_nodes().iter().zip(skeleton.joints()) {
        let Some(mesh) = node.get("mesh") else { continue };
        let place = mesh;
        let mesh = place.follow(&root, "meshes")?;
        place.take(
            budget,
            mesh.value().get("primitives").and_then(|p| p.as_array()).map_or(0, Vec::len),
            PRIMITIVE,
        )?;
        let skin = match node.get("skin") {
            Some(reference) => skins.get(reference.index()?),
            None => None,
        };
        // Primitives of one mesh often share vertices.
        let mut seen = HashSet::new();
        for primitive in mesh.list("primitives")? {
            let Some(attributes) = primitive.get("attributes") else { continue };
            // Accessors of compressed vertices have no valid bytes.
            if is_compressed(&primitive) || !seen.insert(attributes.value().to_string()) {
                continue;
            }
            let Some(reference) = attributes.get("POSITION") else { continue };
            let positions = document.accessor(&reference, budget)?.finite::<3>()?;
            reference.take(budget, positions.len(), size_of::<SkinVertex>())?;
            match skin {
                None => vertices.extend(positions.into_iter().map(|p| SkinVertex {
                    joint,
                    weight: 1.0,
                    position: p.into(),
                })),
                Some(skin) => {
                    let strongest = strongest(document, &attributes, skin, positions.len(), budget)?;
                    let skinned = positions.into_iter().zip(strongest).filter_map(|(p, (at, weight))| {
                        let joint = skeleton.joint_at((*skin.joints.get(at)?)?)?;
                        let position = glam::DVec3::from_array(p.map(f64::from));
                        let position = skin.inverse_bind.get(at)?.transform_point3(position).as_vec3();
                        (weight > 0.0 && position.is_finite()).then_some(SkinVertex {
                            joint,
                            weight,
                            position,
                        })
                    });
                    vertices.extend(skinned);
                }
            }
        }
    }
    Ok(vertices)
}

/// Whether a primitive's vertices are compressed by an extension.
pub(super) fn is_compressed(primitive: &Place<'_>) -> bool {
    primitive.get("extensions").is_some_and(|e| e.get("KHR_draco_mesh_compression").is_some())
}

/// For each vertex, the index in the skin of its joint of largest weight, and that weight as a share of all weights.
fn strongest(
    document: &Document,
    attributes: &Place<'_>,
    skin: &Skin,
    count: usize,
    budget: &Budget,
) -> Result<Vec<(usize, f32)>, FileError> {
    let mut best = vec![(0usize, 0.0f32); count];
    let mut sums = vec![0.0f32; count];
    for set in 0.. {
        let (joints, weights) =
            (attributes.get(&format!("JOINTS_{set}")), attributes.get(&format!("WEIGHTS_{set}")));
        let (Some(joints), Some(weights)) = (joints, weights) else { break };
        let joint_sets = document.accessor(&joints, budget)?.wholes::<4>()?;
        let weight_sets = document.accessor(&weights, budget)?.finite::<4>()?;
        for (place, length) in [(&joints, joint_sets.len()), (&weights, weight_sets.len())] {
            if length != count {
                return Err(place.error(format!("there are {length} elements for {count} vertices")));
            }
        }
        for (vertex, (four, their)) in joint_sets.iter().zip(&weight_sets).enumerate() {
            let (Some(best), Some(sum)) = (best.get_mut(vertex), sums.get_mut(vertex)) else { continue };
            for (&joint, &weight) in four.iter().zip(their) {
                if weight > 0.0 && joint as usize >= skin.joints.len() {
                    let joints_held = skin.joints.len();
                    return Err(joints.error(format!("vertex {vertex} names joint {joint} of {joints_held}")));
                }
                *sum += weight.max(0.0);
                if weight > best.1 {
                    *best = (joint as usize, weight);
                }
            }
        }
    }
    for (best, sum) in best.iter_mut().zip(sums) {
        if sum > 0.0 {
            best.1 /= sum;
        }
    }
    Ok(best)
}
