//! Judges walking: legs found by shape, feet that stay where they stand, legs that fold to their own side, gaits, rest, frame rates,
//! errors. Feet are measured by forward kinematics in f64 that is written here.

use std::sync::Arc;

use sinew::{
    Goal, JointId, JointTransform, Placement, Pose, Skeleton, Workspace,
    body::{Legs, LegsError, Side},
    glam::{Affine3, DAffine3, DVec3, Quat, Vec3},
    ground::{
        Filter, Ground, Hit, Plane, Platform,
        walk::{Creature, Gait, Refusal, WalkError, WalkOptions, WalkReport, WalkState, Walker},
    },
    joint::{Dof, Joint},
    rig::{HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigSpec, StartFrom},
};

/// A creature with pairs of legs of three bones, sprawled like a spider's or straight down like a horse's.
fn bind(pairs: usize, sprawled: bool) -> Pose {
    let mut b = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let high = if sprawled { 0.4 } else { 0.85 };
    let root = b.add("root", None, JointTransform::IDENTITY);
    let trunk = b.add("trunk", Some(root), at(0.0, high, 0.0));
    b.add("head", Some(trunk), at(0.0, 0.1, 0.3 + 0.4 * pairs as f32));
    for pair in 0..pairs {
        let z = 0.4 * (pairs as f32 - 1.0 - 2.0 * pair as f32);
        for (side, s) in [("l", 1.0), ("r", -1.0)] {
            let name = |part: &str| format!("{part}{pair}_{side}");
            let thigh = b.add(name("a"), Some(trunk), at(0.15 * s, 0.0, z));
            if sprawled {
                let shin = b.add(name("b"), Some(thigh), at(0.4 * s, 0.25, 0.0));
                let foot = b.add(name("c"), Some(shin), at(0.3 * s, -0.3, 0.0));
                b.add(name("tip"), Some(foot), at(0.1 * s, -0.35, 0.0));
            } else {
                // Bent to both sides, as the legs of dogs.
                let shin = b.add(name("b"), Some(thigh), at(0.0, -0.3, 0.1));
                let foot = b.add(name("c"), Some(shin), at(0.0, -0.3, -0.15));
                b.add(name("tip"), Some(foot), at(0.0, -0.25, 0.05));
            }
        }
    }
    Pose::rest(&Arc::new(b.build().unwrap().0))
}

fn walker(bind: &Pose, options: WalkOptions) -> Walker {
    let legs = Legs::find(bind, &[]).unwrap();
    Walker::new(&Creature::new(bind, &legs, &[]).unwrap(), options).unwrap()
}

/// Waves of a tenth of a metre.
struct Waves;

impl Ground for Waves {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        assert_eq!(direction, Vec3::NEG_Y);
        let y = height(origin);
        let distance = origin.y - y;
        (0.0..=reach).contains(&distance).then(|| Hit::new(distance, origin.with_y(y), Vec3::Y))
    }
}

fn height(at: Vec3) -> f32 {
    0.06 * (1.3 * at.x).sin() + 0.05 * (1.7 * at.z).cos()
}

/// The sole of a leg in world space, in f64.
fn sole(pose: &Pose, placement: &Placement, leg: &sinew::body::CreatureLeg) -> DVec3 {
    let mut at = leg.sole.as_dvec3();
    let mut joint = Some(leg.foot);
    while let Some(j) = joint {
        let local = pose.local(j);
        at = local.rotation.as_dquat().normalize() * (at * local.scale.as_dvec3())
            + local.translation.as_dvec3();
        joint = pose.skeleton().parent(j);
    }
    let world: DAffine3 = placement.world_from_model().as_daffine3();
    world.transform_point3(at)
}

struct Frame {
    report: WalkReport,
    pose: Pose,
    soles: Vec<DVec3>,
    stands: Vec<bool>,
}

/// Walks by commands that are given for each time: velocity and turn.
fn walk(
    walker: &Walker,
    bind: &Pose,
    ground: &dyn Ground,
    seconds: f32,
    rate: f32,
    command: impl Fn(f32) -> (Vec3, f32),
) -> Vec<Frame> {
    let mut state = walker.state(&Placement::IDENTITY).unwrap();
    let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
    let mut frames = Vec::new();
    for n in 0..=(seconds * rate).round() as usize {
        let (velocity, turn) = command(n as f32 / rate + 1e-4);
        let report =
            walker.step(&mut state, &mut workspace, &mut pose, ground, velocity, turn, 1.0 / rate).unwrap();
        let legs = walker.creature().legs();
        frames.push(Frame {
            soles: legs.iter().map(|l| sole(&pose, &report.placement, l)).collect(),
            stands: state.feet().map(|f| f.stands).collect(),
            pose: pose.clone(),
            report,
        });
    }
    frames
}

fn velocity(z: f32) -> impl Fn(f32) -> (Vec3, f32) {
    move |_| (Vec3::Z * z, 0.0)
}

#[test]
fn legs_are_found_in_mirrored_pairs_from_front_to_rear() {
    for (pairs, sprawled) in [(2, false), (2, true), (3, true), (4, true), (6, true)] {
        let bind = bind(pairs, sprawled);
        let legs = Legs::find(&bind, &[]).unwrap();
        assert_eq!(legs.legs.len(), 2 * pairs);
        assert_eq!((legs.front, legs.doubts.as_slice()), (Vec3::Z, [].as_slice()));
        assert_eq!(bind.skeleton().name(legs.trunk), "trunk");
        for (n, leg) in legs.legs.iter().enumerate() {
            let side = [Side::Left, Side::Right][n % 2];
            let name = |part: &str| format!("{part}{}_{}", n / 2, if side == Side::Left { "l" } else { "r" });
            let is = |j: JointId| bind.skeleton().name(j);
            assert_eq!((is(leg.root), is(leg.tip)), (name("a").as_str(), name("tip").as_str()));
            assert_eq!(leg.side, Some(side));
        }
        // As given, in any order.
        let mut ends: Vec<_> = legs.legs.iter().map(|l| (l.root, l.tip)).collect();
        ends.reverse();
        let given = Legs::given(&bind, &[], &ends).unwrap();
        assert_eq!(
            given.legs.iter().map(|l| (l.root, l.foot, l.side)).collect::<Vec<_>>(),
            legs.legs.iter().map(|l| (l.root, l.foot, l.side)).collect::<Vec<_>>()
        );
    }
}

