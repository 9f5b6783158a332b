//! Edits of keys, and their inverses.

use alloc::vec::Vec;
use core::{cmp::Ordering, fmt};

use super::{Key, KeyChannel, KeyError, KeyOwner, KeyTrack, KeyValue, RigKeys, Space, curve};
use crate::math;

/// A key's track and time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyAddress {
    /// Goal or joint.
    pub owner: KeyOwner,
    /// Channel.
    pub channel: KeyChannel,
    /// Time in seconds.
    pub time: f32,
}

impl KeyAddress {
    pub(super) fn new(owner: KeyOwner, channel: KeyChannel, time: f32) -> Self {
        // There is one 0, not two.
        Self { owner, channel, time: time + 0.0 }
    }

    fn track(&self) -> (KeyOwner, KeyChannel) {
        (self.owner, self.channel)
    }

    fn order(&self, other: &Self) -> Ordering {
        self.track().cmp(&other.track()).then(self.time.total_cmp(&other.time))
    }
}

impl fmt::Display for KeyAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} at {} s", self.channel, self.owner, self.time)
    }
}

/// Keys to set and to delete, all at once. [`RigKeys::edit`] applies it.
///
/// Each key is set or deleted once: of two changes at one place, the later one counts. To move a key is to delete it and to set
/// it elsewhere.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct KeyEdit {
    /// In order, each address once.
    changes: Vec<(KeyAddress, Option<Key>)>,
}

impl KeyEdit {
    /// No change.
    pub const fn new() -> Self {
        Self { changes: Vec::new() }
    }

    /// Sets a key, in place of one at the same time.
    #[must_use]
    pub fn set(mut self, owner: KeyOwner, channel: KeyChannel, key: Key) -> Self {
        self.change(KeyAddress::new(owner, channel, key.time), Some(key));
        self
    }

    /// Deletes the key at a time. [`RigKeys::edit`] refuses it where there is none.
    #[must_use]
    pub fn delete(mut self, owner: KeyOwner, channel: KeyChannel, time: f32) -> Self {
        self.change(KeyAddress::new(owner, channel, time), None);
        self
    }

    /// Sets the keys of a track.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoKeys`] for none, and [`KeyError::Order`] where a time is not after the one before.
    pub fn set_all(mut self, owner: KeyOwner, channel: KeyChannel, keys: &[Key]) -> Result<Self, KeyError> {
        if keys.is_empty() {
            return Err(KeyError::NoKeys { owner, channel });
        }
        for pair in keys.windows(2) {
            let (before, time) = (pair[0].time, pair[1].time);
            // NaN is found with the key itself.
            if time <= before {
                return Err(KeyError::Order { key: KeyAddress::new(owner, channel, time), before });
            }
        }
        self.change_all(keys.iter().map(|key| (KeyAddress::new(owner, channel, key.time), Some(*key))));
        Ok(self)
    }

    /// The changes of this edit, and then those of another one.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.change_all(other.changes);
        self
    }

    /// The changes by owner, channel and time: a key that is set, or `None` for one that is deleted.
    pub fn changes(&self) -> &[(KeyAddress, Option<Key>)] {
        &self.changes
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn change(&mut self, address: KeyAddress, key: Option<Key>) {
        let key = key.map(|key| Key { time: address.time, ..key });
        // Edits are mostly made in order.
        let at = match self.changes.last() {
            Some((last, _)) if last.order(&address) != Ordering::Less => {
                self.changes.binary_search_by(|(a, _)| a.order(&address))
            }
            _ => Err(self.changes.len()),
        };
        match at {
            Ok(at) => self.changes[at].1 = key,
            Err(at) => self.changes.insert(at, (address, key)),
        }
    }

    /// Makes any number of changes at once: one by one, each would move all that are behind it.
    pub(super) fn change_all(&mut self, changes: impl IntoIterator<Item = (KeyAddress, Option<Key>)>) {
        let all = changes.into_iter();
        self.changes.extend(all.map(|(at, key)| (at, key.map(|key| Key { time: at.time, ..key }))));
        // Of two changes at one place, the sort leaves the later one behind.
        self.changes.sort_by(|(a, _), (b, _)| a.order(b));
        self.changes.dedup_by(|later, kept| {
            let same = later.0.order(&kept.0) == Ordering::Equal;
            if same {
                *kept = *later;
            }
            same
        });
    }
}

