//! Hands at their targets, in the frame in which these move.

mod common;

use bevy_app::{PostUpdate, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{IkBinding, IkLayer, IkReport, IkSkeleton, IkStatus, IkSystems, LimbIk};
use bevy_transform::components::Transform;
use common::{Bones, HEIGHT, Random, at, bone, drawn, locals, mannequin, spawn};
use sinew::{
    Goal, Placement, Pole, Pose,
    body::{BodyRoles, Role, Side},
    solve::{LimbOptions, TwoBone},
};

const LEFT: Role = Role::Hand(Side::Left);

#[test]
fn a_hand_is_at_its_target_in_the_same_frame() {
    let model = mannequin();
    let mut random = Random(1);
    for scale in [0.01, 1.0, 100.0] {
        let mut app = common::app();
        let ship = app.world_mut().spawn(Transform::from_scale(Vec3::splat(scale))).id();
        let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
        app.world_mut().entity_mut(character).insert(ChildOf(ship));
        let target = app.world_mut().spawn(Transform::IDENTITY).id();
        app.world_mut().spawn((LimbIk::new(LEFT).at(target).with_rotation(1.0), ChildOf(character)));
        let (hand, shoulder) = (bone(&model, &bones, "hand.L"), bone(&model, &bones, "upper_arm.L"));
        for frame in 0..200 {
            // All of it moves in this frame, within ten heights of the origin.
            let place = Transform::from_translation(random.vector(8.0 * HEIGHT)).with_rotation(random.turn());
            *app.world_mut().get_mut::<Transform>(character).unwrap() = place;
            let rotation = random.turn();
            let shoulder_at = {
                let binding = app.world().get::<IkBinding>(character).unwrap();
                let rest = Pose::rest(&model.skeleton);
                let _ = binding;
                rest.position(model.skeleton.find("upper_arm.L").unwrap())
            };
            let goal = place
                .transform_point(shoulder_at + random.vector(1.0).normalize() * random.within(0.2, 0.45));
            *app.world_mut().get_mut::<Transform>(target).unwrap() =
                Transform::from_translation(goal * scale).with_rotation(rotation);
            app.update();
            let off = at(&app, hand).distance(at(&app, target)) / (HEIGHT * scale);
            assert!(off < 1e-5, "frame {frame}, scale {scale}: {off} of the height");
            let turned = drawn(&app, hand).rotation().angle_between(rotation);
            assert!(turned < 2e-3, "frame {frame}, scale {scale}: {turned} rad");
            assert!(at(&app, shoulder).is_finite());
        }
    }
}

#[test]
fn reports_are_in_world_metres() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::from_scale(Vec3::splat(2.0)));
    let target = app.world_mut().spawn(Transform::from_xyz(9.0, 0.0, 0.0)).id();
    app.world_mut().entity_mut(character).insert(LimbIk::new(LEFT).at(target));
    app.update();
    let report = app.world().get::<IkReport>(character).unwrap();
    let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
    assert_eq!(report.status, IkStatus::Solved);
    assert!(!report.reached && (report.position_residual - off).abs() < 1e-4, "{report:?}, {off}");
    assert!((report.out_of_reach - off).abs() < 1e-3, "{report:?}, {off}");
}

/// The same bits as the engine gives by itself.
#[test]
fn poses_are_those_of_the_engine() {
    let model = mannequin();
    let mut app = common::app();
    let mut random = Random(2);
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let [target, pole] = [(); 2].map(|()| app.world_mut().spawn(Transform::IDENTITY).id());
    let handle = app
        .world_mut()
        .spawn((LimbIk::new(LEFT).at(target).with_pole(pole).with_soft(0.1), ChildOf(character)))
        .id();
    let body = BodyRoles::find(&model.bind_pose(), &[]).unwrap();
    let arm = body.arm(Side::Left).unwrap();
    for _ in 0..50 {
        let (goal, bend) = (random.vector(1.0) + Vec3::Y, random.vector(2.0));
        let influence = random.unit();
        app.world_mut().get_mut::<Transform>(target).unwrap().translation = goal;
        app.world_mut().get_mut::<Transform>(pole).unwrap().translation = bend;
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().position_influence = influence;
        app.update();
        let binding = app.world().get::<IkBinding>(character).unwrap();
        let skeleton = binding.skeleton().unwrap();
        let solver = TwoBone::new(skeleton, arm.upper_arm, arm.forearm, arm.hand).unwrap();
        let mut pose = Pose::rest(skeleton);
        let goal = Goal::position(goal).with_pole(Pole::Point(bend)).with_position_influence(influence);
        solver.solve(&mut pose, &goal, &LimbOptions::new().with_soft(0.1)).unwrap();
        for (joint, local) in skeleton.joints().zip(locals(&app, &bones)) {
            assert_eq!(common::transform(pose.local(joint)), local, "{}", skeleton.name(joint));
        }
    }
}

