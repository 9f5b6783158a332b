//! Motion of feet from one foothold to the next, without regard to obstacles.

use alloc::vec::Vec;

use glam::{Quat, Vec3};

use super::{
    FootDisplacement, FootFrame, FootSample, Foothold, Planted, SampledCurve, Stance, Unplanted,
    hermite::{State, quintic},
    planner::{Planner, standing},
};
use crate::math;

/// Time in which a foot takes the body's height after its last foothold and before its first, in seconds: most of a swing.
const ALONE: f32 = 0.35;

/// Displacement of a foot from the clip: rotation vector of the foot, translation of the ankle in metres, and rotation
/// vector of the toes.
#[derive(Clone, Copy, Default)]
struct Offset {
    turn: Vec3,
    ankle: Vec3,
    toes: Vec3,
}

impl Offset {
    fn new(twist: &FootDisplacement, toes: Quat, clip: &FootSample) -> Self {
        Self {
            turn: math::rotation_vector(twist.turn),
            ankle: twist.ankle - clip.ankle,
            toes: math::rotation_vector(toes),
        }
    }

    /// Part of the displacement that stays before the first foothold and after the last.
    fn in_the_air(&self) -> Self {
        Self { ankle: self.ankle.with_y(0.0), ..Self::default() }
    }

    fn map2(a: Self, b: Self, f: impl Fn(Vec3, Vec3) -> Vec3) -> Self {
        Self { turn: f(a.turn, b.turn), ankle: f(a.ankle, b.ankle), toes: f(a.toes, b.toes) }
    }
}

fn rotation(vector: Vec3) -> Quat {
    let angle = vector.length();
    if angle > 0.0 { math::axis_angle(vector / angle, angle) } else { Quat::IDENTITY }
}

