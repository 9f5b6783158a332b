//! Time and allocations of a humanoid's frame with all goals, planted on rough ground.

use std::{
    cell::{Cell, RefCell},
    path::Path,
    time::Instant,
};

use sinew::{
    Goal, Placement, Pose, Workspace,
    body::{BodyRoles, Side},
    glam::{Affine3, Vec2, Vec3},
    ground::{
        Filter, Ground, Hit, MeshGround,
        plant::{ClipAnalysis, Figure, FootPlanter, PlantOptions, contact::ContactLimits},
        terrain::Rough,
    },
    math,
    rig::{HumanoidSpec, Limbs, Rig, RigFrame, RigGoal},
};
use sinew_files::{Model, ReadOptions};

/// Clip of the Knight, frames a second and their number, and seconds of look-ahead.
const CLIP: &str = "Walking_A";
const RATE: f32 = 60.0;
const FRAMES: usize = 600;
const AHEAD: f32 = 0.3;
/// Timed passes over all frames.
const ROUNDS: usize = 21;
/// Bounds of a frame in microseconds, without casts and sampling.
const BOUNDS: [(Limbs, &str, f64); 2] =
    [(Limbs::TwoBone, "humanoid, planted", 15.0), (Limbs::FullBody, "whole body, planted", 60.0)];

/// Casts on a ground that are recorded, and then given back in their order.
struct Casts {
    ground: MeshGround,
    /// Whether casts are given back.
    replays: Cell<bool>,
    hits: RefCell<Vec<Option<Hit>>>,
    next: Cell<usize>,
}

impl Ground for Casts {
    fn cast_ray(&self, from: Vec3, direction: Vec3, reach: f32, filter: &Filter) -> Option<Hit> {
        if !self.replays.get() {
            let hit = self.ground.cast_ray(from, direction, reach, filter);
            self.hits.borrow_mut().push(hit);
            return hit;
        }
        let at = self.next.replace(self.next.get() + 1);
        self.hits.borrow().get(at).copied().flatten()
    }
}

/// Samples of an animation in the order in which they are taken.
#[derive(Default)]
struct Samples {
    all: RefCell<Vec<(Pose, Placement)>>,
    next: Cell<usize>,
}

/// The Knight's walk.
struct Walk<'a> {
    model: &'a Model,
    analysis: ClipAnalysis,
    clip: usize,
}

impl Walk<'_> {
    fn sample(&self, time: f32, pose: &mut Pose) -> Placement {
        pose.reset();
        let round = time.rem_euclid(self.analysis.cycle);
        self.model.clips[self.clip].sample(self.analysis.start + round, pose);
        pose.update();
        Placement::new(Affine3::from_translation(self.analysis.travel * time)).expect("a finite place")
    }
}

/// Prints the time of a frame and its allocations for both kinds of limbs. Returns whether the bounds hold.
pub fn table(path: &Path) -> Result<bool, String> {
    let model = Model::read(path, &ReadOptions::default()).map_err(|e| format!("{}: {e}", path.display()))?;
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).map_err(|e| e.to_string())?;
    let figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).map_err(|e| e.to_string())?;
    let clip = model.clips.iter().position(|c| c.name() == CLIP).ok_or("no such clip")?;
    let rest = Pose::rest(&model.skeleton);
    let analysis = ClipAnalysis::new(&figure, &model.clips[clip], &rest, 1.0 / 120.0, 1, None);
    let walk = Walk { model: &model, analysis: analysis.map_err(|e| e.to_string())?, clip };
    let limits = ContactLimits::new(&figure, &PlantOptions::default());
    let length = walk.analysis.travel.length() * FRAMES as f32 / RATE;
    let middle = walk.analysis.pelvis[0] + walk.analysis.travel.normalize_or_zero() * (0.5 * length);
    let rough = Rough::new()
        .with_origin(middle.with_y(walk.analysis.floor(&limits)))
        .with_size(Vec2::splat(length + 20.0))
        .with_level(0.0)
        .mesh();
    let ground = MeshGround::new(rough.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    let mut planter = FootPlanter::new(&figure, PlantOptions::default()).map_err(|e| e.to_string())?;
    planter.learn_floor(&model.clips[clip], &rest).map_err(|e| e.to_string())?;
    planter.set_look_ahead(AHEAD).map_err(|e| e.to_string())?;
    let casts = Casts { ground, replays: Cell::new(false), hits: RefCell::default(), next: Cell::new(0) };
    let mut met = true;
    for (limbs, title, most) in BOUNDS {
        let mut humanoid = HumanoidSpec::new();
        humanoid.limbs = limbs;
        let rig = Rig::new(&bind, Some(&body), &humanoid.rig(&body)).map_err(|e| e.to_string())?;
        let rig = rig.with_planter(planter.clone()).map_err(|e| e.to_string())?;
        met &= row(&walk, &rig, &body, &casts, (title, most))?;
    }
    Ok(met)
}

