//! Ground of other sources than meshes: a game's own, and those of physics engines.

mod common;

use std::time::Duration;

use bevy_app::App;
use bevy_asset::{Assets, RenderAssetUsages};
use bevy_ecs::{
    prelude::*,
    system::{SystemParam, SystemParamItem},
};
use bevy_math::Vec3;
use bevy_mesh::{Indices, Mesh, Mesh3d, PrimitiveTopology};
use bevy_sinew::{FootLanded, FootPlanting, GroundParam, IkGround, IkGroundPlugin, IkMeshes};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{HEIGHT, at, mannequin, spawn};
use sinew::ground::{Filter, Hit};

/// A box: its middle, and its size.
type Block = (Vec3, Vec3);

/// A floor, a step under the left foot, and a lower one under the right.
const BLOCKS: [Block; 3] = [
    (Vec3::new(0.0, -0.5, 0.0), Vec3::new(20.0, 1.0, 20.0)),
    (Vec3::new(1.01, 0.06, 0.0), Vec3::new(2.0, 0.12, 2.0)),
    (Vec3::new(-1.01, 0.02, 0.0), Vec3::new(2.0, 0.04, 2.0)),
];

fn app(more: impl FnOnce(&mut App)) -> App {
    let mut app = common::app_with(|app| {
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(1.0 / 60.0)));
        more(app);
    });
    app.update();
    app
}

/// The character, its bones, and what was told of landings, after half a second.
fn stands(app: &mut App) -> (Entity, Vec<Vec3>) {
    let model = mannequin();
    let (character, bones) = spawn(app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    (0..30).for_each(|_| app.update());
    (character, bones.iter().map(|&bone| at(app, bone)).collect())
}

/// Spawns the top of a block as ground: what is cast straight down meets nothing else.
fn top(app: &mut App, (middle, size): Block) {
    let half = size * 0.5;
    let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, 1.0), (1.0, -1.0)];
    let corners: Vec<[f32; 3]> = corners.map(|(x, z)| [x * half.x, half.y, z * half.z]).to_vec();
    let mesh = Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
        .with_inserted_indices(Indices::U16(vec![0, 1, 2, 0, 2, 3]));
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh);
    app.world_mut().spawn((Mesh3d(mesh), IkGround, Transform::from_translation(middle)));
}

/// On meshes.
fn on_meshes() -> Vec<Vec3> {
    let mut app = app(|_| {});
    BLOCKS.into_iter().for_each(|block| top(&mut app, block));
    stands(&mut app).1
}

fn same(now: &[Vec3], wanted: &[Vec3]) {
    let off = now.iter().zip(wanted).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(off < 1e-4 * HEIGHT, "{off} m");
    // And it is no flat floor.
    let [left, right] = ["foot.L", "foot.R"].map(|name| mannequin().skeleton.find(name).unwrap());
    let apart = wanted[left.index()].y - wanted[right.index()].y;
    assert!((apart - 0.08).abs() < 0.01, "{apart}");
}

/// Ground by a formula.
#[derive(Resource)]
struct Blocks(Vec<Block>);

#[derive(SystemParam)]
struct Formula<'w>(Res<'w, Blocks>);

impl GroundParam for Formula<'static> {
    fn cast_ray(
        blocks: &SystemParamItem<Self>,
        character: Entity,
        origin: Vec3,
        direction: Vec3,
        reach: f32,
        _: &Filter,
    ) -> Option<Hit> {
        let tops = blocks.0.0.iter().enumerate().filter_map(|(n, (middle, size))| {
            let distance = (middle.y + 0.5 * size.y - origin.y) / direction.y;
            let point = origin + direction * distance;
            let inside = ((point - middle).abs() * 2.0).cmple(*size + 1e-4).all();
            let hits = inside && (0.0..=reach).contains(&distance);
            // The first one bears the character's own name, to be told from others.
            let hit = Hit::new(distance, point, Vec3::Y);
            hits.then(|| if n == 1 { hit.with_body(character.to_bits()) } else { hit })
        });
        tops.min_by(|a, b| a.distance.total_cmp(&b.distance))
    }
}

