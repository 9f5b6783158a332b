//! Feet on the ground, by Bevy's own propagation.

mod common;

use std::sync::Arc;

use bevy_app::{App, Update};
use bevy_asset::{Assets, RenderAssetUsages};
use bevy_ecs::{message::Messages, prelude::*};
use bevy_math::{Quat, Vec3};
use bevy_mesh::{Mesh, Mesh3d, PrimitiveTopology};
use bevy_sinew::{
    FootLanded, FootLifted, FootPlanting, IkBinding, IkGround, IkReport, IkSkeleton, IkSole, IkStatus,
    IkTeleport,
};
use bevy_transform::components::Transform;
use common::{DT, HEIGHT, animate, at, bone, clocked as app, locals, mannequin, spawn, to_bevy};
use sinew::{
    Placement, Pose,
    body::BodyRoles,
    ground::{
        MeshGround, TriangleMesh,
        plant::{Figure, FootPlanter, PlantOptions},
    },
    motion::RootMotion,
};
use sinew_files::Model;

/// A box from -0.5 to 0.5, whose top faces up.
fn slab() -> TriangleMesh {
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z) * 0.5;
    let mut mesh = TriangleMesh::default();
    let [a, b, c, d] = [at(-1.0, 1.0, -1.0), at(-1.0, 1.0, 1.0), at(1.0, 1.0, 1.0), at(1.0, 1.0, -1.0)];
    mesh.push_quad([a, b, c, d]);
    let down = Vec3::NEG_Y;
    for [p, q] in [[a, b], [b, c], [c, d], [d, a]] {
        mesh.push_quad([p, p + down, q + down, q]);
    }
    mesh
}

/// A slab that is ground, of this size, whose top is at `place`.
fn ground(app: &mut App, place: Vec3, size: Vec3) -> Entity {
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(to_bevy(&slab()));
    let transform = Transform::from_translation(place - Vec3::Y * size.y * 0.5).with_scale(size);
    app.world_mut().spawn((Mesh3d(mesh), IkGround, transform)).id()
}

/// Plays the model's first clip in place, and moves the character as the clip travels.
#[derive(Resource)]
struct Walk {
    model: Arc<Model>,
    bones: Vec<Entity>,
    character: Entity,
    clip: sinew::motion::Clip,
    motion: RootMotion,
    time: f32,
    start: Transform,
}

fn walk(mut walk: ResMut<Walk>, mut all: Query<&mut Transform>) {
    walk.time += DT;
    let mut pose = Pose::rest(&walk.model.skeleton);
    walk.clip.sample_looped(walk.time, &mut pose);
    for (joint, &bone) in walk.model.skeleton.joints().zip(&walk.bones) {
        *all.get_mut(bone).unwrap() = common::transform(pose.local(joint));
    }
    let (_, rotation, translation) = walk.motion.at_looped(walk.time).to_scale_rotation_translation();
    *all.get_mut(walk.character).unwrap() =
        walk.start * Transform { translation, rotation, scale: Vec3::ONE };
}

fn walker(app: &mut App, start: Transform) -> (Entity, Vec<Entity>, Arc<Model>) {
    let model = Arc::new(mannequin());
    let (character, bones) = spawn(app, &model, start);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    let rest = Pose::rest(&model.skeleton);
    let body = BodyRoles::find(&model.bind_pose(), &[]).unwrap();
    let (clip, motion) = RootMotion::travel_and_yaw(&model.clips[0], &rest, body.hips).unwrap();
    app.insert_resource(Walk {
        model: model.clone(),
        bones: bones.clone(),
        character,
        clip,
        motion,
        time: 0.0,
        start,
    });
    animate(app, walk);
    (character, bones, model)
}

/// Up a step of 15 cm, beside the planter called directly, with soles from the mesh or, where that is not kept, from the bones or
/// from a setting.
#[test]
fn feet_are_where_the_planter_puts_them() {
    let bones_alone = compared(false, None).legs()[0].sole;
    assert_ne!(bones_alone, compared(true, None).legs()[0].sole, "the mesh says more");
    let set = compared(false, Some(IkSole { height: 0.12, heel: 0.08, tip: 0.21 })).legs()[0].sole;
    assert_ne!(set, bones_alone);
}

