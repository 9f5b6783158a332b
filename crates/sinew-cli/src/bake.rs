//! `sinew bake`: plays a clip through a rig, from file to file.

use std::{
    io::{self, Write},
    path::Path,
};

use serde_json::json;
use sinew::{
    JointId, Pose,
    ground::plant::{ClipAnalysis, ClipOptions, Figure, Interval, PlantError, contact::ContactLimits},
    motion::{Clip, Interpolation, JointTracks, Track},
    rig::{Baked, BakedGoals, MissedGoal, Rig, RigGoal, keys::RigKeys},
};
use sinew_files::{FileError, Model, Source, read_file, rig};

use crate::{
    args::{BakeArgs, BakeTo},
    failure::Failure,
    lookup, model,
    outputs::{check_folder, ending, keep_inputs},
    plant::{
        GROUND_COLOR, contacts,
        level::{Level, LevelError, Walk},
        report,
        work::{self, Done, Task, WorkError},
    },
};

/// Runs the subcommand.
pub fn run(args: &BakeArgs) -> Result<(), Failure> {
    if model::is_urdf(&args.model) {
        return Err(Failure::Usage(format!(
            "{}: a .urdf has no clip; `sinew solve` answers for its arms",
            args.model.display()
        )));
    }
    let level = args.ground.path.is_some().then(|| Level::of(&args.ground)).transpose()?;
    let ground = level.as_ref().and_then(Level::file);
    let contacts_file = args.contacts.as_ref().and_then(|source| source.file());
    keep_inputs(&args.out, [args.rig.as_path()].into_iter().chain(ground).chain(contacts_file))?;
    let model = model::read(&args.model, &args.units)?;
    if ending(&args.out) == "bvh" && matches!(model.source, Source::Gltf(_)) {
        return Err(model::not_from_bvh(&args.out));
    }
    if ending(&args.out) == "bvh" && args.to == BakeTo::Goals {
        return Err(Failure::Usage(format!(
            "{}: a BVH has no goals; write .glb or .gltf",
            args.out.display()
        )));
    }
    check_folder(&args.out)?;
    let of_model = |failure| named(&args.model, failure);
    let still = still(&model, args.clip.as_deref())?;
    let clip = match &still {
        Some(clip) => clip,
        None => lookup::clip_or_only(&model, args.clip.as_deref(), "bake").map_err(of_model)?,
    };
    let bind = model.bind_pose();
    let body = model::body(&model, &bind, &args.body)?;
    let text = String::from_utf8(read_file(&args.rig)?).map_err(|error| FileError::Line {
        path: args.rig.clone(),
        line: error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count()
            + 1,
        what: "the text is not UTF-8".into(),
    })?;
    let rig = rig::read(&text, &args.rig, &bind, body.as_ref().ok())?;
    let rest = Pose::rest(&model.skeleton);
    let figure = match level.is_some() || args.foot_tolerance.is_some() {
        true => {
            let by_hand = |e| of_model(Failure::Work(format!("{e}; {}", model::feet_by_hand(&model, &bind))));
            let body = body.map_err(by_hand)?;
            let skin = model.skin_points(&bind);
            Some(rig.figure(&bind, &body, &skin).map_err(|e| of_model(Failure::work(e)))?)
        }
        false => None,
    };
    // Keys of goals are played first. Then feet are planted: the handles get a clip whose feet stand.
    let mut keys = keys_of(&model, clip, &rig)?;
    let name = if keys.is_some() { without_goals(clip.name()) } else { clip.name() };
    let start = rig.preferred_pose(&rest);
    let play = |clip: &Clip, keys: Option<&RigKeys>| {
        let goals = |time, _: &Pose, goals: &mut [RigGoal]| {
            // Frames have finite times.
            keys.into_iter().for_each(|keys| drop(keys.sample(time, goals)));
        };
        let start = if keys.is_some() { &start } else { &rest };
        rig.bake(start, clip, goals).map_err(|e| of_model(Failure::work(e)))
    };
    let called = |name: &str, clip: &Clip| {
        let tracks = clip.tracks().iter().filter(|t| !is_of_keys(&model, t.joint)).cloned().collect();
        Clip::new(name, &model.skeleton, tracks).map_err(|e| of_model(Failure::work(e)))
    };
    let planted = match (&level, &figure) {
        (Some(level), Some(figure)) => {
            let played = keys.take().map(|keys| called(name, &play(clip, Some(&keys))?.clip)).transpose()?;
            let clip = played.as_ref().unwrap_or(clip);
            let given = match &args.contacts {
                Some(source) => contacts::read(source, &model, clip, args.units.memory.bytes())?,
                None => contacts::of_joints(&model, clip, rig.feet().map(|foot| foot.contact))
                    .map_err(|e| Failure::Work(format!("{}: `contacts`: {e}", args.rig.display())))?,
            };
            Some(plant(level, figure, &rest, clip, given, args).map_err(of_model)?)
        }
        _ => None,
    };
    let source = match &planted {
        Some(done) => &called(name, &done.planting.planted.clip)?,
        None => clip,
    };
    let made = match args.to {
        BakeTo::Joints => {
            let Baked { clip, missed, .. } = play(source, keys.as_ref())?;
            let clip = called(&free(&model, name, "baked"), &clip)?;
            Made { goals: None, clip: Some(clip), missed }
        }
        BakeTo::Goals => {
            let goals = |time, _: &Pose, goals: &mut [RigGoal]| {
                keys.iter().for_each(|keys| drop(keys.sample(time, goals)));
            };
            let start = if keys.is_some() { &start } else { &rest };
            let baked = rig.bake_goals(start, source, goals).map_err(|e| of_model(Failure::work(e)))?;
            if baked.keys.is_empty() {
                return Err(Failure::Work(format!(
                    "{}: no goal of this rig can be keyed: no handle is on at full influence, or all are of look-at, aim, follow, \
                     spline or twist",
                    args.rig.display()
                )));
            }
            let clip = baked.clip.as_ref().map(|clip| called(clip.name(), clip)).transpose()?;
            let missed = baked.missed.clone();
            Made { goals: Some(baked), clip, missed }
        }
    };
    let reduced = args.tolerance.map(|tolerance| {
        let shown = match (&made.goals, &made.clip) {
            (None, Some(clip)) => clip,
            _ => &play(source, keys.as_ref())?.clip,
        };
        let feet = figure.as_ref().zip(args.foot_tolerance);
        let contacts = feet.map_or(Ok(Vec::new()), |(figure, _)| contacts(figure, &rest, shown));
        let contacts = contacts.map_err(of_model)?;
        let within = |joint: JointId, time: f32| {
            let stands = |(foot, times): &(JointId, Vec<Interval>)| {
                model.skeleton.is_below(joint, *foot) && times.iter().any(|i| i.contains(time))
            };
            feet.filter(|_| contacts.iter().any(stands)).map_or(tolerance, |(_, tight)| tight.min(tolerance))
        };
        let failed = |e: &dyn std::fmt::Display| of_model(Failure::work(e));
        if let Some(goals) = &made.goals {
            let goals = goals.reduced(&rig, &rest, within).map_err(|e| failed(&e))?;
            let clip = goals.clip.as_ref().map(|clip| called(clip.name(), clip)).transpose()?;
            return Ok(Made { goals: Some(goals), clip, missed: Vec::new() });
        }
        let clip = made.clip.as_ref().map(|clip| clip.reduced(&rest, within)).transpose();
        Ok::<_, Failure>(Made { goals: None, clip: clip.map_err(|e| failed(&e))?, missed: Vec::new() })
    });
    let reduced = reduced.transpose()?;
    let done = reduced.as_ref().unwrap_or(&made);
    let name = match args.to {
        BakeTo::Joints => done.clip.as_ref().map_or("", Clip::name).to_owned(),
        BakeTo::Goals => free(&model, name, "goals"),
    };
    write(&model, (clip, still.is_some()), (&rig, &name), done, planted.as_ref(), args)?;
    if !args.quiet {
        let (all, left) = (made.moving_keys(), done.moving_keys());
        let count = if reduced.is_some() { format!("{left} of {all} keys") } else { format!("{all} keys") };
        let handles = rig.len();
        let on = level.map_or(String::new(), |level| format!(", planted on {level},"));
        writeln!(
            io::stdout(),
            "{}: `{}`{on} through {handles} handle{} to `{}`, {:.2} s, {count}",
            args.out.display(),
            lookup::shown(clip.name()),
            if handles == 1 { "" } else { "s" },
            lookup::shown(&name),
            done.duration(),
        )?;
        made.tell(&rig)?;
    }
    Ok(())
}

