//! Keys of a rig: goals and joints over time, edits with undo, recording, mirroring.
//!
//! [`RigKeys`] holds tracks of [`Key`]s for the goals of a rig, and for joints that are animated by themselves (FK).
//! [`RigKeys::sample`] writes the goals of a frame, which [`Rig::apply`](super::Rig::apply) takes, and
//! [`RigKeys::sample_pose`] the joints. Both are functions of the keys and the time alone, and allocate nothing.
//!
//! Keys change by one operation: [`RigKeys::edit`] applies a [`KeyEdit`], which sets and deletes any number of keys, all or
//! none of them, and returns the edit that undoes it. Everything else makes such edits: retiming, [changes of
//! space](RigKeys::change_space), the [`Recorder`] (auto key), the [`Mirror`].
//!
//! ```
//! use std::sync::Arc;
//! use sinew::{JointTransform, Pose, Skeleton, Workspace, glam::Vec3};
//! use sinew::rig::{HandleSpec, Rig, RigFrame, RigGoal, RigSpec, Space};
//! use sinew::rig::keys::{Key, KeyChannel, KeyEdit, KeyOwner, RigKeys};
//!
//! let mut builder = Skeleton::builder();
//! let at = |x, y| JointTransform::from_translation(Vec3::new(x, y, 0.0));
//! let shoulder = builder.add("shoulder", None, at(0.2, 1.4));
//! let elbow = builder.add("elbow", Some(shoulder), at(0.3, -0.02));
//! builder.add("hand", Some(elbow), at(0.28, 0.02));
//! let (skeleton, ids) = builder.build()?;
//! let bind = Pose::rest(&Arc::new(skeleton));
//! let rig = Rig::new(&bind, None, &RigSpec::new(vec![HandleSpec::new("arm", ids[0], ids[2])]))?;
//!
//! let mut keys = RigKeys::new(&rig);
//! let (hand, position) = (KeyOwner::Goal(0), KeyChannel::position(Space::Model));
//! let wave = KeyEdit::new()
//!     .set(hand, position, Key::new(0.0, Vec3::new(0.5, 1.6, 0.1)))
//!     .set(hand, position, Key::new(0.5, Vec3::new(0.3, 1.8, 0.2)))
//!     .set(hand, position, Key::new(1.0, Vec3::new(0.5, 1.6, 0.1)));
//! let undo = keys.edit(&wave)?;
//! let slower = keys.retime(|_| true, 2.0, 0.0)?; // twice as long
//! keys.edit(&slower)?;
//!
//! let (mut state, mut workspace) = (rig.state(), Workspace::new());
//! let (mut pose, mut goals) = (bind.clone(), [RigGoal::new()]); // each frame
//! keys.sample(1.0, &mut goals)?;
//! rig.apply(&mut state, &mut workspace, &mut pose, &RigFrame::new(1.0 / 60.0).with_goals(&goals))?;
//! assert!(pose.position(ids[2]).distance(Vec3::new(0.3, 1.8, 0.2)) < 1e-3);
//!
//! // Undone in reverse order, nothing is left.
//! let again = keys.retime(|_| true, 0.5, 0.0)?;
//! keys.edit(&again)?;
//! keys.edit(&undo)?;
//! assert!(keys.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Time and interpolation
//!
//! Times are in seconds, finite, of any sign, and unlike within a track. Before the first key of a track its value is held,
//! and after the last. Between two keys the earlier one's [`KeyInterpolation`] counts: held, linear (rotations along the
//! shorter arc), or smooth. A smooth curve passes through its keys with slopes that are automatic, and then never goes beyond
//! the two keys between which it is, or given ([`Key::slopes`]). It is the cubic spline of glTF.
//!
//! # Spaces
//!
//! Positions, rotations, swivels and poles have a track for each [`KeySpace`]: each stay in a space. A value belongs to its
//! space for good. Keys of [`KeyChannel::Space`] switch between these tracks, without interpolation. Before the first of them a
//! goal is in the space of its [`GoalSpec`](super::GoalSpec), stay 0. A switch by itself moves the goal to where the other track
//! has it; [`RigKeys::change_space`] makes keys there so that it stays. The curve of the space before keeps its keys, also those
//! after the switch, so that the goal moves towards the switch as it did, and so that deleting the switch brings back what was
//! there. A switch that is moved makes the goal jump, unless the spaces agree there: delete it and change the space anew.
//!
//! # Keyed and given
//!
//! A part of a goal with keys is set by [`RigKeys::sample`]; in a space in which it has none, it is unset, as the animation has
//! it. Parts without any key stay as the caller gives them. To release a goal for a while, key its influence.

