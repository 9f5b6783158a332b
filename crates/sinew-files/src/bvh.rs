//! BVH in and out.

use std::path::Path;

use crate::{FileError, Model, ReadOptions};

/// A BVH document.
#[derive(Clone, Debug)]
pub struct Bvh;

/// Reads a BVH file.
pub fn read(_path: &Path, _options: &ReadOptions) -> Result<Model, FileError> {
    todo!()
}
