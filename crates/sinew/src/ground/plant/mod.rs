//! Feet planted on the ground: a whole clip at once ([`Plan`], [`PlantedClip`]), or frame by frame in a game ([`FootPlanter`]).
//!
//! # A whole clip
//!
//! 1. [`ClipAnalysis`] samples the clip at equal steps: hip, knee, ankle, heel, ball and tip of the toes, their heights and
//!    speeds. It leaves out a leading reference pose. A clip that walks on the spot gets the travel of its standing feet.
//! 2. [`contact`] finds when each heel and ball stands, by height and speed with hysteresis; [`given`] contacts take the place
//!    of those, foot by foot. Contacts of one foot that belong together make a [`Stance`].
//! 3. [`FootholdSearch`] chooses a [`Foothold`] for each stance: one pass of casts makes a height profile along the sole, on which
//!    every position within the largest shift is judged. A foothold over an edge is moved; a ledge too high, too deep or too
//!    steep is a reason ([`Unplanted`]).
//! 4. Between stances each foot follows the clip with a displacement that passes from foothold to foothold, quintic in time, so
//!    that position and velocity are continuous at both ends. It is lifted or held back over obstacles.
//! 5. A bounded smoother ([`smoother`]), which sees the whole clip and so has no lag, lowers the pelvis to where both feet are in
//!    reach. Where the pelvis would go down to a foot that stands on its ball, the heel lifts further instead.
//! 6. [`PlantedClip`] applies the plan a key at a time: it moves the pelvis, solves both legs in closed form, and turns feet and
//!    toes. [`Contacts`] measures on the result which contacts are held.
//!
//! # Frame by frame
//!
//! [`FootPlanter`] uses the same contacts, foothold search and [`Figure::apply`]. `FootPlanter::sense` casts, `FootPlanter::step`
//! plants a frame: locked feet, and critically damped springs that are integrated exactly over any time step. All decisions
//! fall on a clock of thirty ticks a second, whatever the frame rate. `FootPlanter::step_with` takes a sampler and asks it for
//! the animation at the ticks, so that all frame rates decide by the same numbers. A game that knows its clip gives ticks ahead
//! (`set_look_ahead`): feet in the air are then steered to where they will stand.

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
pub use measure::{ContactOutcome, Contacts, Measures, measure, moved};
pub use options::{PlantOptionError, PlantOptions};
pub use plan::{Plan, walk_heading};
pub use planner::{FootFrame, Planted};
pub use search::FootholdSearch;
pub use sole::Sole;
pub use stance::Stance;
