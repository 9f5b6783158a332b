//! Errors of rigs.

use alloc::{boxed::Box, string::String};

use thiserror::Error;

use super::{HandleSolver, StartFrom};
use crate::{
    ChainError, JointId, SolveError,
    body::Role,
    ground::plant::{FigureError, FootPlanterError},
    joint::{JointError, UnsupportedAttribute},
    mechanism::{CompileError, JointSpaceError},
    solve::{ChainSolverError, FullBodyError, LookAtError, TwoBoneError, spline::CurveError},
};

/// Reason why a handle cannot be made.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum HandleFault {
    /// Its name is empty.
    #[error("it has no name")]
    NoName,
    /// Another handle has its name.
    #[error("another handle has this name")]
    SameName,
    /// Root and tip do not make a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The solver refuses the chain.
    #[error(transparent)]
    Solver(#[from] ChainSolverError),
    /// The limb refuses the chain.
    #[error(transparent)]
    TwoBone(#[from] TwoBoneError),
    /// The look-at refuses the chain.
    #[error(transparent)]
    LookAt(#[from] LookAtError),
    /// The full body refuses the effectors.
    #[error(transparent)]
    FullBody(#[from] FullBodyError),
    /// Joint space refuses the chain.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// Joint space refuses the goal.
    #[error(transparent)]
    JointSpace(#[from] JointSpaceError),
    /// A joint has an attribute that the solver cannot honour.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
    /// A joint cannot be held while those of another precedence move.
    #[error(transparent)]
    Held(#[from] JointError),
    /// The control points make no curve.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// An option of the solver is out of its range.
    #[error(transparent)]
    Options(SolveError),
    /// The value of its goal is invalid.
    #[error("the value of its goal: {0}")]
    Goal(SolveError),
    /// The value of its goal sets what its solver has no use for.
    #[error("{solver} has no use for {what}, which the value of its goal sets")]
    Unused {
        /// The solver.
        solver: HandleSolver,
        /// What it has no use for.
        what: &'static str,
    },
    /// A joint has damping or a spring, which need the last frame.
    #[error("joint `{joint}` has damping or a spring, which need `from` = `last`, not `{from}`")]
    NeedsLast {
        /// Name of the joint.
        joint: String,
        /// Start of the handle.
        from: StartFrom,
    },
    /// A number is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Name of the number.
        what: &'static str,
        /// Allowed values.
        range: &'static str,
        /// Value that was given.
        value: f32,
    },
    /// The solver cannot start from there.
    #[error("{solver} starts from {allowed}, not from `{from}`")]
    Start {
        /// The solver.
        solver: HandleSolver,
        /// Starts that it can make.
        allowed: &'static str,
        /// Start that was given.
        from: StartFrom,
    },
    /// A setting is missing, or is one of another solver.
    #[error("{solver} {rule}")]
    Setting {
        /// The solver.
        solver: HandleSolver,
        /// What it needs or does not have.
        rule: &'static str,
    },
    /// A joint does not hang below another one.
    #[error("joint `{joint}` does not hang below joint `{above}`")]
    NotBelow {
        /// Name of the joint.
        joint: String,
        /// Name of the joint that it must be below.
        above: String,
    },
    /// A goal or a pole follows a joint that this handle or a later one moves, or is in its space.
    #[error(
        "its goal follows joint `{joint}`, which handle `{mover}` moves by joint `{by}`; let handles that move it come before"
    )]
    Cycle {
        /// Name of the joint that is followed.
        joint: String,
        /// Name of the handle that moves it: this one, or a later one.
        mover: String,
        /// Name of the joint by which it moves it.
        by: String,
    },
    /// A space is that of a joint that the skeleton does not have.
    #[error("there is no joint {joint}: the skeleton has {count} joints")]
    NoSuchJoint {
        /// The joint.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// A space is that of a role that the figure does not have, or whose roles were not given.
    #[error("the figure has no {0} that a goal could be in the space of")]
    NoRole(Role),
    /// The frame of a joint at bind has no inverse, so that nothing can follow it.
    #[error("joint `{joint}` has no size at bind, so that no goal can follow it")]
    Flat {
        /// Name of the joint.
        joint: String,
    },
}

/// Error of a rig. The pose and the state stay as they were.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum RigError {
    /// A handle cannot be made.
    #[error("handle `{handle}`: {fault}")]
    Handle {
        /// Name of the handle.
        handle: String,
        /// Index of the handle.
        index: usize,
        /// The reason.
        fault: Box<HandleFault>,
    },
    /// The height of the figure is not positive and finite.
    #[error("the height of the figure must be above 0 m and finite, not {0}")]
    Height(f32),
    /// The pose has another skeleton than the rig.
    #[error("the pose has another skeleton, with {given} joints (the rig's has {wanted})")]
    OtherSkeleton {
        /// Number of joints of the pose. Where the numbers are equal, the joints differ.
        given: usize,
        /// Number of joints of the rig's skeleton.
        wanted: usize,
    },
    /// The state belongs to another rig.
    #[error("the state belongs to another rig, with {given} handles (this one has {wanted})")]
    OtherState {
        /// Number of handles in the state. Where the numbers are equal, the rigs were built apart.
        given: usize,
        /// Number of handles of the rig.
        wanted: usize,
    },
    /// The number of goals is neither 0 nor that of the rig.
    #[error("{given} goals were given for {wanted} of the rig")]
    GoalCount {
        /// Number of goals given.
        given: usize,
        /// Number of goals of the rig.
        wanted: usize,
    },
    /// There is no goal with this index.
    #[error("there is no goal {index}: the rig has {count}")]
    NoGoal {
        /// Index given.
        index: usize,
        /// Number of goals of the rig.
        count: usize,
    },
    /// There is no handle with this index.
    #[error("there is no handle {index}: the rig has {count}")]
    NoHandle {
        /// Index given.
        index: usize,
        /// Number of handles of the rig.
        count: usize,
    },
    /// The duration of a match's fade is negative or NaN.
    #[error("what a match leaves must fade over 0 s or more, not {0}")]
    FadeTime(f32),
    /// A foot planter's figure has joints that are no pelvis and legs of the rig's skeleton.
    #[error("the foot planter's figure does not fit the rig's skeleton: {0}")]
    Figure(Box<FigureError>),
    /// The frame has a ground, but the rig has no foot planter.
    #[error("the frame has a ground, but the rig has no foot planter to plant with")]
    NoPlanter,
    /// The contact of a foot is carried by a joint that the skeleton does not have.
    #[error("there is no joint {joint} that could carry a contact: the skeleton has {count} joints")]
    NoContact {
        /// The joint.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// The feet cannot be planted.
    #[error("planting: {0}")]
    Plant(Box<FootPlanterError>),
    /// The frame time is negative, NaN or infinite.
    #[error("the frame time must be 0 s or more and finite, not {0}")]
    FrameTime(f32),
    /// A goal is invalid, or the pose is.
    #[error("handle `{handle}`: {error}")]
    Solve {
        /// Name of the handle.
        handle: String,
        /// Error of its solver.
        error: Box<SolveError>,
    },
    /// A goal cannot be in the space that the frame gives it.
    #[error("handle `{handle}`: {fault}")]
    Space {
        /// Name of the handle.
        handle: String,
        /// The reason: [`HandleFault::Cycle`], [`HandleFault::NoSuchJoint`], [`HandleFault::NoRole`], [`HandleFault::Flat`] or
        /// [`HandleFault::FullBody`].
        fault: Box<HandleFault>,
    },
    /// A goal has a part that the handle's solver has no use for.
    #[error("handle `{handle}`: {solver} takes no goal with {what}")]
    Unused {
        /// Name of the handle.
        handle: String,
        /// Its solver.
        solver: HandleSolver,
        /// The part.
        what: &'static str,
    },
    /// A goal of joint space is invalid.
    #[error("handle `{handle}`: {error}")]
    JointSpace {
        /// Name of the handle.
        handle: String,
        /// Error of its solver.
        error: Box<JointSpaceError>,
    },
    /// The control points of a handle make no curve.
    #[error("handle `{handle}`: {error}")]
    Curve {
        /// Name of the handle.
        handle: String,
        /// Error of the curve.
        error: CurveError,
    },
}

impl From<FootPlanterError> for RigError {
    fn from(error: FootPlanterError) -> Self {
        Self::Plant(Box::new(error))
    }
}
