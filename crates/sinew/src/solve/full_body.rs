//! Whole skeletons with many goals, and what they have in common with one joint that hangs on another.

mod active_set;
mod balance;
mod bend;
mod branches;
mod column;
mod cost;
mod couple;
mod goal;
mod limb;
mod pulls;
mod reach;
mod run;
mod step;
mod tasks;

pub use balance::Balance;
pub use goal::{Effector, EffectorReport, FullBodyError, RootMode};

use alloc::vec::Vec;

use glam::{Mat3, Vec3};

use super::{
    arc::{FAR, distance, no_further},
    branch, check,
};
use crate::{
    Goal, JointId, Pole, Pose, Report, Skeleton, SolveError, Status,
    joint::{Attribute, Attributes, check_honoured},
    math, math64,
};
use bend::Bend;
use branches::{Branches, NONE};
use pulls::Pulls;
use run::{Left, Patience, Run};
use tasks::{Far, Task};

/// A whole skeleton with any number of goals: on hands, feet and head, in the middle of limbs, on one joint as seen from
/// another.
///
/// Joints keep their offsets and their limits. Goals that cannot all be met share the error by their weights (what a goal
/// misses counts its weight times the square of the way, in parts of the figure's size, and a quarter of the square of the
/// turn), and [`FullBody::effector_reports`] says which are missed by how much. A goal of weight 0 asks for nothing; to fade from the
/// incoming pose to the answer, there is [`FullBody::weight`]. The bend of limbs comes from the incoming pose, from preferred
/// values and posture, or from a goal's pole.
///
/// A goal's **pole** turns the middle joint of its limb (from the last joint at which limbs meet to the goal's; the joint
/// nearest to half its length) about the line from its beginning to its end, as far as goals and limits leave it free:
/// within three degrees where they do. It counts as posture does, less than any goal, and costs what posture costs, two more
/// runs of steps. A limb without a joint between its ends refuses a pole.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, solve::{Effector, FullBody}};
///
/// // A trunk on hips, with two arms that hang beside its top.
/// let mut builder = Skeleton::builder();
/// let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.0));
/// let hips = builder.add("hips", None, at(0.0, 1.0));
/// let chest = builder.add("chest", Some(hips), at(0.0, 0.4));
/// for (name, side) in [("left", 1.0), ("right", -1.0)] {
///     let upper = builder.add(name, Some(chest), at(0.2 * side, 0.1));
///     let elbow = builder.add("elbow", Some(upper), at(0.3 * side, 0.0));
///     builder.add(format!("{name} hand"), Some(elbow), at(0.28 * side, 0.0));
/// }
/// let (skeleton, _) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let [hips, left, right] = ["hips", "left hand", "right hand"].map(|name| skeleton.find(name).unwrap());
/// let mut tree = FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right)])?;
/// let mut pose = Pose::rest(&skeleton);
/// // Out of reach of arms alone: the trunk turns to the left, and the right hand stays where it is asked to.
/// let goals = [Vec3::new(0.8, 1.4, 0.3), Vec3::new(-0.2, 1.3, 0.5)];
/// let report = tree.solve(&mut pose, &goals.map(Goal::at))?;
/// assert!(report.position_residual < 2e-4);
/// assert!(tree.effector_reports().iter().all(|outcome| outcome.met));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// A step is one of damped least squares (Levenberg 1944; Wampler 1986): of all small motions q it makes the one for which
///
/// ```text
/// sum of w |J q - e|^2 + damping |q|^2
/// ```
///
/// is least, with e what a goal misses and J how its tip moves with the joints. The sum need not be written out as one large
/// system. **Inward**, from the tips to the root, each joint adds up what is asked of it as a quadratic in the motion x of
/// its body (a turn t and a way v of the joint's place): a place asked for at an arm a adds w |v + t x a - e|^2, a rotation
/// w |t - e|^2, and a child's quadratic is that of the child's body, which moves as x says (the place at r from here by v +
/// t x r). Then the joint's own freedoms are taken out, each doing its best whatever x is: with M the quadratic and s the
/// freedom's motion, M s s'M / (s'M s + damping) goes off M. What is left is asked of the parent. At a joint where limbs
/// meet (a sub-base) so the turn and the place are found that fit best all that the limbs ask, each as softly as its joints
/// can make up for it: a weighted rigid alignment, in its linear form. **Outward**, from the root to the tips, each freedom
/// then does its best for the motion that its body has got. This is exact, and takes some hundred multiplications a joint,
/// however many goals there are: it is how rigid bodies are simulated (Featherstone, "The Calculation of Robot Dynamics
/// Using Articulated-Body Inertias", 1983), with goals in the place of masses. A limb whose one goal is at its end needs
/// less: how softly its goal gives way is a sum over its joints, with one small inverse where the limb begins.
///
/// The damping is a part of what is missing (Sugihara 2011), so that steps are cautious far away and Newton's near by; a
/// step that misses more than before is taken back and made again with more of it. Turns are made by Cayley's map, which
/// takes no step further than a half turn.
///
/// **Limits** hold in every step: a joint is put to the nearest place within, and the direction in which it was put back is
/// a wall. The next steps go along the walls, and a wall is let go as soon as the whole wants to leave it.
///
/// **Priorities** are weights far apart: what has priority n + 1 counts a hundredth of what has n, and last the higher ones
/// are brought home by themselves. Posture and the root's spring are weights as well, a hundredth and then a ten-thousandth
/// of a goal's, and last none.
///
/// **Loops** (goals that move with a joint of the tree) ask two bodies at once, and do not fit in one body's quadratic. They
/// are taken in afterwards, by as many more passes as they have numbers (Woodbury).
///
/// **Balance** asks every body at once, for a share of the way as large as the body's share of the mass; its two numbers are
/// taken in as those of loops are.
///
/// # Where it would stop
///
/// It starts anew where no step leads nearer: from the rest pose, or the preferred values of joints that have some, and then
/// from places around it, always the same. The best is kept, and the report says that the branch changed. Without
/// [`max_restarts`](Self::max_restarts) it stays with the incoming pose's branch.
///
/// # Frame by frame
///
/// A figure that follows goals from the last frame's pose has three means against leaps. [`soft`](Self::soft) keeps knees
/// and elbows from snapping where limbs go straight. [`max_turn`](Self::max_turn) bounds every joint: in a game the largest
/// speed that looks right, some eight radians a second, times the time of a frame. Where neither is set, or a trunk goes
/// over from one way of being bent to another, the report's [`branch_changed`](crate::Report::branch_changed) says so.
///
/// # Few trackers
///
/// Head and hands alone (a headset and two controllers) leave most of a figure open. What makes it believable is what is
/// said of the joints: limits, so that knees and elbows bend one way; preferred values, knees and elbows bent a little, with
/// [`posture`](Self::posture) about a half; stiffness for what should stay out of it while others can do the work, collar
/// bones and wrists (a turn of a joint of stiffness s counts as much as one 1 / (1 - s) times as far).
/// [`HumanLimits`](crate::body::HumanLimits) gives a body's joints all of that, and [`Trackers`](crate::body::Trackers) leads it: trackers
/// first, then feet that stay where they stand, then [`Balance`] over them, and the root on a spring. The example `trackers`
/// does it:
///
#[doc = include_str!("../../pictures/trackers.svg")]
///
/// Drawn by the example `full_body`:
///
#[doc = include_str!("../../pictures/full_body.svg")]
#[doc(alias("FBIK", "full-body IK", "multi-effector"))]
#[derive(Clone, Debug)]
pub struct FullBody {
    run: Run,
    effectors: Vec<Effector>,
    effector_reports: Vec<EffectorReport>,
    /// Nodes whose frames must be free of shear.
    inner: Vec<bool>,
    /// How near each position goal must come, as a part of the figure's size: the longest way along the bones from the
    /// root to a tip. A tree that is this near everywhere stays as it is.
    pub tolerance: f32,
    /// How near each rotation goal must come, in radians.
    pub rotation_tolerance: f32,
    /// Steps after which it gives up, fresh starts included.
    pub max_iterations: u32,
    /// Fresh starts after it has stalled.
    pub max_restarts: u32,
    /// What the root does.
    pub root: RootMode,
    /// How strongly joints are drawn to their preferred values, or where they have none to the rest pose, 0 (not at all) to
    /// 1, where goals leave them free to go.
    pub posture: f32,
    /// The most that a joint turns in one solve, in radians; infinite for no bound. Where the answer is further, all joints
    /// go the same share of the way to it, less where goals would be missed by more than before, and goals are missed for
    /// now: a figure that is solved in each frame from the last frame's pose then never leaps, and arrives.
    pub max_turn: f32,
    /// The soft zone of limbs at the end of their reach, as a part of the way that their ends can go, 0 (none, the default)
    /// to 1: elbows and knees slow down as limbs go straight instead of snapping (see [`soften`](super::soften)). A limb is
    /// what one goal for a place alone moves. What its goal misses for the zone's sake draws the trunk, which comes after
    /// until the limb is out of its zone, if it can; a trunk that goes straight itself has no zone.
    pub soft: f32,
    /// The centre of mass held over a support; none: it is wherever it is.
    pub balance: Option<Balance>,
    /// How much of what was found is carried out, 0 to 1.
    #[doc(alias = "alpha")]
    pub weight: f32,
    out_of_balance: f32,
}

