//! Two bones, by the cosine rule.

use glam::Vec2;

use super::{Chain2dError, chain, distance, length, turned, wrap};
use crate::math;

/// To which side of the way from the root to the goal the middle joint goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum BendSide2d {
    /// Counter-clockwise of it; the lower bone then turns clockwise from the upper one.
    #[default]
    Left,
    /// Clockwise of it.
    Right,
}

/// Where two bones go.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct TwoBone2d {
    /// Direction of the upper bone in radians, counter-clockwise from X, in (-pi, pi].
    pub upper: f32,
    /// Angle from the upper bone's direction to the lower one's, counter-clockwise positive: 0 to -pi where the limb
    /// bends left, 0 to pi where it bends right.
    pub lower: f32,
    /// Where the middle joint is.
    pub middle: Vec2,
    /// Where the end is: at the goal, or as near to it as it gets.
    pub end: Vec2,
    /// How far the goal is out of reach.
    pub out_of_reach: f32,
}

/// Two bones of the lengths `a` and `b` that reach from `root` to `goal`. With d the distance, kept in |a - b| to a + b,
/// half the angle phi between the upper bone and the way, and half the flexion psi, have the tangents
///
/// ```text
/// tan^2(phi / 2) = (a + b - d) (d - a + b) / ((d + a - b) (a + b + d))
/// tan^2(psi / 2) = (a + b - d) (a + b + d) / ((d - a + b) (d + a - b))
/// ```
///
/// in Heron's factors, which lose no digits near straight and folded. Where the goal is at the root,
/// any direction serves; it is that of X.
///
/// ```
/// use sinew::{glam::Vec2, planar::{BendSide2d, two_bone}};
/// let leg = two_bone(Vec2::ZERO, 0.5, 0.4, Vec2::new(0.1, -0.7), BendSide2d::Left)?;
/// assert!(leg.end.distance(Vec2::new(0.1, -0.7)) < 1e-6);
/// assert!(leg.middle.x > 0.05 && leg.lower < 0.0);
/// # Ok::<(), sinew::planar::Chain2dError>(())
/// ```
pub fn two_bone(root: Vec2, a: f32, b: f32, goal: Vec2, side: BendSide2d) -> Result<TwoBone2d, Chain2dError> {
    chain::finite("the root's place", root)?;
    chain::finite("the goal", goal)?;
    // Beyond 1e9, products of four lengths overflow; below 1e-9 they vanish.
    chain::within("the upper bone's length", "1e-9 to 1e9", a, 1e-9, 1e9)?;
    chain::within("the lower bone's length", "1e-9 to 1e9", b, 1e-9, 1e9)?;
    // Halves, since the difference of two large places may overflow.
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
    // Each of Heron's factors once: with their rounding they are those of a triangle whose sides are off by as little,
    // and all that is made of them fits together, however much shorter one bone is than the other.
    let [over, behind, before, all] = [(a + b) - d, d - (a - b), d + (a - b), (a + b) + d];
    let root_of = |x: f32, y: f32| math::sqrt(x.max(0.0) * y.max(0.0));
    let sign = if side == BendSide2d::Left { 1.0 } else { -1.0 };
    // Sine and cosine of half an angle, times one length: of the flexion, and of the angle at the root.
    let (straight, bent) = (root_of(behind, before), root_of(over, all));
    let (s, c) = (root_of(over, behind), root_of(before, all));
    let size = s * s + c * c;
    let (s, c, size) = match d <= 1e-9 * (a + b) {
        // Of equal bones that are folded, one lies across the way and the other comes back along it.
        true => (1.0, 1.0, 2.0),
        // Beside the lower bone the upper one is nothing: both lie along the way.
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
