//! The limb on bare points: what goes in and what comes out, and its distances.

use glam::{Quat, Vec3};

use super::BendSide;
use crate::{
    math,
    solve::{
        arc::{largest, max},
        branch, soften,
    },
};

/// Where a limb is, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbPoints {
    /// The root (hip, shoulder).
    pub root: Vec3,
    /// The middle joint (knee, elbow).
    pub middle: Vec3,
    /// The end.
    pub tip: Vec3,
}

/// How a limb may bend; see [`TwoBone`](super::TwoBone) and [`LimbOptions`](crate::solve::LimbOptions).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbBend {
    /// The hinge axis of the middle joint as a unit vector in *model* space, where it is known.
    pub hinge: Option<Vec3>,
    /// Which side of the hinge the limb bends to.
    pub side: BendSide,
    /// Radians about the axis from the root to the goal, added to the bend plane.
    pub swivel: f32,
    /// The soft zone as a fraction of the limb's reach, 0 to 1.
    pub soft: f32,
    /// Radians of flexion that remain, 0 to pi.
    pub min_flexion: f32,
    /// By how much the places are uncertain, in metres, beyond what their own numbers tell: as they come out of a pose, a
    /// few roundings of [`Pose::extent`](crate::Pose::extent). A limb this near to its goal is left as it is. (Negative:
    /// less than their numbers tell.)
    pub uncertain: f32,
}

impl LimbBend {
    /// Nothing is known and nothing asked for.
    pub const FREE: Self =
        Self { hinge: None, side: BendSide::Keep, swivel: 0.0, soft: 0.0, min_flexion: 0.0, uncertain: 0.0 };
}

/// What [`solve_points`](super::solve_points) found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LimbTurns {
    /// Turn of the middle joint about its own place, in model space, made first.
    pub middle: Quat,
    /// Turn of the whole limb about the root, in model space, made after it. The lower bone so turns by
    /// `root * middle`.
    pub root: Quat,
    /// How far the goal lies outside what the limb can or may reach, in metres; 0 where it is in reach.
    pub out_of_reach: f32,
    /// Whether the limb comes to lie on another branch; see [`Report::branch_changed`](crate::Report::branch_changed). Its
    /// bend is the middle.
    pub branch_changed: bool,
}

/// Whether a limb with a pole or swivel changed its branch: see [`branch::flipped`].
pub(super) fn flipped(from: &LimbPoints, to: &LimbPoints) -> bool {
    let [(line, bend), (now, bent)] = [from, to].map(|p| (p.tip - p.root, p.middle - p.root));
    branch::flipped(line, bend, now, bent)
}

/// Whether one without changed it, by these turns: see [`branch::changed`].
#[cold]
#[inline(never)]
pub(super) fn leapt(from: &LimbPoints, turns: &LimbTurns) -> bool {
    let (u, v) = (from.middle - from.root, from.tip - from.middle);
    let length = math::sqrt(u.length_squared()) + math::sqrt(v.length_squared());
    let way = math::rotate(turns.root, u + math::rotate(turns.middle, v)) - (u + v);
    let turn = |q: Quat| math::angle_between(Quat::IDENTITY, q);
    let turn = turn(turns.middle).max(turn(turns.root));
    length > 0.0 && branch::changed(turn, math::sqrt((way / length).length_squared()), 0.0)
}

/// What the places' rounding amounts to (in lengths scaled by `k`): nearer to a goal than this is not nearer.
#[inline]
pub(super) fn rounding(at: &LimbPoints, goal: Vec3, straight: f32, k: f32, bend: &LimbBend) -> f32 {
    let places = largest(at.root).max(largest(at.tip)).max(largest(goal).min(1e6 / k));
    7e-7 * straight + max(3e-7 * k * places + k * bend.uncertain, 0.0)
}

/// The distance that a limb with the bones `a` and `b` goes to for a goal at `x`.
#[cold]
pub(super) fn distance(a: f32, b: f32, x: f32, bend: &LimbBend) -> f32 {
    let reach = if bend.min_flexion > 0.0 {
        math::sqrt((a * a + b * b + 2.0 * (a * b) * math::cos(bend.min_flexion)).max(0.0))
    } else {
        a + b
    };
    soften(x, reach, bend.soft).max((a - b).abs())
}
