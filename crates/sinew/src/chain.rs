//! Chains of joints from a root down to a tip.

use alloc::{string::String, vec::Vec};

use glam::Vec3;
use thiserror::Error;

use crate::{JointId, Pose, Skeleton, math};

/// Errors of chains.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ChainError {
    /// The tip is neither the root nor below it.
    #[error("joint `{tip}` does not hang below joint `{root}`")]
    TipNotBelowRoot {
        /// Name of the root.
        root: String,
        /// Name of the tip.
        tip: String,
    },
    /// The tip offset holds NaN or an infinity.
    #[error("the offset at the tip `{tip}` is not finite: {offset}")]
    Offset {
        /// Name of the tip.
        tip: String,
        /// The offset, in the tip's frame.
        offset: Vec3,
    },
    /// A frame inside the chain is sheared or collapsed, so that turning its joint would change lengths; or it is too
    /// large for f32 to hold the squares of its axes.
    #[error(
        "joint `{joint}` is sheared, flattened or too large (by {shear}): its scale must be uniform inside a chain, \
         and within 1e18 in model space"
    )]
    Sheared {
        /// Name of the joint.
        joint: String,
        /// Deviation of the frame from a uniformly scaled rotation; see [`math::shear`].
        shear: f32,
    },
}

/// The joints from a root (base) down to a tip (end effector), both included.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    joints: Vec<JointId>,
    /// Point of a position goal, in the tip's frame: zero for the joint itself, or a foot's sole, or a tool's point.
    tip_offset: Vec3,
}

impl Chain {
    /// The chain from `root` down to `tip`. Both may be the same joint.
    ///
    /// Returns [`ChainError::TipNotBelowRoot`] if `tip` is not below `root`.
    pub fn new(skeleton: &Skeleton, root: JointId, tip: JointId) -> Result<Self, ChainError> {
        if !skeleton.is_below(tip, root) {
            return Err(ChainError::TipNotBelowRoot {
                root: skeleton.name(root).into(),
                tip: skeleton.name(tip).into(),
            });
        }
        let mut joints: Vec<_> = core::iter::once(tip).chain(skeleton.ancestors(tip)).collect();
        joints.truncate(joints.iter().position(|&j| j == root).map_or(1, |at| at + 1));
        joints.reverse();
        Ok(Self { joints, tip_offset: Vec3::ZERO })
    }

    /// The joints of a tree, parents before children, for state that treats each joint by itself.
    pub(crate) const fn of_tree(joints: Vec<JointId>) -> Self {
        Self { joints, tip_offset: Vec3::ZERO }
    }

    /// A chain without joints, as memory for [`Chain::copy_from`].
    pub(crate) const fn empty() -> Self {
        Self { joints: Vec::new(), tip_offset: Vec3::ZERO }
    }

    /// Copies another chain, reusing this one's memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        self.joints.clear();
        self.joints.extend_from_slice(&other.joints);
        self.tip_offset = other.tip_offset;
    }

    /// Sets the chain's end to a point in the tip's frame, in the tip's local units. The default is the tip joint
    /// itself.
    ///
    /// Returns [`ChainError::Offset`] if `offset` is not finite.
    pub fn with_tip_offset(mut self, skeleton: &Skeleton, offset: Vec3) -> Result<Self, ChainError> {
        if !offset.is_finite() {
            return Err(ChainError::Offset { tip: skeleton.name(self.tip()).into(), offset });
        }
        self.tip_offset = offset;
        Ok(self)
    }

    /// The chain's joints, root first.
    pub fn joints(&self) -> &[JointId] {
        &self.joints
    }

    /// The first joint.
    pub fn root(&self) -> JointId {
        self.joints[0]
    }

    /// The last joint.
    pub fn tip(&self) -> JointId {
        self.joints[self.joints.len() - 1]
    }

    /// The chain's end in the tip's frame; see [`Chain::with_tip_offset`].
    pub fn tip_offset(&self) -> Vec3 {
        self.tip_offset
    }

    /// Position of the chain's end in model space.
    #[inline(always)]
    pub fn end(&self, pose: &Pose) -> Vec3 {
        if self.tip_offset == Vec3::ZERO {
            return pose.position(self.tip());
        }
        self.end_of_offset(pose)
    }

    fn end_of_offset(&self, pose: &Pose) -> Vec3 {
        pose.model(self.tip()).transform_point3(self.tip_offset)
    }

    /// Length of the chain in a pose, in metres of model space: the sum of its bones and of the tip offset.
    pub fn length(&self, pose: &Pose) -> f32 {
        let bones: f32 =
            self.joints.windows(2).map(|w| (pose.position(w[1]) - pose.position(w[0])).length()).sum();
        bones + (self.end(pose) - pose.position(self.tip())).length()
    }

    /// The displacement from the root to the chain's end, and the chain's bend: the displacement from the root to the
    /// mean of the joints in between. Both in model space.
    pub(crate) fn line_and_bend(&self, pose: &Pose) -> (Vec3, Vec3) {
        let root = pose.position(self.root());
        let last = self.joints.len() - usize::from(self.tip_offset == Vec3::ZERO);
        let inner = self.joints.get(1..last).unwrap_or(&[]);
        let sum = pose.sum_of_displacements(root, inner);
        (self.end(pose) - root, sum / inner.len().max(1) as f32)
    }

    /// Checks that the frames of the chain's joints, and of the root's parent, are rotations with uniform scale,
    /// mirrored or not. The tip's own frame is checked only if the chain has a tip offset. The error names the first
    /// joint that fails.
    pub fn check_frames(&self, pose: &Pose) -> Result<(), ChainError> {
        let skeleton = pose.skeleton();
        let inner = if self.tip_offset == Vec3::ZERO {
            &self.joints[..self.joints.len() - 1]
        } else {
            &self.joints[..]
        };
        let parent = skeleton.parent(self.root());
        for &joint in parent.iter().chain(inner) {
            // f32 products of a hundred frames stay within 1e-5; visible shear begins at 1e-3.
            let shear = math::shear(&pose.model(joint).matrix3);
            if shear.is_nan() || shear > 1e-3 {
                return Err(ChainError::Sheared { joint: skeleton.name(joint).into(), shear });
            }
        }
        Ok(())
    }
}
