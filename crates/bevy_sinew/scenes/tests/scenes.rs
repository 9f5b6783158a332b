//! The scenes without a window: what must hold in them, and pictures. `SINEW_PICTURES=pictures cargo test -p bevy_sinew_scenes` keeps
//! the pictures; a folder counts from that of the package.

use std::time::Duration;

use bevy_animation::AnimationPlugin;
use bevy_app::{App, TaskPoolPlugin};
use bevy_asset::{AssetApp, AssetPlugin};
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_mesh::{Mesh, skinning::SkinnedMeshInverseBindposes};
use bevy_sinew::{CreatureReport, IkReport, IkStatus, IkValues, SinewPlugin};
use bevy_sinew_scenes::{Scene, creature, crowd, excavator, headset, look, picture::Picture, stairs, weapon};
use bevy_time::{TimePlugin, TimeUpdateStrategy};
use bevy_transform::{TransformPlugin, components::GlobalTransform};

const DT: f32 = 1.0 / 60.0;

fn headless(scene: &Scene) -> App {
    let mut app = App::new();
    app.add_plugins((TaskPoolPlugin::default(), TimePlugin, AssetPlugin::default(), TransformPlugin));
    app.init_asset::<Mesh>().init_asset::<SkinnedMeshInverseBindposes>();
    app.add_plugins((AnimationPlugin, SinewPlugin));
    app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(DT)));
    (scene.build)(&mut app);
    app.finish();
    app.cleanup();
    app
}

fn place(app: &App, entity: Entity) -> GlobalTransform {
    *app.world().get::<GlobalTransform>(entity).unwrap()
}

fn at(app: &App, entity: Entity) -> Vec3 {
    place(app, entity).translation()
}

/// Keeps a picture, where that is asked for. It is drawn in any case.
fn keep(name: &str, picture: &Picture) {
    let svg = picture.svg();
    assert!(svg.lines().count() > 40, "{name} is empty");
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name} has numbers that are none");
    if let Some(folder) = std::env::var_os("SINEW_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(format!("{name}.svg")), svg).unwrap();
    }
}

fn all_is_well(app: &mut App) {
    let mut reports = app.world_mut().query::<&IkReport>();
    for report in reports.iter(app.world()) {
        assert!(matches!(report.status, IkStatus::Solved | IkStatus::Idle), "{report:?}");
        assert!(report.problem.is_empty(), "{report:?}");
    }
}

#[test]
fn a_walker_climbs_jumps_and_rides() {
    let mut app = headless(&stairs::SCENE);
    let mut picture = Picture::new(stairs::SCENE.view);
    let mut grounded: Option<Vec3> = None;
    let mut name = Vec::new();
    let mut names = app.world_mut().query::<(Entity, &Name)>();
    for wanted in ["foot.L", "foot.R", "hips"] {
        name.extend(
            names.iter(app.world()).filter(|(_, name)| name.as_str() == wanted).map(|(entity, _)| entity),
        );
    }
    let [left, right, hips] = name[..] else { panic!("no feet") };
    let mut first = true;
    let (mut highest_step, mut low): (f32, f32) = (0.0, f32::MAX);
    for frame in 0..720_u32 {
        app.update();
        let walker = app.world().resource::<stairs::Walker>();
        let (figure, leaves, lands) = (walker.figure, walker.left, walker.landed);
        let (platform, body) = (walker.platform, at(&app, figure));
        if leaves.is_none() {
            for foot in [left, right] {
                let foot = at(&app, foot);
                let step = ((foot.z - 1.5) / stairs::STEPS.2).floor() + 1.0;
                let floor = stairs::STEPS.1 * step.clamp(0.0, stairs::STEPS.0 as f32);
                low = low.min(foot.y - floor);
                highest_step = highest_step.max(foot.y);
            }
        }
        if let Some(landed) = lands
            && frame as f32 * DT > landed + 0.6
        {
            // Feet stay where they are on the platform.
            let on_it = place(&app, platform).affine().inverse().transform_point3(at(&app, left));
            let known = *grounded.get_or_insert(on_it);
            assert!(known.distance(on_it) < 2e-3, "frame {frame}: {known} {on_it}");
        }
        let walks = leaves.is_none() && frame >= 90 && (frame - 90) % 42 == 0;
        let flies = leaves.is_some_and(|left| ((frame as f32 * DT - left) * 60.0).round() == 15.0);
        if walks || flies || frame == 719 {
            picture.add(app.world_mut(), !first);
            first = false;
        }
        assert!(body.is_finite());
    }
    let walker = app.world().resource::<stairs::Walker>();
    assert!(walker.landed.is_some());
    // Ankles are 8 cm above their soles.
    assert!(low > 0.02, "an ankle is {low} m above the step that it is over");
    assert!(highest_step > 0.9 && at(&app, hips).y > 1.6, "{highest_step}");
    all_is_well(&mut app);
    keep("stairs", &picture);
}

#[test]
fn hands_are_at_a_lever_and_at_a_staff() {
    let mut app = headless(&weapon::SCENE);
    for frame in 0..300 {
        app.update();
        let props = app.world().resource::<weapon::Props>();
        let [puller, right, left] = props.hands;
        let pairs = [(puller, props.knob), (right, props.swing), (left, props.grip)];
        for (n, (hand, target)) in pairs.into_iter().enumerate() {
            let off = at(&app, hand).distance(at(&app, target));
            assert!(off < 2e-3, "frame {frame}, hand {n}: {off} m");
        }
    }
    all_is_well(&mut app);
    let mut picture = Picture::new(weapon::SCENE.view);
    picture.add(app.world_mut(), false);
    keep("weapon", &picture);
}

