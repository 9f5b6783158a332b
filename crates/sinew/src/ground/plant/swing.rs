//! Clearance of swinging feet over the ground.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    FootFrame, FootSample, FootholdSearch, Interval, Planted,
    analysis::FootCurve,
    reach::{lowest, reach_bent},
    smoother::{BoundedSmoother, SoftTarget},
};
use crate::math;

/// Time next to a stance, in seconds, in which the required clearance fades to none.
const NEAR: f32 = 0.12;
/// Time constant of a lift's decay to either side, in seconds: the smoother's length, (stiffness / weight)^1/4. It is a
/// third of a walk's swing. A longer one takes the foot too far from its path, a shorter one jerks the knee.
const SPREAD: f32 = 0.14;
/// Largest pitch of the sole up from the ground's pitch that is asked for, in radians: 15 degrees, an ankle's range without
/// effort.
const TOES_UP: f32 = 0.26;
/// Further pitch that smoothing may add, in radians: 23 degrees, for 38 in all, an ankle's full range.
const SWING_ON: f32 = 0.4;
/// Largest pitch from the clip's sole that is asked for, in radians.
const MOST_PITCH: f32 = 1.0;

/// Height of bumps that a foot is lifted over at any time, in metres for a figure of 1.8 m.
const LITTLE: f32 = 0.03;

/// Fraction of the clip's flexion that a leg in the air keeps; the foot is lifted for it.
const KEPT: f32 = 0.5;

/// Horizontal distance ahead of the ankle from which pitching the foot raises a point, as a fraction of the distance to the
/// ball.
const TOES_FROM: f32 = 0.6;

/// Largest acceleration of a lift, in m/s^2 for legs of 0.9 m: twice that of a brisk walk (see [`Swing::rise`]).
pub(super) const LIFT: f32 = 40.0;

/// Clears the swings of one foot. Toes that would catch are pitched up first, as people do; the remaining height is lifted.
pub(super) struct Swing<'a> {
    search: FootholdSearch<'a>,
    curve: &'a FootCurve,
    step: f32,
    standing: Vec<Interval>,
}

/// Largest lack of clearance over the points of a foot.
#[derive(Clone, Copy, Default)]
struct Shortfall {
    /// Height that is missing, in metres; negative above the required clearance.
    need: f32,
    /// Distance of the point ahead of the ankle, in metres.
    ahead: f32,
}

impl<'a> Swing<'a> {
    /// Takes a foot's samples, `step` seconds apart, and its stances.
    pub(super) fn new(
        search: FootholdSearch<'a>,
        curve: &'a FootCurve,
        step: f32,
        planted: &[Planted],
    ) -> Self {
        let standing = planted.iter().filter(|p| p.foothold.is_ok()).map(|p| p.stance.time).collect();
        Self { search, curve, step, standing }
    }

    /// Clears the frames of this foot. `base` is the height of the ground under the body at each sample, `pelvis` the raise
    /// of the pelvis if it is known, both in metres.
    pub(super) fn clear(&self, frames: &mut [FootFrame], base: &[f32], pelvis: Option<&[f32]>) {
        let mut smoother = BoundedSmoother::default();
        self.hold_back(&mut smoother, frames, base, pelvis);
        // Remaining pitch of each sole.
        let room: Vec<f32> = frames
            .iter()
            .enumerate()
            .map(|(i, frame)| {
                let (_, forward) = sides(frame);
                let sample = &self.curve.samples[i];
                let sole = math::rotate(frame.turn, sample.ball - sample.heel);
                let now = math::atan2(sole.y, sole.dot(forward));
                (TOES_UP + self.slope(frame, forward, base[i]) - now).max(0.0)
            })
            .collect();
        let mut pitch: Vec<SoftTarget> = self.objectives(frames, |i, frame| {
            let short = self.shortfall(i, frame, base[i]);
            let (_, forward) = sides(frame);
            // Pitching raises toes, but hardly a point below the ankle.
            let ball = math::rotate(frame.turn, self.curve.samples[i].ball).dot(forward);
            if short.ahead <= TOES_FROM * ball.max(0.0) {
                0.0
            } else {
                (short.need / short.ahead).min(room[i]).min(MOST_PITCH)
            }
        });
        // A sudden pitch overshoots in the smoother, within the ankle's range.
        for (objective, room) in pitch.iter_mut().zip(&room) {
            objective.high = objective.high.min((*room + SWING_ON) as f64);
        }
        self.settle(&mut smoother, &pitch, |i, angle| {
            let (across, _) = sides(&frames[i]);
            frames[i].turn = math::mul(math::axis_angle(across, -angle), frames[i].turn);
        });
        let lift =
            self.objectives(frames, |i, frame| self.shortfall(i, frame, base[i]).need.min(self.rise(i)));
        self.settle(&mut smoother, &lift, |i, lift| frames[i].ankle.y += lift);
    }

