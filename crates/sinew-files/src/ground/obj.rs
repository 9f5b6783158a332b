//! Vertices and faces of Wavefront OBJ. Texture coordinates, normals, materials, lines and curves are ignored.

use std::path::Path;

use glam::{DVec3, Vec3};
use sinew::ground::TriangleMesh;

use super::polygon;
use crate::{
    FileError, ReadOptions,
    budget::Budget,
    open::read_file,
    text::{number, shorten},
    units::Units,
};

/// Reads the faces of an OBJ file as triangles, in metres, Y up. A file without faces gives an empty mesh.
///
/// # Errors
/// A path that is no readable regular file, coordinates that are not finite or that f32 cannot hold, faces of fewer than
/// three corners or with vertices that do not exist, a scale that is not positive, and content over the memory budget.
pub fn read(path: &Path, options: &ReadOptions) -> Result<TriangleMesh, FileError> {
    from_bytes(&read_file(path)?, path, options)
}

/// Reads the bytes of an OBJ file; see [`read`]. `path` names the file in errors.
pub fn from_bytes(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<TriangleMesh, FileError> {
    let units = Units::new(path, options)?;
    let budget = Budget::new(options.memory_budget, bytes.len());
    parse(&String::from_utf8_lossy(bytes), units, &budget).map_err(|(line, what)| FileError::Line {
        path: path.into(),
        line,
        what,
    })
}

fn parse(text: &str, units: Units, budget: &Budget) -> Result<TriangleMesh, (usize, String)> {
    let mut mesh = TriangleMesh::default();
    // Corners of all faces in sequence, with line and end of each face. A face may name a vertex that follows it.
    let mut corners: Vec<i64> = Vec::new();
    let mut faces: Vec<(usize, usize)> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_end()));
    let mut joined = String::new();
    while let Some((number_of_line, line)) = lines.next() {
        // A backslash at the end of a line joins it to the next.
        let line = if line.ends_with('\\') {
            joined.clear();
            let mut next = Some(line);
            while let Some(part) = next {
                joined.push_str(part.trim_end_matches('\\'));
                joined.push(' ');
                next = if part.ends_with('\\') { lines.next().map(|(_, line)| line) } else { None };
            }
            joined.as_str()
        } else {
            line
        };
        let wrong = |what: String| (number_of_line, what);
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.trim_start_matches('\u{feff}').split_whitespace();
        match words.next() {
            Some("v") => {
                let mut position = [0.0; 3];
                for coordinate in &mut position {
                    let word = words.next().ok_or_else(|| wrong("a vertex needs 3 numbers".into()))?;
                    *coordinate = number(word).map_err(wrong)?;
                }
                let position: Vec3 = units.position_in(position);
                if !position.is_finite() {
                    return Err(wrong(format!("`{}` is too far away: f32 cannot hold it", shorten(line))));
                }
                budget.take_all(1, size_of::<Vec3>()).map_err(|e| wrong(e.to_string()))?;
                mesh.positions.push(position);
            }
            Some("f") => {
                for word in words {
                    let index = word.split('/').next().unwrap_or_default();
                    let index: i64 =
                        index.parse().map_err(|_| wrong(format!("`{}` is no vertex", shorten(word))))?;
                    // Indices count from 1, or back from the last vertex so far.
                    let count = mesh.positions.len() as i64;
                    corners.push(if index < 0 { count.saturating_add(index) } else { index - 1 });
                    if index == 0 || (index < 0 && -count > index) {
                        return Err(wrong(format!(
                            "there is no vertex {index}: there are {count} so far, from 1"
                        )));
                    }
                }
                let begin = faces.last().map_or(0, |f| f.1);
                if corners.len() - begin < 3 {
                    return Err(wrong(format!(
                        "a face of {} corners; it needs 3 at least",
                        corners.len() - begin
                    )));
                }
                // Each corner takes its index, and the triangle that it adds.
                let count = corners.len() - begin;
                let each = size_of::<i64>() + size_of::<[u32; 3]>();
                budget.take_all(count, each).map_err(|e| wrong(e.to_string()))?;
                faces.push((number_of_line, corners.len()));
            }
            _ => {}
        }
    }
    let mut begin = 0;
    for (line, end) in faces {
        let count = mesh.positions.len();
        let mut face: Vec<u32> = Vec::with_capacity(end - begin);
        for &index in &corners[begin..end] {
            match u32::try_from(index) {
                Ok(i) if (i as usize) < count => face.push(i),
                _ => {
                    return Err((
                        line,
                        format!("there is no vertex {}: there are {count}, from 1", index + 1),
                    ));
                }
            }
        }
        begin = end;
        let positions: Vec<DVec3> = face.iter().map(|&i| mesh.positions[i as usize].as_dvec3()).collect();
        let triangles = polygon::triangles(&positions).ok_or_else(|| {
            let (count, max) = (face.len(), polygon::MAX_CORNERS);
            (line, format!("a face of {count} corners that is not convex is too large; {max} are allowed"))
        })?;
        mesh.triangles.extend(triangles.into_iter().map(|t| t.map(|i| face[i])));
    }
    Ok(mesh)
}
