//! Units and axes of files that do not say them, and ours.

use std::path::Path;

use glam::Vec3;

use crate::{FileError, ReadOptions, UpAxis};

/// Takes places of a file to metres with Y up, and back. In `f64`, so that what is read can be written back as it was.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    /// Metres a unit.
    scale: f64,
    up: UpAxis,
}

impl Units {
    /// An error where the scale is none.
    pub(crate) fn new(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        // A subnormal scale has no inverse.
        if options.scale.is_normal() && options.scale > 0.0 {
            return Ok(Self { scale: f64::from(options.scale), up: options.up });
        }
        let what = format!("{} metres a unit is no scale", options.scale);
        Err(FileError::At { path: path.into(), at: "scale".into(), what })
    }

    /// Metres a unit.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// A direction, or the axis of a rotation.
    pub(crate) fn axis_in(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self.up {
            UpAxis::Y => [x, y, z],
            UpAxis::Z => [x, z, -y],
        }
    }

    /// The inverse of [`Units::axis_in`].
    pub(crate) fn axis_out(&self, [x, y, z]: [f64; 3]) -> [f64; 3] {
        match self.up {
            UpAxis::Y => [x, y, z],
            UpAxis::Z => [x, -z, y],
        }
    }

    /// A place, in metres; infinite where `f32` cannot hold it.
    pub(crate) fn place_in(&self, place: [f64; 3]) -> Vec3 {
        Vec3::from_array(self.axis_in(place).map(|c| (c * self.scale) as f32))
    }

    /// The inverse of [`Units::place_in`].
    pub(crate) fn place_out(&self, place: Vec3) -> [f64; 3] {
        self.axis_out(place.to_array().map(|c| f64::from(c) / self.scale))
    }
}
