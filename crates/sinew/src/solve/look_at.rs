//! Look-at: spine, neck, head and eyes share the turn towards a target.

mod tree;

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};
use thiserror::Error;

use super::{
    aim::{AimRay, aim_ray, nearest_local},
    arc::{direction, distance, no_further, off_ray},
    branch, check,
    options::{Options, ROTATION_TOLERANCE},
    partial::largest_share,
};
use crate::{
    JointId, Outcome, Pose, Report, Skeleton, SolveError,
    joint::{Attributes, Capability, Limits, UnsupportedAttribute, in_f64},
    math,
};
use tree::Tree;

/// A joint of the line from the spine to the head.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct LookJoint {
    /// The joint.
    pub joint: JointId,
    /// Share of the remaining turn that the joint takes, 0 to 1; the joints before it go first. The last joint takes all
    /// that remains, whatever its share.
    pub share: f32,
    /// Maximum turn from the input pose, in radians, 0 to pi.
    pub cone: f32,
}

impl LookJoint {
    /// A joint that takes the whole remaining turn, without a cone.
    pub const fn new(joint: JointId) -> Self {
        Self { joint, share: 1.0, cone: core::f32::consts::PI }
    }

    /// A line from the spine to the head, in which each joint turns twice as far as the one before, as a spine bends little
    /// and a head turns most. The cones are 60 degrees, about that of a human neck to one side.
    pub fn in_line(joints: &[JointId]) -> Vec<Self> {
        let left = (1..=joints.len()).rev();
        let part = |(&joint, left): (&JointId, usize)| {
            // Of 2^left - 1 parts that remain, the joint takes one. 127 doublings are all that f32 holds.
            let parts = (1..left.min(127)).fold(1.0, |parts: f32, _| 2.0 * parts + 1.0);
            Self::new(joint).with_share(1.0 / parts).with_cone(core::f32::consts::FRAC_PI_3)
        };
        joints.iter().zip(left).map(part).collect()
    }

    /// Sets [`share`](Self::share).
    #[must_use]
    pub const fn with_share(self, share: f32) -> Self {
        Self { share, ..self }
    }

    /// Sets [`cone`](Self::cone).
    #[must_use]
    pub const fn with_cone(self, cone: f32) -> Self {
        Self { cone, ..self }
    }
}

/// An eye, which looks at the target itself.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Eye {
    /// The joint, below the head.
    pub joint: JointId,
    /// The looking direction in the joint's local space (any length but zero).
    pub axis: Vec3,
    /// Maximum turn from the input pose, in radians, 0 to pi.
    pub cone: f32,
}

impl Eye {
    /// An eye without a cone.
    pub const fn new(joint: JointId, axis: Vec3) -> Self {
        Self { joint, axis, cone: core::f32::consts::PI }
    }

    /// Sets [`cone`](Self::cone).
    #[must_use]
    pub const fn with_cone(self, cone: f32) -> Self {
        Self { cone, ..self }
    }
}

/// Reasons why joints do not make a look-at.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum LookAtError {
    /// The line has no joint.
    #[error("a look-at needs at least one joint: the head")]
    NoJoint,
    /// The joints, and after them each eye, must be below one another.
    #[error("joint `{joint}` does not hang below joint `{above}`")]
    NotBelow {
        /// Name of the joint.
        joint: String,
        /// Name of the joint that it must be below.
        above: String,
    },
    /// A share, a cone or an axis is out of range.
    #[error("{what} of joint `{joint}` must be {range}, not {value}")]
    OutOfRange {
        /// Name of the joint.
        joint: String,
        /// The parameter.
        what: &'static str,
        /// The allowed range.
        range: &'static str,
        /// The given value.
        value: f32,
    },
    /// A joint has an attribute that a look-at cannot honour.
    #[error(transparent)]
    Joint(#[from] UnsupportedAttribute),
}

/// State of the dead zone from frame to frame, for one [`LookAt`] and one figure. A fresh state ([`LookAt::state`]), or one
/// after [`reset`](Self::reset), starts from the looking direction of the input pose.
#[derive(Clone, Debug)]
pub struct LookState {
    /// Looking direction in the frame above the first joint, so that it follows a body that turns.
    towards: Option<Vec3>,
    /// The joints of the input pose: written by each solve before it reads them.
    initial: Vec<Initial>,
    /// The same joints, and those between, as they turn: written by each solve before it reads them.
    tree: Tree,
}

