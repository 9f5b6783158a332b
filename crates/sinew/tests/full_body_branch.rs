//! Judges fresh starts of full bodies and the reported branch changes, by the poses alone in f64.

use crate::common;

use std::sync::Arc;

use common::{column, noise};
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton, Workspace,
    body::{BodyRoles, HumanLimits, Side, Trackers},
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::Joint,
    math,
    solve::{
        Drag, Effector, Eye, FullBody, FullBodyOptions, IterativeOptions, LookAt, LookJoint, Options, Pin,
        RootMode,
    },
};

fn quat(q: Quat) -> DQuat {
    DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into()).normalize()
}

/// Returns position and rotation in model space, for skeletons without scale.
fn frame(pose: &Pose, joint: JointId) -> (DVec3, DQuat) {
    let skeleton = pose.skeleton();
    let up: Vec<JointId> = std::iter::once(joint).chain(skeleton.ancestors(joint)).collect();
    up.into_iter().rev().fold((DVec3::ZERO, DQuat::IDENTITY), |(at, turn), j| {
        let local = pose.local(j);
        (at + turn * local.translation.as_dvec3(), turn * quat(local.rotation))
    })
}

fn angle(a: DQuat, b: DQuat) -> f64 {
    let d = a.inverse() * b;
    2.0 * DVec3::new(d.x, d.y, d.z).length().atan2(d.w.abs())
}

fn largest_turn(from: &Pose, to: &Pose) -> f64 {
    let each = from.locals().iter().zip(to.locals());
    each.map(|(a, b)| angle(quat(a.rotation), quat(b.rotation))).fold(0.0, f64::max)
}

/// Returns the two sides of the definition without a pole: the largest turn, and the bound that the tips' motion gives.
fn sides(from: &Pose, to: &Pose, tips: &[Effector], goals: &[Goal], size: f64) -> (f64, f64) {
    let (mut moved, mut turned) = (0.0f64, 0.0f64);
    for (tip, goal) in tips.iter().zip(goals) {
        let [(a, p), (b, q)] = [from, to].map(|pose| frame(pose, tip.joint));
        let offset = tip.offset.as_dvec3();
        moved = moved.max((a + p * offset).distance(b + q * offset));
        if goal.rotation.is_some() {
            turned = turned.max(angle(p, q));
        }
    }
    (largest_turn(from, to), 8.0 * moved / size + 16.0 * turned + 1e-3)
}

/// Returns the turn of the bend about the line from the first joint to the last, carried along by the shortest arc.
fn bend_turned(from: &Pose, to: &Pose, [top, middle, tip]: [JointId; 3]) -> f64 {
    let stands = |pose: &Pose| {
        let [a, b, c] = [top, middle, tip].map(|j| frame(pose, j).0);
        let line = (c - a).normalize();
        let across = (b - a) - line * (b - a).dot(line);
        (line, across)
    };
    let ((line, bend), (line_now, bend_now)) = (stands(from), stands(to));
    (DQuat::from_rotation_arc(line, line_now) * bend).angle_between(bend_now)
}

/// Counts reports by the definition.
#[derive(Debug, Default)]
struct Told {
    changed: usize,
    not: usize,
}

impl Told {
    /// Skips cases near the bound, where rounding decides.
    fn judge(&mut self, said: bool, (turn, most): (f64, f64), what: &dyn std::fmt::Debug) {
        if (turn - most).abs() < 1e-4 * (1.0 + most) {
            return;
        }
        assert_eq!(said, turn > most, "{what:?}: {turn} of {most}");
        *(if said { &mut self.changed } else { &mut self.not }) += 1;
    }
}

