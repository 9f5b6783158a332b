//! Whether a person could do what was planted: ranges of joints, accelerations, lift of swinging feet, lean of the trunk.
//!
//! How definitions that leave a choice are read here:
//! - Lengths are scaled by the mean of both legs. Times are not scaled.
//! - A clip's *own* value is that of both legs together, over the first round that was planted.
//! - The time over which an acceleration is measured is rounded to whole samples of 1/120 s. A difference is not judged
//!   within two samples of where the clip's own exceeds its 99th percentile (for knees: of the same knee), nor of a seam.
//!   Angles are judged at every sample, as a clip's own are the most that it has.
//! - An ankle's *end*, where it may hold a heel up, is its hard bound: the larger of 34 degrees and own + 8.
//! - What a step asks of a knee, it asks of both knees from the start of the other foot's stance to the end of the step's.
//! - People's ranges of hips and toes are those of the American Academy of Orthopaedic Surgeons (Joint Motion, 1965).
//! - *Forward* is the body's, and a walk that does not go within 60 degrees of it has no lean to be judged. On steps the
//!   mean over their time (from the foot's last stance to the end of the next) counts, on `flat` each sample.

use crate::{
    anatomy::Body,
    gait,
    ground::Ground,
    marks::{Mark, Marks},
    maths::V3,
    measure::percentile,
    motion::{LEG, Motion, RATE, Run, Step},
};

/// Above this rise (metres at a leg of 0.93) a row is a high one.
const HIGH: f64 = 0.6;
/// Hips that go less far (metres at a leg of 0.93 m) in a swing go nowhere.
const STILL: f64 = 0.1;
/// Degrees by which an angle may exceed its bound.
const SLACK: f64 = 1.0;
/// The ankle's range ends here, or `BEYOND_OWN` above the clip's own most (degrees).
const DORSIFLEXION: f64 = 34.0;
/// See `DORSIFLEXION`.
const BEYOND_OWN: f64 = 8.0;
/// Flexion, abduction and turn of a hip: people's least and most, in degrees (AAOS 1965).
const HIP: [(&str, f64, f64); 3] =
    [("flexion", -30.0, 120.0), ("abduction", -30.0, 45.0), ("turn", -45.0, 45.0)];
/// Turn up of a great toe: the same.
const TOES: (f64, f64) = (-45.0, 70.0);

/// The ankle's end in degrees for a clip's own most.
pub fn ankle_end(own: f64) -> f64 {
    DORSIFLEXION.max(own + BEYOND_OWN)
}

/// Degrees that a step asks of a knee: three more than two equal bones bend with hip and ankle 0.84 m less the step apart.
pub fn asked(rise: f64) -> f64 {
    let apart = (0.84 - rise.abs()).max(0.0);
    180.0 - 2.0 * (apart / LEG).min(1.0).asin().to_degrees() + 3.0
}

/// The most of a clip's dorsiflexion, in degrees.
pub fn own_dorsiflexion(m: &Motion) -> f64 {
    let legs = m.clip[m.first..].iter().flat_map(|b| b.legs);
    legs.map(|l| l.dorsiflexion.to_degrees()).fold(f64::MIN, f64::max)
}

/// Whether a row has a step above 60 cm.
pub fn is_high(steps: &[Step]) -> bool {
    steps.iter().any(|s| s.rise.abs() > HIGH)
}

/// Measures a row. `shares` are the shares of contact that are planted, and that hang over edges, at the planted clip's keys.
pub fn measure(m: &Motion, ground: &Ground, flat: bool, shares: [f64; 2], marks: &mut Marks) {
    let steps = m.steps(ground);
    let high = is_high(&steps);
    let highest = steps.iter().max_by(|a, b| a.rise.abs().total_cmp(&b.rise.abs()));
    let rise = highest.map_or(0.0, |s| s.rise);
    marks.add(Mark::at_most(
        "step cm",
        100.0 * rise.abs(),
        f64::INFINITY,
        highest.map_or(0.0, |s| m.times[s.span.to]),
    ));
    ranges(m, &steps, marks);
    accelerations(m, high, marks);
    lift(m, ground, high, marks);
    aside(m, high, marks);
    trunk(m, &steps, flat, marks);
    planted(m, shares, high, flat, marks);
}

