//! Handles: their goals resolved, and solved.

mod build;

use alloc::{boxed::Box, string::String, sync::Arc, vec::Vec};
use core::ops::Range;

use glam::{Quat, Vec3};

use super::{
    GoalSpec, HandleFault, HandleSolver, RigError, RigGoal, StartFrom,
    foot::Foot,
    joint_space::{JointSpace, JointSpaceScratch},
    precedence::settle,
    preferred::{self, ArmRanges},
    read::View,
    residual::{Applied, Joints, Residual, Turned},
    space::{Base, Frame, Spaces},
};
use crate::{
    Chain, Goal, JointId, JointTransform, Outcome, Pole, Pose, Report, SolveError, Workspace, math,
    mechanism::JointSpaceError,
    solve::{
        Aim, AimUp, ChainSolver, DampedLeastSquares, Follow, FollowOptions, FullBody, FullBodyError,
        FullBodyOptions, IterativeOptions, LookAt, LookState, Options, RootMode, Spline, SplineOptions,
        Tolerance,
        arc::distance,
        check,
        spline::{Curve, CurveError},
    },
};

/// A source of a goal, with its offsets at bind.
pub(super) struct Source {
    pub joint: JointId,
    pub name: Option<String>,
    pub spec: GoalSpec,
    /// Whether an effector keeps its rotation.
    holds: bool,
    space: Base,
    pole_space: Base,
    pub pole: Option<JointId>,
    /// Rotation of the joint at bind, as the figure stands.
    pub at_bind: Quat,
    /// The joint's position and rotation in the frame of the node.
    offset: (Vec3, Quat),
    /// Angle from the pole to the bend.
    pub swivel: f32,
    /// Joint that the same full body moves, and in whose space it solves the goal.
    relative: Option<JointId>,
}

enum Method {
    Chain(Arc<dyn ChainSolver>),
    /// Least squares, one precedence after another.
    Levels(Vec<(i32, DampedLeastSquares)>),
    JointSpace(JointSpace),
    Follow(Follow),
    Spline(Spline, Curve),
    LookAt(LookAt),
    /// The axis of the joint that points up at bind.
    Aim(Aim, Vec3),
    FullBody(FullBody),
    Foot(Foot),
    Twist,
    Place,
}

/// A handle of a rig.
pub(super) struct Handle {
    pub name: String,
    pub color: Option<[u8; 3]>,
    pub solver: HandleSolver,
    pub from: StartFrom,
    pub chain: Chain,
    method: Method,
    /// Joints that it may change: the chain's, or those of a full body; then the toes of a foot.
    pub joints: Vec<JointId>,
    /// For each of them, the index of the nearest one above it.
    above: Vec<Option<usize>>,
    /// Of these, the joints whose results the position's influence blends, and which are reset.
    inner: Range<usize>,
    /// The index of a tip that a rotation turns.
    tip: Option<usize>,
    /// Preferred transforms of the joints.
    pub preferred: Vec<JointTransform>,
    /// Index in the chain of the joint that a limb bends at.
    pub middle: Option<usize>,
    /// The axis about which that joint bends in a person, in the frame above it.
    bend_axis: Option<Vec3>,
    /// Ranges of a person's arm, which hold where its goal has no pole.
    pub ranges: Option<ArmRanges>,
    /// The axis of an aim or of a look-at, in the tip's local space.
    pub axis: Vec3,
    /// Whether its goal may have a rotation.
    pub rotates: bool,
    pub sources: Vec<Source>,
    /// Index of its first goal in the rig.
    pub first: usize,
    pub influence: [f32; 2],
    pub on: bool,
    pub fade: f32,
    pub holds: bool,
    root_mode: RootMode,
    options: IterativeOptions,
}

