//! Judges ball joints and free joints in joint space: compiled from skeletons with joints of every kind and solved within
//! their limits, by independent code in f64.

use crate::arms;
use crate::limit_judge;

use std::{f64::consts::PI, sync::Arc};

use arms::Random;
use proptest::{prelude::*, test_runner::RngSeed};
use sinew::{
    JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, Range, RotationOrder, Turning},
    math,
    mechanism::{
        DofKind, JointSpaceOptions, JointSpaceSolver, LinkFrames, LinkGoal, LinkTarget, Mechanism, Objective,
        ObjectiveKind, PathFollower, PathOptions, PathStatus, SkeletonMechanism, position_and_rotation,
    },
};

/// Returns the range that a joint's value is drawn from.
fn range(dof: &sinew::mechanism::NamedDof) -> (f64, f64) {
    if dof.dof.range.min.is_finite() { (dof.dof.range.min, dof.dof.range.max) } else { (-1.7, 1.7) }
}

fn draw(m: &Mechanism, random: &mut Random) -> Vec<f64> {
    loop {
        let values: Vec<f64> = m
            .dofs()
            .iter()
            .map(|d| {
                let (lower, upper) = range(d);
                lower + (upper - lower) * random.next()
            })
            .collect();
        // Redraws all values when a swing is outside its ellipse; few joints are balls.
        if m.is_within(&values) {
            return values;
        }
    }
}

/// A joint of any kind that joint space honours.
fn any_joint(random: &mut Random) -> Joint {
    let (axis, other) = (random.direction(), random.direction());
    let mut range = |most: f64| {
        let (a, b) = (most * random.next(), most * random.next());
        // Around 0, or far from it.
        let middle = if random.next() < 0.7 { 0.0 } else { 9.0 * random.next() - 4.5 };
        Dof::range(middle - a, middle + b)
    };
    let (one, two, three) = (range(1.5), range(1.4), range(3.0));
    let mut half = || 0.05 + 2.7 * random.next();
    let ball = |swing, twist, centre| {
        Joint::from(Turning::Ball {
            twist_axis: axis.as_dvec3(),
            swing_axis: math::perpendicular(axis, other).as_dvec3() + axis.as_dvec3() * 0.3,
            swing,
            twist,
            centre,
        })
    };
    let swing = [Dof::range(-half(), half()), Dof::range(-half(), half())];
    let centre = [1.2 * half() - 1.5, 1.2 * half() - 1.5];
    let about = |k: usize| {
        let Range { min, max } = swing[k].range;
        Dof::range(min + centre[k], max + centre[k])
    };
    let moved = [about(0), about(1)];
    let order = [RotationOrder::Xyz, RotationOrder::Zyx, RotationOrder::Yzx, RotationOrder::Xzy]
        [(random.next() * 4.0) as usize];
    let axes = |angles| Joint::from(Turning::Axes { order, angles });
    let joint = match (random.next() * 11.0) as u32 {
        0 => Joint::FREE,
        1 => Joint::FIXED,
        2 => Joint::hinge(axis, one),
        3 => Joint::hinge(axis, Dof::FREE),
        4 => ball(swing, three, [0.0; 2]),
        5 => ball(moved, three, centre),
        6 => ball(swing, Dof::FREE, [0.0; 2]),
        7 => ball([Dof::FREE; 2], Dof::FREE, [0.0; 2]),
        8 => axes([Some(one), Some(Dof::range(-1.2, 1.3)), Some(three)]),
        9 => axes([None, Some(Dof::range(1.0, 2.9)), Some(two)]),
        _ => axes([Some(two), None, None]),
    };
    let slides = random.next() < 0.3;
    joint.with_slide([slides.then_some(Dof::range(-0.1, 0.3)), None, slides.then_some(Dof::range(0.0, 0.2))])
}

/// A row of joints of all kinds in rotated, scaled and mirrored frames.
fn chain(random: &mut Random, joints: usize, mirrored: bool) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut parent = None;
    for i in 0..=joints {
        let rotation = math::axis_angle(random.direction(), 3.0 * random.next() as f32);
        let mut scale = Vec3::splat(0.7 + 0.7 * random.next() as f32);
        for k in 0..3 {
            if mirrored && random.next() < 0.3 {
                scale[k] = -scale[k];
            }
        }
        let translation = random.direction() * (0.1 + 0.3 * random.next() as f32);
        parent = Some(b.add(format!("j{i}"), parent, JointTransform { translation, rotation, scale }));
    }
    let (mut skeleton, ids) = b.build().unwrap();
    for &id in &ids[..joints] {
        skeleton.set_joint(id, any_joint(random)).unwrap();
    }
    (Arc::new(skeleton), ids)
}

