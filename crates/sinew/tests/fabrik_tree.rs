//! Judges FABRIK on trees: by the method as taught, written here in f64 on points; by `Fabrik`; by closed forms and a judge of
//! limits. The promises of random trees are in `promises/fabrik_tree.rs`.

use crate::common;
use crate::held;
use crate::limit_judge as judge;

use std::{ops::ControlFlow, sync::Arc};

use common::{Random, noise, row};
use held::held;
use sinew::{
    Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Effector, Fabrik, FabrikTree, FullBodyError, IterativeOptions, TraceChange, TracePass},
};

/// A tree of joints by their parents and offsets; the parents come first.
fn tree(joints: &[(usize, Vec3)], joint: impl Fn(usize) -> Joint) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    for (i, &(parent, offset)) in joints.iter().enumerate() {
        b.add(format!("{i}"), (i > 0).then_some(parent), JointTransform::from_translation(offset));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids.iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    (Arc::new(skeleton), ids)
}

fn bend(pose: &mut Pose, ids: &[JointId], most: f64, seed: u64) {
    let mut r = Random::of(seed);
    for &id in ids {
        let limits = *pose.skeleton().limits(id);
        pose.set_rotation(id, limits.clamp(math::mul(r.rotation(most), pose.local(id).rotation)));
    }
    pose.update();
}

fn solver(skeleton: &Skeleton, ids: &[JointId], tips: &[usize]) -> FabrikTree {
    let tips: Vec<_> = tips.iter().map(|&t| Effector::new(ids[t])).collect();
    FabrikTree::new(skeleton, ids[0], &tips).unwrap()
}

fn solve(tree: &FabrikTree, pose: &mut Pose, goals: &[Vec3], sweeps: u32) -> Report {
    let goals: Vec<_> = goals.iter().copied().map(Goal::position).collect();
    let options = IterativeOptions::new().with_max_iterations(sweeps);
    tree.solve(&mut Workspace::new(), pose, &goals, &options).unwrap()
}

/// A stem of two bones. At its end, three branches of two bones, the last of which forks again into two of two. Each branch
/// has a joint of its own at the fork, so that the points move as the paper's.
const FORKS: [(usize, f32); 19] = [
    (0, 0.0),
    (0, 0.5),
    (1, 0.4),
    // The first branch, 3 to 5.
    (2, 0.0),
    (3, 0.4),
    (4, 0.5),
    // The second branch, 6 to 8.
    (2, 0.0),
    (6, 0.3),
    (7, 0.6),
    // The third one, 9 to 11, and what forks there, 12 to 14 and 15 to 17.
    (2, 0.0),
    (9, 0.4),
    (10, 0.3),
    (11, 0.0),
    (12, 0.3),
    (13, 0.4),
    (11, 0.0),
    (15, 0.5),
    (16, 0.2),
    // An offset beside the tree.
    (2, 0.7),
];
const TIPS: [usize; 4] = [5, 8, 14, 17];
/// Chains of the tree from sub-base to sub-base or tip, as points that are apart, and the chains that leave from each end.
const STEM: [usize; 3] = [0, 1, 2];
const BRANCHES: [[usize; 3]; 3] = [[2, 4, 5], [2, 7, 8], [2, 10, 11]];
const TWIGS: [[usize; 3]; 2] = [[11, 13, 14], [11, 16, 17]];

/// Draws a chain inward: its last point stays, and the middle follows at the length of its bone. Gives the place that the
/// first point, now at `first`, gets. A bone has the index of the point at its end.
fn inward(p: &mut [DVec3], lengths: &[f64], [_, middle, last]: [usize; 3], first: DVec3) -> DVec3 {
    p[middle] = p[last] + (p[middle] - p[last]).normalize() * lengths[last];
    p[middle] + (first - p[middle]).normalize() * lengths[middle]
}