#[test]
fn legs_that_are_none_are_refused() {
    assert_eq!(Legs::find(&bind(1, false), &[]), Err(LegsError::TooFew { count: 2 }));
    // A snake.
    let mut b = Skeleton::builder();
    let mut joint = b.add("head", None, JointTransform::IDENTITY);
    for n in 0..10 {
        joint = b.add(format!("{n}"), Some(joint), JointTransform::from_translation(Vec3::NEG_Z));
    }
    let snake = Pose::rest(&Arc::new(b.build().unwrap().0));
    assert_eq!(Legs::find(&snake, &[]), Err(LegsError::TooFew { count: 0 }));

    let bind = bind(2, false);
    let ends: Vec<_> = Legs::find(&bind, &[]).unwrap().legs.iter().map(|l| (l.root, l.tip)).collect();
    let unfit = |ends: &[(JointId, JointId)]| match Legs::given(&bind, &[], ends) {
        Err(LegsError::Unfit { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let swapped = [(ends[0].1, ends[0].0), ends[1], ends[2]];
    assert!(unfit(&swapped).contains("does not hang below"));
    let trunk = bind.skeleton().find("trunk").unwrap();
    assert!(unfit(&[ends[0], (trunk, ends[1].1), ends[2]]).contains("shares joints"));
    assert_eq!(Legs::given(&bind, &[], &ends[..2]), Err(LegsError::TooFew { count: 2 }));
}

#[test]
fn feet_stand_still_on_the_ground_and_swing_over_it() {
    for (pairs, sprawled) in [(2, false), (3, true), (4, true)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let leg = walker.creature().length() as f64;
        for (v, turn) in [(0.5, 0.0), (-0.3, 0.0), (0.3, 0.4), (0.0, 0.5)] {
            let frames = walk(&walker, &bind, &Waves, 8.0, 60.0, |_| (Vec3::Z * v, turn));
            let mut steps = 0;
            for w in frames.windows(2) {
                for n in 0..2 * pairs {
                    let [a, b] = [w[0].soles[n], w[1].soles[n]];
                    let over = b.y - f64::from(height(b.as_vec3()));
                    if w[1].stands[n] && w[0].stands[n] {
                        assert!(a.distance(b) < 2e-5 * leg, "leg {n} slides by {}", a.distance(b));
                        assert!(over.abs() < 1e-4 * leg, "leg {n} stands {over} over the ground");
                    } else {
                        assert!(over > -2e-3 * leg, "leg {n} swings {over} over the ground");
                    }
                    steps += usize::from(w[0].stands[n] && !w[1].stands[n]);
                }
            }
            assert!(steps >= 6 * pairs, "{steps} steps of {} legs", 2 * pairs);
            assert!(frames.iter().all(|f| f.report.out_of_reach == 0.0));
        }
    }
}

#[test]
fn it_goes_where_it_is_told() {
    let bind = bind(4, true);
    let walker = walker(&bind, WalkOptions::new());
    let ends = |v: Vec3, turn: f32| {
        let frames = walk(&walker, &bind, &Plane::level(0.0), 10.0, 60.0, |_| (v, turn));
        frames.last().unwrap().report.placement
    };
    // 10 s, less the quarter of a second in which the velocity's spring lags behind.
    for v in [Vec3::Z * 0.4, Vec3::Z * -0.3, Vec3::X * 0.3, Vec3::new(0.2, 0.0, 0.2)] {
        let at = ends(v, 0.0).to_world(Vec3::ZERO).with_y(0.0);
        assert!(at.distance(v * 9.75) < 0.05, "{at} instead of {}", v * 9.75);
    }
    let placed = ends(Vec3::ZERO, 0.4);
    let front = placed.direction_to_world(Vec3::Z);
    let angle = front.x.atan2(front.z);
    let wanted = 0.4 * 9.75 - std::f32::consts::TAU;
    assert!((angle - wanted).abs() < 0.05, "{angle} instead of {wanted}");
    assert!(placed.to_world(Vec3::ZERO).with_y(0.0).length() < 0.05);
}

#[test]
fn legs_fold_to_their_own_side_and_keep_their_bones() {
    for (pairs, sprawled) in [(2, false), (4, true)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let bend = |pose: &Pose, joints: [JointId; 3]| {
            let [a, b, c] = joints.map(|j| pose.position(j));
            let above = pose.model_rotation(pose.skeleton().parent(joints[1]).unwrap()).inverse();
            above * (b - a).normalize().cross((c - b).normalize())
        };
        for frame in
            walk(&walker, &bind, &Waves, 6.0, 60.0, |t| (Vec3::Z * 0.4, if t > 3.0 { 0.5 } else { -0.5 }))
        {
            for leg in walker.creature().legs() {
                let skeleton = bind.skeleton();
                let mut path: Vec<_> = std::iter::once(leg.tip)
                    .chain(skeleton.ancestors(leg.tip))
                    .take_while(|j| *j != leg.root)
                    .collect();
                path.push(leg.root);
                path.reverse();
                for w in path.windows(3) {
                    let joints = [w[0], w[1], w[2]];
                    let (rest, now) = (bend(&bind, joints), bend(&frame.pose, joints));
                    assert!(rest.dot(now) > 0.0, "joint {} bends to its other side", skeleton.name(w[1]));
                }
                for j in path {
                    let (rest, now) = (bind.local(j), frame.pose.local(j));
                    assert_eq!((rest.translation, rest.scale), (now.translation, now.scale));
                }
            }
        }
    }
}

/// Steps of 7 cm, 30 cm apart.
struct Steps;

impl Ground for Steps {
    fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        assert_eq!(direction, Vec3::NEG_Y);
        let y = 0.07 * (origin.z / 0.3).floor();
        let distance = origin.y - y;
        (0.0..=reach).contains(&distance).then(|| Hit::new(distance, origin.with_y(y), Vec3::Y))
    }
}

#[test]
fn feet_rest_beside_edges_that_keep_them_from_their_places() {
    for pairs in [2, 3, 4] {
        let bind = bind(pairs, true);
        let walker = walker(&bind, WalkOptions::new());
        for n in 0..12 {
            let stops = 2.0 + 0.17 * n as f32;
            let frames = walk(&walker, &bind, &Steps, stops + 6.0, 60.0, |t| {
                (Vec3::Z * if t < stops { 0.4 } else { 0.0 }, 0.0)
            });
            let last = &frames[frames.len() - 120..];
            assert!(
                last.iter().all(|f| f.stands.iter().all(|s| *s)),
                "{pairs} pairs, stopped after {stops} s"
            );
            assert!(last[0].report.placement.to_world(Vec3::ZERO).z > 0.5);
        }
    }
}

/// Long legs that stand far before and behind a short trunk, with knees that fold to 150 degrees.
#[test]
fn no_standing_foot_comes_nearer_than_its_leg_folds() {
    let mut b = Skeleton::builder();
    let at = |v: Vec3| JointTransform::from_translation(v);
    let trunk = b.add("trunk", None, at(Vec3::Y * 0.3));
    b.add("head", Some(trunk), at(Vec3::Z * 0.2));
    for (name, x, z) in [("a_l", 1.0, 1.0), ("a_r", -1.0, 1.0), ("b_l", 1.0, -1.0), ("b_r", -1.0, -1.0)] {
        let out = Vec3::new(0.6 * x, 0.0, 0.8 * z);
        let hip = b.add(format!("thigh {name}"), Some(trunk), at(Vec3::new(0.1 * x, 0.0, 0.15 * z)));
        let knee = b.add(format!("shin {name}"), Some(hip), at(0.3 * out + 0.28 * Vec3::Y));
        b.add(format!("foot {name}"), Some(knee), at(0.25 * out - 0.58 * Vec3::Y));
    }
    let bind = Pose::rest(&Arc::new(b.build().unwrap().0));
    let walker = walker(&bind, WalkOptions::new());
    for (ahead, left, turn) in [(0.5, 0.0, 0.9), (0.2, 0.0, 0.3), (0.3, 0.2, -0.6), (-0.4, 0.0, 0.5)] {
        let frames = walk(&walker, &bind, &Plane::level(0.0), 10.0, 60.0, |t| {
            // From a turn on the spot, and back to rest.
            let speed = if (2.0..7.0).contains(&t) { 1.0 } else { 0.0 };
            (Vec3::new(left, 0.0, ahead) * speed, if t < 7.0 { turn } else { 0.0 })
        });
        let mut stood = 0;
        for w in frames.windows(2) {
            for l in (0..4).filter(|&l| w.iter().all(|f| f.stands[l])) {
                let slides = 60.0 * (w[1].soles[l] - w[0].soles[l]).length();
                assert!(slides < 1e-3, "{slides} m/s, {ahead} {left} {turn}: {:?}", w[1].report);
                stood += 1;
            }
        }
        assert!(stood > 1000, "{stood}");
    }
}

#[test]
fn no_neighbours_are_up_at_once_and_enough_feet_stand() {
    for (pairs, sprawled) in [(2, false), (2, true), (3, true), (4, true), (6, true)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        // Orders that change every half second.
        let order = |t: f32| {
            let n = (t * 2.0).floor();
            (Vec3::new((1.7 * n).sin(), 0.0, (2.9 * n).cos()) * 0.35, 0.5 * (1.1 * n).sin())
        };
        for frame in walk(&walker, &bind, &Waves, 30.0, 60.0, order) {
            let up: Vec<bool> = frame.stands.iter().map(|s| !s).collect();
            // Legs are in order: left, right, left, right.
            let both = (0..2 * pairs - 2).any(|n| up[n] && up[n + 2]);
            assert!(!both, "neighbours are up: {up:?}");
            assert!(up.iter().filter(|u| !**u).count() >= pairs, "{up:?}");
        }
    }
}

#[test]
fn four_legs_walk_and_trot_and_change_between() {
    let bind = bind(2, false);
    let walker = walker(&bind, WalkOptions::new());
    let lifts = |frames: &[Frame], leg: usize| -> Vec<f64> {
        let lifted = |w: &[Frame]| w[0].stands[leg] && !w[1].stands[leg];
        frames.windows(2).enumerate().filter(|(_, w)| lifted(w)).map(|(n, _)| n as f64 / 60.0).collect()
    };
    let phase = |frames: &[Frame], leg: usize| {
        let (base, own) = (lifts(frames, 2), lifts(frames, leg));
        let from = base[base.len() - 2];
        let cycle = base[base.len() - 1] - from;
        let t = own.iter().rev().find(|t| **t < from + cycle - 1e-9 && **t >= from - 1e-9).unwrap();
        (t - from) / cycle
    };
    // Left fore, right fore, left hind, right hind.
    let slow = walk(&walker, &bind, &Plane::level(0.0), 12.0, 60.0, velocity(0.35));
    assert_eq!(slow.last().unwrap().report.gait, Gait::Walk);
    for (leg, wanted) in [(0, 0.25), (1, 0.75), (3, 0.5)] {
        let is = phase(&slow, leg);
        assert!((is - wanted).abs() < 0.06, "leg {leg} lifts at {is}");
    }
    let fast = walk(&walker, &bind, &Plane::level(0.0), 12.0, 60.0, velocity(0.9));
    assert_eq!(fast.last().unwrap().report.gait, Gait::Trot);
    for (leg, wanted) in [(0, 0.5), (3, 0.5)] {
        let is = phase(&fast, leg);
        assert!((is - wanted).abs() < 0.06, "leg {leg} lifts at {is}");
    }
    // Up and down through both without a stop.
    let both = walk(&walker, &bind, &Plane::level(0.0), 12.0, 60.0, |t| {
        (Vec3::Z * if (4.0..8.0).contains(&t) { 0.9 } else { 0.35 }, 0.0)
    });
    let slowest = both[60..].iter().map(|f| f.report.pace).fold(1.0, f32::min);
    assert!(slowest > 0.1, "it slows down to {slowest} of its speed between gaits");
}

#[test]
fn frame_rates_decide_nothing() {
    for (pairs, sprawled) in [(2, false), (4, true)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let order = |t: f32| {
            let n = (t * 2.0).floor();
            (Vec3::new((1.7 * n).sin(), 0.0, (2.9 * n).cos()) * 0.3, 0.5 * (1.1 * n).sin())
        };
        let [slow, fast] = [30.0, 150.0].map(|rate| walk(&walker, &bind, &Waves, 10.0, rate, order));
        for (n, frame) in slow.iter().enumerate() {
            for (a, b) in frame.soles.iter().zip(&fast[5 * n].soles) {
                assert!(a.distance(*b) < 1e-4, "{} m apart after {} s", a.distance(*b), n as f32 / 30.0);
            }
        }
    }
}

#[test]
fn the_same_orders_give_the_same_bits_without_allocation() {
    let bind = bind(3, true);
    let walker = walker(&bind, WalkOptions::new());
    let mut runs = Vec::new();
    for _ in 0..2 {
        let mut state = walker.state(&Placement::IDENTITY).unwrap();
        let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
        let mut step = |state: &mut WalkState, pose: &mut Pose, v: f32, turn: f32| {
            walker.step(state, &mut workspace, pose, &Waves, Vec3::Z * v, turn, 1.0 / 60.0).unwrap()
        };
        step(&mut state, &mut pose, 0.4, 0.0);
        let counted = allocation_counter::measure(|| {
            for n in 0..600 {
                step(&mut state, &mut pose, if n % 200 < 150 { 0.4 } else { 0.0 }, 0.2);
            }
        });
        assert_eq!(counted.count_total, 0);
        runs.push((pose.locals().to_vec(), step(&mut state, &mut pose, 0.4, 0.0)));
        // A reset forgets everything.
        walker.reset(&mut state, &Placement::IDENTITY).unwrap();
    }
    assert_eq!(runs[0], runs[1]);
}

#[test]
fn a_creature_that_stops_rests() {
    for (pairs, sprawled) in [(2, false), (4, true)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let frames =
            walk(&walker, &bind, &Waves, 13.0, 60.0, |t| (Vec3::Z * if t < 3.0 { 0.4 } else { 0.0 }, 0.0));
        let rest = &frames[300].pose;
        for frame in &frames[300..] {
            assert!(frame.stands.iter().all(|s| *s));
            for j in bind.skeleton().joints() {
                let turned = sinew::math::angle_between(rest.local(j).rotation, frame.pose.local(j).rotation);
                assert!(turned < 1e-4, "{} turns by {turned}", bind.skeleton().name(j));
            }
        }
    }
}

#[test]
fn placements_turn_and_scale_a_walk() {
    let bind = bind(2, false);
    let walker = walker(&bind, WalkOptions::new());
    let start = Affine3::from_scale_rotation_translation(
        Vec3::splat(3.0),
        Quat::from_rotation_y(1.0),
        Vec3::new(5.0, 2.0, -4.0),
    );
    let start = Placement::new(start).unwrap();
    let mut state = walker.state(&start).unwrap();
    let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
    let mut last = start;
    for _ in 0..600 {
        let ground = Plane::level(2.0);
        let report = walker
            .step(&mut state, &mut workspace, &mut pose, &ground, Vec3::Z * 1.2, 0.0, 1.0 / 60.0)
            .unwrap();
        last = report.placement;
    }
    let gone = (last.to_world(Vec3::ZERO) - start.to_world(Vec3::ZERO)).with_y(0.0);
    let along = Quat::from_rotation_y(1.0) * Vec3::Z;
    assert!((last.scale() - 3.0).abs() < 1e-5);
    assert!(gone.distance(along * 11.7) < 0.3, "{gone}");
    for (leg, foot) in walker.creature().legs().iter().zip(state.feet()) {
        assert!(sole(&pose, &last, leg).distance(foot.point.as_dvec3()) < 1e-4);
    }
}

#[test]
fn where_the_ground_ends_it_waits_and_says_why() {
    struct Shelf;
    impl Ground for Shelf {
        fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
            Plane::level(0.0).cast_ray(origin, direction, reach, filter).filter(|_| origin.z < 2.0)
        }
    }
    for (pairs, sprawled, turn) in [(2, false, 0.0), (4, true, 0.0), (3, true, 0.1), (2, false, -0.1)] {
        let bind = bind(pairs, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let mut state = walker.state(&Placement::IDENTITY).unwrap();
        let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
        let mut last = None;
        for _ in 0..1200 {
            let report = walker
                .step(&mut state, &mut workspace, &mut pose, &Shelf, Vec3::Z * 0.4, turn, 1.0 / 60.0)
                .unwrap();
            last = Some(report);
            // The trunk neither leaves its feet nor sinks onto those that it walks over.
            assert!(report.out_of_reach < 0.02, "{} m out of reach", report.out_of_reach);
            let low = walker.creature().pivot().y - report.placement.to_world(walker.creature().pivot()).y;
            assert!(low < 0.15, "the trunk is {low} m lower than at rest");
            for foot in state.feet().filter(|f| f.stands) {
                assert!(foot.point.z < 2.0 && foot.point.y.abs() < 1e-4, "{foot:?}");
            }
        }
        let report = last.unwrap();
        assert!(report.pace < 0.05, "it goes on at {}", report.pace);
        assert!(
            matches!(report.waits, Some((_, Some(Refusal::NoGround | Refusal::Steep | Refusal::OutOfReach)))),
            "{report:?}"
        );
        assert!(state.feet().any(|f| f.refused == Some(Refusal::NoGround)));
        assert!(report.placement.to_world(Vec3::ZERO).z < 2.0);
    }
}

#[test]
fn too_fast_a_speed_is_named_and_kept() {
    let bind = bind(4, true);
    let walker = walker(&bind, WalkOptions::new());
    let frames = walk(&walker, &bind, &Plane::level(0.0), 10.0, 60.0, velocity(1e30));
    let report = frames.last().unwrap().report;
    let most = report.max_speed.unwrap();
    assert!((0.5..1.2).contains(&(most / walker.max_speed())), "{most} of {}", walker.max_speed());
    let gone = report.placement.to_world(Vec3::ZERO).z;
    assert!(gone < 10.0 * walker.max_speed() && gone > 5.0 * most, "{gone} at {most}");
    assert!(frames.iter().all(|f| f.report.out_of_reach < 1e-5));
}

#[test]
fn errors_name_what_is_wrong_and_change_nothing() {
    let four = bind(2, false);
    let creature = |bind: &Pose| Creature::new(bind, &Legs::find(bind, &[]).unwrap(), &[]).unwrap();
    let own = walker(&four, WalkOptions::new());
    let (mut state, mut workspace, mut pose) =
        (own.state(&Placement::IDENTITY).unwrap(), Workspace::new(), four.clone());
    let ground = Plane::level(0.0);
    let before = pose.locals().to_vec();
    let mut step =
        |state: &mut WalkState, pose: &mut Pose, ground: &dyn Ground, v: Vec3, turn: f32, dt: f32| {
            own.step(state, &mut workspace, pose, ground, v, turn, dt).map(|_| ())
        };
    assert_eq!(step(&mut state, &mut pose, &ground, Vec3::Z, 0.0, -1.0), Err(WalkError::Time(-1.0)));
    let bad = step(&mut state, &mut pose, &ground, Vec3::NAN, 0.0, 0.1);
    assert!(matches!(bad, Err(WalkError::Command { .. })));
    let bad = step(&mut state, &mut pose, &ground, Vec3::Z, f32::INFINITY, 0.1);
    assert!(matches!(bad, Err(WalkError::Command { .. })));
    struct Nothing;
    impl Ground for Nothing {
        fn cast_ray(&self, _: Vec3, _: Vec3, _: f32, _: &Filter) -> Option<Hit> {
            None
        }
    }
    let bad = step(&mut state, &mut pose, &Nothing, Vec3::Z, 0.0, 0.1);
    assert!(matches!(bad, Err(WalkError::NoGround { .. })), "{bad:?}");
    let mut small = Pose::rest(&Arc::new({
        let mut b = Skeleton::builder();
        b.add("alone", None, JointTransform::IDENTITY);
        b.build().unwrap().0
    }));
    let bad = step(&mut state, &mut small, &ground, Vec3::Z, 0.0, 0.1);
    assert!(matches!(bad, Err(WalkError::Creature { .. })));
    let six = walker(&bind(3, true), WalkOptions::new());
    let bad = step(&mut six.state(&Placement::IDENTITY).unwrap(), &mut pose, &ground, Vec3::Z, 0.0, 0.1);
    assert_eq!(bad, Err(WalkError::State { given: 6, wanted: 4 }));
    assert_eq!(pose.locals(), before);
    step(&mut state, &mut pose, &ground, Vec3::Z * 0.3, 0.0, 0.1).unwrap();

    let gait =
        |gait, bind: &Pose| Walker::new(&creature(bind), WalkOptions::new().with_gait(gait)).map(|_| ());
    assert!(matches!(gait(Gait::Tripod, &four), Err(WalkError::Gait { wanted: 6, count: 4, .. })));
    assert_eq!(gait(Gait::Wave, &four), Ok(()));
    let ride = Walker::new(&creature(&four), WalkOptions::new().with_ride(f32::NAN));
    assert!(matches!(ride, Err(WalkError::Setting { option: "ride", .. })));
    let mirrored = Placement::new(Affine3::from_scale(Vec3::splat(-1.0))).unwrap();
    assert_eq!(own.state(&mirrored).map(|_| ()), Err(WalkError::Mirrored { scale: -1.0 }));
}

#[test]
fn every_gait_of_every_creature_walks() {
    for (pairs, sprawled) in [(2, false), (3, true), (4, true)] {
        let bind = bind(pairs, sprawled);
        for gait in Gait::ALL.into_iter().filter(|g| g.legs().is_none_or(|n| n == 2 * pairs)) {
            let walker = walker(&bind, WalkOptions::new().with_gait(gait));
            let v = 0.5 * walker.max_speed();
            let frames = walk(&walker, &bind, &Waves, 12.0, 60.0, velocity(v));
            let gone = frames.last().unwrap().report.placement.to_world(Vec3::ZERO).z;
            assert!(gone > 0.9 * v * 11.7, "{} goes {gone} m instead of {}", gait.name(), v * 11.7);
            assert_eq!(Gait::from_name(gait.name()), Some(gait));
        }
    }
}

/// A generator of numbers (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 24) as f32
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[(self.next() * of.len() as f32) as usize % of.len()]
    }
}