/// Soles that are level in the bind pose, `height` below the ankles, from `heel` behind them to `tip` ahead.
fn with_soles(figure: &Figure, bind: &Pose, sole: IkSole) -> Figure {
    let mut legs = figure.legs().to_vec();
    for leg in &mut legs {
        let [ankle, toes] = [leg.foot, leg.toes.unwrap()].map(|joint| bind.position(joint));
        let ahead = (toes - ankle).with_y(0.0).normalize();
        let at = |forwards: f32| ankle + ahead * forwards - Vec3::Y * sole.height;
        let local = |joint, at| bind.model(joint).inverse().transform_point3(at);
        let [heel, ball, tip] = [-sole.heel, (toes - ankle).dot(ahead), sole.tip].map(at);
        for (now, wanted) in [
            (&mut leg.sole.heel, local(leg.foot, heel)),
            (&mut leg.sole.ball, local(leg.foot, ball)),
            (&mut leg.sole.tip, local(leg.toes.unwrap(), tip)),
        ] {
            *now = wanted;
        }
    }
    Figure::new(bind, figure.pelvis(), legs, figure.height()).unwrap()
}

#[test]
fn soles_that_are_none_are_told_and_can_be_mended() {
    let mut app = app();
    ground(&mut app, Vec3::new(0.0, 0.02, 0.0), Vec3::new(8.0, 1.0, 5.0));
    let (character, ..) = walker(&mut app, Transform::IDENTITY);
    let mut set = |sole: IkSole| {
        app.world_mut().get_mut::<FootPlanting>(character).unwrap().sole = Some(sole);
        (0..3).for_each(|_| app.update());
        app.world().get::<IkReport>(character).unwrap().clone()
    };
    let fits = IkSole { height: 0.1, heel: 0.05, tip: 0.2 };
    for wrong in [
        IkSole { height: f32::NAN, ..fits },
        IkSole { height: -0.1, ..fits },
        IkSole { heel: f32::INFINITY, ..fits },
        IkSole { tip: 0.0, ..fits },
        IkSole { heel: 1e30, tip: 1e30, ..fits },
    ] {
        let report = set(wrong);
        assert!(
            report.status == IkStatus::Failed && report.problem.contains("sole"),
            "{wrong:?}: {report:?}"
        );
        assert_eq!(set(fits).status, IkStatus::Solved);
    }
}

fn compared(meshes: bool, sole: Option<IkSole>) -> Figure {
    let mut app = app();
    let (low, high) = (Vec3::new(0.0, 0.02, 0.0), Vec3::new(0.0, 0.17, 4.0));
    let sizes = [Vec3::new(8.0, 1.0, 5.0), Vec3::new(8.0, 1.0, 4.0)];
    ground(&mut app, low, sizes[0]);
    ground(&mut app, high, sizes[1]);
    let (character, bones, model) = walker(&mut app, Transform::IDENTITY);

    let mut both = TriangleMesh::default();
    for (top, size) in [low, high].into_iter().zip(sizes) {
        let place = Transform::from_translation(top - Vec3::Y * size.y * 0.5).with_scale(size);
        both.append(&slab().transformed(&place.compute_affine().into()));
    }
    let both = MeshGround::new(both).unwrap();
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    if !meshes {
        let mut kept = app.world_mut().resource_mut::<Assets<Mesh>>();
        let skins: Vec<_> = kept
            .iter()
            .filter(|(_, mesh)| mesh.primitive_topology() == PrimitiveTopology::PointList)
            .map(|(id, _)| id)
            .collect();
        skins.into_iter().for_each(|id| drop(kept.get_mut(id).unwrap().take_gpu_data()));
    }
    let skin = if meshes { model.skin_points(&bind) } else { Vec::new() };
    let mut figure = Figure::of_body(&bind, &body, &skin).unwrap();
    if let Some(sole) = sole {
        app.world_mut().get_mut::<FootPlanting>(character).unwrap().sole = Some(sole);
        figure = with_soles(&figure, &bind, sole);
    }
    let planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
    let mut feet = planter.state();
    let mut furthest: f32 = 0.0;
    for frame in 0..240 {
        app.update();
        let walk = app.world().resource::<Walk>();
        let mut pose = Pose::rest(&model.skeleton);
        walk.clip.sample_looped(walk.time, &mut pose);
        let place = *app.world().get::<Transform>(character).unwrap();
        let placement = Placement::new(place.compute_affine().into()).unwrap();
        planter.sense(&mut feet, &both, &pose, &placement).unwrap();
        planter.step(&mut feet, &mut pose, &placement, DT).unwrap();
        for (joint, &bone) in model.skeleton.joints().zip(&bones) {
            let wanted = placement.to_world(pose.position(joint));
            let off = at(&app, bone).distance(wanted);
            assert!(off < 1e-5 * HEIGHT, "frame {frame}: {} is {off} m off", model.skeleton.name(joint));
            furthest = furthest.max(off);
        }
    }
    let report = app.world().get::<IkReport>(character).unwrap();
    assert!(report.status == IkStatus::Solved && report.problem.is_empty(), "{report:?}");
    let end = app.world().get::<Transform>(character).unwrap().translation;
    assert!(end.z > 3.0, "it has not come to the step: {end}");
    assert!(at(&app, bone(&model, &bones, "hips")).y > 1.0, "{furthest}");
    figure
}

