//! Aim within the limits of its joint.
//!
//! All in the space of the joint's parent, in f64. Let R be the joint's rotation, p the direction in its own frame to the point of
//! the ray at the target's distance, and g the direction to the target: the ray passes through the target where R p = g.
//!
//! **A hinge** turns p on a circle about its axis h: |R p - g|^2 is C - D cos(t - t0), where t0 turns the part of p across h to
//! that of g. It falls to both sides of t0, so that the end of the range that is nearer to t0 on the circle is nearest, where t0
//! is not within.
//!
//! **A ball.** The rotations with R p = g are one turn about g after any one of them. The free aim's rotation, which keeps the
//! roll or follows the up vector, is wanted; the nearest to it within the limits is taken (see `joint::limits::socket`). Where
//! there is none, the nearest rotation within the limits (`solve::nearest_turn`) leads p to a direction g' beside g. The joint is
//! then aimed at g' in place of g, so that it rolls as for a target that it reaches: the pose is continuous where a target
//! leaves the limits, and solving again changes nothing.

use glam::{DMat3, DQuat, DVec3, Quat, Vec3};

use super::{Aim, AimUp, branch, direction};
use crate::{
    JointTransform, Pose, Skeleton, SolveError,
    joint::{Attribute, Attributes, Capability, Limits, Pivot, around, in_f64, turn},
    math,
    math64::{self, atan2, sqrt},
    solve::{
        nearest_turn::{Arm, NearestTurn, arc},
        partial::largest_share,
    },
};

pub(in crate::solve) const CAPABILITY: Capability = Capability {
    partly: Attributes::of(&[Attribute::Axes]),
    ..Capability::new("aim", Attributes::of(&[Attribute::Hinge, Attribute::Ball]))
};
/// Of a joint that turns about a single axis.
const ONE_AXIS: Capability = Capability::new("aim", CAPABILITY.honoured.union(CAPABILITY.partly));

/// Angle in radians up to which an input counts as within its limits, and a ray as on its target: that of what limits promise.
const KEPT: f32 = 1e-5;
/// Turn in radians that is left out: f32 rounds rotations, and limits clamp them, by as much.
const STILL: f32 = 2e-6;
/// Sine below which two directions count as one.
const ALONG: f64 = 1e-6;

/// A rotation within the limits.
struct Found {
    rotation: Quat,
    /// Whether it leads the ray to the target.
    met: bool,
    /// Motion of the target, as a part of its distance, that surely explains the joint's turn: that of the ray, and where limits
    /// hold the ray, no more than they let it follow.
    explained: f64,
}

impl Pivot {
    /// The angle that turns the part of `from` across the axis to that of `to`, which is in the parent's frame. `None` where
    /// either is along the axis.
    fn facing(&self, from: DVec3, to: DVec3) -> Option<f64> {
        let (from, to) = (self.after * from, self.before.conjugate() * to);
        let (a, b) = (self.axis.cross(from), self.axis.cross(to));
        let along = a.length_squared() <= ALONG * ALONG * from.length_squared()
            || b.length_squared() <= ALONG * ALONG * to.length_squared();
        (!along).then(|| atan2(self.axis.dot(a.cross(b)), a.dot(b)))
    }
}

/// The rotation within limits, near `wanted`, that leads the direction `p` of the joint's own frame as near to `g` as it can.
#[cold]
pub(in crate::solve) fn nearest_local(limits: &Limits, wanted: Quat, p: DVec3, g: DVec3) -> Quat {
    let clamped = limits.clamp(wanted);
    let hinge = limits.pivot(clamped).filter(|_| limits.hinge_axis().is_some());
    let rotation = match (hinge, limits.twist_axis()) {
        (Some(pivot), _) => match pivot.facing(p, g) {
            Some(angle) => pivot.local(pivot.clamp(angle)),
            None => clamped,
        },
        (None, Some(_)) => {
            let socket = limits.socket();
            let arm = Arm { centre: p, p: DVec3::ZERO, q: DVec3::ZERO };
            let [a, b, c] = socket.coordinates(in_f64(clamped));
            let nearby = NearestTurn { socket: &socket, arm, to: g, range: [0.0; 2] };
            let [a, b, c, _] = nearby.descend([a, b, c, 0.0]).0;
            math64::quaternion(&socket.turned([a, b, c]).0).as_quat()
        }
        _ => clamped,
    };
    limits.clamp(math::normalize(rotation))
}

impl Aim {
    /// Whether the joint turns within limits; an error where it has attributes that an aim cannot honour.
    #[cold]
    pub(super) fn is_limited(&self, skeleton: &Skeleton) -> Result<bool, SolveError> {
        let limits = skeleton.limits(self.joint);
        if limits.hinge_axis().is_some() { ONE_AXIS } else { CAPABILITY }.check(skeleton, [self.joint])?;
        Ok(!limits.turns_freely())
    }

    /// The joint's limits, widened to contain the rotation of the input pose.
    pub(super) fn relaxed(&self, pose: &Pose, before: Quat) -> Limits {
        let local = JointTransform { rotation: before, ..*pose.local(self.joint) };
        pose.skeleton().limits(self.joint).relaxed_beyond(&local, KEPT)
    }