/// Ground that answers casts with whatever there is: cliffs, holes, and numbers that are none.
struct Wild(f32);

impl Ground for Wild {
    fn cast_ray(&self, origin: Vec3, _: Vec3, reach: f32, _: &Filter) -> Option<Hit> {
        let mut r = Random((origin.x * 8.0).to_bits() as u64 ^ ((origin.z * 8.0).to_bits() as u64) << 32);
        let distance = match (r.next() * 12.0) as u32 {
            0 => return None,
            1 => f32::NAN,
            2 => f32::INFINITY,
            3 => -1e30,
            4 => f32::MAX,
            5 => reach,
            _ => origin.y - self.0 * r.next(),
        };
        let normal = r.pick(&[Vec3::Y, Vec3::X, Vec3::NAN, Vec3::ZERO]);
        Some(Hit::new(distance, origin, normal))
    }
}

#[test]
fn odd_creatures_grounds_and_orders_end_in_finite_poses_or_errors() {
    let mut r = Random(7);
    let mut walked = 0;
    for case in 0..300 {
        let mut b = Skeleton::builder();
        let size = r.pick(&[1e-6, 1e-3, 1.0, 1e3, 1e6f32]);
        let mut at = |x: f32, y: f32, z: f32| JointTransform {
            rotation: Quat::from_rotation_x(r.next() * 0.2),
            scale: Vec3::splat(r.pick(&[1.0, 1.0, 1.0, 0.01, 100.0])),
            ..JointTransform::from_translation(Vec3::new(x, y, z) * size)
        };
        let trunk = b.add("trunk", None, at(0.0, 0.6, 0.0));
        let mut ends = Vec::new();
        let count = 3 + case % 6;
        for n in 0..count {
            let angle = n as f32 * std::f32::consts::TAU / count as f32;
            let (x, z) = (0.3 * angle.sin(), 0.3 * angle.cos());
            let thigh = b.add(format!("a{n}"), Some(trunk), at(x, 0.0, z));
            let shin = b.add(format!("b{n}"), Some(thigh), at(x, -0.2, z));
            // Some legs have no shin, are straight, or fold onto themselves.
            let [y, out] = [[-0.4, 0.0], [0.0, 0.0], [-0.2, 1.0], [0.2, -1.0]][(case + n) % 4];
            ends.push((thigh, b.add(format!("c{n}"), Some(shin), at(x * out, y, z * out))));
        }
        let (skeleton, ids) = b.build().unwrap();
        let bind = Pose::rest(&Arc::new(skeleton));
        let ends: Vec<_> = ends.into_iter().map(|(a, c)| (ids[a], ids[c])).collect();
        let skin: Vec<(JointId, Vec3)> =
            ids.iter().map(|&j| (j, bind.position(j) + Vec3::new(0.1, -0.1, 0.05) * size)).collect();
        let Ok(legs) = Legs::given(&bind, &skin, &ends) else { continue };
        let Ok(creature) = Creature::new(&bind, &legs, &skin) else { continue };
        let walker = Walker::new(&creature, WalkOptions::new()).unwrap();
        let start = Affine3::from_scale_rotation_translation(
            Vec3::splat(r.pick(&[1.0, 1e-4, 1e4])),
            Quat::from_rotation_x(r.next() * 7.0),
            Vec3::new(r.next(), r.next(), r.next()) * r.pick(&[1.0, 1e6]),
        );
        let Ok(start) = Placement::new(start) else { continue };
        let mut state = match walker.state(&start) {
            Err(WalkError::Size { .. }) => continue,
            state => state.unwrap(),
        };
        walked += 1;
        let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
        let ground = Wild(size * 0.3);
        for _ in 0..80 {
            let velocity = Vec3::new(r.next() - 0.5, 0.0, r.next() - 0.5) * r.pick(&[0.0, 1.0, 1e20, size]);
            let (turn, dt) = (r.pick(&[0.0, 1.0, -1e20]), r.pick(&[0.0, 0.016, 0.3, 1e20]));
            match walker.step(&mut state, &mut workspace, &mut pose, &ground, velocity, turn, dt) {
                Ok(report) => {
                    assert!(pose.check_finite().is_ok(), "case {case}");
                    assert!(report.placement.world_from_model().is_finite());
                    assert!(
                        report.out_of_reach.is_finite() && (0.0..=1.0).contains(&report.pace),
                        "{report:?}"
                    );
                }
                Err(WalkError::NoGround { .. } | WalkError::Placement(_)) => {}
                Err(other) => panic!("case {case}: {other}"),
            }
        }
    }
    assert!(walked > 100, "{walked} creatures walked");
}

