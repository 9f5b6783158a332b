//! Spline IK: lays a chain along a curve.

mod cubic;
mod curve;
mod frame;

use alloc::vec::Vec;

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

pub use curve::{Curve, CurveError, CurveFrame, CurveKind, CurveUp};

use super::{
    ChainSolverError,
    arc::LONGEST,
    branch,
    chain_state::{ChainState, signs},
    check,
    iterate::admit,
    options::Tolerance,
};
use crate::{
    Chain, JointId, Outcome, Pose, Report, Skeleton, SolveError, Workspace,
    joint::{Attributes, Capability},
    math, math64,
    option_type::option_type,
};
use curve::Spot;
use frame::{across, arc, carried};

/// Length of the chain on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Fit {
    /// Keeps all bone lengths. Each joint lies where the curve first leaves the sphere of its bone's length about the
    /// previous joint.
    #[default]
    Whole,
    /// Scales the bones so that the last joint lies at the curve's end (of a closed curve: once around). The joints
    /// divide the curve's length in proportion to the bones of the rest pose, whatever the input pose. An offset at the
    /// tip keeps its length and extends beyond that end.
    Stretched {
        /// Minimum length of the chain, measured along the curve, as a factor of its length in the rest pose.
        shortest: f32,
        /// Maximum length, as the same factor. No bone becomes longer than 1e15 m.
        longest: f32,
    },
}

/// Rotation of the joints about their bones.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Roll {
    /// Keeps the input pose's roll: each joint, after its parent has turned, turns its bone by the shortest arc.
    #[default]
    Keep,
    /// Follows the curve's [frames](Curve), whatever the input pose. The chain's rest pose, bent from bone to bone by
    /// shortest arcs, is laid along them.
    Frames {
        /// Direction in the root joint's local space (any length) that points along the curve's normal, such as the
        /// back of a snake.
        axis: Vec3,
        /// Twist in radians about the first bone and about the last, right-handed from the root towards the tip. Bones
        /// between interpolate by length.
        twist: [f32; 2],
    },
}

/// Result of laying a chain on a curve, measured on the final pose.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct SplineReport {
    /// Report of the solve. Its `position_residual` is the largest distance in metres of a joint (or of the tip's
    /// offset) from its position on the curve or on the straight line beyond its end. The outcome is
    /// [`Outcome::Converged`] if that is within the tolerance, else [`Outcome::Stalled`]. Limits, a fixed root, or a
    /// curve too small for a bone can keep the chain off the curve.
    pub report: Report,
    /// Distance in metres of the chain's end beyond an end of the curve; 0 on the curve.
    pub beyond: f32,
    /// Number of bones without a crossing: the curve ahead lies wholly inside their sphere or wholly outside.
    pub missed: u32,
    /// Largest ratio of the arc length between two neighbouring joints to the bone's length: 1 on a straight line,
    /// above pi / 2 where a bone cuts off a hairpin.
    pub longest_way: f32,
}

