//! Judges limbs, chains and aims below parents with unequal scales, by forward kinematics in f64.

use crate::common;
use crate::held;
use crate::promises::judge;

use std::sync::Arc;

use common::noise;
use held::held;
use judge::{V, cross, dot, length, sub, unit};
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{
        Aim, AimUp, Auto, Ccd, DampedLeastSquares, Effector, Fabrik, Fold, Follow, FreeChain, FullBody,
        FullBodyOptions, LimbOptions, Options, Tolerance, TwoBone,
    },
};

struct Dice(Box<dyn FnMut() -> f32>);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(Box::new(noise(seed)))
    }

    fn vector(&mut self) -> Vec3 {
        loop {
            let v = Vec3::new(self.0(), self.0(), self.0());
            if v.length() > 0.2 {
                return v;
            }
        }
    }

    fn rotation(&mut self) -> Quat {
        let v = self.vector();
        math::normalize(Quat::from_xyzw(v.x, v.y, v.z, self.0()))
    }
}

/// A chain of `bones` below two joints with unequal scales, in a random pose. Returns its joints, root first.
fn rig(dice: &mut Dice, bones: usize, hinges: bool) -> (Pose, Vec<JointId>) {
    const SCALES: [Vec3; 4] = [
        Vec3::new(1.0, 2.0, 1.0),
        Vec3::new(0.5, 1.0, 3.0),
        Vec3::new(-1.0, 2.0, 1.0),
        Vec3::new(1.0, 1.02, 1.0),
    ];
    let mut b = Skeleton::builder();
    let at = |translation, rotation, scale| JointTransform { translation, rotation, scale };
    let some = (dice.0().abs() * 4.0) as usize % 4;
    let top = b.add("top", None, at(dice.vector(), dice.rotation(), SCALES[some]));
    let inner = if dice.0() > 0.0 { Vec3::ONE } else { SCALES[(some + 1) % 4] };
    let mut last = b.add("squashed", Some(top), at(dice.vector(), dice.rotation(), inner));
    for i in 0..=bones {
        // (Inside the chain, scales are equal along all axes.)
        let size = if i == 1 { Vec3::splat(-1.5) } else { Vec3::ONE };
        last = b.add(format!("{i}"), Some(last), at(dice.vector() * 0.5, dice.rotation(), size));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    if hinges {
        for &id in &ids[2..] {
            let axis = dice.vector().normalize();
            skeleton.set_joint(id, Joint::hinge(axis.as_dvec3(), Dof::range(-1.5, 1.5))).unwrap();
        }
    }
    (Pose::rest(&Arc::new(skeleton)), ids[2..].to_vec())
}

/// Returns another pose of the chain, within its limits.
fn other(dice: &mut Dice, pose: &Pose, chain: &[JointId], most: f32) -> Pose {
    let mut other = pose.clone();
    for &joint in chain {
        let limits = pose.skeleton().limits(joint);
        let turn = math::axis_angle(dice.vector().normalize(), most * dice.0());
        other.set_rotation(joint, limits.clamp(math::normalize(math::mul(pose.local(joint).rotation, turn))));
    }
    other.update();
    other
}

/// Applies the inverse of a frame's linear part to a vector (Cramer's rule).
fn back(frame: &judge::Frame, v: V) -> V {
    let [a, b, c] = frame.columns;
    let det = dot(a, cross(b, c));
    [dot(v, cross(b, c)) / det, dot(a, cross(v, c)) / det, dot(a, cross(b, v)) / det]
}

fn at(pose: &Pose, joint: JointId) -> V {
    judge::position(pose, joint)
}

fn miss(pose: &Pose, joint: JointId, goal: Vec3) -> f64 {
    length(sub(at(pose, joint), judge::v(goal)))
}

fn reach(pose: &Pose, chain: &[JointId]) -> f64 {
    chain.windows(2).map(|w| length(sub(at(pose, w[1]), at(pose, w[0])))).sum()
}

type Solve = Box<dyn FnMut(&mut Pose, &Goal) -> Result<Report, SolveError>>;

fn solvers(pose: &Pose, chain: &[JointId]) -> Vec<(&'static str, Solve)> {
    let (skeleton, root, tip) = (pose.skeleton(), chain[0], chain[chain.len() - 1]);
    let mut all: Vec<(&'static str, Solve)> = Vec::new();
    macro_rules! add {
        ($name:literal, $solver:expr) => {
            let mut solver = $solver;
            all.push(($name, Box::new(move |p, g| solver.solve(p, g))));
        };
    }
    macro_rules! iterative {
        ($name:literal, $solver:ty) => {
            let mut solver = held(<$solver>::new(skeleton, root, tip).unwrap());
            // A tolerance is a share of the length in the parent's space.
            let near = Tolerance::Share(5e-5);
            solver.options =
                solver.options.with_position_tolerance(near).with_max_iterations(2000).with_max_restarts(1);
            all.push(($name, Box::new(move |p, g| solver.solve(p, g))));
        };
    }
    iterative!("ccd", Ccd);
    iterative!("fabrik", Fabrik);
    iterative!("fold", Fold);
    iterative!("dls", DampedLeastSquares);
    add!("auto", held(Auto::new(skeleton, root, tip).unwrap()));
    if !skeleton.has_limits() {
        add!("free", held(FreeChain::new(skeleton, root, tip).unwrap()));
        if chain.len() == 3 {
            let limb = TwoBone::new(skeleton, root, chain[1], tip).unwrap();
            all.push(("limb", Box::new(move |p, g| limb.solve(p, g, &LimbOptions::new()))));
        }
    }
    all
}

#[test]
fn chains_below_sheared_parents_meet_goals_and_say_what_they_miss() {
    let mut dice = Dice::new(4);
    let (mut met, mut all, mut folds) = (0, 0, [0; 2]);
    for case in 0..240 {
        let (rest, chain) = rig(&mut dice, 2 + case % 4, case % 3 == 2);
        let tip = chain[chain.len() - 1];
        let rest = other(&mut dice, &rest, &chain, 1.0);
        let goal = other(&mut dice, &rest, &chain, 1.2).position(tip);
        let size = reach(&rest, &chain);
        for (name, mut solve) in solvers(&rest, &chain) {
            let mut pose = rest.clone();
            let report = solve(&mut pose, &Goal::position(goal)).unwrap_or_else(|e| panic!("{name}: {e}"));
            let missed = miss(&pose, tip, goal);
            let said = f64::from(report.position_residual);
            assert!((missed - said).abs() < 1e-5 * size, "{name}: {missed} but says {report:?}");
            let reached = missed < 3e-4 * size;
            if name == "fold" {
                // (It reaches what its bends reach.)
                folds[usize::from(reached)] += 1;
            } else if rest.skeleton().has_limits() {
                (met, all) = (met + usize::from(reached), all + 1);
            } else {
                assert!(reached, "{name} case {case}: missed by {missed} of {size}, {report:?}");
            }
            if report.reached() {
                assert!(reached, "{name}: {report:?}");
            }
            for joint in rest.skeleton().joints() {
                let (a, b) = (rest.local(joint), pose.local(joint));
                assert!(a.translation == b.translation && a.scale == b.scale, "{name}");
                assert!(chain.contains(&joint) || a.rotation == b.rotation, "{name}");
                assert!(pose.skeleton().limit_excess(joint, b.rotation) < 1e-5, "{name}");
            }
            // The output pose is updated.
            assert!(
                length(sub(judge::v(pose.position(tip)), at(&pose, tip))) < 1e-5 * size.max(3.0),
                "{name}"
            );
            // A met goal keeps the bits.
            let once = pose.clone();
            if report.reached() && !["fabrik", "fold"].contains(&name) {
                solve(&mut pose, &Goal::position(goal)).unwrap();
                assert_eq!(pose.locals(), once.locals(), "{name} again");
            }
        }
    }
    assert!(met as f64 > 0.9 * all as f64, "{met} of {all} goals within limits are met");
    assert!(folds[1] > folds[0], "{folds:?} missed and met by folding");
}

#[test]
fn below_sheared_parents_no_objective_grows_and_goals_out_of_reach_are_told() {
    let mut dice = Dice::new(5);
    for case in 0..120 {
        let (rest, chain) = rig(&mut dice, 2 + case % 4, false);
        let (root, tip) = (chain[0], chain[chain.len() - 1]);
        let parent = rest.skeleton().parent(root).unwrap();
        let size = reach(&rest, &chain);
        let goal = rest.position(root) + dice.vector().normalize() * (8.0 * size as f32);
        // The residual in the parent's space.
        let frame = judge::frame(&rest, parent);
        let objective = |pose: &Pose| length(back(&frame, sub(at(pose, tip), judge::v(goal))));
        for (name, mut solve) in solvers(&rest, &chain) {
            let mut pose = rest.clone();
            let report = solve(&mut pose, &Goal::position(goal)).unwrap();
            assert!(objective(&pose) <= objective(&rest) + 1e-5 * size, "{name}");
            let missed = miss(&pose, tip, goal);
            assert!(
                (missed - f64::from(report.position_residual)).abs() < 1e-4 * missed,
                "{name}: {report:?}"
            );
            let by = report.out_of_reach;
            assert!(by > 0.0, "{name}: {report:?}");
            // The chain is straight towards the goal, so the distance out of reach is the residual.
            assert!((f64::from(by) - missed).abs() < 0.03 * missed, "{name}: {missed}, {report:?}");
        }
    }
}

#[test]
fn a_limbs_pole_below_a_sheared_parent_lies_in_the_plane_of_the_limb() {
    let mut dice = Dice::new(6);
    let mut count = 0;
    for _ in 0..400 {
        let (rest, chain) = rig(&mut dice, 2, false);
        let [root, middle, tip] = chain[..] else { unreachable!() };
        let limb = TwoBone::new(rest.skeleton(), root, middle, tip).unwrap();
        let goal = other(&mut dice, &rest, &chain, 1.0).position(tip);
        let r = rest.position(root);
        let towards = dice.vector() * 3.0;
        for pole in [Pole::Point(r + towards), Pole::Direction(towards)] {
            let mut pose = rest.clone();
            limb.solve(&mut pose, &Goal::position(goal).with_pole(pole), &LimbOptions::new()).unwrap();
            let axis = sub(at(&pose, tip), at(&pose, root));
            let knee = sub(at(&pose, middle), at(&pose, root));
            let (n, k) = (cross(axis, judge::v(towards)), cross(axis, knee));
            // A pole's effect fades out within ten degrees of the line, in the parent's space.
            let frame = judge::frame(&pose, rest.skeleton().parent(root).unwrap());
            let line = unit(back(&frame, axis));
            let clear = |v: V| length(cross(line, unit(back(&frame, v)))) > 0.25;
            if clear(judge::v(towards)) && clear(knee) {
                count += 1;
                let off = length(cross(unit(n), unit(k))).atan2(dot(n, k));
                assert!(off < 2e-3, "{pole:?}: {off}");
            }
        }
    }
    assert!(count > 200, "{count}");
}

#[test]
fn an_aim_below_a_sheared_parent_goes_through_its_target() {
    let mut dice = Dice::new(7);
    for case in 0..600 {
        let (rest, chain) = rig(&mut dice, 2, false);
        let joint = chain[case % 2];
        let mut aim = Aim::new(joint, dice.vector());
        if case % 3 == 1 {
            aim.offset = dice.vector() * 0.1;
        }
        let target = rest.position(joint) + dice.vector() * 10.0;
        let direction = dice.vector();
        if case % 4 > 1 {
            aim.up = Some(AimUp { axis: dice.vector(), direction });
        }
        let mut pose = rest.clone();
        let report = aim.solve(&mut pose, target, &Options::new()).unwrap();
        let frame = judge::frame(&pose, joint);
        let from = frame.point(judge::v(aim.offset));
        let to = sub(judge::v(target), from);
        let along = unit(frame.vector(judge::v(aim.axis)));
        let off = length(cross(to, along));
        assert!(off < 1e-4 * length(to) && dot(to, along) > 0.0, "{off} of {}, {report:?}", length(to));
        assert!((off - f64::from(report.position_residual)).abs() < 1e-4, "{report:?}");
        if let Some(up) = aim.up {
            // The joint's up axis lies in the plane of the ray and the wanted up, on its side.
            let way = sub(judge::v(target), at(&pose, joint));
            let own = frame.vector(judge::v(up.axis));
            let (n, k) = (cross(way, judge::v(direction)), cross(way, own));
            let clear = |c: V, v: V| length(c) / length(way) / length(v) > 0.5;
            if clear(n, judge::v(direction)) && clear(k, own) {
                let off = length(cross(unit(n), unit(k))).atan2(dot(n, k));
                assert!(off < 2e-3, "up is {off} off");
            }
        }
    }
}

#[test]
fn a_led_chain_below_a_sheared_parent_comes_along() {
    let mut dice = Dice::new(8);
    for _ in 0..100 {
        let (rest, chain) = rig(&mut dice, 4, false);
        let tip = chain[4];
        let mut follow = held(Follow::new(rest.skeleton(), chain[0], tip).unwrap());
        let place = rest.position(tip) + dice.vector();
        let mut pose = rest.clone();
        let report = follow.solve(&mut pose, place).unwrap();
        let missed = miss(&pose, tip, place);
        assert!(missed < 1e-5 * reach(&rest, &chain).max(3.0), "{missed}, {report:?}");
        assert!((missed - f64::from(report.position_residual)).abs() < 1e-5, "{report:?}");
    }
}

#[test]
fn rotation_goals_below_a_sheared_parent_are_errors_that_name_it() {
    let mut dice = Dice::new(9);
    for case in 0..60 {
        let (mut rest, chain) = rig(&mut dice, 2 + case % 3, false);
        let above = rest.skeleton().parent(chain[0]).unwrap();
        rest.set_local(above, JointTransform { scale: Vec3::new(1.0, 2.5, 1.0), ..*rest.local(above) });
        rest.update();
        for (name, mut solve) in solvers(&rest, &chain) {
            let mut pose = rest.clone();
            let goal = Goal::position(Vec3::ONE).with_rotation(Quat::IDENTITY);
            let error = solve(&mut pose, &goal).expect_err(name).to_string();
            assert!(error.contains("`squashed`"), "{name}: {error}");
            assert_eq!(pose.locals(), rest.locals(), "{name}");
        }
    }
}

#[test]
fn scales_of_a_parent_that_are_next_to_nothing_are_errors() {
    let mut dice = Dice::new(10);
    let (mut rest, chain) = rig(&mut dice, 2, false);
    let above = rest.skeleton().parent(chain[0]).unwrap();
    rest.set_local(above, JointTransform { scale: Vec3::new(1.0, 1e-42, 1.0), ..*rest.local(above) });
    rest.update();
    for (name, mut solve) in solvers(&rest, &chain) {
        let mut pose = rest.clone();
        let error = solve(&mut pose, &Goal::position(Vec3::ONE)).expect_err(name).to_string();
        assert!(error.contains("`squashed`") && !error.contains('\n'), "{name}: {error}");
        assert_eq!(pose.locals(), rest.locals(), "{name}");
    }
}

/// Returns the directions of a joint's axes, whatever their lengths; all are reversed for a mirrored frame.
fn directions(pose: &Pose, joint: JointId) -> [V; 3] {
    let [a, b, c] = judge::frame(pose, joint).columns;
    let sign = dot(a, cross(b, c)).signum();
    [a, b, c].map(|v| unit(v).map(|x| x * sign))
}

/// Returns the angle between those axes and a rotation, by sine and cosine.
fn turned_by(pose: &Pose, joint: JointId, q: Quat) -> f64 {
    let q = q.as_dquat().normalize();
    let now = directions(pose, joint);
    let (mut skew, mut trace) = ([0.0; 3], 0.0);
    for (a, axis) in now.into_iter().zip(DVec3::AXES) {
        let b = (q * axis).to_array();
        let w = cross(a, b);
        skew = [0, 1, 2].map(|k| skew[k] + 0.5 * w[k]);
        trace += dot(a, b);
    }
    length(skew).atan2(0.5 * (trace - 1.0))
}

/// A tip has no children, so its own scale shears nothing: it has a rotation, which solvers set and report.
#[test]
fn tips_of_unequal_scales_reach_rotations_and_say_how_far_they_are() {
    const SCALES: [Vec3; 6] = [
        Vec3::new(1.0, 0.88, 1.0),
        Vec3::new(1.0, 2.0, 3.0),
        Vec3::new(-1.0, 2.0, 0.5),
        Vec3::new(1e-4, 1e3, 1.0),
        Vec3::new(-1.0, -1.0004, 1.0),
        Vec3::new(-2.0, -1.0, -0.5),
    ];
    let mut dice = Dice::new(11);
    for case in 0..90 {
        let mut b = Skeleton::builder();
        let mut last =
            b.add("above", None, JointTransform { rotation: dice.rotation(), ..JointTransform::IDENTITY });
        let bones = 2 + case % 3;
        for i in 0..=bones {
            let scale = if i == bones { SCALES[case % 6] } else { Vec3::ONE };
            let (translation, rotation) = (dice.vector().normalize(), dice.rotation());
            last = b.add(format!("{i}"), Some(last), JointTransform { translation, rotation, scale });
        }
        let (skeleton, ids) = b.build().unwrap();
        let rest = Pose::rest(&Arc::new(skeleton));
        let chain = &ids[1..];
        let tip = chain[bones];
        let there = other(&mut dice, &rest, chain, 1.0);
        let wanted = dice.rotation();
        let mut solvers = solvers(&rest, chain);
        let tree = FullBody::new(rest.skeleton(), chain[0], &[Effector::new(tip)]).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        solvers.push((
            "tree",
            Box::new(move |p, g| tree.solve(&mut workspace, p, std::slice::from_ref(g), &options)),
        ));
        for (name, mut solve) in solvers {
            let mut pose = rest.clone();
            let goal = Goal::position(there.position(tip)).with_rotation(wanted);
            let report = solve(&mut pose, &goal).unwrap();
            let off = turned_by(&pose, tip, wanted);
            let told = f64::from(report.rotation_residual);
            assert!((off - told).abs() < 1e-5, "{name}, case {case}: {off} rad are missing, not {told}");
            assert!(off < 2e-3, "{name}, case {case}: {off} rad are missing, {report:?}");
        }
        let mut pose = rest.clone();
        pose.set_model_rotation(tip, wanted);
        pose.update();
        assert!(turned_by(&pose, tip, wanted) < 2e-6, "case {case}");
    }
}
