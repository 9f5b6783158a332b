//! Judges planar chains by closed forms and the promises of every solver, in f64.

use crate::common;

use std::f64::consts::PI;

use common::{directed, noise};
use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    Outcome, Report,
    glam::{DVec2, Vec2},
    planar::{
        AngleConvention2d, BendSide2d, Bone2d, Chain2d, Chain2dError, DirectedOptions2d, Lead, Method2d,
        Options2d, two_bone,
    },
    solve::Tolerance,
};

/// Returns the positions of the joints and of the end, in f64.
fn places(chain: &Chain2d) -> Vec<DVec2> {
    let (mut at, mut way) = (chain.root.as_dvec2(), chain.base as f64);
    let mut list = vec![at];
    for bone in chain.bones() {
        way += bone.angle as f64;
        at += DVec2::new(way.cos(), way.sin()) * bone.length as f64;
        list.push(at);
    }
    list
}

fn end(chain: &Chain2d) -> DVec2 {
    *places(chain).last().unwrap()
}

/// Returns the excess of an angle over a joint's limits, in radians.
fn excess(bone: &Bone2d) -> f64 {
    let Some((from, to)) = bone.limits else { return 0.0 };
    let angle = bone.angle as f64;
    let angle = angle - 2.0 * PI * (angle / (2.0 * PI)).round();
    (angle - to as f64).max(from as f64 - angle).max(0.0)
}

fn angles(chain: &Chain2d) -> Vec<u32> {
    chain.bones().iter().map(|b| b.angle.to_bits()).collect()
}

#[test]
fn two_bones_meet_the_cosine_rule_on_either_side() {
    for (a, b) in [(1.0f32, 1.0f32), (0.7, 1.3), (3.0, 0.01), (1e-6, 2e-6), (1e6, 1.5e6)] {
        for i in 0..=400 {
            let f = i as f32 * 0.37;
            let d = (a - b).abs() + (a + b - (a - b).abs()) * (i as f32 / 400.0);
            let root = Vec2::new(0.1, -0.2) * a;
            let goal = root + Vec2::new(f.cos(), f.sin()) * d;
            for side in [BendSide2d::Left, BendSide2d::Right] {
                let bent = two_bone(root, a, b, goal, side).unwrap();
                let size = (a + b) as f64;
                let (r, g) = (root.as_dvec2(), goal.as_dvec2());
                // By the angles alone.
                let (u, l) = (bent.upper as f64, bent.upper as f64 + bent.lower as f64);
                let m = r + DVec2::new(u.cos(), u.sin()) * a as f64;
                let e = m + DVec2::new(l.cos(), l.sin()) * b as f64;
                assert!(e.distance(g) < 1e-6 * size, "{a} {b} {d} {side:?} {bent:?}");
                assert!(m.distance(bent.middle.as_dvec2()) < 1e-6 * size);
                let flexion = ((a * a + b * b) as f64 - (d as f64).powi(2)) / (2.0 * (a * b) as f64);
                assert!(((-(bent.lower as f64).cos()) - flexion).abs() < 1e-4 || a / b > 100.0);
                let beside = (g - r).perp_dot(m - r);
                let left = side == BendSide2d::Left;
                assert!(if left { beside > -1e-6 * size * size } else { beside < 1e-6 * size * size });
                assert!(if left { bent.lower <= 0.0 } else { bent.lower >= 0.0 });
            }
        }
    }
    let far = two_bone(Vec2::ZERO, 1.0, 0.5, Vec2::X * 4.0, BendSide2d::Left).unwrap();
    assert!(
        (far.out_of_reach - 2.5).abs() < 1e-6 && far.end.distance(Vec2::X * 1.5) < 1e-6 && far.lower == 0.0
    );
    let near = two_bone(Vec2::ZERO, 1.0, 0.4, Vec2::Y * 0.1, BendSide2d::Right).unwrap();
    assert!((near.out_of_reach - 0.5).abs() < 1e-6 && near.end.distance(Vec2::Y * 0.6) < 1e-6);
    assert!(two_bone(Vec2::ZERO, -1.0, 1.0, Vec2::X, BendSide2d::Left).is_err());
    assert!(two_bone(Vec2::ZERO, 1.0, 1.0, Vec2::new(f32::NAN, 0.0), BendSide2d::Left).is_err());
}

#[test]
fn both_conventions_read_one_joint() {
    let quarter = std::f32::consts::FRAC_PI_2;
    // A right angle to the left: straight is 0 and the bend 90 degrees; folded back is 0 and the bend -90 degrees.
    assert!((AngleConvention2d::Folded.write(quarter) + quarter).abs() < 1e-6);
    assert!((AngleConvention2d::Folded.write(0.0).abs() - std::f32::consts::PI).abs() < 1e-6);
    for i in -30..=30 {
        let angle = i as f32 * 0.1;
        for convention in [AngleConvention2d::Straight, AngleConvention2d::Folded] {
            assert!((convention.read(convention.write(angle)) - angle).abs() < 1e-6);
        }
    }
}

