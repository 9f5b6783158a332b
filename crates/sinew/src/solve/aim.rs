//! Aim: turns one joint so that one of its axes points at a target.

mod within;

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};

use super::{
    arc::{FADE, arc, direction, distance, largest, max, off_ray, to_unit, twist_towards},
    branch, check,
    options::{Options, ROTATION_TOLERANCE},
    parent_space, partial,
};
use crate::{JointId, Outcome, Pose, Report, SolveError, joint::Attributes, math};
pub(super) use within::{CAPABILITY, nearest_local};

/// Up vectors that fix the roll of an aimed joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimUp {
    /// The joint's own up direction, in its local space (any length).
    pub axis: Vec3,
    /// The direction in model space that `axis` turns towards, about the line from the joint to the target (any length).
    pub direction: Vec3,
}

/// Turns one joint so that a ray fixed to it passes through a target: a head's eyes, a gun's barrel, a turret.
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Pose, Skeleton, JointTransform, glam::Vec3, solve::{Aim, AimUp, Options}};
///
/// let mut builder = Skeleton::builder();
/// builder.add("head", None, JointTransform::from_translation(Vec3::new(0.0, 1.6, 0.0)));
/// let (skeleton, ids) = builder.build()?;
/// let mut pose = Pose::rest(&Arc::new(skeleton));
///
/// // The eyes look along +Z from a point 10 cm up and 8 cm forward, and the head stays upright.
/// let eyes = Aim {
///     offset: Vec3::new(0.0, 0.1, 0.08),
///     up: Some(AimUp { axis: Vec3::Y, direction: Vec3::Y }),
///     ..Aim::new(ids[0], Vec3::Z)
/// };
/// let target = Vec3::new(1.0, 1.2, 2.0);
/// eyes.solve(&mut pose, target, &Options::new())?;
/// let frame = pose.model(ids[0]);
/// let (from, along) = (frame.transform_point3(eyes.offset), frame.transform_vector3(Vec3::Z));
/// assert!((target - from).cross(along).length() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # The mathematics
///
/// Let o be the ray's start, m its unit direction and t the vector to the target, all relative to the joint. A rotation
/// about the joint keeps distances from it. Only the point of the ray at the target's distance can reach the target: p = o +
/// s m with |p| = |t|, which is
///
/// ```text
/// s = -o.m + sqrt((|t| - r) (|t| + r)),   r = |o - (o.m) m|
/// ```
///
/// where r is the distance of the ray's line from the joint. The turn is the shortest arc from p to t, exact for every
/// offset. A turn about t remains free. It follows the up vector, or is left out to keep the roll.
///
/// The line cannot reach a target nearer to the joint than r. The ray cannot reach a target that would lie behind its start
/// (s < 0). In both cases the point of the ray that is nearest to the joint faces the target, which minimises the distance.
/// The report returns that distance. A target on the joint turns nothing. A target exactly behind the joint is reached by a
/// half turn about the up axis, if there is one.
///
/// # Within limits
///
/// A joint with limits (a hinge, a ball, or turns about single axes of which one moves) aims as near to the target as they let
/// it: it minimises the angle, seen from the joint, between the target and the point of the ray at the target's distance. Of a
/// ball's rotations that aim equally well, it takes the one with the roll nearest to that of the up vector, or of the shortest
/// arc. Where limits keep the ray off the target, the outcome is [`Outcome::Stalled`], and the residuals say by how much. Near
/// a target that two rotations miss equally, the joint may leap from one to the other; a
/// [`max_turn`](Options::max_turn) bounds that.
///
/// Drawn by the example `aim`:
///
#[doc = include_str!("../../pictures/aim.svg")]
#[doc(alias("aim constraint", "look at"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The joint that turns.
    pub joint: JointId,
    /// The direction in the joint's local space that points at the target (any length but zero).
    pub axis: Vec3,
    /// Start of the ray, in the joint's local space and its units.
    pub offset: Vec3,
    /// Up vectors that fix the joint's roll; `None` keeps the roll of the pose. An up direction within ten degrees of the
    /// direction to the target fades out.
    pub up: Option<AimUp>,
}

