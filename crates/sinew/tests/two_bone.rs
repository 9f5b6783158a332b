//! Judges limbs at known answers, edge cases and for accuracy, in f64.

use crate::common;
use crate::promises::judge;

use std::sync::Arc;

use common::noise;
use sinew::{
    Chain, Goal, JointId, JointTransform, Pole, Pose, Skeleton,
    glam::{Quat, Vec3},
    math,
    solve::{BendSide, LimbOptions, TwoBone, TwoBoneError},
};

/// A leg of three joints from these rest offsets.
fn leg(offsets: [Vec3; 3]) -> (Arc<Skeleton>, [JointId; 3]) {
    let mut b = Skeleton::builder();
    let hip = b.add("hip", None, JointTransform::from_translation(offsets[0]));
    let knee = b.add("knee", Some(hip), JointTransform::from_translation(offsets[1]));
    b.add("ankle", Some(knee), JointTransform::from_translation(offsets[2]));
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
        let report = limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
        let error = miss(&pose, ids[2], goal) / (a + b) as f64;
        assert!(error < 1e-6, "{error:e}: {report:?} {a} {b} {d}");
        assert!((report.position_residual / (a + b)) < 1.5e-6);
        worst = worst.max(error);
        sum += error;
    }
    println!("worst {worst:e}, mean {:e}", sum / count as f64);
}

/// One bone so short that f32 loses it in the other's length: a soak found such limbs moving away from their input.
#[test]
fn a_limb_with_a_grain_for_a_bone_goes_where_it_can() {
    let mut n = noise(29);
    let mut vector = || Vec3::new(n(), n(), n());
    for i in 0..4000 {
        let grain = 10f32.powf(-6.0 - 0.003 * i as f32);
        let (upper, lower) = (vector(), vector());
        let (upper, lower) = if i % 2 == 0 { (upper * grain, lower) } else { (upper, lower * grain) };
        let (s, ids) = leg([Vec3::ZERO, upper, lower]);
        let mut limb = TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap();
        if i % 3 == 0 {
            limb = limb.with_hinge(None);
        }
        let rest = Pose::rest(&s);
        let length = f64::from(upper.length()) + f64::from(lower.length());
        let there = rest.position(ids[2]);
        for goal in [there, vector().normalize() * length as f32, vector() * 3.0] {
            for pole in [Pole::Keep, Pole::Direction(vector())] {
                let mut pose = rest.clone();
                limb.solve(&mut pose, &Goal::position(goal).with_pole(pole), &LimbOptions::new()).unwrap();
                // The end stays on a sphere, up to the length of the short bone.
                let out = (f64::from(goal.length()) - length).abs();
                let missed = miss(&pose, ids[2], goal);
                let more = 3.0 * f64::from(grain) + 2e-6 * (length + out);
                assert!(
                    (missed - out).abs() < more,
                    "{i}, {upper} {lower} {goal} {pole:?}: {missed:e} for {out:e}"
                );
            }
        }
    }
}

/// Limbs whose input is nearly folded: a soak found some unfolding about an axis that was not perpendicular to them.
#[test]
fn a_limb_that_comes_in_nearly_folded_is_as_near_as_its_bones_let_it() {
    let mut n = noise(31);
    let mut vector = || Vec3::new(n(), n(), n());
    for i in 0..4000 {
        let open = 10f32.powf(-7.0 + 0.00125 * i as f32);
        let (upper, aside) = (vector().normalize(), vector());
        let lower = -math::rotate(math::axis_angle(math::perpendicular(upper, aside), open), upper);
        let shorter = 1.0 - 0.01 * (i % 7) as f32;
        let (s, ids) = leg([vector(), upper, lower * shorter]);
        let limb = TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap();
        let mut rest = Pose::rest(&s);
        rest.set_rotation(ids[0], math::axis_angle(aside.normalize(), 2.0));
        rest.update();
        let root = rest.position(ids[0]);
        let [u, l] = [upper, lower * shorter].map(|v| judge::length(judge::v(v)));
        for near in [0.0, 0.3, 0.9, 1.0, 1.1, 3.0] {
            let far = near * 0.01 * (i % 7) as f32;
            let goal = root + vector().normalize() * far;
            let mut pose = rest.clone();
            limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
            let out = ((u - l).abs() - judge::length(judge::sub(judge::v(goal), judge::v(root)))).max(0.0);
            let missed = miss(&pose, ids[2], goal);
            assert!((missed - out).abs() < 4e-6, "{i}, open by {open}, {near}: {missed:e} for {out:e}");
        }
    }
}

