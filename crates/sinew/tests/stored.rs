//! Judges the feature `serde`: values survive a write and a read, and reading refuses what constructors refuse.

use crate::common;

use std::fmt::Debug;

use common::noise;
use serde_json::{Value, json};
use sinew::{
    Goal, JointTransform, Outcome, Placement, Pole, Pose, Report, Skeleton,
    glam::{Affine3, DVec3, Quat, Vec3},
    joint::{Dof, Joint, Range, RotationOrder, Turning},
    math,
    mechanism::{JointSpaceOptions, PathOptions},
    planar::{BendSide2d, DirectedOptions2d, Method2d, Options2d},
    solve::{
        Effector, FollowOptions, IterativeOptions, Lead, LimbOptions, Options, PointChainOptions, RootMode,
        SplineOptions, TwoBone,
        spline::{Fit, Roll},
    },
};

/// Returns the value after a round trip through text.
fn again<T: serde::Serialize + serde::de::DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn comes_back<T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + Debug>(value: T) {
    assert_eq!(again(&value), value);
}

fn refused<T: serde::de::DeserializeOwned + Debug>(value: Value, says: &str) {
    let error = serde_json::from_value::<T>(value).unwrap_err().to_string();
    assert!(error.contains(says), "{error}");
}

#[test]
fn numbers_come_back_to_the_bit() {
    let mut r = noise(1);
    for case in 0..2000 {
        let size = [1e-38, 1e-3, 1.0, 1e3, 1e37][case % 5];
        let mut vector = || Vec3::new(r(), r(), r()) * size;
        let (a, b, c) = (vector(), vector(), vector());
        let rotation = math::normalize(Quat::from_xyzw(a.x, a.y, a.z, b.x));
        comes_back(JointTransform { translation: a, rotation, scale: b });
        let goal = Goal::position(a).with_pole(Pole::Direction(b)).with_swivel(c.x).with_rotation(rotation);
        comes_back(goal.with_position_influence(c.y));
        comes_back(Goal::rotation(rotation).with_pole(Pole::Point(c)).with_rotation_influence(c.z));
        let d = |v: f32| f64::from(v) / 3.0;
        let dof = Dof::range(d(a.x), d(a.y)).with_speed(d(a.z)).with_ease(d(b.x)).with_stiffness(d(b.y));
        let dof = dof.with_damping(d(b.z)).with_spring(d(c.x), d(c.y)).with_precedence(-3);
        comes_back(Joint::slider(a, dof.with_preferred(d(c.z))));
        let mut report = Report::default();
        (report.position_residual, report.branch_changed) = (a.x, case % 2 == 0);
        report.outcome = [Outcome::Converged, Outcome::Stalled, Outcome::OutOfIterations][case % 3];
        comes_back(report);
        comes_back(IterativeOptions::new().with_max_turn(a.x).with_max_iterations(case as u32));
    }
}

#[test]
fn what_has_no_limit_comes_back_though_json_has_no_infinity() {
    comes_back(Range::FREE);
    comes_back(Range::new(f64::NEG_INFINITY, 1.5));
    comes_back(Range::new(-0.1, f64::INFINITY));
    comes_back(Dof::FREE);
    for joint in [
        Joint::FREE,
        Joint::FIXED,
        Joint::floating(),
        Joint::planar(DVec3::new(0.3, 0.4, -0.7)),
        Joint::cone(Vec3::X, 1.0, 0.3),
        Joint::from(Turning::Axes { order: RotationOrder::Zxy, angles: [None, Some(Dof::FREE), None] }),
    ] {
        comes_back(joint);
    }
    let ball = Joint::cone(Vec3::X, 1.0, 0.3);
    let Turning::Ball { twist_axis, swing_axis, swing, twist, .. } = ball.turning else { unreachable!() };
    comes_back(Turning::Ball { twist_axis, swing_axis, swing, twist, centre: [0.3, -0.2] });
    // A ball that was stored without a centre has it at rest.
    let mut stored = serde_json::to_value(ball).unwrap();
    stored["turning"]["Ball"].as_object_mut().unwrap().remove("centre").unwrap();
    assert_eq!(serde_json::from_value::<Joint>(stored).unwrap(), ball);
    comes_back(Options::new());
    comes_back(LimbOptions::new().with_max_turn(0.25).with_min_flexion(0.1));
    comes_back(IterativeOptions::new());
    comes_back(FollowOptions::new().with_lead(Lead::Tip));
    let roll = Roll::Frames { axis: Vec3::Z, twist: [0.1, 0.2] };
    comes_back(SplineOptions::new().with_fit(Fit::Whole).with_roll(roll));
    comes_back(PointChainOptions::new());
    comes_back(Options2d::new().with_method(Method2d::CCD).with_side(Some(BendSide2d::Left)));
    comes_back(DirectedOptions2d::new());
    comes_back(JointSpaceOptions::new());
    comes_back(PathOptions::new());
    comes_back(RootMode::Spring(0.5));
    // Numbers that JSON cannot represent are refused.
    for bad in [f32::NAN, f32::NEG_INFINITY] {
        let error = serde_json::to_string(&Options::new().with_max_turn(bad)).unwrap_err();
        assert!(error.to_string().ends_with("cannot be stored as a limit"), "{error}");
    }
    // Omitted options have their defaults, and unknown names are errors.
    let read = |value| serde_json::from_value::<IterativeOptions>(value);
    assert_eq!(read(json!({"soft": 0.25})).unwrap(), IterativeOptions::new().with_soft(0.25));
    let error = read(json!({"softness": 0.25})).unwrap_err().to_string();
    assert!(
        error.starts_with("unknown field `softness`, expected one of `influence`, `max_turn`"),
        "{error}"
    );
    assert_eq!(
        serde_json::from_value::<Range>(json!({"max": 2.0})).unwrap(),
        Range::new(f64::NEG_INFINITY, 2.0)
    );
}

