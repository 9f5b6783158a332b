//! Arguments of the command line and their help texts. Nothing here knows the subcommands' implementations.

mod bake;
mod contacts;
mod draw;
mod figure;
mod ground;
mod info;
mod plant;
mod reach;
mod rig;
mod solve;
mod values;
mod walk;

use clap::{Parser, Subcommand};

pub use bake::{BakeArgs, BakeTo};
pub use contacts::ContactSource;
pub use draw::DrawArgs;
pub use figure::{BodyArgs, MemoryArgs, UnitArgs, Up};
pub use ground::GroundArgs;
pub use info::InfoArgs;
pub use plant::PlantArgs;
pub use reach::ReachArgs;
pub use rig::RigArgs;
pub use solve::{CurveArgs, LookArgs, SolveArgs, SolverName};
pub use walk::WalkArgs;

/// Inverse kinematics on files: plants the feet of clips on a ground, solves goals for figures and robot arms, and draws the
/// results.
#[derive(Debug, Parser)]
#[command(name = "sinew", version, arg_required_else_help = true, after_help = TOP_EXAMPLES)]
pub struct Cli {
    /// The subcommand to run.
    #[command(subcommand)]
    pub command: Command,
}

const TOP_EXAMPLES: &str = "\
Examples:
  sinew plant                  the built-in character on the built-in stairs: planted.glb, planted.png
  sinew info knight.glb        joints, clips, and the joint of each body part
  sinew plant knight.glb --clip Walking_A --ground level.glb -o out.glb
  sinew rig knight.glb -o knight.toml
  sinew bake knight.glb --rig knight.toml --clip Walking_A -o baked.glb
  sinew draw knight.glb --clip Walking_A --time 0.4 -o knight.png
  sinew solve arm.urdf --chain base..tool --to 0.4,0.1,0.3 --rotation 0,1,0,0
  sinew reach arm.urdf --chain base..tool -o reach.png
  sinew walk                   a built-in creature of eight legs on rough ground: walk.glb, walk.png

Exit codes: 0 success, 1 failure (one line on stderr says what failed and where), 2 invalid command line.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show a model's joints, bone lengths, clips and body parts, with the reason for each part.
    Info(InfoArgs),
    /// Plant the feet of a clip on a ground and write the model with the planted clip added.
    ///
    /// Without MODEL, the built-in character walks up the built-in stairs, and planted.glb and planted.png are written.
    /// The output holds the whole input, the planted clip as `NAME (planted)`, and the ground as a mesh named `ground`.
    Plant(Box<PlantArgs>),
    /// Write a rig file for a two-legged figure, with the names of its goals.
    Rig(Box<RigArgs>),
    /// Play a clip through a rig's handles and write the model with the result added as a clip.
    ///
    /// The output holds the whole input, and the baked clip as `NAME (baked)`.
    Bake(Box<BakeArgs>),
    /// Draw a model in its rest pose, at a time of a clip, or before and after a solve.
    Draw(DrawArgs),
    /// Solve a chain or a whole figure for one goal or for a file of goals.
    ///
    /// On a .glb, .gltf, .vrm or .bvh, ROOT and TIP are joints. Goals are in model space (metres, Y up), and the answer
    /// holds the joints' local rotations.
    ///
    /// On a .urdf, ROOT and TIP are links. Goals are the pose of TIP in ROOT's space, in metres and with the file's axes
    /// (usually Z up). The answer holds joint values in radians and metres, always within their limits.
    ///
    /// For a goal out of reach, the answer is the nearest pose found, with its residual.
    Solve(Box<SolveArgs>),
    /// Draw an arm's workspace and how freely the tip moves in each part of it.
    Reach(Box<ReachArgs>),
    /// Let a creature of any number of legs walk over a ground by itself and write the model with its walk added.
    ///
    /// Without MODEL, a built-in creature of eight legs walks over rough ground, and walk.glb and walk.png are written.
    /// The output holds the whole input, the walk as a clip `walk`, and the ground as a mesh named `ground`.
    Walk(Box<WalkArgs>),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell to complete in.
        shell: clap_complete::Shell,
    },
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  sinew completions bash > ~/.local/share/bash-completion/completions/sinew
  sinew completions zsh > \"${fpath[1]}/_sinew\"
  sinew completions fish > ~/.config/fish/completions/sinew.fish";

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

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
        for stride in ["keep", "fit", "1", "9"] {
            plant(&["--stride", stride]).unwrap();
        }
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
            ("--stride", "0"),
            ("--stride", "1.5"),
            ("--stride", "all"),
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
