//! One foot through time: contact, lock, release, and its way through the air.

mod air;
mod sight;

use glam::Vec3;

use self::sight::{place, sole_of};
use super::{
    course::Course,
    measures::Measures,
    offset::{Offset, Rest},
    spring::Spring,
    ticks::{BEAT, Beat, Beats, Contact},
    track::{Sole, Track},
    under::Under,
};
use crate::{
    ground::plant::{FootSample, Foothold, PlantOptions, Unplanted, search::Landing},
    math,
};

/// Seconds over which a rate is taken where there is no formula for it: a fraction of a frame, and in f32 still four digits
/// of a step.
const MOMENT: f32 = 2e-3;

/// A point of the sole.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    /// How firmly it is in contact, from 0 to 1.
    hold: f32,
    /// The height over the ground of a foot that stands is that of the animation in the air, and none in firm contact, and
    /// this (its x).
    rest: Spring,
}

/// A place to stand that was chosen.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// The foothold, or why there is none.
    found: Result<Foothold, Unplanted>,
    /// Where the heel would be by the animation.
    heel: Vec3,
    /// The same for the ball.
    ball: Vec3,
    /// Whether the sole lies along the ground under the ball alone.
    on_ball: bool,
    /// Whether casts were made at the foothold's very points.
    settled: bool,
    /// Whether it was chosen on the ground along the sole, and not just laid on what is known of it.
    searched: bool,
}

/// Where a foot stands.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    pub foothold: Foothold,
    /// Whether casts were made at its very points.
    settled: bool,
    /// How much of the animation's way since the last tick it goes along with: none while it stands firmly.
    slip: f32,
    /// How far it is dragged behind the animation at most, seen from above.
    leash: f32,
    /// How much it counts: a foot that only brushes the floor goes on as in the air.
    share: f32,
    /// Where the animation had the foot then.
    since: Sole,
    /// The animation's heading when it was locked.
    yaw: f32,
}

/// What a foot is doing.
#[derive(Clone, Copy, Debug, Default)]
pub enum Phase {
    /// It goes with the animation over the ground.
    #[default]
    Air,
    /// It stands.
    Locked(Lock),
    /// The animation has it stand, but there is nothing to stand on.
    Refused(Unplanted),
    /// The animation has it stand, but elsewhere: it goes there, in so many ticks where it knows where to.
    Behind(usize),
}

/// A foot lets go of its place where the animation is further from it than this share of the leg...
const LEFT_BEHIND: f32 = 0.4;
/// ... or has turned by more than 50 degrees since it landed.
const TURNED: f32 = 0.87;
/// Beats in which it goes to where it stands next, where it knows where: a quick step.
const CATCHES_UP: usize = 6;
/// Else it lands again once it is within this share of the leg of the animation.
const CAUGHT_UP: f32 = 0.02;
/// A foot comes near the ground within this many limits of contact: then its landing is looked for.
const NEAR: f32 = 2.5;

/// The state of one foot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foot {
    /// The animation as far as it is known.
    pub track: Track,
    pub ticks: Beats,
    pub under: Under,
    pub phase: Phase,
    stood: bool,
    heel: Point,
    ball: Point,
    /// The ground where it may land, as casts found it.
    landing: Option<Landing>,
    /// Where it will land, or stands, with what casts made since.
    choice: Option<Choice>,
    course: Option<Course>,
    rest: Rest,
    /// Height of the ground that the foot goes over in the air (y), and what it aims at; on a course, how far it is lifted
    /// above it.
    level: Spring,
    level_goal: Vec3,
    /// Rotation vector of the turn along the ground, in the air.
    tilt: Spring,
    tilt_goal: Vec3,
    /// Share of planting (x): goes to 0 where there is no ground.
    presence: Spring,
    presence_goal: Vec3,
    /// How far the foot is above what it could come down to (x).
    clear: Spring,
    clear_goal: Vec3,
}

