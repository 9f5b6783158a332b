//! Effectors, options and errors of the full-body solver.

use alloc::{string::String, vec::Vec};

use glam::Vec3;
use thiserror::Error;

use super::{Balance, bias::Bias};
use crate::{
    Goal, JointId, Pole, Pose, Report, Skeleton, SolveError,
    joint::UnsupportedAttribute,
    math,
    solve::{IterativeOptions, Tolerance, arc::distance, check},
};

/// The joint that a goal of a [`FullBody`](super::FullBody) moves, or a point fixed to it.
///
/// ```
/// # use sinew::{Skeleton, JointTransform, glam::Vec3, solve::Effector};
/// # let mut builder = Skeleton::builder();
/// # builder.add("foot", None, JointTransform::IDENTITY);
/// # let (skeleton, _) = builder.build()?;
/// # let foot = skeleton.find("foot").unwrap();
/// let sole = Effector::new(foot).with_offset(Vec3::new(0.0, -0.08, 0.0)).with_priority(0);
/// # Ok::<(), sinew::SkeletonError>(())
/// ```
#[doc(alias("end effector", "tip"))]
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Effector {
    /// The joint: any joint below the root, or the root itself.
    pub joint: JointId,
    /// Position of the point in the joint's own frame and units; zero (the default) for the joint's origin.
    pub offset: Vec3,
    /// Priority of the goal: 0 (highest, the default), 1 or 2. Goals of a lower priority use the dofs that the higher ones
    /// leave free.
    pub priority: u8,
    /// Joint that the goal is relative to: its position and rotation are then in that joint's own frame, which closes a
    /// loop. `None` (the default) for goals in model space.
    pub relative_to: Option<JointId>,
    /// Weight of the goal's position relative to goals of the same priority, 0 to 1e6; 1 by default. Only ratios of weights
    /// count. At 0 the goal's position and pole are ignored.
    pub position_weight: f32,
    /// Weight of the goal's rotation, 0 to 1e6; 1 by default. At 0 the goal's rotation is ignored.
    pub rotation_weight: f32,
}

impl Effector {
    /// An effector at the joint's origin, of the highest priority, with goals in model space and weights of 1.
    pub const fn new(joint: JointId) -> Self {
        let (position_weight, rotation_weight) = (1.0, 1.0);
        Self { joint, offset: Vec3::ZERO, priority: 0, relative_to: None, position_weight, rotation_weight }
    }

    /// Sets [`offset`](Self::offset), a point in the joint's own frame.
    #[must_use]
    pub const fn with_offset(self, offset: Vec3) -> Self {
        Self { offset, ..self }
    }

    /// Sets [`priority`](Self::priority), 0 (highest) to 2.
    #[must_use]
    pub const fn with_priority(self, priority: u8) -> Self {
        Self { priority, ..self }
    }

    /// Sets [`relative_to`](Self::relative_to): the goals are in the frame of this joint.
    #[must_use]
    pub const fn with_relative_to(self, joint: JointId) -> Self {
        Self { relative_to: Some(joint), ..self }
    }

    /// Sets [`position_weight`](Self::position_weight), 0 to 1e6.
    #[must_use]
    pub const fn with_position_weight(self, position_weight: f32) -> Self {
        Self { position_weight, ..self }
    }

    /// Sets [`rotation_weight`](Self::rotation_weight), 0 to 1e6.
    #[must_use]
    pub const fn with_rotation_weight(self, rotation_weight: f32) -> Self {
        Self { rotation_weight, ..self }
    }

    /// A goal without the parts that have a weight of 0 or an influence below `min`, which is above 0.
    pub(in crate::solve) fn part(&self, goal: &Goal, min: f32) -> Goal {
        let mut part = *goal;
        if self.position_weight == 0.0 || goal.position_influence < min {
            (part.position, part.pole, part.swivel) = (None, Pole::Keep, 0.0);
        }
        if self.rotation_weight == 0.0 || goal.rotation_influence < min {
            part.rotation = None;
        }
        part
    }
}

