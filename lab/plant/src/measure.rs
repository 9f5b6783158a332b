//! Measurements of one planted clip.

use std::collections::BTreeMap;

use crate::{
    contact::contacts,
    figure::{Figure, Leg},
    gait,
    ground::Ground,
    lowpass::{low_pass, second_differences},
    maths::{V3, angle},
    note::Note,
    scene::{Clip, Local, Scene},
};

/// Measurements, in metres, seconds and radians.
#[derive(Clone, Debug, Default)]
pub struct Measures {
    /// Keys of the planted clip.
    pub keys: usize,
    /// Deepest place of a planted point below the ground under it.
    pub deepest: f64,
    /// The same, exceeded by 1 % of the planted points.
    pub deep_99: f64,
    /// Largest gap between a planted point and the ground under it.
    pub gap: f64,
    /// Largest further depth or height half-way between keys.
    pub between: f64,
    /// Mean speed of planted points, metres a second.
    pub slide: f64,
    /// Keys at which a point is in contact, of all four points.
    pub contacts: usize,
    /// Share of contact time that was planted.
    pub share: f64,
    /// Share of contact time, besides, in which a heel hangs over an edge while its foot stands as a foothold allows.
    pub hangs: f64,
    /// Share of contact time that was neither planted nor listed.
    pub unlisted: f64,
    /// Shares of contact time that were not planted, by reason.
    pub reasons: BTreeMap<String, f64>,
    /// Deepest place of a foot's points inside the ground while they are not planted, from heel to ball.
    pub swing: f64,
    /// The same of the tip of the foot, at all times.
    pub tip: f64,
    /// Largest acceleration of a knee joint, planted over given.
    pub knee: f64,
    /// Largest angular acceleration of a knee's bend, planted over given.
    pub bend: f64,
    /// Times at which a leg is straight that the clip has bent.
    pub straight: Vec<f64>,
    /// Largest lift of a stepping foot over the taut string beyond that of the clip, for a figure of
    /// 1.8 m.
    pub lift: f64,
    /// The lowest that the hips are over the ground under the body, over their height in the clip at the same time.
    pub hips: f64,
    /// Largest difference of a leg joint's offset or scale from the clip's.
    pub offsets: f64,
    /// Number of times a planted point had no ground under it.
    pub off_ground: usize,
    /// Where the largest of each was, by column.
    pub places: BTreeMap<&'static str, Largest>,
}

/// The largest value of a column so far, and where it was.
#[derive(Clone, Debug, Default)]
pub struct Largest {
    /// The value.
    pub value: f64,
    /// Second of the planted clip.
    pub time: f64,
    /// Foot and point or joint.
    pub what: String,
}

/// Keeps the largest value of a column; what is nought is nowhere.
fn note_largest(
    places: &mut BTreeMap<&'static str, Largest>,
    column: &'static str,
    value: f64,
    time: f64,
    what: impl FnOnce() -> String,
) {
    let largest = places.entry(column).or_default();
    if value > largest.value {
        *largest = Largest { value, time, what: what() };
    }
}

/// Knees are compared after a filter of this cut-off (1/s).
const CUTOFF: f64 = 6.0;
/// A leg below this bend is straight (radians) ...
const STRAIGHT: f64 = 2.0 * std::f64::consts::PI / 180.0;
/// ... and above this one it is bent.
const BENT: f64 = 10.0 * std::f64::consts::PI / 180.0;

/// One leg at one time, in world space.
struct Stance {
    hip: V3,
    knee: V3,
    bend: f64,
    heel: V3,
    ball: V3,
    tip: V3,
    /// Offsets in metres and scales of thigh, shin, foot and toes.
    offsets: Vec<(V3, V3)>,
}

impl Stance {
    fn is_finite(&self) -> bool {
        [self.knee, self.heel, self.ball, self.tip].iter().all(|p| (p.x + p.y + p.z).is_finite())
            && self.bend.is_finite()
    }
}

