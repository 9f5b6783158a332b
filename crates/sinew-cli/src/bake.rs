//! `sinew bake`: plays a clip through a rig, from file to file.

use std::{
    io::{self, Write},
    path::Path,
};

use serde_json::json;
use sinew::{
    JointId, Pose,
    body::{BodyRoles, RoleError},
    ground::plant::{ClipAnalysis, ClipOptions, Figure, Interval, contact::ContactLimits},
    motion::Clip,
};
use sinew_files::{FileError, Model, Source, read_file, rig};

use crate::{
    args::BakeArgs,
    failure::Failure,
    lookup, model,
    outputs::{check_folder, ending, keep_inputs},
};

/// Runs the subcommand.
pub fn run(args: &BakeArgs) -> Result<(), Failure> {
    keep_inputs(&args.out, [args.rig.as_path()])?;
    if model::is_urdf(&args.model) {
        return Err(Failure::Usage(format!(
            "{}: a .urdf has no clip; `sinew solve` answers for its arms",
            args.model.display()
        )));
    }
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
    let baked = rig.bake(&rest, clip, |_, _, _| ()).map_err(Failure::work)?;
    let written = match args.tolerance {
        None => None,
        Some(tolerance) => {
            let contacts = match args.foot_tolerance {
                None => Vec::new(),
                Some(_) => contacts(&model, &bind, &rest, &baked, &body)?,
            };
            let within = |joint: JointId, time: f32| {
                let stands = contacts.iter().any(|(foot, times)| {
                    model.skeleton.is_below(joint, *foot) && times.iter().any(|i| i.contains(time))
                });
                args.foot_tolerance.filter(|_| stands).unwrap_or(tolerance)
            };
            Some(baked.reduced(&rest, within).map_err(Failure::work)?)
        }
    };
    let done = written.as_ref().unwrap_or(&baked);
    write(&model, clip, done, args)?;
    if !args.quiet {
        let (all, left) = (moving_keys(&baked), moving_keys(done));
        let keys = if written.is_some() { format!("{left} of {all} keys") } else { format!("{all} keys") };
        let handles = rig.len();
        writeln!(
            io::stdout(),
            "{}: `{}` through {handles} handle{} to `{}`, {:.2} s, {keys}",
            args.out.display(),
            lookup::shown(clip.name()),
            if handles == 1 { "" } else { "s" },
            lookup::shown(done.name()),
            done.duration(),
        )?;
    }
    Ok(())
}

/// The ankles, and the times in which their feet are in contact with the floor in a clip.
fn contacts(
    model: &Model,
    bind: &Pose,
    rest: &Pose,
    clip: &Clip,
    body: &Result<BodyRoles, RoleError>,
) -> Result<Vec<(JointId, Vec<Interval>)>, Failure> {
    let by_hand = |e: &RoleError| Failure::Work(format!("{e}; {}", model::feet_by_hand(model, bind)));
    let body = body.as_ref().map_err(by_hand)?;
    let figure = Figure::of_body(bind, body, &model.skin_points(bind)).map_err(Failure::work)?;
    let mut options = ClipOptions::default();
    options.repeat = Some(1);
    let analysis = ClipAnalysis::of(&figure, rest, clip, &options).map_err(Failure::work)?;
    let limits = ContactLimits::new(&figure, &options.planting);
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

fn write(model: &Model, clip: &Clip, baked: &Clip, args: &BakeArgs) -> Result<(), Failure> {
    let out: &Path = &args.out;
    let mut document = match &model.source {
        Source::Gltf(document) => document.clone(),
        Source::Bvh(bvh) if ending(out) == "bvh" => {
            return Ok(bvh.write(out, &model.skeleton, baked, None)?);
        }
        Source::Bvh(_) => model::document(model)?,
    };
    document.add_animation(baked, Some(json!({ "sinew": { "source": clip.name() } })))?;
    Ok(document.write(out)?)
}
