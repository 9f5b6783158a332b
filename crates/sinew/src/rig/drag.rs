//! Dragging of any joint of a rigged figure.

use alloc::{boxed::Box, vec::Vec};

use glam::Quat;
use thiserror::Error;

use super::{
    HandleSolver, Memory, Rig, RigError, RigFrame, RigGoal, RigState, Space, StartFrom, handle::Handle,
    read::View,
};
use crate::{
    Goal, JointId, Outcome, Placement, Pose, Report, Skeleton, SolveError, Workspace,
    body::Role,
    joint::Joint,
    solve::{
        Drag, Effector, FullBodyError, FullBodyOptions, Pin, RootMode, Tolerance,
        arc::distance,
        drag::{Steady, furthest},
    },
};

/// Tolerance of the grabbed joint and of pins, as a share of the figure's size: 0.03 mm for a person.
const NEAR: f32 = 2e-5;

/// Tolerance of pinned rotations, in radians: 0.03 degrees.
const ALIGNED: f32 = 5e-4;

/// Maximum rotation of a joint, in radians per displacement of the grabbed point in lengths of the bone that leads to it. An elbow
/// that is bent by 30 degrees moves on a circle of a quarter of its bone. ([`Drag::rate`] by itself would let hands and fingers
/// lag behind.)
const SWING: f32 = 4.0;

/// Strength of the spring of the hips, which give way where limbs do not reach: that of a
/// [`HumanoidSpec`](super::HumanoidSpec)'s full body.
const SPRING: f32 = 1.0;

/// Weight of the rotation that a root which translates had at the grab, beside that of the grabbed joint's position. Where a joint
/// at the figure's size from the hips cannot be reached by a tenth of that size, the hips turn by 4 degrees. Measured at 1, 2, 4
/// and 16 by the tests of drags: at 1 they turn by 6 degrees in a figure that stands straight; above, feet and shoulders fall
/// short by a few millimetres more.
const STEADY: f32 = 2.0;

/// Maximum displacement of a joint, per displacement of the grabbed point: that of a joint at the figure's size from one which
/// turns at the bound of [`Drag::rate`]. ([`SWING`] lets joints near the grabbed one turn faster, and hands must not.)
const SPEED: f32 = 8.0;

/// Displacement of joints by which a handle's answer may differ from the dragged pose without a jump, as a share of the figure's
/// size: ten times the default tolerance, as bends differ by more than ends.
const JITTER: f32 = 1e-3;

/// Description of a drag, for [`Rig::grab`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RigGrab<'a> {
    /// Joint that is grabbed, or a point fixed to it. Its priority is ignored.
    pub grabbed: Effector,
    /// Pins beside the goals of the rig; none by default. A pin takes the place of that of a goal at the same joint.
    pub pins: &'a [Pin],
    /// Joint below which joints follow. `None` (the default) for the hips, where the rig knows its figure's roles and the
    /// grabbed joint is below them, else for the topmost joint.
    pub root: Option<JointId>,
    /// Translation of that joint. `None` (the default) for hips on a spring, and for any other root that stays; a root that is
    /// grabbed itself moves freely.
    pub root_mode: Option<RootMode>,
}

impl<'a> RigGrab<'a> {
    /// Grabs a joint at its origin.
    pub const fn new(joint: JointId) -> Self {
        Self { grabbed: Effector::new(joint), pins: &[], root: None, root_mode: None }
    }

    /// Sets [`grabbed`](Self::grabbed).
    #[must_use]
    pub const fn with_grabbed(self, grabbed: Effector) -> Self {
        Self { grabbed, ..self }
    }

    /// Sets [`pins`](Self::pins).
    #[must_use]
    pub const fn with_pins(self, pins: &'a [Pin]) -> Self {
        Self { pins, ..self }
    }

    /// Sets [`root`](Self::root).
    #[must_use]
    pub const fn with_root(self, root: JointId) -> Self {
        Self { root: Some(root), ..self }
    }

    /// Sets [`root_mode`](Self::root_mode).
    #[must_use]
    pub const fn with_root_mode(self, root_mode: RootMode) -> Self {
        Self { root_mode: Some(root_mode), ..self }
    }
}

