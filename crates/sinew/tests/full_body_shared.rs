//! Judges sharing of full bodies, between threads, characters and workspaces, by the bits of solving alone; and partial
//! influences by even steps between the answers without and with a goal.

use std::sync::Arc;

use sinew::{
    Goal, JointId, JointTransform, Pole, Pose, Skeleton, SolveError, Workspace,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint},
    math,
    solve::{Balance, Effector, FullBody, FullBodyOptions, IterativeOptions, RootMode},
};

/// Hips, chest, two arms with hinged elbows, two legs with hinged knees, a head.
fn figure() -> Arc<Skeleton> {
    let mut b = Skeleton::builder();
    let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
    let hips = b.add("hips", None, at(0.0, 0.95, 0.0));
    let spine = b.add("spine", Some(hips), at(0.0, 0.2, 0.0));
    let chest = b.add("chest", Some(spine), at(0.0, 0.25, 0.0));
    b.add("head", Some(chest), at(0.0, 0.3, 0.0));
    for (side, x) in [("l", 1.0), ("r", -1.0)] {
        let upper = b.add(format!("upper.{side}"), Some(chest), at(0.2 * x, 0.1, 0.0));
        let fore = b.add(format!("fore.{side}"), Some(upper), at(0.28 * x, 0.0, -0.03));
        b.add(format!("hand.{side}"), Some(fore), at(0.26 * x, 0.0, 0.03));
        let thigh = b.add(format!("thigh.{side}"), Some(hips), at(0.1 * x, -0.05, 0.0));
        let shin = b.add(format!("shin.{side}"), Some(thigh), at(0.0, -0.42, 0.03));
        b.add(format!("foot.{side}"), Some(shin), at(0.0, -0.42, -0.03));
    }
    let mut skeleton = b.build().unwrap().0;
    for (name, joint) in [
        ("spine", Joint::ball(Vec3::Y, Vec3::X, [(-0.7, 0.7), (-0.5, 0.5)], (-0.6, 0.6))),
        ("chest", Joint::ball(Vec3::Y, Vec3::X, [(-0.7, 0.7), (-0.5, 0.5)], (-0.6, 0.6))),
        ("fore.l", Joint::hinge(Vec3::Y, Dof::range(-2.6, 0.05))),
        ("fore.r", Joint::hinge(Vec3::Y, Dof::range(-0.05, 2.6))),
        ("shin.l", Joint::hinge(Vec3::X, Dof::range(-0.05, 2.6))),
        ("shin.r", Joint::hinge(Vec3::X, Dof::range(-0.05, 2.6))),
    ] {
        let id = skeleton.find(name).unwrap();
        skeleton.set_joint(id, joint).unwrap();
    }
    Arc::new(skeleton)
}

fn ids<const N: usize>(skeleton: &Skeleton, names: [&str; N]) -> [JointId; N] {
    names.map(|name| skeleton.find(name).unwrap())
}

/// Numbers from -1 to 1.
fn noise(mut x: u32) -> impl FnMut() -> f32 {
    move || {
        x ^= x << 13;
        x ^= x >> 17;
        x ^= x << 5;
        (x >> 8) as f32 / (1u32 << 23) as f32 - 1.0
    }
}

fn bits(pose: &Pose) -> Vec<[u32; 7]> {
    let one = |l: &JointTransform| {
        let (q, t) = (l.rotation.to_array(), l.translation.to_array());
        [q[0], q[1], q[2], q[3], t[0], t[1], t[2]].map(f32::to_bits)
    };
    pose.locals().iter().map(one).collect()
}

