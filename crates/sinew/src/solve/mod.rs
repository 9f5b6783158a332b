//! Solvers, one file each. They know nothing of clips, files or drawing.
//!
//! - [`TwoBone`]: the limb (hip, knee, ankle; shoulder, elbow, wrist) in closed form;
//! - [`Aim`]: one joint turned so that an axis of it points at a target;
//! - [`soften`]: the distance that a chain with a soft zone gives for the distance that its goal asks for.

mod aim;
mod arc;
mod check;
mod partial;
mod soft;
pub mod two_bone;

pub use aim::{Aim, Ray, Up, aim_ray};
pub use soft::soften;
pub use two_bone::{BendSide, TwoBone, TwoBoneError};