mod curve;
mod edit;
mod error;
mod mirror;
mod recorder;
mod space;

pub use edit::{KeyAddress, KeyEdit};
pub use error::KeyError;
pub use mirror::Mirror;
pub use recorder::Recorder;

use alloc::vec::Vec;
use core::fmt;

use glam::{Quat, Vec3};

use super::{Rig, RigGoal, Space};
use crate::{JointId, Pole, Pose, math};

/// The value of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum KeyValue {
    /// A position, in metres of its space, or a local translation.
    Vector(Vec3),
    /// A unit quaternion.
    Rotation(Quat),
    /// An angle in radians, or an influence.
    Number(f32),
    /// The space of a goal or of its pole.
    Space(KeySpace),
}

/// The space of a curve. A goal that comes back to a space has another curve there, so that one stay does not bend the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeySpace {
    /// Space.
    pub space: Space,
    /// Number of the stay in it, from 0; it tells stays apart, and has no order.
    pub stay: u16,
}

impl From<Space> for KeySpace {
    /// The first stay in a space.
    fn from(space: Space) -> Self {
        Self { space, stay: 0 }
    }
}

/// Declares conversions to a value.
macro_rules! values {
    ($($kind:ty => $variant:ident),*) => {$(
        impl From<$kind> for KeyValue {
            fn from(value: $kind) -> Self {
                Self::$variant(value)
            }
        }
    )*};
}

values!(Vec3 => Vector, Quat => Rotation, f32 => Number, KeySpace => Space);

impl From<Space> for KeyValue {
    fn from(value: Space) -> Self {
        Self::Space(value.into())
    }
}

/// The curve from a key to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum KeyInterpolation {
    /// Holds the value.
    Step,
    /// Linear; of rotations, the shorter great arc.
    Linear,
    /// A cubic curve with the slopes of both keys.
    #[default]
    Smooth,
}

/// A key of a track.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Time in seconds.
    pub time: f32,
    /// Value.
    pub value: KeyValue,
    /// Interpolation from this key to the next; that of a space is always a step.
    pub interpolation: KeyInterpolation,
    /// Rates of change per second of smooth curves into and out of the key; of a rotation, those of the quaternion's components.
    /// `None` (the default) for automatic ones, with which curves stay between their keys.
    pub slopes: Option<[KeyValue; 2]>,
}

impl Key {
    /// Largest absolute value of a number in a key: so large that interpolation cannot overflow.
    const MAX: f32 = 1e30;

    /// A key with a smooth curve after it, and automatic slopes.
    pub fn new(time: f32, value: impl Into<KeyValue>) -> Self {
        Self { time, value: value.into(), interpolation: KeyInterpolation::Smooth, slopes: None }
    }

    /// Sets [`interpolation`](Self::interpolation).
    #[must_use]
    pub const fn with_interpolation(self, interpolation: KeyInterpolation) -> Self {
        Self { interpolation, ..self }
    }

    /// Sets [`slopes`](Self::slopes) into and out of the key.
    #[must_use]
    pub fn with_slopes(self, into: impl Into<KeyValue>, out: impl Into<KeyValue>) -> Self {
        Self { slopes: Some([into.into(), out.into()]), ..self }
    }
}

/// Owner of a track.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyOwner {
    /// A goal of the rig, by its index ([`Rig::find_goal`](super::Rig::find_goal)).
    Goal(usize),
    /// A joint.
    Joint(JointId),
}

impl fmt::Display for KeyOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goal(index) => write!(f, "goal {index}"),
            Self::Joint(joint) => write!(f, "joint {joint}"),
        }
    }
}

/// A part of a goal or of a joint that has keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum KeyChannel {
    /// Space of position, rotation and swivel ([`RigGoal::space`]).
    Space,
    /// Space of the pole ([`RigGoal::pole_space`]).
    PoleSpace,
    /// Position in a space.
    Position(KeySpace),
    /// Rotation in a space.
    Rotation(KeySpace),
    /// Swivel in a space, in radians: a mirrored space turns it round.
    Swivel(KeySpace),
    /// Point that is the pole, in a space.
    Pole(KeySpace),
    /// [`RigGoal::roll`].
    Roll,
    /// [`RigGoal::bank`].
    Bank,
    /// [`RigGoal::pivot`].
    Pivot,
    /// Turn of a limb's root ([`RigGoal::turns`]).
    UpperTurn,
    /// Turn of a limb's middle joint.
    MiddleTurn,
    /// Influence of the position, 0 to 1.
    PositionInfluence,
    /// Influence of the rotation, 0 to 1.
    RotationInfluence,
    /// Local translation of a joint.
    LocalTranslation,
    /// Local rotation of a joint.
    LocalRotation,
}