#[test]
fn a_goal_too_far_is_faced_and_one_too_near_folds() {
    let (limb, rest, ids) = standing();
    let (a, b) = limb.lengths(&rest);
    let mut pose = rest.clone();
    let report =
        limb.solve(&mut pose, &Goal::position(Vec3::new(3.0, 0.9, 0.0)), &LimbOptions::new()).unwrap();
    assert!((report.out_of_reach - (3.0 - a - b)).abs() < 1e-5);
    assert!(miss(&pose, ids[2], Vec3::new(a + b, 0.9, 0.0)) < 1e-6);
    let mut pose = rest.clone();
    let near = Vec3::new(0.0, 0.9, 0.001);
    let report = limb.solve(&mut pose, &Goal::position(near), &LimbOptions::new()).unwrap();
    let folded = (a - b).abs();
    assert!((report.out_of_reach - (folded - 0.001)).abs() < 1e-5);
    assert!(miss(&pose, ids[2], Vec3::new(0.0, 0.9, folded)) < 1e-6);
}

/// Returns the largest angle in radians between the limb's bones in two poses, and between their rolls.
fn turned(a: &Pose, b: &Pose, ids: [JointId; 3]) -> f64 {
    let mut most = 0.0f64;
    for id in ids {
        let (fa, fb) = (judge::frame(a, id), judge::frame(b, id));
        for k in 0..3 {
            let chord = judge::length(judge::sub(judge::unit(fa.columns[k]), judge::unit(fb.columns[k])));
            most = most.max(2.0 * (0.5 * chord).min(1.0).asin());
        }
    }
    most
}

/// Solves from one pose along a path of goals. Returns the largest turn of a joint, in radians, per length of the limb that
/// the goal moves.
fn speed(
    limb: &TwoBone,
    rest: &Pose,
    ids: [JointId; 3],
    pole: Pole,
    soft: f32,
    path: impl Fn(f32) -> Vec3,
) -> f64 {
    let length = f64::from(limb.lengths(rest).0 + limb.lengths(rest).1);
    let (mut last, mut fastest): (Option<(Pose, Vec3)>, f64) = (None, 0.0);
    for i in 0..=2000 {
        let goal = path(i as f32 / 2000.0);
        let mut pose = rest.clone();
        let report = limb
            .solve(&mut pose, &Goal::position(goal).with_pole(pole), &LimbOptions::new().with_soft(soft))
            .unwrap();
        assert!(!report.branch_changed);
        if let Some((before, from)) = &last {
            let step = judge::length(judge::sub(judge::v(goal), judge::v(*from))) / length;
            // f32 leaves the flexion at full stretch uncertain by two thousandths of a radian.
            fastest = fastest.max((turned(&pose, before, ids) - 2e-3).max(0.0) / step);
        }
        last = Some((pose, goal));
    }
    fastest
}

#[test]
fn a_soft_limb_goes_through_full_stretch_without_a_pop() {
    let (limb, rest, ids) = standing();
    let down = |t: f32| Vec3::new(0.05, 0.9 - 0.6 - 0.6 * t, 0.1);
    let hard = speed(&limb, &rest, ids, Pole::Keep, 0.0, down);
    let soft = speed(&limb, &rest, ids, Pole::Keep, 0.05, down);
    // The flexion is about sqrt(8 (1 - d)) near full stretch, and 1 - d falls by e in each zone of 5 %: its speed is at
    // most sqrt(0.4) / 0.1 radians a length.
    assert!(soft < 7.0, "{soft}");
    assert!(hard > 3.0 * soft, "without the zone it pops: {hard} and {soft}");
}

#[test]
fn a_goal_passes_the_pole_and_the_root_without_a_pop() {
    let (limb, rest, ids) = standing();
    // A kick forward and up across the pole's direction, 1 and 0.06 degrees beside it.
    for beside in [0.01, 0.001, 0.0] {
        let kick = |t: f32| {
            let a = -1.2 + 1.15 * t;
            Vec3::new(beside, 0.9 + 0.7 * a.sin(), 0.7 * a.cos())
        };
        let fast = speed(&limb, &rest, ids, Pole::Direction(Vec3::Z), 0.0, kick);
        assert!(fast < 15.0, "{fast} beside the pole by {beside}");
    }
    // Past the hip at a tenth of the leg. The leg swings over the top, where it is free to, and no further.
    let over = |t: f32| Vec3::new(0.0, 0.81, 0.4 - 0.8 * t);
    let fast = speed(&limb, &rest, ids, Pole::Keep, 0.0, over);
    assert!(fast < 20.0, "{fast}");
}

