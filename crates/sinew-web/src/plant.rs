//! Feet planted on the ground, frame by frame.

use std::{rc::Rc, sync::Arc};

use sinew::{
    JointId, Placement, Skeleton,
    glam::{Affine3, Vec3},
    ground::plant::{Figure, FootPlanter, FootPlanterReport, FootPlanterState, FootState, PlantOptions},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    clip::RawClip,
    exchange::{OTHER, read, read_f32, read_transform, write},
    failure::{making, solving},
    ground::RawGround,
    pose::{Numbers, RawPose},
    skeleton::RawSkeleton,
    trackers::RawBody,
};

#[wasm_bindgen]
extern "C" {
    /// What samples an animation. `at` brings the pose to a later time, and leaves the placement in the exchange.
    pub type Sampler;
    #[wasm_bindgen(method, catch)]
    pub(crate) fn at(this: &Sampler, later: f32) -> Result<(), JsValue>;
}

/// A figure whose feet can be planted.
#[wasm_bindgen]
pub struct RawFigure {
    pub(crate) figure: Figure,
}

impl RawFigure {
    pub(crate) fn of(body: &RawBody, skin: &[(JointId, Vec3)]) -> Result<Self, JsValue> {
        Ok(Self { figure: Figure::of_body(&body.bind, &body.roles, skin).map_err(making)? })
    }
}

#[wasm_bindgen]
impl RawFigure {
    /// The figure of a body. `skin` has the joint of each vertex of the mesh, and `places` where it is in the bind pose.
    #[wasm_bindgen(constructor)]
    pub fn new(body: &RawBody, skin: &[u32], places: &[f32]) -> Result<Self, JsValue> {
        let skeleton = RawSkeleton { skeleton: body.bind.skeleton().clone() };
        let skin = skin
            .iter()
            .zip(places.chunks_exact(3))
            .map(|(&index, place)| Ok((skeleton.id(index)?, Vec3::from_slice(place))))
            .collect::<Result<Vec<_>, JsValue>>()?;
        Self::of(body, &skin)
    }

    /// Length of a leg, from hip to ankle, in metres.
    #[wasm_bindgen(getter, js_name = legLength)]
    pub fn leg_length(&self) -> f32 {
        self.figure.leg_length()
    }

    /// Height of the figure, in metres.
    #[wasm_bindgen(getter)]
    pub fn height(&self) -> f32 {
        self.figure.height()
    }

    /// Sets a leg from the exchange: height of the sole above the ground, turn outwards, influence, and whether the foot lies along the
    /// ground.
    #[wasm_bindgen(js_name = setLeg)]
    pub fn set_leg(&mut self, index: usize) {
        let Some(leg) = self.figure.legs_mut().get_mut(index) else { return };
        [leg.sole_height, leg.yaw, leg.influence] = read_f32(OTHER);
        // The left foot turns outwards about +Y, the right one about -Y.
        leg.yaw *= if index == 0 { 1.0 } else { -1.0 };
        leg.follows_slope = read(OTHER + 3) != 0.0;
    }
}

/// The options of planting in the exchange; NaN for the default.
pub(crate) fn read_options() -> PlantOptions {
    let mut options = PlantOptions::new();
    let PlantOptions {
        contact_height,
        contact_speed,
        release,
        cast_above,
        cast_below,
        max_slope,
        max_shift,
        support,
        clearance,
        min_flexion,
        pelvis_rate,
        foot_rate,
        leaving_time,
        landing_time,
        ..
    } = &mut options;
    let places = [
        contact_height,
        contact_speed,
        release,
        cast_above,
        cast_below,
        max_slope,
        max_shift,
        support,
        clearance,
        min_flexion,
        pelvis_rate,
        foot_rate,
        leaving_time,
        landing_time,
    ];
    for (place, at) in places.into_iter().zip(OTHER..) {
        let given = read(at) as f32;
        if !given.is_nan() {
            *place = given;
        }
    }
    options
}

/// The placement in the exchange: position, rotation and uniform scale.
pub(crate) fn read_placement() -> Result<Placement, JsValue> {
    let at = read_transform(OTHER);
    Placement::new(Affine3::from_scale_rotation_translation(at.scale, at.rotation, at.translation))
        .map_err(solving)
}

/// Plants feet frame by frame.
#[wasm_bindgen]
pub struct RawFootPlanter {
    pub(crate) planter: FootPlanter,
}

#[wasm_bindgen]
impl RawFootPlanter {
    /// A planter of a figure as it is set now, with the options in the exchange.
    #[wasm_bindgen(constructor)]
    pub fn new(figure: &RawFigure) -> Result<Self, JsValue> {
        Ok(Self { planter: FootPlanter::new(&figure.figure, read_options()).map_err(making)? })
    }

