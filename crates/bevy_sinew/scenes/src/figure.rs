//! Characters of boxes: the engine's built-in ones.

use std::sync::LazyLock;

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationTargetId, animated_field,
    animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    graph::{AnimationGraph, AnimationGraphHandle},
};
use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    IkSkeleton,
    sinew::{Skeleton, motion::Clip},
};
use bevy_transform::components::Transform;
use sinew_files::{Model, sample};

use crate::{BODY, block};

/// A character and its bones.
pub struct Figure {
    pub entity: Entity,
    pub bones: Vec<(String, Entity)>,
}

/// The engine's own character.
fn model() -> &'static Model {
    static MODEL: LazyLock<Model> =
        LazyLock::new(|| sample::mannequin().expect("the engine's own character"));
    &MODEL
}

impl Figure {
    /// Spawns a model, in the pose in which it was modelled, with a box for each bone below the root's.
    pub fn of(world: &mut World, model: &Model, place: Transform) -> Self {
        let entity = world.spawn((IkSkeleton::default(), place)).id();
        let skeleton: &Skeleton = &model.skeleton;
        let mut bones: Vec<(String, Entity)> = Vec::new();
        for joint in skeleton.joints() {
            let above = skeleton.parent(joint).map_or(entity, |above| bones[above.index()].1);
            let rest = skeleton.rest(joint);
            let name = skeleton.name(joint).to_owned();
            let local =
                Transform { translation: rest.translation, rotation: rest.rotation, scale: rest.scale };
            // Bones that Bevy's players animate are known by this.
            let target = AnimationTargetId::from_name(&Name::new(name.clone()));
            let bone = world.spawn((local, Name::new(name.clone()), target, ChildOf(above))).id();
            bones.push((name, bone));
            if skeleton.parent(joint).is_some_and(|above| skeleton.parent(above).is_some()) {
                shape(world, above, skeleton.name(joint), rest.translation);
            }
        }
        Self { entity, bones }
    }

    /// Spawns a person.
    pub fn spawn(world: &mut World, place: Transform) -> Self {
        let figure = Self::of(world, model(), place);
        // Its head has no bone beyond it.
        let head = figure.bone("head");
        let face = block(world, Vec3::new(0.17, 0.24, 0.2), Transform::from_xyz(0.0, 0.1, 0.02), BODY);
        world.entity_mut(face).insert(ChildOf(head));
        let pelvis = block(world, Vec3::new(0.28, 0.15, 0.17), Transform::from_xyz(0.0, 0.0, 0.0), BODY);
        world.entity_mut(pelvis).insert(ChildOf(figure.bone("hips")));
        let nose = block(world, Vec3::new(0.03, 0.04, 0.05), Transform::from_xyz(0.0, 0.08, 0.14), BODY);
        world.entity_mut(nose).insert(ChildOf(head));
        figure
    }

    /// The bone of this name.
    pub fn bone(&self, name: &str) -> Entity {
        let found = self.bones.iter().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("the engine's own character has no {name}")).1
    }

    /// Plays its walk, in place, by Bevy's own player. Returns the speed that belongs to it, in m/s along Z.
    pub fn walk(&self, world: &mut World) -> f32 {
        let (clip, speed) = in_place(&model().skeleton, &model().clips[0]);
        let clip = world.resource_mut::<Assets<AnimationClip>>().add(clip);
        let (graph, node) = AnimationGraph::from_clip(clip);
        let graph = world.resource_mut::<Assets<AnimationGraph>>().add(graph);
        let mut player = AnimationPlayer::default();
        player.play(node).repeat();
        world.entity_mut(self.entity).insert((player, AnimationGraphHandle(graph)));
        for (_, bone) in &self.bones {
            world.entity_mut(*bone).insert(AnimatedBy(self.entity));
        }
        speed
    }
}

/// A box along a bone, from a joint to the one of this name.
fn shape(world: &mut World, bone: Entity, to: &str, along: Vec3) {
    let length = along.length();
    if length < 0.03 || to.starts_with("thigh") {
        return;
    }
    // The trunk is wider than deep.
    let (wide, deep) = match to {
        "upper_chest" | "neck" => (0.3, 0.17),
        "spine" | "chest" => (0.27, 0.17),
        "head" => (0.08, 0.08),
        name if name.starts_with("toes") => (0.08, 0.06),
        _ => {
            let wide = (0.24 * length).clamp(0.05, 0.12);
            (wide, wide)
        }
    };
    let long = if deep < wide { 1.0 } else { 0.92 };
    let place = Transform::from_translation(along * 0.5)
        .with_rotation(Quat::from_rotation_arc(Vec3::Y, along / length));
    let shape = block(world, Vec3::new(wide, length * long, deep), place, BODY);
    world.entity_mut(shape).insert(ChildOf(bone));
}

/// The clip as Bevy's, without its travel along Z, and the speed of that.
fn in_place(skeleton: &Skeleton, clip: &Clip) -> (AnimationClip, f32) {
    let (mut made, mut speed) = (AnimationClip::default(), 0.0);
    for tracks in clip.tracks() {
        let target = AnimationTargetId::from_name(&Name::new(skeleton.name(tracks.joint).to_owned()));
        if let Some(track) = &tracks.rotation
            && let Ok(curve) = AnimatableKeyframeCurve::new(
                track.times().iter().copied().zip(track.values().iter().copied()),
            )
        {
            made.add_curve_to_target(
                target,
                AnimatableCurve::new(animated_field!(Transform::rotation), curve),
            );
        }
        if let Some(track) = &tracks.translation
            && let (Some(first), Some(last)) = (track.values().first(), track.values().last())
        {
            let velocity = Vec3::Z * ((last.z - first.z) / clip.duration());
            speed += velocity.z;
            let keys = track.times().iter().zip(track.values());
            if let Ok(curve) =
                AnimatableKeyframeCurve::new(keys.map(|(time, value)| (*time, *value - velocity * *time)))
            {
                let curve = AnimatableCurve::new(animated_field!(Transform::translation), curve);
                made.add_curve_to_target(target, curve);
            }
        }
    }
    made.set_duration(clip.duration());
    (made, speed)
}
