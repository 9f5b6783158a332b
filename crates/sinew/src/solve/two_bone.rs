//! The two-bone limb, solved in closed form in 3D.

mod bounded;
mod general;
mod hinged;
mod limited;
mod plain;
mod points;
mod ranged;

pub use plain::solve_points;
pub use points::{LimbBend, LimbPoints, LimbTurns};
pub(crate) use ranged::Ranged;

use alloc::string::String;

use glam::{Mat3, Quat, Vec3};
use thiserror::Error;

use super::{
    LimbOptions, Tolerance, arc::distance, branch, check, nearest::Nearest, options::ROTATION_TOLERANCE,
    parent_space, partial, soft::softened,
};
use crate::{
    Chain, ChainError, Goal, JointId, Outcome, Pole, Pose, Report, Skeleton, SolveError,
    joint::{Attributes, Capability, UnsupportedAttribute},
    math,
};

/// The side of its hinge axis to which a limb bends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BendSide {
    /// The side to which the input pose bends.
    #[default]
    Keep,
    /// Flexion is a positive turn of the middle joint about the hinge axis.
    Positive,
    /// Flexion is a negative turn of the middle joint about the hinge axis.
    Negative,
}

/// Reasons why joints do not make a limb.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TwoBoneError {
    /// Root and tip do not make a chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The middle joint does not lie between the two ends, or is a tip without an offset.
    #[error("joint `{middle}` does not lie between joints `{root}` and `{tip}`")]
    NotBetween {
        /// Name of the root.
        root: String,
        /// Name of the middle joint.
        middle: String,
        /// Name of the tip.
        tip: String,
    },
    /// A side was chosen for a limb without a hinge.
    #[error(
        "the bend side of joint `{middle}` is {side:?}, but it has no hinge: give its axis first (`with_hinge`), or keep the \
         side that the pose bends to"
    )]
    NoHinge {
        /// Name of the middle joint.
        middle: String,
        /// The side that was chosen.
        side: BendSide,
    },
    /// The middle joint of a limb within limits turns about no axis of its own.
    #[error("joint `{middle}` turns freely, but bends a limb within limits: give it a hinge")]
    TurnsFreely {
        /// Name of the middle joint.
        middle: String,
    },
    /// The root or the middle joint has an attribute that a limb cannot honour. Limits need
    /// [`within_limits`](TwoBone::within_limits).
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// The solver's name in error messages.
pub(super) const CAPABILITY: Capability =
    Capability { partly: limited::PARTLY, keeps: true, ..Capability::new("two-bone", Attributes::NONE) };