#[test]
fn skeletons_come_back_with_their_joints_and_ids() {
    let mut r = noise(2);
    for _ in 0..300 {
        let mut builder = Skeleton::builder();
        for i in 0..8 {
            let rotation = math::normalize(Quat::from_xyzw(r(), r(), r(), 1.5));
            let rest =
                JointTransform { rotation, ..JointTransform::from_translation(Vec3::new(r(), r(), r())) };
            builder.add(format!("joint {i}"), (i % 3 > 0).then(|| (r().abs() * i as f32) as usize), rest);
        }
        let (mut skeleton, ids) = builder.build().unwrap();
        comes_back(skeleton.clone());
        skeleton.set_joint(ids[2], Joint::cone(Vec3::Y, 1.0, 0.4)).unwrap();
        comes_back(skeleton.clone());
        // Ids, and values that hold them, are valid for the skeleton that was read.
        let read: Skeleton = again(&skeleton);
        assert!(ids.iter().all(|&id| read.name(again(&id)) == skeleton.name(id)));
        comes_back(Effector::new(ids[3]).with_offset(Vec3::X).with_relative_to(ids[1]).with_priority(2));
        // A pose is stored as its local transforms.
        let skeleton = std::sync::Arc::new(skeleton);
        let mut pose = Pose::rest(&skeleton);
        pose.set_translation(ids[1], Vec3::new(r(), r(), r()));
        let mut other = Pose::rest(&skeleton);
        other.set_locals(&again(&pose.locals().to_vec())).unwrap();
        assert_eq!(other.locals(), pose.locals());
    }
}

#[test]
fn what_constructors_refuse_is_refused_on_reading() {
    let joint = |name: &str, parent: Value| json!({"name": name, "parent": parent});
    let bad = |list: Value, says: &str| refused::<Skeleton>(list, says);
    bad(json!([]), "a skeleton needs at least one joint");
    bad(json!([joint("a", json!(1)), joint("b", json!(0))]), "joint 0 `a` is among its own ancestors");
    bad(json!([joint("a", json!(7))]), "joint 0 `a` names joint 7 as its parent, but there are 1 joints");
    let mut turned = joint("a", Value::Null);
    turned["rest"] = json!({"rotation": [0.0, 0.0, 0.0, 0.0]});
    bad(
        json!([turned]),
        "the rest transform of joint 0 `a` has the rotation [0, 0, 0, 0] with the squared length 0",
    );
    let mut bent = joint("knee", Value::Null);
    bent["joint"] = serde_json::to_value(Joint::hinge(Vec3::X, Dof::range(1.0, 2.0))).unwrap();
    bent["joint"]["turning"]["Hinge"]["dof"]["range"]["min"] = json!(3.0);
    bad(json!([bent]), "joint `knee`: the hinge's angle goes from 3 to 2");
    refused::<JointTransform>(json!({"translation": [1.0, 2.0]}), "invalid length 2");
    refused::<JointTransform>(json!({"scales": [1.0, 2.0, 1.0]}), "unknown field `scales`");
    refused::<Goal>(json!({"position": [null, 0.0, 0.0]}), "invalid type: null");

    let mut r = noise(3);
    for case in 0..300 {
        let scale = Vec3::splat([0.5, -2.0, 3.0][case % 3]);
        let rotation = math::normalize(Quat::from_xyzw(r(), r(), r(), r()));
        let world = Affine3::from_scale_rotation_translation(scale, rotation, Vec3::new(r(), r(), r()));
        comes_back(Placement::new(world).unwrap());
    }
    let uneven = serde_json::to_value(Affine3::from_scale(Vec3::new(1.0, 2.0, 1.0))).unwrap();
    refused::<Placement>(
        uneven,
        "a placement must rotate and scale uniformly (shear below 0.001), not shear by 0.5",
    );

    // A solver accepts a skeleton and a goal that were read.
    let stored = json!([
        {"name": "shoulder", "parent": null},
        {"name": "elbow", "parent": 0, "rest": {"translation": [0.3, 0.0, 0.02]}},
        {"name": "hand", "parent": 1, "rest": {"translation": [0.25, 0.0, -0.02]}},
    ]);
    let skeleton = std::sync::Arc::new(serde_json::from_value::<Skeleton>(stored).unwrap());
    let joint = |path| skeleton.joint_by_path(path).unwrap();
    let arm = TwoBone::new(&skeleton, joint("shoulder"), joint("elbow"), joint("elbow/hand")).unwrap();
    let goal: Goal = serde_json::from_value(json!({"position": [0.2, 0.3, 0.1]})).unwrap();
    let options: LimbOptions = serde_json::from_value(json!({"max_turn": null})).unwrap();
    assert!(arm.solve(&mut Pose::rest(&skeleton), &goal, &options).unwrap().reached());
}

/// A misspelt field is named, however deep, instead of being left out.
#[test]
fn unknown_fields_are_refused() {
    let hinge = json!({ "axis": [1, 0, 0], "dof": {}, "angle": 1 });
    refused::<Turning>(json!({ "Hinge": hinge }), "unknown field `angle`");
    refused::<Dof>(json!({ "spring": { "rest": 0, "strength": 1, "speed": 1 } }), "unknown field `speed`");
    let joint = serde_json::from_value(json!(0)).unwrap();
    let mut effector = serde_json::to_value(Effector::new(joint)).unwrap();
    effector["weight"] = json!(2);
    refused::<Effector>(effector, "unknown field `weight`");
}
