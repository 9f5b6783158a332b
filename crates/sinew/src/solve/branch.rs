//! Whether a solution lies on another branch than the input pose: one definition for every solver.

use glam::{Quat, Vec3, Vec4};

use crate::math;

/// Radians that a joint may turn per chain length (or size of the figure) that its tip moves: the bound of promise 10.
const PER_LENGTH: f32 = 8.0;

/// Radians that a joint may turn per radian that the tip turns, where its goal has a rotation: half a radian counts as one
/// length, as in the objective.
const PER_RADIAN: f32 = 16.0;

/// Radians of turn that never count as a change of branch.
const FLOOR: f32 = 1e-3;

/// Whether the branch changed, for a goal without a pole or swivel: a joint turned further than the motion of the tip
/// explains. All three parameters are measured between the input pose and the solved pose.
///
/// - `turn`: the largest turn of a joint, in radians.
/// - `moved`: the distance that the tip moved, in lengths of the chain or sizes of the figure.
/// - `turned`: the angle that the tip turned, in radians; 0 where its goal has no rotation.
#[inline]
pub(crate) fn changed(turn: f32, moved: f32, turned: f32) -> bool {
    turn > PER_LENGTH * moved + PER_RADIAN * turned + FLOOR
}

/// [`changed`] for the squared sine of half the turn. Where the branch did not change, it needs no arc tangent and does not
/// compute `turned`.
#[inline]
pub(crate) fn changed_by_sine(squared: f32, moved: f32, turned: impl FnOnce() -> f32) -> bool {
    let sine = math::sqrt(squared);
    // An angle up to a half turn is at most pi times the sine of its half.
    changed(core::f32::consts::PI * sine, moved, 0.0) && {
        let turn = 2.0 * math::atan2(sine, math::sqrt((1.0 - squared).max(0.0)));
        changed(turn, moved, turned())
    }
}

/// The squared sine of half the turn between two rotations.
#[inline]
pub(crate) fn sine_between(a: Quat, b: Quat) -> f32 {
    let [a, b] = [a, b].map(|q| Vec4::new(q.x, q.y, q.z, q.w));
    // Half the chord of the quaternions, squared, is the squared sine of a quarter of the turn.
    let quarter = 0.25 * (a - b).length_squared().min((a + b).length_squared());
    4.0 * quarter * (1.0 - quarter)
}

/// Sine of the angle between line and bend below which a chain bends to no side: rounded f32 positions give one at random.
const STRAIGHT: f32 = 1e-5;

/// Whether the branch changed, for a goal with a pole or swivel: the bend turned by more than a right angle about the
/// line from root to tip. Each line goes from root to tip, each bend from the root to the middle of the chain, in model
/// space. Carries the initial bend along by the shortest arc between the lines. A chain that is straight before or after has
/// no side that could change.
pub(crate) fn flipped(initial_line: Vec3, initial_bend: Vec3, line: Vec3, bend: Vec3) -> bool {
    match (initial_line.try_normalize(), line.try_normalize()) {
        (Some(from), Some(to)) => {
            flipped_onto(from, initial_bend.normalize_or_zero(), to, bend.normalize_or_zero())
        }
        _ => false,
    }
}

/// [`flipped`] for a line of unit length, where no product of the others' squares overflows or underflows.
#[inline]
pub(crate) fn flipped_onto(initial_line: Vec3, initial_bend: Vec3, to: Vec3, bend: Vec3) -> bool {
    let length = math::sqrt(initial_line.length_squared());
    let sum = length + initial_line.dot(to);
    let across = bend - to * bend.dot(to);
    // The part b of the initial bend across the initial line a, turned by the shortest arc to the line t, is
    // b - (a + t) (b . t) / (1 + a . t). Its product with w, which is across t, follows from products of the inputs.
    let side = if sum > 0.1 * length {
        let along = initial_bend.dot(initial_line) / length + initial_bend.dot(to);
        initial_bend.dot(across) - initial_line.dot(across) * along / sum
    } else {
        side_of_opposite(initial_line, initial_bend, to, across)
    };
    side < 0.0 && {
        let before = initial_line.cross(initial_bend).length_squared();
        before > STRAIGHT * STRAIGHT * initial_line.length_squared() * initial_bend.length_squared()
            && across.length_squared() > STRAIGHT * STRAIGHT * bend.length_squared()
    }
}

/// The side of [`flipped_onto`] where the lines are nearly opposite.
#[cold]
fn side_of_opposite(initial_line: Vec3, initial_bend: Vec3, to: Vec3, across: Vec3) -> f32 {
    let Some(from) = initial_line.try_normalize() else { return 0.0 };
    let before = initial_bend - from * initial_bend.dot(from);
    math::rotate(math::shortest_arc(from, to, initial_bend), before).dot(across)
}
