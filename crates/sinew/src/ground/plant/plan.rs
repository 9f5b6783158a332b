//! The whole clip at once: where each foot stands, how it swings from one foothold to the next, and how the pelvis goes.

use alloc::{string::String, vec::Vec};

use glam::Vec3;

use super::{
    ClipAnalysis, Figure, FootFrame, FootholdSearch, PlanError, PlantOptions, Planted,
    contact::ContactLimits,
    foothold::heading,
    pelvis::Reach,
    planner::{Planner, standing},
    swing::Swing,
};
use crate::{Pose, ground::Ground, math, motion::Clip};

/// Everything that planting decided, a sample at a time.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The clip with its travel.
    pub analysis: ClipAnalysis,
    /// Each leg's stances.
    pub stances: Vec<Vec<Planted>>,
    /// Each leg's foot at each sample.
    pub feet: Vec<Vec<FootFrame>>,
    /// How far the pelvis is raised at each sample, in metres.
    pub pelvis: Vec<f32>,
    /// Height of the ground under the body at each sample.
    pub base: Vec<f32>,
    /// Samples a key.
    pub per_key: usize,
}

/// Samples a second, at least, at which contacts are looked for and swings are cleared.
const SAMPLE_RATE: f32 = 60.0;

impl Plan {
    /// Plans `clip` for `figure` on `ground`, with `rate` keys a second. `repeat` is the number of rounds of a clip that
    /// walks on the spot (by default, enough for about four metres).
    pub fn new(
        figure: &Figure,
        rest: &Pose,
        clip: &Clip,
        ground: &dyn Ground,
        settings: &PlantOptions,
        rate: f32,
        repeat: Option<u32>,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        if !(1.0..=1000.0).contains(&rate) {
            return Err(PlanError::Rate(rate));
        }
        let per_key = math::ceil(SAMPLE_RATE / rate) as usize;
        let step = 1.0 / (rate * per_key as f32);
        let analysis = ClipAnalysis::new(figure, clip, rest, step, per_key, repeat)?;
        Self::from_analysis(figure, analysis, ground, settings)
    }

    /// The same for a clip that was surveyed before, and that may have been given its contacts ([`ClipAnalysis::set_contacts`]).
    pub fn from_analysis(
        figure: &Figure,
        analysis: ClipAnalysis,
        ground: &dyn Ground,
        settings: &PlantOptions,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        let leg = figure.leg_length();
        let scale = figure.height() / 1.8;
        let search = FootholdSearch { ground, settings, leg, scale };
        let planner = Planner { figure, analysis: &analysis, search };
        let base = planner.base()?;
        let limits = ContactLimits {
            height: settings.contact_height * leg,
            speed: settings.contact_speed * scale,
            release: settings.release,
        };
        let mut all = Vec::new();
        for foot in 0..figure.legs().len() {
            all.push(planner.stances(foot, &limits, &base));
        }
        let planned = |body: &[f32], lifts: &[Vec<f32>]| -> Vec<_> {
            (0..all.len()).map(|foot| planner.feet(foot, &all[foot], body, &lifts[foot])).collect()
        };
        let clear = |feet: &mut Vec<Vec<FootFrame>>, pelvis: Option<&[f32]>| {
            for foot in 0..feet.len() {
                let swing = Swing::new(search, &analysis.feet[foot], analysis.step, &all[foot]);
                swing.clear(&mut feet[foot], &base, pelvis);
            }
        };
        let flat = alloc::vec![alloc::vec![0.0; analysis.len()]; all.len()];
        // A first round with the ground under the body tells where the pelvis goes, by the feet while they stand; the feet
        // then swing with the body, so that a swinging foot is not left behind by it.
        let rough = planned(&planner.over_floor(&base), &flat);
        let body = planner.pelvis(&rough, &all, Reach::Anywhere);
        let mut feet = planned(&body, &flat);
        clear(&mut feet, None);
        // Where the body would have to come down to a foot that stands on its ball, the heel lifts instead.
        let high = planner.pelvis(&feet, &all, Reach::OnTiptoe);
        let lifts: Vec<Vec<f32>> =
            (0..all.len()).map(|foot| planner.tiptoe(foot).lifts(&standing(&all[foot]), &high)).collect();
        feet = planned(&body, &lifts);
        clear(&mut feet, Some(&high));
        let mut pelvis = planner.pelvis(&feet, &all, Reach::AsPlanned);
        for _ in 0..1 {
            feet = planned(&body, &lifts);
            clear(&mut feet, Some(&pelvis));
            pelvis = planner.pelvis(&feet, &all, Reach::AsPlanned);
        }
        for foot in 0..feet.len() {
            let swing = Swing::new(search, &analysis.feet[foot], analysis.step, &all[foot]);
            swing.let_down(&mut feet[foot], &base, &pelvis);
            swing.pull_in(&mut feet[foot], &pelvis);
        }
        for (foot, frames) in feet.iter_mut().enumerate() {
            planner.let_go(foot, frames, &pelvis);
        }
        let per_key = analysis.per_key;
        Ok(Self { analysis, stances: all, feet, pelvis, base, per_key })
    }

    /// Lines a person can read about what was noticed.
    pub fn notes(&self) -> &[String] {
        &self.analysis.notes
    }
}

/// Heading of a walk: along its way where it travels, else where the feet point.
pub fn walk_heading(analysis: &ClipAnalysis) -> Vec3 {
    let net = match (analysis.pelvis.first(), analysis.pelvis.last()) {
        (Some(a), Some(b)) => (*b - *a).with_y(0.0),
        _ => Vec3::ZERO,
    };
    let sole: Vec3 = analysis.feet.iter().filter_map(|f| f.samples.first()).map(|s| heading(s.yaw())).sum();
    let length = analysis.feet.iter().filter_map(|f| f.samples.first()).map(|s| (s.ball - s.heel).length());
    let size = length.fold(0.0, f32::max);
    // Less than two soles' length is a sway, not a walk.
    if net.length() > 2.0 * size { net.normalize() } else { sole.normalize_or(Vec3::Z) }
}
