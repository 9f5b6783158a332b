//! Judges joint limits by an independent implementation in f64.

use crate::limit_judge as judge;

use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    JointId, JointTransform, Skeleton,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, JointFault, RotationOrder, Turning},
    math,
};

/// Promised accuracy of limits in pose space, in radians.
const PROMISE: f64 = 1e-5;

fn vector() -> impl Strategy<Value = Vec3> {
    (-1f32..1.0, -1f32..1.0, -1f32..1.0)
        .prop_map(|(x, y, z)| Vec3::new(x, y, z))
        .prop_filter("a vector of some length", |v| v.length() > 0.05)
}

fn rotation() -> impl Strategy<Value = Quat> {
    (vector(), -1f32..1.0).prop_map(|(v, w)| math::normalize(Quat::from_xyzw(v.x, v.y, v.z, w)))
}

fn range() -> impl Strategy<Value = Dof> {
    prop_oneof![
        6 => (-3.1f64..3.1, 0f64..4.0).prop_map(|(from, width)| Dof::range(from, from + width)),
        1 => (-20f64..20.0, 0f64..8.0).prop_map(|(from, width)| Dof::range(from, from + width)),
        1 => Just(Dof::FREE),
        1 => (-3f64..3.0).prop_map(|at| Dof::range(at, at)),
    ]
}

fn half() -> impl Strategy<Value = f64> {
    prop_oneof![6 => 0.1f64..3.0, 1 => 1e-4f64..0.1, 1 => Just(3.0)]
}

fn joint() -> impl Strategy<Value = Joint> {
    let axis = || vector().prop_map(|v| v.as_dvec3() * 3.0);
    let order = prop::sample::select(vec![
        RotationOrder::Xyz,
        RotationOrder::Xzy,
        RotationOrder::Yxz,
        RotationOrder::Yzx,
        RotationOrder::Zxy,
        RotationOrder::Zyx,
    ]);
    let centre = || prop_oneof![2 => Just([0.0; 2]), 1 => [-2.1f64..2.1, -2.1..2.1]];
    let ball = (axis(), axis(), half(), half(), half(), half(), range(), centre()).prop_filter_map(
        "axes across",
        |(z, x, a, b, c, d, twist, centre)| {
            let [x0, y0] = centre;
            let swing = [Dof::range(x0 - a, x0 + b), Dof::range(y0 - c, y0 + d)];
            let joint = Joint::from(Turning::Ball { twist_axis: z, swing_axis: x, swing, twist, centre });
            joint.check().is_ok().then_some(joint)
        },
    );
    let maybe = || prop::option::weighted(0.7, range());
    prop_oneof![
        1 => Just(Joint::FIXED),
        3 => (axis(), range()).prop_map(|(axis, dof)| Joint::hinge(axis, dof)),
        4 => ball,
        1 => (axis(), half(), 0f64..3.2).prop_map(|(z, h, t)| Joint::cone(z, h, t)),
        4 => (order, maybe(), maybe(), maybe())
            .prop_map(|(order, x, y, z)| Turning::Axes { order, angles: [x, y, z] }.into()),
    ]
}

fn limits(joint: &Joint, rest: Quat) -> (Skeleton, JointId, JointTransform) {
    let rest =
        JointTransform { rotation: rest, ..JointTransform::from_translation(Vec3::new(0.3, -1.0, 2.0)) };
    let mut b = Skeleton::builder();
    b.add("joint", None, rest);
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], *joint).unwrap();
    (skeleton, ids[0], rest)
}

fn judged(joint: &Joint, rest: &JointTransform, q: Quat) -> Vec<f64> {
    judge::excess(joint, rest, &JointTransform { rotation: q, ..*rest })
}

