//! Legs, arms and head from the shape of the bind pose, for files without useful names.

use alloc::vec::Vec;

use glam::Vec3;

use crate::{JointId, Pose, Skeleton};

use super::{ArmJoints, LegJoints, Role, RoleError, Side, roles::label};

/// Maximum height of a leg's end above the floor, as a fraction of the figure's height. Ankles of figures without toe joints
/// are at 5 to 8 %, hanging hands above 30 %.
const FLOOR_BAND: f32 = 0.15;
/// Minimum length of a leg, as a fraction of the figure's height. The shortest legs of cartoon figures have 30 %.
const SHORTEST_LEG: f32 = 0.25;
/// Direction of the thigh, the first bone of the leg that runs down: cosine of its maximum angle from straight down, 45
/// degrees.
const DOWNWARD: f32 = 0.7;
/// Maximum height of the ankle, as a fraction of the leg's drop. People have 8 %, cartoon figures with short shins up to 25
/// %.
const ANKLE_HEIGHT: f32 = 0.3;
/// Cosine of the minimum bend at the ankle, 20 degrees: the leg bends there into the foot, while twist joints bend by less.
const ANKLE_BEND: f32 = 0.94;
/// Margin within which two joints fit equally well as the knee, as a fraction of the leg's length.
const KNEE_MARGIN: f32 = 0.08;
/// Maximum difference between left and right, as a fraction of their length. Scanned and captured figures differ by up to 4
/// %.
const MIRROR: f32 = 0.15;

/// Positions of the joints in the bind pose, and the searches among them.
pub(super) struct Shape<'a> {
    skeleton: &'a Skeleton,
    /// Positions in model space, in metres.
    positions: Vec<Vec3>,
}

impl<'a> Shape<'a> {
    pub(super) fn new(bind: &'a Pose) -> Self {
        // An updated pose saves a walk to the root per joint.
        let mut updated = bind.clone();
        updated.update();
        let positions = updated.skeleton().joints().map(|j| updated.position(j)).collect();
        Self { skeleton: bind.skeleton(), positions }
    }

    pub(super) fn at(&self, joint: JointId) -> Vec3 {
        self.positions.get(joint.index()).copied().unwrap_or(Vec3::ZERO)
    }

    /// The error for joints that fit a role equally well.
    pub(super) fn ambiguous(&self, role: Role, joints: impl IntoIterator<Item = JointId>) -> RoleError {
        let candidates = joints.into_iter().map(|j| label(self.skeleton, j)).collect();
        RoleError::Ambiguous { role, candidates }
    }

    fn bone(&self, a: JointId, b: JointId) -> f32 {
        (self.at(b) - self.at(a)).length()
    }

    /// Joints on the path from `top` (excluded) down to `tip`.
    pub(super) fn path(&self, top: JointId, tip: JointId) -> Vec<JointId> {
        let up = core::iter::once(tip).chain(self.skeleton.ancestors(tip));
        let mut path: Vec<_> = up.take_while(|&j| j != top).collect();
        path.reverse();
        path
    }

    /// The lowest joint that is above both, or is one of them.
    pub(super) fn common(&self, a: JointId, b: JointId) -> Option<JointId> {
        core::iter::once(a).chain(self.skeleton.ancestors(a)).find(|&j| self.skeleton.is_below(b, j))
    }

    /// Finds both legs among the joints in `range`: the only two chains that reach the floor, which must mirror each other.
    pub(super) fn legs(&self, range: core::ops::Range<usize>) -> Result<[LegJoints; 2], RoleError> {
        let ends = self.standing_ends(range);
        let &[a, b] = ends.as_slice() else {
            if ends.len() < 2 {
                let wanted = "names such as LeftUpLeg, thigh.L, calf_l, or two mirrored chains of three joints that reach \
                              the floor";
                return Err(RoleError::missing(Role::Thigh(Side::Left), wanted));
            }
            return Err(self.ambiguous(Role::Foot(Side::Left), ends));
        };
        let Some(top) = self.common(a, b) else {
            return Err(RoleError::missing(Role::Hips, "one joint that both legs hang on"));
        };
        let legs = [self.leg(&self.path(top, a), None)?, self.leg(&self.path(top, b), None)?];
        self.check_mirrored(&legs)?;
        self.order(legs)
    }

