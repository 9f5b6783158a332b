//! Times bevy_sinew, one thread, on figures of 57 joints that an animation writes in each frame: `cargo run --release`, in this
//! folder. `--peer FILE` takes the peer's line from its own program, as it needs another Bevy (see the lab's README).

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use bevy_app::{AnimationSystems, App, PostUpdate};
use bevy_ecs::{prelude::*, schedule::SingleThreadedExecutor};
use bevy_math::{Quat, Vec3};
use bevy_sinew::{
    IkReport, IkSkeleton, IkStatus, IkSystems, LimbIk, LookAtIk, SinewPlugin,
    sinew::body::{Role, Side},
};
use bevy_transform::{TransformPlugin, components::Transform};

/// Characters in a scene.
const CHARACTERS: usize = 1000;
/// Frames of a round, after those that warm up.
const FRAMES: usize = 60;
/// Rounds, of which the fastest counts: other work on the machine only adds time.
const ROUNDS: usize = 7;

/// A figure of 57 joints: 30 of them fingers, two eyes and a jaw.
fn figure(world: &mut World, character: Entity) -> Vec<Entity> {
    let mut bones = Vec::new();
    let mut add = |world: &mut World, name: String, parent: Entity, x: f32, y: f32, z: f32| {
        let bone = world.spawn((Name::new(name), Transform::from_xyz(x, y, z), ChildOf(parent))).id();
        bones.push(bone);
        bone
    };
    let root = add(world, "root".into(), character, 0.0, 0.0, 0.0);
    let hips = add(world, "hips".into(), root, 0.0, 0.95, 0.0);
    let mut spine = hips;
    for n in 1..=3 {
        spine = add(world, format!("spine{n}"), spine, 0.0, 0.13, 0.0);
    }
    let neck = add(world, "neck".into(), spine, 0.0, 0.15, 0.0);
    let head = add(world, "head".into(), neck, 0.0, 0.1, 0.02);
    add(world, "jaw".into(), head, 0.0, 0.02, 0.04);
    for (side, s) in [("L", 1.0), ("R", -1.0)] {
        add(world, format!("eye.{side}"), head, 0.03 * s, 0.09, 0.08);
        let clavicle = add(world, format!("clavicle.{side}"), spine, 0.03 * s, 0.1, 0.0);
        let upper = add(world, format!("upper_arm.{side}"), clavicle, 0.15 * s, 0.0, 0.0);
        let fore = add(world, format!("forearm.{side}"), upper, 0.28 * s, 0.0, -0.01);
        let hand = add(world, format!("hand.{side}"), fore, 0.26 * s, 0.0, 0.02);
        for finger in 0..5 {
            let mut above = hand;
            for n in 0..3 {
                let z = if n == 0 { 0.02 * (finger as f32 - 2.0) } else { 0.0 };
                above = add(world, format!("finger{finger}{n}.{side}"), above, 0.04 * s, 0.0, z);
            }
        }
        let thigh = add(world, format!("thigh.{side}"), hips, 0.1 * s, -0.05, 0.0);
        let shin = add(world, format!("shin.{side}"), thigh, 0.0, -0.42, 0.01);
        let foot = add(world, format!("foot.{side}"), shin, 0.0, -0.4, -0.02);
        add(world, format!("toes.{side}"), foot, 0.0, -0.06, 0.13);
    }
    bones
}

/// All bones, and the time of the animation.
#[derive(Resource)]
struct Played {
    bones: Vec<Entity>,
    time: f32,
}

/// In place of an animation: it writes every bone, as Bevy's own does.
fn animate(mut played: ResMut<Played>, mut all: Query<&mut Transform>) {
    played.time += 1.0 / 60.0;
    let turn = Quat::from_rotation_x(0.05 * played.time.sin());
    let count = played.bones.len();
    for n in 0..count {
        if let Ok(mut transform) = all.get_mut(played.bones[n]) {
            transform.rotation = turn;
        }
    }
}

/// Targets, which move in each frame, and where they start.
#[derive(Resource)]
struct Targets(Vec<(Entity, Vec3)>);

fn move_targets(targets: Res<Targets>, played: Res<Played>, mut all: Query<&mut Transform>) {
    let way = Vec3::new(played.time.cos(), (1.3 * played.time).sin(), 0.0) * 0.05;
    for &(target, start) in &targets.0 {
        if let Ok(mut transform) = all.get_mut(target) {
            transform.translation = start + way;
        }
    }
}

/// Times between the sets of a frame.
#[derive(Resource, Default)]
struct Clock {
    last: Option<Instant>,
    spent: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn lap(&mut self, name: &'static str) {
        let now = Instant::now();
        if let Some(last) = self.last {
            match self.spent.iter_mut().find(|(known, _)| *known == name) {
                Some((_, spent)) => *spent += now - last,
                None => self.spent.push((name, now - last)),
            }
        }
        self.last = Some(now);
    }
}

fn lap(name: &'static str) -> impl Fn(ResMut<Clock>) {
    move |mut clock| clock.lap(name)
}

/// What a character has.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Has {
    Nothing,
    Asleep,
    OneArm,
    Arms,
    Look,
    ArmsAndLook,
}