/// Mode of a full body's root translation. The root rotates as its joint allows in every mode.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum RootMode {
    /// The root stays at its position.
    #[default]
    Pinned,
    /// The root translates without resistance.
    Free,
    /// The root translates against a spring to its incoming position: among the poses that meet the goals, the solver
    /// selects one with the root near there. The value is the spring's strength, 0 to 1e6. At 1, a displacement by the
    /// figure's size costs as much as a rotation of one radian.
    Spring(f32),
    /// The root moves to a position in model space, in metres, and stays there.
    At(Vec3),
}

/// Options of a [`FullBody`](super::FullBody). Where the defaults suffice for the rest, [`IterativeOptions`] may be passed
/// in their place.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct FullBodyOptions<'a> {
    /// Options that all iterative solvers share. By default a solve makes at most 200 steps, including those after restarts,
    /// and 6 restarts. With 0 restarts it stays on the branch of the incoming pose. A relative tolerance of positions is a
    /// fraction of the figure's [`size`](super::FullBody::size).
    ///
    /// Where the answer is beyond `max_turn`, all joints move the same fraction of the way towards it, in joint coordinates.
    /// They move less where a residual would grow. A figure that solves each frame from the last frame's pose then never
    /// jumps, and converges over several frames.
    ///
    /// The soft zone of a limb is a fraction of the range of distances that its end can reach. A limb is a chain of joints
    /// that one position goal alone moves. Within the zone its end falls short of the goal. The residual pulls the trunk
    /// along until the limb leaves the zone, if the trunk can move. Knees and elbows then slow down near full extension
    /// instead of snapping. The trunk itself has no zone.
    pub iterative: IterativeOptions,
    /// Mode of the root's translation; [`RootMode::Pinned`] by default.
    pub root: RootMode,
    /// Strength of the pull of joints to their preferred values, 0 (none, the default) to 1. Joints without a preferred
    /// value are pulled to the rest pose. It moves joints only where goals leave them free.
    pub posture: f32,
    /// Goal for the centre of mass over a support; `None` (the default) leaves it free.
    pub balance: Option<Balance<'a>>,
}

/// Declares `with_` methods that set a field of the iterative options.
macro_rules! iterative {
    ($($with:ident: $type:ty;)*) => {$(
        #[doc = concat!("See [`IterativeOptions::", stringify!($with), "`].")]
        #[must_use]
        pub const fn $with(self, value: $type) -> Self {
            Self { iterative: self.iterative.$with(value), ..self }
        }
    )*};
}

impl<'a> FullBodyOptions<'a> {
    /// The default options.
    pub const fn new() -> Self {
        Self { iterative: IterativeOptions::new(), root: RootMode::Pinned, posture: 0.0, balance: None }
    }

    iterative! {
        with_influence: f32;
        with_max_turn: f32;
        with_soft: f32;
        with_position_tolerance: Tolerance;
        with_rotation_tolerance: f32;
        with_max_iterations: u32;
        with_max_restarts: u32;
    }

    /// Sets [`iterative`](Self::iterative).
    #[must_use]
    pub const fn with_iterative(self, iterative: IterativeOptions) -> Self {
        Self { iterative, ..self }
    }

    /// Sets [`root`](Self::root).
    #[must_use]
    pub const fn with_root(self, root: RootMode) -> Self {
        Self { root, ..self }
    }

    /// Sets [`posture`](Self::posture).
    #[must_use]
    pub const fn with_posture(self, posture: f32) -> Self {
        Self { posture, ..self }
    }

    /// Sets [`balance`](Self::balance).
    #[must_use]
    pub const fn with_balance(self, balance: Balance<'a>) -> Self {
        Self { balance: Some(balance), ..self }
    }

    pub(super) fn check(&self, joints: usize) -> Result<(), SolveError> {
        self.iterative.check()?;
        check::within("the posture's strength", "0 to 1", self.posture, 0.0, 1.0)?;
        match self.root {
            RootMode::Pinned | RootMode::Free => {}
            RootMode::Spring(strength) => {
                check::within("the root's spring", "0 to 1e6", strength, 0.0, 1e6)?;
            }
            RootMode::At(position) => check::finite("the root's position", position)?,
        }
        self.balance.map_or(Ok(()), |balance| balance.check(joints))
    }

