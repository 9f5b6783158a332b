//! How a foot in the air gets over what lies in its way.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    FootFrame, FootSample, FootholdSearch, Interval, Planted,
    analysis::FootCurve,
    reach::{lowest, reach_bent},
    smoother::{BoundedSmoother, SoftTarget},
};
use crate::math;

/// Within this many seconds of a stance the foot comes as close to the ground as the stance itself has it.
const NEAR: f32 = 0.12;
/// A lift dies away to either side within about this many seconds: the beam's own length, (stiffness / weight)^1/4. A
/// third of a walk's swing: more takes the foot too far from its way, less jerks the knee.
const SPREAD: f32 = 0.14;
/// The sole is pitched up no further than this from the ground's own pitch, in radians (15 degrees: what an ankle does
/// without effort) ...
const TOES_UP: f32 = 0.26;
/// ... but where it swings on, by this much more (23 degrees: 38 in all, what an ankle does at the most) ...
const SWING_ON: f32 = 0.4;
/// ... and no further than this from where the clip has it.
const MOST_PITCH: f32 = 1.0;

/// Bumps of less than three centimetres are lifted over by any foot.
const LITTLE: f32 = 0.03;

/// A leg in the air keeps this share of the bend that the clip has, and lifts its foot for it.
const KEPT: f32 = 0.5;

/// From this share of the way from ankle to ball on, seen from above, pitching the foot raises a point rather than the foot.
const TOES_FROM: f32 = 0.6;

/// How fast a foot is lifted at the most, in m/s^2 for a grown figure: twice what a brisk walk does. (See [`Swing::rise`].)
pub(super) const LIFT: f32 = 40.0;

/// Clears one foot's swings: toes that would catch are pulled up first, as people do; what that leaves is lifted.
pub(super) struct Swing<'a> {
    search: FootholdSearch<'a>,
    curve: &'a FootCurve,
    step: f32,
    standing: Vec<Interval>,
}

/// The point of a foot that is worst off.
#[derive(Clone, Copy, Default)]
struct Shortfall {
    /// How much too low it is, in metres.
    need: f32,
    /// How far ahead of the ankle it is, in metres.
    ahead: f32,
}

impl<'a> Swing<'a> {
    /// `step` is in seconds a sample.
    pub(super) fn new(
        search: FootholdSearch<'a>,
        curve: &'a FootCurve,
        step: f32,
        planted: &[Planted],
    ) -> Self {
        let standing = planted.iter().filter(|p| p.foothold.is_ok()).map(|p| p.stance.time).collect();
        Self { search, curve, step, standing }
    }

