//! State of one foot over time: contact, lock, release, and motion through the air.

mod air;
mod sight;

use glam::Vec3;

use self::sight::{place, sole_of};
use super::{
    course::Course,
    measures::Measures,
    offset::{Offset, Rest},
    ride::Ride,
    spring::Spring,
    ticks::{Beat, Beats, Contact, TICK},
    track::{Sole, Track},
    under::Under,
};
use crate::{
    ground::plant::{
        FootSample, Foothold, PlantOptions, Unplanted,
        candidate::Lies,
        problem::{LEAP, ROLL_RATE},
        search::Landing,
        stride::RISER,
    },
    math,
};

/// Time step of numerical rates, in seconds: a fraction of a frame that keeps four digits of a displacement in `f32`.
const MOMENT: f32 = 2e-3;

/// A point of the sole.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Point {
    /// Hold on the ground at the present tick, from 0 to 1.
    hold: f32,
    /// Hold at the next tick.
    next: f32,
    /// Height offset (x) of a standing point above the ground, decaying to zero in firm contact.
    rest: Spring,
}

/// A chosen foothold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice {
    /// The foothold, or the reason for which there is none.
    found: Result<Foothold, Unplanted>,
    /// Position of the heel by the animation.
    heel: Vec3,
    /// Position of the ball by the animation.
    ball: Vec3,
    /// What the sole lies on.
    lies: Lies,
    /// Whether the heights were re-cast at heel and ball.
    settled: bool,
    /// Whether it was searched on a profile along the sole. Without, it lies on the heights known so far.
    searched: bool,
}

/// A lock of a foot on a foothold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lock {
    pub foothold: Foothold,
    /// Whether the heights were re-cast at heel and ball.
    settled: bool,
    /// Fraction of the animation's displacement since the last tick that the foot follows; 0 while it stands firmly.
    slip: f32,
    /// Largest horizontal distance from the animation, in metres.
    leash: f32,
    /// Blend from the motion in the air (0) to the lock (1); a foot that only brushes the floor stays near 0.
    share: f32,
    /// The animation's foot at the last tick.
    since: Sole,
    /// The animation's heading at the landing, in radians.
    yaw: f32,
    /// Horizontal displacement at the landing: the shift of the foothold.
    shift: Vec3,
    /// Height of the ground under the ball when it was first cast after the landing, in metres.
    ground: Option<f32>,
    /// Whether the ground has moved or gone since.
    gone: bool,
    /// Motion of a foothold on a platform that the figure has left.
    ride: Option<Ride>,
    /// Motion that begins with the next frame.
    boards: Option<Ride>,
}

/// Phase of a foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Phase {
    /// The foot follows the animation over the ground.
    #[default]
    Air,
    /// The foot stands.
    Locked(Lock),
    /// The foot stands in the animation, but there is no foothold.
    Refused(Unplanted),
    /// The foot stands in the animation, too far from its old foothold. It lands on the next one in a number of ticks.
    Behind(usize),
}

/// Hold of a point that comes into contact 0, 1, 2... ticks later: smooth steps over four ticks, ended two ticks before. A
/// contact that begins is loose at first.
const DOWN: [f32; 6] = [1.0, 1.0, 1.0, 0.844, 0.5, 0.156];

/// Ticks before its contact from which on a ball does not come down any more, so that the spring of its clearance has settled. With
/// one less the Knight's walk cuts 2 mm deeper into terrain, with two more its ankles bend by 22 degrees more on stairs.
const SOON: usize = 4;

/// Distance of the animation from the foothold at which a foot unlocks, as a fraction of the leg.
const LEFT_BEHIND: f32 = 0.4;
/// Turn of the animation since the landing at which a foot unlocks, in radians: 50 degrees.
const TURNED: f32 = 0.87;
/// Number of ticks by which a forefoot lands before the animation's heel. It is chosen on the sample's game on stairs down in
/// `lab/step`: with 2, the fastest foot moves at 2.5 times the clip's speed, above the bound of 2; with 0, the heel lands first.
const EARLY: usize = 1;
/// Ticks in which a foot left behind moves to its next foothold: a quick step.
const CATCHES_UP: usize = 6;
/// Gravity in m/s2, for a figure of 1.8 m.
const GRAVITY: f32 = 9.81;
/// Height below which the landing of a foot is searched, as a multiple of the contact limit.
const NEAR: f32 = 2.5;

