//! Preferred poses of chains, and the offsets of what follows joints at bind.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{
    Chain, JointId, JointTransform, Pose,
    body::{BodyRoles, HumanLimits, Role, Side},
    joint::{Attributes, Limits},
    math,
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

/// Knees and elbows of a figure, as human limits have them.
pub(super) fn human_bends(bind: &Pose, body: &BodyRoles) -> Vec<(JointId, Quat)> {
    let human = HumanLimits::of(bind, body);
    let bends: Vec<JointId> = Side::BOTH
        .iter()
        .flat_map(|&side| [Role::Shin(side), Role::Forearm(side)])
        .filter_map(|role| body.joint(role))
        .collect();
    let skeleton = bind.skeleton();
    let of = |(j, joint): &(JointId, crate::joint::Joint)| {
        let preferred = Limits::new(joint, skeleton.rest(*j)).preferred()?;
        bends.contains(j).then_some((*j, preferred))
    };
    human.joints().iter().filter_map(of).collect()
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
pub(super) fn bend_axis(
    bind: &Pose,
    chain: &Chain,
    middle: usize,
    human: &[(JointId, Quat)],
) -> Option<Vec3> {
    let joint = *chain.joints().get(middle)?;
    let (_, bent) = human.iter().find(|(of, _)| *of == joint)?;
    let mut pose = bind.clone();
    pose.set_rotation(joint, *bent);
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
pub(super) fn pose(bind: &Pose, chain: &Chain, human: &[(JointId, Quat)], pole: Option<Vec3>) -> Pose {
    let mut pose = bind.clone();
    let (skeleton, joints) = (bind.skeleton().clone(), chain.joints());
    for (n, &j) in joints.iter().enumerate() {
        let limits = skeleton.limits(j);
        let inner = n > 0 && n + 1 < joints.len();
        if let Some(own) = limits.preferred() {
            pose.set_rotation(j, own);
        } else if let Some((_, bent)) = human.iter().find(|(of, _)| inner && *of == j) {
            let was = bend(bind, chain, n);
            let mut other = bind.clone();
            other.set_rotation(j, *bent);
            other.update();
            if was.length() < NOISE || was.dot(bend(&other, chain, n)) < 0.0 {
                pose.set_rotation(j, limits.clamp(*bent));
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
