//! Judges one ball joint, and one free joint, in joint space, by trigonometry and search.

use crate::arms;

use std::{f64::consts::PI, sync::Arc};

use arms::Random;
use sinew::{
    JointTransform, Outcome, Pose, Skeleton, Workspace,
    glam::{DQuat, DVec3},
    joint::{Dof, Joint, JointFault, Turning},
    mechanism::{
        DofKind, JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkTarget, Mechanism,
        MechanismError, SkeletonMechanism,
    },
};

/// One ball at the origin with a bone along z, and a fixed tip.
fn socket(swing: [(f64, f64); 2], twist: (f64, f64)) -> Mechanism {
    let mut b = Mechanism::builder("socket");
    ["base", "bone", "tip"].into_iter().for_each(|l| b.link(l));
    let motion = Joint::ball(DVec3::Z, DVec3::X, swing, twist);
    b.joint(JointSpec::new("ball", "base", "bone", motion));
    b.joint(JointSpec { translation: DVec3::Z, ..JointSpec::new("end", "bone", "tip", Joint::FIXED) });
    b.build().unwrap()
}

/// Returns the z axis after a swing, by trigonometry.
fn swung(x: f64, y: f64) -> DVec3 {
    let a = x.hypot(y);
    let s = if a > 0.0 { a.sin() / a } else { 1.0 };
    DVec3::new(y * s, -x * s, a.cos())
}

#[test]
fn a_swing_goes_round_its_ellipse_to_the_best_point_of_it() {
    let mut workspace = Workspace::new();
    let m = socket([(-0.4, 1.1), (-0.9, 0.3)], (-0.5, 0.5));
    let tip = m.find_link("tip").unwrap();
    let options = JointSpaceOptions::new().with_max_restarts(0);
    let mut random = Random(3);
    for i in 0..200 {
        // Directions in all quarters that are outside the limits.
        let (x, y) = (6.0 * random.next() - 3.0, 6.0 * random.next() - 3.0);
        if x.hypot(y) < 1.5 || x.hypot(y) > 2.8 {
            continue;
        }
        let wanted = swung(x, y);
        let goal = LinkGoal::new(&m, tip, LinkTarget::Position(wanted));
        let solver = JointSpaceSolver::new(&m, &[goal]).unwrap();
        let mut values = vec![0.05, 0.02, 0.1];
        let report = solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
        assert!(
            m.is_within(&values) && !report.reached() && report.outcome == Outcome::Stalled,
            "{report:?}"
        );
        // Minimum by search along the outline.
        let best = (0..200_000)
            .map(|k| {
                let (s, c) = (f64::from(k) * 2.0 * PI / 200_000.0).sin_cos();
                let at = swung(if c < 0.0 { 0.4 } else { 1.1 } * c, if s < 0.0 { 0.9 } else { 0.3 } * s);
                at.distance(wanted)
            })
            .fold(f64::INFINITY, f64::min);
        // The global or a local minimum: no step from it reduces the residual.
        let here = report.position_residual;
        assert!(here >= best - 1e-9);
        if here > best + 1e-6 {
            let (x, y) = (values[0], values[1]);
            for k in 0..1000 {
                let (s, c) = (f64::from(k) * 2.0 * PI / 1000.0).sin_cos();
                let step = [x + 1e-3 * c, y + 1e-3 * s, values[2]];
                let better = swung(step[0], step[1]).distance(wanted) < here - 1e-7;
                assert!(!(m.is_within(&step) && better), "{i}: {values:?} {step:?}");
            }
        }
    }
}

#[test]
fn a_goal_on_the_ellipse_is_reached_along_it() {
    let mut workspace = Workspace::new();
    // From one side of the ellipse to the other, along its outline.
    let m = socket([(-1.0, 1.0), (-0.5, 0.5)], (-0.4, 0.4));
    let tip = m.find_link("tip").unwrap();
    let options = JointSpaceOptions::new().with_max_restarts(0);
    for k in 0..64 {
        let (s, c) = (f64::from(k) * PI / 32.0).sin_cos();
        let wanted = [0.999_999 * c, 0.499_999_5 * s];
        let rotation = {
            let a = wanted[0].hypot(wanted[1]);
            let (s, c) = (0.5 * a).sin_cos();
            let swing = DQuat::from_xyzw(wanted[0] / a * s, wanted[1] / a * s, 0.0, c);
            swing * DQuat::from_rotation_z(0.4)
        };
        let goal = LinkGoal::new(&m, tip, LinkTarget::Rotation(rotation));
        let solver = JointSpaceSolver::new(&m, &[goal]).unwrap();
        let mut values = vec![-0.999 * c, -0.499 * s, -0.4];
        let report = solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
        assert!(report.reached(), "{k}: {report:?}");
        assert!(report.iterations < 30 && m.is_within(&values), "{k}: {report:?}");
        assert!((values[0] - wanted[0]).hypot(values[1] - wanted[1]) < 2e-6, "{k}: {values:?}");
    }
}

