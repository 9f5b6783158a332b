//! Clip analysis: legs sampled at equal steps, with travel added to a clip that walks on the spot.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};

use super::{
    Contacts, Figure, FootSample, Interval, PlanError,
    contact::{ContactLimits, intervals},
    problem::Own,
};
use crate::{
    Pose, math,
    motion::{Clip, ClipCursor},
};

/// One foot over the clip, sample by sample.
#[derive(Clone, Debug, Default)]
pub struct FootCurve {
    /// Samples of leg and foot, travel included.
    pub samples: Vec<FootSample>,
    /// Direction up from the sole at each sample, in model space: a unit vector, vertical in the rest pose.
    pub upright: Vec<Vec3>,
    /// Lengths of thigh and shin at each sample, in metres. A stride moves hip and ankle of `samples`, apart if need be.
    pub bones: Vec<[f32; 2]>,
    /// Height of the heel above its lowest height in the clip, in metres.
    pub heel_heights: Vec<f32>,
    /// Height of the ball above its lowest height in the clip, in metres.
    pub ball_heights: Vec<f32>,
    /// Speed of the heel, in m/s.
    pub heel_speeds: Vec<f32>,
    /// Speed of the ball, in m/s.
    pub ball_speeds: Vec<f32>,
    /// Contacts from the caller ([`ClipAnalysis::set_contacts`]), in seconds from the first sample. `None` detects them.
    pub given: Option<Contacts>,
}

/// A clip sampled at equal steps.
#[derive(Clone, Debug)]
pub struct ClipAnalysis {
    /// Time between samples, in seconds.
    pub step: f32,
    /// Samples per key of the planted clip.
    pub per_key: usize,
    /// Interval from the clip's first key to its last, in seconds.
    pub clip: Interval,
    /// Clip time of the first sample, in seconds.
    pub start: f32,
    /// Duration of one round of the clip, in seconds.
    pub cycle: f32,
    /// Number of rounds sampled.
    pub cycles: u32,
    /// Velocity added to a clip that walks on the spot, in m/s in model space; zero for other clips.
    pub travel: Vec3,
    /// Position of the pelvis joint at each sample in model space, travel included.
    pub pelvis: Vec<Vec3>,
    /// Displacement of the whole figure from the clip at each sample, in metres in model space: the travel until then, and
    /// what a stride scales it by ([`ClipAnalysis::fit_stride`]).
    pub carry: Vec<Vec3>,
    /// Turn of the pelvis from the rest pose at each sample, in model space.
    pub upright: Vec<Quat>,
    /// Ranges and accelerations of the clip's joints, before a stride scales it.
    pub(super) own: Own,
    /// Feet in the order of the figure's legs.
    pub feet: Vec<FootCurve>,
    /// Notes for users, a sentence each.
    pub notes: Vec<String>,
}

/// Largest net displacement of the pelvis in a clip that walks on the spot, as a fraction of the distance that its feet
/// cover.
const ON_THE_SPOT: f32 = 0.25;

/// Largest number of samples: more than four hours at 60 Hz, about 1 GB.
const MAX_SAMPLES: usize = 1_000_000;

impl ClipAnalysis {
    /// Number of samples, at least one.
    #[allow(clippy::len_without_is_empty)] // A clip has a first key.
    pub fn len(&self) -> usize {
        self.pelvis.len()
    }

    /// Clip time of a sample, in seconds. Samples of later rounds repeat the times of the first. The last sample is the start of one
    /// more round, so that the planted clip closes even if the clip's last key differs from its first.
    pub fn clip_time(&self, sample: usize) -> f32 {
        let t = sample as f32 * self.step;
        if self.cycles <= 1 {
            return self.start + t.min(self.cycle);
        }
        let round = math::floor(t / self.cycle + 1e-4);
        self.start + (t - round * self.cycle).max(0.0)
    }

