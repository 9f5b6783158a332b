//! Scaling of a walk's stride, so that a step takes whole treads of stairs.
//!
//! A step on a level floor is two or three treads long, which nobody walks on stairs. The way of the hips is therefore
//! scaled where it meets a flight of stairs: each foot stands in the middle of a tread, and the hips move as far. It is a
//! map of place and not of time, so that contacts keep their times and standing feet stay where they are.

use alloc::vec::Vec;

use glam::Vec3;
use thiserror::Error;

use super::{
    ClipAnalysis, Figure, FootSample, FootholdSearch, SampledCurve,
    contact::ContactLimits,
    stance::{Stance, stances},
    walk_heading,
};
use crate::math;

/// Length of a walk's steps on stairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stride {
    /// The clip's own.
    Keep,
    /// One tread a step, where that scales steps to 0.3 to 1.2 of the clip's.
    Fit,
    /// This number of treads a step, where that scales steps to 0.15 to 2 of the clip's.
    Treads(u32),
}

/// Reason for which a walk keeps its stride.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Unscaled {
    /// The feet take no steps along the way of the hips.
    #[error("the clip takes no steps")]
    NoSteps,
    /// The walk meets no flight of at least three risers.
    #[error("the walk meets no stairs")]
    NoTreads,
    /// The treads differ in depth.
    #[error("the treads of the stairs differ in depth")]
    UnevenTreads,
    /// Steps would be scaled too far.
    #[error("steps would be scaled to {factor:.2} of the clip's")]
    TooFar {
        /// Length of the scaled step divided by the clip's.
        factor: f32,
    },
}

/// Smallest height of a riser, as a fraction of the leg: 10 cm for a leg of 0.93 m. People take lower ones in their stride.
pub(super) const RISER: f32 = 0.107;
/// Distance of the casts along the way, as a fraction of the leg: 2 cm. Risers are refined between them.
const SPACING: f32 = 0.02;
/// Casts over which a riser may lean: 6 cm.
const LEANS: usize = 3;
/// Maximum number of casts: a way of 4 km.
const MAX_CASTS: f32 = 200_000.0;
/// Largest ratio of two treads of a flight. Building codes allow 1.05; worn and modelled stairs have more.
const UNEVEN: f32 = 1.25;
/// Distance over which the direction of the way is taken to either side, and shortest step, as a fraction of the leg.
const REACH: f32 = 0.15;
/// Rounds in which the stairs are looked for along a way that turns.
const ROUNDS: usize = 3;
/// Part of a step below which feet close up, and the hips hardly move.
const CLOSING: f32 = 0.2;
/// Places over which the displacement of the hips is averaged: their speed then changes by a centimetre a second at once.
const PARTS: usize = 64;
/// Time over which the way of the hips is smoothed to either side, in seconds: half a stride, which removes the sway.
const SWAY: f32 = 0.5;
/// Longest time without a standing foot in a walk, in seconds. Detected contacts end early and begin late: gaps of the lab's
/// walks on the spot last up to 0.12 s (`knight-back`), flights of its runs 0.32 s and more (`knight-left`).
const FLIGHT: f32 = 0.2;

impl ClipAnalysis {
    /// Whether a foot always stands, but for at most 0.2 s: a walk, and not a run.
    pub fn stands_throughout(&self, figure: &Figure, search: &FootholdSearch<'_>) -> bool {
        let all = self.all_stances(figure, search);
        let mut until = 0.0f32;
        for (_, stance) in &all {
            if stance.time.from - until > FLIGHT {
                return false;
            }
            until = until.max(stance.time.to);
        }
        (self.len() - 1) as f32 * self.step - until <= FLIGHT
    }

