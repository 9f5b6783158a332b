//! Promise 7 where several settings meet: bones that may stretch within limits and bounded turns, and a pole beside a rotation.

use proptest::prelude::*;
use sinew::{
    Goal, Pole, Pose, Report, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    math,
    solve::{Auto, Ccd, DampedLeastSquares, Fabrik, Fold, FreeChain, IterativeOptions},
};

use crate::promises::{checks, common, config, judge, limited, rig};

/// Options of chains, and by what factor bones may become longer.
#[derive(Clone, Copy, Debug)]
struct Settings {
    options: IterativeOptions,
    stretch: f32,
}

/// Solves for a goal with them.
type Solve = Box<dyn FnMut(&mut Pose, &Goal, &Settings) -> Report>;

macro_rules! solve {
    ($solver:expr, $restarts:expr) => {{
        let (mut solver, mut workspace) = ($solver, Workspace::new());
        let restarts: Option<u32> = $restarts;
        let solve: Solve = Box::new(move |pose, goal, s| {
            let mut options = s.options;
            options.max_restarts = restarts;
            solver.stretch = s.stretch;
            solver.solve(&mut workspace, pose, goal, &options).unwrap()
        });
        solve
    }};
}

/// Every solver of chains with limits that takes the chain.
fn solvers(rig: &limited::Limited) -> Vec<(String, Solve)> {
    let (skeleton, chain) = (rig.pose.skeleton(), rig.chain());
    let mut all: Vec<(String, Solve)> = Vec::new();
    // (Chains of free joints are turned to a rotation whatever their places cost, and have a test of their own.)
    if chain.joints().iter().any(|&j| *skeleton.joint(j) != Joint::FREE)
        && let Ok(auto) = Auto::from_chain(skeleton, chain.clone())
    {
        all.push(("auto".into(), solve!(auto, None)));
    }
    macro_rules! iterative {
        ($name:literal, $solver:ty) => {
            for max_restarts in [0, 2] {
                if let Ok(solver) = <$solver>::from_chain(skeleton, chain.clone()) {
                    let name = format!("{}, {max_restarts} fresh starts", $name);
                    all.push((name, solve!(solver, Some(max_restarts))));
                }
            }
        };
    }
    iterative!("ccd", Ccd);
    iterative!("fabrik", Fabrik);
    iterative!("fold", Fold);
    iterative!("dls", DampedLeastSquares);
    all
}

/// Where a soft zone and a stretch let the end of a chain come for a goal, by their formulas in f64.
fn target(rig: &limited::Limited, goal: Vec3, s: &Settings) -> judge::V {
    let root = judge::position(&rig.pose, rig.root);
    let way = judge::sub(judge::v(goal), root);
    let (far, zone) = (judge::length(way), f64::from(s.options.soft) * rig.length);
    let onset = rig.length - zone;
    if zone == 0.0 || far <= onset {
        return judge::v(goal);
    }
    let drawn = onset + zone * (1.0 - ((onset - far) / zone).exp());
    let part = (drawn * f64::from(s.stretch) / far).min(1.0);
    [0, 1, 2].map(|i| root[i] + way[i] * part)
}

