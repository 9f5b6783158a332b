//! The local transform of one joint.

use glam::{Affine3, Mat3, Quat, Vec3};

use crate::math;

/// A joint's placement in its parent's frame: scale first, then rotation, then translation, as in glTF.
#[doc(alias("Transform"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointTransform {
    /// Offset from the parent joint, in the parent's space (metres where every parent's scale is 1).
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Factor along each of the joint's own axes; 1 leaves the size, -1 mirrors.
    pub scale: Vec3,
}

impl JointTransform {
    /// No translation, no rotation, scale 1.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// Only a translation.
    pub const fn from_translation(translation: Vec3) -> Self {
        Self { translation, ..Self::IDENTITY }
    }

    /// The same as a matrix with a translation.
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

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite()
            && self.scale.is_finite()
            && [self.rotation.x, self.rotation.y, self.rotation.z, self.rotation.w]
                .iter()
                .all(|c| c.is_finite())
    }
}

impl Default for JointTransform {
    fn default() -> Self {
        Self::IDENTITY
    }
}
