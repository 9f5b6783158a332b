//! One foot through time: contact, lock, release, and its way through the air.

use glam::Vec3;

use super::{
    offset::{Offset, Rest, rotation},
    spring::Spring,
    track::{Sole, Track},
    under::Under,
};
use crate::{
    ground::plant::{
        FootSample, Footing, Search, Unplanted,
        contact::{Change, Detector, Limits},
        footing::heading,
    },
    math,
};

/// Seconds over which a rate is taken where there is no formula for it: a fraction of a frame, and in f32 still four digits
/// of a step.
const MOMENT: f32 = 2e-3;

/// A point of the sole.
#[derive(Clone, Copy, Debug, Default)]
struct Point {
    detector: Detector,
    /// Whether it is in contact; the detector may already be ahead, within a step.
    down: bool,
    /// The height over the ground of a foot that stands is that of the animation in the air, and none in contact, and
    /// this (its x).
    rest: Spring,
}

/// A footing found for a place, which a foot that comes down near it takes over.
#[derive(Clone, Copy, Debug)]
pub struct Landing {
    heel: Vec3,
    found: Result<Footing, Unplanted>,
}

/// Where a foot stands.
#[derive(Clone, Copy, Debug)]
pub struct Lock {
    pub footing: Footing,
    /// Where the heel would be by the animation.
    heel: Vec3,
    /// The same for the ball.
    ball: Vec3,
    /// Whether no cast was made for this very place yet.
    provisional: bool,
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
    /// The animation has it stand, but elsewhere: it goes there.
    Behind,
}

/// What a foot must know of its figure, in metres of the world.
#[derive(Clone, Copy, Debug)]
pub struct Measures {
    pub limits: Limits,
    /// Frequency in rad/s.
    pub omega: f32,
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height over 1.8.
    pub scale: f32,
    /// Turn of a planted foot about the vertical.
    pub yaw: f32,
    /// How far the sole stays above the ground.
    pub sole_height: f32,
    /// Height of the heel's lowest in the animation over its floor.
    pub heel_floor: f32,
    /// The same for the ball.
    pub ball_floor: f32,
    /// Steepest ground that the foot lies along, in radians.
    pub slope: f32,
}

/// A foot lets go of its place where the animation is further from it than this share of the leg...
const LEFT_BEHIND: f32 = 0.4;
/// ... or has turned by more than 50 degrees since it landed.
const TURNED: f32 = 0.87;
/// It then lands again once it is within this share of the leg of the animation.
const CAUGHT_UP: f32 = 0.02;
/// A foot stays locked until its better point is this much further outside of its limits than a contact may be: between
/// heel and ball contact a foot may for a moment be in neither.
const HOLD: f32 = 2.0;
/// A foot comes near the ground within this many limits of contact: then its landing is looked for.
const NEAR: f32 = 2.5;
/// A foot lies along the ground from this height on downwards, as a share of the leg.
const LIES: f32 = 0.12;
/// Most seconds between casts in which a foot still sees what comes.
const SIGHT: f32 = 0.1;

/// The state of one foot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Foot {
    pub track: Track,
    pub under: Under,
    pub phase: Phase,
    heel: Point,
    ball: Point,
    stance: Detector,
    landing: Option<Landing>,
    rest: Rest,
    /// Height of the ground that the foot goes over in the air (y), and what it aimed at last.
    level: Spring,
    level_goal: Vec3,
    level_aim: Vec3,
    /// Rotation vector of the turn along the ground, in the air.
    tilt: Spring,
    tilt_goal: Vec3,
    tilt_aim: Vec3,
    /// Share of planting (x): goes to 0 where there is no ground.
    presence: Spring,
}

impl Foot {
    /// On the ground at the height `level`.
    pub fn start(&mut self, level: f32) {
        *self = Self { level: Spring { value: Vec3::Y * level, rate: Vec3::ZERO }, ..Self::default() };
        (self.level_goal, self.level_aim) = (self.level.value, self.level.value);
        self.presence.value = Vec3::X;
    }

    /// How much of the planting is applied.
    pub fn weight(&self) -> f32 {
        self.presence.value.x.clamp(0.0, 1.0)
    }

    /// Ends every passage at once: a figure that begins is where it should be.
    pub fn settle(&mut self) {
        self.rest = Rest::default();
        (self.heel.rest, self.ball.rest) = (Spring::default(), Spring::default());
        self.level = Spring { value: self.level_aim, rate: Vec3::ZERO };
        self.tilt = Spring { value: self.tilt_aim, rate: Vec3::ZERO };
        (self.level_goal, self.tilt_goal) = (self.level_aim, self.tilt_aim);
        let ground = self.under.found() && !matches!(self.phase, Phase::Refused(Unplanted::NoGround));
        self.presence.value = Vec3::X * f32::from(u8::from(ground));
    }

