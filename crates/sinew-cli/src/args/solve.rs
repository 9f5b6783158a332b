//! Arguments of `sinew solve`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use glam::Vec3;

use super::{
    UnitArgs,
    values::{
        Assignments, Points, assignments, at_least_zero, chain, finite64, points, positive64, quaternion,
        share, vector, vector64,
    },
};

/// Solver, as `--solver` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// Chosen by the model, the goals and the chain's joints: `lm` for URDF, `spline` for a curve, `full-body` for goals
    /// whose chains share joints
    Auto,
    /// Levenberg-Marquardt in joint space, with joint limits and restarts; URDF only
    Lm,
    /// Closed form for a limb of three joints
    TwoBone,
    /// Single pass: the tip moves to the goal and drags the chain behind it, including the root
    Follow,
    /// Textbook cyclic coordinate descent, for any joints
    Ccd,
    /// Textbook forward and backward reaching, for joints that turn
    Fabrik,
    /// All bends of the chain change by one factor, as in an animal's leg; for joints that turn
    Fold,
    /// Damped least squares, for joints that turn or slide
    Dls,
    /// Lays the chain along a curve: see --curve
    Spline,
    /// Turns the chain's joints, by default spine, neck and head, so that the tip's front faces the position; figures only
    LookAt,
    /// Whole figure with goals on any of its joints, solved together
    FullBody,
}

/// Curve to lay a chain along.
#[derive(Clone, Debug, Default, Args)]
pub struct CurveArgs {
    /// Lay the chain along the curve through these points, in metres, separated by spaces
    #[arg(long, value_name = "\"X,Y,Z X,Y,Z ...\"", value_parser = points, allow_hyphen_values = true)]
    pub curve: Option<Points>,
    /// Take the points as control points of cubic Bézier pieces (point, handle, handle, point, ...)
    #[arg(long, requires = "curve")]
    pub bezier: bool,
    /// Close the curve: its end returns to its first point
    #[arg(long, requires = "curve")]
    pub closed: bool,
    /// Position of the chain's root, in metres along the curve from its start [default: 0]
    #[arg(long, value_name = "METRES", value_parser = finite64, allow_negative_numbers = true, requires = "curve")]
    pub offset: Option<f64>,
    /// Lay the chain against the curve's direction, for a chain whose root is the head
    #[arg(long, requires = "curve")]
    pub reversed: bool,
    /// Stretch or shorten the bones so that the tip is at the curve's end
    #[arg(long, requires = "curve")]
    pub stretched: bool,
    /// Roll the joints so that this direction, in the root's local space, points up [default: joints keep their roll]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, requires = "curve")]
    pub back: Option<[f64; 3]>,
}

/// Options of a look-at.
#[derive(Clone, Debug, Default, Args)]
pub struct LookArgs {
    /// For each joint of the chain, the share of the remaining angle that it turns by, from 0 to 1 [default: each joint
    /// turns twice as far as the one before, the last by all that remains]
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', value_parser = share)]
    pub shares: Vec<f32>,
    /// Largest angle that each joint turns by, in degrees: one for all joints, or one per joint [default: 60]
    #[arg(long, value_name = "DEGREES,...", value_delimiter = ',', value_parser = at_least_zero)]
    pub cones: Vec<f32>,
    /// Angle about the front, in degrees, within which only the eyes follow the target [default: 0]
    #[arg(long, value_name = "DEGREES", value_parser = at_least_zero)]
    pub dead_zone: Option<f32>,
    /// The joints of the eyes, or `none` [default: those that the file declares, else joints below the tip that are named
    /// like eyes]
    #[arg(long, value_name = "JOINT,...", value_delimiter = ',')]
    pub eyes: Vec<String>,
    /// Direction that the model faces in its bind pose, in model space [default: by the position of its left leg, or +Z if
    /// no legs are found]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub front: Option<Vec3>,
}

impl LookArgs {
    /// Whether any option is given.
    pub fn is_given(&self) -> bool {
        !self.shares.is_empty()
            || !self.cones.is_empty()
            || self.dead_zone.is_some()
            || !self.eyes.is_empty()
            || self.front.is_some()
    }
}