#[test]
fn an_influence_of_zero_gives_the_animation_back_to_the_bit() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let before = locals(&app, &bones);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let handle = app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id();
    app.update();
    assert_ne!(locals(&app, &bones), before);
    let set = |app: &mut bevy_app::App, change: fn(&mut LimbIk)| {
        change(&mut app.world_mut().get_mut::<LimbIk>(handle).unwrap());
        app.update();
    };
    set(&mut app, |limb| limb.position_influence = 0.0);
    assert_eq!(locals(&app, &bones), before);
    assert_eq!(app.world().get::<IkReport>(handle).unwrap().status, IkStatus::Idle);
    set(&mut app, |limb| limb.position_influence = 1.0);
    assert_ne!(locals(&app, &bones), before);
    app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 0.0;
    app.update();
    assert_eq!(locals(&app, &bones), before);
    app.world_mut().get_mut::<IkSkeleton>(character).unwrap().influence = 1.0;
    app.update();
    assert_ne!(locals(&app, &bones), before);
    app.world_mut().entity_mut(handle).remove::<LimbIk>();
    app.update();
    assert_eq!(locals(&app, &bones), before, "a component that is removed");
}

#[test]
fn nothing_accumulates_without_an_animation() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    let handle = (
        LimbIk { position_influence: 0.5, rotation_influence: 0.3, ..LimbIk::new(LEFT).at(target) },
        ChildOf(character),
    );
    app.world_mut().spawn(handle);
    app.update();
    let first = locals(&app, &bones);
    for _ in 0..1000 {
        app.update();
    }
    assert_eq!(locals(&app, &bones), first);
}

#[test]
fn an_animation_that_plays_on_is_what_is_solved_from() {
    #[derive(Resource)]
    struct Played(Entity, f32);
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let shoulder = bone(&model, &bones, "upper_arm.L");
    let rest = app.world().get::<Transform>(shoulder).unwrap().rotation;
    app.insert_resource(Played(shoulder, 0.0));
    common::animate(&mut app, move |mut played: ResMut<Played>, mut all: Query<&mut Transform>| {
        played.1 += 0.01;
        all.get_mut(played.0).unwrap().rotation = rest * Quat::from_rotation_x(played.1);
    });
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character)));
    let hand = bone(&model, &bones, "hand.L");
    for frame in 1..100 {
        app.update();
        let off = at(&app, hand).distance(at(&app, target));
        assert!(off < 1e-5 * HEIGHT, "frame {frame}: {off}");
        // What the solver started from.
        let binding = app.world().get::<IkBinding>(character).unwrap();
        let skeleton = binding.skeleton().unwrap().clone();
        let body = binding.body().unwrap().unwrap();
        let arm = body.arm(Side::Left).unwrap();
        let mut pose = Pose::rest(&skeleton);
        for joint in skeleton.joints() {
            pose.set_local(joint, *model.skeleton.rest(joint));
        }
        pose.set_rotation(arm.upper_arm, rest * Quat::from_rotation_x(app.world().resource::<Played>().1));
        let solver = TwoBone::new(&skeleton, arm.upper_arm, arm.forearm, arm.hand).unwrap();
        solver.solve(&mut pose, &Goal::position(Vec3::new(0.4, 1.3, 0.3)), &LimbOptions::new()).unwrap();
        assert_eq!(
            common::transform(pose.local(arm.upper_arm)),
            *app.world().get::<Transform>(shoulder).unwrap()
        );
    }
}

