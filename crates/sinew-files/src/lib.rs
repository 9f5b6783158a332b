//! Files for Sinew: glTF, GLB, VRM and BVH in and out, URDF and ground meshes in.
//!
//! Files know nothing of solvers: they turn bytes into a [`Model`] (skeleton, clips, roles that the file declares, the
//! points of its skin) and clips back into bytes. Units and axes are converted here and nowhere else.

/// The examples of the project's first page, as tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

pub mod build;
pub mod bvh;
pub mod gltf;
pub mod ground;
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
pub use model::{BindFault, BindProblem, ClipProblem, Model, ReadOptions, SkinVertex, Source, UpAxis};
pub use open::read_file;
pub use text::{shorten, tidy};
pub use write::{OutputsHeld, abandon_outputs, output_target, write_whole};
