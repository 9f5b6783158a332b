//! Rigs: named handles in order, which hold what an animator or a game asks of a figure.
//!
//! A [`RigSpec`] is plain data: a list of [`HandleSpec`]s. [`Rig::new`] checks it against a figure's bind pose and builds the
//! solvers, once; all figures of the kind share the rig (`&self`, `Send` and `Sync`). [`RigState`] is what one figure remembers
//! from frame to frame: the fades of its handles, the last results of those that [continue](StartFrom::Last) from them, and
//! which are on. It counts as input, and [`RigState::reset`] forgets it. [`Rig::apply`] takes the animation's pose and solves
//! the handles one after the other, each on the pose that the one before left.
//!
//! ```
//! use std::sync::Arc;
//! use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3};
//! use sinew::rig::{HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom};
//!
//! let mut builder = Skeleton::builder();
//! let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
//! let shoulder = builder.add("shoulder", None, at(0.2, 1.4, 0.0));
//! let elbow = builder.add("elbow", Some(shoulder), at(0.3, 0.0, -0.02));
//! builder.add("hand", Some(elbow), at(0.28, 0.0, 0.02));
//! let (skeleton, ids) = builder.build()?;
//! let bind = Pose::rest(&Arc::new(skeleton));
//!
//! let mut arm = HandleSpec::new("arm", ids[0], ids[2]);
//! (arm.solver, arm.from, arm.fade) = (HandleSolver::TwoBone, StartFrom::Preferred, 0.2);
//! let rig = Rig::new(&bind, None, &RigSpec::new(vec![arm]))?;
//!
//! let (mut state, mut workspace) = (rig.state(), Workspace::new());
//! let mut pose = bind.clone(); // the animation's, each frame
//! let lever = Goal::position(Vec3::new(0.4, 1.5, 0.3));
//! let goals = [RigGoal::from(lever)];
//! let frame = RigFrame::new(1.0 / 60.0).with_goals(&goals);
//! let report = rig.apply(&mut state, &mut workspace, &mut pose, &frame)?;
//! assert!(report.handles[0].report.reached());
//!
//! state.set_on(0, false); // fades out over 0.2 s; then the animation's bits are left alone
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Goals
//!
//! A rig has a list of goals: one a handle, in order; a full body has one for each effector, and a spline one for each control
//! point. [`Rig::find_goal`] gives their index. The caller sets them each frame in [`RigFrame::goals`]. A goal may follow a joint of the same skeleton, such as a control bone that the file
//! animates: its place, with the offset that the tip has from it at bind, so that at bind the handle changes nothing; its
//! rotation only where [asked](GoalSpec::follows_rotation). What the caller sets takes the place of what is followed.
//!
//! An unset goal is where the animation has it: a handle whose goals are all unset leaves the pose's bits, so a fresh rig
//! changes nothing. Of a goal with a part, the others are the animation's: with a swivel alone, the tip stays.
//!
//! # Spaces
//!
//! A goal and its pole are in the [`Space`]s of their [`GoalSpec`], or in those that a frame gives them ([`RigGoal::space`],
//! [`RigGoal::pole_space`]). In the space of a [role](Space::Role), the same numbers fit figures of other sizes, joint axes and
//! directions in which they face. [`Rig::convert`] takes a goal from one space to another where it is, so that a change of space
//! moves nothing.
//!
//! A joint that a goal or a pole follows, or whose space it is in, must not be moved by its own handle or a later one: that is
//! [`HandleFault::Cycle`], of a frame's space [`RigError::Space`]. Within a full body it may be; the body solves such goals
//! together. The first frame in which its goals are relative to other joints of its own than before allocates: it builds the solver
//! for them. A pole in such a space is taken from the pose before the body.
//!
//! # Forward and inverse kinematics
//!
//! [`Rig::read`] tells where a pose has the goals. [`Rig::match_goals`] is for the switch from FK to IK: it gives goals that leave
//! the pose as it is, and [`Rig::match_pose`] for the way back: it leaves the pose as the handles made it. What neither can show
//! stays in the [`RigState`] as local turns of the handle's joints, which fade over a time that is set, so that no switch jumps. A
//! limb from preferred values shows the positions of its joints and the rotation of its tip; what it cannot show are the rolls of
//! its upper and its middle joint. They turn about the bones, and so move no joint as they fade. A limb that is overextended
//! is read as if bent the right way: its end leaves the goal by 1 to 3 mm while that fades. Limits hold in every frame.
//!
//! # Start
//!
//! - [`StartFrom::Pose`]: the solver gets the animation's pose, and keeps its bends and rolls. A knee or an elbow, known by its
//!   role, that is straight there (up to 9 degrees) bends as people's do when the end comes nearer: noise of modelling does not
//!   choose its side.
//! - [`StartFrom::Preferred`]: rotations of the chain are reset first, so that the result is a function of goal, swivel and
//!   preferred values. Preferred are the joints' own values ([`Dof::preferred`](crate::joint::Dof::preferred)); else, of knees
//!   and elbows whose bind pose is straight or bends the wrong way, those of
//!   [`HumanLimits`](crate::body::HumanLimits); else the bind pose. A chain that is straight even so is bent, towards the pole
//!   at bind or else towards model +Z. Swivel 0 is the plane of that pose, carried by the least turn, in the frame above the
//!   chain, that takes the end into the goal's direction. Translations stay the animation's, but for slides. This is 3ds
//!   Max's history-independent solver, and Maya's rotate-plane handle.
//!
//!   A person's arm from shoulder to hand, known by its roles, stays within people's ranges where its goal has no pole and its joints
//!   have no limits: swivel 0 is then the nearest plane that a shoulder can have, and an elbow folds to 150 degrees. A hand
//!   that no arm brings to its goal comes as near as it can ([`HandleReport::report`] says how near). Ranges are those of
//!   [`HumanLimits`](crate::body::HumanLimits) for an arm without a collar bone: a collar bone, which is not the handle's to
//!   move, takes its part of them where the animation has moved it. A swivel turns the arm on from there, as far as it says.
//! - [`StartFrom::Last`]: rotations, and slides, are those of the last frame. Solvers make no restarts, so that the chain
//!   stays on its branch. This is 3ds Max's history-dependent solver, with several effectors in a full body. A handle that is
//!   off, or without a goal, forgets its last frame.
//!
//! # Precedence, damping, springs
//!
//! Least squares ([`HandleSolver::LeastSquares`]) and joint space take these attributes of
//! [`Dof`](crate::joint::Dof) up in a rig, which knows the last frame and the time. With several precedences, the degrees of
//! freedom of the highest move first and alone; what remains is left to the next. A joint with ease gives way as it nears its
//! limit, by the law of [`eased`](crate::joint::eased), and the next one starts before the limit is met. A joint of the last
//! precedence has no one to give way to. With damping, a motion that is
//! x to the solver becomes x / (1 + damping |x| n), n being a thirtieth of a second in frames: at most 30 / damping a second, at
//! any frame rate. A spring is a goal of its joint that competes with the tip's by its strength: in joint space, for joints of
//! one degree of freedom. Least squares refuse springs, and a full body all three, by name. Damping and springs need
//! [`StartFrom::Last`].
//!
//! # Influence and fade
//!
//! A handle solves its goals in full. Its result is blended with the pose that it got, in joint coordinates, where limits are
//! convex: the joints above the tip by the influence of the position, the tip (and the toes of a foot) by that of the rotation
//! if the goal has one.
//! Both are the products of the handle's influence, the goal's, and the fade. A fade follows 3 t^2 - 2 t^3 over its duration.
//! At 0 the pose keeps its bits. In a full body, the goals' own influences are its solver's, as they compete.
//!
//! # Feet and twists
//!
//! A [foot](HandleSolver::Foot) is a leg whose goal is the ankle's place and rotation before it pivots. A rotation that is not
//! given is the animation's, in model space: the foot does not tilt with its leg. [`RigGoal::pivot`] turns
//! it about the ball, [`RigGoal::bank`] tilts it over an edge of the sole, and [`RigGoal::roll`] rolls it: below 0 over the
//! heel, up to the [break angle](FootSpec::break_angle) over the ball, with the toes flat, and beyond over the tip. A
//! [twist](HandleSolver::Twist) takes no position. It spreads the roll that the handles before gave to its tip along the chain;
//! from preferred values, all of the tip's roll.
//!
//! # Planting
//!
//! A rig with a [foot planter](Rig::with_planter) plants the animation before its handles in every frame that has a
//! [ground](RigFrame::ground). Planting is then a part of the animation: an unset goal is where planting has it. Feet that
//! [hold](HandleSpec::holds) stay on the ground when the body is moved, and the goal of a foot moves it from there by its influence.
//! [`Rig::figure`] makes the planter's figure, with the feet's settings of the [`RigSpec`]. The feet's memory is in the [`RigState`] ([`RigState::feet_mut`]). A frame without ground leaves the animation as it is, and the
//! feet begin anew on the next ground. Frames of feet that stand depend on those before, as the planter's do.
//!
//! # Errors
//!
//! [`RigError`] names the handle. After an error of [`Rig::apply`] the pose and the state are as they were.