#[test]
fn feet_stay_on_the_platform_on_which_they_came_down() {
    let turned = |yaw: f32, at: Vec3| Affine3::from_rotation_translation(Quat::from_rotation_y(yaw), at);
    let moving = |place: Affine3, linear: Vec3, angular: Vec3| {
        Platform::new(Placement::new(place).unwrap()).with_velocity(linear, angular)
    };
    let (walkway, spin) = (Vec3::new(0.3, 0.0, 0.1), Vec3::Y * 0.25);
    let platforms: [(&str, &dyn Fn(f32) -> Platform); 3] = [
        ("a walkway", &|t| moving(turned(0.4, Vec3::new(2.0, 0.0, 1.0) + walkway * t), walkway, Vec3::ZERO)),
        ("a turntable", &|t| moving(turned(0.25 * t, Vec3::new(0.5, 0.0, 1.0)), Vec3::ZERO, spin)),
        ("a lift", &|t| moving(turned(0.0, Vec3::Y * (0.02 * (t - 2.0))), Vec3::Y * 0.02, Vec3::ZERO)),
    ];
    for (pairs, sprawled) in [(2, false), (4, true)] {
        for (name, platform) in platforms {
            let bind = bind(pairs, sprawled);
            let walker = walker(&bind, WalkOptions::new());
            let mut state = walker.state(&Placement::IDENTITY).unwrap();
            let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
            let count = walker.creature().legs().len();
            let (mut aboard, mut on) = (false, vec![None; count]);
            let (mut was, mut trunk): (Vec<DVec3>, Option<Vec3>) = (Vec::new(), None);
            let mut stood = [0, 0];
            for frame in 0..480 {
                let time = frame as f32 / 60.0;
                let now = (2.0..5.0).contains(&time);
                let of = |aboard: bool| if aboard { platform(time) } else { Platform::WORLD };
                if now != aboard {
                    walker.change_platform(&mut state, &of(aboard), &of(now)).unwrap();
                    aboard = now;
                }
                // Level, and as high as the platform.
                let ground = Plane::level(0.0);
                let report = walker
                    .step(&mut state, &mut workspace, &mut pose, &ground, Vec3::Z * 0.4, 0.0, 1.0 / 60.0)
                    .unwrap();
                let world = of(aboard).in_world(&report.placement).unwrap();
                let back = of(aboard).relative(&world).unwrap();
                assert!(back.to_world(Vec3::ZERO).distance(report.placement.to_world(Vec3::ZERO)) < 1e-4);
                let at = world.to_world(walker.creature().pivot());
                let moved = trunk.map_or(0.0, |was: Vec3| was.distance(at));
                assert!(moved < 0.02, "{name}: the trunk leaps by {moved} m at {time} s");
                trunk = Some(at);
                let soles: Vec<DVec3> =
                    walker.creature().legs().iter().map(|leg| sole(&pose, &world, leg)).collect();
                for (n, foot) in state.feet().enumerate() {
                    if !foot.stands {
                        on[n] = None;
                        continue;
                    }
                    // Where it came down; at the first frame it moves with nobody yet.
                    let before: Option<bool> = on[n];
                    on[n] = Some(before.unwrap_or(aboard));
                    let Some(carrier) = before else { continue };
                    stood[usize::from(carrier)] += 1;
                    // The last position, carried on by a frame.
                    let to = |t: f32| if carrier { platform(t) } else { Platform::WORLD };
                    let (then, now) = (to(time - 1.0 / 60.0), to(time));
                    let carried = now.placement().to_world(then.placement().to_model(was[n].as_vec3()));
                    let slide = carried.distance(soles[n].as_vec3());
                    assert!(slide < 3e-4, "{name}, leg {n}: {slide} m in a frame at {time} s, on {carrier}");
                }
                was = soles;
            }
            assert!(stood[0] > 500 && stood[1] > 300, "{stood:?}");
        }
    }
}

