//! Solving in joint space allocates nothing.

mod arms;

use arms::{Arm, Random};
use sinew::joint::Joint;
use sinew::mechanism::{
    JointSpaceOptions, JointSpaceSolver, LinkGoal, LinkTarget, Objective, ObjectiveKind, PathFollower,
};

#[test]
fn solves_allocate_nothing() {
    for arm in [Arm::seven(), Arm::sliding(), Arm::snake()] {
        let mut random = Random(1);
        let pose = arm.tip(&arm.draw(&mut random));
        let hand = LinkGoal::new(&arm.mechanism, arm.tip, LinkTarget::Pose(pose.0, pose.1));
        let elbow = LinkGoal::new(
            &arm.mechanism,
            arm.mechanism.find_link("l4").unwrap(),
            LinkTarget::Position(pose.0),
        );
        for goals in [&[hand][..], &[hand, elbow]] {
            let mut solver =
                JointSpaceSolver::new(&arm.mechanism, goals, JointSpaceOptions::default()).unwrap();
            let starts: Vec<Vec<f64>> = (0..10).map(|_| arm.draw(&mut random)).collect();
            let mut values = starts[0].clone();
            let info = allocation_counter::measure(|| {
                for start in &starts {
                    values.copy_from_slice(start);
                    let _ = solver.solve(goals, &mut values);
                }
            });
            assert_eq!(info.count_total, 0);
        }
        // A second priority, wishes, and steps along a path.
        let goals = [hand, elbow.with_priority(1)];
        let objectives = [
            ObjectiveKind::OffLimits,
            ObjectiveKind::Manipulability(0),
            ObjectiveKind::Posture(arm.mechanism.rest()),
        ]
        .map(|what| Objective { kind: what, weight: 1.0 });
        let mut solver = JointSpaceSolver::with_objectives(
            &arm.mechanism,
            &goals,
            JointSpaceOptions::default(),
            &objectives,
        )
        .unwrap();
        let mut follower =
            PathFollower::new(&arm.mechanism, &goals, JointSpaceOptions::default(), 1.0, &objectives)
                .unwrap();
        let mut values = arm.draw(&mut random);
        let info = allocation_counter::measure(|| {
            let _ = solver.solve(&goals, &mut values);
            let _ = follower.step(&goals, &mut values, 0.01);
        });
        assert_eq!(info.count_total, 0);
    }
}

#[test]
fn solves_of_balls_allocate_nothing() {
    use sinew::{
        glam::DVec3,
        mechanism::{JointSpec, Mechanism},
    };
    let mut b = Mechanism::builder("balls");
    b.link("l0");
    for i in 0..4 {
        b.link(format!("l{}", i + 1));
        let motion = match i {
            0 => Joint::FREE,
            _ => Joint::ball(DVec3::Z, DVec3::X, [(-0.5, 0.8), (-0.6, 0.3)], (-0.5, 0.5)),
        };
        let spec = JointSpec::new(format!("j{i}"), format!("l{i}"), format!("l{}", i + 1), motion);
        b.joint(JointSpec { translation: DVec3::Z * 0.3, ..spec });
    }
    let m = b.build().unwrap();
    let tip = m.find_link("l4").unwrap();
    // Within reach, and out of it.
    for z in [0.7, 3.0] {
        let goal = LinkGoal::new(&m, tip, LinkTarget::Position(DVec3::new(0.3, 0.2, z)));
        let objectives = [Objective { kind: ObjectiveKind::OffLimits, weight: 1.0 }];
        let mut solver =
            JointSpaceSolver::with_objectives(&m, &[goal], JointSpaceOptions::default(), &objectives)
                .unwrap();
        let mut follower =
            PathFollower::new(&m, &[goal], JointSpaceOptions::default(), 1.0, &objectives).unwrap();
        let mut values = m.rest();
        values[4] = 2.0;
        let info = allocation_counter::measure(|| {
            follower.step(&[goal], &mut values, 0.01).unwrap();
            solver.solve(&[goal], &mut values).unwrap();
        });
        assert_eq!(info.count_total, 0);
        assert!(m.is_within(&values), "{values:?}");
    }
}
