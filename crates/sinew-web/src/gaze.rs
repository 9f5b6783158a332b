//! Joints that point at targets: one by itself, or those from the spine to the eyes.

use std::sync::Arc;

use sinew::{
    Skeleton,
    solve::{Aim, AimUp, Eye, LookAt, LookJoint, LookState, Options},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{self, OTHER, read, read_vector, write, write_report},
    failure::{making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
};

fn options() -> Options {
    let (_, chain) = exchange::read_options();
    Options::new().with_influence(chain.influence).with_max_turn(chain.max_turn)
}

/// A joint that points at a target.
#[wasm_bindgen]
pub struct RawAim {
    aim: Aim,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawAim {
    /// The exchange has the axis and the offset.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, joint: u32) -> Result<Self, JsValue> {
        let mut aim = Aim::new(skeleton.id(joint)?, read_vector(OTHER));
        aim.offset = read_vector(OTHER + 3);
        Ok(Self { aim, skeleton: skeleton.skeleton.clone() })
    }

    /// Aims at the target in the exchange, which also has whether there is an up, its axis and its direction. Leaves the report.
    pub fn solve(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let mut aim = self.aim;
        aim.up = (read(OTHER + 3) != 0.0)
            .then(|| AimUp { axis: read_vector(OTHER + 4), direction: read_vector(OTHER + 7) });
        let report = aim.solve(&mut pose.pose, read_vector(OTHER), &options()).map_err(solving)?;
        pose.push(aim.joint);
        write_report(&report);
        Ok(())
    }
}

/// Joints from the spine to the head, and eyes, that look at a target.
#[wasm_bindgen]
pub struct RawLookAt {
    look: LookAt,
    state: LookState,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawLookAt {
    /// `line` has joint, share and cone of each joint; `eyes` has joint, axis and cone of each eye. The exchange has axis and offset
    /// of the face, the dead zone, the angle beyond which the look fades, and the share of the distance below which it does; NaN for
    /// the default.
    #[wasm_bindgen(constructor)]
    pub fn new(skeleton: &RawSkeleton, line: &[f32], eyes: &[f32]) -> Result<Self, JsValue> {
        let joint = |index: f32| skeleton.id(index as u32);
        let line = line
            .chunks_exact(3)
            .map(|part| Ok(LookJoint::new(joint(part[0])?).with_share(part[1]).with_cone(part[2])))
            .collect::<Result<Vec<_>, JsValue>>()?;
        let eyes = eyes
            .chunks_exact(5)
            .map(|eye| {
                Ok(Eye::new(joint(eye[0])?, sinew::glam::Vec3::from_slice(&eye[1..4])).with_cone(eye[4]))
            })
            .collect::<Result<Vec<_>, JsValue>>()?;
        let skeleton = skeleton.skeleton.clone();
        let mut look = LookAt::new(&skeleton, &line, read_vector(OTHER)).map_err(making)?;
        look.offset = read_vector(OTHER + 3);
        for (place, at) in
            [&mut look.dead_zone, &mut look.behind, &mut look.near].into_iter().zip(OTHER + 6..)
        {
            let given = read(at) as f32;
            if !given.is_nan() {
                *place = given;
            }
        }
        look.set_eyes(&skeleton, &eyes).map_err(making)?;
        Ok(Self { state: look.state(), look, skeleton })
    }

    /// Looks at the target in the exchange. Leaves the report, and the face's angle from the target.
    pub fn solve(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let target = read_vector(OTHER);
        let report = self.look.solve(&mut self.state, &mut pose.pose, target, &options()).map_err(solving)?;
        self.look.joints().for_each(|joint| pose.push(joint));
        write_report(&report.report);
        write(OTHER, &[report.face]);
        Ok(())
    }

    /// Forgets the looking direction of earlier frames.
    pub fn reset(&mut self) {
        self.state.reset();
    }
}
