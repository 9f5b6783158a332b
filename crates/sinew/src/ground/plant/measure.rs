//! Measures of planting quality on the samples of a clip, before and after planting.

use alloc::vec::Vec;

use glam::Vec3;

use super::{
    ClipAnalysis, Figure, FootSample, Foothold, FootholdSearch, Interval, Plan, PlantedClip, Unplanted,
    contact::ContactLimits,
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
    /// Largest acceleration of a knee's flexion, in rad/s^2.
    pub knee_acceleration: f32,
}

/// Contacts of one foot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contacts {
    /// Contacts of the heel, in order of time.
    pub heel: Vec<Interval>,
    /// Contacts of the ball, in order of time.
    pub ball: Vec<Interval>,
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
    let mut depths: Vec<f32> = Vec::new();
    let (mut gaps, mut gap_count) = (0.0, 0.0);
    let (mut slides, mut slide_count) = (0.0, 0.0);
    for (samples, contact) in feet.iter().zip(contacts) {
        let touching = |list: &[Interval], i: usize| list.iter().any(|c| c.contains(i as f32 * step));
        for (i, s) in samples.iter().enumerate() {
            let Some(&base) = base.get(i) else { break };
            for (point, list) in [(s.heel_at(), &contact.heel), (s.ball_at(), &contact.ball)] {
                let Some((ground, _)) = search.height(point, base) else { continue };
                let over = point.y - ground;
                depths.push((-over).max(0.0));
                if touching(list, i) {
                    gaps += over.max(0.0);
                    gap_count += 1.0;
                    m.max_gap = m.max_gap.max(over);
                }
            }
            if i == 0 {
                continue;
            }
            let before = &samples[i - 1];
            let (ball, heel) = (&contact.ball, &contact.heel);
            let moved = if touching(ball, i) && touching(ball, i - 1) {
                (s.ball_at() - before.ball_at()).length()
            } else if touching(heel, i) && touching(heel, i - 1) {
                (s.heel_at() - before.heel_at()).length()
            } else {
                continue;
            };
            slides += moved / step;
            slide_count += 1.0;
        }
        let flexion: Vec<f32> = samples.iter().map(FootSample::flexion).collect();
        for w in flexion.windows(2) {
            m.knee_speed = m.knee_speed.max((w[1] - w[0]).abs() / step);
        }
        for w in flexion.windows(3) {
            m.knee_acceleration = m.knee_acceleration.max((w[2] - 2.0 * w[1] + w[0]).abs() / (step * step));
        }
    }
    depths.sort_by(f32::total_cmp);
    m.deepest = depths.last().copied().unwrap_or(0.0);
    m.deepest_99 = depths.get((depths.len() * 99) / 100).copied().unwrap_or(m.deepest);
    m.mean_gap = if gap_count > 0.0 { gaps / gap_count } else { 0.0 };
    m.mean_slide = if slide_count > 0.0 { slides / slide_count } else { 0.0 };
    m
}

/// Largest height above the ground of a planted contact, in metres for a figure of 1.8 m: about the thickness of a sole.
const MAX_GAP: f32 = 0.03;

/// Largest mean speed of a planted contact, in m/s for a figure of 1.8 m: a third of the default
/// `PlantOptions::contact_speed`.
const MAX_SLIDE: f32 = 0.1;

