//! Judges the joint-space solver by textbook forward kinematics.

use crate::arms;

use arms::{Arm, Random, apart};
use sinew::{
    Outcome, Workspace,
    glam::{DAffine3, DMat3, DQuat, DVec3},
    joint::{Dof, Joint},
    mechanism::{
        History, JointSpaceError, JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkGoalError,
        LinkTarget, Mechanism, ValuesError,
    },
};

fn solver(arm: &Arm, target: LinkTarget) -> (JointSpaceSolver, LinkGoal) {
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, target);
    (JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap(), goal)
}

const ANYWHERE: LinkTarget = LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY);

fn arms() -> [(&'static str, Arm); 4] {
    [("seven", Arm::seven()), ("six", Arm::six()), ("sliding", Arm::sliding()), ("snake", Arm::snake())]
}

#[test]
fn every_pose_that_can_be_reached_is_within_limits() {
    let mut workspace = Workspace::new();
    for (name, arm) in arms() {
        let (solver, goal) = solver(&arm, ANYWHERE);
        let mut random = Random(1);
        for i in 0..300 {
            let pose = arm.tip(&arm.draw(&mut random));
            let mut values = arm.draw(&mut random);
            let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
            let report =
                solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
            assert!(report.reached(), "{name} {i}");
            assert!(arm.within(&values), "{name} {i}: {values:?}");
            let (metres, radians) = apart(arm.tip(&values), pose);
            assert!(metres <= 1.001e-6 && radians <= 1.001e-6, "{name} {i}: {metres} {radians}");
            // The report matches the output.
            assert!((report.position_residual - metres).abs() < 1e-12, "{name} {i}");
            assert!((report.rotation_residual - radians).abs() < 1e-12, "{name} {i}");
        }
    }
}

#[test]
fn a_near_start_gets_a_near_answer_without_restarts() {
    let mut workspace = Workspace::new();
    for (name, arm) in arms() {
        let (solver, goal) = solver(&arm, ANYWHERE);
        let mut random = Random(2);
        let mut strayed = 0;
        for _ in 0..300 {
            let known = arm.draw(&mut random);
            let start: Vec<f64> = known.iter().map(|v| v + 0.04 * (random.next() - 0.5)).collect();
            let pose = arm.tip(&known);
            let mut values = start.clone();
            let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
            let report =
                solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
            assert!(report.reached(), "{name}");
            let far = |v: &[f64]| v.iter().zip(&start).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt();
            strayed += usize::from(report.restarts > 0 || far(&values) > 1.5 * far(&known));
        }
        assert!(strayed <= 1, "{name}: {strayed}");
    }
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let (first, goal) = solver(&arm, ANYWHERE);
    let mut random = Random(3);
    for i in 0..100 {
        let pose = arm.tip(&arm.draw(&mut random));
        let start = arm.draw(&mut random);
        let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
        // Each has a new solver and workspace, so that no state of earlier solves remains.
        let second = solver(&arm, ANYWHERE).0;
        let [mut a, mut b] = [start.clone(), start];
        let (r, s) = (
            first.solve(&mut workspace, &[goal], &mut a, &JointSpaceOptions::new()).unwrap(),
            second.solve(&mut Workspace::new(), &[goal], &mut b, &JointSpaceOptions::new()).unwrap(),
        );
        assert_eq!(r, s);
        assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "{i}");
    }
}

