//! `sinew plant`: plants the feet of a clip on a ground, from file to file.

pub mod contacts;
pub mod level;
pub mod report;
mod show;
pub mod work;

use std::{
    io::{self, Write},
    path::Path,
};

use sinew::{
    JointId, Pose,
    body::{RoleError, Side},
    ground::plant::{ClipOptions, Figure, PlantError, PlantOptions, Stride},
    motion::Clip,
};
use sinew_files::{Model, Source, sample, write_whole};

use crate::{
    args::PlantArgs,
    failure::Failure,
    lookup,
    model::{self, body},
    outputs::{check_folder, ending, is_dash, lost, real},
    picture::save::save,
};

use level::{Level, LevelError, Walk};
use work::{Done, Task, WorkError};

/// Runs the subcommand.
pub fn run(args: &PlantArgs) -> Result<(), Failure> {
    let model = match &args.model {
        Some(path) => model::read(path, &args.units)?,
        None => sample::mannequin().map_err(Failure::work)?,
    };
    let out = args.out();
    let level = Level::of(&args.ground)?;
    check_outputs(args, &model, &level)?;
    let clip = lookup::clip_or_only(&model, args.clip.as_deref(), "plant")?;
    let memory = args.units.memory.bytes();
    let contacts = args.contacts.as_ref().map(|c| contacts::read(c, &model, clip, memory)).transpose()?;
    let bind = model.bind_pose();
    let rest = Pose::rest(&model.skeleton);
    let by_hand = |e: RoleError| Failure::Work(format!("{e}; {}", model::feet_by_hand(&model, &bind)));
    let body = body(&model, &bind, &args.body)?.map_err(by_hand)?;
    let mut figure = Figure::of_body(&bind, &body, &model.skin_points(&bind)).map_err(Failure::work)?;
    for (side, leg) in Side::BOTH.into_iter().zip(figure.legs_mut()) {
        let outwards = if side == Side::Left { args.yaw_left } else { -args.yaw_right };
        leg.yaw = outwards.to_radians();
        leg.sole_height = args.sole_height.unwrap_or(0.0);
        leg.influence = args.influence;
    }
    let leg = figure.leg_length();
    check_lengths(args, leg)?;
    let mut settings = PlantOptions::default();
    settings.max_slope = args.max_slope.map_or(settings.max_slope, f32::to_radians);
    settings.cast_above = args.cast_above.map_or(settings.cast_above, |m| m / leg);
    settings.cast_below = args.cast_below.map_or(settings.cast_below, |m| m / leg);
    let mut options = ClipOptions::default();
    options.planting = settings;
    options.repeat = args.repeat;
    options.stride =
        args.stride.or_else(|| (args.model.is_none() && args.influence > 0.0).then_some(Stride::Fit));
    options.contacts = contacts.map(Vec::from).unwrap_or_default();
    options.max_keys = args.max_keys;
    let task = Task { figure: &figure, rest: &rest, clip, options };
    let made = args.units.ground_options(args.ground.up);
    let ground = |walk: &Walk<'_>| level.mesh(walk, args.ground.scale, args.ground.at, &made);
    let done = work::plant(&task, ground).map_err(|error| match (error, &args.contacts) {
        (WorkError::Plant(PlantError::Contacts(refused)), Some(source)) => {
            contacts::refused(source, &refused)
        }
        (WorkError::Level(LevelError::File(error)), _) => Failure::File(error),
        (WorkError::Plant(error @ PlantError::Keys { .. }), _) => {
            let model =
                args.model.as_deref().map_or("the built-in walk".into(), |path| path.display().to_string());
            Failure::Work(format!("{model}: {error}, which --max-keys raises"))
        }
        (WorkError::Plant(error @ PlantError::NotHeld { .. }), _) => Failure::Work(format!(
            "{error}; nothing is written (--feet LEFT,RIGHT gives the joints of the ankles)"
        )),
        (error, _) => Failure::work(error),
    })?;

    let mut hints = model::hints(&model, &bind, figure.height(), &body);
    hints.extend(assumed_soles(&figure, &model));
    write_model(&model, clip, &done, &out)?;
    if let Some(path) = args.picture() {
        save(&show::picture(&task, &done, &level, &model, &body, &bind), &path)?;
    }
    if let Some(path) = &args.report {
        let json = report::report(&task, &done, &model, &hints);
        let write = |w: &mut dyn Write| -> io::Result<()> {
            serde_json::to_writer_pretty(&mut *w, &json)?;
            writeln!(w)
        };
        match is_dash(path) {
            true => write(&mut io::stdout().lock())?,
            false => write_whole(path, write)?,
        }
    }
    // A report on standard output replaces the summary, so that the output stays JSON.
    if !args.quiet && !args.report.as_deref().is_some_and(is_dash) {
        report::print(&task, &done, &model, &out, args, &hints)?;
    }
    Ok(())
}

