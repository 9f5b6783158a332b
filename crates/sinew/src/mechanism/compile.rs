//! A mechanism from a skeleton's joints, and poses in and out of it.

use alloc::{format, string::String, vec::Vec};

use glam::{DMat3, DQuat, DVec3, Quat};
use thiserror::Error;

use super::{JointSpec, LinkId, Mechanism, MechanismError, Motion};
use crate::{
    JointId, Pose, PoseError,
    joint::{Attribute, Attributes, Dof, Range, Turning, Unsupported, check_honoured},
    math64,
};

/// Why a skeleton did not become a mechanism.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A joint asks for what joint space cannot honour: a ball joint's limits are an ellipse, and those of a mechanism one
    /// range a degree of freedom; ease, stiffness, damping, springs and precedence are for pose space.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The pose holds NaN or an infinity.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A joint's scale is not uniform, or none.
    #[error("joint `{joint}` is scaled by {scale}: joint space needs a uniform scale above 0")]
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
    /// Own rotation = `held` * (turns about these axes in order). An angle without a degree of freedom is held.
    Axes { axes: [usize; 3], angles: [Option<f64>; 3], held: DMat3 },
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

/// A [`Mechanism`] compiled from a skeleton in a pose, which takes values from poses and gives them back.
///
/// Bones, scales and whatever does not move are as the pose has them that it was compiled from. The root link is model
/// space; each joint is a link of its name (with its index behind it where a name is empty or taken). Degrees of freedom
/// are the joints' own: a hinge's angle, up to three angles of a joint that turns about its axes, slides in metres, each
/// 0 in the rest pose and within its limits. Joints that turn freely have three angles, about X, Y and Z in turn, measured
/// from the pose that was compiled, so that their poles are a quarter turn away from it.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Pose, Skeleton, Transform, glam::{DVec3, Vec3}, joint::{Dof, Joint}};
/// use sinew::mechanism::{Goal, Settings, SkeletonMechanism, Solver, Target};
/// let mut b = Skeleton::builder();
/// b.add("upper", None, Transform::from_translation(Vec3::Y));
/// b.add("fore", Some(0), Transform::from_translation(Vec3::X * 0.3));
/// b.add("hand", Some(1), Transform::from_translation(Vec3::X * 0.25));
/// let (mut skeleton, ids) = b.build()?;
/// skeleton.set_joint(ids[0], Joint::axes([None, Some(Dof::range(-1.5, 1.5)), Some(Dof::range(-1.0, 1.0))]))?;
/// skeleton.set_joint(ids[1], Joint::hinge(Vec3::Y, Dof::range(0.0, 2.4)))?;
/// skeleton.set_joint(ids[2], Joint::FIXED)?;
///
/// let mut pose = Pose::rest(&Arc::new(skeleton));
/// let arm = SkeletonMechanism::compile(&pose)?;
/// let goal = Goal::new(arm.mechanism(), arm.link(ids[2]), Target::Position(DVec3::new(0.3, 1.1, 0.2)));
/// let mut solver = Solver::new(arm.mechanism(), &[goal], Settings::default())?;
/// let mut values = arm.mechanism().rest();
/// arm.read(&pose, &mut values);
/// solver.solve(&[goal], &mut values)?;
/// arm.write(&values, &mut pose);
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

/// The angles of a rotation about three axes in turn, R = R_i(a) R_j(b) R_k(c). With e = 1 for cyclic axes and -1 for others
/// R_ik = e sin b, R_jk = -e sin a cos b, R_kk = cos a cos b, R_ij = -e cos b sin c, R_ii = cos b cos c.
fn angles([i, j, k]: [usize; 3], r: &DMat3) -> [f64; 3] {
    let e = if (i + 1) % 3 == j { 1.0 } else { -1.0 };
    let at = |row: usize, column: usize| r.col(column)[row];
    let (x, y) = (at(i, i), at(i, j));
    let b = math64::atan2(e * at(i, k), math64::sqrt(x * x + y * y));
    [math64::atan2(-e * at(j, k), at(k, k)), b, math64::atan2(-e * y, x)]
}

fn about(axis: usize, angle: f64) -> DMat3 {
    math64::axis_angle(DVec3::AXES[axis], angle)
}

/// The angle about a unit axis in a rotation = swing * (turn about the axis).
fn twist(axis: DVec3, r: &DMat3) -> f64 {
    let q = math64::quaternion(r);
    2.0 * math64::atan2(q.x * axis.x + q.y * axis.y + q.z * axis.z, q.w)
}