impl RigKeys {
    /// Applies all changes of an edit, and returns the edit that undoes it. The inverse of the inverse is the edit.
    ///
    /// # Errors
    ///
    /// An owner, a channel, a time, a value or a slope that cannot be, and a key to delete that is not there: [`KeyError`]. No key
    /// has then changed.
    pub fn edit(&mut self, edit: &KeyEdit) -> Result<KeyEdit, KeyError> {
        for (address, key) in &edit.changes {
            self.check(address, key.as_ref())?;
        }
        let mut inverse = Vec::with_capacity(edit.changes.len());
        for changes in edit.changes.chunk_by(|(a, _), (b, _)| a.track() == b.track()) {
            let (owner, channel) = changes[0].0.track();
            let found = self.tracks.binary_search_by(|t| (t.owner, t.channel).cmp(&(owner, channel)));
            let old = found.map_or(Vec::new(), |at| core::mem::take(&mut self.tracks[at].keys));
            let mut keys = Vec::with_capacity(old.len() + changes.len());
            let mut old = old.into_iter().peekable();
            for (address, key) in changes {
                while let Some(before) = old.next_if(|k| k.time < address.time) {
                    keys.push(before);
                }
                inverse.push((*address, old.next_if(|k| k.time == address.time)));
                keys.extend(*key);
            }
            keys.extend(old);
            match (found, keys.is_empty()) {
                (Ok(at), false) => self.tracks[at].keys = keys,
                (Ok(at), true) => drop(self.tracks.remove(at)),
                (Err(at), false) => self.tracks.insert(at, KeyTrack { owner, channel, keys }),
                (Err(_), true) => {}
            }
        }
        Ok(KeyEdit { changes: inverse })
    }

    fn check(&self, address: &KeyAddress, key: Option<&Key>) -> Result<(), KeyError> {
        let (owner, channel) = address.track();
        match owner {
            KeyOwner::Goal(goal) if goal >= self.own.len() => {
                return Err(KeyError::NoGoal { goal, count: self.own.len() });
            }
            KeyOwner::Joint(joint) if joint.index() >= self.joints => {
                return Err(KeyError::NoJoint { joint, count: self.joints });
            }
            owner if matches!(owner, KeyOwner::Joint(_)) != channel.is_local() => {
                return Err(KeyError::NoChannel { owner, channel });
            }
            _ => {}
        }
        if !address.time.is_finite() {
            return Err(KeyError::Time(address.time));
        }
        let space = match key {
            Some(Key { value: KeyValue::Space(space), .. }) => Some(*space),
            _ => None,
        };
        for space in [channel.space(), space].into_iter().flatten() {
            if let Space::Joint(joint) = space.space
                && joint.index() >= self.joints
            {
                return Err(KeyError::NoJoint { joint, count: self.joints });
            }
        }
        let key_address = *address;
        let Some(key) = key else {
            let track = self.track(owner, channel).map_or(&[][..], |t| &t.keys);
            let found = track.binary_search_by(|k| k.time.total_cmp(&address.time));
            return found.map(|_| ()).map_err(|_| KeyError::NoKey(key_address));
        };
        if let Some(rule) = channel.refuses(key.value) {
            return Err(KeyError::Value { key: key_address, rule, value: key.value });
        }
        for value in key.slopes.into_iter().flatten() {
            let rule = "of the kind of the value and finite, up to 1e30 a second";
            let kinds = core::mem::discriminant(&value) == core::mem::discriminant(&key.value);
            if !kinds || !is_bounded(value) || matches!(value, KeyValue::Space(_)) {
                return Err(KeyError::Slope { key: key_address, rule, value });
            }
        }
        Ok(())
    }

    /// The edit that deletes these keys.
    pub fn delete(&self, mut select: impl FnMut(&KeyAddress) -> bool) -> KeyEdit {
        let keys = self.all().filter(|(address, _)| select(address));
        KeyEdit { changes: keys.map(|(address, _)| (address, None)).collect() }
    }

    /// The edit that moves these keys to `time * scale + shift`, all at once. Other keys at their new times are replaced. Slopes
    /// of their own are scaled with them.
    ///
    /// # Errors
    ///
    /// [`KeyError::OutOfRange`] for a scale or a shift out of range, [`KeyError::SameTime`] where rounding takes two of the keys
    /// to one time, [`KeyError::Time`] where a time is not finite.
    pub fn retime(
        &self,
        select: impl FnMut(&KeyAddress) -> bool,
        scale: f32,
        shift: f32,
    ) -> Result<KeyEdit, KeyError> {
        range("the scale of times", "above 0 and finite, and not subnormal", scale, f32::MIN_POSITIVE)?;
        range("the shift of times in seconds", "finite", shift, f32::MIN)?;
        self.moved(select, |time| (f64::from(time) * f64::from(scale) + f64::from(shift)) as f32, scale)
    }

