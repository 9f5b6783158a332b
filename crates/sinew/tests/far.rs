//! Judges numbers at the ends of f32: goals as far away as numbers go, and settings at the ends of their ranges.
//!
//! A goal that is far away is a direction. Each solver that leads an end to it stretches out in that direction, to a
//! thousandth of a radian (two hundredths for full bodies, which weigh it against all other goals). Every pose is finite
//! with unit rotations, or the solve is refused and the pose keeps its bits. Judged in f64.
// Conditions are written so that NaN fails.
#![allow(clippy::neg_cmp_op_on_partial_ord)]

use crate::common;
use crate::held;
use crate::limit_judge;

use std::sync::Arc;

use common::{column, noise, row};
use held::held;
use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Report, Skeleton, SolveError, Workspace,
    glam::{DVec2, DVec3, Quat, Vec2, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math, planar,
    solve::{
        Aim, AimUp, Auto, Balance, BendSide, Ccd, DampedLeastSquares, Drag, Effector, Eye, Fabrik, Fold,
        Follow, FreeChain, FullBody, FullBodyOptions, IterativeOptions, Lead, LimbOptions, LookAt, LookJoint,
        Options, Pin, PointChain, RootMode, Spline, Tolerance, TwoBone,
        spline::{Curve, CurveKind, CurveUp, Fit, Roll},
    },
};

/// Sizes of coordinates, up to the largest f32.
const FAR: [f32; 8] = [1e6, 1e12, 1e19, 2e19, 1e25, 1e30, 1.7e38, f32::MAX];

/// Tolerance in radians of a full body that stretches towards a far goal: steps of least squares end there.
const TREES: f64 = 2e-2;

/// Directions whose largest coordinate is 1: along axes, and longer diagonal ones.
fn directions() -> Vec<Vec3> {
    let mut r = noise(3);
    let mut all = vec![Vec3::X, -Vec3::Y, Vec3::Z, Vec3::ONE, Vec3::new(-1.0, 1.0, -1.0)];
    all.extend((0..5).map(|_| {
        let v = Vec3::new(r(), r(), r());
        (v / v.abs().max_element()).clamp(-Vec3::ONE, Vec3::ONE)
    }));
    all
}

fn unit(v: Vec3) -> DVec3 {
    v.as_dvec3().normalize()
}

fn bits(pose: &Pose) -> Vec<u32> {
    let all = pose.locals().iter().flat_map(|t| {
        let (q, p, s) = (t.rotation, t.translation, t.scale);
        [p.x, p.y, p.z, q.x, q.y, q.z, q.w, s.x, s.y, s.z]
    });
    all.map(f32::to_bits).collect()
}

/// Distance out of reach, and all other numbers of a solve's report; none where the solve was refused.
type Numbers = Option<(f32, Vec<f32>)>;

fn of(report: Result<sinew::Report, sinew::SolveError>) -> Numbers {
    let numbers = |r: sinew::Report| (r.out_of_reach, vec![r.position_residual, r.rotation_residual]);
    report.ok().map(numbers)
}

/// Describes what is wrong with a solve's result; none where it is sound.
fn unsound(before: &Pose, after: &Pose, numbers: &Numbers) -> Option<String> {
    let Some((by, numbers)) = numbers else {
        return (bits(before) != bits(after)).then(|| "refused, but changed".into());
    };
    if !(by.is_finite() && *by >= 0.0) {
        return Some(format!("out of reach by {by}"));
    }
    if numbers.iter().any(|n| !n.is_finite()) {
        return Some(format!("numbers {numbers:?}"));
    }
    for joint in after.skeleton().joints() {
        let local = after.local(joint);
        let q = local.rotation.to_array().map(f64::from);
        let length: f64 = q.iter().map(|c| c * c).sum();
        let finite = local.is_finite() && after.position(joint).is_finite();
        if !finite || (length - 1.0).abs() > 1e-5 {
            return Some(format!("joint {joint} is at {local:?}"));
        }
    }
    None
}

/// Adds the faults of a solve to `faults`.
fn try_on(
    faults: &mut Vec<String>,
    pose: &Pose,
    what: impl Fn() -> String,
    solve: impl FnOnce(&mut Pose) -> Numbers,
) -> Option<Pose> {
    let mut after = pose.clone();
    let numbers = solve(&mut after);
    if let Some(fault) = unsound(pose, &after, &numbers) {
        faults.push(format!("{}: {fault}", what()));
    }
    numbers.map(|_| after)
}

fn report(faults: &[String]) {
    let shown = faults.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(faults.is_empty(), "{} faults:\n{shown}", faults.len());
}

/// A bent chain below a rotated parent, away from the origin.
fn chain(bones: usize, size: f32) -> (Pose, Vec<JointId>) {
    let above = JointTransform {
        translation: Vec3::new(0.3, -0.2, 0.5) * size,
        rotation: Quat::from_xyzw(0.6, 0.0, 0.8, 0.0),
        scale: Vec3::ONE,
    };
    let offsets: Vec<Vec3> = (0..=bones).map(|i| Vec3::new(0.1, 1.0, 0.2 * (i % 2) as f32) * size).collect();
    let (skeleton, ids) = row(above, &offsets, |_| Joint::FREE);
    let mut pose = Pose::rest(&skeleton);
    for (i, &id) in ids.iter().enumerate() {
        pose.set_rotation(id, math::axis_angle(Vec3::Z, if i % 2 == 0 { 0.5 } else { 0.3 }));
    }
    pose.update();
    (pose, ids)
}

/// Returns the angle between the line through two joints and a direction, in radians.
fn off(pose: &Pose, from: JointId, to: JointId, direction: Vec3) -> f64 {
    let way = pose.position(to).as_dvec3() - pose.position(from).as_dvec3();
    way.normalize().cross(unit(direction)).length().atan2(way.normalize().dot(unit(direction)))
}