fn scene(has: Has) -> App {
    let mut app = App::new();
    app.add_plugins((TransformPlugin, SinewPlugin));
    app.edit_schedule(PostUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    let (mut bones, mut targets) = (Vec::new(), Vec::new());
    for n in 0..CHARACTERS {
        let place = Vec3::new((n % 32) as f32 * 2.0, 0.0, (n / 32) as f32 * 2.0);
        let world = app.world_mut();
        let character = world.spawn((IkSkeleton::default(), Transform::from_translation(place))).id();
        bones.extend(figure(world, character));
        let mut target = |world: &mut World, at: Vec3| {
            let entity = world.spawn(Transform::from_translation(place + at)).id();
            targets.push((entity, place + at));
            entity
        };
        if matches!(has, Has::Look | Has::ArmsAndLook) {
            let seen = target(world, Vec3::new(0.5, 1.5, 2.0));
            world.entity_mut(character).insert(LookAtIk::at(seen));
        }
        let sides: &[(Side, f32)] = match has {
            Has::OneArm | Has::Asleep => &[(Side::Left, 1.0)],
            Has::Arms | Has::ArmsAndLook => &[(Side::Left, 1.0), (Side::Right, -1.0)],
            _ => &[],
        };
        for &(side, s) in sides {
            let held = target(world, Vec3::new(0.25 * s, 1.3, 0.35));
            let limb = LimbIk::new(Role::Hand(side)).at(held);
            let influence = if has == Has::Asleep { 0.0 } else { 1.0 };
            world.spawn((LimbIk { position_influence: influence, ..limb }, ChildOf(character)));
        }
    }
    app.insert_resource(Played { bones, time: 0.0 })
        .insert_resource(Targets(targets))
        .init_resource::<Clock>();
    app.add_systems(PostUpdate, (animate, move_targets).chain().in_set(AnimationSystems));
    app.add_systems(
        PostUpdate,
        (
            lap("before").after(AnimationSystems).before(IkSystems::Bind),
            lap("bind").after(IkSystems::Bind).before(IkSystems::Gather),
            lap("gather").after(IkSystems::Gather).before(IkSystems::Feet),
            lap("look").after(IkSystems::Look).before(IkSystems::Limbs),
            lap("limbs").after(IkSystems::Limbs).before(IkSystems::Body),
            lap("write").after(IkSystems::Write).before(IkSystems::Attach),
        ),
    );
    app.finish();
    app.cleanup();
    app
}

/// Microseconds a character, by set: those of the fastest round.
fn times(has: Has) -> (Vec<(&'static str, f64)>, u64) {
    let mut app = scene(has);
    for _ in 0..10 {
        app.update();
    }
    let mut reports = app.world_mut().query::<&IkReport>();
    for report in reports.iter(app.world()) {
        let expected = if has == Has::Asleep { IkStatus::Idle } else { IkStatus::Solved };
        assert!(report.status == expected && (has == Has::Asleep || report.reached), "{has:?}: {report:?}");
    }
    let mut best: Vec<(&'static str, f64)> = Vec::new();
    for _ in 0..ROUNDS {
        app.world_mut().resource_mut::<Clock>().spent.clear();
        for _ in 0..FRAMES {
            app.update();
        }
        for &(name, spent) in &app.world().resource::<Clock>().spent {
            let micros = spent.as_secs_f64() * 1e6 / (FRAMES * CHARACTERS) as f64;
            match best.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = known.min(micros),
                None => best.push((name, micros)),
            }
        }
    }
    let allocated = allocation_counter::measure(|| app.update()).count_total;
    (best, allocated)
}

fn main() -> ExitCode {
    println!(
        "{CHARACTERS} characters of 57 joints, {FRAMES} frames, the fastest of {ROUNDS} rounds, one thread"
    );
    println!(
        "{:>14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "us a character", "bind", "gather", "look", "limbs", "write", "allocated"
    );
    let mut rows = Vec::new();
    for has in [Has::Nothing, Has::Asleep, Has::OneArm, Has::Arms, Has::Look, Has::ArmsAndLook] {
        let (times, allocated) = times(has);
        let of =
            |name: &str| times.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, micros)| *micros);
        let [bind, gather, look, limbs, write] = ["bind", "gather", "look", "limbs", "write"].map(of);
        println!(
            "{:>14} {bind:8.3} {gather:8.3} {look:8.3} {limbs:8.3} {write:8.3} {allocated:>10}",
            format!("{has:?}")
        );
        rows.push((has, bind, gather, look, limbs, write, allocated));
    }
    let row = |wanted: Has| rows.iter().find(|row| row.0 == wanted).expect("a row of each");
    let (arms, look, asleep) = (row(Has::Arms), row(Has::Look), row(Has::Asleep));
    let mut held = true;
    let mut bound = |what: &str, value: f64, most: f64| {
        let holds = value <= most;
        held &= holds;
        println!("{what}: {value:.3} (at most {most}){}", if holds { "" } else { ", missed" });
        bounds::bound(format!("bevy: {what}"), format!("<= {most}"), format!("{value:.3}"), holds);
    };
    bound("gather and write, us a character", arms.1 + arms.2 + arms.5, 1.0);
    bound("two arms, us a character", arms.4, 1.5);
    bound("look-at, us a character", look.3, 1.5);
    bound("influence 0, us a character", asleep.1 + asleep.2 + asleep.3 + asleep.4 + asleep.5, 0.3);
    let own = rows.iter().map(|row| row.6).max().unwrap_or(0).saturating_sub(row(Has::Nothing).6);
    bound("allocations in a frame", own as f64, 0.0);
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
