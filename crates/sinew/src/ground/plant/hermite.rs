//! Quintic interpolation between two states.

use glam::Vec3;

/// A value and its rate per second.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct State {
    /// The value.
    pub value: Vec3,
    /// Rate of the value, per second.
    pub rate: Vec3,
}

/// Time in which the rate of an end decays, in seconds. Over a longer time the rate of push-off would carry a foot far off.
pub const SETTLE: f32 = 0.25;

/// Interpolates from `from` to `to` over `duration` seconds, at `time` seconds after the start, without acceleration at the
/// ends.
///
/// The values are joined by the polynomial of fifth degree, which has the least jerk (Flash & Hogan 1985). At each end a
/// second polynomial adds the rate of that end and decays within [`SETTLE`].
pub fn quintic(from: State, to: State, duration: f32, time: f32) -> Vec3 {
    let s = (time / duration).clamp(0.0, 1.0);
    let ease = s * s * s * (1.0 + 3.0 * (1.0 - s) * (3.0 - 2.0 * s));
    let settle = duration.min(SETTLE);
    let leave = (time / settle).clamp(0.0, 1.0);
    let arrive = ((duration - time) / settle).clamp(0.0, 1.0);
    from.value + (to.value - from.value) * ease + (from.rate * rate(leave) - to.rate * rate(arrive)) * settle
}

/// The polynomial s (1 - s)^3 (1 + 3 s). At s = 0 its rate is 1; its value there, and value, rate and acceleration at s
/// = 1 are 0.
fn rate(s: f32) -> f32 {
    let rest = 1.0 - s;
    s * rest * rest * rest * (1.0 + 3.0 * s)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_and_their_rates_are_met_without_acceleration() {
        let from = State { value: Vec3::new(1.0, 0.0, 2.0), rate: Vec3::new(-1.0, 3.0, 0.0) };
        let to = State { value: Vec3::new(0.0, 5.0, 2.0), rate: Vec3::new(0.5, 0.0, -2.0) };
        let (d, h) = (0.5, 1e-2);
        let at = |s: f32| quintic(from, to, d, s * d);
        assert_eq!((at(0.0), at(1.0)), (from.value, to.value));
        assert!(((at(h) - at(0.0)) / (h * d) - from.rate).length() < 0.1);
        assert!(((at(1.0) - at(1.0 - h)) / (h * d) - to.rate).length() < 0.1);
        assert!((at(2.0 * h) - 2.0 * at(h) + at(0.0)).length() / (h * h) < 5.0);
    }
}
