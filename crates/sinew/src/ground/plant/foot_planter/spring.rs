//! Critically damped springs, integrated exactly over any time step.

use glam::Vec3;

use crate::math;

/// State of a critically damped spring.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Spring {
    /// The value.
    pub value: Vec3,
    /// Rate of the value, per second.
    pub rate: Vec3,
}

impl Spring {
    /// State after `time` seconds with the goal 0, for a spring of frequency `omega` in rad/s. A `time` down to a few
    /// milliseconds below 0 extrapolates backwards.
    ///
    /// x(t) = (a + b t) e^(-omega t) with a = x(0) and b = x'(0) + omega x(0).
    pub fn after(&self, omega: f32, time: f32) -> Self {
        let decay = math::exp(-omega * time);
        // The result would be 0 in `f32`, but b t could overflow.
        if decay < 1e-30 {
            return Self::default();
        }
        let b = self.rate + self.value * omega;
        let value = (self.value + b * time) * decay;
        Self { value, rate: b * decay - value * omega }
    }

    /// State after `time` seconds with another goal. A `time` of 0 or less changes nothing.
    pub fn towards(&self, goal: Vec3, omega: f32, time: f32) -> Self {
        if time <= 0.0 {
            return *self;
        }
        let gap = Self { value: self.value - goal, ..*self }.after(omega, time);
        Self { value: gap.value + goal, ..gap }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Semi-implicit Euler in small steps, as an oracle.
    fn euler(mut s: Spring, goal: Vec3, omega: f32, time: f32) -> Spring {
        const N: usize = 100_000;
        let h = time / N as f32;
        for _ in 0..N {
            let pull = (goal - s.value) * (omega * omega) - s.rate * (2.0 * omega);
            s.rate += pull * h;
            s.value += s.rate * h;
        }
        s
    }

    #[test]
    fn it_goes_as_the_equation_says() {
        let s = Spring { value: Vec3::new(1.0, -0.2, 0.0), rate: Vec3::new(-3.0, 0.0, 2.0) };
        let goal = Vec3::new(0.3, 1.0, 0.5);
        for (exact, by_steps) in [
            (s.after(12.0, 0.2), euler(s, Vec3::ZERO, 12.0, 0.2)),
            (s.towards(goal, 12.0, 0.2), euler(s, goal, 12.0, 0.2)),
        ] {
            assert!((exact.value - by_steps.value).length() < 1e-3, "{exact:?} {by_steps:?}");
            assert!((exact.rate - by_steps.rate).length() < 1e-2, "{exact:?} {by_steps:?}");
        }
    }

    #[test]
    fn two_halves_make_a_whole_and_any_time_is_finite() {
        let s = Spring { value: Vec3::X, rate: Vec3::Y };
        let (whole, halves) = (s.after(25.0, 0.1), s.after(25.0, 0.05).after(25.0, 0.05));
        assert!((whole.value - halves.value).length() < 1e-6);
        assert_eq!(s.after(25.0, f32::MAX), Spring::default());
        assert!(s.towards(Vec3::X, 25.0, 1e30).value.is_finite());
    }
}
