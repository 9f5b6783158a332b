//! Local turns beside a pose of a handle's joints, which fade.
//!
//! Let R be the model rotation of a joint in the pose that a handle leaves, and W that in the pose that is wanted. The residual of
//! the joint is e = R^-1 W. A share w of it is the rotation by w of its angle about its own axis, and gives the joint the model
//! rotation R e^w: at w = 1 the wanted pose, exactly, as each joint turns back what those above it turn forth.
//!
//! Where both poses have the joints of a chain at the same positions, and offsets are the same, W and R lead the next joint's offset
//! d to the same place: e d = d. The residual is a roll about the bone. Its axis is fixed in the joint, so that no share of it
//! moves any joint, in later frames either, and the next joints keep their model rotations.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{JointId, JointTransform, Pose, math, solve::partial::partial};

/// Turns in radians below which a residual is rounding: ten times that of a product of rotations in f32 (1e-7).
const NOISE: f32 = 1e-6;

/// The residuals of a handle's joints.
#[derive(Clone, Debug, Default)]
pub(super) struct Residual {
    /// Whether there are any.
    active: bool,
    /// Whether no frame has used them.
    fresh: bool,
    /// Seconds since the first frame that used them, and until they have faded.
    age: f32,
    fade: f32,
    /// One a joint: a turn in its own space, and a displacement of the joint in its parent's.
    joints: Vec<(Quat, Vec3)>,
}

/// The joint's model rotation before and after, up to the frame above the handle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turned {
    before: Quat,
    after: Quat,
}

/// Largest angles in radians of a residual that was applied, and of those that limits refused.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Applied {
    pub turn: f32,
    pub refused: f32,
}

impl Applied {
    /// The larger of both.
    pub fn and(self, other: Self) -> Self {
        Self { turn: self.turn.max(other.turn), refused: self.refused.max(other.refused) }
    }
}

/// The joints of a handle, and for each the index of the nearest one above it.
#[derive(Clone, Copy)]
pub(super) struct Joints<'a> {
    pub ids: &'a [JointId],
    pub above: &'a [Option<usize>],
}

impl Joints<'_> {
    /// The rotation from the nearest joint of the handle above the n-th to its parent. The handle does not change it.
    fn between(&self, pose: &Pose, n: usize) -> Quat {
        let (skeleton, mut rotation) = (pose.skeleton(), Quat::IDENTITY);
        let Some(above) = self.above[n].map(|p| self.ids[p]) else { return rotation };
        let mut at = skeleton.parent(self.ids[n]);
        while let Some(j) = at.filter(|&j| j != above) {
            rotation = math::mul(math::normalize(pose.local(j).rotation), rotation);
            at = skeleton.parent(j);
        }
        rotation
    }
}

impl PartialEq for Residual {
    fn eq(&self, other: &Self) -> bool {
        let of = |r: &Self| (r.fresh, r.age, r.fade);
        self.active == other.active && (!self.active || of(self) == of(other) && self.joints == other.joints)
    }
}

impl Residual {
    /// No residual of a number of joints.
    pub fn none(count: usize) -> Self {
        Self { joints: alloc::vec![(Quat::IDENTITY, Vec3::ZERO); count], ..Self::default() }
    }

    /// Ends it.
    pub fn clear(&mut self) {
        self.active = false;
    }

    pub fn copy_from(&mut self, other: &Self) {
        (self.active, self.fresh) = (other.active, other.fresh);
        (self.age, self.fade) = (other.age, other.fade);
        if other.active {
            self.joints.copy_from_slice(&other.joints);
        }
    }

    /// Sets it to turns of two joints, in full.
    pub fn hold(&mut self, joints: [usize; 2], turns: [Quat; 2]) {
        (self.active, self.age, self.fade) = (turns != [Quat::IDENTITY; 2], 0.0, f32::INFINITY);
        for (n, turn) in joints.into_iter().zip(turns) {
            if let Some(own) = self.joints.get_mut(n) {
                own.0 = math::normalize(turn);
            }
        }
    }

    /// The turn of a joint, in full.
    pub fn turn(&self, n: usize) -> Quat {
        self.joints.get(n).map_or(Quat::IDENTITY, |joint| joint.0)
    }