impl KeyChannel {
    /// The position in a space, of the first stay there.
    pub fn position(space: impl Into<KeySpace>) -> Self {
        Self::Position(space.into())
    }

    /// The rotation in a space.
    pub fn rotation(space: impl Into<KeySpace>) -> Self {
        Self::Rotation(space.into())
    }

    /// The swivel in a space.
    pub fn swivel(space: impl Into<KeySpace>) -> Self {
        Self::Swivel(space.into())
    }

    /// The pole in a space.
    pub fn pole(space: impl Into<KeySpace>) -> Self {
        Self::Pole(space.into())
    }

    /// The space in which it is.
    pub fn space(self) -> Option<KeySpace> {
        match self {
            Self::Position(space) | Self::Rotation(space) | Self::Swivel(space) | Self::Pole(space) => {
                Some(space)
            }
            _ => None,
        }
    }

    /// The same part in another space.
    fn in_space(self, space: KeySpace) -> Self {
        match self {
            Self::Position(_) => Self::Position(space),
            Self::Rotation(_) => Self::Rotation(space),
            Self::Swivel(_) => Self::Swivel(space),
            Self::Pole(_) => Self::Pole(space),
            other => other,
        }
    }

    /// The name without the space: `position`, `rotation influence`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Space => "space",
            Self::PoleSpace => "pole space",
            Self::Position(_) => "position",
            Self::Rotation(_) => "rotation",
            Self::Swivel(_) => "swivel",
            Self::Pole(_) => "pole",
            Self::Roll => "roll",
            Self::Bank => "bank",
            Self::Pivot => "pivot",
            Self::UpperTurn => "upper turn",
            Self::MiddleTurn => "middle turn",
            Self::PositionInfluence => "position influence",
            Self::RotationInfluence => "rotation influence",
            Self::LocalTranslation => "local translation",
            Self::LocalRotation => "local rotation",
        }
    }

    /// Whether joints have it, not goals.
    fn is_local(self) -> bool {
        matches!(self, Self::LocalTranslation | Self::LocalRotation)
    }
}

impl fmt::Display for KeyChannel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.space().map(|of| of.space) {
            None => Ok(()),
            Some(Space::Model) => f.write_str(" in model space"),
            Some(Space::World) => f.write_str(" in world space"),
            Some(Space::Joint(joint)) => write!(f, " in the space of joint {joint}"),
            Some(Space::Role(role)) => write!(f, " in the space of the {role}"),
        }
    }
}

/// Keys of one channel, in the order of their times.
#[derive(Clone, Debug, PartialEq)]
pub struct KeyTrack {
    owner: KeyOwner,
    channel: KeyChannel,
    keys: Vec<Key>,
}

impl KeyTrack {
    /// Its goal or joint.
    pub fn owner(&self) -> KeyOwner {
        self.owner
    }

    /// Its channel.
    pub fn channel(&self) -> KeyChannel {
        self.channel
    }

    /// The keys, at least one, by time.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The value at a time in seconds. Before the first key and for NaN, the first key's value; after the last key, the last
    /// key's.
    pub fn sample(&self, time: f32) -> KeyValue {
        curve::sample(&self.keys, time)
    }

    /// Slopes into and out of a key, per second: its own, or the automatic ones. Panics if the index is out of range.
    pub fn slopes(&self, key: usize) -> [KeyValue; 2] {
        curve::slope_values(&self.keys, key)
    }

    /// The value of a space at a time; `None` before the first key.
    fn space(&self, time: f32) -> Option<KeySpace> {
        match self.sample(time) {
            KeyValue::Space(space) if self.keys[0].time <= time => Some(space),
            _ => None,
        }
    }
}

/// Keys of the goals of a rig, and of joints. See [the module](self).
#[derive(Clone, Debug, PartialEq)]
pub struct RigKeys {
    /// Spaces of each goal and of its pole where no key says another.
    own: Vec<(Space, Option<Space>)>,
    /// Number of joints of the skeleton.
    joints: usize,
    /// Sorted by owner and channel; none is empty.
    tracks: Vec<KeyTrack>,
}

impl RigKeys {
    /// No keys, for the goals and the skeleton of a rig.
    pub fn new(rig: &Rig) -> Self {
        let sources = rig.handles.iter().flat_map(|h| &h.sources);
        let own = sources.map(|s| (s.spec.space, s.spec.pole_space)).collect();
        Self { own, joints: rig.skeleton.len(), tracks: Vec::new() }
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.tracks.is_empty()
    }

