//! A walk up stairs, a jump, and a ride on a platform.

use bevy_animation::AnimationPlayer;
use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::{Quat, Vec3};
use bevy_sinew::{FootPlanting, IkGround};
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{MOVING, Scene, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "stairs", build, view: [Vec3::new(6.5, 2.6, 4.6), Vec3::new(0.0, 1.2, 4.2)] };

/// Steps, their height and depth in metres.
pub const STEPS: (usize, f32, f32) = (6, 0.15, 0.35);
/// Where the stairs begin and where the landing ends.
const BEGIN: f32 = 1.5;
const END: f32 = BEGIN + 6.0 * 0.35 + 1.2;
/// The gap that is jumped over.
const GAP: f32 = 0.7;
/// Seconds in the air.
const AIR: f32 = 0.5;

/// The walker, and what carries it.
#[derive(Resource)]
pub struct Walker {
    pub figure: Entity,
    pub platform: Entity,
    speed: f32,
    /// When it left the ground, and when it came down again.
    pub left: Option<f32>,
    pub landed: Option<f32>,
}

fn build(app: &mut App) {
    let world = app.world_mut();
    ground(world, Vec3::new(0.0, 0.0, 2.5), Vec3::new(3.0, 0.4, 8.0));
    let (count, rise, depth) = STEPS;
    for n in 0..count {
        // Each goes down to the floor, and the last is the landing.
        let (high, near) = (rise * (n + 1) as f32, BEGIN + depth * n as f32);
        let far = if n + 1 == count { END } else { near + depth };
        ground(world, Vec3::new(0.0, high, 0.5 * (near + far)), Vec3::new(2.0, high, far - near));
    }
    let figure = Figure::spawn(world, Transform::IDENTITY);
    let speed = figure.walk(world);
    world.entity_mut(figure.entity).insert(FootPlanting::default());
    let top = rise * count as f32;
    let platform =
        block(world, Vec3::new(2.0, 0.2, 2.0), Transform::from_xyz(0.0, top - 0.1, END + GAP + 1.0), MOVING);
    world.entity_mut(platform).insert(IkGround);
    let figure = figure.entity;
    app.insert_resource(Walker { figure, platform, speed, left: None, landed: None });
    app.add_systems(Update, control);
}

/// The game's controller: it moves the character's entity, whose height does not count on stairs, and says when it is in the air and
/// what carries it.
fn control(
    mut walker: ResMut<Walker>,
    mut all: Query<&mut Transform>,
    mut characters: Query<(&mut FootPlanting, &mut AnimationPlayer)>,
    time: Res<Time>,
) {
    let (now, dt, walker) = (time.elapsed_secs(), time.delta_secs(), &mut *walker);
    let (Ok([mut figure, mut platform]), Ok((mut feet, mut player))) =
        (all.get_many_mut([walker.figure, walker.platform]), characters.get_mut(walker.figure))
    else {
        return;
    };
    let top = STEPS.1 * STEPS.0 as f32;
    if let Some(landed) = walker.landed {
        // Rises and turns, and the character with it.
        let since = now - landed;
        let (rise, turn) = (0.25 * (1.0 - (1.2 * since).cos()), 0.4 * (0.8 * since).sin());
        let before = *platform;
        platform.translation.y = top - 0.1 + rise;
        platform.rotation = Quat::from_rotation_y(turn);
        let moved = platform.compute_affine() * before.compute_affine().inverse();
        *figure = Transform::from_matrix((moved * figure.compute_affine()).into());
        player.pause_all();
        return;
    }
    let z = &mut figure.translation.z;
    *z += walker.speed * dt;
    match walker.left {
        None if *z > END - 0.15 => {
            (walker.left, feet.grounded) = (Some(now), false);
            player.pause_all();
        }
        None => {}
        Some(left) => {
            let share = (now - left) / AIR;
            *z += (1.3 / AIR - walker.speed).max(0.0) * dt;
            figure.translation.y = top + 1.2 * share.clamp(0.0, 1.0) * (1.0 - share.clamp(0.0, 1.0));
            if share >= 1.0 {
                walker.landed = Some(now);
                (feet.grounded, feet.platform) = (true, Some(walker.platform));
                figure.translation.y = top;
            }
        }
    }
}
