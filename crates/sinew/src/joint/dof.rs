//! Degrees of freedom: range, speed and resistance.

/// A closed range of a coordinate, in radians or metres, with `min <= max`. Either end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Range {
    /// The lower limit; minus infinity for none.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::lower"))]
    pub min: f64,
    /// The upper limit; infinity for none.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
    pub max: f64,
}

impl Range {
    /// The range without limits.
    pub const FREE: Self = Self { min: f64::NEG_INFINITY, max: f64::INFINITY };

    /// The range from `min` to `max`.
    pub const fn new(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// Whether the range has neither a lower nor an upper limit.
    pub const fn is_free(&self) -> bool {
        self.min == f64::NEG_INFINITY && self.max == f64::INFINITY
    }

    /// Whether the range has both a lower and an upper limit.
    pub const fn is_bounded(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Whether `value` lies within the range, ends included. False for NaN.
    pub fn contains(&self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }

    /// Clamps `value` to the range.
    pub fn clamp(&self, value: f64) -> f64 {
        value.max(self.min).min(self.max)
    }

    /// The middle of a bounded range; `None` otherwise.
    pub fn middle(&self) -> Option<f64> {
        self.is_bounded().then_some(0.5 * self.min + 0.5 * self.max)
    }
}

impl Default for Range {
    fn default() -> Self {
        Self::FREE
    }
}

/// A pull towards a value of a coordinate, proportional to the distance from it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct Spring {
    /// The value of no pull, in radians or metres. If it lies outside the range, the pull is towards the nearer limit.
    pub rest: f64,
    /// Weight of the residual `strength * (value - rest)` relative to the goal's; 0 or more.
    pub strength: f64,
}

/// One degree of freedom of a [`Joint`](super::Joint): an angle in radians or a displacement in metres, 0 in the rest
/// pose.
///
/// Plain data, checked by [`Skeleton::set_joint`](crate::Skeleton::set_joint).
///
/// ```
/// use sinew::joint::Dof;
/// let elbow = Dof::range(0.0, 2.6).with_ease(0.2).with_preferred(0.4);
/// assert_eq!(elbow.range.max, 2.6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Dof {
    /// The allowed values, in radians or metres; [`Range::FREE`] for no limits.
    pub range: Range,
    /// The maximum speed, in radians or metres per second; 0 or more, infinity for none. It bounds motion over time
    /// ([`PathFollower`](crate::mechanism::PathFollower)) and does not affect a single solve.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
    pub speed: f64,
    /// Size of the zone before each limit in which the joint stiffens, as a share of half the range: 0 (none) to 1. See
    /// [`eased`]. Must be 0 unless both limits are finite.
    pub ease: f64,
    /// Share of each requested step that the joint omits, from 0 (none) to 1 (it does not move). A stiff joint leaves
    /// the motion to its neighbours.
    pub stiffness: f64,
    /// Resistance to fast motion, in 1/radians or 1/metres; 0 (none) or more. A requested step x becomes x / (1 +
    /// damping |x|): steps are bounded by 1 / damping, and small steps hardly change.
    pub damping: f64,
    /// A pull towards a value.
    pub spring: Option<Spring>,
    /// Order of motion: degrees of freedom with higher precedence move first; the others reduce the remaining residual.
    pub precedence: i32,
    /// The value to bend towards where the goal decides no direction, in radians or metres: for a straight chain with
    /// its goal on the chain's line, at a fresh start from a local minimum, and, by solvers of least squares, wherever the
    /// goal leaves a joint free; see [the module](super). Must lie in the range.
    pub preferred: Option<f64>,
}

impl Dof {
    /// A degree of freedom without limits or resistance.
    pub const FREE: Self = Self {
        range: Range::FREE,
        speed: f64::INFINITY,
        ease: 0.0,
        stiffness: 0.0,
        damping: 0.0,
        spring: None,
        precedence: 0,
        preferred: None,
    };

    /// A degree of freedom with a range and without resistance.
    pub const fn range(min: f64, max: f64) -> Self {
        Self { range: Range::new(min, max), ..Self::FREE }
    }

    /// Returns the degree of freedom with this [`speed`](Self::speed).
    pub const fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// Returns the degree of freedom with this [`ease`](Self::ease).
    pub const fn with_ease(self, ease: f64) -> Self {
        Self { ease, ..self }
    }

    /// Returns the degree of freedom with this [`stiffness`](Self::stiffness).
    pub const fn with_stiffness(self, stiffness: f64) -> Self {
        Self { stiffness, ..self }
    }

    /// Returns the degree of freedom with this [`damping`](Self::damping).
    pub const fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// Returns the degree of freedom with a [`spring`](Self::spring).
    pub const fn with_spring(self, rest: f64, strength: f64) -> Self {
        Self { spring: Some(Spring { rest, strength }), ..self }
    }

    /// Returns the degree of freedom with this [`precedence`](Self::precedence).
    pub const fn with_precedence(self, precedence: i32) -> Self {
        Self { precedence, ..self }
    }

