//! Judges the promises of the foot planter: standing feet stay in place, non-finite input is refused, and the state is
//! input.

use crate::figure;

use std::sync::Arc;

use sinew::{
    JointTransform, Placement, Pose, Skeleton,
    glam::{Affine3, Quat, Vec3},
    ground::{
        Filter, Ground, Hit, Plane,
        plant::{
            Figure, FootPlanter, FootPlanterError, FootPlanterState, FootState, PlantOptions, Unplanted,
        },
    },
};

const HILL: f32 = 0.2;

fn hill() -> Plane {
    Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, -HILL).normalize() }
}

/// A ground without any surface.
struct Nothing;

impl Ground for Nothing {
    fn cast_ray(&self, _: Vec3, _: Vec3, _: f32, _: &Filter) -> Option<Hit> {
        None
    }
}

fn placed(world: Affine3) -> Placement {
    Placement::new(world).unwrap()
}

fn planter(legs: &Figure) -> FootPlanter {
    FootPlanter::new(legs, PlantOptions::default()).unwrap()
}

/// Walks for three seconds. `each` receives the planted frames, and `cast` decides whether a frame casts.
fn walk(
    planter: &FootPlanter,
    feet: &mut FootPlanterState,
    ground: &dyn Ground,
    rate: usize,
    cast: impl Fn(usize) -> bool,
    mut each: impl FnMut(usize, &FootPlanterState, &Pose, &Pose, &Affine3),
) {
    let (legs, rest) = figure::figure();
    let (mut pose, mut given) = (rest.clone(), rest.clone());
    for i in 0..3 * rate {
        let time = i as f32 / rate as f32;
        figure::walk(&legs, &rest, time, &mut pose);
        given.copy_from(&pose);
        let world = Affine3::from_translation(Vec3::Z * figure::SPEED * time);
        if cast(i) {
            planter.sense(feet, ground, &pose, &placed(world)).unwrap();
        }
        planter.step(feet, &mut pose, &placed(world), 1.0 / rate as f32).unwrap();
        each(i, feet, &given, &pose, &world);
    }
}

#[test]
fn feet_stand_on_the_hill_and_stay_where_they_stand() {
    let (legs, _) = figure::figure();
    let mut since = [0usize; 2];
    let mut was = [Vec3::ZERO; 2];
    let mut checked = 0;
    walk(
        &planter(&legs),
        &mut planter(&legs).state(),
        &hill(),
        120,
        |_| true,
        |frame, planter, _, pose, world| {
            let time = frame as f32 / 120.0;
            for (i, leg) in legs.legs().iter().enumerate() {
                let frame = *world * pose.model(leg.foot);
                let (heel, ball) =
                    (frame.transform_point3(leg.sole.heel), frame.transform_point3(leg.sole.ball));
                for p in [heel, ball] {
                    assert!(p.y > HILL * p.z - 0.02, "{p} is in the hill");
                }
                // The animation's foot stands for the first half of each second. A quarter of a second is six times the
                // spring's time.
                let on_floor = (time + 0.5 * i as f32).fract() < 0.46;
                since[i] = if planter.stands(i) && on_floor { since[i] + 1 } else { 0 };
                if since[i] > 30 {
                    assert!((heel.y - HILL * heel.z).abs() < 2e-3, "{heel}");
                    assert!((heel - was[i]).length() * 120.0 < 0.02, "{heel} {}", was[i]);
                    checked += 1;
                }
                was[i] = heel;
            }
        },
    );
    assert!(checked > 60, "{checked}");
}

/// Returns the largest slip of a landed foot before it rests, and its largest penetration, in metres, on stairs.
fn landings(look_ahead: f32) -> (f32, f32) {
    let (legs, rest) = figure::figure();
    let mut planter = planter(&legs);
    planter.set_look_ahead(look_ahead).unwrap();
    let mut feet = planter.state();
    let ground = Steps;
    let (mut pose, mut ahead) = (rest.clone(), rest.clone());
    let (mut landed, mut stood) = ([Vec3::ZERO; 2], [false; 2]);
    let (mut moved, mut deep) = (0.0f32, 0.0f32);
    for i in 0..360 {
        let time = i as f32 / 120.0;
        let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
        figure::walk(&legs, &rest, time, &mut pose);
        if look_ahead > 0.0 {
            while let Some(later) = planter.next_tick(&feet, 1.0 / 120.0) {
                figure::walk(&legs, &rest, time + later, &mut ahead);
                planter.give_tick(&mut feet, &ahead, &placed(at(time + later))).unwrap();
            }
        }
        planter.sense(&mut feet, &ground, &pose, &placed(at(time))).unwrap();
        planter.step(&mut feet, &mut pose, &placed(at(time)), 1.0 / 120.0).unwrap();
        for (k, leg) in legs.legs().iter().enumerate() {
            let frame = at(time) * pose.model(leg.foot);
            let ball = frame.transform_point3(leg.sole.ball);
            let stands = feet.stands(k);
            if stands && !stood[k] {
                landed[k] = ball;
            }
            // The first step begins in mid-walk. The animation's foot stands for half of each second.
            if stands && time > 1.0 && (time + 0.5 * k as f32).fract() < 0.4 {
                moved = moved.max((ball - landed[k]).with_y(0.0).length());
                deep = deep.max(Steps::height(ball.z) - ball.y);
            }
            stood[k] = stands;
        }
    }
    (moved, deep)
}

/// Stairs up along +Z, 8 cm high and 33 cm deep.
struct Steps;

impl Steps {
    fn height(z: f32) -> f32 {
        0.08 * (z / 0.33).floor().max(0.0)
    }
}

impl Ground for Steps {
    fn cast_ray(&self, origin: Vec3, _: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        let point = origin.with_y(Self::height(origin.z));
        let distance = origin.y - point.y;
        (0.0..=reach).contains(&distance).then_some(Hit::new(distance, point, Vec3::Y))
    }
}

#[test]
fn a_foot_that_knows_where_it_lands_stays_there() {
    let (moved, deep) = landings(0.0);
    let (moved_ahead, deep_ahead) = landings(0.3);
    assert!(moved_ahead < 0.01 && moved_ahead < 0.5 * moved, "{moved_ahead} of {moved}");
    assert!(deep_ahead < 5e-3, "{deep_ahead} of {deep}");
}

