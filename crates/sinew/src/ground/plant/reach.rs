//! Largest and smallest distance between hip and ankle.

use glam::Vec3;

use super::{FootSample, PlantOptions, apply::STRAIGHT};
use crate::math;

/// Distance of hip and ankle at a flexion in radians, in metres.
fn apart(clip: &FootSample, flexion: f32) -> f32 {
    let (a, b) = ((clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length());
    math::sqrt((a * a + b * b + 2.0 * a * b * math::cos(flexion)).max(0.0))
}

/// Largest raise of the pelvis at which the leg reaches `ankle` with the flexion that it must keep, in metres.
pub(super) fn highest(clip: &FootSample, ankle: Vec3, settings: &PlantOptions) -> f32 {
    let reach = apart(clip, clip.flexion().min(settings.min_flexion).max(STRAIGHT));
    let level2 = (ankle - clip.hip).with_y(0.0).length_squared();
    ankle.y + over(reach, level2) - clip.hip.y
}

/// Largest height of the hip over an ankle at the squared horizontal distance `out2` that a leg of the length `reach` allows, in
/// metres. Lowering the pelvis further hardly helps to reach a foot that is far out to the side.
pub(super) fn over(reach: f32, out2: f32) -> f32 {
    math::sqrt((reach * reach - out2).max(0.09 * reach * reach))
}

/// Smallest distance of ankle and hip, in metres, with the knee flexed by 150 degrees, or by the clip's flexion if larger.
pub(super) fn nearest(clip: &FootSample) -> f32 {
    const FOLDED: f32 = 2.6;
    apart(clip, clip.flexion().max(FOLDED))
}
