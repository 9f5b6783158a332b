//! Transforms of nodes.

use glam::{DAffine3, DMat4, Quat, Vec3};
use sinew::{JointTransform, math};

use crate::FileError;

use super::{json::Place, tree::Tree};

/// The node's local transform, with shear.
pub(super) fn affine(node: &Place<'_>) -> Result<DAffine3, FileError> {
    if let Some(matrix) = node.get("matrix") {
        return Ok(DAffine3::from_mat4(DMat4::from_cols_array(&matrix.numbers()?)));
    }
    Ok(parts(node)?.to_affine64())
}

/// The node's local transform as translation, rotation and scale. A matrix with shear is decomposed as by
/// [`JointTransform::nearest`].
pub(super) fn transform(node: &Place<'_>) -> Result<JointTransform, FileError> {
    match node.get("matrix") {
        Some(_) => Ok(JointTransform::nearest(&affine(node)?)),
        None => parts(node),
    }
}

fn parts(node: &Place<'_>) -> Result<JointTransform, FileError> {
    let vec3 = |v: [f64; 3]| Vec3::from_array(v.map(|x| x as f32));
    let rotation = match node.get("rotation") {
        None => Quat::IDENTITY,
        Some(place) => {
            let q = Quat::from_array(place.numbers()?.map(|x| x as f32));
            unit(q).map_err(|what| place.error(what))?
        }
    };
    Ok(JointTransform {
        translation: vec3(node.numbers_or("translation", [0.0; 3])?),
        rotation,
        scale: vec3(node.numbers_or("scale", [1.0; 3])?),
    })
}

/// The rotation normalised, or a description of its error if its squared length is out of range.
pub(super) fn unit(q: Quat) -> Result<Quat, String> {
    math::unit(q).ok_or_else(|| {
        let squared = math::dot(q, q);
        format!("the rotation {q} has the squared length {squared}; 0.25 to 4 is allowed, and is normalised")
    })
}

/// Every node's transform in the scene's space, in the tree's order.
pub(super) fn global(tree: &Tree, local: &[DAffine3]) -> Vec<DAffine3> {
    let mut frames: Vec<DAffine3> = Vec::with_capacity(local.len());
    for (place, l) in local.iter().enumerate() {
        let parent = tree.parents.get(place).copied().flatten().and_then(|p| frames.get(p));
        frames.push(parent.map_or(*l, |p| *p * *l));
    }
    frames
}