#[test]
fn a_stance_that_floats_is_put_down_where_it_is_known_to_last() {
    let (legs, rest) = figure::figure();
    let mut planter = planter(&legs);
    planter.set_look_ahead(0.3).unwrap();
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    // Comes down to 3.6 cm over its floor, as a recording may drift, within the 5 % of the leg of a contact.
    let sample = |time: f32, pose: &mut Pose| {
        pose.copy_from(&rest);
        let hips = rest.skeleton().find("hips").unwrap();
        let at = pose.position(hips) + Vec3::Y * (0.036 + (0.5 - time).max(0.0));
        pose.set_position(hips, at);
        Placement::IDENTITY
    };
    let ground = Plane { point: Vec3::ZERO, normal: Vec3::Y };
    let mut highest = 0.0f32;
    for frame in 0..120 {
        let time = frame as f32 / 60.0;
        let coming = |later: f32, pose: &mut Pose| sample(time + later, pose);
        planter.step_with(&mut feet, &ground, &mut pose, 1.0 / 60.0, coming).unwrap();
        for leg in legs.legs().iter().filter(|_| time > 1.0) {
            let foot = pose.model(leg.foot);
            for point in [leg.sole.heel, leg.sole.ball] {
                highest = highest.max(foot.transform_point3(point).y);
            }
        }
    }
    assert!(highest < 5e-3, "{highest}");
}

#[test]
fn what_comes_must_be_said_if_it_is_to_be_known() {
    let (legs, rest) = figure::figure();
    let mut planter = planter(&legs);
    for bad in [f32::NAN, f32::INFINITY, -0.1] {
        assert!(matches!(planter.set_look_ahead(bad), Err(FootPlanterError::Time(_))));
    }
    planter.set_look_ahead(0.31).unwrap();
    assert!((planter.look_ahead() - 0.3).abs() < 1e-6);
    let mut feet = planter.state();
    let mut pose = rest.clone();
    let world = Affine3::IDENTITY;
    assert!(matches!(
        planter.step(&mut feet, &mut pose, &placed(world), 0.01),
        Err(FootPlanterError::Unforeseen(0.0))
    ));
    assert_eq!(pose.locals(), rest.locals());
    // Ticks from the first frame to 0.3 s after it, a thirtieth of a second apart.
    for tick in 0..10 {
        let later = planter.next_tick(&feet, 0.01).unwrap();
        assert!((later - tick as f32 / 30.0).abs() < 1e-6, "{later}");
        planter.give_tick(&mut feet, &rest, &placed(world)).unwrap();
    }
    assert_eq!(planter.next_tick(&feet, 0.01), None);
    planter.step(&mut feet, &mut pose, &placed(world), 0.01).unwrap();
    // The next tick is a thirtieth of a second later: four steps of 10 ms pass it by 7 ms.
    for _ in 0..3 {
        assert_eq!(planter.next_tick(&feet, 0.01), None);
        planter.step(&mut feet, &mut pose, &placed(world), 0.01).unwrap();
    }
    let later = planter.next_tick(&feet, 0.01).unwrap();
    assert!((later - (0.3 + 1.0 / 30.0 - 0.04)).abs() < 1e-5, "{later}");
    assert!(matches!(
        planter.step(&mut feet, &mut pose, &placed(world), 0.01),
        Err(FootPlanterError::Unforeseen(_))
    ));
    planter.give_tick(&mut feet, &rest, &placed(world)).unwrap();
    planter.step(&mut feet, &mut pose, &placed(world), 0.01).unwrap();
    // A long step starts anew, as the first one.
    for (dt, first, ticks) in [(0.25, 0.3 - 0.25, 7), (2.0, 0.0, 10)] {
        let mut count = 0;
        while let Some(later) = planter.next_tick(&feet, dt) {
            assert!(later <= 0.3001 && later > first - 0.05, "{later}");
            planter.give_tick(&mut feet, &rest, &placed(world)).unwrap();
            count += 1;
        }
        assert_eq!(count, ticks, "{dt} s");
        planter.step(&mut feet, &mut pose, &placed(world), dt).unwrap();
    }
}

#[test]
fn beats_that_are_given_make_all_frame_rates_the_same() {
    let (legs, rest) = figure::figure();
    let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
    // Positions of the feet at the frames common to all rates: sixteen a second.
    let feet = |rate: usize| {
        let planter = planter(&legs);
        let mut feet = planter.state();
        let (mut pose, mut tick) = (rest.clone(), rest.clone());
        let dt = 1.0 / rate as f32;
        let mut found = Vec::new();
        for i in 0..=3 * rate {
            let time = i as f32 / rate as f32;
            figure::walk(&legs, &rest, time, &mut pose);
            while let Some(later) = planter.next_tick(&feet, dt) {
                // Without look-ahead no future tick is requested.
                assert!(later <= 1e-4 && later > -dt, "{later}");
                figure::walk(&legs, &rest, time + later, &mut tick);
                planter.give_tick(&mut feet, &tick, &placed(at(time + later))).unwrap();
            }
            planter.sense(&mut feet, &Steps, &pose, &placed(at(time))).unwrap();
            planter.step(&mut feet, &mut pose, &placed(at(time)), dt).unwrap();
            if i % (rate / 16) == 0 {
                found.extend(legs.legs().iter().map(|leg| (at(time) * pose.model(leg.foot)).translation));
            }
        }
        found
    };
    let fast = feet(144);
    for rate in [32, 48, 80] {
        for (i, (a, b)) in fast.iter().zip(&feet(rate)).enumerate() {
            let off = (*a - *b).length();
            assert!(off < 1e-3, "{off} m at {} s, {rate} Hz", i as f32 / 32.0);
        }
    }
}

