//! The tenth promise, as the table in the docs of `sinew::solve` has it: every row is run with what the table says that it
//! takes.

use std::{f32::consts::TAU, sync::Arc};

use sinew::{
    Chain, Goal, JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{
        Auto, Ccd, DampedLeastSquares, Effector, Fabrik, FabrikTree, Fold, FreeChain, FullBody,
        IterativeOptions, LimbOptions, TwoBone,
    },
};

const TABLE: &str = include_str!("../../src/solve/promises.md");

/// Lengths of the chain that the goal moves in a frame, and radians that a joint may turn for each.
const STEP: f32 = 0.005;
const BOUND: f64 = 8.0;

/// Solver, the promises without the tenth, what the tenth takes.
fn rows() -> Vec<[&'static str; 3]> {
    let cells = |line: &'static str| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        [(); 3].map(|()| cells.next().expect("three columns"))
    };
    TABLE.lines().filter(|l| l.starts_with('|')).skip(2).map(cells).collect()
}

type Solve = Box<dyn FnMut(&mut Pose, Vec3)>;

/// The solver of a row, with a soft zone and a bound on turns.
fn solver(name: &str, skeleton: &Skeleton, ids: &[JointId], soft: f32, max_turn: f32) -> Solve {
    let (root, tip) = (ids[0], ids[ids.len() - 1]);
    macro_rules! fields {
        ($solver:expr) => {{
            let (solver, mut workspace) = ($solver.unwrap(), Workspace::new());
            let options = IterativeOptions::new().with_soft(soft).with_max_turn(max_turn);
            Box::new(move |pose, goal| {
                solver.solve(&mut workspace, pose, &Goal::position(goal), &options).unwrap();
            })
        }};
    }
    match name {
        "`TwoBone`" | "`TwoBone`, joints with limits" => {
            let chain = Chain::new(skeleton, root, tip).unwrap();
            let limb = TwoBone::from_chain(skeleton, chain.clone(), ids[1])
                .or_else(|_| TwoBone::within_limits(skeleton, chain, ids[1]))
                .unwrap();
            let options = LimbOptions::new().with_soft(soft).with_max_turn(max_turn);
            Box::new(move |pose, goal| {
                limb.solve(pose, &Goal::position(goal), &options).unwrap();
            })
        }
        "`FreeChain`" => fields!(FreeChain::new(skeleton, root, tip)),
        "`Auto`, free joints" | "`Auto`, joints with limits" => fields!(Auto::new(skeleton, root, tip)),
        "`Ccd`" => fields!(Ccd::new(skeleton, root, tip)),
        "`Fabrik`" => fields!(Fabrik::new(skeleton, root, tip)),
        "`Fold`" => fields!(Fold::new(skeleton, root, tip)),
        "`DampedLeastSquares`" => fields!(DampedLeastSquares::new(skeleton, root, tip)),
        "`FullBody`" => {
            let full_body = FullBody::new(skeleton, root, &[Effector::new(tip)]).unwrap();
            let mut workspace = Workspace::new();
            let options = IterativeOptions::new().with_soft(soft).with_max_turn(max_turn);
            Box::new(move |pose, goal| {
                full_body.solve(&mut workspace, pose, &[Goal::position(goal)], &options).unwrap();
            })
        }
        "`FabrikTree`" => {
            let tree = FabrikTree::new(skeleton, root, &[Effector::new(tip)]).unwrap();
            let mut workspace = Workspace::new();
            // (It has no soft zone.)
            let options = IterativeOptions::new().with_max_turn(max_turn);
            Box::new(move |pose, goal| {
                tree.solve(&mut workspace, pose, &[Goal::position(goal)], &options).unwrap();
            })
        }
        _ => panic!("the suite does not run {name}"),
    }
}

