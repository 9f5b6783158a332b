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

/// Seconds within which a rate that is left, or come to, dies away. A foot that leaves the ground is quickly driven by the
/// leg alone: over a longer time its rate would carry it far astray.
pub const SETTLE: f32 = 0.25;

/// Leaves `from` and arrives at `to` after `duration` seconds, without acceleration at either end; at `time` seconds from
/// the begin. The way between the values is the polynomial of fifth degree, which is the one of least jerk (Flash & Hogan
/// 1985); to it come, at either end, the polynomials that have that end's rate and nothing
/// else, no longer than a quarter of a second.
pub fn quintic(from: State, to: State, duration: f32, time: f32) -> Vec3 {
    let s = (time / duration).clamp(0.0, 1.0);
    let ease = s * s * s * (10.0 + s * (6.0 * s - 15.0));
    let settle = duration.min(SETTLE);
    let leave = (time / settle).clamp(0.0, 1.0);
    let arrive = ((duration - time) / settle).clamp(0.0, 1.0);
    from.value + (to.value - from.value) * ease + (from.rate * rate(leave) - to.rate * rate(arrive)) * settle
}

/// Begins at 0 with rate 1 and ends at 1 with 0, all else 0: s - 6 s^3 + 8 s^4 - 3 s^5.
fn rate(s: f32) -> f32 {
    s + s * s * s * (8.0 * s - 6.0 - 3.0 * s * s)
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
