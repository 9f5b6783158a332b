//! Solvers, one file each. They know nothing of clips, files or drawing.
//!
//! - [`TwoBone`]: the limb (hip, knee, ankle; shoulder, elbow, wrist) in closed form;
//! - [`soften`]: the distance that a chain with a soft zone gives for the distance that its goal asks for.

mod check;
mod partial;
mod soft;
pub mod two_bone;

pub use soft::soften;
pub use two_bone::{BendSide, TwoBone, TwoBoneError};