    /// Turns the joint, which the free aim has turned, to where its limits let it aim. Returns whether the ray is on the target,
    /// and whether a joint without an up vector is on another branch.
    #[cold]
    pub(super) fn keep_within(
        &self,
        pose: &mut Pose,
        target: Vec3,
        before: Quat,
        influence: f32,
    ) -> [bool; 2] {
        let limits = self.relaxed(pose, before);
        let wanted = pose.local(self.joint).rotation;
        let found = if limits.is_within(wanted) {
            Found { rotation: wanted, met: true, explained: f64::INFINITY }
        } else {
            self.nearest_within(pose, target, before, &limits)
        };
        let rotation = limits.blend(before, found.rotation, influence);
        pose.set_rotation(self.joint, rotation);
        pose.update();
        let turned = math::angle_between(before, rotation);
        [found.met, self.up.is_none() && branch::changed(turned, found.explained as f32, 0.0)]
    }

    /// The rotation within the limits that aims best.
    fn nearest_within(&self, pose: &mut Pose, target: Vec3, before: Quat, limits: &Limits) -> Found {
        let (above, local) = (pose.parent_model(self.joint), *pose.local(self.joint));
        let into = above.matrix3.as_dmat3().inverse();
        let own = DMat3::from_diagonal(local.scale.as_dvec3());
        let to = into * (target - pose.position(self.joint)).as_dvec3();
        let (x, o) = (to.length(), own * self.offset.as_dvec3());
        let m = (own * direction(self.axis).as_dvec3()).normalize();
        let along = o.dot(m);
        let r = (o - m * along).length();
        let point = o + m * (sqrt(((x - r) * (x + r)).max(0.0)) - along).max(0.0);
        let (p, g) = (point / point.length(), to / x);
        // A target or a ray on the joint itself has no direction.
        if !(p.is_finite() && g.is_finite()) {
            return Found { rotation: before, met: true, explained: f64::INFINITY };
        }

        let mut follows = f64::INFINITY;
        let rotation = match limits.pivot(before).filter(|_| limits.hinge_axis().is_some()) {
            Some(pivot) => {
                // A hinge along the ray only rolls it.
                let rolled = |up: AimUp| {
                    pivot.facing(own * up.axis.as_dvec3(), into * direction(up.direction).as_dvec3())
                };
                let angle = pivot.facing(p, g).or_else(|| self.up.and_then(rolled)).unwrap_or(pivot.now);
                let by = around(angle - pivot.now);
                if (pivot.clamp(pivot.now + by.clamp(-ALONG, ALONG)) - pivot.now).abs() < 0.5 * ALONG {
                    // At the end of the range on the way to the target.
                    follows = 0.0;
                }
                pivot.local(pivot.clamp(angle))
            }
            None => {
                let socket = limits.socket();
                let swivelled = |wanted: Quat, to: DVec3| {
                    let wanted = in_f64(wanted);
                    let led = (arc(wanted * p, to, wanted * m) * wanted).normalize();
                    socket.swivel(led, to).map(|angle| (turn(to, angle) * led).normalize())
                };
                let found = swivelled(local.rotation, g).unwrap_or_else(|| {
                    let arm = Arm { centre: p, p: DVec3::ZERO, q: DVec3::ZERO };
                    let nearby = NearestTurn { socket: &socket, arm, to: g, range: [0.0; 2] };
                    let ([a, b, c], wanted) = (socket.coordinates(in_f64(before)), in_f64(local.rotation));
                    follows = nearby.along(&[a, b, c, 0.0]);
                    let [a, b, c, _] = nearby.search([a, b, c, 0.0], g, &[0.0], |_| wanted);
                    let nearest: DQuat = math64::quaternion(&socket.turned([a, b, c]).0);
                    let towards = nearest * p;
                    pose.set_rotation(self.joint, before);
                    pose.update();
                    let beside = above.transform_point3(local.translation + (towards * x).as_vec3());
                    match self.turn_freely(pose, beside, 1.0) {
                        Ok(_) => swivelled(pose.local(self.joint).rotation, towards).unwrap_or(nearest),
                        Err(_) => nearest,
                    }
                });
                found.as_quat()
            }
        };
        let rotation = limits.clamp(math::normalize(rotation));
        let off = |q: Quat| (in_f64(q) * p - g).length();
        let (had, left) = (off(before), off(rotation));
        let still = math::angle_between(before, rotation) <= STILL || had < left - f64::from(STILL);
        let (rotation, left) = if still { (before, had) } else { (rotation, left) };
        let moved = (in_f64(rotation) * p - in_f64(before) * p).length();
        Found { rotation, met: left <= f64::from(KEPT), explained: moved.min(follows) }
    }

    /// The rotation on the way from one within the limits to another, at most `angle` radians from the first.
    #[cold]
    pub(super) fn part_within(limits: &Limits, from: Quat, to: Quat, angle: f32) -> Quat {
        let share =
            largest_share(22, |share| math::angle_between(limits.blend(from, to, share), from) <= angle);
        limits.blend(from, to, share)
    }
}