#[test]
fn a_sampler_is_asked_for_what_is_due_and_the_frame_last() {
    let (legs, rest) = figure::figure();
    let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
    for look_ahead in [0.0, 0.3] {
        let (mut by_hand, mut with) = (planter(&legs), planter(&legs));
        by_hand.set_look_ahead(look_ahead).unwrap();
        with.set_look_ahead(look_ahead).unwrap();
        let (mut feet, mut feet_with) = (by_hand.state(), with.state());
        let (mut pose, mut tick, mut sampled) = (rest.clone(), rest.clone(), rest.clone());
        for i in 0..200 {
            let (time, dt) = (i as f32 / 75.0, 1.0 / 75.0);
            let mut times = Vec::new();
            while let Some(later) = by_hand.next_tick(&feet, dt) {
                figure::walk(&legs, &rest, time + later, &mut tick);
                by_hand.give_tick(&mut feet, &tick, &placed(at(time + later))).unwrap();
                times.push(later);
            }
            times.push(0.0);
            figure::walk(&legs, &rest, time, &mut pose);
            by_hand.sense(&mut feet, &Steps, &pose, &placed(at(time))).unwrap();
            let report = by_hand.step(&mut feet, &mut pose, &placed(at(time)), dt).unwrap();
            let mut asked = Vec::new();
            let same = with
                .step_with(&mut feet_with, &Steps, &mut sampled, dt, |later, pose| {
                    asked.push(later);
                    figure::walk(&legs, &rest, time + later, pose);
                    placed(at(time + later))
                })
                .unwrap();
            assert_eq!((report, &times, pose.locals()), (same, &asked, sampled.locals()), "frame {i}");
        }
        for bad in [f32::NAN, f32::INFINITY, -0.1] {
            let error =
                with.step_with(&mut feet_with, &Steps, &mut sampled, bad, |_, _| panic!("nothing is due"));
            assert!(matches!(error, Err(FootPlanterError::Time(_))), "{error:?}");
        }
    }
}

/// Legs that move in straight lines between keys thirty times a second, as clips do, out of phase with the ticks.
fn keyed(legs: &Figure, rest: &Pose, time: f32, pose: &mut Pose) {
    let key = (30.0 * time + 0.37).floor();
    let s = 30.0 * time + 0.37 - key;
    let [mut a, mut b] = [rest.clone(), rest.clone()];
    figure::walk(legs, rest, (key - 0.37) / 30.0, &mut a);
    figure::walk(legs, rest, (key + 0.63) / 30.0, &mut b);
    pose.copy_from(&a);
    for joint in rest.skeleton().below(rest.skeleton().find("hips").unwrap()) {
        let (from, to) = (a.local(joint), b.local(joint));
        let rotation = from.rotation.slerp(to.rotation, s);
        let translation = from.translation.lerp(to.translation, s);
        pose.set_local(joint, JointTransform { rotation, translation, ..*from });
    }
    pose.update();
}

#[test]
fn fast_frames_tell_what_stands_as_beats_do() {
    let (legs, rest) = figure::figure();
    let at = |time: f32| Affine3::from_translation(Vec3::Z * figure::SPEED * time);
    // Positions of the feet at the frames common to all rates: six a second.
    let feet = |rate: usize, ticks: bool| {
        let planter = planter(&legs);
        let mut feet = planter.state();
        let mut pose = rest.clone();
        let dt = 1.0 / rate as f32;
        let mut found = Vec::new();
        for i in 0..=4 * rate {
            let time = i as f32 / rate as f32;
            if ticks {
                let sample = |later, pose: &mut Pose| {
                    keyed(&legs, &rest, time + later, pose);
                    placed(at(time + later))
                };
                planter.step_with(&mut feet, &Steps, &mut pose, dt, sample).unwrap();
            } else {
                keyed(&legs, &rest, time, &mut pose);
                planter.sense(&mut feet, &Steps, &pose, &placed(at(time))).unwrap();
                planter.step(&mut feet, &mut pose, &placed(at(time)), dt).unwrap();
            }
            if i % (rate / 6) == 0 {
                found.extend(legs.legs().iter().map(|leg| (at(time) * pose.model(leg.foot)).translation));
            }
        }
        found
    };
    let given = feet(144, true);
    for rate in [30, 60, 72, 90, 144, 240] {
        for (i, (a, b)) in given.iter().zip(&feet(rate, false)).enumerate() {
            let off = (*a - *b).length();
            assert!(off < 4e-3, "{off} m at {} s, {rate} Hz", i as f32 / 12.0);
        }
    }
}

#[test]
fn casts_may_be_rarer_than_frames() {
    let (legs, _) = figure::figure();
    let mut every = Vec::new();
    let foot = |pose: &Pose, world: &Affine3| (*world * pose.model(legs.legs()[0].foot)).translation;
    walk(
        &planter(&legs),
        &mut planter(&legs).state(),
        &hill(),
        120,
        |_| true,
        |_, _, _, p, w| every.push(foot(p, w)),
    );
    walk(
        &planter(&legs),
        &mut planter(&legs).state(),
        &hill(),
        120,
        |i| i % 4 == 0,
        |i, _, _, p, w| {
            let off = (foot(p, w) - every[i]).length();
            assert!(off < 0.02, "{off} at {i}");
        },
    );
}

#[test]
fn the_same_calls_give_the_same_bits_and_a_reset_forgets() {
    let (legs, _) = figure::figure();
    let run = |feet: &mut FootPlanterState| {
        let mut all = Vec::new();
        walk(
            &planter(&legs),
            feet,
            &hill(),
            60,
            |_| true,
            |_, _, _, pose, _| all.extend_from_slice(pose.locals()),
        );
        all
    };
    let mut one = planter(&legs).state();
    let first = run(&mut one);
    one.reset();
    assert!(run(&mut one) == first);
    assert!(run(&mut planter(&legs).state()) == first);
}

#[test]
fn without_ground_the_animation_stays() {
    let (legs, _) = figure::figure();
    walk(
        &planter(&legs),
        &mut planter(&legs).state(),
        &Nothing,
        60,
        |_| true,
        |i, _, given, pose, _| {
            for leg in legs.legs() {
                let off = (pose.position(leg.foot) - given.position(leg.foot)).length();
                let (a, b) = (pose.position(leg.foot), given.position(leg.foot));
                assert!(off < 1e-4, "{off} at {i}: {a} {b}");
            }
        },
    );
}

#[test]
fn the_world_may_be_turned_scaled_and_far_up() {
    let (legs, rest) = figure::figure();
    let ground = Plane::level(300.0);
    let world = Affine3::from_scale_rotation_translation(
        Vec3::splat(2.0),
        Quat::from_rotation_y(1.0),
        Vec3::new(5.0, 10.0, -7.0),
    );
    let planter = planter(&legs);
    let mut feet = planter.state();
    let mut pose = rest.clone();
    for _ in 0..30 {
        figure::walk(&legs, &rest, 0.2, &mut pose);
        planter.sense(&mut feet, &ground, &pose, &placed(world)).unwrap();
        planter.step(&mut feet, &mut pose, &placed(world), 0.02).unwrap();
    }
    let leg = &legs.legs()[0];
    let heel = (world * pose.model(leg.foot)).transform_point3(leg.sole.heel);
    assert!((heel.y - 300.0).abs() < 5e-3, "{heel}");
}

