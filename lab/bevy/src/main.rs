//! Times bevy_sinew, one thread, on figures of 57 joints that an animation writes in each frame: `cargo run --release`, in this
//! folder.

use std::{
    process::ExitCode,
    time::{Duration, Instant},
};

use bevy_animation::{
    AnimatedBy, AnimationClip, AnimationPlayer, AnimationPlugin, AnimationTargetId, animated_field,
    animation_curves::{AnimatableCurve, AnimatableKeyframeCurve},
    graph::{AnimationGraph, AnimationGraphHandle},
};
use bevy_app::{AnimationSystems, App, PostUpdate, TaskPoolPlugin};
use bevy_asset::{AssetPlugin, Assets, RenderAssetUsages};
use bevy_ecs::{prelude::*, schedule::SingleThreadedExecutor};
use bevy_math::{Quat, Vec3};
use bevy_mesh::{Indices, Mesh, Mesh3d, PrimitiveTopology};
use bevy_sinew::{
    FootPlanting, FullBodyIk, IkGoal, IkGround, IkLod, IkReport, IkSkeleton, IkStatus, IkSystems, IkViewer,
    LimbIk, LookAtIk, SinewPlugin,
    sinew::{
        JointId, Pose, Skeleton,
        body::{Role, Side},
        motion::{Clip, RootMotion},
    },
};
use bevy_time::Time;
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
    let hips = add(world, "hips".into(), root, 0.0, 0.94, 0.0);
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
        // Those of the engine's built-in character, whose walk they play.
        let thigh = add(world, format!("thigh.{side}"), hips, 0.09 * s, -0.035, 0.0);
        let shin = add(world, format!("shin.{side}"), thigh, 0.003 * s, -0.42, 0.022);
        let foot = add(world, format!("foot.{side}"), shin, 0.0, -0.4, -0.048);
        add(world, format!("toes.{side}"), foot, 0.0, -0.059, 0.135);
    }
    bones
}

/// All bones, and the time of the animation.
#[derive(Resource)]
struct Played {
    bones: Vec<Entity>,
    /// For bones of walking figures, the joint of the walk.
    walks: Vec<Option<JointId>>,
    /// The engine's built-in walk, without its travel.
    walk: Clip,
    travel: RootMotion,
    pose: Pose,
    time: f32,
    /// Walking characters, and where they start.
    walkers: Vec<(Entity, Vec3)>,
}