/// State of one foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Foot {
    /// Frames of the animation so far.
    pub track: Track,
    pub ticks: Beats,
    pub under: Under,
    pub phase: Phase,
    stood: bool,
    heel: Point,
    ball: Point,
    /// Ground where the foot may land.
    landing: Option<Landing>,
    /// Foothold on which the foot stands or will land.
    choice: Option<Choice>,
    /// Number of ticks by which it lands before the animation's foot.
    early: usize,
    /// Time in seconds until the heel is down, after a landing on the forefoot.
    rolls: f32,
    course: Option<Course>,
    rest: Rest,
    /// Height of the ground under a foot in the air (y). On a course, lift above it.
    level: Spring,
    level_goal: Vec3,
    /// Rotation vector that turns a foot in the air along the ground.
    tilt: Spring,
    tilt_goal: Vec3,
    /// Fade of planting (x): 0 without ground.
    presence: Spring,
    presence_goal: Vec3,
    /// Clearance of the foot above the ground (x), whether its heel stands (y), and whether its ball stands or keeps to the
    /// animation (z).
    clear: Spring,
    clear_goal: Vec3,
}

impl Foot {
    /// Copies another foot, of its profiles what they hold: a third of its bytes less than a plain copy.
    pub fn copy_from(&mut self, other: &Self) {
        let Self {
            track,
            ticks,
            under,
            phase,
            stood,
            heel,
            ball,
            landing,
            choice,
            early,
            rolls,
            course,
            rest,
            ..
        } = other;
        (self.early, self.rolls) = (*early, *rolls);
        let Self { level, level_goal, tilt, tilt_goal, presence, presence_goal, clear, clear_goal, .. } =
            other;
        (self.track, self.ticks, self.phase, self.stood) = (*track, *ticks, *phase, *stood);
        self.under.copy_from(under);
        match (&mut self.landing, landing) {
            (Some(own), Some(other)) => own.copy_from(other),
            (own, other) => *own = *other,
        }
        (self.heel, self.ball, self.choice, self.course, self.rest) = (*heel, *ball, *choice, *course, *rest);
        (self.level, self.level_goal, self.tilt, self.tilt_goal) = (*level, *level_goal, *tilt, *tilt_goal);
        (self.presence, self.presence_goal) = (*presence, *presence_goal);
        (self.clear, self.clear_goal) = (*clear, *clear_goal);
    }

    /// Resets the foot to ground at the height `level`.
    pub fn start(&mut self, level: f32) {
        *self = Self { level: Spring { value: Vec3::Y * level, rate: Vec3::ZERO }, ..Self::default() };
        self.level_goal = self.level.value;
        (self.presence.value, self.presence_goal) = (Vec3::X, Vec3::X);
    }

    /// Fade of planting, `time` seconds after the state.
    pub fn weight(&self, time: f32, m: &Measures) -> f32 {
        let goal = self.presence_goal;
        self.presence.towards(goal, m.omega, time).value.x.clamp(0.0, 1.0)
    }

    /// Moves all springs to their goals, for the first frame.
    pub fn settle(&mut self) {
        self.rest = Rest::default();
        (self.heel.rest, self.ball.rest) = (Spring::default(), Spring::default());
        self.level = Spring { value: self.level_goal, rate: Vec3::ZERO };
        self.tilt = Spring { value: self.tilt_goal, rate: Vec3::ZERO };
        self.presence = Spring { value: self.presence_goal, rate: Vec3::ZERO };
        self.clear = Spring { value: self.clear_goal, rate: Vec3::ZERO };
    }

    /// The foothold of a foot that stands.
    pub fn foothold(&self) -> Option<Foothold> {
        if let Phase::Locked(lock) = &self.phase { Some(lock.foothold) } else { None }
    }

    /// Whether the foot stands.
    pub fn locked(&self) -> bool {
        matches!(self.phase, Phase::Locked(_))
    }