fn outward(p: &mut [DVec3], lengths: &[f64], chain: [usize; 3]) {
    for w in chain.windows(2) {
        p[w[1]] = p[w[0]] + (p[w[1]] - p[w[0]]).normalize() * lengths[w[1]];
    }
}

/// A sweep of forward and backward reaching on that tree (Aristidou & Lasenby 2011, section 5). Gives the points after the
/// backward pass, and what was asked for each of the two sub-bases.
fn sweep(p: &mut [DVec3], lengths: &[f64], goals: &[DVec3; 4]) -> (Vec<DVec3>, [Vec<DVec3>; 2]) {
    let root = p[0];
    for (tip, goal) in TIPS.into_iter().zip(goals) {
        p[tip] = *goal;
    }
    let mean = |all: &[DVec3]| all.iter().sum::<DVec3>() / all.len() as f64;
    let (fork, twig) = (p[2], p[11]);
    let twigs: Vec<_> = TWIGS.iter().map(|&chain| inward(p, lengths, chain, twig)).collect();
    p[11] = mean(&twigs);
    let branches: Vec<_> = BRANCHES.iter().map(|&chain| inward(p, lengths, chain, fork)).collect();
    p[2] = mean(&branches);
    p[0] = inward(p, lengths, STEM, root);
    let backward = p.to_vec();
    p[0] = root;
    for chain in [STEM].iter().chain(&BRANCHES).chain(&TWIGS) {
        outward(p, lengths, *chain);
    }
    (backward, [branches, twigs])
}

