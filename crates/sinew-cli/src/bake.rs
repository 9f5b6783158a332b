//! `sinew bake`: plays a clip through a rig, from file to file.

use std::{
    io::{self, Write},
    path::Path,
};

use serde_json::json;
use sinew::{
    JointId, Pose,
    ground::plant::{ClipAnalysis, ClipOptions, Figure, Interval, contact::ContactLimits},
    motion::Clip,
    rig::Baked,
};
use sinew_files::{FileError, Model, Source, read_file, rig};

use crate::{
    args::BakeArgs,
    failure::Failure,
    lookup, model,
    outputs::{check_folder, ending, keep_inputs},
    plant::{
        GROUND_COLOR,
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
    keep_inputs(&args.out, [args.rig.as_path()].into_iter().chain(ground))?;
    let model = model::read(&args.model, &args.units)?;
    if ending(&args.out) == "bvh" && matches!(model.source, Source::Gltf(_)) {
        return Err(model::not_from_bvh(&args.out));
    }
    check_folder(&args.out)?;
    let clip = lookup::clip_or_only(&model, args.clip.as_deref(), "bake")?;
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
            let by_hand = |e| Failure::Work(format!("{e}; {}", model::feet_by_hand(&model, &bind)));
            let body = body.map_err(by_hand)?;
            Some(Figure::of_body(&bind, &body, &model.skin_points(&bind)).map_err(Failure::work)?)
        }
        false => None,
    };
    // Feet are planted first: the handles then get a clip whose feet stand.
    let planted = match (&level, &figure) {
        (Some(level), Some(figure)) => Some(plant(level, figure, &rest, clip, args)?),
        _ => None,
    };
    let source = match &planted {
        Some(done) => {
            let tracks = done.planting.planted.clip.tracks().to_vec();
            &Clip::new(clip.name(), &model.skeleton, tracks).map_err(Failure::work)?
        }
        None => clip,
    };
    let Baked { clip: baked, missed, .. } = rig.bake(&rest, source, |_, _, _| ()).map_err(Failure::work)?;
    let reduced = args.tolerance.map(|tolerance| {
        let feet = figure.as_ref().zip(args.foot_tolerance);
        let contacts = feet.map_or(Ok(Vec::new()), |(figure, _)| contacts(figure, &rest, &baked))?;
        let within = |joint: JointId, time: f32| {
            let stands = |(foot, times): &(JointId, Vec<Interval>)| {
                model.skeleton.is_below(joint, *foot) && times.iter().any(|i| i.contains(time))
            };
            feet.filter(|_| contacts.iter().any(stands)).map_or(tolerance, |(_, tight)| tight.min(tolerance))
        };
        baked.reduced(&rest, within).map_err(Failure::work)
    });
    let reduced = reduced.transpose()?;
    let done = reduced.as_ref().unwrap_or(&baked);
    write(&model, clip, done, planted.as_ref(), args)?;
    if !args.quiet {
        let (all, left) = (moving_keys(&baked), moving_keys(done));
        let keys = if reduced.is_some() { format!("{left} of {all} keys") } else { format!("{all} keys") };
        let handles = rig.len();
        let on = level.map_or(String::new(), |level| format!(", planted on {level},"));
        writeln!(
            io::stdout(),
            "{}: `{}`{on} through {handles} handle{} to `{}`, {:.2} s, {keys}",
            args.out.display(),
            lookup::shown(clip.name()),
            if handles == 1 { "" } else { "s" },
            lookup::shown(done.name()),
            done.duration(),
        )?;
        for miss in &missed {
            let name = rig.names().nth(miss.handle).unwrap_or_default();
            writeln!(
                io::stdout(),
                "  `{}` misses its goal in {} frame{} from {:.2} s on, by up to {:.3} m and {:.1} degrees",
                lookup::shown(name),
                miss.frames,
                if miss.frames == 1 { "" } else { "s" },
                miss.time,
                miss.position_residual,
                miss.rotation_residual.to_degrees(),
            )?;
        }
    }
    Ok(())
}

/// Plants the clip's feet on a ground.
fn plant(level: &Level, figure: &Figure, rest: &Pose, clip: &Clip, args: &BakeArgs) -> Result<Done, Failure> {
    let task = Task { figure, rest, clip, options: ClipOptions::default() };
    let made = args.units.ground_options(args.ground.up);
    let ground = |walk: &Walk<'_>| level.mesh(walk, args.ground.scale, args.ground.at, &made);
    work::plant(&task, ground).map_err(|error| match error {
        WorkError::Level(LevelError::File(error)) => Failure::File(error),
        error => Failure::work(error),
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
    clip: &Clip,
    baked: &Clip,
    planted: Option<&Done>,
    args: &BakeArgs,
) -> Result<(), Failure> {
    let out: &Path = &args.out;
    let mut document = match &model.source {
        Source::Gltf(document) => document.clone(),
        Source::Bvh(bvh) if ending(out) == "bvh" => {
            return Ok(bvh.write(out, &model.skeleton, baked, None)?);
        }
        Source::Bvh(_) => model::document(model)?,
    };
    let note = planted.map_or_else(|| json!({ "source": clip.name() }), |done| report::note(done, clip));
    document.add_animation(baked, Some(json!({ "sinew": note })))?;
    if let Some(done) = planted {
        document.add_mesh_node("ground", done.ground.mesh(), GROUND_COLOR)?;
    }
    Ok(document.write(out)?)
}
