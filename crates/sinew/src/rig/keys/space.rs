//! Changes of space that move nothing.

use alloc::vec::Vec;

use super::{
    Key, KeyAddress, KeyChannel, KeyEdit, KeyError, KeyInterpolation, KeyOwner, KeySpace, KeyTrack, KeyValue,
    RigKeys, curve, parts, set,
};
use crate::{
    Placement, Pose,
    rig::{Rig, RigGoal, Space},
};

/// Time in seconds over which the speed of a goal at a change of space is measured, at most: short beside a frame, and long enough
/// that positions of f32 tell a speed to 1e-4 m/s.
const STEP: f32 = 1.0 / 240.0;

impl RigKeys {
    /// The edit that changes the space of a goal at a time, in seconds, so that the goal moves nothing: at the change, and at its
    /// keys until the next change of space. A pole without a space of its own changes with it. Between these keys, the goal moves
    /// in the new space, on a smooth curve with the speed that it had.
    ///
    /// `at` sets the pose at a time, given in seconds, and returns the placement; the pose that it gets is the last one.
    /// The joints of both spaces must be there as the handles before leave them: a pose after
    /// [`Rig::apply`](crate::rig::Rig::apply) has them so.
    ///
    /// The keys in the space before remain, so that nothing changes before `time`, and deleting the key of the space restores all.
    /// The new keys are those of a new stay in the space. A goal that is in the space already needs no edit: it is then empty.
    ///
    /// # Errors
    ///
    /// [`KeyError::NoGoal`], [`KeyError::Time`], [`KeyError::JointCount`] for keys of another rig, and [`KeyError::Rig`] for a
    /// space or a pose that cannot be.
    pub fn change_space(
        &self,
        rig: &Rig,
        goal: usize,
        time: f32,
        to: Space,
        pose: &mut Pose,
        at: impl FnMut(f32, &mut Pose) -> Placement,
    ) -> Result<KeyEdit, KeyError> {
        self.change(rig, goal, time, KeyChannel::Space, to, pose, at)
    }

    /// [`change_space`](Self::change_space) of the pole of a goal.
    ///
    /// # Errors
    ///
    /// As [`change_space`](Self::change_space).
    pub fn change_pole_space(
        &self,
        rig: &Rig,
        goal: usize,
        time: f32,
        to: Space,
        pose: &mut Pose,
        at: impl FnMut(f32, &mut Pose) -> Placement,
    ) -> Result<KeyEdit, KeyError> {
        self.change(rig, goal, time, KeyChannel::PoleSpace, to, pose, at)
    }

    /// A space, with a stay of a goal that has no keys yet.
    pub(super) fn fresh(&self, goal: usize, space: Space) -> KeySpace {
        let own = self.own.get(goal).map(|own| [Some(own.0), own.1]).unwrap_or_default();
        let mut stays: Vec<u16> = Vec::new();
        stays.extend(own.contains(&Some(space)).then_some(0));
        for track in self.tracks_of(KeyOwner::Goal(goal)) {
            let keyed = track.keys.iter().map(|key| match key.value {
                KeyValue::Space(of) => Some(of),
                _ => None,
            });
            let all = keyed.chain([track.channel.space()]).flatten();
            stays.extend(all.filter(|of| of.space == space).map(|of| of.stay));
        }
        stays.sort_unstable();
        stays.dedup();
        let gap = stays.iter().zip(0..).position(|(stay, n)| *stay != n).unwrap_or(stays.len());
        KeySpace { space, stay: u16::try_from(gap).unwrap_or(u16::MAX) }
    }

