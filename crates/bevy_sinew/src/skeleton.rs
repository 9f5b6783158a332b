//! Characters and their bones.

use bevy_ecs::{component::Component, entity::Entity, reflect::ReflectComponent};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::components::Transform;
use sinew::JointId;

use crate::binding::IkBinding;

/// Makes a character of the bones below this entity. They may come later, from a scene that is still loading.
///
/// Its bones are the joints of the [`SkinnedMesh`](bevy_mesh::skinning::SkinnedMesh)es below it; if there are none, the entities
/// with an [`AnimationTargetId`](bevy_animation::AnimationTargetId); if there are none either, those with a
/// [`Name`](bevy_ecs::name::Name). Entities between them and this one count as bones too. They are bound anew when the scene is
/// respawned or reloaded. Characters with equal skeletons share one.
///
/// An entity below with an `IkSkeleton` of its own is a character of its own.
#[derive(Component, Clone, Debug, PartialEq, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
#[require(Transform, IkBinding)]
pub struct IkSkeleton {
    /// Share of all inverse kinematics of this character that shows, 0 to 1 (the default). It multiplies the influences of
    /// its components. At 0 the pose is the animation's, to the bit.
    pub influence: f32,
    /// Bones of roles that are not found by themselves, or that are found wrongly.
    pub roles: Vec<IkRole>,
}

impl Default for IkSkeleton {
    fn default() -> Self {
        Self { influence: 1.0, roles: Vec::new() }
    }
}

/// A bone's role in the body.
#[derive(Clone, Debug, PartialEq, Default, Reflect)]
#[reflect(Default, Clone, Debug, PartialEq)]
pub struct IkRole {
    /// The role as VRM 1.0 calls it: `hips`, `leftUpperLeg`, `head`.
    pub role: String,
    /// The bone's name, or the end of its path.
    pub bone: String,
}

/// On each bone of a character: inserted and removed by the plugin.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Reflect)]
#[reflect(Component, Clone, Debug, PartialEq)]
pub struct IkJoint {
    #[entities]
    pub(crate) character: Entity,
    pub(crate) index: u32,
}

impl IkJoint {
    /// The entity with the [`IkSkeleton`].
    pub fn character(&self) -> Entity {
        self.character
    }

    /// The joint in the skeleton of that entity's [`IkBinding`]; `None` if the binding is of another skeleton by now.
    pub fn joint(&self, binding: &IkBinding) -> Option<JointId> {
        binding.skeleton()?.joint_at(self.index as usize)
    }
}