/// A joint of a look-at, in the input pose.
#[derive(Clone, Debug)]
struct Initial {
    joint: JointId,
    /// Index of the joint's node.
    node: usize,
    /// Local rotation.
    rotation: Quat,
    /// The joint's limits, widened to include `rotation`; `None` if they include it.
    relaxed: Option<Limits>,
    /// Sine and cosine of half the maximum turn.
    half: (f32, f32),
    /// Maximum turn in radians.
    cone: f32,
    /// For an eye, its looking direction in model space.
    front: Vec3,
}

impl PartialEq for LookState {
    /// Ignores the input pose, which is scratch.
    fn eq(&self, other: &Self) -> bool {
        let joints = self.initial.iter().map(|i| i.joint);
        self.towards == other.towards && joints.eq(other.initial.iter().map(|i| i.joint))
    }
}

impl LookState {
    /// Forgets the looking direction. Call it after a teleport or a change of the animation.
    pub fn reset(&mut self) {
        self.towards = None;
    }
}

/// Report of a look-at, measured on the solved pose.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct LookReport {
    /// [`Outcome::Converged`] where the target is [`reached`](Self::reached) or nothing is applied, else
    /// [`Outcome::Stalled`]. The residuals are the target's distance from the ray of the gaze, in metres, and the angle at
    /// the ray's start, in radians. They are the maximum over all eyes, or those of the face if there are no eyes.
    pub report: Report,
    /// Angle in radians between the face's direction and the direction to the target.
    pub face: f32,
}

impl LookReport {
    /// Whether every eye (or, without eyes, the face) looks at the target, to 1e-3 rad.
    pub fn reached(&self) -> bool {
        self.report.reached()
    }
}

/// Turns the joints from the spine to the head, and the eyes, so that they look at a target.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Pose, Skeleton, JointTransform, glam::Vec3, solve::{Eye, LookAt, LookJoint, Options}};
///
/// let mut builder = Skeleton::builder();
/// let at = |x, y, z| JointTransform::from_translation(Vec3::new(x, y, z));
/// let chest = builder.add("chest", None, at(0.0, 1.3, 0.0));
/// let neck = builder.add("neck", Some(chest), at(0.0, 0.2, 0.0));
/// let head = builder.add("head", Some(neck), at(0.0, 0.1, 0.0));
/// builder.add("eye.L", Some(head), at(0.03, 0.1, 0.08));
/// builder.add("eye.R", Some(head), at(-0.03, 0.1, 0.08));
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let part = |i: usize, share, cone| LookJoint::new(ids[i]).with_share(share).with_cone(cone);
/// let line = [part(0, 0.2, 0.4), part(1, 0.4, 0.6), part(2, 1.0, 0.8)];
/// let mut look = LookAt::new(&skeleton, &line, Vec3::Z)?;
/// look.offset = Vec3::new(0.0, 0.1, 0.08); // between the eyes
/// look.set_eyes(&skeleton, &[3, 4].map(|i| Eye::new(ids[i], Vec3::Z).with_cone(0.5)))?;
///
/// let mut pose = Pose::rest(&skeleton);
/// let target = Vec3::new(1.0, 1.4, 0.3);
/// let report = look.solve(&mut look.state(), &mut pose, target, &Options::new())?;
/// assert!(report.reached() && report.report.rotation_residual < 1e-5 && report.face < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Sharing the turn
///
/// The joints turn from the first to the last. Each takes its share of the shortest arc from the face's direction to that of
/// the target, which keeps the roll. A joint that its limits hold leads the face as near to there as they let it, and each
/// returns into its cone. The last joint takes the whole rest, and brings the face's ray through the target itself, whatever
/// the ray's offset. Where joints are held back, further rounds let the others take over. Eyes turn last, each from its own
/// position, so that they converge.
///
/// # Targets behind and near
///
/// A target that passes behind changes sides from one frame to the next, and the shortest turn to it jumps. So the look
/// fades: it follows the target up to the angle `behind` from the front of the input pose, less beyond it, and not at all
/// straight behind. As the target goes round behind, the head returns to the front and continues to the other side, so that
/// the pose is a smooth function of the target.
///
/// The look fades in the same way as the target comes near the eyes, where its direction means nothing. For a target nearer
/// than the first joint (or three times the distance of the last joint), the face uses only its direction from the initial
/// position between the eyes. The eyes look at the target itself.
///
/// # The dead zone
///
/// The line of joints follows only a target further than `dead_zone` from its looking direction, and stays behind it by that
/// angle. The eyes take over the rest. A [`LookState`] keeps the looking direction; with a fresh state in each frame, the
/// zone lies about the front of the input pose.
///
/// # The input pose
///
/// The input is the animation's pose in each frame, and cones are measured from it. Solving again from a solved pose widens
/// the cones, unless the target has been reached.
///
/// Drawn by the example `look_at`:
///
#[doc = include_str!("../../pictures/look_at.svg")]
#[derive(Clone, Debug)]
pub struct LookAt {
    line: Vec<LookJoint>,
    eyes: Vec<Eye>,
    tree: Tree,
    /// The looking direction of the face, in the last joint's local space (any length but zero).
    pub axis: Vec3,
    /// The point between the eyes that the face looks from, in the last joint's local space and its units.
    pub offset: Vec3,
    /// Angle in radians about the looking direction within which the target moves the eyes alone, 0 to pi / 2.
    pub dead_zone: f32,
    /// Angle in radians from the front of the input pose beyond which the look fades, 0 to 3.
    pub behind: f32,
    /// Distance of the target below which the look fades, as a share of the distance from the first joint to the face (for
    /// each eye, from its parent to it).
    pub near: f32,
}

