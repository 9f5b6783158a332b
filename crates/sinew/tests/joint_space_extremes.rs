//! Judges joint space at edge cases: arms of any size, bones without length, very long chains, infinite or huge limits,
//! values near the end of the number range.

use crate::arms;

use arms::{Arm, Random, Step, apart};
use sinew::{
    Workspace,
    glam::{DQuat, DVec3},
    joint::{Dof, Joint},
    mechanism::{
        JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkGoalError, LinkTarget, Mechanism,
        Mimic, Objective, ObjectiveKind, PathFollower, PathOptions, ValuesError,
    },
};

/// An arm of seven revolute joints and a slider, `s` times the size of a real one.
fn arm(s: f64) -> Arm {
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    Arm::new(
        vec![
            Step([0.0, 0.0, 0.2 * s], z, true, 0.0, 0.3 * s),
            Step([0.0, 0.0, 0.1 * s], z, false, -2.8, 2.8),
            Step([0.0; 3], y, false, -1.7, 1.7),
            Step([0.0, 0.0, 0.32 * s], z, false, -2.8, 2.8),
            Step([0.08 * s, 0.0, 0.0], y, false, 0.1, 3.0),
            Step([-0.08 * s, 0.0, 0.38 * s], z, false, -2.8, 2.8),
            Step([0.0; 3], y, false, -0.1, 3.7),
            Step([0.09 * s, 0.0, 0.0], x, false, -2.8, 2.8),
        ],
        [0.0, 0.0, -0.1 * s],
    )
}

#[test]
fn arms_of_any_size_are_solved_alike() {
    let mut workspace = Workspace::new();
    let mut counts = Vec::new();
    for s in [1e-4, 1e-2, 1.0, 1e2, 1e4] {
        let arm = arm(s);
        let tolerance = 1e-6 * s;
        let options = JointSpaceOptions::new().with_position_tolerance(tolerance);
        let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY));
        let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
        let mut random = Random(31);
        let mut steps = 0;
        for i in 0..100 {
            let pose = arm.tip(&arm.draw(&mut random));
            let mut values = arm.draw(&mut random);
            let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
            let report = solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
            assert!(report.reached(), "{s} {i}");
            let (metres, radians) = apart(arm.tip(&values), pose);
            assert!(metres <= 1.001 * tolerance && radians <= 1.001e-6 && arm.within(&values), "{s} {i}");
            steps += report.iterations;
        }
        counts.push(steps);
    }
    // Size changes the number of iterations only where rounding reorders two starting points.
    let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
    assert!(f64::from(*most) < 1.3 * f64::from(*least), "{counts:?}");
}

#[test]
fn bones_without_length_are_a_wrist() {
    let mut workspace = Workspace::new();
    let (x, z) = ([1.0, 0.0, 0.0], [0.0, 0.0, 1.0]);
    let arm = Arm::new(
        vec![
            Step([0.0; 3], z, false, -3.0, 3.0),
            Step([0.0; 3], x, false, -2.0, 2.0),
            Step([0.0; 3], z, false, -3.0, 3.0),
        ],
        [0.0; 3],
    );
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY));
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    let mut random = Random(2);
    for _ in 0..100 {
        let pose = arm.tip(&arm.draw(&mut random));
        let mut values = arm.draw(&mut random);
        let goal = goal.with_target(LinkTarget::Pose(DVec3::ZERO, pose.1));
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        assert!(apart(arm.tip(&values), pose).1 < 2e-6 && arm.within(&values));
    }
    // A goal away from that point is out of reach, by its distance.
    let away = goal.with_target(LinkTarget::Position(DVec3::X * 0.2));
    let report =
        solver.solve(&mut workspace, &[away], &mut [0.1, 0.2, 0.3], &JointSpaceOptions::new()).unwrap();
    assert!(!report.reached() && (report.out_of_reach - 0.2).abs() < 1e-6, "{report:?}");
}

