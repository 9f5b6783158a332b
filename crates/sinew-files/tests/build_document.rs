//! Documents made from nothing hold what they were made of.

use std::sync::Arc;

use glam::{Mat4, Quat, Vec3};
use serde_json::Value;
use sinew::{
    JointTransform, Pose, Skeleton,
    motion::{Clip, Interpolation, JointTracks, Track},
};
use sinew_files::{
    build::{self, BuildError, Mesh},
    gltf::Document,
};

/// A leg with every kind of rest transform, and a toe that is scaled.
fn leg() -> Arc<Skeleton> {
    let mut b = Skeleton::builder();
    let turn = Quat::from_xyzw(0.6, 0.0, 0.0, 0.8);
    let hips = b.add("hips", None, JointTransform::from_translation(Vec3::new(0.1, 0.9, 0.0)));
    let thigh = b.add(
        "thigh.L",
        Some(hips),
        JointTransform { translation: Vec3::X * 0.1, rotation: turn, scale: Vec3::splat(2.0) },
    );
    let shin = b.add("shin.L", Some(thigh), JointTransform::from_translation(Vec3::new(0.0, -0.2, 0.0)));
    b.add("foot.L", Some(shin), JointTransform::from_translation(Vec3::new(0.0, -0.2, 0.02)));
    Arc::new(b.build().unwrap().0)
}

/// The JSON and the binary chunk of the GLB that a document makes, cut by hand.
fn glb(document: &Document) -> (Value, Vec<u8>) {
    let mut bytes = Vec::new();
    document.to_glb(&mut bytes).unwrap();
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], length(8)), (&b"glTF"[..], bytes.len()));
    let json = &bytes[20..20 + length(12)];
    (serde_json::from_slice(json).unwrap(), bytes[28 + json.len()..].to_vec())
}

