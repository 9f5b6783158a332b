//! Judges full bodies with many goals by closed forms, and their refusals.

use std::sync::Arc;

use sinew::{
    Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Attribute, Dof, Joint},
    math,
    solve::{
        Auto, Balance, Drag, Effector, FullBody, FullBodyError, FullBodyOptions, IterativeOptions, Pin,
        RootMode, Tolerance,
    },
};

fn at(x: f32, y: f32, z: f32) -> JointTransform {
    JointTransform::from_translation(Vec3::new(x, y, z))
}

/// Hips, two joints of spine, two arms of two bones at fixed offsets from the chest, and a head.
fn figure() -> Arc<Skeleton> {
    let mut b = Skeleton::builder();
    let hips = b.add("hips", None, at(0.0, 1.0, 0.0));
    let spine = b.add("spine", Some(hips), at(0.0, 0.2, 0.0));
    let chest = b.add("chest", Some(spine), at(0.0, 0.2, 0.0));
    b.add("head", Some(chest), at(0.0, 0.3, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = b.add(format!("upper.{side}"), Some(chest), at(0.2 * x, 0.15, 0.0));
        let fore = b.add(format!("fore.{side}"), Some(upper), at(0.3 * x, 0.0, 0.01));
        let hand = b.add(format!("hand.{side}"), Some(fore), at(0.28 * x, 0.0, 0.0));
        b.add(format!("finger.{side}"), Some(hand), at(0.1 * x, 0.0, 0.0));
    }
    Arc::new(b.build().unwrap().0)
}

fn ids<const N: usize>(skeleton: &Skeleton, names: [&str; N]) -> [JointId; N] {
    names.map(|n| skeleton.find(n).unwrap())
}

/// A block that slides along X.
fn slider() -> (Arc<Skeleton>, JointId) {
    let mut b = Skeleton::builder();
    b.add("ground", None, JointTransform::IDENTITY);
    b.add("block", Some(0), at(0.0, 1.0, 0.0));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], Joint::FIXED).unwrap();
    let slide = Some(Dof::range(-5.0, 5.0));
    skeleton.set_joint(ids[1], Joint::FIXED.with_slide([slide, None, None])).unwrap();
    (Arc::new(skeleton), ids[1])
}

/// Returns the report of each goal.
fn each(full_body: &FullBody, pose: &Pose, goals: &[Goal], report: &Report) -> Vec<Report> {
    full_body.effector_reports(pose, goals, report).collect()
}

#[test]
fn what_cannot_be_met_is_shared_by_weight() {
    // w (s - a)^2 + v (s - b)^2 is minimal at (w a + v b) / (w + v).
    let (skeleton, block) = slider();
    let root = skeleton.joint_at(0).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    for (w, v) in [(1.0f32, 1.0f32), (1.0, 0.5), (0.2, 0.9), (3.0, 1.0), (7.0, 1e6), (1e-3, 2e-3)] {
        let end = |weight| Effector::new(block).with_position_weight(weight);
        let full_body = FullBody::new(&skeleton, root, &[end(w), end(v).with_offset(Vec3::Z)]).unwrap();
        let mut pose = Pose::rest(&skeleton);
        let goals = [Vec3::new(1.0, 1.0, 0.0), Vec3::new(-0.6, 1.0, 1.0)].map(Goal::position);
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        let middle = (w - 0.6 * v) / (w + v);
        assert!((pose.position(block).x - middle).abs() < 1e-4, "{} is not {middle}", pose.position(block).x);
        assert_eq!(report.outcome, Outcome::Stalled);
        let [first, second] = each(&full_body, &pose, &goals, &report)[..] else { panic!("two goals") };
        assert!(v > 1e5 || !first.reached() && !second.reached());
        assert!((first.position_residual - (1.0 - middle)).abs() < 1e-4);
        assert!((second.position_residual - (middle + 0.6)).abs() < 1e-4);
        assert_eq!(report.position_residual, first.position_residual.max(second.position_residual));
    }
}

#[test]
fn what_goes_first_is_met_and_the_rest_comes_near() {
    let (skeleton, block) = slider();
    let root = skeleton.joint_at(0).unwrap();
    let ends = [Effector::new(block).with_priority(1), Effector::new(block).with_offset(Vec3::Z)];
    let full_body = FullBody::new(&skeleton, root, &ends).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    let goals = [Vec3::new(1.0, 1.0, 0.0), Vec3::new(-0.6, 1.0, 1.0)].map(Goal::position);
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert!((pose.position(block).x + 0.6).abs() < 2e-4, "{}", pose.position(block).x);
    let each = each(&full_body, &pose, &goals, &report);
    assert!(each[1].reached() && !each[0].reached());

    // Goals that are compatible are both met.
    let skeleton = figure();
    let [hips, head, hand] = ids(&skeleton, ["hips", "head", "hand.l"]);
    let full_body =
        FullBody::new(&skeleton, hips, &[Effector::new(head), Effector::new(hand).with_priority(2)]).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    let goals = [Vec3::new(0.1, 1.6, 0.3), Vec3::new(0.4, 1.2, 0.4)].map(Goal::position);
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert!(report.reached(), "{report:?}");
}

