//! Flights of stairs.

use alloc::{vec, vec::Vec};

use glam::Vec3;

use super::{Profile, TerrainError, measure, not_negative, placed, positive};
use crate::{ground::TriangleMesh, option_type::option_type};

/// Direction of a flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Flight {
    /// Up to a landing.
    #[default]
    Up,
    /// Down from the platform where the walk starts to a floor.
    Down,
    /// Up, over a landing, and down by the same number of steps.
    UpAndDown,
}

option_type! {
    /// Stairs, seen here from the side for a walk from left to right that starts at `o`:
    ///
    /// ```text
    ///                          ______ landing
    ///                   going |
    ///                    _____| rise
    ///                   |
    ///   ________o_______|
    ///    before   lead
    /// ```
    ///
    /// `steps` is the number of risers. With [`Flight::Down`], the floor on the left is the upper one, and the landing
    /// the lower one. With [`Flight::UpAndDown`], the upper floor and the lower one that follows are each `landing`
    /// long.
    ///
    /// The defaults are eight steps up of 17 by 29 cm: a common indoor flight.
    Stairs {
        /// Start of the walk, in world space; the origin by default.
        origin, with_origin: Vec3 = Vec3::ZERO;
        /// Heading of the stairs in radians about Y from +Z, positive towards +X; 0 by default.
        heading, with_heading: f32 = 0.0;
        /// Height of a step, in metres; 0.17 by default.
        rise, with_rise: f32 = 0.17;
        /// Depth of a tread from riser to riser, in metres; 0.29 by default.
        going, with_going: f32 = 0.29;
        /// Number of risers of a flight; 8 by default, 100,000 at most.
        steps, with_steps: u32 = 8;
        /// Width from side to side, in metres; 2 by default.
        width, with_width: f32 = 2.0;
        /// Length of flat floor from the origin to the first riser, in metres; 1 by default.
        lead, with_lead: f32 = 1.0;
        /// Length of flat floor behind the origin, in metres; 2 by default.
        before, with_before: f32 = 2.0;
        /// Length of flat floor after the last riser of a flight, in metres; 2 by default.
        landing, with_landing: f32 = 2.0;
        /// Direction of the flight; [`Flight::Up`] by default.
        flight, with_flight: Flight = Flight::Up;
        /// Whether walls close the sides; true by default.
        sides, with_sides: bool = true;
    }
}

/// Maximum number of steps. A flight of this many is higher than any building.
const MAX_STEPS: u32 = 100_000;

impl Stairs {
    /// Returns the triangles, in world space.
    ///
    /// # Errors
    ///
    /// Returns an error for a dimension outside its range, for too many steps, and for stairs without any level floor.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainError> {
        placed(self.origin, self.heading)?;
        positive("rise", self.rise)?;
        positive("going", self.going)?;
        positive("width", self.width)?;
        not_negative("lead", self.lead)?;
        not_negative("before", self.before)?;
        not_negative("landing", self.landing)?;
        if self.steps > MAX_STEPS {
            let count = self.steps as f32;
            return Err(TerrainError::TooMany { name: "steps", count, limit: MAX_STEPS });
        }
        let level = self.before + self.lead + self.landing != 0.0 || self.steps >= 2;
        measure("landing", 0.0, "greater than 0 where there is no tread", level)?;
        Ok(self.profile().mesh(self.sides))
    }

    /// Height in metres of the ground at (x, z), in world space: the upper tread's at a riser; `None` beside the
    /// stairs.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        self.profile().height(x, z)
    }

    fn profile(&self) -> Profile {
        let steps = self.steps.min(MAX_STEPS);
        let mut line: Vec<[f32; 2]> = vec![[-self.before, 0.0]];
        // Takes the distance to the first riser of a flight, the height before it, and 1 for up or -1 for down.
        let mut flight = |first: f32, height: f32, sign: f32| {
            let mut at = first;
            for step in 0..steps {
                // Products of counts, not sums of steps, keep the last tread as exact as the first.
                at = first + self.going * step as f32;
                line.push([at, height + sign * self.rise * step as f32]);
                line.push([at, height + sign * self.rise * (step + 1) as f32]);
            }
            let end = [at + self.landing, height + sign * self.rise * steps as f32];
            line.push(end);
            end
        };
        match self.flight {
            Flight::Up => flight(self.lead, 0.0, 1.0),
            Flight::Down => flight(self.lead, 0.0, -1.0),
            Flight::UpAndDown => {
                let top = flight(self.lead, 0.0, 1.0);
                flight(top[0], top[1], -1.0)
            }
        };
        Profile { origin: self.origin, heading: self.heading, width: self.width, line }
    }
}
