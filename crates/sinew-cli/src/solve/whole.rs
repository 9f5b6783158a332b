//! Several goals at once on a figure, by the solver of whole skeletons.

use std::time::Instant;

use sinew::{
    Goal, JointId, Pose, Skeleton,
    solve::{Root, Tip, Tree},
};

use super::{
    answer::Answer,
    request::{Request, RootRequest},
    settings::{Settings, TOLERANCES},
};
use crate::lookup::{self, label, quoted};

/// A tree for the joints that goals name.
pub struct Whole {
    tree: Tree,
}

/// The lowest joint that all of these hang below, each by a bone at the least.
fn above(skeleton: &Skeleton, joints: &[JointId]) -> Option<JointId> {
    let first = *joints.first()?;
    let mut up = skeleton.ancestors(first).chain(skeleton.ancestors(first).last().or(Some(first)));
    up.find(|&a| joints.iter().all(|&j| j != a && skeleton.is_below(j, a)))
}

impl Whole {
    /// The tree of a request, whose root is that of `--chain` or the lowest joint that all goals hang on.
    pub fn new(skeleton: &Skeleton, root: Option<JointId>, request: &Request) -> Result<Self, String> {
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
            tips.push(Tip { priority: goal.priority, relative_to, ..Tip::new(find(name)?) });
        }
        let joints: Vec<JointId> =
            tips.iter().flat_map(|t| [Some(t.joint), t.relative_to]).flatten().collect();
        let root = root.or_else(|| above(skeleton, &joints)).ok_or_else(|| {
            let names: Vec<_> = joints.iter().map(|&j| quoted(&label(skeleton, j))).collect();
            format!("no joint carries {}: --chain ROOT..TIP says where the tree begins", names.join(", "))
        })?;
        let tree = Tree::new(skeleton, root, &tips).map_err(|e| e.to_string())?;
        Ok(Self { tree })
    }

    /// Whether it is for the same joints.
    pub fn serves(&self, other: &Self) -> bool {
        self.tree.tips() == other.tree.tips() && self.root() == other.root()
    }

    /// The joint that it begins with.
    pub fn root(&self) -> Option<JointId> {
        self.tree.joints().next()
    }

    /// Solves from a pose, which is left solved.
    pub fn solve(
        &mut self,
        settings: &Settings,
        goals: &[Goal],
        request: &Request,
        pose: &mut Pose,
    ) -> Result<Answer, String> {
        let skeleton = pose.skeleton().clone();
        // The tolerance is a part of the longest way along the bones to a goal's joint.
        let root = self.root();
        let way = |tip: &Tip| {
            let up = std::iter::once(tip.joint).chain(skeleton.ancestors(tip.joint));
            let bones = up.take_while(|&j| Some(j) != root).filter_map(|j| Some((j, skeleton.parent(j)?)));
            bones.map(|(j, above)| pose.position(j).distance(pose.position(above))).sum::<f32>()
        };
        let size = self.tree.tips().iter().map(way).fold(0.0, f32::max);
        let part = match settings.position_tolerance {
            Some(metres) if size > 0.0 => metres / f64::from(size),
            _ => TOLERANCES.0,
        };
        let tree = &mut self.tree;
        tree.tolerance = (part as f32).max(f32::MIN_POSITIVE);
        let turned = settings.rotation_tolerance.unwrap_or(TOLERANCES.1) as f32;
        tree.rotation_tolerance = turned.max(f32::MIN_POSITIVE);
        tree.max_iterations = settings.max_iterations.unwrap_or(tree.max_iterations);
        tree.max_restarts = settings.max_restarts.unwrap_or(tree.max_restarts);
        tree.root = match request.root {
            RootRequest::Pinned => Root::Pinned,
            RootRequest::Free => Root::Free,
            RootRequest::Spring => Root::Spring(1.0),
        };
        let begin = Instant::now();
        let report = tree.solve(pose, goals).map_err(|e| e.to_string())?;
        let micros = begin.elapsed().as_secs_f64() * 1e6;
        let mut answer = Answer {
            status: report.status,
            joints: Vec::new(),
            rotations: Vec::new(),
            translations: Vec::new(),
            position_error: report.position_residual.into(),
            rotation_error: report.rotation_residual.into(),
            iterations: report.iterations,
            restarts: report.restarts,
            micros,
        };
        for joint in tree.joints() {
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
