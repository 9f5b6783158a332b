//! A figure that can be planted: its pelvis and legs.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};
use thiserror::Error;

use super::{FootSample, Sole, Trunk};
use crate::{
    ChainError, JointId, Pose, Skeleton, math, math64,
    solve::{TwoBone, TwoBoneError},
};

/// A leg of a figure.
#[derive(Clone, Debug)]
pub struct Leg {
    /// Joint at the hip.
    pub thigh: JointId,
    /// Joint at the knee. Joints between hip and knee, and between knee and ankle, keep the rotations of the clip: the parts of
    /// the leg that they are in are solved as rigid.
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
    /// Whether a planted sole lies along the ground; `true` by default. Without, it stays level, on the highest ground under its
    /// heel, ball and toe tip.
    pub follows_slope: bool,
    /// Influence of planting on the leg, from 0 (the animation) to 1 (the default). Pelvis and trunk follow the leg with the
    /// largest one.
    pub influence: f32,
}

impl Leg {
    /// Makes a leg with a sole height and yaw of 0, whose sole lies along the ground, and with an influence of 1.
    pub const fn new(
        thigh: JointId,
        shin: JointId,
        foot: JointId,
        toes: Option<JointId>,
        sole: Sole,
    ) -> Self {
        let (sole_height, yaw, follows_slope, influence) = (0.0, 0.0, true, 1.0);
        Self { thigh, shin, foot, toes, sole, sole_height, yaw, follows_slope, influence }
    }

    /// The limb from hip to ankle, below the pelvis.
    fn limb(&self, skeleton: &Skeleton, pelvis: JointId) -> Result<TwoBone, FigureError> {
        crate::Chain::new(skeleton, pelvis, self.thigh)?;
        Ok(TwoBone::new(skeleton, self.thigh, self.shin, self.foot)?)
    }

    /// Length from hip to ankle.
    fn length(&self, rest: &Pose) -> f32 {
        let at = |j| rest.position(j);
        (at(self.shin) - at(self.thigh)).length() + (at(self.foot) - at(self.shin)).length()
    }

    fn check_settings(&self, rest: &Pose) -> Result<(), FigureError> {
        let length = self.length(rest);
        let checks = [
            ("influence", "from 0 to 1", self.influence, 0.0, 1.0),
            ("sole_height", "within the leg's length", self.sole_height, -length, length),
            ("yaw", "within half a turn", self.yaw, -core::f32::consts::PI, core::f32::consts::PI),
        ];
        for (what, range, value, low, high) in checks {
            if !(low..=high).contains(&value) {
                let thigh = rest.skeleton().name(self.thigh).into();
                return Err(FigureError::OutOfRange { what, thigh, range, value });
            }
        }
        Ok(())
    }