#[test]
fn a_dragged_chain_is_a_tractrix() {
    // One bone, dragged along a line perpendicular to it: its other end follows the tractrix.
    let mut chain = Chain2d::new(Vec2::new(0.0, 1.0), &[Bone2d::new(1.0)]).unwrap();
    chain.base = -std::f32::consts::FRAC_PI_2;
    let steps = 20_000;
    for i in 1..=steps {
        chain.follow(Vec2::new(2.0 * i as f32 / steps as f32, 0.0), Lead::Tip).unwrap();
    }
    // At height y it is at x = artanh(sqrt(1 - y^2)) - sqrt(1 - y^2), and the puller sqrt(1 - y^2) ahead.
    let y = chain.root.y as f64;
    let s = (1.0 - y * y).sqrt();
    assert!((s.atanh() - 2.0).abs() < 2e-3, "{y}");
}

#[test]
fn limits_mean_the_same_whichever_end_leads() {
    for lead in [Lead::Tip, Lead::Root] {
        let mut chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0).with_limits(-0.5, 0.7); 6]).unwrap();
        let mut most = [0.0f32; 2];
        for i in 0..3000 {
            let f = i as f32 * 0.01;
            let place = Vec2::new((1.3 * f).sin() * 2.0, (1.7 * f).cos() * 2.0);
            chain.follow(place, lead).unwrap();
            let leading = if lead == Lead::Tip { end(&chain) } else { chain.root.as_dvec2() };
            assert!(leading.distance(place.as_dvec2()) < 1e-5);
            assert!(chain.bones().iter().all(|b| excess(b) == 0.0));
            for b in chain.bones() {
                most = [most[0].min(b.angle), most[1].max(b.angle)];
            }
        }
        assert_eq!(most, [-0.5, 0.7]);
    }
}

#[test]
fn one_joint_of_descent_turns_its_line_onto_the_goal_s() {
    let bones = [Bone2d::new(1.0).with_angle(0.3), Bone2d::new(1.0).with_angle(0.4)];
    let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
    let before = places(&chain);
    let goal = Vec2::new(-0.4, 1.1);
    let once = Options2d::new().with_method(Method2d::CCD).with_max_iterations(1);
    chain.solve(goal, &once).unwrap();
    let g = goal.as_dvec2();
    // The outer joint first, then the inner one with the end at the outer one's result.
    let wrap = |x: f64| x - 2.0 * PI * (x / (2.0 * PI)).round();
    let second = wrap(0.4 + (before[2] - before[1]).angle_to(g - before[1]));
    let e = before[1] + DVec2::from_angle(0.3 + second);
    let first = 0.3 + e.angle_to(g);
    assert!((chain.bones()[1].angle as f64 - second).abs() < 1e-6);
    assert!((chain.bones()[0].angle as f64 - wrap(first)).abs() < 1e-6);
}

/// By a fresh start with the textbook methods, and directly with `Auto`.
#[test]
fn straight_chains_leave_their_line_towards_what_is_preferred() {
    for method in [Method2d::Auto, Method2d::CCD, Method2d::Fabrik] {
        let mut settings = Options2d::new().with_method(method);
        if method != Method2d::Auto {
            (settings.max_restarts, settings.max_iterations) = (Some(1), Some(1000));
        }
        for i in 1..20 {
            let mut chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(0.1); 10]).unwrap();
            let report = chain.solve(Vec2::X * (0.05 * i as f32), &settings).unwrap();
            assert!(report.position_residual < 1.1e-4, "{method:?} {i} {report:?}");
        }
        // (A sweep of CCD undoes the preferred angle.)
        for side in [-0.4f32, 0.4].into_iter().filter(|_| method == Method2d::Auto) {
            let bones = [Bone2d::new(1.0), Bone2d::new(1.0).with_preferred(side)];
            let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
            let report = chain.solve(Vec2::X * 1.2, &settings).unwrap();
            assert!(report.position_residual < 3e-4, "{report:?}");
            assert!(chain.bones()[1].angle * side > 0.0);
        }
    }
}

#[test]
fn near_full_stretch_auto_spares_hundreds_of_sweeps() {
    let bones: Vec<Bone2d> = (0..10).map(|i| Bone2d::new(0.1).with_angle(0.02 * (i % 3) as f32)).collect();
    let goal = Vec2::from_angle(0.9) * 0.995;
    let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
    let report =
        chain.solve(goal, &Options2d::new().with_position_tolerance(Tolerance::Share(1e-5))).unwrap();
    assert!(report.position_residual < 1.1e-5 && report.iterations < 40, "{report:?}");
    for method in [Method2d::CCD, Method2d::Fabrik] {
        let taught = Options2d::new()
            .with_method(method)
            .with_position_tolerance(Tolerance::Share(1e-5))
            .with_max_iterations(2000);
        let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        assert!(chain.solve(goal, &taught).unwrap().iterations > 2 * report.iterations);
    }
}

