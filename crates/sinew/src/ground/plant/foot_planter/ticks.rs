//! The clock of the contacts, and the animation's foot at each of its ticks.

use glam::Vec3;

use super::{measures::Measures, track::Sole};

/// Seconds between two ticks. Whether a foot stands is decided on this clock and not at each frame, so that a fast game
/// decides by the same samples as a slow one, at the same times. A thirtieth of a second is as often as a slow game knows
/// anything, and the speed of a foot over less means little: clips are keyed as rarely, and go in straight lines between
/// their keys.
pub const BEAT: f32 = 1.0 / 30.0;
/// Most ticks that a foot is known ahead.
pub const MOST_AHEAD: usize = 15;
const KEPT: usize = MOST_AHEAD + 3;

/// A foot stays locked until its better point is this much further outside of its limits than a contact may be: between
/// heel and ball contact a foot may for a moment be in neither. Its hold on the ground fades until then.
const HOLD: f32 = 2.0;

/// A foot stands firmly once it has come this far inside of its limits. One that only brushes them holds on to the ground
/// the less the nearer to them it stays, so that it makes little difference whether it just passes them or just does not.
const FIRM: f32 = 0.7;

/// The animation's foot at one tick.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beat {
    /// Where it is.
    pub sole: Sole,
    /// Where the pelvis is.
    pub body: Vec3,
    /// Mean metres a second since the tick before.
    pub rate: Sole,
    /// What of it stands.
    pub contact: Contact,
}

/// What of a foot is in contact with the floor, and how firmly: 1 in contact, 0 in the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Contact {
    /// Whether the foot stands: from the first contact of a point to where both have left the floor for good.
    pub stands: bool,
    /// The foot as a whole.
    pub foot: f32,
    /// The heel.
    pub heel: f32,
    /// The ball.
    pub ball: f32,
}

/// The hold that something has on the floor.
#[derive(Clone, Copy, Debug, Default)]
struct Hold {
    touches: bool,
    firm: bool,
}

impl Hold {
    /// Takes the next level: how far it is outside of its limits, 1 being on them. A contact that was firm fades from the
    /// level `fades` on and ends at `ends`. (Limits in which it begins are at most those.)
    fn push(&mut self, level: f32, fades: f32, ends: f32) -> f32 {
        self.touches = level <= if self.touches { ends } else { 1.0 };
        self.firm = self.touches && (self.firm || level <= FIRM);
        let hold = if self.firm { (ends - level) / (ends - fades) } else { (1.0 - level) / (1.0 - FIRM) };
        if self.touches { hold.clamp(0.0, 1.0) } else { 0.0 }
    }
}

/// The level at which a contact ends: until 1 it is firm.
fn ends(m: &Measures) -> f32 {
    m.limits.release.max(1.0 + 1e-3)
}

/// The last ticks of a foot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beats {
    /// Latest first.
    kept: [Beat; KEPT],
    any: bool,
    foot: Hold,
    heel: Hold,
    ball: Hold,
}

impl Beats {
    /// Takes the foot at the next tick. `given` is how much contact the caller gives.
    pub fn push(&mut self, sole: Sole, body: Vec3, given: Option<f32>, m: &Measures) {
        let (rate, [heel, ball]) = self.levels(&sole, m);
        let (heel_height, ball_height) = m.heights(&sole);
        let (fades, ends) = (1.0, ends(m));
        let contact = match given {
            // At a half and above the foot stands; which of its points do, height says.
            Some(given) => {
                let height = |h: f32| h.max(0.0) / m.limits.height;
                Contact {
                    stands: given >= 0.5,
                    foot: f32::from(u8::from(given >= 0.5)),
                    heel: self.heel.push(height(heel_height), fades, ends),
                    ball: self.ball.push(height(ball_height), fades, ends),
                }
            }
            None => {
                let foot = self.foot.push(heel.min(ball), ends, HOLD * ends);
                Contact {
                    stands: self.foot.touches,
                    foot,
                    heel: self.heel.push(heel, fades, ends),
                    ball: self.ball.push(ball, fades, ends),
                }
            }
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

    /// With the foot at the next tick: its speeds, and how far heel and ball are outside of their limits.
    fn levels(&self, sole: &Sole, m: &Measures) -> (Sole, [f32; 2]) {
        let rate = if self.any { sole.minus(&self.kept[0].sole).times(1.0 / BEAT) } else { Sole::default() };
        let level =
            |height: f32, rate: Vec3| (height.max(0.0) / m.limits.height).max(rate.length() / m.limits.speed);
        let (heel, ball) = m.heights(sole);
        (rate, [level(heel, rate.ankle + rate.heel), level(ball, rate.ankle + rate.ball)])
    }

    /// How firmly a foot that is at `sole` at the next tick will stand.
    pub fn will_hold(&self, sole: &Sole, m: &Measures) -> f32 {
        let (_, [heel, ball]) = self.levels(sole, m);
        let mut foot = self.foot;
        foot.push(heel.min(ball), ends(m), HOLD * ends(m))
    }

    /// The tick that is this many ticks before the latest.
    pub fn ago(&self, ticks: usize) -> &Beat {
        &self.kept[ticks.min(KEPT - 1)]
    }
}