/// Scratch memory of one handle of one figure.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    look: Option<LookState>,
    joint_space: Option<JointSpaceScratch>,
    curve: Option<Curve>,
    /// The full body with goals relative to other joints than its own.
    body: Option<FullBody>,
    points: Vec<Vec3>,
    goals: Vec<Goal>,
    /// Transforms of the handle's joints before it.
    pub initial: Vec<JointTransform>,
    pub before: Vec<JointTransform>,
    /// The last frame's result, for a tip that stays before its goal moves it.
    pub held: Vec<JointTransform>,
    /// Transforms of the handle's joints before its residuals, or in the pose that is matched.
    pub matched: Vec<JointTransform>,
    pub turned: Vec<Turned>,
    /// The turns that the goal has.
    keyed: Residual,
}

/// Error of a solver, before the handle's name is known.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(super) enum Failed {
    Solve(#[from] SolveError),
    JointSpace(#[from] JointSpaceError),
    Curve(#[from] CurveError),
    FullBody(#[from] FullBodyError),
}

impl Handle {
    pub fn scratch(&self) -> Scratch {
        let mut scratch = Scratch::default();
        scratch.initial.reserve(self.joints.len());
        scratch.before.reserve(self.joints.len());
        scratch.held.reserve(self.joints.len());
        scratch.matched.reserve(self.joints.len());
        scratch.turned.reserve(self.joints.len());
        scratch.keyed = Residual::none(self.joints.len());
        scratch.points.reserve(self.sources.len());
        scratch.goals.reserve(self.sources.len());
        match &self.method {
            Method::LookAt(look) => scratch.look = Some(look.state()),
            Method::JointSpace(chain) => scratch.joint_space = Some(chain.scratch()),
            Method::Spline(_, curve) => scratch.curve = Some(curve.clone()),
            _ => {}
        }
        scratch
    }

    /// Reserves memory of its solver in a workspace.
    pub fn reserve(&self, workspace: &mut Workspace) {
        match &self.method {
            Method::Chain(solver) => solver.reserve(workspace),
            Method::Levels(levels) => levels.iter().for_each(|(_, solver)| solver.reserve(workspace)),
            Method::JointSpace(chain) => chain.reserve(workspace),
            Method::Follow(solver) => solver.reserve(workspace),
            Method::Spline(solver, _) => solver.reserve(workspace),
            Method::FullBody(solver) => solver.reserve(workspace),
            Method::Foot(_) | Method::LookAt(_) | Method::Aim(..) | Method::Twist | Method::Place => {}
        }
    }

    /// The joints that its goals follow.
    pub fn follows(&self) -> impl Iterator<Item = JointId> + '_ {
        let space = |s: &Source| s.space.joint().filter(|_| s.relative.is_none());
        let pole_space =
            |s: &Source| s.pole_space.joint().filter(|_| s.relative.is_none() || s.pole_space != s.space);
        self.sources.iter().flat_map(move |s| [space(s), pole_space(s), s.spec.node, s.pole]).flatten()
    }

    /// Whether its goal has a pole and a swivel that turn the bend of its chain.
    pub fn is_poled(&self) -> bool {
        matches!(self.method, Method::Chain(_) | Method::Levels(_) | Method::Foot(_))
            && self.chain.joints().len() > 2
    }

    /// The axis of an aim's joint that points up at bind.
    pub fn up(&self) -> Vec3 {
        if let Method::Aim(_, up) = &self.method { *up } else { Vec3::Y }
    }

    /// The error of a goal in a space that it cannot be in.
    pub fn misplaced(&self, fault: HandleFault) -> RigError {
        RigError::Space { handle: self.name.clone(), fault: Box::new(fault) }
    }

    /// The error of an invalid goal, or of an invalid pose.
    pub fn refuse(&self, error: SolveError) -> RigError {
        RigError::Solve { handle: self.name.clone(), error: Box::new(error) }
    }

    /// The error of its solver.
    pub fn failed(&self, failed: Failed) -> RigError {
        let handle = self.name.clone();
        match failed {
            Failed::Solve(error) => RigError::Solve { handle, error: Box::new(error) },
            Failed::JointSpace(error) => RigError::JointSpace { handle, error: Box::new(error) },
            Failed::Curve(error) => RigError::Curve { handle, error },
            Failed::FullBody(error) => {
                RigError::Space { handle, fault: Box::new(HandleFault::FullBody(error)) }
            }
        }
    }

    /// Whether it acts without a goal.
    pub fn is_always_set(&self) -> bool {
        matches!(self.method, Method::Twist)
    }

    /// Whether it turns joints, and holds none of them at a position.
    pub fn turns_only(&self) -> bool {
        matches!(self.method, Method::LookAt(_) | Method::Aim(..) | Method::Twist)
    }

    /// Joints of a limb that stay at their preferred values, as it bends at its middle alone.
    pub fn stiff(&self) -> impl Iterator<Item = JointId> + '_ {
        let bends = self.middle.filter(|_| self.from == StartFrom::Preferred);
        let inner = self.chain.joints().iter().enumerate().skip(1);
        let last = self.chain.joints().len() - 1;
        inner.filter(move |&(n, _)| n < last && bends.is_some_and(|middle| middle != n)).map(|(_, &j)| j)
    }

    /// Whether the goal gives the local transform of one of its joints. `turned` where the goal has a rotation.
    pub fn gives(&self, joint: JointId, turned: bool) -> bool {
        let n = self.joints.iter().position(|&j| j == joint);
        n.is_some_and(|n| self.inner.contains(&n) || turned && self.tip == Some(n))
    }

    /// Whether its goals compete, so that each has its own influences.
    pub fn is_whole(&self) -> bool {
        matches!(self.method, Method::FullBody(_))
    }

    /// A setting of a goal that the solver has no use for.
    pub fn unused(&self, goal: &RigGoal) -> Option<&'static str> {
        let Goal { position, rotation, pole, swivel, .. } = goal.goal;
        let (poled, rotates, moves) = match self.method {
            Method::Chain(_) | Method::Levels(_) | Method::Foot(_) => (true, true, true),
            Method::FullBody(_) => (true, true, true),
            Method::JointSpace(_) | Method::Place => (false, true, true),
            Method::Aim(..) => (swivel == 0.0, false, true),
            Method::Follow(_) | Method::Spline(..) | Method::LookAt(_) => (false, false, true),
            Method::Twist => (false, true, false),
        };
        let pivots = goal.roll != 0.0 || goal.bank != 0.0 || goal.pivot != 0.0;
        match () {
            () if !poled && (pole != Pole::Keep || swivel != 0.0) => Some("a pole or swivel"),
            () if !rotates && rotation.is_some() => Some("a rotation"),
            () if !moves && position.is_some() => Some("a position"),
            () if pivots && !matches!(self.method, Method::Foot(_)) => Some("a roll, bank or pivot"),
            () if goal.turns != [Quat::IDENTITY; 2] && self.bends().is_none() => {
                Some("turns of a limb's root and middle")
            }
            () => None,
        }
    }

    /// The spaces of a goal and of its pole in a frame.
    pub fn spaces(
        &self,
        n: usize,
        given: &RigGoal,
        spaces: &Spaces,
        pose: &Pose,
    ) -> Result<[Base; 2], HandleFault> {
        let source = &self.sources[n];
        let find = |space| spaces.find(space, pose.skeleton());
        let goal = given.space.map_or(Ok(source.space), find)?;
        let pole = match (given.pole_space, given.space, source.spec.pole_space) {
            (Some(space), ..) => find(space)?,
            (None, Some(_), None) => goal,
            _ => source.pole_space,
        };
        Ok([goal, pole])
    }

    /// The joints of the spaces that a frame gives to a goal, as [`follows`](Self::follows) has those of its specification.
    pub fn followed(
        &self,
        n: usize,
        given: &RigGoal,
        spaces: &Spaces,
        pose: &Pose,
    ) -> Result<impl Iterator<Item = JointId>, HandleFault> {
        let source = &self.sources[n];
        let [goal, pole] = self.spaces(n, given, spaces, pose)?;
        let other = |space: Base, own: Base| space.joint().filter(|_| space != own);
        let space = other(goal, source.space).filter(|_| self.relative_to(goal, pose).is_none());
        let pole_space = other(pole, source.pole_space).filter(|_| pole != goal || space.is_some());
        Ok([space, pole_space].into_iter().flatten())
    }

    /// The joint of the same full body that a space moves with: its own, or the nearest above it that the body turns.
    fn relative_to(&self, space: Base, pose: &Pose) -> Option<JointId> {
        let joint = space.joint().filter(|_| self.is_whole())?;
        self.joints.iter().copied().rev().find(|&j| pose.skeleton().is_below(joint, j))
    }

    /// A resolved goal in model space, after the handle; `relative` is the joint in whose space it is.
    pub fn in_model(&self, relative: Option<JointId>, goal: Goal, pose: &Pose) -> Goal {
        relative.map_or(goal, |j| Frame::Joint(pose.model(j), false).goal_to_model(goal, Quat::IDENTITY))
    }

    /// A goal in model space, or in that of the joint which is returned and which the same full body moves, in a pose that the
    /// handle has not changed. Its pole is in model space.
    pub fn resolve(
        &self,
        n: usize,
        given: Option<&RigGoal>,
        view: &View,
    ) -> Result<(RigGoal, Option<JointId>), HandleFault> {
        let &View { spaces, placement, pose } = view;
        let source = &self.sources[n];
        let mut all = given.copied().unwrap_or_default();
        let own = &source.spec.value;
        if all.is_unset() {
            let position_influence = all.goal.position_influence * own.goal.position_influence;
            let rotation_influence = all.goal.rotation_influence * own.goal.rotation_influence;
            let goal = Goal { position_influence, rotation_influence, ..own.goal };
            all = RigGoal { goal, ..*own };
        } else if all.goal.pole == Pole::Keep && all.goal.swivel == 0.0 {
            (all.goal.pole, all.goal.swivel) = (own.goal.pole, own.goal.swivel);
            all.pole_space = Some(source.spec.pole_space.unwrap_or(source.spec.space));
        }
        let [space, pole_space] = self.spaces(n, &all, spaces, pose)?;
        (all.space, all.pole_space) = (None, None);
        let goal = &mut all.goal;
        if goal.pole != Pole::Keep {
            goal.pole = pole_space.frame(pose, placement).pole_to_model(goal.pole);
        }
        let relative = self.relative_to(space, pose);
        let frame = match relative {
            Some(joint) => space.within(joint, pose),
            None => space.frame(pose, placement),
        };
        *goal = frame.goal_to_model(*goal, source.at_bind);
        if let Some(node) = source.spec.node {
            let frame = || pose.model(node);
            goal.position = goal.position.or_else(|| Some(frame().transform_point3(source.offset.0)));
            if source.spec.follows_rotation && goal.rotation.is_none() {
                goal.rotation = Some(math::mul(math::rotation_of(&frame().matrix3), source.offset.1));
            }
        }
        if let (Some(pole), Pole::Keep) = (source.pole, goal.pole) {
            goal.pole = Pole::Point(pose.position(pole));
            goal.swivel += source.swivel;
        }
        Ok((all, relative))
    }

    /// Starts from preferred values or from the last result, where the handle says so.
    fn start(&self, pose: &mut Pose, held: Option<&[JointTransform]>, rotates: bool, to: Option<Vec3>) {
        let from = match self.from {
            StartFrom::Pose => {
                if let (Some(middle), Some(axis), Some(to)) = (self.middle, self.bend_axis, to) {
                    preferred::bend_straight(pose, &self.chain, middle, axis, to);
                }
                return;
            }
            StartFrom::Preferred => Some(self.preferred.as_slice()),
            StartFrom::Last => held,
        };
        let Some(from) = from else { return };
        let skeleton = pose.skeleton().clone();
        let leads = matches!(self.method, Method::Follow(_)) && self.from == StartFrom::Last;
        for (n, &j) in self.joints.iter().enumerate() {
            if self.inner.contains(&n) || rotates && self.tip == Some(n) {
                let slides = skeleton.limits(j).slides() || leads && n == 0;
                preferred::reset(pose, j, &from[n], slides);
            }
        }
        pose.update();
    }

    /// Solves the handle's goals in full, then blends by its influences. `tasks` are its resolved goals, of which one is set.
    #[allow(clippy::too_many_arguments)]
    pub fn solve(
        &self,
        tasks: &[RigGoal],
        (set, relative): (&[bool], &[Option<JointId>]),
        [by_position, by_rotation]: [f32; 2],
        (holds, held, residual): (bool, &mut [JointTransform], &Residual),
        animation: Option<JointTransform>,
        scratch: &mut Scratch,
        workspace: &mut Workspace,
        pose: &mut Pose,
        pace: f32,
    ) -> Result<(Report, Applied), Failed> {
        let nothing = (Report::default(), Applied::default());
        scratch.initial.clear();
        scratch.initial.extend(self.joints.iter().map(|&j| *pose.local(j)));
        let tip = self.chain.tip();
        let given = &tasks[0].goal;
        let end = pose.position(tip);
        // Influences are the handle's own, so that a goal's are 1 to its solver.
        let mut goal = Goal { position: Some(given.position.unwrap_or(end)), ..whole(given) };
        let mut toes = None;
        if let Method::Foot(foot) = &self.method {
            let task = RigGoal { goal: whole(given), ..tasks[0] };
            (goal, toes) = foot.pivot(pose, &task);
        }
        let kept = pose.model_rotation(tip);
        if matches!(self.method, Method::FullBody(_) | Method::Spline(..)) {
            scratch.goals.clear();
            let tasks = tasks.iter().zip(set).zip(relative);
            for (source, ((task, set), relative)) in self.sources.iter().zip(tasks) {
                let here = pose.position(source.joint);
                let mut goal = task.goal;
                let floats = source.joint == self.chain.root() && self.root_mode != RootMode::Pinned;
                if !floats && (!set || goal.position.is_none() && goal.rotation.is_none()) {
                    let here = relative.map_or(here, |j| pose.model(j).inverse().transform_point3(here));
                    goal.position = goal.position.or(Some(here));
                }
                if source.holds && goal.rotation.is_none() {
                    let here = pose.model_rotation(source.joint);
                    let within = |j| math::mul(math::conjugate(pose.model_rotation(j)), here);
                    goal.rotation = Some(relative.map_or(here, within));
                }
                scratch.goals.push(goal);
            }
        }
        // A hand that its arm's ranges keep from its goal.
        let wanted = goal.position;
        if let (Some(at), Pole::Keep) = (goal.position, goal.pole) {
            let (to, swivel) = self.ranged_goal(pose, at);
            (goal.position, goal.swivel) = (Some(to), goal.swivel + swivel);
        }
        self.start(pose, holds.then_some(&*held), goal.rotation.is_some(), goal.position);
        let preferred = self.from == StartFrom::Preferred;
        // The closed forms carry the plane themselves.
        let iterates = matches!(self.method, Method::Chain(_) | Method::Levels(_) | Method::JointSpace(_));
        if preferred && iterates && self.solver != HandleSolver::TwoBone {
            preferred::carry(pose, &self.chain, goal.position.unwrap_or(end));
        }
        let options = match self.from {
            StartFrom::Last if self.options.max_restarts.is_none() => self.options.with_max_restarts(0),
            _ => self.options,
        };
        let mut report = match &self.method {
            Method::Chain(solver) => solver.solve(workspace, pose, &goal, &options)?,
            Method::Levels(levels) => {
                let skeleton = pose.skeleton().clone();
                let mut report = Report::default();
                for (n, (level, solver)) in levels.iter().enumerate() {
                    scratch.before.clear();
                    scratch.before.extend(self.joints.iter().map(|&j| *pose.local(j)));
                    let before = (report.iterations, report.restarts);
                    report = solver.solve(workspace, pose, &goal, &options)?;
                    report.iterations += before.0;
                    report.restarts += before.1;
                    for (&j, &from) in self.joints.iter().zip(&scratch.before) {
                        let to = *pose.local(j);
                        if to != from {
                            let (joint, limits) = (skeleton.joint(j), skeleton.limits(j));
                            let eases = n + 1 < levels.len();
                            pose.set_local(j, settle(joint, limits, [from, to], *level, eases, pace));
                        }
                    }
                    pose.update();
                }
                report
            }
            Method::JointSpace(chain) => {
                let Some(own) = scratch.joint_space.as_mut() else { return Ok(nothing) };
                chain.solve(own, workspace, pose, &goal, (self.from, &options, pace))?
            }
            Method::Foot(foot) => foot.limb.solve(workspace, pose, &goal, &options)?,
            Method::Follow(solver) => {
                // A first goal that is met would leave memory to a later frame.
                solver.reserve(workspace);
                solver.solve(workspace, pose, goal.position.unwrap_or(end), &FollowOptions::new())?
            }
            Method::Spline(solver, _) => {
                let Some(curve) = scratch.curve.as_mut() else { return Ok(nothing) };
                scratch.points.clear();
                scratch.points.extend(scratch.goals.iter().filter_map(|g| g.position));
                curve.set_points(&scratch.points)?;
                solver.solve(workspace, pose, curve, &SplineOptions::new())?.report
            }
            Method::LookAt(solver) => {
                let Some(look) = scratch.look.as_mut() else { return Ok(nothing) };
                solver.solve(look, pose, goal.position.unwrap_or(end), &self.turns())?.report
            }
            Method::Aim(aim, up) => {
                let direction = match goal.pole {
                    Pole::Keep => None,
                    Pole::Point(p) => Some(p - pose.position(aim.joint)),
                    Pole::Direction(d) => Some(d),
                };
                let aim = Aim { up: direction.map(|direction| AimUp { axis: *up, direction }), ..*aim };
                aim.solve(pose, goal.position.unwrap_or(end), &self.turns())?
            }
            Method::FullBody(solver) => {
                let options = FullBodyOptions::from(options).with_root(self.root_mode);
                if self.sources.iter().map(|s| s.relative).eq(relative.iter().copied()) {
                    solver.solve(workspace, pose, &scratch.goals, &options)?
                } else {
                    let of = |body: &FullBody| {
                        body.effectors().iter().map(|e| e.relative_to).eq(relative.iter().copied())
                    };
                    if !scratch.body.as_ref().is_some_and(of) {
                        let mut effectors = solver.effectors().to_vec();
                        effectors.iter_mut().zip(relative).for_each(|(e, &j)| e.relative_to = j);
                        scratch.body = Some(FullBody::new(pose.skeleton(), self.chain.root(), &effectors)?);
                    }
                    match &scratch.body {
                        Some(body) => body.solve(workspace, pose, &scratch.goals, &options)?,
                        None => Report::default(),
                    }
                }
            }
            Method::Twist => {
                let turns = goal.rotation.is_some() || preferred;
                self.twist(pose, goal.rotation.unwrap_or(kept), turns, animation);
                Report::default()
            }
            Method::Place => {
                check::frame(pose, tip, "a joint's frame", true)?;
                let to = pose.parent_model(tip).inverse().transform_point3(goal.position.unwrap_or(end));
                pose.set_translation(tip, to);
                if let Some(rotation) = goal.rotation {
                    pose.set_model_rotation(tip, rotation);
                    preferred::hold(pose, tip);
                }
                pose.update();
                Report::default()
            }
        };
        if let (Method::Foot(Foot { toes: Some(joint), .. }), Some(toes)) = (&self.method, toes) {
            pose.set_model_rotation(*joint, toes);
            preferred::hold(pose, *joint);
            pose.update();
        }
        if self.from == StartFrom::Last {
            held.iter_mut().zip(&self.joints).for_each(|(held, &j)| *held = *pose.local(j));
        }
        let mut keyed = Applied::default();
        if let Some(at) = self.bends() {
            scratch.keyed.hold(at, tasks[0].turns);
            keyed = scratch.keyed.apply(self.residual_joints(), pose, &mut scratch.turned);
        }
        let sheared = goal.rotation.filter(|_| self.bends().is_some()).map(math::normalize);
        // Before too, as residuals were measured from what it leaves.
        sheared.into_iter().for_each(|rotation| turn_sheared(pose, tip, rotation));
        let applied = residual.apply(self.residual_joints(), pose, &mut scratch.turned).and(keyed);
        sheared.into_iter().for_each(|rotation| turn_sheared(pose, tip, rotation));
        let turns = goal.rotation.is_some() || matches!(self.method, Method::Twist);
        if by_position < 1.0 || turns && by_rotation < 1.0 {
            self.blend(pose, &scratch.initial, [by_position, by_rotation], turns);
        }
        if self.tip.is_some() && !matches!(self.method, Method::Twist) {
            let to = wanted.unwrap_or(end);
            report.position_residual = distance(pose.position(tip), to);
            report.rotation_residual = goal
                .rotation
                .map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), math::normalize(q)));
            if report.position_tolerance == 0.0 {
                let rounding = 1e-6 * pose.extent(tip);
                let near = match options.position_tolerance {
                    Tolerance::Share(share) => share * self.chain.length(pose),
                    Tolerance::Metres(metres) => metres,
                };
                (report.position_tolerance, report.rotation_tolerance) =
                    (near + rounding, options.rotation_tolerance);
            }
        }
        if wanted != goal.position {
            report.outcome = Outcome::Stalled;
        }
        // Its start is no pose that was seen.
        report.branch_changed &= !preferred;
        Ok((report, applied))
    }

    /// Whether it has a solver that leaves a pose as it is where its goals are read from that pose.
    pub fn keeps_its_goals(&self) -> bool {
        use Method::{Chain, Foot, FullBody, JointSpace, Levels, Place};
        matches!(self.method, Chain(_) | Levels(_) | JointSpace(_) | Foot(_) | FullBody(_) | Place)
    }

    /// Whether it places its joint.
    pub fn is_place(&self) -> bool {
        matches!(self.method, Method::Place)
    }

    /// Indices of the root and of the middle joint of a limb.
    pub fn bends(&self) -> Option<[usize; 2]> {
        self.middle.map(|middle| [0, middle])
    }

    /// The joints that it may change, for its residuals.
    pub fn residual_joints(&self) -> Joints<'_> {
        Joints { ids: &self.joints, above: &self.above }
    }

    fn turns(&self) -> Options {
        Options::new().with_max_turn(self.options.max_turn)
    }

    /// Blends from the transforms before the handle to those after it, in joint coordinates. `turns` where the handle turns its
    /// tip.
    fn blend(
        &self,
        pose: &mut Pose,
        initial: &[JointTransform],
        [by_position, by_rotation]: [f32; 2],
        turns: bool,
    ) {
        let skeleton = pose.skeleton().clone();
        let tip = self.tip.filter(|_| turns);
        let solved = tip.map(|n| pose.model_rotation(self.joints[n]));
        let between = |pose: &mut Pose, n: usize, by: f32| {
            let (j, from) = (self.joints[n], initial[n]);
            let to = *pose.local(j);
            if to != from {
                let rotation = skeleton.limits(j).blend(from.rotation, to.rotation, by);
                let translation = match by {
                    by if by <= 0.0 => from.translation,
                    by if by >= 1.0 => to.translation,
                    by => from.translation.lerp(to.translation, by),
                };
                pose.set_local(j, JointTransform { translation, rotation, ..from });
            }
        };
        // A tip without a rotation goal is a part of what the position moved.
        let end = if tip.is_some() { self.inner.end } else { self.joints.len() };
        for n in self.inner.start..end {
            between(pose, n, by_position);
        }
        pose.update();
        let (Some(n), Some(solved)) = (tip, solved) else { return };
        for n in n + 1..self.joints.len() {
            between(pose, n, by_rotation);
        }
        let j = self.joints[n];
        let twists = matches!(self.method, Method::Twist);
        if by_rotation <= 0.0 && !twists {
            pose.set_rotation(j, initial[n].rotation);
        } else {
            // A twist moves the tip's roll to other joints, and keeps its rotation.
            let by = if twists { 1.0 } else { by_rotation };
            pose.set_model_rotation(j, solved);
            let limits = skeleton.limits(j);
            let to = limits.clamp(pose.local(j).rotation);
            pose.set_rotation(j, limits.blend(initial[n].rotation, to, by));
        }
        pose.update();
    }

    /// Spreads the tip's roll over the joints before it, in proportion to their distance from the root, and keeps the tip's
    /// rotation in model space. The roll counts from the tip's local transform in the animation, or from its preferred one.
    fn twist(&self, pose: &mut Pose, wanted: Quat, turns: bool, animation: Option<JointTransform>) {
        let n = self.joints.len() - 1;
        let tip = self.joints[n];
        if turns {
            pose.set_model_rotation(tip, wanted);
        }
        let from = match self.from {
            StartFrom::Preferred => self.preferred[n].rotation,
            _ => animation.map_or(pose.local(tip).rotation, |t| t.rotation),
        };
        let local = pose.local(tip).rotation;
        let roll = match pose.local(tip).translation.try_normalize() {
            Some(axis) if local != from => {
                let (_, twist) = math::swing_twist(math::mul(local, math::conjugate(from)), axis);
                math::rotation_vector(twist).dot(axis)
            }
            _ => 0.0,
        };
        if roll == 0.0 {
            if turns {
                preferred::hold(pose, tip);
            }
            pose.update();
            return;
        }
        pose.update();
        let at = |pose: &Pose, n: usize| pose.position(self.joints[n]);
        let line: f32 = (0..n).map(|k| at(pose, k + 1).distance(at(pose, k))).sum();
        let (mut along, mut done) = (0.0, 0.0);
        let end = at(pose, n);
        for k in 1..n {
            along += at(pose, k).distance(at(pose, k - 1));
            let share = if line > 0.0 { along / line } else { 0.0 };
            if let Some(axis) = (end - at(pose, k)).try_normalize() {
                pose.turn(self.joints[k], math::axis_angle(axis, roll * (share - done)));
                done = share;
            }
        }
        for k in 1..n {
            preferred::hold(pose, self.joints[k]);
        }
        pose.update();
        pose.set_model_rotation(tip, wanted);
        preferred::hold(pose, tip);
        pose.update();
    }
}

/// Turns a joint to a model rotation in a frame that is sheared by scales above it. A turn in such a frame leaves an error of about
/// its shear, which each pass leaves of the error before.
fn turn_sheared(pose: &mut Pose, joint: JointId, wanted: Quat) {
    /// Passes: with a shear of a quarter, the largest that limbs are solved in, they leave 2e-5 of it.
    const PASSES: usize = 8;
    if math::shear(&pose.parent_model(joint).matrix3) <= check::SIMILAR {
        return;
    }
    let skeleton = pose.skeleton().clone();
    for _ in 0..PASSES {
        let now = math::normalize(pose.model_rotation(joint));
        // The rounding of a product of rotations.
        if math::angle_between(now, wanted) <= 1e-6 {
            break;
        }
        let by = math::mul(math::conjugate(now), wanted);
        let turned = math::normalize(math::mul(math::normalize(pose.local(joint).rotation), by));
        pose.set_rotation(joint, skeleton.limits(joint).clamp(turned));
        pose.update();
    }
}

/// A goal whose influences are 1.
fn whole(goal: &Goal) -> Goal {
    Goal { position_influence: 1.0, rotation_influence: 1.0, ..*goal }
}