    /// Samples `clip` every `step` seconds, with `per_key` samples per key of the planted clip. Speeds are central
    /// differences over one key to either side.
    ///
    /// `repeat` is the number of rounds of a clip that walks on the spot. `None` makes 1 to 12 rounds, enough to travel
    /// about 4 m. A clip that ends elsewhere than it starts is sampled once, with a note.
    ///
    /// # Errors
    ///
    /// The clip has over a million samples, or a leg's position overflows `f32`.
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
            carry: Vec::new(),
            upright: Vec::new(),
            own: Own::default(),
            feet: Vec::new(),
            notes: Vec::new(),
        };
        analysis.skip_reference_pose(figure, clip, &mut pose);
        analysis.sample(figure, clip, &mut pose)?;
        analysis.travel = analysis.find_travel(figure);
        let speed = analysis.travel.length();
        if speed > 0.0 {
            // Far enough for a few steps or a slope: 4 m for a figure of 1.8 m.
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

    /// Horizontal displacement of the pelvis from the first sample to the last.
    fn net(&self) -> Vec3 {
        match (self.pelvis.first(), self.pelvis.last()) {
            (Some(a), Some(b)) => (*b - *a).with_y(0.0),
            _ => Vec3::ZERO,
        }
    }

    /// Skips a reference pose in the first frame, as recordings often have it: the figure jumps from it to the motion.
    fn skip_reference_pose(&mut self, figure: &Figure, clip: &Clip, pose: &mut Pose) {
        let rate = clip.key_rate();
        if rate <= 0.0 || clip.duration() * rate < 4.0 {
            return;
        }
        // A swing continues in the next frames, a jump does not.
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
        // A tenth of a leg in one frame is 10 m/s at 120 Hz; no motion does that for a single frame.
        if first > 0.1 * figure.leg_length() {
            self.start = clip.start() + 1.0 / rate;
            self.cycle = clip.end() - self.start;
            self.notes.push(alloc::format!(
                "the first frame is a reference pose ({first:.2} m from the second): planting starts at {:.4} s",
                self.start
            ));
        }
    }

    fn sample(&mut self, figure: &Figure, clip: &Clip, pose: &mut Pose) -> Result<(), PlanError> {
        let seconds = self.cycle * self.cycles as f32;
        let samples = seconds / self.step;
        // Times of a damaged file may have a difference that is not finite.
        if samples.is_nan() || samples > MAX_SAMPLES as f32 {
            return Err(PlanError::TooLong { seconds, max_seconds: MAX_SAMPLES as f32 * self.step });
        }
        let reach = self.per_key;
        let count = math::floor(seconds / self.step + 1e-3) as usize + 1;
        self.pelvis.clear();
        self.carry.clear();
        self.upright.clear();
        self.feet = alloc::vec![FootCurve::default(); figure.legs().len()];
        let mut cursor = ClipCursor::default();
        for i in 0..count {
            clip.sample_from(&mut cursor, self.clip_time(i), pose);
            pose.update();
            let moved = self.travel * (i as f32 * self.step);
            self.pelvis.push(pose.position(figure.pelvis) + moved);
            self.carry.push(moved);
            self.upright
                .push(math::mul(pose.model_rotation(figure.pelvis), math::conjugate(figure.rest_pelvis)));
            for ((foot, leg), up) in self.feet.iter_mut().zip(figure.legs()).zip(&figure.sole_up) {
                let sample = leg.sample(pose, moved);
                // The product of finite local transforms may overflow.
                if !(sample.heel_at() + sample.ball_at() + sample.hip).is_finite() {
                    return Err(PlanError::NotFinite { time: self.clip_time(i) });
                }
                foot.bones.push([(sample.knee - sample.hip).length(), (sample.ankle - sample.knee).length()]);
                foot.samples.push(sample);
                foot.upright.push(math::rotate(pose.model_rotation(leg.foot), *up));
            }
        }
        for (foot, (thigh, _)) in self.feet.iter_mut().zip(&figure.rest_thighs) {
            foot.measure(self.step, reach);
            // At rest, knees bend to the front: the axis to the left.
            let ahead = math::rotate(math::conjugate(*thigh), Vec3::Y.cross(figure.front));
            let hinge = foot.hinge(ahead);
            for sample in &mut foot.samples {
                sample.knee_way = sample.knee_way(hinge);
            }
        }
        self.own = Own::of(figure, self);
        Ok(())
    }

    /// Finds the travel velocity of a clip that walks on the spot, in m/s; zero for other clips.
    ///
    /// Points within a twentieth of a leg of their lowest height may stand. Their velocities cluster around one value while
    /// they stand and scatter while they land and lift. The travel is opposite to the densest velocity, found by mean shift
    /// from the median, with a radius that shrinks to 1.5 times the default contact speed.
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
        // Below this speed a sliding foot cannot be told from one that stands unsteadily.
        if travel.length() < 0.15 * scale || self.net().length() > ON_THE_SPOT * travel.length() * self.cycle
        {
            return Vec3::ZERO;
        }
        travel
    }
}

/// Component-wise median.
pub(super) fn median(of: &[Vec3]) -> Option<Vec3> {
    let middle = |f: fn(&Vec3) -> f32| {
        let mut values: Vec<f32> = of.iter().map(f).collect();
        values.sort_by(f32::total_cmp);
        values.get(values.len() / 2).copied()
    };
    Some(Vec3::new(middle(|v| v.x)?, 0.0, middle(|v| v.z)?))
}

/// Sine of the flexion, 6 degrees, at which a leg's own bend tells the axis of its knee as surely as what is known of it
/// otherwise.
const BENT: f32 = 0.1;

