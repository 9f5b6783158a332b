//! A chain of a mechanism as joints of a skeleton, for solvers in pose space.

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

/// Why a chain of a mechanism did not become one of a skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ChainSkeletonError {
    /// The tip does not hang below the root.
    #[error("link `{tip}` does not hang below link `{root}`")]
    TipNotBelowRoot {
        /// Name of the root.
        root: String,
        /// Name of the tip.
        tip: String,
    },
    /// Nothing moves between root and tip.
    #[error("no joint that moves lies between link `{root}` and link `{tip}`")]
    Rigid {
        /// Name of the root.
        root: String,
        /// Name of the tip.
        tip: String,
    },
    /// A joint of the chain mimics another. Joints of a skeleton move each by itself.
    #[error("the joint that carries link `{link}` mimics joint `{mimicked}`, which pose space cannot honour")]
    Mimic {
        /// Name of the first link that the joint carries.
        link: String,
        /// Name of the joint that it mimics.
        mimicked: String,
    },
    /// A joint's numbers are out of the range of pose space.
    #[error(transparent)]
    Joint(#[from] JointError),
    /// The joints make no skeleton: an origin is too far away for f32.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// Root and tip do not make a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The joints between two links of a [`Mechanism`] as a [`Skeleton`], which takes values into poses and
/// gives them back. So the solvers of pose space (`Ccd`, `Fabrik`, `Follow`) work on arms, where they
/// honour the kinds of joint that the arm has.
///
/// Model space is the root link's own space. Each joint that moves between the links is a joint of its name, with the
/// [`Joint`] that the mechanism has (its ranges narrowed to where joints that mimic it are within theirs); the last joint is
/// the tip link, which is fixed. In the rest pose every value is 0, be that within the limits or not.
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

fn local(frame: &DAffine3) -> JointTransform {
    let (at, q) = position_and_rotation(frame);
    JointTransform { translation: at.as_vec3(), rotation: q.as_quat(), ..JointTransform::IDENTITY }
}

impl ChainSkeleton {
    /// The joints from `root` down to `tip`.
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
        // The frame that the next joint is placed in, relative to that of the joint before it: joints that do not move.
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

    /// The skeleton.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// The chain, from the first joint to the tip link.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The degrees of freedom of the mechanism that are joints of the chain, root first.
    pub fn dofs(&self) -> impl Iterator<Item = usize> {
        self.values.joints.iter().flat_map(Compiled::dofs)
    }

    /// Puts the values of a mechanism into a pose of the skeleton. Call [`Pose::update`] afterwards.
    ///
    /// An error where there is not one value a degree of freedom, one is no number, or a slide goes further than `f32` can
    /// tell; the pose is as it was then.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.values.write(values, pose)
    }

    /// Takes the values of the chain's joints from a pose. They are within their limits to the last bit. A
    /// joint whose place is that of the values that it has in `values` keeps them, and one that turns is taken
    /// to the turn that is nearest to that value. An error where there is not one value a degree of freedom.
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
