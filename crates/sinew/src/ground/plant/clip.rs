//! One call from a clip to a planted clip and a report.

use alloc::{
    format,
    string::{String, ToString},
    vec::Vec,
};

use glam::Vec3;

use super::{
    ClipAnalysis, Contacts, Figure, FootSample, FootholdSearch, Measures, Plan, PlanError, PlantError,
    PlantOptions, PlantReport, PlantedClip, Stride, Unscaled, contact::ContactLimits, measure,
};
use crate::{Pose, ground::Ground, math, math64, motion::Clip};

/// Options of [`plant_clip`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ClipOptions {
    /// Options of planting.
    pub planting: PlantOptions,
    /// Number of rounds of a clip that walks on the spot. `None` makes 1 to 12 rounds, enough to travel about 4 m.
    pub repeat: Option<u32>,
    /// Length of steps on stairs. `None` fits those of a walk on the spot and keeps all others.
    pub stride: Option<Stride>,
    /// Contacts of each leg in the clip's own time, in the order of the figure's legs; `None` detects a leg's. Empty detects
    /// all.
    pub contacts: Vec<Option<Contacts>>,
    /// Largest number of keys of the planted clip: joints times times. No limit by default.
    pub max_keys: u64,
}

impl Default for ClipOptions {
    fn default() -> Self {
        Self {
            planting: PlantOptions::default(),
            repeat: None,
            stride: None,
            contacts: Vec::new(),
            max_keys: u64::MAX,
        }
    }
}

/// A planted clip with its plan and a report.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Planting {
    /// The planted clip.
    pub planted: PlantedClip,
    /// The plan that it was planted by.
    pub plan: Plan,
    /// What was measured on it.
    pub report: PlantReport,
    /// The clip before planting.
    pub before: Before,
}

/// A clip before its stride is scaled and its feet are planted, with its travel, raised onto the ground.
#[derive(Clone, Debug)]
pub struct Before {
    /// Height by which it is raised onto the ground where the walk begins, in metres.
    pub raise: f32,
    /// Samples of each leg at the keys.
    pub feet: Vec<Vec<FootSample>>,
    /// Positions of the pelvis at the keys, not raised.
    pub pelvis: Vec<Vec3>,
    /// Height of the ground under the pelvis at the keys, in metres.
    pub base: Vec<f32>,
}

/// Least and most keys per second.
const RATES: [f32; 2] = [30.0, 240.0];
/// Least samples per second.
const SAMPLE_RATE: f32 = 60.0;
/// Largest displacement of a standing foot by the straight lines between keys, in metres for a figure of 1.8 m.
const MAX_SAG: f32 = 0.003;
/// Largest depth of a swinging foot in an edge by the straight lines between keys, in metres for a figure of
/// 1.8 m.
const MAX_CLIP: f32 = 2.0 * MAX_SAG;

/// Plants the feet of `clip` on `ground`, from a clip to a clip. `rest` is the figure's rest pose.
///
/// The planted clip is called `NAME (planted)` and has equally spaced keys: the smallest multiple of the rate of the clip's
/// densest track that is 30 or more a second, so that each key of the clip is a key of the planted clip. Where straight lines
/// between keys would displace standing feet by 3 mm or take swinging feet 6 mm into an edge (for a figure of 1.8 m), the
/// rate is doubled, up to 240.
///
/// [`ClipAnalysis::of`] gives the way of the pelvis beforehand, for a ground that is made for it.
///
/// # Errors
///
/// An option is outside its range, contacts are not those of a clip, there is no ground below the walk, the clip is too long,
/// a leg cannot be solved, or feet hardly ever stand.
pub fn plant_clip(
    figure: &Figure,
    rest: &Pose,
    clip: &Clip,
    ground: &dyn Ground,
    options: &ClipOptions,
) -> Result<Planting, PlantError> {
    let settings = &options.planting;
    // Before a stride is fitted and anything is cast: invalid limits would give other errors there.
    settings.check().map_err(PlanError::from)?;
    let (scale, search) = (figure.scale(), FootholdSearch::new(figure, ground, settings));
    let name = match clip.name() {
        "" => "(planted)".to_string(),
        name => format!("{name} (planted)"),
    };
    let mut rate = key_rate(clip);
    loop {
        let mut analysis = ClipAnalysis::at_rate(figure, rest, clip, options, rate)?;
        let seconds = analysis.cycle * analysis.cycles as f32;
        let mut before = Before::new(&analysis);
        let stride = fit_stride(figure, &search, options.stride, &mut analysis);
        let plan = Plan::from_analysis(figure, analysis, ground, settings)?;
        let planted = plan.bake(figure, clip, rest, &*name)?;
        let halfway = plan.halfway(figure, &planted, rest, &search, MAX_CLIP * scale);
        let even = halfway.sag <= MAX_SAG * scale && !halfway.clips;
        if !even && 2.0 * rate <= RATES[1] && options.allows(clip, seconds, 2.0 * rate).is_ok() {
            // Contacts are found anew as well: by speeds over a key to either side.
            rate *= 2.0;
            continue;
        }
        let base: Vec<f32> = plan.base.iter().copied().step_by(plan.per_key).collect();
        let floor = plan.analysis.floor(&ContactLimits::new(figure, settings));
        before.raise(&search, base.first().copied().unwrap_or(floor), floor);
        let contacts = plan.contacts(figure, &planted, &search);
        let legs = figure.legs().len();
        let mut report = PlantReport { stride, contacts, ..PlantReport::default() };
        report.check_held(figure, &options.contacts)?;
        // Gaps and slides are measured in all contacts with a foothold, held or not.
        let footholds = report.by_leg(legs, |c| c.foothold);
        let of = |feet: &[Vec<FootSample>], base: &[f32]| -> Measures {
            measure(feet, &footholds, plan.analysis.step * plan.per_key as f32, &search, base)
        };
        report.before = of(&before.feet, &before.base);
        report.after = of(&planted.feet, &base);
        return Ok(Planting { planted, plan, report, before });
    }
}

