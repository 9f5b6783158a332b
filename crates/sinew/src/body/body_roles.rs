//! The joints of a two-legged figure, by role.

use alloc::{string::String, vec::Vec};

use glam::Vec3;

use crate::{JointId, Pose};

use super::{Role, RoleError, RoleSource, Side, find};

/// The joints of one leg. Other joints may lie between them (a joint at the hip's socket, twist joints).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegJoints {
    /// The hip's ball joint.
    pub thigh: JointId,
    /// The knee.
    pub shin: JointId,
    /// The ankle.
    pub foot: JointId,
    /// The ball of the foot; none where the foot is one piece.
    pub toes: Option<JointId>,
}

/// The joints of one arm. Other joints may lie between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArmJoints {
    /// The collar bone's inner end; many figures have none.
    pub clavicle: Option<JointId>,
    /// The shoulder joint.
    pub upper_arm: JointId,
    /// The elbow.
    pub forearm: JointId,
    /// The wrist.
    pub hand: JointId,
}

/// A role with its joint and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignedRole {
    /// The role.
    pub role: Role,
    /// The joint that plays it.
    pub joint: JointId,
    /// Why this one.
    pub why: RoleSource,
}

/// What is known beforehand about where roles lie.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RoleHints<'a> {
    /// What the file declares: VRM 1.0's bone names (`hips`, `leftUpperLeg`, ...) with their joints. Believed before names.
    pub declared: &'a [(String, JointId)],
    /// The joint that carries legs and spine; with it, only joints below are looked at (for a file with several figures).
    pub hips: Option<JointId>,
    /// The left and the right ankle. Thighs and shins are then found above them and nothing is asked of the figure but
    /// that both hang from one joint.
    pub feet: Option<[JointId; 2]>,
}

impl<'a> RoleHints<'a> {
    /// No hints.
    pub const fn new() -> Self {
        Self { declared: &[], hips: None, feet: None }
    }

    /// Sets what the file declares.
    #[must_use]
    pub const fn with_declared(self, declared: &'a [(String, JointId)]) -> Self {
        Self { declared, ..self }
    }

    /// Sets the joint that carries legs and spine.
    #[must_use]
    pub const fn with_hips(self, hips: JointId) -> Self {
        Self { hips: Some(hips), ..self }
    }

    /// Sets the left and the right ankle.
    #[must_use]
    pub const fn with_feet(self, feet: [JointId; 2]) -> Self {
        Self { feet: Some(feet), ..self }
    }
}

/// A two-legged figure: hips and legs at least, and what else was found.
///
/// ```
/// use sinew::{Pose, Skeleton, JointTransform, glam::Vec3, body::{BodyRoles, Role, Side}};
/// use std::sync::Arc;
/// let mut builder = Skeleton::builder();
/// let mut add = |name: &str, parent, x, y, z| {
///     builder.add(name, parent, JointTransform::from_translation(Vec3::new(x, y, z)))
/// };
/// let hips = add("Hips", None, 0.0, 0.9, 0.0);
/// for (side, x) in [("Left", 0.1), ("Right", -0.1)] {
///     let thigh = add(&format!("{side}UpLeg"), Some(hips), x, -0.05, 0.0);
///     let shin = add(&format!("{side}Leg"), Some(thigh), 0.0, -0.4, 0.0);
///     add(&format!("{side}Foot"), Some(shin), 0.0, -0.4, 0.0);
/// }
/// let skeleton = Arc::new(builder.build()?.0);
/// let body = BodyRoles::find(&Pose::rest(&skeleton), &[])?;
/// assert_eq!(skeleton.name(body.leg(Side::Left).shin), "LeftLeg");
/// assert_eq!(body.why(Role::Shin(Side::Left)).unwrap().to_string(), "by its name `LeftLeg`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BodyRoles {
    /// The joint that carries legs and spine.
    pub hips: JointId,
    /// The spine from above the hips to below neck or head, bottom up.
    pub spine: Vec<JointId>,
    /// The lowest joint of the neck.
    pub neck: Option<JointId>,
    /// The head.
    pub head: Option<JointId>,
    /// The left and the right eye, where the file declares them.
    pub eyes: [Option<JointId>; 2],
    /// The left and the right leg.
    pub legs: [LegJoints; 2],
    /// The left and the right arm.
    pub arms: [Option<ArmJoints>; 2],
    /// Every role that has a joint, with the reason, in the order of [`Role`].
    pub assigned: Vec<AssignedRole>,
    /// What stayed open among spine, neck, head, arms and toes, and why.
    pub doubts: Vec<RoleError>,
}

