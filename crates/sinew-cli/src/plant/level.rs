//! The ground that a walk is planted on, and its placement under the walk.

use std::path::{Path, PathBuf};

use glam::{Affine3, Quat, Vec2, Vec3};
use sinew::ground::{
    TriangleMesh,
    terrain::{Flight, Rough, Slope, Stairs, TerrainError},
};
use sinew_files::{FileError, ReadOptions};
use thiserror::Error;

/// Ground, as the command line names it.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// Stairs.
    Stairs {
        /// Height of a step, in metres.
        rise: f32,
        /// Depth of a tread, in metres.
        going: f32,
        /// Up, down or both.
        flight: Flight,
    },
    /// A slope, in degrees, positive upwards; 0 is a level floor.
    Slope(f32),
    /// Rough ground.
    Rough,
    /// Triangles from a file.
    File(PathBuf),
}

/// Failure to make a ground.
#[derive(Debug, Error)]
pub enum LevelError {
    /// A built-in ground has impossible measures.
    #[error(transparent)]
    Terrain(#[from] TerrainError),
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Stairs { rise, going, flight } => {
                let direction = match flight {
                    Flight::Up => "up",
                    Flight::Down => "down",
                    Flight::UpAndDown => "up and down",
                };
                write!(f, "stairs of {:.0} x {:.0} cm {direction}", rise * 100.0, going * 100.0)
            }
            Self::Slope(0.0) => f.write_str("a level floor"),
            Self::Slope(degrees) => {
                write!(
                    f,
                    "a slope of {:.0} degrees {}",
                    degrees.abs(),
                    if *degrees > 0.0 { "up" } else { "down" }
                )
            }
            Self::Rough => f.write_str("rough ground"),
            Self::File(path) => f.write_str(&path.file_name().unwrap_or_default().to_string_lossy()),
        }
    }
}

impl Level {
    /// The built-in ground of this name; any other name is a file.
    pub fn parse(name: &Path) -> Self {
        let stairs = |rise, going, flight| Self::Stairs { rise, going, flight };
        match name.to_str().unwrap_or_default() {
            "stairs" => stairs(0.12, 0.40, Flight::Up),
            "stairs-down" => stairs(0.12, 0.40, Flight::Down),
            "steep-stairs" => stairs(0.17, 0.29, Flight::Up),
            "steep-stairs-down" => stairs(0.17, 0.29, Flight::Down),
            "slope" => Self::Slope(20.0),
            "slope-down" => Self::Slope(-20.0),
            "flat" => Self::Slope(0.0),
            "rough" => Self::Rough,
            _ => Self::File(name.into()),
        }
    }
}

/// Position and direction of a walk in world space, by which a built-in ground is placed under it.
#[derive(Clone, Copy, Debug)]
pub struct Walk {
    /// Point on the clip's floor below the pelvis at the beginning, in metres.
    pub start: Vec3,
    /// Horizontal unit vector in the direction of the walk.
    pub heading: Vec3,
    /// Horizontal distance from beginning to end, in metres.
    pub length: f32,
    /// Length of a leg, in metres.
    pub leg: f32,
}

impl Level {
    /// The ground's triangles in world space. A walk starts on the level and then meets a built-in ground; a figure that
    /// stays in place stands in its middle. `scale`, `at` (metres) and `options` are for grounds from files.
    pub fn mesh(
        &self,
        walk: &Walk,
        scale: f32,
        at: Vec3,
        options: &ReadOptions,
    ) -> Result<TriangleMesh, LevelError> {
        let heading = walk.heading.x.atan2(walk.heading.z);
        let stands = walk.length < walk.leg;
        // A walk takes a pace before the first step; a figure that stays in place stands on the third step.
        let lead = |going: f32| if stands { -2.5 * going } else { 0.8 * walk.leg };
        let beyond = 2.0 + walk.leg;
        Ok(match self {
            Self::Stairs { rise, going, flight } => {
                let lead = lead(*going);
                // The steps are at least as long as the walk, so that it does not end on the landing.
                let steps = ((walk.length - lead) / going).ceil().clamp(5.0, 200.0) as u32;
                let direction = if *flight == Flight::Up { 1.0 } else { -1.0 };
                let back = if stands { 3.0 * going } else { 0.0 };
                let origin = walk.start
                    - walk.heading * back
                    - Vec3::Y * if stands { 3.0 * rise * direction } else { 0.0 };
                Stairs::new()
                    .with_origin(origin)
                    .with_heading(heading)
                    .with_rise(*rise)
                    .with_going(*going)
                    .with_steps(steps)
                    .with_width(2.0f32.max(2.0 * walk.leg))
                    .with_lead(if stands { going * 0.5 } else { lead })
                    .with_before(beyond)
                    .with_landing(beyond)
                    .with_flight(*flight)
                    .mesh()?
            }
            Self::Slope(degrees) => {
                let back = if stands { 2.0 * walk.leg } else { 0.0 };
                let angle = degrees.to_radians();
                Slope::new()
                    .with_origin(walk.start - walk.heading * back - Vec3::Y * (back * angle.tan()))
                    .with_heading(heading)
                    .with_angle(angle)
                    .with_length(walk.length + 4.0 * walk.leg)
                    .with_width(2.0f32.max(2.0 * walk.leg))
                    .with_lead(if stands { 0.0 } else { 0.8 * walk.leg })
                    .with_before(beyond)
                    .with_landing(beyond)
                    .mesh()?
            }
            Self::Rough => {
                let middle = walk.start + walk.heading * (0.5 * walk.length);
                let size = walk.length + 2.0 * beyond + if stands { 6.0 } else { 0.0 };
                let rough = Rough::default();
                rough
                    .with_origin(if stands { middle + walk.heading * 3.0 } else { middle })
                    .with_size(Vec2::splat(size))
                    // Giants and very long walks get coarser triangles instead of millions of them.
                    .with_cell(rough.cell.max(size / 1500.0))
                    .with_level(0.0)
                    .mesh()?
            }
            Self::File(path) => {
                let mesh = sinew_files::ground::read(path, options)?;
                let world_from_file =
                    Affine3::from_scale_rotation_translation(Vec3::splat(scale), Quat::IDENTITY, at);
                mesh.transformed(&world_from_file)
            }
        })
    }
}
