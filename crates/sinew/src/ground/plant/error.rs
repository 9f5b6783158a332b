//! The error of planning a clip.

use glam::Vec3;
use thiserror::Error;

use super::PlantOptionError;

/// Error of [`Plan::new`](super::Plan::new): the clip cannot be planted.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// An option is outside its range.
    #[error(transparent)]
    Setting(#[from] PlantOptionError),
    /// No ray cast below the path of the pelvis hits ground.
    #[error("there is no ground under the walk from (x {}, z {}) to (x {}, z {}), between heights of {low} m and {high} m", from.x, from.z, to.x, to.z)]
    NoGround {
        /// Position of the pelvis at the start, in model space.
        from: Vec3,
        /// Position of the pelvis at the end, in model space.
        to: Vec3,
        /// Lowest height that casts reach, in metres.
        low: f32,
        /// Highest height that casts reach, in metres.
        high: f32,
    },
    /// The clip, with all its rounds, has more samples than planning holds.
    #[error(
        "the clip is too long to plant: {seconds} s with all its rounds, where at most {max_seconds:.0} s are allowed"
    )]
    TooLong {
        /// Duration of all rounds, in seconds.
        seconds: f32,
        /// Longest duration allowed, in seconds.
        max_seconds: f32,
    },
    /// A joint position of a leg overflows `f32`.
    #[error("at {time} s of the clip the position of a leg is not finite")]
    NotFinite {
        /// Time in the clip, in seconds.
        time: f32,
    },
    /// The key rate is outside its range.
    #[error("the key rate must be from 1 to 1000 Hz, not {0}")]
    Rate(f32),
}