    /// The edit that moves these keys to the nearest frames of a rate, in frames per second. A key half-way goes to the even
    /// one.
    ///
    /// # Errors
    ///
    /// [`KeyError::OutOfRange`] for a rate out of range, [`KeyError::SameTime`] where two of the keys have the same frame.
    pub fn snap(&self, select: impl FnMut(&KeyAddress) -> bool, fps: f32) -> Result<KeyEdit, KeyError> {
        range(
            "the rate of frames per second",
            "above 0 and finite, and not subnormal",
            fps,
            f32::MIN_POSITIVE,
        )?;
        let fps = f64::from(fps);
        self.moved(select, |time| (crate::math64::round(f64::from(time) * fps) / fps) as f32, 1.0)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (KeyAddress, &Key)> {
        self.tracks.iter().flat_map(|track| {
            let (owner, channel) = (track.owner, track.channel);
            track.keys.iter().map(move |key| (KeyAddress { owner, channel, time: key.time }, key))
        })
    }

    fn moved(
        &self,
        mut select: impl FnMut(&KeyAddress) -> bool,
        to: impl Fn(f32) -> f32,
        scale: f32,
    ) -> Result<KeyEdit, KeyError> {
        let moving: Vec<_> = self.all().filter(|(address, _)| select(address)).collect();
        let mut changes: Vec<_> = moving.iter().map(|(address, _)| (*address, None)).collect();
        let mut last: Option<KeyAddress> = None;
        for (address, key) in moving {
            let to = KeyAddress::new(address.owner, address.channel, to(address.time));
            if !to.time.is_finite() {
                return Err(KeyError::Time(to.time));
            }
            if last == Some(to) {
                return Err(KeyError::SameTime(to));
            }
            last = Some(to);
            let slopes =
                key.slopes.map(|slopes| slopes.map(|slope| curve::sum((1.0 / scale, slope), (0.0, slope))));
            changes.push((to, Some(Key { slopes, ..*key })));
        }
        let mut edit = KeyEdit::new();
        edit.change_all(changes);
        Ok(edit)
    }
}

fn range(what: &'static str, range: &'static str, value: f32, low: f32) -> Result<(), KeyError> {
    match (low..=f32::MAX).contains(&value) {
        true => Ok(()),
        false => Err(KeyError::OutOfRange { what, range, value }),
    }
}

/// Whether no number is NaN, or so large that interpolation could overflow.
fn is_bounded(value: KeyValue) -> bool {
    let within = |x: f32| x.abs() <= Key::MAX;
    match value {
        KeyValue::Vector(v) => v.to_array().into_iter().all(within),
        KeyValue::Rotation(q) => q.to_array().into_iter().all(within),
        KeyValue::Number(x) => within(x),
        KeyValue::Space(_) => true,
    }
}

impl KeyChannel {
    /// The rule that a value breaks.
    fn refuses(self, value: KeyValue) -> Option<&'static str> {
        /// Deviation from 1 of a rotation's squared length. Numbers written with four decimals deviate by up to 4e-4.
        const UNIT: f32 = 1e-3;
        let (fits, rule) = match (self, value) {
            (Self::Space | Self::PoleSpace, value) => (matches!(value, KeyValue::Space(_)), "a space"),
            (Self::Position(_) | Self::Pole(_) | Self::LocalTranslation, value) => {
                let vector = matches!(value, KeyValue::Vector(_));
                (vector && is_bounded(value), "a vector of finite numbers, up to 1e30")
            }
            (Self::Rotation(_) | Self::LocalRotation | Self::UpperTurn | Self::MiddleTurn, value) => {
                let unit = |q| (math::dot(q, q) - 1.0).abs() <= UNIT;
                let fits = matches!(value, KeyValue::Rotation(q) if unit(q));
                (fits, "a unit quaternion (squared length 1, within 1e-3)")
            }
            (Self::PositionInfluence | Self::RotationInfluence, value) => {
                (matches!(value, KeyValue::Number(x) if (0.0..=1.0).contains(&x)), "0 to 1")
            }
            (Self::Swivel(_) | Self::Roll | Self::Bank | Self::Pivot, value) => {
                (matches!(value, KeyValue::Number(_)) && is_bounded(value), "a finite number, up to 1e30")
            }
        };
        (!fits).then_some(rule)
    }
}
