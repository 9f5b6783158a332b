//! A mechanism from a skeleton's joints, and poses in and out of it.

use alloc::{format, string::String, vec::Vec};

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};
use thiserror::Error;

use super::{
    JointSpec, LinkId, Mechanism, MechanismError, Motion, ValuesError,
    angles::{about, angles_within, on_turn, twist},
    ball::{coordinates, turned},
    dof::Kind,
    motion::frame_of,
};
use crate::{
    JointId, Pose, PoseError,
    joint::{Attribute, Attributes, Dof, Range, TOLERANCE, Turning, UnsupportedAttribute, check_honoured},
    math64,
};

/// Why a skeleton did not become a mechanism.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A joint asks for what joint space cannot honour: ease, stiffness, damping, springs and precedence are for pose space.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedAttribute),
    /// The pose holds NaN or an infinity.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A joint's scale is not the same along all axes, or none. (It may mirror some.)
    #[error("joint `{joint}` is scaled by {scale}: joint space needs one scale along all axes, and not 0")]
    Scale {
        /// Its name.
        joint: String,
        /// Its local scale.
        scale: glam::Vec3,
    },
    /// The joints make no mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// What joint space honours.
const HONOURED: Attributes = Attributes::of(&[
    Attribute::Fixed,
    Attribute::Hinge,
    Attribute::Ball,
    Attribute::Axes,
    Attribute::Slider,
    Attribute::Preferred,
]);

/// How a joint of the skeleton turns in the mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Turn {
    /// Own rotation held.
    None,
    /// Own rotation = `held` * (turn about the axis).
    Hinge { axis: DVec3, held: DMat3 },
    /// Own rotation = turns about these axes in order. An angle without a degree of freedom is held.
    Axes { axes: [usize; 3], angles: [Option<f64>; 3] },
    /// Own rotation = `frame` * (swing and twist) * `frame`^-1.
    Ball { frame: DMat3 },
    /// Own rotation = that of a rotation vector.
    Vector,
}

impl Turn {
    /// How many degrees of freedom it has.
    fn count(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Hinge { .. } => 1,
            Self::Axes { angles, .. } => angles.iter().filter(|a| a.is_none()).count(),
            Self::Ball { .. } | Self::Vector => 3,
        }
    }
}

/// A joint that has degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Compiled {
    joint: JointId,
    /// The first of its degrees of freedom: slides first, then turns.
    first: usize,
    /// Which of X, Y and Z it slides along.
    slides: [bool; 3],
    /// Metres in a unit of the parent.
    scale: f64,
    turn: Turn,
}

impl Compiled {
    /// How many axes it slides along.
    fn count(&self) -> usize {
        self.slides.iter().filter(|s| **s).count()
    }
}

