//! Rounds before and after a clip that repeats, so that its first frame continues its last.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    ClipAnalysis, Contacts, FootCurve, Interval, Plan, Planted, analysis::SampledCurve,
    contact::ContactLimits,
};
use crate::math;

/// A clip between two more rounds of itself. A plan of all of them has no ends where the clip has none.
pub(super) struct Rounds {
    /// The clip without them; `None` for a clip that does not repeat.
    given: Option<ClipAnalysis>,
    /// Samples before the clip.
    lead: usize,
}

impl Rounds {
    /// Puts a round before and after a clip that repeats.
    pub fn around(given: ClipAnalysis, limits: &ContactLimits) -> (ClipAnalysis, Self) {
        let lead = math::floor(given.cycle / given.step + 1e-3) as usize;
        if (given.cycles <= 1 && given.travel == Vec3::ZERO) || lead < 2 || !closes(&given, lead) {
            return (given, Self { given: None, lead: 0 });
        }
        let mut long = given.clone();
        let round = given.cycle;
        let last = given.len() - 1;
        let end = last as f32 * given.step;
        // Times in the clip of samples before it and after it.
        let before = || (0..lead).map(|i| round - (lead - i) as f32 * given.step);
        let after = || (1..=lead).map(|i| end - round + i as f32 * given.step);
        let step = given.step;
        let of = |values: &[Vec3], t: f32| {
            let at = (t / step).clamp(0.0, (values.len() - 1) as f32);
            let i = (at as usize).min(values.len().saturating_sub(2));
            values[i].lerp(values[(i + 1).min(values.len() - 1)], at - i as f32)
        };
        // What a round moves points by, at the start and at the end.
        let moved = |f: &dyn Fn(f32) -> Vec3| [f(round) - f(0.0), f(end) - f(end - round)];
        let around = |values: &[Vec3], by: [Vec3; 2]| -> Vec<Vec3> {
            let mut all: Vec<Vec3> = before().map(|t| of(values, t) - by[0]).collect();
            all.extend_from_slice(values);
            all.extend(after().map(|t| of(values, t) + by[1]));
            all
        };
        let hips = moved(&|t| of(&given.pelvis, t).with_y(0.0));
        long.pelvis = around(&given.pelvis, hips);
        long.carry = around(&given.carry, moved(&|t| of(&given.carry, t)));
        let near = |t: f32| ((t / step + 0.5) as usize).min(last);
        let turn = |t: f32| given.upright[near(t)];
        long.upright =
            before().map(turn).chain(given.upright.iter().copied()).chain(after().map(turn)).collect();
        for (long, curve) in long.feet.iter_mut().zip(&given.feet) {
            let feet = moved(&|t| curve.at(t, step).ankle.with_y(0.0));
            let mut samples: Vec<_> =
                before().map(|t| curve.at(t, step).stretched(-hips[0], -feet[0])).collect();
            samples.extend_from_slice(&curve.samples);
            samples.extend(after().map(|t| curve.at(t, step).stretched(hips[1], feet[1])));
            let numbers = |values: &[f32]| -> Vec<f32> {
                let curve = SampledCurve { values, step };
                let first = before().map(|t| curve.value(t));
                first.chain(values.iter().copied()).chain(after().map(|t| curve.value(t))).collect()
            };
            let up = |t: f32| curve.upright[near(t)];
            let upright = before().map(up).chain(curve.upright.iter().copied()).chain(after().map(up));
            let bones = |t: f32| curve.bones[near(t)];
            let bones = before().map(bones).chain(curve.bones.iter().copied()).chain(after().map(bones));
            *long = FootCurve {
                samples,
                upright: upright.collect(),
                bones: bones.collect(),
                heel_heights: numbers(&curve.heel_heights),
                ball_heights: numbers(&curve.ball_heights),
                heel_speeds: numbers(&curve.heel_speeds),
                ball_speeds: numbers(&curve.ball_speeds),
                given: Some({
                    // Contacts repeat as they are found in the clip.
                    let contacts = curve.contacts(step, limits);
                    let repeat = |list: &[Interval]| repeated(list, round, end, lead as f32 * step);
                    Contacts { heel: repeat(&contacts.heel), ball: repeat(&contacts.ball) }
                }),
            };
        }
        (long, Self { given: Some(given), lead })
    }

    /// Cuts a plan of all rounds to the clip.
    pub fn cut(self, mut plan: Plan) -> Plan {
        let Some(given) = self.given else { return plan };
        let (count, step) = (given.len(), given.step);
        let end = (count - 1) as f32 * step;
        let lead = self.lead as f32 * step;
        fn keep<T>(values: &mut Vec<T>, lead: usize, count: usize) {
            values.drain(..lead);
            values.truncate(count);
        }
        keep(&mut plan.hips, self.lead, count);
        keep(&mut plan.lean, self.lead, count);
        keep(&mut plan.base, self.lead, count);
        for feet in &mut plan.feet {
            keep(feet, self.lead, count);
        }
        let within = |i: &Interval| {
            let cut = Interval { from: (i.from - lead).max(0.0), to: (i.to - lead).min(end) };
            (cut.length() > 0.0).then_some(cut)
        };
        for stances in &mut plan.stances {
            stances.retain_mut(|Planted { stance, .. }| {
                stance.heel = stance.heel.iter().filter_map(within).collect();
                stance.ball = stance.ball.iter().filter_map(within).collect();
                let inside = within(&stance.time);
                stance.time = inside.unwrap_or(stance.time);
                inside.is_some() && !(stance.heel.is_empty() && stance.ball.is_empty())
            });
        }
        plan.analysis = given;
        plan
    }
}

/// Whether a round ends as it starts: feet are no further from their place under the pelvis than they move in two samples.
fn closes(analysis: &ClipAnalysis, round: usize) -> bool {
    let round = round.min(analysis.len() - 1);
    analysis.feet.iter().all(|foot| {
        let under = |i: usize| foot.samples[i].ankle - analysis.pelvis[i];
        let largest = (0..round).map(|i| under(i + 1).distance(under(i))).fold(0.0, f32::max);
        under(round).distance(under(0)) <= 2.0 * largest
    })
}

/// Contacts of a clip of `end` seconds with those of a further `round` before and after it, from `lead` seconds before it.
fn repeated(list: &[Interval], round: f32, end: f32, lead: f32) -> Vec<Interval> {
    let moved = |from: f32, to: f32, by: f32| {
        list.iter().filter_map(move |c| {
            let part = Interval { from: c.from.max(from) + by, to: c.to.min(to) + by };
            (part.length() > 0.0).then_some(part)
        })
    };
    let all = moved(round - lead, round, lead - round).chain(moved(0.0, end, lead)).chain(moved(
        end - round,
        end - round + lead,
        lead + round,
    ));
    let mut joined: Vec<Interval> = Vec::new();
    for part in all {
        match joined.last_mut() {
            // They meet where one round ends and the next begins.
            Some(last) if part.from - last.to < 1e-4 => last.to = part.to,
            _ => joined.push(part),
        }
    }
    joined
}
