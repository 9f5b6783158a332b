//! Judges mechanisms compiled from skeletons: the same positions as pose space, round trips of poses, and refusals.

use crate::arms;
use crate::limit_judge;

use std::{f64::consts::FRAC_PI_2, sync::Arc};

use arms::Random;
use sinew::{
    JointId, JointTransform, Pose, Skeleton, Workspace,
    glam::{DMat3, DQuat, DVec3, Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
    mechanism::{
        ChainSkeleton, CompileError, JointSpaceOptions, JointSpaceSolver, JointSpec, LinkFrames, LinkGoal,
        LinkId, LinkTarget, Mechanism, SkeletonMechanism, ValuesError, position_and_rotation,
    },
};

/// A chain with a joint of each kind that joint space honours, below scaled and rotated frames.
fn chain() -> (Arc<Skeleton>, Vec<JointId>) {
    let turned = |axis: Vec3, angle: f32| math::axis_angle(axis.normalize(), angle);
    let mut b = Skeleton::builder();
    let mut add = |name: &str, parent: Option<usize>, at: Vec3, rotation: Quat, scale: f32| {
        b.add(name, parent, JointTransform { translation: at, rotation, scale: Vec3::splat(scale) })
    };
    let root = add("root", None, Vec3::new(0.1, 1.0, 0.2), turned(Vec3::ONE, 0.4), 0.5);
    let hinge = add("bone", Some(root), Vec3::new(0.2, 0.3, 0.0), turned(Vec3::X, -0.3), 1.0);
    let axes = add("bone", Some(hinge), Vec3::new(0.5, 0.0, 0.1), turned(Vec3::Y, 1.1), 2.0);
    let slider = add("", Some(axes), Vec3::new(0.2, 0.1, 0.0), turned(Vec3::Z, 0.2), 1.0);
    let fixed = add("cuff", Some(slider), Vec3::new(0.2, 0.0, 0.0), turned(Vec3::X, 0.5), 1.0);
    let free = add("free", Some(fixed), Vec3::new(0.1, 0.0, 0.1), Quat::IDENTITY, 1.0);
    add("tip", Some(free), Vec3::new(0.2, 0.0, 0.0), Quat::IDENTITY, 1.0);
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[root], Joint::FIXED).unwrap();
    skeleton.set_joint(ids[hinge], Joint::hinge(Vec3::new(0.3, 1.0, 0.2), Dof::range(-1.0, 2.0))).unwrap();
    let angles = [Some(Dof::range(-0.5, 1.5)), None, Some(Dof::range(-1.2, 1.2))];
    skeleton.set_joint(ids[axes], Joint::from(Turning::Axes { order: RotationOrder::Zyx, angles })).unwrap();
    let slides = [Some(Dof::range(0.0, 0.4)), None, Some(Dof::range(-0.1, 0.1))];
    skeleton.set_joint(ids[slider], Joint::hinge(Vec3::Z, Dof::FREE).with_slide(slides)).unwrap();
    skeleton.set_joint(ids[fixed], Joint::FIXED).unwrap();
    (Arc::new(skeleton), ids)
}

/// Returns a pose with every joint moved within its motion, and fixed joints and offsets changed as by a clip.
fn moved(skeleton: &Arc<Skeleton>, ids: &[JointId], random: &mut Random) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let compiled = SkeletonMechanism::compile(&pose).unwrap();
    let m = compiled.mechanism();
    let draw = |d: &sinew::mechanism::NamedDof, r: f64| {
        let (lower, upper) = (d.dof.range.min.max(-1.2), d.dof.range.max.min(1.2));
        lower + (upper - lower) * r
    };
    let values: Vec<f64> = m.dofs().iter().map(|d| draw(d, random.next())).collect();
    compiled.write(&values, &mut pose).unwrap();
    let mut nudge = |id: JointId| {
        let mut local = *pose.local(id);
        local.translation += Vec3::new(0.01, 0.02, -0.01) * random.next() as f32;
        pose.set_local(id, local);
    };
    nudge(ids[1]);
    nudge(ids[4]);
    pose.set_rotation(ids[4], math::axis_angle(Vec3::Y, 0.3));
    pose.update();
    pose
}

