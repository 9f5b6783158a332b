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

use crate::build::{self, BuildError};

/// The sample as a document.
pub fn document() -> Result<(serde_json::Value, Vec<u8>), BuildError> {
    let body = body::Body::new()?;
    let mesh = skin::skin(&body)?;
    let clip = walk::walk(&body)?;
    build::document("mannequin", &body.skeleton, &mesh, &[clip])
}