/// Arguments of `sinew solve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
#[command(group = clap::ArgGroup::new("targets").required(true).multiple(true).args(["to", "rotation", "goals", "curve"]))]
pub struct SolveArgs {
    /// The model: a .glb, .gltf, .vrm, .bvh or .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The chain's first and last joint (for URDF, link) [default: the only joint without children and the limb above it;
    /// for URDF, the root link and the only link without children]
    ///
    /// Without it, a goal that names a joint moves the limb above that joint: the chain up to the nearest branch of the
    /// skeleton (for two-bone, up to two joints above). For look-at, the default is the chain from spine to head.
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true)]
    pub chain: Option<(String, String)>,
    /// The solver
    #[arg(long, value_enum, default_value = "auto")]
    pub solver: SolverName,

    /// Goal position of the tip, in metres
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub to: Option<[f64; 3]>,
    /// Goal rotation of the tip: a quaternion, which is normalised
    #[arg(long, value_name = "X,Y,Z,W", value_parser = quaternion, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub rotation: Option<[f64; 4]>,
    /// Pole: a point that the middle of the chain bends towards, in metres; not for lm, follow, spline and look-at
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub pole: Option<[f64; 3]>,
    /// Joint values to start at, in radians and metres, for URDF [default: the rest values]
    #[arg(long, value_name = "JOINT=VALUE,...", value_parser = assignments, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub start: Option<Assignments>,
    /// The curve.
    #[command(flatten, next_help_heading = "Curve")]
    pub curve: CurveArgs,
    /// The look-at.
    #[command(flatten, next_help_heading = "Look-at")]
    pub look: LookArgs,
    /// Solve for many goals: a file or pipe with one JSON object per line of at most 16 MiB; `-` is standard input
    ///
    /// Each line is answered by one line of JSON, in the same order.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true,
          conflicts_with = "curve", help_heading = "Goal")]
    pub goals: Option<PathBuf>,
    /// Limit the joints of a two-legged figure to human ranges, so that goals for head and hands pose all of it
    ///
    /// Body parts are found as `sinew info` shows them. Knees, elbows, shoulders and spine stay within human ranges. The
    /// figure starts standing at ease. Feet without a goal stay where they stand, with the figure's weight over them, as
    /// far as the goals permit, and follow the body otherwise. With --solver two-bone, arms and legs alone move.
    #[arg(long, requires = "goals", help_heading = "Goal")]
    pub human: bool,

    /// The file to write answers to; `-` is standard output
    ///
    /// A .glb, .gltf or .vrm gets the model in its solved pose, and the answer goes to standard output. This needs a model
    /// of such a format and a single goal.
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
          allow_hyphen_values = true, help_heading = "Output")]
    pub out: PathBuf,
    /// Print the answer to a single goal as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Add the duration of each solve, in microseconds
    #[arg(long, help_heading = "Output")]
    pub timing: bool,

    /// Position residual within which a goal is reached, in metres [default: 1e-6 with lm, else 1e-4 of the chain's length]
    #[arg(long, value_name = "METRES", value_parser = positive64, help_heading = "Solving")]
    pub position_tolerance: Option<f64>,
    /// Rotation residual within which a goal is reached, in radians [default: 1e-6 with lm, else 1e-3]
    #[arg(long, value_name = "RADIANS", value_parser = positive64, help_heading = "Solving")]
    pub rotation_tolerance: Option<f64>,
    /// Maximum number of steps or sweeps of a solve [default: 10000 with lm, 32 with ccd, fabrik, fold and dls, 500 with --human,
    /// else 200]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_iterations: Option<u32>,
    /// Maximum number of starts after the first; 0 stays on the branch of the start [default: 400 with lm, 0 with ccd,
    /// fabrik, fold and dls, 6 with full-body, 12 with --human, else 4]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_restarts: Option<u32>,
    /// Seed of the points at which lm restarts [default: 0]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub seed: Option<u64>,
    /// Number of threads for a file of goals; each line is solved by one [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024), help_heading = "Solving")]
    pub threads: Option<u16>,
    /// Units and axes.
    #[command(flatten, next_help_heading = "Figure")]
    pub units: UnitArgs,
}

