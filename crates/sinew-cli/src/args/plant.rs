//! `sinew plant`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use glam::Vec3;

use super::{
    BodyArgs, ContactSource, UnitArgs, Up,
    values::{at_least_zero, half_turn, model_out, picture, positive, share, slope, vector},
};

/// `sinew plant`.
#[derive(Clone, Debug, Args)]
#[command(after_help = PLANT_EXAMPLES)]
pub struct PlantArgs {
    /// A .glb, .gltf, .vrm or .bvh file; without one, the built-in character
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: Option<PathBuf>,
    /// The clip to plant; it may be left out where the file holds only one, or one that is called a walk
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub clip: Option<String>,

    /// stairs, stairs-down, steep-stairs, steep-stairs-down, slope, slope-down, rough, flat, or a .glb, .gltf or .obj file
    ///
    /// stairs rise 12 cm on 40 cm, steep ones 17 cm on 29 cm, the slope is 20 degrees; they are laid under the walk. A
    /// file's mesh stays where the file has it, unless --ground-at and --ground-scale say otherwise.
    #[arg(long, value_name = "GROUND", default_value = "stairs", value_hint = ValueHint::FilePath,
          help_heading = "Ground")]
    pub ground: PathBuf,
    /// Enlarge a ground from a file by this factor
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = positive, help_heading = "Ground")]
    pub ground_scale: f32,
    /// Move a ground from a file, in metres
    #[arg(long, value_name = "X,Y,Z", default_value = "0,0,0", value_parser = vector,
          allow_hyphen_values = true, help_heading = "Ground")]
    pub ground_at: Vec3,
    /// The axis of an .obj ground that points up [default: y]
    #[arg(long, value_enum, help_heading = "Ground")]
    pub ground_up: Option<Up>,

    /// The model to write: .glb, .gltf, .vrm or .bvh [default: planted.glb]
    #[arg(short, long, value_name = "FILE", value_parser = model_out(), value_hint = ValueHint::FilePath,
          help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Draw the walk before and after: .png or .svg [default: planted.png where no MODEL is given, else none]
    #[arg(long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// Write what was measured as JSON; `-` is standard output, in place of the summary
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub report: Option<PathBuf>,
    /// Say nothing but errors
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,

    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
    /// The body by hand.
    #[command(flatten, next_help_heading = "Figure")]
    pub body: BodyArgs,
    /// Rounds of a clip that walks on the spot [default: enough for about four metres]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Figure")]
    pub repeat: Option<u32>,
    /// Hold the soles this far above the ground, in metres [default: 0]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, help_heading = "Figure")]
    pub sole_height: Option<f32>,
    /// Turn the left foot outwards by this, in degrees
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = half_turn,
          allow_negative_numbers = true, help_heading = "Figure")]
    pub yaw_left: f32,
    /// Turn the right foot outwards by this, in degrees
    #[arg(long, value_name = "DEGREES", default_value_t = 0.0, value_parser = half_turn,
          allow_negative_numbers = true, help_heading = "Figure")]
    pub yaw_right: f32,

    /// When feet stand, instead of what is found in the clip: a .json file, or nodes whose animation says it
    ///
    /// The file holds {"left": {"heel": [[from, to], ...], "ball": [...]}, "right": {"curve": [[time, value], ...]}} in
    /// seconds of the clip; a curve means contact of heel and ball above 1/2. A node's translation is such a curve: its
    /// y, or where that is constant its x, else its z. A foot that is not named is found as ever.
    #[arg(long, value_name = "FILE|left=NODE,right=NODE", value_parser = ContactSource::parse, help_heading = "Planting")]
    pub contacts: Option<ContactSource>,
    /// Feet lie along slopes up to this, in degrees [default: 45]
    #[arg(long, value_name = "DEGREES", value_parser = slope, help_heading = "Planting")]
    pub max_slope: Option<f32>,
    /// The highest step that a foot goes up, in metres [default: 0.6 of the leg]
    #[arg(long, value_name = "METRES", value_parser = at_least_zero, help_heading = "Planting")]
    pub cast_above: Option<f32>,
    /// The deepest step that a foot goes down, in metres [default: 0.8 of the leg]
    #[arg(long, value_name = "METRES", value_parser = positive, help_heading = "Planting")]
    pub cast_below: Option<f32>,
    /// How much of the planting to apply, 0 (the clip stays) to 1
    #[arg(long, alias = "weight", value_name = "SHARE", default_value_t = 1.0, value_parser = share,
          help_heading = "Planting")]
    pub influence: f32,
    /// Most keys of the planted clip, one for each joint that it moves and each of its times
    ///
    /// A million are some ten minutes of sixty joints at thirty a second.
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1..),
          help_heading = "Planting")]
    pub max_keys: u64,
}

const PLANT_EXAMPLES: &str = "\
Examples:
  sinew plant
      The built-in character walks up the built-in stairs: planted.glb and planted.png.
  sinew plant knight.glb --clip Walking_A --ground slope -o slope.glb --picture slope.png
      A clip that walks on the spot gets the travel of its standing feet and goes up a slope of 20 degrees.
  sinew plant walk.bvh --scale 0.056444 --ground level.glb --ground-at 0,-0.1,2 -o walk.glb
      A CMU clip on a level of one's own, which lies 10 cm lower and 2 m ahead.
  sinew plant creature.glb --feet ankle_l,ankle_r --max-slope 30 --report report.json
      Feet by hand, and what was measured before and after as JSON.
  sinew plant dance.glb --contacts left=contact_l,right=contact_r
      Feet stand when two nodes of the clip are above 1/2: curves as animators key them.

Joints are named by name, by path (hips/thigh.L) or by index (#12); see `sinew info MODEL`.";

impl PlantArgs {
    /// Where the model goes.
    pub fn out(&self) -> PathBuf {
        self.out.clone().unwrap_or_else(|| "planted.glb".into())
    }

    /// Where the picture goes, if one is drawn.
    pub fn picture(&self) -> Option<PathBuf> {
        let by_default = || self.model.is_none().then(|| "planted.png".into());
        self.picture.clone().or_else(by_default)
    }
}
