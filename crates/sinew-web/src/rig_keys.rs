//! Keys of a rig: edits with undo, recording, and sampling.

use core::cell::RefCell;

use sinew::{
    Placement, Pose,
    glam::Quat,
    rig::{
        RigGoal, Space,
        keys::{
            Key, KeyAddress, KeyChannel, KeyEdit, KeyInterpolation, KeyOwner, KeySpace, KeyValue, Mirror,
            Recorder, RigKeys,
        },
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, read, read_f32, read_vector, write},
    failure::{making, solving},
    plant::{Sampler, read_placement},
    pose::RawPose,
    rig::{RawRig, RawRigState},
    spaces::{read_space, write_space},
    trackers::RawBody,
};

/// Number of the channel of a pole.
const POLE: u32 = 5;

/// Channels by their numbers, as `js/rig_keys.ts` has them.
fn channel(number: u32, space: KeySpace) -> Option<KeyChannel> {
    Some(match number {
        0 => KeyChannel::Space,
        1 => KeyChannel::PoleSpace,
        2 => KeyChannel::Position(space),
        3 => KeyChannel::Rotation(space),
        4 => KeyChannel::Swivel(space),
        POLE => KeyChannel::Pole(space),
        6 => KeyChannel::Roll,
        7 => KeyChannel::Bank,
        8 => KeyChannel::Pivot,
        9 => KeyChannel::UpperTurn,
        10 => KeyChannel::MiddleTurn,
        11 => KeyChannel::PositionInfluence,
        12 => KeyChannel::RotationInfluence,
        13 => KeyChannel::LocalTranslation,
        14 => KeyChannel::LocalRotation,
        _ => return None,
    })
}

fn number_of(wanted: KeyChannel) -> u32 {
    let space = wanted.space().unwrap_or(KeySpace::from(Space::Model));
    (0..15).find(|&number| channel(number, space) == Some(wanted)).unwrap_or(0)
}

/// Places of a change: whether its owner is a joint, the owner, channel, space, stay, time, kind of the value (-1 deletes), value,
/// interpolation, whether there are slopes, and these.
const OWNER: usize = OTHER;
const CHANNEL: usize = OTHER + 2;
const SPACE: usize = OTHER + 3;
const TIME: usize = OTHER + 6;
const KIND: usize = OTHER + 7;
const VALUE: usize = OTHER + 8;
const INTERPOLATION: usize = OTHER + 12;
const SLOPES: usize = OTHER + 13;

/// Keys, and an edit of them: one that is being described, or the last result.
#[wasm_bindgen]
pub struct RawRigKeys {
    keys: RigKeys,
    edit: RefCell<KeyEdit>,
    /// Goals before an interaction.
    before: Vec<RigGoal>,
}

#[cfg(feature = "files")]
impl RawRigKeys {
    pub(crate) fn keys(&self) -> &RigKeys {
        &self.keys
    }

    pub(crate) fn set(&mut self, keys: RigKeys) {
        self.keys = keys;
    }
}

#[wasm_bindgen]
impl RawRigKeys {
    /// No keys.
    #[wasm_bindgen(constructor)]
    pub fn new(rig: &RawRig) -> Self {
        Self { keys: RigKeys::new(&rig.rig), edit: RefCell::default(), before: Vec::new() }
    }

    /// Begins an edit.
    pub fn begin(&mut self) {
        self.edit.take();
    }

    /// Adds the change in the exchange to the edit.
    pub fn change(&mut self, rig: &RawRig) -> Result<(), JsValue> {
        let skeleton = &rig.skeleton;
        let index = read(OWNER + 1) as usize;
        let owner = match read(OWNER) != 0.0 {
            false => KeyOwner::Goal(index),
            true => match skeleton.joint_at(index) {
                Some(joint) => KeyOwner::Joint(joint),
                None => return Err(making(format_args!("there is no joint {index}"))),
            },
        };
        let space = |at| KeySpace {
            space: read_space(skeleton, at).unwrap_or_default(),
            stay: read(at + 2).clamp(0.0, f64::from(u16::MAX)) as u16,
        };
        let time = read(TIME) as f32;
        let mut of = space(SPACE);
        let number = read(CHANNEL) as u32;
        if let (KeyOwner::Goal(goal), true) = (owner, read(SPACE) == 0.0) {
            // The space that the goal is in, or its pole.
            of = self.keys.spaces(goal, time).map_err(making)?[usize::from(number == POLE)];
        }
        let Some(channel) = channel(number, of) else {
            return Err(making("there is no such channel of keys"));
        };
        let kind = read(KIND);
        let value = |at| match kind as u32 {
            0 => KeyValue::Vector(read_vector(at)),
            1 => KeyValue::Rotation(Quat::from_array(read_f32(at))),
            2 => KeyValue::Number(read(at) as f32),
            _ => KeyValue::Space(space(at)),
        };
        let edit = self.edit.take();
        let edit = if kind < 0.0 {
            edit.delete(owner, channel, time)
        } else {
            let mut key = Key::new(time, value(VALUE));
            key.interpolation = match read(INTERPOLATION) as u32 {
                0 => KeyInterpolation::Step,
                1 => KeyInterpolation::Linear,
                _ => KeyInterpolation::Smooth,
            };
            key.slopes = (read(SLOPES) != 0.0).then(|| [value(SLOPES + 1), value(SLOPES + 5)]);
            edit.set(owner, channel, key)
        };
        self.edit.replace(edit);
        Ok(())
    }

