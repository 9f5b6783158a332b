//! What the animation does with one foot, between frames and with its velocity.

use glam::Vec3;

/// A foot of the animation in world space, but for its height, which is over the floor that the animation was made for: what
/// the game does to raise and lower the figure's root is no motion of the foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sole {
    /// The ankle.
    pub ankle: Vec3,
    /// From ankle to heel.
    pub heel: Vec3,
    /// From ankle to ball.
    pub ball: Vec3,
    /// From ankle to the tip of the toes.
    pub tip: Vec3,
}

impl Sole {
    /// The way from another.
    pub fn minus(&self, other: &Self) -> Self {
        Self {
            ankle: self.ankle - other.ankle,
            heel: self.heel - other.heel,
            ball: self.ball - other.ball,
            tip: self.tip - other.tip,
        }
    }

    /// Every part times a number.
    pub fn times(&self, by: f32) -> Self {
        Self { ankle: self.ankle * by, heel: self.heel * by, ball: self.ball * by, tip: self.tip * by }
    }

    /// Where it is after `time` seconds at `rate`.
    pub fn after(&self, rate: &Self, time: f32) -> Self {
        Self {
            ankle: self.ankle + rate.ankle * time,
            heel: self.heel + rate.heel * time,
            ball: self.ball + rate.ball * time,
            tip: self.tip + rate.tip * time,
        }
    }

    fn map3(a: &Self, b: &Self, c: &Self, f: impl Fn(Vec3, Vec3, Vec3) -> Vec3) -> Self {
        Self {
            ankle: f(a.ankle, b.ankle, c.ankle),
            heel: f(a.heel, b.heel, c.heel),
            ball: f(a.ball, b.ball, c.ball),
            tip: f(a.tip, b.tip, c.tip),
        }
    }
}

/// The last frames of a foot, over about a tenth of a second. Between frames it goes along the parabola through three of
/// them, so that contacts are found at nearly the same times at any frame rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Track {
    /// Latest first.
    frames: [Sole; FRAMES],
    /// Seconds since each of them.
    ages: [f32; FRAMES],
    count: usize,
}

const FRAMES: usize = 24;
/// Frames closer together than this, in seconds, are not kept beside each other: so the frames that are span twice
/// [`WINDOW`] at any frame rate.
const CLOSE: f32 = 4e-3;
/// Seconds over which a speed is measured, as from frame to frame at 30 Hz. Clips keyed at 30 Hz and played in
/// straight lines between their keys have no speed that means anything over less; and it is the same at all frame rates.
const WINDOW: f32 = 1.0 / 30.0;
/// Frames further apart than this tell nothing of a curve between them.
const SPARSE: f32 = 0.1;

impl Track {
    /// Takes the frame that is `dt` seconds after the last one.
    pub fn push(&mut self, sole: Sole, dt: f32) {
        for age in &mut self.ages {
            *age += dt;
        }
        if self.count < 2 || self.ages[0] - dt + CLOSE <= self.ages[1] - dt {
            self.frames.copy_within(0..FRAMES - 1, 1);
            self.ages.copy_within(0..FRAMES - 1, 1);
            self.count = (self.count + 1).min(FRAMES);
        }
        (self.frames[0], self.ages[0]) = (sole, 0.0);
    }

    /// The frame from which the parabola around `age` is laid, and weights of it and the two before it.
    fn weights(&self, age: f32) -> (usize, [f32; 3]) {
        let known = &self.ages[..self.count];
        if known.len() < 2 {
            return (0, [1.0, 0.0, 0.0]);
        }
        let first = known.partition_point(|a| *a <= age).saturating_sub(1).min(known.len() - 2);
        let start = known[first];
        let (x, b) = (age - start, known[first + 1] - start);
        let c = known.get(first + 2).map_or(0.0, |c| c - start);
        if b <= 0.0 {
            return (first, [1.0, 0.0, 0.0]);
        }
        if c <= b || c - b > SPARSE || b > SPARSE {
            let s = x / b;
            return (first, [1.0 - s, s, 0.0]);
        }
        let values = [(x - b) * (x - c) / (b * c), x * (x - c) / (b * (b - c)), x * (x - b) / (c * (c - b))];
        (first, values)
    }

    fn three(&self, first: usize) -> [&Sole; 3] {
        [0, 1, 2].map(|i| &self.frames[(first + i).min(FRAMES - 1)])
    }

    /// The foot `age` seconds before the latest frame.
    pub fn at(&self, age: f32) -> Sole {
        let (first, [_, wb, wc]) = self.weights(age);
        let [a, b, c] = self.three(first);
        // By differences, which stay exact far from the origin.
        Sole::map3(a, b, c, |a, b, c| a + (b - a) * wb + (c - a) * wc)
    }

    /// Mean metres a second over the last thirtieth of a second at the same time.
    pub fn mean_rate(&self, age: f32) -> Sole {
        let Some(oldest) = self.ages[..self.count].last() else { return Sole::default() };
        let span = WINDOW.min(oldest - age);
        if span <= 0.0 {
            return Sole::default();
        }
        let (a, b) = (self.at(age), self.at(age + span));
        Sole::map3(&a, &b, &b, |a, b, _| (a - b) / span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parabola_is_followed_whatever_the_times() {
        let at = |t: f32| Vec3::new(3.0 * t, 1.0 - 4.9 * t * t, 0.0);
        let mut track = Track::default();
        let mut time = 0.0;
        for dt in [0.0, 0.03, 0.02, 0.05] {
            time += dt;
            track.push(Sole { ankle: at(time), ..Sole::default() }, dt);
        }
        for age in [0.0, 0.01, 0.04, 0.06] {
            let t = time - age;
            assert!((track.at(age).ankle - at(t)).length() < 1e-5);
        }
    }

    #[test]
    fn speeds_are_the_same_at_any_frame_rate() {
        // Straight lines between keys at 30 Hz.
        let key = |i: f32| i * i * 0.01;
        let at = |t: f32| {
            key((t * 30.0).floor()) * (1.0 - (t * 30.0).fract())
                + key((t * 30.0).floor() + 1.0) * (t * 30.0).fract()
        };
        let speed = |rate: usize| {
            let mut track = Track::default();
            for i in 0..rate {
                let sole = Sole { ankle: Vec3::X * at(i as f32 / rate as f32), ..Sole::default() };
                track.push(sole, 1.0 / rate as f32);
            }
            // At 0.9 s.
            track.mean_rate(0.1 - 1.0 / rate as f32).ankle.x
        };
        let expected = (at(0.9) - at(0.9 - WINDOW)) / WINDOW;
        for rate in [60, 120, 144, 240] {
            assert!((speed(rate) - expected).abs() < 0.02 * expected, "{rate}: {} {expected}", speed(rate));
        }
        // At 30 Hz the parabola stands in for what is between the keys.
        assert!((speed(30) - expected).abs() < 0.02 * expected);
    }

    #[test]
    fn the_first_frame_stands_still() {
        let mut track = Track::default();
        track.push(Sole { ankle: Vec3::X, ..Sole::default() }, 0.5);
        assert_eq!((track.at(0.1).ankle, track.mean_rate(0.0).ankle), (Vec3::X, Vec3::ZERO));
    }
}
