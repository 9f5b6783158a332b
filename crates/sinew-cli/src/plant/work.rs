//! Planting one clip of one figure, without files: analysis, plan, planted clip and measurements.

use std::time::Instant;

use glam::Vec3;
use sinew::{
    Pose,
    body::Side,
    ground::{
        MeshGround,
        plant::{
            ClipAnalysis, ContactOutcome, Contacts, Figure, FootSample, FootholdSearch, Interval, Measures,
            Plan, PlantOptions, PlantedClip, Stride, Unplanted, Unscaled, contact::ContactLimits, measure,
            moved, walk_heading,
        },
    },
    motion::Clip,
};

use sinew_files::ReadOptions;

use super::{
    contacts::Given,
    level::{Level, LevelError, Walk},
};

/// Inputs of planting.
pub struct Task<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// The figure's rest pose.
    pub rest: &'a Pose,
    /// The clip.
    pub clip: &'a Clip,
    /// The ground.
    pub level: &'a Level,
    /// Scale factor of a ground from a file.
    pub ground_scale: f32,
    /// Translation of a ground from a file, in metres in world space.
    pub ground_at: Vec3,
    /// Read options of a ground from a file.
    pub ground_options: ReadOptions,
    /// Settings of the planting.
    pub settings: PlantOptions,
    /// Repetitions of a clip that walks on the spot; `None` chooses them by the distance.
    pub repeat: Option<u32>,
    /// Length of steps on stairs; `None` fits those of a walk on the spot.
    pub stride: Option<Stride>,
    /// Given contacts of each leg; those of a leg with `None` are detected.
    pub contacts: Given,
    /// Maximum number of keys of the planted clip: joints times times.
    pub max_keys: u64,
}

/// Results of planting.
pub struct Done {
    /// The ground, in world space.
    pub ground: MeshGround,
    /// The plan that the clip was planted by.
    pub plan: Plan,
    /// Length of a step on stairs divided by the clip's; `None` where the stride is the clip's.
    pub stride: Option<f32>,
    /// The planted clip.
    pub planted: PlantedClip,
    /// For each leg, the contacts that hold, measured on the planted clip.
    pub claims: Vec<Contacts>,
    /// Height by which the clip is raised onto the ground where the walk begins, in metres.
    pub raise: f32,
    /// For each leg, the samples of the clip before planting, with its travel and raised by [`Self::raise`], one per key.
    pub flat: Vec<Vec<FootSample>>,
    /// Height of the ground under the pelvis of the clip before planting, one per key, in metres.
    pub flat_base: Vec<f32>,
    /// Measurements before planting.
    pub before: Measures,
    /// Measurements after planting.
    pub after: Measures,
    /// Share of the contact time that is planted, 0 to 1. Contacts are those of the clip within the strict limits.
    pub planted_share: f32,
    /// Contacts of the clip, planted or not.
    pub contacts: Vec<ContactOutcome>,
    /// Duration of the planning, in microseconds.
    pub plan_micros: f64,
    /// Mean duration of solving a frame, in microseconds.
    pub frame_micros: f64,
}

impl Done {
    /// Contacts that are not planted, each with the reason.
    pub fn unplanted(&self) -> impl Iterator<Item = (&ContactOutcome, Unplanted)> {
        self.contacts.iter().filter_map(|c| Some((c, c.unplanted?)))
    }
}

