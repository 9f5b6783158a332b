//! What a link is asked to do.

use alloc::string::String;

use glam::{DAffine3, DQuat, DVec3};
use thiserror::Error;

use super::{LinkId, Mechanism};
use crate::math64;

/// Where a link's frame should be.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinkTarget {
    /// At a place, turned as a unit quaternion says.
    Pose(DVec3, DQuat),
    /// At a place, turned in any way.
    Position(DVec3),
    /// Turned as a unit quaternion says, at any place.
    Rotation(DQuat),
    /// Turned so that an axis of the frame (the first, of any length) points from the frame's origin to a point (the
    /// second).
    LookAt(DVec3, DVec3),
}

/// One thing that is asked of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkGoal {
    /// The link that is to be moved.
    pub link: LinkId,
    /// The frame in that link's space that the target is for (a tool's point): a rotation and a translation.
    pub frame: DAffine3,
    /// The link in whose space the target is given. Where the two hang on each other through different joints this closes
    /// a loop.
    pub relative_to: LinkId,
    /// Where the frame should be, in the space of [`LinkGoal::relative_to`].
    pub target: LinkTarget,
    /// How much each direction counts: along x, y and z, then turns about x, y and z, of the target's own frame (of the
    /// space that a place is given in, where no rotation is). 0 leaves a direction free; turns about the tool's axis, say.
    /// For [`LinkTarget::LookAt`] the largest of the last three counts.
    pub weights: [f64; 6],
    /// Goals of a higher priority are served within what those of a lower number leave free.
    pub priority: u8,
}

impl LinkGoal {
    /// Every direction counts alike, relative to the root link, first priority.
    pub fn new(mechanism: &Mechanism, link: LinkId, target: LinkTarget) -> Self {
        Self {
            link,
            frame: DAffine3::IDENTITY,
            relative_to: mechanism.root(),
            target,
            weights: [1.0; 6],
            priority: 0,
        }
    }

    /// The same with another target.
    pub const fn with_target(self, target: LinkTarget) -> Self {
        Self { target, ..self }
    }

    /// The same, given in another link's space.
    pub const fn relative_to(self, link: LinkId) -> Self {
        Self { relative_to: link, ..self }
    }

    /// The same for a frame of the link.
    pub const fn with_frame(self, frame: DAffine3) -> Self {
        Self { frame, ..self }
    }

    /// The same with weights.
    pub const fn with_weights(self, weights: [f64; 6]) -> Self {
        Self { weights, ..self }
    }

    /// The same at a priority.
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

/// What is wrong with a goal. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkGoalError {
    /// A number is NaN or infinite.
    #[error("the {what} of the goal for link `{link}` is not finite: {value}")]
    NotFinite {
        /// The link.
        link: String,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: DVec3,
    },
    /// A place is so far away that its distance is no number any more.
    #[error("the {what} of the goal for link `{link}` is too far away: {value}")]
    TooFar {
        /// The link.
        link: String,
        /// What it is.
        what: &'static str,
        /// Its value.
        value: DVec3,
    },
    /// A rotation is not a unit quaternion.
    #[error("the rotation of the goal for link `{link}` is not a unit quaternion: {rotation}")]
    NotUnit {
        /// The link.
        link: String,
        /// The rotation.
        rotation: DQuat,
    },
    /// The frame in the link is sheared, scaled or mirrored.
    #[error("the frame of the goal for link `{link}` is no rotation with a translation: {frame}")]
    NotRigid {
        /// The link.
        link: String,
        /// The frame.
        frame: DAffine3,
    },
    /// The axis that should point at something has no direction.
    #[error("the axis of the goal for link `{link}` has no direction: {axis}")]
    ZeroAxis {
        /// The link.
        link: String,
        /// The axis.
        axis: DVec3,
    },
    /// A weight is negative, NaN or infinite.
    #[error("weight {index} of the goal for link `{link}` must be finite and at least 0, not {weight}")]
    Weight {
        /// The link.
        link: String,
        /// Which of the six.
        index: usize,
        /// Its value.
        weight: f64,
    },
}

/// Metres: the square of a square is still a number.
pub(super) const FARTHEST: f64 = 1e50;
/// How far from unit length a quaternion may be that is taken as one: what six digits leave.
const UNIT: f64 = 1e-5;

/// The target as a transform in the space that it is given in. What it does not say is the identity.
pub(super) fn transform(target: &LinkTarget) -> DAffine3 {
    match *target {
        LinkTarget::Pose(position, rotation) => {
            DAffine3::from_mat3_translation(math64::matrix(math64::normalize(rotation)), position)
        }
        LinkTarget::Position(position) => DAffine3::from_translation(position),
        LinkTarget::Rotation(rotation) => DAffine3::from_mat3(math64::matrix(math64::normalize(rotation))),
        LinkTarget::LookAt(_, point) => DAffine3::from_translation(point),
    }
}

/// Whether the numbers of a goal can be worked with.
pub(super) fn check(mechanism: &Mechanism, goal: &LinkGoal) -> Result<(), LinkGoalError> {
    let link = || String::from(mechanism.link_name(goal.link));
    let finite = |what, value: DVec3| match value.is_finite() {
        true if value.abs().max_element() <= FARTHEST => Ok(()),
        true => Err(LinkGoalError::TooFar { link: link(), what, value }),
        false => Err(LinkGoalError::NotFinite { link: link(), what, value }),
    };
    let unit = |q: DQuat| {
        let l = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
        // NaN fails too.
        if (l - 1.0).abs() <= UNIT {
            Ok(())
        } else {
            Err(LinkGoalError::NotUnit { link: link(), rotation: q })
        }
    };
    match goal.target {
        LinkTarget::Pose(position, rotation) => finite("position", position).and_then(|()| unit(rotation))?,
        LinkTarget::Position(position) => finite("position", position)?,
        LinkTarget::Rotation(rotation) => unit(rotation)?,
        LinkTarget::LookAt(axis, point) => {
            finite("axis", axis)?;
            finite("point", point)?;
            if !axis.length_squared().is_normal() {
                return Err(LinkGoalError::ZeroAxis { link: link(), axis });
            }
        }
    }
    finite("frame's origin", goal.frame.translation)?;
    let m = goal.frame.matrix3;
    let (x, y, z) = (m.x_axis, m.y_axis, m.z_axis);
    let off = [x.length_squared() - 1.0, y.length_squared() - 1.0, x.dot(y), (x.cross(y) - z).length()];
    // NaN is not at most anything.
    if !off.iter().all(|o| o.abs() <= UNIT) {
        return Err(LinkGoalError::NotRigid { link: link(), frame: goal.frame });
    }
    match goal.weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        Some(index) => Err(LinkGoalError::Weight { link: link(), index, weight: goal.weights[index] }),
        None => Ok(()),
    }
}