#[test]
fn landings_and_liftings_are_told() {
    #[derive(Resource, Default)]
    struct Seen(Vec<FootLanded>);
    let mut app = app();
    app.init_resource::<Seen>();
    let floor = ground(&mut app, Vec3::ZERO, Vec3::new(20.0, 0.5, 20.0));
    let (character, bones, model) = walker(&mut app, Transform::from_xyz(0.0, 0.0, -5.0));
    app.world_mut().entity_mut(character).observe(|landed: On<FootLanded>, mut seen: ResMut<Seen>| {
        seen.0.push(*landed.event());
    });
    let (mut landed, mut lifted) = (Vec::new(), Vec::new());
    for _ in 0..300 {
        app.update();
        landed.extend(app.world_mut().resource_mut::<Messages<FootLanded>>().drain());
        lifted.extend(app.world_mut().resource_mut::<Messages<FootLifted>>().drain());
    }
    assert_eq!(app.world().resource::<Seen>().0, landed);
    assert!(landed.len() >= 6 && lifted.len() + 2 >= landed.len(), "{} {}", landed.len(), lifted.len());
    let feet = ["foot.L", "foot.R"].map(|name| bone(&model, &bones, name));
    // At first both feet stand, then they land in turn.
    for pair in landed[2..].windows(2) {
        assert_ne!(pair[0].contact.foot, pair[1].contact.foot);
    }
    for FootLanded { character: whose, contact } in &landed[2..] {
        assert_eq!(*whose, character);
        assert!(feet.contains(&contact.foot));
        assert_eq!(contact.surface, Some(floor));
        assert!(contact.normal.dot(Vec3::Y) > 0.999 && contact.position.y.abs() < 0.05, "{contact:?}");
        assert!(contact.speed > 0.02 && contact.speed < 5.0, "{contact:?}");
    }
}

#[test]
fn in_the_air_and_without_ground_the_animation_goes_on() {
    let mut app = app();
    ground(&mut app, Vec3::new(0.0, 0.1, 0.0), Vec3::new(20.0, 0.5, 20.0));
    let (character, bones, model) = walker(&mut app, Transform::IDENTITY);
    let same = |app: &App| {
        let walk = app.world().resource::<Walk>();
        let mut pose = Pose::rest(&model.skeleton);
        walk.clip.sample_looped(walk.time, &mut pose);
        let animated: Vec<Transform> =
            model.skeleton.joints().map(|j| common::transform(pose.local(j))).collect();
        animated == locals(app, &bones)
    };
    let frames = |app: &mut App, count: usize| (0..count).for_each(|_| app.update());
    frames(&mut app, 30);
    assert!(!same(&app));
    app.world_mut().get_mut::<FootPlanting>(character).unwrap().grounded = false;
    frames(&mut app, 30);
    assert!(same(&app), "in the air");
    app.world_mut().get_mut::<FootPlanting>(character).unwrap().grounded = true;
    frames(&mut app, 30);
    assert!(!same(&app));
    app.world_mut().get_mut::<FootPlanting>(character).unwrap().influence = 0.0;
    frames(&mut app, 1);
    assert!(same(&app), "without influence");
    app.world_mut().get_mut::<FootPlanting>(character).unwrap().influence = 1.0;
    frames(&mut app, 30);
    let grounds: Vec<Entity> =
        app.world_mut().query_filtered::<Entity, With<IkGround>>().iter(app.world()).collect();
    app.world_mut().entity_mut(grounds[0]).despawn();
    // Whoever is over an abyss falls by the game's controller, which then says where it lands.
    app.world_mut().write_message(IkTeleport(character));
    frames(&mut app, 60);
    let report = app.world().get::<IkReport>(character).unwrap();
    assert!(report.problem.is_empty(), "{report:?}");
    let walk = app.world().resource::<Walk>();
    let mut pose = Pose::rest(&model.skeleton);
    walk.clip.sample_looped(walk.time, &mut pose);
    let place = app.world().get::<Transform>(character).unwrap();
    for joint in model.skeleton.joints() {
        let off = at(&app, bones[joint.index()]).distance(place.transform_point(pose.position(joint)));
        assert!(off < 0.02, "{}: {off}", model.skeleton.name(joint));
    }
}

