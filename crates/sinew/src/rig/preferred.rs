//! Preferred poses of chains, and the offsets of what follows joints at bind.

use alloc::vec::Vec;

use glam::{DVec3, Quat, Vec3};

use crate::{
    Chain, JointId, JointTransform, Pose, Skeleton,
    body::{ArmJoints, BodyRoles, HumanLimits, Role, Side},
    joint::{Attributes, Limits},
    math,
    solve::two_bone::Ranged,
};

/// Sine of a joint's bend above which the bind pose defines its plane: one degree, as for a
/// [`TwoBone`](crate::solve::TwoBone).
const BENT: f32 = 0.0175;

/// Bend of a knee or an elbow in radians (or its sine) below which its direction is modelling noise, as for [`HumanLimits`].
const NOISE: f32 = 0.15;

/// Bend in radians that a straight chain starts with, spread over its inner joints. Its size does not matter for a limb; a
/// longer chain starts near straight, and far enough from it to keep its plane.
const BEND: f32 = 0.5;

/// Rounding of the distance of a position from a plane through others, as a share of their extent: 3e-7 for each of the two
/// positions, as for a [`TwoBone`](crate::solve::TwoBone).
const ROUNDING: f32 = 6e-7;

/// A figure's limbs as human limits have them.
#[derive(Default)]
pub(super) struct Human {
    /// Knees and elbows, as they bend at ease.
    bends: Vec<(JointId, Quat)>,
    /// Shoulder, elbow and hand of each arm, and its ranges.
    arms: Vec<([JointId; 3], ArmRanges)>,
}

/// A person's ranges of an arm whose collar bone is not its own to move.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArmRanges {
    /// Ranges of an arm below a collar bone as at bind.
    limb: Ranged,
    /// The collar bone, and the rotation of the upper arm's parent in the frame above it at bind.
    clavicle: Option<(JointId, Quat)>,
}

impl ArmRanges {
    /// [`Ranged::lead`], where a collar bone that the animation has raised has taken its share of the arm's range.
    pub fn lead(
        &self,
        pose: &Pose,
        at: [DVec3; 2],
        root: JointId,
        rotation: Quat,
        goal: DVec3,
    ) -> (Option<DVec3>, f64) {
        let raised = self.clavicle.map_or(Quat::IDENTITY, |(clavicle, bind)| {
            math::mul(math::conjugate(bind), below(pose, clavicle, root))
        });
        self.limb.lead(at, math::normalize(raised).as_dquat(), math::normalize(rotation).as_dquat(), goal)
    }
}

/// The rotation of a joint's parent in the frame above one of the joints over it.
fn below(pose: &Pose, above: JointId, joint: JointId) -> Quat {
    let mut rotation = Quat::IDENTITY;
    for j in pose.skeleton().ancestors(joint) {
        rotation = math::mul(pose.local(j).rotation, rotation);
        if j == above {
            break;
        }
    }
    rotation
}

impl Human {
    pub fn new(bind: &Pose, body: &BodyRoles) -> Self {
        // Arms have the whole range, as collar bones are not theirs to move.
        let mut without = body.clone();
        without.arms.iter_mut().flatten().for_each(|arm| arm.clavicle = None);
        let human = HumanLimits::of(bind, &without);
        let limits = |j| {
            let (_, joint) = human.joints().iter().find(|(of, _)| *of == j)?;
            Some(Limits::new(joint, bind.skeleton().rest(j)))
        };
        let bends = Side::BOTH.iter().flat_map(|&side| [Role::Shin(side), Role::Forearm(side)]);
        let bend = |role| {
            let joint = body.joint(role)?;
            Some((joint, limits(joint)?.preferred()?))
        };
        let (low, high) = HumanLimits::ELBOW_FLEXION;
        let flexion = [low, high].map(|degrees| f64::from(degrees).to_radians());
        let arm = |arm: &ArmJoints| {
            let limb = Ranged::new(&limits(arm.upper_arm)?, flexion);
            let clavicle = arm.clavicle.filter(|&c| c != arm.upper_arm);
            let clavicle = clavicle.map(|c| (c, below(bind, c, arm.upper_arm)));
            Some(([arm.upper_arm, arm.forearm, arm.hand], ArmRanges { limb, clavicle }))
        };
        Self {
            bends: bends.filter_map(bend).collect(),
            arms: body.arms.iter().flatten().filter_map(arm).collect(),
        }
    }