#[test]
fn straight_legs_bend_about_their_hinge_and_both_sides_are_there() {
    let (s, ids) = leg([Vec3::ZERO, Vec3::NEG_Y * 0.5, Vec3::NEG_Y * 0.5]);
    let mut limb = TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap();
    assert_eq!(limb.hinge(), None, "a straight rest pose tells no hinge");
    let goal = Vec3::new(0.0, -0.8, 0.0);
    for side in [BendSide::Keep, BendSide::Positive, BendSide::Negative] {
        let mut pose = Pose::rest(&s);
        limb = limb.with_hinge(Vec3::X).with_side(side).unwrap();
        limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
        assert!(miss(&pose, ids[2], goal) < 1e-6);
        // About +x, the shin goes from -y to -z, so the knee goes to +z.
        let knee = judge::position(&pose, ids[1]);
        let want = if side == BendSide::Negative { -0.3 } else { 0.3 };
        assert!((knee[2] - want).abs() < 1e-6 && knee[0].abs() < 1e-6, "{side:?}: {knee:?}");
    }
    // Without a hint it bends to some side, always the same.
    limb = limb.with_hinge(None);
    let (mut a, mut b) = (Pose::rest(&s), Pose::rest(&s));
    limb.solve(&mut a, &Goal::position(goal), &LimbOptions::new()).unwrap();
    limb.solve(&mut b, &Goal::position(goal), &LimbOptions::new()).unwrap();
    assert!(miss(&a, ids[2], goal) < 1e-6 && a.locals() == b.locals());
    // A leg folded onto its root unfolds.
    let mut pose = Pose::rest(&s);
    pose.set_rotation(ids[1], Quat::from_xyzw(1.0, 0.0, 0.0, 0.0));
    limb = limb.with_hinge(Vec3::X);
    limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
    assert!(miss(&pose, ids[2], goal) < 1e-6);
}

#[test]
fn a_knee_bent_the_wrong_way_is_turned_round_and_said_so() {
    let (mut limb, mut pose, ids) = standing();
    // The rest pose flexes about its hinge by construction; this bends it back by twice that.
    let hinge = limb.hinge().unwrap();
    pose.set_rotation(ids[1], math::axis_angle(hinge.normalize(), -0.6));
    pose.update();
    let goal = Vec3::new(0.1, 0.3, 0.1);
    let mut kept = pose.clone();
    assert!(!limb.solve(&mut kept, &Goal::position(goal), &LimbOptions::new()).unwrap().branch_changed);
    limb = limb.with_side(BendSide::Positive).unwrap();
    // The branch changes where the knee turns further than the foot's motion explains; here the foot is at its goal already.
    let (mut there, foot) = (pose.clone(), pose.position(ids[2]));
    let report = limb.solve(&mut there, &Goal::position(foot), &LimbOptions::new()).unwrap();
    assert!(report.branch_changed && miss(&there, ids[2], foot) < 1e-6);
    limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
    assert!(miss(&pose, ids[2], goal) < 1e-6);
    // The knees lie on either side of the line from hip to goal.
    let across = |p: &Pose| {
        let hip = judge::v(Vec3::new(0.0, 0.9, 0.0));
        let way = judge::unit(judge::sub(judge::v(goal), hip));
        let knee = judge::sub(judge::position(p, ids[1]), hip);
        judge::sub(knee, judge::scale(way, judge::dot(knee, way)))
    };
    assert!(judge::dot(across(&kept), across(&pose)) < 0.0);
}