/// A [`Mechanism`] compiled from a skeleton in a pose, which takes values from poses and gives them back.
///
/// Bones, scales and whatever does not move are as the pose has them that it was compiled from. The root link is model
/// space; each joint is a link of its name (with its index behind it where a name is empty or taken). Degrees of freedom
/// are the joints' own [coordinates](crate::joint::Coordinates), each 0 in the rest pose and within the limits that pose
/// space keeps too: a hinge's angle, up to three angles of a joint that turns about its axes, two swings and a twist of a
/// ball joint, a rotation vector of a joint that turns freely (and of a ball without limits), slides in metres.
///
/// Scales may mirror. A link's frame is that of [`Pose::model_rotation`]: a mirrored frame counts as one of a negative
/// scale, and the sizes of a joint's axes turn nothing. A joint that carries others has one scale along all axes: the middle
/// of sizes that differ by up to a thousandth. For each such joint the links below are off by up to half a thousandth of
/// their distance from it and a thousandth of a radian, and so is what a solve of them reports.
///
/// # Limits
///
/// Limits hold for values: each within its range, swings within their ellipse. Values that a goal depends on end within,
/// exactly. The others stay as they are, out of their limits or not. (A goal relative to a link between two angles of a
/// joint that turns about single axes moves some of them.)
///
/// The pose that is written is no further out of the joints' limits than the values are, beside what was held aside of
/// them when the mechanism was compiled. A rotation about single axes has two sets of angles, and a family of sets where the
/// middle angle is a quarter turn; so pose space measures the least turn that leads within
/// ([`Limits::excess`](crate::joint::Limits::excess)). An angle that is out by e is within after a turn of e about one axis,
/// so the least turn is at most the sum of what the angles are out, and 0 where all are within. It may grow while an angle
/// moves within its range and another is held outside: the rotation may have come in near another set within.
///
/// A pose within its limits, to f32's rounding, is read as values within.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Pose, Skeleton, JointTransform, glam::{DVec3, Vec3}, joint::{Dof, Joint}};
/// use sinew::mechanism::{LinkGoal, JointSpaceOptions, SkeletonMechanism, JointSpaceSolver, LinkTarget};
/// let mut b = Skeleton::builder();
/// b.add("upper", None, JointTransform::from_translation(Vec3::Y));
/// b.add("fore", Some(0), JointTransform::from_translation(Vec3::X * 0.3));
/// b.add("hand", Some(1), JointTransform::from_translation(Vec3::X * 0.25));
/// let (mut skeleton, ids) = b.build()?;
/// // Half-axes of a shoulder's swing about Y and Z, and its twist about the bone.
/// skeleton.set_joint(ids[0], Joint::ball(Vec3::X, Vec3::Y, [(-1.5, 1.2), (-1.0, 0.8)], (-0.5, 0.5)))?;
/// skeleton.set_joint(ids[1], Joint::hinge(Vec3::Y, Dof::range(0.0, 2.4)))?;
/// skeleton.set_joint(ids[2], Joint::FIXED)?;
///
/// let mut pose = Pose::rest(&Arc::new(skeleton));
/// let arm = SkeletonMechanism::compile(&pose)?;
/// let goal = LinkGoal::new(arm.mechanism(), arm.link(ids[2]), LinkTarget::Position(DVec3::new(0.3, 1.1, 0.2)));
/// let mut solver = JointSpaceSolver::new(arm.mechanism(), &[goal], JointSpaceOptions::default())?;
/// let mut values = arm.mechanism().rest();
/// arm.read(&pose, &mut values)?;
/// solver.solve(&[goal], &mut values)?;
/// arm.write(&values, &mut pose)?;
/// pose.update();
/// assert!(pose.position(ids[2]).distance(Vec3::new(0.3, 1.1, 0.2)) < 1e-5);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonMechanism {
    mechanism: Mechanism,
    links: Vec<LinkId>,
    joints: Vec<Compiled>,
}

fn wide(q: Quat) -> DMat3 {
    let q = DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into());
    let s = 1.0 / math64::sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    math64::matrix(DQuat::from_xyzw(q.x * s, q.y * s, q.z * s, q.w * s))
}

fn narrow(m: &DMat3) -> Quat {
    let q = math64::quaternion(m);
    Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
}

/// A value that is outside its range by no more than f32's rounding, at the end.
fn settled(value: f64, lower: f64, upper: f64) -> f64 {
    let inside = value.max(lower).min(upper);
    if (value - inside).abs() <= f64::from(TOLERANCE) { inside } else { value }
}

/// A slide's range and preferred value in metres.
fn scaled(dof: &Dof, scale: f64) -> Dof {
    let range = dof.range.map(|r| Range { min: r.min * scale, max: r.max * scale });
    Dof { range, preferred: dof.preferred.map(|p| p * scale), ..*dof }
}

/// A joint of one kind on its way into the mechanism.
struct Step {
    /// The rotation between the one before and this one.
    before: DMat3,
    motion: Motion,
    /// For each degree of freedom.
    preferred: [Option<f64>; 3],
    suffix: &'static str,
}

impl Step {
    fn one(before: DMat3, axis: DVec3, dof: Dof, slide: bool, suffix: &'static str) -> Self {
        let (lower, upper) = dof.range.map_or((f64::NEG_INFINITY, f64::INFINITY), |r| (r.min, r.max));
        let motion = match slide {
            true => Motion::Slide { axis, lower, upper },
            false => Motion::Turn { axis, lower, upper },
        };
        Self { before, motion, preferred: [dof.preferred, None, None], suffix }
    }

    fn count(&self) -> usize {
        if matches!(self.motion, Motion::Ball { .. } | Motion::Spherical) { 3 } else { 1 }
    }
}

