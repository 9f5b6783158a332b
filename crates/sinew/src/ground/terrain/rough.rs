//! Rough ground.

use glam::{Vec2, Vec3};

use super::{TerrainError, not_negative, placed, positive};
use crate::{ground::TriangleMesh, math, option_type::option_type};

option_type! {
    /// Ground of soft bumps and hollows, like a meadow or a worn path. It sums two layers of noise, the second of half
    /// the width and half the height of the first. Both fade to a level spot round the origin, where a walk starts.
    ///
    /// The same seed gives the same bits on every machine: the noise uses only integers, sums and products.
    ///
    /// The defaults are bumps of up to 6 cm, 1.5 m apart, on 16 m by 16 m, with no slope above 25 degrees.
    Rough {
        /// Centre of the ground, in world space; the origin by default.
        origin, with_origin: Vec3 = Vec3::ZERO;
        /// Extent along x and z, in metres; 16 by 16 by default.
        size, with_size: Vec2 = Vec2::splat(16.0);
        /// Seed of the noise; 1 by default.
        seed, with_seed: u32 = 1;
        /// Largest height above and depth below the origin's height, in metres; 0.06 by default.
        amplitude, with_amplitude: f32 = 0.06;
        /// Distance between bumps of the wide layer, in metres; 1.5 by default. The narrow layer has half of it.
        wavelength, with_wavelength: f32 = 1.5;
        /// Edge of the squares, in metres, each of which is two triangles; 0.125 by default.
        cell, with_cell: f32 = 0.125;
        /// Radius of the level spot round the origin, in metres; 0.4 by default. The bumps reach their full height at
        /// three times this radius.
        level, with_level: f32 = 0.4;
    }
}

/// Maximum number of squares. More would take a gigabyte of triangles.
const MAX_CELLS: u32 = 4_000_000;

impl Rough {
    /// Returns the triangles, in world space: a grid with vertices at the heights of [`Rough::height`].
    ///
    /// # Errors
    ///
    /// Returns an error for a dimension outside its range, and for too many squares.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainError> {
        placed(self.origin, 0.0)?;
        positive("size along x", self.size.x)?;
        positive("size along z", self.size.y)?;
        not_negative("amplitude", self.amplitude)?;
        positive("wavelength", self.wavelength)?;
        positive("cell", self.cell)?;
        not_negative("level", self.level)?;
        let [nx, nz] = [self.size.x, self.size.y].map(|size| math::ceil(size / self.cell).max(1.0));
        let count = nx * nz;
        if count.is_nan() || count > MAX_CELLS as f32 {
            return Err(TerrainError::TooMany { name: "cells", count, limit: MAX_CELLS });
        }
        let (nx, nz) = (nx as u32, nz as u32);
        let corner = self.origin - Vec3::new(0.5 * self.size.x, 0.0, 0.5 * self.size.y);
        let mut mesh = TriangleMesh::default();
        for iz in 0..=nz {
            for ix in 0..=nx {
                let x = corner.x + self.size.x * (ix as f32 / nx as f32);
                let z = corner.z + self.size.y * (iz as f32 / nz as f32);
                mesh.positions.push(Vec3::new(x, self.height(x, z), z));
            }
        }
        for iz in 0..nz {
            for ix in 0..nx {
                let a = iz * (nx + 1) + ix;
                let (b, c, d) = (a + nx + 1, a + nx + 2, a + 1);
                // Diagonals alternate, so that no direction is smoother than the other.
                mesh.triangles.extend(if (ix + iz) % 2 == 0 {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                });
            }
        }
        Ok(mesh)
    }

    /// Height in metres of the ground at (x, z), in world space. The mesh has this height at its vertices and is flat
    /// between them.
    pub fn height(&self, x: f32, z: f32) -> f32 {
        let (x, z) = (x - self.origin.x, z - self.origin.z);
        // Lattice values rise and fall over two lattice steps: one wavelength.
        let wide = 2.0 / self.wavelength;
        let layer = |scale: f32, salt: u32| noise(x * scale, z * scale, self.seed ^ salt);
        let bumps = (2.0 * layer(wide, 0) + layer(2.0 * wide, 0x9e37_79b9)) / 3.0;
        let far = math::sqrt(x * x + z * z);
        let fade = if self.level > 0.0 {
            math::smoothstep(((far / self.level - 1.0) * 0.5).clamp(0.0, 1.0))
        } else {
            1.0
        };
        self.origin.y + self.amplitude * bumps * fade
    }
}

/// Smooth noise in \[-1, 1\]: lattice values at whole numbers, eased between.
fn noise(x: f32, z: f32, seed: u32) -> f32 {
    let (fx, fz) = (math::floor(x), math::floor(z));
    // The cast saturates far out, where an `f32` step exceeds a lattice step anyway.
    let (ix, iz) = (fx as i32, fz as i32);
    let (tx, tz) = (math::smoothstep(x - fx), math::smoothstep(z - fz));
    let at = |dx: i32, dz: i32| lattice(ix.wrapping_add(dx), iz.wrapping_add(dz), seed);
    let near = at(0, 0) + (at(1, 0) - at(0, 0)) * tx;
    let far = at(0, 1) + (at(1, 1) - at(0, 1)) * tx;
    near + (far - near) * tz
}

/// Value of a lattice point, in \[-1, 1).
fn lattice(x: i32, z: i32, seed: u32) -> f32 {
    // Odd multipliers spread neighbouring points over all bits; shifts carry high bits down between them.
    let mut h = seed.wrapping_add(0x7f4a_7c15);
    for part in [x as u32, z as u32] {
        h = (h ^ part).wrapping_mul(0x2c1b_3c6d);
        h ^= h >> 15;
        h = h.wrapping_mul(0x297a_2d39);
        h ^= h >> 13;
    }
    // An f32 holds 24 bits exactly.
    (h >> 8) as f32 / 8_388_608.0 - 1.0
}