/// A ray fixed to a joint, as [`aim_ray`] takes it: vectors in model space, relative to the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimRay {
    /// Start of the ray.
    pub offset: Vec3,
    /// Direction of the ray, of unit length.
    pub axis: Vec3,
    /// The joint's own up direction and the wanted one, both of any length.
    pub up: Option<(Vec3, Vec3)>,
}

/// Rotation in model space that takes the ray through the point `target` (relative to the joint), and the distance by which
/// the target is out of the ray's reach (0 within reach). All inputs must be finite.
#[inline]
pub fn aim_ray(ray: &AimRay, target: Vec3) -> (Quat, f32) {
    plain(ray, target).unwrap_or_else(|| aim_general(ray, target))
}

/// Squared lengths in this range (1 cm to 10 km, in metres) neither underflow nor overflow below.
const ORDINARY: core::ops::Range<f32> = 1e-4..1e8;

/// The common case: a target within reach at an ordinary distance, less than 120 degrees off, and an up direction that is
/// not near the direction to the target. `None` in all other cases.
///
/// Four vectors lie side by side in the lanes of x, y and z: the ray's point p, the target t, the joint's own up v and the
/// wanted up w. One row of products makes four dot or cross products, and lanes never mix in a sum.
#[inline(always)]
fn plain(ray: &AimRay, t: Vec3) -> Option<(Quat, f32)> {
    let (o, m) = (ray.offset, ray.axis);
    let mut p = m;
    if o != Vec3::ZERO {
        let along = o.dot(m);
        let root2 = t.length_squared() - (o - m * along).length_squared();
        let s = math::sqrt(max(root2, 0.0)) - along;
        if !(root2 > 0.0 && s > 0.0) {
            return None;
        }
        p = o + m * s;
    }
    let (v, w) = ray.up.unwrap_or_default();
    let x = Vec4::new(p.x, t.x, v.x, w.x);
    let y = Vec4::new(p.y, t.y, v.y, w.y);
    let z = Vec4::new(p.z, t.z, v.z, w.z);
    let (tx, ty, tz) = (x.yyyy(), y.yyyy(), z.yyyy());
    let [pt, tt, tv, tw] = (x * tx + y * ty + z * tz).to_array();
    let [pp, _, vv, ww] = (x * x + y * y + z * z).to_array();
    if !(ORDINARY.contains(&tt) && ORDINARY.contains(&pp)) {
        return None;
    }
    // The shortest arc from p to t is (p x t, 1 + cos), times |p| |t|.
    let product = math::sqrt(pp * tt);
    let arc = product + pt;
    if arc < 0.5 * product {
        return None;
    }
    let (cx, cy, cz) = (y * tz - z * ty, z * tx - x * tz, x * ty - y * tx);
    if ray.up.is_none() {
        let (ax, ay, az) = (cx.x, cy.x, cz.x);
        let l = 1.0 / math::sqrt(ax * ax + ay * ay + az * az + arc * arc);
        return Some((Quat::from_xyzw(ax * l, ay * l, az * l, arc * l), 0.0));
    }
    let (px, py, pz) = (x.xxxx(), y.xxxx(), z.xxxx());
    let [_, _, pv, pw] = (x * px + y * py + z * pz).to_array();
    let (wx, wy, wz) = (x.wwww(), y.wwww(), z.wwww());
    let vw = (x * wx + y * wy + z * wz).z;
    // (p x t) . w and (v x t) . w.
    let [ptw, _, vtw, _] = (cx * wx + cy * wy + cz * wz).to_array();
    let clear = ORDINARY.contains(&vv)
        && ORDINARY.contains(&ww)
        && tt * ww * (1.0 - FADE * FADE) > tw * tw
        && pp * vv * (1.0 - 1e-4) > pv * pv;
    if !clear {
        return None;
    }
    // The arc takes v to v - k (p + t) + 2 (p . v) t, for p and t of unit length and k = (p + t) . v / (1 + cos). The angle
    // from there to w, about t, has this sine and cosine, both times one length.
    let (ip, it) = (1.0 / math::sqrt(pp), 1.0 / math::sqrt(tt));
    let k = (pv * ip + tv * it) * product / arc;
    let sin = it * (k * ip * ptw - vtw);
    let cos = vw - k * (pw * ip + tw * it) + (pv * ip) * (tw * it);
    let length = math::sqrt(sin * sin + cos * cos);
    // Half the angle, in the form without cancellation.
    let (s, c) = if cos >= 0.0 { (sin, length + cos) } else { (length - cos, sin) };
    let s = s * it;
    // The twist (t s, c) after the arc (p x t, arc); t x (p x t) = p (t . t) - t (p . t).
    let (f, g, h) = (Vec4::splat(c), Vec4::splat(s * (arc - pt)), Vec4::splat(s * tt));
    let (qx, qy, qz) =
        ((cx * f + tx * g + px * h).x, (cy * f + ty * g + py * h).x, (cz * f + tz * g + pz * h).x);
    // t . (p x t) is 0.
    let qw = c * arc;
    let l = 1.0 / math::sqrt(qx * qx + qy * qy + qz * qz + qw * qw);
    Some((Quat::from_xyzw(qx * l, qy * l, qz * l, qw * l), 0.0))
}

