//! The closed-form limb: two bones, in 3D.

mod bounded;
mod general;
mod plain;
mod points;

pub use plain::solve_points;
pub use points::{LimbBend, LimbPoints, LimbTurns};

use alloc::string::String;

use glam::{Mat3, Quat, Vec3};
use thiserror::Error;

use super::{
    LimbOptions, Tolerance, arc::distance, branch, check, nearest::Nearest, options::ROTATION_TOLERANCE,
    parent_space, partial, soft::softened,
};
use crate::{
    Chain, ChainError, Goal, JointId, Outcome, Pole, Pose, Report, Skeleton, SolveError,
    joint::{Attributes, UnsupportedAttribute, check_honoured},
    math,
};

/// Which side of its hinge axis a limb bends to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum BendSide {
    /// The side that the incoming pose bends to.
    #[default]
    Keep,
    /// Flexion is a positive turn of the middle joint about the hinge axis.
    Positive,
    /// Flexion is a negative turn of the middle joint about the hinge axis.
    Negative,
}

/// Why joints do not make a limb.
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
    /// A side was chosen, but there is no hinge whose sides these were.
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
    /// The root or the middle joint asks for what a limb cannot honour: they turn freely.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// What its errors call it.
const NAME: &str = "two-bone";

/// A limb of two bones: root (hip), middle (knee) and tip (ankle), with any joints between them held rigid.
///
/// Only the root and the middle joint turn (and the tip, where the goal names a rotation). Offsets, twist joints and
/// scales stay as the incoming pose has them.
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
/// Let R, M, T be the places of root, middle and end in model space, u = M - R and v = T - M the bones, a and b their
/// lengths, e = T - R, and g the way from R to the goal. The flexion phi is the angle from u to v (0: straight) about the
/// bend axis n = u x v. The limb can reach the distances d with |a - b| <= d <= a + b, where the cosine rule
///
/// ```text
/// d^2 = a^2 + b^2 + 2 a b cos(phi)
/// ```
///
/// gives the flexion. Near straight and near folded its cosine has lost its digits, so it is used for the half angle and
/// factored, which loses none:
///
/// ```text
/// cos^2(phi / 2) = (d - (a - b)) (d + (a - b)) / 4ab
/// sin^2(phi / 2) = (a + b - d) (a + b + d) / 4ab
/// ```
///
/// Half angles are what a quaternion holds. With the flexion phi0 that is there, which |u x v| and u . v give in the same
/// form, the middle joint's turn about n by phi - phi0 needs products and one normalisation, and no trigonometry.
///
/// That turn leaves the end at e1 = u + v', at the distance d and still in the bend plane. The root's turn is then
/// `arc(e -> g) arc(e1 -> e)`, two shortest arcs: the first to act brings the end back onto its old direction, within the
/// plane; the second carries limb and plane to the goal along the shortest way, so the roll of the animation is kept. As
/// e1 is measured after the middle joint's turn and not computed from angles, its rounding is aimed away too. A pole or a
/// swivel angle is one more turn about g, which leaves the end where it is.
///
/// # Where direction is undefined
///
/// - Straight or folded, u x v vanishes. Then the bend axis is the [`hinge`](Self::hinge)'s; it fades in below half a
///   degree of flexion (or of what misses to fully folded), as no clip knows its bend plane better than that.
///   With a pole it has all of the say there, and the side to which the hinge bends faces the pole even where the limb stays
///   straight. A straight limb without a hinge bends towards the pole, or stays straight, without a roll.
/// - A goal on the root keeps the limb's direction.
/// - A goal opposite to the limb's direction leaves the way round open; the limb goes by way of its own bend plane. Next
///   to there the roll changes fast, as for every rule that looks at one pose alone.
/// - A pole in line with root and goal says nothing. It fades out over the last ten degrees, towards the kept plane.
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
}

/// Flexion of the rest pose, as a sine, above which it tells the hinge: one degree. A figure modelled straight has less.
const REST_BEND: f32 = 0.0175;

