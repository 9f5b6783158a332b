//! What ends the command early.

use std::io;

use sinew_files::{FileError, tidy};
use thiserror::Error;

/// Why the command did not do what it was asked for.
#[derive(Debug, Error)]
pub enum Failure {
    /// The command line cannot be meant: exit 2.
    #[error("{0}")]
    Usage(String),
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// What was asked for is not in the file, or cannot be done with it.
    #[error("{0}")]
    Work(String),
    /// Standard output could not be written to.
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
}

impl Failure {
    /// Any other error of the work. What it quotes of a file is shortened.
    pub fn work(error: impl std::fmt::Display) -> Self {
        Self::Work(tidy(&error.to_string()))
    }

    /// Whether the reader of our output went away (`sinew info x.glb | head`), which is no failure.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Output(e) if e.kind() == io::ErrorKind::BrokenPipe)
    }
}
