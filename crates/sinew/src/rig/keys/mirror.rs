//! Goals and keys of one side on the other.

use alloc::{collections::BTreeMap, vec::Vec};

use glam::{Affine3, Mat3, Quat, Vec3};

use super::{Key, KeyAddress, KeyChannel, KeyEdit, KeyError, KeyOwner, KeySpace, KeyValue, RigKeys};
use crate::{
    JointId, Placement, Pole, Pose,
    body::{BodyRoles, Side, other_side},
    math,
    rig::{GoalSpec, Rig, RigGoal, Space, handle::Source, space::Frame},
};

/// Mirrors goals and keys across the plane between the two sides of a figure at bind.
///
/// A joint belongs to the one with the same role on the other side, or, where it has no role, to the one with the same name but
/// for its word for left or right; a joint without a side to itself. A goal belongs to that of the other joint, with
/// the same solver and the mirrored spaces. Positions, poles and rotations are mirrored in their spaces, and spaces too, so that a figure whose pose is
/// mirrored has its goals mirrored. Swivel, bank and pivot turn round; rolls and influences are the same, and turns of limbs are mirrored with their joints.
///
/// Mirroring twice gives what was there, up to rounding.
///
/// ```
/// # use std::sync::Arc;
/// # use sinew::{Goal, JointTransform, Placement, Pose, Skeleton, glam::Vec3};
/// # use sinew::rig::{HandleSpec, Rig, RigGoal, RigSpec};
/// use sinew::rig::keys::Mirror;
/// # let mut builder = Skeleton::builder();
/// # let at = |x: f32, y: f32| JointTransform::from_translation(Vec3::new(x, y, 0.0));
/// # let root = builder.add("root", None, at(0.0, 1.4));
/// # for (side, x) in [("l", 1.0), ("r", -1.0)] {
/// #     let upper = builder.add(format!("upper.{side}"), Some(root), at(0.2 * x, 0.0));
/// #     let fore = builder.add(format!("fore.{side}"), Some(upper), at(0.3 * x, -0.02));
/// #     builder.add(format!("hand.{side}"), Some(fore), at(0.28 * x, 0.02));
/// # }
/// # let (skeleton, ids) = builder.build()?;
/// # let bind = Pose::rest(&Arc::new(skeleton));
/// let arms = vec![HandleSpec::new("left", ids[1], ids[3]), HandleSpec::new("right", ids[4], ids[6])];
/// let rig = Rig::new(&bind, None, &RigSpec::new(arms))?;
/// let mirror = Mirror::new(&rig, &bind, None);
/// let mut goals = [RigGoal::from(Goal::position(Vec3::new(0.4, 1.6, 0.3))), RigGoal::new()];
/// mirror.goals(&Placement::IDENTITY, &mut goals)?;
/// assert!(goals[0].is_unset());
/// assert!(goals[1].goal.position.unwrap().distance(Vec3::new(-0.4, 1.6, 0.3)) < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Mirror {
    rig: Rig,
    bind: Pose,
    /// Unit normal of the plane, to the figure's left, and its distance from the origin along that.
    normal: Vec3,
    distance: f32,
    /// For each joint, the one on the other side; `None` for a joint with a side and without a partner.
    joints: Vec<Option<JointId>>,
    /// Sides of the joints.
    sides: Vec<Option<Side>>,
    /// For each goal, its joint and the goal on the other side.
    goals: Vec<(JointId, Option<usize>)>,
    /// Sources of the goals, as they were given.
    specs: Vec<GoalSpec>,
}