#[test]
fn the_knee_turns_to_the_pole_and_then_by_the_swivel() {
    let (limb, rest, ids) = standing();
    let (hip, goal) = (Vec3::new(0.0, 0.9, 0.0), Vec3::new(0.1, 0.3, 0.2));
    let across = |p: &Pose, v: judge::V| {
        let way = judge::unit(judge::sub(judge::v(goal), judge::v(hip)));
        let _ = p;
        judge::unit(judge::sub(v, judge::scale(way, judge::dot(v, way))))
    };
    for pole in [Vec3::new(1.0, 0.5, 1.0), Vec3::new(-2.0, 0.1, 0.3), Vec3::new(0.3, 0.2, -1.0)] {
        let wanted = across(&rest, judge::sub(judge::v(pole), judge::v(hip)));
        let knee = |swivel| {
            let mut pose = rest.clone();
            limb.solve(
                &mut pose,
                &Goal::position(goal).with_pole(Pole::Point(pole)).with_swivel(swivel),
                &LimbOptions::new(),
            )
            .unwrap();
            assert!(miss(&pose, ids[2], goal) < 1e-6);
            across(&pose, judge::sub(judge::position(&pose, ids[1]), judge::v(hip)))
        };
        let found = knee(0.0);
        assert!(judge::length(judge::sub(found, wanted)) < 1e-5, "{found:?} {wanted:?}");
        let turned = knee(0.5);
        // Right-handed about the direction from the hip to the goal.
        let way = judge::unit(judge::sub(judge::v(goal), judge::v(hip)));
        assert!((judge::dot(turned, wanted) - 0.5f64.cos()).abs() < 1e-5);
        assert!((judge::dot(judge::cross(wanted, turned), way) - 0.5f64.sin()).abs() < 1e-5);
    }
}

#[test]
fn the_roll_of_the_animation_is_kept() {
    let (limb, rest, ids) = standing();
    let mut r = noise(7);
    for _ in 0..500 {
        let mut pose = rest.clone();
        let way = Vec3::new(r(), r() - 0.5, r()).normalize();
        limb.solve(&mut pose, &Goal::position(Vec3::new(0.0, 0.9, 0.0) + way * 0.6), &LimbOptions::new())
            .unwrap();
        // The bend plane's normal, carried by the rotation from the limb's old direction to the new about their common
        // perpendicular (Rodrigues' formula, f64).
        let normal = |p: &Pose| {
            let at = ids.map(|id| judge::position(p, id));
            judge::unit(judge::cross(judge::sub(at[1], at[0]), judge::sub(at[2], at[1])))
        };
        let direction =
            |p: &Pose| judge::unit(judge::sub(judge::position(p, ids[2]), judge::position(p, ids[0])));
        let (from, to, n) = (direction(&rest), direction(&pose), normal(&rest));
        let (axis, cos) = (judge::cross(from, to), judge::dot(from, to));
        let carried = judge::add(
            judge::add(judge::scale(n, cos), judge::cross(axis, n)),
            judge::scale(axis, judge::dot(axis, n) / (1.0 + cos)),
        );
        let found = normal(&pose);
        assert!(judge::length(judge::sub(carried, found)) < 2e-5 / (1.0 + cos), "{carried:?} {found:?}");
    }
}

#[test]
fn flexion_remains_as_asked() {
    let (limb, rest, ids) = standing();
    let mut pose = rest.clone();
    let report = limb
        .solve(
            &mut pose,
            &Goal::position(Vec3::new(0.0, -2.0, 0.0)),
            &LimbOptions::new().with_min_flexion(0.2),
        )
        .unwrap();
    assert!(report.out_of_reach > 0.0);
    let at = ids.map(|id| judge::position(&pose, id));
    let (u, v) = (judge::sub(at[1], at[0]), judge::sub(at[2], at[1]));
    let flexion = judge::length(judge::cross(judge::unit(u), judge::unit(v))).asin();
    assert!((flexion - 0.2).abs() < 1e-5, "{flexion}");
}

#[test]
fn a_sole_meets_its_place_with_the_foot_turned_as_asked() {
    let (_, rest, ids) = standing();
    let sole = Vec3::new(0.0, -0.1, 0.08);
    let chain = Chain::new(rest.skeleton(), ids[0], ids[2]).unwrap();
    let chain = chain.with_tip_offset(rest.skeleton(), sole).unwrap();
    let limb = TwoBone::from_chain(rest.skeleton(), chain, ids[1]).unwrap();
    let turn = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5);
    for weight in [0.0, 0.3, 0.7, 1.0] {
        let mut pose = rest.clone();
        let goal =
            Goal::position(Vec3::new(0.1, 0.2, 0.2)).with_rotation(turn).with_rotation_influence(weight);
        limb.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
        let frame = judge::frame(&pose, ids[2]);
        let found = frame.point(judge::v(sole));
        assert!(judge::length(judge::sub(found, judge::v(Vec3::new(0.1, 0.2, 0.2)))) < 1e-6, "{weight}");
        if weight == 1.0 {
            let x = judge::v(math::rotate(turn, Vec3::X));
            assert!(judge::length(judge::sub(frame.columns[0], x)) < 1e-6);
        }
    }
}