/// The name without ` (goals)` or ` (goals 2)` at its end, which a clip that was baked to goals has.
fn without_goals(name: &str) -> &str {
    let Some((before, number)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" (goals")) else {
        return name;
    };
    let is_count = number.strip_prefix(' ').is_some_and(|n| n.parse::<u32>().is_ok());
    if number.is_empty() || is_count { before } else { name }
}

/// A baked clip.
struct Made {
    /// Keys of goals, where it was baked to these.
    goals: Option<BakedGoals>,
    /// Tracks of joints.
    clip: Option<Clip>,
    missed: Vec<MissedGoal>,
}

impl Made {
    /// Number of keys of what moves; one with tangents counts three.
    fn moving_keys(&self) -> usize {
        let tracks = self.goals.iter().flat_map(|goals| goals.keys.tracks());
        let goals: usize = tracks.map(|t| if t.keys().len() > 1 { t.keys().len() } else { 0 }).sum();
        goals + self.clip.as_ref().map_or(0, moving_keys)
    }

    /// Duration in seconds.
    fn duration(&self) -> f32 {
        let keys = self.goals.as_ref().and_then(|goals| goals.keys.span());
        let clip = self.clip.as_ref().map(|clip| [clip.start(), clip.end()]);
        let [from, to] = match (keys, clip) {
            (Some(a), Some(b)) => [a[0].min(b[0]), a[1].max(b[1])],
            (a, b) => a.or(b).unwrap_or_default(),
        };
        to - from
    }

