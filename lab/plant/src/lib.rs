//! The judge of planting, for its program and for those that judge planted clips of other commands: measures written files by
//! code of its own.

pub mod ablate;
pub mod accessor;
pub mod anatomy;
pub mod bvh;
pub mod cases;
pub mod command;
pub mod contact;
pub mod figure;
pub mod flat;
pub mod gait;
pub mod ground;
pub mod judge;
pub mod lowpass;
pub mod marks;
pub mod maths;
pub mod measure;
pub mod motion;
pub mod natural;
#[cfg(test)]
mod natural_tests;
pub mod note;
pub mod options;
pub mod real_stairs;
pub mod same;
pub mod scene;
pub mod strip;
pub mod table;
#[cfg(test)]
mod tests;
pub mod track;
pub mod unchanged;
