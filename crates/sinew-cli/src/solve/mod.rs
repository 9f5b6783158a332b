//! `sinew solve`: goals in, joint values or rotations out.
//!
//! `request` parses goals, `answer` writes results, and `lines` distributes lines over cores; none of them knows solvers. A
//! family of solvers implements [`Backend`]: `arm` solves in joint space, `pose` in pose space. [`work`] chooses by the
//! model's format and `--solver`.

mod answer;
mod any;
mod arm;
mod goal;
mod human;
mod input;
mod lines;
mod look;
mod pose;
mod request;
mod settings;
mod whole;

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use sinew::{
    JointId, Pose,
    mechanism::{JointSpaceOptions, Mechanism},
};
use sinew_files::{FileError, Model, Source, gltf::Document, tidy, urdf, write_whole};

use crate::{
    args::{SolveArgs, SolverName},
    failure::Failure,
    model::is_urdf,
    outputs::{is_dash, keep_inputs},
    threads,
};
use answer::Answer;
use input::Input;
use look::LookSettings;
pub use request::CurveRequest;
use request::{GoalRequest, Request};

/// A model with its solver, which all lines share.
pub trait Backend: Sync {
    /// A worker for one thread. Its answer to a request must not depend on earlier requests.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// First line of an answer as text.
    fn heading(&self) -> String;
}

/// Solves one request after another on one thread.
pub trait Worker: Send {
    /// Solves a request. The error is one line that says what is wrong with the request.
    fn solve(&mut self, request: &Request) -> Result<Answer, String>;

    /// The pose that the last solve returned; `None` in joint space.
    fn pose(&self) -> Option<&Pose> {
        None
    }
}

/// The backend, and the document to write a pose into if the model has one.
struct Work {
    backend: Box<dyn Backend>,
    source: Option<Document>,
}

/// Reads the model and makes its backend, after a check of the options.
fn work(args: &SolveArgs) -> Result<Work, Failure> {
    use SolverName::{Auto, Follow, Lm, LookAt, Spline, TwoBone};
    let urdf = is_urdf(&args.model);
    let solver = chosen(args.solver, args.curve.curve.is_some());
    let joint_space = urdf && matches!(solver, Auto | Lm);
    if args.seed.is_some() && !joint_space {
        return Err(Failure::Usage(
            "--seed is for joint space (`--solver lm` on a .urdf); other solvers have no random restarts"
                .into(),
        ));
    }
    let iterative = [
        ("--max-iterations", args.max_iterations.is_some()),
        ("--max-restarts", args.max_restarts.is_some()),
        ("--position-tolerance", args.position_tolerance.is_some()),
        ("--rotation-tolerance", args.rotation_tolerance.is_some()),
    ];
    let (foreign, why) = match solver {
        TwoBone => (&iterative[..2], "two-bone does not iterate"),
        Follow | Spline | LookAt => {
            (&iterative[..], "follow, spline and look-at neither iterate nor have tolerances")
        }
        _ => (&[][..], ""),
    };
    if let Some((option, _)) = foreign.iter().find(|(_, given)| *given) {
        return Err(Failure::Usage(format!("{option} does not apply: {why}")));
    }
    let settings = settings::Settings {
        solver,
        position_tolerance: args.position_tolerance,
        rotation_tolerance: args.rotation_tolerance,
        max_iterations: args.max_iterations,
        max_restarts: args.max_restarts,
        look: (&args.look).into(),
        human: args.human,
    };
    if args.human && (urdf || !poses_humans(solver)) {
        return Err(Failure::Usage(HUMAN_NEEDS_FULL_BODY.into()));
    }
    if solver != LookAt && args.look.is_given() {
        return Err(Failure::Usage(
            "--shares, --cones, --dead-zone, --eyes and --front are for --solver look-at".into(),
        ));
    }
    // An error about a joint that does not exist names the file.
    let in_file = |e: Failure| match e {
        Failure::Work(what) => Failure::Work(format!("{}: {what}", args.model.display())),
        other => other,
    };
    let chain = args.chain.as_ref();
    // Fails if units are given for a URDF.
    let options = args.units.options(&args.model)?;
    if !urdf {
        on_figure(solver)?;
        let model = Model::read(&args.model, &options).map_err(|e| match e {
            FileError::Ending { path, .. } => {
                FileError::Ending { path, wanted: ".glb, .gltf, .vrm, .bvh or .urdf" }
            }
            other => other,
        })?;
        let figure = pose::Posed::figure(&model, chain, settings).map_err(in_file)?;
        let source = match model.source {
            Source::Gltf(document) => Some(document),
            Source::Bvh(_) => None,
        };
        return Ok(Work { backend: Box::new(figure), source });
    }
    let mechanism = urdf::read_with(&args.model, &options)?;
    if !joint_space {
        let arm = pose::Posed::arm(mechanism, chain, settings).map_err(in_file)?;
        return Ok(Work { backend: Box::new(arm), source: None });
    }
    let default = JointSpaceOptions::new();
    let options = JointSpaceOptions::new()
        .with_position_tolerance(args.position_tolerance.unwrap_or(default.position_tolerance))
        .with_rotation_tolerance(args.rotation_tolerance.unwrap_or(default.rotation_tolerance))
        .with_max_iterations(args.max_iterations.unwrap_or(default.max_iterations))
        .with_max_restarts(args.max_restarts.unwrap_or(default.max_restarts));
    let arm = arm::Arm::new(mechanism, chain, options, args.seed.unwrap_or(0)).map_err(in_file)?;
    Ok(Work { backend: Box::new(arm), source: None })
}