/// The floats of an accessor, read by hand.
fn floats(json: &Value, bin: &[u8], accessor: &Value, width: usize) -> Vec<f32> {
    let accessor = &json["accessors"][accessor.as_u64().unwrap() as usize];
    assert_eq!(accessor["componentType"], 5126);
    let view = &json["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
    let offset = |v: &Value| v["byteOffset"].as_u64().unwrap_or(0) as usize;
    let at = offset(view) + offset(accessor);
    let count = accessor["count"].as_u64().unwrap() as usize * width;
    bin[at..at + 4 * count].chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn inverse_binds_undo_the_rest_pose() {
    let skeleton = leg();
    let (json, bin) = glb(&build::document("leg", &skeleton, &build::figure(&skeleton), &[]).unwrap());
    let numbers = floats(&json, &bin, &json["skins"][0]["inverseBindMatrices"], 16);
    // The rest pose multiplied out with glam's own matrices from what the nodes say.
    let mut models: Vec<Mat4> = vec![Mat4::IDENTITY; skeleton.len()];
    for joint in skeleton.joints() {
        let rest = skeleton.rest(joint);
        let local = Mat4::from_scale_rotation_translation(rest.scale, rest.rotation, rest.translation);
        models[joint.index()] = skeleton.parent(joint).map_or(local, |p| models[p.index()] * local);
        let inverse = Mat4::from_cols_slice(&numbers[16 * joint.index()..][..16]);
        assert!((models[joint.index()] * inverse).abs_diff_eq(Mat4::IDENTITY, 1e-5));
    }
    assert_eq!(json["asset"]["generator"], "sinew");
    assert_eq!(json["nodes"][1]["name"], "thigh.L");
    assert_eq!(json["nodes"][1]["children"], serde_json::json!([2]));
}

#[test]
fn vertices_have_unit_normals_out_of_the_body_and_whole_weights() {
    let skeleton = leg();
    let mesh = build::figure(&skeleton);
    assert!(mesh.vertex_count() > 100);
    let pose = Pose::rest(&skeleton);
    for part in &mesh.parts {
        for v in &part.vertices {
            assert!((v.normal.length() - 1.0).abs() < 1e-4 && v.position.is_finite());
            assert_eq!(v.joints.iter().map(|j| j.1).sum::<f32>(), 1.0);
        }
        for t in &part.triangles {
            let [a, b, c] = t.map(|i| part.vertices[i as usize]);
            let face = (b.position - a.position).cross(c.position - a.position);
            assert!(
                face.dot(a.normal + b.normal + c.normal) >= 0.0,
                "a triangle of {} is inside out",
                part.color.name
            );
        }
    }
    // The shin's body lies between knee and ankle, and its joint carries it.
    let (shin, foot) = (skeleton.find("shin.L").unwrap(), skeleton.find("foot.L").unwrap());
    let (a, b) = (pose.position(shin), pose.position(foot));
    let mut count = 0;
    for v in mesh.parts.iter().filter(|p| p.color.name == "left").flat_map(|p| &p.vertices) {
        if v.joints[0].0 == shin {
            let t = (v.position - a).dot(b - a) / (b - a).length_squared();
            assert!((-0.01..=1.01).contains(&t));
            count += 1;
        }
    }
    assert!(count > 20);
}

#[test]
fn clips_become_animations() {
    let skeleton = leg();
    let shin = skeleton.find("shin.L").unwrap();
    let mut tracks = JointTracks::new(shin);
    let turn = Quat::from_xyzw(0.6, 0.0, 0.0, 0.8);
    tracks.rotation =
        Some(Track::new(vec![0.0, 0.5], vec![Quat::IDENTITY, turn], Interpolation::Step).unwrap());
    tracks.translation =
        Some(Track::new(vec![0.0, 0.5], vec![Vec3::ZERO, Vec3::ONE], Interpolation::Linear).unwrap());
    let clip = Clip::new("kick", &skeleton, vec![tracks]).unwrap();
    let (json, bin) = glb(&build::document("leg", &skeleton, &build::figure(&skeleton), &[clip]).unwrap());
    let animation = &json["animations"][0];
    assert_eq!(animation["name"], "kick");
    assert_eq!(animation["channels"][1]["target"], serde_json::json!({"node": 2, "path": "rotation"}));
    let sampler = &animation["samplers"][1];
    assert_eq!(sampler["interpolation"], "STEP");
    assert_eq!(floats(&json, &bin, &sampler["input"], 1), [0.0, 0.5]);
    assert_eq!(floats(&json, &bin, &sampler["output"], 4), [0.0, 0.0, 0.0, 1.0, 0.6, 0.0, 0.0, 0.8]);
    assert_eq!(animation["samplers"][0]["input"], sampler["input"], "equal times are written once");
}

fn c_of(skeleton: &Skeleton) -> sinew::JointId {
    skeleton.find("c").unwrap()
}

#[test]
fn several_roots_get_one_above_them() {
    let mut b = Skeleton::builder();
    b.add("a", None, JointTransform::IDENTITY);
    let c = b.add("b", None, JointTransform::from_translation(Vec3::X));
    b.add("c", Some(c), JointTransform::from_translation(Vec3::X));
    let skeleton = Arc::new(b.build().unwrap().0);
    let mut tracks = JointTracks::new(c_of(&skeleton));
    tracks.translation = Some(Track::new(vec![0.0], vec![Vec3::Y], Interpolation::Linear).unwrap());
    let clip = Clip::new("rise", &skeleton, vec![tracks]).unwrap();
    let document = build::document("two", &skeleton, &build::figure(&skeleton), &[clip]).unwrap();
    let json = document.json();
    assert_eq!(json["nodes"][3]["children"], serde_json::json!([0, 1]));
    assert_eq!(json["skins"][0]["skeleton"], 3);
    assert_eq!(
        json["animations"][0]["channels"][0]["target"]["node"], 2,
        "the clip moves the joint it moved"
    );
}

#[test]
fn what_cannot_be_skinned_is_said() {
    let skeleton = leg();
    assert!(matches!(build::document("", &skeleton, &Mesh::new(), &[]), Err(BuildError::NoTriangles)));
    let mut b = Skeleton::builder();
    let flat =
        b.add("flat", None, JointTransform { scale: Vec3::new(1.0, 0.0, 1.0), ..JointTransform::IDENTITY });
    b.add("tip", Some(flat), JointTransform::from_translation(Vec3::X));
    let skeleton = Arc::new(b.build().unwrap().0);
    let error = build::document("", &skeleton, &build::figure(&skeleton), &[]).unwrap_err();
    assert!(error.to_string().contains("`flat`"), "{error}");
    let mut b = Skeleton::builder();
    for i in 0..100_000usize {
        b.add("j", i.checked_sub(1), JointTransform::from_translation(Vec3::Y * 0.01));
    }
    let skeleton = Arc::new(b.build().unwrap().0);
    assert!(matches!(
        build::document("", &skeleton, &build::figure(&skeleton), &[]),
        Err(BuildError::TooManyJoints { count: 100_000 })
    ));
}

#[test]
fn odd_skeletons_get_a_figure_without_a_fault() {
    for places in [vec![], vec![Vec3::ZERO], vec![Vec3::Y; 3], vec![Vec3::splat(1e30), Vec3::splat(-1e30)]] {
        let mut b = Skeleton::builder();
        b.add("root", None, JointTransform::IDENTITY);
        for (i, place) in places.into_iter().enumerate() {
            b.add("", Some(i), JointTransform::from_translation(place));
        }
        let skeleton = Arc::new(b.build().unwrap().0);
        let _ = build::figure(&skeleton);
    }
}
