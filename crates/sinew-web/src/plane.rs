//! Chains in the plane.

use sinew::{
    glam::Vec2,
    planar::{BendSide2d, Bone2d, Chain2d, DirectedOptions2d, Lead, Method2d, Options2d, two_bone},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read, write, write_report},
    failure::{making, solving},
};

fn bone(at: usize) -> Bone2d {
    let number = |i| read(at + i) as f32;
    let mut bone = Bone2d::new(number(0)).with_angle(number(1));
    if number(2) != 0.0 {
        bone.limits = Some((number(3), number(4)));
    }
    bone.preferred = (!number(5).is_nan()).then(|| number(5));
    bone
}

fn point(at: usize) -> Vec2 {
    Vec2::new(read(at) as f32, read(at + 1) as f32)
}

/// A chain in the plane.
#[wasm_bindgen]
pub struct RawChain2d {
    chain: Option<Chain2d>,
    bones: Vec<Bone2d>,
}

#[wasm_bindgen]
impl RawChain2d {
    /// Without bones: [`RawChain2d::add`] and [`RawChain2d::build`] follow.
    #[wasm_bindgen(constructor)]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self { chain: None, bones: Vec::new() }
    }

    /// Adds the bone in the exchange: length, angle, whether it has limits, both, preferred angle (NaN for none).
    pub fn add(&mut self) {
        self.bones.push(bone(OTHER));
    }

    /// Makes the chain with the root in the exchange.
    pub fn build(&mut self) -> Result<(), JsValue> {
        self.chain = Some(Chain2d::new(point(OTHER), &core::mem::take(&mut self.bones)).map_err(making)?);
        Ok(())
    }

    /// Replaces a bone by the one in the exchange.
    #[wasm_bindgen(js_name = setBone)]
    pub fn set_bone(&mut self, index: usize) -> Result<(), JsValue> {
        self.chain()?.set_bone(index, bone(OTHER)).map_err(making)
    }

    /// Moves the root to the position in the exchange and turns the direction that the first angle counts from.
    #[wasm_bindgen(js_name = setBase)]
    pub fn set_base(&mut self, base: f32) -> Result<(), JsValue> {
        let chain = self.chain()?;
        (chain.root, chain.base) = (point(OTHER), base);
        Ok(())
    }

    /// Writes the angle of each bone, in radians.
    pub fn angles(&mut self, out: &mut [f32]) -> Result<(), JsValue> {
        out.iter_mut().zip(self.chain()?.bones()).for_each(|(out, bone)| *out = bone.angle);
        Ok(())
    }

    /// Writes the positions of the joints and of the end.
    pub fn positions(&mut self, out: &mut [f32]) -> Result<(), JsValue> {
        for (out, at) in out.chunks_exact_mut(2).zip(self.chain()?.positions()) {
            out.copy_from_slice(&at.to_array());
        }
        Ok(())
    }

    /// Solves for the position in the exchange, which also has the method (0 auto, 1 CCD, 2 FABRIK), the damping and the largest
    /// step of CCD, the side (0 kept, 1 left, 2 right), the stretch, and whether the last bone has a direction, and which. Leaves
    /// the report.
    pub fn solve(&mut self) -> Result<(), JsValue> {
        let number = |i| read(OTHER + i) as f32;
        let (goal, (_, given)) = (point(OTHER), exchange::read_options());
        let mut options = Options2d::new()
            .with_method(match number(2) as u32 {
                1 => Method2d::Ccd { damping: number(3), max_step: number(4) },
                2 => Method2d::Fabrik,
                _ => Method2d::Auto,
            })
            .with_side(match number(5) as u32 {
                1 => Some(BendSide2d::Left),
                2 => Some(BendSide2d::Right),
                _ => None,
            })
            .with_influence(given.influence)
            .with_soft(given.soft)
            .with_stretch(number(6))
            .with_position_tolerance(given.position_tolerance);
        (options.max_iterations, options.max_restarts) = (given.max_iterations, given.max_restarts);
        let chain = self.chain()?;
        let report = if number(7) == 0.0 {
            chain.solve(goal, &options)
        } else {
            let mut directed = DirectedOptions2d::new()
                .with_influence(options.influence)
                .with_soft(options.soft)
                .with_stretch(options.stretch)
                .with_position_tolerance(options.position_tolerance);
            if let Some(most) = given.max_iterations {
                directed.max_iterations = most;
            }
            if let Some(most) = given.max_restarts {
                directed.max_restarts = most;
            }
            chain.solve_directed(goal, number(8), &directed)
        };
        write_report(&report.map_err(solving)?);
        Ok(())
    }

    /// Moves one end to the position in the exchange and pulls the rest along.
    pub fn follow(&mut self, by_root: bool) -> Result<(), JsValue> {
        let lead = if by_root { Lead::Root } else { Lead::Tip };
        self.chain()?.follow(point(OTHER), lead).map_err(solving)
    }
}

impl RawChain2d {
    pub(crate) fn chain(&mut self) -> Result<&mut Chain2d, JsValue> {
        self.chain.as_mut().ok_or_else(|| making("the chain has not been built"))
    }
}

/// Two bones: the exchange has root, lengths, goal, and whether the limb bends right. Leaves the directions of the upper bone, the
/// angle of the lower one, the positions of middle and end, and how far the goal is out of reach.
#[wasm_bindgen(js_name = solveTwoBone2d)]
pub fn solve_two_bone_2d() -> Result<(), JsValue> {
    let number = |i| read(OTHER + i) as f32;
    let side = if number(6) == 0.0 { BendSide2d::Left } else { BendSide2d::Right };
    let limb = two_bone(point(OTHER), number(2), number(3), point(OTHER + 4), side).map_err(solving)?;
    let numbers =
        [limb.upper, limb.lower, limb.middle.x, limb.middle.y, limb.end.x, limb.end.y, limb.out_of_reach];
    write(OTHER, &numbers);
    Ok(())
}