pub(super) const CAPABILITY: Capability = Capability::new("look-at", Attributes::TURNING);

/// Maximum number of rounds in which joints take over from those held back. A share of a fifth leaves less than a millionth
/// after these; 16 rounds miss four times as many targets that joints with limits could look at. Where no joint is held back,
/// the first round is exact.
const ROUNDS: u32 = 64;

/// Radians by which eight rounds must bring the face nearer, for more to be worth their time: that of the rotation tolerance.
const CREEPS: f32 = ROTATION_TOLERANCE;

/// Radians of half a turn below which a turn is only f32's rounding of rotations.
const STIRS: f32 = 3e-7;

/// Rounding of a position by forward kinematics in f32, as a share of [`Pose::extent`]; as that of the limb.
const UNCERTAIN: f32 = 3e-7;

/// Default for the maximum turn of an eye: 35 degrees, about that of human eyes without strain.
const EYE_CONE: f32 = 35.0 * core::f32::consts::PI / 180.0;

/// Metres beyond which the target counts as a direction: f32 still holds the square.
const FURTHEST: f32 = 1e18;

impl LookAt {
    /// A look-at of the joints `line`, from the spine to the head. `axis` is the looking direction in the last joint's local
    /// space.
    ///
    /// # Errors
    ///
    /// The line is empty, a joint is not below the one before, a share or a cone is out of range, a joint has an attribute
    /// that a look-at cannot honour, or the axis is zero or not finite.
    pub fn new(skeleton: &Skeleton, line: &[LookJoint], axis: Vec3) -> Result<Self, LookAtError> {
        let Some(last) = line.last() else { return Err(LookAtError::NoJoint) };
        for w in line.windows(2) {
            below(skeleton, w[1].joint, w[0].joint)?;
        }
        for part in line {
            within(skeleton, part.joint, "the share", "0 to 1", part.share, 1.0)?;
            within(skeleton, part.joint, "the cone", "0 to pi", part.cone, core::f32::consts::PI)?;
        }
        CAPABILITY.check(skeleton, line.iter().map(|p| p.joint))?;
        has_direction(skeleton, last.joint, axis)?;
        let tree = Tree::new(skeleton, line[0].joint, core::iter::once(last.joint));
        Ok(Self {
            line: line.into(),
            eyes: Vec::new(),
            tree,
            axis,
            offset: Vec3::ZERO,
            dead_zone: 0.0,
            behind: 2.1,
            near: 0.5,
        })
    }

    /// A look-at of the joints `line` and the eyes of a figure that looks along `front` in its bind pose: a direction in model
    /// space, of any length but zero. The face looks from between the eyes; without eyes, from the last joint. Eyes turn by up
    /// to 35 degrees, about as far as human ones do without strain.
    ///
    /// # Errors
    ///
    /// As [`LookAt::new`] and [`LookAt::set_eyes`].
    pub fn of_figure(
        bind: &Pose,
        line: &[LookJoint],
        eyes: &[JointId],
        front: Vec3,
    ) -> Result<Self, LookAtError> {
        let head = line.last().ok_or(LookAtError::NoJoint)?.joint;
        let axis = |joint| bind.model(joint).matrix3.inverse() * front;
        let mut look = Self::new(bind.skeleton(), line, axis(head))?;
        if !eyes.is_empty() {
            let middle = eyes.iter().map(|&j| bind.position(j)).sum::<Vec3>() / eyes.len() as f32;
            look.offset = bind.model(head).inverse().transform_point3(middle);
            let eye = |&joint: &JointId| Eye::new(joint, axis(joint)).with_cone(EYE_CONE);
            look.set_eyes(bind.skeleton(), &eyes.iter().map(eye).collect::<Vec<_>>())?;
        }
        Ok(look)
    }