/// What is kept of a joint.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Slider,
    Attribute::Stiffness,
    Attribute::Preferred,
]);

/// How often goals are moved on against what draws them away: each time a hundredth of what they missed is left.
const LEANS: u32 = 4;

/// The largest size of a figure in metres: the square of a thousand of it is still a number.
const LARGEST: f32 = 1e16;

/// Sizes of the figure that its root, or what slides, goes at most: the square is still a number.
const AWAY: f32 = 1e18;

/// A figure of no size (one joint that only turns) counts in metres.
fn sized(size: f32) -> f32 {
    if size > 0.0 { size } else { 1.0 }
}

/// The way along the bones of the rest pose from a root to a tip, in metres.
fn rest_way(skeleton: &Skeleton, root: JointId, tip: &Effector) -> f32 {
    let linear = |j| skeleton.rest(j).to_affine().matrix3;
    let above = skeleton.ancestors(root).fold(Mat3::IDENTITY, |below, j| linear(j) * below);
    let size = |j: JointId| skeleton.rest(j).scale.x.abs();
    let on_way = |j: &JointId| *j != root && skeleton.is_below(*j, root);
    // From the tip up, in the units of the joint that has been come to.
    let mut way = distance(tip.offset, Vec3::ZERO) * size(tip.joint);
    for j in core::iter::once(tip.joint).chain(skeleton.ancestors(tip.joint)).take_while(on_way) {
        way += distance(skeleton.rest(j).translation, Vec3::ZERO);
        way *= skeleton.parent(j).map_or(1.0, size);
    }
    way * math::uniform_scale(&above).abs()
}

