//! Closed surfaces through rings, for limbs, bodies and balls.

use std::f32::consts::TAU;

use glam::Vec3;
use sinew::{JointId, math};

use super::{Color, Mesh, Vertex, mesh::normalized};

/// Cross-section of a [`Surface`]: an ellipse in model space, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Centre.
    pub center: Vec3,
    /// Half-axis from the centre to the ring's first point.
    pub right: Vec3,
    /// Half-axis from the centre to the point a quarter turn further.
    pub front: Vec3,
}

impl Ring {
    /// The point at `turn` (0 to 1) around the ring.
    pub fn point(&self, turn: f32) -> Vec3 {
        let a = TAU * turn;
        self.center + self.right * math::cos(a) + self.front * math::sin(a)
    }
}

/// Closed surface: rows of points around an axis, and a pole at each end.
///
/// Seen against the direction from the first row to the last, each row runs counter-clockwise, like a [`Ring`] whose
/// `right`, `front` and direction of the rows form a right-handed frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Surface {
    /// Pole before the first row, in model space, in metres.
    pub start: Vec3,
    /// Rows of equally many points each, in model space, in metres.
    pub rows: Vec<Vec<Vec3>>,
    /// Pole after the last row, in model space, in metres.
    pub end: Vec3,
}

impl Surface {
    /// A surface through rings of `columns` points each, with flat ends.
    pub fn through(rings: &[Ring], columns: usize) -> Self {
        let rows = rings
            .iter()
            .map(|r| (0..columns).map(|c| r.point(c as f32 / columns as f32)).collect())
            .collect();
        let end = |r: Option<&Ring>| r.map_or(Vec3::ZERO, |r| r.center);
        Self { start: end(rings.first()), rows, end: end(rings.last()) }
    }

    /// A surface of revolution about the line from `a` to `b`, closed by domes at both ends. `radius` returns the radius in
    /// metres at `t`, 0 at `a` and 1 at `b`.
    pub fn capsule(a: Vec3, b: Vec3, columns: usize, rows: usize, radius: impl Fn(f32) -> f32) -> Self {
        let axis = (b - a).try_normalize().unwrap_or(Vec3::Y);
        let right = math::perpendicular(axis, Vec3::X);
        let front = axis.cross(right);
        let ring = |center: Vec3, r: f32| Ring { center, right: right * r, front: front * r };
        let mut rings = Vec::with_capacity(rows + 2 * DOME);
        for k in 1..=DOME {
            let (s, c) = dome(k);
            rings.push(ring(a - axis * (radius(0.0) * c), radius(0.0) * s));
        }
        for k in 1..rows {
            let t = k as f32 / rows as f32;
            rings.push(ring(a.lerp(b, t), radius(t)));
        }
        // A ball has one equator.
        let from = if a == b { DOME - 1 } else { DOME };
        for k in (1..=from).rev() {
            let (s, c) = dome(k);
            rings.push(ring(b + axis * (radius(1.0) * c), radius(1.0) * s));
        }
        let mut surface = Self::through(&rings, columns);
        surface.start = a - axis * radius(0.0);
        surface.end = b + axis * radius(1.0);
        surface
    }

    /// A ball.
    pub fn ball(center: Vec3, radius: f32, columns: usize) -> Self {
        Self::capsule(center, center, columns, 1, |_| radius)
    }

    /// Adds the surface to a mesh. `weights` returns the joints and weights of a point, and `color` the colour of a band
    /// between two rows (band 0 is the cap before the first row). `fallback` is the joint of points without weights. Rows of
    /// fewer than three points add nothing.
    pub fn add_to<'a>(
        &self,
        mesh: &mut Mesh,
        fallback: JointId,
        weights: impl Fn(Vec3) -> Vec<(JointId, f32)>,
        color: impl Fn(usize) -> &'a Color,
    ) {
        let (rows, columns) = (self.rows.len(), self.rows.iter().map(Vec::len).min().unwrap_or(0));
        if columns < 3 {
            return;
        }
        // Row 0 and the last row repeat the poles in each column, so that all bands are made alike.
        let at = |row: usize, column: usize| match row {
            0 => self.start,
            r if r <= rows => self.rows[r - 1][column % columns],
            _ => self.end,
        };
        let normal = |row: usize, column: usize| {
            let along = at((row + 1).min(rows + 1), column) - at(row.saturating_sub(1), column);
            let around = at(row, column + 1) - at(row, column + columns - 1);
            let direction = match row {
                // At a pole the normals of the sides cancel; the normal is along the axis.
                0 => self.start - center(&self.rows[0]),
                r if r == rows + 1 => self.end - center(&self.rows[rows - 1]),
                _ => around.cross(along),
            };
            // In a flat cap the pole is the row's centre; the normal is that of the row's plane.
            direction.try_normalize().unwrap_or_else(|| {
                let (a, b) = (at(row.clamp(1, rows), 0), at(row.clamp(1, rows), columns / 3));
                let n = (a - at(row, column)).cross(b - at(row, column));
                let n = n.try_normalize().unwrap_or(Vec3::Y);
                if row == 0 { -n } else { n }
            })
        };
        // Index of the band's first row if the band before has the same colour and has added it.
        let mut shared: Option<(&str, u32)> = None;
        for band in 0..=rows {
            let color = color(band);
            let part = mesh.part(color);
            let mut row_of = |row: usize| {
                let first = part.vertices.len() as u32;
                for column in 0..columns {
                    let position = at(row, column);
                    part.vertices.push(Vertex {
                        position,
                        normal: normal(row, column),
                        joints: normalized(&weights(position), fallback),
                    });
                }
                first
            };
            let lower = match shared {
                Some((name, first)) if name == color.name => first,
                _ => row_of(band),
            };
            let upper = row_of(band + 1);
            shared = Some((color.name, upper));
            let n = columns as u32;
            for c in 0..n {
                let d = (c + 1) % n;
                if band > 0 {
                    part.triangles.push([lower + c, lower + d, upper + c]);
                }
                if band < rows {
                    part.triangles.push([lower + d, upper + d, upper + c]);
                }
            }
        }
    }
}

/// Number of rows of the dome that closes a capsule.
const DOME: usize = 4;

/// Sine and cosine of the angle from the pole of a dome's k-th row.
fn dome(k: usize) -> (f32, f32) {
    let a = TAU / 4.0 * k as f32 / DOME as f32;
    (math::sin(a), math::cos(a))
}

fn center(row: &[Vec3]) -> Vec3 {
    row.iter().sum::<Vec3>() / row.len().max(1) as f32
}