#[test]
fn each_sweep_is_the_one_that_is_taught() {
    let mut furthest = 0.0f64;
    for seed in 0..40 {
        let mut r = Random::of(500 + seed);
        let joints: Vec<_> =
            FORKS.iter().map(|&(p, length)| (p, (r.direction() * f64::from(length)).as_vec3())).collect();
        let (skeleton, ids) = tree(&joints, |_| Joint::FREE);
        let mut pose = Pose::rest(&skeleton);
        bend(&mut pose, &ids, 1.0, seed);
        let solver = solver(&skeleton, &ids, &TIPS);
        assert!(!solver.joints().contains(&ids[18]));
        let lengths: Vec<f64> = FORKS.iter().map(|&(_, length)| f64::from(length)).collect();
        let reach = |tip: usize| if tip < 10 { 1.5 } else { 2.0 };
        let goals = TIPS.map(|tip| r.direction() * reach(tip) * r.between(0.2, 0.9));
        let mut points: Vec<DVec3> = ids.iter().map(|&j| pose.position(j).as_dvec3()).collect();
        let ask = goals.map(|goal| Goal::position(goal.as_vec3()));
        let options = IterativeOptions::new().with_max_iterations(4);
        // Points after each pass, and what was asked for each sub-base.
        let mut sweeps: Vec<[[Vec<DVec3>; 2]; 2]> = Vec::new();
        // The pose that is kept may be that of an earlier sweep, so that the trace is judged, not the pose.
        solver
            .solve_traced(&mut Workspace::new(), &mut pose, &ask, &options, &mut |step| {
                if sweeps.len() == step.iteration as usize {
                    sweeps.push([[0; 2].map(|_| vec![DVec3::NAN; 19]), [vec![], vec![]]]);
                }
                let [[backward, forward], asked] = sweeps.last_mut().unwrap();
                match step.change {
                    TraceChange::Point { pass: TracePass::Backward, point, position } => {
                        backward[point] = position.as_dvec3();
                    }
                    TraceChange::Point { pass: TracePass::Forward, point, position } => {
                        forward[point] = position.as_dvec3();
                    }
                    TraceChange::SubBase { point, from, position } => {
                        assert_eq!(FORKS[from].0, point);
                        asked[usize::from(point == 11)].push(position.as_dvec3());
                    }
                    _ => panic!("{step:?}"),
                }
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(sweeps.len(), 4, "seed {seed}");
        for [[backward, forward], asked] in sweeps {
            let (back, wanted) = sweep(&mut points, &lengths, &goals);
            for chain in [STEM].iter().chain(&BRANCHES).chain(&TWIGS) {
                for &point in chain {
                    furthest = furthest.max(backward[point].distance(back[point]));
                    furthest = furthest.max(forward[point].distance(points[point]));
                }
            }
            let sorted = |mut all: Vec<DVec3>| {
                all.sort_by(|a, b| a.x.total_cmp(&b.x));
                all
            };
            for (a, b) in asked.into_iter().zip(wanted) {
                assert_eq!(a.len(), b.len());
                for (a, b) in sorted(a).into_iter().zip(sorted(b)) {
                    furthest = furthest.max(a.distance(b));
                }
            }
        }
    }
    assert!(furthest < 1e-5, "{furthest:e}");
}

#[test]
fn with_one_effector_it_is_fabrik() {
    let mut reached = 0;
    for seed in 0..100u64 {
        let mut r = Random::of(seed);
        let offset = Vec3::Y * if seed % 3 == 0 { 0.2 } else { 0.0 };
        let offsets: Vec<Vec3> = (0..6).map(|_| (r.direction() * r.between(0.2, 0.5)).as_vec3()).collect();
        let joint = |i: usize| match (seed % 4, i % 2) {
            (0, _) => Joint::FREE,
            (1, 0) => Joint::hinge(Vec3::X, Dof::range(-1.5, 1.5)),
            _ => Joint::cone(Vec3::Y, 0.9, 0.5),
        };
        let above = JointTransform {
            scale: [Vec3::ONE, Vec3::new(-0.5, 0.5, 0.5)][seed as usize % 2],
            ..JointTransform::from_translation(Vec3::new(0.1, 0.5, -0.2))
        };
        let (skeleton, ids) = row(above, &offsets, joint);
        let chain = sinew::Chain::new(&skeleton, ids[0], ids[5]).unwrap();
        let chain = chain.with_tip_offset(&skeleton, offset).unwrap();
        let mut start = Pose::rest(&skeleton);
        bend(&mut start, &ids, 0.7, seed);
        // A goal that can be met: `Fabrik` pulls a chain straight to others.
        let mut there = start.clone();
        bend(&mut there, &ids, 0.7, 1000 + seed);
        let goal = Goal::position(chain.end(&there));
        let tip = Effector::new(ids[5]).with_offset(offset);
        let tree = FabrikTree::new(&skeleton, ids[0], &[tip]).unwrap();
        let mut one = start.clone();
        let report = tree.solve(&mut Workspace::new(), &mut one, &[goal], &IterativeOptions::new()).unwrap();
        let mut other = start.clone();
        let same = held(Fabrik::from_chain(&skeleton, chain).unwrap()).solve(&mut other, &goal).unwrap();
        assert_eq!((report.outcome, report.iterations), (same.outcome, same.iterations), "seed {seed}");
        assert_eq!(report.branch_changed, same.branch_changed);
        for &id in &ids {
            let apart = math::angle_between(one.local(id).rotation, other.local(id).rotation);
            assert!(apart < 1e-5, "seed {seed}, joint {id}: {apart:e} rad apart");
        }
        reached += usize::from(report.reached());
    }
    assert!(reached > 60, "{reached} of 100");
}

/// A rigid body turns to its chains by least squares: here exactly, as the goals are those of a turned body.
#[test]
fn a_sub_base_turns_by_the_least_squares_rotation() {
    for seed in 0..50 {
        let mut r = Random::of(seed);
        let ends: Vec<Vec3> = (0..3).map(|_| (r.direction() * r.between(0.2, 1.0)).as_vec3()).collect();
        let joints: Vec<_> = [(0, Vec3::ZERO)].into_iter().chain(ends.iter().map(|&e| (0, e))).collect();
        let (skeleton, ids) = tree(&joints, |_| Joint::FREE);
        let tree = solver(&skeleton, &ids, &[1, 2, 3]);
        let turn = r.rotation(2.5);
        let goals: Vec<Vec3> = ends.iter().map(|&e| turn * e).collect();
        let mut pose = Pose::rest(&skeleton);
        let report = solve(&tree, &mut pose, &goals, 2);
        assert!(report.reached(), "seed {seed}: {report:?}");
        assert!(math::angle_between(pose.local(ids[0]).rotation, turn) < 1e-3);
    }
}

/// Two bones on one line leave the roll about it open: it stays.
#[test]
fn bones_on_one_line_keep_the_roll() {
    let (skeleton, ids) = tree(&[(0, Vec3::ZERO), (0, Vec3::X), (0, -Vec3::X)], |_| Joint::FREE);
    let tree = solver(&skeleton, &ids, &[1, 2]);
    for seed in 0..50 {
        let mut r = Random::of(seed);
        let own = r.rotation(3.0);
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[0], own);
        pose.update();
        let (from, to) = (pose.position(ids[1]), r.direction().as_vec3());
        solve(&tree, &mut pose, &[to, -to], 2);
        // The shortest arc is the only rotation of the line that does not roll.
        let arc = DQuat::from_rotation_arc(from.as_dvec3().normalize(), to.as_dvec3().normalize());
        let wanted = (arc * own.as_dquat()).as_quat();
        let apart = math::angle_between(pose.local(ids[0]).rotation, wanted);
        assert!(apart < 1e-4, "seed {seed}: {apart:e}");
    }
}

/// Goals that conflict: a bone with two goals on a circle about its root ends between them, nearer to the heavier one.
#[test]
fn conflicting_goals_share_the_error_by_their_weights() {
    let (skeleton, ids) =
        tree(&[(0, Vec3::ZERO), (0, Vec3::Y), (1, Vec3::ZERO), (1, Vec3::ZERO)], |_| Joint::FREE);
    for (weight, angle) in [(1.0f32, 0.0f64), (3.0, 0.5f64.atan()), (1e6, 45f64.to_radians())] {
        // The centroid of two goals at 45 degrees to both sides lies on the line between them.
        let tips = [Effector::new(ids[2]).with_position_weight(weight), Effector::new(ids[3])];
        let tree = FabrikTree::new(&skeleton, ids[0], &tips).unwrap();
        let goals =
            [Vec3::new(1.0, 1.0, 0.0), Vec3::new(-1.0, 1.0, 0.0)].map(|v| Goal::position(v.normalize()));
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[0], Quat::from_rotation_x(0.3));
        pose.update();
        let options = IterativeOptions::new().with_max_iterations(100);
        let report = tree.solve(&mut Workspace::new(), &mut pose, &goals, &options).unwrap();
        assert_eq!(report.outcome, Outcome::Stalled, "{report:?}");
        let end = pose.position(ids[1]).as_dvec3();
        let wanted = DVec3::new(angle.sin(), angle.cos(), 0.0);
        assert!(end.distance(wanted) < 1e-4, "{end} is not {wanted}");
        let off: Vec<_> =
            tree.effector_reports(&pose, &goals, &report).map(|r| r.position_residual).collect();
        assert_eq!(off[0].max(off[1]), report.position_residual);
        for (off, goal) in off.iter().zip(&goals) {
            let there = f64::from(*off) - end.distance(goal.position.unwrap().as_dvec3());
            assert!(there.abs() < 1e-6, "{there:e}");
        }
    }
}

