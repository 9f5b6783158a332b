//! Damaged and lying files: one clear error each, and never a panic.

mod dice;
mod gltf_hand;

use dice::Dice;
use gltf_hand::{Hand, glb, small};
use serde_json::{Value, json};
use sinew_files::{ReadOptions, gltf::Document};

/// All that is done with a document, on whatever bytes.
fn use_all(bytes: &[u8]) -> Result<(), sinew_files::FileError> {
    let document = Document::from_bytes(bytes, "bad.glb", None)?;
    let triangles = document.triangles();
    let mut out = Vec::new();
    // What could be read can be written, and read again.
    document.to_glb(&mut out).unwrap();
    Document::from_bytes(&out, "again.glb", None)?;
    let model = document.into_model()?;
    if let (sinew_files::Source::Gltf(mut document), Some(clip)) = (model.source, model.clips.first()) {
        document.add_animation(clip, None)?;
    }
    triangles.map(|_| ())
}

fn error(bytes: &[u8]) -> String {
    let text = use_all(bytes).expect_err("an error is wanted").to_string();
    assert!(!text.contains('\n') && text.starts_with("bad.glb: "), "{text}");
    text
}

/// The error of the small document with one value changed.
fn changed(change: impl FnOnce(&mut Value)) -> String {
    let mut hand = small();
    change(&mut hand.json);
    error(&hand.glb())
}

#[track_caller]
fn says(text: &str, words: &[&str]) {
    assert!(words.iter().all(|w| text.contains(w)), "{text:?} does not say {words:?}");
}

#[test]
fn containers_that_lie() {
    let good = small().glb();
    use_all(&good).unwrap();
    for length in 0..good.len() {
        assert!(use_all(&good[..length]).is_err(), "cut to {length}");
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut bad = good.clone();
        bad[at..at + bytes.len()].copy_from_slice(bytes);
        error(&bad)
    };
    says(&with(0, b"gltf"), &["neither a GLB"]);
    says(&with(4, &[1]), &["header", "version 1"]);
    says(&with(8, &[0xff; 4]), &["header", "declares 4294967295 bytes"]);
    says(&with(12, &[0xff; 4]), &["chunk 0", "declares 4294967295 bytes"]);
    says(&with(16, b"BIN\0"), &["chunk 0", "must be JSON"]);
    says(&with(20, b"["), &["neither a GLB"]);
    says(&with(30, b"\0"), &["JSON line 1 column"]);
    says(&error(b"glTF"), &["header", "cut off"]);
    says(&error(b""), &["neither"]);
    // As deep as a stack would like to be.
    let deep = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"extras\":{}", "[".repeat(1_000_000));
    says(&error(deep.as_bytes()), &["JSON", "recursion limit"]);
}