    /// Scales the walk along the way of the hips, so that its steps fit the stairs of a ground. Returns the length of a step
    /// on the first flight divided by the clip's; 1 with [`Stride::Keep`].
    ///
    /// Only steps on stairs are scaled, with a transition of one step. Stairs have at least three risers of 10 cm or more
    /// (for a leg of 0.93 m) and treads that differ by at most a quarter. Heights, speeds and contacts stay those of the
    /// clip, as does the place of the first stance. On a way that turns, the hips keep the clip's headings.
    ///
    /// # Errors
    ///
    /// The reason for which the stride is kept. Nothing is changed then.
    pub fn fit_stride(
        &mut self,
        figure: &Figure,
        search: &FootholdSearch<'_>,
        stride: Stride,
    ) -> Result<f32, Unscaled> {
        let (treads, range) = match stride {
            Stride::Keep => return Ok(1.0),
            Stride::Fit => (1, 0.3..=1.2),
            Stride::Treads(n) => (n.max(1), 0.15..=2.0),
        };
        let way = Way::of_pelvis(self, search.leg);
        let falls = self.footfalls(figure, search, &way);
        let step = median_step(&falls).filter(|s| *s > REACH * search.leg).ok_or(Unscaled::NoSteps)?;
        let margin = search.settings.clearance * search.scale;
        let walk = Walk { way: &way, falls: &falls, step, treads, margin };
        let start = self.lowest_of_first();
        // Where the way turns, the scaled one passes over other ground, and the stairs are looked for again.
        let mut scaled: Option<Scaled> = None;
        for _ in 0..ROUNDS {
            let flights = flights(search, scaled.as_ref().map_or(&way, |s| &s.way), start);
            let fitted = flights.and_then(|all| {
                let factor = |f: &Flight| treads as f32 * f.tread / step;
                let within: Vec<Flight> =
                    all.iter().filter(|f| range.contains(&factor(f))).cloned().collect();
                match (within.first(), all.first()) {
                    (None, Some(flight)) => Err(Unscaled::TooFar { factor: factor(flight) }),
                    _ => walk.fit(&within),
                }
            });
            match fitted {
                Ok(fitted) => scaled = Some(fitted),
                Err(reason) if scaled.is_none() => return Err(reason),
                Err(_) => break,
            }
        }
        let scaled = scaled.ok_or(Unscaled::NoTreads)?;
        self.apply_stride(&falls, &way, &scaled);
        Ok(scaled.factor)
    }

    /// Lowest height of a heel or ball in the first sample, in metres.
    fn lowest_of_first(&self) -> f32 {
        let first = self.feet.iter().filter_map(|f| f.samples.first());
        first.map(|s| s.heel_at().y.min(s.ball_at().y)).fold(f32::INFINITY, f32::min)
    }

    /// Stances of all legs with their leg, in order of time.
    fn all_stances(&self, figure: &Figure, search: &FootholdSearch<'_>) -> Vec<(usize, Stance)> {
        let limits = ContactLimits::new(figure, search.settings);
        let of_leg = |leg: usize| stances(&self.feet[leg], self.step, &limits, 2.0 * limits.height);
        let mut all: Vec<(usize, Stance)> =
            (0..self.feet.len()).flat_map(|leg| of_leg(leg).into_iter().map(move |s| (leg, s))).collect();
        all.sort_by(|a, b| a.1.time.from.total_cmp(&b.1.time.from));
        all
    }

    /// Places of all stances along the way, in order of time.
    fn footfalls(&self, figure: &Figure, search: &FootholdSearch<'_>, way: &Way) -> Vec<Footfall> {
        let stances = self.all_stances(figure, search).into_iter();
        stances
            .map(|(leg, stance)| {
                let curve = &self.feet[leg];
                let (heel, ball, length) =
                    stance.place(curve, self.step, figure.legs().get(leg).map_or(0.0, |l| l.yaw));
                let toes = curve.samples.first().map_or(0.0, |s| (s.tip - s.ball).length());
                let tip = ball + (ball - heel) * (toes / length.max(f32::MIN_POSITIVE));
                let middle = (0.5 * (heel + tip)).with_y(0.0);
                // From where the hips are in the middle of the stance.
                let under = (0.5 * (stance.time.from + stance.time.to) / self.step) as usize;
                let under = way.distances[under.min(way.distances.len() - 1)];
                let at = under + (middle - way.at(under)).dot(way.direction(under));
                let ahead = way.direction(at);
                Footfall {
                    leg,
                    from: stance.time.from,
                    to: stance.time.to,
                    at,
                    half: 0.5 * (tip - heel).dot(ahead).abs(),
                    ball: (ball - middle).dot(ahead),
                }
            })
            .collect()
    }

