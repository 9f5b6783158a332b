//! The whole clip at once: where each foot stands, how it swings from one footing to the next, and how the pelvis goes.

use alloc::{string::String, vec::Vec};

use glam::{Quat, Vec3};
use thiserror::Error;

use super::{
    Figure, FootSample, Footing, Search, SettingError, Settings, Survey, Twist, Unplanted,
    contact::Limits,
    footing::heading,
    hermite::{State, quintic},
    pelvis::Reach,
    stance::{Stance, stances},
    survey::Sampled,
    swing::Swing,
    tiptoe::Tiptoe,
};
use crate::{Pose, ground::Ground, math, motion::Clip};

/// Why a clip was not planted.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A setting is outside its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// There is no ground under the whole walk.
    #[error("there is no ground under the walk: looked from ({}, {}) to ({}, {}), between {low} and {high} m", from.x, from.z, to.x, to.z)]
    NoGround {
        /// Where the pelvis is at the begin.
        from: Vec3,
        /// Where it is at the end.
        to: Vec3,
        /// The lowest height looked at.
        low: f32,
        /// The highest.
        high: f32,
    },
    /// The clip, in all its rounds, is longer than can be held.
    #[error("{seconds} s are too long to plant; at most {longest:.0} s are")]
    TooLong {
        /// How long it is.
        seconds: f32,
        /// How long it may be.
        longest: f32,
    },
    /// The clip places a leg where `f32` cannot.
    #[error("at {time} s of the clip a leg is not at a finite place")]
    NotFinite {
        /// Time in the clip, in seconds.
        time: f32,
    },
    /// The rate of keys makes no sense.
    #[error("keys must be made at 1 to 1000 a second, not {0}")]
    Rate(f32),
}

/// A stance with its footing, or why it has none.
#[derive(Clone, Debug, PartialEq)]
pub struct Planted {
    /// When heel and ball stand.
    pub stance: Stance,
    /// Where, or why not.
    pub footing: Result<Footing, Unplanted>,
}

/// What is done to one foot at one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootFrame {
    /// Turn of the foot about its ankle, in model space, on top of the clip's.
    pub turn: Quat,
    /// Turn of the toes on top of that, in the clip's model axes.
    pub toes: Quat,
    /// Where the ankle goes, in model space.
    pub ankle: Vec3,
    /// Which way the knee points, in model space; carried from the clip's line between hip and ankle to the new one.
    pub knee_way: Vec3,
    /// From hip to ankle in the clip.
    pub clip_line: Vec3,
    /// How much of it is applied: 0 where the foot finds no ground, 1 where it does.
    pub weight: f32,
}

/// Everything that planting decided, a sample at a time.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The clip with its travel.
    pub survey: Survey,
    /// Each leg's stances.
    pub stances: Vec<Vec<Planted>>,
    /// Each leg's foot at each sample.
    pub feet: Vec<Vec<FootFrame>>,
    /// How far the pelvis is raised at each sample, in metres.
    pub pelvis: Vec<f32>,
    /// Height of the ground under the body at each sample.
    pub base: Vec<f32>,
    /// Samples a key.
    pub per_key: usize,
}

/// Seconds in which a foot without a footing to come from or go to takes the body's height: most of a swing.
const ALONE: f32 = 0.35;

/// Samples a second, at least, at which contacts are looked for and swings are cleared.
const SAMPLE_RATE: f32 = 60.0;

impl Plan {
    /// Plans `clip` for `figure` on `ground`, with `rate` keys a second. `repeat` is the number of rounds of a clip that
    /// walks on the spot (by default, enough for about four metres).
    pub fn new(
        figure: &Figure,
        rest: &Pose,
        clip: &Clip,
        ground: &dyn Ground,
        settings: &Settings,
        rate: f32,
        repeat: Option<u32>,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        if !(1.0..=1000.0).contains(&rate) {
            return Err(PlanError::Rate(rate));
        }
        let per_key = math::ceil(SAMPLE_RATE / rate) as usize;
        let step = 1.0 / (rate * per_key as f32);
        let survey = Survey::new(figure, clip, rest, step, per_key, repeat)?;
        Self::from_survey(figure, survey, ground, settings)
    }

