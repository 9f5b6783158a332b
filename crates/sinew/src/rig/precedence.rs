//! Precedence, ease before it, and damping: attributes of joints that need order and time.
//!
//! The degrees of freedom of the highest precedence move first, alone, as far as the goal wants and their limits allow. Those
//! of the next take what remains, and so on; the last take all of it. Each motion is slowed by damping and, where others come
//! after, by ease: the others then take over before the limit is met.

use alloc::vec::Vec;

use crate::{
    JointId, JointTransform, Skeleton,
    joint::{Dof, Joint, Limits, Range, Turning, eased},
};

/// Time in seconds in which one of [`Dof::damping`]'s steps happens: a frame of film and television, and of 3ds Max.
pub(super) const STEP: f32 = 1.0 / 30.0;

/// The joint with one precedence for a ball, which moves as one: the highest of its three.
fn whole(joint: &Joint) -> Joint {
    let mut joint = *joint;
    if let Turning::Ball { swing: [x, y], twist, .. } = &mut joint.turning {
        let highest = x.precedence.max(y.precedence).max(twist.precedence);
        (x.precedence, y.precedence, twist.precedence) = (highest, highest, highest);
    }
    joint
}

/// Precedences of the joints' degrees of freedom, highest first.
pub(super) fn precedences(skeleton: &Skeleton, joints: &[JointId]) -> Vec<i32> {
    let of = |&j: &JointId| {
        let joint = whole(skeleton.joint(j));
        let free = matches!(joint.turning, Turning::Free).then_some(0);
        joint.dofs().map(|d| d.precedence).chain(free).collect::<Vec<_>>()
    };
    let mut all: Vec<i32> = joints.iter().flat_map(of).collect();
    all.sort_unstable_by_key(|p| core::cmp::Reverse(*p));
    all.dedup();
    all
}

/// The zone of ease before each limit, in radians or metres; 0 for none.
fn zone(dof: &Dof) -> f64 {
    if dof.range.is_bounded() { dof.ease * 0.5 * (dof.range.max - dof.range.min) } else { 0.0 }
}

/// A joint as a solver sees it that moves one precedence: its other degrees of freedom are held. `eases` for all
/// precedences but the last.
pub(super) fn at_level(joint: &Joint, level: i32, eases: bool) -> Joint {
    let mut joint = whole(joint);
    if joint.turning == Turning::Free && level != 0 {
        // A free joint has no degree of freedom that could be held.
        let [x, y, _] = glam::DVec3::AXES;
        let (dof, centre) = (Dof::FREE, [0.0; 2]);
        joint.turning = Turning::Ball { twist_axis: x, swing_axis: y, swing: [dof; 2], twist: dof, centre };
        joint.each_dof(|dof| dof.stiffness = 1.0);
        return joint;
    }
    let is_ball = matches!(joint.turning, Turning::Ball { .. });
    joint.each_dof(|dof| {
        if dof.precedence != level {
            dof.stiffness = 1.0;
        } else if eases {
            // A push of two zones meets the limit; see `eased`. A ball's ellipse stays as it is, and is met later.
            let zone = if is_ball { 0.0 } else { zone(dof) };
            dof.range = Range::new(dof.range.min - zone, dof.range.max + zone);
            dof.ease = 0.0;
        }
        (dof.damping, dof.spring, dof.precedence) = (0.0, None, 0);
    });
    joint
}

/// The value at which a motion of one degree of freedom ends. `pace` is the number of frames in a [`STEP`].
fn moved(dof: &Dof, from: f32, to: f32, eases: bool, pace: f32) -> f32 {
    let mut push = to - from;
    if dof.damping > 0.0 {
        push /= 1.0 + dof.damping as f32 * push.abs() * pace;
    }
    let zone = if eases { zone(dof) as f32 } else { 0.0 };
    let (min, max) = (dof.range.min as f32, dof.range.max as f32);
    match zone > 0.0 {
        true if push > 0.0 => eased(from, push, max, zone),
        true => -eased(-from, -push, -min, zone),
        false => from + push,
    }
}

/// A joint's transform after the motion that a solver made at one precedence.
pub(super) fn settle(
    joint: &Joint,
    limits: &Limits,
    [from, to]: [JointTransform; 2],
    level: i32,
    eases: bool,
    pace: f32,
) -> JointTransform {
    let (joint, mut end) = (whole(joint), to);
    let slows = |dof: &Dof| dof.precedence == level && (dof.damping > 0.0 || eases && zone(dof) > 0.0);
    let turns = joint.turning.coordinates();
    if to.rotation != from.rotation && turns.iter().flatten().any(slows) {
        let (before, mut at) = (limits.coordinates(from.rotation), limits.coordinates(to.rotation));
        for (n, dof) in turns.iter().enumerate() {
            if let Some(dof) = dof.as_ref().filter(|d| slows(d)) {
                at[n] = moved(dof, before[n], at[n], eases, pace);
            }
        }
        end.rotation = limits.clamp(limits.rotation(at));
    }
    let before = limits.slide_of(from.translation);
    for (n, dof) in joint.slide.iter().enumerate() {
        let at = limits.slide_of(end.translation)[n];
        if let Some(dof) = dof.as_ref().filter(|d| slows(d) && at != before[n]) {
            let at = moved(dof, before[n], at, eases, pace);
            end.translation = limits.slide_to(from.translation, end.translation, n, at);
        }
    }
    end.translation = limits.clamp_slide(to.translation, end.translation);
    end
}