    /// Maximum numbers of steps and of restarts.
    pub(super) fn budget(&self) -> (u32, u32) {
        (self.iterative.max_iterations.unwrap_or(200), self.iterative.max_restarts.unwrap_or(6))
    }

    /// Weights of the secondary objectives, without poles.
    pub(super) fn bias(&self) -> Bias {
        let posture = f64::from(self.posture);
        let root = match self.root {
            RootMode::Pinned | RootMode::At(_) => None,
            RootMode::Free => Some(0.0),
            RootMode::Spring(s) => Some(f64::from(s)),
        };
        Bias { posture: posture * posture, pole: 0.0, root }
    }
}

impl From<IterativeOptions> for FullBodyOptions<'_> {
    fn from(iterative: IterativeOptions) -> Self {
        Self::new().with_iterative(iterative)
    }
}

/// Error of a [`FullBody`](super::FullBody) or [`FabrikTree`](crate::solve::FabrikTree) whose effectors do not fit the skeleton.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum FullBodyError {
    /// The list of effectors is empty.
    #[error("a solver of several goals needs at least one effector")]
    Empty,
    /// A joint id is not in the skeleton.
    #[error("effector {effector} names joint {joint}, but the skeleton has {count} joints")]
    NoSuchJoint {
        /// Index of the effector, from 0.
        effector: usize,
        /// The joint of the effector, or the joint that its goal is relative to.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// The root's id is not in the skeleton.
    #[error("the root is joint {joint}, but the skeleton has {count} joints")]
    NoSuchRoot {
        /// The root.
        joint: JointId,
        /// Number of joints of the skeleton.
        count: usize,
    },
    /// An effector is not below the root.
    #[error("joint `{effector}` does not hang below joint `{root}`")]
    NotBelowRoot {
        /// Name of the effector's joint.
        effector: String,
        /// Name of the root.
        root: String,
    },
    /// The offset of an effector holds NaN or an infinity.
    #[error("the offset of the effector on joint `{joint}` is not finite: {offset}")]
    Offset {
        /// Name of the effector's joint.
        joint: String,
        /// The offset.
        offset: Vec3,
    },
    /// A priority is above 2.
    #[error("the effector on joint `{joint}` has priority {priority}: it must be 0, 1 or 2")]
    Priority {
        /// Name of the effector's joint.
        joint: String,
        /// The priority.
        priority: u8,
    },
    /// A weight is negative, above 1e6 or NaN.
    #[error("the effector on joint `{joint}` has weight {weight}: it must be 0 to 1e6")]
    Weight {
        /// Name of the effector's joint.
        joint: String,
        /// The weight.
        weight: f32,
    },
    /// A goal is relative to the effector's own joint, so that no motion changes its residual.
    #[error(
        "the goal of joint `{joint}` is relative to that joint itself: it must be relative to another joint"
    )]
    LoopWithItself {
        /// Name of the joint.
        joint: String,
    },
    /// Two effectors are the same point of the same joint.
    #[error("effectors {first} and {second} both lead the same point of joint `{joint}`")]
    Twice {
        /// Index of the first effector, from 0.
        first: usize,
        /// Index of the second.
        second: usize,
        /// Name of their joint.
        joint: String,
    },
    /// An effector has a property that the solver does not support.
    #[error("the effector on joint `{joint}` has {property}, which the solver `{solver}` does not support")]
    Unsupported {
        /// Name of the effector's joint.
        joint: String,
        /// The property.
        property: &'static str,
        /// Name of the solver.
        solver: &'static str,
    },
    /// A joint has an attribute that the solver does not support.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// Checks the effectors against the skeleton and the root.