impl Planner<'_> {
    /// Frames of a foot at each sample, without regard to obstacles. In the air the foot follows the body, raised by `body`
    /// metres, plus a displacement between its footholds. `lifts` is the extra lift of the heel, in metres.
    pub(super) fn feet(
        &self,
        foot: usize,
        planted: &[Planted],
        body: &[f32],
        lifts: &[f32],
    ) -> Vec<FootFrame> {
        let analysis = self.analysis;
        let (curve, step) = (&analysis.feet[foot], analysis.step);
        let standing = standing(planted);
        let raised = SampledCurve { values: body, step };
        let lifted = SampledCurve { values: lifts, step };
        // Relative to the body.
        let offset = |(stance, foothold): (&Stance, &Foothold), time: f32| {
            let (twist, toes) = stance.twist_lifted(foothold, curve, step, time, lifted.value(time));
            let mut offset = Offset::new(&twist, toes, &curve.at(time, step));
            offset.ankle.y -= raised.value(time);
            offset
        };
        // Displacement and rate at the ends of a stance, over the sample inside it.
        let enter = |s: (&Stance, &Foothold)| {
            let (a, b) = (s.0.time.from, (s.0.time.from + step).min(s.0.time.to));
            (offset(s, a), rate(offset(s, a), offset(s, b), b - a))
        };
        let leave = |s: (&Stance, &Foothold)| {
            let (a, b) = ((s.0.time.to - step).max(s.0.time.from), s.0.time.to);
            (offset(s, b), rate(offset(s, a), offset(s, b), b - a))
        };
        let mut frames: Vec<FootFrame> = (0..analysis.len())
            .map(|i| {
                let time = i as f32 * step;
                let at = standing.iter().find(|s| s.0.time.contains(time));
                let before = standing.iter().rev().find(|s| s.0.time.to < time);
                let after = standing.iter().find(|s| s.0.time.from > time);
                let o = match (at, before, after) {
                    (Some(&s), ..) => offset(s, time),
                    (None, Some(&b), Some(&a)) => {
                        let ((bo, br), (ao, ar)) = (leave(b), enter(a));
                        let span = a.0.time.from - b.0.time.to;
                        between((bo, br), (ao, ar), span, time - b.0.time.to)
                    }
                    // Before the first foothold and after the last, the foot keeps the foothold's horizontal displacement
                    // and takes the body's height.
                    (None, Some(&b), None) => {
                        let (o, r) = leave(b);
                        between((o, r), (o.in_the_air(), Offset::default()), ALONE, time - b.0.time.to)
                    }
                    (None, None, Some(&a)) => {
                        let (o, r) = enter(a);
                        let air = (o.in_the_air(), Offset::default());
                        between(air, (o, r), ALONE, ALONE - (a.0.time.from - time))
                    }
                    // A foot that never stands follows the body.
                    (None, None, None) => Offset::default(),
                };
                FootFrame {
                    turn: rotation(o.turn),
                    toes: rotation(o.toes),
                    ankle: curve.samples[i].ankle + o.ankle + Vec3::Y * body[i],
                    knee_way: curve.samples[i].knee_way,
                    clip_line: curve.samples[i].ankle - curve.samples[i].hip,
                    weight: self.presence(planted, time),
                    influence: 1.0,
                }
            })
            .collect();
        for pair in standing.windows(2) {
            let [leave, enter] = [pair[0], pair[1]];
            let ankle = |s: (&Stance, &Foothold), t: f32| {
                s.0.twist_lifted(s.1, curve, step, t, lifted.value(t)).0.ankle
            };
            let ends = [leave.0.time.to, enter.0.time.from];
            self.rise_on_the_way(
                &mut frames,
                foot,
                body,
                ends,
                [ankle(leave, ends[0]), ankle(enter, ends[1])],
            );
        }
        frames
    }

    /// Makes the height between two footholds a function of the distance covered instead of time. A foot hardly moves
    /// forward at first, and by time it would be thrown up on the spot.
    fn rise_on_the_way(
        &self,
        frames: &mut [FootFrame],
        foot: usize,
        body: &[f32],
        [from, to]: [f32; 2],
        [start, end]: [Vec3; 2],
    ) {
        let step = self.analysis.step;
        let way = (end - start).with_y(0.0);
        // A step on the spot covers no distance.
        if way.length() < 0.3 * self.search.leg {
            return;
        }
        let raised = SampledCurve { values: body, step };
        let (first, last) = (start.y - raised.value(from), end.y - raised.value(to));
        let curve = &self.analysis.feet[foot];
        let (first, last) = (first - curve.at(from, step).ankle.y, last - curve.at(to, step).ankle.y);
        let (low, high) = (first + raised.value(from), last + raised.value(to));
        // A walker's foot moves by less than three legs between footholds. From four legs on it is a run with a flight, in
        // which the foot follows the body.
        let share = (4.0 - way.length() / self.search.leg).clamp(0.0, 1.0);
        // Only samples between the footholds, as a clip may have thousands of steps.
        let (begin, until) = ((from / step) as usize, (to / step) as usize + 2);
        for (i, frame) in frames.iter_mut().enumerate().take(until).skip(begin) {
            let time = i as f32 * step;
            if time <= from || time >= to {
                continue;
            }
            let s = (time - from) / (to - from);
            let ease = s * s * s * (10.0 + s * (6.0 * s - 15.0));
            let by_time = body[i] + first + (last - first) * ease;
            let on = ((frame.ankle - start).with_y(0.0).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            let by_way = low + (high - low) * on;
            // Both ends stay on their footholds.
            let fade = ((time - from).min(to - time) / (0.3 * (to - from))).min(1.0);
            let fade = fade * fade * (3.0 - 2.0 * fade);
            frame.ankle.y += share * fade * (by_way - by_time);
        }
    }

    /// Fade of planting: 1 on ground, smoothly 0 at stances without ground.
    fn presence(&self, planted: &[Planted], time: f32) -> f32 {
        const FADE: f32 = 0.25;
        let mut weight = 1.0f32;
        for p in planted.iter().filter(|p| p.foothold == Err(Unplanted::NoGround)) {
            let outside = (p.stance.time.from - time).max(time - p.stance.time.to).max(0.0);
            let s = (outside / FADE).min(1.0);
            weight = weight.min(s * s * (3.0 - 2.0 * s));
        }
        weight
    }

    /// Fades feet without ground to the clip's pose below the pelvis.
    pub(super) fn let_go(&self, foot: usize, frames: &mut [FootFrame], pelvis: &[f32]) {
        let curve = &self.analysis.feet[foot];
        for ((frame, sample), pelvis) in frames.iter_mut().zip(&curve.samples).zip(pelvis) {
            let kept = sample.ankle + Vec3::Y * *pelvis;
            frame.ankle = kept + (frame.ankle - kept) * frame.weight;
            frame.turn = math::slerp(Quat::IDENTITY, frame.turn, frame.weight);
            frame.toes = math::slerp(Quat::IDENTITY, frame.toes, frame.weight);
        }
    }
}

fn rate(a: Offset, b: Offset, time: f32) -> Offset {
    if time > 0.0 { Offset::map2(a, b, |a, b| (b - a) / time) } else { Offset::default() }
}

fn between(from: (Offset, Offset), to: (Offset, Offset), span: f32, time: f32) -> Offset {
    let part = |f: fn(&Offset) -> Vec3| {
        quintic(
            State { value: f(&from.0), rate: f(&from.1) },
            State { value: f(&to.0), rate: f(&to.1) },
            span,
            time,
        )
    };
    Offset { turn: part(|o| o.turn), ankle: part(|o| o.ankle), toes: part(|o| o.toes) }
}
