//! Folding: all bends of a chain, times one factor.

pub(crate) mod bends;
pub(crate) mod rest;
mod sweep;

use alloc::vec::Vec;

use glam::{Affine3, Vec3};

use super::{
    ChainSolver, ChainSolverError,
    chain_solver::Request,
    iterate::{ChainPlan, Method},
};
use crate::{
    Chain, Report, Skeleton, SolveError, Workspace,
    joint::{Attribute, Attributes, Capability},
    math,
};
use bends::Bends;
use sweep::Folding;

/// Folds and unfolds a chain of any number of bones by one factor on the bends of all its inner joints, so that its end comes to
/// the goal's distance from its root; the root then turns the chain, with its plane, by the shortest arc from the end's old direction to
/// the goal's.
///
/// This is how the legs of animals move: hip, knee, hock and fetlock fold together, each to its own side. Every joint bends about
/// the axis about which it is bent in the input pose, and never to the other side: no bone passes through straight. The result
/// depends on the goal, the ratios of the bends and the root's direction, so that a chain that starts from the same pose each
/// frame (a rig's [`StartFrom::Preferred`](crate::rig::StartFrom::Preferred), or an animation) has nothing to remember. Maya's
/// spring solver (`ikSpringSolver`) shares bends in the same way.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, JointTransform, Pose, Skeleton, Workspace, glam::Vec3, solve::{Fold, IterativeOptions}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("hip", None, JointTransform::from_translation(Vec3::Y));
/// for (name, z, y) in [("knee", 0.12, -0.33), ("hock", -0.15, -0.32), ("hoof", 0.05, -0.3)] {
///     joint = builder.add(name, Some(joint), JointTransform::from_translation(Vec3::new(0.0, y, z)));
/// }
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let leg = Fold::new(&skeleton, ids[0], ids[3])?;
/// let mut pose = Pose::rest(&skeleton);
/// let step = Vec3::new(0.05, 0.25, 0.2);
/// let report = leg.solve(&mut Workspace::new(), &mut pose, &Goal::position(step), &IterativeOptions::new())?;
/// assert!(pose.position(ids[3]).distance(step) < 1e-5);
/// assert_eq!(report.iterations, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Let the bend of an inner joint be the angle between the bones above and below it, about the normal of both. With all bends
/// times a factor f, the end is at a distance d(f) from the root. With each joint at p turning at the rate w, the end e moves at
///
/// ```text
/// e' = sum of w x (e - p),   d' = e' . e / d
/// ```
///
/// Newton's method, within a bracket, finds the f at which d is the goal's distance. f begins where the joint that bends most has
/// 0.2 rad left, or a tenth of its bend; it ends where that joint has 150 degrees, or at the first minimum of d. What is further or
/// nearer is out of reach, and the end stops on the way. A chain that is straight in the input pose bends as at rest; one that is
/// straight there too bends towards model +Z (one along Z towards +Y).
///
/// A tip with an offset is one of the joints that bend. With a rotation goal it takes that rotation instead, and the joint of the
/// tip goes to where the end is then at the goal.
///
/// # Limits
///
/// Each joint takes the nearest rotation within its limits. Where that keeps the end from the goal, the fold is repeated on the
/// result, up to [`max_iterations`](super::IterativeOptions::max_iterations) times (32): joints at their limits stay, and the others
/// go on. The nearest pose is kept. Only the root aims at the goal: a root at its limits is not helped by the others, for which
/// [`Auto`](super::Auto) is the solver.
///
/// Drawn by the example `fold`:
///
#[doc = include_str!("../../pictures/fold.svg")]
#[doc(alias("spring solver"))]
#[derive(Clone, Debug)]
pub struct Fold {
    plan: ChainPlan,
    /// Factor by which bones may become longer where the goal is out of reach or in the soft zone, 1 (none) or more. No
    /// chain becomes longer than 1e15 m.
    pub stretch: f32,
    /// Axis in the frame of the joint's parent, and bend of each joint at rest.
    rest: Vec<(Vec3, f32)>,
}

/// Attributes of a joint that the solver honours.
pub(super) const CAPABILITY: Capability =
    Capability::new("fold", Attributes::TURNING.union(Attributes::of(&[Attribute::Preferred])));

impl Fold {
    /// The solver for a chain. An offset at the chain's tip makes the tip turn too.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        let joints = chain.joints();
        let mut frames = Vec::with_capacity(joints.len() + 1);
        frames.push(Affine3::IDENTITY);
        for (n, &joint) in joints.iter().enumerate() {
            frames.push(frames[n] * skeleton.rest(joint).to_affine());
        }
        let end = frames[joints.len()].transform_point3(chain.tip_offset());
        let mut bends = Bends::default();
        bends.positions.extend(frames[1..].iter().map(|f| f.translation).chain([end]));
        bends.load(&|n| math::rotation_of(&frames[n].matrix3), &|_| (Vec3::ZERO, 0.0), Vec3::ZERO);
        let mut rest = alloc::vec![(Vec3::ZERO, 0.0); joints.len()];
        for (joint, bend) in bends.axes() {
            rest[joint] = bend;
        }
        let plan = ChainPlan::new(skeleton, chain, CAPABILITY, Method::Sweeps)?;
        Ok(Self { plan, stretch: 1.0, rest })
    }
}

impl ChainSolver for Fold {
    fn chain(&self) -> &Chain {
        self.plan.chain()
    }

    fn run(&self, workspace: &mut Workspace, request: Request) -> Result<Report, SolveError> {
        self.plan.solve(workspace, &Folding { rest: &self.rest }, self.stretch, request)
    }

    fn reserve(&self, workspace: &mut Workspace) {
        self.plan.reserve(workspace);
    }
}
