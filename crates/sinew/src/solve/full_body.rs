//! Full-body solver: moves a skeleton to any number of goals.

mod active_set;
mod balance;
mod bend;
mod bias;
mod column;
mod cost;
mod couple;
mod figure_state;
pub(super) mod goal;
mod limb;
mod run;
mod soft_zone;
mod step;
mod tasks;

pub use balance::Balance;
pub use goal::{Effector, FullBodyError, FullBodyOptions, RootMode};

use alloc::{sync::Arc, vec::Vec};

use glam::{Vec2, Vec3};

use super::{
    IterativeOptions,
    arc::{FAR, distance, no_further},
    check,
    descent::{Measured, Patience},
};
use crate::{
    Goal, JointId, Outcome, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes, Capability},
    math, math64,
};
use bend::Bend;
use bias::Bias;
use figure_state::{FigureState, Kept, NONE};
use run::{Run, Start};
use tasks::{Far, Task};

/// Solver for a whole skeleton with any number of goals: for hands, feet and head, in the middle of limbs, or relative to
/// other joints.
///
/// Joints keep their offsets and stay within their limits. Where goals conflict, they share the error by the weights of
/// their [`Effector`]s. The cost of a goal is its weight times the squared distance to it in figure sizes. A rotation goal
/// adds its weight times a quarter of the squared angle in radians. [`FullBody::effector_reports`] returns the residual of
/// each goal. Limbs bend as in the incoming pose, or towards preferred values (by [`FullBodyOptions::posture`]) or a goal's
/// pole.
///
/// A goal's **influence** is the fraction of that goal that applies. At 0 the goal is absent, at 1 it is a full goal.
/// Between them the pose is between the answer without it and the answer with it, in joint coordinates. For several
/// influences i1 > i2 > ... below 1, let S0 be the answer with the goals of influence 1, and Sk the answer with those down
/// to ik. The pose is then the blend of all answers with the weights 1 - i1, i1 - i2 and so on. (This is the Lovász
/// extension of the answer from sets of goals to influences.) Where the residuals of goals of influence 1 exceed the same
/// blend of the answers' residuals, further steps reduce them. Each influence below 1 costs another solve, with iterations
/// and restarts of its own. [`IterativeOptions::influence`](super::IterativeOptions::influence) blends from the incoming
/// pose to the result.
///
/// A goal's **pole** turns the middle joint of its limb about the limb's axis, the line from its top to its end. The limb
/// reaches from the effector up to the last joint where limbs meet. Its middle joint is the one nearest to half its length.
/// The bend plane ends within three degrees of the pole where goals and limits leave it free. A pole counts less than any
/// goal, as posture does, and costs as much time: two more descents. A goal's **swivel** turns the bend plane further about
/// the limb's axis. Without a pole, it turns the initial bend plane, which the shortest arc from the initial axis to the
/// current one carries along. A limb without a joint between its ends rejects both.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, Workspace, glam::Vec3};
/// use sinew::solve::{Effector, FullBody, IterativeOptions};
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
/// let full_body = FullBody::new(&skeleton, hips, &[Effector::new(left), Effector::new(right)])?;
/// let mut workspace = Workspace::new();
/// let mut pose = Pose::rest(&skeleton);
/// // The left goal is out of the arm's reach: the trunk turns left, and the right hand still meets its goal.
/// let goals = [Vec3::new(0.8, 1.4, 0.3), Vec3::new(-0.2, 1.3, 0.5)].map(Goal::position);
/// let report = full_body.solve(&mut workspace, &mut pose, &goals, &IterativeOptions::new())?;
/// assert!(report.reached() && report.position_residual < 2e-4);
/// assert!(full_body.effector_reports(&pose, &goals, &report).all(|effector| effector.reached()));
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
/// some, and then from a fixed sequence of poses around it. The best answer is kept, and the report tells whether the branch
/// changed. With [`max_restarts`](super::IterativeOptions::max_restarts) at 0 the solver stays on the branch of the incoming
/// pose.
///
/// # Frame by frame
///
/// Two bounds keep a figure from jumping where it solves each frame from the last frame's pose.
/// [`soft`](super::IterativeOptions::soft) keeps knees and elbows from snapping near full extension.
/// [`max_turn`](super::IterativeOptions::max_turn) bounds the rotation of every joint; for games, about 8 rad/s times the
/// duration of a frame looks right. Without them, or where a trunk changes from one bend to another,
/// [`Report::branch_changed`](crate::Report::branch_changed) reports the jump.
///
/// # Few trackers
///
/// A head and two hands (a headset and two controllers) leave most of a figure free. Attributes of joints make such poses
/// plausible:
///
/// - limits, so that knees and elbows bend one way;
/// - preferred values, with knees and elbows slightly bent, and [`posture`](FullBodyOptions::posture) at about 0.5;
/// - stiffness of collar bones and wrists, which then move only where other joints cannot do the work. A rotation of a joint
///   of stiffness s costs as much as a rotation that is 1 / (1 - s) times as large.
/// - ease, with which joints slow down before their limits as long as others can do the work.
///
/// [`HumanLimits`](crate::body::HumanLimits) sets these attributes on a body. [`Trackers`](crate::body::Trackers) solves it:
/// for the trackers first, then for feet that stay in place, then for [`Balance`] over them, with the root on a spring. The
/// example `trackers` draws it:
///
#[doc = include_str!("../../pictures/trackers.svg")]
///
/// Drawn by the example `full_body`:
///
#[doc = include_str!("../../pictures/full_body.svg")]
#[doc(alias("FBIK", "full-body IK", "multi-effector"))]
#[derive(Clone, Debug)]
pub struct FullBody {
    start: Arc<Start>,
    effectors: Vec<Effector>,
    /// Nodes whose frames must have no shear.
    inner: Vec<bool>,
}

