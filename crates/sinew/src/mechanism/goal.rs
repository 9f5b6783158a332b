//! Goals of links.

use alloc::string::String;

use glam::{DAffine3, DQuat, DVec3};
use thiserror::Error;

use super::{LinkId, Mechanism};
use crate::math64;

/// Target of a link's frame.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum LinkTarget {
    /// Position and rotation (unit quaternion).
    Pose(DVec3, DQuat),
    /// Position alone; the rotation is free.
    Position(DVec3),
    /// Rotation alone (unit quaternion); the position is free.
    Rotation(DQuat),
    /// Rotation in which an axis of the frame (the first, of any length above 0) points from the frame's origin to a point
    /// (the second).
    LookAt(DVec3, DVec3),
}

/// Goal of one link: a target, its weights and its priority.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LinkGoal {
    /// Link that is to reach the target.
    pub link: LinkId,
    /// Frame in the link's space that is to reach the target, such as a tool's tip: a rotation and a translation.
    pub frame: DAffine3,
    /// Link in whose space the target is given. Where the two links are on different branches, the goal closes a loop.
    pub relative_to: LinkId,
    /// Target of the frame, in the space of [`LinkGoal::relative_to`].
    pub target: LinkTarget,
    /// Weights along x, y and z, then about x, y and z, each finite and at least 0. The axes are those of the target's
    /// frame, or of the space in which a position without rotation is given. 0 leaves a direction free, such as the turn
    /// about a tool's axis. [`LinkTarget::LookAt`] uses the largest of the last three.
    pub weights: [f64; 6],
    /// Priority: 0 comes first. Goals of a higher number act in the null space of those of a lower number.
    pub priority: u8,
}

impl LinkGoal {
    /// Returns a goal relative to the root link, of priority 0, with all weights 1.
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

    /// Sets [`target`](Self::target).
    #[must_use]
    pub const fn with_target(self, target: LinkTarget) -> Self {
        Self { target, ..self }
    }

    /// Sets [`relative_to`](Self::relative_to).
    #[must_use]
    pub const fn with_relative_to(self, link: LinkId) -> Self {
        Self { relative_to: link, ..self }
    }

    /// Sets [`frame`](Self::frame).
    #[must_use]
    pub const fn with_frame(self, frame: DAffine3) -> Self {
        Self { frame, ..self }
    }

    /// Sets [`weights`](Self::weights).
    #[must_use]
    pub const fn with_weights(self, weights: [f64; 6]) -> Self {
        Self { weights, ..self }
    }

    /// Sets [`priority`](Self::priority).
    #[must_use]
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }
}

/// Reason why a goal was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LinkGoalError {
    /// A number is NaN or infinite.
    #[error("the {what} of the goal for link `{link}` is not finite: {value}")]
    NotFinite {
        /// The link.
        link: String,
        /// Quantity that the value gives.
        what: &'static str,
        /// Its value.
        value: DVec3,
    },
    /// A coordinate is larger than 1e50 metres, so that distances may overflow.
    #[error("the {what} of the goal for link `{link}` is too far away: {value}")]
    TooFar {
        /// The link.
        link: String,
        /// Quantity that the value gives.
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
    #[error("the frame of the goal for link `{link}` must be a rotation with a translation, not {frame}")]
    NotRigid {
        /// The link.
        link: String,
        /// The frame.
        frame: DAffine3,
    },
    /// The axis of a look-at target has no direction.
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
        /// Index of the weight, 0 to 5.
        index: usize,
        /// Its value.
        weight: f64,
    },
}

/// Largest coordinate that is accepted, in metres (or angle, in radians): its fourth power is still finite.
pub(super) const FARTHEST: f64 = 1e50;
/// Largest deviation from unit length of an accepted quaternion: the rounding of six digits.
const UNIT: f64 = 1e-5;

/// Returns the target as a transform in its space. The parts that it leaves free are the identity.
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

/// Checks that every number of a goal is usable.
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
    // NaN fails too.
    if !off.iter().all(|o| o.abs() <= UNIT) {
        return Err(LinkGoalError::NotRigid { link: link(), frame: goal.frame });
    }
    match goal.weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
        Some(index) => Err(LinkGoalError::Weight { link: link(), index, weight: goal.weights[index] }),
        None => Ok(()),
    }
}
