//! Full-body solver: a skeleton with any number of goals.

mod active_set;
mod balance;
mod bend;
mod bias;
mod column;
mod cost;
mod couple;
mod figure_state;
mod goal;
mod limb;
mod run;
mod soft_zone;
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
use bias::Bias;
use figure_state::{FigureState, NONE};
use run::{Outcome, Patience, Run};
use tasks::{Far, Task};

/// Solves a whole skeleton for any number of goals: for hands, feet and head, in the middle of limbs, or relative to other
/// joints.
///
/// Joints keep their offsets and stay within their limits. Where goals conflict, they share the error by weight. The cost of
/// a goal is its weight times the squared distance to it in figure sizes plus, for a rotation, its weight times a quarter of
/// the squared angle in radians. [`FullBody::effector_reports`] returns the residual of each goal. A goal of weight 0 has no
/// effect; to fade from the incoming pose to the answer, set [`FullBody::weight`]. Limbs bend as in the incoming pose, or
/// towards preferred values (by [`FullBody::posture`]) or a goal's pole.
///
/// A goal's **pole** turns the middle joint of its limb about the line from the limb's top to its end. The limb reaches from
/// the effector up to the last joint where limbs meet, and its middle joint is the one nearest to half its length. The bend
/// plane ends within three degrees of the pole where goals and limits leave it free. A pole counts less than any goal, as
/// posture does, and costs as much time: two more descents. A limb without a joint between its ends rejects a pole.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, solve::{Effector, FullBody}};
///
/// // A trunk on hips, with an arm at either side of its top.
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
/// let mut full_body = FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right)])?;
/// let mut pose = Pose::rest(&skeleton);
/// // The left goal is out of the arm's reach: the trunk turns left, and the right hand still meets its goal.
/// let goals = [Vec3::new(0.8, 1.4, 0.3), Vec3::new(-0.2, 1.3, 0.5)];
/// let report = full_body.solve(&mut pose, &goals.map(Goal::at))?;
/// assert!(report.position_residual < 2e-4);
/// assert!(full_body.effector_reports().iter().all(|effector| effector.met));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Each step is one of damped least squares (Levenberg 1944; Wampler 1986). It minimises over all small joint motions q
///
/// ```text
/// sum of w |J q - e|^2 + damping |q|^2,
/// ```
///
/// with e the residual of a task, J its Jacobian and w its weight. An articulated-body recursion does so without a matrix of
/// the whole system.
///
/// - **Inward**, from the effectors to the root, each joint accumulates the cost of its body's motion x, a quadratic with
///   the matrix M. The motion has a rotation t and a translation v at the joint's position. A position task at the arm a
///   adds w |v + t x a - e|^2, a rotation task w |t - e|^2. A child at the offset r moves by v + t x r, and adds its own
///   cost of that motion. The joint then eliminates its dofs, each at its optimum for any x: a dof that moves the body by s
///   subtracts M s s'M / (s'M s + damping) from M. The parent gets the remaining cost. Where limbs meet (at a sub-base) the
///   sum of their costs is a weighted rigid alignment in linear form, with each limb as compliant as its joints are.
/// - **Outward**, from the root to the effectors, each dof takes its optimum for the motion that its body has so far.
///
/// The recursion is exact, and takes some hundred multiplications per joint for any number of goals. It is that of
/// rigid-body dynamics, with goals in place of masses (Featherstone, "The Calculation of Robot Dynamics Using
/// Articulated-Body Inertias", 1983). A limb whose only goal is at its end takes less: its compliance at the goal is a sum
/// over its joints, inverted once at its top.
///
/// The damping is proportional to the cost (Sugihara 2011), so that steps are cautious far from the goals and Gauss-Newton
/// steps near them. A step that increases the cost is undone and repeated with more damping. Rotations are applied by the
/// Cayley map, which stays below a half turn for steps of any length.
///
/// **Limits** hold in every step by an active set. Joints are clamped to their limits, and the direction of each correction
/// becomes the normal of an active constraint. The next steps are tangent to active constraints. A constraint is released
/// when the force on it points inward.
///
/// **Priorities** are weights: each priority weighs a hundredth of the next higher one. At the end the higher priorities are
/// solved without the lower ones. Posture, poles and the root's spring are weights as well, at first a hundredth and then a
/// ten-thousandth of a goal's, and 0 in the last descent.
///
/// **Loops** (goals relative to joints that move) couple two bodies, which the recursion cannot express. They are constraint
/// rows, which the Woodbury identity adds to its result, at one more inward pass per row.
///
/// **Balance** couples all bodies, by their fractions of the total mass. It takes two constraint rows.
///
/// # Local minima
///
/// Where no step reduces the cost, the solver restarts: from the rest pose, or the preferred values of joints that have
/// some, and then from a fixed sequence of poses around it. The best answer is kept, and the report says whether the branch
/// changed. With [`max_restarts`](Self::max_restarts) at 0 the solver stays on the branch of the incoming pose.
///
/// # Frame by frame
///
/// Two bounds keep a figure from jumping where it solves each frame from the last frame's pose. [`soft`](Self::soft) keeps
/// knees and elbows from snapping where limbs straighten. [`max_turn`](Self::max_turn) bounds the rotation of every joint;
/// for games, some eight radians a second times the length of a frame look right. Without them, or where a trunk changes
/// from one bend to another, [`Report::branch_changed`](crate::Report::branch_changed) reports the jump.
///
/// # Few trackers
///
/// A head and two hands (a headset and two controllers) leave most of a figure free. Attributes of joints make such poses
/// believable:
///
/// - limits, so that knees and elbows bend one way;
/// - preferred values, with knees and elbows slightly bent, and [`posture`](Self::posture) at about 0.5;
/// - stiffness of collar bones and wrists, which then move only where other joints cannot do the work. A rotation of a joint
///   of stiffness s costs as much as one 1 / (1 - s) times as large.
///
/// [`HumanLimits`](crate::body::HumanLimits) sets these attributes on a body. [`Trackers`](crate::body::Trackers) solves it:
/// for the trackers first, then for feet that stay in place, then for [`Balance`] over them, with the root on a spring. The
/// example `trackers` shows it:
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
    /// Tolerance of position goals, as a fraction of the figure's [`size`](Self::size); 1e-4 by default. A pose within the
    /// tolerances stays as it is.
    pub tolerance: f32,
    /// Tolerance of rotation goals, in radians; 1e-3 by default.
    pub rotation_tolerance: f32,
    /// Maximum number of steps in one solve, restarts included; 200 by default.
    pub max_iterations: u32,
    /// Maximum number of restarts after a stall, 6 by default; 0 stays on the branch of the incoming pose.
    pub max_restarts: u32,
    /// How the root translates; [`RootMode::Pinned`] by default.
    pub root: RootMode,
    /// Strength of the pull of joints to their preferred values, 0 (none, the default) to 1. Joints without a preferred
    /// value are pulled to the rest pose. It moves joints only where goals leave them free.
    pub posture: f32,
    /// Maximum rotation of a joint in one solve, in radians; infinite (the default) for no bound.
    ///
    /// Where the answer lies beyond it, all joints move the same fraction of the way towards it, in joint coordinates. They
    /// move less where a goal would end with a larger residual than it had. A figure that solves each frame from the last
    /// frame's pose then never jumps, and converges over several frames.
    pub max_turn: f32,
    /// Soft zone of limbs near full extension, as a fraction of the range of distances that their ends can reach, 0 (none,
    /// the default) to 1. Knees and elbows slow down as limbs straighten instead of snapping (see
    /// [`soften`](super::soften)).
    ///
    /// A limb is a chain of joints that one position goal alone moves. Within the zone the limb falls short of its goal, and
    /// the residual pulls the trunk after it until the limb leaves the zone, if the trunk can move. A trunk that straightens
    /// has no zone.
    pub soft: f32,
    /// Holds the centre of mass over a support; `None` (the default) leaves it free.
    pub balance: Option<Balance>,
    /// Fraction of the answer to apply, 0 (the incoming pose) to 1 (the answer, the default), in joint coordinates.
    #[doc(alias = "alpha")]
    pub weight: f32,
    out_of_balance: f32,
}

