//! Skins and their bind pose.

use glam::{DAffine3, DMat4, DVec3};
use sinew::{JointTransform, Skeleton, math};

use crate::{BindFault, BindProblem, FileError, budget::Budget, shorten};

use super::{Document, placement};

/// Skin of a document.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// For each joint, its place in the tree; `None` if it is not in the scene.
    pub joints: Vec<Option<usize>>,
    /// For each joint, the transform from the mesh's space to the joint's local space in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
    /// Places of the nodes whose meshes have this skin.
    meshes: Vec<usize>,
}

/// Reads all skins of the document, in its order.
pub(super) fn read_skins(document: &Document, budget: &Budget) -> Result<Vec<Skin>, FileError> {
    /// Bytes counted for each joint: its matrices, and the time of the search for the bind pose.
    const JOINT: usize = 1024;
    let root = document.root();
    let mut skins = Vec::new();
    for place in root.list("skins")? {
        let list = place.need("joints")?;
        list.take(budget, list.value().as_array().map_or(0, Vec::len), JOINT)?;
        let mut joints = Vec::new();
        for joint in place.list("joints")? {
            joint.follow(&root, "nodes")?;
            joints.push(document.joint_of_node(joint.index()?));
        }
        if joints.is_empty() {
            return Err(list.error("a skin needs at least one joint"));
        }
        let inverse_bind = match place.get("inverseBindMatrices") {
            None => vec![DAffine3::IDENTITY; joints.len()],
            Some(reference) => {
                let accessor = document.accessor(&reference, budget)?;
                if accessor.count < joints.len() {
                    let (have, want) = (accessor.count, joints.len());
                    return Err(reference.error(format!("there are {have} matrices for {want} joints")));
                }
                let matrix = |m: [f32; 16]| DAffine3::from_mat4(DMat4::from_cols_array(&m.map(f64::from)));
                accessor.finite::<16>()?.into_iter().take(joints.len()).map(matrix).collect()
            }
        };
        skins.push(Skin { joints, inverse_bind, meshes: Vec::new() });
    }
    for (place, node) in document.tree_nodes().iter().enumerate() {
        let Some(reference) = node.get("skin") else { continue };
        let skin = reference.follow(&root, "skins")?;
        let Some(skin_read) = skins.get_mut(reference.index()?) else { continue };
        if skin_read.joints.iter().all(Option::is_none) {
            return Err(skin.error("none of the skin's joints is in the scene"));
        }
        skin_read.meshes.push(place);
    }
    Ok(skins)
}

/// Local transforms in the bind pose, in the skeleton's order, and values of the skins that they cannot represent. `frames`
/// are the joints' transforms in the rest pose, in the scene's space.
pub(super) fn locals(
    document: &Document,
    skeleton: &Skeleton,
    skins: &[Skin],
    frames: &[DAffine3],
) -> (Vec<JointTransform>, Vec<BindProblem>) {
    let mut bound: Vec<Option<(usize, DAffine3)>> = vec![None; frames.len()];
    let mut problems = Vec::new();
    let mut problem = |skin, place: usize, fault| {
        let Some(joint) = skeleton.joint_at(place) else { return };
        problems.push(BindProblem { skin, joint, name: shorten(skeleton.name(joint)), fault });
    };
    for (at, skin) in skins.iter().enumerate() {
        let Some(world) = bind_world(skin, frames) else { continue };
        let (_, size) = extent(skin);
        for (place, inverse) in skin.joints.iter().zip(&skin.inverse_bind) {
            let Some((place, slot)) = place.and_then(|p| Some((p, bound.get_mut(p)?))) else { continue };
            // Some exporters write zeros for joints without vertices; such a matrix is ignored. For a joint of several
            // skins, the first skin counts.
            let frame = world * inverse.inverse();
            let determinant = inverse.matrix3.determinant();
            if determinant == 0.0 || !frame.is_finite() {
                problem(at, place, BindFault::Singular { determinant });
            } else if let Some((first, other)) = slot {
                // Compares the transforms of the mesh's space that follow from the first skin and from this one.
                if !agree(&(*other * *inverse), &world, inverse.inverse().translation, size) {
                    let [a, b] = [&*other, &frame].map(placement::decompose);
                    let distance = a.translation.distance(b.translation);
                    let angle = math::angle_between(a.rotation, b.rotation);
                    problem(at, place, BindFault::Disagrees { first: *first, distance, angle });
                }
            } else {
                *slot = Some((at, frame));
            }
        }
    }
    // Transforms of the joints in the bind pose, decomposed and as in the skins, in the scene's space.
    let mut model: Vec<DAffine3> = Vec::with_capacity(frames.len());
    let mut exact: Vec<DAffine3> = Vec::with_capacity(frames.len());
    let mut locals = Vec::with_capacity(frames.len());
    for (place, joint) in skeleton.joints().enumerate() {
        let rest = *skeleton.rest(joint);
        let above = document.tree.parents.get(place).copied().flatten();
        let of =
            |frames: &[DAffine3]| above.and_then(|p| frames.get(p)).copied().unwrap_or(DAffine3::IDENTITY);
        let (parent, parent_exact) = (of(&model), of(&exact));
        let bound = bound.get(place).copied().flatten();
        let local = bound.map(|(_, frame)| placement::decompose(&(parent.inverse() * frame)));
        // A transform that differs from the rest pose by rounding only is that of the rest pose.
        let local = local.filter(|l| l.is_finite() && !same(l, &rest)).unwrap_or(rest);
        if let Some((skin, frame)) = bound
            && local != rest
            && let Err(error) = JointTransform::try_from((parent_exact.inverse() * frame).as_affine3())
        {
            problem(skin, place, BindFault::Sheared(error));
        }
        let own = placement::to_affine(&local);
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

fn scale(m: &DAffine3) -> f64 {
    m.matrix3.determinant().abs().cbrt()
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
    let near =
        |a: glam::Vec3, b: glam::Vec3| (a - b).abs().max_element() <= 1e-4 * b.abs().max_element().max(1e-6);
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
        .filter_map(|(place, inverse)| {
            let place = (*place)?;
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
    let nodes = skin.meshes.iter().filter_map(|&place| frames.get(place));
    let node = nodes.copied().find(|w| w.is_finite() && (scale(w) / median - 1.0).abs() < 0.01);
    Some(node.unwrap_or(topmost))
}
