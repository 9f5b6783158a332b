//! Check of a document's required extensions (`extensionsRequired`).

use crate::{FileError, text::shorten};

use super::json::Place;

/// Extensions that compress vertices or animations, which are not decoded here.
const COMPRESSION: [&str; 3] =
    ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"];

/// Extensions that are decoded here, and extensions that move no joint and no vertex of the content that is read. Quantised
/// vertices are ordinary accessors.
const READ: [&str; 11] = [
    "KHR_mesh_quantization",
    "VRM",
    "VRMC_vrm",
    // Bones that swing or follow others at run time; skeleton and clips are complete without them.
    "VRMC_springBone",
    "VRMC_springBone_extended_collider",
    "VRMC_node_constraint",
    "KHR_techniques_webgl",
    "KHR_xmp",
    "KHR_xmp_json_ld",
    "MSFT_packing_normalRoughnessMetallic",
    "MSFT_packing_occlusionRoughnessMetallic",
];

/// Prefixes of extensions for materials, textures and lights, which are not read.
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

/// Returns an error for the first required extension without which the document would be read wrongly.
pub(super) fn check(root: &Place<'_>) -> Result<(), FileError> {
    for place in root.list("extensionsRequired")? {
        let name = place.text()?;
        if COMPRESSION.contains(&name) {
            return Err(place.error(format!(
                "`{name}` compresses the file's content, which is not decoded here; save the file without it"
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
