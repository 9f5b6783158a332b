//! Judges the bound on a joint's turn in one solve, by descent in f64 within the same bounds; and tips without a rotation
//! goal.

use crate::common;
use crate::held;

use common::column;
use held::held;
use sinew::{
    Goal, JointId, Pole, Pose, Skeleton, Workspace,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
    solve::{
        Auto, Ccd, DampedLeastSquares, Effector, Fabrik, FreeChain, FullBody, FullBodyOptions,
        IterativeOptions,
    },
};

/// Indices of `solvers` that step the whole chain: `Auto`, and least squares with and without fresh starts.
const FOLLOW: [usize; 3] = [0, 3, 6];

type Solve = Box<dyn FnMut(&mut Pose, &Goal) -> sinew::Report>;

fn solvers(skeleton: &Skeleton, ids: &[JointId], max_turn: f32) -> Vec<Solve> {
    let (root, tip) = (ids[0], ids[ids.len() - 1]);
    let mut auto = held(Auto::new(skeleton, root, tip).unwrap());
    auto.options.max_turn = max_turn;
    let mut all: Vec<Solve> = vec![Box::new(move |p, g| auto.solve(p, g).unwrap())];
    for max_restarts in [0, 3] {
        let options = IterativeOptions::new().with_max_turn(max_turn).with_max_restarts(max_restarts);
        let mut ccd = held(Ccd::new(skeleton, root, tip).unwrap());
        ccd.options = options;
        all.push(Box::new(move |p, g| ccd.solve(p, g).unwrap()));
        let mut fabrik = held(Fabrik::new(skeleton, root, tip).unwrap());
        (fabrik.options, fabrik.closes_circle) = (options, max_restarts > 0);
        all.push(Box::new(move |p, g| fabrik.solve(p, g).unwrap()));
        let mut squares = held(DampedLeastSquares::new(skeleton, root, tip).unwrap());
        squares.options = options;
        all.push(Box::new(move |p, g| squares.solve(p, g).unwrap()));
    }
    all
}

/// Returns the angle between rotations, by f64 and the sine.
fn angle(a: sinew::glam::Quat, b: sinew::glam::Quat) -> f64 {
    let d = a.as_dquat().inverse() * b.as_dquat();
    2.0 * d.xyz().length().atan2(d.w.abs())
}

#[test]
fn no_joint_turns_further_in_a_solve() {
    let kinds: [fn(usize) -> Joint; 3] = [
        |_| Joint::FREE,
        |_| Joint::cone(Vec3::Y, 0.8, 0.5),
        |i| Joint::hinge([Vec3::X, Vec3::Z][i % 2], Dof::range(-1.0, 1.0)),
    ];
    for joint in kinds {
        let (skeleton, ids) = column(8, 1.0 / 8.0, joint);
        for mut solve in solvers(&skeleton, &ids, 0.05) {
            let mut pose = Pose::rest(&skeleton);
            for i in 0..200 {
                // Occasional jumps, with small steps in between.
                let f = (i / 20) as f32 + 0.01 * (i % 20) as f32;
                let goal = Vec3::new((1.7 * f).sin(), (2.3 * f).cos(), (0.9 * f).sin()) * 0.7;
                let mut goal = Goal::position(goal);
                if i % 3 == 0 {
                    goal = goal.with_pole(Pole::Direction(Vec3::new((0.7 * f).cos(), 0.2, (0.7 * f).sin())));
                }
                let last = pose.clone();
                solve(&mut pose, &goal);
                for &id in &ids {
                    let turned = angle(last.local(id).rotation, pose.local(id).rotation);
                    assert!(turned <= 0.05 + 1e-5, "{i}: joint {id} turned by {turned}");
                    assert!(skeleton.limits(id).is_within(pose.local(id).rotation));
                }
            }
        }
    }
}

/// Returns the end of a row of ten hinges about X and Z alternately, in f64, and its derivative by each angle.
fn hinges(angles: &[f64; 10]) -> (DVec3, [DVec3; 10]) {
    let axis = |i: usize| [DVec3::X, DVec3::Z][i % 2];
    let (mut at, mut seat) = (DVec3::ZERO, DQuat::IDENTITY);
    let turns: [(DVec3, DVec3); 10] = std::array::from_fn(|i| {
        let turn = (at, seat * axis(i));
        seat *= DQuat::from_axis_angle(axis(i), angles[i]);
        at += seat * DVec3::Y * 0.1;
        turn
    });
    (at, turns.map(|(from, axis)| axis.cross(at - from)))
}