/// Returns a pose of the figure, and goals for its hands, feet and head, some with influences, poles and rotations.
fn case(skeleton: &Arc<Skeleton>, ends: &[JointId; 5], n: u32) -> (Pose, [Goal; 5]) {
    let mut r = noise(0x9E37_79B9u32.wrapping_mul(n + 1) | 1);
    let mut pose = Pose::rest(skeleton);
    for joint in skeleton.joints() {
        let q = math::normalize(Quat::from_xyzw(0.3 * r(), 0.3 * r(), 0.3 * r(), 1.0));
        pose.set_rotation(joint, skeleton.clamp_rotation(joint, q));
    }
    pose.update();
    let mut goals = ends.map(|j| Goal::position(pose.position(j) + Vec3::new(r(), r(), r()) * 0.3));
    goals[4].rotation = Some(math::normalize(Quat::from_xyzw(0.1 * r(), 0.2 * r(), 0.0, 1.0)));
    if n.is_multiple_of(4) {
        goals[0].position_influence = 0.5 + 0.5 * r();
    }
    if n.is_multiple_of(5) {
        goals[1].pole = Pole::Direction(Vec3::new(r(), r(), r()));
    }
    (pose, goals)
}

#[test]
fn one_full_body_serves_many_threads_and_characters() {
    let skeleton = figure();
    let hips = skeleton.find("hips").unwrap();
    let ends = ids(&skeleton, ["hand.l", "hand.r", "foot.l", "foot.r", "head"]);
    let effectors = ends.map(|j| Effector::new(j).with_priority(u8::from(j == ends[4])));
    let full_body = FullBody::new(&skeleton, hips, &effectors).unwrap();
    let options = FullBodyOptions::new().with_root(RootMode::Spring(1.0)).with_soft(0.05);
    let solve = |workspace: &mut Workspace, n: u32| {
        let (mut pose, goals) = case(&skeleton, &ends, n);
        let report = full_body.solve(workspace, &mut pose, &goals, &options).unwrap();
        (bits(&pose), report)
    };
    // Each solved alone, with a solver and a workspace of its own.
    let alone: Vec<_> = (0..1000)
        .map(|n| {
            let (mut pose, goals) = case(&skeleton, &ends, n);
            let own = FullBody::new(&skeleton, hips, &effectors).unwrap();
            let report = own.solve(&mut Workspace::new(), &mut pose, &goals, &options).unwrap();
            (bits(&pose), report)
        })
        .collect();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|thread| {
                let solve = &solve;
                scope.spawn(move || {
                    let mut workspace = Workspace::new();
                    // Each thread has another order.
                    let mine = (0..1000).map(|n| (n * 7 + thread * 125) % 1000).filter(|n| n % 8 == thread);
                    mine.map(|n| (n, solve(&mut workspace, n))).collect::<Vec<_>>()
                })
            })
            .collect();
        let mut count = 0;
        for (n, solved) in threads.into_iter().flat_map(|t| t.join().unwrap()) {
            assert!(solved == alone[n as usize], "case {n}");
            count += 1;
        }
        assert_eq!(count, 1000);
    });
}

