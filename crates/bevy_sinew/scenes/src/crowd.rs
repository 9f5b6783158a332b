//! A thousand that stand on uneven ground and look at the one who walks past: those far away cost next to nothing.

use bevy_app::{App, Update};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_sinew::{FootPlanting, IkLod, IkViewer, LookAtIk};
use bevy_time::Time;
use bevy_transform::components::Transform;

use crate::{Scene, THING, block, figure::Figure, ground};

pub const SCENE: Scene =
    Scene { name: "crowd", build, view: [Vec3::new(0.0, 4.0, -9.0), Vec3::new(0.0, 0.5, 6.0)] };

/// Characters.
pub const COUNT: usize = 1000;

/// Who is looked at, and all who look.
#[derive(Resource)]
pub struct Crowd {
    pub passer: Entity,
    pub characters: Vec<Entity>,
}

fn build(app: &mut App) {
    let world = app.world_mut();
    for n in 0..20 {
        let (x, z) = ((n % 4) as f32 * 12.0 - 18.0, (n / 4) as f32 * 12.0);
        ground(world, Vec3::new(x, 0.05 * (n % 3) as f32, z), Vec3::new(12.0, 0.4, 12.0));
    }
    let passer = block(world, Vec3::splat(0.25), Transform::from_xyz(0.0, 1.5, -3.0), THING);
    let eye = world.spawn((Transform::from_translation(SCENE.view[0]), IkViewer)).id();
    world.entity_mut(eye).insert(Name::new("where the camera is"));
    let mut characters = Vec::new();
    for n in 0..COUNT {
        let (x, z) = ((n % 25) as f32 * 1.6 - 19.0, (n / 25) as f32 * 1.2);
        // They look towards the camera.
        let place = Transform::from_xyz(x, 0.0, z).looking_to(Vec3::Z, Vec3::Y);
        let figure = Figure::spawn(world, place);
        // Near ones each frame, those beyond 15 m eight times a second.
        let lod = IkLod { distance: 15.0, rate: 8.0 };
        world.entity_mut(figure.entity).insert((FootPlanting::default(), LookAtIk::at(passer), lod));
        characters.push(figure.entity);
    }
    app.insert_resource(Crowd { passer, characters });
    app.add_systems(Update, pass);
}

fn pass(crowd: Res<Crowd>, mut all: Query<&mut Transform>, time: Res<Time>) {
    if let Ok(mut place) = all.get_mut(crowd.passer) {
        place.translation.x = 6.0 * (0.5 * time.elapsed_secs()).sin();
    }
}
