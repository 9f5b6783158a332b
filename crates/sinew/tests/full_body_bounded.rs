//! Judges full bodies with a bound on turns: over several frames they reach the answer of a solve without it.

use crate::common;
use crate::figure;
use crate::promises::judge;
use crate::promises::rig;

use std::sync::Arc;

use common::noise;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use sinew::{
    Goal, JointId, Outcome, Pole, Pose, Report, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    solve::{Effector, FullBody, IterativeOptions},
};

/// A full body of limbs, each with its top, middle joint and end, and a goal for each.
struct Case {
    start: Pose,
    root: JointId,
    limbs: Vec<[JointId; 3]>,
    goals: Vec<Goal>,
}

/// The angle between two rotations, in radians, by f64 and the sine.
fn angle(a: Quat, b: Quat) -> f64 {
    let d = a.as_dquat().normalize().inverse() * b.as_dquat().normalize();
    2.0 * d.xyz().length().atan2(d.w.abs())
}

/// Returns the largest turn of a joint from one pose to another, in radians.
fn turned(a: &Pose, b: &Pose) -> f64 {
    a.locals().iter().zip(b.locals()).map(|(a, b)| angle(a.rotation, b.rotation)).fold(0.0, f64::max)
}

impl Case {
    /// Residuals of each goal, in metres and radians.
    fn missing(&self, pose: &Pose) -> Vec<(f64, f64)> {
        let one = |(&[_, _, end], goal): (&[JointId; 3], &Goal)| {
            let off = |at| judge::length(judge::sub(judge::position(pose, end), judge::v(at)));
            let turn = |q| angle(pose.model_rotation(end), q);
            (goal.position.map_or(0.0, off), goal.rotation.map_or(0.0, turn))
        };
        self.limbs.iter().zip(&self.goals).map(one).collect()
    }

    /// Weighted sum of their squares, as documented.
    fn objective(&self, pose: &Pose, size: f64) -> f64 {
        let square = |(off, turn): (f64, f64)| (off / size).powi(2) + (0.5 * turn).sin().powi(2);
        self.missing(pose).into_iter().map(square).sum()
    }

    /// Returns the largest angle between a middle joint and its pole, in radians, about the line from the limb's top to its
    /// end. 0 where the limb is nearly straight or the pole is on the line.
    fn off_pole(&self, pose: &Pose) -> f64 {
        let one = |(limb, goal): (&[JointId; 3], &Goal)| {
            let Pole::Direction(pole) = goal.pole else { return 0.0 };
            let [top, middle, end] = limb.map(|j| judge::position(pose, j));
            let line = judge::unit(judge::sub(end, top));
            let across = |v| judge::sub(v, judge::scale(line, judge::dot(v, line)));
            let (out, wanted) = (across(judge::sub(middle, top)), across(judge::unit(judge::v(pole))));
            if judge::length(out) < 0.05 * judge::length(judge::sub(end, top)) || judge::length(wanted) < 0.05
            {
                return 0.0;
            }
            let cross = judge::length(judge::cross(out, wanted));
            cross.atan2(judge::dot(out, wanted))
        };
        self.limbs.iter().zip(&self.goals).map(one).fold(0.0, f64::max)
    }
}

/// Largest excess of a limb's angle to its pole over the answer's, in radians.
const POLE: f64 = 1e-3;

/// Statistics of frames with a bound.
#[derive(Debug, Default)]
struct Count {
    cases: usize,
    /// Cases that take more than twice the frames that the largest turn needs.
    late: usize,
    /// Cases that never reach the answer.
    never: usize,
    /// Frames that move nothing short of the answer, but report convergence.
    wrong: usize,
}

impl Count {
    fn judge(&self, name: &str) {
        let Self { cases, late, never, wrong } = *self;
        assert!(
            wrong == 0 && never <= 1 + cases / 100 && late <= 2 + cases / 50 && cases > 30,
            "{name}: {self:?}"
        );
    }
}