/// Failure of planting.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// The planted clip would have too many keys.
    #[error(
        "{seconds} s are too long to plant: {joints} joints at {rate} keys a second make {keys} keys; the budget is {max}, \
         which --max-keys raises"
    )]
    Keys {
        /// Duration of the planted clip, with all repetitions.
        seconds: f32,
        /// Keys that the planted clip would have.
        keys: f64,
        /// Joints that the clip moves.
        joints: usize,
        /// Keys per second and joint.
        rate: f32,
        /// Maximum number of keys.
        max: u64,
    },
    /// The ground cannot be made.
    #[error(transparent)]
    Level(#[from] LevelError),
    /// The ground's triangles are not valid.
    #[error("the ground: {0}")]
    Mesh(#[from] sinew::ground::MeshError),
    /// The given contacts are invalid.
    #[error(transparent)]
    Contacts(#[from] sinew::ground::plant::ContactsError),
    /// The clip cannot be planned.
    #[error(transparent)]
    Plan(#[from] sinew::ground::plant::PlanError),
    /// The plan cannot be baked.
    #[error(transparent)]
    Plant(#[from] sinew::ground::plant::PlantError),
    /// Feet hardly ever stand in the planted clip.
    #[error(
        "the legs hold {percent:.0} % of the time in contact, so nothing is written: {side} {point} from {:.2} to {:.2} s, {why} \
         (--feet LEFT,RIGHT gives the joints of the ankles)",
        time.from, time.to
    )]
    NotHeld {
        /// Percentage of the time in contact with a foothold that is held.
        percent: f32,
        /// Foot of the longest contact that is not held.
        side: Side,
        /// `heel` or `ball` of that foot.
        point: &'static str,
        /// Time of that contact in the planted clip, in seconds.
        time: Interval,
        /// Reason, as measured.
        why: Unplanted,
    },
}

/// Maximum keys per second.
const MAX_RATE: f32 = 240.0;

/// Largest displacement of a standing foot by the straight lines between keys, as a share of the height: 3 mm for 1.8 m.
const MAX_SAG: f32 = 0.003 / 1.8;

/// Largest depth of a swinging foot in an edge by the straight lines between keys, as a share of the height: 6 mm for 1.8 m.
const MAX_CLIP: f32 = 0.006 / 1.8;

/// Keys per second of a planted clip: the smallest multiple of the rate of the clip's densest track that is 30 or more, so
/// that each key of the clip is a key of the planted clip.
pub fn key_rate(clip: &Clip) -> f32 {
    const MIN: f32 = 30.0;
    let own = clip.key_rate();
    if own <= 0.0 {
        return MIN;
    }
    // The tolerance makes 30.000002 and 29.999998 both count as 30.
    (own * (MIN / own - 1e-3).ceil().max(1.0)).min(MAX_RATE)
}

/// Plants a clip. `each` is called after each key with the number of keys done and of all keys.
pub fn plant(task: &Task<'_>, name: &str, each: impl Fn(usize, usize)) -> Result<Done, WorkError> {
    let Task { figure, rest, clip, settings, .. } = task;
    let mut rate = key_rate(clip);
    check_keys(task, clip.duration(), rate)?;
    let mut ground = None;
    // The straight lines between keys displace a fast foot; the rate is then doubled.
    let (ground, plan, planted, given, stride, plan_micros, frame_micros) = loop {
        let began = Instant::now();
        let per_key = (60.0 / rate - 1e-3).ceil() as usize;
        let step = 1.0 / (rate * per_key as f32);
        let mut analysis = ClipAnalysis::new(figure, clip, rest, step, per_key, task.repeat)?;
        check_keys(task, analysis.cycle * analysis.cycles as f32, rate)?;
        analysis.set_contacts(&task.contacts)?;
        let mesh = match ground.take() {
            Some(ground) => ground,
            None => {
                let walk = walk(figure, settings, &analysis);
                let options = &task.ground_options;
                MeshGround::new(task.level.mesh(&walk, task.ground_scale, task.ground_at, options)?)?
            }
        };
        let given = Before::new(&analysis);
        let stride = fit_stride(task, &mut analysis, &mesh);
        let plan = Plan::from_analysis(figure, analysis, &mesh, settings)?;
        let plan_micros = began.elapsed().as_secs_f64() * 1e6;
        let began = Instant::now();
        let keys = plan.keys();
        let planted = plan.bake(figure, clip, rest, name, |key, _| each(key + 1, keys))?;
        let frame_micros = began.elapsed().as_secs_f64() * 1e6 / planted.times.len() as f64;
        let clip_depth = MAX_CLIP * figure.height();
        let halfway = plan.halfway(figure, &planted, rest, &search(task, &mesh), clip_depth);
        let even = halfway.sag <= MAX_SAG * figure.height() && !halfway.clips;
        let seconds = plan.analysis.cycle * plan.analysis.cycles as f32;
        if even || 2.0 * rate > MAX_RATE || check_keys(task, seconds, 2.0 * rate).is_err() {
            break (mesh, plan, planted, given, stride, plan_micros, frame_micros);
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
    // Gaps and slides are measured in all contacts with a foothold, held or not.
    let footholds = by_leg(&contacts, figure.legs().len(), |c| c.foothold);
    let claims = by_leg(&contacts, figure.legs().len(), |c| c.unplanted.is_none());
    let floor = plan.analysis.floor(&ContactLimits::new(figure, settings));
    // Before planting, the clip has its travel and stands at the height of the ground where it begins.
    let raise = base.first().copied().unwrap_or(floor) - floor;
    let flat: Vec<Vec<FootSample>> = given.feet.iter().map(|f| moved(f, Vec3::Y * raise)).collect();
    let flat_base = given.base(&search, base.first().copied().unwrap_or(floor));
    let before = measure(&flat, &footholds, key_step, &search, &flat_base);
    let after = measure(&planted.feet, &footholds, key_step, &search, &base);
    Ok(Done {
        ground,
        plan,
        stride,
        planted,
        claims,
        raise,
        flat,
        flat_base,
        before,
        after,
        planted_share: planted_share(&contacts),
        contacts,
        plan_micros,
        frame_micros,
    })
}

/// Returns an error if a planted clip of this duration would have more than the maximum number of keys. The duration may be
/// infinite, as the difference of two finite times can overflow.
fn check_keys(task: &Task<'_>, seconds: f32, rate: f32) -> Result<(), WorkError> {
    // The planted clip moves the joints that the clip moves, and those of the legs.
    let joints = task.clip.tracks().len().max(1);
    let keys = (f64::from(seconds) * f64::from(rate)).round().mul_add(1.0, 1.0) * joints as f64;
    if keys <= task.max_keys as f64 {
        return Ok(());
    }
    Err(WorkError::Keys { seconds, keys, joints, rate, max: task.max_keys })
}

fn walk<'a>(figure: &Figure, settings: &PlantOptions, analysis: &'a ClipAnalysis) -> Walk<'a> {
    Walk {
        path: &analysis.pelvis,
        floor: analysis.floor(&ContactLimits::new(figure, settings)),
        heading: walk_heading(analysis),
        leg: figure.leg_length(),
    }
}

/// A clip before its stride is scaled and its feet are planted.
struct Before {
    /// For each leg, the samples at the keys, with the travel.
    feet: Vec<Vec<FootSample>>,
    /// Positions of the pelvis at the keys.
    pelvis: Vec<Vec3>,
}

impl Before {
    fn new(analysis: &ClipAnalysis) -> Self {
        let by = analysis.per_key;
        let feet = analysis.feet.iter().map(|f| f.samples.iter().copied().step_by(by).collect()).collect();
        Self { feet, pelvis: analysis.pelvis.iter().copied().step_by(by).collect() }
    }

    /// Height of the ground under the pelvis at the keys, in metres, each cast around the one before.
    fn base(&self, search: &FootholdSearch<'_>, mut base: f32) -> Vec<f32> {
        let mut next = |at: &Vec3| {
            base = search.height(*at, base).map_or(base, |(y, _)| y);
            base
        };
        self.pelvis.iter().map(&mut next).collect()
    }
}

/// Scales the steps of a clip to the stairs of a ground, with a note. Returns the factor; `None` where the stride is kept.
fn fit_stride(task: &Task<'_>, analysis: &mut ClipAnalysis, ground: &MeshGround) -> Option<f32> {
    let search = search(task, ground);
    let wanted = task.stride.unwrap_or_else(|| {
        let on_the_spot = analysis.travel != Vec3::ZERO;
        // Planting without influence leaves the clip as it is.
        let planted = task.figure.legs().iter().any(|leg| leg.position_influence > 0.0);
        let walks = on_the_spot && planted && analysis.stands_throughout(task.figure, &search);
        if walks { Stride::Fit } else { Stride::Keep }
    });
    match (analysis.fit_stride(task.figure, &search, wanted), wanted) {
        (_, Stride::Keep) => None,
        (Ok(factor), _) => {
            let treads = match wanted {
                Stride::Treads(n) if n > 1 => format!("{n} treads"),
                _ => "one tread".into(),
            };
            analysis.notes.push(format!(
                "steps on stairs are scaled to {factor:.2} of the clip's, {treads} each (--stride)"
            ));
            Some(factor)
        }
        // Most grounds have no stairs.
        (Err(Unscaled::NoTreads | Unscaled::NoSteps), Stride::Fit) => None,
        (Err(reason), _) => {
            analysis.notes.push(format!("steps keep the clip's length: {reason} (--stride)"));
            None
        }
    }
}

/// The contacts for which `keep` is true, by leg.
fn by_leg(outcomes: &[ContactOutcome], legs: usize, keep: impl Fn(&ContactOutcome) -> bool) -> Vec<Contacts> {
    let mut all = vec![Contacts::default(); legs];
    for c in outcomes.iter().filter(|c| keep(c)) {
        let contacts = &mut all[c.leg];
        if c.point == "heel" { &mut contacts.heel } else { &mut contacts.ball }.push(c.time);
    }
    all
}

/// Share of the contact time that is planted; 1 without contacts.
fn planted_share(outcomes: &[ContactOutcome]) -> f32 {
    let (mut all, mut held) = (0.0, 0.0);
    for contact in outcomes {
        let seconds = contact.time.length();
        all += seconds;
        held += if contact.unplanted.is_none() { seconds } else { 0.0 };
    }
    if all > 0.0 { held / all } else { 1.0 }
}

/// Height above the ground from which a foot does not stand at all, in metres for 1.8 m.
const MAX_OFF: f32 = 0.03;

/// Share of the time in contact in which feet must not stand at all for their joints not to be those of legs.
const NOT_LEGS: f32 = 0.9;

/// Returns an error if feet hardly ever stand, as the joints are then not those of a leg. Legs with an influence below 1 and
/// legs with given contacts do not count.
fn check_held(task: &Task<'_>, outcomes: &[ContactOutcome]) -> Result<(), WorkError> {
    let moves = |c: &ContactOutcome| matches!(c.unplanted, Some(Unplanted::Moves { .. }));
    let counts = |c: &&ContactOutcome| {
        let leg = &task.figure.legs()[c.leg];
        let whole = leg.position_influence >= 1.0 && leg.rotation_influence >= 1.0;
        (c.foothold || moves(c)) && whole && task.contacts[c.leg].is_none()
    };
    let high = MAX_OFF * task.figure.height() / 1.8;
    let off = |c: &ContactOutcome| match c.unplanted? {
        Unplanted::Gap { height: off } | Unplanted::Sinks { depth: off } if off <= high => None,
        Unplanted::Slide { .. } => None,
        why => Some(why),
    };
    let seconds = |c: &ContactOutcome| c.time.length();
    let all: f32 = outcomes.iter().filter(counts).map(seconds).sum();
    let failed = || outcomes.iter().filter(counts).filter_map(|c| Some((c, off(c)?)));
    let lost: f32 = failed().map(|(c, _)| seconds(c)).sum();
    let longest = failed().max_by(|a, b| seconds(a.0).total_cmp(&seconds(b.0)));
    let Some((first, why)) = longest.filter(|_| lost > NOT_LEGS * all) else { return Ok(()) };
    let (side, point, time) = (Side::BOTH[first.leg], first.point, first.time);
    Err(WorkError::NotHeld { percent: 100.0 * (all - lost) / all, side, point, time, why })
}

/// The foothold search with the plan's settings.
pub fn search<'a>(task: &'a Task<'_>, ground: &'a MeshGround) -> FootholdSearch<'a> {
    FootholdSearch {
        ground,
        settings: &task.settings,
        leg: task.figure.leg_length(),
        scale: task.figure.height() / 1.8,
    }
}
