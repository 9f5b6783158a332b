//! Writing of a document.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use serde_json::{Value, json};

use crate::{FileError, open::or_here, write_whole};

use super::{
    Document,
    buffer::{self, Origin, UriError, data_uri},
    glb,
};

impl Document {
    /// Writes the document, by the extension of `path`: a GLB for .glb and .vrm, JSON for .gltf.
    ///
    /// A GLB contains all buffers, and images from data URIs. In JSON, buffers stay where they were, in data URIs or files,
    /// and new ones become data URIs. If the file is in another folder than the document that was read, buffers and images
    /// from files are embedded; images that cannot be read keep their URI.
    ///
    /// # Errors
    /// Another extension, an image outside of the document's folder that must be embedded, and failures to write. The file
    /// at `path` is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), FileError> {
        let moves = self.moves(path);
        let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        match ending.as_str() {
            "glb" | "vrm" => {
                let (json, bin) = self.merged(self.images(moves, true)?);
                write_whole(path, |out| self.write_glb(out, &json, bin.as_deref()))
            }
            "gltf" => {
                let json = self.with_uris(moves, self.images(moves, false)?);
                write_whole(path, |out| {
                    serde_json::to_writer_pretty(&mut *out, &json)?;
                    out.write_all(b"\n")
                })
            }
            _ => Err(FileError::Ending { path: path.into(), wanted: ".glb, .gltf or .vrm" }),
        }
    }

    /// Writes the document as a GLB, with all buffers in its binary chunk. Images in files stay there.
    pub fn to_glb(&self, out: &mut dyn Write) -> io::Result<()> {
        let images = self.images(false, true).map_err(io::Error::other)?;
        let (json, bin) = self.merged(images);
        self.write_glb(out, &json, bin.as_deref())
    }

    fn write_glb(&self, out: &mut dyn Write, json: &Value, bin: Option<&[u8]>) -> io::Result<()> {
        glb::write(out, &serde_json::to_vec(json)?, bin, &self.chunks)
    }

    /// Whether `path` is in another folder than the one that the document was read from.
    fn moves(&self, path: &Path) -> bool {
        let Some(from) = &self.folder else { return false };
        let real = |folder: &Path| fs::canonicalize(or_here(folder)).ok();
        real(from.path()) != path.parent().and_then(real)
    }

    /// The JSON and the bytes of a GLB, in which one buffer holds all others in sequence.
    fn merged(&self, images: Vec<EmbeddedImage>) -> (Value, Option<Vec<u8>>) {
        let mut json = self.json.clone();
        let mut bin: Vec<u8> = Vec::new();
        // For each buffer, its new index and its offset there.
        let mut moved: Vec<(usize, u64)> = Vec::new();
        let listed = json.get("buffers").and_then(Value::as_array).cloned().unwrap_or_default();
        let held = self.buffers.iter().filter(|b| b.bytes.is_some()).count();
        let mut kept: Vec<Value> = Vec::new();
        for (entry, buffer) in listed.iter().zip(&self.buffers) {
            match &buffer.bytes {
                Some(bytes) => {
                    bin.resize(bin.len().next_multiple_of(4), 0);
                    moved.push((0, bin.len() as u64));
                    bin.extend_from_slice(bytes);
                    if kept.is_empty() || moved.iter().filter(|m| m.0 == 0).count() == 1 {
                        kept.insert(0, entry.clone());
                    }
                }
                // Placeholders follow the buffer with bytes.
                None => {
                    let placeholders = moved.iter().filter(|m| m.0 != 0).count();
                    moved.push((placeholders + usize::from(held > 0), 0));
                    kept.push(entry.clone());
                }
            }
        }
        let mut views = json.get("bufferViews").and_then(Value::as_array).cloned().unwrap_or_default();
        for view in &mut views {
            rebase(view, &moved);
            if let Some(extensions) = view.get_mut("extensions").and_then(Value::as_object_mut) {
                extensions.values_mut().for_each(|extension| rebase(extension, &moved));
            }
        }
        for EmbeddedImage { index, mime, bytes } in images {
            bin.resize(bin.len().next_multiple_of(4), 0);
            views.push(json!({"buffer": 0, "byteOffset": bin.len(), "byteLength": bytes.len()}));
            bin.extend_from_slice(&bytes);
            if let Some(image) = json["images"].get_mut(index).and_then(Value::as_object_mut) {
                image.shift_remove("uri");
                image.insert("mimeType".into(), json!(mime));
                image.insert("bufferView".into(), json!(views.len() - 1));
            }
        }
        if bin.is_empty() && held == 0 {
            return (json, None);
        }
        if held == 0 {
            // Only images have bytes.
            kept.insert(0, json!({}));
        }
        if let Some(own) = kept.first_mut().and_then(Value::as_object_mut) {
            own.shift_remove("uri");
            own.insert("byteLength".into(), json!(bin.len()));
        }
        json["buffers"] = Value::Array(kept);
        if !views.is_empty() {
            json["bufferViews"] = Value::Array(views);
        }
        (json, Some(bin))
    }

    /// The JSON of a .gltf, in which each buffer has a URI.
    fn with_uris(&self, moves: bool, images: Vec<EmbeddedImage>) -> Value {
        let mut json = self.json.clone();
        for (index, buffer) in self.buffers.iter().enumerate() {
            let Some(bytes) = &buffer.bytes else { continue };
            let embed = match buffer.origin {
                Origin::Chunk => true,
                Origin::DataUri => false,
                Origin::File => moves,
            };
            if embed && let Some(entry) = json.get_mut("buffers").and_then(|b| b.get_mut(index)) {
                entry["uri"] = json!(data_uri("application/octet-stream", bytes));
            }
        }
        for EmbeddedImage { index, mime, bytes } in images {
            if let Some(image) = json.get_mut("images").and_then(|i| i.get_mut(index)) {
                image["uri"] = json!(data_uri(mime, &bytes));
            }
        }
        json
    }

    /// The images to embed: those in data URIs if `embedded`, and those in files if the document `moves` to another folder.
    fn images(&self, moves: bool, embedded: bool) -> Result<Vec<EmbeddedImage>, FileError> {
        let mut found = Vec::new();
        let listed = self.root().get("images");
        let count = listed.as_ref().and_then(|list| list.value().as_array()).map_or(0, Vec::len);
        for index in 0..count {
            let uri = listed.as_ref().and_then(|list| list.element(index)).and_then(|image| image.get("uri"));
            let Some((uri, text)) = uri.and_then(|uri| Some((uri.value().as_str()?, uri))) else { continue };
            if !(if buffer::is_data_uri(uri) { embedded } else { moves }) {
                continue;
            }
            match buffer::load_uri(uri, self.folder.as_ref()) {
                Ok(bytes) => {
                    found.extend(media_type(&bytes).map(|mime| EmbeddedImage { index, mime, bytes }));
                }
                Err(error @ UriError::Outside(_)) => return Err(text.error(error.to_string())),
                Err(UriError::Unreadable(_)) => {}
            }
        }
        Ok(found)
    }
}

/// Image to embed in a document.
struct EmbeddedImage {
    index: usize,
    mime: &'static str,
    bytes: Vec<u8>,
}

/// Updates the buffer and offset of a buffer view, or of an extension with the same properties, by the buffers' new
/// positions.
fn rebase(view: &mut Value, moved: &[(usize, u64)]) {
    let whole = |key: &str| {
        // Some JSON writers write 3.0 for 3.
        let value = view.get(key)?;
        value.as_u64().or_else(|| value.as_f64().map(|x| x as u64))
    };
    let Some(index) = whole("buffer") else { return };
    let offset = whole("byteOffset").unwrap_or_default();
    let Some(&(buffer, start)) = moved.get(index as usize) else { return };
    // Unchanged values keep their spelling.
    if buffer as u64 != index {
        view["buffer"] = json!(buffer);
    }
    if start != 0 {
        // A view that nothing reads may have an invalid offset, which must not overflow.
        view["byteOffset"] = json!(offset.saturating_add(start));
    }
}

/// The media type of an image, by its first bytes; `None` if they are of no known type.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [0xab, b'K', b'T', b'X', b' ', b'2', b'0', ..] => Some("image/ktx2"),
        _ => None,
    }
}
