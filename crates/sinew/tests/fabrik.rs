//! Judges FABRIK's circle constraint by a reference in f64 that is written here, and its limits by a judge. `textbook.rs`
//! judges the method without the circle.

use crate::common;
use crate::held;
use crate::limit_judge as judge;

use std::sync::Arc;

use common::row;
use held::held;
use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Auto, ChainSolverError, Fabrik},
};

/// Bones along Y below a scaled parent; the tip is free.
fn bones(lengths: &[f32], scale: Vec3, joint: impl Fn(usize) -> Joint) -> (Arc<Skeleton>, Vec<JointId>) {
    let offsets: Vec<Vec3> = [0.0].iter().chain(lengths).map(|&length| Vec3::Y * length).collect();
    let above = JointTransform { scale, ..JointTransform::IDENTITY };
    row(above, &offsets, |i| if i < lengths.len() { joint(i) } else { Joint::FREE })
}

fn broken(pose: &Pose) -> f64 {
    let s = pose.skeleton();
    s.joints().flat_map(|j| judge::excess(s.joint(j), s.rest(j), pose.local(j))).fold(0.0, f64::max)
}

fn places(pose: &Pose, ids: &[JointId]) -> Vec<DVec3> {
    ids.iter().map(|&j| pose.position(j).as_dvec3()).collect()
}

/// One sweep of points (Aristidou & Lasenby 2011), with the second joint put onto its circle (2016).
fn reference(p: &mut [DVec3], goal: DVec3) {
    let root = p[0];
    let lengths: Vec<f64> = p.windows(2).map(|w| w[0].distance(w[1])).collect();
    let last = p.len() - 1;
    let mut q = p.to_vec();
    q[last] = goal;
    for i in (1..last).rev() {
        let mut old = p[i];
        if i == 1 {
            let (way, d) = (q[2] - root, q[2].distance(root));
            let x = (d * d + lengths[0].powi(2) - lengths[1].powi(2)) / (2.0 * d);
            let h2 = lengths[0].powi(2) - x * x;
            if h2 > 0.0 {
                let along = way / d;
                let across = (p[1] - root).reject_from_normalized(along).normalize();
                old = root + along * x + across * h2.sqrt();
            }
        }
        q[i] = q[i + 1] + (old - q[i + 1]).normalize() * lengths[i];
    }
    for i in 0..last {
        p[i + 1] = p[i] + (q[i + 1] - p[i]).normalize() * lengths[i];
    }
}

#[test]
fn a_sweep_that_closes_the_circle_is_the_one_that_is_taught() {
    let (skeleton, ids) = bones(&[0.3, 0.2, 0.4, 0.25, 0.3], Vec3::ONE, |_| Joint::FREE);
    let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[5]).unwrap());
    (solver.closes_circle, solver.options.max_iterations) = (true, Some(1));
    let mut pose = Pose::rest(&skeleton);
    for (i, &id) in ids.iter().enumerate() {
        pose.set_rotation(id, math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.2 + 0.1 * i as f32));
    }
    pose.update();
    for goal in [Vec3::new(0.5, 0.6, 0.1), Vec3::new(-0.7, 0.3, 0.8), Vec3::new(0.1, -0.2, 0.3)] {
        let mut wanted = places(&pose, &ids);
        let before = wanted[5].distance(goal.as_dvec3());
        reference(&mut wanted, goal.as_dvec3());
        // A sweep that does not reduce the residual is rejected.
        let start = pose.clone();
        solver.solve(&mut pose, &Goal::position(goal)).unwrap();
        let nearer = wanted[5].distance(goal.as_dvec3()) < before;
        let wanted = if nearer { wanted } else { places(&start, &ids) };
        for (a, b) in places(&pose, &ids).iter().zip(&wanted) {
            assert!(a.distance(*b) < 2e-6, "{a} is not {b}");
        }
    }
}

