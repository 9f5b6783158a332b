//! Mechanisms compiled from skeletons: the same places, poses in and out, and what is refused.

mod arms;

use std::sync::Arc;

use arms::Random;
use sinew::{
    JointId, JointTransform, Pose, Skeleton, Status,
    glam::{DVec3, Quat, Vec3},
    joint::{Dof, Joint, RotationOrder, Turning},
    math,
    mechanism::{
        CompileError, JointSpaceOptions, JointSpaceSolver, LinkFrames, LinkGoal, LinkTarget,
        SkeletonMechanism,
    },
};

/// A chain with a joint of each kind that joint space honours, below scaled and turned frames.
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

/// A pose with every joint moved in some way that it may, and the fixed ones and the offsets as a clip might.
fn moved(skeleton: &Arc<Skeleton>, ids: &[JointId], random: &mut Random) -> Pose {
    let mut pose = Pose::rest(skeleton);
    let compiled = SkeletonMechanism::compile(&pose).unwrap();
    let m = compiled.mechanism();
    let draw = |d: &sinew::mechanism::Dof, r: f64| {
        let (lower, upper) = (d.lower.max(-1.2), d.upper.min(1.2));
        lower + (upper - lower) * r
    };
    let values: Vec<f64> = m.dofs().iter().map(|d| draw(d, random.next())).collect();
    compiled.write(&values, &mut pose);
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
        compiled.read(&pose, &mut values);
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
            // Other values, through the pose.
            for (v, d) in values.iter_mut().zip(m.dofs()) {
                let (lower, upper) = (d.lower.max(-1.2), d.upper.min(1.2));
                *v = lower + (upper - lower) * random.next();
            }
            compiled.write(&values, &mut pose);
            pose.update();
            let mut back = m.rest();
            compiled.read(&pose, &mut back);
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
    assert_eq!(of(1).iter().map(|d| (d.lower, d.upper)).collect::<Vec<_>>(), [(-1.0, 2.0)]);
    // In the order z, y, x, of which y does not turn.
    assert_eq!(of(2).iter().map(|d| (d.lower, d.upper)).collect::<Vec<_>>(), [(-1.2, 1.2), (-0.5, 1.5)]);
    // The parent's frame is scaled by 0.5 * 2.
    assert_eq!(
        of(3).iter().map(|d| (d.slides, d.lower, d.upper)).collect::<Vec<_>>()[..2],
        [(true, 0.0, 0.4), (true, -0.1, 0.1)]
    );
    assert!(of(3)[2].is_continuous() && of(0).is_empty() && of(5).len() == 3);
}

#[test]
fn a_solve_ends_in_the_pose_within_the_joints_limits() {
    let (skeleton, ids) = chain();
    let mut random = Random(2);
    for _ in 0..50 {
        let pose = moved(&skeleton, &ids, &mut random);
        let compiled = SkeletonMechanism::compile(&pose).unwrap();
        let m = compiled.mechanism();
        let mut values = m.rest();
        compiled.read(&pose, &mut values);
        // A place that the tip was in, so that it can be reached.
        let known: Vec<f64> = m
            .dofs()
            .iter()
            .map(|d| {
                let (lower, upper) = (d.lower.max(-1.0), d.upper.min(1.0));
                lower + (upper - lower) * random.next()
            })
            .collect();
        let mut placement = LinkFrames::new(m);
        m.forward_kinematics(&known, &mut placement).unwrap();
        let tip = compiled.link(ids[6]);
        let wanted: DVec3 = m.link_transform(&placement, tip).translation;
        let goal = LinkGoal::new(m, tip, LinkTarget::Position(wanted));
        let mut solver = JointSpaceSolver::new(m, &[goal], JointSpaceOptions::default()).unwrap();
        assert_eq!(solver.solve(&[goal], &mut values).unwrap().status, Status::Reached);
        let mut after = pose.clone();
        compiled.write(&values, &mut after);
        after.update();
        assert!(after.position(ids[6]).as_dvec3().distance(wanted) < 4e-6);
        for j in [1, 2, 3] {
            let excess = skeleton.limits(ids[j]).excess(after.local(ids[j]).rotation);
            assert!(excess < 1e-5, "{j}: {excess}");
        }
        // What is written back unchanged keeps its bits, and the rest is never touched.
        let mut same = after.clone();
        let mut read = m.rest();
        compiled.read(&same, &mut read);
        compiled.write(&read, &mut same);
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
    let eased = refused(Joint::hinge(Vec3::X, Dof::range(0.0, 1.0).with_ease(0.2)));
    assert_eq!(eased, "joint `cuff` has ease, which joint space cannot honour");
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

/// Next to a pole of the middle axis, f32's rounding of a pose within its limits makes angles of any joint that it has not.
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
        // Anywhere else within the ranges, what is left of the turn about X shows.
        for (z, y) in [(0.3, -1.3), (2.2, -1.9), (1.0, -2.1)] {
            let mut moved = pose.clone();
            compiled.write(&[z, y], &mut moved);
            let wanted = math::mul(rest, math::mul(turn(Vec3::Z, z), turn(Vec3::Y, y)));
            let off = math::angle_between(moved.local(ids[0]).rotation, wanted);
            assert!(off < 3e-6, "{n}: {off:e} rad at {z}, {y} of {own}");
        }
    }
}