    /// Sets the eyes; none removes them.
    ///
    /// # Errors
    ///
    /// An eye is not below the last joint of the line, its cone is out of range, it has an attribute that a look-at cannot
    /// honour, or its axis is zero or not finite.
    pub fn set_eyes(&mut self, skeleton: &Skeleton, eyes: &[Eye]) -> Result<(), LookAtError> {
        let head = self.line[self.line.len() - 1].joint;
        for eye in eyes {
            below(skeleton, eye.joint, head)?;
            within(skeleton, eye.joint, "the cone", "0 to pi", eye.cone, core::f32::consts::PI)?;
            has_direction(skeleton, eye.joint, eye.axis)?;
        }
        CAPABILITY.check(skeleton, eyes.iter().map(|e| e.joint))?;
        self.eyes = eyes.into();
        let ends = eyes.iter().map(|e| e.joint).chain([head]);
        self.tree = Tree::new(skeleton, self.line[0].joint, ends);
        Ok(())
    }

    /// The same look-at on another skeleton with these joints, such as a part of this one's. `joint` gives the joint there.
    ///
    /// # Errors
    ///
    /// As [`LookAt::new`] and [`LookAt::set_eyes`]; [`LookAtError::NoJoint`] if a joint is not there.
    pub fn on(
        &self,
        skeleton: &Skeleton,
        joint: impl Fn(JointId) -> Option<JointId>,
    ) -> Result<Self, LookAtError> {
        let there = |id| joint(id).ok_or(LookAtError::NoJoint);
        let (mut line, mut eyes) = (self.line.clone(), self.eyes.clone());
        for part in &mut line {
            part.joint = there(part.joint)?;
        }
        for eye in &mut eyes {
            eye.joint = there(eye.joint)?;
        }
        let mut look = Self::new(skeleton, &line, self.axis)?;
        look.set_eyes(skeleton, &eyes)?;
        let Self { line: _, eyes: _, tree: _, axis: _, offset, dead_zone, behind, near } = *self;
        (look.offset, look.dead_zone, look.behind, look.near) = (offset, dead_zone, behind, near);
        Ok(look)
    }

    /// A fresh state for one figure. Only this look-at accepts it, and only until its eyes are changed.
    pub fn state(&self) -> LookState {
        let initial = |joint| Initial {
            joint,
            node: self.tree.index(joint),
            rotation: Quat::IDENTITY,
            relaxed: None,
            half: (0.0, 1.0),
            cone: 0.0,
            front: Vec3::ZERO,
        };
        LookState { towards: None, initial: self.joints().map(initial).collect(), tree: self.tree.clone() }
    }

