//! What inverse kinematics does, as shapes.

mod common;

use bevy_app::App;
use bevy_asset::Assets;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_mesh::{Mesh, Mesh3d};
use bevy_sinew::{
    FootPlanting, IkBinding, IkDraw, IkGround, IkLimits, LimbIk, LookAtIk,
    sinew::draw::{DrawList, Shape, ShapeRole},
};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{at, bone, mannequin, spawn};
use sinew::body::{Role, Side};

const NONE: IkDraw = IkDraw { bones: false, limits: false, goals: false, casts: false, soles: false };

struct Scene {
    app: App,
    character: Entity,
    bones: Vec<Entity>,
    target: Entity,
}

/// A character that looks, reaches and stands, away from the origin.
fn scene(more: impl FnOnce(&mut App)) -> Scene {
    let mut app = common::app_with(more);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(std::time::Duration::from_secs_f32(1.0 / 60.0)));
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::from_xyz(2.0, 0.5, -1.0));
    let target = app.world_mut().spawn(Transform::from_xyz(2.4, 1.7, -0.7)).id();
    let pole = app.world_mut().spawn(Transform::from_xyz(3.0, 1.0, -2.0)).id();
    let limb = LimbIk::new(Role::Hand(Side::Left)).at(target).with_pole(pole);
    app.world_mut().entity_mut(character).insert((limb, LookAtIk::at(target), FootPlanting::default()));
    let elbow = bone(&model, &bones, "forearm.R");
    app.world_mut().entity_mut(elbow).insert(IkLimits::hinge(Vec3::Z, -2.0, 0.1));
    let right =
        app.world_mut().spawn((LimbIk::new(Role::Hand(Side::Right)).at(target), ChildOf(character))).id();
    app.world_mut().entity_mut(right).insert(Transform::IDENTITY);
    let floor = [[-9.0, 0.5, -9.0], [-9.0, 0.5, 9.0], [9.0, 0.5, 9.0], [9.0, 0.5, -9.0]];
    let mesh = Mesh::new(bevy_mesh::PrimitiveTopology::TriangleList, Default::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, floor.to_vec())
        .with_inserted_indices(bevy_mesh::Indices::U16(vec![0, 1, 2, 0, 2, 3]));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut().spawn((Mesh3d(mesh), IkGround, Transform::IDENTITY));
    (0..10).for_each(|_| app.update());
    Scene { app, character, bones, target }
}

/// The shapes of a character, with their points in the world.
fn drawn(scene: &mut Scene, what: IkDraw) -> Vec<(Shape, Vec<Vec3>)> {
    let mut binding = scene.app.world_mut().get_mut::<IkBinding>(scene.character).unwrap();
    let mut list = DrawList::new();
    binding.draw(&what, &mut list);
    let world = binding.world_from_model().unwrap();
    let points =
        |shape: &Shape| list.points(shape).iter().map(|point| world.transform_point3(*point)).collect();
    list.shapes().iter().map(|shape| (shape.clone(), points(shape))).collect()
}

#[test]
fn bones_limits_goals_casts_and_soles_are_drawn_where_they_are() {
    let mut scene = scene(|_| {});
    assert!(drawn(&mut scene, NONE).is_empty());

    // Every bone that is turned ends where it is drawn.
    let bones = drawn(&mut scene, IkDraw { bones: true, ..NONE });
    let marks: Vec<Vec3> = bones
        .iter()
        .filter(|(shape, _)| shape.role == ShapeRole::JointMark)
        .map(|(_, points)| points[0])
        .collect();
    let model = mannequin();
    for name in ["head", "hand.L", "hand.R", "foot.L", "hips"] {
        let bone = at(&scene.app, bone(&model, &scene.bones, name));
        assert!(marks.iter().any(|mark| mark.distance(bone) < 1e-4), "{name}");
    }

    let of = |shapes: &[(Shape, Vec<Vec3>)], role: ShapeRole| -> Vec<Vec3> {
        shapes.iter().filter(|(shape, _)| shape.role == role).flat_map(|(_, points)| points.clone()).collect()
    };
    let goals = drawn(&mut scene, IkDraw { goals: true, ..NONE });
    let crosses = of(&goals, ShapeRole::Goal);
    let middle = crosses.iter().sum::<Vec3>() / crosses.len() as f32;
    assert!(middle.distance(at(&scene.app, scene.target)) < 1e-4, "{middle}");
    assert!(!of(&goals, ShapeRole::Pole).is_empty());
    // The right hand does not come so far: a dashed line goes from it to the target.
    let missed = of(&goals, ShapeRole::Residual);
    let hand = at(&scene.app, bone(&model, &scene.bones, "hand.R"));
    assert!(missed.iter().any(|point| point.distance(hand) < 1e-3), "{missed:?} {hand}");

    let limits = drawn(&mut scene, IkDraw { limits: true, ..NONE });
    let elbow = at(&scene.app, bone(&model, &scene.bones, "forearm.R"));
    assert!(of(&limits, ShapeRole::Limit).iter().all(|point| point.distance(elbow) < 0.2));
    assert!(!of(&limits, ShapeRole::Limit).is_empty());

    let soles = of(&drawn(&mut scene, IkDraw { soles: true, ..NONE }), ShapeRole::Path);
    assert!(soles.len() == 6 && soles.iter().all(|point| (point.y - 0.5).abs() < 5e-3), "{soles:?}");

    // Casts are kept from the next frame on, and they meet the ground.
    let casts = IkDraw { casts: true, ..NONE };
    drawn(&mut scene, casts);
    (0..4).for_each(|_| scene.app.update());
    let hits = of(&drawn(&mut scene, casts), ShapeRole::Hit);
    assert!(hits.len() >= 2 && hits.iter().all(|point| (point.y - 0.5).abs() < 1e-4), "{hits:?}");
    drawn(&mut scene, NONE);
    scene.app.update();
    assert!(drawn(&mut scene, casts).is_empty());
    // Nothing is drawn of what does not apply.
    scene.app.world_mut().get_mut::<bevy_sinew::IkSkeleton>(scene.character).unwrap().influence = 0.0;
    scene.app.update();
    scene.app.update();
    let mut binding = scene.app.world_mut().get_mut::<IkBinding>(scene.character).unwrap();
    let mut list = DrawList::new();
    binding.draw(&IkDraw::default(), &mut list);
    assert!(list.shapes().is_empty());
}

#[cfg(feature = "gizmos")]
#[test]
fn gizmos_are_off_until_they_are_asked_for() {
    use bevy_gizmos::{GizmoAsset, GizmoPlugin, config::GizmoConfigStore};
    let mut scene = scene(|app| _ = app.add_plugins(GizmoPlugin));
    let drawn = |scene: &mut Scene| {
        scene.app.update();
        scene.app.world().resource::<Assets<GizmoAsset>>().iter().count()
    };
    assert_eq!(drawn(&mut scene), 0);
    scene.app.world_mut().resource_mut::<GizmoConfigStore>().config_mut::<bevy_sinew::IkGizmos>().0.enabled =
        true;
    assert_eq!(drawn(&mut scene), 1);
    let (_, group) = scene.app.world().resource::<GizmoConfigStore>().config::<bevy_sinew::IkGizmos>();
    assert!(group.draw.bones);
}
