//! Code shared by the lab's programs: random numbers, chains with and without limits, a humanoid, chain solvers with options and
//! workspaces, and judges in f64.

pub mod chains;
pub mod humanoid;
#[path = "../../../crates/sinew/tests/limit_judge/mod.rs"]
pub mod judge;
pub mod kinematics;
mod noise;
mod solving;

pub use noise::Noise;
pub use solving::Solving;