#[test]
fn links_are_where_joints_are() {
    let (skeleton, ids) = chain();
    let mut random = Random(1);
    for _ in 0..50 {
        let mut pose = moved(&skeleton, &ids, &mut random);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        let mut placement = LinkFrames::new(m);
        for round in 0..2 {
            m.forward_kinematics(&values, &mut placement).unwrap();
            for joint in skeleton.joints() {
                let link = m.link_transform(&placement, compiled.link(joint));
                let off = link.translation.distance(pose.position(joint).as_dvec3());
                assert!(off < 2e-6, "{round} {}: {off}", skeleton.name(joint));
                let axis = pose.model_rotation(joint) * Vec3::X;
                assert!((link.matrix3.x_axis - axis.as_dvec3()).length() < 3e-6, "{round}");
            }
            // Other values, written to the pose and read.
            for (v, d) in values.iter_mut().zip(m.dofs()) {
                let (lower, upper) = (d.dof.range.min.max(-1.2), d.dof.range.max.min(1.2));
                *v = lower + (upper - lower) * random.next();
            }
            compiled.write(&values, &mut pose).unwrap();
            pose.update();
            let mut back = m.rest();
            compiled.read(&pose, &mut back).unwrap();
            let far = values.iter().zip(&back).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(far < 3e-6, "{far}");
        }
    }
}

#[test]
fn limits_are_the_joints_own_and_slides_are_in_metres() {
    let (skeleton, ids) = chain();
    let compiled = SkeletonMechanism::compile(&Pose::rest(&skeleton)).unwrap();
    let dofs = compiled.mechanism().dofs();
    let of = |j: usize| &dofs[compiled.dofs(ids[j])];
    assert_eq!(of(1).iter().map(|d| (d.dof.range.min, d.dof.range.max)).collect::<Vec<_>>(), [(-1.0, 2.0)]);
    // In the order z, y, x, of which y is fixed.
    assert_eq!(
        of(2).iter().map(|d| (d.dof.range.min, d.dof.range.max)).collect::<Vec<_>>(),
        [(-1.2, 1.2), (-0.5, 1.5)]
    );
    // The parent's frame is scaled by 0.5 * 2.
    assert_eq!(
        of(3).iter().map(|d| (d.slides(), d.dof.range.min, d.dof.range.max)).collect::<Vec<_>>()[..2],
        [(true, 0.0, 0.4), (true, -0.1, 0.1)]
    );
    assert!(of(3)[2].is_continuous() && of(0).is_empty() && of(5).len() == 3);
}

#[test]
fn a_solve_ends_in_the_pose_within_the_joints_limits() {
    let mut workspace = Workspace::new();
    let (skeleton, ids) = chain();
    let mut random = Random(2);
    for _ in 0..50 {
        let pose = moved(&skeleton, &ids, &mut random);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        // A position that the tip can reach.
        let known: Vec<f64> = m
            .dofs()
            .iter()
            .map(|d| {
                let (lower, upper) = (d.dof.range.min.max(-1.0), d.dof.range.max.min(1.0));
                lower + (upper - lower) * random.next()
            })
            .collect();
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(&known, &mut placement).unwrap();
        let tip = compiled.link(ids[6]);
        let wanted: DVec3 = m.link_transform(&placement, tip).translation;
        let goal = LinkGoal::new(m, tip, LinkTarget::Position(wanted));
        let solver = JointSpaceSolver::new(m, &[goal]).unwrap();
        assert!(
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap().reached()
        );
        let mut after = pose.clone();
        compiled.write(&values, &mut after).unwrap();
        after.update();
        assert!(after.position(ids[6]).as_dvec3().distance(wanted) < 4e-6);
        for j in [1, 2, 3] {
            let excess = skeleton.limit_excess(ids[j], after.local(ids[j]).rotation);
            assert!(excess < 1e-5, "{j}: {excess}");
        }
        // Unchanged values keep the pose's bits, and other joints are never written.
        let mut same = after.clone();
        let mut read = m.rest();
        compiled.read(&same, &mut read).unwrap();
        compiled.write(&read, &mut same).unwrap();
        assert_eq!(same.locals(), after.locals());
        assert_eq!(after.local(ids[4]), pose.local(ids[4]));
    }
}

