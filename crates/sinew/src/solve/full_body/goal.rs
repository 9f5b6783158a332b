//! What a tree is led by, and what can be wrong with it.

use alloc::string::String;

use glam::Vec3;
use thiserror::Error;

use crate::{JointId, Skeleton, joint::UnsupportedAttribute};

/// What a goal of a [`FullBody`](super::FullBody) leads: a joint, or a point that moves with it.
///
/// ```
/// # use sinew::{Skeleton, JointTransform, glam::Vec3, solve::Effector};
/// # let mut builder = Skeleton::builder();
/// # builder.add("foot", None, JointTransform::IDENTITY);
/// # let (skeleton, _) = builder.build()?;
/// # let foot = skeleton.find("foot").unwrap();
/// let sole = Effector::new(foot).with_offset(Vec3::new(0.0, -0.08, 0.0)).with_priority(0);
/// # Ok::<(), sinew::SkeletonError>(())
/// ```
#[doc(alias("end effector", "tip"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effector {
    /// The joint; any of the tree's, at the end of a limb or in the middle.
    pub joint: JointId,
    /// The point that a position goal is for, in the joint's own frame and units: zero for the joint itself.
    pub offset: Vec3,
    /// 0 goes first, to 2. What has a higher number gets what the lower ones leave: it moves what they do not need.
    pub priority: u8,
    /// The joint with which the goal moves: then positions and rotations are seen from this joint's own frame, and the
    /// two close a loop. Without one, goals are in model space.
    pub relative_to: Option<JointId>,
}

impl Effector {
    /// A joint itself, first priority, goals in model space.
    pub const fn new(joint: JointId) -> Self {
        Self { joint, offset: Vec3::ZERO, priority: 0, relative_to: None }
    }

    /// A point of the joint's own frame.
    pub const fn with_offset(self, offset: Vec3) -> Self {
        Self { offset, ..self }
    }

    /// With another priority.
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// With a goal that moves with a joint.
    pub const fn relative_to(self, joint: JointId) -> Self {
        Self { relative_to: Some(joint), ..self }
    }
}

/// What the root of a tree does. It turns as its joint allows in any case.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum RootMode {
    /// Stays where it is.
    #[default]
    Pinned,
    /// Goes wherever the goals lead it.
    Free,
    /// Follows reluctantly: of all places from which the goals are met as well, it takes one near to where it came in. The
    /// number says how reluctantly beside the joints: 1 weighs a way of the figure's size like a turn of a radian.
    Spring(f32),
    /// Is put at a place in model space, and stays there.
    At(Vec3),
}

/// How one goal came out, measured on the pose that was left.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EffectorReport {
    /// Whether position and rotation are met within the tolerances.
    pub met: bool,
    /// Metres that are missing; 0 where no position was asked for (a weight of 0 asks for none).
    pub position_residual: f32,
    /// Radians that are missing; 0 where no rotation was asked for.
    pub rotation_residual: f32,
}

/// Why tips do not make a tree.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FullBodyError {
    /// Nothing was to be led.
    #[error("a full-body solver needs at least one effector")]
    Empty,
    /// The id is none of the skeleton's.
    #[error("tip {tip} names joint {joint}, but the skeleton has {count} joints")]
    NoSuchJoint {
        /// Which tip, from 0.
        tip: usize,
        /// The joint that it names, or that its goal moves with.
        joint: JointId,
        /// How many joints there are.
        count: usize,
    },
    /// The root's id is none of the skeleton's.
    #[error("the root is joint {joint}, but the skeleton has {count} joints")]
    NoSuchRoot {
        /// The joint.
        joint: JointId,
        /// How many joints there are.
        count: usize,
    },
    /// A tip does not hang below the root.
    #[error("joint `{tip}` does not hang below joint `{root}`")]
    NotBelowRoot {
        /// Name of the tip.
        tip: String,
        /// Name of the root.
        root: String,
    },
    /// The offset holds NaN or an infinity.
    #[error("the offset at the tip `{joint}` is not finite: {offset}")]
    Offset {
        /// Name of the joint.
        joint: String,
        /// The offset.
        offset: Vec3,
    },
    /// There are three priorities.
    #[error("the tip `{joint}` has priority {priority}: it must be 0, 1 or 2")]
    Priority {
        /// Name of the joint.
        joint: String,
        /// The priority.
        priority: u8,
    },
    /// A goal that moves with the joint that it is for can never be met, or always.
    #[error("the goal of joint `{joint}` moves with that joint itself: a loop has two ends")]
    LoopWithItself {
        /// Name of the joint.
        joint: String,
    },
    /// Two tips are the same point of the same joint.
    #[error("tips {first} and {second} both lead the same point of joint `{joint}`")]
    Twice {
        /// Which tip.
        first: usize,
        /// Which other.
        second: usize,
        /// Name of the joint.
        joint: String,
    },
    /// A joint asks for what the solver cannot honour.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// An error unless tips make a tree below a root.
pub(super) fn check(skeleton: &Skeleton, root: JointId, tips: &[Effector]) -> Result<(), FullBodyError> {
    let count = skeleton.len();
    if root.index() >= count {
        return Err(FullBodyError::NoSuchRoot { joint: root, count });
    }
    if tips.is_empty() {
        return Err(FullBodyError::Empty);
    }
    let name = |joint| String::from(skeleton.name(joint));
    for (i, tip) in tips.iter().enumerate() {
        for joint in [Some(tip.joint), tip.relative_to].into_iter().flatten() {
            if joint.index() >= count {
                return Err(FullBodyError::NoSuchJoint { tip: i, joint, count });
            }
        }
        if !skeleton.is_below(tip.joint, root) {
            return Err(FullBodyError::NotBelowRoot { tip: name(tip.joint), root: name(root) });
        }
        if !tip.offset.is_finite() {
            return Err(FullBodyError::Offset { joint: name(tip.joint), offset: tip.offset });
        }
        if tip.priority > 2 {
            return Err(FullBodyError::Priority { joint: name(tip.joint), priority: tip.priority });
        }
        if tip.relative_to == Some(tip.joint) {
            return Err(FullBodyError::LoopWithItself { joint: name(tip.joint) });
        }
        let same = |other: &&Effector| {
            (other.joint, other.offset, other.relative_to) == (tip.joint, tip.offset, tip.relative_to)
        };
        if let Some(second) = tips[i + 1..].iter().position(|other| same(&other)) {
            return Err(FullBodyError::Twice { first: i, second: i + 1 + second, joint: name(tip.joint) });
        }
    }
    Ok(())
}
