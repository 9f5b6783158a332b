//! Writing a page to a file.

use std::{io, path::Path};

use sinew_files::{FileError, write_whole};

use super::{canvas::Canvas, png, svg};

/// Writes a page as PNG or SVG, by the extension of `path`. The same page gives the same bytes.
pub fn save(canvas: &Canvas, path: &Path) -> Result<(), FileError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "png" => write_whole(path, |file| {
            let bytes = png::encode(canvas).map_err(io::Error::other)?;
            file.write_all(&bytes)
        }),
        "svg" => write_whole(path, |file| svg::write(canvas, file)),
        _ => Err(FileError::Ending { path: path.into(), wanted: ".png or .svg" }),
    }
}