/// Keys per second of a planted clip: the smallest multiple of the rate of the clip's densest track that is 30 or more.
fn key_rate(clip: &Clip) -> f32 {
    let [least, most] = RATES;
    let own = clip.key_rate();
    if own <= 0.0 {
        return least;
    }
    // The tolerance makes 30.000002 and 29.999998 both count as 30.
    (own * math::ceil(least / own - 1e-3).max(1.0)).min(most)
}

impl ClipOptions {
    /// Returns an error if a planted clip of this duration would have too many keys.
    fn allows(&self, clip: &Clip, seconds: f32, rate: f32) -> Result<(), PlantError> {
        // The planted clip moves the joints that the clip moves, and those of the legs. The duration may be infinite, as the
        // difference of two finite times can overflow.
        let joints = clip.tracks().len().max(1);
        let keys = (math64::round(f64::from(seconds) * f64::from(rate)) + 1.0) * joints as f64;
        let max = self.max_keys;
        if keys <= max as f64 { Ok(()) } else { Err(PlantError::Keys { seconds, keys, joints, rate, max }) }
    }
}

impl ClipAnalysis {
    /// Samples `clip` as [`plant_clip`] does at first.
    ///
    /// # Errors
    ///
    /// The clip is too long, a leg's position overflows `f32`, or the given contacts are not those of the clip.
    pub fn of(figure: &Figure, rest: &Pose, clip: &Clip, options: &ClipOptions) -> Result<Self, PlantError> {
        Self::at_rate(figure, rest, clip, options, key_rate(clip))
    }

    fn at_rate(
        figure: &Figure,
        rest: &Pose,
        clip: &Clip,
        options: &ClipOptions,
        rate: f32,
    ) -> Result<Self, PlantError> {
        options.allows(clip, clip.duration(), rate)?;
        let per_key = math::ceil(SAMPLE_RATE / rate - 1e-3) as usize;
        let step = 1.0 / (rate * per_key as f32);
        let mut analysis = Self::new(figure, clip, rest, step, per_key, options.repeat)?;
        options.allows(clip, analysis.cycle * analysis.cycles as f32, rate)?;
        if !options.contacts.is_empty() {
            analysis.set_contacts(&options.contacts)?;
        }
        Ok(analysis)
    }
}

impl Before {
    fn new(analysis: &ClipAnalysis) -> Self {
        let by = analysis.per_key;
        let feet = analysis.feet.iter().map(|f| f.samples.iter().copied().step_by(by).collect()).collect();
        let pelvis = analysis.pelvis.iter().copied().step_by(by).collect();
        Self { raise: 0.0, feet, pelvis, base: Vec::new() }
    }

    /// Raises the clip from its floor to the ground where it begins.
    fn raise(&mut self, search: &FootholdSearch<'_>, mut ground: f32, floor: f32) {
        self.raise = ground - floor;
        for sample in self.feet.iter_mut().flatten() {
            for joint in [&mut sample.hip, &mut sample.knee, &mut sample.ankle] {
                joint.y += self.raise;
            }
        }
        // Each cast is around the height of the one before.
        let mut next = |at: &Vec3| {
            ground = search.height(*at, ground).map_or(ground, |(y, _)| y);
            ground
        };
        self.base = self.pelvis.iter().map(&mut next).collect();
    }
}

/// Scales the steps of a clip to the stairs of a ground, with a note. Returns the factor; `None` where the stride is kept.
fn fit_stride(
    figure: &Figure,
    search: &FootholdSearch<'_>,
    stride: Option<Stride>,
    analysis: &mut ClipAnalysis,
) -> Option<f32> {
    let wanted = stride.unwrap_or_else(|| {
        let on_the_spot = analysis.travel != Vec3::ZERO;
        // Planting without influence leaves the clip as it is.
        let planted = figure.influence() > 0.0;
        let walks = on_the_spot && planted && analysis.stands_throughout(figure, search);
        if walks { Stride::Fit } else { Stride::Keep }
    });
    let note: String = match (analysis.fit_stride(figure, search, wanted), wanted) {
        (_, Stride::Keep) => return None,
        (Ok(factor), _) => {
            let treads = match wanted {
                Stride::Treads(n) if n > 1 => format!("{n} treads"),
                _ => "one tread".to_string(),
            };
            analysis
                .notes
                .push(format!("steps on stairs are scaled to {factor:.2} of the clip's, {treads} each"));
            return Some(factor);
        }
        // Most grounds have no stairs.
        (Err(Unscaled::NoTreads | Unscaled::NoSteps), Stride::Fit) => return None,
        (Err(reason), _) => format!("steps keep the clip's length: {reason}"),
    };
    analysis.notes.push(note);
    None
}
