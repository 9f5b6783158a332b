//! Handles in joint space: a chain as a mechanism in the frame of its root's parent.

use alloc::{sync::Arc, vec::Vec};

use glam::{DQuat, DVec3, Quat};

use super::{
    HandleFault, StartFrom,
    precedence::{at_level, precedences, settle},
};
use crate::{
    Chain, Goal, JointId, JointTransform, Pose, Report, Skeleton, Workspace,
    joint::Joint,
    math,
    mechanism::{
        JointSpaceError, JointSpaceOptions, JointSpaceSolver, LinkGoal, LinkTarget, SkeletonMechanism,
    },
    solve::IterativeOptions,
};

/// One precedence of a chain.
#[derive(Clone, Debug)]
struct Level {
    precedence: i32,
    /// Whether others come after.
    eases: bool,
    mechanism: SkeletonMechanism,
    solver: JointSpaceSolver,
    /// The tip's goal, then those of springs.
    goals: Vec<LinkGoal>,
}

/// A chain solved in joint space.
#[derive(Clone, Debug)]
pub(super) struct JointSpace {
    joints: Vec<JointId>,
    /// The chain alone. Its model space is the frame of the root's parent.
    skeleton: Arc<Skeleton>,
    levels: Vec<Level>,
}

/// Scratch memory of a chain in joint space.
#[derive(Clone, Debug)]
pub(super) struct JointSpaceScratch {
    pose: Pose,
    values: Vec<f64>,
    goals: Vec<LinkGoal>,
    before: Vec<JointTransform>,
}

fn wide(q: Quat) -> DQuat {
    DQuat::from_xyzw(q.x.into(), q.y.into(), q.z.into(), q.w.into())
}

impl JointSpace {
    pub fn new(bind: &Pose, chain: &Chain) -> Result<Self, HandleFault> {
        let (whole, joints) = (bind.skeleton(), chain.joints().to_vec());
        let mut builder = Skeleton::builder();
        for (i, &j) in joints.iter().enumerate() {
            builder.add(whole.name(j), i.checked_sub(1), *whole.rest(j));
        }
        // A chain of a valid skeleton is one.
        let (plain, ids) = builder.build().expect("a chain");
        let with = |change: &dyn Fn(&Joint) -> Joint| {
            let mut skeleton = plain.clone();
            for (&id, &j) in ids.iter().zip(&joints) {
                skeleton.set_joint(id, change(whole.joint(j)))?;
            }
            let mut pose = Pose::rest(&Arc::new(skeleton));
            for (&id, &j) in ids.iter().zip(&joints) {
                pose.set_local(id, *bind.local(j));
            }
            pose.update();
            Ok::<_, HandleFault>(pose)
        };
        let own = with(&|joint| *joint)?;
        let all = precedences(whole, &joints);
        let mut levels = Vec::new();
        for (n, &precedence) in all.iter().enumerate() {
            let eases = n + 1 < all.len();
            let pose = with(&|joint| at_level(joint, precedence, eases))?;
            let mechanism = SkeletonMechanism::compile(&pose)?;
            let goals = goals(&own, &mechanism, &ids, precedence);
            let solver = JointSpaceSolver::new(mechanism.mechanism(), &goals)?;
            levels.push(Level { precedence, eases, mechanism, solver, goals });
        }
        Ok(Self { joints, skeleton: own.skeleton().clone(), levels })
    }

    pub fn scratch(&self) -> JointSpaceScratch {
        let goals = self.levels.iter().map(|l| l.goals.len()).max().unwrap_or(0);
        JointSpaceScratch {
            pose: Pose::rest(&self.skeleton),
            values: self.levels.first().map_or(Vec::new(), |l| l.mechanism.mechanism().rest()),
            goals: Vec::with_capacity(goals),
            before: Vec::with_capacity(self.joints.len()),
        }
    }

    pub fn reserve(&self, workspace: &mut Workspace) {
        self.levels.iter().for_each(|level| level.solver.reserve(workspace));
    }

