//! Several goals at once on a figure, by the solver of whole skeletons.

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

/// A full body for the joints that goals name, with the feet of a human figure if it is to be one.
pub struct Whole {
    solver: Solver,
}

#[allow(clippy::large_enum_variant)] // A handful of them.
enum Solver {
    FullBody(FullBody),
    Human(Trackers, TrackersState),
}

/// The same for either: questions have the same names.
macro_rules! either {
    ($solver:expr, $it:ident => $what:expr) => {
        match $solver {
            Solver::FullBody($it) => $what,
            Solver::Human($it, _) => $what,
        }
    };
}

/// The lowest joint that all of these hang below, each by a bone at the least.
fn above(skeleton: &Skeleton, joints: &[JointId]) -> Option<JointId> {
    let first = *joints.first()?;
    let mut up = skeleton.ancestors(first).chain(skeleton.ancestors(first).last().or(Some(first)));
    up.find(|&a| joints.iter().all(|&j| j != a && skeleton.is_below(j, a)))
}

impl Whole {
    /// The tree of a request, whose root is that of `--chain` or the lowest joint that all goals hang on.
    pub fn new(
        skeleton: &Skeleton,
        root: Option<JointId>,
        human: Option<&HumanFigure>,
        request: &Request,
    ) -> Result<Self, String> {
        let find = |name: &str| lookup::joint(skeleton, name).map_err(|e| e.to_string());
        let mut tips = Vec::new();
        for (i, goal) in request.goals.iter().enumerate() {
            let Some(name) = &goal.joint else {
                return Err(format!("goals[{i}] names no joint: on a whole figure each goal needs one"));
            };
            if goal.curve.is_some() {
                return Err(format!("goals[{i}].curve: only the solver spline lays a chain along a curve"));
            }
            let relative_to = goal.relative_to.as_deref().map(find).transpose()?;
            let mut tip = Effector::new(find(name)?)
                .with_priority(goal.priority)
                .with_position_weight(goal.position_weight as f32)
                .with_rotation_weight(goal.rotation_weight as f32);
            tip.relative_to = relative_to;
            tips.push(tip);
        }
        if let Some(human) = human {
            let trackers = Trackers::new(&human.body, &tips, &human.stands).map_err(|e| e.to_string())?;
            let state = trackers.state(&human.stands);
            return Ok(Self { solver: Solver::Human(trackers, state) });
        }
        let joints: Vec<JointId> =
            tips.iter().flat_map(|t| [Some(t.joint), t.relative_to]).flatten().collect();
        let root = root.or_else(|| above(skeleton, &joints)).ok_or_else(|| {
            let names: Vec<_> = joints.iter().map(|&j| quoted(&label(skeleton, j))).collect();
            format!(
                "no joint carries {}: --chain ROOT..TIP says where the full body begins",
                names.join(", ")
            )
        })?;
        let full_body = FullBody::new(skeleton, root, &tips).map_err(|e| e.to_string())?;
        Ok(Self { solver: Solver::FullBody(full_body) })
    }

    /// Whether it is for the same joints.
    pub fn serves(&self, other: &Self) -> bool {
        self.effectors() == other.effectors() && self.root() == other.root()
    }

    /// The joint that it begins with.
    pub fn root(&self) -> Option<JointId> {
        either!(&self.solver, s => s.joints().next())
    }

    fn effectors(&self) -> &[Effector] {
        either!(&self.solver, s => s.effectors())
    }

    /// Solves from a pose, which is left solved.
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
                // As it has it by itself, if nothing is said.
                let by_itself = s.root;
                s.root = root.unwrap_or(by_itself);
                let report = s.solve(state, workspace, pose, goals, &options);
                s.root = by_itself;
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
