//! Characters, targets and components that come and go; bad input.

mod common;

use bevy_app::{App, PostUpdate};
use bevy_asset::Assets;
use bevy_ecs::{message::Messages, prelude::*};
use bevy_math::{Mat4, Quat, Vec3};
use bevy_mesh::skinning::{SkinnedMesh, SkinnedMeshInverseBindposes};
use bevy_sinew::{
    IkBinding, IkBone, IkJoint, IkReport, IkSkeleton, IkStatus, IkSystems, LimbIk, LookAtIk, TargetLost,
};
use bevy_transform::components::Transform;
use common::{Bones, HEIGHT, at, bone, locals, mannequin, spawn};
use sinew::body::{Role, Side};
use sinew_files::Model;

const LEFT: Role = Role::Hand(Side::Left);

fn reaches(app: &App, hand: Entity, target: Entity) {
    let off = at(app, hand).distance(at(app, target));
    assert!(off < 1e-5 * HEIGHT, "{off}");
}

/// A character whose hand reaches a target in the world.
struct Reaching {
    app: App,
    model: Model,
    character: Entity,
    bones: Vec<Entity>,
    /// Transforms of the bones without inverse kinematics.
    before: Vec<Transform>,
    target: Entity,
}

fn reaching() -> Reaching {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let before = locals(&app, &bones);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character)));
    app.update();
    assert_ne!(locals(&app, &bones), before);
    Reaching { app, model, character, bones, before, target }
}

fn report(app: &App, entity: Entity) -> &IkReport {
    app.world().get::<IkReport>(entity).unwrap()
}

#[test]
fn a_target_that_goes_is_told_once_and_the_animation_goes_on() {
    #[derive(Resource, Default)]
    struct Observed(Vec<TargetLost>);
    let model = mannequin();
    let mut app = common::app();
    app.init_resource::<Observed>();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(character).observe(|lost: On<TargetLost>, mut seen: ResMut<Observed>| {
        seen.0.push(*lost.event());
    });
    let before = locals(&app, &bones);
    let ship = app.world_mut().spawn(Transform::IDENTITY).id();
    let target = app.world_mut().spawn((Transform::from_xyz(0.4, 1.3, 0.3), ChildOf(ship))).id();
    let handle = app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id();
    app.update();
    reaches(&app, bone(&model, &bones, "hand.L"), target);
    app.world_mut().entity_mut(ship).despawn();
    for _ in 0..5 {
        app.update();
        assert_eq!(locals(&app, &bones), before);
    }
    assert_eq!(report(&app, handle).status, IkStatus::TargetLost);
    assert!(report(&app, handle).problem.contains(&target.to_string()), "{:?}", report(&app, handle));
    let lost = TargetLost { character, handle, target };
    assert_eq!(app.world().resource::<Observed>().0, [lost]);
    let messages = app.world().resource::<Messages<TargetLost>>();
    assert!(messages.len() <= 1, "{}", messages.len());

    // Another one, and then one without a place.
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.2, 0.3)).id();
    app.world_mut().get_mut::<LimbIk>(handle).unwrap().target = Some(target);
    app.update();
    reaches(&app, bone(&model, &bones, "hand.L"), target);
    app.world_mut().entity_mut(target).remove::<Transform>();
    app.update();
    assert_eq!(locals(&app, &bones), before);
    assert_eq!(app.world().resource::<Observed>().0.len(), 2);
}

#[test]
fn bones_that_are_not_there_are_named_with_those_that_are_near() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let elsewhere = app.world_mut().spawn(Transform::IDENTITY).id();
    let before = locals(&app, &bones);
    for (tip, part) in [
        (IkBone::from("hand_L"), "hand.L"),
        (IkBone::Role("left hnad".into()), "left hand"),
        (IkBone::from(Role::Eye(Side::Left)), "left eye"),
        (IkBone::from(elsewhere), "is not a bone"),
        (IkBone::from("hips"), "no two bones above"),
        (IkBone::default(), "no joint"),
    ] {
        let handle = app
            .world_mut()
            .spawn((LimbIk { tip: tip.clone(), ..LimbIk::new("").at(target) }, ChildOf(character)))
            .id();
        app.update();
        let found = report(&app, handle);
        assert_eq!(found.status, IkStatus::Failed, "{tip}");
        assert!(found.problem.contains(part), "{tip}: {}", found.problem);
        assert_eq!(locals(&app, &bones), before, "{tip}");
        // Mended while it runs.
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().tip = "hand.L".into();
        app.update();
        reaches(&app, bone(&model, &bones, "hand.L"), target);
        assert_eq!(report(&app, handle).problem, "");
        app.world_mut().entity_mut(handle).despawn();
        app.update();
        assert_eq!(locals(&app, &bones), before, "{tip}");
    }
}