#[test]
fn contact_may_be_given() {
    let (legs, _) = figure::figure();
    let mut given = planter(&legs).state();
    given.set_contact(0, Some(0.0)).unwrap();
    walk(
        &planter(&legs),
        &mut given,
        &hill(),
        60,
        |_| true,
        |i, planter, _, _, _| {
            assert!(!planter.stands(0), "at {i}");
        },
    );
    assert_eq!(given.set_contact(2, None), Err(FootPlanterError::Leg { leg: 2, count: 2 }));
}

/// A hill without casts.
struct Uncast;

impl Ground for Uncast {
    fn cast_ray(&self, _: Vec3, _: Vec3, _: f32, _: &Filter) -> Option<Hit> {
        panic!("a figure without influence casts");
    }
}

#[test]
fn a_leg_without_influence_keeps_the_animation_and_fades_without_a_leap() {
    let with = |influence: [f32; 2]| {
        let (mut legs, _) = figure::figure();
        legs.legs_mut().iter_mut().zip(influence).for_each(|(leg, i)| leg.influence = i);
        planter(&legs)
    };
    let (legs, _) = figure::figure();
    let leg = &legs.legs()[0];
    let joints = [leg.thigh, leg.shin, leg.foot];
    let free = with([0.0, 1.0]);
    walk(
        &free,
        &mut free.state(),
        &hill(),
        60,
        |_| true,
        |i, _, given, pose, _| {
            for joint in joints {
                assert_eq!(pose.local(joint), given.local(joint), "joint {joint} at {i}");
            }
        },
    );
    // The pelvis follows the leg of the largest influence: none here.
    let none = with([0.0, 0.0]);
    walk(
        &none,
        &mut none.state(),
        &hill(),
        60,
        |_| true,
        |_, _, given, pose, _| {
            assert_eq!(pose.locals(), given.locals());
        },
    );
    // An influence larger by a twentieth turns no joint by more than three twentieths of the whole turn.
    let turns = |influence: f32| {
        let planter = with([influence, 1.0]);
        let mut last = Vec::new();
        walk(
            &planter,
            &mut planter.state(),
            &hill(),
            60,
            |_| true,
            |_, _, _, pose, _| {
                last = joints.map(|j| pose.local(j).rotation).to_vec();
            },
        );
        last
    };
    let turned = |a: &[Quat], b: &[Quat]| {
        a.iter().zip(b).map(|(a, b)| sinew::math::angle_between(*a, *b)).fold(0.0f32, f32::max)
    };
    let path: Vec<_> = (0..=20).map(|i| turns(0.05 * i as f32)).collect();
    let whole = turned(&path[0], &path[20]);
    assert!(whole > 0.05, "{whole}");
    for pair in path.windows(2) {
        let step = turned(&pair[0], &pair[1]);
        assert!(step < 3.0 * 0.05 * whole, "{step} of {whole}");
    }
    for bad in [f32::NAN, -1.0, 2.0] {
        let planter = with([1.0, bad]);
        let (_, mut pose) = figure::figure();
        let before = pose.locals().to_vec();
        let mut feet = planter.state();
        planter.sense(&mut feet, &hill(), &pose, &Placement::IDENTITY).unwrap();
        let step = planter.step(&mut feet, &mut pose, &Placement::IDENTITY, 0.01);
        assert!(matches!(step, Err(FootPlanterError::Solve(_))), "{bad}: {step:?}");
        assert_eq!(pose.locals(), before);
    }
}

/// Walks up steps for four seconds with an influence for each frame, `None` for one that is not set. Returns the animation and
/// the planted pose of each frame.
fn influenced(look_ahead: f32, influence: impl Fn(usize) -> Option<f32>) -> Vec<[Pose; 2]> {
    let (legs, rest) = figure::figure();
    let mut planter = planter(&legs);
    planter.set_look_ahead(look_ahead).unwrap();
    let (mut feet, mut pose, mut given) = (planter.state(), rest.clone(), rest.clone());
    let mut frames = Vec::new();
    for frame in 0..240 {
        let time = frame as f32 / 60.0;
        let influence = influence(frame);
        if let Some(influence) = influence {
            feet.set_influence(influence).unwrap();
        }
        let ground: &dyn Ground = if influence == Some(0.0) { &Uncast } else { &Steps };
        let mut asked = 0;
        let sample = |later: f32, pose: &mut Pose| {
            asked += 1;
            figure::walk(&legs, &rest, time + later, pose);
            placed(Affine3::from_translation(Vec3::Z * figure::SPEED * (time + later)))
        };
        let report = planter.step_with(&mut feet, ground, &mut pose, 1.0 / 60.0, sample).unwrap();
        figure::walk(&legs, &rest, time, &mut given);
        if influence == Some(0.0) {
            assert_eq!((asked, report.raise, report.standing), (1, 0.0, 0));
            assert_eq!([feet.stands(0), feet.stands(1)], [false; 2]);
        }
        frames.push([given.clone(), pose.clone()]);
    }
    frames
}

#[test]
fn one_influence_goes_from_the_animation_to_planting_without_a_leap() {
    for look_ahead in [0.0, 0.3] {
        for [given, planted] in influenced(look_ahead, |_| Some(0.0)) {
            assert_eq!(given.locals(), planted.locals());
        }
        let whole = influenced(look_ahead, |_| None);
        for (one, whole) in influenced(look_ahead, |_| Some(1.0)).iter().zip(&whole) {
            assert_eq!(one[1].locals(), whole[1].locals());
        }
        // Displacement of planting from frame to frame: of the turns of joints, and of the pelvis' height in metres.
        let leap = |frames: &[[Pose; 2]]| {
            let hips = frames[0][0].skeleton().find("hips").unwrap();
            let by = |[given, planted]: &[Pose; 2], joint| {
                sinew::math::mul(
                    sinew::math::conjugate(given.local(joint).rotation),
                    planted.local(joint).rotation,
                )
            };
            let mut most = [0.0f32; 2];
            for pair in frames.windows(2) {
                for joint in pair[0][0].skeleton().joints() {
                    let turn = sinew::math::angle_between(by(&pair[0], joint), by(&pair[1], joint));
                    most[0] = most[0].max(turn);
                }
                let raise = |[given, planted]: &[Pose; 2]| planted.position(hips).y - given.position(hips).y;
                most[1] = most[1].max((raise(&pair[1]) - raise(&pair[0])).abs());
            }
            most
        };
        let usual = leap(&whole);
        // From 0 to 1 and back in a second each, with two frames at 0.
        for frames in [60, 15] {
            let sweep = influenced(look_ahead, |frame| {
                let there = frame % (2 * frames + 2);
                Some(there.min(2 * frames - there.min(2 * frames)) as f32 / frames as f32)
            });
            let most = leap(&sweep);
            // The walk climbs 1.1 m in four seconds, and its planted pelvis with it.
            let raise = 1.2 / frames as f32;
            assert!(
                usual[0] > 0.1 && most[0] < 1.2 * usual[0] && most[1] < usual[1] + raise,
                "{look_ahead}, {frames}: {most:?} of {usual:?}"
            );
        }
    }
    let (legs, _) = figure::figure();
    let mut feet = planter(&legs).state();
    for bad in [f32::NAN, -1.0, 2.0, f32::INFINITY] {
        assert!(matches!(feet.set_influence(bad), Err(FootPlanterError::Solve(_))), "{bad}");
    }
}

