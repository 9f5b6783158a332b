//! Final step for a chain of free joints only, by the maps of [`FreeChain`](crate::solve::FreeChain), and forward
//! kinematics from the root.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{Ask, ChainState, signs};
use crate::{
    Chain, Skeleton, math,
    solve::free::bones::{Bones, Task as Reach},
};

/// State of one joint in the frame of the root's parent, without its scale: in metres.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Node {
    pub place: Vec3,
    /// Orientation after the joint's own rotation.
    pub turned: Quat,
    /// Vector from the parent joint, in the parent's own frame after its rotation.
    pub bone: Vec3,
    /// Rotation part of the joint's scale: see [`signs`].
    pub sign: Quat,
    /// Signed size of the units of the joint's own frame.
    pub unit: f32,
    /// Weight of its position in a pass of FABRIK; 0 where no goal asks for one.
    pub weight: f32,
}

impl Node {
    /// Frame below the joint.
    pub fn frame(&self) -> Quat {
        math::mul(self.turned, self.sign)
    }

    /// Vector to a point at `offset` in the joint's own units, as [`Node::bone`].
    pub fn bone_to(&self, offset: Vec3) -> Vec3 {
        math::rotate(self.sign, offset) * self.unit
    }
}

/// Computes the state of every joint from those above it. `parent` gives the index of a joint's parent, none for the root.
pub(crate) fn walk(links: &ChainState, nodes: &mut [Node], parent: impl Fn(usize) -> Option<usize>) {
    for (n, link) in links.links.iter().enumerate() {
        let above = parent(n).map(|p| nodes[p]);
        let (at, frame, unit) =
            above.map_or((Vec3::ZERO, Quat::IDENTITY, links.unit()), |p| (p.place, p.frame(), p.unit));
        let node = &mut nodes[n];
        node.bone = above.map_or(Vec3::ZERO, |p| p.bone_to(link.offset));
        node.place = at + math::rotate(frame, link.offset) * unit;
        node.turned = math::normalize(math::mul(frame, link.rotation));
        node.sign = signs(link.scale);
        node.unit = link.unit_below(unit);
    }
}

/// Number of bones of a chain.
fn bones(chain: &Chain) -> usize {
    chain.joints().len() - usize::from(chain.tip_offset() == Vec3::ZERO)
}

/// Buffers of the final step.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    nodes: Vec<Node>,
    bones: Bones,
}

impl Maps {
    /// Whether all joints of the chain are free.
    pub fn serve(skeleton: &Skeleton, chain: &Chain) -> bool {
        chain.joints()[..bones(chain)].iter().all(|&j| {
            let limits = skeleton.limits(j);
            limits.turns_freely() && !limits.slides()
        })
    }

    /// Makes room for a chain.
    pub fn reserve(&mut self, chain: &Chain) {
        self.nodes.resize(chain.joints().len(), Node::default());
        if self.bones.count() != bones(chain) {
            self.bones.fit(bones(chain));
        }
    }

    /// Brings the end to the task's position, or as near as the bones reach. Returns false if nothing moves, or if the
    /// task has a rotation too.
    pub fn finish(&mut self, links: &mut ChainState, ask: &Ask) -> bool {
        if ask.turn.is_some() {
            return false;
        }
        self.reserve(links.chain());
        walk(links, &mut self.nodes, |n| n.checked_sub(1));
        let end = |tip: &Node| tip.place + math::rotate(tip.turned, tip.bone_to(links.chain().tip_offset()));
        let end = self.nodes.last().map_or(Vec3::ZERO, end);
        let (goal, _) = links.inside(ask.place, None);
        let Self { nodes, bones } = self;
        if !bones.load(|i| nodes.get(i).map_or(end, |n| n.place).extend(0.0)) {
            return false;
        }
        let found = bones.reach(&Reach {
            root: nodes[0].place,
            goal,
            tolerance: 0.0,
            uncertain: 0.0,
            soft: 0.0,
            stretch: 1.0,
            passes: 64,
            bend: Vec3::ZERO,
        });
        if found.passes == 0 {
            return false;
        }
        bones.arcs(found.normal);
        let mut frame = Quat::IDENTITY;
        for (i, (link, node)) in links.links.iter_mut().zip(nodes.iter()).enumerate() {
            if i < bones.count() {
                let turned = math::mul(found.turn, math::mul(bones.arc(i), node.turned));
                link.rotation = math::normalize(math::mul(math::conjugate(frame), turned));
            }
            frame = math::normalize(math::mul(math::mul(frame, link.rotation), node.sign));
        }
        true
    }
}
