//! Bounded turns of the closed forms: what limbs promise of each frame with a largest turn, and that their frames arrive.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    Chain, Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, Skeleton,
    glam::{Quat, Vec3},
    math,
    solve::{Aim, AimUp, BendSide, LimbOptions, LookAt, LookJoint, Options, TwoBone},
};

use crate::promises::{bounded::turned, checks, common::noise, config, judge, rig};

/// A limb with what is asked of it.
struct Asked {
    limb: TwoBone,
    goal: Goal,
}

impl Asked {
    /// Residual in metres, in which a radian counts as half a length of the limb.
    fn missing(&self, pose: &Pose, length: f64) -> f64 {
        let frame = judge::frame(pose, self.limb.chain().tip());
        let end = frame.point(judge::v(self.limb.chain().tip_offset()));
        let off = self.goal.position.map_or(0.0, |at| judge::length(judge::sub(end, judge::v(at))));
        let now = pose.model_rotation(self.limb.chain().tip());
        let turn = self.goal.rotation.map_or(0.0, |q| f64::from(math::angle_between(now, q)));
        off.hypot(0.5 * length * turn)
    }

    fn poled(&self) -> bool {
        self.goal.pole != Pole::Keep
    }

    fn frame(&self, pose: &mut Pose, bound: f32) -> Report {
        self.limb.solve(pose, &self.goal, &LimbOptions::new().with_max_turn(bound)).unwrap()
    }
}

proptest! {
    #![proptest_config(config(4000))]

    #[test]
    fn frames_of_limbs_with_a_bound_keep_their_promises(
        rig in prop_oneof![4 => rig::rig(), 1 => rig::squashed()],
        d in rig::vector(),
        f in crate::promises::fraction(),
        turn in prop::option::weighted(0.25, rig::rotation()),
        pole in prop::option::weighted(0.3, rig::vector()),
        offset in prop::option::weighted(0.2, rig::vector()),
        side in 0usize..3,
        decade in -3f32..0.4,
    ) {
        prop_assume!(rig.rounding < 1e-4 * rig.length);
        let skeleton = rig.pose.skeleton();
        let mut chain = Chain::new(skeleton, rig.root, rig.tip).unwrap();
        if let Some(offset) = offset {
            let below = rig.pose.local(skeleton.children(rig.tip).next().unwrap()).translation;
            chain = chain.with_tip_offset(skeleton, offset * below.length()).unwrap();
        }
        let limb = TwoBone::from_chain(skeleton, chain, rig.middle).unwrap();
        let side = [BendSide::Keep, BendSide::Positive, BendSide::Negative][side];
        let limb = limb.clone().with_side(side).unwrap_or(limb);
        let mut goal = Goal::position(rig.goal(d, f));
        let sheared = math::shear(&rig.pose.parent_model(rig.root).matrix3) > 1e-3;
        goal.rotation = turn.filter(|_| !sheared);
        goal.pole = pole.map_or(Pole::Keep, Pole::Direction);
        let (bound, (a, b)) = (10f32.powf(decade), limb.lengths(&rig.pose));
        let asked = Asked { limb, goal };
        let mut pose = rig.pose.clone();
        let report = asked.frame(&mut pose, bound);
        let step = turned(&rig.pose, &pose);
        prop_assert!(step <= f64::from(bound) + 1e-5, "turned by {step} of {bound}");
        for joint in skeleton.joints() {
            let (a, b) = (rig.pose.local(joint), pose.local(joint));
            prop_assert!(a.translation == b.translation && a.scale == b.scale);
            let own = [rig.root, rig.middle].contains(&joint) || (joint == rig.tip && goal.rotation.is_some());
            prop_assert!(own || a.rotation == b.rotation);
        }
        // (Below a sheared parent what is missing is missing in its space.)
        let length = f64::from(a + b);
        let (before, left) = (asked.missing(&rig.pose, length), asked.missing(&pose, length));
        let far = judge::length(judge::sub(judge::v(goal.position.unwrap()), judge::position(&rig.pose, rig.root)));
        let rounding = 4.0 * rig.rounding + 4e-6 * (length + far);
        // A solve that is not held back may give the position up for the rotation, as it does without a bound.
        let mut free = rig.pose.clone();
        asked.frame(&mut free, f32::INFINITY);
        let most = if checks::same_bits(&free, &pose) { f64::INFINITY } else { before };
        prop_assert!(sheared || left <= most + rounding, "grew from {before:e} to {left:e}: {report:?}");
        let mut again = rig.pose.clone();
        prop_assert_eq!(report, asked.frame(&mut again, bound));
        prop_assert!(checks::same_bits(&pose, &again));
    }
}

