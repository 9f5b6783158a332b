//! The solver for a chain, chosen by its joints.

use super::{
    ChainSolver, ChainSolverError, FreeChain,
    ccd::{self, Brake, Sweeps},
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attributes, Capability},
};

/// The solver that an [`Auto`] has chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AutoMethod {
    /// [`FreeChain`]: every joint that turns is free.
    Free,
    /// Steps of damped least squares on the whole chain, and sweeps of cyclic coordinate descent where they stall: some
    /// joint has limits, slides, has a preferred value, or resists.
    Limited,
}

/// Chooses the best solver for a chain: [`FreeChain`] where all its joints are free, else a combination of three.
///
/// Steps of damped least squares (those of [`DampedLeastSquares`](super::DampedLeastSquares)) come first. Where they stall,
/// sweeps of cyclic coordinate descent follow, with steps between; a joint at its limits glides along them. Where these
/// stall, the chain restarts: from preferred values if it has any, from a bent chain if it is straight, and from a fixed
/// sequence of poses within the limits.
///
/// A chain with limits that cannot meet its goal minimises the sum of the residual and, with a far smaller weight, its
/// joints' turns. That minimum is a single pose, which moves with the goal. It may be further from the goal than another
/// pose by up to a hundredth of the chain's length. The steps that lead there are not counted as iterations.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, joint::{Dof, Joint}};
/// use sinew::solve::{Auto, AutoMethod, IterativeOptions};
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
/// let lamp = Auto::new(&skeleton, ids[0], ids[3])?;
/// assert_eq!(lamp.method(), AutoMethod::Limited);
/// let mut pose = Pose::rest(&skeleton);
/// let goal = Goal::position(Vec3::new(0.3, 0.5, 0.4));
/// let report = lamp.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new())?;
/// assert!(report.position_residual < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Measurements
///
/// The choice is by measurement (`lab/chain`, `lab/limits`): 2,000 goals a row, to a thousandth of the length, at most 1,000
/// sweeps or steps. Times are median microseconds on one machine; brackets hold the share of goals met where it is not
/// all:
///
/// | chain | `Auto` | `Ccd` | `Fabrik` | `DampedLeastSquares` |
/// |---|---|---|---|---|
/// | 10 free bones | 0.4 | 10 | 5 | 3 |
/// | 100 free bones | 1.4 | 1340 (86.1 %) | 130 | 26 |
/// | 10 free bones, goals at 95-99.99 % of the reach, to 1e-5 | 0.3 | 1000 (26.9 %) | 278 (79.6 %) | 4 (99.9 %) |
/// | 10 free bones, straight, the goal on their line | 0.6 | (0 %) | (0.5 %) | (0 %) |
/// | 10 cones of 45 degrees, twist of 30 | 6 | 44 | 18 (99.95 %) | 6 |
/// | 10 hinges of 60 degrees | 4 | 26 (95.6 %) | 830 (87.2 %) | 4 (96.4 %) |
///
/// Drawn by the example `auto`:
///
#[doc = include_str!("../../pictures/auto.svg")]
#[derive(Clone, Debug)]
pub struct Auto {
    solver: Solver,
    /// Factor by which bones may become longer where the goal is out of reach or in the soft zone, 1 (none) or more.
    pub stretch: f32,
}

pub(super) const CAPABILITY: Capability = Capability::new("auto", ccd::CAPABILITY.honoured);

/// Not boxed: a solver has a few hundred bytes, and a program has few solvers.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
enum Solver {
    Free(FreeChain),
    Limited(ChainPlan),
}

impl Auto {
    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        // The tip is checked as well: it turns where a goal names a rotation.
        let free = chain.joints().iter().all(|&j| skeleton.joint(j).attributes() == Attributes::NONE);
        let solver = if free {
            Solver::Free(FreeChain::from_chain(skeleton, chain)?)
        } else {
            Solver::Limited(ChainPlan::new(skeleton, chain, CAPABILITY, Method::Both)?)
        };
        Ok(Self { solver, stretch: 1.0 })
    }

    /// The solver that was chosen.
    pub fn method(&self) -> AutoMethod {
        match self.solver {
            Solver::Free(_) => AutoMethod::Free,
            Solver::Limited(_) => AutoMethod::Limited,
        }
    }
}

impl ChainSolver for Auto {
    fn chain(&self) -> &Chain {
        match &self.solver {
            Solver::Free(solver) => solver.chain(),
            Solver::Limited(plan) => plan.chain(),
        }
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        match &self.solver {
            Solver::Free(solver) => solver.stretched(self.stretch, workspace, request),
            Solver::Limited(plan) => {
                let sweeps = Sweeps { parts: &plan.parts, brake: Brake::NONE, glides: true };
                plan.solve(workspace, &sweeps, self.stretch, request)
            }
        }
    }

    fn reserve(&self, workspace: &mut Workspace) {
        match &self.solver {
            Solver::Free(solver) => solver.reserve(workspace),
            Solver::Limited(plan) => plan.reserve(workspace),
        }
    }
}
