//! Forward and backward reaching.

mod sweep;

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes},
};
use sweep::Reaching;

/// Forward and backward reaching (FABRIK; Aristidou & Lasenby 2011) as it is taught, on a chain of joints with limits of
/// turning.
///
/// A sweep has two passes. Backward, from the tip to the root, the end is put on the goal and each joint is drawn along behind
/// its bone; forward, from the root to the tip, the root is put back where it belongs and each bone is pointed to where the
/// first pass left its end. Where the goal is out of reach each bone is pointed to it first, so that the chain lies straight
/// (which is no sweep; not so with a rotation to meet or a [`max_turn`](super::IterativeOptions::max_turn)).
/// It moves all joints evenly, and its poses look relaxed. To bring a chain to its goal and not to show the method, see
/// [`Auto`](super::Auto).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, joint::Joint};
/// use sinew::solve::{Fabrik, IterativeOptions};
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
/// let neck = Fabrik::new(&skeleton, ids[0], ids[5])?;
/// let mut pose = Pose::rest(&skeleton);
/// let grass = Vec3::new(0.3, 1.2, 0.6);
/// let options = IterativeOptions::new();
/// let report = neck.solve(&mut Workspace::new(), &mut pose, &Goal::position(grass), &options)?;
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
/// [`max_iterations`](super::IterativeOptions::max_iterations) sweeps (32). As limits may take the end away from the goal, the nearest
/// of the pose that came in and of all sweeps is what it leaves. Near full stretch it takes hundreds of sweeps; a straight
/// chain of free joints with the goal on its line folds up on that line, and a knot of limits stays, but with
/// [`max_restarts`](super::IterativeOptions::max_restarts). A goal that goes on a little turns joints a little only with
/// [`max_turn`](super::IterativeOptions::max_turn): see the table of promises in [`solve`](crate::solve).
///
/// Drawn by the example `fabrik`:
///
#[doc = include_str!("../../pictures/fabrik.svg")]
#[doc(alias("forward and backward reaching"))]
#[derive(Clone, Debug)]
pub struct Fabrik {
    plan: ChainPlan,
    /// By what factor bones may become longer where the goal is too far or in the soft zone, 1 (none) or more. No chain becomes
    /// longer than 1e15 m.
    pub stretch: f32,
    /// Whether the backward pass puts the second joint onto the circle in which the spheres of its two bones, about the root
    /// and about the third joint, meet, so that the chain closes at once (Aristidou, Chrysanthou & Lasenby 2016). Off
    /// (the default), it is drawn along as the others are.
    pub closes_circle: bool,
}

/// What is kept of a joint.
const HONOURED: Attributes = Attributes::TURNING.union(Attributes::of(&[Attribute::Preferred]));

impl Fabrik {
    /// The solver for a chain, which may have an offset at its tip (then the tip turns, too).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, "fabrik", HONOURED, Method::SweepsFromStraight)?;
        Ok(Self { plan, stretch: 1.0, closes_circle: false })
    }
}

impl ChainSolver for Fabrik {
    fn chain(&self) -> &Chain {
        self.plan.chain()
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        let reaching = Reaching { closes_circle: self.closes_circle };
        self.plan.solve(workspace, &reaching, self.stretch, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.plan.reserve(workspace);
    }
}
