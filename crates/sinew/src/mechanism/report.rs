//! What a solver is told, how it went, and why it refused.

use alloc::string::String;

use thiserror::Error;

use super::{LinkGoalError, ObjectiveError, ValuesError};
use crate::{Outcome, solve::options::option_type};

/// What an answer depends on, beside the goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum History {
    /// The values that come in: the search begins there, and the answer is near them where one is. Along a path the arm
    /// goes smoothly; but when a path closes, the arm need not be where it was, if it has joints to spare.
    #[default]
    Last,
    /// The goals alone: the search begins at rest, whatever comes in. The same goal gives the same values each time,
    /// and a path that closes brings the arm back; but two near goals may have answers far apart.
    None,
}

option_type! {
    /// How a solve in joint space is done.
    JointSpaceOptions {
        /// How near the position must be, in metres; 1e-6 by default.
        position_tolerance, with_position_tolerance: f64 = 1e-6;
        /// How near the rotation must be, in radians; 1e-6 by default.
        rotation_tolerance, with_rotation_tolerance: f64 = 1e-6;
        /// The largest number of iterations, over all runs; 10 000 by default. One takes about a microsecond.
        max_iterations, with_max_iterations: u32 = 10_000;
        /// The largest number of restarts; 400 by default. 0 keeps the arm on the branch that it is on.
        max_restarts, with_max_restarts: u32 = 400;
        /// What the answer depends on.
        history, with_history: History = History::Last;
    }
}

/// How a solve went, measured on the values that it left.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct JointSpaceReport {
    /// What the solver did. `Converged`: every goal of the first priority came within the tolerances.
    pub outcome: Outcome,
    /// How far the goal's position is out of reach for certain, past all bones in a line, in metres; 0 where that is within
    /// the tolerance or not known (for several goals, say).
    pub out_of_reach: f64,
    /// Steps of all runs; 0 where nothing had to move.
    pub iterations: u32,
    /// Starts besides the first. Where there are any, the answer may lie on another branch.
    pub restarts: u32,
    /// The largest distance from a goal's position, in metres, over goals of the first priority.
    pub position_residual: f64,
    /// The largest angle from a goal's rotation, in radians, over goals of the first priority.
    pub rotation_residual: f64,
    /// The position tolerance of the solve, in metres.
    pub position_tolerance: f64,
    /// The rotation tolerance of the solve, in radians.
    pub rotation_tolerance: f64,
}

impl JointSpaceReport {
    /// Whether both residuals are within the tolerances.
    pub fn reached(&self) -> bool {
        self.position_residual <= self.position_tolerance && self.rotation_residual <= self.rotation_tolerance
    }
}

/// Why a solver refused. The values are as they were.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum JointSpaceError {
    /// There is no goal.
    #[error("there is no goal")]
    NoGoal,
    /// No joint moves a goal's link relative to the link that the goal is given in.
    #[error("no joint moves link `{link}` relative to link `{relative_to}`")]
    NoJoint {
        /// The link.
        link: String,
        /// The other.
        relative_to: String,
    },
    /// All answers were asked for, and there are endless many.
    #[error("{dofs} degrees of freedom for {directions} directions: there is no end of answers")]
    Redundant {
        /// Degrees of freedom that the goals depend on.
        dofs: usize,
        /// Directions with a weight.
        directions: usize,
    },
    /// The goals are for other links, or of other priorities, than those that the solver was made for.
    #[error("the solver was made for other links or priorities than the goals have")]
    OtherLinks,
    /// A setting is out of its range.
    #[error("{what} must be {range}, not {value}")]
    Setting {
        /// Which.
        what: &'static str,
        /// What is allowed.
        range: &'static str,
        /// Its value.
        value: f64,
    },
    /// A goal cannot be worked with.
    #[error(transparent)]
    Goal(#[from] LinkGoalError),
    /// An objective cannot be worked with.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The values do not fit.
    #[error(transparent)]
    Values(#[from] ValuesError),
}

impl JointSpaceOptions {
    /// Whether every number is in its range.
    pub(super) fn check(&self) -> Result<(), JointSpaceError> {
        positive("the position tolerance", self.position_tolerance)?;
        positive("the rotation tolerance", self.rotation_tolerance)
    }
}

/// An error unless a setting is finite and above 0.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), JointSpaceError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(JointSpaceError::Setting { what, range: "finite and above 0", value }),
    }
}