/// One solve of every solver: limits, the bones' directions and factors, the objective, and the same bits again.
fn one_solve(rig: &limited::Limited, goal: &Goal, s: &Settings, solvers: Vec<(String, Solve)>) {
    let at = goal.position.unwrap();
    let far = judge::length(judge::sub(judge::v(at), judge::position(&rig.pose, rig.root)));
    let rounding = 4.0 * rig.rounding + 4e-6 * (rig.length + far);
    let to = target(rig, at, s);
    let missing = |pose: &Pose| {
        let off = judge::length(judge::sub(rig.end(pose), to));
        let turn =
            goal.rotation.map_or(0.0, |q| f64::from(math::angle_between(pose.model_rotation(rig.tip), q)));
        off.hypot(0.5 * rig.length * turn)
    };
    let before = missing(&rig.pose).max(missing(&rig.clamped()));
    for (name, mut solve) in solvers {
        let mut pose = rig.pose.clone();
        let report = solve(&mut pose, goal, s);
        rig.holds(&pose);
        if s.stretch == 1.0 {
            rig.keeps_offsets(&pose, false);
        } else {
            stretches(rig, &pose, s.stretch);
        }
        let left = missing(&pose);
        // (A place may be left for a rotation, where both are met within their tolerances.)
        let met = goal.rotation.is_some() && report.reached();
        assert!(
            met || left - before <= 1e-6 * rig.length + rounding,
            "{name}: grew from {before:e} to {left:e} of {:e} (rounding {rounding:e}): {report:?}",
            rig.length
        );
        let mut again = rig.pose.clone();
        assert_eq!(report, solve(&mut again, goal, s));
        assert!(checks::same_bits(&pose, &again), "{name}: other bits the second time");
    }
}

/// Bones that do not slide keep their directions, and become longer by one factor of the chain, within the one allowed.
fn stretches(rig: &limited::Limited, pose: &Pose, stretch: f32) {
    let skeleton = pose.skeleton();
    let mut factor: Option<f64> = None;
    for &j in &rig.chain().joints()[1..] {
        let (was, is) = (judge::v(rig.pose.local(j).translation), judge::v(pose.local(j).translation));
        if skeleton.joint(j).slide.iter().any(Option::is_some) || judge::length(was) == 0.0 {
            continue;
        }
        let own = judge::length(is) / judge::length(was);
        let aside = judge::length(judge::cross(was, is)) / (judge::length(was) * judge::length(is));
        assert!(aside < 1e-6 && judge::dot(was, is) > 0.0, "joint {j} is {aside:e} off its direction");
        assert!((1.0 - 1e-6..=f64::from(stretch) * (1.0 + 1e-6)).contains(&own), "{own} of {stretch}");
        let first = *factor.get_or_insert(own);
        assert!((own - first).abs() < 1e-6 * first, "joint {j} is {own} times as long, another {first}");
    }
}

fn bound() -> impl Strategy<Value = f32> {
    prop_oneof![Just(f32::INFINITY), (-2.5f32..0.4).prop_map(|decade| 10f32.powf(decade))]
}