impl Stance {
    fn sole(&self) -> gait::Sole {
        gait::Sole { heel: self.heel, ball: self.ball, tip: self.tip }
    }

    /// Whether the foot stands on its ball with its heel over an edge, as a foothold may: the ball on the ground, the
    /// heel not in it, and sixty hundredths of the sole from heel to tip supported.
    fn is_on_ball(&self, ground: &Ground, leg: &Leg, height: f64) -> bool {
        // Height over the ground; the last tread may lie deep below a heel that hangs.
        let over = |p: V3| ground.height(p, REACH * leg.length).map_or(f64::MAX, |h| p.y - h);
        // Compression of shoe and foot, for a grown figure of 1.8 m.
        let give = 0.013 * height / 1.8;
        const POINTS: u32 = 400;
        let whole = (self.ball - self.heel).length() + (self.tip - self.ball).length();
        let part = (self.ball - self.heel).length() / whole;
        let sole = |s: f64| {
            if s < part {
                self.heel.lerp(self.ball, s / part)
            } else {
                self.ball.lerp(self.tip, (s - part) / (1.0 - part).max(1e-9))
            }
        };
        let supported =
            (0..=POINTS).filter(|i| over(sole(f64::from(*i) / f64::from(POINTS))).abs() <= give).count();
        over(self.ball).abs() <= 0.005
            && over(self.heel) >= -0.005
            && supported as f64 >= 0.6 * f64::from(POINTS + 1)
    }
}