/// A cone that is an ellipse: the bone's swing ends on it, where the goal lies outside.
#[test]
fn a_bone_ends_on_the_ellipse_of_its_joint() {
    let (a, b) = (0.8f64, 0.3f64);
    // Two arms at one point, on a body that stays.
    let joints = [(0, Vec3::ZERO), (0, Vec3::ZERO), (1, Vec3::Y), (0, Vec3::ZERO), (3, Vec3::Y)];
    let ellipse = Joint::ball(DVec3::Y, DVec3::X, [(-a, a), (-b, b)], (-0.1, 0.1));
    let (skeleton, ids) = tree(&joints, |i| match i {
        0 => Joint::FIXED,
        1 | 3 => ellipse,
        _ => Joint::FREE,
    });
    let tree = solver(&skeleton, &ids, &[2, 4]);
    for n in 0..24 {
        let angle = f64::from(n) * core::f64::consts::TAU / 24.0;
        let out = |angle: f64| {
            // Beyond the ellipse along its own radius, so that it is the nearest at its vertices.
            let (x, z) = (angle.cos(), angle.sin());
            let axis = DVec3::new(x, 0.0, z);
            (DQuat::from_axis_angle(axis, 1.2) * DVec3::Y).as_vec3()
        };
        let mut pose = Pose::rest(&skeleton);
        let goals = [out(angle), out(angle + 2.0)];
        solve(&tree, &mut pose, &goals, 10);
        for (joint, tip, goal) in [(1, 2, goals[0]), (3, 4, goals[1])] {
            let bone = pose.position(ids[tip]).as_dvec3();
            // Swing vector: its axis is across Y and the bone, its length the angle between them.
            let across = DVec3::Y.cross(bone);
            let swing = across.normalize() * across.length().atan2(bone.y);
            let on = (swing.x / a).powi(2) + (swing.z / b).powi(2);
            assert!((on - 1.0).abs() < 1e-4, "{n}: {swing} is not on the ellipse ({on})");
            // On the side of the goal, and where the goal is along an axis of the ellipse, at its vertex.
            let wanted = DVec3::Y.cross(goal.as_dvec3());
            assert!(swing.dot(wanted) > 0.0);
            for (vertex, radius) in [(DVec3::X, a), (DVec3::Z, b)] {
                if wanted.normalize().dot(vertex).abs() > 1.0 - 1e-9 {
                    assert!((swing.dot(vertex).abs() - radius).abs() < 1e-4, "{swing}");
                }
            }
            let excess = judge::excess(&ellipse, skeleton.rest(ids[joint]), pose.local(ids[joint]));
            assert!(excess.into_iter().all(|e| e <= 1e-5));
        }
    }
}

