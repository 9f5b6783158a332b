//! Planting one clip of one model, from figure to measures, without files.

use std::time::Instant;

use glam::Vec3;
use sinew::{
    Pose,
    body::Side,
    ground::{
        MeshGround,
        plant::{
            ClipAnalysis, ContactOutcome, Contacts, Figure, FootSample, FootholdSearch, Interval, Measures,
            Plan, PlantOptions, PlantedClip, Unplanted, measure, moved, walk_heading,
        },
    },
    motion::Clip,
};

use sinew_files::ReadOptions;

use super::{
    contacts::Given,
    level::{Level, LevelError, Walk},
};

/// What is asked for.
pub struct Task<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Its rest pose.
    pub rest: &'a Pose,
    /// The clip.
    pub clip: &'a Clip,
    /// The ground.
    pub level: &'a Level,
    /// Size of a ground from a file.
    pub ground_scale: f32,
    /// Place of a ground from a file.
    pub ground_at: Vec3,
    /// How a ground from a file is read.
    pub ground_options: ReadOptions,
    /// The settings.
    pub settings: PlantOptions,
    /// Rounds of a clip that walks on the spot.
    pub repeat: Option<u32>,
    /// Contacts that are not to be found, by leg.
    pub contacts: Given,
    /// The most keys that the planted clip may have: joints times times.
    pub max_keys: u64,
}

/// What came of it.
pub struct Done {
    /// The ground, in world space.
    pub ground: MeshGround,
    /// What was decided.
    pub plan: Plan,
    /// The planted clip.
    pub planted: PlantedClip,
    /// When which point of each leg is held to the ground, as measured on the planted clip.
    pub claims: Vec<Contacts>,
    /// How far the clip is raised onto the ground where the walk begins, in metres.
    pub raise: f32,
    /// Each leg at the keys of the clip with its travel, so raised.
    pub flat: Vec<Vec<FootSample>>,
    /// Measures of that, not planted.
    pub before: Measures,
    /// Measures of the planted clip.
    pub after: Measures,
    /// Contacts (of the clip, within the strict limits) and how much of their time is planted.
    pub planted_share: f32,
    /// Contacts of the clip, planted or not.
    pub contacts: Vec<ContactOutcome>,
    /// Microseconds that planning took.
    pub plan_micros: f64,
    /// Mean microseconds that solving a frame took.
    pub frame_micros: f64,
}

impl Done {
    /// Contacts that are not planted, and why.
    pub fn unplanted(&self) -> impl Iterator<Item = (&ContactOutcome, Unplanted)> {
        self.contacts.iter().filter_map(|c| Some((c, c.unplanted?)))
    }
}

