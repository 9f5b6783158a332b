//! An output appears whole or not at all.
//!
//! It is written to a file beside its place and renamed into it. The name of that file holds the process id, and on Linux it
//! is locked as long as it is written to: a file whose process is gone is removed by the next program that writes there.

use std::{
    collections::BTreeSet,
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
    process,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::{FileError, open::or_here};

/// Writes a file beside `path` and renames it into place when all of it is on the disk. Where anything fails, what stood at
/// `path` is as it was and nothing half written is left.
///
/// A link is followed, also one whose target does not exist yet, and a file that is replaced hands on its permissions; one
/// that must not be written to is not replaced. What is no file (a pipe, a device such as `/dev/null`) cannot be replaced
/// and is written to as it stands.
///
/// A program that is killed leaves its file: `.sinew-`, the process id, a number, `.part`. On Linux the next program that
/// writes to the folder removes those of processes that no longer live. One that is ended by a signal that it can handle
/// leaves none if it calls [`abandon_outputs`].
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    try_write(path, write).map_err(|error| FileError::Io { path: path.into(), error })
}

/// The place that an output for `path` is written to: links followed, also one whose target does not exist yet.
pub fn output_target(path: &Path) -> io::Result<PathBuf> {
    let mut target = path.to_path_buf();
    loop {
        match fs::canonicalize(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // Links in a circle are told here.
            known => return known,
        }
        // What does not exist stays as it is named.
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
    // The file stays open, and so locked, until it has its name.
    part.rename(&target)
}

/// What this program is writing.
struct Writing {
    unfinished: Vec<PathBuf>,
    /// Folders that were looked through for what killed programs left.
    swept: BTreeSet<PathBuf>,
    /// Numbers the files of this program.
    count: u64,
}

static WRITING: Mutex<Writing> =
    Mutex::new(Writing { unfinished: Vec::new(), swept: BTreeSet::new(), count: 0 });

fn writing() -> MutexGuard<'static, Writing> {
    // Every change is one push or one removal, so that a thread that panicked leaves it whole.
    WRITING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes every output that this program has begun and not finished: for a program that a signal is about to end.
///
/// Other threads that would begin or finish an output wait until the returned value is dropped. Those whose output was
/// removed then get an error.
pub fn abandon_outputs() -> OutputsHeld {
    let mut writing = writing();
    for path in writing.unfinished.drain(..) {
        // It may be gone with its folder.
        let _ = fs::remove_file(path);
    }
    OutputsHeld { _writing: writing }
}

/// Keeps outputs from being begun or finished, as [`abandon_outputs`] says.
#[must_use = "outputs go on when this is dropped"]
pub struct OutputsHeld {
    _writing: MutexGuard<'static, Writing>,
}

/// A file that is not yet in its place; it goes when it is dropped.
struct Part(PathBuf);

impl Part {
    /// A new file in the same folder, so that renaming it needs no copy.
    fn create(target: &Path) -> io::Result<(fs::File, Self)> {
        let mut writing = writing();
        let folder = or_here(target.parent().unwrap_or(Path::new("")));
        if writing.swept.insert(folder.into()) {
            sweep(folder);
        }
        loop {
            // Without the target's own name, which may be as long as a name can be.
            let path = target.with_file_name(part_name(process::id(), writing.count));
            writing.count += 1;
            match fs::File::create_new(&path) {
                Ok(file) if claim(&file) => {
                    writing.unfinished.push(path.clone());
                    return Ok((file, Self(path)));
                }
                // Another program took it for one that was left, and removes it.
                Ok(_) => {}
                // Left by a program of the same number that was killed.
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
            // What went wrong first is what is told.
            let _ = fs::remove_file(&self.0);
        }
    }
}

fn part_name(process: u32, count: u64) -> String {
    format!(".sinew-{process}-{count}.part")
}

/// The process that wrote a file of this name; none where the name is not exactly one of ours.
#[cfg(any(target_os = "linux", test))]
fn owner(name: &str) -> Option<u32> {
    let (process, count) = name.strip_prefix(".sinew-")?.strip_suffix(".part")?.split_once('-')?;
    let (process, count) = (process.parse().ok()?, count.parse().ok()?);
    // `+7` and `007` are numbers, too.
    (part_name(process, count) == name).then_some(process)
}

/// Locks a new file, so that other programs can tell that it is written to. False where one of them was faster and removes
/// it as one that was left.
#[cfg(target_os = "linux")]
fn claim(file: &fs::File) -> bool {
    use std::os::unix::fs::MetadataExt;
    match file.try_lock() {
        // Removed between its making and its lock, it has no name any more.
        Ok(()) => file.metadata().is_ok_and(|found| found.nlink() > 0),
        Err(fs::TryLockError::WouldBlock) => false,
        // A file system without locks, where nothing is swept either.
        Err(fs::TryLockError::Error(_)) => true,
    }
}

#[cfg(not(target_os = "linux"))]
fn claim(_: &fs::File) -> bool {
    true
}

/// Removes the files in a folder that programs left which were killed while they wrote. What cannot be read, locked or
/// removed stays.
///
/// A process of another container or machine may have a number that no process has here: its lock tells that it lives. A
/// program whose number is our own was killed before us.
#[cfg(target_os = "linux")]
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(owner) else { continue };
        // Not through a link, and no pipe, which opening would wait for.
        if !entry.file_type().is_ok_and(|found| found.is_file()) {
            continue;
        }
        if process != process::id() && lives(process) {
            continue;
        }
        if fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Elsewhere there is no telling which processes live.
#[cfg(not(target_os = "linux"))]
fn sweep(_: &Path) {}

/// Whether a process may still write.
#[cfg(target_os = "linux")]
fn lives(process: u32) -> bool {
    match fs::read_to_string(format!("/proc/{process}/stat")) {
        // The state follows the program's name in brackets. A zombie has closed its files.
        Ok(stat) => !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X'])),
        // Without a proc file system nobody is known to be dead.
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