    /// Finds the floor for which a clip was made. The pose has the joints that the clip does not move.
    #[wasm_bindgen(js_name = learnFloor)]
    pub fn learn_floor(&mut self, clip: &RawClip, rest: &mut RawPose) -> Result<(), JsValue> {
        rest.pull();
        rest.pose.update();
        self.planter.learn_floor(&clip.clip, &rest.pose).map_err(making)
    }

    /// Sets the seconds by which `step_with` knows the animation in advance.
    #[wasm_bindgen(js_name = setLookAhead)]
    pub fn set_look_ahead(&mut self, seconds: f32) -> Result<(), JsValue> {
        self.planter.set_look_ahead(seconds).map_err(making)
    }

    /// The memory of a figure's feet. Samplers write the arrays of the pose.
    pub fn state(&self, sampled: &RawPose) -> RawFootPlanterState {
        let skeleton = sampled.pose.skeleton().clone();
        RawFootPlanterState { state: self.planter.state(), sampled: sampled.numbers.clone(), skeleton }
    }

    /// Plants the pose, which holds the animation's frame, at the placement in the exchange.
    pub fn step(
        &self,
        feet: &mut RawFootPlanterState,
        ground: &RawGround,
        pose: &mut RawPose,
        dt: f32,
    ) -> Result<(), JsValue> {
        let placement = read_placement()?;
        pose.check(&feet.skeleton)?;
        pose.pull();
        pose.pose.update();
        self.planter.sense(&mut feet.state, ground, &pose.pose, &placement).map_err(solving)?;
        let report = self.planter.step(&mut feet.state, &mut pose.pose, &placement, dt).map_err(solving)?;
        pose.push_all();
        write_planted(&report);
        Ok(())
    }

    /// Plants the frame that the sampler brings the pose to at 0.
    #[wasm_bindgen(js_name = stepWith)]
    pub fn step_with(
        &self,
        feet: &mut RawFootPlanterState,
        ground: &RawGround,
        pose: &mut RawPose,
        dt: f32,
        sampler: &Sampler,
    ) -> Result<(), JsValue> {
        pose.check(&feet.skeleton)?;
        pose.pull();
        // The sampler has arrays of its own: those of `pose` are in use here.
        let RawFootPlanterState { state, sampled, .. } = feet;
        pose.pose.skeleton().joints().for_each(|joint| sampled.push(&pose.pose, joint));
        let mut failed = None;
        let report = self.planter.step_with(state, ground, &mut pose.pose, dt, |later, own| {
            let placed = sampler.at(later).and_then(|()| read_placement());
            sampled.pull(own);
            placed.unwrap_or_else(|error| {
                failed.get_or_insert(error);
                Placement::IDENTITY
            })
        });
        pose.push_all();
        match failed {
            Some(error) => Err(error),
            None => report.map_err(solving).map(|report| write_planted(&report)),
        }
    }
}

/// Leaves a report: raise, residual, count of standing feet.
pub(crate) fn write_planted(report: &FootPlanterReport) {
    write(OTHER, &[report.raise, report.out_of_reach, report.standing as f32]);
}

/// The memory of a figure's feet.
#[wasm_bindgen]
pub struct RawFootPlanterState {
    state: FootPlanterState,
    sampled: Rc<Numbers>,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawFootPlanterState {
    /// Sets how much of planting shows, 0 to 1.
    #[wasm_bindgen(js_name = setInfluence)]
    pub fn set_influence(&mut self, influence: f32) -> Result<(), JsValue> {
        self.state.set_influence(influence).map_err(solving)
    }

    /// Sets whether the figure is on the ground.
    #[wasm_bindgen(js_name = setGrounded)]
    pub fn set_grounded(&mut self, grounded: bool) {
        self.state.set_grounded(grounded);
    }

    /// Sets the contact of a foot; NaN detects it.
    #[wasm_bindgen(js_name = setContact)]
    pub fn set_contact(&mut self, leg: usize, contact: f32) -> Result<(), JsValue> {
        self.state.set_contact(leg, (!contact.is_nan()).then_some(contact)).map_err(solving)
    }

    /// 0 for a foot in the air, 1 for one that stands, 2 for one without a foothold.
    pub fn foot(&self, leg: usize) -> u32 {
        match self.state.foot(leg) {
            Some(FootState::Standing) => 1,
            Some(FootState::Refused(_)) => 2,
            _ => 0,
        }
    }

    /// Why a foot has no foothold.
    pub fn why(&self, leg: usize) -> Option<String> {
        match self.state.foot(leg) {
            Some(FootState::Refused(why)) => Some(why.to_string()),
            _ => None,
        }
    }

    /// Forgets the past motion.
    pub fn reset(&mut self) {
        self.state.reset();
    }
}
