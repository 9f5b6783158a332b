//! The real files of the data folder: read, written back with more in them, and damaged.

mod real;

use std::path::{Path, PathBuf};

use base64::{Engine, engine::general_purpose::STANDARD};
use glam::{DAffine3, DMat4, DVec3, Vec3};
use real::data;
use serde_json::Value;
use sinew::{
    Pose,
    ground::TriangleMesh,
    motion::{Baker, Clip, JointTracks},
};
use sinew_files::{Model, ReadOptions, Source, gltf::Document};

/// Names, and joints, clips and roles, counted in the JSON by other tools.
const FILES: [(&str, [usize; 3]); 14] = [
    ("CesiumMan.gltf", [22, 1, 0]),
    ("Fox.glb", [26, 3, 0]),
    ("KayKit_Knight.glb", [57, 76, 0]),
    ("RiggedSimple.gltf", [5, 1, 0]),
    ("SimpleSkin.gltf", [3, 1, 0]),
    ("interpolation_test.gltf", [12, 9, 0]),
    ("m2m_horse-animations.glb", [58, 14, 0]),
    ("m2m_human_sample-rig.glb", [68, 1, 0]),
    ("m2m_snake-animations.glb", [30, 8, 0]),
    ("m2m_spider-animations.glb", [58, 10, 0]),
    ("mannequiny.glb", [48, 10, 0]),
    ("terrain_bevy.glb", [1, 0, 0]),
    ("vrm0_cryptovoxels.vrm", [74, 0, 43]),
    ("vrm1_mtoon_test.vrm", [58, 0, 53]),
];

fn file(name: &str) -> PathBuf {
    data(&format!("gltf/{name}"))
}

fn files() -> impl Iterator<Item = PathBuf> {
    FILES.iter().map(|(name, _)| file(name))
}

