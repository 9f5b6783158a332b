//! Two-legged bodies: roles of joints, people's ranges, and solving from few trackers.

use std::sync::Arc;

use sinew::{
    Goal, JointId, Pose, Skeleton,
    body::{BodyRoles, HumanLimits, RoleHints, Trackers, TrackersState},
};
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::{
    body::RawEffectors,
    exchange::{OTHER, read_goal, read_options, with_workspace, write, write_report},
    failure::{failure, making, solving},
    pose::RawPose,
    skeleton::RawSkeleton,
};

/// The roles of a bind pose's joints.
#[wasm_bindgen]
pub struct RawBody {
    pub(crate) roles: BodyRoles,
    pub(crate) bind: Pose,
}

impl RawBody {
    pub(crate) fn find(bind: &Pose, hints: &RoleHints<'_>) -> Result<Self, JsValue> {
        Ok(Self { roles: BodyRoles::find_with(bind, hints).map_err(making)?, bind: bind.clone() })
    }

    /// An error where a pose does not have the joints of the body.
    fn check(&self, pose: &RawPose) -> Result<(), JsValue> {
        let (own, given) = (self.bind.skeleton(), pose.pose.skeleton());
        let named = |skeleton: &Arc<Skeleton>, joint| {
            skeleton.joint_at(joint).map(|j| (skeleton.name(j).to_owned(), skeleton.parent(j)))
        };
        let same =
            own.len() == given.len() && (0..own.len()).all(|joint| named(own, joint) == named(given, joint));
        if same { Ok(()) } else { Err(failure("input", "the pose has other joints than the body")) }
    }
}

#[wasm_bindgen]
impl RawBody {
    /// The body of a bind pose. `declared` names the role and gives the joint of each that is known (`hips`, `leftUpperLeg`, as VRM does);
    /// `feet` has both ankles, or nothing.
    #[wasm_bindgen(constructor)]
    pub fn new(
        bind: &mut RawPose,
        declared: Vec<String>,
        joints: &[u32],
        feet: &[u32],
    ) -> Result<Self, JsValue> {
        bind.pull();
        bind.pose.update();
        let skeleton = RawSkeleton { skeleton: bind.pose.skeleton().clone() };
        let joint = |&index: &u32| skeleton.id(index);
        let joints = joints.iter().map(joint).collect::<Result<Vec<_>, _>>()?;
        let declared: Vec<_> = declared.into_iter().zip(joints).collect();
        let mut hints = RoleHints::new().with_declared(&declared);
        if let [left, right] = feet {
            hints = hints.with_feet([joint(left)?, joint(right)?]);
        }
        Self::find(&bind.pose, &hints)
    }

    /// Brings a pose to that in which the roles were found.
    #[wasm_bindgen(js_name = bindPose)]
    pub fn bind_pose(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(self.bind.skeleton())?;
        pose.pose.copy_from(&self.bind);
        pose.push_all();
        Ok(())
    }

    /// Names of the roles that have a joint, such as `left upper arm`.
    pub fn roles(&self) -> Vec<String> {
        self.roles.assigned.iter().map(|a| a.role.to_string()).collect()
    }

    /// The joint of each role.
    pub fn joints(&self) -> Vec<u32> {
        self.roles.assigned.iter().map(|a| a.joint.index() as u32).collect()
    }

    /// Why roles of the spine, neck, head, arms and toes have no joint.
    pub fn doubts(&self) -> Vec<String> {
        self.roles.doubts.iter().map(ToString::to_string).collect()
    }

    /// Leaves the direction that the body faces in the exchange.
    pub fn front(&self) {
        write(OTHER, &self.roles.front(&self.bind).to_array());
    }

    /// The skeleton with people's ranges.
    pub fn limited(&self) -> Result<RawSkeleton, JsValue> {
        let mut skeleton = Skeleton::clone(self.bind.skeleton());
        HumanLimits::of(&self.bind, &self.roles).apply(&mut skeleton).map_err(making)?;
        Ok(RawSkeleton { skeleton: Arc::new(skeleton) })
    }

    /// Brings a pose of a skeleton with these joints to standing at ease.
    #[wasm_bindgen(js_name = standAtEase)]
    pub fn stand_at_ease(&self, pose: &mut RawPose) -> Result<(), JsValue> {
        self.check(pose)?;
        pose.pull();
        HumanLimits::of(&self.bind, &self.roles).stand_at_ease(&self.bind, &self.roles, &mut pose.pose);
        pose.push_all();
        Ok(())
    }
}

/// A body that few trackers move.
#[wasm_bindgen]
pub struct RawTrackers {
    trackers: Trackers,
    state: TrackersState,
    skeleton: Arc<Skeleton>,
    goals: Vec<Goal>,
    joints: Vec<JointId>,
    /// Residuals of position and rotation of each effector after the last solve.
    residuals: Vec<[f32; 2]>,
}

#[wasm_bindgen]
impl RawTrackers {
    /// The effectors are led; the feet stand where they do in the pose.
    #[wasm_bindgen(constructor)]
    pub fn new(body: &RawBody, effectors: &RawEffectors, stands: &mut RawPose) -> Result<Self, JsValue> {
        body.check(stands)?;
        stands.pull();
        stands.pose.update();
        let trackers = Trackers::new(&body.roles, &effectors.effectors, &stands.pose).map_err(making)?;
        let (state, joints) = (trackers.state(&stands.pose), trackers.joints().collect());
        let count = effectors.effectors.len();
        let skeleton = stands.pose.skeleton().clone();
        Ok(Self {
            trackers,
            state,
            skeleton,
            goals: vec![Goal::NONE; count],
            joints,
            residuals: vec![[0.0; 2]; count],
        })
    }

    /// Takes the goal in the exchange for an effector.
    pub fn goal(&mut self, effector: usize) {
        if let Some(goal) = self.goals.get_mut(effector) {
            *goal = read_goal();
        }
    }

    /// Solves for the goals with the options in the exchange, and leaves the report there.
    pub fn solve(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        let Self { trackers, state, goals, .. } = self;
        let (_, options) = read_options();
        let report =
            with_workspace(|workspace| trackers.solve(state, workspace, &mut pose.pose, goals, &options))
                .map_err(solving)?;
        let each = trackers.effector_reports(&pose.pose, goals, &report);
        for (residual, own) in self.residuals.iter_mut().zip(each) {
            *residual = [own.position_residual, own.rotation_residual];
        }
        self.joints.iter().for_each(|&joint| pose.push(joint));
        write_report(&report);
        Ok(())
    }

    /// Makes feet without a tracker stand where they are in the pose.
    pub fn stand(&mut self, pose: &mut RawPose) -> Result<(), JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        pose.pose.update();
        self.trackers.stand(&mut self.state, &pose.pose).map_err(solving)
    }

    /// Horizontal distance of the centre of mass from the feet, in metres.
    #[wasm_bindgen(js_name = outOfBalance)]
    pub fn out_of_balance(&self, pose: &mut RawPose) -> Result<f32, JsValue> {
        pose.check(&self.skeleton)?;
        pose.pull();
        pose.pose.update();
        Ok(self.trackers.out_of_balance(&self.state, &pose.pose))
    }

    /// Leaves the residuals of an effector after the last solve in the exchange.
    pub fn residuals(&self, effector: usize) {
        write(OTHER, self.residuals.get(effector).unwrap_or(&[0.0; 2]));
    }
}
