//! Options of a solve.

use super::check;
use crate::{SolveError, option_type::option_type};

/// The distance from the goal within which a solver counts it as met.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Tolerance {
    /// A share of the length of the chain (for the full body: of its size), above 0, at most 1.
    Share(f32),
    /// A distance in metres, above 0.
    Metres(f32),
}

impl Default for Tolerance {
    /// A ten-thousandth of the length.
    fn default() -> Self {
        Self::Share(1e-4)
    }
}

impl Tolerance {
    /// The tolerance in metres, for a chain of `length` metres.
    pub fn metres(self, length: f32) -> f32 {
        match self {
            Self::Share(share) => share * length,
            Self::Metres(metres) => metres,
        }
    }

    /// The distances in metres within which a solver counts a goal as met and its report as reached. The second is larger,
    /// as forward kinematics of the pose rounds differently from the solver's.
    pub(crate) fn with_rounding(self, length: f32, rounding: f32) -> (f32, f32) {
        let near = self.metres(length).max(rounding);
        (near, near + 2.0 * rounding)
    }

    /// The tolerance as a share of the length, at most 1, for a chain of `length` metres.
    pub(crate) fn share(self, length: f32) -> f32 {
        match self {
            Self::Share(share) => share,
            Self::Metres(metres) => (metres / length).min(1.0),
        }
    }

    pub(crate) fn check(self) -> Result<(), SolveError> {
        let (what, value, max) = match self {
            Self::Share(share) => ("the position tolerance", share, 1.0),
            Self::Metres(metres) => ("the position tolerance in metres", metres, f32::MAX),
        };
        let range = if max == 1.0 { "above 0 to 1" } else { "above 0" };
        check::above_zero(what, range, value, max)
    }
}

/// Angle in radians within which [`Report::reached`](crate::Report::reached) counts a rotation as met, where options have no
/// tolerance of their own.
pub(crate) const ROTATION_TOLERANCE: f32 = 1e-3;

option_type! {
    /// Options of [`Aim`](crate::solve::Aim) and [`LookAt`](crate::solve::LookAt).
    Options {
        /// Share of the result that is applied, 0 (none) to 1 (all, the default), in joint coordinates.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
        /// Maximum angle in radians by which a joint may turn in one solve; infinite (the default) for no bound.
        #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
        max_turn, with_max_turn: f32 = f32::INFINITY;
    }
}

option_type! {
    /// Options of [`TwoBone`](crate::solve::TwoBone).
    LimbOptions {
        /// Share of the result that is applied, 0 (none) to 1 (all, the default), in joint coordinates. It multiplies the
        /// goal's own influences.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
        /// Maximum angle in radians by which a joint may turn in one solve; infinite (the default) for no bound.
        #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
        max_turn, with_max_turn: f32 = f32::INFINITY;
        /// Length of the soft zone before full extension, as a share of the reach, 0 (none, the default) to 1; see
        /// [`soften`](crate::solve::soften).
        soft, with_soft: f32 = 0.0;
        /// Flexion in radians that remains where the goal is out of reach, 0 (a straight limb, the default) to pi. The reach
        /// ends at that flexion, and a soft zone lies before it.
        min_flexion, with_min_flexion: f32 = 0.0;
    }
}

option_type! {
    /// Options of solvers that iterate.
    IterativeOptions {
        /// Share of the result that is applied, 0 (none) to 1 (all, the default), in joint coordinates. It multiplies the
        /// goal's own influences.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
        /// Maximum angle in radians by which a joint may turn in one solve; infinite (the default) for no bound. In a game,
        /// use the maximum angular speed times the frame time; 8 rad/s looks right. A bounded solve never increases the
        /// residual, and the report states what remains of it.
        #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
        max_turn, with_max_turn: f32 = f32::INFINITY;
        /// Length of the soft zone before full extension, as a share of the reach, 0 (none, the default) to 1; see
        /// [`soften`](crate::solve::soften).
        soft, with_soft: f32 = 0.0;
        /// Distance from the goal at which the end counts as there; a ten-thousandth of the length by default. A pose within
        /// the tolerances stays as it is. The closed form ([`TwoBone`](crate::solve::TwoBone)) still moves as near as it
        /// can.
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-4);
        /// Angle from the goal's rotation at which the tip counts as there, in radians, above 0; 1e-3 by default.
        rotation_tolerance, with_rotation_tolerance: f32 = 1e-3;
        ? /// Maximum number of iterations, including those after restarts; `None` (the default) for the solver's own.
        max_iterations, with_max_iterations: u32;
        ? /// Maximum number of restarts after a stall; `None` (the default) for the solver's own.
        max_restarts, with_max_restarts: u32;
    }
}

/// Checks an influence (0 to 1) and a bound on turns (above 0).
pub(crate) fn check_common(influence: f32, max_turn: f32) -> Result<(), SolveError> {
    check::within("the influence", "0 to 1", influence, 0.0, 1.0)?;
    check::above_zero("the largest turn", "above 0", max_turn, f32::INFINITY)
}

/// Checks the length of a soft zone, as a share of the reach (0 to 1).
pub(crate) fn check_soft(soft: f32) -> Result<(), SolveError> {
    check::within("the soft zone", "0 to 1", soft, 0.0, 1.0)
}

/// Checks the factor by which bones may become longer (1 or more).
pub(crate) fn check_stretch(stretch: f32) -> Result<(), SolveError> {
    check::within("the stretch", "1 or more", stretch, 1.0, f32::MAX)
}

impl Options {
    pub(crate) fn check(&self) -> Result<(), SolveError> {
        check_common(self.influence, self.max_turn)
    }
}

impl LimbOptions {
    pub(crate) fn check(&self) -> Result<(), SolveError> {
        check_common(self.influence, self.max_turn)?;
        check_soft(self.soft)?;
        check::within("the smallest flexion", "0 to pi", self.min_flexion, 0.0, core::f32::consts::PI)
    }
}

impl IterativeOptions {
    pub(crate) fn check(&self) -> Result<(), SolveError> {
        check_common(self.influence, self.max_turn)?;
        check_soft(self.soft)?;
        self.position_tolerance.check()?;
        check::above_zero("the rotation tolerance", "above 0", self.rotation_tolerance, f32::MAX)
    }
}