/// The rotation for any finite input.
#[cold]
#[inline(never)]
fn aim_general(ray: &AimRay, target: Vec3) -> (Quat, f32) {
    let size = max(largest(target), largest(ray.offset));
    // Scales lengths below 2, so that products of four lengths do not overflow at any scale.
    let k = to_unit(size);
    let (o, t, m) = (ray.offset * k, target * k, ray.axis);
    let along = o.dot(m);
    let r = math::sqrt((o - m * along).length_squared());
    let x = math::sqrt(t.length_squared());
    // Faces the target with the ray's start where p would lie behind it, and with the line's nearest point short of r.
    let s = max(math::sqrt(max((x - r) * (x + r), 0.0)) - along, 0.0);
    let p = o + m * s;
    let pl = math::sqrt(p.length_squared());
    let by = ((pl - x).max(0.0) / k).min(f32::MAX);
    // A target or a ray on the joint itself has no direction.
    if x <= 1e-9 || pl <= 1e-9 {
        return (Quat::IDENTITY, by);
    }
    let (mut q, weak) = arc(p, t, pl * x, Vec3::ZERO);
    if weak && q.w == 0.0 {
        let axis = math::perpendicular(p / pl, ray.up.map_or(Vec3::ZERO, |(own, _)| own));
        q = Quat::from_xyzw(axis.x, axis.y, axis.z, 0.0);
    }
    q = math::normalize(q);
    if let Some((own, wanted)) = ray.up {
        let axis = t * (1.0 / x);
        let (twist, _) = twist_towards(axis, math::rotate(q, own), wanted);
        q = math::normalize(math::mul(twist, q));
    }
    if weak {
        let now = math::rotate(q, p);
        q = math::normalize(math::mul(arc(now, t, pl * x, m).0, q));
    }
    (q, by)
}

/// An aim without limits.
struct Turned {
    /// Vector from the joint to the target.
    to_target: Vec3,
    /// The ray of the input pose, and that of the pose before the last turn, relative to the joint.
    first: AimRay,
    ray: AimRay,
    /// Distance by which the target is out of the ray's reach.
    by: f32,
    turns: u32,
}

