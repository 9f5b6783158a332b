//! The bind pose of skins.

use alloc::{string::String, vec::Vec};

use glam::{DAffine3, DVec3, Vec3};
use thiserror::Error;

use crate::{AffineError, JointId, JointTransform, Skeleton, math};

/// A skin: the joints that a mesh follows, and their inverse bind matrices, as in glTF.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Skin {
    /// The skin's joints; `None` for one that the skeleton does not have.
    pub joints: Vec<Option<JointId>>,
    /// For each joint, the transform from the mesh's space to the joint's local space in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
    /// Transforms of the nodes whose meshes have this skin, in the space of the given frames. They count only where the
    /// joints do not agree on the mesh's place.
    pub nodes: Vec<DAffine3>,
}

/// Value of an inverse bind matrix that the bind pose cannot represent. The rest of the bind pose is valid.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("skins[{skin}]: joint {joint} `{name}`: {fault}")]
pub struct BindProblem {
    /// Index of the skin.
    pub skin: usize,
    /// Joint.
    pub joint: JointId,
    /// Name of the joint.
    pub name: String,
    /// Kind of the problem.
    pub fault: BindFault,
}

/// Problem of an inverse bind matrix.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BindFault {
    /// The matrix has no inverse. The joint has its rest transform in the bind pose.
    #[error("the inverse bind matrix has no inverse (its determinant is {determinant})")]
    Singular {
        /// Determinant of the matrix.
        determinant: f64,
    },
    /// The joint's local transform is sheared. The bind pose has the nearest rotation and scale.
    #[error("the bind transform is no translation, rotation and scale: {0}")]
    Sheared(AffineError),
    /// Two skins bind the joint differently. The bind pose is that of the first skin.
    #[error("bound {distance} m and {angle} rad away from the bind transform of skins[{first}]")]
    Disagrees {
        /// Index of the first skin.
        first: usize,
        /// Distance between the two positions, in metres.
        distance: f32,
        /// Angle between the two rotations, in radians.
        angle: f32,
    },
}

/// Local transforms in the bind pose, in which the mesh was modelled, in the skeleton's order; and the values of the skins
/// that they cannot represent. Joints of no skin keep their rest transforms.
///
/// `frames` are the joints' transforms in the rest pose, in the skeleton's order: model space, with the shear that local
/// transforms cannot have, if there is any. A list of another length than the skeleton's is treated as far as it goes.
///
/// Inverse bind matrices place the joints relative to the mesh, and a skin does not say where the mesh was. It is found from
/// the joints that are at rest in the bind pose, if most of a skin's are; else from [`Skin::nodes`], if their scale fits; else
/// from the topmost joint.
///
/// ```
/// use sinew::{JointTransform, Skeleton, body::{Skin, bind_locals}, glam::{DAffine3, DVec3, Vec3}};
/// let mut builder = Skeleton::builder();
/// let hips = builder.add("hips", None, JointTransform::from_translation(Vec3::Y));
/// builder.add("thigh", Some(hips), JointTransform::from_translation(Vec3::X));
/// let (skeleton, joints) = builder.build()?;
/// let at = |x, y, z| DAffine3::from_translation(DVec3::new(x, y, z));
/// // The mesh was modelled around the hips, with the thigh below them.
/// let skin = Skin {
///     joints: joints.iter().copied().map(Some).collect(),
///     inverse_bind: vec![at(0.0, 0.0, 0.0), at(0.0, 0.5, 0.0)],
///     nodes: vec![],
/// };
/// let (locals, problems) = bind_locals(&skeleton, &[at(0.0, 1.0, 0.0), at(1.0, 1.0, 0.0)], &[skin]);
/// assert_eq!(locals[0].translation, Vec3::Y);
/// assert_eq!(locals[1].translation, Vec3::new(0.0, -0.5, 0.0));
/// assert!(problems.is_empty());
/// # Ok::<(), sinew::SkeletonError>(())
/// ```
pub fn bind_locals(
    skeleton: &Skeleton,
    frames: &[DAffine3],
    skins: &[Skin],
) -> (Vec<JointTransform>, Vec<BindProblem>) {
    let mut bound: Vec<Option<(usize, DAffine3)>> = alloc::vec![None; skeleton.len()];
    let mut problems = Vec::new();
    let mut problem = |skin, joint: JointId, fault| {
        problems.push(BindProblem { skin, joint, name: skeleton.name(joint).into(), fault });
    };
    for (at, skin) in skins.iter().enumerate() {
        let Some(world) = bind_world(skin, frames) else { continue };
        let (_, size) = extent(skin);
        for (joint, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
            let Some((joint, slot)) = joint.and_then(|j| Some((j, bound.get_mut(j.index())?))) else {
                continue;
            };
            // Some exporters write zeros for joints without vertices; such a matrix is ignored. For a joint of several
            // skins, the first skin counts.
            let frame = world * inverse.inverse();
            let determinant = inverse.matrix3.determinant();
            if determinant == 0.0 || !frame.is_finite() {
                problem(at, joint, BindFault::Singular { determinant });
            } else if let Some((first, other)) = slot {
                // Compares the transforms of the mesh's space that follow from the first skin and from this one.
                if !agree(&(*other * *inverse), &world, inverse.inverse().translation, size) {
                    let [a, b] = [&*other, &frame].map(JointTransform::nearest);
                    let distance = a.translation.distance(b.translation);
                    let angle = math::angle_between(a.rotation, b.rotation);
                    problem(at, joint, BindFault::Disagrees { first: *first, distance, angle });
                }
            } else {
                *slot = Some((at, frame));
            }
        }
    }
    // Transforms of the joints in the bind pose, decomposed and as in the skins, in the scene's space.
    let mut model: Vec<DAffine3> = Vec::with_capacity(skeleton.len());
    let mut exact: Vec<DAffine3> = Vec::with_capacity(skeleton.len());
    let mut locals = Vec::with_capacity(skeleton.len());
    for joint in skeleton.joints() {
        let rest = *skeleton.rest(joint);
        let above = skeleton.parent(joint);
        let of = |frames: &[DAffine3]| above.map_or(DAffine3::IDENTITY, |p| frames[p.index()]);
        let (parent, parent_exact) = (of(&model), of(&exact));
        let bound = bound[joint.index()];
        let local = bound.map(|(_, frame)| JointTransform::nearest(&(parent.inverse() * frame)));
        // A transform that differs from the rest pose by rounding only is that of the rest pose.
        let local = local.filter(|l| l.is_finite() && !same(l, &rest)).unwrap_or(rest);
        if let Some((skin, frame)) = bound
            && local != rest
            && let Err(error) = JointTransform::try_from((parent_exact.inverse() * frame).as_affine3())
        {
            problem(skin, joint, BindFault::Sheared(error));
        }
        let own = local.to_affine64();
        exact.push(bound.map_or(parent_exact * own, |(_, frame)| frame));
        model.push(parent * own);
        locals.push(local);
    }
    (locals, problems)
}