/// Returns the largest excess of any joint's rotation over its limits, in radians, by the judge.
fn excess(pose: &Pose) -> f64 {
    let s = pose.skeleton();
    let of = |j| {
        let lost = limit_judge::lost(s.joint(j), s.rest(j), pose.local(j));
        limit_judge::excess(s.joint(j), s.rest(j), pose.local(j)).into_iter().map(move |e| e / lost)
    };
    s.joints().flat_map(of).fold(0.0, f64::max)
}

/// Returns the largest excess of a slide, in the parent's units.
fn slid(pose: &Pose) -> f64 {
    let s = pose.skeleton();
    let mut most = 0.0f64;
    for j in s.joints() {
        let rest = s.rest(j);
        let q = rest.rotation.as_dquat().normalize();
        let at = q.conjugate() * (pose.local(j).translation - rest.translation).as_dvec3();
        for k in 0..3 {
            let (from, to) = s.joint(j).slide[k].map_or((0.0, 0.0), |d| (d.range.min, d.range.max));
            most = most.max(at[k] - to).max(from - at[k]);
        }
    }
    most
}

fn apart(a: Quat, b: DQuat) -> f64 {
    let d = a.as_dquat().normalize().conjugate() * b;
    2.0 * DVec3::new(d.x, d.y, d.z).length().atan2(d.w.abs())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..Default::default()
    })]

    #[test]
    fn any_skeleton_compiles_to_the_same_places_and_limits(seed in any::<u64>(), joints in 1usize..12, mirrored: bool) {
        let mut random = Random(seed);
        let (skeleton, _) = chain(&mut random, joints, mirrored);
        let mut pose = Pose::rest(&skeleton);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let mut values = m.rest();
        for round in 0..4 {
            compiled.write(&values, &mut pose).unwrap();
            pose.update();
            // Joint space gives the same positions.
            let mut placement = LinkFrames::new(m);
            m.forward_kinematics(&values, &mut placement).unwrap();
            for joint in skeleton.joints() {
                let (at, turned) = position_and_rotation(&m.link_transform(&placement, compiled.link(joint)));
                let off = at.distance(pose.position(joint).as_dvec3());
                prop_assert!(off < 2e-6 * (1.0 + at.length()), "{round}: {off}");
                let off = apart(pose.model_rotation(joint), turned);
                prop_assert!(off < 1e-5, "{round} {}: {off}", skeleton.name(joint));
            }
            // Values within limits give a pose within limits.
            prop_assert!(m.is_within(&values));
            prop_assert!(excess(&pose) < 1e-5, "{round}: {}", excess(&pose));
            prop_assert!(slid(&pose) < 1e-6, "{}", slid(&pose));
            // And back. A mechanism compiled from any pose reads the same values.
            let again = SkeletonMechanism::compile(&pose).unwrap();
            prop_assert_eq!(again.mechanism().dofs(), m.dofs());
            for c in [&compiled, &again] {
                let mut back = m.rest();
                c.read(&pose, &mut back).unwrap();
                prop_assert!(m.is_within(&back), "{round}: {values:?} {back:?}");
                let mut same = pose.clone();
                c.write(&back, &mut same).unwrap();
                prop_assert_eq!(same.locals(), pose.locals());
                for (k, dof) in m.dofs().iter().enumerate() {
                    // A ball's twist loses digits at large swings; whole turns of free rotations are not kept.
                    let d = back[k] - values[k];
                    let d = if dof.is_continuous() { d - (d / (2.0 * PI)).round() * 2.0 * PI } else { d };
                    prop_assert!(d.abs() < 4e-5 || dof.kind == DofKind::Turn && near_pole(m, &values), "{} {d}", dof.name);
                }
            }
            values = draw(m, &mut random);
        }
    }

    #[test]
    fn solves_of_any_skeleton_end_within_limits_and_where_they_say(seed in any::<u64>(), joints in 2usize..10) {
    let mut workspace = Workspace::new();
        let mut random = Random(seed);
        let (skeleton, ids) = chain(&mut random, joints, seed.is_multiple_of(3));
        let mut pose = Pose::rest(&skeleton);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let tip = compiled.link(ids[joints]);
        let at = |values: &[f64]| {
            let mut placement = LinkFrames::new(m);
            m.forward_kinematics(values, &mut placement).unwrap();
            position_and_rotation(&m.link_transform(&placement, tip))
        };
        let known = draw(m, &mut random);
        let wanted = at(&known);
        // A start that may violate any limit.
        let mut values: Vec<f64> = draw(m, &mut random).iter().map(|v| v + 0.8 * (random.next() - 0.5)).collect();
        let goal = LinkGoal::new(m, tip, LinkTarget::Pose(wanted.0, wanted.1));
        if let Ok(solver) = JointSpaceSolver::new(m, &[goal]) {
            let moved: Vec<usize> = solver.dofs().collect();
            let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
            let mut clamped = values.clone();
            m.clamp(&mut clamped).unwrap();
            prop_assert!(moved.iter().all(|&d| clamped[d].to_bits() == values[d].to_bits()), "{values:?}");
            let got = at(&values);
            prop_assert!((got.0.distance(wanted.0) - report.position_residual).abs() < 1e-9);
            let fits = report.reached();
            prop_assert!(!fits || (report.position_residual <= 1e-6 && report.rotation_residual <= 1e-6));
            m.clamp(&mut values).unwrap();
            compiled.write(&values, &mut pose).unwrap();
            pose.update();
            prop_assert!(excess(&pose) < 1e-5, "{}", excess(&pose));
            prop_assert!(!fits || pose.position(ids[joints]).as_dvec3().distance(wanted.0) < 1e-5);
        }
    }
}

