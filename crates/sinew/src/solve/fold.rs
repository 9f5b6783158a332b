//! A chain of any number of bones that folds as it bends at rest.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use crate::{Chain, JointId, JointTransform, Pose, math};

/// Bend in radians below which a joint counts as straight: modelling noise has 1e-3.
const STRAIGHT: f32 = 1e-3;
/// Bend at rest that a chain without any bend is given at each inner joint, in radians. Only its direction matters.
const GIVEN: f32 = 0.01;
/// Largest bend of a joint, in radians: 150 degrees, at which a calf lies on a thigh.
const MAX_BEND: f32 = 2.6;
/// Share of the way from a straight chain to its pose at rest, by bend, that is left at the longest reach, and the least bend in
/// radians of the joint that bends most there: no joint passes through straight.
const LEAST: f32 = 0.1;
const LEAST_BEND: f32 = 0.2;
/// Number of reaches in the table from which a search starts.
const TABLE: usize = 24;

/// Folds and unfolds a chain by one factor on the bends of all its inner joints, so that its end comes to a distance from its
/// root; then turns the root by the shortest arc towards the goal.
///
/// Every joint bends about its own axis at rest, and never to the other side. The result depends on the goal alone, and it moves
/// continuously with it. Maya's spring solver (`ikSpringSolver`) shares bends in the same proportion.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    bones: Vec<Bone>,
    /// Rest transforms of the joints from the root on, without the end's own.
    joints: Vec<(JointId, JointTransform)>,
    /// Factor of the bends, and the reach at it, from the longest to the shortest.
    table: [(f32, f32); TABLE],
}

/// A bone, in the frame of the root's parent with the chain at rest.
#[derive(Clone, Copy, Debug)]
struct Bone {
    /// Vector to the end of the bone.
    vector: Vec3,
    /// Unit axis about which the joint at its start bends; for the first bone, none.
    axis: Vec3,
    /// Bend at rest, in radians.
    bend: f32,
    /// The same axis in the frame of the joint's own parent.
    own: Vec3,
    /// Index of the joint in the chain.
    joint: usize,
}

/// Reach of a chain and its change with the factor.
struct Reach {
    end: Vec3,
    /// Change of the distance of the end per unit of the factor.
    slope: f32,
}

impl Fold {
    /// The chain from its root to the origin of its tip, as it bends in the pose `rest`. A chain that is straight there bends
    /// towards `front`, a direction in model space. `None` for a chain whose bones have no length.
    pub fn new(rest: &Pose, chain: &Chain, front: Vec3) -> Option<Self> {
        let (&tip, joints) = chain.joints().split_last()?;
        let above = rest.parent_model(*joints.first()?).inverse();
        let at = |j: JointId| above.transform_point3(rest.position(j));
        let total: f32 = chain.joints().windows(2).map(|w| at(w[0]).distance(at(w[1]))).sum();
        if !(total > 0.0 && total.is_finite()) {
            return None;
        }
        let mut bones: Vec<Bone> = Vec::new();
        let ends = joints.iter().skip(1).chain([&tip]);
        for (n, (&joint, &end)) in joints.iter().zip(ends).enumerate() {
            let vector = at(end) - at(joint);
            if vector.length() <= 1e-6 * total {
                continue;
            }
            let (mut axis, mut bend) = (Vec3::ZERO, 0.0);
            if let Some(before) = bones.last() {
                let cross = before.vector.normalize().cross(vector.normalize());
                let angle = math::atan2(cross.length(), before.vector.normalize().dot(vector.normalize()));
                if angle > STRAIGHT {
                    (axis, bend) = (cross.normalize_or_zero(), angle);
                }
            }
            bones.push(Bone { vector, axis, bend, own: Vec3::ZERO, joint: n });
        }
        if bones.iter().all(|b| b.bend == 0.0) {
            let line = at(tip) - at(joints[0]);
            let front = math::rotate(
                math::conjugate(math::rotation_of(&rest.parent_model(joints[0]).matrix3)),
                front,
            );
            // Middle joints go to the front where the bones below turn back.
            let axis = math::perpendicular(line.normalize(), front).cross(line).normalize();
            for bone in bones.iter_mut().skip(1) {
                (bone.axis, bone.bend) = (axis, GIVEN);
            }
        }
        for bone in &mut bones {
            let frame = above * rest.parent_model(joints[bone.joint]);
            bone.own = math::rotate(math::conjugate(math::rotation_of(&frame.matrix3)), bone.axis);
        }
        let mut fold = Self {
            bones,
            joints: joints.iter().map(|&j| (j, *rest.local(j))).collect(),
            table: [(1.0, total); TABLE],
        };
        fold.tabulate();
        Some(fold)
    }

