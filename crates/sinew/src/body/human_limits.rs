//! What people's joints may do, for the joints of a body.

use alloc::vec::Vec;
use core::f32::consts::{FRAC_PI_2, PI};

use glam::Vec3;

use super::{ArmJoints, BodyRoles, LegJoints, Side};
use crate::{
    JointId, Pose, Skeleton,
    joint::{Dof, Joint, JointError, Limits, Turning},
    math,
};

/// From and to in degrees, measured from the stance that anatomy measures from: upright, legs straight.
type Degrees = (f32, f32);

// Active ranges of motion as textbooks of orthopaedics give them (American Academy of Orthopaedic Surgeons, "Joint
// Motion", 1965), shared out where several joints do one thing.

/// The whole spine: forward, to the left and turned to the left.
const SPINE: [Degrees; 3] = [(-25.0, 80.0), (-35.0, 35.0), (-45.0, 45.0)];
/// Neck and head together, in the same way.
const NECK: [Degrees; 3] = [(-60.0, 50.0), (-45.0, 45.0), (-75.0, 75.0)];
/// The collar bone: forward, down, and hardly about itself.
const CLAVICLE: [Degrees; 3] = [(-25.0, 20.0), (-40.0, 10.0), (-1.0, 1.0)];
/// The shoulder of an arm that points to the side: forward, down and turned inwards.
const SHOULDER_ASIDE: [Degrees; 3] = [(-45.0, 135.0), (-50.0, 100.0), (-90.0, 70.0)];
/// The shoulder of an arm that hangs: forward, inwards and turned inwards.
const SHOULDER_HANGING: [Degrees; 3] = [(-55.0, 160.0), (-140.0, 30.0), (-90.0, 70.0)];
/// The elbow: bent, sideways by what carrying angles differ, and the forearm turned with the palm down or up.
const ELBOW: [Degrees; 3] = [(0.0, 150.0), (-6.0, 6.0), (-80.0, 80.0)];
/// The wrist: towards the palm, towards the little finger; what turns is the forearm.
const WRIST: [Degrees; 3] = [(-70.0, 80.0), (-20.0, 30.0), (-1.0, 1.0)];
/// The hip: forward, inwards and turned inwards.
const HIP: [Degrees; 3] = [(-30.0, 120.0), (-45.0, 30.0), (-45.0, 45.0)];
/// The knee.
const KNEE: Degrees = (0.0, 145.0);
/// The ankle: toes up (35 under the body's weight, where an unloaded foot has 20), the sole inwards, toes inwards.
const ANKLE: [Degrees; 3] = [(-50.0, 35.0), (-15.0, 35.0), (-10.0, 10.0)];
/// The ball of the foot: toes up.
const BALL_OF_FOOT: Degrees = (-30.0, 60.0);

// Where a body that stands at ease has its joints, in degrees: arms hang a hand's breadth away from it, elbows and
// knees are bent a little, so that neither folds the wrong way.
const EASE_SHOULDER_FORWARD: f32 = 10.0;
/// Of the arm, from the level downwards.
const EASE_SHOULDER_DOWN: f32 = 75.0;
const EASE_ELBOW: f32 = 25.0;
const EASE_HIP: [f32; 3] = [10.0, -2.0, 0.0];
const EASE_KNEE: f32 = 20.0;
/// The sole stays flat.
const EASE_ANKLE: f32 = EASE_KNEE - EASE_HIP[0];

// How little some joints move of themselves, while others can do the work: chosen on random believable poses (`lab/full_body`).
const STIFF_CLAVICLE: f64 = 0.8;
const STIFF_WRIST: f64 = 0.8;
const STIFF_ANKLE: f64 = 0.2;

/// A joint whose bind pose is bent further than this (in radians) shows by it where it bends to. Straight ones bend by
/// modelling's noise.
const BENT: f32 = 0.15;

/// The least half-axis of an ellipse, in radians, where a rest pose lies at the end of a range or beyond: the rest pose
/// must be inside.
const NARROW: f32 = 0.01;