    /// Whether planting has no influence on the leg.
    pub(super) fn is_free(&self) -> bool {
        self.influence == 0.0
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
    /// Rotation of the pelvis in the rest pose, in model space.
    pub(super) rest_pelvis: Quat,
    /// Horizontal direction that the hips face in the rest pose.
    pub(super) front: Vec3,
    /// Horizontal direction away from the other legs across `front`, for each leg.
    pub(super) outward: Vec<Vec3>,
    /// Up in the rest pose, in the local space of each foot.
    pub(super) sole_up: Vec<Vec3>,
    /// Rotation of each thigh in the rest pose, in model space, and its direction from hip to knee.
    pub(super) rest_thighs: Vec<(Quat, Vec3)>,
    /// Angle of each leg's toes over its sole in the rest pose, in radians.
    pub(super) rest_toes: Vec<f64>,
    /// Trunk that leans up steps and slopes.
    pub(super) trunk: Option<Trunk>,
    /// Feet whose soles are assumed from a person's proportions.
    pub(super) assumed_soles: Vec<JointId>,
}

/// Horizontal front of a figure: perpendicular to the line between its two hips, on the side to which the soles point. `soles` is the
/// mean direction of the soles. It is the front itself for other numbers of hips, or if it is more than 60 degrees from the
/// perpendicular.
pub(super) fn facing(mut hips: impl Iterator<Item = Vec3>, soles: Vec3) -> Vec3 {
    let (Some(a), Some(b), None) = (hips.next(), hips.next(), hips.next()) else { return soles };
    let front = (a - b).with_y(0.0).normalize_or_zero().cross(Vec3::Y);
    match front.dot(soles) {
        cos if cos > 0.5 => front,
        cos if cos < -0.5 => -front,
        _ => soles,
    }
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
            solvers.push(leg.limb(skeleton, pelvis)?);
            let length = leg.length(rest);
            if !(length > 0.0 && length.is_finite()) {
                return Err(FigureError::NoLength {
                    thigh: skeleton.name(leg.thigh).into(),
                    foot: skeleton.name(leg.foot).into(),
                    length,
                });
            }
            leg_length += length / legs.len() as f32;
            leg.check_settings(rest)?;
        }
        let height = if height > 0.0 && height.is_finite() { height } else { leg_length * 2.0 };
        let soles: Vec<_> = legs.iter().map(|leg| leg.sample(rest, Vec3::ZERO)).collect();
        let floor = soles.iter().map(|s| s.heel_at().y.min(s.ball_at().y)).fold(f32::INFINITY, f32::min);
        let level = |v: Vec3| v.with_y(0.0).normalize_or_zero();
        let ahead = level(soles.iter().map(|s| level(s.ball - s.heel)).sum()).normalize_or(Vec3::Z);
        let front = facing(soles.iter().map(|s| s.hip), ahead);
        let left = Vec3::Y.cross(front);
        let middle = soles.iter().map(|s| s.hip).sum::<Vec3>() / legs.len() as f32;
        let outward = |s: &FootSample| if (s.hip - middle).dot(left) < 0.0 { -left } else { left };
        Ok(Self {
            pelvis,
            solvers,
            leg_length,
            height,
            floor,
            rest_pelvis: rest.model_rotation(pelvis),
            front,
            outward: soles.iter().map(outward).collect(),
            sole_up: legs
                .iter()
                .map(|leg| math::rotate(math::conjugate(rest.model_rotation(leg.foot)), Vec3::Y))
                .collect(),
            rest_thighs: soles
                .iter()
                .map(|s| (s.thigh, (s.knee - s.hip).normalize_or(Vec3::NEG_Y)))
                .collect(),
            rest_toes: soles.iter().map(|s| toe_angle(s, Vec3::Y)).collect(),
            trunk: None,
            assumed_soles: Vec::new(),
            legs,
        })
    }

    /// Largest influence of planting on a leg, which pelvis and trunk follow.
    pub(super) fn influence(&self) -> f32 {
        self.legs.iter().map(|leg| leg.influence).fold(0.0, f32::max)
    }

    /// The joints of pelvis and legs, which planting moves.
    pub(crate) fn joints(&self) -> impl Iterator<Item = JointId> + '_ {
        let legs = self.legs.iter().flat_map(|l| [Some(l.thigh), Some(l.shin), Some(l.foot), l.toes]);
        core::iter::once(self.pelvis).chain(legs.flatten())
    }

    /// Largest index of these joints.
    pub(crate) fn last_joint(&self) -> usize {
        self.joints().map(JointId::index).fold(0, usize::max)
    }

    /// Checks the settings of the legs, with lengths of the rest pose.
    pub(crate) fn check_settings(&self, rest: &Pose) -> Result<(), FigureError> {
        self.legs.iter().try_for_each(|leg| leg.check_settings(rest))
    }

    /// Checks that the joints, of which the skeleton has all, are pelvis and legs in it.
    pub(crate) fn check_joints(&self, skeleton: &Skeleton) -> Result<(), FigureError> {
        for leg in &self.legs {
            leg.limb(skeleton, self.pelvis)?;
            if let Some(toes) = leg.toes {
                crate::Chain::new(skeleton, leg.foot, toes)?;
            }
        }
        Ok(())
    }

    /// The pelvis joint.
    pub fn pelvis(&self) -> JointId {
        self.pelvis
    }

    /// Legs of the figure.
    pub fn legs(&self) -> &[Leg] {
        &self.legs
    }

    /// Legs of the figure, to change their settings. The ranges that [`Figure::new`] checks still apply, but are not checked
    /// here: planting fails with an influence outside 0 to 1. Floor and front are those of the soles that [`Figure::new`] was
    /// given: other soles want a new figure.
    pub fn legs_mut(&mut self) -> &mut [Leg] {
        &mut self.legs
    }

    /// Feet whose soles [`Figure::of_body`] assumed from a person's proportions, as neither a mesh nor joints tell them.
    pub fn assumed_soles(&self) -> &[JointId] {
        &self.assumed_soles
    }

    /// Mean length of the legs in the rest pose, hip to ankle, in metres.
    pub fn leg_length(&self) -> f32 {
        self.leg_length
    }

    /// Height of the figure, in metres.
    pub fn height(&self) -> f32 {
        self.height
    }

    /// Height of the figure divided by 1.8 m.
    pub fn scale(&self) -> f32 {
        self.height / 1.8
    }
}

/// Angle of the toes over the sole in radians. `up` is the direction up from the sole.
pub(super) fn toe_angle(foot: &FootSample, up: Vec3) -> f64 {
    let along = (foot.ball - foot.heel).normalize_or_zero();
    let up = math::perpendicular(along, up);
    let toes = foot.tip - foot.ball;
    math64::atan2(f64::from(toes.dot(up)), f64::from(toes.dot(along)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hips_face_across_their_line_on_the_side_of_the_soles() {
        let hips = [Vec3::new(0.1, 0.9, 0.0), Vec3::new(-0.1, 0.92, 0.0)];
        let [a, b] = hips;
        let soles = |degrees: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            Vec3::new(sin, 0.0, cos)
        };
        for (hips, degrees, front) in [
            (&[a, b][..], 20.0, Vec3::Z),
            (&[b, a], -50.0, Vec3::Z),
            (&[a, b], 170.0, Vec3::NEG_Z),
            (&[a, b], 80.0, soles(80.0)),
            (&[a, a], 20.0, soles(20.0)),
            (&[a], 20.0, soles(20.0)),
            (&[a, b, a], 20.0, soles(20.0)),
        ] {
            let found = facing(hips.iter().copied(), soles(degrees));
            assert!((found - front).length() < 1e-6, "{hips:?}, {degrees}: {found}, not {front}");
        }
    }
}
