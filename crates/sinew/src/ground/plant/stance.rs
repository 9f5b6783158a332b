//! Stances: the intervals in which a foot stands.

use alloc::vec::Vec;

use glam::Vec3;

use super::{Contacts, FootSample, Interval, analysis::FootCurve, contact::ContactLimits, foothold::heading};
use crate::math;

/// Largest gap between contacts of one stance, in seconds, if the foot stays low. It may be longer where the foot slides by no
/// more than its sole: from heel to ball it stands on the same ground.
const GAP: f32 = 0.15;

/// Height up to which a foot slides, as a share of its sole from heel to ball: 2.5 cm for a figure of 1.8 m. Higher, it takes a step.
/// With a tenth, a walk backwards takes two steps for one that it drags (`lab/plant`); with a fifth, low steps to the side make one
/// stance.
const SLIDE: f32 = 0.125;

/// An interval in which a foot stands on one foothold.
#[derive(Clone, Debug, PartialEq)]
pub struct Stance {
    /// Interval from the first contact of heel or ball to the last, in seconds from the first sample.
    pub time: Interval,
    /// Contacts of the heel.
    pub heel: Vec<Interval>,
    /// Contacts of the ball.
    pub ball: Vec<Interval>,
}

/// Finds the stances of a foot from given contacts, or else from its heights and speeds. `low` is the height in metres up to
/// which a foot counts as low.
pub fn stances(curve: &FootCurve, step: f32, limits: &ContactLimits, low: f32) -> Vec<Stance> {
    joined(curve, curve.contacts(step, limits), step, low)
}

/// Joins contacts of a foot to stances.
fn joined(curve: &FootCurve, Contacts { heel, ball }: Contacts, step: f32, low: f32) -> Vec<Stance> {
    let mut all: Vec<(Interval, bool)> =
        heel.iter().map(|&i| (i, true)).chain(ball.iter().map(|&i| (i, false))).collect();
    all.sort_by(|a, b| a.0.from.total_cmp(&b.0.from));
    let mut found: Vec<Stance> = Vec::new();
    for (interval, is_heel) in all {
        let joins = found.last().is_some_and(|s: &Stance| {
            let (a, b) = (s.time.to, interval.from);
            let high = || {
                let heights =
                    curve.heel_heights.iter().zip(&curve.ball_heights).map(|(heel, ball)| heel.min(*ball));
                let [from, to] = [a, b].map(|time| (time / step) as usize);
                heights.take(to + 1).skip(from).fold(0.0, f32::max)
            };
            let slides = || {
                let [from, to] = [a, b].map(|t| curve.at(t, step));
                let moved = (to.heel_at() - from.heel_at()).with_y(0.0).length();
                let sole = (from.ball - from.heel).length();
                moved <= sole && high() <= SLIDE * sole
            };
            b <= a || (high() <= low && (b - a <= GAP || slides()))
        });
        if !joins {
            found.push(Stance { time: interval, heel: Vec::new(), ball: Vec::new() });
        }
        if let Some(s) = found.last_mut() {
            s.time.to = s.time.to.max(interval.to);
            if is_heel { &mut s.heel } else { &mut s.ball }.push(interval);
        }
    }
    found
}

impl Stance {
    /// Horizontal distance of the sole from the start of the stance to its end in the clip, in metres.
    pub fn distance(&self, curve: &FootCurve, step: f32) -> f32 {
        let last = curve.samples.len() - 1;
        let middle = |time: f32| {
            let s = &curve.samples[((time / step) as usize).min(last)];
            s.ankle + 0.5 * (s.heel + s.ball)
        };
        (middle(self.time.to) - middle(self.time.from)).with_y(0.0).length()
    }

