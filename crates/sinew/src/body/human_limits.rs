//! Human ranges of motion for the joints of a body.

use alloc::vec::Vec;
use core::f32::consts::{FRAC_PI_2, PI};

use glam::Vec3;

use super::{ArmJoints, BodyRoles, LegJoints, Side};
use crate::{
    JointId, Pose, Skeleton,
    joint::{Dof, Joint, JointError, Limits, Turning},
    math,
};

/// A range from minimum to maximum in degrees. Zero is the anatomical stance: upright, with straight legs.
type Degrees = (f32, f32);

// Active ranges of motion from an orthopaedic reference (American Academy of Orthopaedic Surgeons, "Joint Motion", 1965), in
// degrees. Where several joints share one motion, they divide its range.

/// The whole spine: flexion forward, bend to the left, twist to the left.
const SPINE: [Degrees; 3] = [(-25.0, 80.0), (-35.0, 35.0), (-45.0, 45.0)];
/// Neck and head together: flexion forward, bend to the left, twist to the left.
const NECK: [Degrees; 3] = [(-60.0, 50.0), (-45.0, 45.0), (-75.0, 75.0)];
/// The collar bone: forward, down, and a negligible twist.
const CLAVICLE: [Degrees; 3] = [(-25.0, 20.0), (-40.0, 10.0), (-1.0, 1.0)];
/// The shoulder of an arm that points sideways: forward, down, inward twist.
const SHOULDER_ASIDE: [Degrees; 3] = [(-45.0, 135.0), (-50.0, 100.0), (-90.0, 70.0)];
/// The shoulder of an arm that hangs: forward, inward, inward twist.
const SHOULDER_HANGING: [Degrees; 3] = [(-55.0, 160.0), (-140.0, 30.0), (-90.0, 70.0)];
/// The two above with the collar bone's share in raising an arm, where no collar bone has it.
const ARM_ASIDE: [Degrees; 3] = [(-45.0, 135.0), (-90.0, 100.0), (-90.0, 70.0)];
const ARM_HANGING: [Degrees; 3] = [(-60.0, 180.0), (-180.0, 30.0), (-90.0, 70.0)];
/// The elbow: flexion, sideways by the variation of carrying angles, and the forearm's twist with the palm down or up.
const ELBOW: [Degrees; 3] = [(0.0, 150.0), (-6.0, 6.0), (-80.0, 80.0)];
/// The wrist: towards the palm, towards the little finger, and a negligible twist, as the forearm twists instead.
const WRIST: [Degrees; 3] = [(-70.0, 80.0), (-20.0, 30.0), (-1.0, 1.0)];
/// The hip joint: forward, inward, inward twist.
const HIP: [Degrees; 3] = [(-30.0, 120.0), (-45.0, 30.0), (-45.0, 45.0)];
/// The knee: flexion.
const KNEE: Degrees = (0.0, 145.0);
/// The ankle: toes up, sole inward, toes inward. Toes up is 35 as under the body's weight; an unloaded foot has 20.
const ANKLE: [Degrees; 3] = [(-50.0, 35.0), (-15.0, 35.0), (-10.0, 10.0)];
/// The ball of the foot: toes up.
const BALL_OF_FOOT: Degrees = (-30.0, 60.0);

// Preferred values: the stance of a body at ease, in degrees. Arms hang a hand's breadth from the trunk. Elbows and knees
// are slightly bent, so that neither bends backwards.
const EASE_SHOULDER_FORWARD: f32 = 10.0;
/// Angle of the arm below the horizontal.
const EASE_SHOULDER_DOWN: f32 = 75.0;
const EASE_ELBOW: f32 = 25.0;
const EASE_HIP: [f32; 3] = [10.0, -2.0, 0.0];
const EASE_KNEE: f32 = 20.0;
/// Keeps the sole flat.
const EASE_ANKLE: f32 = EASE_KNEE - EASE_HIP[0];

