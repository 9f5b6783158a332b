//! Recording of what an interaction changed (auto key).

use super::{
    Key, KeyAddress, KeyChannel, KeyEdit, KeyError, KeyInterpolation, KeyOwner, KeySpace, KeyValue, RigKeys,
    parts,
};
use crate::{Pole, Pose, math, rig::RigGoal};

/// Keys what an interaction changed, as auto key of animation programs does.
///
/// A part that changed gets a key at the time of the interaction. One without keys so far gets a key at
/// [`start`](Self::start) too, with its value before, so that the frame there stays as it was and the frames between lead from
/// one to the other, as in 3ds Max. Where a position or a rotation was unset before, as the animation had it, its influence is
/// keyed instead: from 0 at the start to that of the goal. A pole that was unset, or a part at or before the start, is
/// as it is keyed at all earlier times.
///
/// ```
/// # use std::sync::Arc;
/// # use sinew::{Goal, JointTransform, Pose, Skeleton, glam::Vec3};
/// # use sinew::rig::{HandleSpec, Rig, RigGoal, RigSpec};
/// use sinew::rig::keys::{Recorder, RigKeys};
/// # let mut builder = Skeleton::builder();
/// # let at = JointTransform::from_translation(Vec3::X);
/// # for n in 0..3 { builder.add(format!("{n}"), (n as usize).checked_sub(1), at); }
/// # let (skeleton, ids) = builder.build()?;
/// # let bind = Pose::rest(&Arc::new(skeleton));
/// # let rig = Rig::new(&bind, None, &RigSpec::new(vec![HandleSpec::new("arm", ids[0], ids[2])]))?;
///
/// let mut keys = RigKeys::new(&rig);
/// let before = [RigGoal::from(Goal::position(Vec3::new(3.0, 0.0, 0.0)))];
/// let after = [RigGoal::from(Goal::position(Vec3::new(2.0, 1.0, 0.0)))];
/// let edit = Recorder::default().record(&keys, 2.0, &before, &after)?;
/// let undo = keys.edit(&edit)?;
///
/// let mut goals = [RigGoal::new()];
/// keys.sample(0.0, &mut goals)?;
/// assert_eq!(goals[0].goal, before[0].goal);
/// keys.sample(2.0, &mut goals)?;
/// assert_eq!(goals[0].goal, after[0].goal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recorder {
    /// Distance in metres of its space beyond which a position, a pole or a local translation has changed; 1e-4 by default, the
    /// distance that a change of space may move a goal.
    pub distance: f32,
    /// Angle in radians beyond which a rotation, or an angle of a goal, has changed; 1e-4 by default, which moves the end of a
    /// hand by 0.02 mm.
    pub angle: f32,
    /// Difference beyond which an influence has changed; 1e-3 by default.
    pub influence: f32,
    /// Time in seconds at which parts without keys keep their values; 0 by default.
    pub start: f32,
    /// Interpolation of new keys. A key that is replaced keeps its own.
    pub interpolation: KeyInterpolation,
}

impl Default for Recorder {
    fn default() -> Self {
        Self {
            distance: 1e-4,
            angle: 1e-4,
            influence: 1e-3,
            start: 0.0,
            interpolation: KeyInterpolation::Smooth,
        }
    }
}

impl Recorder {
    /// The edit that keys what changed from `before` to `after` at a time in seconds. Both have the goals of the rig in order; a
    /// goal's spaces are those that it has itself, else those that the keys or the rig have. Parts that are unset after are not
    /// keyed.
    ///
    /// # Errors
    ///
    /// [`KeyError::GoalCount`], [`KeyError::PoleDirection`] where a pole changed to a direction, [`KeyError::OutOfRange`] for a
    /// threshold or a start, and [`KeyError::Time`].
    pub fn record(
        &self,
        keys: &RigKeys,
        time: f32,
        before: &[RigGoal],
        after: &[RigGoal],
    ) -> Result<KeyEdit, KeyError> {
        self.check(time)?;
        for given in [before.len(), after.len()] {
            if given != keys.goal_count() {
                return Err(KeyError::GoalCount { given, wanted: keys.goal_count() });
            }
        }
        let mut edit = KeyEdit::new();
        for (index, (from, to)) in before.iter().zip(after).enumerate() {
            self.goal(keys, time, index, [from, to], &mut edit)?;
        }
        Ok(edit)
    }

    /// The edit that keys the local transforms of joints that changed from a pose to another, at a time in seconds. Scales have
    /// no keys.
    ///
    /// # Errors
    ///
    /// [`KeyError::JointCount`], [`KeyError::OutOfRange`] for a threshold or a start, and [`KeyError::Time`].
    pub fn record_joints(
        &self,
        keys: &RigKeys,
        time: f32,
        before: &Pose,
        after: &Pose,
    ) -> Result<KeyEdit, KeyError> {
        self.check(time)?;
        for given in [before.skeleton().len(), after.skeleton().len()] {
            if given != keys.joints {
                return Err(KeyError::JointCount { given, wanted: keys.joints });
            }
        }
        let mut edit = KeyEdit::new();
        for joint in before.skeleton().joints() {
            let (from, to, owner) = (before.local(joint), after.local(joint), KeyOwner::Joint(joint));
            let mut part = |channel, from: KeyValue, to: KeyValue| {
                if self.differ(channel, from, to) {
                    self.set(keys, &mut edit, (owner, channel), time, to);
                    self.set_start(keys, &mut edit, (owner, channel), time, from);
                }
            };
            part(KeyChannel::LocalTranslation, from.translation.into(), to.translation.into());
            part(KeyChannel::LocalRotation, from.rotation.into(), to.rotation.into());
        }
        Ok(edit)
    }

