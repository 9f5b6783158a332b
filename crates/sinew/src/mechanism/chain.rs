//! Chains of a mechanism as joints of a skeleton, for the solvers of pose space.

use alloc::{string::String, vec::Vec};

use glam::DAffine3;
use thiserror::Error;

use super::{
    DofKind, LinkId, Mechanism, NamedDof, ValuesError, position_and_rotation,
    solver::nearest_turn,
    values::{Compiled, JointValues, Turn},
};
use crate::{
    Chain, ChainError, JointTransform, Pose, Skeleton, SkeletonError,
    joint::{Joint, JointError},
};

/// Reason why a chain of a mechanism has no skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ChainSkeletonError {
    /// The tip is not a descendant of the root.
    #[error("link `{tip}` does not hang below link `{root}`")]
    TipNotBelowRoot {
        /// Name of the root.
        root: String,
        /// Name of the tip.
        tip: String,
    },
    /// No joint between root and tip moves.
    #[error("no joint that moves lies between link `{root}` and link `{tip}`")]
    Rigid {
        /// Name of the root.
        root: String,
        /// Name of the tip.
        tip: String,
    },
    /// A joint of the chain mimics another. Joints of a skeleton are independent.
    #[error("the joint that carries link `{link}` mimics joint `{mimicked}`, which pose space cannot honour")]
    Mimic {
        /// Name of the first link that the joint carries.
        link: String,
        /// Name of the degree of freedom that it mimics.
        mimicked: String,
    },
    /// A number of a joint is out of the range of pose space.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// The joints make no skeleton, because an origin is out of the range of `f32`.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// Root and tip make no chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The joints between two links of a [`Mechanism`] as a [`Skeleton`], with conversion between values and poses. The solvers
/// of pose space (`Ccd`, `Fabrik`, `Follow`) thereby work on arms, and honour the arm's kinds of joint.
///
/// Model space is the root link's space. Each moving joint between the links is a joint of its name with the mechanism's
/// [`Joint`]; its ranges are narrowed to where joints that mimic it are within theirs. The last joint is the tip link, which
/// is fixed. In the rest pose every value is 0, within the limits or not.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Workspace, glam::{DVec3, Vec3}, solve::{Auto, IterativeOptions}};
/// use sinew::{joint::{Dof, Joint}, mechanism::{ChainSkeleton, JointSpec, Mechanism}};
/// let mut b = Mechanism::builder("lamp");
/// ["desk", "lower", "upper", "bulb"].map(|link| { b.link(link); });
/// b.joint(JointSpec::new("turn", "desk", "lower", Joint::hinge(DVec3::Z, Dof::range(-3.0, 3.0))));
/// let up = |name, parent, child| {
///     let joint = JointSpec::new(name, parent, child, Joint::hinge(DVec3::Y, Dof::range(-2.0, 2.0)));
///     JointSpec { translation: DVec3::Z * 0.4, ..joint }
/// };
/// b.joint(up("bend", "lower", "upper"));
/// b.joint(up("nod", "upper", "bulb"));
/// let lamp = b.build()?;
///
/// let chain = ChainSkeleton::new(&lamp, lamp.root(), lamp.find_link("bulb").unwrap())?;
/// let solver = Auto::from_chain(chain.skeleton(), chain.chain().clone())?;
/// let mut pose = Pose::rest(&Arc::new(chain.skeleton().clone()));
/// let mut values = lamp.rest();
/// let goal = Goal::position(Vec3::new(0.2, 0.2, 0.683));
/// solver.solve(&mut Workspace::new(), &mut pose, &goal, &IterativeOptions::new())?;
/// chain.read(&pose, &mut values)?;
/// assert!((values[0].sin() - values[0].cos()).abs() < 1e-3);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSkeleton {
    skeleton: Skeleton,
    chain: Chain,
    values: JointValues,
}

/// Converts a transform to `f32`.
fn local(frame: &DAffine3) -> JointTransform {
    let (at, q) = position_and_rotation(frame);
    JointTransform { translation: at.as_vec3(), rotation: q.as_quat(), ..JointTransform::IDENTITY }
}

