//! Feet planted on the ground: a whole clip at once ([`Plan`], [`PlantedClip`]), or frame by frame in a game
//! ([`FootPlanter`]).
//!
//! # A whole clip
//!
//! 1. [`ClipAnalysis`] samples the clip at equal steps: positions of hip, knee, ankle, heel, ball and toe tip, and heights
//!    and speeds of heel and ball. The clip's floor is the median height of points in contact. It skips a leading reference pose. A clip that walks on the spot gets a travel velocity,
//!    taken from its standing feet.
//! 2. [`contact`] finds when each heel and ball is in contact, by height and speed with hysteresis. Contacts from the caller
//!    ([`given`]) replace the detected ones, foot by foot. Contacts of one foot that belong together make a [`Stance`].
//!    [`ClipAnalysis::fit_stride`] scales the steps on stairs, if the caller wants it, so that each takes one tread.
//! 3. [`FootholdSearch`] chooses a [`Foothold`] for each stance. One pass of ray casts makes a height profile along the
//!    sole, and every position within the largest shift is rated on it. A foothold over an edge is moved. A stance without a
//!    foothold keeps the reason ([`Unplanted`]).
//! 4. Between stances each foot follows the clip plus a displacement from one foothold to the next. The displacement is a
//!    quintic in time, so position and velocity are continuous at both ends. Obstacles lift the foot or hold it back.
//! 5. A bounded smoother ([`smoother`]) lowers the pelvis until both feet are in reach. It sees the whole clip and has no
//!    lag. Where the pelvis would have to sink to a foot that stands on its ball, the heel lifts further instead.
//! 6. A figure with a [`Trunk`] leans it forwards up steps and slopes; head and upper arms keep their rotations in model
//!    space. Level ground leaves it as it is.
//! 7. [`Plan::bake`] applies the plan key by key: it moves the pelvis, solves the legs in closed form, turns feet and toes,
//!    and leans the trunk. Legs with an influence of 0 keep the bits of the clip. [`Plan::contacts`] measures on the resulting [`PlantedClip`] which contacts hold.
//!
//! # Frame by frame
//!
//! [`FootPlanter`] uses the same contact detection, foothold search and [`Figure::apply`]. [`FootPlanter::sense`] casts
//! rays; [`FootPlanter::step`] plants a frame with locked feet and critically damped springs, integrated exactly over any
//! time step. All decisions fall on a clock of 30 ticks per second at any frame rate. [`FootPlanter::step_with`] takes a
//! sampler and samples the animation at the ticks, so that the same numbers decide at every frame rate. A game that knows
//! the coming animation sets a look-ahead ([`FootPlanter::set_look_ahead`]): feet in the air are then steered to their next
//! footholds.

mod analysis;
mod apply;
mod bake;
mod candidate;
pub mod contact;
mod error;
mod feet;
mod figure;
mod foot_planter;
mod foothold;
pub mod given;
mod hermite;
mod lean;
mod measure;
mod of_body;
mod options;
mod pelvis;
mod plan;
mod planner;
mod profile;
mod reach;
mod search;
pub mod smoother;
mod sole;
mod stance;
mod stride;
mod swing;
mod tiptoe;

pub use analysis::{ClipAnalysis, FootCurve, SampledCurve};
pub use bake::{Halfway, PlantError, PlantedClip};
pub use contact::Interval;
pub use error::PlanError;
pub use figure::{Figure, FigureError, Leg};
pub use foot_planter::{FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState, LegFloor};
pub use foothold::{FootDisplacement, FootSample, Foothold, Unplanted};
pub use given::{ContactCurveError, ContactsError, IntervalError};
pub use lean::Trunk;
pub use measure::{ContactOutcome, Contacts, Measures, measure, moved};
pub use options::{PlantOptionError, PlantOptions};
pub use plan::{Plan, walk_heading};
pub use planner::{FootFrame, Planted};
pub use search::FootholdSearch;
pub use sole::Sole;
pub use stance::Stance;
pub use stride::{Stride, Unscaled};