#[test]
fn what_joint_space_cannot_honour_is_refused_by_name() {
    let refused = |joint: Joint| {
        let (skeleton, ids) = chain();
        let mut skeleton = (*skeleton).clone();
        skeleton.set_joint(ids[4], joint).unwrap();
        SkeletonMechanism::compile(&Pose::rest(&Arc::new(skeleton))).unwrap_err().to_string()
    };
    let damped = refused(Joint::hinge(Vec3::X, Dof::range(0.0, 1.0).with_damping(0.2)));
    assert_eq!(damped, "joint `cuff` has damping, which joint space cannot honour");
    let (skeleton, ids) = chain();
    let mut pose = Pose::rest(&skeleton);
    let mut local = *pose.local(ids[2]);
    local.scale = Vec3::new(1.0, 2.0, 1.0);
    pose.set_local(ids[2], local);
    pose.update();
    assert!(
        matches!(SkeletonMechanism::compile(&pose), Err(CompileError::Scale { joint, .. }) if joint == "bone")
    );
}

/// Near a pole of the middle axis, the f32 rounding of a pose within its limits changes angles arbitrarily.
#[test]
fn a_pose_within_its_limits_holds_no_joint_outside_of_them() {
    let mut random = Random(7);
    let rest = math::axis_angle(Vec3::new(0.3, -0.5, 0.8).normalize(), 2.1);
    for n in 0..400 {
        let mut b = Skeleton::builder();
        b.add("joint", None, JointTransform { rotation: rest, ..JointTransform::IDENTITY });
        b.add("tip", Some(0), JointTransform::from_translation(Vec3::new(0.3, 0.1, 0.2)));
        let (mut skeleton, ids) = b.build().unwrap();
        let angles = [None, Some(Dof::range(-2.2, -1.2)), Some(Dof::range(0.2, 2.4))];
        skeleton.set_joint(ids[0], Joint::from(Turning::Axes { order: RotationOrder::Zyx, angles })).unwrap();
        skeleton.set_joint(ids[1], Joint::FIXED).unwrap();
        let skeleton = Arc::new(skeleton);
        let turn = |axis: Vec3, angle: f64| math::axis_angle(axis, angle as f32);
        let off = 10f64.powf(-2.0 - 4.0 * random.next());
        let own = math::mul(
            turn(Vec3::Z, 0.3 + 2.0 * random.next()),
            turn(Vec3::Y, -std::f64::consts::FRAC_PI_2 + off),
        );
        let mut pose = Pose::rest(&skeleton);
        pose.set_rotation(ids[0], math::normalize(math::mul(rest, own)));
        pose.update();
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        // Elsewhere within the ranges, the held turn about X is kept.
        for (z, y) in [(0.3, -1.3), (2.2, -1.9), (1.0, -2.1)] {
            let mut moved = pose.clone();
            compiled.write(&[z, y], &mut moved).unwrap();
            let wanted = math::mul(rest, math::mul(turn(Vec3::Z, z), turn(Vec3::Y, y)));
            let off = math::angle_between(moved.local(ids[0]).rotation, wanted);
            assert!(off < 3e-6, "{n}: {off:e} rad at {z}, {y} of {own}");
        }
    }
}