impl ChainSkeleton {
    /// Makes a skeleton of the joints from `root` down to `tip`.
    pub fn new(mechanism: &Mechanism, root: LinkId, tip: LinkId) -> Result<Self, ChainSkeletonError> {
        let name = |link: LinkId| String::from(mechanism.link_name(link));
        if !mechanism.is_below(tip, root) {
            return Err(ChainSkeletonError::TipNotBelowRoot { root: name(root), tip: name(tip) });
        }
        let mut way = Vec::new();
        let mut at = tip;
        while at != root
            && let (Some(parent), Some(joint)) =
                (mechanism.link_parent(at), &mechanism.links[at.index()].joint)
        {
            way.push((at, joint));
            at = parent;
        }
        let mut builder = Skeleton::builder();
        // Transform of the fixed joints since the last moving joint.
        let mut before = DAffine3::IDENTITY;
        let mut parent = None;
        let mut moving = Vec::with_capacity(way.len());
        for &(link, joint) in way.iter().rev() {
            let free = mechanism.narrowed_joint(link).unwrap_or(Joint::FIXED);
            before *= joint.origin;
            if free == Joint::FIXED {
                continue;
            }
            if let Some(mimic) = &joint.mimic {
                return Err(ChainSkeletonError::Mimic { link: name(link), mimicked: mimic.dof.clone() });
            }
            parent = Some(builder.add(joint.name.clone(), parent, local(&before)));
            moving.push((joint.first as usize, free));
            before = DAffine3::IDENTITY;
        }
        if moving.is_empty() {
            return Err(ChainSkeletonError::Rigid { root: name(root), tip: name(tip) });
        }
        builder.add(name(tip), parent, local(&before));
        let (mut skeleton, ids) = builder.build()?;
        let mut joints = Vec::with_capacity(moving.len());
        for (&joint, (first, free)) in ids.iter().zip(moving) {
            skeleton.set_joint(joint, free)?;
            let slides = free.slide.map(|d| d.is_some());
            joints.push(Compiled { joint, first, slides, scale: 1.0, turn: Turn::of(&free) });
        }
        let last = ids[ids.len() - 1];
        skeleton.set_joint(last, Joint::FIXED)?;
        let chain = Chain::new(&skeleton, ids[0], last)?;
        Ok(Self { skeleton, chain, values: JointValues { mechanism: mechanism.clone(), joints } })
    }

    /// Skeleton of the chain.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// Chain from the first joint to the tip link.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Indices of the mechanism's degrees of freedom in the chain, root first.
    pub fn dofs(&self) -> impl Iterator<Item = usize> {
        self.values.joints.iter().flat_map(Compiled::dofs)
    }

    /// Writes the values of a mechanism to a pose of the skeleton. Call [`Pose::update`] afterwards.
    ///
    /// Returns an error, and leaves the pose as it was, unless there is one finite value per degree of freedom and every
    /// slide is in the range of `f32`.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.values.write(values, pose)
    }

    /// Reads the values of the chain's joints from a pose, exactly within their limits. A joint that the values in `values`
    /// already position keeps them. The angle of a turning joint is the equivalent one nearest to its value in `values`.
    /// Returns an error unless there is one value per degree of freedom.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        let mechanism = &self.values.mechanism;
        mechanism.check_count(values)?;
        for c in &self.values.joints {
            let within = c.dofs().all(|d| mechanism.dofs[d].dof.range.contains(values[d]));
            if within && self.values.placed(c, values, pose) == *pose.local(c.joint) {
                continue;
            }
            let mut now = [0.0; 6];
            self.values.read_joint(c, pose, &mut now);
            for (d, now) in c.dofs().zip(now) {
                let NamedDof { kind, dof, .. } = &mechanism.dofs[d];
                values[d] = match kind {
                    DofKind::Turn | DofKind::Twist => {
                        nearest_turn(now, values[d], dof.range.min, dof.range.max)
                    }
                    _ => now,
                };
            }
            mechanism.clamp_of(c.dofs(), values);
        }
        Ok(())
    }
}
