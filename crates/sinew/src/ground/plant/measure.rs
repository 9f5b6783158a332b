//! Measures of planting quality on the samples of a clip, before and after planting.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    ClipAnalysis, Figure, FootSample, FootholdSearch, Interval, Plan, PlantedClip, Unplanted,
    analysis::median, contact::ContactLimits,
};
use crate::math;

/// Planting quality of one clip on one ground.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
#[non_exhaustive]
pub struct Measures {
    /// Largest depth of a heel or ball below the ground, in metres; 0 if none is below.
    pub deepest: f32,
    /// 99th percentile of the depth of heels and balls below the ground, in metres.
    pub deepest_99: f32,
    /// Mean height above the ground of points in contact, in metres. Depths count as 0.
    pub mean_gap: f32,
    /// Largest height above the ground of a point in contact, in metres.
    pub max_gap: f32,
    /// Mean speed of the point that bears the foot, in m/s: of the ball while it is in contact, else of the heel.
    pub mean_slide: f32,
    /// Largest rate of a knee's flexion, in rad/s.
    pub knee_speed: f32,
    /// Largest acceleration of a knee's flexion, in rad/s^2, over 1/60 s or a key.
    pub knee_acceleration: Peak,
    /// Largest acceleration of the hips' height, in m/s^2, over 1/30 s or a key.
    pub hips_acceleration: Peak,
    /// Largest dorsiflexion of an ankle, in radians: the line from heel to ball turned up from a right angle to the shin.
    pub dorsiflexion: Peak,
}

/// The largest of a value over a clip.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Peak {
    /// The value; 0 or more but for [`Measures::dorsiflexion`].
    pub value: f32,
    /// Time in the clip, in seconds.
    pub time: f32,
    /// Leg of it; `None` for the hips.
    pub leg: Option<usize>,
}

impl Peak {
    /// The first of the largest values of each leg, `step` seconds apart; the first of them at `start`.
    fn of(values: impl Iterator<Item = (Option<usize>, Vec<f32>)>, start: f32, step: f32) -> Self {
        let all = values.flat_map(|(leg, values)| {
            let peak = move |(i, value)| Self { value, time: start + i as f32 * step, leg };
            values.into_iter().enumerate().map(peak)
        });
        all.reduce(|a, b| if b.value > a.value { b } else { a }).unwrap_or_default()
    }

    /// Largest second difference of values `step` seconds apart, over `span` seconds or a step.
    fn acceleration(values: impl Iterator<Item = (Option<usize>, Vec<f32>)>, step: f32, span: f32) -> Self {
        let apart = (math::floor(span / step + 0.5) as usize).max(1);
        let time = apart as f32 * step;
        let of = |w: &[f32]| ((w[0] - 2.0 * w[apart] + w[2 * apart]) / (time * time)).abs();
        let differences = |values: Vec<f32>| values.windows(2 * apart + 1).map(of).collect();
        Self::of(values.map(|(leg, values)| (leg, differences(values))), time, step)
    }
}

/// Contacts of one foot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Contacts of the heel, in order of time.
    pub heel: Vec<Interval>,
    /// Contacts of the ball, in order of time.
    pub ball: Vec<Interval>,
}

/// Position of a point of the foot in model space.
pub(super) type Point = fn(&FootSample) -> Vec3;

impl Contacts {
    /// Ball and heel: their positions and contacts.
    fn points(&self) -> [(Point, &[Interval]); 2] {
        [(FootSample::ball_at, &self.ball), (FootSample::heel_at, &self.heel)]
    }
}