#[test]
fn a_knot_of_limits_is_left() {
    // The input is bent fully to one side, and the goal is on the other.
    let bones: Vec<Bone2d> =
        (0..6).map(|_| Bone2d::new(0.5).with_limits(-0.6, 0.6).with_angle(0.6)).collect();
    for method in [Method2d::Auto, Method2d::CCD, Method2d::Fabrik] {
        let mut mirror = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        for (i, bone) in bones.iter().enumerate() {
            mirror.set_bone(i, bone.with_angle(-0.55)).unwrap();
        }
        let goal = mirror.end();
        let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        let settings = Options2d::new().with_method(method).with_max_iterations(200).with_max_restarts(4);
        let report = chain.solve(goal, &settings).unwrap();
        assert!(report.position_residual < 3.1e-4, "{method:?} {report:?}");
    }
}

#[test]
fn bad_numbers_are_named_by_joint_and_value() {
    let bad = |bone: Bone2d| Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), bone]).unwrap_err();
    assert_eq!(
        bad(Bone2d::new(1.0).with_limits(0.5, 0.2)),
        Chain2dError::Limits { joint: 1, from: 0.5, to: 0.2 }
    );
    for bone in [
        Bone2d::new(f32::NAN),
        Bone2d::new(-1.0),
        Bone2d::new(1.0).with_angle(f32::INFINITY),
        Bone2d::new(1.0).with_limits(-4.0, 1.0),
        Bone2d::new(1.0).with_limits(f32::NAN, 1.0),
        Bone2d::new(1.0).with_limits(0.0, 1.0).with_preferred(1.5),
    ] {
        assert!(matches!(bad(bone), Chain2dError::Joint { joint: 1, .. }), "{bone:?}");
    }
    assert_eq!(Chain2d::new(Vec2::ZERO, &[]).unwrap_err(), Chain2dError::Empty);
    let mut chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0)]).unwrap();
    let before = chain.clone();
    assert!(chain.solve(Vec2::new(0.0, f32::NAN), &Options2d::default()).is_err());
    assert!(chain.solve(Vec2::X, &Options2d::new().with_influence(2.0)).is_err());
    assert!(chain.follow(Vec2::new(f32::INFINITY, 0.0), Lead::Tip).is_err());
    assert!(chain.set_bone(0, Bone2d::new(-1.0)).is_err());
    assert_eq!(chain, before);
}

/// Lengths over six orders of magnitude, some zero; limits, and starts inside and outside of them.
fn any_chain() -> impl Strategy<Value = Chain2d> {
    let bone = (
        prop_oneof![1 => Just(0.0f32), 9 => 0.2f32..1.0],
        -3.1f32..3.1,
        prop::option::of((-3f32..0.5, 0.0f32..2.6)),
    );
    (prop::collection::vec(bone, 1..14), -3f32..3.0, -3f32..3.0, -1f32..1.0).prop_filter_map(
        "a chain of some length",
        |(bones, decade, base, at)| {
            let size = 10f32.powf(decade);
            let bones: Vec<Bone2d> = bones
                .into_iter()
                .map(|(length, angle, limits)| {
                    let bone = Bone2d::new(length * size).with_angle(angle);
                    limits.map_or(bone, |(from, wide)| bone.with_limits(from, from + wide))
                })
                .collect();
            let mut chain = Chain2d::new(Vec2::splat(at * size), &bones).ok()?;
            chain.base = base;
            (chain.length() > 0.0).then_some(chain)
        },
    )
}