/// Runs one of the solvers that lead a chain's end to a goal, by name.
fn solve_chain(
    which: &str,
    ids: &[JointId],
    options: &IterativeOptions,
    stretch: f32,
    pose: &mut Pose,
    goal: &Goal,
) -> Numbers {
    let skeleton = pose.skeleton().clone();
    let (root, tip) = (ids[0], ids[ids.len() - 1]);
    macro_rules! chain {
        ($solver:ident) => {{
            let mut solver = held($solver::new(&skeleton, root, tip).unwrap());
            (solver.options, solver.stretch) = (*options, stretch);
            solver.solve(pose, goal)
        }};
    }
    of(match which {
        "limb" => {
            let options = LimbOptions::new().with_soft(options.soft).with_influence(options.influence);
            TwoBone::new(&skeleton, root, ids[1], tip).unwrap().solve(pose, goal, &options)
        }
        "free chain" => chain!(FreeChain),
        "auto" => chain!(Auto),
        "ccd" => chain!(Ccd),
        "fabrik" => chain!(Fabrik),
        "fold" => chain!(Fold),
        "dls" => chain!(DampedLeastSquares),
        _ => {
            let full_body = FullBody::new(&skeleton, root, &[Effector::new(tip)]).unwrap();
            let options = FullBodyOptions::new()
                .with_soft(options.soft)
                .with_influence(options.influence)
                .with_max_turn(options.max_turn);
            full_body.solve(&mut Workspace::new(), pose, &[*goal], &options)
        }
    })
}

const CHAINS: [&str; 8] = ["limb", "free chain", "auto", "ccd", "fabrik", "fold", "dls", "full body"];

/// Settings of restarts to try: both for solvers that restart only on request, else none.
fn restarts(which: &str) -> &'static [Option<u32>] {
    if ["ccd", "fabrik", "fold", "dls"].contains(&which) { &[Some(0), Some(3)] } else { &[None] }
}

#[test]
fn chains_stretch_out_towards_goals_that_are_far_away() {
    let mut faults = Vec::new();
    for (bones, size) in [(2, 1.0), (5, 1.0), (2, 1e-3), (5, 1e3)] {
        let (pose, ids) = chain(bones, size);
        for which in CHAINS.into_iter().filter(|w| *w != "limb" || bones == 2) {
            for &max_restarts in restarts(which) {
                let mut options = IterativeOptions::new().with_max_iterations(200);
                options.max_restarts = max_restarts;
                for (far, direction) in
                    FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d)))
                {
                    let goal = Goal::position(direction * far);
                    let what = || {
                        format!(
                            "{which}, {max_restarts:?}, {bones} bones of {size}, goal {}",
                            direction * far
                        )
                    };
                    let mut status = None;
                    let after = try_on(&mut faults, &pose, what, |pose| {
                        let numbers = solve_chain(which, &ids, &options, 1.0, pose, &goal);
                        status = numbers.as_ref().map(|n| n.0);
                        numbers
                    });
                    let Some(after) = after else {
                        faults.push(format!("{}: refused", what()));
                        continue;
                    };
                    // (From the root, not the origin.)
                    let direction = goal.position.unwrap().as_dvec3() - pose.position(ids[0]).as_dvec3();
                    let off = off(
                        &after,
                        ids[0],
                        ids[bones],
                        (direction / direction.abs().max_element()).as_vec3(),
                    );
                    let reach = after.position(ids[bones]).distance(after.position(ids[0]));
                    let length: f32 =
                        ids.windows(2).map(|w| pose.position(w[0]).distance(pose.position(w[1]))).sum();
                    let near = if which == "full body" { TREES } else { 1e-3 };
                    // (Up to a thousand sizes away, a full body's goal is a position, which steps approach to f32's
                    // resolution.)
                    let place = which == "full body" && far < 1e4 * size;
                    // (A fold leaves a tenth of each bend, and at least 0.2 rad of the largest.)
                    let least = if which == "fold" { 0.95 } else { 0.995 };
                    if !(place || off < near && reach > least * length) {
                        faults.push(format!("{}: off by {off} at {reach} of {length}", what()));
                    }
                    if !status.is_some_and(|by| f64::from(by) > 0.4 * f64::from(far)) {
                        faults.push(format!("{}: {status:?}", what()));
                    }
                }
            }
        }
    }
    report(&faults);
}