/// Error of a drag. The pose that is shown stays as it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigDragError {
    /// The rig refuses the pose, the state, a goal or the frame time.
    #[error(transparent)]
    Rig(Box<RigError>),
    /// The joints cannot be dragged: the grabbed joint or a pin is not below the root, two pins contradict each other, or a joint
    /// has an attribute that a full body does not honour.
    #[error(transparent)]
    FullBody(#[from] FullBodyError),
    /// The goal of the grabbed joint, or the pose, has a value that is not finite.
    #[error(transparent)]
    Solve(#[from] SolveError),
}

impl From<RigError> for RigDragError {
    fn from(error: RigError) -> Self {
        Self::Rig(Box::new(error))
    }
}

/// The part of a handle in a drag.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Whether it was on, with an influence above 0.
    live: bool,
    /// Whether its result is blended with the pose that it gets.
    blends: bool,
    /// Whether it holds its tip without a goal.
    holds: bool,
    /// Whether the drag moves its joints themselves: one of them is grabbed, or it turns joints without holding a place.
    free: bool,
}

/// The part of a goal in a drag.
#[derive(Clone, Copy, Debug)]
struct Source {
    /// Whether the goal was set.
    set: bool,
    /// Whether its joint is grabbed.
    grabbed: bool,
    /// Whether the goal has a position, or gets one.
    placed: bool,
    /// Whether the goal has a rotation, or gets one.
    turned: bool,
    /// Whether it holds its place.
    pinned: bool,
    /// Whether the joint was at the goal when the drag began.
    reached: bool,
    /// Influences of position and rotation.
    influence: [f32; 2],
}