    /// Number of goals of the rig.
    pub fn goal_count(&self) -> usize {
        self.own.len()
    }

    /// The tracks that have keys, by owner and channel.
    pub fn tracks(&self) -> &[KeyTrack] {
        &self.tracks
    }

    /// The tracks of a goal or a joint.
    pub fn tracks_of(&self, owner: KeyOwner) -> &[KeyTrack] {
        let from = self.tracks.partition_point(|t| t.owner < owner);
        let count = self.tracks[from..].partition_point(|t| t.owner == owner);
        &self.tracks[from..from + count]
    }

    /// The track of a channel, if it has keys.
    pub fn track(&self, owner: KeyOwner, channel: KeyChannel) -> Option<&KeyTrack> {
        let at = self.tracks.binary_search_by(|t| (t.owner, t.channel).cmp(&(owner, channel)));
        at.ok().map(|at| &self.tracks[at])
    }

    /// Times of the first and the last key, in seconds; `None` without keys.
    pub fn span(&self) -> Option<[f32; 2]> {
        let ends = |t: &KeyTrack| [t.keys[0].time, t.keys[t.keys.len() - 1].time];
        self.tracks.iter().map(ends).reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])])
    }

    /// The spaces of a goal and of its pole at a time: those of the last keys at or before it, or those of the goal's
    /// [`GoalSpec`](super::GoalSpec).
    ///
    /// # Errors
    ///
    /// [`KeyError::NoGoal`].
    pub fn spaces(&self, goal: usize, time: f32) -> Result<[KeySpace; 2], KeyError> {
        let own = self.own.get(goal).ok_or(KeyError::NoGoal { goal, count: self.own.len() })?;
        Ok(in_force(self.tracks_of(KeyOwner::Goal(goal)), *own, time))
    }

    /// The spaces of a goal and of its pole at a time, where those that the goal itself has come first.
    fn spaces_of(&self, index: usize, goal: &RigGoal, time: f32) -> Result<[KeySpace; 2], KeyError> {
        let keyed = self.spaces(index, time)?;
        // A space of the goal's own is the keyed stay in it, or the first one.
        let own = |given: Option<Space>, keyed: KeySpace| match given {
            Some(space) if space != keyed.space => space.into(),
            _ => keyed,
        };
        let space = own(goal.space, keyed[0]);
        Ok([space, own(goal.pole_space, if self.pole_follows(index, time) { space } else { keyed[1] })])
    }

    /// Whether the pole of a goal is in the space of the goal, whichever that is.
    fn pole_follows(&self, goal: usize, time: f32) -> bool {
        let keyed = self.track(KeyOwner::Goal(goal), KeyChannel::PoleSpace);
        self.own[goal].1.is_none() && keyed.and_then(|track| track.space(time)).is_none()
    }

    /// Sets the keyed parts of all goals to their values at `time`, in seconds. `goals` are those of the rig, in order; parts
    /// without keys stay as they are.
    ///
    /// # Errors
    ///
    /// [`KeyError::GoalCount`], and [`KeyError::Time`] for a time that is not finite. Goals are then as they were.
    pub fn sample(&self, time: f32, goals: &mut [RigGoal]) -> Result<(), KeyError> {
        if goals.len() != self.own.len() {
            return Err(KeyError::GoalCount { given: goals.len(), wanted: self.own.len() });
        }
        if !time.is_finite() {
            return Err(KeyError::Time(time));
        }
        for tracks in self.tracks.chunk_by(|a, b| a.owner == b.owner) {
            let KeyOwner::Goal(index) = tracks[0].owner else { continue };
            let (goal, own) = (&mut goals[index], self.own[index]);
            let [space, pole_space] = in_force(tracks, own, time);
            for track in tracks {
                let spaces = match track.channel {
                    KeyChannel::Pole(_) | KeyChannel::PoleSpace => (None, Some(pole_space)),
                    KeyChannel::Space => (Some(space), None),
                    channel => (channel.space().map(|_| space), None),
                };
                if let Some(space) = spaces.0 {
                    goal.space = Some(space.space);
                }
                if let Some(space) = spaces.1 {
                    goal.pole_space = Some(space.space);
                }
                unset(goal, track.channel);
            }
            for track in tracks {
                let here = match track.channel {
                    KeyChannel::Space | KeyChannel::PoleSpace => continue,
                    KeyChannel::Pole(_) => pole_space,
                    _ => space,
                };
                if track.channel.space().is_none_or(|of| of == here) {
                    set(goal, track.channel, track.sample(time));
                }
            }
        }
        Ok(())
    }

    /// Sets the keyed local transforms of joints to their values at `time`, in seconds. Does not recompute model space: call
    /// [`Pose::update`].
    ///
    /// # Errors
    ///
    /// [`KeyError::JointCount`], and [`KeyError::Time`] for a time that is not finite. The pose is then as it was.
    pub fn sample_pose(&self, time: f32, pose: &mut Pose) -> Result<(), KeyError> {
        if pose.skeleton().len() != self.joints {
            return Err(KeyError::JointCount { given: pose.skeleton().len(), wanted: self.joints });
        }
        if !time.is_finite() {
            return Err(KeyError::Time(time));
        }
        for track in &self.tracks {
            match (track.owner, track.sample(time)) {
                (KeyOwner::Joint(joint), KeyValue::Vector(v)) => pose.set_translation(joint, v),
                (KeyOwner::Joint(joint), KeyValue::Rotation(q)) => {
                    // A unit quaternion keeps its bits.
                    pose.set_rotation(joint, math::unit(q).unwrap_or_else(|| math::normalize(q)));
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// The spaces of a goal and of its pole at a time, by the goal's tracks.
fn in_force(tracks: &[KeyTrack], own: (Space, Option<Space>), time: f32) -> [KeySpace; 2] {
    let keyed = |channel| tracks.iter().find(|t| t.channel == channel).and_then(|t| t.space(time));
    let space = keyed(KeyChannel::Space).unwrap_or(own.0.into());
    [space, keyed(KeyChannel::PoleSpace).or(own.1.map(Into::into)).unwrap_or(space)]
}

/// Unsets the part of a channel that has a space.
fn unset(goal: &mut RigGoal, channel: KeyChannel) {
    match channel {
        KeyChannel::Position(_) => goal.goal.position = None,
        KeyChannel::Rotation(_) => goal.goal.rotation = None,
        KeyChannel::Swivel(_) => goal.goal.swivel = 0.0,
        KeyChannel::Pole(_) => goal.goal.pole = Pole::Keep,
        _ => {}
    }
}

/// Sets the part of a channel; a value of another kind does nothing.
fn set(goal: &mut RigGoal, channel: KeyChannel, value: KeyValue) {
    match (channel, value) {
        (KeyChannel::Position(_), KeyValue::Vector(v)) => goal.goal.position = Some(v),
        (KeyChannel::Rotation(_), KeyValue::Rotation(q)) => goal.goal.rotation = Some(q),
        (KeyChannel::Pole(_), KeyValue::Vector(v)) => goal.goal.pole = Pole::Point(v),
        (KeyChannel::Swivel(_), KeyValue::Number(x)) => goal.goal.swivel = x,
        (KeyChannel::Roll, KeyValue::Number(x)) => goal.roll = x,
        (KeyChannel::Bank, KeyValue::Number(x)) => goal.bank = x,
        (KeyChannel::Pivot, KeyValue::Number(x)) => goal.pivot = x,
        (KeyChannel::UpperTurn, KeyValue::Rotation(q)) => goal.turns[0] = q,
        (KeyChannel::MiddleTurn, KeyValue::Rotation(q)) => goal.turns[1] = q,
        (KeyChannel::PositionInfluence, KeyValue::Number(x)) => goal.goal.position_influence = x,
        (KeyChannel::RotationInfluence, KeyValue::Number(x)) => goal.goal.rotation_influence = x,
        _ => {}
    }
}

/// The parts of a goal that can have keys, each with its value where it is set. `spaces` are those of goal and pole.
fn parts(goal: &RigGoal, spaces: [KeySpace; 2]) -> [(KeyChannel, Option<KeyValue>); 11] {
    let pole = match goal.goal.pole {
        Pole::Point(p) => Some(p.into()),
        _ => None,
    };
    let number = |x: f32| Some(x.into());
    [
        (KeyChannel::Position(spaces[0]), goal.goal.position.map(Into::into)),
        (KeyChannel::Rotation(spaces[0]), goal.goal.rotation.map(Into::into)),
        (KeyChannel::Swivel(spaces[0]), number(goal.goal.swivel)),
        (KeyChannel::Pole(spaces[1]), pole),
        (KeyChannel::Roll, number(goal.roll)),
        (KeyChannel::Bank, number(goal.bank)),
        (KeyChannel::Pivot, number(goal.pivot)),
        (KeyChannel::UpperTurn, Some(goal.turns[0].into())),
        (KeyChannel::MiddleTurn, Some(goal.turns[1].into())),
        (KeyChannel::PositionInfluence, number(goal.goal.position_influence)),
        (KeyChannel::RotationInfluence, number(goal.goal.rotation_influence)),
    ]
}