/// Stands still on a lift that rises, turns and stops; the lift is a scaled box.
#[test]
fn feet_stay_on_a_platform_that_moves() {
    #[derive(Resource)]
    struct Lift(Entity, Entity, f32);
    let mut app = app();
    let lift = ground(&mut app, Vec3::ZERO, Vec3::new(3.0, 0.4, 3.0));
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::from_xyz(0.5, 0.0, 0.3));
    app.world_mut()
        .entity_mut(character)
        .insert(FootPlanting { platform: Some(lift), ..FootPlanting::default() });
    app.insert_resource(Lift(lift, character, 0.0));
    app.add_systems(Update, |mut lift: ResMut<Lift>, mut all: Query<&mut Transform>| {
        lift.2 += DT;
        let rise = Vec3::Y * 1.5 * (1.0 - lift.2.cos());
        let turn = Quat::from_rotation_y(0.7 * lift.2);
        let mut place = all.get_mut(lift.0).unwrap();
        (place.translation, place.rotation) = (Vec3::Y * -0.2 + rise, turn);
        // The game's controller carries the character.
        let mut carried = all.get_mut(lift.1).unwrap();
        (carried.translation, carried.rotation) = (rise + turn * Vec3::new(0.5, 0.0, 0.3), turn);
    });
    let feet = ["foot.L", "foot.R"].map(|name| bone(&model, &bones, name));
    let mut first = None;
    for frame in 0..240 {
        app.update();
        let place = *app.world().get::<Transform>(lift).unwrap();
        let on_it = feet.map(|foot| place.rotation.inverse() * (at(&app, foot) - place.translation));
        if frame == 30 {
            first = Some(on_it);
        }
        if let Some(first) = first {
            let slid = (0..2).map(|foot| on_it[foot].distance(first[foot])).fold(0.0, f32::max);
            assert!(slid < 2e-4, "frame {frame}: {slid} m");
        }
    }
}

#[test]
fn teleports_start_anew() {
    let mut app = app();
    ground(&mut app, Vec3::ZERO, Vec3::new(200.0, 0.5, 200.0));
    ground(&mut app, Vec3::new(50.0, 3.0, 0.0), Vec3::new(10.0, 0.5, 10.0));
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    let hips = bone(&model, &bones, "hips");
    (0..60).for_each(|_| app.update());
    let standing = at(&app, hips).y;
    // By a jump.
    app.world_mut().get_mut::<Transform>(character).unwrap().translation = Vec3::new(50.0, 3.0, 0.0);
    app.update();
    assert!((at(&app, hips).y - 3.0 - standing).abs() < 0.01, "{} {standing}", at(&app, hips));
    // By less than that, with a message.
    app.world_mut().get_mut::<Transform>(character).unwrap().translation = Vec3::new(50.5, 3.0, 0.0);
    app.world_mut().write_message(IkTeleport(character));
    app.update();
    let foot = at(&app, bone(&model, &bones, "foot.L"));
    (0..60).for_each(|_| app.update());
    assert!(foot.distance(at(&app, bone(&model, &bones, "foot.L"))) < 0.005, "feet were where they stand");
}

