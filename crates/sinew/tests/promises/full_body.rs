//! Promises of full bodies, on random trees with random limits, goals, priorities and roots.

use std::sync::Arc;

use proptest::prelude::*;
use sinew::{
    Goal, JointId, JointTransform, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
    glam::{Quat, Vec3},
    joint::{Joint, Turning},
    math,
    solve::{Balance, Effector, FullBody, FullBodyOptions, RootMode},
};

use crate::promises::{
    checks, config, judge,
    limited::{self, hold},
    rig,
};

/// A joint: which of those before it carries it (as a share), its bone, rest and start rotation, what it may do, its slide.
type One = (f32, Vec3, Quat, Quat, Joint, Option<(f64, f64)>);

/// A tip: which joint (as a share), its offset, priority, the joint that its goal moves with; place, rotation, weights.
type Led = (f32, Option<Vec3>, u8, Option<f32>, Option<Vec3>, Option<Quat>, [f32; 2]);

#[derive(Clone, Debug)]
struct Plan {
    joints: Vec<One>,
    led: Vec<Led>,
    size: f32,
    scale: Vec3,
    inside: bool,
    root: u8,
    posture: f32,
    soft: f32,
    balance: bool,
}

/// A skeleton in a pose, what it is led by, and how.
#[derive(Clone, Debug)]
pub struct Bush {
    pub pose: Pose,
    pub tips: Vec<Effector>,
    pub goals: Vec<Goal>,
    pub root: JointId,
    root_mode: RootMode,
    posture: f32,
    soft: f32,
    support: Option<[Vec3; 1]>,
    /// The longest way along the bones from the root to a tip, in metres.
    pub size: f64,
    /// Of places, in metres.
    pub rounding: f64,
}

fn plan() -> impl Strategy<Value = Plan> {
    let one = (
        0f32..1.0,
        prop_oneof![8 => rig::vector(), 1 => Just(Vec3::ZERO), 1 => rig::vector().prop_map(|v| v * 1e-4)],
        rig::rotation(),
        rig::rotation(),
        limited::joint(),
        limited::slide(),
    )
        .boxed();
    let weight = || prop_oneof![5 => Just(1f32), 2 => 0f32..1.0, 1 => Just(0f32)];
    let led = (
        0f32..1.0,
        prop::option::weighted(0.3, rig::vector()),
        prop_oneof![4 => Just(0u8), 1 => Just(1), 1 => Just(2)],
        prop::option::weighted(0.15, 0f32..1.0),
        prop::option::weighted(0.9, rig::vector()),
        prop::option::weighted(0.3, rig::rotation()),
        [weight(), weight()],
    )
        .boxed();
    let count = prop_oneof![1 => 2usize..4, 6 => 4usize..20, 1 => 20usize..60];
    (
        count.prop_flat_map(move |n| prop::collection::vec(one.clone(), n)),
        prop::collection::vec(led, 1..6),
        -3f32..3.0,
        rig::world_scale(),
        any::<bool>(),
        0u8..5,
        prop_oneof![3 => Just(0f32), 1 => 0f32..1.0],
        prop_oneof![2 => Just(0f32), 1 => 0f32..1.0],
        prop::bool::weighted(0.15),
    )
        .prop_map(|(joints, led, decade, scale, inside, root, posture, soft, balance)| Plan {
            joints,
            led,
            size: 10f32.powf(decade),
            scale,
            inside,
            root,
            posture,
            soft,
            balance,
        })
}

/// Trees of 2 to 60 joints below one that is none of theirs, one to five tips.
pub fn bush() -> impl Strategy<Value = Bush> {
    plan().prop_map(|plan| build(&plan))
}

/// The n-th of a list by a share of it.
fn pick<T: Copy>(list: &[T], share: f32) -> T {
    list[((share * list.len() as f32) as usize).min(list.len() - 1)]
}

