//! `extensionsRequired`: what a document says that it cannot be read without.

use crate::{FileError, text::shorten};

use super::json::Place;

/// Extensions that store vertices or animations in a way that is not decoded here.
const COMPRESSION: [&str; 3] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Extensions that are decoded here (quantised vertices are accessors like any other), and those that neither move a joint
/// nor a vertex of what is read.
const READ: [&str; 11] = [
    "KHR_mesh_quantization",
    "VRM",
    "VRMC_vrm",
    // Bones that swing or follow others while a figure is shown; its skeleton and clips are whole without them.
    "VRMC_springBone",
    "VRMC_springBone_extended_collider",
    "VRMC_node_constraint",
    "KHR_techniques_webgl",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
];

/// What the names of extensions begin with that concern only materials, textures and lights.
const LOOKS: [&str; 10] = [
    "KHR_materials_",
    "EXT_materials_",
    "ADOBE_materials_",
    "VRMC_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_",
    "GOOGLE_texture_",
    "KHR_lights_",
    "EXT_lights_",
];

/// An error for the first required extension without which the document would be read wrongly.
pub(super) fn check(root: &Place<'_>) -> Result<(), FileError> {
    for place in root.list("extensionsRequired")? {
        let name = place.text()?;
        if COMPRESSION.contains(&name) {
            return Err(place.error(format!(
                "`{name}` compresses what the file holds, which is not decoded here; save the file without it"
            )));
        }
        if !READ.contains(&name) && !LOOKS.iter().any(|start| name.starts_with(start)) {
            let what =
                format!("`{}` is not known here, and the file cannot be read without it", shorten(name));
            return Err(place.error(what));
        }
    }
    Ok(())
}