/// Relative difference of sizes up to which a scale counts as the same along all axes: where a shear begins to be visible,
/// as in pose space ([`Chain::check_frames`](crate::Chain::check_frames)).
const EVEN: f32 = 1e-3;

/// A scale's size along all axes, the middle of theirs. None where it is uneven.
fn even(scale: Vec3) -> Option<f64> {
    let size = scale.abs();
    let (min, max) = (size.min_element(), size.max_element());
    (max - min <= EVEN * max && min > 0.0).then(|| 0.5 * (f64::from(min) + f64::from(max)))
}

/// A scale's signs as one and what is left of them, a half turn where two axes are mirrored.
fn signs(scale: Vec3) -> (f64, DMat3) {
    let signs = DVec3::from_array(scale.to_array().map(|x| if x < 0.0 { -1.0 } else { 1.0 }));
    let sign = signs.x * signs.y * signs.z;
    (sign, DMat3::from_diagonal(signs * sign))
}

/// A ball of a skeleton as a motion with preferred values, and how it is read.
fn ball(
    twist_axis: DVec3,
    swing_axis: DVec3,
    swing: [Dof; 2],
    twist: Dof,
) -> (Motion, [Option<f64>; 3], Turn) {
    let frame = frame_of(twist_axis, swing_axis);
    let preferred = [swing[0].preferred, swing[1].preferred, twist.preferred];
    let (Some(first), Some(second)) = (swing[0].range, swing[1].range) else {
        // Without limits it is a joint that turns freely, whose coordinates lose no direction anywhere.
        let some = preferred.iter().any(Option::is_some).then(|| {
            let (r, _) = turned(Kind::Ball, preferred.map(|p| p.unwrap_or(0.0)));
            coordinates(Kind::Vector, &(frame * r * frame.transpose()))
        });
        return (Motion::Spherical, [0, 1, 2].map(|k| some.map(|p| p[k])), Turn::Vector);
    };
    let motion = Motion::Ball {
        twist_axis,
        swing_axis,
        swing: [first, second].map(|r| (r.min, r.max)),
        twist: twist.range.map_or((f64::NEG_INFINITY, f64::INFINITY), |r| (r.min, r.max)),
    };
    (motion, preferred, Turn::Ball { frame })
}