fn build(plan: &Plan) -> Bush {
    let mut b = Skeleton::builder();
    let at = |translation, rotation, scale| JointTransform { translation, rotation, scale };
    let size = plan.size;
    let mut all = vec![b.add("above", None, at(Vec3::splat(0.3 * size), Quat::IDENTITY, plan.scale))];
    for (i, (above, bone, rest, ..)) in plan.joints.iter().enumerate() {
        // Limbs of some joints rather than one bush; the root is the only one that hangs on the first.
        let last = all[all.len() - 1];
        let parent = if i < 2 || *above < 0.7 { last } else { pick(&all[1..], (above - 0.7) / 0.3) };
        all.push(b.add(format!("{i}"), Some(parent), at(*bone * size, *rest, Vec3::ONE)));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let joints: Vec<JointId> = all[1..].iter().map(|&i| ids[i]).collect();
    for (&id, (.., joint, slide)) in joints.iter().zip(&plan.joints) {
        let dof = slide.map(|(a, b)| sinew::joint::Dof::range(a * f64::from(size), b * f64::from(size)));
        skeleton.set_joint(id, joint.with_slide([None, dof, None])).unwrap();
    }
    let skeleton = Arc::new(skeleton);
    let mut pose = Pose::rest(&skeleton);
    for (&id, (_, _, _, start, ..)) in joints.iter().zip(&plan.joints) {
        pose.set_rotation(id, if plan.inside { skeleton.clamp_rotation(id, *start) } else { *start });
    }
    pose.update();
    let root = joints[0];
    let (mut tips, mut goals): (Vec<Effector>, Vec<Goal>) = (Vec::new(), Vec::new());
    let unit = size * plan.scale.x.abs();
    for (joint, offset, priority, other, place, turn, [place_weight, turn_weight]) in &plan.led {
        let mut tip = Effector::new(pick(&joints, *joint))
            .with_offset(offset.map_or(Vec3::ZERO, |o| o * size))
            .with_priority(*priority)
            .with_position_weight(*place_weight)
            .with_rotation_weight(*turn_weight);
        tip.relative_to = other.map(|share| pick(&ids, share)).filter(|&j| j != tip.joint);
        // Two tips of one joint may contradict each other, which is refused.
        if tips.iter().any(|t| t.joint == tip.joint) {
            continue;
        }
        let about = pose.position(root);
        let place = place.map(|p| about + p * (2.0 * unit)).map(|p| match tip.relative_to {
            Some(other) => pose.model(other).inverse().transform_point3(p),
            None => p,
        });
        tips.push(tip);
        let mut goal = Goal::NONE;
        (goal.position, goal.rotation) = (place, *turn);
        goals.push(goal);
    }
    let mut bush = Bush {
        root,
        root_mode: match plan.root {
            0 | 1 => RootMode::Pinned,
            2 => RootMode::Free,
            3 => RootMode::Spring(1.0),
            _ => RootMode::At(pose.position(root) + Vec3::splat(0.2 * unit)),
        },
        posture: plan.posture,
        soft: plan.soft,
        support: plan.balance.then(|| [pose.position(root)]),
        size: 0.0,
        rounding: 0.0,
        tips,
        goals,
        pose,
    };
    bush.measure();
    bush
}

impl Bush {
    /// The bush with positions in model space alone as goals, of one priority, on a root that stays.
    pub fn plain(mut self) -> Self {
        for (tip, goal) in self.tips.iter_mut().zip(&mut self.goals) {
            (tip.priority, tip.relative_to, goal.rotation) = (0, None, None);
        }
        (self.root_mode, self.posture, self.soft, self.support) = (RootMode::Pinned, 0.0, 0.0, None);
        self
    }

    fn measure(&mut self) {
        let skeleton = self.pose.skeleton();
        let place = |j| judge::position(&self.pose, j);
        let way = |tip: &Effector| {
            let up = core::iter::once(tip.joint).chain(skeleton.ancestors(tip.joint));
            let bones = up.take_while(|&j| j != self.root).filter_map(|j| Some((j, skeleton.parent(j)?)));
            let bones: f64 = bones.map(|(a, b)| judge::length(judge::sub(place(a), place(b)))).sum();
            let end = judge::frame(&self.pose, tip.joint).point(judge::v(tip.offset));
            bones + judge::length(judge::sub(end, place(tip.joint)))
        };
        let size = self.tips.iter().map(way).fold(0.0, f64::max);
        // A figure of no size counts in metres.
        self.size = if size > 0.0 { size } else { 1.0 };
        let far = skeleton.joints().map(|j| judge::length(place(j))).fold(0.0, f64::max);
        self.rounding = 1e-6 * (far + self.size);
    }

    fn full_body(&self) -> FullBody {
        FullBody::new(self.pose.skeleton(), self.root, &self.tips).unwrap()
    }

    fn options(&self) -> FullBodyOptions<'_> {
        let mut options =
            FullBodyOptions::new().with_root(self.root_mode).with_posture(self.posture).with_soft(self.soft);
        options.balance = self.support.as_ref().map(|support| Balance::over(support));
        options
    }

    /// Promise 2. A root that may go anywhere, or is put somewhere, is not held to its own slide.
    fn holds(&self, full_body: &FullBody, pose: &Pose) {
        let mut joints = self.joints(full_body);
        let free = self.root_mode != RootMode::Pinned && pose.skeleton().joint(self.root).slide[1].is_some();
        joints.retain(|&j| j != self.root || !free);
        hold(&self.pose, pose, &joints, self.size);
    }

    fn joints(&self, full_body: &FullBody) -> Vec<JointId> {
        full_body.joints().collect()
    }

    /// Promise 1: offsets and scales are as they came, but for slides along their axis and a root that may go; other joints
    /// keep their bits.
    fn keeps_offsets(&self, full_body: &FullBody, pose: &Pose) {
        let s = pose.skeleton();
        let own = self.joints(full_body);
        for j in s.joints() {
            let (b, a) = (self.pose.local(j), pose.local(j));
            assert_eq!(b.scale, a.scale);
            let n: f64 = [a.rotation.x, a.rotation.y, a.rotation.z, a.rotation.w]
                .iter()
                .map(|&c| f64::from(c).powi(2))
                .sum();
            assert!((n - 1.0).abs() < 1e-6, "joint {j} has no unit rotation");
            if !own.contains(&j) {
                assert_eq!(
                    (b.translation, b.rotation),
                    (a.translation, a.rotation),
                    "joint {j} is not the tree's"
                );
            } else if s.joint(j).slide[1].is_none() && (j != self.root || self.root_mode == RootMode::Pinned)
            {
                assert_eq!(b.translation, a.translation, "joint {j} moved");
            }
        }
    }

    /// Residual of each goal on a pose, in metres and radians; 0 for an absent part.
    pub fn missing(&self, pose: &Pose) -> Vec<(f64, f64)> {
        let one = |(tip, goal): (&Effector, &Goal)| {
            let frame = judge::frame(pose, tip.joint);
            let other = tip.relative_to.map(|j| judge::frame(pose, j));
            let place = goal.position.filter(|_| tip.position_weight > 0.0).map_or(0.0, |p| {
                let p = other.map_or(judge::v(p), |f| f.point(judge::v(p)));
                judge::length(judge::sub(p, frame.point(judge::v(tip.offset))))
            });
            let turn = goal.rotation.filter(|_| tip.rotation_weight > 0.0).map_or(0.0, |q| {
                // Rotations in the frames' scale: those of the engine, from the pose, as mirrors have no one axis.
                let now = pose.model_rotation(tip.joint);
                let wanted = tip.relative_to.map_or(q, |j| math::mul(pose.model_rotation(j), q));
                f64::from(math::angle_between(math::normalize(wanted), now))
            });
            (place, turn)
        };
        self.tips.iter().zip(&self.goals).map(one).collect()
    }

    /// The weighted squares that goals of a priority miss, in figure sizes.
    pub fn objective(&self, pose: &Pose, priority: u8) -> f64 {
        let all = self.missing(pose).into_iter().zip(self.tips.iter().zip(&self.goals));
        all.filter(|(_, (tip, _))| tip.priority == priority)
            .map(|((place, turn), (tip, _))| {
                let chord = 2.0 * (0.5 * turn).sin();
                f64::from(tip.position_weight) * (place / self.size).powi(2)
                    + 0.25 * f64::from(tip.rotation_weight) * chord * chord
            })
            .sum::<f64>()
            + self.softened(pose, priority)
    }

    /// Cost of limbs in their soft zones, so that a limb of its own stands where [`soften`] puts a chain: the
    /// sum, over the way into the zone, of twice what its goal would be missed by there.
    fn softened(&self, pose: &Pose, priority: u8) -> f64 {
        let s = pose.skeleton();
        let place = |j| judge::position(pose, j);
        let asks = |(tip, goal): &(&Effector, &Goal)| {
            (goal.position.is_some() && tip.position_weight > 0.0)
                || (goal.rotation.is_some() && tip.rotation_weight > 0.0)
        };
        let all: Vec<(&Effector, &Goal)> = self.tips.iter().zip(&self.goals).filter(asks).collect();
        let on = |j: JointId, end: JointId| s.is_below(end, j);
        let ends = || all.iter().flat_map(|(t, _)| [Some(t.joint), t.relative_to]).flatten();
        let alone = |j: JointId| ends().filter(|&end| on(j, end)).count() == 1;
        let limb = |(tip, goal): &(&Effector, &Goal)| {
            if goal.position.is_none() || tip.position_weight <= 0.0 || tip.relative_to.is_some() {
                return 0.0;
            }
            let up = core::iter::once(tip.joint).chain(s.ancestors(tip.joint));
            let row: Vec<JointId> =
                up.take_while(|&j| alone(j) && (j == self.root || s.is_below(j, self.root))).collect();
            let Some(&top) = row.last() else { return 0.0 };
            if row.iter().any(|&j| j != top && s.joint(j).slide[1].is_some()) {
                return 0.0;
            }
            let end = judge::frame(pose, tip.joint).point(judge::v(tip.offset));
            let mut last = end;
            let (mut length, mut longest, mut bones) = (0.0f64, 0.0f64, 0);
            for &j in row.iter().filter(|&&j| j == top || s.joint(j).turning != Turning::Fixed) {
                let bone = judge::length(judge::sub(last, place(j)));
                if bone > 1e-4 * length {
                    (length, longest, bones) = (length + bone, longest.max(bone), bones + 1);
                }
                last = place(j);
            }
            let zone = f64::from(self.soft) * (length - (2.0 * longest - length).max(0.0));
            let far = judge::length(judge::sub(end, place(top)));
            let depth = ((far - (length - zone)) / zone).clamp(0.0, 1.0 - 1e-4);
            if bones < 2 || zone <= 1e-4 * length || depth <= 0.0 {
                return 0.0;
            }
            // By the midpoints of a thousand pieces: the goal whose softened distance is t into the zone is -ln(1 - t) into
            // it.
            let missed = |t: f64| -(1.0 - t).ln() - t;
            let sum: f64 = (0..1000).map(|i| missed(depth * (f64::from(i) + 0.5) / 1000.0)).sum();
            2.0 * f64::from(tip.position_weight) * (zone / self.size).powi(2) * sum * depth / 1000.0
        };
        all.iter().filter(|(tip, _)| tip.priority == priority).map(limb).sum()
    }

    /// The pose with the tree's joints put within their limits.
    pub fn clamped(&self, joints: &[JointId]) -> Pose {
        let mut pose = self.pose.clone();
        for &j in joints {
            let limits = self.pose.skeleton().limits(j);
            pose.set_rotation(j, limits.clamp(self.pose.local(j).rotation));
            let at = self.pose.local(j).translation;
            pose.set_translation(j, limits.clamp_slide(at, at));
        }
        pose.update();
        pose
    }
}

