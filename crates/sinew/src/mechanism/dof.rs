//! A degree of freedom: the number that places a joint, and what it is of it.

use alloc::{string::String, vec::Vec};

/// What a degree of freedom is of its joint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Part {
    /// A turn or a slide by itself.
    #[default]
    Alone,
    /// One of a ball joint's two swings, which stand next to each other: together they are a rotation vector across the
    /// axis of twist, and their four ends are the half-axes of an ellipse that both are within.
    Swing,
    /// A ball joint's twist.
    Twist,
    /// One of the three coordinates of a joint that turns freely, which stand next to each other: together they are a
    /// rotation vector.
    Vector,
}

/// One degree of freedom: the number that a joint, and those that mimic it, are placed by.
#[derive(Clone, Debug, PartialEq)]
pub struct Dof {
    /// The joint's name.
    pub name: String,
    /// Whether it slides (metres) or turns (radians).
    pub slides: bool,
    /// What it is of its joint.
    pub part: Part,
    /// The least value; minus infinity where there is none.
    pub lower: f64,
    /// The greatest value; infinity where there is none.
    pub upper: f64,
    /// The greatest speed, in radians or metres a second; infinity where none is given.
    pub velocity: f64,
    /// Where it is at rest, if that is not for the limits to say.
    pub preferred: Option<f64>,
    /// Joints that mimic this one and whose own limits leave no room beside its limits. Those limits are not kept.
    pub contradicted_by: Vec<String>,
}

impl Dof {
    /// Whether it turns without end, so that values a whole turn apart are the same place.
    pub fn is_continuous(&self) -> bool {
        let by_itself = matches!(self.part, Part::Alone | Part::Twist);
        by_itself && !self.slides && self.lower == f64::NEG_INFINITY && self.upper == f64::INFINITY
    }

    /// Its preferred value; else zero, or where the limits leave that out the middle between them (or the only limit that
    /// there is). Always within the limits.
    pub fn rest(&self) -> f64 {
        if let Some(preferred) = self.preferred {
            preferred.max(self.lower).min(self.upper)
        } else if self.lower <= 0.0 && self.upper >= 0.0 {
            0.0
        } else if self.lower.is_finite() && self.upper.is_finite() {
            0.5 * (self.lower + self.upper)
        } else {
            0.0f64.clamp(self.lower, self.upper)
        }
    }
}

/// How a joint that moves does so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// About its own z axis.
    Turn,
    /// Along its own z axis.
    Slide,
    /// The first of a ball's three: see `ball.rs`.
    Ball,
    /// The first of the three of a joint that turns freely.
    Vector,
    /// The second or third of three. The first does the work for all; their places are the same.
    Rest,
}