/// A drag of a joint of a rigged figure, from the grab to the release.
///
/// Joints above the grabbed one follow by inverse kinematics, joints below it by forward kinematics. Pinned are
///
/// - goals of handles that are on, where they are set: in their space, with their rotation if they have one;
/// - tips that a handle [holds](super::HandleSpec::holds), such as the feet of a [`HumanoidSpec`](super::HumanoidSpec), and the
///   other effectors of a full body, unless a joint below them is grabbed;
/// - what [`RigGrab::pins`] adds.
///
/// Pins and limits go before the cursor; a joint whose ranges are 0 stays. Hips keep their rotation and lean by a few degrees where
/// that helps. In a frame, no joint moves by more than 8 times the cursor's displacement and a thousandth of the figure's size; the
/// grabbed joint lags instead. The solver is [`Drag`].
///
/// What an animator keeps of a drag are goals and local transforms of joints. [`goals`](Self::goals) and
/// [`animation`](Self::animation) have them in each frame, and [`pose`](Self::pose) is what [`Rig::apply`] makes of them: nothing
/// is shown that they do not keep.
///
/// - The goal of a grabbed joint is where the joint is. A position sets no rotation, unless the goal had one; feet and hips keep
///   theirs.
/// - The goal of a [`Place`](HandleSolver::Place) is set where its joint moves.
/// - Goals that hold their places stay as they are. Where a joint of their chain is grabbed, their swivel or pole follows it.
/// - Joints that no handle moves, or only handles without goals, get local transforms. So do those of a handle that is grabbed
///   and starts from the [pose](StartFrom::Pose), which is a part of what it shows. So do those of a full body from
///   [preferred](StartFrom::Preferred) values whose goals are all unset, as its first goal would take it to those values.
///
/// A handle shows no more than its goals can: from preferred values, a longer chain follows no drag of its inner joints. Where what
/// it shows would lose a pin or jump, the figure stays as it was in the last frame. The residual of the report tells how far the
/// grabbed joint is from its goal.
///
/// ```
/// # use std::sync::Arc;
/// # use sinew::{JointTransform, Pose, Skeleton, body::BodyRoles};
/// use sinew::{Goal, Workspace, glam::Vec3};
/// use sinew::rig::{HumanoidSpec, Rig, RigFrame, RigGoal, RigGrab};
/// use sinew::rig::keys::{Recorder, RigKeys};
/// # let mut builder = Skeleton::builder();
/// # let mut add = |name: &str, parent, x, y, z| {
/// #     builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
/// # };
/// # let hips = add("Hips", None, 0.0, 0.95, 0.0);
/// # let spine = add("Spine", Some(hips), 0.0, 0.2, 0.0);
/// # for (side, x) in [("Left", 1.0), ("Right", -1.0)] {
/// #     let upper = add(&format!("{side}Arm"), Some(spine), 0.2 * x, 0.3, 0.0);
/// #     let fore = add(&format!("{side}ForeArm"), Some(upper), 0.28 * x, 0.0, -0.01);
/// #     add(&format!("{side}Hand"), Some(fore), 0.26 * x, 0.0, 0.01);
/// #     let thigh = add(&format!("{side}UpLeg"), Some(hips), 0.1 * x, -0.05, 0.0);
/// #     let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.42, 0.02);
/// #     add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, -0.02);
/// # }
/// # let bind = Pose::rest(&Arc::new(builder.build()?.0));
/// # let body = BodyRoles::find(&bind, &[])?;
/// let rig = Rig::new(&bind, Some(&body), &HumanoidSpec::new().rig(&body))?;
/// let (mut state, mut workspace) = (rig.state(), Workspace::new());
/// let (animation, before) = (bind.clone(), vec![RigGoal::new(); rig.goal_count()]);
/// let (feet, from) = (body.legs.map(|leg| leg.foot), bind.position(body.hips));
///
/// let frame = RigFrame::new(0.0).with_goals(&before);
/// let mut drag = rig.grab(&mut state, &mut workspace, &animation, &frame, &RigGrab::new(body.hips))?;
/// for n in 1..=20 {
///     let cursor = from + Vec3::new(0.05, -0.15, 0.1) * (n as f32 / 20.0);
///     drag.to(&mut state, &mut workspace, &Goal::position(cursor), 1.0 / 60.0)?;
///     assert!(feet.iter().all(|&foot| drag.pose().position(foot).distance(bind.position(foot)) < 1e-4));
/// }
///
/// // Keys of what it moved, at one second; one undo takes them back.
/// let mut keys = RigKeys::new(&rig);
/// let recorder = Recorder { distance: 0.0, angle: 0.0, ..Recorder::default() };
/// let goals = recorder.record(&keys, 1.0, &before, drag.goals())?;
/// let joints = recorder.record_joints(&keys, 1.0, &animation, drag.animation())?;
/// let undo = keys.edit(&goals.and(joints))?;
/// keys.edit(&undo)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RigDrag {
    rig: Rig,
    drag: Drag,
    options: FullBodyOptions<'static>,
    placement: Placement,
    /// Rotation of a grabbed foot, which does not tilt with its leg, or of a grabbed root that translates.
    level: Option<Quat>,
    parts: Vec<Part>,
    sources: Vec<Source>,
    /// Joints that the drag has moved.
    moved: Vec<bool>,
    /// The animation and the goals when the joint was grabbed, and those that are kept.
    original: Pose,
    given: Vec<RigGoal>,
    animation: Pose,
    goals: Vec<RigGoal>,
    shown: Pose,
    /// The pose of the solver, and what the rig makes of what is kept of it.
    dragged: Pose,
    next: Pose,
    scratch: Vec<RigGoal>,
    last: Kept,
}

/// What a frame restores if it cannot be shown.
#[derive(Clone)]
struct Kept {
    animation: Pose,
    goals: Vec<RigGoal>,
    moved: Vec<bool>,
    memory: Vec<Memory>,
}