    /// Prints the goals that are missed, and what goals do not show.
    fn tell(&self, rig: &Rig) -> io::Result<()> {
        let name = |handle: usize| lookup::shown(rig.names().nth(handle).unwrap_or_default());
        for miss in &self.missed {
            writeln!(
                io::stdout(),
                "  `{}` misses its goal in {} frame{} from {:.2} s on, by up to {:.3} m and {:.1} degrees",
                name(miss.handle),
                miss.frames,
                if miss.frames == 1 { "" } else { "s" },
                miss.time,
                miss.position_residual,
                miss.rotation_residual.to_degrees(),
            )?;
        }
        for (handle, off) in self.goals.iter().flat_map(|goals| &goals.deviations).enumerate() {
            if off.turn > SHOWN {
                writeln!(
                    io::stdout(),
                    "  the goals of `{}` do not show all of the motion: its joints are up to {:.1} degrees and {:.3} m off, \
                     at {:.2} s",
                    name(handle),
                    off.turn.to_degrees(),
                    off.distance,
                    off.time,
                )?;
            }
        }
        Ok(())
    }
}

/// Largest deviation of joints in radians that is not told, as it is not seen: 0.1 degrees, 0.4 mm on a lower leg.
const SHOWN: f32 = 1.75e-3;

/// The failure with the file that it is about, unless it names one.
fn named(path: &Path, failure: Failure) -> Failure {
    match failure {
        Failure::Work(what) => Failure::Work(format!("{}: {what}", path.display())),
        other => other,
    }
}

/// A still clip of the rest pose, for a model without clips.
fn still(model: &Model, wanted: Option<&str>) -> Result<Option<Clip>, Failure> {
    if !model.clips.is_empty() || !model.problems.is_empty() || wanted.is_some_and(|name| name != "rest") {
        return Ok(None);
    }
    let track = |joint| {
        let at = model.skeleton.rest(joint).rotation;
        let rotation =
            Track::new(vec![0.0, 1.0], vec![at; 2], Interpolation::Linear).map_err(Failure::work)?;
        Ok(JointTracks { rotation: Some(rotation), ..JointTracks::new(joint) })
    };
    let tracks = model.skeleton.joints().map(track).collect::<Result<_, Failure>>()?;
    Ok(Some(Clip::new("rest", &model.skeleton, tracks).map_err(Failure::work)?))
}

/// The keys of the rig's goals that a clip of the model has.
fn keys_of(model: &Model, clip: &Clip, rig: &Rig) -> Result<Option<RigKeys>, Failure> {
    let Source::Gltf(document) = &model.source else { return Ok(None) };
    let index = model.clips.iter().position(|other| std::ptr::eq(other, clip));
    let Some(animation) = index.and_then(|index| document.animation(index)) else { return Ok(None) };
    Ok(document.goal_keys(animation, &model.skeleton, rig)?)
}