/// Measures `feet` against the ground: one list of samples per foot, `step` seconds apart. `base` is the height of the
/// ground under the body at each sample, in metres. Points without ground below them do not count.
pub fn measure(
    feet: &[Vec<FootSample>],
    contacts: &[Contacts],
    step: f32,
    search: &FootholdSearch<'_>,
    base: &[f32],
) -> Measures {
    let mut m = Measures::default();
    let (mut depths, mut gaps): (Vec<f32>, Vec<f32>) = Default::default();
    let mut slides: Vec<f32> = Vec::new();
    let touching = |list: &[Interval], i: usize| list.iter().any(|c| c.contains(i as f32 * step));
    for (samples, contact) in feet.iter().zip(contacts) {
        for (i, (s, base)) in samples.iter().zip(base).enumerate() {
            for (point, list) in contact.points() {
                let Some((ground, _)) = search.height(point(s), *base) else { continue };
                let over = point(s).y - ground;
                depths.push((-over).max(0.0));
                if touching(list, i) {
                    gaps.push(over.max(0.0));
                }
            }
            let Some(before) = i.checked_sub(1) else { continue };
            m.knee_speed = m.knee_speed.max((s.flexion() - samples[before].flexion()).abs() / step);
            let bears = |(_, list): &(Point, &[Interval])| touching(list, i) && touching(list, before);
            if let Some((point, _)) = contact.points().into_iter().find(bears) {
                slides.push(point(s).distance(point(&samples[before])) / step);
            }
        }
    }
    let of_legs = |value: fn(&FootSample) -> f32| {
        let legs = feet.iter().enumerate();
        legs.map(move |(leg, samples)| (Some(leg), samples.iter().map(value).collect()))
    };
    let count = feet.iter().map(Vec::len).min().unwrap_or(0);
    let height = |i: usize| feet.iter().map(|samples| samples[i].hip.y).sum::<f32>() / feet.len() as f32;
    let hips = [(None, (0..count).map(height).collect())].into_iter();
    depths.sort_by(f32::total_cmp);
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len().max(1) as f32;
    m.deepest = depths.last().copied().unwrap_or(0.0);
    m.deepest_99 = depths.get(depths.len() * 99 / 100).copied().unwrap_or(m.deepest);
    m.mean_gap = mean(&gaps);
    m.max_gap = gaps.iter().copied().fold(0.0, f32::max);
    m.mean_slide = mean(&slides);
    m.hips_acceleration = Peak::acceleration(hips, step, 1.0 / 30.0);
    m.knee_acceleration = Peak::acceleration(of_legs(FootSample::flexion), step, 1.0 / 60.0);
    m.dorsiflexion = Peak::of(of_legs(FootSample::dorsiflexion), 0.0, step);
    m
}

/// Largest distance of a planted point from its place, in metres, and its largest speed there, in metres per second, both for
/// a figure of 1.8 m: feet and shoes give way by more.
const GIVE: f32 = 0.0005;
const SLIDE: f32 = 0.005;

/// A contact of a clip, or a part of it, with the result of planting it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactOutcome {
    /// Index of the leg in the figure.
    pub leg: usize,
    /// Point of the foot: `heel` or `ball`.
    pub point: &'static str,
    /// Time in the planted clip, in seconds.
    pub time: Interval,
    /// Whether the plan has a foothold for it.
    pub foothold: bool,
    /// Reason for which it is not planted; `None` if it is.
    pub unplanted: Option<Unplanted>,
}

