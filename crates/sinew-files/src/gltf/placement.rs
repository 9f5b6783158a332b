//! Transforms of nodes, and decomposition of matrices.

use glam::{DAffine3, DMat3, DMat4, DQuat, DVec3, Quat, Vec3};
use sinew::{JointTransform, math};

use crate::FileError;

use super::{json::Place, tree::Tree};

/// The node's local transform, with shear.
pub(super) fn affine(node: &Place<'_>) -> Result<DAffine3, FileError> {
    if let Some(matrix) = node.get("matrix") {
        return Ok(DAffine3::from_mat4(DMat4::from_cols_array(&matrix.numbers()?)));
    }
    let transform = parts(node)?;
    Ok(to_affine(&transform))
}

/// The node's local transform as translation, rotation and scale. A matrix with shear is decomposed as by [`decompose`].
pub(super) fn transform(node: &Place<'_>) -> Result<JointTransform, FileError> {
    match node.get("matrix") {
        Some(_) => Ok(decompose(&affine(node)?)),
        None => parts(node),
    }
}

fn parts(node: &Place<'_>) -> Result<JointTransform, FileError> {
    let vec3 = |v: [f64; 3]| Vec3::from_array(v.map(|x| x as f32));
    let rotation = match node.get("rotation") {
        None => Quat::IDENTITY,
        Some(place) => {
            let q = Quat::from_array(place.numbers()?.map(|x| x as f32));
            unit(q).map_err(|what| place.error(what))?
        }
    };
    Ok(JointTransform {
        translation: vec3(node.numbers_or("translation", [0.0; 3])?),
        rotation,
        scale: vec3(node.numbers_or("scale", [1.0; 3])?),
    })
}

/// The rotation normalised, or a description of its error if its squared length is out of range.
pub(super) fn unit(q: Quat) -> Result<Quat, String> {
    math::unit(q).ok_or_else(|| {
        let squared = math::dot(q, q);
        format!("the rotation {q} has the squared length {squared}; 0.25 to 4 is allowed, and is normalised")
    })
}

/// The transform as a matrix in f64, which keeps precision in deep hierarchies.
pub(super) fn to_affine(t: &JointTransform) -> DAffine3 {
    DAffine3::from_scale_rotation_translation(
        t.scale.as_dvec3(),
        t.rotation.as_dquat().normalize(),
        t.translation.as_dvec3(),
    )
}

/// Decomposes a matrix into translation, rotation and scale: M = T R S. If M has shear, R is the nearest rotation (the
/// orthogonal factor of its polar decomposition), and S is the scale along R's axes. For a mirror, S is negative along all
/// axes if M is uniform, else along x.
pub(super) fn decompose(m: &DAffine3) -> JointTransform {
    let linear = m.matrix3;
    let lengths = DVec3::new(linear.x_axis.length(), linear.y_axis.length(), linear.z_axis.length());
    let mut scale = lengths;
    if linear.determinant() < 0.0 {
        // The tolerance is that for sheared transforms: below it, the matrix is a similarity in f32.
        let uniform = lengths.max_element() - lengths.min_element() < 1e-5 * lengths.max_element();
        if uniform { scale = -scale } else { scale.x = -scale.x }
    }
    let axis = |v: DVec3, s: f64| if s == 0.0 { DVec3::ZERO } else { v / s };
    let axes = DMat3::from_cols(
        axis(linear.x_axis, scale.x),
        axis(linear.y_axis, scale.y),
        axis(linear.z_axis, scale.z),
    );
    let rotation = nearest_rotation(axes);
    let along = |v: DVec3, axis: DVec3, s: f64| if s == 0.0 { 0.0 } else { v.dot(axis) };
    let scale = DVec3::new(
        along(linear.x_axis, rotation.x_axis, scale.x),
        along(linear.y_axis, rotation.y_axis, scale.y),
        along(linear.z_axis, rotation.z_axis, scale.z),
    );
    JointTransform {
        translation: m.translation.as_vec3(),
        rotation: math::normalize(DQuat::from_mat3(&rotation).as_quat()),
        scale: scale.as_vec3(),
    }
}

