//! `sinew walk`: a creature walks over a ground by itself, from file to file.

mod path;
mod report;
mod show;

use std::{
    io::{self, Write},
    path::Path,
};

use glam::{Affine3, DAffine3, Vec3};
use sinew::{
    JointId, JointTransform, Placement, Pose, Workspace,
    body::Legs,
    ground::{
        MeshGround, TriangleMesh,
        walk::{Creature, WalkFoot, WalkOptions, WalkReport, Walker},
    },
    motion::{Baker, Clip},
};
use sinew_files::{
    Model, Source, read_file,
    rig::{self, CreatureSpec},
    sample, write_whole,
};

use crate::{
    args::WalkArgs,
    failure::Failure,
    lookup, model,
    outputs::{check_folder, ending, is_dash, keep_inputs},
    picture::save::save,
    plant::{
        GROUND_COLOR,
        level::{Level, Walk},
    },
};

use path::{Order, Trail};

/// Leg for which built-in grounds are made, in metres.
const LEG: f32 = 0.9;

/// Speed that no legs step, in legs per second: built-in grounds lie under the way at no higher one.
const FASTEST: f32 = 4.0;

/// A walk, frame by frame.
pub struct Walked {
    /// Times of the frames, in seconds.
    pub times: Vec<f32>,
    /// Report of each frame.
    pub reports: Vec<WalkReport>,
    /// Feet of each frame.
    pub feet: Vec<Vec<WalkFoot>>,
    /// Pose of each frame in world space.
    pub poses: Vec<Pose>,
    /// Distance of the trunk from its path in each frame, in metres; without a path, from where its command leads.
    pub off: Vec<f32>,
}

/// Runs the subcommand.
pub fn run(args: &WalkArgs) -> Result<(), Failure> {
    let out = args.out();
    let level = Level::parse(args.ground.path.as_deref().unwrap_or(Path::new("rough")));
    if args.ground.at != Vec3::ZERO && level.file().is_none() {
        return Err(Failure::Usage(
            "--ground-at is for a ground from a file; built-in ones are placed under the walk".into(),
        ));
    }
    if args.ground.up.is_some() && level.file().is_none_or(|path| ending(path) != "obj") {
        return Err(Failure::Usage(
            "--ground-up is for an .obj ground, whose format does not declare an up axis".into(),
        ));
    }
    let inputs = [level.file(), args.path.as_deref(), args.commands.as_deref(), args.rig.as_deref()];
    let outputs = [Some(out.clone()), args.picture(), args.report.clone().filter(|path| !is_dash(path))];
    for path in outputs.iter().flatten() {
        check_folder(path)?;
        keep_inputs(path, inputs.into_iter().flatten())?;
    }
    let model = match &args.model {
        Some(path) => model::read(path, &args.units)?,
        None => sample::creature(args.creature.unwrap_or(8)).map_err(Failure::work)?,
    };
    if ending(&out) == "bvh" && matches!(model.source, Source::Gltf(_)) {
        return Err(model::not_from_bvh(&out));
    }
    let bind = model.bind_pose();
    let skin = model.skin_points(&bind);
    let spec = match &args.rig {
        Some(path) => {
            let text = String::from_utf8(read_file(path)?)
                .map_err(|_| Failure::Work(format!("{}: the text is not UTF-8", path.display())))?;
            rig::creature(&text, path, &model.skeleton)?
        }
        None => CreatureSpec::default(),
    };
    let legs = legs(args, &spec, &model, &bind, &skin)?;
    let creature = Creature::new(&bind, &legs, &skin).map_err(Failure::work)?;
    let mut options = spec.apply(WalkOptions::new());
    options.gait = args.gait.or(options.gait);
    options.ride = args.ride.unwrap_or(options.ride);
    options.trail = args.trail.unwrap_or(options.trail);
    let walker = Walker::new(&creature, options).map_err(Failure::work)?;
    let clip = match &args.clip {
        Some(name) => Some(lookup::clip_or_only(&model, Some(name), "walk")?),
        None => None,
    };
    let speed = args.speed.unwrap_or(0.5 * creature.length());
    let trail = path::trail(args)?;
    let seconds =
        args.seconds.unwrap_or_else(|| trail.as_ref().map_or(10.0, |t| t.length() / speed.abs().max(1e-3)));
    const LONGEST: f32 = 3600.0;
    if seconds > LONGEST {
        return Err(Failure::Work(format!("a walk of {seconds} s is longer than {LONGEST} s")));
    }
    let orders = path::orders(args, speed)?;
    let mesh = ground(args, &level, &creature, trail.as_ref(), &orders, seconds)?;
    let trail = trail.map(|trail| trail.on(&mesh, args.circle.is_some()));
    let ground = MeshGround::new(mesh).map_err(Failure::work)?;
    let walked = walk(args, &model, &walker, &ground, trail.as_ref(), clip, (&orders, seconds))?;
    let baked = bake(&model, &walker, clip, &walked)?;

    let report = report::report(&walker, &model, &legs, &walked, trail.is_some());
    let mut document = match &model.source {
        Source::Gltf(document) => document.clone(),
        Source::Bvh(bvh) if ending(&out) == "bvh" => {
            bvh.write(&out, &model.skeleton, &baked, None)?;
            return finish(args, &model, &creature, &walked, &ground, &report, &out);
        }
        Source::Bvh(_) => model::document(&model)?,
    };
    document.add_animation(&baked, Some(serde_json::json!({ "sinew": report["note"] })))?;
    document.add_mesh_node("ground", ground.mesh(), GROUND_COLOR)?;
    document.write(&out)?;
    finish(args, &model, &creature, &walked, &ground, &report, &out)
}