#[test]
fn numbers_that_are_none_leave_the_animation() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let handle = app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id();
    let before = locals(&app, &bones);
    app.update();
    let hand = bone(&model, &bones, "hand.L");
    let failed = |app: &mut App, what: &str| {
        app.update();
        assert_eq!(report(app, handle).status, IkStatus::Failed, "{what}");
        assert!(!report(app, handle).problem.is_empty(), "{what}");
    };
    let works = |app: &mut App| {
        app.update();
        reaches(app, hand, target);
    };
    app.world_mut().get_mut::<Transform>(target).unwrap().translation.y = f32::NAN;
    failed(&mut app, "a target");
    assert_eq!(locals(&app, &bones), before);
    app.world_mut().get_mut::<Transform>(target).unwrap().translation.y = 1.3;
    works(&mut app);
    for value in [f32::NAN, -1.0, 2.0] {
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().position_influence = value;
        failed(&mut app, "an influence");
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().position_influence = 1.0;
        works(&mut app);
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().soft = value;
        failed(&mut app, "a soft zone");
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().soft = 0.0;
        works(&mut app);
    }
    let pole = app.world_mut().spawn(Transform::from_xyz(0.3, 3.0, 0.0)).id();
    app.world_mut().get_mut::<LimbIk>(handle).unwrap().pole = Some(pole);
    for value in [f32::NAN, -1.0, 2.0] {
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().pole_influence = value;
        failed(&mut app, "a pole's influence");
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().pole_influence = 1.0;
        works(&mut app);
    }
    // A character whose place is no number has a pose all the same.
    app.world_mut().get_mut::<Transform>(character).unwrap().translation.x = f32::INFINITY;
    failed(&mut app, "a character");
    app.world_mut().get_mut::<Transform>(character).unwrap().translation.x = 0.0;
    works(&mut app);
    // A bone: nothing is written, neither over it nor over others.
    let spine = bone(&model, &bones, "spine");
    app.world_mut().get_mut::<Transform>(spine).unwrap().rotation.x = f32::NAN;
    failed(&mut app, "a bone");
    assert!(report(&app, handle).problem.contains("spine"), "{}", report(&app, handle).problem);
    app.world_mut().get_mut::<Transform>(spine).unwrap().rotation = Quat::IDENTITY;
    works(&mut app);
    // A bone of unequal scale above the limb shears it.
    app.world_mut().get_mut::<Transform>(spine).unwrap().scale = Vec3::new(1.0, 3.0, 1.0);
    app.update();
    assert!(
        report(&app, handle).status == IkStatus::Solved || report(&app, handle).problem.contains("shear"),
        "{:?}",
        report(&app, handle)
    );
}

#[test]
fn components_that_share_a_bone_apply_in_turn() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let [first, second] = [0.3, 0.4].map(|x| app.world_mut().spawn(Transform::from_xyz(x, 1.3, 0.3)).id());
    let handles = [first, second]
        .map(|target| app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id());
    app.update();
    reaches(&app, bone(&model, &bones, "hand.L"), second);
    assert_eq!(report(&app, handles[0]).problem, "");
    assert!(report(&app, handles[1]).problem.contains("`upper_arm.L`"), "{:?}", report(&app, handles[1]));
    assert_eq!(report(&app, handles[1]).status, IkStatus::Solved);
}

