//! Judges planting on moving platforms: it is the same as on the floor, and boarding and leaving move no foot that stands.

use crate::figure;

use sinew::{
    Placement, Pose,
    glam::{Affine3, Quat, Vec3},
    ground::{
        Filter, Ground, Hit, Plane, Platform,
        plant::{FootPlanter, FootPlanterState, PlantOptions},
    },
    math::angle_between,
};

const RATE: f32 = 60.0;
/// Length of the figure's leg, in metres.
const LEG: f32 = 0.86;

/// Stairs up along +Z, 8 cm high and 33 cm deep.
struct Steps;

impl Ground for Steps {
    fn cast_ray(&self, from: Vec3, _: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        Plane::level(0.08 * (from.z / 0.33).floor().max(0.0)).cast_ray(from, Vec3::NEG_Y, reach, filter)
    }
}

fn placed(world: Affine3) -> Placement {
    Placement::new(world).unwrap()
}

fn turned(yaw: f32, at: Vec3) -> Affine3 {
    Affine3::from_rotation_translation(Quat::from_rotation_y(yaw), at)
}

/// Positions of the feet and knees of a walk on a platform, frame by frame, in the figure's model space.
fn walk(on: &dyn Ground, look_ahead: f32, platform: impl Fn(f32) -> Affine3) -> Vec<Vec3> {
    let (legs, rest) = figure::figure();
    let mut planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    planter.set_look_ahead(look_ahead).unwrap();
    let (mut feet, mut pose, mut found) = (planter.state(), rest.clone(), Vec::new());
    for frame in 0..180 {
        let time = frame as f32 / RATE;
        let world = Placement::new(platform(time).inverse()).unwrap();
        let sample = |later: f32, pose: &mut Pose| {
            let time = time + later;
            figure::walk(&legs, &rest, time, pose);
            let figure = turned(0.0, Vec3::Z * figure::SPEED * time);
            Platform::new(placed(platform(time))).relative(&placed(platform(time) * figure)).unwrap()
        };
        let ground = world.ground(on);
        let here = Platform::new(placed(platform(time)));
        planter.step_with(&mut feet, &here.ground(&ground), &mut pose, 1.0 / RATE, sample).unwrap();
        found.extend(legs.legs().iter().flat_map(|leg| [leg.shin, leg.foot]).map(|j| pose.position(j)));
    }
    found
}

#[test]
fn planting_on_a_platform_is_planting_on_the_floor() {
    let platforms: [(&str, &dyn Fn(f32) -> Affine3); 4] = [
        ("a walkway", &|t| turned(0.4, Vec3::new(2.0, 0.5, 1.0) + Vec3::X * t)),
        ("a lift", &|t| turned(0.0, Vec3::new(2.0, 0.5 * t * t, 1.0))),
        ("a turntable", &|t| turned(t, Vec3::new(2.0, 0.5, 1.0))),
        ("a ship", &|t| Affine3::from_quat(Quat::from_rotation_z(0.1 * t.sin())) * turned(0.0, Vec3::Z * t)),
    ];
    for (look_ahead, ground) in [(0.0, 0), (0.3, 0), (0.0, 1), (0.3, 1)] {
        let ground: &dyn Ground = if ground == 0 { &Plane::level(0.1) } else { &Steps };
        let floor = walk(ground, look_ahead, |_| Affine3::IDENTITY);
        for (name, platform) in platforms {
            let off = floor.iter().zip(walk(ground, look_ahead, platform)).map(|(a, b)| a.distance(b));
            let off = off.fold(0.0, f32::max);
            assert!(off < 1e-4 * LEG, "{name}, look-ahead {look_ahead}: {off} m");
        }
    }
}

/// Results of boarding and leaving.
#[derive(Debug)]
struct Ride {
    /// Largest speed of a standing foot against its platform, in m/s.
    slide: f32,
    /// Largest angular velocity of a joint, planted and in the animation, in rad/s.
    turning: [f32; 2],
    /// Largest distance by which a foot moves relative to its hip in a frame, planted and in the animation, in metres.
    leap: [f32; 2],
    /// Steps that stood long enough to be judged, on the floor and on the platform.
    steps: [usize; 2],
}

