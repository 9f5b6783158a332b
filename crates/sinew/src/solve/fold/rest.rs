//! A chain that always folds from its pose at rest: the leg of a creature.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::bends::{Bends, Reach};
use crate::{Chain, JointId, JointTransform, Pose, math};

/// [`Fold`](super::Fold) from a pose at rest, with its bends measured once. The result depends on the goal alone.
#[derive(Clone, Debug)]
pub(crate) struct RestFold {
    bends: Bends,
    range: [Reach; 2],
    /// Rest transforms of the joints from the root on, without the end's own.
    joints: Vec<(JointId, JointTransform)>,
}

impl RestFold {
    /// The chain from its root to the origin of its tip, as it bends in the pose `rest`. A chain that is straight there bends
    /// towards `front`, a direction in model space. `None` for a chain whose bones have no length.
    pub fn new(rest: &Pose, chain: &Chain, front: Vec3) -> Option<Self> {
        let (_, joints) = chain.joints().split_last()?;
        let frame = rest.parent_model(*joints.first()?);
        let (into, turned) = (frame.inverse(), math::conjugate(math::rotation_of(&frame.matrix3)));
        let mut bends = Bends::default();
        bends.positions.extend(chain.joints().iter().map(|&j| into.transform_point3(rest.position(j))));
        bends.load(
            &|n| math::mul(turned, math::rotation_of(&rest.parent_model(joints[n]).matrix3)),
            &|_| (Vec3::ZERO, 0.0),
            math::rotate(turned, front),
        );
        (!bends.bones().is_empty()).then(|| Self {
            range: bends.range(),
            bends,
            joints: joints.iter().map(|&j| (j, *rest.local(j))).collect(),
        })
    }

    /// Smallest and largest distance of the end from the root, in the units of the root's parent.
    pub fn range(&self) -> [f32; 2] {
        let [far, near] = self.range.map(|r| r.end.length() * self.bends.length);
        [near, far]
    }

    /// Local rotations of the chain's joints with its end at `goal`, both in the frame of the root's parent. Calls `set` with
    /// each joint and its rotation, from the root on. Returns the distance of the goal from the chain's range.
    pub fn solve(&self, goal: Vec3, mut set: impl FnMut(JointId, Quat)) -> f32 {
        let to = goal - self.joints[0].1.translation;
        let distance = to.length();
        let at = self.bends.fold(distance / self.bends.length, &self.range);
        let aim = self.bends.aim(at.end, to);
        let mut bones = self.bends.bones().iter().peekable();
        for (n, (joint, rest)) in self.joints.iter().enumerate() {
            let mut rotation = rest.rotation;
            if let Some(turn) = bones.next_if(|b| b.joint == n).and_then(|b| b.turn(at.factor)) {
                rotation = math::mul(turn, rotation);
            }
            if n == 0 {
                rotation = math::mul(aim, rotation);
            }
            set(*joint, math::normalize(rotation));
        }
        let [near, far] = self.range();
        (distance - far).max(near - distance).max(0.0)
    }
}