impl Plan {
    /// Measures every contact of the clip in the poses of `planted`.
    ///
    /// A contact is planted while its point stays on its place: within 0.5 mm (for a figure of 1.8 m) of the ground, and of the
    /// point's median position there over the contact, and no faster than 5 mm/s, at two keys or more. Where that holds for a
    /// part of a contact, its parts are separate outcomes. No contact of a leg with influences of 0 is planted, wherever its
    /// clip puts it.
    pub fn contacts(
        &self,
        figure: &Figure,
        planted: &PlantedClip,
        search: &FootholdSearch<'_>,
    ) -> Vec<ContactOutcome> {
        let mut outcomes = Vec::new();
        for (leg, stances) in self.stances.iter().enumerate() {
            for (p, is_heel) in stances.iter().flat_map(|p| [(p, true), (p, false)]) {
                let (point, list) = if is_heel { ("heel", &p.stance.heel) } else { ("ball", &p.stance.ball) };
                let place = p.foothold.and_then(|f| match is_heel {
                    true if !f.heel_supported => Err(Unplanted::HeelInAir),
                    true => Ok(f.heel.y),
                    false => Ok(f.ball.y),
                });
                let foothold = place.is_ok();
                for &time in list {
                    let parts = match place {
                        _ if figure.legs[leg].is_free() => alloc::vec![(time, Some(Unplanted::NoInfluence))],
                        Ok(sole) => self.parts(figure, planted, search, (leg, is_heel), sole, time),
                        Err(why) => alloc::vec![(time, Some(why))],
                    };
                    let outcome =
                        |(time, unplanted)| ContactOutcome { leg, point, time, foothold, unplanted };
                    outcomes.extend(parts.into_iter().map(outcome));
                }
            }
        }
        outcomes
    }

    /// Splits a contact into the parts in which its point is held, and not. `sole` is the height of the point on its foothold,
    /// used for level soles, and where casts find no ground.
    fn parts(
        &self,
        figure: &Figure,
        planted: &PlantedClip,
        search: &FootholdSearch<'_>,
        (leg, heel): (usize, bool),
        sole: f32,
        time: Interval,
    ) -> Vec<(Interval, Option<Unplanted>)> {
        let (times, samples) = (&planted.times, &planted.feet[leg]);
        let point = if heel { FootSample::heel_at } else { FootSample::ball_at };
        let first = times.partition_point(|&t| t < time.from).min(times.len() - 1);
        // A contact between two keys is measured at the nearer one.
        let end = times.partition_point(|&t| t <= time.to).max(first + 1);
        let (times, samples) = (&times[first..end], &samples[first..end]);
        let places: Vec<Vec3> = samples.iter().map(point).collect();
        let over = |(k, sample): (usize, &FootSample)| {
            let base = search.base_near(self.base[(first + k) * self.per_key], sample.ankle.y);
            let leg = &figure.legs[leg];
            // A level sole stands above the ground under its lower points.
            let ground = if leg.follows_slope { search.height(places[k], base) } else { None };
            places[k].y - ground.map_or(sole, |(y, _)| y + leg.sole_height)
        };
        let over: Vec<f32> = samples.iter().enumerate().map(over).collect();
        let give = GIVE * search.scale;
        let down = places.iter().zip(&over).filter(|(_, over)| over.abs() <= give);
        let middle = median(&down.map(|(p, _)| *p).collect::<Vec<_>>()).unwrap_or_default();
        let off = |k: usize| (places[k] - middle).with_y(0.0).length();
        let near = |k: usize| off(k) <= give && over[k].abs() <= give;
        let speed =
            |k: usize| places[k].distance(places[k + 1]) / (times[k + 1] - times[k]).max(f32::MIN_POSITIVE);
        let last = places.len() - 1;
        let rests = |k: usize| k < last && near(k) && near(k + 1) && speed(k) <= SLIDE * search.scale;
        let held = |k: usize| near(k) && (last == 0 || rests(k) || k.checked_sub(1).is_some_and(rests));
        let held: Vec<bool> = (0..=last).map(held).collect();
        let largest = |values: &mut dyn Iterator<Item = f32>| values.fold(0.0, f32::max);
        let mut parts = Vec::new();
        let mut from = 0;
        for run in held.chunk_by(|a, b| a == b) {
            let to = from + run.len() - 1;
            // What is not held passes to the keys that are.
            let wider = usize::from(!run[0]);
            let start = if from == 0 { time.from } else { times[from - wider] };
            let end = if to == last { time.to } else { times[to + wider] };
            let gap = largest(&mut over[from..=to].iter().copied());
            let depth = largest(&mut over[from..=to].iter().map(|over| -over));
            let unplanted = match run[0] {
                true => None,
                false if gap > give => Some(Unplanted::Gap { height: gap }),
                false if depth > give => Some(Unplanted::Sinks { depth }),
                false => Some(Unplanted::Slide {
                    distance: largest(&mut (from..=to).map(off)),
                    speed: largest(&mut (from.saturating_sub(1)..(to + 1).min(last)).map(speed)),
                }),
            };
            parts.push((Interval { from: start, to: end }, unplanted));
            from = to + 1;
        }
        parts
    }
}