#[test]
fn figures_without_legs_and_ground_without_triangles_are_told() {
    let mut app = app();
    let character = app.world_mut().spawn((IkSkeleton::default(), FootPlanting::default())).id();
    let mut above = character;
    for n in 0..5 {
        above = app
            .world_mut()
            .spawn((Transform::from_xyz(0.0, 0.1, 0.0), Name::new(format!("b{n}")), ChildOf(above)))
            .id();
    }
    app.update();
    let report = app.world().get::<IkReport>(character).unwrap();
    assert!(report.status == IkStatus::Failed && report.problem.contains("no legs"), "{report:?}");

    // Ground that is none: a mesh without triangles, one that only the graphics card has, a place that is no place.
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    let mut gone = to_bevy(&slab());
    gone.take_gpu_data().unwrap();
    let lines = Mesh::new(PrimitiveTopology::LineList, RenderAssetUsages::default());
    for mesh in [gone, lines, to_bevy(&TriangleMesh::default())] {
        let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
        app.world_mut().spawn((Mesh3d(mesh), IkGround));
    }
    let none = ground(&mut app, Vec3::ZERO, Vec3::ZERO);
    // Far larger than f32 can square, and as far away.
    ground(&mut app, Vec3::new(0.0, -1e30, 0.0), Vec3::splat(1e25));
    let mut nowhere = Transform::from_xyz(f32::NAN, 0.0, 0.0);
    nowhere.scale = Vec3::splat(3.0);
    let lost = ground(&mut app, Vec3::ZERO, Vec3::ONE);
    *app.world_mut().get_mut::<Transform>(lost).unwrap() = nowhere;
    let before = locals(&app, &bones);
    (0..10).for_each(|_| app.update());
    assert_eq!(locals(&app, &bones), before);
    // And then one that is.
    app.world_mut().get_mut::<Transform>(lost).unwrap().translation.x = 0.0;
    app.world_mut().entity_mut(none).despawn();
    (0..60).for_each(|_| app.update());
    let binding = app.world().get::<IkBinding>(character).unwrap();
    assert!(binding.is_bound());
    assert_ne!(locals(&app, &bones), before, "1.5 m higher");
}

/// A saddle that others may stand on is no ground for the one that wears it.
#[test]
fn what_a_character_wears_is_no_ground_for_it() {
    let mut app = app();
    ground(&mut app, Vec3::ZERO, Vec3::new(20.0, 0.5, 20.0));
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    let hips = bone(&model, &bones, "hips");
    (0..60).for_each(|_| app.update());
    let before = at(&app, hips);
    let worn = ground(&mut app, Vec3::new(0.0, 0.3, 0.0), Vec3::new(2.0, 0.1, 2.0));
    app.world_mut().entity_mut(worn).insert(ChildOf(bones[0]));
    (0..60).for_each(|_| app.update());
    assert!(at(&app, hips).distance(before) < 1e-4);
    app.world_mut().entity_mut(worn).remove::<ChildOf>();
    (0..60).for_each(|_| app.update());
    assert!(at(&app, hips).y > before.y + 0.1, "{} {before}", at(&app, hips));
}

/// Solved in parallel: each as it is alone, to the bit.
#[test]
fn a_crowd_is_many_characters() {
    let mut crowd = app();
    ground(&mut crowd, Vec3::new(0.0, 0.1, 0.0), Vec3::new(20.0, 0.5, 20.0));
    let model = mannequin();
    let mut all = Vec::new();
    for n in 0..64 {
        let place = Transform::from_xyz(0.0, 0.0, 0.1 * n as f32);
        let (character, bones) = spawn(&mut crowd, &model, place);
        crowd.world_mut().entity_mut(character).insert(FootPlanting::default());
        all.push((place, bones));
    }
    let mut single = app();
    ground(&mut single, Vec3::new(0.0, 0.1, 0.0), Vec3::new(20.0, 0.5, 20.0));
    let (character, bones) = spawn(&mut single, &model, Transform::IDENTITY);
    single.world_mut().entity_mut(character).insert(FootPlanting::default());
    (0..10).for_each(|_| crowd.update());
    for (place, own) in all {
        *single.world_mut().get_mut::<Transform>(character).unwrap() = place;
        single.world_mut().write_message(IkTeleport(character));
        (0..10).for_each(|_| single.update());
        assert_eq!(locals(&crowd, &own), locals(&single, &bones));
    }
}