impl Foot {
    /// On the ground at the height `level`.
    pub fn start(&mut self, level: f32) {
        *self = Self { level: Spring { value: Vec3::Y * level, rate: Vec3::ZERO }, ..Self::default() };
        self.level_goal = self.level.value;
        (self.presence.value, self.presence_goal) = (Vec3::X, Vec3::X);
    }

    /// How much of the planting is applied, `time` seconds after the state.
    pub fn weight(&self, time: f32, m: &Measures) -> f32 {
        let goal = self.presence_goal;
        self.presence.towards(goal, goal, m.omega, time).value.x.clamp(0.0, 1.0)
    }

    /// Ends every passage at once: a figure that begins is where it should be.
    pub fn settle(&mut self) {
        self.rest = Rest::default();
        (self.heel.rest, self.ball.rest) = (Spring::default(), Spring::default());
        self.level = Spring { value: self.level_goal, rate: Vec3::ZERO };
        self.tilt = Spring { value: self.tilt_goal, rate: Vec3::ZERO };
        self.presence = Spring { value: self.presence_goal, rate: Vec3::ZERO };
        self.clear = Spring { value: self.clear_goal, rate: Vec3::ZERO };
    }

    /// Whether it stands.
    pub fn locked(&self) -> bool {
        matches!(self.phase, Phase::Locked(_))
    }

    /// The animation's foot at the present tick.
    pub fn now(&self, m: &Measures) -> &Beat {
        self.ticks.ago(m.ahead)
    }

    /// What stands at a tick, `later` ticks from the present one. The speed of a tick is the mean since the tick before;
    /// where the next one is known, the contact is that of the time after the tick.
    fn contact(&self, later: usize, m: &Measures) -> Contact {
        self.ticks.ago(m.ahead.saturating_sub(later + 1)).contact
    }

    /// In how many ticks the foot will land, where that is known.
    fn lands_in(&self, m: &Measures) -> Option<usize> {
        let first = if let Phase::Behind(ticks) = self.phase { ticks } else { 1 };
        (first.max(1)..m.ahead).find(|&later| self.contact(later, m).stands)
    }

    /// Height over the ground of heel and ball while the foot stands, with the animation at `sole`, `time` after the state.
    fn heights(&self, sole: &Sole, time: f32, m: &Measures) -> (f32, f32) {
        let height = |point: &Point, y: f32| {
            let own = (1.0 - point.hold) * y.max(0.0);
            (own + point.rest.after(m.omega, time).value.x).max(0.0)
        };
        let (heel, ball) = m.heights(sole);
        (height(&self.heel, heel), height(&self.ball, ball))
    }

    /// What the phase alone asks for.
    fn wanted(&self, sole: &Sole, time: f32, m: &Measures) -> Offset {
        match &self.phase {
            Phase::Locked(lock) => {
                let stands = self.stands(lock, sole, time, m);
                if lock.share >= 1.0 {
                    return stands;
                }
                let air = self.in_the_air(time, m);
                air.plus(stands.minus(air).times(lock.share))
            }
            _ => self.in_the_air(time, m),
        }
    }

    /// Where it is locked.
    fn stands(&self, lock: &Lock, sole: &Sole, time: f32, m: &Measures) -> Offset {
        let (heel, ball) = self.heights(sole, time, m);
        let offset = stand(&lock.foothold, sole, heel, ball);
        let mut ankle = offset.ankle + lock.slipped(sole, m);
        let behind = ankle.with_y(0.0);
        if behind.length() > lock.leash {
            ankle -= behind * (1.0 - lock.leash / behind.length());
        }
        Offset { ankle, ..offset }
    }

    /// How much it stands where it is locked.
    pub fn share(&self) -> f32 {
        if let Phase::Locked(lock) = &self.phase { lock.share } else { 0.0 }
    }

    /// The foot as it is shown with the animation at `sole`, `time` seconds after the state.
    pub fn offset(&self, sole: &Sole, time: f32, m: &Measures) -> Offset {
        self.wanted(sole, time, m).plus(self.rest.after(m.omega, time).value())
    }

