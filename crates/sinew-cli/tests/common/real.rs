//! Location of real files, which are not part of the project. Tests on them are ignored by default.

use std::path::{Path, PathBuf};

/// Path of a real file, in the folder that `SINEW_DATA` names, or else in `../shared/data` beside the repository.
///
/// # Panics
/// If the file is absent, as a test that needs it must not pass without it.
pub fn data(file: &str) -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let named = std::env::var_os("SINEW_DATA").filter(|folder| !folder.is_empty());
    let path = named.map_or(beside, PathBuf::from).join(file);
    assert!(path.is_file(), "no real file {} (SINEW_DATA names the folder that has {file})", path.display());
    path
}
