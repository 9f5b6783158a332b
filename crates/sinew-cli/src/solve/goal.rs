//! What is asked for, in the numbers of pose space.

use glam::{DQuat, DVec3, Vec3};
use sinew::{Goal, Pole};

use super::request::GoalRequest;

/// A goal in f32, without its weights.
pub fn goal(request: &GoalRequest) -> Result<Goal, String> {
    let mut goal = Goal::NONE
        .with_position_influence(request.position_influence as f32)
        .with_rotation_influence(request.rotation_influence as f32)
        .with_pole(request.pole.map(|p| narrow("pole", p)).transpose()?.map_or(Pole::Keep, Pole::Point));
    goal.position = request.position.map(|p| narrow("position", p)).transpose()?;
    goal.rotation = request.rotation.map(|q| DQuat::from_array(q).as_quat());
    Ok(goal)
}

/// A goal of a chain by itself: what has no weight is left out, and other weights say nothing.
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

/// A place in f32.
pub fn narrow(what: &str, at: [f64; 3]) -> Result<Vec3, String> {
    let narrow = DVec3::from_array(at).as_vec3();
    // Squares of places must be finite, too.
    let largest = at.iter().fold(0.0f64, |m, c| m.max(c.abs()));
    if largest < 1e18 { Ok(narrow) } else { Err(format!("{what} is out of range: {at:?}")) }
}
