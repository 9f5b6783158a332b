//! Path of a foot in the air to a foothold that is known before it lands.

use glam::Vec3;

use super::offset::Offset;
use crate::ground::plant::hermite::{State, quintic};

/// Path of least jerk from one displacement to another, with their rates.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    from: [State; 3],
    to: [State; 3],
    /// Duration in seconds.
    duration: f32,
    /// Time since the start, in seconds.
    gone: f32,
    /// Lift of the path half-way, in metres.
    lift: f32,
}

/// Fraction of the lift's profile below which obstacles are ignored: near its ends, clearing one would throw up the middle.
const LOW: f32 = 0.3;

/// Profile of a lift: 16 s^2 (1 - s)^2, level at both ends and 1 half-way.
fn bow(s: f32) -> f32 {
    let s = s.clamp(0.0, 1.0);
    16.0 * s * s * (1.0 - s) * (1.0 - s)
}

fn states(value: Offset, rate: Offset) -> [State; 3] {
    [
        State { value: value.turn, rate: rate.turn },
        State { value: value.ankle, rate: rate.ankle },
        State { value: value.toes, rate: rate.toes },
    ]
}

impl Course {
    /// Makes a path from a displacement and its rate to another, in `duration` seconds.
    pub fn new(from: (Offset, Offset), to: (Offset, Offset), duration: f32) -> Self {
        let duration = duration.max(1e-3);
        Self { from: states(from.0, from.1), to: states(to.0, to.1), duration, gone: 0.0, lift: 0.0 }
    }

    /// Displacement `time` seconds from now. After the end it continues at the end's rate.
    pub fn at(&self, time: f32) -> Offset {
        let time = self.gone + time;
        let part = |i: usize| {
            let late = (time - self.duration).max(0.0);
            quintic(self.from[i], self.to[i], self.duration, time) + self.to[i].rate * late
        };
        let lift = Vec3::Y * (self.lift * bow(time / self.duration));
        Offset { turn: part(0), ankle: part(1) + lift, toes: part(2) }
    }

    /// Raises the lift so that the path is `need` metres higher at `time` seconds from now, up to a lift of `most` metres.
    pub fn pass(&mut self, need: f32, time: f32, most: f32) {
        let bow = bow((self.gone + time) / self.duration);
        if bow > LOW {
            self.lift = self.lift.max((need / bow).min(most));
        }
    }

    /// The path `time` seconds later.
    pub fn after(&self, time: f32) -> Self {
        Self { gone: self.gone + time, ..*self }
    }

    /// Remaining time, in seconds.
    pub fn left(&self) -> f32 {
        self.duration - self.gone
    }
}
