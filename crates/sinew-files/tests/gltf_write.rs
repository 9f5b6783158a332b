//! Documents written back: what was added, and that nothing else changed.

mod gltf_hand;

use std::{fs, io, path::PathBuf};

use glam::{Quat, Vec3};
use gltf_hand::{Hand, glb, small};
use serde_json::{Value, json};
use sinew::{
    ground::TriangleMesh,
    motion::{Clip, Interpolation, JointTracks, Track},
};
use sinew_files::{FileError, Model, ReadOptions, Source, gltf::Document};

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn document(model: &Model) -> Document {
    let Source::Gltf(document) = &model.source else { panic!("not glTF") };
    document.clone()
}

fn read(hand: &Hand) -> Model {
    Document::from_bytes(&hand.glb(), "hand.glb", None).unwrap().into_model().unwrap()
}

/// JSON and binary chunk of a GLB, taken apart by other code than the crate's.
fn open(bytes: &[u8]) -> (Value, Vec<u8>) {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let json = word(12);
    assert_eq!((json % 4, &bytes[16..20]), (0, &b"JSON"[..]));
    let bin = word(20 + json);
    assert_eq!((bin % 4, &bytes[24 + json..28 + json]), (0, &b"BIN\0"[..]));
    assert_eq!(bytes.len(), 28 + json + bin);
    (serde_json::from_slice(&bytes[20..20 + json]).unwrap(), bytes[28 + json..].to_vec())
}

fn bytes(document: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    document.to_glb(&mut out).unwrap();
    out
}

/// A clip with all three interpolations on the small document's joints.
fn clip(model: &Model) -> Clip {
    let joint = |name| model.skeleton.find(name).unwrap();
    let times = vec![0.0, 0.1, 0.7];
    let turns = [0.0f32, 0.3, 0.9].map(Quat::from_rotation_x).to_vec();
    let places: Vec<Vec3> = (0..9).map(|i| Vec3::new(i as f32 * 0.1, 1.0, -0.3)).collect();
    let mut root = JointTracks::new(joint("root"));
    root.translation = Some(Track::new(times.clone(), places, Interpolation::Cubic).unwrap());
    root.rotation = Some(Track::new(times.clone(), turns, Interpolation::Linear).unwrap());
    let mut tip = JointTracks::new(joint("tip"));
    tip.scale = Some(Track::new(vec![0.25], vec![Vec3::splat(1.1)], Interpolation::Step).unwrap());
    Clip::new("added", &model.skeleton, vec![root, tip]).unwrap()
}

#[test]
fn an_added_clip_reads_back_and_the_rest_keeps_its_text() {
    let mut hand = small();
    // serde_json spells exponents with a small e and a sign; every digit stays.
    let odd = r#"{"a":0.10000000000000000000001,"b":1e+2,"c":1.50e-7,"d":-0.0,"big":12345678901234567890123,"z":{"é":[true,null,"\"\\"]}}"#;
    hand.json["extras"] = serde_json::from_str(odd).unwrap();
    hand.json["extensions"] = json!({"ACME_unknown": {"deep": [[1.50, 2]]}});
    let before = read(&hand);
    let clip = clip(&before);
    let mut document = document(&before);
    assert_eq!(document.add_animation(&clip, Some(json!({"planted": true}))).unwrap(), 3);
    let written = bytes(&document);
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains(odd), "numbers and texts are as they were: {}", &text[..3000]);
    let after = Document::from_bytes(&written, "again.glb", None).unwrap().into_model().unwrap();
    assert_eq!(after.problems, []);
    assert_eq!(after.clips[..3], before.clips[..]);
    assert_eq!(after.clips[3], clip);
    assert_eq!((&after.skeleton, &after.bind, &after.skin), (&before.skeleton, &before.bind, &before.skin));
    let (json, bin) = open(&written);
    assert_eq!(bin[..hand.bin.len()], hand.bin[..]);
    for (key, old) in hand.json.as_object().unwrap() {
        match (key.as_str(), old.as_array()) {
            ("buffers", _) => {}
            ("animations" | "accessors" | "bufferViews", Some(old)) => {
                let new = &json[key].as_array().unwrap()[..old.len()];
                assert_eq!(serde_json::to_string(old).unwrap(), serde_json::to_string(new).unwrap());
            }
            _ => assert_eq!(serde_json::to_string(old).unwrap(), serde_json::to_string(&json[key]).unwrap()),
        }
    }
    let added = &json["animations"][3];
    assert_eq!(added["extras"], json!({"planted": true}));
    // Translation and rotation have the same times, and share them.
    let input = |i: usize| added["samplers"][i]["input"].as_u64().unwrap() as usize;
    assert_eq!(input(0), input(1));
    assert_ne!(input(0), input(2));
    let times = &json["accessors"][input(0)];
    let bound = |key: &str| times[key][0].as_f64().unwrap();
    assert_eq!((bound("min"), bound("max")), (0.0, f64::from(0.7f32)));
}

