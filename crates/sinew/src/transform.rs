//! The local transform of one joint.

use glam::{Affine3, DAffine3, DMat3, DQuat, DVec3, Mat3, Quat, Vec3};
use thiserror::Error;

use crate::{math, math64};

/// Faults of a [`JointTransform`].
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TransformFault {
    /// A number is NaN or infinite.
    #[error("is not finite: {0:?}")]
    NotFinite(JointTransform),
    /// The squared length of the rotation is outside 0.25 to 4, too far from a unit quaternion.
    #[error(
        "has the rotation {rotation} with the squared length {squared}; 0.25 to 4 is allowed, and is normalised"
    )]
    Rotation {
        /// The rotation.
        rotation: Quat,
        /// Its squared length.
        squared: f32,
    },
}

/// Errors of converting a matrix to a [`JointTransform`] or a [`Placement`](crate::Placement).
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum AffineError {
    /// A number is NaN or infinite.
    #[error("{what} must be finite, not {given:?}")]
    NotFinite {
        /// Name of the conversion's target.
        what: &'static str,
        /// The matrix.
        given: Affine3,
    },
    /// The axes are not at right angles, or differ in length where they must not.
    #[error("{what} must {must} (shear below {SHEAR}), not shear by {shear}")]
    Sheared {
        /// Name of the conversion's target.
        what: &'static str,
        /// The requirement.
        must: &'static str,
        /// The largest cosine between two axes; where axes must be equally long, at least the relative difference of
        /// their lengths.
        shear: f32,
    },
    /// A scale is zero, or outside its range.
    #[error("{what} must have {range}, not {scale}")]
    Scale {
        /// Name of the conversion's target.
        what: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The scale, of a single axis where each has its own; negative where the matrix mirrors.
        scale: f32,
    },
}

/// Shear at which a matrix is rejected. Visible shear begins here; products of several f32 matrices stay well below.
pub(crate) const SHEAR: f32 = 1e-3;

/// The transform of a joint relative to its parent: scale first, then rotation, then translation, as in glTF.
///
/// It converts to an [`Affine3`]. The conversion back fails for a matrix with shear or with a scale of zero:
///
/// ```
/// use sinew::{AffineError, JointTransform, glam::{Affine3, Mat3, Vec3}};
/// let local = JointTransform { scale: Vec3::new(1.0, 2.0, 0.5), ..JointTransform::from_translation(Vec3::X) };
/// assert_eq!(JointTransform::try_from(Affine3::from(local)), Ok(local));
/// let skew = Affine3::from_mat3(Mat3::from_cols(Vec3::X, Vec3::new(0.6, 0.8, 0.0), Vec3::Z));
/// assert!(matches!(JointTransform::try_from(skew), Err(AffineError::Sheared { shear, .. }) if shear > 0.5));
/// ```
#[doc(alias("Transform"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct JointTransform {
    /// Displacement from the parent joint, in the parent's frame (metres if every ancestor's scale is 1).
    pub translation: Vec3,
    /// Rotation relative to the parent, a unit quaternion.
    pub rotation: Quat,
    /// Scale factor along each of the joint's own axes; a negative factor mirrors.
    pub scale: Vec3,
}

