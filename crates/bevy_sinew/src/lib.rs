#![doc = include_str!("../README.md")]

mod bind;
mod binding;
mod bone;
mod feet;
mod gather;
mod ground;
mod limb;
mod look;
mod skeleton;
mod slot;
mod template;
mod transform;
mod write;

use bevy_app::{AnimationSystems, App, Plugin, PostUpdate};
use bevy_ecs::{
    change_detection::DetectChangesMut,
    component::Component,
    entity::Entity,
    message::MessageReader,
    reflect::ReflectComponent,
    schedule::{IntoScheduleConfigs, SystemSet},
    system::{Query, Res},
};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_time::Time;
use bevy_transform::TransformSystems;

pub use binding::IkBinding;
pub use bone::IkBone;
pub use feet::{FootContact, FootLanded, FootLifted, FootPlanting, FootPlantingTemplate, IkTeleport};
pub use ground::IkGround;
pub use limb::{LimbIk, LimbIkTemplate};
pub use look::{IkBones, LookAtIk, LookAtIkTemplate};
pub use skeleton::{IkJoint, IkRole, IkSkeleton};
pub use slot::{IkReport, IkStatus};
pub use write::TargetLost;

/// The engine, whose types the components use.
pub use sinew;

/// Adds inverse kinematics to an app.
#[derive(Clone, Copy, Debug, Default)]
pub struct SinewPlugin;

/// The steps of a frame, in their order, in [`PostUpdate`] after [`AnimationSystems`] and before
/// [`TransformSystems::Propagate`].
///
/// What an app changes before `Gather` counts in the same frame: targets, characters and bones. Systems between
/// `AnimationSystems` and `Gather` may do so too. A bone that is changed after `Write` is drawn so, and taken as the animation's
/// pose in the next frame. One that is changed between `Gather` and `Write` may be overwritten.
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IkSystems {
    /// Finds the bones of characters that have come or changed.
    Bind,
    /// Reads poses, targets and settings.
    Gather,
    /// Plants feet: [`FootPlanting`].
    Feet,
    /// Turns spines, heads and eyes: [`LookAtIk`].
    Look,
    /// Moves arms and legs: [`LimbIk`].
    Limbs,
    /// Moves whole bodies.
    Body,
    /// Writes bones and reports.
    Write,
    /// For an app's own systems that need the bones as they are drawn. Their global transforms are not propagated yet.
    Attach,
}

/// Order among the components of one kind on a character: lower layers first, 0 by default. Within a layer the order is that of
/// the entities below the character, depth first.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Reflect)]
#[reflect(Component, Default, Clone, Debug, PartialEq)]
pub struct IkLayer(pub i32);

impl Plugin for SinewPlugin {
    fn build(&self, app: &mut App) {
        use IkSystems::*;
        app.register_type::<IkSkeleton>()
            .register_type::<IkJoint>()
            .register_type::<IkLayer>()
            .register_type::<IkReport>()
            .register_type::<LimbIk>()
            .register_type::<LookAtIk>()
            .register_type::<FootPlanting>()
            .register_type::<IkGround>()
            .init_resource::<bind::Kits>()
            .init_resource::<ground::Grounds>()
            .add_message::<TargetLost>()
            .add_message::<FootLanded>()
            .add_message::<FootLifted>()
            .add_message::<IkTeleport>()
            .add_message::<bevy_asset::AssetEvent<bevy_mesh::Mesh>>()
            .add_message::<bevy_asset::AssetEvent<bevy_mesh::skinning::SkinnedMeshInverseBindposes>>()
            .add_observer(bind::bones_came)
            .add_observer(bind::bones_went)
            .add_observer(bind::moved_away)
            .add_observer(bind::slots_came)
            .add_observer(bind::slots_went)
            .add_observer(bind::character_went)
            .add_observer(write::check_ticks)
            .configure_sets(
                PostUpdate,
                (Bind, Gather, Feet, Look, Limbs, Body, Write, Attach)
                    .chain()
                    .after(AnimationSystems)
                    .before(TransformSystems::Propagate),
            )
            .add_systems(
                PostUpdate,
                (
                    (bind::skins_changed, bind::bind).chain().in_set(Bind),
                    (teleport, ground::gather, gather::gather).chain().in_set(Gather),
                    apply_feet.in_set(Feet),
                    apply_looks.in_set(Look),
                    apply_limbs.in_set(Limbs),
                    write::write.in_set(Write),
                ),
            );
    }
}

fn teleport(mut messages: MessageReader<IkTeleport>, mut characters: Query<&mut IkBinding>) {
    for IkTeleport(character) in messages.read() {
        let Ok(mut binding) = characters.get_mut(*character) else { continue };
        let slots = binding.bypass_change_detection().bound.as_deref_mut().map(|bound| &mut bound.slots);
        slots.into_iter().flatten().for_each(slot::Slot::teleport);
    }
}

fn apply_feet(
    mut characters: Query<(Entity, &mut IkBinding)>,
    grounds: Res<ground::Grounds>,
    time: Option<Res<Time>>,
) {
    let dt = time.map_or(0.0, |time| time.delta_secs());
    characters.par_iter_mut().for_each(|(character, mut binding)| {
        let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() else { return };
        if bound.awake {
            let around = ground::Around { grounds: &grounds, character };
            let (joints, pose, scale) = (&bound.joints, &mut bound.pose, bound.scale);
            bound.slots.iter_mut().for_each(|slot| feet::apply(slot, joints, pose, scale, &around, dt));
        }
    });
}

fn apply_looks(mut characters: Query<&mut IkBinding>) {
    apply(&mut characters, look::apply);
}

fn apply_limbs(mut characters: Query<&mut IkBinding>) {
    apply(&mut characters, limb::apply);
}

/// Applies the components of one kind on all characters, in parallel.
fn apply(
    characters: &mut Query<&mut IkBinding>,
    one: impl Fn(&mut slot::Slot, &binding::Part, &mut sinew::Pose, f32) + Send + Sync,
) {
    characters.par_iter_mut().for_each(|mut binding| {
        let Some(bound) = binding.bypass_change_detection().bound.as_deref_mut() else { return };
        if bound.awake {
            let (part, pose, scale) = (&*bound.part, &mut bound.pose, bound.scale);
            bound.slots.iter_mut().for_each(|slot| one(slot, part, pose, scale));
        }
    });
}
