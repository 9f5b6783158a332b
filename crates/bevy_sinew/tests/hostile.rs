//! Numbers, places and orders that no app should make, for chains, bodies, drags, machines and feet that look ahead.

mod common;

use std::time::Duration;

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationTargetId, animated_field,
    animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    graph::{AnimationGraph, AnimationGraphHandle},
};
use bevy_app::{App, PostUpdate};
use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    ChainIk, DragIk, FootPlanting, FullBodyIk, IkGoal, IkLimits, IkLod, IkRig, IkRigAsset, IkSkeleton,
    IkSolver, IkSystems, IkTeleport, IkViewer, LookAtIk, MechanismIk,
};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{Random, bone, locals, mannequin, spawn};
use sinew::body::{Role, Side};

/// A character with one of each, on entities below it.
struct Scene {
    app: App,
    character: Entity,
    bones: Vec<Entity>,
    target: Entity,
}

fn scene(place: Transform) -> Scene {
    let model = mannequin();
    let mut app = common::app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(1.0 / 60.0)));
    let (character, bones) = spawn(&mut app, &model, place);
    let target = app.world_mut().spawn(Transform::from_xyz(0.3, 1.2, 0.4)).id();
    let goals = [IkGoal::new(Role::Head, target), IkGoal::new(Role::Hand(Side::Right), target)];
    let world = app.world_mut();
    world.entity_mut(character).insert((FootPlanting::default(), LookAtIk::at(target)));
    world.spawn((ChainIk::new("spine", "hand.L").at(target), ChildOf(character)));
    world.spawn((ChainIk::new("neck", "head").at(target).with_solver(IkSolver::Follow), ChildOf(character)));
    world.spawn((FullBodyIk::new(goals), ChildOf(character)));
    world.spawn((DragIk::new("hand.L").at(target).with_pins(["foot.L"]), ChildOf(character)));
    world.spawn((MechanismIk::new("toes.R").at(target), ChildOf(character)));
    let rig = IkRigAsset::humanoid(bevy_sinew::sinew::rig::HumanoidSpec::new());
    let rig = world.resource_mut::<Assets<IkRigAsset>>().add(rig);
    world.spawn((IkRig::new(rig).with_goal("left foot", target), ChildOf(character)));
    world.entity_mut(bone(&model, &bones, "shin.R")).insert(IkLimits::hinge(Vec3::X, 0.0, 2.0));
    Scene { app, character, bones, target }
}

fn finite(scene: &Scene, what: &str) {
    for (local, bone) in locals(&scene.app, &scene.bones).iter().zip(&scene.bones) {
        assert!(local.is_finite(), "{what}: {bone} is {local:?}");
        assert!(
            (local.rotation.length() - 1.0).abs() < 1e-3,
            "{what}: {bone} is turned by {:?}",
            local.rotation
        );
    }
}

#[test]
fn places_far_away_tiny_and_none_leave_finite_bones() {
    let mut random = Random(5);
    for scale in [1e-20, 1e-3, 0.0, -1.0, 1e20, f32::NAN, f32::INFINITY] {
        let mut scene = scene(Transform::from_scale(Vec3::splat(scale)));
        for at in [0.0, 1e-30, 1.0, 1e8, 1e30, f32::MAX, f32::NAN, f32::INFINITY] {
            scene.app.world_mut().get_mut::<Transform>(scene.target).unwrap().translation =
                Vec3::new(at, random.unit(), -at);
            (0..2).for_each(|_| scene.app.update());
            finite(&scene, &format!("scale {scale}, target at {at}"));
        }
        // And back to what can be.
        *scene.app.world_mut().get_mut::<Transform>(scene.character).unwrap() = Transform::IDENTITY;
        scene.app.world_mut().get_mut::<Transform>(scene.target).unwrap().translation =
            Vec3::new(0.3, 1.2, 0.4);
        (0..3).for_each(|_| scene.app.update());
        finite(&scene, "at last");
    }
}

#[test]
fn numbers_of_components_that_are_none_leave_finite_bones() {
    for number in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0, 2.0, 1e30, f32::MIN_POSITIVE] {
        let mut scene = scene(Transform::IDENTITY);
        scene.app.update();
        let world = scene.app.world_mut();
        let offset = Transform {
            translation: Vec3::splat(number),
            rotation: Quat::from_xyzw(number, 0.0, 0.0, 1.0),
            scale: Vec3::splat(number),
        };
        for mut chain in world.query::<&mut ChainIk>().iter_mut(world) {
            (chain.soft, chain.position_influence, chain.rotation_influence, chain.offset) =
                (number, number, number, offset);
        }
        for mut body in world.query::<&mut FullBodyIk>().iter_mut(world) {
            (body.soft, body.influence) = (number, number);
            body.root_mode = bevy_sinew::IkRoot::Spring(number);
            for goal in &mut body.goals.0 {
                (goal.position_influence, goal.rotation_influence, goal.offset) = (number, number, offset);
            }
        }
        for mut rig in world.query::<&mut IkRig>().iter_mut(world) {
            let goal = &mut rig.goals.0[0];
            (goal.position_influence, goal.rotation_influence) = (number, number);
        }
        for mut machine in world.query::<&mut MechanismIk>().iter_mut(world) {
            (machine.speed, machine.tool) = (number, offset);
        }
        for mut feet in world.query::<&mut FootPlanting>().iter_mut(world) {
            (feet.influence, feet.jump) = (number, number);
        }
        world.entity_mut(scene.character).insert(IkLod { distance: number, rate: number });
        world.spawn((Transform::from_translation(Vec3::splat(number)), IkViewer));
        (0..5).for_each(|_| scene.app.update());
        finite(&scene, &format!("{number}"));
        scene.app.world_mut().get_mut::<IkSkeleton>(scene.character).unwrap().influence = number;
        (0..3).for_each(|_| scene.app.update());
        finite(&scene, &format!("influence {number}"));
    }
}