    /// The same for a clip that was surveyed before, and that may have been given its contacts ([`Survey::set_contacts`]).
    pub fn from_survey(
        figure: &Figure,
        survey: Survey,
        ground: &dyn Ground,
        settings: &Settings,
    ) -> Result<Self, PlanError> {
        settings.check()?;
        let leg = figure.leg_length();
        let scale = figure.height() / 1.8;
        let search = Search { ground, settings, leg, scale };
        let planner = Planner { figure, survey: &survey, search };
        let base = planner.base()?;
        let limits = Limits {
            height: settings.contact_height * leg,
            speed: settings.contact_speed * scale,
            release: settings.release,
        };
        let mut all = Vec::new();
        for foot in 0..figure.legs().len() {
            all.push(planner.stances(foot, &limits, &base));
        }
        let planned = |body: &[f32], lifts: &[Vec<f32>]| -> Vec<_> {
            (0..all.len()).map(|foot| planner.feet(foot, &all[foot], body, &lifts[foot])).collect()
        };
        let clear = |feet: &mut Vec<Vec<FootFrame>>, pelvis: Option<&[f32]>| {
            for foot in 0..feet.len() {
                let swing = Swing::new(search, &survey.feet[foot], survey.step, &all[foot]);
                swing.clear(&mut feet[foot], &base, pelvis);
            }
        };
        let flat = alloc::vec![alloc::vec![0.0; survey.len()]; all.len()];
        // A first round with the ground under the body tells where the pelvis goes, by the feet while they stand; the feet
        // then swing with the body, so that a swinging foot is not left behind by it.
        let rough = planned(&planner.over_floor(&base), &flat);
        let body = planner.pelvis(&rough, &all, Reach::Anywhere);
        let mut feet = planned(&body, &flat);
        clear(&mut feet, None);
        // Where the body would have to come down to a foot that stands on its ball, the heel lifts instead.
        let high = planner.pelvis(&feet, &all, Reach::OnTiptoe);
        let lifts: Vec<Vec<f32>> =
            (0..all.len()).map(|foot| planner.tiptoe(foot).lifts(&standing(&all[foot]), &high)).collect();
        feet = planned(&body, &lifts);
        clear(&mut feet, Some(&high));
        let mut pelvis = planner.pelvis(&feet, &all, Reach::AsPlanned);
        for _ in 0..1 {
            feet = planned(&body, &lifts);
            clear(&mut feet, Some(&pelvis));
            pelvis = planner.pelvis(&feet, &all, Reach::AsPlanned);
        }
        for foot in 0..feet.len() {
            let swing = Swing::new(search, &survey.feet[foot], survey.step, &all[foot]);
            swing.let_down(&mut feet[foot], &base, &pelvis);
            swing.pull_in(&mut feet[foot], &pelvis);
        }
        for (foot, frames) in feet.iter_mut().enumerate() {
            planner.let_go(foot, frames, &pelvis);
        }
        let per_key = survey.per_key;
        Ok(Self { survey, stances: all, feet, pelvis, base, per_key })
    }

    /// Lines a person can read about what was noticed.
    pub fn notes(&self) -> &[String] {
        &self.survey.notes
    }
}

/// The stances that have a footing.
pub(super) fn standing(planted: &[Planted]) -> Vec<(&Stance, &Footing)> {
    planted.iter().filter_map(|p| Some((&p.stance, p.footing.as_ref().ok()?))).collect()
}

pub(super) struct Planner<'a> {
    figure: &'a Figure,
    pub(super) survey: &'a Survey,
    pub(super) search: Search<'a>,
}

/// A foot's displacement from the clip: rotation vector of the turn, place of the ankle, rotation vector of the toes.
#[derive(Clone, Copy, Default)]
struct Offset {
    turn: Vec3,
    ankle: Vec3,
    toes: Vec3,
}

impl Offset {
    fn new(twist: &Twist, toes: Quat, clip: &FootSample) -> Self {
        Self {
            turn: math::rotation_vector(twist.turn),
            ankle: twist.ankle - clip.ankle,
            toes: math::rotation_vector(toes),
        }
    }

