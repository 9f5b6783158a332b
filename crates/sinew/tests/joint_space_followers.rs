//! Judges path following in joint space: speeds, statuses, and postures along repeated paths.

use crate::arms;

use arms::Arm;
use sinew::{
    Workspace,
    glam::DVec3,
    mechanism::{LinkGoal, LinkTarget, Objective, ObjectiveKind, PathFollower, PathOptions, PathStatus},
};

#[test]
fn a_follower_keeps_to_its_speeds_and_says_when_it_cannot() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let m = &arm.mechanism;
    let mut values = vec![0.3, 0.4, 0.2, -1.5, 0.1, 1.2, 0.3];
    let start = arm.tip(&values);
    let goal = |p, r| LinkGoal::new(m, arm.tip, LinkTarget::Pose(p, r));
    let follower = PathFollower::new(m, &[goal(start.0, start.1)], 1.0).unwrap();
    let dt = 0.01;
    let mut step = |values: &mut Vec<f64>, p: DVec3| {
        let before = values.clone();
        let report =
            follower.step(&mut workspace, &[goal(p, start.1)], values, dt, &PathOptions::new()).unwrap();
        for (a, b) in values.iter().zip(&before) {
            // The arms of these tests turn at 2 rad/s at most.
            assert!((a - b).abs() <= 2.0 * dt + 1e-12);
        }
        assert!(arm.within(values));
        report
    };
    // Along a circle at 0.1 m/s, twice.
    for i in 0..1200 {
        let a = f64::from(i) * 0.01;
        let p = start.0 + DVec3::new(0.0, 0.1 * a.sin(), 0.1 * (a.cos() - 1.0));
        let report = step(&mut values, p);
        assert_eq!(report.status, PathStatus::OnPath, "{i} {report:?}");
        assert!(arm.tip(&values).0.distance(p) < 2e-6 && report.solve.iterations <= 4);
    }
    // A goal that jumps is followed at the joints' speeds.
    let p = start.0 + DVec3::new(-0.05, 0.1, -0.15);
    let mut frames = 0;
    loop {
        frames += 1;
        match step(&mut values, p).status {
            PathStatus::OnPath => break,
            other => assert_eq!(other, PathStatus::Behind),
        }
        assert!(frames < 100);
    }
    assert!(frames > 3);
    for _ in 0..100 {
        step(&mut values, start.0);
    }
    // Straight out of reach: behind as long as joints move, then off the path, without oscillation.
    let mut last = Vec::new();
    let mut states = Vec::new();
    for i in 0..600 {
        let p = start.0 + DVec3::new(1.0, 0.0, 0.3) * (f64::from(i) * 0.005).min(1.5);
        let report = step(&mut values, p);
        if states.last() != Some(&report.status) {
            states.push(report.status);
        }
        if i == 598 {
            last = values.clone();
        }
    }
    assert_eq!(states.first(), Some(&PathStatus::OnPath));
    assert_eq!(states.last(), Some(&PathStatus::OffPath));
    let moved = values.iter().zip(&last).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-4, "{moved}");
}

#[test]
fn a_follower_with_a_posture_does_not_drift() {
    let mut workspace = Workspace::new();
    let arm = Arm::seven();
    let m = &arm.mechanism;
    let start = vec![0.3, 0.4, 0.2, -1.5, 0.1, 1.2, 0.3];
    let pose = arm.tip(&start);
    let mut round = |objectives: &[Objective]| {
        let goal = |p| LinkGoal::new(m, arm.tip, LinkTarget::Pose(p, pose.1));
        let follower =
            PathFollower::new(m, &[goal(pose.0)], 1.0).unwrap().with_objectives(objectives).unwrap();
        let mut values = start.clone();
        let mut ends = Vec::new();
        for i in 0..=4000 {
            let a = f64::from(i) * core::f64::consts::TAU / 800.0;
            let p = pose.0 + DVec3::new(0.05 * a.sin(), 0.12 * a.sin(), 0.12 * (a.cos() - 1.0));
            let report =
                follower.step(&mut workspace, &[goal(p)], &mut values, 0.01, &PathOptions::new()).unwrap();
            assert_eq!(report.status, PathStatus::OnPath);
            if i % 800 == 0 {
                ends.push(values.clone());
            }
        }
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        // From the second round on, an arm with a posture repeats its poses.
        far(&ends[5], &ends[3])
    };
    let objectives = [Objective::new(ObjectiveKind::Posture(start.clone()))];
    let held = round(&objectives);
    assert!(held < 1e-3, "{held}");
}