    /// Moves hips and feet to their scaled places.
    fn apply_stride(&mut self, falls: &[Footfall], way: &Way, scaled: &Scaled) {
        let last = self.len() - 1;
        let hips: Vec<Vec3> =
            scaled.way.points.iter().zip(&way.points).map(|(to, from)| *to - *from).collect();
        for ((pelvis, carry), by) in self.pelvis.iter_mut().zip(&mut self.carry).zip(&hips) {
            *pelvis += *by;
            *carry += *by;
        }
        for (leg, foot) in self.feet.iter_mut().enumerate() {
            // Times at which the foot stands, with its displacement. Before the first and after the last stance the foot
            // comes from and goes to the displacement of the hips.
            let falls = falls.iter().zip(&scaled.places).filter(|(fall, _)| fall.leg == leg);
            let stands = falls.map(|(f, to)| (f.from, f.to, scaled.way.at(*to) - way.at(f.at)));
            let (before, end) = (-self.step, last as f32 * self.step);
            let mut holds = alloc::vec![(before, before, hips[0])];
            holds.extend(stands.chain([(end, end, hips[last])]));
            let covered = covered(&foot.heel_speeds, &foot.ball_speeds, self.step);
            let covered = SampledCurve { values: &covered, step: self.step };
            for (i, sample) in foot.samples.iter_mut().enumerate() {
                let time = i as f32 * self.step;
                let after = holds.partition_point(|h| h.1 < time).min(holds.len() - 1);
                let (from, _, to) = holds[after];
                let by = match after.checked_sub(1).map(|before| holds[before]) {
                    Some((_, left, start)) if time < from => {
                        let way = covered.value(from) - covered.value(left);
                        let s =
                            if way > 0.0 { (covered.value(time) - covered.value(left)) / way } else { 1.0 };
                        start + (to - start) * math::smoothstep(s)
                    }
                    _ => to,
                };
                *sample = sample.stretched(hips[i], by);
            }
        }
    }
}

/// Distance that a foot has covered by each sample, in metres, by the slower of heel and ball: it rests while one of them
/// stands.
fn covered(heel: &[f32], ball: &[f32], step: f32) -> Vec<f32> {
    let mut sum = 0.0;
    let speeds = heel.iter().zip(ball).map(|(h, b)| h.min(*b));
    speeds
        .map(|speed| {
            sum += speed * step;
            sum
        })
        .collect()
}

impl FootSample {
    /// Moves the hip joint by `hip` and the foot by `foot`, in metres. Thigh and shin keep their lengths, the knee its side.
    pub(super) fn stretched(&self, hip: Vec3, foot: Vec3) -> Self {
        let [thigh, shin] = [self.knee - self.hip, self.ankle - self.knee];
        let (a, b) = (thigh.length(), shin.length());
        let (old, new) = (self.ankle - self.hip, self.ankle + foot - self.hip - hip);
        let arc =
            math::shortest_arc(old.normalize_or(Vec3::NEG_Y), new.normalize_or(Vec3::NEG_Y), self.knee_way);
        let knee_way = math::rotate(arc, self.knee_way);
        let axis = new.normalize_or(Vec3::NEG_Y);
        let apart = new.length().max(1e-6 * (a + b)).max(f32::MIN_POSITIVE);
        let along = ((a * a - b * b + apart * apart) / (2.0 * apart)).clamp(-a, a);
        let out = math::sqrt((a * a - along * along).max(0.0));
        // A knee bends to its side; without one it stays on the line.
        let bent = axis * along + math::perpendicular(axis, knee_way) * out;
        let turned = math::shortest_arc(
            thigh.normalize_or(Vec3::NEG_Y),
            bent.normalize_or(Vec3::NEG_Y),
            self.knee_way,
        );
        let start = self.hip + hip;
        Self {
            hip: start,
            knee: start + bent,
            ankle: self.ankle + foot,
            thigh: math::mul(turned, self.thigh),
            knee_way,
            ..*self
        }
    }
}

