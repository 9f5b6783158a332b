//! Times bevy_mod_inverse_kinematics 0.12 on the scene of the lab's `bevy`: 1,000 figures of 57 joints that are animated in each frame,
//! with one arm each. Prints the microseconds an arm of its system alone, and how far hands are from their targets: for targets that
//! move smoothly, and for those that are elsewhere in each frame.

use std::time::{Duration, Instant};

use bevy::{ecs::schedule::SingleThreadedExecutor, prelude::*, transform::TransformPlugin};
use bevy_mod_inverse_kinematics::{IKSolverSystemSet, IkConstraint, InverseKinematicsPlugin};

/// As in the lab's `bevy`.
const CHARACTERS: usize = 1000;
const FRAMES: usize = 60;
const ROUNDS: usize = 7;

#[derive(Resource, Default)]
struct Clock {
    begun: Option<Instant>,
    spent: Duration,
}

#[derive(Resource)]
struct Moves {
    bones: Vec<Entity>,
    targets: Vec<(Entity, Vec3)>,
    hands: Vec<(Entity, Entity)>,
    time: f32,
    leaps: bool,
}

/// The figure of the lab's `bevy`. Returns its left hand.
fn figure(world: &mut World, character: Entity, bones: &mut Vec<Entity>) -> Entity {
    let mut add = |world: &mut World, parent: Entity, x: f32, y: f32, z: f32| {
        let bone = world.spawn((Transform::from_xyz(x, y, z), ChildOf(parent))).id();
        bones.push(bone);
        bone
    };
    let root = add(world, character, 0.0, 0.0, 0.0);
    let hips = add(world, root, 0.0, 0.94, 0.0);
    let mut spine = hips;
    for _ in 1..=3 {
        spine = add(world, spine, 0.0, 0.13, 0.0);
    }
    let neck = add(world, spine, 0.0, 0.15, 0.0);
    let head = add(world, neck, 0.0, 0.1, 0.02);
    add(world, head, 0.0, 0.02, 0.04);
    let mut left = head;
    for s in [1.0, -1.0] {
        add(world, head, 0.03 * s, 0.09, 0.08);
        let clavicle = add(world, spine, 0.03 * s, 0.1, 0.0);
        let upper = add(world, clavicle, 0.15 * s, 0.0, 0.0);
        let fore = add(world, upper, 0.28 * s, 0.0, -0.01);
        let hand = add(world, fore, 0.26 * s, 0.0, 0.02);
        if s > 0.0 {
            left = hand;
        }
        for finger in 0..5 {
            let mut above = hand;
            for n in 0..3 {
                let z = if n == 0 { 0.02 * (finger as f32 - 2.0) } else { 0.0 };
                above = add(world, above, 0.04 * s, 0.0, z);
            }
        }
        let thigh = add(world, hips, 0.09 * s, -0.035, 0.0);
        let shin = add(world, thigh, 0.003 * s, -0.42, 0.022);
        let foot = add(world, shin, 0.0, -0.4, -0.048);
        add(world, foot, 0.0, -0.059, 0.135);
    }
    left
}

/// Bones are animated and targets move, as in the lab's `bevy`.
fn animate(mut moves: ResMut<Moves>, mut all: Query<&mut Transform>) {
    let moves = &mut *moves;
    moves.time += 1.0 / 60.0;
    let turn = Quat::from_rotation_x(0.05 * moves.time.sin());
    for &bone in &moves.bones {
        if let Ok(mut transform) = all.get_mut(bone) {
            transform.rotation = turn;
        }
    }
    // Smoothly, or elsewhere in each frame.
    let time = if moves.leaps { 97.0 * moves.time } else { moves.time };
    let size = if moves.leaps { 0.15 } else { 0.05 };
    let way = Vec3::new(time.cos(), (1.3 * time).sin(), 0.0) * size;
    for &(target, start) in &moves.targets {
        if let Ok(mut transform) = all.get_mut(target) {
            transform.translation = start + way;
        }
    }
}

fn begin(mut clock: ResMut<Clock>) {
    clock.begun = Some(Instant::now());
}

fn end(mut clock: ResMut<Clock>) {
    if let Some(begun) = clock.begun.take() {
        clock.spent += begun.elapsed();
    }
}

fn main() {
    let [smooth, leaps] = [false, true].map(times);
    println!("{:.3} {:.5} {:.3} {:.5}", smooth.0, smooth.1, leaps.0, leaps.1);
}

/// Microseconds an arm, and the furthest hand from its target.
fn times(leaps: bool) -> (f64, f32) {
    let mut app = App::new();
    app.add_plugins((TransformPlugin, InverseKinematicsPlugin)).init_resource::<Clock>();
    app.edit_schedule(Update, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    let (mut bones, mut targets, mut hands) = (Vec::new(), Vec::new(), Vec::new());
    let world = app.world_mut();
    for n in 0..CHARACTERS {
        let place = Vec3::new((n % 32) as f32 * 2.0, 0.0, (n / 32) as f32 * 2.0);
        let character = world.spawn(Transform::from_translation(place)).id();
        let hand = figure(world, character, &mut bones);
        let at = place + Vec3::new(0.25, 1.3, 0.35);
        let target = world.spawn(Transform::from_translation(at)).id();
        targets.push((target, at));
        hands.push((hand, target));
        // As in its example.
        world.entity_mut(hand).insert(IkConstraint {
            chain_length: 2,
            iterations: 20,
            target,
            pole_target: None,
            pole_angle: 0.0,
            enabled: true,
        });
    }
    app.insert_resource(Moves { bones, targets, hands, time: 0.0, leaps });
    app.add_systems(
        Update,
        (animate.before(begin), begin.before(IKSolverSystemSet), end.after(IKSolverSystemSet)),
    );
    app.finish();
    app.cleanup();
    for _ in 0..10 {
        app.update();
    }
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        app.world_mut().resource_mut::<Clock>().spent = Duration::ZERO;
        for _ in 0..FRAMES {
            app.update();
        }
        let spent = app.world().resource::<Clock>().spent.as_secs_f64();
        best = best.min(spent * 1e6 / (FRAMES * CHARACTERS) as f64);
    }
    let world = app.world();
    let place = |entity| world.get::<GlobalTransform>(entity).map_or(Vec3::NAN, |place| place.translation());
    let off =
        world.resource::<Moves>().hands.iter().map(|&(hand, target)| place(hand).distance(place(target)));
    let most = off.fold(0.0, f32::max);
    (best, most)
}
