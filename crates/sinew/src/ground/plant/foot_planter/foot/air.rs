//! Motion of a foot in the air: its height, its course to a known foothold, and its clearance.

use glam::Vec3;

use super::{
    Choice, EARLY, Foot, LEFT_BEHIND, MOMENT, Phase, rolling,
    sight::{MAX_STRAY, sole_of},
    stand,
};
use crate::{
    ground::plant::{
        Foothold, PlantOptions,
        foot_planter::{
            ankle::Touch,
            course::Course,
            measures::Measures,
            offset::{Offset, Rest, rotation},
            spring::Spring,
            ticks::{Beat, MAX_AHEAD, TICK},
        },
    },
    math,
};

/// Height below which a foot tilts along the ground, as a fraction of the leg.
const LIES: f32 = 0.12;
/// Slope at which a foot on a course rises before an edge, and clearance falls, in metres per metre. It is steep, as no edge of a
/// known path comes as a surprise.
const STEEP: f32 = 12.0;
/// Largest lift of a course, as a fraction of the leg: a high step of a stair.
const MAX_LIFT: f32 = 0.2;
/// Rise that the spring of the height always takes at once, as a fraction of the leg: a high step of a stair for a slow foot.
const RISE: f32 = 0.5;
/// Speed at which a foot may rise beyond that, as a multiple of the animation's: the bound on feet in a game on stairs
/// (`lab/step`). At 1 the Knight's run on steep stairs cuts 2 to 4 cm deeper through edges.
const FASTER: f32 = 2.0;
/// Frequency of the clearance's spring, as a multiple of the foot's.
pub(super) const QUICK: f32 = 3.0;

/// Clearance up to which a foot is near the ground, as a fraction of the leg: about what its ball sinks where the ankle ends.
const NEAR: f32 = 0.1;

impl Foot {
    /// Displacement of the foot in the air, `time` seconds after the state.
    pub(super) fn in_the_air(&self, time: f32, m: &Measures) -> Offset {
        let towards = |s: &Spring, goal: Vec3| s.towards(goal, m.omega, time).value;
        let level = towards(&self.level, self.level_goal);
        match &self.course {
            Some(course) => {
                let way = course.at(time);
                Offset { ankle: way.ankle + level, ..way }
            }
            None => Offset { turn: towards(&self.tilt, self.tilt_goal), ankle: level, toes: Vec3::ZERO },
        }
    }

    /// Height of the ground that the foot must pass over with the displacement `shown`; `None` without ground.
    pub(super) fn ground(&self, shown: Offset, m: &Measures) -> Option<f32> {
        let Beat { sole: at, rate, .. } = self.now(m);
        // The lead makes up for the spring's lag and for half a tick until the next call.
        let lead = rate.ankle.with_y(0.0) * (2.0 / m.omega + 0.5 * TICK);
        let turn = rotation(shown.turn);
        let moved = at.ankle + shown.ankle.with_y(0.0);
        let floor = m.heel_floor.min(m.ball_floor);
        let mut high: Option<f32> = None;
        for point in [at.heel, at.ball, at.tip] {
            let place = moved + math::rotate(turn, point);
            // The foot must be higher by as much as its turn lowers the point.
            let down = (at.ankle + point).y.max(floor) - place.y.max(floor);
            for p in [place, place + lead] {
                if let Some(y) = self.under.height(p) {
                    let y = y + m.sole_height + down - floor;
                    high = Some(high.map_or(y, |h| h.max(y)));
                }
            }
        }
        high
    }

    /// Clearance of a foot that does not stand, in metres, and how it touches the ground, `time` seconds after the state.
    pub fn clearance(&self, time: f32, m: &Measures) -> (f32, Touch) {
        let goal = self.clear_goal;
        let now = self.clear.towards(goal, QUICK * m.omega, time).value;
        let [near, heel, ball] = [1.0 - now.x / (NEAR * m.leg), now.y, now.z].map(|v| v.clamp(0.0, 1.0));
        (now.x.max(0.0), Touch { near, heel, ball })
    }

    /// Clearance at the present tick, above the ground here and at the next tick's position.
    pub(super) fn clears(&self, m: &Measures) -> f32 {
        let (sole, shown) = (&self.now(m).sole, self.present(m));
        let turn = rotation(shown.turn);
        let (heel, ball) = m.heights(sole);
        let mut clear = heel.min(ball);
        let next = self.pace(0, m).ankle.with_y(0.0) * TICK;
        for point in [sole.heel, sole.ball, sole.tip] {
            let place = sole.ankle + shown.ankle + math::rotate(turn, point);
            for p in [place, place + next] {
                if let Some(ground) = self.under.before(p, STEEP) {
                    clear = clear.min(p.y - ground - m.sole_height);
                }
            }
        }
        clear.max(0.0) * (1.0 - self.share())
    }