    fn check(&self, time: f32) -> Result<(), KeyError> {
        let thresholds = [
            ("the distance in metres", self.distance),
            ("the angle in radians", self.angle),
            ("the difference of influences", self.influence),
        ];
        for (what, value) in thresholds {
            if !(0.0..=f32::MAX).contains(&value) {
                return Err(KeyError::OutOfRange { what, range: "0 or more and finite", value });
            }
        }
        match [time, self.start].into_iter().find(|t| !t.is_finite()) {
            Some(time) => Err(KeyError::Time(time)),
            None => Ok(()),
        }
    }

    fn goal(
        &self,
        keys: &RigKeys,
        time: f32,
        index: usize,
        [from, to]: [&RigGoal; 2],
        edit: &mut KeyEdit,
    ) -> Result<(), KeyError> {
        if let Pole::Direction(_) = to.goal.pole
            && to.goal.pole != from.goal.pole
        {
            return Err(KeyError::PoleDirection(index));
        }
        let owner = KeyOwner::Goal(index);
        let old = keys.spaces_of(index, from, time)?;
        let mut new = keys.spaces_of(index, to, time)?;
        // A new stay, so that curves of earlier ones keep their shape.
        let fresh =
            |old: KeySpace, new: KeySpace| if old == new { new } else { keys.fresh(index, new.space) };
        new = [fresh(old[0], new[0]), fresh(old[1], new[1])];
        // Parts that were unset, and whose influence grows from 0.
        let mut grows = [false; 2];
        let mut moves = old != new;
        for ((old_channel, before), (channel, after)) in parts(from, old).into_iter().zip(parts(to, new)) {
            let Some(after) = after else { continue };
            let influence = match channel {
                KeyChannel::PositionInfluence => grows[0],
                KeyChannel::RotationInfluence => grows[1],
                _ => false,
            };
            let is_keyed = keys.track(owner, old_channel).is_some();
            let changes = match before {
                Some(before) if channel == old_channel => self.differ(channel, before, after),
                // A swivel of 0 is what a space without one has.
                Some(before) if matches!(channel, KeyChannel::Swivel(_)) && !is_keyed => {
                    before != KeyValue::Number(0.0) || after != before
                }
                _ => true,
            };
            if !changes && (is_keyed || !influence) {
                continue;
            }
            moves |= channel.space().is_some();
            self.set(keys, edit, (owner, channel), time, after);
            match (before, channel) {
                _ if influence => self.set_start(keys, edit, (owner, channel), time, KeyValue::Number(0.0)),
                (Some(before), _) => self.set_start(keys, edit, (owner, old_channel), time, before),
                (None, KeyChannel::Position(_)) => grows[0] = !is_keyed,
                (None, KeyChannel::Rotation(_)) => grows[1] = !is_keyed,
                _ => {}
            }
        }
        if !moves {
            return Ok(());
        }
        // Spaces that the keys do not give yet.
        let step = |time, space| Key::new(time, space).with_interpolation(KeyInterpolation::Step);
        let mut keyed = keys.spaces(index, time)?;
        let follows = keys.pole_follows(index, time);
        for (n, channel) in [KeyChannel::Space, KeyChannel::PoleSpace].into_iter().enumerate() {
            if n == 1 && follows {
                keyed[1] = keyed[0];
            }
            if keyed[n] != old[n] && keys.track(owner, channel).is_none() && self.start < time {
                edit.change(KeyAddress::new(owner, channel, self.start), Some(step(self.start, old[n])));
                keyed[n] = old[n];
            }
            if keyed[n] != new[n] {
                edit.change(KeyAddress::new(owner, channel, time), Some(step(time, new[n])));
                keyed[n] = new[n];
            }
        }
        Ok(())
    }

    /// Whether a value changed beyond the threshold of its channel.
    fn differ(&self, channel: KeyChannel, from: KeyValue, to: KeyValue) -> bool {
        // NaN has changed, so that the edit refuses it.
        let beyond = |x: f32, most: f32| x > most || x.is_nan();
        match (from, to) {
            (KeyValue::Vector(a), KeyValue::Vector(b)) => beyond(a.distance(b), self.distance),
            (KeyValue::Rotation(a), KeyValue::Rotation(b)) => beyond(math::angle_between(a, b), self.angle),
            (KeyValue::Number(a), KeyValue::Number(b)) => {
                let influence =
                    matches!(channel, KeyChannel::PositionInfluence | KeyChannel::RotationInfluence);
                beyond((a - b).abs(), if influence { self.influence } else { self.angle })
            }
            (from, to) => from != to,
        }
    }

    fn set(
        &self,
        keys: &RigKeys,
        edit: &mut KeyEdit,
        (owner, channel): (KeyOwner, KeyChannel),
        time: f32,
        value: KeyValue,
    ) {
        let there = keys.track(owner, channel).and_then(|t| t.keys().iter().find(|key| key.time == time));
        let new = Key::new(time, value).with_interpolation(self.interpolation);
        let key = there.map_or(new, |key| Key { value, ..*key });
        edit.change(KeyAddress::new(owner, channel, time), Some(key));
    }

    /// Keys the value before at the start, where the part has no keys yet.
    fn set_start(
        &self,
        keys: &RigKeys,
        edit: &mut KeyEdit,
        (owner, channel): (KeyOwner, KeyChannel),
        time: f32,
        value: KeyValue,
    ) {
        if self.start < time && keys.track(owner, channel).is_none() {
            self.set(keys, edit, (owner, channel), self.start, value);
        }
    }
}