impl JointTransform {
    /// The identity: no translation, no rotation, scale 1.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// A transform with a translation only.
    pub const fn from_translation(translation: Vec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// Converts to a matrix with a translation.
    #[inline]
    pub fn to_affine(&self) -> Affine3 {
        let r = math::to_matrix(self.rotation);
        Affine3 {
            matrix3: Mat3::from_cols(
                r.x_axis * self.scale.x,
                r.y_axis * self.scale.y,
                r.z_axis * self.scale.z,
            ),
            translation: self.translation,
        }
    }

    /// Converts to a matrix in f64, which keeps precision in deep hierarchies.
    pub fn to_affine64(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(
            self.scale.as_dvec3(),
            self.rotation.as_dquat().normalize(),
            self.translation.as_dvec3(),
        )
    }

    /// Decomposes a matrix into translation, rotation and scale: M = T R S. If M has shear, R is the nearest rotation (the
    /// orthogonal factor of its polar decomposition), and S is the scale along R's axes. For a mirror, S is negative along
    /// all axes if M is uniform, else along x.
    pub fn nearest(m: &DAffine3) -> Self {
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
        Self {
            translation: m.translation.as_vec3(),
            rotation: math::normalize(DQuat::from_mat3(&rotation).as_quat()),
            scale: scale.as_vec3(),
        }
    }

    /// The rotation normalised, or the fault of the transform.
    pub(crate) fn unit_rotation(&self) -> Result<Quat, TransformFault> {
        if !self.is_finite() {
            return Err(TransformFault::NotFinite(*self));
        }
        let rotation = self.rotation;
        math::unit(rotation)
            .ok_or_else(|| TransformFault::Rotation { rotation, squared: math::dot(rotation, rotation) })
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
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

impl Default for JointTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl From<JointTransform> for Affine3 {
    fn from(transform: JointTransform) -> Self {
        transform.to_affine()
    }
}

impl TryFrom<Affine3> for JointTransform {
    type Error = AffineError;

    /// Decomposes the matrix into scale, rotation and translation. A mirroring matrix gives a scale that is negative
    /// along all three axes.
    fn try_from(given: Affine3) -> Result<Self, AffineError> {
        let what = "a joint's transform";
        if !given.is_finite() {
            return Err(AffineError::NotFinite { what, given });
        }
        // In f64, which holds the products of any f32 numbers.
        let linear = given.matrix3.as_dmat3();
        let [x, y, z] = [linear.x_axis, linear.y_axis, linear.z_axis];
        let sign = if linear.determinant() < 0.0 { -1.0 } else { 1.0 };
        let lengths = DVec3::from([x, y, z].map(|axis| sign * math64::sqrt(axis.length_squared())));
        let scale = lengths.as_vec3();
        if let Some(scale) = scale.to_array().into_iter().find(|s| !s.is_finite() || *s == 0.0) {
            return Err(AffineError::Scale { what, range: "finite scales other than 0", scale });
        }
        let (x, y, z) = (x / lengths.x, y / lengths.y, z / lengths.z);
        let shear = x.dot(y).abs().max(x.dot(z).abs()).max(y.dot(z).abs()) as f32;
        if shear >= SHEAR {
            return Err(AffineError::Sheared { what, must: "have axes at right angles", shear });
        }
        let rotation = math::from_matrix(&DMat3::from_cols(x, y, z).as_mat3());
        Ok(Self { translation: given.translation, rotation, scale })
    }
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
            let t = JointTransform::nearest(&m);
            assert!(close(&t.to_affine64(), &m), "{s:?}: {t:?}");
        }
        let t = JointTransform::nearest(&DAffine3::from_scale(DVec3::ZERO));
        assert_eq!(t, JointTransform { scale: Vec3::ZERO, ..JointTransform::IDENTITY });
    }

    #[test]
    fn shear_gives_the_nearest_rotation() {
        // The polar factor of a symmetric positive matrix is the identity.
        let m =
            DMat3::from_cols(DVec3::new(1.0, 0.3, 0.0), DVec3::new(0.3, 1.0, 0.1), DVec3::new(0.0, 0.1, 1.0));
        let t = JointTransform::nearest(&DAffine3::from_mat3(m));
        assert!(t.is_finite() && math::angle_between(t.rotation, Quat::IDENTITY) < 0.05, "{t:?}");
        // Columns in one plane have no inverse.
        let flat = DMat3::from_cols(DVec3::X, DVec3::Y, DVec3::new(0.6, 0.8, 0.0));
        assert!(JointTransform::nearest(&DAffine3::from_mat3(flat)).is_finite());
    }
}
