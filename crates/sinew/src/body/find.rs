//! Assignment of roles from all sources: the caller, the file, names and shape, in this order.

use alloc::vec::Vec;

use crate::{JointId, Pose, Skeleton};

use super::{
    ArmJoints, AssignedRole, BodyRoles, LegJoints, Role, RoleError, RoleHints, RoleSource, Side,
    by_name::{Candidates, Names},
    names::Part,
    roles::label,
    shape::Shape,
};

/// VRM 1.0 names of a limb's bones, without the side.
const LEG_BONES: [&str; 4] = ["UpperLeg", "LowerLeg", "Foot", "Toes"];
const ARM_BONES: [&str; 4] = ["Shoulder", "UpperArm", "LowerArm", "Hand"];

struct Finder<'a> {
    skeleton: &'a Skeleton,
    hints: &'a RoleHints<'a>,
    names: Names,
    shape: Shape<'a>,
    assigned: Vec<AssignedRole>,
    doubts: Vec<RoleError>,
}

pub(super) fn find(bind: &Pose, hints: &RoleHints<'_>) -> Result<BodyRoles, RoleError> {
    let skeleton = bind.skeleton();
    for (role, joint) in given(hints) {
        if joint.index() >= skeleton.len() {
            let what = alloc::format!("there are {} joints", skeleton.len());
            return Err(RoleError::Unfit { role, joint: alloc::format!("{joint}"), what });
        }
    }
    let mut finder = Finder {
        skeleton,
        hints,
        names: Names::read(skeleton),
        shape: Shape::new(bind),
        assigned: Vec::new(),
        doubts: Vec::new(),
    };
    finder.run()
}

/// All joints from outside the skeleton (hints), each with a role to name in an error.
fn given<'a>(hints: &'a RoleHints<'_>) -> impl Iterator<Item = (Role, JointId)> + 'a {
    let feet = hints.feet.into_iter().flatten().zip(Side::BOTH).map(|(j, side)| (Role::Foot(side), j));
    let declared = hints.declared.iter().map(|(bone, j)| (declared_role(bone), *j));
    hints.hips.map(|j| (Role::Hips, j)).into_iter().chain(feet).chain(declared)
}

fn declared_role(bone: &str) -> Role {
    let (side, part) = match (bone.strip_prefix("left"), bone.strip_prefix("right")) {
        (Some(part), _) => (Side::Left, part),
        (_, Some(part)) => (Side::Right, part),
        _ => (Side::Left, bone),
    };
    match part {
        "UpperLeg" => Role::Thigh(side),
        "LowerLeg" => Role::Shin(side),
        "Foot" => Role::Foot(side),
        "Toes" => Role::Toes(side),
        "Shoulder" => Role::Clavicle(side),
        "UpperArm" => Role::UpperArm(side),
        "LowerArm" => Role::Forearm(side),
        "Hand" => Role::Hand(side),
        "Eye" => Role::Eye(side),
        "neck" => Role::Neck,
        "head" => Role::Head,
        _ => Role::Hips,
    }
}

