//! Loading of a document's buffers from the GLB's chunk, data URIs and files.

use std::{
    collections::HashSet,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

use crate::{
    FileError, ReadOptions,
    budget::Budget,
    open::{or_here, read_file},
    text::shorten,
};

use super::json::Place;

/// Base64 with optional padding, as files occur with and without it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// Buffer of a document.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// Bytes; `None` for the placeholder of an extension for mesh compression.
    pub bytes: Option<Arc<Vec<u8>>>,
    pub origin: Origin,
}

/// Origin of a buffer's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The GLB's binary chunk, or this program.
    Chunk,
    /// A data URI in the JSON.
    DataUri,
    /// A file beside the document.
    File,
}

/// Loads every buffer of the document.
pub(super) fn load(
    root: &Place<'_>,
    chunk: Option<&[u8]>,
    folder: Option<&Folder>,
    budget: &Budget,
) -> Result<Vec<Buffer>, FileError> {
    let mut buffers = Vec::new();
    // A file that several buffers name is read for each, but counts as input once.
    let mut files = HashSet::new();
    for (i, place) in root.list("buffers")?.into_iter().enumerate() {
        let length = place.need("byteLength")?.unsigned()?;
        let (mut bytes, origin) = match place.get("uri") {
            Some(uri) => {
                let text = uri.text()?;
                let wrong = |error: UriError| uri.error(error.to_string());
                let take = |size| budget.take(size).map_err(|e| uri.error(e.to_string()));
                if is_data_uri(text) {
                    take(text.len() as u64)?;
                    (decode_data(text).map_err(|what| uri.error(what))?, Origin::DataUri)
                } else {
                    let path = file_of(text, folder).map_err(wrong)?;
                    let size = fs::metadata(&path).map_or(0, |found| found.len());
                    if files.insert(path.clone()) {
                        budget.add_input(size);
                    }
                    take(size)?;
                    (read_named(&path).map_err(wrong)?, Origin::File)
                }
            }
            None => match chunk.filter(|_| i == 0) {
                Some(chunk) => (chunk.to_vec(), Origin::Chunk),
                None if place.get("extensions").is_some() => {
                    buffers.push(Buffer { bytes: None, origin: Origin::Chunk });
                    continue;
                }
                None => {
                    return Err(place.error("the buffer has neither a `uri` nor a binary chunk"));
                }
            },
        };
        if (bytes.len() as u64) < length {
            return Err(place.error(format!("it declares {length} bytes, but there are {}", bytes.len())));
        }
        // A chunk is padded to four bytes.
        bytes.truncate(length as usize);
        buffers.push(Buffer { bytes: Some(Arc::new(bytes)), origin });
    }
    Ok(buffers)
}

pub(super) fn is_data_uri(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// Error of loading a URI.
#[derive(Debug, thiserror::Error)]
pub(super) enum UriError {
    /// The URI is damaged, or its file cannot be read.
    #[error("{0}")]
    Unreadable(String),
    /// The file is outside of the document's folder, and [`ReadOptions::allow_outside`] is not set.
    #[error(
        "`{0}` is outside of the document's folder; --allow-outside (ReadOptions::allow_outside) reads it"
    )]
    Outside(String),
}

impl From<String> for UriError {
    fn from(what: String) -> Self {
        Self::Unreadable(what)
    }
}

/// Loads the bytes of a URI.
pub(super) fn load_uri(uri: &str, folder: Option<&Folder>) -> Result<Vec<u8>, UriError> {
    if is_data_uri(uri) {
        return Ok(decode_data(uri)?);
    }
    read_named(&file_of(uri, folder)?)
}

/// The file that a URI names, with links followed.
fn file_of(uri: &str, folder: Option<&Folder>) -> Result<PathBuf, UriError> {
    folder
        .ok_or_else(|| format!("the file `{}` cannot be found, as the document has no folder", shorten(uri)))?
        .find(uri)
}

fn read_named(path: &Path) -> Result<Vec<u8>, UriError> {
    read_file(path).map_err(|error| UriError::Unreadable(format!("cannot read {error}")))
}

/// Folder to which a document's URIs are relative.
#[derive(Clone, Debug)]
pub(super) struct Folder {
    path: PathBuf,
    /// Folders, without links, that files must be in; `None` if they may be anywhere.
    bounds: Option<Vec<PathBuf>>,
}

impl Folder {
    /// A folder that all files must be in.
    pub fn new(path: &Path) -> Self {
        // A folder that does not exist has no files.
        let bounds = fs::canonicalize(or_here(path)).into_iter().collect();
        Self { path: path.into(), bounds: Some(bounds) }
    }