    /// The foot as it is shown at the present tick.
    pub fn present(&self, m: &Measures) -> Offset {
        self.offset(&self.now(m).sole, 0.0, m)
    }

    /// How fast the animation's foot goes at the present tick.
    fn pace(&self, m: &Measures) -> Sole {
        let (here, now) = (self.now(m), m.ahead);
        if now == 0 {
            return here.rate;
        }
        self.ticks.ago(now - 1).sole.minus(&self.ticks.ago(now + 1).sole).times(0.5 / BEAT)
    }

    /// Something that follows from the animation's foot, at the present tick, and how fast it changes.
    fn rated(&self, m: &Measures, f: impl Fn(&Self, &Sole, f32) -> Offset) -> (Offset, Offset) {
        let sole = self.now(m).sole;
        let now = f(self, &sole, 0.0);
        let next = f(self, &sole.after(&self.pace(m), MOMENT), MOMENT);
        (now, next.minus(now).times(1.0 / MOMENT))
    }

    /// Takes another phase (through `change`) without a jump in place or speed.
    fn switch(&mut self, m: &Measures, change: impl FnOnce(&mut Self)) {
        let (was, rate_was) = self.rated(m, |f, sole, t| f.offset(sole, t, m));
        self.course = None;
        change(self);
        if !self.locked() {
            // In the air the height has a spring of its own.
            self.level = Spring { value: Vec3::Y * was.ankle.y, rate: Vec3::Y * rate_was.ankle.y };
            self.level_goal = Vec3::Y * self.ground(was, m).unwrap_or(was.ankle.y);
        }
        let (is, rate_is) = self.rated(m, |f, sole, t| f.wanted(sole, t, m));
        let mut rest = Rest::new(was.minus(is), rate_was.minus(rate_is));
        if !self.locked() {
            rest.ankle.value.y = 0.0;
            rest.ankle.rate.y = 0.0;
        } else {
            // It comes down onto the ground and not through it: no faster than that the spring stops it in time.
            let fall = rest.ankle.value.y.max(0.0) * -m.omega;
            rest.ankle.rate.y = rest.ankle.rate.y.max(fall);
        }
        self.rest = rest;
    }

    /// Goes on by `h` seconds to the present tick, which must have been taken.
    pub fn advance(&mut self, h: f32, settings: &PlantOptions, m: &Measures) {
        self.drift(h, m);
        self.take_casts(m);
        self.follow(m, settings);
        let (stood, contact) = (self.stood, self.contact(0, m));
        self.stood = contact.stands;
        if contact.stands && !stood {
            self.land(settings, m);
        }
        let (heel, ball) = m.heights(&self.now(m).sole);
        let pace = self.pace(m);
        self.heel.take(contact.heel, heel, (pace.ankle + pace.heel).y);
        self.ball.take(contact.ball, ball, (pace.ankle + pace.ball).y);
        if stood && !contact.stands {
            self.choice = None;
            if self.locked() {
                self.switch(m, |f| f.phase = Phase::Air);
            } else {
                self.phase = Phase::Air;
            }
        }
        if self.locked() {
            self.loosen(m);
        }
        if self.share() < 1.0 {
            self.steer(settings, m);
        }
        let ground = self.under.found() && !matches!(self.phase, Phase::Refused(Unplanted::NoGround));
        self.presence_goal = Vec3::X * f32::from(u8::from(ground || self.locked()));
        self.clear_goal = Vec3::X * self.clears(m);
    }

    /// Lets the springs run for `time` seconds.
    fn drift(&mut self, time: f32, m: &Measures) {
        self.rest = self.rest.after(m.omega, time);
        self.heel.rest = self.heel.rest.after(m.omega, time);
        self.ball.rest = self.ball.rest.after(m.omega, time);
        self.tilt = self.tilt.towards(self.tilt_goal, self.tilt_goal, m.omega, time);
        self.level = self.level.towards(self.level_goal, self.level_goal, m.omega, time);
        self.presence = self.presence.towards(self.presence_goal, self.presence_goal, m.omega, time);
        self.clear = self.clear.towards(self.clear_goal, self.clear_goal, air::QUICK * m.omega, time);
        self.course = self.course.map(|c| c.after(time));
    }

