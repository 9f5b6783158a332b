//! Contenders, which solve the same chains for the same goals.

use common::Solving;
use na::{Point3, UnitQuaternion, Vector3};
use sinew::{
    Goal, Pose,
    glam::Vec3,
    solve::{FreeChain, IterativeOptions, Tolerance},
};

use crate::{cases::Case, judge::Local};

/// A solver under measurement.
pub trait Contender {
    fn name(&self) -> &'static str;
    /// Takes the case in; not timed.
    fn set(&mut self, case: &Case);
    /// Solves; timed. Gives the sweeps.
    fn solve(&mut self) -> u32;
    /// Local transforms of its answer.
    fn locals(&mut self) -> Vec<Local>;
}

fn local(offset: Vec3, q: [f32; 4]) -> Local {
    Local { offset: offset.to_array(), rotation: q }
}

pub fn locals(pose: &Pose) -> Vec<Local> {
    pose.locals().iter().map(|t| local(t.translation, t.rotation.to_array())).collect()
}

/// Ours, on a pose.
pub struct Free {
    solver: Solving,
    pose: Pose,
    goal: Goal,
}

impl Free {
    pub fn new(case: &Case, tolerance: f32) -> Self {
        let skeleton = case.pose.skeleton();
        let root = skeleton.joint_at(0).expect("a skeleton has a joint");
        let solver = FreeChain::new(skeleton, root, case.tip).expect("a row of joints is a chain");
        let options = IterativeOptions::new().with_position_tolerance(Tolerance::Share(tolerance));
        Self { solver: Solving::new(solver, options), pose: case.pose.clone(), goal: Goal::NONE }
    }
}

impl Contender for Free {
    fn name(&self) -> &'static str {
        "sinew auto"
    }

    fn set(&mut self, case: &Case) {
        self.pose.copy_from(&case.pose);
        self.goal = Goal::position(case.goal);
    }

    fn solve(&mut self) -> u32 {
        self.solver.solve(&mut self.pose, &self.goal).map_or(0, |r| r.iterations)
    }

    fn locals(&mut self) -> Vec<Local> {
        locals(&self.pose)
    }
}

/// rebirth-ik's FABRIK on its own skeleton, rotations written.
pub struct Rebirth {
    skeleton: rebirth_ik::Skeleton,
    solver: rebirth_ik::Fabrik,
    tip: rebirth_ik::NodeId,
}

impl Rebirth {
    pub fn new(case: &Case, tolerance: f32) -> Self {
        let mut skeleton = rebirth_ik::Skeleton::new();
        let v = |p: Vec3| rebirth_ik::Vec3::new(p.x, p.y, p.z);
        let mut tip = skeleton.add_root(rebirth_ik::Vec3::ZERO);
        for t in &case.pose.locals()[1..] {
            tip = skeleton.add_child(tip, v(t.translation));
        }
        skeleton.set_effector(tip, rebirth_ik::Effector::new(v(case.goal)));
        let config = rebirth_ik::Config {
            max_iterations: 1000,
            tolerance,
            joint_rotations: true,
            ..Default::default()
        };
        let solver = rebirth_ik::Fabrik::new(&skeleton, config);
        Self { skeleton, solver, tip }
    }
}

impl Contender for Rebirth {
    fn name(&self) -> &'static str {
        "rebirth-ik Fabrik"
    }

    fn set(&mut self, case: &Case) {
        let ids: Vec<_> = (0..self.skeleton.len()).map(|i| rebirth_ik::NodeId(i as u32)).collect();
        for (id, t) in ids.into_iter().zip(case.pose.locals()) {
            let node = self.skeleton.node_mut(id);
            node.position = rebirth_ik::Vec3::new(t.translation.x, t.translation.y, t.translation.z);
            node.rotation = rebirth_ik::Quat::new(t.rotation.x, t.rotation.y, t.rotation.z, t.rotation.w);
        }
        self.skeleton.set_target(self.tip, rebirth_ik::Vec3::new(case.goal.x, case.goal.y, case.goal.z));
    }

    fn solve(&mut self) -> u32 {
        self.solver.solve(&mut self.skeleton).iterations
    }

    fn locals(&mut self) -> Vec<Local> {
        let node = |n: &rebirth_ik::Node| {
            let (p, q) = (n.position, n.rotation);
            Local { offset: [p.x, p.y, p.z], rotation: [q.x, q.y, q.z, q.w] }
        };
        self.skeleton.nodes().iter().map(node).collect()
    }
}

/// skelly's solver of the same kind that keeps lengths; it steps, and says when it is done.
pub struct Skelly {
    skeleton: skelly::Skelly<f32>,
    posture: skelly::Posture<f32>,
    solver: skelly::ik::frik::FrikSolver<f32>,
    tip: usize,
    tolerance: f32,
}

impl Skelly {
    pub fn new(case: &Case, tolerance: f32) -> Self {
        let mut skeleton = skelly::Skelly::new();
        let mut tip = skeleton.add_root(Point3::origin());
        for t in &case.pose.locals()[1..] {
            tip = skeleton.attach(Vector3::new(t.translation.x, t.translation.y, t.translation.z), tip);
        }
        let posture = skelly::Posture::new(&skeleton);
        Self { skeleton, posture, solver: skelly::ik::frik::FrikSolver::new(tolerance), tip, tolerance }
    }
}

impl Contender for Skelly {
    fn name(&self) -> &'static str {
        "skelly Frik"
    }

    fn set(&mut self, case: &Case) {
        for (bone, t) in case.pose.locals().iter().enumerate() {
            let (p, q) = (t.translation, t.rotation);
            self.posture.set_position(bone, Vector3::new(p.x, p.y, p.z));
            let q = na::Quaternion::new(q.w, q.x, q.y, q.z);
            self.posture.set_orientation(bone, UnitQuaternion::new_unchecked(q));
        }
        self.solver = skelly::ik::frik::FrikSolver::new(self.tolerance);
        self.solver.set_position_goal(self.tip, Point3::new(case.goal.x, case.goal.y, case.goal.z));
    }

    fn solve(&mut self) -> u32 {
        // It may walk in circles; a hundred steps are ten times what ours takes in its worst case.
        for step in 0..100 {
            if let skelly::ik::StepResult::Solved = self.solver.solve_step(&self.skeleton, &mut self.posture)
            {
                return step;
            }
        }
        100
    }

    fn locals(&mut self) -> Vec<Local> {
        (0..self.skeleton.len())
            .map(|bone| {
                let (p, q) = (self.posture.get_position(bone), self.posture.get_orientation(bone));
                Local { offset: [p.x, p.y, p.z], rotation: [q.i, q.j, q.k, q.w] }
            })
            .collect()
    }
}
