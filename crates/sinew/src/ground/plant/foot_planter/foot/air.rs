//! A foot in the air: over what it goes, where it goes, and how far it can go down.

use glam::Vec3;

use super::{
    Choice, Foot, Phase,
    sight::{ASTRAY, place, sole_of},
    stand,
};
use crate::{
    ground::plant::{
        PlantOptions,
        foot_planter::{
            course::Course,
            measures::Measures,
            offset::{Offset, Rest, rotation},
            spring::Spring,
            ticks::{BEAT, Beat},
        },
    },
    math,
};

/// A foot lies along the ground from this height on downwards, as a share of the leg.
const LIES: f32 = 0.12;
/// A foot rises this many metres a metre before an edge that it comes to on a known way: it is looked at often enough to
/// come to none unseen.
const STEEP: f32 = 12.0;
/// A foot can go down the less the nearer it is to an edge, which it feels where it is a third of its
/// height away: so that it makes no leap there.
const NEARS: f32 = 3.0;
/// A course is lifted by no more than this share of the leg: a high step of a stair.
const MOST_LIFT: f32 = 0.2;
/// How far a foot can go down is followed this many times as fast as a foot settles.
pub(super) const QUICK: f32 = 3.0;

impl Foot {
    /// Where it is shown in the air, `time` seconds after the state.
    pub(super) fn in_the_air(&self, time: f32, m: &Measures) -> Offset {
        let towards = |s: &Spring, goal: Vec3| s.towards(goal, goal, m.omega, time).value;
        let level = towards(&self.level, self.level_goal);
        match &self.course {
            Some(course) => {
                let way = course.at(time);
                Offset { ankle: way.ankle + level, ..way }
            }
            None => Offset { turn: towards(&self.tilt, self.tilt_goal), ankle: level, toes: Vec3::ZERO },
        }
    }

