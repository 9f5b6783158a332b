//! The engine as WebAssembly. The package's TypeScript (`../js`) is the only caller: it checks types and lengths, says which
//! errors there are, and documents the classes for users.
//!
//! Numbers of goals, options and reports cross in the [`exchange`], so that a solve makes no objects on the way.

mod along;
mod body;
mod chain;
mod draw;
pub mod exchange;
mod failure;
mod gaze;
mod joint;
mod plane;
mod pose;
mod skeleton;
mod trace;
mod tree;
mod two_bone;

pub use along::{RawCurve, RawFollow, RawSpline};
pub use body::{RawDrag, RawEffectors, RawFullBody};
pub use chain::{RawChain, RawPointChain};
pub use draw::RawDrawList;
pub use gaze::{RawAim, RawLookAt};
pub use plane::RawChain2d;
pub use pose::RawPose;
pub use skeleton::{RawSkeleton, RawSkeletonBuilder};
pub use tree::RawFabrikTree;
pub use two_bone::RawTwoBone;