fn apart(a: Quat, b: Quat) -> f64 {
    judge::angle(&judge::matrix(a), &judge::matrix(b))
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(3), failure_persistence: None, ..Default::default() }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn a_clamped_rotation_is_within(joint in joint(), rest in rotation(), q in rotation()) {
        let (skeleton, id, rest) = limits(&joint, rest);
        let limits = skeleton.limits(id);
        let clamped = limits.clamp(q);
        for out in judged(&joint, &rest, clamped) {
            prop_assert!(out <= PROMISE, "out by {out:e}: {limits:?}");
        }
        prop_assert!(limits.is_within(clamped), "{:e}", limits.excess(clamped));
        prop_assert_eq!(limits.clamp(clamped).to_array(), clamped.to_array());
        // A rotation that the judge finds well within stays.
        if judged(&joint, &rest, q).iter().all(|out| *out <= 0.0) {
            prop_assert!(apart(clamped, q) < PROMISE);
        }
    }

    #[test]
    fn coordinates_come_back(joint in joint(), rest in rotation(), q in rotation()) {
        let (skeleton, id, _) = limits(&joint, rest);
        let limits = skeleton.limits(id);
        let q = limits.clamp(q);
        prop_assert!(apart(limits.rotation(limits.coordinates(q)), q) < PROMISE);
    }

    #[test]
    fn what_came_in_outside_never_goes_further_out(
        joint in joint(), rest in rotation(), start in rotation(), q in rotation(), weight in 0f32..1.0,
    ) {
        let (skeleton, id, rest) = limits(&joint, rest);
        let relaxed = skeleton.limits(id).relaxed(&JointTransform { rotation: start, ..rest });
        prop_assert_eq!(relaxed.clamp(start).to_array(), start.to_array());
        let at = |rotation| JointTransform { rotation, ..rest };
        let further = judge::further(&joint, &rest, &at(start), &at(relaxed.clamp(q)));
        prop_assert!(further <= PROMISE, "further by {further:e}: {relaxed:?}");
        // Also between the start and that rotation, and between the start and a rotation within the limits.
        for end in [relaxed.clamp(q), skeleton.clamp_rotation(id, q)] {
            let between = relaxed.blend(start, end, weight);
            let further = judge::further(&joint, &rest, &at(start), &at(between));
            prop_assert!(further <= PROMISE, "blend {weight} further by {further:e}: {relaxed:?}");
        }
        for (i, c) in relaxed.coordinates(relaxed.clamp(q)).iter().enumerate() {
            prop_assert!(c.is_finite(), "{i}");
        }
    }

    #[test]
    fn a_blend_of_two_within_is_within(
        joint in joint(), rest in rotation(), a in rotation(), b in rotation(), w in 0f32..1.0,
    ) {
        let (skeleton, id, rest) = limits(&joint, rest);
        let limits = skeleton.limits(id);
        let (a, b) = (limits.clamp(a), limits.clamp(b));
        prop_assert_eq!(limits.blend(a, b, 0.0).to_array(), a.to_array());
        prop_assert_eq!(limits.blend(a, b, 1.0).to_array(), b.to_array());
        let mid = limits.blend(a, b, w);
        for out in judged(&joint, &rest, mid) {
            prop_assert!(out <= PROMISE, "out by {out:e}");
        }
        // The path is continuous: near its ends it is near them.
        prop_assert!(apart(limits.blend(a, b, 1e-3), a) < 0.02 && apart(limits.blend(a, b, 0.999), b) < 0.02);
    }

    #[test]
    fn steps_stay_within(joint in joint(), rest in rotation(), a in rotation(), b in rotation(), n in 0f64..1.0) {
        let with = |dof: Dof| Dof {
            ease: if dof.range.is_bounded() { n } else { 0.0 }, stiffness: 0.3 * n, damping: 2.0 * n, ..dof
        };
        let mut joint = joint;
        match &mut joint.turning {
            Turning::Free | Turning::Fixed => {}
            Turning::Hinge { dof, .. } => *dof = with(*dof),
            Turning::Ball { swing, twist, .. } => {
                *swing = swing.map(with);
                *twist = with(*twist);
            }
            Turning::Axes { angles, .. } => *angles = angles.map(|a| a.map(with)),
            _ => unreachable!("a kind of joint that nothing judges"),
        }
        let (skeleton, id, rest) = limits(&joint, rest);
        let limits = skeleton.limits(id);
        let a = limits.clamp(a);
        let stepped = limits.step(a, b);
        for out in judged(&joint, &rest, stepped) {
            prop_assert!(out <= PROMISE, "out by {out:e}");
        }
    }
}

proptest! {
    #![proptest_config(config(2_000))]

    /// A search of the coordinates finds no nearer rotation within the limits, in the joint's own measure: the distance of
    /// the swings' vectors, and the angle for a hinge.
    #[test]
    fn a_clamped_swing_is_the_nearest(
        a in half(), b in half(), c in half(), d in half(), q in rotation(), way in 0f64..1.0,
    ) {
        let joint = Joint::ball(DVec3::X, DVec3::Y, [(-a, b), (-c, d)], (-3.1, 3.1));
        let (skeleton, id, _) = limits(&joint, Quat::IDENTITY);
        let limits = skeleton.limits(id);
        let [x, y, _] = limits.coordinates(q);
        let [u, v, _] = limits.coordinates(limits.clamp(q));
        let distance = ((x - u) as f64).hypot((y - v) as f64);
        let angle = way * std::f64::consts::TAU;
        let (ea, eb) = (if angle.cos() < 0.0 { a } else { b }, if angle.sin() < 0.0 { c } else { d });
        let other = (x as f64 - ea * angle.cos()).hypot(y as f64 - eb * angle.sin());
        let inside = limits.is_within(q);
        prop_assert!(inside || distance <= other + 1e-5, "{distance} {other}");
    }
}

#[test]
fn a_hinge_off_its_axis_is_held_as_it_came() {
    let joint = Joint::hinge(DVec3::Z, Dof::range(0.0, 1.0));
    let (skeleton, id, rest) = limits(&joint, Quat::IDENTITY);
    let came = math::mul(math::axis_angle(Vec3::X, 0.2), math::axis_angle(Vec3::Z, 0.5));
    let relaxed = skeleton.limits(id).relaxed(&JointTransform { rotation: came, ..rest });
    let wanted = math::mul(math::axis_angle(Vec3::X, 0.2), math::axis_angle(Vec3::Z, 2.0));
    let got = relaxed.clamp(wanted);
    let expected = math::mul(math::axis_angle(Vec3::X, 0.2), math::axis_angle(Vec3::Z, 1.0));
    assert!(apart(got, expected) < 1e-6);
    // The strict limits remove the tilt.
    let strict = skeleton.clamp_rotation(id, came);
    assert!(judged(&joint, &rest, strict).iter().all(|out| *out < 1e-6));
}

