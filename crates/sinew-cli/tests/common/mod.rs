//! What several tests of the command share.

use std::path::{Path, PathBuf};

/// A real file to test with. These are no part of the project: they are looked for in the folder that the variable
/// `SINEW_DATA` names, or else beside the workspace. A test that misses one says so and passes.
#[allow(dead_code)] // Each test file compiles this module for itself.
pub fn data(file: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("SINEW_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let path = Path::new(&folder).join(file);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {} is absent (set SINEW_DATA to the folder with the test files)", path.display());
    None
}
