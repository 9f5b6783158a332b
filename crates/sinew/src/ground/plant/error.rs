//! Errors of planning and planting a clip.

use alloc::{
    format,
    string::{String, ToString},
};

use glam::Vec3;
use thiserror::Error;

use super::{ContactsError, Interval, PlantOptionError, Unplanted};
use crate::{SolveError, body::Side, motion::BakeError};

/// Error of [`Plan::from_analysis`](super::Plan::from_analysis) and [`ClipAnalysis::new`](super::ClipAnalysis::new): the
/// clip cannot be planned.
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
}

/// Error of [`plant_clip`](super::plant_clip).
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlantError {
    /// The planted clip would have too many keys.
    #[error(
        "{seconds} s are too long to plant: {joints} joints at {rate} keys a second make {keys:.0} keys; the budget is {max}"
    )]
    Keys {
        /// Duration of the planted clip with all its rounds, in seconds.
        seconds: f32,
        /// Keys that the planted clip would have.
        keys: f64,
        /// Joints that the clip moves.
        joints: usize,
        /// Keys per second and joint.
        rate: f32,
        /// Largest number of keys allowed.
        max: u64,
    },
    /// The given contacts are invalid.
    #[error(transparent)]
    Contacts(#[from] ContactsError),
    /// The clip cannot be planned.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A leg cannot be solved.
    #[error("at {time} s: {error}")]
    Solve {
        /// Time in the planted clip, in seconds.
        time: f32,
        /// The solver's error.
        error: SolveError,
    },
    /// The poses cannot be baked into keys.
    #[error(transparent)]
    Bake(#[from] BakeError),
    /// Feet hardly ever stand in the planted clip: the joints are not those of legs.
    #[error(
        "the legs hold {percent:.0} % of the time in contact: {} {point} from {:.2} to {:.2} s, {why}",
        side(*leg), time.from, time.to
    )]
    NotHeld {
        /// Percentage of the time in contact with a foothold that is held.
        percent: f32,
        /// Leg of the longest contact that is not held.
        leg: usize,
        /// `heel` or `ball` of its foot.
        point: &'static str,
        /// Time of that contact in the planted clip, in seconds.
        time: Interval,
        /// Reason, as measured.
        why: Unplanted,
    },
}

/// Name of a leg; those of a body are left and right.
fn side(leg: usize) -> String {
    Side::BOTH.get(leg).map_or_else(|| format!("leg {leg},"), Side::to_string)
}
