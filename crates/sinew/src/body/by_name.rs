//! Candidate limbs from names: a thigh, a shin and a foot of one side, each below the one before; arms alike.
//!
//! One pass from the root outward carries the matches of each side on the path to each joint. A helper with a part's name
//! that is beside the limb, such as an IK control, thus completes no chain, and the cost is one step per joint at any depth.

use alloc::vec::Vec;

use crate::{JointId, Skeleton};

use super::{
    ArmJoints, LegJoints, Side,
    names::{Meaning, Part},
};

/// Meaning of each joint's name, in the skeleton's order.
pub(super) struct Names(Vec<Option<Meaning>>);

/// Candidate limbs of one kind, left and right.
pub(super) struct Candidates<T>(pub [Vec<T>; 2]);

/// Matches on the path from the root to a joint: the first of each part.
#[derive(Clone, Copy, Default)]
struct Met {
    hip: Option<JointId>,
    thigh: Option<JointId>,
    legs: [Option<JointId>; 2],
    shin: Option<JointId>,
    foot: Option<JointId>,
    collar: Option<JointId>,
    shoulder: Option<JointId>,
    upper_arm: Option<JointId>,
    arm: Option<JointId>,
    forearm: Option<JointId>,
    hand: Option<JointId>,
}

impl Met {
    /// The thigh and the shin, where the path has both.
    fn leg(&self) -> Option<(JointId, JointId)> {
        let [leg, next] = self.legs;
        match (self.thigh, self.shin) {
            (Some(thigh), Some(shin)) => Some((thigh, shin)),
            (Some(thigh), None) => Some((thigh, leg.filter(|&l| l > thigh).or(next.filter(|&l| l > thigh))?)),
            (None, Some(shin)) => Some((leg.filter(|&l| l < shin).or(self.hip.filter(|&h| h < shin))?, shin)),
            (None, None) => match (self.hip, leg, next) {
                (_, Some(leg), Some(next)) => Some((leg, next)),
                (Some(hip), Some(leg), None) if hip < leg => Some((hip, leg)),
                _ => None,
            },
        }
    }

    /// The clavicle, the upper arm and the forearm, where the path has the last two.
    fn arm(&self) -> Option<(Option<JointId>, JointId, JointId)> {
        let forearm = self.forearm?;
        let upper = self.upper_arm.or(self.arm).or(self.shoulder).filter(|&u| u < forearm)?;
        let clavicle = self.collar.or(self.shoulder).filter(|&c| c < upper);
        Some((clavicle, upper, forearm))
    }
}

impl Names {
    pub(super) fn read(skeleton: &Skeleton) -> Self {
        Self(skeleton.joints().map(|j| super::names::read(skeleton.name(j))).collect())
    }

    pub(super) fn get(&self, joint: JointId) -> Option<Meaning> {
        self.0.get(joint.index()).copied().flatten()
    }

    /// All complete legs and arms among the joints in `range`, which is a subtree or all joints.
    pub(super) fn limbs(
        &self,
        skeleton: &Skeleton,
        range: core::ops::Range<usize>,
    ) -> (Candidates<LegJoints>, Candidates<ArmJoints>) {
        let mut met = alloc::vec![[Met::default(); 2]; range.len()];
        let mut legs = Candidates([Vec::new(), Vec::new()]);
        let mut arms = Candidates([Vec::new(), Vec::new()]);
        for joint in range.clone().filter_map(|i| skeleton.joint_at(i)) {
            let parent = skeleton.parent(joint).and_then(|p| p.index().checked_sub(range.start));
            let mut here = parent.and_then(|p| met.get(p)).copied().unwrap_or_default();
            if let Some(Meaning { part, side: Some(side), deform }) = self.get(joint) {
                let m = &mut here[side.index()];
                let first = |slot: &mut Option<JointId>| *slot = slot.or(Some(joint));
                match part {
                    Part::Hip => first(&mut m.hip),
                    Part::Thigh => first(&mut m.thigh),
                    Part::Leg if m.legs[0].is_none() => m.legs[0] = Some(joint),
                    Part::Leg => first(&mut m.legs[1]),
                    Part::Shin => first(&mut m.shin),
                    Part::Foot if m.foot.is_none() => {
                        if let Some((thigh, shin)) = m.leg() {
                            m.foot = Some(joint);
                            let leg = LegJoints { thigh, shin, foot: joint, toes: None };
                            legs.0[side.index()].push((leg, deform));
                        }
                    }
                    Part::Collar => first(&mut m.collar),
                    Part::Shoulder => first(&mut m.shoulder),
                    Part::UpperArm => first(&mut m.upper_arm),
                    Part::Arm => first(&mut m.arm),
                    Part::Forearm => first(&mut m.forearm),
                    Part::Hand if m.hand.is_none() => {
                        if let Some((clavicle, upper_arm, forearm)) = m.arm() {
                            m.hand = Some(joint);
                            let arm = ArmJoints { clavicle, upper_arm, forearm, hand: joint };
                            arms.0[side.index()].push((arm, deform));
                        }
                    }
                    _ => {}
                }
            }
            if let Some(slot) = joint.index().checked_sub(range.start).and_then(|i| met.get_mut(i)) {
                *slot = here;
            }
        }
        (legs.deforming(), arms.deforming())
    }

    /// Joints below `top` whose name means `part` on `side` or no side, and that have no such joint between themselves and
    /// `top`. `top` itself is excluded.
    pub(super) fn first_below(
        &self,
        skeleton: &Skeleton,
        top: JointId,
        part: Part,
        side: Option<Side>,
    ) -> Vec<JointId> {
        let range = skeleton.subtree(top);
        let mut found = Vec::new();
        let mut i = range.start + 1;
        while i < range.end {
            let Some(joint) = skeleton.joint_at(i) else { break };
            let fits =
                self.get(joint).is_some_and(|m| m.part == part && (m.side.is_none() || m.side == side));
            if fits {
                found.push(joint);
                i = skeleton.subtree(joint).end;
            } else {
                i += 1;
            }
        }
        let marked = |j: &JointId| self.get(*j).is_some_and(|m| m.deform);
        if found.iter().any(marked) {
            found.retain(marked);
        }
        found
    }
}

impl<T> Candidates<(T, bool)> {
    /// Keeps only the limbs that are marked as deforming the mesh, where there are some: the others are control bones.
    fn deforming(self) -> Candidates<T> {
        Candidates(self.0.map(|list| {
            let any = list.iter().any(|(_, deform)| *deform);
            list.into_iter().filter(|(_, deform)| *deform || !any).map(|(limb, _)| limb).collect()
        }))
    }
}