#[test]
fn what_is_not_finite_stays_out() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let mut feet = planter.state();
    let mut pose = rest.clone();
    let world = Affine3::IDENTITY;
    for dt in [f32::NAN, f32::INFINITY, -0.1] {
        assert!(matches!(
            planter.step(&mut feet, &mut pose, &placed(world), dt),
            Err(FootPlanterError::Time(_))
        ));
    }
    for bad in [
        Affine3::from_translation(Vec3::NAN),
        Affine3::from_scale(Vec3::new(1.0, 2.0, 1.0)),
        Affine3::from_scale(Vec3::ZERO),
    ] {
        assert!(Placement::new(bad).is_err(), "{bad}");
    }
    for point in [Vec3::NAN, Vec3::X * f32::INFINITY, Vec3::new(0.0, 1e20, 0.0), Vec3::splat(3e38)] {
        let mut legs = legs.clone();
        legs.legs_mut()[1].sole.heel = point;
        let planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
        let mut feet = planter.state();
        let step = planter.step(&mut feet, &mut pose, &placed(world), 0.01);
        assert!(matches!(step, Err(FootPlanterError::Sole { leg: 1, .. })), "{point}: {step:?}");
        let sensed = planter.sense(&mut feet, &hill(), &pose, &placed(world));
        assert!(matches!(sensed, Err(FootPlanterError::Sole { leg: 1, .. })), "{point}: {sensed:?}");
    }
    assert_eq!(pose.locals(), rest.locals());
    let foot = legs.legs()[0].foot;
    pose.set_translation(foot, Vec3::new(0.0, f32::NAN, 0.0));
    assert!(matches!(
        planter.step(&mut feet, &mut pose, &placed(world), 0.01),
        Err(FootPlanterError::Pose(_))
    ));
    assert!(matches!(
        planter.sense(&mut feet, &hill(), &pose, &placed(world)),
        Err(FootPlanterError::Pose(_))
    ));
}

#[test]
fn a_pose_with_too_few_joints_is_refused() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let mut feet = planter.state();
    let mut b = Skeleton::builder();
    b.add("hips", None, JointTransform::IDENTITY);
    let mut small = Pose::rest(&Arc::new(b.build().unwrap().0));
    let here = Placement::IDENTITY;
    let last = planter.figure().legs()[1].toes.unwrap().index();
    assert_eq!(last + 1, rest.skeleton().len());
    let refused = Err(FootPlanterError::Figure { joint: last, joints: 1 });
    assert_eq!(planter.sense(&mut feet, &hill(), &small, &here), refused);
    assert_eq!(planter.give_tick(&mut feet, &small, &here), refused);
    assert_eq!(planter.step(&mut feet, &mut small, &here, 0.01).map(|_| ()), refused);
}

#[test]
fn no_time_changes_nothing_and_much_time_is_fine() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let mut feet = planter.state();
    let mut pose = rest.clone();
    let mut step = |feet: &mut FootPlanterState, dt: f32| {
        figure::walk(&legs, &rest, 0.1, &mut pose);
        planter.sense(feet, &hill(), &pose, &placed(Affine3::IDENTITY)).unwrap();
        planter.step(feet, &mut pose, &placed(Affine3::IDENTITY), dt).unwrap();
        pose.locals().to_vec()
    };
    step(&mut feet, 0.0);
    let before = step(&mut feet, 0.1);
    assert_eq!(step(&mut feet, 0.0), before);
    for dt in [3.0, 1e9, f32::MAX, 1e-9] {
        assert!(step(&mut feet, dt).iter().all(|t| t.is_finite()), "{dt}");
    }
}

#[test]
fn a_state_of_another_foot_planter_is_refused() {
    let (legs, rest) = figure::figure();
    let (one, mut other) = (planter(&legs), planter(&legs));
    other.set_look_ahead(0.3).unwrap();
    let swapped = Figure::new(
        &rest,
        rest.skeleton().find("hips").unwrap(),
        legs.legs().iter().rev().cloned().collect(),
        1.8,
    );
    let swapped = planter(&swapped.unwrap());
    let mut pose = rest.clone();
    let here = Placement::IDENTITY;
    for mut feet in [other.state(), swapped.state()] {
        let error = one.step(&mut feet, &mut pose, &here, 0.01);
        assert_eq!(error, Err(FootPlanterError::State));
        let error = one.sense(&mut feet, &hill(), &pose, &here);
        assert_eq!(error, Err(FootPlanterError::State));
        let error = one.give_tick(&mut feet, &pose, &here);
        assert_eq!(error, Err(FootPlanterError::State));
    }
    assert_eq!(pose.locals(), rest.locals());
}

/// A ledge of half a metre, from which a hill of 0.2 m per metre goes down.
struct Ledge;

impl Ground for Ledge {
    fn cast_ray(&self, from: Vec3, way: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let level = Plane::level(0.5);
        let below = Plane { point: Vec3::ZERO, normal: Vec3::new(0.0, 1.0, HILL).normalize() };
        let upper = level.cast_ray(from, way, reach, filter).filter(|hit| hit.point.z < 0.0);
        upper.or_else(|| below.cast_ray(from, way, reach, filter).filter(|hit| hit.point.z >= 0.0))
    }
}

