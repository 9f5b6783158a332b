//! Judges joints under cyclic coordinate descent by closed forms, and limits and reports by a judge in this file.

use crate::common;
use crate::held;
use crate::limit_judge as judge;

use std::sync::Arc;

use common::column;
use held::{Held, held};
use sinew::{
    Goal, JointId, JointTransform, Outcome, Pole, Pose, Skeleton, SolveError, Workspace,
    glam::{Quat, Vec3},
    joint::{Attribute, Dof, Joint},
    math,
    solve::{
        Auto, Ccd, ChainSolver, ChainSolverError, DampedLeastSquares, Fabrik, IterativeOptions, Tolerance,
    },
};

fn broken(pose: &Pose) -> f64 {
    let s = pose.skeleton();
    s.joints().flat_map(|j| judge::excess(s.joint(j), s.rest(j), pose.local(j))).fold(0.0, f64::max)
}

/// Three nested tubes of a metre. Each slides into its neighbour below by up to `travel`, in metres.
fn telescope(ease: f64, travel: f64) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("ground", None, JointTransform::IDENTITY);
    for name in ["bottom", "middle", "top"] {
        last = b.add(name, Some(last), JointTransform::from_translation(Vec3::Y));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let dof = |precedence| Dof::range(-travel, 0.0).with_ease(ease).with_precedence(precedence);
    for (i, &id) in ids.iter().enumerate() {
        let slide = if i == 0 { None } else { Some(dof(i as i32)) };
        skeleton.set_joint(id, Joint::FIXED.with_slide([None, slide, None])).unwrap();
    }
    (Arc::new(skeleton), ids)
}

/// Returns the slide of each tube in metres, bottom first, after the tip is moved down by `push` metres in `steps` steps.
fn pushed(ease: f64, push: f32, steps: usize) -> [f32; 3] {
    let (skeleton, ids) = telescope(ease, 0.8);
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap());
    solver.options = solver.options.with_position_tolerance(Tolerance::Share(1e-6)).with_max_iterations(400);
    let mut pose = Pose::rest(&skeleton);
    for i in 1..=steps {
        let goal = Vec3::Y * (3.0 - push * i as f32 / steps as f32);
        let report = solver.solve(&mut pose, &Goal::position(goal)).unwrap();
        assert!(report.position_residual < 1e-5, "{report:?}");
    }
    [1, 2, 3].map(|i| 1.0 - pose.local(ids[i]).translation.y)
}

#[test]
fn a_telescope_collapses_from_the_top() {
    // Closed form: the top tube slides first to its limit, then the middle one, then the bottom one.
    for push in [0.1f32, 0.5, 0.79, 0.81, 1.2, 1.7, 2.3] {
        for steps in [1, 40] {
            let got = pushed(0.0, push, steps);
            let top = push.min(0.8);
            let middle = (push - top).min(0.8);
            let expected = [push - top - middle, middle, top];
            for (g, e) in got.iter().zip(expected) {
                assert!((g - e).abs() < 1e-4, "{push} in {steps}: {got:?} {expected:?}");
            }
        }
    }
}

#[test]
fn with_ease_the_next_tube_starts_before_the_last_has_ended() {
    // The ease of 0.5 covers the last 0.2 m of the slide, so the top is free for 0.6 m.
    let early = pushed(0.5, 0.55, 55);
    assert!(early[2] > 0.549 && early[1].abs() < 1e-4, "{early:?}");
    let overlap = pushed(0.5, 0.72, 72);
    assert!(overlap[2] > 0.62 && overlap[2] < 0.715 && overlap[1] > 0.005, "{overlap:?}");
    // At the end all tubes are in, and each has only moved down.
    let (mut last, mut both) = ([0.0f32; 3], 0);
    for i in 1..=46 {
        let now = pushed(0.5, 0.05 * i as f32, i);
        for n in 0..3 {
            assert!(now[n] >= last[n] - 1e-4 && now[n] <= 0.8 + 1e-5, "{now:?} after {last:?}");
        }
        both += usize::from(now[2] - last[2] > 2e-3 && now[1] - last[1] > 2e-3);
        last = now;
    }
    assert!(both >= 2, "top and middle moved together {both} times");
    assert!(last[2] > 0.79 && last[1] > 0.75, "{last:?}");
}