fn one_solve(bush: &Bush, hurry: u32) {
    let (full_body, mut options, mut workspace) = (bush.full_body(), bush.options(), Workspace::new());
    if hurry > 0 {
        options.iterative.max_iterations = Some(hurry);
    }
    let mut pose = bush.pose.clone();
    let report = full_body.solve(&mut workspace, &mut pose, &bush.goals, &options).unwrap();
    // 1, 2
    bush.holds(&full_body, &pose);
    bush.keeps_offsets(&full_body, &pose);
    // 8: residuals are what is found on the pose, and the status fits them.
    let far = |goal: &Goal| goal.position.map_or(0.0, |p| judge::length(judge::v(p)));
    let rounding = 4.0 * bush.rounding + 4e-6 * bush.goals.iter().map(far).fold(bush.size, f64::max);
    let missing = bush.missing(&pose);
    let most = |f: fn(&(f64, f64)) -> f64| missing.iter().map(f).fold(0.0, f64::max);
    let (place, turn) = (most(|m| m.0), most(|m| m.1));
    let found = f64::from(report.position_residual);
    assert!((place - found).abs() <= rounding, "reported {found:e}, found {place:e} ({rounding:e})");
    let found = f64::from(report.rotation_residual);
    assert!((turn - found).abs() <= 1e-5, "reported {found:e}, found {turn:e} radians");
    let near = 1e-4 * bush.size + rounding;
    let met = place <= near && turn <= 1e-3 + 1e-5;
    if report.reached() {
        assert!(met, "reached, but missed by {place:e} of {:e} and {turn:e} radians", bush.size);
    }
    let by = report.out_of_reach;
    if by > 0.0 {
        assert!(place >= f64::from(by) - rounding, "{by:e} out of reach, {place:e} left");
    }
    for (outcome, (place, turn)) in full_body.effector_reports(&pose, &bush.goals, &report).zip(&missing) {
        assert!((f64::from(outcome.position_residual) - place).abs() <= rounding);
        assert!((f64::from(outcome.rotation_residual) - turn).abs() <= 1e-5);
    }
    // 7: what goes first misses no more than it did, nor than from the start within its limits. (What else is asked for
    // first, as balance, may cost more.)
    let first = bush.tips.iter().map(|t| t.priority).min().unwrap_or(0);
    let all = bush.tips.iter().all(|t| t.priority == first);
    let stayed = report.outcome == Outcome::Converged && report.iterations == 0;
    if bush.support.is_none() && !stayed && !matches!(bush.root_mode, RootMode::At(_)) {
        let left = bush.objective(&pose, first);
        for start in [&bush.pose, &bush.clamped(&bush.joints(&full_body))] {
            let before = bush.objective(start, first);
            // Where several priorities share joints, what goes first is met to its tolerance.
            let slack = if all { 1e-6 } else { 1e-4 };
            let more = (slack + rounding / bush.size) * (left.sqrt() + before.sqrt() + slack) * 2.0;
            // At its end a zone's slope is as steep as eight goals that are missed by it.
            let more = more + f64::from(bush.soft) * (1e-6 + 16.0 * rounding / bush.size);
            assert!(left <= before + more, "grew from {before:e} to {left:e}, {report:?}");
        }
    }
    // 4: the same bits, whatever was solved before.
    let mut again = bush.pose.clone();
    assert_eq!(report, full_body.solve(&mut workspace, &mut again, &bush.goals, &options).unwrap());
    assert!(checks::same_bits(&pose, &again));
    // 6: solving for what is there moves nothing (by a margin, as sizes change with slides and places are rounded).
    let mut after = Bush { pose: pose.clone(), ..bush.clone() };
    after.measure();
    let near = 0.3 * 1e-4 * after.size.min(bush.size);
    let well = place + rounding < near && turn < 0.3 * 1e-3;
    if report.outcome == Outcome::Converged
        && well
        && options.balance.is_none_or(|b| full_body.out_of_balance(&pose, &b) == 0.0)
    {
        let report = full_body.solve(&mut workspace, &mut again, &bush.goals, &options).unwrap();
        assert!(checks::same_bits(&pose, &again), "solving again moved the pose: {report:?}");
    }
}