    /// A knee or an elbow as it bends at ease.
    fn bend(&self, joint: JointId) -> Option<Quat> {
        self.bends.iter().find(|(of, _)| *of == joint).map(|(_, bent)| *bent)
    }

    /// The ranges of an arm whose joints have no limits of their own.
    pub fn arm(&self, skeleton: &Skeleton, [root, middle, tip]: [JointId; 3]) -> Option<ArmRanges> {
        let free =
            [root, middle].iter().all(|&j| skeleton.limits(j).turns_freely() && !skeleton.limits(j).slides());
        self.arms.iter().find(|(arm, _)| *arm == [root, middle, tip] && free).map(|(_, ranges)| *ranges)
    }
}

/// The directions of the bones above and below an inner joint of a chain, and the axis of its bend (of the length of its
/// sine), in a pose.
fn bend(pose: &Pose, chain: &Chain, n: usize) -> Vec3 {
    let at = |n: usize| pose.position(chain.joints()[n]);
    let u = (at(n) - at(n - 1)).normalize_or_zero();
    let v = (at(n + 1) - at(n)).normalize_or_zero();
    u.cross(v)
}

/// The axis about which a person's knee or elbow bends, in the frame above it; `None` for other joints.
pub(super) fn bend_axis(bind: &Pose, chain: &Chain, middle: usize, human: &Human) -> Option<Vec3> {
    let joint = *chain.joints().get(middle)?;
    let bent = human.bend(joint)?;
    let mut pose = bind.clone();
    pose.set_rotation(joint, bent);
    pose.update();
    let above = math::rotation_of(&pose.parent_model(joint).matrix3);
    bend(&pose, chain, middle).try_normalize().map(|axis| math::rotate(math::conjugate(above), axis))
}

/// Bends a limb that is straight, up to [`NOISE`], about its [`bend_axis`], if its end must come nearer to its root: its own
/// plane is noise. By nothing where the end stays, and by less the more the limb is bent.
pub(super) fn bend_straight(pose: &mut Pose, chain: &Chain, middle: usize, axis: Vec3, to: Vec3) {
    let (root, joint) = (chain.root(), chain.joints()[middle]);
    let [root, at, end] = [root, joint, chain.tip()].map(|j| pose.position(j));
    let (a, b) = (root.distance(at), at.distance(end));
    let flexion = |reach: f32| {
        let cosine = (a * a + b * b - reach * reach) / (2.0 * a * b);
        core::f32::consts::PI - math::acos(cosine.clamp(-1.0, 1.0))
    };
    let (bent, wanted) = (flexion(root.distance(end)), flexion(root.distance(to)));
    let (noise, more) = (bent / NOISE, ((wanted - bent) / NOISE).min(1.0));
    // Not for NaN of bones without a length either.
    if !(noise < 1.0 && more > 0.0) {
        return;
    }
    let share = more * (1.0 - math::smoothstep(noise));
    let above = math::rotation_of(&pose.parent_model(joint).matrix3);
    pose.turn(joint, math::axis_angle(math::rotate(above, axis), BEND * share));
    hold(pose, joint);
    pose.update();
}

