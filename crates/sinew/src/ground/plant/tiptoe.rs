//! Extra heel lift of a standing foot, which spares the pelvis a dip.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    Foothold, PlantOptions,
    analysis::FootCurve,
    reach::{highest, reach},
    smoother::{BoundedSmoother, SoftTarget},
    stance::Stance,
};

/// Sine of the steepest sole on its ball: 60 degrees, the bend of toes without effort.
const STEEPEST: f32 = 0.87;
/// Largest acceleration of a heel's lift, in m/s^2 for a figure of 1.8 m: a quarter of a swinging foot's.
const LIFT: f32 = 10.0;
/// Time constant of a lift's decay to either side, in seconds.
const SPREAD: f32 = 0.08;

/// Heel lift of one foot.
pub(super) struct Tiptoe<'a> {
    pub curve: &'a FootCurve,
    /// Time between samples, in seconds.
    pub step: f32,
    /// Height of the figure divided by 1.8 m.
    pub scale: f32,
    pub settings: &'a PlantOptions,
}

impl Tiptoe<'_> {
    /// Largest extra lift of the heel at a time of a stance, in metres: 0 while the heel is in contact or the ball is not,
    /// then as far as [`LIFT`] allows.
    fn most(&self, stance: &Stance, time: f32) -> f32 {
        let on_heel = stance.heel.iter().any(|h| h.contains(time));
        let on_ball = stance.ball.iter().any(|b| b.contains(time));
        if !on_ball || on_heel {
            return 0.0;
        }
        let left = stance.heel.iter().filter(|h| h.to < time).map(|h| h.to).fold(stance.time.from, f32::max);
        let since = time - left;
        let i = ((time / self.step) as usize).min(self.curve.samples.len() - 1);
        let sample = &self.curve.samples[i];
        let room = STEEPEST * (sample.ball - sample.heel).length() - self.curve.heel_heights[i];
        // A heel that has yet to come down is held up only if it lands after the ball in the clip too.
        let comes = stance.heel.iter().any(|h| h.from > time);
        let room = if comes { room.min(2.0 * self.curve.heel_heights[i]) } else { room };
        (0.5 * LIFT * self.scale * since * since).min(room.max(0.0))
    }

    /// Position of the ankle with the heel lifted by `extra` metres.
    fn ankle(&self, stance: &Stance, foothold: &Foothold, i: usize, extra: f32) -> Vec3 {
        let time = i as f32 * self.step;
        stance.twist_lifted(foothold, self.curve, self.step, time, extra).0.ankle
    }

    /// Largest raise of the pelvis at which the leg reaches the foot, on tiptoe if needed, at a sample of a stance, in
    /// metres.
    pub(super) fn highest(&self, stance: &Stance, foothold: &Foothold, i: usize) -> f32 {
        let sample = &self.curve.samples[i];
        let flat = highest(sample, self.ankle(stance, foothold, i, 0.0), self.settings);
        let most = self.most(stance, i as f32 * self.step);
        if most <= 0.0 {
            return flat;
        }
        flat.max(highest(sample, self.ankle(stance, foothold, i, most), self.settings))
    }

    /// Extra lift of the heel at each sample, in metres, with which the leg reaches from a pelvis raised by `pelvis`.
    /// `standing` are the stances with a foothold.
    pub(super) fn lifts(&self, standing: &[(&Stance, &Foothold)], pelvis: &[f32]) -> Vec<f32> {
        let mut objectives = alloc::vec![SoftTarget::fixed(0.0); self.curve.samples.len()];
        let mut any = false;
        for (stance, foothold) in standing {
            let from = (stance.time.from / self.step) as usize;
            let to = (stance.time.to / self.step + 1.0) as usize;
            for i in from..=to.min(objectives.len() - 1) {
                let time = i as f32 * self.step;
                if !stance.time.contains(time) {
                    // The swing continues the lift freely.
                    objectives[i] = SoftTarget::FREE;
                    continue;
                }
                let most = self.most(stance, time);
                let low = self.needed(stance, foothold, i, pelvis[i], most);
                any |= low > 0.0;
                objectives[i] = SoftTarget { target: 0.0, weight: 1.0, low: low as f64, high: most as f64 };
            }
        }
        if !any {
            return alloc::vec![0.0; objectives.len()];
        }
        let spread = (SPREAD / self.step) as f64;
        let mut smoother = BoundedSmoother::default();
        smoother.settle(&objectives, spread * spread * spread * spread).iter().map(|x| *x as f32).collect()
    }

    /// Smallest lift with which the leg reaches, in metres; `most` if none does and a lift helps, else 0. It is bisected to
    /// the resolution of `f32`, as a coarser result would jump with the input's last bit.
    fn needed(&self, stance: &Stance, foothold: &Foothold, i: usize, pelvis: f32, most: f32) -> f32 {
        let sample = &self.curve.samples[i];
        let hip = sample.hip + Vec3::Y * pelvis;
        let reach = reach(sample, self.settings);
        let reaches = |by: f32| (self.ankle(stance, foothold, i, by) - hip).length() <= reach;
        if most <= 0.0 || reaches(0.0) {
            return 0.0;
        }
        let far = |by: f32| (self.ankle(stance, foothold, i, by) - hip).length();
        if far(most) >= far(0.0) {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, most);
        for _ in 0..22 {
            let middle = 0.5 * (low + high);
            if reaches(middle) { high = middle } else { low = middle }
        }
        high
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::ground::plant::{FootSample, Interval};

    /// A foot that stands for a second at the origin: the heel leaves the floor half-way, the ball at the end. The hip
    /// goes over it from behind, a leg of one metre and one of knee and ankle halves.
    fn curve(step: f32) -> FootCurve {
        let count = 61;
        let heights: Vec<f32> = (0..count).map(|i| (0.002 * (i as f32 - 30.0)).max(0.0)).collect();
        let samples = heights
            .iter()
            .enumerate()
            .map(|(i, _)| {
                let along = 0.4 * (i as f32 * step - 0.5);
                FootSample {
                    hip: Vec3::new(0.0, 0.98, along),
                    knee: Vec3::new(0.0, 0.55, along + 0.05),
                    ankle: Vec3::new(0.0, 0.1, 0.0),
                    heel: Vec3::new(0.0, -0.1, -0.05),
                    ball: Vec3::new(0.0, -0.1, 0.15),
                    tip: Vec3::new(0.0, -0.1, 0.22),
                    ..FootSample::default()
                }
            })
            .collect();
        FootCurve {
            samples,
            heel_heights: heights,
            ball_heights: vec![0.0; count],
            heel_speeds: vec![0.0; count],
            ball_speeds: vec![0.0; count],
            given: None,
        }
    }

    #[test]
    fn a_heel_lifts_for_a_body_that_is_too_high_and_never_while_it_bears() {
        let step = 1.0 / 60.0;
        let curve = curve(step);
        let settings = PlantOptions::default();
        let tiptoe = Tiptoe { curve: &curve, step, scale: 1.0, settings: &settings };
        let stance = Stance {
            time: Interval { from: 0.0, to: 1.0 },
            heel: vec![Interval { from: 0.0, to: 0.5 }],
            ball: vec![Interval { from: 0.0, to: 1.0 }],
        };
        let foothold = Foothold {
            heel: Vec3::new(0.0, 0.0, -0.05),
            ball: Vec3::new(0.0, 0.0, 0.15),
            roll: 0.0,
            toes: 0.0,
            shift: 0.0,
            support: 1.0,
            heel_supported: true,
        };
        let standing = [(&stance, &foothold)];
        assert!(tiptoe.lifts(&standing, &[-0.3; 61]).iter().all(|l| *l == 0.0), "low enough needs no lift");
        let lifts = tiptoe.lifts(&standing, &[0.06; 61]);
        assert!(lifts[..=30].iter().all(|l| *l == 0.0), "the heel bears");
        assert!(lifts[50] > 0.01, "{lifts:?}");
        for (i, lift) in lifts.iter().enumerate().take(60).skip(40) {
            // What the higher body needs is within what tiptoe gives, and the leg then reaches.
            let flat = highest(&curve.samples[i], tiptoe.ankle(&stance, &foothold, i, 0.0), &settings);
            let high = tiptoe.highest(&stance, &foothold, i);
            assert!(high >= flat);
            if high >= 0.06 {
                let hip = curve.samples[i].hip + Vec3::Y * 0.06;
                let far = (tiptoe.ankle(&stance, &foothold, i, *lift) - hip).length();
                assert!(far <= reach(&curve.samples[i], &settings) + 1e-3, "{i}: {far}");
            }
        }
    }
}
