//! Trees of chains that meet at sub-bases, by FABRIK.

use std::sync::Arc;

use sinew::{
    Goal, JointId, Skeleton,
    glam::Vec3,
    solve::{FabrikTree, TraceStep},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    body::RawEffectors,
    exchange::{self, OTHER, with_workspace, write, write_report},
    failure::{making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
    trace::Recorder,
};

/// A tree.
#[wasm_bindgen]
pub struct RawFabrikTree {
    tree: FabrikTree,
    skeleton: Arc<Skeleton>,
    goals: Vec<Goal>,
    /// Position residual of each effector after the last solve, in metres.
    residuals: Vec<f32>,
}

#[wasm_bindgen]
impl RawFabrikTree {
    /// A tree of the joints at and below `root` that lead to effectors.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, root: u32, effectors: &RawEffectors) -> Result<Self, JsValue> {
        let root = skeleton.id(root)?;
        let skeleton = skeleton.skeleton.clone();
        let tree = FabrikTree::new(&skeleton, root, &effectors.effectors).map_err(making)?;
        let count = effectors.effectors.len();
        Ok(Self { tree, skeleton, goals: vec![Goal::NONE; count], residuals: vec![0.0; count] })
    }

    /// Count of joints.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.tree.joints().len()
    }

    /// Index of the tree's joint `n`, parents before children.
    pub fn joint(&self, n: usize) -> u32 {
        self.tree.joints().get(n).map_or(u32::MAX, |joint| joint.index() as u32)
    }

    /// Takes the goal in the exchange for an effector.
    pub fn goal(&mut self, effector: usize) {
        if let Some(goal) = self.goals.get_mut(effector) {
            *goal = exchange::read_goal();
        }
    }

    /// Solves for the goals with the options in the exchange, and leaves the report there.
    pub fn solve(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        self.run(pose, None)
    }

    /// [`solve`](Self::solve), with the first `most` steps as numbers; see `Recorder`.
    pub fn trace(&mut self, pose: &mut RawPose, most: u32) -> Result<Vec<f32>, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let joints: Vec<JointId> = self.tree.joints().to_vec();
        let ends: Vec<(JointId, Vec3)> = self.tree.effectors().iter().map(|e| (e.joint, e.offset)).collect();
        let mut steps = Recorder::new(&pose.pose, &joints, ends, most);
        self.run(pose, Some(&mut steps))?;
        Ok(steps.finish())
    }

    /// Leaves the residual of an effector after the last solve in the exchange.
    pub fn residual(&self, effector: usize) {
        write(OTHER, &[self.residuals.get(effector).copied().unwrap_or(0.0)]);
    }
}

impl RawFabrikTree {
    fn run(&mut self, pose: &mut RawPose, steps: Option<&mut Recorder<'_>>) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (_, options) = exchange::read_options();
        let (tree, goals, own) = (&self.tree, &self.goals, &mut pose.pose);
        let report = with_workspace(|workspace| match steps {
            None => tree.solve(workspace, own, goals, &options),
            Some(steps) => {
                let watch = &mut |step: TraceStep<'_>| steps.record(step);
                tree.solve_traced(workspace, own, goals, &options, watch)
            }
        });
        let report = report.map_err(solving)?;
        let each = tree.effector_reports(&pose.pose, goals, &report);
        self.residuals.iter_mut().zip(each).for_each(|(residual, own)| *residual = own.position_residual);
        tree.joints().iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }
}