const HUMAN_NEEDS_FULL_BODY: &str = "--human is for figures, with --solver full-body, auto or two-bone";

/// Whether a solver poses figures within human limits.
fn poses_humans(solver: SolverName) -> bool {
    matches!(solver, SolverName::Auto | SolverName::FullBody | SolverName::TwoBone)
}

/// Returns an error for a solver that cannot solve figures.
fn on_figure(solver: SolverName) -> Result<(), Failure> {
    match solver {
        SolverName::Lm => Err(Failure::Usage("--solver lm is for joint space, on a .urdf".into())),
        _ => Ok(()),
    }
}

/// The solver to use: `Auto` is `Spline` if there is a curve.
fn chosen(solver: SolverName, curve: bool) -> SolverName {
    if solver == SolverName::Auto && curve { SolverName::Spline } else { solver }
}

/// Runs the subcommand.
pub fn run(args: &SolveArgs) -> Result<(), Failure> {
    if let Some(threads) = args.threads {
        threads::set(threads)?;
    }
    let scene = is_scene(&args.out);
    if scene && args.goals.is_some() {
        let what = "lines of --goals are answered in JSON, so that the output cannot be a model";
        return Err(Failure::Usage(format!("--out {}: {what}", args.out.display())));
    }
    if !is_dash(&args.out) {
        // An output scene may overwrite the model, as it holds all of it.
        let model = (!scene).then_some(args.model.as_path());
        let goals = args.goals.as_deref().filter(|goals| !is_dash(goals));
        keep_inputs(&args.out, model.into_iter().chain(goals))?;
    }
    let work = work(args)?;
    if scene && work.source.is_none() {
        let what = "only a .glb, .gltf or .vrm model can be written in its solved pose";
        return Err(Failure::Usage(format!("--out {}: {what}", args.out.display())));
    }
    match &args.goals {
        Some(goals) => many(args, &*work.backend, goals),
        None => single(args, work),
    }
}

/// One goal for a chain of a figure or an arm.
pub struct One<'a> {
    pub chain: Option<&'a (String, String)>,
    pub solver: SolverName,
    pub to: Option<[f64; 3]>,
    pub pole: Option<[f64; 3]>,
    pub curve: Option<CurveRequest>,
}

impl One<'_> {
    fn settings(&self) -> settings::Settings {
        settings::Settings {
            solver: chosen(self.solver, self.curve.is_some()),
            position_tolerance: None,
            rotation_tolerance: None,
            max_iterations: None,
            max_restarts: None,
            look: LookSettings::default(),
            human: false,
        }
    }

    fn request(&self) -> Request {
        let goals = vec![GoalRequest {
            pole: self.pole,
            curve: self.curve.clone(),
            ..GoalRequest::tip(self.to, None)
        }];
        Request { goals, ..Request::default() }
    }
}

/// The result in one line.
fn summary(backend: &dyn Backend, name: &str, answer: &Answer) -> String {
    let chain = backend.heading();
    let chain = chain.strip_prefix(&format!("{name}: ")).unwrap_or(&chain);
    format!("{chain}: {}, {:.1e} m off", answer.status.word().replace('_', " "), answer.position_error)
}

/// Solves one goal from the rest pose. Returns the pose, the chain's root (for a look-at, its tip), and the result in one
/// line.
pub fn one(model: &Model, task: &One) -> Result<(Pose, JointId, String), Failure> {
    on_figure(task.solver)?;
    let figure = pose::Posed::figure(model, task.chain, task.settings())?;
    let request = task.request();
    let mut worker = figure.worker();
    let answer = worker.solve(&request).map_err(Failure::Work)?;
    let pose = worker.pose().cloned().unwrap_or_else(|| Pose::rest(&model.skeleton));
    let chain = figure.chain(&request.goals[0]).map_err(Failure::Work)?;
    let from = if task.solver == SolverName::LookAt { chain.tip() } else { chain.root() };
    Ok((pose, from, summary(&figure, &model.name, &answer)))
}

/// Result of solving the first line of goals.
pub struct First {
    pub before: Pose,
    pub pose: Pose,
    /// For each goal with a position, its joint's position before and the goal's position, in model space in metres.
    pub goals: Vec<(glam::Vec3, glam::Vec3)>,
    /// The result in one line.
    pub summary: String,
}