pub mod keys;

mod bake;
mod bake_goals;
mod drag;
mod error;
mod foot;
mod handle;
mod humanoid;
mod joint_space;
mod matching;
mod plant;
mod precedence;
mod preferred;
mod read;
mod reduce_goals;
mod residual;
mod space;
mod spec;

pub use bake::{Baked, MissedGoal, RigBakeError};
pub use bake_goals::{BakedGoals, Deviation};
pub use drag::{RigDrag, RigDragError, RigGrab};
pub use error::{HandleFault, RigError};
pub use humanoid::{HumanoidSpec, Limbs};
pub use matching::RigMatch;
pub use spec::{
    EffectorSpec, FootPlanting, FootSpec, GoalSpec, HandleSolver, HandleSpec, RigSpec, Space, StartFrom,
};

use alloc::{borrow::Cow, boxed::Box, format, string::String, sync::Arc, vec::Vec};
use core::fmt;

use glam::{Affine3, Quat, Vec3};

use crate::{
    Goal, JointId, JointTransform, Placement, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    body::BodyRoles,
    ground::{
        Ground,
        plant::{FootPlanter, FootPlanterReport},
    },
    math,
    option_type::option_type,
    solve::check,
};
use handle::{Handle, Scratch};
use matching::Matching;
use plant::Feet;
use preferred::Human;
use read::View;
use residual::Residual;
use space::Spaces;