#[test]
fn a_thousand_joints_are_solved() {
    let mut workspace = Workspace::new();
    let axis = |i: usize| if i.is_multiple_of(2) { [1.0, 0.0, 0.0] } else { [0.0, 1.0, 0.0] };
    let step = |i: usize| Step([0.0, 0.0, 1e-3], axis(i), false, -0.05, 0.05);
    let arm = Arm::new((0..1000).map(step).collect(), [0.0, 0.0, 1e-3]);
    let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY));
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
    let mut random = Random(9);
    for _ in 0..5 {
        let pose = arm.tip(&arm.draw(&mut random));
        let mut values = arm.draw(&mut random);
        let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        let (metres, radians) = apart(arm.tip(&values), pose);
        assert!(metres < 1.1e-6 && radians < 1.1e-6 && arm.within(&values), "{metres} {radians}");
    }
}

#[test]
fn sliders_whose_limits_mean_none_do_not_outweigh_the_arm() {
    let mut workspace = Workspace::new();
    // As in real files: the limits of an endless rail are some large number, or none.
    for end in [3.0, 1e4, 1e30, f64::INFINITY] {
        let (y, z) = ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
        let arm = Arm::new(
            vec![
                Step([0.0; 3], [1.0, 0.0, 0.0], true, -end, end),
                Step([0.0, 0.0, 0.3], z, false, -2.8, 2.8),
                Step([0.0; 3], y, false, -1.7, 1.7),
                Step([0.0, 0.0, 0.4], y, false, -2.5, 2.5),
                Step([0.0, 0.0, 0.4], z, false, -2.8, 2.8),
                Step([0.0; 3], y, false, -1.7, 1.7),
                Step([0.0; 3], z, false, -2.8, 2.8),
            ],
            [0.0, 0.0, 0.1],
        );
        let goal = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY));
        let solver = JointSpaceSolver::new(&arm.mechanism, &[goal]).unwrap();
        let mut random = Random(5);
        for i in 0..100 {
            let mut draw = || {
                let mut values = arm.draw(&mut random);
                values[0] = 4.0 * random.next() - 2.0;
                values
            };
            let pose = arm.tip(&draw());
            let mut values = draw();
            let goal = goal.with_target(LinkTarget::Pose(pose.0, pose.1));
            let report =
                solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
            assert!(report.reached(), "{end} {i} {report:?}");
            let (metres, radians) = apart(arm.tip(&values), pose);
            assert!(metres < 1.1e-6 && radians < 1.1e-6, "{end} {i}");
        }
    }
}

#[test]
fn numbers_that_have_no_squares_are_refused() {
    let mut workspace = Workspace::new();
    let arm = arm(1.0);
    let goal = |p| LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Position(p));
    let solver = JointSpaceSolver::new(&arm.mechanism, &[goal(DVec3::ZERO)]).unwrap();
    let mut values = arm.mechanism.rest();
    for far in [1e60, 1e160, 1e308] {
        let error = solver
            .solve(
                &mut workspace,
                &[goal(DVec3::new(0.0, -far, 0.0))],
                &mut values,
                &JointSpaceOptions::new(),
            )
            .unwrap_err();
        assert!(
            matches!(error, sinew::mechanism::JointSpaceError::Goal(LinkGoalError::TooFar { .. })),
            "{error}"
        );
    }
    // A far goal whose square is finite is out of reach, and every number is finite.
    for far in [1e3, 1e20, 1e45] {
        let report = solver
            .solve(
                &mut workspace,
                &[goal(DVec3::new(0.0, -far, 0.0))],
                &mut values,
                &JointSpaceOptions::new(),
            )
            .unwrap();
        assert!(!report.reached() && report.out_of_reach > 0.0, "{far} {report:?}");
        assert!(report.out_of_reach.is_finite(), "{far} {report:?}");
        assert!(report.position_residual.is_finite() && arm.within(&values));
        assert!((report.position_residual / far - 1.0).abs() < 1e-2);
    }
    values[1] = 1e200;
    let error = solver
        .solve(&mut workspace, &[goal(DVec3::ONE)], &mut values, &JointSpaceOptions::new())
        .unwrap_err();
    assert!(error.to_string() == "the value of joint `j1` is too large: 1".to_string() + &"0".repeat(200));
    assert!(matches!(arm.mechanism.check(&[f64::NAN; 8]), Err(ValuesError::NotFinite { .. })));
    let follower = PathFollower::new(&arm.mechanism, &[goal(DVec3::ZERO)], 1.0).unwrap();
    assert!(
        follower.step(&mut workspace, &[goal(DVec3::ONE)], &mut values, 0.01, &PathOptions::new()).is_err()
    );
    // Numbers of the mechanism itself.
    let make = |joint: JointSpec| {
        let mut b = Mechanism::builder("far");
        ["a", "b", "c"].into_iter().for_each(|l| b.link(l));
        b.joint(JointSpec::new("first", "a", "b", Joint::slider(DVec3::X, Dof::range(-1.0, 1.0))));
        b.joint(joint);
        b.build().unwrap_err().to_string()
    };
    let second = || JointSpec::new("second", "b", "c", Joint::slider(DVec3::X, Dof::range(-1.0, 1.0)));
    let far = make(JointSpec { translation: DVec3::new(0.0, 1e60, 0.0), ..second() });
    assert!(far.starts_with("joint `second`: its origin is too large: [0, 1000000"), "{far}");
    let mimic = Some(Mimic { dof: "first".into(), multiplier: -1e70, offset: 0.0 });
    let far = make(JointSpec { mimic, ..second() });
    assert!(far.starts_with("joint `second`: its mimic's multiplier is too large: -1000000"), "{far}");
}