impl FullBody {
    /// The joints on the ways from `root` down to the tips.
    pub fn new(skeleton: &Skeleton, root: JointId, tips: &[Effector]) -> Result<Self, FullBodyError> {
        goal::check(skeleton, root, tips)?;
        let named = |t: &Effector| [Some(t.joint), t.relative_to].into_iter().flatten();
        let mut on = alloc::vec![false; skeleton.len()];
        for joint in tips.iter().flat_map(named).filter(|&j| skeleton.is_below(j, root)) {
            for j in core::iter::once(joint).chain(skeleton.ancestors(joint)) {
                on[j.index()] = true;
                if j == root {
                    break;
                }
            }
        }
        let mut branches = Branches::new(skeleton, root, |j| on[j.index()]);
        check_honoured(skeleton, branches.nodes.iter().map(|n| n.joint), "full body", HONOURED)?;
        let mut inner = alloc::vec![false; branches.nodes.len()];
        for node in &branches.nodes {
            if node.parent != NONE {
                inner[node.parent] = true;
            }
        }
        let asks: Vec<Task> = tips
            .iter()
            .map(|tip| {
                let node = branches.find(tip.joint).unwrap_or(0);
                inner[node] |= tip.offset != Vec3::ZERO;
                let other = tip.relative_to.and_then(|j| branches.find(j)).unwrap_or(NONE);
                if other != NONE {
                    inner[other] = true;
                }
                Task { node, other, ..Task::NOTHING }
            })
            .collect();
        let bends = asks.iter().map(|a| Bend::of(&branches, skeleton, a.node)).collect();
        branches.size = sized(tips.iter().map(|tip| rest_way(skeleton, root, tip)).fold(0.0, f32::max));
        Ok(Self {
            run: Run::new(branches, asks, bends),
            effectors: tips.to_vec(),
            effector_reports: alloc::vec![EffectorReport::default(); tips.len()],
            inner,
            tolerance: 1e-4,
            rotation_tolerance: 1e-3,
            max_iterations: 200,
            max_restarts: 6,
            root: RootMode::Pinned,
            posture: 0.0,
            max_turn: f32::INFINITY,
            soft: 0.0,
            balance: None,
            weight: 1.0,
            out_of_balance: 0.0,
        })
    }