#[test]
fn joints_that_make_no_limb_are_named() {
    let (_, rest, ids) = standing();
    let wrong = TwoBone::new(rest.skeleton(), ids[0], ids[0], ids[2]).unwrap_err();
    assert_eq!(wrong.to_string(), "joint `hip` does not lie between joints `hip` and `ankle`");
    assert!(matches!(TwoBone::new(rest.skeleton(), ids[2], ids[1], ids[0]), Err(TwoBoneError::Chain(_))));
}

#[test]
fn a_side_without_a_hinge_is_refused() {
    let (s, ids) = leg([Vec3::ZERO, Vec3::NEG_Y * 0.5, Vec3::NEG_Y * 0.5]);
    let limb = TwoBone::new(&s, ids[0], ids[1], ids[2]).unwrap();
    assert!(limb.clone().with_side(BendSide::Keep).is_ok());
    let error = limb.clone().with_side(BendSide::Negative).unwrap_err().to_string();
    assert!(error.starts_with("the bend side of joint `knee` is Negative, but it has no hinge"), "{error}");
    let sided = limb.with_hinge(Vec3::X).with_side(BendSide::Positive).unwrap();
    assert_eq!((sided.hinge(), sided.side()), (Some(Vec3::X), BendSide::Positive));
    let straight = sided.with_hinge(Vec3::ZERO);
    assert_eq!((straight.hinge(), straight.side()), (None, BendSide::Keep));
}

/// The end is the offset's point and the tip is the middle joint. Its rotation goal comes before the position.
#[test]
fn two_joints_and_an_offset_are_a_limb() {
    let (_, rest, ids) = standing();
    let skeleton = rest.skeleton();
    let chain = Chain::new(skeleton, ids[0], ids[1]).unwrap();
    assert!(matches!(
        TwoBone::from_chain(skeleton, chain.clone(), ids[1]),
        Err(TwoBoneError::NotBetween { .. })
    ));
    let ankle = Vec3::new(0.0, -0.42, -0.05);
    let chain = chain.with_tip_offset(skeleton, ankle).unwrap();
    let limb = TwoBone::from_chain(skeleton, chain, ids[1]).unwrap();
    let whole = TwoBone::new(skeleton, ids[0], ids[1], ids[2]).unwrap();
    assert_eq!(limb.hinge(), whole.hinge());
    let goal = Goal::position(Vec3::new(0.1, 0.2, 0.3));
    let (mut pose, mut other) = (rest.clone(), rest.clone());
    limb.solve(&mut pose, &goal, &LimbOptions::new()).unwrap();
    whole.solve(&mut other, &goal, &LimbOptions::new()).unwrap();
    assert!(miss(&pose, ids[2], goal.position.unwrap()) < 1e-6);
    assert!(turned(&pose, &other, ids) < 1e-5);
    // The knee has its goal rotation, and the thigh moves it as near as it can to the position that this needs.
    let turn = math::axis_angle(Vec3::new(0.6, 0.0, 0.8), 0.5);
    let mut pose = rest.clone();
    limb.solve(&mut pose, &goal.with_rotation(turn), &LimbOptions::new()).unwrap();
    assert!(math::angle_between(pose.model_rotation(ids[1]), turn) < 1e-6);
    let hip = judge::position(&pose, ids[0]);
    let needs = judge::sub(judge::v(goal.position.unwrap() - math::rotate(turn, ankle)), hip);
    let thigh = judge::sub(judge::position(&pose, ids[1]), hip);
    assert!(judge::length(judge::cross(judge::unit(needs), judge::unit(thigh))) < 1e-6);
}

/// However short one bone is beside the other, the end is as near to a goal as the limb's reach allows.
#[test]
fn a_bone_that_f32_loses_beside_the_other_leads_the_end_nowhere_else() {
    let mut noise = noise(12);
    let mut vector = move || Vec3::new(noise(), noise(), noise());
    for decade in 1..=30 {
        for _ in 0..50 {
            let upper = vector().normalize() * 10f32.powi(-decade);
            let (limb, mut pose, ids) = {
                let (skeleton, ids) = leg([Vec3::ZERO, upper, vector().normalize()]);
                (TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).unwrap(), Pose::rest(&skeleton), ids)
            };
            let goal = vector() * 10f32.powf(-4.0 * vector().x.abs());
            limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
            let [a, b, far] = [f64::from(upper.length()), 1.0, goal.as_dvec3().length()];
            let least = (far - a - b).max((a - b).abs() - far).max(0.0);
            let off = miss(&pose, ids[2], goal);
            assert!(off < least + 3e-6, "upper {upper}, goal {goal}: {off} for {least}");
        }
    }
}

