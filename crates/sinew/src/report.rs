//! Reports of solvers and their errors.

use glam::Vec3;
use thiserror::Error;

/// The way in which a solve ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// The solver reached its target: the goal or, within a soft zone, the position that the zone sets. A closed form
    /// reports this at the nearest position to an unreachable goal; see [`Report::reached`].
    #[default]
    Converged,
    /// No step reduced the residual, or limits or the maximum turn in a solve allowed none.
    Stalled,
    /// The maximum number of iterations was reached.
    OutOfIterations,
}

/// The result of a solve, measured on the output pose.
///
/// An influence, of the options or of a goal, changes the pose and not the measurement: residuals are those of the full
/// goal. At influence 0 the pose is unchanged, the outcome is [`Outcome::Converged`], and the residuals are those of the
/// input pose. In a full body, a goal with influence 0 is ignored and has no residual.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// The way in which the solve ended.
    pub outcome: Outcome,
    /// Distance of the goal from the chain's reach (too far or too near), in metres; 0 where bones and slides could meet
    /// it if joints turned without limits. A soft zone is part of the reach.
    pub out_of_reach: f32,
    /// Number of updates of the whole chain: 0 if the pose already met the goal, 1 for a closed form.
    pub iterations: u32,
    /// Number of attempts to leave a local minimum: first preferred values or a bend, then fresh starts. 0 for solvers
    /// without such attempts.
    pub restarts: u32,
    /// Distance from the chain's end to the goal's position, in metres; 0 without a position goal.
    pub position_residual: f32,
    /// Angle between the tip's rotation and the goal's, in radians; 0 without a rotation goal.
    pub rotation_residual: f32,
    /// Maximum position residual, in metres, at which the goal counts as reached: the tolerance plus f32's rounding
    /// error.
    pub position_tolerance: f32,
    /// Maximum rotation residual, in radians, at which the goal counts as reached.
    pub rotation_tolerance: f32,
    /// Whether the output pose lies on another branch than the input pose.
    ///
    /// Without a pole or swivel angle, the branch changed if the largest turn of a joint, in radians, is above
    ///
    /// ```text
    /// 8 d / L + 16 a + 0.001
    /// ```
    ///
    /// where d is the displacement of the tip, L the length of the input chain (or the size of the figure), and a the
    /// turn of the tip in radians if the goal has a rotation. A turn of half a radian counts as a displacement by one
    /// length. With several targets, d is the largest of their displacements. The root counts if it has a target, the
    /// pulled end for [`Follow`](crate::solve::Follow), every joint for a [`Spline`](crate::solve::Spline). The bones of
    /// a [`PointChain`](crate::solve::PointChain) turn as joints do. Slides do not turn.
    ///
    /// With a pole or swivel angle (in the plane: a bend side), the branch changed if the bend turned by more than a
    /// right angle about the line from root to tip. The line's own motion, by the shortest arc, does not count. The bend
    /// is the mean of the joints between root and tip; for a limb ([`TwoBone`](crate::solve::TwoBone)), its middle
    /// joint. A straight chain has no bend. [`Aim`](crate::solve::Aim) with an up vector measures the joint's own up
    /// direction about the ray in the same way; without an up vector, the ray's motion explains any turn.
    pub branch_changed: bool,
}

impl Report {
    /// Whether the output pose meets the goal: both residuals are within their tolerances.
    pub fn reached(&self) -> bool {
        self.position_residual <= self.position_tolerance && self.rotation_residual <= self.rotation_tolerance
    }
}

/// Errors of solvers. The pose stays unchanged.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A vector of a goal or an option is NaN or infinite.
    #[error("{what} is not finite: {value}")]
    NotFinite {
        /// Name of the quantity.
        what: &'static str,
        /// The given value.
        value: Vec3,
    },
    /// A number of a goal or an option is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Name of the quantity.
        what: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The given value.
        value: f32,
    },
    /// The state belongs to another solver.
    #[error(
        "the state belongs to another {solver}, with {given} {what} (this one has {wanted}): create one with this one's `state` method"
    )]
    State {
        /// Name of the solver's kind.
        solver: &'static str,
        /// The parts that differ. Where the counts are equal, the parts themselves differ.
        what: &'static str,
        /// Number of these parts in the state.
        given: usize,
        /// Number of these parts in the solver.
        wanted: usize,
    },
    /// The number of goals differs from the number of effectors.
    #[error("{given} goals were given for {wanted} effectors")]
    GoalCount {
        /// Number of goals given.
        given: usize,
        /// Number of effectors.
        wanted: usize,
    },
    /// A goal has a part that the solver does not support.
    #[error("goal {goal} has {part}, which the solver `{solver}` does not support")]
    UnsupportedGoal {
        /// Index of the goal.
        goal: usize,
        /// The part.
        part: &'static str,
        /// Name of the solver.
        solver: &'static str,
    },
    /// A goal has a pole or swivel angle, but its limb has no middle joint.
    #[error("goal {goal} has a pole or swivel, but its limb has no middle joint that could turn")]
    Pole {
        /// Index of the goal.
        goal: usize,
    },
    /// Two goals ask for different rotations of one joint.
    #[error(
        "goals {first} and {second} contradict each other: they ask for different rotations of joint `{joint}`"
    )]
    Contradiction {
        /// Index of the first goal.
        first: usize,
        /// Index of the second goal.
        second: usize,
        /// Name of the joint.
        joint: alloc::string::String,
    },
    /// The pose is invalid: a transform is not finite, a rotation is invalid or a scale is zero.
    #[error(transparent)]
    Pose(#[from] crate::PoseError),
    /// The chain does not fit the pose or the solver.
    #[error(transparent)]
    Chain(#[from] crate::ChainError),
    /// A joint has an attribute that the solver does not support. Most solvers report this at construction.
    #[error(transparent)]
    Joint(#[from] crate::joint::UnsupportedAttribute),
}