#[test]
fn bones_that_go_and_come_in_any_step_of_a_frame() {
    #[derive(Resource, Default)]
    struct Next(Option<Entity>);
    let sets = [
        IkSystems::Bind,
        IkSystems::Gather,
        IkSystems::Feet,
        IkSystems::Limbs,
        IkSystems::Body,
        IkSystems::Write,
    ];
    for set in sets {
        let mut scene = scene(Transform::IDENTITY);
        scene.app.init_resource::<Next>();
        let despawn = |mut commands: Commands, mut next: ResMut<Next>| {
            if let Some(entity) = next.0.take() {
                commands.entity(entity).try_despawn();
            }
        };
        scene.app.add_systems(PostUpdate, despawn.before(set));
        scene.app.update();
        let model = mannequin();
        for name in ["toes.R", "hand.L", "foot.L", "head", "spine"] {
            scene.app.world_mut().resource_mut::<Next>().0 = Some(bone(&model, &scene.bones, name));
            (0..2).for_each(|_| scene.app.update());
        }
        // Limits come and go in a drag.
        let knee = bone(&model, &scene.bones, "shin.L");
        scene.app.world_mut().entity_mut(knee).insert(IkLimits::FIXED);
        scene.app.update();
        scene.app.world_mut().entity_mut(knee).remove::<IkLimits>();
        scene.app.world_mut().write_message(IkTeleport(scene.character));
        (0..2).for_each(|_| scene.app.update());
        scene.app.world_mut().entity_mut(scene.character).despawn();
        (0..2).for_each(|_| scene.app.update());
    }
}

/// Clips of no length, of one key, that end in no number, of a day; players that run backwards, at no speed, and at any.
#[test]
fn clips_that_are_none_leave_finite_bones() {
    let model = mannequin();
    for (length, speed) in
        [(0.0, 1.0), (1e-30, 1.0), (86400.0, 1.0), (1.0, 0.0), (1.0, -1.0), (1.0, 1e20), (1.0, f32::NAN)]
    {
        let mut scene = scene(Transform::IDENTITY);
        let mut clip = AnimationClip::default();
        for (n, name) in ["hips", "thigh.L", "shin.L", "foot.L"].into_iter().enumerate() {
            let target = AnimationTargetId::from_name(&Name::new(name));
            let keys = [(0.0, Quat::IDENTITY), (f32::max(length, 1e-6), Quat::from_rotation_x(0.2))];
            if n != 2
                && let Ok(curve) = AnimatableKeyframeCurve::new(keys)
            {
                clip.add_curve_to_target(
                    target,
                    AnimatableCurve::new(animated_field!(Transform::rotation), curve),
                );
            }
        }
        clip.set_duration(length);
        let clip = scene.app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip);
        let (graph, node) = AnimationGraph::from_clip(clip.clone());
        let graph = scene.app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
        let mut player = AnimationPlayer::default();
        // Bevy itself cannot wind back by more than a round in a frame.
        player.play(node).repeat().set_speed(if speed.abs() < 2.0 { speed } else { 1.0 });
        scene
            .app
            .world_mut()
            .entity_mut(scene.character)
            .insert((player, AnimationGraphHandle(graph.clone())));
        for (joint, &bone) in model.skeleton.joints().zip(&scene.bones) {
            let name = Name::new(model.skeleton.name(joint).to_owned());
            let target = AnimationTargetId::from_name(&name);
            scene.app.world_mut().entity_mut(bone).insert((target, AnimatedBy(scene.character)));
        }
        (0..10).for_each(|_| scene.app.update());
        finite(&scene, &format!("a clip of {length} s at speed {speed}"));
        // The clip goes, then the graph.
        scene.app.world_mut().resource_mut::<Assets<AnimationClip>>().remove(&clip);
        (0..3).for_each(|_| scene.app.update());
        scene.app.world_mut().resource_mut::<Assets<AnimationGraph>>().remove(&graph);
        (0..3).for_each(|_| scene.app.update());
        finite(&scene, "without it");
    }
}