/// Bones that stretch a billion times make products that leave f32: the joints between keep their limits. (A chain that
/// random solves found.)
#[test]
fn limits_hold_where_bones_stretch_a_billion_times() {
    let q = Quat::from_xyzw;
    let axes = |x, y, z| Joint::from(Turning::Axes { order: RotationOrder::Yzx, angles: [x, y, z] });
    let range = |a, b| Some(Dof::range(a, b));
    let any = Some(Dof::FREE);
    let above = JointTransform {
        translation: Vec3::splat(0.0042734193),
        rotation: q(-0.39, -0.36, 0.53, 0.66).normalize(),
        scale: Vec3::splat(1e-5),
    };
    let joints = [
        (
            Vec3::new(-0.00053, -0.00118, 0.0041),
            q(0.23625553, -0.06162217, 0.85618675, -0.4553355),
            Joint::FREE,
            q(0.35221136, -0.83514255, -0.35428807, 0.23013923),
        ),
        (
            Vec3::new(0.007860362, -0.0020645994, -0.0062946994),
            q(-0.62777215, -0.654769, -0.420367, -0.021708336),
            axes(range(-0.1231, 1.1879), None, range(0.41522, 1.79375)),
            q(-0.9210483, 0.09894295, -0.27372637, 0.2587556),
        ),
        (
            Vec3::new(6.556802e-7, 6.987767e-8, 7.0959e-7),
            q(-0.4859413, 0.5270922, 0.6309229, 0.29659894),
            axes(any, range(-1.27206, 0.6351), range(-1.38235, -0.76512)),
            q(0.78628325, 0.55862284, -0.1477852, 0.2187666),
        ),
        (
            Vec3::new(-1.7729868e-6, 7.885598e-7, 1.6842909e-6),
            q(0.7179798, -0.44455254, 0.309271, -0.43729797),
            Joint::FREE,
            q(0.61, 0.69, 1.10, 0.96).normalize(),
        ),
    ];
    let mut b = Skeleton::builder();
    let mut last = b.add("above", None, above);
    for (i, (translation, rotation, ..)) in joints.iter().enumerate() {
        let rest =
            JointTransform { translation: *translation, rotation: rotation.normalize(), scale: Vec3::ONE };
        last = b.add(format!("{i}"), Some(last), rest);
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for (id, (_, _, joint, _)) in ids[1..].iter().zip(&joints) {
        skeleton.set_joint(*id, *joint).unwrap();
    }
    let skeleton = Arc::new(skeleton);
    let mut start = Pose::rest(&skeleton);
    for (id, (.., rotation)) in ids[1..].iter().zip(&joints) {
        start.set_rotation(*id, *rotation);
    }
    start.update();
    let mut solver = Auto::new(&skeleton, ids[1], ids[4]).unwrap();
    solver.stretch = f32::MAX;
    let (mut faults, mut r) = (Vec::new(), noise(9));
    for case in 0..600 {
        let goal = Vec3::new(3.6443634, -9.788675, -58.00843) + 0.1 * case as f32 * Vec3::new(r(), r(), r());
        let options = IterativeOptions::new().with_max_iterations(case % 6);
        let mut pose = start.clone();
        solver.solve(&mut Workspace::new(), &mut pose, &Goal::position(goal), &options).unwrap();
        for &id in &ids[1..] {
            let (joint, rest) = (skeleton.joint(id), skeleton.rest(id));
            let out = limit_judge::further(joint, rest, start.local(id), pose.local(id));
            if !(out <= 1e-5) {
                faults.push(format!(
                    "case {case}, {goal:?}: joint {id} is {out} rad further out of its limits"
                ));
            }
        }
    }
    report(&faults);
}

#[test]
fn bends_turn_towards_poles_that_are_far_away() {
    let (pose, ids) = chain(2, 1.0);
    let at = |pose: &Pose, i: usize| pose.position(ids[i]).as_dvec3();
    let goal = pose.position(ids[0]) + Vec3::new(0.9, 0.8, -0.4);
    for which in CHAINS {
        for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
            for pole in [Pole::Point(direction * far), Pole::Direction(direction * far)] {
                let mut after = pose.clone();
                let goal = Goal::position(goal).with_pole(pole);
                let numbers = solve_chain(which, &ids, &IterativeOptions::new(), 1.0, &mut after, &goal);
                assert_eq!(unsound(&pose, &after, &numbers), None, "{which}, {pole:?}");
                let axis = (at(&after, 2) - at(&after, 0)).normalize();
                let across = |v: DVec3| v - axis * v.dot(axis);
                let bend = across(at(&after, 1) - at(&after, 0));
                let off = bend.angle_between(across(unit(direction)));
                let near = if which == "full body" { 0.06 } else { 2e-3 };
                assert!(off < near, "{which}: {off} off {pole:?}, {numbers:?}");
            }
        }
    }
}

