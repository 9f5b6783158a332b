//! Shows a scene in a window: `cargo run --features window --bin scene -- stairs`.

use bevy::{gizmos::config::GizmoConfigStore, prelude::*};
use bevy_sinew::{IkGizmos, SinewPlugin};
use bevy_sinew_scenes::{Painted, SCENES};

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_else(|| "stairs".into());
    let Some(scene) = SCENES.iter().find(|scene| scene.name == wanted) else {
        let names: Vec<&str> = SCENES.iter().map(|scene| scene.name).collect();
        eprintln!("there is no scene {wanted}; there are {}", names.join(", "));
        std::process::exit(2);
    };
    let mut app = App::new();
    app.add_plugins((DefaultPlugins, SinewPlugin));
    // Bones have no meshes, but hide and show those that hang from them.
    app.register_required_components::<Transform, Visibility>();
    (scene.build)(&mut app);
    let [from, middle] = scene.view;
    app.add_systems(Startup, move |mut commands: Commands, mut gizmos: ResMut<GizmoConfigStore>| {
        commands.spawn((Camera3d::default(), Transform::from_translation(from).looking_at(middle, Vec3::Y)));
        let sun = Transform::from_xyz(3.0, 6.0, 4.0).looking_at(Vec3::ZERO, Vec3::Y);
        commands.spawn((DirectionalLight { shadow_maps_enabled: true, ..default() }, sun));
        let (config, group) = gizmos.config_mut::<IkGizmos>();
        (config.enabled, group.dark) = (true, true);
    });
    app.add_systems(Update, paint);
    app.run();
}

/// Gives painted meshes a material.
fn paint(
    fresh: Query<(Entity, &Painted), Added<Painted>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
    mut commands: Commands,
) {
    for (entity, Painted(color)) in &fresh {
        let material = materials.add(StandardMaterial { base_color: (*color).into(), ..default() });
        commands.entity(entity).insert(MeshMaterial3d(material));
    }
}
