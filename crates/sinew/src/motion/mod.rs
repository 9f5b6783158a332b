//! Motion: tracks of keys, clips of tracks, sampling a clip into a pose, root motion, and baking poses back into keys.

mod bake;
mod clip;
mod root;
mod track;

pub use bake::{BakeError, Baker};
pub use clip::{Clip, ClipCursor, ClipError, JointTracks};
pub use root::{RootMotion, RootMotionError};
pub use track::{Interpolation, Track, TrackCursor, TrackError, TrackValue};