/// 6: goals at which the pose is already move nothing.
fn stays(bush: &Bush) {
    let mut bush = bush.clone();
    // (What is in a soft zone is drawn out of it.)
    (bush.support, bush.soft) = (None, 0.0);
    if matches!(bush.root_mode, RootMode::At(_)) || bush.rounding > 1e-5 * bush.size {
        return;
    }
    for (tip, goal) in bush.tips.iter().zip(&mut bush.goals) {
        let at = bush.pose.model(tip.joint).transform_point3(tip.offset);
        let turn = bush.pose.model_rotation(tip.joint);
        let seen = |j: JointId| {
            let (frame, own) = (bush.pose.model(j).inverse(), bush.pose.model_rotation(j));
            (frame.transform_point3(at), math::mul(math::conjugate(own), turn))
        };
        let (at, turn) = tip.relative_to.map_or((at, turn), seen);
        (goal.position, goal.rotation) = (Some(at), Some(turn));
    }
    let (full_body, options, mut workspace) = (bush.full_body(), bush.options(), Workspace::new());
    let mut pose = bush.pose.clone();
    let report = full_body.solve(&mut workspace, &mut pose, &bush.goals, &options).unwrap();
    assert!(checks::same_bits(&pose, &bush.pose), "goals that are met moved the pose: {report:?}");
    assert_eq!((report.outcome, report.iterations), (Outcome::Converged, 0));
}

