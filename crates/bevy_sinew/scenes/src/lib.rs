//! Scenes of bevy_sinew, built on the parts of Bevy that it needs itself. `cargo run --features window --bin scene -- stairs` shows
//! one in a window; the tests drive them without, and draw pictures of them.

pub mod creature;
pub mod crowd;
pub mod excavator;
pub mod figure;
pub mod headset;
pub mod look;
pub mod picture;
pub mod stairs;
pub mod weapon;

use bevy_app::App;
use bevy_asset::Assets;
use bevy_color::Srgba;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_mesh::{Mesh, Mesh3d};
use bevy_shape::prelude::Cuboid;
use bevy_sinew::IkGround;
use bevy_transform::components::Transform;

/// A scene.
#[derive(Clone, Copy)]
pub struct Scene {
    /// Its name.
    pub name: &'static str,
    /// Spawns it, and adds its systems.
    pub build: fn(&mut App),
    /// Where it is seen from, and the middle of what is seen.
    pub view: [Vec3; 2],
}

/// All scenes.
pub const SCENES: [Scene; 7] = [
    stairs::SCENE,
    weapon::SCENE,
    look::SCENE,
    headset::SCENE,
    crowd::SCENE,
    excavator::SCENE,
    creature::SCENE,
];

/// The colour of an entity with a mesh.
#[derive(Component, Clone, Copy)]
pub struct Painted(pub Srgba);

/// Ground.
pub const STONE: Srgba = Srgba::rgb(0.72, 0.72, 0.70);
/// Characters and machines.
pub const BODY: Srgba = Srgba::rgb(0.20, 0.48, 0.70);
/// What they hold, look at or go to.
pub const THING: Srgba = Srgba::rgb(0.84, 0.37, 0.0);
/// What moves by itself.
pub const MOVING: Srgba = Srgba::rgb(0.45, 0.55, 0.45);

/// Spawns a box of this size.
pub fn block(world: &mut World, size: Vec3, place: Transform, color: Srgba) -> Entity {
    let mesh = world.resource_mut::<Assets<Mesh>>().add(Cuboid::from_size(size));
    world.spawn((Mesh3d(mesh), Painted(color), place)).id()
}

/// Spawns a box that feet stand on, by the middle of its top.
pub fn ground(world: &mut World, top: Vec3, size: Vec3) -> Entity {
    let entity = block(world, size, Transform::from_translation(top - Vec3::Y * 0.5 * size.y), STONE);
    world.entity_mut(entity).insert(IkGround);
    entity
}