    /// Lowers a foot within its clearance where the body has sunk onto it and the knee would flex beyond its range. `pelvis`
    /// is the raise of the pelvis at each sample, in metres.
    pub(super) fn let_down(&self, frames: &mut [FootFrame], base: &[f32], pelvis: &[f32]) {
        let objectives: Vec<SoftTarget> = frames
            .iter()
            .enumerate()
            .map(|(i, frame)| {
                if self.is_pinned(i) {
                    return SoftTarget::fixed(0.0);
                }
                let need = lowest(&self.curve.samples[i], frame.ankle) - pelvis[i];
                let clear = self.clearance(i, frame, base[i]).max(0.0);
                SoftTarget {
                    target: 0.0,
                    weight: 1.0,
                    low: need.max(0.0).min(clear) as f64,
                    high: clear as f64,
                }
            })
            .collect();
        self.settle(&mut BoundedSmoother::default(), &objectives, |i, by| frames[i].ankle.y -= by);
    }

    /// Moves a foot that is out of the leg's reach towards the hip.
    pub(super) fn pull_in(&self, frames: &mut [FootFrame], pelvis: &[f32]) {
        let hip = |i: usize| self.curve.samples[i].hip + Vec3::Y * pelvis[i];
        let objectives = self.objectives(frames, |i, frame| {
            let sample = &self.curve.samples[i];
            let clip = sample.flexion();
            // The further from a stance, the more of the clip's flexion the leg keeps.
            let bend = clip.min(self.search.settings.min_flexion).max(KEPT * clip * self.ramp(i));
            (frame.ankle - hip(i)).length() - reach_bent(sample, bend)
        });
        self.settle(&mut BoundedSmoother::default(), &objectives, |i, by| {
            frames[i].ankle += (hip(i) - frames[i].ankle).normalize_or_zero() * by;
        });
    }

    /// Delays or advances a foot where clearing an obstacle would need a faster lift than a leg's. It moves forward later
    /// when it leaves the ground before a riser, and sooner when it comes down past an edge.
    fn hold_back(
        &self,
        smoother: &mut BoundedSmoother,
        frames: &mut [FootFrame],
        base: &[f32],
        pelvis: Option<&[f32]>,
    ) {
        let count = frames.len();
        let last = self.step * count.saturating_sub(1) as f32;
        // Each swing: before the first stance, between two, after the last.
        for k in 0..=self.standing.len() {
            let before = k.checked_sub(1).and_then(|k| self.standing.get(k)).map(|s| s.to);
            let after = self.standing.get(k).map(|s| s.from);
            let (from, to) = (before.unwrap_or(f32::NEG_INFINITY), after.unwrap_or(f32::INFINITY));
            let index = |t: f32| ((t.clamp(0.0, last) / self.step) as usize).min(count - 1);
            let way = (frames[index(to + self.step)].ankle - frames[index(from)].ankle).with_y(0.0);
            let Some(ahead) = way.try_normalize() else { continue };
            for leaving in [true, false] {
                let objectives: Vec<SoftTarget> = self.objectives(frames, |i, frame| {
                    let time = i as f32 * self.step;
                    if time <= from || time >= to || (time - from < to - time) != leaving {
                        return 0.0;
                    }
                    let room = self.rise(i);
                    // The knee's range limits the lift as well.
                    let folds = |p: &[f32]| {
                        (p[i] - lowest(&self.curve.samples[i], frame.ankle)).max(LITTLE * self.search.scale)
                    };
                    let room = pelvis.map_or(room, |p| room.min(folds(p)));
                    let aside = if leaving { -ahead } else { ahead };
                    self.step_aside(i, frame, base[i], aside, room)
                });
                let aside = if leaving { -ahead } else { ahead };
                self.settle(smoother, &objectives, |i, by| frames[i].ankle += aside * by);
            }
        }
    }

