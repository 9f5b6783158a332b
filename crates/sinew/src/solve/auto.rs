//! The solver for a chain, chosen by what its joints may do.

use super::{
    ChainSolverError, FreeChain, IterativeOptions,
    ccd::{HONOURED, Sweeps},
    chain_state::parts,
    check,
    iterate::{Iteration, Method, admit},
};
use crate::{Chain, Goal, JointId, Pose, Report, Skeleton, SolveError, joint::Attributes};

/// Which solver an [`Auto`] has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AutoMethod {
    /// [`FreeChain`]: every joint that turns is free.
    Free,
    /// Steps of damped least squares on the whole chain, and sweeps of cyclic coordinate descent where they come to rest:
    /// some joint has limits, slides, has a preferred value, or resists.
    Limited,
}

/// The solver that serves a chain best: [`FreeChain`] where all its joints are free. Else steps of damped least squares
/// (those of [`DampedLeastSquares`](super::DampedLeastSquares)) first; where they come to rest, sweeps of cyclic coordinate
/// descent in which a joint that meets its limits glides along them, with steps between; where these stall, fresh starts: from
/// preferred values, a bent chain, and poses within the limits that are always the same.
///
/// A chain with limits that cannot meet its goal comes to rest where the residual and, by far less, its joints' turns are least
/// together: one pose, that moves with the goal. It may be further from the goal than another by up to a hundredth of the
/// chain's length. The steps that lead there are not counted as iterations.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, joint::{Dof, Joint}, solve::{Auto, AutoMethod}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("base", None, JointTransform::IDENTITY);
/// for name in ["lower", "upper", "lamp"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::Y * 0.4));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// assert_eq!(Auto::new(&skeleton, ids[0], ids[3])?.method(), AutoMethod::Free);
///
/// skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0)))?;
/// let skeleton = Arc::new(skeleton);
/// let mut lamp = Auto::new(&skeleton, ids[0], ids[3])?;
/// assert_eq!(lamp.method(), AutoMethod::Limited);
/// let mut pose = Pose::rest(&skeleton);
/// let report = lamp.solve(&mut pose, &Goal::at(Vec3::new(0.3, 0.5, 0.4)))?;
/// assert!(report.position_residual < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Why these
///
/// The choice is by measurement (`lab/chain`, `lab/limits`; 2,000 goals a row, to a thousandth of the length, median
/// microseconds on one machine, at most 1,000 sweeps or steps, in brackets the share of goals met where it is not all):
///
/// | chain | `Auto` | `Ccd` | `Fabrik` | `DampedLeastSquares` |
/// |---|---|---|---|---|
/// | 10 free bones | 0.4 | 13 | 6 | 8 |
/// | 100 free bones | 1.5 | 1510 (86.1 %) | 159 | 73 |
/// | 10 free bones, goals at 95-99.99 % of the reach, to 1e-5 | 0.4 | 1340 (26.9 %) | 344 (79.6 %) | 14 (99.8 %) |
/// | 10 free bones, straight, the goal on their line | 0.6 | (0 %) | (0.5 %) | (0 %) |
/// | 10 cones of 45 degrees, twist of 30 | 11 | 54 | 22 (99.95 %) | 12 |
/// | 10 hinges of 60 degrees | 12 | 35 (95.6 %) | 920 (87.2 %) | 13 (96.8 %) |
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
    /// Fresh starts after it has stalled; the first way out (preferred values, or a bend) does not count.
    pub max_restarts: u32,
    /// The soft zone at the end of the reach, as a part of the reach, 0 (none) to 1; see [`soften`](super::soften).
    pub soft: f32,
    /// By what factor bones may become longer where the goal is too far or in the soft zone, 1 (none) or more.
    pub stretch: f32,
    /// The furthest that a joint may turn in one solve from where it came in, in radians; infinite (the default) for no
    /// bound. In a game, the speed of its joints times the time of a frame: with some eight radians a second a chain follows
    /// a goal that crosses its length in a second, and where the goal passes its pole, the end of what its limits reach, or
    /// a fold, it comes round in some frames instead of one. Steps do what can be done within the bound; where that does not
    /// meet the goal, the chain goes on the way to the answer without a bound, as far as it may. No frame leaves more missing
    /// than it found, and the report says how much is left. A frame that is on its way makes up to two solves' updates.
    pub max_turn: f32,
    /// How much of the goal is carried out, 0 to 1; it multiplies the goal's own weights.
    #[doc(alias = "alpha")]
    pub weight: f32,
}

/// A solver has a few hundred bytes, of which a program has few: nothing is gained by a box.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Solver {
    Free(FreeChain),
    Limited { iteration: Iteration, sweeps: Sweeps },
}

impl Auto {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        // The tip turns as well, where a goal names a rotation.
        let free = chain.joints().iter().all(|&j| skeleton.joint(j).attributes() == Attributes::NONE);
        let solver = if free {
            Solver::Free(FreeChain::from_chain(skeleton, chain)?)
        } else {
            admit(skeleton, &chain, "auto", HONOURED)?;
            let parts = parts(skeleton, &chain);
            let iteration = Iteration::new(skeleton, chain, &parts, Method::Both);
            Solver::Limited { iteration, sweeps: Sweeps::new(parts, true) }
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
    pub fn method(&self) -> AutoMethod {
        match self.solver {
            Solver::Free(_) => AutoMethod::Free,
            Solver::Limited { .. } => AutoMethod::Limited,
        }
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        match &self.solver {
            Solver::Free(solver) => solver.chain(),
            Solver::Limited { iteration, .. } => iteration.links.chain(),
        }
    }

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated, with every joint within its limits, or no further out than it came in. With a pole, the chain turns about
    /// the axis from its root to its end. See [`FreeChain::solve`] for free joints.
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
            Solver::Limited { iteration, sweeps } => {
                let settings = IterativeOptions {
                    tolerance: self.tolerance.max(f32::MIN_POSITIVE),
                    rotation_tolerance: self.rotation_tolerance,
                    max_iterations: self.max_iterations,
                    max_restarts: self.max_restarts,
                    base_direction: None,
                    root_position: None,
                    soft: self.soft,
                    stretch: self.stretch,
                    max_turn: self.max_turn,
                    weight: self.weight,
                };
                iteration.solve(sweeps, &settings, pose, goal, None)
            }
        }
    }
}
