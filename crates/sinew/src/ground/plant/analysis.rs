//! A clip as the planter sees it: feet sampled at equal steps, with travel added where the clip walks on the spot.

use alloc::{string::String, vec::Vec};

use glam::Vec3;

use super::{Contacts, Figure, FootSample, Interval, PlanError};
use crate::{Pose, math, motion::Clip};

/// One foot through time.
#[derive(Clone, Debug, Default)]
pub struct FootCurve {
    /// The samples, travel included.
    pub samples: Vec<FootSample>,
    /// Height of the heel above its lowest, in metres.
    pub heel_heights: Vec<f32>,
    /// The same for the ball.
    pub ball_heights: Vec<f32>,
    /// Speed of the heel in m/s.
    pub heel_speeds: Vec<f32>,
    /// The same for the ball.
    pub ball_speeds: Vec<f32>,
    /// Contacts that were given ([`ClipAnalysis::set_contacts`]), in seconds from the first sample
    /// on; without them they are found.
    pub given: Option<Contacts>,
}

/// A clip sampled at equal steps.
#[derive(Clone, Debug)]
pub struct ClipAnalysis {
    /// Seconds between samples.
    pub step: f32,
    /// Samples a key.
    pub per_key: usize,
    /// The clip from its first key to its last.
    pub clip: Interval,
    /// The clip's time of the first sample.
    pub start: f32,
    /// How long one round of the clip is, in seconds.
    pub cycle: f32,
    /// How many rounds are sampled.
    pub cycles: u32,
    /// Travel added, in m/s.
    pub travel: Vec3,
    /// The pelvis joint, travel included.
    pub pelvis: Vec<Vec3>,
    /// The feet, in the order of the figure's legs.
    pub feet: Vec<FootCurve>,
    /// What was noticed on the way.
    pub notes: Vec<String>,
}

/// A clip whose pelvis ends no further from where it began than this share of the distance its feet push it walks on the
/// spot.
const ON_THE_SPOT: f32 = 0.25;

/// At 60 samples a second more than four hours, and about a gigabyte.
const MOST_SAMPLES: usize = 1_000_000;

impl ClipAnalysis {
    /// How many samples there are (at least one).
    #[allow(clippy::len_without_is_empty)] // A clip has a first key.
    pub fn len(&self) -> usize {
        self.pelvis.len()
    }

    /// Time of the clip at a sample.
    pub fn clip_time(&self, sample: usize) -> f32 {
        let t = sample as f32 * self.step;
        if self.cycles <= 1 {
            return self.start + t.min(self.cycle);
        }
        let round = math::floor(t / self.cycle + 1e-4).min((self.cycles - 1) as f32);
        self.start + (t - round * self.cycle).max(0.0)
    }

    /// Samples `clip` every `step` seconds, `per_key` times a key of what is to be made of it; speeds are measured over a
    /// key to either side. `repeat` asks for that many rounds of a clip that walks on the spot.
    pub fn new(
        figure: &Figure,
        clip: &Clip,
        rest: &Pose,
        step: f32,
        per_key: usize,
        repeat: Option<u32>,
    ) -> Result<Self, PlanError> {
        let mut pose = rest.clone();
        let mut analysis = Self {
            step,
            per_key: per_key.max(1),
            clip: Interval { from: clip.start(), to: clip.end() },
            start: clip.start(),
            cycle: clip.duration(),
            cycles: 1,
            travel: Vec3::ZERO,
            pelvis: Vec::new(),
            feet: Vec::new(),
            notes: Vec::new(),
        };
        analysis.skip_reference_pose(figure, clip, &mut pose);
        analysis.sample(figure, clip, &mut pose)?;
        analysis.travel = analysis.find_travel(figure);
        let speed = analysis.travel.length();
        if speed > 0.0 {
            // Far enough to meet a few steps or a stretch of slope: four metres for a grown figure, twelve rounds at most.
            let wanted = math::ceil(4.0 * (figure.height() / 1.8) / (speed * analysis.cycle).max(1e-3));
            analysis.cycles = repeat.unwrap_or((wanted as u32).clamp(1, 12));
        } else if let Some(n) = repeat.filter(|&n| n > 1) {
            let net = analysis.net();
            if net.length() < 0.05 * figure.leg_length() {
                analysis.cycles = n;
            } else {
                analysis.notes.push(alloc::format!(
                    "the clip ends {:.2} m from where it begins, so it is played once and not {n} times",
                    net.length()
                ));
            }
        }
        if analysis.cycles > 1 || speed > 0.0 {
            analysis.sample(figure, clip, &mut pose)?;
        }
        Ok(analysis)
    }

    /// How far the pelvis gets, on the level.
    fn net(&self) -> Vec3 {
        match (self.pelvis.first(), self.pelvis.last()) {
            (Some(a), Some(b)) => (*b - *a).with_y(0.0),
            _ => Vec3::ZERO,
        }
    }

