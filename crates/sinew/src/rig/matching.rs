//! Switches between forward and inverse kinematics without a jump.

use super::{Rig, RigError, RigFrame, RigGoal, RigState, StartFrom};
use crate::{Pose, Workspace};

/// Choice of what [`Rig::match_goals`] and [`Rig::match_pose`] match, and how long the rest takes to fade.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RigMatch {
    /// Index of the handle; `None` (the default) for all.
    pub handle: Option<usize>,
    /// Seconds until what is left beside the match has faded, by the curve of a handle's fade: 0 to keep nothing, infinity to
    /// keep it until the next match or [reset](RigState::reset).
    pub seconds: f32,
}

impl RigMatch {
    /// All handles.
    pub const fn new(seconds: f32) -> Self {
        Self { handle: None, seconds }
    }

    /// Sets [`handle`](Self::handle).
    #[must_use]
    pub const fn with_handle(self, handle: usize) -> Self {
        Self { handle: Some(handle), ..self }
    }
}

/// A match within a frame.
#[derive(Clone, Copy)]
pub(super) struct Matching {
    pub to: RigMatch,
    /// Whether goals are matched to the pose, and not the pose to the goals.
    pub goals: bool,
}

impl Matching {
    pub fn has(&self, handle: usize) -> bool {
        self.to.handle.is_none_or(|only| only == handle)
    }
}

impl Rig {
    /// Matches goals to the pose that is there (FK to IK): with these goals, [`apply`](Self::apply) leaves the pose that the
    /// handles get as it is, whatever their influences. Call it before a handle is switched on, or its influence keyed up, with the
    /// animation's pose and the placement and duration of the frame that will show it (0 s after that frame was applied).
    ///
    /// `goals` are all of the rig's, in place of the frame's. Those of the matched handles are overwritten as by
    /// [`read`](Self::read): they come with their spaces, influences and kind of pole. Other handles are solved with theirs. What
    /// the goals of a handle cannot show, such as a roll of the upper arm and of the forearm that is not that of their preferred
    /// values, is kept in the state: local turns of its joints, beside its result and before its influence. The next frame has
    /// them in full; they fade over [`RigMatch::seconds`]. A roll about a bone moves no joint, so that the chain's end stays at its
    /// goal as it fades. Limits hold: a turn that they refuse is made as far as they let it
    /// ([`HandleReport::residual_refused`](super::HandleReport::residual_refused)). A handle that
    /// [continues](StartFrom::Last) does so from the pose.
    ///
    /// The pose is as it was when this returns.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply) and [`read`](Self::read); the handle's index is out of range, or the duration is negative or no
    /// number. Pose, state and goals then stay as they were.
    pub fn match_goals(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
        goals: &mut [RigGoal],
        to: &RigMatch,
    ) -> Result<(), RigError> {
        if goals.len() != self.goals {
            return Err(RigError::GoalCount { given: goals.len(), wanted: self.goals });
        }
        let frame = RigFrame { goals, ..*frame };
        self.run_match(state, workspace, pose, &frame, Matching { to: *to, goals: true })?;
        self.restore(state, pose);
        goals.copy_from_slice(&state.matched);
        Ok(())
    }

    /// Matches the pose to what the handles make of it (IK to FK). Call it before a handle is switched off, or its influence keyed
    /// to 0, with the animation's pose and the frame that will show it, with the goals that the handles still have (and 0 s after
    /// that frame was applied). On return the pose is the solved one, whose transforms of the [rigged joints](Self::joints) can be keyed; then pass 0 seconds, as nothing else is
    /// needed.
    ///
    /// Where the animation differs and is not keyed, the state keeps the difference: local turns (and displacements of joints that
    /// move) beside the pose that the matched handles get. With these off, the next frame shows the solved pose; the difference
    /// fades over [`RigMatch::seconds`]. Limits hold as in [`match_goals`](Self::match_goals).
    ///
    /// # Errors
    ///
    /// As [`match_goals`](Self::match_goals).
    pub fn match_pose(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
        to: &RigMatch,
    ) -> Result<(), RigError> {
        self.run_match(state, workspace, pose, frame, Matching { to: *to, goals: false })
    }

    /// Runs a frame, of which only the residuals of the matched handles are kept.
    fn run_match(
        &self,
        state: &mut RigState,
        workspace: &mut Workspace,
        pose: &mut Pose,
        frame: &RigFrame<'_>,
        matching: Matching,
    ) -> Result<(), RigError> {
        let RigMatch { handle, seconds } = matching.to;
        self.check(state, pose, frame)?;
        if let Some(index) = handle.filter(|&n| n >= self.len()) {
            return Err(RigError::NoHandle { index, count: self.len() });
        }
        if !(0.0..=f32::INFINITY).contains(&seconds) {
            return Err(RigError::FadeTime(seconds));
        }
        if matching.goals {
            state.matched.clear();
            state.matched.extend_from_slice(frame.goals);
        }
        self.run(state, workspace, pose, frame, Some(matching))?;
        let memories = state.memory.iter_mut().zip(&mut state.next).enumerate();
        for (n, (memory, next)) in memories.filter(|(n, _)| matching.has(*n)) {
            if matching.goals {
                core::mem::swap(&mut memory.of_goals, &mut next.of_goals);
                if self.handles[n].from == StartFrom::Last {
                    core::mem::swap(&mut memory.held, &mut next.held);
                    memory.holds = next.holds;
                }
            } else {
                core::mem::swap(&mut memory.of_pose, &mut next.of_pose);
            }
        }
        Ok(())
    }
}
