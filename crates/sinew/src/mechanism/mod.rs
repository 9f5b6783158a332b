//! Joint space: arms, sliders and hard limits, in `f64`, one number a degree of freedom.
//!
//! - A [`Mechanism`] is a tree of links and joints; [`Mechanism::forward_kinematics`] is its forward kinematics,
//!   [`Mechanism::jacobian`] the geometric Jacobian of any point of it.
//! - A [`SkeletonMechanism`] is compiled from a skeleton's joints, of any kind, and takes values from poses and gives them
//!   back; a ball joint is three degrees of freedom, of which two have an ellipse for a limit. A
//!   [`ChainSkeleton`] is the way back: a chain of a mechanism for the solvers of pose space.
//! - A [`LinkGoal`] says where a link should be: position, rotation, any of the six directions, looking at a point, relative to
//!   any other link, with weights and a priority.
//! - [`JointSpaceSolver`] finds values that reach goals, within limits, from any start; [`JointSpaceSolver::solve_all`] finds every
//!   configuration. [`JointSpaceOptions::history`] chooses whether answers follow the start or depend on the goals alone.
//!   Threads share a solver, each with a [`Workspace`](crate::Workspace) of its own.
//! - [`Objective`]es (a posture, off the limits, manipulability) spend what the goals leave free.
//! - [`PathFollower`] goes along a path at a fixed rate, within speeds, without jumps.
//!
//! Distances are metres, angles radians, poses relative to the link that a goal names (the root link, unless it says
//! otherwise). A mechanism has its file's axes: most arms have z up.

mod all;
mod angles;
mod ball;
mod builder;
mod chain;
mod compile;
mod descent;
mod dof;
mod follow;
mod goal;
mod model;
mod normal;
mod objective;
mod plan;
mod refine;
mod report;
mod seeds;
mod solver;
mod swing;
mod values;

pub use builder::{JointSpec, MechanismBuilder, MechanismError, Mimic};
pub use chain::{ChainSkeleton, ChainSkeletonError};
pub use compile::{CompileError, SkeletonMechanism};
pub use dof::{DofKind, NamedDof};
pub use follow::{PathFollower, PathOptions, PathReport, PathStatus};
pub use goal::{LinkGoal, LinkGoalError, LinkTarget};
pub use model::{LinkFrames, LinkId, Mechanism, ValuesError, position_and_rotation};
pub use objective::{Objective, ObjectiveError, ObjectiveKind};
pub use report::{History, JointSpaceError, JointSpaceOptions, JointSpaceReport};
pub use solver::JointSpaceSolver;
