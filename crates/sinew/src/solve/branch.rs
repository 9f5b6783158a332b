//! Whether an answer lies on another branch than the incoming pose: one definition for every solver.

use glam::Vec3;

use crate::math;

/// Radians that a joint may turn for each length of the chain (or size of the figure) that its tip moved: promise 10's
/// bound.
const PER_LENGTH: f32 = 8.0;

/// Radians that a joint may turn for each radian that the tip turned, where its goal has a rotation: half a radian counts
/// as a length, as in the objective.
const PER_RADIAN: f32 = 16.0;

/// Radians of turn that are never a change of branch.
const FLOOR: f32 = 1e-3;

/// Whether the branch changed, for a goal without a pole or swivel: a joint turned further than the motion of the tip
/// explains. All three are measured between the incoming pose and the pose that is left.
///
/// - `turn`: the largest turn of a joint, in radians.
/// - `moved`: the distance that the tip moved, in lengths of the chain or sizes of the figure.
/// - `turned`: the angle that the tip turned, in radians; 0 where its goal has no rotation.
#[inline]
pub(crate) fn changed(turn: f32, moved: f32, turned: f32) -> bool {
    turn > PER_LENGTH * moved + PER_RADIAN * turned + FLOOR
}

/// The same for the chord between two unit vectors a turn apart (twice the sine of half of it), without an arc tangent where
/// the branch did not change.
#[inline]
pub(crate) fn changed_by_chord(chord: f32, moved: f32, turned: f32) -> bool {
    let half = 0.5 * chord;
    // An angle up to a half turn is at most pi / 2 times the chord.
    changed(core::f32::consts::FRAC_PI_2 * chord, moved, turned)
        && changed(2.0 * math::atan2(half, math::sqrt((1.0 - half * half).max(0.0))), moved, turned)
}

/// Below this sine of the angle between line and bend a chain has no side to which it bends: positions in f32 give it at
/// random.
const STRAIGHT: f32 = 1e-5;

/// Whether the branch changed, for a goal with a pole or swivel: the bend turned by more than a right angle about the
/// line from root to tip. Each line goes from root to tip, each bend from the root to the middle of the chain, in model
/// space. Carries the initial bend along by the shortest arc between the lines. A chain that is straight, before or after,
/// has no side that could change.
pub(crate) fn flipped(initial_line: Vec3, initial_bend: Vec3, line: Vec3, bend: Vec3) -> bool {
    let (Some(from), Some(to)) = (initial_line.try_normalize(), line.try_normalize()) else { return false };
    let is_straight =
        |line: Vec3, bend: Vec3| line.cross(bend.normalize_or_zero()).length_squared() <= STRAIGHT * STRAIGHT;
    let across = |axis: Vec3, v: Vec3| v - axis * v.dot(axis);
    let (bend_before, cosine) = (across(from, initial_bend), from.dot(to));
    // What is across the one line, turned by the shortest arc to the other.
    let carried = if cosine > -0.9 {
        bend_before - (from + to) * (bend_before.dot(to) / (1.0 + cosine))
    } else {
        math::rotate(math::shortest_arc(from, to, initial_bend), bend_before)
    };
    carried.dot(across(to, bend)) < 0.0 && !is_straight(from, initial_bend) && !is_straight(to, bend)
}