#[test]
fn platforms_count_before_the_first_frame_and_not_beyond_all_numbers() {
    let bind = bind(2, false);
    let walker = walker(&bind, WalkOptions::new());
    let at = |x: f32| Platform::new(Placement::new(Affine3::from_translation(Vec3::X * x)).unwrap());
    let mut state = walker.state(&Placement::IDENTITY).unwrap();
    walker.change_platform(&mut state, &Platform::WORLD, &at(3.0)).unwrap();
    assert_eq!(state.start().to_world(Vec3::ZERO), Vec3::X * -3.0);
    let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
    let mut step = |state: &mut WalkState| {
        walker.step(state, &mut workspace, &mut pose, &Plane::level(0.0), Vec3::ZERO, 0.0, 0.1).unwrap()
    };
    step(&mut state);
    let before = state.clone();
    let error = walker.change_platform(&mut state, &at(1e20), &Platform::WORLD).unwrap_err();
    assert!(matches!(error, WalkError::Far(at) if at.x > 1e19), "{error}");
    assert_eq!(step(&mut state).placement, step(&mut before.clone()).placement);
}

#[test]
fn an_influence_blends_the_legs_with_the_pose() {
    let bind = bind(3, true);
    let walker = walker(&bind, WalkOptions::new());
    let mut clip = bind.clone();
    for leg in walker.creature().legs() {
        clip.turn(leg.root, Quat::from_rotation_y(0.3));
        clip.turn(leg.foot, Quat::from_rotation_x(0.2));
    }
    clip.update();
    let run = |influence: f32| {
        let mut state = walker.state(&Placement::IDENTITY).unwrap();
        state.set_influence(influence).unwrap();
        assert_eq!(state.influence(), influence);
        let (mut workspace, mut pose) = (Workspace::new(), clip.clone());
        for _ in 0..100 {
            pose.copy_from(&clip);
            walker
                .step(&mut state, &mut workspace, &mut pose, &Waves, Vec3::Z * 0.3, 0.1, 1.0 / 60.0)
                .unwrap();
        }
        pose
    };
    let [none, half, all] = [0.0, 0.5, 1.0].map(run);
    assert_eq!(none.locals(), clip.locals());
    for leg in walker.creature().legs() {
        for joint in [leg.root, leg.foot] {
            let [a, b, c] = [&none, &half, &all].map(|p| p.local(joint).rotation);
            let angle = sinew::math::angle_between;
            assert!(angle(a, c) > 0.02, "the walk moves the joint");
            assert!((angle(a, b) - 0.5 * angle(a, c)).abs() < 1e-3);
            assert!((angle(b, c) - 0.5 * angle(a, c)).abs() < 1e-3);
        }
    }
    let mut state = walker.state(&Placement::IDENTITY).unwrap();
    for wrong in [-0.1, 1.5, f32::NAN] {
        let error = state.set_influence(wrong).unwrap_err();
        assert!(error.to_string().contains("the influence must be from 0 to 1"), "{error}");
        assert_eq!(state.influence(), 1.0);
    }
}

