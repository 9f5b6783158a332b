//! Judges `Ccd` and `Fabrik` sweep by sweep by the methods as taught, written here in f64 on points.

use crate::common;
use crate::held;

use std::{f64::consts::PI, ops::ControlFlow, sync::Arc};

use common::{column, noise};
use held::held;
use sinew::{
    Chain, Goal, JointId, Outcome, Pole, Pose, Skeleton,
    glam::{DQuat, DVec2, DVec3, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Ccd, DampedLeastSquares, Fabrik, IterativeOptions, Tolerance, TraceChange, TracePass},
};

const SWEEPS: u32 = 20;

/// Largest distance between our points and the textbook's, as a share of the chain's length.
const AGREES: f64 = 1e-5;

fn points(pose: &Pose, ids: &[JointId]) -> Vec<DVec3> {
    ids.iter().map(|&j| pose.position(j).as_dvec3()).collect()
}

/// Rotates each joint about an axis, by at most this angle.
fn bend(pose: &mut Pose, ids: &[JointId], most: f32, mut axis: impl FnMut() -> Vec3, seed: u64) {
    let mut r = noise(seed);
    for &id in ids {
        pose.set_rotation(id, math::axis_angle(axis(), most * r()));
    }
    pose.update();
}

/// Cyclic coordinate descent (Wang & Chen 1991): from the last joint before the end to the root, each joint rotates its
/// descendants by the shortest arc that brings the end onto the line from the joint to the goal.
fn ccd_free(p: &mut [DVec3], goal: DVec3) {
    let last = p.len() - 1;
    for i in (0..last).rev() {
        let turn = DQuat::from_rotation_arc((p[last] - p[i]).normalize(), (goal - p[i]).normalize());
        for j in i + 1..=last {
            p[j] = p[i] + turn * (p[j] - p[i]);
        }
    }
}

/// As above, in the plane. Angles are those between neighbouring bones, and each is clamped to its range.
fn ccd_planar(angles: &mut [f64], lengths: &[f64], range: Option<f64>, goal: DVec2) {
    for i in (0..angles.len()).rev() {
        let p = planar(angles, lengths);
        let (e, g) = (p[lengths.len()] - p[i], goal - p[i]);
        angles[i] += e.perp_dot(g).atan2(e.dot(g));
        if let Some(range) = range {
            angles[i] = angles[i].clamp(-range, range);
        }
    }
}

fn planar(angles: &[f64], lengths: &[f64]) -> Vec<DVec2> {
    let (mut at, mut angle) = (DVec2::ZERO, 0.5 * PI);
    let mut points = vec![at];
    for (turn, length) in angles.iter().zip(lengths) {
        angle += turn;
        at += DVec2::from_angle(angle) * *length;
        points.push(at);
    }
    points
}

/// Forward and backward reaching (Aristidou & Lasenby 2011). A goal out of reach has the chain straight towards it.
fn fabrik(p: &mut [DVec3], lengths: &[f64], goal: DVec3) {
    let (root, last) = (p[0], p.len() - 1);
    if root.distance(goal) > lengths.iter().sum() {
        for i in 0..last {
            p[i + 1] = p[i] + (goal - p[i]).normalize() * lengths[i];
        }
        return;
    }
    p[last] = goal;
    for i in (0..last).rev() {
        p[i] = p[i + 1] + (p[i] - p[i + 1]).normalize() * lengths[i];
    }
    p[0] = root;
    for i in 0..last {
        p[i + 1] = p[i] + (p[i + 1] - p[i]).normalize() * lengths[i];
    }
}

