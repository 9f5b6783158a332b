//! The command `sinew`: inverse kinematics on files.

mod args;
mod draw;
mod failure;
mod info;
mod lookup;
mod model;
mod picture;
mod plant;
mod progress;
mod reach;
mod solve;
mod threads;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::{CommandFactory, Parser, error::ErrorKind};

use args::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) if e.is_closed_pipe() => ExitCode::SUCCESS,
        Err(Failure::Usage(what)) => Cli::command().error(ErrorKind::ValueValidation, what).exit(),
        Err(e) => {
            // One line, whatever a file's names hold. Where stderr is gone too, the exit code still tells.
            let line: String = e.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
            let _ = writeln!(io::stderr(), "sinew: {line}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Info(args) => info::run(&args),
        Command::Draw(args) => draw::run(&args),
        Command::Plant(args) => plant::run(&args),
        Command::Solve(args) => solve::run(&args),
        Command::Reach(args) => reach::run(&args),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sinew", &mut script);
            Ok(io::stdout().write_all(&script)?)
        }
    }
}
