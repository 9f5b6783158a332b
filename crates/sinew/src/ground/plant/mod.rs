//! Feet planted on the ground.
//!
//! A clip made for a flat floor tells when each heel and ball stands ([`contact`]). Each stance is given a place on the
//! ground ([`Footing`]) where the foot is locked; between stances the foot follows the clip with a displacement that
//! passes smoothly from one footing to the next, and is lifted over what it would go through. The pelvis follows the feet
//! without lag and stays low enough for both to be reached. A [`Plan`] does this with the whole clip in sight.

mod apply;
mod bake;
pub mod beam;
pub mod contact;
mod error;
mod feet;
mod foothold;
mod footing;
pub mod given;
mod hermite;
mod measure;
mod of_body;
mod pelvis;
mod plan;
mod planner;
mod profile;
mod reach;
mod rig;
mod search;
mod settings;
mod sole;
mod stance;
mod stepper;
mod survey;
mod swing;
mod tiptoe;

pub use bake::{Halfway, PlantError, PlantedClip};
pub use contact::Interval;
pub use error::PlanError;
pub use footing::{FootSample, Footing, Twist, Unplanted};
pub use given::{ContactsError, CurveError, IntervalError};
pub use measure::{ContactOutcome, Contacts, Measures, measure, moved};
pub use plan::{Plan, walk_heading};
pub use planner::{FootFrame, Planted};
pub use rig::{Figure, Leg, RigError};
pub use search::Search;
pub use settings::{SettingError, Settings};
pub use sole::Sole;
pub use stance::Stance;
pub use stepper::{LegFloor, StepError, StepReport, Stepper};
pub use survey::{FootCurve, Sampled, Survey};
