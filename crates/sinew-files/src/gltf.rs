//! glTF, GLB and VRM in and out.

use std::path::Path;

use crate::{FileError, Model};

/// A glTF document with its buffers.
#[derive(Clone, Debug)]
pub struct Document;

/// Reads a .gltf, .glb or .vrm file.
pub fn read(_path: &Path) -> Result<Model, FileError> {
    todo!()
}