    /// Applies the edit; the one that undoes it is the result.
    pub fn edit(&mut self) -> Result<(), JsValue> {
        let undo = self.keys.edit(&self.edit.borrow()).map_err(making)?;
        self.edit.replace(undo);
        Ok(())
    }

    /// Makes an edit that sets all keys the result.
    pub fn all(&mut self) {
        let mut edit = KeyEdit::new();
        for track in self.keys.tracks() {
            for key in track.keys() {
                edit = edit.set(track.owner(), track.channel(), *key);
            }
        }
        self.edit.replace(edit);
    }

    /// Count of changes of the result.
    pub fn count(&self) -> usize {
        self.edit.borrow().changes().len()
    }

    /// Leaves a change of the result in the exchange.
    pub fn leave(&self, index: usize) {
        let edit = self.edit.borrow();
        let Some((KeyAddress { owner, channel, time }, key)) = edit.changes().get(index) else { return };
        let (joint, owner) = match owner {
            KeyOwner::Goal(index) => (0.0, *index),
            KeyOwner::Joint(joint) => (1.0, joint.index()),
        };
        write(OWNER, &[joint, owner as f64, f64::from(number_of(*channel))]);
        let leave_space = |at, space: Option<KeySpace>| {
            write_space(at, space.map(|of| of.space));
            write(at + 2, &[space.map_or(0, |of| of.stay)]);
        };
        leave_space(SPACE, channel.space());
        write(TIME, &[*time]);
        let Some(key) = key else { return write(KIND, &[-1]) };
        let leave_value = |at, value| match value {
            KeyValue::Vector(v) => write(at, &v.to_array()),
            KeyValue::Rotation(q) => write(at, &q.to_array()),
            KeyValue::Number(x) => write(at, &[x]),
            KeyValue::Space(space) => leave_space(at, Some(space)),
            _ => {}
        };
        let kind = match key.value {
            KeyValue::Vector(_) => 0,
            KeyValue::Rotation(_) => 1,
            KeyValue::Number(_) => 2,
            _ => 3,
        };
        write(KIND, &[kind]);
        leave_value(VALUE, key.value);
        let interpolation = match key.interpolation {
            KeyInterpolation::Step => 0,
            KeyInterpolation::Linear => 1,
            KeyInterpolation::Smooth => 2,
        };
        write(INTERPOLATION, &[interpolation, i32::from(key.slopes.is_some())]);
        if let Some([into, out]) = key.slopes {
            leave_value(SLOPES + 1, into);
            leave_value(SLOPES + 5, out);
        }
    }

    /// Moves keys, those at the places of `all` where `moved` is not 0, to `time * scale + shift`, or to frames of a rate: the result is
    /// the edit.
    pub fn retime(&mut self, moved: &[u8], scale: f32, shift: f32) -> Result<(), JsValue> {
        let mut moved = moved.iter();
        let edit = self.keys.retime(|_| moved.next().is_some_and(|&m| m != 0), scale, shift);
        self.edit.replace(edit.map_err(making)?);
        Ok(())
    }

    /// Moves keys to the nearest frames of a rate: the result is the edit.
    pub fn snap(&mut self, moved: &[u8], fps: f32) -> Result<(), JsValue> {
        let mut moved = moved.iter();
        self.edit.replace(self.keys.snap(|_| moved.next().is_some_and(|&m| m != 0), fps).map_err(making)?);
        Ok(())
    }

    /// Takes the goals of a rig as those before an interaction.
    #[wasm_bindgen(js_name = setBefore)]
    pub fn set_before(&mut self, rig: &RawRig) {
        rig.with_goals(|goals| self.before.clone_from(goals));
    }

    /// Keys what changed from those goals to the rig's: the result is the edit.
    pub fn record(&mut self, rig: &RawRig, time: f32) -> Result<(), JsValue> {
        let recorded = rig.with_goals(|after| recorder().record(&self.keys, time, &self.before, after));
        self.edit.replace(recorded.map_err(making)?);
        Ok(())
    }