    /// Recordings often begin with one frame of a reference pose: the whole figure jumps from it to the first real frame.
    /// Such a frame is left out.
    fn skip_reference_pose(&mut self, figure: &Figure, clip: &Clip, pose: &mut Pose) {
        let rate = clip.key_rate();
        if rate <= 0.0 || clip.duration() * rate < 4.0 {
            return;
        }
        // A foot that swings moves on; so the foot that jumps furthest compared with what it does next decides.
        let mut first = 0.0f32;
        for leg in figure.legs() {
            let mut place = |i: f32| {
                clip.sample(clip.start() + i / rate, pose);
                pose.update();
                pose.position(leg.foot)
            };
            let [a, b, c, d] = [0.0, 1.0, 2.0, 3.0].map(&mut place);
            let (jump, then) = ((b - a).length(), (c - b).length().max((d - c).length()));
            if jump > 10.0 * then {
                first = first.max(jump);
            }
        }
        // A tenth of a leg in one frame is 10 m/s at 120 Hz; a real motion does not do that once and then not at all.
        if first > 0.1 * figure.leg_length() {
            self.start = clip.start() + 1.0 / rate;
            self.cycle = clip.end() - self.start;
            self.notes.push(alloc::format!(
                "the first frame is a reference pose ({first:.2} m from the second): the clip is taken from {:.4} s",
                self.start
            ));
        }
    }

    fn sample(&mut self, figure: &Figure, clip: &Clip, pose: &mut Pose) -> Result<(), PlanError> {
        let seconds = self.cycle * self.cycles as f32;
        let samples = seconds / self.step;
        // The times of a damaged file may be so far apart that their difference is not finite.
        if samples.is_nan() || samples > MOST_SAMPLES as f32 {
            return Err(PlanError::TooLong { seconds, longest: MOST_SAMPLES as f32 * self.step });
        }
        let reach = self.per_key;
        let count = math::floor(seconds / self.step + 1e-3) as usize + 1;
        self.pelvis.clear();
        self.feet = alloc::vec![FootCurve::default(); figure.legs().len()];
        for i in 0..count {
            clip.sample(self.clip_time(i), pose);
            pose.update();
            let moved = self.travel * (i as f32 * self.step);
            self.pelvis.push(pose.position(figure.pelvis) + moved);
            for (foot, leg) in self.feet.iter_mut().zip(figure.legs()) {
                let sample = leg.sample(pose, moved);
                // Finite scales and offsets one below the other may still multiply beyond what f32 holds.
                if !(sample.heel_at() + sample.ball_at() + sample.hip).is_finite() {
                    return Err(PlanError::NotFinite { time: self.clip_time(i) });
                }
                foot.samples.push(sample);
            }
        }
        for foot in &mut self.feet {
            foot.measure(self.step, reach);
            let hinge = foot.hinge();
            for sample in &mut foot.samples {
                sample.knee_way = sample.knee_way(hinge);
            }
        }
        Ok(())
    }

    /// The speed at which standing feet push a figure that stays on the spot; zero where it does not.
    ///
    /// Standing feet are the points within a twentieth of a leg of their lowest. Their velocities gather around one value
    /// while they stand and scatter while they land and lift: the value is the densest place, found by mean shift from the
    /// median with a radius that shrinks to the contact's own speed limit.
    fn find_travel(&self, figure: &Figure) -> Vec3 {
        let limit = 0.05 * figure.leg_length();
        let mut velocities: Vec<Vec3> = Vec::new();
        for foot in &self.feet {
            for (heights, point) in [
                (&foot.heel_heights, FootSample::heel_at as fn(&FootSample) -> Vec3),
                (&foot.ball_heights, FootSample::ball_at),
            ] {
                for (around, height) in foot.samples.windows(3).zip(heights.iter().skip(1)) {
                    if *height <= limit {
                        let v = (point(&around[2]) - point(&around[0])) / (2.0 * self.step);
                        velocities.push(v.with_y(0.0));
                    }
                }
            }
        }
        let Some(mut at) = median(&velocities) else { return Vec3::ZERO };
        let scale = figure.height() / 1.8;
        for radius in [1.2, 0.9, 0.6, 0.6, 0.45, 0.45, 0.45] {
            let near = || velocities.iter().filter(|v| (**v - at).length() <= radius * scale);
            let count = near().count();
            if count > 0 {
                at = near().sum::<Vec3>() / count as f32;
            }
        }
        let travel = -at;
        // Slower than this no foot can be told to slide rather than to stand unsteadily.
        if travel.length() < 0.15 * scale || self.net().length() > ON_THE_SPOT * travel.length() * self.cycle
        {
            return Vec3::ZERO;
        }
        travel
    }
}

