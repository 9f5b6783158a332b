//! Samples, made by code: a mannequin that walks four strides, from standing to standing, and a creature with many legs.
//!
//! The mannequin's legs follow keyed goals by inverse kinematics, which is baked; its arms have rotation keys. The command
//! plants it if no file is given. Each call makes the same bytes.

mod body;
mod creature;
mod curve;
mod gait;
mod skin;
mod upper_body;
mod walk;

pub use creature::creature;

use crate::{
    Model,
    build::{self, BuildError},
    gltf::Document,
};

/// Returns the mannequin as a model.
///
/// ```
/// let model = sinew_files::sample::mannequin()?;
/// assert_eq!(model.clips[0].name(), "walk");
/// # Ok::<(), sinew_files::build::BuildError>(())
/// ```
pub fn mannequin() -> Result<Model, BuildError> {
    Ok(document()?.into_model()?)
}

/// Returns the mannequin as a document, which can be written to a file.
pub fn document() -> Result<Document, BuildError> {
    let body = body::Body::new()?;
    let mesh = skin::skin(&body)?;
    let clip = walk::walk(&body)?;
    build::document("mannequin", &body.skeleton, &mesh, &[clip])
}