#[test]
fn a_handle_that_folds_from_preferred_values_poses_a_leg_as_a_walk_does() {
    for sprawled in [false, true] {
        let bind = bind(2, sprawled);
        let walker = walker(&bind, WalkOptions::new());
        let legs = walker.creature().legs();
        let handles = legs.iter().map(|leg| {
            let name = bind.skeleton().name(leg.root);
            let (solver, from) = (HandleSolver::Fold, StartFrom::Preferred);
            HandleSpec { solver, from, ..HandleSpec::new(name, leg.root, leg.foot) }
        });
        let rig = Rig::new(&bind, None, &RigSpec::new(handles.collect())).unwrap();
        let mut state = rig.state();
        for frame in walk(&walker, &bind, &Waves, 2.0, 30.0, velocity(0.4)) {
            let goals: Vec<RigGoal> =
                legs.iter().map(|l| Goal::position(frame.pose.position(l.foot)).into()).collect();
            let mut pose = bind.clone();
            // Whatever the animation has done to the legs.
            legs.iter().for_each(|l| pose.set_rotation(l.root, Quat::from_rotation_x(0.8)));
            pose.update();
            let given = RigFrame::new(1.0 / 30.0).with_goals(&goals);
            rig.apply(&mut state, &mut Workspace::new(), &mut pose, &given).unwrap();
            for leg in legs {
                for joint in
                    bind.skeleton().ancestors(leg.foot).take_while(|&j| bind.skeleton().is_below(j, leg.root))
                {
                    let turn = frame.pose.local(joint).rotation.angle_between(pose.local(joint).rotation);
                    assert!(turn < 2e-3, "{turn} at {}", bind.skeleton().name(joint));
                }
            }
        }
    }
}

#[test]
fn legs_keep_the_limits_of_their_joints_and_tell_what_they_do_not_reach() {
    let free = bind(2, false);
    let mut skeleton = free.skeleton().as_ref().clone();
    // Knees that turn by a twentieth.
    let knees: Vec<JointId> = skeleton.joints().filter(|&j| skeleton.name(j).starts_with('b')).collect();
    for &knee in &knees {
        skeleton.set_joint(knee, Joint::hinge(Vec3::X, Dof::range(-0.05, 0.05))).unwrap();
    }
    let bind = Pose::rest(&Arc::new(skeleton));
    let walker = walker(&bind, WalkOptions::new());
    let mut missed = 0.0f32;
    for frame in walk(&walker, &bind, &Waves, 4.0, 60.0, velocity(0.4)) {
        for &knee in &knees {
            let excess = bind.skeleton().limits(knee).excess(frame.pose.local(knee).rotation);
            assert!(excess < 1e-5, "{excess} rad beyond a limit");
        }
        missed = missed.max(frame.report.out_of_reach);
    }
    assert!((0.005..0.5).contains(&missed), "{missed} m");
}