#[test]
fn a_telescope_comes_out_again() {
    let (skeleton, ids) = telescope(0.3, 0.8);
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap());
    solver.options.max_iterations = Some(200);
    let mut pose = Pose::rest(&skeleton);
    for height in [0.62f32, 1.5, 2.2, 2.9] {
        let report = solver.solve(&mut pose, &Goal::position(Vec3::Y * height)).unwrap();
        assert!(report.reached(), "{height}: {report:?}");
        for id in &ids[1..] {
            assert!((0.2 - 1e-5..=1.0 + 1e-5).contains(&pose.local(*id).translation.y));
        }
    }
}

#[test]
fn a_hinge_of_two_bones_meets_the_cosine_rule() {
    let (skeleton, ids) = column(2, 1.0, |i| match i {
        0 => Joint::FREE,
        _ => Joint::hinge(Vec3::X, Dof::range(0.0, 2.6).with_preferred(0.5)),
    });
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[2]).unwrap());
    // The chain is straight, with the goal on its line. The elbow's preferred value decides the side.
    let near = Tolerance::Share(1e-6);
    solver.options =
        solver.options.with_position_tolerance(near).with_max_iterations(400).with_max_restarts(1);
    for d in [0.6f32, 1.0, 1.5, 1.9] {
        let mut pose = Pose::rest(&skeleton);
        let report = solver.solve(&mut pose, &Goal::position(Vec3::new(0.0, 0.6, 0.8) * d)).unwrap();
        assert!(report.reached(), "{report:?}");
        let [x, ..] = skeleton.limits(ids[1]).coordinates(pose.local(ids[1]).rotation);
        // d^2 = 2 + 2 cos(x).
        assert!((x.cos() - (0.5 * d * d - 1.0)).abs() < 1e-5 && x > 0.0, "{d}: {x}");
    }
}

/// A straight chain whose goal lies on its line stays on it, as in the textbook method; a fresh start bends it.
#[test]
fn a_straight_chain_leaves_its_line_by_a_fresh_start() {
    for bones in [2, 3, 10, 40] {
        for d in [0.05f32, 0.3, 0.7, 0.95] {
            let (skeleton, ids) = column(bones, 1.0 / bones as f32, |_| Joint::FREE);
            let mut solver = held(Ccd::new(&skeleton, ids[0], ids[bones]).unwrap());
            let mut pose = Pose::rest(&skeleton);
            let report = solver.solve(&mut pose, &Goal::position(Vec3::Y * d)).unwrap();
            assert_eq!((report.outcome, pose.locals()), (Outcome::Stalled, Pose::rest(&skeleton).locals()));
            solver.options = solver.options.with_max_restarts(1).with_max_iterations(400);
            let report = solver.solve(&mut pose, &Goal::position(Vec3::Y * d)).unwrap();
            assert!(report.reached(), "{bones} bones, {d}: {report:?}");
            let turns = ids.iter().map(|&id| math::angle_between(Quat::IDENTITY, pose.local(id).rotation));
            let turn = turns.fold(0.0, f32::max);
            assert_eq!(report.branch_changed, turn > 8.0 * (1.0 - d) + 1e-3, "{bones} bones, {d}: {turn}");
        }
    }
}

