//! The bones of a chain that folds: all its bends, times one factor.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{math, solve::arc};

/// Bend in radians below which a joint counts as straight: modelling noise has 1e-3.
const STRAIGHT: f32 = 1e-3;
/// Bend that a chain without any bend is given at each inner joint, in radians. Only its direction matters.
const GIVEN: f32 = 0.01;
/// Largest bend of a joint, in radians: 150 degrees, at which a calf lies on a thigh.
const MAX_BEND: f32 = 2.6;
/// Share of the way from a straight chain to the given pose, by bend, that is left at the longest reach, and the least bend in
/// radians of the joint that bends most there: no joint passes through straight.
const LEAST: f32 = 0.1;
const MIN_BEND: f32 = 0.2;
/// Number of factors among which the first minimum of the reach is looked for.
const STEPS: usize = 24;

/// A bone, in the frame of the root's parent, in lengths of the chain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bone {
    /// Vector to the end of the bone.
    vector: Vec3,
    /// Unit axis about which the joint at its start bends; zero for a joint that does not.
    axis: Vec3,
    /// Bend at a factor of 1, and the bend that the vector has, in radians.
    bend: f32,
    now: f32,
    /// The same axis in the frame of the joint's own parent.
    own: Vec3,
    /// Index of the joint in the chain.
    pub joint: usize,
}

impl Bone {
    /// The turn of its joint, in the frame of the joint's parent, from the given pose to that at a factor. `None` for a joint
    /// that does not bend.
    pub fn turn(&self, factor: f32) -> Option<Quat> {
        (self.bend != 0.0).then(|| math::axis_angle(self.own, factor * self.bend - self.now))
    }
}

/// Where a chain ends at a factor, in its lengths, and how its distance changes with the factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reach {
    pub factor: f32,
    pub end: Vec3,
    slope: f32,
}

/// Bones with a length, from the root on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bends {
    /// Positions of the joints from the root on, and of the end: what the bones are loaded from.
    pub positions: Vec<Vec3>,
    bones: Vec<Bone>,
    /// Length of the chain, in the units of the positions.
    pub length: f32,
}

impl Bends {
    /// Makes room for a chain.
    pub fn reserve(&mut self, joints: usize) {
        self.positions.clear();
        self.bones.clear();
        self.positions.reserve(joints + 1);
        self.bones.reserve(joints);
    }

    /// The bones.
    pub fn bones(&self) -> &[Bone] {
        &self.bones
    }

    /// Loads the bones between the [`positions`](Self::positions). `above` gives the rotation of the frame
    /// of a joint's parent. A chain that is straight bends as `rest` says, by the axis in the frame of the joint's parent (of any
    /// length) and the bend in radians of each joint; where that is straight too, so that its middle moves towards `front`.
    pub fn load(&mut self, above: &dyn Fn(usize) -> Quat, rest: &dyn Fn(usize) -> (Vec3, f32), front: Vec3) {
        self.bones.clear();
        self.length = self.positions.windows(2).map(|w| arc::distance(w[0], w[1])).sum();
        if !(self.length > 0.0 && self.length.is_finite()) {
            return;
        }
        for (joint, ends) in self.positions.windows(2).enumerate() {
            let vector = (ends[1] - ends[0]) / self.length;
            if vector.length() <= 1e-6 {
                continue;
            }
            let bone = Bone { vector, axis: Vec3::ZERO, bend: 0.0, now: 0.0, own: Vec3::ZERO, joint };
            let before = self.bones.last().map(|b| b.vector.normalize());
            self.bones.push(before.map_or(bone, |before| {
                let cross = before.cross(vector.normalize());
                let bend = math::atan2(cross.length(), before.dot(vector.normalize()));
                if bend <= STRAIGHT {
                    return bone;
                }
                let axis = math::perpendicular(vector.normalize(), cross);
                let own = math::rotate(math::conjugate(above(joint)), axis);
                Bone { axis, bend, now: bend, own, ..bone }
            }));
        }
        if self.bones.iter().all(|b| b.bend == 0.0) {
            self.bend_straight(above, rest, front);
        }
    }