/// Whether a joint is a node of a rig's keys.
fn is_of_keys(model: &Model, joint: JointId) -> bool {
    matches!(&model.source, Source::Gltf(document) if document.is_of_keys(joint))
}

/// A name for a clip that no clip of the model has: `NAME (baked)`, `NAME (baked 2)` and so on.
fn free(model: &Model, name: &str, what: &str) -> String {
    let taken = |text: &String| {
        model.clips.iter().any(|c| c.name() == text) || model.problems.iter().any(|p| p.clip == *text)
    };
    let of = |n: usize| if n == 1 { format!("{name} ({what})") } else { format!("{name} ({what} {n})") };
    (1..).map(of).find(|text| !taken(text)).unwrap_or_else(|| of(1))
}

/// Plants the clip's feet on a ground.
fn plant(
    level: &Level,
    figure: &Figure,
    rest: &Pose,
    clip: &Clip,
    given: contacts::Given,
    args: &BakeArgs,
) -> Result<Done, Failure> {
    let mut options = ClipOptions::default();
    if given.iter().any(Option::is_some) {
        options.contacts = given.into();
    }
    let task = Task { figure, rest, clip, options };
    let made = args.units.ground_options(args.ground.up);
    let ground = |walk: &Walk<'_>| level.mesh(walk, args.ground.scale, args.ground.at, &made);
    work::plant(&task, ground).map_err(|error| match (error, &args.contacts) {
        (WorkError::Plant(PlantError::Contacts(refused)), Some(source)) => {
            contacts::refused(source, &refused)
        }
        (WorkError::Level(LevelError::File(error)), _) => Failure::File(error),
        (error, _) => Failure::work(error),
    })
}

/// The ankles, and the times in which their feet are in contact with the floor in a clip.
fn contacts(figure: &Figure, rest: &Pose, clip: &Clip) -> Result<Vec<(JointId, Vec<Interval>)>, Failure> {
    let mut options = ClipOptions::default();
    options.repeat = Some(1);
    let analysis = ClipAnalysis::of(figure, rest, clip, &options).map_err(Failure::work)?;
    let limits = ContactLimits::new(figure, &options.planting);
    let times = |i: Interval| Interval { from: analysis.start + i.from, to: analysis.start + i.to };
    let feet = figure.legs().iter().zip(&analysis.feet).map(|(leg, foot)| {
        let contacts = foot.contacts(analysis.step, &limits);
        (leg.foot, contacts.heel.into_iter().chain(contacts.ball).map(times).collect())
    });
    Ok(feet.collect())
}

/// Number of keys of what moves; one with tangents counts three.
fn moving_keys(clip: &Clip) -> usize {
    fn of<T: Copy + PartialEq>(values: &[T]) -> usize {
        if values.iter().all(|v| *v == values[0]) { 0 } else { values.len() }
    }
    let joint = |t: &sinew::motion::JointTracks| {
        let vectors = [&t.translation, &t.scale].into_iter().flatten().map(|t| of(t.values()));
        vectors.sum::<usize>() + t.rotation.as_ref().map_or(0, |t| of(t.values()))
    };
    clip.tracks().iter().map(joint).sum()
}

fn write(
    model: &Model,
    (source, still): (&Clip, bool),
    (rig, name): (&Rig, &str),
    made: &Made,
    planted: Option<&Done>,
    args: &BakeArgs,
) -> Result<(), Failure> {
    let out: &Path = &args.out;
    let mut document = match (&model.source, &made.clip) {
        (Source::Gltf(document), _) => document.clone(),
        (Source::Bvh(bvh), Some(clip)) if ending(out) == "bvh" => {
            return Ok(bvh.write(out, &model.skeleton, clip, None)?);
        }
        (Source::Bvh(_), _) => model::document(model)?,
    };
    let note = planted.map_or_else(|| json!({ "source": source.name() }), |done| report::note(done, source));
    let extras = Some(json!({ "sinew": note }));
    if still {
        document.add_animation(source, None)?;
    }
    match (&made.goals, &made.clip) {
        (Some(goals), clip) => {
            document.add_keyed_clip(name, rig, &goals.keys, clip.as_ref(), extras)?;
        }
        (None, Some(clip)) => {
            document.add_animation(clip, extras)?;
        }
        (None, None) => {}
    }
    if let Some(done) = planted {
        document.add_mesh_node("ground", done.ground.mesh(), GROUND_COLOR)?;
    }
    Ok(document.write(out)?)
}