#[test]
fn the_body_leans_for_hands_and_a_middle_joint_stays() {
    let skeleton = figure();
    let [hips, chest, left, right] = ids(&skeleton, ["hips", "chest", "hand.l", "hand.r"]);
    let mut pose = Pose::rest(&skeleton);
    // Out of the arms' reach from an upright chest.
    let goals = [Vec3::new(0.5, 1.2, 0.6), Vec3::new(-0.3, 1.3, 0.6)].map(Goal::position);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right)]).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    assert!(full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap().reached());
    assert!(pose.position(chest).z > 0.02);
    assert_eq!(pose.position(hips), Vec3::Y);

    // A goal for the middle of the spine, which the hands do not move.
    let middle = Vec3::new(0.05, 1.37, 0.1);
    let goals = [goals[0], goals[1], Goal::position(middle)];
    let full_body =
        FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right), Effector::new(chest)])
            .unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert!(pose.position(chest).distance(middle) < 2e-4, "{report:?}");
}

#[test]
fn the_root_does_as_it_is_told() {
    let skeleton = figure();
    let [hips, hand] = ids(&skeleton, ["hips", "hand.l"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let far = Goal::position(Vec3::new(3.0, 1.0, 0.0));
    let mut solve = |root, goal: Goal| {
        let mut pose = Pose::rest(&skeleton);
        options.root = root;
        let report = full_body.solve(&mut workspace, &mut pose, &[goal], &options).unwrap();
        (report, pose.position(hips))
    };
    let (report, place) = solve(RootMode::Pinned, far);
    let reach = 0.2 + 0.2 + (0.2f32 * 0.2 + 0.15 * 0.15).sqrt() + 0.3001666 + 0.28;
    assert!((report.out_of_reach - (3.0 - reach)).abs() < 0.01 && !report.reached(), "{report:?}");
    assert_eq!(place, Vec3::Y);
    let (report, place) = solve(RootMode::Free, far);
    assert!(report.reached(), "{report:?}");
    assert!(place.x > 1.5);
    // For a goal in reach, the spring keeps the hips near their position, and the free root does not.
    let near = Goal::position(Vec3::new(0.9, 1.1, 0.3));
    let (_, free) = solve(RootMode::Free, near);
    let (report, held) = solve(RootMode::Spring(10.0), near);
    assert!(report.reached(), "{report:?}");
    assert!(held.distance(Vec3::Y) < 0.3 * free.distance(Vec3::Y), "{held} {free}");
    let put = Vec3::new(0.1, 0.9, 0.2);
    let (report, place) = solve(RootMode::At(put), near);
    assert!(report.reached(), "{report:?}");
    assert!(place.distance(put) < 1e-6);
}

#[test]
fn hands_hold_on_to_each_other() {
    let skeleton = figure();
    let [hips, left, right, head] = ids(&skeleton, ["hips", "hand.l", "hand.r", "head"]);
    // The right hand 0.2 m to the right of the left one in its space, with its rotation.
    let tips = [Effector::new(left), Effector::new(right).with_relative_to(left), Effector::new(head)];
    let full_body = FullBody::new(&skeleton, hips, &tips).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    let bar = Goal::position(Vec3::new(-0.2, 0.0, 0.0)).with_rotation(Quat::from_rotation_y(0.4));
    for i in 0..20 {
        let f = i as f32 * 0.3;
        let place = Vec3::new(0.1 + 0.1 * f.sin(), 1.3 + 0.1 * f.cos(), 0.3);
        let goals =
            [Goal::position(place).with_rotation(Quat::from_rotation_z(0.3 * f.cos())), bar, Goal::NONE];
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        assert!(report.reached(), "{i}: {report:?}");
        let seen = pose.model(left).inverse().transform_point3(pose.position(right));
        assert!(seen.distance(Vec3::new(-0.2, 0.0, 0.0)) < 2e-4, "{seen}");
        let turned = math::mul(math::conjugate(pose.model_rotation(left)), pose.model_rotation(right));
        assert!(math::angle_between(turned, Quat::from_rotation_y(0.4)) < 2e-3);
    }
    // A met goal moves nothing.
    let before = pose.clone();
    let goals = [Goal::NONE, bar, Goal::NONE];
    full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert_eq!(before.locals(), pose.locals());
}

#[test]
fn posture_draws_what_goals_leave_free() {
    let skeleton = figure();
    let [hips, head, hand, fore] = ids(&skeleton, ["hips", "head", "hand.l", "fore.l"]);
    let goals = [Vec3::new(0.0, 1.68, 0.1), Vec3::new(0.5, 1.5, 0.3)].map(Goal::position);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(head), Effector::new(hand)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    options.posture = 1.0;
    // The answer does not depend on the input pose.
    let mut elbows = Vec::new();
    for i in 0..4 {
        let mut pose = Pose::rest(&skeleton);
        for (k, j) in skeleton.joints().enumerate() {
            let axis = Vec3::new(1.0, (k * i) as f32 % 3.0 - 1.0, 0.5).normalize();
            pose.set_rotation(j, math::axis_angle(axis, 0.2 * i as f32));
        }
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        assert!(report.reached(), "{report:?}");
        elbows.push(pose.position(fore));
    }
    for e in &elbows {
        assert!(e.distance(elbows[0]) < 0.02, "{elbows:?}");
    }
}

#[test]
fn weights_go_from_the_incoming_pose_to_the_answer() {
    let skeleton = figure();
    let [hips, hand] = ids(&skeleton, ["hips", "hand.l"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let rest = Pose::rest(&skeleton);
    let goal = [Goal::position(Vec3::new(0.4, 1.1, 0.5))];
    let mut last = rest.clone();
    for i in 0..=50 {
        options.iterative.influence = i as f32 / 50.0;
        let mut pose = rest.clone();
        full_body.solve(&mut workspace, &mut pose, &goal, &options).unwrap();
        if i == 0 {
            assert_eq!(pose.locals(), rest.locals());
        }
        for j in skeleton.joints() {
            let step = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
            assert!(step < 0.1, "joint {j} steps by {step}");
        }
        last = pose;
    }
    assert!(last.position(hand).distance(Vec3::new(0.4, 1.1, 0.5)) < 2e-4);
}

#[test]
fn bad_tips_are_named() {
    let skeleton = figure();
    let [hips, chest, hand, head] = ids(&skeleton, ["hips", "chest", "hand.l", "head"]);
    let new = |root, tips: &[Effector]| FullBody::new(&skeleton, root, tips).unwrap_err();
    assert_eq!(new(hips, &[]), FullBodyError::Empty);
    assert_eq!(
        new(hips, &[Effector::new(hand).with_relative_to(hand)]).to_string(),
        "the goal of joint `hand.l` is relative to that joint itself: it must be relative to another joint"
    );
    assert_eq!(
        new(head, &[Effector::new(hand)]).to_string(),
        "joint `hand.l` does not hang below joint `head`"
    );
    assert_eq!(
        new(hips, &[Effector::new(head), Effector::new(hand), Effector::new(head)]).to_string(),
        "effectors 0 and 2 both lead the same point of joint `head`"
    );
    assert!(matches!(
        new(hips, &[Effector::new(hand).with_offset(Vec3::NAN)]),
        FullBodyError::Offset { joint, .. } if joint == "hand.l"
    ));
    assert!(matches!(
        new(hips, &[Effector::new(hand).with_priority(3)]),
        FullBodyError::Priority { priority: 3, .. }
    ));
    // An id of a larger skeleton.
    let mut b = Skeleton::builder();
    for i in 0..40 {
        b.add(format!("{i}"), None, JointTransform::IDENTITY);
    }
    let stranger = b.build().unwrap().1[39];
    assert_eq!(
        new(hips, &[Effector::new(stranger)]).to_string(),
        "effector 0 names joint #39, but the skeleton has 12 joints"
    );
    assert!(matches!(new(stranger, &[Effector::new(hand)]), FullBodyError::NoSuchRoot { .. }));
    assert!(matches!(
        new(hips, &[Effector::new(hand).with_relative_to(stranger)]),
        FullBodyError::NoSuchJoint { effector: 0, .. }
    ));

    let mut damped = (*skeleton).clone();
    damped.set_joint(chest, Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0).with_damping(0.5))).unwrap();
    match FullBody::new(&damped, hips, &[Effector::new(hand)]).unwrap_err() {
        FullBodyError::Joint(e) => assert_eq!((e.joint.as_str(), e.attribute), ("chest", Attribute::Damping)),
        other => panic!("{other}"),
    }
}

#[test]
fn bad_goals_leave_the_pose() {
    let skeleton = figure();
    let [hips, hand] = ids(&skeleton, ["hips", "hand.l"]);
    let tips = [Effector::new(hand), Effector::new(hand).with_offset(Vec3::X * 0.1)];
    let full_body = FullBody::new(&skeleton, hips, &tips).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let before = Pose::rest(&skeleton);
    let mut refused = |goals: &[Goal]| {
        let mut pose = before.clone();
        let error = full_body.solve(&mut workspace, &mut pose, goals, &options).unwrap_err();
        assert_eq!(pose.locals(), before.locals());
        error
    };
    assert_eq!(refused(&[Goal::NONE]), SolveError::GoalCount { given: 1, wanted: 2 });
    assert!(matches!(refused(&[Goal::position(Vec3::NAN), Goal::NONE]), SolveError::NotFinite { .. }));
    let turned = |angle| Goal::NONE.with_rotation(Quat::from_rotation_x(angle));
    assert_eq!(
        refused(&[turned(0.5), turned(-0.5)]).to_string(),
        "goals 0 and 1 contradict each other: they ask for different rotations of joint `hand.l`"
    );
    let poled = |pole| Goal::position(Vec3::Y).with_pole(pole);
    assert!(matches!(refused(&[Goal::NONE, poled(Pole::Point(Vec3::NAN))]), SolveError::NotFinite { .. }));
    let heavy = Goal::position(Vec3::Y).with_position_influence(2.0);
    assert!(matches!(refused(&[heavy, Goal::NONE]), SolveError::OutOfRange { .. }));
}

/// Returns the angle of a limb's middle joint about its axis from the pole's half plane, in f64 radians.
fn off_pole(pose: &Pose, limb: [JointId; 3], pole: DVec3) -> f64 {
    let [from, middle, to] = limb.map(|j| pose.position(j).as_dvec3());
    let axis = (to - from).normalize();
    let across = |v: DVec3| (v - axis * v.dot(axis)).normalize();
    across(middle - from).dot(across(pole - from)).clamp(-1.0, 1.0).acos()
}

#[test]
fn elbows_turn_to_their_poles() {
    let skeleton = figure();
    let [hips, left, right, head] = ids(&skeleton, ["hips", "hand.l", "hand.r", "head"]);
    let limbs = [["upper.l", "fore.l", "hand.l"], ["upper.r", "fore.r", "hand.r"]].map(|l| ids(&skeleton, l));
    let full_body =
        FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right), Effector::new(head)])
            .unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    for n in 0..24 {
        let turn = Quat::from_rotation_x(n as f32 * 0.9);
        // One pole circles the arm past the elbow; the other is a direction, away from the arm's line.
        let round = Quat::from_rotation_x(n as f32 * core::f32::consts::TAU / 12.0);
        let places = [Vec3::new(0.5, 1.5, 0.1), Vec3::new(-0.4, 1.6, 0.15)];
        let poles = [places[0] + round * Vec3::Y, turn * Vec3::new(0.2, 1.0, 0.3)];
        let goals = [
            Goal::position(places[0]).with_pole(Pole::Point(poles[0])),
            Goal::position(places[1]).with_pole(Pole::Direction(poles[1])),
            Goal::position(Vec3::new(0.05, 1.68, 0.05)),
        ];
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        assert!(report.reached(), "{n}: {report:?}");
        let from = pose.position(limbs[1][0]);
        let off = [
            off_pole(&pose, limbs[0], poles[0].as_dvec3()),
            off_pole(&pose, limbs[1], (from + poles[1]).as_dvec3()),
        ];
        // The elbow's weight decays to a ten-thousandth of the hand's.
        assert!(off.iter().all(|o| *o < 0.05), "{n}: {off:?}");
        // A second solve keeps it.
        let before = pose.clone();
        if off.iter().all(|o| *o < 0.019) {
            full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
            assert_eq!(pose.locals(), before.locals());
        }
    }
    // A head whose parent is the chest has no joint between.
    let nod = Goal::position(Vec3::Y).with_pole(Pole::Point(Vec3::Z));
    let refused =
        full_body.solve(&mut workspace, &mut pose, &[Goal::NONE, Goal::NONE, nod], &options).unwrap_err();
    assert_eq!(refused, SolveError::Pole { goal: 2 });
}

