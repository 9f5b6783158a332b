//! Solving arms from URDF in joint space.

use std::time::Instant;

use glam::{DQuat, DVec3};
use sinew::{
    Workspace,
    mechanism::{JointSpaceOptions, JointSpaceSolver, LinkGoal, LinkId, LinkTarget, Mechanism},
};
use sinew_files::shorten;

use super::{
    Backend, Worker,
    answer::{Answer, JointAnswer, Status},
    request::{GoalRequest, Request},
};
use crate::{
    failure::Failure,
    lookup::{ends, link, quoted, suggestion},
};

/// An arm with the chain and options that all lines share.
pub struct Arm {
    mechanism: Mechanism,
    /// Link in whose space goals are.
    root: LinkId,
    /// Link of goals that name none, or the reason why there is no default.
    tip: Result<LinkId, String>,
    options: JointSpaceOptions,
    seed: u64,
}

/// Values of all joints: the named ones as given, the others at rest. In radians or metres.
pub fn start(mechanism: &Mechanism, named: &[(String, f64)]) -> Result<Vec<f64>, String> {
    let mut values = mechanism.rest();
    for (name, value) in named {
        let dof = mechanism.find_dof(name).ok_or_else(|| {
            let names = mechanism.dofs().iter().map(|d| d.name.as_str());
            format!("no joint {}; {}", quoted(name), suggestion(name, names, "joint"))
        })?;
        values[dof] = *value;
    }
    Ok(values)
}

impl Arm {
    pub fn new(
        mechanism: Mechanism,
        chain: Option<&(String, String)>,
        options: JointSpaceOptions,
        seed: u64,
    ) -> Result<Self, Failure> {
        let (root, tip) = ends(&mechanism, chain)?;
        Ok(Self { mechanism, root, tip, options, seed })
    }

    fn goal(&self, request: &GoalRequest) -> Result<LinkGoal, String> {
        if request.pole.is_some() {
            return Err("a pole is for pose space; in joint space, start selects the branch".into());
        }
        if (request.position_influence, request.rotation_influence) != (1.0, 1.0) {
            return Err("influences are for pose space; goals in joint space have weights".into());
        }
        let link = match &request.joint {
            Some(name) => link(&self.mechanism, name)?,
            None => self.tip.clone()?,
        };
        let rotation = request.rotation.map(DQuat::from_array);
        let target = match (request.position.map(DVec3::from_array), rotation) {
            (Some(p), Some(q)) => LinkTarget::Pose(p, q),
            (Some(p), None) => LinkTarget::Position(p),
            (None, Some(q)) => LinkTarget::Rotation(q),
            (None, None) => return Err("a goal needs a position or a rotation".into()),
        };
        let (p, r) = (request.position_weight, request.rotation_weight);
        Ok(LinkGoal::new(&self.mechanism, link, target)
            .with_relative_to(self.root)
            .with_weights([p, p, p, r, r, r]))
    }

    fn start(&self, request: &Request) -> Result<Vec<f64>, String> {
        if let Some((name, _)) = request.start_rotations.first() {
            return Err(format!(
                "start_rotations.{}: an arm's joints have one value each, which start gives",
                shorten(name)
            ));
        }
        if let Some((name, _)) = request.start_translations.first() {
            return Err(format!(
                "start_translations.{}: an arm's base is fixed in joint space; start gives joint values",
                shorten(name)
            ));
        }
        start(&self.mechanism, &request.start)
    }
}

impl Backend for Arm {
    fn worker(&self) -> Box<dyn Worker + '_> {
        Box::new(ArmWorker { arm: self, solvers: Vec::new(), workspace: Workspace::new() })
    }

    fn heading(&self) -> String {
        let m = &self.mechanism;
        match &self.tip {
            Ok(tip) => {
                let dofs = m.dofs_between(self.root, *tip).len();
                let joints = if dofs == 1 { "joint" } else { "joints" };
                format!("{}: {}..{}, {dofs} {joints}", m.name(), m.link_name(self.root), m.link_name(*tip))
            }
            Err(_) => m.name().to_string(),
        }
    }
}

/// Maximum number of cached solvers, one for each list of links that goals name. More lists in one file are rare.
const MAX_SOLVERS: usize = 16;

struct ArmWorker<'a> {
    arm: &'a Arm,
    solvers: Vec<(Vec<LinkId>, JointSpaceSolver)>,
    workspace: Workspace,
}

/// Maximum number of goals of one request. The solver's memory grows with the square of the number of goals, its time with
/// the cube.
const MAX_GOALS: usize = 128;

impl ArmWorker<'_> {
    /// Returns an error for too many goals, or for two positions or two rotations of one link.
    fn check_goals(&self, goals: &[GoalRequest]) -> Result<(), String> {
        if goals.len() > MAX_GOALS {
            return Err(format!("there are {} goals; an arm takes {MAX_GOALS} at most", goals.len()));
        }
        let same = |a: &GoalRequest, b: &GoalRequest| {
            let both = |f: fn(&GoalRequest) -> bool| f(a) && f(b);
            a.joint == b.joint && (both(|g| g.position.is_some()) || both(|g| g.rotation.is_some()))
        };
        for (i, goal) in goals.iter().enumerate() {
            if let Some(before) = goals[..i].iter().position(|g| same(g, goal)) {
                let link = goal.joint.as_ref().map_or("the tip".into(), |name| quoted(name));
                return Err(format!("goals[{before}] and goals[{i}] both move {link}"));
            }
        }
        Ok(())
    }
}

impl Worker for ArmWorker<'_> {
    fn solve(&mut self, request: &Request) -> Result<Answer, String> {
        let arm = self.arm;
        if request.of_whole() {
            return Err("priority, relative_to and root are for whole figures in pose space".into());
        }
        self.check_goals(&request.goals)?;
        let goals: Vec<LinkGoal> = request.goals.iter().map(|g| arm.goal(g)).collect::<Result<_, _>>()?;
        let mut values = arm.start(request)?;
        let links: Vec<LinkId> = goals.iter().map(|g| g.link).collect();
        let at = match self.solvers.iter().position(|(l, _)| *l == links) {
            Some(at) => at,
            None => {
                let solver = JointSpaceSolver::new(&arm.mechanism, &goals).map_err(|e| e.to_string())?;
                self.solvers.truncate(MAX_SOLVERS - 1);
                self.solvers.push((links, solver.with_seed(arm.seed)));
                self.solvers.len() - 1
            }
        };
        let solver = &self.solvers[at].1;
        let begin = Instant::now();
        let report = solver
            .solve(&mut self.workspace, &goals, &mut values, &arm.options)
            .map_err(|e| e.to_string())?;
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        let joints = solver.dofs().map(|d| {
            let dof = &arm.mechanism.dofs()[d];
            JointAnswer {
                name: dof.name.clone(),
                value: values[d],
                slides: dof.slides(),
                limits: (dof.dof.range.min, dof.dof.range.max),
            }
        });
        Ok(Answer {
            status: Status::new(report.reached(), report.out_of_reach, report.outcome),
            joints: joints.collect(),
            rotations: Vec::new(),
            translations: Vec::new(),
            position_error: report.position_residual,
            rotation_error: report.rotation_residual,
            iterations: report.iterations,
            restarts: report.restarts,
            micros,
        })
    }
}