#[test]
fn a_jump_off_a_ledge_is_the_animation_and_lands_without_a_leap() {
    let (legs, rest) = figure::figure();
    const RATE: f32 = 60.0;
    for look_ahead in [0.0, 0.3] {
        let mut planter = planter(&legs);
        planter.set_look_ahead(look_ahead).unwrap();
        let (mut feet, mut pose) = (planter.state(), rest.clone());
        // Bent legs, one foot before the other; the jump takes 0.5 s and a metre.
        let mut given = rest.clone();
        figure::walk(&legs, &rest, 0.05, &mut given);
        let flight = 1.0..1.5;
        let place = |time: f32| {
            let s = ((time - flight.start) / (flight.end - flight.start)).clamp(0.0, 1.0);
            let z = s - 0.4;
            // The character controller's capsule stands on the ground under its middle.
            let ground = 0.5 + s * (-HILL * 0.6 - 0.5);
            placed(Affine3::from_translation(Vec3::new(0.0, ground + 1.2 * s * (1.0 - s), z)))
        };
        let mut last: Option<Pose> = None;
        let mut fastest = 0.0f32;
        for frame in 0..180 {
            let time = frame as f32 / RATE;
            feet.set_grounded(!flight.contains(&time));
            let mut asked = 0;
            let sample = |later: f32, pose: &mut Pose| {
                asked += 1;
                pose.copy_from(&given);
                place(time + later)
            };
            let report = planter.step_with(&mut feet, &Ledge, &mut pose, 1.0 / RATE, sample).unwrap();
            if (flight.start + 0.22..flight.end).contains(&time) {
                assert_eq!((report.raise, report.standing, asked), (0.0, 0, 1), "{time} s");
                for joint in rest.skeleton().joints() {
                    assert_eq!(pose.local(joint), given.local(joint), "{time} s, {joint}");
                }
            }
            let stands = !(flight.start..flight.end + 0.15).contains(&time);
            if stands && frame > 0 {
                assert_eq!(report.standing, 2, "{time} s");
                for leg in legs.legs() {
                    let world = place(time);
                    let heel = pose.model(leg.foot).transform_point3(leg.sole.heel);
                    let heel = world.world_from_model().transform_point3(heel);
                    let ground = if heel.z < 0.0 { 0.5 } else { -HILL * heel.z };
                    assert!(
                        (heel.y - ground).abs() < 2e-3,
                        "{look_ahead}, {time} s: {heel}, ground {ground}"
                    );
                }
            }
            if let Some(last) = &last {
                for joint in rest.skeleton().joints() {
                    let turn =
                        sinew::math::angle_between(last.local(joint).rotation, pose.local(joint).rotation);
                    fastest = fastest.max(turn * RATE);
                }
            }
            last = Some(pose.clone());
        }
        // The animation stands still. The hill turns feet by 0.2 rad, and one foot is 5 cm lower.
        assert!(fastest > 0.1 && fastest < 6.0, "{look_ahead}: {fastest} rad/s");
    }
}

#[test]
fn a_hop_shorter_than_the_fade_turns_back() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    let mut given = rest.clone();
    figure::walk(&legs, &rest, 0.05, &mut given);
    let mut last: Option<Vec3> = None;
    for frame in 0..90 {
        feet.set_grounded(!(40..43).contains(&frame));
        let sample = |_: f32, pose: &mut Pose| {
            pose.copy_from(&given);
            Placement::IDENTITY
        };
        planter.step_with(&mut feet, &hill(), &mut pose, 1.0 / 60.0, sample).unwrap();
        let ankle = pose.position(legs.legs()[0].foot);
        // The hill moves the foot by 15 cm in all: an eighth of it a frame.
        assert!(last.is_none_or(|last| last.distance(ankle) < 0.02), "{frame}: {last:?} to {ankle}");
        last = Some(ankle);
    }
    assert_eq!([feet.stands(0), feet.stands(1)], [true; 2]);
}

/// Ground under a figure that stands: it goes away, comes back lower, and is drawn down; what the feet and the report make of
/// it. No foot is faster than 3 m/s, which its spring makes of 10 cm.
#[test]
fn standing_feet_notice_that_their_ground_goes_and_comes() {
    for look_ahead in [0.0, 0.3] {
        let (legs, rest) = figure::figure();
        let mut planter = planter(&legs);
        planter.set_look_ahead(look_ahead).unwrap();
        let (mut feet, mut pose) = (planter.state(), rest.clone());
        let heel = |pose: &Pose, i: usize| {
            let leg = &legs.legs()[i];
            pose.model(leg.foot).transform_point3(leg.sole.heel)
        };
        let mut was: Option<[Vec3; 2]> = None;
        for frame in 0..360 {
            let time = frame as f32 / 60.0;
            let level = Plane::level(if time < 3.0 { 0.0 } else { -0.1 });
            let ground: &dyn Ground = if (1.0..2.0).contains(&time) { &Nothing } else { &level };
            let sample = |_: f32, pose: &mut Pose| {
                pose.copy_from(&rest);
                Placement::IDENTITY
            };
            let report = planter.step_with(&mut feet, ground, &mut pose, 1.0 / 60.0, sample).unwrap();
            // A tick, a search and the springs.
            let settled = |from: f32| time > from + 0.9;
            if settled(0.0) && time < 1.0 || settled(2.0) && time < 3.0 || settled(3.0) {
                assert_eq!(report.standing, 2, "{look_ahead}, at {time} s");
                let floor = if time < 3.0 { 0.0 } else { -0.1 };
                for i in 0..2 {
                    assert!(
                        (heel(&pose, i).y - floor).abs() < 1e-3,
                        "{look_ahead}, at {time} s: {}",
                        heel(&pose, i)
                    );
                }
            }
            if settled(1.0) && time < 2.0 {
                assert_eq!(report.standing, 0, "{look_ahead}, at {time} s");
            }
            let now = [0, 1].map(|i| heel(&pose, i));
            if let Some(was) = was {
                let fastest = (0..2).map(|i| (now[i] - was[i]).length() * 60.0).fold(0.0, f32::max);
                assert!(fastest < 3.0, "{look_ahead}, at {time} s: {fastest} m/s");
            }
            was = Some(now);
        }
    }
}

/// A figure that stands is carried down stairs at a speed at which its feet still stand, but not firmly.
#[test]
fn feet_that_are_dragged_come_down_where_the_ground_does() {
    let (legs, rest) = figure::figure();
    let mut planter = planter(&legs);
    planter.set_look_ahead(0.3).unwrap();
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    let at = |time: f32| placed(Affine3::from_translation(Vec3::Z * (3.0 - 0.6 * (time - 0.5).max(0.0))));
    let mut highest = 0.0f32;
    for frame in 0..240 {
        let time = frame as f32 / 60.0;
        let coming = |later: f32, pose: &mut Pose| {
            pose.copy_from(&rest);
            at(time + later)
        };
        planter.step_with(&mut feet, &Steps, &mut pose, 1.0 / 60.0, coming).unwrap();
        for leg in legs.legs() {
            let ball = at(time).to_world(pose.model(leg.foot).transform_point3(leg.sole.ball));
            highest = highest.max(ball.y - Steps::height(ball.z));
        }
    }
    // A step is 8 cm high.
    assert!(highest > 0.07 && highest < 0.12, "{highest}");
}

