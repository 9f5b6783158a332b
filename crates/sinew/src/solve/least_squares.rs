//! Damped least squares on a chain.

use core::ops::ControlFlow;

use super::{
    ChainSolverError, IterativeOptions,
    chain_state::parts,
    iterate::{Iteration, Method, TraceStep, admit},
};
use crate::{
    Chain, Goal, JointId, Pose, Report, Skeleton, SolveError,
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
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, joint::{Dof, Joint}, solve::DampedLeastSquares};
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
/// let mut arm = DampedLeastSquares::new(&skeleton, ids[0], ids[3])?;
/// let mut pose = Pose::rest(&skeleton);
/// pose.set_rotation(ids[1], sinew::glam::Quat::from_rotation_x(0.5));
/// let report = arm.solve(&mut pose, &Goal::at(Vec3::new(0.0, 0.8, 0.6)))?;
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
    iteration: Iteration,
    /// What it is told. An iteration is a step.
    pub settings: IterativeOptions,
}

/// What is kept of a joint.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Slider,
    Attribute::Preferred,
]);

impl DampedLeastSquares {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, "dls", HONOURED)?;
        let parts = parts(skeleton, &chain);
        Ok(Self {
            iteration: Iteration::new(skeleton, chain, &parts, Method::Steps),
            settings: IterativeOptions::default(),
        })
    }

    /// Root to tip.
    pub fn chain(&self) -> &Chain {
        self.iteration.links.chain()
    }

    /// Brings the chain's end to the goal, and the tip's rotation to that of the goal if it names one. The pose is left
    /// updated, with every joint within its limits, or no further out than it came in. Where the goal names no position,
    /// the end stays where it is.
    ///
    /// With a pole, the whole chain turns about the axis from its root to its end, so that the mean of the joints between
    /// faces the pole, as far as the root's limits let it. Weights go straight in the joints' coordinates.
    pub fn solve(&mut self, pose: &mut Pose, goal: &Goal) -> Result<Report, SolveError> {
        self.iteration.solve(&mut (), &self.settings, pose, goal, None)
    }

    /// [`solve`](Self::solve), and tells of each step. Where `watch` breaks, it ends there and leaves the nearest that it
    /// came; the report says [`OutOfIterations`](crate::Status::OutOfIterations), or that the goal is out of reach.
    /// Poles, fresh starts and stretching are not told. Weights between 0 and 1 are as in
    /// [`Ccd::solve_traced`](super::Ccd::solve_traced).
    pub fn solve_traced(
        &mut self,
        pose: &mut Pose,
        goal: &Goal,
        watch: &mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>,
    ) -> Result<Report, SolveError> {
        self.iteration.solve(&mut (), &self.settings, pose, goal, Some(watch))
    }
}
