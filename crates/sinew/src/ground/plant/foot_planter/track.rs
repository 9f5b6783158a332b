//! Motion of a foot in the animation, interpolated between frames.

use glam::Vec3;

/// A foot of the animation in world space, with heights above the animation's floor: the game's own vertical motion of the
/// figure is no motion of the foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Sole {
    /// Position of the hip joint.
    pub hip: Vec3,
    /// Position of the ankle.
    pub ankle: Vec3,
    /// Vector from ankle to heel.
    pub heel: Vec3,
    /// Vector from ankle to ball.
    pub ball: Vec3,
    /// Vector from ankle to the tip of the toes.
    pub tip: Vec3,
}

impl Sole {
    /// Difference from another foot, part by part.
    pub fn minus(&self, other: &Self) -> Self {
        Self::map2(self, other, |a, b| a - b)
    }

    /// Multiplies every part by a factor.
    pub fn times(&self, by: f32) -> Self {
        Self::map2(self, self, |a, _| a * by)
    }

    /// Extrapolates by `time` seconds at `rate`.
    pub fn after(&self, rate: &Self, time: f32) -> Self {
        Self::map2(self, rate, |a, rate| a + rate * time)
    }

    fn map2(a: &Self, b: &Self, f: impl Fn(Vec3, Vec3) -> Vec3) -> Self {
        Self {
            hip: f(a.hip, b.hip),
            ankle: f(a.ankle, b.ankle),
            heel: f(a.heel, b.heel),
            ball: f(a.ball, b.ball),
            tip: f(a.tip, b.tip),
        }
    }
}

/// Last frames of a foot over about 0.1 s, interpolated between them.
///
/// Clips are smooth between their keys and have kinks at them. Between two frames a path is therefore taken as a parabola
/// with at most one kink, at which the continuation of the frames before meets that of the frames after. Take the frames a,
/// b, c, d and the fraction s of the interval h from b to c. Compared with the line b c, the continued line a b is off by
/// (v_bc - v_ab) s h, and the continued line c d by (v_cd - v_bc) (1 - s) h. Both are off in the same direction, and the
/// smaller one applies: the first before the kink, the second after it. This is subcell resolution (Harten 1989, J. Comput.
/// Phys. 83). The common curvature, the smallest second difference around, is removed from both first, so that parabolas are
/// reproduced as well.
///
/// A path with at most one kink in four frames is reproduced to rounding, from frames at any times. Without the frame d the
/// path from b to c has no kink.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Track {
    /// Frames, latest first.
    frames: [Sole; FRAMES],
    /// Time since each frame, in seconds.
    ages: [f32; FRAMES],
    count: usize,
}

const FRAMES: usize = 24;
/// Least time between kept frames, in seconds, with which [`FRAMES`] of them span 0.1 s at any frame rate.
const CLOSE: f32 = 4e-3;
/// Largest time between frames that tell the curvature between them, in seconds.
const SPARSE: f32 = 0.1;

impl Track {
    /// Takes the next frame, `dt` seconds after the last.
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