/// Position of a skin's first joint in the mesh's space, and the largest distance of another joint from it.
fn extent(skin: &Skin) -> (DVec3, f64) {
    let positions = || skin.inverse_bind.iter().map(|m| m.inverse().translation);
    let origin = positions().next().unwrap_or(DVec3::ZERO);
    (origin, positions().map(|p| p.distance(origin)).filter(|d| d.is_finite()).fold(0.0, f64::max))
}

/// Mean scale of the axes.
fn scale(m: &DAffine3) -> f64 {
    let linear = m.matrix3;
    [linear.x_axis, linear.y_axis, linear.z_axis].iter().map(|axis| axis.length()).sum::<f64>() / 3.0
}

/// Whether two transforms agree to 1 %, about a point of a figure of this size. That is far more than the rounding of any
/// exporter, and far less than the difference of two poses.
fn agree(a: &DAffine3, b: &DAffine3, point: DVec3, size: f64) -> bool {
    let s = scale(a);
    let linear = a.matrix3 - b.matrix3;
    let turn = [linear.x_axis, linear.y_axis, linear.z_axis].iter().fold(0.0, |m: f64, c| m.max(c.length()));
    let displacement = a.transform_point3(point) - b.transform_point3(point);
    turn <= 0.01 * s && displacement.length() <= 0.01 * s * size.max(1e-6)
}

/// Whether two local transforms differ by rounding only. Inverse bind matrices are f32 in model space, and some exporters
/// lose three of seven digits by conversions to degrees and centimetres.
fn same(a: &JointTransform, b: &JointTransform) -> bool {
    let near = |a: Vec3, b: Vec3| (a - b).abs().max_element() <= 1e-4 * b.abs().max_element().max(1e-6);
    let (far, turned) =
        ((a.translation - b.translation).length(), math::angle_between(a.rotation, b.rotation));
    near(a.scale, b.scale) && far <= 1e-4 * b.translation.length().max(1e-3) && turned < 2e-3
}

/// The transform W of the mesh's space in the scene when the skin was bound: W * inverse(IBM) is the bind transform of each
/// joint. `None` if no joint determines it. The file does not contain W, as it is the same for all joints of a skin.
///
/// A joint that is at rest in its bind transform determines W = rest * IBM. If more than half of the joints agree, theirs is
/// W. Otherwise W is the transform of the skinned node if its scale is that of the joints (glTF ignores this transform, so
/// that it may be anything), or else that of the topmost joint.
fn bind_world(skin: &Skin, frames: &[DAffine3]) -> Option<DAffine3> {
    let pairs = skin.joints.iter().zip(&skin.inverse_bind);
    let mut candidates: Vec<(usize, DAffine3)> = pairs
        .filter_map(|(joint, inverse)| {
            let place = (*joint)?.index();
            let world = *frames.get(place)? * *inverse;
            // A transform of scale 0 determines nothing.
            (world.is_finite() && world.matrix3.determinant() != 0.0).then_some((place, world))
        })
        .collect();
    candidates.sort_by_key(|(place, _)| *place);
    let topmost = candidates.first()?.1;
    // Size of the figure in the mesh's space, to which distances are compared.
    let (origin, size) = extent(skin);
    // At most 64 candidates are compared with all others, so that huge skins do not take quadratic time.
    let step = candidates.len().div_ceil(64);
    let best = (candidates.iter().step_by(step))
        .map(|(_, candidate)| {
            (candidates.iter().filter(|(_, w)| agree(candidate, w, origin, size)).count(), candidate)
        })
        .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    if best.0 * 2 > candidates.len() {
        return Some(*best.1);
    }
    let mut scales: Vec<f64> = candidates.iter().map(|(_, w)| scale(w)).collect();
    scales.sort_by(f64::total_cmp);
    let median = scales.get(scales.len() / 2).copied()?;
    let node = skin.nodes.iter().copied().find(|w| w.is_finite() && (scale(w) / median - 1.0).abs() < 0.01);
    Some(node.unwrap_or(topmost))
}
