//! How a figure is read: what its file does not say of itself.

use std::path::Path;

use clap::{Args, ValueEnum};
use sinew_files::{ReadOptions, UpAxis};

use super::values::{pair, positive};
use crate::failure::Failure;

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Up {
    /// Y, as in most BVH files.
    Y,
    /// Z, as modelling programs have it.
    Z,
}

/// How much memory what is read may take.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MemoryArgs {
    /// Memory that the content of the files may take, in MiB [default: 16 times the files, at least 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory_budget: Option<u64>,
}

impl MemoryArgs {
    /// The same in bytes.
    pub fn bytes(&self) -> Option<u64> {
        self.memory_budget.map(|mib| mib << 20)
    }

    /// The options for reading a file that says all of itself.
    pub fn options(&self) -> ReadOptions {
        ReadOptions { memory_budget: self.bytes(), ..ReadOptions::default() }
    }
}

/// What a file does not say of itself, and what it may read.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct UnitArgs {
    /// Metres a unit of a BVH file (CMU's: 0.056444, centimetres: 0.01, inches: 0.0254) [default: 1]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub scale: Option<f32>,
    /// The axis of a BVH file that points up [default: y]
    #[arg(long, value_enum)]
    pub up: Option<Up>,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Let a glTF (also a ground) name buffers and images outside of its own folder, by `..`, links or absolute paths
    ///
    /// Only for files that you trust: what they name can end up in what is written.
    #[arg(long)]
    pub allow_outside: bool,
}

impl UnitArgs {
    /// The options for reading a model. glTF and VRM say their units themselves, so that asking for others is a mistake.
    pub fn options(&self, model: &Path) -> Result<ReadOptions, Failure> {
        let ending = model.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let given = [("--scale", self.scale.is_some()), ("--up", self.up.is_some())];
        if matches!(ending.as_str(), "glb" | "gltf" | "vrm" | "urdf")
            && let Some((option, _)) = given.into_iter().find(|(_, given)| *given)
        {
            return Err(Failure::Usage(format!(
                "{option} is for formats that do not say their units; {} ({})",
                if ending == "urdf" { "URDF is in metres" } else { "glTF is in metres with Y up" },
                model.display()
            )));
        }
        Ok(ReadOptions {
            scale: self.scale.unwrap_or(1.0),
            up: axis(self.up),
            memory_budget: self.memory.bytes(),
            allow_outside: self.allow_outside,
        })
    }

    /// The options for reading a ground. `--scale` and `--up` are for the model alone: a ground's file has its own.
    pub fn ground_options(&self, up: Option<Up>) -> ReadOptions {
        ReadOptions {
            up: axis(up),
            memory_budget: self.memory.bytes(),
            allow_outside: self.allow_outside,
            ..ReadOptions::default()
        }
    }
}

fn axis(up: Option<Up>) -> UpAxis {
    if up == Some(Up::Z) { UpAxis::Z } else { UpAxis::Y }
}

/// By hand, where the search for parts of the body is unsure.
#[derive(Clone, Debug, Default, Args)]
pub struct BodyArgs {
    /// The ankles, by name, path (hips/thigh.L) or #index, where they are not found by themselves
    #[arg(long, value_name = "LEFT,RIGHT", value_parser = pair, allow_hyphen_values = true)]
    pub feet: Option<(String, String)>,
    /// The joint that legs and spine hang on; of several figures in a file, the one that it belongs to is taken
    #[arg(long, value_name = "JOINT", allow_hyphen_values = true)]
    pub hips: Option<String>,
}