/// Measures a written file. Knees are compared from `motion` seconds of the planted clip on.
pub fn measure(scene: &Scene, figure: &Figure, ground: &Ground, motion: f64) -> Result<Measures, String> {
    let (planted, source, note) = Note::find(scene)?;
    let times = key_times(&planted, figure)?;
    let mut m = Measures { keys: times.len(), ..Measures::default() };
    let mut tally = Tally::default();
    let mut hips = Vec::new();
    let mut floor = f64::MAX;
    for leg in &figure.legs {
        let after: Vec<Stance> = times.iter().map(|t| stance(scene, &planted, *t, V3::ZERO, leg)).collect();
        let before: Vec<Stance> = times
            .iter()
            .map(|t| stance(scene, &source, note.source_times(*t)[0], note.travelled(*t), leg))
            .collect();
        let middles: Vec<f64> = times.windows(2).map(|w| 0.5 * (w[0] + w[1])).collect();
        let halfway: Vec<Stance> =
            middles.iter().map(|t| stance(scene, &planted, *t, V3::ZERO, leg)).collect();
        // Maxima would pass over what is not a number.
        if let Some(t) =
            times.iter().zip(&after).chain(middles.iter().zip(&halfway)).find(|(_, s)| !s.is_finite())
        {
            return Err(format!("at {} s the {} leg is not finite", t.0, leg.side));
        }
        let contact = |of: fn(&Stance) -> V3| {
            contacts(&times, &before.iter().map(of).collect::<Vec<_>>(), leg.length, figure.height)
        };
        let mut stands = Vec::new();
        let on_ball: Vec<bool> = after.iter().map(|s| s.is_on_ball(ground, leg, figure.height)).collect();
        for (point, of) in [("heel", (|s| s.heel) as fn(&Stance) -> V3), ("ball", |s| s.ball)] {
            let contact = contact(of);
            let spans: Vec<_> = note.plants.iter().filter(|s| s.is_of(leg.side, point)).collect();
            let claimed: Vec<bool> = times.iter().map(|t| spans.iter().any(|s| s.holds(*t))).collect();
            let held: &[bool] = if point == "heel" { &on_ball } else { &[] };
            tally.reasons(&note, &times, &contact, &claimed, held, (leg.side, point));
            let stand: Vec<bool> = contact.iter().zip(&claimed).map(|(c, p)| *c && *p).collect();
            let above = |s: &Stance| {
                let p = of(s);
                ground.height(p, REACH * leg.length).map(|h| p.y - h)
            };
            let point = Path {
                name: format!("{} {point}", leg.side),
                places: after.iter().map(of).collect(),
                above: after.iter().map(above).collect(),
                above_halfway: halfway.iter().map(above).collect(),
            };
            tally.supports(&mut m.places, &times, &point, &stand);
            stands.push(stand);
        }
        let own = before.iter().map(|s| s.heel.y.min(s.ball.y)).fold(f64::MAX, f64::min);
        floor = floor.min(own);
        let soles = |all: &[Stance]| all.iter().map(Stance::sole).collect::<Vec<_>>();
        let claimed = note.plants.iter().filter(|s| s.is_of(leg.side, "heel") || s.is_of(leg.side, "ball"));
        let claimed: Vec<_> = claimed.collect();
        let stood: Vec<bool> = times.iter().map(|t| claimed.iter().any(|s| s.holds(*t))).collect();
        let reach = REACH * leg.length;
        for (i, lift) in gait::lifts(&soles(&after), &soles(&before), &stood, ground, own, reach) {
            let lift = lift * 1.8 / figure.height;
            m.lift = m.lift.max(lift);
            note_largest(&mut m.places, "lift mm", lift, times[i], || format!("{} foot", leg.side));
        }
        hips.push((
            after.iter().map(|s| s.hip).collect::<Vec<_>>(),
            before.iter().map(|s| s.hip).collect::<Vec<_>>(),
        ));
        for (i, s) in after.iter().enumerate() {
            m.swings(times[i], s, [stands[0][i], stands[1][i]], ground, leg);
            let clips =
                note.source_times(times[i]).into_iter().map(|u| stance(scene, &source, u, V3::ZERO, leg));
            let off: Vec<Vec<f64>> = clips
                .map(|clip| {
                    let pairs = s.offsets.iter().zip(&clip.offsets);
                    pairs.map(|(a, b)| a.0.apart(b.0).max(a.1.apart(b.1))).collect()
                })
                .collect();
            // Where one round ends and the next begins, either is right.
            let worst = |o: &Vec<f64>| o.iter().copied().fold(0.0, f64::max);
            if let Some(off) = off.iter().min_by(|a, b| worst(a).total_cmp(&worst(b))) {
                m.offsets = m.offsets.max(worst(off));
                for (k, d) in off.iter().enumerate() {
                    let joint = ["thigh", "shin", "foot", "toes"][k];
                    note_largest(&mut m.places, "offsets", *d, times[i], || format!("{} {joint}", leg.side));
                }
            }
            if before[i].bend > BENT && s.bend < STRAIGHT {
                m.straight.push(times[i]);
            }
        }
        for (i, s) in halfway.iter().enumerate() {
            let both = |k: usize| stands[k][i] && stands[k][i + 1];
            m.swings(middles[i], s, [both(0), both(1)], ground, leg);
        }
    }
    m.body(&times, &hips, floor, ground, figure.legs[0].length);
    let moving = times.partition_point(|t| *t < motion).min(times.len() - 3);
    m.knees(scene, figure, &planted, &source, &note, &times[moving..]);
    tally.into(&mut m);
    Ok(m)
}

/// The feet at the keys between two times, a line each: places along and up in metres, heights over the
/// ground and depths inside it in millimetres.
pub fn trace(
    scene: &Scene,
    figure: &Figure,
    ground: &Ground,
    (from, to): (f64, f64),
) -> Result<Vec<String>, String> {
    let (planted, _, note) = Note::find(scene)?;
    let mut lines = Vec::new();
    for t in key_times(&planted, figure)?.into_iter().filter(|t| (from..=to).contains(t)) {
        for leg in &figure.legs {
            let s = stance(scene, &planted, t, V3::ZERO, leg);
            let reach = REACH * leg.length;
            let mut line = format!("{t:7.3} {:5} knee {:5.1}", leg.side, s.bend.to_degrees());
            for (name, p) in [("hip", s.hip), ("heel", s.heel), ("ball", s.ball), ("tip", s.tip)] {
                let over = ground.height(p, reach).map_or(f64::NAN, |h| 1e3 * (p.y - h));
                let stands = note.plants.iter().any(|n| n.is_of(leg.side, name) && n.holds(t));
                let star = if stands { '*' } else { ' ' };
                let depth = 1e3 * ground.depth(p, reach);
                line += &format!(
                    " | {name}{star} {:.3} {:.3} {:.3} over {over:6.1} in {depth:5.1}",
                    p.x, p.y, p.z
                );
            }
            lines.push(line);
        }
    }
    Ok(lines)
}

