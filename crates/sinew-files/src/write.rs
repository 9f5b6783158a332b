//! An output appears whole or not at all.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use crate::FileError;

/// Writes a file beside `path` and renames it into place when all of it is on the disk. Where anything fails, what stood at
/// `path` is as it was and nothing half written is left.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}.part", std::process::id()));
    let beside: PathBuf = path.with_file_name(name);
    let result = (|| {
        let mut file = io::BufWriter::new(fs::File::create(&beside)?);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&beside, path)
    })();
    result.map_err(|error| {
        // The part may not exist where creating it was what failed.
        let _ = fs::remove_file(&beside);
        FileError::Io { path: path.into(), error }
    })
}