impl Rig {
    /// Grabs a joint in the pose that the rig shows: that of the animation's pose and of the frame's goals, 0 s after the last
    /// frame. A drag does not plant feet: the frame's ground is left out, and the animation may be a planted one.
    ///
    /// # Errors
    ///
    /// [`RigDragError`]: those of [`apply`](Self::apply), and joints that cannot be dragged.
    pub fn grab(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        animation: &Pose,
        frame: &RigFrame<'_>,
        grab: &RigGrab<'_>,
    ) -> Result<RigDrag, RigDragError> {
        let frame = RigFrame { dt: 0.0, ground: None, ..*frame };
        self.check(state, animation, &frame)?;
        let mut shown = animation.clone();
        self.run(state, workspace, &mut shown, &frame, None)?;

        let (skeleton, grabbed) = (animation.skeleton(), grab.grabbed.joint);
        let count = skeleton.len();
        if grabbed.index() >= count {
            return Err(FullBodyError::NoSuchJoint { effector: 0, joint: grabbed, count }.into());
        }
        let hips = self.spaces.find(Space::Role(Role::Hips), skeleton).ok().and_then(|base| base.joint());
        let hips = hips.filter(|&hips| skeleton.is_below(grabbed, hips));
        let top = || skeleton.ancestors(grabbed).last().unwrap_or(grabbed);
        let root = grab.root.or(hips).unwrap_or_else(top);
        let root_mode = grab.root_mode.unwrap_or(match () {
            () if root == grabbed => RootMode::Free,
            () if Some(root) == hips => RootMode::Spring(SPRING),
            () => RootMode::Pinned,
        });
        if root.index() >= count {
            return Err(FullBodyError::NoSuchRoot { joint: root, count }.into());
        }

        let mut pins = grab.pins.to_vec();
        let (mut parts, mut sources) = (Vec::new(), Vec::new());
        let mut level =
            (root == grabbed && root_mode != RootMode::Pinned).then(|| shown.model_rotation(root));
        for (handle, report) in self.handles.iter().zip(&state.reports) {
            let share = handle.influence.map(|influence| influence * report.fade);
            let live = share != [0.0; 2];
            let given = |n: usize| frame.goals.get(handle.first + n).copied().unwrap_or_default();
            let own = &handle.sources[0].spec;
            let unset = given(0).is_unset() && own.value.is_unset() && own.node.is_none();
            let holds = live && handle.holds && unset;
            let mut part = Part { live, blends: false, holds, free: handle.turns_only() };
            part.free |= handle.joints.contains(&grabbed);
            for (n, source) in handle.sources.iter().enumerate() {
                let goal = &state.tasks[handle.first + n].goal;
                let set = live && state.set[handle.first + n] && !holds;
                let places = handle.solver == HandleSolver::Place;
                let one = Source {
                    set,
                    grabbed: source.joint == grabbed,
                    placed: set && goal.position.is_some() || source.joint == grabbed || places || holds,
                    turned: set && goal.rotation.is_some() || places || holds,
                    pinned: false,
                    reached: false,
                    influence: [goal.position_influence, goal.rotation_influence],
                };
                if one.grabbed && handle.solver == HandleSolver::Foot {
                    level = Some(shown.model_rotation(grabbed));
                }
                let shares = [share[0] * one.influence[0], share[1] * one.influence[1]];
                part.blends |= one.placed && shares[0] < 1.0 || one.turned && shares[1] < 1.0;
                // A full body keeps its effectors where they are, but for a root that floats.
                let stays = live && handle.is_whole() && source.joint != handle.chain.root();
                // What nobody has set follows a joint below it.
                let held = (holds || stays) && !skeleton.is_below(grabbed, source.joint);
                let pinned = held || set && goal.position.is_some();
                let pinned = pinned && !one.grabbed && !handle.turns_only();
                let is_new = !pins.iter().any(|pin| pin.effector.joint == source.joint);
                if pinned && is_new && skeleton.is_below(source.joint, root) {
                    let mut effector = Effector::new(source.joint);
                    if set {
                        let of = handle.spaces(n, &given(n), &self.spaces, &shown);
                        let space = of.map_err(|fault| handle.misplaced(fault))?[0].joint();
                        let node = source.spec.node.filter(|_| given(n).goal.position.is_none());
                        let moves = |j: &JointId| *j != source.joint && skeleton.is_below(*j, root);
                        effector.relative_to = node.or(space).filter(moves);
                    }
                    let turned = one.turned && (set || handle.rotates) || stays && !set;
                    pins.push(Pin::new(effector).with_turned(turned));
                }
                let relative = state.relative[handle.first + n];
                let wanted = handle.in_model(relative, *goal, &shown).position;
                let here = shown.position(source.joint);
                let near = NEAR * shown.extent(source.joint);
                let reached = wanted.is_some_and(|wanted| distance(wanted, here) <= near);
                sources.push(Source { pinned, reached, ..one });
            }
            parts.push(part);
        }
        let mut stiff = Skeleton::clone(skeleton);
        for (handle, part) in self.handles.iter().zip(&parts) {
            let set = sources[handle.first..].iter().take(handle.sources.len()).any(|one| one.set);
            if part.live && (set || part.holds || handle.joints.contains(&grabbed)) {
                for joint in handle.stiff() {
                    // A joint without dofs is always valid.
                    let _ = stiff.set_joint(joint, Joint::axes([None; 3]));
                }
            }
        }
        let weight = if root_mode == RootMode::Pinned { 0.0 } else { STEADY };
        let steady = Steady { skeleton: &stiff, weight, speed: SPEED };
        let mut effector = grab.grabbed;
        if weight > 0.0 && root == grabbed {
            effector.rotation_weight = (weight * effector.rotation_weight).min(1e6);
        }
        let mut drag = Drag::steadied(&shown, root, effector, &pins, steady)?;
        let end = shown.model(grabbed).transform_point3(grab.grabbed.offset);
        let mut levers = skeleton.ancestors(grabbed).map(|j| distance(shown.position(j), end));
        if let Some(lever) = levers.find(|&lever| lever > NEAR * drag.full_body().size(&shown)) {
            drag.rate = drag.rate.max(SWING * drag.full_body().size(&shown) / lever);
        }
        let options = FullBodyOptions::new()
            .with_root(root_mode)
            .with_position_tolerance(Tolerance::Share(NEAR))
            .with_rotation_tolerance(ALIGNED);
        let given = match frame.goals {
            [] => alloc::vec![RigGoal::new(); self.goals],
            goals => goals.to_vec(),
        };
        Ok(RigDrag {
            rig: self.clone(),
            drag,
            options,
            placement: frame.placement,
            level,
            parts,
            sources,
            moved: alloc::vec![false; count],
            last: Kept {
                animation: animation.clone(),
                goals: given.clone(),
                moved: alloc::vec![false; count],
                memory: state.memory.clone(),
            },
            original: animation.clone(),
            animation: animation.clone(),
            goals: given.clone(),
            scratch: given.clone(),
            given,
            dragged: shown.clone(),
            next: shown.clone(),
            shown,
        })
    }
}