/// Component-wise median.
fn median(of: &[Vec3]) -> Option<Vec3> {
    let middle = |f: fn(&Vec3) -> f32| {
        let mut values: Vec<f32> = of.iter().map(f).collect();
        values.sort_by(f32::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Vec3::new(middle(|v| v.x)?, 0.0, middle(|v| v.z)?))
}

impl FootSample {
    /// The heel in model space.
    pub fn heel_at(&self) -> Vec3 {
        self.ankle + self.heel
    }

    /// The ball in model space.
    pub fn ball_at(&self) -> Vec3 {
        self.ankle + self.ball
    }

    /// The normal of the knee's bend, as long as the sine of its flexion (model space): thigh x shin.
    pub fn bend(&self) -> Vec3 {
        let (a, b) = (self.knee - self.hip, self.ankle - self.knee);
        a.normalize_or_zero().cross(b.normalize_or_zero())
    }

    /// Which way the knee points. `hinge` is the axis of its bend in the thigh's frame. A leg that is nearly straight hardly
    /// says where its knee points, so the less it is bent, the more the hinge decides: half and half at 15 degrees.
    pub fn knee_way(&self, hinge: Vec3) -> Vec3 {
        const HALF: f32 = 0.26;
        let normal = self.bend() + math::rotate(self.thigh, hinge) * HALF;
        let axis = (self.ankle - self.hip).normalize_or(Vec3::NEG_Y);
        math::perpendicular(axis, axis.cross(normal))
    }

    /// Flexion of the knee in radians: 0 is straight.
    pub fn flexion(&self) -> f32 {
        let (a, b) = (self.knee - self.hip, self.ankle - self.knee);
        math::atan2(a.cross(b).length(), a.dot(b))
    }
}

impl super::Leg {
    /// The leg as it is in a pose, carried by `moved`.
    pub fn sample(&self, pose: &Pose, moved: Vec3) -> FootSample {
        let frame = pose.model(self.foot);
        let relative = |p: Vec3| frame.transform_vector3(p);
        FootSample {
            hip: pose.position(self.thigh) + moved,
            knee: pose.position(self.shin) + moved,
            ankle: frame.translation + moved,
            thigh: pose.model_rotation(self.thigh),
            knee_way: Vec3::ZERO,
            heel: relative(self.sole.heel),
            ball: relative(self.sole.ball),
            tip: pose.model(self.toes.unwrap_or(self.foot)).transform_point3(self.sole.tip)
                - frame.translation,
        }
    }
}

impl FootCurve {
    /// The axis about which the knee bends, in the thigh's frame: the mean of the clip, each sample counted by its bend.
    fn hinge(&self) -> Vec3 {
        let sum: Vec3 = self.samples.iter().map(|s| math::rotate(math::conjugate(s.thigh), s.bend())).sum();
        sum.normalize_or_zero()
    }

    /// Heights over each point's lowest, and speeds over `reach` samples to either side.
    fn measure(&mut self, step: f32, reach: usize) {
        let n = self.samples.len();
        let points = |f: fn(&FootSample) -> Vec3| self.samples.iter().map(f).collect::<Vec<_>>();
        let heights = |p: &[Vec3]| {
            let low = p.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
            p.iter().map(|p| p.y - low).collect()
        };
        let speeds = |p: &[Vec3]| {
            (0..n)
                .map(|i| {
                    let (a, b) = (i.saturating_sub(reach), (i + reach).min(n - 1));
                    if a == b { 0.0 } else { (p[b] - p[a]).length() / ((b - a) as f32 * step) }
                })
                .collect()
        };
        let (heel, ball) = (points(FootSample::heel_at), points(FootSample::ball_at));
        (self.heel_heights, self.ball_heights) = (heights(&heel), heights(&ball));
        (self.heel_speeds, self.ball_speeds) = (speeds(&heel), speeds(&ball));
    }
}

/// A curve of samples `step` seconds apart, read between them.
#[derive(Clone, Copy)]
pub struct SampledCurve<'a> {
    /// The samples.
    pub values: &'a [f32],
    /// Seconds between them.
    pub step: f32,
}

impl SampledCurve<'_> {
    /// The value at a time, linearly between samples.
    pub fn value(&self, time: f32) -> f32 {
        let last = self.values.len() - 1;
        let at = (time / self.step).clamp(0.0, last as f32);
        let i = (at as usize).min(last.saturating_sub(1));
        let s = at - i as f32;
        self.values[i] * (1.0 - s) + self.values[(i + 1).min(last)] * s
    }

    /// The rate a second at a time, over one sample to either side.
    pub fn rate(&self, time: f32) -> f32 {
        (self.value(time + self.step) - self.value(time - self.step)) / (2.0 * self.step)
    }
}