impl Aim {
    /// An aim from the joint's own position along its local direction `axis` that keeps the pose's roll.
    pub const fn new(joint: JointId, axis: Vec3) -> Self {
        Self { joint, axis, offset: Vec3::ZERO, up: None }
    }

    /// Points the ray at `target` (model space) and updates the pose. Below a parent with a non-uniform scale, it solves in
    /// the parent's space.
    ///
    /// With a [`max_turn`](Options::max_turn), no solve takes the ray further from the target than the input pose has it. A
    /// ray that starts beside the joint may have no such turn; then the pose stays as it is.
    ///
    /// The report's `position_residual` is the distance in metres from the target to the ray. Its `rotation_residual` is the
    /// angle in radians between the ray and the direction from its start to the target. Both are those of the solved pose.
    /// An influence below 1 makes a part of the turn, in the coordinates of a ball joint (swing and twist about the axis).
    /// The joint stops where it has turned by [`Options::max_turn`].
    ///
    /// # Errors
    ///
    /// A vector or a frame of the pose is not finite, the axis is zero, an option is out of range, the joint has an attribute
    /// that an aim cannot honour, or the scales of the joint or its parent are zero or too large for f32.
    pub fn solve(&self, pose: &mut Pose, target: Vec3, options: &Options) -> Result<Report, SolveError> {
        check::finite("the target", target)?;
        check::finite("the aiming axis", self.axis)?;
        check::finite("the aiming offset", self.offset)?;
        if let Some(up) = self.up {
            check::finite("the up axis", up.axis)?;
            check::finite("the up direction", up.direction)?;
        }
        options.check()?;
        let skeleton = pose.skeleton();
        // Without attributes a joint turns freely.
        let limited =
            skeleton.joint(self.joint).attributes() != Attributes::NONE && self.is_limited(skeleton)?;
        pose.update();
        check::frame(pose, self.joint, "the joint's frame", true)?;
        if parent_space::is_sheared(pose, self.joint) {
            return self.solve_sheared(pose, target, options);
        }

        let mut report = Report::default();
        let before = pose.local(self.joint).rotation;
        let influence = if limited && options.influence > 0.0 { 1.0 } else { options.influence };
        let Turned { to_target, first, ray, by, turns } = self.turn_freely(pose, target, influence)?;
        report.iterations = turns;
        if limited && options.influence > 0.0 {
            let [met, changed] = self.keep_within(pose, target, before, options.influence);
            if !met {
                report.outcome = Outcome::Stalled;
            }
            report.branch_changed = changed;
            report.iterations = u32::from(pose.local(self.joint).rotation != before);
        }
        if options.max_turn < f32::INFINITY
            && math::angle_between(before, pose.local(self.joint).rotation) > options.max_turn
        {
            self.hold_back(pose, target, before, options.max_turn, limited);
            report.outcome = Outcome::Stalled;
        }
        if by > 1e-6 * (math::sqrt(to_target.length_squared()) + math::sqrt(ray.offset.length_squared())) {
            report.out_of_reach = by;
        }
        // Without an up vector the turn is the shortest arc, which the motion of the ray explains.
        if let (Some((up, _)), true) = (first.up, report.iterations > 0) {
            let linear = pose.model(self.joint).matrix3;
            let up_now = linear * self.up.map_or(Vec3::ZERO, |up| direction(up.axis));
            report.branch_changed |= branch::flipped(first.axis, up, linear * direction(self.axis), up_now);
        }
        self.measure(pose, target, &mut report);
        Ok(report)
    }