fn finish(
    args: &WalkArgs,
    model: &Model,
    creature: &Creature,
    walked: &Walked,
    ground: &MeshGround,
    report: &serde_json::Value,
    out: &Path,
) -> Result<(), Failure> {
    if let Some(path) = args.picture() {
        save(&show::picture(model, creature, walked, ground), &path)?;
    }
    if let Some(path) = &args.report {
        let write = |w: &mut dyn Write| -> io::Result<()> {
            serde_json::to_writer_pretty(&mut *w, report)?;
            writeln!(w)
        };
        match is_dash(path) {
            true => write(&mut io::stdout().lock())?,
            false => write_whole(path, write)?,
        }
    }
    if !args.quiet && !args.report.as_deref().is_some_and(is_dash) {
        report::print(report, out, args)?;
    }
    Ok(())
}

/// The legs of the command line, or those found.
fn legs(
    args: &WalkArgs,
    spec: &CreatureSpec,
    model: &Model,
    bind: &Pose,
    skin: &[(JointId, Vec3)],
) -> Result<Legs, Failure> {
    if args.legs.is_empty() && !spec.legs.is_empty() {
        return Legs::given(bind, skin, &spec.legs).map_err(Failure::work);
    }
    if args.legs.is_empty() {
        return Legs::find(bind, skin).map_err(|e| {
            Failure::Work(format!(
                "{e} (--legs ROOT..TIP,... gives the first and the last joint of each leg)"
            ))
        });
    }
    let joint = |name: &str| lookup::joint(&model.skeleton, name);
    let mut ends = Vec::new();
    for leg in &args.legs {
        let Some((root, tip)) = leg.split_once("..") else {
            return Err(Failure::Usage(format!(
                "--legs: `{leg}` must be the first and the last joint of a leg, ROOT..TIP"
            )));
        };
        ends.push((joint(root)?, joint(tip)?));
    }
    Legs::given(bind, skin, &ends).map_err(Failure::work)
}

/// The ground's triangles, a built-in one in the creature's size and under its way.
fn ground(
    args: &WalkArgs,
    level: &Level,
    creature: &Creature,
    trail: Option<&Trail>,
    orders: &[Order],
    seconds: f32,
) -> Result<TriangleMesh, Failure> {
    let options = args.units.ground_options(args.ground.up);
    let size = match level.file() {
        Some(_) => 1.0,
        None => creature.length() / LEG * args.ground.scale,
    };
    let way = match trail {
        Some(trail) => trail.points().to_vec(),
        None => path::way(orders, seconds, FASTEST * creature.length()),
    };
    // Built-in grounds are made for legs of 0.9 m.
    let way: Vec<Vec3> = way.iter().map(|p| *p / size).collect();
    let first = way.iter().find(|p| p.distance(way[0]) > 1e-3).map_or(Vec3::Z, |p| (*p - way[0]).normalize());
    let walk = Walk { path: &way, floor: 0.0, heading: first, leg: LEG };
    let mesh = level.mesh(&walk, args.ground.scale, args.ground.at, &options).map_err(Failure::work)?;
    Ok(if size == 1.0 { mesh } else { mesh.transformed(&Affine3::from_scale(Vec3::splat(size))) })
}

