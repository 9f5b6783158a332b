//! Input of goals: a file or a pipe, line by line.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    path::Path,
};

use sinew_files::FileError;

use crate::{failure::Failure, outputs::is_dash};

/// Maximum length of a line of goals, in bytes. A line of a million numbers fits; a line without an end must not fill the
/// memory.
pub const MAX_LINE: usize = 16 << 20;

/// One line of goals.
pub enum Line {
    /// The line's bytes, without the newline.
    Whole(Vec<u8>),
    /// A line longer than [`MAX_LINE`], which is not kept.
    TooLong,
}

impl Line {
    /// Whether the line holds white space only.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.trim_ascii().is_empty())
    }

    /// The line as text, without white space at its ends. A line that is too long or no UTF-8 is an error.
    pub fn text(&self) -> Result<&str, String> {
        match self {
            Self::Whole(bytes) => {
                std::str::from_utf8(bytes).map(str::trim).map_err(|e| format!("not UTF-8: {e}"))
            }
            Self::TooLong => Err(format!("the line is longer than the {} MiB allowed", MAX_LINE >> 20)),
        }
    }

    /// Memory of the line, in bytes.
    pub fn size(&self) -> usize {
        if let Self::Whole(bytes) = self { bytes.len() } else { 0 }
    }
}

/// Source of goals.
pub struct Input {
    reader: Box<dyn BufRead + Send>,
    /// Name for messages.
    pub name: String,
    /// Length in bytes; `None` for pipes.
    pub bytes: Option<u64>,
    lines: u64,
}

impl Input {
    /// Opens a file or a pipe; `-` is standard input.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        if is_dash(path) {
            let name = "standard input".to_string();
            #[cfg(unix)]
            if let Ok(own) = std::os::fd::AsFd::as_fd(&io::stdin()).try_clone_to_owned() {
                check(&File::from(own), &name)?;
            }
            let reader = Box::new(BufReader::new(io::stdin()));
            return Ok(Self { reader, name, bytes: None, lines: 0 });
        }
        let failed = |error| FileError::Io { path: path.into(), error };
        let file = File::open(path).map_err(failed)?;
        let name = path.display().to_string();
        check(&file, &name)?;
        let found = file.metadata().map_err(failed)?;
        let bytes = found.is_file().then_some(found.len());
        Ok(Self { reader: Box::new(BufReader::new(file)), name, bytes, lines: 0 })
    }

    /// Reads the next line that is not empty, with its number from 1; `None` at the end. A byte order mark at the beginning
    /// is skipped.
    pub fn next(&mut self) -> io::Result<Option<(u64, Line)>> {
        while let Some(mut line) = next_line(&mut *self.reader)? {
            self.lines += 1;
            if self.lines == 1
                && let Line::Whole(bytes) = &mut line
                && bytes.starts_with(b"\xef\xbb\xbf")
            {
                bytes.drain(..3);
            }
            if !line.is_empty() {
                return Ok(Some((self.lines, line)));
            }
        }
        Ok(None)
    }
}

/// Returns an error for a folder, and for a device that may never end.
fn check(file: &File, name: &str) -> Result<(), Failure> {
    let Ok(found) = file.metadata() else { return Ok(()) };
    let refused = |found: &str| {
        Err(Failure::Work(format!("{name}: goals must come from a file or a pipe, not from {found}")))
    };
    if found.is_dir() {
        return refused("a folder");
    }
    #[cfg(unix)]
    {
        use std::{
            io::IsTerminal,
            os::unix::fs::{FileTypeExt, MetadataExt},
        };
        let kind = found.file_type();
        // The null device is an empty list, and a terminal lets the user type goals.
        let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.rdev());
        if kind.is_block_device() || (kind.is_char_device() && !file.is_terminal() && !is_null()) {
            return refused("a device");
        }
    }
    Ok(())
}

/// Reads the next line; `None` at the end. The bytes of a line that is too long are dropped.
fn next_line(reader: &mut dyn BufRead) -> io::Result<Option<Line>> {
    let mut bytes = Vec::new();
    let (mut begun, mut too_long) = (false, false);
    loop {
        let held = match reader.fill_buf() {
            Ok(held) => held,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if held.is_empty() && !begun {
            return Ok(None);
        }
        begun = true;
        let end = held.iter().position(|byte| *byte == b'\n');
        let part = &held[..end.unwrap_or(held.len())];
        too_long |= bytes.len() + part.len() > MAX_LINE;
        if too_long {
            bytes = Vec::new();
        } else {
            bytes.extend_from_slice(part);
        }
        let (used, last) = (part.len() + usize::from(end.is_some()), end.is_some() || held.is_empty());
        reader.consume(used);
        if last {
            return Ok(Some(if too_long { Line::TooLong } else { Line::Whole(bytes) }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of a text, read through a buffer of `buffer` bytes; a line that is too long is `None`.
    fn lines(bytes: &[u8], buffer: usize) -> Vec<Option<Vec<u8>>> {
        let mut reader = BufReader::with_capacity(buffer, bytes);
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut reader).unwrap() {
            lines.push(if let Line::Whole(line) = line { Some(line) } else { None });
        }
        lines
    }

    #[test]
    fn lines_end_where_they_end_whatever_the_buffer() {
        let some = |text: &str| Some(text.as_bytes().to_vec());
        for buffer in [1, 2, 3, 7, 100] {
            assert_eq!(lines(b"", buffer), []);
            assert_eq!(lines(b"\n", buffer), [some("")]);
            assert_eq!(lines(b"ab\n\ncd", buffer), [some("ab"), some(""), some("cd")]);
            assert_eq!(lines(b"ab\r\ncd\n", buffer), [some("ab\r"), some("cd")]);
        }
    }

    #[test]
    fn a_line_may_be_as_long_as_the_limit_and_no_longer() {
        for (length, fits) in [(MAX_LINE, true), (MAX_LINE + 1, false), (3 * MAX_LINE, false)] {
            let mut bytes = vec![b'x'; length];
            bytes.extend(b"\nnext\n");
            bytes.extend(vec![b'y'; length]);
            let found = lines(&bytes, 1 << 16);
            assert_eq!(found.len(), 3);
            assert_eq!(found[0].as_ref().map(Vec::len), fits.then_some(length));
            assert_eq!(found[1].as_deref(), Some(&b"next"[..]));
            assert_eq!(found[2].as_ref().map(Vec::len), fits.then_some(length));
        }
    }
}
