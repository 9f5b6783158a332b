//! A mechanism from a skeleton's joints.

use alloc::{format, string::String, vec::Vec};

use glam::{DMat3, DVec3, Vec3};
use thiserror::Error;

use super::{
    JointSpec, LinkId, Mechanism, MechanismError, ValuesError,
    angles::{about, angles_within, twist},
    values::{Compiled, JointValues, Turn, settled, wide},
};
use crate::{
    JointId, Pose, PoseError,
    joint::{
        Attribute, Attributes, Dof, Joint, Range, TOLERANCE, Turning, UnsupportedAttribute, check_honoured,
    },
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
pub(super) const HONOURED: Attributes =
    Attributes::TURNING.union(Attributes::of(&[Attribute::Slider, Attribute::Preferred]));

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
/// Limits hold for values: each within its range, swings within their ellipse. The values of a joint that a goal depends on
/// end within, exactly; those of the other joints stay as they are, out of their limits or not.
///
/// The pose that is written is no further out of the joints' limits than the values are, beside what was held aside of
/// them when the mechanism was compiled. A rotation about single axes has two sets of angles, and a family of sets where the
/// middle angle is a quarter turn; so pose space measures the least turn that leads within
/// ([`Skeleton::limit_excess`](crate::Skeleton::limit_excess)). An angle that is out by e is within after a turn of e about one axis,
/// so the least turn is at most the sum of what the angles are out, and 0 where all are within.
///
/// A pose within its limits, to f32's rounding, is read as values within.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Pose, Skeleton, Workspace, glam::{DVec3, Vec3}, joint::{Dof, Joint}};
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
/// let solver = JointSpaceSolver::new(arm.mechanism(), &[goal])?;
/// let mut values = arm.mechanism().rest();
/// arm.read(&pose, &mut values)?;
/// solver.solve(&mut Workspace::new(), &[goal], &mut values, &JointSpaceOptions::new())?;
/// arm.write(&values, &mut pose)?;
/// pose.update();
/// assert!(pose.position(ids[2]).distance(Vec3::new(0.3, 1.1, 0.2)) < 1e-5);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SkeletonMechanism {
    values: JointValues,
    links: Vec<LinkId>,
}

/// A slide in metres.
fn scaled(dof: Dof, scale: f64) -> Dof {
    let range = Range::new(dof.range.min * scale, dof.range.max * scale);
    Dof { range, speed: dof.speed * scale, preferred: dof.preferred.map(|p| p * scale), ..dof }
}

/// What of a joint moves without anything held within, on its way into the mechanism.
struct Piece {
    /// The rotation between the one before and this one.
    before: DMat3,
    joint: Joint,
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
        // Degrees of freedom so far: a mechanism's come in the order of its joints, and these in the skeleton's.
        let mut count = 0;
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

            let freedom = skeleton.joint(joint);
            let rest = skeleton.rest(joint);
            let base = wide(rest.rotation);
            // Where it stands as at rest, rounding holds nothing.
            let own = match local.rotation == rest.rotation {
                true => DMat3::IDENTITY,
                false => base.transpose() * wide(local.rotation),
            };
            let slide_base = base * freedom.slide_axes;
            let slid = slide_base.transpose() * (local.translation - rest.translation).as_dvec3();
            let slides = freedom.slide.map(|d| d.is_some());
            let held_slide = DVec3::from_array([0, 1, 2].map(|k| if slides[k] { 0.0 } else { slid[k] }));
            let origin = rest.translation.as_dvec3() + slide_base * held_slide;