    /// Keys the joints that changed from a pose to another: the result is the edit.
    #[wasm_bindgen(js_name = recordJoints)]
    pub fn record_joints(
        &mut self,
        before: &mut RawPose,
        after: &mut RawPose,
        time: f32,
    ) -> Result<(), JsValue> {
        before.pull();
        after.pull();
        let recorded = recorder().record_joints(&self.keys, time, &before.pose, &after.pose);
        self.edit.replace(recorded.map_err(making)?);
        Ok(())
    }

    /// Changes the space of a goal, or of its pole, to that in the exchange: the result is the edit. The
    /// sampler brings the pose that the state was made with to times.
    #[wasm_bindgen(js_name = changeSpace)]
    pub fn change_space(
        &self,
        rig: &RawRig,
        goal: usize,
        time: f32,
        pole: bool,
        state: &RawRigState,
        sampler: &Sampler,
    ) -> Result<(), JsValue> {
        let space = read_space(&rig.skeleton, OTHER + 10).unwrap_or_default();
        let (mut failed, mut pose) = (None, Pose::rest(&rig.skeleton));
        let at = |time, pose: &mut Pose| {
            let placed = sampler.at(time).and_then(|()| read_placement());
            state.sampled.pull(pose);
            pose.update();
            placed.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Placement::IDENTITY
            })
        };
        let edit = match pole {
            false => self.keys.change_space(&rig.rig, goal, time, space, &mut pose, at),
            true => self.keys.change_pole_space(&rig.rig, goal, time, space, &mut pose, at),
        };
        if let Some(error) = failed {
            return Err(error);
        }
        self.edit.replace(edit.map_err(making)?);
        Ok(())
    }

    /// Mirrors keys: the sides change places (0), or those of the left (1) or the right (2) are copied to the other side. The exchange
    /// has the placement. The result is the edit.
    pub fn mirror(&mut self, mirror: &RawMirror, side: u32) -> Result<(), JsValue> {
        let placement = read_placement()?;
        let side = match side {
            1 => Some(sinew::body::Side::Left),
            2 => Some(sinew::body::Side::Right),
            _ => None,
        };
        self.edit.replace(mirror.mirror.keys(&placement, &self.keys, side).map_err(making)?);
        Ok(())
    }

    /// Times of the first and the last key, in the exchange; NaN without keys.
    pub fn span(&self) {
        write(OTHER, &self.keys.span().unwrap_or([f32::NAN; 2]));
    }

    /// Sets the goals of a rig at a time: parts with keys.
    pub fn sample(&self, rig: &RawRig, time: f32) -> Result<(), JsValue> {
        rig.with_goals(|goals| self.keys.sample(time, goals)).map_err(solving)
    }

    /// Brings joints with keys to a time.
    #[wasm_bindgen(js_name = samplePose)]
    pub fn sample_pose(&self, pose: &mut RawPose, time: f32) -> Result<(), JsValue> {
        pose.pull();
        self.keys.sample_pose(time, &mut pose.pose).map_err(solving)?;
        pose.push_all();
        Ok(())
    }
}

/// The recorder whose thresholds, start and interpolation are in the exchange.
fn recorder() -> Recorder {
    let [distance, angle, influence, start] = read_f32(OTHER);
    let interpolation = match read(OTHER + 4) as u32 {
        0 => KeyInterpolation::Step,
        1 => KeyInterpolation::Linear,
        _ => KeyInterpolation::Smooth,
    };
    Recorder { distance, angle, influence, start, interpolation }
}

/// What is on the other side of what.
#[wasm_bindgen]
pub struct RawMirror {
    mirror: Mirror,
}

#[wasm_bindgen]
impl RawMirror {
    /// That of a figure without known roles.
    #[wasm_bindgen(constructor)]
    pub fn new(rig: &RawRig, bind: &mut RawPose) -> Self {
        bind.pull();
        bind.pose.update();
        Self { mirror: Mirror::new(&rig.rig, &bind.pose, None) }
    }

    /// That of a figure with roles.
    #[wasm_bindgen(js_name = ofBody)]
    pub fn of_body(rig: &RawRig, body: &RawBody) -> Self {
        Self { mirror: Mirror::new(&rig.rig, &body.bind, Some(&body.roles)) }
    }

    /// Mirrors the goals of the rig. The exchange has the placement.
    pub fn goals(&self, rig: &RawRig) -> Result<(), JsValue> {
        let placement = read_placement()?;
        rig.with_goals(|goals| self.mirror.goals(&placement, goals)).map_err(solving)
    }
}