#[test]
fn threads_share_a_solver_and_give_the_bits_of_solving_alone() {
    let arm = Arm::seven();
    let (solver, goal) = solver(&arm, ANYWHERE);
    let options = JointSpaceOptions::new();
    let mut random = Random(30);
    // A goal and a start for each.
    let tasks: Vec<_> = (0..1000)
        .map(|_| {
            let pose = arm.tip(&arm.draw(&mut random));
            (goal.with_target(LinkTarget::Pose(pose.0, pose.1)), arm.draw(&mut random))
        })
        .collect();
    let solve = |workspace: &mut Workspace, (goal, start): &(LinkGoal, Vec<f64>)| {
        let mut values = start.clone();
        let report = solver.solve(workspace, &[*goal], &mut values, &options).unwrap();
        (report, values.iter().map(|v| v.to_bits()).collect::<Vec<_>>())
    };
    let alone: Vec<_> = tasks.iter().map(|task| solve(&mut Workspace::new(), task)).collect();
    let together: Vec<Vec<_>> = std::thread::scope(|scope| {
        let run = |thread: usize| {
            // Each thread solves all, in an order of its own.
            let mut workspace = Workspace::new();
            let mut answers: Vec<_> =
                (0..1000).map(|n| solve(&mut workspace, &tasks[(n + 125 * thread) % 1000])).collect();
            answers.rotate_right(125 * thread);
            answers
        };
        let threads: Vec<_> = (0..8).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(together.iter().all(|answers| *answers == alone));
}

#[test]
fn out_of_reach_is_said_and_the_arm_stretches_towards_it() {
    let mut workspace = Workspace::new();
    let arm = Arm::planar(3, 0.5, 2.0);
    let (solver, goal) = solver(&arm, LinkTarget::Position(DVec3::new(2.0, 0.0, 0.0)));
    for start in [[0.3, -0.2, 0.4], [2.0, 2.0, 2.0], [0.0; 3]] {
        let mut values = start.to_vec();
        let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        assert!(!report.reached() && (report.out_of_reach - 0.5).abs() < 1e-6, "{report:?}");
        // The nearest point is straight ahead. The cost is flat there, so that angles are less exact than the distance.
        assert!((report.position_residual - 0.5).abs() < 1e-6, "{report:?}");
        assert!(arm.within(&values));
    }
    // Above the arm's plane, though within its length: the nearest point is directly below.
    let goal = goal.with_target(LinkTarget::Position(DVec3::new(0.4, 0.3, 0.3)));
    let report =
        solver.solve(&mut workspace, &[goal], &mut [0.1, 0.2, 0.3], &JointSpaceOptions::new()).unwrap();
    assert_eq!((report.outcome, report.out_of_reach, report.reached()), (Outcome::Stalled, 0.0, false));
    assert!((report.position_residual - 0.3).abs() < 1e-6);
}

#[test]
fn the_objective_never_grows_however_few_iterations_there_are() {
    let mut workspace = Workspace::new();
    for (name, arm) in arms() {
        let mut random = Random(4);
        for iterations in [0, 1, 2, 3, 7, 30] {
            let options = JointSpaceOptions::new().with_max_iterations(iterations);
            let (solver, goal) = solver(&arm, ANYWHERE);
            let solver = solver.with_radian_length(0.3).unwrap();
            for _ in 0..20 {
                let pose = arm.tip(&arm.draw(&mut random));
                let start = arm.draw(&mut random);
                let mut values = start.clone();
                let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
                let report = solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
                let objective = |v: &[f64]| {
                    let (m, r) = apart(arm.tip(v), pose);
                    m * m + 0.09 * r * r
                };
                assert!(objective(&values) <= objective(&start) + 1e-12, "{name} {iterations}");
                assert!(arm.within(&values) && report.iterations <= iterations, "{name} {iterations}");
                if iterations == 0 {
                    assert_eq!(values, start);
                    assert_eq!(report.outcome, Outcome::OutOfIterations);
                }
            }
        }
    }
}

#[test]
fn values_outside_their_limits_come_back_inside_and_others_stay() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let mut random = Random(5);
    let pose = arm.tip(&arm.draw(&mut random));
    let (solver, goal) = solver(&arm, LinkTarget::Pose(pose.0, pose.1));
    let mut values = vec![9.0, -9.0, 100.0, 5.0, 0.0, -7.0, 3.0];
    assert!(solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached());
    assert!(arm.within(&values));
    // A goal for the third link changes nothing above it, not even values outside their limits.
    let link = arm.mechanism.find_link("l3").unwrap();
    let goal = LinkGoal::new(&arm.mechanism, link, LinkTarget::Rotation(DQuat::from_rotation_z(0.4)));
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    let mut values = vec![0.1, 0.2, 0.3, 5.0, 0.7, -9.0, 0.2];
    assert!(solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached());
    assert_eq!(values[3..], [5.0, 0.7, -9.0, 0.2]);
    assert_eq!(solver.dofs().collect::<Vec<_>>(), [0, 1, 2]);
}

#[test]
fn bad_goals_and_values_are_named_and_nothing_is_changed() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let (solver, goal) = solver(&arm, ANYWHERE);
    let start = arm.mechanism.rest();
    let mut refused = |goal: LinkGoal, values: &[f64]| {
        let mut v = values.to_vec();
        let error = solver.solve(&mut workspace, &[goal], &mut v, &JointSpaceOptions::new()).unwrap_err();
        assert!(v.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()));
        error
    };
    let nan = DVec3::new(0.0, f64::NAN, 0.0);
    let with = |target| goal.with_target(target);
    let is = |e: &JointSpaceError, text: &str| assert_eq!(e.to_string(), text);
    is(
        &refused(with(LinkTarget::Position(nan)), &start),
        "the position of the goal for link `tip` is not finite: [0, NaN, 0]",
    );
    let zero = DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    is(
        &refused(with(LinkTarget::Rotation(zero)), &start),
        "the rotation of the goal for link `tip` is not a unit quaternion: [0, 0, 0, 0]",
    );
    let nan_turn = DQuat::from_xyzw(0.0, f64::NAN, 0.0, 1.0);
    assert!(matches!(
        refused(with(LinkTarget::Pose(DVec3::ZERO, nan_turn)), &start),
        JointSpaceError::Goal(LinkGoalError::NotUnit { .. })
    ));
    is(
        &refused(with(LinkTarget::LookAt(DVec3::ZERO, DVec3::X)), &start),
        "the axis of the goal for link `tip` has no direction: [0, 0, 0]",
    );
    is(
        &refused(goal.with_weights([1.0, 1.0, -1.0, 1.0, 1.0, 1.0]), &start),
        "weight 2 of the goal for link `tip` must be finite and at least 0, not -1",
    );
    let scaled = DAffine3::from_scale(DVec3::splat(2.0));
    assert!(matches!(
        refused(goal.with_frame(scaled), &start),
        JointSpaceError::Goal(LinkGoalError::NotRigid { .. })
    ));
    assert_eq!(
        refused(goal, &start[1..]),
        JointSpaceError::Values(ValuesError::Count { given: 6, wanted: 7 })
    );
    let mut broken = start.clone();
    broken[2] = f64::NAN;
    is(&refused(goal, &broken), "the value of joint `j2` is not finite: NaN");
    let other = LinkGoal::new(&arm.mechanism, arm.mechanism.find_link("l2").unwrap(), ANYWHERE);
    assert_eq!(refused(other, &start), JointSpaceError::OtherLinks);
    // At construction.
    let make = |goals: &[LinkGoal]| JointSpaceSolver::new(&arm.mechanism, goals).unwrap_err();
    assert_eq!(make(&[]), JointSpaceError::NoGoal);
    let still = LinkGoal::new(&arm.mechanism, arm.mechanism.root(), ANYWHERE);
    is(&make(&[still]), "no joint moves link `l0` relative to link `l0`");
    let error = solver.clone().with_radian_length(-1.0).unwrap_err();
    is(&error, "the length of a radian must be finite and above 0, not -1");
    // In the options of a solve.
    let options = JointSpaceOptions::new().with_rotation_tolerance(-1.0);
    let error = solver.solve(&mut Workspace::new(), &[goal], &mut start.clone(), &options).unwrap_err();
    is(&error, "the rotation tolerance must be finite and above 0, not -1");
}

