//! Judges, by a counting allocator, that rigs allocate in their first frame only.

use std::sync::Arc;

use sinew::{
    Goal, JointTransform, Placement, Pose, Skeleton, Workspace,
    glam::Vec3,
    rig::{
        EffectorSpec, HandleSolver, HandleSpec, Rig, RigFrame, RigGoal, RigMatch, RigSpec, Space, StartFrom,
    },
};

#[test]
fn only_the_first_frame_allocates() {
    let mut b = Skeleton::builder();
    for n in 0..6 {
        let at = if n == 0 { Vec3::ZERO } else { Vec3::new(0.3, 0.0, -0.02 * (n % 2) as f32) };
        b.add(format!("{n}"), (n as usize).checked_sub(1), JointTransform::from_translation(at));
    }
    let (skeleton, ids) = b.build().unwrap();
    let rest = Pose::rest(&Arc::new(skeleton));
    for from in StartFrom::ALL.iter().copied() {
        let mut handles = Vec::new();
        for solver in HandleSolver::ALL.iter().copied() {
            let starts = match solver {
                HandleSolver::Twist => from != StartFrom::Last,
                HandleSolver::Place => from == StartFrom::Pose,
                _ => true,
            };
            if !starts {
                continue;
            }
            let mut spec =
                HandleSpec { solver, from, fade: 0.5, ..HandleSpec::new(solver.name(), ids[1], ids[4]) };
            match solver {
                HandleSolver::Aim | HandleSolver::Place => spec.tip = spec.root,
                HandleSolver::Foot => spec.foot.toes = Some(ids[5]),
                HandleSolver::FullBody | HandleSolver::Spline => {
                    spec.effectors = [1, 3, 5].map(|n| EffectorSpec::new(ids[n])).to_vec();
                }
                _ => {}
            }
            handles.push(spec);
        }
        let rig = Rig::new(&rest, None, &RigSpec::new(handles.clone())).unwrap();
        let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), rest.clone());
        let mut goals = vec![RigGoal::new(); rig.goal_count()];
        let mut read = goals.clone();
        let (mut solved, mut counted, mut turned) = (0, 0, 0);
        for frame in 0..30 {
            let t = 0.2 * frame as f32;
            let mut n = 0;
            for spec in &handles {
                for e in 0..spec.effectors.len().max(1) {
                    let joint = spec.effectors.get(e).map_or(spec.tip, |e| e.joint);
                    let to = rest.position(joint) + Vec3::new(-0.2, 0.2 * t.sin(), 0.2 * t.cos());
                    if spec.solver != HandleSolver::Twist {
                        let space = if frame % 2 == 0 { Space::Model } else { Space::Joint(ids[0]) };
                        goals[n] = RigGoal::from(Goal::position(to)).with_space(space);
                    }
                    n += 1;
                }
            }
            pose.copy_from(&rest);
            state.set_on(frame % 3, frame % 2 == 0);
            let mut step = || {
                let frame = RigFrame::new(1.0 / 60.0).with_goals(&goals);
                // Matches both ways leave residuals of all handles.
                let to = RigMatch::new(0.1);
                rig.match_goals(&mut state, &mut workspace, &mut pose, &frame, &mut read, &to).unwrap();
                rig.read(&pose, &Placement::IDENTITY, &mut read).unwrap();
                rig.match_pose(&mut state, &mut workspace, &mut pose, &frame, &to).unwrap();
                pose.copy_from(&rest);
                let report = rig.apply(&mut state, &mut workspace, &mut pose, &frame).unwrap();
                solved += report.handles.iter().filter(|h| !h.was_off()).count();
                turned += report.handles.iter().filter(|h| h.residual_turn > 0.0).count();
            };
            if frame == 0 { step() } else { counted += allocation_counter::measure(step).count_total }
        }
        assert_eq!(counted, 0, "{from}");
        assert!(solved > 25 * handles.len(), "{solved}");
        assert!(turned > 100, "{turned}");
    }
}