/// One joint that turns about up to three axes, and a tip.
fn turning(order: RotationOrder, angles: [Option<Dof>; 3], rest: Quat) -> (Arc<Skeleton>, Vec<JointId>) {
    let mut b = Skeleton::builder();
    b.add("joint", None, JointTransform { rotation: rest, ..JointTransform::IDENTITY });
    b.add("tip", Some(0), JointTransform::from_translation(Vec3::new(0.3, 0.1, 0.2)));
    let (mut skeleton, ids) = b.build().unwrap();
    skeleton.set_joint(ids[0], Joint::from(Turning::Axes { order, angles })).unwrap();
    skeleton.set_joint(ids[1], Joint::FIXED).unwrap();
    (Arc::new(skeleton), ids)
}

const ORDERS: [RotationOrder; 6] = [
    RotationOrder::Xyz,
    RotationOrder::Xzy,
    RotationOrder::Yxz,
    RotationOrder::Yzx,
    RotationOrder::Zxy,
    RotationOrder::Zyx,
];

/// Returns a range about as wide as a shoulder's; one end in three is at `at`.
fn around(at: f64, random: &mut Random) -> Dof {
    let (below, above) = (random.next(), random.next());
    match (random.next() * 3.0) as u32 {
        0 => Dof::range(at, at + above),
        1 => Dof::range(at - below, at),
        _ => Dof::range(at - below, at + above),
    }
}

/// Returns the rotation of three angles in an order, in f64.
fn turned(order: RotationOrder, angles: [f64; 3]) -> DQuat {
    let turn = |n: usize| {
        let (s, c) = (0.5 * angles[n]).sin_cos();
        let v = DVec3::AXES[order.axes()[n]] * s;
        DQuat::from_xyzw(v.x, v.y, v.z, c)
    };
    turn(0) * turn(1) * turn(2)
}

/// Both layers agree on limits: a pose within them (by the smallest rotation that leads within) has values within them, also
/// near a pole of the middle axis, where rounding makes the outer two angles arbitrary.
#[test]
fn a_pose_within_its_limits_is_read_within_them() {
    let mut random = Random(41);
    for n in 0..3000 {
        let order = ORDERS[n % 6];
        let off = 10f64.powf(-6.0 + 5.0 * random.next()) * if n % 4 < 2 { 1.0 } else { -1.0 };
        let pole = FRAC_PI_2 * if random.next() < 0.5 { 1.0 } else { -1.0 };
        let at = [4.0 * random.next() - 2.0, pole + off, 4.0 * random.next() - 2.0];
        let mut angles = [None; 3];
        for k in 0..3 {
            angles[order.axes()[k]] = Some(around(at[k], &mut random));
        }
        let rest = math::axis_angle(random.direction(), 2.0);
        let (skeleton, ids) = turning(order, angles, rest);
        let mut pose = Pose::rest(&skeleton);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let own = turned(order, at).to_array().map(|x| x as f32);
        pose.set_rotation(ids[0], math::normalize(math::mul(rest, Quat::from_array(own))));
        pose.update();
        let judged = |pose: &Pose| {
            limit_judge::excess(skeleton.joint(ids[0]), skeleton.rest(ids[0]), pose.local(ids[0]))[0]
        };
        assert!(judged(&pose) < 1e-6, "{n}: {}", judged(&pose));
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        assert!(m.is_within(&values), "{n}: {values:?} of {at:?} in {:?}", m.dofs());
        // The values make this rotation.
        let local = rest.as_dquat().normalize() * turned(order, [values[0], values[1], values[2]]);
        let d = (local.conjugate() * pose.local(ids[0]).rotation.as_dquat().normalize()).to_array();
        let apart = 2.0 * (d[0] * d[0] + d[1] * d[1] + d[2] * d[2]).sqrt();
        assert!(apart < 3e-6, "{n}: {apart:e} rad from the pose");
    }
}