/// Whether any middle angle of three is near a quarter turn, where the outer two are not determined separately.
fn near_pole(m: &Mechanism, values: &[f64]) -> bool {
    m.dofs().iter().zip(values).any(|(d, v)| d.kind == DofKind::Turn && !d.slides() && v.cos().abs() < 0.02)
}

#[test]
fn what_comes_in_outside_never_moves_further_out() {
    let mut workspace = Workspace::new();
    let (skeleton, ids) = {
        let mut b = Skeleton::builder();
        b.add("a", None, JointTransform::IDENTITY);
        b.add("b", Some(0), JointTransform::from_translation(Vec3::Y * 0.5));
        b.add("c", Some(1), JointTransform::from_translation(Vec3::Y * 0.5));
        let (mut s, ids) = b.build().unwrap();
        let ball = Joint::ball(Vec3::Y, Vec3::X, [(-0.5, 0.8), (-0.3, 0.6)], (-0.4, 0.2));
        s.set_joint(ids[0], ball).unwrap();
        s.set_joint(ids[1], ball).unwrap();
        (Arc::new(s), ids)
    };
    let mut random = Random(8);
    for _ in 0..100 {
        let mut pose = Pose::rest(&skeleton);
        for &id in &ids[..2] {
            pose.set_rotation(id, math::axis_angle(random.direction(), 2.0 * random.next() as f32));
        }
        pose.update();
        let before = pose.clone();
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let goal = LinkGoal::new(m, compiled.link(ids[2]), LinkTarget::Position(DVec3::new(0.4, 0.6, 0.1)));
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        let solver = JointSpaceSolver::new(m, &[goal]).unwrap();
        solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        assert!(m.is_within(&values));
        compiled.write(&values, &mut pose).unwrap();
        for &id in &ids[..2] {
            let of = |p: &Pose| limit_judge::excess(skeleton.joint(id), skeleton.rest(id), p.local(id));
            for (now, was) in of(&pose).into_iter().zip(of(&before)) {
                assert!(now <= was + 1e-6 && now < 1e-5, "{now} {was}");
            }
        }
        // A joint that no goal moves keeps its bits, within its limits or not.
        let goal = LinkGoal::new(m, compiled.link(ids[0]), LinkTarget::Rotation(DQuat::from_rotation_x(0.3)));
        compiled.read(&before, &mut values).unwrap();
        let solver = JointSpaceSolver::new(m, &[goal]).unwrap();
        solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        let mut after = before.clone();
        compiled.write(&values, &mut after).unwrap();
        assert_eq!(after.local(ids[1]), before.local(ids[1]));
    }
}

