//! Chains of free joints, in a pose.

use sinew::{
    Goal, JointId, Pose, Report, SolveError,
    glam::Vec3,
    solve::{FreeChain, Tolerance},
};

use crate::promises::{
    held::{Held, held},
    judge,
    rig::Rig,
    subject::Subject,
};

pub struct Free {
    solver: Held<FreeChain>,
}

impl Free {
    /// The joints' places, in f64.
    fn places(&self, pose: &Pose) -> Vec<judge::V> {
        self.solver.chain().joints().iter().map(|&j| judge::position(pose, j)).collect()
    }
}

impl Subject for Free {
    fn new(rig: &Rig) -> Self {
        let mut solver = held(FreeChain::new(rig.pose.skeleton(), rig.root, rig.tip).unwrap());
        solver.options.position_tolerance = Tolerance::Share(f32::MIN_POSITIVE);
        Self { solver }
    }

    fn solve(&self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError> {
        let mut solver = self.solver.clone();
        solver.options.influence = weight;
        solver.solve(pose, &Goal::position(goal))
    }

    fn turning(&self) -> Vec<JointId> {
        let joints = self.solver.chain().joints();
        joints[..joints.len() - 1].to_vec()
    }

    fn objective(&self, pose: &Pose, goal: Vec3) -> f64 {
        judge::length(judge::sub(judge::position(pose, self.solver.chain().tip()), judge::v(goal)))
    }

    fn met(&self, pose: &Pose) -> Option<Vec3> {
        Some(pose.position(self.solver.chain().tip()))
    }

    fn out_of_reach(&self, pose: &Pose, goal: Vec3) -> f64 {
        let places = self.places(pose);
        let bones: Vec<f64> = places.windows(2).map(|w| judge::length(judge::sub(w[1], w[0]))).collect();
        let (total, longest) = (bones.iter().sum::<f64>(), bones.iter().copied().fold(0.0, f64::max));
        let x = judge::length(judge::sub(judge::v(goal), places[0]));
        (x - total).max(2.0 * longest - total - x).max(0.0)
    }
}
