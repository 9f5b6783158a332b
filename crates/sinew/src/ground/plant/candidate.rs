//! Rating of positions along a profile as footholds, and the search for the best.

use super::{
    PlantOptions,
    profile::{Profile, Stick},
};
use crate::math;

/// Largest bend of the toes without effort, in radians: 35 degrees. On tiptoe they bend more.
const TOES_BEND: f32 = 0.61;
const TOES_BEND_TAN: f32 = 0.7;

/// Shift with a cost of 1, as a fraction of the leg.
const EASY_SHIFT: f32 = 0.25;

/// Cost of a heel in the air. It is larger than any other cost of an allowed position, and than that of the largest shift of
/// a figure with short legs (2 for legs of 0.5 m at a height of 2 m and default options).
const HEEL_IN_AIR: f32 = 6.0;

/// Cost of less support than is asked for, larger than all others: such a position serves where there is none with enough, as
/// on stairs whose treads are shorter than the sole.
const PARTLY: f32 = 100.0;

/// Positions rated to either side before the best is refined: 7 mm apart for a figure of 1.8 m and the default shift, finer
/// than the rounding of edges.
const STEPS: usize = 20;
/// Golden-section steps that refine the best position of a side: from 14 mm to 0.01 mm.
const SECTIONS: usize = 15;
/// Largest extra cost at which a position ahead is preferred to one behind. A foot that lands astride of an edge, as it may
/// at each step on stairs as long as its stride, then takes the same side each time.
const AHEAD: f32 = 0.02;

/// Dimensions of a sole and its leg, in metres.
#[derive(Clone, Copy, Debug)]
pub struct Stance {
    /// Distance from heel to ball.
    pub length: f32,
    /// Distance from ball to toe tip.
    pub tip: f32,
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height divided by 1.8 m.
    pub scale: f32,
}

/// What a sole lies on.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Lies {
    /// The ground under heel and ball.
    Level,
    /// The ground under the ball, with the heel in the air.
    Ball,
    /// Edges of the ground, with the ball on it and the heel in the air.
    Edges,
}

/// A position of a sole along a profile, rated.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// Distance of the heel along the profile, and its height, in metres.
    pub heel: (f32, f32),
    /// Distance of the ball along the profile, and its height, in metres.
    pub ball: (f32, f32),
    /// What the sole lies on.
    pub lies: Lies,
    /// Slope of the ground's normal to the right under the ball, in metres per metre.
    pub lean: f32,
    /// Distance from the requested position along the profile, in metres.
    pub shift: f32,
    /// Fraction of the sole that is supported.
    pub support: f32,
    /// Angle by which the ground bends the toes up from the line of the sole, in radians.
    pub toes: f32,
    /// Whether there is ground under the heel.
    pub heel_supported: bool,
    /// Whether enough of the sole is supported.
    supported: bool,
    heel_sunk: bool,
    allowed: bool,
    cost: f32,
}

impl Candidate {
    /// Whether it supports as much of the sole as is asked for.
    pub fn serves(&self) -> bool {
        self.rank() < PARTLY
    }

    /// Cost of the position; infinite if it is not allowed.
    fn rank(&self) -> f32 {
        match (self.allowed, self.supported, self.lies) {
            (false, ..) => f32::INFINITY,
            (_, true, Lies::Level | Lies::Ball) => self.cost,
            (_, false, Lies::Level | Lies::Ball) => self.cost + PARTLY,
            (_, _, Lies::Edges) => self.cost + 2.0 * PARTLY,
        }
    }
}

/// Rates positions along a profile.
#[derive(Clone, Copy)]
pub struct Judge<'a> {
    pub profile: &'a Profile,
    pub sole: Stance,
    pub settings: &'a PlantOptions,
}