#[test]
fn solvers_of_different_sizes_share_a_workspace() {
    let skeleton = figure();
    let [hips, left, right, foot, chest] = ids(&skeleton, ["hips", "hand.l", "hand.r", "foot.l", "chest"]);
    let large = [left, right, foot].map(Effector::new);
    let large = FullBody::new(&skeleton, hips, &large).unwrap();
    let small = [Effector::new(left), Effector::new(right).with_relative_to(left)];
    let small = FullBody::new(&skeleton, chest, &small).unwrap();
    let feet = [Vec3::new(0.1, 0.0, 0.05), Vec3::new(-0.1, 0.0, 0.05)];
    let mut out = Pose::rest(&skeleton);
    let rest = out.clone();
    let solve = |workspace: &mut Workspace, which: usize, n: u32, out: &mut Pose| {
        let mut r = noise(n * 77 + 1);
        let mut near =
            |j: JointId, size: f32| Goal::position(rest.position(j) + Vec3::new(r(), r(), r()) * size);
        out.copy_from(&rest);
        let size = if n.is_multiple_of(3) { 1.5 } else { 0.2 };
        let options =
            FullBodyOptions::new().with_soft(0.1 * (n % 2) as f32).with_posture(0.3 * (n % 4) as f32 / 3.0);
        if which == 0 {
            let goals = [near(left, size), near(right, size), near(foot, 0.1).with_position_influence(0.5)];
            let options = options.with_balance(Balance::over(&feet)).with_max_turn(if n.is_multiple_of(5) {
                0.1
            } else {
                1e3
            });
            large.solve(workspace, out, &goals, &options).unwrap()
        } else {
            let held = Goal::position(Vec3::new(-0.3, 0.0, 0.1)).with_rotation(Quat::IDENTITY);
            small.solve(workspace, out, &[near(left, size), held], &options).unwrap()
        }
    };
    let mut alone = Vec::new();
    for n in 0..40 {
        for which in [0, 1] {
            let report = solve(&mut Workspace::new(), which, n, &mut out);
            alone.push((report, bits(&out)));
        }
    }
    for reserved in [false, true] {
        let mut workspace = Workspace::new();
        if reserved {
            small.reserve(&mut workspace);
            large.reserve(&mut workspace);
        } else {
            // (The first has no work to do.)
            solve(&mut workspace, 1, 1, &mut out);
            solve(&mut workspace, 0, 1, &mut out);
        }
        let mut at = 0;
        for n in 0..40 {
            for which in [0, 1] {
                let counted = allocation_counter::measure(|| {
                    let report = solve(&mut workspace, which, n, &mut out);
                    assert_eq!(report, alone[at].0, "{n} {which}");
                });
                assert_eq!(counted.count_total, 0, "{n} {which}: {counted:?}");
                assert!(bits(&out) == alone[at].1, "{n} {which}");
                at += 1;
            }
        }
    }
}

/// Returns the largest rotation of a joint between two poses, in f64 radians.
fn leap(a: &Pose, b: &Pose) -> f64 {
    let apart = |(a, b): (&JointTransform, &JointTransform)| {
        let d = a.rotation.as_dquat().normalize().inverse() * b.rotation.as_dquat().normalize();
        2.0 * DVec3::new(d.x, d.y, d.z).length().atan2(d.w.abs())
    };
    a.locals().iter().zip(b.locals()).map(apart).fold(0.0, f64::max)
}

/// As an influence goes from 0 to 1, the pose goes in even steps from the answer without the goal to the answer with it.
/// Goals of influence 1 stay met.
#[test]
fn a_goal_comes_in_by_its_influence() {
    const STEPS: usize = 200;
    let skeleton = figure();
    let [hips, left, right, foot] = ids(&skeleton, ["hips", "hand.l", "hand.r", "foot.l"]);
    let full_body = FullBody::new(&skeleton, hips, &[left, right, foot].map(Effector::new)).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new().with_root(RootMode::Free));
    let rest = Pose::rest(&skeleton);
    let mut r = noise(5);
    let (mut furthest, mut moved) = (0.0f64, 0.0f64);
    for case in 0..60 {
        let mut near =
            |j: JointId, size: f32| Goal::position(rest.position(j) + Vec3::new(r(), r(), r()) * size);
        let goals = [near(left, 0.35), near(right, 0.2), near(foot, 0.02)];
        let mut solve = |influence: f32, second: f32| {
            let mut goals = goals;
            goals[0].position_influence = influence;
            goals[1].position_influence = second;
            let mut pose = rest.clone();
            let report = full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
            let held: Vec<_> = full_body.effector_reports(&pose, &goals, &report).collect();
            (pose, held)
        };
        let second = if case % 3 == 0 { 0.4 } else { 1.0 };
        // The ends: without the goal, and with the goal in full.
        let (mut without, mut with) = (rest.clone(), rest.clone());
        let mut fixed = goals;
        fixed[1].position_influence = second;
        let full = full_body.solve(&mut Workspace::new(), &mut with, &goals, &options).unwrap();
        if !full.reached() {
            continue;
        }
        with.copy_from(&rest);
        full_body.solve(&mut Workspace::new(), &mut with, &fixed, &options).unwrap();
        fixed[0] = Goal::NONE;
        full_body.solve(&mut Workspace::new(), &mut without, &fixed, &options).unwrap();
        assert!(bits(&solve(0.0, second).0) == bits(&without) && bits(&solve(1.0, second).0) == bits(&with));
        let mut last = without;
        for i in 1..=STEPS {
            let (pose, held) = solve(i as f32 / STEPS as f32, second);
            // An even share of at most a whole turn, which joint coordinates stretch by up to pi / 2; and the correction of
            // goals of influence 1, whose tolerance is 1e-4 of a figure of about 1.2 m, at 8 rad a size and to either side.
            let bound = std::f64::consts::TAU / STEPS as f64 * 1.6 + 2.0 * 8.0 * 1e-4 + 0.02;
            let leap = leap(&last, &pose);
            assert!(leap < bound, "case {case}: {leap} at {i}");
            furthest = furthest.max(leap);
            for j in skeleton.joints() {
                assert!(skeleton.limit_excess(j, pose.local(j).rotation) <= 1e-5, "case {case}: joint {j}");
            }
            // (Positions are rounded to at most a micrometre.)
            for (k, held) in held.iter().enumerate().skip(1) {
                assert!(
                    k == 1 && second < 1.0 || held.position_residual <= held.position_tolerance + 1e-6,
                    "case {case}, {i}: goal {k} is off by {held:?}"
                );
            }
            moved += leap;
            last = pose;
        }
    }
    assert!(moved > 10.0, "{moved}");
    println!("the furthest step: {furthest}");
}