/// Walks frame by frame.
fn walk(
    args: &WalkArgs,
    model: &Model,
    walker: &Walker,
    ground: &MeshGround,
    trail: Option<&Trail>,
    clip: Option<&Clip>,
    (orders, seconds): (&[Order], f32),
) -> Result<Walked, Failure> {
    let creature = walker.creature();
    let rate = args.key_rate as f32;
    let speed = orders[0].1[0];
    let (at, yaw) = trail.map_or((Vec3::ZERO, 0.0), |t| t.start(speed < 0.0));
    let turned = glam::Quat::from_rotation_y(yaw - creature.heading());
    let start = Affine3::from_rotation_translation(turned, at);
    // The pivot, not the model's origin, starts on the path.
    let shift = at - start.transform_point3(creature.pivot().with_y(0.0));
    let start = Placement::new(Affine3 { translation: start.translation + shift.with_y(0.0), ..start })
        .map_err(Failure::work)?;
    let mut state = walker.state(&start).map_err(Failure::work)?;
    let (mut workspace, bind) = (Workspace::new(), model.bind_pose());
    let mut pose = bind.clone();
    let mut walked = Walked {
        times: Vec::new(),
        reports: Vec::new(),
        feet: Vec::new(),
        poses: Vec::new(),
        off: Vec::new(),
    };
    let root = creature.root();
    // Joints from the root down to the trunk stay: a clip's own motion of them is the walk's.
    let own: Vec<JointId> = creature.trunk_path(&model.skeleton);
    let frames = (seconds * rate).round() as usize;
    let mut last: Option<Placement> = None;
    let mut progress = 0.0;
    for frame in 0..=frames {
        let time = frame as f32 / rate;
        pose.copy_from(&bind);
        if let Some(clip) = clip {
            clip.sample_looped(time, &mut pose);
            own.iter().for_each(|&j| pose.set_local(j, *bind.local(j)));
        }
        let [ahead, left, turn] = path::order(orders, time);
        let (mut velocity, mut turn) = (Vec3::new(left, 0.0, ahead), turn);
        let mut off = 0.0;
        if let (Some(trail), Some(placement)) = (trail, &last) {
            let at = placement.to_world(creature.pivot());
            let ahead = placement.direction_to_world(creature.front());
            let (steer, distance, done) = trail.steer(at, ahead, &mut progress, speed, creature.length());
            (turn, off) = (steer, distance);
            if done {
                velocity = Vec3::ZERO;
                turn = 0.0;
            }
        }
        let report = walker
            .step(&mut state, &mut workspace, &mut pose, ground, velocity, turn, 1.0 / rate)
            .map_err(|e| Failure::Work(format!("at {time:.2} s: {e}")))?;
        let place = report.placement.world_from_model().as_daffine3();
        let local: DAffine3 = place * pose.local(root).to_affine64();
        let mut shown = pose.clone();
        shown.set_local(root, JointTransform::nearest(&local));
        shown.update();
        last = Some(report.placement);
        walked.times.push(time);
        walked.feet.push(state.feet().collect());
        walked.reports.push(report);
        walked.poses.push(shown);
        walked.off.push(off);
    }
    Ok(walked)
}

/// The walk as a clip.
fn bake(model: &Model, walker: &Walker, clip: Option<&Clip>, walked: &Walked) -> Result<Clip, Failure> {
    let skeleton = &model.skeleton;
    let mut joints = walker.joints(skeleton);
    joints.extend(clip.iter().flat_map(|c| c.tracks().iter().map(|t| t.joint)));
    joints.sort();
    joints.dedup();
    let mut baker = Baker::new(skeleton, joints);
    for (time, pose) in walked.times.iter().zip(&walked.poses) {
        baker.push(*time, pose);
    }
    let taken = |name: &str| model.clips.iter().any(|c| c.name() == name);
    let name = if taken("walk") { "walk (walker)" } else { "walk" };
    baker.finish(name, skeleton).map_err(Failure::work)
}