    /// All joints that it may turn: the line, then the eyes.
    pub fn joints(&self) -> impl Iterator<Item = JointId> + use<'_> {
        self.line.iter().map(|p| p.joint).chain(self.eyes.iter().map(|e| e.joint))
    }

    /// Looks at a target in model space and updates the pose. Every joint ends within its cone and its limits, or no further
    /// out than the input pose has it. [`Options::max_turn`] bounds each joint as a smaller cone does.
    ///
    /// # Errors
    ///
    /// The target, a setting or a frame of the pose is not finite, a setting or an option is out of range, a joint's frame
    /// is sheared, or the state belongs to another look-at.
    pub fn solve(
        &self,
        state: &mut LookState,
        pose: &mut Pose,
        target: Vec3,
        options: &Options,
    ) -> Result<LookReport, SolveError> {
        pose.update();
        self.check(pose, target)?;
        options.check()?;
        let LookState { towards, initial, tree } = state;
        if !self.joints().eq(initial.iter().map(|i| i.joint)) {
            let (given, wanted) = (initial.len(), self.joints().count());
            return Err(SolveError::State { solver: "look-at", what: "joints", given, wanted });
        }
        let skeleton = pose.skeleton();
        let cones = self.line.iter().map(|p| p.cone).chain(self.eyes.iter().map(|e| e.cone));
        for (initial, cone) in initial.iter_mut().zip(cones) {
            initial.read(skeleton, pose, cone.min(options.max_turn));
        }
        tree.read(pose);
        let head = initial[self.line.len() - 1].node;
        let (line, eyes) = initial.split_at_mut(self.line.len());
        let mut turning = Turning { axis: unit(self.axis), offset: self.offset, head, tree, skeleton };
        let (eye, front) = turning.face();
        if front == Vec3::ZERO {
            let (what, range) = ("the looking axis", "longer than zero");
            return Err(SolveError::OutOfRange { what, range, value: self.axis.length() });
        }
        check::finite("the position between the eyes", eye)?;
        for (initial, eye) in eyes.iter_mut().zip(&self.eyes) {
            initial.front = turning.looks(initial, eye);
        }
        let mut report = LookReport::default();
        if options.influence > 0.0 {
            // A target far away counts as a direction.
            let near = no_further(target, eye, FURTHEST);
            let to = self.followed(&turning, eye, near - eye, front, towards);
            report.report.iterations += self.turn_line(&mut turning, line, eye + to);
            report.report.iterations += self.turn_eyes(&mut turning, eyes, near);
            if options.influence < 1.0 {
                turning.blend(line.iter().chain(&*eyes), options.influence);
            }
        }
        report.report.branch_changed = self.branch_changed(&turning, line, eyes, eye, front);
        self.measure(&turning, eyes, target, &mut report);
        if options.influence <= 0.0 {
            report.report.outcome = Outcome::Converged;
        }
        tree.write(pose);
        Ok(report)
    }

    /// Whether the branch changed since the face was at `was` and looked along `front`. The goal is a direction, of the face
    /// and of each eye; lengths are in units of the distance from the first joint to the face.
    fn branch_changed(
        &self,
        turning: &Turning,
        line: &[Initial],
        eyes: &[Initial],
        was: Vec3,
        front: Vec3,
    ) -> bool {
        let (eye, now) = turning.face();
        if now == Vec3::ZERO {
            return false;
        }
        let length = distance(was, turning.tree.position(0));
        let moved = if length > 0.0 { distance(was, eye) / length } else { 0.0 };
        let sine = |i: &Initial| branch::sine_between(i.rotation, turning.tree.rotation(i.node));
        let sine = line.iter().chain(eyes).map(sine).fold(0.0, f32::max);
        branch::changed_by_sine(sine, moved, || {
            let turned = |(i, eye): (&Initial, &Eye)| between(i.front, turning.looks(i, eye)).1;
            eyes.iter().zip(&self.eyes).map(turned).fold(between(front, now).1, f32::max)
        })
    }

    fn check(&self, pose: &Pose, target: Vec3) -> Result<(), SolveError> {
        check::finite("the target", target)?;
        check::finite("the looking axis", self.axis)?;
        check::finite("the looking offset", self.offset)?;
        check::within("the dead zone", "0 to pi / 2", self.dead_zone, 0.0, core::f32::consts::FRAC_PI_2)?;
        check::within("the angle behind", "0 to 3", self.behind, 0.0, 3.0)?;
        check::within("the near distance of the look", "0 or more", self.near, 0.0, f32::MAX)?;
        for joint in self.joints() {
            check::frame(pose, joint, "the joint's frame", true)?;
            check::turnable(pose, joint)?;
        }
        Ok(())
    }

    /// The vector from the eyes to the point that the line of joints looks at: the target, reduced by the dead zone and by
    /// fading. `towards` is updated.
    fn followed(
        &self,
        turning: &Turning,
        eye: Vec3,
        to_target: Vec3,
        front: Vec3,
        towards: &mut Option<Vec3>,
    ) -> Vec3 {
        let distance = math::sqrt(to_target.length_squared());
        // A target on the eyes has no direction.
        if !(distance > 0.0 && distance.is_finite()) {
            return front;
        }
        let above = math::rotation_of(&turning.tree.parent_frame(0).linear());
        let to = to_target / distance;
        let last = towards.map_or(front, |d| math::rotate(above, d));
        // Within the dead zone the looking direction stays; beyond it, it is pulled along.
        let looks = if self.dead_zone == 0.0 {
            to
        } else {
            let (axis, off) = between(last, to);
            let by = (off - self.dead_zone).max(0.0);
            if by > 0.0 { math::rotate(math::axis_angle(axis, by), last) } else { last }
        };
        *towards = Some(unit(math::rotate(math::conjugate(above), looks)));
        let from = |node| math::sqrt((eye - turning.tree.position(node)).length_squared());
        let reach = from(0);
        // A target as near as the motion of the face itself would be chased round and round. Nearer to the last joint than
        // the face's ray passes it, the face cannot look at a target at all. So the face looks past nearer targets, in their
        // direction.
        let clear = reach.max(3.0 * from(turning.head));
        let part = self.part(front, looks, distance, reach);
        if part >= 1.0 && self.dead_zone == 0.0 && distance >= clear {
            return to_target;
        }
        let (axis, off) = between(front, looks);
        math::rotate(math::axis_angle(axis, part * off), front) * distance.max(clear)
    }

    /// The share of the look that is applied, 0 to 1, to a target in the direction `to`, `distance` metres away. `reach` is the
    /// reach of the line of joints, in metres.
    fn part(&self, front: Vec3, to: Vec3, distance: f32, reach: f32) -> f32 {
        let near = self.near * reach;
        let near = if distance < near { math::smoothstep(distance / near) } else { 1.0 };
        // Less than a right angle from the front, nothing fades, and the angle need not be known.
        if self.behind >= core::f32::consts::FRAC_PI_2 && front.dot(to) > 0.0 {
            return near;
        }
        let left = (core::f32::consts::PI - between(front, to).1) / (core::f32::consts::PI - self.behind);
        near * if left < 1.0 { math::smoothstep(left.max(0.0)) } else { 1.0 }
    }

    fn turn_line(&self, turning: &mut Turning, line: &[Initial], target: Vec3) -> u32 {
        let (mut rounds, mut off) = (0, f32::INFINITY);
        for _ in 0..ROUNDS {
            let mut turned = false;
            for (i, (part, from)) in self.line.iter().zip(line).enumerate() {
                let (eye, front) = turning.face();
                if front == Vec3::ZERO || !eye.is_finite() {
                    return rounds;
                }
                let to_target = target - eye;
                let last = i + 1 == self.line.len();
                let (turn, to) = if last {
                    let at = turning.tree.position(from.node);
                    let ray = AimRay { offset: eye - at, axis: front, up: None };
                    (aim_ray(&ray, target - at).0, target - at)
                } else {
                    (math::shortest_arc(front, unit(to_target), Vec3::ZERO), to_target)
                };
                let share = if last { 1.0 } else { part.share };
                if turning.turn(from, turn, share, to, math::sqrt(to_target.length_squared())) {
                    turning.tree.update(from.node..turning.head + 1);
                    turned = true;
                }
            }
            rounds += u32::from(turned);
            if !turned {
                break;
            }
            // A face that is on its target to rounding turns no joint in another round.
            let (eye, front) = turning.face();
            let to = target - eye;
            let stirs =
                STIRS * math::sqrt(to.length_squared()) + UNCERTAIN * turning.tree.extent(turning.head);
            if front.dot(to) > 0.0 && front.cross(to).length_squared() <= stirs * stirs {
                break;
            }
            if rounds % 8 == 0 {
                let was = core::mem::replace(&mut off, off_ray(eye, front, target).1);
                if was - off < CREEPS {
                    break;
                }
            }
        }
        rounds
    }

    fn turn_eyes(&self, turning: &mut Turning, eyes: &[Initial], target: Vec3) -> u32 {
        let count = turning.tree.len();
        turning.tree.update(turning.head + 1..count);
        let mut turned = false;
        for (eye, from) in self.eyes.iter().zip(eyes) {
            let front = turning.looks(from, eye);
            let at = turning.tree.position(from.node);
            let to_target = target - at;
            let distance = math::sqrt(to_target.length_squared());
            if front == Vec3::ZERO || !(distance > 0.0 && distance.is_finite()) {
                continue;
            }
            let to = to_target / distance;
            let reach = at - turning.tree.parent_frame(from.node).at.truncate();
            let part = self.part(front, to, distance, math::sqrt(reach.length_squared()));
            let mut turn = math::shortest_arc(front, to, Vec3::ZERO);
            if part < 1.0 || !from.within_cone(turn) {
                let (axis, off) = between(front, to);
                // The cone is applied before the fading, which so starts from the cone's edge.
                turn = math::axis_angle(axis, off.min(from.cone) * part);
            }
            if turning.turn(from, turn, 1.0, math::rotate(turn, front), distance) {
                turning.tree.update(from.node..count);
                turned = true;
            }
        }
        u32::from(turned)
    }

    fn measure(&self, turning: &Turning, eyes: &[Initial], target: Vec3, report: &mut LookReport) {
        let (eye, front) = turning.face();
        let (off, angle) = off_ray(eye, front, target);
        report.face = angle;
        let report = &mut report.report;
        report.rotation_tolerance = ROTATION_TOLERANCE;
        if self.eyes.is_empty() {
            (report.position_residual, report.rotation_residual) = (off, angle);
            report.position_tolerance = ROTATION_TOLERANCE * distance(target, eye);
        }
        for (eye, initial) in self.eyes.iter().zip(eyes) {
            let from = turning.tree.position(initial.node);
            let (off, angle) = off_ray(from, turning.looks(initial, eye), target);
            report.position_residual = report.position_residual.max(off);
            report.rotation_residual = report.rotation_residual.max(angle);
            report.position_tolerance =
                report.position_tolerance.max(ROTATION_TOLERANCE * distance(target, from));
        }
        report.outcome = if report.reached() { Outcome::Converged } else { Outcome::Stalled };
    }
}

