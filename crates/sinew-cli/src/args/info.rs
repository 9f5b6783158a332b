//! Arguments of `sinew info`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{BodyArgs, UnitArgs};

/// Arguments of `sinew info`.
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub struct InfoArgs {
    /// The model: a .glb, .gltf, .vrm, .bvh or .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Units and axes.
    #[command(flatten)]
    pub units: UnitArgs,
    /// Body parts.
    #[command(flatten)]
    pub body: BodyArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

const INFO_EXAMPLES: &str = "\
Examples:
  sinew info knight.glb                         the hierarchy of joints, the clips, the body parts
  sinew info walk.bvh --scale 0.056444          a CMU clip, in metres
  sinew info arm.urdf                           links, joints, limits
  sinew info creature.glb --feet paw_l,paw_r    the body parts if these are the feet
  sinew info knight.glb --json | jq '.clips[].name'";