    /// Starts a frame. Its first has it in full.
    pub fn advance(&mut self, dt: f32) {
        if self.active && !core::mem::take(&mut self.fresh) && self.fade < f32::INFINITY {
            self.age += dt;
            self.active = self.age < self.fade;
        }
    }

    /// Sets it to what leads from the handle's transforms `from` to those `to`, with the joints between as a pose has them. It
    /// fades over a number of seconds, 0 for none.
    pub fn set(
        &mut self,
        joints: Joints,
        [from, to]: [&[JointTransform]; 2],
        pose: &Pose,
        fade: f32,
        scratch: &mut Vec<Turned>,
    ) {
        *self =
            Self { active: false, fresh: true, age: 0.0, fade, joints: core::mem::take(&mut self.joints) };
        if fade == 0.0 {
            return;
        }
        scratch.clear();
        for (n, residual) in self.joints.iter_mut().enumerate() {
            let between = joints.between(pose, n);
            let above = joints.above[n].map(|p| scratch[p]);
            let of = |above: Option<Quat>, local: Quat| {
                let local = math::normalize(local);
                above.map_or(local, |above| math::normalize(math::mul(math::mul(above, between), local)))
            };
            let turned = Turned {
                before: of(above.map(|a| a.before), from[n].rotation),
                after: of(above.map(|a| a.after), to[n].rotation),
            };
            scratch.push(turned);
            let turn = math::mul(math::conjugate(turned.before), turned.after);
            *residual = (turn, to[n].translation - from[n].translation);
            if math::angle_between(turn, Quat::IDENTITY) <= NOISE {
                residual.0 = Quat::IDENTITY;
            }
            self.active |= *residual != (Quat::IDENTITY, Vec3::ZERO);
        }
    }

    /// The share of this frame, by the curve of a handle's fade.
    fn share(&self) -> f32 {
        let t = if self.fade == f32::INFINITY { 0.0 } else { self.age / self.fade };
        1.0 - math::smoothstep(t)
    }

    /// Applies this frame's share to the handle's joints, and updates the pose. A joint whose limits refuse is turned as far as
    /// they let it; one that is outside of its limits without the residual keeps its rotation, unless the residual leads it back.
    pub fn apply(&self, joints: Joints, pose: &mut Pose, scratch: &mut Vec<Turned>) -> Applied {
        let mut applied = Applied::default();
        if !self.active {
            return applied;
        }
        let (skeleton, share) = (pose.skeleton().clone(), self.share());
        scratch.clear();
        for (n, &j) in joints.ids.iter().enumerate() {
            let (turn, shift) = self.joints[n];
            let local = *pose.local(j);
            let between = joints.between(pose, n);
            let own = math::normalize(local.rotation);
            let (mut above, mut before, mut moved) = (Quat::IDENTITY, own, false);
            if let Some(p) = joints.above[n] {
                above = math::mul(scratch[p].after, between);
                before = math::normalize(math::mul(math::mul(scratch[p].before, between), own));
                moved = scratch[p].before != scratch[p].after;
            }
            // Equal bits tell the joints below that nothing above them was turned.
            let mut after = before;
            if moved || turn != Quat::IDENTITY {
                let turn = if share < 1.0 { partial(turn, share) } else { turn };
                let wanted = math::mul(before, turn);
                let wanted = math::normalize(math::mul(math::conjugate(above), wanted));
                let limits = skeleton.limits(j);
                let allowed = match limits.turns_freely() {
                    true => wanted,
                    false if limits.is_within(local.rotation) => limits.clamp(wanted),
                    false if limits.excess(wanted) <= limits.excess(local.rotation) => wanted,
                    false => local.rotation,
                };
                applied.turn = applied.turn.max(math::angle_between(turn, Quat::IDENTITY));
                applied.refused = applied.refused.max(math::angle_between(wanted, allowed));
                pose.set_rotation(j, allowed);
                after = math::normalize(math::mul(above, allowed));
            }
            if shift != Vec3::ZERO {
                let (limits, to) = (skeleton.limits(j), local.translation + shift * share);
                let slides = limits.slides();
                pose.set_translation(j, if slides { limits.clamp_slide(local.translation, to) } else { to });
            }
            scratch.push(Turned { before, after });
        }
        pose.update();
        applied
    }
}
