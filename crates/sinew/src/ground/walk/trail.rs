//! Tails that trail: each bone turns only as it is pulled, and comes back to the pose.

use alloc::vec::Vec;

use glam::{Affine3, Quat};

use super::{Walker, creature::Appendage};
use crate::{
    JointId, Placement, Pose, Skeleton, Workspace, math,
    solve::{FollowOptions, Lead},
};

/// State of a tail from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct TrailState {
    joints: Vec<Trailed>,
    /// Frame of the first joint in the state's own space; `None` before the first frame.
    frame: Option<Affine3>,
}

/// A joint of a tail: local rotations.
#[derive(Clone, Copy, Debug, Default)]
struct Trailed {
    /// The rotation to which it has been pulled.
    pulled: Quat,
    /// The rotation that was written, and the pose's own that it took the place of.
    wrote: Option<[Quat; 2]>,
}

impl TrailState {
    pub fn new(end: &Appendage) -> Self {
        let count = end.tail.as_ref().map_or(0, |tail| tail.chain().joints().len());
        Self { joints: alloc::vec![Trailed::default(); count], frame: None }
    }

    /// Begins anew, with the tail as the pose has it.
    pub fn forget(&mut self) {
        self.frame = None;
    }
}

impl Walker {
    /// All joints that a walk moves: those of the [creature](super::Creature::joints), and with [`trail`](super::WalkOptions::trail)
    /// those of tails.
    pub fn joints(&self, skeleton: &Skeleton) -> Vec<JointId> {
        let mut all = self.creature.joints(skeleton);
        if self.options.trail > 0.0 {
            let tails = self.creature.ends.iter().filter_map(|end| end.tail.as_ref());
            all.extend(tails.flat_map(|tail| tail.chain().joints().iter().copied()));
            all.sort_unstable();
            all.dedup();
        }
        all
    }

    /// Pulls a tail along behind its trunk, from where it was in the last frame, `dt` seconds ago. `placement` is the creature's in
    /// the state's own space. The pose is updated before; the first joint has been lifted.
    pub(super) fn pull(
        &self,
        end: &Appendage,
        state: &mut TrailState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        (placement, influence, dt): (&Placement, f32, f32),
    ) {
        let Some(tail) = &end.tail else { return };
        let trails = self.options.trail > 0.0;
        if !trails && state.frame.is_none() {
            return;
        }
        let joints = tail.chain().joints();
        let skeleton = pose.skeleton().clone();
        for (n, (kept, &joint)) in state.joints.iter_mut().zip(joints).enumerate() {
            let now = pose.local(joint).rotation;
            // A pose that nobody has set since still holds what was written.
            let own = kept.wrote.filter(|[wrote, _]| n > 0 && *wrote == now).map_or(now, |[_, own]| own);
            kept.wrote = Some([own; 2]);
            if !trails {
                pose.set_rotation(joint, own);
            }
        }
        if !trails {
            // Another walker of the creature, whose tails stay with the trunk.
            state.forget();
            pose.update();
            return;
        }
        let (first, given) = (joints[0], *pose.local(joints[0]));
        let parent = pose.parent_model(first);
        let before = state.frame.map(|frame| parent.inverse() * placement.model_from_world() * frame);
        if before.is_none() {
            tail.reserve(workspace);
        }
        if let Some(before) = before.filter(|frame| frame.is_finite()) {
            let back = 1.0 - math::exp(-dt / self.options.trail);
            for (n, (kept, &joint)) in state.joints.iter().zip(joints).enumerate() {
                let was = if n == 0 { math::rotation_of(&before.matrix3) } else { kept.pulled };
                let own = kept.wrote.map_or(was, |[_, own]| own);
                let limits = skeleton.limits(joint);
                pose.set_rotation(joint, limits.blend(limits.clamp(was), own, back));
            }
            pose.set_translation(first, before.translation);
            let place = parent.transform_point3(given.translation);
            let options = FollowOptions::new().with_lead(Lead::Root);
            if tail.solve(workspace, pose, place, &options).is_err() {
                // Frames that are flat or sheared: the tail stays with its trunk.
                for (kept, &joint) in state.joints.iter().zip(joints) {
                    kept.wrote.into_iter().for_each(|[_, own]| pose.set_rotation(joint, own));
                }
            }
            pose.set_translation(first, given.translation);
        }
        pose.update();
        state.frame = Some(placement.world_from_model() * pose.model(first));
        for (kept, &joint) in state.joints.iter_mut().zip(joints) {
            kept.pulled = pose.local(joint).rotation;
            let own = kept.wrote.map_or(kept.pulled, |[_, own]| own);
            let shown = skeleton.limits(joint).blend(own, kept.pulled, influence);
            pose.set_rotation(joint, shown);
            kept.wrote = Some([shown, own]);
        }
        pose.update();
    }
}
