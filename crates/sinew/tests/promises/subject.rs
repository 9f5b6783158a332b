//! The interface of a solver under test.

use sinew::{JointId, Pose, Report, SolveError, glam::Vec3};

use crate::promises::rig;

/// A solver under test: a chain in a rig, asked to bring something to a place in model space.
pub trait Subject {
    /// Sets the solver up on a rig.
    fn new(rig: &rig::Rig) -> Self;

    /// Solves for a goal, with a weight.
    fn solve(&self, pose: &mut Pose, goal: Vec3, weight: f32) -> Result<Report, SolveError>;

    /// The joints that it may turn. All others must keep their bits.
    fn turning(&self) -> Vec<JointId>;

    /// Distance of the pose from the goal, in metres, by the judge's kinematics.
    fn objective(&self, pose: &Pose, goal: Vec3) -> f64;

    /// A goal that the pose already meets in everything that is asked for.
    fn met(&self, pose: &Pose) -> Option<Vec3>;

    /// Whether what is left after a solve is all that was asked for, so that solving again must change nothing.
    fn settles(&self, _pose: &Pose, _goal: Vec3) -> bool {
        true
    }

    /// Whether the goal can be met exactly, and if not, by how much it cannot, from lengths alone (f64).
    fn out_of_reach(&self, pose: &Pose, goal: Vec3) -> f64;
}
