//! Rating of positions along a profile as footholds, and the search for the best.

use glam::Vec3;

use super::{
    Foothold, PlantOptions, Unplanted,
    profile::{Profile, Stick},
    reach::over,
};
use crate::math;

/// Largest bend of the toes without effort, in radians: 35 degrees. On tiptoe they bend more.
const TOES_BEND: f32 = 35f32.to_radians();

/// Give of shoe, foot and arch, as a fraction of the sole's length from heel to ball: 11 mm for a figure of 1.8 m. So near the
/// sole ground supports it, and so far it may rise into it.
pub const GIVE: f32 = 0.06;

/// Margin that keeps a sole's points off edges, in metres for a figure of 1.8 m: a foot's edge is round.
const MARGIN: f32 = 0.012;

/// Shift with a cost of 1, as a fraction of the leg.
const EASY_SHIFT: f32 = 0.25;

/// Positions rated to either side before the best is refined: 7 mm apart for a figure of 1.8 m and the default shift, finer
/// than the rounding of edges.
const STEPS: usize = 20;
/// Halvings of that distance, to 0.007 mm.
const HALVINGS: usize = 10;
/// Largest extra cost at which a position ahead is preferred to one behind. A foot that lands astride of an edge, as it may
/// at each step on stairs as long as its stride, then takes the same side each time.
const AHEAD: f32 = 0.02;

/// Distance out of the leg's reach that weighs as much as a class of support, as a fraction of the leg. From 0.05 to 0.1 the games of
/// `lab/step` are the same; at 0.03 the Knight's walk swings 3 cm deeper through steep stairs.
const BEYOND: f32 = 0.05;

/// Dimensions of a sole and its leg, in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stance {
    /// Distance from heel to ball.
    pub length: f32,
    /// Distance from ball to toe tip.
    pub tip: f32,
    /// Position of the ankle along the sole from the heel, and above it. Positions are compared by how far they take the ankle.
    pub ankle: [f32; 2],
    /// Length of the leg.
    pub leg: f32,
    /// The figure's height divided by 1.8 m.
    pub scale: f32,
}

impl Stance {
    /// Distance by which a foothold takes the ankle along, with the heel where a level sole has it.
    fn carries(&self, foothold: &Foothold) -> f32 {
        let d = foothold.ball - foothold.heel;
        let (cos, sin) = (d.with_y(0.0).length() / self.length, d.y / self.length);
        self.ankle[0] * (cos - 1.0) - self.ankle[1] * sin
    }

    /// Number of classes of support that a foothold is worse by for being out of the leg's reach from `hip`.
    fn beyond(&self, foothold: &Foothold, hip: Vec3) -> u8 {
        let along = (foothold.ball - foothold.heel).normalize_or(Vec3::Z);
        let up = Vec3::Y.reject_from_normalized(along).normalize_or(Vec3::Y);
        let ankle = foothold.heel + along * self.ankle[0] + up * self.ankle[1];
        let beyond = hip.y - ankle.y - over(self.leg, (ankle - hip).with_y(0.0).length_squared());
        // The cast rounds down and ends at the largest number.
        (beyond / (BEYOND * self.leg)) as u8
    }
}

/// What a sole lies on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lies {
    /// The ground under heel and ball, which may rise between them by the give.
    Level,
    /// The ground that bears a rigid sole pressed on its ball, with the heel in the air.
    Ball,
    /// The ground that bears a rigid sole pressed on its middle: edges, with the ball near the ground.
    Edges,
}

/// A position of a sole along a profile, rated.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The foothold.
    pub foothold: Foothold,
    /// What the sole lies on.
    pub lies: Lies,
    /// Order of preference before the cost: 0 for a sole with enough support, 1 with its heel in the air, 2 and 3 with less
    /// support, as on stairs whose treads are shorter than the sole, 4 and 5 on edges.
    class: u8,
    cost: f32,
}

/// Class and cost of a position, by which positions compare; the largest for none.
fn rank(of: &Option<Candidate>) -> (u8, f32) {
    of.map_or((u8::MAX, 0.0), |c| (c.class, c.cost))
}

