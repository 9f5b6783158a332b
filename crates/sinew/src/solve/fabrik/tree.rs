//! Forward and backward reaching for several goals.

use alloc::vec::Vec;
use core::ops::ControlFlow;

use glam::{Affine3, DVec3, Quat, Vec3};

use super::{
    CAPABILITY,
    sweep::{Passes, Shape},
};
use crate::{
    Chain, ChainError, Goal, JointId, Outcome, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    joint::Capability,
    math, math64,
    solve::{
        Effector, FullBodyError, IterativeOptions, TraceStep,
        arc::{FAR, distance, no_further},
        branch,
        chain_state::{ChainState, Node, walk},
        check,
        choice::{AS_NEAR, AT_REST},
        full_body::goal,
        iterate::{Trace, Watch},
    },
};

/// Forward and backward reaching (FABRIK) with several end effectors, whose chains meet at sub-bases (Aristidou & Lasenby
/// 2011, section 5), in its textbook form: [`Fabrik`](super::Fabrik) on a tree of joints with limits of turning.
///
/// The backward pass goes from each effector inward to its sub-base, the joint where chains meet. Each chain asks for a
/// position of the sub-base, and the sub-base moves to the centroid of these. From there the pass goes on, over further
/// sub-bases, to the root. The forward pass puts the root back and goes outward, to each sub-base and then along each of its
/// chains. An effector in the middle of a chain makes its joint a sub-base, too.
///
/// The method is here to study it; to bring a figure to its goals, use [`FullBody`](super::super::FullBody).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3};
/// use sinew::solve::{Effector, FabrikTree, IterativeOptions};
///
/// // A stem of three bones that forks into two branches.
/// let mut builder = Skeleton::builder();
/// let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.02));
/// let root = builder.add("root", None, JointTransform::IDENTITY);
/// let stem = builder.add("stem", Some(root), at(0.0, 0.4));
/// let fork = builder.add("fork", Some(stem), at(0.0, 0.4));
/// for (name, side) in [("left", 0.2), ("right", -0.2)] {
///     let first = builder.add(name, Some(fork), at(side, 0.1));
///     let second = builder.add(format!("{name} middle"), Some(first), at(side, 0.3));
///     builder.add(format!("{name} tip"), Some(second), at(side, 0.3));
/// }
/// let (skeleton, _) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let [root, left, right] = ["root", "left tip", "right tip"].map(|name| skeleton.find(name).unwrap());
/// let tree = FabrikTree::new(&skeleton, root, &[Effector::new(left), Effector::new(right)])?;
/// let mut pose = Pose::rest(&skeleton);
/// let goals = [Vec3::new(0.5, 0.9, 0.5), Vec3::new(-0.1, 1.2, 0.4)].map(Goal::position);
/// let report = tree.solve(&mut Workspace::new(), &mut pose, &goals, &IterativeOptions::new())?;
/// assert!(report.reached());
/// assert!(tree.effector_reports(&pose, &goals, &report).all(|effector| effector.reached()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Sub-bases
///
/// The centroid is weighted by [`Effector::position_weight`]: a chain weighs as much as its effector, and one that leads to
/// another sub-base as much as the mean of the chains there. Where all weights are equal, it is the plain mean.
///
/// A sub-base is a joint with an orientation, and its bones are rigid. In both passes it turns to the chains below it by the
/// rotation that brings the ends of its bones nearest to where they should be, by weighted least squares (Wahba 1965). A bone
/// by itself turns by the shortest arc, which keeps the roll; so do several bones on one line. To let chains turn about a
/// sub-base one by one, as in the paper, give each of them a joint of its own at that position, with an offset of zero.
///
/// # Limits
///
/// Both passes honour limits as [`Fabrik`](super::Fabrik) does. Where the joints below a sub-base accept different
/// orientations of it in the backward pass, it takes their mean.
///
/// # Termination
///
/// A solve ends when all goals are met, when a sweep turns nothing, or after
/// [`max_iterations`](IterativeOptions::max_iterations) sweeps (32). It keeps the pose with the smallest residual: the root of
/// the weighted mean of the squared distances to the goals, of the input pose or after any sweep. Goals that conflict share
/// the error, as sub-bases move to centroids. Chains are not pulled straight towards goals out of reach.
///
/// # What it does not take
///
/// Effectors with a priority other than 0 or a [`relative_to`](Effector::relative_to) are a [`FullBodyError::Unsupported`].
/// Goals with a rotation, a pole or a swivel angle are a [`SolveError::UnsupportedGoal`]. A soft zone and restarts are a
/// [`SolveError::OutOfRange`].
///
/// Drawn by the example `fabrik_tree`:
///
#[doc = include_str!("../../../pictures/fabrik_tree.svg")]
#[doc(alias("sub-base", "multiple end effectors"))]
#[derive(Clone, Debug)]
pub struct FabrikTree {
    tree: Chain,
    shape: Shape,
    effectors: Vec<Effector>,
    /// Joints whose own scale matters, as something of the tree is below them.
    inner: Vec<bool>,
}

