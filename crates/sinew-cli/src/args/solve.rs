//! `sinew solve`.

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

/// Which solver works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SolverName {
    /// The one that serves best: `lm` for URDF, else by what the chain's joints may do
    Auto,
    /// Joint space: Levenberg-Marquardt, limits inside the step, restarts; for URDF
    Lm,
    /// A limb of three joints, in closed form
    TwoBone,
    /// One pass: the tip goes to the place and pulls the chain along, root and all
    Follow,
    /// Cyclic coordinate descent as it is taught, any joint: at most 32 sweeps, or --max-iterations
    Ccd,
    /// Forward and backward reaching as it is taught, joints that turn: at most 32 sweeps, or --max-iterations
    Fabrik,
    /// Damped least squares, joints that turn or slide: at most 32 steps, or --max-iterations
    Dls,
    /// Lays the chain along a curve: see --curve; `auto` does so where a curve is given
    Spline,
    /// Turns the chain's joints, each twice as far as the one before it and by 60 degrees at most, so that the tip's
    /// front looks at a place; for figures, whose chain is else that of spine, neck and head
    LookAt,
    /// A whole figure with goals on any of its joints, all at once; `auto` does so where chains of several goals would meet
    FullBody,
}

/// A curve to lay a chain along.
#[derive(Clone, Debug, Default, Args)]
pub struct CurveArgs {
    /// Lay the chain along a curve: its control points, in metres, with spaces between
    #[arg(long, value_name = "\"X,Y,Z X,Y,Z ...\"", value_parser = points, allow_hyphen_values = true)]
    pub curve: Option<Points>,
    /// The points are those of cubic Bézier pieces (point, handle, handle, point, ...) instead
    /// of points that the curve goes through
    #[arg(long, requires = "curve")]
    pub bezier: bool,
    /// The curve comes back to its first point
    #[arg(long, requires = "curve")]
    pub closed: bool,
    /// Where the chain's root is, in metres along the curve from its start [default: 0]
    #[arg(long, value_name = "METRES", value_parser = finite64, allow_negative_numbers = true, requires = "curve")]
    pub offset: Option<f64>,
    /// The chain lies against the curve's direction: a head that goes first
    #[arg(long, requires = "curve")]
    pub reversed: bool,
    /// Bones become longer or shorter so that the tip is at the curve's end
    #[arg(long, requires = "curve")]
    pub stretched: bool,
    /// Turn joints about their bones as the curve goes: this direction of the root's own space shows upwards
    ///
    /// Without it, joints keep the roll that they have.
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true, requires = "curve")]
    pub back: Option<[f64; 3]>,
}

/// How a look-at is shared.
#[derive(Clone, Debug, Default, Args)]
pub struct LookArgs {
    /// The part that each joint of the chain takes of what those before it have left, 0 to 1 [default: each twice the one
    /// before; the last takes all that is left]
    #[arg(long, value_name = "SHARE,...", value_delimiter = ',', value_parser = share)]
    pub shares: Vec<f32>,
    /// How far each turns at most, in degrees; one for all, or one a joint [default: 60]
    #[arg(long, value_name = "DEGREES,...", value_delimiter = ',', value_parser = at_least_zero)]
    pub cones: Vec<f32>,
    /// Degrees about the front in which the target moves the eyes alone [default: 0]
    #[arg(long, value_name = "DEGREES", value_parser = at_least_zero)]
    pub dead_zone: Option<f32>,
    /// The eyes' joints, or `none` [default: those that the file declares, or those below the tip that are called eyes]
    #[arg(long, value_name = "JOINT,...", value_delimiter = ',')]
    pub eyes: Vec<String>,
    /// The direction that the model faces as it was modelled [default: the one that has its left leg on the left, or
    /// where no legs are found +Z]
    #[arg(long, value_name = "X,Y,Z", value_parser = vector, allow_hyphen_values = true)]
    pub front: Option<Vec3>,
}

impl LookArgs {
    /// Whether anything is said.
    pub fn is_given(&self) -> bool {
        !self.shares.is_empty()
            || !self.cones.is_empty()
            || self.dead_zone.is_some()
            || !self.eyes.is_empty()
            || self.front.is_some()
    }
}

