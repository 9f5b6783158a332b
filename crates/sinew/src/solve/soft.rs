//! Soft IK: a chain near full extension slows down instead of snapping straight.

use glam::Vec3;

use super::arc::{distance, no_further};
use crate::math;

/// Distance from the root at which a chain with a soft zone puts its end, for a goal at `distance` from the root.
///
/// `reach` is the chain's maximum reach, in the unit of `distance`; `soft` is the length of the soft zone as a share of it,
/// 0 (none) to 1. With `ds = soft * reach`, distances up to `da = reach - ds` stay unchanged. Beyond it
///
/// ```text
/// d = da + ds (1 - exp(-(distance - da) / ds))
/// ```
///
/// leaves `da` with slope 1 and tends to `reach` without getting there, so that the joints' speeds stay bounded. Without a
/// soft zone, the knee's speed grows without bound as the limb straightens.
///
/// ```
/// use sinew::solve::soften;
/// assert_eq!(soften(0.5, 1.0, 0.1), 0.5);
/// assert!(soften(1.0, 1.0, 0.1) < 1.0);
/// assert_eq!(soften(3.0, 1.0, 0.0), 1.0);
/// ```
#[inline]
pub fn soften(distance: f32, reach: f32, soft: f32) -> f32 {
    let zone = soft * reach;
    let onset = reach - zone;
    if distance <= onset || zone <= 0.0 {
        return distance.min(reach);
    }
    // With a zone of nearly the whole reach, a goal near the root is hardly in it: there the exponential's first two terms
    // are exact but for rounding.
    if distance < 1e-3 * zone {
        let into = distance - onset;
        return onset + into * (1.0 - 0.5 * (into / zone));
    }
    onset + zone * (1.0 - math::exp((onset - distance) / zone))
}

/// The position that a chain with this reach and soft zone aims at, for a `goal`: the goal itself without a soft zone.
/// `stretch` is the factor by which bones may become longer. Residuals are measured from that position.
#[cold]
pub(crate) fn softened(goal: Vec3, root: Vec3, reach: f32, soft: f32, stretch: f32) -> Vec3 {
    let far = distance(goal, root);
    if soft <= 0.0 || far <= reach * (1.0 - soft) || far <= 0.0 {
        return goal;
    }
    let near = soften(far, reach, soft);
    no_further(goal, root, near * (far / near).clamp(1.0, stretch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_onset_is_smooth_and_the_reach_is_never_passed() {
        let h = 1e-3;
        let slope = |x: f32| (soften(x + h, 2.0, 0.1) - soften(x - h, 2.0, 0.1)) / (2.0 * h);
        assert!((slope(1.7) - 1.0).abs() < 1e-3 && (slope(1.8) - 1.0).abs() < 1e-2);
        let mut last = 0.0;
        for i in 0..4000 {
            let d = soften(i as f32 * 1e-3, 2.0, 0.1);
            assert!(d >= last && d <= 2.0);
            last = d;
        }
    }
}