option_type! {
    /// A goal of a rig in one frame. The default asks for nothing.
    RigGoal {
        /// Position, rotation, pole, swivel and influences, in the goal's [`Space`]. Unset parts are the animation's.
        goal, with_goal: Goal = Goal::NONE;
        /// Roll of a foot in radians: positive lifts the heel, negative the toes.
        roll, with_roll: f32 = 0.0;
        /// Bank of a foot in radians, right-handed about its forward axis: positive lifts its left edge.
        bank, with_bank: f32 = 0.0;
        /// Turn of a foot about the ball in radians: positive turns the toes to the left.
        pivot, with_pivot: f32 = 0.0;
        /// Turns of the root and of the middle joint of a limb, each in the joint's own space, beside its solved pose and before
        /// influences: the residual that position, rotation and pole cannot show, such as rolls of the upper arm and of the
        /// forearm ([`Rig::bake_goals`]). The identity by default. A roll about a bone moves no joint. Limits hold, as for what
        /// a [match](Rig::match_goals) keeps.
        turns, with_turns: [Quat; 2] = [Quat::IDENTITY; 2];
        ? /// Space of position, rotation and swivel in this frame; `None` for that of its [`GoalSpec`].
        space, with_space: Space;
        ? /// Space of the pole in this frame; `None` for that of its [`GoalSpec`], which is by default that of the goal.
        pole_space, with_pole_space: Space;
    }
}

impl RigGoal {
    /// Whether it asks for nothing.
    pub fn is_unset(&self) -> bool {
        let Goal { position, rotation, pole, swivel, .. } = self.goal;
        let angles = [swivel, self.roll, self.bank, self.pivot];
        let none = position.is_none() && rotation.is_none() && pole == Pole::Keep && angles == [0.0; 4];
        none && self.turns == [Quat::IDENTITY; 2]
    }

    fn check(&self) -> Result<(), SolveError> {
        check::goal(&self.goal)?;
        for (what, turn) in
            [("the turn of the root", self.turns[0]), ("the turn of the middle", self.turns[1])]
        {
            check::rotation(what, turn)?;
        }
        let angles = [("the roll", self.roll), ("the bank", self.bank), ("the pivot", self.pivot)];
        angles
            .into_iter()
            .try_for_each(|(what, angle)| check::within(what, "finite", angle, f32::MIN, f32::MAX))
    }
}

impl From<Goal> for RigGoal {
    fn from(goal: Goal) -> Self {
        Self { goal, ..Self::new() }
    }
}

/// The animation at a time, in seconds from the frame: writes its local transforms, and returns the figure's placement then.
pub type LookAhead<'a> = &'a dyn Fn(f32, &mut Pose) -> Placement;

/// Input of a rig in one frame.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RigFrame<'a> {
    /// Goals in the order of the rig's; empty (the default) for all unset.
    pub goals: &'a [RigGoal],
    /// Placement of the figure in the world, for goals in world space and for planting; the identity by default.
    pub placement: Placement,
    /// Time since the last frame in seconds, 0 or more.
    pub dt: f32,
    /// Ground on which the rig's [foot planter](Rig::with_planter) plants the animation before the handles; `None` (the default)
    /// for the animation as it is.
    pub ground: Option<&'a dyn Ground>,
    /// The animation at other times, for planting, as
    /// [`FootPlanter::step_with`](crate::ground::plant::FootPlanter::step_with) takes it. It gets a pose with the transforms of
    /// the frame. `None` (the default) to interpolate between frames. Unused without a ground.
    pub look_ahead: Option<LookAhead<'a>>,
}

impl fmt::Debug for RigFrame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { goals, placement, dt, ground, look_ahead } = self;
        let (ground, look_ahead) = (ground.is_some(), look_ahead.is_some());
        f.debug_struct("RigFrame")
            .field("goals", goals)
            .field("placement", placement)
            .field("dt", dt)
            .field("ground", &ground)
            .field("look_ahead", &look_ahead)
            .finish()
    }
}

impl<'a> RigFrame<'a> {
    /// A frame without goals, `dt` seconds after the last.
    pub const fn new(dt: f32) -> Self {
        Self { goals: &[], placement: Placement::IDENTITY, dt, ground: None, look_ahead: None }
    }

    /// Sets [`goals`](Self::goals).
    #[must_use]
    pub const fn with_goals(self, goals: &'a [RigGoal]) -> Self {
        Self { goals, ..self }
    }

