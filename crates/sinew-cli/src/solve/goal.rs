//! What is asked for, in the numbers of pose space.

use glam::{DQuat, DVec3, Vec3};
use sinew::{Goal, Pole};

use super::request::GoalRequest;

/// A goal in f32.
pub fn goal(request: &GoalRequest) -> Result<Goal, String> {
    Ok(Goal {
        position: request.position.map(|p| narrow("position", p)).transpose()?,
        rotation: request.rotation.map(|q| DQuat::from_array(q).as_quat()),
        position_weight: request.position_weight as f32,
        rotation_weight: request.rotation_weight as f32,
        pole: request.pole.map(|p| narrow("pole", p)).transpose()?.map_or(Pole::Keep, Pole::Point),
    })
}

/// A place in f32.
pub fn narrow(what: &str, at: [f64; 3]) -> Result<Vec3, String> {
    let narrow = DVec3::from_array(at).as_vec3();
    // Squares of places must be finite, too.
    let largest = at.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if largest < 1e18 { Ok(narrow) } else { Err(format!("{what} is out of range: {at:?}")) }
}
