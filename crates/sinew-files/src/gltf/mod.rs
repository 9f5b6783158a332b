//! Reading and writing of glTF, GLB and VRM.
//!
//! The document is kept as JSON and read through checked look-ups, not through a typed mirror of the format. Unknown content
//! is therefore written as it was read (numbers to the digit; only `1E2` becomes `1e+2`), and every index, count and length
//! is checked before it is used.
//!
//! Files that a document names must be in its folder, with links followed, unless [`ReadOptions::allow_outside`] is set. A
//! required extension (`extensionsRequired`) is accepted if it is decoded here, or if it concerns only content that is not
//! read (materials, textures, lights, metadata). Compressed documents and unknown required extensions are errors.
//!
//! Axes and units are those of glTF: right-handed, Y up, metres, radians, seconds.

mod accessor;
mod bind;
mod buffer;
mod clip;
mod document;
mod edit;
mod glb;
mod json;
mod keys;
mod mesh;
mod placement;
mod read;
mod required;
mod skin;
mod tree;
mod vrm;
mod write;

use std::path::Path;

pub use document::Document;

use crate::{FileError, Model, ReadOptions};

/// Reads a .gltf, .glb or .vrm file. Of the options, only [`ReadOptions::memory_budget`] and [`ReadOptions::allow_outside`]
/// apply to these formats.
///
/// # Errors
/// Those of [`Document::read`] and [`Document::into_model`].
pub fn read(path: &Path, options: &ReadOptions) -> Result<Model, FileError> {
    Document::read(path, options)?.into_model()
}
