//! Context of planning, and the foothold of each stance.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    ClipAnalysis, Figure, Foothold, FootholdSearch, PlanError, Unplanted,
    contact::ContactLimits,
    stance::{Stance, stances},
};
use crate::math;

/// A stance and its foothold.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// Contact intervals of heel and ball.
    pub stance: Stance,
    /// Foothold, or the reason for which there is none.
    pub foothold: Result<Foothold, Unplanted>,
}

/// Planted state of one foot at one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootFrame {
    /// Rotation of the foot about its ankle in model space, on top of the clip's.
    pub turn: Quat,
    /// Rotation of the toes on top of `turn`, along the axes of the clip's model space.
    pub toes: Quat,
    /// Position of the ankle in model space.
    pub ankle: Vec3,
    /// Direction in which the knee points in the clip, in model space. It turns with the line from hip to ankle.
    pub knee_way: Vec3,
    /// Vector from hip to ankle in the clip, in model space.
    pub clip_line: Vec3,
    /// Fade of planting by ground, from 0 (no ground below the foot) to 1.
    pub weight: f32,
    /// Influence of planting, from 0 to 1; it multiplies the leg's own influences.
    pub influence: f32,
}

/// Distance that a foot in contact may move in the clip, as a fraction of the leg.
const MAX_MOVE: f32 = 0.5;

/// Context of planning.
pub(super) struct Planner<'a> {
    pub(super) figure: &'a Figure,
    pub(super) analysis: &'a ClipAnalysis,
    pub(super) search: FootholdSearch<'a>,
    /// Height of the clip's floor, in metres.
    pub(super) floor: f32,
    /// Height of the ground under the pelvis at each sample, in metres.
    pub(super) base: Vec<f32>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        figure: &'a Figure,
        analysis: &'a ClipAnalysis,
        search: FootholdSearch<'a>,
    ) -> Result<Self, PlanError> {
        let floor = analysis.floor(&ContactLimits::new(figure, search.settings));
        let mut planner = Self { figure, analysis, search, floor, base: Vec::new() };
        planner.base = planner.find_base()?;
        Ok(planner)
    }

    /// Finds the height of the ground under the pelvis at each sample, each cast around the height of the one before.
    fn find_base(&self) -> Result<Vec<f32>, PlanError> {
        let analysis = self.analysis;
        let floor = self.floor;
        let start = analysis.pelvis.first().copied().unwrap_or(Vec3::ZERO);
        // At the start the ground may be at any height: the first cast reaches a step, the next one anywhere.
        let mut anywhere = analysis.pelvis.iter().filter_map(|p| self.search.anywhere(*p, floor));
        let first = self.search.height(start, floor).map(|(y, _)| y);
        let first = first.or_else(|| anywhere.next().map(|(y, _)| y));
        let Some(mut base) = first else {
            let end = analysis.pelvis.last().copied().unwrap_or(start);
            let reach = 1000.0 * self.search.leg;
            return Err(PlanError::NoGround {
                from: start,
                to: end,
                low: floor - reach,
                high: floor + reach,
            });
        };
        Ok(analysis
            .pelvis
            .iter()
            .map(|&p| {
                if let Some((y, _)) = self.search.height(p, base) {
                    base = y;
                }
                base
            })
            .collect())
    }

    pub(super) fn base_at(&self, time: f32) -> f32 {
        let i = ((time / self.analysis.step) as usize).min(self.base.len() - 1);
        self.base[i]
    }

    pub(super) fn stances(&self, foot: usize, limits: &ContactLimits) -> Vec<Planted> {
        let analysis = self.analysis;
        let curve = &analysis.feet[foot];
        let leg = &self.figure.legs()[foot];
        let low = 2.0 * limits.height;
        stances(curve, analysis.step, limits, low)
            .into_iter()
            .map(|mut stance| {
                let middle = 0.5 * (stance.time.from + stance.time.to);
                let (heel, ball, length) = stance.place(curve, analysis.step, leg.yaw);
                let distance = stance.distance(curve, analysis.step);
                if distance > MAX_MOVE * self.search.leg {
                    return Planted { stance, foothold: Err(Unplanted::Moves { distance }) };
                }
                let tip = curve.samples.first().map_or(0.0, |s| (s.tip - s.ball).length());
                let found = self.search.find(heel, ball, length, tip, self.base_at(middle));
                let foothold = found.map(|mut f| {
                    if !leg.follows_slope {
                        f = self.search.level(&f, tip, self.base_at(middle));
                    }
                    f.heel.y += leg.sole_height;
                    f.ball.y += leg.sole_height;
                    f
                });
                // Without ground under the heel, the ball bears the foot for the whole stance.
                if foothold.is_ok_and(|f| !f.heel_supported) {
                    stance.ball = alloc::vec![stance.time];
                }
                Planted { stance, foothold }
            })
            .collect()
    }

    /// Fade of planting: 1 on ground, smoothly 0 at stances without ground.
    pub(super) fn presence(&self, planted: &[Planted], time: f32) -> f32 {
        const FADE: f32 = 0.25;
        let mut weight = 1.0f32;
        for p in planted.iter().filter(|p| p.foothold == Err(Unplanted::NoGround)) {
            let outside = (p.stance.time.from - time).max(time - p.stance.time.to).max(0.0);
            weight = weight.min(math::smoothstep((outside / FADE).min(1.0)));
        }
        weight
    }

    /// Fades feet without ground to the clip's pose below the pelvis, which is moved by `hips`.
    pub(super) fn let_go(&self, foot: usize, frames: &mut [FootFrame], hips: &[Vec3]) {
        let curve = &self.analysis.feet[foot];
        for ((frame, sample), by) in frames.iter_mut().zip(&curve.samples).zip(hips) {
            let kept = sample.ankle + *by;
            frame.ankle = kept + (frame.ankle - kept) * frame.weight;
            frame.turn = math::slerp(Quat::IDENTITY, frame.turn, frame.weight);
            frame.toes = math::slerp(Quat::IDENTITY, frame.toes, frame.weight);
        }
    }
}