    /// Whether it stands.
    pub fn locked(&self) -> bool {
        matches!(self.phase, Phase::Locked(_))
    }

    /// How far heel and ball are outside of their limits: the nearer one, 1 being on the limit.
    fn nearness(&self, age: f32, m: &Measures) -> f32 {
        let (at, rate) = (self.track.at(age), self.track.mean_rate(age));
        let level = |point: Vec3, rate: Vec3, floor: f32| {
            ((point.y - floor).max(0.0) / m.limits.height).max(rate.length() / m.limits.speed)
        };
        level(at.ankle + at.heel, rate.ankle + rate.heel, m.heel_floor).min(level(
            at.ankle + at.ball,
            rate.ankle + rate.ball,
            m.ball_floor,
        ))
    }

    /// Casts: the ground under the foot where it was shown last, or will be, and its landing.
    pub fn sense(&mut self, search: &Search<'_>, m: &Measures, now: &Sole, base: f32, sight: f32) {
        let at = now.ankle + self.rest.ankle.value.with_y(0.0);
        let points = [now.heel, now.ball, now.tip].map(|p| at + p);
        let (_, ball, tip) = (points[0], points[1], points[2]);
        let tip_length = (tip - ball).length();
        let length = (now.ball - now.heel).length();
        let rate = self.track.mean_rate(0.0).ankle.with_y(0.0);
        if let Phase::Locked(lock) = &mut self.phase {
            if lock.provisional {
                let found = search.find(lock.heel, lock.ball, length, tip_length, base);
                lock.provisional = false;
                if let Ok(footing) = found {
                    let footing = raised(footing, m);
                    self.relock(footing, m);
                }
            }
            return;
        }
        self.under = Under::sole(search, points, base);
        let sole = (now.ball - now.heel).with_y(0.0).normalize_or(Vec3::Z);
        // Along its way where it has one, else along the sole; a swing is ten times as fast.
        let along = (rate + sole * (0.3 * m.scale)).normalize_or(sole);
        // From ball to heel, and somewhat further; forwards to the tip of the toes.
        let (sole, toes) = (1.2 * length, 1.2 * tip_length);
        // A step looks at the ground at times since the last frame, too.
        // With a margin for a foot that gathers speed.
        let behind = sole + 1.5 * rate.length() * self.track.last_step().min(SIGHT);
        let ahead = toes + 0.1 * m.leg + 1.3 * rate.length() * (sight.min(SIGHT) + 2.0 / m.omega);
        self.under.sweep(search, (at + now.ball).with_y(0.0), along, [behind, ahead], base);
        let low = {
            let heel = (now.ankle + now.heel).y - m.heel_floor;
            let ball = (now.ankle + now.ball).y - m.ball_floor;
            heel.min(ball) / m.limits.height
        };
        let near = low <= NEAR && self.nearness(0.0, m) <= 2.0 * NEAR;
        if near && !matches!(self.phase, Phase::Refused(_)) {
            let (heel, ball) = self.place(now, self.rest.ankle.value, m);
            let moved = |l: Landing| (l.heel - heel).with_y(0.0).length() > MOVED * m.scale;
            if self.landing.is_some_and(|l| !moved(l)) {
                return;
            }
            self.landing = Some(Landing { heel, found: search.find(heel, ball, length, tip_length, base) });
        }
    }

    /// Where the foot would stand, seen from above: heel and ball such that the lower one stays where it is.
    fn place(&self, now: &Sole, moved: Vec3, m: &Measures) -> (Vec3, Vec3) {
        let length = (now.ball - now.heel).length();
        let d = (now.ball - now.heel).with_y(0.0);
        let along = heading(math::atan2(d.x, d.z) + m.yaw);
        let h = ((now.ankle + now.heel).y - m.heel_floor).max(0.0);
        let b = ((now.ankle + now.ball).y - m.ball_floor).max(0.0);
        let to_ball = if h + b > 0.0 { h / (h + b) } else { 0.5 };
        let at = now.ankle + moved.with_y(0.0);
        let by_heel = at + now.heel;
        let by_ball = at + now.ball - along * length;
        let heel = by_heel + (by_ball - by_heel) * to_ball;
        (heel, heel + along * length)
    }