#[test]
fn preferred_values_tell_where_a_straight_chain_goes() {
    for side in [1.0, -1.0] {
        let (skeleton, ids) =
            column(3, 1.0, |_| Joint::hinge(Vec3::X, Dof::range(-1.5, 1.5).with_preferred(0.2 * side)));
        // A sweep may cross over to the other side; steps may not.
        let mut solver = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap());
        solver.options = solver.options.with_max_restarts(1).with_max_iterations(200);
        let mut pose = Pose::rest(&skeleton);
        let report = solver.solve(&mut pose, &Goal::position(Vec3::Y * 2.0)).unwrap();
        assert!(report.reached(), "{report:?}");
        let mut auto = held(Auto::new(&skeleton, ids[0], ids[3]).unwrap());
        let mut pose = Pose::rest(&skeleton);
        let report = auto.solve(&mut pose, &Goal::position(Vec3::Y * 2.0)).unwrap();
        assert!(report.reached(), "{report:?}");
        let [x, ..] = skeleton.limits(ids[1]).coordinates(pose.local(ids[1]).rotation);
        assert!(x * side as f32 > 0.1, "{x}");
    }
}

#[test]
fn a_rotation_asked_for_is_met_with_the_place() {
    let (skeleton, ids) = column(6, 0.2, |_| Joint::cone(Vec3::Y, 1.2, 0.8));
    let chain = sinew::Chain::new(&skeleton, ids[0], ids[5]).unwrap();
    let chain = chain.with_tip_offset(&skeleton, Vec3::Y * 0.2).unwrap();
    let mut solver = held(Ccd::from_chain(&skeleton, chain).unwrap());
    solver.options.max_iterations = Some(400);
    let mut other = Pose::rest(&skeleton);
    for (i, &id) in ids[..6].iter().enumerate() {
        let axis = Vec3::new((i as f32).cos(), 0.0, (i as f32).sin());
        other.set_rotation(id, math::axis_angle(axis, 0.3 + 0.1 * i as f32));
    }
    other.update();
    let goal = Goal::position(other.position(ids[6])).with_rotation(other.model_rotation(ids[5]));
    let mut pose = Pose::rest(&skeleton);
    let report = solver.solve(&mut pose, &goal).unwrap();
    assert!(report.reached(), "{report:?}");
    assert!(report.position_residual < 2e-4 && report.rotation_residual < 1.1e-3, "{report:?}");
    assert!(broken(&pose) < 1e-5);
}

#[test]
fn a_mirrored_and_scaled_figure_takes_rotations_too() {
    for scale in [Vec3::splat(0.01), Vec3::splat(-2.0), Vec3::new(-1.0, 1.0, 1.0)] {
        let mut b = Skeleton::builder();
        let mut last =
            b.add("body", None, JointTransform { scale, ..JointTransform::from_translation(Vec3::X) });
        for i in 0..5 {
            let inner = if i == 2 { Vec3::new(1.0, -1.0, 1.0) } else { Vec3::ONE };
            last = b.add(
                format!("{i}"),
                Some(last),
                JointTransform {
                    scale: inner,
                    ..JointTransform::from_translation(Vec3::new(0.0, 0.3, 0.05))
                },
            );
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        let mut solver = held(Ccd::new(&skeleton, ids[1], ids[5]).unwrap());
        solver.options.max_iterations = Some(400);
        let mut other = Pose::rest(&skeleton);
        for (i, &id) in ids[1..].iter().enumerate() {
            other.set_rotation(id, math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.2 + 0.1 * i as f32));
        }
        other.update();
        let mut pose = Pose::rest(&skeleton);
        let goal = Goal::position(other.position(ids[5])).with_rotation(other.model_rotation(ids[5]));
        let report = solver.solve(&mut pose, &goal).unwrap();
        assert!(report.reached(), "{scale}: {report:?}");
        assert!(report.rotation_residual < 2e-3, "{report:?}");
    }
}