impl FootSample {
    /// Position of the heel in model space.
    pub fn heel_at(&self) -> Vec3 {
        self.ankle + self.heel
    }

    /// Position of the ball in model space.
    pub fn ball_at(&self) -> Vec3 {
        self.ankle + self.ball
    }

    /// Normal of the knee's bend plane in model space, thigh x shin. Its length is the sine of the flexion.
    pub fn bend(&self) -> Vec3 {
        let (a, b) = (self.knee - self.hip, self.ankle - self.knee);
        a.normalize_or_zero().cross(b.normalize_or_zero())
    }

    /// Direction in which the knee points, in model space: a unit vector perpendicular to the line from hip to ankle.
    ///
    /// `hinge` is the axis of the knee in the thigh's frame. The direction of a nearly straight leg's own bend is uncertain,
    /// so the hinge counts the more the less the leg is bent, and half at 6 degrees. A leg that is bent against its hinge has
    /// no bend of its own.
    pub fn knee_way(&self, hinge: Vec3) -> Vec3 {
        let (bend, hinge) = (self.bend(), math::rotate(self.thigh, hinge));
        let own = if bend.dot(hinge) < 0.0 { Vec3::ZERO } else { bend };
        let normal = own + hinge * BENT;
        let axis = (self.ankle - self.hip).normalize_or(Vec3::NEG_Y);
        math::perpendicular(axis, axis.cross(normal))
    }

    /// Flexion of the knee in radians; 0 is straight.
    pub fn flexion(&self) -> f32 {
        let (a, b) = (self.knee - self.hip, self.ankle - self.knee);
        math::atan2(a.cross(b).length(), a.dot(b))
    }

    /// Dorsiflexion of the ankle in radians: the line from heel to ball turned up from a right angle to the shin.
    pub fn dorsiflexion(&self) -> f32 {
        let up = (self.knee - self.ankle).normalize_or_zero();
        let along = (self.ball - self.heel).normalize_or_zero();
        // The ankle is over the sole.
        let over = -0.5 * (self.heel + self.ball);
        let over = over - along * over.dot(along);
        let sin = up.dot(along);
        let cos = math::sqrt((1.0 - sin * sin).max(0.0));
        math::atan2(sin, if up.dot(over) < 0.0 { -cos } else { cos })
    }
}

impl super::Leg {
    /// Samples the leg in an updated pose, translated by `moved` in model space. `knee_way` stays zero.
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
    /// Contacts of the foot: the given ones, or else the times in which heel and ball are within the limits. There is no
    /// hysteresis: a point that waits for its release is no longer at rest. `step` is the time between samples, in seconds.
    pub fn contacts(&self, step: f32, limits: &ContactLimits) -> Contacts {
        let limits = ContactLimits { release: 1.0, ..*limits };
        self.given.clone().unwrap_or_else(|| Contacts {
            heel: intervals(&self.heel_heights, &self.heel_speeds, step, &limits),
            ball: intervals(&self.ball_heights, &self.ball_speeds, step, &limits),
        })
    }

    /// Mean axis of the knee over the clip in the thigh's frame, each sample weighted by the sine of its flexion. `ahead` where the
    /// leg is straight throughout, as in a still clip of a rest pose: its bends are modelling noise.
    fn hinge(&self, ahead: Vec3) -> Vec3 {
        if self.samples.iter().all(|s| s.bend().length() < BENT) {
            return ahead;
        }
        let sum: Vec3 = self.samples.iter().map(|s| math::rotate(math::conjugate(s.thigh), s.bend())).sum();
        sum.normalize_or_zero()
    }

    /// Computes heights above each point's lowest height, and speeds over `reach` samples to either side.
    pub(super) fn measure(&mut self, step: f32, reach: usize) {
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

/// A sampled curve, linear between its samples.
#[derive(Clone, Copy)]
pub struct SampledCurve<'a> {
    /// Samples; at least one.
    pub values: &'a [f32],
    /// Time between samples, in seconds.
    pub step: f32,
}

impl SampledCurve<'_> {
    /// Value at a time in seconds. Beyond the ends it is that of the end.
    pub fn value(&self, time: f32) -> f32 {
        let last = self.values.len() - 1;
        let at = (time / self.step).clamp(0.0, last as f32);
        let i = (at as usize).min(last.saturating_sub(1));
        let s = at - i as f32;
        self.values[i] * (1.0 - s) + self.values[(i + 1).min(last)] * s
    }

    /// Rate per second at a time, over one sample to either side.
    pub fn rate(&self, time: f32) -> f32 {
        (self.value(time + self.step) - self.value(time - self.step)) / (2.0 * self.step)
    }
}
