//! Quintic passages between two states.

use glam::Vec3;

/// A value and its rate of change a second.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct State {
    /// The value.
    pub value: Vec3,
    /// Its rate, a second.
    pub rate: Vec3,
}

/// The polynomial of fifth degree that leaves `from` and arrives at `to` after `duration` seconds, without acceleration at
/// either end, at the fraction `s` of the way (0 to 1). Of all paths with these ends it is close to the one of least jerk
/// (Flash & Hogan 1985).
pub fn quintic(from: State, to: State, duration: f32, s: f32) -> Vec3 {
    let s = s.clamp(0.0, 1.0);
    let (s3, s4, s5) = (s * s * s, s * s * s * s, s * s * s * s * s);
    let ease = 10.0 * s3 - 15.0 * s4 + 6.0 * s5;
    let leave = s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5;
    let arrive = -4.0 * s3 + 7.0 * s4 - 3.0 * s5;
    from.value + (to.value - from.value) * ease + (from.rate * leave + to.rate * arrive) * duration
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_their_rates_are_met_without_acceleration() {
        let from = State { value: Vec3::new(1.0, 0.0, 2.0), rate: Vec3::new(-1.0, 3.0, 0.0) };
        let to = State { value: Vec3::new(0.0, 5.0, 2.0), rate: Vec3::new(0.5, 0.0, -2.0) };
        let (d, h) = (0.5, 1e-2);
        let at = |s: f32| quintic(from, to, d, s);
        assert_eq!((at(0.0), at(1.0)), (from.value, to.value));
        assert!(((at(h) - at(0.0)) / (h * d) - from.rate).length() < 0.1);
        assert!(((at(1.0) - at(1.0 - h)) / (h * d) - to.rate).length() < 0.1);
        assert!((at(2.0 * h) - 2.0 * at(h) + at(0.0)).length() / (h * h) < 5.0);
    }
}
