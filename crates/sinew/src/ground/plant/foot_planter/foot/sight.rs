//! Ray casts of a foot: under it, along its path, and at its landing.

use glam::Vec3;

use super::{Choice, Foot, NEAR, Phase};
use crate::{
    ground::plant::{
        Foothold, FootholdSearch, PlantOptions, Unplanted,
        candidate::{Lies, Stance},
        foot_planter::{measures::Measures, ticks::TICK, track::Sole, under::Under},
        foothold::heading,
    },
    math,
};

/// Distance of the landing from its prediction at which it is searched again, in metres for a figure of 1.8 m.
pub(super) const MAX_STRAY: f32 = 0.03;

/// Distance by which the ground under a standing foot moves before the foot lets go, in metres for a figure of 1.8 m: the
/// clearance of a swing.
const GONE: f32 = 0.02;

impl Foot {
    /// Casts rays for the next tick: under the foot, along its path, and at its landing. `now` is the animation's foot then,
    /// `sight` the time between casts in seconds.
    pub fn sense(&mut self, search: &FootholdSearch<'_>, m: &Measures, now: &Sole, base: f32, sight: f32) {
        self.cast_choice(search, m, base);
        if self.share() >= 1.0 && !self.stands_on_nothing(search, m) && !self.lets_go(now, m) {
            return;
        }
        // The displacement at that tick.
        let shown = self.offset(now, TICK, m).ankle;
        let at = now.ankle + shown.with_y(0.0);
        let points = [now.heel, now.ball, now.tip].map(|p| at + p);
        // The coming tick has not been pushed yet, so its rate is computed here.
        let last = self.now(m);
        let rate = (now.ankle - last.sole.ankle).with_y(0.0) / TICK;
        let rate = if rate.length() > last.rate.ankle.with_y(0.0).length() {
            rate
        } else {
            last.rate.ankle.with_y(0.0)
        };
        self.under = Under::sole(search, points, base);
        let level = (now.ball - now.heel).with_y(0.0).normalize_or(Vec3::Z);
        // Along the velocity of a moving foot, else along the sole; a swing is ten times as fast as this bias.
        let along = (rate + level * (0.3 * m.scale)).normalize_or(level);
        // From heel to toe tip with a margin, whichever is ahead.
        let ends = [now.heel - now.ball, now.tip - now.ball].map(|p| 1.2 * p.dot(along));
        // With a margin for a foot that accelerates.
        let behind = 0.5 * rate.length() * TICK - ends[0].min(ends[1]);
        let ahead = ends[0].max(ends[1]) + 1.3 * rate.length() * (sight + TICK + 2.0 / m.omega);
        self.under.sweep(search, (at + now.ball).with_y(0.0), along, [behind, ahead], base);
        if matches!(self.phase, Phase::Refused(_) | Phase::Locked(_)) {
            return;
        }
        let (sample, (heel, ball)) = match self.lands_in(m) {
            Some(later) => {
                let own = (later + self.early).min(m.ahead);
                (self.ticks.ago(m.ahead - own).sole, self.stance(own, m))
            }
            None => {
                let (heel, ball) = m.heights(now);
                if heel.min(ball) > NEAR * m.limits.height {
                    return;
                }
                (*now, place(now, shown, m))
            }
        };
        let near = |p: Vec3| (p - heel).with_y(0.0).length() <= MAX_STRAY * m.scale;
        // The landing is searched again only if its prediction has moved.
        if m.ahead > 0 && self.choice.is_some_and(|c| near(c.heel)) {
            return;
        }
        self.landing = Some(search.landing(heel, ball, sole_of(&sample, m), MAX_STRAY * m.scale, base));
    }

    /// Casts the ground under the ball of a standing foot. Whether it has moved or gone since the landing.
    fn stands_on_nothing(&mut self, search: &FootholdSearch<'_>, m: &Measures) -> bool {
        let Phase::Locked(lock) = &mut self.phase else { return false };
        let ball = lock.foothold.ball;
        let now = search.height(ball, ball.y).map(|(y, _)| y);
        match (lock.ground, now) {
            (None, _) => lock.ground = now,
            (Some(before), Some(now)) => lock.gone = (now - before).abs() > GONE * m.scale,
            (Some(_), None) => lock.gone = true,
        }
        lock.gone
    }

