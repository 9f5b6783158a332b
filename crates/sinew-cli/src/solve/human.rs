//! Figure with human joint limits, for `--human`.

use std::sync::Arc;

use sinew::{
    Pose, Skeleton,
    body::{BodyRoles, HumanLimits},
};
use sinew_files::Model;

use crate::failure::Failure;

/// Body with human joint limits.
pub struct HumanFigure {
    pub body: BodyRoles,
    /// The pose at ease, in which every solve starts.
    pub stands: Pose,
}

impl HumanFigure {
    /// Sets human limits on the model's skeleton. A model without two legs is an error.
    pub fn new(model: &Model, skeleton: &mut Arc<Skeleton>) -> Result<Self, Failure> {
        let bind = model.bind_pose();
        let body = BodyRoles::find(&bind, &model.declared_roles)
            .map_err(|e| Failure::Work(format!("--human needs a two-legged figure: {e}")))?;
        let human = HumanLimits::of(&bind, &body);
        human.apply(Arc::make_mut(skeleton)).map_err(Failure::work)?;
        let mut stands = Pose::rest(skeleton);
        human.stand_at_ease(&bind, &body, &mut stands);
        Ok(Self { body, stands })
    }
}
