//! Documents made by hand, read: values computed independently of the reader.

mod gltf_hand;

use std::sync::Arc;

use glam::{Quat, Vec3};
use gltf_hand::{Hand, small};
use serde_json::json;
use sinew::body::BindFault;
use sinew::{AffineError, JointTransform, Pose};
use sinew_files::{Model, gltf::Document};

fn read(hand: &Hand) -> Model {
    Document::from_bytes(&hand.glb(), "hand.glb", None).unwrap().into_model().unwrap()
}

fn at(model: &Model, clip: &str, joint: &str, time: f32) -> JointTransform {
    let clip = model.clips.iter().find(|c| c.name() == clip).unwrap();
    let mut pose = Pose::rest(&model.skeleton);
    clip.sample(time, &mut pose);
    *pose.local(model.skeleton.find(joint).unwrap())
}

fn turned(a: Quat, b: [f64; 4]) -> bool {
    let a = [a.x, a.y, a.z, a.w].map(f64::from);
    let dot: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
    let l: f64 = b.iter().map(|b| b * b).sum();
    // 1 - cos of half the angle between them, for about 1e-3 radians.
    1.0 - (dot / l.sqrt()).abs() < 2e-7
}

#[test]
fn step_linear_and_cubic_keys_are_read_as_the_specification_has_them() {
    let mut hand = Hand::new(json!([{"name": "a"}]));
    let times = hand.floats("SCALAR", &[1.0, 3.0]);
    let values = hand.floats("VEC3", &[0.0, 10.0, 1.0, 4.0, 20.0, -1.0]);
    hand.animate("step", 0, "translation", "STEP", times, values);
    hand.animate("linear", 0, "translation", "LINEAR", times, values);
    // p(t) = 2 - t + 3 t^2 - t^3, with p' = -1 + 6 t - 3 t^2, over the two seconds from t = 0 to 2.
    let (p, d) = (|t: f32| 2.0 - t + 3.0 * t * t - t * t * t, |t: f32| -1.0 + 6.0 * t - 3.0 * t * t);
    let (p0, d0, p1, d1) = (p(0.0), d(0.0), p(2.0), d(2.0));
    let keys = [[9.0, p0, d0], [d1, p1, 9.0]];
    let cubic: Vec<f32> = keys.iter().flatten().flat_map(|&x| [x, 2.0 * x, -x]).collect();
    let cubic = hand.floats("VEC3", &cubic);
    hand.animate("cubic", 0, "scale", "CUBICSPLINE", times, cubic);
    let (s, c) = (std::f32::consts::FRAC_PI_4.sin(), std::f32::consts::FRAC_PI_4.cos());
    // The second key is the negative of the quarter turn: the shorter way has to be found.
    let turns = hand.floats("VEC4", &[0.0, 0.0, 0.0, 1.0, 0.0, -s, 0.0, -c]);
    hand.animate("turn", 0, "rotation", "LINEAR", times, turns);
    let curve = hand.floats(
        "VEC4",
        &[
            0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.5, 0.0, 0.0, 0.0, //
            0.0, 0.0, 0.25, 0.0, 0.0, 0.6, 0.0, 0.8, 0.0, 0.0, 0.0, 0.0,
        ],
    );
    hand.animate("curve", 0, "rotation", "CUBICSPLINE", times, curve);
    let model = read(&hand);
    for (time, x) in [(0.0, 0.0), (1.0, 0.0), (2.999, 0.0), (3.0, 4.0), (9.0, 4.0)] {
        assert_eq!(at(&model, "step", "a", time).translation.x, x, "{time}");
    }
    assert_eq!(at(&model, "linear", "a", 1.5).translation, Vec3::new(1.0, 12.5, 0.5));
    for t in [0.0f32, 0.3, 1.1, 1.9, 2.0] {
        let scale = at(&model, "cubic", "a", 1.0 + t).scale;
        assert!((scale - Vec3::new(p(t), 2.0 * p(t), -p(t))).length() < 1e-5, "{t}: {scale}");
        let half = f64::from(t) / 2.0 * std::f64::consts::FRAC_PI_4;
        let turn = at(&model, "turn", "a", 1.0 + t).rotation;
        assert!(turned(turn, [0.0, half.sin(), 0.0, half.cos()]), "{t}: {turn}");
        // Hermite by Bezier control points and de Casteljau, for each component.
        let key = |a: f64, out: f64, into: f64, b: f64| {
            let u = f64::from(t) / 2.0;
            let mut q = [a, a + out * 2.0 / 3.0, b - into * 2.0 / 3.0, b];
            for n in (1..4).rev() {
                for i in 0..n {
                    q[i] += (q[i + 1] - q[i]) * u;
                }
            }
            q[0]
        };
        let want = [
            key(0.0, 0.5, 0.0, 0.0),
            key(0.0, 0.0, 0.0, 0.6),
            key(0.0, 0.0, 0.25, 0.0),
            key(1.0, 0.0, 0.0, 0.8),
        ];
        let curve = at(&model, "curve", "a", 1.0 + t).rotation;
        assert!(turned(curve, want), "{t}: {curve}, {want:?}");
    }
}