/// Place of a stance along the way.
#[derive(Clone, Copy, Debug)]
struct Footfall {
    leg: usize,
    /// Start of the stance, in seconds.
    from: f32,
    /// End of the stance, in seconds.
    to: f32,
    /// Distance of the sole's middle along the way, in metres.
    at: f32,
    /// Half the length of the sole along the way, in metres.
    half: f32,
    /// Distance of the ball along the way from the sole's middle, in metres.
    ball: f32,
}

/// Median distance of consecutive stances of two feet along the way, in metres.
fn median_step(falls: &[Footfall]) -> Option<f32> {
    let pairs = falls.windows(2).filter(|w| w[0].leg != w[1].leg);
    let mut steps: Vec<f32> = pairs.map(|w| w[1].at - w[0].at).collect();
    steps.sort_by(f32::total_cmp);
    steps.get(steps.len() / 2).copied()
}

/// A horizontal polyline with the distance along it, one point per sample. It continues straight beyond its ends.
#[derive(Clone, Debug)]
struct Way {
    points: Vec<Vec3>,
    /// Distance of each point, in metres; never decreasing.
    distances: Vec<f32>,
    /// Horizontal unit vectors at the start and at the end.
    ends: [Vec3; 2],
    /// Distance over which a direction is taken to either side, in metres.
    reach: f32,
}

impl Way {
    /// The smoothed way of the pelvis.
    fn of_pelvis(analysis: &ClipAnalysis, leg: f32) -> Self {
        let reach = ((SWAY / analysis.step) as usize).max(1);
        let level: Vec<Vec3> = analysis.pelvis.iter().map(|p| p.with_y(0.0)).collect();
        let points = smoothed(&level, reach);
        let mut distances = Vec::with_capacity(points.len());
        let mut sum = 0.0;
        for (i, p) in points.iter().enumerate() {
            sum += i.checked_sub(1).map_or(0.0, |before| (*p - points[before]).length());
            distances.push(sum);
        }
        let mut way = Self { points, distances, ends: [walk_heading(analysis); 2], reach: REACH * leg };
        let (first, last) = (way.start(), way.end());
        let far = 2.0 * way.reach;
        let starts = way.at((first + far).min(last)) - way.at(first);
        let ends = way.at(last) - way.at((last - far).max(first));
        way.ends = [starts, ends].map(|d| d.normalize_or(way.ends[0]));
        way
    }

    fn start(&self) -> f32 {
        self.distances.first().copied().unwrap_or(0.0)
    }

    fn end(&self) -> f32 {
        self.distances.last().copied().unwrap_or(0.0)
    }

    /// Point at a distance in metres.
    fn at(&self, distance: f32) -> Vec3 {
        let (Some(first), Some(last)) = (self.points.first(), self.points.last()) else { return Vec3::ZERO };
        if distance <= self.start() {
            return *first + self.ends[0] * (distance - self.start());
        }
        if distance >= self.end() {
            return *last + self.ends[1] * (distance - self.end());
        }
        let after = self.distances.partition_point(|d| *d <= distance).clamp(1, self.points.len() - 1);
        let (a, b) = (self.distances[after - 1], self.distances[after]);
        let share = if b > a { (distance - a) / (b - a) } else { 0.0 };
        self.points[after - 1].lerp(self.points[after], share)
    }

