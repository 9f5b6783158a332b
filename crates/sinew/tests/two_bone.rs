//! The limb: known answers, edges, and the accuracy, judged in f64.

#[path = "promises/judge.rs"]
#[allow(dead_code)]
mod judge;

use std::sync::Arc;

use sinew::{
    Goal, JointId, Pose, Skeleton, Status, Transform,
    glam::{Quat, Vec3},
    math,
    solve::TwoBone,
};

/// A leg of three joints from these rest offsets.
fn leg(offsets: [Vec3; 3]) -> (Arc<Skeleton>, [JointId; 3]) {
    let mut b = Skeleton::builder();
    let hip = b.add("hip", None, Transform::from_translation(offsets[0]));
    let knee = b.add("knee", Some(hip), Transform::from_translation(offsets[1]));
    b.add("ankle", Some(knee), Transform::from_translation(offsets[2]));
    let (skeleton, ids) = b.build().unwrap();
    (Arc::new(skeleton), [ids[0], ids[1], ids[2]])
}

fn standing() -> (TwoBone, Pose, [JointId; 3]) {
    let (s, ids) = leg([Vec3::new(0.0, 0.9, 0.0), Vec3::new(0.0, -0.45, 0.05), Vec3::new(0.0, -0.42, -0.05)]);
    (TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap(), Pose::rest(&s), ids)
}

fn miss(pose: &Pose, tip: JointId, goal: Vec3) -> f64 {
    judge::length(judge::sub(judge::position(pose, tip), judge::v(goal)))
}

/// A fixed pseudo-random sequence in [-1, 1].
fn noise(seed: u64) -> impl FnMut() -> f32 {
    let mut x = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

#[test]
fn random_goals_in_reach_are_met_to_a_millionth_of_the_leg() {
    let mut r = noise(1);
    let (mut worst, mut sum, count) = (0.0f64, 0.0f64, 20_000);
    for _ in 0..count {
        let scale = 10f32.powf(3.0 * r());
        let mut v = || Vec3::new(r(), r(), r());
        let (hip, thigh, shin) = (v() * 0.3, v(), v());
        let (s, ids) = leg([hip * scale, thigh * scale, shin * scale]);
        let limb = TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap();
        let mut pose = Pose::rest(&s);
        for id in ids {
            pose.set_rotation(id, math::normalize(Quat::from_xyzw(v().x, v().y, v().z, v().x)));
        }
        pose.update();
        let (a, b) = limb.lengths(&pose);
        let d = (a - b).abs() + (a + b - (a - b).abs()) * (0.5 + 0.5 * v().x);
        let way = v();
        if way.length() < 0.1 || a.min(b) < 0.05 * a.max(b) {
            continue;
        }
        let goal = pose.position(ids[0]) + way.normalize() * d;
        let report = limb.solve(&mut pose, &Goal::at(goal)).unwrap();
        let error = miss(&pose, ids[2], goal) / (a + b) as f64;
        assert!(error < 1e-6, "{error:e}: {report:?} {a} {b} {d}");
        assert!((report.position_residual / (a + b)) < 1.5e-6);
        worst = worst.max(error);
        sum += error;
    }
    println!("worst {worst:e}, mean {:e}", sum / count as f64);
}

#[test]
fn a_goal_too_far_is_faced_and_one_too_near_folds() {
    let (limb, rest, ids) = standing();
    let (a, b) = limb.lengths(&rest);
    let mut pose = rest.clone();
    let report = limb.solve(&mut pose, &Goal::at(Vec3::new(3.0, 0.9, 0.0))).unwrap();
    assert!(matches!(report.status, Status::Unreachable { by } if (by - (3.0 - a - b)).abs() < 1e-5));
    assert!(miss(&pose, ids[2], Vec3::new(a + b, 0.9, 0.0)) < 1e-6);
    let mut pose = rest.clone();
    let near = Vec3::new(0.0, 0.9, 0.001);
    let report = limb.solve(&mut pose, &Goal::at(near)).unwrap();
    let folded = (a - b).abs();
    assert!(matches!(report.status, Status::Unreachable { by } if (by - (folded - 0.001)).abs() < 1e-5));
    assert!(miss(&pose, ids[2], Vec3::new(0.0, 0.9, folded)) < 1e-6);
}
