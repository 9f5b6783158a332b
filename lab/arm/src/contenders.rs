//! Contenders: Sinew, and `k` with restarts.

use glam::{DQuat, DVec3};
use k::{InverseKinematicsSolver, JacobianIkSolver, SerialChain, nalgebra};
use sinew::{
    Workspace,
    mechanism::{JointSpaceOptions, JointSpaceSolver, LinkGoal, LinkTarget},
};

use crate::{
    chains::Chain,
    random::Random,
    task::{Task, range},
};

/// Answer of a solver: values for the whole mechanism, and its report.
pub struct Answer {
    pub values: Vec<f64>,
    pub claims: bool,
    pub iterations: u32,
    pub restarts: u32,
}

pub trait Contender {
    fn solve(&mut self, task: &Task) -> Answer;
}

pub struct Ours {
    solver: JointSpaceSolver,
    workspace: Workspace,
    options: JointSpaceOptions,
    goal: LinkGoal,
}

/// A hair below what the judge allows, as two kernels round differently.
pub const TOLERANCE: f64 = 1e-5 * (1.0 - 1e-6);

/// Of all our solves.
pub fn options() -> JointSpaceOptions {
    JointSpaceOptions::new().with_position_tolerance(TOLERANCE).with_rotation_tolerance(TOLERANCE)
}

impl Ours {
    pub fn new(chain: &Chain) -> Result<Self, sinew::mechanism::JointSpaceError> {
        let target = LinkTarget::Pose(DVec3::ZERO, DQuat::IDENTITY);
        let goal = LinkGoal::new(&chain.mechanism, chain.tip, target).with_relative_to(chain.root);
        let solver = JointSpaceSolver::new(&chain.mechanism, &[goal])?;
        let mut workspace = Workspace::new();
        solver.reserve(&mut workspace);
        Ok(Self { solver, workspace, options: options(), goal })
    }
}

impl Contender for Ours {
    fn solve(&mut self, task: &Task) -> Answer {
        let target = LinkTarget::Pose(DVec3::from_array(task.goal.p), DQuat::from_array(task.goal.q));
        let goal = self.goal.with_target(target);
        let mut values = task.start.clone();
        match self.solver.solve(&mut self.workspace, &[goal], &mut values, &self.options) {
            Ok(r) => Answer { values, claims: r.reached(), iterations: r.iterations, restarts: r.restarts },
            Err(e) => panic!("{e}"),
        }
    }
}

/// `k`, from the start, then from random places within limits. Of whole, half and quarter steps with 20 to 100 tries each,
/// whole steps with 20 are the fastest for it on most chains.
pub struct Peer {
    chain: SerialChain<f64>,
    solver: JacobianIkSolver<f64>,
    /// Index of each of the peer's joints among the mechanism's degrees of freedom, and its range.
    joints: Vec<(usize, (f64, f64))>,
    random: Random,
}

/// More restarts than any of our chains needs.
const RESTARTS: u32 = 400;

impl Peer {
    pub fn new(chain: &Chain) -> Option<Self> {
        let all = k::Chain::<f64>::from_urdf_file(&chain.file).ok()?;
        let name = |l| chain.mechanism.link_name(l);
        let end = all.find_link(name(chain.tip))?;
        let root = all.find_link(name(chain.root))?;
        // The joint that carries the root link is no part of the chain.
        let mut first = end.clone();
        while let Some(parent) = first.parent().filter(|p| p != root) {
            first = parent;
        }
        let serial = SerialChain::from_end_to_root(end, &first);
        let mut joints = Vec::new();
        for joint in serial.iter_joints() {
            let dof = chain.mechanism.find_dof(&joint.name)?;
            joints.push((dof, range(&chain.mechanism.dofs()[dof])));
        }
        let solver = JacobianIkSolver::new(TOLERANCE, TOLERANCE, 1.0, 20);
        Some(Self { chain: serial, solver, joints, random: Random(99) })
    }

    fn put(&self, values: &[f64]) {
        let own: Vec<f64> = self.joints.iter().map(|j| values[j.0]).collect();
        self.chain.set_joint_positions_clamped(&own);
    }

    /// The goal as the peer's own kinematics sees it, so that no difference of frames counts against it.
    pub fn goal(&self, task: &Task) -> nalgebra::Isometry3<f64> {
        self.put(&task.solution);
        self.chain.update_transforms();
        self.chain.end_transform()
    }

    pub fn solve(&mut self, task: &Task, goal: &nalgebra::Isometry3<f64>) -> Answer {
        // The same places each time, so that it can be timed as often as ours.
        self.random = Random(99);
        self.put(&task.start);
        let dofs = self.joints.len();
        let mut own = vec![0.0; dofs];
        let mut restarts = 0;
        let constraints = match dofs < 6 {
            // A solver for fewer joints than directions must be told which to leave: SCARA cannot tilt.
            true => k::Constraints { rotation_x: false, rotation_y: false, ..k::Constraints::default() },
            false => k::Constraints::default(),
        };
        let claims = loop {
            if self.solver.solve_with_constraints(&self.chain, goal, &constraints).is_ok() {
                break true;
            }
            if restarts == RESTARTS {
                break false;
            }
            restarts += 1;
            for (v, (_, (low, high))) in own.iter_mut().zip(&self.joints) {
                *v = self.random.within(*low, *high);
            }
            self.chain.set_joint_positions_clamped(&own);
        };
        let mut values = task.start.clone();
        for ((dof, _), v) in self.joints.iter().zip(self.chain.joint_positions()) {
            values[*dof] = v;
        }
        Answer { values, claims, iterations: 0, restarts }
    }
}