#[test]
fn a_free_joint_turns_any_way_and_comes_back_at_the_nearest_turn() {
    let mut workspace = Workspace::new();
    let mut b = Mechanism::builder("free");
    ["base", "body"].into_iter().for_each(|l| b.link(l));
    b.joint(JointSpec::new("root", "base", "body", Joint::FREE));
    let m = b.build().unwrap();
    let names: Vec<_> = m.dofs().iter().map(|d| (d.name.as_str(), d.kind, d.is_continuous())).collect();
    let all = ["root.x", "root.y", "root.z"].map(|n| (n, DofKind::Vector, false));
    assert_eq!(names, all);
    let body = m.find_link("body").unwrap();
    let goal = LinkGoal::new(&m, body, LinkTarget::Rotation(DQuat::IDENTITY));
    let options = JointSpaceOptions::new().with_max_restarts(0);
    let solver = JointSpaceSolver::new(&m, &[goal]).unwrap();
    let mut random = Random(5);
    for i in 0..500 {
        let axis = random.direction().as_dvec3().normalize();
        let angle = if i % 5 == 0 { PI - 1e-9 } else { PI * random.next() };
        let wanted = DQuat::from_axis_angle(axis, angle);
        let goal = goal.with_target(LinkTarget::Rotation(wanted));
        let start = random.direction().as_dvec3() * (if i % 3 == 0 { 20.0 } else { 3.0 } * random.next());
        let mut values = start.to_array();
        let report = solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
        assert!(report.reached(), "{i} {report:?}");
        let v = DVec3::from_array(values);
        let got = DQuat::from_scaled_axis(v);
        assert!(2.0 * (got.conjugate() * wanted).xyz().length() < 1e-5, "{i}");
        // No equivalent vector by whole turns is nearer.
        for k in [-2.0, -1.0, 1.0, 2.0] {
            let other = v + v.normalize() * (k * 2.0 * PI);
            assert!(other.distance(start) >= v.distance(start) - 1e-6, "{i}: {v} {start}");
        }
        // A goal that is met keeps the bits.
        let mut same = values;
        solver.solve(&mut workspace, &[goal], &mut same, &options).unwrap();
        assert_eq!(same, values);
    }
}

#[test]
fn bad_balls_are_named() {
    let make = |swing, twist, twist_axis: DVec3, swing_axis: DVec3| {
        let mut b = Mechanism::builder("bad");
        ["base", "bone"].into_iter().for_each(|l| b.link(l));
        b.joint(JointSpec::new("ball", "base", "bone", Joint::ball(twist_axis, swing_axis, swing, twist)));
        b.build().unwrap_err()
    };
    let (good, free) = ([(-1.0, 1.0); 2], (f64::NEG_INFINITY, f64::INFINITY));
    let is = |e: MechanismError, text: &str| assert_eq!(e.to_string(), text);
    is(
        make([(-1.0, 1.0), (0.0, 1.0)], free, DVec3::Z, DVec3::X),
        "joint `ball`: the second swing has a half-axis of -0: it must be above 0",
    );
    let fault = |swing, twist| match make(swing, twist, DVec3::Z, DVec3::X) {
        MechanismError::Joint(error) => error.fault,
        other => panic!("{other}"),
    };
    assert!(matches!(fault([(-1.0, 3.1), (-1.0, 1.0)], free), JointFault::TooWide { half: 3.1, .. }));
    assert!(matches!(fault([(1.0, -1.0), (-1.0, 1.0)], free), JointFault::Range { min: 1.0, .. }));
    assert!(matches!(fault(good, (1.0, f64::NAN)), JointFault::Range { .. }));
    assert!(matches!(fault(good, (1.0, -1.0)), JointFault::Range { max: -1.0, .. }));
    is(make(good, free, DVec3::ZERO, DVec3::X), "joint `ball`: the twist axis has no direction: [0, 0, 0]");
    is(
        make(good, free, DVec3::Z * 2.0, DVec3::new(0.0, 0.01, 1.0)),
        "joint `ball`: the swing axis [0, 0.01, 1] is parallel to the twist axis [0, 0, 2]",
    );
    let mut b = Mechanism::builder("bad");
    ["base", "bone", "other"].into_iter().for_each(|l| b.link(l));
    let ball = Joint::ball(DVec3::Z, DVec3::X, good, free);
    b.joint(JointSpec::new("ball", "base", "bone", ball));
    let mimic = sinew::mechanism::Mimic { dof: "ball".into(), multiplier: 1.0, offset: 0.0 };
    let turn = JointSpec::new("turn", "bone", "other", Joint::hinge(DVec3::Z, Dof::FREE));
    b.joint(JointSpec { mimic: Some(mimic), ..turn });
    is(b.build().unwrap_err(), "joint `turn` mimics `ball`, which has several degrees of freedom");
}

#[test]
fn a_balls_rest_is_within_its_ellipse() {
    let mut b = Skeleton::builder();
    b.add("ball", None, JointTransform::IDENTITY);
    let (mut s, ids) = b.build().unwrap();
    let prefer = |d: Dof, p| d.with_preferred(p);
    let swing = [prefer(Dof::range(-1.0, 1.0), 0.9), prefer(Dof::range(-0.5, 0.5), -0.45)];
    let twist = prefer(Dof::range(-1.0, 1.0), 0.3);
    let ball = Turning::Ball { twist_axis: DVec3::Y, swing_axis: DVec3::X, swing, twist, centre: [0.0; 2] };
    s.set_joint(ids[0], Joint::from(ball)).unwrap();
    let compiled = SkeletonMechanism::compile(&Pose::rest(&Arc::new(s))).unwrap();
    let m = compiled.mechanism();
    let rest = m.rest();
    assert!(m.is_within(&rest) && rest[0] > 0.5 && rest[1] < -0.2 && rest[2] == 0.3, "{rest:?}");
    assert_eq!(m.dofs()[0].name, "ball.swing1");
}