#[test]
fn a_character_without_bones_waits_for_them() {
    let model = mannequin();
    let mut app = common::app();
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let character = app.world_mut().spawn((IkSkeleton::default(), LimbIk::new(LEFT).at(target))).id();
    app.update();
    assert!(!app.world().get::<IkBinding>(character).unwrap().is_bound());
    assert_eq!(report(&app, character).status, IkStatus::Idle);
    let bones = common::spawn_bones(app.world_mut(), character, &model, Bones::Skinned);
    app.update();
    reaches(&app, bone(&model, &bones, "hand.L"), target);
}

/// As a scene is reloaded: all below the character goes, and comes anew.
#[test]
fn bones_that_are_respawned_are_bound_anew() {
    let model = mannequin();
    let mut app = common::app();
    let (character, mut bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    app.world_mut().entity_mut(character).insert((LimbIk::new(LEFT).at(target), LookAtIk::at(target)));
    app.update();
    for round in 0..5 {
        app.world_mut().entity_mut(character).despawn_children();
        if round % 2 == 0 {
            app.update();
            assert!(!app.world().get::<IkBinding>(character).unwrap().is_bound());
        }
        bones = common::spawn_bones(app.world_mut(), character, &model, Bones::Skinned);
        app.update();
        reaches(&app, bone(&model, &bones, "hand.L"), target);
        app.update();
        reaches(&app, bone(&model, &bones, "hand.L"), target);
    }
    // A skeleton that comes late, and inverse bind matrices that are reloaded.
    let handle = {
        let mut skins = app.world_mut().query::<&SkinnedMesh>();
        skins.single(app.world()).unwrap().inverse_bindposes.clone()
    };
    let matrices: Vec<Mat4> = bones.iter().map(|_| Mat4::IDENTITY).collect();
    let mut assets = app.world_mut().resource_mut::<Assets<SkinnedMeshInverseBindposes>>();
    assets.insert(&handle, SkinnedMeshInverseBindposes::from(matrices)).unwrap();
    let height = |app: &App| {
        let bind = app.world().get::<IkBinding>(character).unwrap().bind_pose().unwrap().clone();
        bind.position(bind.skeleton().find("head").unwrap()).y
    };
    let before = height(&app);
    app.update();
    app.update();
    assert!(height(&app) < before, "bound by the new matrices: {} {before}", height(&app));
}

/// Between the steps of one frame.
#[test]
fn what_is_despawned_in_mid_frame_is_left_out() {
    #[derive(Resource, Default)]
    struct Doomed(Option<Entity>);
    let model = mannequin();
    for set in [IkSystems::Gather, IkSystems::Look, IkSystems::Limbs, IkSystems::Write, IkSystems::Attach] {
        for what in ["character", "arm", "target", "component"] {
            let mut app = common::app();
            app.init_resource::<Doomed>();
            app.add_systems(
                PostUpdate,
                (|mut doomed: ResMut<Doomed>, mut commands: Commands| {
                    if let Some(entity) = doomed.0.take() {
                        commands.entity(entity).despawn();
                    }
                })
                .before(set)
                .after(IkSystems::Bind),
            );
            let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
            let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
            let handle = app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id();
            app.world_mut().spawn((LookAtIk::at(target), ChildOf(character)));
            app.update();
            let arm = bone(&model, &bones, "forearm.L");
            app.world_mut().resource_mut::<Doomed>().0 = Some(match what {
                "character" => character,
                "arm" => arm,
                "target" => target,
                _ => handle,
            });
            for _ in 0..3 {
                app.update();
            }
            if what == "arm" {
                assert_eq!(report(&app, handle).status, IkStatus::Failed, "before {set:?}");
                let binding = app.world().get::<IkBinding>(character).unwrap();
                assert!(binding.skeleton().unwrap().find("forearm.L").is_none());
            }
        }
    }
}

#[test]
fn spawning_and_despawning_leaves_nothing_behind() {
    let model = mannequin();
    let mut app = common::app();
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    app.update();
    let count = |app: &mut App| app.world_mut().query::<Entity>().iter(app.world()).count();
    let before = count(&mut app);
    let mut shared = None;
    for round in 0..100 {
        let mut spawned = Vec::new();
        for _ in 0..100 {
            let character = app.world_mut().spawn((IkSkeleton::default(), Transform::IDENTITY)).id();
            // Ten bones, so that ten thousand characters take seconds.
            let mut above = character;
            for n in 0..10 {
                let local = Transform::from_xyz(0.0, 0.1, 0.01);
                above = app.world_mut().spawn((local, Name::new(format!("bone {n}")), ChildOf(above))).id();
            }
            app.world_mut().spawn((LimbIk::new("bone 9").at(target), ChildOf(character)));
            spawned.push(character);
        }
        app.update();
        let binding = app.world().get::<IkBinding>(spawned[99]).unwrap();
        let skeleton = binding.skeleton().unwrap().clone();
        // One skeleton for all.
        for &character in &spawned {
            let own = app.world().get::<IkBinding>(character).unwrap().skeleton().unwrap();
            assert!(std::sync::Arc::ptr_eq(own, &skeleton));
        }
        shared = Some(std::sync::Arc::downgrade(&skeleton));
        drop(skeleton);
        for character in spawned {
            app.world_mut().entity_mut(character).despawn();
        }
        app.update();
        assert_eq!(count(&mut app), before, "round {round}");
    }
    assert_eq!(shared.unwrap().strong_count(), 0, "the skeleton is freed with its last character");
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.update();
    assert!(app.world().get::<IkBinding>(character).unwrap().is_bound());
    assert!(app.world().get::<IkJoint>(bones[0]).is_some());
}

#[test]
fn a_character_that_is_none_any_more_gives_its_bones_back() {
    let Reaching { mut app, model, character, bones, before, target } = reaching();
    app.world_mut().entity_mut(character).remove::<IkSkeleton>();
    app.update();
    assert_eq!(locals(&app, &bones), before);
    assert!(app.world().get::<IkBinding>(character).is_none());
    assert!(bones.iter().all(|&bone| app.world().get::<IkJoint>(bone).is_none()));
    app.world_mut().entity_mut(character).insert(IkSkeleton::default());
    app.update();
    reaches(&app, bone(&model, &bones, "hand.L"), target);
}

/// A rider and a mount, each with bones of its own.
#[test]
fn a_character_below_another_is_its_own() {
    let model = mannequin();
    let mut app = common::app();
    let (mount, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let rider = app
        .world_mut()
        .spawn((IkSkeleton::default(), Transform::from_xyz(0.0, 1.0, 0.0), ChildOf(bones[0])))
        .id();
    let its = common::spawn_bones(app.world_mut(), rider, &model, Bones::Skinned);
    let target = app.world_mut().spawn((Transform::from_xyz(0.4, 1.3, 0.3), ChildOf(rider))).id();
    app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(rider)));
    app.update();
    let binding = app.world().get::<IkBinding>(mount).unwrap();
    assert_eq!(binding.skeleton().unwrap().len(), model.skeleton.len());
    assert_eq!(app.world().get::<IkJoint>(its[3]).unwrap().character(), rider);
    reaches(&app, bone(&model, &its, "hand.L"), target);
}

