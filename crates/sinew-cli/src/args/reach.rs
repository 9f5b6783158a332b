//! Arguments of `sinew reach`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{
    MemoryArgs,
    values::{chain, picture},
};

/// Arguments of `sinew reach`.
#[derive(Clone, Debug, Args)]
#[command(after_help = REACH_EXAMPLES)]
pub struct ReachArgs {
    /// The arm: a .urdf file
    #[arg(value_hint = ValueHint::FilePath)]
    pub model: PathBuf,
    /// The chain's first and last link [default: the root link, and the only link without children]
    #[arg(long, value_name = "ROOT..TIP", value_parser = chain, allow_hyphen_values = true)]
    pub chain: Option<(String, String)>,
    /// The picture to write: .png or .svg
    #[arg(short, long, value_name = "FILE", value_parser = picture(), value_hint = ValueHint::FilePath)]
    pub out: PathBuf,
    /// Number of random poses to sample
    #[arg(long, value_name = "N", default_value_t = 4_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub samples: u64,
    /// Number of threads [default: one per core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Hide the progress bar
    #[arg(short, long)]
    pub quiet: bool,
    /// Memory.
    #[command(flatten)]
    pub memory: MemoryArgs,
}

const REACH_EXAMPLES: &str = "\
Examples:
  sinew reach panda.urdf --chain panda_link0..panda_hand -o reach.png
  sinew reach arm.urdf -o reach.svg --samples 200000";