#[test]
fn a_pole_never_costs_a_goal() {
    // Elbows that bend to one side and shoulders of a narrow twist stop well before most poles.
    let skeleton = figure();
    let [hips, hand, upper, fore] = ids(&skeleton, ["hips", "hand.l", "upper.l", "fore.l"]);
    let mut skeleton = Arc::unwrap_or_clone(skeleton);
    skeleton.set_joint(fore, Joint::hinge(Vec3::Y, Dof::range(-2.5, 0.0))).unwrap();
    skeleton
        .set_joint(upper, Joint::ball(Vec3::X, Vec3::Y, [(-1.5, 1.0), (-1.5, 1.0)], (-0.5, 0.5)))
        .unwrap();
    let skeleton = Arc::new(skeleton);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand)]).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    for n in 0..12 {
        let round = Quat::from_rotation_x(n as f32 * core::f32::consts::TAU / 12.0);
        let mut goal = Goal::position(Vec3::new(0.45, 1.6, 0.2));
        let mut pose = Pose::rest(&skeleton);
        assert!(full_body.solve(&mut workspace, &mut pose, &[goal], &options).unwrap().reached());
        goal.pole = Pole::Point(Vec3::new(0.3, 1.5, 0.0) + round * Vec3::Z);
        let report = full_body.solve(&mut workspace, &mut pose, &[goal], &options).unwrap();
        assert!(report.reached(), "{n}: {report:?}");
        assert!(skeleton.limit_excess(upper, pose.local(upper).rotation) < 1e-5);
        assert!(skeleton.limit_excess(fore, pose.local(fore).rotation) < 1e-5);
    }
}