    /// The animation's foot at the present tick.
    pub fn now(&self, m: &Measures) -> &Beat {
        self.ticks.ago(m.ahead)
    }

    /// The animation's contact at a tick, `later` ticks after the present one. A tick's speed is the mean since the previous tick, so
    /// the contact after a tick is that of the next one, if it is known.
    fn own_contact(&self, later: usize, m: &Measures) -> Contact {
        self.ticks.ago(m.ahead.saturating_sub(later + 1)).contact
    }

    /// Contact at a tick, `later` ticks after the present one. If the foot lands on its forefoot, the foot and its ball are in contact
    /// `early` ticks before the animation's foot. The ball stays in contact until the animation's ball lands, up to `early` ticks after
    /// the animation's heel.
    fn contact(&self, later: usize, m: &Measures) -> Contact {
        let mut contact = self.own_contact(later, m);
        for k in (1..=2 * self.early).take_while(|k| later + k < m.ahead) {
            let next = self.own_contact(later + k, m);
            contact.ball = contact.ball.max(next.ball);
            if k <= self.early {
                contact.stands |= next.stands;
                if next.stands {
                    (contact.foot, contact.ball) = (1.0, 1.0);
                }
            }
        }
        contact
    }

    /// Number of ticks by which the foot lands before the animation's foot, which lands in `later` ticks. It is [`EARLY`] for a landing
    /// on the forefoot: the foothold is lower than that of the other foot, and the animation lands on the heel. People land so on
    /// stairs, and whole clips are planned so. It is 0 for other landings.
    fn lands_early(
        &self,
        later: usize,
        foothold: &Foothold,
        other: Option<&Foothold>,
        m: &Measures,
    ) -> usize {
        let contact = self.own_contact(later, m);
        let lower = other.is_some_and(|other| (RISER..=LEAP).contains(&(other.drop_to(foothold) / m.leg)));
        if lower && contact.heel > contact.ball && self.phase == Phase::Air { EARLY } else { 0 }
    }

    /// The contact, `later` ticks after the present one, of a foot whose landing is known ahead: its points and the foot hold
    /// before they come into contact, so that they are down by then.
    fn ready(&self, later: usize, m: &Measures) -> Contact {
        let mut ready = self.contact(later, m);
        for (k, share) in DOWN.iter().enumerate().skip(1).take_while(|(k, _)| later + k < m.ahead) {
            let next = self.contact(later + k, m);
            for (hold, next) in
                [(&mut ready.foot, next.foot), (&mut ready.heel, next.heel), (&mut ready.ball, next.ball)]
            {
                *hold = hold.max(share * next);
            }
        }
        ready
    }

    /// Ticks until the foot lands, if the look-ahead covers it.
    pub fn lands_in(&self, m: &Measures) -> Option<usize> {
        let first = if let Phase::Behind(ticks) = self.phase { ticks } else { 1 };
        (first.max(1)..m.ahead).find(|&later| self.contact(later, m).stands)
    }

    /// Lowest level of the body `later` ticks after the present one that a foot which stands allows, in metres: with hip and ankle
    /// `near` apart when it last stands, less the fall of a body since. Negative infinity for other feet.
    pub fn lowest(&self, later: usize, near: f32, m: &Measures) -> f32 {
        let last = (0..=later).rev().find(|&k| self.contact(k, m).stands);
        let (Phase::Locked(lock), Some(last)) = (&self.phase, last) else { return f32::NEG_INFINITY };
        let sole = self.ticks.ago(m.ahead - last).sole;
        let (heel, ball) = m.heights(&sole);
        let ankle = sole.ankle + stand(&lock.foothold, &sole, heel.max(0.0), ball.max(0.0)).ankle;
        let out2 = (ankle - sole.hip).with_y(0.0).length_squared();
        let time = (later - last) as f32 * TICK;
        let over = math::sqrt((near * near - out2).max(0.0)) - 0.5 * GRAVITY * m.scale * time * time;
        ankle.y - sole.hip.y + over
    }