    /// Interpolates the foot at `age` seconds before the latest frame.
    pub fn at(&self, age: f32) -> Sole {
        let known = &self.ages[..self.count];
        if known.len() < 2 {
            return self.frames[0];
        }
        let first = known.partition_point(|a| *a <= age).saturating_sub(1).min(known.len() - 2);
        let span = |i: usize| known[i + 1] - known[i];
        let h = span(first);
        if h <= 0.0 {
            return self.frames[first];
        }
        // Fraction of the interval from its older frame.
        let s = ((known[first + 1] - age) / h).clamp(0.0, 1.0);
        let rate = |i: usize| self.frames[i].minus(&self.frames[i + 1]).times(1.0 / span(i));
        let near = |i: usize| i + 1 < known.len() && span(i) > 0.0 && span(i) <= SPARSE;
        let (from, v) = (&self.frames[first + 1], rate(first));
        let chord = from.after(&v, s * h);
        if h > SPARSE || !near(first + 1) {
            return chord;
        }
        let (before, h_a) = (rate(first + 1), span(first + 1));
        let bend_a = v.minus(&before).times(2.0 / (h_a + h));
        let mut even = bend_a;
        if near(first + 2) {
            let (earlier, h_aa) = (rate(first + 2), span(first + 2));
            even = Sole::map2(&even, &before.minus(&earlier).times(2.0 / (h_aa + h_a)), lesser);
        }
        if first > 0 && near(first - 1) {
            let (after, h_b) = (rate(first - 1), span(first - 1));
            let bend_b = after.minus(&v).times(2.0 / (h + h_b));
            even = Sole::map2(&even, &bend_b, lesser);
            let edge_a = bend_a.minus(&even).times(0.5 * (h_a + h) * s * h);
            let edge_b = bend_b.minus(&even).times(0.5 * (h + h_b) * (1.0 - s) * h);
            let edge = Sole::map2(&edge_a, &edge_b, lesser);
            return chord.minus(&edge).after(&even, -0.5 * h * h * s * (1.0 - s));
        }
        chord.after(&even, -0.5 * h * h * s * (1.0 - s))
    }
}

/// The minmod limiter, component by component: the number nearer to zero, or zero for different signs.
fn lesser(a: Vec3, b: Vec3) -> Vec3 {
    let one = |a: f32, b: f32| {
        if a * b <= 0.0 {
            0.0
        } else if a.abs() < b.abs() {
            a
        } else {
            b
        }
    };
    Vec3::new(one(a.x, b.x), one(a.y, b.y), one(a.z, b.z))
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
    fn a_path_that_bends_is_followed_wherever_it_bends() {
        let (before, after) = (Vec3::new(1.0, -0.5, 0.0), Vec3::new(-2.0, 0.7, 0.3));
        let step = 1.0 / 144.0;
        for bend in [0.0205, 0.0215, 0.0244, 0.0276] {
            let at = |t: f32| before * t.min(bend) + after * (t - bend).max(0.0);
            let mut track = Track::default();
            for i in 0..6 {
                track.push(
                    Sole { ankle: at(i as f32 * step), ..Sole::default() },
                    if i > 0 { step } else { 0.0 },
                );
            }
            let (now, mut straight) = (5.0 * step, 0.0f32);
            // Between frames 2 and 4: the bend lies between 2 and 3, or 3 and 4.
            for k in 0..=20 {
                let t = (2.0 + 0.1 * k as f32) * step;
                assert!((track.at(now - t).ankle - at(t)).length() < 2e-6, "{bend}, {t}");
                let i = (t / step).floor().min(3.0);
                let chord = at(i * step).lerp(at((i + 1.0) * step), t / step - i);
                straight = straight.max((chord - at(t)).length());
            }
            // The straight line between the frames is off by millimetres.
            assert!(straight > 2e-4 || (bend / step).fract() < 0.05, "{straight} at {bend}");
        }
    }

    #[test]
    fn without_a_later_frame_it_lies_between_the_last_two() {
        let mut track = Track::default();
        for (i, x) in [0.0, 0.0, 0.0, 1.0].into_iter().enumerate() {
            track.push(Sole { ankle: Vec3::X * x, ..Sole::default() }, if i > 0 { 0.01 } else { 0.0 });
        }
        for age in [0.0, 0.002, 0.005, 0.008, 0.01] {
            assert!((track.at(age).ankle.x - (1.0 - 100.0 * age)).abs() < 1e-5);
        }
    }

    #[test]
    fn the_first_frame_stands_still() {
        let mut track = Track::default();
        track.push(Sole { ankle: Vec3::X, ..Sole::default() }, 0.5);
        assert_eq!(track.at(0.1).ankle, Vec3::X);
    }
}
