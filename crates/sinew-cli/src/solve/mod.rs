//! `sinew solve`: goals in, joints out.
//!
//! What is asked (`request`), what is answered (`answer`) and how lines are spread over cores (`lines`) know nothing of
//! solvers. A solver joins by implementing [`Backend`]; [`backend`] chooses by the model's kind and `--solver`.

mod answer;
pub mod arm;
mod lines;
mod request;

use std::{
    fs,
    io::{self, BufRead, BufReader, BufWriter, Write},
    path::Path,
};

use sinew::mechanism::Settings;
use sinew_files::{FileError, urdf, write_whole};

use crate::{
    args::{SolveArgs, SolverName},
    failure::Failure,
};
use answer::Answer;
use request::{GoalRequest, Request};

/// A model with a solver for it: what all lines share.
pub trait Backend: Sync {
    /// One who solves on a thread of its own. The answer to a request must not depend on what was asked before.
    fn worker(&self) -> Box<dyn Worker + '_>;

    /// The first line of an answer for people.
    fn heading(&self) -> String;
}

/// Solves one request after another.
pub trait Worker: Send {
    /// The answer, or in one line what is wrong with the request.
    fn solve(&mut self, request: &Request) -> Result<Answer, String>;
}

/// Whether a file is a URDF, by its ending.
pub fn is_urdf(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("urdf"))
}

/// The solver for a model.
fn backend(args: &SolveArgs) -> Result<Box<dyn Backend>, Failure> {
    if !is_urdf(&args.model) {
        return Err(FileError::Ending { path: args.model.clone(), wanted: ".urdf" }.into());
    }
    let mechanism = urdf::read(&args.model)?;
    let default = Settings::default();
    let settings = Settings {
        position_tolerance: args.position_tolerance.unwrap_or(default.position_tolerance),
        rotation_tolerance: args.rotation_tolerance.unwrap_or(default.rotation_tolerance),
        max_iterations: args.max_iterations.unwrap_or(default.max_iterations),
        max_restarts: args.max_restarts.unwrap_or(default.max_restarts),
        seed: args.seed,
        ..default
    };
    match args.solver {
        SolverName::Auto | SolverName::Lm => {
            let arm = arm::Arm::new(mechanism, args.chain.as_ref(), settings);
            // Links that do not exist are told with the file that they are not in.
            let arm = arm.map_err(|e| Failure::Work(format!("{}: {e}", args.model.display())))?;
            Ok(Box::new(arm))
        }
    }
}

/// Runs the subcommand.
pub fn run(args: &SolveArgs) -> Result<(), Failure> {
    if let Some(threads) = args.threads {
        threads_of(threads)?;
    }
    let backend = backend(args)?;
    match &args.goals {
        Some(goals) => many(args, &*backend, goals),
        None => single(args, &*backend),
    }
}

/// Sets how many threads rayon works with.
pub fn threads_of(threads: u16) -> Result<(), Failure> {
    rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build_global().map_err(Failure::work)
}

fn is_dash(path: &Path) -> bool {
    path == Path::new("-")
}

fn single(args: &SolveArgs, backend: &dyn Backend) -> Result<(), Failure> {
    let request = Request {
        start: args.start.clone().unwrap_or_default(),
        start_rotations: Vec::new(),
        goals: vec![GoalRequest::tip(args.to, args.rotation)],
    };
    let answer = backend.worker().solve(&request);
    let answer = answer.map_err(|e| Failure::Work(format!("{}: {e}", args.model.display())))?;
    let write = |out: &mut dyn Write| match args.json {
        true => writeln!(out, "{}", answer::json(&serde_json::Value::Null, &answer, args.timing)),
        false => answer::text(&backend.heading(), &answer, args.timing, out),
    };
    match is_dash(&args.out) {
        true => {
            let mut out = BufWriter::new(io::stdout().lock());
            write(&mut out)?;
            Ok(out.flush()?)
        }
        false => Ok(write_whole(&args.out, write)?),
    }
}

fn many(args: &SolveArgs, backend: &dyn Backend, goals: &Path) -> Result<(), Failure> {
    let (input, bytes, name): (Box<dyn BufRead + Send>, _, _) = if is_dash(goals) {
        (Box::new(BufReader::new(io::stdin())), None, "standard input".to_string())
    } else {
        let failed = |error| FileError::Io { path: goals.into(), error };
        let file = fs::File::open(goals).map_err(failed)?;
        let bytes = file.metadata().map_err(failed)?.len();
        (Box::new(BufReader::new(file)), Some(bytes), goals.display().to_string())
    };
    if is_dash(&args.out) {
        let mut out = BufWriter::new(io::stdout().lock());
        let tally = lines::run(backend, input, bytes, &mut out, args.timing)?;
        out.flush()?;
        return tally.check(&name);
    }
    let mut result = Ok(lines::Tally::default());
    let written = write_whole(&args.out, |out| {
        result = lines::run(backend, input, bytes, out, args.timing);
        match &result {
            // Nothing is written where the goals cannot be read to their end.
            Err(e) => Err(io::Error::other(e.to_string())),
            Ok(_) => Ok(()),
        }
    });
    let tally = result?;
    written?;
    tally.check(&name)
}
