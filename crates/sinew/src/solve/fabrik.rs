//! Forward and backward reaching.

mod sweep;
mod tree;

pub use tree::FabrikTree;
pub(super) use tree::TREE_CAPABILITY;

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes, Capability},
};
use sweep::{Reaching, Shape};

/// Forward and backward reaching (FABRIK; Aristidou & Lasenby 2011) in its textbook form, on a chain of joints with limits
/// of turning.
///
/// A sweep has two passes. The backward pass, from the tip to the root, puts the end on the goal and draws each joint along
/// behind its bone. The forward pass, from the root to the tip, puts the root back and points each bone to where the
/// backward pass left its end. Where the goal is out of reach, each bone is pointed to it first, so that the chain lies
/// straight. That does not count as a sweep, and is left out with a rotation goal or a
/// [`max_turn`](super::IterativeOptions::max_turn).
///
/// The method moves all joints evenly, and its poses look relaxed. It is here to study the method; to bring a chain to its
/// goal, use [`Auto`](super::Auto).
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
/// Both passes carry each joint's orientation along with its position (Aristidou, Chrysanthou & Lasenby 2016). A bone turns
/// by the shortest arc to where it should point, which keeps the roll of the animation.
///
/// In the forward pass, the joint's local rotation becomes the nearest within its limits: its swing moves onto the ellipse,
/// its twist into its range, a hinge onto its axis. The backward pass applies the same limit from the other side: the joint
/// below keeps its orientation, and the parent's is moved until the joint between them is within its limits. As the forward
/// pass comes last, every sweep ends within the limits.
///
/// # Termination
///
/// A solve ends when the goal is met, when a sweep turns nothing, or after
/// [`max_iterations`](super::IterativeOptions::max_iterations) sweeps (32). As limits may take the end away from the goal,
/// it keeps the pose nearest to the goal: the input pose or that after any sweep.
///
/// Near full extension it takes hundreds of sweeps. A straight chain of free joints with the goal on its line folds up on
/// that line. Joints that block each other at their limits stay as they are, without
/// [`max_restarts`](super::IterativeOptions::max_restarts). Only with [`max_turn`](super::IterativeOptions::max_turn) does a
/// small motion of the goal turn joints by small angles: see the table of promises in [`solve`](crate::solve).
///
/// Drawn by the example `fabrik`:
///
#[doc = include_str!("../../pictures/fabrik.svg")]
#[doc(alias("forward and backward reaching"))]
#[derive(Clone, Debug)]
pub struct Fabrik {
    plan: ChainPlan,
    shape: Shape,
    /// Factor by which bones may become longer where the goal is out of reach or in the soft zone, 1 (none) or more. No
    /// chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// Whether the backward pass puts the second joint onto the intersection of two spheres, so that the chain closes at
    /// once (Aristidou, Chrysanthou & Lasenby 2016). They are centred on the root and the third joint, and their radii are
    /// the two bones. Off (the default), the second joint is drawn along like the others.
    pub closes_circle: bool,
}

/// Attributes of a joint that the solver honours.
pub(super) const CAPABILITY: Capability =
    Capability::new("fabrik", Attributes::TURNING.union(Attributes::of(&[Attribute::Preferred])));

impl Fabrik {
    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let plan = ChainPlan::new(skeleton, chain, CAPABILITY, Method::SweepsFromStraight)?;
        Ok(Self {
            shape: Shape::chain(plan.chain().joints().len()),
            plan,
            stretch: 1.0,
            closes_circle: false,
        })
    }
}

impl ChainSolver for Fabrik {
    fn chain(&self) -> &Chain {
        self.plan.chain()
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        let reaching = Reaching { shape: &self.shape, closes_circle: self.closes_circle };
        self.plan.solve(workspace, &reaching, self.stretch, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.plan.reserve(workspace);
    }
}
