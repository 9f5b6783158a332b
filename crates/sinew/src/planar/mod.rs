//! Inverse kinematics in the plane, for 2D games and for learning.
//!
//! The methods of [`solve`](crate::solve) in their simplest form: bones are lengths, joints are signed angles,
//! positions are glam's `Vec2`. X points right and Y up, so that positive angles turn counter-clockwise. If Y points
//! down, as on screens, they turn clockwise and nothing else changes.
//!
//! - [`two_bone`]: the cosine rule, bending left or right;
//! - [`Chain2d::follow`]: each bone pulled along by its neighbour, from the tip or from the root;
//! - [`Chain2d::solve`]: the end to a goal within limits, by [`Method2d::Auto`] or by the textbook methods
//!   [`Method2d::Ccd`] and [`Method2d::Fabrik`];
//! - [`Chain2d::solve_directed`]: the end to a goal with the last bone along a direction.
//!
//! A joint's angle is measured from its parent's direction to its own, in (-pi, pi]; a limit is a range within (-pi,
//! pi). Limits belong to the joint and mean the same to every method, whichever end leads. [`AngleConvention2d`]
//! converts from the other convention in use, in which 0 is a folded joint.
//!
//! Drawn by the example `planar`, sweep by sweep: cyclic coordinate descent in blue, with its limits and angles at the end,
//! FABRIK in vermilion.
//!
#![doc = include_str!("../../pictures/planar.svg")]

mod ccd;
mod chain;
mod directed;
mod fabrik;
mod follow;
mod least_squares;
mod restart;
mod solve;
mod two_bone;

pub use chain::{AngleConvention2d, Bone2d, Chain2d, Chain2dError};
pub use solve::{DirectedOptions2d, Method2d, Options2d};
pub use two_bone::{BendSide2d, TwoBone2d, two_bone};

pub use crate::solve::Lead;

use core::f32::consts::{PI, TAU};

use glam::Vec2;

use crate::{math, solve::arc::to_unit};

/// Wraps a finite angle to (-pi, pi] by whole turns. An angle already in that range keeps its bits.
fn wrap(x: f32) -> f32 {
    let turns = math::floor((PI - x) / TAU);
    match x {
        _ if x > -PI && x <= PI => x,
        _ if turns.abs() <= 1.0 => PI - (PI - x - TAU * turns),
        // A turn in f32 is off by 2e-7 radians, so many turns need f64.
        _ => (f64::from(x) + core::f64::consts::TAU * f64::from(turns)) as f32,
    }
}

/// Unit vector at an angle.
fn unit(angle: f32) -> Vec2 {
    Vec2::new(math::cos(angle), math::sin(angle))
}

/// Angle from `a` to `b`, counter-clockwise positive; 0 if either has no direction.
fn angle(a: Vec2, b: Vec2) -> f32 {
    let (sine, cosine) = (a.perp_dot(b), a.dot(b));
    if (VANISHING..f32::INFINITY).contains(&sine.abs().max(cosine.abs())) {
        return math::atan2(sine, cosine);
    }
    let (a, b) = (scaled(a), scaled(b));
    math::atan2(a.perp_dot(b), a.dot(b))
}

/// Rotates `v` by the angle of the unit vector `by`.
fn turned(v: Vec2, by: Vec2) -> Vec2 {
    Vec2::new(v.x * by.x - v.y * by.y, v.x * by.y + v.y * by.x)
}

fn length(v: Vec2) -> f32 {
    let squared = v.length_squared();
    if (VANISHING..f32::INFINITY).contains(&squared) {
        return math::sqrt(squared);
    }
    let size = v.abs().max_element();
    if size > 0.0 { length_of_extreme(v, size) } else { 0.0 }
}

#[cold]
fn length_of_extreme(v: Vec2, size: f32) -> f32 {
    math::sqrt((v * to_unit(size)).length_squared()) / to_unit(size)
}

/// Distance between two positions, at most `f32::MAX`.
fn distance(a: Vec2, b: Vec2) -> f32 {
    // Halves, since the difference of two large positions may overflow.
    let half = b * 0.5 - a * 0.5;
    let size = half.abs().max_element();
    if size > 0.0 { (2.0 * (size * length(half / size))).min(f32::MAX) } else { 0.0 }
}

/// Threshold below which products of coordinates may have lost digits or underflowed.
const VANISHING: f32 = 1e-30;

/// Returns a vector of the same direction with coordinates of about 1; zero for zero.
fn scaled(v: Vec2) -> Vec2 {
    let size = v.abs().max_element();
    if size > 0.0 { v * to_unit(size) } else { v }
}

/// Displacement from one position to another; half of it if the whole overflows.
fn displacement(from: Vec2, to: Vec2) -> Vec2 {
    let whole = to - from;
    if whole.is_finite() { whole } else { to * 0.5 - from * 0.5 }
}