    /// Height over the ground of heel and ball while the foot stands, `time` after the state and `age` before the frame.
    fn heights(&self, age: f32, time: f32, m: &Measures) -> (f32, f32) {
        let at = self.track.at(age);
        let height = |point: &Point, y: f32| {
            let own = if point.down { 0.0 } else { y.max(0.0) };
            (own + point.rest.after(m.omega, time).value.x).max(0.0)
        };
        (
            height(&self.heel, (at.ankle + at.heel).y - m.heel_floor),
            height(&self.ball, (at.ankle + at.ball).y - m.ball_floor),
        )
    }

    /// What the phase alone asks for.
    fn wanted(&self, age: f32, time: f32, m: &Measures) -> Offset {
        match &self.phase {
            Phase::Locked(lock) => {
                let at = self.track.at(age);
                let (heel, ball) = self.heights(age, time, m);
                let sample = FootSample {
                    ankle: at.ankle,
                    heel: at.heel,
                    ball: at.ball,
                    tip: at.tip,
                    ..FootSample::default()
                };
                let twist = lock.footing.stand(&sample, heel, ball);
                let (_, yaw) = math::swing_twist(twist.turn, Vec3::Y);
                let toes = math::mul(lock.footing.toe_tilt(), yaw);
                Offset {
                    turn: math::rotation_vector(twist.turn),
                    ankle: twist.ankle - at.ankle,
                    toes: math::rotation_vector(math::mul(math::conjugate(twist.turn), toes)),
                }
            }
            _ => {
                let towards = |s: &Spring, goal: Vec3| {
                    if time > 0.0 { s.towards(goal, goal, m.omega, time).value } else { s.value }
                };
                Offset {
                    turn: towards(&self.tilt, self.tilt_goal),
                    ankle: towards(&self.level, self.level_goal),
                    toes: Vec3::ZERO,
                }
            }
        }
    }

    /// The foot as it is shown.
    pub fn offset(&self, age: f32, time: f32, m: &Measures) -> Offset {
        self.wanted(age, time, m).plus(self.rest.after(m.omega, time).value())
    }

    /// How fast something changes, at `age`, of which the state must be.
    fn rate(&self, age: f32, f: impl Fn(&Self, f32, f32) -> Offset) -> Offset {
        f(self, age - MOMENT, MOMENT).minus(f(self, age, 0.0)).times(1.0 / MOMENT)
    }

