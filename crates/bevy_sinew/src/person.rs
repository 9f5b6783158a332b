//! Human limits for a two-legged body.

use std::sync::Arc;

use sinew::{
    JointTransform, Pose, Skeleton,
    body::{BodyRoles, HumanLimits},
};

/// A character's skeleton with human limits, for solvers of the whole body.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    /// Standing at ease.
    stance: Pose,
    /// The pose that is solved.
    pose: Pose,
    /// Local transforms in which it was modelled.
    bind: Vec<JointTransform>,
}

impl Person {
    /// `bind` is the bind pose of the whole skeleton. Limits that a joint has already stay.
    pub fn new(bind: &Pose, body: &BodyRoles) -> Self {
        let mut skeleton = Skeleton::clone(bind.skeleton());
        let limits = HumanLimits::of(bind, body);
        for &(joint, human) in limits.joints() {
            if *skeleton.joint(joint) == sinew::joint::Joint::FREE {
                // One that the skeleton refuses stays free.
                let _ = skeleton.set_joint(joint, human);
            }
        }
        let mut stance = Pose::rest(&Arc::new(skeleton));
        limits.stand_at_ease(bind, body, &mut stance);
        stance.update();
        Self { pose: stance.clone(), stance, bind: bind.locals().to_vec() }
    }

    pub fn stance(&self) -> &Pose {
        &self.stance
    }

    /// Takes over a pose of the whole skeleton.
    pub fn load(&mut self, pose: &Pose) -> &Pose {
        for joint in pose.skeleton().joints() {
            if self.pose.local(joint) != pose.local(joint) {
                self.pose.set_local(joint, *pose.local(joint));
            }
        }
        self.pose.update();
        &self.pose
    }

    /// Solves a pose of the whole skeleton within the limits.
    pub fn solve<T, E>(
        &mut self,
        pose: &mut Pose,
        solve: impl FnOnce(&mut Pose) -> Result<T, E>,
    ) -> Result<T, E> {
        self.load(pose);
        // Where nothing animates the body, it would stand as it was modelled, with arms aside.
        if self.pose.locals() == self.bind.as_slice() {
            self.pose.copy_from(&self.stance);
        }
        let report = solve(&mut self.pose)?;
        for index in 0..self.pose.locals().len() {
            let Some(joint) = self.pose.skeleton().joint_at(index) else { break };
            if self.pose.local(joint) != pose.local(joint) {
                pose.set_local(joint, *self.pose.local(joint));
            }
        }
        pose.update();
        Ok(report)
    }
}