#[test]
fn settings_of_any_size_leave_chains_finite() {
    let mut faults = Vec::new();
    let near = [Vec3::new(0.5, 0.8, 0.1), Vec3::new(-1.0, 3.0, 2.0)];
    let far = [1e12, 1e20, 1e30, f32::MAX].map(|f| Vec3::new(0.4, 1.0, -1.0) * f);
    for (bones, size) in [(2, 1.0), (5, 1.0), (5, 1e-3)] {
        let (pose, ids) = chain(bones, size);
        for which in CHAINS.into_iter().filter(|w| *w != "limb" || bones == 2) {
            for &max_restarts in restarts(which) {
                let mut base = IterativeOptions::new();
                base.max_restarts = max_restarts;
                let mut all = Vec::new();
                for stretch in [1.5, 1e6, 1e15, 1e20, 1e30, f32::MAX] {
                    for soft in [0.0, 1e-30, 0.1, 1.0] {
                        let soft = base.with_soft(soft);
                        all.extend(
                            [soft, soft.with_influence(0.3), soft.with_max_turn(0.1)].map(|o| (o, stretch)),
                        );
                    }
                }
                for soft in [f32::MIN_POSITIVE, 1e-20, 1e-6, 0.5, 1.0] {
                    all.push((base.with_soft(soft), 1.0));
                }
                for max_turn in [f32::MIN_POSITIVE, 1e-20, 1e20, f32::MAX] {
                    all.push((base.with_max_turn(max_turn), 1.0));
                }
                for tolerance in [f32::MIN_POSITIVE, 1e-20, 1e20, f32::MAX] {
                    let turned = base.with_rotation_tolerance(tolerance);
                    for near in [Tolerance::Share(tolerance), Tolerance::Metres(tolerance)] {
                        all.push((turned.with_position_tolerance(near), 1.0));
                    }
                }
                for influence in [f32::MIN_POSITIVE, 1e-20] {
                    all.push((base.with_influence(influence), 1.0));
                }
                for (i, (options, stretch)) in all.iter().enumerate() {
                    for (k, &goal) in near.iter().chain(&far).enumerate() {
                        let turned = Goal::position(goal).with_rotation(Quat::from_xyzw(0.0, 0.6, 0.0, 0.8));
                        let poled = |p| Goal::position(goal).with_pole(p);
                        let poles =
                            [1e-30f32, 1e12, 1e19, 1e30, f32::MAX].map(|p| Vec3::new(1.0, 0.2, -0.7) * p);
                        let all = [
                            Goal::position(goal),
                            turned,
                            poled(Pole::Point(poles[(i + k) % 5])),
                            poled(Pole::Direction(poles[(i + k) % 5])),
                        ];
                        for goal in all {
                            let what = || {
                                format!("{which}, {bones} bones of {size}, {goal:?}, {options:?}, {stretch}")
                            };
                            try_on(&mut faults, &pose, what, |pose| {
                                solve_chain(which, &ids, options, *stretch, pose, &goal)
                            });
                        }
                    }
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn limbs_stay_finite_whatever_they_are_told() {
    let mut faults = Vec::new();
    let (pose, ids) = chain(2, 1.0);
    let sizes = [1e-38f32, 1e-20, 1e-3, 1.0, 1e12, 1e20, 1e30, f32::MAX];
    for (a, b) in sizes.iter().flat_map(|a| sizes.map(|b| (*a, b))) {
        for side in [BendSide::Keep, BendSide::Positive, BendSide::Negative] {
            let limb = TwoBone::new(pose.skeleton(), ids[0], ids[1], ids[2]).unwrap();
            let limb = limb.with_hinge(Vec3::new(0.2, -1.0, 0.5) * a).with_side(side).unwrap();
            let options = LimbOptions::new().with_soft(0.3).with_min_flexion(0.1);
            for goal in [1e-30, 0.5, 3.0, a, b] {
                let goal = Goal::position(Vec3::new(1.0, 0.3, -0.9) * goal)
                    .with_pole(Pole::Point(Vec3::new(0.3, 1.0, 0.2) * a))
                    .with_swivel(b);
                let what = || format!("limb with hinge {:?}, {goal:?}", limb.hinge());
                try_on(&mut faults, &pose, what, |pose| of(limb.solve(pose, &goal, &options)));
            }
        }
        // The free chain has a bend, the aim an offset and an up axis.
        let mut free = held(FreeChain::new(pose.skeleton(), ids[0], ids[2]).unwrap());
        free.bend = Some(Vec3::new(0.3, 0.1, 1.0) * a);
        let mut rest = Pose::rest(pose.skeleton());
        rest.update();
        let bend = free.bend;
        for goal in [Vec3::Y * 0.5, Vec3::Y * b] {
            let what = || format!("free chain about {bend:?}, goal {goal}");
            try_on(&mut faults, &rest, what, |pose| of(free.solve(pose, &Goal::position(goal))));
        }
    }
    report(&faults);
}

#[test]
fn an_aim_points_at_what_is_far_away() {
    let mut faults = Vec::new();
    let (pose, ids) = chain(2, 1.0);
    for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
        let target = direction * far;
        for (i, size) in [1e-30f32, 1.0, 1e19, 1e30, f32::MAX].into_iter().enumerate() {
            for offset in [Vec3::ZERO, Vec3::new(0.1, -0.2, 0.3)] {
                let mut aim = Aim::new(ids[1], Vec3::new(0.3, 1.0, -0.2) * size);
                aim.offset = offset;
                aim.up = (i % 2 == 0)
                    .then_some(AimUp { axis: Vec3::X * size, direction: Vec3::new(0.2, 1.0, 1.0) * size });
                let what = || format!("{aim:?} at {target}");
                let mut found = None;
                let after = try_on(&mut faults, &pose, what, |pose| {
                    found = of(aim.solve(pose, target, &Options::new()));
                    found.clone()
                });
                // The reported residual too: the angle between the ray and the direction to the target.
                if !matches!(&found, Some((0.0, numbers)) if numbers[1] < 1e-3) {
                    faults.push(format!("{}: {found:?}", what()));
                }
                let Some(after) = after else {
                    faults.push(format!("{}: refused", what()));
                    continue;
                };
                let q = after.model_rotation(ids[1]).as_dquat();
                let along = q * Vec3::new(0.3, 1.0, -0.2).as_dvec3().normalize();
                let from = after.position(ids[1]).as_dvec3();
                let off = along.angle_between(target.as_dvec3() - from);
                if !(off < 1e-3) {
                    faults.push(format!("{}: off by {off}", what()));
                }
            }
        }
        // Offsets as large as the distances of targets.
        for size in [1e12, 1e20, 1e30, f32::MAX] {
            let aim = Aim { offset: Vec3::new(0.4, -1.0, 0.8) * size, ..Aim::new(ids[1], Vec3::Z) };
            let what = || format!("{aim:?} at {target}");
            try_on(&mut faults, &pose, what, |pose| of(aim.solve(pose, target, &Options::new())));
        }
    }
    report(&faults);
}

/// A trunk with a neck, a head and an eye, and two arms.
fn figure() -> (Arc<Skeleton>, [JointId; 8]) {
    let mut b = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.1, 1.0, 0.0));
    let chest = b.add("chest", Some(hips), at(0.0, 0.4, 0.02));
    let head = b.add("head", Some(chest), at(0.0, 0.3, 0.0));
    b.add("eye", Some(head), at(0.03, 0.1, 0.08));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = b.add(format!("upper.{side}"), Some(chest), at(0.2 * x, 0.15, 0.0));
        let fore = b.add(format!("fore.{side}"), Some(upper), at(0.3 * x, 0.0, 0.05));
        b.add(format!("hand.{side}"), Some(fore), at(0.28 * x, 0.0, 0.0));
    }
    let skeleton = Arc::new(b.build().unwrap().0);
    let ids = ["hips", "chest", "head", "eye", "fore.l", "hand.l", "fore.r", "hand.r"];
    let ids = ids.map(|n| skeleton.find(n).unwrap());
    (skeleton, ids)
}

#[test]
fn a_look_points_at_what_is_far_away() {
    let mut faults = Vec::new();
    let (skeleton, [_, chest, head, eye, ..]) = figure();
    let pose = Pose::rest(&skeleton);
    let part = |joint, share| LookJoint::new(joint).with_share(share).with_cone(3.0);
    let sizes = [1e-30f32, 1.0, 1e19, 1e30, f32::MAX];
    for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
        let target = direction * far;
        for (i, size) in sizes.into_iter().enumerate() {
            let mut look =
                LookAt::new(&skeleton, &[part(chest, 0.3), part(head, 1.0)], Vec3::Z * size).unwrap();
            look.offset = Vec3::new(0.0, 0.1, 0.08);
            look.behind = 3.0;
            look.dead_zone = if i % 2 == 0 { 0.0 } else { 0.05 };
            look.set_eyes(&skeleton, &[Eye::new(eye, Vec3::Z * size).with_cone(1.0)]).unwrap();
            let what = || format!("look along {} at {target}", Vec3::Z * size);
            let after = try_on(&mut faults, &pose, what, |pose| {
                let report = look.solve(&mut look.state(), pose, target, &Options::new()).ok()?;
                let r = report.report;
                Some((r.out_of_reach, vec![r.position_residual, r.rotation_residual, report.face]))
            });
            let Some(after) = after else {
                faults.push(format!("{}: refused", what()));
                continue;
            };
            // Targets that are not behind are looked at.
            let to = target.as_dvec3() - after.position(eye).as_dvec3();
            if to.normalize().z > -0.9 {
                for (joint, near) in [(eye, 1e-3), (head, 0.051)] {
                    let off = (after.model_rotation(joint).as_dquat() * DVec3::Z).angle_between(to);
                    if !(off < near) {
                        faults.push(format!("{}: {} is off by {off}", what(), skeleton.name(joint)));
                    }
                }
            }
            for (near, offset) in sizes.iter().flat_map(|n| sizes.map(|o| (*n, o))) {
                let offset = Vec3::new(0.3, 1.0, -0.2) * offset;
                (look.near, look.offset) = (near, offset);
                let what = || format!("look from {offset} near {near} at {target}");
                let mut after = pose.clone();
                let numbers =
                    look.solve(&mut look.state(), &mut after, target, &Options::new()).ok().map(|report| {
                        let r = report.report;
                        (r.out_of_reach, vec![r.position_residual, r.rotation_residual, report.face])
                    });
                if let Some(fault) = unsound(&pose, &after, &numbers) {
                    faults.push(format!("{}: {fault}", what()));
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn what_follows_goes_anywhere() {
    let mut faults = Vec::new();
    for (bones, limited) in [(2, false), (5, false), (5, true)] {
        let joint = |_| if limited { Joint::hinge(Vec3::X, Dof::range(-0.5, 0.5)) } else { Joint::FREE };
        let (skeleton, ids) = column(bones, 1.0, joint);
        let pose = Pose::rest(&skeleton);
        for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
            for (lead, weight) in [(Lead::Tip, 1.0), (Lead::Root, 1.0), (Lead::Tip, 0.5), (Lead::Root, 0.5)] {
                let mut follow = held(Follow::new(&skeleton, ids[0], ids[bones]).unwrap());
                (follow.options.lead, follow.options.influence) = (lead, weight);
                let place = direction * far;
                let what = || format!("follow, {lead:?} of {bones} bones to {place}, weight {weight}");
                let after = try_on(&mut faults, &pose, what, |pose| of(follow.solve(pose, place)));
                let Some(after) = after else { continue };
                if weight == 1.0 {
                    let end = if lead == Lead::Tip { ids[bones] } else { ids[0] };
                    let off = (after.position(end).as_dvec3() - place.as_dvec3()).length();
                    if !(off < 1e-5 * place.as_dvec3().length()) {
                        faults.push(format!("{}: {off} away", what()));
                    }
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn strands_stretch_out_towards_goals_that_are_far_away() {
    let mut faults = Vec::new();
    let mut r = noise(5);
    for size in [1e-12f32, 1.0, 1e12, 1e30] {
        let points: Vec<Vec3> = (0..6).map(|_| Vec3::new(r(), r(), r()) * size).collect();
        for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
            for (soft, bend) in [(0.0, 0.0), (1e-30, 1e-30), (0.2, 1e20), (1.0, f32::MAX)] {
                // (Points whose distances f32 cannot represent are refused.)
                let Ok(point_chain) = PointChain::new(&points) else {
                    assert!(size > 1e19);
                    continue;
                };
                let mut point_chain = held(point_chain);
                (point_chain.options.soft, point_chain.bend) = (soft, Vec3::new(1.0, 0.3, 0.2) * bend);
                let (mut after, goal) = (points.clone(), direction * far);
                let found = point_chain.solve(&mut after, goal);
                let what = format!("strand of {size}, soft {soft}, bend {bend}, goal {goal}");
                match found {
                    Ok(found) => {
                        if !after.iter().all(|p| p.is_finite()) || !found.position_residual.is_finite() {
                            faults.push(format!("{what}: {found:?}, {after:?}"));
                        }
                        let to = goal.as_dvec3() - points[0].as_dvec3();
                        let way = after[5].as_dvec3() - points[0].as_dvec3();
                        if f64::from(far) > 1e3 * f64::from(size) && !(way.angle_between(to) < 1e-3) {
                            faults.push(format!("{what}: off by {}", way.angle_between(to)));
                        }
                    }
                    Err(_) => faults.push(format!("{what}: refused")),
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn splines_stay_finite_whatever_they_are_told() {
    let mut faults = Vec::new();
    let (pose, ids) = chain(5, 1.0);
    for size in [1e-20f32, 1e-3, 1.0, 1e6, 1e12, 1e19, 1e25, 1e30, f32::MAX] {
        for (kind, closed) in [
            (CurveKind::CatmullRom, false),
            (CurveKind::CatmullRom, true),
            (CurveKind::Bezier, false),
            (CurveKind::Bezier, true),
        ] {
            let mut r = noise(7);
            let count = if closed { 6 } else { 7 };
            let points: Vec<Vec3> = (0..count).map(|_| Vec3::new(r(), r(), r()) * size).collect();
            for up in [1e-30f32, 1.0, 1e20, f32::MAX] {
                let Ok(curve) =
                    Curve::new(kind, &points, closed, CurveUp::Direction(Vec3::new(0.2, 1.0, 0.1) * up))
                else {
                    continue;
                };
                for offset in [0.0f32, 0.5, 1e12, -1e30, f32::MAX] {
                    for reversed in [false, true] {
                        let mut spline = held(Spline::new(pose.skeleton(), ids[0], ids[5]).unwrap());
                        (spline.options.offset, spline.options.reversed) = (offset, reversed);
                        let twist = [offset, -offset];
                        let mut solve = |fit, roll, moves_root, weight| {
                            (
                                spline.options.fit,
                                spline.options.roll,
                                spline.options.moves_root,
                                spline.options.influence,
                            ) = (fit, roll, moves_root, weight);
                            let what = || {
                                format!(
                                    "{kind:?} of {size}, closed {closed}, up {up}, {offset}, {reversed}, {fit:?}, {roll:?}, {moves_root}"
                                )
                            };
                            let mut after = pose.clone();
                            let numbers = spline.solve(&mut after, &curve).ok().map(|s| {
                                (
                                    s.report.out_of_reach,
                                    vec![
                                        s.report.position_residual,
                                        s.report.rotation_residual,
                                        s.longest_way,
                                        s.beyond,
                                    ],
                                )
                            });
                            if let Some(fault) = unsound(&pose, &after, &numbers) {
                                faults.push(format!("{}: {fault}", what()));
                            }
                        };
                        let frames = Roll::Frames { axis: Vec3::new(1.0, 0.2, 0.1) * up, twist };
                        for moves_root in [true, false] {
                            solve(Fit::Whole, Roll::Keep, moves_root, 1.0);
                            solve(Fit::Whole, frames, moves_root, 0.5);
                            solve(
                                Fit::Stretched { shortest: 1e-30, longest: f32::MAX },
                                frames,
                                moves_root,
                                1.0,
                            );
                            solve(
                                Fit::Stretched { shortest: 1e30, longest: f32::MAX },
                                Roll::Keep,
                                moves_root,
                                1.0,
                            );
                        }
                    }
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn figures_stay_finite_whatever_they_are_told() {
    let mut faults = Vec::new();
    let (skeleton, [hips, chest, head, _, fore, left, _, right]) = figure();
    let pose = Pose::rest(&skeleton);
    let sizes = [1e12f32, 1e19, 1e30, f32::MAX];
    let roots = |v: Vec3| {
        [RootMode::Pinned, RootMode::Free, RootMode::Spring(1e6), RootMode::Spring(1e-30), RootMode::At(v)]
    };
    for size in sizes {
        for direction in directions() {
            let far = direction * size;
            for root in roots(far) {
                for kind in 0..8 {
                    let (offset, relative) = (if kind == 1 { far } else { Vec3::ZERO }, kind == 2);
                    let mut second = Effector::new(left).with_offset(offset);
                    second.relative_to = relative.then_some(right);
                    let tips =
                        [Effector::new(head).with_priority((kind % 3) as u8), second, Effector::new(chest)];
                    let full_body = FullBody::new(&skeleton, hips, &tips).unwrap();
                    let (mut workspace, mut options) = (Workspace::new(), FullBodyOptions::new());
                    options.root = root;
                    let near = Vec3::new(0.3, 1.5, 0.2);
                    let mut goals = [Goal::position(near), Goal::position(far), Goal::NONE];
                    let (mut masses, support) = (vec![1.0; skeleton.len()], [far, near, Vec3::ZERO]);
                    masses[chest.index()] = size;
                    let balance = Balance::over(&support).with_up(direction * 1e12).with_masses(&masses);
                    match kind {
                        3 => options.iterative.soft = 0.2,
                        4 => options.balance = Some(balance),
                        5 => {
                            goals[2] = Goal::position(-far).with_rotation(Quat::from_xyzw(0.0, 0.6, 0.0, 0.8))
                        }
                        6 => goals[1] = Goal::position(near).with_pole(Pole::Point(far)),
                        7 => {
                            options = options
                                .with_position_tolerance(Tolerance::Metres(size))
                                .with_rotation_tolerance(size)
                                .with_posture(0.5);
                        }
                        _ => {}
                    }
                    let what = || format!("tree {kind} with {root:?}, goals at {far}");
                    let after = try_on(&mut faults, &pose, what, |pose| {
                        of(full_body.solve(&mut workspace, pose, &goals, &options))
                    });
                    let after = after.as_ref().unwrap_or(&pose);
                    let each: Vec<_> =
                        full_body.effector_reports(after, &goals, &Report::default()).collect();
                    let out = full_body.out_of_balance(after, &balance);
                    let finite =
                        |o: &Report| o.position_residual.is_finite() && o.rotation_residual.is_finite();
                    if !each.iter().all(finite) || size <= 1e18 && !out.is_finite() {
                        faults.push(format!("{}: {each:?}, {out}", what()));
                    }
                }
            }
            for root in roots(far) {
                for (kind, rate) in [0.0, f32::MIN_POSITIVE, 1e-30, 7.9, 1e30, f32::MAX, f32::INFINITY]
                    .into_iter()
                    .enumerate()
                {
                    let pins = [Pin::pose(right), Pin::place(fore)];
                    let mut drag = Drag::new(&pose, hips, Effector::new(left), &pins[..kind % 3]).unwrap();
                    drag.rate = rate;
                    let mut workspace = Workspace::new();
                    let options = FullBodyOptions::new()
                        .with_root(root)
                        .with_max_turn([f32::INFINITY, 0.1, f32::MIN_POSITIVE, 1e-20][kind % 4])
                        .with_influence([1.0, 0.5][kind % 2]);
                    let what = || format!("drag to {far}, rate {rate}, {root:?}");
                    let mut at = pose.clone();
                    // Far away, back, and far away again.
                    let turned = Goal::position(far).with_rotation(Quat::from_xyzw(0.0, 0.6, 0.0, 0.8));
                    for goal in [
                        Goal::position(far),
                        Goal::position(Vec3::Y),
                        Goal::position(Vec3::Y * 1.00001),
                        turned,
                        Goal::position(-far),
                    ] {
                        let to = |pose: &mut Pose| of(drag.to(&mut workspace, pose, &goal, &options));
                        match try_on(&mut faults, &at, what, to) {
                            Some(after) => at = after,
                            // (Refused where the squared distance to the root's position overflows f32.)
                            None if matches!(root, RootMode::At(_)) && size > 1e18 => {}
                            None => faults.push(format!("{}: refused", what())),
                        }
                    }
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn an_arm_of_a_figure_stretches_out_towards_what_is_far_away() {
    let (skeleton, [_, chest, _, _, _, left, _, right]) = figure();
    let shoulder = skeleton.find("upper.l").unwrap();
    for (far, direction) in FAR.iter().flat_map(|f| directions().into_iter().map(move |d| (*f, d))) {
        let mut pose = Pose::rest(&skeleton);
        let at = pose.position(right);
        let full_body = FullBody::new(&skeleton, shoulder, &[Effector::new(left)]).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let report =
            full_body.solve(&mut workspace, &mut pose, &[Goal::position(direction * far)], &options).unwrap();
        let off = off(&pose, shoulder, left, direction);
        assert!(off < TREES, "off by {off}, {report:?}");
        assert!(f64::from(report.out_of_reach) > 0.9 * f64::from(far), "{report:?}");

        // The other hand's goal has a higher priority.
        let tips = [Effector::new(right), Effector::new(left).with_priority(1)];
        let full_body = FullBody::new(&skeleton, chest, &tips).unwrap();
        let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new());
        let mut pose = Pose::rest(&skeleton);
        let goals = [at, direction * far].map(Goal::position);
        let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
        let each: Vec<_> = full_body.effector_reports(&pose, &goals, &report).collect();
        assert!(each[0].reached(), "{far} {direction} {each:?}");
    }
}

/// Directions in the plane.
fn flat() -> Vec<Vec2> {
    directions().into_iter().map(|d| Vec2::new(d.x, d.y)).filter(|d| *d != Vec2::ZERO).collect()
}

#[test]
fn the_plane_stretches_out_towards_goals_that_are_far_away() {
    use planar::{BendSide2d, Bone2d, Chain2d, Method2d, Options2d};
    let mut faults = Vec::new();
    let bones = [
        Bone2d::new(1.0).with_angle(0.3),
        Bone2d::new(0.7).with_angle(-0.5),
        Bone2d::new(0.5).with_angle(0.8),
    ];
    for (far, direction) in FAR.iter().flat_map(|f| flat().into_iter().map(move |d| (*f, d))) {
        let goal = direction * far;
        let along = DVec2::new(direction.x.into(), direction.y.into()).normalize();
        for method in [Method2d::Auto, Method2d::CCD, Method2d::Fabrik] {
            for max_restarts in [0, 4] {
                for (stretch, soft, side, weight) in [
                    (1.0, 0.0, None, 1.0),
                    (1.0, 0.2, Some(BendSide2d::Left), 1.0),
                    (1e6, 0.0, None, 1.0),
                    (1e20, 0.1, Some(BendSide2d::Right), 0.5),
                    (f32::MAX, 1e-30, None, 1.0),
                    (f32::MAX, 1.0, None, 1.0),
                ] {
                    let mut chain = Chain2d::new(Vec2::new(0.2, 0.1), &bones).unwrap();
                    let before = chain.clone();
                    let settings = Options2d::new()
                        .with_method(method)
                        .with_max_restarts(max_restarts)
                        .with_stretch(stretch)
                        .with_soft(soft)
                        .with_side(side)
                        .with_influence(weight);
                    for directed in [false, true] {
                        let mut chain = chain.clone();
                        let found = if directed {
                            chain.solve_directed(goal, 0.3, &common::directed(&settings))
                        } else {
                            chain.solve(goal, &settings)
                        };
                        let what = || format!("directed {directed}, {settings:?}, goal {goal}");
                        let Ok(found) = found else {
                            faults.push(format!("{}: refused", what()));
                            continue;
                        };
                        let finite =
                            chain.bones().iter().all(|b| b.angle.is_finite() && b.length.is_finite());
                        if !finite
                            || !found.position_residual.is_finite()
                            || !found.rotation_residual.is_finite()
                        {
                            faults.push(format!("{}: {found:?}, {:?}", what(), chain.bones()));
                            continue;
                        }
                        let end = chain.end() - chain.root;
                        let end = DVec2::new(end.x.into(), end.y.into()).normalize();
                        if !directed
                            && weight == 1.0
                            && !(end.perp_dot(along).abs() < 1e-2 && end.dot(along) > 0.0)
                            && far > 1e3
                        {
                            faults.push(format!("{}: the end lies along {end}", what()));
                        }
                    }
                    for lead in [planar::Lead::Tip, planar::Lead::Root] {
                        let mut chain = before.clone();
                        if chain.follow(goal, lead).is_ok()
                            && !(chain.root.is_finite() && chain.bones().iter().all(|b| b.angle.is_finite()))
                        {
                            faults.push(format!("{lead:?} to {goal}: {chain:?}"));
                        }
                    }
                    chain = before;
                    let _ = chain;
                }
            }
        }
        for side in [BendSide2d::Left, BendSide2d::Right] {
            let limb = planar::two_bone(Vec2::new(0.2, 0.1), 0.5, 0.4, goal, side).unwrap();
            let end = limb.end - Vec2::new(0.2, 0.1);
            let end = DVec2::new(end.x.into(), end.y.into());
            if !(limb.upper.is_finite()
                && limb.out_of_reach.is_finite()
                && limb.out_of_reach > 0.5 * far
                && end.normalize().dot(along) > 1.0 - 1e-6)
            {
                faults.push(format!("two bones to {goal}: {limb:?}"));
            }
        }
    }
    report(&faults);
}

#[test]
fn joint_space_knows_numbers_of_any_size() {
    use sinew::{
        Workspace,
        glam::{DAffine3, DQuat},
        mechanism::{
            JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkTarget, Mechanism, Objective,
            ObjectiveKind,
        },
    };
    let mut workspace = Workspace::new();
    let mut builder = Mechanism::builder("arm");
    for link in ["base", "upper", "fore", "hand"] {
        builder.link(link);
    }
    builder.joint(JointSpec::new("shoulder", "base", "upper", Joint::hinge(DVec3::Z, Dof::range(-2.0, 2.0))));
    let elbow = JointSpec::new("elbow", "upper", "fore", Joint::hinge(DVec3::Y, Dof::range(-2.5, 2.5)));
    builder.joint(JointSpec { translation: DVec3::X * 0.4, ..elbow });
    let wrist = JointSpec::new("wrist", "fore", "hand", Joint::slider(DVec3::X, Dof::range(0.0, 0.2)));
    builder.joint(JointSpec { translation: DVec3::X * 0.3, ..wrist });
    let arm = builder.build().unwrap();
    let hand = arm.find_link("hand").unwrap();
    let sizes = [1e-300f64, 1e-30, 1e-3, 1.0, 1e3, 1e30, 1e49, 1e60, 1e160, 1e300, f64::MAX];
    let mut faults = Vec::new();
    for far in sizes {
        let place = DVec3::new(0.3, 1.0, -0.2) * far;
        for other in sizes {
            for kind in 0..8 {
                let target = match kind {
                    0 => LinkTarget::Pose(place, DQuat::IDENTITY),
                    1 => LinkTarget::LookAt(DVec3::Z * other, place),
                    _ => LinkTarget::Position(place),
                };
                let mut goal = LinkGoal::new(&arm, hand, target);
                let mut options = JointSpaceOptions::new().with_max_restarts(3).with_max_iterations(100);
                let mut objectives = Vec::new();
                match kind {
                    3 => goal.weights = [other; 6],
                    4 => goal.weights = [other, 1.0, 1e-3, 0.0, 0.0, 0.0],
                    5 => (options.position_tolerance, options.rotation_tolerance) = (other, other),
                    6 => goal.frame = DAffine3::from_translation(DVec3::new(0.1, -1.0, 0.4) * other),
                    7 => objectives
                        .push(Objective::new(ObjectiveKind::Posture(vec![other; 3])).with_weight(other)),
                    _ => {}
                }
                let what = format!("{goal:?}, {options:?}, {objectives:?}");
                let Ok(solver) = JointSpaceSolver::new(&arm, &[goal]) else { continue };
                let Ok(solver) = solver.with_objectives(&objectives) else { continue };
                let solver = if kind == 2 { solver.with_radian_length(other).unwrap() } else { solver };
                let start = [0.3, -0.4, 0.1];
                let mut values = start;
                match solver.solve(&mut workspace, &[goal], &mut values, &options) {
                    Err(_) if values == start => {}
                    Ok(report)
                        if values.iter().all(|v| v.is_finite())
                            && report.position_residual.is_finite()
                            && report.rotation_residual.is_finite() => {}
                    found => faults.push(format!("{what}: {found:?}, {values:?}")),
                }
            }
        }
    }
    report(&faults);
}

/// An aim whose ray may start beyond the range of f32 is refused. It used to report a NaN angle.
#[test]
fn rays_that_start_beyond_all_numbers_are_refused() {
    let mut b = Skeleton::builder();
    b.add("far", None, JointTransform::from_translation(Vec3::new(3e38, 0.0, 0.0)));
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    for offset in [Vec3::X, Vec3::NEG_X, Vec3::Y].map(|way| way * 3e38) {
        let mut aim = Aim::new(ids[0], Vec3::Z);
        aim.offset = offset;
        let mut pose = Pose::rest(&skeleton);
        let answer = aim.solve(&mut pose, Vec3::new(0.0, 1.0, 2.0), &Options::new());
        assert!(answer.is_err(), "{offset}: {answer:?}");
        assert_eq!(pose.locals(), Pose::rest(&skeleton).locals(), "{offset}");
    }
}

/// As above, below a parent with unequal scales, in whose space the ray's start is finite.
#[test]
fn rays_that_a_sheared_parent_takes_beyond_all_numbers_are_refused() {
    let mut b = Skeleton::builder();
    let scale = Vec3::new(1.0, 1e20, 1.0);
    let above = b.add("above", None, JointTransform { scale, ..JointTransform::IDENTITY });
    b.add("joint", Some(above), JointTransform::IDENTITY);
    let (skeleton, ids) = b.build().unwrap();
    let skeleton = Arc::new(skeleton);
    for (offset, sound) in [(1e3, true), (1e19, false), (1e30, false)] {
        let mut aim = Aim::new(ids[1], Vec3::Z);
        aim.offset = Vec3::X * offset;
        let mut pose = Pose::rest(&skeleton);
        match aim.solve(&mut pose, Vec3::new(0.0, 1e25, 2.0), &Options::new()) {
            Ok(report) => {
                assert!(sound, "{offset}: {report:?}");
                assert!(
                    report.position_residual.is_finite() && report.rotation_residual.is_finite(),
                    "{report:?}"
                );
            }
            Err(error) => {
                assert!(!sound, "{offset}: {error}");
                assert_eq!(pose.locals(), Pose::rest(&skeleton).locals(), "{offset}");
            }
        }
    }
}

/// Squares of lengths below 1e-19 m underflow in f32. The residual of a short point chain is measured all the same.
#[test]
fn residuals_of_the_shortest_strands_have_all_their_digits() {
    for size in [1e-15f32, 1e-19, 1e-22, 1e-30] {
        let mut points: Vec<Vec3> =
            (0..6).map(|i| Vec3::new(0.3 * i as f32, (i % 2) as f32, 0.1) * size).collect();
        let mut point_chain = held(PointChain::new(&points).unwrap());
        for goal in [Vec3::new(1.0, -2.0, 0.5), Vec3::new(3.0, 9.0, -1.0)].map(|g| g * size) {
            let report = point_chain.solve(&mut points, goal).unwrap();
            let missed = (points[5].as_dvec3() - goal.as_dvec3()).length();
            let told = f64::from(report.position_residual);
            assert!((missed - told).abs() < 1e-6 * missed, "{size:e}: {told:e} for {missed:e}");
        }
    }
}

#[test]
fn chains_whose_length_squared_is_no_number_are_refused() {
    // With slides, which are measured in lengths of the chain, of one, two and no ends.
    for range in [Dof::FREE, Dof::range(-0.1, f64::INFINITY), Dof::range(-0.1, 0.2), Dof::range(0.0, 1e300)] {
        let mut b = Skeleton::builder();
        for n in 0..4usize {
            let scale = if n == 3 { Vec3::splat(1e-20) } else { Vec3::ONE };
            let place = if n == 2 { Vec3::new(-1.0, 8.7e24, 0.3) } else { Vec3::new(0.7, 0.1, 1.0) };
            let rest = JointTransform { scale, ..JointTransform::from_translation(place) };
            b.add(format!("j{n}"), n.checked_sub(1), rest);
        }
        let (mut skeleton, ids) = b.build().unwrap();
        skeleton.set_joint(ids[1], Joint::hinge(Vec3::X, Dof::range(0.0, 2.0))).unwrap();
        skeleton.set_joint(ids[3], Joint::FIXED.with_slide([None, None, Some(range)])).unwrap();
        let skeleton = Arc::new(skeleton);
        let start = Pose::rest(&skeleton);
        let turned = Goal::position(Vec3::new(0.6, -2.8, 0.0)).with_rotation(math::axis_angle(Vec3::X, 1.0));
        for goal in [Goal::position(Vec3::Y), turned] {
            let mut pose = start.clone();
            let refused = |which, got: Result<sinew::Report, SolveError>, pose: &mut Pose| {
                let named = matches!(&got, Err(SolveError::OutOfRange { what, .. }) if *what == "the chain's length in metres");
                assert!(named, "{which}, {range:?}: {got:?}");
                assert_eq!(pose.locals(), start.locals());
            };
            let got = held(Auto::new(&skeleton, ids[0], ids[3]).unwrap()).solve(&mut pose, &goal);
            refused("auto", got, &mut pose);
            let got = held(Ccd::new(&skeleton, ids[0], ids[3]).unwrap()).solve(&mut pose, &goal);
            refused("ccd", got, &mut pose);
            let got =
                held(DampedLeastSquares::new(&skeleton, ids[0], ids[3]).unwrap()).solve(&mut pose, &goal);
            refused("dls", got, &mut pose);
        }
    }
}