    /// Horizontal unit vector at a distance in metres.
    fn direction(&self, distance: f32) -> Vec3 {
        (self.at(distance + self.reach) - self.at(distance - self.reach)).normalize_or(self.ends[0])
    }
}

/// Averages over `reach` points to either side, twice. Near an end both sides are shorter, so that the ends stay.
fn smoothed(points: &[Vec3], reach: usize) -> Vec<Vec3> {
    let once = |points: &[Vec3]| -> Vec<Vec3> {
        let mean = |i: usize| {
            let by = reach.min(i).min(points.len() - 1 - i);
            // Relative to the point, as a way may be far from the origin.
            let off: Vec3 = points[i - by..=i + by].iter().map(|p| *p - points[i]).sum();
            points[i] + off / (2 * by + 1) as f32
        };
        (0..points.len()).map(mean).collect()
    };
    once(&once(points))
}

/// Consecutive risers of one direction with treads of about one depth.
#[derive(Clone, Debug, PartialEq)]
struct Flight {
    /// Distances of the risers along the way, in metres; at least three.
    risers: Vec<f32>,
    /// Median depth of its treads, in metres.
    tread: f32,
    up: bool,
}

impl Flight {
    /// Distance along the way at which a tread begins, in metres. Tread 0 begins at the first riser; floors before the first
    /// riser and after the last one are divided in the same way.
    fn edge(&self, k: i32) -> f32 {
        let riser = k.clamp(0, self.len());
        self.risers[riser as usize] + self.tread * (k - riser) as f32
    }

    /// Number of treads between its risers.
    fn len(&self) -> i32 {
        (self.risers.len() - 1) as i32
    }

    /// Distance along the way of the middle of a sole on a tread, in metres: that of the tread's middle. A sole that is
    /// longer keeps a distance of `margin` from the riser above it, with its ball on the tread.
    fn place(&self, k: i32, fall: &Footfall, margin: f32) -> f32 {
        let [from, to] = [self.edge(k), self.edge(k + 1)];
        let mut at = 0.5 * (from + to);
        if self.up && k < self.len() {
            at = at.min(to - margin - fall.half);
        } else if !self.up && k >= 0 {
            at = at.max(from + margin + fall.half);
        }
        at.max(from + margin - fall.ball).min(to - margin - fall.ball)
    }
}

/// Finds the flights of stairs along a way, with risers of at least [`RISER`]. `start` is the height of the feet where it
/// begins.
fn flights(search: &FootholdSearch<'_>, way: &Way, start: f32) -> Result<Vec<Flight>, Unscaled> {
    let risers = risers(search, way, start).ok_or(Unscaled::NoTreads)?;
    let mut found: Vec<Flight> = Vec::new();
    let mut most = 0;
    let mut from = 0;
    while from + 1 < risers.len() {
        let up = risers[from].1 > 0.0;
        let same = risers[from..].iter().take_while(|r| (r.1 > 0.0) == up).count();
        most = most.max(same);
        let tread = |i: usize| risers[i + 1].0 - risers[i].0;
        let even = |i: &usize| (tread(*i) / tread(from)).max(tread(from) / tread(*i)) <= UNEVEN;
        let treads = (from..from + same - 1).take_while(even).count();
        if treads >= 2 {
            let mut depths: Vec<f32> = (from..from + treads).map(tread).collect();
            depths.sort_by(f32::total_cmp);
            found.push(Flight {
                risers: risers[from..=from + treads].iter().map(|r| r.0).collect(),
                tread: depths[treads / 2],
                up,
            });
        }
        from += treads.max(1);
    }
    match (found.is_empty(), most >= 3) {
        (false, _) => Ok(found),
        (true, true) => Err(Unscaled::UnevenTreads),
        (true, false) => Err(Unscaled::NoTreads),
    }
}