    /// Positions of heel and ball, seen from above, of a foot that lands `later` ticks after the present one: the mean over its
    /// stance as far as it is known.
    fn stance(&self, later: usize, m: &Measures) -> (Vec3, Vec3) {
        let stands = |&k: &usize| k == later || self.own_contact(k, m).stands;
        let known = (later..=m.ahead).take_while(stands).map(|k| self.ticks.ago(m.ahead - k).sole);
        let (heels, balls, count) =
            known.fold((Vec3::ZERO, Vec3::ZERO, 0.0), |(heels, balls, count), sole| {
                let (heel, ball) = place(&sole, Vec3::ZERO, m);
                (heels + heel, balls + ball, count + 1.0)
            });
        (heels / count, balls / count)
    }

    /// Heights of heel and ball above the ground while the foot stands, with the animation at `sole`, `time` seconds after
    /// the state.
    fn heights(&self, sole: &Sole, time: f32, m: &Measures) -> (f32, f32) {
        let share = (time / TICK).clamp(0.0, 1.0);
        let height = |point: &Point, y: f32| {
            let own = (1.0 - point.hold - (point.next - point.hold) * share) * y.max(0.0);
            (own + point.rest.after(m.omega, time).value.x).max(0.0)
        };
        let (heel, ball) = m.heights(sole);
        (height(&self.heel, heel) + rolling(sole, self.rolls - time), height(&self.ball, ball))
    }

    /// Displacement that the phase asks for, without the decaying rest.
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

    /// Displacement of a locked foot.
    fn stands(&self, lock: &Lock, sole: &Sole, time: f32, m: &Measures) -> Offset {
        let (heel, ball) = self.heights(sole, time, m);
        let offset = stand(&lock.foothold_after(time), sole, heel, ball);
        let mut ankle = offset.ankle + lock.slipped(sole, m);
        let behind = ankle.with_y(0.0);
        if behind.length() > lock.leash {
            ankle -= behind * (1.0 - lock.leash / behind.length());
        }
        Offset { ankle, ..offset }
    }

    /// Blend from the motion in the air (0) to the lock (1).
    pub fn share(&self) -> f32 {
        if let Phase::Locked(lock) = &self.phase { lock.share } else { 0.0 }
    }

    /// Displacement of the foot with the animation at `sole`, `time` seconds after the state.
    pub fn offset(&self, sole: &Sole, time: f32, m: &Measures) -> Offset {
        self.wanted(sole, time, m).plus(self.rest.after(m.omega, time).value())
    }

    /// Displacement of the foot at the present tick.
    pub fn present(&self, m: &Measures) -> Offset {
        self.offset(&self.now(m).sole, 0.0, m)
    }

    /// Velocity of the animation's foot, `later` ticks after the present one: a central difference with look-ahead, else that
    /// since the last tick.
    fn pace(&self, later: usize, m: &Measures) -> Sole {
        if m.ahead == 0 {
            return self.now(m).rate;
        }
        let at = m.ahead.saturating_sub(later).max(1);
        self.ticks.ago(at - 1).sole.minus(&self.ticks.ago(at + 1).sole).times(0.5 / TICK)
    }

    /// Evaluates a function of the animation's foot and its rate at the present tick.
    fn rated(&self, m: &Measures, f: impl Fn(&Self, &Sole, f32) -> Offset) -> (Offset, Offset) {
        let sole = self.now(m).sole;
        let now = f(self, &sole, 0.0);
        let next = f(self, &sole.after(&self.pace(0, m), MOMENT), MOMENT);
        (now, next.minus(now).times(1.0 / MOMENT))
    }

    /// Changes the phase by `change` with continuous displacement and rate: the difference becomes a decaying rest.
    fn switch(&mut self, m: &Measures, change: impl FnOnce(&mut Self)) {
        let (was, rate_was) = self.rated(m, |f, sole, t| f.offset(sole, t, m));
        self.course = None;
        change(self);
        if !self.locked() {
            // In the air the height has its own spring.
            self.level = Spring { value: Vec3::Y * was.ankle.y, rate: Vec3::Y * rate_was.ankle.y };
            self.level_goal = Vec3::Y * self.ground(was, m).unwrap_or(was.ankle.y);
        }
        let (is, rate_is) = self.rated(m, |f, sole, t| f.wanted(sole, t, m));
        let mut rest = Rest::new(was.minus(is), rate_was.minus(rate_is));
        if !self.locked() {
            rest.ankle.value.y = 0.0;
            rest.ankle.rate.y = 0.0;
        } else {
            // Limited to the rate from which the spring stops without passing through the ground.
            let fall = rest.ankle.value.y.max(0.0) * -m.omega;
            rest.ankle.rate.y = rest.ankle.rate.y.max(fall);
        }
        self.rest = rest;
    }

