//! What the problem follows besides the clip: displacement of hips and soles with the ground, and the places of contacts.

use alloc::vec::Vec;

use glam::{DMat3, DVec3, Vec3};

use super::{
    constants::{LEG, SHORT},
    landing::Landing,
};
use crate::{
    ground::plant::{
        FootSample, Foothold, Interval, Planted, Stance,
        analysis::median,
        foothold::{pitch, slope},
        planner::Planner,
    },
    math, math64,
};

/// Time in which the height of the ground under the body is averaged to either side for a figure that never stands, in
/// seconds.
const SMOOTH: f32 = 0.25;

/// Displacement of a foot from the clip at one sample.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reference {
    /// Translation in metres.
    pub by: DVec3,
    /// Pitch of the sole up, yaw about the vertical, and lean of the ground to the right about the sole, in radians.
    pub pitch: f64,
    pub yaw: f64,
    pub roll: f64,
    /// Change of the displacement that the ground asks of the swing around the sample, in metres; in a stance, the larger of
    /// the swings before and after.
    pub change: f64,
    /// Horizontal direction of the step that the foot takes around the sample; `None` for a step that goes nowhere.
    pub along: Option<DVec3>,
    /// Places of heel and ball while they are in contact, in model space.
    pub holds: [Option<DVec3>; 2],
}

/// A stance with a foothold: times, the middle of the foothold, and the displacement from the clip.
struct Stand {
    time: Interval,
    middle: DVec3,
    at: Reference,
}

/// References of one foot at each sample. Between stances they pass from one to the next; before the first and after the
/// last they stay. `None` if the foot has no foothold.
pub(super) fn references(
    planner: &Planner<'_>,
    foot: usize,
    planted: &[Planted],
    landings: &[Landing],
) -> Option<Vec<Reference>> {
    let analysis = planner.analysis;
    let (curve, step) = (&analysis.feet[foot], analysis.step);
    let yaw = planner.figure.legs()[foot].yaw;
    let stands: Vec<Stand> = planned(planted)
        .map(|(stance, foothold)| {
            let (heel, ball, _) = stance.place(curve, step, yaw);
            let middle = 0.5 * (foothold.heel + foothold.ball);
            let by = middle - (0.5 * (heel + ball)).with_y(planner.floor);
            let at = Reference {
                by: by.as_dvec3(),
                pitch: f64::from(pitch(foothold.ball - foothold.heel)),
                yaw: f64::from(yaw),
                roll: f64::from(foothold.roll),
                ..Reference::default()
            };
            Stand { time: stance.time, middle: middle.as_dvec3(), at }
        })
        .collect();
    if stands.is_empty() {
        return None;
    }
    let changes = changes(planner, &stands);
    // From a stance to the next one, from where the clip begins, or to where it ends.
    let along = |k: usize| {
        let end = |sample: Option<&FootSample>, stand: &Stand| {
            let sole = sample.map(|s| s.ankle + 0.5 * (s.heel + s.ball));
            sole.map(|p| p.as_dvec3() + stand.at.by)
        };
        let from = match k.checked_sub(1) {
            Some(k) => Some(stands[k].middle),
            None => end(curve.samples.first(), &stands[0]),
        };
        let to = match stands.get(k) {
            Some(stand) => Some(stand.middle),
            None => end(curve.samples.last(), &stands[k - 1]),
        };
        let step = (to? - from?).with_y(0.0);
        let long = step.length() > SHORT * f64::from(planner.search.leg) / LEG;
        long.then(|| step.normalize())
    };
    let mut references: Vec<Reference> = (0..analysis.len())
        .map(|i| {
            let time = i as f32 * step;
            let after = stands.partition_point(|s| s.time.to < time);
            let stands_now = stands.get(after).is_some_and(|s| s.time.from <= time);
            let change = if stands_now { changes[after].max(changes[after + 1]) } else { changes[after] };
            let at = match (after.checked_sub(1).map(|k| &stands[k]), stands.get(after)) {
                (_, Some(s)) if s.time.from <= time => s.at,
                (Some(a), Some(b)) => {
                    let s = f64::from((time - a.time.to) / (b.time.from - a.time.to));
                    a.at.towards(&b.at, s * s * s * (10.0 + s * (6.0 * s - 15.0)))
                }
                (Some(s), None) | (None, Some(s)) => s.at,
                (None, None) => Reference::default(),
            };
            let along = if stands_now { along(after + 1).or(along(after)) } else { along(after) };
            Reference { change, along, ..at }
        })
        .collect();
    for ((stance, foothold), landing) in planned(planted).zip(landings) {
        for (point, list) in [&stance.heel, &stance.ball].into_iter().enumerate() {
            if point == 0 && !foothold.heel_supported {
                continue;
            }
            for contact in list {
                let at = place(planner, foot, stance, foothold, point, contact).as_dvec3();
                let first = point == 1 && contact.from == stance.ball[0].from;
                let from =
                    if first && landing.lead > 0.0 { stance.time.from - landing.lead } else { contact.from };
                for i in samples(&Interval { from, ..*contact }, step, references.len()) {
                    references[i].holds[point] = Some(at);
                }
            }
        }
    }
    for ((stance, _), landing) in planned(planted).zip(landings) {
        // Until the ball stands in the clip, too.
        let Some(ball) = stance.ball.first().filter(|_| landing.lead > 0.0) else { continue };
        let pitched = Interval { from: stance.time.from - landing.from, to: ball.from };
        for i in samples(&pitched, step, references.len()) {
            let (to, share) = landing.pitch(i as f32 * step - stance.time.from);
            let sample = &curve.samples[i];
            references[i].pitch += share * (to - f64::from(pitch(sample.ball - sample.heel)));
        }
    }
    Some(references)
}