/// The largest of values with its sample; `None` counts for nothing.
fn largest(values: impl Iterator<Item = Option<f64>>) -> (usize, f64) {
    let known = values.enumerate().filter_map(|(i, v)| Some((i, v?)));
    known.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0, 0.0))
}

/// Degrees of both legs at each sample from the first that is judged.
fn degrees(m: &Motion, bodies: &[Body], of: impl Fn(&crate::anatomy::Leg) -> f64) -> Vec<[f64; 2]> {
    bodies[m.first..].iter().map(|b| [0, 1].map(|f| of(&b.legs[f]).to_degrees())).collect()
}

/// Least and most of both legs.
fn span(values: &[[f64; 2]]) -> (f64, f64) {
    let all = || values.as_flattened().iter().copied();
    (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max))
}

fn ranges(m: &Motion, steps: &[Step], marks: &mut Marks) {
    let time = |i: usize| m.times[m.first + i];
    let ankles = degrees(m, &m.planted, |l| l.dorsiflexion);
    let (i, most) = largest(ankles.iter().map(|a| Some(a[0].max(a[1]))));
    marks.add(Mark::at_most("ankle", most, ankle_end(own_dorsiflexion(m)) + SLACK, time(i)));

    let own = span(&degrees(m, &m.clip, |l| l.flexion));
    let knees = degrees(m, &m.planted, |l| l.flexion);
    let (i, least) = largest(knees.iter().map(|k| Some(-k[0].min(k[1]))));
    marks.add(Mark::at_least("knee least", -least, own.0.min(5.0) - SLACK, time(i)));
    let bound = |i: usize| {
        let sample = m.first + i;
        let asked =
            steps.iter().filter(|s| (s.span.from..=s.span.to).contains(&sample)).map(|s| asked(s.rise));
        asked.fold((own.1 + 4.0).max(109.0), f64::max) + SLACK
    };
    let (i, _) = largest(knees.iter().enumerate().map(|(i, k)| Some(k[0].max(k[1]) - bound(i))));
    marks.add(Mark::at_most("knee most", knees[i][0].max(knees[i][1]), bound(i), time(i)));

    let (mut worst, mut at) = (0.0, 0);
    for (axis, (_, low, high)) in HIP.iter().enumerate() {
        let own = span(&degrees(m, &m.clip, |l| l.thigh[axis]));
        let (i, over) = beyond(&degrees(m, &m.planted, |l| l.thigh[axis]), own, (*low, *high));
        if over > worst {
            (worst, at) = (over, i);
        }
    }
    marks.add(Mark::at_most("hip over", worst, SLACK, time(at)));
    let own = span(&degrees(m, &m.clip, |l| l.toes));
    let (i, over) = beyond(&degrees(m, &m.planted, |l| l.toes), own, TOES);
    marks.add(Mark::at_most("toes over", over, SLACK, time(i)));
}

/// The most that angles are outside the union of two ranges.
fn beyond(values: &[[f64; 2]], own: (f64, f64), people: (f64, f64)) -> (usize, f64) {
    let (low, high) = (own.0.min(people.0), own.1.max(people.1));
    largest(values.iter().map(|v| Some((v[0].max(v[1]) - high).max(low - v[0].min(v[1])).max(0.0))))
}

/// Second differences over `apart` samples; none within `apart` of the ends.
pub fn second_differences(values: &[f64], apart: usize) -> Vec<Option<f64>> {
    let h = apart as f64 / RATE;
    (0..values.len())
        .map(|i| {
            let before = values.get(i.checked_sub(apart)?)?;
            Some((before - 2.0 * values[i] + values.get(i + apart)?) / (h * h))
        })
        .collect()
}

/// Accelerations of a signal of the planted clip and the clip's own.
struct Accelerations {
    /// Samples between those of a difference.
    apart: usize,
    planted: Vec<Option<f64>>,
    clip: Vec<Option<f64>>,
}

