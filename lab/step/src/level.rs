//! Grounds under a walk, placed as the command places them.

use std::path::Path;

use sinew::{
    glam::{Vec2, Vec3},
    ground::{
        MeshGround,
        terrain::{Flight, Rough, Slope, Stairs},
    },
};
use sinew_files::ReadOptions;

use crate::walker::Walker;

/// Names of the grounds.
pub const GROUNDS: &[&str] = &[
    "stairs",
    "stairs-down",
    "steep-stairs",
    "steep-stairs-down",
    "slope",
    "slope-down",
    "rough",
    "terrain",
];

/// A ground by its name; none where its file is absent.
pub fn ground(name: &str, walker: &Walker, data: &Path) -> Result<Option<MeshGround>, String> {
    let (start, way, length) = (walker.start(), walker.heading(), walker.length());
    let heading = way.x.atan2(way.z);
    let leg = walker.figure.leg_length();
    let stands = length < leg;
    let beyond = 2.0 + leg;
    let width = 2.0f32.max(2.0 * leg);
    let stairs = |rise: f32, going: f32, flight| {
        let direction = if flight == Flight::Up { 1.0 } else { -1.0 };
        // One that stays where it is stands on the third step.
        let (back, down) = if stands { (3.0 * going, 3.0 * rise * direction) } else { (0.0, 0.0) };
        let lead = if stands { -2.5 * going } else { 0.8 * leg };
        Stairs::new()
            .with_origin(start - way * back - Vec3::Y * down)
            .with_heading(heading)
            .with_rise(rise)
            .with_going(going)
            .with_steps(((length - lead) / going).ceil().clamp(5.0, 200.0) as u32)
            .with_width(width)
            .with_lead(if stands { 0.5 * going } else { lead })
            .with_before(beyond)
            .with_landing(beyond)
            .with_flight(flight)
            .mesh()
    };
    let slope = |degrees: f32| {
        let back = if stands { 2.0 * leg } else { 0.0 };
        let angle = degrees.to_radians();
        Slope::new()
            .with_origin(start - way * back - Vec3::Y * (back * angle.tan()))
            .with_heading(heading)
            .with_angle(angle)
            .with_length(length + 4.0 * leg)
            .with_width(width)
            .with_lead(if stands { 0.0 } else { 0.8 * leg })
            .with_before(beyond)
            .with_landing(beyond)
            .mesh()
    };
    let mesh = match name {
        "stairs" => stairs(0.12, 0.40, Flight::Up),
        "stairs-down" => stairs(0.12, 0.40, Flight::Down),
        "steep-stairs" => stairs(0.17, 0.29, Flight::Up),
        "steep-stairs-down" => stairs(0.17, 0.29, Flight::Down),
        "slope" => slope(20.0),
        "slope-down" => slope(-20.0),
        "rough" => {
            let origin = start + way * if stands { 3.0 } else { 0.5 * length };
            let size = length + 2.0 * beyond + if stands { 6.0 } else { 0.0 };
            Rough::new().with_origin(origin).with_size(Vec2::splat(size)).with_level(0.0).mesh()
        }
        _ => {
            let path = data.join("gltf/terrain_bevy.glb");
            if !path.exists() {
                return Ok(None);
            }
            let mesh = sinew_files::ground::read(&path, &ReadOptions::default());
            return Ok(Some(MeshGround::new(mesh.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?));
        }
    };
    let mesh = mesh.map_err(|e| e.to_string())?;
    Ok(Some(MeshGround::new(mesh).map_err(|e| e.to_string())?))
}
