//! Arguments of `sinew draw`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{
    CurveArgs, SolverName, UnitArgs,
    values::{chain, finite, picture, vector64},
};

/// Arguments of `sinew draw`.
#[derive(Debug, Args)]
#[command(after_help = DRAW_EXAMPLES)]
#[command(group = clap::ArgGroup::new("targets").multiple(true).args(["to", "curve", "goals"]))]
pub struct DrawArgs {
    /// The model: a .glb, .gltf, .vrm, .bvh or .urdf file; a .urdf is drawn with its joint limits
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The picture to write: .png or .svg
    #[arg(short, long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// The clip to sample the pose from [default: none, the rest pose]
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub clip: Option<String>,
    /// Time to sample the clip at, in seconds, clamped to the clip's first and last key [default: 0]
    #[arg(long, value_name = "SECONDS", requires = "clip", value_parser = finite, allow_negative_numbers = true)]
    pub time: Option<f32>,
    /// Solve for this position of the chain's tip, in metres, starting at the rest pose
    ///
    /// The rest pose is drawn thin and grey, the goal as a crosshair. Spaces are those of `sinew solve --to`.
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, conflicts_with = "clip",
          help_heading = "Goal")]
    pub to: Option<[f64; 3]>,
    /// Solve a figure for the goals in the first line of a file or pipe, in the format of `sinew solve --goals`
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true,
          conflicts_with_all = ["clip", "to", "curve"], help_heading = "Goal")]
    pub goals: Option<PathBuf>,
    /// Limit the figure's joints to human ranges, as `sinew solve --human` does
    #[arg(long, requires = "goals", help_heading = "Goal")]
    pub human: bool,
    /// The curve.
    #[command(flatten, next_help_heading = "Curve")]
    pub curve: CurveArgs,
    /// The chain's first and last joint (for a .urdf, link) [default: as `sinew solve`]
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true, help_heading = "Goal")]
    pub chain: Option<(String, String)>,
    /// The solver
    #[arg(long, value_enum, default_value = "auto", requires = "targets", help_heading = "Goal")]
    pub solver: SolverName,
    /// Pole: a point that the middle of the chain bends towards, in metres
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, requires = "to",
          help_heading = "Goal")]
    pub pole: Option<[f64; 3]>,
    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
}

const DRAW_EXAMPLES: &str = "\
Examples:
  sinew draw knight.glb -o knight.png
      The rest pose, from the side and from the front.
  sinew draw knight.glb --clip Walking_A --time 0.4 -o stride.svg
      A walk at 0.4 seconds.
  sinew draw knight.glb --chain upperarm.l..wrist.l --to 0.4,0.9,0.3 -o reach.png
      An arm before and after it reaches.
  sinew draw knight.glb --chain spine..head --solver look-at --to 2,1.5,1 -o look.png
      A look over the shoulder.
  sinew draw knight.glb --goals body.jsonl -o body.png
      A whole figure before and after it reaches for a line of goals.
  sinew draw snake.glb --chain head..tail_tip --curve \"1,0,0 0,0.3,1 -1,0,0 0,0.3,-1\" --closed -o ring.png
      A snake on a ring.
  sinew draw panda.urdf --chain panda_link0..panda_hand --to 0.4,0.2,0.5 -o panda.png
      A robot arm with its limits.";