/// Descends from angles, each between two bounds, and returns the final distance from the goal.
fn downhill(mut angles: [f64; 10], room: &[[f64; 2]; 10], goal: DVec3) -> f64 {
    let (mut end, mut moves) = hinges(&angles);
    let mut step = 1.0;
    for _ in 0..300 {
        let next = std::array::from_fn(|i| {
            (angles[i] + step * moves[i].dot(goal - end)).clamp(room[i][0], room[i][1])
        });
        let (to, there) = hinges(&next);
        if to.distance(goal) < end.distance(goal) {
            (angles, end, moves) = (next, to, there);
            step *= 1.5;
        } else {
            step *= 0.4;
        }
    }
    end.distance(goal)
}

/// Each frame reduces the residual nearly as far as bounds and limits allow: descent within both gains little.
#[test]
fn what_a_joint_may_not_turn_the_others_do() {
    let most = 0.13;
    let (skeleton, ids) = column(10, 0.1, |i| Joint::hinge([Vec3::X, Vec3::Z][i % 2], Dof::range(-1.0, 1.0)));
    let angles = |pose: &Pose| -> [f64; 10] {
        std::array::from_fn(|i| {
            let q = pose.local(ids[i]).rotation.as_dquat();
            2.0 * [q.x, q.z][i % 2].atan2(q.w)
        })
    };
    for (which, mut solve) in solvers(&skeleton, &ids, most as f32).into_iter().enumerate() {
        // Sweeps converge slowly.
        if !FOLLOW.contains(&which) {
            continue;
        }
        let (mut worst, mut sum, mut count) = (0.0f64, 0.0, 0);
        for path in 0..3 {
            let mut pose = Pose::rest(&skeleton);
            for (i, &id) in ids[..10].iter().enumerate() {
                let axis = [Vec3::X, Vec3::Z][i % 2];
                pose.set_rotation(id, math::axis_angle(axis, 0.3 + 0.1 * ((3 * i + path) % 5) as f32));
            }
            pose.update();
            // Out of reach and back, past the chain's root.
            let away = Vec3::new((path as f32).sin(), 0.0, (path as f32).cos()) * 0.35;
            let at = |frame: usize| {
                let along = 0.3 + 1.3 * (1.0 - (frame as f32 / 80.0 - 1.0).abs());
                away + Vec3::Y * along
            };
            // The solve to the path's start is not judged, as limits may keep a bounded one from it.
            let mut free = held(Auto::new(&skeleton, ids[0], ids[10]).unwrap());
            assert!(free.solve(&mut pose, &Goal::position(at(0))).unwrap().reached());
            for frame in 0..160 {
                let goal = at(frame);
                let came = angles(&pose);
                solve(&mut pose, &Goal::position(goal));
                let room = came.map(|a| [(a - most).max(-1.0), (a + most).min(1.0)]);
                let left = pose.position(ids[10]).as_dvec3().distance(goal.as_dvec3());
                let gain = left - downhill(angles(&pose), &room, goal.as_dvec3());
                (worst, sum, count) = (worst.max(gain), sum + gain, count + 1);
            }
        }
        let mean = sum / f64::from(count);
        assert!(worst < 5e-3 && mean < 2e-4, "solver {which}: {worst} at worst, {mean} in the mean");
    }
}

