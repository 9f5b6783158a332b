//! Arguments of `sinew plant`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use sinew::ground::plant::Stride;

use super::{
    BodyArgs, ContactSource, GroundArgs, UnitArgs,
    values::{at_least_zero, half_turn, model_out, picture, positive, share, slope, stride},
};

/// Arguments of `sinew plant`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PLANT_EXAMPLES)]
pub struct PlantArgs {
    /// The model: a .glb, .gltf, .vrm or .bvh file [default: the built-in character]
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: Option<PathBuf>,
    /// The clip to plant [default: the file's only clip, or the only one with `walk` in its name]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub clip: Option<String>,

    /// Ground.
    #[command(flatten, next_help_heading = "Ground")]
    pub ground: GroundArgs,

    /// The model to write: .glb, .gltf, .vrm or .bvh [default: planted.glb]
    #[arg(short, long, value_name = "FILE", value_parser = model_out(), value_hint = ValueHint::FilePath,
          help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Draw the walk before and after: .png or .svg [default: planted.png without MODEL, else none]
    #[arg(long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// Write the measurements as JSON; `-` writes them to standard output instead of the summary
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Print errors only
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
    /// Body parts.
    #[command(flatten, next_help_heading = "Figure")]
    pub body: BodyArgs,
    /// Repetitions of a clip that walks on the spot [default: enough for about four metres]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Figure")]
    pub repeat: Option<u32>,
    /// Height of the soles above the ground, in metres [default: 0]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, help_heading = "Figure")]
    pub sole_height: Option<f32>,
    /// Turn the left foot outwards by this angle, in degrees
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = half_turn,
          allow_negative_numbers = true, help_heading = "Figure")]
    pub yaw_left: f32,
    /// Turn the right foot outwards by this angle, in degrees
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = half_turn,
          allow_negative_numbers = true, help_heading = "Figure")]
    pub yaw_right: f32,

    /// Contact times of the feet, from a .json file or from animated nodes [default: detected in the clip]
    ///
    /// The file holds {"left": {"heel": [[from, to], ...], "ball": [...]}, "right": {"curve": [[time, value], ...]}}, with
    /// times in seconds of the clip. Heel and ball are in contact while the curve is above 1/2. A node's curve is its
    /// translation: y, or x if y is constant, or z if both are. Contacts of a foot that is not named are detected.
    #[arg(long, value_name = "FILE|left=NODE,right=NODE", value_parser = ContactSource::parse, help_heading = "Planting")]
    pub contacts: Option<ContactSource>,
    /// Length of the steps on stairs: keep (as in the clip), fit, or a number of treads a step [default: fit for a walk on the
    /// spot and without MODEL, else keep]
    ///
    /// A step on a level floor is two or three treads long. `fit` scales the travel, so that a step takes one tread where
    /// stairs rise by 10 cm or more a tread (for a leg of 0.93 m), if that scales steps to 0.3 to 1.2 of the clip's. A number
    /// of treads allows 0.15 to 2. Times and contacts stay those of the clip.
    #[arg(long, value_name = "keep|fit|N", value_parser = stride, help_heading = "Planting")]
    pub stride: Option<Stride>,
    /// Steepest slope that feet are planted on, in degrees [default: 45]
    #[arg(long, value_name = "DEGREES", value_parser = slope, help_heading = "Planting")]
    pub max_slope: Option<f32>,
    /// Highest step up that a foot takes, in metres [default: 0.6 of the leg's length]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, help_heading = "Planting")]
    pub cast_above: Option<f32>,
    /// Deepest step down that a foot takes, in metres [default: 0.8 of the leg's length]
    #[arg(long, value_name = "METRES", value_parser = positive, help_heading = "Planting")]
    pub cast_below: Option<f32>,
    /// Share of the planting that is applied, from 0 (the clip is unchanged) to 1
    #[arg(long, alias = "weight", value_name = "SHARE", default_value_t = 1.0, value_parser = share,
          help_heading = "Planting")]
    pub influence: f32,
    /// Maximum number of keys of the planted clip, counted per joint that it moves and time
    ///
    /// A million keys are about ten minutes of 60 joints at 30 keys per second.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..),
          help_heading = "Planting")]
    pub max_keys: u64,
}

const PLANT_EXAMPLES: &str = "\
Examples:
  sinew plant
      The built-in character walks up the built-in stairs: planted.glb and planted.png.
  sinew plant knight.glb --clip Walking_A --ground slope -o slope.glb --picture slope.png
      A clip that walks on the spot is moved at the speed of its standing feet, up a slope of 20 degrees.
  sinew plant walk.bvh --scale 0.056444 --ground level.glb --ground-at 0,-0.1,2 -o walk.glb
      A CMU clip on a level from a file, moved 10 cm down and 2 m ahead.
  sinew plant creature.glb --feet ankle_l,ankle_r --max-slope 30 --report report.json
      The ankles are given, and the measurements before and after are written as JSON.
  sinew plant walk.bvh --scale 0.056444 --ground steep-stairs --stride 1 -o stairs.glb
      The steps of the walk are scaled to one tread each.
  sinew plant dance.glb --contacts left=contact_l,right=contact_r
      Contact times are read from curves that animate two nodes: a foot stands while its curve is above 1/2.

Joints are named by name, by path (hips/thigh.L) or by index (#12); see `sinew info MODEL`.";

impl PlantArgs {
    /// Path of the model to write.
    pub fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| "planted.glb".into())
    }

    /// Path of the picture to write; `None` if none is drawn.
    pub fn picture(&self) -> Option<PathBuf> {
        let by_default = || self.model.is_none().then(|| "planted.png".into());
        self.picture.clone().or_else(by_default)
    }
}