    /// Lifts a course over obstacles.
    fn clear_the_way(&self, course: &mut Course, m: &Measures) {
        // Half a tick, in which a swinging foot moves by less than its own length.
        const PARTS: usize = 2;
        const MOST: usize = PARTS * MAX_AHEAD;
        let mut needs = [(0.0f32, 0.0f32); MOST];
        let floor = m.heel_floor.min(m.ball_floor);
        for (i, need) in needs.iter_mut().enumerate().take(PARTS * m.ahead).skip(1) {
            let time = i as f32 * (TICK / PARTS as f32);
            if time >= course.left() {
                break;
            }
            let (later, part) = (i / PARTS, (i % PARTS) as f32 / PARTS as f32);
            let (a, b) = (&self.ticks.ago(m.ahead - later).sole, &self.ticks.ago(m.ahead - later - 1).sole);
            let sole = a.after(&b.minus(a), part);
            let way = course.at(time);
            let turn = rotation(way.turn);
            need.1 = time;
            for point in [sole.heel, sole.ball, sole.tip] {
                let place = sole.ankle + way.ankle + math::rotate(turn, point);
                let Some(ground) = self.under.before(place, STEEP) else { continue };
                // The clearance is at most the animation's own above its floor.
                let own = ((sole.ankle + point).y - floor).clamp(0.0, m.clearance);
                need.0 = need.0.max(ground + m.sole_height + own - place.y);
            }
        }
        course.pass(needs.iter().copied(), MAX_LIFT * m.leg);
    }

    /// Rotation vector that tilts a foot near the ground along it.
    fn lie(&self, m: &Measures) -> Vec3 {
        if !m.follows_slope {
            return Vec3::ZERO;
        }
        let (heel, ball) = m.heights(&self.now(m).sole);
        let s = (1.0 - heel.min(ball) / (LIES * m.leg)).clamp(0.0, 1.0);
        let vector = math::rotation_vector(math::shortest_arc(Vec3::Y, self.under.normal, Vec3::X));
        let angle = vector.length();
        let held = if angle > m.slope { vector * (m.slope / angle) } else { vector };
        held * math::smoothstep(s)
    }

    /// Updates the goals of a foot in the air: a course to its next foothold, or the height of the ground. `low` is the lowest level
    /// of the body as the foot lands, and `other` the foothold of another foot.
    pub(super) fn steer(
        &mut self,
        settings: &PlantOptions,
        m: &Measures,
        low: f32,
        other: Option<&Foothold>,
    ) {
        self.tilt_goal = self.lie(m);
        let lands = self.lands_in(m).filter(|_| !matches!(self.phase, Phase::Refused(_) | Phase::Locked(_)));
        let mut goal = None;
        if let Some(later) = lands {
            let own = (later + self.early).min(m.ahead);
            let tick = *self.ticks.ago(m.ahead - own);
            let (heel, ball) = self.stance(own, m);
            let along = (ball - heel).with_y(0.0).normalize_or(Vec3::Z);
            let within = |c: &Choice, most: f32| (c.heel - heel).with_y(0.0).length() <= most;
            if !self.choice.as_ref().is_some_and(|c| within(c, MAX_STRAY * m.scale)) {
                // The foothold is chosen again only if the predicted landing has moved. Until it is cast there, the old one serves.
                let cast = self.landing.as_ref().is_some_and(|l| l.serves(heel, along, MAX_STRAY * m.scale));
                let hip = low.is_finite().then_some(tick.sole.hip + Vec3::Y * low);
                self.choice = match cast {
                    true => Some(self.choose(heel, ball, sole_of(&tick.sole, m), settings, m, hip)),
                    false => self.choice.filter(|c| within(c, LEFT_BEHIND * m.leg)),
                };
            }
            if let Some(Choice { found: Ok(foothold), .. }) = self.choice {
                let early = self.lands_early(own, &foothold, other, m);
                // As long as there is time for it.
                if own > early + EARLY {
                    self.early = early;
                }
                let later = own.saturating_sub(self.early);
                let tick = *self.ticks.ago(m.ahead - later);
                let (ready, pace, rolls) =
                    (self.ready(later, m), self.pace(later, m), self.early as f32 * TICK);
                let at = |time: f32| {
                    let sole = tick.sole.after(&pace, time);
                    let (h, b) = m.heights(&sole);
                    let heel = (1.0 - ready.heel) * h.max(0.0) + rolling(&sole, rolls - time);
                    stand(&foothold, &sole, heel, (1.0 - ready.ball) * b.max(0.0))
                };
                let to = at(0.0);
                // The landing point stops, while the animation's continues; a loose contact follows the animation.
                let rate = at(MOMENT).minus(to).times(1.0 / MOMENT);
                let rate = Offset { ankle: (rate.ankle * ready.foot).with_y(rate.ankle.y), ..rate };
                goal = Some((to, rate, later as f32 * TICK));
            }
        }
        if let Some((to, rate, left)) = goal {
            let (was, rate_was) = self.rated(m, |f, sole, t| f.offset(sole, t, m));
            (self.rest, self.level, self.level_goal) = (Rest::default(), Spring::default(), Vec3::ZERO);
            let mut course = Course::new((was, rate_was), (to, rate), left, self.course.as_ref());
            self.clear_the_way(&mut course, m);
            self.course = Some(course);
            return;
        }
        if self.course.is_some() {
            self.switch(m, |_| {});
        }
        if let Some(level) = self.ground(self.present(m), m) {
            // A critically damped spring at rest, with its goal a height away, reaches a speed of height * omega / e.
            let speed = FASTER * self.now(m).rate.ankle.length().max(self.pace(0, m).ankle.length());
            let most = (speed * core::f32::consts::E / m.omega).max(RISE * m.leg);
            self.level_goal = Vec3::Y * level.min(self.level.value.y + most);
            if let Phase::Locked(lock) = &self.phase {
                let stands = self.stands(lock, &self.now(m).sole, 0.0, m).ankle.y;
                self.level_goal.y += lock.share * (stands - level);
            }
        }
    }
}