impl RigDrag {
    /// The pose that the figure shows.
    pub fn pose(&self) -> &Pose {
        &self.shown
    }

    /// The animation's pose, with the local transforms of joints that the drag moved and that handles do not. With
    /// [`goals`](Self::goals), [`Rig::apply`] shows the dragged pose.
    pub fn animation(&self) -> &Pose {
        &self.animation
    }

    /// The goals of the rig, moved by the drag.
    pub fn goals(&self) -> &[RigGoal] {
        &self.goals
    }

    /// The solver of the drag. Its effectors are the grabbed one, the pins that were given, and those of the rig's goals.
    pub fn solver(&self) -> &Drag {
        &self.drag
    }

    /// Moves what is grabbed to a goal in model space, and plays the rig's frame, `dt` seconds after the last.
    ///
    /// The report is that of the grabbed joint, measured on the pose that is shown. Until something moves, the pose, the goals and
    /// the state keep their bits. As soon as something moves, turns that a [match](Rig::match_goals) left end. A handle that
    /// [continues](StartFrom::Last) does so from the dragged pose.
    ///
    /// # Errors
    ///
    /// [`RigDragError`]: those of [`Rig::apply`], and a goal that is not finite.
    pub fn to(
        &mut self,
        state: &mut RigState,
        workspace: &mut Workspace,
        goal: &Goal,
        dt: f32,
    ) -> Result<Report, RigDragError> {
        let frame = RigFrame::new(dt).with_placement(self.placement);
        self.rig.check(state, &self.animation, &frame.with_goals(&self.goals))?;
        self.dragged.copy_from(&self.shown);
        let whole = Goal { rotation: goal.rotation.or(self.level), ..*goal };
        let report = self.drag.to(workspace, &mut self.dragged, &whole, &self.options)?;
        self.last.moved.copy_from_slice(&self.moved);
        let mut changed = false;
        for j in self.shown.skeleton().joints() {
            if self.dragged.local(j) != self.shown.local(j) {
                self.moved[j.index()] = true;
                changed = true;
            }
        }
        if !self.moved.contains(&true) {
            return Ok(report);
        }
        let turns = goal.rotation.is_some();
        let mut report = report;
        if changed {
            self.last.animation.copy_from(&self.animation);
            self.last.goals.copy_from_slice(&self.goals);
            self.last.memory.iter_mut().zip(&state.memory).for_each(|(to, from)| to.copy_from(from));
        }
        loop {
            if changed {
                self.keep(state, turns)?;
            }
            self.next.copy_from(&self.animation);
            let frame = frame.with_goals(&self.goals);
            self.rig.run(state, workspace, &mut self.next, &frame, None)?;
            if !changed {
                break;
            }
            if self.frees_missed() {
                continue;
            }
            if self.follows(state) {
                break;
            }
            if self.frees_bent() {
                continue;
            }
            // The figure stays as it was, and the grabbed joint lags.
            core::mem::swap(&mut self.animation, &mut self.last.animation);
            core::mem::swap(&mut self.goals, &mut self.last.goals);
            core::mem::swap(&mut self.moved, &mut self.last.moved);
            core::mem::swap(&mut state.memory, &mut self.last.memory);
            report.outcome = Outcome::Stalled;
            changed = false;
            if !self.moved.contains(&true) {
                let goal = core::slice::from_ref(goal);
                return Ok(self.drag.full_body().with_residuals(&self.shown, goal, report));
            }
        }
        core::mem::swap(&mut state.memory, &mut state.next);
        core::mem::swap(&mut self.shown, &mut self.next);
        Ok(self.drag.full_body().with_residuals(&self.shown, core::slice::from_ref(goal), report))
    }

