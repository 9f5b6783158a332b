//! Arguments for reading files: units, axes, memory, and the joints of body parts.

use std::path::Path;

use clap::{Args, ValueEnum};
use sinew_files::{ReadOptions, UpAxis};

use super::values::{pair, positive};
use crate::failure::Failure;

/// Up axis of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Up {
    /// Y, as in most BVH files.
    Y,
    /// Z, as in many modelling programs.
    Z,
}

/// Memory limit of the reader.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct MemoryArgs {
    /// Memory that the files' content may take, in MiB [default: 16 times the files' size, at least 256]
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub memory_budget: Option<u64>,
}

impl MemoryArgs {
    /// The limit in bytes.
    pub fn bytes(&self) -> Option<u64> {
        self.memory_budget.map(|mib| mib << 20)
    }

    /// Read options for a format that declares its units and axes.
    pub fn options(&self) -> ReadOptions {
        ReadOptions { memory_budget: self.bytes(), ..ReadOptions::default() }
    }
}

/// Units and axes that a file does not declare, and the limits of reading it.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct UnitArgs {
    /// Metres per unit of a BVH file (CMU's: 0.056444, centimetres: 0.01, inches: 0.0254) [default: 1]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub scale: Option<f32>,
    /// Up axis of a BVH file [default: y]
    #[arg(long, value_name = "AXIS", value_enum)]
    pub up: Option<Up>,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
    /// Let a glTF model or ground read buffers and images outside of its folder, through `..`, links or absolute paths
    ///
    /// Use it only for files that you trust: the content of the files that they name can end up in the output.
    #[arg(long)]
    pub allow_outside: bool,
}

impl UnitArgs {
    /// Read options for a model. `--scale` and `--up` are errors for formats that declare their units and axes.
    pub fn options(&self, model: &Path) -> Result<ReadOptions, Failure> {
        let ending = model.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let given = [("--scale", self.scale.is_some()), ("--up", self.up.is_some())];
        if matches!(ending.as_str(), "glb" | "gltf" | "vrm" | "urdf")
            && let Some((option, _)) = given.into_iter().find(|(_, given)| *given)
        {
            return Err(Failure::Usage(format!(
                "{option} is for formats that do not declare their units; {} ({})",
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

    /// Read options for a ground. `--scale` and `--up` apply to the model only; the ground has options of its own.
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

/// Joints of body parts given by the user, for figures whose parts are not found automatically.
#[derive(Clone, Debug, Default, Args)]
pub struct BodyArgs {
    /// The ankles, each by name, path (hips/thigh.L) or #index [default: found automatically]
    #[arg(long, value_name = "LEFT,RIGHT", value_parser = pair, allow_hyphen_values = true)]
    pub feet: Option<(String, String)>,
    /// The joint that carries the legs and the spine; it also selects one of several figures in a file [default: found
    /// automatically]
    #[arg(long, value_name = "JOINT", allow_hyphen_values = true)]
    pub hips: Option<String>,
}
