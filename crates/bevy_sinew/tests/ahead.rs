//! Feet that know the coming animation of Bevy's own players.

mod common;

use std::{sync::Arc, time::Duration};

use bevy_animation::{AnimatedBy, AnimationPlayer};
use bevy_app::{App, Update};
use bevy_asset::{Assets, RenderAssetUsages};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_mesh::{Indices, Mesh, Mesh3d, PrimitiveTopology};
use bevy_sinew::{FootPlanting, IkGround, IkReport, IkStatus};
use bevy_time::TimeUpdateStrategy;
use bevy_transform::components::Transform;
use common::{HEIGHT, at, bone, mannequin, spawn};
use sinew::{
    JointId, Placement, Pose, Skeleton,
    body::{BodyRoles, Side},
    glam::Affine3,
    ground::{
        MeshGround, TriangleMesh,
        plant::{Figure, FootPlanter, PlantOptions},
    },
    motion::{Clip, Track},
};
use sinew_files::Model;

const DT: f32 = 1.0 / 60.0;

/// Stairs of 17 cm up, from 2 m on.
fn stairs() -> TriangleMesh {
    let mut mesh = TriangleMesh::default();
    let mut quad = |near: f32, far: f32, low: f32, high: f32| {
        let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
        mesh.push_quad([at(-3.0, low, near), at(3.0, low, near), at(3.0, high, far), at(-3.0, high, far)]);
    };
    quad(-3.0, 2.0, 0.0, 0.0);
    for n in 0..8 {
        let (z, y) = (2.0 + 0.3 * n as f32, 0.17 * n as f32);
        quad(z, z, y, y + 0.17);
        quad(z, z + 0.3, y + 0.17, y + 0.17);
    }
    quad(4.4, 12.0, 1.36, 1.36);
    // Upwards and towards the walker.
    mesh.triangles.iter_mut().for_each(|corners| corners.swap(1, 2));
    mesh
}

fn to_bevy(mesh: &TriangleMesh) -> Mesh {
    let indices = mesh.triangles.as_flattened().to_vec();
    let positions: Vec<[f32; 3]> = mesh.positions.iter().map(|p| p.to_array()).collect();
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(Indices::U32(indices))
}

#[derive(Resource)]
struct Walk {
    character: Entity,
    /// Metres a second.
    speed: Vec3,
    time: f32,
}

impl Walk {
    fn place(&self, later: f32) -> Placement {
        Placement::new(Affine3::from_translation(self.speed * (self.time + later))).unwrap()
    }
}

/// In place of a game's controller.
fn travel(mut walk: ResMut<Walk>, mut all: Query<&mut Transform>) {
    walk.time += DT;
    all.get_mut(walk.character).unwrap().translation = walk.speed * walk.time;
}

struct Scene {
    app: App,
    model: Arc<Model>,
    character: Entity,
    bones: Vec<Entity>,
    clip: Clip,
}

/// A walk without its travel, as games have it, and its mean velocity.
fn in_place(skeleton: &Skeleton, clip: &Clip, hips: JointId) -> (Clip, Vec3) {
    let mut tracks = clip.tracks().to_vec();
    let track = tracks.iter_mut().find(|tracks| tracks.joint == hips).unwrap();
    let way = track.translation.take().unwrap();
    let (times, mut values) = (way.times().to_vec(), way.values().to_vec());
    let speed = (values[values.len() - 1] - values[0]) / (times[times.len() - 1] - times[0]);
    let speed = Vec3::new(speed.x, 0.0, speed.z);
    for (time, value) in times.iter().zip(&mut values) {
        *value -= speed * *time;
    }
    track.translation = Some(Track::new(times, values, way.interpolation()).unwrap());
    (Clip::new(clip.name(), skeleton, tracks).unwrap(), speed)
}

fn scene(ground: &TriangleMesh) -> Scene {
    let mut app = common::app();
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
    app.update();
    let mesh = app.world_mut().resource_mut::<Assets<Mesh>>().add(to_bevy(ground));
    app.world_mut().spawn((Mesh3d(mesh), IkGround, Transform::IDENTITY));
    let model = Arc::new(mannequin());
    let (character, bones) = spawn(&mut app, &model, Transform::IDENTITY);
    let body = BodyRoles::find(&model.bind_pose(), &[]).unwrap();
    let (clip, speed) = in_place(&model.skeleton, &model.clips[0], body.hips);
    app.insert_resource(Walk { character, speed, time: 0.0 });
    app.add_systems(Update, travel);
    common::play(&mut app, character, &model, &bones, &clip);
    app.world_mut().entity_mut(character).insert(FootPlanting::default());
    Scene { app, model, character, bones, clip }
}