/// Trees with limits reach what some pose reaches, in most cases.
#[test]
fn limited_trees_mostly_reach_what_they_can() {
    let (mut free, mut limited) = (0, 0);
    for seed in 0..200u64 {
        let mut r = Random::of(seed);
        let parents = [0, 0, 1, 2, 3, 4, 2, 6, 7, 2, 9, 10];
        let joints: Vec<_> =
            parents.iter().map(|&p| (p, (r.direction() * r.between(0.2, 0.6)).as_vec3())).collect();
        let (skeleton, ids) = tree(&joints, |i| match (seed % 2, i % 3) {
            (0, _) => Joint::FREE,
            (_, 0) => Joint::hinge(Vec3::Z, Dof::range(-2.0, 2.0)),
            _ => Joint::cone(Vec3::Y, 1.2, 1.0),
        });
        let tree = solver(&skeleton, &ids, &[5, 8, 11]);
        let mut there = Pose::rest(&skeleton);
        bend(&mut there, &ids, 0.8, seed);
        let goals = [5, 8, 11].map(|tip| there.position(ids[tip]));
        let mut pose = Pose::rest(&skeleton);
        let report = solve(&tree, &mut pose, &goals, 300);
        let met = goals.iter().zip([5, 8, 11]).all(|(g, tip)| pose.position(ids[tip]).distance(*g) < 1e-3);
        assert!(!report.reached() || met);
        *if seed % 2 == 0 { &mut free } else { &mut limited } += usize::from(met);
    }
    println!("{free} free and {limited} limited trees of 100 each");
    assert!(free >= 90 && limited >= 50, "{free} free and {limited} limited trees of 100 each");
}

