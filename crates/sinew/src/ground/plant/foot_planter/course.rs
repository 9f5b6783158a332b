//! Path of a foot in the air to a foothold that is known before it lands.

use glam::Vec3;

use super::offset::Offset;
use crate::ground::plant::hermite::{State, quintic};

/// Path of least jerk from one displacement to another, with their rates, and a lift over what lies between.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    from: [State; 3],
    to: [State; 3],
    /// Duration in seconds.
    duration: f32,
    /// Time since the start, in seconds.
    gone: f32,
    lift: Lift,
}

/// Height of a path above that of least jerk. It outlasts the courses of one swing: a lift that began anew at each of them
/// would throw the foot up ever more steeply before edges near the landing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lift {
    /// Greatest height, in metres.
    height: f32,
    /// Time of the greatest height, as a fraction of the duration.
    peak: f32,
    /// Duration in seconds.
    duration: f32,
    /// Time since the start, in seconds.
    gone: f32,
}

/// Fraction of the lift's profile below which obstacles are ignored: near its ends, clearing one would throw up the middle.
const LOW: f32 = 0.3;
/// Latest time of the greatest height, as a fraction of the duration.
const LATE: f32 = 0.8;

impl Lift {
    /// No lift, over a number of seconds.
    fn none(duration: f32) -> Self {
        Self { height: 0.0, peak: 0.5, duration, gone: 0.0 }
    }

    /// Share of the height at `time` seconds from now: s^2 (1 - s)^2, with s warped such that the peak is where it should be.
    /// Level at both ends.
    fn bow(&self, time: f32) -> f32 {
        let s = ((self.gone + time) / self.duration).clamp(0.0, 1.0);
        // A Moebius map of 0, peak, 1 to 0, 1/2, 1.
        let (a, b) = (s * (1.0 - self.peak), (1.0 - s) * self.peak);
        let s = a / (a + b);
        16.0 * s * s * (1.0 - s) * (1.0 - s)
    }

    fn left(&self) -> f32 {
        self.duration - self.gone
    }
}

fn states(value: Offset, rate: Offset) -> [State; 3] {
    [
        State { value: value.turn, rate: rate.turn },
        State { value: value.ankle, rate: rate.ankle },
        State { value: value.toes, rate: rate.toes },
    ]
}

/// Time step of numerical rates, in seconds.
const MOMENT: f32 = 2e-3;

impl Course {
    /// Makes a path from a displacement and its rate to another, in `duration` seconds. The lift of the course before it goes
    /// on if the landing is at the same time.
    pub fn new(from: (Offset, Offset), to: (Offset, Offset), duration: f32, before: Option<&Self>) -> Self {
        let duration = duration.max(1e-3);
        let lift = before.map(|b| b.lift).filter(|l| (l.left() - duration).abs() < 1e-2);
        let mut course = Self {
            from: states(from.0, from.1),
            to: states(to.0, to.1),
            duration,
            gone: 0.0,
            lift: Lift::none(duration),
        };
        if let Some(lift) = lift {
            course.lift = Lift { height: 0.0, ..lift };
            course.raise(lift.height);
        }
        course
    }

    /// Raises the lift by a height, with the same displacement and rate at present.
    fn raise(&mut self, by: f32) {
        let (now, soon) = (self.lift.bow(0.0), self.lift.bow(MOMENT));
        self.from[1].value.y -= by * now;
        self.from[1].rate.y -= by * (soon - now) / MOMENT;
        self.lift.height += by;
    }

    /// Displacement `time` seconds from now. After the end it continues at the end's rate.
    pub fn at(&self, time: f32) -> Offset {
        let lift = Vec3::Y * (self.lift.height * self.lift.bow(time));
        let time = self.gone + time;
        let part = |i: usize| {
            let late = (time - self.duration).max(0.0);
            quintic(self.from[i], self.to[i], self.duration, time) + self.to[i].rate * late
        };
        Offset { turn: part(0), ankle: part(1) + lift, toes: part(2) }
    }

    /// Lifts a new course over obstacles, each of which needs a number of metres more at a time in seconds from now, up to a
    /// lift of `most` metres.
    pub fn pass(&mut self, obstacles: impl Iterator<Item = (f32, f32)> + Clone, most: f32) {
        let highest = obstacles.clone().max_by(|a, b| a.0.total_cmp(&b.0));
        let Some((_, time)) = highest.filter(|(need, _)| *need > 0.0) else { return };
        if self.lift.height <= 0.0 {
            self.lift.peak = (time / self.duration).clamp(0.5, LATE);
        }
        let over = |(need, time): (f32, f32)| {
            Some(self.lift.bow(time)).filter(|bow| *bow > LOW).map(|bow| need / bow)
        };
        let by = obstacles.filter_map(over).fold(0.0, f32::max);
        self.raise(by.min(most - self.lift.height).max(0.0));
    }

    /// Greatest height above the path of least jerk, in metres.
    pub fn lift(&self) -> f32 {
        self.lift.height
    }

    /// The path `time` seconds later.
    pub fn after(&self, time: f32) -> Self {
        Self { gone: self.gone + time, lift: Lift { gone: self.lift.gone + time, ..self.lift }, ..*self }
    }

    /// Remaining time, in seconds.
    pub fn left(&self) -> f32 {
        self.duration - self.gone
    }
}