/// The rotation nearest to a matrix of unit columns with a positive determinant. Columns of length 0 are replaced.
fn nearest_rotation(m: DMat3) -> DMat3 {
    let mut r = m;
    // Newton's iteration for the polar decomposition (Higham 1986) converges quadratically: a nearly singular matrix takes
    // about ten rounds, one without shear none.
    for _ in 0..40 {
        let determinant = r.determinant().abs();
        if determinant.is_nan() || determinant < 1e-9 {
            return from_two_axes(m);
        }
        let next = (r + r.inverse().transpose()) * 0.5;
        let change = (next - r).abs();
        r = next;
        if [change.x_axis, change.y_axis, change.z_axis].iter().all(|c| c.max_element() < 1e-14) {
            break;
        }
    }
    r
}

/// A rotation with the matrix's x axis; if that is 0, with its y axis, or else its z axis. The identity for a matrix of 0.
fn from_two_axes(m: DMat3) -> DMat3 {
    let [x, y, z] = [m.x_axis, m.y_axis, m.z_axis].map(|v| v.normalize_or_zero());
    let across = |a: DVec3, b: DVec3| (b - a * a.dot(b)).normalize_or_zero();
    let complete = |a: DVec3, b: DVec3| match across(a, b) {
        DVec3::ZERO => a.any_orthonormal_vector(),
        b => b,
    };
    if x != DVec3::ZERO {
        let second = complete(x, if across(x, y) == DVec3::ZERO { z.cross(x) } else { y });
        DMat3::from_cols(x, second, x.cross(second))
    } else if y != DVec3::ZERO {
        let third = complete(y, z);
        DMat3::from_cols(y.cross(third), y, third)
    } else if z != DVec3::ZERO {
        let first = z.any_orthonormal_vector();
        DMat3::from_cols(first, z.cross(first), z)
    } else {
        DMat3::IDENTITY
    }
}

/// Every node's transform in the scene's space, in the tree's order.
pub(super) fn global(tree: &Tree, local: &[DAffine3]) -> Vec<DAffine3> {
    let mut frames: Vec<DAffine3> = Vec::with_capacity(local.len());
    for (place, l) in local.iter().enumerate() {
        let parent = tree.parents.get(place).copied().flatten().and_then(|p| frames.get(p));
        frames.push(parent.map_or(*l, |p| *p * *l));
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: &DAffine3, b: &DAffine3) -> bool {
        a.abs_diff_eq(*b, 1e-5 * (1.0 + b.matrix3.x_axis.length().max(b.translation.length())))
    }

    #[test]
    fn parts_make_the_matrix_again() {
        let q = DQuat::from_xyzw(0.1, -0.7, 0.4, 0.5).normalize();
        for s in
            [[1.0, 1.0, 1.0], [0.01, 0.01, 0.01], [-100.0, -100.0, -100.0], [2.0, -3.0, 0.5], [0.0, 1.0, 2.0]]
        {
            let m = DAffine3::from_scale_rotation_translation(DVec3::from(s), q, DVec3::new(1.0, 2.0, 3.0));
            let t = decompose(&m);
            assert!(close(&to_affine(&t), &m), "{s:?}: {t:?}");
        }
        let t = decompose(&DAffine3::from_scale(DVec3::ZERO));
        assert_eq!(t, JointTransform { scale: Vec3::ZERO, ..JointTransform::IDENTITY });
    }

    #[test]
    fn shear_gives_the_nearest_rotation() {
        // The polar factor of a symmetric positive matrix is the identity.
        let m =
            DMat3::from_cols(DVec3::new(1.0, 0.3, 0.0), DVec3::new(0.3, 1.0, 0.1), DVec3::new(0.0, 0.1, 1.0));
        let t = decompose(&DAffine3::from_mat3(m));
        assert!(t.is_finite() && math::angle_between(t.rotation, Quat::IDENTITY) < 0.05, "{t:?}");
        // Columns in one plane have no inverse.
        let flat = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(0.6, 0.8, 0.0));
        assert!(decompose(&DAffine3::from_mat3(flat)).is_finite());
    }
}