#[test]
fn normalised_strided_and_sparse_accessors_decode() {
    let mut hand = Hand::new(json!([{"name": "a"}]));
    // Times interleaved with something else, 12 bytes apart.
    let mut bytes = Vec::new();
    for t in [0.0f32, 0.5, 2.0] {
        bytes.extend(t.to_le_bytes());
        bytes.extend([0xff; 8]);
    }
    let view = hand.view(&bytes);
    hand.json["bufferViews"][view]["byteStride"] = json!(12);
    let times =
        hand.accessor(json!({"bufferView": view, "componentType": 5126, "count": 3, "type": "SCALAR"}));
    let shorts: Vec<u8> = [[0i16, 0, 0, 32767], [0, 0, -32768, 0], [16384, 0, 0, 28377]]
        .iter()
        .flatten()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    let view = hand.view(&shorts);
    let turns = hand.accessor(
        json!({"bufferView": view, "componentType": 5122, "normalized": true, "count": 3, "type": "VEC4"}),
    );
    hand.animate("turn", 0, "rotation", "STEP", times, turns);
    let base = hand.view(&[51, 102, 255, 0, 0, 0, 255, 255, 255]);
    let (indices, values) = (hand.view(&[1]), hand.view(&[255, 0, 51]));
    let scale = hand.accessor(json!({
        "bufferView": base, "componentType": 5121, "normalized": true, "count": 3, "type": "VEC3",
        "sparse": {"count": 1, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}}
    }));
    hand.animate("scale", 0, "scale", "STEP", times, scale);
    let values = hand.view(&[1.5f32, 2.5, 3.5].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
    let bare = hand.accessor(json!({
        "componentType": 5126, "count": 3, "type": "VEC3",
        "sparse": {"count": 1, "indices": {"bufferView": indices, "componentType": 5121}, "values": {"bufferView": values}}
    }));
    hand.animate("move", 0, "translation", "STEP", times, bare);
    let model = read(&hand);
    assert_eq!(model.problems, []);
    assert!(turned(at(&model, "turn", "a", 0.6).rotation, [0.0, 0.0, -1.0, 0.0]));
    assert!(turned(at(&model, "turn", "a", 2.0).rotation, [16384.0, 0.0, 0.0, 28377.0]));
    assert!((at(&model, "scale", "a", 0.1).scale - Vec3::new(0.2, 0.4, 1.0)).length() < 1e-6);
    assert!((at(&model, "scale", "a", 0.5).scale - Vec3::new(1.0, 0.0, 0.2)).length() < 1e-6);
    assert_eq!(at(&model, "move", "a", 0.1).translation, Vec3::ZERO);
    assert_eq!(at(&model, "move", "a", 0.5).translation, Vec3::new(1.5, 2.5, 3.5));
}