// Stiffness of joints that move little while others can do the work. Chosen on random believable poses (`lab/full_body`).
const STIFF_CLAVICLE: f64 = 0.8;
const STIFF_WRIST: f64 = 0.8;
const STIFF_ANKLE: f64 = 0.2;

/// Minimum bend of a joint in the bind pose, in radians, that tells its bend direction. Straight joints are bent by
/// modelling noise in any direction.
const BENT: f32 = 0.15;

/// Minimum half-axis of a swing ellipse, in radians. It keeps the rest pose inside where it is at the end of a range or
/// beyond.
const NARROW: f32 = 0.01;

/// Limits, preferred values and stiffness of human joints, fitted to a [`BodyRoles`].
///
/// - Spine, neck, head, collar bones, shoulders, hip joints, wrists and ankles are ball joints. A shoulder without a collar bone
///   raises its arm for both.
/// - Elbows bend and twist the forearm; knees and the balls of the feet are hinges.
/// - Joints without a role that lie between two joints of a limb, such as twist joints, are fixed.
/// - The hips, the joints above them, fingers and all other joints stay as they are.
///
/// Axes come from the bind pose: from the directions of the bones and the body's [front](BodyRoles::front). Ranges count
/// from the anatomical stance, whatever the rest pose is. Preferred values are those of a body at ease.
///
/// With these attributes a few trackers can drive a figure ([`Trackers`](super::Trackers)), and so can any goals of a
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
/// // A knee bends backwards within its range, and in no other direction.
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
    /// The flexion of an elbow, in degrees.
    pub(crate) const ELBOW_FLEXION: (f32, f32) = ELBOW[0];

    /// Fits the joints of `body`. `bind` is its bind pose, Y up.
    pub fn of(bind: &Pose, body: &BodyRoles) -> Self {
        let front = body.front(bind);
        let aside = bind.position(body.legs[0].thigh) - bind.position(body.legs[1].thigh);
        let mirrored = aside.dot(Vec3::Y.cross(front)) < 0.0;
        let mut fit = Fit { bind, front, mirrored, joints: Vec::new() };
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

    /// The fitted joints, with their attributes.
    pub fn joints(&self) -> &[(JointId, Joint)] {
        &self.joints
    }

    /// Sets these joints on a skeleton, which must be that of the bind pose. Returns the error of the first joint that the
    /// skeleton rejects; the joints before it stay set.
    pub fn apply(&self, skeleton: &mut Skeleton) -> Result<(), JointError> {
        self.joints.iter().try_for_each(|(id, joint)| skeleton.set_joint(*id, *joint))
    }

    /// Poses a body at ease: arms hang, elbows and knees are slightly bent, and the hips move so that the feet are where
    /// they are in `bind`. The skeleton of `pose` must have these joints. Leaves the pose updated.
    pub fn stand_at_ease(&self, bind: &Pose, body: &BodyRoles, pose: &mut Pose) {
        let skeleton = pose.skeleton().clone();
        for (id, _) in &self.joints {
            if let Some(rotation) = skeleton.limits(*id).preferred() {
                pose.set_rotation(*id, rotation);
            }
        }
        pose.update();
        // Legs may differ in length: the hips are high enough that no foot is below its height in `bind`.
        let shifts = body.legs.map(|leg| bind.position(leg.foot) - pose.position(leg.foot));
        let middle = 0.5 * (shifts[0] + shifts[1]);
        let hips = pose.position(body.hips) + Vec3::new(middle.x, shifts[0].y.max(shifts[1].y), middle.z);
        pose.set_position(body.hips, hips);
        pose.update();
    }
}

/// A ball joint to fit: its axes of twist and first swing in model space at bind, and its ranges (two swings, then twist)
/// and preferred values in degrees, from the bind pose.
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
    /// Whether the left side is on the right of where the figure faces.
    mirrored: bool,
    joints: Vec<(JointId, Joint)>,
}

