//! Judges free chains by closed forms, beyond the promises that every solver keeps.

use crate::common;
use crate::held;
use crate::promises::judge;

use std::sync::Arc;

use held::{Held, held};
use sinew::{
    Chain, Goal, JointId, JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    joint::Joint,
    math,
    solve::{Auto, AutoMethod, ChainSolverError, FreeChain, PointChain, Tolerance},
};

/// Ten bones of a tenth each along Y, each bent by `bend` about X.
fn arc(bend: f32) -> (Pose, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=10 {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Y * 0.1));
    }
    let (skeleton, ids) = b.build().unwrap();
    let mut pose = Pose::rest(&Arc::new(skeleton));
    for &id in &ids[1..10] {
        pose.set_rotation(id, math::axis_angle(Vec3::X, bend));
    }
    pose.update();
    (pose, ids)
}

/// Tolerance of a hundred-thousandth of the length.
fn near(solver: FreeChain) -> Held<FreeChain> {
    let mut near = held(solver);
    near.options.position_tolerance = Tolerance::Share(1e-5);
    near
}

fn solver(pose: &Pose, ids: &[JointId]) -> Held<FreeChain> {
    near(FreeChain::new(pose.skeleton(), ids[0], ids[10]).unwrap())
}

#[test]
fn angles_to_the_reach_axis_scale_near_full_stretch() {
    let (mut pose, ids) = arc(0.02);
    // For small angles the chain keeps its shape: all bends are multiplied by one number.
    let goal = pose.position(ids[10]).normalize() * 0.9999;
    solver(&pose, &ids).solve(&mut pose, &Goal::position(goal)).unwrap();
    let bends: Vec<f32> =
        ids[1..10].iter().map(|&id| math::rotation_vector(pose.local(id).rotation).x).collect();
    let mean = bends.iter().sum::<f32>() / 9.0;
    assert!(mean < 0.02);
    assert!(bends.iter().all(|b| (b - mean).abs() < 0.02 * mean), "{bends:?}");
}

#[test]
fn a_straight_chain_folds_in_the_plane_of_its_bend_axis() {
    for axis in [Vec3::X, Vec3::Z, Vec3::new(0.6, 0.5, -0.8)] {
        let (mut pose, ids) = arc(0.0);
        let mut solver = solver(&pose, &ids);
        solver.bend = Some(axis);
        let report = solver.solve(&mut pose, &Goal::position(Vec3::Y * 0.5)).unwrap();
        assert!(report.position_residual < 2e-5 && !report.branch_changed, "{report:?}");
        let across = Vec3::new(axis.x, 0.0, axis.z).normalize();
        for &id in &ids {
            assert!(pose.position(id).dot(across).abs() < 1e-4);
        }
        // It folds in the positive direction about the axis.
        let sum: Vec3 = ids[1..10].iter().map(|&id| math::rotation_vector(pose.local(id).rotation)).sum();
        assert!(sum.dot(across) > 0.0);
    }
}

#[test]
fn the_way_back_leads_back() {
    let (start, ids) = arc(0.2);
    let mut solver = solver(&start, &ids);
    solver.options.position_tolerance = Tolerance::Share(f32::MIN_POSITIVE);
    let home = start.position(ids[10]);
    let mut pose = start.clone();
    for radius in [0.9, 0.5, 0.2, 0.7] {
        solver.solve(&mut pose, &Goal::position(home.normalize() * radius)).unwrap();
    }
    solver.solve(&mut pose, &Goal::position(home)).unwrap();
    // Maps along one line are a group of one parameter.
    for &id in &ids {
        assert!(math::angle_between(pose.local(id).rotation, start.local(id).rotation) < 0.02);
    }
}

#[test]
fn goals_with_rotation_pole_and_offset_are_met_together() {
    let (start, ids) = arc(0.25);
    let chain = Chain::new(start.skeleton(), ids[0], ids[10]).unwrap();
    let chain = chain.with_tip_offset(start.skeleton(), Vec3::new(0.02, 0.05, 0.0)).unwrap();
    let mut solver = near(FreeChain::from_chain(start.skeleton(), chain).unwrap());
    let rotation = math::normalize(Quat::from_xyzw(0.3, -0.5, 0.1, 0.7));
    for (at, pole) in [(Vec3::new(0.3, 0.4, 0.2), Vec3::X), (Vec3::new(-0.2, -0.5, 0.4), Vec3::Y)] {
        let mut pose = start.clone();
        let goal = Goal::position(at).with_rotation(rotation).with_pole(Pole::Direction(pole));
        let report = solver.solve(&mut pose, &goal).unwrap();
        assert!(report.reached());
        assert!(report.position_residual < 3e-5 && report.rotation_residual < 1e-3, "{report:?}");
        // The mean of the joints, perpendicular to the line to the goal, points along the pole.
        let tip = pose.position(ids[10]).normalize();
        let mean = ids[1..10].iter().map(|&id| pose.position(id)).sum::<Vec3>() / 9.0;
        let (own, wanted) = (mean - tip * mean.dot(tip), pole - tip * pole.dot(tip));
        assert!(own.normalize().dot(wanted.normalize()) > 0.999, "{own} {wanted}");
    }
}

