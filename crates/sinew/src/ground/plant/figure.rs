//! A figure that can be planted: its pelvis and legs.

use alloc::{string::String, vec::Vec};

use thiserror::Error;

use super::{Sole, Trunk};
use crate::{
    ChainError, JointId, Pose, Skeleton,
    solve::{TwoBone, TwoBoneError},
};

/// A leg of a figure.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Joint at the hip.
    pub thigh: JointId,
    /// Joint at the knee.
    pub shin: JointId,
    /// Joint at the ankle.
    pub foot: JointId,
    /// Toe joint, if there is one.
    pub toes: Option<JointId>,
    /// Points of the foot that touch the ground.
    pub sole: Sole,
    /// Height at which a planted sole is held above the ground, in metres. 0 by default.
    pub sole_height: f32,
    /// Turn of a planted foot about the vertical in radians, counter-clockwise seen from above. 0 by default.
    pub yaw: f32,
    /// Influence of planting on the foot's position, from 0 to 1. 1 by default.
    pub position_influence: f32,
    /// Influence of planting on the foot's rotation, from 0 to 1. 1 by default.
    pub rotation_influence: f32,
}

impl Leg {
    /// Makes a leg with a sole height and yaw of 0 and influences of 1.
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

    /// Whether planting has no influence on the leg.
    pub(super) fn is_free(&self) -> bool {
        self.position_influence == 0.0 && self.rotation_influence == 0.0
    }
}

/// Error of making a [`Figure`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FigureError {
    /// The list of legs is empty.
    #[error("the figure has no legs to plant")]
    NoLegs,
    /// A thigh is not below the pelvis.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// A leg's joints are not a limb.
    #[error(transparent)]
    Limb(#[from] TwoBoneError),
    /// A leg's length in the rest pose is 0 or not finite.
    #[error("the leg from `{thigh}` to `{foot}` must have a finite length above 0, not {length} m")]
    NoLength {
        /// Name of the thigh joint.
        thigh: String,
        /// Name of the foot joint.
        foot: String,
        /// Length of the leg, in metres.
        length: f32,
    },
    /// The sole of a foot is unknown.
    #[error("foot `{foot}`: {what}")]
    NoSole {
        /// Name of the foot joint.
        foot: String,
        /// The reason.
        what: &'static str,
    },
    /// A joint of the trunk is not where a trunk is.
    #[error("the trunk's joint `{joint}`: {what}")]
    Trunk {
        /// Name of the joint.
        joint: String,
        /// The reason.
        what: &'static str,
    },
    /// A setting of a leg is outside its range.
    #[error("{what} of the leg `{thigh}` must be {range}, not {value}")]
    OutOfRange {
        /// Field name of the setting.
        what: &'static str,
        /// Name of the thigh joint.
        thigh: String,
        /// Allowed values.
        range: &'static str,
        /// The value given.
        value: f32,
    },
}

/// A figure that can be planted: its pelvis, its legs, and a trunk if it has one ([`Figure::with_trunk`]).
#[derive(Clone, Debug)]
pub struct Figure {
    pub(super) pelvis: JointId,
    pub(super) legs: Vec<Leg>,
    pub(super) solvers: Vec<TwoBone>,
    pub(super) leg_length: f32,
    pub(super) height: f32,
    /// Height of the lowest sole in the rest pose, in model space.
    pub(super) floor: f32,
    /// Trunk that leans up steps and slopes.
    pub(super) trunk: Option<Trunk>,
}

impl Figure {
    /// Makes a figure of a pelvis joint and the legs below it. Lengths come from `rest`, the rest or bind pose. `height` is
    /// the figure's height in metres, with which speeds and clearances scale; a height that is not positive or not finite
    /// becomes twice the leg's length.
    ///
    /// # Errors
    ///
    /// There is no leg, a thigh is not below the pelvis, a leg's joints are not a limb, a leg has no length, or one of its
    /// settings is outside its range.
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
        Ok(Self { pelvis, legs, solvers, leg_length, height, floor, trunk: None })
    }

    /// Largest index of the figure's joints.
    pub(super) fn last_joint(&self) -> usize {
        let legs = self.legs.iter().flat_map(|l| [Some(l.thigh), Some(l.shin), Some(l.foot), l.toes]);
        legs.flatten().map(JointId::index).fold(self.pelvis.index(), usize::max)
    }

    /// Legs of the figure.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Legs of the figure, to change their settings. The ranges that [`Figure::new`] checks still apply, but are not checked
    /// here: planting fails with a position influence outside 0 to 1.
    pub fn legs_mut(&mut self) -> &mut [Leg] {
        &mut self.legs
    }

    /// Mean length of the legs in the rest pose, hip to ankle, in metres.
    pub fn leg_length(&self) -> f32 {
        self.leg_length
    }

    /// Height of the figure, in metres.
    pub fn height(&self) -> f32 {
        self.height
    }
}
