//! Errors of keys.

use alloc::boxed::Box;

use thiserror::Error;

use super::{KeyAddress, KeyChannel, KeyOwner, KeyValue};
use crate::{JointId, rig::RigError};

/// Error of keys. What was to be changed stays as it was.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The rig does not have the goal.
    #[error("there is no goal {goal}: the rig has {count} goals, from 0")]
    NoGoal {
        /// Index of the goal.
        goal: usize,
        /// Number of goals of the rig.
        count: usize,
    },
    /// The skeleton does not have the joint.
    #[error("there is no joint {joint}: the skeleton has {count} joints")]
    NoJoint {
        /// The joint.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// A joint has no goal's channels, and a goal none of a joint's.
    #[error("{owner} has no {channel}")]
    NoChannel {
        /// Goal or joint.
        owner: KeyOwner,
        /// Channel.
        channel: KeyChannel,
    },
    /// A time is NaN or infinite.
    #[error("a time must be finite, in seconds, not {0}")]
    Time(f32),
    /// A value is not one of its channel.
    #[error("{key}: a value must be {rule}, not {value:?}")]
    Value {
        /// The key.
        key: KeyAddress,
        /// Allowed values.
        rule: &'static str,
        /// Value that was given.
        value: KeyValue,
    },
    /// A slope is not one of its channel.
    #[error("{key}: a slope must be {rule}, not {value:?}")]
    Slope {
        /// The key.
        key: KeyAddress,
        /// Allowed slopes.
        rule: &'static str,
        /// Slope that was given.
        value: KeyValue,
    },
    /// There is no key to delete.
    #[error("{0}: there is no key")]
    NoKey(KeyAddress),
    /// Two keys would be at one time.
    #[error("{0}: two keys would be at this time")]
    SameTime(KeyAddress),
    /// A list of keys is not in the order of their times.
    #[error("{key}: it is not after the key before, at {before} s")]
    Order {
        /// The key.
        key: KeyAddress,
        /// Time of the key before in seconds.
        before: f32,
    },
    /// A list of keys is empty.
    #[error("{channel} of {owner}: a track needs at least one key")]
    NoKeys {
        /// Goal or joint.
        owner: KeyOwner,
        /// Channel.
        channel: KeyChannel,
    },
    /// A number is outside its range.
    #[error("{what} must be {range}, not {value}")]
    OutOfRange {
        /// Name of the number.
        what: &'static str,
        /// Allowed values.
        range: &'static str,
        /// Value that was given.
        value: f32,
    },
    /// The number of goals is not that of the rig.
    #[error("{given} goals were given for {wanted} of the rig")]
    GoalCount {
        /// Number of goals given.
        given: usize,
        /// Number of goals of the rig.
        wanted: usize,
    },
    /// A pose, or the keys, belong to another skeleton.
    #[error("{given} joints were given for {wanted} of the skeleton")]
    JointCount {
        /// Number of joints given.
        given: usize,
        /// Number of joints of the skeleton.
        wanted: usize,
    },
    /// A pole that is a direction cannot be keyed.
    #[error("goal {0}: a pole needs a point to be keyed, not a direction")]
    PoleDirection(usize),
    /// A goal or a joint has nothing that it could be mirrored to.
    #[error("{0} has no partner on the other side")]
    NoPartner(KeyOwner),
    /// A space has no inverse, so that nothing can be mirrored to it.
    #[error("{0:?} has no size at bind, so that nothing can be mirrored to it")]
    Flat(crate::rig::Space),
    /// The rig refuses a space.
    #[error(transparent)]
    Rig(Box<RigError>),
}

impl From<RigError> for KeyError {
    fn from(error: RigError) -> Self {
        Self::Rig(Box::new(error))
    }
}
