//! What the lab's programs share: random numbers, chains with and without limits, chain solvers with all that a
//! solve takes, judges in f64.

pub mod chains;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
pub mod judge;
pub mod kinematics;
mod noise;
mod solving;

pub use noise::Noise;
pub use solving::Solving;
