//! Ground meshes in: what a level is made of.

pub mod obj;
mod polygon;

use std::path::Path;

use sinew::ground::TriangleMesh;

use crate::{FileError, ReadOptions, gltf};

/// Reads the triangles of a .glb, .gltf or .obj file, told apart by ending: in metres, Y up, counter-clockwise seen from
/// outside.
///
/// From glTF come all rigid meshes of the default scene under their nodes' transforms; scale and axes are the format's
/// own. From OBJ come all faces, those of more than three corners as triangles; `options` say its unit and axes. A path that
/// is no regular file, and a file without a triangle that has an area, are errors.
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
