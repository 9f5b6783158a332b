//! `sinew draw`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{
    CurveArgs, SolverName, UnitArgs,
    values::{chain, finite, picture, vector64},
};

/// `sinew draw`.
#[derive(Debug, Args)]
#[command(after_help = DRAW_EXAMPLES)]
#[command(group = clap::ArgGroup::new("asks").multiple(true).args(["to", "curve", "goals"]))]
pub struct DrawArgs {
    /// A .glb, .gltf, .vrm, .bvh or .urdf file; an arm is drawn with the limits of its joints
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The picture to write: .png or .svg
    #[arg(short, long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// The clip to pose it by; without one, the rest pose
    #[arg(long, value_name = "NAME", allow_hyphen_values = true)]
    pub clip: Option<String>,
    /// Seconds into the clip; before its begin and after its end, the nearest key [default: 0]
    #[arg(long, value_name = "SECONDS", requires = "clip", value_parser = finite, allow_negative_numbers = true)]
    pub time: Option<f32>,
    /// Bring a chain's tip here first, from the rest pose: that pose is drawn thin and grey, the goal as a crosshair
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, conflicts_with = "clip",
          help_heading = "Goal")]
    pub to: Option<[f64; 3]>,
    /// Bring a figure's joints to the goals of the first line of a file or pipe, as `sinew solve --goals` takes it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true,
          conflicts_with_all = ["clip", "to", "curve"], help_heading = "Goal")]
    pub goals: Option<PathBuf>,
    /// Let the figure's joints move as people's do, as `sinew solve --human` does
    #[arg(long, requires = "goals", help_heading = "Goal")]
    pub human: bool,
    /// A curve.
    #[command(flatten, next_help_heading = "Curve")]
    pub curve: CurveArgs,
    /// The joints that the chain begins and ends with; for a .urdf, links
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true, help_heading = "Goal")]
    pub chain: Option<(String, String)>,
    /// Which solver works
    #[arg(long, value_enum, default_value = "auto", requires = "asks", help_heading = "Goal")]
    pub solver: SolverName,
    /// A point that the middle of the chain turns towards
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, requires = "to",
          help_heading = "Goal")]
    pub pole: Option<[f64; 3]>,
    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
}

const DRAW_EXAMPLES: &str = "\
Examples:
  sinew draw knight.glb -o knight.png                               the rest pose, from the side and from the front
  sinew draw knight.glb --clip Walking_A --time 0.4 -o stride.svg   0.4 seconds into a walk
  sinew draw knight.glb --chain upperarm.l..wrist.l --to 0.4,0.9,0.3 -o reach.png   an arm before and after it reaches
  sinew draw knight.glb --chain spine..head --solver look-at --to 2,1.5,1 -o look.png   a look over the shoulder
  sinew draw knight.glb --goals body.jsonl -o body.png   a whole figure before and after it reaches for all goals of a line
  sinew draw snake.glb --chain head..tail_tip --curve \"1,0,0 0,0.3,1 -1,0,0 0,0.3,-1\" --closed -o ring.png   a snake on a ring
  sinew draw panda.urdf --chain panda_link0..panda_hand --to 0.4,0.2,0.5 -o panda.png   a robot's arm, with its limits";