/// A shoulder, an elbow, a wrist of two axes and a hand, on a slider.
fn limb() -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    let mut add = |name, parent, at: Vec3| b.add(name, parent, JointTransform::from_translation(at));
    let lift = add("lift", None, Vec3::Y);
    let shoulder = add("shoulder", Some(lift), Vec3::X * 0.2);
    let elbow = add("elbow", Some(shoulder), Vec3::X * 0.3);
    let wrist = add("wrist", Some(elbow), Vec3::X * 0.28);
    add("hand", Some(wrist), Vec3::X * 0.1);
    let (mut s, ids) = b.build().unwrap();
    let set = |s: &mut Skeleton, k: usize, j: Joint| s.set_joint(ids[k], j).unwrap();
    set(&mut s, 0, Joint::FIXED.with_slide([None, Some(Dof::range(-0.1, 0.2)), None]));
    set(&mut s, 1, Joint::ball(Vec3::X, Vec3::Y, [(-1.2, 2.0), (-0.6, 1.4)], (-1.0, 1.0)));
    set(&mut s, 2, Joint::hinge(Vec3::Y, Dof::range(-2.5, 0.0)));
    set(&mut s, 3, Joint::ball(Vec3::X, Vec3::Z, [(-1.0, 1.0), (-0.4, 0.3)], (-1.4, 1.4)));
    set(&mut s, 4, Joint::FIXED);
    (Arc::new(s), ids)
}

#[test]
fn a_limb_of_balls_reaches_every_pose_from_any_start() {
    let mut workspace = Workspace::new();
    let (skeleton, ids) = limb();
    let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
    let m = compiled.mechanism();
    let tip = compiled.link(ids[4]);
    let mut placement = LinkFrames::new(m);
    let mut random = Random(12);
    let goal = LinkGoal::new(m, tip, LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY));
    let solver = JointSpaceSolver::new(m, &[goal]).unwrap();
    for i in 0..300 {
        m.forward_kinematics(&draw(m, &mut random), &mut placement).unwrap();
        let (p, q) = position_and_rotation(&m.link_transform(&placement, tip));
        let goal = goal.with_target(LinkTarget::Pose(p, q));
        let start = draw(m, &mut random);
        let mut values = start.clone();
        let report = solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        assert!(report.reached(), "{i}");
        assert!(m.is_within(&values));
        // A new solver and workspace give the same bits.
        let other = JointSpaceSolver::new(m, &[goal]).unwrap();
        let mut again = start;
        other.solve(&mut Workspace::new(), &[goal], &mut again, &JointSpaceOptions::new()).unwrap();
        assert_eq!(again, values);
    }
}

#[test]
fn jacobians_of_balls_are_what_differences_give() {
    let mut random = Random(21);
    for round in 0..30 {
        let (skeleton, ids) = chain(&mut random, 5, round % 2 == 0);
        let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
        let m = compiled.mechanism();
        let (tip, point) = (compiled.link(ids[5]), DVec3::new(0.1, -0.2, 0.3));
        let values = draw(m, &mut random);
        let at = |values: &[f64]| {
            let mut placement = LinkFrames::new(m);
            m.forward_kinematics(values, &mut placement).unwrap();
            m.link_transform(&placement, tip)
        };
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(&values, &mut placement).unwrap();
        let mut columns = Vec::new();
        m.jacobian(&placement, tip, point, &mut columns);
        let here = at(&values);
        for (k, column) in columns.iter().enumerate() {
            let h = 1e-5;
            let moved = |by: f64| {
                let mut v = values.clone();
                v[k] += by;
                at(&v)
            };
            let (a, b) = (moved(h), moved(-h));
            let linear = (a.transform_point3(point) - b.transform_point3(point)) / (2.0 * h);
            // dR R^T is the cross-product matrix of the angular velocity.
            let w = (a.matrix3 - b.matrix3) * (0.5 / h) * here.matrix3.transpose();
            let angular = DVec3::new(w.y_axis.z, w.z_axis.x, w.x_axis.y);
            let [x, y, z, p, q, r] = *column;
            assert!((linear - DVec3::new(x, y, z)).length() < 1e-8, "{round} {k}");
            assert!((angular - DVec3::new(p, q, r)).length() < 1e-8, "{round} {k}");
        }
    }
}