/// Walks on level ground, on `moving` between the times `boards`.
fn ride(look_ahead: f32, boards: [f32; 2], moving: impl Fn(f32) -> Platform) -> Ride {
    let (legs, rest) = figure::figure();
    let ground = Plane::level(0.0);
    let mut planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    planter.set_look_ahead(look_ahead).unwrap();
    let mut feet: FootPlanterState = planter.state();
    let [mut pose, mut given] = [rest.clone(), rest.clone()];
    let mut last: Option<[Pose; 2]> = None;
    // Where the figure is on its platform, apart from the walk, and whether that is the moving one.
    let (mut start, mut aboard) = (Affine3::IDENTITY, false);
    let (mut on, mut since, mut was) = ([false; 2], [0usize; 2], [Vec3::ZERO; 2]);
    let mut ride = Ride { slide: 0.0, turning: [0.0; 2], leap: [0.0; 2], steps: [0; 2] };
    for frame in 0..300 {
        let time = frame as f32 / RATE;
        let of = |aboard: bool| if aboard { moving(time) } else { Platform::WORLD };
        let now = boards[0] <= time && time < boards[1];
        if now != aboard {
            feet.change_platform(&of(aboard), &of(now));
            start =
                of(now).placement().model_from_world() * of(aboard).placement().world_from_model() * start;
            aboard = now;
        }
        let at = |time: f32| start * turned(0.0, Vec3::Z * figure::SPEED * time);
        let sample = |later: f32, pose: &mut Pose| {
            figure::walk(&legs, &rest, time + later, pose);
            placed(at(time + later))
        };
        let platform = of(aboard);
        planter.step_with(&mut feet, &platform.ground(&ground), &mut pose, 1.0 / RATE, sample).unwrap();
        figure::walk(&legs, &rest, time, &mut given);
        for (k, leg) in legs.legs().iter().enumerate() {
            let stands = feet.stands(k);
            if !stands || since[k] == 0 {
                on[k] = aboard;
            }
            since[k] = if stands { since[k] + 1 } else { 0 };
            let world = platform.placement().world_from_model() * at(time) * pose.model(leg.foot);
            let ball = of(on[k]).placement().to_model(world.transform_point3(leg.sole.ball));
            // A foot settles after its landing and loosens before it lifts.
            let firm = (time + 0.5 * k as f32).fract() < 0.4;
            if since[k] > if look_ahead > 0.0 { 6 } else { 20 } && firm && frame > 60 {
                let speed = ball.distance(was[k]) * RATE;
                ride.slide = ride.slide.max(speed);
                ride.steps[usize::from(on[k])] += 1;
            }
            was[k] = ball;
        }
        if let Some(last) = &last {
            for (i, (now, last)) in [&pose, &given].into_iter().zip(last).enumerate() {
                for joint in rest.skeleton().joints() {
                    let turn = angle_between(now.local(joint).rotation, last.local(joint).rotation);
                    ride.turning[i] = ride.turning[i].max(turn * RATE);
                }
                for leg in legs.legs() {
                    let line = |p: &Pose| p.position(leg.foot) - p.position(leg.thigh);
                    ride.leap[i] = ride.leap[i].max(line(now).distance(line(last)));
                }
            }
        }
        last = Some([pose.clone(), given.clone()]);
    }
    ride
}

#[test]
fn boarding_and_leaving_move_no_foot_that_stands() {
    for look_ahead in [0.0, 0.3] {
        // Just before a foot comes down, and in the middle of a step: the foot then stays behind by 0.25 m, as much again as
        // the step, and catches up.
        for (boards, most) in [([1.45, 3.45], 2.0), ([1.25, 3.25], 2.6)] {
            let judge = |ride: Ride| {
                assert!(ride.slide < 5e-3, "{look_ahead} {boards:?}: {ride:?}");
                assert!(ride.steps.iter().all(|n| *n > 10), "{look_ahead} {boards:?}: {ride:?}");
                let [planted, animation] = ride.turning;
                assert!(planted < most * animation, "{look_ahead} {boards:?}: {ride:?}");
                let [planted, animation] = ride.leap;
                assert!(planted < most * animation, "{look_ahead} {boards:?}: {ride:?}");
            };
            for speed in [1.0, -1.0] {
                judge(ride(look_ahead, boards, |t| {
                    let velocity = Vec3::Z * speed;
                    Platform::new(placed(turned(0.3, velocity * t))).with_velocity(velocity, Vec3::ZERO)
                }));
            }
            judge(ride(look_ahead, boards, |t| {
                Platform::new(placed(turned(t, Vec3::new(0.5, 0.0, 2.0)))).with_velocity(Vec3::ZERO, Vec3::Y)
            }));
        }
    }
}

#[test]
fn platforms_of_any_numbers_do_no_harm() {
    let (legs, rest) = figure::figure();
    let planter = FootPlanter::new(&legs, PlantOptions::default()).unwrap();
    let ground = Plane::level(0.0);
    let far = Platform::new(placed(Affine3::from_translation(Vec3::splat(3e38))));
    let fast = Platform::WORLD.with_velocity(Vec3::NAN, Vec3::splat(f32::INFINITY));
    let large =
        Affine3::from_scale_rotation_translation(Vec3::splat(3.0), Quat::from_rotation_y(1.0), Vec3::X);
    // The scale of a platform does not count.
    assert_eq!(Platform::new(placed(large)).placement().scale(), 1.0);
    assert!(far.relative(&placed(Affine3::from_translation(Vec3::splat(-3e38)))).is_err());
    for other in [far, fast, Platform::new(placed(large))] {
        let mut feet = planter.state();
        let mut pose = rest.clone();
        for frame in 0..60 {
            match frame {
                20 => feet.change_platform(&Platform::WORLD, &other),
                40 => feet.change_platform(&other, &Platform::WORLD),
                _ => {}
            }
            figure::walk(&legs, &rest, 0.2, &mut pose);
            planter.sense(&mut feet, &ground, &pose, &Placement::IDENTITY).unwrap();
            planter.step(&mut feet, &mut pose, &Placement::IDENTITY, 1.0 / RATE).unwrap();
            assert!(pose.locals().iter().all(|local| local.is_finite()), "frame {frame}");
        }
    }
}