pub(super) const CAPABILITY: Capability = Capability::new(
    "full body",
    Attributes::TURNING.union(Attributes::of(&[
        Attribute::Slider,
        Attribute::Ease,
        Attribute::Stiffness,
        Attribute::Preferred,
    ])),
);

/// Maximum number of goal shifts that compensate for the pull of lower priorities. Each leaves about a hundredth of the
/// residual.
const MAX_GOAL_SHIFTS: u32 = 4;

/// Maximum size of a figure, in metres: the square of a thousand times this size is finite in f32.
const MAX_SIZE: f32 = 1e16;

/// Maximum distance of the root or of a sliding joint, in figure sizes: its square is finite in f32.
const MAX_DISTANCE: f32 = 1e18;

/// The unit of length in metres: the figure's size, or 1 for a figure of size 0 (a single joint that only rotates).
fn sized(size: f32) -> f32 {
    if size > 0.0 { size } else { 1.0 }
}

impl FullBody {
    /// Creates a solver for the joints on the paths from `root` down to the effectors, and to the joints that goals are
    /// relative to.
    ///
    /// # Errors
    /// - [`FullBodyError::Empty`] without effectors.
    /// - [`FullBodyError::NoSuchJoint`], [`FullBodyError::NoSuchRoot`] and [`FullBodyError::NotBelowRoot`] for joints that
    ///   do not fit the skeleton.
    /// - [`FullBodyError::Offset`], [`FullBodyError::Priority`] and [`FullBodyError::Weight`] for values out of range.
    /// - [`FullBodyError::LoopWithItself`] and [`FullBodyError::Twice`] for effectors that contradict themselves or each
    ///   other.
    /// - [`FullBodyError::Joint`] for a joint with an attribute that the solver does not support.
    pub fn new(skeleton: &Skeleton, root: JointId, effectors: &[Effector]) -> Result<Self, FullBodyError> {
        goal::check_effectors(skeleton, root, effectors)?;
        let named = |t: &Effector| [Some(t.joint), t.relative_to].into_iter().flatten();
        let on = goal::paths(skeleton, root, effectors.iter().flat_map(named));
        let figure = FigureState::new(skeleton, root, |j| on[j.index()]);
        CAPABILITY.check(skeleton, figure.nodes.iter().map(|n| n.joint))?;
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
        let bends: Vec<_> = tasks.iter().map(|a| Bend::of(&figure, skeleton, a.node)).collect();
        let bodies = step::bodies(&figure.nodes);
        let start = Arc::new(Start { nodes: figure.nodes, bodies, tasks, bends });
        Ok(Self { start, effectors: effectors.to_vec(), inner })
    }

