//! File formats for Sinew: reads and writes glTF, GLB, VRM and BVH, and reads URDF, ground meshes and rig files.
//!
//! This crate knows nothing of solvers. It turns bytes into a [`Model`] (skeleton, clips, declared roles, skin) and clips
//! back into bytes. Units and axes are converted here and nowhere else.

/// Examples of the project's README, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

/// The example of one frame of a game, as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/one-frame.md")]
pub struct OneFrame;

/// The examples of rigs, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/rigs.md")]
pub struct Rigs;

pub mod build;
pub mod bvh;
pub mod gltf;
pub mod ground;
#[cfg(feature = "rig")]
pub mod rig;
pub mod sample;
pub mod urdf;

mod budget;
mod error;
mod json;
mod model;
mod open;
mod text;
mod units;
mod write;

pub use error::FileError;
pub use json::{JsonError, read_json};
pub use model::{ClipProblem, Model, ReadOptions, SkinVertex, Source, UpAxis};
pub use open::read_file;
pub use text::{shorten, tidy};
pub use write::{OutputsHeld, abandon_outputs, output_target, write_whole};