#[test]
fn references_and_counts_that_lie() {
    says(&changed(|j| j["asset"]["version"] = json!("1.0")), &["asset.version", "is 1.0; only glTF 2"]);
    says(&changed(|j| *j = json!({"nodes": []})), &["`asset` is missing"]);
    says(&changed(|j| j["nodes"] = json!([])), &["scenes[0].nodes[0]", "node 0", "there are 0"]);
    says(&changed(|j| j["nodes"][1]["children"] = json!([0])), &["nodes[0]", "among its own descendants"]);
    says(
        &changed(|j| j["nodes"][3]["children"] = json!([1])),
        &["nodes[3].children[0]", "already a child of node 0"],
    );
    says(&changed(|j| j["nodes"][0]["children"] = json!([1, 99])), &["nodes[0].children[1]", "99"]);
    says(&changed(|j| j["nodes"][0]["children"] = json!([-1])), &["nodes[0].children[0]", "not -1"]);
    says(
        &changed(|j| j["nodes"][0]["rotation"] = json!([0, 0, 1])),
        &["nodes[0].rotation", "4 finite numbers"]
            .map(|w| if w.contains("finite") { "4 numbers" } else { w }),
    );
    let huge: Value = serde_json::from_str("1e99").unwrap();
    says(&changed(|j| j["nodes"][1]["translation"][2] = huge), &["nodes[1].translation", "finite"]);
    says(&changed(|j| j["scene"] = json!(5)), &["scene", "scenes[5]", "there are 1"]);
    says(&changed(|j| j["accessors"][0]["count"] = json!(u64::MAX)), &["accessors[0].count", "do not fit"]);
    says(
        &changed(|j| j["accessors"][0]["byteOffset"] = json!(u64::MAX)),
        &["accessors[0].count", "do not fit"],
    );
    says(
        &changed(|j| j["accessors"][4]["count"] = json!(4_000_000_000u32)),
        &["accessors[4].count", "zeros"],
    );
    says(
        &changed(|j| j["accessors"][0]["bufferView"] = json!(77)),
        &["accessors[0].bufferView", "bufferViews[77]"],
    );
    says(&changed(|j| j["accessors"][0]["type"] = json!("VEC3")), &["accessors[0]", "16 components"]);
    says(&changed(|j| j["accessors"][0]["componentType"] = json!(7)), &["accessors[0].componentType", "7"]);
    says(
        &changed(|j| j["bufferViews"][0]["byteLength"] = json!(u64::MAX)),
        &["bufferViews[0]", "not in the buffer"],
    );
    says(&changed(|j| j["bufferViews"][0]["byteStride"] = json!(1)), &["bufferViews[0]", "stride of 1"]);
    says(&changed(|j| j["bufferViews"][0]["buffer"] = json!(1)), &["bufferViews[0].buffer", "buffers[1]"]);
    says(
        &changed(|j| j["buffers"][0]["byteLength"] = json!(1u64 << 60)),
        &["buffers[0]", "bytes, but there are"],
    );
    says(&changed(|j| j["buffers"][0]["uri"] = json!("gone.bin")), &["buffers[0].uri", "gone.bin"]);
    says(&changed(|j| j["buffers"][0]["uri"] = json!("data:;base64,A*")), &["buffers[0].uri", "damaged"]);
    says(
        &changed(|j| j["accessors"][4]["sparse"]["count"] = json!(4)),
        &["accessors[4].sparse.count", "4 values"],
    );
    says(&changed(|j| j["skins"][0]["joints"] = json!([])), &["skins[0].joints", "at least one"]);
    says(&changed(|j| j["skins"][0] = json!({})), &["skins[0]", "`joints` is missing"]);
    says(&changed(|j| j["skins"][0]["joints"] = json!([0, 9])), &["skins[0].joints[1]", "nodes[9]"]);
    says(&changed(|j| j["skins"][0]["joints"] = json!([0])), &["JOINTS_0", "names joint 1 of 1"]);
    says(&changed(|j| j["scenes"][0]["nodes"] = json!([3])), &["skins[0]", "none of the skin's joints"]);
    says(&changed(|j| j["nodes"][3]["skin"] = json!(4)), &["nodes[3].skin", "skins[4]"]);
    says(&changed(|j| j["nodes"][3]["mesh"] = json!("x")), &["nodes[3].mesh", "\"x\""]);
    says(
        &changed(|j| j["animations"][0]["channels"][0]["sampler"] = json!(3)),
        &["animations[0].channels[0].sampler", "samplers[3]"],
    );
    says(
        &changed(|j| j["animations"][1]["samplers"][0]["output"] = json!(99)),
        &["animations[1].samplers[0].output", "accessors[99]"],
    );
    says(
        &changed(|j| j["animations"][0]["channels"][0]["target"]["node"] = json!(99)),
        &["target.node", "nodes[99]"],
    );
    says(&changed(|j| j["animations"] = json!({})), &["animations", "an array"]);
    let empty = Hand::new(json!([]));
    says(&error(&empty.glb()), &["nodes", "at least one joint"]);
    let no_chunk = br#"{"asset":{"version":"2.0"},"nodes":[{}],"buffers":[{"byteLength":4}]}"#;
    says(&error(no_chunk), &["buffers[0]", "neither a `uri` nor"]);
}

#[test]
fn errors_are_one_line_whatever_the_names_are() {
    says(&changed(|j| j["accessors"][0]["type"] = json!("VEC\n3")), &["accessors[0].type", "VEC\\n3"]);
    let long = "x".repeat(1_000_000);
    assert!(changed(|j| j["asset"]["version"] = json!(long)).len() < 500);
    let mut hand = small();
    hand.json["nodes"][1]["name"] = json!("a\nb");
    let nan = hand.floats("VEC3", &[f32::NAN; 6]);
    hand.json["animations"][0]["samplers"][0]["output"] = json!(nan);
    hand.json["animations"][0]["name"] = json!("c\nd");
    let model = Document::from_bytes(&hand.glb(), "bad.glb", None).unwrap().into_model().unwrap();
    let text = model.problems[0].to_string();
    says(&text, &["`c\\nd`", "`a\\nb`", "key 0"]);
    assert_eq!(text.lines().count(), 1);
}

#[test]
fn a_missing_file_is_named() {
    let path = std::path::Path::new("no/such/model.glb");
    let text = Document::read(path, &ReadOptions::default()).unwrap_err().to_string();
    assert!(text.contains("model.glb"), "{text}");
}

#[test]
fn thousands_of_mutations_never_panic() {
    let good = small().glb();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut read, mut refused) = (0, 0);
    let mut count = |bytes: &[u8]| match use_all(bytes) {
        Ok(()) => read += 1,
        Err(error) => {
            assert!(error.to_string().lines().count() == 1, "{error}");
            refused += 1;
        }
    };
    for round in 0..6000 {
        let mut bytes = good.clone();
        for _ in 0..1 + round % 3 {
            let at = dice.below(bytes.len());
            match dice.below(3) {
                0 => bytes[at] ^= 1 << dice.below(8),
                1 => bytes[at] = b"0189-.eE{}[],:\"\0\xff"[dice.below(17)],
                _ => bytes[at] = dice.below(256) as u8,
            }
        }
        count(&bytes);
    }
    assert!(read > 100 && refused > 100, "{read} read, {refused} refused");
}