impl Finder<'_> {
    fn run(&mut self) -> Result<BodyRoles, RoleError> {
        let range = self.hints.hips.map_or(0..self.skeleton.len(), |h| self.skeleton.subtree(h));
        let (legs_named, arms_named) = self.names.limbs(self.skeleton, range.clone());
        let mut legs = self.legs(&legs_named, range)?;
        let hips = self.hips(&legs)?;
        for side in Side::BOTH {
            if legs[side.index()].toes.is_none() {
                legs[side.index()].toes = self.toes(legs[side.index()].foot, side);
            }
        }
        let named = self.arms_by_name(&arms_named, hips, &legs);
        if self.hints.feet.is_none() {
            self.refuse_four_feet(&legs, &named)?;
        }
        let (spine, neck, head, arms) = self.upper_body(hips, &legs, named);
        let eyes = Side::BOTH.map(|side| self.eye(head, side));
        let (mut assigned, doubts) = (core::mem::take(&mut self.assigned), core::mem::take(&mut self.doubts));
        assigned.sort_by_key(|a| a.role);
        Ok(BodyRoles { hips, spine, neck, head, eyes, legs, arms, assigned, doubts })
    }

    fn assign(&mut self, role: Role, joint: JointId, why: RoleSource) {
        self.assigned.push(AssignedRole { role, joint, why });
    }

    fn by_name(&self, joint: JointId) -> RoleSource {
        RoleSource::Name(self.skeleton.name(joint).into())
    }

    fn declared(&self, bone: &str) -> Option<JointId> {
        self.hints.declared.iter().find(|(name, _)| name == bone).map(|(_, joint)| *joint)
    }

    /// The four bones of a limb that the file declares on a side.
    fn declared_limb(&self, side: Side, bones: [&str; 4]) -> [Option<JointId>; 4] {
        bones.map(|bone| self.declared(&alloc::format!("{side}{bone}")))
    }

    /// Returns an error unless each joint is below the one before.
    fn check_chain(&self, chain: &[(Role, JointId)]) -> Result<(), RoleError> {
        for w in chain.windows(2) {
            let [(above_role, above), (role, joint)] = [w[0], w[1]];
            if joint == above || !self.skeleton.is_below(joint, above) {
                let what = alloc::format!(
                    "it does not hang below the {above_role}, joint `{}`",
                    label(self.skeleton, above)
                );
                return Err(RoleError::Unfit { role, joint: label(self.skeleton, joint), what });
            }
        }
        Ok(())
    }

    fn legs(
        &mut self,
        named: &Candidates<LegJoints>,
        range: core::ops::Range<usize>,
    ) -> Result<[LegJoints; 2], RoleError> {
        if let Some(feet) = self.hints.feet {
            return self.legs_above(feet, named);
        }
        let declared = Side::BOTH.map(|side| self.declared_limb(side, LEG_BONES));
        if let [[Some(lt), Some(ls), Some(lf), l_toes], [Some(rt), Some(rs), Some(rf), r_toes]] = declared {
            let legs = [
                LegJoints { thigh: lt, shin: ls, foot: lf, toes: l_toes },
                LegJoints { thigh: rt, shin: rs, foot: rf, toes: r_toes },
            ];
            for (side, leg) in Side::BOTH.into_iter().zip(&legs) {
                let roles = leg_roles(leg, side);
                let chain = roles.into_iter().filter_map(|(role, joint)| Some((role, joint?)));
                self.check_chain(&chain.collect::<Vec<_>>())?;
                self.assign_limb(roles, |_, n, _| {
                    RoleSource::Declared(alloc::format!("{side}{}", LEG_BONES[n]))
                });
            }
            return Ok(legs);
        }
        for side in Side::BOTH {
            let list = &named.0[side.index()];
            if list.len() > 1 {
                return Err(self.shape.ambiguous(Role::Foot(side), list.iter().map(|l| l.foot)));
            }
        }
        if let [&[left], &[right]] = [named.0[0].as_slice(), named.0[1].as_slice()] {
            for (side, leg) in Side::BOTH.into_iter().zip([left, right]) {
                self.assign_limb(leg_roles(&leg, side), |own, _, joint| own.by_name(joint));
            }
            return Ok([left, right]);
        }
        let legs = self.shape.legs(range.clone());
        for side in Side::BOTH {
            if let Some((shin, foot)) = self.foot_beside_leg(side, range.clone())
                && legs.as_ref().map_or(true, |legs| self.ends_at(&legs[side.index()], foot))
            {
                return Err(self.beside(side, shin, foot));
            }
        }
        let legs = legs?;
        // Where one side's names contradict the shape, only the user can decide.
        for side in Side::BOTH {
            if let Some(leg) = named.0[side.index()].first()
                && leg.foot != legs[side.index()].foot
            {
                return Err(self.shape.ambiguous(Role::Foot(side), [leg.foot, legs[side.index()].foot]));
            }
        }
        self.assign_shaped(&legs, "one of the two mirrored chains that reach the floor");
        Ok(legs)
    }

    /// The shin and the foot of a leg whose foot is beside the leg instead of below its shin, by name: it is moved by itself,
    /// next to the end of the shin.
    fn foot_beside_leg(&self, side: Side, range: core::ops::Range<usize>) -> Option<(JointId, JointId)> {
        let named = |part: Part| {
            let joints = range.clone().filter_map(|i| self.skeleton.joint_at(i));
            joints.filter(move |&j| self.names.get(j).is_some_and(|m| m.part == part && m.side == Some(side)))
        };
        let shin = named(Part::Shin)
            .find(|&s| named(Part::Thigh).any(|t| t != s && self.skeleton.is_below(s, t)))?;
        let mut feet = named(Part::Foot);
        let foot = feet.next()?;
        let below = |&foot: &JointId| self.skeleton.is_below(foot, shin);
        (!below(&foot) && !feet.any(|f| below(&f))).then_some((shin, foot))
    }

    /// Whether a leg that was found by its shape has no foot of its own, but ends where another joint is. A control joint of
    /// an ankle is there as well, but feet have joints or ends of their own.
    fn ends_at(&self, leg: &LegJoints, foot: JointId) -> bool {
        const NEAR: f32 = 0.15;
        let [thigh, ankle, foot] = [leg.thigh, leg.foot, foot].map(|j| self.shape.at(j));
        self.skeleton.subtree(leg.foot).len() == 1
            && (foot - ankle).length() <= NEAR * (ankle - thigh).length()
    }

    fn beside(&self, side: Side, shin: JointId, foot: JointId) -> RoleError {
        RoleError::Unfit {
            role: Role::Foot(side),
            joint: label(self.skeleton, foot),
            what: alloc::format!(
                "it is beside the leg, not below the shin `{}`; hip, knee and ankle must be one chain",
                label(self.skeleton, shin)
            ),
        }
    }

    fn assign_shaped(&mut self, legs: &[LegJoints; 2], foot: &'static str) {
        for (side, leg) in Side::BOTH.into_iter().zip(legs) {
            let why = [
                "the first bone from the hips that runs down",
                "nearest to half-way between thigh and foot",
                foot,
                "the next joint after the ankle",
            ];
            self.assign_limb(leg_roles(leg, side), |_, n, _| RoleSource::Shape(why[n]));
        }
    }

    /// Finds thighs and shins above feet that the caller named.
    fn legs_above(
        &mut self,
        feet: [JointId; 2],
        named: &Candidates<LegJoints>,
    ) -> Result<[LegJoints; 2], RoleError> {
        let [left, right] = feet;
        for (side, foot) in Side::BOTH.into_iter().zip(feet) {
            if let Some((shin, beside)) = self.foot_beside_leg(side, 0..self.skeleton.len())
                && beside == foot
            {
                return Err(self.beside(side, shin, foot));
            }
        }
        let unfit = |joint, what: &str| RoleError::Unfit {
            role: Role::Foot(Side::Right),
            joint: label(self.skeleton, joint),
            what: what.into(),
        };
        if self.skeleton.is_below(left, right) || self.skeleton.is_below(right, left) {
            return Err(unfit(right, "one foot hangs below the other"));
        }
        let Some(top) = self.shape.common(left, right) else {
            return Err(unfit(right, "no joint carries both feet"));
        };
        let mut legs = [LegJoints { thigh: left, shin: left, foot: left, toes: None }; 2];
        for (side, foot) in Side::BOTH.into_iter().zip(feet) {
            // The joints above may have clear names even where the caller had to name the feet.
            let known = named.0[side.index()].iter().find(|l| l.foot == foot).copied();
            let leg = match known {
                Some(leg) => leg,
                None => {
                    self.shape.leg(&self.shape.path(top, foot), Some(foot)).map_err(|e| with_side(e, side))?
                }
            };
            for (role, joint) in [(Role::Thigh(side), leg.thigh), (Role::Shin(side), leg.shin)] {
                let why = match known {
                    Some(_) => self.by_name(joint),
                    None => RoleSource::Shape("along the bones above the given foot"),
                };
                self.assign(role, joint, why);
            }
            self.assign(Role::Foot(side), foot, RoleSource::Given);
            legs[side.index()] = leg;
        }
        Ok(legs)
    }

    fn hips(&mut self, legs: &[LegJoints; 2]) -> Result<JointId, RoleError> {
        let thighs = Side::BOTH.map(|s| (Role::Thigh(s), legs[s.index()].thigh));
        let declared = self.declared("hips");
        let said = [
            self.hints.hips.map(|j| (j, RoleSource::Given)),
            declared.map(|j| (j, RoleSource::Declared("hips".into()))),
        ];
        if let Some((joint, why)) = said.into_iter().flatten().next() {
            for thigh in thighs {
                self.check_chain(&[(Role::Hips, joint), thigh])?;
            }
            self.assign(Role::Hips, joint, why);
            return Ok(joint);
        }
        let Some(common) = self.shape.common(legs[0].thigh, legs[1].thigh) else {
            return Err(RoleError::missing(Role::Hips, "one joint that both legs hang on"));
        };
        // The hips must carry the trunk: some rigs have a joint below the hips for the legs alone.
        let leg_tops = self.shape.path(common, legs[0].thigh).first().copied().into_iter();
        let leg_tops: Vec<_> =
            leg_tops.chain(self.shape.path(common, legs[1].thigh).first().copied()).collect();
        let legs_size: usize = leg_tops.iter().map(|&t| self.skeleton.subtree(t).len()).sum();
        // Besides the legs and the joints down to `common`, a trunk and a head must hang on the hips: at least two joints.
        let carries_trunk =
            |&(above, j): &(usize, JointId)| self.skeleton.subtree(j).len() > legs_size + above + 1 + 1;
        let up = || core::iter::once(common).chain(self.skeleton.ancestors(common)).enumerate();
        let is_hips = |(_, j): &(usize, JointId)| self.names.get(*j).is_some_and(|m| m.part == Part::Hips);
        let named = up().filter(is_hips).find(carries_trunk).or_else(|| up().find(is_hips));
        let (joint, why) = match named {
            Some((_, joint)) => (joint, self.by_name(joint)),
            None => {
                let joint = up().find(carries_trunk).map_or(common, |(_, joint)| joint);
                (joint, RoleSource::Shape("the joint that legs and trunk hang on"))
            }
        };
        self.assign(Role::Hips, joint, why);
        Ok(joint)
    }

    /// Finds the toes below a foot by name.
    fn toes(&mut self, foot: JointId, side: Side) -> Option<JointId> {
        let found = self.names.first_below(self.skeleton, foot, Part::Toes, Some(side));
        match found.as_slice() {
            [] => None,
            &[toes] => {
                self.assign(Role::Toes(side), toes, self.by_name(toes));
                Some(toes)
            }
            many => {
                self.doubts.push(self.shape.ambiguous(Role::Toes(side), many.iter().copied()));
                None
            }
        }
    }

    /// Finds declared arms, or else arms by name; `None` where names are ambiguous. The flag is true for declared arms.
    fn arms_by_name(
        &mut self,
        named: &Candidates<ArmJoints>,
        hips: JointId,
        legs: &[LegJoints; 2],
    ) -> [Option<(ArmJoints, bool)>; 2] {
        Side::BOTH.map(|side| {
            if let [clavicle, Some(upper_arm), Some(forearm), Some(hand)] =
                self.declared_limb(side, ARM_BONES)
            {
                return Some((ArmJoints { clavicle, upper_arm, forearm, hand }, true));
            }
            let on_body = |a: &&ArmJoints| {
                self.skeleton.is_below(a.upper_arm, hips)
                    && !legs.iter().any(|l| self.skeleton.is_below(a.upper_arm, l.thigh))
            };
            let list: Vec<ArmJoints> = named.0[side.index()].iter().filter(on_body).copied().collect();
            match list.as_slice() {
                &[arm] => Some((arm, false)),
                [] => None,
                many => {
                    self.doubts.push(self.shape.ambiguous(Role::Hand(side), many.iter().map(|a| a.hand)));
                    None
                }
            }
        })
    }

    /// Rejects a four-legged figure: where hands are at floor height, they are front feet, and two of four legs are
    /// ambiguous.
    fn refuse_four_feet(
        &self,
        legs: &[LegJoints; 2],
        arms: &[Option<(ArmJoints, bool)>; 2],
    ) -> Result<(), RoleError> {
        for (side, (leg, arm)) in Side::BOTH.into_iter().zip(legs.iter().zip(arms)) {
            let Some((ArmJoints { hand, .. }, false)) = *arm else { continue };
            let [thigh, shin, foot, hand_at] =
                [leg.thigh, leg.shin, leg.foot, hand].map(|j| self.shape.at(j));
            let length = (shin - thigh).length() + (foot - shin).length();
            // A rest pose that does not stand (a BVH's zero pose may lie) says nothing about feet.
            let stands = thigh.y - foot.y >= 0.5 * length;
            if stands && hand_at.y < foot.y + 0.15 * length {
                return Err(self.shape.ambiguous(Role::Foot(side), [leg.foot, hand]));
            }
        }
        Ok(())
    }

    /// Finds the spine, the neck, the head and the arms.
    #[allow(clippy::type_complexity)] // Four results of one search, taken apart at once.
    fn upper_body(
        &mut self,
        hips: JointId,
        legs: &[LegJoints; 2],
        named: [Option<(ArmJoints, bool)>; 2],
    ) -> (Vec<JointId>, Option<JointId>, Option<JointId>, [Option<ArmJoints>; 2]) {
        let limb_tops: Vec<JointId> = legs
            .iter()
            .map(|l| l.thigh)
            .chain(named.iter().flatten().map(|(a, _)| a.clavicle.unwrap_or(a.upper_arm)))
            .collect();
        let head = self.head(hips, &limb_tops);
        let mut arms = named.map(|a| a.map(|(arm, _)| arm));
        match head.as_ref().map(|(head, _)| self.shape.arms(hips, *head, legs)) {
            // Shape finds both arms or none: beside one named arm, the other would be a guess.
            Some(Ok(shaped)) if arms == [None, None] => {
                arms = shaped.map(Some);
                for (side, arm) in Side::BOTH.into_iter().zip(shaped) {
                    let why = "one of the two chains that leave the trunk sideways";
                    self.assign_limb(arm_roles(&arm, side), |_, _, _| RoleSource::Shape(why));
                }
            }
            Some(Err(doubt)) if arms == [None, None] && self.doubts.is_empty() => self.doubts.push(doubt),
            _ => {}
        }
        for side in Side::BOTH {
            if let Some((arm, declared)) = named[side.index()] {
                self.assign_limb(arm_roles(&arm, side), |own, n, joint| match declared {
                    true => RoleSource::Declared(alloc::format!("{side}{}", ARM_BONES[n])),
                    false => own.by_name(joint),
                });
            }
        }

        // The spine ends at the common ancestor of the shoulders, where the neck begins.
        let shoulders = match arms {
            [Some(l), Some(r)] => self.shape.common(l.upper_arm, r.upper_arm),
            _ => None,
        };
        let Some((head, why)) = head else {
            let looked_for = "a joint named head, or one above the hips that is no limb's";
            self.doubts.push(RoleError::missing(Role::Head, looked_for));
            let spine = shoulders.map_or_else(Vec::new, |s| self.shape.path(hips, s));
            self.assign_spine(&spine);
            return (spine, None, None, arms);
        };
        let mut path = self.shape.path(hips, head);
        path.pop();
        let declared = self.declared("neck").filter(|n| path.contains(n));
        let named = path.iter().copied().find(|&j| self.names.get(j).is_some_and(|m| m.part == Part::Neck));
        let above = || {
            let at = path.iter().position(|&j| Some(j) == shoulders)?;
            path.get(at + 1).copied()
        };
        let neck = match (declared, named) {
            (Some(neck), _) => Some((neck, RoleSource::Declared("neck".into()))),
            (None, Some(neck)) => Some((neck, self.by_name(neck))),
            (None, None) => above().map(|neck| (neck, RoleSource::Shape("between shoulders and head"))),
        };
        if let Some((neck, _)) = &neck {
            path.truncate(path.iter().position(|j| j == neck).unwrap_or(path.len()));
        }
        self.assign_spine(&path);
        let neck = neck.map(|(joint, why)| {
            self.assign(Role::Neck, joint, why);
            joint
        });
        self.assign(Role::Head, head, why);
        (path, neck, Some(head), arms)
    }

    fn assign_spine(&mut self, spine: &[JointId]) {
        for (i, &joint) in spine.iter().enumerate() {
            let bone = ["spine", "chest", "upperChest"].into_iter().find(|b| self.declared(b) == Some(joint));
            let why = bone.map_or(RoleSource::Shape("on the way from the hips to the head"), |b| {
                RoleSource::Declared(b.into())
            });
            self.assign(Role::Spine(i), joint, why);
        }
    }

    /// Assigns the joints of a limb. `why` returns the reason from the index in `roles` and the joint.
    fn assign_limb(&mut self, roles: LimbRoles, why: impl Fn(&Self, usize, JointId) -> RoleSource) {
        for (n, (role, joint)) in roles.into_iter().enumerate() {
            if let Some(joint) = joint {
                self.assign(role, joint, why(self, n, joint));
            }
        }
    }

    /// The eye that the file declares below the head.
    fn eye(&mut self, head: Option<JointId>, side: Side) -> Option<JointId> {
        let bone = alloc::format!("{side}Eye");
        let eye =
            self.declared(&bone).filter(|&e| head.is_some_and(|h| h != e && self.skeleton.is_below(e, h)))?;
        self.assign(Role::Eye(side), eye, RoleSource::Declared(bone));
        Some(eye)
    }

    fn head(&mut self, hips: JointId, limbs: &[JointId]) -> Option<(JointId, RoleSource)> {
        if let Some(head) = self.declared("head").filter(|&h| h != hips && self.skeleton.is_below(h, hips)) {
            return Some((head, RoleSource::Declared("head".into())));
        }
        let mut named = self.names.first_below(self.skeleton, hips, Part::Head, None);
        named.retain(|&j| !limbs.iter().any(|&l| self.skeleton.is_below(j, l)));
        match named.as_slice() {
            &[head] => return Some((head, self.by_name(head))),
            [] => {}
            many => {
                self.doubts.push(self.shape.ambiguous(Role::Head, many.iter().copied()));
                return None;
            }
        }
        let top = self.shape.highest(hips, limbs)?;
        Some((top, RoleSource::Shape("the highest joint above the hips")))
    }
}

