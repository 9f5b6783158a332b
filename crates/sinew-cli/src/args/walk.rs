//! Arguments of `sinew walk`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use sinew::ground::walk::Gait;

use super::{
    GroundArgs, UnitArgs,
    values::{finite, gait, model_out, picture, positive},
};

/// Arguments of `sinew walk`.
#[derive(Clone, Debug, Args)]
#[command(after_help = WALK_EXAMPLES)]
pub struct WalkArgs {
    /// The model: a .glb, .gltf, .vrm or .bvh file [default: a built-in creature]
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: Option<PathBuf>,
    /// Number of legs of the built-in creature, an even one (an odd one has one leg less) [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(4..=40), conflicts_with = "model")]
    pub creature: Option<u32>,

    /// Speed ahead in m/s; negative walks backwards [default: half a leg's length a second]
    #[arg(long, value_name = "M/S", value_parser = finite, allow_negative_numbers = true, help_heading = "Walk")]
    pub speed: Option<f32>,
    /// Speed to the left in m/s; negative walks to the right
    #[arg(long, value_name = "M/S", value_parser = finite, default_value_t = 0.0, allow_negative_numbers = true,
          help_heading = "Walk")]
    pub sideways: f32,
    /// Turn in rad/s, to the left
    #[arg(long, value_name = "RAD/S", value_parser = finite, default_value_t = 0.0, allow_negative_numbers = true,
          help_heading = "Walk")]
    pub turn: f32,
    /// Duration in seconds [default: 10, or the time of the whole path]
    #[arg(long, value_name = "SECONDS", value_parser = positive, help_heading = "Walk")]
    pub seconds: Option<f32>,
    /// Walk on a circle about the ground's middle, with this radius in metres
    #[arg(long, value_name = "METRES", value_parser = positive, conflicts_with_all = ["turn", "sideways"], help_heading = "Walk")]
    pub circle: Option<f32>,
    /// Walk along the points of a .json file: [[x, z], ...] in metres
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["turn", "sideways", "circle"],
          help_heading = "Walk")]
    pub path: Option<PathBuf>,
    /// Gait: wave, ripple, tripod, tetrapod, walk or trot [default: by the number of legs and the speed]
    #[arg(long, value_name = "GAIT", value_parser = gait, help_heading = "Walk")]
    pub gait: Option<Gait>,
    /// Height of the trunk, times that at rest, from 0.2 to 2 [default: 1]
    #[arg(long, value_name = "FACTOR", value_parser = positive, help_heading = "Walk")]
    pub ride: Option<f32>,
    /// Let tails trail, and return to the pose with this time constant in seconds, up to 10 [default: they stay with the trunk]
    #[arg(long, value_name = "SECONDS", value_parser = positive, help_heading = "Walk")]
    pub trail: Option<f32>,
    /// The clip that other joints than the legs and the trunk play, in a loop [default: they rest]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true, requires = "model", help_heading = "Walk")]
    pub clip: Option<String>,
    /// Commands over time, from a .json file: [[time, ahead, left, turn], ...] in s, m/s and rad/s, each until the next
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Walk",
          conflicts_with_all = ["speed", "turn", "sideways", "circle", "path"])]
    pub commands: Option<PathBuf>,
    /// Keys per second, from 10 to 1000 [default: 60]
    #[arg(long, value_name = "HZ", value_parser = clap::value_parser!(u32).range(10..=1000), default_value_t = 60,
          hide_default_value = true, help_heading = "Walk")]
    pub key_rate: u32,

    /// Ground.
    #[command(flatten, next_help_heading = "Ground")]
    pub ground: GroundArgs,

    /// The model to write: .glb, .gltf, .vrm or .bvh [default: walk.glb]
    #[arg(short, long, value_name = "FILE", value_parser = model_out(), value_hint = ValueHint::FilePath,
          help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Draw the walk from the side, and its footprints from above: .png or .svg [default: walk.png without MODEL, else none]
    #[arg(long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// Write a report as JSON; `-` writes it to standard output instead of the summary
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
    /// The legs, each by its first and last joint, such as hip.L..hoof.L,hip.R..hoof.R,... [default: found by shape]
    #[arg(long, value_name = "ROOT..TIP,...", value_delimiter = ',', help_heading = "Figure")]
    pub legs: Vec<String>,
    /// A rig file whose [creature] table gives legs, gait and ride
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Figure")]
    pub rig: Option<PathBuf>,
}

const WALK_EXAMPLES: &str = "\
Examples:
  sinew walk                            eight legs on rough ground: walk.glb, walk.png
  sinew walk --creature 6 --speed 0.3 --ground stairs
  sinew walk spider.glb --ground terrain.glb --ground-scale 5 --circle 10 --speed 0.85 --seconds 75 -o out.glb
  sinew walk horse.glb --rig horse.toml --speed 1.2 --turn 0.3 --seconds 10 --ground rough -o out.glb

Built-in grounds have the size of the creature: a leg of 0.9 m walks on stairs of 12 cm. Joints are named by name, path
(hips/thigh.L) or index (#12); see `sinew info MODEL`.";

impl WalkArgs {
    /// Path of the model to write.
    pub fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| "walk.glb".into())
    }

    /// Path of the picture to write; `None` if none is drawn.
    pub fn picture(&self) -> Option<PathBuf> {
        let by_default = || (self.model.is_none() && self.out.is_none()).then(|| "walk.png".into());
        self.picture.clone().or_else(by_default)
    }
}