/// Lays a chain along a [`Curve`]: every joint on the curve, at its bone's true length from the previous joint.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{JointTransform, Pose, Skeleton, Workspace, glam::Vec3};
/// use sinew::solve::{Spline, SplineOptions, spline::{Curve, CurveKind, CurveUp}};
///
/// let mut builder = Skeleton::builder();
/// let mut joint = builder.add("head", None, JointTransform::IDENTITY);
/// for i in 1..=12 {
///     joint = builder.add(format!("tail {i}"), Some(joint), JointTransform::from_translation(-0.2 * Vec3::Z));
/// }
/// let (skeleton, ids) = builder.build()?;
/// let skeleton = Arc::new(skeleton);
///
/// let points = [Vec3::ZERO, Vec3::new(1.0, 0.2, 1.0), Vec3::new(0.0, 0.1, 2.0), Vec3::new(-1.0, 0.0, 1.0)];
/// let ring = Curve::new(CurveKind::CatmullRom, &points, true, CurveUp::Direction(Vec3::Y))?;
/// let snake = Spline::new(&skeleton, ids[0], ids[12])?;
/// let mut workspace = Workspace::new();
/// // The head goes first, along the curve; the tail lies behind it.
/// let options = SplineOptions::new().with_reversed(true);
/// let mut pose = Pose::rest(&skeleton);
/// for frame in 0..60 {
///     let options = options.with_offset(0.05 * frame as f32);
///     let report = snake.solve(&mut workspace, &mut pose, &ring, &options)?;
///     assert!(report.report.position_residual < 1e-5);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What moves
///
/// Joints turn. The root moves onto the curve at `offset` (its translation changes) unless `moves_root` is false. A
/// root that stays may be anywhere: its bone points to where the curve leaves the sphere of its length. Other
/// translations change only with [`Fit::Stretched`]. The tip's local rotation stays, unless the tip has an offset.
///
/// # The next crossing
///
/// With c the joint's position and l its bone's length, |p(t) - c|^2 = l^2 is a polynomial of degree 6 on each piece of
/// the curve. The signs of its Bernstein coefficients bracket its first root after the last joint's, without missing
/// any. Newton's method then finds the root within the bracket.
///
/// If a curve bends back within a bone's length, its crossing lies behind the bend and the bone cuts the bend off. As
/// such a chain travels, the crossing may jump from before a hairpin to behind it. No placement at true lengths avoids
/// that. It does not happen on curves with radii above half a bone's length, and `longest_way` reports it. If a closed
/// curve has no crossing at all, the bone points at the furthest position (the nearest, if the whole curve is out of
/// reach), to which the last crossing converged.
///
/// # Limits
///
/// Fixed joints, hinges, balls and turns about single axes keep their limits. From the root outward, each joint gets
/// its ideal rotation, clamped to the nearest one within its limits; the next joint continues from there. There is no
/// optimisation over the whole chain: if limits forbid the curve, joints lie off it, and the report states the
/// distance. Construction refuses joints with any other attributes.
///
/// Drawn by the example `spline`:
///
#[doc = include_str!("../../pictures/spline.svg")]
#[doc(alias("spline IK"))]
#[derive(Clone, Debug)]
pub struct Spline {
    chain: Chain,
    rest: Rest,
}

option_type! {
    /// Options of [`Spline`].
    SplineOptions {
        /// Position of the root along the curve, in metres from its start; 0 by default. A closed curve wraps around;
        /// an open one continues in a straight line beyond its ends.
        offset, with_offset: f32 = 0.0;
        /// Whether the chain lies against the curve's direction, seen from its root; false by default.
        reversed, with_reversed: bool = false;
        /// Length of the chain on the curve; [`Fit::Whole`] by default.
        fit, with_fit: Fit = Fit::Whole;
        /// Rotation of the joints about their bones; [`Roll::Keep`] by default.
        roll, with_roll: Roll = Roll::Keep;
        /// Whether the root moves onto the curve; true by default.
        moves_root, with_moves_root: bool = true;
        /// Distance of a joint from the curve that counts as on it; 1e-5 of the chain's length by default.
        position_tolerance, with_position_tolerance: Tolerance = Tolerance::Share(1e-5);
        /// Blend weight between the input pose (0) and the result (1, the default), linear in the joints' coordinates
        /// and the root's position.
        #[doc(alias("alpha", "weight"))]
        influence, with_influence: f32 = 1.0;
    }
}

/// Buffers of one solve.
#[derive(Debug, Default)]
struct SplineScratch {
    links: ChainState,
    plan: Vec<Stop>,
}

/// State of one solve.
struct Laying<'a> {
    of: &'a Spline,
    on: &'a mut SplineScratch,
    options: &'a SplineOptions,
}

/// Target position of a joint.
#[derive(Clone, Copy, Debug, Default)]
struct Stop {
    position: DVec3,
    /// Input position in model space.
    input: Vec3,
    /// Input distance to the next joint, in metres.
    length: f64,
}

/// Angle in radians below which a turn is only f32's rounding of rotations.
const STIRS: f32 = 3e-7;

/// Share of a bone's length that is only f32's rounding of its offset and of the positions of its ends.
const SAME: f64 = 5e-7;

pub(super) const CAPABILITY: Capability = Capability::new("spline", Attributes::TURNING);