/// Solves frame by frame, from the goals met with another pole (`from`) or from the start.
fn arrive(case: &mut Case, bound: f32, from: Option<Vec3>, name: &str, count: &mut Count) {
    let effectors: Vec<Effector> = case.limbs.iter().map(|l| Effector::new(l[2])).collect();
    let full_body = FullBody::new(case.start.skeleton(), case.root, &effectors).unwrap();
    let mut workspace = Workspace::new();
    if let Some(from) = from {
        let goals: Vec<Goal> = case.goals.iter().map(|g| g.with_pole(Pole::Direction(from))).collect();
        full_body.solve(&mut workspace, &mut case.start, &goals, &IterativeOptions::new()).unwrap();
    }
    let case = &*case;
    let mut solve = |pose: &mut Pose, bound| -> Report {
        let options = IterativeOptions::new().with_max_turn(bound);
        full_body.solve(&mut workspace, pose, &case.goals, &options).unwrap()
    };
    let mut answer = case.start.clone();
    // (Where limits prevent meeting the goals, several answers have equal residuals.)
    if !solve(&mut answer, f32::INFINITY).reached() {
        return;
    }
    let size = f64::from(full_body.size(&case.start));
    let most =
        |pose: &Pose, part: fn(&(f64, f64)) -> f64| case.missing(pose).iter().map(part).fold(0.0, f64::max);
    let parts = |pose: &Pose| (most(pose, |m| m.0) / size, most(pose, |m| m.1), case.off_pole(pose));
    let (off, turn, pole) = parts(&answer);
    let there = |pose: &Pose| {
        let now = parts(pose);
        now.0 <= off.max(1e-4) + 1e-3 && now.1 <= turn.max(1e-3) + 1e-3 && now.2 <= pole + POLE
    };
    let needs = (turned(&case.start, &answer) / f64::from(bound)).ceil().max(1.0) as usize;
    let mut pose = case.start.clone();
    let mut came = None;
    count.cases += 1;
    let limit = 8 * needs + 8;
    for frame in 1..=limit {
        let before = pose.clone();
        let report = solve(&mut pose, bound);
        let step = turned(&before, &pose);
        assert!(step <= f64::from(bound) + 1e-5, "{name}: turned by {step} of {bound}");
        let (had, left) = (case.objective(&before, size), case.objective(&pose, size));
        // (A met goal may vary within its tolerance.)
        let grew = left.sqrt() - had.sqrt();
        assert!(grew <= 2e-6 || report.reached(), "{name}, frame {frame}: grew by {grew:e}, {report:?}");
        let rests = before.locals() == pose.locals();
        if there(&pose) {
            came = Some(frame);
            break;
        }
        if report.outcome == Outcome::Converged && rests {
            count.wrong += 1;
            break;
        }
        if rests {
            break;
        }
    }
    count.late += usize::from(came.is_none_or(|frame| frame > 2 * needs + 1));
    count.never += usize::from(came.is_none());
}

/// Returns the pose with hinges of a range for some joints.
fn hinged(pose: &Pose, joints: &[JointId]) -> Pose {
    let mut skeleton = (**pose.skeleton()).clone();
    for &joint in joints {
        skeleton.set_joint(joint, Joint::hinge(Vec3::X, Dof::range(-2.5, 2.5))).unwrap();
    }
    let mut hinged = Pose::rest(&Arc::new(skeleton));
    for joint in pose.skeleton().joints() {
        hinged.set_local(joint, *pose.local(joint));
    }
    for &joint in joints {
        let turn = hinged.skeleton().limits(joint).clamp(hinged.local(joint).rotation);
        hinged.set_rotation(joint, turn);
    }
    hinged.update();
    hinged
}

/// Limbs of random rigs with a goal in reach, and a pole, a rotation or both.
fn limbs(kind: usize) -> impl Strategy<Value = (rig::Rig, Goal)> {
    let pole = rig::vector().prop_map(Pole::Direction);
    (rig::rig(), rig::vector(), 0.3f32..0.95, rig::rotation(), pole).prop_map(
        move |(rig, d, f, turn, pole)| {
            let mut goal = Goal::position(rig.goal(d, f));
            goal.rotation = (kind != 0).then_some(turn);
            goal.pole = if kind == 1 { Pole::Keep } else { pole };
            (rig, goal)
        },
    )
}