/// Attributes of joints that the solver honours.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Slider,
    Attribute::Stiffness,
    Attribute::Preferred,
]);

/// Maximum number of goal shifts that make up for the pull of lower priorities: each leaves about a hundredth of the
/// residual.
const MAX_GOAL_SHIFTS: u32 = 4;

/// Maximum size of a figure, in metres: the square of a thousand times as much is finite in f32.
const MAX_SIZE: f32 = 1e16;

/// Maximum distance of the root or of a sliding joint, in figure sizes: its square is finite in f32.
const MAX_DISTANCE: f32 = 1e18;

/// The unit of length in metres: a figure of size 0 (a single joint that only rotates) counts in metres.
fn sized(size: f32) -> f32 {
    if size > 0.0 { size } else { 1.0 }
}

/// Length along the bones of the rest pose from a root to an effector, in metres.
fn rest_length(skeleton: &Skeleton, root: JointId, e: &Effector) -> f32 {
    let linear = |j| skeleton.rest(j).to_affine().matrix3;
    let above = skeleton.ancestors(root).fold(Mat3::IDENTITY, |below, j| linear(j) * below);
    let size = |j: JointId| skeleton.rest(j).scale.x.abs();
    let on_path = |j: &JointId| *j != root && skeleton.is_below(*j, root);
    // From the effector up, in the units of the current joint.
    let mut length = distance(e.offset, Vec3::ZERO) * size(e.joint);
    for j in core::iter::once(e.joint).chain(skeleton.ancestors(e.joint)).take_while(on_path) {
        length += distance(skeleton.rest(j).translation, Vec3::ZERO);
        length *= skeleton.parent(j).map_or(1.0, size);
    }
    length * math::uniform_scale(&above).abs()
}