#[test]
fn directions_without_weight_are_free() {
    let mut workspace = Workspace::new();
    let arm = Arm::six();
    let mut random = Random(6);
    for _ in 0..50 {
        let pose = arm.tip(&arm.draw(&mut random));
        let mut values = arm.draw(&mut random);
        // All directions but the turn about the tip's z.
        let weights = [1.0, 1.0, 1.0, 1.0, 1.0, 0.0];
        let goal =
            LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(pose.0, pose.1)).with_weights(weights);
        let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        let tip = arm.tip(&values);
        assert!(tip.0.distance(pose.0) < 2e-6);
        assert!((tip.1 * DVec3::Z).distance(pose.1 * DVec3::Z) < 2e-6);
        // The height alone.
        let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Position(pose.0))
            .with_weights([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
        let mut values = arm.draw(&mut random);
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        assert!((arm.tip(&values).0.z - pose.0.z).abs() < 2e-6);
    }
}

#[test]
fn an_axis_looks_at_a_point() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let mut random = Random(7);
    for _ in 0..50 {
        // A point that the axis looks at in some pose within limits.
        let tip = arm.tip(&arm.draw(&mut random));
        let axis = DVec3::new(0.0, 0.6, -0.8);
        let point = tip.0 + tip.1 * axis * 0.7;
        let mut values = arm.draw(&mut random);
        let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::LookAt(axis * 3.0, point));
        let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
        let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        assert!(report.reached());
        let (at, turned) = arm.tip(&values);
        assert!((turned * axis).cross((point - at).normalize()).length() < 2e-6);
        assert!((turned * axis).dot(point - at) > 0.0 && arm.within(&values));
    }
}