    /// A foot that stands takes over what casts found under it.
    fn take_casts(&mut self, m: &Measures) {
        let (Phase::Locked(lock), Some(choice)) = (&self.phase, self.choice) else { return };
        let Ok(foothold) = choice.found else { return };
        if choice.settled && !lock.settled {
            self.switch(m, |f| {
                if let Phase::Locked(lock) = &mut f.phase {
                    (lock.foothold, lock.settled) = (foothold, true);
                }
            });
        }
    }

    /// How firmly the foot stands from the present tick on.
    fn hold(&self, m: &Measures) -> f32 {
        self.contact(0, m).foot
    }

    /// A foot whose hold fades goes along with the animation, and the more over to its way in the air, so that it makes no
    /// difference in which tick it lets go.
    fn loosen(&mut self, m: &Measures) {
        let (now, hold) = (self.now(m).sole, self.hold(m));
        let slip = 1.0 - hold;
        let share = if m.ahead > 0 { self.share().max(hold) } else { hold };
        if self.share() != share {
            if self.share() >= 1.0 {
                // In the air it begins at the height at which it stands.
                let (stands, rate) = self.rated(m, |f, sole, t| f.wanted(sole, t, m));
                self.level = Spring { value: Vec3::Y * stands.ankle.y, rate: Vec3::Y * rate.ankle.y };
                self.level_goal = self.level.value;
            }
            self.switch(m, |f| {
                if let Phase::Locked(lock) = &mut f.phase {
                    lock.share = share;
                }
            });
        }
        let Phase::Locked(lock) = &self.phase else { return };
        // Where it was dragged to it stays.
        let (heel, ball) = self.heights(&now, 0.0, m);
        let stays = stand(&lock.foothold, &now, heel, ball).ankle;
        let behind = self.stands(lock, &now, 0.0, m).ankle;
        let by = (behind - stays).with_y(0.0);
        // One that stands loosely is dragged along where one that stands firmly, or knows where to go, lets go.
        let most = behind.with_y(0.0).length().max(LEFT_BEHIND * m.leg);
        let leash = if m.ahead > 0 || hold >= 1.0 { f32::INFINITY } else { lock.leash.min(most) };
        if let Phase::Locked(lock) = &mut self.phase {
            lock.foothold.heel += by;
            lock.foothold.ball += by;
            (lock.since, lock.slip, lock.leash) = (now, slip, leash);
        }
    }

    /// Stands where it is now, or where it was steered to.
    fn land(&mut self, settings: &PlantOptions, m: &Measures) {
        let Beat { sole: now, .. } = *self.now(m);
        let steered = self.course.is_some();
        let choice = match self.choice {
            Some(choice) if steered => choice,
            _ => {
                let (heel, ball) = place(&now, self.present(m).ankle, m);
                self.choose(heel, ball, sole_of(&now, m), settings, m)
            }
        };
        self.choice = Some(choice);
        self.landing = None;
        let foothold = match choice.found {
            Ok(foothold) => foothold,
            Err(why) => {
                self.phase = Phase::Refused(why);
                return;
            }
        };
        let d = (now.ball - now.heel).with_y(0.0);
        let lock = Lock {
            foothold,
            settled: choice.settled,
            slip: 1.0 - self.hold(m),
            share: if m.ahead > 0 { 1.0 } else { self.hold(m) },
            leash: f32::INFINITY,
            since: now,
            yaw: math::atan2(d.x, d.z),
        };
        // Points that are down already come in with the height that they have.
        let (heel, ball) = m.heights(&now);
        let pace = self.pace(m);
        for (point, height, rate) in [
            (&mut self.heel, heel, (pace.heel + pace.ankle).y),
            (&mut self.ball, ball, (pace.ball + pace.ankle).y),
        ] {
            let hold = core::mem::take(&mut point.hold);
            point.rest = Spring::default();
            point.take(hold, height, rate);
        }
        self.switch(m, |f| f.phase = Phase::Locked(lock));
    }