impl Mirror {
    /// The mirror of a figure with its rig, bind pose and, where they are known, roles. Without roles the figure faces +Z.
    pub fn new(rig: &Rig, bind: &Pose, body: Option<&BodyRoles>) -> Self {
        let mut bind = bind.clone();
        bind.update();
        let skeleton = bind.skeleton().clone();
        // A name that is there twice is no name.
        let mut names: BTreeMap<&str, Option<JointId>> = BTreeMap::new();
        for j in skeleton.joints() {
            names.entry(skeleton.name(j)).and_modify(|found| *found = None).or_insert(Some(j));
        }
        let by_name = |j| match other_side(skeleton.name(j)) {
            Some(other) => names.get(other.as_str()).copied().flatten(),
            None => Some(j),
        };
        let mut joints: Vec<_> = skeleton.joints().map(by_name).collect();
        for assigned in body.iter().flat_map(|body| &body.assigned) {
            let other = body.and_then(|body| body.joint(assigned.role.mirrored()));
            joints[assigned.joint.index()] = other;
        }
        // Partners belong to each other.
        for j in skeleton.joints() {
            if let Some(other) = joints[j.index()]
                && joints[other.index()] != Some(j)
            {
                joints[j.index()] = None;
            }
        }
        let normal = Vec3::Y.cross(body.map_or(Vec3::Z, |body| body.front(&bind)));
        let mut sides: Vec<Option<Side>> = alloc::vec![None; skeleton.len()];
        let (mut sum, mut count) = (0.0_f64, 0.0);
        for j in skeleton.joints() {
            let Some(other) = joints[j.index()].filter(|&other| other != j) else { continue };
            let [here, there] = [j, other].map(|j| f64::from(normal.dot(bind.position(j))));
            sides[j.index()] = Some(if here >= there { Side::Left } else { Side::Right });
            (sum, count) = (sum + here, count + 1.0);
        }
        let middle = body.map_or(0.0, |body| normal.dot(bind.position(body.hips)));
        let distance = if count > 0.0 { (sum / count) as f32 } else { middle };
        let all = || rig.handles.iter().flat_map(|h| h.sources.iter().map(move |s| (s, h.solver)));
        let partner = |index: usize, source: &Source, solver| {
            let other = joints.get(source.joint.index()).copied().flatten()?;
            let spec = &source.spec;
            let space = other_space(&joints, spec.space)?;
            let pole_space = spec.pole_space.map(|space| other_space(&joints, space));
            let belongs = |s: &Source| {
                s.joint == other && s.spec.space == space && s.spec.pole_space.map(Some) == pole_space
            };
            // Of several goals of a joint, those in the same order.
            let alike = |s: &Source| s.joint == source.joint && s.spec.space == spec.space;
            let order = all().take(index).filter(|(s, of)| *of == solver && alike(s)).count();
            let mut found = all().enumerate().filter(|(_, (s, of))| *of == solver && belongs(s));
            found.nth(order).map(|(n, _)| n)
        };
        let goals = all().enumerate().map(|(n, (s, solver))| (s.joint, partner(n, s, solver))).collect();
        let specs = all().map(|(s, _)| s.spec).collect();
        Self { rig: rig.clone(), bind, normal, distance, joints, sides, goals, specs }
    }

    /// The goal of the other side that belongs to a goal; the goal itself where it has no side. `None` where there is none.
    pub fn partner(&self, goal: usize) -> Option<usize> {
        self.goals.get(goal).and_then(|(_, partner)| *partner)
    }

    /// Mirrors the goals of a frame, those of the rig in order. `placement` is that of the figure in the frame.
    ///
    /// # Errors
    ///
    /// [`KeyError::GoalCount`], [`KeyError::NoPartner`] for a goal that is set and has no partner, or is in the space of a joint
    /// without one, and [`KeyError::Flat`]. The goals are then as they were.
    pub fn goals(&self, placement: &Placement, goals: &mut [RigGoal]) -> Result<(), KeyError> {
        if goals.len() != self.goals.len() {
            return Err(KeyError::GoalCount { given: goals.len(), wanted: self.goals.len() });
        }
        let mut mirrored: Vec<RigGoal> = goals.to_vec();
        for (index, goal) in goals.iter().enumerate() {
            match self.goals[index].1 {
                Some(partner) if *goal == RigGoal::new() => mirrored[partner] = *goal,
                Some(partner) => mirrored[partner] = self.goal(index, partner, goal, placement)?,
                None if *goal == RigGoal::new() => {}
                None => return Err(KeyError::NoPartner(KeyOwner::Goal(index))),
            }
        }
        goals.copy_from_slice(&mirrored);
        Ok(())
    }

