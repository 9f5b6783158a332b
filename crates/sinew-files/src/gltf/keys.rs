//! Keys of rigs, as nodes with channels: the format is in [the module's docs](super).

use std::collections::HashMap;

use glam::{Quat, Vec3};
use serde_json::{Value, json};
use sinew::{
    JointId, Skeleton,
    body::{Role, Side},
    math,
    motion::{Clip, Interpolation, Track, TrackValue},
    rig::{
        Rig, Space,
        keys::{Key, KeyChannel, KeyEdit, KeyInterpolation, KeyOwner, KeySpace, KeyTrack, KeyValue, RigKeys},
    },
};

use crate::{FileError, text::shorten};

use super::{
    Document,
    clip::read_track,
    edit::{Packer, numbers},
    json::Place,
};

/// Key of what is ours in `extras`.
const OURS: &str = "sinew_keys";

const KINDS: [(KeyInterpolation, &str); 3] = [
    (KeyInterpolation::Step, "step"),
    (KeyInterpolation::Linear, "linear"),
    (KeyInterpolation::Smooth, "smooth"),
];

/// The name of each goal's handle, and the number of the goal within it.
fn goals(rig: &Rig) -> Vec<(String, usize)> {
    let firsts: Vec<_> = rig.names().filter_map(|name| Some((name, rig.find_goal(name, None)?))).collect();
    let ends = firsts.iter().skip(1).map(|(_, first)| *first).chain([rig.goal_count()]);
    let all = firsts.iter().zip(ends);
    all.flat_map(|((name, first), end)| (0..end - first).map(|n| ((*name).to_owned(), n))).collect()
}

impl Document {
    /// Adds keys of a rig as an animation, with the nodes of its goals, and returns the animation's index. The rig must be that of
    /// the skeleton that was read from this document. The nodes are joints of the skeleton that is read the next time.
    ///
    /// # Errors
    /// No keys, keys at times below 0, which glTF does not have ([`RigKeys::retime`] moves them), keys of another rig, a space or an owner that is a joint which the document does not have, and a document whose
    /// lists are no arrays.
    pub fn add_keys(&mut self, name: &str, rig: &Rig, keys: &RigKeys) -> Result<usize, FileError> {
        self.add_keyed_clip(name, rig, keys, None, None)
    }

    /// [`add_keys`](Self::add_keys), with the tracks of a clip in the same animation: of the joints that the goals do not show
    /// ([`BakedGoals`](sinew::rig::BakedGoals)). `extras` becomes the animation's `extras`.
    ///
    /// # Errors
    /// As [`add_keys`](Self::add_keys) and [`add_animation`](Self::add_animation).
    pub fn add_keyed_clip(
        &mut self,
        name: &str,
        rig: &Rig,
        keys: &RigKeys,
        clip: Option<&Clip>,
        extras: Option<Value>,
    ) -> Result<usize, FileError> {
        let refuse = |document: &Self, what: String| {
            Err(document.error(format!("animation `{}`", shorten(name)), what))
        };
        if keys.is_empty() {
            return refuse(self, "there is no key".into());
        }
        let goals = goals(rig);
        if keys.goal_count() != goals.len() {
            return refuse(
                self,
                format!("the keys are for {} goals, the rig has {}", keys.goal_count(), goals.len()),
            );
        }
        for track in keys.tracks() {
            let (owner, channel, time) = (track.owner(), track.channel(), track.keys()[0].time);
            if time < 0.0 {
                let what = format!("{channel} of {owner} has a key at {time} s: glTF has no times below 0");
                return refuse(self, what);
            }
        }
        let (mut bytes, mut channels) = (Packer::default(), Vec::new());
        if let Some(clip) = clip {
            self.clip_channels(clip, &mut bytes, &mut channels)?;
        }
        for (index, goal) in goals.iter().enumerate() {
            let tracks = keys.tracks_of(KeyOwner::Goal(index));
            // Nodes of goal and pole in each space, with their numbers.
            let mut nodes: Vec<(bool, KeySpace, usize, u64)> = Vec::new();
            for track in tracks {
                let pole = matches!(track.channel(), KeyChannel::Pole(_) | KeyChannel::PoleSpace);
                let keyed = track.keys().iter().filter_map(|key| match key.value {
                    KeyValue::Space(space) => Some(space),
                    _ => None,
                });
                for space in keyed.chain(track.channel().space()) {
                    if !nodes.iter().any(|(p, s, ..)| (*p, *s) == (pole, space)) {
                        let (node, number) = self.goal_node(goal, pole, space)?;
                        nodes.push((pole, space, node, number));
                    }
                }
            }
            let found = |pole: bool, space: KeySpace| {
                nodes
                    .iter()
                    .find(|(p, s, ..)| (*p, *s) == (pole, space))
                    .map_or((0, 0), |(.., node, number)| (*node, *number))
            };
            for track in tracks {
                let number = |value| match value {
                    KeyValue::Vector(v) => v,
                    KeyValue::Number(x) => Vec3::new(0.0, x, 0.0),
                    KeyValue::Space(space) => {
                        Vec3::new(0.0, found(track.channel() == KeyChannel::PoleSpace, space).1 as f32, 0.0)
                    }
                    _ => Vec3::ZERO,
                };
                let node = match track.channel() {
                    KeyChannel::Position(space) | KeyChannel::Rotation(space) => found(false, space).0,
                    KeyChannel::Pole(space) => found(true, space).0,
                    KeyChannel::Swivel(space) => {
                        self.number_node(goal, "swivel", Some(found(false, space).0))?
                    }
                    channel => self.number_node(goal, channel.name(), None)?,
                };
                channels.push(self.sample(&mut bytes, node, track, number)?);
            }
        }
        for track in keys.tracks() {
            let KeyOwner::Joint(joint) = track.owner() else { continue };
            let Some(node) = self.node(joint) else {
                return refuse(
                    self,
                    format!("the keys move joint {joint}, which the document does not have"),
                );
            };
            self.decompose_matrix(node)?;
            let vector = |value| if let KeyValue::Vector(v) = value { v } else { Vec3::ZERO };
            channels.push(self.sample(&mut bytes, node, track, vector)?);
        }
        self.push_animation(name, bytes, channels, extras)
    }

