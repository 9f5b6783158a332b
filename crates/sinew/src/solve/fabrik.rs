//! Forward and backward reaching.

mod sweep;

use core::ops::ControlFlow;

use super::{
    ChainSolverError, IterativeOptions,
    chain_state::parts,
    iterate::{Iteration, Method, TraceStep, Watch, admit},
};
use crate::{
    Chain, Goal, JointId, Pose, Report, Skeleton, SolveError,
    joint::{Attribute, Attributes},
};
use sweep::Reaching;

/// Forward and backward reaching (FABRIK; Aristidou & Lasenby 2011) as it is taught, on a chain of joints with limits of
/// turning.
///
/// A sweep has two passes. Backward, from the tip to the root, the end is put on the goal and each joint is drawn along behind
/// its bone; forward, from the root to the tip, the root is put back where it belongs and each bone is pointed to where the
/// first pass left its end. Where the goal is out of reach each bone is pointed to it first, so that the chain lies straight
/// (which is no sweep; not so with a rotation to meet or a [`max_turn`](IterativeOptions::max_turn)).
/// It moves all joints evenly, and its poses look relaxed. To bring a chain to its goal and not to show the method, see
/// [`Auto`](super::Auto).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, joint::Joint, solve::Fabrik};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("neck", None, JointTransform::from_translation(Vec3::Y));
/// for name in ["second", "third", "fourth", "fifth", "head"] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::new(0.0, 0.2, 0.02)));
/// }
/// let (mut skeleton, ids) = builder.build()?;
/// for id in &ids[..5] {
///     skeleton.set_joint(*id, Joint::cone(Vec3::Y, 0.6, 0.2))?;
/// }
/// let skeleton = Arc::new(skeleton);
///
/// let mut neck = Fabrik::new(&skeleton, ids[0], ids[5])?;
/// let mut pose = Pose::rest(&skeleton);
/// let grass = Vec3::new(0.3, 1.2, 0.6);
/// let report = neck.solve(&mut pose, &Goal::at(grass))?;
/// assert!(report.position_residual < 1e-4);
/// assert!(skeleton.joints().all(|j| skeleton.limits(j).is_within(pose.local(j).rotation)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Limits
///
/// Both passes carry each joint's orientation along, not its place alone (Aristidou, Chrysanthou & Lasenby 2016). A bone
/// turns by the shortest arc to where it should point, so that the roll which the animation gave is kept. In the forward pass,
/// the joint's local rotation is then put to the nearest that its limits allow: its swing onto the ellipse, its twist
/// into its range, a hinge onto its axis. In the backward pass it is the same limit seen from the other side: the orientation
/// of the joint below stands, and the parent's is moved until the joint between them is within. As the forward pass is the
/// last, every sweep leaves a pose within the limits.
///
/// # Where it ends
///
/// It ends where the goal is met, where a sweep turns nothing, or after
/// [`max_iterations`](IterativeOptions::max_iterations) sweeps (32). As limits may take the end away from the goal, the nearest
/// of the pose that came in and of all sweeps is what it leaves. Near full stretch it takes hundreds of sweeps; a straight
/// chain of free joints with the goal on its line folds up on that line, and a knot of limits stays, but with
/// [`max_restarts`](IterativeOptions::max_restarts). A goal that goes on a little turns joints a little only with
/// [`max_turn`](IterativeOptions::max_turn): see the table of promises in [`solve`](crate::solve).
///
/// Drawn by the example `fabrik`:
///
#[doc = include_str!("../../pictures/fabrik.svg")]
#[doc(alias("forward and backward reaching"))]
#[derive(Clone, Debug)]
pub struct Fabrik {
    iteration: Iteration,
    reaching: Reaching,
    /// What it is told.
    pub settings: IterativeOptions,
    /// Whether the backward pass puts the second joint onto the circle in which the spheres of its two bones, about the root
    /// and about the third joint, meet, so that the chain closes at once (Aristidou, Chrysanthou & Lasenby 2016). Off
    /// (the default), it is drawn along as the others are.
    pub closes_circle: bool,
}

/// What is kept of a joint.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Preferred,
]);

impl Fabrik {
    /// The chain from `root` down to `tip`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, "fabrik", HONOURED)?;
        let parts = parts(skeleton, &chain);
        Ok(Self {
            reaching: Reaching::new(&chain),
            iteration: Iteration::new(skeleton, chain, &parts, Method::SweepsFromStraight),
            settings: IterativeOptions::default(),
            closes_circle: false,
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
        self.watched(pose, goal, None)
    }

    /// [`solve`](Self::solve), and tells of each point that it moves, in the order in which it does. Where `watch` breaks,
    /// it ends there and leaves the nearest that it came; the report says
    /// [`OutOfIterations`](crate::Status::OutOfIterations), or that the goal is out of reach. The chain drawn straight,
    /// poles, fresh starts and stretching are not told. Weights between 0 and 1 are as in
    /// [`Ccd::solve_traced`](super::Ccd::solve_traced).
    pub fn solve_traced(
        &mut self,
        pose: &mut Pose,
        goal: &Goal,
        watch: &mut dyn FnMut(TraceStep<'_>) -> ControlFlow<()>,
    ) -> Result<Report, SolveError> {
        self.watched(pose, goal, Some(watch))
    }

    fn watched(&mut self, pose: &mut Pose, goal: &Goal, watch: Watch) -> Result<Report, SolveError> {
        self.reaching.closes_circle = self.closes_circle;
        self.iteration.solve(&mut self.reaching, &self.settings, pose, goal, watch)
    }
}
