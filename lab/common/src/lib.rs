//! What the lab's programs share: random numbers, chains with and without limits, judges in f64.

pub mod chains;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
pub mod judge;
pub mod kinematics;
mod noise;

pub use noise::Noise;
