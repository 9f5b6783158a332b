//! Feet and hips of the solution.

use alloc::vec::Vec;

use glam::{DMat3, DVec3, Quat, Vec3};

use super::{
    Problem, Solution, State,
    constants::{NEAR, ON_PLACE, TOES},
};
use crate::{
    ground::plant::{FootFrame, FootSample, Planted, figure::toe_angle},
    math, math64,
};

impl Problem<'_> {
    /// Frames of all feet.
    pub fn solution(&self, state: &State, planted: &[Vec<Planted>]) -> Solution {
        let hips: Vec<Vec3> = (0..self.count()).map(|i| self.hips_at(state, i).as_vec3()).collect();
        let feet = (0..self.legs.len())
            .map(|leg| {
                let mut frames: Vec<FootFrame> = (0..self.count())
                    .map(|i| {
                        let (clip, posed) = (&self.legs[leg][i], self.posed(state, i, leg));
                        let ankle = clip.hip + self.hips_at(state, i) + posed.ankle;
                        let (ankle, turn) = self.put(leg, i, ankle, posed.turn);
                        let q = math64::quaternion(&turn);
                        let line = posed.ankle.normalize_or(DVec3::NEG_Y);
                        let time = i as f32 * self.planner.analysis.step;
                        FootFrame {
                            turn: Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32),
                            toes: Quat::IDENTITY,
                            ankle: ankle.as_vec3(),
                            knee_way: posed.hinge.cross(line).as_vec3(),
                            clip_line: line.as_vec3(),
                            weight: self.planner.presence(&planted[leg], time),
                            influence: 1.0,
                        }
                    })
                    .collect();
                self.toes(leg, &mut frames);
                self.planner.let_go(leg, &mut frames, &hips);
                frames
            })
            .collect();
        Solution { hips, feet }
    }

    /// Puts a foot whose points stand nearly on their places onto them.
    fn put(&self, leg: usize, i: usize, mut ankle: DVec3, mut turn: DMat3) -> (DVec3, DMat3) {
        let near = f64::from(ON_PLACE) * self.size;
        let holds = self.references[leg][i].holds;
        let [heel, ball, _] = self.legs[leg][i].sole;
        let off = |point: DVec3, hold: DVec3, ankle: DVec3, turn: &DMat3| hold - ankle - *turn * point;
        if let (Some(h), Some(b)) = (holds[0], holds[1])
            && off(heel, h, ankle, &turn).length() < near
            && off(ball, b, ankle, &turn).length() < near
        {
            // From the ball the heel comes as near to its place as the sole's length lets it.
            let (from, to) = (turn * (heel - ball), h - b);
            let arc = math::shortest_arc(
                from.as_vec3().normalize_or(Vec3::Y),
                to.as_vec3().normalize_or(Vec3::Y),
                Vec3::Y,
            );
            turn = math64::matrix(math64::normalize(arc.as_dquat())) * turn;
            ankle = b - turn * ball;
        } else {
            for (point, hold) in [(ball, holds[1]), (heel, holds[0])] {
                if let Some(hold) = hold {
                    let off = off(point, hold, ankle, &turn);
                    if off.length() < near {
                        ankle += off;
                        break;
                    }
                }
            }
        }
        (ankle, turn)
    }

    /// Toes stay on the ground while the ball stands, and pass to the clip's within [`NEAR`] seconds.
    fn toes(&self, leg: usize, frames: &mut [FootFrame]) {
        let (references, step) = (&self.references[leg], self.planner.analysis.step);
        let stands: Vec<bool> = references.iter().map(|r| r.holds[1].is_some()).collect();
        let reach = (NEAR / step) as usize + 1;
        for i in 0..frames.len() {
            let window = |k: usize| {
                stands.get(i + k).copied().unwrap_or(false) || i.checked_sub(k).is_some_and(|j| stands[j])
            };
            let Some(away) = (0..reach).find(|k| window(*k)) else { continue };
            let s = math::smoothstep(1.0 - away as f32 * step / NEAR);
            let (clip, reference) = (&self.legs[leg][i], &references[i]);
            let turn = frames[i].turn;
            // Toes on the ground keep the clip's angle to the floor.
            let flat = math64::axis_angle(clip.across, reference.pitch) * clip.roll;
            let (_, yaw) = math::swing_twist(turn, Vec3::Y);
            let flat = math::mul(yaw, as_quat(&flat));
            let toes = math::mul(math::conjugate(turn), flat);
            frames[i].toes = self.within_toes(leg, i, math::slerp(Quat::IDENTITY, toes, s));
        }
    }

    /// Clamps the turn of toes, on top of the foot's, to their range.
    fn within_toes(&self, leg: usize, i: usize, toes: Quat) -> Quat {
        let clip = &self.legs[leg][i];
        let sample = self.planner.analysis.feet[leg].samples[i];
        let up = self.planner.analysis.feet[leg].upright[i];
        let rest = self.planner.figure.rest_toes[leg];
        let own = toe_angle(&sample, up) - rest;
        let tip = sample.ball + math::rotate(toes, sample.tip - sample.ball);
        let now = toe_angle(&FootSample { tip, ..sample }, up) - rest;
        let allowed = now.clamp(TOES[0].min(own), TOES[1].max(own));
        if now == allowed {
            return toes;
        }
        let back = math64::axis_angle(clip.across, allowed - now);
        math::mul(as_quat(&back), toes)
    }
}

fn as_quat(turn: &DMat3) -> Quat {
    let q = math64::quaternion(turn);
    Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
}
