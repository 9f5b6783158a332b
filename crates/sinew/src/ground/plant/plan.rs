//! The plan of a whole clip: footholds, and the motion of hips and legs over them.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    ClipAnalysis, Figure, FootFrame, FootholdSearch, PlanError, PlantOptions, Planted,
    contact::ContactLimits,
    lean,
    planner::Planner,
    problem::{self, Solution},
    round::Rounds,
};
use crate::ground::Ground;

/// All decisions of planting a clip, for each sample.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The sampled clip, travel included.
    pub analysis: ClipAnalysis,
    /// Stances of each leg, in order of time.
    pub stances: Vec<Vec<Planted>>,
    /// Foot of each leg at each sample.
    pub feet: Vec<Vec<FootFrame>>,
    /// Displacement of the pelvis at each sample, in metres in model space.
    pub hips: Vec<Vec3>,
    /// Lean of the trunk at each sample, in radians: forwards along the way of the pelvis, 0 or more.
    pub lean: Vec<f32>,
    /// Height of the ground under the pelvis at each sample, in metres.
    pub base: Vec<f32>,
    /// Samples per key.
    pub per_key: usize,
}

impl Plan {
    /// Plans a clip that is already analysed, with contacts from the caller if it has some ([`ClipAnalysis::set_contacts`]).
    ///
    /// # Errors
    ///
    /// An option is outside its range, or there is no ground below the walk.
    pub fn from_analysis(
        figure: &Figure,
        analysis: ClipAnalysis,
        ground: &dyn Ground,
        settings: &PlantOptions,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        let search = FootholdSearch::new(figure, ground, settings);
        let limits = ContactLimits::new(figure, settings);
        let (analysis, rounds) = Rounds::around(analysis, &limits);
        let planner = Planner::new(figure, &analysis, search)?;
        let stances: Vec<_> = (0..figure.legs().len()).map(|foot| planner.stances(foot, &limits)).collect();
        let Solution { hips, feet } = problem::solve(&planner, &stances);
        let lean = lean::lean(&analysis, figure.leg_length(), &stances);
        let base = planner.base;
        let per_key = analysis.per_key;
        Ok(rounds.cut(Self { analysis, stances, feet, hips, lean, base, per_key }))
    }
}

/// Heading of a walk, a horizontal unit vector in model space: the direction of travel, or that of the soles if the pelvis
/// travels less than two lengths of a sole.
pub fn walk_heading(analysis: &ClipAnalysis) -> Vec3 {
    let net = match (analysis.pelvis.first(), analysis.pelvis.last()) {
        (Some(a), Some(b)) => (*b - *a).with_y(0.0),
        _ => Vec3::ZERO,
    };
    let soles = || analysis.feet.iter().filter_map(|f| f.samples.first()).map(|s| s.ball - s.heel);
    let size = soles().map(Vec3::length).fold(0.0, f32::max);
    // Less is a sway, not a walk.
    if net.length() > 2.0 * size {
        return net.normalize();
    }
    soles().map(|s| s.with_y(0.0).normalize_or_zero()).sum::<Vec3>().normalize_or(Vec3::Z)
}