    /// What stays of it while the foot has no footing to come from or go to.
    fn in_the_air(&self) -> Self {
        Self { ankle: self.ankle.with_y(0.0), ..Self::default() }
    }

    fn map2(a: Self, b: Self, f: impl Fn(Vec3, Vec3) -> Vec3) -> Self {
        Self { turn: f(a.turn, b.turn), ankle: f(a.ankle, b.ankle), toes: f(a.toes, b.toes) }
    }
}

fn rotation(vector: Vec3) -> Quat {
    let angle = vector.length();
    if angle > 0.0 { math::axis_angle(vector / angle, angle) } else { Quat::IDENTITY }
}

impl Planner<'_> {
    /// Height of the ground under the pelvis at each sample, followed from the first on.
    fn base(&self) -> Result<Vec<f32>, PlanError> {
        let survey = self.survey;
        let floor = survey.floor();
        let start = survey.pelvis.first().copied().unwrap_or(Vec3::ZERO);
        // The level at the start may lie anywhere near the floor: first looked for within a step, then anywhere.
        let first = self.search.height(start, floor).map(|(y, _)| y).or_else(|| self.anywhere(floor));
        let Some(mut base) = first else {
            let end = survey.pelvis.last().copied().unwrap_or(start);
            let reach = 1000.0 * self.search.leg;
            return Err(PlanError::NoGround {
                from: start,
                to: end,
                low: floor - reach,
                high: floor + reach,
            });
        };
        Ok(survey
            .pelvis
            .iter()
            .map(|&p| {
                if let Some((y, _)) = self.search.height(p, base) {
                    base = y;
                }
                base
            })
            .collect())
    }

    /// The ground under the first place of the walk that has any, at whatever height.
    fn anywhere(&self, floor: f32) -> Option<f32> {
        let reach = 1000.0 * self.search.leg;
        self.survey.pelvis.iter().find_map(|p| {
            let from = Vec3::new(p.x, floor + reach, p.z);
            let hit =
                self.search.ground.cast_ray(from, Vec3::NEG_Y, 2.0 * reach, &self.search.settings.filter)?;
            Some(from.y - hit.distance)
        })
    }

    fn base_at(&self, base: &[f32], time: f32) -> f32 {
        let i = ((time / self.survey.step) as usize).min(base.len() - 1);
        base[i]
    }

    fn stances(&self, foot: usize, limits: &Limits, base: &[f32]) -> Vec<Planted> {
        let survey = self.survey;
        let curve = &survey.feet[foot];
        let leg = &self.figure.legs()[foot];
        let low = 2.0 * limits.height;
        stances(curve, survey.step, limits, low)
            .into_iter()
            .map(|mut stance| {
                let middle = 0.5 * (stance.time.from + stance.time.to);
                let (heel, ball, length) = stance.place(curve, survey.step, leg.yaw);
                let tip = curve.samples.first().map_or(0.0, |s| (s.tip - s.ball).length());
                let found = self.search.find(heel, ball, length, tip, self.base_at(base, middle));
                let footing = found.map(|mut f| {
                    f.heel.y += leg.sole_height;
                    f.ball.y += leg.sole_height;
                    f
                });
                // Where there is nothing under the heel the ball bears the foot from first to last.
                if footing.is_ok_and(|f| !f.heel_supported) {
                    stance.ball = alloc::vec![stance.time];
                }
                Planted { stance, footing }
            })
            .collect()
    }

    /// How far the ground under the body is above the floor of the clip.
    fn over_floor(&self, base: &[f32]) -> Vec<f32> {
        let floor = self.survey.floor();
        base.iter().map(|b| b - floor).collect()
    }

    /// The foot at each sample, without regard to what it passes in the air. In the air it goes with the body, which is
    /// raised by `body`, but for what it leaves and what it comes to.
    /// `lifts` is how much further than in the clip the heel is lifted.
    fn feet(&self, foot: usize, planted: &[Planted], body: &[f32], lifts: &[f32]) -> Vec<FootFrame> {
        let survey = self.survey;
        let (curve, step) = (&survey.feet[foot], survey.step);
        let standing = standing(planted);
        let raised = Sampled { values: body, step };
        let lifted = Sampled { values: lifts, step };
        // Relative to the body.
        let offset = |(stance, footing): (&Stance, &Footing), time: f32| {
            let (twist, toes) = stance.twist_lifted(footing, curve, step, time, lifted.value(time));
            let mut offset = Offset::new(&twist, toes, &curve.at(time, step));
            offset.ankle.y -= raised.value(time);
            offset
        };
        // The rates at which a stance is entered and left, over the sample inside of it.
        let enter = |s: (&Stance, &Footing)| {
            let (a, b) = (s.0.time.from, (s.0.time.from + step).min(s.0.time.to));
            (offset(s, a), rate(offset(s, a), offset(s, b), b - a))
        };
        let leave = |s: (&Stance, &Footing)| {
            let (a, b) = ((s.0.time.to - step).max(s.0.time.from), s.0.time.to);
            (offset(s, b), rate(offset(s, a), offset(s, b), b - a))
        };
        let mut frames: Vec<FootFrame> = (0..survey.len())
            .map(|i| {
                let time = i as f32 * step;
                let at = standing.iter().find(|s| s.0.time.contains(time));
                let before = standing.iter().rev().find(|s| s.0.time.to < time);
                let after = standing.iter().find(|s| s.0.time.from > time);
                let o = match (at, before, after) {
                    (Some(&s), ..) => offset(s, time),
                    (None, Some(&b), Some(&a)) => {
                        let ((bo, br), (ao, ar)) = (leave(b), enter(a));
                        let span = a.0.time.from - b.0.time.to;
                        between((bo, br), (ao, ar), span, time - b.0.time.to)
                    }
                    // Before the first footing and after the last one the foot goes with the body, where it is seen from above
                    // as it is at the footing.
                    (None, Some(&b), None) => {
                        let (o, r) = leave(b);
                        between((o, r), (o.in_the_air(), Offset::default()), ALONE, time - b.0.time.to)
                    }
                    (None, None, Some(&a)) => {
                        let (o, r) = enter(a);
                        let air = (o.in_the_air(), Offset::default());
                        between(air, (o, r), ALONE, ALONE - (a.0.time.from - time))
                    }
                    // A foot that never stands goes with the body.
                    (None, None, None) => Offset::default(),
                };
                FootFrame {
                    turn: rotation(o.turn),
                    toes: rotation(o.toes),
                    ankle: curve.samples[i].ankle + o.ankle + Vec3::Y * body[i],
                    knee_way: curve.samples[i].knee_way,
                    clip_line: curve.samples[i].ankle - curve.samples[i].hip,
                    weight: self.presence(planted, time),
                }
            })
            .collect();
        for pair in standing.windows(2) {
            let [leave, enter] = [pair[0], pair[1]];
            let ankle = |s: (&Stance, &Footing), t: f32| {
                s.0.twist_lifted(s.1, curve, step, t, lifted.value(t)).0.ankle
            };
            let ends = [leave.0.time.to, enter.0.time.from];
            self.rise_on_the_way(
                &mut frames,
                foot,
                body,
                ends,
                [ankle(leave, ends[0]), ankle(enter, ends[1])],
            );
        }
        frames
    }

    /// Lets a foot rise and fall from one footing to the next as it gets on, and not as time passes: a foot hardly gets on at
    /// first, and would be thrown up on the spot.
    fn rise_on_the_way(
        &self,
        frames: &mut [FootFrame],
        foot: usize,
        body: &[f32],
        [from, to]: [f32; 2],
        [start, end]: [Vec3; 2],
    ) {
        let step = self.survey.step;
        let way = (end - start).with_y(0.0);
        // A foot that steps where it stood does not get on.
        if way.length() < 0.3 * self.search.leg {
            return;
        }
        let raised = Sampled { values: body, step };
        let (first, last) = (start.y - raised.value(from), end.y - raised.value(to));
        let curve = &self.survey.feet[foot];
        let (first, last) = (first - curve.at(from, step).ankle.y, last - curve.at(to, step).ankle.y);
        let (low, high) = (first + raised.value(from), last + raised.value(to));
        // A walker's foot gets on by less than three legs from one footing to its next; from four on it is a run, which flies:
        // there the foot goes with the body.
        let share = (4.0 - way.length() / self.search.leg).clamp(0.0, 1.0);
        // Only what lies between: there may be thousands of steps.
        let (begin, until) = ((from / step) as usize, (to / step) as usize + 2);
        for (i, frame) in frames.iter_mut().enumerate().take(until).skip(begin) {
            let time = i as f32 * step;
            if time <= from || time >= to {
                continue;
            }
            let s = (time - from) / (to - from);
            let ease = s * s * s * (10.0 + s * (6.0 * s - 15.0));
            let by_time = body[i] + first + (last - first) * ease;
            let on = ((frame.ankle - start).with_y(0.0).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            let by_way = low + (high - low) * on;
            // Both ends stay as the footings have them.
            let fade = ((time - from).min(to - time) / (0.3 * (to - from))).min(1.0);
            let fade = fade * fade * (3.0 - 2.0 * fade);
            frame.ankle.y += share * fade * (by_way - by_time);
        }
    }

    /// 1 where the foot has ground to be planted on, falling smoothly to 0 around stances that have none.
    fn presence(&self, planted: &[Planted], time: f32) -> f32 {
        const FADE: f32 = 0.25;
        let mut weight = 1.0f32;
        for p in planted.iter().filter(|p| p.footing == Err(Unplanted::NoGround)) {
            let outside = (p.stance.time.from - time).max(time - p.stance.time.to).max(0.0);
            let s = (outside / FADE).min(1.0);
            weight = weight.min(s * s * (3.0 - 2.0 * s));
        }
        weight
    }

    pub(super) fn tiptoe(&self, foot: usize) -> Tiptoe<'_> {
        let Search { settings, scale, .. } = self.search;
        Tiptoe { curve: &self.survey.feet[foot], step: self.survey.step, scale, settings }
    }

    /// Feet without ground keep what the animation has them do below the pelvis.
    fn let_go(&self, foot: usize, frames: &mut [FootFrame], pelvis: &[f32]) {
        let curve = &self.survey.feet[foot];
        for ((frame, sample), pelvis) in frames.iter_mut().zip(&curve.samples).zip(pelvis) {
            let kept = sample.ankle + Vec3::Y * *pelvis;
            frame.ankle = kept + (frame.ankle - kept) * frame.weight;
            frame.turn = math::slerp(Quat::IDENTITY, frame.turn, frame.weight);
            frame.toes = math::slerp(Quat::IDENTITY, frame.toes, frame.weight);
        }
    }
}