/// A limb of two bones that are a metre long together, below a body, in any pose.
fn anywhere(r: &mut impl FnMut() -> f32) -> (Pose, [JointId; 3]) {
    let mut b = Skeleton::builder();
    let at = JointTransform::from_translation;
    let long = 0.5 + 0.2 * r();
    let body = b.add("body", None, at(Vec3::Y));
    let root = b.add("root", Some(body), at(Vec3::X * 0.1));
    let middle = b.add("middle", Some(root), at(Vec3::new(0.02, 0.0, long)));
    let tip = b.add("tip", Some(middle), at(Vec3::new(-0.02, 0.0, 1.0 - long)));
    let (skeleton, ids) = b.build().unwrap();
    let mut pose = Pose::rest(&Arc::new(skeleton));
    let joints = [root, middle, tip].map(|i| ids[i]);
    turn(&mut pose, joints, r);
    (pose, joints)
}

/// Turns the joints to anywhere.
fn turn(pose: &mut Pose, joints: [JointId; 3], r: &mut impl FnMut() -> f32) {
    for joint in joints {
        pose.set_rotation(joint, any_rotation(r));
    }
    pose.update();
}

fn any_rotation(r: &mut impl FnMut() -> f32) -> Quat {
    loop {
        let q = Quat::from_xyzw(r(), r(), r(), r());
        if (0.01..1.0).contains(&q.length_squared()) {
            return math::normalize(q);
        }
    }
}

/// Frames come to what is asked for, nearly always in twice the time that the largest turn of a solve without a bound takes
/// (but where a pole shares the root's turn), and in none of them is more missing than before.
#[test]
fn limbs_with_a_bound_arrive() {
    let kinds = ["position", "straight", "pole", "swivel", "rotation", "rotation of an offset", "two joints"];
    for (which, kind) in kinds.into_iter().enumerate() {
        let mut r = noise(70 + which as u64);
        let (mut goals, mut late, mut never) = (0, 0, 0);
        for case in 0..300 {
            let (mut start, joints) = anywhere(&mut r);
            let mut end = start.clone();
            turn(&mut end, joints, &mut r);
            let [root, middle, tip] = joints;
            if kind == "straight" {
                let angle = if case % 2 == 0 { 0.0 } else { 3.1 };
                start.set_rotation(middle, math::axis_angle(Vec3::X, angle));
                start.update();
            }
            let skeleton = start.skeleton().clone();
            let chain = match kind {
                "two joints" => Chain::new(&skeleton, root, middle).unwrap(),
                _ => Chain::new(&skeleton, root, tip).unwrap(),
            };
            let chain = match kind {
                "two joints" => chain.with_tip_offset(&skeleton, Vec3::new(0.1, 0.2, 0.3)).unwrap(),
                "rotation of an offset" => {
                    chain.with_tip_offset(&skeleton, Vec3::new(0.0, 0.1, 0.1)).unwrap()
                }
                _ => chain,
            };
            let mut goal = Goal::position(chain.end(&end));
            match kind {
                "pole" => goal.pole = Pole::Direction(Vec3::new(0.3, 1.0, -0.2)),
                "swivel" => {
                    (goal.pole, goal.swivel) = (Pole::Direction(Vec3::new(0.3, 1.0, -0.2)), 2.0 * r());
                }
                "rotation" | "rotation of an offset" => goal.rotation = Some(end.model_rotation(tip)),
                _ => {}
            }
            let limb = TwoBone::from_chain(&skeleton, chain, middle).unwrap();
            let asked = Asked { limb, goal };
            let bound = [0.02, 0.13, 0.4][case % 3];
            let mut answer = start.clone();
            asked.frame(&mut answer, f32::INFINITY);
            let needs = (turned(&start, &answer) / f64::from(bound)).ceil().max(1.0) as usize;
            let mut pose = start.clone();
            let length = |pose: &Pose| f64::from(asked.limb.lengths(pose).0 + asked.limb.lengths(pose).1);
            let met = (0..8 * needs).find(|frame| {
                let before = pose.clone();
                let report = asked.frame(&mut pose, bound);
                let (had, left) = [&before, &pose].map(|p| asked.missing(p, length(&before))).into();
                assert!(left <= had + 2e-6, "{kind}, {case}, {frame}: {had:e} to {left:e}: {report:?}");
                assert!(turned(&before, &pose) <= f64::from(bound) + 1e-5, "{kind}, {case}, {frame}");
                report.outcome == Outcome::Converged
            });
            goals += 1;
            late += usize::from(met.is_none_or(|frame| frame >= 2 * needs && !asked.poled()));
            never += usize::from(met.is_none());
        }
        assert!(late <= goals / 15 && never <= 1, "{kind}: {late} of {goals} late, {never} never met");
    }
}