    /// Ends of all chains of three or more joints that reach the floor, and are long enough for a leg.
    fn standing_ends(&self, range: core::ops::Range<usize>) -> Vec<JointId> {
        let joint = |i: usize| self.skeleton.joint_at(i);
        let parent =
            |i: usize| self.skeleton.parent(joint(i)?).map(JointId::index).filter(|p| range.contains(p));
        let is_end = |j: JointId| self.skeleton.subtree(j).len() == 1;
        // Nodes of meshes or cameras hang on no bone of any length, and do not count.
        let mut bones = alloc::vec![0u32; range.len()];
        let (mut floor, mut top) = (f32::INFINITY, f32::NEG_INFINITY);
        for i in range.clone() {
            let (Some(j), Some(p)) = (joint(i), parent(i)) else { continue };
            let (Some(above), Some(up)) = (bones.get(p - range.start).copied(), joint(p)) else { continue };
            let here = above + u32::from(self.bone(up, j) > 0.0);
            if let Some(slot) = bones.get_mut(i - range.start) {
                *slot = here;
            }
            if here >= 2 {
                top = top.max(self.at(j).y);
                floor = floor.min(if is_end(j) { self.at(j).y } else { f32::INFINITY });
            }
        }
        let height = top - floor;
        if !(height > 0.0 && height.is_finite()) {
            return Vec::new();
        }

        #[derive(Clone, Copy)]
        struct Stub {
            end: JointId,
            joints: u32,
            length: f32,
            whole: bool,
        }
        let mut stubs: Vec<Option<Stub>> = alloc::vec![None; range.len()];
        let mut ends = Vec::new();
        // Children follow their parents, so in reverse each joint's chain is complete before its parent's.
        for i in range.clone().rev() {
            let Some(j) = joint(i) else { continue };
            let at = i - range.start;
            if is_end(j) && self.at(j).y <= floor + FLOOR_BAND * height {
                stubs[at] = Some(Stub { end: j, joints: 1, length: 0.0, whole: false });
            }
            let (Some(mut stub), Some(p)) = (stubs[at], parent(i)) else { continue };
            if !stub.whole && stub.joints >= 3 && stub.length >= SHORTEST_LEG * height {
                stub.whole = true;
                ends.push(stub.end);
            }
            let bone = joint(p).map_or(0.0, |up| self.bone(up, j));
            stub.joints += u32::from(bone > 0.0);
            stub.length += bone;
            let slot = &mut stubs[p - range.start];
            let better = slot.is_none_or(|s| (stub.whole, stub.length) > (s.whole, s.length));
            if better {
                *slot = Some(stub);
            }
        }
        ends.reverse();
        ends
    }

    /// The thigh, shin, foot and toes on a path of joints from below the hips down to the leg's end. `foot` is the foot if
    /// it is known. Errors name the left side, as sides are not known yet.
    pub(super) fn leg(&self, path: &[JointId], foot: Option<JointId>) -> Result<LegJoints, RoleError> {
        let side = Side::Left;
        let downward = |w: &[JointId]| {
            let bone = self.at(w[1]) - self.at(w[0]);
            bone.length() > 0.0 && -bone.y >= DOWNWARD * bone.length()
        };
        let Some(first) = path.windows(2).position(downward) else {
            return Err(RoleError::missing(Role::Thigh(side), "a bone that runs down from beside the hips"));
        };
        let path = &path[first..];
        let (thigh, end) = (path[0], path[path.len() - 1]);
        let drop = self.at(thigh).y - self.at(end).y;
        let ankle = match foot {
            Some(foot) => path.iter().position(|&j| j == foot),
            None => {
                let low = |j: JointId| self.at(j).y - self.at(end).y <= ANKLE_HEIGHT * drop;
                let lowest: Vec<usize> = (2..path.len()).filter(|&i| low(path[i])).collect();
                let bends = |&i: &usize| {
                    let Some(&next) = path.get(i + 1) else { return false };
                    let before = (self.at(path[i]) - self.at(path[i - 1])).normalize_or_zero();
                    before.dot((self.at(next) - self.at(path[i])).normalize_or_zero()) < ANKLE_BEND
                };
                match (lowest.iter().find(|i| bends(i)), lowest.as_slice()) {
                    (Some(&i), _) | (None, &[i]) => Some(i),
                    (None, []) => None,
                    (None, many) => {
                        return Err(self.ambiguous(Role::Foot(side), many.iter().map(|&i| path[i])));
                    }
                }
            }
        };
        let Some(ankle) = ankle.filter(|&i| i >= 2) else {
            return Err(RoleError::missing(Role::Shin(side), "a joint between the thigh and the foot"));
        };
        let foot = path[ankle];
        let mut along: Vec<f32> = alloc::vec![0.0];
        for w in path[..=ankle].windows(2) {
            along.push(along.last().copied().unwrap_or(0.0) + self.bone(w[0], w[1]));
        }
        let length = along[ankle];
        let mut knees: Vec<(f32, JointId)> =
            (1..ankle).map(|i| ((along[i] / length - 0.5).abs(), path[i])).collect();
        knees.sort_by(|a, b| a.0.total_cmp(&b.0));
        let shin = match knees.as_slice() {
            [best, second, ..] if second.0 - best.0 < KNEE_MARGIN => {
                return Err(self.ambiguous(Role::Shin(side), [best.1, second.1]));
            }
            // A knee is not in the outer quarters of a leg.
            [best, ..] if best.0 <= 0.25 => best.1,
            _ => {
                let looked_for = "a joint near half-way between the thigh and the foot";
                return Err(RoleError::missing(Role::Shin(side), looked_for));
            }
        };
        let toes = path.get(ankle + 1).copied().filter(|&t| self.bone(foot, t) > 0.02 * length);
        Ok(LegJoints { thigh, shin, foot, toes })
    }

