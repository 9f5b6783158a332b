//! Solving in joint space allocates nothing.

mod arms;

use arms::{Arm, Random};
use sinew::mechanism::{Follower, Goal, Secondary, Settings, Solver, Target, Wish};

#[test]
fn solves_allocate_nothing() {
    for arm in [Arm::seven(), Arm::sliding(), Arm::snake()] {
        let mut random = Random(1);
        let pose = arm.tip(&arm.draw(&mut random));
        let hand = Goal::new(&arm.mechanism, arm.tip, Target::Pose(pose.0, pose.1));
        let elbow =
            Goal::new(&arm.mechanism, arm.mechanism.find_link("l4").unwrap(), Target::Position(pose.0));
        for goals in [&[hand][..], &[hand, elbow]] {
            let mut solver = Solver::new(&arm.mechanism, goals, Settings::default()).unwrap();
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
        let goals = [hand, elbow.at_priority(1)];
        let wishes =
            [Secondary::OffLimits, Secondary::Manipulability(0), Secondary::Posture(arm.mechanism.rest())]
                .map(|what| Wish { what, weight: 1.0 });
        let mut solver = Solver::with_wishes(&arm.mechanism, &goals, Settings::default(), &wishes).unwrap();
        let mut follower = Follower::new(&arm.mechanism, &goals, Settings::default(), 1.0, &wishes).unwrap();
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
        mechanism::{JointSpec, Mechanism, Motion},
    };
    let mut b = Mechanism::builder("balls");
    b.link("l0");
    for i in 0..4 {
        b.link(format!("l{}", i + 1));
        let motion = match i {
            0 => Motion::Spherical,
            _ => Motion::Ball {
                twist_axis: DVec3::Z,
                swing_axis: DVec3::X,
                swing: [(-0.5, 0.8), (-0.6, 0.3)],
                twist: (-0.5, 0.5),
            },
        };
        let spec = JointSpec::new(format!("j{i}"), format!("l{i}"), format!("l{}", i + 1), motion);
        b.joint(JointSpec { translation: DVec3::Z * 0.3, ..spec });
    }
    let m = b.build().unwrap();
    let tip = m.find_link("l4").unwrap();
    // Within reach, and out of it.
    for z in [0.7, 3.0] {
        let goal = Goal::new(&m, tip, Target::Position(DVec3::new(0.3, 0.2, z)));
        let wishes = [Wish { what: Secondary::OffLimits, weight: 1.0 }];
        let mut solver = Solver::with_wishes(&m, &[goal], Settings::default(), &wishes).unwrap();
        let mut follower = Follower::new(&m, &[goal], Settings::default(), 1.0, &wishes).unwrap();
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