    /// Position of heel and ball by the clip alone, seen from above, and the distance between them. The displacement of the
    /// foot to it averages to zero over the stance.
    pub fn place(&self, curve: &FootCurve, step: f32, yaw_offset: f32) -> (Vec3, Vec3, f32) {
        let last = curve.samples.len() - 1;
        let from = ((self.time.from / step) as usize).min(last);
        let to = (math::ceil(self.time.to / step) as usize).clamp(from, last);
        // The heading counts level soles most, as a vertical sole has none.
        let mut direction = Vec3::ZERO;
        for s in &curve.samples[from..=to] {
            let d = (s.ball - s.heel).with_y(0.0);
            let length = (s.ball - s.heel).length().max(f32::MIN_POSITIVE);
            direction += d * (d.length() / (length * length));
        }
        let direction = direction.normalize_or(Vec3::Z);
        let yaw = math::atan2(direction.x, direction.z) + yaw_offset;
        let along = heading(yaw);
        // Centre of a level sole with the pivot of each sample.
        let (mut middle, mut weight, mut length) = (Vec3::ZERO, 0.0, 0.0);
        for i in from..=to {
            let s = &curve.samples[i];
            let l = (s.ball - s.heel).length();
            let (h, b) = (curve.heel_heights[i], curve.ball_heights[i]);
            let to_ball = if h + b > 0.0 { h / (h + b) } else { 0.5 };
            let by_heel = s.heel_at() + along * (0.5 * l);
            let by_ball = s.ball_at() - along * (0.5 * l);
            middle += by_heel + (by_ball - by_heel) * to_ball;
            weight += 1.0;
            length += l;
        }
        let (middle, length) = (middle / weight, length / weight);
        (middle - along * (0.5 * length), middle + along * (0.5 * length), length)
    }
}

impl FootCurve {
    /// Interpolates the foot at a time in seconds: points linearly, `thigh` and `knee_way` from the sample before.
    pub fn at(&self, time: f32, step: f32) -> FootSample {
        let last = self.samples.len() - 1;
        let at = (time / step).clamp(0.0, last as f32);
        let i = (at as usize).min(last.saturating_sub(1));
        let (a, b, s) = (&self.samples[i], &self.samples[(i + 1).min(last)], at - i as f32);
        let mut mixed = *a;
        let FootSample { hip, knee, ankle, heel, ball, tip, .. } = &mut mixed;
        for (from, to) in
            [(hip, b.hip), (knee, b.knee), (ankle, b.ankle), (heel, b.heel), (ball, b.ball), (tip, b.tip)]
        {
            *from += (to - *from) * s;
        }
        mixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::plant::foothold::foot;

    /// Stances of a foot with contacts of the heel up to 0.1 s and of the ball from 0.3 s, which slides and lifts between them.
    fn found(slide: f32, lift: f32) -> Vec<Stance> {
        let share = |i: usize| ((i as f32 - 10.0) / 20.0).clamp(0.0, 1.0);
        let sample = |i: usize| {
            let mut s = foot();
            s.ankle.z += slide * share(i);
            s
        };
        let height = |i: usize| lift * 4.0 * share(i) * (1.0 - share(i));
        let curve = FootCurve {
            samples: (0..=50).map(sample).collect(),
            heel_heights: (0..=50).map(height).collect(),
            ball_heights: (0..=50).map(height).collect(),
            ..FootCurve::default()
        };
        let contacts = Contacts {
            heel: alloc::vec![Interval { from: 0.0, to: 0.1 }],
            ball: alloc::vec![Interval { from: 0.3, to: 0.5 }],
        };
        joined(&curve, contacts, 0.01, 0.05)
    }

    #[test]
    fn a_foot_that_slides_by_less_than_its_sole_stands_once() {
        let stances = found(0.1, 0.0);
        assert_eq!(stances.len(), 1);
        assert_eq!((stances[0].time.from, stances[0].time.to), (0.0, 0.5));
    }

    #[test]
    fn a_foot_that_slides_farther_or_lifts_stands_twice() {
        assert_eq!(found(0.3, 0.0).len(), 2);
        assert_eq!(found(0.1, 0.1).len(), 2);
    }

    #[test]
    fn a_low_step_is_a_step() {
        let sole = (foot().ball - foot().heel).length();
        assert_eq!(found(0.5 * sole, 0.15 * sole).len(), 2);
        assert_eq!(found(0.5 * sole, 0.1 * sole).len(), 1);
    }
}