/// Passes inside a stretched limb. Each leaves at most a quarter of the error where bones are of one size, so that these
/// leave nothing that f32 can hold.
const PASSES: u32 = 12;

/// What the passes may leave of a stretched limb's length where it counts as settled.
const SETTLED: f32 = 1e-5;

/// What forward kinematics in f32 makes of a place, as a part of its [`Pose::extent`]: a rotation is good to half a unit
/// in the last place of each of its four numbers (1e-7 radians in all), a frame is three sums of products, and a handful of
/// joints add up.
const UNCERTAIN: f32 = 3e-7;

/// What a solve works towards.
#[derive(Clone, Copy)]
struct Wish<'a> {
    /// Where the end is to be: without a position in the goal, where it is.
    to: Vec3,
    goal: &'a Goal,
    side: BendSide,
    options: &'a LimbOptions,
}

/// The limb as it came in.
struct Input {
    start: LimbPoints,
    /// Local rotations of root, middle and tip.
    before: [Quat; 3],
    uncertain: f32,
    /// Whether the closed form has to be repeated, as bones change their lengths as they turn.
    stretched: bool,
}

/// What was done to bring the limb to what is asked of it.
struct Brought {
    /// The places that were brought to `to`: those that came in, with the tip joint in the end's stead where that is led.
    at: LimbPoints,
    to: Vec3,
    turns: LimbTurns,
    moved: bool,
    settled: bool,
}

impl Wish<'_> {
    fn is_poled(&self) -> bool {
        self.goal.pole != Pole::Keep || self.goal.swivel != 0.0
    }
}