    /// Packs a track. A node without a transform of its own gets that of the first key.
    fn sample(
        &mut self,
        bytes: &mut Packer,
        node: usize,
        track: &KeyTrack,
        vector: impl Fn(KeyValue) -> Vec3,
    ) -> Result<(usize, &'static str, Value), FileError> {
        let curve = Curve::new(track);
        let failed = |error: sinew::motion::TrackError| {
            (format!("{} of {}", track.channel(), track.owner()), error.to_string())
        };
        let (path, mut sampler, first) = match track.keys()[0].value {
            KeyValue::Rotation(first) => {
                let turn = |value| if let KeyValue::Rotation(q) = value { q } else { Quat::IDENTITY };
                let values = curve.values.iter().map(|v| turn(*v)).collect();
                let made = Track::new(curve.times, values, curve.interpolation).map_err(failed);
                let made = made.map_err(|(at, what)| self.error(at, what))?;
                ("rotation", bytes.rotations(&made), numbers(&first.to_array()))
            }
            first => {
                let values = curve.values.iter().map(|v| vector(*v)).collect();
                let made = Track::new(curve.times, values, curve.interpolation).map_err(failed);
                let made = made.map_err(|(at, what)| self.error(at, what))?;
                ("translation", bytes.vectors(&made), numbers(&vector(first).to_array()))
            }
        };
        if let Some(kinds) = curve.kinds {
            sampler["extras"] = json!({OURS: kinds});
        }
        let object = self.json.get_mut("nodes").and_then(|n| n.get_mut(node)).and_then(Value::as_object_mut);
        if let Some(object) = object
            && object.get("extras").is_some_and(|extras| extras.get(OURS).is_some())
        {
            object.entry(path).or_insert(first);
        }
        Ok((node, path, sampler))
    }

    fn goal_node(
        &mut self,
        goal: &(String, usize),
        pole: bool,
        KeySpace { space, stay }: KeySpace,
    ) -> Result<(usize, u64), FileError> {
        let mut parent = None;
        let space = match space {
            Space::Model => json!("model"),
            Space::World => json!("world"),
            Space::Role(role) => json!({"role": role.to_string()}),
            Space::Joint(joint) => {
                parent = self.node(joint);
                if parent.is_none() {
                    let what =
                        format!("a goal is in the space of joint {joint}, which the document does not have");
                    return Err(self.error("nodes", what));
                }
                json!("joint")
            }
            other => return Err(self.error("nodes", format!("{other:?} is no space that a node can have"))),
        };
        let part = if pole { "pole" } else { "goal" };
        let name = if pole { format!("{} goal pole", goal.0) } else { format!("{} goal", goal.0) };
        let about = json!({"handle": goal.0, "goal": goal.1, "part": part, "space": space, "stay": stay});
        self.keys_node(&name, about, parent)
    }