    /// Sets [`placement`](Self::placement).
    #[must_use]
    pub const fn with_placement(self, placement: Placement) -> Self {
        Self { placement, ..self }
    }

    /// Sets [`ground`](Self::ground).
    #[must_use]
    pub const fn with_ground(self, ground: &'a dyn Ground) -> Self {
        Self { ground: Some(ground), ..self }
    }

    /// Sets [`look_ahead`](Self::look_ahead).
    #[must_use]
    pub const fn with_look_ahead(self, look_ahead: LookAhead<'a>) -> Self {
        Self { look_ahead: Some(look_ahead), ..self }
    }
}

/// Result of one handle in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct HandleReport {
    /// Report of its solver, in model space. The residuals are those of the full goal, measured after influences. The default where it did
    /// nothing. From preferred values, the branch never changes.
    pub report: Report,
    /// Whether a goal was set.
    pub is_set: bool,
    /// Share that its fade leaves of it: 0 off, 1 on.
    pub fade: f32,
    /// Shares of position and rotation that were applied, with the fade.
    pub influence: [f32; 2],
    /// Largest local turn in radians that a [match](Rig::match_goals) left or that the goal [has](RigGoal::turns), in this frame.
    pub residual_turn: f32,
    /// Largest part of such a turn, in radians, that limits refused.
    pub residual_refused: f32,
}

impl HandleReport {
    /// Whether it changed nothing: it is off, has no goal, or has no influence.
    pub fn was_off(&self) -> bool {
        self.influence == [0.0; 2]
    }
}

/// Reports of a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RigReport<'a> {
    /// Reports in the order of the handles.
    pub handles: &'a [HandleReport],
    /// Report of planting; `None` without a ground.
    pub planted: Option<FootPlanterReport>,
}

/// The memory of one handle of one figure.
#[derive(Clone, Debug, PartialEq, Default)]
struct Memory {
    on: bool,
    /// Time that switching has taken, as a share of the fade.
    faded: f32,
    /// Whether `held` is the last frame's result.
    holds: bool,
    held: Vec<JointTransform>,
    /// Residual of the pose that it gets: from the animation to what the handle had left.
    of_pose: Residual,
    /// Residual of its result: from what its goals show to the animation that they were matched to.
    of_goals: Residual,
}

impl Memory {
    fn copy_from(&mut self, other: &Self) {
        (self.on, self.faded, self.holds) = (other.on, other.faded, other.holds);
        self.of_pose.copy_from(&other.of_pose);
        self.of_goals.copy_from(&other.of_goals);
        self.held.clear();
        self.held.extend_from_slice(&other.held);
    }
}

/// Memory of one figure for its rig, from frame to frame. [`Rig::state`] makes it for that rig and its clones.
#[derive(Clone, Debug)]
pub struct RigState {
    /// Identity of its rig.
    rig: Arc<()>,
    memory: Vec<Memory>,
    next: Vec<Memory>,
    scratch: Vec<Scratch>,
    tasks: Vec<RigGoal>,
    set: Vec<bool>,
    /// Joints of a full body in whose space its goals are.
    relative: Vec<Option<JointId>>,
    /// Transforms of all joints that the rig may move, as the pose had them that came in.
    initial: Vec<JointTransform>,
    /// Transforms of the same joints in the animation, planted where there is a ground.
    animation: Vec<JointTransform>,
    /// For handles that hold their tips, in order: the frame above the chain, and that of the tip, as that animation has them.
    kept: Vec<[Affine3; 2]>,
    reports: Vec<HandleReport>,
    /// Goals of a match.
    matched: Vec<RigGoal>,
    /// Initial values of `on`.
    on: Vec<bool>,
    feet: Option<Feet>,
}

impl PartialEq for RigState {
    /// Compares what counts as input, not scratch.
    fn eq(&self, other: &Self) -> bool {
        self.memory == other.memory && self.feet == other.feet
    }
}

impl RigState {
    /// Switches a handle, by its index in the rig, on or off. It fades over its [duration](HandleSpec::fade). An index out of
    /// range does nothing.
    pub fn set_on(&mut self, handle: usize, on: bool) {
        if let Some(memory) = self.memory.get_mut(handle) {
            memory.on = on;
        }
    }

    /// Whether a handle is switched on; false out of range.
    pub fn is_on(&self, handle: usize) -> bool {
        self.memory.get(handle).is_some_and(|m| m.on)
    }

    /// Forgets the last frame, what matches left and the motion of the feet, and completes every fade; which handles are on is
    /// kept, and what was set for the feet. Call it after a teleport or a cut.
    pub fn reset(&mut self) {
        for memory in &mut self.memory {
            (memory.faded, memory.holds) = (f32::from(memory.on), false);
            memory.of_pose.clear();
            memory.of_goals.clear();
        }
        self.feet.iter_mut().for_each(Feet::reset);
    }

    /// Switches every handle to where a fresh state has it, and forgets all.
    pub fn restart(&mut self) {
        for (memory, on) in self.memory.iter_mut().zip(&self.on) {
            memory.on = *on;
        }
        self.reset();
    }

