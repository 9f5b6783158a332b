//! Clock of the contacts, and the animation's foot at its ticks.

use glam::Vec3;

use super::{measures::Measures, track::Sole};

/// Time between two ticks, in seconds. Contacts are decided at ticks instead of frames, so that games at all frame rates
/// decide by the same samples. Slow games have no more samples than this, and clips are often keyed at 30 Hz with straight
/// lines between keys, so that speeds over less time mean little.
pub const TICK: f32 = 1.0 / 30.0;
/// Largest look-ahead, in ticks.
pub const MAX_AHEAD: usize = 15;
const KEPT: usize = MAX_AHEAD + 3;

/// Factor on the limits of release within which a locked foot stays locked, by its better point. Between heel and ball
/// contact a foot may be in neither for a moment. Its hold on the ground fades until then.
const HOLD: f32 = 2.0;

/// Level below which a contact becomes firm, as a fraction of the limits. The hold of a contact that stays above fades
/// towards the limit, so that it matters little whether a foot just reaches the limit or just misses it.
const FIRM: f32 = 0.7;
/// Ticks in contact after which it is firm at any level, with look-ahead: the floor of a recording drifts by centimetres. With one
/// more, points of the CMU walk slide by 2 mm/s more; with one less, swings of the CMU run are 4 to 10 mm deeper.
const SURE: usize = 3;

/// The animation's foot at one tick.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Beat {
    /// Position of the foot.
    pub sole: Sole,
    /// Position of the pelvis.
    pub body: Vec3,
    /// Mean velocity since the previous tick, in m/s.
    pub rate: Sole,
    /// Contact of the foot.
    pub contact: Contact,
}

/// Contact of a foot with the floor. Numbers are from 0 (in the air) to 1 (firm).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// Whether the foot stands: from the first contact of a point until both have left the floor for good.
    pub stands: bool,
    /// Hold of the whole foot.
    pub foot: f32,
    /// Hold of the heel.
    pub heel: f32,
    /// Hold of the ball.
    pub ball: f32,
    /// How near heel and ball are to contact: 1 within the limits of release, 0 beyond [`HOLD`] times those.
    pub near: [f32; 2],
}

/// Hold on the floor, with hysteresis.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
struct Hold {
    touches: bool,
    firm: bool,
    /// Number of ticks in contact so far.
    ticks: usize,
}

impl Hold {
    /// Takes the next level and returns the hold, from 0 to 1. A level is the larger of height and speed, each divided by
    /// its limit. A contact starts at a level of 1. Once firm, it fades from the level `fades` on and ends at `ends`, both
    /// at least 1. A contact of more than `sure` ticks is firm.
    fn push(&mut self, level: f32, fades: f32, ends: f32, sure: usize) -> f32 {
        self.touches = level <= if self.touches { ends } else { 1.0 };
        self.ticks = if self.touches { self.ticks + 1 } else { 0 };
        self.firm = self.touches && (self.firm || level <= FIRM || self.ticks > sure);
        let hold = if self.firm { (ends - level) / (ends - fades) } else { (1.0 - level) / (1.0 - FIRM) };
        if self.touches { hold.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// Level at which a contact ends.
fn ends(m: &Measures) -> f32 {
    m.limits.release.max(1.0 + 1e-3)
}

/// Ticks after which a contact is firm at any level.
fn sure(m: &Measures) -> usize {
    if m.ahead > 0 { SURE } else { usize::MAX }
}

/// Last ticks of a foot.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Beats {
    /// Ticks, latest first.
    kept: [Beat; KEPT],
    any: bool,
    foot: Hold,
    heel: Hold,
    ball: Hold,
}

impl Beats {
    /// Takes the foot at the next tick. `given` is the caller's contact, from 0 to 1.
    pub fn push(&mut self, sole: Sole, body: Vec3, given: Option<f32>, m: &Measures) {
        let (rate, [heel, ball]) = self.levels(&sole, m);
        let (heel_height, ball_height) = m.heights(&sole);
        let (fades, ends, sure) = (1.0, ends(m), sure(m));
        let firm = self.foot.push(heel.min(ball), ends, HOLD * ends, sure);
        // The caller decides for the foot, heights decide for its points.
        let (stands, foot) = given
            .map_or((self.foot.touches, firm), |given| (given >= 0.5, f32::from(u8::from(given >= 0.5))));
        let points = match given {
            Some(_) => [heel_height, ball_height].map(|h| h.max(0.0) / m.limits.height),
            None => [heel, ball],
        };
        let contact = Contact {
            stands,
            foot,
            heel: self.heel.push(points[0], fades, ends, sure),
            ball: self.ball.push(points[1], fades, ends, sure),
            near: [heel, ball].map(|level| ((HOLD - level / ends) / (HOLD - 1.0)).clamp(0.0, 1.0)),
        };
        let tick = Beat { sole, body, rate, contact };
        if self.any {
            self.kept.copy_within(0..KEPT - 1, 1);
            self.kept[0] = tick;
        } else {
            self.kept = [tick; KEPT];
        }
        self.any = true;
    }

    /// Velocity of the foot at the next tick, and the levels of heel and ball.
    fn levels(&self, sole: &Sole, m: &Measures) -> (Sole, [f32; 2]) {
        let rate = if self.any { sole.minus(&self.kept[0].sole).times(1.0 / TICK) } else { Sole::default() };
        let level =
            |height: f32, rate: Vec3| (height.max(0.0) / m.limits.height).max(rate.length() / m.limits.speed);
        let (heel, ball) = m.heights(sole);
        (rate, [level(heel, rate.ankle + rate.heel), level(ball, rate.ankle + rate.ball)])
    }

    /// Hold of the foot if it is at `sole` at the next tick.
    pub fn will_hold(&self, sole: &Sole, m: &Measures) -> f32 {
        let (_, [heel, ball]) = self.levels(sole, m);
        let mut foot = self.foot;
        foot.push(heel.min(ball), ends(m), HOLD * ends(m), sure(m))
    }

    /// The tick a number of ticks before the latest.
    pub fn ago(&self, ticks: usize) -> &Beat {
        &self.kept[ticks.min(KEPT - 1)]
    }
}