#[test]
fn a_ground_of_ones_own_is_stood_on() {
    #[derive(Resource, Default)]
    struct Seen(Vec<Option<Entity>>);
    let wanted = on_meshes();
    let mut first = app(|app| {
        app.add_plugins(IkGroundPlugin::<Formula>::default())
            .insert_resource(Blocks(BLOCKS.to_vec()))
            .init_resource::<Seen>()
            .add_observer(|landed: On<FootLanded>, mut seen: ResMut<Seen>| {
                seen.0.push(landed.event().contact.surface);
            });
    });
    let (character, now) = stands(&mut first);
    same(&now, &wanted);
    assert!(first.world().resource::<Seen>().0.contains(&Some(character)));
    // Meshes do not count then, unless both are asked for: here the blocks are the floor alone.
    let mut both = app(|app| {
        app.add_plugins(IkGroundPlugin::<(IkMeshes, Formula)>::default())
            .insert_resource(Blocks(BLOCKS[..1].to_vec()));
    });
    BLOCKS[1..].iter().for_each(|block| top(&mut both, *block));
    same(&stands(&mut both).1, &wanted);
}

/// Colliders that do not count: one that the character wears, one that is marked, a sensor.
#[cfg(any(feature = "avian", feature = "rapier"))]
const OTHERS: [Block; 3] = [
    (Vec3::new(0.0, 0.9, 0.0), Vec3::new(0.6, 1.8, 0.6)),
    (Vec3::new(0.1, 0.3, 0.05), Vec3::new(0.3, 0.1, 0.4)),
    (Vec3::new(-0.1, 0.4, 0.0), Vec3::new(0.3, 0.1, 0.4)),
];

#[cfg(feature = "avian")]
#[test]
fn the_colliders_of_avian_are_stood_on() {
    use avian3d::prelude::*;
    let mut app = app(|app| {
        app.add_plugins((PhysicsPlugins::default(), IkGroundPlugin::<bevy_sinew::AvianGround>::default()));
    });
    let block = |(middle, size): Block| {
        (RigidBody::Static, Collider::cuboid(size.x, size.y, size.z), Transform::from_translation(middle))
    };
    BLOCKS.map(|of| app.world_mut().spawn(block(of)).id());
    let [worn, marked, sensor] = OTHERS.map(|of| app.world_mut().spawn(block(of)).id());
    app.world_mut().entity_mut(marked).insert(bevy_sinew::IkNotGround);
    app.world_mut().entity_mut(sensor).insert(Sensor);
    (0..5).for_each(|_| app.update());
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(worn).insert(ChildOf(character));
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    (0..30).for_each(|_| app.update());
    let now: Vec<Vec3> = bones.iter().map(|&bone| at(&app, bone)).collect();
    same(&now, &on_meshes());
}

#[cfg(feature = "rapier")]
#[test]
fn the_colliders_of_rapier_are_stood_on() {
    use bevy_rapier3d::prelude::*;
    let mut app = app(|app| {
        app.add_plugins((
            RapierPhysicsPlugin::<NoUserData>::default(),
            IkGroundPlugin::<bevy_sinew::RapierGround>::default(),
        ));
    });
    let block = |(middle, size): Block| {
        let half = size * 0.5;
        (RigidBody::Fixed, Collider::cuboid(half.x, half.y, half.z), Transform::from_translation(middle))
    };
    BLOCKS.map(|of| app.world_mut().spawn(block(of)).id());
    let [worn, marked, sensor] = OTHERS.map(|of| app.world_mut().spawn(block(of)).id());
    app.world_mut().entity_mut(marked).insert(bevy_sinew::IkNotGround);
    app.world_mut().entity_mut(sensor).insert(Sensor);
    (0..5).for_each(|_| app.update());
    let model = mannequin();
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    app.world_mut().entity_mut(worn).insert(ChildOf(character));
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    (0..30).for_each(|_| app.update());
    let now: Vec<Vec3> = bones.iter().map(|&bone| at(&app, bone)).collect();
    same(&now, &on_meshes());
}
