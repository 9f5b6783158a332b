//! Which joint plays which role in a body.
//!
//! [`Body::find`] looks for the roles of a two-legged figure in what the file declares, then in the joints' names, then in
//! the shape of the bind pose, and says for each role why its joint was chosen. Where two answers are equally good it
//! gives an error with both, never a guess. [`Human`] says what people's joints may do, for the joints of such a body, and
//! [`Trackers`] leads it by few goals.

mod body;
mod by_name;
mod find;
mod human;
mod names;
mod roles;
mod shape;
mod trackers;

pub use body::{Arm, Assigned, Body, Hints, Leg};
pub use human::Human;
pub use roles::{Role, RoleError, Side, Why};
pub use trackers::Trackers;
