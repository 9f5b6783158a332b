//! Creatures that walk by themselves.

mod common;

use bevy_app::App;
use bevy_asset::Assets;
use bevy_ecs::{message::Messages, prelude::*};
use bevy_math::{Quat, Vec3};
use bevy_mesh::{Mesh, Mesh3d};
use bevy_sinew::{
    ChainIk, CreatureReport, CreatureWalk, FootLanded, FootLifted, IkBinding, IkGround, IkLegs, IkReport,
    IkStatus, TargetLost,
};
use bevy_transform::components::Transform;
use common::{DT, at, bone, clocked as app, spawn, to_bevy};
use sinew::{
    Placement, Pose, Workspace,
    body::Legs,
    ground::{
        MeshGround, TriangleMesh,
        walk::{Creature, WalkOptions, Walker},
    },
    math,
};
use sinew_files::{Model, sample};

/// Two slopes that meet in a ridge along x.
fn roof() -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    mesh.push_quad([at(-6.0, 0.0, -4.0), at(-6.0, 0.6, 2.0), at(6.0, 0.6, 2.0), at(6.0, 0.0, -4.0)]);
    mesh.push_quad([at(-6.0, 0.6, 2.0), at(-6.0, 0.0, 8.0), at(6.0, 0.0, 8.0), at(6.0, 0.6, 2.0)]);
    mesh
}

fn ground(app: &mut App, mesh: &TriangleMesh) -> Entity {
    let mesh = to_bevy(mesh);
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut().spawn((Mesh3d(mesh), IkGround, Transform::IDENTITY)).id()
}

fn crawler(app: &mut App, model: &Model, place: Transform, walk: CreatureWalk) -> (Entity, Vec<Entity>) {
    let (character, bones) = spawn(app, model, place);
    app.world_mut().entity_mut(character).insert(walk);
    (character, bones)
}

fn report(app: &App, character: Entity) -> IkReport {
    app.world().get::<IkReport>(character).unwrap().clone()
}

fn place(app: &App, character: Entity) -> Transform {
    *app.world().get::<Transform>(character).unwrap()
}

/// Beside the walker called directly.
#[test]
fn creatures_are_where_the_walker_takes_them() {
    for legs in [4, 6, 8] {
        let mut app = app();
        let model = sample::creature(legs).unwrap();
        ground(&mut app, &roof());
        let start = Transform::from_xyz(0.5, 0.2, 0.0).with_rotation(Quat::from_rotation_y(0.4));
        let walk = CreatureWalk { velocity: Vec3::new(0.05, 0.0, 0.4), turn: 0.15, ..Default::default() };
        let (character, bones) = crawler(&mut app, &model, start, walk);

        let (bind, roof) = (model.bind_pose(), MeshGround::new(roof()).unwrap());
        let skin = model.skin_points(&bind);
        let creature = Creature::new(&bind, &Legs::find(&bind, &skin).unwrap(), &skin).unwrap();
        let walker = Walker::new(&creature, WalkOptions::new()).unwrap();
        let mut state = walker.state(&Placement::new(start.compute_affine().into()).unwrap()).unwrap();
        let (mut workspace, mut pose) = (Workspace::new(), Pose::rest(&model.skeleton));
        let (mut lifted, mut landed) = (0, 0usize);
        for frame in 0..300 {
            app.update();
            let velocity = Vec3::new(0.05, 0.0, 0.4);
            let told = walker.step(&mut state, &mut workspace, &mut pose, &roof, velocity, 0.15, DT).unwrap();
            let status = report(&app, character);
            assert_eq!(status.status, IkStatus::Solved, "{}", status.problem);
            let told_too = app.world().get::<CreatureReport>(character).unwrap();
            assert_eq!(
                (told_too.gait.as_str(), told_too.standing, told_too.pace, told_too.waits_for.is_some()),
                (told.gait.name(), told.standing, told.pace, told.waits.is_some())
            );
            let now = place(&app, character);
            let off = now.translation.distance(told.placement.to_world(Vec3::ZERO));
            let turned = math::angle_between(
                now.rotation,
                told.placement.rotation_to_world(sinew::glam::Quat::IDENTITY),
            );
            assert!(off < 2e-3 && turned < 5e-3, "{legs} legs, frame {frame}: {off} m, {turned} rad");
            for leg in creature.legs() {
                let tip = told.placement.to_world(pose.position(leg.tip));
                let drawn = at(&app, bones[leg.tip.index()]);
                assert!(drawn.distance(tip) < 3e-3, "{legs} legs, frame {frame}: {}", drawn.distance(tip));
            }
            lifted += app.world_mut().resource_mut::<Messages<FootLifted>>().drain().count();
            let feet: Vec<FootLanded> =
                app.world_mut().resource_mut::<Messages<FootLanded>>().drain().collect();
            for FootLanded { contact, .. } in feet {
                landed += 1;
                assert!(contact.surface.is_some() && contact.normal.y > 0.9);
                assert!(at(&app, contact.foot).distance(contact.position) < 0.6);
            }
        }
        assert!(place(&app, character).translation.distance(start.translation) > 1.6);
        assert!(landed > legs as usize && lifted >= landed, "{lifted} lifted, {landed} landed");
    }
}