/// Run and rise from heel to ball of a sole that lies on the ground at both. `rise` gives the height of the ground at a
/// distance ahead of the heel over that at the heel.
///
/// The ball's position depends on the pitch, and the pitch on the ground there. Four fixed-point rounds converge to a
/// fraction of a millimetre on any slope that a foot stands on. At an edge they may alternate between its sides: `None`.
pub fn lay(length: f32, rise: impl Fn(f32) -> Option<f32>) -> Option<(f32, f32)> {
    let (mut run, mut up) = (length, 0.0);
    for _ in 0..4 {
        up = rise(run)?;
        let next = math::sqrt((length * length - up * up).max(0.0));
        if next == run {
            break;
        }
        run = next;
    }
    let off = math::sqrt(run * run + up * up) - length;
    (run > 0.0 && off.abs() <= SAME * length).then_some((run, up))
}

/// Distance from the ground at which a point is on it, as a fraction of the sole: 0.2 mm for a figure of 1.8 m.
const SAME: f32 = 1e-3;

/// Ground that a sole may land on: a profile along the sole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Landing {
    /// Profile of the ground.
    pub profile: Profile,
    /// Sole for which it was cast.
    pub sole: Stance,
    /// Position of the heel for which it was cast.
    pub middle: Vec3,
}

impl Landing {
    /// Copies another one.
    pub fn copy_from(&mut self, other: &Self) {
        let Self { profile, sole, middle } = other;
        self.profile.copy_from(profile);
        (self.sole, self.middle) = (*sole, *middle);
    }

    /// Distances behind and ahead of the heel that a profile must cover for every position within the largest shift, in
    /// metres.
    pub fn range(sole: &Stance, settings: &PlantOptions) -> [f32; 2] {
        let beyond = (settings.max_shift + 2.0 * MARGIN) * sole.scale;
        [-beyond, sole.length + sole.tip + beyond]
    }

    /// Whether it was cast for a heel and a ball within `slack` metres of `heel` and of the ball in the direction `along`.
    pub fn serves(&self, heel: Vec3, along: Vec3, slack: f32) -> bool {
        let off = (heel - self.middle).with_y(0.0);
        off.length() <= slack && self.profile.along().distance(along) * self.sole.length <= slack
    }

    /// Horizontal displacement of a heel from the line.
    pub fn beside(&self, heel: Vec3) -> Vec3 {
        (heel - self.middle).with_y(0.0).reject_from_normalized(self.profile.along())
    }

    /// Reason for which there is no position to stand.
    pub fn missing(&self) -> Unplanted {
        if self.profile.found() { Unplanted::Unsupported } else { Unplanted::NoGround }
    }

    /// Finds the best position with the heel near `heel`, or `None` if no position is allowed. `hip` is the lowest position of the
    /// hip as the foot lands, where the other foot restricts it.
    ///
    /// The cost of a position is the sum of the unsupported fraction, the height of ground that pierces the sole, and the
    /// squared shift. The best position of each side is refined, so that the choice is a continuous function of the landing
    /// position except for changes of side.
    pub fn best(&self, heel: Vec3, settings: &PlantOptions, hip: Option<Vec3>) -> Option<Candidate> {
        let heel = self.profile.way(heel);
        let largest = settings.max_shift * self.sole.scale;
        let easy = EASY_SHIFT * self.sole.leg;
        // Replaces the best position by the one at a shift if that is better.
        let better = |best: &mut Option<Candidate>, shift: f32| {
            let effort = |by: f32| by * by / (easy * easy);
            // The shift alone may already cost more than the best position.
            if rank(best) <= (0, effort((shift.abs() - self.sole.ankle[1]).max(0.0))) {
                return;
            }
            let mut found = self.at(heel + shift, settings);
            if let Some(found) = &mut found {
                found.cost += effort(shift + self.sole.carries(&found.foothold));
                found.foothold.shift = shift;
                let beyond = hip.map_or(0, |hip| self.sole.beyond(&found.foothold, hip));
                found.class = found.class.saturating_add(beyond);
            }
            if rank(&found) < rank(best) {
                *best = found;
            }
        };
        let mut here = None;
        better(&mut here, 0.0);
        let [ahead, behind] = [1.0, -1.0].map(|side: f32| {
            let mut best = here;
            let mut step = largest / STEPS as f32;
            for k in 1..=STEPS {
                better(&mut best, side * step * k as f32);
            }
            for _ in 0..HALVINGS {
                step *= 0.5;
                let middle = best.map_or(0.0, |b| b.foothold.shift * side);
                for shift in [middle - step, middle + step] {
                    if (0.0..=largest).contains(&shift) {
                        better(&mut best, side * shift);
                    }
                }
            }
            best
        });
        let (class, cost) = rank(&behind);
        if rank(&ahead) <= (class, cost + AHEAD) { ahead } else { behind }
    }

