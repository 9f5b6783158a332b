//! The local transform of one joint.

use glam::{Affine3, DMat3, DVec3, Mat3, Quat, Vec3};
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
