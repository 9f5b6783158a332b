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

/// Path of a walk in world space, under which a built-in ground is placed. Lengths are in metres.
#[derive(Clone, Copy, Debug)]
pub struct Walk<'a> {
    /// Positions of the pelvis, in order of time; at least one.
    pub path: &'a [Vec3],
    /// Height of the clip's floor.
    pub floor: f32,
    /// Horizontal unit vector in the direction of the walk.
    pub heading: Vec3,
    /// Length of a leg.
    pub leg: f32,
}

impl Walk<'_> {
    /// Point on the clip's floor below the pelvis at the beginning.
    fn start(&self) -> Vec3 {
        self.path.first().copied().unwrap_or_default().with_y(self.floor)
    }

    /// Horizontal distance from beginning to end.
    fn length(&self) -> f32 {
        (self.path.last().copied().unwrap_or_default() - self.start()).with_y(0.0).length()
    }

    /// Largest horizontal distance of the path from a point.
    fn radius(&self, from: Vec3) -> f32 {
        self.path.iter().map(|p| (*p - from).with_y(0.0).length()).fold(0.0, f32::max)
    }

    /// Distances along a horizontal unit vector from the beginning: the smallest and the largest of the path.
    fn span(&self, along: Vec3) -> [f32; 2] {
        let ahead = self.path.iter().map(|p| (*p - self.start()).with_y(0.0).dot(along));
        ahead.fold([0.0, 0.0], |[low, high], x| [low.min(x), high.max(x)])
    }

    /// Width of a ground that follows the heading and holds the whole path, with a leg's length beside it.
    fn width(&self) -> f32 {
        let [right, left] = self.span(Vec3::new(self.heading.z, 0.0, -self.heading.x));
        (2.0 * (left.max(-right) + self.leg)).max(2.0)
    }
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
        let (start, length) = (walk.start(), walk.length());
        let [behind, ahead] = walk.span(walk.heading);
        // A way that turns may end where it begins.
        let stands = walk.radius(start) < walk.leg;
        // A walk takes a pace before the first step; a figure that stays in place stands on the third step.
        let lead = |going: f32| if stands { -2.5 * going } else { 0.8 * walk.leg };
        let beyond = 2.0 + walk.leg;
        let before = beyond - behind;
        Ok(match self {
            Self::Stairs { rise, going, flight } => {
                let lead = lead(*going);
                // The steps are at least as long as the walk, so that it does not end on the landing.
                let steps = ((ahead - lead) / going).ceil().clamp(5.0, 200.0) as u32;
                let direction = if *flight == Flight::Up { 1.0 } else { -1.0 };
                let back = if stands { 3.0 * going } else { 0.0 };
                let origin =
                    start - walk.heading * back - Vec3::Y * if stands { 3.0 * rise * direction } else { 0.0 };
                Stairs::new()
                    .with_origin(origin)
                    .with_heading(heading)
                    .with_rise(*rise)
                    .with_going(*going)
                    .with_steps(steps)
                    .with_width(walk.width())
                    .with_lead(if stands { going * 0.5 } else { lead })
                    .with_before(before)
                    .with_landing(beyond + (ahead - lead - going * steps as f32).max(0.0))
                    .with_flight(*flight)
                    .mesh()?
            }
            Self::Slope(degrees) => {
                let back = if stands { 2.0 * walk.leg } else { 0.0 };
                let angle = degrees.to_radians();
                Slope::new()
                    .with_origin(start - walk.heading * back - Vec3::Y * (back * angle.tan()))
                    .with_heading(heading)
                    .with_angle(angle)
                    .with_length(ahead + 4.0 * walk.leg)
                    .with_width(walk.width())
                    .with_lead(if stands { 0.0 } else { 0.8 * walk.leg })
                    .with_before(before)
                    .with_landing(beyond)
                    .mesh()?
            }
            Self::Rough => {
                let middle = start + walk.heading * (0.5 * length);
                let radius = walk.radius(middle);
                let size = 2.0 * (radius + beyond) + if stands { 6.0 } else { 0.0 };
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

#[cfg(test)]
mod tests {
    use sinew::ground::{Filter, Ground, MeshGround};

    use super::*;

    #[test]
    fn built_in_grounds_lie_under_all_of_a_way() {
        let circle = |turn: f32| -> Vec<Vec3> {
            // Six metres across, with a sway.
            let at = |i: usize| (i as f32 * 0.01 * turn, 3.0 + 0.02 * (i as f32 * 0.3).sin());
            (0..630).map(at).map(|(a, r)| Vec3::new(4.0 + r * a.cos(), 0.9, r * a.sin())).collect()
        };
        let line: Vec<Vec3> = (0..100).map(|i| Vec3::new(0.0, 0.9, 0.05 * i as f32)).collect();
        for path in [circle(1.0), circle(-1.0), circle(0.5), line, vec![Vec3::new(1.0, 0.9, 2.0); 5]] {
            for heading in [Vec3::Z, Vec3::NEG_X, Vec3::new(0.6, 0.0, 0.8)] {
                let walk = Walk { path: &path, floor: 0.1, heading, leg: 0.9 };
                for name in ["flat", "stairs", "steep-stairs-down", "slope", "slope-down", "rough"] {
                    let level = Level::parse(Path::new(name));
                    let mesh = level.mesh(&walk, 1.0, Vec3::ZERO, &ReadOptions::default()).unwrap();
                    let ground = MeshGround::new(mesh).unwrap();
                    for p in &path {
                        // Feet stand up to a leg's length from the pelvis.
                        for aside in [Vec3::ZERO, Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
                            let from = *p + aside * 0.8 + Vec3::Y * 50.0;
                            let hit = ground.cast_ray(from, Vec3::NEG_Y, 100.0, &Filter::ALL);
                            let height = hit.map(|hit| from.y - hit.distance);
                            assert!(height.is_some(), "{name}: nothing under {p} {aside}");
                            assert!(name != "flat" || height.is_some_and(|h| (h - 0.1).abs() < 1e-4));
                        }
                    }
                }
            }
        }
    }
}
