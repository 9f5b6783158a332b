//! Two bones, by the cosine rule.

use glam::Vec2;

use super::{Chain2dError, chain, distance, length, turned, wrap};
use crate::math;

/// Side of the line from the root to the goal on which the middle joint lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BendSide2d {
    /// Counter-clockwise of the line; the lower bone then turns clockwise from the upper one.
    #[default]
    Left,
    /// Clockwise of the line.
    Right,
}

/// Result of [`two_bone`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TwoBone2d {
    /// Direction of the upper bone in radians, counter-clockwise from X, in (-pi, pi].
    pub upper: f32,
    /// Angle in radians from the upper bone's direction to the lower one's, counter-clockwise positive: 0 to -pi if the
    /// limb bends left, 0 to pi if it bends right.
    pub lower: f32,
    /// Position of the middle joint.
    pub middle: Vec2,
    /// Position of the end: at the goal, or as near as the bones reach.
    pub end: Vec2,
    /// Distance of the goal from the reach (too far or too near), in the unit of positions; 0 within reach.
    pub out_of_reach: f32,
}

/// Solves two bones of lengths `a` and `b` from `root` to `goal`. With d the distance, clamped to |a - b| to a + b,
/// half the angle phi between the upper bone and the line to the goal, and half the flexion psi, have the tangents
///
/// ```text
/// tan^2(phi / 2) = (a + b - d) (d - a + b) / ((d + a - b) (a + b + d))
/// tan^2(psi / 2) = (a + b - d) (a + b + d) / ((d - a + b) (d + a - b))
/// ```
///
/// in Heron's factors, which lose no digits near straight and folded. For a goal at the root, any direction serves; the
/// function uses X.
///
/// Returns an error for a root or goal that is not finite, and for lengths outside 1e-9 to 1e9.
///
/// ```
/// use sinew::{glam::Vec2, planar::{BendSide2d, two_bone}};
/// let leg = two_bone(Vec2::ZERO, 0.5, 0.4, Vec2::new(0.1, -0.7), BendSide2d::Left)?;
/// assert!(leg.end.distance(Vec2::new(0.1, -0.7)) < 1e-6);
/// assert!(leg.middle.x > 0.05 && leg.lower < 0.0);
/// # Ok::<(), sinew::planar::Chain2dError>(())
/// ```
pub fn two_bone(root: Vec2, a: f32, b: f32, goal: Vec2, side: BendSide2d) -> Result<TwoBone2d, Chain2dError> {
    chain::finite("the root's position", root)?;
    chain::finite("the goal", goal)?;
    // Beyond 1e9, products of four lengths overflow; below 1e-9 they underflow.
    chain::within("the upper bone's length", "1e-9 to 1e9", a, 1e-9, 1e9)?;
    chain::within("the lower bone's length", "1e-9 to 1e9", b, 1e-9, 1e9)?;
    // Halves, since the difference of two large positions may overflow.
    let (half, distance) = (goal * 0.5 - root * 0.5, distance(root, goal));
    let ahead = match distance {
        f32::MAX => {
            let along = half / half.abs().max_element();
            along / length(along)
        }
        _ if distance > 0.0 => half / (0.5 * distance),
        _ => Vec2::X,
    };
    let d = distance.clamp((a - b).abs(), a + b);
    // Compute each of Heron's factors once. Rounded, they are exact for a triangle with slightly different sides, so
    // all results are consistent, however much shorter one bone is than the other.
    let [over, behind, before, all] = [(a + b) - d, d - (a - b), d + (a - b), (a + b) + d];
    let root_of = |x: f32, y: f32| math::sqrt(x.max(0.0) * y.max(0.0));
    let sign = if side == BendSide2d::Left { 1.0 } else { -1.0 };
    // Sine and cosine of half an angle, times a common length: of the flexion, and of the angle at the root.
    let (straight, bent) = (root_of(behind, before), root_of(over, all));
    let (s, c) = (root_of(over, behind), root_of(before, all));
    let size = s * s + c * c;
    let (s, c, size) = match d <= 1e-9 * (a + b) {
        // Of equal, folded bones, one lies across the line and the other comes back along it.
        true => (1.0, 1.0, 2.0),
        // Beside the lower bone the upper one vanishes: both lie along the line.
        false if size <= 0.0 => (0.0, 1.0, 1.0),
        false => (s, c, size),
    };
    let lower = -sign * 2.0 * math::atan2(bent, straight);
    let (x, h) = (a * ((c - s) * (c + s) / size), a * (2.0 * s * c / size));
    let middle = root + turned(ahead, Vec2::new(x, sign * h));
    let upper = math::atan2(ahead.y, ahead.x) + sign * 2.0 * math::atan2(s, c);
    let end = root + ahead * d;
    Ok(TwoBone2d { upper: wrap(upper), lower, middle, end, out_of_reach: (distance - d).abs().min(f32::MAX) })
}