    /// Turns the joint as if it had no limits.
    #[inline(always)]
    fn turn_freely(&self, pose: &mut Pose, target: Vec3, influence: f32) -> Result<Turned, SolveError> {
        let (mut to_target, mut ray) = self.seen(pose, target)?;
        let (first, mut turns) = (ray, 0);
        let mut by;
        loop {
            let turn;
            (turn, by) = aim_ray(&ray, to_target);
            if influence <= 0.0 || !self.moves(pose, target, &ray, to_target, turn) {
                break;
            }
            let part = influence < 1.0;
            let turn = if part { partial::partial_swing_twist(turn, ray.axis, influence) } else { turn };
            pose.turn(self.joint, turn);
            pose.update();
            turns += 1;
            // Rounding of a wide turn is turned away, so that solving again finds nothing to do. An up direction that fades
            // out is followed in part, once.
            let fades = ray.up.is_some_and(|(_, wanted)| sine(wanted, to_target) < 1.01 * FADE);
            if part || fades || turns == 3 {
                break;
            }
            let Ok(seen) = self.seen(pose, target) else { break };
            (to_target, ray) = seen;
        }
        Ok(Turned { to_target, first, ray, by, turns })
    }

    /// Reduces the turn to `max_turn` radians, and further, down to none, if the residual grew: with a ray that starts far
    /// from the joint, a part of the turn may lead away from the target.
    #[cold]
    fn hold_back(&self, pose: &mut Pose, target: Vec3, before: Quat, max_turn: f32, limited: bool) {
        let whole = pose.local(self.joint).rotation;
        let limits = limited.then(|| self.relaxed(pose, before));
        let mut off = |turn: Quat| {
            pose.set_rotation(self.joint, turn);
            pose.update();
            let mut report = Report::default();
            self.measure(pose, target, &mut report);
            report.position_residual
        };
        let found = off(before) * (1.0 + 1e-6);
        let part = |halvings: i32| {
            let most = max_turn * math::exp(-0.7 * halvings as f32);
            match &limits {
                Some(limits) => Self::part_within(limits, before, whole, most),
                None => partial::no_further(before, whole, most),
            }
        };
        if !(0..4).any(|halvings| off(part(halvings)) <= found) {
            off(before);
        }
    }

    /// Solves in the space of the joint's parent, where the ray passes through the target as it does in model space.
    #[cold]
    fn solve_sheared(&self, pose: &mut Pose, target: Vec3, options: &Options) -> Result<Report, SolveError> {
        // f32 must hold the ray's start in model space at every rotation of the joint, and each term of its sum: sheared
        // axes may cancel only in the whole sum.
        let (above, local) = (pose.parent_model(self.joint).matrix3, pose.local(self.joint));
        let grown = largest(above.x_axis) + largest(above.y_axis) + largest(above.z_axis);
        let scaled = (local.scale * self.offset).abs();
        let value = 1.74 * (scaled.x + scaled.y + scaled.z) * grown;
        check_start(value, pose.model(self.joint).translation)?;
        let value = grown * largest(local.scale);
        if !value.is_finite() {
            let (what, range) = ("the joint's scale in model space", "so small that f32 holds its axes");
            return Err(SolveError::OutOfRange { what, range, value });
        }
        let mut report = parent_space::within(pose, self.joint, |pose, space| {
            let target = space.point("the target, seen from the joint's parent,", target)?;
            let seen = |up: AimUp| -> Result<AimUp, SolveError> {
                let direction =
                    space.direction("the up direction, seen from the joint's parent,", up.direction)?;
                Ok(AimUp { direction, ..up })
            };
            let up = self.up.map(seen).transpose()?;
            let report = Self { up, ..*self }.solve(pose, target, options)?;
            let to_target = target - pose.local(self.joint).translation;
            Ok(space.report(report, to_target))
        })?;
        self.measure(pose, target, &mut report);
        Ok(report)
    }

    /// Writes the distance and the angle from the ray to the target to the report, with their tolerances.
    fn measure(&self, pose: &Pose, target: Vec3, report: &mut Report) {
        let frame = pose.model(self.joint);
        let m = direction(frame.matrix3 * direction(self.axis));
        let start = frame.transform_point3(self.offset);
        (report.position_residual, report.rotation_residual) = off_ray(start, m, target);
        report.position_tolerance = ROTATION_TOLERANCE * distance(target, frame.translation);
        // Next to the ray's start, an angle says little.
        report.rotation_tolerance =
            (report.position_tolerance / distance(target, start)).max(ROTATION_TOLERANCE);
    }