#[test]
fn matrices_mirrors_and_scales_place_their_children() {
    // A quarter turn about z, twice as large, mirrored along its own x; then a 0.01 root as
    // exporters of centimetres make it.
    let matrix = [0, -2, 0, 0, -2, 0, 0, 0, 0, 0, 2, 0, 5, 6, 7, 1];
    let hand = Hand::new(json!([
        {"matrix": matrix, "children": [1]},
        {"translation": [1, 10, 100], "children": [3]},
        {"name": "loose", "scale": [0.01, 0.01, 0.01], "children": [4]},
        {"translation": [0, 0, 1]},
        {"name": "cm", "translation": [100, 50, 0], "rotation": [0, 0, 1.25, 1.25]},
    ]));
    let model = read(&hand);
    let names: Vec<_> = model.skeleton.joints().map(|j| model.skeleton.name(j)).collect();
    assert_eq!(names, ["node0", "node1", "node3", "loose", "cm"]);
    let pose = Pose::rest(&model.skeleton);
    let place = |name| pose.position(model.skeleton.find(name).unwrap());
    assert!((place("node1") - Vec3::new(5.0 - 20.0, 6.0 - 2.0, 7.0 + 200.0)).length() < 1e-4);
    assert!((place("node3") - Vec3::new(-15.0, 4.0, 209.0)).length() < 1e-4);
    assert!((place("cm") - Vec3::new(1.0, 0.5, 0.0)).length() < 1e-6);
    let half = 0.5f64.sqrt();
    let cm = model.skeleton.rest(model.skeleton.find("cm").unwrap()).rotation;
    assert!(turned(cm, [0.0, 0.0, half, half]) && (cm.length() - 1.0).abs() < 1e-6);
    assert!(model.clips.is_empty() && model.bind.len() == 5);
}

#[test]
fn the_default_scene_alone_makes_the_skeleton() {
    let mut hand = Hand::new(json!([{"name": "out"}, {"name": "in", "children": [2]}, {"name": "below"}]));
    hand.json["scenes"] = json!([{"nodes": [0]}, {"nodes": [1]}]);
    hand.json["scene"] = json!(1);
    let times = hand.floats("SCALAR", &[0.0]);
    let values = hand.floats("VEC3", &[1.0, 2.0, 3.0]);
    hand.animate("elsewhere", 0, "translation", "LINEAR", times, values);
    let model = read(&hand);
    assert_eq!(model.skeleton.len(), 2);
    assert_eq!(model.skeleton.name(model.skeleton.joint_at(0).unwrap()), "in");
    assert_eq!(model.problems.len(), 1);
    let text = model.problems[0].to_string();
    assert_eq!(text, "animations[0]: clip `elsewhere`: no key moves a joint");
}

#[test]
fn a_clip_that_cannot_be_played_does_not_spoil_the_file() {
    let mut hand = small();
    let times = hand.floats("SCALAR", &[0.0, 1.0, 2.0]);
    let nan = hand.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0]);
    hand.animate("nan", 1, "translation", "LINEAR", times, nan);
    let falling = hand.floats("SCALAR", &[0.0, 2.0, 1.0]);
    let zeros = hand.floats("VEC3", &[0.0; 9]);
    hand.animate("falling", 1, "scale", "LINEAR", falling, zeros);
    let none = hand.accessor(json!({"componentType": 5126, "count": 0, "type": "SCALAR"}));
    let nothing = hand.accessor(json!({"componentType": 5126, "count": 0, "type": "VEC3"}));
    hand.animate("no keys", 1, "scale", "LINEAR", none, nothing);
    hand.animate("morph", 1, "weights", "LINEAR", times, falling);
    let twice = hand.floats("SCALAR", &[0.0, 1.0, 1.0]);
    let jump = hand.floats("VEC3", &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    hand.animate("jump", 1, "translation", "LINEAR", twice, jump);
    let model = read(&hand);
    let problems: Vec<_> = model.problems.iter().map(ToString::to_string).collect();
    let named = |i: usize, words: &[&str]| words.iter().all(|w| problems[i].contains(w));
    assert_eq!(problems.len(), 4, "{problems:?}");
    assert!(
        named(0, &["animations[3].channels[0]", "`nan`", "translation of `tip`", "key 1"]),
        "{problems:?}"
    );
    assert!(named(1, &["`falling`", "scale of `tip`", "key 2"]), "{problems:?}");
    assert!(named(2, &["`no keys`", "no key"]) && named(3, &["`morph`", "no key"]), "{problems:?}");
    // A jump that was written as two keys at one time keeps both values.
    assert_eq!(at(&model, "jump", "tip", 0.5).translation.x, 0.5);
    assert_eq!(at(&model, "jump", "tip", 1.0).translation.x, 1.0);
    assert_eq!(at(&model, "jump", "tip", 1.001).translation.x, 5.0);
}