    /// Whether a foot that stands is too far from where the animation has it, at `now`.
    fn left_behind(&self, lock: &Lock, now: &Sole, m: &Measures) -> bool {
        let ankle = now.ankle + self.wanted(now, 0.0, m).ankle;
        let behind = (ankle - now.ankle).with_y(0.0).length();
        let from_hip = (ankle - now.hip).with_y(0.0).length();
        let d = (now.ball - now.heel).with_y(0.0);
        let turned = math::atan2(d.x, d.z) - lock.yaw;
        let turned = math::atan2(math::sin(turned), math::cos(turned)).abs();
        // A foot on its toes has no heading to speak of.
        let level = d.length() > 0.7 * (now.ball - now.heel).length();
        behind > LEFT_BEHIND * m.leg
            || (from_hip > m.leg && behind > 0.1 * m.leg)
            || (level && turned > TURNED)
    }

    /// Whether a foot that stands may no longer do so at the next tick, at which the animation has it
    /// at `next`: then it must see where it goes.
    fn lets_go(&self, next: &Sole, m: &Measures) -> bool {
        let Phase::Locked(lock) = &self.phase else { return false };
        let hold = match m.ahead {
            0 => self.ticks.will_hold(next, m),
            _ => self.contact(1, m).foot,
        };
        hold < 1.0 || self.left_behind(lock, next, m)
    }

    /// Whether a foot that stands is left behind, or one that was has caught up.
    fn follow(&mut self, m: &Measures, settings: &PlantOptions) {
        let now = self.now(m).sole;
        match self.phase {
            Phase::Locked(lock)
                if (m.ahead > 0 || self.hold(m) >= 1.0) && self.left_behind(&lock, &now, m) =>
            {
                self.choice = None;
                self.switch(m, |f| f.phase = Phase::Behind(CATCHES_UP));
            }
            Phase::Behind(ticks) => {
                self.phase = Phase::Behind(ticks.saturating_sub(1));
                let rest = self.rest.ankle.value.length();
                let there = match self.course {
                    Some(_) => ticks <= 1,
                    None => rest < CAUGHT_UP * m.leg && self.rest.turn.value.length() < 0.1,
                };
                if there {
                    self.land(settings, m);
                }
            }
            _ => {}
        }
    }
}

impl Lock {
    /// How far it has slipped since the last tick: with its lower point.
    fn slipped(&self, sole: &Sole, m: &Measures) -> Vec3 {
        if self.slip <= 0.0 {
            return Vec3::ZERO;
        }
        let (heel, ball) = m.heights(&self.since);
        let low = |s: &Sole| s.ankle + if heel <= ball { s.heel } else { s.ball };
        (low(sole) - low(&self.since)).with_y(0.0) * self.slip
    }
}

impl Point {
    /// Comes down or lifts with the height over the ground that it has, and the speed; `height`
    /// and `rate` are the animation's.
    fn take(&mut self, hold: f32, height: f32, rate: f32) {
        let more = hold - self.hold;
        self.rest.value.x += more * height.max(0.0);
        self.rest.rate.x += more * if height > 0.0 { rate } else { 0.0 };
        self.hold = hold;
    }
}

/// How a foot of the animation is moved that stands on a foothold, with its heel and ball at these heights over it.
fn stand(foothold: &Foothold, sole: &Sole, heel: f32, ball: f32) -> Offset {
    let sample = FootSample {
        ankle: sole.ankle,
        heel: sole.heel,
        ball: sole.ball,
        tip: sole.tip,
        ..FootSample::default()
    };
    let twist = foothold.stand(&sample, heel, ball);
    let (_, yaw) = math::swing_twist(twist.turn, Vec3::Y);
    let toes = math::mul(foothold.toe_tilt(), yaw);
    Offset {
        turn: math::rotation_vector(twist.turn),
        ankle: twist.ankle - sole.ankle,
        toes: math::rotation_vector(math::mul(math::conjugate(twist.turn), toes)),
    }
}
