//! Creatures that walk by themselves.

use std::sync::Arc;

use sinew::{
    JointId, Placement, Skeleton,
    body::{Legs, Side},
    glam::{Quat, Vec3},
    ground::walk::{Creature, Gait, WalkFoot, WalkOptions, WalkReport, WalkState, Walker},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    exchange::{OTHER, read, read_vector, with_workspace, write},
    failure::{making, solving},
    ground::RawGround,
    plant::read_placement,
    pose::RawPose,
    skeleton::RawSkeleton,
};

/// A creature on legs.
#[wasm_bindgen]
pub struct RawCreature {
    creature: Creature,
    skeleton: Arc<Skeleton>,
    doubts: Vec<String>,
}

impl RawCreature {
    pub(crate) fn of(bind: &sinew::Pose, ends: &[u32], skin: &[(JointId, Vec3)]) -> Result<Self, JsValue> {
        let skeleton = RawSkeleton { skeleton: bind.skeleton().clone() };
        let ends = ends
            .chunks_exact(2)
            .map(|ends| Ok((skeleton.id(ends[0])?, skeleton.id(ends[1])?)))
            .collect::<Result<Vec<_>, JsValue>>()?;
        let legs = if ends.is_empty() { Legs::find(bind, skin) } else { Legs::given(bind, skin, &ends) };
        let legs = legs.map_err(making)?;
        let creature = Creature::new(bind, &legs, skin).map_err(making)?;
        Ok(Self { creature, skeleton: skeleton.skeleton, doubts: legs.doubts })
    }
}

#[wasm_bindgen]
impl RawCreature {
    /// The creature in a bind pose. `ends` has the first and last joints of its legs, or is empty; `skin` and `places` are as for a
    /// figure.
    #[wasm_bindgen(constructor)]
    pub fn new(bind: &mut RawPose, ends: &[u32], skin: &[u32], places: &[f32]) -> Result<Self, JsValue> {
        bind.pull();
        bind.pose.update();
        let skeleton = RawSkeleton { skeleton: bind.pose.skeleton().clone() };
        let skin = skin
            .iter()
            .zip(places.chunks_exact(3))
            .map(|(&index, place)| Ok((skeleton.id(index)?, Vec3::from_slice(place))))
            .collect::<Result<Vec<_>, JsValue>>()?;
        Self::of(&bind.pose, ends, &skin)
    }

    /// Mean length of the legs, in metres.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> f32 {
        self.creature.length()
    }

    /// Heading of the front in radians.
    #[wasm_bindgen(getter)]
    pub fn heading(&self) -> f32 {
        self.creature.heading()
    }

    /// Root, foot and tip of each leg, and its side: 0 left, 1 right, 2 none; four numbers each.
    pub fn legs(&self) -> Vec<u32> {
        let side = |side| match side {
            Some(Side::Left) => 0,
            Some(Side::Right) => 1,
            None => 2,
        };
        let of = |joint: JointId| joint.index() as u32;
        self.creature.legs().iter().flat_map(|l| [of(l.root), of(l.foot), of(l.tip), side(l.side)]).collect()
    }

    /// What is doubtful of the legs that were found.
    pub fn doubts(&self) -> Vec<String> {
        self.doubts.clone()
    }
}

/// The options of a walk in the exchange; NaN for the default.
fn read_options(gait: Option<&str>) -> Result<WalkOptions, JsValue> {
    let mut options = WalkOptions::new();
    let WalkOptions { ride, lift, bob, sway, tilt, max_slope, cast_rate, trail, .. } = &mut options;
    for (place, at) in [ride, lift, bob, sway, tilt, max_slope, cast_rate, trail].into_iter().zip(OTHER..) {
        let given = read(at) as f32;
        if !given.is_nan() {
            *place = given;
        }
    }
    if let Some(name) = gait {
        let names = || Gait::ALL.map(Gait::name).join(", ");
        let unknown = || making(format_args!("there is no gait \"{name}\": there are {}", names()));
        options.gait = Some(Gait::from_name(name).ok_or_else(unknown)?);
    }
    Ok(options)
}