/// Distances of the risers along a way and their heights, in metres (down is negative); `None` for a way that is too long.
fn risers(search: &FootholdSearch<'_>, way: &Way, start: f32) -> Option<Vec<(f32, f32)>> {
    let spacing = SPACING * search.leg;
    // The last steps land beyond the hips.
    let casts = (way.end() - way.start() + search.leg) / spacing;
    if casts.is_nan() || casts > MAX_CASTS {
        return None;
    }
    let place = |i: usize| way.start() + i as f32 * spacing;
    let mut base = search.height(way.at(way.start()), start).map(|(y, _)| y);
    base = base.or_else(|| search.anywhere(way.at(way.start()), start).map(|(y, _)| y));
    let mut base = base?;
    let heights: Vec<f32> = (0..casts as usize)
        .map(|i| {
            base = search.height(way.at(place(i)), base).map_or(base, |(y, _)| y);
            base
        })
        .collect();
    let mut found = Vec::new();
    let mut i = 0;
    while i + LEANS < heights.len() {
        let rise = heights[i + LEANS] - heights[i];
        if rise.abs() < RISER * search.leg {
            i += 1;
            continue;
        }
        let jump = |k: &usize| (heights[k + 1] - heights[*k]).abs();
        let at = (i..i + LEANS).max_by(|a, b| jump(a).total_cmp(&jump(b))).unwrap_or(i);
        let middle = 0.5 * (heights[at] + heights[at + 1]);
        let (mut low, mut high) = (place(at), place(at + 1));
        for _ in 0..8 {
            let half = 0.5 * (low + high);
            let y = search.height(way.at(half), heights[at]).map_or(heights[at], |(y, _)| y);
            if (y > middle) == (rise > 0.0) { high = half } else { low = half }
        }
        found.push((0.5 * (low + high), rise));
        i = at + LEANS;
    }
    Some(found)
}

/// A walk whose stride is to be scaled.
struct Walk<'a> {
    way: &'a Way,
    falls: &'a [Footfall],
    /// Length of a step in the clip, in metres.
    step: f32,
    /// Treads a step.
    treads: u32,
    /// Distance of a sole from a riser, in metres: the clearance of a swinging foot.
    margin: f32,
}

/// A scaled walk.
struct Scaled {
    /// Way of the hips.
    way: Way,
    /// Distance of each footfall along it, in metres.
    places: Vec<f32>,
    /// Length of a step on the first flight divided by the clip's.
    factor: f32,
}