#[test]
fn vertices_go_to_their_strongest_joint() {
    let model = read(&small());
    let joint = |name| model.skeleton.find(name).unwrap();
    let found: Vec<_> =
        model.skin.iter().map(|v| (v.joint, v.position, (v.weight * 255.0).round())).collect();
    assert_eq!(found.len(), 6);
    // The rigid box hangs below the root, so that it comes first.
    assert!(found[..3].iter().all(|v| *v == (joint("box"), Vec3::ZERO, 255.0)));
    let near = |i: usize, name, at: Vec3, weight| {
        found[i].0 == joint(name) && (found[i].1 - at).length() < 1e-6 && found[i].2 == weight
    };
    assert!(near(3, "root", Vec3::new(0.0, 0.2, 0.0), 200.0), "{found:?}");
    assert!(near(4, "tip", Vec3::new(0.1, 0.1, 0.0), 255.0), "{found:?}");
    assert!(near(5, "tip", Vec3::new(0.0, -0.1, 0.2), 128.0), "{found:?}");
}

/// Column-major product and inverse of matrices, in f64, for the oracle.
type Matrix = [f64; 16];

fn similarity(angle: f64, scale: f64, at: [f64; 3]) -> Matrix {
    let (s, c) = angle.sin_cos();
    let (s, c) = (s * scale, c * scale);
    [c, s, 0.0, 0.0, -s, c, 0.0, 0.0, 0.0, 0.0, scale, 0.0, at[0], at[1], at[2], 1.0]
}

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| (0..4).map(|k| a[4 * k + i % 4] * b[4 * (i / 4) + k]).sum())
}

fn inverse(m: &Matrix) -> Matrix {
    // Of a similarity: the transpose over the squared scale.
    let ss = m[0] * m[0] + m[1] * m[1];
    let mut r = [0.0; 16];
    for i in 0..3 {
        for k in 0..3 {
            r[4 * i + k] = m[4 * k + i] / ss;
        }
    }
    for i in 0..3 {
        r[12 + i] = -(0..3).map(|k| r[4 * k + i] * m[12 + k]).sum::<f64>();
    }
    r[15] = 1.0;
    r
}

#[test]
fn the_bind_pose_comes_from_the_skin_under_any_scale() {
    // Root scaled by 0.01; four joints in centimetres; the mesh in metres. At rest the last two are bent, as when an
    // exporter takes the first frame of a clip for the rest pose; with `all` the first one is, too, so that no joint agrees.
    for (all, world) in [(false, 1.0), (true, 1.0), (false, 0.01), (true, 0.01)] {
        let root = similarity(0.3, 0.01, [0.0, 0.2, 0.0]);
        let locals = [10.0, 40.0, 35.0, 8.0].map(|y| similarity(0.0, 1.0, [0.0, y, 0.0]));
        let mesh = similarity(0.0, world, [0.5, 0.0, 0.0]);
        let (mut frame, mut inverses) = (root, Vec::new());
        for local in &locals {
            frame = product(&frame, local);
            inverses.extend(product(&inverse(&frame), &mesh).map(|x| x as f32));
        }
        let bends =
            [if all { 0.4f64 } else { 0.0 }, if all { 0.5 } else { 0.0 }, if all { 0.6 } else { 0.0 }, 0.9];
        let node = |i: usize| {
            let bend = bends[i] / 2.0;
            json!({"name": format!("j{i}"), "translation": [0.0, locals[i][13], 0.0],
                "rotation": [0.0, 0.0, bend.sin(), bend.cos()], "children": if i < 3 { vec![i + 2] } else { vec![] }})
        };
        let mut nodes = vec![json!({"name": "root", "matrix": root, "children": [1]})];
        nodes.extend((0..4).map(node));
        nodes[4].as_object_mut().unwrap().remove("children");
        nodes.push(json!({"name": "mesh", "matrix": mesh, "mesh": 0, "skin": 0}));
        let mut hand = Hand::new(json!(nodes));
        let inverses = hand.floats("MAT4", &inverses);
        hand.json["skins"] = json!([{"joints": [1, 2, 3, 4], "inverseBindMatrices": inverses}]);
        hand.json["meshes"] = json!([{"primitives": []}]);
        let model = read(&hand);
        for i in 0..4 {
            let joint = model.skeleton.find(&format!("j{i}")).unwrap();
            let bind = model.bind[joint.index()];
            assert!(
                (bind.translation - Vec3::new(0.0, locals[i][13] as f32, 0.0)).length() < 1e-3,
                "{all} {i} {bind:?}"
            );
            assert!(turned(bind.rotation, [0.0, 0.0, 0.0, 1.0]), "{all} {i} {bind:?}");
            assert!((bind.scale - Vec3::ONE).length() < 1e-4, "{all} {i} {bind:?}");
            // Where rest and bind are one, they are so to the bit.
            let rest = model.skeleton.rest(joint);
            assert_eq!(*rest == bind, bends[i] == 0.0, "{all} {i}");
        }
    }
}

