//! Judges limbs in poses with a bone stretched along one axis, as in squash-and-stretch clips, in f64.

use crate::promises::judge;

use std::sync::Arc;

use sinew::{
    ChainError, Goal, JointId, JointTransform, Pole, Pose, Skeleton, SolveError,
    glam::{DVec3, Quat, Vec3},
    math,
    solve::{LimbOptions, TwoBone},
};

/// Hips, thigh, shin, foot, with the thigh stretched by `scale` along its own bone and the knee bent.
fn leg(scale: Vec3) -> (TwoBone, Pose, [JointId; 4]) {
    let mut b = Skeleton::builder();
    let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.0, 0.95, 0.0));
    let thigh = b.add("thigh", Some(hips), at(0.1, -0.05, 0.0));
    let shin = b.add("shin", Some(thigh), at(0.0, -0.45, 0.02));
    b.add("foot", Some(shin), at(0.0, -0.42, -0.03));
    let (skeleton, ids) = b.build().unwrap();
    let limb = TwoBone::new(&skeleton, ids[1], ids[2], ids[3]).unwrap();
    let mut pose = Pose::rest(&Arc::new(skeleton));
    let turn = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), -0.4);
    pose.set_local(ids[1], JointTransform { scale, rotation: turn, ..*pose.local(ids[1]) });
    pose.set_rotation(ids[2], math::axis_angle(Vec3::X, 0.7));
    pose.update();
    (limb, pose, [ids[0], ids[1], ids[2], ids[3]])
}

/// Goals all around, within the leg's reach.
fn goals() -> impl Iterator<Item = Vec3> {
    (0..600).map(|i| {
        let f = i as f32;
        let way = Vec3::new((f * 1.3).sin(), -0.4 + (f * 0.7).cos(), (f * 2.1).sin()).normalize();
        Vec3::new(0.1, 0.9, 0.0) + way * (0.35 + 0.4 * (f * 0.37).sin().abs())
    })
}

fn miss(pose: &Pose, tip: JointId, goal: Vec3) -> f64 {
    judge::length(judge::sub(judge::position(pose, tip), judge::v(goal)))
}

#[test]
fn a_stretched_leg_meets_its_goal_and_keeps_its_offsets() {
    for scale in [Vec3::new(1.0, 1.07, 1.0), Vec3::new(1.0, 0.93, 1.0), Vec3::new(0.95, 1.1, 0.95)] {
        let (limb, rest, [_, thigh, shin, foot]) = leg(scale);
        for goal in goals() {
            for pole in [Pole::Keep, Pole::Direction(Vec3::new(0.2, 0.1, 1.0))] {
                let mut pose = rest.clone();
                let report = limb
                    .solve(&mut pose, &Goal::position(goal).with_pole(pole), &LimbOptions::new())
                    .unwrap();
                let missed = miss(&pose, foot, goal);
                assert!(missed < 1e-6 * 0.9, "{scale} {goal}: missed by {missed:e}, {report:?}");
                for j in pose.skeleton().joints() {
                    let (a, b) = (rest.local(j), pose.local(j));
                    assert!(a.translation == b.translation && a.scale == b.scale);
                    assert!([thigh, shin].contains(&j) || a.rotation == b.rotation);
                }
            }
        }
    }
}

/// A swivel turns the plane that the limb has without one: once, however often its turns are repeated.
#[test]
fn a_stretched_leg_swivels_once() {
    for scale in [Vec3::new(1.0, 1.0004, 1.0), Vec3::new(1.0, 1.07, 1.0), Vec3::new(0.95, 1.1, 0.95)] {
        // The plane changes as bones change their lengths: by up to a fifth of their stretch.
        let most = 0.2 * f64::from(scale.max_element() - scale.min_element()) + 1e-3;
        let (limb, rest, [_, thigh, shin, foot]) = leg(scale);
        for (n, goal) in goals().enumerate() {
            let swivel = 0.3 + 0.02 * (n % 100) as f32;
            let bend = |goal: Goal| {
                let mut pose = rest.clone();
                limb.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
                [thigh, shin, foot].map(|j| DVec3::from_array(judge::position(&pose, j)))
            };
            let (without, with) =
                (bend(Goal::position(goal)), bend(Goal::position(goal).with_swivel(swivel)));
            let axis = (goal.as_dvec3() - without[0]).normalize();
            let across = |at: [DVec3; 3]| {
                let bend = at[1] - at[0];
                bend - axis * bend.dot(axis)
            };
            let [a, b] = [without, with].map(across);
            if a.length().min(b.length()) < 0.05 {
                continue;
            }
            let angle = axis.dot(a.cross(b)).atan2(a.dot(b));
            let off = (angle - f64::from(swivel)).abs();
            assert!(off < most, "{scale} {goal}: swivelled by {angle} instead of {swivel}");
        }
    }
}