impl TwoBone {
    /// The limb from `root` by `middle` to `tip`, all different, each below the one before.
    pub fn new(
        skeleton: &Skeleton,
        root: JointId,
        middle: JointId,
        tip: JointId,
    ) -> Result<Self, TwoBoneError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?, middle)
    }

    /// The limb along a chain, which may have an offset at its tip, bending at `middle`. A chain of two joints with an offset
    /// is a limb too: its tip is the middle joint, and the end is the offset's point. A rotation asked of that joint is
    /// followed first; the root then brings the end as near to the position as it can.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain, middle: JointId) -> Result<Self, TwoBoneError> {
        let (root, tip) = (chain.root(), chain.tip());
        let ends = middle == tip && chain.tip_offset() == Vec3::ZERO;
        if middle == root || ends || !chain.joints().contains(&middle) {
            let name = |j| String::from(skeleton.name(j));
            return Err(TwoBoneError::NotBetween { root: name(root), middle: name(middle), tip: name(tip) });
        }
        check_honoured(skeleton, [root, middle], NAME, Attributes::NONE)?;
        let hinge = rest_hinge(skeleton, &chain, middle);
        let name = skeleton.name(middle).into();
        Ok(Self { chain, middle, name, hinge, side: BendSide::Keep })
    }

    /// Sets the middle joint's hinge: an axis in its local space (any length; the part across the bones counts). A positive
    /// turn (right-handed) of the middle joint about it flexes a straight limb on the positive side. The hinge gives the
    /// bend plane where the pose has none, and [`with_side`](Self::with_side) its meaning. [`TwoBone::new`] takes it from the
    /// bend of the rest pose, where that is above one degree. `None` removes it, and the side with it.
    #[must_use]
    pub fn with_hinge(self, axis: impl Into<Option<Vec3>>) -> Self {
        let hinge = axis.into().filter(|axis| *axis != Vec3::ZERO);
        let side = if hinge.is_some() { self.side } else { BendSide::Keep };
        Self { hinge, side, ..self }
    }

    /// Chooses the side of the hinge to which the limb bends. A limb without a hinge has no sides.
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

    /// Root to tip, joints between included.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The joint that bends.
    pub fn middle(&self) -> JointId {
        self.middle
    }

    /// Places of root, middle and end in model space.
    pub fn points(&self, pose: &Pose) -> LimbPoints {
        LimbPoints {
            root: pose.position(self.chain.root()),
            middle: pose.position(self.middle),
            tip: self.chain.end(pose),
        }
    }

    /// The same, with the tip joint in the end's stead where `by_joint`.
    #[cold]
    fn places(&self, pose: &Pose, by_joint: bool) -> LimbPoints {
        let at = self.points(pose);
        if by_joint { LimbPoints { tip: pose.position(self.chain.tip()), ..at } } else { at }
    }

    /// Root, middle and tip.
    fn turning(&self) -> [JointId; 3] {
        [self.chain.root(), self.middle, self.chain.tip()]
    }

    /// The lengths of the two bones in a pose, in metres (model space), offset at the tip included.
    pub fn lengths(&self, pose: &Pose) -> (f32, f32) {
        let at = self.points(pose);
        (distance(at.middle, at.root), distance(at.tip, at.middle))
    }

    /// Brings the end to the goal, and turns the tip where the goal names a rotation. The pose is left updated. Where the
    /// goal names no position, the end stays where it is and only the pole, the swivel and the rotation are followed.
    ///
    /// With an offset at the tip and a rotation asked for, it is the offset's point that meets the position, with the tip
    /// turned as asked. Influences between 0 and 1 scale the turns of the joints (the root's as swing and twist).
    ///
    /// Where a joint would turn further than [`LimbOptions::max_turn`], the limb goes part of the way, along which its end
    /// comes nearer all the time: the end turns towards the goal's direction as seen from the root, at the distance that is
    /// nearest to the goal. A pole or swivel gets a quarter of the root's turn, or what the goal leaves of it. The side of the
    /// hinge changes only where one solve can do so: on the way to the other side the end would have to leave its goal.
    ///
    /// A limb whose bones the pose stretches along one axis (a scale that is not uniform, up to a quarter) is sheared as it
    /// bends, so that its lengths change with the angle: there the closed form is repeated until the end is met. Where the
    /// scale is that of a joint above the limb, of any size, goals without a rotation are solved in the space of the root's
    /// parent, where the limb is not sheared: it goes to the point that is nearest there.
    pub fn solve(&self, pose: &mut Pose, goal: &Goal, options: &LimbOptions) -> Result<Report, SolveError> {
        self.solve_within(pose, goal, options, Tolerance::default())
    }

    /// The same, with what counts as reached.
    pub(super) fn solve_within(
        &self,
        pose: &mut Pose,
        goal: &Goal,
        options: &LimbOptions,
        tolerance: Tolerance,
    ) -> Result<Report, SolveError> {
        let rotation = check::goal(goal)?;
        if rotation.is_some() {
            check_honoured(pose.skeleton(), [self.chain.tip()], NAME, Attributes::NONE)?;
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
                    self.solve_within(pose, goal, options, space.tolerance(tolerance))
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
        let wish = Wish { to: asked, goal, side: self.side, options };
        let Brought { at, to, turns, moved, settled } = self.bring(pose, &wish, &input, weights);
        report.iterations = u32::from(moved);
        let bounded = options.max_turn < f32::INFINITY && self.turned(pose, before) > options.max_turn;
        if bounded {
            self.hold_back(pose, &wish, &input, weights);
            report.iterations = u32::from(self.turned(pose, before) > 0.0);
        }
        report.rotation_residual = rotation.map_or(0.0, |q| math::angle_between(pose.model_rotation(tip), q));
        let end = self.chain.end(pose);
        report.position_residual = distance(end, asked);
        // (What the whole solve of bare points says holds where nothing else was done.)
        report.branch_changed = if weights[0] >= 1.0 && !input.stretched && rotation.is_none() && !bounded {
            turns.branch_changed
        } else {
            self.changed(pose, end, &start, before, tip_before, wish.is_poled())
        };
        report.out_of_reach = turns.out_of_reach;
        if options.soft > 0.0 && report.out_of_reach > 0.0 {
            // The zone lies within the reach.
            let hard = Wish { to, options: &options.with_soft(0.0), ..wish };
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

    /// Brings the limb as it came in to what is asked of it, however far joints turn.
    #[inline(always)]
    fn bring(&self, pose: &mut Pose, wish: &Wish, input: &Input, [position, rotation]: [f32; 2]) -> Brought {
        let tip = self.chain.tip();
        let (mut wish, mut at, mut turned) = (*wish, input.start, None);
        let rotation = wish.goal.rotation.filter(|_| rotation > 0.0).map(|q| (q, rotation));
        if let Some((q, part)) = rotation.filter(|_| self.chain.tip_offset() != Vec3::ZERO) {
            // The tip's turn moves the offset's point about the tip joint. So the tip's final rotation is found first
            // (by what the limb makes of it when it is left alone), and the tip joint goes where that needs it.
            let now = pose.model_rotation(tip);
            let turns = self.turns(pose, &at, &wish, position, input.uncertain);
            let free = math::mul(turns.root, math::mul(turns.middle, now));
            let last = towards(free, q, part);
            let ankle = pose.position(tip);
            wish.to -= math::rotate(math::mul(last, math::conjugate(now)), at.tip - ankle);
            at.tip = ankle;
            turned = Some(last);
        }
        let part = if input.stretched { 1.0 } else { position };
        let turns = self.turns(pose, &at, &wish, part, input.uncertain);
        let mut moved = self.turn(pose, &turns);
        let mut settled = true;
        if moved && input.stretched {
            settled = self.settle_in_part(pose, &wish, turned.is_some(), &at, input.before, position);
        }
        if let Some((q, part)) = rotation {
            let now = pose.model_rotation(tip);
            let last = turned.unwrap_or_else(|| towards(now, q, part));
            let delta = math::mul(last, math::conjugate(now));
            // A turn below f32's rounding of rotations would only stir the bits.
            if Vec3::new(delta.x, delta.y, delta.z).length_squared() > 2.5e-13 {
                pose.turn(tip, delta);
                pose.update();
                moved = true;
            }
        }
        Brought { at, to: wish.to, turns, moved, settled }
    }

    /// Whether the pose that is left lies on another branch than the one that came in: `start` and `before` are places and
    /// local rotations there, `tip_before` the tip's frame in model space, where it has a goal.
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

    /// The squared sine of half the largest turn of a joint since it came in.
    fn sine(&self, pose: &Pose, before: [Quat; 3]) -> f32 {
        let turn = |(joint, before)| branch::sine_between(before, pose.local(joint).rotation);
        self.turning().into_iter().zip(before).map(turn).fold(0.0, f32::max)
    }

    /// That turn in radians.
    fn turned(&self, pose: &Pose, before: [Quat; 3]) -> f32 {
        let sine = self.sine(pose, before);
        2.0 * math::atan2(math::sqrt(sine), math::sqrt((1.0 - sine).max(0.0)))
    }

    /// Turns the joints, and says whether there was anything to turn. The pose is left updated.
    #[inline]
    fn turn(&self, pose: &mut Pose, turns: &LimbTurns) -> bool {
        let moved = turns.middle != Quat::IDENTITY || turns.root != Quat::IDENTITY;
        if moved {
            pose.turn(self.middle, turns.middle);
            pose.turn(self.chain.root(), turns.root);
            pose.update();
        }
        moved
    }

    /// Settles a stretched limb in full and turns it back in part, as a part of the way to where it is not yet settled would
    /// not lead to where it settles. Says whether it came to rest.
    #[cold]
    fn settle_in_part(
        &self,
        pose: &mut Pose,
        wish: &Wish,
        by_joint: bool,
        at: &LimbPoints,
        before: [Quat; 3],
        weight: f32,
    ) -> bool {
        let settled = self.settle(pose, wish, by_joint, at, [before[0], before[1]]);
        if weight < 1.0 {
            let (root, middle) = (self.chain.root(), self.middle);
            let bone = pose.parent_model(root).matrix3.transpose() * (at.middle - at.root);
            let axis = axis_or_up(bone);
            let way = |joint, before| math::mul(pose.local(joint).rotation, math::conjugate(before));
            let (by_root, by_middle) = (way(root, before[0]), way(middle, before[1]));
            let by_root = partial::partial_swing_twist(by_root, axis, weight);
            let by_middle = partial::partial(by_middle, weight);
            pose.set_rotation(root, math::normalize(math::mul(by_root, before[0])));
            pose.set_rotation(middle, math::normalize(math::mul(by_middle, before[1])));
            pose.update();
        }
        settled
    }

    /// Repeats the solve inside a stretched limb (see [`TwoBone::solve`]), whose bones change their lengths a little as
    /// they turn, until the end no longer comes nearer. Says whether it came to rest.
    ///
    /// A long bone may change its length by more than a short one can take back: then the passes lead nowhere, and the
    /// nearest of them is taken, or how the limb came in (`before`: root and middle) where its end was nearer.
    fn settle(
        &self,
        pose: &mut Pose,
        wish: &Wish,
        by_joint: bool,
        start: &LimbPoints,
        before: [Quat; 2],
    ) -> bool {
        let (root, middle) = (self.chain.root(), self.middle);
        let length = |at: &LimbPoints| distance(at.middle, at.root) + distance(at.tip, at.middle);
        // As far as a soft zone lets the limb go that came in.
        let place = softened(wish.to, start.root, length(start), wish.options.soft, 1.0);
        // (What must stay bent may have to go away from where it came in.)
        let mut nearest = if wish.options.min_flexion > 0.0 {
            Nearest::none(place)
        } else {
            Nearest::new(place, start.tip)
        };
        let mut kept = before;
        for pass in 0..=PASSES {
            let at = self.places(pose, by_joint);
            // A pass starts from places that the last one made. Their own uncertainty is no reason to stop before it.
            let extent = pose.extent(self.chain.tip());
            let turns = self.turns(pose, &at, wish, 1.0, -UNCERTAIN * extent);
            let left = distance(at.tip, wish.to) - turns.out_of_reach;
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
    #[inline]
    fn hinge_in(&self, pose: &Pose) -> Option<Vec3> {
        let hinge = self.hinge.map(|h| {
            let frame = pose.model(self.middle).matrix3;
            // A frame that mirrors turns the sense of a turn; the axis of a positive turn goes along.
            (frame * h * if frame.determinant() < 0.0 { -1.0 } else { 1.0 }).normalize_or_zero()
        });
        hinge.filter(|h| *h != Vec3::ZERO)
    }

    /// The turns of one solve, in part.
    fn turns(&self, pose: &Pose, at: &LimbPoints, wish: &Wish, weight: f32, uncertain: f32) -> LimbTurns {
        let bend = LimbBend {
            hinge: self.hinge_in(pose),
            side: wish.side,
            swivel: wish.goal.swivel,
            soft: wish.options.soft,
            min_flexion: wish.options.min_flexion,
            uncertain,
        };
        let turns = solve_points(at, wish.to, wish.goal.pole, &bend);
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
        let axis = axis_or_up(at.middle - at.root);
        LimbTurns {
            middle: partial::partial(turns.middle, weight),
            root: partial::partial_swing_twist(turns.root, axis, weight),
            ..turns
        }
    }
}

/// The direction of a bone, upwards where it has none.
fn axis_or_up(bone: Vec3) -> Vec3 {
    bone.normalize_or(Vec3::Y)
}

/// `to`, or the part `weight` of the way there.
fn towards(from: Quat, to: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { to } else { math::slerp(from, to, weight) }
}

/// The axis, in the middle joint's local space, about which the rest pose is flexed; none where it is too straight to
/// tell, or folded, or its frames are no similarities.
fn rest_hinge(skeleton: &Skeleton, chain: &Chain, middle: JointId) -> Option<Vec3> {
    let at = chain.joints().iter().position(|&j| j == middle)?;
    let (above, below) = chain.joints().split_at(at + 1);
    // The upper bone as the middle joint sees it: back up through the rest transforms.
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
