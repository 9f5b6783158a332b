//! Errors of reading and writing files.

use std::path::PathBuf;

use thiserror::Error;

use crate::text::tidy;

/// Error of a file, with its position. The message is one line that quotes at most 80 characters of a name or value; the
/// fields hold the whole.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FileError {
    /// The extension is not one of the formats that are read or written here.
    #[error("{}: the ending must be {wanted}", path.display())]
    Ending {
        /// Path of the file.
        path: PathBuf,
        /// Allowed extensions.
        wanted: &'static str,
    },
    /// The operating system reports an error.
    #[error("{}: {error}", path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error of the operating system.
        error: std::io::Error,
    },
    /// The path is not a regular file.
    #[error("{}: it must be a regular file, and is {found}", path.display())]
    NotRegular {
        /// Path.
        path: PathBuf,
        /// Kind of the path: `a folder`, `a pipe`, `a socket` or `a device`.
        found: &'static str,
    },
    /// A line of a text file is wrong.
    #[error("{}:{line}: {}", path.display(), tidy(what))]
    Line {
        /// Path of the file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Description of the error.
        what: String,
    },
    /// A value of a document is wrong.
    #[error("{}: {}: {}", path.display(), tidy(at), tidy(what))]
    At {
        /// Path of the file.
        path: PathBuf,
        /// Position in the document, as a JSON path such as `animations[2].channels[0].sampler`, or as an element's name.
        at: String,
        /// Description of the error.
        what: String,
    },
}
