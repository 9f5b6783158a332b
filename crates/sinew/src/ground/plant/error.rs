//! Why a clip was not planted.

use glam::Vec3;
use thiserror::Error;

use super::PlantOptionError;

/// Why a clip was not planted.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A setting is outside its range.
    #[error(transparent)]
    Setting(#[from] PlantOptionError),
    /// There is no ground under the whole walk.
    #[error("there is no ground under the walk: looked from ({}, {}) to ({}, {}), between {low} and {high} m", from.x, from.z, to.x, to.z)]
    NoGround {
        /// Where the pelvis is at the begin.
        from: Vec3,
        /// Where it is at the end.
        to: Vec3,
        /// The lowest height looked at.
        low: f32,
        /// The highest.
        high: f32,
    },
    /// The clip, in all its rounds, is longer than can be held.
    #[error("{seconds} s are too long to plant; at most {longest:.0} s are")]
    TooLong {
        /// How long it is.
        seconds: f32,
        /// How long it may be.
        longest: f32,
    },
    /// The clip places a leg where `f32` cannot.
    #[error("at {time} s of the clip a leg is not at a finite place")]
    NotFinite {
        /// Time in the clip, in seconds.
        time: f32,
    },
    /// The rate of keys makes no sense.
    #[error("keys must be made at 1 to 1000 a second, not {0}")]
    Rate(f32),
}
