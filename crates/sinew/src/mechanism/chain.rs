//! A chain of a mechanism as joints of a skeleton, for solvers in pose space.

use alloc::{string::String, vec::Vec};

use glam::{DAffine3, DMat3, DVec3, Quat};
use thiserror::Error;

use super::{LinkId, Mechanism, ValuesError, dof::Kind, model::motion, position_and_rotation};
use crate::{
    Chain, ChainError, JointId, JointTransform, Pose, Skeleton, SkeletonError,
    joint::{self, Joint, JointError},
    math64,
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
    /// A joint of the chain is a ball.
    #[error("joint `{joint}` is a ball joint, which chains of a mechanism cannot take to pose space")]
    Ball {
        /// Name of the first of its degrees of freedom.
        joint: String,
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

/// A joint of the chain.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Placed {
    joint: JointId,
    dof: usize,
    slides: bool,
    /// The value at which the joint is in its rest pose: the middle of its limits.
    middle: f64,
    lower: f64,
    upper: f64,
}

/// The joints between two links of a [`Mechanism`] as a [`Skeleton`], which takes values into poses and
/// gives them back. So the solvers of pose space (`Ccd`, `Fabrik`, `Follow`) work on arms, where they
/// honour the kinds of joint that the arm has.
///
/// Model space is the root link's own space. Each degree of freedom between the links is a joint of its name, a hinge or
/// a slider along its own z with the same limits; the last joint is the tip link, which is fixed. In the rest pose every
/// joint stands in the middle of its limits (at 0 where it has none).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, glam::{DVec3, Vec3}, solve::Ccd};
/// use sinew::mechanism::{ChainSkeleton, JointSpec, Mechanism, Motion};
/// let mut b = Mechanism::builder("lamp");
/// ["desk", "lower", "upper", "bulb"].map(|link| { b.link(link); });
/// b.joint(JointSpec::new("turn", "desk", "lower", Motion::turn(DVec3::Z, -3.0, 3.0)));
/// let up = |name, parent, child| {
///     let joint = JointSpec::new(name, parent, child, Motion::turn(DVec3::Y, -2.0, 2.0));
///     JointSpec { translation: DVec3::Z * 0.4, ..joint }
/// };
/// b.joint(up("bend", "lower", "upper"));
/// b.joint(up("nod", "upper", "bulb"));
/// let lamp = b.build()?;
///
/// let chain = ChainSkeleton::new(&lamp, lamp.root(), lamp.find_link("bulb").unwrap())?;
/// let mut ccd = Ccd::from_chain(chain.skeleton(), chain.chain().clone())?;
/// let mut pose = Pose::rest(&Arc::new(chain.skeleton().clone()));
/// let mut values = lamp.rest();
/// ccd.solve(&mut pose, &Goal::at(Vec3::new(0.2, 0.2, 0.683)))?;
/// chain.read(&pose, &mut values)?;
/// assert!((values[0].sin() - values[0].cos()).abs() < 1e-3);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChainSkeleton {
    skeleton: Skeleton,
    chain: Chain,
    joints: Vec<Placed>,
    /// Degrees of freedom of the mechanism.
    count: usize,
}

/// Sliders that end on one side only end on the other this far away, in metres: no machine is longer, and f32 still holds a
/// place there to a decimetre.
const FAR: f64 = 1e6;

fn local(frame: &DAffine3) -> JointTransform {
    let (at, q) = position_and_rotation(frame);
    let rotation = Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32);
    JointTransform { translation: at.as_vec3(), rotation, ..JointTransform::IDENTITY }
}

