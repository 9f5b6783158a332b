//! The ground that a walk is planted on, and its placement under the walk.

use std::path::{Path, PathBuf};

use glam::{Affine3, Quat, Vec2, Vec3};
use sinew::ground::{
    TriangleMesh,
    terrain::{Flight, Rough, Slope, Stairs, TerrainError},
};
use sinew_files::{FileError, ReadOptions};
use thiserror::Error;

use crate::{args::GroundArgs, failure::Failure, outputs::ending};

/// Ground, as the command line names it. Built-in ones have their shapes, and get their places under a walk.
#[derive(Clone, Debug, PartialEq)]
pub enum Level {
    /// Stairs.
    Stairs(Stairs),
    /// A slope or a level floor.
    Slope(Slope),
    /// Rough ground.
    Rough(Rough),
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
            Self::Stairs(Stairs { rise, going, flight, .. }) => {
                let direction = if *flight == Flight::Down { "down" } else { "up" };
                write!(f, "stairs of {:.0} x {:.0} cm {direction}", rise * 1e2, going * 1e2)
            }
            Self::Slope(Slope { angle: 0.0, .. }) => f.write_str("a level floor"),
            Self::Slope(Slope { angle, .. }) => {
                let direction = if *angle > 0.0 { "up" } else { "down" };
                write!(f, "a slope of {:.0} degrees {direction}", angle.abs().to_degrees())
            }
            Self::Rough(_) => f.write_str("rough ground"),
            Self::File(path) => f.write_str(&path.file_name().unwrap_or_default().to_string_lossy()),
        }
    }
}

impl Level {
    /// The ground of the command line. Options that do not fit it are errors.
    pub fn of(args: &GroundArgs) -> Result<Self, Failure> {
        let (level, name) = (Self::parse(args.name()), args.name().display());
        let file = level.file();
        if file.is_none() && (args.at != Vec3::ZERO || args.scale != 1.0) {
            let option = if args.scale != 1.0 { "--ground-scale" } else { "--ground-at" };
            return Err(Failure::Usage(format!(
                "{option} is for a ground from a file; {name} is built in and placed under the walk"
            )));
        }
        if args.up.is_some() && file.is_none_or(|path| ending(path) != "obj") {
            return Err(Failure::Usage(format!(
                "--ground-up is for an .obj ground, whose format does not declare an up axis, not for {name}"
            )));
        }
        Ok(level)
    }

    /// Path of a ground from a file.
    pub fn file(&self) -> Option<&Path> {
        if let Self::File(path) = self { Some(path) } else { None }
    }

    /// The built-in ground of this name; any other name is a file.
    pub fn parse(name: &Path) -> Self {
        let (steep, slope) = (Stairs::new(), Slope::new());
        let stairs = steep.with_rise(0.12).with_going(0.40);
        match name.to_str().unwrap_or_default() {
            "stairs" => Self::Stairs(stairs),
            "stairs-down" => Self::Stairs(stairs.with_flight(Flight::Down)),
            "steep-stairs" => Self::Stairs(steep),
            "steep-stairs-down" => Self::Stairs(steep.with_flight(Flight::Down)),
            "slope" => Self::Slope(slope),
            "slope-down" => Self::Slope(slope.with_angle(-slope.angle)),
            "flat" => Self::Slope(slope.with_angle(0.0)),
            "rough" => Self::Rough(Rough::new().with_level(0.0)),
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
        // A walk takes a pace before the ground rises; a figure that stays in place stands on it.
        let pace = 0.8 * walk.leg;
        // Risers, or metres of rough ground, behind a figure in place. It stands in the middle of a tread.
        let passed = if stands { 3.0 } else { 0.0 };
        let beyond = 2.0 + walk.leg;
        let before = beyond - behind;
        Ok(match self {
            Self::Stairs(stairs @ Stairs { rise, going, flight, .. }) => {
                let lead = if stands { 0.5 * going } else { pace };
                let past = ahead + going * passed - lead;
                // The steps are at least as long as the walk, so that it does not end on the landing.
                let steps = (past / going).ceil().clamp(5.0, 200.0);
                let up = if *flight == Flight::Up { *rise } else { -rise };
                stairs
                    .with_origin(start - passed * (walk.heading * going + Vec3::Y * up))
                    .with_heading(heading)
                    .with_steps(steps as u32)
                    .with_width(walk.width())
                    .with_lead(lead)
                    .with_before(before)
                    .with_landing(beyond + (past - going * steps).max(0.0))
                    .mesh()?
            }
            Self::Slope(slope) => {
                let back = if stands { 2.0 * walk.leg } else { 0.0 };
                slope
                    .with_origin(start - back * (walk.heading + Vec3::Y * slope.angle.tan()))
                    .with_heading(heading)
                    .with_length(ahead + 2.0 * beyond)
                    .with_width(walk.width())
                    .with_lead(if stands { 0.0 } else { pace })
                    .with_before(before)
                    .with_landing(beyond)
                    .mesh()?
            }
            Self::Rough(rough) => {
                let middle = start + walk.heading * (0.5 * length);
                let size = 2.0 * (walk.radius(middle) + beyond + passed);
                rough
                    .with_origin(middle + walk.heading * passed)
                    .with_size(Vec2::splat(size))
                    // Giants and very long walks get coarser triangles instead of millions of them.
                    .with_cell(rough.cell.max(size / 1500.0))
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
