//! Why a step was not made.

use glam::Vec3;
use thiserror::Error;

use crate::{PoseError, SolveError};

/// Why a step was not made. The pose is as it came.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FootPlanterError {
    /// The time step is not a time.
    #[error("a time step must be finite and not negative, not {0} s")]
    Time(f32),
    /// The state is another foot planter's, or was made before the look-ahead was set.
    #[error(
        "the state was made by another foot planter: take one from this one's `state`, after its look-ahead is set"
    )]
    State,
    /// The pose holds a number that is not finite.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// The figure has joints that the pose has not.
    #[error("the figure has joints up to {joint}, but the pose {joints} joints")]
    Figure {
        /// Index of the figure's last joint.
        joint: usize,
        /// Joints of the pose.
        joints: usize,
    },
    /// A point of a leg's sole, which [`Figure::legs_mut`](crate::ground::plant::Figure::legs_mut) may have set, is no place.
    #[error("the sole of leg {leg} has a point at {point}, which must be within 1e16 of its joint")]
    Sole {
        /// The leg.
        leg: usize,
        /// The point, in the foot's own space.
        point: Vec3,
    },
    /// There is no such leg.
    #[error("there is no leg {leg}: the figure has {count}")]
    Leg {
        /// The one asked for.
        leg: usize,
        /// How many there are.
        count: usize,
    },
    /// A foot planter with look-ahead was not told what comes.
    #[error(
        "a foot planter with look-ahead must be given each tick (`next_tick`); the one {0} s from the frame is missing"
    )]
    Unforeseen(f32),
    /// A limb was not solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
}
