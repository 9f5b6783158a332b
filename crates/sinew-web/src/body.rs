//! Whole bodies with several effectors, and drags by hand.

use std::sync::Arc;

use sinew::{
    Goal, JointId, Skeleton,
    solve::{Drag, Effector, FullBody, FullBodyOptions, Pin, RootMode},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read, read_vector, with_workspace, write, write_report},
    failure::{making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
};

/// Effectors that are being listed.
#[wasm_bindgen]
pub struct RawEffectors {
    skeleton: Arc<Skeleton>,
    pub(crate) effectors: Vec<Effector>,
}

#[wasm_bindgen]
impl RawEffectors {
    /// None yet.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton) -> Self {
        Self { skeleton: skeleton.skeleton.clone(), effectors: Vec::new() }
    }

    /// Adds one. The exchange has its joint, its offset, its priority, the joint that its goals are relative to (-1 for none), and
    /// its weights of position and rotation.
    pub fn add(&mut self) -> Result<(), JsValue> {
        let joint = |at| self.skeleton.joint_at(read(at) as usize);
        let Some(own) = joint(OTHER) else {
            return Err(making("the effector's joint is not of the skeleton"));
        };
        let mut effector = Effector::new(own)
            .with_offset(read_vector(OTHER + 1))
            .with_priority(read(OTHER + 4) as u8)
            .with_position_weight(read(OTHER + 6) as f32)
            .with_rotation_weight(read(OTHER + 7) as f32);
        if read(OTHER + 5) >= 0.0 {
            effector.relative_to = joint(OTHER + 5);
        }
        self.effectors.push(effector);
        Ok(())
    }
}

/// Calls `solve` with the options in the exchange: those of chains, then the root's mode (0 pinned, 1 free, 2 spring, 3 at a position),
/// its spring or position, the posture, and the balance.
fn with_options<T>(masses: &[f32], solve: impl FnOnce(&FullBodyOptions<'_>) -> T) -> T {
    let (_, iterative) = exchange::read_options();
    let root = match read(OTHER) as u32 {
        1 => RootMode::Free,
        2 => RootMode::Spring(read(OTHER + 1) as f32),
        3 => RootMode::At(read_vector(OTHER + 1)),
        _ => RootMode::Pinned,
    };
    let options = FullBodyOptions::from(iterative).with_root(root).with_posture(read(OTHER + 4) as f32);
    // Balance is 5 kB, which pages that load `core` can do without.
    #[cfg(feature = "whole")]
    return crate::balance::with_balance(masses, |balance| {
        let mut options = options;
        options.balance = balance;
        solve(&options)
    });
    #[cfg(not(feature = "whole"))]
    {
        let _ = masses;
        solve(&options)
    }
}

/// A body.
#[wasm_bindgen]
pub struct RawFullBody {
    pub(crate) body: FullBody,
    pub(crate) skeleton: Arc<Skeleton>,
    goals: Vec<Goal>,
    joints: Vec<JointId>,
    /// Residuals of position and rotation of each effector after the last solve.
    residuals: Vec<[f32; 2]>,
    /// Masses for its balance, which `sinew/core` does not have.
    pub(crate) masses: Vec<f32>,
}

#[wasm_bindgen]
impl RawFullBody {
    /// A body of the joints at and below `root` that lead to effectors.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, root: u32, effectors: &RawEffectors) -> Result<Self, JsValue> {
        let root = skeleton.id(root)?;
        let skeleton = skeleton.skeleton.clone();
        let body = FullBody::new(&skeleton, root, &effectors.effectors).map_err(making)?;
        let (joints, count) = (body.joints().collect(), effectors.effectors.len());
        let (goals, residuals) = (vec![Goal::NONE; count], vec![[0.0; 2]; count]);
        Ok(Self { body, skeleton, joints, goals, residuals, masses: Vec::new() })
    }

    /// Takes the goal in the exchange for an effector.
    pub fn goal(&mut self, effector: usize) {
        if let Some(goal) = self.goals.get_mut(effector) {
            *goal = exchange::read_goal();
        }
    }

    /// Solves for the goals with the options in the exchange, and leaves the report there.
    pub fn solve(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (body, goals) = (&self.body, &self.goals);
        let report = with_options(&self.masses, |options| {
            with_workspace(|workspace| body.solve(workspace, &mut pose.pose, goals, options))
        });
        let report = report.map_err(solving)?;
        for (residual, own) in
            self.residuals.iter_mut().zip(body.effector_reports(&pose.pose, goals, &report))
        {
            *residual = [own.position_residual, own.rotation_residual];
        }
        self.joints.iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }

    /// Leaves the residuals of an effector after the last solve in the exchange.
    pub fn residuals(&self, effector: usize) {
        write(OTHER, self.residuals.get(effector).unwrap_or(&[0.0; 2]));
    }
}

/// A drag of a joint while others are pinned.
#[wasm_bindgen]
pub struct RawDrag {
    drag: Drag,
    joints: Vec<JointId>,
    /// Masses for its balance, which `sinew/core` does not have.
    pub(crate) masses: Vec<f32>,
}

#[wasm_bindgen]
impl RawDrag {
    /// A drag of the first effector; the others are pinned, with their rotations where `turned` is not 0.
    #[wasm_bindgen(constructor)]
    pub fn new(
        pose: &mut RawPose,
        root: u32,
        effectors: &RawEffectors,
        turned: &[u8],
    ) -> Result<Self, JsValue> {
        pose.check(&effectors.skeleton)?;
        pose.pull();
        pose.pose.update();
        let Some((grabbed, pinned)) = effectors.effectors.split_first() else {
            return Err(making("a drag needs an effector"));
        };
        let Some(root) = effectors.skeleton.joint_at(root as usize) else {
            return Err(making("the root is not of the skeleton"));
        };
        let pins: Vec<_> =
            pinned.iter().zip(turned).map(|(pin, &t)| Pin::new(*pin).with_turned(t != 0)).collect();
        let drag = Drag::new(&pose.pose, root, *grabbed, &pins).map_err(making)?;
        let joints = drag.full_body().joints().collect();
        Ok(Self { drag, joints, masses: Vec::new() })
    }

    /// Starts anew at a pose.
    pub fn reset(&mut self, pose: &mut RawPose) {
        pose.pull();
        pose.pose.update();
        self.drag.reset(&pose.pose);
    }

    /// Moves the grabbed effector to the goal in the exchange, with the options there, and leaves the report.
    pub fn to(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.pull();
        let goal = exchange::read_goal();
        let drag = &mut self.drag;
        let report = with_options(&self.masses, |options| {
            with_workspace(|workspace| drag.to(workspace, &mut pose.pose, &goal, options))
        });
        let report = report.map_err(solving)?;
        self.joints.iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }
}