/// The left hand holds what is in the right one.
#[test]
fn a_target_on_a_bone_of_the_same_character_has_no_lag() {
    let model = mannequin();
    let mut app = common::app();
    let mut random = Random(3);
    let (character, bones) = spawn(&mut app, &model, Transform::from_xyz(3.0, 0.0, 1.0));
    let [left, right] = ["hand.L", "hand.R"].map(|name| bone(&model, &bones, name));
    let target = app.world_mut().spawn(Transform::IDENTITY).id();
    let weapon = app.world_mut().spawn((Transform::from_xyz(0.0, -0.05, 0.05), ChildOf(right))).id();
    let grip = app.world_mut().spawn((Transform::from_xyz(0.1, 0.0, 0.1), ChildOf(weapon))).id();
    // Spawned first, so that only the layer brings it after the other hand.
    app.world_mut().spawn((LimbIk::new(LEFT).at(grip), IkLayer(1), ChildOf(character)));
    app.world_mut().spawn((LimbIk::new("hand.R").at(target), ChildOf(character)));
    for frame in 0..100 {
        let goal = Vec3::new(3.0, 1.2, 1.3) + random.vector(0.08);
        app.world_mut().get_mut::<Transform>(target).unwrap().translation = goal;
        app.update();
        for (end, goal) in [(right, target), (left, grip)] {
            let off = at(&app, end).distance(at(&app, goal));
            assert!(off < 1e-5 * HEIGHT, "frame {frame}: {off}");
        }
    }
}

#[test]
fn systems_before_and_after_count_as_documented() {
    #[derive(Resource)]
    struct Turn(Entity);
    let model = mannequin();
    for late in [false, true] {
        let mut app = common::app();
        let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
        let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
        app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character)));
        app.insert_resource(Turn(target));
        // A target that moves between the animation and the solve counts in the same frame.
        let moves = |turn: Res<Turn>, mut all: Query<&mut Transform>| {
            all.get_mut(turn.0).unwrap().translation += Vec3::new(0.0, 0.002, 0.0);
        };
        app.add_systems(PostUpdate, moves.after(bevy_app::AnimationSystems).before(IkSystems::Gather));
        let finger = bone(&model, &bones, "hand.L");
        let after = move |mut all: Query<&mut Transform>| {
            if late {
                all.get_mut(finger).unwrap().rotation *= Quat::from_rotation_z(0.1);
            }
        };
        app.add_systems(PostUpdate, after.in_set(IkSystems::Attach));
        for frame in 0..20 {
            app.update();
            let off = at(&app, finger).distance(at(&app, target));
            assert!(off < 1e-5 * HEIGHT, "frame {frame}: {off}");
        }
        // What is turned after the solve is drawn so, and is the animation's in the next frame: it adds up, as it would
        // without inverse kinematics.
        let turned = app.world().get::<Transform>(finger).unwrap().rotation;
        let expected = if late { 2.0 } else { 0.0 };
        let rest = Pose::rest(&model.skeleton).local(model.skeleton.find("hand.L").unwrap()).rotation;
        assert!((turned.angle_between(rest) - expected).abs() < 1e-3, "{}", turned.angle_between(rest));
    }
}

#[test]
fn the_pole_is_followed_by_its_share() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.35, 1.3, 0.25)).id();
    let pole = app.world_mut().spawn(Transform::from_xyz(0.3, 3.0, 0.0)).id();
    let handle =
        app.world_mut().spawn((LimbIk::new(LEFT).at(target).with_pole(pole), ChildOf(character))).id();
    let parts = ["upper_arm.L", "forearm.L", "hand.L"].map(|name| bone(&model, &bones, name));
    let mut elbows = Vec::new();
    for step in 0..=1000 {
        app.world_mut().get_mut::<LimbIk>(handle).unwrap().pole_influence = step as f32 / 1000.0;
        app.update();
        let [shoulder, elbow, hand] = parts.map(|part| at(&app, part));
        assert!(hand.distance(at(&app, target)) < 1e-5 * HEIGHT);
        elbows.push((shoulder, elbow, hand));
    }
    let angle = |from: usize, to: usize| {
        let bend = |(s, e, h): (Vec3, Vec3, Vec3)| {
            let axis = (h - s).normalize();
            (e - s).reject_from(axis)
        };
        bend(elbows[from]).angle_between(bend(elbows[to]))
    };
    let (shoulder, _, hand) = elbows[1000];
    let wanted = (Vec3::new(0.3, 3.0, 0.0) - shoulder).reject_from((hand - shoulder).normalize());
    let at_end = (elbows[1000].1 - shoulder).reject_from((hand - shoulder).normalize()).angle_between(wanted);
    assert!(at_end < 1e-3, "{at_end}");
    let whole = angle(0, 1000);
    assert!(whole > 0.5, "the pole asks for no turn: {whole}");
    for step in 1..=1000 {
        let turned = angle(step - 1, step);
        assert!((turned - whole / 1000.0).abs() < 2e-3, "step {step}: {turned} of {whole}");
    }
}