/// A range shifted by some degrees.
fn by((from, to): Degrees, shift: f32) -> Degrees {
    (from + shift, to + shift)
}

fn unit(v: Vec3) -> Vec3 {
    v.normalize_or_zero()
}

/// The component of a vector perpendicular to a unit vector, normalised.
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

    /// 1 for the side on the left of where the figure faces, -1 for the other.
    fn sign(&self, side: Side) -> f32 {
        if (side == Side::Left) != self.mirrored { 1.0 } else { -1.0 }
    }

    /// Joints from `from` down to `to`, with both ends or with neither.
    fn between(&self, from: JointId, to: JointId, ends: bool) -> Vec<JointId> {
        let skeleton = self.bind.skeleton();
        let mut path: Vec<JointId> = skeleton.ancestors(to).take_while(|&j| j != from).collect();
        path.reverse();
        if ends {
            path.insert(0, from);
            path.push(to);
        }
        path
    }

    fn hold_between(&mut self, from: JointId, to: JointId) {
        for joint in self.between(from, to, false) {
            self.joints.push((joint, Joint::FIXED));
        }
    }

    /// Converts a direction from model space at bind to the joint's rest frame. With `with_joint` the direction rotates with
    /// the joint, and is constant in its own frame. Otherwise it rotates with the parent.
    fn seen_in_rest(&self, joint: JointId, with_joint: bool, v: Vec3) -> Vec3 {
        let turned = self.bind.model_rotation(joint);
        let own = math::rotate(math::conjugate(turned), v);
        if with_joint {
            return own;
        }
        let rest = math::normalize(self.bind.skeleton().rest(joint).rotation);
        math::rotate(math::mul(math::conjugate(rest), self.bind.local(joint).rotation), own)
    }

    /// Coordinates of the bind pose relative to the rest pose, as limits count them.
    fn seen_from_rest(&self, joint: JointId, turning: Turning) -> [f32; 3] {
        let free = Limits::new(&turning.into(), self.bind.skeleton().rest(joint));
        free.coordinates(self.bind.local(joint).rotation)
    }

    fn ball(&mut self, joint: JointId, ball: Ball) {
        let twist_axis = self.seen_in_rest(joint, true, ball.twist).as_dvec3();
        let swing_axis = self.seen_in_rest(joint, false, ball.swing).as_dvec3();
        let centre = [0.0; 2];
        let with =
            |swing: [Dof; 2], twist: Dof| Turning::Ball { twist_axis, swing_axis, swing, twist, centre };
        let seen = self.seen_from_rest(joint, with([Dof::FREE; 2], Dof::FREE));
        let dof = |n: usize| {
            let ((from, to), zero) = (ball.ranges[n], seen[n]);
            let (from, to) = (from.to_radians() + zero, to.to_radians() + zero);
            // An ellipse extends to both sides of the rest pose, by at most 3 radians.
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

    /// Adds a hinge about an axis at bind. Its range counts from straight; in the bind pose it is bent by `bent` radians.
    fn hinge(&mut self, joint: JointId, axis: Vec3, bent: f32, (from, to): Degrees, ease: f32) {
        let axis = self.seen_in_rest(joint, true, axis).as_dvec3();
        let with = |dof| Turning::Hinge { axis, dof };
        let zero = self.seen_from_rest(joint, with(Dof::FREE))[0] - bent;
        // A joint that is modelled beyond straight may stay so.
        let (from, to) = (from.to_radians() + bent.min(0.0) + zero, to.to_radians() + zero);
        let ease = (ease.to_radians() + zero).max(from).min(to);
        self.joints
            .push((joint, with(Dof::range(from.into(), to.into()).with_preferred(ease.into())).into()));
    }

    /// Adds a column of ball joints that share the ranges: forward, to the left, twist to the left.
    fn column(&mut self, joints: &[JointId], ranges: [Degrees; 3]) {
        let part = 1.0 / joints.len().max(1) as f32;
        for &joint in joints {
            let ranges = ranges.map(|(from, to)| (from * part, to * part));
            // Forward rotates about the left axis. The other swing axis, up x left, points back; about it, up rotates to the
            // left.
            self.ball(joint, Ball { twist: Vec3::Y, swing: self.left(), ranges, ..Ball::default() });
        }
    }

    /// Bend axis of a limb and the angle of its bend at bind, in radians. The axis comes from the bones where these are
    /// bent, else from the direction `towards`.
    fn bend(&self, limb: [JointId; 3], towards: Vec3) -> (Vec3, f32) {
        let (upper, lower) = (self.bone(limb[0], limb[1]), self.bone(limb[1], limb[2]));
        let expected = unit(upper.cross(towards));
        let (sine, cosine) = (upper.cross(lower), upper.dot(lower));
        let bent = math::atan2(math::sqrt(sine.length_squared()), cosine);
        let shown = unit(sine);
        // An elbow or knee does not bend by more than 45 degrees to the side.
        let axis = if bent > BENT && shown.dot(expected) > 0.7 { shown } else { expected };
        // The bend is the angle in the plane perpendicular to the axis. The rest of the angle stays as modelled.
        let axis = if axis == Vec3::ZERO { across(self.left(), upper) } else { axis };
        (axis, math::atan2(axis.dot(sine), cosine))
    }

    fn arm(&mut self, arm: &ArmJoints, side: Side) {
        // Twist axes point to the left on both sides, so that inward twists have one sign.
        let sign = self.sign(side);
        let bone = self.bone(arm.upper_arm, arm.forearm);
        let mut tables = (ARM_ASIDE, ARM_HANGING);
        if let Some(clavicle) = arm.clavicle.filter(|&c| c != arm.upper_arm) {
            tables = (SHOULDER_ASIDE, SHOULDER_HANGING);
            let out = sign * self.left();
            let swing = unit(out.cross(self.front));
            let (twist, stiffness) = (sign * out, STIFF_CLAVICLE);
            self.ball(clavicle, Ball { twist, swing, ranges: CLAVICLE, stiffness, ..Ball::default() });
            self.hold_between(clavicle, arm.upper_arm);
        }
        // Forward of an arm that points to the front is up.
        let forward = bone.cross(self.front);
        let forward = if forward.length() > 0.3 { unit(forward) } else { across(-self.left(), bone) };
        let below = math::acos((bone.dot(Vec3::Y)).clamp(-1.0, 1.0)) - FRAC_PI_2;
        let hangs = (below / FRAC_PI_2).clamp(0.0, 1.0);
        let ranges = [0, 1, 2].map(|n| {
            let (a, b) = (tables.0[n], tables.1[n]);
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
        // Where elbows bend to the front, thumbs point there too: palms face down on sideways arms and the thighs on hanging
        // arms.
        let swing = unit(fore.cross(sign * axis));
        let (twist, stiffness) = (sign * fore, STIFF_WRIST);
        self.ball(arm.hand, Ball { twist, swing, ranges: WRIST, stiffness, ..Ball::default() });
    }

    fn leg(&mut self, hips: JointId, leg: &LegJoints, side: Side) {
        let sign = self.sign(side);
        self.hold_between(hips, leg.thigh);
        let (thigh, shin) = (self.bone(leg.thigh, leg.shin), self.bone(leg.shin, leg.foot));
        // Forward rotates about the right axis.
        let forward = -self.left();
        // Legs may be modelled apart or mid-step: ranges count from a hanging leg. Feet are modelled flat.
        let (front, outwards) = (self.front, sign * self.left());
        let tilt = |bone: Vec3| {
            let angle = |direction: Vec3| math::atan2(bone.dot(direction), -bone.y).to_degrees();
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