    /// Re-casts the heights of the chosen foothold at heel and ball.
    fn cast_choice(&mut self, search: &FootholdSearch<'_>, m: &Measures, base: f32) {
        let sole = sole_of(&self.now(m).sole, m);
        let Some(choice) = &mut self.choice else { return };
        if choice.settled {
            return;
        }
        choice.settled = true;
        let Ok(foothold) = choice.found else { return };
        let length = (foothold.ball - foothold.heel).length();
        if choice.searched {
            let raise = Vec3::Y * m.sole_height;
            let low = Foothold { heel: foothold.heel - raise, ball: foothold.ball - raise, ..foothold };
            choice.found = Ok(match m.follows_slope {
                true => raised(search.settled(&low, choice.lies, length, base), sole.tip, m),
                false => raised(search.level(&low, sole.tip, base), sole.tip, m),
            });
        } else {
            let sole = Stance { length, ..sole };
            let (_, found) = search.land(choice.heel, choice.ball, sole, base);
            // Without a better one, the foothold of the landing stays.
            if let Some(found) = found {
                let found = search.settled(&found.foothold, found.lies, length, base);
                choice.found = Ok(raised(found, sole.tip, m));
            }
            choice.searched = true;
        }
    }

    /// Chooses a foothold for heel and ball at the given positions from earlier casts. `hip` is the lowest position of the hip as the
    /// foot lands, where another foot restricts it.
    pub(super) fn choose(
        &self,
        heel: Vec3,
        ball: Vec3,
        sole: Stance,
        settings: &PlantOptions,
        m: &Measures,
        hip: Option<Vec3>,
    ) -> Choice {
        let along = (ball - heel).with_y(0.0).normalize_or(Vec3::Z);
        let mut choice = Choice {
            found: Err(Unplanted::NoGround),
            heel,
            ball,
            lies: Lies::Level,
            settled: false,
            searched: true,
        };
        let landing = self.landing.as_ref().filter(|l| l.serves(heel, along, 2.0 * MAX_STRAY * m.scale));
        if let Some(landing) = landing {
            // The foot may be a little beside the cast line.
            let by = landing.beside(heel);
            let Some(found) = landing.best(heel, settings, hip.map(|hip| hip - by)) else {
                choice.found = Err(landing.missing());
                return choice;
            };
            let foothold = found.foothold;
            choice.found = Ok(raised(
                Foothold { heel: foothold.heel + by, ball: foothold.ball + by, ..foothold },
                sole.tip,
                m,
            ));
            choice.lies = found.lies;
            return choice;
        }
        choice.searched = false;
        if let (Some(h), Some(b)) = (self.under.height(heel), self.under.height(ball)) {
            // Both ends are on the ground, up to the largest slope.
            let most = sole.length * math::sin(m.slope);
            let rise = (b - h).clamp(-most, most);
            let run = math::sqrt(sole.length * sole.length - rise * rise);
            let heel = heel.with_y(h.max(b - rise));
            let foothold = Foothold {
                heel,
                ball: (heel + along * run).with_y(heel.y + rise),
                roll: 0.0,
                toes: 0.0,
                shift: 0.0,
                support: 1.0,
                heel_supported: true,
            };
            choice.found = Ok(raised(foothold, sole.tip, m));
        }
        choice
    }
}

/// Positions of heel and ball of a standing foot, seen from above. The lower of the two stays.
pub(super) fn place(now: &Sole, moved: Vec3, m: &Measures) -> (Vec3, Vec3) {
    let length = (now.ball - now.heel).length();
    let d = (now.ball - now.heel).with_y(0.0);
    let along = heading(math::atan2(d.x, d.z) + m.yaw);
    let (h, b) = m.heights(now);
    let (h, b) = (h.max(0.0), b.max(0.0));
    let to_ball = if h + b > 0.0 { h / (h + b) } else { 0.5 };
    let at = now.ankle + moved.with_y(0.0);
    let by_heel = at + now.heel;
    let by_ball = at + now.ball - along * length;
    let heel = by_heel + (by_ball - by_heel) * to_ball;
    (heel, heel + along * length)
}

pub(super) fn sole_of(sole: &Sole, m: &Measures) -> Stance {
    let along = sole.ball - sole.heel;
    let length = along.length();
    let ahead = -sole.heel.dot(along) / length.max(f32::MIN_POSITIVE);
    let up = math::sqrt((sole.heel.length_squared() - ahead * ahead).max(0.0));
    Stance { length, tip: (sole.tip - sole.ball).length(), ankle: [ahead, up], leg: m.leg, scale: m.scale }
}

/// The foothold as the leg's settings have it. `tip` is the distance from ball to toe tip.
fn raised(foothold: Foothold, tip: f32, m: &Measures) -> Foothold {
    let foothold = if m.follows_slope { foothold } else { foothold.level(tip) };
    let up = Vec3::Y * m.sole_height;
    Foothold { heel: foothold.heel + up, ball: foothold.ball + up, ..foothold }
}