impl SkeletonMechanism {
    /// Compiles every joint of a pose's skeleton. The pose must be up to date.
    pub fn compile(pose: &Pose) -> Result<Self, CompileError> {
        pose.check_rotations()?;
        let skeleton = pose.skeleton();
        check_honoured(skeleton, skeleton.joints(), "joint space", HONOURED)?;
        let mut builder = Mechanism::builder("skeleton");
        let model = String::from("model space");
        builder.link(model.clone());
        let mut names: Vec<String> = Vec::with_capacity(skeleton.len());
        let mut scales: Vec<f64> = Vec::with_capacity(skeleton.len());
        let mut joints = Vec::new();
        // Of every degree of freedom so far: a mechanism's come in the order of its joints, and these in the skeleton's.
        let mut preferred: Vec<Option<f64>> = Vec::new();
        let mut taken: Vec<&str> = skeleton.joints().map(|j| skeleton.name(j)).collect();
        taken.sort_unstable();
        for joint in skeleton.joints() {
            let local = pose.local(joint);
            // Of a joint that carries none the size moves nothing, along whichever axis.
            let size = match even(local.scale) {
                None if skeleton.children(joint).next().is_some() => {
                    let (joint, scale) = (skeleton.name(joint).into(), local.scale);
                    return Err(CompileError::Scale { joint, scale });
                }
                size => size.unwrap_or(1.0),
            };
            let (sign, half_turn) = signs(local.scale);
            let name = skeleton.name(joint);
            let at = taken.partition_point(|t| *t < name);
            let own_name = name.is_empty() || name == model || taken.get(at + 1) == Some(&name);
            names.push(if own_name { format!("{name}{joint}") } else { name.into() });
            let (parent, scale) = match skeleton.parent(joint) {
                Some(p) => (names[p.index()].clone(), scales[p.index()]),
                None => (model.clone(), 1.0),
            };
            scales.push(scale * (sign * size));

            let freedom = skeleton.freedom(joint);
            let rest = skeleton.rest(joint);
            let base = wide(rest.rotation);
            let own = base.transpose() * wide(local.rotation);
            let slid = base.transpose() * (local.translation - rest.translation).as_dvec3();
            let slides = freedom.slide.map(|d| d.is_some());
            let held_slide = DVec3::from_array([0, 1, 2].map(|k| if slides[k] { 0.0 } else { slid[k] }));
            let origin = rest.translation.as_dvec3() + base * held_slide;

            let mut steps: Vec<Step> = Vec::new();
            for k in (0..3).filter(|&k| slides[k]) {
                if let Some(dof) = &freedom.slide[k] {
                    let suffix = [".slide x", ".slide y", ".slide z"][k];
                    // In a mirrored frame it slides the other way.
                    let axis = DVec3::AXES[k] * if scale < 0.0 { -1.0 } else { 1.0 };
                    steps.push(Step::one(DMat3::IDENTITY, axis, scaled(dof, scale.abs()), true, suffix));
                }
            }
            let suffixes = [".x", ".y", ".z"];
            // What is held after the last degree of freedom.
            let mut last = DMat3::IDENTITY;
            let turn = match freedom.turning {
                Turning::Hinge { axis, dof } => {
                    let axis = axis.normalize();
                    let held = own * math64::axis_angle(axis, twist(axis, &own)).transpose();
                    steps.push(Step::one(held, axis, dof, false, ""));
                    Turn::Hinge { axis, held }
                }
                Turning::Axes { order, angles: dofs } => {
                    let axes = order.axes();
                    // Those that do not turn are at 0, unless the pose has them elsewhere.
                    let still = Range { min: 0.0, max: 0.0 };
                    let ranges = axes.map(|n| dofs[n].map_or(Some(still), |d| d.range));
                    // Next to a pole of the middle axis, rounding makes angles that the pose has not.
                    let zero = axes.map(|n| dofs[n].is_none().then_some(0.0));
                    let mut now = angles_within(axes, &own, zero, ranges);
                    let turned = (0..3).fold(DMat3::IDENTITY, |r, n| r * about(axes[n], now[n]));
                    let off = math64::rotation_vector(&(turned.transpose() * own));
                    if off.length_squared() > f64::from(TOLERANCE * TOLERANCE) {
                        now = angles_within(axes, &own, [None; 3], ranges);
                    }
                    let mut kept = [None; 3];
                    for n in 0..3 {
                        match &dofs[axes[n]] {
                            Some(dof) => {
                                let before = core::mem::replace(&mut last, DMat3::IDENTITY);
                                let axis = DVec3::AXES[axes[n]];
                                steps.push(Step::one(before, axis, *dof, false, suffixes[axes[n]]));
                            }
                            None => {
                                let angle = settled(now[n], 0.0, 0.0);
                                kept[n] = Some(angle);
                                last *= about(axes[n], angle);
                            }
                        }
                    }
                    Turn::Axes { axes, angles: kept }
                }
                Turning::Free => {
                    let (motion, preferred) = (Motion::Spherical, [None; 3]);
                    steps.push(Step { before: DMat3::IDENTITY, motion, preferred, suffix: "" });
                    Turn::Vector
                }
                Turning::Ball { twist_axis, swing_axis, swing, twist } => {
                    let (motion, preferred, turn) = ball(twist_axis, swing_axis, swing, twist);
                    steps.push(Step { before: DMat3::IDENTITY, motion, preferred, suffix: "" });
                    turn
                }
                Turning::Fixed => {
                    last = own;
                    Turn::None
                }
            };
            // A half turn by two mirrored axes.
            last *= half_turn;
            let count = steps.iter().map(Step::count).sum::<usize>();
            if count > 0 {
                joints.push(Compiled { joint, first: preferred.len(), slides, scale: scale.abs(), turn });
            }
            let name = names[joint.index()].clone();
            let (mut carrier, mut placed) = (parent, (origin * scale, base));
            for (n, step) in steps.into_iter().enumerate() {
                preferred.extend_from_slice(&step.preferred[..step.count()]);
                let link = format!("{name}/{n}");
                builder.link(link.clone());
                builder.joint(JointSpec {
                    translation: placed.0,
                    rotation: math64::quaternion(&(placed.1 * step.before)),
                    ..JointSpec::new(format!("{name}{}", step.suffix), carrier, link.clone(), step.motion)
                });
                carrier = link;
                placed = (DVec3::ZERO, DMat3::IDENTITY);
            }
            builder.link(name.clone());
            builder.joint(JointSpec {
                translation: placed.0,
                rotation: math64::quaternion(&(placed.1 * last)),
                ..JointSpec::new(format!("{name}/fixed"), carrier, name, Motion::Fixed)
            });
        }
        let mut mechanism = builder.build()?;
        for (dof, preferred) in mechanism.dofs.iter_mut().zip(preferred) {
            dof.preferred = preferred;
        }
        let link = |n: &String| mechanism.find_link(n).unwrap_or(mechanism.root());
        let links = names.iter().map(link).collect();
        Ok(Self { mechanism, links, joints })
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.mechanism
    }