/// An elbow that must unfold does not move the end away from a goal behind the root.
#[test]
fn no_frame_leads_away_from_the_goal() {
    let (skeleton, ids) = column(2, 1.0, |_| Joint::FREE);
    let mut free = held(FreeChain::new(&skeleton, ids[0], ids[2]).unwrap());
    free.options.max_turn = 0.13;
    let full_body = FullBody::new(&skeleton, ids[0], &[Effector::new(ids[2])]).unwrap();
    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
    options.iterative.max_turn = 0.13;
    let mut all = solvers(&skeleton, &ids, 0.13);
    all.push(Box::new(move |pose, goal| free.solve(pose, goal).unwrap()));
    all.push(Box::new(move |pose, goal| full_body.solve(&mut workspace, pose, &[*goal], &options).unwrap()));
    for (which, mut solve) in all.into_iter().enumerate() {
        let mut pose = Pose::rest(&skeleton);
        // The column stands along Y, with its elbow folded to 37 degrees.
        pose.set_rotation(ids[1], math::axis_angle(Vec3::Z, 2.5));
        pose.update();
        let goal = Vec3::X * 2.4;
        let mut left = pose.position(ids[2]).distance(goal);
        for frame in 0..60 {
            let report = solve(&mut pose, &Goal::position(goal));
            let now = pose.position(ids[2]).distance(goal);
            assert!(now <= left + 2e-6, "solver {which}, frame {frame}: from {left} to {now}");
            assert!((now - report.position_residual).abs() < 1e-5);
            left = now;
        }
        // The reach of two bones of a metre. (Sweeps converge slowly, or stop where the bound leaves no reducing step.)
        let swept = (1..7).contains(&which) && !FOLLOW.contains(&which);
        assert!(swept || left < 0.4001, "solver {which}: {left} left");
    }
}

/// A constant goal is met at last, however small the bound on turns.
#[test]
fn small_turns_get_there() {
    let (skeleton, ids) = column(8, 1.0 / 8.0, |_| Joint::cone(Vec3::Y, 0.8, 0.5));
    for mut solve in solvers(&skeleton, &ids, 0.02) {
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[3], math::axis_angle(Vec3::X, 0.2));
        let goal = Vec3::new(0.4, 0.6, 0.2);
        let mut met = false;
        for _ in 0..200 {
            let report = solve(&mut pose, &Goal::position(goal));
            met |= report.reached() && report.position_residual < 2e-4;
        }
        assert!(met && pose.position(ids[8]).distance(goal) < 2e-4);
    }
}

#[test]
fn a_tip_of_which_nothing_is_asked_keeps_its_rotation() {
    for joint in [Joint::FREE, Joint::cone(Vec3::Y, 0.8, 0.5)] {
        let (skeleton, ids) = column(6, 1.0 / 6.0, |_| joint);
        for mut solve in solvers(&skeleton, &ids, f32::INFINITY) {
            let mut pose = Pose::rest(&skeleton);
            let tip = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.7);
            pose.set_rotation(ids[6], tip);
            pose.set_rotation(ids[2], math::axis_angle(Vec3::X, 0.3));
            // In reach, out of reach, and reachable only by fresh starts.
            for goal in [Vec3::new(0.3, 0.5, 0.2), Vec3::Y * 3.0, Vec3::new(0.0, -0.9, 0.0), Vec3::Y * 0.1] {
                solve(&mut pose, &Goal::position(goal));
                assert_eq!(pose.local(ids[6]).rotation, tip);
            }
        }
    }
}

/// Near a pole of the middle axis a joint's angles are poorly determined, and their f32 rounding is another rotation.
#[test]
fn joints_of_a_tree_turn_no_further_next_to_a_pole() {
    let mut state = 7u64;
    let mut between = |from: f32, to: f32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        from + (to - from) * (state >> 40) as f32 / (1u64 << 24) as f32
    };
    let joint = |_| {
        let angles = [None, Some(Dof::FREE), Some(Dof::range(-0.26, 2.76))];
        Turning::Axes { order: RotationOrder::Zxy, angles }.into()
    };
    let (skeleton, ids) = column(6, 0.2, joint);
    let full_body =
        FullBody::new(&skeleton, ids[0], &[Effector::new(ids[6]), Effector::new(ids[3])]).unwrap();
    let mut workspace = Workspace::new();
    let options = IterativeOptions::new().with_max_turn(0.4).with_max_iterations(40).with_max_restarts(1);
    for case in 0..4000 {
        let mut pose = Pose::rest(&skeleton);
        for &id in &ids {
            let [x, y, z, w] = [0; 4].map(|_| between(-1.0, 1.0));
            pose.set_rotation(id, math::normalize(Quat::from_xyzw(x, y, z, w)));
        }
        pose.update();
        let mut goal =
            || Goal::position(Vec3::new(between(-1.0, 1.0), between(-1.0, 1.0), between(-1.0, 1.0)));
        let (goals, start) = ([goal(), goal()], pose.clone());
        full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        for &id in &ids {
            let turned = angle(start.local(id).rotation, pose.local(id).rotation);
            assert!(turned <= 0.4 + 1e-5, "case {case}: joint {id} turned by {turned}");
        }
    }
}
