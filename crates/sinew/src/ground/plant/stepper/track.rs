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
    fn map3(a: &Self, b: &Self, c: &Self, f: impl Fn(Vec3, Vec3, Vec3) -> Vec3) -> Self {
        Self {
            ankle: f(a.ankle, b.ankle, c.ankle),
            heel: f(a.heel, b.heel, c.heel),
            ball: f(a.ball, b.ball, c.ball),
            tip: f(a.tip, b.tip, c.tip),
        }
    }
}

/// The last three frames of a foot. Between frames it goes along the parabola through them, so that contacts are found at
/// nearly the same times at any frame rate.
#[derive(Clone, Copy, Debug, Default)]
pub struct Track {
    /// Latest first.
    frames: [Sole; 3],
    /// Seconds since each of them; equal where there was no frame yet.
    ages: [f32; 3],
    count: usize,
}

/// Frames further apart than this tell nothing of a curve between them.
const SPARSE: f32 = 0.1;

impl Track {
    /// Takes the frame that is `dt` seconds after the last one.
    pub fn push(&mut self, sole: Sole, dt: f32) {
        self.frames = [sole, self.frames[0], self.frames[1]];
        self.ages = [0.0, dt, self.ages[1] + dt];
        self.count = (self.count + 1).min(3);
    }

    /// Weights of the three frames for the value and for its rate at `age` seconds before the latest frame.
    fn weights(&self, age: f32) -> ([f32; 3], [f32; 3]) {
        let [_, b, c] = self.ages;
        if self.count < 2 || b <= 0.0 {
            return ([1.0, 0.0, 0.0], [0.0; 3]);
        }
        // The rate is by time, which runs against age.
        if self.count < 3 || c - b > SPARSE || b > SPARSE || c <= b {
            let s = age / b;
            return ([1.0 - s, s, 0.0], [1.0 / b, -1.0 / b, 0.0]);
        }
        let values = [
            (age - b) * (age - c) / (b * c),
            age * (age - c) / (b * (b - c)),
            age * (age - b) / (c * (c - b)),
        ];
        let rates = [
            -(2.0 * age - b - c) / (b * c),
            -(2.0 * age - c) / (b * (b - c)),
            -(2.0 * age - b) / (c * (c - b)),
        ];
        (values, rates)
    }

    /// The foot `age` seconds before the latest frame.
    pub fn at(&self, age: f32) -> Sole {
        let ([_, wb, wc], _) = self.weights(age);
        let [a, b, c] = &self.frames;
        // By differences, which stay exact far from the origin.
        Sole::map3(a, b, c, |a, b, c| a + (b - a) * wb + (c - a) * wc)
    }

    /// Metres a second at the same time.
    pub fn rate(&self, age: f32) -> Sole {
        let (_, [_, wb, wc]) = self.weights(age);
        let [a, b, c] = &self.frames;
        Sole::map3(a, b, c, |a, b, c| (b - a) * wb + (c - a) * wc)
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
        for age in [0.0, 0.01, 0.04] {
            let t = time - age;
            assert!((track.at(age).ankle - at(t)).length() < 1e-5);
            assert!((track.rate(age).ankle - Vec3::new(3.0, -9.8 * t, 0.0)).length() < 1e-3);
        }
    }

    #[test]
    fn the_first_frame_stands_still() {
        let mut track = Track::default();
        track.push(Sole { ankle: Vec3::X, ..Sole::default() }, 0.5);
        assert_eq!((track.at(0.1).ankle, track.rate(0.0).ankle), (Vec3::X, Vec3::ZERO));
    }
}