pub(in crate::solve) fn check_effectors(
    skeleton: &Skeleton,
    root: JointId,
    effectors: &[Effector],
) -> Result<(), FullBodyError> {
    let count = skeleton.len();
    if root.index() >= count {
        return Err(FullBodyError::NoSuchRoot { joint: root, count });
    }
    if effectors.is_empty() {
        return Err(FullBodyError::Empty);
    }
    let name = |joint| String::from(skeleton.name(joint));
    for (i, e) in effectors.iter().enumerate() {
        for joint in [Some(e.joint), e.relative_to].into_iter().flatten() {
            if joint.index() >= count {
                return Err(FullBodyError::NoSuchJoint { effector: i, joint, count });
            }
        }
        if !skeleton.is_below(e.joint, root) {
            return Err(FullBodyError::NotBelowRoot { effector: name(e.joint), root: name(root) });
        }
        if !e.offset.is_finite() {
            return Err(FullBodyError::Offset { joint: name(e.joint), offset: e.offset });
        }
        if e.priority > 2 {
            return Err(FullBodyError::Priority { joint: name(e.joint), priority: e.priority });
        }
        let heavy = |w: &f32| !(0.0..=1e6).contains(w);
        if let Some(weight) = [e.position_weight, e.rotation_weight].into_iter().find(heavy) {
            return Err(FullBodyError::Weight { joint: name(e.joint), weight });
        }
        if e.relative_to == Some(e.joint) {
            return Err(FullBodyError::LoopWithItself { joint: name(e.joint) });
        }
        let same = |other: &&Effector| {
            (other.joint, other.offset, other.relative_to) == (e.joint, e.offset, e.relative_to)
        };
        if let Some(second) = effectors[i + 1..].iter().position(|other| same(&other)) {
            return Err(FullBodyError::Twice { first: i, second: i + 1 + second, joint: name(e.joint) });
        }
    }
    Ok(())
}

/// Whether each joint of the skeleton is on a path from `root` down to one of `ends`.
pub(in crate::solve) fn paths(
    skeleton: &Skeleton,
    root: JointId,
    ends: impl Iterator<Item = JointId>,
) -> Vec<bool> {
    let mut on = alloc::vec![false; skeleton.len()];
    for joint in ends.filter(|&j| skeleton.is_below(j, root)) {
        for j in core::iter::once(joint).chain(skeleton.ancestors(joint)) {
            on[j.index()] = true;
            if j == root {
                break;
            }
        }
    }
    on
}

/// The outcome of each goal by itself: `report` with the residuals of that goal, measured on an updated pose.
pub(in crate::solve) fn effector_reports<'a>(
    effectors: &'a [Effector],
    pose: &'a Pose,
    goals: &'a [Goal],
    report: Report,
) -> impl Iterator<Item = Report> + use<'a> {
    effectors.iter().zip(goals).map(move |(e, goal)| {
        let goal = e.part(goal, f32::MIN_POSITIVE);
        let position = goal.position.map_or(0.0, |p| {
            let p = e.relative_to.map_or(p, |j| pose.model(j).transform_point3(p));
            distance(pose.model(e.joint).transform_point3(e.offset), p)
        });
        let rotation = goal.rotation.map_or(0.0, |q| {
            let q = math::normalize(q);
            let q = e.relative_to.map_or(q, |j| math::mul(pose.model_rotation(j), q));
            math::angle_between(pose.model_rotation(e.joint), q)
        });
        Report { position_residual: position, rotation_residual: rotation, ..report }
    })
}

/// `report` with the largest residuals of these goals; see [`effector_reports`].
pub(in crate::solve) fn with_residuals(
    effectors: &[Effector],
    pose: &Pose,
    goals: &[Goal],
    report: Report,
) -> Report {
    let none = Report { position_residual: 0.0, rotation_residual: 0.0, ..report };
    effector_reports(effectors, pose, goals, report).fold(none, |worst, effector| Report {
        position_residual: worst.position_residual.max(effector.position_residual),
        rotation_residual: worst.rotation_residual.max(effector.rotation_residual),
        ..report
    })
}

/// The smallest influence of a goal above `above`, or 1.
pub(in crate::solve) fn next_influence(goals: &[Goal], above: f32) -> f32 {
    let all = goals.iter().flat_map(|goal| [goal.position_influence, goal.rotation_influence]);
    all.filter(|&i| i > above && i >= f32::MIN_POSITIVE).fold(1.0, f32::min)
}