    /// What it leads, in the order in which goals are given.
    pub fn effectors(&self) -> &[Effector] {
        &self.effectors
    }

    /// The joints that it may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.run.branches.nodes.iter().map(|n| n.joint)
    }

    /// How each goal came out in the last solve, in the order of the tips.
    pub fn effector_reports(&self) -> &[EffectorReport] {
        &self.effector_reports
    }

    /// The figure's size in metres, as of the last solve or, before the first, in the rest pose: the longest way along the
    /// bones from the root to a tip.
    pub fn size(&self) -> f32 {
        self.run.branches.size
    }

    /// How far, in metres, the centre of mass was from over its support after the last solve; 0 where it was over it, or
    /// need not be.
    pub fn out_of_balance(&self) -> f32 {
        self.out_of_balance
    }

    /// Brings every tip to its goal: `goals` has one for each tip, in their order; [`Goal::NONE`] asks for nothing. The pose
    /// is left updated.
    pub fn solve(&mut self, pose: &mut Pose, goals: &[Goal]) -> Result<Report, SolveError> {
        self.check(pose, goals)?;
        pose.update();
        if self.balance.is_some() {
            // It weighs all that hangs on the root.
            let root = self.run.branches.nodes[0].joint;
            for joint in pose.skeleton().below(root) {
                // (What is hidden by a scale of zero weighs what it weighs.)
                let frame = pose.model(joint);
                if !frame.is_finite() {
                    pose.check_finite()?;
                    check::finite_frame("a joint's frame", &frame)?;
                }
            }
        }
        self.run.branches.load(pose, &self.inner)?;
        self.ask(pose, goals)?;
        let mut report = Report::default();
        if self.weight > 0.0 {
            self.run.note_start();
            report = self.run();
            if self.weight < 1.0 {
                self.run.branches.blend(self.weight);
            }
            if self.max_turn < f32::INFINITY && self.run.branches.turned() > self.max_turn {
                let (steps, left) =
                    self.run.part_way(self.max_turn, self.max_iterations, self.pulls().times(0.0));
                report.iterations += steps;
                report.status = match report.status {
                    _ if left.met => Status::Reached,
                    Status::Reached => Status::Stalled,
                    status => status,
                };
            }
            self.run.branches.store(pose);
            report.branch_changed = self.run.branch_changed();
        }
        self.measure(pose, goals, &mut report);
        Ok(report)
    }

    /// Whether the branch changed from one pose to another, both up to date, for goals as they were given.
    pub(crate) fn branch_changed(&self, from: &Pose, to: &Pose, goals: &[Goal]) -> bool {
        let nodes = &self.run.branches.nodes;
        let poled = |(goal, bend): (&Goal, &Option<Bend>)| {
            let places = bend.filter(|_| goal.pole != Pole::Keep)?.joints().map(|n| nodes[n].joint);
            let [(line, out), (line_now, out_now)] = [from, to].map(|pose| {
                let [top, middle, tip] = places.map(|j| pose.position(j));
                (tip - top, middle - top)
            });
            Some(branch::flipped(line, out, line_now, out_now))
        };
        let mut poles = goals.iter().zip(&self.run.bends).filter_map(poled).peekable();
        if poles.peek().is_some() {
            return poles.any(|flipped| flipped);
        }
        let (mut moved, mut turned) = (0.0f32, 0.0f32);
        for (tip, goal) in self.effectors.iter().zip(goals) {
            let at = |pose: &Pose| pose.model(tip.joint).transform_point3(tip.offset);
            moved = moved.max(distance(at(from), at(to)));
            if goal.rotation.is_some() && goal.rotation_weight > 0.0 {
                let turn = math::angle_between(from.model_rotation(tip.joint), to.model_rotation(tip.joint));
                turned = turned.max(turn);
            }
        }
        let turn = |j| math::angle_between(from.local(j).rotation, to.local(j).rotation);
        branch::changed(self.joints().map(turn).fold(0.0, f32::max), moved / self.size(), turned)
    }

    fn check(&self, pose: &Pose, goals: &[Goal]) -> Result<(), SolveError> {
        if goals.len() != self.effectors.len() {
            return Err(SolveError::GoalCount { given: goals.len(), wanted: self.effectors.len() });
        }
        check::within("the tolerance", "above 0", self.tolerance, f32::MIN_POSITIVE, f32::MAX)?;
        let turn = self.rotation_tolerance;
        check::within("the rotation's tolerance", "above 0", turn, f32::MIN_POSITIVE, f32::MAX)?;
        check::within("the posture's strength", "0 to 1", self.posture, 0.0, 1.0)?;
        check::within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        check::within("the largest turn", "above 0", self.max_turn, f32::MIN_POSITIVE, f32::INFINITY)?;
        check::within("the tree's weight", "0 to 1", self.weight, 0.0, 1.0)?;
        if let Some(balance) = &self.balance {
            balance.check(pose.skeleton().len())?;
        }
        match self.root {
            RootMode::Pinned | RootMode::Free => {}
            RootMode::Spring(strength) => {
                check::within("the root's spring", "0 or more", strength, 0.0, 1e6)?
            }
            RootMode::At(place) => check::finite("the root's place", place)?,
        }
        for (i, goal) in goals.iter().enumerate() {
            check::goal(goal)?;
            if goal.pole != Pole::Keep && self.run.bends[i].is_none() {
                return Err(SolveError::Pole { goal: i });
            }
            let tip = &self.effectors[i];
            let contradicts = |j: &usize| {
                let (other, theirs) = (&self.effectors[*j], &goals[*j]);
                let turned = goal.rotation.zip(theirs.rotation);
                other.joint == tip.joint
                    && other.relative_to == tip.relative_to
                    && turned.is_some_and(|(a, b)| math::angle_between(a, b) > 2.0 * self.rotation_tolerance)
            };
            if let Some(second) = (0..i).find(contradicts) {
                let joint = pose.skeleton().name(tip.joint).into();
                return Err(SolveError::Contradiction { first: second, second: i, joint });
            }
        }
        Ok(())
    }

    /// The place of each priority among those of which something is asked: only their order counts.
    fn ranks(&self, goals: &[Goal]) -> [u8; 3] {
        let mut asked = [false; 3];
        for (tip, goal) in self.effectors.iter().zip(goals) {
            let place = goal.position.is_some() && goal.position_weight > 0.0;
            let turn = goal.rotation.is_some() && goal.rotation_weight > 0.0;
            asked[usize::from(tip.priority)] |= place || turn;
        }
        if let Some(balance) = &self.balance {
            asked[usize::from(balance.priority)] = true;
        }
        [0, u8::from(asked[0]), u8::from(asked[0]) + u8::from(asked[1])]
    }

    /// Takes the goals in.
    fn ask(&mut self, pose: &Pose, goals: &[Goal]) -> Result<(), SolveError> {
        let ranks = self.ranks(goals);
        let branches = &mut self.run.branches;
        let mut size = 0.0f32;
        for (ask, tip) in self.run.asks.iter_mut().zip(&self.effectors) {
            ask.lever = tip.offset * branches.own_unit(ask.node, pose);
            ask.reach = branches.way_to(ask.node) + distance(ask.lever, Vec3::ZERO);
            size = size.max(ask.reach);
        }
        let size = sized(size);
        check::within("the figure's size in metres", "at most 1e16", size, 0.0, LARGEST)?;
        branches.count_in(size);
        for (bend, goal) in self.run.bends.iter_mut().zip(goals) {
            if let Some(bend) = bend {
                bend.load(goal.pole, branches);
            }
        }
        let near = (self.tolerance * size).max(branches.rounding) / size;
        branches.forward();
        let mut from = branches.origin + branches.frames[0].at * size;
        if let RootMode::At(place) = self.root {
            let what = "the distance to the root's place, in sizes of the figure";
            check::within(what, "at most 1e18", distance(from, place) / size, 0.0, AWAY)?;
            from = place;
        }
        let goes = matches!(self.root, RootMode::Free | RootMode::Spring(_));
        let inside = |ask: &mut Task, place: Vec3, most: f32| {
            let near = no_further(place, from, (most * size).min(FAR * LARGEST));
            if near != place {
                let way = (branches.inside(near) - branches.inside(from)).as_dvec3();
                let least = (math64::sqrt(way.length_squared()) - f64::from(ask.reach) - 1e-5).max(0.0);
                let (all, part) = (distance(place, from), distance(near, from));
                let times = f64::from(all) / f64::from(part);
                ask.far = Some(Far { beyond: (all - part) / size, times, least: least * least });
            }
            branches.inside(near)
        };
        let rank = self.balance.as_ref().map_or(0, |b| ranks[usize::from(b.priority)]);
        self.run.held.load(self.balance.as_ref(), branches, pose, near, rank);
        for ((ask, tip), goal) in self.run.asks.iter_mut().zip(&self.effectors).zip(goals) {
            let rank = ranks[usize::from(tip.priority)];
            let level = Task::level(rank);
            ask.lever /= size;
            ask.reach = if branches.slides_above(ask.node) { f32::INFINITY } else { ask.reach / size };
            ask.priority = rank;
            (ask.near, ask.near_turn) = (near, self.rotation_tolerance);
            ask.place_weight = level * f64::from(goal.position_weight);
            ask.turn_weight = 0.25 * level * f64::from(goal.rotation_weight);
            ask.place = goal.position.filter(|_| goal.position_weight > 0.0);
            ask.turn = goal.rotation.filter(|_| goal.rotation_weight > 0.0).map(math::normalize);
            // What is far away is a direction, but where something can go there.
            let most = if goes || ask.reach == f32::INFINITY { AWAY } else { FAR };
            ask.far = None;
            match tip.relative_to {
                None => ask.place = ask.place.map(|p| inside(ask, p, most)),
                // It hangs elsewhere, and stays.
                Some(other) if ask.other == NONE => {
                    let frame = pose.model(other);
                    check::frame(pose, other, "a joint's frame", true)?;
                    if let Some(p) = ask.place {
                        let place = frame.transform_point3(p);
                        check::finite("the goal's position in model space", place)?;
                        ask.place = Some(inside(ask, place, most));
                    }
                    ask.turn = ask.turn.map(|q| math::mul(pose.model_rotation(other), q));
                }
                Some(_) => {
                    let unit = branches.own_unit(ask.other, pose);
                    if let Some(p) = ask.place {
                        let near = no_further(p, Vec3::ZERO, most / unit.abs());
                        if near != p {
                            let [all, part] = [p, near].map(|p| f64::from(distance(p, Vec3::ZERO)));
                            ask.far = Some(Far { beyond: 0.0, times: all / part, least: 0.0 });
                        }
                        ask.place = Some(near * unit);
                    }
                }
            }
        }
        let held = &mut self.run.held;
        let balance = held.asks(u8::MAX).then_some((held.priority, &mut held.weight));
        tasks::weigh(&mut self.run.asks, balance);
        Ok(())
    }

    /// What draws joints besides goals, but for poles.
    fn pulls(&self) -> Pulls {
        let posture = f64::from(self.posture);
        let root = match self.root {
            RootMode::Pinned | RootMode::At(_) => None,
            RootMode::Free => Some(0.0),
            RootMode::Spring(s) => Some(f64::from(s)),
        };
        Pulls { posture: posture * posture, pole: 0.0, root }
    }

    /// Solves in full, from what is loaded.
    fn run(&mut self) -> Report {
        let mut pulls = self.pulls();
        let run = &mut self.run;
        let mut report = Report::default();
        let poled = |b: &Bend| b.pole != Pole::Keep;
        if run.bends.iter().flatten().any(poled) {
            pulls.pole = 1.0;
        }
        run.placed = matches!(self.root, RootMode::At(_));
        match self.root {
            RootMode::Pinned | RootMode::Free | RootMode::Spring(_) => {}
            RootMode::At(place) => {
                run.branches.forward();
                let way = run.branches.inside(place) - run.branches.frames[0].at;
                // A root that is there, but for rounding, keeps its bits.
                if way.length() * run.branches.size > run.branches.rounding {
                    run.branches.move_root(way);
                }
            }
        }
        run.branches.forward();
        run.reach.load(&run.branches, &run.asks, self.soft);
        let mut start = run.measure(pulls.times(0.0));
        start.met &= !run.bends.iter().flatten().any(|b| b.is_off(&run.branches.frames));
        let mut by = 0.0f32;
        if pulls.root.is_none() {
            let from = run.branches.frames[0].at;
            for ask in run.asks.iter().filter(|a| a.other == NONE) {
                let far = ask.place.map_or(0.0, |p| math::sqrt((p - from).length_squared()));
                by = by.max(far + ask.far.map_or(0.0, |f| f.beyond) - ask.reach);
            }
        }
        let near = run.asks.first().map_or(0.0, |a| a.near);
        run.keep_first();
        let mut best = if start.met { start } else { self.seek(pulls, by > near, &mut report) };
        let rests = report.iterations < self.max_iterations && !pulls.draw();
        let run = &mut self.run;
        if !best.met && run.put_first_if_worse() {
            // Drawn elsewhere and cut short, or led away by what goes last: steps from the start alone, which never miss
            // more.
            let left = self.max_iterations - report.iterations;
            report.iterations += run.descend_first(left, pulls.times(0.0));
            best = run.measure(pulls.times(0.0));
        } else if !best.met && rests && run.put_first_if_near() {
            best = run.measure(pulls.times(0.0));
        }
        if run.branches.outside && !start.met {
            // No more is missing than there would be had it come in within its limits.
            run.keep_best();
            let placed = run.branches.nodes[0].offset;
            run.branches.put_within();
            if run.placed {
                run.branches.nodes[0].offset = placed;
            }
            if run.measure(pulls.times(0.0)).cost >= best.cost {
                run.put_best();
            }
        }
        report.status = if best.met {
            Status::Reached
        } else if by > near {
            Status::Unreachable { by: (by * run.branches.size).min(f32::MAX) }
        } else if report.iterations >= self.max_iterations {
            Status::OutOfIterations
        } else {
            Status::Stalled
        };
        report
    }

    /// Steps and fresh starts from where the joints are.
    fn seek(&mut self, pulls: Pulls, beyond: bool, report: &mut Report) -> Left {
        let run = &mut self.run;
        let free = pulls.times(0.0);
        let held = if run.held.asks(u8::MAX) { run.held.priority } else { 0 };
        let last = run.asks.iter().map(|a| a.priority).max().unwrap_or(0).max(held);
        // A quarter is spared for bringing the higher priorities home.
        let mut spared = if last > 0 { self.max_iterations / 4 } else { 0 };
        let mut steps = Steps { left: self.max_iterations - spared };
        let mut best = steps.attempt(run, pulls);
        // The answer that is kept, and the one that misses least.
        let mut answers = None;
        let (mut restarts, mut replaced) = (0, false);
        while !best.met && !beyond && restarts < self.max_restarts && steps.left > 0 {
            // What a soft zone keeps away is missed from anywhere.
            if run.softened() {
                break;
            }
            let (mut answer, mut least) = answers.unwrap_or_else(|| {
                run.keep_answer();
                let first = run.answer();
                (first, first)
            });
            run.keep_best();
            run.restart(restarts);
            let left = steps.attempt(run, pulls);
            restarts += 1;
            let other = run.answer();
            if left.met || other.goes_before(&answer, &least) {
                (best, answer, replaced) = (left, other, true);
            } else {
                run.put_best();
            }
            if other.misses_less(&least, 0.0) {
                least = other;
            }
            answers = Some((answer, least));
        }
        if !best.met {
            best = steps.descend(run, free, Patience::LONG);
            if replaced {
                // Where both have come to rest, the first answer may be as good.
                let (other, left) = (run.answer(), best);
                run.keep_best();
                run.put_answer();
                best = steps.descend(run, free, Patience::LONG);
                let first = run.answer();
                if other.goes_before(&first, &first) {
                    run.put_best();
                    best = left;
                }
            }
            // What lower priorities have drawn the higher ones away by is made good: first by goals that lie as much further
            // on, which leaves the lower ones what they can get, and then by itself.
            steps.left += core::mem::take(&mut spared);
            if last > 0 {
                run.keep_goals();
                for _ in 0..LEANS {
                    if steps.left == 0 || !run.lean(last) {
                        break;
                    }
                    steps.descend(run, free, Patience::AGAIN);
                }
                run.put_goals();
            }
            for priority in (0..last).rev() {
                run.priority = priority;
                steps.descend(run, free, Patience::SHORT);
            }
            run.priority = u8::MAX;
            if last > 0 {
                best = run.measure(free);
            }
        }
        report.iterations = self.max_iterations - spared - steps.left;
        report.restarts = restarts;
        best
    }

    /// Measures what is left on the pose.
    fn measure(&mut self, pose: &Pose, goals: &[Goal], report: &mut Report) {
        let size = self.run.branches.size;
        let near = self.run.asks.first().map_or(0.0, |a| a.near) * size;
        self.out_of_balance = if self.run.held.asks(u8::MAX) {
            self.run.branches.forward();
            let off = self.run.held.missing(&self.run.branches);
            math::sqrt(off.length_squared()) * size
        } else {
            0.0
        };
        for ((tip, goal), outcome) in self.effectors.iter().zip(goals).zip(&mut self.effector_reports) {
            *outcome = EffectorReport { met: true, ..EffectorReport::default() };
            let other = tip.relative_to.map(|j| pose.model(j));
            if let Some(p) = goal.position.filter(|_| goal.position_weight > 0.0) {
                let p = other.map_or(p, |frame| frame.transform_point3(p));
                let at = pose.model(tip.joint).transform_point3(tip.offset);
                outcome.position_residual = distance(at, p);
            }
            if let Some(q) = goal.rotation.filter(|_| goal.rotation_weight > 0.0) {
                let q = math::normalize(q);
                let q = tip.relative_to.map_or(q, |j| math::mul(pose.model_rotation(j), q));
                outcome.rotation_residual = math::angle_between(pose.model_rotation(tip.joint), q);
            }
            outcome.met =
                outcome.position_residual <= near && outcome.rotation_residual <= self.rotation_tolerance;
            report.position_residual = report.position_residual.max(outcome.position_residual);
            report.rotation_residual = report.rotation_residual.max(outcome.rotation_residual);
        }
    }
}

/// Steps that may still be made.
struct Steps {
    left: u32,
}

impl Steps {
    fn descend(&mut self, run: &mut Run, pulls: Pulls, patience: Patience) -> Left {
        let (steps, left) = run.descend(self.left, pulls, patience);
        self.left -= steps;
        left
    }

    /// From where the joints are to the goals: first as posture and spring draw, weaker and weaker, and then to the goals
    /// alone.
    fn attempt(&mut self, run: &mut Run, pulls: Pulls) -> Left {
        if pulls.draw() {
            for weight in [1e-2, 1e-4] {
                self.descend(run, pulls.times(weight), Patience::DRAWN);
            }
        }
        self.descend(run, pulls.times(0.0), Patience::SHORT)
    }
}