#[test]
fn soft_chains_slow_down_and_stretch_only_where_asked() {
    let (start, ids) = arc(0.2);
    let mut solver = solver(&start, &ids);
    solver.options.soft = 0.1;
    let length = |pose: &Pose| solver_length(pose, &ids);
    let mut pose = start.clone();
    let report = solver.solve(&mut pose, &Goal::position(Vec3::X * 1.05)).unwrap();
    let reached = pose.position(ids[10]).length();
    let wanted = sinew::solve::soften(1.05, 1.0, 0.1);
    assert!((reached - wanted).abs() < 2e-5 && (length(&pose) - 1.0).abs() < 1e-5);
    // The zone lies within the reach.
    assert!((report.out_of_reach - 0.05).abs() < 2e-5);
    let report = solver.solve(&mut start.clone(), &Goal::position(Vec3::X * 0.97)).unwrap();
    assert!(report.out_of_reach == 0.0 && report.position_residual > 0.01, "{report:?}");

    solver.stretch = 1.2;
    let mut pose = start.clone();
    let report = solver.solve(&mut pose, &Goal::position(Vec3::X * 1.05)).unwrap();
    assert!(report.position_residual < 3e-5 && report.reached(), "{report:?}");
    assert!(length(&pose) > 1.05 && length(&pose) < 1.2);
    solver.solve(&mut pose, &Goal::position(Vec3::X * 0.3)).unwrap();
    let mut pose = start.clone();
    let report = solver.solve(&mut pose, &Goal::position(Vec3::X * 3.0)).unwrap();
    assert!((length(&pose) - 1.2).abs() < 1e-4 && report.out_of_reach > 0.0);
}

fn solver_length(pose: &Pose, ids: &[JointId]) -> f32 {
    ids.windows(2).map(|w| pose.position(w[0]).distance(pose.position(w[1]))).sum()
}

#[test]
fn what_is_no_free_chain_is_refused_by_name() {
    let (pose, ids) = arc(0.1);
    let mut skeleton = (**pose.skeleton()).clone();
    assert!(matches!(
        FreeChain::new(&skeleton, ids[3], ids[3]),
        Err(ChainSolverError::Single { joint }) if joint == "3"
    ));
    assert!(matches!(FreeChain::new(&skeleton, ids[3], ids[2]), Err(ChainSolverError::Chain(_))));
    skeleton.set_joint(ids[4], Joint::FIXED).unwrap();
    let error = FreeChain::new(&skeleton, ids[0], ids[10]).unwrap_err();
    assert!(error.to_string().contains("`4`"), "{error}");
    // A fixed tip matters only for rotation goals.
    skeleton.set_joint(ids[4], Joint::FREE).unwrap();
    skeleton.set_joint(ids[10], Joint::FIXED).unwrap();
    let skeleton = Arc::new(skeleton);
    let mut fixed = near(FreeChain::new(&skeleton, ids[0], ids[10]).unwrap());
    let mut other = Pose::rest(&skeleton);
    assert!(fixed.solve(&mut other, &Goal::position(Vec3::X * 0.5)).is_ok());
    assert!(fixed.solve(&mut other, &Goal::position(Vec3::X * 0.5).with_rotation(Quat::IDENTITY)).is_err());
    assert_eq!(held(Auto::new(&skeleton, ids[0], ids[10]).unwrap()).method(), AutoMethod::Limited);
    assert_eq!(held(Auto::new(pose.skeleton(), ids[0], ids[10]).unwrap()).method(), AutoMethod::Free);
    let mut wrong = solver(&pose, &ids);
    wrong.stretch = 0.5;
    assert!(wrong.solve(&mut pose.clone(), &Goal::NONE).is_err());
}

