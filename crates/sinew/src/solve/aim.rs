//! Aim: one joint turns so that an axis of it points at a target.

use glam::{Quat, Vec3, Vec4, Vec4Swizzles};

use super::{
    arc::{FADE, arc, direction, distance, largest, max, off_ray, to_unit, twist_towards},
    branch, check,
    options::{Options, ROTATION_TOLERANCE},
    parent_space, partial,
};
use crate::{
    JointId, Outcome, Pose, Report, SolveError,
    joint::{Attributes, check_honoured},
    math,
};

/// Which way up an aimed joint is kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimUp {
    /// The direction in the joint's local space that is its own up (any length).
    pub axis: Vec3,
    /// The direction in model space that it turns towards, about the way to the target (any length).
    pub direction: Vec3,
}

/// Turns one joint so that a ray which is fixed to it passes through a target: a head's eyes, a gun's barrel, a turret.
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
/// Let o be the ray's start and m its unit direction, both seen from the joint, and t the way from the joint to the
/// target. A rotation about the joint keeps distances from it, so the point of the ray that can come to lie on the target
/// is the one at the target's distance: p = o + s m with |p| = |t|, which is
///
/// ```text
/// s = -o.m + sqrt((|t| - r) (|t| + r)),   r = |o - (o.m) m|
/// ```
///
/// where r is how far the ray's line passes from the joint. The shortest arc from p to t is the turn, exact for every
/// offset. A turn about t remains free; it is used for the up vector, and otherwise left alone, so that the roll is kept.
///
/// A target nearer to the joint than r is out of reach of the line, and one that would have to lie behind the ray's start
/// (s < 0) out of reach of the ray. Then the point of the ray that is nearest to the joint faces the target, which leaves
/// the least distance; the report tells it. A target on the joint turns nothing. A target exactly behind is turned to
/// about the up axis, if there is one.
///
/// Drawn by the example `aim`:
///
#[doc = include_str!("../../pictures/aim.svg")]
#[doc(alias("aim constraint", "look at"))]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The joint that turns.
    pub joint: JointId,
    /// The direction in the joint's local space that is to point at the target (any length but zero).
    pub axis: Vec3,
    /// Where the ray starts, in the joint's local space (its units).
    pub offset: Vec3,
    /// Which way up the joint is kept; none keeps the roll that the pose has. An up direction within ten degrees of the
    /// way to the target fades out.
    pub up: Option<AimUp>,
}

/// A ray that is fixed to a joint, as [`aim_ray`] takes it: every vector in model space, seen from the joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AimRay {
    /// Where it starts.
    pub offset: Vec3,
    /// Its direction, of unit length.
    pub axis: Vec3,
    /// The joint's own up and the up that is wanted, both of any length.
    pub up: Option<(Vec3, Vec3)>,
}

/// The turn, in model space, that takes the ray through the point `target` (seen from the joint), and how far the target
/// is out of the ray's reach (0 where it is not). Every number given must be finite.
#[inline]
pub fn aim_ray(ray: &AimRay, target: Vec3) -> (Quat, f32) {
    plain(ray, target).unwrap_or_else(|| aim_general(ray, target))
}

/// Squares of lengths between these (a centimetre and ten kilometres, in metres) neither vanish nor overflow below.
const ORDINARY: core::ops::Range<f32> = 1e-4..1e8;

/// The common case: a target of ordinary distance within reach, less than 120 degrees off, an up direction that is not near
/// the way. None where anything is not so.
///
/// Four vectors lie side by side in the lanes of x, y and z: the point p of the ray, the target t, the joint's own up v and
/// the one w that is wanted. One row of products makes four dot or cross products, and lanes never mix in a sum.
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
    // The shortest arc from p to t has 1 + cos and p x t, times |p| |t|.
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
    // The arc takes v to v - k (p + t) + 2 (p . v) t, for p and t at unit length and k = (p + t) . v / (1 + cos). From there
    // to w, about t, the angle has this sine and cosine, times one length.
    let (ip, it) = (1.0 / math::sqrt(pp), 1.0 / math::sqrt(tt));
    let k = (pv * ip + tv * it) * product / arc;
    let sin = it * (k * ip * ptw - vtw);
    let cos = vw - k * (pw * ip + tw * it) + (pv * ip) * (tw * it);
    let length = math::sqrt(sin * sin + cos * cos);
    // Half the angle, in the form that cancels nothing.
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