/// Hips, a spine of two, and arms of two bones, with arbitrary joint frames.
fn figure() -> (Arc<Skeleton>, [JointId; 7]) {
    let mut b = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.1, 1.0, 0.2));
    let chest = b.add("chest", Some(hips), at(0.0, 0.4, 0.02));
    let mut ids = vec![hips, chest];
    for x in [1.0, -1.0] {
        let upper = b.add("upper", Some(chest), at(0.2 * x, 0.15, 0.0));
        let fore = b.add("fore", Some(upper), at(0.3 * x, 0.0, 0.05));
        let hand = b.add("hand", Some(fore), at(0.28 * x, 0.0, 0.0));
        ids.extend([upper, fore, hand]);
    }
    let (skeleton, joints) = b.build().unwrap();
    let pick = [0, 1, 2, 3, 4, 6, 7].map(|i| joints[ids[i]]);
    (Arc::new(skeleton), pick)
}

fn direction(r: &mut impl FnMut() -> f32) -> Vec3 {
    Vec3::new(r(), r(), r()).normalize_or(Vec3::X)
}

fn shaken(pose: &Pose, most: f32, r: &mut impl FnMut() -> f32) -> Pose {
    let mut pose = pose.clone();
    for joint in pose.skeleton().clone().joints() {
        let turn = math::axis_angle(direction(r), most * r());
        pose.set_rotation(joint, math::normalize(math::mul(turn, pose.local(joint).rotation)));
    }
    pose.update();
    pose
}

#[test]
fn a_tree_says_that_the_branch_changed_where_the_poses_do() {
    let (skeleton, [hips, _, upper, fore, left, _, right]) = figure();
    let mut r = noise(2);
    let mut told = Told::default();
    let mut flips = Told::default();
    for case in 0..3000 {
        let from = shaken(&Pose::rest(&skeleton), 1.5, &mut r);
        let tips =
            [Effector::new(left).with_offset(Vec3::X * 0.1), Effector::new(right), Effector::new(fore)];
        let tips = &tips[..2 + case % 2];
        let full_body = FullBody::new(&skeleton, hips, tips).unwrap();
        let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
        options.root = [RootMode::Pinned, RootMode::Free][case / 2 % 2];
        options.iterative.max_turn = [f32::INFINITY, 0.2, 0.01][case / 4 % 3];
        options.iterative.influence = [1.0, 0.6][case / 12 % 2];
        options.posture = [0.0, 0.3][case / 24 % 2];
        let near = 10f32.powf(-2.5 + 2.5 * r());
        let mut goals: Vec<Goal> = tips
            .iter()
            .map(|t| {
                Goal::position(from.model(t.joint).transform_point3(t.offset) + direction(&mut r) * near)
            })
            .collect();
        if case % 5 == 0 {
            let turn = math::axis_angle(direction(&mut r), 0.3 * near);
            goals[1] = goals[1].with_rotation(math::mul(turn, from.model_rotation(right)));
        }
        let poled = case % 7 == 0;
        if poled {
            goals[0] = goals[0].with_pole(Pole::Direction(direction(&mut r)));
            if tips.len() > 2 {
                continue;
            }
        }
        let mut to = from.clone();
        let report = full_body.solve(&mut workspace, &mut to, &goals, &options).unwrap();
        if poled {
            let turned = bend_turned(&from, &to, [upper, fore, left]);
            flips.judge(report.branch_changed, (turned, std::f64::consts::FRAC_PI_2), &case);
        } else {
            let size = f64::from(full_body.size(&from));
            told.judge(report.branch_changed, sides(&from, &to, tips, &goals, size), &case);
        }
    }
    assert!(
        told.changed > 100 && told.not > 500 && flips.changed > 10 && flips.not > 100,
        "{told:?} {flips:?}"
    );
}