/// A trunk that turns and bends, with two arms of three joints.
fn trunk() -> Mechanism {
    let mut b = Mechanism::builder("trunk");
    let mut joint = |name: &str, parent: &str, child: &str, axis: DVec3, at: DVec3| {
        b.link(child);
        let spec = JointSpec::new(name, parent, child, Joint::hinge(axis, Dof::range(-2.0, 2.0)));
        b.joint(JointSpec { translation: at, ..spec });
    };
    joint("yaw", "base", "waist", DVec3::Y, DVec3::Y);
    joint("bend", "waist", "chest", DVec3::X, DVec3::ZERO);
    for (side, s) in [("l", 1.0), ("r", -1.0)] {
        let name = |n: &str| format!("{n}_{side}");
        joint(&name("lift"), "chest", &name("a"), DVec3::Z, DVec3::new(0.2 * s, 0.4, 0.0));
        joint(&name("swing"), &name("a"), &name("b"), DVec3::Y, DVec3::ZERO);
        joint(&name("elbow"), &name("b"), &name("c"), DVec3::Y, DVec3::X * (0.3 * s));
        joint(&name("wrist"), &name("c"), &name("hand"), DVec3::X, DVec3::X * (0.3 * s));
    }
    b.link("base");
    b.build().unwrap()
}

#[test]
fn two_hands_share_a_trunk() {
    let mut workspace = Workspace::new();
    let m = trunk();
    let hands = ["hand_l", "hand_r"].map(|n| m.find_link(n).unwrap());
    let mut random = Random(8);
    let mut placement = sinew::mechanism::LinkFrames::new(&m);
    let goals = hands.map(|h| LinkGoal::new(&m, h, LinkTarget::Position(DVec3::ZERO)));
    let solver = JointSpaceSolver::new(&m, &goals).unwrap();
    for _ in 0..100 {
        let known: Vec<f64> = m.dofs().iter().map(|_| 3.0 * random.next() - 1.5).collect();
        m.forward_kinematics(&known, &mut placement).unwrap();
        let at = |p: &sinew::mechanism::LinkFrames, l| m.link_transform(p, l).translation;
        let wanted = hands.map(|h| at(&placement, h));
        let goals = [0, 1].map(|i| goals[i].with_target(LinkTarget::Position(wanted[i])));
        let mut values: Vec<f64> = m.dofs().iter().map(|_| 3.0 * random.next() - 1.5).collect();
        let report = solver.solve(&mut workspace, &goals, &mut values, &JointSpaceOptions::new()).unwrap();
        assert!(report.reached());
        m.forward_kinematics(&values, &mut placement).unwrap();
        for (hand, wanted) in hands.into_iter().zip(wanted) {
            assert!(at(&placement, hand).distance(wanted) <= 1.001e-6);
        }
        assert!(values.iter().all(|v| v.abs() <= 2.0));
    }
}