#[test]
fn an_axis_that_came_in_outside_its_range_goes_no_further() {
    let joint = Joint::axes([Some(Dof::range(-0.5, 0.5)), None, Some(Dof::range(0.0, 1.0))]);
    let (skeleton, id, rest) = limits(&joint, Quat::IDENTITY);
    let of = |x, y, z| {
        let (x, y, z) =
            (math::axis_angle(Vec3::X, x), math::axis_angle(Vec3::Y, y), math::axis_angle(Vec3::Z, z));
        math::mul(math::mul(x, y), z)
    };
    let limits = skeleton.limits(id);
    let came = of(0.8, 0.1, 0.3);
    let relaxed = limits.relaxed(&JointTransform { rotation: came, ..rest });
    assert_eq!(relaxed.clamp(came).to_array(), came.to_array());
    // Excess by closed form: with x at its end, the best z is the twist of the remainder.
    let left = math::mul(math::axis_angle(Vec3::X, -0.5), came);
    let z = 2.0 * math::atan2(left.z, left.w);
    let off = math::mul(math::conjugate(of(0.5, 0.0, z)), came);
    let out = f64::from(limits.excess(came));
    assert!((apart(off, Quat::IDENTITY) - out).abs() < 1e-6 && out > 0.3);
    // The relaxed limits keep this excess for all three turns, up to their ends.
    let with = |x, z| math::mul(of(x, 0.0, z), off);
    for (x, z) in [(-0.5, 0.0), (0.2, 0.9), (0.5, 1.0), (-0.1, 0.4)] {
        assert!(apart(relaxed.clamp(with(x, z)), with(x, z)) < 1e-6);
        assert!((judged(&joint, &rest, with(x, z))[0] - out) < 1e-6);
    }
    assert!(apart(relaxed.clamp(with(0.9, 0.5)), with(0.5, 0.5)) < 1e-6);
    assert!(apart(relaxed.clamp(with(0.1, 1.3)), with(0.1, 1.0)) < 1e-6);
}

#[test]
fn slides_go_along_the_rest_frame_and_keep_what_came_in_across() {
    let turn = math::axis_angle(Vec3::Z, std::f32::consts::FRAC_PI_2);
    let joint = Joint::FIXED.with_slide([Some(Dof::range(-0.2, 0.5)), None, None]);
    let (skeleton, id, rest) = limits(&joint, turn);
    let limits = skeleton.limits(id);
    // The rest frame's X is the parent's Y.
    let incoming = rest.translation + Vec3::new(0.1, 0.0, 0.0);
    let got = limits.clamp_slide(incoming, rest.translation + Vec3::new(7.0, 0.9, 3.0));
    assert!(got.distance(incoming + Vec3::new(0.0, 0.5, 0.0)) < 1e-6, "{got}");
    assert_eq!(limits.clamp_slide(incoming, incoming), incoming);
    assert_eq!(limits.slide_range(0).map(|(a, b)| ((a * 1e6).round(), (b * 1e6).round())), Some((-2e5, 5e5)));
    assert_eq!(limits.slide_range(1), None);
    assert!((limits.slide_excess(incoming + Vec3::Y) - 0.5).abs() < 1e-6);
}

#[test]
fn an_eased_step_slows_towards_the_end_and_not_away_from_it() {
    let joint = Joint::hinge(DVec3::Z, Dof::range(-1.0, 1.0).with_ease(0.5));
    let (skeleton, id, _) = limits(&joint, Quat::IDENTITY);
    let limits = skeleton.limits(id);
    let at = |x| math::axis_angle(Vec3::Z, x);
    let angle = |q| limits.coordinates(q)[0];
    // Half a radian is free; then y = u - u^2 / 2 with u = 0.3.
    assert!((angle(limits.step(at(0.0), at(0.8))) - (0.5 + 0.3 - 0.045)).abs() < 1e-5);
    assert!((angle(limits.step(at(0.9), at(0.2))) - 0.2).abs() < 1e-5);
    assert!((angle(limits.step(at(0.0), at(2.0))) - 1.0).abs() < 1e-5);
}

