//! The sample character, made by code: a mannequin that walks four strides, from standing to standing, and waves.
//!
//! Its legs follow keyed goals by inverse kinematics, baked; its arms are plain rotation keys. It is what the command plants
//! when it is given no file, and what a new user looks at first. Each call makes the same bytes.

mod body;
mod curve;
mod gait;
mod gesture;
mod skin;
mod walk;

use crate::{
    Model,
    build::{self, BuildError},
    gltf::Document,
};

/// The sample as it would be read from a file.
///
/// ```
/// let model = sinew_files::sample::mannequin()?;
/// assert_eq!(model.clips[0].name(), "walk");
/// # Ok::<(), sinew_files::build::BuildError>(())
/// ```
pub fn mannequin() -> Result<Model, BuildError> {
    Ok(document()?.into_model()?)
}

/// The sample as a document, to be written to a file.
pub fn document() -> Result<Document, BuildError> {
    let body = body::Body::new()?;
    let mesh = skin::skin(&body)?;
    let clip = walk::walk(&body)?;
    build::document("mannequin", &body.skeleton, &mesh, &[clip])
}