#[test]
fn vrm_roles_are_read_under_the_names_of_1_0() {
    let mut hand = Hand::new(json!([{"name": "Hips", "children": [1, 2]}, {"name": "T0"}, {"name": "T1"}]));
    hand.json["extensions"] = json!({"VRM": {"humanoid": {"humanBones": [
        {"bone": "hips", "node": 0}, {"bone": "leftThumbProximal", "node": 1},
        {"bone": "leftThumbIntermediate", "node": 2}, {"bone": "jaw", "node": -1}]}}});
    let roles = |hand: &Hand| -> Vec<(String, String)> {
        let model = read(hand);
        model.declared_roles.iter().map(|(r, j)| (r.clone(), model.skeleton.name(*j).to_owned())).collect()
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    let want = [pair("hips", "Hips"), pair("leftThumbMetacarpal", "T0"), pair("leftThumbProximal", "T1")];
    assert_eq!(roles(&hand), want);
    hand.json["extensions"] = json!({"VRMC_vrm": {"humanoid": {"humanBones": {
        "hips": {"node": 0}, "leftThumbMetacarpal": {"node": 1}}}}});
    assert_eq!(roles(&hand), want[..2]);
}

#[test]
fn triangles_lie_under_their_nodes_and_keep_their_faces_outside() {
    let mut hand = Hand::new(json!([
        {"mesh": 0, "translation": [10, 0, 0]},
        {"scale": [-1, 1, 1], "children": [2]},
        {"mesh": 1, "translation": [10, 0, 0]},
    ]));
    let positions = hand.floats("VEC3", &[0., 0., 0., 0., 0., 1., 1., 0., 0., 1., 0., 1.]);
    let indices = hand.view(&[0, 1, 2]);
    let indices =
        hand.accessor(json!({"bufferView": indices, "componentType": 5121, "count": 3, "type": "SCALAR"}));
    hand.json["meshes"] = json!([
        {"primitives": [{"attributes": {"POSITION": positions}, "mode": 5}]},
        {"primitives": [{"attributes": {"POSITION": positions}, "indices": indices}]},
    ]);
    let document = Document::from_bytes(&hand.glb(), "hand.glb", None).unwrap();
    let mesh = document.triangles().unwrap();
    assert_eq!(mesh.triangles.len(), 3);
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|i| mesh.positions[i as usize]);
        assert!((b - a).cross(c - a).y > 0.0, "{a} {b} {c}");
    }
    assert_eq!(mesh.bounds().unwrap(), (Vec3::new(-11.0, 0.0, 0.0), Vec3::new(11.0, 0.0, 1.0)));
}

#[test]
fn a_hierarchy_of_a_hundred_thousand_is_read() {
    let count = 100_000;
    let nodes: Vec<_> = (0..count)
        .map(|i| {
            let mut node = json!({"translation": [0, 0.001, 0]});
            if i + 1 < count {
                node["children"] = json!([i + 1]);
            }
            node
        })
        .collect();
    let model = read(&Hand::new(json!(nodes)));
    let pose = Pose::rest(&Arc::clone(&model.skeleton));
    let last = model.skeleton.joint_at(count - 1).unwrap();
    assert!((pose.position(last).y - 100.0).abs() < 0.1);
}