/// Where goals contradict each other, the last thousandth of an influence moves the pose little, too.
#[test]
fn a_goal_that_contradicts_others_comes_in_without_a_leap() {
    let skeleton = figure();
    let [hips, left, right] = ids(&skeleton, ["hips", "hand.l", "hand.r"]);
    let full_body = FullBody::new(&skeleton, hips, &[left, right].map(Effector::new)).unwrap();
    let (mut workspace, options) = (Workspace::new(), FullBodyOptions::new().with_max_restarts(0));
    let rest = Pose::rest(&skeleton);
    let mut r = noise(11);
    let mut apart = 0;
    for case in 0..60 {
        // The hands' goals are on either side, too far apart to reach both.
        let mut side = |x: f32| Goal::position(Vec3::new(x, 1.2 + 0.2 * r(), 0.3 * r()));
        let goals = [side(1.6), side(-1.6)];
        let mut solve = |influence: f32| {
            let mut pose = rest.clone();
            let goals = [goals[0], goals[1].with_position_influence(influence)];
            full_body.solve(&mut workspace, &mut pose, &goals, &options).unwrap();
            pose
        };
        let (none, nearly, all) = (solve(0.0), solve(0.999), solve(1.0));
        let whole = leap(&none, &all);
        apart += usize::from(whole > 0.1);
        assert!(leap(&nearly, &all) < 0.05 * whole + 0.01, "{case}: {} of {whole}", leap(&nearly, &all));
    }
    assert!(apart > 30, "{apart}");
}

#[test]
fn a_goal_alone_goes_that_part_of_the_way() {
    // A hinge: 0.3 of the way to 1 rad.
    let mut b = Skeleton::builder();
    let root = b.add("root", None, JointTransform::IDENTITY);
    b.add("end", Some(root), JointTransform::from_translation(Vec3::X));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], Joint::hinge(Vec3::Z, Dof::FREE)).unwrap();
    let skeleton = Arc::new(skeleton);
    let full_body = FullBody::new(&skeleton, ids[0], &[Effector::new(ids[1])]).unwrap();
    let goal = Goal::position(Vec3::new(1f32.cos(), 1f32.sin(), 0.0));
    for influence in [0.0, 0.3, 0.9, 1.0] {
        let mut pose = Pose::rest(&skeleton);
        let options = IterativeOptions::new().with_position_tolerance(sinew::solve::Tolerance::Metres(1e-6));
        full_body
            .solve(&mut Workspace::new(), &mut pose, &[goal.with_position_influence(influence)], &options)
            .unwrap();
        let angle = math::angle_between(pose.local(ids[0]).rotation, Quat::IDENTITY);
        assert!((angle - influence).abs() < 1e-4, "{angle} at {influence}");
    }
}

