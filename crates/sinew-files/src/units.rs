//! Conversion of units and axes for formats that do not declare them.

use std::path::Path;

use glam::Vec3;

use crate::{FileError, ReadOptions, UpAxis};

/// Converts positions of a file to metres with Y up, and back. It works in f64, so that values can be written as they were
/// read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Units {
    /// Metres per unit.
    scale: f64,
    up: UpAxis,
}

impl Units {
    /// Units of the options. A scale that is not finite, not positive or subnormal is an error; `path` is for the message.
    pub(crate) fn new(path: &Path, options: &ReadOptions) -> Result<Self, FileError> {
        // A subnormal scale has no inverse.
        if options.scale.is_normal() && options.scale > 0.0 {
            return Ok(Self { scale: f64::from(options.scale), up: options.up });
        }
        let what =
            format!("{} metres per unit is no scale; it must be finite and greater than 0", options.scale);
        Err(FileError::At { path: path.into(), at: "scale".into(), what })
    }

    /// Metres per unit.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Converts a direction, or the axis of a rotation, from the file's axes.
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

    /// Converts a position from the file's units and axes to metres; infinite if f32 cannot hold it.
    pub(crate) fn position_in(&self, position: [f64; 3]) -> Vec3 {
        Vec3::from_array(self.axis_in(position).map(|c| (c * self.scale) as f32))
    }

    /// The inverse of [`Units::position_in`].
    pub(crate) fn position_out(&self, position: Vec3) -> [f64; 3] {
        self.axis_out(position.to_array().map(|c| f64::from(c) / self.scale))
    }
}
