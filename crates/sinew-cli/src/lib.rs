//! The command `sinew`: inverse kinematics on files. As a library, it lets a program run the command many times within one
//! process (`lab/fuzz`).

mod args;
mod bake;
mod draw;
mod failure;
mod info;
mod lookup;
mod model;
mod outputs;
mod picture;
mod plant;
mod progress;
mod reach;
mod rig;
mod signals;
mod solve;
mod threads;
mod walk;

use std::{
    ffi::OsString,
    io::{self, Write},
    iter,
    process::ExitCode,
};

use clap::{CommandFactory, Parser, error::ErrorKind};

use args::{Cli, Command};
use failure::Failure;

/// Runs the command with the arguments of the process. Prints a failure to stderr, in one line. Signals that end the process
/// remove unfinished outputs first.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    signals::watch();
    match run(command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) if e.is_closed_pipe() => ExitCode::SUCCESS,
        Err(Failure::Usage(what)) => Cli::command().error(ErrorKind::ValueValidation, what).exit(),
        Err(e) => {
            // If stderr is closed as well, the exit code remains.
            let _ = writeln!(io::stderr(), "sinew: {}", line(&e));
            ExitCode::FAILURE
        }
    }
}

/// Runs the command with these arguments, which do not include its name. Signals are left to the calling program;
/// [`sinew_files::abandon_outputs`] removes unfinished outputs.
///
/// # Errors
/// The line that the command would print to stderr.
pub fn try_run<W: Into<OsString> + Clone>(words: impl IntoIterator<Item = W>) -> Result<(), String> {
    let words = iter::once("sinew".into()).chain(words.into_iter().map(Into::into));
    let cli = Cli::try_parse_from(words).map_err(|e| e.to_string())?;
    run(cli.command).map_err(|e| line(&e))
}

/// The error as one line: control characters, which names from files may hold, become spaces.
fn line(error: &Failure) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Plant(args) => plant::run(&args),
        Command::Rig(args) => rig::run(&args),
        Command::Bake(args) => bake::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Reach(args) => reach::run(&args),
        Command::Walk(args) => walk::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sinew", &mut script);
            Ok(io::stdout().write_all(&script)?)
        }
    }
}
