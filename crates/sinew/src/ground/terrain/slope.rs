//! A ramp.

use alloc::vec;

use glam::Vec3;

use super::{Profile, TerrainError, measure, not_negative, placed, positive};
use crate::{ground::TriangleMesh, math, option_type::option_type};

option_type! {
    /// Ramp, seen here from the side for a walk from left to right that starts at `o`:
    ///
    /// ```text
    ///                         ______
    ///                     .-'  landing
    ///                 .-'
    ///   ________o__.-' angle
    ///    before lead   length
    /// ```
    ///
    /// A negative angle goes down.
    ///
    /// The defaults are 4 m at 20 degrees: the steepest on which feet lie flat with ease.
    Slope {
        /// Start of the walk, in world space; the origin by default.
        origin, with_origin: Vec3 = Vec3::ZERO;
        /// Heading of the ramp in radians about Y from +Z, positive towards +X; 0 by default.
        heading, with_heading: f32 = 0.0;
        /// Inclination in radians, positive up, within -1.56 to 1.56; 20 degrees by default.
        angle, with_angle: f32 = core::f32::consts::PI / 9.0;
        /// Horizontal length of the ramp, in metres; 4 by default.
        length, with_length: f32 = 4.0;
        /// Width from side to side, in metres; 2 by default.
        width, with_width: f32 = 2.0;
        /// Length of flat floor from the origin to the ramp, in metres; 1 by default.
        lead, with_lead: f32 = 1.0;
        /// Length of flat floor behind the origin, in metres; 2 by default.
        before, with_before: f32 = 2.0;
        /// Length of flat floor after the ramp, in metres; 2 by default.
        landing, with_landing: f32 = 2.0;
        /// Whether walls close the sides; true by default.
        sides, with_sides: bool = true;
    }
}

impl Slope {
    /// Returns the triangles, in world space. Returns an error for a dimension outside its range.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainError> {
        placed(self.origin, self.heading)?;
        positive("length", self.length)?;
        positive("width", self.width)?;
        not_negative("lead", self.lead)?;
        not_negative("before", self.before)?;
        not_negative("landing", self.landing)?;
        // At 1.56 rad (89.4 degrees), a metre rises by nearly a hundred; beyond, the tangent diverges.
        let steep = !(-1.56..=1.56).contains(&self.angle);
        measure("angle", self.angle, "between -1.56 and 1.56 radians", !steep)?;
        Ok(self.profile().mesh(self.sides))
    }

    /// Height in metres of the ground at (x, z), in world space; `None` beside it.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        self.profile().height(x, z)
    }

    fn profile(&self) -> Profile {
        let top = self.length * math::tan(self.angle);
        let head = self.lead + self.length;
        let line = vec![[-self.before, 0.0], [self.lead, 0.0], [head, top], [head + self.landing, top]];
        Profile { origin: self.origin, heading: self.heading, width: self.width, line }
    }
}