#[test]
fn a_lower_rate_of_casts_costs_fewer_and_walks_as_well() {
    struct Counted(core::cell::Cell<usize>);
    impl Ground for Counted {
        fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
            self.0.set(self.0.get() + 1);
            Waves.cast_ray(origin, direction, reach, filter)
        }
    }
    let bind = bind(4, true);
    let mut casts = Vec::new();
    for rate in [30.0, 6.0] {
        let ground = Counted(core::cell::Cell::new(0));
        // A belly to look out for.
        let trunk = bind.skeleton().find("trunk").unwrap();
        let skin: Vec<(JointId, Vec3)> = (0..60)
            .map(|n| (trunk, Vec3::new(0.1 * (n % 5) as f32 - 0.2, 0.35, 0.1 * (n / 5) as f32 - 0.5)))
            .collect();
        let legs = Legs::find(&bind, &[]).unwrap();
        let creature = Creature::new(&bind, &legs, &skin).unwrap();
        let walker = Walker::new(&creature, WalkOptions::new().with_cast_rate(rate)).unwrap();
        let frames = walk(&walker, &bind, &ground, 20.0, 60.0, velocity(0.3));
        let gone = frames.last().unwrap().report.placement.to_world(Vec3::ZERO).z;
        assert!((5.5..6.2).contains(&gone), "{gone} m at {rate} casts a second");
        for frame in &frames {
            assert!(frame.report.out_of_reach < 1e-3, "{}", frame.report.out_of_reach);
        }
        casts.push(ground.0.get());
    }
    assert!(2 * casts[1] < casts[0], "{casts:?}");
}

#[test]
fn a_foot_that_finds_no_ground_does_not_draw_the_trunk_down() {
    struct Strip;
    impl Ground for Strip {
        fn cast_ray(&self, origin: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
            Plane::level(0.0).cast_ray(origin, direction, reach, filter).filter(|_| origin.x < 1.2)
        }
    }
    for pairs in [2, 3, 4] {
        let bind = bind(pairs, true);
        let walker = walker(&bind, WalkOptions::new());
        let pivot = walker.creature().pivot();
        // Towards a point at the edge, whichever way it faces: it turns there meanwhile.
        for speed in [0.3f32, 0.6, 0.9] {
            let mut state = walker.state(&Placement::IDENTITY).unwrap();
            let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
            let mut placement = Placement::IDENTITY;
            for frame in 0..480 {
                let to = placement.to_model(Vec3::new(1.15, 0.0, 0.4)).with_y(0.0);
                let velocity = to.normalize_or_zero() * speed.min(2.0 * speed * to.length());
                let turn = (2.0 * to.x.atan2(to.z)).clamp(-0.9, 0.9);
                let report = walker
                    .step(&mut state, &mut workspace, &mut pose, &Strip, velocity, turn, 1.0 / 60.0)
                    .unwrap();
                placement = report.placement;
                let low = pivot.y - placement.to_world(pivot).y;
                let out = report.out_of_reach;
                assert!(low < 0.12, "{pairs} pairs at {speed} m/s: {low} m low in frame {frame}");
                assert!(out < 0.03, "{pairs} pairs at {speed} m/s: {out} m out of reach in frame {frame}");
            }
        }
    }
}

#[test]
fn odd_platforms_end_in_finite_poses_or_errors() {
    let bind = bind(3, true);
    let walker = walker(&bind, WalkOptions::new());
    let values = [0.0f32, 1.0, -3.0, 1e3, 1e9, 1e30, 3e38, f32::NAN, f32::INFINITY];
    let places = [
        Affine3::IDENTITY,
        Affine3::from_translation(Vec3::X * 1e5),
        Affine3::from_translation(Vec3::new(1e15, 1e3, 0.0)),
        Affine3::from_quat(Quat::from_rotation_x(core::f32::consts::PI)),
        Affine3::from_quat(Quat::from_rotation_z(1.2)),
        Affine3::from_scale(Vec3::splat(1e6)),
    ];
    // Knuth's MMIX.
    let mut state_of_noise = 7u64;
    let mut pick = |n: usize| {
        state_of_noise =
            state_of_noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state_of_noise >> 33) as usize) % n
    };
    let (mut changed, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut state = walker.state(&Placement::IDENTITY).unwrap();
        let (mut workspace, mut pose) = (Workspace::new(), bind.clone());
        let mut on = Platform::WORLD;
        for _ in 0..60 {
            if pick(10) == 0 {
                let place = Placement::new(places[pick(places.len())]).unwrap();
                let [linear, angular] =
                    [(); 2].map(|()| Vec3::from([(); 3].map(|()| values[pick(values.len())])));
                let to = Platform::new(place).with_velocity(linear, angular);
                match walker.change_platform(&mut state, &on, &to) {
                    Ok(()) => (on, changed) = (to, changed + 1),
                    Err(error) => {
                        assert!(error.to_string().contains("too far away"), "{error}");
                        refused += 1;
                    }
                }
            }
            state.set_influence([1.0, 0.5, 0.0][pick(3)]).unwrap();
            let (ground, dt) = (Plane::level(0.0), [0.0, 0.016, 0.5, 1e-9][pick(4)]);
            let report =
                walker.step(&mut state, &mut workspace, &mut pose, &ground, Vec3::Z * 0.3, 0.3, dt).unwrap();
            assert!(report.placement.world_from_model().is_finite() && report.out_of_reach.is_finite());
            pose.check_finite().unwrap();
            assert!(state.feet().all(|foot| foot.point.is_finite()));
        }
    }
    assert!(changed > 500 && refused > 50, "{changed}, {refused}");
}

/// Four legs and a tail of three bones, whose joints give way by a radian at most; and its skin.
fn tailed() -> (Pose, Vec<JointId>, Vec<(JointId, Vec3)>) {
    let plain = bind(2, false);
    let mut b = Skeleton::builder();
    for j in plain.skeleton().joints() {
        let parent = plain.skeleton().parent(j).map(|p| p.index());
        b.add(plain.skeleton().name(j).to_string(), parent, *plain.local(j));
    }
    let trunk = plain.skeleton().joints().find(|&j| plain.skeleton().name(j) == "trunk").unwrap();
    let mut last =
        b.add("tail0", Some(trunk.index()), JointTransform::from_translation(Vec3::new(0.0, 0.1, -0.6)));
    for n in 1..4 {
        let at = JointTransform::from_translation(Vec3::new(0.0, -0.02, -0.22));
        last = b.add(format!("tail{n}"), Some(last), at);
    }
    let (mut skeleton, ids) = b.build().unwrap();
    let tail = ids[ids.len() - 4..].to_vec();
    for &joint in &tail {
        skeleton.set_joint(joint, Joint::cone(Vec3::NEG_Z, 1.0, 0.5)).unwrap();
    }
    let bind = Pose::rest(&Arc::new(skeleton));
    let skin = tail.iter().chain([&trunk]).map(|&j| (j, bind.position(j))).collect();
    (bind, tail, skin)
}

fn tailed_walker(options: WalkOptions) -> (Walker, Pose, Vec<JointId>) {
    let (bind, tail, skin) = tailed();
    let legs = Legs::find(&bind, &skin).unwrap();
    (Walker::new(&Creature::new(&bind, &legs, &skin).unwrap(), options).unwrap(), bind, tail)
}

/// The angle about +Y from the trunk's axis to the tail's line.
fn tail_angle(pose: &Pose, tail: &[JointId]) -> f32 {
    let line = pose.position(tail[3]) - pose.position(tail[0]);
    (-line.x).atan2(-line.z)
}