/// A limb of two bones: root (hip), middle (knee) and tip (ankle). Any joints between them are held rigid.
///
/// Only the root and the middle joint turn, and the tip where the goal names a rotation. Offsets, twist joints and scales
/// keep the values of the input pose.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Goal, Pose, Skeleton, JointTransform, glam::Vec3, solve::{LimbOptions, TwoBone}};
///
/// let mut builder = Skeleton::builder();
/// let hip = builder.add("hip", None, JointTransform::from_translation(Vec3::new(0.0, 0.9, 0.0)));
/// let knee = builder.add("knee", Some(hip), JointTransform::from_translation(Vec3::new(0.0, -0.45, 0.05)));
/// builder.add("ankle", Some(knee), JointTransform::from_translation(Vec3::new(0.0, -0.42, -0.05)));
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let leg = TwoBone::new(&skeleton, ids[0], ids[1], ids[2])?;
/// let mut pose = Pose::rest(&skeleton);
/// let step = Vec3::new(0.1, 0.2, 0.3);
/// let report = leg.solve(&mut pose, &Goal::position(step), &LimbOptions::new())?;
/// assert!(report.position_residual < 1e-6);
/// assert!(pose.position(ids[2]).distance(step) < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Let R, M, T be the positions of root, middle and end in model space, u = M - R and v = T - M the bones, a and b their
/// lengths, e = T - R, and g the vector from R to the goal. The flexion phi is the angle from u to v (0: straight) about the
/// bend axis n = u x v. The limb reaches the distances d with |a - b| <= d <= a + b, where the cosine rule
///
/// ```text
/// d^2 = a^2 + b^2 + 2 a b cos(phi)
/// ```
///
/// gives the flexion. Near straight and near folded the cosine loses its digits. The rule for the half angle, factored,
/// loses none:
///
/// ```text
/// cos^2(phi / 2) = (d - (a - b)) (d + (a - b)) / 4ab
/// sin^2(phi / 2) = (a + b - d) (a + b + d) / 4ab
/// ```
///
/// Quaternions hold half angles. Let phi0 be the initial flexion, which |u x v| and u . v give in the same form. The middle
/// joint turns about n by phi - phi0, which needs products and one normalisation, but no trigonometry.
///
/// That turn moves the end to e1 = u + v', at the distance d and still in the bend plane. The root's turn is then `arc(e ->
/// g) arc(e1 -> e)`, two shortest arcs. The first to act returns the end to its old direction, within the plane. The second
/// carries limb and plane to the goal by the shortest arc, which keeps the roll of the animation. As e1 is measured after
/// the middle joint's turn and not computed from angles, its rounding is corrected too. A pole or a swivel angle is one more
/// turn about g, which leaves the end where it is.
///
/// # Within limits
///
/// [`TwoBone::within_limits`] makes a limb whose middle joint is a hinge with a range, and whose root may be a ball. The
/// flexion is then that of the range at which the end has the goal's distance, or the end of the range. The root's rotations
/// that lead the end to the goal are one turn about the goal's direction, the swivel: the limb takes the swivel within the
/// ball's limits that is nearest to the wanted one. Where there is none for any flexion, it takes the pose within the limits
/// whose end is nearest to the goal, and the report has the residual.
///
/// # Undefined directions
///
/// - Where the limb is straight or folded, u x v vanishes and the bend axis is the [`hinge`](Self::hinge)'s. The hinge fades
///   in within half a degree of straight or folded, as no clip knows its bend plane better than that. With a pole, the hinge
///   alone decides there, and its side faces the pole even where the limb stays straight. A straight limb without a hinge
///   bends towards the pole, or stays straight without a roll.
/// - A goal on the root keeps the limb's direction.
/// - A goal opposite to the limb's direction leaves the arc undefined; the limb turns within its own bend plane. Near there
///   the roll changes fast, as with every rule that depends on a single pose.
/// - A pole in line with root and goal is undefined. It fades out over the last ten degrees, towards the bend plane of the
///   input pose.
///
/// Drawn by the example `two_bone`:
///
#[doc = include_str!("../../pictures/two_bone.svg")]
#[doc(alias("limb", "IK2", "hint"))]
#[derive(Clone, Debug, PartialEq)]
pub struct TwoBone {
    chain: Chain,
    middle: JointId,
    name: String,
    hinge: Option<Vec3>,
    side: BendSide,
    within: Option<Within>,
}

type Bring = fn(&TwoBone, &mut Pose, &Task, &Input, [f32; 2]) -> Brought;

/// The solves of a limb within limits. Limbs without limits do not name them, so that a program without the others does not
/// hold their code.
#[derive(Clone, Copy, Debug)]
struct Within {
    /// The hinge's axis in the frame of the middle joint's parent.
    across: Vec3,
    solve: fn(&TwoBone, &mut Pose, &Goal, &LimbOptions, Tolerance) -> Result<Report, SolveError>,
    bring: Bring,
}

impl PartialEq for Within {
    /// There is only one.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Sine of the rest pose's flexion above which it defines the hinge: one degree. A figure modelled straight has less.
const REST_BEND: f32 = 0.0175;

/// Passes for a stretched limb. Each leaves at most a quarter of the error where bones are of similar length, so that the
/// rest is below f32's resolution.
const PASSES: u32 = 12;

/// Share of a stretched limb's length up to which the error left by the passes counts as settled.
const SETTLED: f32 = 1e-5;

/// Rounding of a position by forward kinematics in f32, as a share of its [`Pose::extent`]. A rotation is exact to half a
/// unit in the last place of each of its four numbers (1e-7 radians in all), a frame is three sums of products, and the
/// errors of a handful of joints add up.
const UNCERTAIN: f32 = 3e-7;

/// The task of a solve.
#[derive(Clone, Copy)]
struct Task<'a> {
    /// Target position of the end in model space: that of the input pose where the goal has none.
    to: Vec3,
    goal: &'a Goal,
    side: BendSide,
    options: &'a LimbOptions,
}