#[test]
fn strands_keep_their_lengths_for_ever() {
    let mut points: Vec<Vec3> = (0..=30).map(|i| Vec3::new(0.0, 0.0, 0.05 * i as f32)).collect();
    let mut point_chain = held(PointChain::new(&points).unwrap());
    let lengths = point_chain.lengths().to_vec();
    for frame in 0..2000 {
        let f = frame as f32 * 0.05;
        let root = Vec3::new(f.sin() * 0.3, 0.2, 0.0);
        points[0] = root;
        let goal =
            root + Vec3::new((1.3 * f).sin(), f.cos(), (0.7 * f).sin()) * (0.7 + 0.4 * (0.3 * f).sin());
        let report = point_chain.solve(&mut points, goal).unwrap();
        assert_eq!(points[0], root);
        let (x, missed) = ((goal - root).length(), points[30].distance(goal));
        assert!((missed - (x - 1.5).max(0.0)).abs() < 3e-5, "{frame}: {missed} {report:?}");
        assert!((missed - report.position_residual).abs() < 1e-6);
        for (w, l) in points.windows(2).zip(&lengths) {
            assert!((w[0].distance(w[1]) - l).abs() < 1e-6);
        }
    }
    assert!(PointChain::new(&points[..1]).is_err());
    assert!(point_chain.solve(&mut points[..5], Vec3::X).is_err());
    points[3].x = f32::NAN;
    assert!(point_chain.solve(&mut points, Vec3::X).is_err());
}

#[test]
fn a_bone_beside_others_of_no_length_meets_goals_at_its_own_length() {
    let mut x = 1u64;
    let mut r = || {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        (x >> 40) as f32 / (1u32 << 23) as f32 - 1.0
    };
    for _ in 0..5000 {
        let mut v = || Vec3::new(r(), r(), r());
        let mut b = Skeleton::builder();
        let root = b.add("root", None, JointTransform::from_translation(v() * 300.0));
        let middle = b.add("middle", Some(root), JointTransform::from_translation(v()));
        b.add("tip", Some(middle), JointTransform::IDENTITY);
        let (skeleton, ids) = b.build().unwrap();
        let mut pose = Pose::rest(&Arc::new(skeleton));
        let mut solver = near(FreeChain::new(pose.skeleton(), ids[0], ids[2]).unwrap());
        let (at, bone) = (pose.position(ids[0]), pose.position(ids[2]) - pose.position(ids[0]));
        let goal = at + v().normalize() * bone.length();
        let report = solver.solve(&mut pose, &Goal::position(goal)).unwrap();
        pose.check_finite().unwrap();
        assert!(report.position_residual < 1e-3, "{report:?}");
    }
}

#[test]
fn a_goal_far_away_is_as_far_out_of_reach_as_it_is() {
    for far in [1.5, 5.0, 1e3, 1e6, 1e9] {
        let (mut pose, ids) = arc(0.1);
        let report =
            solver(&pose, &ids).solve(&mut pose, &Goal::position(Vec3::new(0.6, 0.8, 0.0) * far)).unwrap();
        let by = report.out_of_reach;
        assert!(by > 0.0, "{far}: {:?}", report.outcome);
        assert!((by - (far - 1.0)).abs() <= 1e-5 * far, "{far}: {by}");
    }
}

/// Bones of all lengths, folded tightly: over many passes a point chain's bones keep their lengths, to f32's resolution of
/// positions.
#[test]
fn strands_folded_tight_keep_their_lengths() {
    let mut x = 3u32;
    let mut r = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    for _ in 0..20_000 {
        let mut points = vec![Vec3::ZERO];
        for i in 0..9 {
            let bone = Vec3::new(r(), r(), r()) * 10f32.powf(1.5 * r());
            points.push(points[i] + bone);
        }
        let mut point_chain = held(PointChain::new(&points).unwrap());
        let goal = Vec3::new(r(), r(), r()) * point_chain.lengths().iter().sum::<f32>() * r().abs();
        point_chain.solve(&mut points, goal).unwrap();
        for (w, &length) in points.windows(2).zip(point_chain.lengths()) {
            let is = (w[1].as_dvec3() - w[0].as_dvec3()).length();
            let rounding = 2e-7 * (w[0].length() + w[1].length() + length);
            assert!((is - f64::from(length)).abs() < f64::from(rounding), "{length} became {is}");
        }
    }
}

