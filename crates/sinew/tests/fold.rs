//! Judges folding: bends that keep their ratios and sides, distances by the cosine rule, chains that are straight, limits.
//! Angles are measured in f64 from positions.

use std::sync::Arc;

use sinew::{
    Chain, Goal, JointId, JointTransform, Outcome, Pose, Skeleton,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Fold, LimbOptions, TwoBone},
};

use crate::{common::Random, held::held, promises::judge};

struct Dice(Random);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f32 {
        self.0.between(low, high) as f32
    }

    fn direction(&mut self) -> Vec3 {
        self.0.direction().as_vec3()
    }
}

/// A chain from the ends of its bones.
fn chain(bones: &[Vec3], joint: impl Fn(usize) -> Joint) -> (Pose, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let at = JointTransform::from_translation;
    let above = JointTransform { rotation: Quat::from_rotation_z(0.7), ..at(Vec3::new(0.3, -0.2, 0.5)) };
    let above = b.add("above", None, above);
    let mut last = b.add("0", Some(above), at(Vec3::new(0.1, 0.2, 0.0)));
    let mut turned = Quat::IDENTITY;
    for (n, bone) in bones.iter().enumerate() {
        // Joints that are turned against each other, so that no axis is the same in two frames.
        let turn = Quat::from_euler(sinew::glam::EulerRot::XYZ, 0.4 * n as f32, -0.3, 0.9);
        let local = JointTransform { rotation: turn, ..at(turned.inverse() * *bone) };
        turned *= turn;
        last = b.add(format!("{}", n + 1), Some(last), local);
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for n in 0..bones.len() {
        skeleton.set_joint(ids[n + 1], joint(n)).unwrap();
    }
    (Pose::rest(&Arc::new(skeleton)), ids[1..].to_vec())
}

/// The signed bend of each inner joint, about the axis about which it bends in the pose `of`.
fn bends(pose: &Pose, of: &Pose, ids: &[JointId]) -> Vec<f64> {
    let at = |pose: &Pose, n: usize| DVec3::from(judge::position(pose, ids[n]));
    let line = |pose: &Pose, n: usize| (at(pose, n + 1) - at(pose, n)).normalize();
    let frame = |pose: &Pose, n: usize| judge::frame(pose, ids[n]).columns.map(DVec3::from);
    (1..ids.len() - 1)
        .map(|n| {
            // The axis, as the joint above sees it.
            let axis = line(of, n - 1).cross(line(of, n)).normalize_or_zero();
            let (then, now) = (frame(of, n - 1), frame(pose, n - 1));
            let axis: DVec3 = (0..3).map(|k| now[k].normalize() * then[k].normalize().dot(axis)).sum();
            let (u, v) = (line(pose, n - 1), line(pose, n));
            u.cross(v).dot(axis).atan2(u.dot(v))
        })
        .collect()
}

/// Bones of a leg, with random bends.
fn leg(dice: &mut Dice, bones: usize) -> Vec<Vec3> {
    let mut side = 1.0;
    (0..bones)
        .map(|_| {
            side = -side;
            let (out, across) = (dice.between(0.1, 0.5) * side, dice.between(-0.15, 0.15));
            Vec3::new(across, -1.0, out) * dice.between(0.2, 0.5)
        })
        .collect()
}

#[test]
fn all_bends_change_by_one_factor_and_keep_their_sides() {
    let mut dice = Dice(Random::of(5));
    let mut met = 0;
    for case in 0..300 {
        let bones = leg(&mut dice, 3 + case % 4);
        let (rest, ids) = chain(&bones, |_| Joint::FREE);
        let (root, tip) = (ids[0], ids[ids.len() - 1]);
        let mut fold = held(Fold::new(rest.skeleton(), root, tip).unwrap());
        let far = rest.position(tip) - rest.position(root);
        let turn = math::shortest_arc(far.normalize(), dice.direction(), Vec3::X);
        let goal = rest.position(root) + turn * far * dice.between(0.5, 1.02);
        let mut pose = rest.clone();
        let report = fold.solve(&mut pose, &Goal::position(goal)).unwrap();
        let before = bends(&rest, &rest, &ids);
        let after = bends(&pose, &rest, &ids);
        let factor = after[0] / before[0];
        for (a, b) in after.iter().zip(&before) {
            assert!((a - factor * b).abs() < 2e-5, "case {case}: {before:?} became {after:?}");
        }
        assert!(factor > 0.0, "case {case}: {after:?}");
        met += usize::from(report.reached());
        if report.reached() {
            let off = DVec3::from(judge::position(&pose, tip)).distance(goal.as_dvec3());
            // Some roundings of f32 at two metres.
            assert!(off < 4e-6, "case {case}: {off}");
            assert!(report.iterations <= 1, "{report:?}");
        } else {
            let most = after.iter().fold(0.0f64, |m, b| m.max(b.abs()));
            assert!(!(0.21..2.59).contains(&most), "case {case}: {after:?} at {report:?}");
        }
    }
    assert!(met > 240, "{met} met");
}

#[test]
fn two_bones_fold_by_the_cosine_rule() {
    let mut dice = Dice(Random::of(6));
    for case in 0..200 {
        let (rest, ids) = chain(&leg(&mut dice, 2), |_| Joint::FREE);
        let mut fold = held(Fold::new(rest.skeleton(), ids[0], ids[2]).unwrap());
        let limb = TwoBone::from_chain(
            rest.skeleton(),
            Chain::new(rest.skeleton(), ids[0], ids[2]).unwrap(),
            ids[1],
        );
        let goal =
            rest.position(ids[0]) + dice.direction() * dice.between(0.6, 0.99) * fold.chain().length(&rest);
        let (mut a, mut b) = (rest.clone(), rest.clone());
        let report = fold.solve(&mut a, &Goal::position(goal)).unwrap();
        limb.unwrap().solve(&mut b, &Goal::position(goal), &LimbOptions::new()).unwrap();
        if report.reached() {
            for (a, b) in a.locals().iter().zip(b.locals()) {
                let off = math::angle_between(a.rotation, b.rotation);
                assert!(off < 3e-4, "case {case}: {off} from the limb");
            }
        }
    }
}

#[test]
fn a_straight_chain_bends_as_at_rest_or_else_to_the_front() {
    let bones = [Vec3::new(0.0, -0.4, 0.1), Vec3::new(0.0, -0.4, -0.15), Vec3::new(0.0, -0.3, 0.1)];
    let (rest, ids) = chain(&bones, |_| Joint::FREE);
    let mut fold = held(Fold::new(rest.skeleton(), ids[0], ids[3]).unwrap());
    // Straight as an animation may have it, at another angle of the root.
    let mut straight = rest.clone();
    for n in 1..3 {
        let [a, b, c] = [n - 1, n, n + 1].map(|n| straight.position(ids[n]));
        let turn = math::shortest_arc((c - b).normalize(), (b - a).normalize(), Vec3::X);
        straight.turn(ids[n], turn);
        straight.update();
    }
    straight.turn(ids[0], Quat::from_rotation_x(0.4));
    straight.update();
    assert!(bends(&straight, &rest, &ids).iter().all(|b| b.abs() < 1e-3));
    let goal = straight.position(ids[0]) + 0.7 * (straight.position(ids[3]) - straight.position(ids[0]));
    let mut pose = straight.clone();
    assert!(fold.solve(&mut pose, &Goal::position(goal)).unwrap().reached());
    let (now, wanted) = (bends(&pose, &rest, &ids), bends(&rest, &rest, &ids));
    let factor = now[0] / wanted[0];
    assert!(factor > 1.0 && (now[1] / wanted[1] - factor).abs() < 1e-3, "{now:?} of {wanted:?}");

    let (rest, ids) = chain(&[Vec3::NEG_Y * 0.5; 4], |_| Joint::FREE);
    let mut fold = held(Fold::new(rest.skeleton(), ids[0], ids[4]).unwrap());
    let root = rest.position(ids[0]);
    let line = (rest.position(ids[4]) - root).normalize();
    let mut pose = rest.clone();
    assert!(fold.solve(&mut pose, &Goal::position(root + line * 1.5)).unwrap().reached());
    let middle = pose.position(ids[2]) - root;
    let front = math::perpendicular(line, Vec3::Z);
    assert!(middle.dot(front) > 0.2 && middle.cross(line).dot(front).abs() < 1e-3, "{middle}");
}

#[test]
fn no_bone_passes_through_straight_and_what_is_out_of_reach_is_told() {
    let bones = [Vec3::new(0.0, -0.4, 0.2), Vec3::new(0.0, -0.4, -0.2), Vec3::new(0.0, -0.3, 0.05)];
    let (rest, ids) = chain(&bones, |_| Joint::FREE);
    let mut fold = held(Fold::new(rest.skeleton(), ids[0], ids[3]).unwrap());
    let before = bends(&rest, &rest, &ids);
    let (mut last, mut pose) = (f64::INFINITY, rest.clone());
    for n in 0..200 {
        // From near the root to three lengths away, frame by frame on the last frame's pose.
        let goal = rest.position(ids[0]) + Vec3::new(0.3, -1.0, 0.2).normalize() * (0.3 + 0.015 * n as f32);
        let report = fold.solve(&mut pose, &Goal::position(goal)).unwrap();
        let now = bends(&pose, &rest, &ids);
        assert!(now.iter().zip(&before).all(|(a, b)| *a * b.signum() > 0.03), "{n}: {now:?}");
        let most = now.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        assert!(most > 0.199 && most <= last + 1e-4, "{n}: {most} after {last}");
        last = most;
        if n > 150 {
            assert!(report.outcome == Outcome::Stalled && report.out_of_reach > 0.5, "{report:?}");
        }
    }
    assert!((last - 0.2).abs() < 1e-3, "{last}");
}

#[test]
fn joints_at_their_limits_leave_the_rest_of_the_way_to_others() {
    let bones = [Vec3::new(0.0, -0.4, 0.1), Vec3::new(0.0, -0.4, -0.2), Vec3::new(0.0, -0.3, 0.1)];
    let (free, ids) = chain(&bones, |_| Joint::FREE);
    // The second joint gives way by a tenth of a radian about its own axis, whichever that is.
    let (rest, _) = chain(&bones, |n| if n == 1 { Joint::cone(Vec3::Y, 0.1, 0.1) } else { Joint::FREE });
    let root = rest.position(ids[0]);
    let goal = Goal::position(root + (rest.position(ids[3]) - root) * 0.7);
    let mut fold = held(Fold::new(rest.skeleton(), ids[0], ids[3]).unwrap());
    let mut pose = rest.clone();
    let report = fold.solve(&mut pose, &goal).unwrap();
    assert!(report.reached() && report.iterations > 1, "{report:?}");
    let skeleton = rest.skeleton();
    assert!(skeleton.joints().all(|j| skeleton.limit_excess(j, pose.local(j).rotation) <= 1e-5));
    let mut plain = free.clone();
    held(Fold::new(free.skeleton(), ids[0], ids[3]).unwrap()).solve(&mut plain, &goal).unwrap();
    let [held, open] = [&pose, &plain].map(|p| bends(p, &rest, &ids));
    assert!(held[0] < open[0] - 0.1 && held[1] > open[1] + 0.1, "{held:?} within limits, {open:?} without");
    // A hinge about an axis across the chain cannot bend it at all.
    let stiff =
        chain(&bones, |n| if n > 0 { Joint::hinge(Vec3::Y, Dof::range(0.0, 0.0)) } else { Joint::FREE }).0;
    let mut pose = stiff.clone();
    let report = fold_of(&stiff, &ids).solve(&mut pose, &goal).unwrap();
    assert!(report.outcome == Outcome::Stalled && report.position_residual > 0.2, "{report:?}");
}

fn fold_of(rest: &Pose, ids: &[JointId]) -> crate::held::Held<Fold> {
    held(Fold::new(rest.skeleton(), ids[0], ids[ids.len() - 1]).unwrap())
}

#[test]
fn a_tip_takes_its_rotation_and_carries_the_end_to_the_goal() {
    let mut dice = Dice(Random::of(7));
    for case in 0..100 {
        let (rest, ids) = chain(&leg(&mut dice, 4), |_| Joint::FREE);
        let skeleton = rest.skeleton().clone();
        let offset = dice.direction() * 0.1;
        let of = Chain::new(&skeleton, ids[0], ids[3]).unwrap().with_tip_offset(&skeleton, offset).unwrap();
        let mut fold = held(Fold::from_chain(&skeleton, of.clone()).unwrap());
        let rotation = math::axis_angle(dice.direction(), dice.between(0.0, 3.0));
        let reach = rest.position(ids[3]).distance(rest.position(ids[0]));
        let ankle = rest.position(ids[0]) + dice.direction() * (0.9 * reach);
        let goal = Goal::position(ankle + rotation * offset).with_rotation(rotation);
        let mut pose = rest.clone();
        let report = fold.solve(&mut pose, &goal).unwrap();
        assert!(report.reached() && report.rotation_residual < 1e-5, "case {case}: {report:?}");
        let end = DVec3::from(judge::frame(&pose, ids[3]).point(judge::v(offset)));
        assert!(end.distance(goal.position.unwrap().as_dvec3()) < 3e-6, "case {case}");
    }
}