/// Key times of the planted clip: those of its densest track that moves a leg.
pub fn key_times(clip: &Clip, figure: &Figure) -> Result<Vec<f64>, String> {
    let joints: Vec<usize> = figure.legs.iter().flat_map(|l| l.joints).collect();
    let densest = clip.channels.iter().filter(|c| joints.contains(&c.node)).max_by_key(|c| c.times.len());
    let mut times = densest.ok_or("the planted animation moves no leg")?.times.clone();
    // A still clip has a key at each end.
    if let [from, to] = times[..] {
        times.insert(1, 0.5 * (from + to));
    }
    if times.len() < 3 || times.windows(2).any(|w| w[0] >= w[1]) {
        return Err(format!("the planted animation has {} keys, or keys out of order", times.len()));
    }
    Ok(times)
}

fn stance(scene: &Scene, clip: &Clip, t: f64, moved: V3, leg: &Leg) -> Stance {
    let pose = scene.sample(clip, t);
    let worlds = scene.worlds(&pose);
    let [hip, knee, foot] = leg.joints;
    let place = |n: usize| worlds[n].translation + moved;
    let bend = angle(place(knee) - place(hip), place(foot) - place(knee));
    // Offsets are compared in metres, whatever unit the rig is in.
    let offsets = leg.joints.iter().chain(&leg.toe).zip(&leg.units).map(|(n, unit)| match pose[*n] {
        Local::Trs(t, _, s) => (t * *unit, s),
        Local::Matrix(a) => (a.translation * *unit, V3::ZERO),
    });
    Stance {
        hip: place(hip),
        knee: place(knee),
        bend,
        heel: worlds[foot].point(leg.heel) + moved,
        ball: worlds[foot].point(leg.ball) + moved,
        tip: worlds[leg.toe.unwrap_or(foot)].point(leg.tip) + moved,
        offsets: offsets.collect(),
    }
}

/// Height above a point up to which ground counts as the ground under it, in leg lengths.
pub const REACH: f64 = 0.5;

impl Measures {
    /// Measures the lowest hips. `hips` are those of each leg, planted and given, at each key; `floor` is the clip's.
    fn body(&mut self, times: &[f64], hips: &[(Vec<V3>, Vec<V3>)], floor: f64, ground: &Ground, leg: f64) {
        self.hips = f64::INFINITY;
        let middle = |all: [V3; 2]| all[0].lerp(all[1], 0.5);
        let [Some(first), Some(last)] = [hips[0].0.first(), hips[0].0.last()] else { return };
        let along = (*last - *first).flat().unit().unwrap_or_default();
        for (i, time) in times.iter().enumerate() {
            let (after, before) =
                (middle([hips[0].0[i], hips[1].0[i]]), middle([hips[0].1[i], hips[1].1[i]]));
            let Some(under) = gait::under(ground, after, along, 0.5 * leg) else { continue };
            let share = (after.y - under) / (before.y - floor);
            if share < self.hips {
                self.hips = share;
                let place = Largest { value: share, time: *time, what: "least".into() };
                self.places.insert("hips", place);
            }
        }
    }

