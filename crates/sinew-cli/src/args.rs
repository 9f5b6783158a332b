//! The command line.

mod values;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use glam::Vec3;
use sinew_files::{ReadOptions, UpAxis};

use crate::{failure::Failure, plant::contacts::ContactSource, solve::CurveRequest};
use values::{
    assignments, at_least_zero, chain, finite, finite64, half_turn, model_out, pair, picture, points,
    positive, positive64, quaternion, share, slope, vector, vector64,
};

/// Inverse kinematics on files: plant a walk's feet on stairs, see what a character is made of, draw it.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, arg_required_else_help = true, after_help = TOP_EXAMPLES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const TOP_EXAMPLES: &str = "\
Examples:
  sinew plant                              the built-in character on the built-in stairs: planted.glb, planted.png
  sinew info knight.glb                    joints, clips, and which joint is which part of the body
  sinew plant knight.glb --clip Walking_A --ground level.glb -o out.glb
  sinew draw knight.glb --clip Walking_A --time 0.4 -o knight.png
  sinew solve arm.urdf --chain base..tool --to 0.4,0.1,0.3 --rotation 0,1,0,0
  sinew reach arm.urdf --chain base..tool -o reach.png

Exit codes: 0 done, 1 the work failed (one line on stderr says what and where), 2 the command line is wrong.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show what a model holds: joints, lengths, clips, and the parts of the body with the reason for each.
    Info(InfoArgs),
    /// Plant the feet of a clip on a ground and write the model back with one more animation.
    ///
    /// With no MODEL, the built-in character walks up the built-in stairs, and planted.glb and planted.png are written.
    /// The output holds the whole input, the planted clip as `NAME (planted)`, and the ground as a mesh named `ground`.
    Plant(Box<PlantArgs>),
    /// Draw a model in its rest pose, in a clip at a time, or before and after a chain reaches for a goal.
    Draw(DrawArgs),
    /// Bring the tip of a figure's chain or of an arm to a goal, or to a file of goals.
    ///
    /// On a .glb, .gltf, .vrm or .bvh, ROOT and TIP are joints, positions and rotations are in model space (metres, Y up), and
    /// the answer is the joints' local rotations. On a .urdf, ROOT and TIP are links, positions and rotations are those of
    /// TIP in ROOT's own space, with the axes that the file has (z usually points up), and the answer is the joints' values in radians and
    /// metres, always within their limits. A goal out of reach is an answer too: the nearest that was found, and by how
    /// much it misses.
    Solve(Box<SolveArgs>),
    /// Draw where an arm's tip can go, and how freely it can be moved there.
    Reach(Box<ReachArgs>),
    /// Print a script that completes this command in a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  sinew completions bash > ~/.local/share/bash-completion/completions/sinew
  sinew completions zsh > \"${fpath[1]}/_sinew\"
  sinew completions fish > ~/.config/fish/completions/sinew.fish";

/// Which axis of a file points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Up {
    /// Y, as in most BVH files.
    Y,
    /// Z, as modelling programs have it.
    Z,
}

/// What a file does not say of itself.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct UnitArgs {
    /// Metres a unit of a BVH file (CMU's: 0.056444, centimetres: 0.01, inches: 0.0254) [default: 1]
    #[arg(long, value_name = "METRES", value_parser = positive)]
    pub scale: Option<f32>,
    /// The axis of a BVH file that points up [default: y]
    #[arg(long, value_enum)]
    pub up: Option<Up>,
}

impl UnitArgs {
    /// The options for reading a model. glTF and VRM say their units themselves, so that asking for others is a mistake.
    pub fn options(&self, model: &std::path::Path) -> Result<ReadOptions, Failure> {
        let ending = model.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
        let given = [("--scale", self.scale.is_some()), ("--up", self.up.is_some())];
        if matches!(ending.as_str(), "glb" | "gltf" | "vrm" | "urdf")
            && let Some((option, _)) = given.into_iter().find(|(_, given)| *given)
        {
            return Err(Failure::Usage(format!(
                "{option} is for formats that do not say their units; {} ({})",
                if ending == "urdf" { "URDF is in metres" } else { "glTF is in metres with Y up" },
                model.display()
            )));
        }
        Ok(ReadOptions {
            scale: self.scale.unwrap_or(1.0),
            up: if self.up == Some(Up::Z) { UpAxis::Z } else { UpAxis::Y },
        })
    }
}

/// By hand, where the search for parts of the body is unsure.
#[derive(Clone, Debug, Default, Args)]
pub struct BodyArgs {
    /// The ankles, by name, path (hips/thigh.L) or #index, where they are not found by themselves
    #[arg(long, value_name = "LEFT,RIGHT", value_parser = pair, allow_hyphen_values = true)]
    pub feet: Option<(String, String)>,
    /// The joint that legs and spine hang on; of several figures in a file, the one that it belongs to is taken
    #[arg(long, value_name = "JOINT", allow_hyphen_values = true)]
    pub hips: Option<String>,
}

