//! Cyclic coordinate descent: one joint after the other brings the chain's end nearest to the goal.

mod brake;
mod turn;

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes},
};
pub(super) use brake::Brake;
pub(super) use turn::Sweeps;

/// Cyclic coordinate descent (Wang & Chen 1991) as it is taught, in 3D, on a chain of joints with any limits.
///
/// Sweep by sweep, from the tip's parent (the tip, where it has an offset or a rotation to meet) to the root, or in the order
/// of their precedences, each joint turns its line to the chain's end fully onto its line to the goal, and slides along its
/// sliders to where the end is nearest; then it is put within its limits, as far as its ease, stiffness and damping let it.
/// It is simple, takes every kind of joint, and bends the outer joints most. To bring a chain to its goal and not to show the
/// method, see [`Auto`](super::Auto).
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
/// // Straight, with the goal beside its line; it comes on sweep by sweep.
/// let options = IterativeOptions::new().with_max_iterations(100);
/// let report = finger.solve(&mut Workspace::new(), &mut pose, &Goal::position(button), &options)?;
/// assert!(report.position_residual < 1e-5);
/// assert!(skeleton.joints().all(|j| skeleton.limits(j).is_within(pose.local(j).rotation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// With e the way from a joint to the end and g the way to the goal, a joint that turns by R leaves |R e - g|, least where
/// R e . g is largest. For a free joint that is the shortest arc from e to g. About an axis a it is the angle with
///
/// ```text
/// tan(angle) = a . (e x g) / (e . g - (a . e) (a . g))
/// ```
///
/// and for a slider along a the step is a . (g - e). A ball takes the arc and is then put to the nearest rotation within
/// its limits; a single angle stops at the end of its range that its turn runs into. Where a rotation is asked for, too,
/// with D the turn that would give it, the joint takes the R for which |R e - g|^2 plus s^2 times the square of the angle
/// between R and D (for small angles) is least: the trace of R^T (g e^T + s^2 / 2 D) is then largest, which is Wahba's
/// problem, and for an axis again one arc tangent. The length s, half of the chain's, makes a radian of rotation comparable
/// with a way.
///
/// # Where it ends
///
/// It ends where the goal is met, where a sweep turns nothing, or after
/// [`max_iterations`](super::IterativeOptions::max_iterations) sweeps (32). As limits may take the end away from the goal, the nearest
/// of the pose that came in and of all sweeps is what it leaves. A straight chain with the goal on its line stays as it is,
/// and so does a knot of limits, but with [`max_restarts`](super::IterativeOptions::max_restarts). A goal that goes on a little turns
/// joints a little only with [`max_turn`](super::IterativeOptions::max_turn): see the table of promises in [`solve`](crate::solve).
///
/// Drawn by the example `ccd`:
///
#[doc = include_str!("../../pictures/ccd.svg")]
#[doc(alias("cyclic coordinate descent"))]
#[derive(Clone, Debug)]
pub struct Ccd {
    plan: ChainPlan,
    /// By what factor bones (that do not slide) may become longer where the goal is too far or in the soft zone, 1 (none) or
    /// more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// The share of each turn and each slide that is withheld, 0 (none) to below 1.
    pub damping: f32,
    /// The largest turn of a joint in a sweep, in radians; infinite for none.
    pub max_step: f32,
}

/// What is kept of a joint: all but springs.
pub(super) const HONOURED: Attributes = Attributes::TURNING.union(Attributes::of(&[
    Attribute::Slider,
    Attribute::Ease,
    Attribute::Stiffness,
    Attribute::Damping,
    Attribute::Precedence,
    Attribute::Preferred,
]));

impl Ccd {
    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, "ccd", HONOURED, Method::Sweeps)?;
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