    pub fn solve(
        &self,
        scratch: &mut JointSpaceScratch,
        workspace: &mut Workspace,
        pose: &mut Pose,
        goal: &Goal,
        (from, options, pace): (StartFrom, &IterativeOptions, f32),
    ) -> Result<Report, JointSpaceError> {
        let JointSpaceScratch { pose: own, values, goals, before } = scratch;
        let skeleton = pose.skeleton().clone();
        let (root, tip) = (self.joints[0], self.joints[self.joints.len() - 1]);
        for (id, &j) in self.skeleton.joints().zip(&self.joints) {
            own.set_local(id, *pose.local(j));
        }
        own.update();
        let above = pose.parent_model(root);
        let to = goal.position.unwrap_or_else(|| pose.position(tip));
        let place = above.inverse().transform_point3(to).as_dvec3();
        let target = match goal.rotation {
            None => LinkTarget::Position(place),
            Some(q) => {
                let q = math::mul(math::conjugate(math::rotation_of(&above.matrix3)), q);
                LinkTarget::Pose(place, wide(math::normalize(q)))
            }
        };
        let mut settings = JointSpaceOptions::new();
        if from == StartFrom::Last {
            settings.max_restarts = 0;
        }
        settings.max_iterations = options.max_iterations.unwrap_or(settings.max_iterations);
        settings.max_restarts = options.max_restarts.unwrap_or(settings.max_restarts);
        let mut report = Report::default();
        for level in &self.levels {
            goals.clear();
            goals.extend_from_slice(&level.goals);
            goals[0].target = target;
            level.mechanism.read(own, values)?;
            let found = level.solver.solve(workspace, goals, values, &settings)?;
            (report.outcome, report.out_of_reach) = (found.outcome, found.out_of_reach as f32);
            report.iterations += found.iterations;
            report.restarts += found.restarts;
            before.clear();
            before.extend_from_slice(own.locals());
            level.mechanism.write(values, own)?;
            for ((id, &from), &j) in self.skeleton.joints().zip(before.iter()).zip(&self.joints) {
                let to = *own.local(id);
                if to != from {
                    let (joint, limits) = (skeleton.joint(j), skeleton.limits(j));
                    own.set_local(id, settle(joint, limits, [from, to], level.precedence, level.eases, pace));
                }
            }
            own.update();
        }
        // No position depends on the tip's own turn: restarts must not scatter it. A spring may turn it.
        let springs = |j| skeleton.joint(j).dofs().any(|dof| dof.spring.is_some());
        for (id, &j) in self.skeleton.joints().zip(&self.joints) {
            let to = own.local(id);
            let turns = j != tip || goal.rotation.is_some() || springs(tip);
            if turns && to.rotation != pose.local(j).rotation {
                pose.set_rotation(j, to.rotation);
            }
            if skeleton.limits(j).slides() && to.translation != pose.local(j).translation {
                pose.set_translation(j, to.translation);
            }
        }
        pose.update();
        Ok(report)
    }
}

/// The goals of one precedence: the tip's, then one for each spring. Values of springs are targets of their joint's link, seen
/// from its parent's.
fn goals(own: &Pose, of: &SkeletonMechanism, ids: &[JointId], precedence: i32) -> Vec<LinkGoal> {
    let (skeleton, mechanism) = (own.skeleton(), of.mechanism());
    let start = LinkTarget::Position(DVec3::ZERO);
    let mut goals = alloc::vec![LinkGoal::new(mechanism, of.link(ids[ids.len() - 1]), start)];
    for &id in ids {
        let joint = skeleton.joint(id);
        let Some((dof, spring)) = joint.dofs().find_map(|d| Some((d, d.spring?))) else { continue };
        if dof.precedence != precedence || spring.strength == 0.0 {
            continue;
        }
        let (limits, local) = (skeleton.limits(id), own.local(id));
        let value = dof.range.clamp(spring.rest) as f32;
        let above = skeleton.parent(id).map_or(mechanism.root(), |p| of.link(p));
        let s = spring.strength;
        let (target, weights) = match joint.slide.iter().position(Option::is_some) {
            Some(n) => {
                let to = limits.slide_to(local.translation, local.translation, n, value);
                // The parent's link is in metres of the chain's space.
                let scale = skeleton.parent(id).map_or(1.0, |p| math::uniform_scale(&own.model(p).matrix3));
                (LinkTarget::Position((to * scale).as_dvec3()), [s, s, s, 0.0, 0.0, 0.0])
            }
            None => {
                let to = limits.rotation([value, 0.0, 0.0]);
                (LinkTarget::Rotation(wide(math::normalize(to))), [0.0, 0.0, 0.0, s, s, s])
            }
        };
        goals.push(
            LinkGoal::new(mechanism, of.link(id), target).with_relative_to(above).with_weights(weights),
        );
    }
    goals
}