impl Walk<'_> {
    /// Places the footfalls on the treads of flights, and scales the way of the hips accordingly.
    fn fit(&self, flights: &[Flight]) -> Result<Scaled, Unscaled> {
        let mut places: Vec<f32> = self.falls.iter().map(|f| f.at).collect();
        let mut factor = None;
        // The last footfall that is settled. The clip starts where it stands.
        let mut settled = self.falls.iter().rposition(|f| f.from <= 0.0).unwrap_or(0);
        // Slope of the map beyond the last footfall.
        let mut slope = 1.0;
        for flight in flights {
            let own = self.treads as f32 * flight.tread / self.step;
            let Some(end) = self.climb(flight, own, &mut places, settled) else { continue };
            factor = factor.or(Some(own));
            settled = end.min(places.len() - 1);
            slope = if end == places.len() { own } else { 1.0 };
        }
        let factor = factor.ok_or(Unscaled::NoTreads)?;
        let displacement = self.displacement(&places, slope);
        let points = &self.way.points;
        let distances: Vec<f32> = self.way.distances.iter().map(|d| *d + displacement(*d)).collect();
        let mut scaled = Way { distances, points: Vec::with_capacity(points.len()), ..self.way.clone() };
        let mut at = self.way.at(scaled.start());
        for i in 0..points.len() {
            if let Some(before) = i.checked_sub(1) {
                let covered = self.way.distances[i] - self.way.distances[before];
                let to = scaled.distances[i] - scaled.distances[before];
                at += (points[i] - points[before]) * if covered > 0.0 { to / covered } else { 1.0 };
            }
            scaled.points.push(at);
        }
        Ok(Scaled { way: scaled, places, factor })
    }

    /// Displacement by distance along the clip's way, in metres: linear from footfall to footfall, averaged over a step.
    /// `slope` is that of the scaled distance beyond the last footfall.
    fn displacement(&self, places: &[f32], slope: f32) -> impl Fn(f32) -> f32 + use<> {
        let step = self.step;
        // Distances in the clip, and displacements.
        let mut knots: Vec<[f32; 2]> = Vec::new();
        for (fall, place) in self.falls.iter().zip(places) {
            match knots.last() {
                // A step that closes up says nothing about the hips.
                Some([at, _]) if fall.at < at + CLOSING * step => {}
                // The scaled distance never decreases.
                Some([at, by]) => knots.push([fall.at, (place - fall.at).max(at + by - fall.at)]),
                None => knots.push([fall.at, place - fall.at]),
            }
        }
        if let Some(&[last, by]) = knots.last() {
            let beyond = self.way.end().max(last) + 2.0 * step;
            knots.push([beyond, by + (slope - 1.0) * (beyond - last)]);
        }
        let at = move |distance: f32| {
            let after = knots.partition_point(|k| k[0] <= distance);
            match (after.checked_sub(1).map(|before| knots[before]), knots.get(after)) {
                (Some([from, a]), Some([to, b])) => a + (b - a) * ((distance - from) / (to - from)),
                (Some([_, by]), None) | (None, Some(&[_, by])) => by,
                (None, None) => 0.0,
            }
        };
        let part = move |k: usize| step * ((k as f32 + 0.5) / PARTS as f32 - 0.5);
        move |distance| (0..PARTS).map(|k| at(distance + part(k))).sum::<f32>() / PARTS as f32
    }

    /// Number of steps from a footfall to the next, for a step that closes up 0.
    fn steps(&self, from: usize) -> i32 {
        math::floor((self.falls[from + 1].at - self.falls[from].at) / self.step + 0.5) as i32
    }

    /// Places the footfalls after `settled` on the treads of a flight. Returns the index of the first footfall beyond the
    /// flight, or the number of footfalls; `None` if the walk does not reach the flight.
    fn climb(&self, flight: &Flight, factor: f32, places: &mut [f32], settled: usize) -> Option<usize> {
        let (falls, margin) = (self.falls, self.margin);
        let treads = self.treads.min(1000) as i32;
        let place = |k: i32, j: usize| flight.place(k, &falls[j], margin);
        let last = *flight.risers.last()?;
        let mut k = flight.risers.iter().filter(|r| **r <= places[settled]).count() as i32 - 1;
        let mut j = settled + 1;
        if places[settled] > last {
            return None;
        }
        if k < 0 {
            // The first footfall that the clip puts beyond its tread comes down on it. Where steps grow, it is the last one
            // before it. Steps up to there are changed at most as much as those on the stairs.
            k = treads - 1;
            let beyond = (j..falls.len()).find(|&j| places[j] >= place(k, j))?;
            let first = if factor <= 1.0 || beyond == j { beyond } else { beyond - 1 };
            places[first] = place(k, first);
            let mut before = k;
            for i in (j..first).rev() {
                before = before.saturating_sub(self.steps(i).saturating_mul(treads));
                let at = place(before, i).max(places[settled]);
                if (factor <= 1.0) == (places[i] <= at) {
                    break;
                }
                places[i] = at;
            }
            j = first + 1;
        }
        while j < falls.len() {
            let steps = self.steps(j - 1);
            k = k.saturating_add(steps.saturating_mul(treads));
            if k >= flight.len() && steps > 0 {
                places[j] = place(flight.len(), j);
                let by = places[j] - falls[j].at;
                for i in j + 1..falls.len() {
                    places[i] = falls[i].at + by;
                }
                return Some(j);
            }
            places[j] = if steps == 0 {
                places[j - 1] + factor * (falls[j].at - falls[j - 1].at)
            } else {
                place(k, j)
            };
            j += 1;
        }
        Some(j)
    }
}