#[test]
fn bones_that_leave_a_character_are_as_the_animation_has_them() {
    let Reaching { mut app, model, bones, before, .. } = reaching();
    let elsewhere = app.world_mut().spawn(Transform::IDENTITY).id();
    app.world_mut().entity_mut(bone(&model, &bones, "upper_arm.L")).insert(ChildOf(elsewhere));
    (0..2).for_each(|_| app.update());
    assert_eq!(locals(&app, &bones), before);
}

#[test]
fn a_bone_may_become_a_character_and_be_a_bone_again() {
    let Reaching { mut app, model, character, bones, before, target } = reaching();
    let (arm, hand) = (bone(&model, &bones, "upper_arm.L"), bone(&model, &bones, "hand.L"));
    let owner = |app: &App| app.world().get::<IkJoint>(hand).map(|joint| joint.character());
    app.world_mut().entity_mut(arm).insert(IkSkeleton::default());
    (0..2).for_each(|_| app.update());
    assert_eq!(owner(&app), Some(arm));
    let outer = app.world().get::<IkBinding>(character).unwrap();
    assert!(outer.skeleton().unwrap().find("hand.L").is_none());
    assert_eq!(locals(&app, &bones), before);
    app.world_mut().entity_mut(arm).remove::<IkSkeleton>();
    (0..2).for_each(|_| app.update());
    assert_eq!(owner(&app), Some(character));
    reaches(&app, hand, target);
}