    /// Distance in metres by which a foot must move along `aside` for a lift of at most `room` metres; 0 if none does.
    fn step_aside(&self, i: usize, frame: &FootFrame, base: f32, aside: Vec3, room: f32) -> f32 {
        if self.shortfall(i, frame, base).need <= room {
            return 0.0;
        }
        // Steps of 1.5 cm for a figure of 1.8 m, up to half a tread.
        const STEPS: usize = 10;
        let one = 0.015 * self.search.scale;
        (1..=STEPS)
            .map(|k| one * k as f32)
            .find(|by| {
                let moved = FootFrame { ankle: frame.ankle + aside * *by, ..*frame };
                self.shortfall(i, &moved, base).need <= room
            })
            .unwrap_or(0.0)
    }

    /// Objectives with the lower bound `least` at each sample in the air, and 0 at stances.
    fn objectives(&self, frames: &[FootFrame], least: impl Fn(usize, &FootFrame) -> f32) -> Vec<SoftTarget> {
        frames
            .iter()
            .enumerate()
            .map(|(i, frame)| {
                if self.is_pinned(i) {
                    return SoftTarget::fixed(0.0);
                }
                SoftTarget {
                    target: 0.0,
                    weight: 1.0,
                    low: least(i, frame).max(0.0) as f64,
                    high: f64::INFINITY,
                }
            })
            .collect()
    }

    /// Largest lift of a foot at a sample, in metres:
    ///
    /// ```text
    /// rise(t) = LITTLE + LIFT t^2 / 2,        t seconds from the sample next to the stance
    /// ```
    ///
    /// A foot with its toes under the next tread lacks the riser's whole height h in the first sample after its stance. A
    /// smoother that is held at 0 in one sample and at h in the next leaves them with the slope v = h / step. From there it
    /// follows v L sqrt(2) exp(-t / (L sqrt 2)) sin(t / (L sqrt 2)), L = [`SPREAD`], up to v L exp(-pi / 4) = 0.46 v L: four
    /// times the riser, straight up. With this bound the foot reaches h no sooner than t with h = LIFT t^2 / 2, at the slope
    /// 2 h / t. A riser of 12 cm, crossed after 80 ms, then throws it up by about 12 cm more. [`Swing::hold_back`] uses the
    /// same bound and delays the forward motion, so that the foot moves up and ahead in one arc, over one edge after the
    /// other.
    fn rise(&self, i: usize) -> f32 {
        let since = (self.away(i) - self.step).max(0.0);
        0.5 * LIFT * since * since * self.search.leg / 0.9 + LITTLE * self.search.scale
    }

    /// Whether the foot stands at a sample or a neighbour of it.
    fn is_pinned(&self, i: usize) -> bool {
        let time = i as f32 * self.step;
        self.near(time).any(|s| time >= s.from - self.step && time <= s.to + self.step)
    }

    /// Ramp from 0 at a stance to 1 at [`NEAR`] seconds from it.
    fn ramp(&self, i: usize) -> f32 {
        (self.away(i) / NEAR).clamp(0.0, 1.0)
    }