/// Goals of a frame: all of them, near to where the animation has their joints. In model space.
fn goals(rig: &Rig, body: &BodyRoles, pose: &Pose, time: f32) -> Vec<RigGoal> {
    let mut goals = vec![RigGoal::new(); rig.goal_count()];
    let mut set = |name: &str, goal: Goal| {
        if let Some(at) = rig.find_goal(name, None) {
            goals[at] = goal.into();
        }
    };
    let sway = |phase: f32| Vec3::new(math::sin(2.0 * time + phase), math::sin(3.0 * time + phase), 0.0);
    set("body", Goal::position(pose.position(body.hips) + 0.02 * sway(0.0) - Vec3::Y * 0.03));
    set("look", Goal::position(Vec3::new(0.0, 1.5, 4.0) + sway(1.0)));
    for side in Side::BOTH {
        if let Some(arm) = body.arm(side) {
            let (hand, turn) = (pose.position(arm.hand), pose.model_rotation(arm.hand));
            let pole = pose.position(arm.forearm) - 0.3 * Vec3::Z;
            let goal = Goal::position(hand + 0.1 * sway(2.0)).with_rotation(turn);
            set(&format!("{side} hand"), goal.with_pole(sinew::Pole::Point(pole)));
        }
        let leg = body.leg(side);
        let (foot, turn) = (pose.position(leg.foot), pose.model_rotation(leg.foot));
        let pole = pose.position(leg.shin) + 0.3 * Vec3::Z;
        let goal = Goal::position(foot + 0.03 * sway(3.0)).with_rotation(turn);
        set(&format!("{side} foot"), goal.with_pole(sinew::Pole::Point(pole)));
    }
    goals
}

fn row(
    walk: &Walk<'_>,
    rig: &Rig,
    body: &BodyRoles,
    casts: &Casts,
    (title, most): (&str, f64),
) -> Result<bool, String> {
    let samples = Samples::default();
    let mut frames = Vec::new();
    for n in 0..FRAMES {
        let (time, mut pose) = (n as f32 / RATE, Pose::rest(&walk.model.skeleton));
        let placement = walk.sample(time, &mut pose);
        let goals = goals(rig, body, &pose, time);
        frames.push((time, pose, placement, goals));
    }
    let (mut state, mut workspace, mut pose) = (rig.state(), Workspace::new(), frames[0].1.clone());
    let mut tick = pose.clone();
    // The first pass records casts and samples, the others get them back.
    let (mut standing, mut missed) = (0, 0);
    // Microseconds of each frame go to `spent`.
    let mut pass = |records: bool, solves: bool, spent: &mut Vec<f64>| {
        state.restart();
        casts.replays.set(!records);
        casts.next.set(0);
        samples.next.set(0);
        spent.clear();
        let mut start = Instant::now();
        for (n, (time, given, placement, goals)) in frames.iter().enumerate() {
            if n > 0 {
                let now = Instant::now();
                spent.push((now - start).as_secs_f64() * 1e6);
                start = now;
            }
            pose.copy_from(given);
            let ahead = |later: f32, tick: &mut Pose| {
                if records {
                    let at = walk.sample(time + later, tick);
                    samples.all.borrow_mut().push((tick.clone(), at));
                    return at;
                }
                let all = samples.all.borrow();
                let (sample, at) = &all[samples.next.replace(samples.next.get() + 1)];
                tick.copy_from(sample);
                *at
            };
            if !solves {
                let all = samples.all.borrow();
                let share = |n: usize| n * all.len() / frames.len();
                all[share(n)..share(n + 1)].iter().for_each(|(sample, _)| tick.copy_from(sample));
                continue;
            }
            let frame = RigFrame::new(1.0 / RATE).with_goals(goals).with_placement(*placement);
            let frame = frame.with_ground(casts).with_look_ahead(&ahead);
            let report =
                rig.apply(&mut state, &mut workspace, &mut pose, &frame).map_err(|e| e.to_string())?;
            standing += report.planted.map_or(0, |feet| feet.standing);
            missed += report.handles.iter().filter(|h| h.was_off()).count();
        }
        Ok::<(), String>(())
    };
    let mut spent = Vec::with_capacity(FRAMES);
    casts.hits.borrow_mut().clear();
    pass(true, true, &mut spent)?;
    let mut failed = None;
    let counted = allocation_counter::measure(|| failed = pass(false, true, &mut spent).err());
    if let Some(error) = failed {
        return Err(error);
    }
    let mut micros = [const { Vec::new() }; 2];
    for _ in 0..ROUNDS {
        for (solves, micros) in [false, true].into_iter().zip(&mut micros) {
            pass(false, solves, &mut spent)?;
            micros.push(spent.clone());
        }
    }
    // The mean of each frame's median: a frame that the machine interrupts is one of many.
    let [copying, all] = micros.map(|rounds| {
        let median = |n: usize| {
            let mut times: Vec<f64> = rounds.iter().map(|spent| spent[n]).collect();
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2]
        };
        (0..FRAMES - 1).map(median).sum::<f64>() / (FRAMES - 1) as f64
    });
    let (frame, casts) = (all - copying, casts.hits.borrow().len() as f64 / FRAMES as f64);
    let stands = standing as f64 / (FRAMES * (ROUNDS + 2)) as f64;
    println!(
        "{title}: {frame:.2} us a frame beside {casts:.1} casts and samples; {stands:.2} feet stand, {} allocations in {FRAMES} frames",
        counted.count_total
    );
    if missed > 0 {
        return Err(format!("{title}: {missed} handles were off"));
    }
    let met = [frame <= most, counted.count_total == 0];
    bounds::bound(title, format!("a frame <= {most} us"), format!("{frame:.2}"), met[0]);
    bounds::bound(title, "no allocation in a frame", counted.count_total, met[1]);
    Ok(met[0] && met[1])
}
