//! A headless app, and characters in it.
#![allow(dead_code, reason = "each test file uses its own part")]

use std::{sync::Arc, time::Duration};

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationPlugin, AnimationTargetId, animated_field,
    animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    graph::{AnimationGraph, AnimationGraphHandle},
};
use bevy_app::{App, PostUpdate, TaskPoolPlugin};
use bevy_asset::{AssetApp, AssetPlugin, Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_math::{Mat4, Quat, Vec3};
use bevy_mesh::{
    Indices, Mesh, Mesh3d, PrimitiveTopology, VertexAttributeValues,
    skinning::{SkinnedMesh, SkinnedMeshInverseBindposes},
};
use bevy_sinew::{IkSkeleton, SinewPlugin};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::{TransformPlugin, components::GlobalTransform, prelude::Transform};
use sinew::{JointTransform, Skeleton, ground::TriangleMesh, motion::Clip};
use sinew_files::Model;

/// The plugins that a headless app needs beside ours.
pub fn app() -> App {
    app_with(|_| {})
}

/// Seconds of a frame of [`clocked`].
pub const DT: f32 = 1.0 / 60.0;

/// The same, whose frames last a sixtieth of a second.
pub fn clocked() -> App {
    let mut app = app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
    // The first frame has no time of its own.
    app.update();
    app
}

/// Triangles as a mesh of Bevy's.
pub fn to_bevy(mesh: &TriangleMesh) -> Mesh {
    let indices = mesh.triangles.as_flattened().to_vec();
    let positions: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.to_array()).collect();
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(Indices::U32(indices))
}

/// The same, and what else is added.
pub fn app_with(more: impl FnOnce(&mut App)) -> App {
    app_of(AssetPlugin::default(), more)
}

/// The same, with assets from a folder.
pub fn app_from(folder: &str) -> App {
    app_of(AssetPlugin { file_path: folder.into(), ..AssetPlugin::default() }, |_| {})
}

fn app_of(assets: AssetPlugin, more: impl FnOnce(&mut App)) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, assets, TransformPlugin));
    app.init_asset::<Mesh>().init_asset::<SkinnedMeshInverseBindposes>();
    app.add_plugins((AnimationPlugin, SinewPlugin));
    // As Bevy's own plugins do.
    app.register_type::<ChildOf>().register_type::<Children>().register_type::<Transform>();
    more(&mut app);
    app.finish();
    app.cleanup();
    app
}

pub fn transform(local: &JointTransform) -> Transform {
    Transform { translation: local.translation, rotation: local.rotation, scale: local.scale }
}

/// The built-in two-legged character of the engine, 1.8 m high.
pub fn mannequin() -> Model {
    sinew_files::sample::mannequin().unwrap()
}

/// The height of that character in metres.
pub const HEIGHT: f32 = 1.8;

/// How the bones of a character are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bones {
    Skinned,
    Animated,
    Named,
}

/// Spawns the model's joints below `character`, with all that a scene from a file has. Returns them in the skeleton's order.
pub fn spawn_bones(world: &mut World, character: Entity, model: &Model, bones: Bones) -> Vec<Entity> {
    let skeleton: &Arc<Skeleton> = &model.skeleton;
    let mut entities: Vec<Entity> = Vec::new();
    for joint in skeleton.joints() {
        let parent = skeleton.parent(joint).map_or(character, |parent| entities[parent.index()]);
        let local = transform(skeleton.rest(joint));
        let name = Name::new(skeleton.name(joint).to_owned());
        let bone = match bones {
            Bones::Animated => {
                let target = AnimationTargetId::from_name(&name);
                world.spawn((local, name, target, ChildOf(parent))).id()
            }
            _ => world.spawn((local, name, ChildOf(parent))).id(),
        };
        entities.push(bone);
    }
    if bones == Bones::Skinned {
        let bind = model.bind_pose();
        let matrices: Vec<Mat4> = skeleton.joints().map(|j| Mat4::from(bind.model(j)).inverse()).collect();
        let mut assets = world.resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
        let inverse_bindposes = assets.add(SkinnedMeshInverseBindposes::from(matrices));
        let skin = SkinnedMesh { inverse_bindposes, joints: entities.clone() };
        let mesh = world.resource_mut::<Assets<Mesh>>().add(mesh(model));
        world.spawn((Transform::IDENTITY, Mesh3d(mesh), skin, ChildOf(character)));
    }
    entities
}

