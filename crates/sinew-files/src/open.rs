//! Reading of regular files.

use std::{
    fs::{self, FileType},
    path::Path,
};

use crate::FileError;

/// Reads the bytes of a regular file; links are followed.
///
/// # Errors
/// A file that cannot be read, and a path that is no regular file: pipes, devices and sockets may never end.
pub fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error| FileError::Io { path: path.into(), error };
    let found = fs::metadata(path).map_err(failed)?.file_type();
    if !found.is_file() {
        return Err(FileError::NotRegular { path: path.into(), found: kind(found) });
    }
    fs::read(path).map_err(failed)
}

/// Name of a file type that is no regular file.
fn kind(found: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if found.is_fifo() {
            return "a pipe";
        } else if found.is_socket() {
            return "a socket";
        }
    }
    if found.is_dir() { "a folder" } else { "a device" }
}

/// The folder, or `.` for the empty parent of a bare file name.
pub(crate) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