const SOLVE_EXAMPLES: &str = "\
Examples:
  sinew solve panda.urdf --chain panda_link0..panda_hand --to 0.4,0.1,0.5 --rotation 1,0,0,0
  sinew solve arm.urdf --to 0.3,0,0.2 --start shoulder=0.5,elbow=-1 --json
  sinew solve arm.urdf --chain base..tool --goals goals.jsonl -o answers.jsonl
  sinew solve arm.urdf --chain base..tool --solver ccd --to 0.3,0,0.2
  sinew solve knight.glb --chain upperarm.l..hand.l --to 0.3,1.2,0.4 --solver two-bone -o pose.glb
  sinew solve walk.bvh --scale 0.056444 --chain LeftUpLeg..LeftFoot --to 0.1,0.3,0.2 --pole 0.1,0.6,2
  sinew solve knight.glb --chain spine..head --solver look-at --to 2,1.5,1 -o look.glb
  sinew solve miku.vrm --solver look-at --to 1,1.5,1 -o look.vrm
  sinew solve miku.vrm --chain chest..head --solver look-at --to 1,1.5,1 --shares 0.2,0.4,1 --cones 20,40,60
  sinew solve knight.glb --goals body.jsonl -o poses.jsonl
  sinew solve knight.glb --goals head-and-hands.jsonl --human -o poses.jsonl
  sinew solve snake.glb --chain head..tail_tip --curve \"1,0,0 0,0.3,1 -1,0,0 0,0.3,-1\" --closed --reversed -o ring.glb

A line of --goals, and its answer:
  {\"id\": 7, \"start\": {\"shoulder\": 0.1}, \"position\": [0.4,0.1,0.5], \"rotation\": [1,0,0,0]}
  {\"id\": 7, \"status\": \"reached\", \"joints\": {\"shoulder\": 0.52}, \"position_error\": 3e-9, ...}
A line with several goals, which name joints (for URDF, links):
  {\"goals\": [{\"joint\": \"hand_l\", \"position\": [...], \"position_weight\": 0.5}, ...]}

position_weight and rotation_weight (0 to 1, default 1) say how strongly goals compete; 0 leaves the goal out. \
position_influence and rotation_influence (0 to 1, default 1; not with lm) are the share of a goal that is applied; at \
0.5 joints go half-way.

The answer for a figure holds local rotations, \"rotations\": {\"hand\": [x,y,z,w], ...}, which \"start_rotations\" takes \
as a start. Joints that were translated have local \"translations\" in metres, which \"start_translations\" takes. For an \
arm that follow moved, they hold the displacement of its base.

With --solver spline a goal has a curve, as points or with the options of the command line:
  {\"curve\": [[1,0,0], [0,0.3,1], ...]}
  {\"curve\": {\"points\": [...], \"bezier\": true, \"closed\": true, \"offset\": 0.3,
             \"reversed\": true, \"stretched\": true, \"back\": [0,1,0]}}

Goals on a figure whose chains share joints are solved together (--solver full-body):
  {\"goals\": [{\"joint\": \"head\", \"position\": [...]},
             {\"joint\": \"hand.l\", \"position\": [...], \"priority\": 1},
             {\"joint\": \"hand.r\", \"position\": [...], \"relative_to\": \"hand.l\"}],
   \"root\": \"spring\"}
priority is 0 (first, the default), 1 or 2. A goal relative to a joint is in that joint's space and moves with it. root is \
\"pinned\" (the default), \"free\" or \"spring\"; the root joint is that of --chain, or the lowest joint above all goals.

With --human, goals for head and hands pose the whole figure; hips, feet and other joints may have goals too:
  {\"goals\": [{\"joint\": \"head\", \"position\": [...], \"rotation\": [...]},
             {\"joint\": \"hand.l\", ...}, {\"joint\": \"hand.r\", ...}]}
The root is \"free\" by default if the hips have a goal, else \"spring\".

Empty lines are skipped. A line that cannot be solved is answered by its error; the others are solved, and the exit code \
is 1.";