/// What people's joints may do, fitted to a [`BodyRoles`]: limits, the values of one who stands at ease as preferred values,
/// and stiffness.
///
/// Spine, neck, shoulders, hips, wrists and ankles are balls, elbows bend and roll the forearm, knees are hinges;
/// joints between them that play no role (of a hip's socket, of a twist) are held. Axes come from the bind pose: which
/// way bones point, and the body's [front](BodyRoles::front); ranges are counted from the stance of anatomy, whatever the
/// rest pose is. Joints above the hips, the hips, hands' fingers and whatever else hangs on the body keep what they have.
///
/// With it a figure can be led by few trackers ([`Trackers`](super::Trackers)), or by any goals of a
/// [`FullBody`](crate::solve::FullBody).
///
/// ```
/// use std::sync::Arc;
/// use sinew::{Pose, Skeleton, JointTransform, glam::Vec3, math, body::{BodyRoles, HumanLimits, Side}};
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
/// let mut skeleton = builder.build()?.0;
/// let bind = Pose::rest(&Arc::new(skeleton.clone()));
/// let body = BodyRoles::find(&bind, &[])?;
/// HumanLimits::of(&bind, &body).apply(&mut skeleton)?;
///
/// // A knee bends back, as far as knees do, and no other way.
/// let knee = skeleton.limits(body.leg(Side::Left).shin);
/// assert!(knee.is_within(math::axis_angle(Vec3::X, 2.0)));
/// assert_eq!(knee.clamp(math::axis_angle(Vec3::X, -0.5)), sinew::glam::Quat::IDENTITY);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct HumanLimits {
    joints: Vec<(JointId, Joint)>,
}

impl HumanLimits {
    /// The joints of a body that stands in `bind` as it was modelled, Y up.
    pub fn of(bind: &Pose, body: &BodyRoles) -> Self {
        let mut fit = Fit { bind, front: body.front(bind), joints: Vec::new() };
        let neck: Vec<JointId> = match (body.neck, body.head) {
            (Some(neck), Some(head)) => fit.between(neck, head, true),
            (_, head) => head.into_iter().collect(),
        };
        fit.column(&body.spine, SPINE);
        fit.column(&neck, NECK);
        for side in Side::BOTH {
            fit.leg(body.hips, body.leg(side), side);
            if let Some(arm) = body.arm(side) {
                fit.arm(arm, side);
            }
        }
        Self { joints: fit.joints }
    }

    /// Each joint with what it may do.
    pub fn joints(&self) -> &[(JointId, Joint)] {
        &self.joints
    }

    /// Gives a skeleton these joints. It is the one of the bind pose that they were made from.
    pub fn apply(&self, skeleton: &mut Skeleton) -> Result<(), JointError> {
        self.joints.iter().try_for_each(|(id, joint)| skeleton.set_joint(*id, *joint))
    }

    /// Puts a pose's body at ease: arms hang, elbows and knees are bent a little, the feet stand where they stand in
    /// `bind`. The pose is left updated; its skeleton has these joints.
    pub fn stand_at_ease(&self, bind: &Pose, body: &BodyRoles, pose: &mut Pose) {
        let skeleton = pose.skeleton().clone();
        for (id, _) in &self.joints {
            if let Some(rotation) = skeleton.limits(*id).preferred() {
                pose.set_rotation(*id, rotation);
            }
        }
        pose.update();
        // Legs may differ in length: no foot comes below where it stood.
        let ways = body.legs.map(|leg| bind.position(leg.foot) - pose.position(leg.foot));
        let middle = 0.5 * (ways[0] + ways[1]);
        let hips = pose.position(body.hips) + Vec3::new(middle.x, ways[0].y.max(ways[1].y), middle.z);
        pose.set_position(body.hips, hips);
        pose.update();
    }
}

/// The axes of a joint in model space as `bind` has them: of the twist, of the first swing, and what is 0 in anatomy,
/// seen from the bind pose, in degrees.
#[derive(Default)]
struct Ball {
    twist: Vec3,
    swing: Vec3,
    ranges: [Degrees; 3],
    ease: [f32; 3],
    stiffness: f64,
}

struct Fit<'a> {
    bind: &'a Pose,
    front: Vec3,
    joints: Vec<(JointId, Joint)>,
}

/// A range moved by some degrees.
fn by((from, to): Degrees, shift: f32) -> Degrees {
    (from + shift, to + shift)
}

fn unit(v: Vec3) -> Vec3 {
    v.normalize_or_zero()
}

/// The part of a vector across a unit one, as a unit vector.
fn across(v: Vec3, along: Vec3) -> Vec3 {
    unit(v - along * along.dot(v))
}