fn furthest(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// Returns bones that are together a metre long, of 0.5 to 1.5 times the mean, and their lengths.
fn chain(bones: usize, seed: u64, joint: impl Fn(usize) -> Joint) -> (Arc<Skeleton>, Vec<JointId>, Vec<f64>) {
    let mut r = noise(seed);
    let mut lengths: Vec<f32> = (0..bones).map(|_| 1.0 + 0.5 * r()).collect();
    let sum: f32 = lengths.iter().sum();
    lengths.iter_mut().for_each(|l| *l /= sum);
    let offsets: Vec<Vec3> = [0.0].iter().chain(&lengths).map(|&l| Vec3::Y * l).collect();
    let (skeleton, ids) = common::row(sinew::JointTransform::IDENTITY, &offsets, |i| {
        if i < bones { joint(i) } else { Joint::FREE }
    });
    (skeleton, ids, lengths.iter().map(|&l| f64::from(l)).collect())
}

fn direction(r: &mut impl FnMut() -> f32) -> Vec3 {
    Vec3::new(r(), r(), r()).try_normalize().unwrap_or(Vec3::Y)
}

/// Case of a chain in space: a start with joints within a radian, a goal in or out of reach.
struct Case {
    skeleton: Arc<Skeleton>,
    ids: Vec<JointId>,
    lengths: Vec<f64>,
    start: Pose,
    goal: Vec3,
}

fn free_cases() -> impl Iterator<Item = Case> {
    (0..60u64).map(|seed| {
        let bones = [2, 3, 5, 10][seed as usize % 4];
        let (skeleton, ids, lengths) = chain(bones, seed, |_| Joint::FREE);
        let mut r = noise(100 + seed);
        let mut start = Pose::rest(&skeleton);
        let mut axes = noise(200 + seed);
        bend(&mut start, &ids[..bones], 1.0, || direction(&mut axes), seed);
        let goal = direction(&mut r) * [0.3, 0.6, 0.9, 1.3][(seed / 4) as usize % 4];
        Case { skeleton, ids, lengths, start, goal }
    })
}

/// Returns cases in the plane of X and Y, of parallel hinges, and their start angles.
fn planar_cases(range: Option<f64>) -> impl Iterator<Item = (Case, Vec<f64>)> {
    (0..60u64).map(move |seed| {
        let bones = [2, 3, 5, 10][seed as usize % 4];
        let dof = range.map_or(Dof::FREE, |range| Dof::range(-range, range));
        let (skeleton, ids, lengths) = chain(bones, seed, |_| Joint::hinge(Vec3::Z, dof));
        let mut r = noise(100 + seed);
        let angles: Vec<f32> = (0..bones).map(|_| 0.7 * r()).collect();
        let mut start = Pose::rest(&skeleton);
        for (&id, &angle) in ids.iter().zip(&angles) {
            start.set_rotation(id, math::axis_angle(Vec3::Z, angle));
        }
        start.update();
        let way = Vec3::new(r(), r(), 0.0).try_normalize().unwrap_or(Vec3::X);
        let goal = way * [0.3, 0.6, 0.9, 1.3][(seed / 4) as usize % 4];
        (Case { skeleton, ids, lengths, start, goal }, angles.into_iter().map(f64::from).collect())
    })
}

#[test]
fn ccd_on_free_joints_is_the_one_that_is_taught() {
    for case in free_cases() {
        let Case { skeleton, ids, start, goal, .. } = case;
        let mut solver = held(Ccd::new(&skeleton, ids[0], ids[ids.len() - 1]).unwrap());
        solver.options.position_tolerance = Tolerance::Share(1e-7);
        let mut wanted = points(&start, &ids);
        for sweeps in 1..=SWEEPS {
            ccd_free(&mut wanted, goal.as_dvec3());
            solver.options.max_iterations = Some(sweeps);
            let mut pose = start.clone();
            let report = solver.solve(&mut pose, &Goal::position(goal)).unwrap();
            let off = furthest(&points(&pose, &ids), &wanted);
            assert!(off < AGREES, "{} bones to {goal}, {sweeps} sweeps: {off:e}, {report:?}", ids.len() - 1);
            assert!(report.iterations <= sweeps && report.restarts == 0, "{report:?}");
        }
    }
}

#[test]
fn ccd_in_the_plane_is_the_one_that_is_taught() {
    for range in [None, Some(0.8)] {
        for (case, mut angles) in planar_cases(range) {
            let Case { skeleton, ids, lengths, start, goal } = case;
            let mut solver = held(Ccd::new(&skeleton, ids[0], ids[ids.len() - 1]).unwrap());
            solver.options.position_tolerance = Tolerance::Share(1e-7);
            let at = goal.truncate().as_dvec2();
            let miss = |p: &[DVec2]| p[p.len() - 1].distance(at);
            let mut best = planar(&angles, &lengths);
            for sweeps in 1..=SWEEPS {
                ccd_planar(&mut angles, &lengths, range, at);
                let now = planar(&angles, &lengths);
                // A range may move the end away from the goal, so the best of all sweeps is kept.
                if miss(&now) < miss(&best) {
                    best = now;
                }
                solver.options.max_iterations = Some(sweeps);
                let mut pose = start.clone();
                let report = solver.solve(&mut pose, &Goal::position(goal)).unwrap();
                let wanted: Vec<DVec3> = best.iter().map(|p| p.extend(0.0)).collect();
                let off = furthest(&points(&pose, &ids), &wanted);
                assert!(
                    off < AGREES,
                    "{range:?}, {} bones to {goal}, {sweeps}: {off:e}, {report:?}",
                    ids.len() - 1
                );
            }
        }
    }
}

#[test]
fn fabrik_on_free_joints_and_in_the_plane_is_the_one_that_is_taught() {
    for case in free_cases().chain(planar_cases(None).map(|c| c.0)) {
        let Case { skeleton, ids, lengths, start, goal } = case;
        let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[ids.len() - 1]).unwrap());
        solver.options.position_tolerance = Tolerance::Share(1e-7);
        let mut wanted = points(&start, &ids);
        for sweeps in 1..=SWEEPS {
            fabrik(&mut wanted, &lengths, goal.as_dvec3());
            solver.options.max_iterations = Some(sweeps);
            let mut pose = start.clone();
            let report = solver.solve(&mut pose, &Goal::position(goal)).unwrap();
            let off = furthest(&points(&pose, &ids), &wanted);
            assert!(off < AGREES, "{} bones to {goal}, {sweeps} sweeps: {off:e}, {report:?}", ids.len() - 1);
        }
    }
}