/// Attributes of a joint that the solver honours.
pub(in crate::solve) const TREE_CAPABILITY: Capability = Capability::new("fabrik tree", CAPABILITY.honoured);

/// Maximum size of a tree, in metres: the square of a thousand times this size is finite in f32.
const MAX_SIZE: f32 = 1e16;

/// Buffers of a solve.
#[derive(Debug, Default)]
struct TreeScratch {
    links: ChainState,
    /// The points: joints, then effectors.
    nodes: Vec<Node>,
    goals: Vec<Target>,
    best: Vec<(Quat, Vec3)>,
    /// The pose before a sweep.
    near: Vec<(Quat, Vec3)>,
    /// Blend of the solutions for goals of higher and higher influence.
    blended: Vec<(Quat, Vec3)>,
    /// Input positions of the effectors, in model space.
    input: Vec<Vec3>,
}

/// The goal of an effector.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    /// Position in the frame of the root's parent, in metres.
    place: Vec3,
    /// Weight; 0 without a goal.
    weight: f32,
}

impl FabrikTree {
    /// Creates a solver for the joints on the paths from `root` down to the effectors.
    ///
    /// # Errors
    /// - [`FullBodyError::Unsupported`] for an effector with a priority other than 0 or a goal relative to a joint.
    /// - Other [`FullBodyError`]s as for [`FullBody::new`](super::super::FullBody::new).
    pub fn new(skeleton: &Skeleton, root: JointId, effectors: &[Effector]) -> Result<Self, FullBodyError> {
        goal::check_effectors(skeleton, root, effectors)?;
        for e in effectors {
            let unsupported =
                [(e.priority != 0, "a priority"), (e.relative_to.is_some(), "a goal relative to a joint")];
            if let Some((_, property)) = unsupported.into_iter().find(|(is, _)| *is) {
                let joint = skeleton.name(e.joint).into();
                return Err(FullBodyError::Unsupported { joint, property, solver: TREE_CAPABILITY.solver });
            }
        }
        let on = goal::paths(skeleton, root, effectors.iter().map(|e| e.joint));
        let joints: Vec<_> = skeleton.below(root).filter(|j| on[j.index()]).collect();
        TREE_CAPABILITY.check(skeleton, joints.iter().copied())?;
        let index = |joint| joints.binary_search(&joint).unwrap_or(0);
        let parent = |&j: &JointId| skeleton.parent(j).filter(|_| j != root).map_or(0, index);
        let ends = effectors.iter().map(|e| index(e.joint));
        let parents: Vec<usize> = joints.iter().map(parent).chain(ends).collect();
        let mut inner = alloc::vec![false; joints.len()];
        for (point, &parent) in parents.iter().enumerate().skip(1) {
            let end = point.checked_sub(joints.len()).map(|e| &effectors[e]);
            inner[parent] |= end.is_none_or(|e| e.offset != Vec3::ZERO);
        }
        let shape = Shape::new(joints.len(), parents);
        Ok(Self { tree: Chain::of_tree(joints), shape, effectors: effectors.to_vec(), inner })
    }