/// A solve accepts the output of another, and a pose accepts its values: with lengths, weights and goals of any size, angles
/// without limits stay within the accepted range.
#[test]
fn what_a_solve_leaves_is_taken_by_the_next() {
    let mut workspace = Workspace::new();
    let mut random = Random(61);
    let mut power = |from: f64, to: f64| 10f64.powf(from + (to - from) * random.next());
    for n in 0..3000 {
        let mut b = Mechanism::builder("arm");
        b.link("0");
        for k in 0..4 {
            b.link(format!("{}", k + 1));
            let axis = DVec3::new(power(-1.0, 1.0), power(-1.0, 1.0) - 1.0, power(-1.0, 1.0) - 1.0);
            let (axis, swing) = (axis.normalize(), [(-1.0, 1.0); 2]);
            let free = (f64::NEG_INFINITY, f64::INFINITY);
            let motion = match (n + k) % 4 {
                3 => Joint::FREE,
                0 => Joint::hinge(axis, Dof::FREE),
                1 => Joint::ball(axis, DVec3::new(0.3, -1.0, 0.2), swing, free),
                _ => Joint::hinge(axis, Dof::range(-1.0, 1.5)),
            };
            let joint = JointSpec::new(format!("j{k}"), format!("{k}"), format!("{}", k + 1), motion);
            let long = power(-5.0, 3.0);
            b.joint(JointSpec { translation: DVec3::new(long, 0.1 * long, 0.0), ..joint });
        }
        let m = b.build().unwrap();
        let links: Vec<_> = m.links().collect();
        let mut at = || DVec3::new(power(-3.0, 20.0), -power(-3.0, 20.0), power(-3.0, 20.0));
        let mut look = LinkGoal::new(&m, links[4], LinkTarget::LookAt(DVec3::Z, at()));
        let place = LinkGoal::new(&m, links[2 + n % 2], LinkTarget::Position(at()));
        look.weights[3..].fill(power(-12.0, 12.0));
        let goals = [look, place];
        let objectives = [
            Objective::new(ObjectiveKind::OffLimits).with_weight(power(-9.0, 9.0)),
            Objective::new(ObjectiveKind::Manipulability(n % 2)).with_weight(power(-9.0, 9.0)),
        ];
        let solver = JointSpaceSolver::new(&m, &goals).unwrap().with_objectives(&objectives).unwrap();
        let solver = solver.with_radian_length(power(-12.0, 12.0)).unwrap();
        let options = JointSpaceOptions::new()
            .with_position_tolerance(power(-30.0, 6.0))
            .with_rotation_tolerance(power(-30.0, 2.0))
            .with_max_iterations(200)
            .with_max_restarts(4);
        let mut values = m.rest();
        for again in 0..3 {
            solver
                .solve(&mut workspace, &goals, &mut values, &options)
                .unwrap_or_else(|e| panic!("{n}, {again}: {e}"));
            m.check(&values).unwrap_or_else(|e| panic!("{n}, {again}: {e}"));
        }
    }
}
