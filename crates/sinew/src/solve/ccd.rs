//! Cyclic coordinate descent: one joint after another turns the chain's end as near to the goal as it can.

mod brake;
mod turn;

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes, Capability},
};
pub(super) use brake::Brake;
pub(super) use turn::Sweeps;

/// Cyclic coordinate descent (Wang & Chen 1991) in its textbook form, in 3D, on a chain of joints with any limits.
///
/// Each sweep goes from the tip's parent to the root, or in the order of the joints' precedences. It begins at the tip
/// itself where that has an offset or a rotation goal. Each joint turns the direction to the chain's end fully onto the
/// direction to the goal, and slides along its sliders to where the end is nearest. Its limits, ease, stiffness and damping
/// then reduce that motion. The method is simple, takes every kind of joint, and bends the outer joints most. It is here to
/// study the method; to bring a chain to its goal, use [`Auto`](super::Auto).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, joint::{Dof, Joint}};
/// use sinew::solve::{Ccd, IterativeOptions};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("finger", None, JointTransform::from_translation(Vec3::Y));
/// for name in ["middle", "end", "nail"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::new(0.03, 0.0, 0.0)));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// for id in &ids[..3] {
///     skeleton.set_joint(*id, Joint::hinge(-Vec3::Z, Dof::range(0.0, 1.6).with_preferred(0.3)))?;
/// }
/// let skeleton = Arc::new(skeleton);
///
/// let finger = Ccd::new(&skeleton, ids[0], ids[3])?;
/// let mut pose = Pose::rest(&skeleton);
/// let button = Vec3::new(0.06, 0.95, 0.0);
/// // The chain is straight and the goal beside its line, which takes many sweeps.
/// let options = IterativeOptions::new().with_max_iterations(100);
/// let report = finger.solve(&mut Workspace::new(), &mut pose, &Goal::position(button), &options)?;
/// assert!(report.position_residual < 1e-5);
/// assert!(skeleton.joints().all(|j| skeleton.limits(j).is_within(pose.local(j).rotation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Let e be the vector from a joint to the end, and g the vector to the goal. A joint that turns by R leaves |R e - g|,
/// which is least where R e . g is greatest. For a free joint that is the shortest arc from e to g. About an axis a it is
/// the angle with
///
/// ```text
/// tan(angle) = a . (e x g) / (e . g - (a . e) (a . g))
/// ```
///
/// For a slider along a, the step is a . (g - e). A ball joint takes the arc, then the nearest rotation within its limits. A
/// single angle stops at the end of its range that it turns towards.
///
/// With a rotation goal, let D be the turn that would meet it. The joint takes the R that minimises |R e - g|^2 plus s^2
/// times the square of the angle between R and D (for small angles). That R maximises the trace of R^T (g e^T + s^2 / 2 D):
/// Wahba's problem, and for an axis again one arc tangent. The length s, half of the chain's, makes a radian of rotation
/// comparable with a distance.
///
/// # Termination
///
/// A solve ends when the goal is met, when a sweep turns nothing, or after
/// [`max_iterations`](super::IterativeOptions::max_iterations) sweeps (32). As limits may take the end away from the goal,
/// it keeps the pose nearest to the goal: the input pose or that after any sweep. A straight chain with the goal on its line
/// stays as it is, and so do joints that block each other at their limits;
/// [`max_restarts`](super::IterativeOptions::max_restarts) frees both. Only with
/// [`max_turn`](super::IterativeOptions::max_turn) does a small motion of the goal turn joints by small angles: see the
/// table of promises in [`solve`](crate::solve).
///
/// Drawn by the example `ccd`:
///
#[doc = include_str!("../../pictures/ccd.svg")]
#[doc(alias("cyclic coordinate descent"))]
#[derive(Clone, Debug)]
pub struct Ccd {
    plan: ChainPlan,
    /// Factor by which bones (except sliders) may become longer where the goal is out of reach or in the soft zone, 1 (none)
    /// or more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// Share of each turn and slide that is withheld, from 0 (none) to below 1.
    pub damping: f32,
    /// Maximum turn of a joint in a sweep, in radians; infinite for no bound.
    pub max_step: f32,
}

/// Attributes of a joint that the solver honours: all but springs.
pub(super) const CAPABILITY: Capability = Capability::new(
    "ccd",
    Attributes::TURNING.union(Attributes::of(&[
        Attribute::Slider,
        Attribute::Ease,
        Attribute::Stiffness,
        Attribute::Damping,
        Attribute::Precedence,
        Attribute::Preferred,
    ])),
);

impl Ccd {
    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, CAPABILITY, Method::Sweeps)?;
        Ok(Self { plan, stretch: 1.0, damping: 0.0, max_step: f32::INFINITY })
    }
}

impl ChainSolver for Ccd {
    fn chain(&self) -> &Chain {
        self.plan.chain()
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        let brake = Brake { damping: self.damping, max_step: self.max_step };
        brake.check()?;
        let sweeps = Sweeps { parts: &self.plan.parts, brake, glides: false };
        self.plan.solve(workspace, &sweeps, self.stretch, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.plan.reserve(workspace);
    }
}