#[test]
fn limbs_and_aims_refuse_what_they_cannot_honour() {
    use sinew::{
        Chain, Goal, Pose, SolveError,
        solve::{Aim, LimbOptions, Options, TwoBone, TwoBoneError},
    };
    let mut b = Skeleton::builder();
    for (i, name) in ["hip", "knee", "twist", "ankle"].into_iter().enumerate() {
        b.add(name, i.checked_sub(1), JointTransform::from_translation(Vec3::new(0.0, -0.4, 0.1 * i as f32)));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    // A joint between is held as it is, of whatever kind.
    skeleton.set_joint(ids[2], Joint::FIXED).unwrap();
    skeleton.set_joint(ids[3], Joint::cone(Vec3::Y, 0.5, 0.5)).unwrap();
    let limb = TwoBone::new(&skeleton, ids[0], ids[1], ids[3]).unwrap();
    let mut pose = Pose::rest(&std::sync::Arc::new(skeleton.clone()));
    limb.solve(&mut pose, &Goal::position(Vec3::new(0.1, -0.5, 0.2)), &LimbOptions::new()).unwrap();
    let turned = Goal::NONE.with_rotation(Quat::IDENTITY);
    let refused = limb.solve(&mut pose, &turned, &LimbOptions::new());
    assert!(
        matches!(refused, Err(SolveError::Joint(u)) if u.to_string() == "joint `ankle` has a ball joint, which two-bone cannot honour")
    );
    let refused = Aim::new(ids[2], Vec3::Y).solve(&mut pose, Vec3::X, &Options::new());
    assert!(matches!(refused, Err(SolveError::Joint(u)) if u.solver == "aim"));
    Aim::new(ids[3], Vec3::Y).solve(&mut pose, Vec3::X, &Options::new()).unwrap();

    // Within limits: a hinge that bends, a ball or a free joint above it, and a tip that may be stiff but not held.
    let chain = |s: &Skeleton| Chain::new(s, ids[0], ids[3]).unwrap();
    let refused = TwoBone::within_limits(&skeleton, chain(&skeleton), ids[1]).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "joint `knee` turns freely, but bends a limb within limits: give it a hinge"
    );
    skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::FREE)).unwrap();
    let refused = TwoBone::new(&skeleton, ids[0], ids[1], ids[3]);
    assert!(matches!(refused, Err(TwoBoneError::Joint(u)) if u.joint == "knee"));
    let limb = TwoBone::within_limits(&skeleton, chain(&skeleton), ids[1]).unwrap();
    for (stiffness, message) in
        [(0.8, None), (1.0, Some("joint `ankle` has stiffness, which two-bone cannot honour"))]
    {
        let mut ankle = Joint::cone(Vec3::Y, 0.5, 0.5);
        if let Turning::Ball { twist, .. } = &mut ankle.turning {
            twist.stiffness = stiffness;
        }
        let mut skeleton = skeleton.clone();
        skeleton.set_joint(ids[3], ankle).unwrap();
        let mut pose = Pose::rest(&std::sync::Arc::new(skeleton));
        let refused = limb.solve(&mut pose, &turned, &LimbOptions::new()).err();
        assert_eq!(refused.map(|e| e.to_string()).as_deref(), message);
    }
    for (n, name, joint) in [
        (0, "hip", Joint::FIXED),
        (0, "hip", Joint::hinge(Vec3::X, Dof::FREE)),
        (0, "hip", Joint::axes([Some(Dof::FREE); 3])),
        (0, "hip", Joint::FREE.with_slide([Some(Dof::FREE), None, None])),
        (1, "knee", Joint::FIXED),
        (1, "knee", Joint::cone(Vec3::Y, 0.5, 0.5)),
        (1, "knee", Joint::axes([Some(Dof::FREE), Some(Dof::FREE), None])),
        (1, "knee", Joint::hinge(Vec3::X, Dof::range(0.0, 1.0).with_ease(0.1))),
        (1, "knee", Joint::hinge(Vec3::X, Dof::FREE.with_stiffness(1.0))),
        (1, "knee", Joint::hinge(Vec3::X, Dof::FREE.with_spring(0.0, 1.0))),
    ] {
        let mut skeleton = skeleton.clone();
        skeleton.set_joint(ids[n], joint).unwrap();
        let refused = TwoBone::within_limits(&skeleton, chain(&skeleton), ids[1]);
        assert!(matches!(refused, Err(TwoBoneError::Joint(u)) if u.joint == name), "{joint:?}");
    }
}

#[test]
fn bad_joints_are_named_with_their_value() {
    let mut b = Skeleton::builder();
    b.add("elbow", None, JointTransform::IDENTITY);
    let (mut skeleton, ids) = b.build().unwrap();
    let nan = f64::NAN;
    let hinge = |dof| Joint::hinge(DVec3::X, dof);
    let ball = |a: f64, b: f64, t: (f64, f64)| Joint::ball(DVec3::X, DVec3::Y, [(-a, b), (-0.5, 0.5)], t);
    for (joint, words) in [
        (Joint::hinge(DVec3::ZERO, Dof::FREE), "the hinge axis has no direction"),
        (Joint::hinge(DVec3::NAN, Dof::FREE), "no direction: [NaN, NaN, NaN]"),
        (hinge(Dof::range(1.0, -1.0)), "goes from 1 to -1"),
        (hinge(Dof::range(nan, 1.0)), "goes from NaN to 1"),
        (hinge(Dof::range(f64::INFINITY, f64::INFINITY)), "goes from inf to inf"),
        (hinge(Dof::range(0.0, f64::INFINITY).with_ease(0.5)), "an ease of 0.5"),
        (hinge(Dof::FREE.with_speed(-1.0)), "a speed of -1"),
        (hinge(Dof::range(0.0, 1.0).with_ease(1.5)), "an ease of 1.5"),
        (hinge(Dof::FREE.with_ease(0.5)), "an ease of 0.5, which must be 0, as its range has no two ends"),
        (hinge(Dof::FREE.with_stiffness(nan)), "a stiffness of NaN"),
        (hinge(Dof::FREE.with_damping(-1.0)), "a damping of -1"),
        (hinge(Dof::FREE.with_spring(nan, 1.0)), "rest value of NaN"),
        (hinge(Dof::FREE.with_spring(0.0, -2.0)), "strength of -2"),
        (hinge(Dof::range(0.0, 1.0).with_preferred(2.0)), "a preferred value of 2, which must be inside"),
        (ball(0.0, 0.5, (0.0, 0.0)), "the first swing has a half-axis of 0"),
        (ball(0.5, 1e-60, (0.0, 0.0)), "half-axis of 0.0000"),
        (ball(0.5, 3.1, (0.0, 0.0)), "half-axis of 3.1"),
        (ball(0.5, 0.5, (0.1, 0.0)), "the twist goes from 0.1 to 0"),
        (Joint::ball(DVec3::X, DVec3::X, [(-1.0, 1.0); 2], (0.0, 0.0)), "parallel"),
        (Joint::axes([None, Some(Dof::range(2.0, 1.0)), None]), "the turn about Y goes from 2 to 1"),
        (
            Joint::FREE.with_slide([None, None, Some(Dof::range(0.1, 0.0))]),
            "the slide along Z goes from 0.1 to 0",
        ),
    ] {
        let error = skeleton.set_joint(ids[0], joint).unwrap_err().to_string();
        assert!(error.starts_with("joint `elbow`: ") && error.contains(words), "{error}");
    }
    assert!(!skeleton.has_limits());
    let swing = [Dof::range(-1.0, 1.0), Dof::FREE];
    let (swing_axis, centre) = (DVec3::Y, [0.0; 2]);
    let half = Turning::Ball { twist_axis: DVec3::X, swing_axis, swing, twist: Dof::FREE, centre };
    assert_eq!(Joint::from(half).check(), Err(JointFault::HalfLimited));
}

