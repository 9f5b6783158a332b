//! Rounds before and after a clip that repeats, so that its first frame continues its last.

use alloc::vec::Vec;

use glam::Vec3;

use super::{ClipAnalysis, Contacts, FootCurve, Interval, Plan, Planted, contact::ContactLimits};
use crate::math;

/// Times nearer than this are the same, in seconds.
const SAME: f32 = 1e-4;

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
            let up = |t: f32| curve.upright[near(t)];
            let upright = before().map(up).chain(curve.upright.iter().copied()).chain(after().map(up));
            let bones = |t: f32| curve.bones[near(t)];
            let bones = before().map(bones).chain(curve.bones.iter().copied()).chain(after().map(bones));
            *long = FootCurve {
                samples,
                upright: upright.collect(),
                bones: bones.collect(),
                heel_heights: Vec::new(),
                ball_heights: Vec::new(),
                heel_speeds: Vec::new(),
                ball_speeds: Vec::new(),
                given: None,
            };
            long.measure(step, given.per_key);
            // All rounds have the contacts that the first or the last has in the clip, whose ends know speeds to one side only,
            // or that the first has after another.
            let found = curve.contacts(step, limits);
            let after = curve.given.is_none().then(|| long.contacts(step, limits));
            let to = (long.samples.len() - 1) as f32 * step;
            let lead = lead as f32 * step;
            let of = |point: fn(&Contacts) -> &[Interval]| {
                let mut first = part(point(&found), 0.0, round);
                let last = part(point(&found), end - round, end);
                let after = after.iter().flat_map(|a| part(point(a), lead, lead + round));
                for more in last.into_iter().chain(after) {
                    let holds = |c: &Interval| c.from - SAME < more.from && more.to < c.to + SAME;
                    if !first.iter().any(holds) {
                        first.push(more);
                    }
                }
                repeated(first, round, lead - round, to)
            };
            long.given = Some(Contacts { heel: of(|c| &c.heel), ball: of(|c| &c.ball) });
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

/// Parts of contacts within an interval, in seconds from its start.
fn part(list: &[Interval], from: f32, to: f32) -> Vec<Interval> {
    let cut = |c: &Interval| Interval { from: c.from.max(from) - from, to: c.to.min(to) - from };
    list.iter().map(cut).filter(|c| c.length() > SAME).collect()
}

/// Contacts of a round of `round` seconds, repeated from `begin`, at most 0, to `end`, and cut to times from 0.
fn repeated(mut list: Vec<Interval>, round: f32, begin: f32, end: f32) -> Vec<Interval> {
    list.sort_by(|a, b| a.from.total_cmp(&b.from));
    let mut joined: Vec<Interval> = Vec::new();
    let rounds = (0..).map(|k| begin + k as f32 * round).take_while(|start| *start < end);
    for (start, contact) in rounds.flat_map(|start| list.iter().map(move |c| (start, c))) {
        let part = Interval { from: (start + contact.from).max(0.0), to: (start + contact.to).min(end) };
        match joined.last_mut() {
            _ if part.length() <= SAME => {}
            // They meet where one round ends and the next begins.
            Some(last) if part.from - last.to < SAME => last.to = last.to.max(part.to),
            _ => joined.push(part),
        }
    }
    joined
}