    /// The goals of the last frame in model space, in the order of the rig's; those of a full body that are relative to a joint
    /// that it moves, in that joint's space.
    pub fn goals(&self) -> &[RigGoal] {
        &self.tasks
    }
}

/// The fault of following a joint that one of these handles moves.
fn cycle(skeleton: &Skeleton, handles: &[Handle], joint: JointId) -> Option<HandleFault> {
    let moves = |m: &Handle| m.joints.iter().copied().find(|&by| skeleton.is_below(joint, by));
    let (mover, by) = handles.iter().find_map(|m| Some((m, moves(m)?)))?;
    let [joint, by] = [joint, by].map(|j| String::from(skeleton.name(j)));
    Some(HandleFault::Cycle { joint, mover: mover.name.clone(), by })
}

/// A goal of a handle as it was after a frame, to draw: positions in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HandleShape {
    /// Colour of the handle, if it has one of its own.
    pub color: Option<[u8; 3]>,
    /// Positions of the chain's root and of the joint that the goal moves.
    pub line: [Vec3; 2],
    /// Position of the goal, where it has one.
    pub goal: Option<Vec3>,
    /// Position of the pole, where it has one; a direction counts from the root.
    pub pole: Option<Vec3>,
    /// Position of the chain's middle joint, whose direction from the line is the swivel.
    pub bend: Vec3,
    /// Report of the handle ([`HandleReport::report`]): for one with several goals, of all of them.
    pub report: Report,
}

/// A rig of a figure: its handles, checked and built.
///
/// See [the module](self).
#[derive(Clone)]
pub struct Rig {
    skeleton: Arc<Skeleton>,
    handles: Arc<[Handle]>,
    /// Shared by the rig's clones and its states.
    identity: Arc<()>,
    /// Joints that the handles or planting may move, in the skeleton's order.
    moved: Vec<JointId>,
    /// For each joint of the skeleton, one more than the index of the last handle that moves it or a joint above it.
    movers: Vec<usize>,
    spaces: Spaces,
    goals: usize,
    feet: [FootPlanting; 2],
    planter: Option<Arc<FootPlanter>>,
}

impl Rig {
    /// Builds the rig of a figure. `bind` is its bind pose; `body` its roles, where they are known: they give the direction in
    /// which it faces and the bends of its knees and elbows.
    ///
    /// # Errors
    ///
    /// [`RigError::Handle`] for the first handle that cannot be made, and [`RigError::Height`].
    pub fn new(bind: &Pose, body: Option<&BodyRoles>, spec: &RigSpec) -> Result<Self, RigError> {
        let mut bind = bind.clone();
        bind.update();
        let skeleton = bind.skeleton().clone();
        let human = body.map_or(Human::default(), |body| Human::new(&bind, body));
        if let Some(height) = spec.height.filter(|h| !(f32::MIN_POSITIVE..=f32::MAX).contains(h)) {
            return Err(RigError::Height(height));
        }
        let spaces = Spaces::new(&bind, body, spec.height);
        let mut handles: Vec<Handle> = Vec::with_capacity(spec.handles.len());
        let mut first = 0;
        for (index, one) in spec.handles.iter().enumerate() {
            let refuse = |fault| RigError::Handle { handle: one.name.clone(), index, fault: Box::new(fault) };
            if one.name.is_empty() {
                return Err(refuse(HandleFault::NoName));
            }
            if handles.iter().any(|h| h.name == one.name) {
                return Err(refuse(HandleFault::SameName));
            }
            let handle = Handle::new(&bind, body, &human, &spaces, one, first).map_err(refuse)?;
            first += handle.sources.len();
            handles.push(handle);
        }
        for (index, handle) in handles.iter().enumerate() {
            if let Some(fault) = handle.follows().find_map(|joint| cycle(&skeleton, &handles[index..], joint))
            {
                return Err(RigError::Handle { handle: handle.name.clone(), index, fault: Box::new(fault) });
            }
        }
        let mut movers = alloc::vec![0; skeleton.len()];
        for j in skeleton.joints() {
            let own = handles.iter().rposition(|h| h.joints.contains(&j)).map_or(0, |n| n + 1);
            movers[j.index()] = skeleton.parent(j).map_or(own, |p| own.max(movers[p.index()]));
        }
        let mut moved: Vec<JointId> = handles.iter().flat_map(|h| h.joints.iter().copied()).collect();
        moved.sort_unstable_by_key(|j| j.index());
        moved.dedup();
        let (handles, identity) = (handles.into(), Arc::new(()));
        let feet = spec.feet;
        Ok(Self { skeleton, handles, identity, moved, movers, spaces, goals: first, feet, planter: None })
    }

    /// Number of handles.
    pub fn len(&self) -> usize {
        self.handles.len()
    }

    /// Whether there is no handle.
    pub fn is_empty(&self) -> bool {
        self.handles.is_empty()
    }

