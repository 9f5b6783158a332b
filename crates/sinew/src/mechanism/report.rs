//! What a solver is told, how it went, and why it refused.

use alloc::string::String;

use thiserror::Error;

use super::{LinkGoalError, ObjectiveError, ValuesError};
use crate::Status;

/// What an answer depends on, beside the goals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum History {
    /// The values that come in: the search begins there, and the answer is near them where one is. Along a path the arm
    /// goes smoothly; but when a path closes, the arm need not be where it was, if it has joints to spare.
    #[default]
    Last,
    /// The goals alone: the search begins at rest, whatever comes in. The same goal gives the same values each time,
    /// and a path that closes brings the arm back; but two near goals may have answers far apart.
    None,
}

/// How a solve is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointSpaceOptions {
    /// How near the position must be, in metres.
    pub position_tolerance: f64,
    /// How near the rotation must be, in radians.
    pub rotation_tolerance: f64,
    /// Most iterations of a solve, over all its runs. One takes about a microsecond.
    pub max_iterations: u32,
    /// Most starts besides the first. 0 keeps the arm on the branch that it is on.
    pub max_restarts: u32,
    /// Which points restarts begin at: each seed has its own fixed sequence.
    pub seed: u64,
    /// Metres that a radian counts where positions are weighed against rotations, and a slider's way against angles;
    /// by default a quarter of the chain's length from its first joint to the tip, sliders drawn out.
    pub length: Option<f64>,
    /// What the answer depends on.
    pub history: History,
}

impl Default for JointSpaceOptions {
    fn default() -> Self {
        Self {
            position_tolerance: 1e-6,
            rotation_tolerance: 1e-6,
            max_iterations: 10_000,
            max_restarts: 400,
            seed: 0,
            length: None,
            history: History::Last,
        }
    }
}

/// How a solve went, measured on the values that it left.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct JointSpaceReport {
    /// What became of the goals of the first priority.
    pub status: Status,
    /// Steps of all runs; 0 where nothing had to move.
    pub iterations: u32,
    /// Starts besides the first. Where there are any, the answer may lie on another branch.
    pub restarts: u32,
    /// The largest distance from a goal's position, in metres, over goals of the first priority.
    pub position_residual: f64,
    /// The largest angle from a goal's rotation, in radians.
    pub rotation_residual: f64,
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
        let positive = |what, value: f64| match value.is_finite() && value > 0.0 {
            true => Ok(()),
            false => Err(JointSpaceError::Setting { what, range: "finite and above 0", value }),
        };
        positive("the position tolerance", self.position_tolerance)?;
        positive("the rotation tolerance", self.rotation_tolerance)?;
        positive("the length of a radian", self.length.unwrap_or(1.0))
    }
}
