//! How far a leg reaches, and how near its foot comes to the hip.

use glam::Vec3;

use super::{FootSample, PlantOptions};
use crate::math;

/// How far a leg reaches with the flexion that it must keep, in metres.
pub(super) fn reach(clip: &FootSample, settings: &PlantOptions) -> f32 {
    reach_bent(clip, clip.flexion().min(settings.least_flexion))
}

/// How far it reaches with this flexion (radians), in metres.
pub(super) fn reach_bent(clip: &FootSample, flexion: f32) -> f32 {
    let (a, b) = ((clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length());
    let flexion = flexion.max(super::apply::STRAIGHT);
    math::sqrt(a * a + b * b + 2.0 * a * b * math::cos(flexion))
}

/// The highest raise of the pelvis at which the leg still reaches `ankle` with the flexion it must keep.
pub(super) fn highest(clip: &FootSample, ankle: Vec3, settings: &PlantOptions) -> f32 {
    let reach2 = reach(clip, settings) * reach(clip, settings);
    let level2 = (ankle - clip.hip).with_y(0.0).length_squared();
    // A foot that is too far out to the side is not reached by going down further than this.
    let down2 = (reach2 - level2).max(0.09 * reach2);
    ankle.y + math::sqrt(down2) - clip.hip.y
}

/// How near the ankle comes to the hip with the knee folded as far as knees go (150 degrees), or as the clip folds it.
pub(super) fn nearest(clip: &FootSample) -> f32 {
    const FOLDED: f32 = 2.6;
    let (a, b) = ((clip.knee - clip.hip).length(), (clip.ankle - clip.knee).length());
    math::sqrt((a * a + b * b + 2.0 * a * b * math::cos(clip.flexion().max(FOLDED))).max(0.0))
}

/// The lowest raise of the pelvis at which the leg is not folded further than a knee goes (150 degrees), or than the clip
/// folds it.
pub(super) fn lowest(clip: &FootSample, ankle: Vec3) -> f32 {
    let near2 = nearest(clip) * nearest(clip);
    let level2 = (ankle - clip.hip).with_y(0.0).length_squared();
    if level2 >= near2 {
        return f32::NEG_INFINITY;
    }
    ankle.y + math::sqrt(near2 - level2) - clip.hip.y
}
