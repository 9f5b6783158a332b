//! Ground meshes from glTF and OBJ files.

pub mod obj;
mod polygon;

use std::path::Path;

use sinew::ground::TriangleMesh;

use crate::{FileError, ReadOptions, gltf};

/// Reads the triangles of a .glb, .gltf or .obj file, in metres, Y up, counter-clockwise seen from outside. The extension
/// tells the format.
///
/// A glTF gives all rigid meshes of its default scene, transformed by their nodes. An OBJ gives all its faces, divided into
/// triangles; `options` gives its unit and up axis.
///
/// # Errors
/// A path that is no regular file, another extension, a damaged file, and a file without a triangle that has an area.
pub fn read(path: &Path, options: &ReadOptions) -> Result<TriangleMesh, FileError> {
    let ending = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    let mesh = match ending.as_str() {
        "glb" | "gltf" => gltf::Document::read(path, options)?.triangles()?,
        "obj" => obj::read(path, options)?,
        _ => return Err(FileError::Ending { path: path.into(), wanted: ".glb, .gltf or .obj for a ground" }),
    };
    mesh.check().map_err(|error| FileError::At {
        path: path.into(),
        at: "triangles".into(),
        what: error.to_string(),
    })?;
    Ok(mesh)
}
