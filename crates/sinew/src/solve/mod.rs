//! Solvers, one file each, independent of clips, files and drawing.
//!
//! - [`TwoBone`]: a limb (hip, knee, ankle; shoulder, elbow, wrist), solved in closed form;
//! - [`Auto`]: the best solver for a chain, chosen by its joints;
//! - [`FreeChain`]: a chain of free joints, of any length, solved in a few passes; [`PointChain`]: the same for bare points;
//! - [`Aim`]: one joint, turned so that one of its axes points at a target;
//! - [`LookAt`]: spine, neck, head and eyes, which share the turn towards a target;
//! - [`Follow`]: a chain whose segments are pulled along by their neighbours, from the tip or from the root;
//! - [`Ccd`]: cyclic coordinate descent on a chain of joints with limits;
//! - [`Fabrik`]: forward and backward reaching on a chain of joints with limits;
//! - [`Fold`]: a chain whose bends all change by one factor, as the legs of animals do;
//! - [`FabrikTree`]: the same for several goals, on chains that meet at sub-bases;
//! - [`DampedLeastSquares`]: steps of damped least squares on a chain of joints with limits;
//! - [`Spline`]: a chain laid along a curve;
//! - [`FullBody`]: a whole skeleton with many goals; [`Drag`]: any joint of it dragged while others are pinned;
//! - [`soften`]: the distance from the root at which a soft zone puts the end of a chain.
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
pub(crate) mod descent;
pub(crate) mod drag;
mod eases;
mod fabrik;
pub(crate) mod fold;
mod follow;
mod free;
pub mod full_body;
mod incoming;
mod iterate;
mod least_squares;
mod look_at;
mod nearest;
mod nearest_turn;
mod normals;
pub(crate) mod options;
mod parent_space;
pub(crate) mod partial;
mod soft;
pub mod spline;
pub mod two_bone;
mod wahba;

pub use aim::{Aim, AimRay, AimUp, aim_ray};
pub use auto::{Auto, AutoMethod};
pub use ccd::Ccd;
pub use chain_solver::ChainSolver;
pub use drag::{Drag, Pin};
pub use fabrik::{Fabrik, FabrikTree};
pub use fold::Fold;
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

use crate::joint::Capability;

/// What each solver of pose space honours of joints: the columns of the table in [`joint`](crate::joint#support-by-solver).
pub const fn capabilities() -> [Capability; 13] {
    [
        two_bone::CAPABILITY,
        aim::CAPABILITY,
        free::CAPABILITY,
        follow::CAPABILITY,
        look_at::CAPABILITY,
        spline::CAPABILITY,
        ccd::CAPABILITY,
        fabrik::CAPABILITY,
        fabrik::TREE_CAPABILITY,
        fold::CAPABILITY,
        least_squares::CAPABILITY,
        auto::CAPABILITY,
        full_body::CAPABILITY,
    ]
}