/// A contact of a clip, with the result of planting it.
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
    /// A contact is planted if it has a foothold and if, in the middle half of its time, its point stays within 3 cm above
    /// the ground and slides at no more than 0.1 m/s in the mean (both for a figure of 1.8 m). No contact of a leg with
    /// influences of 0 is planted, wherever its clip puts it.
    pub fn contacts(
        &self,
        figure: &Figure,
        planted: &PlantedClip,
        search: &FootholdSearch<'_>,
    ) -> Vec<ContactOutcome> {
        let mut outcomes = Vec::new();
        for (leg, stances) in self.stances.iter().enumerate() {
            let influenced = if figure.legs[leg].is_free() { Err(Unplanted::NoInfluence) } else { Ok(()) };
            for p in stances {
                for (point, list) in [("heel", &p.stance.heel), ("ball", &p.stance.ball)] {
                    let is_heel = point == "heel";
                    let foothold = match p.foothold {
                        Err(why) => Err(why),
                        Ok(Foothold { heel_supported: false, .. }) if is_heel => Err(Unplanted::HeelInAir),
                        Ok(foothold) => Ok(if is_heel { foothold.heel.y } else { foothold.ball.y }),
                    };
                    outcomes.extend(list.iter().map(|&time| {
                        ContactOutcome {
                            leg,
                            point,
                            time,
                            foothold: foothold.is_ok(),
                            unplanted: influenced
                                .and(foothold)
                                .and_then(|sole| {
                                    self.held(figure, planted, search, (leg, is_heel), sole, time)
                                })
                                .err(),
                        }
                    }));
                }
            }
        }
        outcomes
    }

    /// Measures the middle half of a contact in the planted poses. `sole` is the height of the point on its foothold, used
    /// where casts find no ground.
    fn held(
        &self,
        figure: &Figure,
        planted: &PlantedClip,
        search: &FootholdSearch<'_>,
        (leg, heel): (usize, bool),
        sole: f32,
        time: Interval,
    ) -> Result<(), Unplanted> {
        let (times, samples) = (&planted.times, &planted.feet[leg]);
        let last = times.len() - 1;
        let point = if heel { FootSample::heel_at } else { FootSample::ball_at };
        // Position of the point at a time, and its height above the ground and the leg's sole height.
        let at = |t: f32| {
            let after = times.partition_point(|&key| key <= t).clamp(1, last.max(1)).min(last);
            let before = after.saturating_sub(1);
            let span = times[after] - times[before];
            let share = if span > 0.0 { ((t - times[before]) / span).clamp(0.0, 1.0) } else { 0.0 };
            let mix = |f: fn(&FootSample) -> Vec3| f(&samples[before]).lerp(f(&samples[after]), share);
            let (place, ankle) = (mix(point), mix(|s| s.ankle));
            let base = search.base_near(self.base[before * self.per_key], ankle.y);
            let ground = search.height(place, base);
            (place, place.y - ground.map_or(sole, |(y, _)| y + figure.legs[leg].sole_height))
        };
        let quarter = 0.25 * time.length();
        let (from, to) = (time.from + quarter, time.to - quarter);
        // Only keys count, as a foot that lands or leaves is displaced between two; a contact without a key has its middle.
        let keys = times.partition_point(|&t| t < from)..times.partition_point(|&t| t <= to);
        let middle = keys.is_empty().then_some(0.5 * (from + to));
        let (mut height, mut way) = (0.0f32, 0.0f32);
        let mut before = None;
        for t in times[keys.clone()].iter().copied().chain(middle) {
            let (place, over) = at(t);
            height = height.max(over);
            way += before.map_or(0.0, |b| place.distance(b));
            before = Some(place);
        }
        let seconds = if keys.len() > 1 { times[keys.end - 1] - times[keys.start] } else { 0.0 };
        let speed = if seconds > 0.0 { way / seconds } else { 0.0 };
        if height > MAX_GAP * search.scale {
            Err(Unplanted::Gap { height })
        } else if speed > MAX_SLIDE * search.scale {
            Err(Unplanted::Slide { speed })
        } else {
            Ok(())
        }
    }
}

impl ClipAnalysis {
    /// Height of the floor that the clip was made for, in metres: the median height of heels and balls that are in contact and
    /// within the limits. Without any such point it is that of all in contact, and without contacts the lowest height of a heel
    /// or ball.
    ///
    /// A capture drifts and its feet sink in by centimetres; the lowest point of all would put every other contact above the
    /// floor.
    pub fn floor(&self, limits: &ContactLimits) -> f32 {
        let (mut firm, mut all): (Vec<f32>, Vec<f32>) = Default::default();
        for foot in &self.feet {
            let contacts = foot.contacts(self.step, limits);
            let heel = (&contacts.heel, &foot.heel_heights, &foot.heel_speeds);
            let ball = (&contacts.ball, &foot.ball_heights, &foot.ball_speeds);
            for ((contacts, heights, speeds), point) in
                [(heel, FootSample::heel_at as fn(&FootSample) -> Vec3), (ball, FootSample::ball_at)]
            {
                for contact in contacts {
                    let from = math::ceil(contact.from / self.step).max(0.0) as usize;
                    let until = math::floor(contact.to / self.step).max(0.0) as usize + 1;
                    let levels = foot.samples.iter().zip(heights).zip(speeds);
                    for ((sample, height), speed) in levels.take(until).skip(from) {
                        all.push(point(sample).y);
                        // A contact ends late, by its hysteresis, while its point lifts.
                        if *height <= limits.height && *speed <= limits.speed {
                            firm.push(point(sample).y);
                        }
                    }
                }
            }
        }
        let mut heights = if firm.is_empty() { all } else { firm };
        heights.sort_by(f32::total_cmp);
        let lowest = || {
            let samples = self.feet.iter().flat_map(|f| &f.samples);
            samples.map(|s| s.heel_at().y.min(s.ball_at().y)).fold(f32::INFINITY, f32::min)
        };
        heights.get(heights.len() / 2).copied().unwrap_or_else(lowest)
    }
}

/// Returns the samples translated by `by`, in model space (metres).
pub fn moved(samples: &[FootSample], by: Vec3) -> Vec<FootSample> {
    samples
        .iter()
        .map(|s| FootSample { hip: s.hip + by, knee: s.knee + by, ankle: s.ankle + by, ..*s })
        .collect()
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
