//! Damped least squares on a chain.

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes},
};

/// Damped least squares (Wampler 1986; Levenberg-Marquardt), on a chain of joints with any limits of turning and sliding.
///
/// Step by step, all joints move at once, each as little as takes most of what is missing away. Limits hold inside each step,
/// so that the other joints do what one at its limit may not. It stays near the pose that came in, and converges in a few
/// steps where the goal is within reach; it rests in the nearest place where limits, or a straight chain, let no step lead
/// nearer. A goal further off than two lengths of the chain is a direction: steps go to two lengths that way, and what they
/// leave is judged by the goal itself. [`Auto`](super::Auto) goes on from there by sweeps and fresh starts.
///
/// With a rotation asked for, the turn towards a [`Pole`](crate::Pole) is made in at most four rounds, each of which leaves the
/// tip's rotation to further steps: in up to a quarter of cases the middle of the chain stays 0.06 to 0.17 rad off the pole.
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
/// With r what is missing (the way to the goal, and beside it the turn to its rotation, a radian counted as half of the
/// chain's length) and J how it changes with the joints, the step is J^T y with
///
/// ```text
/// (J J^T + mu) y = r
/// ```
///
/// the least of all steps that take most of r away. The damping mu is the square of what is missing (Sugihara 2011) times a
/// factor that a step which leads nearer divides by 4 and one that does not, which is taken back, multiplies by 8. A single
/// angle or slide goes no further than its range; if a step would take it further it goes that far, and the others' part is
/// sought anew. A ball is put to the nearest rotation within its limits, and the next step is sought along the wall that it
/// met.
///
/// Drawn by the example `least_squares`, step by step:
///
#[doc = include_str!("../../pictures/least_squares.svg")]
#[doc(alias("DLS", "Jacobian", "Levenberg-Marquardt"))]
#[derive(Clone, Debug)]
pub struct DampedLeastSquares {
    plan: ChainPlan,
    /// By what factor bones (that do not slide) may become longer where the goal is too far or in the soft zone, 1 (none) or
    /// more. No chain becomes longer than 1e15 m.
    pub stretch: f32,
}

/// What is kept of a joint.
const HONOURED: Attributes =
    Attributes::TURNING.union(Attributes::of(&[Attribute::Slider, Attribute::Preferred]));

impl DampedLeastSquares {
    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, "dls", HONOURED, Method::Steps)?;
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
