//! Largest and smallest distance between hip and ankle.

use glam::Vec3;

use super::{FootSample, PlantOptions};
use crate::math;

/// Reach of a leg with the flexion that it must keep, in metres.
pub(super) fn reach(clip: &FootSample, settings: &PlantOptions) -> f32 {
    reach_bent(clip, clip.flexion().min(settings.min_flexion))
}

/// Reach of a leg at a flexion in radians, in metres.
pub(super) fn reach_bent(clip: &FootSample, flexion: f32) -> f32 {
    let (a, b) = ((clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length());
    let flexion = flexion.max(super::apply::STRAIGHT);
    math::sqrt(a * a + b * b + 2.0 * a * b * math::cos(flexion))
}

/// Largest raise of the pelvis at which the leg reaches `ankle` with the flexion that it must keep, in metres.
pub(super) fn highest(clip: &FootSample, ankle: Vec3, settings: &PlantOptions) -> f32 {
    let reach2 = reach(clip, settings) * reach(clip, settings);
    let level2 = (ankle - clip.hip).with_y(0.0).length_squared();
    // Lowering the pelvis further hardly helps to reach a foot that is far out to the side.
    let down2 = (reach2 - level2).max(0.09 * reach2);
    ankle.y + math::sqrt(down2) - clip.hip.y
}

/// Smallest distance of ankle and hip, in metres, with the knee flexed by 150 degrees, or by the clip's flexion if larger.
pub(super) fn nearest(clip: &FootSample) -> f32 {
    const FOLDED: f32 = 2.6;
    let (a, b) = ((clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length());
    math::sqrt((a * a + b * b + 2.0 * a * b * math::cos(clip.flexion().max(FOLDED))).max(0.0))
}