#[test]
fn a_goal_in_another_links_space_closes_a_loop() {
    let mut workspace = Workspace::new();
    // The left hand holds on to the right one: its goal is in the right hand's space.
    let m = trunk();
    let [l, r] = ["hand_l", "hand_r"].map(|n| m.find_link(n).unwrap());
    let mut placement = sinew::mechanism::LinkFrames::new(&m);
    let mut random = Random(9);
    let target = |p: DVec3| LinkTarget::Pose(p, DQuat::IDENTITY);
    let free = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0];
    let goal = LinkGoal::new(&m, l, target(DVec3::ZERO)).with_relative_to(r).with_weights(free);
    let solver = JointSpaceSolver::new(&m, &[goal]).unwrap();
    // The trunk moves both hands alike, so it is not part of the problem.
    assert!(solver.dofs().all(|d| !["yaw", "bend"].contains(&m.dofs()[d].name.as_str())));
    for _ in 0..50 {
        let known: Vec<f64> = m.dofs().iter().map(|_| 3.0 * random.next() - 1.5).collect();
        m.forward_kinematics(&known, &mut placement).unwrap();
        let seen = |p: &_| m.link_transform(p, r).inverse() * m.link_transform(p, l);
        let wanted = seen(&placement).translation;
        let mut values: Vec<f64> = m.dofs().iter().map(|_| 3.0 * random.next() - 1.5).collect();
        let before = values.clone();
        let report = solver
            .solve(
                &mut workspace,
                &[goal.with_target(target(wanted))],
                &mut values,
                &JointSpaceOptions::new(),
            )
            .unwrap();
        assert!(report.reached());
        m.forward_kinematics(&values, &mut placement).unwrap();
        assert!(seen(&placement).translation.distance(wanted) < 2e-6);
        assert_eq!(values[..2], before[..2]);
    }
}

#[test]
fn a_frame_of_the_link_is_what_is_placed() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let mut random = Random(10);
    let tool = DAffine3::from_mat3_translation(DMat3::from_rotation_x(0.7), DVec3::new(0.1, 0.0, 0.2));
    let (position, rotation) = arm.tip(&arm.draw(&mut random));
    let wanted = DAffine3::from_rotation_translation(rotation, position) * tool;
    let target = LinkTarget::Pose(wanted.translation, DQuat::from_mat3(&wanted.matrix3));
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, target).with_frame(tool);
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    let mut values = arm.mechanism.rest();
    assert!(solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached());
    let (metres, radians) = apart(arm.tip(&values), (position, rotation));
    assert!(metres < 5e-6 && radians < 2e-6, "{metres} {radians}");
}

#[test]
fn without_history_the_answer_is_the_goals_alone() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let mut random = Random(11);
    let options = JointSpaceOptions::new().with_history(History::None);
    let (solver, goal) = solver(&arm, ANYWHERE);
    for _ in 0..50 {
        let pose = arm.tip(&arm.draw(&mut random));
        let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
        let mut answers = [arm.draw(&mut random), arm.draw(&mut random)];
        answers.iter_mut().for_each(|v| assert!(solver.solve(&mut workspace, &[goal], v, &options).is_ok()));
        assert_eq!(answers[0], answers[1]);
    }
}

#[test]
fn angles_come_back_at_the_nearest_turn() {
    let mut workspace = Workspace::new();
    let z = [0.0, 0.0, 1.0];
    let step = |at| arms::Step([at, 0.0, 0.0], z, false, f64::NEG_INFINITY, f64::INFINITY);
    let arm = Arm::new(vec![step(0.0), step(0.4), step(0.3)], [0.1, 0.0, 0.0]);
    let mut random = Random(12);
    let weights = [1.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, ANYWHERE).with_weights(weights);
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    for _ in 0..100 {
        let mut draw = |w: f64| -> Vec<f64> { (0..3).map(|_| w * (random.next() - 0.5)).collect() };
        let pose = arm.tip(&draw(6.0));
        let start = draw(200.0);
        let mut values = start.clone();
        let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        for (v, s) in values.iter().zip(&start) {
            assert!((v - s).abs() <= core::f64::consts::PI + 1e-9, "{v} {s}");
        }
        let (metres, radians) = apart(arm.tip(&values), pose);
        assert!(metres < 2e-6 && radians < 2e-6);
    }
}

