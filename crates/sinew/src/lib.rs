//! Sinew: an inverse-kinematics engine.
//!
//! Inverse kinematics turns a chain from its leaf: say where the hand must be, and the shoulder and the elbow
//! follow. A program's way through the engine is `Clip -> Pose -> solvers -> Pose -> Clip`:
//!
//! - [`Skeleton`] is the tree of joints with its rest pose, [`Pose`] one placement of it, [`JointTransform`] the local
//!   transform of one joint;
//! - [`joint`] says what a joint may do: turn, slide, how far and how willingly;
//! - [`motion`] holds tracks and clips, samples them into poses and bakes poses back into keys;
//! - [`solve`] holds the solvers, one file each; they know nothing of clips, files or drawing;
//! - [`planar`] holds the same for chains in the plane;
//! - [`mechanism`] is joint space: arms and all else where each degree of freedom is a number within hard limits;
//! - [`ground`] finds what feet stand on, by rays and spheres, and plants feet on it;
//! - [`draw`] lists what there is to see, as plain shapes that every front end draws;
//! - [`body`] says which joint plays which role in a body.
//!
//! Conventions are glTF's: right-handed, Y up, metres, radians, quaternions x y z w, column vectors. *Local* space
//! is the parent joint's, *model* space the skeleton's.
//!
//! The crate is `no_std` (with `alloc`) without its default feature `std`; then the feature `libm` must be on.
#![cfg_attr(not(feature = "std"), no_std)]
#![forbid(unsafe_code)]
extern crate alloc;

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!("sinew needs the feature `std` or the feature `libm` for its mathematics");

pub mod body;
pub mod draw;
pub mod ground;
pub mod joint;
#[doc(hidden)]
pub mod math;
#[doc(hidden)]
pub mod math64;
pub mod mechanism;
pub mod motion;
pub mod planar;
pub mod solve;

mod chain;
mod goal;
mod placement;
mod pose;
mod report;
mod skeleton;
mod transform;
mod workspace;

pub use chain::{Chain, ChainError};
pub use goal::{Goal, Pole};
pub use placement::{Placement, PlacementError};
pub use pose::{Pose, PoseError};
pub use report::{Outcome, Report, SolveError};
pub use skeleton::{JointId, Skeleton, SkeletonBuilder, SkeletonError};
pub use transform::JointTransform;
pub use workspace::Workspace;

pub use glam;