/// `sinew info`.
#[derive(Debug, Args)]
#[command(after_help = INFO_EXAMPLES)]
pub struct InfoArgs {
    /// A .glb, .gltf, .vrm, .bvh or .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// Units and axes.
    #[command(flatten)]
    pub units: UnitArgs,
    /// The body by hand.
    #[command(flatten)]
    pub body: BodyArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

const INFO_EXAMPLES: &str = "\
Examples:
  sinew info knight.glb                         the tree of joints, the clips, the parts of the body
  sinew info walk.bvh --scale 0.056444          a CMU clip, in metres
  sinew info arm.urdf                           links, joints, limits
  sinew info creature.glb --feet paw_l,paw_r    are these two feet with legs?
  sinew info knight.glb --json | jq '.clips[].name'";

/// `sinew draw`.
#[derive(Debug, Args)]
#[command(after_help = DRAW_EXAMPLES)]
#[command(group = clap::ArgGroup::new("asks").multiple(true).args(["to", "curve", "goals"]))]
pub struct DrawArgs {
    /// A .glb, .gltf, .vrm, .bvh or .urdf file; an arm is drawn with the limits of its joints
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The picture to write: .png or .svg
    #[arg(short, long, value_name = "FILE", value_parser = picture, value_hint = ValueHint::FilePath)]
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
    /// Bring a figure's joints to the goals of the first line of a file, as `sinew solve --goals` takes it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["clip", "to", "curve"],
          help_heading = "Goal")]
    pub goals: Option<PathBuf>,
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
    #[arg(long, value_name = "GROUND", default_value = "stairs", help_heading = "Ground")]
    pub ground: String,
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
    #[arg(short, long, value_name = "FILE", value_parser = model_out, value_hint = ValueHint::FilePath,
          help_heading = "Output")]
    pub out: Option<PathBuf>,
    /// Draw the walk before and after: .png or .svg [default: planted.png where no MODEL is given, else none]
    #[arg(long, value_name = "FILE", value_parser = picture, value_hint = ValueHint::FilePath, help_heading = "Output")]
    pub picture: Option<PathBuf>,
    /// Write what was measured as JSON
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
    /// The file holds {"left": {"heel": [[from, to], ...], "ball": [...]}, "right": {"curve": [[time, value], ...]}} in seconds of
    /// the clip; a curve means contact of heel and ball above 1/2. A node's translation is such a curve: its y, or where that
    /// is constant its x, else its z. A foot that is not named is found as ever.
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
    /// How much of the planting to apply: 0 leaves the clip, 1 plants it
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, value_parser = share, help_heading = "Planting")]
    pub weight: f32,
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
    /// Cyclic coordinate descent, any joint
    Ccd,
    /// Forward and backward reaching, joints that turn
    Fabrik,
    /// Lays the chain along a curve: see --curve; `auto` does so where a curve is given
    Spline,
    /// Turns the chain's joints, each twice as far as the one before it and by 60 degrees at most, so that the tip's front (Z in the
    /// rest pose) looks at a place; for figures
    LookAt,
    /// A whole figure with goals on any of its joints, all at once; `auto` does so where chains of several goals would meet
    Tree,
}

/// A curve to lay a chain along.
#[derive(Clone, Debug, Default, Args)]
pub struct CurveArgs {
    /// Lay the chain along a curve: its control points, in metres, with spaces between
    #[arg(long, value_name = "\"X,Y,Z X,Y,Z ...\"", value_parser = points, allow_hyphen_values = true)]
    pub curve: Option<Points>,
    /// The points are those of cubic Bézier pieces (point, handle, handle, point, ...) instead of points that the curve goes through
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

/// Places in metres.
pub type Points = Vec<[f64; 3]>;

impl CurveArgs {
    /// What is asked for, if a curve is.
    pub fn request(&self) -> Option<CurveRequest> {
        Some(CurveRequest {
            points: self.curve.clone()?,
            bezier: self.bezier,
            closed: self.closed,
            offset: self.offset.unwrap_or(0.0),
            reversed: self.reversed,
            stretched: self.stretched,
            back: self.back,
        })
    }
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
    /// The eyes' joints, or `none` [default: those below the tip that are called eyes]
    #[arg(long, value_name = "JOINT,...", value_delimiter = ',')]
    pub eyes: Vec<String>,
}

impl LookArgs {
    /// Whether anything is said.
    pub fn is_given(&self) -> bool {
        !self.shares.is_empty() || !self.cones.is_empty() || self.dead_zone.is_some() || !self.eyes.is_empty()
    }

