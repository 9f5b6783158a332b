//! Effectors, root modes, reports and errors of the full-body solver.

use alloc::string::String;

use glam::Vec3;
use thiserror::Error;

use crate::{JointId, Skeleton, joint::UnsupportedAttribute};

/// The joint that a goal of a [`FullBody`](super::FullBody) moves, or a point fixed to it.
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
    /// The joint: any joint below the root, or the root itself.
    pub joint: JointId,
    /// Position of the point in the joint's own frame and units; zero (the default) for the joint's origin.
    pub offset: Vec3,
    /// Priority of the goal: 0 (highest, the default), 1 or 2. Goals of a lower priority use the dofs that the higher ones
    /// leave free.
    pub priority: u8,
    /// The joint that the goal is relative to: its position and rotation are then in that joint's own frame, which closes a
    /// loop. `None` (the default) for goals in model space.
    pub relative_to: Option<JointId>,
}

impl Effector {
    /// An effector at the joint's origin, of the highest priority, with goals in model space.
    pub const fn new(joint: JointId) -> Self {
        Self { joint, offset: Vec3::ZERO, priority: 0, relative_to: None }
    }

    /// Moves the effector to a point of the joint's own frame.
    pub const fn with_offset(self, offset: Vec3) -> Self {
        Self { offset, ..self }
    }

    /// Sets the priority, 0 (highest) to 2.
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Makes the goals relative to another joint.
    pub const fn relative_to(self, joint: JointId) -> Self {
        Self { relative_to: Some(joint), ..self }
    }
}

/// How the root of a full body translates. It rotates as its joint allows in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum RootMode {
    /// Stays at its position.
    #[default]
    Pinned,
    /// Translates without resistance.
    Free,
    /// Translates against a spring to its incoming position: of all poses that meet the goals, the solver takes one with the
    /// root near there. The value is the spring's strength, 0 or more: at 1, a displacement by the figure's size costs as
    /// much as a rotation of one radian.
    Spring(f32),
    /// Moves to a position in model space, in metres, and stays there.
    At(Vec3),
}

/// Outcome of one goal, measured on the solved pose.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct EffectorReport {
    /// Whether position and rotation are within the tolerances.
    pub met: bool,
    /// Distance to the goal in metres; 0 without a position goal or at weight 0.
    pub position_residual: f32,
    /// Angle to the goal in radians; 0 without a rotation goal or at weight 0.
    pub rotation_residual: f32,
}

/// Why effectors cannot be solved on a skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FullBodyError {
    /// The list of effectors is empty.
    #[error("a full-body solver needs at least one effector")]
    Empty,
    /// A joint id is not in the skeleton.
    #[error("effector {effector} names joint {joint}, but the skeleton has {count} joints")]
    NoSuchJoint {
        /// Index of the effector, from 0.
        effector: usize,
        /// The joint of the effector, or the joint that its goal is relative to.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// The root's id is not in the skeleton.
    #[error("the root is joint {joint}, but the skeleton has {count} joints")]
    NoSuchRoot {
        /// The root.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// An effector is not below the root.
    #[error("joint `{effector}` does not hang below joint `{root}`")]
    NotBelowRoot {
        /// Name of the effector's joint.
        effector: String,
        /// Name of the root.
        root: String,
    },
    /// The offset of an effector holds NaN or an infinity.
    #[error("the offset of the effector on joint `{joint}` is not finite: {offset}")]
    Offset {
        /// Name of the effector's joint.
        joint: String,
        /// The offset.
        offset: Vec3,
    },
    /// A priority is above 2.
    #[error("the effector on joint `{joint}` has priority {priority}: it must be 0, 1 or 2")]
    Priority {
        /// Name of the effector's joint.
        joint: String,
        /// The priority.
        priority: u8,
    },
    /// A goal is relative to the effector's own joint, so no motion changes its residual.
    #[error("the goal of joint `{joint}` moves with that joint itself: a loop has two ends")]
    LoopWithItself {
        /// Name of the joint.
        joint: String,
    },
    /// Two effectors are the same point of the same joint.
    #[error("effectors {first} and {second} both lead the same point of joint `{joint}`")]
    Twice {
        /// Index of the first effector, from 0.
        first: usize,
        /// Index of the second.
        second: usize,
        /// Name of their joint.
        joint: String,
    },
    /// A joint has an attribute that the solver cannot honour.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// Checks the effectors against the skeleton and the root.
pub(super) fn check(skeleton: &Skeleton, root: JointId, effectors: &[Effector]) -> Result<(), FullBodyError> {
    let count = skeleton.len();
    if root.index() >= count {
        return Err(FullBodyError::NoSuchRoot { joint: root, count });
    }
    if effectors.is_empty() {
        return Err(FullBodyError::Empty);
    }
    let name = |joint| String::from(skeleton.name(joint));
    for (i, e) in effectors.iter().enumerate() {
        for joint in [Some(e.joint), e.relative_to].into_iter().flatten() {
            if joint.index() >= count {
                return Err(FullBodyError::NoSuchJoint { effector: i, joint, count });
            }
        }
        if !skeleton.is_below(e.joint, root) {
            return Err(FullBodyError::NotBelowRoot { effector: name(e.joint), root: name(root) });
        }
        if !e.offset.is_finite() {
            return Err(FullBodyError::Offset { joint: name(e.joint), offset: e.offset });
        }
        if e.priority > 2 {
            return Err(FullBodyError::Priority { joint: name(e.joint), priority: e.priority });
        }
        if e.relative_to == Some(e.joint) {
            return Err(FullBodyError::LoopWithItself { joint: name(e.joint) });
        }
        let same = |other: &&Effector| {
            (other.joint, other.offset, other.relative_to) == (e.joint, e.offset, e.relative_to)
        };
        if let Some(second) = effectors[i + 1..].iter().position(|other| same(&other)) {
            return Err(FullBodyError::Twice { first: i, second: i + 1 + second, joint: name(e.joint) });
        }
    }
    Ok(())
}