impl Judge<'_> {
    /// Margin around the sole's points, in metres, that keeps them off edges.
    fn margin(&self) -> f32 {
        0.012 * self.sole.scale
    }

    /// Distances behind and ahead of the heel that a profile must cover for every position within the largest shift, in
    /// metres.
    pub fn range(sole: &Stance, settings: &PlantOptions) -> [f32; 2] {
        let beyond = settings.max_shift * sole.scale + 0.03 * sole.scale;
        [-beyond, sole.length + sole.tip + beyond]
    }

    /// Finds the best position with the heel near `heel` along the profile, or `None` if no position is allowed. `aside` is
    /// the lateral offset of the profile, in metres.
    ///
    /// The cost of a position is the sum of the unsupported fraction, the height of ground that pierces the sole, and the
    /// squared shift. The best position of each side is refined, so that the choice is a continuous function of the landing
    /// position except for changes of side.
    pub fn best(&self, heel: f32, aside: f32) -> Option<Candidate> {
        let largest = self.settings.max_shift * self.sole.scale;
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
        if rank(&here) <= 1e-4 {
            return here;
        }
        let mut sides = [here, here];
        for k in 1..=STEPS {
            for (best, sign) in sides.iter_mut().zip([1.0, -1.0]) {
                let shift = sign * step * k as f32;
                // The shift alone may already cost more than the best position.
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
            // Forbidden positions rank last, so this converges to the bound of the allowed ones as well as to a minimum.
            const GOLDEN: f32 = 0.618_034;
            let [mut c, mut d] = [b - GOLDEN * (b - a), a + GOLDEN * (b - a)];
            let [mut at_c, mut at_d] = [c, d].map(|s| at(sign * s));
            for _ in 0..SECTIONS {
                // With both forbidden, the bound lies towards the allowed middle.
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

    /// Rates one position. The sole lies from the ground under the heel to that under the ball, or, if that is not allowed,
    /// along the ground under the ball with the heel in the air, or, if that is not allowed either, on edges.
    pub fn at(&self, heel: f32) -> Option<Candidate> {
        let level = self.on_heel_and_ball(heel).map(|(stick, run)| self.judge(&stick, run, Lies::Level));
        if level.is_some_and(|b| b.allowed && b.supported && b.heel_supported) {
            return level;
        }
        let ball = self.on_ball(heel).map(|(stick, run)| self.judge(&stick, run, Lies::Ball));
        // A sole along the ground under the ball must not sink its heel into the ground.
        let best = level.into_iter().chain(ball.filter(|b| !b.heel_sunk));
        let best = best.reduce(|a, b| if b.rank() < a.rank() { b } else { a });
        if best.is_some_and(|b| b.allowed) {
            return best;
        }
        self.on_edges(heel).map(|(stick, run)| self.judge(&stick, run, Lies::Edges)).or(best)
    }

    /// Lays the sole on the ground under heel and ball. The ball's position depends on the pitch, and the pitch on the
    /// ground there. Four fixed-point rounds converge to a fraction of a millimetre on any slope that a foot stands on.
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
        // At an edge the rounds may alternate between its sides and leave no such line. On smooth ground their residual is
        // far below this thousandth of the sole.
        let off = math::sqrt(run * run + rise * rise) - length;
        (off.abs() <= 1e-3 * length).then_some((Stick { s, y, slope: rise / run }, run))
    }

    /// Lays the sole along the ground under the ball.
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

    /// Lays the sole on the edges of the ground that are under its middle.
    fn on_edges(&self, s: f32) -> Option<(Stick, f32)> {
        let length = self.sole.length;
        let mut found = None;
        let mut run = length;
        for _ in 0..4 {
            let stick = self.profile.rest([s, s + run], s + 0.5 * run)?;
            run = length / math::sqrt(1.0 + stick.slope * stick.slope);
            found = Some((stick, run));
        }
        found
    }

    fn judge(&self, stick: &Stick, run: f32, lies: Lies) -> Candidate {
        let Stance { length, tip, leg, scale } = self.sole;
        let s = stick.s;
        // Largest distance of supporting ground from the sole: 13 mm for a figure of 1.8 m, the give of shoe and foot.
        let give = 0.07 * length;
        let over = |at: f32| Some(self.profile.height(s + at)? - stick.height(s + at));
        let near = |at: f32| over(at).is_some_and(|o| o.abs() <= give);
        let margin = self.margin();
        let reach = run + tip * run / length;
        // Toes bend up by themselves; only ground steeper than their bend pierces them.
        let along = |ends| self.profile.along_stick(stick, ends, give, s + run, TOES_BEND_TAN);
        let (support, _) = along([s, s + reach]);
        let (_, pierced) = along([s - margin, s + reach + margin]);
        // Ground may rise into the sole between its ends by the give of shoe and arch: 11 mm for a figure of 1.8 m.
        let most_pierced = 0.06 * length;
        let toe_reach = (reach - run).max(f32::MIN_POSITIVE);
        let toes = over(reach).map_or(0.0, |o| math::atan2(o, toe_reach));
        // Over an edge toes stay straight.
        let toes = if toes.abs() <= TOES_BEND { toes } else { 0.0 };
        let firm = match lies {
            Lies::Edges => near(run),
            _ => near(run - margin) && near(run + margin),
        };
        let heel_firm = near(-margin) && near(margin);
        let steep = stick.slope.abs() > math::tan(self.settings.max_slope);
        // One percent more than required, so that independent measurements agree.
        let enough = (self.settings.support + 0.01).min(1.0);
        let allowed = firm && pierced <= most_pierced && !steep;
        let heel = if heel_firm { 0.0 } else { HEEL_IN_AIR };
        // On the ground heel and ball are by construction.
        let gap = if lies == Lies::Edges { over(run).map_or(give, f32::abs) } else { 0.0 };
        let cost = 0.5 * (1.0 - support) + heel + (pierced + gap) / (0.1 * leg);
        // A heel within 2 mm of the ground is on it (figure of 1.8 m).
        let touch = 0.002 * scale;
        let heel_over = over(0.0);
        let lean = self.profile.slope(s + run).map_or(0.0, |(_, lean)| lean);
        Candidate {
            heel: (s, stick.y),
            ball: (s + run, stick.height(s + run)),
            lies,
            lean,
            shift: 0.0,
            support,
            toes,
            heel_supported: heel_over.is_some_and(|o| o.abs() <= touch),
            supported: support >= enough,
            heel_sunk: heel_over.is_some_and(|o| o > touch),
            allowed,
            cost,
        }
    }
}
