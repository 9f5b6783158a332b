//! An excavator that digs: a machine in joint space, with limits and speeds.

use std::f32::consts::PI;

use bevy_app::{App, Update};
use bevy_asset::Assets;
use bevy_color::Srgba;
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_mesh::{Mesh, Mesh3d};
use bevy_sinew::{IkLimits, IkReport, IkSkeleton, MechanismIk};
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{MOVING, Painted, Scene, THING, block, ground};

pub const SCENE: Scene =
    Scene { name: "excavator", build, view: [Vec3::new(8.0, 4.6, 6.0), Vec3::new(0.0, 1.5, 1.8)] };

const YELLOW: Srgba = Srgba::rgb(0.90, 0.65, 0.05);

/// The bones, from the cabin to the bucket: where they are on the one before, and how they move.
pub const BONES: [(&str, Vec3, IkLimits); 4] = [
    ("cabin", Vec3::new(0.0, 0.9, 0.0), IkLimits::hinge(Vec3::Y, -PI, PI).with_speed(0.8)),
    ("boom", Vec3::new(0.0, 0.6, 0.7), IkLimits::hinge(Vec3::X, -0.9, 0.9).with_speed(0.5)),
    ("stick", Vec3::new(0.0, 2.2, 2.6), IkLimits::hinge(Vec3::X, -0.5, 1.7).with_speed(0.7)),
    ("bucket", Vec3::new(0.0, -1.6, 1.3), IkLimits::hinge(Vec3::X, -0.6, 1.9).with_speed(1.2)),
];

/// The teeth, in the bucket's space.
pub const TEETH: Vec3 = Vec3::new(0.0, -0.75, 0.25);

/// Where it digs and where it unloads, in turn.
pub const WAY: [Vec3; 4] = [
    Vec3::new(0.6, 0.1, 4.6),
    Vec3::new(0.3, -0.25, 3.6),
    Vec3::new(0.0, 1.8, 3.4),
    Vec3::new(-3.4, 1.6, 1.6),
];

/// The machine, its bones, and its target.
#[derive(Resource)]
pub struct Digger {
    pub machine: Entity,
    pub bones: Vec<Entity>,
    pub target: Entity,
    /// The point of the way that it goes to.
    pub next: usize,
    /// Points that were reached.
    pub reached: usize,
    since: f32,
}

fn build(app: &mut App) {
    let world = app.world_mut();
    ground(world, Vec3::new(0.0, 0.0, -0.5), Vec3::new(9.0, 0.3, 7.0));
    let target = block(world, Vec3::splat(0.12), Transform::from_translation(WAY[0]), THING);
    let machine = world.spawn((IkSkeleton::default(), Transform::IDENTITY)).id();
    for side in [-1.0, 1.0] {
        let track =
            block(world, Vec3::new(0.5, 0.7, 3.2), Transform::from_xyz(0.85 * side, 0.4, 0.0), MOVING);
        world.entity_mut(track).insert(ChildOf(machine));
    }
    let (mut above, mut bones) = (machine, Vec::new());
    for (n, (name, at, limits)) in BONES.into_iter().enumerate() {
        let place = Transform::from_translation(at);
        above = world.spawn((place, Name::new(name), limits, ChildOf(above))).id();
        bones.push(above);
        let parts: &[(Vec3, Vec3)] = match n {
            0 => &[
                (Vec3::new(1.5, 0.25, 2.2), Vec3::new(0.0, 0.1, -0.2)),
                (Vec3::new(0.7, 1.1, 0.9), Vec3::new(0.4, 0.75, 0.3)),
            ],
            _ => &[],
        };
        for &(size, at) in parts {
            let part = block(world, size, Transform::from_translation(at), YELLOW);
            world.entity_mut(part).insert(ChildOf(above));
        }
        if n == 1 || n == 2 {
            let along = BONES[n + 1].1;
            let turn = Quat::from_rotation_arc(Vec3::Y, along.normalize());
            let arm = Transform::from_translation(along * 0.5).with_rotation(turn);
            let arm = block(world, Vec3::new(0.26, along.length(), 0.32), arm, YELLOW);
            world.entity_mut(arm).insert(ChildOf(above));
        }
        if n == 3 {
            let mesh = world.resource_mut::<Assets<Mesh>>().add(bucket());
            world.spawn((Mesh3d(mesh), Painted(YELLOW), Transform::IDENTITY, ChildOf(above)));
        }
    }
    let tool = Transform::from_translation(TEETH);
    world.entity_mut(machine).insert(MechanismIk::new("bucket").at(target).with_tool(tool));
    app.insert_resource(Digger { machine, bones, target, next: 0, reached: 0, since: 0.0 });
    app.add_systems(Update, dig);
}

/// A wedge from the hinge to the teeth.
fn bucket() -> Mesh {
    let corners = [[0.1, 0.35], [0.1, -0.25], [-0.75, 0.25], [-0.35, 0.55]];
    let mut positions: Vec<[f32; 3]> = Vec::new();
    for x in [-0.45, 0.45] {
        positions.extend(corners.map(|[y, z]| [x, y, z]));
    }
    let sides = [0, 3, 2, 0, 2, 1, 4, 6, 7, 4, 5, 6];
    let around = [0u16, 1, 2, 3].into_iter().flat_map(|n| {
        let (a, b) = (n, (n + 1) % 4);
        [a, b, b + 4, a, b + 4, a + 4]
    });
    let indices: Vec<u16> = sides.into_iter().chain(around).collect();
    Mesh::new(bevy_mesh::PrimitiveTopology::TriangleList, Default::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(bevy_mesh::Indices::U16(indices))
        .with_duplicated_vertices()
        .with_computed_flat_normals()
}

/// Goes to the next point, half a second after the last one was reached.
fn dig(
    mut digger: ResMut<Digger>,
    reports: Query<&IkReport>,
    mut all: Query<&mut Transform>,
    time: Res<Time>,
) {
    let digger = &mut *digger;
    digger.since += time.delta_secs();
    if digger.since > 0.5 && reports.get(digger.machine).is_ok_and(|report| report.reached) {
        digger.since = 0.0;
        digger.reached += 1;
        digger.next = (digger.next + 1) % WAY.len();
        if let Ok(mut target) = all.get_mut(digger.target) {
            target.translation = WAY[digger.next];
        }
    }
}