#[test]
fn all_configurations_are_found() {
    // A planar arm of two bones has the elbow on either side. With a range on one side, there is one answer.
    let arm = Arm::planar(2, 0.5, 3.0);
    let weights = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Position(DVec3::new(0.3, 0.5, 0.0)))
        .with_weights(weights);
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    let (mut workspace, mut found) = (Workspace::new(), Vec::new());
    solver.solve_all(&mut workspace, &[goal], &[0.0, 0.5], &mut found, &JointSpaceOptions::new()).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0][1] > 0.0 && (found[0][1] + found[1][1]).abs() < 1e-5);
    // Law of cosines.
    let cos = (0.34 - 0.5) / 0.5;
    assert!((found[0][1].cos() - cos).abs() < 1e-5);
    // A redundant arm has infinitely many answers.
    let arm = Arm::seven();
    let (solver, goal) = self::solver(&arm, ANYWHERE);
    let rest = arm.mechanism.rest();
    let error =
        solver.solve_all(&mut workspace, &[goal], &rest, &mut found, &JointSpaceOptions::new()).unwrap_err();
    assert_eq!(error, JointSpaceError::Redundant { dofs: 7, directions: 6 });
    assert!(found.is_empty());
}

#[test]
fn mimics_move_with_what_they_follow() {
    let mut workspace = Workspace::new();
    // A gripper with fingers that close on each other, on a wrist.
    let mut b = Mechanism::builder("gripper");
    for l in ["base", "palm", "left", "right"] {
        b.link(l);
    }
    b.joint(JointSpec::new("roll", "base", "palm", Joint::hinge(DVec3::Z, Dof::range(-3.0, 3.0))));
    b.joint(JointSpec::new("left", "palm", "left", Joint::slider(DVec3::X, Dof::range(0.0, 0.04))));
    let mimic = sinew::mechanism::Mimic { dof: "left".into(), multiplier: 1.0, offset: 0.0 };
    let right = JointSpec::new("right", "palm", "right", Joint::slider(DVec3::NEG_X, Dof::range(0.0, 0.05)));
    b.joint(JointSpec { mimic: Some(mimic), ..right });
    let m = b.build().unwrap();
    let right = m.find_link("right").unwrap();
    let wanted = DVec3::new(-0.03 * 0.5f64.cos(), -0.03 * 0.5f64.sin(), 0.0);
    let goal = LinkGoal::new(&m, right, LinkTarget::Position(wanted));
    let solver = JointSpaceSolver::new(&m, &[goal]).unwrap();
    let mut values = m.rest();
    assert!(solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached());
    assert!((values[0] - 0.5).abs() < 1e-4 && (values[1] - 0.03).abs() < 2e-6, "{values:?}");
}

#[test]
fn lower_priorities_get_what_is_left() {
    let mut workspace = Workspace::new();
    // Four bones in the plane: first the tip, then the second joint as near as possible to its goal.
    let arm = Arm::planar(4, 0.5, 2.5);
    let m = &arm.mechanism;
    let elbow = m.find_link("l2").unwrap();
    let flat = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let wanted = [DVec3::new(1.2, 0.3, 0.0), DVec3::new(-0.2, 0.9, 0.0)];
    let first = LinkGoal::new(m, arm.tip, LinkTarget::Position(wanted[0])).with_weights(flat);
    let second = LinkGoal::new(m, elbow, LinkTarget::Position(wanted[1])).with_weights(flat).with_priority(1);
    let solver = JointSpaceSolver::new(m, &[first, second]).unwrap();
    let mut values = vec![0.4, -0.3, 0.5, -0.2];
    let report =
        solver.solve(&mut workspace, &[first, second], &mut values, &JointSpaceOptions::new()).unwrap();
    assert!(report.reached());
    assert!(arm.tip(&values).0.distance(wanted[0]) < 2e-6);
    let at = |v: &[f64]| {
        // The end of the first bone, where the second joint is, by trigonometry.
        DVec3::new(0.5 * v[0].cos(), 0.5 * v[0].sin(), 0.0)
    };
    // The end of the first bone can be anywhere on its circle within the other three bones' reach of the tip.
    let mut best = f64::INFINITY;
    for i in 0..200_000 {
        let a = -2.5 + 5.0 * f64::from(i) / 200_000.0;
        let e = DVec3::new(0.5 * a.cos(), 0.5 * a.sin(), 0.0);
        if e.distance(wanted[0]) <= 1.5 {
            best = best.min(e.distance(wanted[1]));
        }
    }
    let got = at(&values).distance(wanted[1]);
    assert!(got < best + 1e-3, "{got} {best}");
}