/// Returns the centre of mass of bones whose masses are proportional to their lengths, in f64.
fn centre(pose: &Pose, root: JointId) -> [f64; 3] {
    let s = pose.skeleton();
    let (mut sum, mut whole) = ([0.0; 3], 0.0);
    for j in s.below(root).filter(|&j| j != root) {
        let (a, b) = (pose.position(s.parent(j).unwrap()).as_dvec3(), pose.position(j).as_dvec3());
        let m = a.distance(b);
        whole += m;
        let c = (a + b) * 0.5 * m;
        sum = [sum[0] + c.x, sum[1] + c.y, sum[2] + c.z];
    }
    sum.map(|c| c / whole)
}

#[test]
fn the_centre_of_mass_stays_over_its_support() {
    let skeleton = figure();
    let [hips, left, right] = ids(&skeleton, ["hips", "hand.l", "hand.r"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(left)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let goal = [Goal::position(Vec3::new(0.3, 1.3, 0.65))];
    let mut leaning = Pose::rest(&skeleton);
    assert!(full_body.solve(&mut workspace, &mut leaning, &goal, &options).unwrap().reached());
    let corners = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)];
    let corners = corners.map(|(x, z)| Vec3::new(x, 0.0, z));
    let mut balance = Balance::over(&corners);
    balance.margin = 0.0;
    assert!(centre(&leaning, hips)[2] > 0.1, "{:?}", centre(&leaning, hips));
    options.balance = Some(balance);
    let mut pose = Pose::rest(&skeleton);
    let report = full_body.solve(&mut workspace, &mut pose, &goal, &options).unwrap();
    assert!(report.reached(), "{report:?}");
    let [x, _, z] = centre(&pose, hips);
    assert!(x.abs() < 0.1002 && z.abs() < 0.0502, "{x} {z}");
    assert!(full_body.out_of_balance(&pose, &balance) < 2e-4);
    let [x, _, z] = centre(&leaning, hips);
    let out = (x.abs() - 0.1).max(0.0).hypot((z.abs() - 0.05).max(0.0));
    let found = f64::from(full_body.out_of_balance(&leaning, &balance));
    assert!((out - found).abs() < 1e-5, "{out} {found}");
    // The other arm moved back to balance.
    assert!(pose.position(right).z < leaning.position(right).z);

    // All the mass is in the left hand's finger, so the hand's goal leaves no balance.
    let finger = skeleton.find("hand.l").unwrap();
    let masses: Vec<f32> = skeleton.joints().map(|j| f32::from(u8::from(j == finger))).collect();
    (balance.masses, balance.priority) = (&masses, 1);
    options.balance = Some(balance);
    let report = full_body.solve(&mut workspace, &mut pose, &goal, &options).unwrap();
    assert!(report.reached());
    assert!(full_body.out_of_balance(&pose, &balance) > 0.3);
    balance.masses = &masses[..3];
    options.balance = Some(balance);
    assert!(matches!(
        full_body.solve(&mut workspace, &mut pose, &goal, &options),
        Err(SolveError::OutOfRange { .. })
    ));
}

