//! Feet planted on the ground: a whole clip at once ([`plant_clip`]), or frame by frame in a game ([`FootPlanter`]).
//!
//! # A whole clip
//!
//! [`plant_clip`] takes all steps, and its [`PlantReport`] says what came of it:
//!
//! 1. [`ClipAnalysis`] samples the clip at equal steps: positions of hip, knee, ankle, heel, ball and toe tip, and heights
//!    and speeds of heel and ball. It skips a leading reference pose. The clip's floor is the median height of points in
//!    contact. A clip that walks on the spot gets a travel velocity, taken from its standing feet.
//! 2. [`contact`] finds when each heel and ball is in contact, by height and speed. Contacts from the caller ([`given`])
//!    replace the detected ones, foot by foot. Contacts of one foot that belong together make a [`Stance`].
//!    [`ClipAnalysis::fit_stride`] scales the steps on stairs, if the caller wants it, so that each takes one tread.
//! 3. [`FootholdSearch`] chooses a [`Foothold`] for each stance. One pass of ray casts makes a height profile along the
//!    sole, and every position within the largest shift is rated on it. A foothold over an edge is moved. A stance without a
//!    foothold keeps the reason ([`Unplanted`]).
//! 4. One least-squares problem over the whole clip gives the displacement of the pelvis and the angles of all legs. They
//!    stay near the clip, in value and in acceleration; heels and balls in contact are held on their places; soles keep off
//!    the ground; and joints stay within people's ranges or the clip's own. Where an ankle ends, the heel lifts over the
//!    ball, and where a leg ends, the contact is given up. A clip on the spot is planned with a round more before and after
//!    it, so that it closes.
//! 5. A figure with a [`Trunk`] leans it forwards up steps and slopes; head and upper arms keep their rotations in model
//!    space. Level ground leaves it as it is.
//! 6. [`Plan::bake`] applies the plan key by key: it moves the pelvis, solves the legs in closed form, turns feet and toes,
//!    and leans the trunk. Legs with an influence of 0 keep the bits of the clip. [`Plan::contacts`] measures on the
//!    resulting [`PlantedClip`] which contacts hold. Where straight lines between keys would displace feet, all is done again
//!    with twice the keys.
//!
//! # Frame by frame
//!
//! [`FootPlanter`] uses the same contact detection, foothold search and [`Figure::apply`]. [`FootPlanter::sense`] casts
//! rays; [`FootPlanter::step`] plants a frame with locked feet and critically damped springs, integrated exactly over any
//! time step. All decisions fall on a clock of 30 ticks per second at any frame rate. [`FootPlanter::step_with`] takes a
//! sampler and samples the animation at the ticks, so that the same numbers decide at every frame rate. A game that knows
//! the coming animation sets a look-ahead ([`FootPlanter::set_look_ahead`]): feet in the air are then steered to their next
//! footholds. While a figure jumps or falls, [`FootPlanterState::set_grounded`] leaves its animation alone. On moving
//! ground everything runs in the frame of a [`Platform`](crate::ground::Platform).
//!
//! The two solve one task with different knowledge. A game neither knows the whole clip nor has the milliseconds that the
//! least-squares problem takes, so the frame's terms are taken one after the other, each exactly: the lock holds the ball
//! (the problem's term of contacts), springs stand for accelerations and distances from the clip, the pelvis sinks as far as
//! a leg's reach asks (ranges), and the course of a foot in the air passes over what the casts have found (depths). What
//! terms that compete would share out, the frame gives to the first of them.

mod analysis;
mod apply;
mod bake;
mod candidate;
mod clip;
pub mod contact;
mod error;
mod figure;
pub(in crate::ground) mod foot_planter;
mod foothold;
pub mod given;
mod hermite;
mod lean;
mod measure;
mod of_body;
mod options;
mod plan;
mod planner;
mod problem;
pub(in crate::ground) mod profile;
mod reach;
mod report;
mod round;
mod search;
mod sole;
mod stance;
mod stride;

pub use analysis::{ClipAnalysis, FootCurve, SampledCurve};
pub use bake::{Halfway, PlantedClip};
pub use clip::{Before, ClipOptions, Planting, plant_clip};
pub use contact::Interval;
pub use error::{PlanError, PlantError};
pub use figure::{Figure, FigureError, Leg};
pub use foot_planter::{
    FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState, FootState, LegFloor,
};
pub use foothold::{FootDisplacement, FootSample, Foothold, Unplanted};
pub use given::{ContactCurveError, ContactsError, IntervalError};
pub use lean::Trunk;
pub use measure::{ContactOutcome, Contacts, Measures, Peak, measure};
pub use options::{PlantOptionError, PlantOptions};
pub use plan::{Plan, walk_heading};
pub use planner::{FootFrame, Planted};
pub use report::PlantReport;
pub use search::FootholdSearch;
pub use sole::Sole;
pub use stance::Stance;
pub use stride::{Stride, Unscaled};
