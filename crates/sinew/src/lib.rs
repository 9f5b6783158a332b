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
//! # Solvers, states, scratch
//!
//! A *solver* is built from a skeleton once and shared: its methods take `&self`, and threads and characters may use it at the
//! same time. What one character remembers from frame to frame is a *state* of its own ([`solve::LookState`],
//! [`solve::Drag`], [`ground::plant::FootPlanterState`]), with a `reset`. A [`Workspace`] is scratch memory, one a thread for
//! all solvers: it grows on their first use, or by their `reserve`, and changes no bit of what they give. What may change from
//! frame to frame is an argument: the [`Goal`], and options. Every solve gives a [`Report`].
//!
//! ```
//! use std::sync::Arc;
//! use sinew::{Goal, JointTransform, Placement, Pose, Skeleton, Workspace, glam::{Affine3, Quat, Vec3}};
//! use sinew::solve::{Auto, IterativeOptions, LimbOptions, TwoBone};
//!
//! let mut builder = Skeleton::builder();
//! let mut at = |name: &str, parent, x, y| builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, 0.0)));
//! let chest = at("chest", None, 0.0, 1.2);
//! let shoulder = at("shoulder", Some(chest), 0.2, 0.2);
//! let elbow = at("elbow", Some(shoulder), 0.3, -0.02);
//! at("hand", Some(elbow), 0.28, 0.0);
//! let base = at("tail", Some(chest), -0.1, -0.3);
//! let middle = at("tail 2", Some(base), -0.3, 0.0);
//! at("tail 3", Some(middle), -0.3, 0.05);
//! let (skeleton, _) = builder.build()?;
//! let skeleton = Arc::new(skeleton);
//! let joint = |name| skeleton.find(name).unwrap();
//!
//! // Once, for all characters of this skeleton.
//! let arm = TwoBone::new(&skeleton, joint("shoulder"), joint("elbow"), joint("hand"))?;
//! let tail = Auto::new(&skeleton, joint("tail"), joint("tail 3"))?;
//! // Once a thread.
//! let mut workspace = Workspace::new();
//!
//! // Each frame, for each character: the animation's pose, and where the game has the character.
//! let (mut pose, dt) = (Pose::rest(&skeleton), 1.0 / 60.0);
//! let placement = Placement::new(Affine3::from_rotation_translation(Quat::from_rotation_y(0.5), Vec3::X))?;
//! let lever = placement.to_world(Vec3::new(0.4, 1.5, 0.2));
//! let report = arm.solve(&mut pose, &placement.goal(Goal::position(lever)), &LimbOptions::new())?;
//! assert!(report.reached());
//! let options = IterativeOptions::new().with_max_turn(8.0 * dt); // rad
//! let fly = Goal::position(Vec3::new(-0.5, 1.0, 0.3));
//! let report = tail.solve(&mut workspace, &mut pose, &fly, &options)?;
//! assert!(!report.reached(), "it follows in some frames: {} m are left", report.position_residual);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Conventions
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
