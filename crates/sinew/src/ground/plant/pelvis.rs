//! How the pelvis goes: with the feet that stand, and where all of them are in reach.

use alloc::vec::Vec;

use super::{
    FootFrame, Planted,
    planner::{Planner, standing},
    reach::{highest, lowest},
    smoother::{BoundedSmoother, SoftTarget},
    swing::LIFT,
};

/// How far the pelvis must be in reach of the feet.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// Not at all.
    Anywhere,
    /// With heels lifted as far as they may be.
    OnTiptoe,
    /// With the feet as they are.
    AsPlanned,
}

impl Planner<'_> {
    /// How free a foot is in the air, by what it does in the clip: 0 where it drags over the floor nearly
    /// as slowly as it would stand, which still bears the body; 1 where it is five times as fast, or
    /// three times as high, as a contact may be.
    fn freedom(&self, foot: usize, i: usize) -> f32 {
        let settings = self.search.settings;
        let curve = &self.analysis.feet[foot];
        let height =
            curve.heel_heights[i].min(curve.ball_heights[i]) / (settings.contact_height * self.search.leg);
        let speed =
            curve.heel_speeds[i].min(curve.ball_speeds[i]) / (settings.contact_speed * self.search.scale);
        (0.5 * (height - 1.0)).max(0.25 * (speed - 1.0)).clamp(0.0, 1.0)
    }

    /// How fast a foot in the air is drawn after the body at the most, in m/s^2: as fast as it is lifted, or half as fast
    /// again as the clip throws it ahead. Over a way w in a time T, from rest to rest, no way of least jerk does with
    /// less than 10 / sqrt(3) w / T^2: 40 m/s^2 where a walker's foot gets on by 1.3 m in 0.43 s, and twice that where a
    /// runner's foot goes 3.7 m in 0.54 s. A runner up a slope of 20 degrees is 10 cm higher 40 ms after his foot has
    /// left the ground behind him; a foot that may lag no more than a walker's would hold his hips down to it.
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

    /// How far the pelvis is raised: with the standing feet, without lag, and never so high that a foot is out of `reach`.
    pub(super) fn pelvis(&self, feet: &[Vec<FootFrame>], planted: &[Vec<Planted>], reach: Reach) -> Vec<f32> {
        // A foot in the air says a little about where the body should be, so that it rises through a step and not after it;
        // and while no foot stands, next to nothing, so that a flight goes from push-off to landing in one bow.
        const SWINGING: f64 = 0.25;
        const FLIGHT: f64 = 0.1;
        // Where one foot stands so low and the other is so high that the body can serve but one, it
        // is held as near to both as the low one allows: firmly, but not so that it would jump where
        // such a stretch begins or ends (2.9 samples).
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
                        // A foot in the air comes to the body rather than the body to it: as far as it can be drawn in the
                        // time that it has been, or will be, in the air.
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
                // A foot that stands low and one that is high: as high as the one reaches.
                let (target, weight) = if low > high { (high as f64, TORN) } else { (target, weight) };
                SoftTarget { target, weight, high: high as f64, low: low as f64 }
            })
            .collect();
        // Half of a motion at `pelvis_rate` is let through: stiffness = 1 / w^4 for w radians a sample.
        let w = core::f64::consts::TAU * settings.pelvis_rate as f64 * self.analysis.step as f64;
        let mut smoother = BoundedSmoother::default();
        smoother.settle(&objectives, 1.0 / (w * w * w * w)).iter().map(|&x| x as f32).collect()
    }
}