/// The pose `bind` with a chain in its preferred values: each joint's own; else a knee's or an elbow's, where the bind pose is
/// straight or bends to the other side; else the bind pose. A chain that is straight then is bent towards `pole`, a direction
/// in model space.
pub(super) fn pose(bind: &Pose, chain: &Chain, human: &Human, pole: Option<Vec3>) -> Pose {
    let mut pose = bind.clone();
    let (skeleton, joints) = (bind.skeleton().clone(), chain.joints());
    for (n, &j) in joints.iter().enumerate() {
        let limits = skeleton.limits(j);
        let inner = n > 0 && n + 1 < joints.len();
        if let Some(own) = limits.preferred() {
            pose.set_rotation(j, own);
        } else if let Some(bent) = human.bend(j).filter(|_| inner) {
            let was = bend(bind, chain, n);
            let mut other = bind.clone();
            other.set_rotation(j, bent);
            other.update();
            if was.length() < NOISE || was.dot(bend(&other, chain, n)) < 0.0 {
                pose.set_rotation(j, limits.clamp(bent));
            }
        }
        for axis in 0..3 {
            if let Some(value) = limits.slide_preferred(axis) {
                let local = pose.local(j).translation;
                pose.set_translation(j, limits.slide_to(local, local, axis, value));
            }
        }
    }
    pose.update();
    let inner = 1..joints.len().saturating_sub(1);
    let straight = inner.clone().all(|n| bend(&pose, chain, n).length() < BENT);
    let free = |n: &usize| skeleton.joint(joints[*n]).attributes() == Attributes::NONE;
    let count = inner.clone().filter(free).count();
    let (line, _) = chain.line_and_bend(&pose);
    if let Some(line) = line.try_normalize().filter(|_| straight && count > 0) {
        let towards = pole.filter(|p| p.cross(line).length() > 1e-3 * p.length());
        let towards = towards.unwrap_or(if line.z.abs() < 0.9 { Vec3::Z } else { Vec3::Y });
        // Inner joints turn back what the root's arc to the goal turns forth.
        let axis = math::perpendicular(line, towards).cross(line);
        let by = math::axis_angle(axis, BEND / count as f32);
        for n in inner.filter(free) {
            pose.turn(joints[n], by);
        }
        pose.update();
    }
    pose
}

/// Turns the root of a chain by the least turn that takes its end into the direction of `to`.
pub(super) fn carry(pose: &mut Pose, chain: &Chain, to: Vec3) {
    let (line, bend) = chain.line_and_bend(pose);
    let goal = to - pose.position(chain.root());
    if let (Some(line), Some(goal)) = (line.try_normalize(), goal.try_normalize()) {
        let root = chain.root();
        pose.turn(root, math::shortest_arc(line, goal, line.cross(bend)));
        hold(pose, root);
        pose.update();
    }
}

/// Turns a joint back into its limits.
pub(super) fn hold(pose: &mut Pose, joint: JointId) {
    let limits = pose.skeleton().limits(joint);
    if !limits.turns_freely() {
        let within = limits.clamp(pose.local(joint).rotation);
        pose.set_rotation(joint, within);
    }
}

/// The angle about the line from the root to the end of a chain at bind, from the pole's direction to that of the chain's
/// preferred bend. 0 where either has none, and where the positions are too rounded to tell it from 0: a pole in the bend plane
/// then stays there, and the limb keeps its fast path.
pub(super) fn swivel(bind: &Pose, preferred: &Pose, chain: &Chain, pole: Vec3) -> f32 {
    let mut pose = preferred.clone();
    carry(&mut pose, chain, chain.end(bind));
    let (line, bend) = chain.line_and_bend(&pose);
    let Some(axis) = line.try_normalize() else { return 0.0 };
    let extent = pole.abs().max_element();
    let pole = pole - pose.position(chain.root());
    let [from, to] = [pole, bend].map(|v| v - axis * v.dot(axis));
    let small = |v: Vec3| v.length() <= 1e-4 * line.length();
    if small(from) || small(to) {
        return 0.0;
    }
    let angle = math::atan2(axis.dot(from.cross(to)), from.dot(to));
    let uncertain = ROUNDING * bind.extent(chain.tip()).max(extent);
    if angle.abs() * from.length().min(to.length()) <= uncertain { 0.0 } else { angle }
}

/// The local transform that a handle resets a joint to: the preferred rotation, and the translation where it slides.
pub(super) fn reset(pose: &mut Pose, joint: JointId, to: &JointTransform, moves: bool) {
    if pose.local(joint).rotation != to.rotation {
        pose.set_rotation(joint, to.rotation);
    }
    if moves && pose.local(joint).translation != to.translation {
        pose.set_translation(joint, to.translation);
    }
}