/// 9: weights 0 and 1 are the ends, and all between is within limits and near its neighbours.
fn blends(bush: &Bush) {
    let (full_body, mut options, mut workspace) = (bush.full_body(), bush.options(), Workspace::new());
    options.iterative.influence = 0.0;
    let mut last = bush.pose.clone();
    full_body.solve(&mut workspace, &mut last, &bush.goals, &options).unwrap();
    assert!(checks::same_bits(&last, &bush.pose), "weight 0 moved the pose");
    const STEPS: usize = 40;
    for i in 1..=STEPS {
        options.iterative.influence = i as f32 / STEPS as f32;
        let mut pose = bush.pose.clone();
        full_body.solve(&mut workspace, &mut pose, &bush.goals, &options).unwrap();
        bush.holds(&full_body, &pose);
        for j in bush.joints(&full_body) {
            let step = math::angle_between(last.local(j).rotation, pose.local(j).rotation);
            assert!(step < 3.0 * core::f32::consts::TAU / STEPS as f32, "{step} at weight {i}/{STEPS}");
        }
        last = pose;
    }
}

/// The largest turn bounds every joint, and what goes first misses no more than it did.
fn bounded(bush: &Bush, most: f32) {
    let (full_body, mut options, mut workspace) = (bush.full_body(), bush.options(), Workspace::new());
    options.iterative.max_turn = most;
    let mut pose = bush.pose.clone();
    let report = full_body.solve(&mut workspace, &mut pose, &bush.goals, &options).unwrap();
    bush.holds(&full_body, &pose);
    let first = bush.tips.iter().map(|t| t.priority).min().unwrap_or(0);
    if bush.support.is_none()
        && report.outcome != Outcome::Converged
        && !matches!(bush.root_mode, RootMode::At(_))
    {
        let (before, left) = (bush.objective(&bush.pose, first), bush.objective(&pose, first));
        let far = |goal: &Goal| goal.position.map_or(0.0, |p| judge::length(judge::v(p)));
        let rounding = 4.0 * bush.rounding + 4e-6 * bush.goals.iter().map(far).fold(bush.size, f64::max);
        let slack = 1e-6 + rounding / bush.size;
        let more = slack * (left.sqrt() + before.sqrt() + slack) * 2.0;
        let more = more + f64::from(bush.soft) * (1e-6 + 16.0 * rounding / bush.size);
        assert!(left <= before + more, "grew from {before:e} to {left:e}, {report:?}");
    }
    for j in bush.joints(&full_body) {
        let step = math::angle_between(bush.pose.local(j).rotation, pose.local(j).rotation);
        assert!(step <= most + 1e-5, "joint {j} turned by {step} of {most}");
    }
}

