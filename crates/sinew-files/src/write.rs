//! An output appears whole or not at all.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use crate::FileError;

/// Writes a file beside `path` and renames it into place when all of it is on the disk. Where anything fails, what stood at
/// `path` is as it was and nothing half written is left.
///
/// A link is followed, and a file that is replaced hands on its permissions; one that must not be written to is not
/// replaced. What is no file (a pipe, a device such as `/dev/null`) cannot be replaced and is written to as it stands.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    try_write(path, write).map_err(|error| FileError::Io { path: path.into(), error })
}

fn try_write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Renaming onto a link would leave its target as it was. What does not exist stays as it is named.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.into());
    let old = fs::metadata(&target).ok();
    match &old {
        Some(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(old) if !old.is_file() => {
            let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(&target)?);
            write(&mut out)?;
            return out.flush();
        }
        Some(old) if old.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
        _ => {}
    }
    let (file, beside) = create_beside(&target)?;
    let result = (|| {
        let mut out = io::BufWriter::new(file);
        write(&mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        drop(file);
        fs::rename(&beside, &target)
    })();
    if result.is_err() {
        // What went wrong first is what is told.
        let _ = fs::remove_file(&beside);
    }
    result
}

/// A new file in the same folder, so that renaming it needs no copy.
fn create_beside(path: &Path) -> io::Result<(fs::File, PathBuf)> {
    // Threads of one program may write to the same place at once.
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        // Without the file's own name, which may be as long as a name can be.
        let name = format!(".sinew-{}-{count}.part", std::process::id());
        let beside = path.with_file_name(name);
        match fs::File::create_new(&beside) {
            Ok(file) => return Ok((file, beside)),
            // Left by a program of the same number that was killed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