/// `sinew solve`.
#[derive(Clone, Debug, Args)]
#[command(after_help = SOLVE_EXAMPLES)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true).args(["to", "rotation", "goals", "curve"]))]
pub struct SolveArgs {
    /// A .glb, .gltf, .vrm, .bvh or .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The joints, for URDF links, that the chain begins and ends with [default: the tip's limb, for URDF the root link and
    /// the only link that carries none]
    ///
    /// Without it, a goal that names its joint is for the chain that begins below the joint where the skeleton branches
    /// (for two-bone, two joints above it).
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true)]
    pub chain: Option<(String, String)>,
    /// Which solver works
    #[arg(long, value_enum, default_value = "auto")]
    pub solver: SolverName,

    /// Where the tip should be, in metres
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub to: Option<[f64; 3]>,
    /// How the tip should be turned: a quaternion (it is made a unit one)
    #[arg(long, value_name = "X,Y,Z,W", value_parser = quaternion, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub rotation: Option<[f64; 4]>,
    /// A point that the middle of the chain turns towards; not for URDF's `lm` nor for `follow`
    #[arg(long, value_name = "X,Y,Z", value_parser = vector64, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub pole: Option<[f64; 3]>,
    /// Where the search begins, for URDF; joints that are not named are at rest
    #[arg(long, value_name = "JOINT=VALUE,...", value_parser = assignments, allow_hyphen_values = true,
          conflicts_with = "goals", help_heading = "Goal")]
    pub start: Option<Assignments>,
    /// A curve.
    #[command(flatten, next_help_heading = "Curve")]
    pub curve: CurveArgs,
    /// A look.
    #[command(flatten, next_help_heading = "Look-at")]
    pub look: LookArgs,
    /// Goals as JSON, one a line of at most 16 MiB, from a file or a pipe; `-` is standard input. Each gets one line of JSON
    /// as its answer, in the same order
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true,
          conflicts_with = "curve", help_heading = "Goal")]
    pub goals: Option<PathBuf>,
    /// Let a two-legged figure's joints move as people's do: head and hands alone then lead all of it
    ///
    /// Its parts are found as `sinew info` shows them. Knees, elbows, shoulders and spine keep within the ranges of
    /// people's joints. The figure stands at ease to begin with; feet that have no goal stay where they stand as far as
    /// goals let them, with its weight over them, and follow where it cannot be.
    #[arg(long, requires = "goals", help_heading = "Goal")]
    pub human: bool,

    /// Where the answers go; `-` is standard output. A .glb, .gltf or .vrm gets the model itself in its new pose (of a model
    /// that is one, and for a single goal), and the answer goes to standard output
    #[arg(short, long, value_name = "FILE", default_value = "-", value_hint = ValueHint::FilePath,
          allow_hyphen_values = true, help_heading = "Output")]
    pub out: PathBuf,
    /// Answer a single goal as JSON too
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Add what each solve alone took, in microseconds
    #[arg(long, help_heading = "Output")]
    pub timing: bool,

    /// How near the position must be, in metres [default: 1e-6 with lm, else 1e-4 of the chain's length]
    #[arg(long, value_name = "METRES", value_parser = positive64, help_heading = "Solving")]
    pub position_tolerance: Option<f64>,
    /// How near the rotation must be, in radians [default: 1e-6 with lm, else 1e-3]
    #[arg(long, value_name = "RADIANS", value_parser = positive64, help_heading = "Solving")]
    pub rotation_tolerance: Option<f64>,
    /// Most steps or sweeps of a solve [default: 10000 with lm, 32 with ccd, fabrik and dls, 500 with
    /// --human, else 200]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_iterations: Option<u32>,
    /// Most starts besides the first; 0 stays on the branch that the start is on [default: 400 with lm, 0 with ccd, fabrik
    /// and dls, 6 with full-body, 12 with --human, else 4]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_restarts: Option<u32>,
    /// Which sequence of points lm's restarts begin at [default: 0]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub seed: Option<u64>,
    /// Threads for a file of goals; a solve has one [default: one a core]
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
  sinew solve miku.vrm --solver look-at --to 1,1.5,1 -o look.vrm     spine, neck, head and eyes by the roles that the file declares
  sinew solve miku.vrm --chain chest..head --solver look-at --to 1,1.5,1 --shares 0.2,0.4,1 --cones 20,40,60
  sinew solve knight.glb --goals body.jsonl -o poses.jsonl
  sinew solve knight.glb --goals head-and-hands.jsonl --human -o poses.jsonl
  sinew solve snake.glb --chain head..tail_tip --curve \"1,0,0 0,0.3,1 -1,0,0 0,0.3,-1\" --closed --reversed -o ring.glb

A line of goals, and its answer:
  {\"id\": 7, \"start\": {\"shoulder\": 0.1}, \"position\": [0.4,0.1,0.5], \"rotation\": [1,0,0,0]}
  {\"id\": 7, \"status\": \"reached\", \"joints\": {\"shoulder\": 0.52}, \"position_error\": 3e-9, ...}
or several links at once: {\"goals\": [{\"joint\": \"hand_l\", \"position\": [...], \"position_weight\": 0.5}, ...]}
A figure's answer has \"rotations\": {\"hand\": [x,y,z,w], ...}, local, which \"start_rotations\" takes; what follow moved (of an
arm, its base, by so much) has \"translations\", which \"start_translations\" takes. Its goals name joints, each with a chain of its own.
With --solver spline a goal has a curve: {\"curve\": [[1,0,0], [0,0.3,1], ...]}, or with all that the options say, {\"curve\": {\"points\": [...],
\"bezier\": true, \"closed\": true, \"offset\": 0.3, \"reversed\": true, \"stretched\": true, \"back\": [0,1,0]}}.
Goals on one figure that share joints are solved together (--solver full-body): {\"goals\": [{\"joint\": \"head\", \"position\": [...]}, {\"joint\":
\"hand.l\", \"position\": [...], \"priority\": 1}, {\"joint\": \"hand.r\", \"position\": [...], \"relative_to\": \"hand.l\"}], \"root\": \"spring\"}.
Priority 0 goes first, to 2; a goal relative to a joint moves with it; the root (that of --chain, or the joint that all goals hang on)
is pinned, free or on a spring.
position_weight and rotation_weight (0 to 1, the default) say how strongly goals compete; 0 leaves the goal out. position_influence and
rotation_influence (0 to 1, the default; pose space) say how much of a goal is applied: at 0.5 joints go half-way.
With --human, goals for head and hands make a whole pose: {\"goals\": [{\"joint\": \"head\", \"position\": [...], \"rotation\": [...]}, {\"joint\":
\"hand.l\", ...}, {\"joint\": \"hand.r\", ...}]}; hips, feet or any other joint may have goals as well.
Empty lines are passed over. A line that cannot be worked with is answered by its error, the others are solved, and the exit code is 1.";