/// Roles of a limb from its top down, with their joints.
type LimbRoles = [(Role, Option<JointId>); 4];

fn leg_roles(leg: &LegJoints, side: Side) -> LimbRoles {
    [
        (Role::Thigh(side), Some(leg.thigh)),
        (Role::Shin(side), Some(leg.shin)),
        (Role::Foot(side), Some(leg.foot)),
        (Role::Toes(side), leg.toes),
    ]
}

fn arm_roles(arm: &ArmJoints, side: Side) -> LimbRoles {
    [
        (Role::Clavicle(side), arm.clavicle),
        (Role::UpperArm(side), Some(arm.upper_arm)),
        (Role::Forearm(side), Some(arm.forearm)),
        (Role::Hand(side), Some(arm.hand)),
    ]
}

/// Replaces the side of an error: the search by shape does not know sides and reports the left one.
fn with_side(error: RoleError, side: Side) -> RoleError {
    let turn = |role| match role {
        Role::Thigh(_) => Role::Thigh(side),
        Role::Shin(_) => Role::Shin(side),
        Role::Foot(_) => Role::Foot(side),
        other => other,
    };
    match error {
        RoleError::Ambiguous { role, candidates } => RoleError::Ambiguous { role: turn(role), candidates },
        RoleError::Missing { role, looked_for } => RoleError::Missing { role: turn(role), looked_for },
        other => other,
    }
}
