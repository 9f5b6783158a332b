//! The limits that a joint rests at.

use glam::{Quat, Vec3};

use super::{
    column::{Column, Kind, State},
    cost::Twist,
};
use crate::math;

/// What a joint has met.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walls {
    /// Normals, seen from the seat.
    pub normals: [Vec3; 3],
    pub count: usize,
    /// For single coordinates: the side on which each is stopped, 0 for none (turns, then slides).
    pub sides: [f32; 6],
    /// Whether a turn, or a slide, of the joint moves anything that is asked for something.
    pub turns: bool,
    pub slides: bool,
    /// Whether it turns as a whole and no wall stops it.
    pub whole: bool,
}

impl Walls {
    pub const NONE: Self = Self {
        normals: [Vec3::ZERO; 3],
        count: 0,
        sides: [0.0; 6],
        turns: false,
        slides: false,
        whole: false,
    };

    /// Unit vectors in model space that span the turns which no wall stops (zero vectors fill the rest).
    pub fn open(&self, seat: Quat) -> [Vec3; 3] {
        let a = math::rotate(seat, self.normals[0]);
        let u = math::perpendicular(a, Vec3::ZERO);
        let v = a.cross(u);
        if self.count == 1 {
            return [u, v, Vec3::ZERO];
        }
        let across = a.cross(math::rotate(seat, self.normals[1]));
        // Two walls that are nearly one.
        let Some(only) = (across.length_squared() > 1e-4).then(|| across.normalize_or_zero()) else {
            return [u, v, Vec3::ZERO];
        };
        if self.count == 2 { [only, Vec3::ZERO, Vec3::ZERO] } else { [Vec3::ZERO; 3] }
    }

    /// Lets go of each wall that the joint wants to leave, from the next step on: where its body moves by x.
    pub fn leave(&mut self, columns: &[Column], x: &Twist) {
        let mut left = [false; 3];
        for c in columns.iter().filter(|c| c.state == State::Wall) {
            let push = c.c - c.h.dot(x);
            match c.kind {
                Kind::Into(k) => left[k] = push < 0.0,
                Kind::Angle(k) if push * f64::from(self.sides[k]) < 0.0 => self.sides[k] = 0.0,
                Kind::Slide(k) if push * f64::from(self.sides[3 + k]) < 0.0 => self.sides[3 + k] = 0.0,
                _ => {}
            }
        }
        for k in (0..self.count).rev() {
            if left[k] {
                self.count -= 1;
                self.normals[k] = self.normals[self.count];
            }
        }
    }

    /// Notes a wall in a direction, seen from the seat.
    pub fn meet(&mut self, normal: Vec3) {
        // The same wall, further along it.
        if let Some(wall) = self.normals[..self.count].iter_mut().find(|w| w.dot(normal) > 0.7) {
            *wall = normal;
        } else if self.count < 3 {
            self.normals[self.count] = normal;
            self.count += 1;
        }
    }

    /// Notes that a coordinate was stopped: how far it wanted to go, and by what it fell short.
    pub fn stop(&mut self, side: usize, wanted: f32, short: f32) {
        if short.abs() > 1e-6 {
            self.sides[side] = wanted.signum();
        }
    }
}