/// State of the limb in the input pose.
struct Input {
    start: LimbPoints,
    /// Local rotations of root, middle and tip.
    before: [Quat; 3],
    uncertain: f32,
    /// Whether the closed form must be repeated, as bones change their lengths when they turn.
    stretched: bool,
}

/// Result of bringing the limb to its task.
struct Brought {
    /// The initial positions of the limb brought to `to`. The tip joint replaces the end where it is led itself.
    at: LimbPoints,
    to: Vec3,
    turns: LimbTurns,
    moved: bool,
    settled: bool,
}

impl Task<'_> {
    fn is_poled(&self) -> bool {
        self.goal.pole != Pole::Keep || self.goal.swivel != 0.0
    }
}

impl TwoBone {
    /// The limb from `root` by `middle` to `tip`: three joints, each below the one before.
    pub fn new(
        skeleton: &Skeleton,
        root: JointId,
        middle: JointId,
        tip: JointId,
    ) -> Result<Self, TwoBoneError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?, middle)
    }

    /// The limb along a chain, bending at `middle`. The chain may have an offset at its tip. With an offset, two joints make
    /// a limb too: the tip is the middle joint, and the end is the offset's point. A rotation goal of that joint is met
    /// first; the root then brings the end as near to the position as it can.
    ///
    /// # Errors
    ///
    /// The middle joint is not between root and tip, or it or the root has an attribute that a limb cannot honour: both turn
    /// freely. Limits need [`within_limits`](Self::within_limits).
    pub fn from_chain(skeleton: &Skeleton, chain: Chain, middle: JointId) -> Result<Self, TwoBoneError> {
        let limb = Self::of_chain(skeleton, chain, middle)?;
        CAPABILITY.check(skeleton, [limb.chain.root(), middle])?;
        Ok(limb)
    }

    fn of_chain(skeleton: &Skeleton, chain: Chain, middle: JointId) -> Result<Self, TwoBoneError> {
        let (root, tip) = (chain.root(), chain.tip());
        let ends = middle == tip && chain.tip_offset() == Vec3::ZERO;
        if middle == root || ends || !chain.joints().contains(&middle) {
            let name = |j| String::from(skeleton.name(j));
            return Err(TwoBoneError::NotBetween { root: name(root), middle: name(middle), tip: name(tip) });
        }
        let hinge = rest_hinge(skeleton, &chain, middle);
        let name = skeleton.name(middle).into();
        Ok(Self { chain, middle, name, hinge, side: BendSide::Keep, within: None })
    }

    /// Sets the middle joint's hinge: an axis in its local space, of any length, whose part across the bones counts. A
    /// positive (right-handed) turn of the middle joint about it flexes a straight limb to the positive side. The hinge
    /// defines the bend plane where the pose has none, and the sides of [`with_side`](Self::with_side). [`TwoBone::new`]
    /// derives it from the bend of the rest pose, where that exceeds one degree. `None` removes the hinge, and the side with
    /// it.
    #[must_use]
    pub fn with_hinge(self, axis: impl Into<Option<Vec3>>) -> Self {
        let hinge = axis.into().filter(|axis| *axis != Vec3::ZERO);
        let side = if hinge.is_some() { self.side } else { BendSide::Keep };
        Self { hinge, side, ..self }
    }

    /// Sets the side of the hinge to which the limb bends. A side of a limb without a hinge is an error.
    pub fn with_side(self, side: BendSide) -> Result<Self, TwoBoneError> {
        if side != BendSide::Keep && self.hinge.is_none() {
            return Err(TwoBoneError::NoHinge { middle: self.name, side });
        }
        Ok(Self { side, ..self })
    }

    /// The middle joint's hinge in its local space; see [`with_hinge`](Self::with_hinge).
    pub fn hinge(&self) -> Option<Vec3> {
        self.hinge
    }

    /// The side of the hinge to which the limb bends.
    pub fn side(&self) -> BendSide {
        self.side
    }

    /// The limb's chain from root to tip, with the joints between.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The joint that bends.
    pub fn middle(&self) -> JointId {
        self.middle
    }

    /// Positions of root, middle and end in model space.
    pub fn points(&self, pose: &Pose) -> LimbPoints {
        LimbPoints {
            root: pose.position(self.chain.root()),
            middle: pose.position(self.middle),
            tip: self.chain.end(pose),
        }
    }

    /// [`points`](Self::points), with the tip joint in place of the end where `by_joint`.
    #[cold]
    fn places(&self, pose: &Pose, by_joint: bool) -> LimbPoints {
        let at = self.points(pose);
        if by_joint { LimbPoints { tip: pose.position(self.chain.tip()), ..at } } else { at }
    }

    /// The joints that turn: root, middle and tip.
    fn turning(&self) -> [JointId; 3] {
        [self.chain.root(), self.middle, self.chain.tip()]
    }

    /// Lengths of the two bones in a pose, in metres (model space), with the offset at the tip.
    pub fn lengths(&self, pose: &Pose) -> (f32, f32) {
        let at = self.points(pose);
        (distance(at.middle, at.root), distance(at.tip, at.middle))
    }

    /// Brings the end to the goal's position, and the tip to the goal's rotation if it names one. Updates the pose. Where
    /// the goal names no position, the end stays where it is; only the pole, the swivel angle and the rotation act.
    ///
    /// With an offset at the tip and a rotation goal, the tip takes the rotation and the offset's point meets the position.
    /// Influences between 0 and 1 scale the turns of the joints (the root's as swing and twist).
    ///
    /// Where a joint would turn further than [`LimbOptions::max_turn`], the limb moves part of the way, and the residual
    /// decreases all along (with a rotation goal, that of both, a radian as half a length): the end turns towards the goal's
    /// direction as seen from the root, at the distance nearest to the goal. A pole or swivel angle gets a quarter of the
    /// root's turn, or what the goal leaves of it. The side of the hinge changes only within a single solve, as the end would
    /// leave its goal on the way to the other side. A limb folded exactly onto its root (equal bones) has no way out within a
    /// small bound: its end can leave only across its bones, and it waits until the bound allows the whole turn there.
    ///
    /// A limb below a scale that is not uniform shears as it bends, so that its lengths change with the angle. For a stretch
    /// of up to a quarter along one axis, the closed form is repeated until the end meets its goal. Where that scale belongs
    /// to a joint above the limb, of any size, goals without a rotation are solved in the space of the root's parent, where
    /// the limb is not sheared: the nearest point to an unreachable goal is that of this space.
    ///
    /// # Errors
    ///
    /// A number of the goal, the hinge or a frame of the pose is not finite, the rotation is no unit quaternion or turns a
    /// tip that is not free, an influence or an option is out of range, or a joint of the limb turns in a sheared frame.
    pub fn solve(&self, pose: &mut Pose, goal: &Goal, options: &LimbOptions) -> Result<Report, SolveError> {
        self.solve_within(pose, goal, options, Tolerance::default())
    }

    /// Solves as [`solve`](Self::solve) does, with a tolerance for the report.
    pub(super) fn solve_within(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Result<Report, SolveError> {
        if let Some(within) = self.within {
            return (within.solve)(self, pose, goal, options, tolerance);
        }
        match self.solve_plain(pose, goal, options, tolerance) {
            Some(report) => Ok(report),
            None => self.solve_general(pose, goal, options, tolerance),
        }
    }

    /// Solves any case, or finds the argument that is not allowed.
    #[cold]
    #[inline(never)]
    fn solve_general(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Result<Report, SolveError> {
        let rotation = check::goal(goal)?;
        if rotation.is_some() && self.within.is_none() {
            CAPABILITY.check(pose.skeleton(), [self.chain.tip()])?;
        }
        check::finite("the hinge axis", self.hinge.unwrap_or_default())?;
        options.check()?;
        let tip = self.chain.tip();
        pose.update();
        let scaled = rotation.is_some() || self.chain.tip_offset() != Vec3::ZERO;
        check::frame(pose, tip, "the tip's frame", scaled)?;
        let mut shear = 0.0f32;
        if !pose.unscaled(tip) {
            if rotation.is_none() && parent_space::is_sheared(pose, self.chain.root()) {
                let ends = (self.chain.root(), tip, self.chain.tip_offset());
                return parent_space::solve(pose, ends, goal, |pose, goal, space| {
                    self.solve_general(pose, goal, options, space.tolerance(tolerance))
                });
            }
            let turns = [Some(self.chain.root()), Some(self.middle), rotation.map(|_| tip)];
            for joint in turns.into_iter().flatten() {
                shear = shear.max(check::turnable(pose, joint)?);
            }
        }

        let goal = &Goal { rotation, ..*goal };
        let weights = [goal.position_influence, goal.rotation_influence].map(|part| part * options.influence);
        let mut report = Report::default();
        let uncertain = UNCERTAIN * pose.extent(tip);
        let start = self.points(pose);
        let before = self.turning().map(|joint| pose.local(joint).rotation);
        let input = Input { start, before, uncertain, stretched: shear > check::SIMILAR && weights[0] > 0.0 };
        let tip_before = rotation.map(|_| pose.model(tip).matrix3);
        let asked = goal.position.unwrap_or(start.tip);
        let task = Task { to: asked, goal, side: self.side, options };
        let bring = self.within.map_or(Self::bring as Bring, |within| within.bring);
        let Brought { at, to, turns, moved, settled } = bring(self, pose, &task, &input, weights);
        report.iterations = u32::from(moved);
        let bounded = options.max_turn < f32::INFINITY && self.turned(pose, before) > options.max_turn;
        if bounded {
            self.hold_back(pose, &task, &input, weights);
            report.iterations = u32::from(self.turned(pose, before) > 0.0);
        }
        report.rotation_residual = rotation.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
        let end = self.chain.end(pose);
        report.position_residual = distance(end, asked);
        // The branch of the bare points' full solve holds where nothing else was done.
        report.branch_changed = if weights[0] >= 1.0 && !input.stretched && rotation.is_none() && !bounded {
            turns.branch_changed
        } else {
            self.changed(pose, end, &start, before, tip_before, task.is_poled())
        };
        report.out_of_reach = turns.out_of_reach;
        if self.within.is_none() && options.soft > 0.0 && report.out_of_reach > 0.0 {
            // The soft zone lies within the reach, which is measured without it.
            let hard = Task { to, options: &options.with_soft(0.0), ..task };
            report.out_of_reach = self.turns(pose, &at, &hard, 0.0, uncertain).out_of_reach;
        }
        if bounded || !settled {
            report.outcome = Outcome::Stalled;
        }
        let length = distance(start.middle, start.root) + distance(start.tip, start.middle);
        report.position_tolerance = tolerance.metres(length) + 2.0 * uncertain;
        report.rotation_tolerance = ROTATION_TOLERANCE;
        Ok(report)
    }

    /// Brings the limb from the input pose to its task, without a bound on turns.
    fn bring(&self, pose: &mut Pose, task: &Task, input: &Input, [position, rotation]: [f32; 2]) -> Brought {
        let tip = self.chain.tip();
        let (mut task, mut at, mut turned) = (*task, input.start, None);
        let rotation = task.goal.rotation.filter(|_| rotation > 0.0).map(|q| (q, rotation));
        if let Some((q, part)) = rotation.filter(|_| self.chain.tip_offset() != Vec3::ZERO) {
            // The tip's turn moves the offset's point about the tip joint. So the tip's final rotation is computed first,
            // from what the limb's turns alone make of it, and the tip joint is led to the position that this rotation
            // needs.
            let now = pose.model_rotation(tip);
            let turns = self.turns(pose, &at, &task, position, input.uncertain);
            let free = math::mul(turns.root, math::mul(turns.middle, now));
            let last = towards(free, q, part);
            let ankle = pose.position(tip);
            task.to -= math::rotate(math::mul(last, math::conjugate(now)), at.tip - ankle);
            at.tip = ankle;
            turned = Some(last);
        }
        let part = if input.stretched { 1.0 } else { position };
        let turns = self.turns(pose, &at, &task, part, input.uncertain);
        let mut moved = self.turn(pose, &turns);
        let mut settled = true;
        if moved && input.stretched {
            settled = self.settle_in_part(pose, &task, turned.is_some(), &at, input.before, position);
        }
        if let Some((q, part)) = rotation {
            let now = pose.model_rotation(tip);
            let last = turned.unwrap_or_else(|| towards(now, q, part));
            let delta = math::mul(last, math::conjugate(now));
            // A turn below f32's rounding of rotations would only change the last bits.
            if Vec3::new(delta.x, delta.y, delta.z).length_squared() > 2.5e-13 {
                pose.turn(tip, delta);
                pose.update();
                moved = true;
            }
        }
        Brought { at, to: task.to, turns, moved, settled }
    }

    /// Whether the solved pose lies on another branch than the input pose, whose positions are `start`, whose local
    /// rotations are `before`, and whose tip has the frame `tip_before` in model space where it has a goal.
    #[cold]
    fn changed(
        &self,
        pose: &Pose,
        end: Vec3,
        start: &LimbPoints,
        before: [Quat; 3],
        tip_before: Option<Mat3>,
        poled: bool,
    ) -> bool {
        if poled {
            return points::flipped(start, &self.points(pose));
        }
        let sine = self.sine(pose, before);
        let length = distance(start.middle, start.root) + distance(start.tip, start.middle);
        length > 0.0
            && branch::changed_by_sine(sine, distance(end, start.tip) / length, || {
                tip_before.map_or(0.0, |frame| {
                    math::angle_between(math::rotation_of(&frame), pose.model_rotation(self.chain.tip()))
                })
            })
    }

    /// The squared sine of half the largest turn of a joint from the input pose.
    fn sine(&self, pose: &Pose, before: [Quat; 3]) -> f32 {
        let turn = |(joint, before)| branch::sine_between(before, pose.local(joint).rotation);
        self.turning().into_iter().zip(before).map(turn).fold(0.0, f32::max)
    }

    /// The largest turn of a joint from the input pose, in radians.
    fn turned(&self, pose: &Pose, before: [Quat; 3]) -> f32 {
        let sine = self.sine(pose, before);
        2.0 * math::atan2(math::sqrt(sine), math::sqrt((1.0 - sine).max(0.0)))
    }

    /// Applies turns to the joints and updates the pose. Returns whether there was anything to turn.
    fn turn(&self, pose: &mut Pose, turns: &LimbTurns) -> bool {
        let moved = turns.middle != Quat::IDENTITY || turns.root != Quat::IDENTITY;
        if moved {
            pose.turn(self.middle, turns.middle);
            pose.turn(self.chain.root(), turns.root);
            pose.update();
        }
        moved
    }

    /// Settles a stretched limb in full, then blends its turns with `weight`: part of an unsettled turn would not lead to
    /// the settled pose. Returns whether it converged.
    #[cold]
    fn settle_in_part(
        &self,
        pose: &mut Pose,
        task: &Task,
        by_joint: bool,
        at: &LimbPoints,
        before: [Quat; 3],
        weight: f32,
    ) -> bool {
        let settled = self.settle(pose, task, by_joint, at, [before[0], before[1]]);
        if weight < 1.0 {
            let (root, middle) = (self.chain.root(), self.middle);
            let bone = pose.parent_model(root).matrix3.transpose() * (at.middle - at.root);
            let axis = bone.normalize_or(Vec3::Y);
            let turn_from = |joint, before| math::mul(pose.local(joint).rotation, math::conjugate(before));
            let (by_root, by_middle) = (turn_from(root, before[0]), turn_from(middle, before[1]));
            let by_root = partial::partial_swing_twist(by_root, axis, weight);
            let by_middle = partial::partial(by_middle, weight);
            pose.set_rotation(root, math::normalize(math::mul(by_root, before[0])));
            pose.set_rotation(middle, math::normalize(math::mul(by_middle, before[1])));
            pose.update();
        }
        settled
    }

    /// Repeats the solve of a stretched limb (see [`TwoBone::solve`]), whose bones change their lengths as they turn, until
    /// the end no longer comes nearer. Returns whether it converged.
    ///
    /// A long bone may change its length by more than a short one can correct. Then the passes diverge, and the nearest of
    /// them is kept, or the initial rotations `before` (root and middle) where these were nearer.
    fn settle(
        &self,
        pose: &mut Pose,
        task: &Task,
        by_joint: bool,
        start: &LimbPoints,
        before: [Quat; 2],
    ) -> bool {
        let (root, middle) = (self.chain.root(), self.middle);
        // The first turns have swivelled the plane that is kept; a pole is met again by each pass.
        let swivel = if task.goal.pole == Pole::Keep { 0.0 } else { task.goal.swivel };
        let goal = &Goal { swivel, ..*task.goal };
        let task = &Task { goal, ..*task };
        let length = |at: &LimbPoints| distance(at.middle, at.root) + distance(at.tip, at.middle);
        // The position within the initial limb's soft zone.
        let place = softened(task.to, start.root, length(start), task.options.soft, 1.0);
        // A limb that must stay bent may have to move away from its initial end.
        let mut nearest = if task.options.min_flexion > 0.0 {
            Nearest::none(place)
        } else {
            Nearest::new(place, start.tip)
        };
        let mut kept = before;
        for pass in 0..=PASSES {
            let at = self.places(pose, by_joint);
            // A pass starts from positions that the last one made: their own uncertainty must not stop it.
            let extent = pose.extent(self.chain.tip());
            let turns = self.turns(pose, &at, task, 1.0, -UNCERTAIN * extent);
            let left = distance(at.tip, task.to) - turns.out_of_reach;
            if nearest.note(at.tip, pass + 1) {
                kept = [pose.local(root).rotation, pose.local(middle).rotation];
            }
            let met = left <= 4e-7 * length(&at);
            if met || pass == PASSES {
                let uncertain = 4e-7 * length(&at) + 2.0 * UNCERTAIN * extent;
                if nearest.is_met_by(at.tip, uncertain) {
                    return met || left <= SETTLED * length(&at) + uncertain;
                }
                break;
            }
            pose.turn(middle, turns.middle);
            pose.turn(root, turns.root);
            pose.update();
        }
        pose.set_rotation(root, kept[0]);
        pose.set_rotation(middle, kept[1]);
        pose.update();
        false
    }

    /// The hinge in model space, as a unit vector.
    fn hinge_in(&self, pose: &Pose) -> Option<Vec3> {
        let hinge = self.hinge.map(|h| {
            let frame = pose.model(self.middle).matrix3;
            // A mirrored frame reverses the sense of a turn, and so of the axis of a positive turn.
            (frame * h * if frame.determinant() < 0.0 { -1.0 } else { 1.0 }).normalize_or_zero()
        });
        hinge.filter(|h| *h != Vec3::ZERO)
    }

    /// The turns of one solve, reduced by `weight`.
    fn turns(&self, pose: &Pose, at: &LimbPoints, task: &Task, weight: f32, uncertain: f32) -> LimbTurns {
        let bend = LimbBend {
            hinge: self.hinge_in(pose),
            side: task.side,
            swivel: task.goal.swivel,
            soft: task.options.soft,
            min_flexion: task.options.min_flexion,
            uncertain,
        };
        let turns = plain::solve_points_once(at, task.to, task.goal.pole, &bend);
        if weight >= 1.0 {
            return turns;
        }
        if weight <= 0.0 {
            return LimbTurns {
                middle: Quat::IDENTITY,
                root: Quat::IDENTITY,
                branch_changed: false,
                ..turns
            };
        }
        let axis = (at.middle - at.root).normalize_or(Vec3::Y);
        LimbTurns {
            middle: partial::partial(turns.middle, weight),
            root: partial::partial_swing_twist(turns.root, axis, weight),
            ..turns
        }
    }
}

/// Interpolates from `from` to `to` by the fraction `weight`.
fn towards(from: Quat, to: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { to } else { math::slerp(from, to, weight) }
}

/// The axis, in the middle joint's local space, about which the rest pose is flexed. `None` where the rest pose is too
/// straight to tell, folded, or sheared.
fn rest_hinge(skeleton: &Skeleton, chain: &Chain, middle: JointId) -> Option<Vec3> {
    let at = chain.joints().iter().position(|&j| j == middle)?;
    let (above, below) = chain.joints().split_at(at + 1);
    // The upper bone in the middle joint's space: back up through the rest transforms.
    let mut root = glam::Affine3::IDENTITY;
    for &joint in above.get(1..)? {
        root *= skeleton.rest(joint).to_affine();
    }
    let u = -root.inverse().transform_point3(Vec3::ZERO);
    let mut tip = glam::Affine3::IDENTITY;
    for &joint in below {
        tip *= skeleton.rest(joint).to_affine();
    }
    let v = tip.transform_point3(chain.tip_offset());
    let c = u.normalize_or_zero().cross(v.normalize_or_zero());
    let hinge = c.normalize_or_zero();
    (c.is_finite() && c.length_squared() > REST_BEND * REST_BEND && hinge != Vec3::ZERO).then_some(hinge)
}