impl BodyRoles {
    /// Finds the roles. `bind` is the figure standing as it was modelled, Y up; `declared` is what its file says itself
    /// (see [`RoleHints::declared`]; empty where it says nothing).
    ///
    /// Hips and both legs are needed; spine, neck, head, arms and toes stay empty where they are not found.
    pub fn find(bind: &Pose, declared: &[(String, JointId)]) -> Result<Self, RoleError> {
        Self::find_with(bind, &RoleHints::new().with_declared(declared))
    }

    /// Finds the roles of a figure whose ankles are known.
    pub fn with_feet(bind: &Pose, left: JointId, right: JointId) -> Result<Self, RoleError> {
        Self::find_with(bind, &RoleHints::new().with_feet([left, right]))
    }

    /// Finds the roles with what is known beforehand.
    pub fn find_with(bind: &Pose, hints: &RoleHints<'_>) -> Result<Self, RoleError> {
        find::find(bind, hints)
    }

    /// A leg.
    #[inline]
    pub fn leg(&self, side: Side) -> &LegJoints {
        &self.legs[side.index()]
    }

    /// An arm, if it was found.
    #[inline]
    pub fn arm(&self, side: Side) -> Option<&ArmJoints> {
        self.arms[side.index()].as_ref()
    }

    /// The joint that plays a role.
    pub fn joint(&self, role: Role) -> Option<JointId> {
        self.assigned.iter().find(|a| a.role == role).map(|a| a.joint)
    }

    /// Why the role's joint was chosen.
    pub fn why(&self, role: Role) -> Option<&RoleSource> {
        self.assigned.iter().find(|a| a.role == role).map(|a| &a.why)
    }

    /// The direction in which it faces, level and of unit length: with its left leg on the left of it, however the file
    /// has turned it (glTF and VRM 1 face +Z, VRM 0 faces -Z, motion capture any way).
    pub fn front(&self, bind: &Pose) -> Vec3 {
        let aside = |[l, r]: [JointId; 2]| {
            let way = bind.position(l) - bind.position(r);
            Vec3::new(way.x, 0.0, way.z).normalize_or_zero()
        };
        let thighs = aside([self.legs[0].thigh, self.legs[1].thigh]);
        // Some rigs hang both legs on one place.
        let left = if thighs == Vec3::ZERO { aside([self.legs[0].foot, self.legs[1].foot]) } else { thighs };
        if left == Vec3::ZERO { Vec3::Z } else { left.cross(Vec3::Y) }
    }

    /// Height in metres: of the vertices of `skin` that hang on the body, or where there are none, of its
    /// joints. Each vertex comes with the joint that moves it most and its place in model space as `bind` has
    /// it. (A file may hold a level beside its figure.)
    pub fn height(&self, bind: &Pose, skin: &[(JointId, Vec3)]) -> f32 {
        let skeleton = bind.skeleton();
        let span = |(low, high): (f32, f32), y: f32| (low.min(y), high.max(y));
        let none = (f32::INFINITY, f32::NEG_INFINITY);
        let vertices = skin.iter().filter(|(joint, _)| skeleton.is_below(*joint, self.hips));
        let (mut low, mut high) = vertices.map(|(_, place)| place.y).fold(none, span);
        if low > high {
            (low, high) = skeleton.below(self.hips).map(|j| bind.position(j).y).fold(none, span);
        }
        high - low
    }
}