impl Accelerations {
    fn of(m: &Motion, apart: f64, signal: impl Fn(&Body) -> f64) -> Self {
        let apart = (apart.max(m.key) * RATE).round().max(1.0) as usize;
        let of = |bodies: &[Body]| {
            let all = second_differences(&bodies.iter().map(&signal).collect::<Vec<_>>(), apart);
            // What lies before the motion reaches into the first differences.
            let judged = |i: usize, a: Option<f64>| if i < m.first + apart && m.first > 0 { None } else { a };
            all.into_iter().enumerate().map(|(i, a)| judged(i, a).map(f64::abs)).collect::<Vec<_>>()
        };
        Self { apart, planted: of(&m.planted), clip: of(&m.clip) }
    }

    /// The clip's own: those of its first round that do not reach across its end.
    fn own(&self, m: &Motion) -> impl Iterator<Item = f64> {
        let round = m.rounds.partition_point(|r| *r == 0);
        self.clip[..round.saturating_sub(self.apart)].iter().flatten().copied()
    }

    /// The largest of the planted clip where it is judged.
    fn most(&self, m: &Motion, own: f64) -> (usize, f64) {
        let exceeds: Vec<bool> = self.clip.iter().map(|a| a.is_some_and(|a| a > own)).collect();
        let off = m.off_seams();
        let judged =
            |i: usize| off[i] && !exceeds[i.saturating_sub(2)..(i + 3).min(exceeds.len())].contains(&true);
        largest(self.planted.iter().enumerate().map(|(i, a)| a.filter(|_| judged(i))))
    }
}

fn accelerations(m: &Motion, high: bool, marks: &mut Marks) {
    let own = |all: &[Accelerations]| {
        let mut own: Vec<f64> = all.iter().flat_map(|a| a.own(m)).collect();
        own.sort_by(f64::total_cmp);
        percentile(&own, 0.99)
    };
    let knees = [0, 1].map(|f| Accelerations::of(m, 1.0 / 60.0, |b| b.legs[f].flexion));
    let of_knees = own(&knees);
    let (i, most) =
        knees.iter().map(|k| k.most(m, of_knees)).fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
    marks.add(Mark::at_most("knee rad/s2", most, (1.6 * of_knees).max(400.0), m.times[i]).unless(high));
    let hips = [Accelerations::of(m, 1.0 / 30.0, |b| b.hips.y * m.scale)];
    let of_hips = own(&hips);
    let (i, most) = hips[0].most(m, of_hips);
    marks.add(Mark::at_most("hips m/s2", most, (1.5 * of_hips).max(12.0), m.times[i]).unless(high));
}

/// Extra lift of swinging soles: over the highest ground passed, less that of the clip over its higher end.
fn lift(m: &Motion, ground: &Ground, high: bool, marks: &mut Marks) {
    let mut worst = (0, 0.0);
    for foot in [0, 1] {
        let stances = m.stances(foot);
        for ends in stances.windows(2) {
            let swing = Run { from: ends[0].to, to: ends[1].from };
            let soles = |bodies: &[Body]| {
                let sole = |b: &Body| gait::Sole {
                    heel: b.legs[foot].heel,
                    ball: b.legs[foot].ball,
                    tip: b.legs[foot].tip,
                };
                bodies[swing.from..=swing.to].iter().map(sole).collect::<Vec<_>>()
            };
            if swing.from < m.first {
                continue;
            }
            if let Some((i, extra)) = extra_lift(&soles(&m.planted), &soles(&m.clip), ground, m.reach)
                && extra * m.scale > worst.1
            {
                worst = (swing.from + i, extra * m.scale);
            }
        }
    }
    marks.add(Mark::at_most("lift cm", 100.0 * worst.1, 5.0, m.times[worst.0]).unless(high));
}

