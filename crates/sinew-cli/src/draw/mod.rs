//! `sinew draw`: a picture of a model in one pose.

mod arm;

use glam::{DVec3, Vec3};
use sinew::{
    JointId, Pose,
    body::{BodyRoles, Role},
    draw::DrawList,
    motion::Clip,
    solve::spline::{Curve, CurveKind, CurveUp},
};
use sinew_files::Model;

use crate::{
    args::DrawArgs,
    failure::Failure,
    lookup, model,
    outputs::keep_inputs,
    picture::{
        canvas::Canvas,
        figure::Figure,
        pose::{PosePicture, Solved},
        save::save,
    },
    solve::{self, CurveRequest},
};

/// Maximum number of names in a picture; more would crowd it.
const MAX_NAMES: usize = 44;

/// Runs the subcommand.
pub fn run(args: &DrawArgs) -> Result<(), Failure> {
    keep_inputs(&args.out, [args.model.as_path()].into_iter().chain(args.goals.as_deref()))?;
    if model::is_urdf(&args.model) {
        return arm::run(args);
    }
    let curve = CurveRequest::of(&args.curve);
    let has_goal = args.to.is_some() || curve.is_some();
    if curve.is_some() && args.clip.is_some() {
        return Err(Failure::Usage("--curve starts at the rest pose and cannot be used with --clip".into()));
    }
    if !has_goal && args.goals.is_none() && args.chain.is_some() {
        return Err(Failure::Usage(
            "--chain needs --to, --goals or --curve; alone it selects the limits to draw of a .urdf".into(),
        ));
    }
    let model = model::read(&args.model, &args.units)?;
    if has_goal {
        let one = solve::One {
            chain: args.chain.as_ref(),
            solver: args.solver,
            to: args.to,
            pole: args.pole,
            curve: curve.clone(),
        };
        let (pose, from, summary) = solve::one(&model, &one)?;
        let point = |p: [f64; 3]| DVec3::from_array(p).as_vec3();
        let line = curve.map_or(Vec::new(), |c| polyline(&c));
        let before = Pose::rest(&model.skeleton);
        let goals: Vec<_> = args.to.iter().map(|&to| (pose.position(from), point(to))).collect();
        let solved = Solved { before: &before, goals: &goals, pole: args.pole.map(point), curve: &line };
        return Ok(save(&page(&model, summary, &pose, Some(solved)), &args.out)?);
    }
    if let Some(goals) = &args.goals {
        let memory = args.units.memory.bytes();
        let first = solve::first(&model, args.chain.as_ref(), args.solver, args.human, goals, memory)?;
        let solved = Solved { before: &first.before, goals: &first.goals, pole: None, curve: &[] };
        return Ok(save(&page(&model, first.summary, &first.pose, Some(solved)), &args.out)?);
    }
    let clip = args.clip.as_deref().map(|name| lookup::clip(&model, name)).transpose()?;
    Ok(save(&picture(&model, clip, args.time.unwrap_or(0.0)), &args.out)?)
}

/// Points along a curve, dense enough for a picture. Empty for an invalid curve, for which the solve has failed before.
fn polyline(request: &CurveRequest) -> Vec<Vec3> {
    let points: Vec<_> = request.points.iter().map(|p| DVec3::from_array(*p).as_vec3()).collect();
    let kind = if request.bezier { CurveKind::Bezier } else { CurveKind::CatmullRom };
    let Ok(curve) = Curve::new(kind, &points, request.closed, CurveUp::Direction(Vec3::Y)) else {
        return Vec::new();
    };
    const STEPS: usize = 400;
    (0..=STEPS).map(|i| curve.at(curve.length() * i as f32 / STEPS as f32).position).collect()
}

/// Draws the rest pose, or a clip at a time in seconds.
pub fn picture(model: &Model, clip: Option<&Clip>, time: f32) -> Canvas {
    let mut pose = Pose::rest(&model.skeleton);
    let mut subtitle = "rest pose".to_string();
    if let Some(clip) = clip {
        clip.sample(time, &mut pose);
        pose.update();
        let time = time.clamp(clip.start(), clip.end());
        subtitle = format!("{} at {time:.2} s of {:.2} s", clip.name(), clip.end());
    }
    page(model, subtitle, &pose, None)
}

/// Draws a pose, with the start and goals of a solve if there was one.
fn page(model: &Model, mut subtitle: String, pose: &Pose, solved: Option<Solved>) -> Canvas {
    let bind = model.bind_pose();
    let body = BodyRoles::find(&bind, &model.declared_roles).ok();
    let figure = Figure::of_model(model, &bind, body.as_ref());
    let named = named(model, &figure, body.as_ref());
    let count = figure.joints().count();
    // The summary of a solve has the number of its chain's joints.
    if solved.is_none() {
        subtitle.push_str(&format!(", {count} joint{}", if count == 1 { "" } else { "s" }));
    }
    PosePicture {
        title: model.name.clone(),
        subtitle,
        figure: &figure,
        pose,
        named,
        limits: DrawList::new(),
        solved,
    }
    .draw()
}

/// The joints whose names are written: those with a role, or without roles all of them if they are few.
fn named(model: &Model, figure: &Figure, body: Option<&BodyRoles>) -> Vec<JointId> {
    if let Some(body) = body {
        let main = |role: Role| !matches!(role, Role::Clavicle(_));
        return body.assigned.iter().filter(|a| main(a.role)).map(|a| a.joint).collect();
    }
    let all: Vec<_> = figure.joints().filter(|&j| !model.skeleton.name(j).is_empty()).collect();
    if all.len() <= MAX_NAMES { all } else { Vec::new() }
}
