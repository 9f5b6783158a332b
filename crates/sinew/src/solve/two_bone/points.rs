//! The two-bone limb on bare points: its input, its output and its distances.

use glam::{Quat, Vec3};

use super::BendSide;
use crate::{
    math,
    solve::{
        arc::{largest, max},
        branch, soften,
    },
};

/// Positions of a limb's joints, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbPoints {
    /// Root (hip, shoulder).
    pub root: Vec3,
    /// Middle joint (knee, elbow).
    pub middle: Vec3,
    /// End of the limb.
    pub tip: Vec3,
}

/// Constraints on a limb's bend; see [`TwoBone`](super::TwoBone) and [`LimbOptions`](crate::solve::LimbOptions).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbBend {
    /// Hinge axis of the middle joint, as a unit vector in *model* space, where it is known.
    pub hinge: Option<Vec3>,
    /// Side of the hinge to which the limb bends.
    pub side: BendSide,
    /// Swivel angle in radians about the axis from the root to the goal, added to the bend plane.
    pub swivel: f32,
    /// Length of the soft zone as a share of the limb's reach, 0 to 1.
    pub soft: f32,
    /// Minimum flexion in radians, 0 to pi.
    pub min_flexion: f32,
    /// Uncertainty of the positions in metres, beyond the rounding of their own numbers. For positions from a pose, it is a
    /// few roundings of [`Pose::extent`](crate::Pose::extent). A limb this near to its goal stays as it is. A negative value
    /// reduces the uncertainty of their numbers.
    pub uncertain: f32,
}

impl LimbBend {
    /// No hinge, side, swivel angle, soft zone or minimum flexion.
    pub const FREE: Self =
        Self { hinge: None, side: BendSide::Keep, swivel: 0.0, soft: 0.0, min_flexion: 0.0, uncertain: 0.0 };
}

/// Result of [`solve_points`](super::solve_points).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbTurns {
    /// Turn of the middle joint about its own position, in model space; applied first.
    pub middle: Quat,
    /// Turn of the whole limb about the root, in model space; applied second. So the lower bone turns by `root * middle`.
    pub root: Quat,
    /// Distance in metres from the goal to the limb's reach, with its soft zone and minimum flexion; 0 within reach.
    pub out_of_reach: f32,
    /// Whether the solution lies on another branch; see [`Report::branch_changed`](crate::Report::branch_changed). The
    /// middle joint defines the bend.
    pub branch_changed: bool,
}

/// Whether a limb with a pole or swivel angle changed its branch: see [`branch::flipped`].
pub(super) fn flipped(from: &LimbPoints, to: &LimbPoints) -> bool {
    let [(line, bend), (now, bent)] = [from, to].map(|p| (p.tip - p.root, p.middle - p.root));
    branch::flipped(line, bend, now, bent)
}

/// Whether these turns change the branch of a limb without pole or swivel angle: see [`branch::changed`].
#[cold]
#[inline(never)]
pub(super) fn jumped(from: &LimbPoints, turns: &LimbTurns) -> bool {
    let (u, v) = (from.middle - from.root, from.tip - from.middle);
    let length = math::sqrt(u.length_squared()) + math::sqrt(v.length_squared());
    let moved = math::rotate(turns.root, u + math::rotate(turns.middle, v)) - (u + v);
    let turn = |q: Quat| math::angle_between(Quat::IDENTITY, q);
    let turn = turn(turns.middle).max(turn(turns.root));
    length > 0.0 && branch::changed(turn, math::sqrt((moved / length).length_squared()), 0.0)
}

/// Rounding of the positions, in lengths scaled by `k`: a limb cannot come nearer to a goal than this.
#[inline]
pub(super) fn rounding(at: &LimbPoints, goal: Vec3, straight: f32, k: f32, bend: &LimbBend) -> f32 {
    let places = largest(at.root).max(largest(at.tip)).max(largest(goal).min(1e6 / k));
    7e-7 * straight + max(3e-7 * k * places + k * bend.uncertain, 0.0)
}

/// Distance from the root at which a limb with the bones `a` and `b` puts its end, for a goal at the distance `x`.
#[cold]
pub(super) fn distance(a: f32, b: f32, x: f32, bend: &LimbBend) -> f32 {
    let reach = if bend.min_flexion > 0.0 {
        math::sqrt((a * a + b * b + 2.0 * (a * b) * math::cos(bend.min_flexion)).max(0.0))
    } else {
        a + b
    };
    soften(x, reach, bend.soft).max((a - b).abs())
}