impl Spline {
    /// Returns the solver for the chain from `root` down to `tip`. Refuses joints with attributes that the solver does
    /// not honour.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainSolverError> {
        Self::from_chain(skeleton, Chain::new(skeleton, root, tip)?)
    }

    /// Returns the solver for a chain that may have an offset at its tip. With an offset the tip turns, too, and the
    /// offset's point lies on the curve.
    pub fn from_chain(skeleton: &Skeleton, chain: Chain) -> Result<Self, ChainSolverError> {
        admit(skeleton, &chain, CAPABILITY)?;
        Ok(Self { rest: Rest::new(skeleton, &chain), chain })
    }

    /// Chain from root to tip.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// Makes room in a workspace, so that the first solve with it does not allocate either.
    pub fn reserve(&self, workspace: &mut Workspace) {
        let SplineScratch { links, plan } = workspace.scratch();
        links.reserve(&self.chain);
        plan.clear();
        plan.resize(self.chain.joints().len() + 1, Stop::default());
    }

    /// Lays the chain along the curve (in model space). Updates the pose. Every joint ends within its limits, or no
    /// further outside than in the input pose.
    ///
    /// # Errors
    ///
    /// Returns an error for options outside their ranges, for a pose in which a frame of the chain is sheared, flat
    /// or not finite, and for a [`Roll::Frames`] axis within 0.001 rad of the first bone.
    pub fn solve(
        &self,
        workspace: &mut Workspace,
        pose: &mut Pose,
        curve: &Curve,
        options: &SplineOptions,
    ) -> Result<SplineReport, SolveError> {
        options.check()?;
        pose.update();
        self.reserve(workspace);
        let mut laying = Laying { of: self, on: workspace.scratch(), options };
        laying.on.links.load(&self.chain, pose, false)?;
        let start = curve.spot(f64::from(options.offset));
        for (stop, position) in laying.on.plan.iter_mut().zip(positions(&self.chain, pose)) {
            stop.input = position;
        }
        let links = &mut laying.on.links;
        if options.moves_root {
            links.move_root(curve.position(&start).as_vec3());
        }
        let mut report = laying.lay(curve, start)?;
        let links = &mut laying.on.links;
        if options.influence <= 0.0 {
            links.reset();
        } else if options.influence < 1.0 {
            links.blend(options.influence);
        }
        report.report.iterations = u32::from(links.store(pose));
        laying.measure(pose, &mut report);
        if options.influence <= 0.0 {
            report.report.outcome = Outcome::Converged;
        }
        Ok(report)
    }
}

impl SplineOptions {
    fn check(&self) -> Result<(), SolveError> {
        check::within("the offset along the curve", "finite", self.offset, f32::MIN, f32::MAX)?;
        self.position_tolerance.check()?;
        check::within("the influence", "0 to 1", self.influence, 0.0, 1.0)?;
        if let Fit::Stretched { shortest, longest } = self.fit {
            check::within(
                "the shortest stretch",
                "above 0, to the longest",
                shortest,
                f32::MIN_POSITIVE,
                longest,
            )?;
            check::within("the longest stretch", "finite", longest, 0.0, f32::MAX)?;
        }
        if let Roll::Frames { axis, twist: [first, last] } = self.roll {
            check::finite("the axis along the curve's normal", axis)?;
            check::within("the first bone's twist", "finite", first, f32::MIN, f32::MAX)?;
            check::within("the last bone's twist", "finite", last, f32::MIN, f32::MAX)?;
        }
        Ok(())
    }
}

