//! The command `sinew`: builds it and plants the rows with it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    cases::{Case, GROUNDS, GroundCase, Kind},
    figure::Figure,
    motion::Motion,
    real_stairs,
    scene::Scene,
};

/// The command, and the folders that it reads and writes.
pub struct Sinew {
    path: PathBuf,
    /// Its help, which tells the options that it has.
    help: String,
    data: PathBuf,
    out: PathBuf,
}

/// Builds the command; returns its path.
pub fn build(repository: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let manifest = repository.join("Cargo.toml");
    let target = repository.join("target");
    let status = Command::new(cargo)
        .args(["build", "--release", "--quiet", "--bin", "sinew", "--manifest-path"])
        .arg(&manifest)
        .arg("--target-dir")
        .arg(&target)
        .status()
        .map_err(|e| format!("cargo: {e}"))?;
    if !status.success() {
        return Err(format!("{} does not build", manifest.display()));
    }
    Ok(target.join("release").join(format!("sinew{}", std::env::consts::EXE_SUFFIX)))
}

impl Sinew {
    /// The command at a path.
    pub fn new(path: PathBuf, data: &Path, out: &Path) -> Result<Self, String> {
        let says = |e| format!("{}: {e}", path.display());
        let help = Command::new(&path).args(["plant", "--help"]).output().map_err(says)?.stdout;
        let help = String::from_utf8_lossy(&help).into_owned();
        Ok(Self { path, help, data: data.into(), out: out.into() })
    }

    /// Plants one row.
    pub fn plant(&self, case: &Case, ground: &GroundCase) -> Result<(), String> {
        if let Kind::RealStairs { down } = ground.kind {
            self.make_stairs(case, ground, down)?;
        }
        self.run(case, ground)
    }

    /// Writes the stairs for a walk, from its motion on the flat.
    fn make_stairs(&self, case: &Case, ground: &GroundCase, down: bool) -> Result<(), String> {
        let flat = GROUNDS.iter().find(|g| g.kind == Kind::Flat).ok_or("no flat ground")?;
        self.run(case, flat)?;
        let scene = Scene::read(&file(&self.out, case, flat))?;
        let figure = Figure::new(&scene, &case.legs, case.is_bare())?;
        let walk = Motion::new(&scene, &figure, case.neck.find(&scene)?, case.motion)?;
        let path = file(&self.out, case, ground).with_extension("obj");
        std::fs::write(&path, real_stairs::obj(&walk, down)?).map_err(|e| format!("{}: {e}", path.display()))
    }

    fn run(&self, case: &Case, ground: &GroundCase) -> Result<(), String> {
        let file = file(&self.out, case, ground);
        // The output of an earlier run must not be taken for this one's.
        let _ = std::fs::remove_file(&file);
        let made = file.with_extension("obj");
        let output = Command::new(&self.path)
            .args(case.arguments(&self.known(ground.arguments), &self.data, &made, &file))
            .output()
            .map_err(|e| format!("{}: {e}", self.path.display()))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        Err(format!("sinew: {}: {}", output.status, words.lines().last().unwrap_or("(it says nothing)")))
    }

    /// A ground's options as this command has them: `--weight` by its earlier name, `--stride` left out.
    fn known<'a>(&self, arguments: &[&'a str]) -> Vec<&'a str> {
        let mut known = Vec::new();
        let mut words = arguments.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--weight" if !self.help.contains(word) => known.push("--influence"),
                "--stride" if !self.help.contains(word) => {
                    words.next();
                }
                _ => known.push(word),
            }
        }
        known
    }
}

/// The written file of a row.
pub fn file(out: &Path, case: &Case, ground: &GroundCase) -> PathBuf {
    out.join(format!("{}-{}.glb", case.name, ground.name))
}
