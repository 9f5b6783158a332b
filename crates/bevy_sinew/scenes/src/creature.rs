//! A creature with eight legs walks over slabs by itself, after a ball that rolls ahead of it.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{CreatureWalk, IkGround};
use bevy_time::Time;
use bevy_transform::components::Transform;
use sinew_files::sample;

use crate::{BODY, STONE, Scene, THING, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "creature", build, view: [Vec3::new(2.9, 2.1, 3.3), Vec3::new(0.2, 0.1, 0.3)] };

/// The creature, its feet and what it goes after.
#[derive(Resource)]
pub struct Chase {
    pub creature: Entity,
    pub feet: Vec<Entity>,
    pub ball: Entity,
}

/// Radius of the ball's way, in metres, and its speed in rad/s.
const WAY: f32 = 1.5;
const ROLLS: f32 = 0.2;
/// Distance at which the creature keeps behind it, and its largest speed, in metres and m/s.
const BEHIND: f32 = 0.8;
const SPEED: f32 = 0.45;

fn build(app: &mut App) {
    let world = app.world_mut();
    for n in 0..36 {
        let at = Vec3::new((n % 6) as f32 - 2.5, 0.0, (n / 6) as f32 - 2.5);
        ground(world, at, Vec3::new(1.0, 0.1, 1.0));
    }
    // Slabs that lie about on the way, each turned and tilted a little.
    for n in 0..14 {
        let n = n as f32;
        let (angle, far) = (2.4 * n, WAY + 0.35 * (1.7 * n).sin());
        let turned = Quat::from_rotation_y(1.1 * n)
            * Quat::from_rotation_x(0.16 * (2.3 * n).sin())
            * Quat::from_rotation_z(0.14 * (3.1 * n).cos());
        let at = Vec3::new(far * angle.sin(), 0.02 + 0.02 * (1.3 * n).sin(), far * angle.cos());
        let place = Transform::from_translation(at).with_rotation(turned);
        let slab = block(world, Vec3::new(0.6, 0.12, 0.5), place, STONE);
        world.entity_mut(slab).insert(IkGround);
    }
    let model = sample::creature(8).expect("the engine's own creature");
    let start = Transform::from_xyz(WAY * (-0.6f32).sin(), 0.0, WAY * (-0.6f32).cos())
        .with_rotation(Quat::from_rotation_y(0.97));
    let figure = Figure::of(world, &model, start);
    for (bone, size, at) in [
        ("trunk", Vec3::new(0.2, 0.13, 0.72), Vec3::ZERO),
        ("abdomen", Vec3::new(0.24, 0.2, 0.4), Vec3::new(0.0, 0.03, -0.18)),
        ("head", Vec3::new(0.14, 0.11, 0.16), Vec3::new(0.0, 0.0, 0.05)),
    ] {
        let shape = block(world, size, Transform::from_translation(at), BODY);
        world.entity_mut(shape).insert(ChildOf(figure.bone(bone)));
    }
    world.entity_mut(figure.entity).insert(CreatureWalk::default());
    let tip = |(name, bone): &(String, Entity)| name.contains("_tip_").then_some(*bone);
    let feet = figure.bones.iter().filter_map(tip).collect();
    let ball = block(world, Vec3::splat(0.16), Transform::IDENTITY, THING);
    app.insert_resource(Chase { creature: figure.entity, feet, ball });
    app.add_systems(Update, chase);
}

/// The game's part: where the creature wants to go, in its own frame.
fn chase(
    chase: Res<Chase>,
    mut places: Query<&mut Transform>,
    mut walks: Query<&mut CreatureWalk>,
    time: Res<Time>,
) {
    let angle = ROLLS * time.elapsed_secs();
    let to = Vec3::new(WAY * angle.sin(), 0.3, WAY * angle.cos());
    if let Ok(mut ball) = places.get_mut(chase.ball) {
        *ball = Transform::from_translation(to).with_rotation(Quat::from_rotation_x(4.0 * angle));
    }
    let (Ok(place), Ok(mut walk)) = (places.get(chase.creature), walks.get_mut(chase.creature)) else {
        return;
    };
    let seen = place.rotation.inverse() * (to - place.translation);
    let far = Vec3::new(seen.x, 0.0, seen.z).length();
    walk.turn = (1.2 * seen.x.atan2(seen.z)).clamp(-0.7, 0.7);
    walk.velocity = Vec3::Z * (far - BEHIND).clamp(0.0, SPEED);
}
