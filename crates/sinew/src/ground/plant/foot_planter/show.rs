//! Application of the state to the pose of a frame.

use glam::{Quat, Vec3};

use super::{
    FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState,
    ankle::{relieve, rounded},
    offset::rotation,
    place::Place,
};
use crate::{
    Pose,
    ground::plant::{
        FootFrame, FootSample,
        reach::{highest, nearest},
    },
    math,
};

/// Distance from a limit at which the pelvis eases into it, in metres for a figure of 1.8 m.
const EASE: f32 = 0.01;

impl FootPlanter {
    /// Applies the state to the pose, which holds the animation's frame.
    pub(super) fn show(
        &self,
        feet: &mut FootPlanterState,
        pose: &mut Pose,
        place: &Place,
    ) -> Result<FootPlanterReport, FootPlanterError> {
        let figure = &self.figure;
        let scale = place.scale * figure.height / 1.8;
        let (mut high, mut low) = (f32::INFINITY, f32::NEG_INFINITY);
        let back = place.placement.model_from_world();
        let since = feet.phase.max(0.0);
        feet.frames.clear();
        let mut standing = 0;
        let share = feet.presence.share();
        for (i, leg) in figure.legs.iter().enumerate() {
            let m = self.measures(i, place);
            let model = leg.sample(pose, Vec3::ZERO);
            let now = place.sole(&model);
            let state = &mut feet.legs[i];
            let offset = state.foot.offset(&now, since, &m);
            let weight = state.foot.weight(since, &m);
            standing += usize::from(state.foot.locked());
            let mut sample = model;
            for p in [&mut sample.hip, &mut sample.knee, &mut sample.ankle] {
                *p = place.over_floor(*p);
            }
            let ankle = now.ankle + offset.ankle;
            if weight > 1e-3 {
                // A foot that fades out restricts the pelvis less.
                let slack = 2.0 * m.leg * (1.0 - weight) / weight;
                high = high.min(highest(&sample, ankle, &self.settings) + slack);
                let folds = folds(&sample, ankle) - slack;
                // A foot in the air can come down to the body by its clearance.
                let (clear, _) = state.foot.clearance(since, &m);
                low = low.max(folds - clear);
                state.room = [folds, clear];
            } else {
                state.room = [0.0; 2];
            }
            let turn = |v: Vec3| {
                let world = math::slerp(Quat::IDENTITY, rotation(v), weight);
                math::into_frame(&place.placement.world_from_model().matrix3, world)
            };
            let bend = model.bend() + math::rotate(model.thigh, state.hinge.normalize_or_zero());
            feet.frames.push(FootFrame {
                turn: turn(offset.turn),
                toes: turn(offset.toes),
                ankle,
                // A leg that was never bent has no knee direction.
                knee_way: if bend.length() > 1e-3 {
                    model.knee_way(state.hinge.normalize_or_zero())
                } else {
                    Vec3::ZERO
                },
                clip_line: model.ankle - model.hip,
                weight,
                influence: share,
            });
        }
        let ease = EASE * scale;
        let level = feet.level.towards(feet.level_goal, self.pelvis_omega(), since);
        let level = soft_least(level.value.y, high, ease);
        // Reach decides over the knee's range.
        let level = soft_least(-soft_least(-level, -low, ease), high, ease);
        let raise = level - place.floor;
        for ((leg, frame), state) in figure.legs.iter().zip(&mut feet.frames).zip(&feet.legs) {
            // A foot in the air under a low body comes down with it, so that the knee stays within its range.
            let [folds, clear] = state.room;
            if clear > 0.0 {
                let by = -soft_least(level - folds, 0.0, ease);
                frame.ankle.y -= soft_least(by, clear, ease).max(0.0);
            }
            let kept = place.over_floor(pose.position(leg.foot)) + Vec3::Y * level;
            frame.ankle = back.transform_point3(kept + (frame.ankle - kept) * frame.weight);
        }
        let hips = back.transform_vector3(Vec3::Y * raise);
        for (i, (leg, frame)) in figure.legs.iter().zip(&mut feet.frames).enumerate() {
            let m = self.measures(i, place);
            let (_, touch) = feet.legs[i].foot.clearance(since, &m);
            let (hip, sample) = (pose.position(leg.thigh) + hips, leg.sample(pose, Vec3::ZERO));
            if self.ahead > 0 {
                // A foot off the ground keeps as far from its hip as its knee folds.
                let line = frame.ankle - hip;
                let by = rounded(nearest(&sample) - line.length(), EASE * figure.height / 1.8);
                let off = (1.0 - touch.near) * frame.weight;
                frame.ankle += line.normalize_or(Vec3::NEG_Y) * (by * off);
            }
            relieve(&sample, hip, touch, frame);
        }
        feet.backup.clear();
        feet.backup.extend(figure.joints().map(|j| (j, *pose.local(j))));
        let mut missed = 0.0f32;
        let applied = figure.apply(pose, Vec3::ZERO, hips, &feet.frames, |_, by| missed = missed.max(by));
        if let Err(error) = applied {
            for &(joint, local) in &feet.backup {
                pose.set_local(joint, local);
            }
            pose.update();
            return Err(error.into());
        }
        let raise = raise * share * figure.influence();
        Ok(FootPlanterReport { raise, out_of_reach: missed * place.scale, standing })
    }
}

/// Smallest level of the body, in metres, at which the knee stays within its range. Unlike that of the whole-clip plan it is
/// continuous where a foot passes the hip: the bound falls with the horizontal distance of the foot.
fn folds(clip: &FootSample, ankle: Vec3) -> f32 {
    // Slope of the bound beyond the smallest distance of ankle and hip, in metres per metre.
    const OUT: f32 = 2.0;
    let near = nearest(clip);
    let out = (ankle - clip.hip).with_y(0.0).length();
    let over = if out < near { -math::sqrt(near * near - out * out) } else { OUT * (out - near) };
    // The animation's own height is always allowed.
    ankle.y - clip.hip.y - over.max(clip.ankle.y - clip.hip.y)
}

/// Smooth minimum of a value and a limit, never above either and `ease` below where they meet; the value if the limit is
/// infinite.
fn soft_least(value: f32, limit: f32, ease: f32) -> f32 {
    if !limit.is_finite() {
        return value;
    }
    let room = limit - value;
    limit - 0.5 * (room + math::sqrt(room * room + 4.0 * ease * ease))
}
