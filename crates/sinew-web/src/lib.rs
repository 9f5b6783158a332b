//! The engine as WebAssembly. The package's TypeScript (`../js`) is the only caller: it checks types and lengths, says which
//! errors there are, and documents the classes for users.
//!
//! Numbers of goals, options and reports cross in the [`exchange`], so that a solve makes no objects on the way.

mod along;
#[cfg(feature = "whole")]
mod balance;
mod body;
mod chain;
#[cfg(feature = "whole")]
mod clip;
mod draw;
pub mod exchange;
mod failure;
#[cfg(feature = "files")]
mod files;
mod gaze;
#[cfg(feature = "whole")]
mod ground;
mod joint;
#[cfg(feature = "whole")]
mod mechanism;
mod plane;
#[cfg(feature = "whole")]
mod plant;
mod pose;
#[cfg(feature = "whole")]
mod rig;
#[cfg(feature = "whole")]
mod rig_keys;
mod skeleton;
#[cfg(feature = "whole")]
mod spaces;
mod trace;
#[cfg(feature = "whole")]
mod trackers;
mod tree;
mod two_bone;
#[cfg(feature = "whole")]
mod walk;

pub use along::{RawCurve, RawFollow, RawSpline};
pub use body::{RawDrag, RawEffectors, RawFullBody};
pub use chain::{RawChain, RawPointChain};
pub use draw::RawDrawList;
#[cfg(feature = "files")]
pub use files::{RawModel, RawPlanting};
pub use gaze::{RawAim, RawLookAt};
pub use plane::RawChain2d;
pub use pose::RawPose;
pub use skeleton::{RawSkeleton, RawSkeletonBuilder};
pub use tree::RawFabrikTree;
pub use two_bone::RawTwoBone;
#[cfg(feature = "whole")]
pub use {
    clip::{RawClip, RawClipBuilder},
    ground::RawGround,
    mechanism::{RawJointSpaceSolver, RawMechanism, RawMechanismBuilder},
    plant::{RawFigure, RawFootPlanter, RawFootPlanterState},
    rig::{RawRig, RawRigBuilder, RawRigDrag, RawRigState},
    rig_keys::{RawMirror, RawRigKeys},
    trackers::{RawBody, RawTrackers},
    walk::{RawCreature, RawWalkState, RawWalker},
};

/// Makes a panic an error that says where it was; the call would end without a word.
#[wasm_bindgen::prelude::wasm_bindgen(start)]
fn tell_panics() {
    std::panic::set_hook(Box::new(|panic| wasm_bindgen::throw_val(failure::failure("panic", panic))));
}
