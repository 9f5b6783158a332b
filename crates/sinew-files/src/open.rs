//! Files as they are read: whole, and only where they are files.

use std::{
    fs::{self, FileType},
    path::Path,
};

use crate::FileError;

/// The bytes of a regular file, links followed. Pipes, devices and sockets may wait or give bytes for ever, and are refused.
pub fn read_file(path: &Path) -> Result<Vec<u8>, FileError> {
    let failed = |error| FileError::Io { path: path.into(), error };
    let found = fs::metadata(path).map_err(failed)?.file_type();
    if !found.is_file() {
        return Err(FileError::NotRegular { path: path.into(), found: kind(found) });
    }
    fs::read(path).map_err(failed)
}

/// A word for what is no regular file.
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

/// The parent of a bare file name is empty, and means the working folder.
pub(crate) fn or_here(folder: &Path) -> &Path {
    if folder.as_os_str().is_empty() { Path::new(".") } else { folder }
}