/// Change that the ground asks of the swing before each stance, and of that after the last: of the displacement, or of the
/// height of the ground passed, in metres.
fn changes(planner: &Planner<'_>, stands: &[Stand]) -> Vec<f64> {
    let last = planner.base.len() - 1;
    let sample = |time: f32| ((time / planner.analysis.step) as usize).min(last);
    (0..=stands.len())
        .map(|k| {
            let (before, after) = (k.checked_sub(1).map(|k| &stands[k]), stands.get(k));
            let (from, to) =
                (before.map_or(0, |s| sample(s.time.to)), after.map_or(last, |s| sample(s.time.from)));
            let moved = before.zip(after).map_or(0.0, |(a, b)| (b.at.by - a.at.by).length());
            moved.max(passed(&planner.base[from.min(to)..=to]))
        })
        .collect()
}

/// Difference of the highest and the lowest ground of those passed, in metres.
pub(super) fn passed(heights: &[f32]) -> f64 {
    let ends = heights.iter().fold([f32::INFINITY, f32::NEG_INFINITY], |[a, b], h| [a.min(*h), b.max(*h)]);
    f64::from((ends[1] - ends[0]).max(0.0))
}

/// Stances with a foothold.
pub(super) fn planned(planted: &[Planted]) -> impl Iterator<Item = (&Stance, &Foothold)> {
    planted.iter().filter_map(|p| Some((&p.stance, p.foothold.as_ref().ok()?)))
}

/// Samples within an interval.
fn samples(time: &Interval, step: f32, count: usize) -> core::ops::Range<usize> {
    let from = math::ceil(time.from / step - 1e-3).max(0.0) as usize;
    let to = math::floor(time.to / step + 1e-3).max(0.0) as usize + 1;
    from.min(count)..to.min(count)
}

/// Place of a contact: the point's own median place in the clip, moved as the foothold is, where the ground of the foothold
/// extends that far; else the foothold's point. A foot that turns or slides a little in the clip then need not change
/// between contacts.
fn place(
    planner: &Planner<'_>,
    foot: usize,
    stance: &Stance,
    foothold: &Foothold,
    point: usize,
    contact: &Interval,
) -> Vec3 {
    let analysis = planner.analysis;
    let (curve, leg) = (&analysis.feet[foot], &planner.figure.legs()[foot]);
    let by_foothold = if point == 0 { foothold.heel } else { foothold.ball };
    let own: Vec<Vec3> = samples(contact, analysis.step, curve.samples.len())
        .map(|i| if point == 0 { curve.samples[i].heel_at() } else { curve.samples[i].ball_at() })
        .collect();
    // A foot that is turned by the caller stands where the turn puts it, and a level one at the height of its foothold.
    let Some(own) = median(&own).filter(|_| leg.yaw == 0.0 && leg.follows_slope) else { return by_foothold };
    let (heel, ball, length) = stance.place(curve, analysis.step, 0.0);
    // From the stance's own point, as the foothold's are a sole's length apart on a slope too.
    let off = (own - if point == 0 { heel } else { ball }).with_y(0.0);
    // Beyond that, it is another place.
    if off.length() > length {
        return by_foothold;
    }
    let base = planner.base_at(0.5 * (contact.from + contact.to));
    // On the same surface as the foothold, by the slope of its sole.
    let line = foothold.ball - foothold.heel;
    let slope = slope(line);
    let along = line.with_y(0.0).normalize_or(Vec3::Z);
    let on = |at: Vec3| {
        let at = at + off;
        let (y, _) = planner.search.height(at, base)?;
        let y = y + leg.sole_height;
        let flat = at.y + slope * off.dot(along);
        ((y - flat).abs() <= 0.07 * length).then_some(at.with_y(y))
    };
    // With a margin, as a sole's points come to rest within millimetres.
    let ends = [foothold.heel, foothold.heel - line * 0.1, foothold.ball, foothold.ball + line * 0.2];
    let held = if foothold.heel_supported { &ends[..] } else { &ends[2..] };
    if held.iter().any(|p| on(*p).is_none()) {
        return by_foothold;
    }
    on(by_foothold).unwrap_or(by_foothold)
}

/// Displacement of the hips at each sample: the mean of all feet that stand, or the height of the ground under a figure that
/// never does, in metres.
pub(super) fn hips(planner: &Planner<'_>, feet: &[Option<Vec<Reference>>]) -> Vec<DVec3> {
    let standing: Vec<_> = feet.iter().flatten().collect();
    let count = planner.analysis.len();
    if !standing.is_empty() {
        let mean = |i: usize| standing.iter().map(|f| f[i].by).sum::<DVec3>() / standing.len() as f64;
        return (0..count).map(mean).collect();
    }
    let reach = (SMOOTH / planner.analysis.step) as usize;
    let over: Vec<f64> = planner.base.iter().map(|b| f64::from(b - planner.floor)).collect();
    let mean = |i: usize| {
        let window = &over[i.saturating_sub(reach)..(i + reach + 1).min(count)];
        DVec3::Y * (window.iter().sum::<f64>() / window.len() as f64)
    };
    (0..count).map(mean).collect()
}

impl Reference {
    fn towards(&self, to: &Self, s: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * s;
        Self {
            by: self.by + (to.by - self.by) * s,
            pitch: mix(self.pitch, to.pitch),
            yaw: mix(self.yaw, to.yaw),
            roll: mix(self.roll, to.roll),
            ..Self::default()
        }
    }

    /// Lean of the ground about a sole's horizontal direction, as a turn.
    pub fn lean(&self, along: DVec3) -> DMat3 {
        math64::axis_angle(along, self.roll)
    }
}