/// A goal may move some angles of a joint and not the others (relative to a link between them). Those that it moves end
/// within their ranges; the others keep their bits, within their ranges or not. The written pose violates the limits (by the
/// smallest rotation) by at most the sum of the values' excesses, since each excess is a turn about one axis.
#[test]
fn a_goal_moves_all_angles_of_a_joint_or_none_and_the_pose_is_no_further_out_than_its_values() {
    let mut workspace = Workspace::new();
    let mut random = Random(43);
    let (mut moved_all, mut outside) = (0, 0);
    for n in 0..600 {
        let order = ORDERS[n % 6];
        let angles = [0; 3].map(|_| Some(around(4.0 * random.next() - 2.0, &mut random)));
        let rest = math::axis_angle(random.direction(), 2.0);
        let (skeleton, ids) = turning(order, angles, rest);
        let mut pose = Pose::rest(&skeleton);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        pose.set_rotation(ids[0], math::axis_angle(random.direction(), 3.0 * random.next() as f32));
        pose.update();
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        let start = values.clone();
        let links: Vec<LinkId> = m.links().collect();
        let to = random.direction().as_dvec3() * 0.4;
        let mut goal = LinkGoal::new(m, compiled.link(ids[1]), LinkTarget::Position(to));
        goal.relative_to = links[(random.next() * (links.len() - 1) as f64) as usize];
        let options = JointSpaceOptions::new().with_max_restarts(0);
        // Relative to the joint's own link, no joint moves the goal's link.
        let moved: Vec<usize> = JointSpaceSolver::new(m, &[goal]).map_or(Vec::new(), |solver| {
            solver.solve(&mut workspace, &[goal], &mut values, &options).unwrap();
            solver.dofs().collect()
        });
        assert!(moved.len() == 3 || moved.is_empty(), "{n}: {moved:?}");
        moved_all += usize::from(moved.len() == 3);
        let out = |d: usize| {
            (values[d] - m.dofs()[d].dof.range.max).max(m.dofs()[d].dof.range.min - values[d]).max(0.0)
        };
        for d in 0..3 {
            let kept = values[d].to_bits() == start[d].to_bits();
            assert!(if moved.contains(&d) { out(d) == 0.0 } else { kept }, "{n}: {start:?} to {values:?}");
        }
        compiled.write(&values, &mut pose).unwrap();
        let together: f64 = (0..3).map(out).sum();
        let judged =
            limit_judge::excess(skeleton.joint(ids[0]), skeleton.rest(ids[0]), pose.local(ids[0]))[0];
        outside += usize::from(judged > 0.1);
        assert!(judged <= together + 1e-6, "{n}: {judged} rad out, but {together} of {values:?}");
    }
    assert!(moved_all > 200 && outside > 50, "{moved_all} goals moved the joint, {outside} poses were out");
}

/// Returns the rotation of a joint in model space, whatever the sizes of its axes. A mirrored frame has all axes reversed.
fn directions(pose: &Pose, joint: JointId) -> DMat3 {
    let skeleton = pose.skeleton();
    let above = std::iter::successors(Some(joint), |&j| skeleton.parent(j));
    let m = above.fold(DMat3::IDENTITY, |below, j| {
        let t = pose.local(j);
        let [x, y, z, w] = t.rotation.as_dquat().normalize().to_array();
        let column = |v: DVec3| {
            let u = DVec3::new(x, y, z);
            v + 2.0 * u.cross(u.cross(v) + w * v)
        };
        let s = t.scale.as_dvec3();
        let r = [column(DVec3::X) * s.x, column(DVec3::Y) * s.y, column(DVec3::Z) * s.z];
        DMat3::from_cols(r[0], r[1], r[2]) * below
    });
    let sign = m.determinant().signum();
    let unit = |v: DVec3| v / v.length() * sign;
    DMat3::from_cols(unit(m.x_axis), unit(m.y_axis), unit(m.z_axis))
}

/// Returns the angle between two rotations, by sine and cosine.
fn between(a: &DMat3, b: &DMat3) -> f64 {
    let m = a.transpose() * *b;
    let skew = DVec3::new(m.y_axis.z - m.z_axis.y, m.z_axis.x - m.x_axis.z, m.x_axis.y - m.y_axis.x);
    (0.5 * skew.length()).atan2(0.5 * (m.x_axis.x + m.y_axis.y + m.z_axis.z - 1.0))
}

