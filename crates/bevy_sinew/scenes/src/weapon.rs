//! A lever that is pulled, and a staff that two hands hold.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    IkLayer, LimbIk, LookAtIk,
    sinew::body::{Role, Side},
};
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{MOVING, Scene, THING, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "weapon", build, view: [Vec3::new(2.2, 1.9, 3.2), Vec3::new(0.0, 1.0, 0.1)] };

/// What moves, and what has to be where.
#[derive(Resource)]
pub struct Props {
    pub lever: Entity,
    pub knob: Entity,
    /// Where the staff's holder swings its right hand.
    pub swing: Entity,
    pub grip: Entity,
    pub staff: Entity,
    /// Hands: at the lever, right and left at the staff.
    pub hands: [Entity; 3],
}

fn build(app: &mut App) {
    let world = app.world_mut();
    ground(world, Vec3::ZERO, Vec3::new(4.0, 0.2, 3.0));

    // The lever turns about its foot; the hand is at its knob, wherever that is in the frame.
    let puller = Figure::spawn(world, Transform::from_xyz(-0.8, 0.0, 0.0));
    let lever = world.spawn(Transform::from_xyz(-0.6, 0.75, 0.27)).id();
    let rod = block(world, Vec3::new(0.03, 0.5, 0.03), Transform::from_xyz(0.0, 0.25, 0.0), MOVING);
    let knob = block(world, Vec3::splat(0.07), Transform::from_xyz(0.0, 0.5, 0.0), THING);
    let stand = block(world, Vec3::new(0.2, 0.75, 0.2), Transform::from_xyz(0.0, -0.375, 0.0), MOVING);
    for part in [rod, knob] {
        world.entity_mut(part).insert(ChildOf(lever));
    }
    world.entity_mut(stand).insert(Transform::from_xyz(-0.6, 0.375, 0.27));
    let pull = LimbIk::new(Role::Hand(Side::Left)).at(knob).with_soft(0.02);
    world.entity_mut(puller.entity).insert((pull, LookAtIk::at(knob)));

    // The staff hangs from the right hand, which swings; the left hand holds it further up, after the right one has moved.
    let holder = Figure::spawn(world, Transform::from_xyz(0.8, 0.0, 0.0));
    let swing = world.spawn(Transform::from_xyz(0.68, 1.12, 0.27)).id();
    let right = holder.bone("hand.R");
    let staff = block(world, Vec3::new(0.035, 1.5, 0.035), Transform::IDENTITY, THING);
    let grip = world.spawn((Transform::from_xyz(0.0, 0.34, 0.0), ChildOf(staff))).id();
    // Upright in a hand that hangs in the target's rotation.
    world.entity_mut(staff).insert((Transform::from_rotation(Quat::from_rotation_z(-0.9)), ChildOf(right)));
    let lead = LimbIk::new(Role::Hand(Side::Right)).at(swing).with_rotation(1.0);
    let follow = LimbIk::new(Role::Hand(Side::Left)).at(grip).with_soft(0.02);
    world.spawn((lead, ChildOf(holder.entity)));
    world.spawn((follow, IkLayer(1), ChildOf(holder.entity)));

    let hands = [puller.bone("hand.L"), right, holder.bone("hand.L")];
    app.insert_resource(Props { lever, knob, swing, grip, staff, hands });
    app.add_systems(Update, play);
}

fn play(props: Res<Props>, mut all: Query<&mut Transform>, time: Res<Time>) {
    let now = time.elapsed_secs();
    if let Ok(mut lever) = all.get_mut(props.lever) {
        lever.rotation = Quat::from_rotation_x(0.35 * (1.7 * now).sin());
    }
    if let Ok(mut swing) = all.get_mut(props.swing) {
        let way = Vec3::new(0.12 * (1.3 * now).sin(), 0.1 * (2.1 * now).sin(), 0.06 * (0.9 * now).cos());
        swing.translation = Vec3::new(0.68, 1.12, 0.27) + way;
        swing.rotation =
            Quat::from_rotation_y(0.3 * (1.1 * now).sin()) * Quat::from_rotation_z(0.4 * now.sin());
    }
}