impl Laying<'_> {
    /// Angle in radians about the first bone, in its frame, that turns the root's axis to the frame's normal.
    fn own_roll(&self) -> Result<f64, SolveError> {
        let Roll::Frames { axis, .. } = self.options.roll else { return Ok(0.0) };
        let v = self.of.rest.root * axis.as_dvec3();
        let sine = math64::sqrt((v.x * v.x + v.y * v.y) / v.length_squared());
        // Within 1e-3 rad of the bone, an axis does not determine which way is up.
        if sine > 1e-3 {
            return Ok(math64::atan2(v.x, v.y));
        }
        let value = if sine.is_finite() { sine as f32 } else { 0.0 };
        let what = "the sine of the angle from the first bone to the axis that follows the curve's normal";
        Err(SolveError::OutOfRange { what, range: "above 0.001", value })
    }

    /// Stores the bones' lengths in metres.
    fn lengths(&mut self) {
        let mut unit = f64::from(self.on.links.unit()).abs();
        for i in 0..self.on.links.links.len() {
            unit *= f64::from(self.on.links.links[i].scale.x.abs());
            self.on.plan[i].length = math64::sqrt(self.below(i).length_squared()) * unit;
        }
    }

    /// Metres along the curve for each metre of the rest pose, if the chain is stretched.
    fn pace(&self, curve: &Curve, first: f64) -> Option<f64> {
        let Fit::Stretched { shortest, longest } = self.options.fit else { return None };
        let all: f64 = self.of.rest.lengths[..self.of.chain.joints().len() - 1].iter().sum();
        let whole = curve.full_length();
        let room = match (curve.is_closed(), self.options.reversed) {
            (true, _) => whole,
            (false, false) => whole - first,
            (false, true) => first,
        };
        let size = f64::from(self.on.links.unit()).abs();
        (all > 0.0).then(|| (room / (all * size)).clamp(shortest.into(), longest.into()) * size)
    }

    /// Vector to the next joint, in the joint's own frame before its scale.
    fn below(&self, link: usize) -> DVec3 {
        self.on
            .links
            .links
            .get(link + 1)
            .map_or(self.on.links.chain().tip_offset(), |next| next.offset)
            .as_dvec3()
    }

    /// Turns every joint. All positions and orientations are in model space.
    fn lay(&mut self, curve: &Curve, start: Spot) -> Result<SplineReport, SolveError> {
        let roll = math64::axis_angle(DVec3::Z, self.own_roll()?);
        self.lengths();
        let (count, back) = (self.on.links.links.len(), self.options.reversed);
        let sign = if back { -1.0 } else { 1.0 };
        let first = curve.distance(&start);
        let pace = self.pace(curve, first);
        // A bone's share of the twist depends on where the bone begins, so that the last bone has all of it.
        let all: f64 = self.on.plan.iter().map(|s| s.length).sum();
        let last = self.on.plan[..count].iter().rev().map(|s| s.length).find(|l| *l > 0.0).unwrap_or(0.0);

        let mut report = SplineReport::default();
        let (mut spot, mut gone, mut rested, mut off) = (start, 0.0, 0.0, 0.0f64);
        let mut at = self.on.links.root_place();
        let (mut frame, mut unit) = self.on.links.top();
        let hand = if unit < 0.0 { -1.0 } else { 1.0 };
        for i in 0..count {
            let length = self.on.plan[i].length;
            self.on.plan[i].position = curve.position(&spot);
            if i > 0 || self.options.moves_root {
                off = off.max(at.distance(self.on.plan[i].position));
            }
            let scale = self.on.links.links[i].scale;
            unit *= f64::from(scale.x.abs()) * handedness(scale);
            let own = matrix(signs(scale));
            let mut now = frame * matrix(self.on.links.links[i].rotation);
            if length > 0.0 {
                rested += self.of.rest.lengths[i];
                let (next, met) = match pace {
                    Some(pace) if i + 1 < count => (curve.spot(first + sign * pace * rested), true),
                    _ => curve.leave(&spot, at, length, back),
                };
                report.missed += u32::from(!met);
                let from = curve.distance(&spot);
                let mut way = (curve.distance(&next) - from) * sign;
                if curve.is_closed() && way < 0.0 {
                    way += curve.full_length();
                }
                report.longest_way = report.longest_way.max((way / length) as f32).min(f32::MAX);
                let chord = curve.position(&next) - at;
                let reach = math64::sqrt(chord.length_squared());
                if reach > 0.0 {
                    let along = chord / reach;
                    let mut wanted = now;
                    if let (Roll::Frames { twist, .. }, Some(rest)) =
                        (self.options.roll, self.of.rest.orientations[i])
                    {
                        let (tangent, normal) = curve.frame(&curve.spot(from + sign * 0.5 * way));
                        let normal = across(along, carried(tangent * sign, along, normal));
                        let share = if all > last { gone / (all - last) } else { 0.0 };
                        let [a, b] = twist.map(f64::from);
                        let (y, z) =
                            (math64::axis_angle(along, a + (b - a) * share) * normal * hand, along * hand);
                        wanted = DMat3::from_cols(y.cross(z), y, z) * roll * rest;
                    }
                    now = self.turn(i, &frame, wanted, own * self.below(i) * unit, along);
                    let reach = reach.min(LONGEST.into());
                    if pace.is_some() && i + 1 < count && (reach / length - 1.0).abs() > SAME {
                        self.on.links.links[i + 1].offset *= (reach / length) as f32;
                    }
                }
                spot = next;
                gone += length;
            }
            at += now * (own * self.below(i) * unit);
            frame = now * own;
        }
        self.on.plan[count].position = curve.position(&spot);
        off = off.max(at.distance(self.on.plan[count].position));
        let near = f64::from(self.options.position_tolerance.metres(all as f32))
            + 4.0 * f64::from(self.on.links.rounding);
        report.report.outcome = if off <= near { Outcome::Converged } else { Outcome::Stalled };
        report.report.position_tolerance = (near as f32).min(f32::MAX);
        report.beyond = (spot.beyond.abs() as f32).min(f32::MAX);
        Ok(report)
    }

    /// Turns one joint from its pre-rotation frame to the orientation `wanted`, with its bone along the unit vector
    /// `along`, as far as its limits allow. Returns the joint's new orientation.
    fn turn(&mut self, link: usize, frame: &DMat3, wanted: DMat3, arm: DVec3, along: DVec3) -> DMat3 {
        let arm = wanted * arm;
        let wanted = arc(arm / math64::sqrt(arm.length_squared()), along) * wanted;
        let link = &mut self.on.links.links[link];
        let q = math64::quaternion(&(frame.transpose() * wanted));
        let q = math::normalize(Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32));
        if math::angle_between(q, link.rotation) > STIRS {
            let q = if math::dot(q, link.rotation) < 0.0 { -q } else { q };
            link.rotation = link.limits.clamp(q);
        }
        *frame * matrix(link.rotation)
    }

    /// Measures the distances of the joints of a pose from their target positions.
    fn measure(&self, pose: &Pose, report: &mut SplineReport) {
        let chain = self.on.links.chain();
        let (mut residual, mut furthest) = (0.0f64, 0.0f64);
        for (i, (position, stop)) in positions(chain, pose).zip(&self.on.plan).enumerate() {
            let place = position.as_dvec3();
            furthest = furthest.max(place.distance(stop.input.as_dvec3()));
            if i > 0 || self.options.moves_root {
                residual = residual.max(place.distance(stop.position));
            }
        }
        report.report.position_residual = (residual as f32).min(f32::MAX);
        // Each joint has its own target position, so the furthest displacement of any joint counts.
        let length: f64 = self.on.plan[..chain.joints().len()].iter().map(|s| s.length).sum();
        let moved = if length > 0.0 { (furthest / length) as f32 } else { 0.0 };
        report.report.branch_changed = branch::changed(self.on.links.turned(), moved, 0.0);
    }
}

