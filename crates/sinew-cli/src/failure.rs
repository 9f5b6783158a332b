//! Failures of the command.

use std::io;

use sinew_files::{FileError, tidy};
use thiserror::Error;

/// Failure of a subcommand.
#[derive(Debug, Error)]
pub enum Failure {
    /// An invalid command line: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Something asked for is not in the file, or cannot be done with it.
    #[error("{0}")]
    Work(String),
    /// Standard output could not be written to.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Wraps any other error. Long quotes of a file are shortened.
    pub fn work(error: impl std::fmt::Display) -> Self {
        Self::Work(tidy(&error.to_string()))
    }

    /// Whether the reader of standard output closed it (`sinew info x.glb | head`), which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}