/// A figure whose ankles bend by 15 degrees stands on hills. From 19 degrees on they would bend beyond 34 degrees: the heel lifts,
/// and the ball stays. Across all slopes the ankle eases into its end, without a leap.
#[test]
fn an_ankle_ends_where_the_heel_lifts() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let mut bent = rest.clone();
    let skeleton = Arc::clone(rest.skeleton());
    bent.set_position(
        skeleton.find("hips").unwrap(),
        Vec3::new(0.0, 0.07 + 0.86 * 15f32.to_radians().cos(), 0.0),
    );
    for leg in legs.legs() {
        for (joint, degrees) in [(leg.thigh, -15.0f32), (leg.shin, 30.0), (leg.foot, -15.0)] {
            bent.set_rotation(joint, Quat::from_rotation_x(degrees.to_radians()));
        }
    }
    bent.update();
    let mut before: Option<Vec<Vec3>> = None;
    for degrees in 0..=44 {
        let normal = Quat::from_rotation_x(-(degrees as f32).to_radians()) * Vec3::Y;
        let hill = Plane { point: Vec3::ZERO, normal };
        let (mut feet, mut pose) = (planter.state(), bent.clone());
        for _ in 0..60 {
            pose.copy_from(&bent);
            planter.sense(&mut feet, &hill, &pose, &Placement::IDENTITY).unwrap();
            let report = planter.step(&mut feet, &mut pose, &Placement::IDENTITY, 1.0 / 60.0).unwrap();
            assert_eq!(report.standing, 2);
        }
        let mut ankles = Vec::new();
        for leg in legs.legs() {
            let [knee, ankle] = [leg.shin, leg.foot].map(|j| pose.position(j));
            let [heel, ball] =
                [leg.sole.heel, leg.sole.ball].map(|p| pose.model(leg.foot).transform_point3(p));
            let angle = 90.0 - (knee - ankle).angle_between(ball - heel).to_degrees();
            let over = |p: Vec3| p.dot(normal);
            assert!(angle < 34.5, "{angle} degrees on a hill of {degrees}");
            assert!(
                over(ball).abs() < 2e-3 && over(heel) > -2e-3,
                "{degrees}: {} {}",
                over(ball),
                over(heel)
            );
            assert!(degrees > 14 || over(heel) < 2e-3, "{degrees}: {}", over(heel));
            assert!(degrees < 25 || over(heel) > 0.01, "{degrees}: {}", over(heel));
            ankles.push(ankle);
        }
        if let Some(before) = before {
            let most = ankles.iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
            assert!(most < 0.03, "{degrees}: the ankle leaps by {most} m in a degree");
        }
        before = Some(ankles);
    }
}

#[test]
fn a_jump_fades_planting_in_the_times_of_the_options() {
    let (legs, rest) = figure::figure();
    let options = PlantOptions::new().with_leaving_time(0.5).with_landing_time(0.3);
    let planter = FootPlanter::new(&legs, options).unwrap();
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    feet.set_contact(1, Some(1.0)).unwrap();
    let mut shows = |grounded: bool, frames: usize| {
        let mut raises = Vec::new();
        for _ in 0..frames {
            feet.set_grounded(grounded);
            // Bent legs, so that both feet reach.
            figure::walk(&legs, &rest, 0.2, &mut pose);
            planter.sense(&mut feet, &Plane::level(0.1), &pose, &Placement::IDENTITY).unwrap();
            raises.push(planter.step(&mut feet, &mut pose, &Placement::IDENTITY, 0.02).unwrap().raise);
        }
        raises
    };
    let stands = shows(true, 50)[49];
    assert!((stands - 0.1).abs() < 0.01, "{stands}");
    let fades = shows(false, 30);
    assert!(fades[22] > 1e-4 && fades[26..].iter().all(|raise| *raise == 0.0), "{fades:?}");
    let returns = shows(true, 20);
    assert!(returns[10] < 0.95 * stands && (returns[16] - stands).abs() < 0.01, "{returns:?}");
    for bad in [0.0, f32::NAN, 11.0] {
        assert!(FootPlanter::new(&legs, PlantOptions::new().with_leaving_time(bad)).is_err());
        assert!(FootPlanter::new(&legs, PlantOptions::new().with_landing_time(bad)).is_err());
    }
}

/// A floor of body 7 for z below 0.1 m, and of body 8 from there on.
struct TwoBodies;

impl Ground for TwoBodies {
    fn cast_ray(&self, from: Vec3, way: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        let hit = Plane::level(0.0).cast_ray(from, way, reach, filter)?;
        Some(hit.with_body(if hit.point.z < 0.1 { 7 } else { 8 }))
    }
}

#[test]
fn bodies_under_the_pelvis_and_the_feet_are_told() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    assert_eq!((feet.body_below(), feet.body_below_foot(0)), (None, None));
    for _ in 0..10 {
        // One foot is ahead, the other behind.
        figure::walk(&legs, &rest, 0.05, &mut pose);
        let here = placed(Affine3::from_rotation_translation(Quat::from_rotation_y(0.4), Vec3::ZERO));
        let ground = placed(Affine3::from_rotation_y(0.4).inverse());
        planter.sense(&mut feet, &ground.ground(&TwoBodies), &pose, &here).unwrap();
        planter.step(&mut feet, &mut pose, &here, 0.02).unwrap();
    }
    let balls = [0, 1].map(|i| pose.model(legs.legs()[i].foot).transform_point3(legs.legs()[i].sole.ball).z);
    assert!(balls[0] > 0.15 && balls[1] < 0.05, "{balls:?}");
    assert_eq!([feet.body_below_foot(0), feet.body_below_foot(1)], [Some(8), Some(7)]);
    assert_eq!((feet.body_below(), feet.body_below_foot(2)), (Some(7), None));
    feet.reset();
    assert_eq!((feet.body_below(), feet.body_below_foot(0)), (None, None));
}

