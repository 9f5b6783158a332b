//! Where tests find real files. These are no part of the project, so that tests on them are ignored unless asked for.

use std::path::{Path, PathBuf};

/// A real file: below the folder that `SINEW_DATA` names, else below `../shared/data` beside the repository.
///
/// # Panics
/// If it is absent: a test that needs it must not pass without it.
pub fn data(file: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let named = std::env::var_os("SINEW_DATA").filter(|folder| !folder.is_empty());
    let path = named.map_or(beside, PathBuf::from).join(file);
    assert!(path.is_file(), "no real file {} (SINEW_DATA names the folder that has {file})", path.display());
    path
}
