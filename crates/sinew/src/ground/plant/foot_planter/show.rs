//! What a step shows: the state, carried out on the pose.

use glam::{Quat, Vec3};

use super::{
    FootPlanter, FootPlanterError, FootPlanterReport, FootPlanterState, offset::rotation, place::Place,
};
use crate::{
    Pose,
    ground::plant::{
        FootFrame, FootSample,
        reach::{highest, nearest},
    },
    math,
};

/// The pelvis comes to a limit along a curve that begins about this far from it, in metres for a figure of 1.8 m.
const EASE: f32 = 0.01;

impl FootPlanter {
    /// Carries the state out on the pose.
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
                // A foot that fades out holds the pelvis less and less.
                let slack = 2.0 * m.leg * (1.0 - weight) / weight;
                high = high.min(highest(&sample, ankle, &self.settings) + slack);
                let folds = folds(&sample, ankle) - slack;
                // A foot in the air comes down to the body, as far as it is above the ground.
                let clear = state.foot.clearance(since, &m);
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
                // A leg that never was bent does not say where its knee points.
                knee_way: if bend.length() > 1e-3 {
                    model.knee_way(state.hinge.normalize_or_zero())
                } else {
                    Vec3::ZERO
                },
                clip_line: model.ankle - model.hip,
                weight,
                influence: state.influence,
            });
        }
        let ease = EASE * scale;
        let level = feet.level.towards(feet.level_goal, feet.level_goal, self.pelvis_omega(), since);
        let level = soft_least(level.value.y, high, ease);
        // Where a leg would be folded too far and another too long, the long one decides.
        let level = soft_least(-soft_least(-level, -low, ease), high, ease);
        let raise = level - place.floor;
        for ((leg, frame), state) in figure.legs.iter().zip(&mut feet.frames).zip(&feet.legs) {
            // A foot in the air that the body has sunk onto goes down with it, rather than fold
            // its knee further than knees do.
            let [folds, clear] = state.room;
            if clear > 0.0 {
                let by = -soft_least(level - folds, 0.0, ease);
                frame.ankle.y -= soft_least(by, clear, ease).max(0.0);
            }
            let kept = place.over_floor(pose.position(leg.foot)) + Vec3::Y * level;
            frame.ankle = back.transform_point3(kept + (frame.ankle - kept) * frame.weight);
        }
        feet.backup.clear();
        feet.backup.push((figure.pelvis, *pose.local(figure.pelvis)));
        for leg in &figure.legs {
            let joints = [Some(leg.thigh), Some(leg.shin), Some(leg.foot), leg.toes];
            feet.backup.extend(joints.into_iter().flatten().map(|j| (j, *pose.local(j))));
        }
        let carry = back.transform_vector3(Vec3::Y * raise);
        let mut missed = 0.0f32;
        let applied = figure.apply(pose, carry, 0.0, &feet.frames, |_, by| missed = missed.max(by));
        if let Err(error) = applied {
            for &(joint, local) in &feet.backup {
                pose.set_local(joint, local);
            }
            pose.update();
            return Err(error.into());
        }
        Ok(FootPlanterReport { raise, out_of_reach: missed * place.scale, standing })
    }
}

/// The lowest level of the body at which a knee is not folded further than knees go. Unlike the plan's, it
/// has no leap where a foot passes the hip: what is further out, and higher than the hip, raises the body
/// (or comes down) the less the further out.
fn folds(clip: &FootSample, ankle: Vec3) -> f32 {
    // Metres a metre: a foot twice as high above the hip as it is out of the way of the knee is left alone.
    const OUT: f32 = 2.0;
    let near = nearest(clip);
    let out = (ankle - clip.hip).with_y(0.0).length();
    let over = if out < near { -math::sqrt(near * near - out * out) } else { OUT * (out - near) };
    // Where the animation has it higher, that is no fault.
    ankle.y - clip.hip.y - over.max(clip.ankle.y - clip.hip.y)
}

/// The lesser of two, never more, and smooth where they cross.
fn soft_least(value: f32, limit: f32, ease: f32) -> f32 {
    if !limit.is_finite() {
        return value;
    }
    let room = limit - value;
    limit - 0.5 * (room + math::sqrt(room * room + 4.0 * ease * ease))
}
