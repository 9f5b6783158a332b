//! Which joint plays which role in a body.
//!
//! [`BodyRoles::find`] looks for the roles of a two-legged figure in what the file declares, then in the joints' names, then in
//! the shape of the bind pose, and says for each role why its joint was chosen. Where two answers are equally good it
//! gives an error with both, never a guess. [`HumanLimits`] says what people's joints may do, for the joints of such a body, and
//! [`Trackers`] leads it by few goals.

mod body_roles;
mod by_name;
mod find;
mod human_limits;
mod names;
mod roles;
mod shape;
mod trackers;

pub use body_roles::{ArmJoints, AssignedRole, BodyRoles, LegJoints, RoleHints};
pub use human_limits::HumanLimits;
pub use roles::{Role, RoleError, RoleSource, Side};
pub use trackers::{Trackers, TrackersState};
