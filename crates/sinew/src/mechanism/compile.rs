//! Mechanisms compiled from a skeleton's joints.

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
    joint::{Attribute, Attributes, Capability, Dof, Joint, Range, TOLERANCE, Turning, UnsupportedAttribute},
    math64,
};

/// Reason why a skeleton makes no mechanism.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CompileError {
    /// A joint has an attribute that joint space cannot honour: ease, stiffness, damping, springs and precedence are for
    /// pose space.
    #[error(transparent)]
    Unsupported(#[from] UnsupportedAttribute),
    /// The pose holds NaN or an infinity.
    #[error(transparent)]
    Pose(#[from] PoseError),
    /// A joint's scale differs between axes, or is 0. (It may mirror axes.)
    #[error("joint `{joint}` is scaled by {scale}: joint space needs equal sizes along all axes, above 0")]
    Scale {
        /// Name of the joint.
        joint: String,
        /// Local scale of the joint.
        scale: glam::Vec3,
    },
    /// The joints make no mechanism.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// Attributes of joints that joint space honours.
pub const CAPABILITY: Capability = Capability::new(
    "joint space",
    Attributes::TURNING.union(Attributes::of(&[
        Attribute::Slider,
        Attribute::Ease,
        Attribute::Stiffness,
        Attribute::Preferred,
    ])),
);

/// A [`Mechanism`] compiled from a skeleton in a pose, with conversion between poses and values.
///
/// Bones, scales and rigid parts are those of the pose that it is compiled from. The root link is model space. Each joint is
/// a link of its name, followed by its index where the name is empty or taken. Degrees of freedom are the joints' own
/// [coordinates](crate::joint::Coordinates), each 0 in the rest pose: a hinge's angle, up to three angles of a joint that
/// turns about its axes, two swings and a twist of a ball joint, a rotation vector of a joint that turns freely (and of a
/// ball without limits), all in radians, and slides in metres. Limits are those of pose space.
///
/// Scales may mirror. A link's frame is that of [`Pose::model_rotation`]: a mirrored frame counts as one of a negative
/// scale, and the sizes of a joint's axes do not rotate it. A joint that has children has one scale along all axes: the
/// middle of sizes that differ by up to a thousandth. For each such joint, the links below it are off by up to half a
/// thousandth of their distance from it and a thousandth of a radian, and so are the reports of their solves.
///
/// # Limits
///
/// Limits hold for values: each is within its range, and swings are within their ellipse. A solve's output values are
/// exactly within their limits for the joints that a goal depends on. The values of the other joints stay as they are,
/// within limits or not.
///
/// The written pose violates the joints' limits no more than the values do, apart from the rotations that the mechanism
/// holds fixed since it was compiled. A rotation about single axes has two sets of angles, and a family of sets where the
/// middle angle is a quarter turn. So pose space measures the smallest rotation that leads within the limits
/// ([`Skeleton::limit_excess`](crate::Skeleton::limit_excess)). An angle that is out by e is within after a turn of e about
/// one axis. The smallest rotation is therefore at most the sum of the angles' excesses, and 0 where all are within.
///
/// Values read from a pose that is within its limits, to `f32` rounding, are within them exactly.
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

/// Converts a slide to metres.
fn scaled(dof: Dof, scale: f64) -> Dof {
    let range = Range::new(dof.range.min * scale, dof.range.max * scale);
    Dof { range, speed: dof.speed * scale, preferred: dof.preferred.map(|p| p * scale), ..dof }
}

/// Part of a joint that moves as one, without a held rotation inside.
struct Piece {
    /// Held rotation between the piece before and this one.
    before: DMat3,
    joint: Joint,
}

/// Relative difference of sizes up to which a scale counts as equal along all axes: where a shear begins to be visible, as
/// in pose space ([`Chain::check_frames`](crate::Chain::check_frames)).
const EVEN: f32 = 1e-3;

/// Returns the size of a scale, the middle of its axes' sizes; none where they differ or one is 0.
fn even(scale: Vec3) -> Option<f64> {
    let size = scale.abs();
    let (min, max) = (size.min_element(), size.max_element());
    (max - min <= EVEN * max && min > 0.0).then(|| 0.5 * (f64::from(min) + f64::from(max)))
}

/// Splits a scale's signs into one sign for all axes and a rotation: the identity, or a half turn.
fn signs(scale: Vec3) -> (f64, DMat3) {
    let signs = DVec3::from_array(scale.to_array().map(|x| if x < 0.0 { -1.0 } else { 1.0 }));
    let sign = signs.x * signs.y * signs.z;
    (sign, DMat3::from_diagonal(signs * sign))
}

impl SkeletonMechanism {
    /// Compiles every joint of a pose's skeleton. The pose's model transforms must be up to date (see [`Pose::update`]).
    pub fn compile(pose: &Pose) -> Result<Self, CompileError> {
        pose.check_rotations()?;
        let skeleton = pose.skeleton();
        CAPABILITY.check(skeleton, skeleton.joints())?;
        let mut builder = Mechanism::builder("skeleton");
        let model = String::from("model space");
        builder.link(model.clone());
        let mut names: Vec<String> = Vec::with_capacity(skeleton.len());
        let mut scales: Vec<f64> = Vec::with_capacity(skeleton.len());
        let mut joints = Vec::new();
        // Degrees of freedom so far. The mechanism orders them by its joints, which are added in the skeleton's order.
        let mut count = 0;
        let mut taken: Vec<&str> = skeleton.joints().map(|j| skeleton.name(j)).collect();
        taken.sort_unstable();
        for joint in skeleton.joints() {
            let local = pose.local(joint);
            // The size of a joint without children moves nothing, whatever its axes' sizes.
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
            // At the rest rotation, nothing is held by rounding.
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
                // A mirrored frame reverses slides; no rotation makes such axes.
                for (dof, k) in slide.into_iter().zip(0..).filter_map(|(d, k)| Some((d?, k))) {
                    let joint = Joint::slider(-freedom.slide_axes.col(k), dof);
                    pieces.push(Piece { before: DMat3::IDENTITY, joint });
                }
            }
            // Held rotation after the last degree of freedom.
            let mut last = DMat3::IDENTITY;
            let mut turn = Turn::of(freedom);
            match (&mut turn, freedom.turning) {
                (Turn::Hinge { axis, held }, _) => {
                    *held = own * math64::axis_angle(*axis, twist(*axis, &own)).transpose();
                    // A held rotation within `f32` rounding may as well precede the slides.
                    let off = math64::rotation_vector(held).length_squared();
                    if now.joint != Joint::FIXED && off > f64::from(TOLERANCE * TOLERANCE) {
                        pieces
                            .push(core::mem::replace(&mut now, Piece { before: *held, joint: Joint::FIXED }));
                    }
                    now.before = *held;
                    now.joint.turning = freedom.turning;
                }
                (&mut Turn::Axes { axes, angles: ref mut kept }, Turning::Axes { order, angles: dofs }) => {
                    // Angles without a degree of freedom are 0, unless the pose differs.
                    let still = Range::new(0.0, 0.0);
                    let ranges = axes.map(|n| dofs[n].map_or(still, |d| d.range));
                    // Near a pole of the middle axis, rounding may give angles that do not make the pose's rotation.
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
            // Half turn of two mirrored axes.
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
                // A fixed joint includes its held rotation.
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

    /// Compiled mechanism.
    pub fn mechanism(&self) -> &Mechanism {
        &self.values.mechanism
    }

    /// Returns the link of a joint of the skeleton.
    pub fn link(&self, joint: JointId) -> LinkId {
        self.links[joint.index()]
    }

    /// Returns the degrees of freedom of a joint of the skeleton: slides in the order X, Y, Z, then turns in the order of
    /// the joint's axes. Empty for a fixed joint.
    pub fn dofs(&self, joint: JointId) -> core::ops::Range<usize> {
        self.values.joints.iter().find(|c| c.joint == joint).map_or(0..0, Compiled::dofs)
    }

    /// Reads the values from a pose of the same skeleton. Motion that a joint cannot do, such as a turn across a hinge, is
    /// ignored. An angle is on the turn that holds the middle of its range, a rotation vector within half a turn. Of the
    /// sets of angles about single axes, the one that violates its ranges least is taken. Values that are outside their
    /// limits by at most `f32` rounding ([`TOLERANCE`]) are set on them.
    ///
    /// Returns an error, and changes nothing, unless there is one value per degree of freedom.
    pub fn read(&self, pose: &Pose, values: &mut [f64]) -> Result<(), ValuesError> {
        self.values.read(pose, values)
    }

    /// Writes values to a pose of the same skeleton. Joints whose values the pose has already keep their bits. Call
    /// [`Pose::update`] afterwards.
    ///
    /// Returns an error, and leaves the pose as it was, unless there is one finite value per degree of freedom and every
    /// slide is in the range of `f32`.
    pub fn write(&self, values: &[f64], pose: &mut Pose) -> Result<(), ValuesError> {
        self.values.write(values, pose)
    }
}