#[test]
fn a_drag_says_it_as_well() {
    let mut workspace = Workspace::new();
    let (skeleton, [hips, _, _, fore, left, _, right]) = figure();
    let mut r = noise(3);
    let mut told = Told::default();
    for case in 0..300 {
        let mut pose = shaken(&Pose::rest(&skeleton), 1.0, &mut r);
        let pins = [Pin::pose(right), Pin::place(fore)];
        let pins = &pins[..case % 3];
        let mut drag = Drag::new(&pose, hips, Effector::new(left), pins).unwrap();
        drag.rate = [7.9, 50.0, f32::INFINITY][case % 3];
        let options = Drag::OPTIONS.with_root([RootMode::Free, RootMode::Pinned][case / 3 % 2]);
        let tips = drag.full_body().effectors().to_vec();
        let kept: Vec<Goal> = pins
            .iter()
            .map(|p| if p.turned { Goal::NONE.with_rotation(Quat::IDENTITY) } else { Goal::NONE })
            .collect();
        for _ in 0..6 {
            let goal = Goal::position(pose.position(left) + direction(&mut r) * 10f32.powf(-2.0 + 2.0 * r()));
            let from = pose.clone();
            let report = drag.to(&mut workspace, &mut pose, &goal, &options).unwrap();
            let goals: Vec<Goal> = std::iter::once(goal).chain(kept.iter().copied()).collect();
            let size = f64::from(drag.full_body().size(&from));
            told.judge(report.branch_changed, sides(&from, &pose, &tips, &goals, size), &case);
        }
    }
    assert!(told.changed > 5 && told.not > 300, "{told:?}");
}

#[test]
fn a_look_turns_no_joint_further_than_its_directions() {
    let mut b = Skeleton::builder();
    let at = |y: f32, z: f32| JointTransform::from_translation(Vec3::new(0.0, y, z));
    let chest = b.add("chest", None, at(1.3, 0.0));
    let neck = b.add("neck", Some(chest), at(0.2, 0.0));
    let head = b.add("head", Some(neck), at(0.1, 0.0));
    b.add("eye", Some(head), at(0.1, 0.08));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    let part = |i: usize, share| LookJoint::new(ids[i]).with_share(share).with_cone(1.0);
    let mut look = LookAt::new(&skeleton, &[part(0, 0.2), part(1, 0.4), part(2, 1.0)], Vec3::Z).unwrap();
    look.offset = Vec3::new(0.0, 0.1, 0.08);
    look.set_eyes(&skeleton, &[Eye::new(ids[3], Vec3::Z).with_cone(0.6)]).unwrap();
    let mut r = noise(4);
    for case in 0..500 {
        let from = shaken(&Pose::rest(&skeleton), 0.4, &mut r);
        look.dead_zone = [0.0, 0.2][case % 2];
        let mut to = from.clone();
        let target = Vec3::new(2.0 * r(), 1.5 + 2.0 * r(), 1.0 + r());
        let report = look.solve(&mut look.state(), &mut to, target, &Options::new()).unwrap();
        let front = |pose: &Pose, j: usize| frame(pose, ids[j]).1 * DVec3::Z;
        let turned =
            [2, 3].map(|j| front(&from, j).angle_between(front(&to, j))).into_iter().fold(0.0, f64::max);
        let face = |pose: &Pose| {
            let (at, turn) = frame(pose, ids[2]);
            at + turn * look.offset.as_dvec3()
        };
        let length = face(&from).distance(frame(&from, ids[0]).0);
        let most = 8.0 * face(&from).distance(face(&to)) / length + 16.0 * turned + 1e-3;
        Told::default().judge(report.report.branch_changed, (largest_turn(&from, &to), most), &case);
    }
}

