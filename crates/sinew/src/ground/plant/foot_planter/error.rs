//! The error of a foot planter.

use glam::Vec3;
use thiserror::Error;

use crate::{AffineError, PoseError, SolveError};

/// Error of a [`FootPlanter`](super::FootPlanter). [`FootPlanter::step`](super::FootPlanter::step) then leaves the pose as
/// it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FootPlanterError {
    /// A time is negative or not finite.
    #[error("a time must be finite and at least 0 s, not {0} s")]
    Time(f32),
    /// The state is another foot planter's, or was made before the look-ahead changed.
    #[error(
        "the state is of another foot planter or look-ahead: take one from this foot planter's `state` once its look-ahead is set"
    )]
    State,
    /// The pose has a transform that is not finite.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// The pose has fewer joints than the figure needs.
    #[error("the figure has joints up to index {joint}, but the pose has {joints} joints")]
    Figure {
        /// Largest joint index of the figure.
        joint: usize,
        /// Number of joints of the pose.
        joints: usize,
    },
    /// A point of a sole, set by [`Figure::legs_mut`](crate::ground::plant::Figure::legs_mut), is too far from its joint or
    /// not finite.
    #[error("the sole of leg {leg} has a point at {point}, which must be within 1e16 of its joint")]
    Sole {
        /// Index of the leg.
        leg: usize,
        /// The point, in the local space of its joint.
        point: Vec3,
    },
    /// The figure is too far from its platform.
    #[error(transparent)]
    Placement(#[from] AffineError),
    /// There is no such leg.
    #[error("there is no leg {leg}: the figure has {count}")]
    Leg {
        /// Index given.
        leg: usize,
        /// Number of legs.
        count: usize,
    },
    /// A tick that the look-ahead needs is missing. The value is its time, in seconds from the frame.
    #[error(
        "a foot planter with look-ahead must be given each tick (`next_tick`); the one {0} s from the frame is missing"
    )]
    Unforeseen(f32),
    /// A leg cannot be solved, or an influence is outside its range.
    #[error(transparent)]
    Solve(#[from] SolveError),
}