fn run(chain: &mut Chain2d, goal: Vec2, method: usize, weight: f32) -> Report {
    let method = [Method2d::CCD, Method2d::Fabrik, Method2d::Auto][method];
    chain.solve(goal, &Options2d::new().with_method(method).with_influence(weight)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn every_promise_holds(
        chain in any_chain(),
        way in -3.2f32..3.2,
        part in prop_oneof![6 => 0.0f32..1.0, 2 => 1.0f32..3.0, 1 => Just(0.0), 1 => Just(1.0), 1 => Just(1e4)],
        method in 0usize..3,
        sweeps in prop::option::of(0u32..6),
    ) {
        let length = chain.length() as f64;
        let goal = chain.root + Vec2::from_angle(way) * (part * chain.length());
        let settings = Options2d::new().with_method([Method2d::CCD, Method2d::Fabrik, Method2d::Auto][method]).with_max_iterations(sweeps.unwrap_or(200));
        let mut solved = chain.clone();
        let report = solved.solve(goal, &settings).unwrap();
        // Limits hold, and an input outside them does not move further out.
        for (before, after) in chain.bones().iter().zip(solved.bones()) {
            prop_assert!(excess(after) <= excess(before) + 1e-6);
            prop_assert_eq!((before.length, before.limits), (after.length, after.limits));
        }
        // The residual is that of forward kinematics, and does not grow.
        let miss = end(&solved).distance(goal.as_dvec2());
        let far = goal.as_dvec2().length() + length + chain.root.as_dvec2().length();
        prop_assert!((miss - report.position_residual as f64).abs() < 2e-6 * far, "{miss} {report:?}");
        prop_assert!(miss <= end(&chain).distance(goal.as_dvec2()) + 2e-6 * far);
        if report.reached() {
            prop_assert!(miss <= 1e-4 * length + 2e-6 * far);
            // A met goal changes nothing.
            let kept = angles(&solved);
            solved.solve(goal, &settings).unwrap();
            prop_assert_eq!(angles(&solved), kept);
        }
        // Free chains meet every goal in reach.
        if settings.method == Method2d::Auto && chain.bones().iter().all(|b| b.limits.is_none()) && sweeps.is_none() && chain.out_of_reach(goal) == 0.0 {
            prop_assert!(matches!(report.outcome, Outcome::Converged), "{report:?}");
        }
        // A repeated solve gives the same bits.
        let mut again = chain.clone();
        again.solve(goal, &settings).unwrap();
        let mut first = chain.clone();
        first.solve(goal, &settings).unwrap();
        prop_assert_eq!(angles(&again), angles(&first));
    }

    #[test]
    fn weights_go_the_way_without_a_leap(chain in any_chain(), way in -3.2f32..3.2, part in 0.0f32..1.2, method in 0usize..3) {
        let goal = chain.root + Vec2::from_angle(way) * (part * chain.length());
        let mut none = chain.clone();
        run(&mut none, goal, method, 0.0);
        prop_assert_eq!(angles(&none), angles(&chain));
        let mut last = none;
        for i in 1..=20 {
            let mut now = chain.clone();
            run(&mut now, goal, method, i as f32 / 20.0);
            for (a, b) in last.bones().iter().zip(now.bones()) {
                let turn = (a.angle - b.angle) as f64;
                let turn = turn - 2.0 * PI * (turn / (2.0 * PI)).round();
                prop_assert!(turn.abs() <= 6.4 / 20.0 + 1e-4);
            }
            last = now;
        }
    }

    #[test]
    fn finite_goals_of_any_size_leave_finite_chains(
        chain in any_chain(), way in -3.2f32..3.2, size in 0usize..7, method in 0usize..3,
    ) {
        let goal = Vec2::from_angle(way) * [0.0, 1e-45, 1e-30, 1e10, 1e19, 1e25, 3e38][size];
        let mut solved = chain.clone();
        let report = run(&mut solved, goal, method, 1.0);
        prop_assert!(solved.bones().iter().all(|b| b.angle.is_finite()) && report.position_residual.is_finite());
    }
}

/// Returns the end and the direction of a chain, in f64.
fn kinematics(chain: &Chain2d) -> ([f64; 2], f64) {
    let mut way = f64::from(chain.base);
    let mut at = [f64::from(chain.root.x), f64::from(chain.root.y)];
    for b in chain.bones() {
        way += f64::from(b.angle);
        at = [at[0] + f64::from(b.length) * way.cos(), at[1] + f64::from(b.length) * way.sin()];
    }
    (at, way)
}

#[test]
fn a_direction_is_met_with_the_place() {
    let mut r = noise(11);
    for limited in [false, true] {
        let mut met = 0;
        for case in 0..500 {
            let count = 3 + case % 8;
            let bone = |r: &mut dyn FnMut() -> f32| {
                let bone = Bone2d::new(0.4 + 0.3 * r());
                if limited {
                    bone.with_limits(-1.2, 1.2).with_angle(1.2 * r())
                } else {
                    bone.with_angle(3.0 * r())
                }
            };
            let bones: Vec<_> = (0..count).map(|_| bone(&mut r)).collect();
            let mut chain = Chain2d::new(Vec2::new(r(), r()), &bones).unwrap();
            chain.base = 3.0 * r();
            // The goal of another pose within the limits.
            let mut other = chain.clone();
            for i in 0..count {
                let angle = if limited { 1.2 * r() } else { 3.0 * r() };
                other.set_bone(i, other.bones()[i].with_angle(angle)).unwrap();
            }
            let (goal, way) = kinematics(&other);
            let goal = Vec2::new(goal[0] as f32, goal[1] as f32);
            let way = way as f32;
            let before = chain.clone();
            let none = Options2d::new().with_influence(0.0);
            chain.solve_directed(goal, way, &directed(&none)).unwrap();
            assert_eq!(chain, before);
            let report = chain.solve_directed(goal, way, &DirectedOptions2d::new()).unwrap();
            let (end, now) = kinematics(&chain);
            let off = (end[0] - f64::from(goal.x)).hypot(end[1] - f64::from(goal.y));
            let turn = (now - f64::from(way)).sin().atan2((now - f64::from(way)).cos()).abs();
            let size = f64::from(chain.length());
            assert!((off - f64::from(report.position_residual)).abs() < 1e-5 * size);
            assert!((turn - f64::from(report.rotation_residual)).abs() < 1e-5);
            met += usize::from(off < 2e-4 * size && turn < 2e-3);
            for b in chain.bones() {
                assert!(b.limits.is_none_or(|(from, to)| (from..=to).contains(&b.angle)));
            }
        }
        assert!(met >= if limited { 490 } else { 500 }, "limited {limited}: {met} of 500");
    }
}

#[test]
fn a_chain_bends_to_the_side_that_is_asked_for() {
    let mut r = noise(11);
    for _ in 0..300 {
        let bones: Vec<_> = (0..6).map(|_| Bone2d::new(0.5 + 0.3 * r()).with_angle(0.8 * r())).collect();
        for side in [BendSide2d::Left, BendSide2d::Right] {
            let mut chain = Chain2d::new(Vec2::new(r(), r()), &bones).unwrap();
            let goal = chain.root + Vec2::new(r(), r()) * 2.0;
            let settings = Options2d::new().with_side(Some(side));
            let report = chain.solve(goal, &settings).unwrap();
            let (end, _) = kinematics(&chain);
            let off = (end[0] - f64::from(goal.x)).hypot(end[1] - f64::from(goal.y));
            assert!((off - f64::from(report.position_residual)).abs() < 1e-5);
            let way = chain.end() - chain.root;
            let middle: Vec2 = chain.positions().take(6).map(|p| p - chain.root).sum();
            let left = way.perp_dot(middle);
            assert!(if side == BendSide2d::Left { left > -1e-4 } else { left < 1e-4 }, "{side:?} {left}");
        }
    }
}

#[test]
fn bones_stretch_as_far_as_they_may_and_no_further() {
    let bones = [Bone2d::new(1.0), Bone2d::new(0.5).with_angle(0.4), Bone2d::new(0.5)];
    let stretched = Options2d::new().with_stretch(1.2);
    let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
    let report = chain.solve(Vec2::new(0.0, 2.2), &stretched).unwrap();
    assert!(report.position_residual < 1e-3 && (chain.length() - 2.2).abs() < 1e-5, "{report:?}");
    let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
    let report = chain.solve(Vec2::new(0.0, 3.0), &stretched).unwrap();
    assert!((chain.length() - 2.4).abs() < 1e-5 && (report.position_residual - 0.6).abs() < 1e-3);
    // In reach nothing stretches.
    let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
    chain.solve(Vec2::new(0.5, 1.2), &stretched).unwrap();
    assert_eq!(chain.length(), 2.0);
    let refused = Options2d::new().with_stretch(0.5);
    assert!(matches!(chain.solve(Vec2::ONE, &refused), Err(Chain2dError::OutOfRange { .. })));
    assert!(chain.solve_directed(Vec2::ONE, f32::NAN, &DirectedOptions2d::new()).is_err());
}

/// An angle within its limits that is given a turn further, as by a clip: a partial influence starts from it.
#[test]
fn a_part_of_the_way_starts_from_the_turn_that_the_range_is_on() {
    let bones = [
        Bone2d::new(3.6).with_angle(3.155786).with_limits(-3.1309502, -2.1453593),
        Bone2d::new(2.0).with_angle(1.0),
    ];
    for method in [Method2d::CCD, Method2d::Fabrik] {
        for i in 0..100 {
            let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
            let goal = Vec2::new((0.3 * i as f32).cos(), (0.3 * i as f32).sin()) * 4.0;
            let settings = Options2d::new().with_method(method).with_influence(0.01 * i as f32);
            chain.solve(goal, &settings).unwrap();
            assert!(excess(&chain.bones()[0]) < 1e-6, "{method:?} {i}: {:?}", chain.bones()[0]);
            if i == 0 {
                assert_eq!(chain.bones(), bones);
            }
        }
    }
}

/// Two bones of very different lengths: a soak found that their angles did not match their positions.
#[test]
fn angles_and_places_of_two_bones_agree_however_long_they_are() {
    two_bones_of_any_lengths(6.0);
}

/// As above, where f32 loses one length in the other's rounding.
#[test]
fn angles_and_places_of_two_bones_agree_where_one_is_a_grain() {
    two_bones_of_any_lengths(9.0);
}

fn two_bones_of_any_lengths(decades: f32) {
    let mut x = 3u32;
    let mut r = || {
        x = x.wrapping_mul(1664525).wrapping_add(1013904223);
        (x >> 8) as f32 / (1 << 24) as f32
    };
    for n in 0..200_000 {
        let (a, b) = (10f32.powf(-decades * r()), 10f32.powf(-decades * r()));
        let (most, least) = (a + b, (a - b).abs());
        let (distance, way) = (least + (most - least) * r(), 6.3 * r());
        let goal = Vec2::new(way.cos(), way.sin()) * distance;
        let side = [BendSide2d::Left, BendSide2d::Right][n % 2];
        let limb = two_bone(Vec2::ZERO, a, b, goal, side).unwrap();
        let (u, l) = (f64::from(limb.upper), f64::from(limb.upper) + f64::from(limb.lower));
        let middle = DVec2::new(u.cos(), u.sin()) * f64::from(a);
        let end = middle + DVec2::new(l.cos(), l.sin()) * f64::from(b);
        // Five roundings of angles of up to a turn, 2.4e-7 each: two arcs, their sum, the removed turn, the flexion.
        assert!(end.distance(limb.end.as_dvec2()) < 1.2e-6 * f64::from(most), "{a} {b} {goal} {limb:?}");
        assert!(middle.distance(limb.middle.as_dvec2()) < 1.2e-6 * f64::from(a), "{a} {b} {goal} {limb:?}");
        assert!(limb.end.distance(goal) < 3e-7 * most);
    }
}

/// A bone of no length beside the other one, in f32: all four of Heron's factors are rounding there.
#[test]
fn two_bones_of_which_one_is_nothing_agree() {
    for (a, b) in [(2.46e-9f32, 6.86e6f32), (6.86e6, 2.46e-9), (1e-9, 1e9), (1e9, 1e-9)] {
        for goal in [0.0, 1e-10, 0.5, 1.0, 1.5, 1e20].map(|part| Vec2::new(0.6, -0.8) * (part * a.max(b))) {
            for side in [BendSide2d::Left, BendSide2d::Right] {
                let limb = two_bone(Vec2::ZERO, a, b, goal, side).unwrap();
                let (u, l) = (f64::from(limb.upper), f64::from(limb.upper) + f64::from(limb.lower));
                let end = DVec2::from_angle(u) * f64::from(a) + DVec2::from_angle(l) * f64::from(b);
                assert!(
                    end.distance(limb.end.as_dvec2()) < 1e-6 * f64::from(a + b),
                    "{a} {b} {goal} {limb:?}"
                );
            }
        }
    }
}

/// Whole turns in f32 are off by 2e-7 each, so a thousand of them would spoil the excess of an angle.
#[test]
fn angles_many_turns_off_go_no_further_out_of_their_limits() {
    let mut noise = noise(41);
    let mut random = move |from: f32, to: f32| from + (to - from) * (0.5 + 0.5 * noise());
    for n in 0..2000 {
        let bones: Vec<Bone2d> = (0..4)
            .map(|_| {
                let from = random(-3.0, 2.0);
                Bone2d::new(1.0).with_limits(from, from + random(0.0, 1.0)).with_angle(random(-9.9e3, 9.9e3))
            })
            .collect();
        let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        chain.base = random(-9.9e3, 9.9e3);
        let goal = Vec2::new(random(-4.0, 4.0), random(-4.0, 4.0));
        let sweeps = Options2d::new().with_method(Method2d::CCD);
        match n % 4 {
            0 => drop(chain.solve(goal, &sweeps).unwrap()),
            1 => drop(chain.solve(goal, &Options2d::default()).unwrap()),
            2 => drop(chain.solve_directed(goal, 0.5, &DirectedOptions2d::new()).unwrap()),
            _ => chain.follow(goal, Lead::Tip).unwrap(),
        }
        for (was, is) in bones.iter().zip(chain.bones()) {
            assert!(excess(is) <= excess(was) + 1e-6, "{n}: {was:?} to {is:?}");
        }
    }
}

/// Returns the outcome of a report, and its distance out of reach in units of a size.
fn out_of_reach(report: Report, size: f32) -> (Outcome, f32) {
    (report.outcome, report.out_of_reach / size)
}

/// The same chain, goals and answer in any unit, from where squares vanish to where they overflow.
#[test]
fn chains_of_any_size_reach_their_goals() {
    let bones = |size: f32| {
        let bone = |length: f32, angle| Bone2d::new(length * size).with_angle(angle);
        [
            bone(1.0, 0.3).with_limits(-3.0, 3.0),
            bone(0.6, 0.8),
            bone(0.5, -0.4).with_limits(-2.0, 2.0),
            bone(0.2, 0.0),
        ]
    };
    // (Powers of two, which scale exactly.)
    for size in [2f32.powi(-90), 2f32.powi(-70), 2f32.powi(-55), 1.0, 2f32.powi(50), 2f32.powi(59)] {
        for n in 0..24 {
            let goal = Vec2::from_angle(0.7 * n as f32) * (0.1 + 0.08 * n as f32);
            for method in [Method2d::Auto, Method2d::CCD, Method2d::Fabrik] {
                for max_restarts in [0, 4] {
                    let settings = Options2d::new()
                        .with_method(method)
                        .with_max_restarts(max_restarts)
                        .with_side(Some(BendSide2d::Left));
                    let at = |size: f32| {
                        let mut chain = Chain2d::new(Vec2::new(0.1, -0.2) * size, &bones(size)).unwrap();
                        let report = chain.solve(chain.root + goal * size, &settings).unwrap();
                        (
                            angles(&chain),
                            out_of_reach(report, size),
                            report.branch_changed,
                            report.position_residual / size,
                        )
                    };
                    assert_eq!(at(size), at(1.0), "{size:e}: {n} {method:?} {max_restarts}");
                }
            }
            let directed = |size: f32| {
                let mut chain = Chain2d::new(Vec2::ZERO, &bones(size)).unwrap();
                let report = chain.solve_directed(goal * size, 0.4, &DirectedOptions2d::new()).unwrap();
                (angles(&chain), out_of_reach(report, size), report.position_residual / size)
            };
            assert_eq!(directed(size), directed(1.0), "{size:e}: {n}");
            for lead in [Lead::Root, Lead::Tip] {
                let follow = |size: f32| {
                    let mut chain = Chain2d::new(Vec2::ZERO, &bones(size)).unwrap();
                    chain.follow(goal * size, lead).unwrap();
                    (angles(&chain), (chain.root / size).to_array().map(f32::to_bits))
                };
                assert_eq!(follow(size), follow(1.0), "{size:e}: {n} {lead:?}");
            }
        }
    }
}

/// Goals at opposite ends of the number range: their distance may overflow.
#[test]
fn places_at_opposite_ends_of_all_numbers_leave_finite_chains() {
    let ends = [-3.4e38f32, -1e38, 1e38, 3.4e38];
    for x in ends {
        for y in ends {
            for lead in [Lead::Root, Lead::Tip] {
                let bones = [
                    Bone2d::new(1e18).with_angle(0.3),
                    Bone2d::new(1e18).with_angle(-1.0).with_limits(-2.0, 0.0),
                    Bone2d::new(1e18),
                ];
                let mut chain = Chain2d::new(Vec2::new(x, y), &bones).unwrap();
                chain.follow(Vec2::new(-x, -y), lead).unwrap();
                let bones = chain.bones();
                assert!(
                    chain.root.is_finite() && bones.iter().all(|b| b.angle.is_finite()),
                    "{x:e} {y:e} {lead:?}"
                );
            }
            let mut chain =
                Chain2d::new(Vec2::new(x, y), &[Bone2d::new(1.0), Bone2d::new(1.0).with_angle(1.0)]).unwrap();
            let report = chain.solve_directed(Vec2::new(-x, -y), 0.3, &DirectedOptions2d::new()).unwrap();
            assert!(report.out_of_reach.is_finite(), "{x:e} {y:e} {report:?}");
        }
    }
}

/// Limits may hold joints where longer bones point away from the goal.
#[test]
fn stretched_bones_lead_no_chain_away_from_its_goal() {
    let mut noise = noise(42);
    let mut random = move |from: f32, to: f32| from + (to - from) * (0.5 + 0.5 * noise());
    for n in 0..4000 {
        let bones: Vec<Bone2d> = (0..1 + n % 4)
            .map(|_| {
                let (from, wide) = (random(-3.0, 2.0), random(0.0, 1.0));
                Bone2d::new(random(0.1, 1.0))
                    .with_limits(from, from + wide)
                    .with_angle(from + wide * random(0.0, 1.0))
            })
            .collect();
        let chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        let goal = Vec2::from_angle(random(-3.2, 3.2)) * (chain.length() * random(1.0, 2.0));
        let method = [Method2d::CCD, Method2d::Fabrik][n % 2];
        let settings = Options2d::new().with_method(method).with_stretch(random(1.0, 2.0));
        let before = end(&chain).distance(goal.as_dvec2());
        let mut solved = chain.clone();
        solved.solve(goal, &settings).unwrap();
        let left = end(&solved).distance(goal.as_dvec2());
        assert!(left <= before + 1e-6, "{n}: {before} to {left} of {}: {settings:?}", chain.length());
        // With a direction goal: a radian counts as half the length.
        let direction = random(-3.0, 3.0);
        let missing = |c: &Chain2d| {
            let (at, heading) = kinematics(c);
            let turn = f64::from(direction) - heading;
            let turn = turn - 2.0 * PI * (turn / (2.0 * PI)).round();
            (DVec2::from_array(at) - goal.as_dvec2()).length().hypot(0.5 * f64::from(chain.length()) * turn)
        };
        let mut solved = chain.clone();
        solved.solve_directed(goal, direction, &directed(&settings)).unwrap();
        let (before, left) = (missing(&chain), missing(&solved));
        assert!(
            left <= before + 1e-6,
            "{n}, directed: {before} to {left} of {}: {settings:?}",
            chain.length()
        );
    }
}

/// A goal near the root is in reach, however wide the soft zone is.
#[test]
fn a_soft_zone_stretches_nothing_near_the_root() {
    for part in [1e-12f32, 1e-8, 1e-6, 1e-4, 1e-3] {
        let mut chain =
            Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), Bone2d::new(1.0).with_angle(3.0)]).unwrap();
        let settings = Options2d::new().with_soft(1.0).with_stretch(10.0);
        chain.solve(Vec2::X * part, &settings).unwrap();
        assert!((chain.length() - 2.0).abs() < 1e-5 + part, "{part:e}: {}", chain.length());
    }
}