#[test]
fn goals_that_are_absent_leave_their_branches_rigid() {
    let parents = [(0, Vec3::ZERO), (0, Vec3::Y), (1, Vec3::X), (2, Vec3::X), (1, -Vec3::X), (4, -Vec3::X)];
    let (skeleton, ids) = tree(&parents, |_| Joint::FREE);
    let tree = solver(&skeleton, &ids, &[3, 5]);
    let mut pose = Pose::rest(&skeleton);
    bend(&mut pose, &ids, 0.3, 3);
    let before = pose.clone();
    let goals = [Goal::position(Vec3::new(1.0, 1.2, 0.8)), Goal::NONE];
    let report = tree.solve(&mut Workspace::new(), &mut pose, &goals, &IterativeOptions::new()).unwrap();
    assert!(report.reached(), "{report:?}");
    for &id in &ids[4..] {
        assert_eq!(pose.local(id), before.local(id));
    }
    // Without any goal, nothing moves.
    let mut still = before.clone();
    let none = [Goal::NONE; 2];
    let report = tree.solve(&mut Workspace::new(), &mut still, &none, &IterativeOptions::new()).unwrap();
    assert_eq!((report.outcome, report.iterations), (Outcome::Converged, 0));
    assert_eq!(still.locals(), before.locals());
}

#[test]
fn the_observer_sees_poses_and_may_stop() {
    let parents = [(0, Vec3::ZERO), (0, Vec3::Y), (1, Vec3::X), (2, Vec3::X), (1, -Vec3::X), (4, -Vec3::X)];
    let (skeleton, ids) = tree(&parents, |_| Joint::FREE);
    let tips = [Effector::new(ids[3]).with_offset(Vec3::X * 0.5), Effector::new(ids[5])];
    let tree = FabrikTree::new(&skeleton, ids[0], &tips).unwrap();
    let goals = [Vec3::new(1.0, 1.2, 0.8), Vec3::new(-1.0, 0.5, 0.3)].map(Goal::position);
    let options = IterativeOptions::new().with_max_iterations(1);
    let (mut pose, mut shown) = (Pose::rest(&skeleton), Pose::rest(&skeleton));
    let mut order = Vec::new();
    tree.solve_traced(&mut Workspace::new(), &mut pose, &goals, &options, &mut |step| {
        match step.change {
            TraceChange::Point { pass, point, position } => {
                order.push((pass == TracePass::Forward, point));
                if let (TracePass::Backward, 6) = (pass, point) {
                    assert!(position.distance(goals[0].position.unwrap()) < 1e-6);
                }
            }
            TraceChange::SubBase { point, from, .. } => assert!(point == 1 && [2, 4].contains(&from)),
            _ => panic!("{step:?}"),
        }
        step.write_to(&mut shown);
        ControlFlow::Continue(())
    })
    .unwrap();
    let backward = [5, 4, 6, 3, 2, 1, 0].map(|p| (false, p));
    let forward = [0, 1, 2, 3, 6, 4, 5].map(|p| (true, p));
    assert_eq!(order, [backward, forward].concat());
    assert_eq!(shown.locals(), pose.locals());
    let mut stopped = Pose::rest(&skeleton);
    let stop = &mut |_: sinew::solve::TraceStep<'_>| ControlFlow::Break(());
    let report = tree.solve_traced(&mut Workspace::new(), &mut stopped, &goals, &options, stop).unwrap();
    assert_eq!((report.outcome, report.iterations), (Outcome::OutOfIterations, 1));
}

