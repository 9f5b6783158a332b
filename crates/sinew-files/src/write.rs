//! Writing of outputs, which appear whole or not at all.
//!
//! An output is written to a temporary file in the same folder, which is then renamed. The temporary file's name holds the
//! process id, and on Linux the file is locked while it is written: the next program that writes to the folder removes files
//! of processes that no longer exist.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{FileError, open::or_here};

/// Writes a file beside `path`, and renames it to `path` once all of it is on the disk. On failure, the file at `path` is
/// unchanged and the unfinished file is removed.
///
/// Links are followed, also to targets that do not exist yet. A file that is replaced passes on its permissions; a read-only
/// file is an error. Pipes and devices such as `/dev/null` are written to directly.
///
/// A killed program leaves its unfinished file, `.sinew-PROCESS-NUMBER.part`. On Linux, the next program that writes to the
/// folder removes the files of processes that no longer exist. A program that handles a signal can remove its own with
/// [`abandon_outputs`].
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    try_write(path, write).map_err(|error| FileError::Io { path: path.into(), error })
}

/// The path that an output for `path` is written to: links are followed, also to targets that do not exist yet. A circle of
/// links is an error.
pub fn output_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    loop {
        match fs::canonicalize(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // This includes the error for a circle of links.
            known => return known,
        }
        // A path that does not exist and is no link is the target.
        let Ok(next) = fs::read_link(&target) else { return Ok(target) };
        target = target.parent().unwrap_or(Path::new("")).join(next);
    }
}

fn try_write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let old = match fs::metadata(path) {
        Ok(old) if old.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Ok(old) if !old.is_file() => {
            let mut out = io::BufWriter::new(fs::OpenOptions::new().write(true).open(path)?);
            write(&mut out)?;
            return out.flush();
        }
        Ok(old) if old.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
        Ok(old) => Some(old),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    // Renaming onto a link would leave its target as it was.
    let target = output_target(path)?;
    let (file, part) = Part::create(&target)?;
    let mut out = io::BufWriter::new(file);
    write(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    if let Some(old) = old {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    // The file stays open, and thereby locked, until it is renamed.
    part.rename(&target)
}

/// Outputs of this process that are not finished.
struct Writing {
    unfinished: Vec<PathBuf>,
    /// Folders in which files of killed programs have been removed.
    swept: BTreeSet<PathBuf>,
    /// Number of the next file.
    count: u64,
}

static WRITING: Mutex<Writing> =
    Mutex::new(Writing { unfinished: Vec::new(), swept: BTreeSet::new(), count: 0 });

fn writing() -> MutexGuard<'static, Writing> {
    // Every change is one push or one removal, so that the state is valid even if a thread panicked.
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every unfinished output of this process, for a program that a signal is about to end.
///
/// Other threads that begin or finish an output wait until the returned value is dropped. A thread whose output was removed
/// then gets an error.
pub fn abandon_outputs() -> OutputsHeld {
    let mut writing = writing();
    for path in writing.unfinished.drain(..) {
        // The file may have been removed with its folder.
        let _ = fs::remove_file(path);
    }
    OutputsHeld { _writing: writing }
}

/// Guard of [`abandon_outputs`]: no output is begun or finished until it is dropped.
#[must_use = "outputs continue when this is dropped"]
pub struct OutputsHeld {
    _writing: MutexGuard<'static, Writing>,
}

/// Unfinished file; dropping it removes the file.
struct Part(PathBuf);

impl Part {
    /// Creates a file in the target's folder, so that renaming needs no copy.
    fn create(target: &Path) -> io::Result<(fs::File, Self)> {
        let mut writing = writing();
        let folder = or_here(target.parent().unwrap_or(Path::new("")));
        if writing.swept.insert(folder.into()) {
            sweep(folder);
        }
        loop {
            // The target's own name may already have the maximum length.
            let path = target.with_file_name(part_name(process::id(), writing.count));
            writing.count += 1;
            match fs::File::create_new(&path) {
                Ok(file) if claim(&file) => {
                    writing.unfinished.push(path.clone());
                    return Ok((file, Self(path)));
                }
                // Another program took it for an abandoned file, and removes it.
                Ok(_) => {}
                // A killed program with the same process id left this file.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn rename(self, target: &Path) -> io::Result<()> {
        let mut writing = writing();
        let Some(at) = writing.unfinished.iter().position(|path| *path == self.0) else {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the output was abandoned"));
        };
        fs::rename(&self.0, target)?;
        writing.unfinished.swap_remove(at);
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let mut writing = writing();
        if let Some(at) = writing.unfinished.iter().position(|path| *path == self.0) {
            writing.unfinished.swap_remove(at);
            // The caller reports the first error, not this one.
            let _ = fs::remove_file(&self.0);
        }
    }
}

fn part_name(process: u32, count: u64) -> String {
    format!(".sinew-{process}-{count}.part")
}

/// The process id in the name of an unfinished file; `None` for any other name.
#[cfg(any(target_os = "linux", test))]
fn owner(name: &str) -> Option<u32> {
    let (process, count) = name.strip_prefix(".sinew-")?.strip_suffix(".part")?.split_once('-')?;
    let (process, count) = (process.parse().ok()?, count.parse().ok()?);
    // `+7` and `007` parse as numbers, but are not names of ours.
    (part_name(process, count) == name).then_some(process)
}

/// Locks a new file, so that other programs see that it is in use. Returns false if another program has already taken it for
/// abandoned and removes it.
#[cfg(target_os = "linux")]
fn claim(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match file.try_lock() {
        // A file that was removed between its creation and its lock has no link.
        Ok(()) => file.metadata().is_ok_and(|found| found.nlink() > 0),
        Err(fs::TryLockError::WouldBlock) => false,
        // On a file system without locks nothing is swept either.
        Err(fs::TryLockError::Error(_)) => true,
    }
}

#[cfg(not(target_os = "linux"))]
fn claim(_: &fs::File) -> bool {
    true
}

/// Removes the unfinished files of killed programs from a folder. Files that cannot be read, locked or removed stay.
///
/// A process of another container or machine may have an id that no process has here; its lock shows that it is alive. A
/// file with this process's own id is that of an earlier process.
#[cfg(target_os = "linux")]
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(owner) else { continue };
        // Links are not followed, and opening a pipe would block.
        if !entry.file_type().is_ok_and(|found| found.is_file()) {
            continue;
        }
        if process != process::id() && is_alive(process) {
            continue;
        }
        if fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Does nothing: other systems do not tell which processes are alive.
#[cfg(not(target_os = "linux"))]
fn sweep(_: &Path) {}

/// Whether a process may still write. True if it cannot be told.
#[cfg(target_os = "linux")]
fn is_alive(process: u32) -> bool {
    match fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the program's name in brackets. A zombie has closed its files.
        Ok(stat) => !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])),
        // Without a proc file system no process is known to be dead.
        Err(error) => error.kind() != io::ErrorKind::NotFound || !Path::new("/proc/self/stat").exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_ours_have_an_owner() {
        assert_eq!(owner(&part_name(4_294_967_295, u64::MAX)), Some(u32::MAX));
        for other in [
            ".sinew-1-0.part.bak",
            "x.sinew-1-0.part",
            ".sinew-1.part",
            ".sinew--0.part",
            ".sinew-1-.part",
            ".sinew-01-0.part",
            ".sinew-+1-0.part",
            ".sinew-1-0-0.part",
            ".sinew-4294967296-0.part",
            ".sinew-1-0.PART",
            ".sinew-.part",
        ] {
            assert_eq!(owner(other), None, "{other}");
        }
    }
}