/// The same of one swing, both ends included: the sample of the planted sole's highest place, and metres.
fn extra_lift(
    planted: &[gait::Sole],
    clip: &[gait::Sole],
    ground: &Ground,
    reach: f64,
) -> Option<(usize, f64)> {
    let passed = planted.iter().flat_map(|s| s.points().filter_map(|p| ground.height(p, reach)));
    let passed = passed.reduce(f64::max)?;
    let (i, top) = largest(planted.iter().map(|s| Some(s.lowest())));
    let own = largest(clip.iter().map(|s| Some(s.lowest()))).1;
    let ends = clip.first()?.lowest().max(clip.last()?.lowest());
    Some((i, (top - passed) - (own - ends)))
}

/// Extra distance of swinging soles to the side of the line between their stances, across the way of the hips.
fn aside(m: &Motion, high: bool, marks: &mut Marks) {
    let mut worst = (0, 0.0);
    for foot in [0, 1] {
        for ends in m.stances(foot).windows(2) {
            let swing = Run { from: ends[0].to, to: ends[1].from };
            let (first, last) = (&m.clip[swing.from], &m.clip[swing.to]);
            let way = (last.hips - first.hips).flat();
            let way = if way.length() * m.scale < STILL { first.forward() } else { way };
            let Some(way) = way.unit().filter(|_| swing.from >= m.first) else { continue };
            let across = V3 { x: way.z, y: 0.0, z: -way.x };
            let soles = |bodies: &[Body]| -> Vec<f64> {
                let middle = |b: &Body| (b.legs[foot].heel + b.legs[foot].ball) * 0.5;
                bodies[swing.from..=swing.to].iter().map(|b| middle(b).dot(across)).collect()
            };
            let (i, extra) = extra_aside(&soles(&m.planted), &soles(&m.clip));
            if extra * m.scale > worst.1 {
                worst = (swing.from + i, extra * m.scale);
            }
        }
    }
    marks.add(Mark::at_most("aside cm", 100.0 * worst.1, 5.0, m.times[worst.0]).unless(high));
}

/// The same of one swing, by the coordinates across: the sample, and metres.
fn extra_aside(planted: &[f64], clip: &[f64]) -> (usize, f64) {
    let (last, steps) = (planted.len() - 1, (planted.len() - 1).max(1) as f64);
    let off = |i: usize| planted[i] - clip[i];
    let line = |i: usize| off(0) + (off(last) - off(0)) * i as f64 / steps;
    largest((0..=last).map(|i| Some((off(i) - line(i)).abs())))
}

fn trunk(m: &Motion, steps: &[Step], flat: bool, marks: &mut Marks) {
    let further = |i: usize| {
        let forward = m.clip[i].forward();
        (m.planted[i].lean(forward) - m.clip[i].lean(forward)).to_degrees()
    };
    if flat {
        let (i, most) = largest((m.first..m.times.len()).map(|i| Some(further(i).abs())));
        marks.add(Mark::at_most("lean", most, 3.0, m.times[m.first + i]));
        return;
    }
    let mut up = vec![false; m.times.len()];
    for s in steps.iter().filter(|s| s.rise >= 0.1) {
        up[s.onto.from.max(m.first)..=s.onto.to.max(m.first)].fill(true);
    }
    let climbing: Vec<usize> = (0..up.len()).filter(|i| up[*i] && goes_forward(m, *i)).collect();
    if !climbing.is_empty() {
        let mean = climbing.iter().map(|i| further(*i)).sum::<f64>() / climbing.len() as f64;
        marks.add(Mark::within("lean", mean, 3.0, 15.0, m.times[climbing[0]]));
    }
}

/// Whether the figure goes within 60 degrees of where its hips look, over half a second before and after a sample.
fn goes_forward(m: &Motion, i: usize) -> bool {
    let half = (0.5 * RATE) as usize;
    let (a, b) = (i.saturating_sub(half), (i + half).min(m.times.len() - 1));
    let way = (m.clip[b].hips - m.clip[a].hips).flat().unit();
    way.is_some_and(|w: V3| w.dot(m.clip[i].forward()) >= 0.5)
}