#[test]
fn tails_trail_where_they_are_told_to() {
    let (walker, bind, tail) = tailed_walker(WalkOptions::new().with_trail(0.3));
    let (stiff, ..) = tailed_walker(WalkOptions::new());
    let moved = |walker: &Walker| tail.iter().filter(|&j| walker.joints(bind.skeleton()).contains(j)).count();
    assert_eq!([moved(&walker), moved(&stiff)], [4, 1]);
    let order = |t: f32| match t {
        t if t < 2.0 => (Vec3::Z * 0.4, 0.0),
        t if t < 4.0 => (Vec3::Z * 0.4, 0.6),
        _ => (Vec3::ZERO, 0.0),
    };
    let ground = Plane::level(0.0);
    let frames = walk(&walker, &bind, &ground, 8.0, 60.0, order);
    let angle = |t: f32| tail_angle(&frames[(60.0 * t) as usize].pose, &tail);
    // Behind a trunk that turns to its left the tail is still where it was: it lies to the trunk's right, as if turned back.
    // (The trunk sways.)
    assert!(angle(1.9).abs() < 0.03 && (-1.0..-0.1).contains(&angle(3.9)), "{} {}", angle(1.9), angle(3.9));
    assert!(angle(7.9).abs() < 1e-4, "{}", angle(7.9));
    for frame in &frames {
        for &joint in &tail {
            let (now, rest) = (frame.pose.local(joint), bind.local(joint));
            assert_eq!((now.translation, now.scale), (rest.translation, rest.scale));
            assert!(bind.skeleton().limits(joint).excess(now.rotation) <= 1e-5);
        }
    }
    // The tip is not swung about with the trunk.
    let straight = walk(&stiff, &bind, &ground, 8.0, 60.0, order);
    let swung = |frames: &[Frame]| {
        let tip = |f: &Frame| f.report.placement.to_world(f.pose.position(tail[3]));
        frames[120..240].windows(2).map(|f| tip(&f[0]).distance(tip(&f[1]))).sum::<f32>()
    };
    assert!(swung(&frames) < 0.9 * swung(&straight), "{} m, {} m", swung(&frames), swung(&straight));
    // At other frame rates it trails the same way.
    for (rate, near) in [(30.0, 0.02), (144.0, 0.02)] {
        let other = walk(&walker, &bind, &ground, 4.0, rate, order);
        for t in [2.5, 3.0, 3.5, 4.0] {
            let off = tail_angle(&other[(rate * t).round() as usize].pose, &tail) - angle(t);
            assert!(off.abs() < near, "{rate} Hz, {t} s: {off}");
        }
    }
    // Legs and trunk know nothing of it.
    for (a, b) in straight.iter().zip(&frames) {
        assert_eq!(a.report.placement, b.report.placement);
        assert!(tail_angle(&a.pose, &tail).abs() < 1e-6);
    }
}

#[test]
fn tails_that_trail_keep_their_clip_and_allocate_nothing() {
    let (walker, bind, tail) = tailed_walker(WalkOptions::new().with_trail(0.2));
    let mut state = walker.state(&Placement::IDENTITY).unwrap();
    let (mut workspace, mut pose, ground) = (Workspace::new(), bind.clone(), Plane::level(0.0));
    let mut step = |state: &mut WalkState, pose: &mut Pose, turn: f32| {
        walker.step(state, &mut workspace, pose, &ground, Vec3::Z * 0.3, turn, 1.0 / 60.0).unwrap()
    };
    step(&mut state, &mut pose, 0.0);
    let counted = allocation_counter::measure(|| {
        for _ in 0..60 {
            step(&mut state, &mut pose, 0.5);
        }
    });
    assert_eq!(counted.count_total, 0, "{counted:?}");
    // A tail that the clip raises is raised, and trails from there.
    let raised = Quat::from_rotation_x(0.5);
    for _ in 0..120 {
        pose.copy_from(&bind);
        pose.set_rotation(tail[0], raised);
        pose.update();
        step(&mut state, &mut pose, 0.0);
    }
    assert!(pose.local(tail[0]).rotation.angle_between(raised) < 0.1);
    // With no influence the clip has it alone.
    state.set_influence(0.0).unwrap();
    pose.copy_from(&bind);
    pose.set_rotation(tail[1], raised);
    pose.update();
    step(&mut state, &mut pose, 0.5);
    assert!(pose.local(tail[1]).rotation.angle_between(raised) < 1e-6);
    assert!(pose.local(tail[2]).rotation.angle_between(bind.local(tail[2]).rotation) < 1e-6);
    // Another walker without tails gives the pose its own rotations back, where nobody sets them.
    state.set_influence(1.0).unwrap();
    pose.copy_from(&bind);
    for _ in 0..30 {
        step(&mut state, &mut pose, 0.6);
    }
    assert!(tail_angle(&pose, &tail).abs() > 0.02, "{}", tail_angle(&pose, &tail));
    let (stiff, ..) = tailed_walker(WalkOptions::new());
    stiff
        .step(&mut state, &mut Workspace::new(), &mut pose, &ground, Vec3::Z * 0.3, 0.6, 1.0 / 60.0)
        .unwrap();
    for &joint in &tail {
        assert!(pose.local(joint).rotation.angle_between(bind.local(joint).rotation) < 1e-6);
    }
    // Put elsewhere, it begins anew.
    let far = Placement::new(Affine3::from_rotation_translation(Quat::from_rotation_y(1.0), Vec3::X * 50.0))
        .unwrap();
    state.set_influence(1.0).unwrap();
    walker.reset(&mut state, &far).unwrap();
    pose.copy_from(&bind);
    step(&mut state, &mut pose, 0.0);
    assert!(tail_angle(&pose, &tail).abs() < 1e-4);
    let wrong = Walker::new(walker.creature(), WalkOptions::new().with_trail(-1.0)).unwrap_err();
    assert_eq!(wrong.to_string(), "trail must be from 0 to 10, not -1");
}

#[test]
fn odd_tails_end_in_finite_poses() {
    let (bind, tail, skin) = tailed();
    let legs = Legs::find(&bind, &skin).unwrap();
    let walker =
        Walker::new(&Creature::new(&bind, &legs, &skin).unwrap(), WalkOptions::new().with_trail(1e-30))
            .unwrap();
    let ground = Plane::level(0.0);
    for scale in
        [Vec3::ZERO, Vec3::new(1.0, 3.0, 0.2), Vec3::splat(-1.0), Vec3::splat(1e-20), Vec3::splat(1e15)]
    {
        for (n, &joint) in tail.iter().enumerate() {
            let mut pose = bind.clone();
            let mut odd = *bind.local(joint);
            (odd.scale, odd.translation) = (scale, odd.translation * if n == 2 { 0.0 } else { 1e4 });
            pose.set_local(joint, odd);
            pose.update();
            let mut state = walker.state(&Placement::IDENTITY).unwrap();
            let mut workspace = Workspace::new();
            for dt in [0.0, 1.0 / 60.0, 0.0, 1e30, 1.0 / 60.0, 1e-30] {
                let report =
                    walker.step(&mut state, &mut workspace, &mut pose, &ground, Vec3::X * 0.3, 0.9, dt);
                assert!(report.is_ok(), "{scale}, {n}: {report:?}");
                pose.check_finite().unwrap();
                assert_eq!(
                    (pose.local(joint).scale, pose.local(joint).translation),
                    (odd.scale, odd.translation)
                );
            }
        }
    }
}
