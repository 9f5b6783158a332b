//! Skins, and the pose that they were bound in.

use glam::{DAffine3, DMat4, DVec3};
use sinew::{JointTransform, Skeleton, math};

use crate::{BindFault, BindProblem, FileError, budget::Budget, shorten};

use super::{Document, placement};

/// A skin of the document.
#[derive(Clone, Debug)]
pub(super) struct Skin {
    /// Place of each of its joints in the tree; none for one that the scene does not reach.
    pub joints: Vec<Option<usize>>,
    /// From the mesh's space into each joint's, in the bind pose.
    pub inverse_bind: Vec<DAffine3>,
    /// Places of the nodes that wear this skin.
    meshes: Vec<usize>,
}

/// Every skin of the document, in its order.
pub(super) fn read_skins(document: &Document, budget: &Budget) -> Result<Vec<Skin>, FileError> {
    /// Bytes that stand for the matrices of a joint and for the time that finding the bind pose among them takes.
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
                    return Err(reference.error(format!("{have} matrices for {want} joints")));
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

/// Local transforms in the bind pose, in the skeleton's order, and what of the skins they cannot have. `frames` are the rest
/// pose's, in the scene's space.
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
            // A matrix without an inverse (some exporters write zeros for joints that move nothing) says nothing. Where
            // skins share joints the first one counts.
            let frame = world * inverse.inverse();
            let determinant = inverse.matrix3.determinant();
            if determinant == 0.0 || !frame.is_finite() {
                problem(at, place, BindFault::Singular { determinant });
            } else if let Some((first, other)) = slot {
                // The frame of the mesh's space that follows from the first skin's, and this one's.
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
    // Frames as they are taken, and as the skins have them.
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
        // Matrices hold the same transform with other roundings: where they say what the rest pose says, it is kept.
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

/// The place of a skin's first joint in the mesh's space, and the largest distance of another from it.
fn extent(skin: &Skin) -> (DVec3, f64) {
    let places = || skin.inverse_bind.iter().map(|m| m.inverse().translation);
    let origin = places().next().unwrap_or(DVec3::ZERO);
    (origin, places().map(|p| p.distance(origin)).filter(|d| d.is_finite()).fold(0.0, f64::max))
}

fn scale(m: &DAffine3) -> f64 {
    m.matrix3.determinant().abs().cbrt()
}

/// Whether two frames are one, judged about a point of a figure of this size: to 1 %, which is far more than the roundings
/// of any exporter, and far less than a pose differs from another.
fn agree(a: &DAffine3, b: &DAffine3, point: DVec3, size: f64) -> bool {
    let s = scale(a);
    let linear = a.matrix3 - b.matrix3;
    let turn = [linear.x_axis, linear.y_axis, linear.z_axis].iter().fold(0.0, |m: f64, c| m.max(c.length()));
    let way = a.transform_point3(point) - b.transform_point3(point);
    turn <= 0.01 * s && way.length() <= 0.01 * s * size.max(1e-6)
}

/// Whether two local transforms are one but for rounding: inverse bind matrices are f32 in model space, where some
/// exporters lose three of seven digits on the way through degrees and centimetres.
fn same(a: &JointTransform, b: &JointTransform) -> bool {
    let near =
        |a: glam::Vec3, b: glam::Vec3| (a - b).abs().max_element() <= 1e-4 * b.abs().max_element().max(1e-6);
    let (far, turned) =
        ((a.translation - b.translation).length(), math::angle_between(a.rotation, b.rotation));
    near(a.scale, b.scale) && far <= 1e-4 * b.translation.length().max(1e-3) && turned < 2e-3
}

/// The frame W of the mesh's space in the scene when the skin was bound, so that W * inverse(IBM) is the bind pose of
/// each joint. The file does not say it: glTF needs only that it is the same for all of a skin's joints.
///
/// A joint whose rest frame is its bind frame gives it away (rest * IBM = W). Where more than half of the joints agree,
/// theirs is taken. Otherwise it is the frame of the node that wears the skin, if its scale is what the joints' scales
/// ask for (glTF ignores that node's own transform, so that it may be anything), or else what the topmost joint says.
fn bind_world(skin: &Skin, frames: &[DAffine3]) -> Option<DAffine3> {
    let pairs = skin.joints.iter().zip(&skin.inverse_bind);
    let mut said: Vec<(usize, DAffine3)> = pairs
        .filter_map(|(place, inverse)| {
            let place = (*place)?;
            let world = *frames.get(place)? * *inverse;
            // A frame that has collapsed (scale 0) tells nothing.
            (world.is_finite() && world.matrix3.determinant() != 0.0).then_some((place, world))
        })
        .collect();
    said.sort_by_key(|(place, _)| *place);
    let topmost = said.first()?.1;
    // Size of the figure in the mesh's space, against which places are compared.
    let (origin, size) = extent(skin);
    // 64 candidates, spread over the joints, keep damaged files with huge skins from taking the square of their size.
    let step = said.len().div_ceil(64);
    let best = (said.iter().step_by(step))
        .map(|(_, candidate)| {
            (said.iter().filter(|(_, w)| agree(candidate, w, origin, size)).count(), candidate)
        })
        .reduce(|best, next| if next.0 > best.0 { next } else { best })?;
    if best.0 * 2 > said.len() {
        return Some(*best.1);
    }
    let mut scales: Vec<f64> = said.iter().map(|(_, w)| scale(w)).collect();
    scales.sort_by(f64::total_cmp);
    let usual = scales.get(scales.len() / 2).copied()?;
    let worn = skin.meshes.iter().filter_map(|&place| frames.get(place));
    let worn = worn.copied().find(|w| w.is_finite() && (scale(w) / usual - 1.0).abs() < 0.01);
    Some(worn.unwrap_or(topmost))
}