    /// Names of the handles, in order.
    pub fn names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.handles.iter().map(|h| h.name.as_str())
    }

    /// Index of the handle with this name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.handles.iter().position(|h| h.name == name)
    }

    /// Index of the goal of a handle, or of its effector at this joint. Without a handle of this name, that of the effector of
    /// this name.
    pub fn find_goal(&self, handle: &str, effector: Option<JointId>) -> Option<usize> {
        let Some(found) = self.find(handle) else {
            let named = |h: &Handle| {
                h.sources.iter().position(|s| s.name.as_deref() == Some(handle)).map(|n| h.first + n)
            };
            return self.handles.iter().find_map(named).filter(|_| effector.is_none());
        };
        let handle = &self.handles[found];
        match effector {
            None => Some(handle.first),
            Some(joint) => Some(handle.first + handle.sources.iter().position(|s| s.joint == joint)?),
        }
    }

    /// Names of the goals, in order: the handle's, or that of the [effector](EffectorSpec::name). An effector without a name has
    /// `HANDLE/JOINT`, or the handle's where it is the only one.
    pub fn goal_names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.handles.iter().flat_map(move |handle| {
            handle.sources.iter().map(move |source| match &source.name {
                Some(name) => Cow::Borrowed(name.as_str()),
                None if handle.sources.len() == 1 => Cow::Borrowed(handle.name.as_str()),
                None => Cow::Owned(format!("{}/{}", handle.name, self.skeleton.name(source.joint))),
            })
        })
    }

    /// Number of goals.
    pub fn goal_count(&self) -> usize {
        self.goals
    }

    /// Joints that the handles or planting may move, in the skeleton's order.
    pub fn joints(&self) -> &[JointId] {
        &self.moved
    }

    /// Solver of a handle. Panics if the index is out of range.
    pub fn solver(&self, handle: usize) -> HandleSolver {
        self.handles[handle].solver
    }

    /// A fresh state for one figure.
    pub fn state(&self) -> RigState {
        let on: Vec<bool> = self.handles.iter().map(|h| h.on).collect();
        let memory = |h: &Handle| Memory {
            on: h.on,
            faded: f32::from(h.on),
            holds: false,
            held: h.joints.iter().map(|&j| *self.skeleton.rest(j)).collect(),
            of_pose: Residual::none(h.joints.len()),
            of_goals: Residual::none(h.joints.len()),
        };
        let memory: Vec<_> = self.handles.iter().map(memory).collect();
        RigState {
            rig: self.identity.clone(),
            next: memory.clone(),
            memory,
            scratch: self.handles.iter().map(Handle::scratch).collect(),
            tasks: alloc::vec![RigGoal::new(); self.goals],
            set: alloc::vec![false; self.goals],
            relative: alloc::vec![None; self.goals],
            initial: Vec::with_capacity(self.moved.len()),
            animation: Vec::with_capacity(self.moved.len()),
            kept: Vec::with_capacity(self.handles.len()),
            reports: alloc::vec![HandleReport::default(); self.handles.len()],
            matched: Vec::with_capacity(self.goals),
            on,
            feet: self.planter().map(|planter| Feet::new(planter, &self.skeleton)),
        }
    }

    /// Reserves memory in a workspace, so that the first frame with it does not allocate either.
    pub fn reserve(&self, workspace: &mut Workspace) {
        self.handles.iter().for_each(|handle| handle.reserve(workspace));
    }

    /// Plants the animation's pose if there is a ground, and solves the handles on it in order. Updates the pose.
    ///
    /// # Errors
    ///
    /// The pose or the state belongs to another rig, the number of goals is another, the frame time is invalid, or a goal, a
    /// setting of a goal or a frame of the pose is; there is a ground and no planter, or the feet cannot be planted: [`RigError`].
    /// The pose and the state then stay as they were.
    pub fn apply<'s>(
        &self,
        state: &'s mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
    ) -> Result<RigReport<'s>, RigError> {
        self.check(state, pose, frame)?;
        let planted = self.run(state, workspace, pose, frame, None)?;
        core::mem::swap(&mut state.memory, &mut state.next);
        state.feet.iter_mut().for_each(Feet::commit);
        Ok(RigReport { handles: &state.reports, planted })
    }

    /// Plants the animation and solves the handles. The state's memory of the next frame changes, not that of the last. After an
    /// error the pose is as it was.
    fn run(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
        matching: Option<Matching>,
    ) -> Result<Option<FootPlanterReport>, RigError> {
        state.initial.clear();
        state.initial.extend(self.moved.iter().map(|&j| *pose.local(j)));
        pose.update();
        let mut ran = self.plant(state, pose, frame);
        if ran.is_ok() {
            self.begin(state, pose);
            ran = self.solve(state, workspace, pose, frame, matching).and(ran);
        }
        if ran.is_err() {
            self.restore(state, pose);
        }
        ran
    }

    /// Notes the animation.
    fn begin(&self, state: &mut RigState, pose: &Pose) {
        state.animation.clear();
        state.animation.extend(self.moved.iter().map(|&j| *pose.local(j)));
        for (next, memory) in state.next.iter_mut().zip(&state.memory) {
            next.copy_from(memory);
        }
        let holding = self.handles.iter().filter(|h| h.holds);
        let frames = |h: &Handle| [pose.parent_model(h.chain.root()), pose.model(h.chain.tip())];
        state.kept.clear();
        state.kept.extend(holding.map(frames));
    }

    /// Restores the pose that came in.
    fn restore(&self, state: &RigState, pose: &mut Pose) {
        for (&j, &local) in self.moved.iter().zip(&state.initial) {
            pose.set_local(j, local);
        }
        pose.update();
    }

    fn check_skeleton(&self, pose: &Pose) -> Result<(), RigError> {
        let skeleton = pose.skeleton();
        if !Arc::ptr_eq(skeleton, &self.skeleton) && **skeleton != *self.skeleton {
            return Err(RigError::OtherSkeleton { given: skeleton.len(), wanted: self.skeleton.len() });
        }
        Ok(())
    }

    fn check(&self, state: &RigState, pose: &Pose, frame: &RigFrame<'_>) -> Result<(), RigError> {
        let &RigFrame { goals, dt, ground, .. } = frame;
        self.check_skeleton(pose)?;
        if !Arc::ptr_eq(&state.rig, &self.identity) {
            return Err(RigError::OtherState { given: state.memory.len(), wanted: self.handles.len() });
        }
        if !goals.is_empty() && goals.len() != self.goals {
            return Err(RigError::GoalCount { given: goals.len(), wanted: self.goals });
        }
        if !(0.0..=f32::MAX).contains(&dt) {
            return Err(RigError::FrameTime(dt));
        }
        if ground.is_some() && self.planter.is_none() {
            return Err(RigError::NoPlanter);
        }
        for (index, handle) in self.handles.iter().enumerate() {
            let given = goals.get(handle.first..).unwrap_or_default();
            for (n, goal) in given.iter().take(handle.sources.len()).enumerate() {
                goal.check().map_err(|error| handle.refuse(error))?;
                let fault = |fault| handle.misplaced(fault);
                for joint in handle.followed(n, goal, &self.spaces, pose).map_err(fault)? {
                    if self.movers[joint.index()] > index
                        && let Some(cycle) = cycle(&self.skeleton, &self.handles[index..], joint)
                    {
                        return Err(fault(cycle));
                    }
                }
                if let Some(what) = handle.unused(goal) {
                    let (handle, solver) = (handle.name.clone(), handle.solver);
                    return Err(RigError::Unused { handle, solver, what });
                }
            }
        }
        Ok(())
    }

    fn solve(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
        matching: Option<Matching>,
    ) -> Result<(), RigError> {
        let RigState { next, scratch, tasks, set, relative, animation, kept, reports, matched: read, .. } =
            state;
        let mut kept = kept.iter();
        // At no time, nothing moves against damping: each step is infinitely short.
        let pace = if frame.dt > 0.0 { (precedence::STEP / frame.dt).min(f32::MAX) } else { f32::MAX };
        for (n, handle) in self.handles.iter().enumerate() {
            let (memory, scratch) = (&mut next[n], &mut scratch[n]);
            let to = f32::from(memory.on);
            let step = if handle.fade > 0.0 { frame.dt / handle.fade } else { 1.0 };
            memory.faded += (to - memory.faded).clamp(-step, step);
            let fade = math::smoothstep(memory.faded);
            let goals = handle.first..handle.first + handle.sources.len();
            memory.of_pose.advance(frame.dt);
            memory.of_goals.advance(frame.dt);
            let joints = handle.residual_joints();
            scratch.matched.clear();
            scratch.matched.extend(handle.joints.iter().map(|&j| *pose.local(j)));
            let shifted = memory.of_pose.apply(joints, pose, &mut scratch.turned);
            let matched = matching.filter(|m| m.has(n));
            let to_goals = matched.filter(|m| m.goals);
            let view = View { spaces: &self.spaces, placement: &frame.placement, pose };
            if to_goals.is_some() {
                for k in 0..handle.sources.len() {
                    let goal = &mut read[handle.first + k];
                    *goal = handle.read(k, goal, &view)?;
                }
            }
            let given = if matching.is_some_and(|m| m.goals) { &*read } else { frame.goals };
            for (k, at) in goals.clone().enumerate() {
                let task = handle.resolve(k, given.get(at), &view);
                (tasks[at], relative[at]) = task.map_err(|fault| handle.misplaced(fault))?;
                set[at] = !tasks[at].is_unset() || handle.is_always_set();
            }
            let kept = if handle.holds { kept.next() } else { None };
            // Where a goal of less influence starts from.
            let mut stays = None;
            if let Some([above, tip]) = kept
                && *above != pose.parent_model(handle.chain.root())
            {
                let rotation = handle.rotates.then(|| math::rotation_of(&tip.matrix3));
                let stay = RigGoal::from(Goal { position: Some(tip.translation), rotation, ..Goal::NONE });
                let (task, is_set) = (&mut tasks[handle.first], &mut set[handle.first]);
                let own = [task.goal.position_influence, task.goal.rotation_influence];
                if to_goals.is_none() && (!*is_set || own == [0.0; 2]) {
                    *task = stay;
                } else {
                    stays = (to_goals.is_none() && own != [1.0; 2]).then_some(stay);
                    task.goal.position = task.goal.position.or(stay.goal.position);
                    task.goal.rotation = task.goal.rotation.or(stay.goal.rotation);
                }
                *is_set = true;
            }
            let (tasks, set, relative) = (&tasks[goals.clone()], &set[goals.clone()], &relative[goals]);
            let own = match handle.is_whole() {
                true => [1.0; 2],
                false => [tasks[0].goal.position_influence, tasks[0].goal.rotation_influence],
            };
            let is_set = set.contains(&true) || to_goals.is_some();
            let applied = match to_goals {
                Some(_) => [1.0; 2],
                None if is_set => [0, 1].map(|k| handle.influence[k] * own[k] * fade),
                None => [0.0; 2],
            };
            reports[n] = HandleReport {
                is_set,
                fade,
                influence: applied,
                residual_turn: shifted.turn,
                residual_refused: shifted.refused,
                ..HandleReport::default()
            };
            if applied == [0.0; 2] {
                memory.holds = false;
            } else {
                if to_goals.is_some() {
                    memory.of_goals.clear();
                    scratch.matched.clear();
                    scratch.matched.extend(handle.joints.iter().map(|&j| *pose.local(j)));
                    memory.held.copy_from_slice(&scratch.matched);
                    memory.holds = true;
                }
                let tip = handle.chain.tip();
                let before = self.moved.binary_search_by_key(&tip.index(), |j| j.index()).ok();
                let before = before.and_then(|at| animation.get(at).copied());
                if let Some(stay) = stays {
                    let mut held = core::mem::take(&mut scratch.held);
                    held.clone_from(&memory.held);
                    let none = Residual::default();
                    let (last, whole) =
                        ((memory.holds, held.as_mut_slice(), &none), handle.influence.map(|i| i * fade));
                    let set = (&[true][..], relative);
                    let stay = &[stay];
                    let stood = handle.solve(stay, set, whole, last, before, scratch, workspace, pose, pace);
                    scratch.held = held;
                    stood.map_err(|failed| handle.failed(failed))?;
                }
                let held = (memory.holds, memory.held.as_mut_slice(), &memory.of_goals);
                let solved = handle.solve(
                    tasks,
                    (set, relative),
                    applied,
                    held,
                    before,
                    scratch,
                    workspace,
                    pose,
                    pace,
                );
                let (report, shifted) = solved.map_err(|failed| handle.failed(failed))?;
                let own = &mut reports[n];
                own.report = report;
                own.residual_turn = own.residual_turn.max(shifted.turn);
                own.residual_refused = own.residual_refused.max(shifted.refused);
                memory.holds = handle.from == StartFrom::Last;
            }
            let Some(Matching { to, goals }) = matched else { continue };
            scratch.before.clear();
            scratch.before.extend(handle.joints.iter().map(|&j| *pose.local(j)));
            let [from, solved] = [&scratch.matched, &scratch.before].map(Vec::as_slice);
            if !goals {
                memory.of_pose.set(joints, [from, solved], pose, to.seconds, &mut scratch.turned);
                continue;
            }
            // A handle that continues does so from the pose.
            memory.held.copy_from_slice(from);
            memory.of_goals.set(joints, [solved, from], pose, to.seconds, &mut scratch.turned);
            for (&j, &local) in handle.joints.iter().zip(from) {
                pose.set_local(j, local);
            }
            pose.update();
        }
        Ok(())
    }

    /// One shape for each goal, in the order of the goals, to draw after [`apply`](Self::apply).
    pub fn shapes<'a>(
        &'a self,
        state: &'a RigState,
        pose: &'a Pose,
    ) -> impl Iterator<Item = HandleShape> + 'a {
        let goals = self
            .handles
            .iter()
            .zip(&state.reports)
            .flat_map(|(h, r)| (0..h.sources.len()).map(move |n| (h, r, n)));
        goals.map(move |(handle, report, n)| {
            let (joints, at) = (handle.chain.joints(), handle.first + n);
            let set = report.is_set && state.set.get(at).copied().unwrap_or_default();
            let task = state.tasks.get(at).filter(|_| set).map(|t| {
                let relative = state.relative.get(at).copied().flatten();
                handle.in_model(relative, t.goal, pose)
            });
            let (task, root) = (task.unwrap_or_default(), pose.position(joints[0]));
            HandleShape {
                color: handle.color,
                line: [root, pose.position(handle.sources[n].joint)],
                goal: task.position,
                pole: match task.pole {
                    Pole::Point(p) => Some(p),
                    Pole::Direction(d) => Some(root + d),
                    Pole::Keep => None,
                },
                bend: pose.position(joints[joints.len() / 2]),
                report: report.report,
            }
        })
    }
}
