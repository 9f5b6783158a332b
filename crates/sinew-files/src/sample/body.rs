//! Skeleton of the sample character: an adult of 1.75 m, with arms half lowered and knees slightly bent.
//!
//! Every joint's rest rotation is the identity, so that local axes are those of the model: X to the left, Y up, Z forward.

use std::sync::Arc;

use glam::Vec3;
use sinew::{JointId, JointTransform, Skeleton, SkeletonError};

/// Height of the hips above the floor in the rest pose, in metres.
pub(super) const HIPS: f32 = 0.94;
/// From the ankle to the rearmost point of the flat sole, over which a heel strike rolls, in metres.
pub(super) const HEEL: Vec3 = Vec3::new(0.0, -ANKLE, -0.055);
/// From the ankle to the toe joint, over which the foot rolls when the heel lifts, in metres.
pub(super) const BALL: Vec3 = Vec3::new(0.0, 0.026 - ANKLE, 0.135);
/// Height of the ankle above the floor, in metres.
pub(super) const ANKLE: f32 = 0.085;
/// From the hips to the left ankle in the rest pose, horizontally, in metres.
pub(super) const STANCE: Vec3 = Vec3::new(0.093, 0.0, -0.026);
/// Distance from the toe joint to the tip of the toes, in metres.
pub(super) const TOES: f32 = 0.068;
/// Unit vector along the left arm in the rest pose, 45 degrees below the horizontal.
pub(super) const ARM: Vec3 =
    Vec3::new(std::f32::consts::FRAC_1_SQRT_2, -std::f32::consts::FRAC_1_SQRT_2, 0.0);
/// Distance from the wrist to the tip of the middle finger, in metres.
pub(super) const HAND: f32 = 0.18;

/// Suffix of names and sign of X for each side, left first.
pub(super) const SIDES: [(&str, f32); 2] = [("L", 1.0), ("R", -1.0)];

/// A joint on each side, left first.
pub(super) type Pair = [JointId; 2];

/// Skeleton of the character, with its joints by role.
pub(super) struct Body {
    pub skeleton: Arc<Skeleton>,
    pub hips: JointId,
    pub spine: JointId,
    pub chest: JointId,
    pub upper_chest: JointId,
    pub neck: JointId,
    pub head: JointId,
    pub clavicle: Pair,
    pub upper_arm: Pair,
    pub forearm: Pair,
    pub hand: Pair,
    pub thigh: Pair,
    pub shin: Pair,
    pub foot: Pair,
    pub toes: Pair,
}

impl Body {
    pub fn new() -> Result<Self, SkeletonError> {
        let mut b = Skeleton::builder();
        let at = |x: f32, y: f32, z: f32| JointTransform::from_translation(Vec3::new(x, y, z));
        let hips = b.add("hips", None, at(0.0, HIPS, 0.0));
        let spine = b.add("spine", Some(hips), at(0.0, 0.10, -0.012));
        let chest = b.add("chest", Some(spine), at(0.0, 0.13, -0.008));
        let upper_chest = b.add("upper_chest", Some(chest), at(0.0, 0.13, -0.004));
        let neck = b.add("neck", Some(upper_chest), at(0.0, 0.165, 0.004));
        let head = b.add("head", Some(neck), at(0.0, 0.095, 0.016));
        let mut added = Vec::with_capacity(16);
        for (side, x) in SIDES {
            let mut add = |name: &str, parent: usize, to: Vec3| {
                let to = Vec3::new(to.x * x, to.y, to.z);
                let joint =
                    b.add(format!("{name}.{side}"), Some(parent), JointTransform::from_translation(to));
                added.push(joint);
                joint
            };
            let clavicle = add("clavicle", upper_chest, Vec3::new(0.025, 0.125, 0.02));
            let upper_arm = add("upper_arm", clavicle, Vec3::new(0.15, 0.0, -0.03));
            let forearm = add("forearm", upper_arm, ARM * 0.285);
            add("hand", forearm, ARM * 0.25 + Vec3::Z * 0.012);
            let thigh = add("thigh", hips, Vec3::new(0.09, -0.035, 0.0));
            let shin = add("shin", thigh, Vec3::new(0.003, -0.42, 0.022));
            let foot = add("foot", shin, Vec3::new(0.0, ANKLE - HIPS + 0.455, -0.048));
            add("toes", foot, BALL);
        }
        let (skeleton, ids) = b.build()?;
        let pair = |k: usize| [ids[added[k]], ids[added[k + 8]]];
        Ok(Self {
            skeleton: Arc::new(skeleton),
            hips: ids[hips],
            spine: ids[spine],
            chest: ids[chest],
            upper_chest: ids[upper_chest],
            neck: ids[neck],
            head: ids[head],
            clavicle: pair(0),
            upper_arm: pair(1),
            forearm: pair(2),
            hand: pair(3),
            thigh: pair(4),
            shin: pair(5),
            foot: pair(6),
            toes: pair(7),
        })
    }
}
