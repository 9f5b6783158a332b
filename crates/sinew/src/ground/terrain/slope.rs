//! A ramp.

use alloc::vec;

use glam::Vec3;

use super::{Profile, TerrainError, measure, not_negative, placed, positive};
use crate::{ground::TriangleMesh, math, solve::options::option_type};

option_type! {
    /// A ramp seen from the side, for a walk from left to right that starts at `o`:
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
    /// The defaults are four metres at 20 degrees: as steep as feet lie flat on with ease.
    Slope {
        /// Where the walk starts, in world space.
        origin, with_origin: Vec3 = Vec3::ZERO;
        /// Which way the ramp goes: radians about Y from +Z, positive towards +X.
        heading, with_heading: f32 = 0.0;
        /// How steep: radians from level, positive up, less than a quarter turn.
        angle, with_angle: f32 = core::f32::consts::PI / 9.0;
        /// From the foot of the ramp to its head, measured level, in metres.
        length, with_length: f32 = 4.0;
        /// From side to side, in metres.
        width, with_width: f32 = 2.0;
        /// Flat floor from the origin to the ramp, in metres.
        lead, with_lead: f32 = 1.0;
        /// Flat floor behind the origin, in metres.
        before, with_before: f32 = 2.0;
        /// Flat floor after the ramp, in metres.
        landing, with_landing: f32 = 2.0;
        /// Whether the sides are closed by walls.
        sides, with_sides: bool = true;
    }
}

impl Slope {
    /// The triangles, in world space.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainError> {
        placed(self.origin, self.heading)?;
        positive("length", self.length)?;
        positive("width", self.width)?;
        not_negative("lead", self.lead)?;
        not_negative("before", self.before)?;
        not_negative("landing", self.landing)?;
        // At 1.56 rad (89.4 degrees) a metre rises by nearly a hundred: past it the tangent runs away.
        let steep = !(-1.56..=1.56).contains(&self.angle);
        measure("angle", self.angle, "between -1.56 and 1.56 radians", !steep)?;
        Ok(self.profile().mesh(self.sides))
    }

    /// Height of the ground at a place seen from above, in world space; none beside it.
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