    /// Effectors in the order of their goals.
    pub fn effectors(&self) -> &[Effector] {
        &self.effectors
    }

    /// Joints that the solver may move, parents before children.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        self.start.nodes.iter().map(|n| n.joint)
    }

    /// The outcome of each goal by itself, in the order of the effectors: `report` with the residuals of that goal, measured
    /// on `pose`, which must be up to date.
    pub fn effector_reports<'a>(
        &'a self,
        pose: &'a Pose,
        goals: &'a [Goal],
        report: &Report,
    ) -> impl Iterator<Item = Report> + use<'a> {
        goal::effector_reports(&self.effectors, pose, goals, *report)
    }

    /// `report` with the largest residuals of these goals.
    pub(crate) fn with_residuals(&self, pose: &Pose, goals: &[Goal], report: Report) -> Report {
        goal::with_residuals(&self.effectors, pose, goals, report)
    }

    /// Size of the figure in a pose, in metres: the longest path along the bones from the root to an effector.
    pub fn size(&self, pose: &Pose) -> f32 {
        let root = self.start.nodes[0].joint;
        let scale = |j: JointId| pose.local(j).scale.x.abs();
        let path = |e: &Effector| {
            // Length from the effector up, in the units of the current joint.
            let mut length = distance(e.offset, Vec3::ZERO) * scale(e.joint);
            let mut at = e.joint;
            while let Some(parent) = pose.skeleton().parent(at).filter(|_| at != root) {
                length = (length + distance(pose.local(at).translation, Vec3::ZERO)) * scale(parent);
                at = parent;
            }
            length
        };
        let unit = math::uniform_scale(&pose.parent_model(root).matrix3).abs();
        sized(self.effectors.iter().map(path).fold(0.0, f32::max) * unit)
    }

    /// Distance of the centre of mass from its support in a pose, perpendicular to [`Balance::up`], in metres. 0 over the
    /// support, and for a figure without mass.
    pub fn out_of_balance(&self, pose: &Pose, balance: &Balance) -> f32 {
        let centre = balance.centre(pose, self.start.nodes[0].joint);
        centre.map_or(0.0, |at| math::sqrt(balance.residual(at).length_squared()))
    }

    /// Size of the figure, and distance of its centre of mass from its support, after the last solve in a workspace, in
    /// metres.
    pub(crate) fn last_size_and_imbalance(workspace: &mut Workspace) -> (f32, f32) {
        let run: &mut Run = workspace.scratch();
        let mut off = Vec2::ZERO;
        if run.balance.is_active(u8::MAX) {
            run.figure.forward();
            off = run.balance.residual(&run.figure);
        }
        (run.figure.size, math::sqrt(off.length_squared()) * run.figure.size)
    }

    /// Reserves memory in a workspace, so that no solve allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        workspace.scratch::<Run>().begin(&self.start);
    }

    /// Moves every effector to its goal and leaves the pose updated. `goals` has one goal for each effector, in their order;
    /// [`Goal::NONE`] skips one. `options` are [`FullBodyOptions`] or [`IterativeOptions`].
    ///
    /// # Errors
    /// - [`SolveError::GoalCount`] for a wrong number of goals.
    /// - [`SolveError::Pole`] for a pole or swivel of a limb without a middle joint.
    /// - [`SolveError::Contradiction`] for two goals that rotate one joint differently.
    /// - Other [`SolveError`]s for values of goals, options or the pose that are not finite or out of range.
    pub fn solve<'a>(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        options: &(impl Into<FullBodyOptions<'a>> + Copy),
    ) -> Result<Report, SolveError> {
        self.solve_in(workspace.scratch(), pose, goals, &(*options).into())
    }

    fn solve_in(
        &self,
        run: &mut Run,
        pose: &mut Pose,
        goals: &[Goal],
        options: &FullBodyOptions,
    ) -> Result<Report, SolveError> {
        self.check(pose, goals, options)?;
        pose.update();
        if options.balance.is_some() {
            // The centre of mass counts all joints below the root.
            for joint in pose.skeleton().below(self.start.nodes[0].joint) {
                // Joints hidden by a scale of zero keep their mass.
                let frame = pose.model(joint);
                if !frame.is_finite() {
                    pose.check_finite()?;
                    check::finite_frame("a joint's frame", &frame)?;
                }
            }
        }
        let IterativeOptions { influence, max_turn, rotation_tolerance, .. } = options.iterative;
        let (max_iterations, _) = options.budget();
        let bias = options.bias().times(0.0);
        run.begin(&self.start);
        let mut report = Report { rotation_tolerance, ..Report::default() };
        let (mut level, mut partly) = (0.0, false);
        while level < 1.0 {
            let below = level;
            level = goal::next_influence(goals, below);
            run.figure.load(pose, &self.inner)?;
            self.load_goals(run, pose, goals, level, options)?;
            if influence == 0.0 {
                break;
            }
            if below == 0.0 {
                run.save_effectors();
            }
            let answer = run.solve(options);
            report.iterations += answer.iterations;
            report.restarts += answer.restarts;
            report.out_of_reach = report.out_of_reach.max(answer.out_of_reach);
            if report.outcome == Outcome::Converged {
                report.outcome = answer.outcome;
            }
            if below > 0.0 || level < 1.0 {
                let max_steps = if level < 1.0 { 0 } else { max_iterations };
                report.iterations += run.blend_answers(below / level, max_steps, bias);
            }
            if level < 1.0 {
                run.figure.keep(Kept::Blended);
                partly = true;
            }
        }
        if influence > 0.0 {
            if influence < 1.0 {
                run.figure.blend(influence);
            }
            if max_turn < f32::INFINITY {
                let beyond = run.figure.turned() > max_turn;
                if beyond {
                    report.iterations += run.move_bounded(max_turn, max_iterations, bias);
                }
                let (met, off) = (run.measure(bias).met, run.is_off_pole());
                report.outcome = match report.outcome {
                    // Goals with an influence below 1 are not among those that are met.
                    _ if beyond && met && !partly && !off => Outcome::Converged,
                    Outcome::Converged if beyond || (off && run.figure.rests()) => Outcome::Stalled,
                    other => other,
                };
            }
            run.figure.store(pose);
            report.branch_changed = run.branch_changed();
        }
        let tolerance = options.iterative.position_tolerance;
        (_, report.position_tolerance) = tolerance.with_rounding(run.figure.size, run.figure.rounding);
        Ok(self.with_residuals(pose, goals, report))
    }

    /// Whether the branch changed between two updated poses, for these goals.
    pub(crate) fn branch_changed(
        &self,
        workspace: &mut Workspace,
        from: &Pose,
        to: &Pose,
        goals: &[Goal],
    ) -> Result<bool, SolveError> {
        let run: &mut Run = workspace.scratch();
        run.begin(&self.start);
        run.figure.load(from, &self.inner)?;
        self.load_goals(run, from, goals, f32::MIN_POSITIVE, &FullBodyOptions::new())?;
        run.save_effectors();
        run.figure.put(to);
        Ok(run.branch_changed())
    }

    /// Maximum rotation of a joint between two poses, in radians.
    pub(crate) fn turned(&self, from: &Pose, to: &Pose) -> f32 {
        let turn = |j| math::angle_between(from.local(j).rotation, to.local(j).rotation);
        self.joints().map(turn).fold(0.0, f32::max)
    }

    fn check(&self, pose: &Pose, goals: &[Goal], options: &FullBodyOptions) -> Result<(), SolveError> {
        if goals.len() != self.effectors.len() {
            return Err(SolveError::GoalCount { given: goals.len(), wanted: self.effectors.len() });
        }
        options.check(pose.skeleton().len())?;
        for (i, goal) in goals.iter().enumerate() {
            check::goal(goal)?;
            if (goal.pole != Pole::Keep || goal.swivel != 0.0) && self.start.bends[i].is_none() {
                return Err(SolveError::Pole { goal: i });
            }
            let part = |i: usize| self.effectors[i].part(&goals[i], f32::MIN_POSITIVE);
            let e = &self.effectors[i];
            let max = 2.0 * options.iterative.rotation_tolerance;
            let contradicts = |j: &usize| {
                let other = &self.effectors[*j];
                let turned = part(i).rotation.zip(part(*j).rotation);
                other.joint == e.joint
                    && other.relative_to == e.relative_to
                    && turned.is_some_and(|(a, b)| math::angle_between(a, b) > max)
            };
            if let Some(second) = (0..i).find(contradicts) {
                let joint = pose.skeleton().name(e.joint).into();
                return Err(SolveError::Contradiction { first: second, second: i, joint });
            }
        }
        Ok(())
    }

    /// Converts goals of at least this influence to tasks.
    fn load_goals(
        &self,
        run: &mut Run,
        pose: &Pose,
        goals: &[Goal],
        influence: f32,
        options: &FullBodyOptions,
    ) -> Result<(), SolveError> {
        let goals = || self.effectors.iter().zip(goals).map(|(e, goal)| (e, e.part(goal, influence)));
        // Ranks of the priorities in use: only their order counts.
        let mut present = [false; 3];
        for (e, goal) in goals() {
            present[usize::from(e.priority)] |= goal.position.is_some() || goal.rotation.is_some();
        }
        if let Some(balance) = &options.balance {
            present[usize::from(balance.priority)] = true;
        }
        let ranks = [0, u8::from(present[0]), u8::from(present[0]) + u8::from(present[1])];
        let figure = &mut run.figure;
        let mut size = 0.0f32;
        for (task, e) in run.tasks.iter_mut().zip(&self.effectors) {
            task.lever = e.offset * figure.own_unit(task.node, pose);
            task.reach = figure.path_length(task.node) + distance(task.lever, Vec3::ZERO);
            size = size.max(task.reach);
        }
        let size = sized(size);
        check::within("the figure's size in metres", "at most 1e16", size, 0.0, MAX_SIZE)?;
        figure.set_unit(size);
        let (near, _) = options.iterative.position_tolerance.with_rounding(size, figure.rounding);
        let tolerance = near / size;
        figure.forward();
        for (bend, (_, goal)) in run.bends.iter_mut().zip(goals()) {
            if let Some(bend) = bend {
                bend.load(&goal, figure);
            }
        }
        let mut from = figure.origin + figure.frames[0].at * size;
        if let RootMode::At(position) = options.root {
            let what = "the distance to the root's position, in sizes of the figure";
            check::within(what, "at most 1e18", distance(from, position) / size, 0.0, MAX_DISTANCE)?;
            from = position;
        }
        let moves = matches!(options.root, RootMode::Free | RootMode::Spring(_));
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
        // Weights above 1 are relative to the largest.
        let heaviest = goals().map(|(e, _)| e.position_weight.max(e.rotation_weight)).fold(1.0, f32::max);
        let rank = options.balance.map_or(0, |b| ranks[usize::from(b.priority)]);
        run.balance.load(options.balance.as_ref(), figure, pose, tolerance, rank);
        run.balance.weight /= f64::from(heaviest);
        for (task, (e, goal)) in run.tasks.iter_mut().zip(goals()) {
            let rank = ranks[usize::from(e.priority)];
            let level = Task::level(rank) / f64::from(heaviest);
            task.lever /= size;
            task.reach = if figure.slides_above(task.node) { f32::INFINITY } else { task.reach / size };
            task.priority = rank;
            (task.tolerance, task.rotation_tolerance) = (tolerance, options.iterative.rotation_tolerance);
            task.position_weight = level * f64::from(e.position_weight);
            task.rotation_weight = 0.25 * level * f64::from(e.rotation_weight);
            (task.position, task.rotation) = (goal.position, goal.rotation.map(math::normalize));
            // A distant goal is a direction, unless the root or a slide can reach it.
            let max = if moves || task.reach == f32::INFINITY { MAX_DISTANCE } else { FAR };
            task.far = None;
            match e.relative_to {
                None => task.position = task.position.map(|p| clip(task, p, max)),
                // A joint outside the figure does not move.
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
        let balance = &mut run.balance;
        let weight = balance.is_active(u8::MAX).then_some((balance.priority, &mut balance.weight));
        tasks::weigh(&mut run.tasks, weight);
        Ok(())
    }
}

impl Run {
    /// Solves from the loaded state.
    fn solve(&mut self, options: &FullBodyOptions) -> Report {
        let (max_iterations, max_restarts) = options.budget();
        let mut bias = options.bias();
        let mut report = Report::default();
        if self.bends.iter().flatten().any(Bend::is_led) {
            bias.pole = 1.0;
        }
        self.placed = matches!(options.root, RootMode::At(_));
        match options.root {
            RootMode::Pinned | RootMode::Free | RootMode::Spring(_) => {}
            RootMode::At(position) => {
                self.figure.forward();
                let shift = self.figure.to_figure(position) - self.figure.frames[0].at;
                // A root that is there already, up to rounding, keeps its exact value.
                if shift.length() * self.figure.size > self.figure.rounding {
                    self.figure.move_root(shift);
                }
            }
        }
        self.figure.forward();
        self.zones.load(&self.figure, &self.tasks, options.iterative.soft);
        let mut start = self.measure(bias.times(0.0));
        start.met &= !self.is_off_pole();
        let mut shortfall = 0.0f32;
        if bias.root.is_none() {
            let from = self.figure.frames[0].at;
            for task in self.tasks.iter().filter(|a| a.other == NONE) {
                let far = task.position.map_or(0.0, |p| math::sqrt((p - from).length_squared()));
                shortfall = shortfall.max(far + task.far.map_or(0.0, |f| f.excess) - task.reach);
            }
        }
        let tolerance = self.tasks.first().map_or(0.0, |a| a.tolerance);
        self.figure.keep(Kept::Initial);
        let max_restarts = if shortfall > tolerance { 0 } else { max_restarts };
        let mut best =
            if start.met { start } else { self.seek(bias, max_iterations, max_restarts, &mut report) };
        let rests = report.iterations < max_iterations && !bias.any();
        if !best.met && self.restore_initial_if_worse() {
            // A secondary objective or a lower priority led away. A descent from the initial pose without them never
            // increases a residual.
            let remaining = max_iterations - report.iterations;
            report.iterations += self.descend_first_unmet(remaining, bias.times(0.0));
            best = self.measure(bias.times(0.0));
            // Nor did that descent hold the higher priorities.
            if !best.met && self.restore_initial_if_worse() {
                best = self.measure(bias.times(0.0));
            }
        } else if !best.met && rests && self.restore_initial_if_near() {
            best = self.measure(bias.times(0.0));
        }
        if self.figure.outside && !start.met {
            // The residual must be at most that of the incoming pose clamped to its limits.
            self.figure.keep(Kept::Best);
            let placed = self.figure.nodes[0].offset;
            self.figure.restore_clamped();
            if self.placed {
                self.figure.nodes[0].offset = placed;
            }
            if self.measure(bias.times(0.0)).cost >= best.cost {
                self.figure.restore(Kept::Best);
            }
        }
        report.outcome = if best.met {
            Outcome::Converged
        } else if report.iterations >= max_iterations {
            Outcome::OutOfIterations
        } else if self.is_softened() {
            Outcome::Converged
        } else {
            Outcome::Stalled
        };
        if !best.met && shortfall > tolerance {
            report.out_of_reach = (shortfall * self.figure.size).min(f32::MAX);
        }
        report
    }

    /// Descends, and restarts after stalls.
    fn seek(&mut self, bias: Bias, max_iterations: u32, max_restarts: u32, report: &mut Report) -> Measured {
        let free = bias.times(0.0);
        let balance = if self.balance.is_active(u8::MAX) { self.balance.priority } else { 0 };
        let last = self.tasks.iter().map(|a| a.priority).max().unwrap_or(0).max(balance);
        // A quarter of the steps is reserved for the higher priorities alone.
        let mut reserved = if last > 0 { max_iterations / 4 } else { 0 };
        let mut steps = Steps { remaining: max_iterations - reserved };
        let mut best = steps.attempt(self, bias);
        // The current best answer, and the one with the smallest residual.
        let mut answers = None;
        let (mut restarts, mut replaced) = (0, false);
        while !best.met && restarts < max_restarts && steps.remaining > 0 {
            // A residual that a soft zone causes remains from any start.
            if self.zones.keeps_short(&self.tasks, &self.figure.frames) {
                break;
            }
            let (mut answer, mut closest) = answers.unwrap_or_else(|| {
                self.figure.keep(Kept::First);
                let first = self.answer();
                (first, first)
            });
            self.figure.keep(Kept::Best);
            self.restart(restarts);
            let outcome = steps.attempt(self, bias);
            restarts += 1;
            let other = self.answer();
            if outcome.met || other.is_better(&answer, &closest) {
                (best, answer, replaced) = (outcome, other, true);
            } else {
                self.figure.restore(Kept::Best);
            }
            if other.is_closer(&closest, 0.0) {
                closest = other;
            }
            answers = Some((answer, closest));
        }
        if !best.met {
            best = steps.descend(self, free, Patience::LONG);
            if replaced {
                // The first answer may be as good after both have converged.
                let (other, outcome) = (self.answer(), best);
                self.figure.keep(Kept::Best);
                self.figure.restore(Kept::First);
                best = steps.descend(self, free, Patience::LONG);
                let first = self.answer();
                if other.is_better(&first, &first) {
                    self.figure.restore(Kept::Best);
                    best = outcome;
                }
            }
            // Removes the residual that lower priorities cause at higher ones: first by shifting goals, which keeps the
            // gains of the lower ones, then by descending for the higher priorities alone.
            steps.remaining += core::mem::take(&mut reserved);
            if last > 0 {
                self.save_goals();
                for _ in 0..MAX_GOAL_SHIFTS {
                    if steps.remaining == 0 || !self.shift_goals(last) {
                        break;
                    }
                    steps.descend(self, free, Patience::AGAIN);
                }
                self.restore_goals();
            }
            for priority in (0..last).rev() {
                self.priority = priority;
                steps.descend(self, free, Patience::SHORT);
            }
            self.priority = u8::MAX;
            if last > 0 {
                best = self.measure(free);
            }
        }
        report.iterations = max_iterations - reserved - steps.remaining;
        report.restarts = restarts;
        best
    }
}

/// Budget of steps.
struct Steps {
    remaining: u32,
}

impl Steps {
    fn descend(&mut self, run: &mut Run, bias: Bias, patience: Patience) -> Measured {
        let (steps, outcome) = run.descend(self.remaining, bias, patience);
        self.remaining -= steps;
        outcome
    }

    /// Descends with the secondary objectives at decreasing weights, then without them.
    fn attempt(&mut self, run: &mut Run, bias: Bias) -> Measured {
        if bias.any() {
            for weight in [1e-2, 1e-4] {
                self.descend(run, bias.times(weight), Patience::BIASED);
            }
        }
        self.descend(run, bias.times(0.0), Patience::SHORT)
    }
}
