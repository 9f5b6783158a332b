//! Motion: tracks of keys, clips of tracks, sampling a clip into a pose and baking poses back into keys.

mod bake;
mod clip;
mod track;

pub use bake::{BakeError, Baker};
pub use clip::{Clip, ClipCursor, ClipError, JointTracks};
pub use track::{Interpolation, Track, TrackCursor, TrackError, TrackValue};
