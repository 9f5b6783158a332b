//! Roles of joints in a human-like body, the limits of its joints, and solving it from few trackers.
//!
//! [`BodyRoles::find`] assigns joints to the roles of a two-legged figure. It takes the roles that the file declares, then
//! the joints' names, then the shape of the bind pose, and reports the reason for each role. Where two joints fit equally
//! well, it returns an error that names both. [`HumanLimits`] gives the joints of such a body human ranges of motion.
//! [`Trackers`] solves it from a few goals, such as those of a headset and two controllers, and [`BodyRoles::look_at`] turns
//! its head and eyes.
//!
//! [`bind_locals`] gives the bind pose of a skinned mesh of any kind.

mod bind;
mod body_roles;
mod by_name;
mod find;
mod human_limits;
mod legs;
mod look;
mod names;
mod roles;
mod shape;
mod trackers;

pub(crate) use names::other_side;

pub use bind::{BindFault, BindProblem, Skin, bind_locals};
pub use body_roles::{ArmJoints, AssignedRole, BodyRoles, LegJoints, RoleHints};
pub use human_limits::HumanLimits;
pub use legs::{CreatureLeg, LegSource, Legs, LegsError};
pub use roles::{Role, RoleError, RoleSource, Side};
pub use trackers::{Trackers, TrackersState};