#[test]
fn a_follower_of_balls_keeps_speeds_and_limits() {
    let mut workspace = Workspace::new();
    let (skeleton, ids) = limb();
    let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
    let m = compiled.mechanism();
    let tip = compiled.link(ids[4]);
    let at = |values: &[f64]| {
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(values, &mut placement).unwrap();
        m.link_transform(&placement, tip).translation
    };
    let mut values = m.rest();
    values[1] = 0.4;
    values[4] = -1.2;
    let start = at(&values);
    let goal = |p| LinkGoal::new(m, tip, LinkTarget::Position(p));
    let objectives = [Objective::new(ObjectiveKind::OffLimits).with_weight(0.1)];
    let follower = PathFollower::new(m, &[goal(start)], 1.5).unwrap().with_objectives(&objectives).unwrap();
    let mut seen = [0; 3];
    for i in 0..1500 {
        // A circle that leads out of the shoulder's ellipse and back.
        let a = f64::from(i) * 0.01;
        let p = start + DVec3::new(0.0, 0.5 * a.sin(), 0.5 * (1.0 - a.cos()));
        let before = values.clone();
        let report =
            follower.step(&mut workspace, &[goal(p)], &mut values, 0.01, &PathOptions::new()).unwrap();
        seen[report.status as usize] += 1;
        for (v, b) in values.iter().zip(&before) {
            assert!((v - b).abs() <= 0.015 + 1e-12, "{i}");
        }
        assert!(m.is_within(&values), "{i}: {values:?}");
        if report.status == PathStatus::OnPath {
            assert!(at(&values).distance(p) < 2e-6);
        }
    }
    assert!(seen[0] > 300 && seen[2] > 100, "{seen:?}");
    // A swing outside its ellipse returns in a straight line, at its speed.
    let mut values = m.rest();
    (values[1], values[2]) = (1.5, 1.9);
    let mut frames = 0;
    while !m.is_within(&values) {
        let before = values.clone();
        follower.step(&mut workspace, &[goal(start)], &mut values, 0.01, &PathOptions::new()).unwrap();
        let way = [values[1] - before[1], values[2] - before[2]];
        let fastest = way[0].abs().max(way[1].abs());
        assert!(fastest <= 0.015 + 1e-12 && (m.is_within(&values) || fastest > 0.015 - 1e-12), "{way:?}");
        frames += 1;
        assert!(frames < 200);
    }
    assert!(frames > 10);
}

#[test]
fn wishes_move_balls_within_their_limits() {
    let mut workspace = Workspace::new();
    let (skeleton, ids) = limb();
    let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
    let m = compiled.mechanism();
    let tip = compiled.link(ids[4]);
    let mut placement = LinkFrames::new(m);
    let mut random = Random(15);
    let (mut better, mut worst) = (0, 0.0f64);
    for _ in 0..40 {
        m.forward_kinematics(&draw(m, &mut random), &mut placement).unwrap();
        let p = m.link_transform(&placement, tip).translation;
        let goal = LinkGoal::new(m, tip, LinkTarget::Position(p));
        let wanted = draw(m, &mut random);
        let far = |v: &[f64]| v.iter().zip(&wanted).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        let start = draw(m, &mut random);
        let mut solve = |objectives: &[Objective]| {
            let mut values = start.clone();
            // A metre of the slider counts as much as a radian, as below.
            let solver = JointSpaceSolver::new(m, &[goal]).unwrap().with_radian_length(1.0).unwrap();
            let solver = solver.with_objectives(objectives).unwrap();
            assert!(
                solver
                    .solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new())
                    .unwrap()
                    .reached()
            );
            assert!(m.is_within(&values));
            values
        };
        let plain = solve(&[]);
        let near = solve(&[Objective::new(ObjectiveKind::Posture(wanted.clone()))]);
        assert!(far(&near) <= far(&plain) + 1e-9);
        better += usize::from(far(&near) < 0.9 * far(&plain));
        // The optimum: from nearby starts, the goal alone gives nothing nearer to the posture.
        let options = JointSpaceOptions::new().with_max_restarts(0);
        let solver = JointSpaceSolver::new(m, &[goal]).unwrap();
        for _ in 0..20 {
            let mut other: Vec<f64> = near.iter().map(|v| v + 0.02 * (random.next() - 0.5)).collect();
            if solver.solve(&mut workspace, &[goal], &mut other, &options).unwrap().reached() {
                worst = worst.max(far(&near) - far(&other));
            }
        }
    }
    // Convergence is slow at the end and iterations are limited: a hundredth of a squared radian may remain.
    assert!(better >= 30 && worst < 1e-2, "{better} {worst}");
}
