//! Solvers of chains beside their peers: the cases, the contenders and the judge, which the program `chain` and the benches
//! share.

pub mod cases;
pub mod contender;
pub mod judge;
pub mod limited;
pub mod paths;
pub mod race;