    /// Depths of one foot at a time; `planted` says whether heel and ball stand.
    fn swings(&mut self, time: f64, s: &Stance, planted: [bool; 2], ground: &Ground, leg: &Leg) {
        let reach = REACH * leg.length;
        for i in 0..5 {
            let stands = match i {
                0 => planted[0],
                4 => planted[1],
                _ => planted[0] && planted[1],
            };
            if !stands {
                let p = s.heel.lerp(s.ball, 0.25 * f64::from(i));
                let depth = ground.depth(p, reach);
                self.swing = self.swing.max(depth);
                note_largest(&mut self.places, "swing mm", depth, time, || {
                    format!("{} foot, {} % from heel to ball", leg.side, 25 * i)
                });
            }
        }
        let depth = ground.depth(s.tip, reach);
        self.tip = self.tip.max(depth);
        note_largest(&mut self.places, "tip mm", depth, time, || format!("{} foot", leg.side));
    }

    /// Accelerations of the knees, both clips sampled at the same even times.
    fn knees(
        &mut self,
        scene: &Scene,
        figure: &Figure,
        planted: &Clip,
        source: &Clip,
        note: &Note,
        keys: &[f64],
    ) {
        let (first, last) = (keys[0], keys[keys.len() - 1]);
        let rate = (keys.len() - 1) as f64 / (last - first);
        let times: Vec<f64> = (0..keys.len()).map(|i| first + i as f64 / rate).collect();
        // Per clip: largest over both knees of the joint's and of the bend's acceleration.
        let mut top = [[0.0_f64; 2]; 2];
        for leg in &figure.legs {
            for (k, top) in top.iter_mut().enumerate() {
                let stances: Vec<Stance> = times
                    .iter()
                    .map(|t| match k {
                        0 => stance(scene, planted, *t, V3::ZERO, leg),
                        _ => stance(scene, source, note.source_times(*t)[0], note.travelled(*t), leg),
                    })
                    .collect();
                let accelerations = |of: fn(&Stance) -> f64| {
                    second_differences(
                        &low_pass(&stances.iter().map(of).collect::<Vec<_>>(), rate, CUTOFF),
                        rate,
                    )
                };
                let axes =
                    [accelerations(|s| s.knee.x), accelerations(|s| s.knee.y), accelerations(|s| s.knee.z)];
                let bends = accelerations(|s| s.bend);
                for i in 0..axes[0].len() {
                    let joint = axes.iter().map(|a| a[i] * a[i]).sum::<f64>().sqrt();
                    top[0] = top[0].max(joint);
                    top[1] = top[1].max(bends[i].abs());
                    if k == 0 {
                        for (column, value) in [("knee", joint), ("bend", bends[i].abs())] {
                            note_largest(&mut self.places, column, value, times[i + 1], || {
                                format!("{} knee (m/s^2 or rad/s^2)", leg.side)
                            });
                        }
                    }
                }
            }
        }
        self.knee = top[0][0] / top[1][0];
        self.bend = top[0][1] / top[1][1];
    }
}

/// A point of a foot through the planted clip.
struct Path {
    /// Foot and point.
    name: String,
    /// Where it is at each key.
    places: Vec<V3>,
    /// Height above the ground at each key; `None` without ground.
    above: Vec<Option<f64>>,
    /// The same half-way from each key to the next.
    above_halfway: Vec<Option<f64>>,
}

/// Sums over points and keys.
#[derive(Default)]
struct Tally {
    depths: Vec<f64>,
    gap: f64,
    between_depth: f64,
    between_gap: f64,
    slid: f64,
    slid_for: f64,
    in_contact: f64,
    planted: f64,
    hangs: f64,
    unlisted: f64,
    reasons: BTreeMap<String, f64>,
    off_ground: usize,
}

