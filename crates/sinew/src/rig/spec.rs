//! Rigs as plain data.

use alloc::{string::String, vec::Vec};
use core::fmt;

use glam::Vec3;

use super::RigGoal;
use crate::{
    JointId,
    body::Role,
    ground::plant::Sole,
    solve::{IterativeOptions, RootMode},
};

/// Declares an enum whose variants have names in rig files.
macro_rules! named {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// Every variant, in the order of the docs.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in rig files and errors.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|v| v.name() == name)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub(super) use named;

named! {
    /// The solver of a handle.
    HandleSolver {
        /// [`Auto`](crate::solve::Auto): the best solver for the chain's joints.
        #[default]
        Auto = "auto",
        /// [`TwoBone`](crate::solve::TwoBone): a limb in closed form. A chain of more than three joints bends at the joint
        /// nearest to half its length.
        TwoBone = "two-bone",
        /// [`Follow`](crate::solve::Follow), pulled by the tip. The root moves.
        Follow = "follow",
        /// [`Ccd`](crate::solve::Ccd).
        Ccd = "ccd",
        /// [`Fabrik`](crate::solve::Fabrik).
        Fabrik = "fabrik",
        /// [`Fold`](crate::solve::Fold): a leg of any number of bones, all of whose bends change by one factor. From preferred
        /// values, those of the bind pose.
        Fold = "fold",
        /// [`DampedLeastSquares`](crate::solve::DampedLeastSquares); a rig adds precedence and damping.
        LeastSquares = "dls",
        /// [`Spline`](crate::solve::Spline), on a curve through the positions of the [effectors](HandleSpec::effectors).
        /// The root moves to the first.
        Spline = "spline",
        /// [`LookAt`](crate::solve::LookAt): the joints of the chain share the turn equally.
        LookAt = "look-at",
        /// [`FullBody`](crate::solve::FullBody), from the chain's root, with the [effectors](HandleSpec::effectors).
        FullBody = "full-body",
        /// [`Aim`](crate::solve::Aim) of the chain's root, which is its tip. A pole is the up direction.
        Aim = "aim",
        /// [`JointSpaceSolver`](crate::mechanism::JointSpaceSolver); a rig adds precedence, damping and springs. Bones have
        /// their lengths at bind.
        JointSpace = "joint-space",
        /// A leg from hip to ankle that pivots about heel, ball and tip of the sole.
        Foot = "foot",
        /// Spreads the roll of the tip along the chain.
        Twist = "twist",
        /// Puts its one joint at the goal, such as the hips, which carry a figure. The joint's offset from its parent changes.
        Place = "place",
    }
}

named! {
    /// The pose of its chain from which a handle starts.
    StartFrom {
        /// The pose that the handle before left: the animation's, for the first.
        #[default]
        Pose = "pose",
        /// Preferred values. The result does not depend on the initial rotations of the chain.
        Preferred = "preferred",
        /// The last frame's result, from [`RigState`](super::RigState); the pose, if there is none.
        Last = "last",
    }
}

/// The space of a goal or of a pole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Space {
    /// Model space.
    #[default]
    Model,
    /// World space: [`RigFrame::placement`](super::RigFrame::placement) converts.
    World,
    /// The frame of a joint, as the handles before leave it.
    Joint(JointId),
    /// The frame of a role's joint, as the handles before leave it, in axes and lengths that figures share: at bind, x is the
    /// figure's left, y up and z its front, and 1.8 is its [height](RigSpec::height). A rotation is that by which the goal's
    /// joint is turned from bind: the identity where it stands to the role as at bind.
    Role(Role),
}

/// The source of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct GoalSpec {
    /// Space of what the caller gives.
    pub space: Space,
    /// Space of a pole that the caller gives; `None` (the default) for that of the goal.
    pub pole_space: Option<Space>,
    /// Joint whose position is the goal where the caller gives none, with the offset that its tip has from it at bind.
    pub node: Option<JointId>,
    /// Whether the node's rotation is the goal too, with the offset that the tip's has from it at bind. Control joints of many
    /// files have rotations that their limbs do not follow.
    pub follows_rotation: bool,
    /// The goal where the caller's is unset; unset by default. Its influences multiply the caller's, and its spaces are those
    /// above. A node gives the position where this has none. Its pole and swivel hold as well where the caller gives neither.
    pub value: RigGoal,
}

/// One of several goals of a handle: of a full body, or a control point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct EffectorSpec {
    /// Joint that the goal moves. A control point lies at this joint unless it is set.
    pub joint: JointId,
    /// Source of the goal.
    pub goal: GoalSpec,
    /// Weights of the position and of the rotation where goals compete, 0 to 1e6; 1 by default. Full bodies only.
    pub weights: [f32; 2],
    /// Priority, 0 (highest, the default) to 2. Full bodies only.
    pub priority: u8,
    /// Name by which [`Rig::find_goal`](super::Rig::find_goal) finds the goal; `None` by default.
    pub name: Option<String>,
    /// Whether the joint keeps its rotation in model space too where the goal gives none: for feet, which then do not tilt with their
    /// legs. False by default. Full bodies only.
    pub holds: bool,
}

impl EffectorSpec {
    /// An effector whose goal the caller gives in model space.
    pub fn new(joint: JointId) -> Self {
        Self { joint, goal: GoalSpec::default(), weights: [1.0; 2], priority: 0, name: None, holds: false }
    }
}

