//! The times at which a foot stands, and how its heel and ball come to the ground and leave it.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    FootDisplacement, FootSample, Foothold, Interval,
    analysis::{FootCurve, SampledCurve},
    contact::{ContactLimits, intervals},
    foothold::heading,
    hermite::{State, quintic},
};
use crate::math;

/// Seconds in which a heel or ball that lifts catches up with the clip, and in which it comes down ahead of its contact:
/// about the length of a push-off.
const SETTLE: f32 = 0.2;

/// Contacts of one foot that are no further apart than this many seconds, with the foot low between them, are one stance.
const GAP: f32 = 0.15;

/// One stretch in which a foot stands in one place.
#[derive(Clone, Debug, PartialEq)]
pub struct Stance {
    /// From the first contact of heel or ball to the last.
    pub time: Interval,
    /// When the heel is in contact.
    pub heel: Vec<Interval>,
    /// When the ball is.
    pub ball: Vec<Interval>,
}

/// Finds the stances of a foot, by contacts that were given or else by its height and speed. `low` is the height under which
/// a foot counts as low (m).
pub fn stances(curve: &FootCurve, step: f32, limits: &ContactLimits, low: f32) -> Vec<Stance> {
    let (heel, ball) = match &curve.given {
        Some(given) => (given.heel.clone(), given.ball.clone()),
        None => (
            intervals(&curve.heel_heights, &curve.heel_speeds, step, limits),
            intervals(&curve.ball_heights, &curve.ball_speeds, step, limits),
        ),
    };
    let mut all: Vec<(Interval, bool)> =
        heel.iter().map(|&i| (i, true)).chain(ball.iter().map(|&i| (i, false))).collect();
    all.sort_by(|a, b| a.0.from.total_cmp(&b.0.from));
    let mut found: Vec<Stance> = Vec::new();
    for (interval, is_heel) in all {
        let joins = found.last().is_some_and(|s: &Stance| {
            let (a, b) = (s.time.to, interval.from);
            let stays_low = || {
                let range = (a / step) as usize..=(b / step) as usize;
                range
                    .filter_map(|i| Some(curve.heel_heights.get(i)?.min(*curve.ball_heights.get(i)?)))
                    .all(|h| h <= low)
            };
            b <= a || (b - a <= GAP && stays_low())
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

/// Height over the ground of a point whose height in the clip is `clip` and which is on the ground in `contacts`.
///
/// In contact it is 0. Out of it the clip's height comes back with a correction that leaves the contact with the clip's own
/// height and speed taken off, and dies away within [`SETTLE`]: the point moves without a jump in place or speed.
pub fn height(clip: SampledCurve<'_>, contacts: &[Interval], time: f32) -> f32 {
    if contacts.iter().any(|c| c.contains(time)) {
        return 0.0;
    }
    let before = contacts.iter().rev().find(|c| c.to < time).map(|c| c.to);
    let after = contacts.iter().find(|c| c.from > time).map(|c| c.from);
    let taken_off = |t: f32| State { value: Vec3::X * -clip.value(t), rate: Vec3::X * -clip.rate(t) };
    let rest = State::default();
    let correction = match (before, after) {
        (Some(b), Some(a)) if a - b < 2.0 * SETTLE => quintic(taken_off(b), taken_off(a), a - b, time - b).x,
        (b, a) => {
            let leave = b.map_or(0.0, |b| quintic(taken_off(b), rest, SETTLE, time - b).x);
            let arrive = a.map_or(0.0, |a| quintic(rest, taken_off(a), SETTLE, SETTLE - (a - time)).x);
            leave + arrive
        }
    };
    (clip.value(time) + correction).max(0.0)
}

impl Stance {
    /// Where the foot would stand by the clip alone: heel and ball seen from above, such that what the foot is moved by
    /// averages to nothing over the stance.
    pub fn place(&self, curve: &FootCurve, step: f32, yaw_offset: f32) -> (Vec3, Vec3, f32) {
        let last = curve.samples.len() - 1;
        let from = ((self.time.from / step) as usize).min(last);
        let to = ((self.time.to / step + 0.999) as usize).clamp(from, last);
        // Heading first, by the samples in which the sole is most level; a sole on end has no heading.
        let mut direction = Vec3::ZERO;
        for s in &curve.samples[from..=to] {
            let d = (s.ball - s.heel).with_y(0.0);
            let length = (s.ball - s.heel).length().max(f32::MIN_POSITIVE);
            direction += d * (d.length() / (length * length));
        }
        let direction = direction.normalize_or(Vec3::Z);
        let yaw = math::atan2(direction.x, direction.z) + yaw_offset;
        let along = heading(yaw);
        // The pivot of each sample, as the middle of a sole that would lie flat there.
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

    /// The foot of the clip as it stands on `foothold` at `time`, and how its toes lie.
    pub fn twist(
        &self,
        foothold: &Foothold,
        curve: &FootCurve,
        step: f32,
        time: f32,
    ) -> (FootDisplacement, Quat) {
        self.twist_lifted(foothold, curve, step, time, 0.0)
    }

    /// The same with the heel lifted by `extra` metres more than the clip has it.
    pub fn twist_lifted(
        &self,
        foothold: &Foothold,
        curve: &FootCurve,
        step: f32,
        time: f32,
        extra: f32,
    ) -> (FootDisplacement, Quat) {
        let sample = curve.at(time, step);
        let heel = height(SampledCurve { values: &curve.heel_heights, step }, &self.heel, time);
        let ball = height(SampledCurve { values: &curve.ball_heights, step }, &self.ball, time);
        let twist = foothold.stand(&sample, heel + extra, ball);
        // Toes keep the clip's angle to the floor, tilted with the ground and turned with the foot.
        let (_, yaw) = math::swing_twist(twist.turn, Vec3::Y);
        let toes = math::mul(foothold.toe_tilt(), yaw);
        (twist, math::mul(math::conjugate(twist.turn), toes))
    }
}

impl FootCurve {
    /// The foot between samples (each point on a straight line; lengths of the sole are restored).
    pub fn at(&self, time: f32, step: f32) -> FootSample {
        let last = self.samples.len() - 1;
        let at = (time / step).clamp(0.0, last as f32);
        let i = (at as usize).min(last.saturating_sub(1));
        let (a, b, s) = (&self.samples[i], &self.samples[(i + 1).min(last)], at - i as f32);
        let mix = |f: fn(&FootSample) -> Vec3| f(a) + (f(b) - f(a)) * s;
        FootSample {
            hip: mix(|f| f.hip),
            knee: mix(|f| f.knee),
            ankle: mix(|f| f.ankle),
            heel: mix(|f| f.heel),
            ball: mix(|f| f.ball),
            tip: mix(|f| f.tip),
            thigh: a.thigh,
            knee_way: a.knee_way,
        }
    }
}