impl Tally {
    /// Contact that was not planted, by the reason that the note gives.
    fn reasons(
        &mut self,
        note: &Note,
        times: &[f64],
        contact: &[bool],
        claimed: &[bool],
        held: &[bool],
        (foot, point): (&str, &str),
    ) {
        let spans: Vec<_> = note.unplanted.iter().filter(|s| s.is_of(foot, point)).collect();
        let known = |i: usize| claimed[i] || spans.iter().any(|s| s.holds(times[i]));
        for i in (0..times.len()).filter(|i| contact[*i]) {
            self.in_contact += 1.0;
            if claimed[i] {
                self.planted += 1.0;
            } else if let Some(s) = spans.iter().find(|s| s.holds(times[i])) {
                *self.reasons.entry(s.reason.clone()).or_default() += 1.0;
                self.hangs += if held.get(i) == Some(&true) { 1.0 } else { 0.0 };
            } else {
                // A span that begins or ends between keys, or a speed at an edge by other differences, may miss one key.
                let near = (i > 0 && known(i - 1)) || (i + 1 < times.len() && known(i + 1));
                *self
                    .reasons
                    .entry(if near { "a key beside a span" } else { "not listed" }.into())
                    .or_default() += 1.0;
                self.unlisted += if near { 0.0 } else { 1.0 };
            }
        }
    }

    /// Depth, gap and slide of one point of one foot where it stands.
    fn supports(
        &mut self,
        places: &mut BTreeMap<&'static str, Largest>,
        times: &[f64],
        point: &Path,
        stand: &[bool],
    ) {
        let mut say = |column, value, time| note_largest(places, column, value, time, || point.name.clone());
        for i in (0..times.len()).filter(|i| stand[*i]) {
            match point.above[i] {
                Some(a) => {
                    say("deep mm", -a, times[i]);
                    say("gap mm", a, times[i]);
                    self.depths.push((-a).max(0.0));
                    self.gap = self.gap.max(a);
                }
                None => self.off_ground += 1,
            }
            if i + 1 < times.len() && stand[i + 1] {
                let (way, time) = ((point.places[i + 1] - point.places[i]).length(), times[i + 1] - times[i]);
                say("mm/s", way / time, times[i]);
                self.slid += way;
                self.slid_for += time;
                if let Some(a) = point.above_halfway[i] {
                    say("between", a.abs(), 0.5 * (times[i] + times[i + 1]));
                    self.between_depth = self.between_depth.max(-a);
                    self.between_gap = self.between_gap.max(a);
                }
            }
        }
    }

    fn into(mut self, m: &mut Measures) {
        self.depths.sort_by(f64::total_cmp);
        m.deepest = self.depths.last().copied().unwrap_or(0.0);
        m.deep_99 = percentile(&self.depths, 0.99);
        m.gap = self.gap;
        m.between = (self.between_depth - m.deepest).max(self.between_gap - m.gap).max(0.0);
        m.slide = if self.slid_for > 0.0 { self.slid / self.slid_for } else { 0.0 };
        // A clip without contact has nothing to plant.
        let whole = self.in_contact.max(1.0);
        m.share = if self.in_contact > 0.0 { self.planted / whole } else { 1.0 };
        m.hangs = self.hangs / whole;
        m.contacts = self.in_contact as usize;
        m.unlisted = self.unlisted / whole;
        m.reasons = self.reasons.into_iter().map(|(r, n)| (r, n / whole)).collect();
        m.off_ground = self.off_ground;
    }
}

/// A percentile of sorted samples, on the straight line between the two nearest.
pub fn percentile(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let at = |i: usize| sorted.get(i).or(sorted.last()).copied().unwrap_or(0.0);
    let (low, high) = (at(place as usize), at(place as usize + 1));
    low + (high - low) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_of_a_ramp() {
        let ramp: Vec<f64> = (0..=200).map(f64::from).collect();
        assert!((percentile(&ramp, 0.99) - 198.0).abs() < 1e-9);
        assert!((percentile(&ramp[..11], 0.99) - 9.9).abs() < 1e-9);
        assert_eq!((percentile(&[], 0.99), percentile(&[7.0], 0.99)), (0.0, 7.0));
    }
}