/// The joints as they turn, and the face on the last of the line.
struct Turning<'a> {
    /// The looking direction of the face, in the head's local space: a unit vector, or zero.
    axis: Vec3,
    /// The point between the eyes, in the head's local space.
    offset: Vec3,
    /// Index of the head's node.
    head: usize,
    tree: &'a mut Tree,
    skeleton: &'a Skeleton,
}

impl Turning<'_> {
    /// Position between the eyes and looking direction, in model space; the direction is zero for an axis of zero.
    fn face(&self) -> (Vec3, Vec3) {
        let frame = self.tree.frame(self.head);
        let linear = frame.linear();
        (linear * self.offset + frame.at.truncate(), unit(linear * self.axis))
    }

    /// Looking direction of an eye, in model space.
    fn looks(&self, initial: &Initial, eye: &Eye) -> Vec3 {
        unit(self.tree.frame(initial.node).linear() * unit(eye.axis))
    }

    /// Turns a joint by a share of a rotation in model space, which leads to the direction `to`, within its cone and its limits.
    /// Returns whether it turned; then its frame and those below it are to be updated. The target is `distance` metres away.
    fn turn(&mut self, from: &Initial, turn: Quat, share: f32, to: Vec3, distance: f32) -> bool {
        let stirs = STIRS + UNCERTAIN * self.tree.extent(from.node) / distance;
        let v = Vec3::new(turn.x, turn.y, turn.z);
        if v.length_squared() <= stirs * stirs || share <= 0.0 {
            return false;
        }
        let part = if share < 1.0 { shared(turn, share) } else { turn };
        let now = self.tree.rotation(from.node);
        let above = self.tree.parent_frame(from.node).linear();
        let limits = from.limits(self.skeleton);
        let held = from.held(math::mul(math::into_frame(&above, part), now));
        let wanted = if limits.clamp(held) == held {
            held
        } else {
            // The ray, and where a share of the turn leads it.
            let ray = math::rotate(math::conjugate(turn), to);
            let seen = |v: Vec3| (above.transpose() * unit(v)).as_dvec3().normalize();
            let p = in_f64(now).conjugate() * seen(ray);
            let nearest = nearest_local(limits, held, p, seen(math::rotate(part, ray)));
            // Limits may lead out of the cone again.
            from.in_cone(limits, nearest)
        };
        let d = math::mul(math::conjugate(wanted), now);
        if d.x * d.x + d.y * d.y + d.z * d.z <= (0.5 * STIRS) * (0.5 * STIRS) * (d.w * d.w) {
            return false;
        }
        self.tree.set_rotation(from.node, wanted);
        true
    }

    /// Interpolates from the input pose by the fraction `influence`.
    fn blend<'a>(&mut self, initial: impl Iterator<Item = &'a Initial>, influence: f32) {
        for initial in initial {
            let now = self.tree.rotation(initial.node);
            if now != initial.rotation {
                let rotation = initial.limits(self.skeleton).blend(initial.rotation, now, influence);
                self.tree.set_rotation(initial.node, rotation);
            }
        }
        self.tree.update(0..self.tree.len());
    }
}

