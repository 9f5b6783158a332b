//! Roles found in real files, compared with roles identified by eye.
//!
//! The files are not part of the project; see `common::data`.

mod common;

use std::sync::Arc;

use sinew::{
    JointId, Pose, Skeleton,
    body::{BodyRoles, Role, RoleError, RoleHints, RoleSource, Side},
};
use sinew_files::{Model, ReadOptions};

struct Found {
    model: Model,
    body: Result<BodyRoles, RoleError>,
}

fn find(file: &str) -> Found {
    let path = common::data(file);
    let model = Model::read(&path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles);
    Found { model, body }
}

/// Names of thigh, shin, foot and toes (`-` for none).
type Leg = [&'static str; 4];
/// Names of clavicle (`-` for none), upper arm, forearm and hand.
type Arm = [&'static str; 4];

struct Expected {
    file: &'static str,
    hips: &'static str,
    spine: &'static [&'static str],
    neck: &'static str,
    head: &'static str,
    left: (Leg, Arm),
    right: (Leg, Arm),
}

const MOTION_BUILDER: ([Leg; 2], [Arm; 2]) = (
    [
        ["LeftUpLeg", "LeftLeg", "LeftFoot", "LeftToeBase"],
        ["RightUpLeg", "RightLeg", "RightFoot", "RightToeBase"],
    ],
    [
        ["LeftShoulder", "LeftArm", "LeftForeArm", "LeftHand"],
        ["RightShoulder", "RightArm", "RightForeArm", "RightHand"],
    ],
);

const ACCLAIM: Expected = Expected {
    file: "bvh/amc_02_03_run.bvh",
    hips: "root",
    spine: &["lowerback", "upperback", "thorax"],
    neck: "lowerneck",
    head: "head",
    left: (["lfemur", "ltibia", "lfoot", "ltoes"], ["lclavicle", "lhumerus", "lradius", "lwrist"]),
    right: (["rfemur", "rtibia", "rfoot", "rtoes"], ["rclavicle", "rhumerus", "rradius", "rwrist"]),
};

const EXPECTED: &[Expected] = &[
    Expected {
        file: "gltf/KayKit_Knight.glb",
        hips: "hips",
        spine: &["spine", "chest"],
        neck: "-",
        head: "head",
        left: (
            ["upperleg.l", "lowerleg.l", "foot.l", "toes.l"],
            ["-", "upperarm.l", "lowerarm.l", "wrist.l"],
        ),
        right: (
            ["upperleg.r", "lowerleg.r", "foot.r", "toes.r"],
            ["-", "upperarm.r", "lowerarm.r", "wrist.r"],
        ),
    },
    Expected {
        file: "gltf/mannequiny.glb",
        hips: "pelvis",
        spine: &["spine_01", "spine_02"],
        neck: "neck_01",
        head: "head",
        left: (
            ["thigh.l", "calf.l", "foot.l", "ball.l"],
            ["clavicle.l", "upperarm.l", "lowerarm.l", "hand.l"],
        ),
        right: (
            ["thigh.r", "calf.r", "foot.r", "ball.r"],
            ["clavicle.r", "upperarm.r", "lowerarm.r", "hand.r"],
        ),
    },
    Expected {
        file: "gltf/m2m_human_sample-rig.glb",
        hips: "pelvis",
        spine: &["spine_01", "spine_02", "spine_03"],
        neck: "neck_01",
        head: "head",
        left: (
            ["thigh_l", "calf_l", "foot_l", "ball_l"],
            ["clavicle_l", "upperarm_l", "lowerarm_l", "hand_l"],
        ),
        right: (
            ["thigh_r", "calf_r", "foot_r", "ball_r"],
            ["clavicle_r", "upperarm_r", "lowerarm_r", "hand_r"],
        ),
    },
    Expected {
        file: "gltf/vrm0_cryptovoxels.vrm",
        hips: "Hips",
        spine: &["Spine", "Chest"],
        neck: "Neck",
        head: "Head",
        left: (
            ["Left leg", "Left knee", "Left ankle", "Left toe"],
            ["Left shoulder", "Left arm", "Left elbow", "Left wrist"],
        ),
        right: (
            ["Right leg", "Right knee", "Right ankle", "Right toe"],
            ["Right shoulder", "Right arm", "Right elbow", "Right wrist"],
        ),
    },
    Expected {
        file: "bvh/cmu_12_01_walk.bvh",
        hips: "Hips",
        spine: &["LowerBack", "Spine", "Spine1"],
        neck: "Neck",
        head: "Head",
        left: (MOTION_BUILDER.0[0], MOTION_BUILDER.1[0]),
        right: (MOTION_BUILDER.0[1], MOTION_BUILDER.1[1]),
    },
    ACCLAIM,
    Expected { file: "bvh/amc_03_01_uneven.bvh", ..ACCLAIM },
    Expected {
        file: "bvh/pymo_AV_8Walk_Meredith.bvh",
        hips: "Hips",
        spine: &["Spine"],
        neck: "-",
        head: "Head",
        left: (MOTION_BUILDER.0[0], MOTION_BUILDER.1[0]),
        right: (MOTION_BUILDER.0[1], MOTION_BUILDER.1[1]),
    },
    Expected {
        file: "bvh/pybvh_standard_skeleton.bvh",
        hips: "Hips",
        spine: &["Spine", "Spine1", "Spine2", "Spine3"],
        neck: "Neck",
        head: "Head",
        left: (MOTION_BUILDER.0[0], MOTION_BUILDER.1[0]),
        right: (MOTION_BUILDER.0[1], MOTION_BUILDER.1[1]),
    },
    Expected {
        file: "bvh/test_mocapbank.bvh",
        hips: "Hips",
        spine: &["Chest", "Chest2"],
        neck: "Neck",
        head: "Head",
        left: (
            ["LeftHip", "LeftKnee", "LeftAnkle", "-"],
            ["LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist"],
        ),
        right: (
            ["RightHip", "RightKnee", "RightAnkle", "-"],
            ["RightCollar", "RightShoulder", "RightElbow", "RightWrist"],
        ),
    },
];

#[test]
#[ignore = "needs SINEW_DATA"]
fn people_are_found_as_one_reads_them() {
    for e in EXPECTED {
        let Found { model, body } = find(e.file);
        let body = body.unwrap_or_else(|error| panic!("{}: {error}", e.file));
        let name = |j: JointId| model.skeleton.name(j);
        let maybe = |j: Option<JointId>| j.map_or("-", name);
        assert_eq!(name(body.hips), e.hips, "{}", e.file);
        assert_eq!(body.spine.iter().map(|&j| name(j)).collect::<Vec<_>>(), e.spine, "{}", e.file);
        assert_eq!((maybe(body.neck), maybe(body.head)), (e.neck, e.head), "{}", e.file);
        for (side, (leg, arm)) in Side::BOTH.into_iter().zip([e.left, e.right]) {
            let l = body.leg(side);
            assert_eq!([name(l.thigh), name(l.shin), name(l.foot), maybe(l.toes)], leg, "{}", e.file);
            let a = body.arm(side).unwrap_or_else(|| panic!("{}: no {side} arm: {:?}", e.file, body.doubts));
            let found = [maybe(a.clavicle), name(a.upper_arm), name(a.forearm), name(a.hand)];
            assert_eq!(found, arm, "{}", e.file);
        }
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn what_vrm_declares_is_believed() {
    for (file, foot) in [("gltf/vrm0_cryptovoxels.vrm", "Left ankle"), ("gltf/vrm1_mtoon_test.vrm", "")] {
        let Found { model, body } = find(file);
        let body = body.unwrap_or_else(|e| panic!("{file}: {e}"));
        assert_eq!(
            body.why(Role::Foot(Side::Left)),
            Some(&RoleSource::Declared("leftFoot".into())),
            "{file}"
        );
        assert_eq!(body.why(Role::Hips), Some(&RoleSource::Declared("hips".into())), "{file}");
        let name = model.skeleton.name(body.leg(Side::Left).foot);
        assert!(foot.is_empty() || name == foot, "{file}: {name}");
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn cesium_man_is_found_by_shape_alone() {
    let Found { model, body } = find("gltf/CesiumMan.gltf");
    let body = body.unwrap_or_else(|e| panic!("{e}"));
    let bind = model.bind_pose();
    // Positions in metres in the file's rest pose. The figure faces +X, so that its left is at -Z.
    let at = |j: JointId| bind.position(j);
    let near = |j: JointId, height: f32, z: f32| {
        let p = at(j);
        assert!((p.y - height).abs() < 0.03 && (p.z - z).abs() < 0.04, "{p}");
    };
    near(body.hips, 0.679, 0.0);
    for side in Side::BOTH {
        let z = if side == Side::Left { -1.0 } else { 1.0 };
        let leg = body.leg(side);
        near(leg.thigh, 0.614, 0.068 * z);
        near(leg.shin, 0.352, 0.077 * z);
        near(leg.foot, 0.086, 0.078 * z);
        near(leg.toes.unwrap(), 0.021, 0.080 * z);
        let arm = body.arm(side).unwrap_or_else(|| panic!("{:?}", body.doubts));
        near(arm.upper_arm, 1.074, 0.09 * z);
        near(arm.forearm, 0.965, 0.306 * z);
        near(arm.hand, 0.875, 0.45 * z);
        assert!(matches!(body.why(Role::Foot(side)), Some(RoleSource::Shape(_))));
    }
    near(body.head.unwrap(), 1.19, 0.0);
    assert_eq!(body.spine.len(), 2);
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn beasts_are_no_people() {
    for file in ["gltf/Fox.glb", "gltf/m2m_horse-animations.glb", "gltf/m2m_spider-animations.glb"] {
        let Found { body, .. } = find(file);
        match body {
            Err(RoleError::Ambiguous { role: Role::Foot(_), candidates }) => {
                assert!(candidates.len() >= 2, "{file}: {candidates:?}");
            }
            other => panic!("{file}: {other:?}"),
        }
    }
    for file in [
        "gltf/m2m_snake-animations.glb",
        "gltf/RiggedSimple.gltf",
        "gltf/SimpleSkin.gltf",
        "gltf/interpolation_test.gltf",
        "gltf/terrain_bevy.glb",
        "bvh/pybvh_full_precision_frame_time.bvh",
        "bvh/pybvh_rotation_first_root.bvh",
    ] {
        let Found { body, .. } = find(file);
        assert!(matches!(body, Err(RoleError::Missing { .. })), "{file}: {body:?}");
    }
}

#[test]
#[ignore = "needs SINEW_DATA"]
fn without_names_no_finger_is_an_arm() {
    for e in EXPECTED {
        let Found { model, body } = find(e.file);
        let body = body.unwrap_or_else(|error| panic!("{}: {error}", e.file));
        let mut builder = Skeleton::builder();
        // Parents are added before their children.
        let mut ids = Vec::new();
        for (joint, local) in model.skeleton.joints().zip(&model.bind) {
            ids.push(builder.add("", model.skeleton.parent(joint).map(|p| ids[p.index()]), *local));
        }
        let (skeleton, order) = builder.build().unwrap();
        let bare = |joint: JointId| order[joint.index()];
        let mut bind = Pose::rest(&Arc::new(skeleton));
        bind.update();
        let hints = RoleHints::new().with_feet(Side::BOTH.map(|s| bare(body.leg(s).foot)));
        // The shape alone may leave doubts about legs and arms, but about nothing else.
        let Ok(by_shape) = BodyRoles::find_with(&bind, &hints) else { continue };
        for side in Side::BOTH {
            let Some(arm) = by_shape.arm(side) else { continue };
            let named = body.arm(side).unwrap();
            assert_eq!(arm.hand, bare(named.hand), "{}: {side}", e.file);
        }
    }
}

#[test]
#[should_panic(expected = "no real file")]
fn a_file_that_is_absent_fails_its_test() {
    find("gltf/none of this name.glb");
}