/// A straight chain whose goal lies on its line stays on it, as in the textbook method; a fresh start, or `Auto`, leaves it.
#[test]
fn straight_chains_leave_their_line_where_they_may_start_afresh() {
    for joint in [Joint::FREE, Joint::cone(Vec3::Y, 1.2, 0.5), Joint::hinge(Vec3::Z, Dof::range(-1.5, 1.5))] {
        let (skeleton, ids) = bones(&[0.1; 10], Vec3::ONE, |_| joint);
        let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[10]).unwrap());
        let mut auto = held(Auto::new(&skeleton, ids[0], ids[10]).unwrap());
        for i in 4..19 {
            let goal = Goal::position(Vec3::Y * (0.05 * i as f32));
            let mut pose = Pose::rest(&skeleton);
            solver.options.max_restarts = Some(0);
            solver.solve(&mut pose, &goal).unwrap();
            let on_line = ids.iter().all(|&j| pose.position(j).cross(Vec3::Y).length() < 1e-6);
            assert!(on_line || joint != Joint::FREE, "{i}");
            let mut pose = Pose::rest(&skeleton);
            solver.options = solver.options.with_max_restarts(1).with_max_iterations(400);
            let report = solver.solve(&mut pose, &goal).unwrap();
            assert!(report.position_residual < 1.2e-4, "{joint:?} {i} {report:?}");
            assert!(broken(&pose) < 1e-5);
            let mut pose = Pose::rest(&skeleton);
            let report = auto.solve(&mut pose, &goal).unwrap();
            assert!(report.position_residual < 1.2e-4, "{joint:?} {i} {report:?}");
            assert!(broken(&pose) < 1e-5);
        }
    }
}

/// Out of reach, the first sweep leaves a free chain straight towards the goal.
#[test]
fn it_pulls_straight_where_the_goal_is_out_of_reach() {
    let (skeleton, ids) = bones(&[0.3, 0.2, 0.4], Vec3::ONE, |_| Joint::FREE);
    let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[3]).unwrap());
    solver.options.max_iterations = Some(1);
    let mut pose = Pose::rest(&skeleton);
    for (i, &id) in ids.iter().enumerate() {
        pose.set_rotation(id, math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5 + 0.3 * i as f32));
    }
    pose.update();
    let way = Vec3::new(0.48, -0.6, 0.64);
    let report = solver.solve(&mut pose, &Goal::position(way * 1.5)).unwrap();
    assert!((report.out_of_reach - 0.6).abs() < 1e-5, "{report:?}");
    for (i, reach) in [(1, 0.3), (2, 0.5), (3, 0.9)] {
        assert!(pose.position(ids[i]).distance(way * reach) < 1e-6, "{i}");
    }
}

#[test]
fn rotation_and_place_are_met_by_a_mirrored_and_scaled_arm() {
    for scale in [Vec3::ONE, Vec3::splat(0.01), Vec3::new(-2.0, 2.0, 2.0)] {
        let (skeleton, ids) = bones(&[0.3; 5], scale, |_| Joint::cone(Vec3::Y, 1.2, 1.0));
        let chain = Chain::new(&skeleton, ids[0], ids[5]).unwrap();
        let chain = chain.with_tip_offset(&skeleton, Vec3::new(0.05, 0.1, 0.0)).unwrap();
        let mut solver = held(Fabrik::from_chain(&skeleton, chain.clone()).unwrap());
        solver.options.max_iterations = Some(400);
        let mut wanted = Pose::rest(&skeleton);
        for (i, &id) in ids.iter().enumerate() {
            wanted.set_rotation(id, math::axis_angle(Vec3::new(0.8, 0.0, 0.6), 0.5 - 0.1 * i as f32));
        }
        wanted.update();
        let goal = Goal::position(chain.end(&wanted)).with_rotation(wanted.model_rotation(ids[5]));
        let mut pose = Pose::rest(&skeleton);
        let report = solver.solve(&mut pose, &goal).unwrap();
        assert!(report.reached(), "{report:?}");
        let length = chain.length(&pose);
        assert!(report.position_residual < 1.1e-4 * length && report.rotation_residual < 1.1e-3);
        assert!(broken(&pose) < 1e-5);
    }
}

#[test]
fn the_root_stays_where_the_pose_puts_it() {
    let (skeleton, ids) = bones(&[0.2; 5], Vec3::ONE, |_| Joint::FREE);
    let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[5]).unwrap());
    let mut pose = Pose::rest(&skeleton);
    pose.set_translation(ids[0], Vec3::new(0.5, 0.1, 0.2));
    let report = solver.solve(&mut pose, &Goal::position(Vec3::new(1.0, 0.5, 0.0))).unwrap();
    assert!(report.position_residual < 1e-4);
    assert!(pose.position(ids[0]).distance(Vec3::new(0.5, 0.1, 0.2)) < 1e-6);
}