    fn check_mirrored(&self, [a, b]: &[LegJoints; 2]) -> Result<(), RoleError> {
        let lengths = |l: &LegJoints| [self.bone(l.thigh, l.shin), self.bone(l.shin, l.foot)];
        let (la, lb) = (lengths(a), lengths(b));
        let leg = la[0] + la[1];
        let alike = (0..2).all(|i| (la[i] - lb[i]).abs() <= MIRROR * la[i].max(lb[i]));
        let level = (self.at(a.foot).y - self.at(b.foot).y).abs() <= MIRROR * leg
            && (self.at(a.thigh).y - self.at(b.thigh).y).abs() <= MIRROR * leg;
        let drop = self.at(a.thigh).y - self.at(a.foot).y;
        let across = self.across(a, b);
        // Legs are side by side and hang down; in a crouching rest pose the drop is still half the length.
        let beside = across.is_some_and(|u| (self.at(a.foot) - self.at(b.foot)).dot(u) > 0.0);
        if alike && level && beside && drop >= 0.5 * leg {
            return Ok(());
        }
        let looked_for = "two mirrored chains of three joints that hang from one joint down to the floor";
        Err(RoleError::missing(Role::Thigh(Side::Left), looked_for))
    }

    /// Horizontal unit vector from the second leg's thigh to the first's; `None` where they coincide.
    fn across(&self, a: &LegJoints, b: &LegJoints) -> Option<Vec3> {
        let d = self.at(a.thigh) - self.at(b.thigh);
        Vec3::new(d.x, 0.0, d.z).try_normalize()
    }

    /// Orders the legs left first. Left is relative to the direction of the toes, or else of the knees.
    fn order(&self, [a, b]: [LegJoints; 2]) -> Result<[LegJoints; 2], RoleError> {
        let level = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let toes = |l: &LegJoints| l.toes.map_or(Vec3::ZERO, |t| level(self.at(t) - self.at(l.foot)));
        let knees = |l: &LegJoints| level(self.at(l.shin) - 0.5 * (self.at(l.thigh) + self.at(l.foot)));
        let leg = self.bone(a.thigh, a.shin) + self.bone(a.shin, a.foot);
        let across = self.across(&a, &b).unwrap_or(Vec3::ZERO);
        // Straight legs are bent by noise; a modelled knee stands out by more than a hundredth of the leg.
        for forward in [toes(&a) + toes(&b), knees(&a) + knees(&b)] {
            // Left of forward is up x forward.
            let side = across.dot(Vec3::Y.cross(forward.normalize_or_zero()));
            if forward.length() > 0.02 * leg && side.abs() > 0.7 {
                return Ok(if side > 0.0 { [a, b] } else { [b, a] });
            }
        }
        Err(self.ambiguous(Role::Foot(Side::Left), [a.foot, b.foot]))
    }