/// A joint without children may have any scale: its sizes do not rotate it, mirrored axes do.
#[test]
fn a_tip_of_any_scale_has_the_rotation_that_is_reported() {
    let mut workspace = Workspace::new();
    let mut random = Random(47);
    for n in 0..200 {
        let mut size = || 10f32.powf(8.0 * random.next() as f32 - 4.0);
        let sizes = [Vec3::new(size(), size(), size()), Vec3::new(1.0, 0.88, 1.0), Vec3::ONE][n % 3];
        let mut sign = || if random.next() < 0.4 { -1.0 } else { 1.0 };
        let scale = sizes * Vec3::new(sign(), sign(), sign());
        let mut b = Skeleton::builder();
        let inner = Vec3::new(sign(), sign(), sign()) * 0.5;
        b.add("a", None, JointTransform { scale: inner, ..JointTransform::from_translation(Vec3::Y) });
        b.add("b", Some(0), JointTransform::from_translation(Vec3::X));
        b.add("tip", Some(1), JointTransform { scale, ..JointTransform::from_translation(Vec3::X) });
        let (mut skeleton, ids) = b.build().unwrap();
        for id in &ids[..2] {
            skeleton.set_joint(*id, Joint::hinge(random.direction(), Dof::range(-0.6, 0.7))).unwrap();
        }
        let tip = ids[2];
        skeleton.set_joint(tip, Joint::hinge(random.direction(), Dof::range(-0.3, 0.3))).unwrap();
        let skeleton = Arc::new(skeleton);
        let mut pose = Pose::rest(&skeleton);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m: &Mechanism = compiled.mechanism();
        let q = math::axis_angle(random.direction(), 3.0 * random.next() as f32).as_dquat().normalize();
        let goal = LinkGoal::new(m, compiled.link(tip), LinkTarget::Rotation(q));
        let options = JointSpaceOptions::new().with_max_restarts(2);
        let mut values = m.rest();
        let report = JointSpaceSolver::new(m, &[goal])
            .unwrap()
            .solve(&mut workspace, &[goal], &mut values, &options)
            .unwrap();
        compiled.write(&values, &mut pose).unwrap();
        pose.update();
        let now = directions(&pose, tip);
        let off = between(&now, &DMat3::from_quat(q));
        let told = report.rotation_residual;
        assert!((off - told).abs() < 2e-6, "{n}: {off} rad are missing, not {told}: scale {scale}");
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(&values, &mut placement).unwrap();
        let link = position_and_rotation(&m.link_transform(&placement, compiled.link(tip))).1;
        let pose_space = pose.model_rotation(tip).as_dquat();
        for (what, q) in [("the link's", link), ("the pose's", pose_space)] {
            let off = between(&now, &DMat3::from_quat(q));
            assert!(off < 2e-6, "{n}: {what} rotation is {off} rad off: scale {scale}");
        }
    }
}

/// Values that do not fit are refused by their number, and by name where one is too large for a pose. The pose stays.
#[test]
fn values_that_do_not_fit_a_pose_are_refused() {
    let (skeleton, ids) = chain();
    let mut pose = moved(&skeleton, &ids, &mut Random(3));
    let compiled = SkeletonMechanism::compile(&pose).unwrap();
    let count = compiled.mechanism().dofs().len();
    let before = pose.clone();
    for given in [0, 1, count - 1, count + 1] {
        let error = ValuesError::Count { given, wanted: count };
        let mut values = vec![0.25; given];
        assert_eq!(compiled.read(&pose, &mut values), Err(error.clone()));
        assert_eq!(values, vec![0.25; given]);
        assert_eq!(compiled.write(&values, &mut pose), Err(error.clone()));
        assert!(!compiled.mechanism().is_within(&values));
        assert_eq!(compiled.mechanism().clamp(&mut values), Err(error.clone()));
        assert_eq!(error.to_string(), format!("{given} values were given for {count} degrees of freedom"));
    }
    let slide = compiled.dofs(ids[3]).start;
    let name = compiled.mechanism().dofs()[slide].name.clone();
    for value in [f64::NAN, f64::INFINITY, -1e300, 1e49, -1e39] {
        let mut values = compiled.mechanism().rest();
        // Joints above it precede it in the order of writing.
        values[0] += 0.1;
        values[slide] = value;
        let error = compiled.write(&values, &mut pose).unwrap_err();
        match error {
            ValuesError::NotFinite { joint, value: v } => assert!(joint == name && !v.is_finite()),
            ValuesError::TooLarge { joint, value: v } => assert!(joint == name && v == value),
            other => panic!("{other}"),
        }
        assert_eq!(pose.locals(), before.locals());
    }
}