#[test]
fn a_clip_that_begins_before_zero_is_refused_and_changes_nothing() {
    let mut hand = small();
    // A matrix that an added clip would have replaced.
    hand.json["nodes"][0].as_object_mut().unwrap().remove("translation");
    hand.json["nodes"][0]["matrix"] = json!([0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1]);
    let before = read(&hand);
    let mut document = document(&before);
    let unchanged = bytes(&document);
    let mut root = JointTracks::new(before.skeleton.find("root").unwrap());
    let keys = vec![Vec3::ZERO, Vec3::Y];
    root.translation = Some(Track::new(vec![-0.25, 0.5], keys, Interpolation::Linear).unwrap());
    let early = Clip::new("early", &before.skeleton, vec![root]).unwrap();
    let error = document.add_animation(&early, None).unwrap_err().to_string();
    assert!(error.contains("begins at -0.25 s") && error.contains("animations[3]"), "{error}");
    assert_eq!(bytes(&document), unchanged);
}

#[test]
fn an_animated_matrix_becomes_parts() {
    let mut hand = small();
    hand.json["nodes"][0].as_object_mut().unwrap().remove("translation");
    hand.json["nodes"][0]["matrix"] = json!([0, 2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 1]);
    let before = read(&hand);
    let mut document = document(&before);
    document.add_animation(&clip(&before), None).unwrap();
    let (json, _) = open(&bytes(&document));
    assert!(json["nodes"][0].get("matrix").is_none());
    let after = Document::from_bytes(&bytes(&document), "again.glb", None).unwrap().into_model().unwrap();
    assert_eq!(after.skeleton, before.skeleton);
}

#[test]
fn a_ground_is_added_as_a_node() {
    let before = read(&small());
    let mut document = document(&before);
    let mut mesh = TriangleMesh::default();
    mesh.push_quad([Vec3::ZERO, Vec3::Z, Vec3::new(2.0, 0.0, 1.0), Vec3::new(2.0, 0.0, 0.0)]);
    mesh.push([Vec3::ZERO, Vec3::ONE, Vec3::ONE]);
    let node = document.add_mesh_node("ground", &mesh, [0.5, 0.5, 0.5, 1.0]).unwrap();
    // More may be added afterwards.
    document.add_animation(&clip(&before), None).unwrap();
    let (json, bin) = open(&bytes(&document));
    assert_eq!(
        (json["nodes"][node]["name"].as_str(), &json["scenes"][0]["nodes"]),
        (Some("ground"), &json!([0, 3, node]))
    );
    let mesh = &json["meshes"][json["nodes"][node]["mesh"].as_u64().unwrap() as usize]["primitives"][0];
    let normals = &json["accessors"][mesh["attributes"]["NORMAL"].as_u64().unwrap() as usize];
    assert_eq!(normals["count"], json!(6));
    let view = &json["bufferViews"][normals["bufferView"].as_u64().unwrap() as usize];
    let start = (view["byteOffset"].as_u64().unwrap() + normals["byteOffset"].as_u64().unwrap()) as usize;
    for i in 0..6 {
        let float = |k: usize| {
            let at = start + 12 * i + 4 * k;
            f32::from_le_bytes(bin[at..at + 4].try_into().unwrap())
        };
        assert_eq!([float(0), float(1), float(2)], [0.0, 1.0, 0.0]);
    }
    let again = Document::from_bytes(&bytes(&document), "again.glb", None).unwrap();
    assert_eq!(again.triangles().unwrap().triangles.len(), 3, "the ground's two, and the box's one");
    assert!(document.add_mesh_node("none", &TriangleMesh::default(), [1.0; 4]).is_err());
}