/// Reads a file, and gives its document too.
fn read(path: &Path) -> (Model, Document) {
    let model = Model::read(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let Source::Gltf(document) = &model.source else { panic!("not glTF") };
    let document = document.clone();
    (model, document)
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn every_file_reads_without_problems() {
    for (name, counts) in FILES {
        let (model, document) = read(&file(name));
        assert_eq!(model.problems, [], "{name}");
        assert_eq!([model.skeleton.len(), model.clips.len(), model.declared_roles.len()], counts, "{name}");
        // Only this figure was bound with its arms elsewhere than at rest.
        let bound = model.skeleton.joints().all(|j| model.skeleton.rest(j) == &model.bind[j.index()]);
        assert_eq!(bound, model.name != "vrm0_cryptovoxels", "{}", model.name);
        if model.name == "terrain_bevy" {
            assert!(document.triangles().unwrap().triangles.len() > 30_000);
        }
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn skins_lie_on_their_bones_in_the_bind_pose() {
    // Heights of the figures from the soles up, from the extents that the files state for their positions.
    for (name, low, high) in
        [("CesiumMan.gltf", 1.4, 1.6), ("mannequiny.glb", 1.6, 2.0), ("m2m_human_sample-rig.glb", 1.5, 2.1)]
    {
        let (model, _) = read(&file(name));
        let pose = model.bind_pose();
        let heights = model.skin.iter().map(|v| pose.model(v.joint).transform_point3(v.position).y);
        let (min, max) = heights.fold((f32::MAX, f32::MIN), |(a, b), y| (a.min(y), b.max(y)));
        assert!(min.abs() < 0.05 && (low..high).contains(&(max - min)), "{name}: {min} to {max}");
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn written_back_with_more_everything_else_is_the_same() {
    let folder = std::env::temp_dir().join(format!("sinew-gltf-real-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for file in files() {
        let (model, mut document) = read(&file);
        let before = document.json().clone();
        let mut baker = Baker::new(&model.skeleton, model.skeleton.joints());
        let mut pose = Pose::rest(&model.skeleton);
        for frame in 0..10 {
            let time = frame as f32 / 30.0;
            if let Some(clip) = model.clips.first() {
                clip.sample(time, &mut pose);
            }
            pose.update();
            baker.push(time, &pose);
        }
        let baked = baker.finish("baked", &model.skeleton).ok();
        if let Some(clip) = &baked {
            document.add_animation(clip, None).unwrap();
        }
        let mut ground = TriangleMesh::default();
        ground.push_quad([Vec3::ZERO, Vec3::Z, Vec3::new(1.0, 0.0, 1.0), Vec3::X]);
        document.add_mesh_node("ground", &ground, [0.6, 0.6, 0.6, 1.0]).unwrap();
        for ending in ["glb", "gltf"] {
            let out = folder.join(format!("out.{ending}"));
            document.write(&out).unwrap();
            let (again, written) = read(&out);
            assert_eq!(again.problems, []);
            let count = model.clips.len();
            assert!(again.clips[..count] == model.clips[..], "{}", file.display());
            // A joint without a track leaves no trace in a file.
            let moved = |clip: &Clip| -> Vec<JointTracks> {
                let some = |t: &&JointTracks| **t != JointTracks::new(t.joint);
                clip.tracks().iter().filter(some).cloned().collect()
            };
            assert!(again.clips.get(count).map(moved) == baked.as_ref().map(moved), "{}", file.display());
            assert_eq!(again.skeleton.len(), model.skeleton.len() + 1);
            assert_eq!(again.bind[..model.bind.len()], model.bind[..]);
            assert!(again.skin[..model.skin.len()] == model.skin[..], "{}", file.display());
            assert_eq!(again.declared_roles, model.declared_roles);
            same_but_for_what_was_added(&before, written.json(), &file, &out);
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The bytes of a buffer view in a GLB's own chunk, found by the container's lengths alone.
fn chunk_bytes(glb: &Path, view: &Value) -> Vec<u8> {
    let bytes = std::fs::read(glb).unwrap();
    let json = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let at = 20 + json + 8 + view["byteOffset"].as_u64().unwrap_or(0) as usize;
    bytes[at..at + view["byteLength"].as_u64().unwrap() as usize].to_vec()
}

/// Every list begins with what it held before, in the same text, and every other member is the same.
fn same_but_for_what_was_added(before: &Value, after: &Value, file: &Path, out: &Path) {
    let text = |v: &Value| serde_json::to_string(v).unwrap();
    for (key, old) in before.as_object().unwrap() {
        let new = &after[key];
        match (key.as_str(), old.as_array()) {
            // Where bytes lie may change; that they are the same, the clips and the skin have shown.
            ("buffers" | "bufferViews", _) => {}
            ("scenes", Some(old)) => assert_eq!(new.as_array().unwrap().len(), old.len()),
            (_, Some(old)) => {
                for (i, value) in old.iter().enumerate() {
                    let mut new = new[i].clone();
                    // An animated node's matrix is parted.
                    if key == "nodes" && value.get("matrix").is_some() && new.get("matrix").is_none() {
                        new = value.clone();
                    }
                    // A GLB takes the bytes of an image's data URI into its own chunk.
                    let data =
                        value.get("uri").and_then(Value::as_str).and_then(|u| u.split_once(";base64,"));
                    if let (Some((_, data)), Some(view)) = (data, new["bufferView"].as_u64()) {
                        let view = &after["bufferViews"][view as usize];
                        assert_eq!(
                            STANDARD.decode(data).unwrap(),
                            chunk_bytes(out, view),
                            "{}",
                            file.display()
                        );
                        continue;
                    }
                    assert_eq!(text(value), text(&new), "{}: {key}[{i}]", file.display());
                }
            }
            _ => assert_eq!(text(old), text(new), "{}: {key}", file.display()),
        }
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn damaged_real_files_never_panic() {
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    for file in files() {
        let good = std::fs::read(&file).unwrap();
        // A slice of each file's damage, so that the whole takes seconds.
        for _ in 0..(20_000_000 / good.len()).clamp(8, 200) {
            let mut bytes = good.clone();
            match below(4) {
                0 => bytes.truncate(below(good.len())),
                n => {
                    // Damage to the JSON, at the beginning of most files, tells more than damage to numbers.
                    let end = if n == 1 { good.len() } else { good.len().min(20_000) };
                    for _ in 0..n * 2 {
                        bytes[below(end)] = b"0159,:-]}\"x"[below(11)];
                    }
                }
            }
            let result = Document::from_bytes(&bytes, "bad", file.parent()).and_then(Document::into_model);
            if let Err(error) = result {
                assert_eq!(error.to_string().lines().count(), 1, "{error}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "no real file")]
fn a_file_that_is_absent_fails_its_test() {
    file("none of this name.glb");
}

/// The 4 x 4 matrices of an accessor, from the file's own bytes by the lengths in its JSON alone.
fn matrices(file: &Path, json: &Value, accessor: &Value) -> Vec<DAffine3> {
    assert_eq!((accessor["componentType"].as_u64(), accessor["type"].as_str()), (Some(5126), Some("MAT4")));
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let bytes = match json["buffers"][view["buffer"].as_u64().unwrap() as usize]["uri"].as_str() {
        None => chunk_bytes(file, view),
        Some(uri) => {
            let bytes = STANDARD.decode(uri.split_once(";base64,").unwrap().1).unwrap();
            bytes[view["byteOffset"].as_u64().unwrap_or(0) as usize..].to_vec()
        }
    };
    let start = accessor["byteOffset"].as_u64().unwrap_or(0) as usize;
    let floats = bytes[start..].chunks_exact(4).map(|b| f64::from(f32::from_le_bytes(b.try_into().unwrap())));
    let floats: Vec<f64> = floats.take(16 * accessor["count"].as_u64().unwrap() as usize).collect();
    let matrix = |m: &[f64]| DAffine3::from_mat4(DMat4::from_cols_array(m.try_into().unwrap()));
    floats.chunks_exact(16).map(matrix).collect()
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn bind_poses_and_inverse_bind_matrices_make_one_frame_a_skin() {
    let (mut joints, mut skins, mut worst) = (0, 0, 0.0f64);
    for (name, _) in FILES {
        let (model, document) = read(&file(name));
        assert_eq!(model.bind_problems, [], "{name}");
        // Forward kinematics in f64, by themselves.
        let (bind, mut world) = (model.bind_pose(), Vec::<DAffine3>::new());
        for (joint, local) in model.skeleton.joints().zip(bind.locals()) {
            let rotation = local.rotation.as_dquat().normalize();
            let (scale, place) = (local.scale.as_dvec3(), local.translation.as_dvec3());
            let own = DAffine3::from_scale_rotation_translation(scale, rotation, place);
            world.push(model.skeleton.parent(joint).map_or(own, |p| world[p.index()] * own));
        }
        let json = document.json();
        for skin in json["skins"].as_array().into_iter().flatten() {
            let accessor = skin["inverseBindMatrices"].as_u64().unwrap() as usize;
            let inverse = matrices(&file(name), json, &json["accessors"][accessor]);
            let nodes = skin["joints"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize);
            let place = |node| world[document.joint_of_node(node).unwrap()];
            let frames: Vec<DAffine3> = nodes.zip(&inverse).map(|(node, i)| place(node) * *i).collect();
            let places: Vec<DVec3> = inverse.iter().map(|i| i.inverse().translation).collect();
            let far = places.iter().map(|p| p.distance(places[0])).fold(1e-3, f64::max);
            let metres = frames[0].matrix3.determinant().abs().cbrt() * far;
            for (frame, at) in frames.iter().zip(&places) {
                // What of the mesh is about the joint is carried to where all other joints would carry it.
                for corner in [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z] {
                    let p = at + corner * 0.2 * far;
                    worst =
                        worst.max(frame.transform_point3(p).distance(frames[0].transform_point3(p)) / metres);
                }
                joints += 1;
            }
            assert!(worst < 1e-4, "{name}: {worst} of the figure's size");
            skins += 1;
        }
    }
    assert_eq!((joints, skins), (396, 11));
}
