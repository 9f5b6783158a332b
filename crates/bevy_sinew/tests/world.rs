//! Components in serialized worlds and in `bsn!`; looks; an animation of Bevy's own.

mod common;

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationTargetId, animated_field,
    animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    graph::{AnimationGraph, AnimationGraphHandle},
};
use bevy_asset::{AssetServer, Assets};
use bevy_ecs::template::OptionTemplate;
use bevy_ecs::{entity::EntityHashMap, prelude::*};
use bevy_math::{Quat, Vec3};
use bevy_scene::prelude::*;
use bevy_sinew::{
    ChainIk, DragIk, FootPlanting, FullBodyIk, IkBinding, IkBone, IkGoal, IkGoals, IkLayer, IkLimits, IkLod,
    IkReport, IkRig, IkRoot, IkSkeleton, IkSolver, IkStatus, LimbIk, LookAtIk, MechanismIk,
};
use bevy_transform::components::Transform;
use bevy_world_serialization::{DynamicWorldBuilder, serde::WorldDeserializer};
use common::{Bones, HEIGHT, at, bone, drawn, locals, mannequin, spawn};
use sinew::body::{Role, Side};

#[test]
fn the_head_looks_at_its_target_in_the_same_frame() {
    let model = mannequin();
    let mut app = common::app();
    let mut random = common::Random(4);
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let player = app.world_mut().spawn(Transform::IDENTITY).id();
    app.world_mut().entity_mut(character).insert(LookAtIk::at(player).with_offset(Vec3::new(0.0, 0.2, 0.0)));
    let head = bone(&model, &bones, "head");
    for _ in 0..100 {
        let place = Transform::from_translation(random.vector(5.0)).with_rotation(random.turn());
        *app.world_mut().get_mut::<Transform>(character).unwrap() = place;
        let seen = place.transform_point(Vec3::new(random.within(-1.0, 1.0), random.within(1.0, 2.2), 3.0));
        *app.world_mut().get_mut::<Transform>(player).unwrap() =
            Transform::from_translation(seen - Vec3::Y * 0.2);
        app.update();
        let report = app.world().get::<IkReport>(character).unwrap();
        assert!(report.status == IkStatus::Solved && report.reached, "{report:?}");
        // The head of the mannequin looks along its own z at rest.
        let face = place.rotation.inverse() * drawn(&app, head).rotation();
        let rest = model.bind_pose().model_rotation(model.skeleton.find("head").unwrap());
        let front = face * (rest.inverse() * Vec3::Z);
        let wanted = place.rotation.inverse() * (seen - at(&app, head));
        assert!(front.angle_between(wanted) < 2e-3, "{front} {wanted}");
    }
}

#[test]
fn worlds_that_are_saved_come_back_with_their_targets() {
    let model = mannequin();
    let mut app = common::app();
    // As it stands before its scene has come.
    let character = app.world_mut().spawn((IkSkeleton::default(), Transform::IDENTITY)).id();
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let handle = app
        .world_mut()
        .spawn((
            LimbIk::new(Role::Hand(Side::Left)).at(target).with_rotation(0.5),
            IkLayer(3),
            ChildOf(character),
        ))
        .id();
    app.world_mut().entity_mut(character).insert(LookAtIk::at(target).with_bones(["neck", "head"]));
    let registry = app.world().resource::<bevy_ecs::reflect::AppTypeRegistry>().clone();
    let text = {
        let registry = registry.read();
        let entities = [character, target, handle];
        let saved = DynamicWorldBuilder::from_world(app.world(), &registry)
            .allow_component::<Transform>()
            .allow_component::<ChildOf>()
            .allow_component::<Children>()
            .allow_component::<IkSkeleton>()
            .allow_component::<LimbIk>()
            .allow_component::<LookAtIk>()
            .allow_component::<IkLayer>()
            .extract_entities(entities.into_iter())
            .build();
        saved.serialize(&registry).unwrap()
    };
    let mut other = common::app();
    let map = load(&mut other, &text);
    let limb = other.world().get::<LimbIk>(map[&handle]).unwrap();
    assert_eq!(limb.target, Some(map[&target]));
    assert_eq!((limb.rotation_influence, &limb.tip), (0.5, &IkBone::Role("left hand".into())));
    assert_eq!(other.world().get::<IkLayer>(map[&handle]), Some(&IkLayer(3)));
    assert_eq!(other.world().get::<LookAtIk>(map[&character]).unwrap().target, Some(map[&target]));
    // And it works, once the scene below it is there.
    let bones = common::spawn_bones(other.world_mut(), map[&character], &model, Bones::Skinned);
    other.update();
    let off = at(&other, bone(&model, &bones, "hand.L")).distance(at(&other, map[&target]));
    assert!(off < 1e-5 * HEIGHT, "{off}");
}