    /// Takes another phase (through `change`) without a jump in place or speed. The state must be that of `age`.
    fn switch(&mut self, age: f32, m: &Measures, change: impl FnOnce(&mut Self)) {
        let was = self.offset(age, 0.0, m);
        let rate_was = self.rate(age, |f, a, t| f.offset(a, t, m));
        change(self);
        if !self.locked() {
            // In the air the height has a spring of its own.
            self.level = Spring { value: Vec3::Y * was.ankle.y, rate: Vec3::Y * rate_was.ankle.y };
            self.level_aim = Vec3::Y * self.ground(age, was, m).unwrap_or(was.ankle.y);
            self.level_goal = self.level_aim;
        }
        let is = self.wanted(age, 0.0, m);
        let rate_is = self.rate(age, |f, a, t| f.wanted(a, t, m));
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

    /// The same place with what a cast found there.
    fn relock(&mut self, footing: Footing, m: &Measures) {
        self.switch(0.0, m, |f| {
            if let Phase::Locked(lock) = &mut f.phase {
                lock.footing = footing;
            }
        });
    }

    /// Height of the ground that the foot must go over, with its own displacement; none where there is no ground.
    fn ground(&self, age: f32, shown: Offset, m: &Measures) -> Option<f32> {
        let (at, rate) = (self.track.at(age), self.track.mean_rate(age).ankle.with_y(0.0));
        // The spring runs behind by this time: it is given as much of a lead.
        let lead = rate * (2.0 / m.omega);
        let turn = rotation(shown.turn);
        let moved = at.ankle + shown.ankle.with_y(0.0);
        let floor = m.heel_floor.min(m.ball_floor);
        let mut high: Option<f32> = None;
        for point in [at.heel, at.ball, at.tip] {
            let place = moved + math::rotate(turn, point);
            // A point that the foot's turn has brought down must be kept up by as much.
            let down = ((at.ankle + point).y.max(floor) - place.y.max(floor)).max(0.0);
            for p in [place, place + lead] {
                if let Some(y) = self.under.height(p) {
                    let y = y + m.sole_height + down - floor;
                    high = Some(high.map_or(y, |h| h.max(y)));
                }
            }
        }
        high
    }

    /// The turn along the ground of a foot that comes near it.
    fn lie(&self, age: f32, m: &Measures) -> Vec3 {
        let at = self.track.at(age);
        let low = ((at.ankle + at.heel).y - m.heel_floor).min((at.ankle + at.ball).y - m.ball_floor);
        let s = (1.0 - low / (LIES * m.leg)).clamp(0.0, 1.0);
        let vector = math::rotation_vector(math::shortest_arc(Vec3::Y, self.under.normal, Vec3::X));
        let angle = vector.length();
        let held = if angle > m.slope { vector * (m.slope / angle) } else { vector };
        held * (s * s * (3.0 - 2.0 * s))
    }

    /// Goes on by `h` seconds to the time `age` before the latest frame. `given` is how much contact the caller gives.
    pub fn advance(&mut self, h: f32, age: f32, m: &Measures, given: Option<f32>) {
        let (at, rate) = (self.track.at(age), self.track.mean_rate(age));
        let hold = HOLD * m.limits.release;
        let (contact, release) = match given {
            // At a half and above the foot stands.
            Some(given) => (2.0 * (1.0 - given), 1.0),
            None => (self.nearness(age, m), hold),
        };
        let speed = |v: Vec3| if given.is_some() { 0.0 } else { v.length() };
        let heel_height = ((at.ankle + at.heel).y - m.heel_floor).max(0.0);
        let ball_height = ((at.ankle + at.ball).y - m.ball_floor).max(0.0);
        // A stance begins before its points do, and ends after them.
        let mut events = [
            (Event::Stance, self.stance.push(contact, 0.0, &Limits { height: 1.0, speed: 1.0, release })),
            (Event::Heel, self.heel.detector.push(heel_height, speed(rate.ankle + rate.heel), &m.limits)),
            (Event::Ball, self.ball.detector.push(ball_height, speed(rate.ankle + rate.ball), &m.limits)),
        ];
        let share = |change: &Change| match change {
            Change::Touched(s) | Change::Left(s) => *s,
            Change::None => f32::INFINITY,
        };
        // By time; of two at one time the stance first.
        if share(&events[2].1) < share(&events[1].1) {
            events.swap(1, 2);
        }
        if share(&events[1].1) < share(&events[0].1) {
            events.swap(0, 1);
            if share(&events[2].1) < share(&events[1].1) {
                events.swap(1, 2);
            }
        }
        if !self.locked() {
            let shown = self.offset(age + h, 0.0, m);
            let (level, tilt) = (self.ground(age, shown, m), self.lie(age, m));
            // Over a step a goal counts as its mean.
            if let Some(level) = level {
                self.level_goal = 0.5 * (self.level_aim + Vec3::Y * level);
                self.level_aim = Vec3::Y * level;
            }
            self.tilt_goal = 0.5 * (self.tilt_aim + tilt);
            self.tilt_aim = tilt;
        }
        let mut gone = 0.0;
        for (event, change) in &events {
            let s = share(change);
            if s > 1.0 {
                continue;
            }
            self.drift(h * s - gone, m);
            gone = h * s;
            self.happen(*event, matches!(change, Change::Touched(_)), age + h - gone, m);
        }
        self.drift(h - gone, m);
        let ground = self.under.found() && !matches!(self.phase, Phase::Refused(Unplanted::NoGround));
        let goal = Vec3::X * f32::from(u8::from(ground));
        self.presence = self.presence.towards(goal, goal, m.omega, h);
    }

    /// Lets the springs run for `time` seconds.
    fn drift(&mut self, time: f32, m: &Measures) {
        if time <= 0.0 {
            return;
        }
        self.rest = self.rest.after(m.omega, time);
        self.heel.rest = self.heel.rest.after(m.omega, time);
        self.ball.rest = self.ball.rest.after(m.omega, time);
        self.tilt = self.tilt.towards(self.tilt_goal, self.tilt_goal, m.omega, time);
        if !self.locked() {
            self.level = self.level.towards(self.level_goal, self.level_goal, m.omega, time);
        }
    }

    fn happen(&mut self, event: Event, touched: bool, age: f32, m: &Measures) {
        let (at, rate) = (self.track.at(age), self.track.rate(age));
        match event {
            Event::Stance if touched => self.land(age, m),
            Event::Stance => match self.phase {
                Phase::Locked(_) => self.switch(age, m, |f| f.phase = Phase::Air),
                _ => self.phase = Phase::Air,
            },
            Event::Heel => {
                let height = (at.ankle + at.heel).y - m.heel_floor;
                self.heel.take(touched, height, (rate.ankle + rate.heel).y);
            }
            Event::Ball => {
                let height = (at.ankle + at.ball).y - m.ball_floor;
                self.ball.take(touched, height, (rate.ankle + rate.ball).y);
            }
        }
    }

    /// Stands where it is now, on the footing that was found for here or nearby; else on what is known of the ground.
    fn land(&mut self, age: f32, m: &Measures) {
        let now = self.track.at(age);
        let (heel, ball) = self.place(&now, self.rest.ankle.value, m);
        let d = (now.ball - now.heel).with_y(0.0);
        let mut lock = Lock {
            footing: Footing {
                heel,
                ball,
                roll: 0.0,
                toes: 0.0,
                shift: 0.0,
                support: 1.0,
                heel_supported: true,
            },
            heel,
            ball,
            provisional: true,
            yaw: math::atan2(d.x, d.z),
        };
        match self.landing.take() {
            Some(Landing { found: Err(why), .. }) => {
                self.phase = Phase::Refused(why);
                return;
            }
            Some(Landing { heel: looked, found: Ok(footing) }) => {
                let by = (heel - looked).with_y(0.0);
                let line = footing.ball - footing.heel;
                let run2 = line.with_y(0.0).length_squared().max(f32::MIN_POSITIVE);
                let by = by.with_y(line.y * by.dot(line) / run2);
                let footing = Footing { heel: footing.heel + by, ball: footing.ball + by, ..footing };
                lock.footing = raised(footing, m);
                lock.provisional = by.length() > MOVED * m.scale;
            }
            None => {
                let (Some(h), Some(b)) = (self.under.height(heel), self.under.height(ball)) else {
                    self.phase = Phase::Refused(Unplanted::NoGround);
                    return;
                };
                lock.footing.heel.y = h + m.sole_height;
                lock.footing.ball.y = b + m.sole_height;
            }
        }
        // Points that are down already come in with the height that they have.
        let rate = self.track.rate(age);
        for (point, at, rate, floor) in [
            (&mut self.heel, now.heel, rate.heel + rate.ankle, m.heel_floor),
            (&mut self.ball, now.ball, rate.ball + rate.ankle, m.ball_floor),
        ] {
            let down = core::mem::take(&mut point.down);
            point.rest = Spring::default();
            if down {
                point.take(true, (now.ankle + at).y - floor, rate.y);
            }
        }
        self.switch(age, m, |f| f.phase = Phase::Locked(lock));
    }

    /// After a step: whether a foot that stands is left behind, or one that was has caught up. `hip` is where the animation
    /// has the hip.
    pub fn follow(&mut self, m: &Measures, hip: Vec3) {
        let now = self.track.at(0.0);
        match self.phase {
            Phase::Locked(lock) => {
                let ankle = now.ankle + self.wanted(0.0, 0.0, m).ankle;
                let behind = (ankle - now.ankle).with_y(0.0).length();
                let from_hip = (ankle - hip).with_y(0.0).length();
                let d = (now.ball - now.heel).with_y(0.0);
                let turned = math::atan2(d.x, d.z) - lock.yaw;
                let turned = math::atan2(math::sin(turned), math::cos(turned)).abs();
                // A foot on its toes has no heading to speak of.
                let level = d.length() > 0.7 * (now.ball - now.heel).length();
                if behind > LEFT_BEHIND * m.leg
                    || (from_hip > m.leg && behind > 0.1 * m.leg)
                    || (level && turned > TURNED)
                {
                    self.switch(0.0, m, |f| f.phase = Phase::Behind);
                }
            }
            Phase::Behind => {
                let rest = self.rest.ankle.value.length();
                if rest < CAUGHT_UP * m.leg && self.rest.turn.value.length() < 0.1 {
                    self.land(0.0, m);
                }
            }
            _ => {}
        }
    }
}

/// What a step finds at a time within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Stance,
    Heel,
    Ball,
}

impl Point {
    /// Comes down or lifts with the height over the ground that it has, and the speed; `height` and `rate` are the animation's.
    fn take(&mut self, down: bool, height: f32, rate: f32) {
        if down == self.down {
            return;
        }
        let sign = if down { 1.0 } else { -1.0 };
        self.rest.value.x += sign * height.max(0.0);
        self.rest.rate.x += sign * if height > 0.0 { rate } else { 0.0 };
        self.down = down;
    }
}

/// A footing that is this far from where it was looked for is looked for again, in metres for a figure of 1.8 m: uneven
/// ground that a foot stands on rises by no more than as much over it.
const MOVED: f32 = 0.002;

fn raised(footing: Footing, m: &Measures) -> Footing {
    let up = Vec3::Y * m.sole_height;
    Footing { heel: footing.heel + up, ball: footing.ball + up, ..footing }
}
