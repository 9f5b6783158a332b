//! Damped least squares on a chain.

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes, Capability},
};

/// Damped least squares (Wampler 1986; Levenberg-Marquardt) on a chain of joints with any limits of turning and sliding.
///
/// Each step moves all joints at once, by the smallest motion that removes most of the residual. Limits hold inside each
/// step: the other joints take over the motion of a joint at its limit. The solver stays near the input pose, and converges
/// in a few steps where the goal is within reach. It stalls in the nearest pose from which limits, or a straight chain, let
/// no step reduce the residual.
///
/// A goal further than two chain lengths counts as a direction: steps aim two lengths that way, and the goal itself judges
/// their residual. [`Auto`](super::Auto) continues from there with sweeps and fresh starts.
///
/// With a rotation goal, the turn towards a [`Pole`](crate::Pole) takes at most four rounds, and each leaves the tip's
/// rotation to further steps: in up to a quarter of cases the middle of the chain stays 0.06 to 0.17 rad off the pole.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, joint::{Dof, Joint}};
/// use sinew::solve::{DampedLeastSquares, IterativeOptions};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("shoulder", None, JointTransform::IDENTITY);
/// for name in ["upper", "fore", "hand"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::Y * 0.4));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// for id in &ids[..3] {
///     skeleton.set_joint(*id, Joint::hinge(Vec3::X, Dof::range(-1.5, 1.5)))?;
/// }
/// let skeleton = Arc::new(skeleton);
///
/// let arm = DampedLeastSquares::new(&skeleton, ids[0], ids[3])?;
/// let mut pose = Pose::rest(&skeleton);
/// pose.set_rotation(ids[1], sinew::glam::Quat::from_rotation_x(0.5));
/// let goal = Goal::position(Vec3::new(0.0, 0.8, 0.6));
/// let report = arm.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new())?;
/// assert!(report.position_residual < 1e-4);
/// assert!(skeleton.joints().all(|j| skeleton.limits(j).is_within(pose.local(j).rotation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Let r be the residual: the vector to the goal and, with a rotation goal, the turn to it, with a radian counted as half of
/// the chain's length. Let J be its Jacobian with respect to the joints. The step is J^T y with
///
/// ```text
/// (J J^T + mu) y = r
/// ```
///
/// which is the smallest step that removes most of r. The damping mu is the squared residual (Sugihara 2011) times a factor.
/// A step that reduces the residual divides the factor by 4; a step that does not is taken back and multiplies it by 8.
///
/// Stiff joints, and joints that near the end of a range with ease, are given less of the step: with their weights W (see
/// [`crate::joint`]), it is W J^T y with (J W J^T + mu) y = r. Resistance costs no goal: each step that removes less than a
/// tenth of the residual takes the root of all weights, until the joints share the motion as without resistance.
///
/// Where the goal is met, or no step reduces the residual, joints with [preferred values](crate::joint::Dof::preferred)
/// approach them in the null space of the goal, in at most 20 steps that are not counted as iterations. A goal that is met
/// stays met.
///
/// A single angle or slide stops at the end of its range: where a step would pass it, that coordinate is fixed there and the
/// step of the others is solved again. A ball joint takes the nearest rotation within its limits, and the next step moves
/// along the limit that it met.
///
/// Drawn by the example `least_squares`, step by step:
///
#[doc = include_str!("../../pictures/least_squares.svg")]
#[doc(alias("DLS", "Jacobian", "Levenberg-Marquardt"))]
#[derive(Clone, Debug)]
pub struct DampedLeastSquares {
    plan: ChainPlan,
    /// Factor by which bones (except sliders) may become longer where the goal is out of reach or in the soft zone, 1 (none)
    /// or more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
}

/// Attributes of a joint that the solver honours.
pub(super) const CAPABILITY: Capability = Capability::new(
    "dls",
    Attributes::TURNING.union(Attributes::of(&[
        Attribute::Slider,
        Attribute::Ease,
        Attribute::Stiffness,
        Attribute::Preferred,
    ])),
);

impl DampedLeastSquares {
    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, CAPABILITY, Method::Steps)?;
        Ok(Self { plan, stretch: 1.0 })
    }
}

impl ChainSolver for DampedLeastSquares {
    fn chain(&self) -> &Chain {
        self.plan.chain()
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        self.plan.solve(workspace, &(), self.stretch, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.plan.reserve(workspace);
    }
}
