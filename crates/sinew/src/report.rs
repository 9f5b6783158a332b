//! How a solve went.

use glam::Vec3;
use thiserror::Error;

/// What became of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub enum Status {
    /// Met within the tolerance.
    #[default]
    Reached,
    /// Out of the chain's reach (too far or too near).
    Unreachable {
        /// How far out, in metres.
        by: f32,
    },
    /// No step led nearer, or none that was allowed (limits; the largest turn in a solve).
    Stalled,
    /// The iterations were used up.
    OutOfIterations,
}

/// How a solve went, measured on the pose that it left.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Report {
    /// What became of the goal.
    pub status: Status,
    /// Updates of the whole chain; 0 where nothing had to move, 1 for a closed form.
    pub iterations: u32,
    /// Ways out of a standstill that were tried: preferred values or a bend first, then fresh
    /// starts. 0 for solvers that have none.
    pub restarts: u32,
    /// Distance from the chain's end to the position asked for, in metres; 0 where none was.
    pub position_residual: f32,
    /// Angle from the tip's rotation to the one asked for, in radians; 0 where none was.
    pub rotation_residual: f32,
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

/// Why a solver refused to work. The pose is as it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SolveError {
    /// A goal or a setting holds NaN or an infinity.
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
    /// There must be one goal for each tip.
    #[error("{given} goals were given for {wanted} effectors")]
    GoalCount {
        /// How many were given.
        given: usize,
        /// How many tips there are.
        wanted: usize,
    },
    /// The solver has no middle joint that a pole could turn.
    #[error("goal {goal} has a pole, but its limb has no middle joint that could turn towards it")]
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
