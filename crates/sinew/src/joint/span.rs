//! Ranges of angles on the circle and of slides, in f32.

use core::f32::consts::{PI, TAU};

use super::Range;
use crate::math;

/// The range of values `centre + d` with `low <= d <= high`, in radians or metres. An infinite end is no limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Span {
    /// Middle of the range. An angle is reduced to (-pi, pi], so that f32 keeps its digits.
    pub centre: f32,
    /// Lower limit relative to the centre, at most 0.
    pub low: f32,
    /// Upper limit relative to the centre, at least 0.
    pub high: f32,
    /// Half the original range, before widening. Ease is a share of it.
    pub half: f32,
}

/// The angle in [-pi, pi) that differs from `x` by whole turns, in radians. Keeps the bits of an `x` in [-pi, pi].
pub(super) fn wrap(x: f32) -> f32 {
    if (-PI..=PI).contains(&x) { x } else { x - TAU * math::floor((x + PI) / TAU) }
}

impl Span {
    pub const FREE: Self =
        Self { centre: 0.0, low: f32::NEG_INFINITY, high: f32::INFINITY, half: f32::INFINITY };
    /// The range that contains only 0.
    pub const ZERO: Self = Self { centre: 0.0, low: 0.0, high: 0.0, half: 0.0 };

    /// The span of a range of angles. A range of a whole turn or more does not limit a rotation.
    pub fn of_angle(range: Range) -> Self {
        let turn = core::f64::consts::TAU;
        match range.middle() {
            Some(middle) if range.max - range.min < turn => {
                let turns = middle / turn;
                // Truncation towards zero needs no mathematics library; one step then gives the nearest.
                let mut reduced =
                    if turns.abs() < 1e15 { (turns - (turns as i64) as f64) * turn } else { 0.0 };
                if reduced > 0.5 * turn {
                    reduced -= turn;
                } else if reduced < -0.5 * turn {
                    reduced += turn;
                }
                let half = (0.5 * (range.max - range.min)) as f32;
                Self { centre: reduced as f32, low: -half, high: half, half }
            }
            _ => Self::FREE,
        }
    }

    /// The span of a range of a slide. An end that does not fit f32 is no limit. With one limit, that limit is the
    /// centre.
    pub fn of_slide(range: Range) -> Self {
        let held = |end: f64| (end as f32).is_finite();
        let (low, high) = (f32::NEG_INFINITY, f32::INFINITY);
        match (held(range.min), held(range.max)) {
            (true, true) => {
                let half = (0.5 * range.max - 0.5 * range.min) as f32;
                Self { centre: (0.5 * range.min + 0.5 * range.max) as f32, low: -half, high: half, half }
            }
            (true, false) => Self { centre: range.min as f32, low: 0.0, ..Self::FREE },
            (false, true) => Self { centre: range.max as f32, high: 0.0, ..Self::FREE },
            (false, false) => Self { centre: 0.0, low, high, half: high },
        }
    }

    pub fn is_free(&self) -> bool {
        self.low == f32::NEG_INFINITY && self.high == f32::INFINITY
    }

    /// Distance of a difference from the centre outside the range; 0 inside.
    pub fn excess(&self, d: f32) -> f32 {
        (d - self.high).max(self.low - d).max(0.0)
    }

    /// Maximum change downwards (at most 0) and upwards (at least 0) from a difference from the centre.
    pub fn room(&self, d: f32) -> [f32; 2] {
        [(self.low - d).min(0.0), (self.high - d).max(0.0)]
    }

    /// Clamps a difference from the centre to the range.
    pub fn clamp(&self, d: f32) -> f32 {
        d.clamp(self.low, self.high)
    }

    /// Clamps a difference in [-pi, pi) from the centre to the nearer end on the circle. In a span widened to one side,
    /// the nearer end may be across the half turn.
    pub fn clamp_angle(&self, d: f32) -> f32 {
        if d > self.high {
            if self.low - (d - TAU) < d - self.high { self.low } else { self.high }
        } else if d < self.low {
            if d + TAU - self.high < self.low - d { self.high } else { self.low }
        } else {
            d
        }
    }

    /// Returns the range widened just enough to contain a difference from the centre.
    pub fn widened(&self, d: f32) -> Self {
        Self { low: self.low.min(d), high: self.high.max(d), ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_far_from_zero_keep_their_digits() {
        let far = 1000.0 * core::f64::consts::TAU;
        let span = Span::of_angle(Range::new(far - 0.25, far + 0.75));
        assert!((span.centre - 0.25).abs() < 1e-6 && (span.half - 0.5).abs() < 1e-6);
        assert!(Span::of_angle(Range::new(-4.0, 4.0)).is_free());
        for i in -50..50 {
            let x = i as f32 * 0.37;
            let w = wrap(x);
            assert!((-PI..=PI).contains(&w) && ((x - w) / TAU - ((x - w) / TAU).round()).abs() < 1e-6);
        }
    }

    #[test]
    fn the_nearer_end_on_the_circle_is_taken() {
        let span = Span::of_angle(Range::new(-0.5, 0.5)).widened(3.0);
        assert_eq!(span.clamp_angle(-3.1), 3.0);
        assert_eq!(span.clamp_angle(-0.6), -0.5);
        assert_eq!(span.clamp_angle(2.9), 2.9);
    }
}
