//! Judges one rule for every solver at influence 0: the pose stays, and the report has the residuals of the input pose.

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Outcome, Pose, Report, Skeleton, Workspace,
    glam::Vec3,
    joint::{Dof, Joint},
    math,
    solve::{
        Aim, Auto, Ccd, ChainSolver, DampedLeastSquares, Effector, Fabrik, FabrikTree, Fold, Follow,
        FollowOptions, FreeChain, FullBody, FullBodyOptions, IterativeOptions, LimbOptions, LookAt,
        LookJoint, Options, Spline, SplineOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

const TO: Vec3 = Vec3::new(0.4, 0.5, 0.9);

fn bent(joint: Joint) -> (Pose, Vec<sinew::JointId>) {
    let mut builder = Skeleton::builder();
    let mut above = None;
    for name in ["a", "b", "c"] {
        let joint = builder.add(name, above, JointTransform::from_translation(Vec3::new(0.0, 0.6, 0.1)));
        above = Some(joint);
    }
    let (mut skeleton, ids) = builder.build().unwrap();
    for &id in &ids {
        skeleton.set_joint(id, joint).unwrap();
    }
    let mut pose = Pose::rest(&Arc::new(skeleton));
    pose.set_rotation(ids[1], math::axis_angle(Vec3::X, 0.8));
    pose.update();
    (pose, ids)
}

/// Solves, and judges the report by the residuals of the input pose.
fn stays(name: &str, before: &Pose, solve: impl FnOnce(&mut Pose) -> Report, [off, turn]: [f32; 2]) {
    let mut pose = before.clone();
    let report = solve(&mut pose);
    assert_eq!(pose.locals(), before.locals(), "{name}");
    assert_eq!((report.outcome, report.iterations, report.restarts), (Outcome::Converged, 0, 0), "{name}");
    assert!(!report.branch_changed && !report.reached(), "{name}: {report:?}");
    assert!((report.position_residual - off).abs() < 1e-5, "{name}: {report:?} beside {off}");
    assert!((report.rotation_residual - turn).abs() < 1e-5, "{name}: {report:?} beside {turn}");
    assert!(report.position_tolerance > 0.0, "{name}: {report:?}");
}

#[test]
fn at_influence_0_reports_have_the_residuals_of_the_pose_as_it_is() {
    let (pose, ids) = bent(Joint::FREE);
    let (hinged, _) = bent(Joint::hinge(Vec3::X, Dof::range(-2.0, 2.0)));
    let (root, tip) = (ids[0], ids[2]);
    let turned = math::axis_angle(Vec3::Y, 0.7);
    let full = Goal::position(TO).with_rotation(turned);
    let off = pose.position(tip).distance(TO);
    let turn = math::angle_between(pose.model_rotation(tip), turned);
    let none = full.with_position_influence(0.0).with_rotation_influence(0.0);
    let workspace = &mut Workspace::new();
    // Influence 0 by the options, then by the goal.
    for (goal, influence) in [(full, 0.0), (none, 1.0)] {
        let options = IterativeOptions::new().with_influence(influence);
        let skeleton = pose.skeleton();
        let limb = TwoBone::new(skeleton, root, ids[1], tip).unwrap();
        let with = LimbOptions::new().with_influence(influence);
        stays("limb", &pose, |pose| limb.solve(pose, &goal, &with).unwrap(), [off, turn]);
        for (pose, limits) in [(&pose, "free"), (&hinged, "hinges")] {
            let skeleton = pose.skeleton();
            let mut solvers: Vec<(&str, Box<dyn ChainSolver>)> = vec![
                ("auto", Box::new(Auto::new(skeleton, root, tip).unwrap())),
                ("ccd", Box::new(Ccd::new(skeleton, root, tip).unwrap())),
                ("fabrik", Box::new(Fabrik::new(skeleton, root, tip).unwrap())),
                ("fold", Box::new(Fold::new(skeleton, root, tip).unwrap())),
                ("dls", Box::new(DampedLeastSquares::new(skeleton, root, tip).unwrap())),
            ];
            if limits == "free" {
                solvers.push(("free", Box::new(FreeChain::new(skeleton, root, tip).unwrap())));
                solvers.push(("two-bone", Box::new(limb.clone())));
            }
            for (name, solver) in &solvers {
                let solve = |pose: &mut Pose| solver.solve(workspace, pose, &goal, &options).unwrap();
                stays(&format!("{name}, {limits}"), pose, solve, [off, turn]);
            }
            // (Among many goals, one of influence 0 counts as absent.)
            if influence > 0.0 {
                continue;
            }
            let tree = FabrikTree::new(skeleton, root, &[Effector::new(tip)]).unwrap();
            let mut position = goal;
            position.rotation = None;
            let solve = |pose: &mut Pose| tree.solve(workspace, pose, &[position], &options).unwrap();
            stays(&format!("fabrik tree, {limits}"), pose, solve, [off, 0.0]);
            let body = FullBody::new(skeleton, root, &[Effector::new(tip)]).unwrap();
            let options = FullBodyOptions::new().with_iterative(options);
            let solve = |pose: &mut Pose| body.solve(workspace, pose, &[goal], &options).unwrap();
            stays(&format!("full body, {limits}"), pose, solve, [off, turn]);
        }
    }

    let options = Options::new().with_influence(0.0);
    let (from, along) = (pose.position(tip), pose.model_rotation(tip) * Vec3::Z);
    let way = TO - from;
    let angle = way.angle_between(along);
    let off_ray = if way.dot(along) > 0.0 { way.cross(along).length() } else { way.length() };
    let aim = Aim::new(tip, Vec3::Z);
    stays("aim", &pose, |pose| aim.solve(pose, TO, &options).unwrap(), [off_ray, angle]);
    let line = [LookJoint::new(tip).with_share(1.0).with_cone(1.0)];
    let look = LookAt::new(pose.skeleton(), &line, Vec3::Z).unwrap();
    let solve = |pose: &mut Pose| look.solve(&mut look.state(), pose, TO, &options).unwrap().report;
    stays("look-at", &pose, solve, [off_ray, angle]);
    let follow = Follow::new(pose.skeleton(), root, tip).unwrap();
    let options = FollowOptions::new().with_influence(0.0);
    let solve = |pose: &mut Pose| follow.solve(workspace, pose, TO, &options).unwrap();
    stays("follow", &pose, solve, [off, 0.0]);
    let spline = Spline::new(pose.skeleton(), root, tip).unwrap();
    let curve =
        Curve::new(CurveKind::CatmullRom, &[Vec3::new(0.0, 0.6, 0.1), TO], false, CurveUp::Carried(Vec3::Y))
            .unwrap();
    let options = SplineOptions::new().with_influence(0.0);
    let mut laid = pose.clone();
    let report = spline.solve(workspace, &mut laid, &curve, &options).unwrap().report;
    assert_eq!((laid.locals(), report.outcome), (pose.locals(), Outcome::Converged));
    assert!(report.position_residual > 0.1 && !report.reached(), "{report:?}");
}