    #[cold]
    fn bend_straight(
        &mut self,
        above: &dyn Fn(usize) -> Quat,
        rest: &dyn Fn(usize) -> (Vec3, f32),
        front: Vec3,
    ) {
        let bent = self.bones.iter().skip(1).any(|b| rest(b.joint).1 > 0.0);
        for bone in self.bones.iter_mut().skip(1) {
            let line = bone.vector.normalize();
            let (axis, bend) = match bent {
                true => rest(bone.joint),
                // Middle joints go to the front where the bones below turn back.
                false => {
                    let axis = math::perpendicular(line, front).cross(line);
                    (math::rotate(math::conjugate(above(bone.joint)), axis), GIVEN)
                }
            };
            if bend > 0.0 {
                let axis = math::perpendicular(line, math::rotate(above(bone.joint), axis));
                let own = math::rotate(math::conjugate(above(bone.joint)), axis);
                *bone = Bone { axis, bend, own, ..*bone };
            }
        }
    }

    /// The turn of the root that takes an end at `at` into the direction `to`: back to the end's given direction, and on by the
    /// shortest arc, so that the folded chain keeps its plane. Neither has to be of any length.
    pub fn aim(&self, at: Vec3, to: Vec3) -> Quat {
        let given = arc::direction(self.bones.iter().map(|b| b.vector).sum());
        let [at, to] = [at, to].map(arc::direction);
        if [given, at, to].contains(&Vec3::ZERO) {
            return Quat::IDENTITY;
        }
        let axis = self.bones.iter().map(|b| b.axis).find(|a| *a != Vec3::ZERO).unwrap_or(Vec3::X);
        math::mul(math::shortest_arc(given, to, axis), math::shortest_arc(at, given, axis))
    }

    /// The axis in its parent's frame and the bend of each joint of the chain that bends.
    pub fn axes(&self) -> impl Iterator<Item = (usize, (Vec3, f32))> + '_ {
        self.bones.iter().filter(|b| b.bend > 0.0).map(|b| (b.joint, (b.own, b.bend)))
    }

    /// The chain with its bends scaled by a factor and its first bone as given.
    fn at(&self, factor: f32) -> Reach {
        let mut frame = Quat::IDENTITY;
        let mut end = Vec3::ZERO;
        // With each joint at p turning at the rate w, the end moves at the sum of w x (end - p).
        let (mut turn, mut moment) = (Vec3::ZERO, Vec3::ZERO);
        for bone in &self.bones {
            if bone.bend != 0.0 {
                let rate = math::rotate(frame, bone.axis) * bone.bend;
                turn += rate;
                moment += rate.cross(end);
                frame = math::mul(frame, math::axis_angle(bone.axis, factor * bone.bend - bone.now));
            }
            end += math::rotate(frame, bone.vector);
        }
        let rate = turn.cross(end) - moment;
        Reach { factor, end, slope: rate.dot(end) / end.length().max(f32::MIN_POSITIVE) }
    }

    /// The chain at the factors between which it folds: from nearly straight until a joint is at its largest bend, or the end
    /// comes no nearer.
    pub fn range(&self) -> [Reach; 2] {
        let most = self.bones.iter().map(|b| b.bend).fold(0.0, f32::max);
        if most == 0.0 {
            return [self.at(1.0); 2];
        }
        let first = self.at(LEAST.max(MIN_BEND / most).min(1.0));
        let last = (MAX_BEND / most).max(first.factor);
        let mut before = first;
        for n in 1..=STEPS {
            let factor = first.factor + (last - first.factor) * n as f32 / STEPS as f32;
            let mut next = self.at(factor);
            // The reach falls until its first minimum, where the slope is zero.
            if next.slope > 0.0 || next.end.length() > before.end.length() {
                for _ in 0..20 {
                    let middle = self.at(0.5 * (before.factor + next.factor));
                    if middle.slope < 0.0 { before = middle } else { next = middle }
                }
                return [first, before];
            }
            before = next;
        }
        [first, before]
    }

    /// The chain folded so far that its end is at a distance from its root, or as near to that as it comes. `range` is that of
    /// [`range`](Self::range).
    pub fn fold(&self, distance: f32, range: &[Reach; 2]) -> Reach {
        let [far, near] = range.map(|r| r.end.length());
        let [mut low, mut high] = range.map(|r| r.factor);
        if distance >= far {
            return range[0];
        }
        if distance <= near {
            return range[1];
        }
        // The reach falls with the square of the factor.
        let mut at = self.at(low + (high - low) * math::sqrt((far - distance) / (far - near)));
        // Newton's method; bisection where it leaves the bracket.
        for _ in 0..24 {
            let gap = at.end.length() - distance;
            if gap.abs() <= 3e-7 * distance {
                break;
            }
            if gap > 0.0 {
                low = at.factor;
            } else {
                high = at.factor;
            }
            let newton = at.factor - gap / at.slope;
            at = self.at(if newton > low && newton < high { newton } else { 0.5 * (low + high) });
        }
        at
    }
}