#[test]
fn numbers_above_nothing_are_above_nothing() {
    let mut chain = Chain2d::new(Vec2::ZERO, &[Bone2d::new(1.0), Bone2d::new(1.0)]).unwrap();
    for number in [1e-45f32, 1e-38] {
        chain.solve(Vec2::ONE, &Options2d::new().with_position_tolerance(Tolerance::Share(number))).unwrap();
        chain
            .solve(Vec2::ONE, &Options2d::new().with_method(Method2d::Ccd { damping: 0.0, max_step: number }))
            .unwrap();
    }
}

/// A far goal is replaced by a point slightly out of reach. A result that only approaches that point is rejected.
#[test]
fn goals_far_off_leave_no_chain_further_than_it_came() {
    let mut noise = noise(43);
    let mut random = move |from: f32, to: f32| from + (to - from) * (0.5 + 0.5 * noise());
    for n in 0..20_000 {
        let bones: Vec<Bone2d> = (0..1 + n % 4)
            .map(|_| {
                let (from, wide) = (random(-3.0, 2.0), random(0.0, 1.0));
                Bone2d::new(random(0.1, 1.0))
                    .with_limits(from, from + wide)
                    .with_angle(from + wide * random(0.0, 1.0))
            })
            .collect();
        let chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        let goal = Vec2::from_angle(random(-3.2, 3.2)) * (chain.length() * 10f32.powf(random(0.5, 9.0)));
        let (method, max_iterations) =
            ([Method2d::CCD, Method2d::Fabrik, Method2d::Auto][n % 3], (n % 10) as u32);
        let mut solved = chain.clone();
        solved
            .solve(goal, &Options2d::new().with_method(method).with_max_iterations(max_iterations))
            .unwrap();
        let [before, left] = [&chain, &solved].map(|c| end(c).distance(goal.as_dvec2()));
        assert!(
            left <= before + 1e-6 * f64::from(chain.length()),
            "{n}: {before} to {left} of {}",
            chain.length()
        );
    }
}