#[test]
fn a_drag_holds_its_pins_and_never_leaps() {
    let skeleton = figure();
    let [hips, left, right, finger] = ids(&skeleton, ["hips", "hand.l", "hand.r", "finger.l"]);
    let mut pose = Pose::rest(&skeleton);
    pose.set_rotation(skeleton.find("fore.l").unwrap(), Quat::from_rotation_y(-0.8));
    pose.update();
    let (stood, below) = (pose.model(right), *pose.local(finger));
    let mut drag = Drag::new(&pose, hips, Effector::new(left), &[Pin::pose(right)]).unwrap();
    let mut workspace = Workspace::new();
    let start = pose.position(left);
    let mut last = start;
    let mut met = 0;
    for i in 1..200 {
        // Around the chest, then out of reach and back.
        let f = i as f32 * 0.0314;
        let at = start + Vec3::new(-0.3 * f.sin(), 0.1 * (2.0 * f).sin(), 0.2 * f.sin().max(0.0));
        let before = pose.clone();
        let report =
            drag.to(&mut workspace, &mut pose, &Goal::position(at), &IterativeOptions::new()).unwrap();
        met += u32::from(report.position_residual < 1e-3);
        assert!((report.position_residual - pose.position(left).distance(at)).abs() < 1e-6);
        let went = at.distance(last) / drag.full_body().size(&before);
        last = at;
        for j in skeleton.joints() {
            let step = math::angle_between(before.local(j).rotation, pose.local(j).rotation);
            assert!(step <= 8.0 * went, "joint {j} leaps by {step}, the goal went {went}");
        }
        assert!(pose.position(right).distance(stood.translation) < 1e-3);
        assert_eq!(*pose.local(finger), below, "what hangs below goes along");
    }
    assert!(met > 80, "{met}");
}