impl Fit<'_> {
    fn at(&self, joint: JointId) -> Vec3 {
        self.bind.position(joint)
    }

    fn bone(&self, from: JointId, to: JointId) -> Vec3 {
        unit(self.at(to) - self.at(from))
    }

    fn left(&self) -> Vec3 {
        Vec3::Y.cross(self.front)
    }

    /// The joints from above `to` up to `from`, top down; with both ends, or with neither.
    fn between(&self, from: JointId, to: JointId, ends: bool) -> Vec<JointId> {
        let skeleton = self.bind.skeleton();
        let mut way: Vec<JointId> = skeleton.ancestors(to).take_while(|&j| j != from).collect();
        way.reverse();
        if ends {
            way.insert(0, from);
            way.push(to);
        }
        way
    }

    fn hold_between(&mut self, from: JointId, to: JointId) {
        for joint in self.between(from, to, false) {
            self.joints.push((joint, Joint::FIXED));
        }
    }

    /// From model space at bind to the joint's rest frame. A direction that turns with the joint is constant in its own
    /// frame; one that its parent carries is seen from the rest pose.
    fn seen_in_rest(&self, joint: JointId, with_joint: bool, v: Vec3) -> Vec3 {
        let turned = self.bind.model_rotation(joint);
        let own = math::rotate(math::conjugate(turned), v);
        if with_joint {
            return own;
        }
        let rest = math::normalize(self.bind.skeleton().rest(joint).rotation);
        math::rotate(math::mul(math::conjugate(rest), self.bind.local(joint).rotation), own)
    }

    /// The coordinates of the bind pose, measured from the rest pose as all ranges are.
    fn seen_from_rest(&self, joint: JointId, turning: Turning) -> [f32; 3] {
        let free = Limits::new(&turning.into(), self.bind.skeleton().rest(joint));
        free.coordinates(self.bind.local(joint).rotation)
    }

    fn ball(&mut self, joint: JointId, ball: Ball) {
        let twist_axis = self.seen_in_rest(joint, true, ball.twist).as_dvec3();
        let swing_axis = self.seen_in_rest(joint, false, ball.swing).as_dvec3();
        let with = |swing: [Dof; 2], twist: Dof| Turning::Ball { twist_axis, swing_axis, swing, twist };
        let seen = self.seen_from_rest(joint, with([Dof::FREE; 2], Dof::FREE));
        let dof = |n: usize| {
            let ((from, to), zero) = (ball.ranges[n], seen[n]);
            let (from, to) = (from.to_radians() + zero, to.to_radians() + zero);
            // An ellipse goes some way to each side of the rest pose, and 3 radians at most.
            let (from, to) = if n < 2 {
                (from.clamp(-3.0, -NARROW), to.clamp(NARROW, 3.0))
            } else {
                (from.clamp(-PI, 0.0), to.clamp(0.0, PI))
            };
            let ease = (ball.ease[n].to_radians() + zero).max(from).min(to);
            Dof::range(from.into(), to.into()).with_preferred(ease.into()).with_stiffness(ball.stiffness)
        };
        self.joints.push((joint, with([dof(0), dof(1)], dof(2)).into()));
    }

    /// A hinge about an axis at bind, whose range is counted from where it is `bent` in the bind pose (radians).
    fn hinge(&mut self, joint: JointId, axis: Vec3, bent: f32, (from, to): Degrees, ease: f32) {
        let axis = self.seen_in_rest(joint, true, axis).as_dvec3();
        let with = |dof| Turning::Hinge { axis, dof };
        let zero = self.seen_from_rest(joint, with(Dof::FREE))[0] - bent;
        // One that is modelled beyond straight may stay so.
        let (from, to) = (from.to_radians() + bent.min(0.0) + zero, to.to_radians() + zero);
        let ease = (ease.to_radians() + zero).max(from).min(to);
        self.joints
            .push((joint, with(Dof::range(from.into(), to.into()).with_preferred(ease.into())).into()));
    }

    /// Joints one above the other that share ranges: forward, to the left, turned to the left.
    fn column(&mut self, joints: &[JointId], ranges: [Degrees; 3]) {
        let part = 1.0 / joints.len().max(1) as f32;
        for &joint in joints {
            let ranges = ranges.map(|(from, to)| (from * part, to * part));
            // Forward is about the left (up goes to the front), and up x left is the back, about which up goes to the left.
            self.ball(joint, Ball { twist: Vec3::Y, swing: self.left(), ranges, ..Ball::default() });
        }
    }

    /// Where a limb bends: the axis about which its lower bone turns on, and by how much it is bent, from the bones of
    /// the bind pose where these are bent, else towards a direction.
    fn bend(&self, limb: [JointId; 3], towards: Vec3) -> (Vec3, f32) {
        let (upper, lower) = (self.bone(limb[0], limb[1]), self.bone(limb[1], limb[2]));
        let expected = unit(upper.cross(towards));
        let (sine, cosine) = (upper.cross(lower), upper.dot(lower));
        let bent = math::atan2(math::sqrt(sine.length_squared()), cosine);
        let shown = unit(sine);
        // By more than 45 degrees to the side it would be no elbow or knee.
        let axis = if bent > BENT && shown.dot(expected) > 0.7 { shown } else { expected };
        // In the plane across the axis; the rest of the angle stays as it is modelled.
        let axis = if axis == Vec3::ZERO { across(self.left(), upper) } else { axis };
        (axis, math::atan2(axis.dot(sine), cosine))
    }

    fn arm(&mut self, arm: &ArmJoints, side: Side) {
        // Axes of twist point to the left on both sides, and so turns inwards have one sign.
        let sign = if side == Side::Left { 1.0 } else { -1.0 };
        let bone = self.bone(arm.upper_arm, arm.forearm);
        if let Some(clavicle) = arm.clavicle.filter(|&c| c != arm.upper_arm) {
            let out = sign * self.left();
            let swing = unit(out.cross(self.front));
            let (twist, stiffness) = (sign * out, STIFF_CLAVICLE);
            self.ball(clavicle, Ball { twist, swing, ranges: CLAVICLE, stiffness, ..Ball::default() });
            self.hold_between(clavicle, arm.upper_arm);
        }
        // An arm that points to the front has no other way forward than up.
        let forward = bone.cross(self.front);
        let forward = if forward.length() > 0.3 { unit(forward) } else { across(-self.left(), bone) };
        let below = math::acos((bone.dot(Vec3::Y)).clamp(-1.0, 1.0)) - FRAC_PI_2;
        let hangs = (below / FRAC_PI_2).clamp(0.0, 1.0);
        let ranges = [0, 1, 2].map(|n| {
            let (a, b) = (SHOULDER_ASIDE[n], SHOULDER_HANGING[n]);
            (a.0 + hangs * (b.0 - a.0), a.1 + hangs * (b.1 - a.1))
        });
        let ease = [EASE_SHOULDER_FORWARD, EASE_SHOULDER_DOWN - below.to_degrees(), 0.0];
        let ball = Ball { twist: sign * bone, swing: forward, ranges, ease, ..Ball::default() };
        self.ball(arm.upper_arm, ball);
        self.hold_between(arm.upper_arm, arm.forearm);
        let limb = [arm.upper_arm, arm.forearm, arm.hand];
        let (axis, bent) = self.bend(limb, self.front);
        let fore = self.bone(arm.forearm, arm.hand);
        let bent = -bent.to_degrees();
        let ball = Ball {
            twist: sign * fore,
            swing: axis,
            ranges: [by(ELBOW[0], bent), ELBOW[1], ELBOW[2]],
            ease: [EASE_ELBOW + bent, 0.0, 0.0],
            ..Ball::default()
        };
        self.ball(arm.forearm, ball);
        self.hold_between(arm.forearm, arm.hand);
        // Where elbows bend to the front, thumbs point there too: the palms of arms aside face down, those of hanging
        // arms the thighs.
        let swing = unit(fore.cross(sign * axis));
        let (twist, stiffness) = (sign * fore, STIFF_WRIST);
        self.ball(arm.hand, Ball { twist, swing, ranges: WRIST, stiffness, ..Ball::default() });
    }

    fn leg(&mut self, hips: JointId, leg: &LegJoints, side: Side) {
        let sign = if side == Side::Left { 1.0 } else { -1.0 };
        self.hold_between(hips, leg.thigh);
        let (thigh, shin) = (self.bone(leg.thigh, leg.shin), self.bone(leg.shin, leg.foot));
        // Forward is about the right.
        let forward = -self.left();
        // Legs that are modelled apart, or one step ahead, are counted from where they would hang; feet are modelled flat.
        let (front, outwards) = (self.front, sign * self.left());
        let tilt = |bone: Vec3| {
            let angle = |way: Vec3| math::atan2(bone.dot(way), -bone.y).to_degrees();
            (angle(front), angle(outwards))
        };
        let (ahead, out) = tilt(thigh);
        let ball = Ball {
            twist: sign * thigh,
            swing: across(forward, thigh),
            ranges: [by(HIP[0], -ahead), by(HIP[1], out), HIP[2]],
            ease: [EASE_HIP[0] - ahead, EASE_HIP[1] + out, EASE_HIP[2]],
            ..Ball::default()
        };
        self.ball(leg.thigh, ball);
        self.hold_between(leg.thigh, leg.shin);
        let (axis, bent) = self.bend([leg.thigh, leg.shin, leg.foot], -self.front);
        self.hinge(leg.shin, axis, bent, KNEE, EASE_KNEE);
        self.hold_between(leg.shin, leg.foot);
        let (ahead, out) = tilt(shin);
        let ball = Ball {
            twist: sign * shin,
            swing: across(forward, shin),
            ranges: [by(ANKLE[0], ahead), by(ANKLE[1], -out), ANKLE[2]],
            ease: [EASE_ANKLE + ahead, -EASE_HIP[1] - out, 0.0],
            stiffness: STIFF_ANKLE,
        };
        self.ball(leg.foot, ball);
        if let Some(toes) = leg.toes {
            self.hold_between(leg.foot, toes);
            self.hinge(toes, forward, 0.0, BALL_OF_FOOT, 0.0);
        }
    }
}