    #[allow(clippy::too_many_arguments)]
    fn change(
        &self,
        rig: &Rig,
        index: usize,
        time: f32,
        channel: KeyChannel,
        to: Space,
        pose: &mut Pose,
        mut at: impl FnMut(f32, &mut Pose) -> Placement,
    ) -> Result<KeyEdit, KeyError> {
        let old = self.spaces(index, time)?;
        if !time.is_finite() {
            return Err(KeyError::Time(time));
        }
        if self.joints != rig.skeleton.len() {
            return Err(KeyError::JointCount { given: self.joints, wanted: rig.skeleton.len() });
        }
        let owner = KeyOwner::Goal(index);
        let keys_of = |channel| self.track(owner, channel).map_or(&[][..], KeyTrack::keys);
        let next = |channel| keys_of(channel).iter().map(|key| key.time).find(|&t| t > time);
        let switches =
            [next(KeyChannel::Space), next(KeyChannel::PoleSpace)].map(|t| t.unwrap_or(f32::INFINITY));
        let follows = self.pole_follows(index, time);
        let of_pole = channel == KeyChannel::PoleSpace;
        if old[usize::from(of_pole)].space == to {
            return Ok(KeyEdit::new());
        }
        let to = self.fresh(index, to);
        let new = match of_pole {
            true => [old[0], to],
            false => [to, if follows { to } else { old[1] }],
        };
        let step = Key::new(time, to).with_interpolation(KeyInterpolation::Step);
        let mut edit = KeyEdit::new().set(owner, channel, step);
        if follows && of_pole {
            // From here on the pole has a space of its own, which changes where that of the goal does.
            for key in
                keys_of(KeyChannel::Space).iter().filter(|key| key.time > time && key.time < switches[1])
            {
                edit = edit.set(owner, channel, *key);
            }
        }
        let until = [switches[0], if follows { switches[0].min(switches[1]) } else { switches[1] }];
        // The tracks in a space that changes, each with the end of what changes.
        let of_part = |channel: KeyChannel| usize::from(matches!(channel, KeyChannel::Pole(_)));
        let moving = || {
            self.tracks_of(owner).iter().filter_map(move |track| {
                let n = of_part(track.channel);
                let moves = old[n] != new[n] && track.channel.space() == Some(old[n]);
                moves.then_some((track, until[n]))
            })
        };
        let later = |(track, end): (&KeyTrack, f32)| {
            track.keys.iter().map(|key| key.time).filter(|&t| t > time && t < end).collect::<Vec<_>>()
        };
        let mut times: Vec<f32> = moving().flat_map(later).chain([time + 0.0]).collect();
        times.sort_unstable_by(f32::total_cmp);
        times.dedup();
        let spaces = new.map(|of| of.space);
        let part = |goal: &RigGoal, channel: KeyChannel| {
            parts(goal, new).into_iter().find(|(part, _)| *part == channel).and_then(|(_, value)| value)
        };
        let mut here = |now: f32, pose: &mut Pose| {
            let mut goal = RigGoal::new().with_space(old[0].space).with_pole_space(old[1].space);
            for (track, _) in moving() {
                set(&mut goal, track.channel, track.sample(now));
            }
            let placement = at(now, pose);
            pose.update();
            (goal, placement)
        };
        // Shortly after the change, for the speed there.
        let mut ahead = None;
        if let Some(next) = times.get(1) {
            let soon = time + (0.1 * (next - time)).min(STEP);
            let (goal, placement) = here(soon, pose);
            ahead = Some((soon - time, rig.convert(index, &goal, spaces, pose, &placement)?))
                .filter(|(h, _)| *h > 0.0);
        }
        let mut moved_keys = Vec::new();
        for now in times {
            let (goal, placement) = here(now, pose);
            let convert = |goal: &RigGoal| rig.convert(index, goal, spaces, pose, &placement);
            let converted = convert(&goal)?;
            for (track, end) in moving().filter(|(_, end)| now < *end) {
                let there = track.keys.binary_search_by(|key| key.time.total_cmp(&now));
                // At the change each part gets a key, with the interpolation of its curve there.
                let key = match there {
                    Ok(k) => track.keys[k],
                    Err(_) if now > time => continue,
                    Err(k) => {
                        let before = k
                            .checked_sub(1)
                            .map_or(KeyInterpolation::Smooth, |k| track.keys[k].interpolation);
                        Key::new(now, track.sample(now)).with_interpolation(before)
                    }
                };
                let channel = track.channel.in_space(new[of_part(track.channel)]);
                let Some(value) = part(&converted, channel) else { continue };
                let mut slopes = key.slopes;
                for slope in slopes.iter_mut().flatten() {
                    // The conversion is linear, or affine: its change along the slope, over a distance that keeps a rotation near 1.
                    let h = 0.25 / curve::size(*slope).max(1.0);
                    let mut moved = goal;
                    set(&mut moved, track.channel, curve::sum((1.0, key.value), (h, *slope)));
                    let moved = part(&convert(&moved)?, channel).unwrap_or(value);
                    *slope = curve::sum((1.0 / h, moved), (-1.0 / h, value));
                }
                let goes_on = track.keys.iter().any(|key| key.time > time && key.time < end);
                if now <= time
                    && slopes.is_none()
                    && goes_on
                    && key.interpolation == KeyInterpolation::Smooth
                    && let Some((h, soon)) = &ahead
                    && let Some(soon) = part(soon, channel)
                {
                    slopes = Some([curve::difference(value, soon, 1.0 / h); 2]);
                }
                let key = Key { value, slopes, ..key };
                moved_keys.push((KeyAddress::new(owner, channel, now), Some(key)));
            }
        }
        edit.change_all(moved_keys);
        Ok(edit)
    }
}