/// Solves the first line of goals. No lines are an error.
pub fn first(
    model: &Model,
    chain: Option<&(String, String)>,
    solver: SolverName,
    human: bool,
    goals: &Path,
    memory_budget: Option<u64>,
) -> Result<First, Failure> {
    on_figure(solver)?;
    let mut input = Input::open(goals)?;
    let first = input.next().map_err(|error| FileError::Io { path: input.name.clone().into(), error })?;
    let Some((number, line)) = first else {
        return Err(Failure::Work(format!("{}: there are no goals", input.name)));
    };
    let in_line = |e: String| Failure::Work(format!("{}:{number}: {}", input.name, tidy(&e)));
    let request = line.text().and_then(|text| request::parse(text, memory_budget).1).map_err(in_line)?;
    if human && !poses_humans(solver) {
        return Err(Failure::Usage(HUMAN_NEEDS_FULL_BODY.into()));
    }
    let settings = One { chain, solver, to: None, pole: None, curve: None }.settings();
    let figure = pose::Posed::figure(model, chain, settings::Settings { human, ..settings })?;
    let before = figure.begin(&request).map_err(in_line)?;
    let mut worker = figure.worker();
    let answer = worker.solve(&request).map_err(in_line)?;
    let pose = worker.pose().cloned().unwrap_or_else(|| before.clone());
    let goals = figure.goal_positions(&request, &before, &pose).map_err(in_line)?;
    let count = goals.len();
    let how = if figure.as_whole(&request) { "full-body" } else { "chains" };
    let summary = format!(
        "{count} goal{}, {how}: {}, {:.1e} m off",
        if count == 1 { "" } else { "s" },
        answer.status.word().replace('_', " "),
        answer.position_error
    );
    Ok(First { before, pose, goals, summary })
}

/// Solves one goal for an arm from its rest values. Returns the values, and the result in one line.
pub fn one_arm(mechanism: Mechanism, task: &One) -> Result<(Vec<f64>, String), Failure> {
    let (mut values, name) = (mechanism.rest(), mechanism.name().to_string());
    let names: Vec<_> = mechanism.dofs().iter().map(|d| d.name.clone()).collect();
    let backend: Box<dyn Backend> = match task.solver {
        SolverName::Auto | SolverName::Lm => {
            Box::new(arm::Arm::new(mechanism, task.chain, JointSpaceOptions::new(), 0)?)
        }
        _ => Box::new(pose::Posed::arm(mechanism, task.chain, task.settings())?),
    };
    let answer = backend.worker().solve(&task.request()).map_err(Failure::Work)?;
    for joint in &answer.joints {
        if let Some(at) = names.iter().position(|n| *n == joint.name) {
            values[at] = joint.value;
        }
    }
    Ok((values, summary(&*backend, &name, &answer)))
}

/// Whether an output is a glTF scene, by its extension.
fn is_scene(path: &Path) -> bool {
    ["glb", "gltf", "vrm"].iter().any(|e| path.extension().is_some_and(|own| own.eq_ignore_ascii_case(e)))
}

fn single(args: &SolveArgs, Work { backend, source }: Work) -> Result<(), Failure> {
    let request = Request {
        start: args.start.clone().unwrap_or_default(),
        goals: vec![GoalRequest {
            pole: args.pole,
            curve: CurveRequest::of(&args.curve),
            ..GoalRequest::tip(args.to, args.rotation)
        }],
        ..Request::default()
    };
    let mut worker = backend.worker();
    let answer = worker
        .solve(&request)
        .map_err(|e| Failure::Work(format!("{}: {}", args.model.display(), tidy(&e))))?;
    let write = |out: &mut dyn Write| match args.json {
        true => writeln!(out, "{}", answer::json(&serde_json::Value::Null, &answer, args.timing)),
        false => answer::text(&backend.heading(), &answer, args.timing, out),
    };
    let scene = source.filter(|_| is_scene(&args.out));
    let to_stdout = is_dash(&args.out) || scene.is_some();
    if let (Some(mut document), Some(pose)) = (scene, worker.pose()) {
        document.set_pose(pose)?;
        document.write(&args.out)?;
    }
    match to_stdout {
        true => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&mut out)?;
            Ok(out.flush()?)
        }
        false => Ok(write_whole(&args.out, write)?),
    }
}

fn many(args: &SolveArgs, backend: &dyn Backend, goals: &Path) -> Result<(), Failure> {
    let how = lines::How { timing: args.timing, memory_budget: args.units.memory.bytes() };
    let input = Input::open(goals)?;
    let name = input.name.clone();
    if is_dash(&args.out) {
        let mut out = BufWriter::new(io::stdout().lock());
        let tally = lines::run(backend, input, &mut out, how)?;
        out.flush()?;
        return tally.check(&name);
    }
    let mut result = Ok(lines::Tally::default());
    let written = write_whole(&args.out, |out| {
        result = lines::run(backend, input, out, how);
        match &mut result {
            // A failure to write is one of this file, not of standard output.
            Err(Failure::Output(e)) => Err(std::mem::replace(e, io::ErrorKind::Other.into())),
            // Nothing is written if the goals cannot be read to their end.
            Err(e) => Err(io::Error::other(e.to_string())),
            Ok(_) => Ok(()),
        }
    });
    match result {
        Err(Failure::Output(_)) => Ok(written?),
        result => {
            let tally = result?;
            written?;
            tally.check(&name)
        }
    }
}