    /// Advances the state by `h` seconds to the present tick, which must have been pushed. `low` is the lowest level of the body as
    /// the foot lands, as other feet allow, and `other` the foothold of one that stands.
    pub fn advance(
        &mut self,
        h: f32,
        settings: &PlantOptions,
        m: &Measures,
        (low, other): (f32, Option<Foothold>),
    ) {
        self.drift(h, m);
        self.take_casts(m);
        self.follow(m, settings);
        let (stood, contact) = (self.stood, self.contact(0, m));
        self.stood = contact.stands;
        if contact.stands && !stood {
            // A figure that was moved far away would otherwise leave its foot there. A course ends where it is wanted.
            if self.course.is_none() && self.present(m).ankle.with_y(0.0).length() > LEFT_BEHIND * m.leg {
                self.phase = Phase::Behind(CATCHES_UP);
            } else {
                self.land(settings, m);
            }
        }
        let (heel, ball) = m.heights(&self.now(m).sole);
        let pace = self.pace(0, m);
        // A hold grows from tick to tick, but is kept until the tick at which it is less.
        let (ready, next) = (self.ready(0, m), self.ready(m.ahead.min(1), m));
        let [heels, balls] = [(ready.heel, next.heel), (ready.ball, next.ball)].map(|(a, b)| [a, b.max(a)]);
        self.heel.take(heels, heel, (pace.ankle + pace.heel).y);
        self.ball.take(balls, ball, (pace.ankle + pace.ball).y);
        if self.own_contact(0, m).ball > 0.0 || (stood && !contact.stands) {
            self.early = 0;
        }
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
            self.steer(settings, m, low, other.as_ref());
        }
        let ground = self.under.found() && !matches!(self.phase, Phase::Refused(Unplanted::NoGround));
        self.presence_goal = Vec3::X * f32::from(u8::from(ground || self.locked()));
        let [heel, ball] = self.touches(&next, m);
        self.clear_goal = Vec3::new(self.clears(m), heel, ball);
    }

    /// Whether the heel stands, and whether the ball stands or keeps to the animation, from 0 to 1, with the holds `next` at the
    /// next tick.
    fn touches(&self, next: &Contact, m: &Measures) -> [f32; 2] {
        // Without look-ahead a foot in the air does not know its landing.
        if m.ahead == 0 {
            return [1.0; 2];
        }
        let most = |ticks: usize, of: fn(Contact) -> f32| {
            (0..ticks).map(|later| of(self.contact(later, m))).fold(0.0, f32::max)
        };
        // A loose contact follows the animation, with its ball too.
        let loose = most(DOWN.len(), |c| c.near[0]) * (1.0 - most(DOWN.len(), |c| c.foot));
        [most(2, |c| c.near[0]).max(next.heel), most(SOON, |c| c.near[1]).max(next.ball).max(loose)]
    }

    /// Advances the springs by `time` seconds.
    fn drift(&mut self, time: f32, m: &Measures) {
        self.rolls = (self.rolls - time).max(0.0);
        self.rest = self.rest.after(m.omega, time);
        self.heel.rest = self.heel.rest.after(m.omega, time);
        self.ball.rest = self.ball.rest.after(m.omega, time);
        self.tilt = self.tilt.towards(self.tilt_goal, m.omega, time);
        self.level = self.level.towards(self.level_goal, m.omega, time);
        self.presence = self.presence.towards(self.presence_goal, m.omega, time);
        self.clear = self.clear.towards(self.clear_goal, air::QUICK * m.omega, time);
        self.course = self.course.map(|c| c.after(time));
        if let Phase::Locked(lock) = &mut self.phase {
            lock.ride(time);
        }
    }

    /// Lets the foothold of a locked foot move with the platform that the figure leaves. `motion` returns the velocity at a
    /// point and the rate of yaw.
    pub fn leave(&mut self, motion: impl Fn(Vec3) -> (Vec3, f32)) {
        if let Phase::Locked(lock) = &mut self.phase {
            let ride = Ride::new(motion(lock.foothold.heel));
            lock.boards = Some(lock.boards.map_or(ride, |before| before.plus(&ride)));
            // Heights are not re-cast beside a foothold that has moved on.
            lock.settled = true;
        }
    }

    /// Takes over the re-cast heights of a locked foot's foothold.
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

    /// Hold of the foot from the present tick on.
    fn hold(&self, m: &Measures) -> f32 {
        self.ready(0, m).foot
    }

    /// Blends a locked foot from its lock to its motion in the air as its hold fades. The tick of the unlock then makes no
    /// difference.
    fn loosen(&mut self, m: &Measures) {
        let (now, hold) = (self.now(m).sole, self.hold(m));
        let slip = 1.0 - hold;
        let share = if m.ahead > 0 { self.share().max(hold) } else { hold };
        if self.share() != share {
            if self.share() >= 1.0 {
                // The motion in the air starts at the height of the lock.
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
        // The foothold moves with a foot that was dragged.
        let (heel, ball) = self.heights(&now, 0.0, m);
        let stays = stand(&lock.foothold, &now, heel, ball).ankle;
        let behind = self.stands(lock, &now, 0.0, m).ankle;
        let by = (behind - stays).with_y(0.0);
        // A loose foot is dragged along where a firm one, or one with look-ahead, would unlock.
        let most = behind.with_y(0.0).length().max(LEFT_BEHIND * m.leg);
        let leash = if m.ahead > 0 || hold >= 1.0 { f32::INFINITY } else { lock.leash.min(most) };
        if let Phase::Locked(lock) = &mut self.phase {
            lock.foothold.heel += by;
            lock.foothold.ball += by;
            (lock.since, lock.slip, lock.leash) = (now, slip, leash);
        }
    }

    /// Locks the foot at its present position, or on the foothold to which it was steered.
    fn land(&mut self, settings: &PlantOptions, m: &Measures) {
        let Beat { sole: now, .. } = *self.now(m);
        let steered = self.course.is_some();
        let choice = match self.choice {
            Some(choice) if steered => choice,
            _ => {
                let (heel, ball) = place(&now, self.present(m).ankle, m);
                self.choose(heel, ball, sole_of(&now, m), settings, m, None)
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
            shift: Vec3::ZERO,
            ground: None,
            gone: false,
            ride: None,
            boards: None,
        };
        // Points already in contact keep their height as an offset.
        let (heel, ball) = m.heights(&now);
        let pace = self.pace(0, m);
        for (point, height, rate) in [
            (&mut self.heel, heel, (pace.heel + pace.ankle).y),
            (&mut self.ball, ball, (pace.ball + pace.ankle).y),
        ] {
            let Point { hold, next, .. } = core::mem::take(point);
            // A course ends where they hold.
            *point = Point { hold: 0.0, next: if steered { next } else { 0.0 }, ..Point::default() };
            point.take([if steered { next } else { hold }, next], height, rate);
        }
        self.rolls = self.early as f32 * TICK;
        self.switch(m, |f| f.phase = Phase::Locked(lock));
        let shift = self.stands(&lock, &now, 0.0, m).ankle.with_y(0.0);
        if let Phase::Locked(lock) = &mut self.phase {
            lock.shift = shift;
        }
    }

    /// Whether a locked foot is too far from the animation at `now`.
    fn left_behind(&self, lock: &Lock, now: &Sole, m: &Measures) -> bool {
        let ankle = now.ankle + self.wanted(now, 0.0, m).ankle;
        let behind = ((ankle - now.ankle).with_y(0.0) - lock.shift).length();
        let from_hip = (ankle - now.hip).with_y(0.0).length();
        let d = (now.ball - now.heel).with_y(0.0);
        let turned = math::atan2(d.x, d.z) - lock.yaw;
        let turned = math::atan2(math::sin(turned), math::cos(turned)).abs();
        // A foot on its toes has no clear heading.
        let level = d.length() > 0.7 * (now.ball - now.heel).length();
        behind > LEFT_BEHIND * m.leg
            || (from_hip > m.leg && behind > 0.1 * m.leg)
            || (level && turned > TURNED)
    }

    /// Whether a locked foot may unlock at the next tick, with the animation at `next`, and so needs casts.
    fn lets_go(&self, next: &Sole, m: &Measures) -> bool {
        let Phase::Locked(lock) = &self.phase else { return false };
        let hold = match m.ahead {
            0 => self.ticks.will_hold(next, m),
            _ => self.contact(1, m).foot,
        };
        hold < 1.0 || self.left_behind(lock, next, m)
    }

    /// Unlocks a foot that is left behind, and lands one that has caught up.
    fn follow(&mut self, m: &Measures, settings: &PlantOptions) {
        let now = self.now(m).sole;
        match self.phase {
            Phase::Locked(lock)
                if lock.gone
                    || ((m.ahead > 0 || self.hold(m) >= 1.0) && self.left_behind(&lock, &now, m)) =>
            {
                (self.choice, self.early) = (None, 0);
                self.switch(m, |f| f.phase = Phase::Behind(CATCHES_UP));
            }
            Phase::Behind(ticks) => {
                self.phase = Phase::Behind(ticks.saturating_sub(1));
                if ticks <= 1 {
                    self.land(settings, m);
                }
            }
            // Ground that has come.
            Phase::Refused(Unplanted::NoGround) if self.stood && self.under.found() => self.land(settings, m),
            _ => {}
        }
    }
}

impl Lock {
    /// The foothold `time` seconds after the state.
    fn foothold_after(&self, time: f32) -> Foothold {
        self.ride.map_or(self.foothold, |ride| ride.moved(&self.foothold, time))
    }

    /// Begins the motion on the platform that the figure has left, `time` seconds after the state.
    pub fn board(&mut self, time: f32) {
        let Some(ride) = self.boards.take() else { return };
        self.foothold = ride.moved(&self.foothold, -time);
        self.yaw -= ride.yaw * time;
        let ride = ride.after(-time);
        self.ride = Some(self.ride.map_or(ride, |before| before.plus(&ride)));
    }

    /// Moves the foothold by `time` seconds on the platform that the figure has left.
    fn ride(&mut self, time: f32) {
        if let Some(ride) = &mut self.ride {
            self.foothold = ride.moved(&self.foothold, time);
            self.yaw += ride.yaw * time;
            *ride = ride.after(time);
        }
    }

    /// Displacement by slip since the last tick, that of the lower point.
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
    /// Changes the hold with continuous height and rate. `height` (metres) and `rate` (m/s) are the animation's.
    fn take(&mut self, [hold, next]: [f32; 2], height: f32, rate: f32) {
        let more = hold - self.next;
        self.rest.value.x += more * height.max(0.0);
        self.rest.rate.x += more * if height > 0.0 { rate } else { 0.0 };
        (self.hold, self.next) = (hold, next);
    }
}

/// Height in metres of the heel above the ground while the foot stands on its forefoot. `left` is the time in seconds until the heel is
/// down; 0 or less gives 0.
fn rolling(sole: &Sole, left: f32) -> f32 {
    math::sin(ROLL_RATE as f32 * left.max(0.0)) * (sole.ball - sole.heel).length()
}

/// Displacement of a foot on a foothold, with heel and ball at the given heights above it, in metres.
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

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;
    use crate::ground::plant::contact::ContactLimits;

    const AHEAD: usize = 9;

    fn measures() -> Measures {
        Measures {
            limits: ContactLimits { height: 0.05, speed: 0.3, release: 1.2 },
            omega: 30.0,
            leg: 1.0,
            scale: 1.0,
            yaw: 0.0,
            sole_height: 0.0,
            follows_slope: true,
            heel_floor: 0.0,
            ball_floor: 0.0,
            slope: 0.7,
            clearance: 0.05,
            ahead: AHEAD,
        }
    }

    /// A foot after the present tick and those of the look-ahead. `at` returns the positions of heel and ball, and the contact
    /// that the caller gives.
    fn foot(at: impl Fn(usize) -> (Vec3, Vec3, Option<f32>)) -> Foot {
        let (mut foot, m) = (Foot::default(), measures());
        for tick in 0..=AHEAD {
            let (heel, ball, given) = at(tick);
            let ankle = heel + Vec3::new(0.0, 0.1, 0.05);
            let sole = Sole {
                hip: Vec3::Y,
                ankle,
                heel: heel - ankle,
                ball: ball - ankle,
                tip: ball - ankle + Vec3::Z * 0.07,
            };
            foot.ticks.push(sole, Vec3::Y, given, &m);
        }
        foot
    }

    /// A level foot that swings ahead by 0.1 m a tick, lands at tick 4, and slides back by 0.02 m a tick.
    fn sliding() -> Foot {
        foot(|tick| {
            let stands = tick >= 4;
            let slid = tick as f32 - 4.0;
            let z = if stands { -0.02 * slid } else { 0.1 * slid };
            let heel = Vec3::new(0.0, if stands { 0.0 } else { 0.2 }, z);
            (heel, heel + Vec3::Z * 0.2, Some(f32::from(u8::from(stands))))
        })
    }

    fn choice(heel: Vec3) -> Choice {
        let ball = heel + Vec3::Z * 0.2;
        let found =
            Foothold { heel, ball, roll: 0.0, toes: 0.0, shift: 0.0, support: 1.0, heel_supported: true };
        Choice { found: Ok(found), heel, ball, lies: Lies::Level, settled: true, searched: true }
    }

    #[test]
    fn a_stance_is_where_the_foot_is_on_average_as_far_as_it_is_known() {
        let (foot, m) = (sliding(), measures());
        let later = foot.lands_in(&m).unwrap();
        // A tick's contact is that of the next one: the tick before the landing still counts as in the air.
        let ticks = later..=AHEAD;
        let places: Vec<f32> =
            ticks.map(|k| foot.ticks.ago(AHEAD - k).sole).map(|s| (s.ankle + s.heel).z).collect();
        assert!(later == 3 && places.len() == 7, "{later} {places:?}");
        let mean = places.iter().sum::<f32>() / 7.0;
        let (heel, ball) = foot.stance(later, &m);
        assert!(
            (heel.z - mean).abs() < 1e-6 && (ball.z - mean - 0.2).abs() < 1e-6,
            "{heel} {ball}, not {mean}"
        );
    }

    #[test]
    fn a_foothold_serves_until_its_landing_is_cast_again_unless_it_is_left_behind() {
        let (settings, m) = (PlantOptions::default(), measures());
        let (heel, _) = sliding().stance(3, &m);
        for (off, serves) in [(0.2, true), (-0.39, true), (0.41, false)] {
            let mut foot = sliding();
            let before = choice(heel + Vec3::Z * off);
            // Nothing was cast: no landing, and no ground under the foot.
            foot.choice = Some(before);
            foot.steer(&settings, &m, f32::NEG_INFINITY, None);
            assert_eq!(foot.choice.map(|c| c.heel), serves.then_some(before.heel), "{off}");
            assert_eq!(foot.course.is_some(), serves, "{off}");
        }
    }

    #[test]
    fn a_ball_comes_down_over_a_heel_that_stands_firmly_and_keeps_to_the_animation_over_one_that_is_dragged()
    {
        // A heel comes down with its ball raised. Above 0.3 m/s it does not stand, up to 0.72 m/s it is near to it.
        let ball = |speed: f32| {
            let foot = foot(|tick| {
                let y = if tick == 0 { 0.2 } else { 0.0 };
                let heel = Vec3::new(0.0, y, speed * TICK * tick as f32);
                (heel, heel + Vec3::new(0.0, 0.15, 0.13), None)
            });
            let [heel, ball] = foot.touches(&Contact::default(), &measures());
            assert!(heel > 0.5, "{speed}: {heel}");
            ball
        };
        assert!(ball(0.0) < 1e-6 && ball(0.1) < 1e-6, "{} {}", ball(0.0), ball(0.1));
        assert!((ball(0.45) - 0.75).abs() < 0.01, "{}", ball(0.45));
    }
}