/// Moves a creature over ground.
#[wasm_bindgen]
pub struct RawWalker {
    walker: Walker,
    skeleton: Arc<Skeleton>,
}

#[wasm_bindgen]
impl RawWalker {
    /// A walker of a creature, with the options in the exchange.
    #[wasm_bindgen(constructor)]
    pub fn new(creature: &RawCreature, gait: Option<String>) -> Result<Self, JsValue> {
        let options = read_options(gait.as_deref())?;
        let walker = Walker::new(&creature.creature, options).map_err(making)?;
        Ok(Self { walker, skeleton: creature.skeleton.clone() })
    }

    /// The largest speed straight ahead, in m/s at a scale of 1.
    #[wasm_bindgen(js_name = maxSpeed)]
    pub fn max_speed(&self) -> f32 {
        self.walker.max_speed()
    }

    /// The memory of a creature that stands at the placement in the exchange.
    pub fn state(&self) -> Result<RawWalkState, JsValue> {
        Ok(RawWalkState { state: self.walker.state(&read_placement()?).map_err(making)? })
    }

    /// Puts a creature at the placement in the exchange.
    pub fn reset(&self, state: &mut RawWalkState) -> Result<(), JsValue> {
        self.walker.reset(&mut state.state, &read_placement()?).map_err(solving)
    }

    /// Walks for `dt` seconds at the velocity and the turn in the exchange. Returns the gait.
    pub fn step(
        &self,
        state: &mut RawWalkState,
        pose: &mut RawPose,
        ground: &RawGround,
        dt: f32,
    ) -> Result<String, JsValue> {
        let (velocity, turn) = (read_vector(OTHER), read(OTHER + 3) as f32);
        pose.check(&self.skeleton)?;
        pose.pull();
        let report = with_workspace(|workspace| {
            self.walker.step(&mut state.state, workspace, &mut pose.pose, ground, velocity, turn, dt)
        });
        pose.push_all();
        let report = report.map_err(solving)?;
        write_report(&report);
        Ok(report.gait.name().into())
    }
}

fn write_placement(placement: &Placement) {
    let (at, rotation) = (placement.to_world(Vec3::ZERO), placement.rotation_to_world(Quat::IDENTITY));
    write(OTHER, &at.to_array());
    write(OTHER + 3, &rotation.to_array());
    write(OTHER + 7, &[placement.scale()]);
}

/// Leaves a report: placement, count of standing feet, pace, residual, largest speed (NaN for none), the leg that the trunk waits for
/// (-1 for none).
fn write_report(report: &WalkReport) {
    write_placement(&report.placement);
    let waits = report.waits.map_or(-1.0, |(leg, _)| leg as f32);
    let max_speed = report.max_speed.unwrap_or(f32::NAN);
    write(OTHER + 8, &[report.standing as f32, report.pace, report.out_of_reach, max_speed, waits]);
}

/// The memory of one creature.
#[wasm_bindgen]
pub struct RawWalkState {
    state: WalkState,
}

#[wasm_bindgen]
impl RawWalkState {
    /// Sets the share of the walk in the legs.
    #[wasm_bindgen(js_name = setInfluence)]
    pub fn set_influence(&mut self, influence: f32) -> Result<(), JsValue> {
        self.state.set_influence(influence).map_err(solving)
    }

    /// Leaves a foot's place in the exchange, and whether it stands.
    pub fn foot(&self, leg: usize) {
        if let Some(WalkFoot { point, stands, .. }) = self.state.feet().nth(leg) {
            write(OTHER, &point.to_array());
            write(OTHER + 3, &[u8::from(stands)]);
        }
    }

    /// Why a foot has found no place.
    pub fn why(&self, leg: usize) -> Option<String> {
        self.state.feet().nth(leg).and_then(|foot| foot.refused).map(|why| why.to_string())
    }
}