/// Returns the direction of the elbow from the line through shoulder and hand.
fn bend(pose: &Pose, [top, middle, end]: [JointId; 3]) -> (DVec3, DVec3) {
    let [top, middle, end] = [top, middle, end].map(|j| pose.position(j).as_dvec3());
    let line = (end - top).normalize();
    (line, ((middle - top) - line * (middle - top).dot(line)).normalize())
}

#[test]
fn a_swivel_turns_the_bend_plane() {
    let skeleton = {
        let mut free = (*figure()).clone();
        for name in ["fore.l", "fore.r"] {
            let id = free.find(name).unwrap();
            free.set_joint(id, Joint::FREE).unwrap();
        }
        Arc::new(free)
    };
    let arm = ids(&skeleton, ["upper.l", "fore.l", "hand.l"]);
    let chest = skeleton.find("chest").unwrap();
    let full_body =
        FullBody::new(&skeleton, chest, &[arm[2], skeleton.find("head").unwrap()].map(Effector::new))
            .unwrap();
    let mut workspace = Workspace::new();
    let mut rest = Pose::rest(&skeleton);
    rest.set_rotation(arm[1], Quat::from_rotation_y(-1.0));
    rest.update();
    let head = Goal::position(rest.position(skeleton.find("head").unwrap()));
    for goal in [rest.position(arm[2]), Vec3::new(0.3, 1.6, 0.35)] {
        for pole in [Pole::Keep, Pole::Direction(Vec3::NEG_Y), Pole::Point(Vec3::new(0.5, 0.2, -2.0))] {
            for swivel in [0.0f32, 0.5, -1.2, 3.0] {
                let mut pose = rest.clone();
                let goal = Goal::position(goal).with_pole(pole).with_swivel(swivel);
                let report = full_body
                    .solve(&mut workspace, &mut pose, &[goal, head], &IterativeOptions::new())
                    .unwrap();
                assert!(report.reached(), "{report:?}");
                let (line, now) = bend(&pose, arm);
                let wanted = match pole {
                    // Carried along with the line by the shortest arc.
                    Pole::Keep => {
                        let (from, out) = bend(&rest, arm);
                        sinew::glam::DQuat::from_rotation_arc(from, line) * out
                    }
                    Pole::Direction(d) => d.as_dvec3(),
                    Pole::Point(p) => p.as_dvec3() - pose.position(arm[0]).as_dvec3(),
                    _ => unreachable!(),
                };
                let wanted = (wanted - line * wanted.dot(line)).normalize();
                let angle = line.dot(wanted.cross(now)).atan2(wanted.dot(now));
                let off = (angle - f64::from(swivel) + 3.0 * std::f64::consts::PI)
                    .rem_euclid(std::f64::consts::TAU)
                    - std::f64::consts::PI;
                let keeps = pole == Pole::Keep && swivel == 0.0;
                assert!(off.abs() < if keeps { 0.6 } else { 0.053 }, "{pole:?} and {swivel}: {off} rad off");
            }
        }
    }
    // A limb without a middle joint.
    let short = FullBody::new(&skeleton, arm[1], &[Effector::new(arm[2])]).unwrap();
    let goal = Goal::position(Vec3::X).with_swivel(0.1);
    let refused = short.solve(&mut workspace, &mut rest, &[goal], &IterativeOptions::new());
    assert_eq!(refused, Err(SolveError::Pole { goal: 0 }));
    let refused = full_body.solve(
        &mut workspace,
        &mut rest,
        &[goal.with_swivel(f32::NAN), head],
        &IterativeOptions::new(),
    );
    assert!(matches!(refused, Err(SolveError::OutOfRange { .. })));
}
