//! How a solve went.

use glam::Vec3;
use thiserror::Error;

/// What a solver did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Outcome {
    /// It came to what it works towards: the goal or, in a soft zone, the place that the zone gives for it. A closed form comes
    /// to the nearest place where the goal is out of reach; see [`Report::reached`].
    #[default]
    Converged,
    /// No step led nearer, or none that was allowed (limits; the largest turn in a solve).
    Stalled,
    /// The iterations were used up.
    OutOfIterations,
}

/// How a solve went, measured on the pose that it left.
///
/// An influence, of the options or of a goal, changes how far the pose goes and nothing of how it is measured: residuals are
/// those of the whole goal. At influence 0 the pose stays, the outcome is [`Outcome::Converged`], and the residuals are those
/// of the pose as it came in. Only of a full body's goals is one of influence 0 absent: it has no residual.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// What the solver did.
    pub outcome: Outcome,
    /// How far the goal lies out of the chain's reach (too far or too near), in metres; 0 where bones and slides, whatever their
    /// limits of turning, could meet it. A soft zone lies within the reach.
    pub out_of_reach: f32,
    /// Updates of the whole chain; 0 where nothing had to move, 1 for a closed form.
    pub iterations: u32,
    /// Ways out of a standstill that were tried: preferred values or a bend first, then fresh
    /// starts. 0 for solvers that have none.
    pub restarts: u32,
    /// Distance from the chain's end to the goal's position, in metres; 0 without one.
    pub position_residual: f32,
    /// Angle from the tip's rotation to the goal's, in radians; 0 without one.
    pub rotation_residual: f32,
    /// The position residual in metres up to which the goal counts as reached: the tolerance and what f32 cannot tell.
    pub position_tolerance: f32,
    /// The rotation residual in radians up to which the goal counts as reached.
    pub rotation_tolerance: f32,
    /// Whether the pose that is left lies on another branch than the one that came in. Without a pole or swivel: whether the
    /// largest turn of a joint, in radians, is above
    ///
    /// ```text
    /// 8 d / L + 16 a + 0.001
    /// ```
    ///
    /// with d the distance that the tip moved, L the length of the chain (the size of the figure) that came in, and a the
    /// angle in radians that the tip turned where a rotation is asked of it (half a radian counts as a length). Of several
    /// places that are asked for, the tip's that moved furthest counts: the root's where the root is put somewhere, that of
    /// the end that [`Follow`](crate::solve::Follow) leads, each joint's on a [`Spline`](crate::solve::Spline). The bones
    /// of a [`PointChain`](crate::solve::PointChain) turn as joints do; slides turn nothing.
    ///
    /// With a pole or swivel (a side, in the plane): whether the bend, the mean of the joints between root and tip, turned
    /// by more than a right angle about the line from root to tip, which takes it along by the shortest arc. The bend of a
    /// limb ([`TwoBone`](crate::solve::TwoBone)) is its middle joint; straight, it has none. For
    /// [`Aim`](crate::solve::Aim) with an up vector, whether the joint's own up so turned about the ray; without one the
    /// ray's motion explains any turn.
    pub branch_changed: bool,
}

impl Report {
    /// Whether the pose that is left meets the goal: both residuals are within their tolerances.
    pub fn reached(&self) -> bool {
        self.position_residual <= self.position_tolerance && self.rotation_residual <= self.rotation_tolerance
    }
}

/// Why a solver refused to work. The pose is as it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A goal or an option holds NaN or an infinity.
    #[error("{what} is not finite: {value}")]
    NotFinite {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: Vec3,
    },
    /// A number is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// What it is.
        what: &'static str,
        /// What is allowed.
        range: &'static str,
        /// Its value.
        value: f32,
    },
    /// The state was made by another solver.
    #[error(
        "the state was made by another {solver}, for {given} {what} (this one has {wanted}): take one from its `state` method"
    )]
    State {
        /// What kind of solver it is.
        solver: &'static str,
        /// What they differ in. Where the numbers are the same, they are other ones.
        what: &'static str,
        /// How many the state has.
        given: usize,
        /// How many the solver has.
        wanted: usize,
    },
    /// There must be one goal for each effector.
    #[error("{given} goals were given for {wanted} effectors")]
    GoalCount {
        /// How many were given.
        given: usize,
        /// How many effectors there are.
        wanted: usize,
    },
    /// The solver has no middle joint that a pole or swivel could turn.
    #[error("goal {goal} has a pole or swivel, but its limb has no middle joint that could turn")]
    Pole {
        /// Which goal, from 0.
        goal: usize,
    },
    /// Two goals ask one joint for two rotations.
    #[error(
        "goals {first} and {second} contradict each other: each asks joint `{joint}` for another rotation"
    )]
    Contradiction {
        /// Which goal, from 0.
        first: usize,
        /// Which other.
        second: usize,
        /// Name of the joint.
        joint: alloc::string::String,
    },
    /// The pose holds NaN or an infinity.
    #[error(transparent)]
    Pose(#[from] crate::PoseError),
    /// The chain does not fit the pose or the solver.
    #[error(transparent)]
    Chain(#[from] crate::ChainError),
    /// A joint asks for what the solver cannot honour. (Most solvers refuse at construction.)
    #[error(transparent)]
    Joint(#[from] crate::joint::UnsupportedAttribute),
}