#[test]
fn it_stands_anew_where_somebody_puts_it_and_turns_to_new_orders() {
    let mut app = app();
    let model = sample::creature(8).unwrap();
    ground(&mut app, &roof());
    let walk = CreatureWalk { velocity: Vec3::Z * 0.4, ..Default::default() };
    let (character, _) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, -2.0), walk);
    for _ in 0..120 {
        app.update();
    }
    let gone = place(&app, character).translation;
    assert!((gone.z - -1.3).abs() < 0.2, "{gone}");
    *app.world_mut().get_mut::<Transform>(character).unwrap() = Transform::from_xyz(3.0, 1.0, 5.0);
    app.update();
    let there = place(&app, character).translation;
    assert!((there.x - 3.0).abs() < 0.01 && (there.z - 5.0).abs() < 0.05 && there.y < 0.6, "{there}");
    // Stopped, it rests.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().velocity = Vec3::ZERO;
    for _ in 0..180 {
        app.update();
    }
    let rest = place(&app, character);
    for _ in 0..30 {
        app.update();
    }
    assert!(rest.translation.distance(place(&app, character).translation) < 1e-4);
    // Higher.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().ride = 1.2;
    for _ in 0..180 {
        app.update();
    }
    assert!(place(&app, character).translation.y > rest.translation.y + 0.04);
    // An option that is none is a sentence.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().ride = 7.0;
    for _ in 0..3 {
        app.update();
    }
    let report = report(&app, character);
    assert_eq!(report.status, IkStatus::Failed);
    assert!(report.problem.contains("ride must be from 0.2 to 2, not 7"), "{}", report.problem);
}

#[test]
fn without_influence_the_legs_are_the_animations_and_without_the_component_they_go_back() {
    let mut app = app();
    let model = sample::creature(6).unwrap();
    ground(&mut app, &roof());
    let walk = CreatureWalk { velocity: Vec3::Z * 0.4, influence: 0.0, ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, -2.0), walk);
    let before = common::locals(&app, &bones);
    for _ in 0..60 {
        app.update();
    }
    assert_eq!(common::locals(&app, &bones), before);
    assert!(place(&app, character).translation.z > -1.9, "the trunk walks");
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().influence = 1.0;
    for _ in 0..30 {
        app.update();
    }
    assert_ne!(common::locals(&app, &bones), before);
    app.world_mut().entity_mut(character).remove::<CreatureWalk>();
    app.update();
    app.update();
    assert_eq!(common::locals(&app, &bones), before);
}

#[test]
fn below_another_entity_it_walks_in_the_world() {
    let mut app = app();
    let model = sample::creature(4).unwrap();
    ground(&mut app, &roof());
    let scaled = Transform::from_xyz(1.0, 0.5, -1.0)
        .with_rotation(Quat::from_rotation_y(1.2))
        .with_scale(Vec3::splat(0.5));
    let parent = app.world_mut().spawn(scaled).id();
    let walk = CreatureWalk { velocity: Vec3::Z * 0.2, ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::from_xyz(0.5, 0.0, 0.0), walk);
    app.world_mut().entity_mut(character).insert(ChildOf(parent));
    app.update();
    let start = at(&app, character);
    for _ in 0..240 {
        app.update();
        assert_eq!(report(&app, character).status, IkStatus::Solved);
    }
    let gone = at(&app, character) - start;
    // Ahead by its heading, which the parent turns.
    let along = Quat::from_rotation_y(1.2) * Vec3::Z;
    assert!(gone.with_y(0.0).distance(along * 0.78) < 0.08, "{gone}");
    assert!((place(&app, character).scale - Vec3::ONE).length() < 1e-6);
    let tip = at(&app, bone(&model, &bones, "leg_1_tip_l"));
    let ground = 0.6 - 0.1 * (tip.z - 2.0).abs();
    assert!((tip.y - ground).abs() < 0.15, "{tip}");
}

