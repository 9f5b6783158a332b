//! Front and eyes of a model in a look-at: VRM 0 faces -Z, VRM 1 and glTF +Z.

mod common;

use common::{done, failed, number, parse, write};
use serde_json::{Value, json};

/// Joints of a figure that faces +Z, with parents and offsets. The names tell no roles.
const JOINTS: [(&str, Option<usize>, [f64; 3], &str); 12] = [
    ("n0", None, [0.0, 0.9, 0.0], "hips"),
    ("n1", Some(0), [0.0, 0.2, 0.0], "spine"),
    ("n2", Some(1), [0.0, 0.3, 0.0], "neck"),
    ("n3", Some(2), [0.0, 0.1, 0.0], "head"),
    ("n4", Some(3), [0.03, 0.08, 0.09], "leftEye"),
    ("n5", Some(3), [-0.03, 0.08, 0.09], "rightEye"),
    ("n6", Some(0), [0.1, -0.05, 0.0], "leftUpperLeg"),
    ("n7", Some(6), [0.0, -0.4, 0.01], "leftLowerLeg"),
    ("n8", Some(7), [0.0, -0.4, -0.01], "leftFoot"),
    ("n9", Some(0), [-0.1, -0.05, 0.0], "rightUpperLeg"),
    ("n10", Some(9), [0.0, -0.4, 0.01], "rightLowerLeg"),
    ("n11", Some(10), [0.0, -0.4, -0.01], "rightFoot"),
];

/// The figure as a VRM of version 1, or of version 0, which faces -Z.
fn vrm(version: u32) -> String {
    let turn = if version == 0 { -1.0 } else { 1.0 };
    let nodes: Vec<Value> = JOINTS
        .iter()
        .enumerate()
        .map(|(i, (name, _, [x, y, z], _))| {
            let children: Vec<usize> =
                JOINTS.iter().enumerate().filter(|(_, j)| j.1 == Some(i)).map(|(k, _)| k).collect();
            let mut node = json!({"name": name, "translation": [turn * x, y, turn * z]});
            if !children.is_empty() {
                node["children"] = json!(children);
            }
            node
        })
        .collect();
    let bones = JOINTS.iter().enumerate();
    let extensions = if version == 0 {
        let bones: Vec<_> = bones.map(|(i, j)| json!({"bone": j.3, "node": i})).collect();
        json!({"VRM": {"specVersion": "0.0", "humanoid": {"humanBones": bones}}})
    } else {
        let bones: serde_json::Map<_, _> = bones.map(|(i, j)| (j.3.into(), json!({"node": i}))).collect();
        json!({"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}})
    };
    let used: Vec<&String> = extensions.as_object().unwrap().keys().collect();
    json!({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": nodes,
        "extensionsUsed": used, "extensions": extensions})
    .to_string()
}

type Q = [f64; 4];

fn rotate([x, y, z, w]: Q, v: [f64; 3]) -> [f64; 3] {
    let t = [2.0 * (y * v[2] - z * v[1]), 2.0 * (z * v[0] - x * v[2]), 2.0 * (x * v[1] - y * v[0])];
    [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]
}

/// Position and direction of an eye, by forward kinematics.
fn eye(version: u32, answer: &Value, eye: usize) -> ([f64; 3], [f64; 3]) {
    let turn = if version == 0 { -1.0 } else { 1.0 };
    let (mut at, mut ahead) = ([0.0; 3], [0.0, 0.0, turn]);
    let mut joint = Some(eye);
    while let Some(j) = joint {
        let (name, parent, [x, y, z], _) = JOINTS[j];
        if let Some(q) = answer["rotations"].get(name) {
            let q = std::array::from_fn(|i| number(&q[i]));
            (at, ahead) = (rotate(q, at), rotate(q, ahead));
        }
        at = [at[0] + turn * x, at[1] + y, at[2] + turn * z];
        joint = parent;
    }
    (at, ahead)
}

#[test]
fn a_look_finds_spine_head_and_eyes_by_roles_and_the_front_by_the_legs() {
    for version in [0, 1] {
        let model = write("front", &format!("figure{version}.gltf"), &vrm(version));
        let turn = if version == 0 { -1.0 } else { 1.0 };
        // A target a metre to the figure's left, two in front, and somewhat low.
        let to = [turn, 1.2, 2.0 * turn];
        let goal = format!("{},{},{}", to[0], to[1], to[2]);
        let answer = parse(&done(&["solve", &model, "--solver", "look-at", "--to", &goal, "--json"]));
        assert_eq!(answer["status"], "reached", "VRM {version}: {answer}");
        let joints: Vec<_> = answer["rotations"].as_object().unwrap().keys().cloned().collect();
        assert_eq!(joints, ["n1", "n2", "n3", "n4", "n5"], "spine, neck, head and eyes");
        for e in [4, 5] {
            let (at, ahead) = eye(version, &answer, e);
            let way = [to[0] - at[0], to[1] - at[1], to[2] - at[2]];
            let length = way.iter().map(|c| c * c).sum::<f64>().sqrt();
            let cosine = way.iter().zip(ahead).map(|(a, b)| a * b).sum::<f64>() / length;
            assert!(cosine > 1.0 - 1e-6, "VRM {version}: eye {e} looks {ahead:?} from {at:?}");
        }
        // With the opposite front, the target is behind the figure.
        let other = format!("0,0,{}", -turn);
        let behind = ["solve", &model, "--solver", "look-at", "--to", &goal, "--json", "--front", &other];
        assert_ne!(parse(&done(&behind))["status"], "reached", "VRM {version}");
        let same = format!("0,0,{turn}");
        let said = ["solve", &model, "--solver", "look-at", "--to", &goal, "--json", "--front", &same];
        assert_eq!(parse(&done(&said)), answer);
    }
}

/// A look-at is reached if the eyes meet the target, wherever the face points.
#[test]
fn a_target_that_the_eyes_alone_follow_is_reached() {
    let model = write("gaze", "figure.gltf", &vrm(1));
    let look = |more: &[&str]| {
        let all = [&["solve", &model, "--solver", "look-at", "--to", "0.5,1.5,2", "--json"], more].concat();
        parse(&done(&all))
    };
    let still = look(&["--dead-zone", "30"]);
    assert_eq!(still["status"], "reached", "{still}");
    assert!(number(&still["rotation_error"]) < 1e-5, "{still}");
    // A face that meets the target counts only without eyes.
    let (face, behind) = (look(&["--eyes", "none"]), look(&["--front", "0,0,-1"]));
    assert_eq!(face["status"], "reached", "{face}");
    assert_ne!(behind["status"], "reached", "{behind}");
}

#[test]
fn a_front_is_a_direction_and_for_a_look() {
    let model = write("fault", "figure.gltf", &vrm(1));
    let look = ["solve", &model, "--solver", "look-at", "--to", "0,1,2", "--front", "0,0,0"];
    assert!(failed(&look, 1).contains("axis"), "{}", failed(&look, 1));
    let other = ["solve", &model, "--chain", "n6..n8", "--to", "0,1,2", "--front", "0,0,1"];
    assert!(failed(&other, 2).contains("--front"));
}