    /// The edit that mirrors all keys: those of the two sides change places. With a side, the keys of that side are copied to the
    /// other one, whose own keys they replace, and those of goals and joints without a side stay. `placement` is that of the
    /// figure in the world, for keys in world space.
    ///
    /// # Errors
    ///
    /// [`KeyError::GoalCount`] and [`KeyError::JointCount`] for keys of another rig, [`KeyError::NoPartner`] for a key whose owner
    /// or space has no partner, and [`KeyError::Flat`].
    pub fn keys(
        &self,
        placement: &Placement,
        keys: &RigKeys,
        side: Option<Side>,
    ) -> Result<KeyEdit, KeyError> {
        if keys.goal_count() != self.goals.len() {
            return Err(KeyError::GoalCount { given: keys.goal_count(), wanted: self.goals.len() });
        }
        if keys.joints != self.joints.len() {
            return Err(KeyError::JointCount { given: keys.joints, wanted: self.joints.len() });
        }
        let side_of = |owner| match owner {
            KeyOwner::Goal(goal) => self.sides[self.goals[goal].0.index()],
            KeyOwner::Joint(joint) => self.sides[joint.index()],
        };
        let written = |owner| side.is_none_or(|side| side_of(owner) == Some(side.other()));
        let read = |owner| side.is_none_or(|from| side_of(owner) == Some(from));
        let mut edit = keys.delete(|address| written(address.owner));
        let mut mirrored = Vec::new();
        for (address, key) in keys.all().filter(|(address, _)| read(address.owner)) {
            let (owner, channel) = (address.owner, address.channel);
            let other = match owner {
                KeyOwner::Goal(goal) => self.goals[goal].1.map(KeyOwner::Goal),
                KeyOwner::Joint(joint) => self.joints[joint.index()].map(KeyOwner::Joint),
            };
            let other = other.ok_or(KeyError::NoPartner(owner))?;
            let turn = self.turn(owner, other, channel, placement)?;
            let space = channel.space().map(|space| self.key_space(space)).transpose()?;
            let to = space.map_or(channel, |space| channel.in_space(space));
            let value = match key.value {
                KeyValue::Space(space) => self.key_space(space)?.into(),
                value => turn.value(value),
            };
            let slopes = key.slopes.map(|slopes| slopes.map(|slope| turn.slope(slope)));
            mirrored.push((KeyAddress::new(other, to, address.time), Some(Key { value, slopes, ..*key })));
        }
        edit.change_all(mirrored);
        Ok(edit)
    }

    fn goal(
        &self,
        index: usize,
        partner: usize,
        goal: &RigGoal,
        placement: &Placement,
    ) -> Result<RigGoal, KeyError> {
        let (from, to, own) = (KeyOwner::Goal(index), KeyOwner::Goal(partner), &self.specs[index]);
        let space = goal.space.unwrap_or(own.space);
        let follows = goal.space.filter(|_| own.pole_space.is_none());
        let pole_space = goal.pole_space.or(follows).or(own.pole_space).unwrap_or(own.space);
        let turn = self.turn(from, to, KeyChannel::position(space), placement)?;
        let pole = self.turn(from, to, KeyChannel::pole(pole_space), placement)?;
        let mut new = *goal;
        new.goal.position = goal.goal.position.map(|p| turn.frame.transform_point3(p));
        new.goal.rotation = goal.goal.rotation.map(|q| turn.rotated(q));
        new.goal.swivel *= turn.sign;
        new.goal.pole = match goal.goal.pole {
            Pole::Point(p) => Pole::Point(pole.frame.transform_point3(p)),
            Pole::Direction(d) => Pole::Direction(pole.frame.transform_vector3(d)),
            pole => pole,
        };
        (new.bank, new.pivot) = (-goal.bank, -goal.pivot);
        for (turn, channel) in new.turns.iter_mut().zip([KeyChannel::UpperTurn, KeyChannel::MiddleTurn]) {
            if *turn != Quat::IDENTITY {
                *turn = self.turn(from, to, channel, placement)?.rotated(*turn);
            }
        }
        new.space = goal.space.map(|space| self.space(space)).transpose()?;
        new.pole_space = goal.pole_space.map(|space| self.space(space)).transpose()?;
        Ok(new)
    }

