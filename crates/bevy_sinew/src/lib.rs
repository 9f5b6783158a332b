#![doc = include_str!("../README.md")]

mod ahead;
mod aim;
mod bind;
mod binding;
mod body;
mod bone;
mod carrier;
mod chain;
mod creature;
mod drag;
mod draw;
mod feet;
mod gather;
mod ground;
mod limb;
mod limits;
mod lod;
mod look;
mod mechanism;
mod person;
mod rig;
mod skeleton;
mod slot;
mod surface;
mod template;
mod transform;
mod write;

use bevy_app::{AnimationSystems, App, Plugin, PostUpdate};
use bevy_asset::AssetApp;
use bevy_ecs::{
    change_detection::DetectChangesMut,
    component::Component,
    message::MessageReader,
    reflect::ReflectComponent,
    schedule::{
        IntoScheduleConfigs, SystemSet,
        common_conditions::{not, resource_exists},
    },
    system::Query,
};
use bevy_reflect::{Reflect, std_traits::ReflectDefault};
use bevy_transform::TransformSystems;

use slot::Stage;

pub use binding::IkBinding;
pub use body::{FullBodyIk, IkGoal, IkGoals, IkRoot};
pub use bone::{IkBone, IkBones};
pub use chain::{ChainIk, ChainIkTemplate, IkSolver};
pub use creature::{CreatureReport, CreatureWalk, CreatureWalkTemplate, IkLeg, IkLegs};
pub use drag::{DragIk, DragIkTemplate};
pub use draw::IkDraw;
#[cfg(feature = "gizmos")]
pub use draw::IkGizmos;
pub use feet::{FootContact, FootLanded, FootLifted, FootPlanting, FootPlantingTemplate, IkSole, IkTeleport};
pub use ground::IkGround;
pub use limb::{LimbIk, LimbIkTemplate};
pub use limits::{IkFreedom, IkLimits};
pub use lod::{IkLod, IkViewer};
pub use look::{LookAtIk, LookAtIkTemplate};
pub use mechanism::{IkValues, MechanismIk, MechanismIkTemplate};
pub use rig::{IkRig, IkRigAsset, IkRigGoal, IkRigGoals};
pub use skeleton::{IkJoint, IkRole, IkSkeleton};
pub use slot::{IkReport, IkStatus};
#[cfg(feature = "avian")]
pub use surface::AvianGround;
#[cfg(feature = "rapier")]
pub use surface::RapierGround;
pub use surface::{GroundParam, IkGroundPlugin, IkMeshes, IkNotGround};
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
    /// Plants feet, and lets creatures walk: [`FootPlanting`], [`CreatureWalk`].
    Feet,
    /// Turns spines, heads and eyes: [`LookAtIk`].
    Look,
    /// Moves limbs and other chains: [`LimbIk`], [`ChainIk`].
    Limbs,
    /// Moves whole bodies and machines: [`FullBodyIk`], [`DragIk`], [`MechanismIk`], [`IkRig`].
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
            .register_type::<CreatureWalk>()
            .register_type::<CreatureReport>()
            .register_type::<ChainIk>()
            .register_type::<FullBodyIk>()
            .register_type::<DragIk>()
            .register_type::<MechanismIk>()
            .register_type::<IkValues>()
            .register_type::<IkRig>()
            .register_type::<IkLimits>()
            .register_type::<IkLod>()
            .register_type::<IkViewer>()
            .register_type::<IkGround>()
            .register_type::<IkNotGround>()
            .init_resource::<bind::Kits>()
            .init_resource::<ground::Grounds>()
            .init_resource::<ahead::Clips>()
            .add_message::<TargetLost>()
            .add_message::<FootLanded>()
            .add_message::<FootLifted>()
            .add_message::<IkTeleport>()
            .add_message::<bevy_asset::AssetEvent<bevy_mesh::Mesh>>()
            .add_message::<bevy_asset::AssetEvent<bevy_animation::AnimationClip>>()
            .add_message::<bevy_asset::AssetEvent<IkRigAsset>>()
            .add_message::<bevy_asset::AssetEvent<bevy_mesh::skinning::SkinnedMeshInverseBindposes>>()
            .add_observer(bind::bones_came)
            .add_observer(bind::character_came)
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
                    (bind::skins_changed, rig::rigs_changed, bind::bind).chain().in_set(Bind),
                    (teleport, ground::gather, ahead::load, gather::gather, gather::gather_others)
                        .chain()
                        .in_set(Gather),
                    surface::apply::<{ Stage::Feet as u8 }, IkMeshes>
                        .in_set(Feet)
                        .run_if(not(resource_exists::<surface::OtherGround>)),
                    surface::apply::<{ Stage::Look as u8 }, ()>.in_set(Look),
                    surface::apply::<{ Stage::Limbs as u8 }, ()>.in_set(Limbs),
                    surface::apply::<{ Stage::Body as u8 }, ()>.in_set(Body),
                    write::write.in_set(Write),
                ),
            );
    }

    fn finish(&self, app: &mut App) {
        // An app may have no assets at all.
        if app.world().contains_resource::<bevy_asset::AssetServer>() {
            app.init_asset::<IkRigAsset>();
            #[cfg(feature = "rig")]
            app.init_asset_loader::<rig::file::RigLoader>();
        }
        // A server has no gizmos.
        #[cfg(feature = "gizmos")]
        if app.world().contains_resource::<bevy_gizmos::GizmoHandles>() {
            draw::build(app);
        }
    }
}

fn teleport(mut messages: MessageReader<IkTeleport>, mut characters: Query<&mut IkBinding>) {
    for IkTeleport(character) in messages.read() {
        let Ok(mut binding) = characters.get_mut(*character) else { continue };
        let slots = binding.bypass_change_detection().bound.as_deref_mut().map(|bound| &mut bound.slots);
        slots.into_iter().flatten().for_each(|slot| slot.handle.teleport());
    }
}
