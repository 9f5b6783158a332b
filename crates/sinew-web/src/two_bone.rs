//! Limbs of two bones.

use std::sync::Arc;

use sinew::{
    Chain, Pole, Skeleton,
    glam::Vec3,
    solve::{
        BendSide, TwoBone,
        two_bone::{LimbBend, LimbPoints, solve_points},
    },
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read, read_vector, write_report},
    failure::{making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
};

/// A limb.
#[wasm_bindgen]
pub struct RawTwoBone {
    limb: TwoBone,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawTwoBone {
    /// A limb. The exchange has whether a hinge is given, its axis, and the side (0 kept, 1 positive, -1 negative).
    #[wasm_bindgen(constructor)]
    pub fn new(
        skeleton: &RawSkeleton,
        root: u32,
        middle: u32,
        tip: u32,
        limited: bool,
    ) -> Result<Self, JsValue> {
        let [root, middle, tip] = [skeleton.id(root)?, skeleton.id(middle)?, skeleton.id(tip)?];
        let skeleton = skeleton.skeleton.clone();
        let mut limb = if limited {
            let chain = Chain::new(&skeleton, root, tip).map_err(making)?;
            TwoBone::within_limits(&skeleton, chain, middle)
        } else {
            TwoBone::new(&skeleton, root, middle, tip)
        }
        .map_err(making)?;
        if read(OTHER) != 0.0 {
            limb = limb.with_hinge(read_vector(OTHER + 1));
        }
        let side = match read(OTHER + 4) {
            side if side > 0.0 => BendSide::Positive,
            side if side < 0.0 => BendSide::Negative,
            _ => BendSide::Keep,
        };
        Ok(Self { limb: limb.with_side(side).map_err(making)?, skeleton })
    }

    /// Solves for the goal and the options in the exchange, and leaves the report there.
    pub fn solve(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (goal, (options, _)) = (exchange::read_goal(), exchange::read_options());
        let report = self.limb.solve(&mut pose.pose, &goal, &options).map_err(solving)?;
        for joint in [self.limb.chain().root(), self.limb.middle(), self.limb.chain().tip()] {
            pose.push(joint);
        }
        write_report(&report);
        Ok(())
    }

    /// Solves for each of many positions, from the given pose each time, which stays. Writes the local rotations of root and
    /// middle joint, x y z w each, for each position, and returns how many were reached.
    #[wasm_bindgen(js_name = solveMany)]
    pub fn solve_many(&self, pose: &mut RawPose, goals: &[f32], out: &mut [f32]) -> Result<u32, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let (given, (options, _)) = (exchange::read_goal(), exchange::read_options());
        let (root, middle) = (self.limb.chain().root(), self.limb.middle());
        let before = [root, middle].map(|joint| *pose.pose.local(joint));
        let mut reached = 0;
        for (to, out) in goals.chunks_exact(3).zip(out.chunks_exact_mut(8)) {
            let goal = given.with_position(Vec3::new(to[0], to[1], to[2]));
            let solved = self.limb.solve(&mut pose.pose, &goal, &options);
            let after = [root, middle].map(|joint| pose.pose.local(joint).rotation.to_array());
            [root, middle]
                .into_iter()
                .zip(before)
                .for_each(|(joint, local)| pose.pose.set_local(joint, local));
            reached += u32::from(solved.map_err(solving)?.reached());
            out.copy_from_slice(after.as_flattened());
        }
        Ok(reached)
    }
}

/// Turns of many limbs on bare points: twelve numbers each in (root, middle, tip, goal), eight out (turns of the root and of the
/// middle joint in model space). Poles are kept.
#[wasm_bindgen(js_name = solveManyLimbPoints)]
pub fn solve_many_limb_points(limbs: &[f32], out: &mut [f32]) {
    for (n, out) in limbs.chunks_exact(12).zip(out.chunks_exact_mut(8)) {
        let vector = |i: usize| Vec3::new(n[i], n[i + 1], n[i + 2]);
        let at = LimbPoints { root: vector(0), middle: vector(3), tip: vector(6) };
        let turns = solve_points(&at, vector(9), Pole::Keep, &LimbBend::FREE);
        out[..4].copy_from_slice(&turns.root.to_array());
        out[4..].copy_from_slice(&turns.middle.to_array());
    }
}
