//! The way of a foot in the air to a place that is known before it lands.

use glam::Vec3;

use super::offset::Offset;
use crate::ground::plant::hermite::{State, quintic};

/// A passage of least jerk from one displacement to another, with their rates.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    from: [State; 3],
    to: [State; 3],
    /// Seconds that it takes.
    duration: f32,
    /// Seconds of them that are over.
    gone: f32,
    /// How high it is lifted over the passage on the way, in metres.
    lift: f32,
}

/// Where a lifted passage is lower than this share of its height it is not made to pass anything: next to
/// its ends all the rest would be thrown up.
const LOW: f32 = 0.3;

/// A bow that begins and ends level and is 1 half-way: 16 s^2 (1 - s)^2.
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
    /// From a displacement and its rate to another, in `duration` seconds.
    pub fn new(from: (Offset, Offset), to: (Offset, Offset), duration: f32) -> Self {
        let duration = duration.max(1e-3);
        Self { from: states(from.0, from.1), to: states(to.0, to.1), duration, gone: 0.0, lift: 0.0 }
    }

    /// The displacement `time` seconds on.
    pub fn at(&self, time: f32) -> Offset {
        let time = self.gone + time;
        let part = |i: usize| {
            let late = (time - self.duration).max(0.0);
            quintic(self.from[i], self.to[i], self.duration, time) + self.to[i].rate * late
        };
        let lift = Vec3::Y * (self.lift * bow(time / self.duration));
        Offset { turn: part(0), ankle: part(1) + lift, toes: part(2) }
    }

    /// Lifts it on the way so far that it passes `need` metres above where it is at `time` seconds from now.
    pub fn pass(&mut self, need: f32, time: f32, most: f32) {
        let bow = bow((self.gone + time) / self.duration);
        if bow > LOW {
            self.lift = self.lift.max((need / bow).min(most));
        }
    }

    /// The same passage, `time` seconds later.
    pub fn after(&self, time: f32) -> Self {
        Self { gone: self.gone + time, ..*self }
    }

    /// Seconds that are left of it.
    pub fn left(&self) -> f32 {
        self.duration - self.gone
    }
}
