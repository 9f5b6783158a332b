//! Humanoid roles that a VRM declares.

use sinew::{JointId, Skeleton};

use crate::FileError;

use super::{Document, json::Place};

/// Reads the roles by VRM 1.0's names, from the extension of VRM 1.0, or else of VRM 0.x. Empty without either.
pub(super) fn roles(document: &Document, skeleton: &Skeleton) -> Result<Vec<(String, JointId)>, FileError> {
    let root = document.root();
    let Some(extensions) = root.get("extensions") else { return Ok(Vec::new()) };
    let mut roles = Vec::new();
    let mut add = |name: &str, node: &Place<'_>| {
        // Editors for VRM 0.x write -1 for a bone without a node.
        if node.value().as_i64().is_some_and(|n| n < 0) {
            return Ok(());
        }
        node.follow(&root, "nodes")?;
        let joint = document.joint_of_node(node.index()?).and_then(|place| skeleton.joint_at(place));
        roles.extend(joint.map(|joint| (name.to_owned(), joint)));
        Ok::<(), FileError>(())
    };
    if let Some(humanoid) = extensions.get("VRMC_vrm").and_then(|v| v.get("humanoid")) {
        for (name, bone) in humanoid.members("humanBones")? {
            add(name, &bone.need("node")?)?;
        }
    } else if let Some(humanoid) = extensions.get("VRM").and_then(|v| v.get("humanoid")) {
        for bone in humanoid.list("humanBones")? {
            let name = bone.need("bone")?.text()?;
            add(name_of(name), &bone.need("node")?)?;
        }
    }
    Ok(roles)
}

/// VRM 1.0's name for a bone of VRM 0.x. Only the thumbs differ: 0.x calls the metacarpal bone proximal.
fn name_of(name: &str) -> &str {
    match name {
        "leftThumbProximal" => "leftThumbMetacarpal",
        "leftThumbIntermediate" => "leftThumbProximal",
        "rightThumbProximal" => "rightThumbMetacarpal",
        "rightThumbIntermediate" => "rightThumbProximal",
        other => other,
    }
}