#[test]
fn every_component_is_saved_and_finds_its_targets_again() {
    let mut app = common::app();
    let target = app.world_mut().spawn(Transform::IDENTITY).id();
    let bone = app.world_mut().spawn(Transform::IDENTITY).id();
    let goals = [IkGoal::new(Role::Head, target).with_rotation(0.3), IkGoal::new(bone, target)];
    let body = FullBodyIk::new(goals).with_root_mode(IkRoot::Spring(0.5));
    let all = (
        ChainIk::new("root", bone).at(target).with_pole(bone).with_solver(IkSolver::Fabrik),
        body,
        DragIk::new(bone).at(target).with_pins(["foot.L"]),
        MechanismIk::new(bone).at(target).with_tool(Transform::from_xyz(0.0, 1.0, 0.0)),
        FootPlanting { platform: Some(target), ..FootPlanting::default() },
        IkLimits::hinge(Vec3::X, -1.0, 2.0).with_speed(0.5),
        IkLod { distance: 20.0, rate: 5.0 },
    );
    let entity = app.world_mut().spawn(all).id();
    let registry = app.world().resource::<bevy_ecs::reflect::AppTypeRegistry>().clone();
    let text = {
        let registry = registry.read();
        let saved = DynamicWorldBuilder::from_world(app.world(), &registry)
            .allow_component::<Transform>()
            .allow_component::<ChainIk>()
            .allow_component::<FullBodyIk>()
            .allow_component::<DragIk>()
            .allow_component::<MechanismIk>()
            .allow_component::<FootPlanting>()
            .allow_component::<IkLimits>()
            .allow_component::<IkLod>()
            .extract_entities([entity, target, bone].into_iter())
            .build();
        saved.serialize(&registry).unwrap()
    };
    let mut other = common::app();
    // Other entities than those of the first world.
    (0..7).for_each(|_| _ = other.world_mut().spawn(Transform::IDENTITY));
    let map = load(&mut other, &text);
    let (at, of) = (Some(map[&target]), map[&entity]);
    let world = other.world();
    let chain = world.get::<ChainIk>(of).unwrap();
    assert_eq!((chain.target, chain.pole, chain.solver), (at, Some(map[&bone]), IkSolver::Fabrik));
    assert_eq!((&chain.root, &chain.tip), (&IkBone::from("root"), &IkBone::Entity(map[&bone])));
    let body = world.get::<FullBodyIk>(of).unwrap();
    assert_eq!(body.goals.0.iter().map(|goal| goal.target).collect::<Vec<_>>(), [at, at]);
    assert_eq!((&body.goals.0[1].bone, body.root_mode), (&IkBone::Entity(map[&bone]), IkRoot::Spring(0.5)));
    assert_eq!(body.goals.0[0].rotation_influence, 0.3);
    let drag = world.get::<DragIk>(of).unwrap();
    assert_eq!((drag.target, &drag.pins.0[..]), (at, &[IkBone::from("foot.L")][..]));
    let machine = world.get::<MechanismIk>(of).unwrap();
    assert_eq!((machine.target, machine.tool.translation), (at, Vec3::Y));
    assert_eq!(world.get::<FootPlanting>(of).unwrap().platform, at);
    assert_eq!(world.get::<IkLimits>(of), app.world().get::<IkLimits>(entity));
    assert_eq!(world.get::<IkLod>(of), app.world().get::<IkLod>(entity));
}

/// Loads a serialized world. Returns its entities by those of the world that was saved.
fn load(app: &mut bevy_app::App, text: &str) -> EntityHashMap<Entity> {
    use serde::de::DeserializeSeed;
    let registry = app.world().resource::<bevy_ecs::reflect::AppTypeRegistry>().clone();
    let loaded = {
        let registry = registry.read();
        let mut reader = ron::de::Deserializer::from_str(text).unwrap();
        let mut assets = app.world().resource::<AssetServer>().clone();
        WorldDeserializer { type_registry: &registry, load_from_path: &mut assets }
            .deserialize(&mut reader)
            .unwrap()
    };
    let mut map = EntityHashMap::default();
    loaded.write_to_world(app.world_mut(), &mut map).unwrap();
    map
}