/// A limb that is stretched along one axis, and whose squared lengths overflow, ends no further from its goal than its
/// input.
#[test]
fn a_stretched_limb_beyond_what_squares_hold_goes_no_further_from_its_goal() {
    let mut noise = noise(13);
    let mut vector = move || Vec3::new(noise(), noise(), noise());
    for case in 0..400 {
        let size = [1.0f32, 1e18, 5e21, 1e30][case % 4];
        let upper = vector().normalize() * size * 10f32.powi(-(case as i32 % 6));
        let mut b = Skeleton::builder();
        let scale = Vec3::new(1.0, 1.05, 1.0);
        let root = b.add("root", None, JointTransform { scale, ..JointTransform::IDENTITY });
        let middle = b.add("middle", Some(root), JointTransform::from_translation(upper));
        b.add("tip", Some(middle), JointTransform::from_translation(vector().normalize() * size));
        let (skeleton, ids) = b.build().unwrap();
        let skeleton = Arc::new(skeleton);
        let limb = TwoBone::new(&skeleton, ids[0], ids[1], ids[2]).unwrap();
        let mut pose = Pose::rest(&skeleton);
        for id in &ids[..2] {
            pose.set_rotation(*id, math::axis_angle(vector().normalize(), vector().x));
        }
        pose.update();
        let goal = vector() * size * 10f32.powf(-20.0 * vector().x.abs());
        let before = miss(&pose, ids[2], goal);
        limb.solve(&mut pose, &Goal::position(goal), &LimbOptions::new()).unwrap();
        let after = miss(&pose, ids[2], goal);
        assert!(
            after <= before + 4e-6 * f64::from(size),
            "{size:e}, upper {upper}: from {before:e} to {after:e}"
        );
    }
}

#[test]
fn a_soft_zone_lies_within_the_reach() {
    let (limb, rest, ids) = standing();
    let (upper, lower) = limb.lengths(&rest);
    for soft in [0.0, 0.02, 0.3] {
        for by in [-0.1f32, -1e-3, 1e-3, 0.2, 1e6] {
            let goal = rest.position(ids[0]) + Vec3::new(0.6, 0.0, 0.8) * (upper + lower + by);
            let mut pose = rest.clone();
            let options = LimbOptions::new().with_soft(soft);
            let report = limb.solve(&mut pose, &Goal::position(goal), &options).unwrap();
            let wanted = by.max(0.0);
            assert!((report.out_of_reach - wanted).abs() < 1e-5 + 1e-6 * wanted, "{soft}, {by}: {report:?}");
        }
    }
}

/// With an offset at the tip and a rotation goal, the tip joint is led, and the pole is that of the line to it.
#[test]
fn bounded_frames_of_a_limb_with_an_offset_come_to_the_pole() {
    let (skeleton, ids) = leg([Vec3::Y, Vec3::new(0.0, -0.5, 0.05), Vec3::new(0.0, -0.45, -0.05)]);
    let chain =
        Chain::new(&skeleton, ids[0], ids[2]).unwrap().with_tip_offset(&skeleton, Vec3::Z * 0.2).unwrap();
    let limb = TwoBone::from_chain(&skeleton, chain, ids[1]).unwrap();
    let goal = Goal::position(Vec3::new(0.2, 0.35, 0.3))
        .with_rotation(math::axis_angle(Vec3::Y, 0.8))
        .with_pole(Pole::Direction(Vec3::new(1.0, 0.2, -0.3)));
    let mut answer = Pose::rest(&skeleton);
    limb.solve(&mut answer, &goal, &LimbOptions::new()).unwrap();
    let options = LimbOptions::new().with_max_turn(0.05);
    let mut pose = Pose::rest(&skeleton);
    for _ in 0..200 {
        limb.solve(&mut pose, &goal, &options).unwrap();
    }
    for joint in ids {
        let off = pose.position(joint).distance(answer.position(joint));
        assert!(off < 1e-4, "joint {joint} stays {off} m from the answer");
    }
}