#[test]
fn what_it_does_not_take_is_a_typed_error() {
    let (skeleton, ids) =
        tree(&[(0, Vec3::ZERO), (0, Vec3::Y), (1, Vec3::X), (1, -Vec3::X)], |_| Joint::FREE);
    let new = |tips: &[Effector]| FabrikTree::new(&skeleton, ids[0], tips);
    let tip = Effector::new(ids[2]);
    let unsupported = |tip| match new(&[tip]).unwrap_err() {
        FullBodyError::Unsupported { joint, property, solver } => {
            assert_eq!((joint.as_str(), solver), ("2", "fabrik tree"));
            property
        }
        other => panic!("{other}"),
    };
    assert_eq!(unsupported(tip.with_priority(1)), "a priority");
    assert_eq!(unsupported(tip.with_relative_to(ids[1])), "a goal relative to a joint");
    assert_eq!(new(&[]).unwrap_err(), FullBodyError::Empty);
    assert!(matches!(new(&[tip, tip]).unwrap_err(), FullBodyError::Twice { .. }));

    let tree = solver(&skeleton, &ids, &[2, 3]);
    let start = Pose::rest(&skeleton);
    let refused = |goals: &[Goal], options: &IterativeOptions| {
        let mut pose = start.clone();
        let error = tree.solve(&mut Workspace::new(), &mut pose, goals, options).unwrap_err();
        assert_eq!(pose.locals(), start.locals());
        error
    };
    let (goal, plain) = (Goal::position(Vec3::X), IterativeOptions::new());
    for (bad, wanted) in [
        (goal.with_rotation(Quat::IDENTITY), "a rotation"),
        (goal.with_pole(Pole::Direction(Vec3::Z)), "a pole"),
        (goal.with_swivel(0.1), "a swivel angle"),
    ] {
        let part = match refused(&[goal, bad], &plain) {
            SolveError::UnsupportedGoal { goal: 1, part, solver: "fabrik tree" } => part,
            other => panic!("{other}"),
        };
        assert_eq!(part, wanted);
    }
    assert_eq!(refused(&[goal], &plain), SolveError::GoalCount { given: 1, wanted: 2 });
    for options in [plain.with_soft(0.1), plain.with_max_restarts(1)] {
        assert!(matches!(refused(&[goal, goal], &options), SolveError::OutOfRange { .. }));
    }
    let nan = Goal::position(Vec3::NAN);
    assert!(matches!(refused(&[goal, nan], &plain), SolveError::NotFinite { .. }));
}

/// Bones of zero length, goals at one point, and trees of all sizes.
#[test]
fn degenerate_trees_stay_finite_and_get_no_further() {
    let mut r = noise(5);
    for size in [1e-12f32, 1e-3, 1.0, 1e3, 1e12] {
        for zero in [false, true] {
            let parents = [0, 0, 1, 2, 3, 2, 5, 1, 7];
            let joints: Vec<_> = parents
                .iter()
                .enumerate()
                .map(|(i, &p)| {
                    (p, if zero && i % 2 == 0 { Vec3::ZERO } else { Vec3::new(r(), r(), r()) * size })
                })
                .collect();
            let (skeleton, ids) =
                tree(&joints, |i| if i == 3 { Joint::cone(Vec3::Y, 0.5, 0.2) } else { Joint::FREE });
            let tips = [4, 6, 8, 2];
            let tree = solver(&skeleton, &ids, &tips);
            for goals in [
                [Vec3::ZERO; 4],
                [Vec3::ONE * size; 4],
                [Vec3::X * size, -Vec3::X * size, Vec3::Y * 1e30, Vec3::ZERO],
            ] {
                let mut pose = Pose::rest(&skeleton);
                let left = |pose: &Pose| {
                    let off = |(tip, goal): (usize, Vec3)| {
                        (pose.position(ids[tip]).as_dvec3() / f64::from(size)
                            - goal.as_dvec3() / f64::from(size))
                        .length_squared()
                    };
                    tips.into_iter().zip(goals).map(off).sum::<f64>().sqrt()
                };
                let before = left(&pose);
                let report = solve(&tree, &mut pose, &goals, 32);
                pose.check_finite().unwrap();
                assert!(
                    left(&pose) <= before * (1.0 + 1e-5) + 1e-4,
                    "{size:e}: {before:e} {:e}",
                    left(&pose)
                );
                assert!(report.position_residual.is_finite() && report.out_of_reach.is_finite());
                // A goal far away is a direction: the tree stretches out to it.
                if goals[2].y > 1e29 && !zero {
                    assert!(report.out_of_reach > 1e29);
                }
            }
        }
    }
}