/// The bound on turns holds for the tip too, under a rotation goal.
#[test]
fn a_tip_turns_no_further_than_a_joint_may() {
    let (pose, ids) = arc(0.3);
    for offset in [Vec3::ZERO, Vec3::Y * 0.1] {
        let chain = Chain::new(pose.skeleton(), ids[0], ids[ids.len() - 1]).unwrap();
        let chain = chain.with_tip_offset(pose.skeleton(), offset).unwrap();
        let mut free = near(FreeChain::from_chain(pose.skeleton(), chain).unwrap());
        for bound in [0.001, 0.1, 1.0] {
            free.options.max_turn = bound;
            let mut now = pose.clone();
            let wanted = math::mul(Quat::from_rotation_x(2.0), pose.model_rotation(ids[ids.len() - 1]));
            let goal = Goal::position(Vec3::new(0.4, 0.5, 0.2)).with_rotation(wanted);
            let report = free.solve(&mut now, &goal).unwrap();
            assert!(!report.reached() && report.rotation_residual > 0.5);
            for &joint in &ids {
                let turned = math::angle_between(pose.local(joint).rotation, now.local(joint).rotation);
                assert!(turned <= bound + 1e-6, "{joint} turned {turned} of {bound}");
            }
        }
    }
}

/// Returns the distance from the root that a chain with this reach and soft zone moves its end to.
fn softened(far: f64, reach: f64, soft: f64) -> f64 {
    let (zone, onset) = (soft * reach, reach - soft * reach);
    if far <= onset { far } else { onset + zone * (1.0 - ((onset - far) / zone).exp()) }
}

/// Promise 7 where bones change their lengths as joints turn, and where a solve ends early in its soft zone.
#[test]
fn chains_that_are_stretched_inside_or_cut_short_go_no_further_from_their_goal() {
    let mut r = common::noise(7);
    let mut moved = 0;
    for case in 0..4000 {
        let stretched = case % 2 == 0;
        let mut b = Skeleton::builder();
        let mut last = b.add("0", None, JointTransform::IDENTITY);
        let mut vector = || Vec3::new(r(), r(), r());
        for i in 1..=5 {
            let scale = if stretched { Vec3::ONE + 0.06 * vector() } else { Vec3::ONE };
            let rotation = Quat::from_vec4((vector() * 0.4).extend(1.0)).normalize();
            let offset = vector() * 10f32.powf(vector().x);
            last = b.add(format!("{i}"), Some(last), JointTransform { translation: offset, rotation, scale });
        }
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        let mut solver = near(FreeChain::new(&skeleton, ids[0], ids[5]).unwrap());
        let mut pose = Pose::rest(&skeleton);
        let places = |pose: &Pose| [0, 1, 2, 3, 4, 5].map(|i| judge::position(pose, ids[i]));
        let apart = |a, b| judge::length(judge::sub(a, b));
        let before = places(&pose);
        let length: f64 = before.windows(2).map(|w| apart(w[0], w[1])).sum();
        let goal = vector() * (length as f32) * if case % 3 == 0 { 0.05 } else { 2.0 };
        if stretched {
            solver.options.position_tolerance = Tolerance::Share([1e-5, 0.1][case / 2 % 2]);
        } else {
            solver.options = solver.options.with_max_iterations(1).with_soft(0.3);
        }
        if solver.solve(&mut pose, &Goal::position(goal)).is_err() {
            continue;
        }
        let far = apart(judge::v(goal), [0.0; 3]);
        let share = if stretched { 1.0 } else { softened(far, length, 0.3) / far };
        let place = judge::scale(judge::v(goal), share);
        let after = places(&pose);
        moved += usize::from(after != before);
        let (was, is) = (apart(before[5], place), apart(after[5], place));
        assert!(is <= was + 3e-6 * length, "{case}: {was} to {is} of {length}");
    }
    assert!(moved > 2000, "{moved}");
}

/// A nearly straight chain turns by the whole swivel angle, although its joints hardly leave its line.
#[test]
fn nearly_straight_chains_swivel_as_far_as_is_asked() {
    for bend in [0.3, 0.02, 0.005] {
        let (start, ids) = arc(bend);
        let mut pose = start.clone();
        let end = start.position(ids[10]);
        solver(&start, &ids).solve(&mut pose, &Goal::position(end).with_swivel(0.8)).unwrap();
        let across = |pose: &Pose| {
            let (mean, axis) = (pose.position(ids[5]), end.normalize());
            mean - axis * mean.dot(axis)
        };
        let (from, to) = (across(&start), across(&pose));
        let angle = from.cross(to).dot(end.normalize()).atan2(from.dot(to));
        assert!((angle - 0.8).abs() < 1e-2, "{bend}: {angle}");
    }
}