impl ChainSkeleton {
    /// The joints from `root` down to `tip`.
    pub fn new(mechanism: &Mechanism, root: LinkId, tip: LinkId) -> Result<Self, ChainSkeletonError> {
        let name = |link: LinkId| String::from(mechanism.link_name(link));
        if !mechanism.is_below(tip, root) {
            return Err(ChainSkeletonError::TipNotBelowRoot { root: name(root), tip: name(tip) });
        }
        let mut way: Vec<usize> = mechanism.path(root, tip).collect();
        // From the tip; parents come before children in a mechanism.
        way.sort_unstable();
        if way.is_empty() {
            return Err(ChainSkeletonError::Rigid { root: name(root), tip: name(tip) });
        }
        let mut builder = Skeleton::builder();
        // The frame that the next joint is placed in, relative to that of the joint before it.
        let mut before = mechanism.links[root.index()].offset.inverse();
        let mut parent = None;
        let mut placed: Vec<(usize, bool, f64)> = Vec::with_capacity(way.len());
        for &j in &way {
            let joint = &mechanism.joints[j];
            let dof = joint.dof as usize;
            let again = placed.iter().any(|p| p.0 == dof);
            if again || joint.multiplier != 1.0 || joint.offset != 0.0 {
                let carried =
                    mechanism.links().find(|l| mechanism.links[l.index()].carrier == Some(j as u32));
                let link = name(carried.unwrap_or(tip));
                return Err(ChainSkeletonError::Mimic { link, mimicked: mechanism.dofs[dof].name.clone() });
            }
            let of = &mechanism.dofs[dof];
            if !matches!(joint.kind, Kind::Turn | Kind::Slide) {
                return Err(ChainSkeletonError::Ball { joint: of.name.clone() });
            }
            let slides = joint.kind == Kind::Slide;
            let bounded = of.lower.is_finite() && of.upper.is_finite();
            let middle = if bounded { of.lower + 0.5 * (of.upper - of.lower) } else { of.rest() };
            let rest = before * joint.rest * motion(slides, middle);
            parent = Some(builder.add(of.name.clone(), parent, local(&rest)));
            placed.push((dof, slides, middle));
            before = DAffine3::IDENTITY;
        }
        // Fixed parts between two moving joints are folded into the later one already.
        builder.add(name(tip), parent, local(&(before * mechanism.links[tip.index()].offset)));
        let (mut skeleton, ids) = builder.build()?;
        let mut joints = Vec::with_capacity(placed.len());
        for (&joint, &(dof, slides, middle)) in ids.iter().zip(&placed) {
            let (lower, upper) = (mechanism.dofs[dof].lower, mechanism.dofs[dof].upper);
            let free = if slides {
                let unbounded = lower == f64::NEG_INFINITY && upper == f64::INFINITY;
                let range = (lower.max(middle - FAR) - middle, upper.min(middle + FAR) - middle);
                let along = if unbounded { joint::Dof::FREE } else { joint::Dof::range(range.0, range.1) };
                Joint::FIXED.with_slide([None, None, Some(along)])
            } else {
                // A whole turn or more is no limit of where it stands; which turn it is on is for `read` to say.
                let whole = upper - lower >= core::f64::consts::TAU;
                let about = joint::Dof::range(lower - middle, upper - middle);
                Joint::hinge(DVec3::Z, if whole { joint::Dof::FREE } else { about })
            };
            skeleton.set_joint(joint, free)?;
            joints.push(Placed { joint, dof, slides, middle, lower, upper });
        }
        let last = ids[ids.len() - 1];
        skeleton.set_joint(last, Joint::FIXED)?;
        let chain = Chain::new(&skeleton, ids[0], last)?;
        Ok(Self { skeleton, chain, joints, count: mechanism.dofs.len() })
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
    pub fn dofs(&self) -> impl ExactSizeIterator<Item = usize> {
        self.joints.iter().map(|p| p.dof)
    }

    fn check_count(&self, values: &[f64]) -> Result<(), ValuesError> {
        match (values.len(), self.count) {
            (given, wanted) if given == wanted => Ok(()),
            (given, wanted) => Err(ValuesError::Count { given, wanted }),
        }
    }

    /// Puts the values of a mechanism into a pose of the skeleton. Call [`Pose::update`] afterwards.
    ///
    /// An error where there is not one value a degree of freedom, or one of the chain's is no number or more than `f32` can
    /// tell; the pose is as it was then.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.check_count(values)?;
        for p in &self.joints {
            let (value, joint) = (values[p.dof], || String::from(self.skeleton.name(p.joint)));
            if !value.is_finite() {
                return Err(ValuesError::NotFinite { joint: joint(), value });
            }
            if !self.placed(p, value, self.skeleton.rest(p.joint)).is_finite() {
                return Err(ValuesError::TooLarge { joint: joint(), value });
            }
        }
        for p in &self.joints {
            let placed = self.placed(p, values[p.dof], pose.local(p.joint));
            pose.set_local(p.joint, placed);
        }
        Ok(())
    }

    /// The joint's local transform at a value.
    fn placed(&self, p: &Placed, value: f64, now: &JointTransform) -> JointTransform {
        let rest = self.skeleton.rest(p.joint);
        let own = value - p.middle;
        let base = self.base(p);
        if p.slides {
            let along = base * DVec3::new(0.0, 0.0, own);
            return JointTransform { translation: (rest.translation.as_dvec3() + along).as_vec3(), ..*now };
        }
        let turned = base * math64::axis_angle(DVec3::Z, own);
        JointTransform { rotation: local(&DAffine3::from_mat3(turned)).rotation, ..*now }
    }

    fn base(&self, p: &Placed) -> DMat3 {
        wide(self.skeleton.rest(p.joint).rotation)
    }

    /// Takes the values of the chain's joints from a pose. They are within their limits to the last bit. A
    /// joint whose place is that of the value that it has in `values` keeps it, and one that turns is taken
    /// to the turn that is nearest to that value. An error where there is not one value a degree of freedom.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        self.check_count(values)?;
        for p in &self.joints {
            let now = pose.local(p.joint);
            let value = &mut values[p.dof];
            if self.placed(p, *value, now) == *now && (p.lower..=p.upper).contains(value) {
                continue;
            }
            let back = self.base(p).transpose();
            *value = if p.slides {
                let rest = self.skeleton.rest(p.joint).translation;
                p.middle + (back * (now.translation.as_dvec3() - rest.as_dvec3())).z
            } else {
                let own = math64::quaternion(&(back * wide(now.rotation)));
                nearest_turn(p, p.middle + 2.0 * math64::atan2(own.z, own.w), *value)
            }
            .max(p.lower)
            .min(p.upper);
        }
        Ok(())
    }
}

/// The value a whole number of turns from `value` that is nearest to `start`, within the limits where any is.
fn nearest_turn(p: &Placed, value: f64, start: f64) -> f64 {
    const TURN: f64 = core::f64::consts::TAU;
    let near = value + TURN * math64::round((start - value) / TURN);
    let outside = |v: f64| (p.lower - v).max(v - p.upper).max(0.0);
    // The limits of a joint with less than a turn lie half a turn from its middle at most: there it is `value` itself.
    // Others have a turn inside next to the limit.
    [near, near - TURN, near + TURN, value].into_iter().fold(near, |best, v| {
        let better = outside(v) < outside(best);
        if better { v } else { best }
    })
}

fn wide(q: Quat) -> DMat3 {
    let (x, y, z, w) = (f64::from(q.x), f64::from(q.y), f64::from(q.z), f64::from(q.w));
    let s = 1.0 / math64::sqrt(x * x + y * y + z * z + w * w);
    math64::matrix(glam::DQuat::from_xyzw(x * s, y * s, z * s, w * s))
}