#[test]
fn without_ground_or_legs_it_says_so() {
    let mut app = app();
    let model = sample::creature(8).unwrap();
    let (character, _) = crawler(&mut app, &model, Transform::IDENTITY, CreatureWalk::default());
    app.update();
    let lost = report(&app, character);
    assert_eq!(lost.status, IkStatus::Failed);
    assert!(lost.problem.contains("there is no ground under any foot"), "{}", lost.problem);
    // It stands once there is one.
    ground(&mut app, &roof());
    app.update();
    app.update();
    assert_eq!(report(&app, character).status, IkStatus::Solved);
    let (man, _) = crawler(&mut app, &common::mannequin(), Transform::IDENTITY, CreatureWalk::default());
    app.update();
    let none = report(&app, man);
    assert_eq!(none.status, IkStatus::Failed);
    assert!(!none.problem.is_empty());
    assert!(app.world().get::<IkBinding>(man).unwrap().is_bound());
}

#[test]
fn where_the_ground_ends_it_says_which_foot_waits_and_why() {
    let mut app = app();
    let model = sample::creature(6).unwrap();
    ground(&mut app, &roof());
    let walk = CreatureWalk { velocity: Vec3::Z * 0.5, ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, 5.0), walk);
    let told = |app: &App| app.world().get::<CreatureReport>(character).unwrap().clone();
    let mut reasons = 0;
    for _ in 0..900 {
        app.update();
        let told = told(&app);
        if let Some(foot) = told.waits_for.filter(|_| !told.reason.is_empty()) {
            assert!(bones.contains(&foot) && told.pace < 1.0);
            reasons += 1;
        }
        assert!(place(&app, character).translation.z < 8.0);
    }
    assert!(reasons > 300, "{reasons}");
    // A command that no legs can step.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().velocity = Vec3::NEG_Z * 50.0;
    app.update();
    app.update();
    assert!(told(&app).max_speed.is_some_and(|speed| (0.3..5.0).contains(&speed)), "{:?}", told(&app));
}

#[test]
fn odd_orders_and_places_are_sentences_and_leave_the_character() {
    let nan = CreatureWalk { velocity: Vec3::new(f32::NAN, 0.0, 1.0), ..Default::default() };
    let walk = CreatureWalk { velocity: Vec3::Z * 0.3, ..Default::default() };
    let scaled = |scale: Vec3| Transform::from_xyz(0.0, 0.3, 0.0).with_scale(scale);
    for (walk, start, words) in [
        (nan, scaled(Vec3::ONE), "must be finite"),
        (CreatureWalk { influence: 1.5, ..walk.clone() }, scaled(Vec3::ONE), "from 0 to 1, not 1.5"),
        (walk.clone(), scaled(Vec3::new(1.0, 2.0, 1.0)), ""),
        (walk.clone(), scaled(Vec3::splat(1e-20)), ""),
        (walk, scaled(Vec3::ZERO), ""),
    ] {
        let mut app = app();
        let model = sample::creature(6).unwrap();
        ground(&mut app, &roof());
        let (character, bones) = crawler(&mut app, &model, start, walk);
        let before = common::locals(&app, &bones);
        for _ in 0..5 {
            app.update();
        }
        let told = report(&app, character);
        assert_eq!(told.status, IkStatus::Failed, "{start:?}");
        assert!(!told.problem.is_empty() && told.problem.contains(words), "{}", told.problem);
        assert_eq!((place(&app, character), common::locals(&app, &bones)), (start, before));
    }
}