    /// Whether what the rig makes of the dragged pose holds its pins, and no joint of it jumps.
    fn follows(&self, state: &RigState) -> bool {
        let size = self.drag.full_body().size(&self.dragged);
        let tolerance = state.reports.iter().map(|handle| handle.report.position_tolerance);
        let near = tolerance.fold(2.0 * NEAR * size, f32::max);
        // A goal of less than full influence holds as far as its blend does.
        let blends = |joint: JointId| {
            let mut handles = self.rig.handles.iter().zip(&self.parts);
            handles.any(|(h, part)| part.blends && h.sources.iter().any(|source| source.joint == joint))
        };
        let holds = self.drag.pins().iter().all(|pin| {
            let [there, here] =
                [&self.dragged, &self.next].map(|pose| pose.model(pin.joint).transform_point3(pin.offset));
            distance(there, here) <= near || blends(pin.joint)
        });
        holds && furthest(&self.shown, &self.next) <= self.drag.max_move() + JITTER * size
    }

    /// Frees handles that by themselves miss a pin that the dragged pose holds, so that they take its bend. Whether there are any.
    fn frees_missed(&mut self) -> bool {
        let near = 2.0 * NEAR * self.drag.full_body().size(&self.dragged);
        self.frees(|handle, sources, apart| {
            let mut missed = handle.sources.iter().zip(sources);
            missed.any(|(source, one)| one.pinned && apart(source.joint) > near)
        })
    }

    /// Frees handles that by themselves bend otherwise than the dragged pose. Whether there are any.
    fn frees_bent(&mut self) -> bool {
        let near = JITTER * self.drag.full_body().size(&self.dragged);
        self.frees(|handle, _, apart| handle.joints.iter().any(|&j| apart(j) > near))
    }