/// Chains of length 0 or of the smallest numbers: little or nothing turns.
#[test]
fn chains_of_hardly_any_length_stay_finite() {
    for lengths in [[0.0f32, 0.0, 0.0], [1e-45, 0.0, 1e-45], [1e-40, 1e-41, 0.0], [3e-38, 1e-38, 1e-39]] {
        for goal in [1e-44f32, 1e-40, 1e-36, 1e-20, 1.0, 1e30] {
            for n in 0..4 {
                let bones = lengths.map(|l| Bone2d::new(l).with_limits(-1.0, 2.0).with_angle(0.4));
                let mut chain = Chain2d::new(Vec2::splat(1e-38), &bones).unwrap();
                chain.base = 1.0;
                let goal = Vec2::new(goal, -0.7 * goal);
                let settings = Options2d::new()
                    .with_method([Method2d::CCD, Method2d::Fabrik][n % 2])
                    .with_side(Some(BendSide2d::Left))
                    .with_position_tolerance(Tolerance::Share(1e-30))
                    .with_stretch([1.0, 1e26][n / 2]);
                let report = chain.solve(goal, &settings).unwrap();
                let sound =
                    |c: &Chain2d| c.bones().iter().all(|b| b.angle.is_finite() && b.length.is_finite());
                assert!(
                    sound(&chain) && report.position_residual.is_finite(),
                    "{lengths:?} {goal} {settings:?}"
                );
                let report = chain.solve_directed(goal, 2.0, &directed(&settings)).unwrap();
                assert!(
                    sound(&chain) && report.rotation_residual.is_finite(),
                    "{lengths:?} {goal} {settings:?}"
                );
                chain.follow(goal, [Lead::Root, Lead::Tip][n % 2]).unwrap();
                assert!(sound(&chain), "{lengths:?} {goal}");
            }
        }
    }
}

/// The chain is mirrored about the line to its end, whatever whole turns its angles include.
#[test]
fn a_chain_many_turns_off_is_mirrored_to_where_its_end_is() {
    for n in 0..200 {
        let turns = std::f32::consts::TAU * (n as f32 - 100.0);
        let bones = [Bone2d::new(1.0).with_angle(0.5 + turns), Bone2d::new(0.7).with_angle(0.9)];
        let mut chain = Chain2d::new(Vec2::ZERO, &bones).unwrap();
        chain.base = -2.0 * turns;
        let goal = chain.end();
        let settings = Options2d::new().with_side(Some(BendSide2d::Left));
        chain.solve(goal, &settings).unwrap();
        assert!(chain.bones()[1].angle < 0.0, "{chain:?}");
        let missed = end(&chain).distance(goal.as_dvec2());
        assert!(missed < 2e-6, "{n}: {missed:e}");
    }
}