/// A row of bones along Y that are a metre long together, and somewhat bent.
fn chain(bones: usize, joint: impl Fn(usize) -> Joint) -> Pose {
    let mut b = Skeleton::builder();
    let mut last = b.add("0", None, JointTransform::IDENTITY);
    for i in 1..=bones {
        last = b.add(format!("{i}"), Some(last), JointTransform::from_translation(Vec3::Y / bones as f32));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (i, &id) in ids[..bones].iter().enumerate() {
        skeleton.set_joint(id, joint(i)).unwrap();
    }
    let mut pose = Pose::rest(&Arc::new(skeleton));
    for (i, &id) in ids[..bones].iter().enumerate() {
        pose.set_rotation(
            id,
            math::axis_angle([Vec3::X, Vec3::Z][i % 2], 0.3 * if i == 0 { 1.0 } else { 0.8 }),
        );
    }
    pose.update();
    pose
}

fn turned(a: &Pose, b: &Pose) -> f64 {
    let angle = |a: Quat, b: Quat| {
        let d = a.as_dquat().normalize().inverse() * b.as_dquat().normalize();
        2.0 * d.xyz().length().atan2(d.w.abs())
    };
    a.locals().iter().zip(b.locals()).map(|(a, b)| angle(a.rotation, b.rotation)).fold(0.0, f64::max)
}

/// The share of frames, of circles through full stretch, in which a joint turns further than the promise allows.
fn too_far(name: &str, start: &Pose, soft: f32, max_turn: f32) -> f64 {
    let ids: Vec<JointId> = start.skeleton().joints().collect();
    let (mut frames, mut far) = (0usize, 0usize);
    for path in 0..6 {
        let angle = path as f32;
        let out = Vec3::new(0.4 * angle.cos(), 1.0, 0.4 * angle.sin()).normalize();
        let across = math::perpendicular(out, Vec3::new(angle.sin(), 0.3, angle.cos()));
        let (centre, radius) = (0.7, 0.33);
        let count = (TAU * radius / STEP).ceil() as usize;
        let at = |i: usize| {
            let a = TAU * i as f32 / count as f32;
            out * (centre + radius * a.cos()) + across * (radius * a.sin())
        };
        let mut pose = start.clone();
        // The way to the path's start is no part of it.
        solver(name, start.skeleton(), &ids, soft, f32::INFINITY)(&mut pose, at(0));
        let mut solve = solver(name, start.skeleton(), &ids, soft, max_turn);
        for i in 1..=count {
            let last = pose.clone();
            solve(&mut pose, at(i));
            frames += 1;
            far += usize::from(turned(&last, &pose) > BOUND * f64::from(STEP) + 1e-3);
        }
    }
    far as f64 / frames as f64
}

fn chains(name: &str) -> Vec<Pose> {
    let cone = |_: usize| Joint::cone(Vec3::Y, 0.8, 0.5);
    let hinge = |i: usize| Joint::hinge([Vec3::X, Vec3::Z][i % 2], Dof::range(-1.05, 1.05));
    match name {
        "`TwoBone`" => vec![chain(2, |_| Joint::FREE)],
        "`TwoBone`, joints with limits" => {
            let knee = Joint::hinge(Vec3::Z, Dof::range(-0.2, 1.5));
            vec![chain(2, move |i| if i == 1 { knee } else { cone(0) })]
        }
        "`FreeChain`" | "`Auto`, free joints" => vec![chain(3, |_| Joint::FREE), chain(10, |_| Joint::FREE)],
        "`Auto`, joints with limits" => vec![chain(10, cone), chain(10, hinge)],
        _ => vec![chain(10, |_| Joint::FREE), chain(10, cone), chain(10, hinge)],
    }
}

#[test]
fn the_tenth_promise_holds_where_the_table_says_so() {
    let rows = rows();
    assert!(rows.len() >= 8, "{rows:?}");
    for [name, promises, takes] in rows {
        assert_eq!(promises, "1 to 9", "{name}");
        let (soft, max_turn) = match takes {
            "with `soft`" => (0.05, f32::INFINITY),
            "with `max_turn`" => (0.0, BOUND as f32 * STEP),
            _ => panic!("{name}: {takes}"),
        };
        for start in chains(name) {
            let share = too_far(name, &start, soft, max_turn);
            let first = start.skeleton().joints().next().unwrap();
            assert_eq!(share, 0.0, "{name} {takes}, {:?}", start.skeleton().joint(first).turning);
        }
    }
}

/// The textbook methods do not keep promise 10 without a bound on turns: their joints turn too far.
#[test]
fn without_a_bound_the_taught_methods_leap() {
    for name in ["`Ccd`", "`Fabrik`", "`FabrikTree`"] {
        let shares: Vec<f64> = chains(name).iter().map(|s| too_far(name, s, 0.05, f32::INFINITY)).collect();
        assert!(shares.iter().any(|s| *s > 0.01), "{name}: {shares:?}");
    }
}