fn rate(a: Offset, b: Offset, time: f32) -> Offset {
    if time > 0.0 { Offset::map2(a, b, |a, b| (b - a) / time) } else { Offset::default() }
}

fn between(from: (Offset, Offset), to: (Offset, Offset), span: f32, time: f32) -> Offset {
    let part = |f: fn(&Offset) -> Vec3| {
        quintic(
            State { value: f(&from.0), rate: f(&from.1) },
            State { value: f(&to.0), rate: f(&to.1) },
            span,
            time,
        )
    };
    Offset { turn: part(|o| o.turn), ankle: part(|o| o.ankle), toes: part(|o| o.toes) }
}

/// Heading of a walk: along its way where it travels, else where the feet point.
pub fn walk_heading(survey: &Survey) -> Vec3 {
    let net = match (survey.pelvis.first(), survey.pelvis.last()) {
        (Some(a), Some(b)) => (*b - *a).with_y(0.0),
        _ => Vec3::ZERO,
    };
    let sole: Vec3 = survey.feet.iter().filter_map(|f| f.samples.first()).map(|s| heading(s.yaw())).sum();
    let length = survey.feet.iter().filter_map(|f| f.samples.first()).map(|s| (s.ball - s.heel).length());
    let size = length.fold(0.0, f32::max);
    // Less than two soles' length is a sway, not a walk.
    if net.length() > 2.0 * size { net.normalize() } else { sole.normalize_or(Vec3::Z) }
}