    /// Vector from the joint to the target, and the ray relative to the joint.
    fn seen(&self, pose: &Pose, target: Vec3) -> Result<(Vec3, AimRay), SolveError> {
        let frame = pose.model(self.joint);
        let axis = direction(frame.matrix3 * direction(self.axis));
        if axis == Vec3::ZERO {
            let value = largest(self.axis);
            return Err(SolveError::OutOfRange { what: "the aiming axis", range: "longer than zero", value });
        }
        let ray = AimRay {
            offset: frame.matrix3 * self.offset,
            axis,
            up: self.up.map(|up| (frame.matrix3 * direction(up.axis), up.direction)),
        };
        let to_target = target - frame.translation;
        check::finite("the vector to the target", to_target)?;
        // A turn makes no coordinate larger than sqrt(3) times the largest: f32 holds the ray's start at every rotation. An
        // overflow may be NaN, which no comparison finds.
        let start = if ray.offset.is_finite() { 1.74 * largest(ray.offset) } else { f32::INFINITY };
        check_start(start, frame.translation)?;
        Ok((to_target, ray))
    }

    /// Whether a turn is more than rounding: a smaller one would only change the last bits.
    ///
    /// Half the angle of rounding has two parts: that of rotations, and that of positions (as uncertain as the furthest of
    /// them) divided by the distance to the target. A ray that starts beside the joint meets the target's distance x at s =
    /// -o.m + sqrt(x^2 - r^2): o and s are longer than their sum, and the root's rounding grows as r over it.
    fn moves(&self, pose: &Pose, target: Vec3, ray: &AimRay, to_target: Vec3, turn: Quat) -> bool {
        let v = Vec3::new(turn.x, turn.y, turn.z);
        let roll = v.dot(direction(to_target));
        let swing2 = v.length_squared() - roll * roll;
        // Beyond a thousandth of a radian the joint would visibly not follow.
        const VISIBLE: f32 = 1e-3;
        if swing2 > VISIBLE * VISIBLE {
            return true;
        }
        let far = largest(to_target).max(f32::MIN_POSITIVE);
        let places = largest(target).max(pose.extent(self.joint)) / far;
        let o = ray.offset * (1.0 / far);
        let (x2, o2, along) =
            ((to_target * (1.0 / far)).length_squared(), o.length_squared(), o.dot(ray.axis));
        let (r2, root2) = (o2 - along * along, x2 + along * along - o2);
        let steep = if root2 > 0.0 { math::sqrt(max(r2, 0.0) / root2) } else { 0.0 };
        let grown = 1.0 + math::sqrt(o2) + steep;
        let rounding = ((5e-7 + 4e-7 * places) * grown).min(VISIBLE);
        // The roll follows two directions, whose rounding grows by one over their sines to the axis.
        let spread = ray.up.map_or(1.0, |(own, wanted)| {
            1.0 + 1.0 / sine(math::rotate(turn, own), to_target) + 1.0 / sine(wanted, to_target)
        });
        swing2 > rounding * rounding || roll.abs() > spread * rounding
    }
}

/// Returns an error where a ray that starts `offset` metres from a joint at `place` may start beyond f32's range.
fn check_start(offset: f32, place: Vec3) -> Result<(), SolveError> {
    if (offset + largest(place)).is_finite() {
        return Ok(());
    }
    let (what, range) = ("the aiming offset in model space", "so near that f32 holds where the ray starts");
    Err(SolveError::OutOfRange { what, range, value: offset })
}

/// Sine of the angle between two directions, at least 1e-3.
fn sine(a: Vec3, b: Vec3) -> f32 {
    math::sqrt(direction(a).cross(direction(b)).length_squared()).max(1e-3)
}
