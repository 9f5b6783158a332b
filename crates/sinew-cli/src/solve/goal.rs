//! Goals of requests, as f32 goals of pose space.

use glam::{DQuat, DVec3, Vec3};
use sinew::{Goal, Pole};

use super::request::GoalRequest;

/// The goal of a request in f32, without its weights. A position or pole out of range is an error.
pub fn goal(request: &GoalRequest) -> Result<Goal, String> {
    let mut goal = Goal::NONE
        .with_position_influence(request.position_influence as f32)
        .with_rotation_influence(request.rotation_influence as f32)
        .with_pole(request.pole.map(|p| narrow("pole", p)).transpose()?.map_or(Pole::Keep, Pole::Point));
    goal.position = request.position.map(|p| narrow("position", p)).transpose()?;
    goal.rotation = request.rotation.map(|q| DQuat::from_array(q).as_quat());
    Ok(goal)
}

/// The goal of a request for a single chain. A position or rotation of weight 0 gets influence 0; any other weight has no
/// effect, as nothing competes.
pub fn goal_alone(request: &GoalRequest) -> Result<Goal, String> {
    let mut goal = goal(request)?;
    if request.position_weight as f32 <= 0.0 {
        goal.position_influence = 0.0;
    }
    if request.rotation_weight as f32 <= 0.0 {
        goal.rotation_influence = 0.0;
    }
    Ok(goal)
}

/// Converts a point to f32. `what` names it in the error for a coordinate of 1e18 or more.
pub fn narrow(what: &str, at: [f64; 3]) -> Result<Vec3, String> {
    let narrow = DVec3::from_array(at).as_vec3();
    // The squares of coordinates must be finite in f32.
    let max = at.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if max < 1e18 {
        Ok(narrow)
    } else {
        Err(format!("{what} {at:?} is out of range: coordinates must be below 1e18"))
    }
}
