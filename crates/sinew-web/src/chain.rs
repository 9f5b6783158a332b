//! Chains, by any solver that takes one goal.

use std::sync::Arc;

use sinew::{
    Chain, Goal, Skeleton,
    glam::{Quat, Vec3},
    solve::{
        Auto, Ccd, ChainSolver, DampedLeastSquares, Fabrik, FreeChain, PointChain, PointChainOptions,
        TraceStep,
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read_vector, with_workspace, write_report},
    failure::{failure, making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
    trace::Recorder,
};

/// A chain with its solver.
#[wasm_bindgen]
pub struct RawChain {
    solver: Box<dyn ChainSolver>,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawChain {
    /// A chain from `root` to `tip`, whose end is the tip's offset in the exchange.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, root: u32, tip: u32, solver: &str) -> Result<Self, JsValue> {
        let (root, tip) = (skeleton.id(root)?, skeleton.id(tip)?);
        let skeleton = skeleton.skeleton.clone();
        let chain = Chain::new(&skeleton, root, tip)
            .and_then(|chain| chain.with_tip_offset(&skeleton, read_vector(OTHER)))
            .map_err(making)?;
        let solver: Box<dyn ChainSolver> = match solver {
            "auto" => Box::new(Auto::from_chain(&skeleton, chain).map_err(making)?),
            "ccd" => Box::new(Ccd::from_chain(&skeleton, chain).map_err(making)?),
            "fabrik" => Box::new(Fabrik::from_chain(&skeleton, chain).map_err(making)?),
            // Kept out of the smallest module, which the first page of the playground waits for.
            #[cfg(feature = "whole")]
            "fold" => Box::new(sinew::solve::Fold::from_chain(&skeleton, chain).map_err(making)?),
            "dls" => Box::new(DampedLeastSquares::from_chain(&skeleton, chain).map_err(making)?),
            "free" => Box::new(FreeChain::from_chain(&skeleton, chain).map_err(making)?),
            #[cfg(not(feature = "whole"))]
            "fold" => {
                return Err(failure("input", "the solver `fold` is in the builds `sinew` and `sinew/files`"));
            }
            _ => return Err(failure("input", format_args!("there is no solver `{solver}` of chains"))),
        };
        Ok(Self { solver, skeleton })
    }

    /// Count of joints.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.solver.chain().joints().len()
    }

    /// Index of the chain's joint `n`, from the root on.
    pub fn joint(&self, n: usize) -> u32 {
        self.solver.chain().joints().get(n).map_or(u32::MAX, |joint| joint.index() as u32)
    }

    /// Solves for the goal and the options in the exchange, and leaves the report there.
    pub fn solve(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (goal, (_, options)) = (exchange::read_goal(), exchange::read_options());
        let report =
            with_workspace(|workspace| self.solver.solve(workspace, &mut pose.pose, &goal, &options));
        let report = report.map_err(solving)?;
        self.solver.chain().joints().iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }

    /// [`solve`](Self::solve), with the first `most` steps as numbers; see `Recorder`.
    pub fn trace(&self, pose: &mut RawPose, most: u32) -> Result<Vec<f32>, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (goal, (_, options)) = (exchange::read_goal(), exchange::read_options());
        let chain = self.solver.chain();
        let mut steps =
            Recorder::new(&pose.pose, chain.joints(), vec![(chain.tip(), chain.tip_offset())], most);
        let report = with_workspace(|workspace| {
            let watch = &mut |step: TraceStep<'_>| steps.record(step);
            self.solver.solve_traced(workspace, &mut pose.pose, &goal, &options, watch)
        });
        let report = report.map_err(solving)?;
        chain.joints().iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(steps.finish())
    }

    /// Solves for each of many goals, of three numbers (position) or seven (and rotation). Each starts from the given pose, which
    /// stays, or from the one that the last has left. Writes the local rotations of the chain's joints for each goal, and
    /// returns how many were reached.
    #[wasm_bindgen(js_name = solveMany)]
    pub fn solve_many(
        &self,
        pose: &mut RawPose,
        goals: &[f32],
        each: usize,
        continuing: bool,
        out: &mut [f32],
    ) -> Result<u32, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (given, (_, options)) = (exchange::read_goal(), exchange::read_options());
        let joints = self.solver.chain().joints();
        let before: Vec<_> = joints.iter().map(|&joint| *pose.pose.local(joint)).collect();
        let mut reached = 0;
        for (to, out) in goals.chunks_exact(each.max(3)).zip(out.chunks_exact_mut(4 * joints.len())) {
            let mut goal: Goal = given.with_position(Vec3::new(to[0], to[1], to[2]));
            if let [_, _, _, x, y, z, w] = *to {
                goal.rotation = Some(Quat::from_xyzw(x, y, z, w));
            }
            let solved =
                with_workspace(|workspace| self.solver.solve(workspace, &mut pose.pose, &goal, &options));
            for (&joint, to) in joints.iter().zip(out.chunks_exact_mut(4)) {
                to.copy_from_slice(&pose.pose.local(joint).rotation.to_array());
            }
            if !continuing || solved.is_err() {
                joints.iter().zip(&before).for_each(|(&joint, &local)| pose.pose.set_local(joint, local));
            }
            match solved {
                Ok(report) => reached += u32::from(report.reached()),
                Err(error) => return Err(solving(error)),
            }
        }
        joints.iter().for_each(|&joint| pose.push(joint));
        Ok(reached)
    }
}

/// A chain of free bones on bare points.
#[wasm_bindgen]
pub struct RawPointChain {
    chain: PointChain,
    points: Vec<Vec3>,
}

#[wasm_bindgen]
impl RawPointChain {
    /// The chain through points, three numbers each.
    #[wasm_bindgen(constructor)]
    pub fn new(points: &[f32]) -> Result<Self, JsValue> {
        let points: Vec<_> = points.chunks_exact(3).map(Vec3::from_slice).collect();
        Ok(Self { chain: PointChain::new(&points).map_err(making)?, points })
    }

    /// Moves the points so that the last comes to the goal in the exchange, and leaves the report there. The first stays.
    pub fn solve(&mut self, points: &mut [f32]) -> Result<(), JsValue> {
        for (point, given) in self.points.iter_mut().zip(points.chunks_exact(3)) {
            *point = Vec3::from_slice(given);
        }
        let (given, (_, options)) = (exchange::read_goal(), exchange::read_options());
        let mut chosen = PointChainOptions::new()
            .with_soft(options.soft)
            .with_position_tolerance(options.position_tolerance);
        if let Some(most) = options.max_iterations {
            chosen.max_iterations = most;
        }
        let goal = given.position.unwrap_or_default();
        let report = with_workspace(|workspace| self.chain.solve(workspace, &mut self.points, goal, &chosen));
        let report = report.map_err(solving)?;
        for (point, out) in self.points.iter().zip(points.chunks_exact_mut(3)) {
            out.copy_from_slice(&point.to_array());
        }
        write_report(&report);
        Ok(())
    }
}