    /// Height of the ground that the foot must go over, with its own displacement; none where there is no ground.
    pub(super) fn ground(&self, shown: Offset, m: &Measures) -> Option<f32> {
        let Beat { sole: at, rate, .. } = self.now(m);
        // The spring runs behind by this time, and by half a tick until it is asked again: it is given as much of a lead.
        let lead = rate.ankle.with_y(0.0) * (2.0 / m.omega + 0.5 * BEAT);
        let turn = rotation(shown.turn);
        let moved = at.ankle + shown.ankle.with_y(0.0);
        let floor = m.heel_floor.min(m.ball_floor);
        let mut high: Option<f32> = None;
        for point in [at.heel, at.ball, at.tip] {
            let place = moved + math::rotate(turn, point);
            // A point that the foot's turn has brought down must be kept up by as much, and one that it raised the less.
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

    /// How far the foot can go down where it does not stand, `time` seconds after the state.
    pub fn clearance(&self, time: f32, m: &Measures) -> f32 {
        let goal = self.clear_goal;
        self.clear.towards(goal, goal, QUICK * m.omega, time).value.x.max(0.0)
    }

    /// The same at the present tick, by the ground here and where the foot will be at the next one.
    pub(super) fn clears(&self, m: &Measures) -> f32 {
        let (sole, shown) = (&self.now(m).sole, self.present(m));
        let turn = rotation(shown.turn);
        let (heel, ball) = m.heights(sole);
        let mut clear = heel.min(ball);
        let next = self.pace(m).ankle.with_y(0.0) * BEAT;
        for point in [sole.heel, sole.ball, sole.tip] {
            let place = sole.ankle + shown.ankle + math::rotate(turn, point);
            for p in [place, place + next] {
                if let Some(ground) = self.under.before(p, NEARS) {
                    clear = clear.min(p.y - ground - m.sole_height);
                }
            }
        }
        clear.max(0.0) * (1.0 - self.share())
    }

    /// Lifts a course over what lies in its way.
    fn clear_the_way(&self, course: &mut Course, m: &Measures) {
        // Twice a tick: a swinging foot goes by less than its own length.
        const PARTS: usize = 2;
        let plain = *course;
        let floor = m.heel_floor.min(m.ball_floor);
        for i in 1..PARTS * m.ahead {
            let time = i as f32 * (BEAT / PARTS as f32);
            if time >= plain.left() {
                break;
            }
            let (later, part) = (i / PARTS, (i % PARTS) as f32 / PARTS as f32);
            let (a, b) = (&self.ticks.ago(m.ahead - later).sole, &self.ticks.ago(m.ahead - later - 1).sole);
            let sole = a.after(&b.minus(a), part);
            let way = plain.at(time);
            let turn = rotation(way.turn);
            for point in [sole.heel, sole.ball, sole.tip] {
                let place = sole.ankle + way.ankle + math::rotate(turn, point);
                let Some(ground) = self.under.before(place, STEEP) else { continue };
                // No higher over the ground than it is over the animation's floor.
                let own = ((sole.ankle + point).y - floor).clamp(0.0, m.clearance);
                course.pass(ground + m.sole_height + own - place.y, time, MOST_LIFT * m.leg);
            }
        }
    }

    /// The turn along the ground of a foot that comes near it.
    fn lie(&self, m: &Measures) -> Vec3 {
        let (heel, ball) = m.heights(&self.now(m).sole);
        let s = (1.0 - heel.min(ball) / (LIES * m.leg)).clamp(0.0, 1.0);
        let vector = math::rotation_vector(math::shortest_arc(Vec3::Y, self.under.normal, Vec3::X));
        let angle = vector.length();
        let held = if angle > m.slope { vector * (m.slope / angle) } else { vector };
        held * (s * s * (3.0 - 2.0 * s))
    }

    /// In the air: where it goes next.
    pub(super) fn steer(&mut self, settings: &PlantOptions, m: &Measures) {
        self.tilt_goal = self.lie(m);
        let lands = self.lands_in(m).filter(|_| !matches!(self.phase, Phase::Refused(_) | Phase::Locked(_)));
        let mut goal = None;
        if let Some(later) = lands {
            let tick = *self.ticks.ago(m.ahead - later);
            let (heel, ball) = place(&tick.sole, Vec3::ZERO, m);
            let along = (ball - heel).with_y(0.0).normalize_or(Vec3::Z);
            let near = |c: &Choice| (c.heel - heel).with_y(0.0).length() <= ASTRAY * m.scale;
            let serves = self.landing.as_ref().is_some_and(|l| l.serves(heel, along, ASTRAY * m.scale));
            if !self.choice.as_ref().is_some_and(near) {
                // It is looked for anew only where it is far from where it was thought to be.
                self.choice = serves.then(|| self.choose(heel, ball, sole_of(&tick.sole, m), settings, m));
            }
            if let Some(Choice { found: Ok(foothold), .. }) = self.choice {
                let (h, b) = m.heights(&tick.sole);
                let to = stand(&foothold, &tick.sole, h.max(0.0), b.max(0.0));
                // The point that comes down stays where it is, while the animation's goes on.
                let next = self.ticks.ago(m.ahead - later - 1);
                let low = if h <= b { next.rate.heel } else { next.rate.ball };
                // One that holds on loosely goes along with it.
                let hold = self.contact(later, m).foot;
                let ankle = (next.rate.ankle + low).with_y(0.0) * -hold;
                let rate = Offset { ankle, ..Offset::default() };
                goal = Some((to, rate, later as f32 * BEAT));
            }
        }
        if let Some((to, rate, left)) = goal {
            let (was, rate_was) = self.rated(m, |f, sole, t| f.offset(sole, t, m));
            (self.rest, self.level, self.level_goal) = (Rest::default(), Spring::default(), Vec3::ZERO);
            let mut course = Course::new((was, rate_was), (to, rate), left);
            self.clear_the_way(&mut course, m);
            self.course = Some(course);
            return;
        }
        if self.course.is_some() {
            self.switch(m, |_| {});
        }
        if let Some(level) = self.ground(self.present(m), m) {
            self.level_goal = Vec3::Y * level;
            if let Phase::Locked(lock) = &self.phase {
                let stands = self.stands(lock, &self.now(m).sole, 0.0, m).ankle.y;
                self.level_goal.y += lock.share * (stands - level);
            }
        }
    }
}
