//! Solvers, one file each. They know nothing of clips, files or drawing.
//!
//! - [`TwoBone`]: the limb (hip, knee, ankle; shoulder, elbow, wrist) in closed form;
//! - [`Auto`]: the solver that serves a chain best, chosen by its joints;
//! - [`FreeChain`]: a chain of free joints, of any length, in a few passes; [`PointChain`]: the same on bare points;
//! - [`Aim`]: one joint turned so that an axis of it points at a target;
//! - [`LookAt`]: spine, neck, head and eyes, sharing the turn towards a target;
//! - [`Follow`]: each segment pulled along by its neighbour, from the tip or from the root;
//! - [`Ccd`]: cyclic coordinate descent on a chain of joints with limits;
//! - [`Fabrik`]: forward and backward reaching, on the same;
//! - [`DampedLeastSquares`]: steps of the whole chain at once, on the same;
//! - [`Spline`]: a chain laid along a curve;
//! - [`FullBody`]: a whole skeleton with many goals; [`Drag`]: any joint of it dragged while others are pinned;
//! - [`soften`]: the distance that a chain with a soft zone gives for the distance that its goal asks for.
//!
#![doc = include_str!("promises.md")]

mod aim;
pub(crate) mod arc;
mod auto;
pub(crate) mod branch;
mod ccd;
mod chain_solver;
mod chain_state;
pub(crate) mod check;
pub(crate) mod choice;
mod cholesky;
mod drag;
mod fabrik;
mod follow;
mod free;
pub mod full_body;
mod incoming;
mod iterate;
mod least_squares;
mod look_at;
mod nearest;
pub(crate) mod options;
mod parent_space;
mod partial;
mod soft;
pub mod spline;
pub mod two_bone;
mod wahba;

pub use aim::{Aim, AimRay, AimUp, aim_ray};
pub use auto::{Auto, AutoMethod};
pub use ccd::Ccd;
pub use chain_solver::ChainSolver;
pub use drag::{Drag, Pin};
pub use fabrik::Fabrik;
pub use follow::{Follow, FollowOptions, Lead};
pub use free::{FreeChain, PointChain, PointChainOptions};
pub use full_body::{Balance, Effector, FullBody, FullBodyError, FullBodyOptions, RootMode};
pub use iterate::{ChainSolverError, TraceChange, TracePass, TraceStep};
pub use least_squares::DampedLeastSquares;
pub use look_at::{Eye, LookAt, LookAtError, LookJoint, LookReport, LookState};
pub use options::{IterativeOptions, LimbOptions, Options, Tolerance};
pub use soft::soften;
pub use spline::{Spline, SplineOptions};
pub use two_bone::{BendSide, TwoBone, TwoBoneError};