    /// Effectors in the order of their goals.
    pub fn effectors(&self) -> &[Effector] {
        &self.effectors
    }

    /// Joints that the solver may move, parents before children.
    pub fn joints(&self) -> &[JointId] {
        self.tree.joints()
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

    /// Reserves memory in a workspace, so that no solve allocates.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.make_room(workspace.scratch());
    }

    fn make_room(&self, on: &mut TreeScratch) {
        let (joints, effectors) = (self.joints().len(), self.effectors.len());
        on.links.reserve(&self.tree);
        on.nodes.resize(joints + effectors, Node::default());
        on.goals.resize(effectors, Target::default());
        for kept in [&mut on.best, &mut on.near, &mut on.blended] {
            kept.clear();
            kept.reserve(joints);
        }
        on.input.clear();
        on.input.reserve(effectors);
    }

    /// Moves every effector to the position of its goal, and updates the pose. `goals` has one goal for each effector, in
    /// their order; [`Goal::NONE`] skips one, whose part of the tree moves along rigidly. The root stays at its position.
    ///
    /// Every joint ends within its limits, or no further out than the input pose has it. After an error the pose is
    /// unchanged. Relative tolerances are fractions of the longest path along the bones from the root to an effector.
    /// Influences below 1 blend solutions as in a [`FullBody`](super::super::FullBody).
    ///
    /// # Errors
    /// - [`SolveError::GoalCount`] for a wrong number of goals.
    /// - [`SolveError::UnsupportedGoal`] for a goal with a rotation, a pole or a swivel angle.
    /// - Other [`SolveError`]s for values of goals, options or the pose that are not finite or out of range, and for a sheared
    ///   frame in the tree or of the root's parent.
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        options: &IterativeOptions,
    ) -> Result<Report, SolveError> {
        self.solve_in(workspace.scratch(), pose, goals, options, None)
    }

    /// Solves as [`solve`](Self::solve) does, and calls `watch` after each point that moves. Where `watch` breaks, the solve
    /// ends and keeps the best pose so far, with the outcome [`Outcome::OutOfIterations`]. Where goals have influences
    /// between 0 and 1, each of the solutions that are blended starts from the input pose and from iteration 0.
    pub fn solve_traced(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goals: &[Goal],
        options: &IterativeOptions,
        watch: &mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>,
    ) -> Result<Report, SolveError> {
        self.solve_in(workspace.scratch(), pose, goals, options, Some(watch))
    }

    fn check(&self, goals: &[Goal], options: &IterativeOptions) -> Result<(), SolveError> {
        if goals.len() != self.effectors.len() {
            return Err(SolveError::GoalCount { given: goals.len(), wanted: self.effectors.len() });
        }
        options.check()?;
        let none = "0 for this solver, which has none";
        check::within("the soft zone", none, options.soft, 0.0, 0.0)?;
        let restarts = options.max_restarts.unwrap_or(0) as f32;
        check::within("the maximum number of restarts", none, restarts, 0.0, 0.0)?;
        for (n, goal) in goals.iter().enumerate() {
            check::goal(goal)?;
            let unsupported = [
                (goal.rotation.is_some(), "a rotation"),
                (goal.pole != Pole::Keep, "a pole"),
                (goal.swivel != 0.0, "a swivel angle"),
            ];
            if let Some((_, part)) = unsupported.into_iter().find(|(is, _)| *is) {
                return Err(SolveError::UnsupportedGoal { goal: n, part, solver: TREE_CAPABILITY.solver });
            }
        }
        Ok(())
    }

    /// Checks the frames of an updated pose.
    fn check_frames(&self, pose: &Pose) -> Result<(), SolveError> {
        let skeleton = pose.skeleton();
        let above = skeleton.parent(self.tree.root());
        let own = self.joints().iter().copied().zip(self.inner.iter().copied());
        for (joint, inner) in above.map(|j| (j, true)).into_iter().chain(own) {
            check::frame(pose, joint, "a joint's frame", inner)?;
            let shear = if inner { math::shear(&pose.model(joint).matrix3) } else { 0.0 };
            // As in `Chain::check_frames`.
            if shear.is_nan() || shear > 1e-3 {
                return Err(ChainError::Sheared { joint: skeleton.name(joint).into(), shear }.into());
            }
        }
        Ok(())
    }

    fn solve_in(
        &self,
        on: &mut TreeScratch,
        pose: &mut Pose,
        goals: &[Goal],
        options: &IterativeOptions,
        watch: Watch,
    ) -> Result<Report, SolveError> {
        self.check(goals, options)?;
        pose.update();
        self.check_frames(pose)?;
        self.make_room(on);
        on.links.take_tree(&self.tree, pose, |n| self.shape.parent(n));
        on.links.turn_at_most(options.max_turn);
        on.input.extend(self.effectors.iter().map(|e| pose.model(e.joint).transform_point3(e.offset)));
        let size = self.effectors.iter().map(|e| self.reach(&on.links, pose, e).0).fold(0.0, f32::max);
        check::within("the tree's size in metres", "at most 1e16", size, 0.0, MAX_SIZE)?;
        // A single joint has the size 0.
        let size = if size > 0.0 { size } else { 1.0 };
        let tolerance = options.position_tolerance;
        let (near, position_tolerance) = tolerance.with_rounding(size, on.links.rounding);
        let rotation_tolerance = options.rotation_tolerance;
        let mut report = Report { position_tolerance, rotation_tolerance, ..Report::default() };
        let mut trace = Trace::new(watch, Affine3::IDENTITY);
        let mut level = if options.influence > 0.0 { 0.0 } else { 1.0 };
        while level < 1.0 {
            let below = level;
            level = goal::next_influence(goals, below);
            on.links.reset();
            let beyond = self.load_goals(on, pose, goals, level, size);
            report.out_of_reach = report.out_of_reach.max(if beyond > near { beyond } else { 0.0 });
            let max_iterations = options.max_iterations.unwrap_or(32);
            let (outcome, iterations) = self.descend(on, [near, size], max_iterations, &mut trace);
            report.iterations += iterations;
            if report.outcome == Outcome::Converged {
                report.outcome = outcome;
            }
            if below > 0.0 {
                on.links.blend_to(&on.blended, below / level);
            }
            if level < 1.0 {
                on.links.keep(&mut on.blended);
            }
        }
        if options.influence > 0.0 {
            if options.influence < 1.0 {
                on.links.blend(options.influence);
            }
            // Between two solutions within the bound, a joint may exceed it.
            on.links.turn_back();
            on.links.store(pose);
            let end = |e: &Effector| pose.model(e.joint).transform_point3(e.offset);
            let moved = self.effectors.iter().zip(&on.input).map(|(e, was)| distance(end(e), *was));
            let moved = moved.fold(0.0, f32::max) / size;
            report.branch_changed = branch::changed(on.links.turned(), moved, 0.0);
        }
        Ok(goal::with_residuals(&self.effectors, pose, goals, report))
    }

    /// Length of the path along the bones from the root to an effector, and the longest bone on it, in metres.
    fn reach(&self, links: &ChainState, pose: &Pose, effector: &Effector) -> (f32, f32) {
        let joint = self.joints().binary_search(&effector.joint).unwrap_or(0);
        let scale = pose.local(effector.joint).scale.x.abs();
        let length = |v: Vec3, unit: f32| math::sqrt(v.length_squared()) * unit;
        let end = length(effector.offset, links.links[joint].unit * scale);
        let up = core::iter::successors(Some(joint), |&j| self.shape.parent(j)).filter(|&j| j > 0);
        up.map(|j| length(links.links[j].offset, links.links[j].unit))
            .fold((end, end), |(sum, longest), bone| (sum + bone, f32::max(longest, bone)))
    }

    /// Loads goals of at least this influence. Returns the largest distance of a goal from the reach of its path, in metres.
    fn load_goals(
        &self,
        on: &mut TreeScratch,
        pose: &Pose,
        goals: &[Goal],
        influence: f32,
        size: f32,
    ) -> f32 {
        self.walk(on);
        let root = on.links.back_out(on.nodes[0].place);
        let mut beyond = 0.0f32;
        for ((e, goal), target) in self.effectors.iter().zip(goals).zip(&mut on.goals) {
            *target = Target::default();
            let Some(position) = e.part(goal, influence).position else { continue };
            let (reach, longest) = self.reach(&on.links, pose, e);
            let far = distance(position, root);
            beyond = beyond.max(far - reach).max(2.0 * longest - reach - far);
            // A goal far away counts as a direction.
            let (place, _) = on.links.inside(no_further(position, root, FAR * size), None);
            *target = Target { place, weight: e.position_weight };
        }
        beyond
    }

    /// Computes the state of every joint.
    fn walk(&self, on: &mut TreeScratch) {
        walk(&on.links, &mut on.nodes, |n| self.shape.parent(n));
    }

    /// Residual after [`walk`](Self::walk): the root of the weighted mean of the squared distances, in metres; and whether
    /// every goal is within `near` metres.
    fn measure(&self, on: &TreeScratch, near: f32) -> (f64, bool) {
        let (mut sum, mut weights, mut met) = (0.0, 0.0, true);
        for (n, (e, goal)) in self.effectors.iter().zip(&on.goals).enumerate() {
            let joint = &on.nodes[self.shape.parent(self.shape.joints + n).unwrap_or(0)];
            let end = joint.place + math::rotate(joint.turned, joint.bone_to(e.offset));
            let off: DVec3 = (end - goal.place).as_dvec3();
            if goal.weight > 0.0 {
                sum += f64::from(goal.weight) * off.length_squared();
                weights += f64::from(goal.weight);
                met &= off.length_squared() <= f64::from(near) * f64::from(near);
            }
        }
        (if weights > 0.0 { math64::sqrt(sum / weights) } else { 0.0 }, met)
    }

    /// Sweeps from the loaded pose until all goals are within `near` metres, nothing moves or the sweeps are used up. Leaves
    /// the best pose found. Returns the outcome and the number of sweeps.
    fn descend(
        &self,
        on: &mut TreeScratch,
        [near, size]: [f32; 2],
        max_iterations: u32,
        trace: &mut Trace,
    ) -> (Outcome, u32) {
        let (mut best, mut met) = self.measure(on, near);
        let (mut iterations, mut rests, start_met) = (0, false, met);
        on.links.keep(&mut on.best);
        let outcome = loop {
            if met {
                break Outcome::Converged;
            }
            if iterations >= max_iterations || trace.stopped() {
                break Outcome::OutOfIterations;
            }
            if rests {
                break Outcome::Stalled;
            }
            on.links.keep(&mut on.near);
            trace.begin(iterations);
            self.sweep(on, trace);
            iterations += 1;
            self.walk(on);
            let (now, all) = self.measure(on, near);
            (met, rests) = (all, on.links.rests(&on.near, AT_REST));
            // As near as f32 resolves.
            if met || now <= best + f64::from(AS_NEAR * size) {
                best = best.min(now);
                on.links.keep(&mut on.best);
            }
        };
        if on.links.outside && !start_met {
            // The residual must not exceed that of the input put within its limits.
            on.links.put_within();
            on.links.turn_back();
            self.walk(on);
            if self.measure(on, near).0 < if met { 0.0 } else { best } {
                return (outcome, iterations);
            }
        }
        on.links.put(&on.best);
        (outcome, iterations)
    }

    /// Makes one sweep from the state after [`walk`](Self::walk).
    fn sweep(&self, on: &mut TreeScratch, trace: &mut Trace) {
        let joints = self.shape.joints;
        on.nodes[..joints].iter_mut().for_each(|node| node.weight = 0.0);
        for (n, (e, goal)) in self.effectors.iter().zip(&on.goals).enumerate() {
            let bone = on.nodes[self.shape.parent(joints + n).unwrap_or(0)].bone_to(e.offset);
            on.nodes[joints + n] = Node { place: goal.place, bone, weight: goal.weight, ..Node::default() };
        }
        let TreeScratch { links, nodes, .. } = on;
        Passes { shape: &self.shape, nodes, closes_circle: false, turn: None }.sweep(links, trace);
    }
}