/// Model positions of the joints, and of the tip's offset if there is one.
fn positions(chain: &Chain, pose: &Pose) -> impl Iterator<Item = Vec3> {
    let end = (chain.tip_offset() != Vec3::ZERO).then(|| chain.end(pose));
    chain.joints().iter().map(|&j| pose.position(j)).chain(end)
}

/// Rest pose of a chain, bone by bone. A bone's frame has z along the bone, and as y a normal carried from bone to bone
/// by shortest arcs.
#[derive(Clone, Debug)]
struct Rest {
    /// Orientation of each joint in its bone's frame; none for a bone without length.
    orientations: Vec<Option<DMat3>>,
    /// Lengths of the bones, in the units of the root's parent.
    lengths: Vec<f64>,
    /// Axes of the root joint in the frame of the first bone.
    root: DMat3,
}

impl Rest {
    fn new(skeleton: &Skeleton, chain: &Chain) -> Self {
        let joints = chain.joints();
        let (mut frame, mut unit, mut bone) = (DMat3::IDENTITY, 1.0, None);
        let (mut axes, mut root) = (DMat3::IDENTITY, None);
        let mut orientations = Vec::with_capacity(joints.len());
        let mut lengths = Vec::with_capacity(joints.len());
        for (i, &joint) in joints.iter().enumerate() {
            let rest = skeleton.rest(joint);
            let now = frame * matrix(rest.rotation);
            let own = matrix(signs(rest.scale));
            unit *= f64::from(rest.scale.x.abs()) * handedness(rest.scale);
            if i == 0 {
                axes = now * own * handedness(rest.scale);
            }
            let below = joints.get(i + 1).map_or(chain.tip_offset(), |&j| skeleton.rest(j).translation);
            let arm = now * (own * below.as_dvec3()) * unit;
            let length = math64::sqrt(arm.length_squared());
            lengths.push(length);
            orientations.push((length > 0.0).then(|| {
                let along = arm / length;
                let normal = match bone {
                    Some((last, normal)) => across(along, carried(last, along, normal)),
                    None => across(along, DVec3::Y),
                };
                bone = Some((along, normal));
                let to_bone = DMat3::from_cols(normal.cross(along), normal, along).transpose();
                root.get_or_insert(to_bone * axes);
                to_bone * now
            }));
            frame = now * own;
        }
        Self { orientations, lengths, root: root.unwrap_or(DMat3::IDENTITY) }
    }
}

/// Sign of a scale's determinant: -1 if it mirrors, else 1.
fn handedness(scale: Vec3) -> f64 {
    if scale.x * scale.y * scale.z < 0.0 { -1.0 } else { 1.0 }
}

/// Matrix of an f32 rotation, normalised in f64.
fn matrix(q: Quat) -> DMat3 {
    let [x, y, z, w] = [q.x, q.y, q.z, q.w].map(f64::from);
    let l = math64::sqrt(x * x + y * y + z * z + w * w);
    math64::matrix(DQuat::from_xyzw(x / l, y / l, z / l, w / l))
}