/// In place of an animation: it writes every bone, as Bevy's own does.
fn animate(mut played: ResMut<Played>, mut all: Query<&mut Transform>) {
    let played = &mut *played;
    played.time += 1.0 / 60.0;
    let turn = Quat::from_rotation_x(0.05 * played.time.sin());
    played.walk.sample_looped(played.time, &mut played.pose);
    for (&bone, joint) in played.bones.iter().zip(&played.walks) {
        if let Ok(mut transform) = all.get_mut(bone) {
            match joint {
                Some(joint) => {
                    let local = played.pose.local(*joint);
                    (transform.translation, transform.rotation) = (local.translation, local.rotation);
                }
                None => transform.rotation = turn,
            }
        }
    }
    let way = played.travel.at_looped(played.time).translation;
    for &(character, start) in &played.walkers {
        if let Ok(mut transform) = all.get_mut(character) {
            transform.translation = start + way;
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

fn pass(time: Option<ResMut<Time>>) {
    if let Some(mut time) = time {
        time.advance_by(Duration::from_secs_f32(1.0 / 60.0));
    }
}

/// A square of 1 m that faces up.
fn tile() -> Mesh {
    let corners = vec![[-0.5, 0.0, -0.5], [-0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.5, 0.0, -0.5]];
    Mesh::new(PrimitiveTopology::TriangleList, RenderAssetUsages::default())
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
        .with_inserted_indices(Indices::U16(vec![0, 1, 2, 0, 2, 3]))
}

fn lap(name: &'static str) -> impl Fn(ResMut<Clock>) {
    move |mut clock| clock.lap(name)
}

/// What a character has.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Has {
    Nothing,
    Asleep,
    /// Arms, asleep by their level of detail.
    Far,
    OneArm,
    Arms,
    Look,
    ArmsAndLook,
    Feet,
    ArmsAndFeet,
    /// Feet that know the coming animation, as Bevy's own players have it.
    FeetAhead,
    /// A head and two hands that lead the body.
    Body,
}

fn scene(has: Has) -> App {
    let mut app = App::new();
    app.add_plugins((TransformPlugin, SinewPlugin));
    app.edit_schedule(PostUpdate, |schedule| {
        schedule.set_executor(SingleThreadedExecutor::new());
    });
    let (mut bones, mut targets, mut walkers) = (Vec::new(), Vec::new(), Vec::new());
    let walks = matches!(has, Has::Feet | Has::ArmsAndFeet | Has::FeetAhead);
    if walks {
        if has == Has::FeetAhead {
            app.add_plugins((TaskPoolPlugin::default(), AssetPlugin::default(), AnimationPlugin));
        }
        app.init_resource::<Assets<Mesh>>().init_resource::<Time>();
        // A floor of 100 tiles, each a little higher or lower than the next.
        let floor = app.world_mut().resource_mut::<Assets<Mesh>>().add(tile());
        for n in 0..100 {
            let (x, z) = ((n % 10) as f32 * 8.0, (n / 10) as f32 * 8.0);
            let place = Transform::from_xyz(x, 0.02 * (n % 3) as f32, z).with_scale(Vec3::splat(8.0));
            app.world_mut().spawn((Mesh3d(floor.clone()), IkGround, place));
        }
    }
    app.world_mut().spawn((Transform::from_xyz(0.0, 9000.0, 0.0), IkViewer));
    for n in 0..CHARACTERS {
        let place = Vec3::new((n % 32) as f32 * 2.0, 0.0, (n / 32) as f32 * 2.0);
        let world = app.world_mut();
        let character = world.spawn((IkSkeleton::default(), Transform::from_translation(place))).id();
        bones.extend(figure(world, character));
        let mut target = |world: &mut World, at: Vec3| {
            // Those of walking characters go with them.
            let at = if walks { at } else { place + at };
            let entity = world.spawn(Transform::from_translation(at)).id();
            if walks {
                world.entity_mut(entity).insert(ChildOf(character));
            }
            targets.push((entity, at));
            entity
        };
        if has == Has::Far {
            world.entity_mut(character).insert(IkLod { distance: 100.0, rate: 0.0 });
        }
        if has == Has::Body {
            let goals = [
                (Role::Head, Vec3::new(0.0, 1.45, 0.1)),
                (Role::Hand(Side::Left), Vec3::new(0.3, 1.2, 0.35)),
                (Role::Hand(Side::Right), Vec3::new(-0.3, 1.1, 0.35)),
            ];
            let goals = goals.map(|(role, at)| IkGoal::new(role, target(world, at)));
            world.entity_mut(character).insert(FullBodyIk::new(goals));
        }
        if walks {
            walkers.push((character, place));
            world.entity_mut(character).insert(FootPlanting::default());
        }
        if matches!(has, Has::Look | Has::ArmsAndLook) {
            let seen = target(world, Vec3::new(0.5, 1.5, 2.0));
            world.entity_mut(character).insert(LookAtIk::at(seen));
        }
        let sides: &[(Side, f32)] = match has {
            Has::OneArm | Has::Asleep => &[(Side::Left, 1.0)],
            Has::Arms | Has::Far | Has::ArmsAndLook | Has::ArmsAndFeet => {
                &[(Side::Left, 1.0), (Side::Right, -1.0)]
            }
            _ => &[],
        };
        for &(side, s) in sides {
            let held = target(world, Vec3::new(0.25 * s, 1.3, 0.35));
            let limb = LimbIk::new(Role::Hand(side)).at(held);
            let influence = if has == Has::Asleep { 0.0 } else { 1.0 };
            world.spawn((LimbIk { position_influence: influence, ..limb }, ChildOf(character)));
        }
    }
    let model = sinew_files::sample::mannequin().expect("the built-in character");
    let rest = Pose::rest(&model.skeleton);
    let hips = model.skeleton.find("hips").expect("its hips");
    let (walk, travel) =
        RootMotion::travel_and_yaw(&model.clips[0], &rest, hips).expect("a walk that travels");
    let legs = |name: &Name| {
        let leg = ["hips", "thigh", "shin", "foot", "toes"].iter().any(|part| name.starts_with(part));
        model.skeleton.find(name).filter(|_| leg && walks)
    };
    if has == Has::FeetAhead {
        play(&mut app, &model.skeleton, &walk, &bones);
        bones.clear();
    }
    let walks = bones.iter().map(|&bone| app.world().get::<Name>(bone).and_then(legs)).collect();
    app.insert_resource(Played { bones, walks, walk, travel, pose: rest, time: 0.0, walkers });
    app.insert_resource(Targets(targets)).init_resource::<Clock>();
    app.add_systems(PostUpdate, (pass, animate, move_targets).chain().in_set(AnimationSystems));
    app.add_systems(
        PostUpdate,
        (
            lap("before").after(AnimationSystems).before(IkSystems::Bind),
            lap("bind").after(IkSystems::Bind).before(IkSystems::Gather),
            lap("gather").after(IkSystems::Gather).before(IkSystems::Feet),
            lap("feet").after(IkSystems::Feet).before(IkSystems::Look),
            lap("look").after(IkSystems::Look).before(IkSystems::Limbs),
            lap("limbs").after(IkSystems::Limbs).before(IkSystems::Body),
            lap("body").after(IkSystems::Body).before(IkSystems::Write),
            lap("write").after(IkSystems::Write).before(IkSystems::Attach),
        ),
    );
    app.finish();
    app.cleanup();
    app
}

/// Plays the walk by Bevy's own players, in place of [`animate`].
fn play(app: &mut App, skeleton: &Skeleton, walk: &Clip, bones: &[Entity]) {
    let target = |name: &str| AnimationTargetId::from_name(&Name::new(name.to_owned()));
    let mut clip = AnimationClip::default();
    for tracks in walk.tracks() {
        let of = target(skeleton.name(tracks.joint));
        if let Some(track) = &tracks.rotation
            && let Ok(curve) = AnimatableKeyframeCurve::new(
                track.times().iter().copied().zip(track.values().iter().copied()),
            )
        {
            clip.add_curve_to_target(of, AnimatableCurve::new(animated_field!(Transform::rotation), curve));
        }
        if let Some(track) = &tracks.translation
            && let Ok(curve) = AnimatableKeyframeCurve::new(
                track.times().iter().copied().zip(track.values().iter().copied()),
            )
        {
            clip.add_curve_to_target(
                of,
                AnimatableCurve::new(animated_field!(Transform::translation), curve),
            );
        }
    }
    let clip = app.world_mut().resource_mut::<Assets<AnimationClip>>().add(clip);
    let (graph, node) = AnimationGraph::from_clip(clip);
    let graph = app.world_mut().resource_mut::<Assets<AnimationGraph>>().add(graph);
    for &bone in bones {
        let Some(name) = app.world().get::<Name>(bone) else { continue };
        let of = target(name);
        let mut above = bone;
        while let Some(parent) = app.world().get::<ChildOf>(above) {
            above = parent.parent();
        }
        app.world_mut().entity_mut(bone).insert((of, AnimatedBy(above)));
        if app.world().get::<AnimationPlayer>(above).is_none() {
            let mut player = AnimationPlayer::default();
            player.play(node).repeat();
            app.world_mut().entity_mut(above).insert((player, AnimationGraphHandle(graph.clone())));
        }
    }
}

/// Microseconds a character, by set: those of the fastest round.
fn times(has: Has) -> (Vec<(&'static str, f64)>, u64) {
    let mut app = scene(has);
    for _ in 0..10 {
        app.update();
    }
    let mut reports = app.world_mut().query::<&IkReport>();
    for report in reports.iter(app.world()) {
        let asleep = matches!(has, Has::Asleep | Has::Far);
        let expected = if asleep { IkStatus::Idle } else { IkStatus::Solved };
        let near = report.reached || has == Has::Body && report.position_residual < 2e-3;
        assert!(report.status == expected && (asleep || near), "{has:?}: {report:?}");
    }
    let mut best: Vec<(&'static str, f64)> = Vec::new();
    // Bodies take a hundred times as long.
    let (rounds, frames) = if has == Has::Body { (2, 10) } else { (ROUNDS, FRAMES) };
    for _ in 0..rounds {
        app.world_mut().resource_mut::<Clock>().spent.clear();
        for _ in 0..frames {
            app.update();
        }
        for &(name, spent) in &app.world().resource::<Clock>().spent {
            let micros = spent.as_secs_f64() * 1e6 / (frames * CHARACTERS) as f64;
            match best.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = known.min(micros),
                None => best.push((name, micros)),
            }
        }
    }
    // Bevy's own animation allocates.
    let ours = has != Has::FeetAhead;
    let allocated = if ours { allocation_counter::measure(|| app.update()).count_total } else { 0 };
    (best, allocated)
}

/// What the peer prints, if it is built: microseconds an arm and the furthest hand from its target in metres, for targets that move
/// smoothly and for those that leap.
fn peer() -> Option<[f64; 4]> {
    let built = concat!(env!("CARGO_MANIFEST_DIR"), "/peer/target/release/peer");
    let out = std::process::Command::new(built).output().ok()?;
    let text = String::from_utf8(out.stdout).ok()?;
    let numbers: Vec<f64> = text.split_whitespace().filter_map(|number| number.parse().ok()).collect();
    numbers.try_into().ok()
}

fn main() -> ExitCode {
    println!(
        "{CHARACTERS} characters of 57 joints, {FRAMES} frames, the fastest of {ROUNDS} rounds, one thread"
    );
    println!(
        "{:>14} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>10}",
        "us a character", "bind", "gather", "feet", "look", "limbs", "body", "write", "allocated"
    );
    let mut rows = Vec::new();
    for has in [
        Has::Nothing,
        Has::Asleep,
        Has::Far,
        Has::OneArm,
        Has::Arms,
        Has::Look,
        Has::ArmsAndLook,
        Has::Feet,
        Has::ArmsAndFeet,
        Has::FeetAhead,
        Has::Body,
    ] {
        let (times, allocated) = times(has);
        let of =
            |name: &str| times.iter().find(|(known, _)| *known == name).map_or(0.0, |(_, micros)| *micros);
        let steps = ["bind", "gather", "feet", "look", "limbs", "body", "write"].map(of);
        let [bind, gather, feet, look, limbs, body, write] = steps;
        println!(
            "{:>14} {bind:8.3} {gather:8.3} {feet:8.3} {look:8.3} {limbs:8.3} {body:8.3} {write:8.3} {allocated:>10}",
            format!("{has:?}")
        );
        rows.push((has, steps, allocated));
    }
    let of = |wanted: Has| rows.iter().find(|row| row.0 == wanted).map_or([f64::NAN; 7], |row| row.1);
    let (arms, look, asleep, feet, both) =
        (of(Has::Arms), of(Has::Look), of(Has::Asleep), of(Has::Feet), of(Has::ArmsAndFeet));
    let mut held = true;
    let mut bound = |what: &str, value: f64, most: f64| {
        let holds = value <= most;
        held &= holds;
        println!("{what}: {value:.3} (at most {most}){}", if holds { "" } else { ", missed" });
        bounds::bound(format!("bevy: {what}"), format!("<= {most}"), format!("{value:.3}"), holds);
    };
    bound("gather and write, us a character", arms[0] + arms[1] + arms[6], 1.0);
    bound("two arms, us a character", arms[4], 1.5);
    bound("look-at, us a character", look[3], 1.5);
    bound("feet with casts, us a character", feet[2], 12.0);
    bound("feet that know what comes, us a character", of(Has::FeetAhead)[2], 12.0);
    bound("influence 0, us a character", asleep.iter().sum(), 0.3);
    bound("asleep by its level of detail, us a character", of(Has::Far).iter().sum(), 0.3);
    bound("1,000 characters with arms and feet, ms a frame", both.iter().sum(), 20.0);
    let most = rows.iter().map(|row| row.2).max().unwrap_or(u64::MAX);
    bound("allocations in a frame", most as f64, 0.0);
    // bevy_mod_inverse_kinematics in a Bevy of its own, its system alone; ours with all that a frame has.
    let ours: f64 = of(Has::OneArm).iter().sum();
    match peer() {
        Some([arm, off, leaps, lag]) => {
            println!(
                "bevy_mod_inverse_kinematics 0.12: {arm:.3} us an arm, hands within {:.1} mm; {leaps:.3} us for targets that leap, hands within {:.0} mm",
                off * 1e3,
                lag * 1e3
            );
            let times = arm / ours;
            let holds = times >= 5.0;
            held &= holds;
            println!("its time by ours: {times:.2} (at least 5){}", if holds { "" } else { ", missed" });
            bounds::bound("bevy: the peer's time by ours", ">= 5", format!("{times:.2}"), holds);
        }
        None => println!("the peer is not built: cargo build --release --ignore-rust-version, in peer/"),
    }
    if held { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