/// 3: what is not finite is refused and nothing is touched; finite goals of any size leave finite poses.
fn finite(bush: &Bush) {
    let (full_body, options, mut workspace) = (bush.full_body(), bush.options(), Workspace::new());
    let mut refuses = |pose: &Pose, goals: &[Goal]| {
        let mut after = pose.clone();
        let refused: Result<Report, SolveError> =
            full_body.solve(&mut workspace, &mut after, goals, &options);
        assert!(refused.is_err() && checks::same_bits(pose, &after));
    };
    for bad in [f32::NAN, f32::INFINITY] {
        for i in 0..bush.goals.len() {
            let mut goals = bush.goals.clone();
            goals[i].position = Some(Vec3::new(0.0, bad, 0.0));
            refuses(&bush.pose, &goals);
            let mut goals = bush.goals.clone();
            goals[i].position_influence = bad;
            refuses(&bush.pose, &goals);
        }
        for tip in &bush.tips {
            let mut broken = bush.pose.clone();
            broken.set_rotation(tip.joint, Quat::from_xyzw(0.0, bad, 0.0, 1.0));
            refuses(&broken, &bush.goals);
        }
    }
    for size in [0.0, 1e-45, 1e-20, 1e-10, 1e10, 1e18, 1e30, 3e38] {
        let mut goals = bush.goals.clone();
        for goal in &mut goals {
            goal.position = goal.position.map(|p| p.normalize_or_zero() * size);
        }
        let mut pose = bush.pose.clone();
        match full_body.solve(&mut workspace, &mut pose, &goals, &options) {
            Ok(report) => {
                pose.check_finite().unwrap();
                assert!(report.position_residual.is_finite() && report.rotation_residual.is_finite());
                bush.holds(&full_body, &pose);
            }
            Err(_) => assert!(checks::same_bits(&pose, &bush.pose)),
        }
    }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn keeps_its_promises(b in bush(), hurry in prop_oneof![1 => 1u32..10, 2 => Just(0)]) {
        one_solve(&b, hurry);
    }

    #[test]
    fn keeps_what_is_already_there(b in bush()) {
        stays(&b);
    }

    #[test]
    fn turns_no_further_than_it_may(b in bush(), most in 0.01f32..1.0) {
        bounded(&b, most);
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn blends_by_weight(b in bush()) {
        blends(&b);
    }

    #[test]
    fn stays_finite(b in bush()) {
        finite(&b);
    }
}
