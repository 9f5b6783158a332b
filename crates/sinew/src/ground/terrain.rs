//! Procedural grounds: stairs, a slope, rough ground.
//!
//! Each is a struct of dimensions with defaults at human scale. `mesh` returns its triangles in world space (metres, Y
//! up), and `height` its height, for tests and for placing objects. A walk starts at `origin` and follows `heading`, an
//! angle about the Y axis in radians: 0 is +Z, positive angles turn towards +X.

mod rough;
mod slope;
mod stairs;

pub use rough::Rough;
pub use slope::Slope;
pub use stairs::{Flight, Stairs};

use alloc::vec::Vec;

use glam::Vec3;
use thiserror::Error;

use super::TriangleMesh;
use crate::math;

/// Error in a terrain's dimensions.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TerrainError {
    /// A dimension is outside its range.
    #[error("{name} must be {wanted}, not {value}")]
    Measure {
        /// Name of the field.
        name: &'static str,
        /// Value given.
        value: f32,
        /// Allowed range.
        wanted: &'static str,
    },
    /// The mesh would have too many pieces.
    #[error("a terrain may have at most {limit} {name}, not {count}")]
    TooMany {
        /// Name of the pieces.
        name: &'static str,
        /// Number of pieces for the given dimensions.
        count: f32,
        /// Maximum number of pieces.
        limit: u32,
    },
}

/// Returns an error unless `ok`.
fn measure(name: &'static str, value: f32, wanted: &'static str, ok: bool) -> Result<(), TerrainError> {
    if ok { Ok(()) } else { Err(TerrainError::Measure { name, value, wanted }) }
}

/// Returns an error for a dimension that is not finite or not positive.
fn positive(name: &'static str, value: f32) -> Result<(), TerrainError> {
    measure(name, value, "finite and greater than 0", value.is_finite() && value > 0.0)
}

/// Returns an error for a dimension that is not finite or negative.
fn not_negative(name: &'static str, value: f32) -> Result<(), TerrainError> {
    measure(name, value, "finite and at least 0", value.is_finite() && value >= 0.0)
}

/// Returns an error for an origin or heading that is not finite.
fn placed(origin: Vec3, heading: f32) -> Result<(), TerrainError> {
    [("origin's x", origin.x), ("origin's y", origin.y), ("origin's z", origin.z), ("heading", heading)]
        .into_iter()
        .try_for_each(|(name, value)| measure(name, value, "finite", value.is_finite()))
}

/// Height profile along the heading, extruded across it: the shape of stairs and slopes.
struct Profile {
    origin: Vec3,
    heading: f32,
    width: f32,
    /// Points of the profile: distance along the heading from the origin, never decreasing, and height above the
    /// origin, both in metres.
    line: Vec<[f32; 2]>,
}

impl Profile {
    /// Two triangles per piece of the line and, if `sides`, walls down to the lowest height.
    fn mesh(&self, sides: bool) -> TriangleMesh {
        let (sin, cos) = (math::sin(self.heading), math::cos(self.heading));
        // Each corner is always computed in the same way, so that neighbouring pieces share its bits.
        let corner = |[ahead, height]: [f32; 2], across: f32| {
            self.origin + Vec3::new(sin * ahead + cos * across, height, cos * ahead - sin * across)
        };
        let half = 0.5 * self.width;
        let lowest = self.line.iter().fold(f32::INFINITY, |m, p| m.min(p[1]));
        let mut mesh = TriangleMesh::default();
        for piece in self.line.windows(2) {
            let (a, b) = (piece[0], piece[1]);
            if a == b {
                continue;
            }
            mesh.push_quad([corner(a, -half), corner(b, -half), corner(b, half), corner(a, half)]);
            if sides && a[0] < b[0] && a[1].max(b[1]) > lowest {
                let (a0, b0) = ([a[0], lowest], [b[0], lowest]);
                mesh.push_quad([corner(a0, -half), corner(b0, -half), corner(b, -half), corner(a, -half)]);
                mesh.push_quad([corner(b0, half), corner(a0, half), corner(a, half), corner(b, half)]);
            }
        }
        mesh
    }

    /// Height in metres of the ground at (x, z), in world space: the upper one at a riser; `None` beside the ground.
    fn height(&self, x: f32, z: f32) -> Option<f32> {
        let (sin, cos) = (math::sin(self.heading), math::cos(self.heading));
        let (x, z) = (x - self.origin.x, z - self.origin.z);
        let (ahead, across) = (sin * x + cos * z, cos * x - sin * z);
        if across.abs() > 0.5 * self.width {
            return None;
        }
        let heights = self.line.windows(2).filter_map(|piece| {
            let ([w0, h0], [w1, h1]) = (piece[0], piece[1]);
            if !(w0..=w1).contains(&ahead) {
                return None;
            }
            Some(if w1 > w0 { h0 + (h1 - h0) * ((ahead - w0) / (w1 - w0)) } else { h0.max(h1) })
        });
        heights.reduce(f32::max).map(|height| self.origin.y + height)
    }
}