/// A slide's range and preferred value in metres.
fn scaled(dof: &Dof, scale: f64) -> Dof {
    let range = dof.range.map(|r| Range { from: r.from * scale, to: r.to * scale });
    Dof { range, preferred: dof.preferred.map(|p| p * scale), ..*dof }
}

/// A degree of freedom on its way into the mechanism.
struct Step {
    /// The rotation between the one before and this one.
    before: DMat3,
    axis: DVec3,
    dof: Dof,
    slide: bool,
    suffix: &'static str,
}

impl SkeletonMechanism {
    /// Compiles every joint of a pose's skeleton. The pose must be up to date.
    pub fn compile(pose: &Pose) -> Result<Self, CompileError> {
        pose.check_finite()?;
        let skeleton = pose.skeleton();
        check_honoured(skeleton, skeleton.joints(), "joint space", HONOURED)?;
        let mut builder = Mechanism::builder("skeleton");
        let model = String::from("model space");
        builder.link(model.clone());
        let mut names: Vec<String> = Vec::with_capacity(skeleton.len());
        let mut scales: Vec<f64> = Vec::with_capacity(skeleton.len());
        let mut joints = Vec::new();
        let mut first = 0;
        let mut taken: Vec<&str> = skeleton.joints().map(|j| skeleton.name(j)).collect();
        taken.sort_unstable();
        for joint in skeleton.joints() {
            let local = pose.local(joint);
            let s = local.scale;
            let even = (s.x - s.y).abs().max((s.x - s.z).abs()) <= 1e-3 * s.x.abs();
            // Below a joint without joints its scale moves nothing.
            if !(even && s.x > 0.0) && skeleton.children(joint).next().is_some() {
                return Err(CompileError::Scale { joint: skeleton.name(joint).into(), scale: s });
            }
            let name = skeleton.name(joint);
            let at = taken.partition_point(|t| *t < name);
            let own_name = name.is_empty() || name == model || taken.get(at + 1) == Some(&name);
            names.push(if own_name { format!("{name}{joint}") } else { name.into() });
            let (parent, scale) = match skeleton.parent(joint) {
                Some(p) => (names[p.index()].clone(), scales[p.index()]),
                None => (model.clone(), 1.0),
            };
            scales.push(scale * f64::from(s.x));

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
                    steps.push(Step {
                        before: DMat3::IDENTITY,
                        axis: DVec3::AXES[k],
                        dof: scaled(dof, scale),
                        slide: true,
                        suffix,
                    });
                }
            }
            let suffixes = [".x", ".y", ".z"];
            // What is held after the last degree of freedom.
            let mut last = DMat3::IDENTITY;
            let turn = match freedom.turning {
                Turning::Hinge { axis, dof } => {
                    let axis = axis.normalize();
                    let held = own * math64::axis_angle(axis, twist(axis, &own)).transpose();
                    steps.push(Step { before: held, axis, dof, slide: false, suffix: "" });
                    Turn::Hinge { axis, held }
                }
                Turning::Axes { order, angles: dofs } => {
                    let axes = order.axes();
                    let now = angles(axes, &own);
                    let mut kept = [None; 3];
                    for n in 0..3 {
                        match &dofs[axes[n]] {
                            Some(dof) => {
                                let before = core::mem::replace(&mut last, DMat3::IDENTITY);
                                let suffix = suffixes[axes[n]];
                                let axis = DVec3::AXES[axes[n]];
                                steps.push(Step { before, axis, dof: *dof, slide: false, suffix });
                            }
                            None => {
                                kept[n] = Some(now[n]);
                                last *= about(axes[n], now[n]);
                            }
                        }
                    }
                    Turn::Axes { axes, angles: kept, held: DMat3::IDENTITY }
                }
                Turning::Free => {
                    for (n, suffix) in suffixes.into_iter().enumerate() {
                        let before = if n == 0 { own } else { DMat3::IDENTITY };
                        let axis = DVec3::AXES[n];
                        steps.push(Step { before, axis, dof: Dof::FREE, slide: false, suffix });
                    }
                    Turn::Axes { axes: [0, 1, 2], angles: [None; 3], held: own }
                }
                // A ball joint was refused above.
                Turning::Fixed | Turning::Ball { .. } => {
                    last = own;
                    Turn::None
                }
            };
            if !steps.is_empty() {
                joints.push(Compiled { joint, first, slides, scale, turn });
                first += steps.len();
            }
            let name = names[joint.index()].clone();
            let (mut carrier, mut placed) = (parent, (origin * scale, base));
            for (n, Step { before, axis, dof, slide, suffix }) in steps.into_iter().enumerate() {
                let link = format!("{name}/{n}");
                builder.link(link.clone());
                let (lower, upper) = dof.range.map_or((f64::NEG_INFINITY, f64::INFINITY), |r| (r.from, r.to));
                let motion = match slide {
                    true => Motion::Slide { axis, lower, upper },
                    false => Motion::Turn { axis, lower, upper },
                };
                builder.joint(JointSpec {
                    translation: placed.0,
                    rotation: math64::quaternion(&(placed.1 * before)),
                    preferred: dof.preferred,
                    ..JointSpec::new(format!("{name}{suffix}"), carrier, link.clone(), motion)
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
        let mechanism = builder.build()?;
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

    /// The degrees of freedom of a joint of the skeleton, slides first, each in the order of X, Y and Z or of the joint's own
    /// axes.
    pub fn dofs(&self, joint: JointId) -> core::ops::Range<usize> {
        let at = self.joints.iter().position(|c| c.joint == joint);
        let Some(at) = at else { return 0..0 };
        let end = self.joints.get(at + 1).map_or(self.mechanism.dofs().len(), |c| c.first);
        self.joints[at].first..end
    }

    /// Takes the values from a pose of the same skeleton. What the joints cannot do (a turn aside of a hinge) is left out.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) {
        for c in &self.joints {
            self.read_joint(c, pose, &mut values[c.first..]);
        }
    }

    fn read_joint(&self, c: &Compiled, pose: &Pose, values: &mut [f64]) {
        let (local, rest) = (pose.local(c.joint), pose.skeleton().rest(c.joint));
        let base = wide(rest.rotation).transpose();
        let slid = base * (local.translation - rest.translation).as_dvec3();
        let mut next = values.iter_mut();
        let mut put = |value: f64| {
            if let Some(v) = next.next() {
                *v = value;
            }
        };
        (0..3).filter(|&k| c.slides[k]).for_each(|k| put(slid[k] * c.scale));
        let own = base * wide(local.rotation);
        match &c.turn {
            Turn::None => {}
            Turn::Hinge { axis, held } => put(twist(*axis, &(held.transpose() * own))),
            Turn::Axes { axes, angles: kept, held } => {
                let now = angles(*axes, &(held.transpose() * own));
                (0..3).filter(|&n| kept[n].is_none()).for_each(|n| put(now[n]));
            }
        }
    }

    /// Puts values into a pose of the same skeleton. Joints whose values are those that the pose has keep their bits; call
    /// [`Pose::update`] afterwards.
    pub fn write(&self, values: &[f64], pose: &mut Pose) {
        for c in &self.joints {
            // Three slides and three turns are the most.
            let mut now = [0.0; 6];
            self.read_joint(c, pose, &mut now);
            let count = c.slides.iter().filter(|s| **s).count();
            let turns = match &c.turn {
                Turn::None => 0,
                Turn::Hinge { .. } => 1,
                Turn::Axes { angles, .. } => angles.iter().filter(|a| a.is_none()).count(),
            };
            let own = &values[c.first..][..count + turns];
            if own == &now[..count + turns] {
                continue;
            }
            let rest = pose.skeleton().rest(c.joint);
            let (base, origin) = (wide(rest.rotation), rest.translation);
            let mut local = *pose.local(c.joint);
            let mut next = own.iter();
            if count > 0 {
                let mut slid = base.transpose() * (local.translation - origin).as_dvec3();
                for k in (0..3).filter(|&k| c.slides[k]) {
                    slid[k] = next.next().copied().unwrap_or(0.0) / c.scale;
                }
                local.translation = origin + (base * slid).as_vec3();
            }
            let turned = match &c.turn {
                Turn::None => None,
                Turn::Hinge { axis, held } => {
                    Some(*held * math64::axis_angle(*axis, next.next().copied().unwrap_or(0.0)))
                }
                Turn::Axes { axes, angles, held } => Some((0..3).fold(*held, |r, n| {
                    r * about(axes[n], angles[n].unwrap_or_else(|| next.next().copied().unwrap_or(0.0)))
                })),
            };
            if let Some(own) = turned {
                local.rotation = narrow(&(base * own));
            }
            pose.set_local(c.joint, local);
        }
    }
}