/// Share of contact that is planted, or hangs over an edge, or is a heel that its ankle holds up over a planted ball.
fn planted(m: &Motion, [share, hangs]: [f64; 2], high: bool, flat: bool, marks: &mut Marks) {
    let end = ankle_end(own_dorsiflexion(m)) - 2.0;
    let (mut contact, mut held) = (0, 0);
    for foot in [0, 1] {
        let [heel, ball] = &m.claimed[foot];
        for i in 0..m.times.len() {
            contact += m.contact[foot].iter().filter(|p| p[i]).count();
            let at_end = m.planted[i].legs[foot].dorsiflexion.to_degrees() >= end;
            held += usize::from(m.contact[foot][0][i] && !heel[i] && ball[i] && at_end);
        }
    }
    let held = held as f64 / f64::from(contact.max(1) as u32);
    let heels = if flat { 0.0 } else { held.min(0.2) };
    let least = if high { 50.0 } else { 90.0 };
    marks.add(Mark::at_least("planted %", 100.0 * (share + hangs + heels).min(1.0), least, 0.0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ground::tests::step, maths::v3};

    #[test]
    fn a_parabola_has_its_acceleration_everywhere() {
        let path: Vec<f64> = (0..40).map(|i| 0.5 * 7.0 * (f64::from(i) / RATE).powi(2)).collect();
        for apart in [1, 2, 4, 10] {
            let found = second_differences(&path, apart);
            assert_eq!(found.iter().flatten().count(), 40 - 2 * apart);
            assert!(found.iter().flatten().all(|a| (a - 7.0).abs() < 1e-9));
        }
    }

    #[test]
    fn what_a_step_asks_of_a_knee() {
        // Without a step two bones of 0.465 m span 0.84; a step of 0.84 folds them.
        let level: f64 = 180.0 - 2.0 * (0.84_f64 / 0.93).asin().to_degrees() + 3.0;
        assert!((asked(0.0) - level).abs() < 1e-12 && (53.0..54.0).contains(&level));
        assert!((asked(-0.84) - 183.0).abs() < 1e-9 && (asked(2.0) - 183.0).abs() < 1e-9);
        // 0.375 less: the bones and 0.465 make an equilateral triangle.
        assert!((asked(0.375) - 123.0).abs() < 1e-9);
    }

    #[test]
    fn a_swing_over_a_riser_is_measured_over_it() {
        let sole = |z: f64, y: f64| gait::Sole {
            heel: v3(0.0, y, z),
            ball: v3(0.0, y, z + 0.2),
            tip: v3(0.0, y, z + 0.26),
        };
        let planted = [(0.4, 0.0), (0.6, 0.2), (0.9, 0.35), (1.2, 0.3), (1.4, 0.2)].map(|(z, y)| sole(z, y));
        let clip = [(0.4, 0.0), (0.6, 0.05), (0.9, 0.06), (1.2, 0.05), (1.4, 0.01)].map(|(z, y)| sole(z, y));
        // 15 cm over the tread, of which the clip lifts 5 over its higher end.
        let (i, extra) = extra_lift(&planted, &clip, &step(), 0.5).unwrap();
        assert!(i == 2 && (extra - 0.10).abs() < 1e-9, "{extra}");
    }

    #[test]
    fn a_swing_around_a_step_is_measured_from_the_line_between_its_stances() {
        // The clip swings out by 2 cm; planted, the foot also comes down 8 cm to the side.
        let clip = [0.0, 0.02, 0.02, 0.0, 0.0];
        let planted = [0.0, 0.04, 0.21, 0.06, 0.08];
        let (i, extra) = extra_aside(&planted, &clip);
        assert!(i == 2 && (extra - 0.15).abs() < 1e-12, "{extra}");
        assert_eq!(extra_aside(&[0.3], &[0.1]).1, 0.0);
    }

    #[test]
    fn angles_beyond_both_ranges() {
        let values = [[10.0, 20.0], [-50.0, 80.0]];
        assert_eq!(beyond(&values, (0.0, 75.0), (-45.0, 70.0)), (1, 5.0));
        assert_eq!(beyond(&values, (-60.0, 90.0), (-45.0, 70.0)).1, 0.0);
    }
}
