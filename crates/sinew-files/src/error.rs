//! What can be wrong with a file.

use std::path::PathBuf;

use thiserror::Error;

use crate::text::tidy;

/// What is wrong with a file, and where. Its message is one line that quotes at most 80 characters of a name or value in the
/// file; the fields have the whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The ending is not one that we read or write here.
    #[error("{}: the ending must be {wanted}", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
        /// What is allowed.
        wanted: &'static str,
    },
    /// The operating system refused.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// Its word.
        error: std::io::Error,
    },
    /// A regular file is wanted.
    #[error("{}: a regular file is wanted, and this is {found}", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What is there: `a folder`, `a pipe`, `a socket` or `a device`.
        found: &'static str,
    },
    /// A text file says something wrong at a line (counted from 1).
    #[error("{}:{line}: {}", path.display(), tidy(what))]
    Line {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// A document says something wrong at a place (a JSON path such as `animations[2].channels[0].sampler`).
    #[error("{}: {}: {}", path.display(), tidy(at), tidy(what))]
    At {
        /// The file.
        path: PathBuf,
        /// The place.
        at: String,
        /// What is wrong.
        what: String,
    },
}