/// Note about soles that the model does not tell.
fn assumed_soles(figure: &Figure, model: &Model) -> Option<String> {
    let name = |&joint: &JointId| format!("`{}`", lookup::shown(model.skeleton.name(joint)));
    let feet: Vec<_> = figure.assumed_soles().iter().map(name).collect();
    (!feet.is_empty()).then(|| {
        format!(
            "neither a mesh nor a joint ahead of the ankle tells the sole of {}: soles have a person's proportions",
            feet.join(" and ")
        )
    })
}

/// Returns an error if an option's length is too great for this figure's legs. Options are in metres, settings in leg
/// lengths.
fn check_lengths(args: &PlantArgs, leg: f32) -> Result<(), Failure> {
    let (once, far) = ((1.0, "the leg"), (10.0, "10 times the leg"));
    for (option, metres, (legs, max)) in [
        ("--sole-height", args.sole_height, once),
        ("--cast-above", args.cast_above, far),
        ("--cast-below", args.cast_below, far),
    ] {
        if let Some(metres) = metres.filter(|m| *m > legs * leg) {
            return Err(Failure::Work(format!(
                "{option} {metres} m is more than {max}, which is {leg:.3} m long"
            )));
        }
    }
    Ok(())
}

/// Returns an error for outputs that cannot be written or are surely a mistake, before the work is done.
fn check_outputs(args: &PlantArgs, model: &Model, level: &Level) -> Result<(), Failure> {
    let out = args.out();
    if ending(&out) == "bvh" && matches!(model.source, Source::Gltf(_)) {
        return Err(model::not_from_bvh(&out));
    }
    let model_file = args.model.as_deref().map(real);
    let ground_file = level.file().map(real);
    let contacts_file = args.contacts.as_ref().and_then(|c| c.file()).map(real);
    let outputs = [Some(out), args.picture(), args.report.clone().filter(|path| !is_dash(path))];
    let outputs: Vec<_> = outputs.into_iter().flatten().map(|path| (real(&path), path)).collect();
    for (i, (file, path)) in outputs.iter().enumerate() {
        check_folder(path)?;
        if outputs.iter().filter(|(other, _)| other == file).count() > 1 {
            return Err(Failure::Usage(format!("{} is given for two outputs", path.display())));
        }
        // Only the planted model may overwrite the input model, as it holds all of it.
        let is_model = Some(file) == model_file.as_ref();
        let is_input = [&ground_file, &contacts_file].into_iter().flatten().any(|input| input == file);
        if (is_model && i > 0) || (!is_model && is_input) {
            return Err(lost(path));
        }
    }
    Ok(())
}

/// Warm grey (linear RGBA), on which feet and shadows stand out.
pub const GROUND_COLOR: [f32; 4] = [0.62, 0.6, 0.56, 1.0];

fn write_model(model: &Model, clip: &Clip, done: &Done, out: &Path) -> Result<(), Failure> {
    let note = report::note(done, clip);
    let mut document = match &model.source {
        Source::Gltf(document) => document.clone(),
        Source::Bvh(bvh) if ending(out) == "bvh" => {
            return Ok(bvh.write(out, &model.skeleton, &done.planting.planted.clip, None)?);
        }
        Source::Bvh(_) => model::document(model)?,
    };
    document.add_animation(&done.planting.planted.clip, Some(serde_json::json!({ "sinew": note })))?;
    document.add_mesh_node("ground", done.ground.mesh(), GROUND_COLOR)?;
    Ok(document.write(out)?)
}