impl FullBody {
    /// Creates a solver for the joints on the paths from `root` down to the effectors, and to the joints that goals are
    /// relative to.
    pub fn new(skeleton: &Skeleton, root: JointId, effectors: &[Effector]) -> Result<Self, FullBodyError> {
        goal::check(skeleton, root, effectors)?;
        let named = |t: &Effector| [Some(t.joint), t.relative_to].into_iter().flatten();
        let mut on = alloc::vec![false; skeleton.len()];
        for joint in effectors.iter().flat_map(named).filter(|&j| skeleton.is_below(j, root)) {
            for j in core::iter::once(joint).chain(skeleton.ancestors(joint)) {
                on[j.index()] = true;
                if j == root {
                    break;
                }
            }
        }
        let mut figure = FigureState::new(skeleton, root, |j| on[j.index()]);
        check_honoured(skeleton, figure.nodes.iter().map(|n| n.joint), "full body", HONOURED)?;
        let mut inner = alloc::vec![false; figure.nodes.len()];
        for node in &figure.nodes {
            if node.parent != NONE {
                inner[node.parent] = true;
            }
        }
        let tasks: Vec<Task> = effectors
            .iter()
            .map(|e| {
                let node = figure.find(e.joint).unwrap_or(0);
                inner[node] |= e.offset != Vec3::ZERO;
                let other = e.relative_to.and_then(|j| figure.find(j)).unwrap_or(NONE);
                if other != NONE {
                    inner[other] = true;
                }
                Task { node, other, ..Task::NOTHING }
            })
            .collect();
        let bends = tasks.iter().map(|a| Bend::of(&figure, skeleton, a.node)).collect();
        figure.size = sized(effectors.iter().map(|e| rest_length(skeleton, root, e)).fold(0.0, f32::max));
        Ok(Self {
            run: Run::new(figure, tasks, bends),
            effectors: effectors.to_vec(),
            effector_reports: alloc::vec![EffectorReport::default(); effectors.len()],
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

    /// The effectors, in the order of the goals.
    pub fn effectors(&self) -> &[Effector] {
        &self.effectors
    }

    /// The joints that the solver may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.run.figure.nodes.iter().map(|n| n.joint)
    }

    /// The outcome of each goal in the last solve, in the order of the effectors.
    pub fn effector_reports(&self) -> &[EffectorReport] {
        &self.effector_reports
    }

    /// The figure's size in metres: the longest path along the bones from the root to an effector.
    ///
    /// It is measured in the last solve or, before the first, in the rest pose.
    pub fn size(&self) -> f32 {
        self.run.figure.size
    }

    /// Distance of the centre of mass from its support after the last solve, perpendicular to [`Balance::up`], in metres; 0
    /// over the support or without [`balance`](Self::balance).
    pub fn out_of_balance(&self) -> f32 {
        self.out_of_balance
    }

    /// Moves every effector to its goal and leaves the pose updated. `goals` has one goal for each effector, in their order;
    /// [`Goal::NONE`] skips one.
    pub fn solve(&mut self, pose: &mut Pose, goals: &[Goal]) -> Result<Report, SolveError> {
        self.check(pose, goals)?;
        pose.update();
        if self.balance.is_some() {
            // The centre of mass counts all joints below the root.
            let root = self.run.figure.nodes[0].joint;
            for joint in pose.skeleton().below(root) {
                // (Joints hidden by a scale of zero keep their mass.)
                let frame = pose.model(joint);
                if !frame.is_finite() {
                    pose.check_finite()?;
                    check::finite_frame("a joint's frame", &frame)?;
                }
            }
        }
        self.run.figure.load(pose, &self.inner)?;
        self.load_goals(pose, goals)?;
        let mut report = Report::default();
        if self.weight > 0.0 {
            self.run.save_effectors();
            report = self.run();
            if self.weight < 1.0 {
                self.run.figure.blend(self.weight);
            }
            if self.max_turn < f32::INFINITY && self.run.figure.turned() > self.max_turn {
                let (steps, outcome) =
                    self.run.move_bounded(self.max_turn, self.max_iterations, self.bias().times(0.0));
                report.iterations += steps;
                report.status = match report.status {
                    _ if outcome.met => Status::Reached,
                    Status::Reached => Status::Stalled,
                    status => status,
                };
            }
            self.run.figure.store(pose);
            report.branch_changed = self.run.branch_changed();
        }
        self.measure(pose, goals, &mut report);
        Ok(report)
    }

    /// Whether the branch changed between two updated poses, for the given goals.
    pub(crate) fn branch_changed(&self, from: &Pose, to: &Pose, goals: &[Goal]) -> bool {
        let nodes = &self.run.figure.nodes;
        let poled = |(goal, bend): (&Goal, &Option<Bend>)| {
            let joints = bend.filter(|_| goal.pole != Pole::Keep)?.joints().map(|n| nodes[n].joint);
            let [(line, out), (line_now, out_now)] = [from, to].map(|pose| {
                let [top, middle, end] = joints.map(|j| pose.position(j));
                (end - top, middle - top)
            });
            Some(branch::flipped(line, out, line_now, out_now))
        };
        let mut poles = goals.iter().zip(&self.run.bends).filter_map(poled).peekable();
        if poles.peek().is_some() {
            return poles.any(|flipped| flipped);
        }
        let (mut moved, mut turned) = (0.0f32, 0.0f32);
        for (e, goal) in self.effectors.iter().zip(goals) {
            let at = |pose: &Pose| pose.model(e.joint).transform_point3(e.offset);
            moved = moved.max(distance(at(from), at(to)));
            if goal.rotation.is_some() && goal.rotation_weight > 0.0 {
                let turn = math::angle_between(from.model_rotation(e.joint), to.model_rotation(e.joint));
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
        check::within("the full body's weight", "0 to 1", self.weight, 0.0, 1.0)?;
        if let Some(balance) = &self.balance {
            balance.check(pose.skeleton().len())?;
        }
        match self.root {
            RootMode::Pinned | RootMode::Free => {}
            RootMode::Spring(strength) => {
                check::within("the root's spring", "0 or more", strength, 0.0, 1e6)?
            }
            RootMode::At(position) => check::finite("the root's position", position)?,
        }
        for (i, goal) in goals.iter().enumerate() {
            check::goal(goal)?;
            if goal.pole != Pole::Keep && self.run.bends[i].is_none() {
                return Err(SolveError::Pole { goal: i });
            }
            let e = &self.effectors[i];
            let contradicts = |j: &usize| {
                let (other, theirs) = (&self.effectors[*j], &goals[*j]);
                let turned = goal.rotation.zip(theirs.rotation);
                other.joint == e.joint
                    && other.relative_to == e.relative_to
                    && turned.is_some_and(|(a, b)| math::angle_between(a, b) > 2.0 * self.rotation_tolerance)
            };
            if let Some(second) = (0..i).find(contradicts) {
                let joint = pose.skeleton().name(e.joint).into();
                return Err(SolveError::Contradiction { first: second, second: i, joint });
            }
        }
        Ok(())
    }

    /// Rank of each priority among those in use: only their order counts.
    fn ranks(&self, goals: &[Goal]) -> [u8; 3] {
        let mut present = [false; 3];
        for (e, goal) in self.effectors.iter().zip(goals) {
            let position = goal.position.is_some() && goal.position_weight > 0.0;
            let turn = goal.rotation.is_some() && goal.rotation_weight > 0.0;
            present[usize::from(e.priority)] |= position || turn;
        }
        if let Some(balance) = &self.balance {
            present[usize::from(balance.priority)] = true;
        }
        [0, u8::from(present[0]), u8::from(present[0]) + u8::from(present[1])]
    }

    /// Turns goals into tasks.
    fn load_goals(&mut self, pose: &Pose, goals: &[Goal]) -> Result<(), SolveError> {
        let ranks = self.ranks(goals);
        let figure = &mut self.run.figure;
        let mut size = 0.0f32;
        for (task, e) in self.run.tasks.iter_mut().zip(&self.effectors) {
            task.lever = e.offset * figure.own_unit(task.node, pose);
            task.reach = figure.path_length(task.node) + distance(task.lever, Vec3::ZERO);
            size = size.max(task.reach);
        }
        let size = sized(size);
        check::within("the figure's size in metres", "at most 1e16", size, 0.0, MAX_SIZE)?;
        figure.set_unit(size);
        for (bend, goal) in self.run.bends.iter_mut().zip(goals) {
            if let Some(bend) = bend {
                bend.load(goal.pole, figure);
            }
        }
        let tolerance = (self.tolerance * size).max(figure.rounding) / size;
        figure.forward();
        let mut from = figure.origin + figure.frames[0].at * size;
        if let RootMode::At(position) = self.root {
            let what = "the distance to the root's position, in sizes of the figure";
            check::within(what, "at most 1e18", distance(from, position) / size, 0.0, MAX_DISTANCE)?;
            from = position;
        }
        let moves = matches!(self.root, RootMode::Free | RootMode::Spring(_));
        let clip = |task: &mut Task, position: Vec3, max: f32| {
            let clipped = no_further(position, from, (max * size).min(FAR * MAX_SIZE));
            if clipped != position {
                let offset = (figure.to_figure(clipped) - figure.to_figure(from)).as_dvec3();
                let min = (math64::sqrt(offset.length_squared()) - f64::from(task.reach) - 1e-5).max(0.0);
                let (all, part) = (distance(position, from), distance(clipped, from));
                let ratio = f64::from(all) / f64::from(part);
                task.far = Some(Far { excess: (all - part) / size, ratio, min_squared: min * min });
            }
            figure.to_figure(clipped)
        };
        let rank = self.balance.as_ref().map_or(0, |b| ranks[usize::from(b.priority)]);
        self.run.balance.load(self.balance.as_ref(), figure, pose, tolerance, rank);
        for ((task, e), goal) in self.run.tasks.iter_mut().zip(&self.effectors).zip(goals) {
            let rank = ranks[usize::from(e.priority)];
            let level = Task::level(rank);
            task.lever /= size;
            task.reach = if figure.slides_above(task.node) { f32::INFINITY } else { task.reach / size };
            task.priority = rank;
            (task.tolerance, task.rotation_tolerance) = (tolerance, self.rotation_tolerance);
            task.position_weight = level * f64::from(goal.position_weight);
            task.rotation_weight = 0.25 * level * f64::from(goal.rotation_weight);
            task.position = goal.position.filter(|_| goal.position_weight > 0.0);
            task.rotation = goal.rotation.filter(|_| goal.rotation_weight > 0.0).map(math::normalize);
            // A distant goal is a direction, unless the root or a slide can reach it.
            let max = if moves || task.reach == f32::INFINITY { MAX_DISTANCE } else { FAR };
            task.far = None;
            match e.relative_to {
                None => task.position = task.position.map(|p| clip(task, p, max)),
                // A joint outside the figure, which does not move.
                Some(other) if task.other == NONE => {
                    let frame = pose.model(other);
                    check::frame(pose, other, "a joint's frame", true)?;
                    if let Some(p) = task.position {
                        let position = frame.transform_point3(p);
                        check::finite("the goal's position in model space", position)?;
                        task.position = Some(clip(task, position, max));
                    }
                    task.rotation = task.rotation.map(|q| math::mul(pose.model_rotation(other), q));
                }
                Some(_) => {
                    let unit = figure.own_unit(task.other, pose);
                    if let Some(p) = task.position {
                        let clipped = no_further(p, Vec3::ZERO, max / unit.abs());
                        if clipped != p {
                            let [all, part] = [p, clipped].map(|p| f64::from(distance(p, Vec3::ZERO)));
                            task.far = Some(Far { excess: 0.0, ratio: all / part, min_squared: 0.0 });
                        }
                        task.position = Some(clipped * unit);
                    }
                }
            }
        }
        let balance = &mut self.run.balance;
        let weight = balance.is_active(u8::MAX).then_some((balance.priority, &mut balance.weight));
        tasks::weigh(&mut self.run.tasks, weight);
        Ok(())
    }

    /// Weights of the secondary objectives, poles left out.
    fn bias(&self) -> Bias {
        let posture = f64::from(self.posture);
        let root = match self.root {
            RootMode::Pinned | RootMode::At(_) => None,
            RootMode::Free => Some(0.0),
            RootMode::Spring(s) => Some(f64::from(s)),
        };
        Bias { posture: posture * posture, pole: 0.0, root }
    }

    /// Solves from the loaded state.
    fn run(&mut self) -> Report {
        let mut bias = self.bias();
        let run = &mut self.run;
        let mut report = Report::default();
        let poled = |b: &Bend| b.pole != Pole::Keep;
        if run.bends.iter().flatten().any(poled) {
            bias.pole = 1.0;
        }
        run.placed = matches!(self.root, RootMode::At(_));
        match self.root {
            RootMode::Pinned | RootMode::Free | RootMode::Spring(_) => {}
            RootMode::At(position) => {
                run.figure.forward();
                let shift = run.figure.to_figure(position) - run.figure.frames[0].at;
                // A root that is there already, up to rounding, keeps its bits.
                if shift.length() * run.figure.size > run.figure.rounding {
                    run.figure.move_root(shift);
                }
            }
        }
        run.figure.forward();
        run.zones.load(&run.figure, &run.tasks, self.soft);
        let mut start = run.measure(bias.times(0.0));
        start.met &= !run.bends.iter().flatten().any(|b| b.is_off(&run.figure.frames));
        let mut shortfall = 0.0f32;
        if bias.root.is_none() {
            let from = run.figure.frames[0].at;
            for task in run.tasks.iter().filter(|a| a.other == NONE) {
                let far = task.position.map_or(0.0, |p| math::sqrt((p - from).length_squared()));
                shortfall = shortfall.max(far + task.far.map_or(0.0, |f| f.excess) - task.reach);
            }
        }
        let tolerance = run.tasks.first().map_or(0.0, |a| a.tolerance);
        run.save_initial();
        let mut best = if start.met { start } else { self.seek(bias, shortfall > tolerance, &mut report) };
        let rests = report.iterations < self.max_iterations && !bias.any();
        let run = &mut self.run;
        if !best.met && run.restore_initial_if_worse() {
            // A secondary objective or a lower priority led away: descend from the initial pose without them, which never
            // makes a residual larger.
            let remaining = self.max_iterations - report.iterations;
            report.iterations += run.descend_first_unmet(remaining, bias.times(0.0));
            best = run.measure(bias.times(0.0));
        } else if !best.met && rests && run.restore_initial_if_near() {
            best = run.measure(bias.times(0.0));
        }
        if run.figure.outside && !start.met {
            // The residual is at most that of the incoming pose clamped to its limits.
            run.save_best();
            let placed = run.figure.nodes[0].offset;
            run.figure.restore_clamped();
            if run.placed {
                run.figure.nodes[0].offset = placed;
            }
            if run.measure(bias.times(0.0)).cost >= best.cost {
                run.restore_best();
            }
        }
        report.status = if best.met {
            Status::Reached
        } else if shortfall > tolerance {
            Status::Unreachable { by: (shortfall * run.figure.size).min(f32::MAX) }
        } else if report.iterations >= self.max_iterations {
            Status::OutOfIterations
        } else {
            Status::Stalled
        };
        report
    }

    /// Descends, and restarts after stalls.
    fn seek(&mut self, bias: Bias, unreachable: bool, report: &mut Report) -> Outcome {
        let run = &mut self.run;
        let free = bias.times(0.0);
        let balance = if run.balance.is_active(u8::MAX) { run.balance.priority } else { 0 };
        let last = run.tasks.iter().map(|a| a.priority).max().unwrap_or(0).max(balance);
        // A quarter of the steps is reserved for the higher priorities alone.
        let mut reserved = if last > 0 { self.max_iterations / 4 } else { 0 };
        let mut steps = Steps { remaining: self.max_iterations - reserved };
        let mut best = steps.attempt(run, bias);
        // The answer that is kept, and the one with the smallest residual.
        let mut answers = None;
        let (mut restarts, mut replaced) = (0, false);
        while !best.met && !unreachable && restarts < self.max_restarts && steps.remaining > 0 {
            // A residual that a soft zone causes remains from any start.
            if run.softened() {
                break;
            }
            let (mut answer, mut closest) = answers.unwrap_or_else(|| {
                run.save_answer();
                let first = run.answer();
                (first, first)
            });
            run.save_best();
            run.restart(restarts);
            let outcome = steps.attempt(run, bias);
            restarts += 1;
            let other = run.answer();
            if outcome.met || other.is_better(&answer, &closest) {
                (best, answer, replaced) = (outcome, other, true);
            } else {
                run.restore_best();
            }
            if other.is_closer(&closest, 0.0) {
                closest = other;
            }
            answers = Some((answer, closest));
        }
        if !best.met {
            best = steps.descend(run, free, Patience::LONG);
            if replaced {
                // After both have converged, the first answer may be as good.
                let (other, outcome) = (run.answer(), best);
                run.save_best();
                run.restore_answer();
                best = steps.descend(run, free, Patience::LONG);
                let first = run.answer();
                if other.is_better(&first, &first) {
                    run.restore_best();
                    best = outcome;
                }
            }
            // Removes the residual that lower priorities cause at higher ones: first by shifting goals, which keeps what the
            // lower ones have gained, then by descending for the higher priority alone.
            steps.remaining += core::mem::take(&mut reserved);
            if last > 0 {
                run.save_goals();
                for _ in 0..MAX_GOAL_SHIFTS {
                    if steps.remaining == 0 || !run.shift_goals(last) {
                        break;
                    }
                    steps.descend(run, free, Patience::AGAIN);
                }
                run.restore_goals();
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
        report.iterations = self.max_iterations - reserved - steps.remaining;
        report.restarts = restarts;
        best
    }

    /// Measures residuals on the pose.
    fn measure(&mut self, pose: &Pose, goals: &[Goal], report: &mut Report) {
        let size = self.run.figure.size;
        let tolerance = self.run.tasks.first().map_or(0.0, |a| a.tolerance) * size;
        self.out_of_balance = if self.run.balance.is_active(u8::MAX) {
            self.run.figure.forward();
            let off = self.run.balance.residual(&self.run.figure);
            math::sqrt(off.length_squared()) * size
        } else {
            0.0
        };
        for ((e, goal), outcome) in self.effectors.iter().zip(goals).zip(&mut self.effector_reports) {
            *outcome = EffectorReport { met: true, ..EffectorReport::default() };
            let other = e.relative_to.map(|j| pose.model(j));
            if let Some(p) = goal.position.filter(|_| goal.position_weight > 0.0) {
                let p = other.map_or(p, |frame| frame.transform_point3(p));
                let at = pose.model(e.joint).transform_point3(e.offset);
                outcome.position_residual = distance(at, p);
            }
            if let Some(q) = goal.rotation.filter(|_| goal.rotation_weight > 0.0) {
                let q = math::normalize(q);
                let q = e.relative_to.map_or(q, |j| math::mul(pose.model_rotation(j), q));
                outcome.rotation_residual = math::angle_between(pose.model_rotation(e.joint), q);
            }
            outcome.met = outcome.position_residual <= tolerance
                && outcome.rotation_residual <= self.rotation_tolerance;
            report.position_residual = report.position_residual.max(outcome.position_residual);
            report.rotation_residual = report.rotation_residual.max(outcome.rotation_residual);
        }
    }
}

/// Budget of steps.
struct Steps {
    remaining: u32,
}

impl Steps {
    fn descend(&mut self, run: &mut Run, bias: Bias, patience: Patience) -> Outcome {
        let (steps, outcome) = run.descend(self.remaining, bias, patience);
        self.remaining -= steps;
        outcome
    }

    /// Descends with the secondary objectives at decreasing weights, then without them.
    fn attempt(&mut self, run: &mut Run, bias: Bias) -> Outcome {
        if bias.any() {
            for weight in [1e-2, 1e-4] {
                self.descend(run, bias.times(weight), Patience::BIASED);
            }
        }
        self.descend(run, bias.times(0.0), Patience::SHORT)
    }
}