    /// Frees handles for which this holds, by the distances of joints from their places in the dragged pose.
    fn frees(&mut self, holds: impl Fn(&Handle, &[Source], &dyn Fn(JointId) -> f32) -> bool) -> bool {
        let apart = |j: JointId| distance(self.dragged.position(j), self.next.position(j));
        let mut any = false;
        for (handle, part) in self.rig.handles.iter().zip(&mut self.parts) {
            if part.live && !part.free && holds(handle, &self.sources[handle.first..], &apart) {
                part.free = true;
                any = true;
            }
        }
        any
    }

    /// Whether the drag has moved a joint of a handle.
    fn moved_of(&self, handle: &Handle) -> bool {
        handle.joints.iter().any(|j| self.moved[j.index()])
    }

    /// Takes what the dragged pose changed into the animation and the goals.
    fn keep(&mut self, state: &mut RigState, turns: bool) -> Result<(), RigError> {
        let rig = &self.rig;
        let view = View { spaces: &rig.spaces, placement: &self.placement, pose: &self.dragged };
        self.scratch.copy_from_slice(&self.given);
        for j in self.original.skeleton().joints() {
            let from = if self.moved[j.index()] { &self.dragged } else { &self.original };
            self.animation.set_local(j, *from.local(j));
        }
        for (handle, part) in rig.handles.iter().zip(&self.parts) {
            if !part.live || !self.moved_of(handle) {
                continue;
            }
            let places = handle.solver == HandleSolver::Place;
            let turns_only = handle.turns_only();
            let sources = &mut self.sources[handle.first..handle.first + handle.sources.len()];
            let mut leads = part.holds || places;
            for one in sources.iter_mut() {
                one.turned |= one.grabbed && (turns || self.level.is_some());
                leads |= one.set || one.grabbed && !turns_only;
            }
            // Its first goal would take a whole body from the animation to its preferred values.
            let leaps = handle.is_whole() && handle.from == StartFrom::Preferred;
            if !leads || leaps && !sources.iter().any(|one| one.set) {
                // Without goals, a handle shows what it gets.
                continue;
            }
            // What holds its tip does so where the animation has it, so that this must be where it was.
            let mut above = self.original.skeleton().ancestors(handle.chain.root());
            let shifted = part.holds && above.any(|j| self.animation.local(j) != self.original.local(j));
            let free = part.free || !sources.iter().any(|one| one.pinned) && !places;
            let reads = free && !places || part.blends || shifted;
            for (n, one) in sources.iter().enumerate() {
                let (at, given) = (handle.first + n, self.given[handle.first + n]);
                let set = one.set || part.holds;
                if turns_only || !(one.grabbed || places || reads && set) {
                    continue;
                }
                let mut goal = handle.read(n, &given, &view)?;
                let own = &mut goal.goal;
                if one.pinned && one.reached && one.set && !part.blends && !given.is_unset() {
                    // The same bits, and a bend that may be another.
                    (own.position, own.rotation) = (given.goal.position, given.goal.rotation);
                    (goal.roll, goal.bank, goal.pivot, goal.turns) =
                        (given.roll, given.bank, given.pivot, given.turns);
                } else {
                    own.position = own.position.filter(|_| one.placed);
                    own.rotation = own.rotation.filter(|_| one.turned);
                    [own.position_influence, own.rotation_influence] = one.influence;
                }
                self.scratch[at] = goal;
            }
            let turned = sources.iter().any(|one| one.turned);
            for &j in &handle.joints {
                let by_goal = handle.gives(j, turned);
                let follows = match reads {
                    true => handle.from == StartFrom::Pose || part.blends || !by_goal,
                    false => !by_goal && self.moved[j.index()],
                };
                let from = if follows { &self.dragged } else { &self.original };
                self.animation.set_local(j, *from.local(j));
            }
        }
        self.animation.update();
        // Nothing can fail from here on.
        self.goals.copy_from_slice(&self.scratch);
        for (memory, handle) in state.memory.iter_mut().zip(rig.handles.iter()) {
            memory.of_pose.clear();
            memory.of_goals.clear();
            if memory.holds && self.moved_of(handle) {
                memory
                    .held
                    .iter_mut()
                    .zip(&handle.joints)
                    .for_each(|(held, &j)| *held = *self.dragged.local(j));
            }
        }
        Ok(())
    }
}
