//! Judges role detection on skeletons built here, one per naming scheme, and on creatures that are not bipeds.

use std::sync::Arc;

use sinew::{
    JointId, JointTransform, Pose, Skeleton,
    body::{BodyRoles, Role, RoleError, RoleHints, RoleSource, Side},
    glam::Vec3,
};

/// Joints as (name, parent's index, model-space position).
fn pose(joints: &[(String, Option<usize>, [f32; 3])]) -> Pose {
    let mut builder = Skeleton::builder();
    for (name, parent, at) in joints {
        let above = parent.map_or([0.0; 3], |p| joints[p].2);
        let local = Vec3::from(*at) - Vec3::from(above);
        builder.add(name.clone(), *parent, JointTransform::from_translation(local));
    }
    Pose::rest(&Arc::new(builder.build().unwrap().0))
}

/// Names of the parts of one side in a scheme; `%` stands for nothing, the names are whole.
struct Scheme {
    trunk: [&'static str; 4],
    left: [&'static str; 8],
    right: [&'static str; 8],
}

const fn scheme(trunk: [&'static str; 4], left: [&'static str; 8], right: [&'static str; 8]) -> Scheme {
    Scheme { trunk, left, right }
}

/// Hips, spine, neck, head; thigh, shin, foot, toes, clavicle, upper arm, forearm, hand.
#[rustfmt::skip]
const SCHEMES: &[(&str, Scheme)] = &[
    ("Mixamo", scheme(
        ["mixamorig:Hips", "mixamorig:Spine", "mixamorig:Neck", "mixamorig:Head"],
        ["mixamorig:LeftUpLeg", "mixamorig:LeftLeg", "mixamorig:LeftFoot", "mixamorig:LeftToeBase",
         "mixamorig:LeftShoulder", "mixamorig:LeftArm", "mixamorig:LeftForeArm", "mixamorig:LeftHand"],
        ["mixamorig:RightUpLeg", "mixamorig:RightLeg", "mixamorig:RightFoot", "mixamorig:RightToeBase",
         "mixamorig:RightShoulder", "mixamorig:RightArm", "mixamorig:RightForeArm", "mixamorig:RightHand"])),
    ("Unreal", scheme(
        ["pelvis", "spine_01", "neck_01", "head"],
        ["thigh_l", "calf_l", "foot_l", "ball_l", "clavicle_l", "upperarm_l", "lowerarm_l", "hand_l"],
        ["thigh_r", "calf_r", "foot_r", "ball_r", "clavicle_r", "upperarm_r", "lowerarm_r", "hand_r"])),
    ("Rigify", scheme(
        ["spine", "spine.001", "spine.004", "spine.006"],
        ["thigh.L", "shin.L", "foot.L", "toe.L", "shoulder.L", "upper_arm.L", "forearm.L", "hand.L"],
        ["thigh.R", "shin.R", "foot.R", "toe.R", "shoulder.R", "upper_arm.R", "forearm.R", "hand.R"])),
    ("Blender", scheme(
        ["Hips", "Spine", "Neck", "Head"],
        ["UpperLeg.L", "LowerLeg.L", "Foot.L", "Toes.L", "Shoulder.L", "UpperArm.L", "LowerArm.L", "Hand.L"],
        ["UpperLeg.R", "LowerLeg.R", "Foot.R", "Toes.R", "Shoulder.R", "UpperArm.R", "LowerArm.R", "Hand.R"])),
    ("CMU", scheme(
        ["root", "lowerback", "lowerneck", "head"],
        ["lfemur", "ltibia", "lfoot", "ltoes", "lclavicle", "lhumerus", "lradius", "lwrist"],
        ["rfemur", "rtibia", "rfoot", "rtoes", "rclavicle", "rhumerus", "rradius", "rwrist"])),
    ("joints", scheme(
        ["Hips", "Chest", "Neck", "Head"],
        ["LeftHip", "LeftKnee", "LeftAnkle", "LeftToe", "LeftCollar", "LeftShoulder", "LeftElbow", "LeftWrist"],
        ["RightHip", "RightKnee", "RightAnkle", "RightToe", "RightCollar", "RightShoulder", "RightElbow", "RightWrist"])),
    ("3ds Max", scheme(
        ["Bip01 Pelvis", "Bip01 Spine", "Bip01 Neck", "Bip01 Head"],
        ["Bip01 L Thigh", "Bip01 L Calf", "Bip01 L Foot", "Bip01 L Toe0",
         "Bip01 L Clavicle", "Bip01 L UpperArm", "Bip01 L Forearm", "Bip01 L Hand"],
        ["Bip01 R Thigh", "Bip01 R Calf", "Bip01 R Foot", "Bip01 R Toe0",
         "Bip01 R Clavicle", "Bip01 R UpperArm", "Bip01 R Forearm", "Bip01 R Hand"])),
    ("KayKit", scheme(
        ["hips", "spine", "neck", "head"],
        ["upperleg.l", "lowerleg.l", "foot.l", "toes.l", "shoulder.l", "upperarm.l", "lowerarm.l", "wrist.l"],
        ["upperleg.r", "lowerleg.r", "foot.r", "toes.r", "shoulder.r", "upperarm.r", "lowerarm.r", "wrist.r"])),
    ("Unity", scheme(
        ["Hips", "Spine", "Neck", "Head"],
        ["LeftUpperLeg", "LeftLowerLeg", "LeftFoot", "LeftToes",
         "LeftShoulder", "LeftUpperArm", "LeftLowerArm", "LeftHand"],
        ["RightUpperLeg", "RightLowerLeg", "RightFoot", "RightToes",
         "RightShoulder", "RightUpperArm", "RightLowerArm", "RightHand"])),
    ("Daz", scheme(
        ["hip", "abdomenLower", "neckLower", "head"],
        ["lThighBend", "lShin", "lFoot", "lToe", "lCollar", "lShldrBend", "lForearmBend", "lHand"],
        ["rThighBend", "rShin", "rFoot", "rToe", "rCollar", "rShldrBend", "rForearmBend", "rHand"])),
    ("VRoid", scheme(
        ["J_Bip_C_Hips", "J_Bip_C_Spine", "J_Bip_C_Neck", "J_Bip_C_Head"],
        ["J_Bip_L_UpperLeg", "J_Bip_L_LowerLeg", "J_Bip_L_Foot", "J_Bip_L_ToeBase",
         "J_Bip_L_Shoulder", "J_Bip_L_UpperArm", "J_Bip_L_LowerArm", "J_Bip_L_Hand"],
        ["J_Bip_R_UpperLeg", "J_Bip_R_LowerLeg", "J_Bip_R_Foot", "J_Bip_R_ToeBase",
         "J_Bip_R_Shoulder", "J_Bip_R_UpperArm", "J_Bip_R_LowerArm", "J_Bip_R_Hand"])),
    ("legs", scheme(
        ["Hips", "Spine", "Neck", "Head"],
        ["Left leg", "Left knee", "Left ankle", "Left toe", "Left shoulder", "Left arm", "Left elbow", "Left wrist"],
        ["Right leg", "Right knee", "Right ankle", "Right toe",
         "Right shoulder", "Right arm", "Right elbow", "Right wrist"])),
    ("no names", scheme(["", "", "", ""], [""; 8], [""; 8])),
];

/// Joint indices of [`figure`]: legs begin at 4 and 12.
const LEG: [usize; 2] = [4, 12];

/// A person of 1.8 m who faces +Z, with joints in this order: hips, spine, neck, head, then for each side thigh, shin, foot,
/// toes, clavicle, upper arm, forearm, hand.
fn figure(s: &Scheme) -> Vec<(String, Option<usize>, [f32; 3])> {
    let mut joints = vec![
        (s.trunk[0].to_string(), None, [0.0, 0.95, 0.0]),
        (s.trunk[1].to_string(), Some(0), [0.0, 1.15, 0.0]),
        (s.trunk[2].to_string(), Some(1), [0.0, 1.5, 0.0]),
        (s.trunk[3].to_string(), Some(2), [0.0, 1.6, 0.0]),
    ];
    for (names, x) in [(s.left, 1.0), (s.right, -1.0)] {
        let at = joints.len();
        let places: [(Option<usize>, [f32; 3]); 8] = [
            (Some(0), [0.1 * x, 0.9, 0.0]),
            (Some(at), [0.1 * x, 0.5, 0.01]),
            (Some(at + 1), [0.1 * x, 0.08, -0.02]),
            (Some(at + 2), [0.1 * x, 0.02, 0.12]),
            (Some(1), [0.03 * x, 1.45, 0.0]),
            (Some(at + 4), [0.18 * x, 1.45, 0.0]),
            (Some(at + 5), [0.46 * x, 1.45, -0.01]),
            (Some(at + 6), [0.71 * x, 1.45, 0.0]),
        ];
        joints.extend(names.iter().zip(places).map(|(n, (p, at))| (n.to_string(), p, at)));
    }
    joints
}

/// The joints by the order in which `figure` adds them, whatever order the skeleton has them in.
fn places(pose: &Pose, joints: &[(String, Option<usize>, [f32; 3])]) -> Vec<JointId> {
    let find = |at: &[f32; 3], name: &str| {
        let here = |j: &JointId| (pose.position(*j) - Vec3::from(*at)).length() < 1e-5;
        pose.skeleton().joints().filter(here).find(|&j| pose.skeleton().name(j) == name).unwrap()
    };
    joints.iter().map(|(name, _, at)| find(at, name)).collect()
}

#[test]
fn every_naming_scheme_gives_the_same_body() {
    for (name, scheme) in SCHEMES {
        let joints = figure(scheme);
        let pose = pose(&joints);
        let ids = places(&pose, &joints);
        let body = BodyRoles::find(&pose, &[]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(body.doubts, [], "{name}");
        assert_eq!(body.hips, ids[0], "{name}");
        assert_eq!(body.spine, [ids[1]], "{name}");
        assert_eq!((body.neck, body.head), (Some(ids[2]), Some(ids[3])), "{name}");
        for side in Side::BOTH {
            let at = LEG[side.index()];
            let leg = body.leg(side);
            assert_eq!([leg.thigh, leg.shin, leg.foot], ids[at..at + 3], "{name}");
            assert_eq!(leg.toes, Some(ids[at + 3]), "{name}");
            let arm = body.arm(side).unwrap();
            assert_eq!([arm.upper_arm, arm.forearm, arm.hand], ids[at + 5..at + 8], "{name}");
            assert_eq!(arm.clavicle, Some(ids[at + 4]), "{name}");
            let shape = matches!(body.why(Role::Foot(side)), Some(RoleSource::Shape(_)));
            assert_eq!(shape, *name == "no names", "{name}");
        }
        // hips, spine, neck, head and eight for each side, each once.
        assert_eq!(body.assigned.len(), 20, "{name}");
    }
}

fn mixamo() -> Vec<(String, Option<usize>, [f32; 3])> {
    figure(&SCHEMES[0].1)
}

/// A figure without names, with five fingers on each hand. `elbow` is the elbows' distance from the middle, in metres (the
/// shoulders are at 0.18, the wrists at 0.71).
fn with_fingers(elbow: f32) -> Vec<(String, Option<usize>, [f32; 3])> {
    let (_, scheme) = SCHEMES.iter().find(|(name, _)| *name == "no names").unwrap();
    let mut joints = figure(scheme);
    for (leg, x) in LEG.into_iter().zip([1.0, -1.0]) {
        joints[leg + 6].2[0] = elbow * x;
        for finger in -2i8..=2 {
            let mut above = leg + 7;
            // Knuckle, two joints, tip.
            for aside in [0.80, 0.85, 0.88, 0.90] {
                joints.push((String::new(), Some(above), [aside * x, 1.45, 0.02 * f32::from(finger)]));
                above = joints.len() - 1;
            }
        }
    }
    joints
}

#[test]
fn fingers_are_no_arms() {
    // Human arms, and arms of two bones so different that their shape alone does not identify them.
    for (elbow, found) in [(0.46, true), (0.55, false)] {
        let joints = with_fingers(elbow);
        let pose = pose(&joints);
        let wrists = LEG.map(|leg| Vec3::from(joints[leg + 7].2));
        let body = BodyRoles::find(&pose, &[]).unwrap();
        for side in Side::BOTH {
            let hand = body.arm(side).map(|arm| pose.position(arm.hand));
            assert_eq!(hand.is_some(), found, "elbow at {elbow}: {hand:?}");
            assert!(
                hand.is_none_or(|at| at.distance(wrists[side.index()]) < 1e-5),
                "elbow at {elbow}: {hand:?}"
            );
        }
        for role in &body.assigned {
            let at = pose.position(role.joint);
            assert!(at.x.abs() < 0.72, "elbow at {elbow}: the {} is at {at}", role.role);
        }
        assert_eq!(body.doubts.is_empty(), found, "{:?}", body.doubts);
    }
}

#[test]
fn a_figure_without_names_that_faces_backwards_has_its_sides_swapped() {
    let mut joints = figure(&SCHEMES[SCHEMES.len() - 1].1);
    for joint in &mut joints {
        joint.2[0] = -joint.2[0];
        joint.2[2] = -joint.2[2];
    }
    let pose = pose(&joints);
    let ids = places(&pose, &joints);
    assert_eq!(BodyRoles::find(&pose, &[]).unwrap().leg(Side::Left).foot, ids[LEG[0] + 2]);
}

#[test]
fn helpers_beside_the_legs_are_passed_over() {
    let mut joints = mixamo();
    let root = joints.len();
    joints.push(("root".into(), None, [0.0; 3]));
    for (name, parent, at) in [
        ("foot.l", root, [0.1, 0.08, 0.0]),
        ("kneeIK.l", root, [0.1, 0.5, 0.5]),
        ("control-foot-roll.l", root, [0.1, 0.0, 0.1]),
        ("LeftUpLegRoll", LEG[0], [0.1, 0.7, 0.0]),
        ("LeftFoot_end", LEG[0] + 3, [0.1, 0.02, 0.2]),
    ] {
        joints.push((name.into(), Some(parent), at));
    }
    let pose = pose(&joints);
    let body = BodyRoles::find(&pose, &[]).unwrap();
    assert_eq!(pose.skeleton().name(body.leg(Side::Left).foot), "mixamorig:LeftFoot");
}

#[test]
fn joints_between_are_left_between() {
    // A socket above each thigh, a twist joint in it, and legs on a separate pelvis below the hips.
    let names = ["hip", "pelvis", "abdomen", "head"];
    let mut joints: Vec<(String, Option<usize>, [f32; 3])> = vec![
        (names[0].into(), None, [0.0, 1.0, 0.0]),
        (names[1].into(), Some(0), [0.0, 0.98, 0.0]),
        (names[2].into(), Some(0), [0.0, 1.1, 0.0]),
        (names[3].into(), Some(2), [0.0, 1.6, 0.0]),
    ];
    for (side, x) in [("l", 0.1), ("r", -0.1)] {
        let at = joints.len();
        for (k, (part, y)) in [
            ("HipJoint", 0.98),
            ("ThighBend", 0.9),
            ("ThighTwist", 0.7),
            ("Shin", 0.5),
            ("ShinTwist", 0.3),
            ("Foot", 0.1),
        ]
        .into_iter()
        .enumerate()
        {
            let x = if k == 0 { 0.0 } else { x };
            joints.push((format!("{side}{part}"), Some(if k == 0 { 1 } else { at + k - 1 }), [x, y, 0.0]));
        }
    }
    let pose = pose(&joints);
    let name = |j| pose.skeleton().name(j);
    let body = BodyRoles::find(&pose, &[]).unwrap();
    let leg = body.leg(Side::Right);
    assert_eq!([leg.thigh, leg.shin, leg.foot].map(name), ["rThighBend", "rShin", "rFoot"]);
    assert_eq!(leg.toes, None);
    // The pelvis does not carry the trunk, so it is not the hips.
    assert_eq!(name(body.hips), "hip");
    assert_eq!(body.arms, [None, None]);
    assert!(!body.doubts.is_empty());
}

#[test]
fn what_the_file_declares_comes_first() {
    let joints = mixamo();
    let pose = pose(&joints);
    let ids = places(&pose, &joints);
    let mut declared: Vec<(String, JointId)> = vec![("hips".into(), ids[0])];
    // A file's declared left may be the right by its names.
    for (side, at) in [("left", LEG[1]), ("right", LEG[0])] {
        for (i, bone) in ["UpperLeg", "LowerLeg", "Foot"].iter().enumerate() {
            declared.push((format!("{side}{bone}"), ids[at + i]));
        }
    }
    let body = BodyRoles::find(&pose, &declared).unwrap();
    assert_eq!(body.leg(Side::Left).foot, ids[LEG[1] + 2]);
    assert_eq!(body.why(Role::Foot(Side::Left)), Some(&RoleSource::Declared("leftFoot".into())));
    // A declaration that makes no chain is an error that names the joint.
    declared[2].1 = ids[0];
    let error = BodyRoles::find(&pose, &declared).unwrap_err();
    assert!(
        matches!(&error, RoleError::Unfit { joint, .. } if joint.starts_with("mixamorig:Hips")),
        "{error}"
    );
}

#[test]
fn two_figures_are_ambiguous_until_the_hips_are_named() {
    let mut joints = mixamo();
    let count = joints.len();
    for (name, parent, at) in mixamo() {
        joints.push((name, parent.map(|p| p + count), [at[0] + 3.0, at[1], at[2]]));
    }
    let pose = pose(&joints);
    match BodyRoles::find(&pose, &[]).unwrap_err() {
        RoleError::Ambiguous { role: Role::Foot(Side::Left), candidates } => {
            assert_eq!(candidates.len(), 2);
            assert!(candidates[0].starts_with("mixamorig:LeftFoot (#"));
        }
        other => panic!("{other}"),
    }
    let hips = places(&pose, &joints)[count];
    let hints = RoleHints::new().with_hips(hips);
    let body = BodyRoles::find_with(&pose, &hints).unwrap();
    assert_eq!(body.hips, hips);
    assert!(pose.position(body.leg(Side::Left).foot).x > 2.0);
}

#[test]
fn feet_given_by_hand_find_their_thighs_and_shins() {
    for scheme in [0, SCHEMES.len() - 1] {
        let joints = figure(&SCHEMES[scheme].1);
        let pose = pose(&joints);
        let ids = places(&pose, &joints);
        let body = BodyRoles::with_feet(&pose, ids[LEG[0] + 2], ids[LEG[1] + 2]).unwrap();
        assert_eq!(body.legs[0].thigh, ids[LEG[0]]);
        assert_eq!(body.legs[1].shin, ids[LEG[1] + 1]);
        assert_eq!(body.hips, ids[0]);
        assert_eq!(body.why(Role::Foot(Side::Right)), Some(&RoleSource::Given));
        let error = BodyRoles::with_feet(&pose, ids[LEG[0] + 2], ids[LEG[0] + 2]).unwrap_err();
        assert!(matches!(error, RoleError::Unfit { .. }), "{error}");
        let error = BodyRoles::with_feet(&pose, ids[LEG[0]], ids[LEG[1]]).unwrap_err();
        assert!(matches!(error, RoleError::Missing { .. }), "{error}");
    }
}

/// A body on `count` pairs of legs without names.
fn creature(count: usize) -> Pose {
    let mut joints: Vec<(String, Option<usize>, [f32; 3])> =
        vec![(String::new(), None, [0.0, 1.0, 0.0]), (String::new(), Some(0), [0.0, 1.1, 1.0])];
    for pair in 0..count {
        for x in [0.3f32, -0.3] {
            let (at, z) = (joints.len(), pair as f32 * 0.3);
            joints.push((String::new(), Some(0), [x, 0.95, z]));
            joints.push((String::new(), Some(at), [x, 0.5, z]));
            joints.push((String::new(), Some(at + 1), [x, 0.05, z]));
        }
    }
    pose(&joints)
}

#[test]
fn creatures_of_other_leg_counts_are_errors() {
    for count in [2, 4, 50] {
        match BodyRoles::find(&creature(count), &[]).unwrap_err() {
            RoleError::Ambiguous { role: Role::Foot(_), candidates } => {
                assert_eq!(candidates.len(), 2 * count)
            }
            other => panic!("{other}"),
        }
    }
    assert!(matches!(BodyRoles::find(&creature(0), &[]), Err(RoleError::Missing { .. })));
    // Two straight legs without toes have no front, and so no left and right.
    match BodyRoles::find(&creature(1), &[]).unwrap_err() {
        RoleError::Ambiguous { role: Role::Foot(Side::Left), candidates } => assert_eq!(candidates.len(), 2),
        other => panic!("{other}"),
    }
}

#[test]
fn hands_on_the_floor_are_feet() {
    let mut joints = mixamo();
    for at in LEG {
        for (i, y) in [(5, 1.0), (6, 0.5), (7, 0.05)] {
            joints[at + i].2[1] = y;
        }
    }
    let error = BodyRoles::find(&pose(&joints), &[]).unwrap_err();
    assert!(matches!(error, RoleError::Ambiguous { role: Role::Foot(_), .. }), "{error}");
}

#[test]
fn deep_trees_end_in_an_error_soon() {
    let start = std::time::Instant::now();
    for name in ["", "LeftFoot", "LeftLeg", "Head", "pelvis"] {
        let mut builder = Skeleton::builder();
        for i in 0..100_000usize {
            let local = JointTransform::from_translation(Vec3::new(0.0, -0.01, 0.0));
            builder.add(name, i.checked_sub(1), local);
        }
        let pose = Pose::rest(&Arc::new(builder.build().unwrap().0));
        assert!(BodyRoles::find(&pose, &[]).is_err());
    }
    // Quadratic work would take minutes.
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Feet that are children of the root and driven by themselves, next to legs that end in the lower leg.
#[test]
fn a_foot_beside_its_leg_is_named_in_the_error() {
    for ends in [false, true] {
        let mut builder = Skeleton::builder();
        let mut add = |name: String, parent, x, y, z| {
            builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
        };
        let root = add("Bone".into(), None, 0.0, 0.0, 0.0);
        let mut feet = Vec::new();
        for (side, x) in [("L", 0.3), ("R", -0.3)] {
            let foot = add(format!("Foot.{side}"), Some(root), x, 0.1, 0.0);
            add(format!("Foot.{side}_end"), Some(foot), 0.0, -0.05, 0.3);
            feet.push(foot);
        }
        let body = add("Body".into(), Some(root), 0.0, 0.9, 0.0);
        let hips = add("Hips".into(), Some(body), 0.0, 0.1, 0.0);
        let chest = add("Torso".into(), Some(hips), 0.0, 0.5, 0.0);
        add("Head".into(), Some(chest), 0.0, 0.4, 0.0);
        for (side, x) in [("L", 0.3), ("R", -0.3)] {
            let upper = add(format!("UpperLeg.{side}"), Some(hips), x, 0.0, 0.0);
            let lower = add(format!("LowerLeg.{side}"), Some(upper), 0.0, -0.45, 0.02);
            if ends {
                add(format!("LowerLeg.{side}_end"), Some(lower), 0.0, -0.45, -0.02);
            }
        }
        let (skeleton, ids) = builder.build().unwrap();
        let bind = Pose::rest(&Arc::new(skeleton));
        let given = RoleHints::new().with_feet([ids[feet[0]], ids[feet[1]]]);
        for error in
            [BodyRoles::find(&bind, &[]), BodyRoles::find_with(&bind, &given)].map(Result::unwrap_err)
        {
            let text = error.to_string();
            assert!(text.contains("`Foot.L (#") && text.contains("`LowerLeg.L (#"), "{text}");
        }
    }
}
