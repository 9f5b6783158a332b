//! Where a document's bytes come from: the GLB's chunk, data URIs, files beside it.

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

use crate::{FileError, budget::Budget};

use super::json::Place;

/// Padding may be there or not: both are found in files.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The bytes of one of the document's buffers.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    /// None for the placeholder that an extension (mesh compression) leaves for readers that do not know it.
    pub bytes: Option<Arc<Vec<u8>>>,
    pub origin: Origin,
}

/// Where a buffer's bytes came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The GLB's binary chunk, or made here.
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
    folder: Option<&Path>,
    budget: &Budget,
) -> Result<Vec<Buffer>, FileError> {
    let mut buffers = Vec::new();
    // A file that several buffers name is read for each of them, but counts as input once.
    let mut files = HashSet::new();
    for (i, place) in root.list("buffers")?.into_iter().enumerate() {
        let length = place.need("byteLength")?.unsigned()?;
        let (mut bytes, origin) = match place.get("uri") {
            Some(uri) => {
                let text = uri.text()?;
                let origin = if is_data_uri(text) { Origin::DataUri } else { Origin::File };
                let found = match origin {
                    Origin::File => file_of(text, folder).ok().and_then(|path| fs::canonicalize(path).ok()),
                    _ => None,
                };
                let size = match &found {
                    Some(path) => fs::metadata(path).map_or(0, |found| found.len()),
                    None => text.len() as u64,
                };
                if let Some(path) = found
                    && files.insert(path)
                {
                    budget.add_input(size);
                }
                budget.take(size).map_err(|e| uri.error(e.to_string()))?;
                let bytes = load_uri(text, folder).map_err(|what| uri.error(what))?;
                (bytes, origin)
            }
            None => match chunk.filter(|_| i == 0) {
                Some(chunk) => (chunk.to_vec(), Origin::Chunk),
                None if place.get("extensions").is_some() => {
                    buffers.push(Buffer { bytes: None, origin: Origin::Chunk });
                    continue;
                }
                None => {
                    return Err(place.error("there is neither a `uri` nor a binary chunk for this buffer"));
                }
            },
        };
        if (bytes.len() as u64) < length {
            return Err(place.error(format!("says {length} bytes, but there are {}", bytes.len())));
        }
        // A chunk is padded to four bytes; the padding is not data.
        bytes.truncate(length as usize);
        buffers.push(Buffer { bytes: Some(Arc::new(bytes)), origin });
    }
    Ok(buffers)
}

pub(super) fn is_data_uri(uri: &str) -> bool {
    uri.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}

/// The bytes that a URI stands for.
pub(super) fn load_uri(uri: &str, folder: Option<&Path>) -> Result<Vec<u8>, String> {
    if is_data_uri(uri) {
        return decode_data(uri);
    }
    let path = file_of(uri, folder)?;
    // A device or a pipe may never come to an end.
    if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
        return Err(format!("{} is no file", path.display()));
    }
    fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))
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

/// The file that a relative URI names.
fn file_of(uri: &str, folder: Option<&Path>) -> Result<PathBuf, String> {
    let name = String::from_utf8(percent_decode(uri)).map_err(|_| format!("`{uri}` is not UTF-8"))?;
    let path = Path::new(&name);
    // A document may name what lies by it, not the network or any file of the machine.
    if name.contains("://") || path.is_absolute() || name.is_empty() {
        return Err(format!("`{name}` is not a path relative to the document"));
    }
    let folder =
        folder.ok_or_else(|| format!("the file `{name}` is wanted, but the document has no folder"))?;
    Ok(folder.join(path))
}

/// `%41` becomes `A`; a `%` that two hexadecimal digits do not follow stays.
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
    fn file_names_are_percent_decoded_and_stay_beside_the_document() {
        let folder = Path::new("models");
        assert_eq!(file_of("my%20walk%21.bin", Some(folder)).unwrap(), folder.join("my walk!.bin"));
        assert_eq!(file_of("100%.bin", Some(folder)).unwrap(), folder.join("100%.bin"));
        for bad in ["https://example.org/a.bin", "/a.bin", "", "%ff"] {
            assert!(file_of(bad, Some(folder)).is_err(), "{bad}");
        }
    }
}