#[test]
fn wishes_are_served_while_goals_hold() {
    let mut workspace = Workspace::new();
    use sinew::mechanism::{LinkFrames, Objective, ObjectiveKind};
    let arm = Arm::seven();
    let m = &arm.mechanism;
    let mut random = Random(20);
    let rest = m.rest();
    let spread = |v: &[f64]| -> f64 {
        m.dofs()
            .iter()
            .zip(v)
            .map(|(d, v)| {
                ((2.0 * v - d.dof.range.min - d.dof.range.max) / (d.dof.range.max - d.dof.range.min)).powi(2)
            })
            .sum()
    };
    let measure = |v: &[f64]| {
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(v, &mut placement).unwrap();
        m.manipulability(&placement, arm.tip, DVec3::ZERO, 0.3)
    };
    let posture = |v: &[f64]| -> f64 { v.iter().zip(&rest).map(|(a, b)| (a - b) * (a - b)).sum() };
    let (mut better, mut count) = ([0; 3], 0);
    for _ in 0..40 {
        let pose = arm.tip(&arm.draw(&mut random));
        let start = arm.draw(&mut random);
        let goal = LinkGoal::new(m, arm.tip, LinkTarget::Pose(pose.0, pose.1));
        let solver = JointSpaceSolver::new(m, &[goal]).unwrap().with_radian_length(0.3).unwrap();
        let mut solve = |objectives: &[Objective]| {
            let mut values = start.clone();
            let solver = solver.clone().with_objectives(objectives).unwrap();
            let report =
                solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
            assert!(report.reached());
            let (metres, radians) = apart(arm.tip(&values), pose);
            assert!(metres <= 1.001e-6 && radians <= 1.001e-6 && arm.within(&values));
            values
        };
        let plain = solve(&[]);
        let mut objective = |what| solve(&[Objective::new(what)]);
        let off = objective(ObjectiveKind::OffLimits);
        let free = objective(ObjectiveKind::Manipulability(0));
        let near = objective(ObjectiveKind::Posture(rest.clone()));
        // With a redundant joint each objective is never worse than without it, and mostly better.
        assert!(spread(&off) <= spread(&plain) + 1e-9);
        assert!(measure(&free) >= measure(&plain) - 1e-9);
        assert!(posture(&near) <= posture(&plain) + 1e-9);
        better[0] += usize::from(spread(&off) < spread(&plain) - 1e-3);
        better[1] += usize::from(measure(&free) > measure(&plain) * 1.01);
        better[2] += usize::from(posture(&near) < posture(&plain) - 1e-3);
        count += 1;
        // At the optimum the objective's gradient has no component in the null space: a step along it wins nothing.
        if spread(&off) < spread(&plain) - 1e-3 {
            let again = {
                let mut values = off.clone();
                let objectives = [Objective::new(ObjectiveKind::OffLimits)];
                solver
                    .clone()
                    .with_objectives(&objectives)
                    .unwrap()
                    .solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new())
                    .unwrap();
                values
            };
            assert!(spread(&again) >= spread(&off) - 1e-3, "{} {}", spread(&again), spread(&off));
        }
    }
    assert!(better.iter().all(|b| *b >= count * 8 / 10), "{better:?} of {count}");
}