    /// The link that a joint of the skeleton is.
    pub fn link(&self, joint: JointId) -> LinkId {
        self.links[joint.index()]
    }

    /// The degrees of freedom of a joint of the skeleton, slides first, each in the order of X,
    /// Y and Z or of the joint's own axes.
    pub fn dofs(&self, joint: JointId) -> core::ops::Range<usize> {
        let at = self.joints.iter().position(|c| c.joint == joint);
        let Some(at) = at else { return 0..0 };
        let end = self.joints.get(at + 1).map_or(self.mechanism.dofs().len(), |c| c.first);
        self.joints[at].first..end
    }

    /// Takes the values from a pose of the same skeleton. What the joints cannot do (a turn aside of a hinge) is left
    /// out. An angle is given on the turn that the middle of its range is on, a rotation vector within half a turn; of the
    /// sets of angles about single axes the one that is least outside; what is outside its limits by no more than f32's
    /// rounding ([`TOLERANCE`]) is put on them.
    ///
    /// An error where there is not one value a degree of freedom; nothing is changed then.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        self.mechanism.check_count(values)?;
        for c in &self.joints {
            self.read_joint(c, pose, &mut values[c.first..]);
        }
        Ok(())
    }

    fn read_joint(&self, c: &Compiled, pose: &Pose, values: &mut [f64]) {
        let (local, rest) = (pose.local(c.joint), pose.skeleton().rest(c.joint));
        let base = wide(rest.rotation).transpose();
        let slid = base * (local.translation - rest.translation).as_dvec3();
        let own = base * wide(local.rotation);
        let dofs = &self.mechanism.dofs[c.first..];
        let range = |k: usize| {
            let (from, to) = (dofs[k].lower, dofs[k].upper);
            (from.is_finite() && to.is_finite()).then_some(Range { min: from, max: to })
        };
        let mut count = 0;
        let mut put = |value: f64| {
            values[count] = settled(value, dofs[count].lower, dofs[count].upper);
            count += 1;
        };
        (0..3).filter(|&k| c.slides[k]).for_each(|k| put(slid[k] * c.scale));
        let first = c.count();
        match &c.turn {
            Turn::None => {}
            Turn::Hinge { axis, held } => put(on_turn(twist(*axis, &(held.transpose() * own)), range(first))),
            Turn::Axes { axes, angles: kept } => {
                let mut next = first..;
                let ranges = kept.map(|k| if k.is_some() { None } else { next.next().and_then(range) });
                let mut now = angles_within(*axes, &own, *kept, ranges);
                for n in 0..3 {
                    now[n] = on_turn(now[n], ranges[n]);
                }
                let out = |n: usize| {
                    ranges[n]
                        .is_some_and(|r: Range| !(r.min..=r.max).contains(&settled(now[n], r.min, r.max)))
                };
                let held = kept.iter().flatten().any(|k| *k != 0.0);
                // Next to a pole of the middle axis rounding makes any angles of the outer two. Where the rotation is
                // within the limits, so are these.
                let limits = pose.skeleton().limits(c.joint);
                if !held && (0..3).any(out) && limits.is_within(local.rotation) {
                    let near = limits.coordinates(local.rotation);
                    now = [0, 1, 2].map(|n| on_turn(near[n].into(), ranges[n]));
                }
                (0..3).filter(|&n| kept[n].is_none()).for_each(|n| put(now[n]));
            }
            Turn::Ball { frame } => {
                let [x, y, t] = coordinates(Kind::Ball, &(frame.transpose() * own * *frame));
                let [x, y] = self.settled_swing(c.first + first, [x, y]);
                [x, y, on_turn(t, range(first + 2))].into_iter().for_each(put);
            }
            Turn::Vector => {
                coordinates(Kind::Vector, &own).into_iter().for_each(put);
            }
        }
    }

    /// A swing that is outside its ellipse by no more than f32's rounding, on it.
    fn settled_swing(&self, dof: usize, at: [f64; 2]) -> [f64; 2] {
        let Some((_, swing)) = self.mechanism.swings.iter().find(|s| s.0 == dof) else { return at };
        let on = swing.nearest(at);
        let (x, y) = (on[0] - at[0], on[1] - at[1]);
        if x * x + y * y <= f64::from(TOLERANCE * TOLERANCE) { on } else { at }
    }

    /// Puts values into a pose of the same skeleton. Joints whose values are those that the pose has keep their bits; call
    /// [`Pose::update`] afterwards.
    ///
    /// An error where there is not one value a degree of freedom, one is no number, or a slide goes further than `f32` can
    /// tell; the pose is as it was then.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.mechanism.check(values)?;
        // Slides alone can be beyond what a pose holds.
        for c in self.joints.iter().filter(|c| c.count() > 0) {
            let came = pose.local(c.joint).translation;
            if came.is_finite() && !slid(c, values, pose).is_finite() {
                let slides = c.first..c.first + c.count();
                let far = |a: &usize, b: &usize| values[*a].abs().total_cmp(&values[*b].abs());
                let dof = slides.max_by(far).unwrap_or(c.first);
                let joint = self.mechanism.dofs[dof].name.clone();
                return Err(ValuesError::TooLarge { joint, value: values[dof] });
            }
        }
        for c in &self.joints {
            if !self.differs(c, values, pose) {
                continue;
            }
            let mut local = *pose.local(c.joint);
            if c.count() > 0 {
                local.translation = slid(c, values, pose);
            }
            let mut next = values[c.first + c.count()..].iter().copied();
            let mut next = || next.next().unwrap_or(0.0);
            let turned =
                match &c.turn {
                    Turn::None => None,
                    Turn::Hinge { axis, held } => Some(*held * math64::axis_angle(*axis, next())),
                    Turn::Axes { axes, angles } => Some((0..3).fold(DMat3::IDENTITY, |r, n| {
                        r * about(axes[n], angles[n].unwrap_or_else(&mut next))
                    })),
                    Turn::Ball { frame } => {
                        let (r, _) = turned(Kind::Ball, [next(), next(), next()]);
                        Some(*frame * r * frame.transpose())
                    }
                    Turn::Vector => Some(turned(Kind::Vector, [next(), next(), next()]).0),
                };
            if let Some(own) = turned {
                local.rotation = narrow(&(wide(pose.skeleton().rest(c.joint).rotation) * own));
            }
            pose.set_local(c.joint, local);
        }
        Ok(())
    }

    /// Whether a joint's values are others than those that the pose has.
    fn differs(&self, c: &Compiled, values: &[f64], pose: &Pose) -> bool {
        // Three slides and three turns are the most.
        let mut now = [0.0; 6];
        self.read_joint(c, pose, &mut now);
        let all = c.count() + c.turn.count();
        values[c.first..][..all] != now[..all]
    }
}

/// Where a joint's slides take it, in its parent's space.
fn slid(c: &Compiled, values: &[f64], pose: &Pose) -> Vec3 {
    let rest = pose.skeleton().rest(c.joint);
    let base = wide(rest.rotation);
    let mut slid = base.transpose() * (pose.local(c.joint).translation - rest.translation).as_dvec3();
    let slides = (0..3).filter(|&k| c.slides[k]);
    slides.zip(&values[c.first..]).for_each(|(k, value)| slid[k] = value / c.scale);
    rest.translation + (base * slid).as_vec3()
}
