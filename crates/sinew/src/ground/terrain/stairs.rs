//! A flight of stairs.

use alloc::{vec, vec::Vec};

use glam::Vec3;

use super::{Profile, TerrainError, measure, not_negative, placed, positive};
use crate::{ground::TriangleMesh, solve::options::option_type};

/// Which way a flight goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Flight {
    /// Up to a landing.
    #[default]
    Up,
    /// Down from the platform that the walk starts on to a floor.
    Down,
    /// Up, over a landing, and down again by as many steps.
    UpAndDown,
}

option_type! {
    /// Stairs seen from the side, for a walk from left to right that starts at `o`:
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
    /// `steps` counts the risers. With [`Flight::Down`] the floor on the left is the upper one, and the landing the lower. With
    /// [`Flight::UpAndDown`] the upper floor is `landing` long, and so is the lower one that follows.
    ///
    /// The defaults are eight steps up of 17 by 29 cm: a common indoor flight.
    Stairs {
        /// Where the walk starts, in world space.
        origin, with_origin: Vec3 = Vec3::ZERO;
        /// Which way the stairs go: radians about Y from +Z, positive towards +X.
        heading, with_heading: f32 = 0.0;
        /// Height of a step, in metres.
        rise, with_rise: f32 = 0.17;
        /// Depth of a tread, from riser to riser, in metres.
        going, with_going: f32 = 0.29;
        /// How many risers a flight has.
        steps, with_steps: u32 = 8;
        /// From side to side, in metres.
        width, with_width: f32 = 2.0;
        /// Flat floor from the origin to the first riser, in metres.
        lead, with_lead: f32 = 1.0;
        /// Flat floor behind the origin, in metres.
        before, with_before: f32 = 2.0;
        /// Flat floor after the last riser of a flight, in metres.
        landing, with_landing: f32 = 2.0;
        /// Up, down or both.
        flight, with_flight: Flight = Flight::Up;
        /// Whether the sides are closed by walls.
        sides, with_sides: bool = true;
    }
}

/// A flight of this many steps is higher than any building.
const MOST_STEPS: u32 = 100_000;

impl Stairs {
    /// The triangles, in world space.
    pub fn mesh(&self) -> Result<TriangleMesh, TerrainError> {
        placed(self.origin, self.heading)?;
        positive("rise", self.rise)?;
        positive("going", self.going)?;
        positive("width", self.width)?;
        not_negative("lead", self.lead)?;
        not_negative("before", self.before)?;
        not_negative("landing", self.landing)?;
        if self.steps > MOST_STEPS {
            let count = self.steps as f32;
            return Err(TerrainError::TooMany { name: "steps", count, limit: MOST_STEPS });
        }
        let level = self.before + self.lead + self.landing != 0.0 || self.steps >= 2;
        measure("landing", 0.0, "greater than 0 where there is no tread", level)?;
        Ok(self.profile().mesh(self.sides))
    }

    /// Height of the ground at a place seen from above, in world space; that of the upper tread at a riser, none beside
    /// the stairs.
    pub fn height(&self, x: f32, z: f32) -> Option<f32> {
        self.profile().height(x, z)
    }

    fn profile(&self) -> Profile {
        let steps = self.steps.min(MOST_STEPS);
        let mut line: Vec<[f32; 2]> = vec![[-self.before, 0.0]];
        // Way to the first riser of a flight, height before it, and whether it goes up.
        let mut flight = |way: f32, height: f32, sign: f32| {
            let mut at = way;
            for step in 0..steps {
                // Products of counts, not sums of steps, so that the last tread is as exact as the first.
                at = way + self.going * step as f32;
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
