//! Builds the examples of this package for wasm32 and prints their sizes. Exit code 1 if one exceeds its bound.

use std::{env, fs, path::PathBuf, process::Command, process::ExitCode};

const TARGET: &str = "wasm32-unknown-unknown";

/// An example: a library that exports one function, which builds a skeleton and solves one goal.
struct Program {
    name: &'static str,
    /// Size in bytes with the engine of commit 94883dc, for the same calls under their names there, by rustc 1.95.0.
    before: u64,
    /// Largest ratio to `before`.
    larger: f64,
}

const PROGRAMS: [Program; 3] = [
    // 1.05 is missed: the bound on turns, which limbs did not have then, takes 7 kB, and the path for the common case 2 kB. The
    // swivel that stretched bones must not repeat takes 0.2 kB more.
    Program { name: "limb", before: 83_818, larger: 1.13 },
    Program { name: "auto", before: 283_493, larger: 1.05 },
    // 1.05 would be missed: ease, which bodies did not have then, takes 5 kB.
    Program { name: "full_body", before: 209_173, larger: 1.075 },
];

fn main() -> ExitCode {
    let lab = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    // A folder that the caller names counts from where the caller stands.
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| lab.join("target"), PathBuf::from);
    let cargo = env::var_os("CARGO").unwrap_or("cargo".into());
    // Panics name source files: paths of this machine would count as code.
    let home = env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".cargo")));
    let printed = Command::new("rustc").args(["--print", "sysroot"]).output().ok();
    let library =
        printed.and_then(|o| String::from_utf8(o.stdout).ok()).map(|root| PathBuf::from(root.trim()));
    let library = library.map(|root| root.join("lib/rustlib/src/rust"));
    let flags: Vec<String> =
        [(fs::canonicalize(lab.join("..")).ok(), "sinew"), (home, "cargo"), (library, "rust")]
            .into_iter()
            .filter_map(|(path, name)| Some(format!("--remap-path-prefix={}={name}", path?.display())))
            .collect();
    let built = Command::new(cargo)
        .env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"))
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
    for Program { name, before, larger } in PROGRAMS {
        let file = target.join(TARGET).join("wasm/examples").join(format!("{name}.wasm"));
        let size = match fs::metadata(&file) {
            Ok(found) => found.len(),
            Err(error) => {
                eprintln!("{}: {error}", file.display());
                return ExitCode::FAILURE;
            }
        };
        let most = (before as f64 * larger) as u64;
        let more = 100.0 * (size as f64 / before as f64 - 1.0);
        println!("{name:10} {size:7} bytes, {more:+5.1} % beside {before} (at most {most})");
        failed |= size > most;
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