#[test]
fn heads_are_turned_to_a_ball() {
    let mut app = headless(&look::SCENE);
    for frame in 0..240 {
        app.update();
        let ball = app.world().resource::<look::Ball>();
        for &character in &ball.characters {
            let report = app.world().get::<IkReport>(character).unwrap();
            assert!(report.reached, "frame {frame}: {report:?}");
        }
        for &head in &ball.heads {
            let (head, ball) = (place(&app, head), at(&app, ball.ball));
            let wanted = (ball - head.translation()).normalize();
            assert!((head.rotation() * Vec3::Z).angle_between(wanted) < 0.25, "frame {frame}");
        }
    }
    let mut picture = Picture::new(look::SCENE.view);
    picture.add(app.world_mut(), false);
    keep("look", &picture);
}

#[test]
fn a_body_follows_its_headset_and_its_feet_stay() {
    let mut app = headless(&headset::SCENE);
    let mut picture = Picture::new(headset::SCENE.view);
    app.update();
    let feet = app.world().resource::<headset::Devices>().feet;
    let stood = feet.map(|foot| at(&app, foot));
    let mut last: Vec<Vec3> = Vec::new();
    for frame in 0..480 {
        app.update();
        let devices = app.world().resource::<headset::Devices>();
        for (bone, device) in devices.bones.into_iter().zip(devices.devices) {
            let off = at(&app, bone).distance(at(&app, device));
            assert!(off < 2e-3, "frame {frame}: {off} m");
        }
        for (foot, stood) in feet.into_iter().zip(stood) {
            assert!(at(&app, foot).distance(stood) < 0.02, "frame {frame}");
        }
        let mut named = app.world_mut().query_filtered::<&GlobalTransform, With<Name>>();
        let now: Vec<Vec3> = named.iter(app.world()).map(GlobalTransform::translation).collect();
        let leap = last.iter().zip(&now).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
        assert!(leap < 0.03, "frame {frame}: a bone leaps by {leap} m");
        last = now;
        if frame == 240 {
            picture.add(app.world_mut(), false);
        }
    }
    keep("headset", &picture);
}

#[test]
fn a_crowd_looks_and_stands() {
    let mut app = headless(&crowd::SCENE);
    for _ in 0..4 {
        app.update();
    }
    all_is_well(&mut app);
    let crowd = app.world().resource::<crowd::Crowd>();
    assert_eq!(crowd.characters.len(), crowd::COUNT);
    let looked = crowd.characters.iter().filter(|character| {
        app.world().get::<IkReport>(**character).is_some_and(|report| report.status == IkStatus::Solved)
    });
    assert!(looked.count() == crowd::COUNT);
}

#[test]
fn a_creature_walks_over_slabs_after_a_ball() {
    let mut app = headless(&creature::SCENE);
    let mut picture = Picture::new(creature::SCENE.view);
    let (mut way, mut last, mut near) = (0.0, None, 0);
    let mut slid = 0.0f32;
    let mut feet: Vec<Vec3> = Vec::new();
    for frame in 0..900 {
        app.update();
        let (creature, tips, ball) = {
            let chase = app.world().resource::<creature::Chase>();
            (chase.creature, chase.feet.clone(), chase.ball)
        };
        let now = at(&app, creature);
        way += last.map_or(0.0, |last: Vec3| last.distance(now));
        last = Some(now);
        let report = app.world().get::<CreatureReport>(creature).unwrap();
        assert!(report.standing >= 4, "frame {frame}: {report:?}");
        near += usize::from((now - at(&app, ball)).with_y(0.0).length() < 1.1);
        let places: Vec<Vec3> = tips.iter().map(|&tip| at(&app, tip)).collect();
        assert!(places.iter().all(|p| p.y > -0.02 && p.y < 0.5), "frame {frame}: {places:?}");
        // At least half of its feet are where they were in the last frame.
        let mut moved: Vec<f32> = feet.iter().zip(&places).map(|(a, b)| a.distance(*b)).collect();
        moved.sort_by(f32::total_cmp);
        slid = slid.max(moved.get(3).copied().unwrap_or(0.0));
        feet = places;
        if frame == 420 {
            picture.add(app.world_mut(), false);
        }
    }
    assert!(slid < 1e-3, "{slid} m in a frame");
    assert!(way > 3.0 && near > 500, "{way} m, {near} frames near the ball");
    all_is_well(&mut app);
    keep("creature", &picture);
}

#[test]
fn an_excavator_digs_within_its_limits() {
    let mut app = headless(&excavator::SCENE);
    let mut picture = Picture::new(excavator::SCENE.view);
    let mut last: Vec<f64> = Vec::new();
    for frame in 0..1500 {
        app.update();
        let digger = app.world().resource::<excavator::Digger>();
        let values = app.world().get::<IkValues>(digger.machine).unwrap().0.clone();
        for (n, (value, (name, _, limits))) in values.iter().zip(excavator::BONES).enumerate() {
            let bevy_sinew::IkFreedom::Hinge { min, max, .. } = limits.freedom else { panic!() };
            assert!((f64::from(min)..=f64::from(max)).contains(value), "{name}: {value}");
            let moved = last.get(n).map_or(0.0, |last| (value - last).abs());
            assert!(moved <= f64::from(limits.speed * DT) * 1.001, "frame {frame}, {name}: {moved} rad");
        }
        last = values;
        if app.world().get::<IkReport>(digger.machine).unwrap().reached {
            let teeth = place(&app, digger.bones[3]).transform_point(excavator::TEETH);
            assert!(teeth.distance(excavator::WAY[digger.next]) < 0.5, "frame {frame}");
        }
        if frame == 200 {
            picture.add(app.world_mut(), false);
        }
    }
    let digger = app.world().resource::<excavator::Digger>();
    assert!(digger.reached >= 4, "{} points of its way", digger.reached);
    keep("excavator", &picture);
}
