//! Files that a glTF names are read from the model's folder, and from elsewhere only with `--allow-outside`.
#![cfg(unix)]

mod plant_support;

use std::{fs, os::unix::fs::symlink};

use plant_support::{Glb, Place, says};
use serde_json::{Value, json};

/// The sample as JSON, with this URI for its buffer.
fn document(uri: &str) -> String {
    let mut json = Glb::sample().json;
    json["buffers"][0]["uri"] = json!(uri);
    json.to_string()
}

/// A folder with the sample's bytes in `walk.bin` and in `model/walk.bin`, and with links in `model` to outside.
fn place(name: &str) -> Place {
    let place = Place::new(name);
    fs::create_dir_all(place.0.join("model/sub")).unwrap();
    let bin = Glb::sample().bin;
    place.write("outside.bin", &bin);
    place.write("model/walk.bin", &bin);
    place.write("model/sub/walk.bin", &bin);
    symlink("../outside.bin", place.0.join("model/link.bin")).unwrap();
    symlink("link.bin", place.0.join("model/link to link.bin")).unwrap();
    symlink("..", place.0.join("model/up")).unwrap();
    symlink("sub/walk.bin", place.0.join("model/inner.bin")).unwrap();
    place
}

#[test]
fn buffers_outside_of_the_models_folder_want_leave() {
    let place = place("outside");
    let absolute = place.0.join("outside.bin");
    let absolute = absolute.to_str().unwrap();
    for uri in [
        "../outside.bin",
        "..%2foutside.bin",
        "%2e%2e%2Foutside.bin",
        "sub/../../outside.bin",
        "./.././model/../outside.bin",
        "link.bin",
        "link%20to%20link.bin",
        "up/outside.bin",
        absolute,
        &format!("file://{absolute}"),
        &format!("FILE://localhost{}", absolute.replace('/', "%2F")),
    ] {
        place.write("model/walk.gltf", document(uri));
        let words = ["model/walk.gltf", "buffers[0].uri", "--allow-outside"];
        says(&place.failed("info model/walk.gltf"), &words);
        says(&place.failed("plant model/walk.gltf -o out.glb"), &words);
        says(&place.failed("plant --ground model/walk.gltf -o out.glb"), &words);
        says(&place.failed("draw model/walk.gltf -o out.svg"), &words);
        says(&place.failed("solve model/walk.gltf --chain thigh.L..foot.L --to 0,1,0"), &words);
        for line in [
            "info model/walk.gltf",
            "plant model/walk.gltf -o out.glb",
            "draw model/walk.gltf -o out.svg",
            "solve model/walk.gltf --chain thigh.L..foot.L --to 0,1,0",
        ] {
            place.done(&format!("{line} --allow-outside"));
        }
        fs::remove_file(place.0.join("out.glb")).unwrap();
        fs::remove_file(place.0.join("out.svg")).unwrap();
    }
    // The rule holds for grounds too.
    let level = json!({
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 6, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 72}],
        "buffers": [{"byteLength": 72, "uri": "../level.bin"}],
    });
    let corners = [[-9., -9.], [-9., 9.], [9., 9.], [-9., -9.], [9., 9.], [9., -9.]];
    let bytes: Vec<u8> =
        corners.iter().flat_map(|[x, z]| [*x, 0.0f32, *z]).flat_map(f32::to_le_bytes).collect();
    place.write("level.bin", bytes);
    place.write("model/level.gltf", level.to_string());
    let line = "plant --ground model/level.gltf -o out.glb";
    says(&place.failed(line), &["model/level.gltf", "buffers[0].uri", "--allow-outside"]);
    place.done(&format!("{line} --allow-outside"));
}

#[test]
fn files_in_the_models_folder_are_read_however_they_are_spelt() {
    let place = place("inside");
    for uri in [
        "walk.bin",
        "%77alk.bin",
        "sub/walk.bin",
        "sub/../walk.bin",
        "../model/walk.bin",
        "up/model/walk.bin",
        "inner.bin",
    ] {
        place.write("model/walk.gltf", document(uri));
        place.done("info model/walk.gltf");
        place.done("info ./model/../model/walk.gltf");
    }
    // If the model is a link, its files are relative to the link's folder, and may be there or in the target's folder.
    fs::create_dir_all(place.0.join("links")).unwrap();
    symlink("../model/walk.gltf", place.0.join("links/walk.gltf")).unwrap();
    place.write("model/walk.gltf", document("walk.bin"));
    says(&place.failed("info links/walk.gltf"), &["buffers[0].uri", "walk.bin"]);
    symlink("../model/walk.bin", place.0.join("links/walk.bin")).unwrap();
    place.done("info links/walk.gltf");
    fs::remove_file(place.0.join("links/walk.bin")).unwrap();
    place.write("links/walk.bin", Glb::sample().bin);
    place.done("info links/walk.gltf");
    fs::remove_file(place.0.join("links/walk.bin")).unwrap();
    symlink("../outside.bin", place.0.join("links/walk.bin")).unwrap();
    says(&place.failed("info links/walk.gltf"), &["buffers[0].uri", "--allow-outside"]);
}

#[test]
fn what_is_no_file_of_this_machine_is_never_read() {
    let place = place("never");
    for uri in [
        "https://example.org/walk.bin",
        "file://example.org/walk.bin",
        "..\\outside.bin",
        "C:\\outside.bin",
        "",
        "..",
        "sub",
        "gone.bin",
        "walk.bin%00",
        "/dev/zero",
        "../../../../../../../../../../../../../../dev/zero",
        "%ff",
    ] {
        place.write("model/walk.gltf", document(uri));
        for option in ["", "--allow-outside"] {
            let line = format!("info model/walk.gltf {option}");
            says(&place.failed(&line), &["model/walk.gltf", "buffers[0].uri"]);
        }
    }
}

#[test]
fn images_outside_are_not_taken_along_unasked() {
    let place = place("images");
    let image = [0x89, b'P', b'N', b'G', 1, 2, 3];
    place.write("outside.png", image);
    let mut json: Value = serde_json::from_str(&document("walk.bin")).unwrap();
    json["images"] = json!([{"uri": "../outside.png"}]);
    place.write("model/walk.gltf", json.to_string());
    // Nothing is read if the name stays valid, or if nothing is written.
    place.done("info model/walk.gltf");
    place.done("plant model/walk.gltf -o model/out.gltf");
    for out in ["out.glb", "out.gltf"] {
        let line = format!("plant model/walk.gltf -o {out}");
        says(&place.failed(&line), &["model/walk.gltf", "images[0].uri", "--allow-outside"]);
    }
    place.done("plant model/walk.gltf -o out.glb --allow-outside");
    let out = place.glb("out.glb");
    let view = &out.json["bufferViews"][out.json["images"][0]["bufferView"].as_u64().unwrap() as usize];
    let start = view["byteOffset"].as_u64().unwrap() as usize;
    assert_eq!(out.bin[start..start + image.len()], image);
}
