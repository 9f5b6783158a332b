//! Looking around with a body's spine, head and eyes.

use alloc::vec::Vec;

use super::BodyRoles;
use crate::{
    JointId, Pose,
    solve::{LookAt, LookAtError, LookJoint},
};

impl BodyRoles {
    /// A look-at of all joints above the hips up to the head, and of the eyes that were found, with the cones and shares of
    /// [`LookJoint::in_line`] and [`LookAt::of_figure`]. `bind` is the pose of [`BodyRoles::find`].
    ///
    /// # Errors
    ///
    /// [`LookAtError::NoJoint`] if no head was found; else as [`LookAt::of_figure`].
    pub fn look_at(&self, bind: &Pose) -> Result<LookAt, LookAtError> {
        let head = self.head.ok_or(LookAtError::NoJoint)?;
        let skeleton = bind.skeleton();
        let mut line: Vec<JointId> = skeleton.ancestors(head).take_while(|&j| j != self.hips).collect();
        line.reverse();
        line.push(head);
        let eyes: Vec<JointId> =
            self.eyes.into_iter().flatten().filter(|&e| skeleton.is_below(e, head)).collect();
        LookAt::of_figure(bind, &LookJoint::in_line(&line), &eyes, self.front(bind))
    }
}
