//! Motion: tracks of keys, clips of tracks, sampling a clip into a pose, root motion,
//! baking poses back into keys, and removing keys that a clip does not need.

mod bake;
mod clip;
mod reduce;
mod root;
mod track;

pub use bake::{BakeError, Baker};
pub use clip::{Clip, ClipCursor, ClipError, JointTracks};
pub use reduce::ReduceError;
pub(crate) use reduce::{MOST, shells};
pub use root::{RootMotion, RootMotionError};
pub(crate) use track::hermite;
pub use track::{Interpolation, Track, TrackCursor, TrackError, TrackValue};