fn settings(max_turn: f32, soft: f32, stretch: f32, hurry: u32) -> Settings {
    let max_iterations = if hurry > 10 { 60 } else { hurry.max(1) };
    let options = IterativeOptions::new().with_max_turn(max_turn).with_soft(soft);
    Settings { options: options.with_max_iterations(max_iterations), stretch }
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn bones_that_stretch_lead_nowhere_worse(
        rig in limited::limited(true),
        d in rig::vector(),
        f in 0.3f32..3.0,
        turn in prop::option::weighted(0.25, rig::rotation()),
        max_turn in bound(),
        soft in prop_oneof![Just(0.0), 0f32..0.5],
        stretch in 1f32..2.0,
        hurry in 0u32..20,
    ) {
        // The soft zone's reach is that of the bones, and what slides changes it.
        let slides = rig.chain().joints().iter().any(|&j| rig.pose.skeleton().joint(j).slide[1].is_some());
        prop_assume!(rig.rounding < 1e-4 * rig.length && !(slides && soft > 0.0));
        let mut goal = Goal::position(rig.goal(d, f));
        goal.rotation = turn;
        one_solve(&rig, &goal, &settings(max_turn, soft, stretch, hurry), solvers(&rig));
    }

    #[test]
    fn free_bones_that_stretch_lead_nowhere_worse(
        rig in limited::free(),
        d in rig::vector(),
        f in 0.3f32..3.0,
        there in 0u32..4,
        max_turn in bound(),
        soft in prop_oneof![Just(0.0), 0f32..0.5],
        stretch in 1f32..2.0,
    ) {
        prop_assume!(rig.rounding < 1e-4 * rig.length);
        let end = Vec3::from_array(rig.end(&rig.pose).map(|x| x as f32));
        let at = if there == 0 { end } else { rig.goal(d, f) };
        let free = FreeChain::from_chain(rig.pose.skeleton(), rig.chain());
        let free = free.map(|free| ("free chain".to_string(), solve!(free, None)));
        one_solve(&rig, &Goal::position(at), &settings(max_turn, soft, stretch, 20), free.into_iter().collect());
    }

    #[test]
    fn stretched_bones_keep_their_directions_at_any_weight(
        rig in limited::limited(true),
        d in rig::vector(),
        decades in 0f32..8.0,
        turn in rig::rotation(),
        by_place in 0f32..1.0,
        rest in -6f32..0.0,
        soft in 0f32..0.5,
        max_turn in bound(),
    ) {
        let goal = Goal::position(rig.goal(d, 10f32.powf(decades))).with_rotation(turn);
        let goal = goal.with_position_influence(by_place).with_rotation_influence(1.0 - 10f32.powf(rest));
        for (_, mut solve) in solvers(&rig) {
            let mut pose = rig.pose.clone();
            solve(&mut pose, &goal, &settings(max_turn, soft, 1e9, 20));
            stretches(&rig, &pose, 1e9);
        }
    }

    #[test]
    fn a_pole_costs_neither_place_nor_rotation(
        rig in limited::limited(true),
        d in rig::vector(),
        f in crate::promises::fraction(),
        there in 0u32..4,
        turn in prop::option::weighted(0.7, rig::rotation()),
        pole in rig::vector(),
        max_turn in bound(),
        hurry in 0u32..20,
    ) {
        prop_assume!(rig.rounding < 1e-4 * rig.length);
        let end = Vec3::from_array(rig.end(&rig.pose).map(|x| x as f32));
        let at = if there == 0 { end } else { rig.goal(d, f) };
        let mut goal = Goal::position(at).with_pole(Pole::Direction(pole));
        goal.rotation = turn;
        one_solve(&rig, &goal, &settings(max_turn, 0.0, 1.0, hurry), solvers(&rig));
    }
}

/// A chain that points away from a goal beyond its reach, and turns by no more than a bound a frame, comes round and becomes
/// longer as far as that helps; every frame is nearer than the one before.
#[test]
fn bounded_frames_come_round_to_a_goal_that_stretched_bones_reach() {
    let (skeleton, ids) = common::column(5, 0.2, |i| {
        if i % 2 == 0 { Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0)) } else { Joint::cone(Vec3::Y, 1.0, 0.5) }
    });
    let rest = Pose::rest(&skeleton);
    let goal = Goal::position(Vec3::new(0.0, -0.3, 1.05));
    let s = Settings { options: IterativeOptions::new().with_max_turn(0.1), stretch: 1.2 };
    let [root, tip] = [ids[0], ids[5]];
    // How near they end. (Sweeps creep next to full stretch, and may rest in a knot of limits and bounds.)
    let each: [(&str, f32, Solve); 5] = [
        ("auto", 2e-4, solve!(Auto::new(&skeleton, root, tip).unwrap(), None)),
        ("ccd", 2e-3, solve!(Ccd::new(&skeleton, root, tip).unwrap(), None)),
        ("fabrik", f32::INFINITY, solve!(Fabrik::new(&skeleton, root, tip).unwrap(), None)),
        ("fold", f32::INFINITY, solve!(Fold::new(&skeleton, root, tip).unwrap(), None)),
        ("dls", 2e-4, solve!(DampedLeastSquares::new(&skeleton, root, tip).unwrap(), None)),
    ];
    for (name, near, mut solve) in each {
        let mut pose = rest.clone();
        let mut left = f32::INFINITY;
        for frame in 0..60 {
            let report = solve(&mut pose, &goal, &s);
            let now = report.position_residual;
            assert!(now <= left + 1e-6, "{name}, frame {frame}: grew from {left} to {now}");
            left = now;
        }
        assert!(left < near, "{name}: {left} left");
    }
}
