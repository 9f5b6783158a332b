//! Judges, by a counting allocator, that joint space allocates a workspace once and nothing else.

use crate::arms;

use arms::{Arm, Random};
use sinew::{
    Workspace,
    glam::DVec3,
    joint::Joint,
    mechanism::{
        History, JointSpaceOptions, JointSpaceSolver, JointSpec, LinkGoal, LinkTarget, Mechanism, Objective,
        ObjectiveKind, PathFollower, PathOptions,
    },
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
            let solver = JointSpaceSolver::new(&arm.mechanism, goals).unwrap();
            let mut workspace = Workspace::new();
            solver.reserve(&mut workspace);
            let starts: Vec<Vec<f64>> = (0..10).map(|_| arm.draw(&mut random)).collect();
            let mut values = starts[0].clone();
            let info = allocation_counter::measure(|| {
                for start in &starts {
                    values.copy_from_slice(start);
                    let _ = solver.solve(&mut workspace, goals, &mut values, &JointSpaceOptions::new());
                }
            });
            assert_eq!(info.count_total, 0);
        }
        // A second priority, objectives, and steps along a path.
        let goals = [hand, elbow.with_priority(1)];
        let objectives = [
            ObjectiveKind::OffLimits,
            ObjectiveKind::Manipulability(0),
            ObjectiveKind::Posture(arm.mechanism.rest()),
        ]
        .map(Objective::new);
        let solver =
            JointSpaceSolver::new(&arm.mechanism, &goals).unwrap().with_objectives(&objectives).unwrap();
        let follower =
            PathFollower::new(&arm.mechanism, &goals, 1.0).unwrap().with_objectives(&objectives).unwrap();
        let mut workspace = Workspace::new();
        solver.reserve(&mut workspace);
        let mut values = arm.draw(&mut random);
        let info = allocation_counter::measure(|| {
            let _ = solver.solve(&mut workspace, &goals, &mut values, &JointSpaceOptions::new());
            let _ = follower.step(&mut workspace, &goals, &mut values, 0.01, &PathOptions::new());
        });
        assert_eq!(info.count_total, 0);
    }
}

/// A free joint and three balls.
fn balls() -> Mechanism {
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
    b.build().unwrap()
}

#[test]
fn solves_of_balls_allocate_nothing() {
    let m = balls();
    let tip = m.find_link("l4").unwrap();
    // In reach, and out of it.
    for z in [0.7, 3.0] {
        let goal = LinkGoal::new(&m, tip, LinkTarget::Position(DVec3::new(0.3, 0.2, z)));
        let objectives = [Objective::new(ObjectiveKind::OffLimits)];
        let solver = JointSpaceSolver::new(&m, &[goal]).unwrap().with_objectives(&objectives).unwrap();
        let follower = PathFollower::new(&m, &[goal], 1.0).unwrap().with_objectives(&objectives).unwrap();
        let mut workspace = Workspace::new();
        follower.reserve(&mut workspace);
        let mut values = m.rest();
        values[4] = 2.0;
        let info = allocation_counter::measure(|| {
            follower.step(&mut workspace, &[goal], &mut values, 0.01, &PathOptions::new()).unwrap();
            solver.solve(&mut workspace, &[goal], &mut values, &JointSpaceOptions::new()).unwrap();
        });
        assert_eq!(info.count_total, 0);
        assert!(m.is_within(&values), "{values:?}");
    }
}

/// Solvers of all sizes and kinds alternate in one workspace. None allocates after its first solve, and each gives the bits
/// that it gives in a workspace of its own.
#[test]
fn solvers_that_share_a_workspace_allocate_nothing_and_give_the_bits_of_solving_alone() {
    let (arms, balls) = ([Arm::seven(), Arm::planar(2, 0.5, 2.0), Arm::snake(), Arm::sliding()], balls());
    let objectives = [ObjectiveKind::OffLimits, ObjectiveKind::Manipulability(0)];
    let objectives = objectives.map(Objective::new);
    let mut random = Random(3);
    let mut draw = |m: &Mechanism| -> Vec<f64> {
        let within = |range: sinew::joint::Range, r: f64| match range.min.is_finite() && range.max.is_finite()
        {
            true => range.min + (range.max - range.min) * r,
            false => 2.0 * r - 1.0,
        };
        let mut values: Vec<f64> = m.dofs().iter().map(|d| within(d.dof.range, random.next())).collect();
        m.clamp(&mut values).unwrap();
        values
    };
    let mut cases: Vec<(JointSpaceSolver, PathFollower, Vec<LinkGoal>, Vec<f64>)> = Vec::new();
    for m in arms.iter().map(|arm| &arm.mechanism).chain([&balls]) {
        let links: Vec<_> = m.links().collect();
        let tip = links[links.len() - 1];
        let mut frames = sinew::mechanism::LinkFrames::new(m);
        m.forward_kinematics(&draw(m), &mut frames).unwrap();
        let (p, q) = sinew::mechanism::position_and_rotation(&m.link_transform(&frames, tip));
        let hand = LinkGoal::new(m, tip, LinkTarget::Pose(p, q));
        let elbow = LinkGoal::new(m, links[2], LinkTarget::Position(p));
        // In reach, out of reach, two goals, two priorities; with objectives and without.
        let far = hand.with_target(LinkTarget::Position(DVec3::X * 9.0));
        for goals in [vec![hand], vec![far], vec![hand, elbow], vec![hand, elbow.with_priority(1)]] {
            for objectives in [&[][..], &objectives] {
                let solver = JointSpaceSolver::new(m, &goals).unwrap().with_objectives(objectives).unwrap();
                let follower = PathFollower::new(m, &goals, 1.0).unwrap();
                let follower = follower.with_objectives(objectives).unwrap();
                cases.push((solver, follower, goals.clone(), draw(m)));
            }
        }
    }
    let options = JointSpaceOptions::new().with_max_iterations(300).with_max_restarts(6);
    let without = options.with_history(History::None);
    let steps = PathOptions::new();
    let solve = |workspace: &mut Workspace, n: usize, values: &mut [[f64; 24]; 3]| {
        let (solver, follower, goals, start) = &cases[n];
        let count = start.len();
        values.iter_mut().for_each(|v| v[..count].copy_from_slice(start));
        let [a, b, c] = values;
        let step = follower.step(workspace, goals, &mut a[..count], 0.3, &steps).unwrap();
        let first = solver.solve(workspace, goals, &mut b[..count], &options).unwrap();
        (step, first, solver.solve(workspace, goals, &mut c[..count], &without).unwrap())
    };
    let alone: Vec<_> = (0..cases.len())
        .map(|n| {
            let mut values = [[0.0; 24]; 3];
            (solve(&mut Workspace::new(), n, &mut values), values.map(|v| v.map(f64::to_bits)))
        })
        .collect();
    let mut shared = Workspace::new();
    for round in 0..3 {
        for k in 0..cases.len() {
            // Other neighbours in each round.
            let n = k * [1, 7, 11][round] % cases.len();
            let mut values = [[0.0; 24]; 3];
            let mut report = None;
            let info = allocation_counter::measure(|| report = Some(solve(&mut shared, n, &mut values)));
            assert!(round == 0 || info.count_total == 0, "case {n}: {} allocations", info.count_total);
            let (report, values) = (report.unwrap(), values.map(|v| v.map(f64::to_bits)));
            assert_eq!((report, values), alone[n], "case {n} in round {round}");
        }
    }
}