/// On a lift that rises and turns, and that it leaves for the floor at rest.
#[test]
fn it_walks_on_what_carries_it() {
    #[derive(Resource)]
    struct Lift(Entity, f32);
    let mut app = app();
    let model = sample::creature(6).unwrap();
    let mut slab = TriangleMesh::default();
    let at_corner = |x: f32, z: f32| Vec3::new(x, 0.0, z);
    slab.push_quad([at_corner(-3.0, -3.0), at_corner(-3.0, 3.0), at_corner(3.0, 3.0), at_corner(3.0, -3.0)]);
    let lift = ground(&mut app, &slab);
    let walk = CreatureWalk { velocity: Vec3::Z * 0.25, platform: Some(lift), ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::IDENTITY, walk);
    app.insert_resource(Lift(lift, 0.0));
    app.add_systems(bevy_app::Update, |mut lift: ResMut<Lift>, mut all: Query<&mut Transform>| {
        lift.1 += DT;
        let Ok(mut place) = all.get_mut(lift.0) else { return };
        place.translation = Vec3::new(0.4 * lift.1.sin(), 0.8 * (1.0 - (0.9 * lift.1).cos()), 0.0);
        place.rotation = Quat::from_rotation_y(0.5 * lift.1);
    });
    let tips: Vec<Entity> = model
        .skeleton
        .joints()
        .filter(|&joint| model.skeleton.name(joint).contains("_tip_"))
        .map(|joint| bones[joint.index()])
        .collect();
    let (mut last, mut slid): (Vec<Vec3>, f32) = (Vec::new(), 0.0);
    let mut landed = Vec::new();
    for frame in 0..240 {
        app.update();
        let on = place(&app, lift);
        let inside = |at: Vec3| on.rotation.inverse() * (at - on.translation);
        let feet: Vec<Vec3> = tips.iter().map(|&tip| inside(at(&app, tip))).collect();
        assert_eq!(report(&app, character).status, IkStatus::Solved);
        // Half of six feet stand, in the lift's own frame.
        let mut moved: Vec<f32> =
            last.iter().zip(&feet).map(|(a, b): (&Vec3, &Vec3)| a.distance(*b)).collect();
        moved.sort_by(f32::total_cmp);
        slid = slid.max(moved.get(2).copied().unwrap_or(0.0));
        assert!(feet.iter().all(|foot| foot.y > -0.01 && foot.y < 0.3), "frame {frame}: {feet:?}");
        last = feet;
        let mut messages = app.world_mut().resource_mut::<Messages<FootLanded>>();
        landed.extend(messages.drain().map(|FootLanded { contact, .. }| inside(contact.position).y));
    }
    assert!(slid < 1e-3, "{slid} m in a frame");
    assert!(landed.len() > 6 && landed.iter().all(|y| y.abs() < 1e-3), "{landed:?}");
    let on = place(&app, lift);
    let gone = on.rotation.inverse() * (place(&app, character).translation - on.translation);
    assert!((0.7..1.0).contains(&gone.z) && gone.x.abs() < 0.05, "{gone}");
    // What is said to be at rest carries nobody: feet let go of the lift, which sinks away below.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().platform = None;
    app.update();
    assert_eq!(report(&app, character).status, IkStatus::Solved, "{}", report(&app, character).problem);
    assert!(place(&app, character).translation.is_finite());
    // A lift that is despawned is told.
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().platform = Some(lift);
    app.update();
    app.world_mut().despawn(lift);
    app.update();
    let told = report(&app, character);
    assert!(told.status == IkStatus::TargetLost && told.problem.contains("is gone"), "{told:?}");
    let sent: Vec<TargetLost> = app.world_mut().resource_mut::<Messages<TargetLost>>().drain().collect();
    assert_eq!(sent, [TargetLost { character, handle: character, target: lift }]);
}

