//! Options, reports and errors of the joint-space solvers.

use alloc::string::String;

use thiserror::Error;

use super::{LinkGoalError, ObjectiveError, ValuesError};
use crate::{Outcome, option_type::option_type};

/// Dependence of an answer on the input values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum History {
    /// The input values count: the search begins there, and the answer is near them where one is. Along a path the arm moves
    /// smoothly. At the end of a closed path, an arm with redundant joints need not be in its first pose.
    #[default]
    Last,
    /// The goals alone count: the search begins at rest. The same goal gives the same values each time, and a closed path
    /// brings the arm back. Two near goals may have answers far apart.
    None,
}

option_type! {
    /// Options of a solve in joint space.
    JointSpaceOptions {
        /// Largest distance from a goal's position that counts as reached, in metres, above 0; 1e-6 by default.
        position_tolerance, with_position_tolerance: f64 = 1e-6;
        /// Largest angle from a goal's rotation that counts as reached, in radians, above 0; 1e-6 by default.
        rotation_tolerance, with_rotation_tolerance: f64 = 1e-6;
        /// Maximum number of iterations, over all runs; 10 000 by default. One takes about a microsecond.
        max_iterations, with_max_iterations: u32 = 10_000;
        /// Maximum number of restarts; 400 by default. 0 keeps the arm on its branch.
        max_restarts, with_max_restarts: u32 = 400;
        /// Dependence of the answer on the input values; [`History::Last`] by default.
        history, with_history: History = History::Last;
    }
}

/// Report of a solve, measured on the output values.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct JointSpaceReport {
    /// Outcome of the solve. `Converged`: every goal of the first priority is within the tolerances.
    pub outcome: Outcome,
    /// Lower bound on the distance of the goal's position from the reach, in metres: the distance past the length of all
    /// bones in a line. 0 where it is within the tolerance or unknown (for several goals, say).
    pub out_of_reach: f64,
    /// Iterations of all runs; 0 where no joint had to move.
    pub iterations: u32,
    /// Number of restarts. Where it is above 0, the answer may lie on another branch.
    pub restarts: u32,
    /// Largest distance from a goal's position, in metres, over goals of the first priority.
    pub position_residual: f64,
    /// Largest angle from a goal's rotation, in radians, over goals of the first priority.
    pub rotation_residual: f64,
    /// Position tolerance of the solve, in metres.
    pub position_tolerance: f64,
    /// Rotation tolerance of the solve, in radians.
    pub rotation_tolerance: f64,
}

impl JointSpaceReport {
    /// Whether both residuals are within the tolerances.
    pub fn reached(&self) -> bool {
        self.position_residual <= self.position_tolerance && self.rotation_residual <= self.rotation_tolerance
    }
}

/// Reason why a solver refused. The values are as they were.
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
    /// All answers were requested, and they are infinitely many.
    #[error("goals of {directions} directions leave {dofs} degrees of freedom infinitely many answers")]
    Redundant {
        /// Degrees of freedom that the goals depend on.
        dofs: usize,
        /// Directions with a weight.
        directions: usize,
    },
    /// The goals differ in links or priorities from those that the solver was made for.
    #[error("the goals differ in links or priorities from those that the solver was made for")]
    OtherLinks,
    /// An option is out of its range.
    #[error("{what} must be {range}, not {value}")]
    Setting {
        /// Name of the option.
        what: &'static str,
        /// Allowed values.
        range: &'static str,
        /// Its value.
        value: f64,
    },
    /// A goal is invalid.
    #[error(transparent)]
    Goal(#[from] LinkGoalError),
    /// An objective is invalid.
    #[error(transparent)]
    Objective(#[from] ObjectiveError),
    /// The values do not fit the mechanism.
    #[error(transparent)]
    Values(#[from] ValuesError),
}

impl JointSpaceOptions {
    /// Checks that every number is in its range.
    pub(super) fn check(&self) -> Result<(), JointSpaceError> {
        positive("the position tolerance", self.position_tolerance)?;
        positive("the rotation tolerance", self.rotation_tolerance)
    }
}

/// Returns an error unless an option is finite and above 0.
pub(super) fn positive(what: &'static str, value: f64) -> Result<(), JointSpaceError> {
    match value.is_finite() && value > 0.0 {
        true => Ok(()),
        false => Err(JointSpaceError::Setting { what, range: "finite and above 0", value }),
    }
}
