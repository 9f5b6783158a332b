//! What iterative solvers of chains are told.

use glam::Vec3;

use crate::{SolveError, solve::check};

/// What [`Ccd`](crate::solve::Ccd), [`Fabrik`](crate::solve::Fabrik) and
/// [`DampedLeastSquares`](crate::solve::DampedLeastSquares) are told alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IterativeOptions {
    /// How near the end must come, as a part of the chain's length, above 0 to 1. A chain that is this near stays as it is.
    pub tolerance: f32,
    /// How near the tip's rotation must come, in radians.
    pub rotation_tolerance: f32,
    /// Sweeps (of [`DampedLeastSquares`](crate::solve::DampedLeastSquares): steps) after which it ends, those after fresh
    /// starts included. Where bones may [`stretch`](Self::stretch) and that leads away from the goal, the chain is solved once
    /// more without, by as many again at most.
    pub max_iterations: u32,
    /// Fresh starts after it has stalled: the first from preferred values, or where there are none from a bend, others from
    /// poses within the limits that are always the same. One that meets the goal ends the search; else the first answer stays
    /// unless another comes nearer by a hundredth of the chain's length. With [`max_turn`](Self::max_turn) there are none.
    pub max_restarts: u32,
    /// The direction in model space in which the first bone is put; the root then turns for nothing else.
    pub base_direction: Option<Vec3>,
    /// Where in model space the root is put; without it, it stays.
    pub root_position: Option<Vec3>,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](crate::solve::soften).
    pub soft: f32,
    /// By what factor bones (that do not slide) may become longer where the goal is too far or in the soft zone, 1 (none)
    /// or more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// The furthest that a joint may turn in one solve from where it came in, in radians; infinite (the default) for no
    /// bound. In a game, the speed of its joints times the time of a frame: with some eight radians a second a chain follows
    /// a goal that crosses its length in a second. It counts within each sweep, as limits do. No frame leaves more missing
    /// than it found, and the report says how much is left.
    pub max_turn: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    #[doc(alias = "alpha")]
    pub weight: f32,
}

impl Default for IterativeOptions {
    /// A ten-thousandth of the length and a thousandth of a radian, in 32 sweeps without fresh starts; nothing else is asked.
    fn default() -> Self {
        Self {
            tolerance: 1e-4,
            rotation_tolerance: 1e-3,
            max_iterations: 32,
            max_restarts: 0,
            base_direction: None,
            root_position: None,
            soft: 0.0,
            stretch: 1.0,
            max_turn: f32::INFINITY,
            weight: 1.0,
        }
    }
}

impl IterativeOptions {
    pub(super) fn check(&self) -> Result<(), SolveError> {
        check::within("the tolerance", "above 0 to 1", self.tolerance, f32::MIN_POSITIVE, 1.0)?;
        check::within(
            "the rotation's tolerance",
            "above 0",
            self.rotation_tolerance,
            f32::MIN_POSITIVE,
            f32::MAX,
        )?;
        check::finite("the base's direction", self.base_direction.unwrap_or_default())?;
        if let Some(direction) = self.base_direction {
            let l = direction.length_squared();
            check::within(
                "the square of the base direction's length",
                "above 0",
                l,
                f32::MIN_POSITIVE,
                f32::MAX,
            )?;
        }
        check::finite("the root's position", self.root_position.unwrap_or_default())?;
        check::within("the soft zone", "0 to 1", self.soft, 0.0, 1.0)?;
        check::within("the stretch", "1 or more", self.stretch, 1.0, f32::MAX)?;
        check::within("the largest turn", "above 0", self.max_turn, f32::MIN_POSITIVE, f32::INFINITY)?;
        check::within("the chain's weight", "0 to 1", self.weight, 0.0, 1.0)
    }
}
