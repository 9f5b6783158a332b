//! Arguments of `sinew rig`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{BodyArgs, UnitArgs};

/// Arguments of `sinew rig`.
#[derive(Clone, Debug, Args)]
#[command(after_help = RIG_EXAMPLES)]
pub struct RigArgs {
    /// The model: a .glb, .gltf, .vrm or .bvh file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The rig file to write, a .toml [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<PathBuf>,

    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
    /// Body parts.
    #[command(flatten, next_help_heading = "Figure")]
    pub body: BodyArgs,
}

const RIG_EXAMPLES: &str = "\
Examples:
  sinew rig knight.glb -o knight.toml
      A rig that changes nothing until a goal in it is set, with the names of all goals and where they are at bind.
  sinew bake knight.glb --rig knight.toml --clip Walking_A -o out.glb
      A clip through it.";