    /// What is said.
    pub fn settings(&self) -> crate::solve::LookSettings {
        crate::solve::LookSettings {
            shares: self.shares.clone(),
            cones: self.cones.clone(),
            dead_zone: self.dead_zone.unwrap_or(0.0),
            eyes: self.eyes.clone(),
        }
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
    /// Goals as JSON, one a line; `-` is standard input. Each gets one line of JSON as its answer, in the same order
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, allow_hyphen_values = true,
          conflicts_with = "curve", help_heading = "Goal")]
    pub goals: Option<PathBuf>,

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
    /// Most steps of a solve [default: 10000 with lm, else 200]
    #[arg(long, value_name = "N", help_heading = "Solving")]
    pub max_iterations: Option<u32>,
    /// Most starts besides the first; 0 stays on the branch that the start is on [default: 400 with lm, else 4]
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
  sinew solve miku.vrm --chain chest..head --solver look-at --to 1,1.5,1 --shares 0.2,0.4,1 --cones 20,40,60
  sinew solve knight.glb --goals body.jsonl -o poses.jsonl
  sinew solve snake.glb --chain head..tail_tip --curve \"1,0,0 0,0.3,1 -1,0,0 0,0.3,-1\" --closed --reversed -o ring.glb

A line of goals, and its answer:
  {\"id\": 7, \"start\": {\"shoulder\": 0.1}, \"position\": [0.4,0.1,0.5], \"rotation\": [1,0,0,0]}
  {\"id\": 7, \"status\": \"reached\", \"joints\": {\"shoulder\": 0.52}, \"position_error\": 3e-9, ...}
or several links at once: {\"goals\": [{\"joint\": \"hand_l\", \"position\": [...], \"position_weight\": 0.5}, ...]}
A figure's answer has \"rotations\": {\"hand\": [x,y,z,w], ...}, local, which \"start_rotations\" takes; what follow moved (of an
arm, its base, by so much) has \"translations\", which \"start_translations\" takes. Its goals name joints, each with a chain of its own.
With --solver spline a goal has a curve: {\"curve\": [[1,0,0], [0,0.3,1], ...]}, or with all that the options say, {\"curve\": {\"points\": [...],
\"bezier\": true, \"closed\": true, \"offset\": 0.3, \"reversed\": true, \"stretched\": true, \"back\": [0,1,0]}}.
Goals on one figure that share joints are solved together (--solver tree): {\"goals\": [{\"joint\": \"head\", \"position\": [...]}, {\"joint\":
\"hand.l\", \"position\": [...], \"priority\": 1}, {\"joint\": \"hand.r\", \"position\": [...], \"relative_to\": \"hand.l\"}], \"root\": \"spring\"}.
Priority 0 goes first, to 2; a goal relative to a joint moves with it; the root (that of --chain, or the joint that all goals hang on)
is pinned, free or on a spring.
A line that cannot be worked with is answered by its error, the others are solved, and the exit code is 1.";

/// `sinew reach`.
#[derive(Clone, Debug, Args)]
#[command(after_help = REACH_EXAMPLES)]
pub struct ReachArgs {
    /// A .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The links that the chain begins and ends with [default: the root link, and the only link that carries none]
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true)]
    pub chain: Option<(String, String)>,
    /// The picture to write: .png or .svg
    #[arg(short, long, value_name = "FILE", value_parser = picture, value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// How many poses are looked at
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub samples: u64,
    /// Threads [default: one a core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
}

const REACH_EXAMPLES: &str = "\
Examples:
  sinew reach panda.urdf --chain panda_link0..panda_hand -o reach.png
  sinew reach arm.urdf -o reach.svg --samples 200000";

/// Names with values.
pub type Assignments = Vec<(String, f64)>;

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn numbers_out_of_range_are_refused() {
        let plant = |extra: &[&str]| {
            let line = ["sinew", "plant"].iter().chain(extra);
            Cli::try_parse_from(line).map(|_| ()).map_err(|e| e.to_string())
        };
        plant(&["--ground-at=-1,0,2.5", "--yaw-left", "-8", "--weight", "0.5", "--cast-below", "1e-3"])
            .unwrap();
        for (option, value) in [
            ("--weight", "1.5"),
            ("--weight", "NaN"),
            ("--sole-height", "-0.1"),
            ("--ground-scale", "0"),
            ("--ground-scale", "inf"),
            ("--cast-below", "0"),
            ("--max-slope", "91"),
            ("--ground-at", "1,2"),
            ("--ground-at", "1,2,nan"),
            ("--feet", "left"),
            ("--repeat", "0"),
            ("--scale", "-1"),
            ("--picture", "walk.jpg"),
            ("-o", "walk.fbx"),
        ] {
            let error = plant(&[&format!("{option}={value}")]).unwrap_err();
            assert!(error.contains(value), "{option} {value}: {error}");
        }
    }

    #[test]
    fn without_a_model_a_picture_is_drawn() {
        let parse = |line: &[&str]| match Cli::parse_from(line).command {
            Command::Plant(args) => args,
            _ => unreachable!(),
        };
        let args = parse(&["sinew", "plant"]);
        assert_eq!(args.out(), PathBuf::from("planted.glb"));
        assert_eq!(args.picture(), Some(PathBuf::from("planted.png")));
        assert_eq!(parse(&["sinew", "plant", "a.glb"]).picture(), None);
    }
}
