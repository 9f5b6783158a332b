//! Cases, contenders and judge of chain solvers, shared by the program `chain` and the benches.

pub mod cases;
pub mod contender;
pub mod judge;
pub mod limited;
pub mod paths;
pub mod race;
