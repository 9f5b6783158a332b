//! Joint space: inverse kinematics of arms with hard limits, in `f64`, with one value per degree of freedom.
//!
//! - [`Mechanism`] is a tree of links and joints. [`Mechanism::forward_kinematics`] computes the links' transforms, and
//!   [`Mechanism::jacobian`] the geometric Jacobian of a point of a link.
//! - [`SkeletonMechanism`] is compiled from the joints of a skeleton and converts between poses and values. A ball joint has
//!   three degrees of freedom, of which two are limited by an ellipse. [`ChainSkeleton`] converts the other way: it makes a
//!   chain of a mechanism available to the solvers of pose space.
//! - [`LinkGoal`] sets a link's position, rotation, any of the six directions, or a point to look at, relative to any other
//!   link, with weights and a priority.
//! - [`JointSpaceSolver`] finds values that reach goals, within limits, from any start. [`JointSpaceSolver::solve_all`]
//!   finds every configuration. [`JointSpaceOptions::history`] selects whether answers follow the start or depend on the
//!   goals alone. Threads share a solver, each with a [`Workspace`](crate::Workspace) of its own.
//! - [`Objective`]s (a posture, distance from the limits, manipulability) act in the null space of the goals.
//! - [`PathFollower`] follows a path at a fixed rate, within speed limits, without jumps.
//!
//! Distances are in metres, angles in radians. Poses are in the space of the link that a goal names, by default the root
//! link. Axes are those of the mechanism's file; most arms have z up.

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
pub use compile::{CAPABILITY, CompileError, SkeletonMechanism};
pub use dof::{DofKind, NamedDof};
pub use follow::{PathFollower, PathOptions, PathReport, PathStatus};
pub use goal::{LinkGoal, LinkGoalError, LinkTarget};
pub use model::{LinkFrames, LinkId, Mechanism, ValuesError, position_and_rotation};
pub use objective::{Objective, ObjectiveError, ObjectiveKind};
pub use report::{History, JointSpaceError, JointSpaceOptions, JointSpaceReport};
pub use solver::JointSpaceSolver;
