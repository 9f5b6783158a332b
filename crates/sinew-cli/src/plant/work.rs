//! Planting one clip of one model, from figure to measures, without files.

use std::time::Instant;

use glam::Vec3;
use sinew::{
    Pose,
    ground::{
        MeshGround,
        plant::{
            Contacts, Figure, FootSample, Interval, Measures, Plan, PlantedClip, Search, Settings, Survey,
            measure, moved, walk_heading,
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
    pub settings: Settings,
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
    /// When which point of each leg is held to the ground.
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
    /// Contacts that are not planted.
    pub unplanted: Vec<NotPlanted>,
    /// Microseconds that planning took.
    pub plan_micros: f64,
    /// Mean microseconds that solving a frame took.
    pub frame_micros: f64,
}

/// A contact of the clip that is not held to the ground.
pub struct NotPlanted {
    /// Whose.
    pub leg: usize,
    /// `heel` or `ball`.
    pub point: &'static str,
    /// When.
    pub time: Interval,
    /// Why.
    pub why: String,
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
        let mut survey = Survey::new(figure, clip, rest, step, per_key, task.repeat)?;
        check_keys(task, survey.cycle * survey.cycles as f32, rate)?;
        survey.set_contacts(&task.contacts)?;
        let mesh = match ground.take() {
            Some(ground) => ground,
            None => {
                let walk = walk(figure, &survey);
                let options = &task.ground_options;
                MeshGround::new(task.level.mesh(&walk, task.ground_scale, task.ground_at, options)?)?
            }
        };
        let plan = Plan::from_survey(figure, survey, &mesh, settings)?;
        let plan_micros = began.elapsed().as_secs_f64() * 1e6;
        let began = Instant::now();
        let keys = plan.keys();
        let planted = plan.bake(figure, clip, rest, name, |key, _| each(key + 1, keys))?;
        let frame_micros = began.elapsed().as_secs_f64() * 1e6 / planted.times.len() as f64;
        let clip_depth = MOST_CLIP * figure.height();
        let halfway = plan.halfway(figure, &planted, rest, &search(task, &mesh), clip_depth);
        let even = halfway.sag <= MOST_SAG * figure.height() && !halfway.clips;
        let seconds = plan.survey.cycle * plan.survey.cycles as f32;
        if even || 2.0 * rate > MOST_KEYS || check_keys(task, seconds, 2.0 * rate).is_err() {
            break (mesh, plan, planted, plan_micros, frame_micros);
        }
        rate *= 2.0;
        ground = Some(mesh);
    };

    let search = search(task, &ground);
    let per_key = plan.per_key;
    let key_step = plan.survey.step * per_key as f32;
    let base: Vec<f32> = plan.base.iter().copied().step_by(per_key).collect();
    let claims = claims(&plan);
    let floor = plan.survey.floor();
    // Before: the clip with its travel, at the height of the ground where it begins.
    let raise = base.first().copied().unwrap_or(floor) - floor;
    let flat: Vec<Vec<FootSample>> = plan
        .survey
        .feet
        .iter()
        .map(|f| moved(&f.samples.iter().copied().step_by(per_key).collect::<Vec<_>>(), Vec3::Y * raise))
        .collect();
    let before = measure(&flat, &claims, key_step, &search, &base);
    let after = measure(&planted.feet, &claims, key_step, &search, &base);
    let (planted_share, unplanted) = share(&plan);
    Ok(Done {
        ground,
        plan,
        planted,
        claims,
        raise,
        flat,
        before,
        after,
        planted_share,
        unplanted,
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

fn walk(figure: &Figure, survey: &Survey) -> Walk {
    let (first, last) = (survey.pelvis[0], survey.pelvis[survey.len() - 1]);
    Walk {
        start: first.with_y(survey.floor()),
        heading: walk_heading(survey),
        length: (last - first).with_y(0.0).length(),
        leg: figure.leg_length(),
    }
}

/// What the plan holds to the ground, by leg.
pub fn claims(plan: &Plan) -> Vec<Contacts> {
    plan.stances
        .iter()
        .map(|leg| {
            let mut c = Contacts::default();
            for p in leg.iter().filter(|p| p.footing.is_ok()) {
                if p.footing.is_ok_and(|f| f.heel_supported) {
                    c.heel.extend(&p.stance.heel);
                }
                c.ball.extend(&p.stance.ball);
            }
            c
        })
        .collect()
}

/// Share of the time in contact that is planted, and the rest with its reason.
fn share(plan: &Plan) -> (f32, Vec<NotPlanted>) {
    let (mut all, mut held) = (0.0, 0.0);
    let mut rest = Vec::new();
    for (leg, stances) in plan.stances.iter().enumerate() {
        for p in stances {
            for (point, list) in [("heel", &p.stance.heel), ("ball", &p.stance.ball)] {
                let why = match p.footing {
                    Err(why) => why.to_string(),
                    Ok(f) if point == "heel" && !f.heel_supported => "it hangs over an edge".to_owned(),
                    Ok(_) => String::new(),
                };
                for &time in list {
                    all += time.length();
                    if why.is_empty() {
                        held += time.length();
                    } else {
                        rest.push(NotPlanted { leg, point, time, why: why.clone() });
                    }
                }
            }
        }
    }
    (if all > 0.0 { held / all } else { 1.0 }, rest)
}

/// Looks for ground as the plan did.
pub fn search<'a>(task: &'a Task<'_>, ground: &'a MeshGround) -> Search<'a> {
    Search {
        ground,
        settings: &task.settings,
        leg: task.figure.leg_length(),
        scale: task.figure.height() / 1.8,
    }
}