/// On the same chains with limits, from the same poses to the same goals, the three methods end in different poses.
#[test]
fn the_three_methods_end_in_different_poses() {
    let mut r = noise(7);
    let mut apart = 0;
    for seed in 0..200 {
        // (Three hinges have only one answer nearby.)
        let bones = [5, 7, 10][seed % 3];
        let (skeleton, ids) = column(bones, 1.0 / bones as f32, |i| {
            Joint::hinge([Vec3::X, Vec3::Z][i % 2], Dof::range(-1.2, 1.2))
        });
        let tip = ids[bones];
        let mut posed = |most: f32| {
            let mut pose = Pose::rest(&skeleton);
            for (i, &id) in ids[..bones].iter().enumerate() {
                pose.set_rotation(id, math::axis_angle([Vec3::X, Vec3::Z][i % 2], most * r()));
            }
            pose.update();
            pose
        };
        let (start, goal) = (posed(0.6), Goal::position(posed(1.2).position(tip)));
        let mut ends = [start.clone(), start.clone(), start];
        held(Ccd::new(&skeleton, ids[0], tip).unwrap()).solve(&mut ends[0], &goal).unwrap();
        held(Fabrik::new(&skeleton, ids[0], tip).unwrap()).solve(&mut ends[1], &goal).unwrap();
        held(DampedLeastSquares::new(&skeleton, ids[0], tip).unwrap()).solve(&mut ends[2], &goal).unwrap();
        let turn = |a: &Pose, b: &Pose| {
            ids.iter()
                .map(|&j| math::angle_between(a.local(j).rotation, b.local(j).rotation))
                .fold(0.0, f32::max)
        };
        let pairs = [(0, 1), (0, 2), (1, 2)];
        apart += usize::from(pairs.iter().all(|&(a, b)| turn(&ends[a], &ends[b]) > 1e-3));
    }
    assert!(apart >= 190, "{apart} of 200");
}