    /// Time to the nearest stance in seconds; 0 or less within one, infinity without any.
    fn away(&self, i: usize) -> f32 {
        let time = i as f32 * self.step;
        self.near(time).map(|s| (s.from - time).max(time - s.to)).fold(f32::INFINITY, f32::min)
    }

    /// Nearest stances to a time. Stances are disjoint and in order.
    fn near(&self, time: f32) -> impl Iterator<Item = &Interval> {
        let next = self.standing.partition_point(|s| s.to < time);
        self.standing[next.saturating_sub(1)..].iter().take(2)
    }

    fn settle(
        &self,
        smoother: &mut BoundedSmoother,
        objectives: &[SoftTarget],
        mut apply: impl FnMut(usize, f32),
    ) {
        // With nothing to clear the result is 0.
        if objectives.iter().all(|w| w.low <= 0.0) {
            return;
        }
        let spread = (SPREAD / self.step) as f64;
        for (i, x) in smoother.settle(objectives, spread * spread * spread * spread).iter().enumerate() {
            if *x != 0.0 {
                apply(i, *x as f32);
            }
        }
    }

    /// Pitch of the ground along `forward`, over about a stride, in radians (up is positive).
    fn slope(&self, frame: &FootFrame, forward: Vec3, base: f32) -> f32 {
        let reach = 0.4 * self.search.leg;
        let height = |by: f32| self.search.height(frame.ankle + forward * by, base).map(|(y, _)| y);
        match (height(-reach), height(reach)) {
            (Some(behind), Some(ahead)) => math::atan2(ahead - behind, 2.0 * reach).clamp(-0.6, 0.6),
            _ => 0.0,
        }
    }

    fn shortfall(&self, i: usize, frame: &FootFrame, base: f32) -> Shortfall {
        let worst = self.worst(i, frame, base);
        if worst.need > 0.0 { worst } else { Shortfall::default() }
    }

    /// Height by which the foot could come down, in metres; negative below the required clearance.
    fn clearance(&self, i: usize, frame: &FootFrame, base: f32) -> f32 {
        let worst = self.worst(i, frame, base);
        if worst.need.is_finite() { -worst.need } else { 0.0 }
    }

    fn worst(&self, i: usize, frame: &FootFrame, base: f32) -> Shortfall {
        let scale = self.search.scale;
        let clearance = self.search.settings.clearance * scale;
        // Give of a shoe's sole next to a stance.
        let give = 0.004 * scale;
        let ramp = self.ramp(i);
        let sample: &FootSample = &self.curve.samples[i];
        // A foot that drags over the floor in the clip may do so on the ground.
        let own = self.curve.heel_heights[i].min(self.curve.ball_heights[i]);
        let keep = (clearance * ramp).min(own) - give * (1.0 - ramp);
        let base = self.search.base_near(base, frame.ankle.y);
        let (_, forward) = sides(frame);
        let mut worst = Shortfall { need: f32::NEG_INFINITY, ahead: 0.0 };
        let tip = sample.ball + math::rotate(frame.toes, sample.tip - sample.ball);
        let along = |s: f32| sample.heel.lerp(sample.ball, s);
        for point in [sample.heel, along(0.25), along(0.5), along(0.75), sample.ball, tip] {
            let offset = math::rotate(frame.turn, point);
            let at = frame.ankle + offset;
            let Some((ground, _)) = self.search.height(at, base) else { continue };
            let need = ground + keep - at.y;
            if need > worst.need {
                worst = Shortfall { need, ahead: offset.dot(forward) };
            }
        }
        worst
    }
}

/// Axis of the leg's flexion (a positive turn flexes the knee) and forward direction of the foot: horizontal unit vectors.
fn sides(frame: &FootFrame) -> (Vec3, Vec3) {
    let across = frame.knee_way.cross(frame.clip_line).with_y(0.0).normalize_or(Vec3::X);
    (across, across.cross(Vec3::Y))
}
