//! Chains in the plane, for 2D games and for learning.
//!
//! The same methods as in [`solve`](crate::solve), in their simplest form: bones are lengths, joints are signed angles,
//! places are glam's `Vec2`. X points right and Y up, so that positive angles turn counter-clockwise; where Y points
//! down, as on screens, they turn clockwise and nothing else changes.
//!
//! - [`two_bone`]: the cosine rule, bending left or right;
//! - [`Chain::follow`]: each bone pulled along by its neighbour, from the tip or from the root;
//! - [`Chain::solve`] with [`Method::Ccd`] or [`Method::Fabrik`]: the end to a goal, within limits.
//!
//! A joint's angle is that from its parent's direction to its own, in (-pi, pi]; limits are a range within (-pi, pi). They
//! are kept on the joint and mean the same to every method, whichever end leads. [`Convention`] reads an angle the other
//! way that books have it: 0 where the joint is folded.
//!
//! Drawn by the example `planar`, sweep by sweep: descent in blue, reaching in vermilion.
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

pub use chain::{Bone, Chain, Convention, PlanarError};
pub use solve::{Method, Settings};
pub use two_bone::{Side, TwoBone, two_bone};

pub use crate::solve::Lead;

use core::f32::consts::{PI, TAU};

use glam::Vec2;

use crate::math;

/// The angle in (-pi, pi] that differs from `x` (finite) by whole turns. Bits are kept where nothing has to change.
fn wrap(x: f32) -> f32 {
    if x > -PI && x <= PI { x } else { PI - (PI - x - TAU * math::floor((PI - x) / TAU)) }
}

/// The unit vector in a direction.
fn unit(angle: f32) -> Vec2 {
    Vec2::new(math::cos(angle), math::sin(angle))
}

/// The angle from `a` to `b`, counter-clockwise positive; 0 where either has no direction.
fn angle(a: Vec2, b: Vec2) -> f32 {
    math::atan2(a.perp_dot(b), a.dot(b))
}

/// `v` turned by the angle of the unit vector `by`.
fn turned(v: Vec2, by: Vec2) -> Vec2 {
    Vec2::new(v.x * by.x - v.y * by.y, v.x * by.y + v.y * by.x)
}

fn length(v: Vec2) -> f32 {
    math::sqrt(v.length_squared())
}