    /// Rates one position; `None` if the sole cannot stand there. The sole lies from the ground under the heel to that under
    /// the ball, or, where that serves less, as a rigid sole pressed on its ball, or else on its middle.
    fn at(&self, heel: f32, settings: &PlantOptions) -> Option<Candidate> {
        let mut best = None;
        for (lies, better_than) in [(Lies::Level, 0), (Lies::Ball, 1), (Lies::Edges, 4)] {
            if rank(&best).0 < better_than {
                break;
            }
            let laid = match lies {
                Lies::Level => self.on_heel_and_ball(heel),
                Lies::Ball => self.on_hull(heel, 1.0),
                Lies::Edges => self.on_hull(heel, 0.5),
            };
            let found = laid.and_then(|(stick, run)| self.judge(&stick, run, lies, settings));
            if rank(&found) < rank(&best) {
                best = found;
            }
        }
        best
    }

    /// Lays the sole on the ground under heel and ball.
    fn on_heel_and_ball(&self, s: f32) -> Option<(Stick, f32)> {
        let y = self.profile.height(s)?;
        let (run, rise) = lay(self.sole.length, |run| Some(self.profile.height(s + run)? - y))?;
        Some((Stick { s, y, slope: rise / run }, run))
    }

    /// Lays a rigid sole on the ground under it, pressed at a share of its length.
    fn on_hull(&self, s: f32, share: f32) -> Option<(Stick, f32)> {
        let (mut run, mut found) = (self.sole.length, None);
        for _ in 0..4 {
            let stick = self.profile.rest([s, s + run], s + share * run)?;
            run = self.sole.length / math::sqrt(1.0 + stick.slope * stick.slope);
            found = Some((stick, run));
        }
        found
    }

    fn judge(&self, stick: &Stick, run: f32, lies: Lies, settings: &PlantOptions) -> Option<Candidate> {
        let Stance { length, tip, leg, scale, .. } = self.sole;
        let (s, give, margin) = (stick.s, GIVE * length, MARGIN * scale);
        let over = |at: f32| Some(self.profile.height(s + at)? - stick.height(s + at));
        let near = |at: f32| over(at).is_some_and(|o| o.abs() <= give);
        let firm = |at: f32| near(at - margin) && near(at + margin);
        let reach = run + tip * run / length;
        // Toes bend up by themselves; only ground steeper than their bend pierces them.
        let along = |ends| self.profile.along_stick(stick, ends, give, s + run, math::tan(TOES_BEND));
        let (support, _) = along([s, s + reach]);
        let (_, pierced) = along([s - margin, s + reach + margin]);
        let steep = stick.slope.abs() > math::tan(settings.max_slope);
        let stands = if lies == Lies::Edges { near(run) } else { firm(run) };
        if steep || !stands || pierced > give {
            return None;
        }
        let toes = over(reach).map_or(0.0, |o| math::atan2(o, (reach - run).max(f32::MIN_POSITIVE)));
        // One percent more than required, so that independent measurements agree.
        let enough = support >= (settings.support + 0.01).min(1.0);
        let kind = if lies == Lies::Edges { 4 } else { 2 * u8::from(!enough) };
        // On the ground heel and ball are by construction.
        let gap = if lies == Lies::Edges { over(run).map_or(give, f32::abs) } else { 0.0 };
        let at = |s: f32| self.profile.point(s).with_y(stick.height(s));
        // A positive turn about the heading carries Y away from the right: along x Y = -right.
        let roll = -math::atan2(self.profile.lean(s + run).unwrap_or(0.0), 1.0);
        Some(Candidate {
            foothold: Foothold {
                heel: at(s),
                ball: at(s + run),
                roll: roll.clamp(-settings.max_slope, settings.max_slope),
                // Over an edge toes stay straight.
                toes: if toes.abs() <= TOES_BEND { toes } else { 0.0 },
                shift: 0.0,
                support,
                heel_supported: over(0.0).is_some_and(|o| o.abs() <= SAME * length),
            },
            lies,
            class: kind + u8::from(!firm(0.0)),
            cost: 0.5 * (1.0 - support) + (pierced + gap) / (EASY_SHIFT * leg),
        })
    }
}
