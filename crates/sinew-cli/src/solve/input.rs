//! Goals as they come in: a file or a pipe, line by line.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader},
    path::Path,
};

use sinew_files::FileError;

use crate::{failure::Failure, outputs::is_dash};

/// The longest line of goals, in bytes. A line of a million numbers fits; one without an end must not fill the memory.
pub const LONGEST_LINE: usize = 16 << 20;

/// One line of goals.
pub enum Line {
    /// What it holds, without its end.
    Whole(Vec<u8>),
    /// It is longer than [`LONGEST_LINE`], and was passed over.
    TooLong,
}

impl Line {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Whole(bytes) if bytes.trim_ascii().is_empty())
    }

    /// The text, or what is wrong with it.
    pub fn text(&self) -> Result<&str, String> {
        match self {
            Self::Whole(bytes) => {
                std::str::from_utf8(bytes).map(str::trim).map_err(|e| format!("not UTF-8: {e}"))
            }
            Self::TooLong => Err(format!("longer than {} MiB, the most for a line", LONGEST_LINE >> 20)),
        }
    }

    /// How much memory it takes.
    pub fn size(&self) -> usize {
        if let Self::Whole(bytes) = self { bytes.len() } else { 0 }
    }
}

/// Where goals come from.
pub struct Input {
    reader: Box<dyn BufRead + Send>,
    /// For messages.
    pub name: String,
    /// How long it is, if that is known.
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

    /// The next line that is not empty, with its number from 1. A byte order mark before the first is passed over.
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

/// Refuses folders, and devices that may give bytes for ever.
fn check(file: &File, name: &str) -> Result<(), Failure> {
    let Ok(found) = file.metadata() else { return Ok(()) };
    let refused = |found: &str| {
        Err(Failure::Work(format!("{name}: goals come from a file or a pipe, and this is {found}")))
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
        // Nothing is a good list of goals, and people may type theirs.
        let is_null = || fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.rdev());
        if kind.is_block_device() || (kind.is_char_device() && !file.is_terminal() && !is_null()) {
            return refused("a device");
        }
    }
    Ok(())
}

/// The next line; none at the end. What is too long is not kept.
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
        too_long |= bytes.len() + part.len() > LONGEST_LINE;
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

    /// Lines of a text, read through a buffer of so many bytes; a line that is too long is None.
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
        for (length, fits) in [(LONGEST_LINE, true), (LONGEST_LINE + 1, false), (3 * LONGEST_LINE, false)] {
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
