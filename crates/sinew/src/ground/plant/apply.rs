//! Application of a planted frame to a pose: moves the pelvis, solves the legs, turns feet and toes.

use glam::{Quat, Vec3};

use super::{Figure, FootFrame, Leg};
use crate::{
    Goal, Pole, Pose, SolveError, math,
    solve::{LimbOptions, check},
};

/// Influence on a leg from which a nearly straight knee is bent as much as at 1. Below, the bend fades to none, so
/// that an influence that grows from 0 does not start with a jump.
const BEND_FADE: f32 = 0.25;

/// Least flexion of a planted knee, in radians. Three degrees look straight, cost 0.03 % of the leg's length, and keep the
/// knee from snapping at full extension.
pub const STRAIGHT: f32 = 0.05;

impl Figure {
    /// Applies a planted frame to `pose`, which holds the clip's frame.
    ///
    /// `carry` translates the whole figure (travel) and `hips` moves the pelvis, both in metres in model space; `hips` is that
    /// at an influence of 1. `feet` has one frame per leg. `missed` is called for each leg with an influence above 0, with its index and the residual of its
    /// ankle, in metres.
    ///
    /// A leg whose influence is 0 keeps the bits of its local transforms. So does the pelvis where it is neither carried nor
    /// moved.
    ///
    /// # Errors
    ///
    /// A leg's influence is outside 0 to 1, or a leg cannot be solved. The pose then holds the legs solved before it.
    pub fn apply(
        &self,
        pose: &mut Pose,
        carry: Vec3,
        hips: Vec3,
        feet: &[FootFrame],
        mut missed: impl FnMut(usize, f32),
    ) -> Result<(), SolveError> {
        for leg in &self.legs {
            check::within("the leg's influence", "0 to 1", leg.influence, 0.0, 1.0)?;
        }
        // Without any planted foot the pelvis keeps the clip's height.
        let share = |(leg, frame): (&Leg, &FootFrame)| (leg.influence * frame.influence).clamp(0.0, 1.0);
        let share = self.legs.iter().zip(feet).map(share).fold(0.0, f32::max);
        let by = carry + hips * share;
        // A pelvis that moves by a part takes the footholds along, so that legs do not fold between it and the ground.
        let along = hips * (share - 1.0);
        if by != Vec3::ZERO {
            let at = pose.position(self.pelvis) + by;
            pose.set_position(self.pelvis, at);
            pose.update();
        }
        for (i, (leg, frame)) in self.legs.iter().zip(feet).enumerate() {
            if leg.is_free() || frame.influence == 0.0 {
                continue;
            }
            let foot = pose.model_rotation(leg.foot);
            let toes = leg.toes.map(|t| pose.model_rotation(t));
            let influence = leg.influence * frame.influence;
            let turn = weighted(frame.turn, influence);
            let toe_turn = weighted(frame.toes, influence);
            let ankle = frame.ankle + along;
            let mut goal = Goal::position(ankle).with_rotation(math::mul(turn, foot));
            goal.position_influence = influence;
            if frame.knee_way != Vec3::ZERO {
                self.bend_a_little(pose, i, frame, (influence / BEND_FADE).clamp(0.0, 1.0));
                let line = (ankle - pose.position(leg.thigh)).normalize_or(Vec3::NEG_Y);
                let carried =
                    math::shortest_arc(frame.clip_line.normalize_or(Vec3::NEG_Y), line, frame.knee_way);
                goal.pole = Pole::Direction(math::rotate(carried, frame.knee_way));
            }
            let report =
                self.solvers[i].solve(pose, &goal, &LimbOptions::new().with_min_flexion(STRAIGHT))?;
            missed(i, report.position_residual);
            if let (Some(joint), Some(rotation)) = (leg.toes, toes) {
                pose.set_model_rotation(joint, math::mul(math::mul(turn, toe_turn), rotation));
                pose.update();
            }
        }
        Ok(())
    }
}

impl Figure {
    /// Bends a nearly straight leg a little in the direction of its knee. The bend plane of a straight leg would be left to
    /// rounding, and the pole would then turn the whole leg about its length. `share` is the fraction of the bend that is
    /// applied, from 0 to 1.
    fn bend_a_little(&self, pose: &mut Pose, leg: usize, frame: &FootFrame, share: f32) {
        // Sine of about 8 degrees, below which noise hides the clip's bend plane.
        const LITTLE: f32 = 0.15;
        let leg = &self.legs[leg];
        let [hip, knee, ankle] = [leg.thigh, leg.shin, leg.foot].map(|j| pose.position(j));
        let (u, v) = ((knee - hip).normalize_or_zero(), (ankle - knee).normalize_or_zero());
        let axis = frame.clip_line.normalize_or(Vec3::NEG_Y);
        let normal = frame.knee_way.cross(axis).normalize_or_zero();
        let missing = LITTLE - u.cross(v).dot(normal);
        if missing > 0.0 && share > 0.0 && u.dot(v) > 0.0 && normal != Vec3::ZERO {
            pose.turn(leg.shin, math::axis_angle(normal, share * missing));
            pose.update();
        }
    }
}

fn weighted(q: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { q } else { math::slerp(Quat::IDENTITY, q, weight) }
}