    /// The space on the other side.
    fn space(&self, space: Space) -> Result<Space, KeyError> {
        other_space(&self.joints, space).ok_or(match space {
            Space::Joint(joint) => KeyError::NoPartner(KeyOwner::Joint(joint)),
            space => KeyError::Flat(space),
        })
    }

    fn key_space(&self, of: KeySpace) -> Result<KeySpace, KeyError> {
        Ok(KeySpace { space: self.space(of.space)?, ..of })
    }

    /// The maps that mirror the values of a channel.
    fn turn(
        &self,
        from: KeyOwner,
        to: KeyOwner,
        channel: KeyChannel,
        placement: &Placement,
    ) -> Result<Turn, KeyError> {
        let skeleton = self.bind.skeleton();
        let joint = |owner| match owner {
            KeyOwner::Goal(goal) => self.goals[goal].0,
            KeyOwner::Joint(joint) => joint,
        };
        let [tip, other] = [joint(from), joint(to)];
        let above = |j| skeleton.parent(j).map_or(Space::Model, Space::Joint);
        let spaces = match channel {
            KeyChannel::LocalTranslation | KeyChannel::LocalRotation => Some([above(tip), above(other)]),
            _ => match channel.space().map(|of| of.space) {
                Some(space) => Some([space, self.space(space)?]),
                None => None,
            },
        };
        let normal = self.normal;
        if let KeyChannel::UpperTurn | KeyChannel::MiddleTurn = channel {
            // A turn e takes a joint from the model rotation R to R e. Mirrored, R is m(R) m(b)^-1 b', where b and b' are the
            // rotations of both joints at bind, and R e likewise: the turn is (m(b)^-1 b')^-1 m(e) m(b)^-1 b'.
            let [a, b] = [from, to].map(|owner| self.limb_joint(owner, channel));
            let (Some(a), Some(b)) = (a, b) else { return Err(KeyError::NoPartner(from)) };
            let [a, b] = [a, b].map(|j| self.bind.model_rotation(j));
            let last = math::mul(math::conjugate(mirrored_rotation(normal, a)), b);
            let before = [math::conjugate(last), last];
            return Ok(Turn { frame: Affine3::IDENTITY, before, normal, sign: 1.0 });
        }
        let Some([space, mirrored]) = spaces else {
            let sign = if matches!(channel, KeyChannel::Bank | KeyChannel::Pivot) { -1.0 } else { 1.0 };
            return Ok(Turn { frame: Affine3::IDENTITY, before: [Quat::IDENTITY; 2], normal, sign });
        };
        let outer = |v: Vec3| Mat3::from_cols(v * v.x, v * v.y, v * v.z);
        let mirror = Affine3 {
            matrix3: Mat3::IDENTITY - outer(normal) * 2.0,
            translation: normal * (2.0 * self.distance),
        };
        let (a, b) = (self.frame(space, placement)?, self.frame(mirrored, placement)?);
        let frame = b.inverse() * mirror * a;
        if !frame.is_finite() {
            return Err(KeyError::Flat(mirrored));
        }
        // A rotation q in a space is R q A in model space, where A is the identity but for roles, and R q A B^-1 the turn from
        // bind, B. Mirrored, that is the turn of the other joint.
        let ends = |space, frame: &Affine3, joint| {
            let rotation = match space {
                Space::World => placement.rotation_to_model(Quat::IDENTITY),
                _ => math::rotation_of(&frame.matrix3),
            };
            let at_bind = self.bind.model_rotation(joint);
            let tail = match space {
                Space::Role(_) => {
                    math::mul(self.rig.spaces.rotation_at_bind(&self.bind, joint), math::conjugate(at_bind))
                }
                _ => math::conjugate(at_bind),
            };
            (rotation, tail)
        };
        let ((r, tail), (other_r, other_tail)) = (ends(space, &a, tip), ends(mirrored, &b, other));
        // The mirror of a product is the product of the mirrored: m(r q t) = m(r) m(q) m(t).
        let m = |q| mirrored_rotation(normal, q);
        let before =
            [math::mul(math::conjugate(other_r), m(r)), math::mul(m(tail), math::conjugate(other_tail))];
        let flips = |frame: &Affine3| if frame.matrix3.determinant() < 0.0 { -1.0 } else { 1.0 };
        Ok(Turn { frame, before, normal, sign: -flips(&a) * flips(&b) })
    }