/// Why nothing came of it.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// More keys than may be made.
    #[error(
        "{seconds} s are too long to plant: they make {keys} keys ({joints} joints at {rate} a second); the budget is \
         {most}, which --max-keys raises"
    )]
    Keys {
        /// How long it is, in all its rounds.
        seconds: f32,
        /// Keys that it would have.
        keys: f64,
        /// Joints that it moves.
        joints: usize,
        /// Keys a second and joint.
        rate: f32,
        /// The budget.
        most: u64,
    },
    /// No ground.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// The ground's triangles are not valid.
    #[error("the ground: {0}")]
    Mesh(#[from] sinew::ground::MeshError),
    /// Contacts that cannot be meant.
    #[error(transparent)]
    Contacts(#[from] sinew::ground::plant::ContactsError),
    /// Not planned.
    #[error(transparent)]
    Plan(#[from] sinew::ground::plant::PlanError),
    /// Not carried out.
    #[error(transparent)]
    Plant(#[from] sinew::ground::plant::PlantError),
    /// Planted poses do not hold the contacts.
    #[error(
        "the legs do not hold {failures} of {count} contacts, so nothing is written: {side} {point} from {:.2} to {:.2} s, {why} \
         (--feet LEFT,RIGHT says which joints are the ankles)",
        time.from, time.to
    )]
    NotHeld {
        /// Contacts with a foothold that are not held.
        failures: usize,
        /// Contacts with a foothold.
        count: usize,
        /// Foot of the first that is not held.
        side: Side,
        /// Its `heel` or `ball`.
        point: &'static str,
        /// Its time in the planted clip, in seconds.
        time: Interval,
        /// What was measured.
        why: Unplanted,
    },
}

/// The most keys a second.
const MOST_KEYS: f32 = 240.0;

/// How far the lines between keys may carry a standing foot, as a share of the height (3 mm for a grown figure).
const MOST_SAG: f32 = 0.003 / 1.8;

/// How deep they may carry a swinging foot into an edge, in the same share (6 mm).
const MOST_CLIP: f32 = 0.006 / 1.8;

/// Keys a second of a planted clip: those of the clip's densest track, as often as it takes to be thirty or more, so that
/// each key of the clip is a key of the planted one.
pub fn key_rate(clip: &Clip) -> f32 {
    const LEAST: f32 = 30.0;
    let own = clip.key_rate();
    if own <= 0.0 {
        return LEAST;
    }
    // A hair less, so that 30.000002 and 29.999998 are both thirty.
    (own * (LEAST / own - 1e-3).ceil().max(1.0)).min(MOST_KEYS)
}

/// Plants a clip. `each` is called after each key with its number and how many there are.
pub fn plant(task: &Task<'_>, name: &str, each: impl Fn(usize, usize)) -> Result<Done, WorkError> {
    let Task { figure, rest, clip, settings, .. } = task;
    let mut rate = key_rate(clip);
    check_keys(task, clip.duration(), rate)?;
    let mut ground = None;
    // A fast foot is carried off its place by the straight lines between its keys: then there are twice as many.
    let (ground, plan, planted, plan_micros, frame_micros) = loop {
        let began = Instant::now();
        let per_key = (60.0 / rate - 1e-3).ceil() as usize;
        let step = 1.0 / (rate * per_key as f32);
        let mut analysis = ClipAnalysis::new(figure, clip, rest, step, per_key, task.repeat)?;
        check_keys(task, analysis.cycle * analysis.cycles as f32, rate)?;
        analysis.set_contacts(&task.contacts)?;
        let mesh = match ground.take() {
            Some(ground) => ground,
            None => {
                let walk = walk(figure, &analysis);
                let options = &task.ground_options;
                MeshGround::new(task.level.mesh(&walk, task.ground_scale, task.ground_at, options)?)?
            }
        };
        let plan = Plan::from_analysis(figure, analysis, &mesh, settings)?;
        let plan_micros = began.elapsed().as_secs_f64() * 1e6;
        let began = Instant::now();
        let keys = plan.keys();
        let planted = plan.bake(figure, clip, rest, name, |key, _| each(key + 1, keys))?;
        let frame_micros = began.elapsed().as_secs_f64() * 1e6 / planted.times.len() as f64;
        let clip_depth = MOST_CLIP * figure.height();
        let halfway = plan.halfway(figure, &planted, rest, &search(task, &mesh), clip_depth);
        let even = halfway.sag <= MOST_SAG * figure.height() && !halfway.clips;
        let seconds = plan.analysis.cycle * plan.analysis.cycles as f32;
        if even || 2.0 * rate > MOST_KEYS || check_keys(task, seconds, 2.0 * rate).is_err() {
            break (mesh, plan, planted, plan_micros, frame_micros);
        }
        rate *= 2.0;
        ground = Some(mesh);
    };

    let search = search(task, &ground);
    let per_key = plan.per_key;
    let key_step = plan.analysis.step * per_key as f32;
    let base: Vec<f32> = plan.base.iter().copied().step_by(per_key).collect();
    let contacts = plan.contacts(figure, &planted, &search);
    check_held(task, &contacts)?;
    // Gaps and slides are measured under all contacts that got a foothold, held or not.
    let footholds = by_leg(&contacts, figure.legs().len(), |c| c.foothold);
    let claims = by_leg(&contacts, figure.legs().len(), |c| c.unplanted.is_none());
    let floor = plan.analysis.floor();
    // Before: the clip with its travel, at the height of the ground where it begins.
    let raise = base.first().copied().unwrap_or(floor) - floor;
    let flat: Vec<Vec<FootSample>> = plan
        .analysis
        .feet
        .iter()
        .map(|f| moved(&f.samples.iter().copied().step_by(per_key).collect::<Vec<_>>(), Vec3::Y * raise))
        .collect();
    let before = measure(&flat, &footholds, key_step, &search, &base);
    let after = measure(&planted.feet, &footholds, key_step, &search, &base);
    Ok(Done {
        ground,
        plan,
        planted,
        claims,
        raise,
        flat,
        before,
        after,
        planted_share: planted_share(&contacts),
        contacts,
        plan_micros,
        frame_micros,
    })
}

/// An error where a planted clip of so many seconds would have more keys than it may. A clip's times may be so far apart that
/// their difference is not finite.
fn check_keys(task: &Task<'_>, seconds: f32, rate: f32) -> Result<(), WorkError> {
    // The planted clip moves the joints that the clip moves, and those of the legs.
    let joints = task.clip.tracks().len().max(1);
    let keys = (f64::from(seconds) * f64::from(rate)).round().mul_add(1.0, 1.0) * joints as f64;
    if keys <= task.max_keys as f64 {
        return Ok(());
    }
    Err(WorkError::Keys { seconds, keys, joints, rate, most: task.max_keys })
}

fn walk(figure: &Figure, analysis: &ClipAnalysis) -> Walk {
    let (first, last) = (analysis.pelvis[0], analysis.pelvis[analysis.len() - 1]);
    Walk {
        start: first.with_y(analysis.floor()),
        heading: walk_heading(analysis),
        length: (last - first).with_y(0.0).length(),
        leg: figure.leg_length(),
    }
}

/// Those of the contacts that `keep` takes, by leg.
fn by_leg(outcomes: &[ContactOutcome], legs: usize, keep: impl Fn(&ContactOutcome) -> bool) -> Vec<Contacts> {
    let mut all = vec![Contacts::default(); legs];
    for c in outcomes.iter().filter(|c| keep(c)) {
        let contacts = &mut all[c.leg];
        if c.point == "heel" { &mut contacts.heel } else { &mut contacts.ball }.push(c.time);
    }
    all
}

/// Share of the time in contact that is planted.
fn planted_share(outcomes: &[ContactOutcome]) -> f32 {
    let (mut all, mut held) = (0.0, 0.0);
    for contact in outcomes {
        let seconds = contact.time.length();
        all += seconds;
        held += if contact.unplanted.is_none() { seconds } else { 0.0 };
    }
    if all > 0.0 { held / all } else { 1.0 }
}

/// An error where most contacts that got a foothold are not held: then what is planted is no leg's foot. Legs that are
/// planted by a part only are meant to stay off, and contacts that were given are the user's word.
fn check_held(task: &Task<'_>, outcomes: &[ContactOutcome]) -> Result<(), WorkError> {
    let counts = |c: &&ContactOutcome| {
        let leg = &task.figure.legs()[c.leg];
        let whole = leg.position_influence >= 1.0 && leg.rotation_influence >= 1.0;
        c.foothold && whole && task.contacts[c.leg].is_none()
    };
    let count = outcomes.iter().filter(counts).count();
    let mut failed = outcomes.iter().filter(counts).filter_map(|c| Some((c, c.unplanted?)));
    let Some((first, why)) = failed.next() else { return Ok(()) };
    let failures = 1 + failed.count();
    if 2 * failures <= count {
        return Ok(());
    }
    let (side, point, time) = (Side::BOTH[first.leg], first.point, first.time);
    Err(WorkError::NotHeld { failures, count, side, point, time, why })
}

/// Looks for ground as the plan did.
pub fn search<'a>(task: &'a Task<'_>, ground: &'a MeshGround) -> FootholdSearch<'a> {
    FootholdSearch {
        ground,
        settings: &task.settings,
        leg: task.figure.leg_length(),
        scale: task.figure.height() / 1.8,
    }
}