/// The turn whatever is given.
#[cold]
#[inline(never)]
fn aim_general(ray: &AimRay, target: Vec3) -> (Quat, f32) {
    let size = max(largest(target), largest(ray.offset));
    // Lengths below 2, so that products of four lengths do not overflow at any scale.
    let k = to_unit(size);
    let (o, t, m) = (ray.offset * k, target * k, ray.axis);
    let along = o.dot(m);
    let r = math::sqrt((o - m * along).length_squared());
    let x = math::sqrt(t.length_squared());
    // Behind its start the ray is not: then the start itself, and short of r the line's nearest point, faces the target.
    let s = max(math::sqrt(max((x - r) * (x + r), 0.0)) - along, 0.0);
    let p = o + m * s;
    let pl = math::sqrt(p.length_squared());
    let by = ((pl - x).max(0.0) / k).min(f32::MAX);
    // A target, or a ray, on the joint itself has no direction.
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

impl Aim {
    /// The joint's local direction `axis` points, from the joint itself, with the pose's roll kept.
    pub const fn new(joint: JointId, axis: Vec3) -> Self {
        Self { joint, axis, offset: Vec3::ZERO, up: None }
    }

    /// Points the ray at `target` (model space). The pose is left updated. Below a parent whose scale is not uniform, the turn
    /// is found in the parent's space.
    ///
    /// With a largest turn, no solve leaves the ray further from the target than it found it. A ray that starts beside the joint
    /// may have no such way from where it is, and then it rests.
    ///
    /// The report's `position_residual` is the distance in metres from the target to the ray, and its
    /// `rotation_residual` the angle in radians between the ray and the way from its start to the target. Both are those of the pose
    /// that is left. An influence below 1 makes a part of the turn, in the coordinates of a ball joint (swing and twist about
    /// the axis); beyond [`Options::max_turn`] the joint stops on its way.
    pub fn solve(&self, pose: &mut Pose, target: Vec3, options: &Options) -> Result<Report, SolveError> {
        check::finite("the target", target)?;
        check::finite("the aiming axis", self.axis)?;
        check::finite("the aiming offset", self.offset)?;
        if let Some(up) = self.up {
            check::finite("the up axis", up.axis)?;
            check::finite("the up direction", up.direction)?;
        }
        options.check()?;
        check_honoured(pose.skeleton(), [self.joint], "aim", Attributes::NONE)?;
        pose.update();
        check::frame(pose, self.joint, "the joint's frame", true)?;
        if parent_space::is_sheared(pose, self.joint) {
            return self.solve_sheared(pose, target, options);
        }

        let mut report = Report::default();
        let (mut way, mut ray) = self.seen(pose, target)?;
        let (first, before) = (ray, pose.local(self.joint).rotation);
        let mut by;
        loop {
            let turn;
            (turn, by) = aim_ray(&ray, way);
            if options.influence <= 0.0 || !self.moves(pose, target, &ray, way, turn) {
                break;
            }
            let part = options.influence < 1.0;
            let turn =
                if part { partial::partial_swing_twist(turn, ray.axis, options.influence) } else { turn };
            pose.turn(self.joint, turn);
            pose.update();
            report.iterations += 1;
            // What rounding leaves of a wide turn is turned once more, so that solving again finds nothing to do. An up
            // direction that fades out is followed in part, once.
            let fades = ray.up.is_some_and(|(_, wanted)| sine(wanted, way) < 1.01 * FADE);
            if part || fades || report.iterations == 3 {
                break;
            }
            let Ok(seen) = self.seen(pose, target) else { break };
            (way, ray) = seen;
        }
        if options.max_turn < f32::INFINITY
            && math::angle_between(before, pose.local(self.joint).rotation) > options.max_turn
        {
            self.hold_back(pose, target, before, options.max_turn);
            report.outcome = Outcome::Stalled;
        }
        if by > 1e-6 * (math::sqrt(way.length_squared()) + math::sqrt(ray.offset.length_squared())) {
            report.out_of_reach = by;
        }
        // Without an up vector the turn is the shortest arc, which the ray's motion explains.
        if let (Some((up, _)), true) = (first.up, report.iterations > 0) {
            let linear = pose.model(self.joint).matrix3;
            let up_now = linear * self.up.map_or(Vec3::ZERO, |up| direction(up.axis));
            report.branch_changed = branch::flipped(first.axis, up, linear * direction(self.axis), up_now);
        }
        self.measure(pose, target, &mut report);
        Ok(report)
    }

    /// Turns the joint back to where a bound lets it go, or nearer to where it came in: beside a ray that starts far from the
    /// joint, a part of the way may lead away from the target.
    #[cold]
    fn hold_back(&self, pose: &mut Pose, target: Vec3, before: Quat, most: f32) {
        let whole = pose.local(self.joint).rotation;
        let mut off = |turn: Quat| {
            pose.set_rotation(self.joint, turn);
            pose.update();
            let mut report = Report::default();
            self.measure(pose, target, &mut report);
            report.position_residual
        };
        let found = off(before) * (1.0 + 1e-6);
        let part =
            |halvings: i32| partial::no_further(before, whole, most * math::exp(-0.7 * halvings as f32));
        if !(0..4).any(|halvings| off(part(halvings)) <= found) {
            off(before);
        }
    }

    /// Solves in the space of the joint's parent, where its ray goes through the target as it does in model space.
    #[cold]
    fn solve_sheared(&self, pose: &mut Pose, target: Vec3, options: &Options) -> Result<Report, SolveError> {
        // Wherever the joint turns to, f32 is to hold where the ray starts in model space, and each term of it: sheared axes
        // may cancel only when all of them are summed up.
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
            let way = target - pose.local(self.joint).translation;
            Ok(space.report(report, way))
        })?;
        self.measure(pose, target, &mut report);
        Ok(report)
    }

    /// How far the ray passes from the target.
    fn measure(&self, pose: &Pose, target: Vec3, report: &mut Report) {
        let frame = pose.model(self.joint);
        let m = direction(frame.matrix3 * direction(self.axis));
        let start = frame.transform_point3(self.offset);
        (report.position_residual, report.rotation_residual) = off_ray(start, m, target);
        report.position_tolerance = ROTATION_TOLERANCE * distance(target, frame.translation);
        // Next to where the ray starts an angle says little.
        report.rotation_tolerance =
            (report.position_tolerance / distance(target, start)).max(ROTATION_TOLERANCE);
    }

    /// The way to the target and the ray, seen from the joint as it stands.
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
        let way = target - frame.translation;
        check::finite("the way to the target", way)?;
        // A turn makes no coordinate larger than the root of three times the largest: wherever the ray comes to start, f32
        // holds the place.
        // (What overflows may be NaN, which no comparison finds.)
        let start = if ray.offset.is_finite() { 1.74 * largest(ray.offset) } else { f32::INFINITY };
        check_start(start, frame.translation)?;
        Ok((way, ray))
    }

    /// Whether a turn is more than rounding: a smaller one would only stir the bits.
    ///
    /// Half the angle that rounding amounts to is that of rotations, and that of places (as uncertain as the furthest of
    /// them) over the way. A ray that starts beside the joint meets the target's distance x where s = -o.m + sqrt(x^2 -
    /// r^2): o and s are longer than their sum, and the root's rounding grows as r over it.
    fn moves(&self, pose: &Pose, target: Vec3, ray: &AimRay, way: Vec3, turn: Quat) -> bool {
        let v = Vec3::new(turn.x, turn.y, turn.z);
        let roll = v.dot(direction(way));
        let swing2 = v.length_squared() - roll * roll;
        // Beyond a thousandth of a radian the joint would visibly not follow.
        const MOST: f32 = 1e-3;
        if swing2 > MOST * MOST {
            return true;
        }
        let far = largest(way).max(f32::MIN_POSITIVE);
        let places = largest(target).max(pose.extent(self.joint)) / far;
        let o = ray.offset * (1.0 / far);
        let (x2, o2, along) = ((way * (1.0 / far)).length_squared(), o.length_squared(), o.dot(ray.axis));
        let (r2, root2) = (o2 - along * along, x2 + along * along - o2);
        let steep = if root2 > 0.0 { math::sqrt(max(r2, 0.0) / root2) } else { 0.0 };
        let grown = 1.0 + math::sqrt(o2) + steep;
        let rounding = ((5e-7 + 4e-7 * places) * grown).min(MOST);
        // The roll follows two directions, whose rounding grows by one over their sines to the axis.
        let spread = ray.up.map_or(1.0, |(own, wanted)| {
            1.0 + 1.0 / sine(math::rotate(turn, own), way) + 1.0 / sine(wanted, way)
        });
        swing2 > rounding * rounding || roll.abs() > spread * rounding
    }
}

/// An error where a ray that starts as far as `offset` from a joint at `place` may start beyond all numbers.
fn check_start(offset: f32, place: Vec3) -> Result<(), SolveError> {
    if (offset + largest(place)).is_finite() {
        return Ok(());
    }
    let (what, range) = ("the aiming offset in model space", "so near that f32 holds where the ray starts");
    Err(SolveError::OutOfRange { what, range, value: offset })
}

/// Sine of the angle between two directions, at least a thousandth.
fn sine(a: Vec3, b: Vec3) -> f32 {
    math::sqrt(direction(a).cross(direction(b)).length_squared()).max(1e-3)
}