#[test]
fn what_the_bind_pose_cannot_have_is_said_by_skin_and_joint() {
    // Three joints in a row, which two skins bind as they are at rest.
    let rest = [0.0, 1.0, 1.0].map(|y| similarity(0.0, 1.0, [0.0, y, 0.0]));
    let frames = [rest[0], product(&rest[0], &rest[1]), product(&rest[1], &rest[2])];
    let model = |change: &dyn Fn(&mut [Matrix; 3], &mut [Matrix; 3])| {
        let mut nodes: Vec<_> = (0..3)
            .map(|i| json!({"name": format!("j{i}"), "matrix": rest[i], "children": [i + 1]}))
            .collect();
        nodes[2].as_object_mut().unwrap().remove("children");
        nodes.extend([json!({"mesh": 0, "skin": 0}), json!({"mesh": 0, "skin": 1})]);
        let mut hand = Hand::new(json!(nodes));
        let (mut first, mut second) = (frames.map(|f| inverse(&f)), frames.map(|f| inverse(&f)));
        change(&mut first, &mut second);
        let [first, second] = [first, second]
            .map(|m| hand.floats("MAT4", &m.concat().iter().map(|x| *x as f32).collect::<Vec<_>>()));
        hand.json["skins"] = json!([
            {"joints": [0, 1, 2], "inverseBindMatrices": first},
            {"joints": [0, 1, 2], "inverseBindMatrices": second},
        ]);
        hand.json["meshes"] = json!([{"primitives": []}]);
        read(&hand)
    };
    let said = |model: &Model| model.bind_problems.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(said(&model(&|_, _| ())), [""; 0]);
    // The same skin in centimetres is no other one.
    let small = similarity(0.0, 0.01, [0.3, 0.0, 0.0]);
    let scaled = model(&|_, second| second.iter_mut().for_each(|m| *m = product(m, &small)));
    assert_eq!(said(&scaled), [""; 0]);

    let singular = model(&|first, _| first[1] = [0.0; 16]);
    assert_eq!(
        said(&singular),
        ["skins[0]: joint #1 `j1`: the inverse bind matrix has no inverse (its determinant is 0)"]
    );
    let bound: Vec<_> = singular.bind_pose().locals().to_vec();
    assert_eq!(bound, Pose::rest(&singular.skeleton).locals(), "the second skin says it");

    let sheared = model(&|first, second| {
        // The last joint's second axis leans by 0.3; both skins say so.
        let mut back = inverse(&frames[2]);
        back[4] = -0.3;
        back[12] = 0.3 * frames[2][13];
        (first[2], second[2]) = (back, back);
    });
    let [problem] = &sheared.bind_problems[..] else { panic!("{:?}", sheared.bind_problems) };
    assert_eq!((problem.skin, problem.joint.index(), &problem.name[..]), (0, 2, "j2"));
    let wanted = 0.3 / 1.09f32.sqrt();
    match problem.fault {
        BindFault::Sheared(AffineError::Sheared { shear, .. }) => {
            assert!((shear - wanted).abs() < 1e-5, "{shear}")
        }
        ref other => panic!("{other}"),
    }
    // The nearest rotation turns by half of the lean.
    let turned = sheared.bind_pose().local(problem.joint).rotation;
    assert!((2.0 * turned.z.abs().asin() - 0.5 * 0.3f32.atan()).abs() < 0.01, "{turned}");

    let moved = product(&frames[2], &similarity(0.5, 1.0, [0.2, 0.0, 0.0]));
    let apart = model(&|_, second| second[2] = inverse(&moved));
    let [problem] = &apart.bind_problems[..] else { panic!("{:?}", apart.bind_problems) };
    assert_eq!((problem.skin, problem.joint.index()), (1, 2));
    match problem.fault {
        BindFault::Disagrees { first: 0, distance, angle } => {
            assert!((distance - 0.2).abs() < 1e-5 && (angle - 0.5).abs() < 1e-5, "{distance} {angle}");
        }
        ref other => panic!("{other}"),
    }
    assert_eq!(apart.bind_pose().locals(), Pose::rest(&apart.skeleton).locals(), "the first skin counts");
}
