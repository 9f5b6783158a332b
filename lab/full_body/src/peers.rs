//! Peers on the same figures, starts and goals.
//!
//! Both move points and take several effectors. Neither has a free root, or goals of position and rotation that share a
//! chain with others. They therefore run on the figure with a pinned root and no limits. `Judged by rotations` is the result
//! on a skinned rig: the peer's rotations, on the offsets of the input pose.

use std::time::Instant;

use na::{Point3, UnitQuaternion, Vector3};
use sinew::{
    JointId, Pose,
    glam::{Quat, Vec3},
};

use crate::{
    cases::{Case, Row},
    judge,
};

/// Answer of a peer.
struct Left {
    /// The pose with its rotations, offsets as they came in.
    pose: Pose,
    /// Where it says that the joints are, in the order of the joints.
    places: Vec<Vec3>,
}

trait Peer {
    fn name(&self) -> &'static str;
    /// Takes a case in; not timed.
    fn set(&mut self, case: &Case);
    /// Solves; timed.
    fn solve(&mut self);
    fn left(&mut self, case: &Case) -> Left;
}

/// rebirth-ik's FABRIK for trees, rotations written.
struct Rebirth {
    skeleton: rebirth_ik::Skeleton,
    solver: rebirth_ik::Fabrik,
    ends: Vec<rebirth_ik::NodeId>,
}

impl Rebirth {
    fn new(row: &Row) -> Self {
        let v = |p: Vec3| rebirth_ik::Vec3::new(p.x, p.y, p.z);
        let case = &row.cases[0];
        let figure = case.start.skeleton();
        let mut skeleton = rebirth_ik::Skeleton::new();
        let mut ids: Vec<rebirth_ik::NodeId> = Vec::new();
        for joint in figure.joints() {
            let offset = v(case.start.local(joint).translation);
            ids.push(match figure.parent(joint) {
                None => skeleton.add_root(offset),
                Some(parent) => skeleton.add_child(ids[parent.index()], offset),
            });
        }
        let ends: Vec<_> = row.full_body.effectors().iter().map(|tip| ids[tip.joint.index()]).collect();
        for (&end, goal) in ends.iter().zip(&case.goals) {
            let at = v(goal.position.expect("a goal of place"));
            skeleton.set_effector(end, rebirth_ik::Effector::new(at));
        }
        let config = rebirth_ik::Config {
            max_iterations: 1000,
            tolerance: row.near.0 as f32,
            joint_rotations: true,
            ..Default::default()
        };
        let solver = rebirth_ik::Fabrik::new(&skeleton, config);
        Self { skeleton, solver, ends }
    }
}

impl Peer for Rebirth {
    fn name(&self) -> &'static str {
        "rebirth-ik Fabrik"
    }

    fn set(&mut self, case: &Case) {
        for (i, t) in case.start.locals().iter().enumerate() {
            let node = self.skeleton.node_mut(rebirth_ik::NodeId(i as u32));
            node.position = rebirth_ik::Vec3::new(t.translation.x, t.translation.y, t.translation.z);
            node.rotation = rebirth_ik::Quat::new(t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w);
        }
        for (&end, goal) in self.ends.iter().zip(&case.goals) {
            let at = goal.position.expect("a goal of place");
            self.skeleton.set_target(end, rebirth_ik::Vec3::new(at.x, at.y, at.z));
        }
    }

    fn solve(&mut self) {
        self.solver.solve(&mut self.skeleton);
    }

    fn left(&mut self, case: &Case) -> Left {
        let mut pose = case.start.clone();
        let joints: Vec<JointId> = pose.skeleton().joints().collect();
        for (&joint, node) in joints.iter().zip(self.skeleton.nodes()) {
            let q = node.rotation;
            pose.set_rotation(joint, Quat::from_xyzw(q.x, q.y, q.z, q.w));
        }
        let place = |i: usize| {
            let p = self.skeleton.global_position(rebirth_ik::NodeId(i as u32));
            Vec3::new(p.x, p.y, p.z)
        };
        Left { pose, places: (0..joints.len()).map(place).collect() }
    }
}

/// skelly's solver that keeps lengths; it steps, and says when it is done.
struct Skelly {
    skeleton: skelly::Skelly<f32>,
    posture: skelly::Posture<f32>,
    solver: skelly::ik::frik::FrikSolver<f32>,
    ends: Vec<usize>,
    tolerance: f32,
}

