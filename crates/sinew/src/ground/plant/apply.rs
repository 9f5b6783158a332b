//! One frame: the pelvis is moved, the legs are solved, the feet and toes are turned.

use glam::{Quat, Vec3};

use super::{Figure, FootFrame, Leg};
use crate::{Goal, Pole, Pose, SolveError, math, solve::LimbOptions};

/// Flexion in radians below which no planted knee goes: three degrees, which no eye tells from straight, cost 0.03 % of the
/// leg and keep it from snapping to and fro at full stretch.
pub const STRAIGHT: f32 = 0.05;

impl Figure {
    /// Applies what a plan says for one frame to a pose that holds the clip's frame. `carry` moves the whole figure
    /// (travel), `raise` the pelvis; both in model space. Gives for each leg how far its ankle stays
    /// from where it should be, through `missed`.
    pub fn apply(
        &self,
        pose: &mut Pose,
        carry: Vec3,
        raise: f32,
        feet: &[FootFrame],
        mut missed: impl FnMut(usize, f32),
    ) -> Result<(), SolveError> {
        // The pelvis goes with the feet: where no foot is planted, it stays as the clip has it.
        let position =
            |(leg, frame): (&Leg, &FootFrame)| (leg.position_influence * frame.influence).clamp(0.0, 1.0);
        let share = self.legs.iter().zip(feet).map(position).fold(0.0, f32::max);
        let at = pose.position(self.pelvis) + carry + Vec3::Y * (raise * share);
        pose.set_position(self.pelvis, at);
        pose.update();
        for (i, (leg, frame)) in self.legs.iter().zip(feet).enumerate() {
            let foot = pose.model_rotation(leg.foot);
            let toes = leg.toes.map(|t| pose.model_rotation(t));
            let turned = leg.rotation_influence * frame.influence;
            let turn = weighted(frame.turn, turned);
            let toe_turn = weighted(frame.toes, turned);
            let mut goal = Goal::position(frame.ankle).with_rotation(math::mul(turn, foot));
            goal.position_influence = leg.position_influence * frame.influence;
            if frame.knee_way != Vec3::ZERO {
                self.bend_a_little(pose, i, frame);
                let line = (frame.ankle - pose.position(leg.thigh)).normalize_or(Vec3::NEG_Y);
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
    /// A straight leg has no bend plane: which way it was bent from there would be left to rounding, and the pole would then
    /// turn the whole leg about its length. So a leg that is nearly straight is first bent a little the way its knee points.
    fn bend_a_little(&self, pose: &mut Pose, leg: usize, frame: &FootFrame) {
        // Radians, about eight degrees: below this the clip's own bend plane is hardly told from noise.
        const LITTLE: f32 = 0.15;
        let leg = &self.legs[leg];
        let [hip, knee, ankle] = [leg.thigh, leg.shin, leg.foot].map(|j| pose.position(j));
        let (u, v) = ((knee - hip).normalize_or_zero(), (ankle - knee).normalize_or_zero());
        let axis = frame.clip_line.normalize_or(Vec3::NEG_Y);
        let normal = frame.knee_way.cross(axis).normalize_or_zero();
        let missing = LITTLE - u.cross(v).dot(normal);
        if missing > 0.0 && u.dot(v) > 0.0 && normal != Vec3::ZERO {
            pose.turn(leg.shin, math::axis_angle(normal, missing));
            pose.update();
        }
    }
}

fn weighted(q: Quat, weight: f32) -> Quat {
    if weight >= 1.0 { q } else { math::slerp(Quat::IDENTITY, q, weight) }
}
