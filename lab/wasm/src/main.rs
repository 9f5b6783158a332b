//! Builds the examples of this package for wasm32, prints their sizes, and holds them to a bound.

use std::{env, fs, path::PathBuf, process::Command, process::ExitCode};

const TARGET: &str = "wasm32-unknown-unknown";

/// How much larger than [`Program::before`] a program may be.
const LARGER: f64 = 1.05;

/// An example: a library that exports one function, which builds a skeleton and solves one goal.
struct Program {
    name: &'static str,
    /// Its size in bytes at commit 94883dc (one engine's contract and names later, the same calls), by rustc 1.95.
    before: u64,
}

const PROGRAMS: [Program; 3] = [
    Program { name: "limb", before: 0 },
    Program { name: "auto", before: 0 },
    Program { name: "full_body", before: 0 },
];

fn main() -> ExitCode {
    let lab = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    // A folder that the caller names counts from where the caller stands.
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| lab.join("target"), PathBuf::from);
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    let built = Command::new(cargo)
        .args([
            "build",
            "--quiet",
            "--package",
            "wasm",
            "--examples",
            "--profile",
            "wasm",
            "--target",
            TARGET,
        ])
        .arg("--manifest-path")
        .arg(lab.join("Cargo.toml"))
        .status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("the programs cannot be built for {TARGET}: `rustup target add {TARGET}` installs it");
        return ExitCode::FAILURE;
    }
    let mut failed = false;
    for Program { name, before } in PROGRAMS {
        let file = target.join(TARGET).join("wasm/examples").join(format!("{name}.wasm"));
        let size = match fs::metadata(&file) {
            Ok(found) => found.len(),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::FAILURE;
            }
        };
        let most = (before as f64 * LARGER) as u64;
        let more = 100.0 * (size as f64 / before as f64 - 1.0);
        println!("{name:10} {size:7} bytes, {more:+5.1} % beside {before} (at most {most})");
        failed |= size > most;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