#[test]
fn the_root_stays_where_it_is_put_and_the_base_where_it_points() {
    let (skeleton, ids) = column(5, 0.3, |_| Joint::FREE);
    let mut solver = held(Ccd::new(&skeleton, ids[1], ids[5]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    pose.set_translation(ids[0], Vec3::new(0.2, 0.1, 0.0));
    pose.set_rotation(ids[0], math::axis_angle(Vec3::X, 0.8f32.atan2(0.6)));
    let report = solver.solve(&mut pose, &Goal::position(Vec3::new(0.9, 0.5, 0.3))).unwrap();
    assert!(report.reached(), "{report:?}");
    assert!(pose.position(ids[0]).distance(Vec3::new(0.2, 0.1, 0.0)) < 1e-6);
    let first = (pose.position(ids[1]) - pose.position(ids[0])) / 0.3;
    assert!(first.distance(Vec3::new(0.0, 0.6, 0.8)) < 1e-5, "{first}");
}

#[test]
fn the_middle_faces_the_pole_and_the_end_stays() {
    let (skeleton, ids) = column(6, 0.25, |_| Joint::FREE);
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[6]).unwrap());
    solver.options = solver.options.with_max_restarts(1).with_max_iterations(200);
    for pole in [Vec3::X, Vec3::NEG_Z, Vec3::new(-0.5, 0.1, 0.8)] {
        let mut pose = Pose::rest(&skeleton);
        let goal = Goal::position(Vec3::Y * 0.9).with_pole(Pole::Direction(pole));
        let report = solver.solve(&mut pose, &goal).unwrap();
        assert!(report.position_residual < 2e-4, "{report:?}");
        let middle = ids[1..].iter().map(|&j| pose.position(j)).sum::<Vec3>() / 6.0;
        let across = |v: Vec3| (v - Vec3::Y * v.y).normalize();
        assert!(across(middle).distance(across(pole)) < 1e-2, "{middle} {pole}");
    }
}

#[test]
fn the_soft_zone_holds_back_and_stretch_makes_up() {
    let (skeleton, ids) = column(4, 0.25, |_| Joint::FREE);
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[4]).unwrap());
    solver.options = solver.options.with_soft(0.1).with_max_iterations(1000);
    let mut pose = Pose::rest(&skeleton);
    pose.set_rotation(ids[1], math::axis_angle(Vec3::X, 0.4));
    pose.update();
    let start = pose.clone();
    solver.solve(&mut pose, &Goal::position(Vec3::X)).unwrap();
    let reached = pose.position(ids[4]).length();
    assert!((reached - sinew::solve::soften(1.0, 1.0, 0.1)).abs() < 3e-4, "{reached}");
    solver.stretch = 1.2;
    // CCD converges slowly to a goal out of reach; FABRIK's first sweep is straight.
    let mut straight = held(Fabrik::new(&skeleton, ids[0], ids[4]).unwrap());
    (straight.options, straight.stretch) = (solver.options, solver.stretch);
    for (far, expected) in [(1.0, 1.0), (1.15, 1.15), (2.0, 1.2)] {
        pose.copy_from(&start);
        let goal = Goal::position(Vec3::X * far);
        let report =
            if far < 2.0 { solver.solve(&mut pose, &goal) } else { straight.solve(&mut pose, &goal) };
        let reached = pose.position(ids[4]).length();
        assert!((reached - expected).abs() < 2e-3, "{far}: {reached}");
        // A goal that stretched bones reach is not out of reach.
        let by = report.unwrap().out_of_reach;
        assert!((by - (far - 1.2f32).max(0.0)).abs() < 1e-5, "{far}: {by}");
    }
}

#[test]
fn a_small_largest_step_turns_no_joint_further_in_a_sweep() {
    let (skeleton, ids) = column(5, 0.2, |_| Joint::FREE);
    let mut solver = held(Ccd::new(&skeleton, ids[0], ids[5]).unwrap());
    solver.max_step = 0.05;
    solver.options.max_iterations = Some(1);
    let mut pose = Pose::rest(&skeleton);
    let report = solver.solve(&mut pose, &Goal::position(Vec3::new(0.5, 0.2, 0.1))).unwrap();
    assert_eq!(report.outcome, Outcome::OutOfIterations);
    for &id in &ids[..5] {
        let turned = math::angle_between(Quat::IDENTITY, pose.local(id).rotation);
        assert!(turned < 0.0501, "{turned}");
    }
}

