//! What the planter must know of a figure: its pelvis, and each leg with its foot.

use alloc::{string::String, vec::Vec};

use thiserror::Error;

use super::Sole;
use crate::{
    ChainError, JointId, Pose, Skeleton,
    solve::{TwoBone, TwoBoneError},
};

/// One leg.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Joint at the hip.
    pub thigh: JointId,
    /// Joint at the knee.
    pub shin: JointId,
    /// Joint at the ankle.
    pub foot: JointId,
    /// Joint that the toes turn about, where there is one.
    pub toes: Option<JointId>,
    /// Where the foot meets the floor.
    pub sole: Sole,
    /// How far the sole is held above the ground, in metres (0: on it).
    pub sole_height: f32,
    /// Turn of a planted foot about the vertical, in radians, counter-clockwise seen from above.
    pub yaw: f32,
    /// How much of the planting is applied to the foot's place, 0 to 1.
    pub position_influence: f32,
    /// How much of it is applied to the foot's rotation, 0 to 1.
    pub rotation_influence: f32,
}

impl Leg {
    /// A leg with a sole height and yaw of 0 and full weights.
    pub const fn new(
        thigh: JointId,
        shin: JointId,
        foot: JointId,
        toes: Option<JointId>,
        sole: Sole,
    ) -> Self {
        Self {
            thigh,
            shin,
            foot,
            toes,
            sole,
            sole_height: 0.0,
            yaw: 0.0,
            position_influence: 1.0,
            rotation_influence: 1.0,
        }
    }
}

/// What is wrong with a figure that is to be planted.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// There is no leg.
    #[error("there is no leg to plant")]
    NoLegs,
    /// A leg does not hang below the pelvis, or its joints not below each other.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A leg's joints make no limb.
    #[error(transparent)]
    Limb(#[from] TwoBoneError),
    /// A leg's bones have no length in the rest pose.
    #[error("the leg from `{thigh}` to `{foot}` has the length {length}")]
    NoLength {
        /// Name of the thigh.
        thigh: String,
        /// Name of the foot.
        foot: String,
        /// Its length in metres.
        length: f32,
    },
    /// There is no telling where a foot's sole is.
    #[error("foot `{foot}`: {what}")]
    NoSole {
        /// Name of the foot's joint.
        foot: String,
        /// What is missing.
        what: &'static str,
    },
    /// A number is outside its range.
    #[error("{what} of the leg `{thigh}` must be {range}, not {value}")]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Name of the thigh.
        thigh: String,
        /// What is allowed.
        range: &'static str,
        /// The number.
        value: f32,
    },
}

/// A figure that can be planted.
#[derive(Clone, Debug)]
pub struct Figure {
    pub(super) pelvis: JointId,
    pub(super) legs: Vec<Leg>,
    pub(super) solvers: Vec<TwoBone>,
    pub(super) leg_length: f32,
    pub(super) height: f32,
    /// Height of the lowest sole in the rest pose, in model space.
    pub(super) floor: f32,
}

impl Figure {
    /// Checks and takes legs below a pelvis. `rest` is the rest (or bind) pose, from which lengths are taken; `height` is
    /// the figure's height in metres, to which speeds are scaled.
    pub fn new(rest: &Pose, pelvis: JointId, legs: Vec<Leg>, height: f32) -> Result<Self, FigureError> {
        let skeleton: &Skeleton = rest.skeleton();
        if legs.is_empty() {
            return Err(FigureError::NoLegs);
        }
        let (mut solvers, mut leg_length) = (Vec::new(), 0.0);
        for leg in &legs {
            crate::Chain::new(skeleton, pelvis, leg.thigh)?;
            solvers.push(TwoBone::new(skeleton, leg.thigh, leg.shin, leg.foot)?);
            let at = |j| rest.position(j);
            let length = (at(leg.shin) - at(leg.thigh)).length() + (at(leg.foot) - at(leg.shin)).length();
            if !(length > 0.0 && length.is_finite()) {
                return Err(FigureError::NoLength {
                    thigh: skeleton.name(leg.thigh).into(),
                    foot: skeleton.name(leg.foot).into(),
                    length,
                });
            }
            leg_length += length / legs.len() as f32;
            let checks = [
                ("position_influence", "from 0 to 1", leg.position_influence, 0.0, 1.0),
                ("rotation_influence", "from 0 to 1", leg.rotation_influence, 0.0, 1.0),
                ("sole_height", "within the leg's length", leg.sole_height, -length, length),
                ("yaw", "within half a turn", leg.yaw, -core::f32::consts::PI, core::f32::consts::PI),
            ];
            for (what, range, value, low, high) in checks {
                if !(low..=high).contains(&value) {
                    return Err(FigureError::OutOfRange {
                        what,
                        thigh: skeleton.name(leg.thigh).into(),
                        range,
                        value,
                    });
                }
            }
        }
        let height = if height > 0.0 && height.is_finite() { height } else { leg_length * 2.0 };
        let soles = legs.iter().map(|leg| leg.sample(rest, glam::Vec3::ZERO));
        let floor = soles.map(|s| s.heel_at().y.min(s.ball_at().y)).fold(f32::INFINITY, f32::min);
        Ok(Self { pelvis, legs, solvers, leg_length, height, floor })
    }

    /// The furthest of its joints in the skeleton's order.
    pub(super) fn last_joint(&self) -> usize {
        let legs = self.legs.iter().flat_map(|l| [Some(l.thigh), Some(l.shin), Some(l.foot), l.toes]);
        legs.flatten().map(JointId::index).fold(self.pelvis.index(), usize::max)
    }

    /// The legs.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// The legs, to change what can be set about them. (Weights, heights and yaws are clamped where they are used.)
    pub fn legs_mut(&mut self) -> &mut [Leg] {
        &mut self.legs
    }

    /// Mean length of the legs in the rest pose, hip to ankle, in metres.
    pub fn leg_length(&self) -> f32 {
        self.leg_length
    }

    /// The figure's height in metres.
    pub fn height(&self) -> f32 {
        self.height
    }
}