    /// Returns the degree of freedom with this [`preferred`](Self::preferred) value.
    pub const fn with_preferred(self, preferred: f64) -> Self {
        Self { preferred: Some(preferred), ..self }
    }
}

impl Dof {
    /// The value at rest, always within the range: the preferred value if there is one, else 0. If the range excludes 0,
    /// its middle, or the only end of a range with one limit.
    pub fn rest(&self) -> f64 {
        let Range { min, max } = self.range;
        match self.preferred {
            Some(preferred) => self.range.clamp(preferred),
            None if self.range.contains(0.0) => 0.0,
            None if self.range.is_bounded() => 0.5 * (min + max),
            None => 0.0f64.clamp(min, max),
        }
    }
}

impl Default for Dof {
    fn default() -> Self {
        Self::FREE
    }
}

/// Upper bound of stiffness below 1: with less, a joint still moves.
const MAX_STIFFNESS: f64 = 0.999;

impl Dof {
    /// Whether stiffness lets it move.
    pub(crate) fn moves(&self) -> bool {
        self.stiffness < 1.0
    }

    /// Share of each requested step that stiffness leaves. Above 0, as joints of stiffness 1 make no step.
    pub(crate) fn compliance(&self) -> f64 {
        1.0 - self.stiffness.min(MAX_STIFFNESS)
    }
}

/// The resistance of a degree of freedom, in f32; see [`Dof`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Resistance {
    pub ease: f32,
    pub stiffness: f32,
    pub damping: f32,
}

impl Resistance {
    pub const NONE: Self = Self { ease: 0.0, stiffness: 0.0, damping: 0.0 };

    pub fn of(dof: Dof) -> Self {
        Self { ease: dof.ease as f32, stiffness: dof.stiffness as f32, damping: dof.damping as f32 }
    }

    /// The step that a requested step becomes, before any limit.
    pub fn step(&self, wanted: f32) -> f32 {
        wanted * (1.0 - self.stiffness) / (1.0 + self.damping * wanted.abs())
    }
}

/// The coordinate after a push of `push` (0 or more) from `from` towards the upper limit `limit`, if the joint stiffens
/// over the last `zone` before the limit. `from` lies below the limit; all values are in radians or metres.
///
/// Below the zone the coordinate follows the push. Inside, let y be the depth in the zone (0 to z) and u the push spent
/// in it: dy/du = 1 - u / 2z, which falls from 1 at the onset to 0 at the limit. Hence y = u - u^2 / 4z, and u = 2z
/// reaches the limit exactly. The speed is continuous at the onset, and two successive pushes equal their sum.
pub fn eased(from: f32, push: f32, limit: f32, zone: f32) -> f32 {
    let onset = limit - zone;
    if zone <= 0.0 || from + push <= onset {
        return (from + push).min(limit);
    }
    let inside = ((from - onset) / zone).clamp(0.0, 1.0);
    // The push already spent inside the zone; 0 before it.
    let had = 2.0 * zone * (1.0 - crate::math::sqrt(1.0 - inside));
    let u = if from < onset { push - (onset - from) } else { had + push }.min(2.0 * zone);
    // Rounding must not move the coordinate backwards.
    (onset + u - u * u / (4.0 * zone)).clamp(from.min(limit), limit)
}

/// The smallest share of its motion that ease leaves a joint in a step of least squares, at the limit itself: its square is
/// far above the smallest damping (1e-10), so that a goal at a limit is reached as fast as any other.
const MIN_EASE: f64 = 1e-3;

/// Weight by which ease multiplies a degree of freedom's motion in a step of least squares: the square of its speed as a
/// share of that outside the zone. With `room` left to the limit that it moves towards and a zone of this width, that speed
/// is sqrt(room / zone), the law of [`eased`].
pub(crate) fn ease_weight(room: f64, zone: f64) -> f64 {
    if zone > 0.0 && room < zone { (room / zone).max(MIN_EASE * MIN_EASE) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ease_meets_the_end_and_adds_up() {
        // Integrated in small steps: dy/du = sqrt(1 - y / z), the same law without u.
        let (limit, zone) = (1.0f32, 0.4f32);
        for push in [0.1f32, 0.3, 0.7, 0.9, 1.3] {
            let (mut y, n) = (0.2f64, 200_000);
            for _ in 0..n {
                let inside = ((y - 0.6) / 0.4).clamp(0.0, 1.0);
                y += (1.0 - inside).sqrt() * push as f64 / n as f64;
            }
            let got = eased(0.2, push, limit, zone);
            assert!((got as f64 - y).abs() < 1e-4, "{push}: {got} {y}");
            let twice = eased(eased(0.2, 0.4 * push, limit, zone), 0.6 * push, limit, zone);
            assert!((twice - got).abs() < 1e-5);
        }
        assert_eq!(eased(0.2, 1.3, limit, zone), 1.0);
        assert_eq!(eased(0.2, 0.3, 0.4, 0.0), 0.4);
    }
}
