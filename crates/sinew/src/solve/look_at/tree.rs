//! The joints from the first of the line to the head and the eyes, with their frames, apart from the pose.

use alloc::vec::Vec;
use core::ops::Range;

use glam::{Quat, Vec3, Vec4};

use crate::{JointId, JointTransform, Pose, Skeleton, math, pose::Frame};

/// A joint that is listed, or lies between two that are.
#[derive(Clone, Copy, Debug)]
struct Node {
    joint: JointId,
    /// Index of the parent; none of the nodes for the first.
    parent: usize,
    local: JointTransform,
    frame: Frame,
    /// As [`Pose::extent`] measures it, for each axis.
    extent: Vec4,
}

/// Forward kinematics of a few joints: while a look-at turns the spine, the arms keep their frames. Gives the bits of
/// [`Pose::update`]. Nodes are in the skeleton's order, so that those below one follow it.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    /// The frame and the extent above the first joint.
    base: (Frame, Vec4),
    nodes: Vec<Node>,
}

impl Tree {
    /// The joints of the paths from `first` to each of `ends`, which are `first` or below it.
    pub fn new(skeleton: &Skeleton, first: JointId, ends: impl Iterator<Item = JointId> + Clone) -> Self {
        let (local, frame, extent) = (JointTransform::IDENTITY, Frame::IDENTITY, Vec4::ZERO);
        let on_path = |joint: &JointId| ends.clone().any(|end| skeleton.is_below(end, *joint));
        let mut nodes: Vec<Node> = Vec::new();
        for joint in skeleton.below(first).filter(on_path) {
            let above = skeleton.parent(joint);
            let parent = nodes.iter().position(|n| Some(n.joint) == above).unwrap_or(usize::MAX);
            nodes.push(Node { joint, parent, local, frame, extent });
        }
        Self { base: (frame, extent), nodes }
    }

    /// Index of a joint; 0 for one that is not in the tree.
    pub fn index(&self, joint: JointId) -> usize {
        self.nodes.iter().position(|n| n.joint == joint).unwrap_or(0)
    }

    /// Copies local transforms and frames of an updated pose.
    pub fn read(&mut self, pose: &Pose) {
        for (i, node) in self.nodes.iter_mut().enumerate() {
            let at = pose.frame_and_extent(node.joint);
            if i == 0 {
                self.base = pose
                    .skeleton()
                    .parent(node.joint)
                    .map_or((Frame::IDENTITY, Vec4::ZERO), |p| pose.frame_and_extent(p));
            }
            (node.local, node.frame, node.extent) = (*pose.local(node.joint), at.0, at.1);
        }
    }

    /// Writes the rotation of each node that differs from the pose's, and updates the pose.
    pub fn write(&self, pose: &mut Pose) {
        for node in &self.nodes {
            if pose.local(node.joint).rotation != node.local.rotation {
                pose.set_rotation(node.joint, node.local.rotation);
            }
        }
        pose.update();
    }

    pub fn rotation(&self, i: usize) -> Quat {
        self.nodes[i].local.rotation
    }

    /// Sets a rotation. The frames of the node and of those below it are as before until [`Tree::update`].
    pub fn set_rotation(&mut self, i: usize, rotation: Quat) {
        self.nodes[i].local.rotation = rotation;
    }

    /// Recomputes the frames of a range of nodes, whose parents before the range are up to date.
    pub fn update(&mut self, range: Range<usize>) {
        let (before, nodes) = self.nodes[..range.end].split_at_mut(range.start);
        let first = |parent: usize| before.get(parent).map_or(self.base, |n| (n.frame, n.extent));
        let mut at = usize::MAX;
        let (mut above, mut extent) = self.base;
        for i in 0..nodes.len() {
            let parent = nodes[i].parent;
            if parent != at {
                (above, extent) = match parent.checked_sub(range.start).and_then(|p| nodes.get(p)) {
                    Some(node) => (node.frame, node.extent),
                    None => first(parent),
                };
            }
            let node = &mut nodes[i];
            let (mut frame, off) = above.below(&node.local);
            if off.x > 2.0 * math::UNIT {
                node.local.rotation = math::unit(node.local.rotation).unwrap_or(node.local.rotation);
                frame = above.below(&node.local).0;
            }
            extent = extent.max(frame.at.abs());
            (node.frame, node.extent) = (frame, extent);
            (above, at) = (frame, range.start + i);
        }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn frame(&self, i: usize) -> &Frame {
        &self.nodes[i].frame
    }

    pub fn position(&self, i: usize) -> Vec3 {
        self.nodes[i].frame.at.truncate()
    }

    /// As [`Pose::extent`].
    pub fn extent(&self, i: usize) -> f32 {
        self.nodes[i].extent.truncate().max_element()
    }

    /// The frame of the node's parent.
    pub fn parent_frame(&self, i: usize) -> &Frame {
        self.nodes.get(self.nodes[i].parent).map_or(&self.base.0, |n| &n.frame)
    }
}