/// An aim from a point beside its joint, with or without an up vector, for the bound on turns alone.
fn aim(rig: &rig::Rig, which: usize) -> Aim {
    let below = rig.pose.skeleton().children(rig.middle).next().unwrap();
    let mut aim = Aim::new(rig.middle, Vec3::new(0.6, -0.48, 0.64));
    if which % 2 == 1 {
        aim.offset = rig.pose.local(below).translation * 0.3;
    }
    if which > 1 {
        aim.up = Some(AimUp { axis: Vec3::new(0.8, 0.36, -0.48), direction: Vec3::new(0.1, 1.0, 0.2) });
    }
    aim
}

/// The distance of a target from a ray.
fn off_ray(pose: &Pose, aim: &Aim, target: Vec3) -> f64 {
    let frame = judge::frame(pose, aim.joint);
    let (from, along) = (frame.point(judge::v(aim.offset)), judge::unit(frame.vector(judge::v(aim.axis))));
    let to = judge::sub(judge::v(target), from);
    let ahead = judge::dot(to, along).max(0.0);
    judge::length(judge::sub(to, judge::scale(along, ahead)))
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn aims_with_a_bound_keep_their_promises_and_arrive(
        rig in prop_oneof![4 => rig::rig(), 1 => rig::squashed()],
        d in rig::vector(),
        f in 1f32..4.0,
        which in 0usize..4,
        decade in -1.5f32..0.4,
    ) {
        prop_assume!(rig.rounding < 1e-5 * rig.length);
        let (aim, target, bound) = (aim(&rig, which), rig.goal(d, f), 10f32.powf(decade));
        let sheared = math::shear(&rig.pose.parent_model(rig.middle).matrix3) > 1e-3;
        let options = Options::new().with_max_turn(bound);
        let mut pose = rig.pose.clone();
        let far = judge::length(judge::sub(judge::v(target), judge::position(&rig.pose, rig.middle)));
        let rounding = 8.0 * rig.rounding + 8e-6 * (rig.length + far);
        let mut met = false;
        for _ in 0..8 * (3.2 / bound).ceil() as usize {
            let before = pose.clone();
            let report = aim.solve(&mut pose, target, &options).unwrap();
            prop_assert!(turned(&before, &pose) <= f64::from(bound) + 1e-5);
            let (had, left) = (off_ray(&before, &aim, target), off_ray(&pose, &aim, target));
            prop_assert!(sheared || left <= had + rounding, "{had:e} to {left:e}, {report:?}");
            met = report.outcome == Outcome::Converged;
            if met {
                break;
            }
        }
        // (A ray that starts far out may have no way on which it comes nearer all the time.)
        prop_assert!(met || which % 2 == 1, "not met");
    }

    #[test]
    fn look_ats_with_a_bound_keep_it_and_arrive(
        rig in rig::rig(),
        d in rig::vector(),
        decade in -1.5f32..0.4,
    ) {
        prop_assume!(rig.rounding < 1e-5 * rig.length);
        let part = |joint, share| LookJoint::new(joint).with_share(share).with_cone(3.0);
        let line = [part(rig.root, 0.3), part(rig.middle, 0.4), part(rig.tip, 1.0)];
        let mut look = LookAt::new(rig.pose.skeleton(), &line, Vec3::new(0.6, -0.48, 0.64)).unwrap();
        look.behind = 3.0;
        let (target, bound) = (rig.goal(d, 50.0), 10f32.powf(decade));
        let (mut state, mut pose) = (look.state(), rig.pose.clone());
        let face = |pose: &Pose| {
            let frame = judge::frame(pose, rig.tip);
            let front = judge::unit(frame.vector(judge::v(look.axis)));
            let way = judge::unit(judge::sub(judge::v(target), frame.origin));
            judge::length(judge::cross(front, way)).atan2(judge::dot(front, way))
        };
        // (Behind, a look fades.)
        if face(&rig.pose) > 2.8 {
            return Ok(());
        }
        let mut met = false;
        for _ in 0..2 * (3.2 / bound).ceil() as usize {
            let before = pose.clone();
            let options = Options::new().with_max_turn(bound);
            let report = look.solve(&mut state, &mut pose, target, &options).unwrap();
            prop_assert!(turned(&before, &pose) <= f64::from(bound) + 2e-5);
            prop_assert!(face(&pose) <= face(&before) + 1e-5, "{} to {}", face(&before), face(&pose));
            met = report.reached();
            if met {
                break;
            }
        }
        prop_assert!(met, "{} is left", face(&pose));
    }
}