#[test]
fn what_it_cannot_honour_is_refused_by_name() {
    let (skeleton, ids) = column(3, 1.0, |_| Joint::hinge(Vec3::X, Dof::FREE.with_spring(0.0, 1.0)));
    match Ccd::new(&skeleton, ids[0], ids[3]) {
        Err(ChainSolverError::Joint(u)) => {
            assert_eq!((u.joint.as_str(), u.attribute, u.solver), ("0", Attribute::Spring, "ccd"));
        }
        other => panic!("{other:?}"),
    }
    assert!(matches!(Ccd::new(&skeleton, ids[3], ids[3]), Err(ChainSolverError::Single { .. })));
    assert!(matches!(Ccd::new(&skeleton, ids[3], ids[0]), Err(ChainSolverError::Chain(_))));
}

#[test]
fn settings_out_of_range_are_refused_and_nothing_moves() {
    let (skeleton, ids) = column(3, 1.0, |_| Joint::FREE);
    let pose = Pose::rest(&skeleton);
    let goal = Goal::position(Vec3::X);
    let refuse = |set: &dyn Fn(&mut Held<Ccd>)| {
        let mut solver = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap());
        set(&mut solver);
        let mut p = pose.clone();
        let error = solver.solve(&mut p, &goal).unwrap_err();
        assert_eq!(p.locals(), pose.locals());
        assert!(matches!(error, SolveError::NotFinite { .. } | SolveError::OutOfRange { .. }), "{error}");
    };
    refuse(&|s| s.damping = 1.0);
    refuse(&|s| s.options.position_tolerance = Tolerance::Share(0.0));
    refuse(&|s| s.options.position_tolerance = Tolerance::Share(f32::NAN));
    refuse(&|s| s.max_step = -1.0);
    refuse(&|s| s.options.soft = 2.0);
    refuse(&|s| s.stretch = 0.5);
    refuse(&|s| s.options.influence = f32::NAN);
}

/// A pole has the influence of the position, also beside a rotation: at an influence near 0 joints hardly turn.
#[test]
fn a_pole_beside_a_rotation_has_the_influence_of_the_position() {
    let (skeleton, ids) = column(6, 1.0 / 6.0, |_| Joint::cone(Vec3::Y, 2.5, 3.0));
    let (root, tip) = (ids[0], ids[6]);
    let solvers: [Box<dyn ChainSolver>; 4] = [
        Box::new(Auto::new(&skeleton, root, tip).unwrap()),
        Box::new(Ccd::new(&skeleton, root, tip).unwrap()),
        Box::new(Fabrik::new(&skeleton, root, tip).unwrap()),
        Box::new(DampedLeastSquares::new(&skeleton, root, tip).unwrap()),
    ];
    let mut start = Pose::rest(&skeleton);
    ids[..6].iter().for_each(|&id| start.set_rotation(id, math::axis_angle(Vec3::X, 0.25)));
    start.update();
    let turned = math::mul(start.model_rotation(tip), math::axis_angle(Vec3::Z, 0.5));
    let goal = Goal::position(start.position(tip) + Vec3::new(0.1, -0.1, 0.05))
        .with_rotation(turned)
        .with_pole(Pole::Direction(Vec3::X));
    let options = IterativeOptions::new().with_max_iterations(300);
    for (which, solver) in solvers.iter().enumerate() {
        let at = |position: f32, rotation: f32| {
            let goal = goal.with_position_influence(position).with_rotation_influence(rotation);
            let mut pose = start.clone();
            solver.solve(&mut Workspace::new(), &mut pose, &goal, &options).unwrap();
            pose
        };
        for (a, b) in [([0.0, 0.0], [0.0, 1e-4]), ([0.0, 0.5], [1e-4, 0.5]), ([0.0, 1.0], [1e-4, 1.0])] {
            let (from, to) = (at(a[0], a[1]), at(b[0], b[1]));
            let turn = |&id: &JointId| math::angle_between(from.local(id).rotation, to.local(id).rotation);
            let turn = ids.iter().map(turn).fold(0.0, f32::max);
            assert!(turn < 1e-2, "{which}: from {a:?} to {b:?} a joint turns by {turn}");
        }
    }
}
