//! Wavefront OBJ: vertices and faces. Texture coordinates, normals, materials, lines and curves are passed over.

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

/// Reads an OBJ file's faces as triangles, in metres, Y up. There may be none.
pub fn read(path: &Path, options: &ReadOptions) -> Result<TriangleMesh, FileError> {
    from_bytes(&read_file(path)?, path, options)
}

/// Reads the bytes of an OBJ file. `path` stands for the file in errors.
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
    // Corners of all faces one after the other, with line and end of each face. A face may name a vertex that comes later.
    let mut corners: Vec<i64> = Vec::new();
    let mut faces: Vec<(usize, usize)> = Vec::new();
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line.trim_end()));
    let mut joined = String::new();
    while let Some((number_of_line, line)) = lines.next() {
        // A backslash at its end carries a line on.
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
                let mut place = [0.0; 3];
                for coordinate in &mut place {
                    let word = words.next().ok_or_else(|| wrong("a vertex wants 3 numbers".into()))?;
                    *coordinate = number(word).map_err(wrong)?;
                }
                let place: Vec3 = units.place_in(place);
                if !place.is_finite() {
                    return Err(wrong(format!("`{}` is too far away", shorten(line))));
                }
                budget.take_all(1, size_of::<Vec3>()).map_err(|e| wrong(e.to_string()))?;
                mesh.positions.push(place);
            }
            Some("f") => {
                for word in words {
                    let index = word.split('/').next().unwrap_or_default();
                    let index: i64 =
                        index.parse().map_err(|_| wrong(format!("`{}` is no vertex", shorten(word))))?;
                    // Counted from 1, or back from the last vertex so far.
                    let count = mesh.positions.len() as i64;
                    corners.push(if index < 0 { count.saturating_add(index) } else { index - 1 });
                    if index == 0 || (index < 0 && -count > index) {
                        return Err(wrong(format!("vertex {index} where there are {count}")));
                    }
                }
                let begin = faces.last().map_or(0, |f| f.1);
                if corners.len() - begin < 3 {
                    return Err(wrong(format!("a face of {} corners", corners.len() - begin)));
                }
                // A corner as it is read, and the triangle that it adds.
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
                _ => return Err((line, format!("vertex {} where there are {count}", index + 1))),
            }
        }
        begin = end;
        let places: Vec<DVec3> = face.iter().map(|&i| mesh.positions[i as usize].as_dvec3()).collect();
        let triangles = polygon::triangles(&places).ok_or_else(|| {
            (line, format!("a face of {} corners that is not convex is too large", face.len()))
        })?;
        mesh.triangles.extend(triangles.into_iter().map(|t| t.map(|i| face[i])));
    }
    Ok(mesh)
}