/// The sole of a [`HandleSolver::Foot`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootSpec {
    /// Joint at the ball of the foot, below the ankle; `None` for a rigid foot.
    pub toes: Option<JointId>,
    /// Heel, ball and tip; `None` for a person's proportions ([`Sole::from_proportions`]). With toes, the foot turns about
    /// their joint in place of the ball.
    pub sole: Option<Sole>,
    /// Roll at which the foot goes from its ball to its tip, in radians, 0 to pi; half a radian by default.
    pub break_angle: f32,
}

impl Default for FootSpec {
    fn default() -> Self {
        Self { toes: None, sole: None, break_angle: 0.5 }
    }
}

/// A handle: a chain, a solver, and the source of its goal. Made by [`HandleSpec::new`]; every field has a default.
#[derive(Clone, Debug, PartialEq)]
pub struct HandleSpec {
    /// Name, unique in the rig.
    pub name: String,
    /// sRGB colour in which it is drawn; `None` for that of goals.
    pub color: Option<[u8; 3]>,
    /// Solver; [`HandleSolver::Auto`] by default.
    pub solver: HandleSolver,
    /// Start; [`StartFrom::Pose`] by default.
    pub from: StartFrom,
    /// First joint of the chain.
    pub root: JointId,
    /// Last joint of the chain.
    pub tip: JointId,
    /// Source of the goal. Handles with effectors have theirs instead.
    pub goal: GoalSpec,
    /// Joint that is the pole where the caller gives none. The bend plane keeps the angle to it that it has at bind.
    pub pole: Option<JointId>,
    /// Share of the position's result that is applied, 0 to 1 (the default), in joint coordinates. Of a handle without a
    /// position, of all that it does.
    pub position_influence: f32,
    /// Share of the rotation's result that is applied at the tip, 0 to 1 (the default).
    pub rotation_influence: f32,
    /// Whether it is on in a fresh state; true by default. [`RigState::set_on`](super::RigState::set_on) switches it.
    pub on: bool,
    /// Duration of switching on or off, in seconds; 0 by default.
    pub fade: f32,
    /// The axis of an aim or of a look-at, in the tip's local space (any length but 0). By default it is the direction in
    /// which the figure faces at bind: that of its roles, or model +Z.
    pub axis: Option<Vec3>,
    /// Whether what a goal leaves unset holds the tip where the animation has it, in model space, when a handle before has moved the
    /// joints above the chain: for feet below hips that are moved. A goal with less influence moves the tip from there. False by
    /// default: the tip goes along.
    pub holds: bool,
    /// Goals of a full body, or control points of a spline; empty for all others.
    pub effectors: Vec<EffectorSpec>,
    /// Sole of a foot.
    pub foot: FootSpec,
    /// How a full body's root translates; [`RootMode::Pinned`] by default. A root that is not pinned stays only where its own
    /// effector's goal is set.
    pub root_mode: RootMode,
    /// Options of solvers of chains and of full bodies. Their influence multiplies both influences of the handle.
    pub options: IterativeOptions,
}

impl HandleSpec {
    /// A handle of a chain, solved by [`HandleSolver::Auto`] from the pose, with a goal that the caller gives in model
    /// space.
    pub fn new(name: impl Into<String>, root: JointId, tip: JointId) -> Self {
        Self {
            name: name.into(),
            color: None,
            solver: HandleSolver::Auto,
            from: StartFrom::Pose,
            root,
            tip,
            goal: GoalSpec::default(),
            pole: None,
            position_influence: 1.0,
            rotation_influence: 1.0,
            on: true,
            fade: 0.0,
            axis: None,
            holds: false,
            effectors: Vec::new(),
            foot: FootSpec::default(),
            root_mode: RootMode::Pinned,
            options: IterativeOptions::new(),
        }
    }
}

/// A rig: its handles, in the order in which they are solved.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct RigSpec {
    /// The handles.
    pub handles: Vec<HandleSpec>,
    /// Height of the figure at bind, in metres, for goals in the [space of a role](Space::Role). `None` (the default) for that of
    /// its joints, which is less than that of its skin ([`BodyRoles::height`](crate::body::BodyRoles::height)).
    pub height: Option<f32>,
    /// Planting of the left and the right foot of a two-legged figure, for [`Rig::figure`](super::Rig::figure) and
    /// [`Rig::with_planter`](super::Rig::with_planter).
    pub feet: [FootPlanting; 2],
}

impl RigSpec {
    /// A rig of these handles.
    pub fn new(handles: Vec<HandleSpec>) -> Self {
        Self { handles, ..Self::default() }
    }
}

/// Settings of planting for one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootPlanting {
    /// Height at which a planted sole is held above the ground, in metres. 0 by default.
    pub height: f32,
    /// Turn of the toes of a planted foot away from the other foot, in radians. 0 by default.
    pub toe_out: f32,
    /// Whether a planted sole lies along the ground; `true` by default. Without, it stays level
    /// ([`Leg::follows_slope`](crate::ground::plant::Leg::follows_slope)).
    pub follows_slope: bool,
    /// Joint whose animated offset from its parent tells whether the foot stands: from one half on. Its y counts; its x where y is
    /// that of the rest pose, and its z where both are. `None` (the default) to detect contacts.
    pub contact: Option<JointId>,
}

impl Default for FootPlanting {
    fn default() -> Self {
        Self { height: 0.0, toe_out: 0.0, follows_slope: true, contact: None }
    }
}
