//! The command `sinew`: inverse kinematics on files.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew_cli::main()
}