    /// The highest joint below `hips` outside the subtrees of `limbs`; `None` unless it is higher than `hips`.
    pub(super) fn highest(&self, hips: JointId, limbs: &[JointId]) -> Option<JointId> {
        let free = |j: &JointId| !limbs.iter().any(|&l| self.skeleton.is_below(*j, l));
        let top = self
            .skeleton
            .below(hips)
            .skip(1)
            .filter(free)
            .max_by(|&a, &b| self.at(a).y.total_cmp(&self.at(b).y))?;
        (self.at(top).y > self.at(hips).y).then_some(top)
    }

    /// Finds both arms: the only chain of three joints on each side that leaves the path from the hips to the head.
    pub(super) fn arms(
        &self,
        hips: JointId,
        head: JointId,
        legs: &[LegJoints; 2],
    ) -> Result<[ArmJoints; 2], RoleError> {
        let spine: Vec<_> = core::iter::once(hips).chain(self.path(hips, head)).collect();
        let left = self.across(&legs[0], &legs[1]).unwrap_or(Vec3::X);
        let height = self.at(head).y - self.at(legs[0].foot).y;
        let mut found: [Vec<ArmJoints>; 2] = [Vec::new(), Vec::new()];
        for &from in spine.iter().take(spine.len().saturating_sub(1)) {
            for child in self.skeleton.children(from) {
                let off = !self.skeleton.is_below(head, child)
                    && !legs.iter().any(|l| self.skeleton.is_below(l.thigh, child));
                if !off {
                    continue;
                }
                let Some(arm) = self.arm(child).filter(|a| self.bone(a.upper_arm, a.forearm) > 0.05 * height)
                else {
                    continue;
                };
                let aside = (self.at(arm.upper_arm) - self.at(hips)).dot(left);
                if aside.abs() > 0.02 * height {
                    found[usize::from(aside < 0.0)].push(arm);
                }
            }
        }
        match [found[0].as_slice(), found[1].as_slice()] {
            [&[l], &[r]] => Ok([l, r]),
            [l, r] if l.len() > 1 || r.len() > 1 => {
                let side = if l.len() > 1 { Side::Left } else { Side::Right };
                let list = found[side.index()].iter().map(|a| a.upper_arm);
                Err(self.ambiguous(Role::UpperArm(side), list))
            }
            [l, _] => {
                let side = if l.is_empty() { Side::Left } else { Side::Right };
                let looked_for =
                    "names such as LeftArm, upper_arm.L, or a chain of three joints beside the spine";
                Err(RoleError::missing(Role::UpperArm(side), looked_for))
            }
        }
    }

    /// The arm on the longest path below `start`: two consecutive bones that are long and similar. The bones before it are
    /// the collar bone and shorter than the arm; this rejects fingers, which have the whole arm before them. `None` where no
    /// two bones fit, or where two pairs fit equally well.
    fn arm(&self, start: JointId) -> Option<ArmJoints> {
        let path = self.longest_path(start);
        let mut choices: Vec<(f32, usize)> = Vec::new();
        let mut before = 0.0;
        for (k, w) in path.windows(3).enumerate() {
            let (upper, fore) = (self.bone(w[0], w[1]), self.bone(w[1], w[2]));
            // Human forearms are 0.8 of upper arms; one half covers cartoon figures.
            if upper.min(fore) >= 0.5 * upper.max(fore) && fore > 0.0 && before <= upper + fore {
                choices.push((upper + fore, k));
            }
            before += upper;
        }
        choices.sort_by(|a, b| b.0.total_cmp(&a.0));
        let k = match choices.as_slice() {
            [best, second, ..] if second.0 > 0.85 * best.0 => return None,
            [best, ..] => best.1,
            [] => return None,
        };
        let clavicle = k.checked_sub(1).and_then(|c| path.get(c)).copied();
        Some(ArmJoints { clavicle, upper_arm: path[k], forearm: path[k + 1], hand: path[k + 2] })
    }

    /// Path from `start` to the end that is furthest along the bones.
    fn longest_path(&self, start: JointId) -> Vec<JointId> {
        let range = self.skeleton.subtree(start);
        let mut along = alloc::vec![0.0f32; range.len()];
        let mut best = (0.0, start);
        for joint in self.skeleton.below(start).skip(1) {
            let Some(parent) = self.skeleton.parent(joint) else { continue };
            let here = along[parent.index() - range.start] + self.bone(parent, joint);
            along[joint.index() - range.start] = here;
            if here > best.0 {
                best = (here, joint);
            }
        }
        let mut path = self.path(start, best.1);
        path.insert(0, start);
        if best.1 == start {
            path.truncate(1);
        }
        path
    }
}