#[test]
fn trackers_say_it_of_the_whole_solve() {
    let mut builder = Skeleton::builder();
    let mut add = |name: &str, parent, x, y, z| {
        builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
    };
    let hips = add("Hips", None, 0.0, 0.9, 0.0);
    let spine = add("Spine", Some(hips), 0.0, 0.15, 0.0);
    let chest = add("Spine1", Some(spine), 0.0, 0.2, 0.0);
    let neck = add("Neck", Some(chest), 0.0, 0.22, 0.0);
    add("Head", Some(neck), 0.0, 0.1, 0.0);
    for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
        let arm = add(&format!("{side}Arm"), Some(chest), 0.18 * x, 0.15, 0.0);
        let fore = add(&format!("{side}ForeArm"), Some(arm), 0.28 * x, 0.0, 0.0);
        add(&format!("{side}Hand"), Some(fore), 0.25 * x, 0.0, 0.0);
        let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * x, -0.05, 0.0);
        let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.4, 0.0);
        add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, 0.0);
    }
    let mut skeleton = builder.build().unwrap().0;
    let bind = Pose::rest(&Arc::new(skeleton.clone()));
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let human = HumanLimits::of(&bind, &body);
    human.apply(&mut skeleton).unwrap();
    let skeleton = Arc::new(skeleton);
    let tips = [Side::Left, Side::Right].map(|s| Effector::new(body.arm(s).unwrap().hand));
    let mut ease = Pose::rest(&skeleton);
    human.stand_at_ease(&bind, &body, &mut ease);
    let mut r = noise(6);
    let mut told = Told::default();
    for case in 0..60 {
        let trackers = Trackers::new(&body, &tips, &ease).unwrap();
        let (mut state, mut workspace) = (trackers.state(&ease), Workspace::new());
        let options = IterativeOptions::new().with_max_turn([f32::INFINITY, 0.1][case % 2]);
        let mut pose = ease.clone();
        for _ in 0..3 {
            let from = pose.clone();
            let far = 10f32.powf(-2.0 + 1.5 * r());
            let goals = tips.map(|t| Goal::position(pose.position(t.joint) + direction(&mut r) * far));
            let report = trackers.solve(&mut state, &mut workspace, &mut pose, &goals, &options).unwrap();
            // Feet without a tracker have rotation goals.
            let all = trackers.effectors().to_vec();
            let asked: Vec<Goal> = all
                .iter()
                .enumerate()
                .map(|(i, _)| if i < 2 { Goal::NONE } else { Goal::NONE.with_rotation(Quat::IDENTITY) })
                .collect();
            // Size: the longest path along the bones from the hips.
            let way = |tip: &Effector| {
                let up = std::iter::once(tip.joint).chain(skeleton.ancestors(tip.joint));
                up.take_while(|&j| j != body.hips)
                    .map(|j| f64::from(pose.local(j).translation.length()))
                    .sum::<f64>()
            };
            let size = all.iter().map(way).fold(0.0, f64::max);
            told.judge(report.branch_changed, sides(&from, &pose, &all, &asked, size), &case);
        }
    }
    assert!(told.not > 20, "{told:?}");
}

/// A row of bones with cones of half a radian.
fn row(bones: usize) -> (Arc<Skeleton>, Vec<JointId>) {
    let cone = Joint::ball(Vec3::Y, Vec3::X, [(-0.5, 0.5), (-0.5, 0.5)], (-0.3, 0.3));
    column(bones, 1.0 / bones as f32, |_| cone)
}

#[test]
fn fresh_starts_replace_an_answer_for_a_better_one_alone() {
    let mut r = noise(8);
    let (mut differ, mut nearer) = (0, 0);
    for case in 0..600 {
        let (skeleton, ids) = row([2, 3][case % 2]);
        let tip = ids[ids.len() - 1];
        let mut from = shaken(&Pose::rest(&skeleton), 0.4, &mut r);
        for &id in &ids {
            from.set_rotation(id, skeleton.clamp_rotation(id, from.local(id).rotation));
        }
        from.update();
        let goal = Goal::position(direction(&mut r) * (0.3 + 0.6 * r().abs()));
        let full_body = FullBody::new(&skeleton, ids[0], &[Effector::new(tip)]).unwrap();
        let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
        let (mut with, mut without) = (from.clone(), from.clone());
        let found = full_body.solve(&mut workspace, &mut with, &[goal], &options).unwrap();
        options.iterative.max_restarts = Some(0);
        let first = full_body.solve(&mut workspace, &mut without, &[goal], &options).unwrap();
        if largest_turn(&with, &without) < 0.2 {
            continue;
        }
        differ += 1;
        // (Both improve a little after they are selected.)
        let gained = first.position_residual - found.position_residual;
        let less = largest_turn(&from, &with) < largest_turn(&from, &without) + 0.02;
        nearer += usize::from(gained > 0.008);
        assert!(gained > 0.008 || less, "{case}: {gained} nearer, {first:?} {found:?}");
    }
    assert!(nearer > 0 && differ < 300, "{differ} differ, {nearer} nearer");
}