#[test]
fn tails_trail_by_an_option_that_can_change() {
    let mut app = app();
    let model = sample::creature(6).unwrap();
    ground(&mut app, &roof());
    let walk = CreatureWalk { velocity: Vec3::Z * 0.2, turn: 0.5, trail: 0.3, ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, -2.0), walk);
    let abdomen = bone(&model, &bones, "abdomen");
    let yaw = |app: &App| {
        let rotation = app.world().get::<Transform>(abdomen).unwrap().rotation;
        2.0 * rotation.y.atan2(rotation.w)
    };
    for _ in 0..180 {
        app.update();
    }
    let trailed = yaw(&app);
    assert!(trailed.abs() > 0.1, "{trailed}");
    app.world_mut().get_mut::<CreatureWalk>(character).unwrap().trail = 0.0;
    for _ in 0..3 {
        app.update();
    }
    assert!(yaw(&app).abs() < 1e-3, "{}", yaw(&app));
}

#[test]
fn legs_can_be_given() {
    let mut app = app();
    let model = sample::creature(6).unwrap();
    ground(&mut app, &roof());
    let bind = model.bind_pose();
    let found = Legs::find(&bind, &model.skin_points(&bind)).unwrap();
    let named = |n: usize| {
        let leg = &found.legs[n];
        (model.skeleton.name(leg.root), model.skeleton.name(leg.tip))
    };
    // The front pair is lifted by the game.
    let four = IkLegs::of((2..6).map(named));
    let walk = CreatureWalk { velocity: Vec3::Z * 0.2, legs: four.clone(), ..Default::default() };
    let (character, _) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, -2.0), walk);
    let most = |app: &mut App| {
        let standing = (0..60).map(|_| {
            app.update();
            app.world().get::<CreatureReport>(character).unwrap().standing
        });
        standing.max().unwrap()
    };
    assert_eq!(most(&mut app), 4);
    assert!(place(&app, character).translation.z > -1.95);
    let set = |app: &mut App, legs: IkLegs| {
        app.world_mut().get_mut::<CreatureWalk>(character).unwrap().legs = legs;
    };
    set(&mut app, IkLegs::default());
    assert!(most(&mut app) > 4);
    for (legs, why) in [
        (IkLegs::of([("no_such", "bone"); 4]), "no_such"),
        (IkLegs::of((0..2).map(named)), "legs"),
        (IkLegs::of((0..4).map(named).map(|(root, tip)| (tip, root))), "does not hang below"),
    ] {
        set(&mut app, legs);
        app.update();
        let told = report(&app, character);
        assert!(told.status == IkStatus::Failed && told.problem.contains(why), "{told:?}");
        let walked = app.world().get::<CreatureReport>(character).unwrap();
        assert_eq!(*walked, CreatureReport::default(), "it does not walk");
    }
    set(&mut app, four);
    assert_eq!(most(&mut app), 4);
}

/// What applies after the walk sees the place to which it has moved the character.
#[test]
fn chains_meet_targets_in_the_world_while_it_walks() {
    let mut app = app();
    let model = sample::creature(6).unwrap();
    ground(&mut app, &roof());
    let walk = CreatureWalk { velocity: Vec3::Z * 1.0, turn: 1.0, ..Default::default() };
    let (character, bones) = crawler(&mut app, &model, Transform::from_xyz(0.0, 0.3, -2.0), walk);
    let legs = Legs::find(&model.bind_pose(), &model.skin_points(&model.bind_pose())).unwrap();
    // A front foot reaches for a point in the world, which goes along as the creature was in the frame before.
    let leg = &legs.legs[0];
    let bind = model.bind_pose();
    let [root, tip] = [leg.root, leg.tip].map(|joint| bind.position(joint));
    let foot = bones[leg.tip.index()];
    let target = app.world_mut().spawn(Transform::IDENTITY).id();
    app.world_mut().entity_mut(character).insert(ChainIk {
        root: model.skeleton.name(leg.root).into(),
        tip: model.skeleton.name(leg.tip).into(),
        target: Some(target),
        ..Default::default()
    });
    let (mut furthest, mut frames) = (0.0f32, 0);
    for frame in 0..60 {
        let aim = place(&app, character).transform_point(root + 0.8 * (tip - root));
        app.world_mut().get_mut::<Transform>(target).unwrap().translation = aim;
        let before = place(&app, character).translation;
        app.update();
        if frame > 1 && place(&app, character).translation.distance(before) > 5e-3 {
            frames += 1;
            furthest = furthest.max(at(&app, foot).distance(aim));
        }
    }
    assert!(frames > 30 && furthest < 1e-4, "{frames} frames: {furthest} m");
}