#[test]
fn bones_are_found_by_skin_by_animation_and_by_name() {
    let model = mannequin();
    for kind in [Bones::Skinned, Bones::Animated, Bones::Named] {
        let mut app = common::app();
        let character = app.world_mut().spawn((IkSkeleton::default(), Transform::IDENTITY)).id();
        let bones = common::spawn_bones(app.world_mut(), character, &model, kind);
        // Something else below it, which is no bone of a skin or an animation.
        let lamp = app.world_mut().spawn((Transform::IDENTITY, ChildOf(bones[0]))).id();
        let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
        app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character)));
        app.update();
        let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
        assert!(off < 1e-5 * HEIGHT, "{kind:?}: {off}");
        let binding = app.world().get::<IkBinding>(character).unwrap();
        assert_eq!(binding.skeleton().unwrap().len(), model.skeleton.len(), "{kind:?}");
        assert!(app.world().get::<bevy_sinew::IkJoint>(lamp).is_none());
        for (joint, &bone) in binding.skeleton().unwrap().joints().zip(&bones) {
            assert_eq!(binding.entity(joint), Some(bone));
            assert_eq!(app.world().get::<bevy_sinew::IkJoint>(bone).unwrap().joint(binding), Some(joint));
        }
    }
}

/// A world that is unequally scaled has no distances of its own, but points in it have a place.
#[test]
fn places_of_unequal_scale_are_met_all_the_same() {
    let model = mannequin();
    let mut app = common::app();
    let scaled = Transform::from_scale(Vec3::new(1.0, 2.0, 0.5)).with_translation(Vec3::new(1.0, 0.0, 2.0));
    let (character, bones) = spawn(&mut app, &model, scaled);
    let target = app.world_mut().spawn(Transform::from_xyz(1.3, 2.4, 2.15)).id();
    let handle = app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character))).id();
    assert!(Placement::new(Transform::from_scale(Vec3::new(1.0, 2.0, 0.5)).compute_affine().into()).is_err());
    app.update();
    let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
    assert!(off < 1e-4, "{off}");
    // What is missed is told in metres of the world, on whichever way.
    for away in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(-1.0, 0.5, 2.0)] {
        app.world_mut().get_mut::<Transform>(target).unwrap().translation = 10.0 * away;
        app.update();
        let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
        let told = app.world().get::<IkReport>(handle).unwrap();
        assert!((told.position_residual - off).abs() < 1e-4 * off, "{} of {off}", told.position_residual);
        assert!((told.out_of_reach - off).abs() < 1e-4 * off, "{} of {off}", told.out_of_reach);
    }
}

#[test]
fn targets_move_in_update_too() {
    let model = mannequin();
    let mut app = common::app();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let target = app.world_mut().spawn(Transform::from_xyz(0.4, 1.3, 0.3)).id();
    app.world_mut().spawn((LimbIk::new(LEFT).at(target), ChildOf(character)));
    app.add_systems(Update, move |mut all: Query<&mut Transform>| {
        all.get_mut(target).unwrap().translation.x -= 0.01;
        all.get_mut(character).unwrap().rotate_y(0.02);
    });
    for _ in 0..30 {
        app.update();
        let off = at(&app, bone(&model, &bones, "hand.L")).distance(at(&app, target));
        assert!(off < 1e-5 * HEIGHT, "{off}");
    }
}