    /// Fills the table of reaches, from nearly straight until a joint is at its largest bend or the end comes no nearer.
    fn tabulate(&mut self) {
        let most = self.bones.iter().map(|b| b.bend).fold(0.0, f32::max);
        if most == 0.0 {
            let reach = self.at(1.0).end.length();
            self.table = [(1.0, reach); TABLE];
            return;
        }
        let first = LEAST.max(LEAST_BEND / most).min(1.0);
        let mut last = MAX_BEND / most;
        // The reach falls until its first minimum.
        const STEPS: usize = 200;
        let mut before = f32::INFINITY;
        for n in 0..=STEPS {
            let factor = first + (last - first) * n as f32 / STEPS as f32;
            let reach = self.at(factor).end.length();
            if reach > before {
                last = first + (last - first) * (n as f32 - 1.0) / STEPS as f32;
                break;
            }
            before = reach;
        }
        for n in 0..TABLE {
            // Denser where the chain is long: the reach falls with the square of the factor.
            let s = n as f32 / (TABLE - 1) as f32;
            let factor = first + (last - first) * s * s;
            self.table[n] = (factor, self.at(factor).end.length());
        }
    }

    /// Smallest and largest distance of the end from the root, in the units of the root's parent.
    pub fn range(&self) -> [f32; 2] {
        [self.table[TABLE - 1].1, self.table[0].1]
    }

    /// The chain with its bends scaled by a factor and its first bone as at rest.
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
                frame = math::mul(frame, math::axis_angle(bone.axis, (factor - 1.0) * bone.bend));
            }
            end += math::rotate(frame, bone.vector);
        }
        let rate = turn.cross(end) - moment;
        Reach { end, slope: rate.dot(end) / end.length().max(f32::MIN_POSITIVE) }
    }

    /// Factor of the bends at which the end is at a distance from the root, or as near to that as the chain comes.
    fn factor(&self, distance: f32) -> f32 {
        let next = self.table.partition_point(|&(_, reach)| reach > distance);
        let (Some(&(mut high, near)), Some(&(mut low, far))) =
            (self.table.get(next), next.checked_sub(1).and_then(|n| self.table.get(n)))
        else {
            return self.table[next.min(TABLE - 1)].0;
        };
        let mut factor = low + (high - low) * (far - distance) / (far - near).max(f32::MIN_POSITIVE);
        // Newton's method; bisection where it leaves the bracket.
        for _ in 0..8 {
            let reach = self.at(factor);
            let gap = reach.end.length() - distance;
            if gap > 0.0 {
                low = factor;
            } else {
                high = factor;
            }
            if gap.abs() <= 3e-7 * distance {
                break;
            }
            let newton = factor - gap / reach.slope;
            factor = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        }
        factor
    }

    /// Local rotations of the chain's joints with its end at `goal`, both in the frame of the root's parent. Calls `set` with
    /// each joint and its rotation, from the root on. Returns the distance of the goal from the chain's range.
    pub fn solve(&self, goal: Vec3, mut set: impl FnMut(JointId, Quat)) -> f32 {
        let to = goal - self.joints[0].1.translation;
        let distance = to.length();
        let factor = self.factor(distance);
        let end = self.at(factor).end;
        let fallback = self.bones.iter().map(|b| b.axis).find(|a| *a != Vec3::ZERO).unwrap_or(Vec3::X);
        let arc = math::shortest_arc(end.normalize_or(Vec3::NEG_Y), to.normalize_or(Vec3::NEG_Y), fallback);
        let mut bones = self.bones.iter().peekable();
        for (n, (joint, rest)) in self.joints.iter().enumerate() {
            let mut rotation = rest.rotation;
            if let Some(bone) = bones.next_if(|b| b.joint == n)
                && bone.bend != 0.0
            {
                rotation = math::mul(math::axis_angle(bone.own, (factor - 1.0) * bone.bend), rotation);
            }
            if n == 0 {
                rotation = math::mul(arc, rotation);
            }
            set(*joint, math::normalize(rotation));
        }
        let [near, far] = self.range();
        (distance - far).max(near - distance).max(0.0)
    }
}