#[test]
fn turns_can_be_bounded() {
    let skeleton = figure();
    let [hips, hand] = ids(&skeleton, ["hips", "hand.l"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    options.iterative.max_turn = 0.05;
    let mut pose = Pose::rest(&skeleton);
    let goal = [Goal::position(Vec3::new(-0.2, 1.4, 0.5))];
    let mut frames = 0;
    loop {
        let before = pose.clone();
        let report = full_body.solve(&mut workspace, &mut pose, &goal, &options).unwrap();
        for j in skeleton.joints() {
            let step = math::angle_between(before.local(j).rotation, pose.local(j).rotation);
            assert!(step <= 0.0501, "{step}");
        }
        frames += 1;
        if report.reached() {
            break;
        }
        assert!(frames < 100);
    }
    assert!(frames > 5);
    // A bound on turns does not make a goal of partial influence count as met.
    options.iterative.max_turn = 0.02;
    let part = [goal[0].with_position_influence(0.5)];
    let report = full_body.solve(&mut workspace, &mut Pose::rest(&skeleton), &part, &options).unwrap();
    assert_eq!(report.outcome, Outcome::Stalled, "{report:?}");
}

#[test]
fn what_lower_priorities_leave_unmet_is_counted_once() {
    // The last goal is met only after the first has been restored. Its iterations count, and stay within the maximum.
    let skeleton = figure();
    let [hips, hand, head] = ids(&skeleton, ["hips", "hand.l", "head"]);
    let tips = [Effector::new(hand), Effector::new(head).with_priority(1)];
    let full_body = FullBody::new(&skeleton, hips, &tips).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    for iterations in 1..60 {
        options.iterative.max_iterations = Some(iterations);
        for size in [1.0, 1e4, 1e10, 1e18] {
            let mut pose = Pose::rest(&skeleton);
            let goals = [Vec3::new(0.3, 1.5, 0.4), Vec3::new(0.0, 1.2, 0.3) * size].map(Goal::position);
            let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
            assert!(report.iterations <= iterations, "{report:?}");
        }
    }
}

#[test]
fn a_goal_of_no_weight_is_no_residual() {
    let skeleton = figure();
    let [hips, hand, head] = ids(&skeleton, ["hips", "hand.l", "head"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand), Effector::new(head)]).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
    let mut pose = Pose::rest(&skeleton);
    let asks_nothing = Goal::position(Vec3::splat(100.0)).with_position_influence(0.0);
    let goals = [Goal::position(Vec3::new(0.4, 1.4, 0.4)), asks_nothing];
    let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
    assert!(report.reached());
    let second = each(&full_body, &pose, &goals, &report)[1];
    assert!(report.position_residual < 1e-3 && second.reached());
    assert_eq!(second.position_residual, 0.0);
    // As for an effector without weight.
    let effectors = [Effector::new(hand), Effector::new(head).with_position_weight(0.0)];
    let full_body = FullBody::new(&skeleton, hips, &effectors).unwrap();
    let (goals, mut other) = ([goals[0], Goal::position(Vec3::splat(100.0))], Pose::rest(&skeleton));
    assert_eq!(full_body.solve(&mut workspace, &mut other, &goals, &options).unwrap(), report);
    assert_eq!(other.locals(), pose.locals());
}

#[test]
fn a_root_that_is_put_somewhere_stays_there() {
    // Neither its own slide nor input joints outside their limits move it away.
    let mut skeleton = (*figure()).clone();
    let [hips, fore, hand] = ids(&skeleton, ["hips", "fore.l", "hand.l"]);
    skeleton.set_joint(hips, Joint::FREE.with_slide([Some(Dof::range(-0.5, 0.5)), None, None])).unwrap();
    skeleton.set_joint(fore, Joint::hinge(Vec3::Y, Dof::range(-2.0, 0.0))).unwrap();
    let skeleton = Arc::new(skeleton);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let put = Vec3::new(0.1, 0.8, -0.1);
    options.root = RootMode::At(put);
    let mut pose = Pose::rest(&skeleton);
    pose.set_rotation(fore, Quat::from_rotation_y(0.7));
    pose.update();
    for goal in [Vec3::new(0.9, 1.0, 0.3), Vec3::new(0.2, 1.2, 0.4), Vec3::new(5.0, 0.0, 0.0)] {
        full_body.solve(&mut workspace, &mut pose, &[Goal::position(goal)], &options).unwrap();
        assert!(pose.position(hips).distance(put) < 1e-6, "{}", pose.position(hips));
        // A second solve gives the same bits.
        let before = pose.clone();
        let report = full_body.solve(&mut workspace, &mut pose, &[Goal::position(goal)], &options).unwrap();
        if report.iterations == 0 {
            assert_eq!(before.locals(), pose.locals());
        }
    }
}

#[test]
fn a_solve_that_is_cut_short_leaves_no_more_missing() {
    // The posture comes first and leads away from the goals.
    let skeleton = figure();
    let [hips, hand, head] = ids(&skeleton, ["hips", "hand.l", "head"]);
    let full_body = FullBody::new(&skeleton, hips, &[Effector::new(hand), Effector::new(head)]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    let mut start = Pose::rest(&skeleton);
    let goals = [Vec3::new(-0.1, 1.3, 0.5), Vec3::new(0.1, 1.6, 0.3)].map(Goal::position);
    full_body.solve(&mut workspace, &mut start, &goals, &options).unwrap();
    let missed = |pose: &Pose, goals: &[Goal; 2]| {
        let off = |j, goal: &Goal| pose.position(j).distance_squared(goal.position.unwrap());
        off(hand, &goals[0]) + off(head, &goals[1])
    };
    options.posture = 1.0;
    for iterations in 1..8 {
        options.iterative.max_iterations = Some(iterations);
        let goals = goals.map(|g| Goal::position(g.position.unwrap() + Vec3::new(0.0, 0.002, 0.0)));
        let mut pose = start.clone();
        full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        assert!(missed(&pose, &goals) <= missed(&start, &goals) + 1e-9, "{iterations}");
    }
}

#[test]
fn stiff_joints_leave_the_motion_to_others() {
    let hinge = |stiffness: f64| Joint::hinge(Vec3::Z, Dof::range(-2.0, 2.0).with_stiffness(stiffness));
    let turned = |stiffness: f64| {
        let mut b = Skeleton::builder();
        b.add("a", None, JointTransform::IDENTITY);
        b.add("b", Some(0), at(1.0, 0.0, 0.0));
        b.add("c", Some(1), at(1.0, 0.0, 0.0));
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[0], hinge(stiffness)).unwrap();
        skeleton.set_joint(ids[1], hinge(0.0)).unwrap();
        let skeleton = Arc::new(skeleton);
        // A turn of the last bone alone, which either hinge can make.
        let full_body = FullBody::new(&skeleton, ids[0], &[Effector::new(ids[1])]).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let mut pose = Pose::rest(&skeleton);
        let goal = Goal::NONE.with_rotation(Quat::from_rotation_z(0.6));
        assert!(full_body.solve(&mut workspace, &mut pose, &[goal], &options).unwrap().reached());
        math::angle_between(pose.local(ids[0]).rotation, Quat::IDENTITY)
    };
    // The minimal sum of squares, with turns of the stiff joint divided by 1 - s, gives it (1 - s)^2 of 1 + (1 - s)^2.
    for s in [0.0, 0.5, 0.8] {
        let share = (1.0 - s) * (1.0 - s);
        let expected = 0.6 * share / (1.0 + share);
        assert!((f64::from(turned(s)) - expected).abs() < 0.01, "{} is not {expected}", turned(s));
    }
    assert_eq!(turned(1.0), 0.0);
}

#[test]
fn a_tree_knows_its_size_before_it_has_solved() {
    let mut b = Skeleton::builder();
    let turned = Quat::from_xyzw(0.6, 0.0, 0.8, 0.0);
    let above = JointTransform { scale: Vec3::splat(2.0), rotation: turned, ..at(1.0, 2.0, 3.0) };
    let world = b.add("world", None, above);
    let root = b.add("root", Some(world), at(5.0, 0.0, 0.0));
    let middle = b.add("middle", Some(root), JointTransform { scale: Vec3::splat(0.5), ..at(0.0, 0.3, 0.4) });
    b.add("tip", Some(middle), JointTransform { scale: Vec3::new(3.0, -3.0, 3.0), ..at(0.0, 0.0, 0.7) });
    b.add("other", Some(root), at(0.0, 9.0, 0.0));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    // Twice the bone of 0.5, once the bone of 0.7, and three times an offset of 0.1.
    for (offset, size) in [(Vec3::ZERO, 1.7), (Vec3::Y * 0.1, 2.0)] {
        let full_body =
            FullBody::new(&skeleton, ids[1], &[Effector::new(ids[3]).with_offset(offset)]).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let mut pose = Pose::rest(&skeleton);
        let near = |pose: &Pose| (full_body.size(pose) - size).abs() < 1e-6;
        assert!(near(&pose), "{} is not {size}", full_body.size(&pose));
        let mut tolerance = |share| {
            pose = Pose::rest(&skeleton);
            let options = options.with_position_tolerance(Tolerance::Share(share));
            let report = full_body.solve(&mut workspace, &mut pose, &[Goal::position(Vec3::ZERO)], &options);
            report.unwrap().position_tolerance
        };
        // (Both have the same allowance for rounding.)
        let [coarse, fine] = [3e-4, 1e-4].map(&mut tolerance);
        assert!((coarse - fine - 2e-4 * size).abs() < 1e-9, "{coarse} {fine}");
        assert!(near(&pose), "{} is not {size}", full_body.size(&pose));
    }
    // A figure without size counts in metres.
    assert_eq!(
        FullBody::new(&skeleton, ids[1], &[Effector::new(ids[1])]).unwrap().size(&Pose::rest(&skeleton)),
        1.0
    );
}

/// A full body refuses non-finite numbers that it reads: above its root, towards the tips, and in joints that have mass.
#[test]
fn what_a_tree_reads_is_finite() {
    let mut b = Skeleton::builder();
    let world = b.add("world", None, at(0.0, 0.1, 0.0));
    let above = b.add("above", Some(world), at(0.0, 0.1, 0.0));
    let hips = b.add("hips", Some(above), at(0.0, 1.0, 0.0));
    let chest = b.add("chest", Some(hips), at(0.0, 0.4, 0.0));
    let hand = b.add("hand", Some(chest), at(0.4, 0.0, 0.1));
    let finger = b.add("finger", Some(hand), at(0.1, 0.0, 0.0));
    let nail = b.add("nail", Some(finger), at(0.1, 0.0, 0.0));
    let head = b.add("head", Some(chest), at(0.0, 0.3, 0.0));
    let beside = b.add("beside", Some(above), at(0.3, 0.0, 0.0));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let all = [world, above, hips, chest, hand, finger, nail, head, beside];
    for (balanced, weighed) in [(false, false), (true, false), (true, true)] {
        let tip = Effector::new(ids[hand]).with_priority(1);
        let full_body = FullBody::new(&skeleton, ids[hips], &[tip]).unwrap();
        let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
        let masses = if weighed { vec![1.0; skeleton.len()] } else { Vec::new() };
        if balanced {
            options.balance = Some(Balance::over(&[Vec3::ZERO]).with_masses(&masses));
        }
        let mut drag = Drag::new(&Pose::rest(&skeleton), ids[hips], tip, &[]).unwrap();
        for joint in all {
            for bad in [f32::NAN, f32::INFINITY] {
                let rest = *skeleton.rest(ids[joint]);
                let places = JointTransform { translation: Vec3::new(bad, 0.0, 0.0), ..rest };
                let turns = JointTransform { rotation: Quat::from_xyzw(0.0, bad, 0.0, 1.0), ..rest };
                for local in [places, turns] {
                    let mut pose = Pose::rest(&skeleton);
                    pose.set_local(ids[joint], local);
                    let goal = Goal::position(Vec3::new(0.3, 1.5, 0.2));
                    let (before, name) = (pose.clone(), skeleton.name(ids[joint]));
                    let refused = [
                        full_body.solve(&mut workspace, &mut pose, &[goal], &options),
                        drag.to(&mut workspace, &mut pose, &goal, &options.with_root(RootMode::Free)),
                    ];
                    let reads = if balanced { joint != beside } else { joint <= hand };
                    for result in refused {
                        assert!(result.is_err() || !reads, "{name} with {bad}: {result:?}");
                    }
                    for (was, is) in before.locals().iter().zip(pose.locals()).filter(|_| reads) {
                        assert_eq!(format!("{was:?}"), format!("{is:?}"), "{name}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_drag_refuses_before_it_moves_anything() {
    let skeleton = figure();
    let [hips, left, right] = ids(&skeleton, ["hips", "hand.l", "hand.r"]);
    let rest = Pose::rest(&skeleton);
    let make = || Drag::new(&rest, hips, Effector::new(left), &[Pin::pose(right)]).unwrap();
    let goal = Goal::position(Vec3::new(0.4, 1.2, 0.5));
    for rate in [f32::NAN, -1.0, f32::NEG_INFINITY] {
        let (mut drag, mut pose) = (make(), rest.clone());
        drag.rate = rate;
        let refused = drag.to(&mut Workspace::new(), &mut pose, &goal, &Drag::OPTIONS);
        assert!(matches!(refused, Err(SolveError::OutOfRange { .. })), "{rate}: {refused:?}");
        assert_eq!(pose.locals(), rest.locals());
    }
    // The smallest positive rate holds the figure and is no error.
    for rate in [0.0, f32::MIN_POSITIVE, 1e-37] {
        let (mut drag, mut pose) = (make(), rest.clone());
        drag.rate = rate;
        let report = drag.to(&mut Workspace::new(), &mut pose, &goal, &Drag::OPTIONS).unwrap();
        assert_eq!(report.outcome, Outcome::Stalled);
        let moved =
            pose.locals().iter().zip(rest.locals()).map(|(a, b)| math::angle_between(a.rotation, b.rotation));
        assert!(moved.fold(0.0, f32::max) < 1e-6);
    }
}

/// Far from the origin, a goal that is met as well as f32 allows counts as met.
#[test]
fn what_is_met_far_away_reads_as_met() {
    let mut unmet = 0;
    for (n, far) in [10.0, 1e3, 1e4, 1e5].into_iter().cycle().take(400).enumerate() {
        let direction = Quat::from_euler(sinew::glam::EulerRot::XYZ, n as f32, 2.0 * n as f32, 0.5) * Vec3::X;
        let skeleton = figure();
        let [hips, left, right] = ids(&skeleton, ["hips", "hand.l", "hand.r"]);
        let full_body = FullBody::new(&skeleton, hips, &[left, right].map(Effector::new)).unwrap();
        let mut pose = Pose::rest(&skeleton);
        pose.set_translation(hips, direction * far);
        pose.update();
        let mut end = pose.clone();
        for (i, joint) in full_body.joints().enumerate() {
            let angle = 0.5 * ((n + i) as f32).sin();
            end.set_rotation(joint, math::axis_angle(Quat::from_rotation_y(i as f32) * Vec3::X, angle));
        }
        end.update();
        let goals = [left, right].map(|j| Goal::position(end.position(j)));
        let report =
            full_body.solve(&mut Workspace::new(), &mut pose, &goals, &IterativeOptions::new()).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{far}: {report:?}");
        unmet += usize::from(!report.reached());
        assert!(report.position_tolerance < 3e-4 + 1e-6 * far, "{report:?}");
    }
    assert_eq!(unmet, 0);
}

/// In a soft zone, a limb of a full body converges where a chain does.
#[test]
fn what_a_soft_zone_draws_in_has_converged() {
    let mut b = Skeleton::builder();
    let root = b.add("root", None, at(0.1, 1.0, 0.0));
    for side in [-1.0, 1.0] {
        let hip = b.add("hip", Some(root), at(0.1 * side, 0.0, 0.0));
        let knee = b.add("knee", Some(hip), at(0.0, -0.5, 0.1));
        b.add("foot", Some(knee), at(0.0, -0.5, -0.1));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], Joint::FIXED).unwrap();
    let skeleton = Arc::new(skeleton);
    let full_body = FullBody::new(&skeleton, ids[0], &[ids[3], ids[6]].map(Effector::new)).unwrap();
    let chain = Auto::new(&skeleton, ids[1], ids[3]).unwrap();
    let options = IterativeOptions::new().with_soft(0.1);
    let mut workspace = Workspace::new();
    for d in [0.5, 0.95, 1.0, 1.02, 1.1, 1.5] {
        let rest = Pose::rest(&skeleton);
        let goals = [ids[1], ids[4]].map(|hip| rest.position(hip) + Vec3::new(0.0, -0.8, 0.6) * d);
        let goals = goals.map(Goal::position);
        let mut pose = rest.clone();
        let wanted = chain.solve(&mut workspace, &mut pose, &goals[0], &options).unwrap();
        let mut pose = rest.clone();
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        assert_eq!(report.outcome, wanted.outcome, "{d}: {report:?}, {wanted:?}");
        assert_eq!(report.reached(), wanted.reached(), "{d}");
        assert!(report.out_of_reach == 0.0 || d > 1.1, "{d}: {report:?}");
        assert_eq!(report.outcome, Outcome::Converged);
        // With a bound on turns too.
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options.with_max_turn(0.1)).unwrap();
        assert_eq!(report.outcome, Outcome::Converged, "{d}: {report:?}");
    }
    // A goal out of reach without a soft zone does not converge.
    let goal = Goal::position(Vec3::new(0.0, -5.0, 0.0));
    let report = full_body.solve(
        &mut workspace,
        &mut Pose::rest(&skeleton),
        &[goal, Goal::NONE],
        &IterativeOptions::new(),
    );
    assert_eq!(report.unwrap().outcome, Outcome::Stalled);
}
