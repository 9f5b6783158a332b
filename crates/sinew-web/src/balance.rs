//! Balance of bodies and drags, which `sinew/core` does without: it is 5 kB.

use sinew::{glam::Vec3, solve::Balance};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    body::{RawDrag, RawFullBody},
    exchange::{OTHER, read, read_vector},
    pose::RawPose,
};

/// First place of a balance in the exchange: the count of its points (0 for none), margin, up, weight, priority, points.
const BALANCE: usize = OTHER + 8;
/// Most points of a support, as the engine takes them.
const MAX_SUPPORT: usize = 16;

/// Calls `then` with the balance in the exchange.
pub(crate) fn with_balance<T>(masses: &[f32], then: impl FnOnce(Option<Balance<'_>>) -> T) -> T {
    let support: [Vec3; MAX_SUPPORT] = core::array::from_fn(|n| read_vector(BALANCE + 7 + 3 * n));
    let support = &support[..(read(BALANCE) as usize).min(MAX_SUPPORT)];
    let balance = Balance::over(support)
        .with_margin(read(BALANCE + 1) as f32)
        .with_up(read_vector(BALANCE + 2))
        .with_weight(read(BALANCE + 5) as f32)
        .with_priority(read(BALANCE + 6) as u8)
        .with_masses(masses);
    then((!support.is_empty()).then_some(balance))
}

#[wasm_bindgen]
impl RawFullBody {
    /// Sets the mass of each joint's bones for balances; none for the lengths of bones.
    pub fn masses(&mut self, masses: &[f32]) {
        self.masses = masses.into();
    }

    /// Distance of the centre of mass from the support of the balance in the exchange, in metres.
    #[wasm_bindgen(js_name = outOfBalance)]
    pub fn out_of_balance(&self, pose: &mut RawPose) -> Result<f32, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        pose.pose.update();
        let (body, pose) = (&self.body, &pose.pose);
        Ok(with_balance(&self.masses, |balance| balance.map_or(0.0, |b| body.out_of_balance(pose, &b))))
    }
}

#[wasm_bindgen]
impl RawDrag {
    /// Sets the mass of each joint's bones for balances; none for the lengths of bones.
    pub fn masses(&mut self, masses: &[f32]) {
        self.masses = masses.into();
    }
}