    /// Changes the frames of this foot. `base` is the height of the ground under the body at each sample, `pelvis` the
    /// raise of the pelvis, where it is known.
    pub(super) fn clear(&self, frames: &mut [FootFrame], base: &[f32], pelvis: Option<&[f32]>) {
        let mut smoother = BoundedSmoother::default();
        self.hold_back(&mut smoother, frames, base, pelvis);
        // How much further each sole may be pitched up.
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
            // A point nearly below the ankle is not raised by pitching; toes are.
            let ball = math::rotate(frame.turn, self.curve.samples[i].ball).dot(forward);
            if short.ahead <= TOES_FROM * ball.max(0.0) {
                0.0
            } else {
                (short.need / short.ahead).min(room[i]).min(MOST_PITCH)
            }
        });
        // Toes that are to be up at once swing on; no further than an ankle goes.
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

    /// Lets a foot down as far as its clearance allows where the body has sunk onto it and the knee would fold further than
    /// knees do. `pelvis` is the raise of the pelvis at each sample.
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

    /// Brings a foot that is out of the leg's reach nearer to the hip.
    pub(super) fn pull_in(&self, frames: &mut [FootFrame], pelvis: &[f32]) {
        let hip = |i: usize| self.curve.samples[i].hip + Vec3::Y * pelvis[i];
        let objectives = self.objectives(frames, |i, frame| {
            let sample = &self.curve.samples[i];
            let clip = sample.flexion();
            // The longer it has been in the air, or will be, the more it keeps of the bend that the clip has.
            let bend = clip.min(self.search.settings.least_flexion).max(KEPT * clip * self.ramp(i));
            (frame.ankle - hip(i)).length() - reach_bent(sample, bend)
        });
        self.settle(&mut BoundedSmoother::default(), &objectives, |i, by| {
            frames[i].ankle += (hip(i) - frames[i].ankle).normalize_or_zero() * by;
        });
    }

    /// Where a foot would have to be lifted faster than a leg lifts, it is kept from what lies in its way instead: it goes
    /// forward later when it leaves the ground before a riser, and sooner when it comes down past an edge.
    fn hold_back(
        &self,
        smoother: &mut BoundedSmoother,
        frames: &mut [FootFrame],
        base: &[f32],
        pelvis: Option<&[f32]>,
    ) {
        let count = frames.len();
        let last = self.step * count.saturating_sub(1) as f32;
        // Every stretch in the air: before the first stance, between two, after the last.
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
                    // Nor is it lifted further than the knee folds.
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

    /// How far a foot must go aside for what remains to be lifted to be no more than `room`;
    /// nothing where that does not help.
    fn step_aside(&self, i: usize, frame: &FootFrame, base: f32, aside: Vec3, room: f32) -> f32 {
        if self.shortfall(i, frame, base).need <= room {
            return 0.0;
        }
        // Steps of a centimetre and a half for a grown figure, up to the depth of half a tread.
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

    /// At least so much at each sample in the air, nothing while the foot stands.
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

    /// How far a foot has been lifted since it stood, or is yet to come down until it stands, at the most:
    ///
    /// ```text
    /// rise(t) = LITTLE + LIFT t^2 / 2,        t seconds from the sample next to the stance
    /// ```
    ///
    /// What is to be lifted is cut to this. A foot that stands with its toes under the next tread, or pitches them into
    /// the riser as its heel leaves, lacks the riser's whole height h in the first sample after the stance. A beam that
    /// is held at 0 in one sample and at h in the next leaves the stop with the slope v = h / step. Beyond it, with
    /// weight and stiffness alone, it goes as v L sqrt(2) exp(-t / (L sqrt 2)) sin(t / (L sqrt 2)), L = [`SPREAD`], up to
    /// v L exp(-pi / 4) = 0.46 v L: to four times the riser, straight up. With the cut the foot may be at h no sooner
    /// than after t with h = LIFT t^2 / 2, at the slope 2 h / t: a riser of 12 cm, crossed after 80 ms, throws it by as
    /// much again and not by four times that. The way ahead waits for it behind the edge ([`Swing::hold_back`] asks for
    /// the same height), so that the foot goes up and ahead in one bow, over one edge after the other.
    fn rise(&self, i: usize) -> f32 {
        let since = (self.away(i) - self.step).max(0.0);
        0.5 * LIFT * since * since * self.search.leg / 0.9 + LITTLE * self.search.scale
    }

    /// Whether the foot stands at a sample, or next to it.
    fn is_pinned(&self, i: usize) -> bool {
        let time = i as f32 * self.step;
        self.near(time).any(|s| time >= s.from - self.step && time <= s.to + self.step)
    }

    /// 0 at a stance, 1 from [`NEAR`] on to either side of it.
    fn ramp(&self, i: usize) -> f32 {
        (self.away(i) / NEAR).clamp(0.0, 1.0)
    }

    /// Seconds to the nearest stance; nothing at one.
    fn away(&self, i: usize) -> f32 {
        let time = i as f32 * self.step;
        self.near(time).map(|s| (s.from - time).max(time - s.to)).fold(f32::INFINITY, f32::min)
    }

    /// The stances before and after a time, or at it. (Stances are in order and apart.)
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
        // Without anything to clear the beam lies flat.
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

    /// Pitch of the ground along the way ahead, over about a stride, in radians (up is positive).
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

    /// How far the foot could go down.
    fn clearance(&self, i: usize, frame: &FootFrame, base: f32) -> f32 {
        let worst = self.worst(i, frame, base);
        if worst.need.is_finite() { -worst.need } else { 0.0 }
    }

    fn worst(&self, i: usize, frame: &FootFrame, base: f32) -> Shortfall {
        let scale = self.search.scale;
        let clearance = self.search.settings.clearance * scale;
        // Next to a stance a shoe's sole gives way by this.
        let give = 0.004 * scale;
        let ramp = self.ramp(i);
        let sample: &FootSample = &self.curve.samples[i];
        // A clip that drags its feet over the floor may go on doing so.
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

/// The axis about which the leg's joints bend (a positive turn flexes the knee), and the way ahead of the foot; both level.
fn sides(frame: &FootFrame) -> (Vec3, Vec3) {
    let across = frame.knee_way.cross(frame.clip_line).with_y(0.0).normalize_or(Vec3::X);
    (across, across.cross(Vec3::Y))
}
