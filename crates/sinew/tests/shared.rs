//! Judges chain solvers shared by threads, one workspace per thread for all of them, by the bits of solving alone.

use crate::common;

use std::sync::Arc;

use common::{column, noise};
use sinew::{
    Goal, Pole, Pose, Report, SolveError, Workspace,
    glam::{Quat, Vec3},
    joint::{Dof, Joint},
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Fabrik, Fold, Follow, FollowOptions, FreeChain,
        IterativeOptions, Lead, PointChain, PointChainOptions, Spline, SplineOptions, TwoBone,
        spline::{Curve, CurveKind, CurveUp},
    },
};

const CHARACTERS: usize = 1000;

/// Solves for one character, by its number.
type Solve = Box<dyn Fn(&mut Workspace, usize) -> (Vec<u32>, Result<Report, SolveError>) + Send + Sync>;

fn bits(pose: &Pose) -> Vec<u32> {
    let numbers = |t: &sinew::JointTransform| {
        let (q, p) = (t.rotation, t.translation);
        [q.x, q.y, q.z, q.w, p.x, p.y, p.z].map(f32::to_bits)
    };
    pose.locals().iter().flat_map(numbers).collect()
}

/// Returns the pose of a character, with its chain bent, and three numbers.
fn character(rest: &Pose, n: usize) -> (Pose, Vec3) {
    let mut r = noise(n as u64 + 1);
    let mut pose = rest.clone();
    for joint in rest.skeleton().joints() {
        let turn = Quat::from_euler(sinew::glam::EulerRot::XYZ, 0.2 * r(), 0.2 * r(), 0.2 * r());
        let limits = rest.skeleton().limits(joint);
        pose.set_rotation(joint, limits.clamp(pose.local(joint).rotation * turn));
    }
    pose.update();
    (pose, Vec3::new(r(), r(), r()))
}

fn chain(solver: impl ChainSolver + 'static, rest: &Pose) -> Solve {
    let rest = rest.clone();
    Box::new(move |workspace, n| {
        let (mut pose, place) = character(&rest, n);
        let mut goal = Goal::position(place).with_position_influence([1.0, 0.4][n % 2]);
        let free = solver.chain().joints().iter().all(|&j| *rest.skeleton().joint(j) == Joint::FREE);
        if n % 5 == 0 && free {
            goal = goal.with_rotation(Quat::from_rotation_z(place.x));
        }
        if n % 3 == 0 {
            goal = goal.with_pole(Pole::Direction(Vec3::Z)).with_swivel(place.y);
        }
        let options =
            IterativeOptions::new().with_max_turn([f32::INFINITY, 0.3][n / 2 % 2]).with_max_restarts(1);
        let report = solver.solve(workspace, &mut pose, &goal, &options);
        (bits(&pose), report)
    })
}

fn solvers() -> Vec<Solve> {
    let mut all: Vec<Solve> = Vec::new();
    for (bones, joint) in [
        (3, Joint::FREE),
        (10, Joint::FREE),
        (4, Joint::cone(Vec3::Y, 0.8, 0.5)),
        (7, Joint::hinge(Vec3::X, Dof::range(-1.0, 1.0))),
    ] {
        let (skeleton, ids) = column(bones, 1.0 / bones as f32, |_| joint);
        let (rest, root, tip) = (Pose::rest(&skeleton), ids[0], ids[bones]);
        all.push(chain(Auto::new(&skeleton, root, tip).unwrap(), &rest));
        all.push(chain(Ccd::new(&skeleton, root, tip).unwrap(), &rest));
        all.push(chain(Fabrik::new(&skeleton, root, tip).unwrap(), &rest));
        all.push(chain(Fold::new(&skeleton, root, tip).unwrap(), &rest));
        all.push(chain(DampedLeastSquares::new(&skeleton, root, tip).unwrap(), &rest));
        if joint == Joint::FREE {
            all.push(chain(FreeChain::new(&skeleton, root, tip).unwrap(), &rest));
            all.push(chain(TwoBone::new(&skeleton, root, ids[1], tip).unwrap(), &rest));
        }
        let (follow, start) = (Follow::new(&skeleton, root, tip).unwrap(), rest.clone());
        all.push(Box::new(move |workspace, n| {
            let (mut pose, place) = character(&start, n);
            let options = FollowOptions::new().with_lead([Lead::Tip, Lead::Root][n % 2]);
            let report = follow.solve(workspace, &mut pose, place, &options);
            (bits(&pose), report)
        }));
        let (spline, start) = (Spline::new(&skeleton, root, tip).unwrap(), rest.clone());
        all.push(Box::new(move |workspace, n| {
            let (mut pose, place) = character(&start, n);
            let points = [Vec3::ZERO, place, Vec3::Y, 2.0 * Vec3::X];
            let curve =
                Curve::new(CurveKind::CatmullRom, &points, false, CurveUp::Direction(Vec3::Z)).unwrap();
            let options = SplineOptions::new().with_reversed(n % 2 == 0);
            let report = spline.solve(workspace, &mut pose, &curve, &options);
            (bits(&pose), report.map(|r| r.report))
        }));
        let points: Vec<Vec3> = ids.iter().map(|&j| rest.position(j)).collect();
        let rope = PointChain::new(&points).unwrap();
        all.push(Box::new(move |workspace, n| {
            let (mut points, (_, place)) = (points.clone(), character(&rest, n));
            let report = rope.solve(workspace, &mut points, place, &PointChainOptions::new());
            (points.iter().flat_map(|p| p.to_array().map(f32::to_bits)).collect(), report)
        }));
    }
    all
}

#[test]
fn shared_solvers_and_used_workspaces_give_the_bits_of_solving_alone() {
    let solvers = Arc::new(solvers());
    let alone: Vec<_> = (0..CHARACTERS)
        .map(|n| {
            let solve = &solvers[n % solvers.len()];
            let result = solve(&mut Workspace::new(), n);
            assert!(result.1.is_ok(), "{n}: {:?}", result.1);
            result
        })
        .collect();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (solvers, alone) = (&solvers, &alone);
            scope.spawn(move || {
                let mut workspace = Workspace::new();
                // Each thread has an order of its own.
                for i in 0..CHARACTERS {
                    let n = (i * [1, 3, 7, 9, 11, 13, 17, 19][thread] + 31 * thread) % CHARACTERS;
                    assert_eq!(solvers[n % solvers.len()](&mut workspace, n), alone[n], "character {n}");
                }
            });
        }
    });
}
