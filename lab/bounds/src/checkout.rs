//! A checkout of the project with the lab's programs.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use bounds::{Told, VARIABLE};

/// A lab in which programs are built and run.
pub struct Checkout {
    /// The folder of the lab.
    pub lab: PathBuf,
}

impl Checkout {
    /// This checkout.
    pub fn here() -> Result<Self, String> {
        let lab = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        Ok(Self { lab: lab.canonicalize().map_err(|e| format!("{}: {e}", lab.display()))? })
    }

    /// This checkout's lab with the engine of another. The lab is copied to its own folder, beside links to the other's
    /// crates, so that both run the same programs.
    pub fn other(checkout: &Path) -> Result<Self, String> {
        let place = |e: io::Error| format!("{}: {e}", checkout.display());
        let checkout = checkout.canonicalize().map_err(place)?;
        if !checkout.join("crates/sinew").is_dir() {
            return Err(format!("{} is not a checkout of the project", checkout.display()));
        }
        let here = Self::here()?.lab;
        let root = here.join("target/against");
        let lab = root.join("lab");
        fs::create_dir_all(&lab).map_err(place)?;
        for name in ["Cargo.toml", "Cargo.lock", "crates"] {
            let link = root.join(name);
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(checkout.join(name), &link).map_err(place)?;
        }
        copy(&here, &lab).map_err(place)?;
        // Fuzzing is not compared, and needs the command as a library, which older checkouts do not have.
        let manifest = lab.join("Cargo.toml");
        let text = fs::read_to_string(&manifest).map_err(place)?;
        fs::write(&manifest, text.replace("\"fuzz\", ", "")).map_err(place)?;
        Ok(Self { lab })
    }

    /// Builds programs in release mode.
    pub fn build(&self, names: &[&str]) -> Result<(), String> {
        if names.is_empty() {
            return Ok(());
        }
        eprintln!("building {} in {}", names.join(", "), self.lab.display());
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let packages = names.iter().flat_map(|n| ["-p", n]);
        let status = Command::new(cargo)
            .args(["build", "--release", "--quiet", "--target-dir", "target"])
            .args(packages)
            .current_dir(&self.lab)
            .status()
            .map_err(|e| format!("cargo: {e}"))?;
        if status.success() { Ok(()) } else { Err(format!("{} does not build", self.lab.display())) }
    }

    /// Path of a program's executable.
    pub fn program(&self, name: &str) -> PathBuf {
        self.lab.join("target/release").join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }

    /// Runs a program and returns its exit code with the bounds and medians that it reports.
    pub fn run(&self, name: &str, words: &[&str]) -> Result<(Option<i32>, Vec<Told>), String> {
        let output = Command::new(self.program(name))
            .args(words)
            .env(VARIABLE, "1")
            .current_dir(&self.lab)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|e| format!("{name}: {e}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        Ok((output.status.code(), text.lines().filter_map(bounds::read).collect()))
    }
}

/// Copies the lab's sources. Equal files stay untouched, so that they are not built again.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let (entry, name) = (entry.as_ref().map(|e| e.path()), entry.as_ref().map(|e| e.file_name()));
        let (Ok(source), Ok(name)) = (entry, name) else { continue };
        let target = to.join(&name);
        if source.is_dir() {
            if name != "target" && name != "node_modules" {
                fs::create_dir_all(&target)?;
                copy(&source, &target)?;
            }
        } else {
            let bytes = fs::read(&source)?;
            if fs::read(&target).ok().as_ref() != Some(&bytes) {
                fs::write(&target, bytes)?;
            }
        }
    }
    Ok(())
}