    /// The folder of a document. If the document is a link, URIs are relative to the link's folder, and files may be in that
    /// folder or in that of the link's target.
    pub fn of_document(document: &Path, options: &ReadOptions) -> Self {
        let mut folder = Self::new(document.parent().unwrap_or(Path::new("")));
        if options.allow_outside {
            folder.bounds = None;
        } else if let (Some(bounds), Ok(real)) = (&mut folder.bounds, fs::canonicalize(document)) {
            bounds.extend(real.parent().map(Path::to_path_buf));
        }
        folder
    }

    /// Path of the folder, as the user gave it.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file that a URI names, with links followed.
    fn find(&self, uri: &str) -> Result<PathBuf, UriError> {
        let shown = || shorten(uri);
        let decoded = |text: &str| {
            String::from_utf8(percent_decode(text)).map_err(|_| format!("`{}` is not UTF-8", shown()))
        };
        let name = match file_uri(uri) {
            Some(path) => decoded(path)?,
            None => decoded(uri)?,
        };
        if name.is_empty() || name.contains("://") {
            return Err(format!("`{}` is not a path relative to the document", shown()).into());
        }
        let path = Path::new(&name);
        // On Windows a path may have a root without being absolute, and a look-up may go to the network.
        if self.bounds.is_some() && (path.is_absolute() || path.has_root()) {
            return Err(UriError::Outside(shown()));
        }
        let real = fs::canonicalize(self.path.join(path))
            .map_err(|error| format!("cannot read {}: {error}", self.path.join(shorten(&name)).display()))?;
        match &self.bounds {
            Some(bounds) if !bounds.iter().any(|bound| real.starts_with(bound)) => {
                Err(UriError::Outside(shown()))
            }
            _ => Ok(real),
        }
    }
}

/// The path of a `file:` URI of this machine, percent-encoded; `None` for any other URI.
fn file_uri(uri: &str) -> Option<&str> {
    let (scheme, rest) = uri.split_at_checked(7)?;
    if !scheme.eq_ignore_ascii_case("file://") {
        return None;
    }
    let host = "localhost";
    let path = match rest.split_at_checked(host.len()) {
        Some((start, path)) if start.eq_ignore_ascii_case(host) => path,
        _ => rest,
    };
    // `file:///C:/a.bin` names `C:/a.bin`.
    let path = if cfg!(windows) { path.strip_prefix('/')? } else { path };
    let rooted = Path::new(path).has_root() || path.get(..3).is_some_and(|p| p.eq_ignore_ascii_case("%2f"));
    rooted.then_some(path)
}

fn decode_data(uri: &str) -> Result<Vec<u8>, String> {
    let (head, data) = uri.split_once(',').ok_or("a data URI without a comma")?;
    let plain = percent_decode(data);
    if head.to_ascii_lowercase().ends_with(";base64") {
        BASE64.decode(plain).map_err(|error| format!("the data URI is damaged: {error}"))
    } else {
        Ok(plain)
    }
}

/// Decodes `%41` to `A`. A `%` without two hexadecimal digits after it is kept.
fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    if !bytes.contains(&b'%') {
        return bytes.to_vec();
    }
    let digit = |at: usize| bytes.get(at).and_then(|&b| char::from(b).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    out
}

/// A data URI that holds `bytes`.
pub(super) fn data_uri(mime: &str, bytes: &[u8]) -> String {
    format!("data:{mime};base64,{}", BASE64.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_uris_decode_with_and_without_padding() {
        assert_eq!(decode_data("data:application/octet-stream;base64,AAEC/w==").unwrap(), [0, 1, 2, 255]);
        assert_eq!(decode_data("data:;base64,AAEC/w").unwrap(), [0, 1, 2, 255]);
        assert_eq!(decode_data("data:,a%20b").unwrap(), b"a b");
        assert!(decode_data("data:;base64,AA*C").is_err());
        assert!(decode_data("data:;base64").is_err());
    }

    #[test]
    fn file_uris_are_of_this_machine() {
        assert_eq!(file_uri("file:///a%20b"), Some("/a%20b").filter(|_| cfg!(unix)));
        if cfg!(unix) {
            assert_eq!(file_uri("FILE://LocalHost%2Fa"), Some("%2Fa"));
        }
        for other in ["a.bin", "file", "file:a.bin", "file://host/a.bin", "http://localhost/a.bin"] {
            assert_eq!(file_uri(other), None, "{other}");
        }
    }
}
