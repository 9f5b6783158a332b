//! Height of the pelvis over a clip: it follows the standing feet and keeps all feet in reach.

use alloc::vec::Vec;

use super::{
    FootFrame, Planted,
    planner::{Planner, standing},
    reach::{highest, lowest},
    smoother::{BoundedSmoother, SoftTarget},
    swing::LIFT,
};

/// Bound on the pelvis from the legs' reach.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// No bound.
    Anywhere,
    /// In reach with heels lifted as far as allowed.
    OnTiptoe,
    /// In reach of the feet as planned.
    AsPlanned,
}

impl Planner<'_> {
    /// Degree to which a foot swings freely in the clip, from 0 to 1. A foot that drags over the floor nearly as slowly as a
    /// contact still bears the body and has 0. It has 1 from five times a contact's speed or three times its height.
    fn freedom(&self, foot: usize, i: usize) -> f32 {
        let settings = self.search.settings;
        let curve = &self.analysis.feet[foot];
        let height =
            curve.heel_heights[i].min(curve.ball_heights[i]) / (settings.contact_height * self.search.leg);
        let speed =
            curve.heel_speeds[i].min(curve.ball_speeds[i]) / (settings.contact_speed * self.search.scale);
        (0.5 * (height - 1.0)).max(0.25 * (speed - 1.0)).clamp(0.0, 1.0)
    }

    /// Largest acceleration with which a foot in the air follows the body, in m/s^2: that of a lift, or 1.5 times that of
    /// the clip's own swings.
    ///
    /// A path of least jerk over a distance w in a time T, from rest to rest, peaks at 10 / sqrt(3) w / T^2. That is 40
    /// m/s^2 for a walker's foot (1.3 m in 0.43 s) and twice as much for a runner's (3.7 m in 0.54 s). A runner up a slope
    /// of 20 degrees is 10 cm higher 40 ms after push-off; a walker's acceleration would hold his hips down to the foot
    /// behind him.
    fn pull(&self, foot: usize, planted: &[Planted]) -> f32 {
        const LEAST_JERK: f32 = 5.7735;
        const AGAIN: f32 = 1.5;
        let curve = &self.analysis.feet[foot];
        let ankle = |time: f32| curve.at(time, self.analysis.step).ankle;
        let lift = LIFT * self.search.leg / 0.9;
        standing(planted).windows(2).fold(lift, |most, pair| {
            let (leaves, lands) = (pair[0].0.time.to, pair[1].0.time.from);
            let span = (lands - leaves).max(self.analysis.step);
            let way = (ankle(lands) - ankle(leaves)).with_y(0.0).length();
            most.max(AGAIN * LEAST_JERK * way / (span * span))
        })
    }

    /// Raise of the pelvis at each sample, in metres. It follows the standing feet without lag and keeps feet in `reach`.
    pub(super) fn pelvis(&self, feet: &[Vec<FootFrame>], planted: &[Vec<Planted>], reach: Reach) -> Vec<f32> {
        // Weights of a foot in the air. One swinging foot counts a little, so that the body rises during a step and not
        // after it. While no foot stands it counts less, so that a flight is one arc from push-off to landing.
        const SWINGING: f64 = 0.25;
        const FLIGHT: f64 = 0.1;
        // Weight where the bounds of two feet contradict each other. The body is then held at the low foot's bound: firmly,
        // but without a jump at the ends of such a stretch (smoothed over 2.9 samples).
        const TORN: f64 = 25.0;
        let settings = self.search.settings;
        // From the first landing to the last push-off.
        let known = planted.iter().flatten().filter(|p| p.foothold.is_ok()).map(|p| p.stance.time);
        let (first, last) =
            known.fold((f32::INFINITY, 0.0f32), |(a, b), time| (a.min(time.from), b.max(time.to)));
        let pulls: Vec<f32> =
            planted.iter().enumerate().map(|(foot, planted)| self.pull(foot, planted)).collect();
        let objectives: Vec<SoftTarget> = (0..self.analysis.len())
            .map(|i| {
                let time = i as f32 * self.analysis.step;
                let (mut sum, mut weight, mut stands) = (0.0, 1e-6, false);
                let (mut high, mut low) = (f32::INFINITY, f32::NEG_INFINITY);
                for (foot, planted) in planted.iter().enumerate() {
                    let (frame, sample) = (&feet[foot][i], &self.analysis.feet[foot].samples[i]);
                    let at = planted.iter().filter(|p| p.stance.time.contains(time));
                    let at = at.filter_map(|p| Some((&p.stance, p.foothold.as_ref().ok()?))).next();
                    let standing = at.is_some();
                    stands |= standing;
                    let w = frame.weight as f64 * if standing { 1.0 } else { SWINGING };
                    sum += w * (frame.ankle.y - sample.ankle.y) as f64;
                    weight += w;
                    if reach != Reach::Anywhere && frame.weight > 0.5 {
                        // A foot in the air moves to the body rather than the body to it, within the distance that it can
                        // cover since push-off or until landing.
                        let away = planted
                            .iter()
                            .filter(|p| p.foothold.is_ok())
                            .map(|p| (p.stance.time.from - time).max(time - p.stance.time.to))
                            .fold(f32::INFINITY, f32::min);
                        let away = away.max(0.0);
                        let slack = (0.5 * pulls[foot] * away * away).min(self.search.leg);
                        let slack = slack * self.freedom(foot, i);
                        let top = match at {
                            Some((stance, foothold)) if reach == Reach::OnTiptoe => {
                                self.tiptoe(foot).highest(stance, foothold, i)
                            }
                            _ => highest(sample, frame.ankle, settings),
                        };
                        high = high.min(top + slack);
                        low = low.max(lowest(sample, frame.ankle));
                    }
                }
                let (target, weight) = (
                    sum / weight,
                    if stands {
                        1.0
                    } else if time < first || time > last {
                        SWINGING
                    } else {
                        FLIGHT
                    },
                );
                // Contradicting bounds: the low foot's reach decides.
                let (target, weight) = if low > high { (high as f64, TORN) } else { (target, weight) };
                SoftTarget { target, weight, high: high as f64, low: low as f64 }
            })
            .collect();
        // A gain of 1/2 at `pelvis_rate`: stiffness = 1 / w^4 for w radians per sample.
        let w = core::f64::consts::TAU * settings.pelvis_rate as f64 * self.analysis.step as f64;
        let mut smoother = BoundedSmoother::default();
        smoother.settle(&objectives, 1.0 / (w * w * w * w)).iter().map(|&x| x as f32).collect()
    }
}