impl Skelly {
    fn new(row: &Row) -> Self {
        let case = &row.cases[0];
        let figure = case.start.skeleton();
        let mut skeleton = skelly::Skelly::new();
        let mut ids: Vec<usize> = Vec::new();
        for joint in figure.joints() {
            let p = case.start.local(joint).translation;
            ids.push(match figure.parent(joint) {
                None => skeleton.add_root(Point3::new(p.x, p.y, p.z)),
                Some(parent) => skeleton.attach(Vector3::new(p.x, p.y, p.z), ids[parent.index()]),
            });
        }
        let ends = row.full_body.effectors().iter().map(|tip| ids[tip.joint.index()]).collect();
        let (posture, tolerance) = (skelly::Posture::new(&skeleton), row.near.0 as f32);
        Self { skeleton, posture, solver: skelly::ik::frik::FrikSolver::new(tolerance), ends, tolerance }
    }
}

impl Peer for Skelly {
    fn name(&self) -> &'static str {
        "skelly Frik"
    }

    fn set(&mut self, case: &Case) {
        for (bone, t) in case.start.locals().iter().enumerate() {
            let (p, q) = (t.translation, t.rotation);
            self.posture.set_position(bone, Vector3::new(p.x, p.y, p.z));
            let q = na::Quaternion::new(q.w, q.x, q.y, q.z);
            self.posture.set_orientation(bone, UnitQuaternion::new_unchecked(q));
        }
        self.solver = skelly::ik::frik::FrikSolver::new(self.tolerance);
        for (&end, goal) in self.ends.iter().zip(&case.goals) {
            let at = goal.position.expect("a goal of place");
            self.solver.set_position_goal(end, Point3::new(at.x, at.y, at.z));
        }
    }

    fn solve(&mut self) {
        // It may walk in circles; a hundred steps are over ten times ours.
        for _ in 0..100 {
            if let skelly::ik::StepResult::Solved = self.solver.solve_step(&self.skeleton, &mut self.posture)
            {
                return;
            }
        }
    }

    fn left(&mut self, case: &Case) -> Left {
        let (mut pose, mut own) = (case.start.clone(), case.start.clone());
        for (bone, joint) in case.start.skeleton().joints().enumerate() {
            let (p, q) = (self.posture.get_position(bone), self.posture.get_orientation(bone));
            let q = Quat::from_xyzw(q.i, q.j, q.k, q.w);
            pose.set_rotation(joint, q);
            own.set_rotation(joint, q);
            own.set_position(joint, Vec3::new(p.x, p.y, p.z));
        }
        own.update();
        Left { pose, places: own.skeleton().joints().map(|j| own.position(j)).collect() }
    }
}

/// Runs the peers on a row and prints what they do, beside our median in microseconds.
pub fn print(row: &Row, ours: f64) {
    let mut peers: [Box<dyn Peer>; 2] = [Box::new(Rebirth::new(row)), Box::new(Skelly::new(row))];
    for peer in &mut peers {
        let (mut times, mut misses) = (Vec::new(), Vec::new());
        let (mut by_points, mut by_rotations, mut torn) = (0, 0, 0.0f64);
        for case in &row.cases {
            // The shortest of three, as ours is the shortest of some.
            let mut shortest = f64::INFINITY;
            for _ in 0..3 {
                peer.set(case);
                let begin = Instant::now();
                peer.solve();
                shortest = shortest.min(begin.elapsed().as_secs_f64() * 1e6);
            }
            times.push(shortest);
            let mut left = peer.left(case);
            left.pose.update();
            let off = |place: &dyn Fn(JointId) -> judge::V| {
                let one = |(tip, goal): (&sinew::solve::Effector, &sinew::Goal)| {
                    let at = judge::v(goal.position.expect("a goal of place"));
                    judge::length(judge::sub(place(tip.joint), at))
                };
                row.full_body.effectors().iter().zip(&case.goals).map(one).fold(0.0, f64::max)
            };
            let points = off(&|j| judge::v(left.places[j.index()]));
            let rotations = off(&|j| judge::place(&left.pose, j));
            by_points += usize::from(points <= row.near.0);
            by_rotations += usize::from(rotations <= row.near.0);
            misses.push(rotations);
            for joint in case.start.skeleton().joints() {
                if let Some(parent) = case.start.skeleton().parent(joint) {
                    let bone = left.places[joint.index()].distance(left.places[parent.index()]);
                    let own = case.start.local(joint).translation.length();
                    torn = torn.max(f64::from((bone - own).abs()));
                }
            }
        }
        times.sort_by(f64::total_cmp);
        misses.sort_by(f64::total_cmp);
        let n = times.len();
        println!(
            "  {:18} solved {:6.2} % by its points, {:6.2} % by its rotations (off by {:.3} m in the median)   bones longer or shorter by up to {:.0e} m   median {:8.1} us, p99 {:8.1}   {:.2} x ours",
            peer.name(),
            100.0 * by_points as f64 / n as f64,
            100.0 * by_rotations as f64 / n as f64,
            misses[n / 2],
            torn,
            times[n / 2],
            times[n * 99 / 100],
            times[n / 2] / ours
        );
    }
}