/// The number of sweeps or steps stays within the maximum for every goal.
#[test]
fn iterations_are_sweeps_or_steps_and_no_more_than_asked() {
    let (skeleton, ids) = column(6, 1.0 / 6.0, |i| {
        if i % 2 == 0 { Joint::cone(Vec3::Y, 0.9, 0.6) } else { Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0)) }
    });
    let (root, tip) = (ids[0], ids[6]);
    let mut r = noise(11);
    for case in 0..200u32 {
        let mut goal = Goal::position(direction(&mut r) * (0.6 + 0.5 * r()));
        if case % 2 == 0 {
            goal = goal.with_rotation(math::axis_angle(direction(&mut r), r()));
        }
        if case % 3 == 0 {
            goal = goal.with_pole(Pole::Direction(direction(&mut r)));
        }
        let most = [0, 1, 5, 20][case as usize % 4];
        let options = IterativeOptions::new()
            .with_max_iterations(most)
            .with_max_restarts([0, 3][case as usize / 4 % 2])
            .with_max_turn(if case % 5 == 0 { 0.2 } else { f32::INFINITY });
        let mut ccd = held(Ccd::new(&skeleton, root, tip).unwrap());
        let mut reaching = held(Fabrik::new(&skeleton, root, tip).unwrap());
        let mut squares = held(DampedLeastSquares::new(&skeleton, root, tip).unwrap());
        (ccd.options, reaching.options, squares.options) = (options, options, options);
        let start = Pose::rest(&skeleton);
        for report in [
            ccd.solve(&mut start.clone(), &goal),
            reaching.solve(&mut start.clone(), &goal),
            squares.solve(&mut start.clone(), &goal),
        ] {
            let report = report.unwrap();
            assert!(report.iterations <= most, "{options:?}, {goal:?}: {report:?}");
        }
    }
}

