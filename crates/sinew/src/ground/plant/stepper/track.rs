//! What the animation does with one foot, between frames and with its velocity.

use glam::Vec3;

/// A foot of the animation in world space, but for its height, which is over the floor that the animation was made for: what
/// the game does to raise and lower the figure's root is no motion of the foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sole {
    /// The hip joint of its leg.
    pub hip: Vec3,
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
            hip: self.hip - other.hip,
            ankle: self.ankle - other.ankle,
            heel: self.heel - other.heel,
            ball: self.ball - other.ball,
            tip: self.tip - other.tip,
        }
    }

    /// Every part times a number.
    pub fn times(&self, by: f32) -> Self {
        Self {
            hip: self.hip * by,
            ankle: self.ankle * by,
            heel: self.heel * by,
            ball: self.ball * by,
            tip: self.tip * by,
        }
    }

    /// Where it is after `time` seconds at `rate`.
    pub fn after(&self, rate: &Self, time: f32) -> Self {
        Self {
            hip: self.hip + rate.hip * time,
            ankle: self.ankle + rate.ankle * time,
            heel: self.heel + rate.heel * time,
            ball: self.ball + rate.ball * time,
            tip: self.tip + rate.tip * time,
        }
    }

    fn map3(a: &Self, b: &Self, c: &Self, f: impl Fn(Vec3, Vec3, Vec3) -> Vec3) -> Self {
        Self {
            hip: f(a.hip, b.hip, c.hip),
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
/// Frames closer together than this, in seconds, are not kept beside each other: so the frames that are kept span a
/// tenth of a second at any frame rate.
const CLOSE: f32 = 4e-3;
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
    fn the_first_frame_stands_still() {
        let mut track = Track::default();
        track.push(Sole { ankle: Vec3::X, ..Sole::default() }, 0.5);
        assert_eq!(track.at(0.1).ankle, Vec3::X);
    }
}
