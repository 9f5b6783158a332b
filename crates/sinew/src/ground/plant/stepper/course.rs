//! The way of a foot in the air to a place that is known before it lands.

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
        Self { from: states(from.0, from.1), to: states(to.0, to.1), duration, gone: 0.0 }
    }

    /// The displacement `time` seconds on.
    pub fn at(&self, time: f32) -> Offset {
        let time = self.gone + time;
        let part = |i: usize| {
            let late = (time - self.duration).max(0.0);
            quintic(self.from[i], self.to[i], self.duration, time) + self.to[i].rate * late
        };
        Offset { turn: part(0), ankle: part(1), toes: part(2) }
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
