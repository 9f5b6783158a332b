//! Sinew: an inverse-kinematics engine.
//!
//! Inverse kinematics turns a chain from its leaf: the position of the hand is given, and the angles of shoulder and elbow
//! follow. Sinew solves limbs, chains, whole bodies, arms and feet on uneven ground, in 3D and in the plane, within the limits
//! of every joint.
//!
//! # Which type for which task
//!
//! | task | type | example |
//! |---|---|---|
//! | place a hand or a foot: two bones, a pole | [`TwoBone`](solve::TwoBone) | `two_bone` |
//! | reach with any chain, limits or none | [`Auto`](solve::Auto) | `auto` |
//! | reach with a long chain of free joints; on bare points | [`FreeChain`](solve::FreeChain), [`PointChain`](solve::PointChain) | `free_chain`, `point_chain` |
//! | point a joint at a target: weapon, turret, camera | [`Aim`](solve::Aim) | `aim` |
//! | look at a target: spine, neck, head, eyes | [`LookAt`](solve::LookAt) | `look_at` |
//! | an animal's leg: hip, knee, hock and fetlock fold together | [`Fold`](solve::Fold) | `fold` |
//! | pull segments along by one end | [`Follow`](solve::Follow) | `follow` |
//! | lay a chain along a curve | [`Spline`](solve::Spline) | `spline` |
//! | several effectors on one skeleton | [`FullBody`](solve::FullBody) | `full_body` |
//! | drag any joint by hand while others are pinned | [`Drag`](solve::Drag) | |
//! | a body from a headset and controllers | [`Trackers`](body::Trackers) | `trackers` |
//! | a method as textbooks have it | [`Ccd`](solve::Ccd), [`Fabrik`](solve::Fabrik), [`DampedLeastSquares`](solve::DampedLeastSquares) | `ccd`, `fabrik`, `least_squares` |
//! | an arm in joint space, one answer or all | [`JointSpaceSolver`](mechanism::JointSpaceSolver) | |
//! | a tool along a path | [`PathFollower`](mechanism::PathFollower) | |
//! | chains in the plane | [`planar`] | `planar` |
//! | feet on uneven ground, each frame | [`FootPlanter`](ground::plant::FootPlanter) | |
//! | feet on uneven ground, a whole clip | [`ground::plant`] | |
//! | named handles in order: poles, fades, feet that roll | [`Rig`](rig::Rig) | `rig` |
//! | keys of goals and joints, with undo | [`RigKeys`](rig::keys::RigKeys) | |
//! | limits of a joint | [`joint::Joint`] | |
//! | which joint is the left knee | [`body::BodyRoles`] | |
//! | sample clips, bake poses into keys | [`motion`] | |
//! | bones, goals, limits and labels to draw, on pages, in engines and in pictures | [`draw`] | |
//!
//! Examples run by `cargo run --example two_bone -- limb.svg`; each draws its picture.
//!
//! # Solvers, states, scratch
//!
//! [`Skeleton`] is the tree of joints with its rest pose. [`Pose`] is one placement of it, a [`JointTransform`] for each joint.
//! A *solver* is built from a skeleton once and shared: its methods take `&self`, and threads and characters may use it at the
//! same time. A *state* is what one character remembers from frame to frame ([`LookState`](solve::LookState),
//! [`Drag`](solve::Drag), [`FootPlanterState`](ground::plant::FootPlanterState), [`RigState`](rig::RigState)); `reset` forgets it. A [`Workspace`] is scratch
//! memory, one a thread for all solvers: it grows on their first use, or by their `reserve`, and changes no bit of an answer.
//! What may change from frame to frame is an argument: the [`Goal`], and options. Every solve returns a [`Report`].
//!
//! # A game's frame
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
//!
//! // What has changed goes to the game's own nodes.
//! # let write = |_: sinew::JointId, _: &JointTransform| ();
//! for joint in pose.changed() {
//!     write(joint, pose.local(joint));
//! }
//! pose.mark_unchanged();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Spaces, units, axes
//!
//! Conventions are glTF's: right-handed, Y up, metres, radians, seconds, quaternions x y z w, column vectors. *Local* space is
//! the parent joint's, *model* space the skeleton's, *world* space the game's. Solvers know model space only; a [`Placement`]
//! takes goals and grounds there, and reports back. Files in other units and axes are converted by who reads them.
//!
//! # Errors and guarantees
//!
//! Invalid data is a typed error with the offending values, and the pose stays as it is. Limits hold in every answer, bone
//! offsets keep their bits, and the residual never grows: [`solve`] lists what each solver promises. The same input gives the
//! same bits; with the feature `libm` on every platform.
//!
//! # Features
//!
//! | feature | default | effect |
//! |---|---|---|
//! | `std` | yes | the platform's mathematics; without it the crate is `no_std` with `alloc`, and needs `libm` |
//! | `libm` | no | software mathematics: the same bits on every platform |
//! | `parry` | no | `ground::MeshGround`: casts on triangle meshes; needs `std` |
//! | `serde` | no | transforms, skeletons, joints, goals, effectors, options, placements and reports are stored and read back |
//!
//! What a constructor checks is checked on reading too, and plain data where it is used, as ever. A [`Pose`] is stored as its
//! [`locals`](Pose::locals).
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
pub mod rig;
pub mod solve;

mod chain;
mod goal;
mod option_type;
mod placement;
mod pose;
mod report;
mod skeleton;
#[cfg(feature = "serde")]
mod stored;
mod transform;
mod workspace;

pub use chain::{Chain, ChainError};
pub use goal::{Goal, Pole};
pub use placement::Placement;
pub use pose::{Pose, PoseError};
pub use report::{Outcome, Report, SolveError};
pub use skeleton::{JointId, JointPathError, Skeleton, SkeletonBuilder, SkeletonError};
pub use transform::{AffineError, JointTransform, TransformFault};
pub use workspace::Workspace;

pub use glam;