#[test]
fn what_it_cannot_honour_is_refused_by_name() {
    let slider = Joint::FREE.with_slide([Some(Dof::range(0.0, 1.0)), None, None]);
    let eased = Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0).with_ease(0.3));
    for joint in [slider, eased] {
        let (skeleton, ids) = bones(&[0.2; 3], Vec3::ONE, |i| if i == 1 { joint } else { Joint::FREE });
        let error = Fabrik::new(&skeleton, ids[0], ids[3]).unwrap_err();
        assert!(matches!(&error, ChainSolverError::Joint(u) if u.joint == "1"), "{error}");
    }
}

fn any_joint() -> impl Strategy<Value = Joint> {
    let half = || 0.2f64..2.5;
    prop_oneof![
        2 => Just(Joint::FREE),
        1 => Just(Joint::FIXED),
        3 => (-2.5f64..0.0, 0.0f64..2.5, 0usize..3)
            .prop_map(|(a, b, k)| Joint::hinge(Vec3::AXES[k], Dof::range(a, b))),
        4 => (half(), half(), half(), half(), 0.0f64..2.0)
            .prop_map(|(a, b, c, d, t)| Joint::ball(Vec3::Y, Vec3::X, [(-a, b), (-c, d)], (-t, t))),
        1 => (half(), half())
            .prop_map(|(a, b)| Joint::axes([Some(Dof::range(-a, a)), None, Some(Dof::range(-b, b))])),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..Default::default()
    })]

    /// Limits and lengths hold after any number of sweeps, the report is true, and the residual does not grow.
    #[test]
    fn limits_hold_after_every_sweep(
        joints in prop::collection::vec(any_joint(), 1..9),
        start in prop::collection::vec((-1f32..1.0, -1f32..1.0, -1f32..1.0, -1f32..1.0), 9),
        goal in (-1f32..1.0, -1f32..1.0, -1f32..1.0),
        sweeps in 0u32..40,
        max_restarts in 0u32..3,
        closes_circle in any::<bool>(),
        turn in any::<bool>(),
    ) {
        let lengths = vec![1.0 / joints.len() as f32; joints.len()];
        let (skeleton, ids) = bones(&lengths, Vec3::ONE, |i| joints[i]);
        let mut solver = held(Fabrik::new(&skeleton, ids[0], ids[joints.len()]).unwrap());
        solver.options = solver.options.with_max_iterations(sweeps).with_max_restarts(max_restarts);
        solver.closes_circle = closes_circle;
        let mut pose = Pose::rest(&skeleton);
        for (&id, &(x, y, z, w)) in ids.iter().zip(&start) {
            let q = math::normalize(Quat::from_xyzw(x, y, z, w + 0.01));
            pose.set_rotation(id, skeleton.clamp_rotation(id, q));
        }
        pose.update();
        let at = Vec3::new(goal.0, goal.1, goal.2);
        let q = math::normalize(Quat::from_xyzw(0.3, start[8].0, start[8].1, 0.5));
        let goal = if turn { Goal::position(at).with_rotation(q) } else { Goal::position(at) };
        let tip = ids[joints.len()];
        let before = pose.position(tip).distance(at);
        let report = solver.solve(&mut pose, &goal).unwrap();
        prop_assert!(broken(&pose) < 1e-5, "broken by {:e}", broken(&pose));
        prop_assert!((report.position_residual - pose.position(tip).distance(at)).abs() < 1e-6);
        if !turn {
            prop_assert!(report.position_residual < before + 2e-6, "from {before} to {report:?}");
        }
        for (t, &length) in ids[1..].iter().zip(&lengths) {
            prop_assert_eq!(pose.local(*t).translation, Vec3::Y * length);
        }
        // A second solve of a met goal moves nothing.
        if report.reached() {
            let kept = pose.clone();
            solver.solve(&mut pose, &goal).unwrap();
            prop_assert_eq!(pose.locals(), kept.locals());
        }
    }
}