#[test]
fn scenes_name_their_targets() {
    let model = mannequin();
    let mut app = common::app_with(|app| {
        app.add_plugins(bevy_scene::ScenePlugin);
    });
    let character = app
        .world_mut()
        .spawn_scene(bsn! {
            IkSkeleton { influence: 1.0 }
            LookAtIk { target: OptionTemplate::Some(#Lever), influence: 0.5 }
            Children [
                #Lever
                Transform { translation: {Vec3::new(0.4, 1.3, 0.3)} }
                --
                LimbIk { tip: {IkBone::from(Role::Hand(Side::Left))}, target: OptionTemplate::Some(#Lever) }
            ]
        })
        .unwrap()
        .id();
    let bones = common::spawn_bones(app.world_mut(), character, &model, Bones::Skinned);
    app.update();
    let lever = app.world().get::<Children>(character).unwrap()[0];
    let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, lever));
    assert!(off < 1e-5 * HEIGHT, "{off}");
    assert_eq!(app.world().get::<IkReport>(character).unwrap().status, IkStatus::Solved);
}

#[test]
fn scenes_take_every_component() {
    let model = mannequin();
    let mut app = common::app_with(|app| {
        app.add_plugins(bevy_scene::ScenePlugin);
    });
    let ball = app.world_mut().spawn(Transform::from_xyz(0.0, 1.6, 0.2)).id();
    // It stands in the scene and moves nothing, so that the hand stays where its chain brings it.
    let goal = IkGoal { position_influence: 0.0, ..IkGoal::new(Role::Head, ball) };
    let goals = IkGoals(vec![goal.clone()]);
    let character = app
        .world_mut()
        .spawn_scene(bsn! {
            IkSkeleton { influence: 1.0 }
            IkLod { distance: 20.0, rate: 5.0 }
            IkRig
            Children [
                #Lever
                Transform { translation: {Vec3::new(0.4, 1.3, 0.3)} }
                --
                ChainIk {
                    root: {IkBone::from("upper_arm.L")},
                    tip: {IkBone::from("hand.L")},
                    target: OptionTemplate::Some(#Lever),
                    solver: {IkSolver::Fabrik},
                }
                --
                MechanismIk { tip: {IkBone::from("hand.R")} }
                --
                DragIk { bone: {IkBone::from("hand.R")} }
                --
                FullBodyIk { influence: 0.5, goals: {goals.clone()} }
                --
                IkLimits { speed: 0.5 }
            ]
        })
        .unwrap()
        .id();
    let bones = common::spawn_bones(app.world_mut(), character, &model, Bones::Skinned);
    (0..3).for_each(|_| app.update());
    let below: Vec<Entity> = app.world().get::<Children>(character).unwrap().iter().collect();
    let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, below[0]));
    assert!(off < 1e-3 * HEIGHT, "{off}");
    // What a scene does not say is as the component has it by itself.
    assert_eq!(app.world().get::<ChainIk>(below[1]).unwrap().position_influence, 1.0);
    assert_eq!(app.world().get::<MechanismIk>(below[2]).unwrap().speed, 1.0);
    assert_eq!(app.world().get::<DragIk>(below[3]).unwrap().root, IkBone::from(Role::Hips));
    let body = app.world().get::<FullBodyIk>(below[4]).unwrap();
    assert_eq!((body.influence, body.person, body.root_mode), (0.5, true, IkRoot::Spring(10.0)));
    assert_eq!(body.goals.0, [goal]);
}

/// Bevy's own animation writes the arm in each frame, also where it is paused, and none writes it once it is removed.
#[test]
fn after_an_animation_of_bevy_that_plays_pauses_and_goes() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let arm = bone(&model, &bones, "upper_arm.L");
    let rest = app.world().get::<Transform>(arm).unwrap().rotation;
    let target_id = AnimationTargetId::from_name(&Name::new("upper_arm.L"));
    let keys = [0.0, 0.5, 1.0].map(|time| (time, rest * Quat::from_rotation_x(time)));
    let mut clip = AnimationClip::default();
    let curve = AnimatableKeyframeCurve::new(keys).unwrap();
    clip.add_curve_to_target(target_id, AnimatableCurve::new(animated_field!(Transform::rotation), curve));
    let clip = app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip);
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
    let mut player = AnimationPlayer::default();
    player.play(node).repeat();
    app.world_mut().entity_mut(character).insert((player, AnimationGraphHandle(graph)));
    app.world_mut().entity_mut(arm).insert((target_id, AnimatedBy(character)));
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let handle = (LimbIk { position_influence: 0.5, ..LimbIk::new("hand.L").at(target) }, ChildOf(character));
    app.world_mut().spawn(handle);

    // What the limb is solved from turns with the clip, so that it stands in the binding.
    let mut seen = Vec::new();
    let mut step = |app: &mut bevy_app::App| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        app.update();
        let all = locals(app, &bones);
        seen.push(all[model.skeleton.find("upper_arm.L").unwrap().index()].rotation);
        all
    };
    for _ in 0..20 {
        step(&mut app);
    }
    seen.dedup();
    assert!(seen.len() > 10, "the animation moves: {} poses", seen.len());
    app.world_mut().get_mut::<AnimationPlayer>(character).unwrap().pause_all();
    app.update();
    let paused = locals(&app, &bones);
    for _ in 0..1000 {
        app.update();
    }
    assert_eq!(locals(&app, &bones), paused);
    app.world_mut().entity_mut(character).remove::<AnimationPlayer>();
    for _ in 0..1000 {
        app.update();
    }
    assert_eq!(locals(&app, &bones), paused);
    assert!(app.world().get::<IkBinding>(character).unwrap().is_bound());
}