#[test]
fn a_stretched_leg_blends_without_a_leap() {
    const STEPS: usize = 200;
    let (limb, rest, ids) = leg(Vec3::new(1.0, 1.07, 1.0));
    for goal in goals().step_by(20) {
        let mut last: Option<Pose> = None;
        let whole = miss(&rest, ids[3], goal).max(0.05);
        for i in 0..=STEPS {
            let options = LimbOptions::new().with_influence(i as f32 / STEPS as f32);
            let mut pose = rest.clone();
            limb.solve(&mut pose, &Goal::position(goal), &options).unwrap();
            if let Some(last) = &last {
                let step =
                    judge::length(judge::sub(judge::position(&pose, ids[3]), judge::position(last, ids[3])));
                // No step exceeds ten times the mean step of a straight path; the end follows a curve as joints turn.
                assert!(step < 10.0 * whole / STEPS as f64, "{goal}: {step} at {i}");
            } else {
                assert_eq!(pose.locals(), rest.locals(), "weight 0 changes nothing");
            }
            last = Some(pose);
        }
    }
}

#[test]
fn a_leg_sheared_too_far_is_an_error_that_names_the_joint() {
    let (limb, rest, ids) = leg(Vec3::new(1.0, 1.5, 1.0));
    let mut pose = rest.clone();
    let error =
        limb.solve(&mut pose, &Goal::position(Vec3::new(0.1, 0.3, 0.2)), &LimbOptions::new()).unwrap_err();
    assert!(
        matches!(&error, SolveError::Chain(ChainError::Sheared { joint, shear }) if joint == "thigh" && *shear > 0.3),
        "{error:?}"
    );
    assert_eq!(pose.locals(), rest.locals());
    // A scale of the foot, below the chain, is allowed.
    let (limb, mut pose, _) = leg(Vec3::ONE);
    pose.set_local(ids[3], JointTransform { scale: Vec3::new(1.0, 3.0, 1.0), ..*pose.local(ids[3]) });
    let goal = Vec3::new(0.1, 0.3, 0.2);
    limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
    assert!(miss(&pose, ids[3], goal) < 1e-6);
    // A thigh of scale 0 has no directions.
    let (limb, mut pose, _) = leg(Vec3::new(1.0, 0.0, 1.0));
    pose.set_rotation(ids[2], Quat::IDENTITY);
    assert!(limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).is_err());
}

/// The long bone's change of length exceeds the length of the short one.
#[test]
fn a_stretched_limb_of_unequal_bones_ends_no_further_off() {
    let mut state = 3u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    };
    let mut rotation = || {
        let [x, y, z, w] = [0; 4].map(|_| number());
        math::normalize(Quat::from_xyzw(x, y, z, w))
    };
    for (upper, lower) in [(0.01, 1.0), (1.0, 0.01), (0.1, 1.0), (0.5, 0.5)] {
        let mut b = Skeleton::builder();
        let root = b.add("root", None, JointTransform::IDENTITY);
        let at = |v: Vec3| JointTransform::from_translation(v);
        let middle = b.add("middle", Some(root), at(Vec3::new(0.6, 0.0, 0.8) * upper));
        b.add("tip", Some(middle), at(Vec3::new(-0.48, 0.6, 0.64) * lower));
        let (skeleton, ids) = b.build().unwrap();
        let limb = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).unwrap();
        let skeleton = Arc::new(skeleton);
        for case in 0..500 {
            let mut pose = Pose::rest(&skeleton);
            let scale = Vec3::new(1.013, 0.912, 1.05);
            pose.set_local(ids[0], JointTransform { rotation: rotation(), scale, ..*pose.local(ids[0]) });
            pose.set_rotation(ids[1], rotation());
            pose.update();
            let way = rotation() * Vec3::X * lower.max(upper);
            let goal = if case % 2 == 0 { pose.position(ids[2]) + way * 0.05 } else { way };
            let before = miss(&pose, ids[2], goal);
            let report = limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
            let left = miss(&pose, ids[2], goal);
            assert!(
                left <= before + 1e-5,
                "{upper}, {lower}, case {case}: {before} grew to {left}, {report:?}"
            );
            assert!(
                !report.reached() || left < 1e-4,
                "{upper}, {lower}, case {case}: reached, but {left} off"
            );
        }
    }
}
