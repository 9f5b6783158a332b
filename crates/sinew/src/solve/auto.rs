//! The solver for a chain, chosen by what its joints may do.

use super::{Ccd, ChainSettings, ChainSolverError, FreeChain, LeastSquares, check};
use crate::{Chain, Goal, JointId, Pose, Report, Skeleton, SolveError, joint::Attributes};

/// Which solver an [`Auto`] has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Choice {
    /// [`FreeChain`]: every joint that turns is free.
    Free,
    /// [`Ccd`] with [`LeastSquares::First`]: some joint has limits, or slides.
    Limited,
}

/// The solver that serves a chain best: [`FreeChain`] where all its joints are free, else
/// [`Ccd`] with damped least squares first.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, Transform, glam::Vec3, joint::{Dof, Joint}, solve::{Auto, Choice}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("base", None, Transform::IDENTITY);
/// for name in ["lower", "upper", "lamp"] {
///     joint = builder.add(name, Some(joint), Transform::from_translation(Vec3::Y * 0.4));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// assert_eq!(Auto::new(&skeleton, ids[0], ids[3])?.choice(), Choice::Free);
///
/// skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0)))?;
/// let skeleton = Arc::new(skeleton);
/// let mut lamp = Auto::new(&skeleton, ids[0], ids[3])?;
/// assert_eq!(lamp.choice(), Choice::Limited);
/// let mut pose = Pose::rest(&skeleton);
/// let report = lamp.solve(&mut pose, &Goal::at(Vec3::new(0.3, 0.5, 0.4)))?;
/// assert!(report.position_residual < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Why these
///
/// The choice is by measurement (`lab/chain`, `lab/limits`; 2,000 goals a row, to a thousandth of the length, median
/// microseconds on one machine, in brackets the share of goals met where it is not all):
///
/// | chain | free | ccd | ccd, steps first | fabrik | fabrik alone |
/// |---|---|---|---|---|---|
/// | 10 free bones | 0.5 | 8 | 8 | 7 | 7 |
/// | 100 free bones | 2.0 | 337 (96.9 %) | 80 | 77 | 202 |
/// | 10 free bones, goals at 95-99.99 % of the reach, to 1e-5 | 0.5 | 21 (99.9 %) | 11 (99.9 %) | 9 | 381 (87 %) |
/// | 10 cones of 45 degrees, twist of 30 | | 21 | 18 | 20 | 37 |
/// | 10 hinges of 60 degrees | | 14 (99.95 %) | 14 (99.95 %) | 21 | 1056 (96.3 %) |
///
/// Drawn by the example `auto`:
///
#[doc = include_str!("../../pictures/auto.svg")]
#[derive(Clone, Debug)]
pub struct Auto {
    solver: Solver,
    /// How near the end must come, as a part of the chain's length, 0 to 1 (what f32 can tell is the least). A chain that is
    /// this near stays as it is.
    pub tolerance: f32,
    /// How near the tip's rotation must come, in radians, above 0, where limits stand in its way.
    pub rotation_tolerance: f32,
    /// Updates of the whole chain after which it gives up.
    pub max_iterations: u32,
    /// Fresh starts after it has stalled.
    pub max_restarts: u32,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](super::soften).
    pub soft: f32,
    /// By what factor bones may become longer where the goal is too far or in the soft zone, 1 (none) or more.
    pub stretch: f32,
    /// The furthest that a joint may turn in one solve; see [`ChainSettings::max_turn`].
    pub max_turn: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    pub weight: f32,
}

/// A solver has a few hundred bytes, of which a program has few: nothing is gained by a box.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Solver {
    Free(FreeChain),
    Limited(Ccd),
}

impl Auto {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        // The tip turns as well, where a goal names a rotation.
        let free = chain.joints().iter().all(|&j| skeleton.freedom(j).attributes() == Attributes::NONE);
        let solver = if free {
            Solver::Free(FreeChain::from_chain(skeleton, chain)?)
        } else {
            let mut ccd = Ccd::from_chain(skeleton, chain)?;
            ccd.settings.least_squares = LeastSquares::First;
            Solver::Limited(ccd)
        };
        Ok(Self {
            solver,
            tolerance: 1e-4,
            rotation_tolerance: 1e-3,
            max_iterations: 200,
            max_restarts: 4,
            soft: 0.0,
            stretch: 1.0,
            max_turn: f32::INFINITY,
            weight: 1.0,
        })
    }

    /// What was chosen.
    pub fn choice(&self) -> Choice {
        match self.solver {
            Solver::Free(_) => Choice::Free,
            Solver::Limited(_) => Choice::Limited,
        }
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        match &self.solver {
            Solver::Free(solver) => solver.chain(),
            Solver::Limited(solver) => solver.chain(),
        }
    }

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated. See [`FreeChain::solve`] and [`Ccd::solve`].
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        // One range, whichever solver was chosen.
        check::within("the tolerance", "0 to 1", self.tolerance, 0.0, 1.0)?;
        let turn = self.rotation_tolerance;
        check::within("the rotation's tolerance", "above 0", turn, f32::MIN_POSITIVE, f32::MAX)?;
        match &mut self.solver {
            Solver::Free(solver) => {
                (solver.tolerance, solver.max_iterations) = (self.tolerance, self.max_iterations);
                (solver.soft, solver.stretch, solver.weight) = (self.soft, self.stretch, self.weight);
                solver.max_turn = self.max_turn;
                solver.solve(pose, goal)
            }
            Solver::Limited(solver) => {
                solver.settings = ChainSettings {
                    tolerance: self.tolerance.max(f32::MIN_POSITIVE),
                    rotation_tolerance: self.rotation_tolerance,
                    max_iterations: self.max_iterations,
                    max_restarts: self.max_restarts,
                    soft: self.soft,
                    stretch: self.stretch,
                    max_turn: self.max_turn,
                    weight: self.weight,
                    ..solver.settings
                };
                solver.solve(pose, goal)
            }
        }
    }
}