/// Largest angle between the same joints of two poses, in radians.
fn apart(a: &Pose, b: &Pose) -> f32 {
    let joints = a.skeleton().joints();
    joints.map(|j| sinew::math::angle_between(a.local(j).rotation, b.local(j).rotation)).fold(0.0, f32::max)
}

/// A floor with an infinitely deep hole for x below 0.
struct Hole;

impl Ground for Hole {
    fn cast_ray(&self, from: Vec3, way: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        Plane::level(0.0).cast_ray(from, way, reach, filter).filter(|hit| hit.point.x >= 0.0)
    }
}

#[test]
fn a_foot_says_what_it_does_and_why_it_does_not_stand() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let mut feet = planter.state();
    let mut pose = rest.clone();
    let mut step = |feet: &mut FootPlanterState, ground: &dyn Ground| {
        pose.copy_from(&rest);
        planter.sense(feet, ground, &pose, &Placement::IDENTITY).unwrap();
        planter.step(feet, &mut pose, &Placement::IDENTITY, 0.02).unwrap();
        assert!(pose.locals().iter().all(|local| local.is_finite()));
        // Planting bends the straight knee of the foot that stands.
        assert!(apart(&pose, &rest) < 0.5, "{}", apart(&pose, &rest));
    };
    assert_eq!(feet.foot(0), Some(FootState::Air));
    for _ in 0..10 {
        step(&mut feet, &Hole);
    }
    assert_eq!(feet.foot(0), Some(FootState::Standing));
    assert_eq!(feet.foot(1), Some(FootState::Refused(Unplanted::NoGround)));
    assert_eq!((feet.stands(0), feet.stands(1), feet.foot(2)), (true, false, None));
    feet.set_contact(0, Some(0.0)).unwrap();
    for _ in 0..5 {
        step(&mut feet, &Hole);
    }
    assert_eq!(feet.foot(0), Some(FootState::Air));
    // No ground at all, from the first frame on.
    let mut feet = planter.state();
    for _ in 0..5 {
        step(&mut feet, &Nothing);
    }
    assert_eq!(feet.foot(0), Some(FootState::Refused(Unplanted::NoGround)));
}

#[test]
fn a_figure_upside_down_stays_finite_and_near_its_animation() {
    let (legs, rest) = figure::figure();
    for look_ahead in [0.0, 0.3] {
        let mut planter = planter(&legs);
        planter.set_look_ahead(look_ahead).unwrap();
        let (mut feet, mut pose, mut given) = (planter.state(), rest.clone(), rest.clone());
        for frame in 0..120 {
            let time = frame as f32 / 60.0;
            let at = |time: f32| Affine3::from_translation(Vec3::new(0.0, 0.9, time));
            let sample = |later: f32, pose: &mut Pose| {
                figure::walk(&legs, &rest, time + later, pose);
                placed(at(time + later) * Affine3::from_rotation_x(std::f32::consts::PI))
            };
            let report = planter.step_with(&mut feet, &hill(), &mut pose, 1.0 / 60.0, sample).unwrap();
            figure::walk(&legs, &rest, time, &mut given);
            assert!(report.raise.is_finite() && report.out_of_reach.is_finite(), "{report:?}");
            assert!(pose.locals().iter().all(|local| local.is_finite()), "frame {frame}");
        }
    }
}

#[test]
fn a_foothold_out_of_reach_is_reported() {
    let (legs, rest) = figure::figure();
    let planter = planter(&legs);
    let (mut feet, mut pose) = (planter.state(), rest.clone());
    let mut step = |feet: &mut FootPlanterState, z: f32, dt: f32| {
        figure::walk(&legs, &rest, 0.2, &mut pose);
        let here = placed(Affine3::from_translation(Vec3::Z * z));
        planter.sense(feet, &Plane::level(0.0), &pose, &here).unwrap();
        let report = planter.step(feet, &mut pose, &here, dt).unwrap();
        assert!(pose.locals().iter().all(|local| local.is_finite()));
        report
    };
    for _ in 0..20 {
        assert!(step(&mut feet, 0.0, 1.0 / 60.0).out_of_reach < 1e-3);
    }
    // The game moves the figure by two metres without a reset. The foot stands until the next tick.
    let report = step(&mut feet, 2.0, 1e-3);
    assert!(feet.stands(0) && report.out_of_reach > 0.5 && report.out_of_reach < 2.0, "{report:?}");
    for _ in 0..60 {
        step(&mut feet, 2.0, 1.0 / 60.0);
    }
    let report = step(&mut feet, 2.0, 1.0 / 60.0);
    assert!(feet.stands(0) && report.out_of_reach < 2e-3, "{report:?} {:?}", feet.foot(0));
}

#[test]
fn a_frame_of_a_second_displaces_no_joint_more_than_others() {
    let (legs, rest) = figure::figure();
    let grounds: [&dyn Ground; 2] = [&hill(), &Steps];
    for (ground, look_ahead, sampled) in grounds
        .into_iter()
        .flat_map(|ground| [(ground, 0.0, false), (ground, 0.0, true), (ground, 0.3, true)])
    {
        // Largest turn of planting from the animation, without long frames and with three of them.
        let mut found = [0.0f32; 2];
        for (run, found) in found.iter_mut().enumerate() {
            let mut planter = planter(&legs);
            planter.set_look_ahead(look_ahead).unwrap();
            let (mut feet, mut pose, mut given) = (planter.state(), rest.clone(), rest.clone());
            let mut time = 0.0;
            for frame in 0..180 {
                let dt = if run == 1 && frame % 60 == 37 { 1.0 } else { 1.0 / 60.0 };
                time += dt;
                let sample = |later: f32, pose: &mut Pose| {
                    figure::walk(&legs, &rest, time + later, pose);
                    placed(Affine3::from_translation(Vec3::Z * figure::SPEED * (time + later)))
                };
                if sampled {
                    planter.step_with(&mut feet, ground, &mut pose, dt, sample).unwrap();
                } else {
                    let here = sample(0.0, &mut pose);
                    planter.sense(&mut feet, ground, &pose, &here).unwrap();
                    planter.step(&mut feet, &mut pose, &here, dt).unwrap();
                }
                figure::walk(&legs, &rest, time, &mut given);
                *found = found.max(apart(&pose, &given));
            }
        }
        // A second takes the figure up three steps, and nothing has cast on them before the frame. Without a sampler, nothing
        // has at the frame either.
        let most = if sampled { 1.1 } else { 1.3 };
        assert!(found[0] > 0.1 && found[1] < most * found[0], "{look_ahead}, {sampled}: {found:?}");
    }
}