#[test]
fn json_keeps_its_buffers_and_a_glb_takes_them_in() {
    let (here, there) = (Folder::new("gltf-here"), Folder::new("gltf-there"));
    let mut hand = small();
    // The one buffer lies beside the document, under a name with a space; a second one is in the JSON.
    let bin = hand.bin.clone();
    hand.json["buffers"] = json!([
        {"byteLength": bin.len(), "uri": "my%20data.bin"},
        {"byteLength": 5, "uri": "data:application/octet-stream;base64,AQIDBAU="},
    ]);
    hand.json["bufferViews"]
        .as_array_mut()
        .unwrap()
        .push(json!({"buffer": 1, "byteOffset": 1, "byteLength": 4}));
    let image = [0x89, b'P', b'N', b'G', 1, 2, 3];
    let inside = "data:image/png;base64,iVBORwECAw==";
    hand.json["images"] = json!([{"uri": "a.png"}, {"uri": "missing.png"}, {"uri": inside}]);
    fs::write(here.0.join("my data.bin"), &bin).unwrap();
    fs::write(here.0.join("a.png"), image).unwrap();
    let path = here.0.join("hand.gltf");
    fs::write(&path, hand.json.to_string()).unwrap();
    let model = Model::read(&path, &ReadOptions::default()).unwrap();
    let mut document = document(&model);
    document.add_animation(&clip(&model), None).unwrap();

    // In the same folder the names hold; what is new is in a data URI.
    let beside = here.0.join("out.gltf");
    document.write(&beside).unwrap();
    let json: Value = serde_json::from_slice(&fs::read(&beside).unwrap()).unwrap();
    assert_eq!(json["buffers"][0], hand.json["buffers"][0]);
    assert_eq!(json["buffers"][1], hand.json["buffers"][1]);
    assert!(json["buffers"][2]["uri"].as_str().unwrap().starts_with("data:"));
    assert_eq!(json["images"], hand.json["images"]);

    // In another folder nothing may be missing, and a GLB has one buffer. An image that is not there keeps its name.
    for name in ["out.gltf", "out.glb", "OUT.VRM"] {
        let far = there.0.join(name);
        document.write(&far).unwrap();
        let again = Model::read(&far, &ReadOptions::default());
        let again = again.unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.clips.len(), 4);
        assert_eq!((&again.clips[..3], &again.skin), (&model.clips[..], &model.skin));
    }
    let (json, bin) = open(&fs::read(there.0.join("out.glb")).unwrap());
    assert_eq!(json["buffers"].as_array().unwrap().len(), 1);
    let view = |i: usize| {
        let view = &json["bufferViews"][i];
        assert_eq!(view["buffer"], json!(0));
        let start = view["byteOffset"].as_u64().unwrap() as usize;
        bin[start..start + view["byteLength"].as_u64().unwrap() as usize].to_vec()
    };
    let second = hand.json["bufferViews"].as_array().unwrap().len() - 1;
    assert_eq!(view(second), [2, 3, 4, 5]);
    assert_eq!(view(json["images"][0]["bufferView"].as_u64().unwrap() as usize), image);
    assert_eq!(json["images"][0]["mimeType"], json!("image/png"));
    assert_eq!(json["images"][1], json!({"uri": "missing.png"}));
    // A GLB holds its images as bytes, also those that came in the JSON.
    assert_eq!(view(json["images"][2]["bufferView"].as_u64().unwrap() as usize), image);
    assert_eq!(json["images"][2].get("uri"), None);
    let (json, _) = open(&fs::read(there.0.join("OUT.VRM")).unwrap());
    assert_eq!(json["images"][2].get("uri"), None);
    let json: Value = serde_json::from_slice(&fs::read(there.0.join("out.gltf")).unwrap()).unwrap();
    assert_eq!(json["images"][2], json!({"uri": inside}));
}

#[test]
fn a_glb_written_as_json_holds_its_buffer() {
    let folder = Folder::new("gltf-json");
    let model = read(&small());
    let path = folder.0.join("x.gltf");
    document(&model).write(&path).unwrap();
    let again = Model::read(&path, &ReadOptions::default()).unwrap();
    assert_eq!((again.clips, again.skin), (model.clips, model.skin));
}

#[test]
fn chunks_of_extensions_stay() {
    let hand = small();
    let mut bytes_in = hand.glb();
    bytes_in.extend(4u32.to_le_bytes());
    bytes_in.extend(b"ACMEdata");
    let length = bytes_in.len() as u32;
    bytes_in[8..12].copy_from_slice(&length.to_le_bytes());
    let document = Document::from_bytes(&bytes_in, "x.glb", None).unwrap();
    let out = bytes(&document);
    assert!(out.ends_with(b"\x04\0\0\0ACMEdata"));
    // Nothing was changed, so that even the bytes are the same.
    assert_eq!(out, bytes_in);
}

#[test]
fn a_failed_write_leaves_what_stood_there() {
    let folder = Folder::new("gltf-fail");
    let document = document(&read(&small()));
    let nowhere = folder.0.join("no/such/folder/x.glb");
    assert!(matches!(document.write(&nowhere), Err(FileError::Io { path, .. }) if path == nowhere));
    assert!(matches!(document.write(&folder.0.join("x.obj")), Err(FileError::Ending { .. })));
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let whole = bytes(&document).len();
    for room in [0, 5, 30, 1000, whole - 1] {
        assert_eq!(document.to_glb(&mut Full(room)).unwrap_err().kind(), io::ErrorKind::StorageFull);
    }
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 0);
}

#[test]
fn a_document_without_scene_or_buffer_takes_both() {
    let json = json!({"asset": {"version": "2.0"}, "nodes": [{"name": "a", "children": [1]}, {"name": "b"}]});
    let mut document = Document::from_json(json, None, "made").unwrap();
    let mut mesh = TriangleMesh::default();
    mesh.push([Vec3::ZERO, Vec3::Z, Vec3::X]);
    document.add_mesh_node("ground", &mesh, [1.0; 4]).unwrap();
    let (json, _) = open(&bytes(&document));
    assert_eq!((&json["scene"], &json["scenes"]), (&json!(0), &json!([{"nodes": [0, 2]}])));
    let model = Document::from_bytes(&bytes(&document), "again.glb", None).unwrap().into_model().unwrap();
    assert_eq!((model.skeleton.len(), model.skin.len()), (3, 3));
    // The helper of these tests and the crate agree on what a GLB is.
    assert!(Document::from_bytes(&glb(br#"{"asset":{"version":"2.0"}}"#, &[]), "x.glb", None).is_ok());
}