/// A bound on turns that binds nowhere takes a limb along the path for all cases.
#[test]
fn the_path_for_the_common_case_gives_the_bits_of_the_path_for_all() {
    let mut r = noise(5);
    let (mut common, mut all) = (0, 0);
    for case in 0..20_000u32 {
        let mut v = || Vec3::new(r(), r(), r());
        let mut q = || math::normalize(Quat::from_xyzw(v().x, v().y, v().z, 0.3 + v().x));
        let rotations = [0; 6].map(|_| q());
        // Parent, hip, a twist joint, knee, ankle, toe; one in eight has a scale somewhere.
        let mut b = Skeleton::builder();
        let mut scale = 1.0;
        for joint in 0..6usize {
            // Bones keep their lengths in model space below any scale.
            let mut local = JointTransform::from_translation(v() * (0.5 / scale));
            if case % 48 == 8 * joint as u32 {
                local.scale = Vec3::splat([0.01, 100.0, -2.0, 1e-25, 1e25][case as usize / 48 % 5]);
                scale = local.scale.x;
            }
            b.add(format!("{joint}"), joint.checked_sub(1), local);
        }
        let (s, ids) = b.build().unwrap();
        let side = [BendSide::Keep, BendSide::Positive, BendSide::Negative][case as usize % 3];
        let limb = TwoBone::new(&s, ids[1], ids[3], ids[4]).unwrap().with_hinge(v());
        let limb = limb.with_side(side).unwrap();
        let mut pose = Pose::rest(&Arc::new(s));
        ids.iter().zip(rotations).for_each(|(&joint, rotation)| pose.set_rotation(joint, rotation));
        let far = 10f32.powf(v().x - 1.0);
        let end = limb.points(&pose).tip;
        let mut goal = Goal::position(end + v() * if case % 2 == 0 { far } else { 1.0 });
        goal.pole = [Pole::Keep, Pole::Point(v()), Pole::Direction(v())][case as usize / 3 % 3];
        let mut options = LimbOptions::new();
        if case % 5 == 0 {
            (options.soft, options.min_flexion) = (v().x.abs(), v().x.abs());
        }
        let mut other = pose.clone();
        let report = limb.solve(&mut pose, &goal, &options);
        let expected = limb.solve(&mut other, &goal, &options.with_max_turn(100.0));
        assert_eq!(report, expected, "case {case}");
        let bits = |pose: &Pose| -> Vec<_> {
            let numbers = |l: &JointTransform| l.rotation.to_array().map(f32::to_bits);
            let frames = ids.iter().map(|&j| pose.model(j).to_cols_array().map(f32::to_bits));
            pose.locals().iter().map(numbers).zip(frames).collect()
        };
        assert_eq!(bits(&pose), bits(&other), "case {case}");
        common += report.map_or(0, |report| report.iterations);
        all += 1;
    }
    assert!(common > all / 2, "{common} of {all} moved");
}

#[test]
fn numbers_that_are_not_allowed_leave_even_rotations_that_are_not_normalised() {
    let (limb, mut pose, ids) = standing();
    pose.set_rotation(ids[0], Quat::from_xyzw(0.0, 0.0, 0.0, 1.1));
    let before = pose.locals().to_vec();
    let plain = Goal::position(Vec3::new(0.1, 0.3, 0.2));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            let v = axis.map(|c| if c == 1.0 { bad } else { 0.5 });
            for goal in
                [Goal::position(v), plain.with_pole(Pole::Point(v)), plain.with_pole(Pole::Direction(v))]
            {
                assert!(limb.solve(&mut pose, &goal, &LimbOptions::new()).is_err(), "{goal:?}");
            }
            let hinged = limb.clone().with_hinge(v);
            assert!(hinged.solve(&mut pose, &plain, &LimbOptions::new()).is_err(), "{v}");
        }
        for goal in
            [plain.with_swivel(bad), plain.with_position_influence(bad), plain.with_rotation_influence(bad)]
        {
            assert!(limb.solve(&mut pose, &goal, &LimbOptions::new()).is_err(), "{goal:?}");
        }
        let options = LimbOptions::new();
        for options in [options.with_soft(bad), options.with_min_flexion(bad), options.with_influence(bad)] {
            assert!(limb.solve(&mut pose, &plain, &options).is_err(), "{options:?}");
        }
        assert_eq!(pose.locals(), before);
    }
}
