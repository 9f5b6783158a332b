//! Solving several goals of a figure together, by the full-body solver.

use std::time::Instant;

use sinew::{
    Goal, JointId, Pose, Skeleton, Workspace,
    body::{Trackers, TrackersState},
    solve::{Effector, FullBody, FullBodyOptions, RootMode},
};

use super::{
    answer::Answer,
    human::HumanFigure,
    request::{Request, RootRequest},
    settings::Settings,
};
use crate::lookup::{self, label, quoted};

/// Full-body solver for the joints that goals name; with `--human`, also for the feet.
pub struct Whole {
    solver: Solver,
}

#[allow(clippy::large_enum_variant)] // A handful of them.
enum Solver {
    FullBody(FullBody),
    Human(Trackers, TrackersState),
}

/// Calls the same method on either solver.
macro_rules! either {
    ($solver:expr, $it:ident => $what:expr) => {
        match $solver {
            Solver::FullBody($it) => $what,
            Solver::Human($it, _) => $what,
        }
    };
}

/// The lowest joint that is above all of these joints, and is none of them.
fn common_ancestor(skeleton: &Skeleton, joints: &[JointId]) -> Option<JointId> {
    let first = *joints.first()?;
    let mut up = skeleton.ancestors(first).chain(skeleton.ancestors(first).last().or(Some(first)));
    up.find(|&a| joints.iter().all(|&j| j != a && skeleton.is_below(j, a)))
}

impl Whole {
    /// Makes the solver of a request. Its root is that of `--chain`, or the lowest joint above all goals.
    pub fn new(
        skeleton: &Skeleton,
        root: Option<JointId>,
        human: Option<&HumanFigure>,
        request: &Request,
    ) -> Result<Self, String> {
        let find = |name: &str| lookup::joint(skeleton, name).map_err(|e| e.to_string());
        let mut effectors = Vec::new();
        for (i, goal) in request.goals.iter().enumerate() {
            let Some(name) = &goal.joint else {
                return Err(format!(
                    "goals[{i}].joint is absent: full-body needs goals that name their joints"
                ));
            };
            if goal.curve.is_some() {
                return Err(format!("goals[{i}].curve: a curve needs --solver spline"));
            }
            let relative_to = goal.relative_to.as_deref().map(find).transpose()?;
            let mut effector = Effector::new(find(name)?)
                .with_priority(goal.priority)
                .with_position_weight(goal.position_weight as f32)
                .with_rotation_weight(goal.rotation_weight as f32);
            effector.relative_to = relative_to;
            effectors.push(effector);
        }
        if let Some(human) = human {
            let trackers =
                Trackers::new(&human.body, &effectors, &human.stands).map_err(|e| e.to_string())?;
            let state = trackers.state(&human.stands);
            return Ok(Self { solver: Solver::Human(trackers, state) });
        }
        let joints: Vec<JointId> =
            effectors.iter().flat_map(|e| [Some(e.joint), e.relative_to]).flatten().collect();
        let root = root.or_else(|| common_ancestor(skeleton, &joints)).ok_or_else(|| {
            let names: Vec<_> = joints.iter().map(|&j| quoted(&label(skeleton, j))).collect();
            format!(
                "no joint is above {}: --chain ROOT..TIP gives the root of the full body",
                names.join(", ")
            )
        })?;
        let full_body = FullBody::new(skeleton, root, &effectors).map_err(|e| e.to_string())?;
        Ok(Self { solver: Solver::FullBody(full_body) })
    }

    /// Whether this solver has the effectors and root of `other`, so that it can take its place.
    pub fn serves(&self, other: &Self) -> bool {
        self.effectors() == other.effectors() && self.root() == other.root()
    }

    /// The root of the solver.
    pub fn root(&self) -> Option<JointId> {
        either!(&self.solver, s => s.joints().next())
    }

    fn effectors(&self) -> &[Effector] {
        either!(&self.solver, s => s.effectors())
    }

    /// Solves from `pose`, which becomes the solved pose.
    pub fn solve(
        &mut self,
        settings: &Settings,
        goals: &[Goal],
        request: &Request,
        workspace: &mut Workspace,
        pose: &mut Pose,
    ) -> Result<Answer, String> {
        let skeleton = pose.skeleton().clone();
        let options = settings.iterative();
        let root = request.root.map(|root| match root {
            RootRequest::Pinned => RootMode::Pinned,
            RootRequest::Free => RootMode::Free,
            RootRequest::Spring => RootMode::Spring(1.0),
        });
        let begin = Instant::now();
        let report = match &mut self.solver {
            Solver::FullBody(s) => {
                let options = FullBodyOptions::from(options).with_root(root.unwrap_or_default());
                s.solve(workspace, pose, goals, &options)
            }
            Solver::Human(s, state) => {
                // A request's root mode holds for this solve only.
                let default = s.root;
                s.root = root.unwrap_or(default);
                let report = s.solve(state, workspace, pose, goals, &options);
                s.root = default;
                report
            }
        };
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        let report = report.map_err(|e| e.to_string())?;
        let mut answer = Answer {
            status: (&report).into(),
            joints: Vec::new(),
            rotations: Vec::new(),
            translations: Vec::new(),
            position_error: report.position_residual.into(),
            rotation_error: report.rotation_residual.into(),
            iterations: report.iterations,
            restarts: report.restarts,
            micros,
        };
        for joint in either!(&self.solver, s => s.joints().collect::<Vec<_>>()) {
            let local = pose.local(joint);
            answer.rotations.push((label(&skeleton, joint), local.rotation.to_array().map(f64::from)));
            if local.translation != skeleton.rest(joint).translation {
                answer
                    .translations
                    .push((label(&skeleton, joint), local.translation.to_array().map(f64::from)));
            }
        }
        Ok(answer)
    }
}
