//! A whole body led by a headset and two controllers.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    FullBodyIk, IkGoal,
    sinew::body::{Role, Side},
};
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{Scene, THING, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "headset", build, view: [Vec3::new(2.4, 1.5, 2.6), Vec3::new(0.0, 0.9, 0.1)] };

/// Headset, left and right controller, and the bones that go to them.
#[derive(Resource)]
pub struct Devices {
    pub devices: [Entity; 3],
    pub bones: [Entity; 3],
    pub feet: [Entity; 2],
}

fn build(app: &mut App) {
    let world = app.world_mut();
    ground(world, Vec3::ZERO, Vec3::new(2.4, 0.2, 2.4));
    let figure = Figure::spawn(world, Transform::IDENTITY);
    let devices = [(); 3].map(|()| world.spawn(Transform::IDENTITY).id());
    // What is seen of them is before the eyes, and in the hands.
    for (device, size, at) in [
        (devices[0], Vec3::new(0.2, 0.08, 0.05), Vec3::new(0.0, 0.11, 0.15)),
        (devices[1], Vec3::splat(0.06), Vec3::ZERO),
        (devices[2], Vec3::splat(0.06), Vec3::ZERO),
    ] {
        let seen = block(world, size, Transform::from_translation(at), THING);
        world.entity_mut(seen).insert(ChildOf(device));
    }
    let body = FullBodyIk::new([
        IkGoal::new(Role::Head, devices[0]).with_rotation(1.0),
        IkGoal::new(Role::Hand(Side::Left), devices[1]),
        IkGoal::new(Role::Hand(Side::Right), devices[2]),
    ]);
    world.entity_mut(figure.entity).insert(body);
    let bones = ["head", "hand.L", "hand.R"].map(|name| figure.bone(name));
    let feet = ["foot.L", "foot.R"].map(|name| figure.bone(name));
    app.insert_resource(Devices { devices, bones, feet });
    app.add_systems(Update, play);
}

/// In place of a person: crouches, reaches and turns its head.
fn play(devices: Res<Devices>, mut all: Query<&mut Transform>, time: Res<Time>) {
    let now = time.elapsed_secs();
    let crouch = 0.5 - 0.5 * (0.8 * now).cos();
    let [head, left, right] = devices.devices;
    let mut put = |entity: Entity, at: Vec3, turn: Quat| {
        if let Ok(mut place) = all.get_mut(entity) {
            *place = Transform::from_translation(at).with_rotation(turn);
        }
    };
    let gaze = Quat::from_rotation_y(0.4 * (1.1 * now).sin()) * Quat::from_rotation_x(0.35 * crouch);
    put(head, Vec3::new(0.03 * now.sin(), 1.52 - 0.35 * crouch, 0.03 + 0.12 * crouch), gaze);
    let reach = 0.5 + 0.5 * (1.4 * now).sin();
    put(left, Vec3::new(0.28, 1.0 - 0.3 * crouch, 0.25 + 0.25 * reach), Quat::IDENTITY);
    put(right, Vec3::new(-0.3, 0.95 + 0.25 * reach - 0.3 * crouch, 0.3), Quat::IDENTITY);
}
