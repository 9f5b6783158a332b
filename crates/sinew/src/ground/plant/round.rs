//! Rounds before and after a clip that repeats, so that its first frame continues its last.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    ClipAnalysis, Contacts, FootCurve, Interval, Plan, Planted,
    contact::{ContactLimits, repeated},
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
        let last = given.len() - 1;
        // The round before, the clip, and the round after: samples of the clip, and what a round moves them by.
        let rounds = [(0..=lead - 1, 0), (0..=last, 1), (last - lead + 1..=last, 2)];
        let all: Vec<(usize, usize)> =
            rounds.into_iter().flat_map(|(samples, part)| samples.map(move |i| (i, part))).collect();
        let moved = |at: &dyn Fn(usize) -> Vec3| {
            [at(0) - at(lead), Vec3::ZERO, at(last) - at(last - lead)].map(|by| by.with_y(0.0))
        };
        let hips = moved(&|i| given.pelvis[i]);
        let around = |curve: &FootCurve| {
            let feet = moved(&|i| curve.samples[i].ankle);
            let sample = |&(i, part): &(usize, usize)| match part {
                1 => curve.samples[i],
                _ => curve.samples[i].stretched(hips[part], feet[part]),
            };
            let mut long = FootCurve {
                samples: all.iter().map(sample).collect(),
                upright: all.iter().map(|(i, _)| curve.upright[*i]).collect(),
                bones: all.iter().map(|(i, _)| curve.bones[*i]).collect(),
                ..FootCurve::default()
            };
            long.measure(given.step, given.per_key);
            // All rounds have the contacts that the first or the last has in the clip, whose ends know speeds to one side only,
            // or that one has between others.
            let (own, round) = (curve.contacts(given.step, limits), given.cycle);
            let between = curve.given.is_none().then(|| long.contacts(given.step, limits));
            let [begin, end, to] = [lead, last, all.len() - 1].map(|i| i as f32 * given.step);
            let of = |point: fn(&Contacts) -> &[Interval]| {
                let between = between.iter().flat_map(|c| part(point(c), begin, round));
                let own = [0.0, end - round].into_iter().flat_map(|from| part(point(&own), from, round));
                let mut list: Vec<Interval> = own.chain(between).collect();
                list.sort_by(|a, b| a.from.total_cmp(&b.from));
                repeated(list.into_iter(), round, begin - round, to)
            };
            long.given = Some(Contacts { heel: of(|c| &c.heel), ball: of(|c| &c.ball) });
            long
        };
        let long = ClipAnalysis {
            pelvis: all.iter().map(|&(i, part)| given.pelvis[i] + hips[part]).collect(),
            carry: all.iter().map(|&(i, part)| given.carry[i] + hips[part]).collect(),
            upright: all.iter().map(|(i, _)| given.upright[*i]).collect(),
            feet: given.feet.iter().map(around).collect(),
            ..given.clone()
        };
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

/// Parts of contacts within `length` seconds from a time, in seconds from there.
fn part(list: &[Interval], from: f32, length: f32) -> impl Iterator<Item = Interval> {
    let cut = move |c: &Interval| Interval { from: (c.from - from).max(0.0), to: (c.to - from).min(length) };
    list.iter().map(cut).filter(|c| c.length() > 0.0)
}