fn report(scene: &Scene) -> IkReport {
    scene.app.world().get::<IkReport>(scene.character).unwrap().clone()
}

/// Up stairs beside the planter itself, which is given the clip and the travel at any time.
#[test]
fn feet_know_what_the_planter_knows_of_the_clip() {
    let mut scene = scene(&stairs());
    let ground = MeshGround::new(stairs()).unwrap();
    let (model, clip) = (scene.model.clone(), scene.clip.clone());
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &[]).unwrap();
    let figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).unwrap();
    let [mut ahead, mut frames] = [0.3, 0.0].map(|seconds| {
        let mut planter = FootPlanter::new(&figure, PlantOptions::default()).unwrap();
        planter.set_look_ahead(seconds).unwrap();
        let feet = planter.state();
        (planter, feet)
    });
    let (mut off, mut apart) = (0.0_f32, 0.0_f32);
    for frame in 0..330 {
        scene.app.update();
        let walk = scene.app.world().resource::<Walk>();
        let (time, placement) = (walk.time, walk.place(0.0));
        if frame == 0 {
            // The first frame does not know its player yet.
            continue;
        }
        assert!((report(&scene).look_ahead - 0.3).abs() < 1e-6, "frame {frame}: {:?}", report(&scene));
        let mut pose = Pose::rest(&model.skeleton);
        let sample = |later: f32, pose: &mut Pose| {
            clip.sample_looped(time + later, pose);
            walk.place(later)
        };
        ahead.0.step_with(&mut ahead.1, &ground, &mut pose, DT, sample).unwrap();
        let mut by_frames = Pose::rest(&model.skeleton);
        clip.sample_looped(time, &mut by_frames);
        let (planter, feet) = (&frames.0, &mut frames.1);
        planter.sense(feet, &ground, &by_frames, &placement).unwrap();
        planter.step(feet, &mut by_frames, &placement, DT).unwrap();
        for side in Side::BOTH {
            let foot = body.leg(side).foot;
            let drawn = at(&scene.app, scene.bones[foot.index()]);
            // At first it does not know how fast it moves.
            if frame > 60 {
                off = off.max(drawn.distance(placement.to_world(pose.position(foot))));
                apart = apart.max(drawn.distance(placement.to_world(by_frames.position(foot))));
            }
        }
    }
    // The clip is kept at 60 Hz, which is that of its keys.
    assert!(off < 1e-5 * HEIGHT, "{off} m from the planter that knows it all");
    assert!(apart > 0.05, "{apart} m from the one that goes by frames");
    let up = at(&scene.app, bone(&model, &scene.bones, "hips")).y;
    assert!(up > 1.8, "{up}");
}

#[test]
fn what_plays_by_other_means_is_planted_by_frames() {
    let mut scene = scene(&stairs());
    (0..30).for_each(|_| scene.app.update());
    assert!(report(&scene).look_ahead > 0.29);
    // A player that pauses is known to stand.
    let mut player = scene.app.world_mut().get_mut::<AnimationPlayer>(scene.character).unwrap();
    player.pause_all();
    (0..30).for_each(|_| scene.app.update());
    assert!(report(&scene).look_ahead > 0.29);
    // By the component's own wish.
    scene.app.world_mut().get_mut::<FootPlanting>(scene.character).unwrap().look_ahead = false;
    (0..3).for_each(|_| scene.app.update());
    assert_eq!(report(&scene).look_ahead, 0.0);
    scene.app.world_mut().get_mut::<FootPlanting>(scene.character).unwrap().look_ahead = true;
    (0..3).for_each(|_| scene.app.update());
    assert!(report(&scene).look_ahead > 0.29);
    // Bones of two players, a player without a graph, and none.
    let other = scene.app.world_mut().spawn_empty().id();
    let foot = bone(&scene.model, &scene.bones, "foot.L");
    scene.app.world_mut().entity_mut(foot).insert(AnimatedBy(other));
    (0..3).for_each(|_| scene.app.update());
    let told = report(&scene);
    assert!(told.look_ahead == 0.0 && told.status == IkStatus::Solved, "{told:?}");
    scene.app.world_mut().entity_mut(foot).insert(AnimatedBy(scene.character));
    (0..3).for_each(|_| scene.app.update());
    assert!(report(&scene).look_ahead > 0.29, "{:?}", report(&scene));
    scene.app.world_mut().entity_mut(scene.character).remove::<AnimationPlayer>();
    (0..3).for_each(|_| scene.app.update());
    let told = report(&scene);
    assert!(told.look_ahead == 0.0 && told.status == IkStatus::Solved, "{told:?}");
}
