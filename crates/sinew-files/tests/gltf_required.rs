//! `extensionsRequired`: a document is read only where it can be understood without what is not known here.

mod gltf_hand;

use gltf_hand::{Hand, small};
use serde_json::{Value, json};
use sinew_files::{FileError, Model, gltf::Document};

fn requiring(hand: &Hand, names: Value) -> Result<Document, FileError> {
    let mut json = hand.json.clone();
    json["extensionsUsed"] = names.clone();
    json["extensionsRequired"] = names;
    let hand = Hand { json, bin: hand.bin.clone() };
    Document::from_bytes(&hand.glb(), "hand.glb", None)
}

#[track_caller]
fn refused(names: Value) -> String {
    let text = requiring(&small(), names).expect_err("an error is wanted").to_string();
    assert!(text.starts_with("hand.glb: extensionsRequired") && text.lines().count() == 1, "{text}");
    text
}

#[test]
fn compression_and_unknown_names_are_refused_by_name() {
    for name in ["KHR_draco_mesh_compression", "EXT_meshopt_compression", "KHR_meshopt_compression"] {
        let text = refused(json!(["KHR_materials_unlit", name]));
        assert!(
            text.contains("extensionsRequired[1]") && text.contains(name) && text.contains("compress"),
            "{text}"
        );
    }
    for name in ["ACME_bones", "EXT_mesh_gpu_instancing", "KHR_materialsunlit", "khr_materials_unlit", ""] {
        let text = refused(json!([name]));
        assert!(text.contains("extensionsRequired[0]") && text.contains(&format!("`{name}`")), "{text}");
    }
    let text = refused(json!([format!("ACME_\n\u{1b}[31m{}", "x".repeat(100_000))]));
    assert!(text.len() < 250 && text.chars().all(|c| !c.is_control()), "{text}");
    refused(json!("KHR_draco_mesh_compression"));
    refused(json!([7]));
    refused(json!({"0": "KHR_materials_unlit"}));
}

#[test]
fn materials_textures_lights_and_vrm_are_read_and_written_back() {
    let names = json!([
        "KHR_materials_unlit",
        "KHR_materials_pbrSpecularGlossiness",
        "KHR_materials_variants",
        "KHR_texture_transform",
        "KHR_texture_basisu",
        "EXT_texture_webp",
        "EXT_texture_avif",
        "MSFT_texture_dds",
        "KHR_lights_punctual",
        "EXT_lights_image_based",
        "KHR_mesh_quantization",
        "KHR_xmp_json_ld",
        "VRM",
        "VRMC_vrm",
        "VRMC_materials_mtoon",
        "VRMC_springBone",
        "VRMC_node_constraint",
    ]);
    let document = requiring(&small(), names.clone()).unwrap();
    let mut bytes = Vec::new();
    document.to_glb(&mut bytes).unwrap();
    let again = Document::from_bytes(&bytes, "again.glb", None).unwrap();
    assert_eq!((&again.json()["extensionsRequired"], &again.json()["extensionsUsed"]), (&names, &names));
    requiring(&small(), json!([])).unwrap();
    // What may be left out is no reason to refuse.
    let mut hand = small();
    hand.json["extensionsUsed"] =
        json!(["KHR_draco_mesh_compression", "EXT_meshopt_compression", "ACME_bones"]);
    Document::from_bytes(&hand.glb(), "hand.glb", None).unwrap().into_model().unwrap();
}

/// The small document with its skinned mesh's positions as these integers, under a node that undoes the quantisation.
fn quantised(kind: u32, normalized: bool, stride: usize, bytes: &[u8]) -> Hand {
    let mut hand = small();
    let view = hand.view(bytes);
    hand.json["bufferViews"][view]["byteStride"] = json!(stride);
    let accessor = hand.accessor(json!({
        "bufferView": view, "componentType": kind, "normalized": normalized, "count": 3, "type": "VEC3",
    }));
    hand.json["meshes"][1]["primitives"][0]["attributes"]["POSITION"] = json!(accessor);
    hand.json["nodes"][2]["scale"] = json!([2, 2, 2]);
    hand.json["nodes"][2]["translation"] = json!([0.5, 0, 0]);
    hand
}

#[test]
fn quantised_positions_are_those_that_the_specification_has() {
    // Three corners (0, 0, 0), (1, 0, 0), (0, 0, 1) times `one`, in each type that KHR_mesh_quantization allows.
    for (kind, normalized, one) in [
        (5120, true, vec![127]),
        (5120, false, vec![3]),
        (5121, true, vec![255]),
        (5121, false, vec![200]),
        (5122, true, vec![0xff, 0x7f]),
        (5122, false, vec![0x10, 0x27]),
        (5123, true, vec![0xff, 0xff]),
        (5123, false, vec![0x40, 0x9c]),
    ] {
        let size = one.len();
        // Elements are aligned to four bytes.
        let stride = (3 * size).next_multiple_of(4);
        let mut bytes = vec![0u8; 3 * stride];
        bytes[stride..stride + size].copy_from_slice(&one);
        bytes[2 * stride + 2 * size..2 * stride + 3 * size].copy_from_slice(&one);
        let value = match (normalized, one.as_slice()) {
            (true, _) => 1.0,
            (false, [byte]) => f32::from(*byte),
            (false, two) => f32::from(u16::from_le_bytes(two.try_into().unwrap())),
        };
        let document =
            requiring(&quantised(kind, normalized, stride, &bytes), json!(["KHR_mesh_quantization"]));
        let document = document.unwrap();
        // The node carries root (0, 1, 0), its own (0.5, 0, 0) and a scale of 2.
        let mesh = document.triangles().unwrap();
        let place = |x: f32, z: f32| [0.5 + 2.0 * x, 1.0, 2.0 * z];
        let wanted = [place(0.0, 0.0), place(value, 0.0), place(0.0, value)];
        let found: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.to_array()).collect();
        assert_eq!(found, wanted, "component type {kind}, normalized {normalized}");
        let model: Model = document.into_model().unwrap();
        let (joint, _) =
            model.skeleton.joints().zip(0..).find(|(j, _)| model.skeleton.name(*j) == "box").unwrap();
        let own: Vec<_> =
            model.skin.iter().filter(|v| v.joint == joint).map(|v| v.position.to_array()).collect();
        assert_eq!(own, [[0.0, 0.0, 0.0], [value, 0.0, 0.0], [0.0, 0.0, value]], "component type {kind}");
    }
}
