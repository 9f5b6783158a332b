//! Skins and their bind pose.

use glam::{DAffine3, DMat4};
use sinew::{
    JointTransform, Skeleton,
    body::{self, BindProblem},
};

use crate::{FileError, budget::Budget, shorten};

use super::Document;

/// Skin of a document.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// For each joint, its place in the tree; `None` if it is not in the scene.
    pub joints: Vec<Option<usize>>,
    /// For each joint, the transform from the mesh's space to the joint's local space in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
    /// Places of the nodes whose meshes have this skin.
    meshes: Vec<usize>,
}

/// Reads all skins of the document, in its order.
pub(super) fn read_skins(document: &Document, budget: &Budget) -> Result<Vec<Skin>, FileError> {
    /// Bytes counted for each joint: its matrices, and the time of the search for the bind pose.
    const JOINT: usize = 1024;
    let root = document.root();
    let mut skins = Vec::new();
    for place in root.list("skins")? {
        let list = place.need("joints")?;
        list.take(budget, list.value().as_array().map_or(0, Vec::len), JOINT)?;
        let mut joints = Vec::new();
        for joint in place.list("joints")? {
            joint.follow(&root, "nodes")?;
            joints.push(document.joint_of_node(joint.index()?));
        }
        if joints.is_empty() {
            return Err(list.error("a skin needs at least one joint"));
        }
        let inverse_bind = match place.get("inverseBindMatrices") {
            None => vec![DAffine3::IDENTITY; joints.len()],
            Some(reference) => {
                let accessor = document.accessor(&reference, budget)?;
                if accessor.count < joints.len() {
                    let (have, want) = (accessor.count, joints.len());
                    return Err(reference.error(format!("there are {have} matrices for {want} joints")));
                }
                let matrix = |m: [f32; 16]| DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)));
                accessor.finite::<16>()?.into_iter().take(joints.len()).map(matrix).collect()
            }
        };
        skins.push(Skin { joints, inverse_bind, meshes: Vec::new() });
    }
    for (place, node) in document.tree_nodes().iter().enumerate() {
        let Some(reference) = node.get("skin") else { continue };
        let skin = reference.follow(&root, "skins")?;
        let Some(skin_read) = skins.get_mut(reference.index()?) else { continue };
        if skin_read.joints.iter().all(Option::is_none) {
            return Err(skin.error("none of the skin's joints is in the scene"));
        }
        skin_read.meshes.push(place);
    }
    Ok(skins)
}

/// The bind pose of the skins, with long names shortened. `frames` are the joints' transforms in the rest pose, in the
/// scene's space.
pub(super) fn locals(
    skeleton: &Skeleton,
    skins: &[Skin],
    frames: &[DAffine3],
) -> (Vec<JointTransform>, Vec<BindProblem>) {
    let skins: Vec<body::Skin> = (skins.iter())
        .map(|skin| body::Skin {
            joints: skin.joints.iter().map(|place| skeleton.joint_at((*place)?)).collect(),
            inverse_bind: skin.inverse_bind.clone(),
            nodes: skin.meshes.iter().filter_map(|&place| frames.get(place).copied()).collect(),
        })
        .collect();
    let (locals, mut problems) = body::bind_locals(skeleton, frames, &skins);
    problems.iter_mut().for_each(|problem| problem.name = shorten(&problem.name));
    (locals, problems)
}
