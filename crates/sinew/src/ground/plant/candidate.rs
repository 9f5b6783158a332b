//! How well the places along a line serve a sole, and which serves best.

use super::{
    PlantOptions,
    profile::{Profile, Stick},
};
use crate::math;

/// Toes bend up to 35 degrees without effort: on tiptoe they bend more.
const TOES_BEND: f32 = 0.61;
const TOES_BEND_TAN: f32 = 0.7;

/// A foothold is moved without effort by this share of the leg.
const EASY_SHIFT: f32 = 0.25;

/// What a heel in the air costs: more than any other fault of a place that is allowed, and than the largest shift of a
/// figure whose legs are no longer than its arms reach (2 m high, legs of half a metre: 4).
const HEEL_IN_AIR: f32 = 6.0;

/// Places that are looked at to either side, before the best are closed in on: 7 mm for a grown figure and half a stair's
/// tread, finer than an edge is rounded.
const STEPS: usize = 20;
/// Halvings by which the best place of a side is closed in on: from 14 mm, by the golden section, to a hundredth of a
/// millimetre.
const SECTIONS: usize = 15;
/// What lies ahead is chosen over what lies behind where it costs no more than this above it: a foot that comes down astride
/// of an edge, as it may for ever on stairs as long as its steps, then goes the same way each time.
const AHEAD: f32 = 0.02;

/// A sole that looks for a place, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Stance {
    /// From heel to ball.
    pub length: f32,
    /// How far the toes reach beyond the ball.
    pub tip: f32,
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height over 1.8.
    pub scale: f32,
}

/// How one place serves.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Where the heel is along the profile, and how high.
    pub heel: (f32, f32),
    /// The same for the ball.
    pub ball: (f32, f32),
    /// Whether the sole lies along the ground under the ball alone, with the heel in the air.
    pub on_ball: bool,
    /// How the ground's normal leans to the right under the ball, a metre a metre.
    pub lean: f32,
    /// How far it is from the place that was asked for, along the profile.
    pub shift: f32,
    /// Share of the sole that is supported.
    pub support: f32,
    /// How far the ground makes the toes bend up from the sole's line, in radians.
    pub toes: f32,
    /// Whether there is ground under the heel.
    pub heel_supported: bool,
    heel_sunk: bool,
    allowed: bool,
    cost: f32,
}

impl Candidate {
    /// Whether this is a place to stand on, and what it costs.
    fn rank(&self) -> f32 {
        if self.allowed { self.cost } else { f32::INFINITY }
    }
}

/// Judges places along a profile.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub profile: &'a Profile,
    pub sole: Stance,
    pub settings: &'a PlantOptions,
}