impl Initial {
    /// Reads the joint from the input pose. `cone` is its maximum turn in radians.
    fn read(&mut self, skeleton: &Skeleton, pose: &Pose, cone: f32) {
        let (local, own) = (pose.local(self.joint), skeleton.limits(self.joint));
        self.rotation = local.rotation;
        self.relaxed = if own.excess(local.rotation) <= 1e-5 { None } else { Some(own.relaxed(local)) };
        if self.cone != cone {
            self.cone = cone;
            self.half = (math::sin(0.5 * cone), math::cos(0.5 * cone));
        }
    }

    /// The joint's limits, or if the input pose has it outside, the relaxed ones.
    fn limits<'a>(&'a self, skeleton: &'a Skeleton) -> &'a Limits {
        self.relaxed.as_ref().unwrap_or_else(|| skeleton.limits(self.joint))
    }

    /// Whether a turn, of any length, is no larger than the cone.
    fn within_cone(&self, turn: Quat) -> bool {
        let (v, (sine, cosine)) = (Vec3::new(turn.x, turn.y, turn.z), self.half);
        v.length_squared() * (cosine * cosine) <= (turn.w * turn.w) * (sine * sine)
    }

    /// `wanted`, of any length, or where it is further from the input pose than the cone, the rotation at the cone's edge
    /// between them. The edge's sine and cosine give it without trigonometry.
    fn held(&self, wanted: Quat) -> Quat {
        let d = math::mul(wanted, math::conjugate(self.rotation));
        if self.within_cone(d) {
            return math::normalize(wanted);
        }
        let (v, (sine, cosine)) = (Vec3::new(d.x, d.y, d.z), self.half);
        let k = if d.w < 0.0 { -sine } else { sine } / math::sqrt(v.length_squared());
        math::normalize(math::mul(Quat::from_xyzw(v.x * k, v.y * k, v.z * k, cosine), self.rotation))
    }

