//! Paths of outputs, and the check that none overwrites an input.

use std::{
    fs,
    path::{Path, PathBuf},
};

use sinew_files::output_target;

use crate::failure::Failure;

/// Whether a path stands for standard input or output.
pub fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

/// The folder of a path; `.` for a bare file name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The path with links and relative parts resolved, equal for all spellings of one file. The file need not exist.
pub fn real(path: &Path) -> PathBuf {
    let target = output_target(path).unwrap_or_else(|_| path.into());
    let folder = folder_of(&target);
    fs::canonicalize(folder).unwrap_or_else(|_| folder.into()).join(target.file_name().unwrap_or_default())
}

/// The ending of a path in lower case, without the dot.
pub fn ending(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// Returns an error if an output's folder does not exist, or the output is a folder, before the work is done.
pub fn check_folder(path: &Path) -> Result<(), Failure> {
    let file = real(path);
    let folder = folder_of(&file);
    if !folder.is_dir() {
        return Err(Failure::Work(format!("{}: there is no folder {}", path.display(), folder.display())));
    }
    if path.is_dir() {
        return Err(Failure::Work(format!("{}: the output is a folder", path.display())));
    }
    Ok(())
}

/// The error for an output that would overwrite an input.
pub fn lost(path: &Path) -> Failure {
    Failure::Usage(format!("{} is an input, which the output would overwrite", path.display()))
}

/// Returns an error if an output is one of the inputs. Devices and pipes may be both.
pub fn keep_inputs<'a>(out: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> Result<(), Failure> {
    let file = real(out);
    let is_input = inputs.into_iter().any(|input| real(input) == file);
    if is_input && file.is_file() { Err(lost(out)) } else { Ok(()) }
}
