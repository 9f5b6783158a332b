//! Joints of a two-legged figure, by role.

use alloc::{string::String, vec::Vec};

use glam::Vec3;

use crate::{JointId, Pose};

use super::{Role, RoleError, RoleSource, Side, find};

/// Joints of one leg, from the hip down. Other joints may lie between them, such as twist joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LegJoints {
    /// The hip joint.
    pub thigh: JointId,
    /// The knee.
    pub shin: JointId,
    /// The ankle.
    pub foot: JointId,
    /// The ball of the foot; `None` where the foot is one bone.
    pub toes: Option<JointId>,
}

/// Joints of one arm, from the collar bone down. Other joints may lie between them, such as twist joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArmJoints {
    /// The inner end of the collar bone; `None` where the figure has none.
    pub clavicle: Option<JointId>,
    /// The shoulder joint.
    pub upper_arm: JointId,
    /// The elbow.
    pub forearm: JointId,
    /// The wrist.
    pub hand: JointId,
}

/// A role with its joint and the reason for the choice.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AssignedRole {
    /// The role.
    pub role: Role,
    /// The joint of the role.
    pub joint: JointId,
    /// Reason for the choice.
    pub why: RoleSource,
}

/// Known roles, from the caller or the file, for [`BodyRoles::find_with`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct RoleHints<'a> {
    /// Roles that the file declares: VRM 1.0 bone names (`hips`, `leftUpperLeg`, ...) with their joints. They take
    /// precedence over names; empty by default.
    pub declared: &'a [(String, JointId)],
    /// The pelvis: the joint above both legs and the spine. The search then covers only the joints below it, which selects
    /// one of several figures in a file. `None` by default.
    pub hips: Option<JointId>,
    /// The left and the right ankle. Thighs and shins are then found above them; the only requirements are a common ancestor
    /// and two joints above each ankle. `None` by default.
    pub feet: Option<[JointId; 2]>,
}

impl<'a> RoleHints<'a> {
    /// No hints.
    pub const fn new() -> Self {
        Self { declared: &[], hips: None, feet: None }
    }

    /// Sets [`declared`](Self::declared).
    #[must_use]
    pub const fn with_declared(self, declared: &'a [(String, JointId)]) -> Self {
        Self { declared, ..self }
    }

    /// Sets [`hips`](Self::hips).
    #[must_use]
    pub const fn with_hips(self, hips: JointId) -> Self {
        Self { hips: Some(hips), ..self }
    }

    /// Sets [`feet`](Self::feet): the left and the right ankle.
    #[must_use]
    pub const fn with_feet(self, feet: [JointId; 2]) -> Self {
        Self { feet: Some(feet), ..self }
    }
}

/// Joints of a two-legged figure, by role: always hips and legs, and the other parts that were found.
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
    /// The pelvis: the joint above both legs and the spine.
    pub hips: JointId,
    /// The spine from above the hips to below the neck or head, bottom first.
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
    /// All roles that have a joint, with the reason, in the order of [`Role`].
    pub assigned: Vec<AssignedRole>,
    /// Unresolved roles of the spine, neck, head, arms and toes, with the reason.
    pub doubts: Vec<RoleError>,
}

impl BodyRoles {
    /// Finds the roles of a figure. `bind` is its bind pose, Y up. `declared` are the roles that its file declares (see
    /// [`RoleHints::declared`]); it may be empty.
    ///
    /// Roles of the spine, neck, head, arms and toes stay empty where they are not found, with a reason in
    /// [`doubts`](Self::doubts).
    ///
    /// # Errors
    /// [`RoleError`] where hips or legs are not found, where several joints fit one of them equally well, or where a
    /// declared joint cannot have its role.
    pub fn find(bind: &Pose, declared: &[(String, JointId)]) -> Result<Self, RoleError> {
        Self::find_with(bind, &RoleHints::new().with_declared(declared))
    }

    /// Finds the roles of a figure with known ankles. `bind` is its bind pose, Y up. Fails as [`BodyRoles::find`] does.
    pub fn with_feet(bind: &Pose, left: JointId, right: JointId) -> Result<Self, RoleError> {
        Self::find_with(bind, &RoleHints::new().with_feet([left, right]))
    }

    /// Finds the roles of a figure with hints. `bind` is its bind pose, Y up. Fails as [`BodyRoles::find`] does.
    pub fn find_with(bind: &Pose, hints: &RoleHints<'_>) -> Result<Self, RoleError> {
        find::find(bind, hints)
    }

    /// The leg of a side.
    #[inline]
    pub fn leg(&self, side: Side) -> &LegJoints {
        &self.legs[side.index()]
    }

    /// The arm of a side, if it was found.
    #[inline]
    pub fn arm(&self, side: Side) -> Option<&ArmJoints> {
        self.arms[side.index()].as_ref()
    }

    /// The joint of a role, if it was found.
    pub fn joint(&self, role: Role) -> Option<JointId> {
        self.assigned.iter().find(|a| a.role == role).map(|a| a.joint)
    }

    /// Reason for the choice of a role's joint, if it was found.
    pub fn why(&self, role: Role) -> Option<&RoleSource> {
        self.assigned.iter().find(|a| a.role == role).map(|a| &a.why)
    }

    /// Direction in which the figure faces in `bind`: a horizontal unit vector in model space, with the left leg on its
    /// left. It follows from the thighs, or from the feet where the thighs coincide, as files differ (glTF and VRM 1 face
    /// +Z, VRM 0 faces -Z, motion capture any direction). +Z where both coincide. In a mirrored figure the left leg is on the
    /// right of where its toes point.
    pub fn front(&self, bind: &Pose) -> Vec3 {
        let aside = |[l, r]: [JointId; 2]| {
            let across = bind.position(l) - bind.position(r);
            Vec3::new(across.x, 0.0, across.z).normalize_or_zero()
        };
        let thighs = aside([self.legs[0].thigh, self.legs[1].thigh]);
        // Some rigs have both thighs at one position.
        let left = if thighs == Vec3::ZERO { aside([self.legs[0].foot, self.legs[1].foot]) } else { thighs };
        let front = if left == Vec3::ZERO { Vec3::Z } else { left.cross(Vec3::Y) };
        let foot = |leg: &LegJoints| Some(bind.position(leg.toes?) - bind.position(leg.foot));
        let toes: Vec3 = self.legs.iter().filter_map(foot).sum();
        if toes.dot(front) < 0.0 { -front } else { front }
    }

    /// Height of the figure in `bind`, in metres: the vertical extent of the vertices in `skin` whose joint is the hips or
    /// below them. Without such vertices it is that of those joints. Each vertex comes with the joint of its largest skin
    /// weight and its position in model space. (The filter by joint leaves out scenery in the same file.)
    pub fn height(&self, bind: &Pose, skin: &[(JointId, Vec3)]) -> f32 {
        let skeleton = bind.skeleton();
        let span = |(low, high): (f32, f32), y: f32| (low.min(y), high.max(y));
        let none = (f32::INFINITY, f32::NEG_INFINITY);
        let vertices = skin.iter().filter(|(joint, _)| skeleton.is_below(*joint, self.hips));
        let (mut low, mut high) = vertices.map(|(_, position)| position.y).fold(none, span);
        if low > high {
            (low, high) = skeleton.below(self.hips).map(|j| bind.position(j).y).fold(none, span);
        }
        high - low
    }
}
