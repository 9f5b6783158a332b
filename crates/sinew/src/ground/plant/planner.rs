//! Context of planning, and the foothold of each stance.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    ClipAnalysis, Figure, Foothold, FootholdSearch, PlanError, Unplanted,
    contact::ContactLimits,
    stance::{Stance, stances},
    tiptoe::Tiptoe,
};

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

/// Stances with a foothold.
pub(super) fn standing(planted: &[Planted]) -> Vec<(&Stance, &Foothold)> {
    planted.iter().filter_map(|p| Some((&p.stance, p.foothold.as_ref().ok()?))).collect()
}

/// Context of planning.
pub(super) struct Planner<'a> {
    pub(super) figure: &'a Figure,
    pub(super) analysis: &'a ClipAnalysis,
    pub(super) search: FootholdSearch<'a>,
}

impl Planner<'_> {
    /// Finds the height of the ground under the pelvis at each sample, each cast around the height of the one before.
    pub(super) fn base(&self) -> Result<Vec<f32>, PlanError> {
        let analysis = self.analysis;
        let floor = self.floor();
        let start = analysis.pelvis.first().copied().unwrap_or(Vec3::ZERO);
        // At the start the ground may be at any height: the first cast reaches a step, the next one anywhere.
        let first = self.search.height(start, floor).map(|(y, _)| y).or_else(|| self.anywhere(floor));
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

    /// Height of the ground under the first sample of the pelvis that has any, within a thousand legs of `floor`.
    fn anywhere(&self, floor: f32) -> Option<f32> {
        let reach = 1000.0 * self.search.leg;
        self.analysis.pelvis.iter().find_map(|p| {
            let from = Vec3::new(p.x, floor + reach, p.z);
            let hit =
                self.search.ground.cast_ray(from, Vec3::NEG_Y, 2.0 * reach, &self.search.settings.filter)?;
            Some(from.y - hit.distance)
        })
    }

    fn base_at(&self, base: &[f32], time: f32) -> f32 {
        let i = ((time / self.analysis.step) as usize).min(base.len() - 1);
        base[i]
    }

    pub(super) fn stances(&self, foot: usize, limits: &ContactLimits, base: &[f32]) -> Vec<Planted> {
        let analysis = self.analysis;
        let curve = &analysis.feet[foot];
        let leg = &self.figure.legs()[foot];
        let low = 2.0 * limits.height;
        stances(curve, analysis.step, limits, low)
            .into_iter()
            .map(|mut stance| {
                let middle = 0.5 * (stance.time.from + stance.time.to);
                let (heel, ball, length) = stance.place(curve, analysis.step, leg.yaw);
                let tip = curve.samples.first().map_or(0.0, |s| (s.tip - s.ball).length());
                let found = self.search.find(heel, ball, length, tip, self.base_at(base, middle));
                let foothold = found.map(|mut f| {
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

    /// Height of the clip's floor, in metres.
    fn floor(&self) -> f32 {
        self.analysis.floor(&ContactLimits::new(self.figure, self.search.settings))
    }

    /// Height of the ground under the body above the floor of the clip, at each sample.
    pub(super) fn over_floor(&self, base: &[f32]) -> Vec<f32> {
        let floor = self.floor();
        base.iter().map(|b| b - floor).collect()
    }

    pub(super) fn tiptoe(&self, foot: usize) -> Tiptoe<'_> {
        let FootholdSearch { settings, scale, .. } = self.search;
        Tiptoe { curve: &self.analysis.feet[foot], step: self.analysis.step, scale, settings }
    }
}