/// A ball and turns about axes that a soak led further out of their limits than the input.
#[test]
fn what_comes_in_outside_next_to_a_pole_or_a_half_turn_goes_no_further_out() {
    let of = |q: [f32; 4]| math::normalize(Quat::from_array(q));
    let axes = Turning::Axes {
        order: RotationOrder::Zyx,
        angles: [Some(Dof::range(-0.988_330_721_855_163_6, 2.151_403_069_496_155)), Some(Dof::FREE), None],
    };
    let ball = Turning::Ball {
        twist_axis: DVec3::new(-0.020894527435302734, -0.18017661571502686, -0.25069189071655273),
        swing_axis: DVec3::new(0.47142040729522705, -0.5499280691146851, -0.047217488288879395),
        swing: [
            Dof::range(-0.16229015588760376, 2.486044406890869),
            Dof::range(-0.8741616010665894, 1.3190957307815552),
        ],
        twist: Dof::range(-2.1716015338897705, -0.1904991865158081),
        centre: [0.0; 2],
    };
    let cases: [(Joint, [f32; 4], [f32; 4]); 2] = [
        (
            axes.into(),
            [-0.44611728, -0.10731732, 0.5232134, -0.71812963],
            [0.27517653, 0.114085674, 0.7977092, -0.5243304],
        ),
        (
            ball.into(),
            [-0.2654102, -0.36183897, 0.5958506, -0.666027],
            [0.6562226, -0.5096353, -0.556365, 0.010081148],
        ),
    ];
    for (joint, rest, came) in cases {
        let mut b = Skeleton::builder();
        let rest = JointTransform { rotation: of(rest), ..JointTransform::IDENTITY };
        b.add("one", None, rest);
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[0], joint).unwrap();
        let limits = *skeleton.limits(ids[0]);
        let came = JointTransform { rotation: of(came), ..rest };
        let out = |q: Quat| {
            let at = JointTransform { rotation: q, ..rest };
            judge::excess(skeleton.joint(ids[0]), &rest, &at)
        };
        let before = out(came.rotation);
        let mut x = 5u32;
        let mut random = || {
            x = x.wrapping_mul(1664525).wrapping_add(1013904223);
            (x >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        // (A solver relaxes the limits of an input that violates them by more than the promised accuracy.)
        let relaxed = if before.iter().all(|b| *b <= PROMISE) { limits } else { limits.relaxed(&came) };
        for wide in [limits, relaxed] {
            for _ in 0..2000 {
                let wanted = of([random(), random(), random(), random()]);
                let put = wide.clamp(wanted);
                for (b, a) in before.iter().zip(out(put)) {
                    assert!(a <= b.max(0.0) + 1e-5, "clamp: {b} to {a}");
                }
                for w in [0.01, 0.3, 0.7] {
                    let between = out(wide.blend(came.rotation, put, w));
                    for (b, a) in before.iter().zip(between) {
                        assert!(a <= b.max(0.0) + 1e-5, "blend {w}: {b} to {a}");
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(config(20_000))]

    /// A ball's clamp moves only what is outside, the swing or the twist, as coordinates do; also near a half turn, for
    /// either sign of the quaternion and with limits relaxed to an input.
    #[test]
    fn a_clamped_ball_keeps_the_part_that_is_within(
        joint in joint().prop_filter("a ball", |j| matches!(j.turning, Turning::Ball { .. })),
        rest in rotation(),
        q in prop_oneof![3 => rotation(), 1 => (vector(), -1e-3f32..1e-3)
            .prop_map(|(v, w)| math::normalize(Quat::from_xyzw(v.x, v.y, v.z, w)))],
        came in prop::option::weighted(0.3, rotation()),
    ) {
        let (skeleton, id, rest) = limits(&joint, rest);
        let before = came.map_or(vec![0.0; 2], |c| judged(&joint, &rest, c));
        let limits = match came {
            Some(rotation) => skeleton.limits(id).relaxed(&JointTransform { rotation, ..rest }),
            None => *skeleton.limits(id),
        };
        let c = limits.clamp(q);
        let local = |rotation| JointTransform { rotation, ..rest };
        let [lost, was_lost] = [judge::lost(&joint, &rest, &local(c)), judge::lost(&joint, &rest, &local(q))];
        let came_lost = came.map_or(1.0, |c| judge::lost(&joint, &rest, &local(c)));
        for (after, before) in judged(&joint, &rest, c).iter().zip(&before) {
            prop_assert!(*after <= before + PROMISE * lost.max(came_lost), "out by {after:e} after {before:e}");
        }
        // The sign of a quaternion is none of the rotation.
        prop_assert!(apart(limits.clamp(-q), c) < 2e-6);
        if limits.is_within(q) {
            prop_assert_eq!(c.to_array(), q.to_array());
        }
        // Near a half turn the twist has few digits.
        if lost.max(was_lost) > 1.0 {
            return Ok(());
        }
        let [from, to] = [q, c].map(|q| limits.coordinates(q));
        let turned = |n: usize| (from[n] - to[n]).rem_euclid(std::f32::consts::TAU);
        // Only one of the two decides that a rotation is outside if the excess of the other is 0.
        let excess = limits.excess(q);
        let swing_only = limits.excess(limits.rotation([from[0], from[1], to[2]]));
        let twist_only = limits.excess(limits.rotation([to[0], to[1], from[2]]));
        let known = 1e-6 / f64::from(limits_known(&joint, &rest, q));
        if excess > 1e-5 && swing_only <= 2e-6 {
            let moved = f64::from((from[0] - to[0]).hypot(from[1] - to[1]));
            prop_assert!(moved <= 4.0 * known, "swing {from:?} {to:?}");
        }
        if excess > 1e-5 && twist_only <= 2e-6 {
            let moved = f64::from(turned(2).min(std::f32::consts::TAU - turned(2)));
            prop_assert!(moved <= 4.0 * known, "twist {from:?} {to:?}");
        }
    }
}

/// cos(t/2) at a swing by t from the centre, by which the rounding of a rotation grows in its twist.
fn limits_known(joint: &Joint, rest: &JointTransform, q: Quat) -> f32 {
    let (skeleton, id, _) = limits(joint, rest.rotation);
    let own = skeleton.limits(id).own(q);
    let z = skeleton.limits(id).twist_axis().unwrap();
    Vec3::new(own.x, own.y, own.z).dot(z).hypot(own.w)
}

/// Turns about axes with the middle one near a quarter turn: rotations within stay, others go to the nearest one within.
#[test]
fn turns_about_axes_are_put_at_the_nearest_place_next_to_a_pole_too() {
    let orders = [
        RotationOrder::Xyz,
        RotationOrder::Xzy,
        RotationOrder::Yxz,
        RotationOrder::Yzx,
        RotationOrder::Zxy,
        RotationOrder::Zyx,
    ];
    let mut x = 5u64;
    let mut r = move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 40) as f64 / (1u64 << 23) as f64 - 1.0
    };
    let quarter = std::f64::consts::FRAC_PI_2;
    for n in 0..40_000 {
        let mut range = |middle: bool| {
            let kind = r();
            let from = -1.5 + 1.5 * r();
            match kind {
                0.8..=1.0 => None,
                0.6..0.8 => Some(Dof::FREE),
                _ if middle && n % 2 == 0 => Some(Dof::range(-quarter + 1e-4, quarter - 1e-3 * r().abs())),
                _ => Some(Dof::range(from, from + 1.7 * (r() + 1.0))),
            }
        };
        let order = orders[n % 6];
        let mut angles = [range(false), range(false), range(false)];
        angles[order.axes()[1]] = range(true);
        let joint: Joint = Turning::Axes { order, angles }.into();
        let (skeleton, id, rest) = limits(&joint, Quat::IDENTITY);
        let limits = skeleton.limits(id);
        let q = if n % 3 == 0 {
            // Near the pole.
            let turn = |k: usize, a: f64| math::axis_angle(Vec3::AXES[order.axes()[k]], a as f32);
            let middle = (quarter - 1e-3 * r().abs()) * if r() < 0.0 { -1.0 } else { 1.0 };
            math::mul(math::mul(turn(0, 3.0 * r()), turn(1, middle)), turn(2, 3.0 * r()))
        } else {
            math::normalize(Quat::from_xyzw(r() as f32, r() as f32, r() as f32, r() as f32))
        };
        let exact = judged(&joint, &rest, q)[0];
        let put = limits.clamp(q);
        // f32 represents angles up to a turn to 5e-7, and there are three.
        let found = f64::from(limits.excess(q));
        assert!((found - exact).abs() < 2e-6, "{exact:e}, found {found:e}: {limits:?}");
        // (A rotation within the tolerance stays.)
        assert!(judged(&joint, &rest, put)[0] < 3e-6, "{limits:?}");
        assert!(apart(put, q) < exact + 3e-6, "{exact:e}: {limits:?}");
        let at = limits.coordinates(put);
        assert!(apart(limits.rotation(at), put) < 3e-6, "{at:?}: {limits:?}");
    }
}

/// Found by a soak: a slide out of its range by rounding, on a joint near a pole of its middle axis. The relaxed ranges of
/// its angles included their rounding there, and it turned out of its limits by 1.8e-5.
#[test]
fn a_slide_that_came_in_outside_is_no_reason_to_turn_further() {
    let joint: Joint = Turning::Axes {
        order: RotationOrder::Yzx,
        angles: [
            Some(Dof::range(-1.9049924612045288, 0.11432325839996338)),
            Some(Dof::range(-0.5906686782836914, 1.1777050495147705)),
            Some(Dof::range(-1.569516897201538, 0.8551080226898193)),
        ],
    }
    .into();
    let joint = joint.with_slide([Some(Dof::range(-2.0, 4.0)), None, None]);
    let rest = math::normalize(Quat::from_xyzw(-0.48613426, -0.32255575, 0.77754664, 0.23463286));
    let (skeleton, id, rest) = limits(&joint, rest);
    let came = Quat::from_xyzw(-0.71907216, -0.4006821, -0.5598101, -0.094877645);
    assert!(judged(&joint, &rest, came)[0] < 1e-7);
    let slid = rest.translation + math::rotate(rest.rotation, Vec3::X) * 4.0001;
    let came = JointTransform { rotation: came, translation: slid, ..rest };
    let relaxed = skeleton.limits(id).relaxed(&came);
    assert!(relaxed.slide_excess(slid) <= 0.0);
    // The rotation of the sweep.
    let put = relaxed.clamp(Quat::from_xyzw(-0.7190679, -0.40065664, -0.55982834, -0.094910294));
    assert!(judged(&joint, &rest, put)[0] < 3e-6);
}

/// A hinge tilted by 173 degrees in the input, where f32 resolves the angle about its axis to 4e-6 at best: it turns on,
/// keeps its tilt and ends where its range does.
#[test]
fn a_hinge_that_came_in_nearly_upside_down_ends_where_its_range_does() {
    let mut x = 9u32;
    let mut r = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    for n in 0..20_000 {
        let axis = Vec3::new(r(), r(), r()) + Vec3::Z * 0.2;
        let joint = Joint::hinge(axis, Dof::range(-0.8, 1.1));
        let rest = math::normalize(Quat::from_xyzw(r(), r(), r(), r()));
        let (skeleton, id, rest) = limits(&joint, rest);
        let axis = axis.normalize();
        let tilt = math::axis_angle(math::perpendicular(axis, Vec3::new(r(), r(), r())), [3.02, 3.1][n % 2]);
        let local = |q: Quat| math::normalize(math::mul(rest.rotation, math::mul(tilt, q)));
        let came = JointTransform { rotation: local(math::axis_angle(axis, 3.0 * r())), ..rest };
        let relaxed = skeleton.limits(id).relaxed(&came);
        let put =
            JointTransform { rotation: relaxed.clamp(local(math::axis_angle(axis, 3.0 * r()))), ..rest };
        let further = judge::further(&joint, &rest, &came, &put);
        assert!(further < 4e-6, "{further:e}");
    }
}

/// Found by a soak: a hinge tilted by 179.9 degrees in the input turned 3.5e-5 too far. Its axis, rounded to f32, is off by
/// 6e-8, and the angle about it, at that tilt, by a thousand times as much.
#[test]
fn a_hinge_that_came_in_upside_down_ends_where_its_range_does() {
    let axis = DVec3::new(0.2989894151687622, -0.7577254772186279, -0.17846107482910156);
    let joint = Joint::hinge(axis, Dof::range(-1.449409008026123, 0.5276299715042114));
    let rest = math::normalize(Quat::from_xyzw(0.2545326, 0.23542777, -0.7720725, -0.53262645));
    let (skeleton, id, rest) = limits(&joint, rest);
    let came = Quat::from_xyzw(-0.12315032, -0.21061027, 0.47806534, -0.84376);
    let came = JointTransform { rotation: came, ..rest };
    let relaxed = skeleton.limits(id).relaxed(&came);
    let axis = axis.normalize().as_vec3();
    for n in 0..100 {
        // Over a whole turn.
        let turn = math::axis_angle(axis, 0.0628 * n as f32);
        let put = relaxed.clamp(math::normalize(math::mul(came.rotation, turn)));
        let further = judge::further(&joint, &rest, &came, &JointTransform { rotation: put, ..rest });
        assert!(further < 4e-6, "{n}: {further:e}");
    }
}

/// Found by a soak: a hinge tilted by 175.6 degrees in the input was led by 2e-5 rad towards its limits, and turned about
/// its axis, out of its range, by the same angle. Products in f32 are off by 4e-7; the angle was by 1.09e-5.
#[test]
fn a_hinge_that_came_in_nearly_upside_down_is_led_into_its_limits_straight() {
    let axis = DVec3::new(0.19746172428131104, 0.13924133777618408, -0.12167835235595703);
    let joint = Joint::hinge(axis, Dof::range(-2.3545868396759033, -1.2131707668304443));
    let axis = axis.normalize().as_vec3();
    let tilt = |rest: &JointTransform, q: Quat| judged(&joint, rest, q)[0];
    let mut x = 5u32;
    let mut r = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    for n in 0..20_000 {
        let mut rest = math::normalize(Quat::from_xyzw(r(), r(), r(), r()));
        let across = math::perpendicular(axis, Vec3::new(r(), r(), r()));
        let off = math::axis_angle(across, [1.0, 2.9, 3.02, 3.1][n % 4]);
        let mut came = math::mul(rest, math::mul(off, math::axis_angle(axis, 3.0 * r())));
        if n == 0 {
            rest = Quat::from_xyzw(0.1945008, 0.75226146, -0.59974056, 0.19126797);
            came = Quat::from_xyzw(1.0947056, -0.9276475, -0.618782, 0.90391666);
        }
        let (skeleton, id, rest) = limits(&joint, rest);
        let came = JointTransform { rotation: math::normalize(came), ..rest };
        let strict = skeleton.limits(id);
        let (relaxed, put) = (strict.relaxed(&came), strict.clamp(came.rotation));
        for weight in [1e-6, 3.42e-6, 6.9e-6, 1e-5, 1e-3, 0.02, 0.3, 0.9] {
            let rotation = relaxed.blend(came.rotation, put, weight);
            let further = judge::further(&joint, &rest, &came, &JointTransform { rotation, ..rest });
            assert!(further < 4e-6, "{n}, {weight}: {further:e}");
            let left = tilt(&rest, came.rotation) * f64::from(1.0 - weight);
            assert!((tilt(&rest, rotation) - left).abs() < 2e-6, "{n}, {weight}");
        }
    }
}

/// A centre of a swing is what the docs say: `own = exp(c) exp(s - c) twist`, with rest at 0.
#[test]
fn a_swing_about_a_centre() {
    let of = |centre: [f64; 2], swing: [(f64, f64); 2]| {
        let swing = swing.map(|(a, b)| Dof::range(a, b));
        let (twist_axis, swing_axis, twist) = (DVec3::Y, DVec3::X, Dof::range(-0.3, 0.4));
        Joint::from(Turning::Ball { twist_axis, swing_axis, swing, twist, centre })
    };
    let joint = of([0.7, -0.2], [(-0.4, 2.2), (-1.0, 0.5)]);
    let rest = math::normalize(Quat::from_xyzw(0.3, -0.2, 0.5, 0.8));
    let (skeleton, id, _) = limits(&joint, rest);
    let limits = skeleton.limits(id);
    let close = |c: [f32; 3], to: [f32; 3]| (0..3).all(|n| (c[n] - to[n]).abs() < 2e-6);
    assert!(close(limits.coordinates(rest), [0.0; 3]) && limits.is_within(rest));
    assert!(apart(limits.rotation([0.0; 3]), rest) < 1e-6);
    // The second swing is about Y x X.
    let turn = |x: f32, z: f32| math::axis_angle(Vec3::new(x, 0.0, -z).normalize(), x.hypot(z));
    for [x, y, t] in [[0.3, 0.1, 0.2], [1.9, -0.3, -0.3], [0.6, -0.9, 0.4], [2.2, -0.2, 0.0]] {
        let own = [rest, turn(0.7, -0.2), turn(x - 0.7, y + 0.2), math::axis_angle(Vec3::Y, t)];
        let local = own.into_iter().reduce(math::mul).unwrap();
        assert!(close(limits.coordinates(local), [x, y, t]), "{:?}", limits.coordinates(local));
        assert!(apart(limits.rotation([x, y, t]), local) < 1e-6 && limits.is_within(local));
    }
    // Along the axis of the centre, the swing is an angle from rest.
    let along = math::mul(rest, turn(0.7 * 1.5, -0.2 * 1.5));
    assert!(close(limits.coordinates(along), [1.05, -0.3, 0.0]));
    // The quarters meet at the centre: their ends are there and nowhere else.
    for (at, to) in [([3.0, -0.2], [2.2, -0.2]), ([-1.0, -0.2], [-0.4, -0.2]), ([0.7, 1.0], [0.7, 0.5])] {
        let [x, y] = at;
        assert!(close(limits.coordinates(limits.clamp(limits.rotation([x, y, 0.1]))), [to[0], to[1], 0.1]));
    }
    // A rest pose outside is outside, like any other input.
    let (skeleton, id, _) = self::limits(&of([1.5, 0.0], [(0.5, 2.0), (-0.4, 0.4)]), rest);
    let limits = skeleton.limits(id);
    assert!((limits.excess(rest) - 0.5).abs() < 1e-6);
    assert!(close(limits.coordinates(limits.clamp(rest)), [0.5, 0.0, 0.0]));
    let relaxed = limits.relaxed(&JointTransform { rotation: rest, ..JointTransform::IDENTITY });
    assert!(relaxed.is_within(rest));
    // Of preferred values, some may be missing: rest, clamped, stands for them.
    let mut prefers = of([1.5, 0.0], [(0.5, 2.0), (-0.4, 0.4)]);
    if let Turning::Ball { twist, .. } = &mut prefers.turning {
        twist.preferred = Some(0.2);
    }
    let (skeleton, id, _) = self::limits(&prefers, rest);
    let limits = skeleton.limits(id);
    assert!(close(limits.coordinates(limits.preferred().unwrap()), [0.5, 0.0, 0.2]));

    let fault = |centre, swing| of(centre, swing).check().map_err(|e| e.to_string());
    let around = [(-0.5, 1.0), (-0.4, 0.6)];
    assert_eq!(fault([0.3, 0.0], around), Ok(()));
    for (centre, swing, words) in [
        ([1.2, 0.0], around, "the first swing has a centre of 1.2, which must be inside its range"),
        ([0.0, -0.5], around, "the second swing has a centre of -0.5, which must be inside its range"),
        ([f64::NAN, 0.0], around, "the first swing has a centre of NaN, which must be inside its range"),
        ([0.0, 0.6], around, "the second swing has a half-axis of 0"),
        ([0.3, 0.0], [(0.3, 0.3), (-0.1, 0.1)], "the first swing has a half-axis of -0"),
        ([0.5, 0.0], [(-2.6, 1.0), (-0.1, 0.1)], "the first swing has a half-axis of 3.1"),
        (
            [2.5, -1.9],
            [(1.0, 3.0), (-2.0, 0.0)],
            "the first swing has a centre of 2.5, which must be at most 3",
        ),
        ([0.3, 0.0], [(f64::NEG_INFINITY, f64::INFINITY); 2], "a centre of 0.3, which must be 0"),
        ([0.0, 0.0], [(0.1, 0.3), (-0.1, 0.1)], "the first swing has a half-axis of -0.1"),
    ] {
        let error = fault(centre, swing).unwrap_err();
        assert!(error.contains(words), "{error}");
    }
}