            let slide = freedom.slide.map(|d| d.map(|d| scaled(d, scale.abs())));
            let mut pieces: Vec<Piece> = Vec::new();
            let mut now = Piece { before: DMat3::IDENTITY, joint: Joint::FIXED };
            if scale > 0.0 {
                now.joint = Joint { slide, slide_axes: freedom.slide_axes, ..Joint::FIXED };
            } else {
                // In a mirrored frame it slides the other way: axes that no rotation makes.
                for (dof, k) in slide.into_iter().zip(0..).filter_map(|(d, k)| Some((d?, k))) {
                    let joint = Joint::slider(-freedom.slide_axes.col(k), dof);
                    pieces.push(Piece { before: DMat3::IDENTITY, joint });
                }
            }
            // What is held after the last degree of freedom.
            let mut last = DMat3::IDENTITY;
            let mut turn = Turn::of(freedom);
            match (&mut turn, freedom.turning) {
                (Turn::Hinge { axis, held }, _) => {
                    *held = own * math64::axis_angle(*axis, twist(*axis, &own)).transpose();
                    // What is no more than f32's rounding may as well lie before the slides.
                    let off = math64::rotation_vector(held).length_squared();
                    if now.joint != Joint::FIXED && off > f64::from(TOLERANCE * TOLERANCE) {
                        pieces
                            .push(core::mem::replace(&mut now, Piece { before: *held, joint: Joint::FIXED }));
                    }
                    now.before = *held;
                    now.joint.turning = freedom.turning;
                }
                (&mut Turn::Axes { axes, angles: ref mut kept }, Turning::Axes { order, angles: dofs }) => {
                    // Those that do not turn are at 0, unless the pose has them elsewhere.
                    let still = Range::new(0.0, 0.0);
                    let ranges = axes.map(|n| dofs[n].map_or(still, |d| d.range));
                    // Next to a pole of the middle axis, rounding makes angles that the pose has not.
                    let mut at = angles_within(axes, &own, *kept, ranges);
                    let turned = (0..3).fold(DMat3::IDENTITY, |r, n| r * about(axes[n], at[n]));
                    let off = math64::rotation_vector(&(turned.transpose() * own));
                    if off.length_squared() > f64::from(TOLERANCE * TOLERANCE) {
                        at = angles_within(axes, &own, [None; 3], ranges);
                    }
                    let mut turns = [None; 3];
                    for n in 0..3 {
                        let Some(dof) = dofs[axes[n]] else {
                            let angle = settled(at[n], 0.0, 0.0);
                            kept[n] = Some(angle);
                            last *= about(axes[n], angle);
                            continue;
                        };
                        if last != DMat3::IDENTITY {
                            let before = core::mem::replace(&mut last, DMat3::IDENTITY);
                            now.joint.turning = Turning::Axes { order, angles: core::mem::take(&mut turns) };
                            pieces.push(core::mem::replace(&mut now, Piece { before, joint: Joint::FIXED }));
                        }
                        turns[axes[n]] = Some(dof);
                    }
                    now.joint.turning = Turning::Axes { order, angles: turns };
                }
                (Turn::None, _) => last = own,
                _ => now.joint.turning = freedom.turning,
            }
            // A half turn by two mirrored axes.
            last *= half_turn;
            pieces.push(now);
            let compiled = Compiled { joint, first: count, slides, scale: scale.abs(), turn };
            if !compiled.dofs().is_empty() {
                count = compiled.dofs().end;
                joints.push(compiled);
            }
            let name = names[joint.index()].clone();
            let (mut carrier, mut placed) = (parent, (origin * scale, base));
            let held = last != DMat3::IDENTITY;
            let ends = pieces.len() - 1;
            for (n, piece) in pieces.into_iter().enumerate() {
                // Where it does not move, what is held is its own.
                let fixed = n == ends && piece.joint == Joint::FIXED;
                let whole = n == ends && (!held || fixed);
                let link = if whole { name.clone() } else { format!("{name}/{n}") };
                builder.link(link.clone());
                let rotation = placed.1 * piece.before;
                builder.joint(JointSpec {
                    translation: placed.0,
                    rotation: math64::quaternion(&if fixed { rotation * last } else { rotation }),
                    ..JointSpec::new(
                        if n == ends { name.clone() } else { link.clone() },
                        carrier,
                        link.clone(),
                        piece.joint,
                    )
                });
                carrier = link;
                placed = (DVec3::ZERO, DMat3::IDENTITY);
            }
            if carrier != name {
                builder.link(name.clone());
                builder.joint(JointSpec {
                    rotation: math64::quaternion(&last),
                    ..JointSpec::new(format!("{name}/held"), carrier, name, Joint::FIXED)
                });
            }
        }
        let mechanism = builder.build()?;
        let link = |n: &String| mechanism.find_link(n).unwrap_or(mechanism.root());
        let links = names.iter().map(link).collect();
        Ok(Self { values: JointValues { mechanism, joints }, links })
    }

    /// The mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.values.mechanism
    }

    /// The link that a joint of the skeleton is.
    pub fn link(&self, joint: JointId) -> LinkId {
        self.links[joint.index()]
    }

    /// The degrees of freedom of a joint of the skeleton, slides first, each in the order of X,
    /// Y and Z or of the joint's own axes.
    pub fn dofs(&self, joint: JointId) -> core::ops::Range<usize> {
        self.values.joints.iter().find(|c| c.joint == joint).map_or(0..0, Compiled::dofs)
    }

    /// Takes the values from a pose of the same skeleton. What the joints cannot do (a turn aside of a hinge) is left
    /// out. An angle is given on the turn that the middle of its range is on, a rotation vector within half a turn; of the
    /// sets of angles about single axes the one that is least outside; what is outside its limits by no more than f32's
    /// rounding ([`TOLERANCE`]) is put on them.
    ///
    /// An error where there is not one value a degree of freedom; nothing is changed then.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        self.values.read(pose, values)
    }

    /// Puts values into a pose of the same skeleton. Joints whose values are those that the pose has keep their bits; call
    /// [`Pose::update`] afterwards.
    ///
    /// An error where there is not one value a degree of freedom, one is no number, or a slide goes further than `f32` can
    /// tell; the pose is as it was then.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.values.write(values, pose)
    }
}