/// Marks the bones as changed, and leaves them as they are.
fn touch(app: &mut App, bones: &[Entity]) {
    for &bone in bones {
        app.world_mut().get_mut::<Transform>(bone).unwrap().set_changed();
    }
}

#[test]
fn bones_that_are_marked_as_changed_and_did_not_keep_their_animation() {
    let mut scene = reaching();
    let solved = locals(&scene.app, &scene.bones);
    let hand = bone(&scene.model, &scene.bones, "hand.L");
    for frame in 0..6 {
        touch(&mut scene.app, &scene.bones);
        // In the frame of a new component, too, by which other bones are read.
        if frame == 3 {
            let look = LookAtIk::at(scene.target);
            scene.app.world_mut().entity_mut(scene.character).insert(look);
        }
        scene.app.update();
        assert!(frame >= 3 || locals(&scene.app, &scene.bones) == solved, "frame {frame}");
        reaches(&scene.app, hand, scene.target);
    }
    touch(&mut scene.app, &scene.bones);
    scene.app.world_mut().get_mut::<IkSkeleton>(scene.character).unwrap().influence = 0.0;
    scene.app.update();
    assert_eq!(locals(&scene.app, &scene.bones), scene.before);
}

#[test]
fn two_that_hold_each_others_arms_hold_them_where_the_animation_has_them() {
    let model = mannequin();
    let mut app = common::app();
    let turned = Transform::from_xyz(0.1, 0.0, 0.3).looking_to(Vec3::Z, Vec3::Y);
    let (one, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let (other, others) = spawn(&mut app, &model, turned);
    let elbow = bone(&model, &others, "forearm.R");
    // The other's elbow itself, and something on this one's.
    let held = app.world_mut().spawn(Transform::from_xyz(0.0, 0.02, 0.0)).id();
    app.world_mut().entity_mut(held).insert(ChildOf(bone(&model, &bones, "forearm.L")));
    app.update();
    let before = [locals(&app, &bones), locals(&app, &others)];
    let (hands, goals) = (
        [bone(&model, &bones, "hand.L"), bone(&model, &others, "hand.R")],
        [at(&app, elbow), at(&app, held)],
    );
    app.world_mut().spawn((LimbIk::new(LEFT).at(elbow), ChildOf(one)));
    app.world_mut().spawn((LimbIk::new(Role::Hand(Side::Right)).at(held), ChildOf(other)));
    for frame in 0..5 {
        app.update();
        for (hand, goal) in hands.iter().zip(goals) {
            let off = at(&app, *hand).distance(goal);
            assert!(off < 1e-5 * HEIGHT, "frame {frame}: {off}");
        }
    }
    assert!(at(&app, elbow).distance(goals[0]) > 0.05 && at(&app, held).distance(goals[1]) > 0.05);
    for character in [one, other] {
        app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 0.0;
    }
    app.update();
    assert_eq!([locals(&app, &bones), locals(&app, &others)], before);
}

#[test]
fn a_character_without_size_is_told_and_its_animation_goes_on() {
    let mut scene = reaching();
    let handle =
        scene.app.world_mut().query_filtered::<Entity, With<LimbIk>>().single(scene.app.world()).unwrap();
    scene.app.world_mut().get_mut::<Transform>(scene.character).unwrap().scale = Vec3::ZERO;
    scene.app.update();
    assert_eq!(locals(&scene.app, &scene.bones), scene.before);
    let told = report(&scene.app, handle);
    assert_eq!(told.status, IkStatus::Failed);
    let named = told.problem.contains("scale of 0") && told.problem.contains(&scene.character.to_string());
    assert!(named, "{}", told.problem);
    assert!(scene.app.world().resource::<Messages<TargetLost>>().is_empty());
    scene.app.world_mut().get_mut::<Transform>(scene.character).unwrap().scale = Vec3::ONE;
    scene.app.update();
    reaches(&scene.app, bone(&scene.model, &scene.bones, "hand.L"), scene.target);
}