    /// The joint that a turn of a goal's limb turns.
    fn limb_joint(&self, owner: KeyOwner, channel: KeyChannel) -> Option<JointId> {
        let KeyOwner::Goal(goal) = owner else { return None };
        let handle = self.rig.handles.iter().find(|h| h.first == goal)?;
        let at = handle.bends()?[usize::from(channel == KeyChannel::MiddleTurn)];
        handle.joints.get(at).copied()
    }

    /// The frame of a space at bind, in model space.
    fn frame(&self, space: Space, placement: &Placement) -> Result<Affine3, KeyError> {
        let skeleton = self.bind.skeleton();
        let base = self.rig.spaces.find(space, skeleton).map_err(|_| match space {
            Space::Joint(joint) => KeyError::NoJoint { joint, count: skeleton.len() },
            space => KeyError::Flat(space),
        })?;
        Ok(match base.frame(&self.bind, placement) {
            Frame::Model => Affine3::IDENTITY,
            Frame::World(placement) => placement.model_from_world(),
            Frame::Joint(frame, _) => frame,
        })
    }
}

/// The space on the other side, by the partners of joints.
fn other_space(joints: &[Option<JointId>], space: Space) -> Option<Space> {
    match space {
        Space::Joint(joint) => joints.get(joint.index()).copied().flatten().map(Space::Joint),
        Space::Role(role) => Some(Space::Role(role.mirrored())),
        space => Some(space),
    }
}

/// Maps of the values of a channel to those on the other side.
struct Turn {
    /// Of points, from space to space.
    frame: Affine3,
    /// Of rotations: factors before and after the mirrored one.
    before: [Quat; 2],
    normal: Vec3,
    /// Of angles.
    sign: f32,
}

impl Turn {
    fn value(&self, value: KeyValue) -> KeyValue {
        match value {
            KeyValue::Vector(v) => KeyValue::Vector(self.frame.transform_point3(v)),
            value => self.slope(value),
        }
    }

    fn slope(&self, slope: KeyValue) -> KeyValue {
        match slope {
            KeyValue::Vector(v) => KeyValue::Vector(self.frame.transform_vector3(v)),
            KeyValue::Rotation(q) => KeyValue::Rotation(self.rotated(q)),
            KeyValue::Number(x) => KeyValue::Number(x * self.sign),
            space => space,
        }
    }

    /// Linear in the components, so that it maps slopes too.
    fn rotated(&self, q: Quat) -> Quat {
        let [first, last] = self.before;
        math::mul(math::mul(first, mirrored_rotation(self.normal, q)), last)
    }
}

/// The rotation mirrored in a plane through the origin: the axis is an axial vector.
fn mirrored_rotation(normal: Vec3, q: Quat) -> Quat {
    let v = Vec3::new(q.x, q.y, q.z);
    let v = normal * (2.0 * normal.dot(v)) - v;
    Quat::from_xyzw(v.x, v.y, v.z, q.w)
}