    /// Returns `wanted`, or the part of it that fits into the cone: the path back to the input pose is within the limits.
    fn in_cone(&self, limits: &Limits, wanted: Quat) -> Quat {
        let fits = |q: Quat| math::angle_between(q, self.rotation) <= self.cone + 1e-5;
        if fits(wanted) {
            return wanted;
        }
        // This many halvings of half a turn reach f32's rounding of rotations.
        let share = largest_share(22, |share| fits(limits.blend(self.rotation, wanted, share)));
        limits.blend(self.rotation, wanted, share)
    }
}

/// The rotation by a share of the angle of `q`, whose vector part is not zero and which turns by at most half a turn.
fn shared(q: Quat, share: f32) -> Quat {
    let v = Vec3::new(q.x, q.y, q.z);
    let sine = math::sqrt(v.length_squared());
    let half = share * math::atan2(sine, q.w);
    let v = v * (math::sin(half) / sine);
    Quat::from_xyzw(v.x, v.y, v.z, math::cos(half))
}

fn unit(v: Vec3) -> Vec3 {
    let l = v.length_squared();
    if l > 1e-30 && l.is_finite() { v / math::sqrt(l) } else { direction(v) }
}

/// Axis (a unit vector) and angle in radians of the shortest arc between two unit vectors.
fn between(from: Vec3, to: Vec3) -> (Vec3, f32) {
    let cross = from.cross(to);
    let sine = math::sqrt(cross.length_squared());
    let angle = math::atan2(sine, from.dot(to));
    // Nearly equal or nearly opposite: any axis across them will do.
    if sine > 1e-6 { (cross / sine, angle) } else { (math::perpendicular(from, cross), angle) }
}

fn below(skeleton: &Skeleton, joint: JointId, above: JointId) -> Result<(), LookAtError> {
    if joint != above && skeleton.is_below(joint, above) {
        return Ok(());
    }
    Err(LookAtError::NotBelow { joint: skeleton.name(joint).into(), above: skeleton.name(above).into() })
}

fn within(
    skeleton: &Skeleton,
    joint: JointId,
    what: &'static str,
    range: &'static str,
    value: f32,
    max: f32,
) -> Result<(), LookAtError> {
    if (0.0..=max).contains(&value) {
        return Ok(());
    }
    Err(LookAtError::OutOfRange { joint: skeleton.name(joint).into(), what, range, value })
}

fn has_direction(skeleton: &Skeleton, joint: JointId, axis: Vec3) -> Result<(), LookAtError> {
    if axis.is_finite() && axis != Vec3::ZERO {
        return Ok(());
    }
    let (what, range) = ("the length of the looking axis", "finite and above 0");
    Err(LookAtError::OutOfRange { joint: skeleton.name(joint).into(), what, range, value: axis.length() })
}
