//! GLB container: a header and chunks.

use std::io::{self, Write};

/// First bytes of a GLB file.
pub(super) const MAGIC: &[u8; 4] = b"glTF";
const JSON: u32 = u32::from_le_bytes(*b"JSON");
const BIN: u32 = u32::from_le_bytes(*b"BIN\0");

/// Chunks of a GLB.
#[derive(Debug)]
pub(super) struct Glb<'a> {
    pub json: &'a [u8],
    pub bin: Option<&'a [u8]>,
    /// Other chunks, each with its type.
    pub others: Vec<(u32, &'a [u8])>,
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// Splits a GLB into chunks. An error has its position and its description.
pub(super) fn parse(bytes: &[u8]) -> Result<Glb<'_>, (String, String)> {
    let header = |what: String| ("header".to_owned(), what);
    let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
        return Err(header(format!("cut off after {} bytes", bytes.len())));
    };
    if version != 2 {
        return Err(header(format!("the file is GLB version {version}; only version 2 is read")));
    }
    if length as usize != bytes.len() {
        return Err(header(format!("it declares {length} bytes, but the file has {}", bytes.len())));
    }
    let (mut json, mut bin, mut others) = (None, None, Vec::new());
    let (mut at, mut chunk) = (12, 0);
    while at < bytes.len() {
        let position = || format!("chunk {chunk}");
        let (Some(length), Some(kind)) = (word(bytes, at), word(bytes, at + 4)) else {
            return Err((position(), format!("its header is cut off at byte {at}")));
        };
        let start = at + 8;
        let data = start.checked_add(length as usize).and_then(|end| bytes.get(start..end));
        let Some(data) = data else {
            let left = bytes.len().saturating_sub(start);
            return Err((position(), format!("it declares {length} bytes, but {left} are left")));
        };
        match (chunk, kind) {
            (0, JSON) => json = Some(data),
            (1, BIN) => bin = Some(data),
            (0, _) => return Err((position(), "the first chunk must be JSON".to_owned())),
            _ => others.push((kind, data)),
        }
        at = start + data.len();
        chunk += 1;
    }
    match json {
        Some(json) => Ok(Glb { json, bin, others }),
        None => Err(header("there is no chunk".to_owned())),
    }
}

/// Writes a GLB. Chunks are padded to four bytes, JSON with spaces and others with zeros, as the specification requires.
/// More than 4 GiB are an error.
pub(super) fn write(
    out: &mut dyn Write,
    json: &[u8],
    bin: Option<&[u8]>,
    others: &[(u32, Vec<u8>)],
) -> io::Result<()> {
    let mut chunks = vec![(JSON, json, b' ')];
    chunks.extend(bin.map(|bin| (BIN, bin, 0)));
    chunks.extend(others.iter().map(|(kind, data)| (*kind, data.as_slice(), 0)));
    let total =
        chunks.iter().fold(12u64, |sum, (_, data, _)| sum + 8 + (data.len() as u64).next_multiple_of(4));
    // If the total fits, the length of each chunk fits as well.
    let total = u32::try_from(total)
        .map_err(|_| io::Error::new(io::ErrorKind::FileTooLarge, "a GLB holds at most 4 GiB"))?;
    out.write_all(MAGIC)?;
    out.write_all(&2u32.to_le_bytes())?;
    out.write_all(&total.to_le_bytes())?;
    for (kind, data, padding) in chunks {
        let padded = data.len().next_multiple_of(4);
        out.write_all(&(padded as u32).to_le_bytes())?;
        out.write_all(&kind.to_le_bytes())?;
        out.write_all(data)?;
        out.write_all(&[padding; 3][..padded - data.len()])?;
    }
    Ok(())
}