/// The model's vertices, each on its joint of largest weight.
pub fn mesh(model: &Model) -> Mesh {
    let points = model.skin_points(&model.bind_pose());
    let positions: Vec<[f32; 3]> = points.iter().map(|(_, at)| at.to_array()).collect();
    let joints: Vec<[u16; 4]> = points.iter().map(|(joint, _)| [0, joint.index() as u16, 0, 0]).collect();
    let weights: Vec<[f32; 4]> = points.iter().map(|_| [0.1, 0.8, 0.1, 0.0]).collect();
    Mesh::new(PrimitiveTopology::PointList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_INDEX, VertexAttributeValues::Uint16x4(joints))
        .with_inserted_attribute(Mesh::ATTRIBUTE_JOINT_WEIGHT, weights)
}

/// A character at a place.
pub fn spawn(app: &mut App, model: &Model, place: Transform) -> (Entity, Vec<Entity>) {
    let character = app.world_mut().spawn((IkSkeleton::default(), place)).id();
    let bones = spawn_bones(app.world_mut(), character, model, Bones::Skinned);
    (character, bones)
}

/// The bone of this name.
pub fn bone(model: &Model, bones: &[Entity], name: &str) -> Entity {
    bones[model.skeleton.find(name).unwrap_or_else(|| panic!("no {name}")).index()]
}

/// Where an entity is drawn: Bevy's own forward kinematics.
pub fn drawn(app: &App, entity: Entity) -> GlobalTransform {
    *app.world().get::<GlobalTransform>(entity).unwrap()
}

pub fn at(app: &App, entity: Entity) -> Vec3 {
    drawn(app, entity).translation()
}

pub fn locals(app: &App, bones: &[Entity]) -> Vec<Transform> {
    bones.iter().map(|&bone| *app.world().get::<Transform>(bone).unwrap()).collect()
}

/// Random numbers for tests, the same each time.
pub struct Random(pub u64);

impl Random {
    pub fn unit(&mut self) -> f32 {
        // Marsaglia's xorshift64.
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 40) as f32 / (1u64 << 24) as f32
    }

    pub fn within(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    pub fn vector(&mut self, size: f32) -> Vec3 {
        Vec3::new(self.within(-size, size), self.within(-size, size), self.within(-size, size))
    }

    pub fn turn(&mut self) -> Quat {
        Quat::from_xyzw(self.within(-1.0, 1.0), self.within(-1.0, 1.0), self.within(-1.0, 1.0), 0.3)
            .normalize()
    }
}

/// Adds a system that plays an animation: it writes bones in each frame, as Bevy's own does.
pub fn animate<M>(app: &mut App, system: impl IntoScheduleConfigs<bevy_ecs::system::ScheduleSystem, M>) {
    app.add_systems(PostUpdate, system.in_set(bevy_app::AnimationSystems));
}

/// A clip of the engine, of linear tracks, as one of Bevy's.
pub fn bevy_clip(model: &Model, clip: &Clip) -> AnimationClip {
    let mut made = AnimationClip::default();
    for tracks in clip.tracks() {
        let target = AnimationTargetId::from_name(&Name::new(model.skeleton.name(tracks.joint).to_owned()));
        if let Some(track) = &tracks.rotation {
            let keys: Vec<_> = track.times().iter().copied().zip(track.values().iter().copied()).collect();
            if let Ok(curve) = AnimatableKeyframeCurve::new(keys) {
                let curve = AnimatableCurve::new(animated_field!(Transform::rotation), curve);
                made.add_curve_to_target(target, curve);
            }
        }
        if let Some(track) = &tracks.translation {
            let keys: Vec<_> = track.times().iter().copied().zip(track.values().iter().copied()).collect();
            if let Ok(curve) = AnimatableKeyframeCurve::new(keys) {
                let curve = AnimatableCurve::new(animated_field!(Transform::translation), curve);
                made.add_curve_to_target(target, curve);
            }
        }
    }
    made.set_duration(clip.duration());
    made
}

/// Plays a clip on a character's bones for ever, by Bevy's own player.
pub fn play(app: &mut App, character: Entity, model: &Model, bones: &[Entity], clip: &Clip) {
    let clip = app.world_mut().resource_mut::<Assets<AnimationClip>>().add(bevy_clip(model, clip));
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
    let mut player = AnimationPlayer::default();
    player.play(node).repeat();
    app.world_mut().entity_mut(character).insert((player, AnimationGraphHandle(graph)));
    for (joint, &bone) in model.skeleton.joints().zip(bones) {
        let target = AnimationTargetId::from_name(&Name::new(model.skeleton.name(joint).to_owned()));
        app.world_mut().entity_mut(bone).insert((target, AnimatedBy(character)));
    }
}