/// Sizes that differ by up to a thousandth count as equal, at their middle. A product of k such frames is off by k half
/// thousandths (to first order).
#[test]
fn sizes_that_hardly_differ_leave_places_and_rotations_that_near() {
    let mut random = Random(53);
    let mut worst = (0.0f64, 0.0f64);
    for n in 0..300 {
        let uneven = 1 + n % 3;
        let mut b = Skeleton::builder();
        let mut last = None;
        for k in 0..5 {
            let mut off = || 1.0 + 1e-3 * random.next() as f32;
            let scale = if k < uneven { 0.7 * Vec3::new(off(), off(), off()) } else { Vec3::ONE };
            let translation = random.direction() * random.next() as f32;
            let rotation = math::axis_angle(random.direction(), 3.0 * random.next() as f32);
            last = Some(b.add(format!("{k}"), last, JointTransform { translation, rotation, scale }));
        }
        let (skeleton, ids) = b.build().unwrap();
        let pose = Pose::rest(&Arc::new(skeleton));
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let mut values = m.rest();
        compiled.read(&pose, &mut values).unwrap();
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(&values, &mut placement).unwrap();
        let (at, turned) = position_and_rotation(&m.link_transform(&placement, compiled.link(ids[4])));
        let place = |k: usize| pose.position(ids[k]).as_dvec3();
        let size: f64 = (0..4).map(|k| place(k).distance(place(k + 1))).sum();
        let off = at.distance(place(4)) / (5e-4 * uneven as f64 * size);
        let turn = between(&directions(&pose, ids[4]), &DMat3::from_quat(turned)) / (1e-3 * uneven as f64);
        worst = (worst.0.max(off), worst.1.max(turn));
    }
    assert!(worst.0 < 1.01 && worst.1 < 1.01, "{worst:?} of what is allowed");
    assert!(worst.0 > 0.1, "{worst:?}: nothing was measured");
}

/// As above, for an arm's chain in pose space.
#[test]
fn values_that_do_not_fit_a_chain_are_refused() {
    let mut b = Mechanism::builder("rail");
    ["base", "cart", "hand"].into_iter().for_each(|link| b.link(link));
    b.joint(JointSpec::new("slide", "base", "cart", Joint::slider(DVec3::X, Dof::range(-1.0, 1.0))));
    b.joint(JointSpec::new("turn", "cart", "hand", Joint::hinge(DVec3::Y, Dof::range(-1.0, 1.0))));
    let m = b.build().unwrap();
    let chain = ChainSkeleton::new(&m, m.root(), m.find_link("hand").unwrap()).unwrap();
    let mut pose = Pose::rest(&Arc::new(chain.skeleton().clone()));
    let before = pose.clone();
    for given in [0, 1, 3] {
        let error = ValuesError::Count { given, wanted: 2 };
        assert_eq!(chain.read(&pose, &mut vec![0.0; given]), Err(error.clone()));
        assert_eq!(chain.write(&vec![0.5; given], &mut pose), Err(error));
    }
    let far = ValuesError::TooLarge { joint: "slide".into(), value: 1e39 };
    assert_eq!(chain.write(&[1e39, 0.1], &mut pose), Err(far));
    assert!(
        matches!(chain.write(&[0.5, f64::NAN], &mut pose), Err(ValuesError::NotFinite { joint, .. }) if joint == "turn")
    );
    assert_eq!(pose.locals(), before.locals());
}