impl ClipAnalysis {
    /// Height of the floor that the clip was made for, in metres: the median height of heels and balls in contact, or else the
    /// lowest height of one.
    ///
    /// A capture drifts and its feet sink in by centimetres; the lowest point of all would put every other contact above the
    /// floor.
    pub fn floor(&self, limits: &ContactLimits) -> f32 {
        let mut standing: Vec<f32> = Vec::new();
        let mut lowest = f32::INFINITY;
        for foot in &self.feet {
            for (point, list) in foot.contacts(self.step, limits).points() {
                for (i, sample) in foot.samples.iter().enumerate() {
                    let height = point(sample).y;
                    lowest = lowest.min(height);
                    let time = i as f32 * self.step;
                    if list.iter().any(|contact| contact.contains(time)) {
                        standing.push(height);
                    }
                }
            }
        }
        standing.sort_by(f32::total_cmp);
        standing.get(standing.len() / 2).copied().unwrap_or(lowest)
    }
}

#[cfg(test)]
mod tests {
    use alloc::{vec, vec::Vec};

    use super::*;
    use crate::ground::plant::FootCurve;

    const LIMITS: ContactLimits = ContactLimits { height: 0.05, speed: 0.3, release: 1.2 };

    /// An analysis of one foot, level, with its sole at the given heights; all speeds are 0.
    fn analysis(heights: &[f32]) -> ClipAnalysis {
        let low = heights.iter().copied().fold(f32::INFINITY, f32::min);
        let over: Vec<f32> = heights.iter().map(|h| h - low).collect();
        let sample = |h: &f32| FootSample { ankle: Vec3::Y * *h, ..FootSample::default() };
        let foot = FootCurve {
            samples: heights.iter().map(sample).collect(),
            upright: vec![Vec3::Y; heights.len()],
            bones: vec![[0.0; 2]; heights.len()],
            heel_heights: over.clone(),
            ball_heights: over,
            heel_speeds: vec![0.0; heights.len()],
            ball_speeds: vec![0.0; heights.len()],
            given: None,
        };
        ClipAnalysis {
            step: 0.1,
            per_key: 1,
            clip: Interval { from: 0.0, to: 1.0 },
            start: 0.0,
            cycle: 1.0,
            cycles: 1,
            travel: Vec3::ZERO,
            pelvis: vec![Vec3::Y; heights.len()],
            carry: alloc::vec![Vec3::ZERO; 1],
            upright: alloc::vec![glam::Quat::IDENTITY; 1],
            own: Default::default(),
            feet: vec![foot],
            notes: Vec::new(),
        }
    }

    #[test]
    fn a_floor_lies_where_feet_stand() {
        // One sample is 4 cm too low; the swings between the stances do not count.
        let heights = [0.14, 0.14, 0.14, 0.4, 0.5, 0.5, 0.4, 0.10, 0.14, 0.14];
        assert_eq!(analysis(&heights).floor(&LIMITS), 0.14);
        let mut given = analysis(&heights);
        given.feet[0].given =
            Some(Contacts { heel: vec![Interval { from: 0.35, to: 0.65 }], ball: Vec::new() });
        assert_eq!(given.floor(&LIMITS), 0.5);
        // Without a sample in contact the lowest is left.
        given.feet[0].given = Some(Contacts::default());
        assert_eq!(given.floor(&LIMITS), 0.10);
    }
}
