//! glTF, GLB and VRM in and out.
//!
//! The document is kept as JSON and read through checked look-ups, not through a typed mirror of the format. What we do
//! not understand is then written back as it was (numbers to the digit; only `1E2` comes back as `1e+2`), and no index,
//! count or length of a damaged file is used before it was compared with what there is.
//!
//! Files that a document names must lie in its folder, links followed, unless [`ReadOptions::allow_outside`] is set. A
//! document that requires an extension (`extensionsRequired`) is read where the extension is decoded here or concerns only
//! what is not read (materials, textures, lights, metadata); compressed documents and unknown extensions are errors.
//!
//! Axes and units are glTF's and ours alike: right-handed, Y up, metres, radians, seconds.

mod accessor;
mod bind;
mod buffer;
mod clip;
mod document;
mod edit;
mod glb;
mod json;
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

/// Reads a .gltf, .glb or .vrm file. Of the options [`ReadOptions::memory_budget`] and [`ReadOptions::allow_outside`] are for
/// these formats.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Model, FileError> {
    Document::read(path, options)?.into_model()
}
