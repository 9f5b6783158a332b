//! Eyes on a ball that flies about.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_sinew::LookAtIk;
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{Scene, THING, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "look", build, view: [Vec3::new(1.6, 1.8, 3.4), Vec3::new(0.0, 1.0, 0.0)] };

/// The ball, and who looks at it.
#[derive(Resource)]
pub struct Ball {
    pub ball: Entity,
    pub characters: Vec<Entity>,
    pub heads: Vec<Entity>,
}

fn build(app: &mut App) {
    let world = app.world_mut();
    ground(world, Vec3::ZERO, Vec3::new(4.0, 0.2, 3.0));
    let ball = block(world, Vec3::splat(0.12), Transform::IDENTITY, THING);
    let (mut characters, mut heads) = (Vec::new(), Vec::new());
    for x in [-1.0, 0.0, 1.0] {
        let figure = Figure::spawn(world, Transform::from_xyz(x, 0.0, 0.0));
        world.entity_mut(figure.entity).insert(LookAtIk::at(ball));
        characters.push(figure.entity);
        heads.push(figure.bone("head"));
    }
    app.insert_resource(Ball { ball, characters, heads });
    app.add_systems(Update, fly);
}

fn fly(ball: Res<Ball>, mut all: Query<&mut Transform>, time: Res<Time>) {
    let now = time.elapsed_secs();
    if let Ok(mut place) = all.get_mut(ball.ball) {
        place.translation = Vec3::new(0.9 * (0.9 * now).sin(), 1.5 + 0.4 * (1.3 * now).sin(), 1.6);
    }
}
