//! Bevy's transforms and the engine's: the same numbers.

use bevy_transform::components::Transform;
use sinew::JointTransform;

pub(crate) fn from_bevy(transform: &Transform) -> JointTransform {
    JointTransform {
        translation: transform.translation,
        rotation: transform.rotation,
        scale: transform.scale,
    }
}

pub(crate) fn to_bevy(local: &JointTransform) -> Transform {
    Transform { translation: local.translation, rotation: local.rotation, scale: local.scale }
}
