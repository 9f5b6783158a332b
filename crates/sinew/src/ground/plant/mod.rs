//! Feet planted on the ground.
//!
//! A clip made for a flat floor tells when each heel and ball stands ([`contact`]). Each stance is given a place on the
//! ground ([`Foothold`]) where the foot is locked; between stances the foot follows the clip with a displacement that
//! passes smoothly from one foothold to the next, and is lifted over what it would go through. The pelvis follows the feet
//! without lag and stays low enough for both to be reached. A [`Plan`] does this with the whole clip in sight.

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