/// A trace reports each turn, moved point and step in order, and its steps can be applied to a pose.
#[test]
fn traces_tell_each_step_in_its_order() {
    let (skeleton, ids) = column(4, 0.25, |_| Joint::FREE);
    let (root, tip) = (ids[0], ids[4]);
    let goal = Goal::position(Vec3::new(0.5, 0.4, 0.1));
    let mut start = Pose::rest(&skeleton);
    bend(&mut start, &ids[..4], 0.5, || Vec3::X, 3);

    let mut ccd = held(Ccd::new(&skeleton, root, tip).unwrap());
    ccd.options.max_iterations = Some(3);
    let (mut pose, mut seen, mut shown) = (start.clone(), Vec::new(), start.clone());
    let report = ccd
        .solve_traced(&mut pose, &goal, &mut |step| {
            let TraceChange::Joint { joint } = step.change else { panic!("{step:?}") };
            seen.push((step.iteration, joint));
            step.write_to(&mut shown);
            ControlFlow::Continue(())
        })
        .unwrap();
    // The tip is left out, since nothing turns it.
    let sweeps = (0..3).flat_map(|sweep| ids[..4].iter().rev().map(move |&joint| (sweep, joint)));
    assert_eq!((report.iterations, &seen), (3, &sweeps.collect()));
    assert_eq!(shown.locals(), pose.locals());
    let mut untold = start.clone();
    assert_eq!(ccd.solve(&mut untold, &goal).unwrap(), report);
    assert_eq!(untold.locals(), pose.locals());

    let mut reaching = held(Fabrik::new(&skeleton, root, tip).unwrap());
    reaching.options.max_iterations = Some(1);
    let (mut pose, mut moved) = (start.clone(), Vec::new());
    reaching
        .solve_traced(&mut pose, &goal, &mut |step| {
            let TraceChange::Point { pass, point, position } = step.change else { panic!("{step:?}") };
            moved.push((pass, point, position));
            ControlFlow::Continue(())
        })
        .unwrap();
    let order: Vec<_> = moved.iter().map(|(pass, point, _)| (*pass, *point)).collect();
    let backward = (0..=4).rev().map(|point| (TracePass::Backward, point));
    assert_eq!(order, backward.chain((0..=4).map(|point| (TracePass::Forward, point))).collect::<Vec<_>>());
    assert!(moved[0].2.distance(Vec3::new(0.5, 0.4, 0.1)) < 1e-6);
    for (_, point, position) in &moved[5..] {
        assert!(pose.position(ids[*point]).distance(*position) < 1e-6, "{point}");
    }

    let mut squares = held(DampedLeastSquares::new(&skeleton, root, tip).unwrap());
    let (mut pose, mut steps) = (start.clone(), 0);
    let report = squares
        .solve_traced(&mut pose, &goal, &mut |step| {
            assert!(matches!(step.change, TraceChange::Step { .. }) && step.iteration == steps, "{step:?}");
            steps += 1;
            ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!((steps, report.outcome), (report.iterations, Outcome::Converged), "{report:?}");

    // The observer may stop the solve, which keeps the nearest pose so far.
    let mut first = start.clone();
    let report = ccd.solve_traced(&mut first, &goal, &mut |_| ControlFlow::Break(())).unwrap();
    assert_eq!(report.iterations, 1);
    assert!(
        first.position(tip).distance(Vec3::new(0.5, 0.4, 0.1))
            <= start.position(tip).distance(Vec3::new(0.5, 0.4, 0.1))
    );
    let turned = ids.iter().filter(|&&j| first.local(j).rotation != start.local(j).rotation).count();
    assert_eq!(turned, 1);
}

/// Points of a trace are in model space, also below a parent with unequal scales.
#[test]
fn traced_points_lie_in_model_space() {
    for scale in [Vec3::splat(0.5), Vec3::new(1.0, 2.0, 1.0), Vec3::new(-2.0, 2.0, 2.0)] {
        let above = sinew::JointTransform {
            scale,
            ..sinew::JointTransform::from_translation(Vec3::new(0.3, 1.0, -2.0))
        };
        let offsets = [Vec3::ZERO, Vec3::Y * 0.3, Vec3::Y * 0.3, Vec3::Y * 0.3];
        let (skeleton, ids) = common::row(above, &offsets, |_| Joint::FREE);
        let chain = Chain::new(&skeleton, ids[0], ids[3]).unwrap();
        let chain = chain.with_tip_offset(&skeleton, Vec3::Y * 0.2).unwrap();
        let mut pose = Pose::rest(&skeleton);
        bend(&mut pose, &ids, 0.5, || Vec3::X, 5);
        let end = |pose: &Pose| chain.end(pose);
        let goal = pose.position(ids[0]) + (end(&pose) - pose.position(ids[0])) * 0.7 + Vec3::X * 0.1;
        let mut solver = held(Fabrik::from_chain(&skeleton, chain.clone()).unwrap());
        solver.options.max_iterations = Some(1);
        let mut last = Vec::new();
        solver
            .solve_traced(&mut pose, &Goal::position(goal), &mut |step| {
                if let TraceChange::Point { pass: TracePass::Forward, point, position } = step.change {
                    assert_eq!(point, last.len());
                    last.push(position);
                } else if last.is_empty() {
                    let TraceChange::Point { point, position, .. } = step.change else { panic!("{step:?}") };
                    assert!(point < 4 || position.distance(goal) < 1e-5, "{position} is not {goal}");
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        let there: Vec<Vec3> = ids.iter().map(|&j| pose.position(j)).chain([end(&pose)]).collect();
        assert_eq!(there.len(), last.len());
        for (a, b) in there.iter().zip(&last) {
            assert!(a.distance(*b) < 1e-5, "{scale}: {a} is not {b}");
        }
    }
}

/// A goal that steps see as a direction is judged at its position: an input outside its limits is clamped only if the
/// residual does not grow.
#[test]
fn steps_towards_a_goal_far_off_leave_no_more_missing() {
    for case in 0..4000u64 {
        let mut r = noise(300 + case);
        let bones = [1, 2, 4][case as usize % 3];
        let (skeleton, ids) = column(bones, 1.0 / bones as f32, |i| match i % 2 {
            0 => Joint::cone(Vec3::Y, 0.6, 0.3),
            _ => Joint::hinge(Vec3::X, Dof::range(-0.8, 0.8)),
        });
        let mut pose = Pose::rest(&skeleton);
        bend(&mut pose, &ids, 0.8, || direction(&mut r), case);
        let (root, tip) = (ids[0], ids[bones]);
        let far = direction(&mut r) * [5.0, 20.0, 100.0][case as usize / 3 % 3];
        let turn = math::axis_angle(direction(&mut r), 2.0 * r());
        // A radian counts as half the chain's length.
        let missing = |pose: &Pose| {
            let off = pose.position(tip).as_dvec3().distance(far.as_dvec3());
            off.hypot(0.5 * f64::from(math::angle_between(pose.model_rotation(tip), turn)))
        };
        let mut goal = Goal::position(far).with_rotation(turn);
        if case % 4 == 0 {
            goal = goal.with_pole(Pole::Direction(direction(&mut r)));
        }
        let mut squares = held(DampedLeastSquares::new(&skeleton, root, tip).unwrap());
        squares.stretch = if case % 5 == 0 { 1.5 } else { 1.0 };
        squares.options.max_iterations = Some([0, 1, 32][case as usize / 9 % 3]);
        let before = missing(&pose);
        squares.solve(&mut pose, &goal).unwrap();
        // (f32 resolves positions at that distance no better.)
        let more = missing(&pose) - before;
        assert!(more <= 1e-6 + 1e-7 * f64::from(far.length()), "case {case}, {goal:?}: {more:e}");
    }
}

/// The methods are independent of the unit: scaling by a power of two, which is exact in f32, gives the same bits.
#[test]
fn chains_of_any_size_turn_alike() {
    let kinds = [
        Joint::hinge(Vec3::X, Dof::range(-1.5, 1.5)),
        Joint::cone(Vec3::Y, 0.9, 0.6),
        Joint::FREE,
        Joint::hinge(Vec3::Z, Dof::FREE),
    ];
    let turns = |size: f32, case: u64| {
        let (skeleton, ids) = column(4, 0.25 * size, |i| kinds[(i + case as usize) % 4]);
        let mut start = Pose::rest(&skeleton);
        for (i, &id) in ids.iter().enumerate() {
            start.set_rotation(id, math::axis_angle([Vec3::X, Vec3::Z][i % 2], 0.3));
            start.set_rotation(id, skeleton.clamp_rotation(id, start.local(id).rotation));
        }
        start.update();
        let (root, tip) = (ids[0], ids[4]);
        let mut r = noise(500 + case);
        let mut goal = Goal::position(direction(&mut r) * (0.7 * size));
        if case % 2 == 1 {
            goal = goal.with_rotation(math::axis_angle(direction(&mut r), r()));
        }
        let mut poses = [start.clone(), start.clone(), start];
        let reports = [
            held(Ccd::new(&skeleton, root, tip).unwrap()).solve(&mut poses[0], &goal).unwrap(),
            held(Fabrik::new(&skeleton, root, tip).unwrap()).solve(&mut poses[1], &goal).unwrap(),
            held(DampedLeastSquares::new(&skeleton, root, tip).unwrap()).solve(&mut poses[2], &goal).unwrap(),
        ];
        let rotations: Vec<_> =
            poses.iter().map(|p| ids.iter().map(|&j| p.local(j).rotation).collect::<Vec<_>>()).collect();
        (rotations, reports.map(|r| r.iterations))
    };
    for case in 0..40 {
        let (wanted, sweeps) = turns(1.0, case);
        // 9e-13 to 1e12 m.
        for size in [2f32.powi(-40), 2f32.powi(-20), 2f32.powi(20), 2f32.powi(40)] {
            let (got, made) = turns(size, case);
            for (k, name) in ["ccd", "fabrik", "dls"].iter().enumerate() {
                assert!(
                    got[k] == wanted[k] && made[k] == sweeps[k],
                    "case {case}, {name}, {size:e} m: {} sweeps for {}",
                    made[k],
                    sweeps[k]
                );
            }
        }
    }
}
