//! Displacement of a foot from the animation, and its decay.

use glam::{Quat, Vec3};

use super::spring::Spring;
use crate::math;

/// Displacement of a foot from the animation: rotation vector of the foot, translation of the ankle in metres (upwards from
/// the animation's floor), and rotation vector of the toes on top of the foot's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offset {
    pub turn: Vec3,
    pub ankle: Vec3,
    pub toes: Vec3,
}

impl Offset {
    pub fn minus(self, other: Self) -> Self {
        Self { turn: self.turn - other.turn, ankle: self.ankle - other.ankle, toes: self.toes - other.toes }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { turn: self.turn + other.turn, ankle: self.ankle + other.ankle, toes: self.toes + other.toes }
    }

    pub fn times(self, by: f32) -> Self {
        Self { turn: self.turn * by, ankle: self.ankle * by, toes: self.toes * by }
    }
}

/// Decaying rest of earlier displacements.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Rest {
    pub turn: Spring,
    pub ankle: Spring,
    pub toes: Spring,
}

impl Rest {
    pub fn new(value: Offset, rate: Offset) -> Self {
        Self {
            turn: Spring { value: value.turn, rate: rate.turn },
            ankle: Spring { value: value.ankle, rate: rate.ankle },
            toes: Spring { value: value.toes, rate: rate.toes },
        }
    }

    pub fn after(&self, omega: f32, time: f32) -> Self {
        Self {
            turn: self.turn.after(omega, time),
            ankle: self.ankle.after(omega, time),
            toes: self.toes.after(omega, time),
        }
    }

    pub fn value(&self) -> Offset {
        Offset { turn: self.turn.value, ankle: self.ankle.value, toes: self.toes.value }
    }
}

/// Converts a rotation vector to a rotation.
pub fn rotation(vector: Vec3) -> Quat {
    let angle = vector.length();
    if angle > 0.0 { math::axis_angle(vector / angle, angle) } else { Quat::IDENTITY }
}
