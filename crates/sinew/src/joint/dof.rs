//! One degree of freedom: its range, and how willingly it moves.

/// A closed range of a coordinate, in radians or metres: `min <= max`. Either end may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
pub struct Range {
    /// The smallest value; minus infinity for no lower limit.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::lower"))]
    pub min: f64,
    /// The largest value; infinity for no upper limit.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
    pub max: f64,
}

impl Range {
    /// No limit to either side.
    pub const FREE: Self = Self { min: f64::NEG_INFINITY, max: f64::INFINITY };

    /// The range from `min` to `max`.
    pub const fn new(min: f64, max: f64) -> Self {
        Self { min, max }
    }

    /// Whether neither end is a limit.
    pub const fn is_free(&self) -> bool {
        self.min == f64::NEG_INFINITY && self.max == f64::INFINITY
    }

    /// Whether both ends are limits.
    pub const fn is_bounded(&self) -> bool {
        self.min.is_finite() && self.max.is_finite()
    }

    /// Whether a value lies within, the ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }

    /// The value within that is nearest to `value`.
    pub fn clamp(&self, value: f64) -> f64 {
        value.max(self.min).min(self.max)
    }

    /// The middle of a range that is bounded; none otherwise.
    pub fn middle(&self) -> Option<f64> {
        self.is_bounded().then_some(0.5 * self.min + 0.5 * self.max)
    }
}

impl Default for Range {
    fn default() -> Self {
        Self::FREE
    }
}

/// A pull towards a value of the coordinate, as strong as it is far off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Spring {
    /// The value that it pulls to, in radians or metres. It may lie outside the range; then it pulls to the end.
    pub rest: f64,
    /// The weight of its residual `strength * (value - rest)` beside the goal's, 0 or more.
    pub strength: f64,
}

/// One degree of freedom of a [`Joint`](super::Joint): an angle in radians or a way in metres, 0 in the rest pose.
///
/// Plain data; it is checked where the joint is given to a skeleton
/// ([`Skeleton::set_joint`](crate::Skeleton::set_joint)).
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
    /// From where to where it goes, in radians or metres; [`Range::FREE`] without limit.
    pub range: Range,
    /// The largest speed, in radians or metres per second, 0 or more; infinity for none. It bounds motion over time
    /// ([`PathFollower`](crate::mechanism::PathFollower)); a single solve has no time.
    #[cfg_attr(feature = "serde", serde(with = "crate::stored::upper"))]
    pub speed: f64,
    /// The share of the way from the range's middle to either end, 0 (none) to 1, over which it stiffens as it comes
    /// near the end; see [`eased`]. Only where both ends are finite.
    pub ease: f64,
    /// The share of each wanted step that it withholds, 0 (none) to 1 (it does not move): a stiff joint leaves the
    /// motion to its neighbours.
    pub stiffness: f64,
    /// How much it resists fast motion, in 1/radians or 1/metres, 0 (not at all) or more: of a wanted step x it makes
    /// x / (1 + damping |x|), so that no step is larger than 1 / damping, and small ones pass.
    pub damping: f64,
    /// A pull back to a rest value.
    pub spring: Option<Spring>,
    /// Degrees of freedom with a higher precedence move first, and the others make up for what those leave.
    pub precedence: i32,
    /// The value to bend towards where nothing else tells the way: a straight chain with its goal on the line, or a fresh
    /// start out of a knot. It lies in the range.
    pub preferred: Option<f64>,
}

impl Dof {
    /// Without limit, and moves freely.
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

    /// Moves freely from one value to another.
    pub const fn range(min: f64, max: f64) -> Self {
        Self { range: Range::new(min, max), ..Self::FREE }
    }

    /// With another [`speed`](Self::speed).
    pub const fn with_speed(self, speed: f64) -> Self {
        Self { speed, ..self }
    }

    /// With another [`ease`](Self::ease).
    pub const fn with_ease(self, ease: f64) -> Self {
        Self { ease, ..self }
    }

    /// With another [`stiffness`](Self::stiffness).
    pub const fn with_stiffness(self, stiffness: f64) -> Self {
        Self { stiffness, ..self }
    }

    /// With another [`damping`](Self::damping).
    pub const fn with_damping(self, damping: f64) -> Self {
        Self { damping, ..self }
    }

    /// With a pull to a rest value.
    pub const fn with_spring(self, rest: f64, strength: f64) -> Self {
        Self { spring: Some(Spring { rest, strength }), ..self }
    }

    /// With another [`precedence`](Self::precedence).
    pub const fn with_precedence(self, precedence: i32) -> Self {
        Self { precedence, ..self }
    }

    /// With another [`preferred`](Self::preferred) value.
    pub const fn with_preferred(self, preferred: f64) -> Self {
        Self { preferred: Some(preferred), ..self }
    }
}

impl Dof {
    /// Where it is at rest: its preferred value; else 0, or where the range leaves 0 out, its middle or its only end.
    /// Always within the range.
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

/// How willingly a degree of freedom moves, in f32.
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

    /// What is made of a wanted step, before any limit.
    pub fn step(&self, wanted: f32) -> f32 {
        wanted * (1.0 - self.stiffness) / (1.0 + self.damping * wanted.abs())
    }
}

/// Where a coordinate at `from` gets that is pushed on by `push` (0 or more) towards its end at `limit` (`from` lies
/// before it), if it stiffens over the last `zone`.
///
/// Short of the zone the push is followed. Inside it, let y be the way into the zone (0 to z) and u the push that it
/// took: dy/du = 1 - u / 2z, from 1 at the onset to 0 at the end, so y = u - u^2 / 4z, and the end is met at u = 2z
/// exactly. So the speed has no leap at the onset, and two pushes one after the other do what their sum does.
pub fn eased(from: f32, push: f32, limit: f32, zone: f32) -> f32 {
    let onset = limit - zone;
    if zone <= 0.0 || from + push <= onset {
        return (from + push).min(limit);
    }
    let inside = ((from - onset) / zone).clamp(0.0, 1.0);
    // How far short of the onset it is, or how much push it has had inside the zone.
    let had = 2.0 * zone * (1.0 - crate::math::sqrt(1.0 - inside));
    let u = if from < onset { push - (onset - from) } else { had + push }.min(2.0 * zone);
    // Never back, by rounding.
    (onset + u - u * u / (4.0 * zone)).clamp(from.min(limit), limit)
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
