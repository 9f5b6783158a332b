//! Arguments of `sinew bake`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{
    BodyArgs, ContactSource, GroundArgs, UnitArgs,
    values::{at_least_zero, model_out},
};

/// What a clip is baked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum BakeTo {
    /// Tracks of joints, as `NAME (baked)`
    Joints,
    /// Keys of the rig's goals, as `NAME (goals)`: nodes that the animation moves, and the tracks of the joints that goals do
    /// not show
    Goals,
}

/// Arguments of `sinew bake`.
#[derive(Clone, Debug, Args)]
#[command(after_help = BAKE_EXAMPLES)]
pub struct BakeArgs {
    /// The model: a .glb, .gltf, .vrm or .bvh file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The rig file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub rig: PathBuf,
    /// The clip to bake [default: the file's only clip; of a model without clips, its rest pose, as a still clip `rest` of 1 s]
    ///
    /// A clip that has keys of the rig's goals, such as one baked with --to goals, is played by these keys.
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub clip: Option<String>,
    /// The model to write: .glb, .gltf, .vrm or .bvh
    #[arg(short, long, value_name = "FILE", value_parser = model_out(), value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Bake to the tracks of joints, or to keys of the rig's goals
    #[arg(long, value_enum, value_name = "WHAT", default_value = "joints")]
    pub to: BakeTo,
    /// Print errors only
    #[arg(short, long)]
    pub quiet: bool,

    /// Remove keys as long as every joint stays this close to where it would be with all of them, in metres [default: keep
    /// all]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, help_heading = "Keys")]
    pub tolerance: Option<f32>,
    /// The same for ankles and toes while their foot is in contact with the floor, in metres [default: as --tolerance]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, requires = "tolerance", help_heading = "Keys")]
    pub foot_tolerance: Option<f32>,

    /// Ground.
    #[command(flatten, next_help_heading = "Ground")]
    pub ground: GroundArgs,

    /// Contact times of the feet, from a .json file or from animated nodes, in place of those of the rig file [default: those of
    /// the rig file, else detected in the clip]
    ///
    /// As for `sinew plant`: `sinew help plant` has the format.
    #[arg(long, value_name = "FILE|left=NODE,right=NODE", value_parser = ContactSource::parse, requires = "ground",
          help_heading = "Ground")]
    pub contacts: Option<ContactSource>,

    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
    /// Body parts.
    #[command(flatten, next_help_heading = "Figure")]
    pub body: BodyArgs,
}

const BAKE_EXAMPLES: &str = "\
Examples:
  sinew bake knight.glb --rig knight.toml --clip Walking_A -o baked.glb
      The clip through the rig's handles, as `Walking_A (baked)` beside it.
  sinew bake knight.glb --rig knight.toml --clip Walking_A --ground rough -o rough.glb
      The feet are planted on rough ground first; then the handles hold hands, head and body.
  sinew bake knight.glb --rig knight.toml --clip Walking_A --to goals -o goals.glb
      The same motion as keys of hands, feet, elbows, knees and hips, as `Walking_A (goals)`.
  sinew bake goals.glb --rig knight.toml --clip \"Walking_A (goals)\" -o back.glb
      Those keys, edited perhaps, back to the tracks of joints.
  sinew bake walk.bvh --scale 0.056444 --rig hands.toml --tolerance 0.005 --foot-tolerance 0.001 -o walk.glb
      Keys are left out where no joint moves by 5 mm for it, and no standing foot by 1 mm.

The rig file's format is in the documentation of `sinew_files::rig`; docs/rigs.md has an example.";