impl Judge<'_> {
    /// A margin beyond both ends keeps the points themselves off the edges.
    fn margin(&self) -> f32 {
        0.012 * self.sole.scale
    }

    /// How far a profile must reach behind the heel and before it for every place within the largest shift.
    pub fn range(sole: &Stance, settings: &PlantOptions) -> [f32; 2] {
        let beyond = settings.largest_shift * sole.scale + 0.03 * sole.scale;
        [-beyond, sole.length + sole.tip + beyond]
    }

    /// The best place for a heel near `heel` along the profile; none where there is none to stand on. `aside` is how far the
    /// profile lies to the side of where the foot would be.
    ///
    /// Every place within the largest shift has a cost: what is not supported, what pierces the sole, and the square of the
    /// way there. The best one of each side is closed in on, so that the choice is a continuous function of where the foot
    /// comes down, but for where it changes from one side to the other.
    pub fn best(&self, heel: f32, aside: f32) -> Option<Candidate> {
        let largest = self.settings.largest_shift * self.sole.scale;
        let step = largest / STEPS as f32;
        let effort = |shift: f32| {
            let squared = shift * shift + aside * aside;
            squared / (EASY_SHIFT * self.sole.leg * (EASY_SHIFT * self.sole.leg))
        };
        let at = |shift: f32| {
            let mut f = self.at(heel + shift)?;
            f.cost += effort(shift);
            f.shift = shift;
            Some(f)
        };
        let rank = |f: &Option<Candidate>| f.as_ref().map_or(f32::INFINITY, Candidate::rank);
        let here = at(0.0);
        // As good as can be.
        if rank(&here) <= 1e-4 {
            return here;
        }
        let mut sides = [here, here];
        for k in 1..=STEPS {
            for (best, sign) in sides.iter_mut().zip([1.0, -1.0]) {
                let shift = sign * step * k as f32;
                // A place that could not beat the best even with perfect support need not be looked at.
                if rank(best) > effort(shift) {
                    let found = at(shift);
                    if rank(&found) < rank(best) {
                        *best = found;
                    }
                }
            }
        }
        for (best, sign) in sides.iter_mut().zip([1.0, -1.0]) {
            let Some(middle) = best.filter(|b| b.allowed).map(|b| b.shift * sign) else { continue };
            let (mut a, mut b) = ((middle - step).max(0.0), (middle + step).min(largest));
            // What is forbidden ranks last, so that this closes in on a bound as well as on a hollow.
            const GOLDEN: f32 = 0.618_034;
            let [mut c, mut d] = [b - GOLDEN * (b - a), a + GOLDEN * (b - a)];
            let [mut at_c, mut at_d] = [c, d].map(|s| at(sign * s));
            for _ in 0..SECTIONS {
                // Where both are forbidden the bound lies towards the place that is not.
                let left = match (rank(&at_c), rank(&at_d)) {
                    (c, d) if c.is_infinite() && d.is_infinite() => middle < 0.5 * (a + b),
                    (c, d) => c <= d,
                };
                for found in [&at_c, &at_d] {
                    if rank(found) < rank(best) {
                        *best = *found;
                    }
                }
                if left {
                    (b, d, at_d) = (d, c, at_c);
                    c = b - GOLDEN * (b - a);
                    at_c = at(sign * c);
                } else {
                    (a, c, at_c) = (c, d, at_d);
                    d = a + GOLDEN * (b - a);
                    at_d = at(sign * d);
                }
            }
        }
        let [ahead, behind] = sides;
        let best = if rank(&ahead) <= rank(&behind) + AHEAD { ahead } else { behind };
        best.filter(|f| f.allowed)
    }

    /// How well one place serves: lying from the ground under the heel to that under the ball, or along the ground under
    /// the ball alone with the heel in the air where there is no other way.
    pub fn at(&self, heel: f32) -> Option<Candidate> {
        let both = self.on_heel_and_ball(heel).map(|(stick, run)| self.judge(&stick, run, false));
        if both.is_some_and(|b| b.allowed && b.heel_supported) {
            return both;
        }
        let ball = self.on_ball(heel).map(|(stick, run)| self.judge(&stick, run, true));
        // With the heel in the air it must be in the air.
        match (both, ball.filter(|b| !b.heel_sunk)) {
            (Some(a), Some(b)) => Some(if b.allowed && !a.allowed { b } else { a }),
            (a, b) => a.or(b),
        }
    }

    /// The sole as a stick on two supports: where the ball comes down depends on the pitch, which depends on the ground
    /// there. Four rounds settle it to a fraction of a millimetre on any slope that a foot can stand on.
    fn on_heel_and_ball(&self, s: f32) -> Option<(Stick, f32)> {
        let length = self.sole.length;
        let y = self.profile.height(s)?;
        let (mut run, mut rise) = (length, 0.0);
        for _ in 0..4 {
            rise = self.profile.height(s + run)? - y;
            let held = rise.clamp(-0.99 * length, 0.99 * length);
            let next = math::sqrt(length * length - held * held);
            if next == run {
                break;
            }
            run = next;
        }
        // Where the ball falls to and fro over an edge there is no such line. (A thousandth of the sole: what the rounds
        // above leave on smooth ground is far less.)
        let off = math::sqrt(run * run + rise * rise) - length;
        (off.abs() <= 1e-3 * length).then_some((Stick { s, y, slope: rise / run }, run))
    }

    /// The sole along the ground under the ball.
    fn on_ball(&self, s: f32) -> Option<(Stick, f32)> {
        let length = self.sole.length;
        let (mut run, mut slope, mut y) = (length, 0.0, 0.0);
        for _ in 0..2 {
            y = self.profile.height(s + run)?;
            slope = self.profile.slope(s + run)?.0;
            run = length / math::sqrt(1.0 + slope * slope);
        }
        Some((Stick { s, y: y - slope * run, slope }, run))
    }

    fn judge(&self, stick: &Stick, run: f32, on_ball: bool) -> Candidate {
        let Stance { length, tip, leg, scale } = self.sole;
        let s = stick.s;
        // Supported is what has ground within this of the sole: a fourteenth of it from heel to ball (13 mm for a grown
        // figure), what a shoe and a foot give way by.
        let give = 0.07 * length;
        let over = |at: f32| Some(self.profile.height(s + at)? - stick.height(s + at));
        let near = |at: f32| over(at).is_some_and(|o| o.abs() <= give);
        let margin = self.margin();
        let reach = run + tip * run / length;
        // Toes bend up by themselves; what rises more steeply than they bend is in their way.
        let along = |ends| self.profile.along_stick(stick, ends, give, s + run, TOES_BEND_TAN);
        let (support, _) = along([s, s + reach]);
        let (_, pierced) = along([s - margin, s + reach + margin]);
        // What rises into the sole between its ends: a shoe and the arch of a foot take eleven
        // millimetres of a grown figure.
        let most_pierced = 0.06 * length;
        let toe_reach = (reach - run).max(f32::MIN_POSITIVE);
        let toes = over(reach).map_or(0.0, |o| math::atan2(o, toe_reach));
        // Over an edge they stay straight.
        let toes = if toes.abs() <= TOES_BEND { toes } else { 0.0 };
        let firm = near(run - margin) && near(run + margin);
        let heel_firm = near(-margin) && near(margin);
        let steep = stick.slope.abs() > math::tan(self.settings.largest_slope);
        // A hundredth more than is asked for: who measures it in another way finds it too.
        let enough = (self.settings.support + 0.01).min(1.0);
        let allowed = firm && support >= enough && pierced <= most_pierced && !steep;
        let heel = if heel_firm { 0.0 } else { HEEL_IN_AIR };
        let cost = 0.5 * (1.0 - support) + heel + pierced / (0.1 * leg);
        // A heel this close to the ground is on it: two millimetres for a grown figure.
        let touch = 0.002 * scale;
        let heel_over = over(0.0);
        let lean = self.profile.slope(s + run).map_or(0.0, |(_, lean)| lean);
        Candidate {
            heel: (s, stick.y),
            ball: (s + run, stick.height(s + run)),
            on_ball,
            lean,
            shift: 0.0,
            support,
            toes,
            heel_supported: heel_over.is_some_and(|o| o.abs() <= touch),
            heel_sunk: heel_over.is_some_and(|o| o > touch),
            allowed,
            cost,
        }
    }
}