/// Returns the joint that the solver turns to a pole: the nearest to half the limb's length along its bones at rest.
fn middle(pose: &Pose, root: JointId, tip: JointId) -> Option<JointId> {
    let skeleton = pose.skeleton();
    let bone = |j: JointId| skeleton.rest(j).translation.length();
    let mut up: Vec<JointId> = std::iter::once(tip).chain(skeleton.ancestors(tip)).collect();
    up.truncate(up.iter().position(|&j| j == root).unwrap());
    let length: f32 = up.iter().map(|&j| bone(j)).sum();
    let mut path = 0.0;
    let mut all = Vec::new();
    for &j in &up[..up.len() - 1] {
        path += bone(j);
        all.push((skeleton.parent(j).unwrap(), (path - 0.5 * length).abs()));
    }
    all.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|m| m.0)
}

#[test]
fn frames_of_limbs_come_to_the_answer_without_a_bound() {
    let mut r = noise(6);
    for (kind, name) in ["pole", "rotation", "pole and rotation"].into_iter().enumerate() {
        let config = Config { rng_seed: RngSeed::Fixed(31), failure_persistence: None, ..Config::default() };
        let (mut runner, strategy) = (TestRunner::new(config), limbs(kind));
        let mut count = Count::default();
        for n in 0..600 {
            let (rig, goal) = strategy.new_tree(&mut runner).unwrap().current();
            if rig.rounding > 1e-4 * rig.length {
                continue;
            }
            let Some(middle) = middle(&rig.pose, rig.root, rig.tip) else { continue };
            let mut case = Case {
                root: rig.root,
                limbs: vec![[rig.root, middle, rig.tip]],
                goals: vec![goal],
                start: if n % 4 < 2 { rig.pose } else { hinged(&rig.pose, &[middle]) },
            };
            let from = (n % 2 == 1).then(|| Vec3::new(r(), r(), r()));
            arrive(&mut case, [0.05, 0.13, 0.4][n % 3], from, &format!("{name} {n}"), &mut count);
        }
        count.judge(name);
    }
}

#[test]
fn frames_of_legs_come_to_the_answer_without_a_bound() {
    let (figure, rest) = figure::figure();
    let hips = rest.skeleton().find("hips").unwrap();
    let mut r = noise(5);
    for (kind, name) in ["pole", "rotation", "pole and rotation"].into_iter().enumerate() {
        let mut count = Count::default();
        for n in 0..60 {
            let (mut start, mut end) = (rest.clone(), rest.clone());
            figure::walk(&figure, &rest, r(), &mut start);
            figure::walk(&figure, &rest, r(), &mut end);
            if n % 4 > 1 {
                start = hinged(&start, &figure.legs().iter().map(|leg| leg.shin).collect::<Vec<_>>());
            }
            let mut case = Case { start, root: hips, limbs: Vec::new(), goals: Vec::new() };
            for leg in figure.legs() {
                let mut goal = Goal::position(end.position(leg.foot));
                let turn = Quat::from_rotation_y(r()) * Quat::from_rotation_x(0.5 * r());
                goal.rotation = (kind != 0).then(|| turn * end.model_rotation(leg.foot));
                if kind != 1 {
                    goal.pole = Pole::Direction(Vec3::new(2.0 * r(), 0.3 * r(), 1.0));
                }
                case.limbs.push([leg.thigh, leg.shin, leg.foot]);
                case.goals.push(goal);
            }
            let from = (n % 2 == 1).then(|| Vec3::new(r(), r(), r()));
            arrive(&mut case, [0.05, 0.13, 0.4][n % 3], from, &format!("legs, {name} {n}"), &mut count);
        }
        count.judge(name);
    }
}
