//! Arguments for the ground under a clip.

use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};
use glam::Vec3;

use super::{
    Up,
    values::{positive, vector},
};

/// The ground on which feet are planted.
#[derive(Clone, Debug, Args)]
pub struct GroundArgs {
    /// The ground: stairs, stairs-down, steep-stairs, steep-stairs-down, slope, slope-down, rough, flat, or a .glb, .gltf or
    /// .obj file [default: stairs to plant; rough to walk; none to bake, where feet then stay as the clip has
    /// them]
    ///
    /// The built-in grounds are placed under the walk. A step of the stairs rises 12 cm on a tread of 40 cm, one of the
    /// steep stairs 17 cm on 29 cm; the slope has 20 degrees. A mesh from a file keeps its place and size unless --ground-at
    /// or --ground-scale is given.
    #[arg(id = "ground", long = "ground", value_name = "GROUND", value_hint = ValueHint::FilePath)]
    pub path: Option<PathBuf>,
    /// Scale a ground from a file by this factor; `sinew walk` scales built-in grounds too
    #[arg(id = "ground_scale", long = "ground-scale", value_name = "FACTOR", default_value_t = 1.0, value_parser = positive)]
    pub scale: f32,
    /// Translate a ground from a file, in metres
    #[arg(id = "ground_at", long = "ground-at", value_name = "X,Y,Z", default_value = "0,0,0", value_parser = vector,
          allow_hyphen_values = true)]
    pub at: Vec3,
    /// Up axis of an .obj ground [default: y]
    #[arg(id = "ground_up", long = "ground-up", value_name = "AXIS", value_enum)]
    pub up: Option<Up>,
}

impl GroundArgs {
    /// The name of a built-in ground, or the path of a file.
    pub fn name(&self) -> &Path {
        self.path.as_deref().unwrap_or(Path::new("stairs"))
    }
}