#[test]
fn every_json_value_may_be_anything() {
    let hand = small();
    let wrong = [
        "null",
        "true",
        "-1",
        "0",
        "3",
        "1.5",
        "1e300",
        "4294967296",
        "18446744073709551615",
        "\"x\"",
        "[]",
        "[7]",
        "{}",
    ];
    // Every path in the document.
    let mut paths = vec![String::new()];
    let mut at = 0;
    while at < paths.len() {
        let path = paths[at].clone();
        match hand.json.pointer(&path).unwrap() {
            Value::Object(map) => paths.extend(map.keys().map(|k| format!("{path}/{k}"))),
            Value::Array(list) => paths.extend((0..list.len()).map(|i| format!("{path}/{i}"))),
            _ => {}
        }
        at += 1;
    }
    assert!(paths.len() > 150, "{}", paths.len());
    for path in &paths {
        for text in wrong {
            let mut json = hand.json.clone();
            *json.pointer_mut(path).unwrap() = serde_json::from_str(text).unwrap();
            let bytes = glb(json.to_string().as_bytes(), &hand.bin);
            if let Err(error) = use_all(&bytes) {
                assert!(error.to_string().lines().count() == 1, "{path} = {text}: {error}");
            }
        }
        if let Some((parent, key)) = path.rsplit_once('/') {
            let mut json = hand.json.clone();
            if let Some(map) = json.pointer_mut(parent).and_then(Value::as_object_mut) {
                map.remove(key);
            }
            let _ = use_all(&glb(json.to_string().as_bytes(), &hand.bin));
        }
    }
}

#[test]
fn rotations_that_are_none_are_named_and_others_brought_to_unit_length() {
    for bad in [json!([0, 0, 0, 0]), json!([0, 0, 0, 0.4]), json!([0, 0, 2, 2]), json!([1e30, 0, 0, 0])] {
        says(
            &changed(|j| j["nodes"][1]["rotation"] = bad),
            &["nodes[1].rotation", "squared length", "0.25 to 4"],
        );
    }
    let with_keys = |way: &str, keys: &[f32]| {
        let mut hand = small();
        let times = hand.floats("SCALAR", &[0.0, 1.0]);
        let values = hand.floats("VEC4", keys);
        hand.animate("odd", 1, "rotation", way, times, values);
        Document::from_bytes(&hand.glb(), "odd.glb", None).unwrap()
    };
    // (A cubic track's tangents may have any length.)
    let cubic = |key: [f32; 4]| {
        let t = [0.0, 0.0, 0.0, 7.0];
        [t, [0.0, 0.0, 0.0, 1.0], t, t, key, t].as_flattened().to_vec()
    };
    let linear = |key: [f32; 4]| [[0.0, 0.0, 0.0, 1.0], key].as_flattened().to_vec();
    for bad in [[0.0; 4], [0.0, 0.3, 0.0, 0.3], [0.0, 0.0, 0.0, 2.1], [f32::NAN, 0.0, 0.0, 1.0]] {
        for (way, keys) in [("STEP", linear(bad)), ("LINEAR", linear(bad)), ("CUBICSPLINE", cubic(bad))] {
            let model = with_keys(way, &keys).into_model().unwrap();
            let text = model.problems[0].to_string();
            says(&text, &["`odd`", "animations[3].channels[0]", "rotation of `tip`", "key 1"]);
            assert!(!text.contains('\n'), "{text}");
        }
    }
    for l in [0.9f32, 1.0 + 1e-5, 1.3] {
        let long = [0.0, 0.6 * l, 0.0, 0.8 * l];
        for (way, keys) in [("STEP", linear(long)), ("LINEAR", linear(long)), ("CUBICSPLINE", cubic(long))] {
            let document = with_keys(way, &keys);
            let mut written = Vec::new();
            document.to_glb(&mut written).unwrap();
            let bytes: Vec<u8> = keys.iter().flat_map(|k| k.to_le_bytes()).collect();
            assert!(
                written.windows(bytes.len()).any(|w| w == bytes),
                "the document is written as it was read"
            );
            let model = document.into_model().unwrap();
            let clip = model.clips.iter().find(|c| c.name() == "odd").unwrap();
            let track = clip.tracks()[0].rotation.as_ref().unwrap();
            let q = track.sample(1.0);
            assert!((q.length_squared() - 1.0).abs() < 1e-6 && (q.y - 0.6).abs() < 1e-6, "{way} {l}: {q}");
            let key = *track.values().iter().rev().nth(usize::from(way == "CUBICSPLINE")).unwrap();
            assert!((key.length_squared() - 1.0).abs() < 1e-6, "{way} {l}: {key}");
        }
        let mut hand = small();
        hand.json["nodes"][1]["rotation"] = json!(long);
        let model = Document::from_bytes(&hand.glb(), "odd.glb", None).unwrap().into_model().unwrap();
        let q = model.skeleton.rest(model.skeleton.find("tip").unwrap()).rotation;
        assert!((q.length_squared() - 1.0).abs() < 1e-6 && (q.y - 0.6).abs() < 1e-6, "{l}: {q}");
    }
}