    fn number_node(
        &mut self,
        goal: &(String, usize),
        part: &str,
        parent: Option<usize>,
    ) -> Result<usize, FileError> {
        let about = json!({"handle": goal.0, "goal": goal.1, "part": part});
        Ok(self.keys_node(&format!("{} goal {part}", goal.0), about, parent)?.0)
    }

    /// The node with this description below a node, or below `rig keys`; a new one if there is none. Nodes of goals and poles have
    /// numbers.
    fn keys_node(
        &mut self,
        name: &str,
        mut about: Value,
        parent: Option<usize>,
    ) -> Result<(usize, u64), FileError> {
        let parent = match parent {
            Some(parent) => parent,
            None => self.keys_root()?,
        };
        let listed = self.json.get("nodes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let ours = |node: &Value| node.get("extras").and_then(|extras| extras.get(OURS)).cloned();
        let children = listed.get(parent).and_then(|node| node.get("children")).and_then(Value::as_array);
        for child in children.into_iter().flatten().filter_map(Value::as_u64) {
            let Some(mut found) = listed.get(child as usize).and_then(ours) else { continue };
            let number = found.as_object_mut().and_then(|object| object.shift_remove("number"));
            if found == about {
                return Ok((child as usize, number.and_then(|n| n.as_u64()).unwrap_or_default()));
            }
        }
        let used =
            listed.iter().filter_map(ours).filter_map(|found| found.get("number").and_then(Value::as_u64));
        let number = used.max().unwrap_or_default() + 1;
        let name = self.free_name(name);
        about["number"] = json!(number);
        let node = self.push("nodes", json!({"name": name, "extras": {OURS: about}}))?;
        self.tree.places.resize(node + 1, None);
        let object =
            self.json.get_mut("nodes").and_then(|n| n.get_mut(parent)).and_then(Value::as_object_mut);
        let children = object.map(|object| object.entry("children").or_insert_with(|| json!([])));
        match children.and_then(Value::as_array_mut) {
            Some(children) => children.push(json!(node)),
            None => return Err(self.error(format!("nodes[{parent}].children"), "it must be an array")),
        }
        Ok((node, number))
    }

    /// The node above all that are in no joint's space.
    fn keys_root(&mut self) -> Result<usize, FileError> {
        let listed = self.json.get("nodes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let is_root = |node: &Value| node.get("extras").and_then(|e| e.get(OURS)) == Some(&json!("root"));
        if let Some(found) = listed.iter().position(is_root) {
            return Ok(found);
        }
        let name = self.free_name("rig keys");
        let node = self.push("nodes", json!({"name": name, "extras": {OURS: "root"}}))?;
        self.tree.places.resize(node + 1, None);
        self.add_root(node)?;
        Ok(node)
    }

    /// The name, or the name with a number that no node has.
    fn free_name(&self, name: &str) -> String {
        let listed = self.json.get("nodes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let taken =
            |name: &str| listed.iter().any(|node| node.get("name").and_then(Value::as_str) == Some(name));
        let mut free = name.to_owned();
        let mut n = 2;
        while taken(&free) {
            free = format!("{name} {n}");
            n += 1;
        }
        free
    }

    /// Reads the keys of an animation, by its index, for a rig of the skeleton that was read from this document: those of the goals'
    /// nodes, and of the translations and rotations of other joints. Nodes that were added since are not read.
    ///
    /// # Errors
    /// An animation that is not there, damaged channels, a handle or a space that the rig does not have, and keys that
    /// [`RigKeys::edit`] refuses.
    pub fn keys(&self, animation: usize, skeleton: &Skeleton, rig: &Rig) -> Result<RigKeys, FileError> {
        self.read_keys(animation, skeleton, rig, true)
    }

    /// Reads the keys of goals alone, of an animation that plays with a clip: its channels of joints are those of the clip that the
    /// model has. `None` where it has no key of a goal.
    ///
    /// # Errors
    /// As [`keys`](Self::keys).
    pub fn goal_keys(
        &self,
        animation: usize,
        skeleton: &Skeleton,
        rig: &Rig,
    ) -> Result<Option<RigKeys>, FileError> {
        let keys = self.read_keys(animation, skeleton, rig, false)?;
        Ok((!keys.is_empty()).then_some(keys))
    }

    /// Whether a joint is a node of keys: that of a goal, of a pole, of a number, or the one above them.
    pub fn is_of_keys(&self, joint: JointId) -> bool {
        let node = self.node(joint).and_then(|node| self.json.get("nodes")?.get(node));
        node.and_then(|node| node.get("extras")?.get(OURS)).is_some()
    }

    fn read_keys(
        &self,
        animation: usize,
        skeleton: &Skeleton,
        rig: &Rig,
        of_joints: bool,
    ) -> Result<RigKeys, FileError> {
        let all = self.root().list("animations")?;
        let Some(animation) = all.get(animation) else {
            let what = format!("there is no animation {animation}: there are {}, from 0", all.len());
            return Err(self.error("animations", what));
        };
        let goals = goals(rig);
        let mut keys = RigKeys::new(rig);
        let budget = self.budget.clone();
        let nodes = self.root().list("nodes")?.into_iter().enumerate();
        let nodes: Vec<_> = nodes.filter_map(|(n, node)| Some((n, node.get("extras")?.get(OURS)?))).collect();
        for channel in animation.list("channels")? {
            let target = channel.need("target")?;
            let Some(reference) = target.get("node") else { continue };
            let node = reference.follow(&self.root(), "nodes")?;
            let path = target.need("path")?;
            let is_turn = match path.text()? {
                "translation" => false,
                "rotation" => true,
                _ => continue,
            };
            let index = reference.index()?;
            let about = node.get("extras").and_then(|extras| extras.get(OURS));
            let joint = self.joint_of_node(index).and_then(|place| skeleton.joint_at(place));
            if about.is_none() && !of_joints {
                continue;
            }
            let (owner, part) = match (&about, joint) {
                (Some(about), _) => self.part_of(about, index, skeleton, &goals, is_turn)?,
                (None, Some(joint)) if is_turn => (KeyOwner::Joint(joint), KeyChannel::LocalRotation),
                (None, Some(joint)) => (KeyOwner::Joint(joint), KeyChannel::LocalTranslation),
                (None, None) => continue,
            };
            let sampler = channel.need("sampler")?.follow(animation, "samplers")?;
            let what = format!("{part} of {owner}");
            if keys.track(owner, part).is_some() {
                return Err(channel.error(format!("a second channel for the {what}")));
            }
            let list = match is_turn {
                true => {
                    let track = read_track::<Quat>(self, &channel, &sampler, &what, &budget);
                    key_list(&track.map_err(|fault| fault.into_error(self))?, &sampler, |q| Ok(q.into()))?
                }
                false => {
                    let track = read_track::<Vec3>(self, &channel, &sampler, &what, &budget);
                    let spaces = about.as_ref().map(|about| self.numbered(&nodes, about, part, skeleton));
                    let spaces = spaces.transpose()?.unwrap_or_default();
                    let value = |v: Vec3| match part {
                        KeyChannel::Position(_) | KeyChannel::Pole(_) | KeyChannel::LocalTranslation => {
                            Ok(v.into())
                        }
                        KeyChannel::Space | KeyChannel::PoleSpace => {
                            let missing =
                                || channel.error(format!("no node of this goal has the number {}", v.y));
                            spaces.get(&v.y.to_bits()).map(|space| (*space).into()).ok_or_else(missing)
                        }
                        _ => Ok(v.y.into()),
                    };
                    key_list(&track.map_err(|fault| fault.into_error(self))?, &sampler, value)?
                }
            };
            let edit = KeyEdit::new().set_all(owner, part, &list);
            let done = edit.and_then(|edit| keys.edit(&edit));
            done.map_err(|error| channel.error(error.to_string()))?;
        }
        Ok(keys)
    }

    /// The goal and the channel of a node.
    fn part_of(
        &self,
        about: &Place<'_>,
        node: usize,
        skeleton: &Skeleton,
        goals: &[(String, usize)],
        is_turn: bool,
    ) -> Result<(KeyOwner, KeyChannel), FileError> {
        let handle = about.need("handle")?;
        let number = about.need("goal")?.index()?;
        let index =
            goals.iter().position(|(name, n)| Some(name.as_str()) == handle.value().as_str() && *n == number);
        let Some(index) = index else {
            let name = shorten(handle.text()?);
            return Err(handle.error(format!("the rig has no goal {number} of a handle `{name}`")));
        };
        let part = about.need("part")?;
        let channel = match part.text()? {
            "goal" if is_turn => KeyChannel::Rotation(self.space_of(about, node, skeleton)?),
            "goal" => KeyChannel::Position(self.space_of(about, node, skeleton)?),
            "pole" => KeyChannel::Pole(self.space_of(about, node, skeleton)?),
            "swivel" => {
                let above = self.parent_of(node).unwrap_or(usize::MAX);
                let parent = self.root().get("nodes").and_then(|nodes| nodes.element(above));
                let of = parent
                    .and_then(|node| node.get("extras")?.get(OURS))
                    .filter(|of| of.get("space").is_some());
                let of = of.ok_or_else(|| part.error("a swivel must be below the node of its goal"))?;
                KeyChannel::Swivel(self.space_of(&of, above, skeleton)?)
            }
            name => {
                use KeyChannel::{
                    Bank, MiddleTurn, Pivot, PoleSpace, PositionInfluence, Roll, RotationInfluence, Space,
                    UpperTurn,
                };
                let numbers = [Roll, Bank, Pivot, PositionInfluence, RotationInfluence, Space, PoleSpace];
                let mut all = numbers.into_iter().chain([UpperTurn, MiddleTurn]);
                let found = all.find(|channel| channel.name() == name);
                found.ok_or_else(|| part.error(format!("`{}` is no part of a goal", shorten(name))))?
            }
        };
        let turns =
            matches!(channel, KeyChannel::Rotation(_) | KeyChannel::UpperTurn | KeyChannel::MiddleTurn);
        if is_turn != turns {
            let what =
                if is_turn { "only goals and turns have rotations" } else { "a turn needs a rotation" };
            return Err(part.error(what));
        }
        Ok((KeyOwner::Goal(index), channel))
    }

    /// The node above one that was read with the scene.
    fn parent_of(&self, node: usize) -> Option<usize> {
        let above = (*self.tree.parents.get(self.joint_of_node(node)?)?)?;
        self.tree.nodes.get(above).copied()
    }

    /// The space of a goal's node.
    fn space_of(&self, about: &Place<'_>, node: usize, skeleton: &Skeleton) -> Result<KeySpace, FileError> {
        let place = about.need("space")?;
        let space = match place.value().as_str() {
            Some("model") => Space::Model,
            Some("world") => Space::World,
            Some("joint") => {
                let joint: Option<JointId> = self
                    .parent_of(node)
                    .and_then(|above| self.joint_of_node(above))
                    .and_then(|place| skeleton.joint_at(place));
                Space::Joint(joint.ok_or_else(|| place.error("the node has no joint above it"))?)
            }
            _ => {
                let role = place.need("role")?;
                let found = role_named(role.text()?);
                Space::Role(found.ok_or_else(|| role.error("it is no role of a figure"))?)
            }
        };
        let stay = about.unsigned_or("stay", 0)?;
        let stay = u16::try_from(stay)
            .map_err(|_| about.error(format!("a stay must be at most 65535, not {stay}")))?;
        Ok(KeySpace { space, stay })
    }

    /// The spaces of a goal's nodes by their numbers, as bits of f32; empty for a channel that is no space.
    fn numbered(
        &self,
        nodes: &[(usize, Place<'_>)],
        about: &Place<'_>,
        channel: KeyChannel,
        skeleton: &Skeleton,
    ) -> Result<HashMap<u32, KeySpace>, FileError> {
        let mut found = HashMap::new();
        let part = match channel {
            KeyChannel::Space => "goal",
            KeyChannel::PoleSpace => "pole",
            _ => return Ok(found),
        };
        for (node, other) in nodes {
            let same = ["handle", "goal"].iter().all(|key| other.value().get(key) == about.value().get(key));
            if same && other.maybe_text("part") == Some(part) {
                let number = other.unsigned_or("number", 0)? as f32;
                found.insert(number.to_bits(), self.space_of(other, *node, skeleton)?);
            }
        }
        Ok(found)
    }
}

fn role_named(name: &str) -> Option<Role> {
    let sided = |side| {
        use Role::{Clavicle, Eye, Foot, Forearm, Hand, Shin, Thigh, Toes, UpperArm};
        [Eye, Clavicle, UpperArm, Forearm, Hand, Thigh, Shin, Foot, Toes]
            .map(|role: fn(Side) -> Role| role(side))
    };
    let spine =
        name.strip_prefix("spine ").and_then(|n| n.parse::<usize>().ok()?.checked_sub(1)).map(Role::Spine);
    let middle = [Role::Hips, Role::Neck, Role::Head].into_iter().chain(spine);
    middle.chain(Side::BOTH.into_iter().flat_map(sided)).find(|role| role.to_string() == name)
}

/// A track as a sampler has it.
struct Curve {
    times: Vec<f32>,
    values: Vec<KeyValue>,
    interpolation: Interpolation,
    /// How each key came, where that is not what the sampler says.
    kinds: Option<Vec<Value>>,
}

fn components(value: KeyValue) -> Vec<f32> {
    match value {
        KeyValue::Vector(v) => v.to_array().into(),
        KeyValue::Rotation(q) => q.to_array().into(),
        KeyValue::Number(x) => vec![x],
        _ => Vec::new(),
    }
}

/// The value, or its slope, times a factor.
fn times(value: KeyValue, by: f32) -> KeyValue {
    match value {
        KeyValue::Vector(v) => KeyValue::Vector(v * by),
        KeyValue::Rotation(q) => KeyValue::Rotation(Quat::from_array(q.to_array().map(|x| x * by))),
        KeyValue::Number(x) => KeyValue::Number(x * by),
        other => other,
    }
}

/// The slopes of a straight line at its two ends; of rotations, those of the even turn between them.
fn line(a: &Key, b: &Key) -> [KeyValue; 2] {
    let seconds = f64::from(b.time) - f64::from(a.time);
    let rate = |x: f32, y: f32| (((f64::from(y) - f64::from(x)) / seconds) as f32).clamp(-f32::MAX, f32::MAX);
    match (a.value, b.value) {
        (KeyValue::Vector(p), KeyValue::Vector(q)) => {
            [KeyValue::Vector(Vec3::new(rate(p.x, q.x), rate(p.y, q.y), rate(p.z, q.z))); 2]
        }
        (KeyValue::Number(p), KeyValue::Number(q)) => [KeyValue::Number(rate(p, q)); 2],
        (KeyValue::Rotation(p), KeyValue::Rotation(q)) => {
            let v = math::rotation_vector(math::mul(math::conjugate(p), q)) * 0.5;
            let v = v.to_array().map(|x| rate(0.0, x));
            let turn = Quat::from_xyzw(v[0], v[1], v[2], 0.0);
            [p, q].map(|q| KeyValue::Rotation(math::mul(q, turn)))
        }
        (value, _) => [value; 2],
    }
}

impl Curve {
    fn new(track: &KeyTrack) -> Self {
        let keys = track.keys();
        let kind = |key: &Key| match key.value {
            KeyValue::Space(_) => KeyInterpolation::Step,
            _ => key.interpolation,
        };
        let one = kind(&keys[0]);
        let named = |key: &Key, sign: f32| {
            let name = KINDS.iter().find(|(k, _)| *k == kind(key)).map_or("smooth", |(_, name)| name);
            match key.slopes {
                None => json!(name),
                Some(slopes) => {
                    let [into, out] = slopes.map(|slope| numbers(&components(times(slope, sign))));
                    json!([name, into, out])
                }
            }
        };
        let plain = keys.iter().all(|key| kind(key) == one && key.slopes.is_none());
        let interpolation = match one {
            KeyInterpolation::Step if plain => Interpolation::Step,
            KeyInterpolation::Linear if plain => Interpolation::Linear,
            // A cubic sampler needs two keys.
            _ if keys.len() == 1 => Interpolation::Step,
            _ => Interpolation::Cubic,
        };
        if interpolation != Interpolation::Cubic {
            let (times, values) = keys.iter().map(|key| (key.time, key.value)).unzip();
            let says = plain && one != KeyInterpolation::Smooth;
            let kinds = (!says).then(|| keys.iter().map(|key| named(key, 1.0)).collect());
            return Self { times, values, interpolation, kinds };
        }
        let (mut all, mut values, mut kinds) = (Vec::new(), Vec::new(), Vec::new());
        // Players interpolate quaternions as they are: adjacent keys must be in one hemisphere.
        let (mut sign, mut before) = (1.0, None::<Quat>);
        for (n, key) in keys.iter().enumerate() {
            let own = track.slopes(n);
            let piece = |a: usize| (keys.get(a), keys.get(a + 1));
            let zero = times(own[0], 0.0);
            let into = match n.checked_sub(1).map(piece) {
                Some((Some(a), _)) if kind(a) == KeyInterpolation::Step => zero,
                Some((Some(a), Some(b))) if kind(a) == KeyInterpolation::Linear => line(a, b)[1],
                _ => own[0],
            };
            let out = match (kind(key), piece(n)) {
                (KeyInterpolation::Step, _) => zero,
                (KeyInterpolation::Linear, (Some(a), Some(b))) => line(a, b)[0],
                _ => own[1],
            };
            if let Some(held) = n.checked_sub(1).and_then(|a| keys.get(a))
                && kind(held) == KeyInterpolation::Step
                && key.time.next_down() > held.time
            {
                all.push(key.time.next_down());
                values.extend([zero, times(held.value, sign), zero]);
                kinds.push(json!("hold"));
            }
            if let KeyValue::Rotation(q) = key.value {
                sign = if before.is_some_and(|p| math::dot(p, q) < 0.0) { -1.0 } else { 1.0 };
                before = Some(Quat::from_array(q.to_array().map(|x| x * sign)));
            }
            all.push(key.time);
            values.extend([times(into, sign), times(key.value, sign), times(out, sign)]);
            kinds.push(named(key, sign));
        }
        Self { times: all, values, interpolation, kinds: Some(kinds) }
    }
}

/// The keys of a sampler's track.
fn key_list<T: TrackValue>(
    track: &Track<T>,
    sampler: &Place<'_>,
    value: impl Fn(T) -> Result<KeyValue, FileError>,
) -> Result<Vec<Key>, FileError> {
    let count = track.times().len();
    let ours = sampler.get("extras").and_then(|extras| extras.get(OURS));
    // Another number of them is of keys that another program has changed.
    let ours = ours.filter(|kinds| kinds.value().as_array().is_some_and(|kinds| kinds.len() == count));
    let mut keys = Vec::with_capacity(count);
    for (n, &time) in track.times().iter().enumerate() {
        let cubic = track.interpolation() == Interpolation::Cubic;
        let at = |k: usize| track.values()[if cubic { 3 * n + k } else { n }];
        let new = Key::new(time, value(at(1))?);
        let kind = ours.as_ref().and_then(|kinds| kinds.element(n));
        let key = match (&kind, track.interpolation()) {
            (None, Interpolation::Step) => new.with_interpolation(KeyInterpolation::Step),
            (None, Interpolation::Linear) => new.with_interpolation(KeyInterpolation::Linear),
            (None, Interpolation::Cubic) => match new.value {
                KeyValue::Space(_) => new.with_interpolation(KeyInterpolation::Step),
                _ => new.with_slopes(value(at(0))?, value(at(2))?),
            },
            (Some(kind), _) => {
                let first = kind.element(0).unwrap_or_else(|| kind.clone());
                let name = first.text()?;
                if name == "hold" {
                    continue;
                }
                let found = KINDS.iter().find(|(_, known)| *known == name);
                let found = found.ok_or_else(|| {
                    first.error(format!("`{}` is no interpolation of a key", shorten(name)))
                })?;
                let mut key = new.with_interpolation(found.0);
                if let (Some(into), Some(out)) = (kind.element(1), kind.element(2)) {
                    key = key.with_slopes(slope(new.value, &into)?, slope(new.value, &out)?);
                }
                key
            }
        };
        keys.push(key);
    }
    Ok(keys)
}

/// A slope of a value, out of the numbers of `extras`.
fn slope(value: KeyValue, place: &Place<'_>) -> Result<KeyValue, FileError> {
    Ok(match value {
        KeyValue::Vector(_) => Vec3::from_array(place.numbers()?.map(|x| x as f32)).into(),
        KeyValue::Rotation(_) => Quat::from_array(place.numbers()?.map(|x| x as f32)).into(),
        KeyValue::Number(_) => {
            let [x] = place.numbers::<1>()?;
            (x as f32).into()
        }
        other => other,
    })
}
